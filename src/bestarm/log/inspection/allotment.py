"""How rewards are divided among the arms over time: bursts, late arms, shares that change, an uneven split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bestarm.identification.finding import Finding
from bestarm.identification.wording.log_lines import named
from bestarm.identification.wording.text import capital
from bestarm.log.inspection.days import DayTable
from bestarm.log.inspection.shapes import RATE, robust_scatter
from bestarm.log.inspection.watch import Clock, Watch, short_percent

Array = NDArray[np.float64]

_BLOCKS = 512  # bursts are searched for in 512 stretches of the log, then in 128, 32 and 8 longer ones
_LATE = 0.05  # share of the log that an arm must be absent from
_TOGETHER = 5.0  # rewards that may come with the same arm, such as those of a session
_COARSE = 8
_CHANGE = 0.05  # a change of the shares of the arms that matters
_COARSE_TICK = 60.0  # seconds; as many rewards have the same time
_LONG = 0.1  # a surplus at the beginning or the end of the log that is longer is a change of the shares, not a burst
_EVEN = 0.1  # an even split was meant if all arms are so near to it
_MOST_SPLIT = 10
_SEVERAL = 1.1  # arms, or rewards, of a source on average from which many sources have several


@dataclass(frozen=True, eq=False)
class Allotment:
    """How many rewards each arm got in each stretch of a log, in the order of time; stretches have equal numbers.

    `firsts` counts each source once per arm, by its first reward; None unless the verdict counts sources.
    """

    counts: Array
    firsts: Array | None = None
    late: tuple[int, ...] = ()  # arms that begin later, or end earlier, than others
    changes: bool = False  # whether the shares of the arms change over time


def allotted(watch: Watch) -> Allotment | None:
    """Return how rewards were divided among arms over time; None without a time, or in a short or aggregated log."""
    clock = watch.clock
    if clock is None or clock.last <= clock.first or watch.is_aggregated:
        return None
    blocks = min(_BLOCKS, clock.number // watch.every // 50)
    if blocks < _COARSE:
        return None
    counts = _by_stretch(watch, watch.run("stretches", blocks=blocks, **_sampled(watch, clock)), blocks)
    firsts = None
    if watch.judges_sources:
        firsts = _by_stretch(watch, watch.run("first_stretches", blocks=blocks), blocks)
    late = tuple(arm for arm in range(len(counts)) if _is_late(counts, arm, watch.every))
    return Allotment(counts, firsts, late, bool(late) or _changes(counts / watch.every))


def _sampled(watch: Watch, clock: Clock) -> dict[str, object]:
    """Return how one reward in `every` is taken: by a hash of the row, or evenly where many rows are equal.

    Of a log that says only the day, or the minute, a hash would take all rows that are equal, or none of them.
    """
    if clock.tick >= _COARSE_TICK:
        return {"test": "true", "part": watch.every}
    return {"test": "true" if watch.every == 1 else f"hash(rest, seconds, who) % {watch.every} = 0", "part": 1}


def _by_stretch(watch: Watch, rows: dict[str, NDArray[Any]], blocks: int) -> Array:
    counts = np.zeros((len(watch.rewards.labels), blocks))
    counts[rows["arm_index"], rows["block"]] = rows["times"] * watch.every
    return counts


def _outside(counts: Array, arm: int) -> tuple[float, float]:
    """Return how many rewards of all arms come before an arm's first stretch, and after its last."""
    there = np.flatnonzero(counts[arm])
    size = counts.sum(axis=0)
    return float(size[: there[0]].sum()), float(size[there[-1] + 1 :].sum())


def _is_late(counts: Array, arm: int, every: int) -> bool:
    """Tell whether an arm is absent from the beginning or the end for longer than chance allows."""
    if not counts[arm].any():
        return False
    total, most = float(counts.sum()), max(_outside(counts, arm))
    share = min(float(counts[arm].sum()) / max(total - sum(_outside(counts, arm)), 1.0), 1.0 - 1e-9)
    chance = most / every / _TOGETHER * np.log1p(-share)
    return most >= _LATE * total and bool(chance <= np.log(RATE / (2.0 * len(counts))))


