"""Evidence on a complete log, given as values with counts (section 13 of certified.md).

The records are those of bounded.py and lattice.py, filled at once: in ascending order of the values, so that the sums
do not depend on the order of rows. On the lattice all cells that a pair may need are summed here. The others are LOST,
which only makes an answer weaker; `start` is the number of rewards, so that no kernel looks for them. Missing rewards
that count as replaced are included, with the least value of h. The price of an arm's own replaced rewards is subtracted
from the sums beforehand; `shared` is the count that all arms pay for together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.evidence import bounded as bounds
from bestarm.kernels.evidence import lattice
from bestarm.kernels.evidence.bounded import Tallies
from bestarm.kernels.evidence.intervals import bounded_end, fits_no_mean, lattice_balance, lattice_end
from bestarm.kernels.evidence.lattice import LOST, Arm, Lattice
from bestarm.kernels.evidence.limits import (
    GRID,
    POINTS,
    can_grow,
    cells_to_try,
    log_means,
    write_bounded_excess,
    write_bounded_means,
    write_lattice_excess,
)
from bestarm.kernels.evidence.pair import BETS, CELLS, GROUPS, HALF, Replaced, Scratch
from bestarm.kernels.jit.compile import entry_kernel, inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Record
from bestarm.kernels.rule import Rule

Numbers = NDArray[np.float64]

# Cells around an arm's middle cell that are summed: evidence that its mean is above m is needed mostly below it.
_FAR_SIDE, _NEAR_SIDE, _FLAT_SIDE = HALF, 8, 2
_ROOM = 1  # of rings of rewards, which no kernel reads here: the scratch serves as the pool
_LEAST_GAIN = 1e-11  # relative: how closely an infimum is bounded


class Sums(NamedTuple):
    """The sums of arms, on the lattice or within bounds (the other is None); their settings; room to work in.

    A function that asks which of the two is there also takes them as separate arguments (see `State`).
    """

    rows: Lattice | None
    tallies: Tallies | None
    rule: Rule
    scratch: Scratch


class Values(NamedTuple):
    """Rewards of an arm: distinct values, ascending, and how often each occurs."""

    values: Numbers
    counts: Numbers


# ----------------------------------------------------------------------------------------------------------- one arm


@inlined_kernel
def _block_from(counts: Numbers, begin: int) -> int:
    """Return how many values to take together: a block of values that occur once, or one value."""
    if counts[begin] != 1.0:
        return 1
    number = 1
    while number < lattice.BLOCK and begin + number < counts.size and counts[begin + number] == 1.0:
        number += 1
    return number


@entry_kernel
def tally(
    rows: Tallies, rule: Rule, index: int, values: Numbers, counts: Numbers, missing: float, scratch: Scratch
) -> None:
    """Sum log h of an arm's rewards within [0, 1], and h for the limit (section 6; every bet is a core bet here)."""
    row = rows[index]
    row.total, number = 0.0, missing
    row.ends[0] = row.ends[1] = 0
    for side in range(2):
        for bet in range(rule[0].bets):
            row.logs[side, bet] = row.firsts[side, bet] = row.squares[side, bet] = 0.0
    begin = 0
    while begin < values.size:
        block, times = _block_from(counts, begin), counts[begin]
        number += block * times
        for slot in range(block):
            scratch[slot] = values[begin + slot]
            row.total += times * scratch[slot]
        _take_block(row, rule[0], scratch, block, bounds.UP, times)
        for slot in range(block):
            scratch[slot] = 1.0 - scratch[slot]
        _take_block(row, rule[0], scratch, block, bounds.DOWN, times)
        begin += block
    row.through = int(number)


@kernel
def _take_block(row: Record, rule: Record, scratch: Scratch, number: int, side: int, times: float) -> None:
    """Add the rewards in scratch to the sums of one side, as often as they occur."""
    last = -1.0
    first = square = 0.0
    for bet in range(rule.bets):
        row.logs[side, bet] += times * np.log(bounds.block_product(scratch, number, rule.rate[bet], rule.clip[bet]))
        if rule.clip[bet] != last:  # the bets of one clip are adjacent
            last = rule.clip[bet]
            first = bounds.clipped_sum(scratch, number, last)
            square = bounds.clipped_squares(scratch, number, last)
        row.firsts[side, bet] += times * first
        row.squares[side, bet] += times * square


