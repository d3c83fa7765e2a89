"""Evidence on rewards with bounds, scaled to [0, 1] (section 6 of certified.md).

Up: h(x) = 1 + u min(x, c), with mean at most 1 + u min(m, c). Down: the same with 1 - x and 1 - m. Neither depends on
m, so an arm has one sum of logarithms per bet. Rewards 0 and 1 are counted. For the others, logarithms are summed for
the *core* bets; for smaller u, log(1 + z) >= z - z^2/2 + z^3/3 - z^4/4 gives a lower bound by power sums.

The log evidence of a pair is convex in m, so tangents bound its infimum from below.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.evidence.pair import BETS, Replaced, Scratch, log_pair
from bestarm.kernels.jit.compile import fast_kernel, inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Pool, Record

UP, DOWN = 0, 1
BLOCK = 128  # (1 + u)^128 is finite for the largest u
POWERS = 4
_STEP = 1e-3
_NEGLIGIBLE = -40.0

tally_dtype = np.dtype(
    [
        ("through", "i8"),  # rewards taken in
        ("ends", "i8", (2,)),  # how many were 1 (counts up) and how many 0 (counts down)
        ("total", "f8"),  # of all rewards
        ("logs", "f8", (2, BETS)),  # of the rewards between 0 and 1
        ("powers", "f8", (2, POWERS)),
        ("squares", "f8", (2, BETS)),  # sums of min(x, c) and of its square, for the limit of what can be told
        ("firsts", "f8", (2, BETS)),
    ]
)
Tallies = NDArray[np.void]

# The scratch: a block of rewards, then log evidence, its slope, and growth.
UPS = BLOCK
DOWNS = UPS + BETS
UP_SLOPES = DOWNS + BETS
DOWN_SLOPES = UP_SLOPES + BETS
GROWTH = DOWN_SLOPES + BETS
MOMENTS = GROWTH + 2 * BETS
FILLED = MOMENTS + 4 * BETS  # 1 when the table has been filled
TABLE = FILLED + 1  # prices of a reward at the means 0, 1/1024, ..., 1, bet by bet
GRID = 1024
DESK = TABLE + BETS * (GRID + 1)


@fast_kernel
def block_product(scratch: Scratch, number: int, u: float, clip: float) -> float:
    """Return the product of h over a block of rewards."""
    product = 1.0
    for index in range(number):
        product *= 1.0 + u * min(scratch[index], clip)
    return product


@fast_kernel
def clipped_sum(scratch: Scratch, number: int, clip: float) -> float:
    """Return the sum of min(x, c) over a block of rewards."""
    total = 0.0
    for index in range(number):
        total += min(scratch[index], clip)
    return total


@fast_kernel
def clipped_squares(scratch: Scratch, number: int, clip: float) -> float:
    """Return the sum of min(x, c)^2 over a block of rewards."""
    total = 0.0
    for index in range(number):
        total += min(scratch[index], clip) ** 2
    return total


@kernel
def _take_block(row: Record, rule: Record, scratch: Scratch, number: int, side: int) -> None:
    """Take the rewards in scratch into the sums of one side."""
    for bet in range(rule.core):
        row.logs[side, bet] += np.log(block_product(scratch, number, rule.rate[bet], rule.clip[bet]))
    for index in range(number):
        power = 1.0
        for exponent in range(POWERS):
            power *= scratch[index]
            row.powers[side, exponent] += power
    last = -1.0
    for bet in range(rule.core):
        if rule.clip[bet] != last:  # the bets of one clip are adjacent
            last = rule.clip[bet]
            first, square = clipped_sum(scratch, number, last), clipped_squares(scratch, number, last)
        row.firsts[side, bet] += first
        row.squares[side, bet] += square


@kernel
def fold(row: Record, rule: Record, pool: Pool, room: int, index: int, scratch: Scratch, n: int) -> None:
    """Take in the rewards of an arm up to the n-th."""
    begin = row.through
    while begin < n:
        number = 0
        last = min(n, begin + BLOCK)
        for slot in range(begin, last):
            x = pool[index * room + (slot & (room - 1))]
            row.total += x
            if x == 1.0:
                row.ends[UP] += 1
            elif x == 0.0:
                row.ends[DOWN] += 1
            else:
                scratch[number] = x
                number += 1
        if number > 0:
            _take_block(row, rule, scratch, number, UP)
            for slot in range(number):
                scratch[slot] = 1.0 - scratch[slot]
            _take_block(row, rule, scratch, number, DOWN)
        begin = last
    row.through = max(row.through, n)


@kernel
def write_moments(row: Record, rule: Record, scratch: Scratch, side: int, index: int) -> int:
    """Write the sums of h and of h^2 over all rewards taken in, for all bets, to scratch; return how many rewards."""
    for bet in range(rule.bets):
        like = bet if bet < rule.core else 0  # the small bets do not clip, nor does the first
        u, clip = rule.rate[bet], rule.clip[bet]
        first = row.firsts[side, like] + row.ends[side] * clip
        second = row.squares[side, like] + row.ends[side] * clip * clip
        scratch[index + bet] = row.through + u * first
        scratch[index + BETS + bet] = row.through + 2.0 * u * first + u * u * second
    return row.through


@inlined_kernel
def _log_bet(row: Record, rule: Record, side: int, bet: int) -> float:
    """Return the sum of log h over all rewards taken in, or a lower bound of it for the small bets."""
    total = row.ends[side] * rule.log_most[bet]
    if bet < rule.core:
        return total + row.logs[side, bet]
    u = rule.rate[bet]
    powers = row.powers[side]
    return total + u * (powers[0] - u * (powers[1] / 2.0 - u * (powers[2] / 3.0 - u * powers[3] / 4.0)))


@kernel
def read(row: Record, rule: Record, scratch: Scratch, side: int, mean: float, n: int, count: float) -> None:
    """Write the log evidence of the bets that the mean is above (up) or below (down) a value, and its slope there."""
    index, slopes = (UPS, UP_SLOPES) if side == UP else (DOWNS, DOWN_SLOPES)
    sign = 1.0 if side == UP else -1.0
    m = mean if side == UP else 1.0 - mean
    for bet in range(rule.bets):
        level = rule.fixed[bet] + rule.rising[bet] * min(m, rule.clip[bet])
        scratch[index + bet] = _log_bet(row, rule, side, bet) - n * np.log(level) - count * rule.odds[bet]
        scratch[slopes + bet] = -sign * n * rule.rising[bet] / level if m < rule.clip[bet] else 0.0


@kernel
def log_pair_and_slope(rule: Record, scratch: Scratch, shared: float) -> tuple[float, float]:
    """Return log W of a pair, from the log evidence in scratch, and its slope in the mean (section 4)."""
    high_up = high_down = -np.inf
    for bet in range(rule.bets):
        high_up = max(high_up, scratch[UPS + bet])
        high_down = max(high_down, scratch[DOWNS + bet])
    if shared > 0.0:
        return _log_pair_and_slope_together(rule, scratch, shared)
    ups = downs = sames = ups_slope = downs_slope = sames_slope = 0.0
    for bet in range(rule.bets):
        weight = rule.weight[bet]
        one = weight * np.exp(scratch[UPS + bet] - high_up)
        two = np.exp(scratch[DOWNS + bet] - high_down)
        ups += one
        ups_slope += one * scratch[UP_SLOPES + bet]
        sames += one * two
        sames_slope += one * two * (scratch[UP_SLOPES + bet] + scratch[DOWN_SLOPES + bet])
        downs += weight * two
        downs_slope += weight * two * scratch[DOWN_SLOPES + bet]
    top = max(high_up + high_down, high_up, high_down)
    both = np.exp(high_up + high_down - top)
    up_only, down_only = rule.alone * np.exp(high_up - top), rule.alone * np.exp(high_down - top)
    total = both * (rule.same * sames + rule.product * ups * downs) + up_only * ups + down_only * downs
    slope = both * (rule.same * sames_slope + rule.product * (ups_slope * downs + ups * downs_slope))
    slope += up_only * ups_slope + down_only * downs_slope
    return top + np.log(total), slope / total


@kernel
def _log_pair_and_slope_together(rule: Record, scratch: Scratch, shared: float) -> tuple[float, float]:
    """Return the same where both arms together have at most `shared` replaced rewards."""
    top = -np.inf
    for bet in range(rule.bets):
        cost = shared * rule.odds[bet]
        top = max(top, scratch[UPS + bet] - cost, scratch[DOWNS + bet] - cost)
        for other in range(rule.bets):
            cost = shared * max(rule.odds[bet], rule.odds[other])
            top = max(top, scratch[UPS + bet] + scratch[DOWNS + other] - cost)
    total = slope = 0.0
    for bet in range(rule.bets):
        weight = rule.weight[bet]
        cost = top + shared * rule.odds[bet]
        one, two = scratch[UPS + bet], scratch[DOWNS + bet]
        rise, fall = scratch[UP_SLOPES + bet], scratch[DOWN_SLOPES + bet]
        up_only, down_only = rule.alone * weight * np.exp(one - cost), rule.alone * weight * np.exp(two - cost)
        both = rule.same * weight * np.exp(one + two - cost)
        total += up_only + down_only + both
        slope += up_only * rise + down_only * fall + both * (rise + fall)
        for other in range(rule.bets):
            cost = top + shared * max(rule.odds[bet], rule.odds[other])
            exponent = one + scratch[DOWNS + other] - cost
            if exponent > _NEGLIGIBLE:  # most of 900 terms are not; leaving them out lowers W by 1e-14 at most
                term = rule.product * weight * rule.weight[other] * np.exp(exponent)
                total += term
                slope += term * (rise + scratch[DOWN_SLOPES + other])
    return top + np.log(total), slope / total


@kernel
def pair_at(
    one: Record, two: Record, rule: Record, scratch: Scratch, mean: float, lead: float, replaced: Replaced
) -> tuple[float, float]:
    """Return log W of the pair at one mean, for a given lead, and its slope; both stay in scratch bet by bet."""
    read(one, rule, scratch, UP, mean, one.through, replaced.own)
    read(two, rule, scratch, DOWN, mean - lead, two.through, replaced.own)
    return log_pair_and_slope(rule, scratch, replaced.shared)


@kernel
def _fill_table(rule: Record, scratch: Scratch) -> None:
    for bet in range(rule.bets):
        for index in range(GRID + 1):
            level = rule.fixed[bet] + rule.rising[bet] * min(index / GRID, rule.clip[bet])
            scratch[TABLE + bet * (GRID + 1) + index] = np.log(level)
    scratch[FILLED] = 1.0


@kernel
def pair_near(
    one: Record, two: Record, rule: Record, scratch: Scratch, mean: float, replaced: Replaced, enough: float
) -> float:
    """Return log W at the grid point nearest to a mean, as `evidence.log_pair` does: at least the infimum.

    The gain that the bets can make there in a round is left in scratch as well. The grid saves 60 logarithms, which are
    most of the time of a check (measured with other work on the machine: .06 against .05 at epsilon = 0, 65 ns per pull
    before and 30 after; .5 against .3 at epsilon = 0.02, 865 and 290).
    """
    if scratch[FILLED] == 0.0:
        _fill_table(rule, scratch)
    index = int(mean * GRID + 0.5)
    for bet in range(rule.bets):
        up = scratch[TABLE + bet * (GRID + 1) + index]
        down = scratch[TABLE + bet * (GRID + 1) + GRID - index]
        cost = replaced.own * rule.odds[bet]
        scratch[UPS + bet] = _log_bet(one, rule, UP, bet) - one.through * up - cost
        scratch[DOWNS + bet] = _log_bet(two, rule, DOWN, bet) - two.through * down - cost
        scratch[GROWTH + bet] = rule.log_most[bet] - up
        scratch[GROWTH + BETS + bet] = rule.log_most[bet] - down
    return log_pair(rule, scratch, UPS, DOWNS, replaced.shared, enough)


@kernel
def is_proved(
    one: Record,
    two: Record,
    rule: Record,
    scratch: Scratch,
    point: float,
    lead: float,
    replaced: Replaced,
    enough: float,
) -> tuple[bool, float]:
    """Tell whether W >= exp(enough) for the pair at every mean, and where to start next time if not.

    log W is convex in the mean. The search goes downhill from `point` in growing steps, until a value is too low or the
    slope changes sign. Then it bisects between two points whose slopes point towards each other, where their tangents
    meet or half-way, until a value is too low or the tangents, which lie below log W, are high enough.
    """
    first, last = max(0.0, lead), min(1.0, 1.0 + lead)
    if first >= last:
        return lead < 0.0, point  # two means are never farther apart than the bounds
    mean = min(max(point, first), last)
    value, slope = pair_at(one, two, rule, scratch, mean, lead, replaced)
    if value < enough:
        return False, mean
    left, low, low_slope = mean, value, slope
    right, high, high_slope = mean, value, slope
    step = _STEP
    while (low_slope >= 0.0 and left > first) or (high_slope <= 0.0 and right < last):
        down = low_slope >= 0.0 and left > first
        mean = max(left - step, first) if down else min(right + step, last)
        value, slope = pair_at(one, two, rule, scratch, mean, lead, replaced)
        if value < enough:
            return False, mean
        if down:
            left, low, low_slope = mean, value, slope
        else:
            right, high, high_slope = mean, value, slope
        step *= 4.0
    if low_slope >= 0.0 or high_slope <= 0.0:
        return True, mean  # the least value is at an end, and enough
    for turn in range(200):
        meet = (high - low + low_slope * left - high_slope * right) / (low_slope - high_slope)
        if low + low_slope * (meet - left) >= enough:
            return True, mean
        mean = meet if turn & 1 == 0 else 0.5 * (left + right)
        if not left < mean < right:
            mean = 0.5 * (left + right)
        value, slope = pair_at(one, two, rule, scratch, mean, lead, replaced)
        if value < enough or right - left < 1e-14:
            break
        if slope < 0.0:
            left, low, low_slope = mean, value, slope
        else:
            right, high, high_slope = mean, value, slope
        if low_slope >= 0.0 or high_slope <= 0.0:
            return True, mean
    return False, mean
