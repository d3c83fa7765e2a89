"""Estimators of the mean of one arm. Each starts from all rewards: nothing is updated."""

from __future__ import annotations

import math
from collections.abc import Sequence


def mean(values: Sequence[float]) -> float:
    """Sample mean.

    >>> mean([1.0, 2.0, 6.0])
    3.0
    """
    return math.fsum(values) / len(values)


def trimmed_mean(values: Sequence[float], alpha: float) -> float:
    """Mean of the values that remain after floor(alpha n) are cut off each end, 0 <= alpha < 1/2.

    >>> trimmed_mean([1000.0, 1.0, 2.0, 6.0, -1000.0], 0.2)
    3.0
    """
    n = len(values)
    k = math.floor(alpha * n)  # of the floating-point product
    kept = sorted(values)[k : n - k]
    # Eq. estimator divides by (1 - 2 alpha) n, which is not the number kept unless alpha n is whole. Reading #6.
    return math.fsum(kept) / len(kept)


def median(values: Sequence[float]) -> float:
    """Sample median, the mean of the two middle values for even n (reading #15).

    >>> median([4.0, 1.0, 2.0]), median([9.0, 1.0, 2.0, 4.0])
    (2.0, 3.0)
    """
    n = len(values)
    ordered = sorted(values)
    if n % 2 == 1:
        return ordered[n // 2]
    return math.fsum(ordered[n // 2 - 1 : n // 2 + 1]) / 2
