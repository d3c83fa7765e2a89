"""Evidence on sub-Gaussian rewards: bets around the cells of a lattice of means (section 5 of certified.md).

In units of sigma, y = x - c_j for the cell c_j = j w, and

    h(y) = min(C, constant + slope y + size exp(rate y))

where the exponential is either a guard (rate < 0: a reward far out on the wrong side is more likely replaced than
clean) or the bet itself (rate > 0, slope 0). *Down* is *up* for mirrored rewards and cells. The bets of cell j serve
the means m with |m - c_j| <= w/2, in sub-cells of w/64.

A cell is summed when it is asked for (`fold`): from the rewards that the arm keeps, starting where it last stopped.
*Flat* bets h(max(y, y*)), y* being where h is least, hold for all means on the far side of their cell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.evidence.pair import BETS, CELLS, GROUPS, HALF, SUBCELLS, Desk, log_pair, reaches
from bestarm.kernels.jit.compile import fast_kernel, inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Pool, Record
from bestarm.kernels.order_statistics.selection import select_last

UP, DOWN, FLAT_UP, FLAT_DOWN = 0, 1, 2, 3
SIDES = 4
LANES = 12  # most bets of a family here
BLOCK = 128  # rewards whose h are multiplied before the logarithm is taken: l^128 and C^128 are far from overflow
LOST = -1
FAR = 44.0  # every h is constant beyond 40 sigma from its cell
MOST_LOCATED = 1023  # rewards of which an arm's location is the median

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

# The desk: rewards and their exponentials, then log evidence of the bets.
X = 0
EXPONENTIALS = BLOCK
UPS = BLOCK * (1 + GROUPS)
DOWNS = UPS + BETS
GROWTH = DOWNS + BETS
MOMENTS = GROWTH + 2 * BETS
_LOCATED = MOMENTS + 4 * BETS
DESK = _LOCATED + MOST_LOCATED

Lattice = NDArray[np.void]


# -------------------------------------------------------------------------------------------------------- one arm


@fast_kernel
def _product(
    desk: Desk, number: int, exponentials: int, most: float, constant: float, slope: float, size: float
) -> float:
    """Return the product of h over a block of rewards."""
    product = 1.0
    for place in range(number):
        product *= min(most, constant + slope * desk[place] + size * desk[exponentials + place])
    return product


@fast_kernel
def _flat_product(
    desk: Desk,
    number: int,
    exponentials: int,
    most: float,
    constant: float,
    slope: float,
    size: float,
    turn: float,
    least: float,
) -> float:
    """Return the product of h over a block of rewards, with its least value for those below the turn."""
    product = 1.0
    for place in range(number):
        h = min(most, constant + slope * desk[place] + size * desk[exponentials + place])
        product *= least if desk[place] < turn else h
    return product


@fast_kernel
def moments(
    desk: Desk, number: int, exponentials: int, most: float, constant: float, slope: float, size: float
) -> tuple[float, float]:
    """Return the sums of h and of h^2 over a block of rewards."""
    first = second = 0.0
    for place in range(number):
        h = min(most, constant + slope * desk[place] + size * desk[exponentials + place])
        first += h
        second += h * h
    return first, second


@kernel
def fold_block(row: Record, rule: Record, desk: Desk, side: int, slot: int, number: int, times: float) -> None:
    """Add the logarithms of h over the block of rewards on the desk to the sums of a cell, so many times."""
    cell = slot if side in (UP, FLAT_UP) else CELLS - slot  # mirrored: the middle cell is HALF either way
    first = 0
    for group in range(GROUPS):
        exponentials = EXPONENTIALS + BLOCK * group
        for bet in range(first, rule.group_end[group]):
            if side < FLAT_UP:
                product = _product(
                    desk,
                    number,
                    exponentials,
                    rule.most[bet],
                    rule.constant[cell, bet],
                    rule.slope[bet],
                    rule.size[cell, bet],
                )
            else:
                product = _flat_product(
                    desk,
                    number,
                    exponentials,
                    rule.most[bet],
                    rule.constant[cell, bet],
                    rule.slope[bet],
                    rule.size[cell, bet],
                    rule.lowest[bet] + (cell - HALF) * rule.spacing,
                    rule.least[bet],
                )
            row.sums[side, slot, bet] += times * np.log(product)
        first = max(first, rule.group_end[group])


@inlined_kernel
def block_from(room: int, begin: int, n: int) -> int:
    """Return how many rewards to take in one block: not around the end of the ring."""
    return min(BLOCK, n - begin, room - (begin & (room - 1)))


@kernel
def _fill_sheet(row: Record, rule: Record, pool: Pool, stride: int, room: int, index: int, n: int) -> None:
    """Compute the exponentials of an arm's rewards up to the n-th: once each, for all cells."""
    middle = row.base * rule.spacing
    for reward in range(max(row.sheeted, row.start), n):
        place = index * room + (reward & (room - 1))
        x = min(max(pool[place] - middle, -FAR), FAR)
        for group in range(GROUPS):
            if rule.group_end[group] > 0:
                pool[place + (group + 1) * stride] = np.exp(rule.group_rate[group] * x)
    row.sheeted = max(row.sheeted, n)


