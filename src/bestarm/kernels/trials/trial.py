"""Simulated identifications from the first pull to the decision, many of them in one compiled call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import entry_kernel, kernel
from bestarm.kernels.order_statistics.tournament import Tree
from bestarm.kernels.rewards.draws import Laws, forget, pull
from bestarm.kernels.rewards.seeding import Words, start
from bestarm.kernels.rule import Rule
from bestarm.kernels.shortcuts.exploration import explore
from bestarm.kernels.shortcuts.quiet_draws import draw_quiet
from bestarm.kernels.state.state import Evidence, Indices, State, renew
from bestarm.kernels.trials.verbs import choose, find_room, observe
from bestarm.kernels.trials.white_box import is_white_box, pull_against

FINISHED = -1


class Outcome(NamedTuple):
    """The outcome of each trial."""

    pulls: NDArray[np.int64]
    answers: NDArray[np.int64]  # -1 for none
    arm_pulls: NDArray[np.int64]  # a row each
    done: NDArray[np.int64]  # how it ended, by code


class Seeds(NamedTuple):
    """The seeds of the trials: four words per row for the generator, and one for the method's random choices."""

    words: Words
    generator: Words  # where the generator keeps its state; empty if it is used as it comes


@kernel
def _run_until_full(
    state: State,
    rule: Rule,
    trees: Tree | None,
    members: Indices | None,
    evidence: Evidence | None,
    laws: Laws,
    rng: np.random.Generator,
    max_pulls: int,
) -> int:
    """Pull until the method stops, the cap is reached (both: FINISHED) or an arm, which is returned, needs room."""
    control = state.control[0]
    settings = rule[0]
    arms = state.arms
    white_box = is_white_box(laws)
    while control.done == 0 and control.t < max_pulls:
        draw_quiet(state, settings, members, evidence, laws, rng, max_pulls, white_box)
        if control.t == max_pulls:
            break
        index = choose(state, settings, trees, members, evidence)
        if arms[index].room_left == 0 and not find_room(state, settings, trees, members, evidence, index):
            return index
        if white_box:
            reward = pull_against(state, settings, evidence, laws, rng, index)
        else:
            reward = pull(laws, rng, index, arms[index].told, control.t)
        observe(state, settings, trees, members, evidence, index, reward)
    return FINISHED


@kernel
def _explore(
    state: State,
    rule: Rule,
    laws: Laws,
    rng: np.random.Generator,
    max_pulls: int,
    trees: Tree | None,
    members: Indices | None,
) -> bool:
    # The certified method has no forced exploration.
    explored = True
    if trees is not None:
        explored = explore(state, rule, laws, rng, max_pulls, trees, members)
    if members is not None:
        explored = explore(state, rule, laws, rng, max_pulls, trees, members)
    return explored


@kernel
def _run_trial(state: State, rule: Rule, laws: Laws, rng: np.random.Generator, max_pulls: int) -> int:
    """Run or continue a trial until it is FINISHED, or until an arm, which is returned, needs a larger pool."""
    trees, members, evidence = state.trees, state.members, state.evidence
    if state.control[0].t == 0 and not _explore(state, rule, laws, rng, max_pulls, trees, members):
        return 0
    return _run_until_full(state, rule, trees, members, evidence, laws, rng, max_pulls)


@entry_kernel
def run_trials(
    state: State,
    blank: State,
    rule: Rule,
    laws: Laws,
    rng: np.random.Generator,
    seeds: Seeds,
    max_pulls: int,
    first: int,
    begun: bool,
    outcome: Outcome,
) -> tuple[int, int]:
    """Run trials one after the other, in the same memory, and write the outcome of each.

    Return where it stopped and why: all trials are FINISHED, or an arm needs a larger pool. Then call again with a
    larger pool, from the trial that is returned, which has `begun`.

    `blank` is a new state and `state` one to work in. The seed of a trial goes to `rule`, which is changed.
    """
    for trial in range(first, outcome.pulls.size):
        if trial > first or not begun:
            if seeds.generator.size > 0:
                start(seeds.generator, seeds.words, trial)
            rule[0].seed = seeds.words[trial, 4]
            renew(state, blank, rule[0])
            forget(laws)
        asking = _run_trial(state, rule, laws, rng, max_pulls)
        if asking != FINISHED:
            return trial, asking
        outcome.pulls[trial] = state.control[0].t
        outcome.answers[trial] = state.control[0].best
        outcome.done[trial] = state.control[0].done
        for index in range(state.arms.size):
            outcome.arm_pulls[trial, index] = state.arms[index].told
    return outcome.pulls.size, FINISHED


@entry_kernel
def draw_only(laws: Laws, rng: np.random.Generator, arms: NDArray[np.int64]) -> float:
    """Draw the rewards of the given arms and return their sum: the least that a simulated pull can cost."""
    total = 0.0
    for t in range(arms.size):
        total += pull(laws, rng, arms[t], t, t)
    return total
