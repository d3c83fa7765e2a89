"""The parts that the three kinds of evidence share: settings, the price of contamination, the evidence of a pair.

Section numbers are those of docs/explanation/certified.md. A *bet* is a function h of one reward; the log evidence of a
bet after n rewards is the sum of log h less a price. Rewards enter through such sums alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Record

Scratch = Any  # an array of numbers to work on; None in the state of another family

# Kinds of evidence: which kernel file holds the bets.
CLEAN = 0  # clean.py: sub-Gaussian rewards, epsilon = 0
LATTICE = 1  # lattice.py: sub-Gaussian rewards
BOUNDED = 2  # bounded.py: rewards with bounds

BETS = 32  # bets of a family, at most
CELLS = 48  # cells of the lattice that are kept for an arm
HALF = CELLS // 2
SUBCELLS = 64  # of a cell
GROUPS = 4  # rates of exponentials of a family on the lattice, at most

evidence_dtype = np.dtype(
    [
        ("family", "i8"),  # the fields that all rules have
        ("shortcuts", "i8"),
        ("estimator", "i8"),
        ("explored", "f8"),
        ("seed", "u8"),
        ("kind", "i8"),
        ("origin", "f8"),  # a reward r is x = (r - origin) / scale to the bets
        ("scale", "f8"),
        ("epsilon", "f8"),
        ("share", "f8"),  # of rewards that are counted as replaced; 0 if contamination is in the price of a reward
        ("settled", "f8"),  # number of rewards per arm from which the share is assumed to hold
        ("surely", "f8"),  # replaced rewards to allow for in any case
        ("together", "i8"),  # 1: the count is of all arms together
        ("log_threshold", "f8"),  # log((K - 1) / delta): evidence that drops an arm
        ("log_shown", "f8"),  # log(2 K / delta): evidence at which the interval of an arm ends
        ("log_alarm", "f8"),  # log(K / delta)
        ("same", "f8"),  # weights of the terms of a pair
        ("product", "f8"),
        ("alone", "f8"),
        ("bets", "i8"),
        ("core", "i8"),  # bounded: bets whose logarithms are summed reward by reward; those after them are small
        ("weight", "f8", (BETS,)),
        ("log_weight", "f8", (BETS,)),
        ("log_same", "f8"),
        ("odds", "f8", (BETS,)),  # log(C / l): the most that one replaced reward can add to the evidence of a bet
        ("most", "f8", (BETS,)),  # C, the largest value of h
        ("log_most", "f8", (BETS,)),
        ("rate", "f8", (BETS,)),  # clean: k; bounded: u
        ("clip", "f8", (BETS,)),  # bounded: c
        ("fixed", "f8", (BETS,)),  # bounded: the price of a reward at m is log(fixed + rising min(m, clip))
        ("rising", "f8", (BETS,)),
        ("slope", "f8", (BETS,)),  # lattice: h(y) = min(C, constant + slope y + size exp(rate y)), see lattice.py
        ("least", "f8", (BETS,)),  # lattice: l, the smallest value of h,
        ("lowest", "f8", (BETS,)),  # and where h has it
        ("group_rate", "f8", (GROUPS,)),
        ("group_end", "i8", (GROUPS,)),  # bets of the first groups, this one included
        ("constant", "f8", (CELLS + 1, BETS)),  # for each cell, counted from the middle one
        ("size", "f8", (CELLS + 1, BETS)),
        ("price", "f8", (BETS, SUBCELLS + 1)),  # lattice: of a reward, for d = m - c from -w/2 to w/2
        ("spacing", "f8"),  # w
        ("last_round", "i8"),  # stop after this round, when the resolution is reached; 0: never
        ("good_enough", "f8"),  # in the units of the bets; 0: none
        ("kept", "i8"),  # rewards of an arm to keep for cells that are needed later
        ("endless", "i8"),  # 1: drop arms and never stop
    ]
)


class Replaced(NamedTuple):
    """How many rewards may have been replaced (section 3): `own` of each arm, or `shared` of all arms together."""

    own: float
    shared: float


@inlined_kernel
def contaminated_count(rule: Record, arms: int, n: int, told: int) -> float:
    """Return how many rewards may have been replaced, of the n of one arm or of all told (section 3)."""
    if rule.share == 0.0:
        return rule.surely
    together = rule.together == 1
    holds_from = np.ceil((arms if together else 1) * rule.settled - 1e-9)  # rewards come in whole numbers
    return np.floor(rule.share * max(told if together else n, holds_from) + 1e-9) + rule.surely


@inlined_kernel
def own_or_shared(rule: Record, count: float) -> Replaced:
    """Return a count as one for each arm, or as one for all arms together, as the rule says."""
    if rule.together == 1:
        return Replaced(0.0, count)
    return Replaced(count, 0.0)


@inlined_kernel
def log_sum(one: float, two: float) -> float:
    """Return log(exp(one) + exp(two))."""
    high, low = max(one, two), min(one, two)
    if low == -np.inf:
        return high
    return high + np.log1p(np.exp(low - high))


@kernel
def log_mixture(rule: Record, values: Scratch, index: int) -> float:
    """Return the log of the weighted mean of exp(log evidence) over the bets, read from `values` at `index`."""
    top = -np.inf
    for bet in range(rule.bets):
        top = max(top, values[index + bet])
    if top == -np.inf:
        return top
    total = 0.0
    for bet in range(rule.bets):
        total += rule.weight[bet] * np.exp(values[index + bet] - top)
    return top + np.log(total)


@kernel
def reaches(rule: Record, values: Scratch, index: int, enough: float) -> bool:
    """Tell whether the log mixture is at least `enough`; mostly one bet, or the sum of the weights, settles it."""
    top = best = -np.inf
    for bet in range(rule.bets):
        top = max(top, values[index + bet])
        best = max(best, values[index + bet] + rule.log_weight[bet])
    if top < enough or best >= enough:
        return best >= enough
    return log_mixture(rule, values, index) >= enough


@kernel
def log_pair(rule: Record, scratch: Scratch, up: int, down: int, count: float, enough: float) -> float:
    """Return log W of a pair from the log evidence of its bets, read from scratch at `up` and `down`.

    W = same sum_j w_j U_j D_j + product (sum_j w_j U_j)(sum_j w_j D_j) + alone (sum_j w_j U_j + sum_j w_j D_j),
    section 4. If the count of replaced rewards is of all arms together, a term of the bets j, j' costs
    count max(odds_j, odds_j'), and each arm's log evidence comes without its part of that.
    A W that is certain to be less than `enough` is returned as -infinity, and one that is certain to be enough as one
    of its terms: mostly this settles it.
    """
    high_up = high_down = term = -np.inf
    for bet in range(rule.bets):
        high_up = max(high_up, scratch[up + bet])
        high_down = max(high_down, scratch[down + bet])
        term = max(term, scratch[up + bet] + scratch[down + bet] + rule.log_weight[bet] - count * rule.odds[bet])
    top = max(high_up + high_down, high_up, high_down)
    if top < enough:
        return -np.inf
    term += rule.log_same
    if term >= enough > -np.inf:
        return term
    if rule.together == 1 and count > 0.0:
        return _log_pair_together(rule, scratch, up, down, count)
    ups = downs = sames = 0.0
    for bet in range(rule.bets):
        one = np.exp(scratch[up + bet] - high_up)
        two = np.exp(scratch[down + bet] - high_down)
        ups += rule.weight[bet] * one
        downs += rule.weight[bet] * two
        sames += rule.weight[bet] * one * two
    total = np.exp(high_up + high_down - top) * (rule.same * sames + rule.product * ups * downs)
    total += rule.alone * (np.exp(high_up - top) * ups + np.exp(high_down - top) * downs)
    return top + np.log(total)


@kernel
def _log_pair_together(rule: Record, scratch: Scratch, up: int, down: int, count: float) -> float:
    """Return the same where the two arms together have at most `count` replaced rewards."""
    top = -np.inf
    for bet in range(rule.bets):
        cost = count * rule.odds[bet]
        top = max(top, scratch[up + bet] - cost, scratch[down + bet] - cost)
        for other in range(rule.bets):
            cost = count * max(rule.odds[bet], rule.odds[other])
            top = max(top, scratch[up + bet] + scratch[down + other] - cost)
    if top == -np.inf:
        return top
    total = 0.0
    for bet in range(rule.bets):
        weight = rule.weight[bet]
        cost = top + count * rule.odds[bet]
        total += rule.alone * weight * (np.exp(scratch[up + bet] - cost) + np.exp(scratch[down + bet] - cost))
        total += rule.same * weight * np.exp(scratch[up + bet] + scratch[down + bet] - cost)
        for other in range(rule.bets):
            cost = top + count * max(rule.odds[bet], rule.odds[other])
            total += (
                rule.product * weight * rule.weight[other] * np.exp(scratch[up + bet] + scratch[down + other] - cost)
            )
    return top + np.log(total)


@inlined_kernel
def _highest_after(rule: Record, scratch: Scratch, index: int, growth: int, rounds: float, count: float) -> float:
    high = -np.inf
    for bet in range(rule.bets):
        high = max(high, scratch[index + bet] + rounds * scratch[growth + bet] - count * rule.odds[bet])
    return high


@kernel
def _below_after(
    rule: Record, scratch: Scratch, up: int, down: int, growth: int, rounds: float, count: float, enough: float
) -> bool:
    """Tell whether W at the same m is certain to be below `enough` after some more rounds.

    Weights sum to at most 1, so W is at most its largest term, and a bet gains at most log C minus its price per round.
    """
    one = _highest_after(rule, scratch, up, growth, rounds, count)
    two = _highest_after(rule, scratch, down, growth + BETS, rounds, count)
    free = two if count == 0.0 else _highest_after(rule, scratch, down, growth + BETS, rounds, 0.0)
    return max(one + free, one, two) < enough - 1e-6


@kernel
def quiet_rounds(rule: Record, scratch: Scratch, up: int, down: int, growth: int, count: float, enough: float) -> int:
    """Return for how many rounds W at the same m stays below `enough`, whatever the rewards are (a power of two, or 0).

    An exact shortcut: the pair need not be compared before. The gain that the bets of both arms can make in a round is
    in scratch at `growth`. `count` is of both arms together; the price of each arm alone is in its log evidence.
    """
    rounds = 0
    more = 1
    if rule.shortcuts == 0:
        return rounds
    while more < 1 << 20 and _below_after(rule, scratch, up, down, growth, float(more), count, enough):
        rounds = more
        more *= 2
    return rounds
