"""The estimate of an arm's mean by trimmed mean, median or mean, and how its rewards are kept."""

from __future__ import annotations

import numpy as np

from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.jit.memory import constant
from bestarm.kernels.order_statistics.division import divide
from bestarm.kernels.order_statistics.piles import add_to_pile, append_to_bulk
from bestarm.kernels.order_statistics.quantiles import kept_mean, order_statistic
from bestarm.kernels.order_statistics.samples import DIVIDED, RAW, SHORT_WAIT, WAITING, Pool, Record
from bestarm.kernels.order_statistics.windows import insert, insert_all, insert_raw, move_cuts
from bestarm.kernels.rule import MEAN, MEDIAN

MEAN_PILE = constant(1)  # where the sum of all rewards is kept when nothing else is


@inlined_kernel
def first_rank(rule: Record, count: int) -> int:
    """Return the number of rewards trimmed at the low end: floor(alpha n), or all below the middle."""
    if rule.estimator == MEDIAN:
        return (count - 1) >> 1
    return int(rule.alpha * count)


@inlined_kernel
def second_rank(rule: Record, count: int) -> int:
    """Return the rank from which rewards are trimmed at the high end; 0 for the median, which needs one cut."""
    if rule.estimator == MEDIAN:
        return 0
    return count - int(rule.alpha * count)


@inlined_kernel
def keep_reward(arm: Record, rule: Record, pool: Pool, reward: float, may_wait: bool) -> None:
    """Keep a reward that has been counted. It `may_wait` to be inserted if the estimate is not needed soon."""
    if rule.estimator == MEAN:
        arm.count += 1
        add_to_pile(arm, MEAN_PILE, reward)
    elif arm.divided == DIVIDED and (may_wait or arm.held[WAITING] > 0):
        arm.room_left -= 1  # first: to insert those that waited may set it to zero
        if arm.held[WAITING] == SHORT_WAIT:
            _insert_waiting(arm, rule, pool)
        append_to_bulk(arm, pool, WAITING, reward)
    elif arm.divided == RAW:
        insert_raw(arm, pool, reward, first_rank(rule, arm.told), second_rank(rule, arm.told))
    else:
        insert(arm, pool, reward, first_rank(rule, arm.told), second_rank(rule, arm.told))
    arm.stale = 1


@kernel
def _insert_waiting(arm: Record, rule: Record, pool: Pool) -> None:
    """Insert the rewards that wait."""
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
