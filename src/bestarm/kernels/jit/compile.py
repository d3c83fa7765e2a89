"""How every kernel is compiled: without the GIL, without checks, cached on disk under a key that can't go stale."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from bestarm.kernels.jit.pieces import INLINED_PIECE, PIECE

Function = TypeVar("Function", bound=Callable[..., Any])

KERNELS = Path(__file__).parent.parent

_GENERATIONS_KEPT = 3


def source_key(folder: Path = KERNELS) -> str:
    """Return a digest of all kernel sources and of the compiler's version.

    Numba's own cache looks only at the file of the compiled function. A caller that has inlined a kernel of another
    file would go on running the old code after an edit or an upgrade, so the whole folder is the key, with all rooms.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(folder.rglob("*.py")):
        digest.update(source.relative_to(folder).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    """Return the folder for this generation of the kernels: beside the sources, or in the user's cache."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        parent = Path(chosen)
    else:
        parent = KERNELS / "__pycache__"
        if not os.access(parent if parent.exists() else parent.parent, os.W_OK):
            parent = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bestarm"
    folder = parent / f"kernels-{source_key()}"
    if not folder.exists():
        older = sorted(parent.glob("kernels-*"), key=lambda path: path.stat().st_mtime)
        for stale in older[: -_GENERATIONS_KEPT + 1]:
            shutil.rmtree(stale, ignore_errors=True)
    return folder


CACHE_FOLDER = _cache_folder()


def _announce() -> None:
    """Let the logger `bestarm` say, once a process, that kernels are being compiled, if they are.

    Numba calls the listener when it compiles, and never for what is on disk or compiled already: a warm call costs what
    it did. It is a logger, so that whoever wants silence, or another place for it, has it.
    """
    event: Any = import_module("numba.core.event")

    class Note(event.Listener):  # type: ignore[misc]
        told = False

        def on_start(self, event: Any) -> None:
            if not self.told and event.data["dispatcher"].py_func.__module__.startswith("bestarm."):
                self.told = True
                logging.getLogger("bestarm").warning("bestarm is compiling (first run only, half a minute) ...")

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Note())


with suppress(ImportError, AttributeError):  # another version of numba may have no such events: then nothing is said
    _announce()


def _compiled(function: Function, **options: Any) -> Function:
    config: Any = numba.config
    njit: Any = numba.njit  # takes more options than its stub knows
    before = config.CACHE_DIR
    config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        compiled = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    finally:
        config.CACHE_DIR = before
    return cast(Function, compiled)


def kernel(function: Function) -> Function:
    """Compile what other kernels call, as a piece of them (pieces.py).

    Arrays are not reference-counted inside: their owner is the caller, who outlives the call. Handing a NamedTuple of
    arrays down three calls costs some forty atomic operations otherwise (measured: an insert took 340 ns with them and
    55 ns without). The price is that a kernel may not create an array: that is left to NumPy.
    """
    return _compiled(function, _nrt=False, **PIECE)


def inlined_kernel(function: Function) -> Function:
    """Compile like `kernel`, into the body of each caller: for what is short or done at every pull.

    An array is seven words on the stack at each call, a generator ten: a draw took 34 ns with calls and 10 ns without.
    """
    return _compiled(function, _nrt=False, **INLINED_PIECE)


def fast_kernel(function: Function) -> Function:
    """Compile like `kernel`, and let sums and products be taken in any order, several terms at a time."""
    return _compiled(function, _nrt=False, fastmath={"reassoc", "nsz", "nnan", "ninf", "contract"}, **PIECE)


def entry_kernel(function: Function) -> Function:
    """Compile what Python calls, on its first call, with all its pieces; keep the machine code on disk."""
    return _compiled(function, _nrt=False, cache=True)
