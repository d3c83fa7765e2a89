"""Contamination by sources: at most a share epsilon of the raters, devices or test items is dishonest.

The rewards of one source on two arms are dependent, so each source enters a pair once (section 11 of
docs/explanation/certified.md): by the arm that it rewarded first or, with `paired`, by the difference.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import resolve
from bestarm.errors import InputError
from bestarm.identification.robustness import ALL, Standing, compare_with_others, pair_state, widest_lead
from bestarm.kernels.trials.readouts import is_pair_proved, judge_pair
from bestarm.methods.certified import certified_rule
from bestarm.problem import Problem

CHAMPIONS = 3
_LEAST_RATE = 1e-3  # the bets of the lattice are made for some rate, however small
LAMBDAS = tuple(0.96 / 1.8**step for step in range(12))  # down to a difference of about 0.001
BY_LABEL = -1  # in place of the number of a pull: the reward was told by the label of its arm, in the order of use

Horizon = Callable[[int], float]  # from an arm to the number of its first pull that has not been used


class Said(NamedTuple):
    """The first reward of each source on one arm, one row per source, in the order in which they became known.

    Attributes
    ----------
    sources, values, numbers, order : arrays
        The source; the reward, nan if its pull was cancelled; the number of the pull; and its rank in the order of use.
    """

    sources: NDArray[np.int64]
    values: NDArray[np.float64]
    numbers: NDArray[np.int64]
    order: NDArray[np.int64]

    def up_to(self, end: float) -> Said:
        """Return the rows of pulls with numbers below `end`."""
        return self.at(self.numbers < end)

    def at(self, rows: NDArray[np.bool_]) -> Said:
        """Return some of the rows."""
        return Said(self.sources[rows], self.values[rows], self.numbers[rows], self.order[rows])

    def rewards(self) -> NDArray[np.float64]:
        """Return the rewards, without cancelled pulls."""
        return self.values[~np.isnan(self.values)]

    def first_before(self, other: Said) -> Said:
        """Return the rows of sources that were asked about this arm first, and about the other later or never."""
        also, match = self.match(other)
        kept = np.ones(self.sources.size, np.bool_)
        kept[also] = self.order[also] < other.order[match]
        return self.at(kept)

    def match(self, other: Said) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows of the sources that were asked about both arms: in this table, and in the other."""
        slots = np.searchsorted(other.sources, self.sources)
        inside = np.flatnonzero(slots < other.sources.size)
        also = inside[other.sources[slots[inside]] == self.sources[inside]]
        return also, slots[also]


