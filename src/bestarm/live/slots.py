"""Adapts a study to the drivers that run it: one worker name per call, and retries while the database is away."""

from __future__ import annotations

import logging
import math
import secrets
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from bestarm.errors import InputError, LateError, StoreError
from bestarm.identification.drivers import Budget, OnError, new_budget, refuse_sources
from bestarm.identification.identifier import Identifier
from bestarm.identification.ledger import Pull
from bestarm.identification.result import Result
from bestarm.live.arguments import checked_worker
from bestarm.live.settings import Settings
from bestarm.problem import pose
from bestarm.validation import checked, number

if TYPE_CHECKING:
    from bestarm.live.study import Study

Answer = TypeVar("Answer")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0  # seconds between two attempts; each pause is twice as long as the last


class Slots:
    """Gives every call under way a worker name of its own, and retries while the database is away.

    It retries for up to `reconnect` seconds. That is safe: a reward counts once, and a worker that asks again under its
    name gets the same pull. So a run without a name is given a unique one.
    """

    def __init__(self, study: Study, worker: str | None, workers: int, reconnect: float) -> None:
        (count,) = checked(workers=workers)
        if not 0.0 <= number(reconnect) < math.inf:
            fix = "how long to wait for a database that is away"
            raise InputError("reconnect", "be a number of seconds >= 0", reconnect, fix)
        checked_worker(worker)
        self._study = study
        self._worker = f"run {secrets.token_hex(6)}" if worker is None else worker
        self._reconnect = float(reconnect)
        self._over = threading.Event()
        self._free = list(range(int(count) - 1, -1, -1))
        self._taken: dict[Pull, int] = {}

    def budget(self, settings: Settings, max_pulls: int | None, timeout: float | None, on_error: OnError) -> Budget:
        """Check the limits of a run of the study, and return them as a budget."""
        question = settings.question
        refuse_sources(question)
        terms: dict[str, Any] = {name: question.get(name) for name in ("delta", "epsilon", "sigma", "bounds")}
        return new_budget(self, pose(settings.arms, **terms), max_pulls, timeout, on_error)

    @property
    def done(self) -> bool:
        """Whether the decision has been made."""
        return self._retry(lambda: self._study.done)

    @property
    def pulls(self) -> int:
        """Rewards used so far."""
        return self._study.pulls

    @property
    def result(self) -> Result:
        """The verdict so far."""
        return self._retry(lambda: self._study.result)

    def held(self) -> list[Pull]:
        """Return the pulls whose calls are under way."""
        return list(self._taken)

    def ask_pulls(self) -> Pull:
        """Ask under the name of a free slot."""
        slot = self._free[-1]
        pull = self._retry(lambda: self._study.ask_pulls(worker=f"{self._worker}.{slot}"))
        self._taken[pull] = self._free.pop()
        return pull

    def tell(self, arm: Pull, reward: float) -> None:
        """Tell the reward, and free the slot."""
        try:
            self._retry(lambda: self._study.tell(arm, reward))
        except LateError:
            self._free.append(self._taken.pop(arm))
            raise
        self._free.append(self._taken.pop(arm))

    def cancel(self, pull: Pull) -> None:
        """Cancel the pull, and free the slot."""
        self._retry(lambda: self._study.cancel(pull))
        self._free.append(self._taken.pop(pull))

    def snapshot(self) -> Identifier:
        """Return an identifier with the present state."""
        return self._study.snapshot()

    def give_up(self) -> None:
        """Stop waiting for the database."""
        self._over.set()

    def _retry(self, act: Callable[[], Answer]) -> Answer:
        """Call `act`, again and again while the database is away; once time is up, later calls don't wait either."""
        began, pause = time.monotonic(), _FIRST_PAUSE
        while True:
            try:
                return act()
            except StoreError as error:
                left = began + self._reconnect - time.monotonic()
                if not error.transient or left <= 0.0 or self._over.is_set():
                    self._over.set()
                    raise
                logging.getLogger("bestarm").info("the database is away, trying again in %.1f s: %s", pause, error)
            self._over.wait(min(pause, left))
            pause = min(2.0 * pause, _LONGEST_PAUSE)
