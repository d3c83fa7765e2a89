"""Fisher's exact test of two arms with rewards of 0 and 1, also where some of them may be fake.

Section 14 of docs/explanation/certified.md has the proofs. Arrays of tables are handled at once. A table has four
cells: the successes and failures of arm b, and those of arm a. Given the number of successes of both arms, those of b
have a law that depends on the odds ratio alone. It is known up to a factor: the weight of the table with j more
successes of b, and j fewer of a, is a product of ratios of the cells. So a tail is a sum of weights, divided by the
sum of all, and no factorial is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

_DEPTH = 42.0  # weights below exp(-42) of the largest one are left out: 1e-18 each
_MOST_TERMS = 2048  # a longer sum is an integral, with a correction at its end
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(128)
_REACH = np.concatenate([[0.0], np.floor(2.0 ** (np.arange(2, 90) / 2.0))])  # distances from the peak that are tried
_SMALLEST_STIRLING = 16.0
_CHUNK = 1 << 21  # terms that are held at a time


class Tables(NamedTuple):
    """Tables of two arms: successes and failures of b, and of a."""

    good_b: Array
    bad_b: Array
    good_a: Array
    bad_a: Array

    def flipped(self, of_b: Array, of_a: Array) -> Tables:
        """Return the tables after so many successes of b became failures, and so many failures of a successes."""
        return Tables(self.good_b - of_b, self.bad_b + of_b, self.good_a + of_a, self.bad_a - of_a)

    def at(self, index: NDArray[np.int64]) -> Tables:
        """Return some of the tables."""
        return Tables(*(cell[index] for cell in self))


def log_p_values(tables: Tables, log_odds: Array | float = 0.0) -> Array:
    """Return log P(b has at least as many successes as it has | the successes of both), at an odds ratio.

    At log odds of 0 this is the logarithm of Fisher's p-value against "b is not better than a".

    >>> table = Tables(*(np.array([cell]) for cell in (3.0, 1.0, 1.0, 3.0)))
    >>> bool(np.isclose(np.exp(log_p_values(table)[0]), 17 / 70))
    True
    """
    if not tables.good_b.size:
        return np.zeros(0)
    shift = np.broadcast_to(np.asarray(log_odds, float), tables.good_b.shape)
    up = _log_sum(np.stack([tables.good_b, tables.bad_a]), np.stack([tables.bad_b, tables.good_a]), shift)
    down = _log_sum(np.stack([tables.bad_b, tables.good_a]), np.stack([tables.good_b, tables.bad_a]), -shift)
    with np.errstate(divide="ignore"):
        rest = np.where(down > 30.0, down, np.log(np.expm1(np.minimum(down, 30.0))))  # the table itself counts once
    found: Array = up - np.logaddexp(up, rest)
    return np.minimum(found, 0.0)


def worst_splits(tables: Tables, count: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return two splits of `count` flips, one of which has the largest p-value, and whether there is any split.

    A split is the number of flips on b; the rest are on a. From i to i + 1 the p-value rises if and only if a's
    successes times its failures exceed b's failures plus one times its successes less one. The difference of the two
    is linear in i. So if it falls, the largest p-value is where it changes its sign, and otherwise at one of the ends.
    """
    least, most = np.maximum(count - tables.bad_a, 0.0), np.minimum(count, tables.good_b)
    possible = least <= most
    top = np.maximum(most, least)
    good_a, good_b = tables.good_a + count, tables.good_b - 1.0
    start = good_a * (tables.bad_a - count) - good_b * (tables.bad_b + 1.0)
    slope = tables.good_b + tables.bad_b - tables.good_a - tables.bad_a + 2.0 * (good_a - good_b)
    falls = slope < 0.0
    turn = np.clip(np.ceil(start / np.where(falls, -slope, 1.0)), least, top)
    return np.where(falls, turn, least), np.where(falls, turn, top), possible


