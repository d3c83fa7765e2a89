"""Every method as verbs on its state: `choose` an arm, `observe` a reward (which may stop it), read a `radius`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.certified import choose as choose_certified
from bestarm.kernels.certified import choose_ahead as choose_certified_ahead
from bestarm.kernels.certified import look_at_all
from bestarm.kernels.certified import observe as observe_certified
from bestarm.kernels.compile import inlined_kernel, kernel
from bestarm.kernels.elimination import choose as choose_elimination
from bestarm.kernels.elimination import choose_ahead as choose_elimination_ahead
from bestarm.kernels.elimination import radius as radius_elimination
from bestarm.kernels.elimination import settle as settle_elimination
from bestarm.kernels.gap import choose as choose_gap
from bestarm.kernels.gap import choose_ahead as choose_gap_ahead
from bestarm.kernels.gap import radius as radius_gap
from bestarm.kernels.gap import settle as settle_gap
from bestarm.kernels.looks import Looks
from bestarm.kernels.rule import CERTIFIED, ELIMINATION, GAP, Rule
from bestarm.kernels.samples import Pool, Record, recount_calm
from bestarm.kernels.state import State, estimate, record
from bestarm.kernels.tournament import Tree

Arms = NDArray[np.void]
Members = NDArray[np.int64]


@inlined_kernel
def choose(arms: Arms, control: Record, rule: Record, members: Members) -> int:
    """Return the arm to pull next, when no reward is outstanding and the method has not stopped."""
    if rule.family == GAP:
        return choose_gap(arms, control, rule)
    if rule.family == ELIMINATION:
        return choose_elimination(arms, control, members)
    return choose_certified(arms, control)


@inlined_kernel
def observe(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    members: Members,
    trees: Tree,
    looks: Looks,
    index: int,
    reward: float,
) -> None:
    """Take a reward in; after a decision it is recorded and changes nothing else. The arm must have room."""
    if rule.family == CERTIFIED:
        observe_certified(arms, control, rule, pool, trees, looks, index, reward)
        return
    record(arms[index], control, rule, pool, reward)
    if control.done == 0:
        if rule.family == GAP:
            settle_gap(arms, control, rule, pool, trees, index)
        else:
            settle_elimination(arms, control, rule, pool, members, index)


# ------------------------------------------------------------------------------------------------- called from Python


@kernel
def ask(state: State, rule: Rule, number: int, indices: NDArray[np.int64]) -> None:
    """Write the next `number` arms to pull, each as if the rewards asked for before it had come in, and mark them."""
    control = state.control[0]
    arms = state.samples.arms
    for place in range(number):
        if control.pending == 0:
            index = choose(arms, control, rule[0], state.members)
        elif rule[0].family == GAP:
            index = choose_gap_ahead(arms, control, rule[0], state.samples.pool)
        elif rule[0].family == CERTIFIED:
            index = choose_certified_ahead(arms, control)
        else:
            index = choose_elimination_ahead(arms)
        indices[place] = index
        arms[index].pending += 1
        control.pending += 1


@kernel
def tell(
    state: State, rule: Rule, indices: NDArray[np.int64], rewards: NDArray[np.float64], begin: int
) -> tuple[int, bool]:
    """Take rewards in from `begin` on, up to a decision or a lack of room; return where it stopped and if decided."""
    control = state.control[0]
    arms = state.samples.arms
    was_done = control.done > 0
    for place in range(begin, indices.size):
        index = indices[place]
        if arms[index].calm == 0 and recount_calm(arms[index]) == 0:
            return place, False
        observe(
            arms, control, rule[0], state.samples.pool, state.members, state.trees, state.looks, index, rewards[place]
        )
        if not was_done and control.done > 0:
            return place + 1, True
    return indices.size, False


@kernel
def conclude(state: State, rule: Rule) -> None:
    """Bring the intervals of the certified method up to the last reward."""
    look_at_all(state.samples.arms, rule[0], state.samples.pool, state.looks)


@kernel
def describe(
    state: State, rule: Rule, estimates: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> None:
    """Write the estimate of every arm and the interval around it."""
    arms = state.samples.arms
    for index in range(arms.size):
        if rule[0].family == CERTIFIED:
            lower[index], upper[index] = arms[index].lower, arms[index].upper
            estimates[index] = (lower[index] + upper[index]) / 2.0
            continue
        estimates[index] = estimate(arms[index], rule[0], state.samples.pool)
        if rule[0].family == GAP:
            radius = radius_gap(arms, state.control[0], rule[0], index)
        else:
            radius = radius_elimination(arms, rule[0], index)
        lower[index] = estimates[index] - radius
        upper[index] = estimates[index] + radius
