"""The statistics behind the verdicts: a test looks at all points of a grid and says holds, does not hold or open.

All statements of one test hold together with probability 95 %: each of its n points is judged at 1 - 0.05/n
(Bonferroni), so that it does not matter how they depend on each other. Nothing here knows which sentence is tested.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, t

from bestarm.scenarios.run import TOGETHER
from bestarm.simulation import Trials
from bestarm.simulation.trials import rate_limits

HOLDS, FAILS, OPEN = "holds", "does not hold", "open"
ERROR = TOGETHER  # of all statements of a test together
EQUAL = 0.01  # mean pulls that differ by less than 1 % are practically equal; so are error rates 0.01 apart


@dataclass(frozen=True)
class GridPoint:
    """One point of the grid: the trials of each curve there, by label, and the paper's numbers.

    Trials come in `draws` equal groups, one after the other, each with an adversary of its own. Conclusions are about
    the average over these adversaries.
    """

    delta: float
    epsilon: float
    trials: Mapping[str, Trials]
    numbers: Mapping[str, float]
    draws: int = 1


@dataclass(frozen=True)
class Finding:
    """What a test found: one of the three verdicts, and what was measured."""

    verdict: str
    measured: str


class ClaimCheck(ABC):
    """A test of a claim. Its `words` say what is compared with what, by the names of its fields and of the `curves`."""

    words: ClassVar[str]

    @property
    def labels(self) -> tuple[str, ...]:
        """The curves it looks at."""
        return ()

    @property
    def how(self) -> str:
        """What is compared with what, and how."""
        return self.words.format_map({**vars(self), "curves": ", ".join(self.labels)})

    @abstractmethod
    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return the verdict."""


@dataclass(frozen=True)
class OfOneCurve(ClaimCheck):
    """A test of one curve."""

    label: str

    @property
    def labels(self) -> tuple[str, ...]:
        """The curve it looks at."""
        return (self.label,)


@dataclass(frozen=True)
class OfTwoCurves(ClaimCheck):
    """A test that compares two curves."""

    first: str
    second: str

    @property
    def labels(self) -> tuple[str, ...]:
        """The curves it looks at."""
        return self.first, self.second


# -------------------------------------------------------------------------------------------------------- mean pulls


def squared_error(values: NDArray[np.float64], groups: int = 1) -> float:
    """Return the squared standard error of a mean of equal groups, from the spread within them.

    The groups are fixed, so that differences between them are no error. Where each has one value only, they count.

    >>> squared_error(np.array([1.0, 3.0, 101.0, 103.0]), groups=2)
    0.5
    """
    return float(_spreads(values, groups).mean()) / values.size


def _spreads(values: NDArray[np.float64], groups: int) -> NDArray[np.float64]:
    """Return the variance within each group; of all together, where a group has one value only."""
    return np.asarray(values.reshape(groups if values.size >= 2 * groups else 1, -1).var(axis=1, ddof=1))


def _freedom(values: NDArray[np.float64], groups: int) -> float:
    """Return the degrees of freedom of a squared error (Satterthwaite): few, if few groups have most of the spread."""
    spreads = _spreads(values, groups)
    return float(spreads.sum() ** 2 / (spreads**2).sum() * (values.size / spreads.size - 1.0))


def mean_interval(values: NDArray[np.float64], error: float, groups: int = 1) -> tuple[float, float]:
    """Return Student's interval of a mean of equal groups, wrong with probability `error`.

    >>> low, high = mean_interval(np.array([1.0, 2.0, 3.0]), 0.05)
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    if values.size < 2:
        return -math.inf, math.inf
    middle, spread = float(values.mean()), math.sqrt(squared_error(values, groups))
    width = float(t.ppf(1.0 - error / 2.0, _freedom(values, groups))) * spread if spread > 0.0 else 0.0
    return middle - width, middle + width


def relative_difference(first: Trials, second: Trials, error: float, groups: int = 1) -> tuple[float, float, float]:
    """Return mean pulls of the first over those of the second, minus 1, with an interval; trials are paired.

    A trial that was cut short would have been longer: that leaves open how much more its method needs, not how much
    less.
    """
    a, b = first.pulls.astype(float), second.pulls.astype(float)
    ratio = first.mean_pulls / second.mean_pulls
    low, high = mean_interval((a - ratio * b) / second.mean_pulls, error, groups)  # the usual linearisation of a ratio
    low = -math.inf if second.undecided else ratio - 1.0 + low
    return ratio - 1.0, low, math.inf if first.undecided else ratio - 1.0 + high


@dataclass(frozen=True)
class Fewer(OfTwoCurves):
    """Whether the first needs fewer pulls than the second.

    It does if it needs fewer somewhere and more nowhere. It does not if it needs more somewhere, or if they are
    practically equal everywhere.
    """

    words = "mean pulls of {first} below those of {second}; paired by trial, Student's interval"

    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return the verdict."""
        found = [_difference(point, self.first, self.second, len(points)) for point in points]
        kinds = Counter(_kind(low, high) for _, low, high in found)
        if kinds["more"]:
            verdict = FAILS
        elif kinds["fewer"]:
            verdict = HOLDS
        else:
            verdict = FAILS if kinds["equal"] == len(points) else OPEN
        parts = [f"{kind} at {kinds[kind]}" for kind in ("fewer", "equal", "more", "unclear") if kinds[kind]]
        shares = [share for share, _, _ in found]
        measured = f"{', '.join(parts)} of {len(points)} places; difference {range_of(shares)}"
        return Finding(verdict, measured + _mistakes(points, (self.first, self.second)))


