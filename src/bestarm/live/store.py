"""Where the logs of studies are kept: the promises, and what all databases share."""

from __future__ import annotations

import abc
import contextlib
import json
import os
import secrets
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from numpy.typing import NDArray
from sqlalchemy.exc import DBAPIError

from bestarm.errors import ConflictError, InputError, StoreError
from bestarm.live.events import COLUMNS, Columns, Event
from bestarm.live.schema import ENDS, REVISION, VERSION_TABLE, events, studies

_MANY = 5_000  # rows that are inserted by one statement
_SOME = 500  # rows that are asked for by their numbers in one statement


@dataclass(frozen=True)
class StudyRow:
    """A study as it stands in the database."""

    id: int
    name: str
    token: int
    settings: str
    created: float


@dataclass(frozen=True)
class StudyCopy:
    """A whole study on its way from one database to another."""

    name: str
    token: int
    settings: str
    created: float
    events: Sequence[Event]


@dataclass(frozen=True)
class Overview:
    """What the tables say of a study without a look at what follows from it.

    Attributes
    ----------
    name : str
        Of the study.
    arms, rewards, pending : int
        Arms (None if its settings are of another version), rewards told, and pulls outstanding.
    status : str
        Of the decision; undecided before; unknown if a verdict of another version can't be read.
    best : label or None
        The winner of the decision.
    archived : bool
        Whether it is closed.
    created : float
        When it was made, in seconds since 1970.
    """

    name: str
    arms: int | None
    rewards: int
    pending: int
    status: str
    best: Any
    archived: bool
    created: float


def _overview(
    name: str, created: float, settings: str, rewards: int, asks: int, ends: int, closed: int, note: str | None
) -> Overview:
    arms, status, best = None, "undecided", None
    with contextlib.suppress(ValueError, KeyError, TypeError):
        arms = len(json.loads(settings)["arms"])
    if note is not None:
        try:
            verdict = json.loads(note)["result"]
            status, best = verdict["status"], verdict["best"]
        except (ValueError, KeyError, TypeError):
            status = "unknown"
    return Overview(name, arms, rewards, asks - ends, status, best, closed > 0, created)


