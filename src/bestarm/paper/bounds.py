"""Tests of measured pulls against the paper's bounds; the method is that of `comparisons`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bestarm.paper.comparisons import (
    ERROR,
    FAILS,
    OPEN,
    ClaimCheck,
    Finding,
    GridPoint,
    OfOneCurve,
    mean_interval,
    verdict_of,
)
from bestarm.simulation.trials import rate_limits


@dataclass(frozen=True)
class OfCurves(ClaimCheck):
    """A test of several curves."""

    among: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The curves it looks at."""
        return self.among


@dataclass(frozen=True)
class MeanAbove(OfCurves):
    """Whether the mean pulls of all curves are at least a number everywhere: a limit, so that fewer prove nothing."""

    number: str

    words = "mean pulls of {curves} at least {number}; Student's interval"

    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return the verdict."""
        return _not_refuted(_bounded(points, self.labels, self.number, sign=1.0))


@dataclass(frozen=True)
class MeanBelow(OfOneCurve):
    """Whether the mean pulls are at most a number everywhere: the least that the claim can mean, so more is open."""

    number: str

    words = "mean pulls of {label} at most {number}; Student's interval"

    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return the verdict."""
        return _not_refuted(_bounded(points, (self.label,), self.number, sign=-1.0))


@dataclass(frozen=True)
class PullsBelow(OfOneCurve):
    """Whether a trial is longer than a number with probability at most delta, everywhere; more leaves it open."""

    number: str

    words = "share of trials of {label} longer than {number} at most delta; exact binomial limits"

    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return the verdict."""
        longer = [int((p.trials[self.label].pulls > p.numbers[self.number]).sum()) for p in points]
        limits = [
            rate_limits(count, len(point.trials[self.label]), ERROR / len(points))
            for count, point in zip(longer, points, strict=True)
        ]
        kept = [high <= point.delta for point, (_, high) in zip(points, limits, strict=True)]
        broken = [low > point.delta for point, (low, _) in zip(points, limits, strict=True)]
        longest = max(float(p.trials[self.label].pulls.max()) / p.numbers[self.number] for p in points)
        measured = f"{sum(longer)} trials longer; the longest took {longest:.3g} times the bound"
        return _not_refuted(Finding(verdict_of(all(kept), any(broken)), measured))


@dataclass(frozen=True)
class AllExplored(OfCurves):
    """Whether every arm was pulled at least T times in every trial. No chance is involved."""

    words = "smallest number of pulls of an arm, over all trials of {curves}, at least T"

    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return the verdict."""
        least = min(p.trials[name].arm_pulls.min() / math.ceil(p.numbers["T"]) for p in points for name in self.labels)
        verdict = verdict_of(bool(least >= 1.0), bool(least < 1.0))
        return Finding(verdict, f"the least-pulled arm had {least:.3g} T pulls (T rounded up)")


@dataclass(frozen=True)
class NumberBelow(ClaimCheck):
    """Whether one of the paper's numbers is below another. No chance is involved."""

    first: str
    second: str

    words = "{first} below {second}, as numbers"

    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return the verdict."""
        pairs = [(point.numbers[self.first], point.numbers[self.second]) for point in points]
        kept = all(first < second for first, second in pairs)
        first, second = max(pairs, key=lambda pair: pair[0] - pair[1])
        return Finding(verdict_of(kept, not kept), f"{first:.4g} against {second:.4g}")


@dataclass(frozen=True)
class OnlyInTheLimit(ClaimCheck):
    """A statement about delta -> 0 or an unnamed constant, which no experiment can decide."""

    reason: str

    words = "{reason}"

    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return that it can't be tested, with the figure that comes nearest."""
        last = min(points, key=lambda point: point.delta)
        ratios = [trials.mean_pulls / last.numbers["lower_bound"] for trials in last.trials.values()]
        return Finding(
            OPEN, f"at delta = {last.delta:g} mean pulls are at least {min(ratios):.3g} times H log(1/delta)"
        )


def _not_refuted(finding: Finding) -> Finding:
    return Finding(OPEN, finding.measured) if finding.verdict == FAILS else finding


def _bounded(points: Sequence[GridPoint], labels: Sequence[str], number: str, sign: float) -> Finding:
    """Judge sign * (mean pulls - number) >= 0. Trials cut short make a mean too small: they prove no upper bound."""
    kept, broken, ratios = [], [], []
    for point in points:
        for label in labels:
            trials, bound = point.trials[label], point.numbers[number]
            error = ERROR / (len(points) * len(labels))
            low, high = mean_interval(trials.pulls.astype(float), error, point.draws)
            high = math.inf if trials.undecided else high
            kept.append(low >= bound if sign > 0.0 else high <= bound)
            broken.append(high < bound if sign > 0.0 else low > bound)
            ratios.append(trials.mean_pulls / bound)
    return Finding(
        verdict_of(all(kept), any(broken)), f"mean pulls {min(ratios):.3g} to {max(ratios):.3g} times {number}"
    )
