"""Pulls of sources: a reward is used after every earlier one of its arm, and of its source.

Each source enters a pair of arms by the first of the two that it was asked about (section 11 of
docs/explanation/certified.md). Which one that is must not depend on what it says, and so not on what comes back first.
"""

from __future__ import annotations

import bisect
import heapq
import math
from collections import defaultdict
from collections.abc import Hashable, Iterator

import numpy as np

from bestarm.errors import InputError
from bestarm.identification.ledger import OUT, TOLD, Batch, Ledger, Uses


class SourceLedger(Ledger):
    """A ledger of pulls that may name their source when they are asked for.

    A reward waits for the earlier pulls of its arm; for the earlier pulls of its source; and for every earlier pull
    that is still out and names no source, as that may be its own.
    """

    def __init__(self, arms: int, owner: int | None = None) -> None:
        super().__init__(arms, owner)
        self._named: dict[int, Hashable] = {}  # sources of the pulls that name one
        self._told: dict[int, Hashable] = {}  # sources of the others, told with their rewards
        self._unnamed: list[int] = []  # a heap of the pulls that name none; those that have ended leave it in time
        # Of every source that is known: a heap of its pulls that have not been used.
        self._of_source: defaultdict[Hashable, list[int]] = defaultdict(list)
        self._arrived: set[int] = set()  # pulls that have ended and wait
        self._blocked: list[int] = []  # a heap of arrivals that wait for a pull without a name, and nothing else

    def issue(self, index: int, source: Hashable | None = None, stamp: int = 0) -> int:
        """Record that a pull of an arm was asked for, of a source if it is named, and return its number."""
        number = super().issue(index, source, stamp)
        if source is None:
            heapq.heappush(self._unnamed, number)
        else:
            self._named[number] = source
            heapq.heappush(self._of_source[source], number)
        return number

    def checked_source(self, number: int, told: Hashable | None) -> Hashable | None:
        """Return the source of a pull that is out; refuse one that it was not asked for."""
        named = self._named.get(number)
        if named is not None and told is not None and told != named:
            fix = "leave it out, or tell this reward by a pull that was asked for its source"
            raise InputError("source", f"be the one that the pull was asked for ({named!r})", told, fix)
        return told if named is None else named

    def named(self, number: int) -> Hashable | None:
        """Return the source that a pull was asked for, if it names one."""
        return self._named.get(number)

    def source(self, number: int) -> Hashable | None:
        """Return the source of a pull: the one that it names, or the one told with its reward."""
        return self._named.get(number, self._told.get(number))

    def horizon(self, index: int) -> float:
        """Return the number of the first pull of an arm that has not been used; infinite if there is none."""
        queue = self._unused[index]
        return queue[0] if queue else math.inf

    def take(self, batch: Batch) -> Iterator[Uses]:
        """Record asks and ends one by one, and go through what can be used: sources are counted in between."""
        asked, arms, stamps = (np.asarray(column).tolist() for column in (batch.asked, batch.arms, batch.stamps))
        ends = (np.asarray(column).tolist() for column in (batch.ended, batch.pulls, batch.fates, batch.values))
        asks = zip(asked, arms, batch.named, stamps, strict=True)
        ask = next(asks, None)
        for slot, (when, number, fate, value) in enumerate(zip(*ends, strict=True)):
            while ask is not None and ask[0] < when:
                self.issue(*ask[1:])
                ask = next(asks, None)
            released = self.end(number, fate, value, batch.sources[slot])
            yield Uses(released, [slot] * len(released))
        while ask is not None:
            self.issue(*ask[1:])
            ask = next(asks, None)

    def _release(self, number: int, index: int, source: Hashable | None) -> list[int]:
        self._arrived.add(number)
        if source is not None and number not in self._named:
            self._told[number] = source
            heapq.heappush(self._of_source[source], number)
        released = self._try(number)
        while self._blocked and self._blocked[0] < self._first_unnamed():
            released += self._try(heapq.heappop(self._blocked))
        return released

    def _first_unnamed(self) -> float:
        """Return the first pull that is still out and names no source."""
        while self._unnamed and self.fates[self._unnamed[0]] != OUT:
            heapq.heappop(self._unnamed)
        return self._unnamed[0] if self._unnamed else math.inf

    def _try(self, first: int) -> list[int]:
        """Return a pull if its turn has come, and those that wait for nothing else."""
        candidates, released = [first], []
        while candidates:
            number = candidates.pop()
            if number not in self._arrived:
                continue
            index, source = self.arms[number], self.source(number)
            queue, mine = self._unused[index], self._of_source.get(source, [])
            if queue[0] != number or (mine and mine[0] != number):
                continue
            if number > self._first_unnamed():
                heapq.heappush(self._blocked, number)
                continue
            self._arrived.remove(number)
            released.append(queue.popleft())
            candidates += [queue[0]] if queue else []
            if mine:
                heapq.heappop(mine)
                candidates += mine[:1]
                if not mine:
                    del self._of_source[source]
        return released

    def under_way(self) -> tuple[set[Hashable], int]:
        """Return the sources of pulls that have not been used, and how many of those still out name none."""
        return set(self._of_source), sum(self.fates[number] == OUT for number in self._unnamed)

    def missing(self) -> tuple[int, dict[int, int]]:
        """Return how many rewards wait, and for each pull that they wait for how many do."""
        waits = sorted(number for number in self._arrived if self.fates[number] == TOLD)
        of_arm, of_source = defaultdict(list), defaultdict(list)
        for number in waits:
            of_arm[self.arms[number]].append(number)
            of_source[self.source(number)].append(number)
        found = {}
        for number in sorted(number for queue in self._unused.values() for number in queue):
            if self.fates[number] != OUT:
                continue
            if number in self._named:
                index = self.arms[number]
                behind = _above(number, of_arm[index])
                behind += sum(later > number and self.arms[later] != index for later in of_source[self._named[number]])
            else:
                behind = _above(number, waits)
            if behind:
                found[number] = behind
        return len(waits), found


def _above(number: int, numbers: list[int]) -> int:
    """Return how many of some numbers, in order, are above one."""
    return len(numbers) - bisect.bisect_right(numbers, number)