@kernel
def _lay_out(
    row: Record, rule: Record, scratch: Scratch, values: Numbers, begin: int, number: int, sign: float
) -> None:
    """Lay rewards in scratch, as distances from the arm's middle cell, with their exponentials."""
    middle = row.base * rule.spacing
    for index in range(number):
        x = sign * min(max(values[begin + index] - middle, -lattice.FAR), lattice.FAR)
        scratch[lattice.X + index] = x
        for group in range(GROUPS):
            if rule.group_end[group] > 0:
                scratch[lattice.EXPONENTIALS + lattice.BLOCK * group + index] = np.exp(rule.group_rate[group] * x)


@inlined_kernel
def _first_cell(side: int) -> int:
    if side in (lattice.UP, lattice.FLAT_UP):
        return HALF - _FAR_SIDE
    return HALF - (_NEAR_SIDE if side == lattice.DOWN else _FLAT_SIDE)


@inlined_kernel
def _last_cell(side: int) -> int:
    if side == lattice.UP:
        return HALF + _NEAR_SIDE
    return HALF + _FLAT_SIDE if side == lattice.FLAT_UP else CELLS - 1


@entry_kernel
def fill_cells(
    rows: Lattice, rule: Rule, index: int, values: Numbers, counts: Numbers, missing: float, scratch: Scratch
) -> None:
    """Sum log h of an arm's rewards, in units of sigma, for the cells around its middle cell `base` (section 5)."""
    row = rows[index]
    number = missing
    for position in range(counts.size):
        number += counts[position]
    row.based = 1
    row.start = row.sheeted = int(number)
    for side in range(lattice.SIDES):
        for slot in range(CELLS):
            inside = _first_cell(side) <= slot <= _last_cell(side)
            row.through[side, slot] = row.start if inside else LOST
            for bet in range(lattice.LANES):
                row.sums[side, slot, bet] = 0.0
            for bet in range(rule[0].bets):
                row.sums[side, slot, bet] = missing * np.log(rule[0].least[bet])
    begin = 0
    while begin < values.size:
        block = _block_from(counts, begin)
        for mirrored in range(2):
            _lay_out(row, rule[0], scratch, values, begin, block, 1.0 - 2.0 * mirrored)
            for flat in range(2):
                side = mirrored + 2 * flat
                for slot in range(_first_cell(side), _last_cell(side) + 1):
                    lattice.fold_block(row, rule[0], scratch, side, slot, block, counts[begin])
        begin += block


@entry_kernel
def find_ends(sums: Sums, index: int, count: float) -> tuple[float, float]:
    """Return the ends of the interval of an arm, in the units of the bets (section 9)."""
    return _ends(sums.rows, sums.tallies, sums.rule[0], sums.scratch, index, count)


@kernel
def _ends(
    rows: Lattice | None, tallies: Tallies | None, rule: Record, scratch: Scratch, index: int, count: float
) -> tuple[float, float]:
    lower, upper = -np.inf, np.inf
    if rows is not None:
        row = rows[index]
        arm = Arm(row, scratch, _ROOM, index, row.start)
        lower, upper = lattice_end(arm, rule, scratch, True, count), lattice_end(arm, rule, scratch, False, count)
    if tallies is not None:
        one = tallies[index]
        lower = bounded_end(one, rule, scratch, True, one.through, count)
        upper = bounded_end(one, rule, scratch, False, one.through, count)
    return lower, upper


@entry_kernel
def find_balance(
    rows: Lattice, rule: Rule, scratch: Scratch, index: int, count: float, lower: float, upper: float
) -> float:
    """Return the mean in the interval of an arm that the evidence supports, in the units of the bets (section 9)."""
    row = rows[index]
    return lattice_balance(Arm(row, scratch, _ROOM, index, row.start), rule[0], scratch, count, lower, upper)


@entry_kernel
def fits_none(rows: Lattice, rule: Rule, scratch: Scratch, index: int, count: float) -> bool:
    """Tell whether the rewards of an arm fit no mean (section 8)."""
    row = rows[index]
    return row.start >= 2 and fits_no_mean(Arm(row, scratch, _ROOM, index, row.start), rule[0], scratch, count)


# ------------------------------------------------------------------------------------------------------------ a pair


