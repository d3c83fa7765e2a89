"""What the tests of the order statistics share: access to arms, compiled and interpreted, streams, and invariants."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from types import FunctionType, SimpleNamespace
from typing import Any, Protocol, cast

import numpy as np
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray

from bestarm.kernels import heaps, order_statistics, piles, samples, selection, sums
from bestarm.kernels.compile import allocating_kernel
from bestarm.kernels.order_statistics import (
    MARGIN,
    divide,
    insert,
    kept_mean,
    lower_tail_sum,
    order_statistic,
    upper_tail_sum,
)
from bestarm.kernels.samples import FIRST_RESERVE, STORES, WINDOW, Samples, new_samples, recount_calm, with_room

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# ---------------------------------------------------------------- compiled access

# What `feed` reads: three sums, then MARGIN order statistics on either side of each cut.
MEAN, LOWER, UPPER, AT_CUT_0, AT_CUT_1 = 0, 1, 2, 3, 3 + 2 * MARGIN
READS = 3 + 4 * MARGIN


@allocating_kernel
def make_room(samples: Samples, index: int) -> Samples:
    """As `state.make_room`; an arm that is not divided yet has the ranks last cut at in place of its cuts."""
    samples = with_room(samples, index)
    arm = samples.arms[index]
    if arm.divided == 0:
        divide(arm, samples.pool, arm.cut[0], arm.cut[1])
        recount_calm(arm)
    return samples


@allocating_kernel
def feed(samples: Samples, index: int, values: Floats, cuts_0: Ints, cuts_1: Ints, reads: Floats) -> Samples:
    """Insert values one by one; after each of the last `len(reads)`, read all there is to read."""
    unread = values.size - reads.shape[0]
    for step in range(values.size):
        if samples.arms[index].calm == 0:
            samples = make_room(samples, index)
        arm = samples.arms[index]
        pool = samples.pool
        rank_0, rank_1 = cuts_0[step], cuts_1[step]
        insert(arm, pool, values[step], rank_0, rank_1)
        if step < unread:
            continue
        row = reads[step - unread]
        row[LOWER] = lower_tail_sum(arm, pool)
        if rank_1 > 0:
            row[MEAN] = kept_mean(arm, pool, rank_0, rank_1)
            row[UPPER] = upper_tail_sum(arm, pool)
        for place in range(2 * MARGIN):
            rank = rank_0 + place - MARGIN
            if 0 <= rank < arm.count:
                row[AT_CUT_0 + place] = order_statistic(arm, pool, rank)
            rank = rank_1 + place - MARGIN
            if 0 <= rank < arm.count and rank_1 > 0:
                row[AT_CUT_1 + place] = order_statistic(arm, pool, rank)
    return samples


def trimming_cuts(alpha: float, count: int, start: int = 0) -> tuple[Ints, Ints]:
    """Return the ranks of both cuts after each of `count` inserts that follow `start` others."""
    sizes = np.arange(start + 1, start + count + 1)
    trimmed = np.floor(alpha * sizes).astype(np.int64)
    return trimmed, sizes - trimmed


NO_READS = np.empty((0, READS))


class Compiled:
    """Arms of the compiled kernels, one insert at a time."""

    def __init__(self, arms: int = 1) -> None:
        self.samples = new_samples(arms)

    def arm(self, index: int = 0) -> SimpleNamespace:
        """Return a copy of an arm's record."""
        return _plain_record(self.samples.arms[index])

    def insert(self, value: float, rank_0: int, rank_1: int, index: int = 0) -> None:
        ranks = np.array([rank_0]), np.array([rank_1])
        self.samples = feed(self.samples, index, np.array([value]), *ranks, NO_READS)

    def ask_for_room(self, index: int = 0) -> None:
        """Have the next insert count the room that is left, however many were said to be safe."""
        if self.samples.arms["divided"][index] == 1:
            self.samples.arms["calm"][index] = 0


