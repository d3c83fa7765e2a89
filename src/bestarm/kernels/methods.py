"""Every method as verbs on its state: `choose` an arm, `observe` a reward (which may stop it), read an interval.

Only the gap family has `trees`, only elimination `members`, only certified a `ranking` and `looks`. Of
`if x is not None`, numba drops what follows before it compiles anything if x is None: so a command compiles the kernels
of its own methods alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.certified import choose as choose_certified
from bestarm.kernels.certified import choose_ahead as choose_certified_ahead
from bestarm.kernels.certified import look_at_all
from bestarm.kernels.certified import observe as observe_certified
from bestarm.kernels.compile import entry_kernel, inlined_kernel, kernel
from bestarm.kernels.elimination import choose as choose_elimination
from bestarm.kernels.elimination import choose_ahead as choose_elimination_ahead
from bestarm.kernels.elimination import radius as radius_elimination
from bestarm.kernels.elimination import settle as settle_elimination
from bestarm.kernels.gap import choose as choose_gap
from bestarm.kernels.gap import choose_ahead as choose_gap_ahead
from bestarm.kernels.gap import radius as radius_gap
from bestarm.kernels.gap import settle as settle_gap
from bestarm.kernels.looks import Looks
from bestarm.kernels.order_statistics import has_room
from bestarm.kernels.rule import Rule
from bestarm.kernels.samples import Pool, Record
from bestarm.kernels.state import State, estimate, record
from bestarm.kernels.tournament import Tree

Arms = NDArray[np.void]
Members = NDArray[np.int64]


@inlined_kernel
def choose(
    arms: Arms, control: Record, rule: Record, members: Members | None, trees: Tree | None, looks: Looks | None
) -> int:
    """Return the arm to pull next, when no reward is outstanding and the method has not stopped."""
    index = -1
    if trees is not None:
        index = choose_gap(arms, control, rule)
    if members is not None:
        index = choose_elimination(arms, control, members)
    if looks is not None:
        index = choose_certified(arms, control)
    return index


@kernel
def _choose_ahead(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    members: Members | None,
    trees: Tree | None,
    looks: Looks | None,
) -> int:
    index = -1
    if trees is not None:
        index = choose_gap_ahead(arms, control, rule, pool)
    if members is not None:
        index = choose_elimination_ahead(arms)
    if looks is not None:
        index = choose_certified_ahead(arms, control)
    return index


@inlined_kernel
def observe(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    members: Members | None,
    trees: Tree | None,
    ranking: Tree | None,
    looks: Looks | None,
    index: int,
    reward: float,
) -> None:
    """Take a reward in; after a decision it is recorded and changes nothing else. The arm must have room."""
    if trees is not None:
        record(arms[index], control, rule, pool, reward)
        if control.done == 0:
            settle_gap(arms, control, rule, pool, trees, index)
    if members is not None:
        record(arms[index], control, rule, pool, reward)
        if control.done == 0:
            settle_elimination(arms, control, rule, pool, members, index)
    if ranking is not None and looks is not None:
        observe_certified(arms, control, rule, pool, ranking, looks, index, reward)


@kernel
def _describe_arm(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    members: Members | None,
    trees: Tree | None,
    looks: Looks | None,
    index: int,
) -> tuple[float, float, float]:
    """Return the estimate of an arm's mean and the ends of the interval around it."""
    radius = 0.0
    if trees is not None:
        radius = radius_gap(arms, control, rule, index)
    if members is not None:
        radius = radius_elimination(arms, rule, index)
    if looks is not None:
        return (arms[index].lower + arms[index].upper) / 2.0, arms[index].lower, arms[index].upper
    centre = estimate(arms[index], rule, pool)
    return centre, centre - radius, centre + radius


@kernel
def _look_at_all(arms: Arms, rule: Record, pool: Pool, looks: Looks | None) -> None:
    if looks is not None:
        look_at_all(arms, rule, pool, looks)


# ------------------------------------------------------------------------------------------------- called from Python


@entry_kernel
def ask(state: State, rule: Rule, number: int, indices: NDArray[np.int64]) -> None:
    """Write the next `number` arms to pull, each as if the rewards asked for before it had come in, and mark them."""
    control = state.control[0]
    arms = state.samples.arms
    for place in range(number):
        if control.pending == 0:
            index = choose(arms, control, rule[0], state.members, state.trees, state.looks)
        else:
            index = _choose_ahead(arms, control, rule[0], state.samples.pool, state.members, state.trees, state.looks)
        indices[place] = index
        arms[index].pending += 1
        control.pending += 1


@entry_kernel
def tell(
    state: State, rule: Rule, indices: NDArray[np.int64], rewards: NDArray[np.float64], begin: int
) -> tuple[int, bool]:
    """Take rewards in from `begin` on, up to a decision or a lack of room; return where it stopped and if decided."""
    control = state.control[0]
    arms = state.samples.arms
    was_done = control.done > 0
    for place in range(begin, indices.size):
        index = indices[place]
        if arms[index].calm == 0 and not has_room(arms[index], state.samples.pool, state.samples.used):
            return place, False
        observe(
            arms,
            control,
            rule[0],
            state.samples.pool,
            state.members,
            state.trees,
            state.ranking,
            state.looks,
            index,
            rewards[place],
        )
        if not was_done and control.done > 0:
            return place + 1, True
    return indices.size, False


@entry_kernel
def conclude(state: State, rule: Rule) -> None:
    """Bring the intervals of the certified method up to the last reward."""
    _look_at_all(state.samples.arms, rule[0], state.samples.pool, state.looks)


@entry_kernel
def describe(
    state: State, rule: Rule, estimates: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> None:
    """Write the estimate of every arm and the interval around it."""
    arms = state.samples.arms
    for index in range(arms.size):
        estimates[index], lower[index], upper[index] = _describe_arm(
            arms, state.control[0], rule[0], state.samples.pool, state.members, state.trees, state.looks, index
        )
