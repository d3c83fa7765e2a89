"""A study as a driver sees it."""

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

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0  # seconds between two attempts: each is twice as long as the one before


class Slots:
    """Hands out the pulls of a study so that every call under way has a worker's name of its own.

    If the database is away, it waits for it, up to `reconnect` seconds. To try again is safe: what is told counts once,
    and who asks under a name is given the same. So a run without a name has one that no other run has.
    """

    def __init__(self, study: Study, worker: str | None, workers: int, reconnect: float) -> None:
        (hands,) = checked(workers=workers)
        if not 0.0 <= number(reconnect) < math.inf:
            fix = "how long to wait for a database that is away"
            raise InputError("reconnect", "be a number of seconds >= 0", reconnect, fix)
        checked_worker(worker)
        self._study = study
        self._worker = f"run {secrets.token_hex(6)}" if worker is None else worker
        self._reconnect = float(reconnect)
        self._over = threading.Event()
        self._free = list(range(int(hands) - 1, -1, -1))
        self._taken: dict[Pull, int] = {}

    def budget(self, settings: Settings, max_pulls: int | None, timeout: float | None, on_error: OnError) -> Budget:
        """Return the budget of a run of the study, or refuse it."""
        question = settings.question
        refuse_sources(question)
        terms: dict[str, Any] = {name: question.get(name) for name in ("delta", "epsilon", "sigma", "bounds")}
        return new_budget(self, pose(settings.arms, **terms), max_pulls, timeout, on_error)

    @property
    def done(self) -> bool:
        """Whether the decision has been made."""
        return self._insist(lambda: self._study.done)

    @property
    def pulls(self) -> int:
        """Rewards used so far."""
        return self._study.pulls

    @property
    def result(self) -> Result:
        """The verdict so far."""
        return self._insist(lambda: self._study.result)

    def held(self) -> list[Pull]:
        """Return the pulls whose calls are under way."""
        return list(self._taken)

    def ask_pulls(self) -> Pull:
        """Ask under the name of a slot that is free."""
        slot = self._free[-1]
        pull = self._insist(lambda: self._study.ask_pulls(worker=f"{self._worker}.{slot}"))
        self._taken[pull] = self._free.pop()
        return pull

    def tell(self, arm: Pull, reward: float) -> None:
        """Tell, and free the slot."""
        try:
            self._insist(lambda: self._study.tell(arm, reward))
        except LateError:
            self._free.append(self._taken.pop(arm))
            raise
        self._free.append(self._taken.pop(arm))

    def cancel(self, pull: Pull) -> None:
        """Cancel, and free the slot."""
        self._insist(lambda: self._study.cancel(pull))
        self._free.append(self._taken.pop(pull))

    def snapshot(self) -> Identifier:
        """Return an identifier with the state of now."""
        return self._study.snapshot()

    def give_up(self) -> None:
        """Wait for the database no longer."""
        self._over.set()

    def _insist(self, act: Callable[[], Answer]) -> Answer:
        """Do it, again and again while the database is away; after that it is waited for no more."""
        began, pause = time.monotonic(), _FIRST_PAUSE
        while True:
            try:
                return act()
            except StoreError as error:
                left = began + self._reconnect - time.monotonic()
                if not error.transient or left <= 0.0 or self._over.is_set():
                    self._over.set()
                    raise
                logging.getLogger("bestarm").info("the database is away, tried again in %.1f s: %s", pause, error)
            self._over.wait(min(pause, left))
            pause = min(2.0 * pause, _LONGEST_PAUSE)
