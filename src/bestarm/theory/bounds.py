"""Bounds on the number of pulls, and on the bias that contamination can hide for ever.

MTCD21 is the paper behind the package, "Mean-based Best Arm Identification in Stochastic Bandits under Reward
Contamination"; GK16 is Garivier & Kaufmann, "Optimal Best Arm Identification with Fixed Confidence"; HM95 is Horowitz &
Manski, "Identification and Robustness with Contaminated and Corrupted Data". A bound is +inf if no number meets it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erfinv, ndtri

from bestarm.errors import InputError
from bestarm.kernels.state import radii
from bestarm.phrases import Phrase, Setting
from bestarm.theory.information_bound import contaminated_bound as contaminated_bound
from bestarm.validation import checked, number, numbers, one_of


class _Law(Protocol):
    def mean(self) -> Any: ...
    def ppf(self, q: Any, /) -> Any: ...


def exploration_pulls(alpha: float, delta: float, kind: str = "hoeffding") -> float:
    """Return T(alpha, delta): an arm is explored after ceil(T) pulls (MTCD21, before eq. sampling rule).

    >>> [round(exploration_pulls(0.05, 0.1, kind), 1) for kind in ("hoeffding", "chernoff")]
    [1842.1, 230.7]

    Parameters
    ----------
    alpha, delta : float in [0, 0.5), float in (0, 1)
        Fraction trimmed off each end (0 gives 1); probability that more than this fraction of the pulls is clean but
        far out.
    kind : {"hoeffding", "chernoff"}
        MTCD21's (2 / alpha^2) log(1/delta); or log(1/delta) / kl(alpha, alpha/2), which is never longer (Pinsker) and
        enough for the same lemma, where a clean reward is far out with probability at most alpha/2.
    """
    alpha, delta = checked(alpha=alpha, delta=delta)
    one_of("kind", kind, ("hoeffding", "chernoff"))
    return radii.hoeffding_pulls(alpha, delta) if kind == "hoeffding" else radii.chernoff_pulls(alpha, delta)


def gap_radius(
    pulls: float,
    t: float,
    arms: int,
    *,
    delta: float,
    epsilon: float,
    sigma: float,
    threshold: str = "theory",
    power: float = 2.0,
) -> float:
    """Return beta_i(t, delta), the radius of an arm in G-CBAI (MTCD21, eq. conf_algo1; the empirical one: experiments).

    >>> round(gap_radius(100, 400, 4, delta=0.1, epsilon=0.1, sigma=1.0), 4)
    0.6301

    Parameters
    ----------
    pulls, t, arms : numbers >= 1, >= 1, >= 2
        Pulls of this arm, pulls of all arms together, number of arms K.
    delta, epsilon, sigma : float
        Error probability in (0, 1), contamination in [0, 0.5), sub-Gaussian scale > 0.
    threshold : {"theory", "empirical"}
        The theorem's radius, or that of the experiments: no guarantee, no 1/(1-epsilon), +inf while log(t) <= delta.
    power : float > 1
        The theorem's exponent of t. C is power/(power-1), as its proof needs (it prints 1 + 1/(1-power), <= 0 up to 2).
    """
    pulls, t, K, delta = checked(pulls=pulls, t=t, arms=arms, delta=delta)
    epsilon, sigma, power = checked(epsilon=epsilon, sigma=sigma, power=power)
    one_of("threshold", threshold, ("theory", "empirical"))
    rule = SimpleNamespace(
        threshold=radii.THEORY if threshold == "theory" else radii.EMPIRICAL,
        log_constant=radii.gap_log_constant(K, delta, power),
        power=power,
        delta=delta,
    )
    scale = sigma / (1.0 - epsilon) if threshold == "theory" else sigma
    return float(scale * math.sqrt(2.0 / pulls) * _as_python(radii.gap_log_root)(rule, t))


def elimination_radius(t: float, arms: int, *, delta: float, epsilon: float, sigma: float) -> float:
    """Return gamma_t of SE-CBAI after t >= 1 rounds, the rest as for `gap_radius` (MTCD21, theorem PAC_SE).

    >>> round(elimination_radius(100, 4, delta=0.1, epsilon=0.1, sigma=1.0), 4)
    0.5601
    """
    t, K, delta, epsilon, sigma = checked(t=t, arms=arms, delta=delta, epsilon=epsilon, sigma=sigma)
    rule = SimpleNamespace(scale=sigma / (1.0 - epsilon), delta=delta)
    return float(_as_python(radii.elimination_radius)(rule, K, t))


def complexity(means: ArrayLike, sigma: float = 1.0, bias: float = 0.0) -> float:
    """Return H = sum_i 2 sigma^2 / max(Delta_i, Delta_b*)^2 (MTCD21, first display of "Performance guarantees").

    >>> round(complexity([2.5, 2.3, 2.0, 0.6]), 2)
    108.55

    Parameters
    ----------
    means, sigma, bias : at least two numbers, float > 0, float >= 0
        True means (the best arm counts with the gap of the second best, b*); sub-Gaussian scale of a reward; the bias U
        that contamination hides of each mean, so that Delta_i is (mu_* - U) - (mu_i + U). If the smallest Delta_i is 0
        or less, the best arm can't be identified and H is +inf.
    """
    _, _, shares, scale = _setup(means, sigma, bias)
    return scale * (1.0 + float(shares.sum()))


def characteristic_time(means: ArrayLike, sigma: float = 1.0, bias: float = 0.0) -> float:
    """Return T* of Gaussian arms, as for `complexity` (GK16, Theorems 1 and 5): H <= T* <= 2H.

    1/T* is the maximum over the simplex of min_a c_a w_1 w_a/(w_1 + w_a), c_a = Delta_a^2/(2 sigma^2), with 1 the best
    arm; there the terms are equal. Let x_a = w_a/w_1 and y be their c_a x_a/(1 + x_a). Then x_a = y/(c_a - y), and
    T* = min_y (1 + sum x_a)/y, stationary where sum x_a^2 = 1. At a minimum an error in y enters squared.

    >>> characteristic_time([1.0, 0.0]), round(characteristic_time([2.5, 2.3, 2.0, 0.6]), 2)
    (8.0, 209.25)
    """
    _, _, shares, scale = _setup(means, sigma, bias)
    y, x = _balance(shares)
    return scale * (1.0 + float(x.sum())) / y


def optimal_proportions(means: ArrayLike, sigma: float = 1.0, bias: float = 0.0) -> NDArray[np.float64]:
    """Return the fractions of pulls at which T* is reached, where `complexity` is finite (GK16, Theorem 5).

    >>> optimal_proportions([1.0, 0.0, 0.0]).round(4)
    array([0.4142, 0.2929, 0.2929])
    """
    best, _, shares, scale = _setup(means, sigma, bias)
    if scale == math.inf:
        raise InputError("means", "have one best arm by more than twice the bias", means, "drop or merge tied arms")
    weights = np.insert(_balance(shares)[1], best, 1.0)
    return np.asarray(weights / weights.sum())


def gaps(means: ArrayLike, bias: float = 0.0) -> NDArray[np.float64]:
    """Return Delta_i = (mu_* - U) - (mu_i + U) of every arm (MTCD21, first display of "Performance guarantees").

    >>> gaps([2.5, 2.3, 0.6], bias=0.05).round(4)
    array([-0.1,  0.1,  1.8])

    For the best arm it is -2U, by the formula. If it is 0 or less for another arm, the paper's first key assumption
    fails, and that arm can't be told from the best.
    """
    best, others, _, _ = _setup(means, 1.0, bias)
    return np.insert(others, best, -2.0 * bias)


def uncertainty(epsilon: float, sigma: float = 1.0, constant: float = 1.0) -> float:
    """Return U = constant sigma epsilon sqrt(log(1/epsilon)) (MTCD21, before the first corollary, and lemma est_con).

    >>> round(uncertainty(0.1), 4), uncertainty(0.0)
    (0.1517, 0.0)

    The paper gives the order, as Omega() for any estimator and as O() for the trimmed mean, but no constant. If nothing
    but sigma is known of the clean law, an adversary hides at least this much for a constant up to 1.248, at every
    epsilon: `minimal_bias` with "sub-gaussian" is larger. If the law is known to be Gaussian, it hides only about
    1.25 sigma epsilon, so no constant above 0 is right for all epsilons. No constant is large enough for the trimmed
    mean: if all replaced rewards lie on one side, alpha = epsilon/2 leaves half of them in.

    Parameters
    ----------
    epsilon, sigma, constant : float in [0, 0.5), float > 0, float >= 0
        Contamination, sub-Gaussian scale of a clean reward, and the open constant of the order; C_1 in both
        corollaries.
    """
    epsilon, sigma, constant = checked(epsilon=epsilon, sigma=sigma, constant=constant)
    return constant * sigma * epsilon * math.sqrt(-math.log(epsilon)) if epsilon > 0.0 else 0.0


def resilience_bound(alpha: float, sigma: float = 1.0, constant: float | None = None) -> float:
    """Return rho: how far a sub-Gaussian mean moves on an event of probability 1 - alpha (MTCD21, eq. con_res).

    >>> round(resilience_bound(0.1), 4), round(resilience_bound(0.1, constant=1.0), 4)
    (0.2384, 0.1517)

    The paper has O(sigma alpha sqrt(log(1/alpha))). By default this is sigma alpha/(1-alpha) sqrt(2 log(1/alpha)), with
    a proof: E[X - mu | E] = -P(not E)/P(E) E[X - mu | not E], and a variable that is sigma-sub-Gaussian has, given an
    event of probability p, a mean of at most sigma sqrt(2 log(1/p)) (Donsker and Varadhan).

    Parameters
    ----------
    alpha, sigma : float in [0, 0.5), float > 0
        Probability outside the event, at most; sub-Gaussian scale.
    constant : float >= 0, optional
        Use the order as printed, with this constant, in place of the default.
    """
    alpha, sigma = checked(alpha=alpha, sigma=sigma)
    if constant is not None:
        return uncertainty(alpha, sigma, constant)
    return sigma * alpha / (1.0 - alpha) * math.sqrt(-2.0 * math.log(alpha)) if alpha > 0.0 else 0.0


def concentration_radius(
    pulls: float, *, delta: float, epsilon: float, sigma: float = 1.0, constant: float = 1.0, kind: str = "hoeffding"
) -> float:
    """Return how far the trimmed mean of `pulls` rewards is off, with probability 1 - delta (MTCD21, lemma est_con).

    >>> round(concentration_radius(2000, delta=0.1, epsilon=0.1), 4), concentration_radius(100, delta=0.1, epsilon=0.1)
    (0.2126, inf)

    It is U + sigma/(1-epsilon) sqrt((2/t) log(2/delta)) from t = T(epsilon/2, delta) on. Before that the lemma says
    nothing, and this is +inf. The paper states it, but it is *not true*: the proof assumes that all rewards kept after
    trimming lie near the mean, but if all replaced rewards lie on one side, alpha = epsilon/2 does not remove them,
    whatever the constant. Its tail bound is one-sided, too: by its own argument the probability is 3/2 delta.

    Parameters
    ----------
    pulls, delta, epsilon, sigma : number >= 1, and as for `gap_radius`
        Rewards of the arm, t; the rest as everywhere.
    constant : float >= 0
        The constant of U, which the lemma's O() leaves open: see `uncertainty`.
    kind : {"hoeffding", "chernoff"}
        Which T: see `exploration_pulls`.
    """
    pulls, delta, epsilon, sigma = checked(pulls=pulls, delta=delta, epsilon=epsilon, sigma=sigma)
    hidden = uncertainty(epsilon, sigma, constant)
    if pulls < exploration_pulls(epsilon / 2.0, delta, kind):
        return math.inf
    return hidden + sigma / (1.0 - epsilon) * math.sqrt(2.0 / pulls * math.log(2.0 / delta))


def lower_bound(means: ArrayLike, delta: float, *, sigma: float = 1.0, bias: float = 0.0, kind: str = "paper") -> float:
    """Return a lower bound on the mean pulls of any method (MTCD21, theorem LB; GK16, Theorem 1).

    >>> [round(lower_bound([1.0, 0.0], 0.05, kind=kind), 2) for kind in ("paper", "characteristic")]
    [11.98, 21.2]

    Parameters
    ----------
    means, sigma, bias, delta
        As for `complexity`; the proof needs U <= `minimal_bias(epsilon, family=norm(0, sigma))`. delta is in (0, 1).
    kind : {"paper", "characteristic"}
        H log(1/delta), meant for delta -> 0; or kl(delta, 1-delta) T*, true at every delta below 1/2. From 1/2 on the
        argument gives nothing (between two arms, tossing a coin is good enough) and the bound is 0.
    """
    (delta,) = checked(delta=delta)
    one_of("kind", kind, ("paper", "characteristic"))
    if kind == "paper":
        return complexity(means, sigma, bias) * -math.log(delta)
    time = characteristic_time(means, sigma, bias)
    return time * (1.0 - 2.0 * delta) * (math.log1p(-delta) - math.log(delta)) if delta < 0.5 else 0.0


def upper_bound(
    means: ArrayLike,
    delta: float,
    *,
    epsilon: float,
    sigma: float = 1.0,
    bias: float = 0.0,
    method: str = "g-cbai",
    power: float = 2.0,
) -> float:
    """Return the bound on the pulls of one of the paper's methods (MTCD21, theorems SC_gap and SC_SE).

    >>> [round(upper_bound([2.5, 1.5, 1.0], 0.1, epsilon=0.4, method=name)) for name in ("g-cbai", "se-cbai")]
    [1441, 4468]

    The second proof ends in 32 K log(1/delta) where its theorem has the first term, the cost of exploration. Both
    proofs bound the *sum* of the terms (easy arms are explored, and hard ones told apart): with these constants the
    pulls may exceed the maximum, by at most a factor 2 and the rounding up of T. The lemma behind 64 power H needs
    power <= e/2, but as log(tau) = o(log(1/delta)), 64 H is enough for any power.

    Parameters
    ----------
    means, sigma, bias, delta, epsilon, power
        As for `complexity`; error probability in (0, 1), contamination in (0, 0.5), exponent > 1 as for `gap_radius`.
    method : {"g-cbai", "se-cbai"}
        log(1/delta) max{8K/epsilon^2, 64 power H}, on the mean, the leading term as delta -> 0; or, with probability
        1 - delta, max{(8K/epsilon^2) log(1/delta), 2 sum N_i}, where N_i, for each arm but the best, is the first round
        with 4 gamma_t < Delta_i: the step of the proof, in place of the constant that its O() hides.
    """
    delta, epsilon, power = checked(delta=delta, epsilon=epsilon, power=power)
    one_of("method", method, ("g-cbai", "se-cbai"))
    if epsilon == 0.0:
        raise InputError("epsilon", "be in (0, 0.5)", epsilon, "the paper's upper bounds are for contaminated rewards")
    _, gaps, _, _ = _setup(means, sigma, bias)
    exploration = 8.0 * (gaps.size + 1) / epsilon / epsilon * -math.log(delta)
    if method == "g-cbai":
        return max(exploration, 64.0 * power * complexity(means, sigma, bias) * -math.log(delta))
    return max(exploration, 2.0 * sum(_first_round(gap, gaps.size + 1, delta, epsilon, sigma) for gap in gaps.tolist()))


def lower_bound_in_epsilon(
    means: ArrayLike, delta: float, *, epsilon: float, sigma: float = 1.0, constant: float = 1.0
) -> float:
    """Return `lower_bound` with U as a function of epsilon (MTCD21, corollary LB): the gaps less 2U.

    >>> round(lower_bound_in_epsilon([2.5, 1.5, 1.0], 0.1, epsilon=0.1))
    22

    The corollary has one Omega() in place of 2U; with `constant` as in `uncertainty` the two corollaries agree. For the
    worst clean laws with these means it is true up to a constant of 1.248. At epsilon = 0 it is the bound without
    contamination. It is +inf if 2U is as large as the smallest gap: then no method can be sure of the best arm.
    """
    return lower_bound(means, delta, sigma=sigma, bias=uncertainty(epsilon, sigma, constant))


def upper_bound_in_epsilon(
    means: ArrayLike,
    delta: float,
    *,
    epsilon: float,
    sigma: float = 1.0,
    constant: float = 1.0,
    power: float = 2.0,
) -> float:
    """Return `upper_bound` of G-CBAI with U as a function of epsilon (MTCD21, second corollary): the gaps less 2U.

    >>> round(upper_bound_in_epsilon([2.5, 1.5, 1.0], 0.1, epsilon=0.1))
    5526

    `constant` is its C_1. The corollary claims that one exists, by the lemma (`concentration_radius`); if rewards are
    replaced on one side, none does. epsilon is in (0, 0.5); the rest as for `upper_bound`.
    """
    bias = uncertainty(epsilon, sigma, constant)
    return upper_bound(means, delta, epsilon=epsilon, sigma=sigma, bias=bias, power=power)


def fixed_point(C1: float, C2: float, power: float = 1.0) -> float:
    """Return an x such that C1 x >= log(C2 x^power) from x on (MTCD21, lemma K16 of the appendix; GK16, Lemma 18).

    >>> x = fixed_point(0.01, 5.0, 1.2)
    >>> round(x, 1), 0.01 * x >= math.log(5.0 * x**1.2)
    (1212.1, True)

    x = power/C1 (log(C2 e / C1^power) + log log(C2 / C1^power)). The lemma is stated for any C1, C2 > 0, but its second
    logarithm needs C2 > C1^power. Otherwise, and where the formula gives no x > 0, the inequality holds for every
    x > 0, and this is 0. The lemma needs power <= e/2, so it does not cover the default exponent 2 of `gap_radius`: at
    power = 3 its x is too small.

    Parameters
    ----------
    C1, C2 : float > 0
        The two constants.
    power : float in [1, e/2]
        The lemma's alpha: the paper's exponent beta.
    """
    C1, C2 = checked(C1=C1, C2=C2)
    if not 1.0 <= number(power) <= math.e / 2.0:
        raise InputError("power", "be in [1, e/2]", power, "the lemma is proved there only; e/2 is 1.359...")
    log_ratio = math.log(C2) - power * math.log(C1)
    if log_ratio <= 0.0:
        return 0.0
    return max(0.0, power / C1 * (log_ratio + 1.0 + math.log(log_ratio)))


def minimal_bias(
    epsilon: float, sigma: float = 1.0, family: str | _Law = "gaussian", *, bounds: tuple[float, float] | None = None
) -> float:
    """Return the bias U that the worst adversary forces on every method: gaps below 2U stay hidden for ever.

    >>> [round(minimal_bias(0.1, family=name), 4) for name in ("gaussian", "sub-gaussian", "bounded")]
    [0.1397, 0.195, 0.1111]

    - "gaussian", shape and sigma known: sigma Phi^-1(1/(2(1-epsilon))), the worst-case bias of the median. Sharp.
    - "bounded", nothing known but [a, b]: epsilon/(1-epsilon) (b-a)/2. Sharp.
    - "sub-gaussian", shape not known. If the observed law is exactly N(mu, sigma^2), the clean part may be its upper or
      its lower part of mass 1-epsilon. Both are sigma-sub-Gaussian (as strongly log-concave as the whole), with means
      that are sigma phi(Phi^-1(epsilon))/(1-epsilon) off. This is HM95's sharp contaminated-sampling bound for data
      that look Gaussian, hence a lower limit for the class. So is "gaussian", which is larger from epsilon = 0.243 on.
      The larger one is returned.
    - a distribution, of observed rewards: HM95 bound the clean mean by the means of its lower and upper parts of mass
      1-epsilon (atoms may be split). U is the larger distance from its mean, as MTCD21's interval mu +- U is symmetric;
      for a skewed law half the width is less. Good to 1e-8 for continuous laws, 1e-4 for those with many atoms.

    Parameters
    ----------
    epsilon, sigma : float in [0, 0.5), float > 0
        Contamination (two laws can be confused iff their total variation is at most epsilon/(1-epsilon)), and scale.
    family, bounds : {"gaussian", "sub-gaussian", "bounded"} or any object with `mean()` and `ppf(q)`; (float, float)
        See above; lowest and highest reward if "bounded", or else 2 sigma apart. Distributions don't use sigma.
    """
    epsilon, sigma = checked(epsilon=epsilon, sigma=sigma)
    if isinstance(family, str) or not (hasattr(family, "mean") and hasattr(family, "ppf")):
        one_of("family", family, ("gaussian", "sub-gaussian", "bounded"), " or have the methods mean and ppf")
    pair = np.array([-sigma, sigma]) if bounds is None else numbers(bounds)
    if pair.size != 2 or not pair[0] < pair[1] or (bounds is not None and family != "bounded"):
        rule = Phrase("be finite, low < high, with {} only", Setting("family", "bounded"))
        raise InputError("bounds", rule, bounds, "or leave it out")
    if not isinstance(family, str):
        return _tail_bias(epsilon, family) if epsilon > 0.0 else 0.0
    eta = epsilon / (1.0 - epsilon)
    if family == "bounded":
        return eta * float(pair[1] / 2.0 - pair[0] / 2.0)
    gaussian = sigma * math.sqrt(2.0) * float(erfinv(eta))  # erfinv: exact for the smallest epsilon too
    truncated = sigma * math.exp(-(float(ndtri(epsilon)) ** 2) / 2.0) / math.sqrt(2.0 * math.pi) / (1.0 - epsilon)
    return gaussian if family == "gaussian" else max(gaussian, truncated)


def _first_round(gap: float, arms: int, delta: float, epsilon: float, sigma: float) -> float:
    # gamma_t^2 is proportional to (a + 2 log t)/t, a = log(K pi^2/(12 delta)) > log(pi^2/6) > 0.49. Its t-derivative is
    # negative iff log t > 1 - a/2, hence for t >= 2.13; and gamma_2 > gamma_3 iff a > 4 log 3 - 6 log 2 = 0.236. So it
    # decreases from t = 2 on. Only gamma_1 can be below its successor (where a < 2 log 2): t = 1 is looked at first.
    def separated(t: int) -> bool:
        return 4.0 * elimination_radius(t, arms, delta=delta, epsilon=epsilon, sigma=sigma) < gap

    high = next((2**k for k in range(997) if gap > 0.0 and separated(2**k)), 0)  # 2^997 is past HUGE
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if separated(middle) else (middle, high)
    return float(high) if high > 0 else math.inf


def _setup(means: ArrayLike, sigma: float, bias: float) -> tuple[int, NDArray[np.float64], NDArray[np.float64], float]:
    """Best arm; of the others Delta_i and (Delta_b*/Delta_i)^2, which can't overflow; 2 (sigma/Delta_b*)^2."""
    sigma, bias = checked(sigma=sigma, bias=bias)
    values = numbers(means)
    if values.size < 2:
        raise InputError("means", "be at least two finite numbers", means, "give one mean per arm, as a flat list")
    best = int(values.argmax())
    gaps = (values[best] - np.delete(values, best)) - 2.0 * bias
    smallest = float(gaps.min())
    if smallest <= 0.0:
        return best, gaps, np.ones_like(gaps), math.inf
    return best, gaps, (smallest / gaps) ** 2, 2.0 * (sigma / smallest) * (sigma / smallest)


