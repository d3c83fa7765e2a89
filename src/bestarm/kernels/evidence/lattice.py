"""Evidence on sub-Gaussian rewards: bets around the cells of a lattice of means (section 5 of certified.md).

In units of sigma, y = x - c_j for the cell c_j = j w, and

    h(y) = min(C, constant + slope y + size exp(rate y))

where the exponential is either a guard (rate < 0: a reward far out on the wrong side is more likely replaced than
clean) or the bet itself (rate > 0, slope 0). *Down* is *up* for mirrored rewards and cells. The bets of cell j serve
the means m with |m - c_j| <= w/2, in sub-cells of w/64.

A cell is summed when it is needed (`fold`): from the rewards that the arm keeps, starting where it last stopped.
*Flat* bets h(max(y, y*)), where h is least at y*, hold for all means on the far side of their cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.evidence.pair import BETS, CELLS, GROUPS, HALF, SUBCELLS, Replaced, Scratch, log_pair, reaches
from bestarm.kernels.jit.compile import fast_kernel, inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Pool, Record
from bestarm.kernels.order_statistics.selection import select_last

UP, DOWN, FLAT_UP, FLAT_DOWN = 0, 1, 2, 3
SIDES = 4
LANES = 12  # most bets of a family here
BLOCK = 128  # rewards whose h are multiplied before the logarithm is taken: l^128 and C^128 are far from overflow
LOST = -1
FAR = 44.0  # every h is constant beyond 40 sigma from its cell
MOST_LOCATED = 1023  # the location of an arm is the median of this many rewards at most

lattice_dtype = np.dtype(
    [
        ("base", "i8"),  # the cell in the middle of those kept
        ("based", "i8"),
        ("location", "f8"),
        ("start", "i8"),  # the first reward that is still there
        ("sheeted", "i8"),  # rewards whose exponentials have been computed
        ("through", "i8", (SIDES, CELLS)),  # rewards summed
        ("sums", "f8", (SIDES, CELLS, LANES)),
    ]
)

# The scratch: rewards and their exponentials, then log evidence of the bets.
X = 0
EXPONENTIALS = BLOCK
UPS = BLOCK * (1 + GROUPS)
DOWNS = UPS + BETS
GROWTH = DOWNS + BETS
MOMENTS = GROWTH + 2 * BETS
_LOCATED = MOMENTS + 4 * BETS
DESK = _LOCATED + MOST_LOCATED

Lattice = NDArray[np.void]


class Arm(NamedTuple):
    """An arm and its first n rewards, the ones that count; the last of them are in its ring in the pool.

    It is made where it is needed, because numba can pass records on but not return them.
    """

    row: Record  # its sums, of lattice_dtype
    pool: Pool
    room: int  # of a ring
    ring: int  # which one: the number of the arm
    n: int


class Bet(NamedTuple):
    """h around one cell, without the rate of its exponential, which belongs to its group."""

    most: float
    constant: float
    slope: float
    size: float


@inlined_kernel
def bet_around(rule: Record, cell: int, bet: int) -> Bet:
    """Return a bet around a cell, counted from the middle one of an arm."""
    return Bet(rule.most[bet], rule.constant[cell, bet], rule.slope[bet], rule.size[cell, bet])


# -------------------------------------------------------------------------------------------------------- one arm


@fast_kernel
def _product(scratch: Scratch, number: int, exponentials: int, bet: Bet) -> float:
    """Return the product of h over a block of rewards."""
    product = 1.0
    for index in range(number):
        product *= min(bet.most, bet.constant + bet.slope * scratch[index] + bet.size * scratch[exponentials + index])
    return product


@fast_kernel
def _flat_product(scratch: Scratch, number: int, exponentials: int, bet: Bet, turn: float, least: float) -> float:
    """Return the product of h over a block of rewards, with its least value for rewards below y*."""
    product = 1.0
    for index in range(number):
        h = min(bet.most, bet.constant + bet.slope * scratch[index] + bet.size * scratch[exponentials + index])
        product *= least if scratch[index] < turn else h
    return product


@fast_kernel
def _moments(scratch: Scratch, number: int, exponentials: int, bet: Bet) -> tuple[float, float]:
    """Return the sums of h and of h^2 over a block of rewards."""
    first = second = 0.0
    for index in range(number):
        h = min(bet.most, bet.constant + bet.slope * scratch[index] + bet.size * scratch[exponentials + index])
        first += h
        second += h * h
    return first, second


@kernel
def fold_block(row: Record, rule: Record, scratch: Scratch, side: int, slot: int, number: int, times: float) -> None:
    """Add the logarithms of h over the block of rewards in scratch to the sums of a cell, `times` times."""
    cell = slot if side in (UP, FLAT_UP) else CELLS - slot  # mirrored: the middle cell is HALF either way
    first = 0
    for group in range(GROUPS):
        exponentials = EXPONENTIALS + BLOCK * group
        for bet in range(first, rule.group_end[group]):
            if side < FLAT_UP:
                product = _product(scratch, number, exponentials, bet_around(rule, cell, bet))
            else:
                turn = rule.lowest[bet] + (cell - HALF) * rule.spacing
                product = _flat_product(
                    scratch, number, exponentials, bet_around(rule, cell, bet), turn, rule.least[bet]
                )
            row.sums[side, slot, bet] += times * np.log(product)
        first = max(first, rule.group_end[group])


@kernel
def add_moments(rule: Record, scratch: Scratch, cell: int, number: int, times: float, index: int) -> None:
    """Add the sums of h and of h^2 over the block of rewards in scratch to those at an index, `times` times."""
    first = 0
    for group in range(GROUPS):
        exponentials = EXPONENTIALS + BLOCK * group
        for bet in range(first, rule.group_end[group]):
            total, squares = _moments(scratch, number, exponentials, bet_around(rule, cell, bet))
            scratch[index + bet] += times * total
            scratch[index + BETS + bet] += times * squares
        first = max(first, rule.group_end[group])


@inlined_kernel
def _block_from(room: int, begin: int, n: int) -> int:
    """Return how many rewards to take in one block, which must not wrap around the end of the ring."""
    return min(BLOCK, n - begin, room - (begin & (room - 1)))


@kernel
def _fill_sheet(arm: Arm, rule: Record, stride: int, n: int) -> None:
    """Compute the exponentials of an arm's rewards up to the n-th: once each, for all cells."""
    row, pool, room = arm.row, arm.pool, arm.room
    middle = row.base * rule.spacing
    for reward in range(max(row.sheeted, row.start), n):
        index = arm.ring * room + (reward & (room - 1))
        x = min(max(pool[index] - middle, -FAR), FAR)
        for group in range(GROUPS):
            if rule.group_end[group] > 0:
                pool[index + (group + 1) * stride] = np.exp(rule.group_rate[group] * x)
    row.sheeted = max(row.sheeted, n)