@dataclass(frozen=True)
class Close(OfTwoCurves):
    """Whether two need the same number of pulls, up to a tolerance, everywhere."""

    tolerance: float

    @property
    def how(self) -> str:
        """What is compared."""
        return (
            f"mean pulls of {self.first} within {100.0 * self.tolerance:.0f} % of those of {self.second}; "
            "paired by trial, Student's interval"
        )

    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return the verdict."""
        found = [_difference(point, self.first, self.second, len(points)) for point in points]
        inside = [-self.tolerance <= low and high <= self.tolerance for _, low, high in found]
        outside = [low > self.tolerance or high < -self.tolerance for _, low, high in found]
        measured = f"within {100.0 * self.tolerance:.0f} % at {sum(inside)} of {len(points)} places; "
        return Finding(
            verdict_of(all(inside), any(outside)), measured + f"difference {range_of([s for s, _, _ in found])}"
        )


def _pulls(trials: Trials) -> NDArray[np.float64]:
    """Pulls per trial; nan if the cap cut a trial short, so that nothing is concluded from the mean."""
    return np.where(trials.statuses == "undecided", np.nan, trials.pulls.astype(float))


def _difference(point: GridPoint, first: str, second: str, points: int) -> tuple[float, float, float]:
    return relative_difference(point.trials[first], point.trials[second], ERROR / points, point.draws)


def _kind(low: float, high: float) -> str:
    if low >= -EQUAL and high <= EQUAL:
        return "equal"
    if high < 0.0:
        return "fewer"
    return "more" if low > 0.0 else "unclear"


# ------------------------------------------------------------------------------------------------------------ trends


@dataclass(frozen=True)
class GapShrinks(OfTwoCurves):
    """Whether the distance between the mean pulls of two shrinks as delta grows: its slope on log delta."""

    words = "slope of |mean pulls of {first} - those of {second}| on log(delta) below 0; normal interval"

    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return the verdict."""
        gaps = [_pulls(point.trials[self.first]) - _pulls(point.trials[self.second]) for point in points]
        values = [gap * (1.0 if gap.mean() >= 0.0 else -1.0) for gap in gaps]
        low, high = _slope([math.log(point.delta) for point in points], values, points[0].draws)
        scale = EQUAL * max(point.trials[self.second].mean_pulls for point in points)
        ends = sorted(points, key=lambda point: point.delta)
        pairs = [(p, p.trials[self.first].mean_pulls, p.trials[self.second].mean_pulls) for p in (ends[0], ends[-1])]
        shown = [f"{abs(first - second):,.0f} at delta = {point.delta:g}" for point, first, second in pairs]
        ratios = [first / second for _, first, second in pairs]
        flat = max(abs(low), abs(high)) * math.log(ends[-1].delta / ends[0].delta) <= scale
        measured = f"{' and '.join(shown)} pulls apart (ratios {ratios[0]:.3g} and {ratios[1]:.3g})"
        return Finding(verdict_of(high < 0.0 and not flat, low > 0.0 or flat), measured)


def _slope(levels: Sequence[float], values: Sequence[NDArray[np.float64]], groups: int) -> tuple[float, float]:
    """Interval of the least-squares slope of means on levels; points are independent, each has a seed of its own."""
    if len(levels) < 2 or any(value.size < 2 or np.isnan(value).any() for value in values):
        return -math.inf, math.inf
    weights = np.array(levels) - np.mean(levels)
    weights /= (weights**2).sum()
    slope = float(sum(w * value.mean() for w, value in zip(weights, values, strict=True)))
    variance = sum(w**2 * squared_error(value, groups) for w, value in zip(weights, values, strict=True))
    width = 1.96 * math.sqrt(float(variance))
    return slope - width, slope + width


# ------------------------------------------------------------------------------------------------------------ errors


