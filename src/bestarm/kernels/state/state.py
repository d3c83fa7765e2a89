"""The state that every method works on, the settings of a method as numbers, and the estimate of an arm's mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.evidence.bounded import DESK as BOUNDED_DESK
from bestarm.kernels.evidence.bounded import tally_dtype
from bestarm.kernels.evidence.lattice import DESK as LATTICE_DESK
from bestarm.kernels.evidence.lattice import forget_cells, lattice_dtype
from bestarm.kernels.evidence.pair import BOUNDED, CLEAN, GROUPS, LATTICE
from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.jit.memory import constant, on_own_lines
from bestarm.kernels.order_statistics.division import divide
from bestarm.kernels.order_statistics.piles import add_to_pile, append_to_bulk
from bestarm.kernels.order_statistics.quantiles import kept_mean, order_statistic
from bestarm.kernels.order_statistics.samples import (
    DIVIDED,
    RAW,
    SHORT_WAIT,
    WAITING,
    Pool,
    Record,
    Samples,
    new_samples,
    with_larger_pool,
)
from bestarm.kernels.order_statistics.tournament import Tree, forget_keys, new_trees
from bestarm.kernels.order_statistics.windows import insert, insert_all, insert_raw, move_cuts
from bestarm.kernels.rule import CERTIFIED, ELIMINATION, GAP, MEAN, MEDIAN, Rule

CHAMPIONS = 2
FIRST_LOOK = 1  # round of the certified method
SMALLEST_RING = 64
MEAN_PILE = constant(1)  # where the sum of all rewards is kept when nothing else is

control_dtype = np.dtype(
    [
        ("t", "i8"),  # rewards told
        ("pending", "i8"),
        ("done", "i8"),  # 1: an arm was named, 2: none can be
        ("best", "i8"),  # -1 until decided
        ("fewest", "i8"),  # the smallest number of pulls of an arm
        ("at_fewest", "i8"),  # how many arms have it
        ("first_fewest", "i8"),  # the lowest of them
        ("explored", "i8"),  # no arm needs forced exploration
        ("leader", "i8"),
        ("challenger", "i8"),
        ("rounds", "i8"),  # elimination, certified: rounds completed
        ("behind", "i8"),  # elimination, certified: active arms that the current round has yet to pull
        ("active", "i8"),
        ("quiet", "i8"),  # no arm can be eliminated up to this round; certified: before it
        ("stretch", "i8"),  # elimination: rounds of the last quiet stretch that was found
        ("cursor", "i8"),  # elimination, certified: where in the list of members to look for the next arm of the round
        ("room", "i8"),  # certified: rewards of an arm that there is room for, a power of two
        ("located", "i8"),  # certified: the round at which locations are renewed
        ("limit", "i8"),  # certified: why no winner was named
        ("champions", "i8", (CHAMPIONS,)),  # certified: the arms that others are compared with
        ("ahead", "i8"),  # gap family: the challengers' keys hold up to this t
        ("ahead_root", "f8"),  # and are upper ends with this root of the logarithm
    ]
)


class State(NamedTuple):
    """All that changes as rewards come in: a record of the whole (length 1), the arms with their rewards, and indices.

    Functions called from Python take a State and a Rule; those below them single records and arrays (see Samples).
    The others belong to a family each; those of the other families are None (methods.py). They are not tuples in
    their turn: live, a tuple in a tuple takes numba a microsecond to recognise.
    """

    control: NDArray[np.void]
    samples: Samples
    members: NDArray[np.int64] | None  # elimination: the active arms, in order, at the beginning
    trees: NDArray[np.float64] | None  # gap family: leaders and challengers, see tournament.py
    survivors: NDArray[np.int64] | None  # certified: the surviving arms, in order, at the beginning
    duels: NDArray[np.float64] | None  # certified: where and when to look at a pair, see certified.py
    desk: NDArray[np.float64] | None  # certified: room to work in
    lattice: NDArray[np.void] | None  # certified: evidence of each arm, see lattice.py,
    tallies: NDArray[np.void] | None  # bounded.py
    sums: NDArray[np.float64] | None  # or clean.py


def new_state(arms: int, rule: Rule, *, rewards: int = 0, pool: Pool | None = None) -> State:
    """Return the state before the first reward, with room for as many as are foreseen; it grows if there are more.

    A pool that is no longer in use may be used again.
    """
    control = on_own_lines(1, control_dtype)
    control["best"] = control["leader"] = control["challenger"] = -1
    control["stretch"] = SHORT_WAIT
    control["at_fewest"] = control["behind"] = control["active"] = arms
    stored = bool(rule["estimator"][0] != MEAN)
    samples = new_samples(arms, stored=stored, rewards=rewards if stored else 0, pool=pool)
    members = np.arange(arms) if rule["family"][0] == ELIMINATION else None
    trees = new_trees(arms, 3) if rule["family"][0] == GAP else None
    state = State(control, samples, members, trees, None, None, None, None, None, None)
    return _with_evidence(state, rule, rewards, pool) if rule["family"][0] == CERTIFIED else state


def _with_evidence(state: State, rule: Rule, rewards: int, pool: Pool | None) -> State:
    """Return the state with what the certified method works on: rewards are kept in a ring an arm."""
    arms = state.samples.arms.size
    kind = rule["kind"][0]
    wanted = min(max(rewards // arms, SMALLEST_RING), int(rule["kept"][0])) if kind == LATTICE else SMALLEST_RING
    room = 1 << (wanted - 1).bit_length()
    sheets = 1 + GROUPS if kind == LATTICE else 1  # rewards, and on the lattice their exponentials
    if pool is None or pool.size < sheets * arms * room:
        pool = np.empty(sheets * arms * room)
    state.control["room"] = room
    state.control["quiet"] = state.control["located"] = FIRST_LOOK
    state.control["champions"] = -1
    state.samples.arms["calm"] = room
    return state._replace(
        samples=state.samples._replace(pool=pool[: sheets * arms * room]),
        survivors=np.arange(arms),
        duels=np.zeros((2 * CHAMPIONS, arms)),
        desk=on_own_lines(LATTICE_DESK if kind == LATTICE else BOUNDED_DESK, np.float64),
        lattice=np.zeros(arms, lattice_dtype) if kind == LATTICE else None,
        tallies=np.zeros(arms, tally_dtype) if kind == BOUNDED else None,
        sums=np.zeros((arms, 3)) if kind == CLEAN else None,
    )


@kernel
def renew(state: State, blank: State) -> None:
    """Make a state what a new one is: `blank`, of the same arms and rule.

    Its pool stays as large as it was, and arms remember where to divide.
    """
    room = state.control[0].room
    state.control[0] = blank.control[0]
    state.samples.used[0] = blank.samples.used[0]
    for index in range(state.samples.arms.size):
        arm = state.samples.arms[index]
        new = blank.samples.arms[index]  # a row of its own: what is to be remembered is put there first
        new.guessed = arm.guessed
        for place in range(4):
            new.guess[place] = arm.guess[place]
        state.samples.arms[index] = new
    _renew_indices(state.members, state.trees)
    _renew_evidence(state, state.survivors, state.lattice, state.tallies, state.sums, blank.tallies, room)


@kernel
def _renew_indices(members: NDArray[np.int64] | None, trees: Tree | None) -> None:
    if members is not None:
        for index in range(members.size):
            members[index] = index
    if trees is not None:
        forget_keys(trees)


@kernel
def _renew_evidence(
    state: State,
    survivors: NDArray[np.int64] | None,
    lattice: NDArray[np.void] | None,
    tallies: NDArray[np.void] | None,
    sums: NDArray[np.float64] | None,
    no_tallies: NDArray[np.void] | None,
    room: int,
) -> None:
    if survivors is not None:
        state.control[0].room = room
        for index in range(survivors.size):
            survivors[index] = index
            state.samples.arms[index].calm = room
    if lattice is not None:
        for index in range(lattice.size):
            lattice[index].based = lattice[index].start = lattice[index].sheeted = 0
            forget_cells(lattice[index])
    if tallies is not None and no_tallies is not None:
        for index in range(tallies.size):
            tallies[index] = no_tallies[index]
    if sums is not None:
        for index in range(sums.shape[0]):
            for column in range(3):
                sums[index, column] = 0.0


@inlined_kernel
def count_fewest(arms: NDArray[np.void], control: Record, index: int) -> None:
    """Keep the smallest number of pulls, after a reward of an arm, in amortised O(1): K steps for every K rewards."""
    if arms[index].told - 1 == control.fewest:
        control.at_fewest -= 1
        if control.at_fewest == 0:
            fewest = arms[0].told
            for other in range(1, arms.size):
                fewest = min(fewest, arms[other].told)
            control.fewest = fewest
            control.first_fewest = 0
            for other in range(arms.size):
                if arms[other].told == fewest:
                    control.at_fewest += 1
        while arms[control.first_fewest].told != control.fewest:
            control.first_fewest += 1


@inlined_kernel
def first_rank(rule: Record, count: int) -> int:
    """Return the number of rewards trimmed at the low end: floor(alpha n), or all below the middle."""
    if rule.estimator == MEDIAN:
        return (count - 1) >> 1
    return int(rule.alpha * count)


@inlined_kernel
def second_rank(rule: Record, count: int) -> int:
    """Return the rank from which on rewards are trimmed at the high end; 0 for the median, which needs one cut."""
    if rule.estimator == MEDIAN:
        return 0
    return count - int(rule.alpha * count)


def make_room(state: State, index: int) -> State:
    """Return the state in a larger pool, where an arm `has_room`."""
    if state.survivors is None:
        return state._replace(samples=with_larger_pool(state.samples, index))
    room = int(state.control["room"][0])
    arms, rings = state.samples.arms, state.samples.pool[: room * state.samples.arms.size].reshape(-1, room)
    sheets = 1 if state.lattice is None else 1 + GROUPS
    pool = np.empty(sheets * arms.size * 2 * room)
    larger = pool[: arms.size * 2 * room].reshape(-1, 2 * room)
    for arm, old, new in zip(arms, rings, larger, strict=True):
        kept = np.arange(max(0, arm["told"] - room), arm["told"])
        new[kept & (2 * room - 1)] = old[kept & (room - 1)]
    if state.lattice is not None:
        state.lattice["sheeted"] = 0
    arms["calm"] += room
    state.control["room"] = 2 * room
    return state._replace(samples=state.samples._replace(pool=pool))


@inlined_kernel
def record(arm: Record, control: Record, rule: Record, pool: Pool, reward: float) -> None:
    """Count a reward and keep it, without deciding anything."""
    arm.told += 1
    if rule.estimator == MEAN:
        arm.count += 1
        add_to_pile(arm, MEAN_PILE, reward)
    elif arm.divided == DIVIDED and (control.quiet > control.rounds or arm.held[WAITING] > 0):
        arm.calm -= 1  # first: to insert those that waited may set it to zero
        if arm.held[WAITING] == SHORT_WAIT:
            _insert_waiting(arm, rule, pool)
        append_to_bulk(arm, pool, WAITING, reward)
    elif arm.divided == RAW:
        insert_raw(arm, pool, reward, first_rank(rule, arm.told), second_rank(rule, arm.told))
    else:
        insert(arm, pool, reward, first_rank(rule, arm.told), second_rank(rule, arm.told))
    arm.stale = 1
    control.t += 1
    if arm.pending > 0:
        arm.pending -= 1
        control.pending -= 1


@kernel
def _insert_waiting(arm: Record, rule: Record, pool: Pool) -> None:
    """Insert the rewards that nobody has asked about yet."""
    insert_all(arm, pool, arm.start[WAITING], arm.start[WAITING] + arm.held[WAITING])
    arm.held[WAITING] = 0
    move_cuts(arm, pool, first_rank(rule, arm.count), second_rank(rule, arm.count))


@inlined_kernel
def estimate(arm: Record, rule: Record, pool: Pool) -> float:
    """Return the estimate of an arm's mean (MTCD21, eq. estimator); nan before its first reward."""
    if arm.stale == 1:
        _renew_estimate(arm, rule, pool)
    return arm.estimate


@kernel
def _renew_estimate(arm: Record, rule: Record, pool: Pool) -> None:
    if arm.held[WAITING] > 0:
        _insert_waiting(arm, rule, pool)
    count = arm.count
    arm.stale = 0
    arm.shrink = np.sqrt(2.0 / count)
    if count == 0:
        arm.estimate = np.nan
        return
    if rule.estimator == MEAN:
        arm.estimate = (arm.total[MEAN_PILE] + arm.total_rest[MEAN_PILE]) / count
        return
    if arm.divided == RAW:
        divide(arm, pool, first_rank(rule, count), second_rank(rule, count))
    if rule.estimator == MEDIAN:
        lower = order_statistic(arm, pool, (count - 1) >> 1)
        upper = order_statistic(arm, pool, count >> 1)
        arm.estimate = (lower + upper) / 2.0
    else:
        arm.estimate = kept_mean(arm, pool, first_rank(rule, count), second_rank(rule, count))
