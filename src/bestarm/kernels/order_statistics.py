"""Order statistics of each arm's rewards, kept online: trimmed mean, median, values at the cuts, sums of the tails.

The n rewards of an arm, in sorted order, lie in piles with a window between each two of them:

    pile 0 | window 0 | pile 1 | window 1 | pile 2        (one window and two piles are enough for a median)
               ^ cut 0             ^ cut 1

A cut is a rank: the rewards below cut 0 and from cut 1 on are *trimmed*, those between are *kept*. A window is a short
sorted array around its cut, so a cut that moves by one reward is one step in an array, and every order statistic near
a cut can be read off. Almost every reward falls into the unsorted part of a pile: it is appended, and nothing else
is looked at. Windows are refilled from the piles beside them and spilled into them (`piles.py`). Each pile and each
half of a window carries its sum, so a trimmed mean is O(1). As long as nobody asks for an order statistic, as during
forced exploration, rewards are left raw, and the first question divides them all in O(n).

Cost of `insert`: O(1) on average for exchangeable rewards, O(log n) amortised for any order of them (`piles.py` says
why). One exception: rewards that leave a pile and are 2^30 times larger than all that stays make the pile's sum be
added up afresh.
"""

from __future__ import annotations

import numpy as np

from bestarm.kernels.compile import constant, inlined_kernel, kernel
from bestarm.kernels.piles import (
    add_to_pile,
    append_to_bulk,
    fill_reserve,
    guard_sum,
    pop_reserve,
    push_reserve,
)
from bestarm.kernels.samples import DIVIDED, FEW, FIRST_RESERVE, RAW, WAITING, WINDOW, Pool, Record, pile_size
from bestarm.kernels.selection import select_last
from bestarm.kernels.sums import add, dwarfs

REACH = 16  # rewards on either side of its cut when a window is set up
SAMPLE = 2 * WINDOW  # rewards that suggest where to divide the others
MARGIN = 2  # rewards on either side of its cut at the least, while the pile there has any

BELOW = constant(0)
ABOVE = constant(1)
LOW_CUT = constant(0)
HIGH_CUT = constant(1)
ONE = constant(1)
LOW_PILE = constant(0)
RAW_PILE = constant(1)
HIGH_PILE = constant(2)


@kernel
def _range_sum(pool: Pool, begin: int, end: int) -> tuple[float, float]:
    # Four sums side by side, as each waits for its last addition.
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    a_rest, b_rest, c_rest, d_rest = 0.0, 0.0, 0.0, 0.0
    place = begin
    while place + 3 < end:
        a, a_rest = add(a, a_rest, pool[place])
        b, b_rest = add(b, b_rest, pool[place + 1])
        c, c_rest = add(c, c_rest, pool[place + 2])
        d, d_rest = add(d, d_rest, pool[place + 3])
        place += 4
    while place < end:
        a, a_rest = add(a, a_rest, pool[place])
        place += 1
    a, a_rest = add(a, a_rest + b_rest + c_rest + d_rest, b)
    a, a_rest = add(a, a_rest, c)
    return add(a, a_rest, d)


@kernel
def _resum(arm: Record, pool: Pool, w: int) -> None:
    middle = arm.window[w] + arm.cut[w]
    arm.left[w], arm.left_rest[w] = _range_sum(pool, arm.window[w], middle)
    arm.right[w], arm.right_rest[w] = _range_sum(pool, middle, arm.window[w] + arm.width[w])
    arm.left_peak[w], arm.right_peak[w] = 0.0, 0.0


@kernel
def _open_front(arm: Record, pool: Pool, w: int, places: int) -> None:
    start = arm.window[w]
    for place in range(start + arm.width[w] - 1, start - 1, -1):
        pool[place + places] = pool[place]
    arm.width[w] += places
    arm.cut[w] += places
    arm.below[w] -= places


@kernel
def _close_front(arm: Record, pool: Pool, w: int, places: int) -> None:
    arm.width[w] -= places
    arm.cut[w] -= places
    arm.below[w] += places
    start = arm.window[w]
    for place in range(start, start + arm.width[w]):
        pool[place] = pool[place + places]


@kernel
def _spill(arm: Record, pool: Pool, w: int) -> None:
    """Make room in a window: all beyond REACH of its cut goes to the piles beside it."""
    start = arm.window[w]
    reserve = FIRST_RESERVE + 2 * w
    outward = max(0, arm.cut[w] - REACH)
    for place in range(outward):
        push_reserve(arm, pool, reserve + BELOW, pool[start + place])
    if outward > 0:
        _close_front(arm, pool, w, outward)
    while arm.width[w] > arm.cut[w] + REACH:
        arm.width[w] -= 1
        push_reserve(arm, pool, reserve + ABOVE, pool[start + arm.width[w]])
    _resum(arm, pool, w)