def worst_log_p_values(tables: Tables, count: Array) -> Array:
    """Return the largest log p-value of all tables within `count` flips of each table.

    It is 0 where b has no success left, or a no failure.
    """
    one, two, possible = worst_splits(tables, count)
    found = np.zeros(count.size)
    some = np.flatnonzero(possible)
    inside, flips = tables.at(some), count[some]
    found[some] = log_p_values(inside.flipped(one[some], flips - one[some]))
    both = np.flatnonzero(possible & (one != two))
    if both.size:
        inside, flips = tables.at(both), count[both]
        found[both] = np.maximum(found[both], log_p_values(inside.flipped(two[both], flips - two[both])))
    return found


def log_odds_bounds(tables: Tables, log_level: float, halvings: int = 24) -> Array:
    """Return the largest log odds ratio of each table at which its p-value is at most the level: a lower bound."""
    found = np.full(tables.good_b.shape, -np.inf)
    some = np.flatnonzero((tables.good_b > 0.0) & (tables.bad_a > 0.0))  # else the p-value is always 1
    if not some.size:
        return found
    inside = tables.at(some)
    cells = np.stack(inside) + 0.5
    error = np.sqrt((1.0 / cells).sum(axis=0))
    guess = np.log(cells[0] * cells[3] / (cells[1] * cells[2])) + special.ndtri_exp(log_level) * error
    low, high = guess - error, guess + error
    for step in 2.0 ** np.arange(60):
        above, below = log_p_values(inside, low) > log_level, log_p_values(inside, high) <= log_level
        if not (above.any() or below.any()):
            break
        low, high = np.where(above, low - step * error, low), np.where(below, high + step * error, high)
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        proved = log_p_values(inside, middle) <= log_level
        low, high = np.where(proved, middle, low), np.where(proved, high, middle)
    found[some] = low
    return found


def mean_ends(good: Array, bad: Array, level: float) -> tuple[Array, Array]:
    """Return the ends of the Clopper-Pearson intervals; each end is wrong with probability at most the level."""
    with np.errstate(invalid="ignore"):
        lower = np.where(good > 0.0, special.betaincinv(np.maximum(good, 1.0), bad + 1.0, level), 0.0)
        upper = np.where(bad > 0.0, special.betainccinv(good + 1.0, np.maximum(bad, 1.0), level), 1.0)
    return lower, upper


# ------------------------------------------------------------------------------------------------------ sums of weights