class SourceRewards:
    """The first reward of each source on each arm, and when it came; decides which arms are proved worse."""

    def __init__(self, problem: Problem, options: Mapping[str, Any]) -> None:
        if options["paired"] and problem.bounds is None:
            raise InputError(
                "paired", "come with bounds", True, "bets on a difference need a lowest and a highest reward"
            )
        self._problem = problem
        self._paired = bool(options["paired"])
        self._model = resolve(options["contamination"])
        self._share_from = float(options["share_from"])
        with_rate = replace(problem, epsilon=max(problem.epsilon, _LEAST_RATE))
        self._rule = certified_rule(with_rate, options, surely=0.0)
        self._rule["kept"] = ALL
        self._known: dict[Hashable, int] = {}
        # The first reward of each source on each arm, one row each, in the order of use: see `Said`.
        self._sources, self._arms, self._numbers = array("q"), array("q"), array("q")
        self._values = array("d")
        self._asked: set[int] = set()  # pairs of a source and an arm, as one number
        self._silent: set[Hashable] = set()  # sources with a cancelled pull
        self._unnamed: Counter[int] = Counter()  # by arm: cancelled pulls without a named source
        self._said = self._said_at_check = 0  # rewards that count, and how many there were at the last check

    @property
    def enough(self) -> float:
        """The log evidence that drops an arm."""
        return float(self._rule["log_threshold"][0])

    @property
    def number(self) -> int:
        """Distinct sources so far, V: a cancelled pull without a source counts as a further one."""
        return len(self._known) + self._unnamed.total()

    @property
    def cancelled(self) -> int:
        """Sources with a cancelled pull: they may be dishonest."""
        return len(self._silent) + self._unnamed.total()

    def number_with(self, sources: set[Hashable], unnamed: int) -> int:
        """Return how many sources there are with some that have not been used yet, and some unknown ones."""
        return self.number + len(sources.difference(self._known)) + unnamed

    @property
    def count(self) -> int:
        """Sources that may be dishonest, c: the share is assumed to hold from `share_from` sources on."""
        return self._model.allowed(self._problem.epsilon, self.number, self._share_from)

    def openings(self) -> tuple[list[NDArray[np.float64]], list[int]]:
        """Return for each arm the rewards of sources that were asked about it before any other arm.

        The second list counts for each arm the cancelled pulls that were, or may have been, the first of their source.
        """
        opening = np.zeros(len(self._sources), np.bool_)
        opening[np.unique(np.frombuffer(self._sources, np.int64), return_index=True)[1]] = True
        said = [part.at(opening[part.order]) for part in self.by_arm()]
        silent = [int(np.isnan(part.values).sum()) + self._unnamed[index] for index, part in enumerate(said)]
        return [part.rewards() for part in said], silent

    def tell(self, index: int, value: float, source: Hashable, number: int = BY_LABEL) -> bool:
        """Take in a source's reward on an arm; return False if it was asked about that arm before: it counts once."""
        if not self._record(index, value, source, number):
            return False
        self._said += 1
        return True

    def cancel(self, index: int, source: Hashable | None, number: int) -> None:
        """Take in that a source, known or not, will not reward an arm."""
        if source is None:
            self._unnamed[index] += 1
            return
        self._silent.add(source)
        self._record(index, math.nan, source, number)

    def _record(self, index: int, value: float, source: Hashable, number: int) -> bool:
        known = self._known.setdefault(source, len(self._known))
        asked = known * self._problem.size + index
        if asked in self._asked:
            return False
        self._asked.add(asked)
        self._sources.append(known)
        self._arms.append(index)
        self._values.append(value)
        self._numbers.append(number)
        return True

    def by_arm(self) -> list[Said]:
        """Return the rows of each arm."""
        arms, sources = np.frombuffer(self._arms, np.int64), np.frombuffer(self._sources, np.int64)
        order = np.lexsort((sources, arms))
        columns = sources, np.frombuffer(self._values), np.frombuffer(self._numbers, np.int64)
        ends = np.cumsum(np.bincount(arms, minlength=self._problem.size))[:-1]
        parts = [np.split(column[order], ends) for column in columns]
        return [Said(*rows) for rows in zip(*parts, np.split(order, ends), strict=True)]

    def is_due(self) -> bool:
        """Tell whether a check is due: when there are a twentieth more rewards than at the last one."""
        return self._said >= self._said_at_check + max(1, self._said_at_check // 20)

    def worse(self, survivors: NDArray[np.int64], horizon: Horizon) -> list[int]:
        """Return the arms that are proved worse than some survivor."""
        self._said_at_check = self._said
        said = self.by_arm()
        middles = {arm: _middle(said[arm].rewards()) for arm in survivors.tolist()}
        champions = sorted(middles, key=lambda arm: (-middles[arm], arm))[:CHAMPIONS]
        dropped: list[int] = []
        for a in middles:
            if any(b != a and b not in dropped and self._is_worse(said, b, a, horizon) for b in champions):
                dropped.append(a)
        return dropped

    def _is_worse(self, said: list[Said], b: int, a: int, horizon: Horizon) -> bool:
        end = min(horizon(b), horizon(a))
        if self._paired:
            return self._log_paired(said[b], said[a], end) >= self.enough
        ups, downs = entries(said[b], said[a], end)
        if not ups.size or not downs.size:
            return False
        return bool(is_pair_proved(pair_state(self._rule, ups, downs), self._rule, self._price(b, a)))

    def _price(self, b: int, a: int) -> float:
        """Return the number of dishonest sources that a pair pays for.

        A cancelled pull without a source may have been the first of a source that then enters by the other arm: what it
        would have said is lost, and what it says is chosen. The pair pays for that twice (section 11).
        """
        return float(self.count + self._unnamed[b] + self._unnamed[a])

    def evidence(self, said: list[Said], b: int, a: int, horizon: Horizon) -> tuple[float, float]:
        """Return the log evidence that b is better than a, and a lower bound of its lead (-infinity if none)."""
        end = min(horizon(b), horizon(a))
        if self._paired:
            return max(self._log_paired(said[b], said[a], end), 0.0), -math.inf
        ups, downs = entries(said[b], said[a], end)
        if not ups.size or not downs.size:
            return 0.0, -math.inf
        pair, widest = pair_state(self._rule, ups, downs), widest_lead(self._problem)
        found = judge_pair(pair, self._rule, self._price(b, a), widest)
        return float(found[0]), float(found[1]) * float(self._rule["scale"][0])

    def standing(self, leader: int, dropped: NDArray[np.bool_], horizon: Horizon) -> Standing:
        """Return how an arm stands against all others; arms dropped earlier count with the evidence of that time."""
        said = self.by_arm()
        judge = partial(self.evidence, said, leader, horizon=horizon)
        leads, weakest = compare_with_others(self._problem, leader, dropped, self.enough, judge)
        return Standing(leads, min(1.0, float((self._problem.size - 1) * np.exp(-weakest))))

    def _log_paired(self, b: Said, a: Said, end: float) -> float:
        """Return log W of the differences: 1 + lambda (x_b - x_a), and 1 - lambda where one of the two is missing."""
        low, high = self._problem.bounds or (0.0, 1.0)
        one, two = b.up_to(end), a.up_to(end)
        here, there = one.match(two)
        differences = one.values[here] - two.values[there]
        both = differences[~np.isnan(differences)] / (high - low)
        single = one.sources.size + two.sources.size - here.size - both.size
        logs = []
        for size in LAMBDAS:
            price = self.count * math.log((1.0 + size) / (1.0 - size))
            total = float(np.log1p(size * both).sum()) + single * math.log1p(-size) - price
            logs.append(total + math.log(1.0 / len(LAMBDAS)))
        top = max(logs)
        return top + math.log(sum(math.exp(value - top) for value in logs))


def entries(b: Said, a: Said, end: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows that enter for b and for a: each source by the one of the two arms that it was asked about first.

    Only pulls before `end`, the first outstanding one, count: which ones have come back may depend on the rewards, and
    so may a lucky moment to look.
    """
    return b.first_before(a).up_to(end).rewards(), a.first_before(b).up_to(end).rewards()


def _middle(values: NDArray[np.float64]) -> float:
    """Return a key to compare medians, with ties broken by the mean; -infinity if there are no values."""
    return float(np.median(values)) + 1e-6 * float(np.mean(values)) if values.size else -math.inf
