"""The pulls that were asked for, how each ended, and in which order their rewards are used.

The time that a reward takes may depend on its value (clicks report at once, their absence after a while). Then an arm's
rewards in the order of arrival are never a fair sample; in the order of the pulls they are. So an early reward waits
for the pulls of its arm that were asked for before it.
"""

from __future__ import annotations

import math
import secrets
from array import array
from collections import defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.identification.holders import Holders
from bestarm.problem import LabelT

# An arm is silent if it owes this many rewards beyond twice what it has answered, and another has answered this many
# more.
PATIENCE = 64
# Rewards of an arm that may wait for a missing pull: with as many, other arms are asked for.
RUN_AHEAD = 2_000

OUT, TOLD, CANCELLED, EXPIRED = 0, 1, 2, 3  # what became of a pull: it is still out, or how it ended


@dataclass(frozen=True)
class Pull(Generic[LabelT]):
    """One pull that was asked for.

    Attributes
    ----------
    arm : label
        The arm to pull.
    number : int
        Its number among all pulls of the identifier, from 0.
    """

    arm: LabelT
    number: int
    _of: int = field(default=0, repr=False)

    @property
    def id(self) -> str:
        """A text that no other pull has, not even one that gets the same number after a server crash.

        Keep it or pass it on unchanged: a study finds the pull by it (`study.pull(id)`).
        """
        return f"{self.number}-{self._of:x}"


class Batch(NamedTuple):
    """Asks and ends of pulls, each in order, as lists or arrays.

    Attributes
    ----------
    arms, stamps, named, asked : sequences
        Of each ask: the arm, a stamp that tells the pull from another of its number, the source that it names (or
        None), and its position among all asks and ends.
    pulls, fates, values, sources, ended : sequences
        Of each end: the number of the pull, how it ended, the reward (nan if there is none), who gave it (or None),
        and its position among all asks and ends.
    """

    arms: Any
    stamps: Any
    named: Sequence[Hashable | None]
    asked: Any
    pulls: Any
    fates: Any
    values: Any
    sources: Sequence[Hashable | None]
    ended: Any


class Cancel(NamedTuple):
    """A pull that was cancelled: its arm, and how many were by then, of how many up to the latest that has ended.

    First of the arm alone, then of all arms together.
    """

    arm: int
    cancelled: int
    span: int
    cancelled_of_all: int
    span_of_all: int


class Uses(NamedTuple):
    """Pulls whose turn has come.

    Attributes
    ----------
    numbers, slots : sequences of int
        Of each pull, in the order of use: its number, and which end of the batch it waited for.
    cancel : Cancel or None
        The pull that was cancelled just before, whether or not its turn has come.
    """

    numbers: Any
    slots: Any
    cancel: Cancel | None = None