@kernel
def _proves(
    sums: Sums, rows: Lattice | None, tallies: Tallies | None, b: int, a: int, lead: float, shared: float, enough: float
) -> bool:
    """Tell whether b leads a by more than `lead`, in the units of the bets, with so much log evidence (section 4)."""
    rule, scratch, replaced = sums.rule[0], sums.scratch, Replaced(0.0, shared)
    proved = False
    if rows is not None:
        one, two = Arm(rows[b], scratch, _ROOM, b, rows[b].start), Arm(rows[a], scratch, _ROOM, a, rows[a].start)
        shift = lattice.shift_for(rule, lead)
        point = lattice.subcell_at(rule, 0.5 * (one.row.location + two.row.location + lead))
        proved = one.n > 0 and two.n > 0
        if proved and _is_summed(one, lattice.UP, point) and _is_summed(two, lattice.DOWN, point + shift):
            proved = lattice.weigh(one, two, rule, scratch, point, shift, replaced, -np.inf) >= enough
        if proved:
            proved, _ = lattice.is_proved(one, two, rule, scratch, point, shift, replaced, enough)
    if tallies is not None:
        first, second = tallies[b], tallies[a]
        if first.through > 0 and second.through > 0:
            point = 0.5 * (first.total / first.through + second.total / second.through + lead)
            proved, _ = bounds.is_proved(first, second, rule, scratch, point, lead, replaced, enough)
    return proved


@inlined_kernel
def _is_summed(arm: Arm, side: int, point: int) -> bool:
    return _first_cell(side) <= lattice.slot_of(arm, point) <= _last_cell(side)


@entry_kernel
def find_worse(
    sums: Sums,
    order: NDArray[np.int64],
    rivals: int,
    lead: float,
    shared: float,
    hasty: bool,
    worse: NDArray[np.int64],
) -> None:
    """Write for each arm whether some arm before it in the order is proved to be better by `lead` (section 4).

    Only the first `rivals` of the order are compared with others, which can only make an answer weaker. If `hasty`,
    stop at the first arm after the head of the order that is not proved worse.
    """
    for index in range(order.size):
        a = order[index]
        worse[a] = 0
        for other in range(min(index, rivals)):
            if _proves(sums, sums.rows, sums.tallies, order[other], a, lead, shared, sums.rule[0].log_threshold):
                worse[a] = 1
                break
        if hasty and index > 0 and worse[a] == 0:
            return


@entry_kernel
def proves(sums: Sums, b: int, a: int, lead: float, shared: float, enough: float) -> bool:
    """Tell whether b leads a by more than `lead`, in the units of the bets, with so much log evidence (section 4)."""
    return _proves(sums, sums.rows, sums.tallies, b, a, lead, shared, enough)


@kernel
def _least_log_pair(one: Record, two: Record, rule: Record, scratch: Scratch, shared: float) -> float:
    """Return a lower bound of log W over all means, by the tangents of a convex function (section 6)."""
    left, right = 0.0, 1.0
    replaced = Replaced(0.0, shared)
    low, low_slope = bounds.pair_at(one, two, rule, scratch, left, 0.0, replaced)
    high, high_slope = bounds.pair_at(one, two, rule, scratch, right, 0.0, replaced)
    if low_slope >= 0.0 or high_slope <= 0.0:
        return low if low_slope >= 0.0 else high
    meet = lower = 0.0
    for turn in range(400):
        meet = (high - low + low_slope * left - high_slope * right) / (low_slope - high_slope)
        meet = min(max(meet, left), right)
        lower = min(low + low_slope * (meet - left), high + high_slope * (meet - right))
        if min(low, high) - lower <= _LEAST_GAIN * max(abs(lower), 1.0):
            break
        mean = meet if turn & 1 == 0 and left < meet < right else 0.5 * (left + right)
        value, slope = bounds.pair_at(one, two, rule, scratch, mean, 0.0, replaced)
        if slope < 0.0:
            left, low, low_slope = mean, value, slope
        else:
            right, high, high_slope = mean, value, slope
            if slope == 0.0:
                return value
    return lower


@entry_kernel
def judge(sums: Sums, b: int, a: int, shared: float, widest: float) -> tuple[float, float]:
    """Return a lower bound of the log evidence that b is better than a, and the largest proved lead (section 9).

    The lead is sought between -widest and widest, in the units of the bets; -infinity if not even -widest is proved.
    """
    return _judge(sums, sums.rows, sums.tallies, b, a, shared, widest)


