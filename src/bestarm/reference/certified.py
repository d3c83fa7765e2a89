"""The method "certified" in its slowest and most literal form: section 12 of docs/explanation/certified.md.

All evidence is computed in full: all cells and sub-cells, log h of every reward, logarithms and sums over all bets.
The only work skipped is what section 12 makes part of the method: waiting after a failed search, and slot 1 except at
multiples of 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bestarm.policies.policy import NO_WINNER, Estimate, Question
from bestarm.reference.bounded import Bounded
from bestarm.reference.clean import Clean
from bestarm.reference.evidence import Check, PairEvidence, Replacement, Start
from bestarm.reference.lattice import Lattice

Limit = Literal["contamination", "resolution"]


@dataclass
class Slot:
    champion: int | None
    starts: list[Start]


class Rounds:
    """The surviving arms, the champions and the checks."""

    def __init__(
        self,
        arms: int,
        engine: PairEvidence,
        contamination: Replacement,
        *,
        delta: float,
        resolution: float | None,
        good_enough: float | None,
    ) -> None:
        self.arms, self.engine, self.contamination = arms, engine, contamination
        self.e = math.log((arms - 1) / delta)
        self.resolution, self.tau = resolution, good_enough  # in units of sigma; tau in those of the engine
        self.survivors = list(range(arms))
        self.locations = [math.nan] * arms
        self.slots = [Slot(None, []), Slot(None, [])]
        self.answer: int | None = None
        self.limit: Limit | None = None

    def best_two(self) -> list[int]:
        return sorted(self.survivors, key=lambda i: (-self.locations[i], i))[:2]

    def renew_champions(self) -> None:
        champions = self.best_two()
        for slot in self.slots:
            if slot.champion not in champions:
                slot.champion = None
        seated = [slot.champion for slot in self.slots]
        for champion in sorted(champions):
            if champion not in seated:
                slot = next(slot for slot in self.slots if slot.champion is None)
                slot.champion, slot.starts = champion, [Start() for _ in range(self.arms)]

    def check(self, n: int, N: int) -> bool:
        """Check after round n; return True if the run is over."""
        if n & (n - 1) == 0:  # 1.
            for i in self.survivors:
                self.locations[i] = self.engine.locate(i)
            self.renew_champions()
        check = Check(n, *self.contamination.count(n, N), self.e, self.locations)  # 2.
        for a in list(self.survivors):  # 3.
            for number, slot in enumerate(self.slots):
                b = slot.champion
                if b is None or b == a or b not in self.survivors or a not in self.survivors:
                    continue
                if number == 1 and n % 4 != 0:
                    continue
                if self.engine.compare(b, a, check, slot.starts[a]):
                    self.survivors.remove(a)
        if any(slot.champion not in self.survivors for slot in self.slots):  # 4.
            self.renew_champions()
        if len(self.survivors) == 1:
            self.answer = self.survivors[0]
            return True
        return self.give_up(n, check)

    def give_up(self, n: int, check: Check) -> bool:
        """Step 5 of a check: return True if the run ends without a sole survivor."""
        if self.tau is not None:
            for slot in self.slots:
                champion = slot.champion
                assert champion is not None
                others = [a for a in self.survivors if a != champion]
                if all(self.engine.good_enough(champion, a, check, self.tau) for a in others):
                    self.answer = champion
                    return True
        if self.contamination.epsilon > 0 and asks_for_limit(n):
            b, a = self.best_two()
            if self.engine.hopeless(b, a, check) and self.engine.hopeless(a, b, check):
                self.limit = "contamination"
                return True
        if self.resolution is not None and n >= 4 * self.e / self.resolution**2:
            self.limit = "resolution"
            return True
        return False


def is_checked(n: int, *, clean: bool) -> bool:
    """Whether pairs are compared after round n.

    >>> [n for n in range(1, 20) if is_checked(n, clean=False)]
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18]
    >>> [n for n in range(60, 71) if is_checked(n, clean=True)]
    [60, 61, 62, 63, 64, 66, 68, 70]
    """
    step: int = 2 ** max(0, math.floor(math.log2(n)) - 5)
    if not clean and 8 <= n < 64:
        step = 2
    return n % step == 0


def asks_for_limit(n: int) -> bool:
    """Whether n is one of 512, 768, 1024, 1536, ...

    >>> [n for n in range(5000) if asks_for_limit(n)]
    [512, 768, 1024, 1536, 2048, 3072, 4096]
    """
    return any(n in (512 * 2**i, 768 * 2**i) for i in range(40))


class Certified:
    """Drop an arm once a pair's evidence proves it worse; name the last arm left, or say why none is named.

    Parameters
    ----------
    question : Question
        K, delta, epsilon, sigma or bounds.
    contamination : {"causal", "prescient", "malicious", "share-of-arm", "share-of-all"}
        What epsilon means.
    resolution : float > 0, optional
        Stop without a winner once a lead of this size would have been found; by default 0.05 sigma, or none if
        epsilon = 0.
    good_enough : float > 0, optional
        Stop at an arm that is proved to be at most this much worse than the best.
    share_from : float >= 1, optional
        Number of rewards per arm from which a share is assumed to hold; 1 / epsilon by default.
    """

    name = "reference certified"

    def __init__(
        self,
        question: Question,
        *,
        contamination: str = "prescient",
        resolution: float | None = None,
        good_enough: float | None = None,
        share_from: float | None = None,
    ) -> None:
        arms, epsilon, bounds = question.arms, question.epsilon, question.bounds
        kind = Replacement(contamination, epsilon, share_from, arms)
        self.engine: PairEvidence
        if bounds is not None:
            self.origin, self.unit, scale = bounds[0], bounds[1] - bounds[0], (bounds[1] - bounds[0]) / 2
            self.engine = Bounded(arms, kind)
        else:
            self.origin, self.unit, scale = 0.0, question.sigma, question.sigma
            self.engine = Clean(arms) if epsilon == 0 else Lattice(arms, kind)
        if resolution is None and epsilon > 0:
            resolution = 0.05 * scale
        self.rounds = Rounds(
            arms,
            self.engine,
            kind,
            delta=question.delta,
            resolution=None if resolution is None else resolution / scale,
            good_enough=None if good_enough is None else good_enough / self.unit,
        )
        self.rewards: list[list[float]] = [[] for _ in range(arms)]
        self.n = 0  # rounds
        self.stopped = False

    def choose(self, pending: NDArray[np.int64]) -> int:
        """Pull every survivor once per round; outstanding pulls count as made."""
        return min(self.rounds.survivors, key=lambda i: len(self.rewards[i]) + pending[i])

    def observe(self, arm: int, reward: float) -> None:
        """Take in a reward; a round ends when every survivor has its reward, and a check follows if one is due."""
        self.rewards[arm].append(reward)
        while not self.stopped and all(len(self.rewards[i]) > self.n for i in self.rounds.survivors):
            for i in self.rounds.survivors:
                self.engine.tell(i, (self.rewards[i][self.n] - self.origin) / self.unit)
            self.n += 1
            if is_checked(self.n, clean=isinstance(self.engine, Clean)):
                self.stopped = self.rounds.check(self.n, sum(map(len, self.rewards)))

    def decision(self) -> int | None:
        """The last survivor; -1 if a limit was reached."""
        if not self.stopped:
            return None
        return NO_WINNER if self.rounds.answer is None else self.rounds.answer

    @property
    def limit(self) -> Limit | None:
        """Why no winner was named."""
        return self.rounds.limit

    def estimates(self) -> Sequence[Estimate]:
        """Sample means, without intervals; arms that were dropped are not active."""
        return [
            Estimate(math.fsum(rewards) / len(rewards) if rewards else math.nan, active=arm in self.rounds.survivors)
            for arm, rewards in enumerate(self.rewards)
        ]