def _log_sum(grow: Array, shrink: Array, log_odds: Array) -> Array:
    """Return the log of the sum of the weights of j = 0, 1, ... steps; two cells grow and two shrink with each.

    The weight of no step is 1. The weights have one peak, and only those not far below it are summed.
    """
    last = shrink.min(axis=0)
    peak = np.floor(_peak(grow, shrink, log_odds, last))
    reach = _REACH[: np.searchsorted(_REACH, last.max()) + 1]
    around = peak[None, :] + np.concatenate([-reach[::-1], reach])[:, None]
    steps = np.clip(around, 0.0, last[None, :])
    heights = _log_weights(grow, shrink, log_odds, steps)
    small = heights < heights.max(axis=0) - _DEPTH
    half, tables = reach.size, np.arange(last.size)
    first = np.argmax(small[half - 1 :: -1], axis=0)  # 0 if none is small: the first of the distances never is
    final = np.argmax(small[half:], axis=0)
    begin = np.where(first > 0, steps[half - 1 - first, tables], 0.0)
    end = np.where(final > 0, steps[half + np.maximum(final, 0), tables], last)
    found = np.empty(last.size)
    is_short = end - begin <= _MOST_TERMS
    for way, which in ((_summed, np.flatnonzero(is_short)), (_integrated, np.flatnonzero(~is_short))):
        room = max(1, _CHUNK // (_MOST_TERMS if way is _summed else _NODES.size))
        for part in np.split(which, range(room, which.size, room)):
            if part.size:
                found[part] = way(grow[:, part], shrink[:, part], log_odds[part], begin[part], end[part])
    return found


def _peak(grow: Array, shrink: Array, log_odds: Array, last: Array) -> Array:
    """Return about where the ratio of one weight to the next is 1: the root of a quadratic."""
    odds = np.exp(np.clip(log_odds, -60.0, 60.0))
    square = odds - 1.0
    line = odds * (shrink[0] + shrink[1]) + grow[0] + grow[1] + 2.0
    constant = odds * shrink[0] * shrink[1] - (grow[0] + 1.0) * (grow[1] + 1.0)
    root = 2.0 * constant / (line + np.sqrt(np.maximum(line * line - 4.0 * square * constant, 0.0)))
    found: Array = np.clip(root, 0.0, last)
    return found


def _log_weights(grow: Array, shrink: Array, log_odds: Array, steps: Array) -> Array:
    """Return the log weights after so many steps, which need not be whole numbers: steps x tables."""
    found: Array = log_odds * steps
    for cell in grow:
        found = found - _log_growth(cell, steps)
    for cell in shrink:
        found = found - _log_growth(cell, -steps)
    return found


def _log_growth(x: Array, y: Array) -> Array:
    """Return log Gamma(x + y + 1) - log Gamma(x + 1), by Stirling's series where neither is small.

    The difference of two values of gammaln has an error of 1e-7 at x = 10^8, this one of some 1e-12.
    """
    x, y = np.broadcast_arrays(x, y)
    z = x + y
    small = np.minimum(x, z) < _SMALLEST_STIRLING
    safe_x, safe_z = np.where(small, 1.0, x), np.where(small, 1.0, z)
    gap = np.where(small, 0.0, y)
    found: Array = (safe_z + 0.5) * np.log1p(gap / safe_x) + gap * np.log(safe_x) - gap
    found += _stirling_rest(safe_z) - _stirling_rest(safe_x)
    if small.any():
        found[small] = special.gammaln(z[small] + 1.0) - special.gammaln(x[small] + 1.0)
    return found


def _stirling_rest(x: Array) -> Array:
    inverse = 1.0 / x
    square = inverse * inverse
    rest: Array = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0))
    return rest


def _summed(grow: Array, shrink: Array, log_odds: Array, begin: Array, end: Array) -> Array:
    """Return the log of a sum, term by term."""
    steps = np.arange(int((end - begin).max()))[:, None] + begin
    inside = steps < end
    ups = np.maximum(shrink[0] - steps, 1.0) * np.maximum(shrink[1] - steps, 1.0)
    downs = (grow[0] + steps + 1.0) * (grow[1] + steps + 1.0)
    logs = np.where(inside, np.log(ups / downs) + log_odds, 0.0)
    heights = np.concatenate([np.zeros((1, begin.size)), np.cumsum(logs, axis=0)])
    heights[1:][~inside] = -np.inf
    first = np.where(begin > 0.0, _log_weights(grow, shrink, log_odds, begin[None, :])[0], 0.0)
    top = heights.max(axis=0)
    found: Array = first + top + np.log(np.exp(heights - top).sum(axis=0))
    return found


def _integrated(grow: Array, shrink: Array, log_odds: Array, begin: Array, end: Array) -> Array:
    """Return the log of a long sum: the integral from half a step before it on (Euler and Maclaurin).

    A sum of thousands of terms within exp(-42) of the largest has neighbours that differ by two hundredths at most, so
    that one correction at its beginning leaves a relative error below 1e-9.
    """
    half = 0.5 * (end - begin + 1.0)
    steps = begin - 0.5 + half * (_NODES[:, None] + 1.0)
    heights = _log_weights(grow, shrink, log_odds, steps)
    top = heights.max(axis=0)
    area = half * (_WEIGHTS[:, None] * np.exp(heights - top)).sum(axis=0)
    edge = begin - 0.5
    slope = log_odds + np.log((shrink[0] - edge + 0.5) * (shrink[1] - edge + 0.5))
    slope = slope - np.log((grow[0] + edge + 0.5) * (grow[1] + edge + 0.5))
    height = _log_weights(grow, shrink, log_odds, edge[None, :])[0]
    found: Array = top + np.log(area + slope * np.exp(height - top) / 24.0)
    return found
