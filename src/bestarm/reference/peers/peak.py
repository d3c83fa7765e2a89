"""PEAK: bets on every arm's mean, averaged over the arms, against each hypothesis that one arm is the best."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.policies.policy import Estimate, Question

CONSTANT = 0.26  # of a bet; above 1/4, so that no factor reaches 0


class PEAK:
    """Cho, Gan & Kallus, "Peeking with PEAK: Sequential, Nonparametric Composite Hypothesis Tests for Means of Multiple
    Data Streams", ICML 2024.

    For clean rewards within bounds, here in units of 0 to 1. For every m, the capital of arm a is

        E_a(m) = product over its rewards x of 1 + (x - m)(guess - m)/0.26,

    with a guess that comes before x: (1/2 + sum of the n rewards before)/(n + 1). At the true mean each factor is
    positive and has mean 1, whichever arm is pulled next. So the average over arms of E_a(mu_a) is a martingale that
    starts at 1, and it ever reaches 1/delta with probability at most delta. The hypothesis "arm b is the best" falls
    once the average is at least 1/delta for all means with mu_b >= mu_a for all a. The hypothesis of the best arm is
    true, so that it falls with probability at most delta: no union over arms is needed. The last one left is named.

    The constant, the guess and the arms to pull (leader and challenger of LUCB, in turn) are those of the authors' code
    (brianc0413/PEAK on GitHub, BAI/bai_PEEK.R); we had only the abstract of the paper. Where the code finds zeros of
    derivatives, this takes the least over means on a grid, without an assumption on the shape of E_a. If the true means
    lie on the grid, delta is kept as it stands. Otherwise the least may be too large, by some n log(1/delta) /
    resolution^2 nats after n rewards of an arm: .001 at n = 1,000 and delta = 0.02 by default.

    Nothing is promised about replaced rewards: epsilon is ignored.

    Parameters
    ----------
    question : Question
        K, delta, bounds.
    resolution : int >= 2
        Steps of the grid between the bounds.
    """

    name = "peak"

    def __init__(self, question: Question, *, resolution: int = 2000) -> None:
        if question.bounds is None:
            raise InputError("bounds", "be given for PEAK", None, "its bets are for rewards within bounds")
        if resolution < 2:
            raise InputError("resolution", "be at least 2", resolution, "the grid needs a point between the bounds")
        self.question, self.K = question, question.arms
        self.low, high = question.bounds
        self.width = high - self.low
        self.m = np.linspace(0.0, 1.0, resolution + 1)
        self.log_E = np.zeros((self.K, resolution + 1))
        self.N = [0] * self.K
        self.sums = [0.0] * self.K
        self.standing = [True] * self.K  # hypotheses
        self.due = list(range(self.K))  # arms of this turn that have no reward yet

    def choose(self, pending: NDArray[np.int64]) -> int:
        """An arm that is due; outstanding pulls count as made."""
        return min(self.due, key=lambda a: int(pending[a]))

    def observe(self, arm: int, reward: float) -> None:
        """Bet on the reward, and drop hypotheses; a new turn begins when the last one has its rewards."""
        x = (reward - self.low) / self.width
        guess = (0.5 + self.sums[arm]) / (self.N[arm] + 1)
        self.log_E[arm] += np.log1p((x - self.m) * (guess - self.m) / CONSTANT)
        self.N[arm] += 1
        self.sums[arm] += x
        for b, log_E in enumerate(self.log_evidence()):
            if log_E >= -math.log(self.question.delta):
                self.standing[b] = False
        if arm in self.due:
            self.due.remove(arm)
        if not self.due:
            self.due = self.two()

    def log_evidence(self) -> list[float]:
        """For each arm b, the log of the least average of E_a(mu_a) over means whose highest is mu_b."""
        E = np.exp(np.minimum(self.log_E, 700.0))
        lowest = np.minimum.accumulate(E, axis=1)  # over all means up to m
        rest = lowest.sum(axis=0)
        return [float(np.log(np.min(E[b] + (rest - lowest[b])) / self.K)) for b in range(self.K)]

    def two(self) -> list[int]:
        """The leader, and the highest upper bound of the others."""
        means = [total / n for total, n in zip(self.sums, self.N, strict=True)]
        leader = max(range(self.K), key=lambda a: means[a])
        others = [a for a in range(self.K) if a != leader]
        return [leader, max(others, key=lambda a: means[a] + self.radius(self.N[a]))]

    def radius(self, n: int) -> float:
        """The radius of LUCB in the authors' code; it steers the pulls, and the promise does not depend on it."""
        log = math.log(405.5 * self.K * n**1.1 / self.question.delta)
        return math.sqrt((log + math.log(log)) / (2 * n))

    def decision(self) -> int | None:
        """The last arm whose hypothesis stands."""
        left = [arm for arm in range(self.K) if self.standing[arm]]
        if len(left) > 1:
            return None
        return left[0] if left else -1

    def estimates(self) -> list[Estimate]:
        """Sample means, without intervals; an arm whose hypothesis has fallen is not active."""
        rows = zip(self.sums, self.N, self.standing, strict=True)
        return [Estimate(self.low + self.width * s / n if n else math.nan, active=active) for s, n, active in rows]
