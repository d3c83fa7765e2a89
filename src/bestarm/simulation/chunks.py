"""Run a chunk of trials: a plain function of settings that can be pickled, with the same outcome wherever it runs."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.bandits import Bandit, Stream
from bestarm.errors import InputError
from bestarm.kernels.algorithms.stopping import IDENTIFIED, INDISTINGUISHABLE
from bestarm.kernels.jit.private import RoomyPCG64, generator_words
from bestarm.kernels.order_statistics.samples import Pool
from bestarm.kernels.rewards.draws import Laws
from bestarm.kernels.rule import Rule
from bestarm.kernels.state.state import State, new_state
from bestarm.kernels.trials.drive import run_on, tell_on
from bestarm.kernels.trials.trial import Outcome, Seeds
from bestarm.kernels.trials.verbs import ask
from bestarm.policies.policy import NO_WINNER, JittedPolicy, Policy, PolicyRule, chosen, observed
from bestarm.problem import LARGEST_REWARD, Problem, checked_reward
from bestarm.simulation.jitted import run_jitted
from bestarm.simulation.seeds import TrialSeeds, generator, method_seed

NO_CAP = 2**62
REWARDS_PER_ARM = 2**12  # room per trial, at first
MOST_REWARDS = 2**24
LARGEST_SPARE = 2**25  # rewards: 256 MiB


class _Spare(threading.local):
    """A pool for the next chunk in this thread: new memory costs as much as the rewards that are drawn into it."""

    pool: Pool | None = None


_spare = _Spare()


@dataclass(frozen=True)
class Spec:
    """Everything that trials depend on.

    Attributes
    ----------
    problem : Problem
        The question.
    rule : Rule or PolicyRule
        The settings of the method; a method that draws arms at random has a seed of its own in every trial, set in a
        copy. Or how a policy is made: every trial makes a new one with a seed of its own.
    laws : Laws or None
        What rewards are drawn from; None if the bandit has Python functions in it, or the method is a policy.
    bandit : Bandit or None
        The bandit in that case.
    max_pulls : int
        Cap on the pulls per trial.
    seeds : TrialSeeds
        The seeds of the trials.
    """

    problem: Problem
    rule: Rule | PolicyRule
    laws: Laws | None
    bandit: Bandit | None
    max_pulls: int
    seeds: TrialSeeds


class ChunkResult(NamedTuple):
    """Outcome of consecutive trials: pulls, arm named (-1 for none), pulls of each arm, and how it ended, by code."""

    pulls: NDArray[np.int64]
    answers: NDArray[np.int64]
    arm_pulls: NDArray[np.int64]
    done: NDArray[np.int64]

    @classmethod
    def empty(cls, trials: int, arms: int) -> ChunkResult:
        """Return room for the outcome of `trials` trials."""
        pulls, answers, done = np.empty((3, trials), np.int64)
        return cls(pulls, answers, np.empty((trials, arms), np.int64), done)

    def put(self, first: int, part: ChunkResult) -> None:
        """Copy the outcome of a chunk to its position among all trials."""
        for column, values in zip(self, part, strict=True):
            column[first : first + len(values)] = values

    def part(self, first: int, last: int) -> ChunkResult:
        """Return the outcome of the trials first, ..., last - 1."""
        return ChunkResult(*(column[first:last] for column in self))


def run_chunk(spec: Spec, first: int, last: int) -> ChunkResult:
    """Run the trials first, ..., last - 1. The outcome of trial i depends on `spec` and i alone."""
    result = ChunkResult.empty(last - first, spec.problem.size)
    if isinstance(spec.rule, PolicyRule):
        for index in range(last - first):
            _run_policy(spec, spec.rule, first + index, result.part(index, index + 1))
        return result
    if spec.laws is not None:
        _run_compiled(spec, spec.rule, spec.laws, spec.seeds.words(first, last), result)
        return result
    rule = spec.rule.copy()
    for index in range(last - first):
        child = spec.seeds.child(first + index)
        rule["seed"] = method_seed(child)
        state = _run_in_python(spec, rule, np.random.default_rng(child))
        result.pulls[index] = state.control["t"][0]
        result.answers[index] = state.control["best"][0]
        result.arm_pulls[index] = state.samples.arms["told"]
        result.done[index] = state.control["done"][0]
    return result


def _foreseen(spec: Spec, rule: Rule) -> int:
    """Return how many rewards of a trial to reserve memory for: memory that is not used costs nothing."""
    arms = spec.problem.size
    usual = arms * max(2.0 * rule["explored"][0], REWARDS_PER_ARM)
    return int(min(spec.max_pulls, usual, MOST_REWARDS))


def _run_compiled(spec: Spec, settings: Rule, laws: Laws, seeds: NDArray[np.uint64], result: ChunkResult) -> None:
    rule = settings.copy()
    laws = laws._replace(memory=laws.memory.copy())  # another thread may use these
    spare, _spare.pool = _spare.pool, None
    state = new_state(spec.problem.size, rule, rewards=_foreseen(spec, rule), pool=spare)
    blank = new_state(spec.problem.size, rule)

    def run(rng: np.random.Generator, seeds: Seeds, part: ChunkResult) -> None:
        nonlocal state
        state = run_on(state, blank, rule, laws, rng, seeds, spec.max_pulls, False, Outcome(*part))

    bits = RoomyPCG64(0)
    where = generator_words(bits)
    if where is not None:
        run(np.random.Generator(bits), Seeds(seeds, where), result)
    else:  # one generator and one compiled call per trial
        for i in range(len(seeds)):
            run(generator(seeds[i]), Seeds(seeds[i : i + 1], np.empty(0, np.uint64)), result.part(i, i + 1))
    if state.samples.pool.size <= LARGEST_SPARE:
        _spare.pool = state.samples.pool


def _run_policy(spec: Spec, rule: PolicyRule, trial: int, result: ChunkResult) -> None:
    """Run a trial of a policy, on the same rewards as a method of the catalogue."""
    assert spec.bandit is not None
    child = spec.seeds.child(trial)
    arms, name = spec.problem.size, rule.name
    policy = replace(rule, question=replace(rule.question, seed=method_seed(child))).start()
    counts = np.zeros(arms, np.int64)
    if isinstance(policy, JittedPolicy) and spec.bandit.compiled:
        rng = np.random.default_rng(child)
        t, decision = run_jitted(policy, name, spec.bandit.laws(), rng, spec.max_pulls, counts)
    else:
        t, decision = _run_verbs(spec, policy, name, spec.bandit.stream(child), counts)
    result.pulls[0], result.arm_pulls[0] = t, counts
    result.answers[0] = NO_WINNER if decision is None else decision
    result.done[0] = 0 if decision is None else INDISTINGUISHABLE if decision == NO_WINNER else IDENTIFIED


def _run_verbs(
    spec: Spec, policy: Policy, name: str, stream: Stream, counts: NDArray[np.int64]
) -> tuple[int, int | None]:
    """Run a trial of a policy pull by pull; return the pulls and the decision, and add to the counts."""
    arms = counts.size
    pending = np.zeros(arms, np.int64)
    pending.flags.writeable = False
    t, decision = 0, None
    while decision is None and t < spec.max_pulls:
        arm = chosen(policy, name, pending, t)
        reward = _checked(spec, stream.pull(arm))
        decision = observed(policy, name, arm, reward, arms, t)
        counts[arm] += 1
        t += 1
    return t, decision


def _checked(spec: Spec, reward: float) -> float:
    if not abs(reward) <= LARGEST_REWARD:
        raise InputError("reward", "be a finite number", reward, "an arm or adversary of the bandit gave it")
    return checked_reward(spec.problem, reward)


def _run_in_python(spec: Spec, rule: Rule, rng: np.random.Generator) -> State:
    assert spec.bandit is not None
    state = new_state(spec.problem.size, rule)
    stream = spec.bandit.stream(rng)
    index, reward = np.empty(1, np.int64), np.empty(1)
    while state.control["done"][0] == 0 and state.control["t"][0] < spec.max_pulls:
        ask(state, rule, 1, index)
        reward[0] = _checked(spec, stream.pull(int(index[0])))
        state, _, _ = tell_on(state, rule, index, reward)
    return state
