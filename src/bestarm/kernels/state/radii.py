"""Exploration times and confidence radii of MTCD21, a function per formula (readings: docs/explanation/readings.md)."""

from __future__ import annotations

import math

import numpy as np

from bestarm.kernels.jit.compile import inlined_kernel
from bestarm.kernels.order_statistics.samples import Arms, Record
from bestarm.kernels.rule import ROUNDS

THEORY = 0
EMPIRICAL = 1


def hoeffding_pulls(alpha: float, delta: float) -> float:
    """Return T(alpha, delta) = (2 / alpha^2) log(1/delta) (before the arm selection rule), 1 at alpha = 0."""
    return 2.0 / alpha / alpha * -math.log(delta) if alpha > 0.0 else 1.0


def half_pulls(alpha: float, delta: float) -> float:
    """Return half of the paper's T, log(1/delta) / alpha^2 (the first author's code of 2022), 1 at alpha = 0."""
    return -math.log(delta) / alpha / alpha if alpha > 0.0 else 1.0


def chernoff_pulls(alpha: float, delta: float) -> float:
    """Return log(1/delta) / kl(alpha, alpha/2): enough for the same lemma, by Chernoff's bound in place of Hoeffding's.

    P(sum of t Bernoulli(alpha/2) > alpha t) <= exp(-t kl(alpha, alpha/2)).
    """
    if alpha == 0.0:
        return 1.0
    kl = alpha * math.log(2.0) + (1.0 - alpha) * (math.log1p(-alpha) - math.log1p(-alpha / 2.0))
    return -math.log(delta) / kl


def gap_log_constant(arms: float, delta: float, power: float) -> float:
    """Return log((K - 1) C / delta) with C = b / (b - 1), as the proof needs it (the printed C is misprinted)."""
    return math.log(arms - 1) + math.log(power / (power - 1.0)) - math.log(delta)


@inlined_kernel
def gap_log_root(rule: Record, t: float) -> float:
    """Return the part of beta_i(t, delta) that all arms share: the root of its logarithm.

    Theory (eq. conf_algo1): log((K - 1) C t^b / delta), as a sum so that t^b cannot overflow.
    Empirical (section Experiments): log(log(t) / delta), and +infinity where that is not positive.
    """
    if rule.threshold == THEORY:
        return np.sqrt(rule.log_constant + rule.power * np.log(t))
    ratio = np.log(t) / rule.delta
    if ratio <= 1.0:
        return np.inf
    return np.sqrt(np.log(ratio))


@inlined_kernel
def elimination_radius(rule: Record, arms: float, t: float) -> float:
    """Return gamma_t = sigma / (1 - epsilon) sqrt(2/t log(K t^2 pi^2 / (12 delta))) (Theorem PAC_SE)."""
    log_term = np.log(arms * np.pi**2 / 12.0) - np.log(rule.delta) + 2.0 * np.log(t)
    return rule.scale * np.sqrt(2.0 / t) * np.sqrt(log_term)


@inlined_kernel
def elimination_time(arms: Arms, rule: Record, finished: int) -> float:
    """Return the t of the test after some finished rounds: their number, or 1 + all pulls before the last of them.

    A dropped arm no longer counts; rewards ahead of the round do not count either.
    """
    if rule.clock == ROUNDS:
        return float(finished)
    total = 1.0
    for index in range(arms.size):
        before = finished - 1
        if arms[index].active == 0:
            before = min(before, arms[index].told)
        total += before
    return total