def _lookup(pairs: Sequence[tuple[int, int]], seqs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the value that belongs to each sequence number, -1 where there is none; both are in order."""
    keys, values = np.array(pairs, np.int64).reshape(-1, 2).T
    here = np.isin(keys, seqs, assume_unique=True)
    found = np.full(seqs.size, -1, np.int64)
    found[np.searchsorted(seqs, keys[here])] = values[here]
    return found


@dataclass
class Transaction:
    """The right to append to the log of one study, while nobody else has it.

    Attributes
    ----------
    now : float
        The time, by the clock of the database.
    news : list of Event
        What is in the log after the sequence number that was asked for.
    added : list of Event
        To be appended at the end; their sequence numbers follow the last one.
    """

    now: float
    news: list[Event]
    added: list[Event] = field(default_factory=list)


class _Held:
    """The driver's connection, of the process that opened it."""

    def __init__(self) -> None:
        self.raw: Any = None
        self._process = 0

    def take(self, raw: Any) -> None:
        """Hold a new connection."""
        self.raw, self._process = raw, os.getpid()

    def close(self) -> None:
        """Close it, or, in a child after a fork, let it be: to close it would end the parent's session."""
        raw, self.raw = self.raw, None
        if raw is None:
            return
        if self._process != os.getpid():
            _of_parents.append(raw)
            return
        with contextlib.suppress(Exception):
            raw.close()


_of_parents: list[Any] = []  # connections that must not even be forgotten


class Store(abc.ABC):
    """A database with the logs of studies. These promises are tested on each kind in tests/live/test_live_study.py.

    *Append only.* An event is never changed and never removed. Events of a study have the sequence numbers 1, 2, ...
    without a gap, in the order in which they were committed; whoever reads sees a beginning of that sequence, whole.

    *Durable.* When `writing` ends without an exception, what was appended is seen by everyone who reads from then on,
    and is on the disk, with all that was appended before it (as far as the operating system and the disk tell the
    truth). When it ends with one, either all of it is in the log or nothing: which of the two is not known if the
    connection broke while it was committed. Asks and renewals may be written without waiting for the disk: a power
    failure, or a crash of the server, may lose those after the last event that was synced, and only those.

    *One at a time.* Between the beginning and the end of `writing` no one else appends to the same study. Studies of
    one PostgreSQL database do not wait for each other; those of one SQLite file do.

    *Once.* A pull ends once, told, cancelled or expired: the database refuses a second end, whatever a program does.

    *Said.* What the database refuses (a full disk, a read-only file, no connection, old tables) is a `StoreError` in
    plain words, and changes nothing.

    Parameters
    ----------
    url : str
        Of the database, as SQLAlchemy writes it.
    """

    busy_seconds = 60.0  # how long to wait for others that write
    sync_asks = False  # True: wait for the disk at every ask too; a pair then takes twice as long on SQLite

    def __init__(self, url: sa.URL) -> None:
        self.url = url
        secret = {name: "hidden" for name in url.query if "password" in name}
        self.shown = url.update_query_dict(secret).render_as_string(hide_password=True)
        self._engine = self._open()
        self.connections = 0  # opened so far: what a server forgot in between, it forgot with the connection
        self._held = _Held()
        weakref.finalize(self, self._held.close)

    # ----------------------------------------------------------------------------- what differs between databases

    @abc.abstractmethod
    def _open(self) -> sa.Engine:
        """Return an engine whose connections are as promised."""

    def _set_up(self, raw: Any) -> None:  # noqa: B027 - not every driver needs it
        """Prepare a connection for asking and telling."""

    @abc.abstractmethod
    def _begin_alone(self, connection: sa.Connection) -> None:
        """Begin a transaction when nobody else makes tables or studies."""

    @abc.abstractmethod
    def _clock(self, connection: sa.Connection) -> float:
        """Return the time by the clock of the database."""

    @abc.abstractmethod
    def _begin_writing(self, raw: Any, study: int, seq: int, synced: bool) -> tuple[float, list[Event]]:
        """Begin a transaction when nobody else writes to a study.

        Return the time by the database's clock, and the events that follow a sequence number.
        """

    @abc.abstractmethod
    def _append(self, raw: Any, study: int, events: Sequence[Event], synced: bool) -> None:
        """Insert events, and commit; if synced, they are on the disk then, and all before them."""

    @abc.abstractmethod
    def _after(self, raw: Any, study: int, seq: int) -> list[Event]:
        """Return the events of a study that follow a sequence number, in order."""

    @abc.abstractmethod
    def _arrays(self, raw: Any, columns: dict[str, str], where: str, head: int) -> list[NDArray[Any]]:
        """Return columns of events up to a sequence number as arrays, in the order of the first one, which is `seq`.

        Of each there is its SQL, and d if it is a float or q if it is a whole number.
        """

    @abc.abstractmethod
    def _last_crash(self, raw: Any) -> float:
        """Return when the database may have forgotten what was not on the disk yet, the last time: or later."""

    @abc.abstractmethod
    def _reason(self, cause: BaseException) -> tuple[str, str] | None:
        """Return why the database refused, and what to do about it, in plain words; None if it is not known."""

    @abc.abstractmethod
    def _may_pass(self, cause: BaseException) -> bool:
        """Tell whether what the database refused may be granted soon: it restarts, or others write."""

    # ------------------------------------------------------------------------------------------------- connections

    def connect(self) -> int:
        """Open the connection, if it is not open, and return how many have been opened so far: its number."""
        with self._connected():
            return self.connections

    def before_fork(self) -> None:  # noqa: B027 - not every database needs it
        """Prepare for a fork; by default there is nothing to do."""

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        """Lend the driver's own connection, and end its transaction; after an error the next caller gets a new one.

        The statements of every ask and tell are given to the driver as they are: SQLAlchemy's own layer would take
        as long as the database.
        """
        try:
            if self._held.raw is None:
                lent = self._engine.raw_connection()
                self._held.take(lent.driver_connection)
                self.connections += 1
                lent.detach()  # it is ours now; the pool would close it in a child after a fork
                self._set_up(self._held.raw)
            try:
                yield self._held.raw
            except InputError:  # of ours, refused while nothing is wrong with the connection
                self._held.raw.rollback()
                raise
            self._held.raw.rollback()
        except InputError:
            raise
        except BaseException as error:
            self._held.close()
            explained = self._explained(error)
            if explained is error:
                raise
            raise explained from error

    @contextlib.contextmanager
    def _tables(self, *, to_write: bool = False) -> Iterator[sa.Connection]:
        """Lend a connection of SQLAlchemy's; to write, when nobody else makes tables or studies, and commit."""
        try:
            with self._engine.connect() as connection:
                if to_write:
                    self._begin_alone(connection)
                yield connection
                if to_write:
                    connection.commit()
        except Exception as error:
            explained = self._explained(error)
            if explained is error:
                raise
            raise explained from error

    def _explained(self, error: BaseException) -> BaseException:
        """Return what to raise for an error: one of the database's in plain words, any other as it is."""
        cause = error.orig if isinstance(error, DBAPIError) else error
        drivers: Any = self._engine.dialect.loaded_dbapi
        return self._plainly(cause) if isinstance(cause, drivers.Error) else error

    def _plainly(self, cause: BaseException) -> StoreError:
        first = str(cause).strip().split("\n")[0]
        reason, fix = self._reason(cause) or (
            f"the database says: {first}",
            "if it was a tell, tell again, which is safe",
        )
        return StoreError(f"the database {self.shown} can't be used", reason, fix, self._may_pass(cause))

    def close(self) -> None:
        """Close the connection; it opens again when it is needed."""
        self._held.close()
        self._engine.dispose()

    def forget_connections(self) -> None:
        """Leave all connections to the process that opened them: to be called in a child after a fork."""
        self._held.close()
        self._engine.dispose(close=False)
        self._engine = self._open()

    # ------------------------------------------------------------------------------------------------------ tables

    def prepare(self, *, create: bool) -> None:
        """See that the tables are there and of this version; make them if there are none and `create` is set."""
        with self._tables() as connection:
            found = self._revision(connection)
        if found is None and create:
            self.migrate()
        elif found is None:
            raise StoreError(
                f"there is no study in {self.shown}", "it has no tables of bestarm", "make one by bestarm study create"
            )
        elif found < REVISION:
            raise StoreError(
                f"the database {self.shown} can't be used",
                f"its tables are of an older version of bestarm (revision {found}, and not {REVISION})",
                f"make a copy of it, and then: bestarm study migrate '{self.shown}'",
            )
        elif found > REVISION:
            raise StoreError(
                f"the database {self.shown} can't be used",
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
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
        with self._tables(to_write=True) as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, revision)

    # ----------------------------------------------------------------------------------------------------- studies

    def create(self, name: str, settings: str) -> StudyRow:
        """Make a study, or return the one of that name."""
        row = self.find(name)
        if row is not None:
            return row
        with self._tables(to_write=True) as connection:
            if connection.scalar(sa.select(studies.c.id).where(studies.c.name == name)) is None:
                values = {"name": name, "token": secrets.randbits(62), "settings": settings}
                connection.execute(studies.insert().values(**values, created=self._clock(connection)))
        found = self.find(name)
        assert found is not None
        return found

    def find(self, name: str) -> StudyRow | None:
        """Return a study by its name."""
        with self._tables() as connection:
            row = connection.execute(sa.select(studies).where(studies.c.name == name)).one_or_none()
            return None if row is None else StudyRow(*row)

    def all(self) -> list[StudyRow]:
        """Return all studies, in the order of their making."""
        with self._tables() as connection:
            return [StudyRow(*row) for row in connection.execute(sa.select(studies).order_by(studies.c.id))]

    def add(self, copies: Sequence[StudyCopy]) -> list[str]:
        """Take in whole studies with their logs, all or none, and return the names of those that were not there.

        One whose name is taken is refused, unless all of it is the same.
        """
        added = []
        with self._tables(to_write=True) as connection:
            for copy in copies:
                row = connection.execute(sa.select(studies).where(studies.c.name == copy.name)).one_or_none()
                if row is None:
                    self._insert(connection, copy)
                    added.append(copy.name)
                elif (row.token, row.settings) != (copy.token, copy.settings) or self._log(connection, row.id) != list(
                    copy.events
                ):
                    fix = f"in {self.shown} there is another study of that name: archive it, and take another database"
                    raise ConflictError("name", "not be taken by another study", copy.name, fix)
        return added

    @staticmethod
    def _insert(connection: sa.Connection, copy: StudyCopy) -> None:
        fields = {"name": copy.name, "token": copy.token, "settings": copy.settings, "created": copy.created}
        made = connection.execute(studies.insert().values(**fields))
        assert made.inserted_primary_key is not None
        study = made.inserted_primary_key[0]
        for begin in range(0, len(copy.events), _MANY):
            rows = [{"study": study, **event._asdict()} for event in copy.events[begin : begin + _MANY]]
            connection.execute(events.insert(), rows)

    @staticmethod
    def _log(connection: sa.Connection, study: int) -> list[Event]:
        columns = [events.c[name] for name in Event._fields]
        rows = connection.execute(sa.select(*columns).where(events.c.study == study).order_by(events.c.seq))
        return [Event(*row) for row in rows]

    def overview(self) -> list[Overview]:
        """Return all studies in the order of their making, as the tables say it: one query, and nothing is folded.

        So a study of another version, or by a method that is not here, is listed with the others.
        """
        kinds = {"rewards": ("tell",), "asks": ("ask",), "ends": ("tell", "cancel", "expire"), "closed": ("archive",)}
        count = [sa.func.count(sa.case((events.c.kind.in_(kind), 1))).label(name) for name, kind in kinds.items()]
        verdict = sa.func.max(sa.case((events.c.kind == "decide", events.c.note)))
        query = (
            sa.select(studies.c.name, studies.c.created, studies.c.settings, *count, verdict)
            .select_from(studies.outerjoin(events, events.c.study == studies.c.id))
            .group_by(studies.c.id, studies.c.name, studies.c.created, studies.c.settings)
            .order_by(studies.c.id)
        )
        with self._tables() as connection:
            return [_overview(*row) for row in connection.execute(query)]

    # -------------------------------------------------------------------------------------------------- their logs

    @contextlib.contextmanager
    def writing(self, study: int, seq: int, *, synced: bool = True) -> Iterator[Transaction]:
        """Lend the right to append, with the news since a sequence number; on an exception nothing is appended.

        Asks and renewals need not be synced: see the promises.
        """
        synced = synced or self.sync_asks
        with self._connected() as raw:
            transaction = Transaction(*self._begin_writing(raw, study, seq, synced))
            yield transaction
            if transaction.added:
                self._append(raw, study, transaction.added, synced)

    def after(self, study: int, seq: int) -> list[Event]:
        """Return the events of a study that follow a sequence number, in order."""
        with self._connected() as raw:
            return self._after(raw, study, seq)

    def head(self, study: int) -> int:
        """Return the last sequence number of a study."""
        with self._connected() as raw:
            ((found,),) = raw.execute(f"select coalesce(max(seq), 0) from bestarm_events where study = {study:d}")
            return int(found)

    def may_be_doubled(self, study: StudyRow, pull: int) -> bool:
        """Tell whether the number of a pull may have been given out before, by an ask that a crash has undone.

        It may if there was a crash after the last event before it that was on the disk for certain.
        """
        with self._connected() as raw:
            crash = self._last_crash(raw)
            if study.created > crash:
                return False
            where = f"from bestarm_events where study = {study.id:d} and"
            query = (
                f"select coalesce(max(at), 0.0) {where} kind not in ('ask', 'renew') and seq < "
                f"(select max(seq) {where} kind = 'ask' and pull = {pull:d})"
            )
            ((synced,),) = raw.execute(query)
            return float(synced) <= crash

    def columns(self, study: int, head: int) -> tuple[Columns, list[Event]]:
        """Return the log of a study up to a sequence number as arrays, and the asks of pulls that have not ended."""
        where = f"from bestarm_events where study = {study:d} and"
        end = "cast(case kind when 'tell' then 0 when 'expire' then 1 else 2 end as bigint)"
        with self._connected() as raw:
            asks = {"seq": "q", "cast(arm as bigint)": "q", "at": "d"}
            asked, arms, times = self._arrays(raw, asks, f"{where} kind = 'ask'", head)
            ended = {"seq": "q", "pull": "q", "coalesce(value, 0.0)": "d", end: "q"}
            ends, pulls, values, kinds = self._arrays(raw, ended, f"{where} {ENDS}", head)
            named = raw.execute(f"select seq, source {where} source is not null and seq <= {head:d} order by seq")
            sources: dict[str, int] = {}
            pairs = [(seq, sources.setdefault(text, len(sources))) for seq, text in named]
            others = f"select {COLUMNS} {where} seq <= {head:d} and kind in ('decide', 'archive', 'renew') order by seq"
            rest = [Event(*row) for row in raw.execute(others)]
            is_open = np.ones(arms.size, np.bool_)
            is_open[pulls] = False
            left = asked[is_open].tolist()
            outstanding = []
            for begin in range(0, len(left), _SOME):
                some = ", ".join(map(str, left[begin : begin + _SOME]))
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
            ended=ends,
            told_sources=_lookup(pairs, ends),
            sources=list(sources),
            rest=rest,
            head=head,
        )
        return columns, outstanding
