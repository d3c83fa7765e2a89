"""The bets on a log, which is looked at once: one family for every epsilon and every number of replaced rewards.

Section 13 of docs/explanation/certified.md. If the bets depended on the epsilon that is asked about, two questions
about one log would be answered by two sets of evidence. With the bets of `bets.py` a log of 80,000 visits survived 10
fakes when asked at epsilon = 0, and not a single one when asked at 0.0001. So two kinds of bets are mixed: those made
for hardly any fakes, and those made for many. On the lattice the mixture loses at most an eighth of the log evidence of
bets made for the epsilon in question. That was measured in 18 cases (2 to 20 arms, epsilon from 0 to 0.3, clean
rewards) under each kind of contamination; where 20 % or more are counted, the mixture gains. With 0.08 in place of 0.1
it loses more than a quarter.
"""

from __future__ import annotations

import functools
import math
from statistics import NormalDist

from bestarm.contamination import BetFamily
from bestarm.methods.bets import (
    CLEAN_RUNG_WEIGHTS,
    CLIPS,
    RUNG_WEIGHTS,
    RUNGS,
    SMALL_SHARE,
    Bet,
    BoundedBet,
    exponential,
    guarded,
    weakest_guard,
)

RATES = 0.005, 0.1  # shares of fakes that the bets on the lattice are made for: hardly any, and many
_SMALL = 8  # smaller bets with bounds, for leads of about 10^-4 of the range


@functools.cache  # a log is priced at many epsilons
def log_lattice_family(family: BetFamily) -> tuple[Bet, ...]:
    """Return the bets of a cell, for all rates."""
    few, many = (NormalDist().inv_cdf(1.0 - rate) for rate in RATES)
    if family == "blind":
        slopes = ((0.3, many, 1.0), (0.1, many, 1.0), (0.3, few, 1.0), (0.1, few, 1.0))
        small = ((0.1 / 3.0, few, 1.0), (0.1 / 9.0, few, 0.5))
        return (
            *(guarded(a, 2.2, weakest_guard(a, 2.2, 0.15), z + 0.45, weight) for a, z, weight in (*slopes, *small)),
            *(guarded(a, 1.2, g * a, many + c) for a, g, c in ((0.5, 0.2, 0.2), (0.3, 0.4, 0.0), (0.12, 0.3, 0.1))),
            guarded(1.17, 0.5, 1.17, many),
            *(exponential(1.2, 0.05, z + 0.9) for z in (many, few)),
        )
    return (
        *(guarded(a, 1.3, 0.27 * a, many) for a in (0.4, 0.12)),
        *(guarded(a, 0.5, a, many) for a in (0.8, 0.35, 0.14, 0.055)),
        *(guarded(a, 0.5, a, few) for a in (0.35, 0.14, 0.055, 0.055 / 2.6)),
        guarded(0.055 / 2.6**2, 0.5, 0.055 / 2.6**2, few, 0.5),
        exponential(1.2, 0.3, few + 0.9),
    )


def log_bounded_family() -> list[BoundedBet]:
    """Return the bets on rewards in [0, 1]: half of the weight is on the bets for epsilon = 0, half on the others."""
    bets = []
    for clip, share in CLIPS:
        for rung, weight, clean in zip(RUNGS, RUNG_WEIGHTS, CLEAN_RUNG_WEIGHTS, strict=True):
            mixed = 0.5 * (share * weight + (clean if clip == 1.0 else 0.0))
            bets.append(BoundedBet(math.expm1(rung), clip, (1.0 - SMALL_SHARE) * mixed))
    small = range(1, _SMALL + 1)
    bets += [BoundedBet(math.expm1(RUNGS[0] / 2.0**i), 1.0, SMALL_SHARE / (i * (i + 1))) for i in small]
    return bets
