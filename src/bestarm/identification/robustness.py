"""What else the rewards of a certified verdict show: leads, p-value, alarms, and how much contamination it survives.

The rewards told are kept, and replayed at another epsilon or with a number of replaced rewards. Section
numbers are those of docs/explanation/certified.md.
"""

from __future__ import annotations

import functools
import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.identification.result import Limit, Status
from bestarm.identification.tail_alarm import Tails, alarm_of_all, alarm_of_arm, tails_of
from bestarm.kernels.evidence.pair import CLEAN, evidence_dtype
from bestarm.kernels.rule import Rule
from bestarm.kernels.state.state import State, make_room, new_state
from bestarm.kernels.trials.drive import tell_on
from bestarm.kernels.trials.readouts import count_replaced, find_alarms, is_hidden, judge_pair, withdraw
from bestarm.kernels.trials.verbs import describe
from bestarm.methods.certified import certified_rule
from bestarm.problem import Label, Problem
from bestarm.validation import checked

GRID = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
_FINE = (1e-4, 2e-4, 5e-4, 1e-3, 2e-3, *(round(0.005 * step, 3) for step in range(1, 98)))  # for the tolerance
ALL = 2**62
_POINTS = 30  # of a history
_PAIRS = 200  # that are simulated for the lead that would be found


@dataclass
class ToldRewards:
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

    def first(self, number: int) -> ToldRewards:
        """Return the first rewards."""
        return ToldRewards(self.indices[:number], self.values[:number])

    def tapes(self, arms: int) -> list[NDArray[np.float64]]:
        """Return the rewards of each arm, in order."""
        indices, values = np.frombuffer(self.indices, np.int64), np.frombuffer(self.values, np.float64)
        order = np.argsort(indices, kind="stable")
        return np.split(values[order], np.cumsum(np.bincount(indices, minlength=arms))[:-1])


@dataclass(frozen=True)
class Sensitivity:
    """The verdict that the same rewards support at another epsilon."""

    epsilon: float
    status: Status
    best: Label | None
    candidates: tuple[Label, ...]
    limit: Limit | None
    alarms: tuple[str, ...]


@dataclass(frozen=True)
class Standing:
    """The leads of the winner or leader over each other arm, and the p-value of its being the best (section 9)."""

    leads: dict[Any, float]
    p_value: float


def tell_all(state: State, rule: Rule, indices: NDArray[np.int64], values: NDArray[np.float64]) -> State:
    """Tell rewards, and return the state, which may be a new one with a larger pool."""
    index = 0
    while index < indices.size:
        state, index, _ = tell_on(state, rule, indices, values, index)
    return state


def replay(rule: Rule, tapes: Sequence[NDArray[np.float64]]) -> State:
    """Return the state after all rewards, told round by round; an arm that has no more is withdrawn, not dropped."""
    rule["kept"] = ALL
    state = new_state(len(tapes), rule)
    lengths = np.array([tape.size for tape in tapes])
    done = 0
    if not lengths.any():
        return state
    for end in map(int, np.unique(lengths)):
        present = np.flatnonzero(lengths > done)
        indices = np.tile(present, end - done)
        values = np.stack([tapes[int(index)][done:end] for index in present], axis=1).ravel()
        state = tell_all(state, rule, indices, values)
        done = end
        for index in np.flatnonzero(lengths == end):
            if (lengths > end).any():
                withdraw(state, rule, int(index), False)
    return state


def candidates(state: State) -> NDArray[np.int64]:
    """Return the arms that have not been dropped."""
    return np.flatnonzero(state.samples.arms["dropped"] == 0)


def _at(problem: Problem, options: Mapping[str, Any], epsilon: float) -> Rule:
    """Return the settings at another epsilon; a share then holds from 1/epsilon rewards on, if not set earlier."""
    given = dict(options)
    if epsilon > 0.0 and problem.epsilon > 0.0 and given["share_from"] == 1.0 / problem.epsilon:
        given["share_from"] = 1.0 / epsilon
    return certified_rule(replace(problem, epsilon=epsilon), given, endless=True)


