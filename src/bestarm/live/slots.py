"""A study as a driver sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestarm.errors import LateError
from bestarm.identifier import Identifier
from bestarm.result import Result
from bestarm.tickets import Pull

if TYPE_CHECKING:
    from bestarm.live.study import Study


class Slots:
    """Hands out the pulls of a study so that every call under way has a worker's name of its own."""

    def __init__(self, study: Study, worker: str | None, workers: int) -> None:
        self._study, self._worker = study, worker
        self._free = list(range(workers - 1, -1, -1))
        self._taken: dict[Pull, int] = {}

    @property
    def done(self) -> bool:
        """Whether the decision has been made."""
        return self._study.done

    @property
    def pulls(self) -> int:
        """Rewards used so far."""
        return self._study.pulls

    @property
    def result(self) -> Result:
        """The verdict so far."""
        return self._study.result

    def ask_pulls(self) -> Pull:
        """Ask under the name of a slot that is free."""
        slot = self._free[-1]
        pull = self._study.ask_pulls(worker=None if self._worker is None else f"{self._worker}.{slot}")
        self._taken[pull] = self._free.pop()
        return pull

    def tell(self, arm: Pull, reward: float) -> None:
        """Tell, and free the slot."""
        try:
            self._study.tell(arm, reward)
        except LateError:
            self._free.append(self._taken.pop(arm))
            raise
        self._free.append(self._taken.pop(arm))

    def cancel(self, pull: Pull) -> None:
        """Cancel, and free the slot."""
        self._study.cancel(pull)
        self._free.append(self._taken.pop(pull))

    def snapshot(self) -> Identifier:
        """Return an identifier with the state of now."""
        return self._study.snapshot()
