"""Sources that look like bots: far busier than others, devoted to one arm, or always content with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bestarm.identification.finding import Finding
from bestarm.identification.wording.log_lines import named
from bestarm.log.inspection.generous import NOBODY, Generosity, generous_sources
from bestarm.log.inspection.shapes import RATE
from bestarm.log.inspection.watch import SourceCounts, Watch, short_percent

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_LEAST = 20  # sources below which none can be unlike the others
_NORMAL_MAD = 0.6745
_GAP_RATE = 0.005  # of logs whose activity has a tail like a power law, up to a factor of two
_STEEPEST = 20.0
_NEARLY_ALL = 0.9
_ALL_KEEP = 0.9  # share of the sources that keep to one arm from which on that is how arms were given


@dataclass(frozen=True, eq=False)
class _Devotion:
    """Which sources keep to one arm more than chance allows, their favourite arms and how often they took them."""

    found: Indices
    favourite: Indices
    most: Array
    note: str = ""


def find_sources(watch: Watch) -> tuple[list[Finding], list[str]]:
    """Return at most one finding about sources that look like bots, and notes.

    Busy, devoted and generous sources are one finding, so that nobody is counted twice.
    """
    counts = watch.sources
    if counts is None or counts.total < _LEAST:
        return [], []
    busy = np.flatnonzero(counts.numbers > busiest(counts.all_numbers))
    devotion = _devoted(counts, len(watch.rewards.labels))
    notes = [devotion.note] if devotion.note else []
    generosity = generous_sources(counts, len(watch.rewards.labels)) if watch.is_rating else NOBODY
    if np.isin(generosity.found, np.union1d(busy, devotion.found)).all():
        generosity = NOBODY  # nothing new: to name no rewards is worth more to whoever leaves them out
    all_of_them = np.union1d(np.union1d(busy, devotion.found), generosity.found)
    if not all_of_them.size:
        return [], notes
    order = all_of_them[np.argsort(-counts.numbers[all_of_them], kind="stable")]
    rows = int(counts.numbers[order].sum())
    said, details = _told(watch, counts, busy, devotion, generosity)
    names = watch.names_of(counts.hashes[order])
    few = ", ".join(repr(name) for name in names[:3]) + (", ..." if len(names) > 3 else "")
    noun = watch.metric.source_word
    text = f"{watch.metric.sources(order.size)} {said} ({watch.amount(rows)})"
    details = (
        f"{watch.metric.sources(order.size)} ({few}) {details}. If they are fake, that is epsilon = "
        f"{order.size / counts.total:.2g} of the {noun}s, and {short_percent(rows / watch.total)} of all "
        f"{watch.metric.rows_word} ({rows:,})."
    )
    kind = "busy sources" if busy.size > devotion.found.size else "devoted sources"
    if generosity.found.size:
        kind = "generous sources"  # some are told by their rewards alone, which matters to whoever leaves them out
    share = rows / watch.total
    return [Finding(kind, rows, int(order.size), share, text, tuple(names), RATE, details)], notes


def _told(
    watch: Watch, counts: SourceCounts, busy: Indices, devotion: _Devotion, generosity: Generosity
) -> tuple[str, str]:
    """Return what the sources do, in a few words and at length."""
    rows, told = watch.metric.rows_word, []  # for each thing: how many do it, in a few words, and at length
    if busy.size:
        few = f"{_verb(busy, 'has', 'have')} far more {rows} than others"
        least, median = int(counts.numbers[busy].min()), int(np.median(counts.all_numbers))
        told.append((busy.size, few, f"{few} ({least:,} or more, where half have at most {median:,})"))
    if devotion.found.size:
        which = devotion.found
        share = float(devotion.most[which].sum() / counts.numbers[which].sum())
        arms, often = np.unique(devotion.favourite[which], return_counts=True)
        favoured = named(watch.rewards.labels[int(arms[np.argmax(often)])])
        their = _verb(which, "its", "their")
        part = f"nearly all {their} {rows}" if share >= _NEARLY_ALL else f"{short_percent(share)} of {their} {rows}"
        whom = favoured if arms.size == 1 else f"a single arm, most of them to {favoured}"
        few = f"{_verb(which, 'gives', 'give')} {part} to {whom}"
        told.append((which.size, few, few))
    if generosity.found.size:
        which, arm, rows = generosity.found, named(watch.rewards.labels[generosity.arm]), watch.metric.rows_word
        does = f"{_verb(which, 'rewards', 'reward')} {arm}"
        if not watch.metric.is_rate:
            does = f"{_verb(which, 'gives', 'give')} {arm} the highest {watch.metric.reward or 'reward'}"
        few = f"{does} {_how_often(generosity.theirs)}"
        theirs, others = short_percent(generosity.theirs), short_percent(generosity.others)
        their = _verb(which, "its", "their")
        told.append((which.size, few, f"{few} (in {theirs} of {their} {rows} with it, where others do in {others})"))
    if len(told) == 1:
        return told[0][1], told[0][2]
    number = max(size for size, _, _ in told)
    few = _verb(np.arange(number), "looks like a bot", "look like bots")
    if number == 1:
        each = "; ".join(f"it {long}" for _, _, long in told)
    else:
        each = "; ".join(f"{size:,} of them {long}" for size, _, long in told)
    return few, f"{few}: {each}"


def _how_often(share: float) -> str:
    """Return in words how often somebody rewards an arm.

    >>> _how_often(1.0), _how_often(0.95), _how_often(0.4)
    ('every time', 'nearly every time', 'far more often than others do')
    """
    if share >= 1.0:
        return "every time"
    return "nearly every time" if share >= _NEARLY_ALL else "far more often than others do"


def _verb(which: Indices, one: str, several: str) -> str:
    return one if which.size == 1 else several


# ---------------------------------------------------------------------------------------------------------------- busy


def busiest(numbers: Array) -> float:
    """Return the largest number of rewards of a source that is plausible, infinity if all are.

    Activity of people is skewed, so two things are asked of busy sources. They are beyond a quantile of the log-normal
    law with the quartiles of all sources, which a tenth of fakes moves little. And there is a gap below them: if the
    tail is like a power law with index a, the gap below the m largest, G = log(x_m / x_(m+1)), has m a G exponential.
    For lighter tails that errs on the safe side. The index is Hill's, from the sources below the gap.
    """
    threshold = _log_normal_limit(numbers)
    falling = -np.sort(-numbers)
    top = int(np.count_nonzero(falling > threshold))
    top = min(top, falling.size // 2 - 1)
    if top < 1:
        return float("inf")
    logs = np.concatenate([[0.0], np.cumsum(np.log(falling))])
    found = float("inf")
    for m in range(1, top + 1):
        if falling[m - 1] == falling[m]:
            continue
        k = min(max(50, m), falling.size - m - 1)
        hill = (logs[m + k] - logs[m]) / k - np.log(falling[m + k]) if k >= 10 else np.inf
        index = min(max(1.0 - 1.5 / np.sqrt(k), 0.2) / max(hill, 1e-9), _STEEPEST)
        gap = np.log(falling[m - 1] - 0.5) - np.log(falling[m] + 0.5)
        if m * index * gap >= -np.log(_GAP_RATE / m**2):
            found = 0.5 * float(falling[m - 1] + falling[m])
    return found


def _log_normal_limit(numbers: Array) -> float:
    """Return a quantile of the log-normal law fitted by quartiles; its spread is at least that of Poisson counts."""
    low, middle, high = np.quantile(numbers, [0.25, 0.5, 0.75])
    spread = max(np.log(high / middle), np.log(middle / low)) / _NORMAL_MAD
    spread = max(spread, 1.0 / np.sqrt(middle))
    return float(middle * np.exp(spread * stats.norm.isf(RATE / numbers.size)))


# ------------------------------------------------------------------------------------------------------------- devoted


def _devoted(counts: SourceCounts, arms: int) -> _Devotion:
    """Return the sources that give more of their rewards to one arm than chance allows.

    First by the binomial law. The others then show how much arms go together within a source anyhow, because a session
    has one arm, or people have a favourite: the correlation rho, with which the first are judged again, by the
    beta-binomial law.
    """
    number, source = counts.numbers, counts.source
    order = np.lexsort((-counts.times, source))
    first = order[np.searchsorted(source[order], np.arange(number.size))]
    favourite, most = counts.arm[first], counts.times[first]
    shares = _shares(counts, arms)
    eligible = (number >= 3) & (most >= 3)
    p_values = np.ones(number.size)
    p_values[eligible] = stats.binom.sf(most[eligible] - 1, number[eligible], shares[favourite[eligible]])
    level = RATE / (arms * counts.total)
    found = np.flatnonzero(eligible & (p_values <= level))
    nobody = np.empty(0, np.int64)
    rest = np.setdiff1d(np.flatnonzero(number >= 2), found)
    keep = most[rest] == number[rest]
    several = number >= 2
    if several.any() and (np.mean(keep) if rest.size >= _LEAST else np.mean((most == number)[several])) >= _ALL_KEEP:
        note = "Most sources keep to one arm, so that seems to be how arms were given to them."
        return _Devotion(nobody, favourite, most, note)
    if not found.size:
        return _Devotion(nobody, favourite, most)
    if 2 * found.size > np.count_nonzero(number >= 2):
        note = "Most sources keep to one arm, so that seems to be how arms were given to them."
        return _Devotion(nobody, favourite, most, note)
    rho = _togetherness(counts, shares, rest)
    if rho > 0.0:
        chance = np.clip(shares[favourite[found]], 1e-6, 1.0 - 1e-6)
        weight = (1.0 - rho) / rho
        again = stats.betabinom.sf(most[found] - 1, number[found], chance * weight, (1.0 - chance) * weight)
        found = found[again <= level]
    return _Devotion(found, favourite, most)


def _shares(counts: SourceCounts, arms: int) -> Array:
    """Return how likely each arm is for a source: each source counts once, or once per arm; the larger of both."""
    per_source = np.bincount(counts.arm, weights=counts.times / counts.numbers[counts.source], minlength=arms)
    per_pair = np.bincount(counts.arm, minlength=arms)
    return np.asarray(np.maximum(per_source / per_source.sum(), per_pair / per_pair.sum()), np.float64)


def _togetherness(counts: SourceCounts, shares: Array, which: Indices) -> float:
    """Return the correlation of the arms of two rewards of one source, on average over some sources."""
    if which.size < _LEAST:
        return 0.0
    same = np.bincount(counts.source, weights=counts.times * (counts.times - 1.0), minlength=counts.numbers.size)
    pairs = counts.numbers * (counts.numbers - 1.0)
    together = float(np.mean(same[which] / pairs[which]))
    by_chance = float((shares / shares.sum()) @ (shares / shares.sum()))
    error = float(np.std(same[which] / pairs[which])) / np.sqrt(which.size)
    return float(min(max((together - 2.0 * error - by_chance) / (1.0 - by_chance), 0.0), 0.999))
