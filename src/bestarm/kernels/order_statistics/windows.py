"""Order statistics of each arm's rewards, kept online: trimmed mean, median, values at the cuts.

The n rewards of an arm, in sorted order, lie in piles with a window between each two of them:

    pile 0 | window 0 | pile 1 | window 1 | pile 2        (one window and two piles are enough for a median)
               ^ cut 0             ^ cut 1

A cut is a rank: the rewards below cut 0 and from cut 1 on are *trimmed*, those between are *kept*. A window is a short
sorted array around its cut, so a cut that moves by one reward is one step in an array, and every order statistic near
a cut can be read off. Almost every reward falls into the unsorted part of a pile: it is appended, and nothing else
is touched. Windows are refilled from the piles beside them and spilled into them (`piles.py`). Each pile and each half
of a window carries its sum, so a trimmed mean is O(1). While no order statistic is needed, as during forced
exploration, rewards are left raw, and the first question divides them all in O(n).

Cost of `insert`: O(1) on average for exchangeable rewards, O(log n) amortised for any order of them (`piles.py` says
why). One exception: if rewards that leave a pile are 2^30 times larger than all that stay, its sum is added up afresh.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.jit.memory import constant
from bestarm.kernels.order_statistics.piles import (
    add_to_pile,
    append_to_bulk,
    count_pushed,
    cut_back,
    fill_reserve,
    guard_sum,
    pop_reserve,
    push_all,
    push_reserve,
)
from bestarm.kernels.order_statistics.samples import (
    FEW,
    FIRST_RESERVE,
    RAW,
    WAITING,
    WINDOW,
    Pool,
    Record,
    find_room,
    pile_size,
    recount_room_left,
)
from bestarm.kernels.order_statistics.sums import add, dwarfs, range_sum

REACH = 16  # rewards on either side of its cut when a window is set up
MARGIN = 2  # rewards on either side of its cut at the least, while the pile there has any

_SOME = 4  # rewards from which a pass over all of them pays

BELOW = constant(0)
ABOVE = constant(1)
LOW_CUT = constant(0)
HIGH_CUT = constant(1)
ONE = constant(1)
LOW_PILE = constant(0)
RAW_PILE = constant(1)
HIGH_PILE = constant(2)


@kernel
def resum(arm: Record, pool: Pool, w: int) -> None:
    """Add up both halves of a window afresh."""
    middle = arm.window[w] + arm.cut[w]
    arm.left[w], arm.left_rest[w] = range_sum(pool, arm.window[w], middle)
    arm.right[w], arm.right_rest[w] = range_sum(pool, middle, arm.window[w] + arm.width[w])
    arm.left_peak[w], arm.right_peak[w] = 0.0, 0.0


@kernel
def _open_front(arm: Record, pool: Pool, w: int, indices: int) -> None:
    start = arm.window[w]
    for index in range(start + arm.width[w] - 1, start - 1, -1):
        pool[index + indices] = pool[index]
    arm.width[w] += indices
    arm.cut[w] += indices
    arm.below[w] -= indices


@kernel
def _close_front(arm: Record, pool: Pool, w: int, indices: int) -> None:
    arm.width[w] -= indices
    arm.cut[w] -= indices
    arm.below[w] += indices
    start = arm.window[w]
    for index in range(start, start + arm.width[w]):
        pool[index] = pool[index + indices]


@kernel
def _spill(arm: Record, pool: Pool, w: int) -> None:
    """Make room in a window: move rewards beyond REACH of its cut to the piles beside it."""
    start = arm.window[w]
    reserve = FIRST_RESERVE + 2 * w
    outward = arm.cut[w] - REACH
    if outward > 0:
        push_all(arm, pool, reserve + BELOW, start, start + outward)
        _close_front(arm, pool, w, outward)
    outward = arm.width[w] - arm.cut[w] - REACH
    if outward > 0:
        arm.width[w] -= outward
        push_all(arm, pool, reserve + ABOVE, start + arm.width[w], start + arm.width[w] + outward)
    resum(arm, pool, w)


@kernel
def _refill(arm: Record, pool: Pool, w: int, direction: int) -> bool:
    """Bring the next rewards of the pile below or above a window into the window; return False if it has none."""
    reserve = FIRST_RESERVE + 2 * w + direction
    if arm.width[w] + REACH >= WINDOW:
        _spill(arm, pool, w)
    if arm.held[reserve] == 0:
        fill_reserve(arm, pool, reserve)
    taken = min(REACH, arm.held[reserve])
    if taken == 0:
        return False
    if direction == BELOW:
        _open_front(arm, pool, w, taken)
        index = arm.window[w] + taken - 1
        step = -1
    else:
        index = arm.window[w] + arm.width[w]
        arm.width[w] += taken
        step = 1
    largest = 0.0
    for _ in range(taken):
        value = pop_reserve(arm, pool, reserve)
        pool[index] = value
        index += step
        largest = max(largest, abs(value))
    guard_sum(arm, pool, reserve, largest)
    resum(arm, pool, w)
    return True


@kernel
def _borrow(arm: Record, pool: Pool, w: int) -> None:
    """Take one reward from the other window, because pile 1 is empty and a cut has to pass."""
    if arm.width[w] == WINDOW:
        _spill(arm, pool, w)
    if w == 0:
        value = pool[arm.window[1]]
        _close_front(arm, pool, HIGH_CUT, ONE)
        pool[arm.window[0] + arm.width[0]] = value
        arm.width[0] += 1
    else:
        arm.width[0] -= 1
        value = pool[arm.window[0] + arm.width[0]]
        _open_front(arm, pool, HIGH_CUT, ONE)
        pool[arm.window[1]] = value
    arm.fence[1] = value
    arm.fence[2] = value
    resum(arm, pool, LOW_CUT)
    resum(arm, pool, HIGH_CUT)


@kernel
def _raise_cut(arm: Record, pool: Pool, w: int) -> None:
    """Move a cut up by one reward."""
    index = arm.window[w] + arm.cut[w]
    end = arm.window[w] + arm.width[w]
    value = pool[index]
    arm.left[w], arm.left_rest[w] = add(arm.left[w], arm.left_rest[w], value)
    if index + 1 == end:
        arm.right[w], arm.right_rest[w] = 0.0, 0.0
    else:
        arm.right[w], arm.right_rest[w] = add(arm.right[w], arm.right_rest[w], -value)
        arm.right_peak[w] = max(arm.right_peak[w], abs(value))
        if dwarfs(arm.right_peak[w], pool[index + 1], pool[end - 1]):
            arm.right[w], arm.right_rest[w] = range_sum(pool, index + 1, end)
            arm.right_peak[w] = 0.0
    arm.cut[w] += 1


@kernel
def _lower_cut(arm: Record, pool: Pool, w: int) -> None:
    """Move a cut down by one reward."""
    arm.cut[w] -= 1
    index = arm.window[w] + arm.cut[w]
    value = pool[index]
    arm.right[w], arm.right_rest[w] = add(arm.right[w], arm.right_rest[w], value)
    if arm.cut[w] == 0:
        arm.left[w], arm.left_rest[w] = 0.0, 0.0
    else:
        arm.left[w], arm.left_rest[w] = add(arm.left[w], arm.left_rest[w], -value)
        arm.left_peak[w] = max(arm.left_peak[w], abs(value))
        if dwarfs(arm.left_peak[w], pool[arm.window[w]], pool[index - 1]):
            arm.left[w], arm.left_rest[w] = range_sum(pool, arm.window[w], index)
            arm.left_peak[w] = 0.0


@kernel
def _move_cut(arm: Record, pool: Pool, w: int, rank: int) -> None:
    """Move a cut to a rank, with rewards on either side of it in the window."""
    while True:
        position = arm.below[w] + arm.cut[w]
        if position < rank:
            direction = ABOVE
            empty = arm.cut[w] == arm.width[w]
        elif position > rank:
            direction = BELOW
            empty = arm.cut[w] == 0
        elif arm.cut[w] < MARGIN and pile_size(arm, w) > 0:
            direction = BELOW
            empty = True
        elif arm.width[w] - arm.cut[w] < MARGIN and pile_size(arm, w + 1) > 0:
            direction = ABOVE
            empty = True
        else:
            return
        if empty and not _refill(arm, pool, w, direction):
            _borrow(arm, pool, w)
        if position < rank:
            _raise_cut(arm, pool, w)
        elif position > rank:
            _lower_cut(arm, pool, w)


@kernel
def move_cuts(arm: Record, pool: Pool, rank_0: int, rank_1: int) -> None:
    """Move both cuts; the upper one goes first if it moves up, so that the two never pass each other."""
    upper_first = arm.below[1] + arm.cut[1] < rank_1
    for turn in range(2 if rank_1 > 0 else 1):
        w = 1 - turn if upper_first else turn
        _move_cut(arm, pool, w, rank_1 if w == 1 else rank_0)


@kernel
def _insert_near(arm: Record, pool: Pool, value: float) -> None:
    """Insert a reward that belongs to a window or to a reserve."""
    w = 0 if value < arm.fence[1] else 1
    if w == 0:
        arm.below[1] += 1
    start = arm.window[w]
    end = start + arm.width[w]
    if end > start and pool[start] <= value <= pool[end - 1]:
        index = end
        while pool[index - 1] > value:
            pool[index] = pool[index - 1]
            index -= 1
        pool[index] = value
        arm.width[w] += 1
        if index < start + arm.cut[w]:
            arm.left[w], arm.left_rest[w] = add(arm.left[w], arm.left_rest[w], value)
            arm.cut[w] += 1
        else:
            arm.right[w], arm.right_rest[w] = add(arm.right[w], arm.right_rest[w], value)
        if arm.width[w] == WINDOW:
            _spill(arm, pool, w)
        return
    if end > start:
        direction = BELOW if value < pool[start] else ABOVE
    else:  # an empty window at an end of the data: towards pile 1
        direction = 1 - w
    push_reserve(arm, pool, FIRST_RESERVE + 2 * w + direction, value)
    if direction == BELOW:
        arm.below[w] += 1


@kernel
def _insert_first(arm: Record, pool: Pool, value: float) -> None:
    """Insert one of the first rewards: window 0, in sorted order, is all there is."""
    start = arm.window[0]
    index = start + arm.count - 1
    while index > start and pool[index - 1] > value:
        pool[index] = pool[index - 1]
        index -= 1
    pool[index] = value


@kernel
def make_raw(arm: Record, pool: Pool) -> None:
    """Put an arm's first rewards, until now sorted in window 0, into the bulk of pile 1, to which more are appended."""
    for index in range(arm.count):
        append_to_bulk(arm, pool, RAW_PILE, pool[arm.window[0] + index])
    arm.divided = RAW


