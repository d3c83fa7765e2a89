"""The compiled methods of the catalogue."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.identification.engines._base import Engine, Row
from bestarm.identification.forecast import Forecast, foretell
from bestarm.identification.ledger import Ledger
from bestarm.identification.sources import BY_LABEL
from bestarm.kernels.rule import Rule
from bestarm.kernels.state.state import State, new_state
from bestarm.kernels.trials import verbs
from bestarm.kernels.trials.drive import tell_on
from bestarm.methods import forced_pulls, too_long
from bestarm.problem import Problem
from bestarm.validation import Seed


class KernelEngine(Engine):
    """Runs a method by the same compiled functions that simulate it."""

    def __init__(self, name: str, problem: Problem, options: Mapping[str, Any], ledger: Ledger, rule: Rule) -> None:
        super().__init__(name, problem, options, ledger)
        self.rule = rule
        self.state: State = new_state(problem.size, rule)
        # One index and one reward on their way to or from the kernels: a new array costs more than the pull.
        self._index, self._value = np.zeros(1, np.int64), np.zeros(1)

    @property
    def control(self) -> NDArray[np.void]:
        """The control record."""
        return self.state.control

    @property
    def arms(self) -> NDArray[np.void]:
        """One record per arm."""
        return self.state.arms

    def tag(self) -> str:
        """Return a digest of the layout of all records: kernels would take another one for garbage."""
        arrays = [*self.state, *(self.state.evidence or ()), self.rule]
        layout = repr([str(getattr(array, "dtype", type(array).__name__)) for array in arrays])
        return hashlib.sha256(layout.encode()).hexdigest()[:12]

    def warning(self) -> str | None:
        """Return a warning of a forced exploration that is very long."""
        epsilon, size = self.problem.epsilon, self.problem.size
        exploration = self.options.get("exploration", "none")
        alpha = self.options.get("alpha", epsilon / 2.0)
        return too_long(forced_pulls(self.rule, size), exploration, epsilon, alpha, self.problem.delta)

    def ask(self, number: int) -> NDArray[np.int64]:
        """Return the next arms, each as if the rewards asked for before it had come in."""
        indices = self._index if number == 1 else np.empty(number, np.int64)
        verbs.ask(self.state, self.rule, number, indices)
        return indices

    def ask_unchanged(self, number: int) -> NDArray[np.int64]:
        """Return the next arms, and change only what `assign` changes.

        The gap family asks ahead by renewing estimates, which may change the last bit of a later one.
        """
        if self.state.trees is None:
            return self.ask(number)
        indices = np.empty(number, np.int64)
        verbs.ask(copy.deepcopy(self.state), self.rule, number, indices)
        self.assign(indices)
        return indices

    def observe(self, index: int, value: float, source: Hashable | None = None, number: int = BY_LABEL) -> None:
        """Take one reward in."""
        if source is not None:
            self.check_source(source)
        self._index[0] = index
        self._value[0] = value
        self._take(self._index, self._value)

    def _take(self, indices: NDArray[np.int64], values: NDArray[np.float64]) -> int | None:
        begin, deciding = 0, None
        while begin < indices.size:
            self.state, begin, decided = tell_on(self.state, self.rule, indices, values, begin)
            if decided:
                deciding = begin - 1
                self.decided = self.read()
        return deciding

    def rows(self) -> tuple[Row, ...]:
        """Return the state of each arm."""
        estimates, lower, upper = np.empty((3, self.problem.size))
        verbs.describe(self.state, self.rule, estimates, lower, upper)
        told, active = self.arms["told"].tolist(), self.arms["active"].astype(np.bool_).tolist()
        columns = told, estimates.tolist(), lower.tolist(), upper.tolist(), active
        return tuple(map(Row._make, zip(*columns, strict=True)))

    def forecast(self, seed: Seed) -> Forecast:
        """Return how many more rewards it takes to decide, with normal rewards around the estimates."""
        return foretell(self.problem, self.rule, self.state, None, seed)
