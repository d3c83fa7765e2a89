"""What the methods of this folder know of the rewards: the divergence d, likelihood ratios, and optimal proportions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from scipy.optimize import brentq

from bestarm.errors import InputError
from bestarm.phrases import Phrase, Setting
from bestarm.policies.policy import Question
from bestarm.validation import one_of


class Family(Protocol):
    """A one-parameter exponential family; means are in the unit of `scaled`."""

    name: str

    def scaled(self, reward: float) -> float:
        """The reward in the unit of the family."""
        ...

    def unscaled(self, mean: float) -> float:
        """The mean in the unit of the rewards."""
        ...

    def d(self, x: float, y: float) -> float:
        """The relative entropy of the law with mean x from that with mean y."""
        ...

    def share(self, best: float, other: float, cost: float) -> float:
        """The x >= 0 where d(best, m) + x d(other, m) is `cost`, with m = (best + x other)/(1 + x)."""
        ...

    def inside(self, mean: float) -> float:
        """The mean, or one nearby that has no infinite d."""
        ...


class Gaussian:
    """Rewards are normal with variance sigma^2; the unit is sigma."""

    name = "gaussian"

    def __init__(self, question: Question) -> None:
        self.sigma = question.sigma

    def scaled(self, reward: float) -> float:
        return reward / self.sigma

    def unscaled(self, mean: float) -> float:
        return mean * self.sigma

    def d(self, x: float, y: float) -> float:
        return (x - y) * (x - y) / 2

    def share(self, best: float, other: float, cost: float) -> float:
        return cost / (self.d(best, other) - cost)

    def inside(self, mean: float) -> float:
        return mean


class Bernoulli:
    """Rewards are 0 or 1, or the two bounds. Rewards between the bounds are fine: their deviations are no larger."""

    name = "bernoulli"

    def __init__(self, question: Question) -> None:
        if question.bounds is None:
            rule = Phrase("be given with {}", Setting("family", self.name))
            raise InputError("bounds", rule, None, "rewards of 0 and 1 have the bounds 0 and 1")
        self.low, high = question.bounds
        self.width = high - self.low

    def scaled(self, reward: float) -> float:
        return (reward - self.low) / self.width

    def unscaled(self, mean: float) -> float:
        return self.low + self.width * mean

    def d(self, x: float, y: float) -> float:
        success = x * math.log(x / y) if x > 0 else 0.0
        failure = (1 - x) * math.log((1 - x) / (1 - y)) if x < 1 else 0.0
        return success + failure

    def share(self, best: float, other: float, cost: float) -> float:
        def excess(x: float) -> float:
            return transport(self, best, 1.0, other, x) - cost

        high = 1.0
        while excess(high) < 0:
            high *= 2
        return float(brentq(excess, 0.0, high, xtol=1e-9 * high, rtol=1e-9))

    def inside(self, mean: float) -> float:
        return min(max(mean, 1e-4), 1 - 1e-4)


def family_of(name: str, question: Question) -> Family:
    """Return a family by its name."""
    one_of("family", name, ("gaussian", "bernoulli"))
    return Gaussian(question) if name == "gaussian" else Bernoulli(question)


def transport(family: Family, best: float, n_best: float, other: float, n_other: float) -> float:
    """The least of n_best d(best, m) + n_other d(other, m): the log likelihood ratio of `best` > `other`.

    GK16 writes Z for it, JDBKK22 transportation cost. It is 0 if the other mean is not smaller.
    """
    if other >= best:
        return 0.0
    m = (n_best * best + n_other * other) / (n_best + n_other)
    return n_best * family.d(best, m) + n_other * family.d(other, m)


def optimal_proportions(family: Family, means: Sequence[float]) -> list[float]:
    """The proportions w* of pulls that suit these means, of which one is the highest (GK16, Theorem 5).

    With x_a = w_a/w_best and m_a = (best + x_a mu_a)/(1 + x_a), the transportation costs of all arms are the same, and
    the sum over a of d(best, m_a)/d(mu_a, m_a) is 1.
    """
    best = max(range(len(means)), key=lambda a: means[a])
    others = [a for a in range(len(means)) if a != best]
    nearest = max(others, key=lambda a: means[a])

    def shares(x: float) -> list[float]:  # x is that of the nearest arm
        cost = transport(family, means[best], 1.0, means[nearest], x)
        return [x if means[a] == means[nearest] else family.share(means[best], means[a], cost) for a in others]

    def excess(x: float) -> float:
        total = 0.0
        for a, share in zip(others, shares(x), strict=True):
            m = (means[best] + share * means[a]) / (1 + share)
            total += family.d(means[best], m) / family.d(means[a], m)
        return total - 1.0

    low, high = 0.0, 1.0
    while excess(high) < 0:
        low, high = high, 2 * high
    ratios = shares(float(brentq(excess, low, high, xtol=1e-9, rtol=1e-9)))
    total = 1.0 + sum(ratios)
    proportions = [1.0 / total] * len(means)
    for a, ratio in zip(others, ratios, strict=True):
        proportions[a] = ratio / total
    return proportions
