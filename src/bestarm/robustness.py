"""How much more contamination a verdict survives, and what the rewards say against the assumptions.

The certified intervals hold at all times at once, so the rewards told can be folded again at any other epsilon.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.checks import checked
from bestarm.kernels.certified import TOO_MANY
from bestarm.kernels.methods import conclude, tell
from bestarm.kernels.state import State, make_room, new_state
from bestarm.methods.certified import certified_rule
from bestarm.problem import Label, Problem

GRID = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
_LARGEST = 0.499
_STEPS = 16  # of bisection: the tolerance is known to 0.5 / 2^16


@dataclass
class Log:
    """All rewards told, in order: arm indices and values."""

    indices: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))

    def append(self, index: int, value: float) -> None:
        """Append a reward."""
        self.indices.append(index)
        self.values.append(value)

    def extend(self, indices: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Append rewards."""
        self.indices.frombytes(indices.astype(np.int64, copy=False).tobytes())
        self.values.frombytes(values.tobytes())

    def first(self, number: int) -> Log:
        """Return the first rewards."""
        return Log(self.indices[:number], self.values[:number])


@dataclass(frozen=True)
class Sensitivity:
    """The verdict that the same rewards support at another epsilon."""

    epsilon: float
    status: str
    best: Label | None
    candidates: tuple[Label, ...]


def fold(problem: Problem, options: Mapping[str, Any], log: Log) -> State:
    """Return the state after all rewards of a log, with intervals renewed to the end and no decision."""
    rule = certified_rule(problem, options, endless=True)
    state = new_state(problem.size, rule)
    indices, values = np.frombuffer(log.indices, np.int64), np.frombuffer(log.values, np.float64)
    place = 0
    while place < indices.size:
        place, _ = tell(state, rule, indices, values, place)
        if place < indices.size:
            state = make_room(state, indices[place])
    conclude(state, rule)
    return state


def _candidates(state: State) -> NDArray[np.int64]:
    """Return the arms that may be the best: whose interval reaches the highest lower end."""
    arms = state.samples.arms
    return np.flatnonzero(arms["upper"] >= arms["lower"].max())


def tolerance(problem: Problem, options: Mapping[str, Any], log: Log) -> float:
    """Return the largest epsilon, from the problem's own on, at which the rewards still single out an arm."""
    low, high = problem.epsilon, _LARGEST
    if low >= high:
        return low
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if _candidates(fold(replace(problem, epsilon=middle), options, log)).size == 1:
            low = middle
        else:
            high = middle
    return low


def sensitivity(
    problem: Problem, options: Mapping[str, Any], log: Log, epsilons: Sequence[float] | None
) -> tuple[Sensitivity, ...]:
    """Return what the rewards of a log say at each epsilon of a grid."""
    grid = sorted({*GRID, problem.epsilon}) if epsilons is None else [checked(epsilon=value)[0] for value in epsilons]
    rows = []
    for epsilon in grid:
        found = _candidates(fold(replace(problem, epsilon=epsilon), options, log))
        labels = tuple(problem.labels[index] for index in found)
        single = len(labels) == 1
        rows.append(
            Sensitivity(epsilon, "identified" if single else "undecided", labels[0] if single else None, labels)
        )
    return tuple(rows)


def alarms(problem: Problem, state: State) -> tuple[str, ...]:
    """Return a sentence for each arm whose rewards contradict epsilon or sigma."""
    sentences = []
    arms = state.samples.arms
    for index in np.flatnonzero(arms["alarm"]):
        arm, label = arms[index], problem.labels[index]
        told, dropped = int(arm["alarmed"]), int(arm["dropped"])
        if arm["alarm"] == TOO_MANY:
            sentences.append(
                f"{dropped} of the first {told} rewards of {label!r} are further out than clean ones can be, more than "
                f"epsilon = {problem.epsilon:g} allows; epsilon is rather {dropped / told:.2g} or more, "
                f"or sigma is more than {problem.sigma:g}"
            )
        else:
            sentences.append(
                f"no mean fits the first {told} rewards of {label!r} with epsilon = {problem.epsilon:g} and "
                f"sigma = {problem.sigma:g}; one of the two is too small"
            )
    return tuple(sentences)
