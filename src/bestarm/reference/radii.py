"""How long to explore, and how far an estimate may be off: T, beta and gamma of the paper."""

from __future__ import annotations

import math

from bestarm.validation import one_of


def bernoulli_kl(p: float, q: float) -> float:
    """Relative entropy of Bernoulli(p) from Bernoulli(q), p log(p/q) + (1-p) log((1-p)/(1-q)), for 0 < p, q < 1."""
    return p * math.log(p / q) + (1 - p) * (math.log1p(-p) - math.log1p(-q))


def exploration_pulls(alpha: float, delta: float, kind: str) -> float:
    """T(alpha, delta), a real number: an arm is explored once its count is >= T (reading #8).

    >>> math.ceil(exploration_pulls(0.05, 0.1, "hoeffding")), math.ceil(exploration_pulls(0.05, 0.1, "chernoff"))
    (1843, 231)
    """
    one_of("exploration", kind, ("hoeffding", "half", "chernoff", "none"))
    if kind == "none":
        return 1.0
    if alpha == 0:
        return 1.0  # reading #10: nothing is trimmed, and both formulas diverge
    if kind == "hoeffding":
        return 2 / alpha**2 * math.log(1 / delta)  # definition of T before eq. sampling rule
    if kind == "half":
        return math.log(1 / delta) / alpha**2  # the first author's code of 2022
    # chernoff: the n with exp(-n kl(alpha, alpha/2)) = delta, in place of Hoeffding's exp(-n alpha^2 / 2).
    return math.log(1 / delta) / bernoulli_kl(alpha, alpha / 2)


def gap_radius_theory(n: int, t: int, K: int, delta: float, epsilon: float, sigma: float, power: float) -> float:
    """beta_i(t, delta) of eq. conf_algo1 for an arm with n of the t pulls; `power` > 1 is the paper's exponent beta."""
    C = 1 + 1 / (power - 1)  # reading #1: the printed (1 - beta)^-1 has the wrong sign
    # log((K-1) C t^power / delta), positive since (K-1) C / delta > 1 for K >= 2, delta < 1.
    # In two terms because t**power overflows for a large power.
    log_term = math.log((K - 1) * C / delta) + power * math.log(t)
    return sigma / (1 - epsilon) * math.sqrt(2 / n) * math.sqrt(log_term)


def gap_radius_empirical(n: int, t: int, delta: float, sigma: float) -> float:
    """The radius sigma sqrt(2/n log(log t / delta)) of the experiments, without 1/(1-epsilon) (reading #13)."""
    ratio = math.log(t) / delta
    if ratio <= 1:  # where log log is negative, or zero and so the radius; with t >= K only at t = 2, as log 3 > 1
        return math.inf
    return sigma * math.sqrt(2 / n) * math.sqrt(math.log(ratio))


def elimination_radius(t: int, K: float, delta: float, epsilon: float, sigma: float) -> float:
    """gamma_t of theorem PAC_SE after t rounds."""
    # K t^2 pi^2 / (12 delta) >= 2 pi^2 / 12 = 1.64... > 1 for K >= 2, t >= 1, delta < 1: the root is real and positive.
    log_term = math.log(K * t**2 * math.pi**2 / (12 * delta))
    return sigma / (1 - epsilon) * math.sqrt(2 / t) * math.sqrt(log_term)


def elimination_radius_of_all_pulls(t: int, K: float, delta: float, sigma: float) -> float:
    """The radius of the first author's code of 2022: t counts all pulls, pi^2 / 6, and no 1/(1-epsilon)."""
    return sigma * math.sqrt(2 / t) * math.sqrt(math.log(K * t**2 * math.pi**2 / (6 * delta)))
