"""Studies in a PostgreSQL database: many processes on many machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.pool import NullPool

from bestarm.live.backends._sql import SQLStore
from bestarm.live.events import COLUMNS, Event

_READ = f"select {COLUMNS} from bestarm_events where study = %s and seq > %s order by seq"
_INSERT = f"insert into bestarm_events (study, {COLUMNS}) values"
_ROW = "(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
_COPY = f"copy bestarm_events (study, {COLUMNS}) from stdin"
_EVENTS_PER_VALUE = 500_000  # when events are read as one long value
_TYPES = {"d": "f8", "q": "i8"}
_COPY_FROM = 20  # events from which on COPY is faster than INSERT
_SPACE = 1_650_553_959  # of advisory locks, apart from those of other programs
_NO_STUDY = 0  # locked while tables and studies are created
_LOCK = f"select pg_advisory_xact_lock({_SPACE}, %s)"
_NOW = "select extract(epoch from clock_timestamp())::float8"
_CRASH = "select coalesce(extract(epoch from stats_reset), 0)::float8 from pg_stat_bgwriter"
# Tells wait for the disk, also where a database is set not to; a stricter setting (of a standby, say) stays.
_SYNCED = "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'"
_BEGIN = "; ".join(
    (
        "begin isolation level read committed",
        _LOCK.replace("%s", "{study}"),
        _NOW,
        _READ.replace("%s", "{study}", 1).replace("%s", "{after}") + " limit {most}",
    )
)

# By SQLSTATE: the reason in plain words, and what to do.
_REASONS = {
    "53100": ("the disk of the server is full", "make room; all that was acknowledged is in it"),
    "25006": ("it is read-only", "connect to the primary server, as a user who may write"),
    "42501": ("the user may not do this", "grant the right to create and write tables"),
    "55P03": ("others have been writing to it for too long", "tell again, or ask: nothing was changed"),
    "25P03": ("this process was halted in the middle of writing", "tell again, or ask: nothing was changed"),
    "57P01": ("the server is shutting down", "tell again later, which is safe"),
}
# Transient errors: a server that restarts, too many connections, others that write, this process halted, a deadlock.
_TRANSIENT = ("08", "57P01", "57P02", "57P03", "53300", "55P03", "25P03", "40001", "40P01")
# Errors at connecting have no SQLSTATE: by the words of the server.
_AT_CONNECTING = {
    "does not exist": ("there is no such database or user", "create it first (createdb, createuser)"),
    "password": ("the password is wrong or missing", "look at the URL"),
    "too many": ("the server has too many connections", "raise max_connections, or use a pooler in session mode"),
}


class PostgreSQLStore(SQLStore):
    """A server. Writers of one study take turns by an advisory lock, which ends with the transaction."""

    def _open(self) -> sa.Engine:
        return sa.create_engine(self.url.set(drivername="postgresql+psycopg"), poolclass=NullPool)

    def _set_up(self, raw: Any) -> None:
        raw.autocommit = True  # transactions begin only where a statement below says so
        raw.execute(_SYNCED)
        milliseconds = int(1000 * self.busy_seconds)
        raw.execute(f"set lock_timeout = {milliseconds}")
        raw.execute(f"set idle_in_transaction_session_timeout = {milliseconds}")  # of a process that was halted

    def now(self) -> float:
        """Return the time by the clock of the server."""
        with self.connected() as raw:
            return float(raw.execute(_NOW).fetchone()[0])

    def last_crash(self) -> float:
        """Return when the server last began its statistics anew: it does so when it recovers from a crash."""
        with self.connected() as raw:
            return float(raw.execute(_CRASH).fetchone()[0])

    def _lock_studies(self, connection: sa.Connection) -> None:
        connection.execution_options(isolation_level="READ COMMITTED")
        connection.exec_driver_sql(_LOCK, (_NO_STUDY,))

    def _begin_writing(
        self, raw: Any, study: int, after: int, synced: bool, most: int | None
    ) -> tuple[float, list[Event]]:
        # One round trip. Each statement sees what is committed when it begins.
        limit = "all" if most is None else int(most)
        found = raw.execute(_BEGIN.format(study=int(study), after=int(after), most=limit))
        found.nextset()  # begin
        found.nextset()  # lock
        now = float(found.fetchone()[0])
        found.nextset()
        return now, [Event(*row) for row in found.fetchall()]

    def _append(self, raw: Any, study: int, events: Sequence[Event], synced: bool) -> None:
        commit = "commit" if synced else "set local synchronous_commit to off; commit"
        if len(events) < _COPY_FROM:
            rows = ", ".join([_ROW] * len(events))
            values = [value for event in events for value in (study, *event)]
            psycopg.ClientCursor(raw).execute(f"{_INSERT} {rows}; {commit}", values)
            return
        with raw.cursor() as cursor, cursor.copy(_COPY) as copy:
            for event in events:
                copy.write_row((study, *event))
        raw.execute(commit)

    def _read(self, raw: Any, study: int, after: int) -> list[Event]:
        return [Event(*row) for row in raw.execute(_READ, (study, after)).fetchall()]

    def _arrays(self, raw: Any, columns: dict[str, str], where: str, head: int) -> list[NDArray[Any]]:
        """Read them as a few long values that the server concatenates: row by row would take twice as long."""
        packed = " || ".join(f"{'float8' if kind == 'd' else 'int8'}send({sql})" for sql, kind in columns.items())
        query = f"select coalesce(string_agg({packed}, ''::bytea), ''::bytea) {where} and seq > %s and seq <= %s"
        with raw.cursor(binary=True) as cursor:
            parts = [
                cursor.execute(query, (begin, min(begin + _EVENTS_PER_VALUE, head))).fetchone()[0]
                for begin in range(0, head, _EVENTS_PER_VALUE)
            ]
        types = [(f"column {index}", f">{_TYPES[kind]}") for index, kind in enumerate(columns.values())]
        rows = np.frombuffer(b"".join(parts), np.dtype(types))
        rows = rows[np.argsort(rows["column 0"])]
        return [rows[name].astype(kind[1:]) for name, kind in types]

    def _may_pass(self, cause: BaseException) -> bool:
        state = getattr(cause, "sqlstate", None)
        if state is not None:
            return str(state).startswith(_TRANSIENT)
        lasting = any(words in str(cause) for words in ("does not exist", "password"))
        return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError) and not lasting

    def _reason(self, cause: BaseException) -> tuple[str, str] | None:
        state = getattr(cause, "sqlstate", None)
        if state in _REASONS:
            return _REASONS[state]
        first = str(cause).strip().split("\n")[0]
        if state is None:
            for words, found in _AT_CONNECTING.items():
                if words in first:
                    return found
        if state is None or state.startswith("08"):
            return (
                f"there is no connection ({first})",
                "see that the server runs; to tell again is safe, and to ask under a name",
            )
        return None