@kernel
def has_room(arm: Record, pool: Pool, used: NDArray[np.int64]) -> bool:
    """Tell whether an arm whose `room_left` is used up has room for more rewards, or finds it in the pool."""
    if recount_room_left(arm) > 0:
        return True
    if not find_room(arm, pool, used):
        return False
    if arm.divided == FEW:
        make_raw(arm, pool)
    return recount_room_left(arm) > 0


@inlined_kernel
def insert_raw(arm: Record, pool: Pool, value: float, rank_0: int, rank_1: int) -> None:
    """Append a reward while no order statistic is needed; `divide` will cut at two ranks, as `insert` does."""
    arm.count += 1
    arm.room_left -= 1
    append_to_bulk(arm, pool, RAW_PILE, value)
    arm.cut[0] = rank_0
    arm.cut[1] = rank_1


@inlined_kernel
def _put(arm: Record, pool: Pool, value: float) -> None:
    """Insert a reward into a pile or, if it is near a cut, into a window or reserve."""
    if arm.fence[1] <= value <= arm.fence[2]:
        pile = 1
        # Ties may go to either side of a window full of them: to the one that leaves its cut in the middle.
        if value <= arm.fence[0] and 2 * arm.cut[0] > arm.width[0]:
            pile = 0
        elif value >= arm.fence[3] and 2 * arm.cut[1] < arm.width[1]:
            pile = 2
    elif value <= arm.fence[0]:
        pile = 0
    elif value >= arm.fence[3]:
        pile = 2
    else:
        pile = -1
        _insert_near(arm, pool, value)
    if pile >= 0:
        append_to_bulk(arm, pool, pile, value)
        add_to_pile(arm, pile, value)
        if pile == 0:
            arm.below[0] += 1
        if pile < 2:
            arm.below[1] += 1