@kernel
def _lay_out(arm: Arm, rule: Record, scratch: Scratch, sign: float, begin: int, number: int) -> None:
    """Lay a block of an arm's rewards in scratch, as distances from its middle cell, with their exponentials."""
    pool = arm.pool
    stride = pool.size // (1 + GROUPS)
    _fill_sheet(arm, rule, stride, begin + number)
    middle = arm.row.base * rule.spacing
    start = arm.ring * arm.room + (begin & (arm.room - 1))
    for index in range(number):
        scratch[X + index] = sign * min(max(pool[start + index] - middle, -FAR), FAR)
    for group in range(GROUPS):
        if rule.group_end[group] > 0:
            values, exponentials = start + (group + 1) * stride, EXPONENTIALS + BLOCK * group
            for index in range(number):
                scratch[exponentials + index] = pool[values + index] if sign > 0.0 else 1.0 / pool[values + index]


@kernel
def fold(arm: Arm, rule: Record, scratch: Scratch, side: int, first: int, last: int) -> bool:
    """Sum the cells first, ..., last of an arm over the rewards that count; return False if one is out of reach."""
    row, n = arm.row, arm.n
    if first < 0 or last >= CELLS:
        return False
    begin = n
    for slot in range(first, last + 1):
        if row.through[side, slot] < min(row.start, n):  # LOST too
            return False
        begin = min(begin, row.through[side, slot])
    sign = 1.0 if side in (UP, FLAT_UP) else -1.0
    while begin < n:
        number = _block_from(arm.room, begin, n)
        for slot in range(first, last + 1):
            if row.through[side, slot] > begin:
                number = min(number, row.through[side, slot] - begin)
        _lay_out(arm, rule, scratch, sign, begin, number)
        for slot in range(first, last + 1):
            if row.through[side, slot] == begin:
                if begin == 0:
                    for bet in range(LANES):
                        row.sums[side, slot, bet] = 0.0
                fold_block(row, rule, scratch, side, slot, number, 1.0)
                row.through[side, slot] += number
        begin += number
    return True


@kernel
def write_moments(arm: Arm, rule: Record, scratch: Scratch, side: int, slot: int, index: int) -> int:
    """Write the sums of h and of h^2 over the rewards kept, for all bets of a cell, to scratch; return how many."""
    for bet in range(2 * BETS):
        scratch[index + bet] = 0.0
    cell = slot if side == UP else CELLS - slot
    begin = arm.row.start
    while begin < arm.n:
        number = _block_from(arm.room, begin, arm.n)
        _lay_out(arm, rule, scratch, 1.0 if side == UP else -1.0, begin, number)
        add_moments(rule, scratch, cell, number, 1.0, index)
        begin += number
    return arm.n - arm.row.start


