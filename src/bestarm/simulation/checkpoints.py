"""Finished trials on disk, chunk by chunk, so that an interrupted run can be resumed.

A folder holds `settings.json`, what the trials depend on, and a Parquet file per chunk, named after its first and last
trial. A file gets its name when it is complete, so that the folder can be resumed however a run ended. A run locks the
folder while it writes (`folder_lock.py`).

The columns of a file: trial, pulls, answer, done (how the trial ended, by code), arm_pulls (a list: pulls of each arm).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import uuid
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import ConflictError, InputError
from bestarm.extras import needs
from bestarm.phrases import Phrase, Setting
from bestarm.simulation.chunks import ChunkResult
from bestarm.simulation.fingerprints import digest
from bestarm.simulation.folder_lock import LOCK, locked_folder

SETTINGS = "settings.json"
_NUMBERS = ("trial", "pulls", "answer", "done")
_LISTS = "arm_pulls"
_CHUNK_NAME = re.compile(r"trials-(\d+)-(\d+)\.parquet")
_UNFINISHED = "unfinished-"
_UNUSABLE = "unusable-"
_MARK = b"bestarm"


class Checkpoint:
    """A folder of finished trials.

    Parameters
    ----------
    folder : path
        Created if it does not exist.
    settings : mapping
        What the trials depend on (`fingerprint`).
    resume : bool
        Whether to continue from the trials in the folder, which may be empty. Without it the folder must be empty.
    lock : bool
        Whether to lock the folder until `close`, so that no other run uses it meanwhile.
    """

    def __init__(self, folder: str | Path, settings: Mapping[str, Any], resume: bool, lock: bool = True) -> None:
        needs("pyarrow")
        import pyarrow.parquet  # noqa: F401 - now: it takes a second, which would look like a slow first chunk

        self.folder = Path(folder)
        self._mark = digest(settings).encode()
        with contextlib.ExitStack() as held:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                if lock:
                    held.enter_context(locked_folder("checkpoint", self.folder))
                names = sorted(path.name for path in self.folder.iterdir() if path.name != LOCK)
            except OSError as error:
                raise InputError("checkpoint", "be a folder that can be written", str(folder), str(error)) from error
            self._open(names, settings, resume)
            self._held = held.pop_all()

    def close(self) -> None:
        """Unlock the folder."""
        self._held.close()

    def _open(self, names: list[str], settings: Mapping[str, Any], resume: bool) -> None:
        if names and not resume:
            fix = Phrase("pass {} to continue from its trials, or name a new folder", Setting("resume", True))
            raise InputError("checkpoint", "be an empty folder", str(self.folder), fix)
        finished = [name for name in names if not name.startswith(_UNFINISHED)]
        if finished:
            self._compare(settings)
        for name in set(names) - set(finished):
            (self.folder / name).unlink(missing_ok=True)
        self._unwritten = None if finished else json.dumps(settings, indent=1).encode()

    def read(self, into: ChunkResult) -> list[tuple[int, int]]:
        """Copy all finished trials to their positions, and return the missing ones as (first, last + 1).

        A file that is damaged, or has other settings, is renamed, with a warning, and its trials are run again.
        """
        count, arms = into.arm_pulls.shape
        there = np.zeros(count, np.bool_)
        for path in sorted(self.folder.iterdir()):
            found = _CHUNK_NAME.fullmatch(path.name)
            if found is None or int(found[1]) >= count:
                continue
            first = int(found[1])
            chunk = self._chunk(path, first, int(found[2]) + 1, arms)
            if chunk is not None:
                last = min(count, first + chunk.pulls.size)  # now fewer trials may be wanted
                into.put(first, chunk.part(0, last - first))
                there[first:last] = True
        return _gaps(there)

    def write(self, first: int, last: int, result: ChunkResult) -> None:
        """Write the trials first, ..., last - 1; the first call writes the settings too."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._unwritten is not None:
            self._write(SETTINGS, self._unwritten)
            self._unwritten = None
        numbers = np.arange(first, last), result.pulls, result.answers, result.done
        # One column of lists: 20 trials of 9,250 arms take 6 ms to write and 4 ms to read,
        # and with one column per arm 240 ms and 380 ms.
        lists = pa.FixedSizeListArray.from_arrays(pa.array(result.arm_pulls.ravel()), result.arm_pulls.shape[1])
        columns = {name: np.ascontiguousarray(column) for name, column in zip(_NUMBERS, numbers, strict=True)}
        table = pa.table({**columns, _LISTS: lists})
        sink = pa.BufferOutputStream()
        pq.write_table(table.replace_schema_metadata({_MARK: self._mark}), sink, write_page_checksum=True)
        self._write(f"trials-{first:012d}-{last - 1:012d}.parquet", sink.getvalue().to_pybytes())

    def _write(self, name: str, data: bytes) -> None:
        unfinished = self.folder / f"{_UNFINISHED}{uuid.uuid4().hex}"
        with unfinished.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # or a power cut may leave the name without the content
        os.replace(unfinished, self.folder / name)

    def _compare(self, settings: Mapping[str, Any]) -> None:
        path = self.folder / SETTINGS
        try:
            before = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            fix = f"{error}; name a new folder"
            raise InputError("checkpoint", f"hold a readable {SETTINGS}", str(self.folder), fix) from error
        different = _difference("settings", before, json.loads(json.dumps(settings)))
        if different is not None:
            name, was, value = different
            fix = f"the trials in {self.folder} were made with {was!r}; go back to that, or name a new folder"
            raise ConflictError(name, "be the same as in the checkpoint to resume", value, fix)

    def _chunk(self, path: Path, first: int, last: int, arms: int) -> ChunkResult | None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            table = pq.read_table(path, page_checksum_verification=True)
            if (table.schema.metadata or {}).get(_MARK) != self._mark:
                raise ValueError("it belongs to another run")
            kinds = {name: table.schema.field(name).type for name in (*_NUMBERS, _LISTS)}
            lists = kinds.pop(_LISTS)
            if not pa.types.is_fixed_size_list(lists) or lists.list_size != arms:
                raise ValueError(f"it does not hold the pulls of {arms} arms")
            if {*kinds.values(), lists.value_type} != {pa.int64()}:
                raise ValueError("it holds something else than whole numbers")
            trial, pulls, answers, done = (table[name].to_numpy() for name in _NUMBERS)
            if not np.array_equal(trial, np.arange(first, last)):
                raise ValueError("it does not hold the trials of its name")
            arm_pulls = table[_LISTS].combine_chunks().flatten().to_numpy().reshape(last - first, arms)
            return ChunkResult(pulls, answers, arm_pulls, done)
        except (OSError, ValueError, KeyError, NotImplementedError) as error:  # pyarrow's errors are among these
            warnings.warn(f"{path} can't be used ({error}): its trials are run again", stacklevel=4)
            with contextlib.suppress(OSError):
                path.rename(path.with_name(_UNUSABLE + path.name))  # out of the way of the files to come
            return None


def _difference(name: str, before: Any, now: Any) -> tuple[str, Any, Any] | None:
    """Return the first setting that differs, with its old and its new value."""
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        before, now = dict(enumerate(before)), dict(enumerate(now))
    if not isinstance(before, dict) or not isinstance(now, dict):
        return None if before == now else (name, before, now)
    for key in {**now, **before}:
        index = key if name == "settings" else f"{name}[{key!r}]"
        found = _difference(index, before.get(key), now.get(key))
        if found is not None:
            return found
    return None


def _gaps(there: NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([True], there, [True])).astype(np.int8)))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]
