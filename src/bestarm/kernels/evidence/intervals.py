"""Where the interval of an arm ends, and whether any mean fits its rewards (sections 8 and 9 of certified.md)."""

from __future__ import annotations

import numpy as np

from bestarm.kernels.evidence import bounded as bounds
from bestarm.kernels.evidence import clean, lattice
from bestarm.kernels.evidence.clean import Sums
from bestarm.kernels.evidence.lattice import LOST
from bestarm.kernels.evidence.pair import CELLS, HALF, SUBCELLS, Desk, log_mixture, log_sum, reaches
from bestarm.kernels.jit.compile import kernel
from bestarm.kernels.order_statistics.samples import Pool, Record

_HALVINGS = 50


@kernel
def lattice_end(
    row: Record, rule: Record, pool: Pool, room: int, index: int, desk: Desk, up: bool, n: int, count: float
) -> float:
    """Return the lower (up) or upper end of the interval of an arm, in the units of the bets (section 9)."""
    side, step = (lattice.UP, 1) if up else (lattice.DOWN, -1)
    begin = int(np.floor(row.location / rule.spacing + 0.5)) - row.base + HALF
    slot = lattice.edge(row, rule, pool, room, index, desk, up, begin, n, count, rule.log_shown)
    if slot == LOST:
        return -np.inf if up else np.inf
    end = (slot - HALF + row.base) * rule.spacing + step * 0.5 * rule.spacing
    slot += step
    while 0 <= slot < CELLS and lattice.fold(row, rule, pool, room, index, desk, side, slot, slot, n):
        near = (slot - HALF + row.base) * rule.spacing - step * 0.5 * rule.spacing
        for point in range(1, SUBCELLS + 1):
            lattice.read(row, rule, desk, lattice.UPS, side, slot, point, n, count)
            if not reaches(rule, desk, lattice.UPS, rule.log_shown):
                return end
            end = near + step * point * rule.spacing / SUBCELLS
        slot += step
    return end


@kernel
def bounded_end(row: Record, rule: Record, desk: Desk, up: bool, n: int, count: float) -> float:
    """Return the same for an arm with bounds: its log evidence falls (up) or rises with the mean."""
    side, place = (bounds.UP, bounds.UPS) if up else (bounds.DOWN, bounds.DOWNS)
    inside, outside = (0.0, 1.0) if up else (1.0, 0.0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        bounds.read(row, rule, desk, side, middle, n, count)
        if log_mixture(rule, desk, place) >= rule.log_shown:
            inside = middle
        else:
            outside = middle
    return inside


@kernel
def clean_end(sums: Sums, rule: Record, index: int, sign: float) -> float:
    """Return the same without contamination, where it is at most 40 sigma from the mean."""
    centre = sums[index, 1] / sums[index, 0]
    inside, outside = 40.0, 0.0
    if clean.log_one_sided(sums, rule, index, centre - sign * inside, sign) < rule.log_shown:
        return -sign * np.inf
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        if clean.log_one_sided(sums, rule, index, centre - sign * middle, sign) >= rule.log_shown:
            inside = middle
        else:
            outside = middle
    return centre - sign * inside


@kernel
def fits_no_mean(
    row: Record, rule: Record, pool: Pool, room: int, index: int, desk: Desk, n: int, count: float
) -> bool:
    """Tell whether the evidence against every mean is enough for an alarm: the mean of up and down (section 8)."""
    enough = rule.log_alarm + np.log(2.0)
    begin = int(np.floor(row.location / rule.spacing + 0.5)) - row.base + HALF
    low = lattice.edge(row, rule, pool, room, index, desk, True, begin, n, count, enough)
    if low == LOST:
        return False
    high = lattice.edge(row, rule, pool, room, index, desk, False, begin, n, count, enough)
    if high == LOST:
        return False
    for slot in range(low + 1, high):
        if not lattice.fold(row, rule, pool, room, index, desk, lattice.UP, slot, slot, n):
            return False
        if not lattice.fold(row, rule, pool, room, index, desk, lattice.DOWN, slot, slot, n):
            return False
        for part in range(SUBCELLS):
            lattice.read(row, rule, desk, lattice.UPS, lattice.UP, slot, part + 1, n, count)
            lattice.read(row, rule, desk, lattice.DOWNS, lattice.DOWN, slot, SUBCELLS - part, n, count)
            both = log_sum(log_mixture(rule, desk, lattice.UPS), log_mixture(rule, desk, lattice.DOWNS))
            if both < enough:
                return False
    return True
