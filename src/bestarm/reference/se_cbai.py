"""Algorithm 2 of the paper (SE-CBAI): pull all arms in rounds, drop those that fall behind.

Lines, equations and readings as in g_cbai.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bestarm.policies.policy import Estimate, Question
from bestarm.reference.radii import elimination_radius, elimination_radius_of_all_pulls, exploration_pulls
from bestarm.reference.trimmed_mean import trimmed_mean
from bestarm.validation import one_of


class SECBAI:
    """MTCD21, Algorithm 2.

    Parameters
    ----------
    question : Question
        K, delta, epsilon, sigma.
    alpha : float in [0, 0.5), optional
        Fraction trimmed off each end; epsilon / 2 as in lemma est_con (reading #9).
    exploration : {"hoeffding", "half", "chernoff", "none"}
        Which T.
    radius : {"rounds", "all-pulls"}
        The theorem's, or that of the first author's code of 2022, which also compares with dropped arms.
    radius_arms : float >= 1, optional
        The K of the radius; by default the number of arms.
    """

    name = "reference se-cbai"

    def __init__(
        self,
        question: Question,
        *,
        alpha: float | None = None,
        exploration: str = "hoeffding",
        radius: str = "rounds",
        radius_arms: float | None = None,
    ) -> None:
        one_of("radius", radius, ("rounds", "all-pulls"))
        self.question, self.K = question, question.arms
        self.of_all_pulls = radius == "all-pulls"
        self.radius_arms = question.arms if radius_arms is None else radius_arms
        self.alpha = question.epsilon / 2 if alpha is None else alpha
        self.T = exploration_pulls(self.alpha, question.delta, exploration)
        self.rewards: list[list[float]] = [[] for _ in range(self.K)]
        self.active = list(range(self.K))  # M_t, by increasing index throughout; line 1
        self.t = 0  # rounds, so also the pulls of each active arm (reading #7)

    def choose(self, pending: NDArray[np.int64]) -> int:
        """Line 3: pull every active arm once per round. Outstanding pulls count as made."""
        return min(self.active, key=lambda i: len(self.rewards[i]) + pending[i])

    def observe(self, arm: int, reward: float) -> None:
        """Lines 2 to 5: a round ends when every active arm has its reward."""
        self.rewards[arm].append(reward)
        while len(self.active) > 1 and all(len(self.rewards[i]) > self.t for i in self.active):  # line 2
            self.t += 1
            if self.t >= self.T:  # line 4, "or N_i(t) < T", where N_i(t) = t
                mu = {i: self.estimate(self.rewards[i]) for i in self.active}
                highest = compared = max(mu.values())  # line 4; over M_t, not S_t (reading #4)
                if self.of_all_pulls:  # dropped arms too, at their last estimate
                    compared = max(self.estimate(rewards) for rewards in self.rewards)
                cut = min(compared - 2 * self.gamma(self.t), highest)  # so that the best active arm stays
                self.active = [i for i in self.active if not mu[i] < cut]  # line 4, all against the same maximum

    def decision(self) -> int | None:
        """Line 7."""
        return self.active[0] if len(self.active) == 1 else None

    def estimates(self) -> list[Estimate]:
        """mu_i and mu_i -+ gamma, infinite before the arm is explored."""
        rows = []
        for arm, rewards in enumerate(self.rewards):
            mu = self.estimate(rewards) if rewards else math.nan
            radius = math.inf if len(rewards) == 0 or len(rewards) < self.T else self.gamma(len(rewards))
            rows.append(Estimate(mu, mu - radius, mu + radius, arm in self.active))
        return rows

    def estimate(self, values: Sequence[float]) -> float:
        """mu_i, eq. estimator."""
        return trimmed_mean(values, self.alpha)

    def gamma(self, rounds: int) -> float:
        """gamma_t of theorem PAC_SE after some rounds; for "all-pulls", t is 1 + all pulls before the last round."""
        question = self.question
        if not self.of_all_pulls:
            return elimination_radius(rounds, self.radius_arms, question.delta, question.epsilon, question.sigma)
        before = [rounds - 1 if i in self.active else min(rounds - 1, len(self.rewards[i])) for i in range(self.K)]
        return elimination_radius_of_all_pulls(1 + sum(before), self.radius_arms, question.delta, question.sigma)
