"""Rounds of Algorithm 2 in which no arm can be eliminated, whatever the rewards: they need no test.

New rewards can move an estimate only so far. docs/explanation/speed.md has the argument.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics.piles import top_up
from bestarm.kernels.order_statistics.quantiles import least_at, most_at, order_statistic, sight_above, sight_below
from bestarm.kernels.order_statistics.samples import (
    ABOVE_HIGH,
    ABOVE_LOW,
    BELOW_LOW,
    DIVIDED,
    SHORT_WAIT,
    Arms,
    Pool,
    Record,
)
from bestarm.kernels.order_statistics.windows import HIGH_CUT, LOW_CUT
from bestarm.kernels.rule import MEAN, MEDIAN
from bestarm.kernels.state.estimates import first_rank
from bestarm.kernels.state.radii import elimination_radius, elimination_time

Members = NDArray[np.int64]

SHORTEST, LONGEST = 3, SHORT_WAIT  # quiet stretches, in rounds


@kernel
def quiet_until(arms: Arms, control: Record, rule: Record, pool: Pool, members: Members, highest: float) -> int:
    """Return the last round up to which no arm can be eliminated, or 0 if nothing is known.

    It tries twice the last stretch that held, then half of that, and so on.
    """
    if rule.shortcuts == 0 or rule.estimator == MEAN or control.active == 1:
        return 0
    more = min(2 * control.stretch, LONGEST)
    for index in range(control.active):
        arm = arms[members[index]]
        if arm.told != control.rounds:
            return 0  # an arm is ahead of the round: there may be any number of rewards to come
        if _sight(arm, rule) < more and arm.divided == DIVIDED:
            top_up(arm, pool, BELOW_LOW)
            top_up(arm, pool, ABOVE_LOW if rule.estimator == MEDIAN else ABOVE_HIGH)
        more = min(more, _sight(arm, rule))
    while more >= SHORTEST and not _is_quiet(arms, control, rule, pool, members, highest, more):
        more >>= 1
    control.stretch = max(more, SHORTEST)
    return control.rounds + more if more >= SHORTEST else 0


@inlined_kernel
def _sight(arm: Record, rule: Record) -> int:
    """Return for how many more rewards `_extremes` knows bounds."""
    if arm.divided != DIVIDED:
        return 0
    if rule.estimator == MEDIAN:  # each moves its rank by half a reward
        return 2 * min(sight_below(arm, LOW_CUT), sight_above(arm, LOW_CUT)) - 4
    return min(sight_below(arm, LOW_CUT), sight_above(arm, HIGH_CUT))


@kernel
def _extremes(arm: Record, rule: Record, pool: Pool, more: int) -> tuple[float, float]:
    """Return bounds of the estimate of an arm after `more` rewards, whatever they are; infinite if there are none.

    Among n + m rewards, the one of rank r lies between those of rank r - m and r of the n. So the m new ones can at
    most replace m kept rewards at one end by m from beyond the other end.
    """
    n = arm.count
    if rule.estimator == MEDIAN:
        return (
            least_at(arm, pool, LOW_CUT, ((n + more - 1) >> 1) - more),
            most_at(arm, pool, LOW_CUT, (n + more) >> 1),
        )
    k, later = first_rank(rule, n), first_rank(rule, n + more)
    gone = later - k  # off either end
    total = arm.estimate * (n - 2 * k)
    kept = n + more - 2 * later
    lowest = least_at(arm, pool, LOW_CUT, later - more)
    highest = most_at(arm, pool, HIGH_CUT, n + more - later - 1)
    least = total + (more - gone) * lowest - gone * order_statistic(arm, pool, n - k - 1)
    most = total + (more - gone) * highest - gone * order_statistic(arm, pool, k)
    return least / kept, most / kept


@kernel
def _is_quiet(
    arms: Arms, control: Record, rule: Record, pool: Pool, members: Members, highest: float, more: int
) -> bool:
    """Tell whether no arm can be eliminated for some rounds: the lowest estimate stays within 2 gamma of the highest.

    Bounds of the estimates widen and gamma_t falls with every round, so the last round stands for all before it.
    """
    reach = 2.0 * elimination_radius(rule, rule.counted, elimination_time(arms, rule, control.rounds + more))
    lowest = np.inf
    top = highest
    for index in range(control.active):
        least, most = _extremes(arms[members[index]], rule, pool, more)
        lowest = min(lowest, least)
        top = max(top, most)
        margin = 1e-9 * (abs(lowest) + abs(top))  # far more than rounding can do
        if not (least <= most and lowest - margin >= top + margin - reach):
            return False
    return True
