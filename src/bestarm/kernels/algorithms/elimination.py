"""Algorithm 2 of MTCD21 (SE-CBAI) with any estimator: trimmed mean, median (Altschuler, Brunel and Malek 2019) or mean.

Line numbers are those of the paper's listing; a pass of its loop is a round. Readings: t = rounds = pulls of each
active arm; a round pulls every active arm once, lowest index first; the test is made at the end of a round, from
t >= T on, for all active arms at once, against the best active one (#4, #7). Rewards that were not asked for may put
arms ahead of the round: then t is the smallest count of an active arm.

The other radius, ALL_PULLS, is that of the first author's code of 2022: t counts the pulls of all arms, and the maximum
is over all arms, dropped ones at their last estimate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Arms, Pool, Record
from bestarm.kernels.rule import ALL_PULLS
from bestarm.kernels.shortcuts.quiet_bounds import quiet_until
from bestarm.kernels.state.estimates import estimate
from bestarm.kernels.state.radii import elimination_radius, elimination_time

Members = NDArray[np.int64]  # M_t: the active arms, in order, at the beginning


@kernel
def _eliminate(arms: Arms, control: Record, rule: Record, pool: Pool, members: Members) -> None:
    """Line 4: drop every active arm with an estimate below the best one's less 2 gamma_t."""
    highest = -np.inf
    for slot in range(control.active):
        highest = max(highest, estimate(arms[members[slot]], rule, pool))
    compared = highest
    if rule.clock == ALL_PULLS:
        for index in range(arms.size):
            if arms[index].active == 0 and arms[index].told > 0:
                compared = max(compared, estimate(arms[index], rule, pool))
    reach = 2.0 * elimination_radius(rule, rule.counted, elimination_time(arms, rule, control.rounds))
    cut = min(compared - reach, highest)  # the best active arm stays, whatever a dropped one had
    staying = 0
    for slot in range(control.active):
        index = members[slot]
        if arms[index].estimate < cut:  # line 4: not in M_{t+1}
            arms[index].active = 0
        else:
            members[staying] = index
            staying += 1
    control.active = staying
    control.quiet = quiet_until(arms, control, rule, pool, members, compared)  # no test is needed before


@inlined_kernel
def observe(arms: Arms, control: Record, rule: Record, pool: Pool, members: Members, index: int) -> None:
    """Take in a reward of an arm; at the end of a round, find out which arms stay."""
    if arms[index].active == 1 and arms[index].told == control.rounds + 1:
        control.behind -= 1  # line 3: one sample of each active arm
    if arms[index].told > control.quiet:
        control.quiet = 0  # the bound did not allow for an arm ahead of the rounds
    if control.behind == 0:
        _end_round(arms, control, rule, pool, members)


@kernel
def _end_round(arms: Arms, control: Record, rule: Record, pool: Pool, members: Members) -> None:
    while control.behind == 0 and control.done == 0:
        control.rounds += 1  # line 5
        if control.rounds >= rule.explored and control.rounds > control.quiet:  # line 4: or N_i(t) < T
            _eliminate(arms, control, rule, pool, members)
        control.cursor = 0
        if control.active == 1:  # line 2
            control.done = 1
            control.best = members[0]  # line 7
        for index in range(control.active):
            if arms[members[index]].told == control.rounds:
                control.behind += 1


@inlined_kernel
def choose(arms: Arms, control: Record, members: Members) -> int:
    """Return the next arm of the round, lowest index first, when no reward is outstanding (line 3)."""
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
    return elimination_radius(rule, rule.counted, elimination_time(arms, rule, pulls))
