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


def no_reads() -> Floats:
    return np.empty((0, READS))


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


class Interpreted:
    """The kernels as plain Python on plain lists: work can be counted, and a wrong index raises."""

    def __init__(self, arms: int = 1) -> None:
        self.touches_before = 0
        self.selected = 0  # rewards that `select_last` was handed
        self.summed = 0  # rewards that were added up afresh to renew the sum of a pile
        fresh = new_samples(arms)
        fields = fresh.arms.dtype.names or ()
        records = _Records(SimpleNamespace(**{name: row[name].tolist() for name in fields}) for row in fresh.arms)
        self.samples = Samples(cast(Any, records), cast(Any, CountedPool(fresh.pool.tolist())), fresh.used)
        kernels = self._plain_kernels()
        self._insert, self._with_room = kernels["insert"], kernels["with_room"]
        self._divide, self._recount_calm = kernels["divide"], kernels["recount_calm"]
        self.kept_mean = kernels["kept_mean"]

    def _plain_kernels(self) -> dict[str, Callable[..., Any]]:
        modules = [sums, heaps, selection, samples, piles, order_statistics]
        spaces = {module.__name__: dict(vars(module)) for module in modules}
        found: dict[str, Callable[..., Any]] = {}
        for space in spaces.values():
            for name, value in space.items():
                if isinstance(value, Dispatcher):
                    source = value.py_func
                    plain = FunctionType(source.__code__, spaces[source.__module__], name)
                    found[name] = space[name] = self._counting_selection(plain) if name == "select_last" else plain
        return found

    def _counting_selection(self, select: Callable[..., None]) -> Callable[..., None]:
        def counted(pool: Any, start: int, size: int, taken: int, sign: float) -> None:
            self.selected += size
            select(pool, start, size, taken, sign)

        return counted

    @property
    def touches(self) -> int:
        """Reads and writes of rewards so far, those of moves to larger pools included."""
        return self.touches_before + cast(Any, self.samples.pool).touches

    def arm(self, index: int = 0) -> Any:
        return self.samples.arms[index]

    def insert(self, value: float, rank_0: int, rank_1: int, index: int = 0) -> None:
        if self.arm(index).calm == 0:
            moved = self._with_room(self.samples, index)
            if moved.pool is not self.samples.pool:
                self.touches_before = self.touches + moved.used[0]
                moved = moved._replace(pool=CountedPool(moved.pool.tolist()))
            self.samples = moved
            arm = self.arm(index)
            if arm.divided == 0:
                self._divide(arm, self.samples.pool, arm.cut[0], arm.cut[1])
                self._recount_calm(arm)
        self._insert(self.arm(index), self.samples.pool, value, rank_0, rank_1)
