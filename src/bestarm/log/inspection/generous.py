"""Sources that give one arm the highest reward nearly always, where others seldom do.

Bots that click a banner whenever they see it, sock puppets that give one film five stars and rate little else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bestarm.log.inspection.shapes import RATE
from bestarm.log.inspection.watch import SourceCounts

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_LEAST = 20  # pairs of a source and an arm below which nothing is known of the others
_LEAST_REWARDS = 3
_MOST = 0.1  # share of the pairs; if more give so much, that is how people are
_ALIKE = 200  # others with as many rewards, or nearly, to compare them with
_ODDS = 3.0  # how much more often than others the favoured arm is theirs: fans of everything favour nobody


@dataclass(frozen=True, eq=False)
class Generosity:
    """Which sources give an arm improbably many highest rewards, which arm, and how often they do and others do."""

    found: Indices
    arm: int = 0
    theirs: float = 0.0
    others: float = 0.0


NOBODY = Generosity(np.empty(0, np.int64))


def generous_sources(counts: SourceCounts, arms: int) -> Generosity:
    """Return the sources that give one arm the highest reward more often than chance allows; for ratings.

    Counted among their rewards of that arm or, if nobody is found so, among all their rewards: whoever gives an arm few
    rewards, but the highest ones and no others, is told by both together.

    Each pair of a source and an arm is judged by the binomial law with the rate of that arm. The other pairs then show
    how much the rewards of one person go together anyhow: the correlation rho, with which the first are judged again,
    by the beta-binomial law. Some people like everything they see, so at last the sources must agree on an arm, three
    times as often (by odds) as those who could have been found do.
    """
    found = _generous(counts, counts.times, arms)
    return found if found.found.size else _generous(counts, counts.numbers[counts.source], arms)


def _generous(counts: SourceCounts, number: Array, arms: int) -> Generosity:
    """Return the sources with improbably many highest rewards of an arm among so many rewards."""
    good = counts.top
    chance = _rates(counts.arm, number, good, arms)[counts.arm]
    eligible = number >= _LEAST_REWARDS
    level = 0.5 * RATE / (arms * counts.total)
    found = _above(number, good, chance, np.flatnonzero(eligible), level)
    if not found.size or found.size > _MOST * np.count_nonzero(eligible):
        return NOBODY
    rest = np.setdiff1d(np.flatnonzero(number >= 2.0), found)
    chance = _rates(counts.arm[rest], number[rest], good[rest], arms)[counts.arm]
    rho = _togetherness(number[rest], good[rest], chance[rest])
    if rho > 0.0:
        weight = (1.0 - rho) / rho
        odds = stats.betabinom.sf(good[found] - 1, number[found], chance[found] * weight, (1 - chance[found]) * weight)
        found = found[odds <= level]
    if not found.size:
        return NOBODY
    alike = np.sort(number[rest])[-min(max(_ALIKE, found.size), rest.size) :] if rest.size else number[found]
    usual = rest[number[rest] >= min(alike[0], number[found].min())]
    arm = _favoured(counts.arm[found], counts.arm[usual], arms)
    if arm is None:
        return NOBODY
    found = found[counts.arm[found] == arm]
    others = np.setdiff1d(np.flatnonzero(counts.arm == arm), found)
    theirs = float(good[found].sum() / counts.times[found].sum())
    rate = float(good[others].sum() / max(float(counts.times[others].sum()), 1.0))
    return Generosity(np.unique(counts.source[found]), arm, theirs, rate)


def _rates(arm: Indices, number: Array, good: Array, arms: int) -> Array:
    """Return the rate of the highest reward of each arm, in some pairs; never quite 0 or 1."""
    many = np.bincount(arm, weights=number, minlength=arms)
    return np.clip(np.bincount(arm, weights=good, minlength=arms) / np.maximum(many, 1.0), 1e-9, 1.0 - 1e-9)


def _above(number: Array, good: Array, chance: Array, which: Indices, level: float) -> Indices:
    """Return the pairs with improbably many highest rewards.

    Only those that pass Chernoff's bound are computed: the chance of a share x or more is at most exp(-n kl(x, p)).
    """
    n, p = number[which], chance[which]
    share = good[which] / n
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(share > 0.0, share * np.log(share / p), 0.0)
        outside = np.where(share < 1.0, (1.0 - share) * np.log((1.0 - share) / (1.0 - p)), 0.0)
    # The tail is at least exp(-n kl) / (n + 1), so that a pair with a larger bound than level * (n + 1) cannot pass.
    close = which[(share > p) & (n * (inside + outside) >= -np.log(level * (n + 1.0)))]
    tails = stats.binom.sf(good[close] - 1, number[close], chance[close])
    return np.asarray(close[tails <= level], np.int64)


def _togetherness(number: Array, good: Array, chance: Array) -> float:
    """Return the correlation of two rewards of a source on one arm, on average over some pairs; 0 if unknown."""
    if number.size < _LEAST:
        return 0.0
    bad = number - good
    same = (good * (good - 1.0) + bad * (bad - 1.0)) / (number * (number - 1.0))
    by_chance = chance**2 + (1.0 - chance) ** 2
    error = float(np.std(same - by_chance)) / np.sqrt(number.size)
    excess = float(np.mean(same - by_chance)) - 2.0 * error
    return float(min(max(excess / float(np.mean(1.0 - by_chance)), 0.0), 0.999))


def _favoured(found: Indices, usual: Indices, arms: int) -> int | None:
    """Return the arm on which some pairs agree more than those who could have been found; None if there is none."""
    ours, theirs = np.bincount(found, minlength=arms), np.bincount(usual, minlength=arms)
    arm = int(np.argmax(ours))
    share = float((theirs[arm] + 1.0) / (theirs.sum() + arms))
    here = float(ours[arm] / ours.sum())
    agree = float(stats.binom.sf(ours[arm] - 1, ours.sum(), share)) * arms <= RATE
    return arm if agree and here * (1.0 - share) >= _ODDS * share * (1.0 - here) else None
