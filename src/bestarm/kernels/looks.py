"""When the certified method looks at the rewards of an arm, and all that depends on their number alone.

Its intervals hold at all times at once, so it is free to choose when to compute them: often where a decision is near,
seldom where it is far (`next_look`). Count bound and radii of a look come from a table that is filled on the way,
shared by all arms and all trials. Section numbers are those of docs/explanation/certified.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import inlined_kernel, kernel
from bestarm.kernels.samples import LONGEST_WAIT, Record

# Looks are at any number of rewards up to 4096, and at 256 numbers from each power of two to the next then.
_FINE = 12
_UNITS = 8
_LAST = 36  # more than 2^36 rewards of one arm would take half a terabyte to store

look_dtype = np.dtype(
    [
        ("n", "i8"),  # rewards of the arm
        ("contaminated", "i8"),  # chat(n)
        ("reach", "f8"),  # rad(n)
        ("spread", "f8"),  # the statistical half-width of a mean with chat(n) rewards left out
        ("margin", "f8"),  # and with what a malicious adversary may have hidden
    ]
)


Looks = NDArray[np.void]  # the table: a row a number of rewards, of which the first ones have been filled


def new_looks() -> Looks:
    """Return an empty table."""
    return np.zeros(2**_FINE + (_LAST - _FINE) * 2**_UNITS, look_dtype)


@inlined_kernel
def _length(n: int) -> int:
    """Return the number of bits of n >= 0."""
    bits = 0
    while n > 0:
        n >>= 1
        bits += 1
    return bits


@kernel
def _row(n: int) -> int:
    if n <= 1 << _FINE:
        return n - 1
    bits = _length(n - 1)  # n is above 2^(bits - 1) and at most 2^bits
    shift = bits - 1 - _UNITS
    return (1 << _FINE) - 1 + ((bits - 1 - _FINE) << _UNITS) + ((n - (1 << (bits - 1))) >> shift)


@kernel
def _number(row: int) -> int:
    """Return the number of rewards that a row is for."""
    if row < 1 << _FINE:
        return row + 1
    octave = (row - (1 << _FINE)) >> _UNITS
    unit = 1 << (octave + _FINE - _UNITS)
    return (1 << (octave + _FINE)) + (((row - (1 << _FINE)) & ((1 << _UNITS) - 1)) + 1) * unit


@kernel
def _fill(looks: Looks, rule: Record, row: int, n: int, before: Record) -> None:
    look = looks[row]
    look.n = n
    look.contaminated = count_bound(rule, n, max(before.n, 1), before.contaminated)
    look.reach = clean_radius(rule, n)
    look.spread, look.margin = margins(rule, n, look.contaminated)


@kernel
def look_at(looks: Looks, rule: Record, n: int) -> Record:
    """Return what is known of n rewards; numbers that `next_look` does not give have no row but the very last."""
    wanted = _row(n)
    if looks[wanted].n == 0:
        first = wanted
        while first > 0 and looks[first - 1].n == 0:
            first -= 1
        for row in range(first, wanted + 1):
            _fill(looks, rule, row, _number(row), looks[max(row - 1, 0)])
    if looks[wanted].n != n:
        _fill(looks, rule, looks.size - 1, n, looks[wanted - 1])
        wanted = looks.size - 1
    return looks[wanted]


@kernel
def next_look(rule: Record, n: int, spread: float, overlap: float) -> int:
    """Return the number of rewards at which to look at an arm again that has n now.

    `overlap` is by how much the interval of the challenger reaches into the leader's. Two arms that share it need to
    lose half of it each; as the statistical half-width `spread` falls like n^(-1/2), that takes n overlap / spread more
    rewards. A sixteenth of that goes by unseen, or an eighth of n if that is less, and no more than what the half-width
    needs to get down to the resolution: near a decision every reward is looked at. (With a quarter in place of a
    sixteenth, runs were 3 % longer, as means that come apart for a moment are missed.)
    """
    wait = min(n / 8.0, LONGEST_WAIT, n * (overlap / (16.0 * spread)))
    if spread >= rule.resolution:
        wait = min(wait, n * ((spread / rule.resolution) ** 2 - 1.0))
    number = n + max(1, int(wait))
    if number > 1 << _FINE:
        shift = _length(number - 1) - 1 - _UNITS
        number = ((number + (1 << shift) - 1) >> shift) << shift
    return number


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
