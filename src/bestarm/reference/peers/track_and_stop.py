"""Track-and-stop: pull in the proportions that would be optimal if the sample means were the true ones."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bestarm.policies.policy import Question
from bestarm.reference.peers.families import optimal_proportions
from bestarm.reference.peers.stopping import Chernoff


class TrackAndStop(Chernoff):
    """Garivier & Kaufmann, "Optimal Best Arm Identification with Fixed Confidence", COLT 2016 (GK16): D-Tracking.

    For clean rewards. With threshold="kaufmann-koolen" a wrong arm is named with probability at most delta. If one arm
    is the best, the mean number of pulls over log(1/delta) goes, as delta goes to 0, to `theory.characteristic_time`
    (the argument of GK16, Theorem 14), and no method that keeps delta needs fewer. Nothing is promised about the pulls
    at a given delta, and nothing at all about replaced rewards: epsilon is ignored.

    Parameters
    ----------
    question : Question
        K, delta, and sigma or bounds.
    threshold : {"kaufmann-koolen", "heuristic", "heuristic-union"}
        Only the first has a proof; see `Threshold`.
    family : {"gaussian", "bernoulli"}
        Normal rewards with variance sigma^2 (any sigma-sub-Gaussian ones keep delta), or rewards within bounds.
    """

    name = "track-and-stop"

    def __init__(self, question: Question, *, threshold: str = "kaufmann-koolen", family: str = "gaussian") -> None:
        super().__init__(question, threshold, family)

    def choose(self, pending: NDArray[np.int64]) -> int:
        """GK16, section 3.1: an arm of the set U_t if there is one, or else the arm farthest behind its proportion.

        Outstanding pulls count as made; means are of the rewards so far.
        """
        N = [n + int(more) for n, more in zip(self.N, pending, strict=True)]
        t = sum(N)
        if not all(self.N) or min(N) < math.sqrt(t) - self.K / 2:  # U_t: arms with N_a < (sqrt(t) - K/2)^+
            return min(range(self.K), key=lambda a: N[a])
        means = [self.family.inside(mean) for mean in self.means()]
        tied = [a for a in range(self.K) if means[a] == max(means)]
        if len(tied) > 1:  # no proportions are optimal: settle the tie first
            return min(tied, key=lambda a: N[a])
        proportions = optimal_proportions(self.family, means)
        return max(range(self.K), key=lambda a: t * proportions[a] - N[a])