def tolerance(problem: Problem, options: Mapping[str, Any], rewards: ToldRewards, best: int) -> float | None:
    """Return the largest epsilon of a grid, from the problem's own on, up to which the rewards single out the same arm.

    Every smaller epsilon of the grid counts too, unless the rewards contradict it (an alarm). None if one of those
    singles out no arm or another.
    """
    tapes = rewards.tapes(problem.size)
    tails = tails_of(problem, tapes)

    def holds(epsilon: float) -> bool:
        rule = _at(problem, options, epsilon)
        state = replay(rule, tapes)
        found = candidates(state)
        asked = replace(problem, epsilon=epsilon)
        contradicted = epsilon < problem.epsilon and alarms(asked, options["contamination"], state, rule, tails)
        return bool(contradicted) or bool(found.size == 1 and found[0] == best)

    if not all(holds(epsilon) for epsilon in GRID if epsilon < problem.epsilon):
        return None
    largest = problem.epsilon
    for epsilon in _FINE:
        if epsilon > problem.epsilon:
            if not holds(epsilon):
                break
            largest = epsilon
    return largest


def overturn(problem: Problem, options: Mapping[str, Any], rewards: ToldRewards, best: int) -> int:
    """Return the largest number of replaced rewards with which the rest still single out the same arm.

    On each arm, or on all arms together if the contamination is counted that way.
    """
    tapes = rewards.tapes(problem.size)
    most = int(max(tape.size for tape in tapes))

    def holds(count: int) -> bool:
        rate = min(max(count / most, 1e-3), 0.49)
        rule = certified_rule(replace(problem, epsilon=rate), options, surely=float(count), endless=True)
        found = candidates(replay(rule, tapes))
        return bool(found.size == 1 and found[0] == best)

    return largest_count(most, holds)