@kernel
def forget_cells(row: Record) -> None:
    """Clear the sums of all cells of an arm."""
    for side in range(SIDES):
        for slot in range(CELLS):
            row.through[side, slot] = 0


@kernel
def locate(arm: Arm, rule: Record, scratch: Scratch) -> None:
    """Renew the location of an arm, the median of its last rewards; move its cells if it is far from their middle."""
    row, n, room = arm.row, arm.n, arm.room
    number = min(n - row.start, MOST_LOCATED)
    if number < 1:
        return
    for index in range(number):
        scratch[_LOCATED + index] = arm.pool[arm.ring * room + ((n - number + index) & (room - 1))]
    select_last(scratch, _LOCATED, number, number - (number >> 1), 1.0)
    median = scratch[_LOCATED + (number >> 1)]
    for index in range(number >> 1, number):
        median = min(median, scratch[_LOCATED + index])
    row.location = median
    cell = int(np.floor(row.location / rule.spacing + 0.5))
    if row.start == 0 and (row.based == 0 or abs(cell - row.base) > 8):
        row.base = cell
        row.based = 1
        row.sheeted = 0
        forget_cells(row)


@inlined_kernel
def read(arm: Arm, rule: Record, scratch: Scratch, index: int, side: int, slot: int, point: int, count: float) -> None:
    """Write the log evidence of the bets of a cell to scratch: sums less prices (sections 3 and 5)."""
    for bet in range(rule.bets):
        scratch[index + bet] = arm.row.sums[side, slot, bet] - arm.n * rule.price[bet, point] - count * rule.odds[bet]


# ----------------------------------------------------------------------------------------------------------- a pair


@inlined_kernel
def cell_of(point: int) -> int:
    """Return the cell of a sub-cell: sub-cell p spans (p / 64 - 1/2) w to ((p + 1) / 64 - 1/2) w."""
    return point >> 6


@inlined_kernel
def subcell_at(rule: Record, mean: float) -> int:
    """Return the sub-cell of a mean."""
    return int(np.floor((mean / rule.spacing + 0.5) * SUBCELLS))


@inlined_kernel
def shift_for(rule: Record, lead: float) -> int:
    """Return a lead as a shift in sub-cells: how far a's mean may be above b's, negative for a lead of b."""
    return -int(np.ceil(lead / rule.spacing * SUBCELLS - 1e-9))


@inlined_kernel
def slot_of(arm: Arm, point: int) -> int:
    """Return the slot where an arm keeps the cell of a sub-cell, if it does."""
    return cell_of(point) - arm.row.base + HALF


@kernel
def pair_at(one: Arm, two: Arm, rule: Record, scratch: Scratch, point: int, replaced: Replaced, enough: float) -> float:
    """Return log W of the pair at one sub-cell, by the cell's own sums: at least the infimum over all means.

    -infinity if it is certain to be below `enough`, nan if the cell is out of reach. The log evidence of the bets stays
    in scratch.
    """
    up, down = slot_of(one, point), slot_of(two, point)
    if not fold(one, rule, scratch, UP, up, up):
        return np.nan
    if not fold(two, rule, scratch, DOWN, down, down):
        return np.nan
    return weigh(one, two, rule, scratch, point, 0, replaced, enough)


@kernel
def weigh(
    one: Arm, two: Arm, rule: Record, scratch: Scratch, point: int, shift: int, replaced: Replaced, enough: float
) -> float:
    """Return the same at a sub-cell of b and one of a `shift` further up, whose cells have been summed."""
    up, down = slot_of(one, point), slot_of(two, point + shift)
    read(one, rule, scratch, UPS, UP, up, (point & (SUBCELLS - 1)) + 1, replaced.own)
    read(two, rule, scratch, DOWNS, DOWN, down, SUBCELLS - ((point + shift) & (SUBCELLS - 1)), replaced.own)
    return log_pair(rule, scratch, UPS, DOWNS, replaced.shared, enough)


@kernel
def write_growth(rule: Record, scratch: Scratch, point: int) -> None:
    """Write the gain that the bets of both arms can make in a round at a sub-cell to scratch."""
    part = point & (SUBCELLS - 1)
    for bet in range(rule.bets):
        scratch[GROWTH + bet] = rule.log_most[bet] - rule.price[bet, part + 1]
        scratch[GROWTH + BETS + bet] = rule.log_most[bet] - rule.price[bet, SUBCELLS - part]


