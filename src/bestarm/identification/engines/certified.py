"""The certified method, which keeps all rewards to find out how much its verdict survives."""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.identification.engines._base import Decision, Row
from bestarm.identification.engines.kernel import KernelEngine
from bestarm.identification.forecast import Forecast, foretell
from bestarm.identification.ledger import Ledger
from bestarm.identification.robustness import ALL, Standing, ToldRewards, alarms, read_off, standing
from bestarm.identification.sources import BY_LABEL
from bestarm.identification.tail_alarm import tails_of
from bestarm.kernels.rule import Rule
from bestarm.kernels.trials.readouts import interval_of
from bestarm.problem import Problem
from bestarm.validation import Seed


class CertifiedEngine(KernelEngine):
    """Run the certified method, and read leads, p-value and robustness off its rewards."""

    def __init__(self, name: str, problem: Problem, options: Mapping[str, Any], ledger: Ledger, rule: Rule) -> None:
        rule["kept"] = ALL
        super().__init__(name, problem, options, ledger, rule)
        self.told = ToldRewards()

    def observe(self, index: int, value: float, source: Hashable | None = None, number: int = BY_LABEL) -> None:
        """Take one reward in, and keep it."""
        if source is not None:
            self.check_source(source)
        self._observe(index, value)

    def _observe(self, index: int, value: float) -> None:
        self.told.append(index, value)
        self._index[0] = index
        self._value[0] = value
        self._take(self._index, self._value)

    def observe_many(
        self, indices: NDArray[np.int64], values: NDArray[np.float64], sources: Sequence[Hashable] | None = None
    ) -> int | None:
        """Take rewards in, in order, and keep them."""
        self.told.extend(indices, values)
        return self._take(indices, values)

    def _estimate_of(self, index: int) -> float:
        """Return the middle of an arm's interval, or its estimate where that is infinite or empty."""
        estimate, lower, upper = interval_of(self.state, self.rule, index)
        middle = 0.5 * (lower + upper) if lower <= upper else math.nan
        return middle if math.isfinite(middle) else float(estimate)

    def _leader(self, rows: Sequence[Row]) -> int:
        """Return the arm with the highest estimate of those left; of equal ones, the highest mean."""
        first = self._highest(rows)
        if len(first) == 1 or not self.told.indices:
            return first[0]
        tapes = self.told.tapes(self.problem.size)
        return max(first, key=lambda index: tapes[index].mean() if tapes[index].size else -math.inf)

    def _alarms(self) -> tuple[str, ...]:
        """Return a sentence for each arm whose rewards contradict epsilon or sigma (section 8 of certified.md)."""
        told = self.arms["told"]  # the rest of a batch comes after the decision
        tapes = [tape[:used] for tape, used in zip(self.told.tapes(self.problem.size), told, strict=True)]
        kind = self.options["contamination"]
        return alarms(self.problem, kind, self.state, self.rule, tails_of(self.problem, tapes))

    def standing(self, leader: int, pulls: int) -> Standing | None:
        """Return the leads of an arm over the others after the first rewards, and the p-value of its being the best."""
        return standing(self.problem, self.options, self.told.first(pulls), leader, self.arms["dropped"] > 0)

    def readouts(self, decision: Decision) -> dict[str, Any]:
        """Return the winner's leads and what it survives; without a winner, the lead that would have been found."""
        used = self.told.first(decision.pulls)
        found = read_off(self.problem, self.options, used, decision.best, decision.left, decision.limit)
        if decision.leader is not None and decision.pulls > 0:
            stands = self.standing(decision.leader, decision.pulls)
            assert stands is not None
            found |= {"leads": stands.leads, "p_value": stands.p_value}
        return found

    def past(self, pulls: int) -> ToldRewards | None:
        """Return the first rewards."""
        return self.told.first(pulls)

    def rewards(self) -> ToldRewards:
        """Return a copy of all rewards told."""
        return copy.deepcopy(self.told)

    def forecast(self, seed: Seed) -> Forecast:
        """Return how many more rewards it takes to decide, with rewards drawn from those told."""
        return foretell(self.problem, self.rule, self.state, self.told.tapes(self.problem.size), seed)