@kernel
def lay_out(
    row: Record, rule: Record, pool: Pool, room: int, index: int, desk: Desk, sign: float, begin: int, number: int
) -> None:
    """Lay a block of an arm's rewards on the desk, as distances from its middle cell, with their exponentials."""
    stride = pool.size // (1 + GROUPS)
    _fill_sheet(row, rule, pool, stride, room, index, begin + number)
    middle = row.base * rule.spacing
    start = index * room + (begin & (room - 1))
    for place in range(number):
        desk[X + place] = sign * min(max(pool[start + place] - middle, -FAR), FAR)
    for group in range(GROUPS):
        if rule.group_end[group] > 0:
            values, exponentials = start + (group + 1) * stride, EXPONENTIALS + BLOCK * group
            for place in range(number):
                desk[exponentials + place] = pool[values + place] if sign > 0.0 else 1.0 / pool[values + place]


@kernel
def fold(
    row: Record, rule: Record, pool: Pool, room: int, index: int, desk: Desk, side: int, first: int, last: int, n: int
) -> bool:
    """Sum the cells first, ..., last of an arm up to its n-th reward; False if one of them is out of reach."""
    if first < 0 or last >= CELLS:
        return False
    begin = n
    for slot in range(first, last + 1):
        if row.through[side, slot] < min(row.start, n):  # LOST too
            return False
        begin = min(begin, row.through[side, slot])
    sign = 1.0 if side in (UP, FLAT_UP) else -1.0
    while begin < n:
        number = block_from(room, begin, n)
        for slot in range(first, last + 1):
            if row.through[side, slot] > begin:
                number = min(number, row.through[side, slot] - begin)
        lay_out(row, rule, pool, room, index, desk, sign, begin, number)
        for slot in range(first, last + 1):
            if row.through[side, slot] == begin:
                if begin == 0:
                    for bet in range(LANES):
                        row.sums[side, slot, bet] = 0.0
                fold_block(row, rule, desk, side, slot, number, 1.0)
                row.through[side, slot] += number
        begin += number
    return True


@kernel
def write_moments(
    row: Record, rule: Record, pool: Pool, room: int, index: int, desk: Desk, side: int, slot: int, n: int, place: int
) -> int:
    """Write the sums of h and of h^2 over the rewards kept, of all bets of a cell, to the desk; return how many."""
    for bet in range(2 * BETS):
        desk[place + bet] = 0.0
    cell = slot if side == UP else CELLS - slot
    begin = row.start
    while begin < n:
        number = block_from(room, begin, n)
        lay_out(row, rule, pool, room, index, desk, 1.0 if side == UP else -1.0, begin, number)
        first = 0
        for group in range(GROUPS):
            exponentials = EXPONENTIALS + BLOCK * group
            for bet in range(first, rule.group_end[group]):
                line = rule.constant[cell, bet], rule.slope[bet], rule.size[cell, bet]
                total, squares = moments(desk, number, exponentials, rule.most[bet], line[0], line[1], line[2])
                desk[place + bet] += total
                desk[place + BETS + bet] += squares
            first = max(first, rule.group_end[group])
        begin += number
    return n - row.start


@kernel
def forget_cells(row: Record) -> None:
    """Make an arm's cells those of no reward."""
    for side in range(SIDES):
        for slot in range(CELLS):
            row.through[side, slot] = 0


@kernel
def locate(row: Record, rule: Record, pool: Pool, room: int, index: int, desk: Desk, n: int) -> None:
    """Renew the location of an arm, the median of its last rewards, and move its cells if it has left their middle."""
    number = min(n - row.start, MOST_LOCATED)
    if number < 1:
        return
    for place in range(number):
        desk[_LOCATED + place] = pool[index * room + ((n - number + place) & (room - 1))]
    select_last(desk, _LOCATED, number, number - (number >> 1), 1.0)
    median = desk[_LOCATED + (number >> 1)]
    for place in range(number >> 1, number):
        median = min(median, desk[_LOCATED + place])
    row.location = median
    cell = int(np.floor(row.location / rule.spacing + 0.5))
    if row.start == 0 and (row.based == 0 or abs(cell - row.base) > 8):
        row.base = cell
        row.based = 1
        row.sheeted = 0
        forget_cells(row)