@inlined_kernel
def insert(arm: Record, pool: Pool, value: float, rank_0: int, rank_1: int) -> None:
    """Insert a reward and cut at two ranks from then on: those with rank_0 <= rank < rank_1 are kept.

    `rank_1` = 0 means that there is no second cut, always or never for an arm. `room_left` of the arm must be
    positive, and its rewards must not be raw.
    Ranks may be any numbers with 0 <= rank_0 < rank_1 <= n, at most two rewards from where they were: the room is
    computed for that.
    """
    arm.count += 1
    arm.room_left -= 1
    if arm.divided == FEW:
        _insert_first(arm, pool, value)
        arm.cut[0] = rank_0
        arm.cut[1] = rank_1
        return
    _put(arm, pool, value)
    if _off(arm, LOW_CUT, rank_0) or (rank_1 > 0 and _off(arm, HIGH_CUT, rank_1)):
        move_cuts(arm, pool, rank_0, rank_1)


@kernel
def insert_all(arm: Record, pool: Pool, begin: int, end: int) -> None:
    """Insert a range of the pool into an arm that is divided already; `move_cuts` has to follow.

    The caller has already spent their `room_left`.
    """
    if end - begin >= _SOME:
        end = _put_far(arm, pool, begin, end)
        if end - begin >= _SOME:
            end = _put_in_reserves(arm, pool, begin, end)
    for index in range(begin, end):
        arm.count += 1
        _put(arm, pool, pool[index])