@kernel
def _judge(
    sums: Sums, rows: Lattice | None, tallies: Tallies | None, b: int, a: int, shared: float, widest: float
) -> tuple[float, float]:
    evidence = -np.inf
    if tallies is not None:
        if tallies[a].through == 0 or tallies[b].through == 0:
            return 0.0, -np.inf
        evidence = _least_log_pair(tallies[b], tallies[a], sums.rule[0], sums.scratch, shared)
    if rows is not None:
        low, high = 0.0, 1.0
        while high < 1e9 and _proves(sums, rows, tallies, b, a, 0.0, shared, high):
            low, high = high, 2.0 * high
        for _ in range(34):
            middle = 0.5 * (low + high)
            if _proves(sums, rows, tallies, b, a, 0.0, shared, middle):
                low = middle
            else:
                high = middle
        evidence = low
    enough = sums.rule[0].log_threshold
    lead, beyond = -widest, widest
    if not _proves(sums, rows, tallies, b, a, lead, shared, enough):
        return max(evidence, 0.0), -np.inf
    for _ in range(30):
        middle = 0.5 * (lead + beyond)
        if _proves(sums, rows, tallies, b, a, middle, shared, enough):
            lead = middle
        else:
            beyond = middle
    return max(evidence, 0.0), lead


# ------------------------------------------------------------------------------------------------------------ limits


@kernel
def _write_totals(rule: Record, scratch: Scratch, index: int, n: float, own: float) -> None:
    """Turn the largest mean gain per reward into that of all rewards of an arm, less its own price."""
    for bet in range(rule.bets):
        scratch[index + bet] = n * scratch[index + bet] - own * rule.odds[bet]


@entry_kernel
def is_beyond_bounds(pair: Tallies, rule: Rule, scratch: Scratch, own: Numbers, shared: float) -> bool:
    """Tell whether no term of W(b, a) can grow at some mean, as in limits.py, with n_b and n_a rewards (section 10).

    The pair are the sums of b and a, and `own` is the number of rewards of each that may have been replaced.
    """
    one, two = pair[0], pair[1]
    write_bounded_means(one, two, rule[0], scratch)
    for point in range(GRID + 1):
        write_bounded_excess(rule[0], scratch, one.total / one.through, two.total / two.through, point)
        _write_totals(rule[0], scratch, bounds.UPS, float(one.through), own[0])
        _write_totals(rule[0], scratch, bounds.DOWNS, float(two.through), own[1])
        if not can_grow(rule[0], scratch, bounds.UPS, bounds.DOWNS, Replaced(0.0, shared)):
            return True
    return False


@kernel
def _write_moments(
    row: Record, rule: Record, scratch: Scratch, rewards: Values, sign: float, slot: int, index: int
) -> int:
    """Write the sums of h and of h^2 for all bets of a cell to scratch; return how many rewards they cover."""
    for bet in range(2 * BETS):
        scratch[index + bet] = 0.0
    cell = slot if sign > 0.0 else CELLS - slot
    values, counts = rewards
    begin, number = 0, 0.0
    while begin < values.size:
        block = _block_from(counts, begin)
        _lay_out(row, rule, scratch, values, begin, block, sign)
        lattice.add_moments(rule, scratch, cell, block, counts[begin], index)
        number += block * counts[begin]
        begin += block
    return int(number)


@entry_kernel
def is_beyond_lattice(
    pair: Lattice, rule: Rule, scratch: Scratch, rewards_b: Values, rewards_a: Values, own: Numbers, shared: float
) -> bool:
    """Tell whether no term of W(b, a) can grow at some mean, as `is_beyond_bounds` does."""
    one, two = pair[0], pair[1]
    first, last = cells_to_try(one, two, rule[0])
    ups, downs = lattice.MOMENTS, lattice.MOMENTS + 2 * BETS
    for cell in range(first, last + 1):
        up, down = cell - one.base + HALF, cell - two.base + HALF
        if not (0 <= up < CELLS and 0 <= down < CELLS):
            return False
        number = _write_moments(one, rule[0], scratch, rewards_b, 1.0, up, ups)
        other = _write_moments(two, rule[0], scratch, rewards_a, -1.0, down, downs)
        if number < 2 or other < 2:
            return False
        log_means(scratch, ups, rule[0].bets, number)
        log_means(scratch, downs, rule[0].bets, other)
        for point in range(POINTS + 1):
            write_lattice_excess(rule[0], scratch, point)
            _write_totals(rule[0], scratch, lattice.UPS, float(one.start), own[0])
            _write_totals(rule[0], scratch, lattice.DOWNS, float(two.start), own[1])
            if not can_grow(rule[0], scratch, lattice.UPS, lattice.DOWNS, Replaced(0.0, shared)):
                return True
    return False
