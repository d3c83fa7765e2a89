"""Top-two: pull the leader or its closest rival, by the toss of a coin."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.policies.policy import Question
from bestarm.reference.peers.families import transport
from bestarm.reference.peers.stopping import Chernoff


class TopTwo(Chernoff):
    """EB-TCI of Jourdan, Degenne, Baudry, de Heide & Kaufmann, "Top Two Algorithms Revisited", NeurIPS 2022 (JDBKK22).

    The leader has the highest sample mean. Its rival has the least transportation cost plus log(N), so that few pulls
    make an arm a rival. The idea is Russo's, "Simple Bayesian Algorithms for Best Arm Identification", COLT 2016, who
    draws both from a posterior; Qin, Klabjan & Russo, "Improving the Expected Improvement Algorithm", NIPS 2017, proved
    the first such method optimal.

    For clean rewards. With threshold="kaufmann-koolen" a wrong arm is named with probability at most delta. If all
    means differ, the mean number of pulls over log(1/delta) goes, as delta goes to 0, to the least that is possible
    when the best arm gets the share 1/2 of all pulls; that is at most twice `theory.characteristic_time` (Russo).
    Nothing is promised about the pulls at a given delta, and nothing at all about replaced rewards: epsilon is ignored.

    Parameters
    ----------
    question : Question
        K, delta, sigma or bounds, and the seed of the coin.
    share : float in (0, 1)
        The share of pulls of the leader: beta in the papers.
    threshold, family : str
        As for `TrackAndStop`.
    """

    name = "top-two"

    def __init__(
        self,
        question: Question,
        *,
        share: float = 0.5,
        threshold: str = "kaufmann-koolen",
        family: str = "gaussian",
    ) -> None:
        super().__init__(question, threshold, family)
        if not 0.0 < share < 1.0:
            raise InputError("share", "be in (0, 1)", share, "0.5 is the choice of the papers")
        self.share = share

    def choose(self, pending: NDArray[np.int64]) -> int:
        """The leader with probability `share`, or else its rival; every arm once before."""
        N = [n + int(more) for n, more in zip(self.N, pending, strict=True)]
        if not all(self.N):
            return min(range(self.K), key=lambda a: N[a])
        means = self.means()
        leader = max(range(self.K), key=lambda a: means[a])
        if self.question.generator(sum(N)).random() < self.share:
            return leader

        def index(a: int) -> float:
            return transport(self.family, means[leader], N[leader], means[a], N[a]) + math.log(N[a])

        return min((a for a in range(self.K) if a != leader), key=index)
