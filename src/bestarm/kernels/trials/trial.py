"""Simulated identifications from the first pull to the decision, many of them in one compiled call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import entry_kernel, inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Pool, Record
from bestarm.kernels.order_statistics.tournament import Tree
from bestarm.kernels.rewards.draws import Laws, forget, pull
from bestarm.kernels.rewards.seeding import Words, start
from bestarm.kernels.rule import Rule
from bestarm.kernels.shortcuts.exploration import explore
from bestarm.kernels.shortcuts.quiet_draws import draw_quiet_rounds, draw_until_look
from bestarm.kernels.state.state import State, renew
from bestarm.kernels.trials.verbs import Arms, Members, choose, find_room, observe
from bestarm.kernels.trials.white_box import is_white_box, pull_against

FINISHED = -1


@inlined_kernel
def _draw_quiet(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    members: Members | None,
    survivors: Members | None,
    laws: Laws,
    rng: np.random.Generator,
    max_pulls: int,
) -> None:
    # Asked here and not where it is done: a call at every pull would cost as much as the pull.
    if members is not None:
        quiet = control.quiet > control.rounds
        if quiet:
            draw_quiet_rounds(arms, control, pool, members, laws, rng, max_pulls)
    if survivors is not None:
        quiet = control.quiet > control.rounds + 1 and not is_white_box(laws)
        if quiet:
            draw_until_look(arms, control, rule, pool, survivors, laws, rng, max_pulls)


@kernel
def _run_until_full(state: State, rule: Rule, laws: Laws, rng: np.random.Generator, max_pulls: int) -> int:
    """Pull until the method stops, the cap is reached (both: FINISHED) or an arm, which is returned, needs room."""
    control = state.control[0]
    settings = rule[0]
    arms = state.samples.arms
    pool = state.samples.pool
    while control.done == 0 and control.t < max_pulls:
        _draw_quiet(arms, control, settings, pool, state.members, state.survivors, laws, rng, max_pulls)
        if control.t == max_pulls:
            break
        index = choose(arms, control, settings, state.members, state.trees, state.survivors)
        if arms[index].calm == 0 and not find_room(state, settings, index):
            return index
        if is_white_box(laws):
            reward = pull_against(
                arms,
                control,
                settings,
                pool,
                state.desk,
                state.survivors,
                state.duels,
                state.lattice,
                laws,
                rng,
                index,
            )
        else:
            reward = pull(laws, rng, index, arms[index].told, control.t)
        observe(
            arms,
            control,
            settings,
            pool,
            state.members,
            state.trees,
            state.desk,
            state.survivors,
            state.duels,
            state.lattice,
            state.tallies,
            state.sums,
            index,
            reward,
        )
    return FINISHED


@kernel
def _explore(
    state: State,
    members: Members | None,
    trees: Tree | None,
    rule: Rule,
    laws: Laws,
    rng: np.random.Generator,
    max_pulls: int,
) -> bool:
    # The certified method has no forced exploration.
    explored = True
    if trees is not None:
        explored = explore(state, rule, laws, rng, max_pulls)
    if members is not None:
        explored = explore(state, rule, laws, rng, max_pulls)
    return explored


@kernel
def _run_trial(state: State, rule: Rule, laws: Laws, rng: np.random.Generator, max_pulls: int) -> int:
    """Run a trial, or go on with it: until it is FINISHED, or an arm, which is returned, needs a larger pool."""
    if state.control[0].t == 0 and not _explore(state, state.members, state.trees, rule, laws, rng, max_pulls):
        return 0
    return _run_until_full(state, rule, laws, rng, max_pulls)


@entry_kernel
def run_trials(
    state: State,
    blank: State,
    rule: Rule,
    laws: Laws,
    rng: np.random.Generator,
    generator: Words,
    seeds: Words,
    max_pulls: int,
    first: int,
    begun: bool,
    pulls: NDArray[np.int64],
    answers: NDArray[np.int64],
    arm_pulls: NDArray[np.int64],
    done: NDArray[np.int64],
) -> tuple[int, int]:
    """Run trials one after the other, in the same memory; write what came out of each to the last four arrays.

    Return where it stopped and why: all trials are FINISHED, or an arm needs a larger pool. Then call again with that,
    from the trial that is returned, which has `begun`.

    `blank` is a new state and `state` one to work in. A row of `seeds` are the four words that `rng` is started from,
    in `generator`, where it keeps its state, and one for the method's random choices: `rule` is changed. If `generator`
    is empty, `rng` is used as it comes.
    """
    for trial in range(first, pulls.size):
        if trial > first or not begun:
            if generator.size > 0:
                start(generator, seeds, trial)
            rule[0].seed = seeds[trial, 4]
            renew(state, blank)
            forget(laws)
        asking = _run_trial(state, rule, laws, rng, max_pulls)
        if asking != FINISHED:
            return trial, asking
        pulls[trial] = state.control[0].t
        answers[trial] = state.control[0].best
        done[trial] = state.control[0].done
        for index in range(state.samples.arms.size):
            arm_pulls[trial, index] = state.samples.arms[index].told
    return pulls.size, FINISHED


@entry_kernel
def draw_only(laws: Laws, rng: np.random.Generator, arms: NDArray[np.int64]) -> float:
    """Draw the rewards of the given arms and return their sum: what a simulated pull costs at the least."""
    total = 0.0
    for t in range(arms.size):
        total += pull(laws, rng, arms[t], t, t)
    return total
