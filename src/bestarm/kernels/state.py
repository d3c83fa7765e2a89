"""The state that every method works on, the settings of a method as numbers, and the estimate of an arm's mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import allocating_kernel, constant, inlined_kernel, kernel
from bestarm.kernels.order_statistics import divide, insert, insert_raw, kept_mean, make_raw, order_statistic
from bestarm.kernels.piles import add_to_pile
from bestarm.kernels.samples import FEW, RAW, Pool, Record, Samples, new_samples, recount_calm, with_room

# Families: which kernel file decides.
GAP = 0
ELIMINATION = 1
CERTIFIED = 2

# Estimators of an arm's mean.
MEAN = 0
TRIMMED = 1
MEDIAN = 2

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
        ("explored", "i8"),  # gap family: no arm needs forced exploration
        ("leader", "i8"),
        ("challenger", "i8"),
        ("rounds", "i8"),  # elimination: rounds completed
        ("behind", "i8"),  # elimination: active arms that the current round has yet to pull
        ("active", "i8"),
        ("cursor", "i8"),  # elimination: where to look for the next arm of the round
    ]
)


rule_dtype = np.dtype(
    [
        ("family", "i8"),
        ("estimator", "i8"),
        ("alpha", "f8"),  # trimmed on each side
        ("explored", "f8"),  # T(alpha, delta): pulls of an arm before its estimate may be used
        ("scale", "f8"),  # what a radius is proportional to: sigma / (1 - epsilon), or sigma
        ("delta", "f8"),
        ("threshold", "i8"),  # gap family: radii.THEORY or radii.EMPIRICAL
        ("log_constant", "f8"),  # gap family: log((K - 1) C / delta)
        ("power", "f8"),  # gap family: the paper's beta, exponent of t
        ("uniform", "i8"),  # gap family: 1 to pull arms at random
        ("seed", "u8"),  # for that
        # The rest is the certified method's (docs/explanation/certified.md).
        ("epsilon", "f8"),
        ("count_limit", "f8"),  # 1/d1
        ("prior", "f8"),  # a and b of the Beta mixture over the rate of contamination
        ("prior_rest", "f8"),
        ("mixing", "f8"),  # r of the normal mixture
        ("mean_log", "f8"),  # 2 log(1/d2)
        ("reach_log", "f8"),  # log(pi^2 / (3 d3))
        ("resolution", "f8"),
        ("malicious", "i8"),
        ("bounded", "i8"),
        ("low", "f8"),
        ("high", "f8"),
        ("endless", "i8"),  # 1: renew intervals for ever and never stop
    ]
)
Rule = NDArray[np.void]  # of rule_dtype, length 1: the settings of a method for one problem


class State(NamedTuple):
    """All that changes as rewards come in: a record of the whole (length 1) and the arms with their rewards.

    Functions called from Python take a State and a Rule; those below them single records and arrays (see Samples).
    """

    control: NDArray[np.void]
    samples: Samples


def new_rule(**settings: float) -> Rule:
    """Return the settings of a method as a record; those not given are 0."""
    rule = np.zeros(1, rule_dtype)
    for name, value in settings.items():
        rule[name] = value
    return rule


def new_state(arms: int, rule: Rule) -> State:
    """Return the state before the first reward."""
    control = np.zeros(1, control_dtype)
    control["best"] = control["leader"] = control["challenger"] = -1
    control["at_fewest"] = control["behind"] = control["active"] = arms
    samples = new_samples(arms, stored=bool(rule["estimator"][0] != MEAN))
    if rule["family"][0] == CERTIFIED:
        bounded = bool(rule["bounded"][0])
        samples.arms["certified"] = 1
        samples.arms["likelihood"] = 1.0
        samples.arms["lower"] = rule["low"][0] if bounded else -np.inf
        samples.arms["upper"] = rule["high"][0] if bounded else np.inf
        samples.arms["spread"] = np.inf
        samples.arms["bottom"] = np.inf
        samples.arms["top"] = -np.inf
    return State(control, samples)


@inlined_kernel
def _first_rank(rule: Record, count: int) -> int:
    """Return the number of rewards trimmed at the low end: floor(alpha n), or all below the middle."""
    if rule.estimator == MEDIAN:
        return (count - 1) >> 1
    return int(rule.alpha * count)


@inlined_kernel
def _second_rank(rule: Record, count: int) -> int:
    """Return the rank from which on rewards are trimmed at the high end; 0 for the median, which needs one cut."""
    if rule.estimator == MEDIAN:
        return 0
    return count - int(rule.alpha * count)


@allocating_kernel
def make_room(state: State, rule: Rule, index: int) -> State:
    """Return the state with room for more rewards of an arm; needed when its `calm` is used up."""
    samples = with_room(state.samples, index)
    arm = samples.arms[index]
    if arm.divided == FEW:
        make_raw(arm, samples.pool)
        recount_calm(arm)
    return State(state.control, samples)


@inlined_kernel
def record(arm: Record, control: Record, rule: Record, pool: Pool, reward: float) -> None:
    """Count a reward and keep it, without deciding anything."""
    count = arm.count + 1
    arm.told += 1
    if rule.estimator == MEAN:
        arm.count = count
        add_to_pile(arm, MEAN_PILE, reward)
    elif arm.divided == RAW:
        insert_raw(arm, pool, reward, _first_rank(rule, count), _second_rank(rule, count))
    else:
        insert(arm, pool, reward, _first_rank(rule, count), _second_rank(rule, count))
    arm.stale = 1
    control.t += 1
    if arm.pending > 0:
        arm.pending -= 1
        control.pending -= 1


@inlined_kernel
def estimate(arm: Record, rule: Record, pool: Pool) -> float:
    """Return the estimate of an arm's mean (MTCD21, eq. estimator); nan before its first reward."""
    if arm.stale == 1:
        _renew_estimate(arm, rule, pool)
    return arm.estimate


@kernel
def _renew_estimate(arm: Record, rule: Record, pool: Pool) -> None:
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
        divide(arm, pool, _first_rank(rule, count), _second_rank(rule, count))
    if rule.estimator == MEDIAN:
        lower = order_statistic(arm, pool, (count - 1) >> 1)
        upper = order_statistic(arm, pool, count >> 1)
        arm.estimate = (lower + upper) / 2.0
    else:
        arm.estimate = kept_mean(arm, pool, _first_rank(rule, count), _second_rank(rule, count))
