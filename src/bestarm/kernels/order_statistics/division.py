"""Division of an arm's raw rewards among windows and piles, when an order statistic is first needed.

Selection does it in O(n), but passes over the rewards several times, for each of two cuts. So bounds around each window
are guessed first, from a sample or from the same arm's rewards in the last trial. Passes without branches then leave
few rewards to select from. The guess affects the time, never the result.
"""

from __future__ import annotations

import numpy as np

from bestarm.kernels.jit.compile import kernel
from bestarm.kernels.jit.memory import constant
from bestarm.kernels.order_statistics.piles import append_to_bulk, sign_of, sum_reserve, take_in, usual_batch
from bestarm.kernels.order_statistics.samples import (
    ABOVE_HIGH,
    ABOVE_LOW,
    BELOW_HIGH,
    BELOW_LOW,
    DIVIDED,
    FIRST_RESERVE,
    WAITING,
    WINDOW,
    Pool,
    Record,
    pile_of,
)
from bestarm.kernels.order_statistics.selection import select_last
from bestarm.kernels.order_statistics.sums import range_sum
from bestarm.kernels.order_statistics.windows import (
    HIGH_CUT,
    HIGH_PILE,
    LOW_CUT,
    LOW_PILE,
    RAW_PILE,
    REACH,
    move_cuts,
    resum,
)

SAMPLE = constant(2 * WINDOW)  # rewards that suggest where to divide the others


@kernel
def _sort_into(arm: Record, pool: Pool, w: int, first: int, width: int) -> None:
    """Copy rewards of the pool to an empty window, in order."""
    for index in range(first, first + width):
        value = pool[index]
        hole = arm.window[w] + index - first
        while hole > arm.window[w] and pool[hole - 1] > value:
            pool[hole] = pool[hole - 1]
            hole -= 1
        pool[hole] = value
    arm.width[w] = width


