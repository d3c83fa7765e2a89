"""Piles: unsorted bags of rewards that can give up those next to a window.

A pile is an unordered *bulk* and a *reserve* at each window it touches: the rewards next to that window, which the
first pop turns into a heap. Rewards are appended to either unseen. A reserve that runs dry is filled from the bulk by
selection in O(n), with sqrt(n) rewards: between two fillings the rank of a fixed value drifts from its cut like a
random walk, by at most sqrt(n)/2 in n inserts, so for exchangeable rewards a filling is spread over O(n) inserts. If a
reserve runs dry before half as many inserts as its bulk has rewards, it is filled with twice as many as last time: for
any order of the rewards, after log n such fillings the next one is a fixed part of n inserts away. Hence O(log n)
amortised.
"""

from __future__ import annotations

import numpy as np

from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics.heaps import heap_pop, heap_push
from bestarm.kernels.order_statistics.samples import FIRST_RESERVE, WAITING, WINDOW, Pool, Record, pile_of
from bestarm.kernels.order_statistics.selection import select_last
from bestarm.kernels.order_statistics.sums import add, dwarfs, range_sum

SMALLEST_BATCH = 32


@inlined_kernel
def add_to_pile(arm: Record, pile: int, value: float) -> None:
    """Add a value to the sum of a pile."""
    arm.total[pile], arm.total_rest[pile] = add(arm.total[pile], arm.total_rest[pile], value)


@inlined_kernel
def append_to_bulk(arm: Record, pool: Pool, pile: int, value: float) -> None:
    """Append a reward to the bulk of a pile, without counting it in the pile's sum."""
    pool[arm.start[pile] + arm.held[pile]] = value
    arm.held[pile] += 1


@inlined_kernel
def sign_of(store: int) -> float:
    """Return the sign by which the rewards of a reserve are stored: the one next to the window is the largest."""
    # The reserve below a window gives up its largest reward first, the one above it its smallest.
    return 1.0 if (store - FIRST_RESERVE) & 1 == 0 else -1.0


@kernel
def usual_batch(arm: Record, pile: int) -> int:
    """Return how many rewards a reserve is filled with, unless it runs dry too soon."""
    return max(SMALLEST_BATCH, int(np.sqrt(arm.held[pile])))


@kernel
def push_reserve(arm: Record, pool: Pool, store: int, value: float) -> None:
    """Push a reward onto a reserve; one that is full or too large gives most of its rewards back to the bulk."""
    pile = pile_of(store)
    sign = sign_of(store)
    add_to_pile(arm, pile, value)
    if arm.held[store] == arm.room[store]:
        cut_back(arm, pool, store)
        if sign * value < sign * arm.fence[store - FIRST_RESERVE]:  # it would be given back as well
            append_to_bulk(arm, pool, pile, value)
            return
    append_to_bulk(arm, pool, store, sign * value)
    _limit(arm, pool, store)


@kernel
def push_all(arm: Record, pool: Pool, store: int, begin: int, end: int) -> None:
    """Push an ordered range of the pool onto a reserve."""
    sign = sign_of(store)
    size = arm.held[store] + end - begin
    if size > arm.room[store] or _outgrown(arm, store, size):
        # The one farthest from the window first: then none of the next is beyond a fence that is set on the way.
        for offset in range(end - begin):
            push_reserve(arm, pool, store, pool[begin + offset if sign > 0.0 else end - 1 - offset])
        return
    first = arm.start[store] + arm.held[store]
    for offset in range(end - begin):
        pool[first + offset] = sign * pool[begin + offset]
    count_pushed(arm, pool, store, end - begin)


@kernel
def count_pushed(arm: Record, pool: Pool, store: int, number: int) -> None:
    """Count rewards that have been written behind a reserve."""
    begin = arm.start[store] + arm.held[store]
    _sum_in(arm, pool, store, begin, begin + number)
    arm.held[store] += number
    _limit(arm, pool, store)


@kernel
def _sum_in(arm: Record, pool: Pool, store: int, begin: int, end: int) -> None:
    """Count rewards of a reserve in the sum of its pile."""
    pile = pile_of(store)
    sign = sign_of(store)
    total, rest = range_sum(pool, begin, end)
    arm.total[pile], arm.total_rest[pile] = add(arm.total[pile], arm.total_rest[pile] + sign * rest, sign * total)


@kernel
def sum_reserve(arm: Record, pool: Pool, store: int) -> None:
    """Count all rewards of a reserve in the sum of its pile."""
    _sum_in(arm, pool, store, arm.start[store], arm.start[store] + arm.held[store])


@inlined_kernel
def _outgrown(arm: Record, store: int, size: int) -> bool:
    """Tell whether a reserve of this size is too large."""
    return size > 3 * max(SMALLEST_BATCH, arm.batch[store]) and size * size > 9 * arm.held[pile_of(store)]


@inlined_kernel
def _limit(arm: Record, pool: Pool, store: int) -> None:
    """Shorten a reserve that is too large."""
    if _outgrown(arm, store, arm.held[store]):
        cut_back(arm, pool, store)


