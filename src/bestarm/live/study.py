"""A study: an identifier on a database, shared by many processes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

from bestarm.errors import DecidedError, InputError, WaitingError
from bestarm.identification.drivers import SECONDS_PER_TRY, OnError, drive, drive_async
from bestarm.identification.ledger import Pull
from bestarm.identification.result import Result
from bestarm.live.account import as_html, log_opened
from bestarm.live.arguments import is_text
from bestarm.live.renewals import Renewals
from bestarm.live.settings import Settings, new_settings
from bestarm.live.slots import Slots
from bestarm.live.study_log import StudyLog
from bestarm.live.study_writer import StudyWriter
from bestarm.methods import DEFAULT
from bestarm.policies.policy import Factory
from bestarm.problem import LabelT


class Study(StudyWriter[LabelT]):
    """Finds the arm with the highest mean, with rewards from many processes, on a database that outlives them.

    The database keeps a log of all asks and tells, and each process derives its state from it. So a process may be
    killed at any moment, and any other can go on. Promises, on SQLite and on PostgreSQL:

    - When `tell` returns, the reward is on the disk.
    - A tell that is repeated is acknowledged again and counted once; with another reward it is an error. So after an
      error that leaves open whether a tell was recorded, tell again.
    - A worker that asks again under the same name, before it has told or cancelled its pull, gets the same pull while
      the lease lasts.
    - A pull that is neither told nor cancelled within its lease counts as cancelled, from the next ask, tell or cancel
      of any process on.
    - The decision is made once, with the sequence number of the event that led to it. All processes report the same
      decision, and so does a replay of the exported log by the same version of bestarm.

    A study can be used by many threads, forked and pickled: a pickle holds the URL and the name.

    Parameters
    ----------
    url : str
        URL of the database: sqlite:///FILE, or postgresql://USER@HOST/NAME.
    name : str
        Name of the study.
    arms, delta, epsilon, sigma, bounds, method, **options
        As for `Identifier`. If a study of that name exists, it is reopened, and these must be the same as when it was
        created; leave out all of them to reopen one that must exist. Labels are strings, numbers or bools. A `Policy`
        is stored by its import path, "module:Name", and every process that uses the study must be able to import it.
    lease : float > 0, optional
        Seconds after which a pull that was neither told nor cancelled expires. By default ten minutes; math.inf for
        never, which is the default if epsilon = 0, where nothing may be cancelled.

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
        self._url = url
        wanted: Settings | None = None
        if arms is not None:
            question = {"delta": delta, "epsilon": epsilon, "sigma": sigma, "bounds": bounds, "method": method}
            wanted = new_settings(arms, lease, {**question, **options})
        elif (delta, epsilon, sigma, bounds, lease, method, options) != (None, None, None, None, None, DEFAULT, {}):
            raise InputError("arms", "be given with the other settings", None, "or leave out all settings to reopen")
        self._log = StudyLog(url, name, wanted)
        if wanted is not None:
            self._log.settings.require_same(wanted, name, lease_given=lease is not None)
        log_opened(repr(self), self._log.settings)

    def __repr__(self) -> str:
        return f"<Study {self.name!r} on {self._log.store.shown}>"

    def _repr_html_(self) -> str:
        """Return the study and its state as HTML, for a notebook."""
        return as_html(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"url": self._url, "name": self.name}

    def __setstate__(self, stored: dict[str, Any]) -> None:
        self.__init__(stored["url"], stored["name"])  # type: ignore[misc]

    def __enter__(self) -> Study[LabelT]:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. It opens again when the study is used again."""
        self._log.close()

    def work(self, worker: str | None = None) -> Iterator[Pull[LabelT]]:
        """Iterate over pulls to make, one at a time, until some process makes the decision.

        The lease of a pull is renewed until the next one is asked for. While all arms wait for pulls of other
        workers, this waits too, if the leases of those will end.
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
                    time.sleep(SECONDS_PER_TRY)
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
        """Pull arms until the decision, or the end of a budget, and return the verdict; other processes may do so too.

        Parameters as for `identify`. A process that is started again under the same `worker` name first makes the
        pulls that were under way when it ended; without a name these wait for their lease. While a call is under way,
        the lease of its pull is renewed. A reward for a pull that somebody else has cancelled is an error; with
        on_error="cancel" the pull stays cancelled and the run goes on.

        If the database is away (a server that restarts, a file that others lock), the run tries again, at growing
        intervals, for up to `reconnect` seconds; with 0 the error is raised at once.
        """
        slots = Slots(self, worker, workers, reconnect)
        budget = slots.budget(self._log.settings, max_pulls, timeout, on_error)
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
        """Do the same with a coroutine function; a thread waits for the database, so the event loop goes on."""
        slots = Slots(self, worker, workers, reconnect)
        budget = slots.budget(self._log.settings, max_pulls, timeout, on_error)
        renewals = Renewals(self, slots.held)
        renewals.start()
        try:
            return await drive_async(pull, workers, budget, progress)
        finally:
            slots.give_up()  # if this is cancelled while a thread tries again
            await asyncio.to_thread(renewals.stop)