@kernel
def _lift(arm: Record, pool: Pool, store: int, first: int, size: int) -> int:
    """Fill an empty reserve with the rewards of its pile that are next to its window; return how many are left.

    This is the cheapest moment for it, and it allows long quiet stretches (elimination.py) from the beginning.
    """
    usual = min(usual_batch(arm, pile_of(store)), (arm.room[store] - WINDOW) // 3)
    taken = size
    if size > 3 * usual:
        taken = 2 * usual
        select_last(pool, first, size, taken, sign_of(store))
    take_in(arm, pool, store, first + size - taken, first + size)
    return size - taken


@kernel
def _take_last(arm: Record, pool: Pool, w: int, beyond: int, width: int) -> None:
    """Move the outermost rewards of pile 1: `beyond` of them to the pile beyond a window, the next ones into it."""
    sign = 1.0 if w == HIGH_CUT else -1.0
    taken = beyond + width
    select_last(pool, arm.start[1], arm.held[1], taken, sign)
    arm.held[1] -= taken
    _take_near(arm, pool, w, arm.start[1] + arm.held[1], beyond, width)


@kernel
def _take_near(arm: Record, pool: Pool, w: int, first: int, beyond: int, width: int) -> None:
    """Move rewards from a range of the pool: the outermost to the pile beyond a window, the others into it."""
    select_last(pool, first, beyond + width, beyond, 1.0 if w == HIGH_CUT else -1.0)
    _sort_into(arm, pool, w, first, width)
    left = _lift(arm, pool, ABOVE_HIGH if w == HIGH_CUT else BELOW_LOW, first + width, beyond)
    for index in range(first + width, first + width + left):
        append_to_bulk(arm, pool, HIGH_PILE if w == HIGH_CUT else LOW_PILE, pool[index])


@kernel
def _sampled_bounds(arm: Record, pool: Pool, outer: int, inner: int, sign: float) -> tuple[float, float]:
    """Return two values, as `sign * value`, such that most likely `outer` rewards are beyond both and `inner` within.

    They come from a sample of raw rewards at equal steps, which is put into the windows: these are empty and adjacent.
    The slack is 2.5 standard deviations of a rank in the sample, and one for rounding.
    """
    start = arm.window[0]
    step = arm.count // SAMPLE
    for index in range(SAMPLE):
        pool[start + index] = pool[arm.start[1] + index * step]
    share = SAMPLE / arm.count
    slack = 2.5 * np.sqrt(share * inner * (1.0 - inner / arm.count)) + 1.0
    taken = int(min(share * inner + slack, SAMPLE - 1.0))
    select_last(pool, start, SAMPLE, taken, sign)
    near = np.inf
    for index in range(start + SAMPLE - taken, start + SAMPLE):
        near = min(near, sign * pool[index])
    further = int(max(share * outer - slack, 0.0))
    if further == 0:
        return near, np.inf
    select_last(pool, start + SAMPLE - taken, taken, further, sign)
    far = np.inf
    for index in range(start + SAMPLE - further, start + SAMPLE):
        far = min(far, sign * pool[index])
    return near, far


@kernel
def _sample(arm: Record, pool: Pool, begin_0: int, end_0: int, begin_1: int, end_1: int) -> None:
    """Guess bounds around both windows from a sample."""
    count = arm.count
    low, lowest = _sampled_bounds(arm, pool, begin_0, end_0, -1.0)
    arm.guess[0], arm.guess[1] = -lowest, -low
    arm.guess[2], arm.guess[3] = np.inf, np.inf
    if begin_1 < count:
        arm.guess[2], arm.guess[3] = _sampled_bounds(arm, pool, count - end_1, count - begin_1, 1.0)


@kernel
def _learn(arm: Record, pool: Pool) -> None:
    """Guess, from the windows, the bounds for equally many rewards of the same law, as the next trial will bring.

    Of two samples of n, the ranks of the same value differ by sqrt(2 n p (1 - p)); the windows are extended by 2.5 of
    these: by half as much again away from the middle, where rewards are sparser.
    """
    count = arm.count
    arm.guessed = count
    for w in range(2):
        width = arm.width[w]
        first, last = -np.inf if w == 0 else np.inf, np.inf
        if width > 1:
            rank = arm.below[w] + arm.cut[w]
            first, last = pool[arm.window[w]], pool[arm.window[w] + width - 1]
            slack = 2.5 * np.sqrt(2.0 * rank * (1.0 - rank / count)) * (last - first) / (width - 1)
            first -= slack if w == 1 else 1.5 * slack
            last += slack if w == 0 else 1.5 * slack
        arm.guess[2 * w], arm.guess[2 * w + 1] = first, last


@kernel
def _divide_by_guess(arm: Record, pool: Pool, begin_0: int, end_0: int, begin_1: int, end_1: int) -> bool:
    """Divide raw rewards by bounds around both windows, in passes without branches.

    Only the few rewards between the bounds of a window need selection. A guess may be wrong; then nothing is moved and
    False is returned.
    """
    count = arm.count
    start = arm.start[1]
    lowest, low, high, highest = arm.guess[0], arm.guess[1], arm.guess[2], arm.guess[3]
    if low >= high:
        return False
    # Rewards that are surely in pile 1 move up; the others go behind all, and then back to where they were.
    behind = start + count
    index, kept, aside = start, start, behind
    while index < behind and aside < start + arm.room[1]:
        value = pool[index]
        middle = low < value < high
        pool[kept] = value
        pool[aside] = value
        kept += middle
        aside += not middle
        index += 1
    below, near_0, near_1, above = 0, 0, 0, 0
    for other in range(behind, aside):
        below += pool[other] < lowest
        near_0 += pool[other] <= low
        near_1 += pool[other] >= high
        above += pool[other] > highest
    fits = below <= begin_0 and near_0 >= end_0 and above <= count - end_1 and near_1 >= count - begin_1
    if index < behind or not fits:
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
    _take_near(arm, pool, LOW_CUT, first_0 + near_0 - taken, begin_0 - below, end_0 - begin_0)
    arm.held[1] += _lift(arm, pool, ABOVE_LOW, first_0, near_0 - taken)
    taken = count - begin_1 - above
    select_last(pool, first_1, near_1, taken, 1.0)
    left = _lift(arm, pool, BELOW_HIGH, first_1, near_1 - taken)
    for index in range(first_1, first_1 + left):
        append_to_bulk(arm, pool, RAW_PILE, pool[index])
    _take_near(arm, pool, HIGH_CUT, first_1 + near_1 - taken, count - end_1 - above, end_1 - begin_1)
    return True


@kernel
def _fence_in(arm: Record, pool: Pool, w: int) -> None:
    """Put the fences of empty reserves at the ends of their window."""
    width = arm.width[w]
    empty = -np.inf if w == 0 else np.inf
    if arm.held[FIRST_RESERVE + 2 * w] == 0:
        arm.fence[2 * w] = pool[arm.window[w]] if width > 0 else empty
    if arm.held[FIRST_RESERVE + 2 * w + 1] == 0:
        arm.fence[2 * w + 1] = pool[arm.window[w] + width - 1] if width > 0 else empty


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
    arm.room_left = 0  # to be counted anew
    divided = arm.guessed == count and _divide_by_guess(arm, pool, begin_0, end_0, begin_1, end_1)
    if not divided and count >= 4 * SAMPLE:
        _sample(arm, pool, begin_0, end_0, begin_1, end_1)
        divided = _divide_by_guess(arm, pool, begin_0, end_0, begin_1, end_1)
    if not divided:
        _take_last(arm, pool, HIGH_CUT, count - end_1, end_1 - begin_1)
        _take_last(arm, pool, LOW_CUT, begin_0, end_0 - begin_0)
    for pile in range(FIRST_RESERVE):
        begin = arm.start[pile]
        arm.total[pile], arm.total_rest[pile] = range_sum(pool, begin, begin + arm.held[pile])
    for store in range(FIRST_RESERVE, WAITING):
        sum_reserve(arm, pool, store)
    arm.cut[0], arm.below[0] = rank_0 - begin_0, begin_0
    arm.cut[1], arm.below[1] = kept_end - begin_1, begin_1
    for w in range(2):
        _fence_in(arm, pool, w)
        resum(arm, pool, w)
    _learn(arm, pool)
    move_cuts(arm, pool, rank_0, rank_1)  # where few rewards are kept, the windows are short of their margins
