"""When the certified method looks at the rewards of an arm, and all that depends on their number alone.

Its intervals hold at all times at once, so it is free to choose when to compute them: at every reward up to 64, then
whenever there are 1/64 more. A run is longer by less than 1/64 for it, and a pull many times as cheap. As the times
are the same for all arms, count bound and radii come from a table. Section numbers are those of certified.md in the docs.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import inlined_kernel, kernel
from bestarm.kernels.rule import Rule
from bestarm.kernels.samples import PATIENCE, Record

LAST = 2**36  # rewards of one arm: more would take half a terabyte to store

look_dtype = np.dtype(
    [
        ("n", "i8"),  # rewards of the arm
        ("contaminated", "i8"),  # chat(n)
        ("reach", "f8"),  # rad(n)
        ("spread", "f8"),  # the statistical half-width of a mean with chat(n) rewards left out
        ("margin", "f8"),  # and with what a malicious adversary may have hidden
    ]
)


def no_looks() -> NDArray[np.void]:
    """Return an empty table, for the methods that have no use for one."""
    return np.zeros(0, look_dtype)


def new_looks(rule: Rule) -> NDArray[np.void]:
    """Return the table for a rule."""
    times = _times()
    looks = np.zeros(times.size, look_dtype)
    looks["n"] = times
    _fill(looks, rule)
    return looks


@functools.lru_cache(1)
def _times() -> NDArray[np.int64]:
    times = [1]
    while times[-1] < LAST:
        times.append(times[-1] + 1 + (times[-1] >> PATIENCE))
    return np.array(times)


@kernel
def _fill(looks: NDArray[np.void], rule: Rule) -> None:
    before, contaminated = 1, 0
    for place in range(looks.size):
        look = looks[place]
        contaminated = count_bound(rule[0], look.n, before, contaminated)
        before = look.n
        look.contaminated = contaminated
        look.reach = clean_radius(rule[0], look.n)
        look.spread, look.margin = margins(rule[0], look.n, contaminated)


@kernel
def _log_martingale(rule: Record, n: int, c: int) -> float:
    """Return log M_n(c), with M_n(c) = B(c + a, n - c + b) / (B(a, b) eps^c (1 - eps)^(n - c))."""
    a, b = rule.prior, rule.prior_rest
    ratio = math.lgamma(c + a) - math.lgamma(a) + math.lgamma(n - c + b) - math.lgamma(b)
    ratio -= math.lgamma(n + a + b) - math.lgamma(a + b)
    return ratio - c * np.log(rule.epsilon) - (n - c) * np.log1p(-rule.epsilon)


@kernel
def count_bound(rule: Record, n: int, before: int, contaminated: int) -> int:
    """Return chat(n), the largest c <= n with c <= eps n or M_n(c) < 1/d1 (section 1), given that of an earlier n.

    What exceeds eps n grows a little faster than sqrt(n): a good guess, from which it is not far to go.
    """
    epsilon = rule.epsilon
    if epsilon == 0.0:
        return 0
    c = int(epsilon * n + max(contaminated - epsilon * before, 0.0) * np.sqrt(n / before))
    c = min(c, n)
    value = _log_martingale(rule, n, c)
    while c > epsilon * n and value >= rule.count_limit:
        c -= 1
        value = _log_martingale(rule, n, c)
    while c < n:
        value += np.log((c + rule.prior) / (n - c - 1 + rule.prior_rest)) + np.log1p(-epsilon) - np.log(epsilon)
        if value >= rule.count_limit and c + 1 > epsilon * n:
            break
        c += 1
    return c


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
def missing_total(rule: Record, n: int, c: int) -> float:
    """Return how far c clean rewards that a malicious adversary removed can be from c times their mean (section 6).

    Each is within rad(n); and the sums of all subsets of c of n rewards at once are within
    sigma sqrt(2 c (log C(n, c) + log(pi^2 n^3 / (3 d3)))), where log C(n, c) <= c (1 + log(n / c)).
    """
    if c == 0:
        return 0.0
    subsets = c * (1.0 + np.log(n / c))
    together = rule.scale * np.sqrt(2.0 * c * (subsets + rule.reach_log + 3.0 * np.log(n)))
    return min(c * clean_radius(rule, n), together)


@kernel
def margins(rule: Record, n: int, c: int) -> tuple[float, float]:
    """Return how far the mean may be from an average that leaves c of n rewards out: by chance, and in all (section 4).

    For bounded rewards the interval comes from the data; then the first is only what the resolution is compared with.
    """
    m = n - c
    if m < 1:
        return np.inf, np.inf
    if rule.bounded == 1:
        spread = mean_radius(rule, n if rule.malicious == 1 else m)
        return spread, spread
    if rule.malicious == 1:
        spread = n * mean_radius(rule, n) / m
        return spread, spread + missing_total(rule, n, c) / m
    spread = mean_radius(rule, m)
    return spread, spread