@kernel
def _make_heap(arm: Record, pool: Pool, store: int) -> None:
    """Make a heap of a reserve: the rewards pushed since the last pop are in no order."""
    for size in range(arm.heaped[store], arm.held[store]):
        heap_push(pool, arm.start[store], size, pool[arm.start[store] + size])
    arm.heaped[store] = arm.held[store]


@kernel
def pop_reserve(arm: Record, pool: Pool, store: int) -> float:
    """Pop the reward next to the window; `guard_sum` must follow the last of several pops."""
    _make_heap(arm, pool, store)
    value = sign_of(store) * heap_pop(pool, arm.start[store], arm.held[store])
    arm.held[store] -= 1
    arm.heaped[store] -= 1
    add_to_pile(arm, pile_of(store), -value)
    return value


@kernel
def shorten_reserve(arm: Record, pool: Pool, store: int, kept: int) -> None:
    """Give all but the `kept` rewards next to the window back to the bulk."""
    if kept >= arm.held[store]:
        return
    sign = sign_of(store)
    start = arm.start[store]
    select_last(pool, start, arm.held[store], arm.held[store] - kept, -1.0)
    nearest_given = -np.inf
    for index in range(start + kept, start + arm.held[store]):
        nearest_given = max(nearest_given, pool[index])
        append_to_bulk(arm, pool, pile_of(store), sign * pool[index])
    arm.held[store] = kept
    arm.heaped[store] = 0
    arm.fence[store - FIRST_RESERVE] = sign * nearest_given


@kernel
def cut_back(arm: Record, pool: Pool, store: int) -> None:
    """Shorten a reserve to a usual batch, or to half if that is less."""
    shorten_reserve(arm, pool, store, min(usual_batch(arm, pile_of(store)), arm.held[store] >> 1))


@kernel
def take_in(arm: Record, pool: Pool, store: int, begin: int, end: int) -> None:
    """Append the next rewards of its pile to a reserve, and set its fence behind them."""
    sign = sign_of(store)
    farthest = np.inf
    for index in range(begin, end):
        value = sign * pool[index]
        append_to_bulk(arm, pool, store, value)
        farthest = min(farthest, value)
    arm.fence[store - FIRST_RESERVE] = sign * farthest


@kernel
def fill_reserve(arm: Record, pool: Pool, store: int) -> None:
    """Fill a reserve up with the rewards of its pile that are next to its window, if there are any in the bulk."""
    pile = pile_of(store)
    sign = sign_of(store)
    if pile == 1 and arm.held[pile] == 0 and arm.held[store] == 0:
        # All of the pile is in its other reserve, which is in the wrong order.
        shorten_reserve(arm, pool, 2 * FIRST_RESERVE + 3 - store, arm.held[pile])
    if arm.held[pile] == 0:
        return
    if 2 * (arm.count - arm.filled[store]) < arm.held[pile]:
        arm.batch[store] = 2 * arm.batch[store]
    else:
        arm.batch[store] = usual_batch(arm, pile)
    arm.filled[store] = arm.count
    if arm.batch[store] > arm.room[store] - WINDOW:
        arm.room_left = 0  # ask for more room before the next insert
    taken = min(arm.batch[store], (arm.held[pile] + 1) >> 1, arm.room[store] - WINDOW - arm.held[store])
    select_last(pool, arm.start[pile], arm.held[pile], taken, sign)
    arm.held[pile] -= taken
    first = arm.start[pile] + arm.held[pile]
    take_in(arm, pool, store, first, first + taken)


@kernel
def top_up(arm: Record, pool: Pool, store: int) -> None:
    """Fill up a reserve that holds less than half a usual batch, unless that was done recently.

    The bulk is searched at most once while the rewards of the arm double: O(1) per insert.
    """
    pile = pile_of(store)
    short = 2 * arm.held[store] < min(usual_batch(arm, pile), arm.room[store] - WINDOW)
    if short and arm.held[pile] > 0 and arm.count >= 2 * arm.filled[store]:
        fill_reserve(arm, pool, store)


@kernel
def guard_sum(arm: Record, pool: Pool, store: int, largest: float) -> None:
    """Add up a pile's sum afresh if the rewards popped since the last time dwarf those that remain."""
    pile = pile_of(store)
    arm.peak[pile] = max(arm.peak[pile], largest)
    remaining = arm.held[pile]
    near, far = 0.0, 0.0
    for other in range(FIRST_RESERVE, WAITING):
        if pile_of(other) == pile:
            remaining += arm.held[other]
            _make_heap(arm, pool, other)
            edge = pool[arm.start[other]] if arm.held[other] > 0 else arm.fence[other - FIRST_RESERVE]
            if other == store:
                near = edge
            elif abs(edge) < np.inf:
                far = edge
    if remaining > 0 and not dwarfs(arm.peak[pile], near, far):
        return
    arm.peak[pile] = 0.0
    arm.total[pile], arm.total_rest[pile] = 0.0, 0.0
    for index in range(arm.start[pile], arm.start[pile] + arm.held[pile]):
        add_to_pile(arm, pile, pool[index])
    for other in range(FIRST_RESERVE, WAITING):
        if pile_of(other) == pile:
            for index in range(arm.start[other], arm.start[other] + arm.held[other]):
                add_to_pile(arm, pile, sign_of(other) * pool[index])
