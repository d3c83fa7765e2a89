"""The evidence that a coin hits more often than epsilon allows for (docs/explanation/certified.md, section 8)."""

from __future__ import annotations

import math


def log_excess(cancelled: int, of: int, epsilon: float) -> float:
    """Return log M, the evidence that positions of a tape are hit more often than epsilon allows for.

    M is the likelihood ratio of a rate q against epsilon after `of` positions, averaged over q uniform on (epsilon, 1).
    It is an e-process, and rises with every hit.

    >>> round(log_excess(0, 100, 0.1), 2), round(log_excess(30, 100, 0.1), 2)
    (-4.62, 13.3)
    """
    from scipy.special import betainc, betaln  # takes time that most need not pay

    kept = of - cancelled
    tail = float(betainc(kept + 1.0, cancelled + 1.0, 1.0 - epsilon))
    if tail == 0.0:
        return -math.inf
    found = float(betaln(cancelled + 1.0, kept + 1.0)) + math.log(tail) - math.log1p(-epsilon)
    return found - cancelled * math.log(epsilon) - kept * math.log1p(-epsilon)
