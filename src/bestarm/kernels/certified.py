"""The certified method: intervals that hold whatever the adversary does, and a stop when no winner can be named.

The mathematics, with proofs, is in docs/explanation/certified.md; section numbers below are its. Of n rewards of an arm
c = chat(n) at most are contaminated:

- the mean is at most w below that of the n - c smallest stored ones, and at most w above that of the n - c largest;
- a reward further than rad(n) from every possible mean is contaminated for certain, and dropped for good.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics import (
    drop_outside,
    insert,
    insert_raw,
    kept_sum,
    lower_tail_sum,
    order_statistic,
    place_cuts,
    upper_tail_sum,
)
from bestarm.kernels.samples import RAW, Pool, Record

Arms = NDArray[np.void]

IDENTIFIED = 1
INDISTINGUISHABLE = 2

# Alarms.
TOO_MANY = 1
NO_MEAN = 2


# ------------------------------------------------------------------------------------------------------------ formulas


@kernel
def count_bound(rule: Record, n: int, c: int, likelihood: float) -> tuple[int, float]:
    """Return chat(n) and M_n(chat(n)) from those of n - 1 (section 1); O(1) amortised.

    M_n(c) = B(c + a, n - c + b) / (B(a, b) eps^c (1 - eps)^(n - c)); chat(n) is the largest c with M_n(c) < 1/d1.
    """
    if rule.epsilon == 0.0:
        return 0, 1.0
    a, b = rule.prior, rule.prior_rest
    likelihood *= (n - 1 - c + b) / ((n - 1 + a + b) * (1.0 - rule.epsilon))
    while c < n:
        larger = likelihood * (c + a) * (1.0 - rule.epsilon) / ((n - c - 1 + b) * rule.epsilon)
        if larger >= rule.count_limit and c + 1 > rule.epsilon * n:
            break
        likelihood = larger
        c += 1
    return c, likelihood


@inlined_kernel
def mean_radius(rule: Record, m: int) -> float:
    """Return w(m) = sigma sqrt((m + r) log((m + r) / (r d2^2))) / m, Robbins' normal mixture (section 2)."""
    r = rule.mixing
    return rule.scale * np.sqrt((m + r) * (np.log((m + r) / r) + rule.mean_log)) / m


@inlined_kernel
def clean_radius(rule: Record, n: int) -> float:
    """Return rad(n) = sigma sqrt(2 log(pi^2 n^2 / (3 d3))): no clean reward is further from its mean (section 3)."""
    return rule.scale * np.sqrt(2.0 * (rule.reach_log + 2.0 * np.log(n)))


@kernel
def missing_total(rule: Record, n: int, c: int, reach: float) -> float:
    """Return how far c clean rewards that a malicious adversary removed can be from c times their mean (section 6).

    Each is within rad(n); and the sums of all subsets of c of n rewards at once are within
    sigma sqrt(2 c (log C(n, c) + log(pi^2 n^3 / (3 d3)))), where log C(n, c) <= c (1 + log(n / c)).
    """
    if c == 0:
        return 0.0
    subsets = c * (1.0 + np.log(n / c))
    return min(c * reach, rule.scale * np.sqrt(2.0 * c * (subsets + rule.reach_log + 3.0 * np.log(n))))


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
def ends(
    rule: Record, n: int, c: int, low_sum: float, high_sum: float, low_edge: float, high_edge: float
) -> tuple[float, float, float]:
    """Return lower end, upper end and statistical half-width for an arm with n rewards (section 4).

    `low_sum` and `high_sum` add up the n - c >= 1 smallest and largest rewards that were not dropped, `low_edge` is the
    smallest of the largest, `high_edge` the largest of the smallest.
    """
    m = n - c
    if rule.bounded == 1:
        width = rule.high - rule.low
        share_low = (low_sum - m * rule.low) / width
        share_high = (high_sum - m * rule.low) / width
        if rule.malicious == 1:
            average_low, average_high, used = share_low / n, (share_high + c) / n, n
        else:
            average_low, average_high, used = share_low / m, share_high / m, m
        lower = lowest_mean(rule, average_low, used)
        upper = 1.0 - lowest_mean(rule, 1.0 - average_high, used)
        # Not the distance to the averages, which is 0 where they lie at the ends of the range.
        return rule.low + width * lower, rule.low + width * upper, mean_radius(rule, used)
    reach = clean_radius(rule, n)
    if rule.malicious == 1:
        statistical = n * mean_radius(rule, n) / m
        margin = statistical + missing_total(rule, n, c, reach) / m
    else:
        statistical = mean_radius(rule, m)
        margin = statistical
    lower = max(low_sum / m - margin, high_edge - reach) if rule.epsilon > 0.0 else low_sum / m - margin
    upper = min(high_sum / m + margin, low_edge + reach) if rule.epsilon > 0.0 else high_sum / m + margin
    return lower, upper, statistical


# ------------------------------------------------------------------------------------------------------ one arm online


@inlined_kernel
def _filters(rule: Record) -> bool:
    # Bounded rewards cannot be far away, and without contamination none is suspect.
    return rule.bounded == 0 and rule.epsilon > 0.0


@inlined_kernel
def _spare(arm: Record) -> int:
    """Return how many of the stored rewards may be contaminated: chat(n) less those dropped, and not all of them."""
    return min(max(arm.contaminated - arm.dropped, 0), arm.count - 1)


@inlined_kernel
def _first_cut(stored: int, spare: int) -> int:
    return min(spare, stored - spare)


