"""Confidence radii of MTCD21 (readings in docs/explanation/readings.md), one formula a function."""

from __future__ import annotations

import numpy as np

from bestarm.kernels.compile import inlined_kernel, kernel
from bestarm.kernels.samples import Record

THEORY = 0
EMPIRICAL = 1


@inlined_kernel
def gap_log_root(rule: Record, t: int) -> float:
    """Return the part of beta_i(t, delta) that all arms share: the root of its logarithm.

    Theory (Theorem PAC_gap with C = b / (b - 1)): log((K - 1) C t^b / delta), as a sum so that t^b cannot overflow.
    Empirical (section Experiments): log(log(t) / delta), and +infinity where that is not positive.
    """
    if rule.threshold == THEORY:
        return np.sqrt(rule.log_constant + rule.power * np.log(t))
    ratio = np.log(t) / rule.delta
    if ratio <= 1.0:
        return np.inf
    return np.sqrt(np.log(ratio))


@kernel
def elimination_radius(rule: Record, arms: int, t: int) -> float:
    """Return gamma_t = sigma / (1 - epsilon) sqrt(2/t log(K t^2 pi^2 / (12 delta))) (Theorem PAC_SE)."""
    square = np.float64(t) * np.float64(t)
    return rule.scale * np.sqrt(2.0 / t) * np.sqrt(np.log(arms * square * np.pi**2 / (12.0 * rule.delta)))