def _changes(counts: Array) -> bool:
    """Tell whether the shares of the arms differ more between the eighths of the log than within them."""
    blocks = counts.shape[1]
    return blocks >= 2 * _COARSE and _differ(counts, np.arange(_COARSE) * blocks // _COARSE)


def change_by_hour(hours: DayTable) -> bool:
    """Tell whether the shares of the arms differ more between the hours of the day than on different days at one hour.

    >>> number = np.array([[80.0, 20.0], [20.0, 80.0]] * 48) + np.arange(96.0)[:, None] % 5.0
    >>> nothing = np.zeros_like(number)
    >>> starts = tuple(3600.0 * 6.0 * np.arange(96.0))
    >>> change_by_hour(DayTable(("A", "B"), ("",) * 96, number, nothing, nothing, nothing, nothing, "hour", starts))
    True
    """
    hour = np.array(hours.starts) // 3600.0 % 24.0
    order = np.argsort(hour, kind="stable")
    return _differ(hours.number.T[:, order], np.flatnonzero(np.diff(hour[order], prepend=-1.0)))


def keep_to_an_arm(watch: Watch) -> bool:
    """Tell whether sources have an arm each and several rewards: the hours of an arm are then those of its sources."""
    counts = watch.sources
    if counts is None or counts.every > 1:
        return False
    return counts.arm.size <= _SEVERAL * counts.total and watch.total > _SEVERAL * counts.total


def _differ(counts: Array, edges: NDArray[np.intp]) -> bool:
    """Tell whether the shares of the arms differ more between groups of stretches than within them."""
    counts = counts[counts.sum(axis=1) > 0.0]
    blocks, groups = counts.shape[1], edges.size
    if len(counts) < 2 or not 2 <= groups < blocks:
        return False
    coarse = np.add.reduceat(counts, edges, axis=1)
    share = counts.sum(axis=1) / counts.sum()
    apart = 0.5 * np.abs(coarse / np.maximum(coarse.sum(axis=0), 1.0) - share[:, None]).sum(axis=0)
    between = _scatter(coarse, np.repeat(share[:, None], groups, axis=1))
    lengths = np.diff([*edges, blocks])
    within = _scatter(counts, np.repeat(coarse / np.maximum(coarse.sum(axis=0), 1.0), lengths, axis=1))
    arms = len(counts) - 1
    freedom = (groups - 1) * arms, (blocks - groups) * arms
    ratio = (between / freedom[0]) / max(within / freedom[1], 1.0)
    return bool(apart.max() >= _CHANGE and stats.f.sf(ratio, *freedom) <= RATE)


def _scatter(counts: Array, shares: Array) -> float:
    """Return Pearson's chi-squared of counts and the shares that are due."""
    due = counts.sum(axis=0) * shares
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(due > 0.0, (counts - due) ** 2 / due, 0.0).sum())


# ------------------------------------------------------------------------------------------------------------ findings


def find_late_arms(watch: Watch, allotment: Allotment) -> list[Finding]:
    """Return the arms that begin later, or end earlier, than others, as one finding."""
    if not allotment.late:
        return []
    said = []
    for arm in allotment.late[:3]:
        before, after = (part / allotment.counts.sum() for part in _outside(allotment.counts, arm))
        name = f"the {watch.metric.arm_word} {named(watch.rewards.labels[arm])}"
        rows = watch.metric.rows_word
        if before >= after:
            said.append(f"{name} starts after {short_percent(before)} of all {rows}")
        else:
            said.append(f"{name} ends before the last {short_percent(after)} of all {rows}")
    more = len(allotment.late) - len(said)
    text = ", ".join(said) + (f", and {more:,} more arms are there only for a part of the time" if more else "")
    details = capital(text) + ": arms are then compared at different times."
    what = tuple(str(watch.rewards.labels[arm]) for arm in allotment.late)
    return [Finding("late arm", None, None, None, text, what, RATE, details)]


def find_split(watch: Watch, allotment: Allotment | None, by_hour: bool) -> list[Finding]:
    """Return whether the shares of the arms change over time, or miss an even split by more than chance allows.

    `by_hour` is whether they change with the hour of the day.
    """
    arms = f"{watch.metric.arm_word}s"
    changes = allotment is not None and allotment.changes and not allotment.late
    if changes or by_hour:
        when, good, what = ("over time", "days", ()) if changes else ("with the hour of the day", "hours", ("hour",))
        text = f"the shares of the {arms} change {when}"
        details = f"{capital(text)}, so that {arms} with more of the good {good} seem better."
        return [Finding("split", None, None, None, text, what, RATE, details)]
    numbers, noun = watch.rewards.numbers.astype(np.float64), watch.metric.rows_word
    counts = watch.sources
    if counts is not None and counts.every == 1:
        numbers = np.bincount(counts.arm, minlength=numbers.size).astype(np.float64)
        noun = f"{watch.metric.source_word}s"
        if numbers.sum() > _SEVERAL * counts.total:  # most see several arms: nobody was assigned
            return []
    if watch.is_aggregated or numbers.size > _MOST_SPLIT or numbers.min() < 100:
        return []
    even = numbers.mean()
    p_value = float(stats.chisquare(numbers).pvalue)
    if np.abs(numbers / even - 1.0).max() > _EVEN or p_value > 0.1 * RATE:
        return []
    most, least = int(np.argmax(numbers)), int(np.argmin(numbers))
    labels = watch.rewards.labels
    text = (
        f"the split is uneven: {int(numbers[most]):,} {noun} for {named(labels[most])}, {int(numbers[least]):,} for "
        f"{named(labels[least])}"
    )
    details = capital(text) + ". If each was to get as many, chance alone hardly ever does that."
    return [Finding("sample ratio", None, None, None, text, (), p_value, details)]


