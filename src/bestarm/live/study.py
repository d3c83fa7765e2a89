"""A study: an identifier on a database, shared by many processes."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import threading
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from bestarm.errors import (
    ArchivedError,
    ConflictError,
    DecidedError,
    InputError,
    LateError,
    NotFoundError,
    WaitingError,
)
from bestarm.identification.drivers import SECONDS_A_TRY, OnError, drive, drive_async
from bestarm.identification.locks import give_lock
from bestarm.identification.result import Result
from bestarm.identification.tickets import Pull
from bestarm.live.account import as_html, log_changes, log_opened
from bestarm.live.arguments import (
    checked_pulls,
    checked_values,
    checked_worker,
    is_text,
    pull_parts,
    source_of,
    source_texts,
)
from bestarm.live.connect import open_store
from bestarm.live.events import CANCEL, EXPIRE, RENEW, Event
from bestarm.live.renewals import Renewals
from bestarm.live.replica import Replica
from bestarm.live.settings import Settings, new_settings, read_settings, source_text
from bestarm.live.slots import Slots
from bestarm.live.store import StudyRow
from bestarm.live.study_view import StudyView
from bestarm.methods import DEFAULT
from bestarm.policies.policy import Factory
from bestarm.problem import LabelT
from bestarm.validation import number

if TYPE_CHECKING:
    pass

_MANY = 2_000  # events from which on a log is read as arrays when it is opened


class Study(StudyView[LabelT]):
    """Finds the arm with the highest mean, with rewards from many processes, on a database that outlives them.

    The log of what was asked for and told is the truth, and what a process holds in memory follows from it: it may be
    killed at any moment, and reopened by anyone. Promises, on SQLite and on PostgreSQL:

    - When `tell` returns, the reward is on the disk.
    - A tell that is repeated with the same pull is acknowledged again and counted once; with another reward it is
      refused. So after an error whose outcome is not known, tell again.
    - A worker that asks again, under the same name, before it has told or cancelled what it was given, gets it again,
      while its lease lasts.
    - A pull that is neither told nor cancelled within its lease counts as cancelled: from anyone's next ask, tell
      or cancel on.
    - The decision is made once, with the sequence number of the event that led to it; all processes give the same,
      and so does a replay of the exported log by the same version of bestarm.

    Can be used by many threads, forked and pickled: a pickle is the URL and the name.

    Parameters
    ----------
    url : str
        Of the database: sqlite:///FILE, or postgresql://USER@HOST/NAME.
    name : str
        Of the study.
    arms, delta, epsilon, sigma, bounds, method, **options
        As for `Identifier`. A study of that name is reopened, and what is given here must be as it was; leave all of
        it out to reopen one that must exist. Labels are strings, numbers or bools. A `Policy` is kept by its import
        path, "module:Name", from which every process that uses the study has to be able to import it.
    lease : float > 0, optional
        Seconds. By default ten minutes; never if epsilon = 0, where nothing may be cancelled; math.inf for never.

    Examples
    --------
    >>> import tempfile
    >>> file = tempfile.mkdtemp() + "/run.db"
    >>> study = Study(f"sqlite:///{file}", "prompts", ["A", "B"], delta=0.05, epsilon=0.05, bounds=(0, 1))
    >>> pull = study.ask_pulls(worker="judge-1")
    >>> study.tell(pull, 1.0)
    >>> Study(f"sqlite:///{file}", "prompts").pulls
    1
    """

    _lock_rank = 0  # taken before those of the identifiers that it contains

    def __init__(
        self,
        url: str,
        name: str,
        arms: int | Iterable[LabelT] | None = None,
        *,
        delta: float | None = None,
        epsilon: float | None = None,
        sigma: float | None = None,
        bounds: tuple[float, float] | None = None,
        method: str | Factory = DEFAULT,
        lease: float | None = None,
        **options: Any,
    ) -> None:
        if not is_text(name) or not name.strip():
            raise InputError("name", "be a text", name, "it names the study in its database")
        self._store = open_store(url)
        self._url, self._name = url, name
        wanted: Settings | None = None
        if arms is not None:
            question = {"delta": delta, "epsilon": epsilon, "sigma": sigma, "bounds": bounds, "method": method}
            wanted = new_settings(arms, lease, {**question, **options})
        elif (delta, epsilon, sigma, bounds, lease, method, options) != (None, None, None, None, None, DEFAULT, {}):
            raise InputError("arms", "be given with the rest of the question", None, "or leave out all of it to reopen")
        self._prepare()
        with self._lock:
            self._store.prepare(create=wanted is not None)
            self._row = self._find_or_create(wanted)
            self._settings = read_settings(self._row.settings)
            if wanted is not None:
                self._settings.refuse_another(wanted, name, lease_given=lease is not None)
        log_opened(repr(self), self._settings, len(self._settings.arms))
        self._replica: Replica | None = None
        self._connection = 0  # the one by which it was folded

    def _prepare(self) -> None:
        self._lock: threading.RLock
        give_lock(self)
        self._pid = os.getpid()

    def _find_or_create(self, wanted: Settings | None) -> StudyRow:
        if wanted is not None:
            return self._store.create(self._name, wanted.to_json())
        row = self._store.find(self._name)
        if row is None:
            known = ", ".join(repr(other.name) for other in self._store.all()[:8]) or "none"
            raise NotFoundError("name", f"be a study in {self._store.shown}", self._name, f"it has {known}")
        return row

    def _before_fork(self) -> None:
        self._store.before_fork()

    def __repr__(self) -> str:
        return f"<Study {self._name!r} on {self._store.shown}>"

    def _repr_html_(self) -> str:
        """Return where it is, and how it stands, for a notebook."""
        return as_html(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"url": self._url, "name": self._name}

    def __setstate__(self, stored: dict[str, Any]) -> None:
        self.__init__(stored["url"], stored["name"])  # type: ignore[misc]

    def __enter__(self) -> Study[LabelT]:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. It opens again when the study is used again."""
        with self._lock:
            self._store.close()

    # ------------------------------------------------------------------------------------------- in step with the log

    @contextlib.contextmanager
    def _mine(self) -> Iterator[None]:
        """Have the object for one thread, with connections of this process."""
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                self._store.forget_connections()
            yield

    def _known(self) -> Replica:
        """Return the state as this process knows it.

        A server that crashes forgets asks that were not on its disk, and closes the connection: what was known by one
        that is closed is folded anew.
        """
        connection = self._store.connect()
        if self._replica is None or connection != self._connection:
            self._replica, self._connection = self._reopened(), connection
        return self._replica

    def _current(self) -> Replica:
        """Return the state after all events that are in the log now."""
        replica, self._replica = self._known(), None  # if something fails, it is folded anew next time
        replica.fold(self._store.after(self._row.id, replica.seq))
        self._replica = replica
        return replica

    def _reopened(self) -> Replica:
        replica = Replica(self._settings, self._row.token)
        head = self._store.head(self._row.id)
        if head >= _MANY and not replica.finder.by_sources:
            replica.fold_columns(*self._store.columns(self._row.id, head))
        return replica

    def _write(self, change: Callable[[Replica, float], list[Event]], *, synced: bool = True) -> None:
        """Append what a change of the state comes to, while nobody else writes, and what follows from it.

        If not synced, which is for asks, nothing else is written: what follows waits for the disk.
        """
        replica, self._replica = self._known(), None  # thrown away if the events can't be written
        sound, due = False, False
        try:
            with self._store.writing(self._row.id, replica.seq, synced=synced) as transaction:
                replica.fold(transaction.news)
                sound = True
                now = transaction.now
                transaction.added = change(replica, now)
                sound = False
                overdue = list(replica.overdue(now))
                due = not synced and bool(overdue)
                if synced and not replica.archived:
                    transaction.added += [*replica.mark(EXPIRE, overdue, now), *replica.decide(now)]
        except InputError:
            if sound and replica.whole:  # refused before anything was changed
                self._replica = replica
            raise
        self._replica = replica
        log_changes(self._name, transaction.added, self._settings.arms)
        if due:
            self._write(lambda replica, now: [])

    def _refuse_if_archived(self, replica: Replica) -> None:
        if replica.archived:
            raise ArchivedError(self._name)

    # -------------------------------------------------------------------------------------------------- ask and tell

    @overload
    def ask_pulls(
        self, n: None = None, *, worker: str | None = None, source: Hashable | None = None
    ) -> Pull[LabelT]: ...
    @overload
    def ask_pulls(self, n: int, *, worker: str | None = None, source: Hashable | None = None) -> list[Pull[LabelT]]: ...
    def ask_pulls(
        self, n: int | None = None, *, worker: str | None = None, source: Hashable | None = None
    ) -> Pull[LabelT] | list[Pull[LabelT]]:
        """Return the next pull to make, or a list of n of them.

        A worker that gives its name first gets what it was given before, for the same source, and has not told or
        cancelled. So one that asks again, as it does not know whether it was heard, gets the same; one that makes
        several calls at a time needs a name for each. `source` is who will give the rewards (see `Identifier`).
        """
        if n is not None and not (number(n) >= 1 and number(n) % 1 == 0):
            raise InputError("n", "be a whole number >= 1", n, "leave it out to get one pull")
        checked_worker(worker)
        wanted = 1 if n is None else int(n)
        numbers: list[int] = []
        named = source_text(source)

        def change(replica: Replica, now: float) -> list[Event]:
            self._refuse_if_archived(replica)
            if replica.finder.decision is not None:
                raise DecidedError(replica.finder.decision.status, "study")
            numbers[:] = replica.held_by(worker, named, now)[:wanted] if worker is not None else []
            missing = wanted - len(numbers)
            asks = replica.choose(missing, worker, named, now) if missing else []
            numbers.extend(ask.pull for ask in asks if ask.pull is not None)
            return asks

        with self._mine():
            if source is not None:
                self._known().finder.check_source(source)
            self._ask(change)
            assert self._replica is not None
            pulls = [self._replica.pull(index) for index in numbers]
        return pulls[0] if n is None else pulls

    def _ask(self, change: Callable[[Replica, float], list[Event]]) -> None:
        """Write asks; if all arms wait for missing pulls, end those whose lease has ended first."""
        try:
            self._write(change, synced=False)
        except WaitingError as error:
            before = self._known().expired
            self._write(lambda replica, now: [])
            if self._known().expired == before:
                raise WaitingError(error.waiting, math.isfinite(self.lease)) from None
            self._write(change, synced=False)

    def work(self, worker: str | None = None) -> Iterator[Pull[LabelT]]:
        """Go through pulls to make, one at a time, until the decision, whoever's reward leads to it.

        The lease of a pull is renewed until the next one is asked for. While all arms wait for pulls of others, it
        waits too, if the leases of those will end.
        """
        held: list[Pull[LabelT]] = []
        with Renewals(self, lambda: held):
            while not self.done:
                try:
                    held = [self.ask_pulls(worker=worker)]
                except DecidedError:  # in the meantime
                    return
                except WaitingError as error:
                    if not error.ends:
                        raise
                    time.sleep(SECONDS_A_TRY)
                    continue
                yield held[0]
                held = []

    def run(
        self,
        pull: Callable[[LabelT], float],
        *,
        workers: int = 1,
        worker: str | None = None,
        max_pulls: int | None = None,
        timeout: float | None = None,
        on_error: OnError = "raise",
        progress: bool = False,
        reconnect: float = 60.0,
    ) -> Result[LabelT]:
        """Pull arms until the decision, or the end of a budget, and return the verdict; others may do so too.

        Parameters as for `identify`. With a name, `worker`, a process that is started again under it first makes the
        pulls that were under way when it ended; without one these wait for their lease. While a call is under way, the
        lease of its pull is renewed. A reward of a pull that somebody else has cancelled is an error, or, with
        on_error="cancel", counts as cancelled, which it is.

        If the database is away (a server that restarts, a file that others lock), what it was asked for is tried
        again, at growing intervals, for up to `reconnect` seconds; 0 passes the error on at once.
        """
        slots = Slots(self, worker, workers, reconnect)
        budget = slots.budget(self._settings, max_pulls, timeout, on_error)
        with Renewals(self, slots.held):
            return drive(pull, workers, budget, progress)

    async def run_async(
        self,
        pull: Callable[[LabelT], Awaitable[float]],
        *,
        workers: int = 8,
        worker: str | None = None,
        max_pulls: int | None = None,
        timeout: float | None = None,
        on_error: OnError = "raise",
        progress: bool = False,
        reconnect: float = 60.0,
    ) -> Result[LabelT]:
        """Do the same with a coroutine function; the database is waited for in a thread, and the event loop goes on."""
        slots = Slots(self, worker, workers, reconnect)
        budget = slots.budget(self._settings, max_pulls, timeout, on_error)
        renewals = Renewals(self, slots.held)
        renewals.start()
        try:
            return await drive_async(pull, workers, budget, progress)
        finally:
            slots.give_up()  # what is tried again in a thread, if this is cancelled
            await asyncio.to_thread(renewals.stop)

    def pull(self, which: str | int) -> Pull[LabelT]:
        """Return a pull that was asked for, by its id: for a worker that has kept nothing else of it.

        Its number will do while it is unambiguous. A server that crashes may forget asks that were not on its disk, and
        give their numbers out again. So the number of a pull that is outstanding is refused if there was a crash
        (of a SQLite file: a start of its machine) after the last tell or cancel before it was asked for.
        """
        index, mark = pull_parts(which)
        with self._mine():
            replica = self._known()
            if index >= replica.pulls:
                replica = self._current()
            fix = "bestarm study pending lists those that are outstanding"
            if mark is not None and not replica.has_mark(index, mark):
                fix = f"if the server has crashed since, it is lost; {fix}"
                raise NotFoundError("pull", "be the id of a pull of this study", which, fix)
            if not 0 <= index < replica.pulls:
                raise NotFoundError("pull", f"be a number from 0, below the {replica.pulls} pulls so far", which, fix)
            if mark is None and replica.is_outstanding(index) and self._store.may_be_doubled(self._row, index):
                rule = "be given by its id, as the database was interrupted and may have given out its number twice"
                raise InputError("pull", rule, which, fix)
            return replica.pull(index)

    def outstanding(self) -> list[tuple[Pull[LabelT], str | None, float]]:
        """Return the pulls that are outstanding, each with the worker that asked for it, and when."""
        with self._mine():
            return self._current().outstanding_pulls()

    def tell(self, pull: Pull[LabelT], reward: float, source: Hashable | None = None) -> None:
        """Take in the reward of a pull; when this returns, it is on the disk. A bad one is refused, changing nothing.

        `source` is who or what gave it, for contamination="sources" and only there: a string, a number or a bool. A
        pull that named it beforehand needs none.
        """
        self.tell_many([pull], [reward], None if source is None else [source])

    def tell_many(
        self, pulls: Sequence[Pull[LabelT]], rewards: Sequence[float], sources: Sequence[Hashable] | None = None
    ) -> None:
        """Take in rewards of many pulls, in order, all or none: one bad one, and none is taken."""
        pulls = checked_pulls(pulls, "a reward without a pull can't be told twice safely")
        with self._mine():
            finder = self._known().finder
            values = checked_values(finder, pulls, rewards)
            texts = source_texts(finder, pulls, sources)

            def change(replica: Replica, now: float) -> list[Event]:
                numbers, fresh, spoken = [], [], []
                seen: dict[int, tuple[float, str | None]] = {}
                for pull, value, said in zip(pulls, values, texts, strict=True):
                    index = replica.find(pull)
                    text = source_of(replica, index, said)
                    if index in seen and seen[index] != (value, text):
                        raise ConflictError(
                            "reward", "be the same when a pull is told again", value, "nothing was recorded"
                        )
                    if index not in seen and not replica.was_told(index, value, text):
                        numbers.append(index)
                        fresh.append(value)
                        spoken.append(text)
                    seen[index] = (value, text)
                if not numbers:  # all of them are in the log already
                    return []
                self._refuse_if_archived(replica)
                return replica.tell(numbers, fresh, spoken, now)

            self._write(change)

    def cancel(self, pull: Pull[LabelT]) -> None:
        """Give up a pull whose reward will never come: it counts as a reward that was replaced (see `Identifier`)."""
        self.cancel_many([pull])

    def cancel_many(self, pulls: Sequence[Pull[LabelT]]) -> None:
        """Give up many pulls, all or none."""
        pulls = checked_pulls(pulls, "study.cancel(pull)")
        if self._settings.question["epsilon"] == 0.0:
            raise InputError("epsilon", "be above 0 to cancel pulls", 0.0, "what never comes counts as replaced")

        def change(replica: Replica, now: float) -> list[Event]:
            numbers = list(dict.fromkeys(replica.find(pull) for pull in pulls))
            left = [index for index in numbers if not replica.was_cancelled(index)]
            if left:
                self._refuse_if_archived(replica)
            return replica.mark(CANCEL, left, now)

        with self._mine():
            self._write(change)

    def renew(self, pull: Pull[LabelT]) -> None:
        """Let the lease of a pull that is outstanding begin anew, for a call that takes longer."""
        self.renew_many([pull])

    def renew_many(self, pulls: Sequence[Pull[LabelT]]) -> None:
        """Let the leases of many pulls begin anew, all or none."""
        self._renew(checked_pulls(pulls, "study.renew(pull)"), ended="refuse")

    def _renew(self, pulls: list[Pull[LabelT]], ended: str) -> None:
        def change(replica: Replica, now: float) -> list[Event]:
            numbers = list(dict.fromkeys(replica.find(pull) for pull in pulls))
            left = [index for index in numbers if replica.is_outstanding(index)]
            if ended == "refuse" and len(left) < len(numbers):
                gone = next(index for index in numbers if index not in left)
                raise LateError("pull", "be outstanding", replica.pull(gone), "it has ended, and has no lease any more")
            if math.isinf(replica.settings.lease) or not left:
                return []
            self._refuse_if_archived(replica)
            return replica.mark(RENEW, left, now)

        with self._mine():
            self._write(change, synced=False)

    def archive(self) -> None:
        """Close the study for good: it can still be read and exported. Doing so again is not an error."""
        with self._mine():
            if not self._current().archived:
                self._write(lambda replica, now: replica.archive(now))
