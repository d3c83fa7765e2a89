"""Pulls with a number each: rewards come back in any order, and are used in the order of the pulls.

What comes back early or late may depend on the reward (clicks report at once, their absence after a while). An arm's
rewards in the order of their arrival are then no fair sample of it at any time; in the order of the pulls they are.
"""

from __future__ import annotations

import secrets
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.problem import LabelT

# An arm is silent if it owes so many rewards beyond twice what it has answered, and another has answered so many more.
PATIENCE = 64
# Rewards of an arm that may wait for a missing pull: with as many, other arms are asked for.
RUN_AHEAD = 2_000


@dataclass(frozen=True)
class Pull(Generic[LabelT]):
    """One pull that was asked for.

    Attributes
    ----------
    arm : label
        What to pull.
    number : int
        Its place among all pulls of the identifier, from 0.
    """

    arm: LabelT
    number: int
    _of: int = field(default=0, repr=False)

    @property
    def id(self) -> str:
        """A text that no other pull has, also none that is given the same number after a crash of a server.

        To be kept or passed on as it is: a study finds the pull by it (`study.pull(id)`).
        """
        return f"{self.number}-{self._of:x}"


class Arrival(NamedTuple):
    """What came back of a pull: a reward, with its source if it has one; None if it was cancelled."""

    value: float | None
    source: object = None


class Tickets:
    """The pulls of one identifier that are outstanding, and what came back of them before its turn."""

    def __init__(self, arms: int, owner: int | None = None) -> None:
        self.cancelled_of = [0] * arms
        self.answered = [0] * arms
        self._owed = [0] * arms
        # A pull of another identifier must not be taken for one of this.
        self._owner = secrets.randbits(63) if owner is None else owner
        self._next = 0
        self._arms: dict[int, int] = {}  # of the pulls outstanding, by number
        # In order, those that wait for others too; of the arms that have any: an empty one takes 760 bytes.
        self._queues: defaultdict[int, deque[int]] = defaultdict(deque)
        self._arrived: dict[int, Arrival] = {}
        # In a study, of each pull outstanding: when it was asked for, and by whom.
        self.holders: Mapping[int, tuple[float, str | None]] = {}

    def issue(self, index: int, label: LabelT) -> Pull[LabelT]:
        """Return the next pull, of an arm."""
        number = self._next
        self._next += 1
        self._arms[number] = index
        self._queues[index].append(number)
        self._owed[index] += 1
        return self.pull(number, label)

    def pull(self, number: int, label: LabelT) -> Pull[LabelT]:
        """Return a pull by its number."""
        return Pull(label, number, self._owner)

    def check(self, pull: Pull) -> None:
        """Refuse a pull that is not outstanding."""
        if pull._of != self._owner or not 0 <= pull.number < self._next:
            raise InputError("pull", "be of this identifier", pull, "tell it to the one that asked for it")
        if pull.number not in self._arms:
            raise InputError("pull", "be told or cancelled once", pull, "nothing was recorded")

    def arrive(self, pull: Pull, arrival: Arrival) -> dict[int, Arrival]:
        """Take what came back of a pull; return what can be used now of its arm, by number, in the order of pulls."""
        index = self._take(pull.number, arrival)
        queue = self._queues[index]
        ready = {}
        while queue and queue[0] in self._arrived:
            number = queue.popleft()
            ready[number] = self._arrived.pop(number)
        return ready

    def _take(self, number: int, arrival: Arrival) -> int:
        """Count the end of a pull, keep what came back, and return the arm."""
        index = self._arms.pop(number)
        self.answered[index] += 1
        self._owed[index] -= 1
        self.cancelled_of[index] += arrival.value is None
        self._arrived[number] = arrival
        return index

    def take_back(self, pull: Pull, index: int, ready: dict[int, Arrival]) -> None:
        """Undo the arrival of a pull of an arm, of which this became ready: none of it could be used."""
        self._queues[index].extendleft(reversed(ready))
        self._arrived |= ready
        self.cancelled_of[index] -= self._arrived.pop(pull.number).value is None
        self.answered[index] -= 1
        self._owed[index] += 1
        self._arms[pull.number] = index

    def restore(
        self,
        arms: NDArray[np.int64],
        ended: NDArray[np.int64],
        used: NDArray[np.int64],
        arrived: dict[int, Arrival],
        cancelled: list[int],
    ) -> None:
        """Become what issuing pulls of these arms, and the arrival of those that ended, would have come to."""
        size = len(self.answered)
        open_ones = np.ones(arms.size, np.bool_)
        open_ones[ended] = False
        outstanding = np.flatnonzero(open_ones)
        open_ones[:] = True
        open_ones[used] = False
        self.cancelled_of = cancelled
        self.answered = np.bincount(arms[ended], minlength=size).tolist()
        self._owed = np.bincount(arms[outstanding], minlength=size).tolist()
        self._next = arms.size
        self._arms = {number: int(arms[number]) for number in outstanding.tolist()}
        for number in np.flatnonzero(open_ones).tolist():
            self._queues[arms[number]].append(number)
        self._arrived = arrived

    @property
    def cancelled(self) -> int:
        """Pulls that were given up, of all arms."""
        return sum(self.cancelled_of)

    @property
    def waiting(self) -> int:
        """Pulls that have ended and wait for an earlier one."""
        return len(self._arrived)

    def is_silent(self, index: int) -> bool:
        """Whether an arm owes many rewards and hardly answers, while others do."""
        answered = self.answered[index]
        return self._owed[index] > PATIENCE + 2 * answered and max(self.answered) > answered + PATIENCE

    def is_any_far_ahead(self) -> bool:
        """Whether that may be so of some arm: quick to say no."""
        return len(self._arrived) >= RUN_AHEAD

    def is_far_ahead(self, index: int) -> bool:
        """Whether so many rewards of an arm wait for a missing pull that no more should be asked for."""
        return self.is_any_far_ahead() and len(self._queues[index]) - self._owed[index] >= RUN_AHEAD

    def span_of(self, index: int) -> int:
        """Return how many pulls of an arm were asked for up to the latest of them that has ended."""
        queue, later = self._queues[index], 0
        while later < len(queue) and queue[-1 - later] not in self._arrived:
            later += 1
        return self.answered[index] + self._owed[index] - later

    def span(self) -> int:
        """Return how many pulls were asked for up to the latest that has ended."""
        last = self._next
        while last - 1 in self._arms:
            last -= 1
        return last

    def used_of(self, index: int) -> int:
        """Return how many pulls of an arm have ended and wait for nothing."""
        return self.answered[index] + self._owed[index] - len(self._queues[index])

    def missing(self) -> tuple[int, dict[int, tuple[int, int]]]:
        """Return how many rewards wait, and of each pull that they wait for its arm and how many wait for it."""
        waits = {number for number, arrival in self._arrived.items() if arrival.value is not None}
        found: dict[int, tuple[int, int]] = {}
        for index, queue in self._queues.items():
            behind = 0
            for number in reversed(queue):
                if number in waits:
                    behind += 1
                elif behind and number in self._arms:
                    found[number] = index, behind
        return len(waits), dict(sorted(found.items()))
