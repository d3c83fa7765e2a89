"""Contamination by sources: raters, devices or test items of which at most a share epsilon is dishonest.

What one source says of two arms is dependent, so each source enters a pair once (section 11 of
docs/explanation/certified.md): by whichever of the two arms it rewarded first, or, `paired`, by the difference.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import counted_share
from bestarm.errors import InputError
from bestarm.identification.robustness import ALL, Standing, pair_state, widest_lead
from bestarm.kernels.trials.readouts import is_pair_proved, judge_pair
from bestarm.methods.certified import certified_rule
from bestarm.problem import Problem

CHAMPIONS = 3
_LEAST_RATE = 1e-3  # the bets of the lattice are made for some rate, however small
LAMBDAS = tuple(0.96 / 1.8**step for step in range(12))  # down to a difference of about 0.001
BY_LABEL = -1  # in place of a pull's number: what is told by the label of an arm comes in the order of telling

Horizon = Callable[[int], float]  # from an arm to the number of its first pull that has not been used


class Said(NamedTuple):
    """What a source has said first of an arm: a reward, or None if its pull was cancelled; and by which pull."""

    value: float | None
    number: int


class Sources:
    """What each source has said first of each arm, and when; decides which arms are proved worse."""

    def __init__(self, problem: Problem, options: Mapping[str, Any]) -> None:
        if options["paired"] and problem.bounds is None:
            raise InputError(
                "paired", "come with bounds", True, "bets on a difference need a lowest and a highest reward"
            )
        self._problem = problem
        self._paired = bool(options["paired"])
        self._share_from = float(options["share_from"])
        with_rate = replace(problem, epsilon=max(problem.epsilon, _LEAST_RATE))
        self._rule = certified_rule(with_rate, options, surely=0.0)
        self._rule["kept"] = ALL
        self._known: dict[Hashable, int] = {}
        self._first: list[dict[int, Said]] = []  # of each source: what it said first of each arm, in order
        self._silent: set[Hashable] = set()  # sources of which a pull was cancelled
        self._unnamed: Counter[int] = Counter()  # by arm: cancelled pulls of sources that nobody knows
        self._said = self._said_at_check = 0  # rewards that count, and how many there were at the last check

    @property
    def enough(self) -> float:
        """The log evidence that drops an arm."""
        return float(self._rule["log_threshold"][0])

    @property
    def number(self) -> int:
        """Distinct sources so far, V: a cancelled pull without a name counts as one of its own."""
        return len(self._first) + self._unnamed.total()

    @property
    def cancelled(self) -> int:
        """Sources of which a pull was cancelled: they are among those that may be dishonest."""
        return len(self._silent) + self._unnamed.total()

    def number_with(self, sources: set[Hashable], unnamed: int) -> int:
        """Return how many sources there are with some that have not been used yet, and some that nobody knows."""
        return self.number + len(sources.difference(self._known)) + unnamed

    def silent_openings(self) -> list[int]:
        """Return of each arm how many sources were, or may have been, to speak of it first and were cancelled."""
        silent = [self._unnamed[index] for index in range(self._problem.size)]
        for first in self._first:
            index, (value, _) = next(iter(first.items()))
            silent[index] += value is None
        return silent

    @property
    def count(self) -> int:
        """Sources that may be dishonest, c: the share is assumed to hold from `share_from` sources on."""
        return counted_share(self._problem.epsilon, self.number, self._share_from)

    def opening_rewards(self) -> list[NDArray[np.float64]]:
        """Return of each arm what those sources said of it that spoke of it before any other arm."""
        said: list[list[float]] = [[] for _ in self._problem.labels]
        for first in self._first:
            index, (value, _) = next(iter(first.items()))  # dicts keep their order
            if value is not None:  # a source whose first pull was cancelled is one that may be dishonest
                said[index].append(value)
        return [np.array(values) for values in said]

    def tell(self, index: int, value: float, source: Hashable, number: int = BY_LABEL) -> bool:
        """Take in what a source said of an arm; False if it was asked about that arm before, which counts once."""
        first = self._known_as(source)
        if index in first:
            return False
        first[index] = Said(value, number)
        self._said += 1
        return True

    def cancel(self, index: int, source: Hashable | None, number: int) -> None:
        """Take in that a source, if it is known which, will not say anything of an arm."""
        if source is None:
            self._unnamed[index] += 1
            return
        self._silent.add(source)
        self._known_as(source).setdefault(index, Said(None, number))

    def _known_as(self, source: Hashable) -> dict[int, Said]:
        index = self._known.setdefault(source, len(self._first))
        if index == len(self._first):
            self._first.append({})
        return self._first[index]

    def is_due(self) -> bool:
        """Tell whether it is time for a check: when there are a twentieth more rewards than at the last."""
        return self._said >= self._said_at_check + max(1, self._said_at_check // 20)

    def worse(self, survivors: NDArray[np.int64], horizon: Horizon) -> list[int]:
        """Return the arms that are proved worse than some survivor."""
        self._said_at_check = self._said
        means = {int(arm): self._mean(int(arm)) for arm in survivors}
        champions = sorted(means, key=lambda arm: (-means[arm], arm))[:CHAMPIONS]
        dropped: list[int] = []
        for a in means:
            if any(b != a and b not in dropped and self._is_worse(b, a, horizon) for b in champions):
                dropped.append(a)
        return dropped

    def _mean(self, arm: int) -> float:
        said = (first[arm].value for first in self._first if arm in first)
        values = [value for value in said if value is not None]
        return float(np.median(values)) + 1e-6 * float(np.mean(values)) if values else -math.inf

    def _is_worse(self, b: int, a: int, horizon: Horizon) -> bool:
        if self._paired:
            return self._log_paired(b, a, horizon) >= self.enough
        ups, downs = self._entries(b, a, horizon)
        if not ups.size or not downs.size:
            return False
        return bool(is_pair_proved(pair_state(self._rule, ups, downs), self._rule, self._price(b, a)))

    def _price(self, b: int, a: int) -> float:
        """Return for how many dishonest sources a pair pays.

        A cancelled pull without a name may have been the first of a source that then enters by the other arm: what it
        would have said is gone, and what it says is chosen. That is a second one to pay for (section 11).
        """
        return float(self.count + self._unnamed[b] + self._unnamed[a])

    def evidence(self, b: int, a: int, horizon: Horizon) -> tuple[float, float]:
        """Return the log evidence that b is better than a, and a lower bound of its lead (-infinity if none)."""
        if self._paired:
            return max(self._log_paired(b, a, horizon), 0.0), -math.inf
        ups, downs = self._entries(b, a, horizon)
        if not ups.size or not downs.size:
            return 0.0, -math.inf
        pair, widest = pair_state(self._rule, ups, downs), widest_lead(self._problem)
        found = judge_pair(pair, self._rule, self._price(b, a), widest)
        return float(found[0]), float(found[1]) * float(self._rule["scale"][0])

    def standing(self, leader: int, dropped: NDArray[np.bool_], horizon: Horizon) -> Standing:
        """Return how an arm stands against all others, of which some were dropped by the evidence of their time."""
        leads, weakest = {}, math.inf
        for other, label in enumerate(self._problem.labels):
            if other != leader:
                evidence, leads[label] = self.evidence(leader, other, horizon)
                weakest = min(weakest, max(evidence, self.enough) if dropped[other] else evidence)
        return Standing(leads, min(1.0, float((self._problem.size - 1) * np.exp(-weakest))))

    def _entries(self, b: int, a: int, horizon: Horizon) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what enters for b and for a: each source by the arm of the two that it was asked about first.

        Of the pulls of both arms only those before the first that is still out: which ones have come back may depend
        on what was said, and so may a lucky moment to look.
        """
        end = min(horizon(b), horizon(a))
        ups: list[float] = []
        downs: list[float] = []
        for first in self._first:
            arm = next((arm for arm in first if arm in (b, a)), None)  # dicts keep their order
            if arm is None or first[arm].number >= end:
                continue
            value = first[arm].value
            if value is not None:
                (ups if arm == b else downs).append(value)
        return np.array(ups), np.array(downs)

    def _log_paired(self, b: int, a: int, horizon: Horizon) -> float:
        """Return log W of the differences: 1 + lambda (x_b - x_a), and 1 - lambda where one of the two is missing."""
        low, high = self._problem.bounds or (0.0, 1.0)
        end = min(horizon(b), horizon(a))
        differences, single = [], 0
        for first in self._first:
            said = {arm: first[arm].value for arm in (b, a) if arm in first and first[arm].number < end}
            up, down = said.get(b), said.get(a)
            if up is not None and down is not None:
                differences.append(up - down)
            else:
                single += bool(said)
        both = np.array(differences) / (high - low)
        logs = []
        for size in LAMBDAS:
            price = self.count * math.log((1.0 + size) / (1.0 - size))
            total = float(np.log1p(size * both).sum()) + single * math.log1p(-size) - price
            logs.append(total + math.log(1.0 / len(LAMBDAS)))
        top = max(logs)
        return top + math.log(sum(math.exp(value - top) for value in logs))