def find_bursts(watch: Watch, allotment: Allotment) -> list[Finding]:
    """Return arms that got a far larger share of all rewards in some stretch of time than in the rest.

    The log is cut into stretches of as many rewards each, in the order of time, so that a busy hour is no burst. Were
    time and arm independent, an arm's rewards in a stretch would be hypergeometric; how much more arms vary is measured
    by the median over all stretches, as for histograms. Late arms are left out, and a long surplus at an end of the
    log: there the shares of the arms were changed.
    """
    kept = [arm for arm in range(len(allotment.counts)) if arm not in allotment.late and allotment.counts[arm].any()]
    table = allotment.counts[kept]
    blocks = table.shape[1]
    if len(kept) < 2:
        return []
    found: dict[int, Finding] = {}
    scales = [each for each in (8, 32, 128, 512) if each <= blocks]
    for cuts in scales:
        edges = np.arange(cuts) * blocks // cuts
        counts = np.add.reduceat(table, edges, axis=1)
        for p_value, index, where in _outstanding(counts / watch.every, RATE / len(scales)):
            if _is_long_end(where, cuts):
                continue
            size, here, rest, excess = _excess(counts, index, where)
            if index in found and (found[index].rows or 0) >= excess:
                continue  # keep the scale with the largest excess
            label = watch.rewards.labels[kept[index]]
            row = "in a row" if len(where) == 1 else f"in {len(where)} stretches of time"
            who = f"the {watch.metric.arm_word} {named(label)}"
            text = f"{who} gets a burst of {watch.metric.rows_word} ({watch.amount(excess)})"
            details = (
                f"{str(label)!r} has {100.0 * here / size:.3g} % of {int(size):,} {watch.metric.rows_word} {row}, and "
                f"{100.0 * rest:.3g} % of the others. The excess of {excess:,} would be "
                f"{100.0 * excess / watch.total:.2g} % of all, if it is fake."
            )
            sources = None
            if allotment.firsts is not None:
                sources = max(_excess(np.add.reduceat(allotment.firsts[kept], edges, axis=1), index, where)[-1], 0)
            p_value, share = min(p_value * len(scales), 1.0), excess / watch.total
            found[index] = Finding("burst", excess, sources, share, text, (str(label),), p_value, details)
    return sorted(found.values(), key=lambda finding: -(finding.rows or 0))


def _excess(counts: Array, arm: int, where: list[int]) -> tuple[float, float, float, int]:
    """Return what all arms have in some stretches, what one arm has, its share elsewhere, and how many exceed that."""
    size, here = float(counts[:, where].sum()), float(counts[arm, where].sum())
    rest = (float(counts[arm].sum()) - here) / max(float(counts.sum()) - size, 1.0)
    return size, here, rest, round((here - rest * size) / max(1.0 - rest, 1e-9))


def _is_long_end(where: list[int], cuts: int) -> bool:
    """Tell whether stretches are a long piece at the beginning or the end of the log."""
    long = len(where) > _LONG * cuts
    return long and (where[-1] == len(where) - 1 or where[0] == cuts - len(where) or len(where) > cuts // 4)


def _outstanding(counts: Array, rate: float) -> list[tuple[float, int, list[int]]]:
    """Return the arms with improbably many rewards in some blocks: p-value over all cells, arm, blocks."""
    size, number = counts.sum(axis=0), counts.sum(axis=1)
    total = counts.sum()
    expected = number[:, None] * size[None, :] / total
    judged = expected >= 1.0
    if not judged.any():
        return []
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(counts > 0.0, counts * np.log(counts / expected), 0.0)
        others, due = size - counts, size - expected
        outside = np.where(others > 0.0, others * np.log(others / due), 0.0)
    deviance = 2.0 * (inside + outside)
    weights = np.broadcast_to(size, counts.shape)
    rho = robust_scatter(deviance[judged], weights[judged], 1)
    ratio = deviance / (1.0 + np.maximum(weights - 1.0, 0.0) * rho)  # a block may be empty, and none of it is judged
    tail = 0.5 * stats.chi2.sf(ratio, 1) * int(judged.sum())  # one-sided
    found = np.argwhere(judged & (counts > expected) & (tail <= rate))
    arms = {int(arm): found[found[:, 0] == arm, 1].tolist() for arm in found[:, 0]}
    return [(float(tail[arm, where].min()), arm, where) for arm, where in arms.items()]
