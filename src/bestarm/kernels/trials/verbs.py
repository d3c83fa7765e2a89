"""Every method as verbs on its state: `choose` an arm, `observe` a reward (which may stop it), read an interval.

Only the gap family has `trees`, only elimination has `members`, only certified has `evidence`. They are separate
arguments, beside the state that they belong to, because numba leaves out the code of a family whose argument is None.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.algorithms import certified, elimination, gap
from bestarm.kernels.jit.compile import entry_kernel, inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Record
from bestarm.kernels.order_statistics.tournament import Tree
from bestarm.kernels.order_statistics.windows import has_room
from bestarm.kernels.rule import Rule
from bestarm.kernels.state.counting import count_reward
from bestarm.kernels.state.estimates import estimate, keep_reward
from bestarm.kernels.state.state import Evidence, Indices, State
from bestarm.kernels.trials.readouts import interval


@inlined_kernel
def choose(state: State, rule: Record, trees: Tree | None, members: Indices | None, evidence: Evidence | None) -> int:
    """Return the arm to pull next, when no reward is outstanding and the method has not stopped."""
    index = -1
    if trees is not None:
        index = gap.choose(state.arms, state.control[0], rule)
    if members is not None:
        index = elimination.choose(state.arms, state.control[0], members)
    if evidence is not None:
        index = certified.choose(state)
    return index


@kernel
def _choose_ahead(
    state: State, rule: Record, trees: Tree | None, members: Indices | None, evidence: Evidence | None
) -> int:
    index = -1
    if trees is not None:
        index = gap.choose_ahead(state.arms, state.control[0], rule, state.pool)
    if members is not None:
        index = elimination.choose_ahead(state.arms)
    if evidence is not None:
        index = elimination.choose_ahead(state.arms)
    return index


@inlined_kernel
def observe(
    state: State,
    rule: Record,
    trees: Tree | None,
    members: Indices | None,
    evidence: Evidence | None,
    index: int,
    reward: float,
) -> None:
    """Take in a reward; after a decision it is recorded and changes nothing else. The arm must have room."""
    arms, control, pool = state.arms, state.control[0], state.pool
    if trees is not None:
        count_reward(arms[index], control)
        keep_reward(arms[index], rule, pool, reward, False)
        if control.done == 0:
            gap.observe(arms, control, rule, pool, trees, index)
    if members is not None:
        count_reward(arms[index], control)
        keep_reward(arms[index], rule, pool, reward, control.quiet > control.rounds)
        if control.done == 0:
            elimination.observe(arms, control, rule, pool, members, index)
    if evidence is not None:
        certified.observe(state, rule, index, reward)


@kernel
def find_room(
    state: State, rule: Record, trees: Tree | None, members: Indices | None, evidence: Evidence | None, index: int
) -> bool:
    """Find room for another reward of an arm that has none left; return False if that takes a larger pool."""
    found = False
    if trees is not None:
        found = has_room(state.arms[index], state.pool, state.used)
    if members is not None:
        found = has_room(state.arms[index], state.pool, state.used)
    if evidence is not None:
        found = certified.has_room(state, rule, evidence.lattice, evidence.tallies, evidence.sums, index)
    return found


@kernel
def _describe_arm(
    state: State, rule: Record, trees: Tree | None, members: Indices | None, evidence: Evidence | None, index: int
) -> tuple[float, float, float]:
    """Return the estimate of an arm's mean and the ends of the interval around it."""
    centre = lower = upper = np.nan
    if trees is not None:
        centre = estimate(state.arms[index], rule, state.pool)
        radius = gap.radius(state.arms, state.control[0], rule, index)
        lower, upper = centre - radius, centre + radius
    if members is not None:
        centre = estimate(state.arms[index], rule, state.pool)
        radius = elimination.radius(state.arms, rule, index)
        lower, upper = centre - radius, centre + radius
    if evidence is not None:
        centre, lower, upper = interval(state, rule, evidence.lattice, evidence.tallies, evidence.sums, index)
    return centre, lower, upper


# ------------------------------------------------------------------------------------------------- called from Python


@entry_kernel
def ask(state: State, rule: Rule, number: int, indices: NDArray[np.int64]) -> None:
    """Write the next `number` arms to pull, each as if the rewards asked for before it had come in, and mark them."""
    control = state.control[0]
    for slot in range(number):
        if control.pending == 0:
            index = choose(state, rule[0], state.trees, state.members, state.evidence)
        else:
            index = _choose_ahead(state, rule[0], state.trees, state.members, state.evidence)
        indices[slot] = index
        state.arms[index].pending += 1
        control.pending += 1


@entry_kernel
def tell(
    state: State, rule: Rule, indices: NDArray[np.int64], rewards: NDArray[np.float64], begin: int
) -> tuple[int, bool]:
    """Take in rewards from `begin` on, up to a decision or a lack of room; return where it stopped and if decided."""
    control = state.control[0]
    trees, members, evidence = state.trees, state.members, state.evidence
    was_done = control.done > 0
    for slot in range(begin, indices.size):
        index = indices[slot]
        if state.arms[index].room_left == 0 and not find_room(state, rule[0], trees, members, evidence, index):
            return slot, False
        observe(state, rule[0], trees, members, evidence, index, rewards[slot])
        if not was_done and control.done > 0:
            return slot + 1, True
    return indices.size, False


@entry_kernel
def describe(
    state: State, rule: Rule, estimates: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> None:
    """Write the estimate of every arm and the interval around it."""
    for index in range(state.arms.size):
        estimates[index], lower[index], upper[index] = _describe_arm(
            state, rule[0], state.trees, state.members, state.evidence, index
        )
