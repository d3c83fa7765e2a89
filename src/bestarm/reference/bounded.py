"""Evidence of "certified" for rewards with bounds: sections 6 and 10 of docs/explanation/certified.md."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bestarm.reference.evidence import Check, Floats, Mixture, Replacement, Start, least_convex, upper_mean


@dataclass
class BoundedBet:
    r: float
    c: float
    weight: float
    small: bool

    def __post_init__(self) -> None:
        self.u = math.exp(self.r) - 1
        self.C = 1 + self.u * self.c

    def log_h(self, x: float) -> float:
        """Log of h for an up-bet; a down-bet passes 1 - x."""
        z = self.u * min(x, self.c)
        if self.small and 0 < x < 1:
            return z - z**2 / 2 + z**3 / 3 - z**4 / 4
        return math.log(1 + z)


def bounded_bets(epsilon: float) -> list[BoundedBet]:
    """The bets of section 6, with their weights."""
    if epsilon == 0:
        weights, clips = (0.1, 0.12, 0.125, 0.125, 0.125, 0.125, 0.14, 0.14), {1.0: 1.0}
    else:
        weights, clips = (0.06, 0.1, 0.2, 0.24, 0.2, 0.1, 0.06, 0.04), {1.0: 0.78, 0.8: 0.11, 0.7: 0.11}
    bets = [
        BoundedBet(0.04 * 2**i, c, 0.97 * weight * share, False)
        for c, share in clips.items()
        for i, weight in enumerate(weights)
    ]
    small = 12 if epsilon == 0 else 6
    return bets + [BoundedBet(0.04 / 2**i, 1.0, 0.03 / (i * (i + 1)), True) for i in range(1, small + 1)]


class Bounded:
    def __init__(self, arms: int, contamination: Replacement) -> None:
        self.contamination = contamination
        self.bets = bounded_bets(contamination.epsilon)
        self.u = np.array([bet.u for bet in self.bets])
        self.clips = np.array([bet.c for bet in self.bets])
        self.most = np.array([bet.C for bet in self.bets])
        self.least = np.ones(len(self.bets))
        log_weights = np.log([bet.weight for bet in self.bets])
        self.mixture = Mixture(log_weights, np.log(self.most), 0.88, 0.08, 0.02)
        self.rewards: list[list[float]] = [[] for _ in range(arms)]
        self.ups = np.zeros((arms, len(self.bets)))
        self.downs = np.zeros((arms, len(self.bets)))

    def tell(self, arm: int, reward: float) -> None:
        self.rewards[arm].append(reward)
        self.ups[arm] += [bet.log_h(reward) for bet in self.bets]
        self.downs[arm] += [bet.log_h(1 - reward) for bet in self.bets]

    def locate(self, arm: int) -> float:
        return math.fsum(self.rewards[arm]) / len(self.rewards[arm])

    def log_level(self, m: float) -> Floats:
        phi = 1 + self.u * np.minimum(m, self.clips)
        return np.log(self.contamination.level(phi, self.least, self.most))

    def evidence(self, b: int, m: float, a: int, other: float, check: Check) -> tuple[Floats, Floats]:
        counted = check.of_arm * self.mixture.odds
        up = self.ups[b] - check.n * self.log_level(m) - counted
        down = self.downs[a] - check.n * self.log_level(1 - other) - counted
        return np.asarray(up), np.asarray(down)

    def log_W(self, b: int, m: float, a: int, other: float, check: Check) -> float:
        return float(self.mixture.log_W(*self.evidence(b, m, a, other, check), check.of_all))

    def least_log_W(self, b: int, a: int, check: Check, tau: float = 0.0) -> float:
        """Infimum over m and m' = m + tau, both in [0, 1], by the golden section: log W is convex."""

        def height(m: float) -> float:
            return self.log_W(b, m, a, min(1.0, m + tau), check)

        return least_convex(height, 0.0, 1 - tau)

    def compare(self, b: int, a: int, check: Check, start: Start) -> bool:
        return self.least_log_W(b, a, check) >= check.e

    def good_enough(self, b: int, a: int, check: Check, tau: float) -> bool:
        return self.least_log_W(b, a, check, tau) >= check.e

    # ---- section 10

    def hopeless(self, b: int, a: int, check: Check) -> bool:
        def log_means(x: Floats) -> Floats:
            means = [upper_mean(1 + bet.u * np.minimum(x, bet.c)) for bet in self.bets]
            return np.log(means) - check.of_arm / check.n * self.mixture.odds

        ups, downs = log_means(np.array(self.rewards[b])), log_means(1 - np.array(self.rewards[a]))
        means = [self.locate(b), self.locate(a)]
        low, high = max(min(means) - 0.15, 0.0), min(max(means) + 0.15, 1.0)
        for point in range(257):
            m = low + (high - low) * point / 256
            up, down = ups - self.log_level(m), downs - self.log_level(1 - m)
            if not self.mixture.can_grow(up, down, check.of_all / check.n):
                return True
        return False
