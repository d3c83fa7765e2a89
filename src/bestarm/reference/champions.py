"""Evidence by champions in its slowest and most literal form: section 19 of docs/explanation/certified.md.

Each surviving arm has one process, in which it is compared with the champions of the rounds. It is dropped when its
process reaches 1 / delta. All evidence is computed in full from the rewards of all rounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bestarm.policies.policy import NO_WINNER, Estimate, Question
from bestarm.reference.certified import is_checked
from bestarm.reference.champion_bets import NO_MARGIN, BoundedEvidence, CleanEvidence, Margin, Round
from bestarm.reference.champion_lattice import LatticeEvidence
from bestarm.validation import HUGE, checked


class Evidence(Protocol):
    """What the rounds need from the rewards, which are in units of sigma or of the bounds."""

    def add(self, played: Round) -> None: ...

    def locate(self, arm: int) -> float:
        """Where the rewards of an arm lie."""
        ...

    def is_enough(self, a: int, e: float, margin: Margin = NO_MARGIN) -> bool:
        """Whether the process of arm a is at least exp(e) at all means with a ahead, by the margin of one arm."""
        ...


def champion_pulls(survivors: int) -> int:
    """Pulls of the champion in a round: the power of two r with the least (survivors - 1 + r) (1 + 1/r).

    >>> [champion_pulls(survivors) for survivors in (2, 3, 4, 10, 50, 1024)]
    [1, 2, 2, 4, 8, 32]
    """
    powers: list[int] = [2**i for i in range(11)]
    return min(powers, key=lambda r: ((survivors - 1 + r) * (r + 1) / r, -r))


def is_renewed(n: int) -> bool:
    """Whether locations are renewed after round n.

    >>> [n for n in range(1, 60) if is_renewed(n)][12:]
    [13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 52, 56]
    """
    step: int = 2 ** max(0, math.floor(math.log2(n)) - 3)
    return n % step == 0


class Champions:
    """Drop an arm once the evidence of the champions against it is enough; name the last arm left.

    Valid for contamination "causal" if each reward is told before the next pull is asked for; for clean rewards, in any
    batches.

    Parameters
    ----------
    question : Question
        K, delta, epsilon, sigma or bounds.
    resolution : float > 0, optional
        Stop without a winner once a lead of this size would have been found; by default 0.05 sigma, or none if
        epsilon = 0.
    good_enough : float > 0, optional
        Stop at an arm that is proved to be at most this much worse than the best.
    """

    name = "reference champions"

    def __init__(
        self, question: Question, *, resolution: float | None = None, good_enough: float | None = None
    ) -> None:
        epsilon, bounds = question.epsilon, question.bounds
        if resolution is not None:
            checked(resolution=resolution)
        if good_enough is not None:
            checked(good_enough=good_enough)
        self.e = math.log(1 / question.delta)
        self.evidence: Evidence
        if bounds is not None:
            self.origin, self.unit, scale = bounds[0], bounds[1] - bounds[0], (bounds[1] - bounds[0]) / 2
            self.evidence = BoundedEvidence(question.arms, epsilon)
        else:
            self.origin, self.unit, scale = 0.0, question.sigma, question.sigma
            self.evidence = CleanEvidence(question.arms) if epsilon == 0 else LatticeEvidence(question.arms, epsilon)
        if resolution is None and epsilon > 0:
            resolution = 0.05 * scale
        self.last_round = math.inf if resolution is None else 4 * self.e * (scale / resolution) * (scale / resolution)
        most = HUGE if bounds is None else 1.0  # within bounds no lead is larger than the range
        self.tau = None if good_enough is None else min(good_enough / self.unit, most)
        self.answer: int | None = None
        self.clean = bounds is None and epsilon == 0
        self.survivors = list(range(question.arms))
        self.champion, self.second = 0, 1
        self.locations = [math.nan] * question.arms
        self.rewards: list[list[float]] = [[] for _ in range(question.arms)]
        self.used = [0] * question.arms
        self.n = 0  # rounds
        self.stopped = False

    def needs(self, arm: int) -> int:
        """Rewards of an arm in a round."""
        return champion_pulls(len(self.survivors)) if arm == self.champion else 1

    def choose(self, pending: NDArray[np.int64]) -> int:
        """Pull the champion, then each other survivor, as often as the round needs; outstanding pulls count as made."""

        def complete(arm: int) -> int:
            return int((len(self.rewards[arm]) - self.used[arm] + pending[arm]) // self.needs(arm))

        return min(self.survivors, key=lambda arm: (complete(arm), arm != self.champion, arm))

    def observe(self, arm: int, reward: float) -> None:
        """Take in a reward; a round ends when every survivor has what it needs, and a check follows if one is due."""
        self.rewards[arm].append(min(max((reward - self.origin) / self.unit, -HUGE), HUGE))  # so that sums are finite
        while not self.stopped and all(len(self.rewards[i]) - self.used[i] >= self.needs(i) for i in self.survivors):
            self.end_round()

    def end_round(self) -> None:
        taken = {}
        for i in self.survivors:
            taken[i] = self.rewards[i][self.used[i] : self.used[i] + self.needs(i)]
            self.used[i] += len(taken[i])
        many = tuple(taken.pop(self.champion))
        self.evidence.add(Round(self.champion, self.second, many, {i: x for i, (x,) in taken.items()}))
        self.n += 1
        if is_checked(self.n, clean=self.clean):
            for a in list(self.survivors):
                if len(self.survivors) > 1 and self.evidence.is_enough(a, self.e):
                    self.survivors.remove(a)
            self.answer = self.survivors[0] if len(self.survivors) == 1 else self.nearly_best()
        self.stopped = self.answer is not None or self.n >= self.last_round
        if is_renewed(self.n):
            for i in self.survivors:
                self.locations[i] = self.evidence.locate(i)
        if not self.stopped and (is_renewed(self.n) or {self.champion, self.second} - set(self.survivors)):
            ranked = sorted(self.survivors, key=lambda i: (-self.locations[i], i))
            self.champion, self.second = ranked[:2]

    def nearly_best(self) -> int | None:
        """The champion or the second, if no survivor can be ahead of it by more than `good_enough`."""
        if self.tau is None:
            return None
        for b in (self.champion, self.second):
            others = [a for a in self.survivors if a != b]
            if b in self.survivors and all(self.evidence.is_enough(a, self.e, Margin(b, self.tau)) for a in others):
                return b
        return None

    def decision(self) -> int | None:
        """The last survivor, or one that is good enough; -1 after as many rounds as the resolution asks for."""
        if not self.stopped:
            return None
        return NO_WINNER if self.answer is None else self.answer

    def estimates(self) -> Sequence[Estimate]:
        """Sample means, without intervals; arms that were dropped are not active."""
        return [
            Estimate(
                self.origin + self.unit * math.fsum(rewards) / len(rewards) if rewards else math.nan,
                active=arm in self.survivors,
            )
            for arm, rewards in enumerate(self.rewards)
        ]