def _plain_record(row: Any) -> SimpleNamespace:
    return SimpleNamespace(**{name: row[name].tolist() for name in row.dtype.names})


# ---------------------------------------------------------------- interpreted access


class CountedPool(list[float]):
    """A pool that counts how often one of its rewards is read or written."""

    touches = 0

    @property
    def size(self) -> int:
        return len(self)

    def __getitem__(self, place: Any) -> Any:
        self.touches += 1
        return list.__getitem__(self, place)

    def __setitem__(self, place: Any, value: Any) -> None:
        self.touches += 1
        list.__setitem__(self, place, value)


class _Records(list[SimpleNamespace]):
    @property
    def size(self) -> int:
        return len(self)


def _plain_kernels(select_last: Callable[[Callable[..., None]], Callable[..., None]]) -> dict[str, Callable[..., Any]]:
    """Return the kernels as the Python functions they were before they were compiled, calling each other."""
    modules = [sums, heaps, selection, samples, piles, order_statistics]
    spaces = {module.__name__: dict(vars(module)) for module in modules}
    found: dict[str, Callable[..., Any]] = {}
    for space in spaces.values():
        for name, value in space.items():
            if isinstance(value, Dispatcher):
                source = value.py_func
                plain: Callable[..., Any] = FunctionType(source.__code__, spaces[source.__module__], name)
                found[name] = space[name] = select_last(plain) if name == "select_last" else plain
    return found


class Interpreted:
    """The same arms as `Compiled`, by the same kernels as plain Python on lists.

    All work can be counted, a wrong index raises, and an adversary may look at the record (`arm`) before it answers.
    """

    def __init__(self, arms: int = 1) -> None:
        self.selected = 0  # rewards that `select_last` had to look at
        self._touched_before = 0
        self.kernels = _plain_kernels(self._counting)
        fresh = new_samples(arms)
        records = _Records(_plain_record(row) for row in fresh.arms)
        self.samples = Samples(cast(Any, records), cast(Any, CountedPool(fresh.pool.tolist())), fresh.used)

    def _counting(self, select: Callable[..., None]) -> Callable[..., None]:
        def counted(pool: Any, start: int, size: int, taken: int, sign: float) -> None:
            self.selected += size
            select(pool, start, size, taken, sign)

        return counted

    @property
    def touches(self) -> int:
        """Reads and writes of rewards so far, those of moves to larger pools included."""
        return self._touched_before + int(cast(Any, self.samples.pool).touches)

    def arm(self, index: int = 0) -> SimpleNamespace:
        """Return an arm's record itself."""
        return cast(SimpleNamespace, self.samples.arms[index])

    def insert(self, value: float, rank_0: int, rank_1: int, index: int = 0) -> None:
        arm = self.arm(index)
        if arm.calm == 0:
            moved = self.kernels["with_room"](self.samples, index)
            if moved.pool is not self.samples.pool:
                self._touched_before = self.touches + int(moved.used[0])
                moved = moved._replace(pool=CountedPool(moved.pool.tolist()))
            self.samples = moved
            if arm.divided == 0:
                self.kernels["divide"](arm, moved.pool, *arm.cut)
                self.kernels["recount_calm"](arm)
        self.kernels["insert"](arm, self.samples.pool, value, rank_0, rank_1)


# ---------------------------------------------------------------- invariants


def sum_error(got: float, members: Sequence[float]) -> float:
    """Return how far a sum of members in sorted order is off, in units of what is allowed.

    Allowed is one unit in the last place, or in case of cancellation 2^-60 of the largest member: a pair of doubles has
    106 bits, less the 40 that the removal of a larger member may cost (`sums.dwarfs`).
    """
    want = math.fsum(members)
    largest = max(abs(members[0]), abs(members[-1])) if members else 0.0
    return abs(got - want) / max(math.ulp(want), 2.0**-60 * largest)


