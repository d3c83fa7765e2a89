"""Whether a named arm still leads when arms are compared within days; an approximation, never evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bestarm.identification.wording.log_lines import named
from bestarm.log.inspection.days import DayTable
from bestarm.problem import Label

Array = NDArray[np.float64]

_CARRIED = 0.5  # a day carries the lead if less than this part of it is left without the day


@dataclass(frozen=True)
class WithinDays:
    """What is left of a lead within days: the arm that leads, whether the named arm still leads clearly, and words."""

    leader: Label
    holds: bool
    text: str


def within_days(table: DayTable, best: Label, delta: float, *, lower_is_better: bool = False) -> WithinDays:
    """Compare a named arm with each other arm on the days that both share (Mantel and Haenszel's weights).

    It holds if the one-sided z of each comparison reaches the level delta / (K - 1). It is an approximation by the
    normal law: inspection, never evidence.

    Examples
    --------
    >>> number = np.full((2, 2), 100.0)
    >>> sums = np.array([[10.0, 30.0], [40.0, 60.0]])
    >>> table = DayTable(("A", "B"), ("Mon", "Tue"), number, sums, sums, 0.0 * sums, 0.0 * sums + 1.0, "day")
    >>> within_days(table, "B", 0.05)
    WithinDays(leader='B', holds=True, text='B leads within days')
    """
    index = table.labels.index(best)
    leads, z = _compared(table, index, lower_is_better)
    level = float(stats.norm.isf(delta / max(len(table.labels) - 1, 1)))
    worst = int(np.argmin(np.where(np.arange(z.size) == index, np.inf, z)))
    behind = np.flatnonzero((leads < 0.0) & np.isfinite(leads))
    noun = "stretches of time" if table.noun == "stretch" else f"{table.noun}s"
    if z[worst] >= level:
        return WithinDays(best, True, f"{named(best)} leads within {noun}")
    if np.isnan(leads[worst]):
        text = f"{named(best)} and {named(table.labels[worst])} share no {table.noun}"
        return WithinDays(best, False, text)
    if behind.size:
        leader = table.labels[int(behind[np.argmin(leads[behind])])]
        return WithinDays(leader, False, f"within {noun}, {named(leader)} leads {named(best)}")
    text = f"within {noun}, {named(best)} no longer leads {named(table.labels[worst])} clearly"
    return WithinDays(best, False, text)


def within_hours(hours: DayTable, best: Label, delta: float, *, lower_is_better: bool = False) -> str:
    """Return in words that a lead falls within hours, and that the hours made most of it; empty if they did not.

    Hours are short: a lead that is real is less clear within them, so that alone is no reason.

    Examples
    --------
    >>> number = np.array([[400.0, 100.0], [100.0, 400.0]])
    >>> sums = number * np.array([[0.1, 0.1], [0.4, 0.4]])
    >>> table = DayTable(("A", "B"), ("9:00", "21:00"), number, sums, sums, 0.0 * sums, 0.0 * sums + 1.0, "hour")
    >>> within_hours(table, "B", 0.05)
    'within hours, B does not lead A'
    """
    index = hours.labels.index(best)
    before, _ = _pooled(hours, index, lower_is_better)
    fallen = _fallen(hours.labels, index, before, *_compared(hours, index, lower_is_better), delta)
    return f"within hours, {fallen}" if fallen else ""


def carried_by(
    table: DayTable,
    days: Sequence[int],
    best: Label,
    delta: float,
    *,
    lower_is_better: bool = False,
    within: bool = False,
    kept: str = "",
) -> str:
    """Return in words that a lead falls without some days, and that they made most of it; empty if they did not.

    If `within`, arms are compared within days, as in the answer. If `kept` says what the other
    days are, a lead falls only if there is none on them.
    """
    compared = _compared if within else _pooled
    index = table.labels.index(best)
    before, _ = compared(table, index, lower_is_better)
    leads, z = compared(table.without(days), index, lower_is_better)
    if kept:
        leads = np.where(leads <= 0.0, leads, np.inf)
    fallen = _fallen(table.labels, index, before, leads, z, delta)
    if table.noun == "stretch":
        those = "it" if len(days) == 1 else "them"
    else:
        those = f"that {table.noun}" if len(days) == 1 else f"those {table.noun}s"
    return f"{kept or f'without {those}'}, {fallen}" if fallen else ""


def _fallen(labels: Sequence[Label], best: int, before: Array, leads: Array, z: Array, delta: float) -> str:
    """Return that an arm lost a lead, if less than half of it is left and that is not clear; else nothing."""
    level = float(stats.norm.isf(delta / max(len(labels) - 1, 1)))
    lost = (z < level) & (leads < _CARRIED * before)
    lost[best] = False
    if not lost.any():
        return ""
    rival = int(np.argmin(np.where(lost, z, np.inf)))
    verb, clearly = ("does not lead", "") if leads[rival] <= 0.0 else ("no longer leads", " clearly")
    return f"{named(labels[best])} {verb} {named(labels[rival])}{clearly}"


def _compared(table: DayTable, best: int, lower_is_better: bool) -> tuple[Array, Array]:
    """Return the lead of an arm over each other, within days, and its z; not a number, and 0, if no day is shared."""
    sign = -1.0 if lower_is_better else 1.0
    number, variance = table.number, table.variances()
    mean = sign * table.sums / np.maximum(number, 1.0)
    both = number * number[:, [best]]
    weight = np.divide(both, number + number[:, [best]], out=np.zeros_like(both), where=both > 0.0)
    total = weight.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        lead = (weight * (mean[:, [best]] - mean)).sum(axis=0) / total
        noise = variance[best] / number[:, [best]] + variance[None, :] / number
        error = np.sqrt(np.where(weight > 0.0, weight**2 * noise, 0.0).sum(axis=0)) / total
        z = np.where(error > 0.0, lead / error, np.where(lead > 0.0, np.inf, 0.0))
    return lead, np.where(total > 0.0, z, 0.0)


def _pooled(table: DayTable, best: int, lower_is_better: bool) -> tuple[Array, Array]:
    """Return the lead of an arm over each other, all days together, and its z."""
    sign = -1.0 if lower_is_better else 1.0
    number = np.maximum(table.number.sum(axis=0), 1.0)
    mean = sign * table.sums.sum(axis=0) / number
    variance = np.maximum(table.squares.sum(axis=0) / number - mean**2, 0.0) / number
    lead, error = mean[best] - mean, np.sqrt(variance[best] + variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        return lead, np.where(error > 0.0, lead / error, np.where(lead > 0.0, np.inf, 0.0))
