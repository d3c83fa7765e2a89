"""The counterexample to the paper's concentration lemma: replaced rewards on one side, and half of them are kept.

Lemma "Estimator concentration": with alpha = epsilon/2, after T(alpha, delta) rewards, the trimmed mean is further from
the mean than C sigma epsilon sqrt(log(1/epsilon)) + sigma/(1-epsilon) sqrt((2/t) log(2/delta)) with probability at most
delta, whatever the oblivious adversary does. The constant C is not given. So the test asks which C would do, against
rewards that are replaced by one number: if it grows with that number, there is no such constant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import trim_mean

from bestarm.paper.comparisons import ClaimCheck, Finding, GridPoint, verdict_of

DISTANCES = (1e3, 1e6)  # of the replaced rewards from the mean, in sigma
SAMPLES = 200  # of T rewards each; the seed is fixed, so that the counterexample is one that can be looked at
GROWS = 100.0  # the constant that is needed follows the distance, which grows a thousandfold


@dataclass(frozen=True)
class OneConstantServes(ClaimCheck):
    """Whether one constant serves the lemma against replaced rewards on one side, however far they are.

    Attributes
    ----------
    trimmed : float
        alpha in units of epsilon; the paper's is 1/2.
    """

    trimmed: float = 0.5

    words = (
        f"{SAMPLES} samples of T normal rewards, each replaced with probability epsilon by mean + 10^3 sigma or, "
        "again, + 10^6 sigma: the constant that the lemma would need in order to hold at delta"
    )

    def judge(self, points: Sequence[GridPoint]) -> Finding:
        """Return the verdict: it does not hold if at some place the constant grows as the replaced rewards go away."""
        near, far = (np.array([self._needed(point, distance) for point in points]) for distance in DISTANCES)
        grows = far > GROWS * np.maximum(near, 1.0)
        stays = far <= np.maximum(1.01 * near, 1.0)
        worst = int(far.argmax())
        measured = (
            f"replaced rewards at mean + 10^3 sigma need a constant of {near[worst]:.3g} in front of "
            f"sigma epsilon sqrt(log(1/epsilon)), at mean + 10^6 sigma {far[worst]:.3g}: with alpha = "
            f"{self.trimmed:g} epsilon part of them is kept"
        )
        if not grows.any():
            measured = f"a constant of {max(near.max(), far.max(), 0.0):.3g} serves at all places"
        return Finding(verdict_of(bool(stays.all()), bool(grows.any())), measured)

    def _needed(self, point: GridPoint, distance: float) -> float:
        """Return the constant with which the lemma would hold for exactly a share 1 - delta of the samples."""
        epsilon, delta = point.epsilon, point.delta
        size = math.ceil(point.numbers["T"])
        rng = np.random.default_rng([round(1e6 * delta), round(1e6 * epsilon)])
        rewards = rng.standard_normal((SAMPLES, size))
        rewards[rng.random((SAMPLES, size)) < epsilon] = distance
        error = np.abs(trim_mean(rewards, self.trimmed * epsilon, axis=1))
        radius = math.sqrt(2.0 / size * math.log(2.0 / delta)) / (1.0 - epsilon)
        return float(np.quantile(error - radius, 1.0 - delta) / (epsilon * math.sqrt(math.log(1.0 / epsilon))))
