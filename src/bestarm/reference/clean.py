"""Evidence of "certified" without contamination: section 7 of docs/explanation/certified.md."""

from __future__ import annotations

import math

import numpy as np

from bestarm.reference.evidence import Check, Start, log_sum


class Clean:
    def __init__(self, arms: int) -> None:
        ladder = [(0.02 * 2.2**i, 0.95 / 7) for i in range(7)]
        ladder += [(0.02 / 2.2**i, 0.05 / (i * (i + 1))) for i in range(1, 21)]
        self.k = np.array([k for k, _ in ladder])
        self.log_weights = np.log([weight for _, weight in ladder])
        self.rewards: list[list[float]] = [[] for _ in range(arms)]

    def tell(self, arm: int, reward: float) -> None:
        self.rewards[arm].append(reward)

    def locate(self, arm: int) -> float:
        return math.fsum(self.rewards[arm]) / len(self.rewards[arm])

    def log_W(self, b: int, a: int, n: int, tau: float) -> float:
        lead = math.fsum(self.rewards[b]) - math.fsum(self.rewards[a]) + n * tau
        return float(log_sum(self.log_weights + self.k * lead - n * self.k**2))

    def compare(self, b: int, a: int, check: Check, start: Start) -> bool:
        return self.log_W(b, a, check.n, 0.0) >= check.e

    def good_enough(self, b: int, a: int, check: Check, tau: float) -> bool:
        return self.log_W(b, a, check.n, tau) >= check.e

    def hopeless(self, b: int, a: int, check: Check) -> bool:
        return False
