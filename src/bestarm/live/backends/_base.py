"""The contract of a store, and what follows from it for every kind."""

from __future__ import annotations

import abc
import contextlib
import json
import secrets
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bestarm.errors import ConflictError, StoreError
from bestarm.live.events import ARCHIVE, ASK, CANCEL, DECIDE, EXPIRE, RENEW, TELL, Columns, Event

if TYPE_CHECKING:
    import sqlalchemy as sa

ENDS = (TELL, CANCEL, EXPIRE)  # a pull ends by one of these, once


@dataclass(frozen=True)
class StudyRow:
    """A study as it is stored."""

    id: int
    name: str
    token: int
    settings: str
    created: float


@dataclass(frozen=True)
class StudyCopy:
    """A whole study on its way from one store to another."""

    name: str
    token: int
    settings: str
    created: float
    events: Sequence[Event]


@dataclass(frozen=True)
class Overview:
    """A summary of a study, read from the store without opening the study.

    Attributes
    ----------
    name : str
        Name of the study.
    arms, rewards, pending : int
        Number of arms (None if another version wrote the settings), rewards told, and outstanding pulls.
    status : str
        Status of the decision; "undecided" before it, "unknown" if another version wrote the verdict.
    best : label or None
        The winner of the decision.
    archived : bool
        Whether the study is archived.
    created : float
        When it was created, in seconds since 1970.
    """

    name: str
    arms: int | None
    rewards: int
    pending: int
    status: str
    best: Any
    archived: bool
    created: float


@dataclass
class Transaction:
    """The exclusive right to append to the log of one study.

    Attributes
    ----------
    now : float
        The time, by the clock of the store.
    news : list of Event
        The events after the sequence number that `writing` was given.
    added : list of Event
        Events to append at the end; their sequence numbers continue those of the log.
    """

    now: float
    news: list[Event]
    added: list[Event] = field(default_factory=list)


class Store(abc.ABC):
    """Keeps the logs of studies: reads events, appends events, and lists studies.

    A backend implements `prepare`, `now`, `studies`, `insert`, `read` and `writing`; the rest follows from them, and
    is overridden only to be faster. The file of a backend is named after the scheme of its URLs, and lies beside this
    one. It keeps these promises, which `bestarm.testing.check_store` tests on every backend.

    *Append only.* An event is never changed and never removed. The events of a study have the sequence numbers
    1, 2, ... without a gap, in the order in which they were committed. A reader sees the first n of them, for some n.

    *Durable.* When `writing` ends without an exception, every later reader sees what was appended, and it is on the
    disk with all events before it (as far as the operating system and the disk tell the truth). When it ends with an
    exception, either all of it is in the log or nothing; which of the two is unknown if the connection broke during
    the commit. Asks and renewals need not wait for the disk (`synced=False`): a power failure, or a crash of the
    server, may lose those after the last synced event, and only those.

    *One writer at a time.* While one caller is inside `writing`, nobody else appends to the same study. Other studies
    of the same store may have to wait too (those of one SQLite file do, those of PostgreSQL don't). Readers never
    wait.

    *Once.* A pull ends once: told, cancelled or expired. The store rejects a second end with a `StoreError`.

    *Plain errors.* If the database can't be used (a full disk, a read-only file, no connection, old tables), the
    caller gets a `StoreError` in plain words, and nothing has changed.

    A store is used by one thread at a time; `Study` takes care of that. It is cheap to create: it connects when it is
    first used.

    Parameters
    ----------
    url : sqlalchemy.URL
        Location of the store.
    """

    busy_seconds = 60.0  # how long to wait for other writers
    sync_asks = False  # True: asks wait for the disk too; a pair of ask and tell then takes twice as long on SQLite

    def __init__(self, url: sa.URL) -> None:
        self.url = url
        secret = {name: "hidden" for name in url.query if "password" in name}
        self.shown = url.update_query_dict(secret).render_as_string(hide_password=True)

    # ------------------------------------------------------------------------------------- what a backend implements

    @abc.abstractmethod
    def prepare(self, *, create: bool) -> None:
        """Check that studies can be kept here; if nothing is here yet, set it up, or raise unless `create`."""

    @abc.abstractmethod
    def now(self) -> float:
        """Return the time by the clock of the store, in seconds since 1970. All events are timed by this clock."""

    @abc.abstractmethod
    def studies(self) -> list[StudyRow]:
        """Return all studies, in the order in which they were created."""

    @abc.abstractmethod
    def insert(self, copies: Sequence[StudyCopy]) -> bool:
        """Add studies with their logs, all or none; return False and add none if one of the names is taken."""

    @abc.abstractmethod
    def read(self, study: int, after: int) -> list[Event]:
        """Return the events of a study after a sequence number, in order."""

    @abc.abstractmethod
    def writing(
        self, study: int, after: int, *, synced: bool = True, most: int | None = None
    ) -> AbstractContextManager[Transaction]:
        """Lend the exclusive right to append to a study, with the events after a sequence number, `most` at most.

        At the end of the block, append `Transaction.added`; if the block raises, append nothing.
        """

    # ------------------------------------------------------------------------------- what a backend may make faster

    def find(self, name: str) -> StudyRow | None:
        """Return a study by its name."""
        return next((row for row in self.studies() if row.name == name), None)

    def head(self, study: int) -> int:
        """Return the last sequence number of a study, 0 if it has no events."""
        return len(self.read(study, 0))

    def columns(self, study: int, head: int) -> tuple[Columns, list[Event]]:
        """Return the log of a study up to a sequence number as arrays, and the asks of the outstanding pulls."""
        return to_columns(self.read(study, 0)[:head])

    def overview(self) -> list[Overview]:
        """Return a summary of each study, in the order in which they were created.

        No study is opened: those of another version, or with a method that is not installed, are listed too.
        """
        found = []
        for row in self.studies():
            events = self.read(row.id, 0)
            kinds = Counter(event.kind for event in events)
            note = next((event.note for event in events if event.kind == DECIDE), None)
            found.append(summarize(row.name, row.created, row.settings, kinds, note))
        return found

    def copy_to(self, path: Path) -> bool:
        """Write all studies to a file in a format of this backend's own; return False if it has none."""
        return False

    # -------------------------------------------------------------------- what a backend with connections overrides

    def migrate(self) -> None:
        """Bring what is stored to this version of bestarm, or set the store up."""
        self.prepare(create=True)

    def session(self) -> int:
        """Return the number of the present session: after a crash that may have lost asks it is a new one."""
        return 1

    def last_crash(self) -> float:
        """Return an upper bound on the time of the last crash that may have lost asks; 0 if none ever does."""
        return 0.0

    def close(self) -> None:  # noqa: B027 - not every backend has connections
        """Close the connection; it opens again when it is needed."""

    def before_fork(self) -> None:  # noqa: B027
        """Prepare for a fork of this process."""

    def after_fork(self) -> None:  # noqa: B027
        """Leave all connections to the parent: called in a child before its first use of the store."""

    # ------------------------------------------------------------------------------------------ what all have in common

    def create(self, name: str, settings: str) -> StudyRow:
        """Create a study, or return the one that has this name."""
        found = self.find(name)
        if found is None:
            self.insert([StudyCopy(name, secrets.randbits(62), settings, self.now(), [])])
            found = self.find(name)
        assert found is not None
        return found

    def add(self, copies: Sequence[StudyCopy]) -> list[str]:
        """Add whole studies with their logs, all or none, and return the names of those that were not here yet.

        A study whose name is taken is rejected, unless it is the same in every respect.
        """
        while True:
            fresh = [copy for copy in copies if not self._has(copy)]
            if self.insert(fresh):  # otherwise somebody has just taken one of the names
                return [copy.name for copy in fresh]

    def _has(self, copy: StudyCopy) -> bool:
        row = self.find(copy.name)
        if row is None:
            return False
        same = (row.token, row.settings) == (copy.token, copy.settings)
        if not same or self.read(row.id, 0) != list(copy.events):
            fix = f"{self.shown} has another study of that name: archive it, and use another database"
            raise ConflictError("name", "not be taken by another study", copy.name, fix)
        return True

    def may_be_doubled(self, study: StudyRow, pull: int) -> bool:
        """Tell whether the number of a pull may have been given out before, by an ask that was lost in a crash.

        That is so if there was a crash after the last synced event before the ask.
        """
        crash = self.last_crash()
        if study.created > crash:
            return False
        synced = 0.0
        for event in self.read(study.id, 0):
            if event.kind == ASK and event.pull == pull:
                break
            if event.kind not in (ASK, RENEW):
                synced = max(synced, event.at)
        return synced <= crash

    def failure(self, reason: str, fix: str, *, transient: bool = False) -> StoreError:
        """Return the error to raise when this store can't be used."""
        return StoreError(f"the database {self.shown} can't be used", reason, fix, transient)