class Ledger:
    """All pulls of one identifier or study.

    Parameters
    ----------
    arms : int
        Number of arms.
    owner : int, optional
        Tells its pulls from those of others; random by default.

    Attributes
    ----------
    arms, fates, values, stamps : arrays
        Of each pull, by its number: the arm, what became of it, the reward (nan if there is none), and a stamp.
    waiting : int
        Pulls that have ended and wait for an earlier one.
    cancelled_of : list of int
        Pulls cancelled or expired, by arm.
    holders : Holders
        Who holds the pulls that are out, in a study.
    """

    def __init__(self, arms: int, owner: int | None = None) -> None:
        self.owner = secrets.randbits(63) if owner is None else owner
        self.arms, self.stamps, self.values = array("q"), array("q"), array("d")
        self.fates = bytearray()
        self.waiting = 0
        self.cancelled_of = [0] * arms
        self.holders = Holders()
        self._answered = [0] * arms
        self._owed = [0] * arms
        # Of each arm, in order, the pulls that are not used; only of arms that have any: an empty one takes 760 bytes.
        self._unused: defaultdict[int, deque[int]] = defaultdict(deque)

    def __len__(self) -> int:
        return len(self.arms)

    # ----------------------------------------------------------------------------------------------- what happens

    def issue(self, index: int, source: Hashable | None = None, stamp: int = 0) -> int:
        """Record that a pull of an arm was asked for, of a source if it is named, and return its number."""
        number = len(self.arms)
        self.arms.append(index)
        self.stamps.append(stamp)
        self.values.append(math.nan)
        self.fates.append(OUT)
        self._unused[index].append(number)
        self._owed[index] += 1
        return number

    def end(self, number: int, fate: int, value: float = math.nan, source: Hashable | None = None) -> list[int]:
        """Record how a pull ended, and return the pulls whose turn has come, in the order of use."""
        index = self.arms[number]
        self.fates[number] = fate
        self.values[number] = value
        self._answered[index] += 1
        self._owed[index] -= 1
        if fate != TOLD:
            self.cancelled_of[index] += 1
        self.holders.drop(number)
        released = self._release(number, index, source)
        self.waiting += 1 - len(released)
        return released

    def _release(self, number: int, index: int, source: Hashable | None) -> list[int]:
        """Return the pulls of the arm that waited for this one, and itself, if no earlier pull is out."""
        queue, fates, released = self._unused[index], self.fates, []
        while queue and fates[queue[0]] != OUT:
            released.append(queue.popleft())
        return released

    def undo(self, number: int, released: list[int]) -> None:
        """Undo the end of a pull that released these, because they could not be taken in."""
        index = self.arms[number]
        self._unused[index].extendleft(reversed(released))
        self.waiting += len(released) - 1
        self.cancelled_of[index] -= self.fates[number] != TOLD
        self._answered[index] -= 1
        self._owed[index] += 1
        self.fates[number] = OUT
        self.values[number] = math.nan

    def take(self, batch: Batch) -> Iterator[Uses]:
        """Record asks and ends, and go through the pulls that can be used, in order.

        An empty ledger does this by arrays. A batch ends before and after a cancelled pull, so that the state at a
        cancelled pull is the same as if everything came one by one.
        """
        if not self.arms:
            yield from self._restore(batch)
            return
        for index, stamp in zip(batch.arms, batch.stamps, strict=True):
            self.issue(int(index), stamp=int(stamp))
        numbers: list[int] = []
        slots: list[int] = []
        for slot, (number, fate, value) in enumerate(zip(batch.pulls, batch.fates, batch.values, strict=True)):
            if fate != TOLD:
                yield Uses(numbers, slots)
                numbers, slots = [], []
            released = self.end(int(number), fate, value)
            numbers += released
            slots += [slot] * len(released)
            if fate != TOLD:
                yield Uses(numbers, slots, self.last_cancel(self.arms[number]))
                numbers, slots = [], []
        yield Uses(numbers, slots)

    def _restore(self, batch: Batch) -> Iterator[Uses]:
        """Restore from recorded pulls, and go through the pulls that can be used."""
        arms, pulls = np.asarray(batch.arms, np.int64), np.asarray(batch.pulls, np.int64)
        size = len(self._answered)
        fates, values = np.zeros(arms.size, np.uint8), np.full(arms.size, np.nan)
        fates[pulls] = batch.fates
        values[pulls] = batch.values
        self.arms.frombytes(arms.tobytes())
        self.stamps.frombytes(np.asarray(batch.stamps, np.int64).tobytes())
        self.values.frombytes(values.tobytes())
        self.fates.extend(fates.tobytes())
        order, slots = in_order_of_use(arms, pulls)
        unused = np.ones(arms.size, np.bool_)
        unused[order] = False
        for number in np.flatnonzero(unused).tolist():
            self._unused[self.arms[number]].append(number)
        self.waiting = pulls.size - order.size
        self._answered = np.bincount(arms[pulls], minlength=size).tolist()
        self._owed = np.bincount(arms[fates == OUT], minlength=size).tolist()
        begin = 0
        for slot, cancel in _cancels(arms, pulls, fates[pulls] != TOLD):
            middle, end = np.searchsorted(slots, (slot, slot + 1)).tolist()
            yield Uses(order[begin:middle], slots[begin:middle])
            self.cancelled_of[cancel.arm] += 1
            yield Uses(order[middle:end], slots[middle:end], cancel)
            begin = end
        yield Uses(order[begin:], slots[begin:])

    # ------------------------------------------------------------------------------------------- which pull is meant

    def pull(self, number: int, label: LabelT) -> Pull[LabelT]:
        """Return a pull by its number, with the label of its arm.

        Its mark distinguishes it from others with its number: of another owner, or lost in a crash.
        """
        return Pull(label, number, self.owner ^ self.stamps[number])

    def knows(self, number: Any, mark: int) -> bool:
        """Tell whether a number and a mark are those of a pull that was asked for here."""
        return type(number) is int and 0 <= number < len(self.arms) and self.owner ^ self.stamps[number] == mark

    def check(self, pull: Pull) -> None:
        """Raise an error if a pull is not outstanding."""
        if not self.knows(pull.number, pull._of):
            raise InputError("pull", "be of this identifier", pull, "tell it to the one that asked for it")
        if self.fates[pull.number] != OUT:
            raise InputError("pull", "be told or cancelled once", pull, "nothing was recorded")

    def checked_source(self, number: int, told: Hashable | None) -> Hashable | None:
        """Return the source of a pull that is out: the one that it names, or the one told with its reward."""
        return told

    def named(self, number: int) -> Hashable | None:
        """Return the source that a pull was asked for, if it names one."""
        return None

    def source(self, number: int) -> Hashable | None:
        """Return the source of a pull: the one that it names, or the one told with its reward."""
        return None

    # ----------------------------------------------------------------------------------------------- how it stands

    @property
    def cancelled(self) -> int:
        """Pulls cancelled or expired, of all arms."""
        return sum(self.cancelled_of)

    def last_cancel(self, index: int) -> Cancel:
        """Return the cancelled pull of an arm that ended just now."""
        return Cancel(index, self.cancelled_of[index], self.span_of(index), self.cancelled, self.span())

    def owes_too_much(self, index: int) -> bool:
        """Whether an arm owes many rewards and hardly answers, while others do, or is far ahead."""
        answered = self._answered[index]
        if self._owed[index] > PATIENCE + 2 * answered and max(self._answered) > answered + PATIENCE:
            return True
        return self.waiting >= RUN_AHEAD and self.is_far_ahead(index)

    def is_any_far_ahead(self) -> bool:
        """Whether `is_far_ahead` may hold of some arm: quick to say no."""
        return self.waiting >= RUN_AHEAD

    def is_far_ahead(self, index: int) -> bool:
        """Whether too many rewards of an arm wait for a missing pull to ask for more."""
        return len(self._unused[index]) - self._owed[index] >= RUN_AHEAD

    def span_of(self, index: int) -> int:
        """Return how many pulls of an arm were asked for up to the latest of them that has ended."""
        queue, later = self._unused[index], 0
        while later < len(queue) and self.fates[queue[-1 - later]] == OUT:
            later += 1
        return self._answered[index] + self._owed[index] - later

    def span(self) -> int:
        """Return how many pulls were asked for up to the latest that has ended."""
        last = len(self.fates)
        while last and self.fates[last - 1] == OUT:
            last -= 1
        return last

    def used_of(self, index: int) -> int:
        """Return how many pulls of an arm have ended and wait for nothing."""
        return self._answered[index] + self._owed[index] - len(self._unused[index])

    def missing(self) -> tuple[int, dict[int, int]]:
        """Return how many rewards wait, and for each pull that they wait for how many do."""
        waits = 0
        found: dict[int, int] = {}
        for queue in self._unused.values():
            behind = 0
            for number in reversed(queue):
                if self.fates[number] == TOLD:
                    behind += 1
                elif behind and self.fates[number] == OUT:
                    found[number] = behind
            waits += behind
        return waits, dict(sorted(found.items()))


