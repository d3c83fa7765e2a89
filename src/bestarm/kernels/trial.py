"""Simulated identifications from the first pull to the decision, many of them in one compiled call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import allocating_kernel, kernel
from bestarm.kernels.draws import Laws, forget, pull
from bestarm.kernels.exploration import explore
from bestarm.kernels.methods import choose, observe
from bestarm.kernels.rule import Rule
from bestarm.kernels.samples import recount_calm
from bestarm.kernels.seeding import WORDS, Words, child_words, join, start
from bestarm.kernels.state import State, make_room, renew

FINISHED = -1


class Outcomes(NamedTuple):
    """What is kept of each trial."""

    pulls: NDArray[np.int64]
    answers: NDArray[np.int64]
    done: NDArray[np.int64]
    arm_pulls: NDArray[np.int64]  # trials x arms


@kernel
def _run_until_full(state: State, rule: Rule, laws: Laws, rng: np.random.Generator, max_pulls: int) -> int:
    """Pull until the method stops, the cap is reached (both: FINISHED) or an arm, which is returned, needs room."""
    control = state.control[0]
    settings = rule[0]
    arms = state.samples.arms
    pool = state.samples.pool
    while control.done == 0 and control.t < max_pulls:
        index = choose(arms, control, settings, state.members)
        if arms[index].calm == 0 and recount_calm(arms[index]) == 0:
            return index
        reward = pull(laws, rng, index, arms[index].told, control.t)
        observe(arms, control, settings, pool, state.members, state.trees, state.looks, index, reward)
    return FINISHED


@allocating_kernel
def _run_trial(state: State, rule: Rule, laws: Laws, rng: np.random.Generator, max_pulls: int) -> State:
    state = explore(state, rule, laws, rng, max_pulls)
    while True:
        arm = _run_until_full(state, rule, laws, rng, max_pulls)
        if arm == FINISHED:
            return state
        state = make_room(state, rule, arm)


@allocating_kernel
def run_trials(
    state: State,
    blank: State,
    rule: Rule,
    laws: Laws,
    rng: np.random.Generator,
    generator: Words,
    entropy: Words,
    first: int,
    own_seeds: bool,
    max_pulls: int,
    outcomes: Outcomes,
) -> State:
    """Run trials `first`, first + 1, ... one after the other, in the same memory, and return the state of the last.

    `blank` is a new state and `state` one to work in. `generator` is where `rng` keeps its state, to start it from the
    seed of each trial; if it is empty, `rng` is used as it comes, which is right for one trial. With `own_seeds` the
    method's random choices are seeded anew in each trial: `rule` is changed then.
    """
    seed, scratch = np.zeros(WORDS, np.uint64), np.zeros(WORDS, np.uint64)
    for place in range(outcomes.pulls.size):
        if generator.size > 0:
            child_words(entropy, first + place, scratch, seed)
            start(generator, seed)
            if own_seeds:
                rule[0].seed = join(seed, WORDS - 2)
        renew(state, blank)
        forget(laws)
        state = _run_trial(state, rule, laws, rng, max_pulls)
        outcomes.pulls[place] = state.control[0].t
        outcomes.answers[place] = state.control[0].best
        outcomes.done[place] = state.control[0].done
        for index in range(state.samples.arms.size):
            outcomes.arm_pulls[place, index] = state.samples.arms[index].told
    return state


@kernel
def draw_only(laws: Laws, rng: np.random.Generator, arms: NDArray[np.int64]) -> float:
    """Draw the rewards of the given arms and return their sum: what a simulated pull costs at the least."""
    total = 0.0
    for t in range(arms.size):
        total += pull(laws, rng, arms[t], t, t)
    return total
