"""Algorithm 1 of the paper (G-CBAI): pull the more uncertain of the leader and its challenger.

"Line 4" is a line of its pseudocode, "eq. overlap" the label of an equation in the LaTeX source, and "reading #11" a
row of docs/explanation/readings.md, which settles where the text is unclear or wrong; a reading overrides the text.
`max` and `min` return the first of equal candidates, listed by increasing index: ties go to the lowest (reading #12).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bestarm.policies.policy import Estimate, Question
from bestarm.reference.radii import exploration_pulls, gap_radius_empirical, gap_radius_theory
from bestarm.reference.trimmed_mean import trimmed_mean
from bestarm.validation import one_of


class GCBAI:
    """MTCD21, Algorithm 1.

    Parameters
    ----------
    question : Question
        K, delta, epsilon, sigma.
    alpha : float in [0, 0.5), optional
        Fraction trimmed off each end; epsilon / 2 as in lemma est_con (reading #9).
    threshold : {"theory", "empirical"}
        The theorem's radius or that of the experiments.
    power : float > 1
        The paper's exponent beta, of "theory".
    exploration : {"hoeffding", "half", "chernoff", "none"}
        Which T.
    """

    name = "reference g-cbai"

    def __init__(
        self,
        question: Question,
        *,
        alpha: float | None = None,
        threshold: str = "theory",
        power: float = 2.0,
        exploration: str = "hoeffding",
    ) -> None:
        one_of("threshold", threshold, ("theory", "empirical"))
        self.question, self.K = question, question.arms
        self.epsilon = question.epsilon  # the contamination that the radius allows for
        self.alpha = question.epsilon / 2 if alpha is None else alpha
        self.threshold, self.power = threshold, power
        self.T = exploration_pulls(self.alpha, question.delta, exploration)
        self.rewards: list[list[float]] = [[] for _ in range(self.K)]
        self.known: list[float | None] = [math.nan] * self.K

    @property
    def t(self) -> int:
        """The pulls made so far, in every formula (reading #11)."""
        return sum(len(rewards) for rewards in self.rewards)

    def choose(self, pending: NDArray[np.int64]) -> int:
        """Lines 4 to 13. Outstanding pulls count as made; estimates use the rewards told so far."""
        if self.unexplored(pending):  # line 4
            return self.least_pulled(pending)  # line 5
        mu = [self.mu(i) for i in range(self.K)]
        t = self.t + int(pending.sum())
        beta = [self.beta(n, t) for n in self.pulls(pending)]
        leader, challenger = self.two(mu, beta)
        return max(sorted([leader, challenger]), key=lambda i: beta[i])  # line 10; reading #12 for equal radii

    def observe(self, arm: int, reward: float) -> None:
        """Line 11."""
        self.rewards[arm].append(reward)
        self.known[arm] = None

    def decision(self) -> int | None:
        """Line 3: stop as soon as the intervals of leader and challenger do not overlap."""
        if not self.may_stop():
            return None
        mu = [self.mu(i) for i in range(self.K)]
        beta = [self.beta(len(rewards), self.t) for rewards in self.rewards]
        leader, challenger = self.two(mu, beta)
        B = mu[challenger] + beta[challenger] - (mu[leader] - beta[leader])  # line 9, eq. overlap
        return leader if B <= 0 else None  # line 3, eq. stopping rule, on the present B_t (reading #11); line 15

    def estimates(self) -> list[Estimate]:
        """mu_i and mu_i -+ beta_i."""
        rows = []
        for arm in range(self.K):
            mu = self.mu(arm)
            rows.append(Estimate(mu, mu - self.radius(arm), mu + self.radius(arm)))
        return rows

    # -------------------------------------------------------------------------------------- the quantities in the lines

    def pulls(self, pending: NDArray[np.int64]) -> list[int]:
        """N_i: a count, not the printed sum of rewards (reading #3)."""
        return [len(rewards) + int(more) for rewards, more in zip(self.rewards, pending, strict=True)]

    def enough(self, t: int) -> float:
        """The count that N_i(t) is compared with in line 4."""
        return max(math.sqrt(t), self.T)

    def unexplored(self, pending: NDArray[np.int64]) -> bool:
        """Whether U_t of line 4 is not empty; `<`, reading #5. An arm without a reward has no mu, so it counts too."""
        enough = self.enough(self.t + int(pending.sum()))
        return any(n < enough for n in self.pulls(pending)) or not all(self.rewards)

    def least_pulled(self, pending: NDArray[np.int64]) -> int:
        """Line 5; the least-pulled arm of all is in U_t."""
        pulls = self.pulls(pending)
        return min(range(self.K), key=lambda i: pulls[i])

    def may_stop(self) -> bool:
        """Whether no arm is in U_t: before that B_t is not computed."""
        return not self.unexplored(np.zeros(self.K, np.int64))

    def two(self, mu: Sequence[float], beta: Sequence[float]) -> tuple[int, int]:
        """The leader a-hat_t, and the challenger j_t of line 8 (argmax, reading #2)."""
        leader = max(range(self.K), key=lambda i: mu[i])
        others = [i for i in range(self.K) if i != leader]
        return leader, max(others, key=lambda i: mu[i] + beta[i])

    def mu(self, arm: int) -> float:
        """mu_i, recomputed from all rewards of the arm if there is a new one; nan without any."""
        value = self.known[arm]
        if value is None:
            value = self.known[arm] = self.estimate(self.rewards[arm])
        return value

    def estimate(self, values: Sequence[float]) -> float:
        """The estimator of mu_i, eq. estimator."""
        return trimmed_mean(values, self.alpha)

    def beta(self, n: int, t: int) -> float:
        """beta_i(t, delta) of an arm with n of t pulls."""
        delta, sigma = self.question.delta, self.question.sigma
        if self.threshold == "empirical":
            return gap_radius_empirical(n, t, delta, sigma)
        return gap_radius_theory(n, t, self.K, delta, self.epsilon, sigma, self.power)

    def radius(self, arm: int) -> float:
        """beta_i as shown to users: infinite before the arm is explored."""
        n = len(self.rewards[arm])
        return math.inf if n == 0 or n < self.T else self.beta(n, self.t)
