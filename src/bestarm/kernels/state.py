"""The state that every method works on, the settings of a method as numbers, and the estimate of an arm's mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import constant, inlined_kernel, kernel
from bestarm.kernels.division import divide, place_cuts
from bestarm.kernels.looks import Looks, new_looks
from bestarm.kernels.order_statistics import insert, insert_all, insert_raw
from bestarm.kernels.piles import add_to_pile, append_to_bulk
from bestarm.kernels.readings import kept_mean, order_statistic
from bestarm.kernels.rule import CERTIFIED, ELIMINATION, GAP, MEAN, MEDIAN, Rule
from bestarm.kernels.samples import (
    DIVIDED,
    MOST_WAITING_OF_FEW,
    RAW,
    SHORT_WAIT,
    STORES,
    WAITING,
    Pool,
    Record,
    Samples,
    apart,
    foresee,
    new_samples,
    with_larger_pool,
)
from bestarm.kernels.tournament import Tree, forget_keys, new_trees

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
        ("explored", "i8"),  # no arm needs forced exploration, or is without an interval
        ("unready", "i8"),  # certified: arms without an interval
        ("leader", "i8"),
        ("challenger", "i8"),
        ("rounds", "i8"),  # elimination: rounds completed
        ("behind", "i8"),  # elimination: active arms that the current round has yet to pull
        ("active", "i8"),
        ("quiet", "i8"),  # elimination: no arm can be eliminated up to this round
        ("stretch", "i8"),  # elimination: rounds of the last quiet stretch that was found
        ("cursor", "i8"),  # elimination: where in the list of members to look for the next arm of the round
        ("ahead", "i8"),  # gap family: the challengers' keys hold up to this t
        ("ahead_root", "f8"),  # and are upper ends with this root of the logarithm
    ]
)


class State(NamedTuple):
    """All that changes as rewards come in: a record of the whole (length 1), the arms with their rewards, and indices.

    Functions called from Python take a State and a Rule; those below them single records and arrays (see Samples).
    The last four belong to a family each; those of the other families are None (methods.py). They are not tuples in
    their turn: live, a tuple in a tuple takes numba a microsecond to recognise.
    """

    control: NDArray[np.void]
    samples: Samples
    members: NDArray[np.int64] | None  # elimination: the active arms, in order, at the beginning
    trees: NDArray[np.float64] | None  # gap family: leaders and challengers, see tournament.py
    ranking: NDArray[np.float64] | None  # certified: the same
    looks: Looks | None  # certified: what depends on the number of an arm's rewards only, see looks.py


def new_state(arms: int, rule: Rule, *, rewards: int = 0, pool: Pool | None = None) -> State:
    """Return the state before the first reward, with room for as many as are foreseen; it grows if there are more.

    A pool that is no longer in use may be used again.
    """
    control = apart(1, control_dtype)
    control["best"] = control["leader"] = control["challenger"] = -1
    control["stretch"] = SHORT_WAIT
    control["at_fewest"] = control["behind"] = control["active"] = control["unready"] = arms
    stored = bool(rule["estimator"][0] != MEAN)
    samples = new_samples(arms, stored=stored, rewards=rewards if stored else 0, pool=pool)
    if rule["family"][0] == CERTIFIED:
        bounded = bool(rule["bounded"][0])
        samples.arms["certified"] = 1
        foresee(samples, rewards // arms)
        samples.arms["next_look"] = 1
        samples.arms["calm"] = 7 * MOST_WAITING_OF_FEW
        samples.arms["start"][:, WAITING] = samples.arms["window"][:, 1]  # of no use to the first rewards otherwise
        samples.arms["lower"] = rule["low"][0] if bounded else -np.inf
        samples.arms["upper"] = rule["high"][0] if bounded else np.inf
        samples.arms["spread"] = np.inf
        samples.arms["bottom"] = np.inf
        samples.arms["top"] = -np.inf
    members = np.arange(arms) if rule["family"][0] == ELIMINATION else None
    trees = new_trees(arms, 3) if rule["family"][0] == GAP else None
    ranking = new_trees(arms, 2) if rule["family"][0] == CERTIFIED else None
    looks = new_looks() if rule["family"][0] == CERTIFIED else None
    return State(control, samples, members, trees, ranking, looks)


@kernel
def renew(state: State, blank: State) -> None:
    """Make a state what a new one is: `blank`, of the same arms and rule.

    Its pool stays as large as it was, and arms remember where to divide and how much room they had.
    """
    state.control[0] = blank.control[0]
    state.samples.used[0] = blank.samples.used[0]
    for index in range(state.samples.arms.size):
        arm = state.samples.arms[index]
        new = blank.samples.arms[index]  # a row of its own: what is to be remembered is put there first
        new.guessed = arm.guessed
        for place in range(4):
            new.guess[place] = arm.guess[place]
        if arm.certified == 1:
            for store in range(STORES):
                new.wish[store] = max(arm.wish[store], arm.room[store])
        state.samples.arms[index] = new
    _renew_indices(state.members, state.trees, state.ranking)


@kernel
def _renew_indices(members: NDArray[np.int64] | None, trees: Tree | None, ranking: Tree | None) -> None:
    if members is not None:
        for index in range(members.size):
            members[index] = index
    if trees is not None:
        forget_keys(trees)
    if ranking is not None:
        forget_keys(ranking)


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
    return state._replace(samples=with_larger_pool(state.samples, index))


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
    place_cuts(arm, pool, first_rank(rule, arm.count), second_rank(rule, arm.count))


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