@kernel
def _refill(arm: Record, pool: Pool, w: int, direction: int) -> bool:
    """Bring the rewards next to a window from the pile below or above it into the window; False if it has none."""
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
        place = arm.window[w] + taken - 1
        step = -1
    else:
        place = arm.window[w] + arm.width[w]
        arm.width[w] += taken
        step = 1
    largest = 0.0
    for _ in range(taken):
        value = pop_reserve(arm, pool, reserve)
        pool[place] = value
        place += step
        largest = max(largest, abs(value))
    guard_sum(arm, pool, reserve, largest)
    _resum(arm, pool, w)
    return True


@kernel
def _borrow(arm: Record, pool: Pool, w: int) -> None:
    """Take one reward over from the other window: pile 1 is empty and a cut has to pass."""
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
    _resum(arm, pool, LOW_CUT)
    _resum(arm, pool, HIGH_CUT)


@kernel
def _raise_cut(arm: Record, pool: Pool, w: int) -> None:
    """Move a cut up by one reward."""
    place = arm.window[w] + arm.cut[w]
    end = arm.window[w] + arm.width[w]
    value = pool[place]
    arm.left[w], arm.left_rest[w] = add(arm.left[w], arm.left_rest[w], value)
    if place + 1 == end:
        arm.right[w], arm.right_rest[w] = 0.0, 0.0
    else:
        arm.right[w], arm.right_rest[w] = add(arm.right[w], arm.right_rest[w], -value)
        arm.right_peak[w] = max(arm.right_peak[w], abs(value))
        if dwarfs(arm.right_peak[w], pool[place + 1], pool[end - 1]):
            arm.right[w], arm.right_rest[w] = _range_sum(pool, place + 1, end)
            arm.right_peak[w] = 0.0
    arm.cut[w] += 1


@kernel
def _lower_cut(arm: Record, pool: Pool, w: int) -> None:
    """Move a cut down by one reward."""
    arm.cut[w] -= 1
    place = arm.window[w] + arm.cut[w]
    value = pool[place]
    arm.right[w], arm.right_rest[w] = add(arm.right[w], arm.right_rest[w], value)
    if arm.cut[w] == 0:
        arm.left[w], arm.left_rest[w] = 0.0, 0.0
    else:
        arm.left[w], arm.left_rest[w] = add(arm.left[w], arm.left_rest[w], -value)
        arm.left_peak[w] = max(arm.left_peak[w], abs(value))
        if dwarfs(arm.left_peak[w], pool[arm.window[w]], pool[place - 1]):
            arm.left[w], arm.left_rest[w] = _range_sum(pool, arm.window[w], place)
            arm.left_peak[w] = 0.0


@kernel
def _move_cut(arm: Record, pool: Pool, w: int, rank: int) -> None:
    """Let a cut have `rank` rewards of the arm below it, with rewards on either side of it in the window."""
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
def _move_cuts(arm: Record, pool: Pool, rank_0: int, rank_1: int) -> None:
    """Move both cuts; one on its way up goes first if it is the upper one, so that the two never pass each other."""
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
        place = end
        while pool[place - 1] > value:
            pool[place] = pool[place - 1]
            place -= 1
        pool[place] = value
        arm.width[w] += 1
        if place < start + arm.cut[w]:
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
    place = start + arm.count - 1
    while place > start and pool[place - 1] > value:
        pool[place] = pool[place - 1]
        place -= 1
    pool[place] = value


@kernel
def make_raw(arm: Record, pool: Pool) -> None:
    """Put an arm's first rewards, until now sorted in window 0, into the bulk of pile 1, to which more are appended."""
    for place in range(arm.count):
        append_to_bulk(arm, pool, RAW_PILE, pool[arm.window[0] + place])
    arm.divided = RAW


@inlined_kernel
def insert_raw(arm: Record, pool: Pool, value: float, rank_0: int, rank_1: int) -> None:
    """Append a reward while order statistics are not asked for; `divide` will cut at two ranks, as `insert` does."""
    arm.count += 1
    arm.calm -= 1
    append_to_bulk(arm, pool, RAW_PILE, value)
    arm.cut[0] = rank_0
    arm.cut[1] = rank_1