@inlined_kernel
def read(
    row: Record, rule: Record, desk: Desk, place: int, side: int, slot: int, point: int, n: int, count: float
) -> None:
    """Write the log evidence of the bets of a cell to the desk: sums less prices (sections 3 and 5)."""
    for bet in range(rule.bets):
        desk[place + bet] = row.sums[side, slot, bet] - n * rule.price[bet, point] - count * rule.odds[bet]


# ----------------------------------------------------------------------------------------------------------- a pair


@inlined_kernel
def cell_of(point: int) -> int:
    """Return the cell of a sub-cell: sub-cell p spans (p / 64 - 1/2) w to ((p + 1) / 64 - 1/2) w."""
    return point >> 6


@inlined_kernel
def subcell_at(rule: Record, mean: float) -> int:
    """Return the sub-cell of a mean."""
    return int(np.floor((mean / rule.spacing + 0.5) * SUBCELLS))


@kernel
def pair_at(
    one: Record,
    two: Record,
    rule: Record,
    pool: Pool,
    room: int,
    b: int,
    a: int,
    desk: Desk,
    point: int,
    n: int,
    own: float,
    shared: float,
    enough: float,
) -> float:
    """Return log W of the pair at one sub-cell, by the cell's own sums: at least the infimum over all means.

    -infinity if it is certain to be below `enough`, nan if the cell is out of reach. The log evidence of the bets stays
    on the desk.
    """
    up, down = cell_of(point) - one.base + HALF, cell_of(point) - two.base + HALF
    if not fold(one, rule, pool, room, b, desk, UP, up, up, n):
        return np.nan
    if not fold(two, rule, pool, room, a, desk, DOWN, down, down, n):
        return np.nan
    part = point & (SUBCELLS - 1)
    read(one, rule, desk, UPS, UP, up, part + 1, n, own)
    read(two, rule, desk, DOWNS, DOWN, down, SUBCELLS - part, n, own)
    return log_pair(rule, desk, UPS, DOWNS, shared, enough)


@kernel
def write_growth(rule: Record, desk: Desk, point: int) -> None:
    """Write to the desk what the bets of both arms can gain in a round at a sub-cell."""
    part = point & (SUBCELLS - 1)
    for bet in range(rule.bets):
        desk[GROWTH + bet] = rule.log_most[bet] - rule.price[bet, part + 1]
        desk[GROWTH + BETS + bet] = rule.log_most[bet] - rule.price[bet, SUBCELLS - part]


@kernel
def edge(
    row: Record,
    rule: Record,
    pool: Pool,
    room: int,
    index: int,
    desk: Desk,
    up: bool,
    begin: int,
    n: int,
    count: float,
    enough: float,
) -> int:
    """Return the cell, from `begin` outwards, beyond which an arm's evidence alone is enough (section 5).

    Outwards is downwards for the arm that is said to be better. The flat bets of a cell, at the price of its inner end,
    are below all bets of the cells beyond it; their log evidence is left on the desk. LOST if there is no such cell.
    """
    side, flat, step = (UP, FLAT_UP, -1) if up else (DOWN, FLAT_DOWN, 1)
    place = UPS if up else DOWNS
    slot = min(max(begin, 0), CELLS - 1)
    while 0 <= slot < CELLS:
        if not fold(row, rule, pool, room, index, desk, side, slot, slot, n):
            return LOST
        read(row, rule, desk, place, side, slot, SUBCELLS, n, count)
        if reaches(rule, desk, place, enough):  # flat evidence is less: most cells need not be asked for it
            if not fold(row, rule, pool, room, index, desk, flat, slot, slot, n):
                return LOST
            read(row, rule, desk, place, flat, slot, SUBCELLS, n, count)
            if reaches(rule, desk, place, enough):
                return slot
        slot += step
    return LOST


@inlined_kernel
def _is_enough(
    one: Record,
    two: Record,
    rule: Record,
    desk: Desk,
    right: int,
    left: int,
    n: int,
    n_two: int,
    own: float,
    shared: float,
    enough: float,
) -> bool:
    """Tell whether W is enough where arm b's mean ends at the point `right` and arm a's begins at the point `left`.

    Points are ends of sub-cells: `right` belongs to the cell that it ends, `left` to the one that it begins.
    """
    up, down = cell_of(right - 1), cell_of(left)
    read(one, rule, desk, UPS, UP, up - one.base + HALF, right - (up << 6), n, own)
    read(two, rule, desk, DOWNS, DOWN, down - two.base + HALF, SUBCELLS - (left - (down << 6)), n_two, own)
    return log_pair(rule, desk, UPS, DOWNS, shared, enough) >= enough