def largest_count(most: int, holds: Callable[[int], bool]) -> int:
    """Return the largest n up to `most` with `holds(n)`, if it holds for 0 and, where for n, for all smaller ones."""
    low, high = 0, 1
    while high <= most and holds(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def read_off(
    problem: Problem,
    options: Mapping[str, Any],
    rewards: ToldRewards,
    best: int | None,
    left: Sequence[int],
    limit: str | None,
) -> dict[str, Any]:
    """Return what the rewards say besides the decision: how much the winner survives, or which lead would be found."""
    if best is not None:
        return {
            "tolerance": tolerance(problem, options, rewards, best),
            "overturn": overturn(problem, options, rewards, best),
        }
    if limit != "resolution":
        return {}
    rounds = int(np.bincount(rewards.indices, minlength=problem.size)[list(left)].min())
    return {"detectable": detectable_lead(problem, options, rounds, len(rewards.indices))}


def detectable_lead(problem: Problem, options: Mapping[str, Any], rounds: int, told: int) -> float | None:
    """Return the lead of one arm over another that clean rewards would have shown with probability 0.9.

    `rounds` are the rewards of each of the two, and `told` those of all arms. The lead is the 0.9-quantile of what the
    evidence of simulated pairs without any lead leaves open, at this epsilon. Their rewards are normal with standard
    deviation sigma, or coin tosses within bounds: the widest laws there are. A true lead shifts what is proved of it by
    as much (on the lattice, nearly). None if no lead would do. The pairs are the same each time.
    """
    rule = certified_rule(problem, options)
    rule["kept"] = ALL
    count = count_replaced(rule, problem.size, rounds, told)
    return _detectable(rule.tobytes(), count, rounds, problem.bounds, problem.sigma, widest_lead(problem))


@functools.lru_cache(maxsize=32)
def _detectable(
    settings: bytes, count: float, rounds: int, bounds: tuple[float, float] | None, sigma: float, widest: float
) -> float | None:
    rule = np.frombuffer(settings, evidence_dtype).copy()
    random = np.random.default_rng(_PAIRS)
    found = []
    for _ in range(_PAIRS):
        one, two = random.normal(0.0, sigma, (2, rounds)) if bounds is None else random.choice(bounds, (2, rounds))
        found.append(judge_pair(pair_state(rule, one, two), rule, count, widest)[1])
    lead = -float(np.quantile(found, 0.1, method="lower"))
    return lead * float(rule["scale"][0]) if math.isfinite(lead) else None


def standing(
    problem: Problem, options: Mapping[str, Any], rewards: ToldRewards, arm: int, dropped: NDArray[np.bool_]
) -> Standing:
    """Return the leads of an arm over all others, as lower bounds, and the p-value of its being the best."""
    rule = certified_rule(problem, options)
    rule["kept"] = ALL
    tapes = rewards.tapes(problem.size)
    enough, scale = float(rule["log_threshold"][0]), float(rule["scale"][0])

    def judge(other: int) -> tuple[float, float]:
        evidence, lead = _judge(problem, rule, tapes, len(rewards.indices), arm, other)
        return evidence, scale * lead

    leads, weakest = compare_with_others(problem, arm, dropped, enough, judge)
    return Standing(leads, p_value(problem, weakest))


def compare_with_others(
    problem: Problem, arm: int, dropped: NDArray[np.bool_], enough: float, judge: Callable[[int], tuple[float, float]]
) -> tuple[dict[Label, float], float]:
    """Return the leads of an arm over all others, and the least log evidence that it is better than one of them.

    `judge` gives the log evidence against another arm, and the lead over it; an arm that was dropped had `enough`.
    """
    leads: dict[Label, float] = {}
    weakest = math.inf
    for other, label in enumerate(problem.labels):
        if other != arm:
            evidence, leads[label] = judge(other)
            weakest = min(weakest, max(evidence, enough) if dropped[other] else evidence)
    return leads, weakest


def _judge(
    problem: Problem, rule: Rule, tapes: Sequence[NDArray[np.float64]], told: int, arm: int, other: int
) -> tuple[float, float]:
    """Return the log evidence that an arm is better than another, and its lead, in the units of the bets."""
    n = min(tapes[arm].size, tapes[other].size)
    if n == 0:
        return 0.0, -math.inf
    count = count_replaced(rule, problem.size, n, told)
    return judge_pair(pair_state(rule, tapes[arm][:n], tapes[other][:n]), rule, count, widest_lead(problem))


def widest_lead(problem: Problem) -> float:
    """Return the largest lead that is searched for, in the units of the bets: all of the bounds, or 100 sigma."""
    return 100.0 if problem.bounds is None else 1.0


def p_value(problem: Problem, weakest: float) -> float:
    """Return the p-value of an arm's being the best, by the least log evidence that it is better than another."""
    return min(1.0, (problem.size - 1) * math.exp(-min(weakest, 700.0)))


def history(problem: Problem, options: Mapping[str, Any], rewards: ToldRewards, arm: int) -> list[tuple[int, float]]:
    """Return up to thirty numbers of rewards, evenly spaced, with the p-value of an arm's being the best at each.

    It is the evidence of `standing` after the first rewards, with the arms dropped by then.
    """
    rule = certified_rule(problem, options)
    rule["kept"] = ALL
    indices, values = np.array(rewards.indices, np.int64), np.array(rewards.values, np.float64)
    tapes = rewards.tapes(problem.size)
    state, told, found = new_state(problem.size, rule), 0, []
    for number in map(int, np.unique(np.rint(np.linspace(0, indices.size, _POINTS + 1)))[1:]):
        state = tell_all(state, rule, indices[told:number], values[told:number])
        told = number
        lengths = np.bincount(indices[:number], minlength=problem.size)
        parts = [tape[:length] for tape, length in zip(tapes, lengths, strict=True)]
        weakest = _weakest(problem, rule, parts, arm, state.samples.arms["dropped"] > 0)
        found.append((number, p_value(problem, weakest)))
    return found


def _weakest(
    problem: Problem, rule: Rule, tapes: Sequence[NDArray[np.float64]], arm: int, dropped: NDArray[np.bool_]
) -> float:
    """Return the least log evidence of an arm over another, as in `standing`, and stop when no other can be lower."""
    means = [float(tape.mean()) if tape.size else math.inf for tape in tapes]
    enough, told = float(rule["log_threshold"][0]), sum(tape.size for tape in tapes)
    weakest = math.inf
    for other in sorted(set(range(problem.size)) - {arm}, key=lambda index: (bool(dropped[index]), -means[index])):
        if p_value(problem, weakest) == 1.0 or (dropped[other] and weakest <= enough):
            break
        evidence, _ = _judge(problem, rule, tapes, told, arm, other)
        weakest = min(weakest, max(evidence, enough) if dropped[other] else evidence)
    return weakest


def pair_state(rule: Rule, one: NDArray[np.float64], two: NDArray[np.float64]) -> State:
    """Return a state of two arms that holds these rewards and has not looked at them."""
    state = new_state(2, rule)
    while state.control["room"][0] < max(one.size, two.size):
        state = make_room(state, 0)
    room = int(state.control["room"][0])
    for index, tape in enumerate((one, two)):
        state.samples.pool[index * room : index * room + tape.size] = (tape - rule["origin"][0]) / rule["scale"][0]
        state.samples.arms["told"][index] = tape.size
    return state


def alarms(
    problem: Problem, contamination: str, state: State, rule: Rule, tails: Sequence[Tails], dishonest: int | None = None
) -> tuple[str, ...]:
    """Return a sentence for each arm whose rewards contradict epsilon or sigma (section 8).

    `tails` are of the rewards of each arm; `dishonest` is how many sources may be, if sources are counted.
    """
    told, alarmed = state.samples.arms["told"], np.zeros(problem.size, np.int64)
    find_alarms(state, rule, alarmed)  # 1 for each arm that no mean fits
    ends = _means_left(problem, state, rule) if tails else []
    found = []
    for index, label in enumerate(problem.labels):
        used, of_all = int(told[index]), int(state.control["t"][0])
        fakes = count_replaced(rule, problem.size, used, of_all) if dishonest is None else dishonest
        far = tails[index].far(problem, contamination, float(fakes), ends[index]) if tails else None
        found.append(alarm_of_arm(problem, label, used, bool(alarmed[index]), far))
    if tails and rule["together"][0] and not any(found):  # else it is said already
        found.append(alarm_of_all(problem, contamination, tails, float(fakes), ends))
    return tuple(said for said in found if said is not None)


def _means_left(problem: Problem, state: State, rule: Rule) -> list[tuple[float, float]]:
    """Return the ends of each arm's interval, in sigma, where the first alarm pays for an interval that misses.

    Without contamination it looks at squares, another event (section 8): there no mean is left out.
    """
    if rule["kind"][0] == CLEAN:
        return [(-math.inf, math.inf)] * problem.size
    estimates, lower, upper = np.empty(problem.size), np.empty(problem.size), np.empty(problem.size)
    describe(state, rule, estimates, lower, upper)
    return [(float(low) / problem.sigma, float(high) / problem.sigma) for low, high in zip(lower, upper, strict=True)]


def sensitivity(
    problem: Problem, options: Mapping[str, Any], rewards: ToldRewards, epsilons: Sequence[float] | None
) -> tuple[Sensitivity, ...]:
    """Return the verdict that the rewards support at each epsilon of a grid."""
    if isinstance(epsilons, str | bytes) or not isinstance(epsilons, Iterable | None):
        raise InputError("epsilons", "be a list of numbers", epsilons, "put a single one in brackets: [0.1]")
    grid = sorted({*GRID, problem.epsilon}) if epsilons is None else [checked(epsilon=value)[0] for value in epsilons]
    tapes = rewards.tapes(problem.size)
    tails = tails_of(problem, tapes)
    rows = []
    for epsilon in grid:
        rule = _at(problem, options, epsilon)
        state = replay(rule, tapes)
        found = candidates(state)
        labels = tuple(problem.labels[index] for index in found)
        single = len(labels) == 1
        limit: Limit | None = None if single else "contamination" if is_hidden(state, rule) else "budget"
        status: Status = "identified" if single else "indistinguishable" if limit == "contamination" else "undecided"
        rung = alarms(replace(problem, epsilon=epsilon), options["contamination"], state, rule, tails)
        rows.append(Sensitivity(epsilon, status, labels[0] if single else None, labels, limit, rung))
    return tuple(rows)