@kernel
def _sort_into(arm: Record, pool: Pool, w: int, first: int, width: int) -> None:
    """Copy rewards of the pool to an empty window, in order."""
    for place in range(first, first + width):
        value = pool[place]
        hole = arm.window[w] + place - first
        while hole > arm.window[w] and pool[hole - 1] > value:
            pool[hole] = pool[hole - 1]
            hole -= 1
        pool[hole] = value
    arm.width[w] = width


@kernel
def _take_last(arm: Record, pool: Pool, pile: int, w: int, beyond: int, width: int, sign: float) -> None:
    """Move the rewards of pile 1 largest in `sign * value` away: `beyond` to a pile, and the next ones to a window."""
    taken = beyond + width
    select_last(pool, arm.start[1], arm.held[1], taken, sign)
    arm.held[1] -= taken
    _take_near(arm, pool, pile, w, arm.start[1] + arm.held[1], beyond, width, sign)


@kernel
def _take_near(arm: Record, pool: Pool, pile: int, w: int, first: int, beyond: int, width: int, sign: float) -> None:
    """Move rewards at a place of the pool: the `beyond` largest in `sign * value` to a pile, the others to a window."""
    size = beyond + width
    select_last(pool, first, size, beyond, sign)
    _sort_into(arm, pool, w, first, width)
    for place in range(first + width, first + size):
        append_to_bulk(arm, pool, pile, pool[place])


@kernel
def _sampled_bounds(arm: Record, pool: Pool, outer: int, inner: int, sign: float) -> tuple[float, float]:
    """Return two values, as `sign * value`, such that most likely `outer` rewards are beyond both and `inner` within.

    They come from a sample, every so-manieth raw reward, that is put into the windows: these are empty and lie side by
    side. The slack is 2.5 standard deviations of a rank in the sample, and one for rounding.
    """
    start = arm.window[0]
    step = arm.count // SAMPLE
    for place in range(SAMPLE):
        pool[start + place] = pool[arm.start[1] + place * step]
    share = SAMPLE / arm.count
    slack = 2.5 * np.sqrt(share * inner * (1.0 - inner / arm.count)) + 1.0
    taken = int(min(share * inner + slack, SAMPLE - 1.0))
    select_last(pool, start, SAMPLE, taken, sign)
    near = np.inf
    for place in range(start + SAMPLE - taken, start + SAMPLE):
        near = min(near, sign * pool[place])
    further = int(max(share * outer - slack, 0.0))
    if further == 0:
        return near, np.inf
    select_last(pool, start + SAMPLE - taken, taken, further, sign)
    far = np.inf
    for place in range(start + SAMPLE - further, start + SAMPLE):
        far = min(far, sign * pool[place])
    return near, far


@kernel
def _divide_by_sample(arm: Record, pool: Pool, begin_0: int, end_0: int, begin_1: int, end_1: int) -> bool:
    """Divide raw rewards by bounds around both windows that a sample suggests, in passes without branches.

    Few rewards lie between the bounds of a window and have to be selected from. A sample may mislead, if the rewards
    have an order to them; then nothing is moved and False is returned.
    """
    count = arm.count
    start = arm.start[1]
    low, lowest = _sampled_bounds(arm, pool, begin_0, end_0, -1.0)
    low, lowest = -low, -lowest
    high, highest = np.inf, np.inf
    if begin_1 < count:
        high, highest = _sampled_bounds(arm, pool, count - end_1, count - begin_1, 1.0)
    if low >= high:
        return False
    # What is surely in pile 1 moves up; the others go behind all, and then back to where they have been.
    behind = start + count
    place, kept, aside = start, start, behind
    while place < behind and aside < start + arm.room[1]:
        value = pool[place]
        middle = low < value < high
        pool[kept] = value
        pool[aside] = value
        kept += middle
        aside += not middle
        place += 1
    below, near_0, near_1, above = 0, 0, 0, 0
    for other in range(behind, aside):
        below += pool[other] < lowest
        near_0 += pool[other] <= low
        near_1 += pool[other] >= high
        above += pool[other] > highest
    fits = below <= begin_0 and near_0 >= end_0 and above <= count - end_1 and near_1 >= count - begin_1
    if place < behind or not fits:
        for other in range(behind, aside):
            pool[kept + other - behind] = pool[other]
        return False
    near_0 -= below
    near_1 -= above
    first_0, first_1 = kept, behind - near_1
    to_0, to_1, to_below, to_above = first_0, first_1, arm.start[0], arm.start[2]
    for other in range(behind, aside):
        value = pool[other]
        is_low = value <= low
        is_below = value < lowest
        is_above = value > highest
        low_place = to_below if is_below else to_0
        high_place = to_above if is_above else to_1
        pool[low_place if is_low else high_place] = value
        to_below += is_below
        to_above += is_above
        to_0 += is_low and not is_below
        to_1 += not is_low and not is_above
    arm.held[0], arm.held[1], arm.held[2] = below, kept - start, above
    taken = end_0 - below
    select_last(pool, first_0, near_0, taken, -1.0)
    arm.held[1] += near_0 - taken
    _take_near(arm, pool, LOW_PILE, LOW_CUT, first_0 + near_0 - taken, begin_0 - below, end_0 - begin_0, -1.0)
    taken = count - begin_1 - above
    select_last(pool, first_1, near_1, taken, 1.0)
    for place in range(first_1, first_1 + near_1 - taken):
        append_to_bulk(arm, pool, RAW_PILE, pool[place])
    _take_near(arm, pool, HIGH_PILE, HIGH_CUT, first_1 + near_1 - taken, count - end_1 - above, end_1 - begin_1, 1.0)
    return True