def _balance(shares: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Root y of sum x_a^2 = 1, in units of the smallest c_a, and x_a = y s_a / (1 - y s_a)."""
    # the nearest arm alone (s = 1) reaches 1 at y = 1/2; K-1 as near reach it first, at 1/(1 + sqrt(K-1))
    bracket = 0.5 / (1.0 + math.sqrt(shares.size)), 0.5
    y = brentq(lambda y: np.sum((y * shares / (1.0 - y * shares)) ** 2) - 1.0, *bracket, xtol=1e-18, rtol=1e-15)
    return y, y * shares / (1.0 - y * shares)


def _tail_bias(epsilon: float, law: _Law) -> float:
    mean = float(law.mean())
    isf: Callable[[float], Any] = getattr(law, "isf", lambda p: law.ppf(1.0 - p))
    # (1-epsilon) (mean of the upper part - mean) is the integral of mean - ppf over the lower tail of mass epsilon
    tails = [_integral(lambda p: mean - float(law.ppf(p)), epsilon), _integral(lambda p: float(isf(p)) - mean, epsilon)]
    if not all(map(math.isfinite, tails)):
        raise InputError("family", "have a finite mean and finite quantiles", law, "without a mean there is no bias")
    return max(tails) / (1.0 - epsilon)


def _integral(excess: Callable[[float], float], epsilon: float) -> float:
    """Integral over (0, epsilon); below 1e-15, where SciPy's quantiles fail, of the power through the decade before."""
    last, before, end = excess(1e-15), excess(1e-14), min(epsilon, 1e-15)
    exponent = math.log10(last / before) if last > 0.0 and before > 0.0 else 0.0
    rest = float(end * last * (1e-15 / end) ** exponent / (1.0 - exponent))
    if epsilon == end:
        return rest
    # p = e^u turns powers into exponentials; full_output: no warning where quad, on many jumps, stops at its limit
    over = math.log(end), math.log(epsilon)
    body = quad(lambda u: excess(math.exp(u)) * math.exp(u), *over, limit=200, epsabs=0, epsrel=1e-10, full_output=1)
    return rest + float(body[0])


def _as_python(kernel: Callable[..., float]) -> Callable[..., float]:
    """Return the Python function behind a kernel: one formula serves both, and nothing is compiled for one number."""
    plain: Callable[..., float] = getattr(kernel, "py_func", kernel)
    return plain
