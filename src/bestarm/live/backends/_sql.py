"""What all stores with SQL tables share: connections, tables, studies, and logs as arrays."""

from __future__ import annotations

import abc
import contextlib
import os
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from numpy.typing import NDArray
from sqlalchemy.exc import DBAPIError

from bestarm.errors import InputError, StoreError
from bestarm.live.backends._base import Overview, Store, StudyCopy, StudyRow, Transaction, summarize
from bestarm.live.events import COLUMNS, KINDS, Columns, Event
from bestarm.live.schema import ENDS, REVISION, VERSION_TABLE, events, studies

_ROWS_PER_INSERT = 5_000
_ROWS_PER_LOOKUP = 500  # rows selected by their sequence numbers in one statement
_MIGRATIONS = Path(__file__).parents[1] / "migrations"


class _Connection:
    """The driver's own connection, which belongs to the process that opened it."""

    def __init__(self) -> None:
        self.raw: Any = None
        self._process = 0

    def hold(self, raw: Any) -> None:
        """Hold a new connection."""
        self.raw, self._process = raw, os.getpid()

    def close(self) -> None:
        """Close it; in a forked child only drop it, as closing it would end the parent's session."""
        raw, self.raw = self.raw, None
        if raw is None:
            return
        if self._process != os.getpid():
            _of_parents.append(raw)
            return
        with contextlib.suppress(Exception):
            raw.close()


_of_parents: list[Any] = []  # connections that must not be garbage collected, which would close them


