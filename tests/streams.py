"""Reward streams for tests: endless, seeded, by arm family and adversary, without any code of the package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Law = Callable[[np.random.Generator, float], float]

FAMILIES: dict[str, Law] = {
    "gaussian": lambda rng, mean: mean + rng.standard_normal(),
    "uniform": lambda rng, mean: mean + 3.0 * (rng.random() - 0.5),
    "exponential": lambda rng, mean: (mean + 0.5) * rng.standard_exponential(),
    "student": lambda rng, mean: mean + rng.standard_t(3),
}
ATTACKS: dict[str, Law] = {
    "none": lambda rng, mean: mean + rng.standard_normal(),
    "uniform": lambda rng, mean: mean / 2.0 + 2.0 * rng.random() - 1.0,
    "gross": lambda rng, mean: 1000.0 + rng.random(),
    "two-sided": lambda rng, mean: 50.0 * float(rng.integers(-1, 2)) + rng.random(),
    "huge": lambda rng, mean: 1e15 * rng.standard_normal(),
}


@dataclass
class Arms:
    """Pull-by-arm rewards: each arm has a generator of its own, so its n-th reward does not depend on the others."""

    means: list[float]
    epsilon: float
    family: str
    attack: str
    seed: int

    def __post_init__(self) -> None:
        self._rngs = [np.random.default_rng([self.seed, arm]) for arm in range(len(self.means))]

    def pull(self, arm: int) -> float:
        rng, mean = self._rngs[arm], self.means[arm]
        law = ATTACKS[self.attack] if rng.random() < self.epsilon else FAMILIES[self.family]
        return float(law(rng, mean))
