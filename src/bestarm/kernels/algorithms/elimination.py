"""Algorithm 2 of MTCD21 (SE-CBAI) with any estimator: trimmed mean, median (Altschuler, Brunel and Malek 2019) or mean.

Readings: t = rounds = pulls of each active arm; a round pulls every active arm once, lowest index first; the test is
made at the end of a round, from t >= T on, for all active arms at once, against the best active one (#4, #7).
Rewards that were not asked for may put arms ahead of the round: then t is the smallest count of an active arm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics.piles import top_up
from bestarm.kernels.order_statistics.quantiles import least_at, most_at, order_statistic, sight_above, sight_below
from bestarm.kernels.order_statistics.samples import ABOVE_HIGH, ABOVE_LOW, BELOW_LOW, DIVIDED, SHORT_WAIT, Pool, Record
from bestarm.kernels.order_statistics.windows import HIGH_CUT, LOW_CUT
from bestarm.kernels.rule import MEAN, MEDIAN
from bestarm.kernels.state.radii import elimination_radius
from bestarm.kernels.state.state import estimate, first_rank

Arms = NDArray[np.void]
Members = NDArray[np.int64]

SHORTEST, LONGEST = 3, SHORT_WAIT  # quiet stretches, in rounds


@kernel
def _eliminate(arms: Arms, control: Record, rule: Record, pool: Pool, members: Members) -> None:
    """Algorithm 2, line 4: drop every active arm with an estimate below the best one's less 2 gamma_t."""
    highest = -np.inf
    for place in range(control.active):
        highest = max(highest, estimate(arms[members[place]], rule, pool))
    cut = highest - 2.0 * elimination_radius(rule, arms.size, control.rounds)
    staying = 0
    for place in range(control.active):
        index = members[place]
        if arms[index].estimate < cut:
            arms[index].active = 0
        else:
            members[staying] = index
            staying += 1
    control.active = staying
    control.quiet = 0
    if staying > 1 and rule.estimator != MEAN:
        _find_quiet(arms, control, rule, pool, members, highest)


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

    Of n + m rewards, the one of rank r lies between those of rank r - m and r of the n: so the m new ones can at most
    replace m that are kept at one end by m from beyond the other end.
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

    Bounds of the estimates widen and gamma_t falls with every round, so the last one speaks for all before it.
    """
    reach = 2.0 * elimination_radius(rule, arms.size, control.rounds + more)
    lowest = np.inf
    top = highest
    for place in range(control.active):
        least, most = _extremes(arms[members[place]], rule, pool, more)
        lowest = min(lowest, least)
        top = max(top, most)
        margin = 1e-9 * (abs(lowest) + abs(top))  # far more than rounding can do
        if not (least <= most and lowest - margin >= top + margin - reach):
            return False
    return True


@kernel
def _find_quiet(arms: Arms, control: Record, rule: Record, pool: Pool, members: Members, highest: float) -> None:
    """Find out for how many rounds no arm can be eliminated: twice as many as last time, or half of that, and so on."""
    more = min(2 * control.stretch, LONGEST)
    for place in range(control.active):
        arm = arms[members[place]]
        if arm.told != control.rounds:
            return  # an arm is ahead of the round: there may be any number of rewards to come
        if _sight(arm, rule) < more and arm.divided == DIVIDED:
            top_up(arm, pool, BELOW_LOW)
            top_up(arm, pool, ABOVE_LOW if rule.estimator == MEDIAN else ABOVE_HIGH)
        more = min(more, _sight(arm, rule))
    while more >= SHORTEST and not _is_quiet(arms, control, rule, pool, members, highest, more):
        more >>= 1
    if more >= SHORTEST:
        control.quiet = control.rounds + more
    control.stretch = max(more, SHORTEST)


@inlined_kernel
def settle(arms: Arms, control: Record, rule: Record, pool: Pool, members: Members, index: int) -> None:
    """Take note of a reward of an arm: at the end of a round, find out which arms stay."""
    if arms[index].active == 1 and arms[index].told == control.rounds + 1:
        control.behind -= 1
    if arms[index].told > control.quiet:
        control.quiet = 0  # one that runs ahead of the rounds was not reckoned with
    if control.behind == 0:
        _end_round(arms, control, rule, pool, members)


@kernel
def _end_round(arms: Arms, control: Record, rule: Record, pool: Pool, members: Members) -> None:
    while control.behind == 0 and control.done == 0:
        control.rounds += 1
        if control.rounds >= rule.explored and control.rounds > control.quiet:
            _eliminate(arms, control, rule, pool, members)
        control.cursor = 0
        if control.active == 1:
            control.done = 1
            control.best = members[0]
        for place in range(control.active):
            if arms[members[place]].told == control.rounds:
                control.behind += 1


@inlined_kernel
def choose(arms: Arms, control: Record, members: Members) -> int:
    """Return the next arm of the round, lowest index first, when no reward is outstanding."""
    # No member before the cursor is behind in this round: counts only grow, and a new round resets the cursor.
    while arms[members[control.cursor]].told > control.rounds:
        control.cursor += 1
    return members[control.cursor]


@kernel
def choose_ahead(arms: Arms) -> int:
    """Return the active arm with the fewest rewards told or asked for, lowest index first."""
    least = -1
    for index in range(arms.size):
        if arms[index].active == 1:
            ahead = arms[index].told + arms[index].pending
            if least < 0 or ahead < arms[least].told + arms[least].pending:
                least = index
    return least


@kernel
def radius(arms: Arms, rule: Record, index: int) -> float:
    """Return gamma at the arm's own number of pulls; +infinity before it is explored."""
    pulls = arms[index].told
    if pulls == 0 or pulls < rule.explored:
        return np.inf
    return elimination_radius(rule, arms.size, pulls)