class SQLStore(Store):
    """A store in two tables, `bestarm_studies` and `bestarm_events` (see schema.py)."""

    def __init__(self, url: sa.URL) -> None:
        super().__init__(url)
        self._engine = self._open()
        self._sessions = 0  # connections opened so far
        self._connection = _Connection()
        weakref.finalize(self, self._connection.close)

    # ----------------------------------------------------------------------------- what differs between databases

    @abc.abstractmethod
    def _open(self) -> sa.Engine:
        """Return an engine whose connections keep the promises."""

    def _set_up(self, raw: Any) -> None:
        """Prepare a connection for asking and telling."""

    @abc.abstractmethod
    def _lock_studies(self, connection: sa.Connection) -> None:
        """Begin a transaction during which nobody else creates tables or studies."""

    @abc.abstractmethod
    def _begin_writing(
        self, raw: Any, study: int, after: int, synced: bool, most: int | None
    ) -> tuple[float, list[Event]]:
        """Begin a transaction during which nobody else writes to a study.

        Return the time by the database's clock, and the events after a sequence number, `most` at most.
        """

    @abc.abstractmethod
    def _append(self, raw: Any, study: int, events: Sequence[Event], synced: bool) -> None:
        """Insert events and commit; if synced, they and all before them are on the disk then."""

    @abc.abstractmethod
    def _read(self, raw: Any, study: int, after: int) -> list[Event]:
        """Return the events of a study after a sequence number, in order."""

    @abc.abstractmethod
    def _arrays(self, raw: Any, columns: dict[str, str], where: str, head: int) -> list[NDArray[Any]]:
        """Return columns of events up to a sequence number as arrays, ordered by the first one, which is `seq`.

        `columns` maps the SQL of each column to "d" for floats or "q" for integers.
        """

    @abc.abstractmethod
    def _reason(self, cause: BaseException) -> tuple[str, str] | None:
        """Return why the database failed and what to do about it, in plain words; None if unknown."""

    @abc.abstractmethod
    def _may_pass(self, cause: BaseException) -> bool:
        """Tell whether trying again soon may succeed: the server restarts, or others write."""

    # ------------------------------------------------------------------------------------------------- connections

    def session(self) -> int:
        """Return how many connections were opened so far, after opening one if there is none."""
        with self.connected():
            return self._sessions

    @contextlib.contextmanager
    def connected(self) -> Iterator[Any]:
        """Lend the driver's own connection, and end its transaction; after an error the next caller gets a new one.

        Asks and tells use the driver directly: SQLAlchemy's own layer would take as long as the database.
        """
        try:
            if self._connection.raw is None:
                self._new_connection()
            try:
                yield self._connection.raw
            except InputError:  # raised by bestarm, so nothing is wrong with the connection
                self._connection.raw.rollback()
                raise
            self._connection.raw.rollback()
        except InputError:
            raise
        except BaseException as error:
            self._connection.close()
            self._raise_plainly(error)

    def _new_connection(self) -> None:
        lent = self._engine.raw_connection()
        self._connection.hold(lent.driver_connection)
        self._sessions += 1
        lent.detach()  # from the pool, which would close it in a forked child
        self._set_up(self._connection.raw)

    @contextlib.contextmanager
    def tables(self, *, to_write: bool = False) -> Iterator[sa.Connection]:
        """Lend a connection of SQLAlchemy's; to write, with the studies locked, and committed at the end."""
        try:
            with self._engine.connect() as connection:
                if to_write:
                    self._lock_studies(connection)
                yield connection
                if to_write:
                    connection.commit()
        except Exception as error:
            self._raise_plainly(error)

    def _raise_plainly(self, error: BaseException) -> NoReturn:
        """Raise an error of the database as a `StoreError` in plain words, and any other as it is."""
        cause = error.orig if isinstance(error, DBAPIError) else error
        drivers: Any = self._engine.dialect.loaded_dbapi
        if cause is None or not isinstance(cause, drivers.Error):
            raise error
        first = str(cause).strip().split("\n")[0]
        unknown = f"the database says: {first}", "if it was a tell, tell again, which is safe"
        raise self.failure(*(self._reason(cause) or unknown), transient=self._may_pass(cause)) from error

    def close(self) -> None:
        """Close the connection; it opens again when it is needed."""
        self._connection.close()
        self._engine.dispose()

    def after_fork(self) -> None:
        """Leave all connections to the parent."""
        self._connection.close()
        self._engine.dispose(close=False)
        self._engine = self._open()

    # ------------------------------------------------------------------------------------------------------ tables

    def prepare(self, *, create: bool) -> None:
        """Check that the tables are there and of this version; if there are none, create them, or raise."""
        with self.tables() as connection:
            found = self._revision(connection)
        if found is None and create:
            self.migrate()
        elif found is None:
            raise StoreError(
                f"there is no study in {self.shown}", "it has no tables of bestarm", "make one by bestarm study create"
            )
        elif found < REVISION:
            raise self.failure(
                f"its tables are of an older version of bestarm (revision {found}, and not {REVISION})",
                f"make a copy of it, and then: bestarm study migrate '{self.shown}'",
            )
        elif found > REVISION:
            raise self.failure(
                f"its tables are of a newer version of bestarm (revision {found}, and not {REVISION})",
                "install that version",
            )

    def _revision(self, connection: sa.Connection) -> str | None:
        if not sa.inspect(connection).has_table(VERSION_TABLE):
            return None
        return connection.exec_driver_sql(f"select version_num from {VERSION_TABLE}").scalar()

    def migrate(self, revision: str = REVISION) -> None:
        """Bring the tables to this version, or create them. Two processes may do so at once."""
        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
        with self.tables(to_write=True) as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, revision)

    # ----------------------------------------------------------------------------------------------------- studies

    def studies(self) -> list[StudyRow]:
        """Return all studies, in the order in which they were created."""
        with self.tables() as connection:
            return [StudyRow(*row) for row in connection.execute(sa.select(studies).order_by(studies.c.id))]

    def find(self, name: str) -> StudyRow | None:
        """Return a study by its name."""
        with self.tables() as connection:
            row = connection.execute(sa.select(studies).where(studies.c.name == name)).one_or_none()
            return None if row is None else StudyRow(*row)

    def insert(self, copies: Sequence[StudyCopy]) -> bool:
        """Add studies with their logs, all or none; return False and add none if one of the names is taken."""
        if not copies:
            return True
        names = [copy.name for copy in copies]
        with self.tables(to_write=True) as connection:
            if connection.execute(sa.select(studies.c.id).where(studies.c.name.in_(names))).first() is not None:
                return False
            for copy in copies:
                fields = {name: getattr(copy, name) for name in ("name", "token", "settings", "created")}
                made = connection.execute(studies.insert().values(**fields))
                assert made.inserted_primary_key is not None
                study = made.inserted_primary_key[0]
                for begin in range(0, len(copy.events), _ROWS_PER_INSERT):
                    some = copy.events[begin : begin + _ROWS_PER_INSERT]
                    connection.execute(events.insert(), [{"study": study, **event._asdict()} for event in some])
        return True

    def overview(self) -> list[Overview]:
        """Return a summary of each study, in the order in which they were created, by one query."""
        count = [sa.func.count(sa.case((events.c.kind == kind, 1))) for kind in KINDS]
        verdict = sa.func.max(sa.case((events.c.kind == "decide", events.c.note)))
        query = (
            sa.select(studies.c.name, studies.c.created, studies.c.settings, verdict, *count)
            .select_from(studies.outerjoin(events, events.c.study == studies.c.id))
            .group_by(studies.c.id, studies.c.name, studies.c.created, studies.c.settings)
            .order_by(studies.c.id)
        )
        with self.tables() as connection:
            return [
                summarize(name, created, settings, Counter(dict(zip(KINDS, counts, strict=True))), note)
                for name, created, settings, note, *counts in connection.execute(query)
            ]

    # -------------------------------------------------------------------------------------------------- their logs

    @contextlib.contextmanager
    def writing(self, study: int, after: int, *, synced: bool = True, most: int | None = None) -> Iterator[Transaction]:
        """Lend the exclusive right to append to a study, with the events after a sequence number."""
        synced = synced or self.sync_asks
        with self.connected() as raw:
            transaction = Transaction(*self._begin_writing(raw, study, after, synced, most))
            yield transaction
            if transaction.added:
                self._append(raw, study, transaction.added, synced)

    def read(self, study: int, after: int) -> list[Event]:
        """Return the events of a study after a sequence number, in order."""
        with self.connected() as raw:
            return self._read(raw, study, after)

    def head(self, study: int) -> int:
        """Return the last sequence number of a study."""
        with self.connected() as raw:
            ((found,),) = raw.execute(f"select coalesce(max(seq), 0) from bestarm_events where study = {study:d}")
            return int(found)

    def columns(self, study: int, head: int) -> tuple[Columns, list[Event]]:
        """Return the log of a study up to a sequence number as arrays, and the asks of the outstanding pulls."""
        where = f"from bestarm_events where study = {study:d} and"
        until = f"seq <= {head:d}"
        end = "cast(case kind when 'tell' then 0 when 'expire' then 1 else 2 end as bigint)"
        with self.connected() as raw:
            asks = {"seq": "q", "cast(arm as bigint)": "q", "at": "d"}
            asked, arms, times = self._arrays(raw, asks, f"{where} kind = 'ask'", head)
            ends = {"seq": "q", "pull": "q", "coalesce(value, 0.0)": "d", end: "q"}
            ended, pulls, values, kinds = self._arrays(raw, ends, f"{where} {ENDS}", head)
            others = f"select {COLUMNS} {where} {until} and kind in ('decide', 'archive', 'renew') order by seq"
            rest = [Event(*row) for row in raw.execute(others)]
            sources: dict[str, int] = {}
            named = raw.execute(f"select seq, source {where} source is not null and {until} order by seq")
            pairs = [(seq, sources.setdefault(text, len(sources))) for seq, text in named]
            is_open = np.ones(arms.size, np.bool_)
            is_open[pulls] = False
            left = asked[is_open].tolist()
            outstanding = []
            for begin in range(0, len(left), _ROWS_PER_LOOKUP):
                some = ", ".join(map(str, left[begin : begin + _ROWS_PER_LOOKUP]))
                rows = raw.execute(f"select {COLUMNS} {where} seq in ({some}) order by seq")
                outstanding += [Event(*row) for row in rows]
        columns = Columns(
            arms=arms,
            times=times,
            asked=asked,
            asked_sources=_lookup(pairs, asked),
            pulls=pulls,
            values=values,
            told=kinds == 0,
            expired=kinds == 1,
            ended=ended,
            told_sources=_lookup(pairs, ended),
            sources=list(sources),
            rest=rest,
            head=head,
        )
        return columns, outstanding


def _lookup(pairs: Sequence[tuple[int, int]], seqs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the value that belongs to each sequence number, -1 where there is none; both are in order."""
    keys, values = np.array(pairs, np.int64).reshape(-1, 2).T
    here = np.isin(keys, seqs, assume_unique=True)
    found = np.full(seqs.size, -1, np.int64)
    found[np.searchsorted(seqs, keys[here])] = values[here]
    return found
