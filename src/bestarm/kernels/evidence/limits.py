"""Whether contamination hides the remaining lead: whether any bet can still grow (section 10 of certified.md).

A bet grows in the long run only if the mean of h is above its price. If at some mean m this is true of no bet on either
arm, within a radius, more rewards of the same kind would not help. The radius is asymptotic, so this is a finding and
not part of the promise.
"""

from __future__ import annotations

import numpy as np

from bestarm.kernels.evidence import bounded as bounds
from bestarm.kernels.evidence import lattice
from bestarm.kernels.evidence.lattice import Arm
from bestarm.kernels.evidence.pair import BETS, CELLS, HALF, SUBCELLS, Replaced, Scratch, own_or_shared
from bestarm.kernels.jit.compile import kernel
from bestarm.kernels.order_statistics.samples import Record

POINTS = 8  # parts of a cell of the lattice, at the ends of which means are tried
_AROUND = 1  # cells beyond the two locations
GRID = 256  # parts of the range around two arms with bounds, at the ends of which means are tried


@kernel
def _radius(n: int) -> float:
    """Return the radius in standard errors: a mean leaves it about once in a hundred runs, for all n together."""
    return np.sqrt(2.0 * np.log(40.0 * (1.0 + np.log2(float(n))) ** 2))


@kernel
def log_means(scratch: Scratch, index: int, bets: int, number: int) -> None:
    """Turn sums of h and h^2 in scratch into logarithms of upper bounds for the mean of h."""
    z = _radius(number)
    for bet in range(bets):
        mean = scratch[index + bet] / number
        variance = max(scratch[index + BETS + bet] / number - mean * mean, 0.0)
        scratch[index + bet] = np.log(mean + z * np.sqrt(variance / number))


@kernel
def can_grow(rule: Record, scratch: Scratch, up: int, down: int, replaced: Replaced) -> bool:
    """Tell whether some term of W can grow, from the excess of log means over log prices in scratch.

    `replaced` refers to as many rewards as the excess does.
    """
    own, shared = replaced
    highest_up = highest_down = -np.inf
    for bet in range(rule.bets):
        cost = (own + shared) * rule.odds[bet]
        highest_up = max(highest_up, scratch[up + bet] - cost)
        highest_down = max(highest_down, scratch[down + bet] - cost)
    if highest_up > 0.0 or highest_down > 0.0:
        return True
    if shared == 0.0:
        return False
    for bet in range(rule.bets):
        for other in range(rule.bets):
            cost = shared * max(rule.odds[bet], rule.odds[other])
            if scratch[up + bet] + scratch[down + other] > cost:
                return True
    return False


@kernel
def cells_to_try(one: Record, two: Record, rule: Record) -> tuple[int, int]:
    """Return the first and the last cell of the lattice in which means are tried."""
    low, high = min(one.location, two.location), max(one.location, two.location)
    return (
        int(np.floor(low / rule.spacing + 0.5)) - _AROUND,
        int(np.floor(high / rule.spacing + 0.5)) + _AROUND,
    )


@kernel
def write_lattice_excess(rule: Record, scratch: Scratch, point: int) -> None:
    """Write the excess of log means over log prices to scratch, at one of the means tried in a cell."""
    part = point * (SUBCELLS // POINTS)
    ups, downs = lattice.MOMENTS, lattice.MOMENTS + 2 * BETS
    for bet in range(rule.bets):
        scratch[lattice.UPS + bet] = scratch[ups + bet] - rule.price[bet, part]
        scratch[lattice.DOWNS + bet] = scratch[downs + bet] - rule.price[bet, SUBCELLS - part]


@kernel
def is_beyond_lattice(one: Arm, two: Arm, rule: Record, scratch: Scratch, count: float) -> bool:
    """Tell whether no bet on arm b being better than arm a can grow at some mean."""
    replaced = own_or_shared(rule, count / one.n)
    first, last = cells_to_try(one.row, two.row, rule)
    ups, downs = lattice.MOMENTS, lattice.MOMENTS + 2 * BETS
    for cell in range(first, last + 1):
        up, down = cell - one.row.base + HALF, cell - two.row.base + HALF
        if not (0 <= up < CELLS and 0 <= down < CELLS):
            return False
        number = lattice.write_moments(one, rule, scratch, lattice.UP, up, ups)
        other = lattice.write_moments(two, rule, scratch, lattice.DOWN, down, downs)
        if number < 2 or other < 2:
            return False
        log_means(scratch, ups, rule.bets, number)
        log_means(scratch, downs, rule.bets, other)
        for point in range(POINTS + 1):
            write_lattice_excess(rule, scratch, point)
            if not can_grow(rule, scratch, lattice.UPS, lattice.DOWNS, replaced):
                return True
    return False


@kernel
def write_bounded_means(one: Record, two: Record, rule: Record, scratch: Scratch) -> None:
    """Write logarithms of upper bounds for the means of h of two arms with bounds to scratch."""
    ups, downs = bounds.MOMENTS, bounds.MOMENTS + 2 * BETS
    log_means(scratch, ups, rule.bets, bounds.write_moments(one, rule, scratch, bounds.UP, ups))
    log_means(scratch, downs, rule.bets, bounds.write_moments(two, rule, scratch, bounds.DOWN, downs))


@kernel
def write_bounded_excess(rule: Record, scratch: Scratch, first: float, second: float, point: int) -> None:
    """Write the excess of log means over log prices, at one of the means tried for arms with these means."""
    low, high = max(min(first, second) - 0.15, 0.0), min(max(first, second) + 0.15, 1.0)
    m = low + (high - low) * point / GRID
    ups, downs = bounds.MOMENTS, bounds.MOMENTS + 2 * BETS
    for bet in range(rule.bets):
        fixed, rising, clip = rule.fixed[bet], rule.rising[bet], rule.clip[bet]
        scratch[bounds.UPS + bet] = scratch[ups + bet] - np.log(fixed + rising * min(m, clip))
        scratch[bounds.DOWNS + bet] = scratch[downs + bet] - np.log(fixed + rising * min(1.0 - m, clip))


@kernel
def is_beyond_bounds(one: Record, two: Record, rule: Record, scratch: Scratch, n: int, count: float) -> bool:
    """Tell whether no bet on arm b being better than arm a can grow at some mean."""
    replaced = own_or_shared(rule, count / n)
    write_bounded_means(one, two, rule, scratch)
    for point in range(GRID + 1):
        write_bounded_excess(rule, scratch, one.total / n, two.total / n, point)
        if not can_grow(rule, scratch, bounds.UPS, bounds.DOWNS, replaced):
            return True
    return False
