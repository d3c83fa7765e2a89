"""Pulls of sources: a reward is used after every earlier one of its arm, and of its source.

Each source enters a pair of arms by the first of the two that it was asked about (section 11 of
docs/explanation/certified.md). Which one that is must not depend on what it says, and so not on what comes back first.
"""

from __future__ import annotations

import bisect
import heapq
import math
from collections import defaultdict
from collections.abc import Hashable
from typing import NamedTuple

from bestarm.errors import InputError
from bestarm.identification.tickets import Arrival, Pull, Tickets
from bestarm.problem import LabelT


class Turn(NamedTuple):
    """The end of a pull whose turn has come: arm, number, reward (None if it was cancelled), source if it is known."""

    arm: int
    number: int
    value: float | None
    source: Hashable | None


class SourceTickets(Tickets):
    """Tickets of which each may name its source beforehand.

    A reward waits for the earlier pulls of its arm; for the earlier pulls of its source; and for every earlier pull
    that is still out and names no source, as that may be its own.
    """

    def __init__(self, arms: int, owner: int | None = None) -> None:
        super().__init__(arms, owner)
        self._named: dict[int, Hashable] = {}  # sources of the pulls outstanding that name one
        self._unnamed: list[int] = []  # a heap of the pulls that name none; those that have ended leave it in time
        # Of every source that is known: a heap of its pulls that have not been used.
        self._of_source: defaultdict[Hashable, list[int]] = defaultdict(list)
        self._arm_of: dict[int, int] = {}  # of pulls that have arrived and wait
        self._blocked: list[int] = []  # a heap of arrivals that wait for a pull without a name, and nothing else

    def issue_named(self, index: int, label: LabelT, source: Hashable | None) -> Pull[LabelT]:
        """Return the next pull, of an arm, for a source if it is known."""
        pull = self.issue(index, label)
        if source is None:
            heapq.heappush(self._unnamed, pull.number)
        else:
            self._named[pull.number] = source
            heapq.heappush(self._of_source[source], pull.number)
        return pull

    def source_of(self, pull: Pull[LabelT], told: Hashable | None) -> Hashable | None:
        """Return the source of a pull that is outstanding; refuse one that it was not asked for."""
        named = self._named.get(pull.number)
        if named is not None and told is not None and told != named:
            fix = "leave it out, or tell this reward by a pull that was asked for its source"
            raise InputError("source", f"be the one that the pull was asked for ({named!r})", told, fix)
        return told if named is None else named

    def horizon(self, index: int) -> float:
        """Return the number of the first pull of an arm that has not been used; infinite if there is none."""
        queue = self._queues[index]
        return queue[0] if queue else math.inf

    def take_turns(self, pull: Pull[LabelT], arrival: Arrival) -> list[Turn]:
        """Take what came back of a pull, and return all whose turn has come, in order."""
        number = pull.number
        self._arm_of[number] = self._take(number, arrival)
        named = self._named.pop(number, None)
        if named is None and arrival.source is not None:
            heapq.heappush(self._of_source[arrival.source], number)
        elif named is not None:
            self._arrived[number] = Arrival(arrival.value, named)
        turns: list[Turn] = []
        self._try(number, turns)
        while self._blocked and self._blocked[0] < self._first_unnamed():
            self._try(heapq.heappop(self._blocked), turns)
        return turns

    def _first_unnamed(self) -> float:
        """Return the first pull that is still out and names no source."""
        while self._unnamed and self._unnamed[0] not in self._arms:
            heapq.heappop(self._unnamed)
        return self._unnamed[0] if self._unnamed else math.inf

    def _try(self, first: int, turns: list[Turn]) -> None:
        """Let a pull have its turn, if it is that, and those that wait for nothing else."""
        candidates = [first]
        while candidates:
            number = candidates.pop()
            if number not in self._arrived:
                continue
            arrival, index = self._arrived[number], self._arm_of[number]
            mine = self._of_source.get(arrival.source, [])
            if self._queues[index][0] != number or (mine and mine[0] != number):
                continue
            if number > self._first_unnamed():
                heapq.heappush(self._blocked, number)
                continue
            del self._arrived[number], self._arm_of[number]
            turns.append(Turn(index, number, *arrival))
            queue = self._queues[index]
            queue.popleft()
            candidates += [queue[0]] if queue else []
            if mine:
                heapq.heappop(mine)
                candidates += mine[:1]
                if not mine:
                    del self._of_source[arrival.source]

    def under_way(self) -> tuple[set[Hashable], int]:
        """Return the sources of pulls that have not been used, and how many of those still out name none."""
        unnamed = sum(number in self._arms for number in self._unnamed)
        return set(self._of_source), unnamed

    def missing(self) -> tuple[int, dict[int, tuple[int, int]]]:
        """Return how many rewards wait, and of each pull that they wait for its arm and how many wait for it."""
        waits = sorted(number for number, arrival in self._arrived.items() if arrival.value is not None)
        of_arm, of_source = defaultdict(list), defaultdict(list)
        for number in waits:
            of_arm[self._arm_of[number]].append(number)
            of_source[self._arrived[number].source].append(number)
        found = {}
        for number, index in self._arms.items():
            if number in self._named:
                source = self._named[number]
                behind = _above(number, of_arm[index])
                behind += sum(later > number and self._arm_of[later] != index for later in of_source[source])
            else:
                behind = _above(number, waits)
            if behind:
                found[number] = index, behind
        return len(waits), found


def _above(number: int, numbers: list[int]) -> int:
    """Return how many of some numbers, in order, are above one."""
    return len(numbers) - bisect.bisect_right(numbers, number)
