"""The ends of an arm's interval, and whether any mean fits its rewards (sections 8 and 9 of certified.md)."""

from __future__ import annotations

import numpy as np

from bestarm.kernels.evidence import bounded as bounds
from bestarm.kernels.evidence import clean, lattice
from bestarm.kernels.evidence.clean import Sums
from bestarm.kernels.evidence.lattice import LOST, Arm
from bestarm.kernels.evidence.pair import CELLS, HALF, SUBCELLS, Scratch, log_mixture, log_sum, reaches
from bestarm.kernels.jit.compile import kernel
from bestarm.kernels.order_statistics.samples import Record

_HALVINGS = 50


@kernel
def lattice_end(arm: Arm, rule: Record, scratch: Scratch, up: bool, count: float) -> float:
    """Return the lower (up) or upper end of the interval of an arm, in the units of the bets (section 9)."""
    side, step = (lattice.UP, 1) if up else (lattice.DOWN, -1)
    row = arm.row
    begin = int(np.floor(row.location / rule.spacing + 0.5)) - row.base + HALF
    slot = lattice.edge(arm, rule, scratch, up, begin, count, rule.log_shown)
    if slot == LOST:
        return -np.inf if up else np.inf
    end = (slot - HALF + row.base) * rule.spacing + step * 0.5 * rule.spacing
    slot += step
    while 0 <= slot < CELLS and lattice.fold(arm, rule, scratch, side, slot, slot):
        near = (slot - HALF + row.base) * rule.spacing - step * 0.5 * rule.spacing
        for point in range(1, SUBCELLS + 1):
            lattice.read(arm, rule, scratch, lattice.UPS, side, slot, point, count)
            if not reaches(rule, scratch, lattice.UPS, rule.log_shown):
                return end
            end = near + step * point * rule.spacing / SUBCELLS
        slot += step
    return end


@kernel
def _lean(arm: Arm, rule: Record, scratch: Scratch, point: int, count: float) -> float:
    """Return the evidence for a mean above a sub-cell minus that for a mean below it; nan if it is out of reach."""
    slot = lattice.slot_of(arm, point)
    if not lattice.fold(arm, rule, scratch, lattice.UP, slot, slot):
        return np.nan
    if not lattice.fold(arm, rule, scratch, lattice.DOWN, slot, slot):
        return np.nan
    part = point & (SUBCELLS - 1)
    lattice.read(arm, rule, scratch, lattice.UPS, lattice.UP, slot, part + 1, count)
    lattice.read(arm, rule, scratch, lattice.DOWNS, lattice.DOWN, slot, SUBCELLS - part, count)
    return log_mixture(rule, scratch, lattice.UPS) - log_mixture(rule, scratch, lattice.DOWNS)


@kernel
def lattice_balance(arm: Arm, rule: Record, scratch: Scratch, count: float, lower: float, upper: float) -> float:
    """Return the mean in an interval at which the evidence for more and the evidence for less are equal (section 9)."""
    low, high = lattice.subcell_at(rule, lower), lattice.subcell_at(rule, upper)
    below, above = _lean(arm, rule, scratch, low, count), _lean(arm, rule, scratch, high, count)
    if not below > 0.0:  # nan too
        return lower if below <= 0.0 else 0.5 * (lower + upper)
    if not above <= 0.0:
        return upper if above > 0.0 else 0.5 * (lower + upper)
    while high - low > 1:
        middle = (low + high) // 2
        lean = _lean(arm, rule, scratch, middle, count)
        if np.isnan(lean):
            return 0.5 * (lower + upper)
        if lean > 0.0:
            low, below = middle, lean
        else:
            high, above = middle, lean
    index = low + 0.5 + below / (below - above)  # a line between the middles of the two sub-cells
    return min(max((index / SUBCELLS - 0.5) * rule.spacing, lower), upper)


@kernel
def bounded_end(row: Record, rule: Record, scratch: Scratch, up: bool, n: int, count: float) -> float:
    """Return the same for an arm with bounds: its log evidence falls (up) or rises with the mean."""
    side, index = (bounds.UP, bounds.UPS) if up else (bounds.DOWN, bounds.DOWNS)
    inside, outside = (0.0, 1.0) if up else (1.0, 0.0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        bounds.read(row, rule, scratch, side, middle, n, count)
        if log_mixture(rule, scratch, index) >= rule.log_shown:
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
def fits_no_mean(arm: Arm, rule: Record, scratch: Scratch, count: float) -> bool:
    """Tell whether the evidence against every mean is enough for an alarm: the mean of up and down (section 8)."""
    enough = rule.log_alarm + np.log(2.0)
    begin = int(np.floor(arm.row.location / rule.spacing + 0.5)) - arm.row.base + HALF
    low = lattice.edge(arm, rule, scratch, True, begin, count, enough)
    if low == LOST:
        return False
    high = lattice.edge(arm, rule, scratch, False, begin, count, enough)
    if high == LOST:
        return False
    for slot in range(low + 1, high):
        if not lattice.fold(arm, rule, scratch, lattice.UP, slot, slot):
            return False
        if not lattice.fold(arm, rule, scratch, lattice.DOWN, slot, slot):
            return False
        for part in range(SUBCELLS):
            lattice.read(arm, rule, scratch, lattice.UPS, lattice.UP, slot, part + 1, count)
            lattice.read(arm, rule, scratch, lattice.DOWNS, lattice.DOWN, slot, SUBCELLS - part, count)
            both = log_sum(log_mixture(rule, scratch, lattice.UPS), log_mixture(rule, scratch, lattice.DOWNS))
            if both < enough:
                return False
    return True
