"""Studies in a SQLite file: one machine, no server."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.pool import NullPool

from bestarm.errors import InputError, StoreError
from bestarm.live.backends._base import Store
from bestarm.live.backends._sql import SQLStore
from bestarm.live.events import COLUMNS, Event

_READ = f"select {COLUMNS} from bestarm_events where study = ? and seq > ? order by seq limit ?"
_WRITE = f"insert into bestarm_events (study, {COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

# By the words of SQLite's message: the reason in plain words, and what to do.
_REASONS = {
    "readonly": ("it is read-only", "make the file and its folder writable; all that was acknowledged is in it"),
    "read-only": ("it is read-only", "make the file and its folder writable; all that was acknowledged is in it"),
    "full": ("the disk is full", "make room; all that was acknowledged is in it"),
    "disk i/o": ("the disk reports an error", "look at the disk; SQLite needs one of this machine, not of a network"),
    "locked": (
        f"others have been writing to it for {Store.busy_seconds:.0f} s",
        "tell again, which is safe; for many processes use PostgreSQL",
    ),
    "unable to open": ("the file can't be opened or made", "see that its folder is there and writable"),
    "not a database": ("the file is no SQLite database", "name another file"),
    "malformed": ("the file is damaged", "restore a backup"),
}


def _boot_time() -> float:
    """Return when this machine was started: SQLite loses nothing while its machine runs."""
    since = getattr(time, "CLOCK_BOOTTIME", None)  # of Linux; it goes on while the machine sleeps
    return time.time() - (time.monotonic() if since is None else time.clock_gettime(since))


class SQLiteStore(SQLStore):
    """A file with a write-ahead log, synced at each commit (synchronous=FULL); BEGIN IMMEDIATE admits one writer."""

    def prepare(self, *, create: bool) -> None:
        """Check that the tables are there and of this version; a missing file is created only if asked for."""
        path = Path(self.url.database or "")
        if not create and "uri" not in self.url.query and not path.exists():
            raise StoreError(f"there is no study in {self.shown}", "there is no such file", "look at the URL")
        super().prepare(create=create)

    def _open(self) -> sa.Engine:
        file = self.url.database or ""
        if file and "uri" not in self.url.query:  # the process may change its working directory
            self.url = self.url.set(database=str(Path(file).absolute()))
        if file == "" or ":memory:" in file or self.url.query.get("mode") == "memory":
            raise InputError("url", "name a file", self.shown, "such as sqlite:///run.db")
        engine = sa.create_engine(self.url, poolclass=NullPool, connect_args={"check_same_thread": False})

        @sa.event.listens_for(engine, "connect")
        def connect(connection: sqlite3.Connection, record: Any) -> None:
            connection.isolation_level = None  # transactions begin only where a statement below says so
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * self.busy_seconds)}")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")

        return engine

    def session(self) -> int:
        """Return 1: SQLite loses nothing while the machine runs, so all connections are one session."""
        return 1

    def before_fork(self) -> None:
        """Close the connection: SQLite would take a child's for the parent's own, and remove the log under it."""
        self._connection.close()

    def migrate(self, *arguments: Any, **options: Any) -> None:
        """Bring the tables to this version, or create them, with a write-ahead log from now on."""
        with self.connected() as raw:
            raw.execute("PRAGMA journal_mode = WAL")
        super().migrate(*arguments, **options)

    def now(self) -> float:
        """Return the time by the clock of this machine."""
        return time.time()

    def last_crash(self) -> float:
        """Return when this machine was started."""
        return _boot_time()

    def _lock_studies(self, connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def _begin_writing(
        self, raw: sqlite3.Connection, study: int, after: int, synced: bool, most: int | None
    ) -> tuple[float, list[Event]]:
        raw.execute(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")
        raw.execute("BEGIN IMMEDIATE")
        return self.now(), self._read(raw, study, after, most)

    def _append(self, raw: sqlite3.Connection, study: int, events: Sequence[Event], synced: bool) -> None:
        raw.executemany(_WRITE, [(study, *event) for event in events])
        raw.commit()

    def _read(self, raw: sqlite3.Connection, study: int, after: int, most: int | None = None) -> list[Event]:
        return [Event(*row) for row in raw.execute(_READ, (study, after, -1 if most is None else most))]

    def _arrays(self, raw: sqlite3.Connection, columns: dict[str, str], where: str, head: int) -> list[NDArray[Any]]:
        types = [(f"column {index}", "f8" if kind == "d" else "i8") for index, kind in enumerate(columns.values())]
        query = f"select {', '.join(columns)} {where} and seq <= {head:d} order by seq"
        rows = np.fromiter(raw.execute(query), np.dtype(types))
        return [rows[name].copy() for name, _ in types]

    def copy_to(self, path: Path) -> bool:
        """Write all studies to a new SQLite file as they are at one moment, while others go on writing."""
        with self.connected() as raw, contextlib.closing(sqlite3.connect(path)) as target:
            raw.backup(target)  # by SQLite itself, which knows what is in the -wal
            target.execute("PRAGMA journal_mode = DELETE")  # one file, and no -wal beside it
        return True

    def _may_pass(self, cause: BaseException) -> bool:
        return "locked" in str(cause).lower() or "busy" in str(cause).lower()

    def _reason(self, cause: BaseException) -> tuple[str, str] | None:
        message = str(cause).lower()
        if (
            "unable to open" in message
            and self.url.database is not None
            and not Path(self.url.database).parent.is_dir()
        ):
            return "its folder is not there", "make the folder first"
        return next((found for words, found in _REASONS.items() if words in message), None)
