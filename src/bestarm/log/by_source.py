"""The evidence in a log of sources: the first of two arms that each rewarded, or the difference (section 11).

In the first case only the order of rows of the same source matters, in the second no order at all. Section numbers are
those of certified.md.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import default
from bestarm.identification.sources import LAMBDAS
from bestarm.log.evidence import RIVALS, LogEvidence
from bestarm.log.piles import Array, Pile, to_pile
from bestarm.log.pricing import Allowance
from bestarm.log.rewards import SourceTable
from bestarm.problem import Problem

_FEW = 0.05


class SourceEvidence(LogEvidence):
    """The evidence of sources: each enters a pair once, by the arm that it rewarded first (section 11)."""

    def __init__(
        self,
        problem: Problem,
        table: SourceTable,
        lost: NDArray[np.int64] | None = None,
        contamination: str | None = None,
    ) -> None:
        self._table = table
        # Missing rewards of each arm, which count as replaced; their sources are not known.
        self._lost = np.zeros(problem.size) if lost is None else lost
        spread = np.unique(table.value, return_inverse=True)
        self._values: Array = spread[0]
        self._codes = spread[1]
        # For each arm, the rows of the table that reward it, in the order of time.
        order = np.argsort(table.arm, kind="stable")
        cuts = np.cumsum(np.bincount(table.arm, minlength=problem.size))[:-1]
        self._whens = np.split(order, cuts)
        self._pairs: dict[tuple[int, int], tuple[tuple[Pile, Pile], NDArray[np.void]]] = {}
        self._known_differences: dict[tuple[int, int], tuple[Array, Array, int]] = {}
        self._seen = np.full(table.number, -1, np.int64)
        self._problem = problem
        super().__init__(
            problem, contamination or default("log with sources"), [self._count(when) for when in self._whens]
        )

    @property
    def base(self) -> int:
        """The number that epsilon is a share of: the sources."""
        return self._table.number

    def worse(self, allowance: Allowance, hasty: bool = False) -> NDArray[np.bool_]:
        """Return which arms are proved worse than one of the highest-ranked ones."""
        found = np.zeros(len(self.piles), bool)
        for index, a in enumerate(map(int, self.order)):
            found[a] = any(self.is_proved(int(b), a, allowance) for b in self.order[: min(index, RIVALS)])
            if hasty and index > 0 and not found[a]:
                break
        return found

    def is_proved(self, b: int, a: int, allowance: Allowance, lead: float = 0.0, times: float = 1.0) -> bool:
        """Tell whether b is proved to lead a by more than `lead`, with `times` as many rewards of the same kind."""
        return super().is_proved(b, a, self._with_lost(b, a, allowance), lead, times)

    def judge(self, b: int, a: int, allowance: Allowance) -> tuple[float, float]:
        """Return the log evidence that b is better than a, and a lower bound of its lead."""
        return super().judge(b, a, self._with_lost(b, a, allowance))

    def is_hidden(self, b: int, a: int, allowance: Allowance) -> bool:
        """Tell whether contamination could hide which of two arms is better, however many sources."""
        return super().is_hidden(b, a, self._with_lost(b, a, allowance))

    def _with_lost(self, b: int, a: int, allowance: Allowance) -> Allowance:
        """Return an allowance that pays once more for missing rewards of two arms.

        A source whose missing reward was its first of the two enters by the other arm: what it would have said is gone,
        and what it says is chosen (section 13).
        """
        return replace(allowance, shared=allowance.shared + float(self._lost[b] + self._lost[a]))

    def _independent_piles(self) -> list[Pile]:
        """Return the very first reward of each source: its arm does not depend on its value."""
        _, openings = np.unique(self._table.source, return_index=True)
        arm = self._table.arm[openings]
        return [self._count(openings[arm == index]) for index in range(self._problem.size)]

    def _count(self, when: NDArray[np.integer[Any]]) -> Pile:
        counts = np.bincount(self._codes[when], minlength=self._values.size)
        return to_pile(self._problem, self._values, counts)

    def _entries(self, b: int, a: int) -> tuple[Pile, Pile]:
        return self._compared(b, a)[0]

    def _pair(self, b: int, a: int, allowance: Allowance) -> NDArray[np.void]:
        return self._compared(b, a)[1]

    def _compared(self, b: int, a: int) -> tuple[tuple[Pile, Pile], NDArray[np.void]]:
        if (b, a) not in self._pairs:
            ups, downs = self._firsts(b, a)
            piles = self._count(ups), self._count(downs)
            self._pairs[b, a] = piles, self._fill(list(piles))
        return self._pairs[b, a]

    def _firsts(self, b: int, a: int) -> tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]:
        """Return the rows of sources that rewarded b before a, and of those that rewarded a before b."""
        ups, downs = self._whens[b], self._whens[a]
        when_down, when_up = self._when_of(ups, a), self._when_of(downs, b)
        return ups[(when_down < 0) | (ups < when_down)], downs[(when_up < 0) | (downs < when_up)]

    def _when_of(self, when: NDArray[np.integer[Any]], other: int) -> NDArray[np.int64]:
        """Return the rows in which the sources of some rows reward another arm, -1 where there is none."""
        source, others = self._table.source, self._whens[other]
        self._seen[source[others]] = others
        found: NDArray[np.int64] = self._seen[source[when]]
        self._seen[source[others]] = -1
        return found

    def is_one_sided(self, b: int, a: int) -> bool:
        """Tell whether hardly any source rewarded one of two arms first, as in a log sorted by arm."""
        one, two = (pile.number for pile in self._entries(b, a))
        return min(one, two) < _FEW * min(self._whens[b].size, self._whens[a].size)


class PairedEvidence(SourceEvidence):
    """The same by the difference of a source's rewards for two arms, within bounds: 1 + lambda (x_b - x_a - lead)."""

    def is_proved(self, b: int, a: int, allowance: Allowance, lead: float = 0.0, times: float = 1.0) -> bool:
        """Tell whether b is proved to lead a by more than `lead`, with `times` as many sources of the same kind."""
        return self._log_evidence(b, a, allowance.shared, lead / self.scale, times) >= self.enough

    def judge(self, b: int, a: int, allowance: Allowance) -> tuple[float, float]:
        """Return the log evidence that b is better than a, and a lower bound of its lead."""
        evidence = max(self._log_evidence(b, a, allowance.shared, 0.0, 1.0), 0.0)
        lead, beyond = -1.0, 1.0
        if not self.is_proved(b, a, allowance, lead * self.scale):
            return evidence, -math.inf
        for _ in range(20):
            middle = 0.5 * (lead + beyond)
            lead, beyond = (middle, beyond) if self.is_proved(b, a, allowance, middle * self.scale) else (lead, middle)
        return evidence, lead * self.scale

    def is_hidden(self, b: int, a: int, allowance: Allowance) -> bool:
        """Return False: sources have no limit."""
        return False

    def smallest_lead(self, b: int, a: int, allowance: Allowance) -> float | None:
        """Return None: sources have no limit."""
        return None

    def is_one_sided(self, b: int, a: int) -> bool:
        """Return False: no order matters."""
        return False

    def single_share(self, b: int, a: int) -> float:
        """Return the share of sources that rewarded only one of two arms, among those that rewarded any."""
        _, counts, single = self._differences(b, a)
        return single / max(single + float(counts.sum()), 1.0)

    def _log_evidence(self, b: int, a: int, count: float, lead: float, times: float) -> float:
        """Return log W of the differences; a source that rewarded only one of the two counts as the worst, 1 - lambda.

        Divided by 1 + |lead|, the excess over a lead is between -1 and 1 as well, so that the odds of a bet stay.
        """
        differences, counts, single = self._differences(b, a)
        excess = (differences - lead) / (1.0 + abs(lead))
        logs = [
            times * (float(counts @ np.log1p(size * excess)) + single * math.log1p(-size))
            - times * count * math.log((1.0 + size) / (1.0 - size))
            for size in LAMBDAS
        ]
        top = max(logs)
        return top + math.log(sum(math.exp(value - top) for value in logs) / len(LAMBDAS))

    def _differences(self, b: int, a: int) -> tuple[Array, Array, int]:
        """Return the differences of sources that rewarded both, ascending, their counts, and how many did not."""
        if (b, a) not in self._known_differences:
            ups, other = self._whens[b], self._when_of(self._whens[b], a)
            both = other >= 0
            found = self._table.value[ups[both]] - self._table.value[other[both]]
            values, counts = np.unique(found / self.scale, return_counts=True)
            single = ups.size + self._whens[a].size - 2 * int(both.sum())
            self._known_differences[b, a] = values, counts.astype(float), single
        return self._known_differences[b, a]