@kernel
def edge(arm: Arm, rule: Record, scratch: Scratch, up: bool, begin: int, count: float, enough: float) -> int:
    """Return the cell, from `begin` outwards, beyond which an arm's evidence alone is enough (section 5).

    Outwards is downwards for the arm claimed to be better. The flat bets of a cell, at the price of its inner end, are
    below all bets of the cells beyond it; their log evidence is left in scratch. Return LOST if there is no such cell.
    """
    side, flat, step = (UP, FLAT_UP, -1) if up else (DOWN, FLAT_DOWN, 1)
    index = UPS if up else DOWNS
    slot = min(max(begin, 0), CELLS - 1)
    while 0 <= slot < CELLS:
        if not fold(arm, rule, scratch, side, slot, slot):
            return LOST
        read(arm, rule, scratch, index, side, slot, SUBCELLS, count)
        if reaches(rule, scratch, index, enough):  # flat evidence is smaller: for most cells it is not needed
            if not fold(arm, rule, scratch, flat, slot, slot):
                return LOST
            read(arm, rule, scratch, index, flat, slot, SUBCELLS, count)
            if reaches(rule, scratch, index, enough):
                return slot
        slot += step
    return LOST


@inlined_kernel
def _is_enough(
    one: Arm, two: Arm, rule: Record, scratch: Scratch, right: int, left: int, replaced: Replaced, enough: float
) -> bool:
    """Tell whether W is enough where arm b's mean ends at the point `right` and arm a's begins at the point `left`.

    Points are ends of sub-cells: `right` belongs to the cell that it ends, `left` to the one that it begins.
    """
    up, down = cell_of(right - 1), cell_of(left)
    read(one, rule, scratch, UPS, UP, up - one.row.base + HALF, right - (up << 6), replaced.own)
    read(two, rule, scratch, DOWNS, DOWN, down - two.row.base + HALF, SUBCELLS - (left - (down << 6)), replaced.own)
    return log_pair(rule, scratch, UPS, DOWNS, replaced.shared, enough) >= enough


@inlined_kernel
def _segment_end(left: int, shift: int, end: int) -> int:
    """Return the sub-cell, from `left` on, at which the cell of either arm ends."""
    return left + min(SUBCELLS - (left & (SUBCELLS - 1)), SUBCELLS - ((left + shift) & (SUBCELLS - 1)), end - left)


@kernel
def is_proved(
    one: Arm, two: Arm, rule: Record, scratch: Scratch, point: int, shift: int, replaced: Replaced, enough: float
) -> tuple[bool, int]:
    """Tell whether W >= exp(enough) at all means with a's at or above b's, and where to start next time if not.

    With a shift, a's mean is at or above b's plus that many sub-cells (section 9: a negative shift asks for a lead, a
    positive one tolerates a deficit). `point` is where to begin.
    """
    alone, count = enough - np.log(rule.alone), replaced.own + replaced.shared
    low = edge(one, rule, scratch, True, slot_of(one, point), count, alone)
    if low == LOST:
        return False, point
    high = edge(two, rule, scratch, False, slot_of(two, point + shift), count, alone)
    if high == LOST:
        return False, point
    begin = (low - HALF + one.row.base + 1) << 6
    end = ((high - HALF + two.row.base) << 6) - shift
    if begin >= end:
        return True, point
    if not fold(one, rule, scratch, UP, low + 1, slot_of(one, end - 1)):
        return False, point
    if not fold(two, rule, scratch, DOWN, slot_of(two, begin + shift), high - 1):
        return False, point
    # Both means in the same cells: within a cell evidence is monotone, so the worst case is a's mean equal to b's.
    left = begin
    length = SUBCELLS
    while left < end:
        right = min(left + length, _segment_end(left, shift, end))
        if _is_enough(one, two, rule, scratch, right, left + shift, replaced, enough):
            left = right
            length = min(2 * length, SUBCELLS)
        elif right - left > 1:
            length = (right - left + 1) >> 1
        else:
            return False, _descend(one, two, rule, scratch, left, (begin, end), shift, replaced)
    # And a's mean in a cell above that of b's: b's at the end of its cell, a's at the beginning.
    left = begin
    while left < end:
        right = _segment_end(left, shift, end)
        other = right
        while other < end:
            if cell_of(other + shift) > cell_of(left + shift) and not _is_enough(
                one, two, rule, scratch, right, other + shift, replaced, enough
            ):
                return False, point
            other = _segment_end(other, shift, end)
        left = right
    return True, point


@kernel
def _descend(
    one: Arm,
    two: Arm,
    rule: Record,
    scratch: Scratch,
    point: int,
    span: tuple[int, int],
    shift: int,
    replaced: Replaced,
) -> int:
    """Walk from a sub-cell where W is not enough to one where it is about least: the start of the next search."""
    begin, end = span
    value = weigh(one, two, rule, scratch, point, shift, replaced, -np.inf)
    step = SUBCELLS >> 1
    while step > 0:
        moved = False
        for other in (point - step, point + step):
            if begin <= other < end:
                found = weigh(one, two, rule, scratch, other, shift, replaced, -np.inf)
                if found < value:
                    point, value, moved = other, found, True
                    break
        if not moved:
            step >>= 1
    return point
