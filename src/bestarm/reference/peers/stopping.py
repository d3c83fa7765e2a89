"""Chernoff's stopping rule: name the leader once its likelihood ratio against every other arm is above a threshold."""

from __future__ import annotations

import math

from bestarm.policies.policy import Estimate, Question
from bestarm.reference.peers.families import family_of, transport
from bestarm.reference.peers.thresholds import Threshold


class Chernoff:
    """What track-and-stop and top-two share: counts, sums, and when to stop (GK16, section 3.2).

    With threshold="kaufmann-koolen" a wrong arm is named with probability at most delta, whichever arms are pulled, if
    rewards are independent, of the family (or sub-Gaussian, or within the bounds), and not one of them is replaced.
    """

    def __init__(self, question: Question, threshold: str, family: str) -> None:
        self.question, self.K = question, question.arms
        self.family = family_of(family, question)
        self.beta = Threshold(threshold, question.arms, question.delta, family)
        self.N = [0] * self.K
        self.sums = [0.0] * self.K

    @property
    def t(self) -> int:
        """The rewards so far."""
        return sum(self.N)

    def observe(self, arm: int, reward: float) -> None:
        """Count a reward and add it."""
        self.N[arm] += 1
        self.sums[arm] += self.family.scaled(reward)

    def means(self) -> list[float]:
        """Sample means, once every arm has a reward."""
        return [total / n for total, n in zip(self.sums, self.N, strict=True)]

    def decision(self) -> int | None:
        """The leader if min over the others of Z(leader, other) > beta(t, delta)."""
        if not all(self.N):
            return None
        means = self.means()
        best = max(range(self.K), key=lambda a: means[a])
        others = (a for a in range(self.K) if a != best)
        Z = min(transport(self.family, means[best], self.N[best], means[a], self.N[a]) for a in others)
        return best if self.beta(self.t) < Z else None

    def estimates(self) -> list[Estimate]:
        """Sample means, without intervals."""
        pairs = zip(self.sums, self.N, strict=True)
        return [Estimate(self.family.unscaled(total / n) if n else math.nan) for total, n in pairs]
