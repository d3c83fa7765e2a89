"""Lock a folder for one run at a time, by a lock of the operating system on a file in it.

The lock belongs to the open file and ends with the process, however that ends: a killed run leaves the file behind, and
the next run can lock it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from bestarm.errors import InputError
from bestarm.validation import callers_level

LOCK = "lock"

if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

    _TAKEN: tuple[type[OSError], ...] = (PermissionError, BlockingIOError)
else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    _TAKEN = (BlockingIOError,)


@contextlib.contextmanager
def locked_folder(parameter: str, folder: Path) -> Iterator[None]:
    """Lock an existing folder, or reject the parameter that names it if another run has locked it."""
    lock_file = folder / LOCK
    file = _locked_file(parameter, folder, lock_file)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows removes no open file
            lock_file.unlink()  # while it is locked: a run that opened it before checks again
        os.close(file)


def _locked_file(parameter: str, folder: Path, lock_file: Path) -> int:
    while True:
        file = os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(file)
        except _TAKEN:
            owner = os.read(file, 200).decode(errors="replace") or "another process"
            os.close(file)
            fix = f"{owner} has it; wait until it ends, or name another folder"
            raise InputError(parameter, "not be in use by another run", str(folder), fix) from None
        except OSError as error:
            reason = f"{folder} can't be locked ({error.strerror}): see that no other run uses it"
            warnings.warn(reason, stacklevel=callers_level())
            return file
        if _is_there(file, lock_file):
            os.ftruncate(file, 0)
            os.write(file, f"process {os.getpid()} on {socket.gethostname()}".encode())
            return file
        os.close(file)  # the previous run has just removed it


def _is_there(file: int, lock_file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), lock_file.stat())
    except FileNotFoundError:
        return False