@inlined_kernel
def _second_cut(stored: int, spare: int) -> int:
    return max(max(spare, stored - spare), min(spare, stored - spare) + 1)


@inlined_kernel
def _raise_alarm(arm: Record, reason: int) -> None:
    if arm.alarm == 0:
        arm.alarm = reason
        arm.alarmed = arm.told


@kernel
def _store(arm: Record, pool: Pool, reward: float, rank_0: int, rank_1: int) -> None:
    # A call of its own: inlined, `insert` would be optimised once more with everything around it.
    if arm.divided == RAW:
        insert_raw(arm, pool, reward, rank_0, rank_1)
    else:
        insert(arm, pool, reward, rank_0, rank_1)
    arm.bottom = min(arm.bottom, reward)
    arm.top = max(arm.top, reward)


@kernel
def take(arm: Record, control: Record, rule: Record, pool: Pool, reward: float) -> None:
    """Take a reward in: count it, drop it or store it, and renew the interval of its arm."""
    arm.told += 1
    control.t += 1
    if arm.pending > 0:
        arm.pending -= 1
        control.pending -= 1
    arm.contaminated, arm.likelihood = count_bound(rule, arm.told, arm.contaminated, arm.likelihood)
    reach = clean_radius(rule, arm.told) if _filters(rule) and arm.alarm == 0 else np.inf
    if reward < arm.lower - reach or reward > arm.upper + reach:
        arm.dropped += 1
    else:
        stored = arm.count + 1
        spare = min(max(arm.contaminated - arm.dropped, 0), stored - 1)
        _store(arm, pool, reward, _first_cut(stored, spare), _second_cut(stored, spare))
    if arm.dropped > arm.contaminated:
        _raise_alarm(arm, TOO_MANY)
    if arm.told <= arm.contaminated or not _renew(arm, rule, pool) or arm.told < arm.recheck or arm.alarm > 0:
        return
    if arm.bottom < arm.lower - reach or arm.top > arm.upper + reach:
        before = arm.count
        drop_outside(arm, pool, arm.lower - reach, arm.upper + reach)
        arm.dropped += before - arm.count
        arm.recheck = arm.told + max(1, arm.told >> 4)  # O(n) each, so at most 16 of them while n doubles
        if arm.dropped > arm.contaminated:
            _raise_alarm(arm, TOO_MANY)
        _renew(arm, rule, pool)


@kernel
def _renew(arm: Record, rule: Record, pool: Pool) -> bool:
    """Renew the interval of an arm from what is stored (section 4); False if no mean fits it any more."""
    stored = arm.count
    if stored < 1:
        return False
    spare = _spare(arm)
    place_cuts(arm, pool, _first_cut(stored, spare), _second_cut(stored, spare))
    size = stored - spare
    below, between, above = lower_tail_sum(arm, pool), kept_sum(arm, pool), upper_tail_sum(arm, pool)
    low_sum = below if size == _first_cut(stored, spare) else below + between
    high_sum = above if spare == _second_cut(stored, spare) else between + above
    low_edge = order_statistic(arm, pool, spare)
    high_edge = order_statistic(arm, pool, size - 1)
    lower, upper, arm.spread = ends(rule, arm.told, arm.told - size, low_sum, high_sum, low_edge, high_edge)
    lower, upper = max(arm.lower, lower), min(arm.upper, upper)
    arm.ready = 1
    if lower > upper:
        _raise_alarm(arm, NO_MEAN)
        return False
    arm.lower, arm.upper = lower, upper
    return True


# ---------------------------------------------------------------------------------------------------------- the method


@kernel
def settle(arms: Arms, control: Record, rule: Record) -> None:
    """Find leader and challenger, and stop if they are apart or as close as the resolution can tell (section 7)."""
    control.explored = 0
    for index in range(arms.size):
        if arms[index].ready == 0:
            return
    control.explored = 1
    leader = 0
    for index in range(1, arms.size):
        if arms[index].lower + arms[index].upper > arms[leader].lower + arms[leader].upper:
            leader = index
    challenger = -1
    for index in range(arms.size):
        if index != leader and (challenger < 0 or arms[index].upper > arms[challenger].upper):
            challenger = index
    control.leader = leader
    control.challenger = challenger
    if rule.endless == 1:
        return
    if arms[leader].lower > arms[challenger].upper:
        control.done = IDENTIFIED
        control.best = leader
    elif arms[leader].spread < rule.resolution and arms[challenger].spread < rule.resolution:
        control.done = INDISTINGUISHABLE
    else:
        return
    for index in range(arms.size):
        arms[index].active = 1 if index == leader or arms[index].upper >= arms[leader].lower else 0


@kernel
def choose(arms: Arms, control: Record) -> int:
    """Return the arm to pull next: the least-pulled without an interval, or else of leader and challenger."""
    if control.explored == 0:
        least = -1
        for index in range(arms.size):
            if arms[index].ready == 0:
                ahead = arms[index].told + arms[index].pending
                if least < 0 or ahead < arms[least].told + arms[least].pending:
                    least = index
        return least
    # The statistical width of an arm depends on its number of rewards alone, so the wider is the one with fewer.
    leader, challenger = control.leader, control.challenger
    leader_pulls = arms[leader].told + arms[leader].pending
    challenger_pulls = arms[challenger].told + arms[challenger].pending
    if leader_pulls == challenger_pulls:
        return min(leader, challenger)
    return leader if leader_pulls < challenger_pulls else challenger
