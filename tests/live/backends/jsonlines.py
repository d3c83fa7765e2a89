"""A third kind of store, in one file: a folder of JSON-lines files, jsonlines:///FOLDER.

A line is a transaction, a list of events: whoever dies while it is written leaves a line without an end, which is not
read, and which the next writer removes.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bestarm.live.backends._base import ENDS, Store, StudyCopy, StudyRow, Transaction
from bestarm.live.events import Event


class JSONLinesStore(Store):
    """A folder with studies.json, and a file per study."""

    def __init__(self, url: Any) -> None:
        super().__init__(url)
        self._folder = Path(url.database).absolute()

    def prepare(self, *, create: bool) -> None:
        if create:
            self._folder.mkdir(exist_ok=True)
        elif not self._folder.is_dir():
            raise self.failure("there is no such folder", "look at the URL")

    def now(self) -> float:
        return time.time()

    def studies(self) -> list[StudyRow]:
        with contextlib.suppress(FileNotFoundError):
            return [StudyRow(*row) for row in json.loads((self._folder / "studies.json").read_text())]
        return []

    def insert(self, copies: Sequence[StudyCopy]) -> bool:
        with self._locked("studies"):
            rows = self.studies()
            if {row.name for row in rows} & {copy.name for copy in copies}:
                return False
            for copy in copies:
                rows.append(StudyRow(len(rows), copy.name, copy.token, copy.settings, copy.created))
                self._file(rows[-1].id).unlink(missing_ok=True)  # of an import that died
                self._append(rows[-1].id, copy.events)
            new = self._folder / "studies.new"
            new.write_text(json.dumps([list(vars(row).values()) for row in rows]))
            new.replace(self._folder / "studies.json")  # all or none
            return True

    def read(self, study: int, after: int) -> list[Event]:
        with contextlib.suppress(FileNotFoundError):
            lines = self._file(study).read_text().splitlines(keepends=True)
            events = [Event(*event) for line in lines if line.endswith("\n") for event in json.loads(line)]
            return events[after:]
        return []

    @contextlib.contextmanager
    def writing(self, study: int, after: int, *, synced: bool = True, most: int | None = None) -> Iterator[Transaction]:
        with self._locked(f"{study}"):
            transaction = Transaction(self.now(), self.read(study, after)[:most])
            yield transaction
            if transaction.added:
                self._refuse_second_ends(study, transaction.added)
                self._append(study, transaction.added)

    def _refuse_second_ends(self, study: int, added: Sequence[Event]) -> None:
        ended = [event.pull for event in (*self.read(study, 0), *added) if event.kind in ENDS]
        if len(set(ended)) < len(ended):
            raise self.failure("a pull has ended before", "tell again, which is safe")

    def _append(self, study: int, added: Sequence[Event]) -> None:
        with self._file(study).open("ab+") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)  # what somebody has begun to write
            file.write(json.dumps(list(added)).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _file(self, study: int) -> Path:
        return self._folder / f"{study}.jsonl"

    @contextlib.contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        with (self._folder / f"{name}.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # ends with the process, or when the file is closed
            yield
