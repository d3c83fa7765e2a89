"""Whether one arm rises or falls at some time and the others do not, as where its tracking breaks for good."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bestarm.identification.finding import Finding
from bestarm.identification.wording.log_lines import named
from bestarm.log.inspection.days import DayTable
from bestarm.log.inspection.shapes import RATE
from bestarm.log.inspection.watch import Watch

Array = NDArray[np.float64]

_LEAST_DAYS = 3  # before and after; fewer are odd days
_LEAST_REWARDS = 200  # of the arm, and of the others, before and after
_LEAST_HITS = 20  # of the rarer kind, were they 0 and 1, so that the normal law is near
_MOST_ARMS = 20


def find_changes(watch: Watch, table: DayTable, odd: tuple[int, ...]) -> tuple[list[Finding], tuple[int, ...]]:
    """Return whether an arm changes against the others at some time, as at most one finding, and the days from then on.

    Rewards of an arm are compared with those of the others on the same day, by their difference and by their ratio:
    both must change, as the one changes with a common trend if the other is constant. Days scatter as they do; an
    approximation by the normal law. Odd days are left out.
    """
    arms = len(table.labels)
    if not 2 <= arms <= _MOST_ARMS:
        return [], ()
    rest = table.without(odd)
    which = [day for day in range(len(table.days)) if day not in odd]
    best: tuple[float, int, int] = (0.0, 0, 0)
    tests = 0
    for arm in range(arms if arms > 2 else 1):
        z = _scores(rest, arm)
        tests += int(np.count_nonzero(np.isfinite(z)))
        z = np.where(np.isfinite(z), z, 0.0)
        if z.size and z.max() > best[0]:
            best = (float(z.max()), arm, int(z.argmax()))
    p_value = 2.0 * float(stats.norm.sf(best[0])) * tests
    if not best[0] or p_value > RATE:
        return [], ()
    _, arm, first = best
    if arms == 2:  # the one that changes more by itself
        arm = int(np.argmax([abs(np.subtract(*_means(rest, [each], first))) for each in (0, 1)]))
    others = [each for each in range(arms) if each != arm]
    mine, theirs = (_means(rest, each, first) for each in ([arm], others))
    before, after = watch.metric.compared(*mine)
    theirs_before, theirs_after = watch.metric.compared(*theirs)
    rivals = named(table.labels[others[0]]) if arms == 2 else f"the other {watch.metric.arm_word}s together"
    text = (
        f"on {rest.days[first]} {named(table.labels[arm])} goes from {before} to {after}, and {rivals} from "
        f"{theirs_before} to {theirs_after}"
    )
    details = f"{text[:1].upper()}{text[1:]}. Find out what happened then."
    found = Finding("change", None, None, None, text, (str(table.labels[arm]), rest.days[first]), p_value, details)
    return [found], tuple(which[first:])


def _means(table: DayTable, arms: list[int], first: int) -> tuple[float, float]:
    """Return the mean of some arms before a day, and from it on."""
    number, sums = table.number[:, arms], table.sums[:, arms]
    return (
        float(sums[:first].sum() / max(number[:first].sum(), 1.0)),
        float(sums[first:].sum() / max(number[first:].sum(), 1.0)),
    )


def _scores(table: DayTable, arm: int) -> Array:
    """Return for each first day of a second part how clearly an arm differs between the parts, against the others."""
    other = np.arange(len(table.labels)) != arm
    number, sums = table.number[:, arm], table.sums[:, arm]
    number_rest, sums_rest = table.number[:, other].sum(axis=1), table.sums[:, other].sum(axis=1)
    low, high = float(table.lowest.min()), float(table.highest.max())
    judged = (number > 0.0) & (number_rest > 0.0)
    found = np.full(number.size, np.nan)
    if judged.sum() < 2 * _LEAST_DAYS or not high > low:
        return found
    variances = table.variances()
    own = variances[arm] / np.where(judged, number, 1.0)
    weights = table.number[:, other]
    rest = (weights**2 * (variances[other] / np.maximum(weights, 1.0))).sum(axis=1) / np.maximum(number_rest, 1.0) ** 2
    mean, mean_rest = sums / np.maximum(number, 1.0), sums_rest / np.maximum(number_rest, 1.0)
    total, total_rest = float(sums[judged].sum()), float((number * mean_rest)[judged].sum())
    ratios = [1.0] + ([total / total_rest] if low >= 0.0 and total_rest > 0.0 else [])
    scores = []
    for ratio in ratios:
        noise = own + ratio**2 * rest
        scores.append(_changes(mean - ratio * mean_rest, noise, judged))
    hits = (sums - low * number) / (high - low)
    hits_rest = (sums_rest - low * number_rest) / (high - low)
    enough = np.ones(number.size, bool)
    for many, good in ((number, hits), (number_rest, hits_rest)):
        share = good.sum() / many.sum()
        for part in (np.cumsum(many) - many, many.sum() - np.cumsum(many) + many):
            enough &= (part >= _LEAST_REWARDS) & (part * min(share, 1.0 - share) >= _LEAST_HITS)
    days = np.cumsum(judged) - judged
    enough &= (days >= _LEAST_DAYS) & (judged.sum() - days >= _LEAST_DAYS)
    found[enough] = np.min(scores, axis=0)[enough]
    return found


def _changes(apart: Array, noise: Array, judged: NDArray[np.bool_]) -> Array:
    """Return |z| of the change of the mean of some differences, for each first day of the second part.

    Where differences scatter more than chance within both parts, their scatter is the noise.
    """
    weight = np.divide(1.0, noise, out=np.zeros_like(noise), where=judged & (noise > 0.0))
    number, total, square = np.cumsum(weight), np.cumsum(weight * apart), np.cumsum(weight * apart**2)
    first, first_total = number - weight, total - weight * apart
    second, second_total = number[-1] - first, total[-1] - first_total
    with np.errstate(divide="ignore", invalid="ignore"):
        change = second_total / second - first_total / first
        inside = square[-1] - first_total**2 / first - second_total**2 / second
        scatter = np.maximum(inside / max(int(np.count_nonzero(weight)) - 2, 1), 1.0)
        return np.asarray(np.abs(change) / np.sqrt((1.0 / first + 1.0 / second) * scatter), np.float64)
