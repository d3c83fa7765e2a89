"""The parts that all kinds of evidence of "certified" share: the price of contamination and the bets of a pair.

Section numbers are those of docs/explanation/certified.md, which this code follows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bestarm.validation import one_of

Floats = NDArray[np.float64]


def log_sum(terms: Floats) -> Floats:
    """Log of the sum of exp over the last axis; minus infinity stands for no evidence."""
    top = np.max(terms, axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", under="ignore"):
        return np.asarray(np.log(np.sum(np.exp(terms - top), axis=-1)) + top[..., 0])


def least_convex(height: Callable[[float], float], low: float, high: float) -> float:
    """The least value of a convex function between two points, by the golden section."""
    least = min(height(low), height(high))
    golden = (math.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = height(left), height(right)
    while high - low > 1e-12:
        least = min(least, at_left, at_right)
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = height(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = height(right)
    return least


# ------------------------------------------------------------------------- section 3: contamination is a price


@dataclass
class Replacement:
    kind: str
    epsilon: float
    share_from: float | None
    arms: int

    def __post_init__(self) -> None:
        one_of("contamination", self.kind, ("causal", "prescient", "malicious", "share-of-arm", "share-of-all"))

    def count(self, n: int, N: int) -> tuple[int, int]:
        """The count c for each arm, and the c for all arms together, after n rounds and N rewards in total."""
        if self.epsilon == 0:
            return 0, 0
        n0 = 1 / self.epsilon if self.share_from is None else self.share_from
        of_arm = of_all = 0
        if self.kind == "share-of-arm":
            of_arm = math.floor(self.epsilon * max(n, math.ceil(n0 - 1e-9)) + 1e-9)
        if self.kind == "share-of-all":
            of_all = math.floor(self.epsilon * max(N, math.ceil(self.arms * n0 - 1e-9)) + 1e-9)
        return of_arm, of_all

    def level(self, phi: Floats, least: Floats, most: Floats) -> Floats:
        """The price of one reward before the logarithm; counted rewards cost their odds on top."""
        if self.kind in ("causal", "prescient"):
            return (1 - self.epsilon) * phi + self.epsilon * most
        if self.kind == "malicious":
            return phi + self.epsilon * (most - least)
        return phi


# ------------------------------------------------------------------------------------------- section 4: the pair


@dataclass
class Mixture:
    """Weights and odds of the bets, and the weights of the terms of a pair."""

    log_weights: Floats
    odds: Floats
    same: float
    product: float
    alone: float

    def log_terms(self, up: Floats, down: Floats, c: int) -> Floats:
        """Logs of all terms of W, from raw log evidence with the bets along the last axis."""
        lw, odds = self.log_weights, self.odds
        pairs = (lw + up)[..., :, None] + (lw + down)[..., None, :] - c * np.maximum(odds[:, None], odds[None, :])
        return np.concatenate(
            [
                math.log(self.same) + lw + up + down - c * odds,
                math.log(self.product) + pairs.reshape(*pairs.shape[:-2], -1),
                math.log(self.alone) + lw + up - c * odds,
                math.log(self.alone) + lw + down - c * odds,
            ],
            axis=-1,
        )

    def log_W(self, up: Floats, down: Floats, c: int) -> Floats:
        return log_sum(self.log_terms(up, down, c))

    def log_alone(self, evidence: Floats, c: int) -> Floats:
        return log_sum(self.log_weights + evidence - c * self.odds)

    def can_grow(self, up: Floats, down: Floats, c_per_reward: float) -> bool:
        """Section 10: whether some term of W can grow, given each bet's log mean minus its log price."""
        one = np.any(up > c_per_reward * self.odds) or np.any(down > c_per_reward * self.odds)
        both = up[:, None] + down[None, :] > c_per_reward * np.maximum(self.odds[:, None], self.odds[None, :])
        return bool(one or (c_per_reward > 0 and np.any(both)))


@dataclass
class Start:
    """Memory of one slot and arm: where the next comparison starts, and the round that it waits for."""

    p: int | None = None  # a sub-cell
    waits_for: int = 0


@dataclass
class Check:
    n: int
    of_arm: int
    of_all: int
    e: float
    locations: list[float]


class PairEvidence(Protocol):
    """What the rounds of section 12 need from the rewards, which are in units of sigma or of the bounds."""

    def tell(self, arm: int, reward: float) -> None: ...

    def locate(self, arm: int) -> float:
        """Location, from all rewards so far."""
        ...

    def compare(self, b: int, a: int, check: Check, start: Start) -> bool:
        """Step 3 of a check: whether W(b, a) is enough."""
        ...

    def good_enough(self, b: int, a: int, check: Check, tau: float) -> bool: ...

    def hopeless(self, b: int, a: int, check: Check) -> bool:
        """Whether contamination rules out more evidence for b against a."""
        ...


def upper_mean(h: Floats) -> float:
    """Mean of h plus z standard errors (section 10)."""
    n = len(h)
    z = math.sqrt(2 * math.log(40 * (1 + math.log2(n)) ** 2))
    return float(np.mean(h) + z * np.std(h) / math.sqrt(n))
