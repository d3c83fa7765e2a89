"""Entry points for Python that grow a pool which turns out too small, and go on where the kernel stopped."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.rewards.draws import Laws
from bestarm.kernels.rule import Rule
from bestarm.kernels.state.state import State, make_room
from bestarm.kernels.trials.trial import FINISHED, Outcome, Seeds, run_trials
from bestarm.kernels.trials.verbs import tell


def tell_on(
    state: State, rule: Rule, indices: NDArray[np.int64], rewards: NDArray[np.float64], begin: int = 0
) -> tuple[State, int, bool]:
    """Tell rewards from `begin` on, up to a decision; return the state, where it stopped, and whether it decided."""
    index, decided = tell(state, rule, indices, rewards, begin)
    while index < indices.size and not decided:
        state = make_room(state, indices[index])
        index, decided = tell(state, rule, indices, rewards, index)
    return state, index, decided


def run_on(
    state: State,
    blank: State,
    rule: Rule,
    laws: Laws,
    rng: np.random.Generator,
    seeds: Seeds,
    max_pulls: int,
    begun: bool,
    outcome: Outcome,
) -> State:
    """Run all trials, the first of which may have `begun`; return the state after the last (see `run_trials`)."""
    trial, asking = run_trials(state, blank, rule, laws, rng, seeds, max_pulls, 0, begun, outcome)
    while asking != FINISHED:
        state = make_room(state, asking)
        trial, asking = run_trials(state, blank, rule, laws, rng, seeds, max_pulls, trial, True, outcome)
    return state
