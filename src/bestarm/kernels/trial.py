"""One simulated identification from the first pull to the decision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import allocating_kernel, kernel
from bestarm.kernels.draws import Laws, pull
from bestarm.kernels.methods import choose, observe
from bestarm.kernels.samples import recount_calm
from bestarm.kernels.state import Rule, State, make_room

FINISHED = -1


@kernel
def _run_until_full(state: State, rule: Rule, laws: Laws, rng: np.random.Generator, max_pulls: int) -> int:
    """Pull until the method stops, the cap is reached (both: FINISHED) or an arm, which is returned, needs room."""
    control = state.control[0]
    settings = rule[0]
    arms = state.samples.arms
    pool = state.samples.pool
    while control.done == 0 and control.t < max_pulls:
        index = choose(arms, control, settings)
        if arms[index].calm == 0 and recount_calm(arms[index]) == 0:
            return index
        reward = pull(laws, rng, index, arms[index].told, control.t)
        observe(arms, control, settings, pool, index, reward)
    return FINISHED


@allocating_kernel
def run_trial(state: State, rule: Rule, laws: Laws, rng: np.random.Generator, max_pulls: int) -> State:
    """Run one identification on simulated rewards and return its last state."""
    while True:
        arm = _run_until_full(state, rule, laws, rng, max_pulls)
        if arm == FINISHED:
            return state
        state = make_room(state, rule, arm)


@kernel
def draw_only(laws: Laws, rng: np.random.Generator, arms: NDArray[np.int64]) -> float:
    """Draw the rewards of the given arms and return their sum: what a simulated pull costs at the least."""
    total = 0.0
    for t in range(arms.size):
        total += pull(laws, rng, arms[t], t, t)
    return total