def in_order_of_use(arms: NDArray[np.int64], pulls: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pulls that can be used, in the order of use, and the position in `pulls` of the end each waited for.

    `arms` has the arm of each pull, `pulls` those that ended, in order. Rewards of an arm are used in the order of its
    pulls. So one is used when the last of those up to it comes in: a running maximum of the positions of their ends.
    """
    never = pulls.size
    position = np.full(arms.size, never, np.int64)
    position[pulls] = np.arange(pulls.size)
    by_arm = np.argsort(arms, kind="stable")
    offsets = arms[by_arm] * (never + 1)  # so that the running maximum begins anew with each arm
    ready = np.maximum.accumulate(position[by_arm] + offsets) - offsets
    usable = ready < never
    order = np.argsort(ready[usable], kind="stable")
    return by_arm[usable][order], ready[usable][order]


def _cancels(
    arms: NDArray[np.int64], pulls: NDArray[np.int64], gone: NDArray[np.bool_]
) -> Iterator[tuple[int, Cancel]]:
    """Go through the cancelled pulls of a log, in the order in which they ended, with the positions of their ends."""
    if not gone.any():
        return
    cancelled, spans = np.cumsum(gone), np.maximum.accumulate(pulls) + 1
    of_arm, spans_of_arm = np.zeros(pulls.size, np.int64), np.zeros(pulls.size, np.int64)
    ordinal = np.empty(arms.size, np.int64)  # of a pull: how many of its arm were asked for before it
    for asked in _by_arm(arms):
        ordinal[asked] = np.arange(asked.size)
    for ends in _by_arm(arms[pulls]):
        of_arm[ends] = np.cumsum(gone[ends])
        spans_of_arm[ends] = np.maximum.accumulate(ordinal[pulls[ends]]) + 1
    columns = (arms[pulls], of_arm, spans_of_arm, cancelled, spans)
    rows = zip(*(column[gone].tolist() for column in columns), strict=True)
    yield from zip(np.flatnonzero(gone).tolist(), map(Cancel._make, rows), strict=True)


def _by_arm(arms: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the positions of each arm, in order."""
    return np.split(np.argsort(arms, kind="stable"), np.cumsum(np.bincount(arms))[:-1])
