"""Every method as verbs on its state: `choose` an arm, `observe` a reward (which may stop it), read an interval.

Only the gap family has `trees`, only elimination `members`, only certified `survivors`. Of
`if x is not None`, numba drops what follows before it compiles anything if x is None: so a command compiles the kernels
of its own methods alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.algorithms.certified import choose as choose_certified
from bestarm.kernels.algorithms.certified import has_room as has_room_certified
from bestarm.kernels.algorithms.certified import observe as observe_certified
from bestarm.kernels.algorithms.elimination import choose as choose_elimination
from bestarm.kernels.algorithms.elimination import choose_ahead as choose_elimination_ahead
from bestarm.kernels.algorithms.elimination import radius as radius_elimination
from bestarm.kernels.algorithms.elimination import settle as settle_elimination
from bestarm.kernels.algorithms.gap import choose as choose_gap
from bestarm.kernels.algorithms.gap import choose_ahead as choose_gap_ahead
from bestarm.kernels.algorithms.gap import radius as radius_gap
from bestarm.kernels.algorithms.gap import settle as settle_gap
from bestarm.kernels.algorithms.stopping import Duels
from bestarm.kernels.evidence.bounded import Tallies
from bestarm.kernels.evidence.clean import Sums
from bestarm.kernels.evidence.lattice import Lattice
from bestarm.kernels.evidence.pair import Desk
from bestarm.kernels.jit.compile import entry_kernel, inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Pool, Record
from bestarm.kernels.order_statistics.tournament import Tree
from bestarm.kernels.order_statistics.windows import has_room
from bestarm.kernels.rule import Rule
from bestarm.kernels.state.state import State, estimate, record
from bestarm.kernels.trials.readouts import interval

Arms = NDArray[np.void]
Members = NDArray[np.int64]


@inlined_kernel
def choose(
    arms: Arms, control: Record, rule: Record, members: Members | None, trees: Tree | None, survivors: Members | None
) -> int:
    """Return the arm to pull next, when no reward is outstanding and the method has not stopped."""
    index = -1
    if trees is not None:
        index = choose_gap(arms, control, rule)
    if members is not None:
        index = choose_elimination(arms, control, members)
    if survivors is not None:
        index = choose_certified(arms, control, survivors)
    return index


@kernel
def _choose_ahead(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    members: Members | None,
    trees: Tree | None,
    survivors: Members | None,
) -> int:
    index = -1
    if trees is not None:
        index = choose_gap_ahead(arms, control, rule, pool)
    if members is not None:
        index = choose_elimination_ahead(arms)
    if survivors is not None:
        index = choose_elimination_ahead(arms)
    return index


@inlined_kernel
def observe(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    members: Members | None,
    trees: Tree | None,
    desk: Desk | None,
    survivors: Members | None,
    duels: Duels | None,
    lattice: Lattice | None,
    tallies: Tallies | None,
    sums: Sums | None,
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
    if survivors is not None:
        observe_certified(arms, control, rule, pool, desk, survivors, duels, lattice, tallies, sums, index, reward)


@kernel
def _find_room(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    used: NDArray[np.int64],
    desk: Desk | None,
    survivors: Members | None,
    duels: Duels | None,
    lattice: Lattice | None,
    tallies: Tallies | None,
    sums: Sums | None,
    index: int,
) -> bool:
    found = False
    if survivors is not None:
        found = has_room_certified(arms, control, rule, pool, desk, duels, lattice, tallies, sums, index)
    if survivors is None:
        found = has_room(arms[index], pool, used)
    return found


@kernel
def find_room(state: State, rule: Record, index: int) -> bool:
    """Find room for another reward of an arm that has no more; False if only a larger pool will do."""
    return _find_room(
        state.samples.arms,
        state.control[0],
        rule,
        state.samples.pool,
        state.samples.used,
        state.desk,
        state.survivors,
        state.duels,
        state.lattice,
        state.tallies,
        state.sums,
        index,
    )


@kernel
def _describe_arm(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    members: Members | None,
    trees: Tree | None,
    desk: Desk | None,
    survivors: Members | None,
    lattice: Lattice | None,
    tallies: Tallies | None,
    sums: Sums | None,
    index: int,
) -> tuple[float, float, float]:
    """Return the estimate of an arm's mean and the ends of the interval around it."""
    centre = lower = upper = np.nan
    if trees is not None:
        centre = estimate(arms[index], rule, pool)
        radius = radius_gap(arms, control, rule, index)
        lower, upper = centre - radius, centre + radius
    if members is not None:
        centre = estimate(arms[index], rule, pool)
        radius = radius_elimination(arms, rule, index)
        lower, upper = centre - radius, centre + radius
    if survivors is not None:
        centre, lower, upper = interval(arms, control, rule, pool, desk, lattice, tallies, sums, index)
    return centre, lower, upper


# ------------------------------------------------------------------------------------------------- called from Python


@entry_kernel
def ask(state: State, rule: Rule, number: int, indices: NDArray[np.int64]) -> None:
    """Write the next `number` arms to pull, each as if the rewards asked for before it had come in, and mark them."""
    control = state.control[0]
    arms = state.samples.arms
    for place in range(number):
        if control.pending == 0:
            index = choose(arms, control, rule[0], state.members, state.trees, state.survivors)
        else:
            index = _choose_ahead(
                arms, control, rule[0], state.samples.pool, state.members, state.trees, state.survivors
            )
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
        if arms[index].calm == 0 and not find_room(state, rule[0], index):
            return place, False
        observe(
            arms,
            control,
            rule[0],
            state.samples.pool,
            state.members,
            state.trees,
            state.desk,
            state.survivors,
            state.duels,
            state.lattice,
            state.tallies,
            state.sums,
            index,
            rewards[place],
        )
        if not was_done and control.done > 0:
            return place + 1, True
    return indices.size, False


@entry_kernel
def describe(
    state: State, rule: Rule, estimates: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> None:
    """Write the estimate of every arm and the interval around it."""
    arms = state.samples.arms
    for index in range(arms.size):
        estimates[index], lower[index], upper[index] = _describe_arm(
            arms,
            state.control[0],
            rule[0],
            state.samples.pool,
            state.members,
            state.trees,
            state.desk,
            state.survivors,
            state.lattice,
            state.tallies,
            state.sums,
            index,
        )
