"""The certified method: intervals that hold whatever the adversary does, and a stop when no winner can be named.

The mathematics, with proofs, is in docs/explanation/certified.md; section numbers below are its. Of n rewards of an arm
c = chat(n) at most are contaminated:

- the mean is at most w below that of the n - c smallest stored ones, and at most w above that of the n - c largest;
- a reward further than rad(n) from every possible mean is contaminated for certain, and dropped for good.

Between two looks at an arm (looks.py) its rewards wait: a pull is then no more than an append.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import constant, inlined_kernel, kernel
from bestarm.kernels.division import place_cuts
from bestarm.kernels.looks import Looks, look_at, margins, next_look
from bestarm.kernels.order_statistics import drop_outside, insert_all
from bestarm.kernels.readings import kept_sum, lower_tail_sum, order_statistic, upper_tail_sum
from bestarm.kernels.samples import WAITING, Pool, Record
from bestarm.kernels.state import count_fewest
from bestarm.kernels.tournament import Tree, first_of, set_key

Arms = NDArray[np.void]

IDENTIFIED = 1
INDISTINGUISHABLE = 2

# Alarms.
TOO_MANY = 1
NO_MEAN = 2

# Rows of the trees: twice the midpoint, upper end.
LEADERS = constant(0)
CHALLENGERS = constant(1)


@kernel
def lowest_mean(rule: Record, share: float, m: float) -> float:
    """Return the lower end of the interval of a mean in [0, 1] from m rewards with a given average (section 5).

    It is the smaller root p of log B(S + 1/2, F + 1/2) - log pi - S log p - F log(1 - p) = log(1/d2), with S = m share
    and F = m - S.
    Newton's method from where the first logarithm alone would reach the limit: the left side is convex and falls up to
    the root, so the steps approach it from below, and what is returned errs, if at all, to the safe side.
    """
    share = min(max(share, 0.0), 1.0)
    successes, failures = m * share, m * (1.0 - share)
    if successes == 0.0:
        return 0.0
    constant = math.lgamma(successes + 0.5) + math.lgamma(failures + 0.5) - math.lgamma(m + 1.0)
    constant -= math.log(math.pi) + 0.5 * rule.mean_log
    p = np.exp(constant / successes)
    for _ in range(60):
        excess = constant - successes * np.log(p)
        slope = successes / p
        if failures > 0.0:
            excess -= failures * np.log1p(-p)
            slope -= failures / (1.0 - p)
        step = excess / slope
        if not (excess > 0.0 and p + step > p and p + step < share):
            break
        p += step
    return p


@kernel
def _bounded_ends(rule: Record, n: int, m: int, low_sum: float, high_sum: float) -> tuple[float, float]:
    """Return the ends of the interval of an arm whose rewards have bounds (section 5)."""
    width = rule.high - rule.low
    share_low = (low_sum - m * rule.low) / width
    share_high = (high_sum - m * rule.low) / width
    if rule.malicious == 1:
        average_low, average_high, used = share_low / n, (share_high + n - m) / n, n
    else:
        average_low, average_high, used = share_low / m, share_high / m, m
    lower = lowest_mean(rule, average_low, used)
    upper = 1.0 - lowest_mean(rule, 1.0 - average_high, used)
    return rule.low + width * lower, rule.low + width * upper


# ------------------------------------------------------------------------------------------------------ one arm online


@inlined_kernel
def _raise_alarm(arm: Record, reason: int) -> None:
    if arm.alarm == 0:
        arm.alarm = reason
        arm.alarmed = arm.told


@kernel
def _sieve(arm: Record, pool: Pool, low: float, high: float) -> int:
    """Drop waiting rewards outside [low, high]; return where those that stay end."""
    begin = arm.start[WAITING]
    end = begin + arm.held[WAITING]
    # Mostly there is nothing to drop. Two pairs of extremes side by side, as each waits for its last comparison.
    bottom, top = arm.bottom, arm.top
    other_bottom, other_top = bottom, top
    for place in range(begin, end - 1, 2):
        bottom, top = min(bottom, pool[place]), max(top, pool[place])
        other_bottom, other_top = min(other_bottom, pool[place + 1]), max(other_top, pool[place + 1])
    bottom, top = min(bottom, other_bottom, pool[end - 1]), max(top, other_top, pool[end - 1])
    if low <= bottom and top <= high:
        arm.bottom, arm.top = bottom, top
        return end
    bottom, top = arm.bottom, arm.top
    kept = begin
    for place in range(begin, end):
        value = pool[place]
        pool[kept] = value
        if low <= value <= high:
            kept += 1
            bottom = min(bottom, value)
            top = max(top, value)
    arm.bottom, arm.top = bottom, top
    arm.dropped += end - kept
    return kept


@kernel
def _look(arm: Record, rule: Record, pool: Pool, looks: Looks) -> None:
    """Take in the rewards that have been waiting, drop what is contaminated for certain, and renew the interval."""
    look = look_at(looks, rule, arm.told)
    arm.contaminated = look.contaminated
    # Bounded rewards cannot be far away, without contamination none is suspect, and after an alarm nothing is certain.
    filters = rule.bounded == 0 and rule.epsilon > 0.0
    reach = look.reach if filters and arm.alarm == 0 else np.inf
    end = _sieve(arm, pool, arm.lower - reach, arm.upper + reach)
    insert_all(arm, pool, arm.start[WAITING], end)
    arm.held[WAITING] = 0
    if arm.dropped > arm.contaminated:
        _raise_alarm(arm, TOO_MANY)
    if arm.told <= arm.contaminated or not _renew(arm, rule, pool, look) or arm.told < arm.recheck or arm.alarm > 0:
        return
    if arm.bottom < arm.lower - reach or arm.top > arm.upper + reach:
        before = arm.count
        drop_outside(arm, pool, arm.lower - reach, arm.upper + reach)
        arm.dropped += before - arm.count
        arm.recheck = arm.told + max(1, arm.told >> 4)  # O(n) each, so at most 16 of them while n doubles
        if arm.dropped > arm.contaminated:
            _raise_alarm(arm, TOO_MANY)
        _renew(arm, rule, pool, look)


@kernel
def look_at_all(arms: Arms, rule: Record, pool: Pool, looks: Looks) -> None:
    """Look at the rewards of all arms that have not been looked at yet, whether it is due or not."""
    for index in range(arms.size):
        if arms[index].held[WAITING] > 0:
            _look(arms[index], rule, pool, looks)


@kernel
def _renew(arm: Record, rule: Record, pool: Pool, look: Record) -> bool:
    """Renew the interval of an arm from what is stored (section 4); False if no mean fits it any more."""
    stored = arm.count
    if stored < 1:
        return False
    # How many of the stored rewards may be contaminated: chat(n) less those dropped, and not all of them.
    spare = min(max(arm.contaminated - arm.dropped, 0), stored - 1)
    size = stored - spare
    first = min(spare, size)
    second = max(max(spare, size), first + 1)
    place_cuts(arm, pool, first, second)
    below, between, above = lower_tail_sum(arm, pool), kept_sum(arm, pool), upper_tail_sum(arm, pool)
    low_sum = below if size == first else below + between  # of the smallest `size` rewards
    high_sum = above if spare == second else between + above
    if rule.bounded == 1:
        lower, upper = _bounded_ends(rule, arm.told, size, low_sum, high_sum)
        spread, margin = margins(rule, arm.told, arm.told - size)
    else:
        spread, margin = look.spread, look.margin
        if arm.told - size != look.contaminated:
            spread, margin = margins(rule, arm.told, arm.told - size)
        lower = low_sum / size - margin
        upper = high_sum / size + margin
        if rule.epsilon > 0.0:  # some clean reward is among the smallest, and some is among the largest
            lower = max(lower, order_statistic(arm, pool, size - 1) - look.reach)
            upper = min(upper, order_statistic(arm, pool, spare) + look.reach)
    arm.spread = spread
    lower, upper = max(arm.lower, lower), min(arm.upper, upper)
    arm.ready = 1
    if lower > upper:
        _raise_alarm(arm, NO_MEAN)
        return False
    arm.lower, arm.upper = lower, upper
    return True


# ---------------------------------------------------------------------------------------------------------- the method


@inlined_kernel
def observe(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    trees: Tree,
    looks: Looks,
    index: int,
    reward: float,
) -> None:
    """Take a reward in; it waits until its arm is looked at next."""
    arm = arms[index]
    arm.told += 1
    arm.calm -= 1
    control.t += 1
    if arm.pending > 0:
        arm.pending -= 1
        control.pending -= 1
    if control.unready > 0:
        count_fewest(arms, control, index)
    pool[arm.start[WAITING] + arm.held[WAITING]] = reward
    arm.held[WAITING] += 1
    if arm.told == arm.next_look:
        _look_and_settle(arms, control, rule, pool, trees, looks, index)


@kernel
def _look_and_settle(
    arms: Arms, control: Record, rule: Record, pool: Pool, trees: Tree, looks: Looks, index: int
) -> None:
    """Find leader and challenger, and stop if they are apart or as close as the resolution can tell (section 7)."""
    arm = arms[index]
    was_ready = arm.ready
    _look(arm, rule, pool, looks)
    if arm.ready != was_ready:
        control.unready -= 1
    arm.next_look = arm.told + 1
    if control.done > 0:
        arm.next_look = next_look(rule, arm.told, 0.0, 1.0)
        return
    set_key(trees, LEADERS, index, arm.lower + arm.upper)
    if index != control.leader:
        set_key(trees, CHALLENGERS, index, arm.upper)
    if control.unready > 0:
        return
    control.explored = 1
    leader = first_of(trees, LEADERS)
    if leader != control.leader:  # a leader is no challenger
        if control.leader >= 0:
            set_key(trees, CHALLENGERS, control.leader, arms[control.leader].upper)
        set_key(trees, CHALLENGERS, leader, -np.inf)
    challenger = first_of(trees, CHALLENGERS)
    control.leader = leader
    control.challenger = challenger
    overlap = arms[challenger].upper - arms[leader].lower
    arm.next_look = next_look(rule, arm.told, arm.spread, max(overlap, 0.0))
    if rule.endless == 1:
        return
    if arms[leader].lower > arms[challenger].upper:
        control.done = IDENTIFIED
        control.best = leader
    elif arms[leader].spread < rule.resolution and arms[challenger].spread < rule.resolution:
        control.done = INDISTINGUISHABLE
    else:
        return
    for other in range(arms.size):
        arms[other].active = 1 if other == leader or arms[other].upper >= arms[leader].lower else 0


@inlined_kernel
def choose(arms: Arms, control: Record) -> int:
    """Return the arm to pull next: the least-pulled while some have no interval, or else of leader and challenger."""
    if control.explored == 0:
        return control.first_fewest
    # The statistical width of an arm depends on its number of rewards alone, so the wider is the one with fewer.
    leader, challenger = control.leader, control.challenger
    if arms[leader].told == arms[challenger].told:
        return min(leader, challenger)
    return leader if arms[leader].told < arms[challenger].told else challenger


@kernel
def choose_ahead(arms: Arms, control: Record) -> int:
    """Choose while rewards are outstanding: counts as if they had come in, intervals as they are."""
    if control.explored == 0:
        least = -1
        for index in range(arms.size):
            if arms[index].ready == 0:
                ahead = arms[index].told + arms[index].pending
                if least < 0 or ahead < arms[least].told + arms[least].pending:
                    least = index
        return least
    leader, challenger = control.leader, control.challenger
    leader_pulls = arms[leader].told + arms[leader].pending
    challenger_pulls = arms[challenger].told + arms[challenger].pending
    if leader_pulls == challenger_pulls:
        return min(leader, challenger)
    return leader if leader_pulls < challenger_pulls else challenger
