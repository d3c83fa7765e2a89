"""A study: an identifier on a database, shared by many processes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

from bestarm.errors import DecidedError, InputError, WaitingError
from bestarm.identification.drivers import SECONDS_A_TRY, OnError, drive, drive_async
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
            raise InputError("arms", "be given with the rest of the question", None, "or leave out all of it to reopen")
        self._log = StudyLog(url, name, wanted)
        if wanted is not None:
            self._log.settings.refuse_another(wanted, name, lease_given=lease is not None)
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
        """Do the same with a coroutine function; the database is waited for in a thread, and the event loop goes on."""
        slots = Slots(self, worker, workers, reconnect)
        budget = slots.budget(self._log.settings, max_pulls, timeout, on_error)
        renewals = Renewals(self, slots.held)
        renewals.start()
        try:
            return await drive_async(pull, workers, budget, progress)
        finally:
            slots.give_up()  # what is tried again in a thread, if this is cancelled
            await asyncio.to_thread(renewals.stop)