@kernel
def divide(arm: Record, pool: Pool, rank_0: int, rank_1: int) -> None:
    """Divide raw rewards among windows and piles, and cut at two ranks from then on. O(n)."""
    count = arm.count
    kept_end = rank_1 if rank_1 > 0 else count
    inner = min(REACH, (kept_end - rank_0) // 3)
    begin_0 = max(0, rank_0 - REACH)
    end_0 = rank_0 + inner
    begin_1 = kept_end - inner
    end_1 = min(count, kept_end + REACH)
    if rank_1 == 0:
        end_0 = min(count, rank_0 + REACH)
        begin_1 = count
    arm.divided = DIVIDED
    arm.calm = 0  # to be counted anew
    if count < 4 * SAMPLE or not _divide_by_sample(arm, pool, begin_0, end_0, begin_1, end_1):
        _take_last(arm, pool, HIGH_PILE, HIGH_CUT, count - end_1, end_1 - begin_1, 1.0)
        _take_last(arm, pool, LOW_PILE, LOW_CUT, begin_0, end_0 - begin_0, -1.0)
    for pile in range(FIRST_RESERVE):
        begin = arm.start[pile]
        arm.total[pile], arm.total_rest[pile] = _range_sum(pool, begin, begin + arm.held[pile])
    arm.cut[0], arm.below[0] = rank_0 - begin_0, begin_0
    arm.cut[1], arm.below[1] = kept_end - begin_1, begin_1
    for w in range(2):
        empty = -np.inf if w == 0 else np.inf
        arm.fence[2 * w] = pool[arm.window[w]] if arm.width[w] > 0 else empty
        arm.fence[2 * w + 1] = pool[arm.window[w] + arm.width[w] - 1] if arm.width[w] > 0 else empty
        _resum(arm, pool, w)
    _move_cuts(arm, pool, rank_0, rank_1)  # where few rewards are kept, the windows are short of their margins


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

    `rank_1` = 0 means that there is no second cut, always or never for an arm. `calm` of the arm must be positive, and
    its rewards must not be raw.
    Ranks may be any numbers with 0 <= rank_0 < rank_1 <= n, at most two rewards from where they were: rooms are
    reckoned for that.
    """
    arm.count += 1
    arm.calm -= 1
    if arm.divided == FEW:
        _insert_first(arm, pool, value)
        arm.cut[0] = rank_0
        arm.cut[1] = rank_1
        return
    _put(arm, pool, value)
    if _off(arm, LOW_CUT, rank_0) or (rank_1 > 0 and _off(arm, HIGH_CUT, rank_1)):
        _move_cuts(arm, pool, rank_0, rank_1)


@kernel
def insert_all(arm: Record, pool: Pool, begin: int, end: int) -> None:
    """Insert rewards that lie at a place of the pool; `place_cuts` has to follow. Their `calm` is spent already."""
    for place in range(begin, end):
        value = pool[place]
        arm.count += 1
        if arm.divided == DIVIDED:
            _put(arm, pool, value)
        elif arm.divided == RAW:
            append_to_bulk(arm, pool, RAW_PILE, value)
        else:
            _insert_first(arm, pool, value)


@inlined_kernel
def _off(arm: Record, w: int, rank: int) -> bool:
    cut = arm.cut[w]
    return arm.below[w] + cut != rank or cut < MARGIN or arm.width[w] - cut < MARGIN


@kernel
def place_cuts(arm: Record, pool: Pool, rank_0: int, rank_1: int) -> None:
    """Cut at other ranks without inserting anything; raw rewards are divided."""
    if arm.divided == FEW:
        arm.cut[0] = rank_0
        arm.cut[1] = rank_1
    elif arm.divided == RAW:
        divide(arm, pool, rank_0, rank_1)
    else:
        _move_cuts(arm, pool, rank_0, rank_1)


@kernel
def _keep_between(
    arm: Record, pool: Pool, begin: int, end: int, place: int, sign: float, low: float, high: float
) -> int:
    """Copy the rewards of a range that lie in [low, high] to the pool from `place` on; return where they end."""
    for source in range(begin, end):
        value = sign * pool[source]
        if low <= value <= high:
            pool[place] = value
            place += 1
            arm.bottom = min(arm.bottom, value)
            arm.top = max(arm.top, value)
    return place


@kernel
def drop_outside(arm: Record, pool: Pool, low: float, high: float) -> None:
    """Remove all rewards outside [low, high]; those that stay are raw then, unless they are few. O(n).

    The bulk of pile 1 must have room for all rewards of the arm.
    """
    arm.bottom, arm.top = np.inf, -np.inf
    if arm.divided == FEW:
        start = arm.window[0]
        arm.count = _keep_between(arm, pool, start, start + arm.count, start, 1.0, low, high) - start
        return
    start = arm.start[1]
    place = _keep_between(arm, pool, start, start + arm.held[1], start, 1.0, low, high)
    if arm.divided == DIVIDED:
        for store in range(WAITING):
            if store != 1:
                sign = -1.0 if store >= FIRST_RESERVE and (store - FIRST_RESERVE) & 1 == 1 else 1.0
                begin = arm.start[store]
                place = _keep_between(arm, pool, begin, begin + arm.held[store], place, sign, low, high)
                arm.held[store] = 0
        for w in range(2):
            place = _keep_between(arm, pool, arm.window[w], arm.window[w] + arm.width[w], place, 1.0, low, high)
            arm.width[w] = 0
        for pile in range(FIRST_RESERVE):
            arm.total[pile], arm.total_rest[pile], arm.peak[pile] = 0.0, 0.0, 0.0
    arm.held[1] = place - start
    arm.count = arm.held[1]
    arm.cut[0], arm.cut[1] = 0, arm.count
    arm.divided = RAW


@kernel
def kept_sum(arm: Record, pool: Pool) -> float:
    """Return the sum of the rewards between the two cuts last set. O(1)."""
    if arm.divided == FEW:
        total, rest = _range_sum(pool, arm.window[0] + arm.cut[0], arm.window[0] + arm.cut[1])
    else:
        total, rest = add(arm.total[1], arm.total_rest[1] + arm.right_rest[0] + arm.left_rest[1], arm.right[0])
        total, rest = add(total, rest, arm.left[1])
    return total + rest


@inlined_kernel
def kept_mean(arm: Record, pool: Pool, rank_0: int, rank_1: int) -> float:
    """Return the mean of the rewards between the two cuts last set, which were these. O(1)."""
    return kept_sum(arm, pool) / (rank_1 - rank_0)


@kernel
def lower_tail_sum(arm: Record, pool: Pool) -> float:
    """Return the sum of the rewards below the first cut. O(1)."""
    if arm.divided == FEW:
        total, rest = _range_sum(pool, arm.window[0], arm.window[0] + arm.cut[0])
    else:
        total, rest = add(arm.total[0], arm.total_rest[0] + arm.left_rest[0], arm.left[0])
    return total + rest


@kernel
def upper_tail_sum(arm: Record, pool: Pool) -> float:
    """Return the sum of the rewards above the second cut. O(1)."""
    if arm.divided == FEW:
        total, rest = _range_sum(pool, arm.window[0] + arm.cut[1], arm.window[0] + arm.count)
    else:
        total, rest = add(arm.total[2], arm.total_rest[2] + arm.right_rest[1], arm.right[1])
    return total + rest


@kernel
def order_statistic(arm: Record, pool: Pool, rank: int) -> float:
    """Return the reward of a rank (0 = smallest) that lies in a window, else nan. O(1).

    The MARGIN rewards on either side of each cut always lie in a window.
    """
    if arm.divided == FEW:
        return pool[arm.window[0] + rank]
    for w in range(2):
        place = rank - arm.below[w]
        if 0 <= place < arm.width[w]:
            return pool[arm.window[w] + place]
    return np.nan
