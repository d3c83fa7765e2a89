"""How much higher, relatively, the mean of one arm is than that of another: section 18 of certified.md.

For rewards that cannot be negative. An uplift of b over a is mean_b / mean_a - 1. Its bounds are the least and the
largest ratio in a region that holds the two means: both in their intervals and, besides, what a test of the pair
proved, an odds ratio or a lead. So the lower bound is positive if and only if b is proved to have the higher mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bestarm.identification.comparison import Uplift
from bestarm.log.by_block import BlockEvidence
from bestarm.log.evidence import LogEvidence
from bestarm.log.exact import ExactEvidence
from bestarm.log.pricing import Allowance
from bestarm.log.ratio import RatioEvidence


class Ends(NamedTuple):
    """The ends of an interval of a mean."""

    lower: float
    upper: float


class Uplifts:
    """The uplifts of pairs of arms, in the units and the direction of the user.

    Parameters
    ----------
    evidence : LogEvidence
        The evidence; if low rewards are good ones, of rewards that were mirrored.
    allowance : Allowance
        What may be fake.
    share : float
        Of delta, for the intervals of all means together; the test of a pair is paid for elsewhere.
    is_mirrored : bool
        Whether low rewards are good ones.
    arms : sequence of int
        The arms of the pairs.
    """

    def __init__(
        self, evidence: LogEvidence, allowance: Allowance, share: float, is_mirrored: bool, arms: Sequence[int]
    ) -> None:
        self._evidence, self._allowance, self._mirrored = evidence, allowance, is_mirrored
        bounds = evidence.problem.bounds
        self._about = sum(bounds) if bounds is not None else 0.0
        self._ends = self._intervals(share, arms)

    def _intervals(self, share: float, arms: Sequence[int]) -> dict[int, Ends]:
        return intervals(self._evidence, self._allowance, share, arms)

    def _ends_of(self, b: int, a: int) -> tuple[Ends, Ends]:
        """Return the intervals of the means of two arms."""
        return self._ends[b], self._ends[a]

    def _means_of(self, b: int, a: int) -> tuple[float, float]:
        """Return the means of the rewards of two arms."""
        evidence = self._evidence
        one, other = (evidence.origin + evidence.scale * evidence.piles[index].mean for index in (b, a))
        return one, other

    def is_worse(self, b: int, a: int) -> bool:
        """Tell whether b is proved worse than a: the interval of its mean ends below that of the other."""
        one, other = self._ends_of(b, a)
        return one.upper < other.lower

    def of(self, b: int, a: int, lead: float) -> Uplift | None:
        """Return the uplift of b over a, whose lead is at least `lead`; None where rewards may be negative."""
        bounds = self._evidence.problem.bounds
        if bounds is None or bounds[0] < 0.0:
            return None
        one, other = map(self._true_ends, self._ends_of(b, a))
        if not (one.lower <= one.upper and other.lower <= other.upper):
            return None
        low = _ratio(one.lower, other.upper) - 1.0
        high = _ratio(one.upper, other.lower) - 1.0
        if self._mirrored:  # the other arm has the higher mean
            high = min(high, 1.0 / self._least(b, a, lead, other, one) - 1.0)
        else:
            low = max(low, self._least(b, a, lead, one, other) - 1.0)
        mean_b, mean_a = (self._about - mean if self._mirrored else mean for mean in self._means_of(b, a))
        return Uplift(self._evidence.problem.labels[a], _ratio(mean_b, mean_a) - 1.0, low, max(high, low))

    def _least(self, b: int, a: int, lead: float, high: Ends, low: Ends) -> float:
        """Return the least ratio of two means, by what the test of the pair proved besides their intervals.

        `high` is the interval of the arm whose true mean should be the higher one, and `low` that of the other.
        """
        bounds = self._evidence.problem.bounds
        if isinstance(self._evidence, ExactEvidence) and bounds is not None and bounds[0] == 0.0:
            log_odds = float(self._evidence.log_odds(b, np.array([a]), self._allowance)[0])
            ends = (Ends(end.lower / bounds[1], end.upper / bounds[1]) for end in (high, low))
            return least_ratio(log_odds, *ends)
        if lead > 0.0 and low.upper > 0.0:
            return 1.0 + lead / low.upper
        return 1e-300 if self._mirrored else 0.0

    def _true_ends(self, ends: Ends) -> Ends:
        return Ends(self._about - ends.upper, self._about - ends.lower) if self._mirrored else ends


class UpliftsWithin(Uplifts):
    """The uplifts of pairs of arms within blocks: of the means in the blocks that the two share.

    Each pair has two intervals, of its arms. Those of all pairs, or of all with a control, hold together, but for a
    share of delta.
    """

    _evidence: BlockEvidence

    def __init__(
        self, evidence: BlockEvidence, allowance: Allowance, share: float, is_mirrored: bool, control: int | None = None
    ) -> None:
        arms = evidence.problem.size
        pairs = arms - 1 if control is not None else arms * (arms - 1) // 2
        self._delta = share * evidence.problem.delta / (2.0 * pairs)
        self._pairs: dict[tuple[int, int], tuple[Ends, Ends]] = {}
        super().__init__(evidence, allowance, share, is_mirrored, ())

    def _intervals(self, share: float, arms: Sequence[int]) -> dict[int, Ends]:
        return {}

    def _ends_of(self, b: int, a: int) -> tuple[Ends, Ends]:
        if (b, a) not in self._pairs:
            low, high = self._evidence.problem.bounds or (-math.inf, math.inf)
            both = [self._evidence.ends_beside(*pair, self._allowance, self._delta) for pair in ((b, a), (a, b))]
            one, other = (Ends(max(lower, low), min(upper, high)) for lower, upper in both)
            self._pairs[b, a] = one, other
        return self._pairs[b, a]

    def _means_of(self, b: int, a: int) -> tuple[float, float]:
        return self._evidence.means_of(b, a)


def _ratio(one: float, other: float) -> float:
    return one / other if other > 0.0 else math.inf


def intervals(evidence: LogEvidence, allowance: Allowance, share: float, arms: Sequence[int]) -> dict[int, Ends]:
    """Return intervals of the means of some arms; those of all arms hold together, but for a share of delta."""
    if isinstance(evidence, ExactEvidence):
        lower, upper = (evidence.origin + evidence.scale * ends for ends in evidence.ends_at(share, allowance))
        return {index: Ends(float(lower[index]), float(upper[index])) for index in arms}
    problem = evidence.problem
    if isinstance(evidence, RatioEvidence):
        delta = share * problem.delta / problem.size
        return {index: Ends(*evidence.ends_at(index, allowance, delta)) for index in arms}
    few = replace(
        problem,
        labels=tuple(problem.labels[index] for index in arms),
        delta=share * problem.delta * len(arms) / problem.size,
    )
    wide = LogEvidence(few, evidence.contamination, [evidence.piles[index] for index in arms])
    at = wide.at_epsilon(allowance.chance) if allowance.chance > 0.0 else wide.at_count(0)
    at = replace(at, own=allowance.own[list(arms)], shared=allowance.shared)
    low, high = problem.bounds or (-math.inf, math.inf)
    ends = [wide.ends(place, at)[1:] for place in range(len(arms))]
    return {index: Ends(max(lower, low), min(upper, high)) for index, (lower, upper) in zip(arms, ends, strict=True)}


def least_ratio(log_odds: float, ends_b: Ends, ends_a: Ends) -> float:
    """Return the least mean of b divided by that of a, if both are in their intervals and the odds ratio is so large.

    At a mean m of a, that of b is at least g(m), the mean with the odds of m times the ratio, and the end of its
    interval. g(m) / m is monotone, falling if the ratio is above 1 and else rising, and the end divided by m falls. So
    the least is at an end of the interval of a, or where g reaches an end of that of b.
    """
    if ends_a.upper <= 0.0:
        return math.inf
    if log_odds == -math.inf:
        return ends_b.lower / ends_a.upper

    def g(mean: float, log_ratio: float) -> float:
        odds = math.exp(max(min(log_ratio, 700.0), -700.0))
        return odds * mean / (1.0 - mean + odds * mean) if mean < 1.0 else 1.0

    def fits(mean: float) -> bool:
        return max(ends_a.lower, 1e-300) <= mean <= ends_a.upper and g(mean, log_odds) <= ends_b.upper + 1e-12

    tried = (*ends_a, g(ends_b.lower, -log_odds), g(ends_b.upper, -log_odds))
    found = [max(g(mean, log_odds), ends_b.lower) / mean for mean in tried if fits(mean)]
    if ends_a.lower <= 0.0 and ends_b.lower <= 0.0:
        found.append(math.exp(max(min(log_odds, 700.0), -700.0)))  # the limit for very small means
    return min(found, default=max(ends_b.lower / ends_a.upper, float(log_odds > 0.0)))
