"""The random baseline: arms drawn uniformly, stopped by the rule of Algorithm 1."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bestarm.policies.policy import Question
from bestarm.reference.g_cbai import GCBAI
from bestarm.validation import one_of

MASK64: Final = 2**64 - 1


def mix64(x: int) -> int:
    """One output of splitmix64 at state x, 0 <= x < 2^64.

    >>> hex(mix64(0))  # first output of the reference generator seeded with 0
    '0xe220a8397b1dcdaf'
    """
    x = (x + 0x9E3779B97F4A7C15) & MASK64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK64
    return x ^ (x >> 31)


def uniform_arm(seed: int, t: int, K: int) -> int:
    """The random baseline's arm after t pulls: the upper 32 of 64 mixed bits, scaled to 0..K-1."""
    return ((mix64(mix64(seed) ^ t) >> 32) * K) >> 32


class Random(GCBAI):
    """MTCD21, section Experiments, strategy (iii): each arm is drawn with the same probability (reading #14).

    With floor="arm" every arm is explored T times first. With "total" arms are drawn at random from the first pull on,
    and the method may stop after K T pulls in total.
    """

    name = "reference random"

    def __init__(
        self,
        question: Question,
        *,
        alpha: float | None = None,
        threshold: str = "theory",
        power: float = 2.0,
        exploration: str = "hoeffding",
        floor: str = "arm",
    ) -> None:
        super().__init__(question, alpha=alpha, threshold=threshold, power=power, exploration=exploration)
        one_of("floor", floor, ("arm", "total"))
        self.total = floor == "total"

    def enough(self, t: int) -> float:
        """The pulls of each arm before the stopping rule applies: no sqrt(t) here (reading #14)."""
        return self.T

    def choose(self, pending: NDArray[np.int64]) -> int:
        """An arm at random, by a hash of the seed and the pulls made; with floor="arm", exploration first."""
        if not self.total and self.unexplored(pending):
            return self.least_pulled(pending)
        return uniform_arm(self.question.seed, self.t + int(pending.sum()), self.K)

    def may_stop(self) -> bool:
        """Whether the stopping rule applies yet."""
        if self.total:
            return self.t >= self.K * self.T and all(self.rewards)  # an arm without a reward has no estimate
        return super().may_stop()

    def radius(self, arm: int) -> float:
        """Infinite before the K T pulls of floor="total", or before the arm is explored."""
        if not self.total:
            return super().radius(arm)
        n = len(self.rewards[arm])
        return math.inf if n == 0 or self.t < self.K * self.T else self.beta(n, self.t)
