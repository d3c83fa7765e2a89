"""Forecast how many more rewards a decision takes, by simulated continuations ("replays").

A replay draws a law for each arm from its rewards, continues from a copy of the present state with rewards of these
laws until the method stops, and counts. It is a simulated trial that begins at the live state.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bestarm.identification.result import LIMITS
from bestarm.identification.waiting import Waiting
from bestarm.identification.wording import forecast as words
from bestarm.kernels.rewards.draws import DISCRETE, GAUSSIAN, Laws, attack_dtype, law_dtype
from bestarm.kernels.rule import Rule
from bestarm.kernels.state.state import State, new_state
from bestarm.kernels.trials.drive import run_on
from bestarm.kernels.trials.trial import Outcome, Seeds
from bestarm.kernels.trials.verbs import describe
from bestarm.methods import forced_pulls
from bestarm.methods.certified import KEPT
from bestarm.problem import Problem
from bestarm.validation import Seed, checked_seed

FEWEST = 5  # rewards of each arm that a forecast needs
REPLAYS = 60
FEWEST_REPLAYS = 10
ENOUGH_BEYOND = 5  # replays, if none of them ends within the horizon
BUDGET = 9_000_000  # rewards of all replays together, 0.1 microseconds each
LATTICE_REWARD = 3  # a reward on the lattice costs as much as this many
AHEAD = 20  # a replay ends, undecided, at this many times the rewards so far
ROUNDS_AHEAD = 8_192  # or at this many rounds, if that is more: the default resolution stops a few arms before that
# The cost of a replay before its first reward, in rewards: one for this many numbers to copy, or values to weigh.
COPIED, WEIGHED = 50, 12
MOST_VALUES = 1_024  # of an arm: beyond that, values at equal steps in sorted order stand for their neighbours
OUTLOOKS = ("decided", "winner", "no winner", "not at this epsilon", "beyond the horizon", "too early")
_LOW, _HIGH = 0.1, 0.9


@dataclass(frozen=True)
class Forecast:
    """How many more rewards a decision takes if things go on like this; `str()` is one sentence.

    Attributes
    ----------
    outlook : str
        The most common outcome of the replays: "winner", one is named; "not at this epsilon", it stops without one, as
        contamination could hide the remaining lead; "no winner", it stops at its resolution; "beyond the horizon",
        it has not stopped by then. Without a replay: "decided"; "too early", an arm has fewer than five rewards.
    rewards : int or None
        The median, over all replays, of how many more rewards it takes to stop, with a winner or without. None if that
        is beyond the horizon.
    low, high : float
        8 of 10 replays lie between; `high` is infinite if it is beyond the horizon.
    replays, agreeing : int
        Number of replays, and how many of them end as the outlook says.
    horizon : int
        Rewards after which a replay is given up.
    waiting : Waiting
        Rewards that have come in and wait for outstanding pulls: the forecast does not use them.
    """

    outlook: str
    rewards: int | None
    low: float
    high: float
    replays: int = 0
    agreeing: int = 0
    horizon: int = 0
    waiting: Waiting = field(default_factory=Waiting)

    def __str__(self) -> str:
        return words.forecast(self, FEWEST)

    @property
    def brief(self) -> str:
        """The number alone, in words: "about 1,200 more rewards (800 to 2,100)"; 8 of 10 replays lie in the range."""
        return words.how_many_more(self)


DECIDED = Forecast("decided", 0, 0.0, 0.0)
_TOO_EARLY = Forecast("too early", None, 0.0, math.inf)


def foretell(
    problem: Problem, rule: Rule, state: State, tapes: Sequence[NDArray[np.float64]] | None, seed: Seed
) -> Forecast:
    """Return the forecast for an undecided state (overwritten); `tapes` are the rewards of each arm, if kept."""
    arms, told = state.samples.arms, int(state.control["t"][0])
    if (arms["told"][arms["active"] == 1] < FEWEST).any():
        return _TOO_EARLY
    budget = BUDGET if state.evidence is None or state.evidence.lattice is None else BUDGET // LATTICE_REWARD
    horizon = min(max(AHEAD * told, ROUNDS_AHEAD * problem.size), budget // FEWEST_REPLAYS)
    forced = math.ceil(forced_pulls(rule, problem.size)) * problem.size - told
    if forced > horizon:
        return Forecast("beyond the horizon", None, float(forced), math.inf, horizon=horizon)
    state.control["pending"] = 0
    arms["pending"] = 0
    if tapes is not None:
        rule["kept"] = max(KEPT, int(state.control["room"][0]))  # replays let go of rewards as simulations do
    rng = np.random.default_rng(checked_seed(seed))
    laws = _Weighed(tapes, arms["active"] == 1) if tapes is not None else _Normal(problem, rule, state)
    ends: list[tuple[float, str]] = []
    spent = 0
    while len(ends) < REPLAYS and (len(ends) < FEWEST_REPLAYS or spent < budget):
        last, outlook = _replay(copy.deepcopy(state), rule, laws.draw(rng), rng, told + horizon)
        ends.append((math.inf if outlook == "beyond the horizon" else last - told, outlook))
        spent += last - told + state.samples.pool.size // COPIED + laws.size // WEIGHED
        if len(ends) == ENOUGH_BEYOND and all(math.isinf(more) for more, _ in ends):
            break
    return _summary(ends, horizon)


def _replay(state: State, rule: Rule, laws: Laws, rng: np.random.Generator, last: int) -> tuple[int, str]:
    """Continue from a state (changed) up to a number of rewards; return how many there are, and the outcome."""
    arms = state.samples.arms.size
    pulls, answers, done = np.empty((3, 1), np.int64)
    unused = Seeds(np.zeros((1, 5), np.uint64), generator=np.empty(0, np.uint64))  # `rng` is used as it comes
    blank = new_state(arms, rule)
    outcome = Outcome(pulls, answers, np.empty((1, arms), np.int64), done)
    state = run_on(state, blank, rule, laws, rng, unused, last, True, outcome)
    if done[0] == 0:
        return last, "beyond the horizon"
    if done[0] == 1:
        return int(pulls[0]), "winner"
    hidden = LIMITS[int(state.control["limit"][0])] == "contamination"
    return int(pulls[0]), "not at this epsilon" if hidden else "no winner"


def _summary(ends: list[tuple[float, str]], horizon: int) -> Forecast:
    numbers = sorted(more for more, _ in ends)
    low, middle, high = (numbers[math.ceil(share * len(ends)) - 1] for share in (_LOW, 0.5, _HIGH))
    found = [outlook for _, outlook in ends]
    stopped = [outlook for outlook in OUTLOOKS if outlook in found and outlook != "beyond the horizon"]
    outlook = "beyond the horizon" if math.isinf(middle) else max(stopped, key=found.count)
    rewards = None if math.isinf(middle) else int(middle)
    return Forecast(outlook, rewards, min(low, horizon), high, len(ends), found.count(outlook), horizon)


class _Weighed:
    """Laws on the rewards of each arm, weighed at random: the Bayesian bootstrap (Rubin 1981)."""

    def __init__(self, tapes: Sequence[NDArray[np.float64]], active: NDArray[np.bool_]) -> None:
        # A dropped arm is not asked for again: any law will do.
        parts = [_values(tape if alive else np.zeros(1)) for tape, alive in zip(tapes, active, strict=True)]
        self._values = np.concatenate([values for values, _ in parts])
        self._counts = np.concatenate([counts for _, counts in parts])
        self.size = self._values.size
        lengths = np.array([values.size for values, _ in parts])
        self._rows = np.zeros(len(parts), law_dtype)
        self._rows["kind"] = DISCRETE
        self._rows["last"] = np.cumsum(lengths) - 1
        self._rows["first"] = self._rows["last"] + 1 - lengths
        self._lengths = lengths

    def draw(self, rng: np.random.Generator) -> Laws:
        """Return a law for each arm."""
        weights = rng.standard_gamma(self._counts)
        weights /= np.repeat(np.add.reduceat(weights, self._rows["first"]), self._lengths)
        before = np.repeat(np.arange(self._lengths.size, dtype=np.float64), self._lengths)
        return _laws(self._rows, np.stack([self._values, np.cumsum(weights) - before]))


def _values(tape: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values on a tape, and how often each is there."""
    values, counts = np.unique(tape, return_counts=True)
    if values.size > MOST_VALUES:
        edges = np.linspace(0, tape.size, MOST_VALUES + 1).astype(np.int64)
        values, counts = np.sort(tape)[(edges[:-1] + edges[1:]) // 2], np.diff(edges)
    return values, counts.astype(np.float64)


class _Normal:
    """Normal laws around the estimate of each arm, as wide as sigma: for methods that keep no list of rewards."""

    size = 0

    def __init__(self, problem: Problem, rule: Rule, state: State) -> None:
        self._estimates, *ends = np.empty((3, problem.size))
        describe(state, rule, self._estimates, *ends)
        self._errors = problem.sigma / np.sqrt(state.samples.arms["told"])
        self._rows = np.zeros(problem.size, law_dtype)
        self._rows["kind"], self._rows["b"] = GAUSSIAN, problem.sigma

    def draw(self, rng: np.random.Generator) -> Laws:
        """Return a law for each arm."""
        rows = self._rows.copy()
        rows["a"] = self._estimates + self._errors * rng.standard_normal(rows.size)
        return _laws(rows, np.empty((2, 0)))


def _laws(rows: NDArray[np.void], support: NDArray[np.float64]) -> Laws:
    return Laws(rows, support, np.zeros(0, attack_dtype), 0.0, np.zeros((0, 0)))