@dataclass(frozen=True)
class ErrorsBelow(OfOneCurve):
    """Whether the probability of a wrong answer is at most a share of delta, everywhere."""

    share: float = 1.0

    @property
    def how(self) -> str:
        """What is compared."""
        limit = "delta" if self.share == 1.0 else f"{self.share:g} delta"
        return f"share of wrong answers of {self.label} at most {limit}; exact binomial limits"

    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return the verdict. Where several adversaries share the trials, it must not be broken under one of them."""
        limits = [_error_limits(point, self.label, len(points)) for point in points]
        kept = [high <= self.share * point.delta for point, (_, high) in zip(points, limits, strict=True)]
        broken = [low > self.share * point.delta for point, (low, _) in zip(points, limits, strict=True)]
        measured = _errors(points, self.label)
        for point in points:
            counts = _wrong(point.trials[self.label]).reshape(point.draws, -1)
            size, worst = counts.shape[1], int(counts.sum(axis=1).max())
            low, _ = rate_limits(worst, size, ERROR / (len(points) * point.draws))
            if point.draws > 1 and low > self.share * point.delta:
                broken.append(True)
                measured += (
                    f"; at delta = {point.delta:g}, epsilon = {point.epsilon:g} {worst} of {size} under one adversary"
                )
        return Finding(verdict_of(all(kept) and not any(broken), any(broken)), measured)


@dataclass(frozen=True)
class ErrorsAbove(OfOneCurve):
    """Whether the probability of a wrong answer is above delta somewhere."""

    words = "share of wrong answers of {label} above delta at some place; exact binomial limits"

    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return the verdict."""
        limits = [_error_limits(point, self.label, len(points)) for point in points]
        broken = [low > point.delta for point, (low, _) in zip(points, limits, strict=True)]
        kept = [high <= point.delta for point, (_, high) in zip(points, limits, strict=True)]
        return Finding(verdict_of(any(broken), all(kept)), _errors(points, self.label))


@dataclass(frozen=True)
class FewerErrors(OfTwoCurves):
    """Whether the first is wrong less often than the second: exact McNemar test of the paired trials."""

    words = "{first} wrong less often than {second} at some place, more often at none; exact McNemar test"

    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return the verdict."""
        error = ERROR / len(points)
        better = worse = small = 0
        for point in points:
            first, second = point.trials[self.first], point.trials[self.second]
            better += _shown_better(first, second, error)
            worse += _shown_better(second, first, error)
            most = int((_perhaps_wrong(second) & ~_wrong(first)).sum())
            small += rate_limits(most, len(first), error)[1] <= EQUAL
        verdict = verdict_of(better > 0 and worse == 0, worse > 0 or small == len(points))
        return Finding(verdict, f"{_errors(points, self.first)}; {_errors(points, self.second)}")


def _wrong(trials: Trials) -> NDArray[np.bool_]:
    return np.asarray((trials.answers >= 0) & ~trials.correct)


def _perhaps_wrong(trials: Trials) -> NDArray[np.bool_]:
    """A trial that was cut short might have become wrong."""
    return np.asarray(_wrong(trials) | (trials.statuses == "undecided"))


def _shown_better(first: Trials, second: Trials, error: float) -> bool:
    """Whether the first is wrong less often, even if all its trials that were cut short had become wrong."""
    gained = int((_wrong(second) & ~_perhaps_wrong(first)).sum())
    lost = int((_perhaps_wrong(first) & ~_wrong(second)).sum())
    return gained > lost and 2.0 * float(binom.cdf(lost, gained + lost, 0.5)) <= error


def _mistakes(points: Sequence[GridPoint], labels: Sequence[str]) -> str:
    """Name those that were wrong, if any: fewer pulls are worth little then."""
    parts = [_errors(points, label) for label in labels if any(point.trials[label].wrong for point in points)]
    return "".join(f"; {part}" for part in parts)


def _error_limits(point: GridPoint, label: str, points: int) -> tuple[float, float]:
    trials = point.trials[label]
    return rate_limits(trials.wrong, len(trials), ERROR / points, trials.capped)


def _errors(points: Sequence[GridPoint], label: str) -> str:
    counts = "/".join(str(point.trials[label].wrong) for point in points)
    totals = dict.fromkeys(len(point.trials[label]) for point in points)
    if len(totals) == 1:
        return f"{label} wrong {counts} times in {next(iter(totals)):,}"
    return f"{label} wrong {counts} of {'/'.join(f'{len(point.trials[label]):,}' for point in points)} times"


# ------------------------------------------------------------------------------------------------------------- words


def verdict_of(holds: bool, fails: bool) -> str:
    """Return the verdict: not testable if neither is shown."""
    return HOLDS if holds else FAILS if fails else OPEN


def range_of(shares: Sequence[float]) -> str:
    """Return the smallest and the largest share as text."""
    low, high = (f"{100.0 * share:+z.1f}" for share in (min(shares), max(shares)))
    return f"{low} %" if low == high else f"{low} to {high} %"