@inlined_kernel
def _segment_end(left: int, shift: int, end: int) -> int:
    """Return where the sub-cells from `left` on leave the cell of either arm."""
    return left + min(SUBCELLS - (left & (SUBCELLS - 1)), SUBCELLS - ((left + shift) & (SUBCELLS - 1)), end - left)


@kernel
def is_proved(
    one: Record,
    two: Record,
    rule: Record,
    pool: Pool,
    room: int,
    b: int,
    a: int,
    desk: Desk,
    point: int,
    shift: int,
    n: int,
    n_two: int,
    own: float,
    shared: float,
    enough: float,
) -> tuple[bool, int]:
    """Tell whether W >= exp(enough) at all means of b and a with a's at or above b's, and where to look first if not.

    With a shift, at or above b's plus so many sub-cells (section 9: a negative shift asks for a lead of so much, a
    positive one tolerates it). `point` is where to begin; b has n rewards and a has n_two.
    """
    alone = enough - np.log(rule.alone)
    low = edge(one, rule, pool, room, b, desk, True, cell_of(point) - one.base + HALF, n, own + shared, alone)
    if low == LOST:
        return False, point
    start = cell_of(point + shift) - two.base + HALF
    high = edge(two, rule, pool, room, a, desk, False, start, n_two, own + shared, alone)
    if high == LOST:
        return False, point
    begin = (low - HALF + one.base + 1) << 6
    end = ((high - HALF + two.base) << 6) - shift
    if begin >= end:
        return True, point
    first_down = cell_of(begin + shift) - two.base + HALF
    last_up = cell_of(end - 1) - one.base + HALF
    if not fold(one, rule, pool, room, b, desk, UP, low + 1, last_up, n):
        return False, point
    if not fold(two, rule, pool, room, a, desk, DOWN, first_down, high - 1, n_two):
        return False, point
    # Both means in the same cells: within a cell evidence is monotone, so that a's mean may be taken to be b's.
    left = begin
    length = SUBCELLS
    while left < end:
        right = min(left + length, _segment_end(left, shift, end))
        if _is_enough(one, two, rule, desk, right, left + shift, n, n_two, own, shared, enough):
            left = right
            length = min(2 * length, SUBCELLS)
        elif right - left > 1:
            length = (right - left + 1) >> 1
        else:
            return False, _descend(one, two, rule, desk, left, begin, end, shift, n, n_two, own, shared)
    # And a's mean in a cell above that of b's: b's at the end of its cell, a's at the beginning.
    left = begin
    while left < end:
        right = _segment_end(left, shift, end)
        other = right
        while other < end:
            if cell_of(other + shift) > cell_of(left + shift) and not _is_enough(
                one, two, rule, desk, right, other + shift, n, n_two, own, shared, enough
            ):
                return False, point
            other = _segment_end(other, shift, end)
        left = right
    return True, point


@kernel
def _descend(
    one: Record,
    two: Record,
    rule: Record,
    desk: Desk,
    left: int,
    begin: int,
    end: int,
    shift: int,
    n: int,
    n_two: int,
    own: float,
    shared: float,
) -> int:
    """Return a sub-cell where W is about least, from one on where it is not enough: where to look first next time."""
    point = left
    value = weigh_raw(one, two, rule, desk, point, shift, n, n_two, own, shared)
    step = SUBCELLS >> 1
    while step > 0:
        moved = False
        for other in (point - step, point + step):
            if begin <= other < end:
                found = weigh_raw(one, two, rule, desk, other, shift, n, n_two, own, shared)
                if found < value:
                    point, value, moved = other, found, True
                    break
        if not moved:
            step >>= 1
    return point


@kernel
def weigh_raw(
    one: Record,
    two: Record,
    rule: Record,
    desk: Desk,
    point: int,
    shift: int,
    n: int,
    n_two: int,
    own: float,
    shared: float,
) -> float:
    """Return log W at a sub-cell by the sums of its own cells."""
    up = cell_of(point) - one.base + HALF
    down = cell_of(point + shift) - two.base + HALF
    read(one, rule, desk, UPS, UP, up, (point & (SUBCELLS - 1)) + 1, n, own)
    read(two, rule, desk, DOWNS, DOWN, down, SUBCELLS - ((point + shift) & (SUBCELLS - 1)), n_two, own)
    return log_pair(rule, desk, UPS, DOWNS, shared, -np.inf)
