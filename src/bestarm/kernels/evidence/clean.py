"""Evidence on sub-Gaussian rewards without contamination: paired differences (section 7 of certified.md).

With h(y) = exp(k y - k^2/2) on both arms the mean m cancels: for sums S of n rewards each, in units of sigma,

    W = sum_k w_k exp(k (S_b - S_a) - n k^2)

so an arm only keeps the sum of its rewards, and the sum of their squares for the alarm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import kernel
from bestarm.kernels.order_statistics.samples import Pool, Record

Sums = NDArray[np.float64]  # (K, 3): rewards summed, their sum, the sum of their squares


@kernel
def fold(sums: Sums, pool: Pool, room: int, index: int, n: int) -> None:
    """Sum the rewards of an arm up to the n-th."""
    total = squares = 0.0
    begin = int(sums[index, 0])
    for slot in range(begin, n):
        x = pool[index * room + (slot & (room - 1))]
        total += x
        squares += x * x
    sums[index, 0] = max(begin, n)
    sums[index, 1] += total
    sums[index, 2] += squares


@kernel
def log_evidence(sums: Sums, rule: Record, b: int, a: int, lead: float, n: int, enough: float) -> float:
    """Return log W of the pair for a given lead; -infinity if it is certain to be below `enough`."""
    difference = sums[b, 1] - sums[a, 1] - n * lead
    # exp(k D - n k^2) is at most exp(D^2 / (4 n)), whatever k is.
    if difference <= 0.0 or difference * difference < 4.0 * n * enough:
        return -np.inf
    top = -np.inf
    for bet in range(rule.bets):
        k = rule.rate[bet]
        top = max(top, k * difference - n * k * k)
    total = 0.0
    for bet in range(rule.bets):
        k = rule.rate[bet]
        total += rule.weight[bet] * np.exp(k * difference - n * k * k - top)
    return top + np.log(total)


@kernel
def log_one_sided(sums: Sums, rule: Record, index: int, mean: float, sign: float) -> float:
    """Return the log evidence, from an arm's rewards alone, that its mean is above (sign 1) or below (-1) a value."""
    n = sums[index, 0]
    excess = sign * (sums[index, 1] - n * mean)
    top = -np.inf
    for bet in range(rule.bets):
        k = rule.rate[bet]
        top = max(top, k * excess - 0.5 * n * k * k)
    total = 0.0
    for bet in range(rule.bets):
        k = rule.rate[bet]
        total += rule.weight[bet] * np.exp(k * excess - 0.5 * n * k * k - top)
    return top + np.log(total)


# For sub-Gaussian rewards with sigma = 1, E exp(s (X - m)^2 / 2) <= (1 - s)^(-1/2) for 0 <= s < 1 (section 8).
_SPREADS = (0.1, 0.3, 0.6)


@kernel
def log_too_wide(sums: Sums, index: int) -> float:
    """Return the log evidence that an arm's rewards are spread more widely than sigma allows, whatever its mean."""
    n = sums[index, 0]
    if n < 1.0:
        return -np.inf
    around_mean = max(sums[index, 2] - sums[index, 1] * sums[index, 1] / n, 0.0)
    top = -np.inf
    for s in _SPREADS:
        top = max(top, 0.5 * s * around_mean + 0.5 * n * np.log1p(-s))
    return top - np.log(3.0)  # the mean of the three is at least a third of the largest