@kernel
def _put_far(arm: Record, pool: Pool, begin: int, end: int) -> int:
    """Insert the rewards that surely belong to a bulk; move the others up, and return where they begin.

    Most belong to pile 1, as most rewards are kept; each of the two passes is free of branches.
    """
    low, high = arm.fence[1], arm.fence[2]
    first = arm.start[1] + arm.held[1]
    kept, other = first, begin
    for index in range(begin, end):
        value = pool[index]
        middle = low < value < high
        pool[kept] = value
        pool[other] = value
        kept += middle
        other += not middle
    low, high = arm.fence[0], arm.fence[3]
    first_below, first_above = arm.start[0] + arm.held[0], arm.start[2] + arm.held[2]
    below, above, near = first_below, first_above, begin
    for index in range(begin, other):
        value = pool[index]
        is_below = value < low
        is_above = value > high
        outside = below if is_below else above
        pool[outside if is_below or is_above else near] = value
        below += is_below
        above += is_above
        near += not (is_below or is_above)
    _count_in(arm, pool, LOW_PILE, first_below, below)
    _count_in(arm, pool, RAW_PILE, first, kept)
    _count_in(arm, pool, HIGH_PILE, first_above, above)
    arm.below[0] += below - first_below
    arm.below[1] += below - first_below + kept - first
    return near


@kernel
def _put_in_reserves(arm: Record, pool: Pool, begin: int, end: int) -> int:
    """Insert the rewards that surely belong to a reserve; move the others up, and return where they begin."""
    for store in range(FIRST_RESERVE, WAITING):
        if arm.held[store] + end - begin > arm.room[store]:
            cut_back(arm, pool, store)
            if arm.held[store] + end - begin > arm.room[store]:
                return end
    fence_0, fence_1, fence_2, fence_3 = arm.fence[0], arm.fence[1], arm.fence[2], arm.fence[3]
    low_0, high_0, low_1, high_1 = -np.inf, np.inf, -np.inf, np.inf
    if arm.width[0] > 0:
        low_0, high_0 = pool[arm.window[0]], pool[arm.window[0] + arm.width[0] - 1]
    if arm.width[1] > 0:
        low_1, high_1 = pool[arm.window[1]], pool[arm.window[1] + arm.width[1] - 1]
    first_3, first_4 = arm.start[3] + arm.held[3], arm.start[4] + arm.held[4]
    first_5, first_6 = arm.start[5] + arm.held[5], arm.start[6] + arm.held[6]
    end_3, end_4, end_5, end_6, rest = first_3, first_4, first_5, first_6, begin
    for index in range(begin, end):
        value = pool[index]
        is_3 = fence_0 < value < low_0
        is_4 = high_0 < value < fence_1
        is_5 = fence_2 < value < low_1
        is_6 = high_1 < value < fence_3
        below = end_3 if is_3 else end_5
        above = end_4 if is_4 else end_6
        pool[below if is_3 or is_5 else rest] = value
        pool[above if is_4 or is_6 else rest] = -value if is_4 or is_6 else value
        end_3 += is_3
        end_4 += is_4
        end_5 += is_5
        end_6 += is_6
        rest += not (is_3 or is_4 or is_5 or is_6)
    _count_in_reserve(arm, pool, LOW_CUT, BELOW, first_3, end_3)
    _count_in_reserve(arm, pool, LOW_CUT, ABOVE, first_4, end_4)
    _count_in_reserve(arm, pool, HIGH_CUT, BELOW, first_5, end_5)
    _count_in_reserve(arm, pool, HIGH_CUT, ABOVE, first_6, end_6)
    return rest


@kernel
def _count_in_reserve(arm: Record, pool: Pool, w: int, direction: int, begin: int, end: int) -> None:
    """Count rewards that have been written behind a reserve of a window."""
    if begin == end:
        return
    arm.count += end - begin
    if direction == BELOW:
        arm.below[w] += end - begin
    if w == 0:
        arm.below[1] += end - begin
    count_pushed(arm, pool, FIRST_RESERVE + 2 * w + direction, end - begin)


@kernel
def _count_in(arm: Record, pool: Pool, pile: int, begin: int, end: int) -> None:
    """Count rewards that have been written behind the bulk of a pile."""
    total, rest = range_sum(pool, begin, end)
    arm.total[pile], arm.total_rest[pile] = add(arm.total[pile], arm.total_rest[pile] + rest, total)
    arm.held[pile] += end - begin
    arm.count += end - begin


@inlined_kernel
def _off(arm: Record, w: int, rank: int) -> bool:
    cut = arm.cut[w]
    return arm.below[w] + cut != rank or cut < MARGIN or arm.width[w] - cut < MARGIN
