"""Robust estimates of a mean: the paper's trimmed mean, and the median.

MTCD21 is the paper behind the package. Methods compute the same numbers reward by reward, in compiled code; these
functions take all rewards at once.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from bestarm.errors import InputError
from bestarm.reference import trimmed_mean as written_out
from bestarm.validation import checked, numbers, one_of

__all__ = ["median", "trimmed_mean"]


def trimmed_mean(x: ArrayLike, alpha: float, *, divisor: str = "kept") -> float:
    """Return the alpha-trimmed mean (MTCD21, eq. estimator): the mean without the k smallest and k largest rewards.

    k is floor(alpha n). The equation divides the sum of the kept rewards by (1 - 2 alpha) n. This is their number only
    if alpha n is whole; otherwise it is smaller, and the estimate lies too far from 0: for ten rewards that are all 1
    it gives 1 / 0.9 at alpha = 0.05. The methods divide by the number kept, n - 2k (reading 6), as SciPy's `trim_mean`
    does.

    Parameters
    ----------
    x : sequence of at least one finite number
        The rewards of one arm.
    alpha : float in [0, 0.5)
        Fraction trimmed off each end; epsilon / 2 in the paper's methods. At 0 this is the sample mean.
    divisor : {"kept", "paper"}
        n - 2k, or the equation's (1 - 2 alpha) n.

    Examples
    --------
    >>> trimmed_mean([1000.0, 1.0, 2.0, 6.0, -1000.0], 0.2)
    3.0
    >>> [round(trimmed_mean([1.0] * 10, 0.05, divisor=name), 4) for name in ("kept", "paper")]
    [1.0, 1.1111]
    """
    (alpha,) = checked(alpha=alpha)
    one_of("divisor", divisor, ("kept", "paper"))
    values = _rewards(x)
    mean = written_out.trimmed_mean(values, alpha)
    if divisor == "kept":
        return mean
    n = len(values)
    return mean * (n - 2 * math.floor(alpha * n)) / ((1.0 - 2.0 * alpha) * n)


def median(x: ArrayLike) -> float:
    """Return the sample median (MTCD21, "Estimator"); for an even number of rewards, the mean of the two middle ones.

    The paper's median-based baseline uses it in place of the trimmed mean (reading 15). It estimates the mean of
    symmetric laws only.

    >>> median([4.0, 1.0, 2.0]), median([9.0, 1.0, 2.0, 4.0])
    (2.0, 3.0)
    """
    return written_out.median(_rewards(x))


def _rewards(x: ArrayLike) -> list[float]:
    values = numbers(x).tolist()
    if not values:
        raise InputError("x", "be at least one finite number, in a flat list", x, "give the rewards of one arm")
    return [float(value) for value in values]