def summarize(name: str, created: float, settings: str, kinds: Counter[str], note: str | None) -> Overview:
    """Return the overview of a study from its settings, the count of its events by kind, and its verdict as JSON."""
    arms, status, best = None, "undecided", None
    with contextlib.suppress(ValueError, KeyError, TypeError):
        arms = len(json.loads(settings)["arms"])
    if note is not None:
        try:
            verdict = json.loads(note)["result"]
            status, best = verdict["status"], verdict["best"]
        except (ValueError, KeyError, TypeError):
            status = "unknown"
    pending = kinds[ASK] - sum(kinds[kind] for kind in ENDS)
    return Overview(name, arms, kinds[TELL], pending, status, best, kinds[ARCHIVE] > 0, created)


def to_columns(events: Sequence[Event]) -> tuple[Columns, list[Event]]:
    """Return a log as arrays, and the asks of the outstanding pulls."""
    asks = [event for event in events if event.kind == ASK]
    ends = [event for event in events if event.kind in ENDS]
    sources: dict[str | None, int] = {None: -1}
    for event in events:
        sources.setdefault(event.source, len(sources) - 1)
    ended = {event.pull for event in ends}
    columns = Columns(
        arms=np.array([event.arm for event in asks], np.int64),
        times=np.array([event.at for event in asks], np.float64),
        asked=np.array([event.seq for event in asks], np.int64),
        asked_sources=np.array([sources[event.source] for event in asks], np.int64),
        pulls=np.array([event.pull for event in ends], np.int64),
        values=np.array([event.value or 0.0 for event in ends], np.float64),
        told=np.array([event.kind == TELL for event in ends], np.bool_),
        expired=np.array([event.kind == EXPIRE for event in ends], np.bool_),
        ended=np.array([event.seq for event in ends], np.int64),
        told_sources=np.array([sources[event.source] for event in ends], np.int64),
        sources=[text for text in sources if text is not None],
        rest=[event for event in events if event.kind not in (ASK, *ENDS)],
        head=len(events),
    )
    return columns, [ask for ask in asks if ask.pull not in ended]