def check(store: Compiled | Interpreted, index: int, inserted: Sequence[float], rank_0: int, rank_1: int) -> None:
    """Assert all that the docstrings of the kernels promise of an arm, from its raw record and the pool."""
    arm, pool = store.arm(index), store.samples.pool

    def stored(start: int, size: int) -> list[float]:
        return [float(value) for value in pool[start : start + size]]

    assert arm.count == len(inserted)
    if arm.divided == 0:
        assert arm.count <= WINDOW
        assert stored(arm.window[0], arm.count) == sorted(inserted)
        assert arm.cut == [rank_0, rank_1]
        return

    # Every store lies within its room, the windows within theirs, and no two rooms overlap.
    rooms = []
    for other in range(len(store.samples.arms)):
        its = store.arm(other)
        rooms += [(start, start + WINDOW) for start in its.window]
        rooms += [(start, start + room) for start, room in zip(its.start, its.room, strict=True) if room > 0]
    rooms.sort()
    assert all(end <= begin for (_, end), (begin, _) in pairwise(rooms))
    assert rooms[-1][1] <= store.samples.used[0] <= store.samples.pool.size
    assert all(held <= room for held, room in zip(arm.held, arm.room, strict=True))
    assert all(width < WINDOW for width in arm.width)

    # Heaps with the reward next to the window on top; the two above their window are stored with the sign changed.
    bulks = [stored(arm.start[pile], arm.held[pile]) for pile in range(FIRST_RESERVE)]
    reserves = []
    for place in range(FIRST_RESERVE, STORES):
        heap = stored(arm.start[place], arm.held[place])
        assert all(heap[(child - 1) // 2] >= heap[child] for child in range(1, len(heap)))
        reserves.append(heap if (place - FIRST_RESERVE) % 2 == 0 else [-value for value in heap])
    windows = [stored(arm.window[w], arm.width[w]) for w in range(2)]

    # One sorted order: within the windows, and from part to part and fence to fence.
    assert all(window == sorted(window) for window in windows)
    below_0, above_0, below_1, above_1 = reserves
    fences = [[fence] for fence in arm.fence]
    parts = [bulks[0], fences[0], below_0, windows[0], above_0, fences[1], bulks[1]]
    parts += [fences[2], below_1, windows[1], above_1, fences[3], bulks[2]]
    assert all(max(lower) <= min(upper) for lower, upper in pairwise(part for part in parts if part))

    # Nothing is lost, and the counts agree.
    whole_piles = [bulks[0] + below_0, above_0 + bulks[1] + below_1, above_1 + bulks[2]]
    kept_apart = [sorted(pile) for pile in whole_piles]
    everything = kept_apart[0] + windows[0] + kept_apart[1] + windows[1] + kept_apart[2]
    assert everything == sorted(inserted)
    assert arm.below == [len(kept_apart[0]), len(kept_apart[0]) + arm.width[0] + len(kept_apart[1])]

    # The cuts are where they should be, with MARGIN rewards in the window on either side while the pile there has any.
    ranks = [rank_0, rank_1] if rank_1 > 0 else [rank_0]
    for w, rank in enumerate(ranks):
        assert 0 <= arm.cut[w] <= arm.width[w]
        assert arm.below[w] + arm.cut[w] == rank
        assert arm.cut[w] >= MARGIN or not kept_apart[w]
        assert arm.width[w] - arm.cut[w] >= MARGIN or not kept_apart[w + 1]
    if rank_1 == 0:
        assert arm.width[1] == arm.held[2] == 0

    # Each pile and each half of a window carries its sum.
    for pile in range(3):
        assert sum_error(arm.total[pile] + arm.total_rest[pile], kept_apart[pile]) <= 1.0
    for w in range(2):
        assert sum_error(arm.left[w] + arm.left_rest[w], windows[w][: arm.cut[w]]) <= 1.0
        assert sum_error(arm.right[w] + arm.right_rest[w], windows[w][arm.cut[w] :]) <= 1.0
