"""How large the likelihood ratio of the leader has to be: the threshold of Kaufmann and Koolen, and two heuristics.

KK21 is Kaufmann & Koolen, "Mixture Martingales Revisited with Applications to Sequential Tests and Confidence
Intervals", JMLR 22(246), 2021; GK16 is Garivier & Kaufmann, "Optimal Best Arm Identification with Fixed Confidence",
COLT 2016. KK21 bounds, for arms a in a set S and all times at once, the sum of N_a d(mean so far, mu_a). A wrong leader
with likelihood ratio beta makes this sum, over the leader and the best arm, at least beta; there are K-1 wrong leaders.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq, minimize_scalar
from scipy.special import zeta

from bestarm.validation import one_of

THRESHOLDS = ("kaufmann-koolen", "heuristic", "heuristic-union")


def g_gaussian(x: float) -> float:
    """KK21, g_G for 1/2 < x < 1: the logarithm of what the mixture below pays.

    S is the sum of N rewards with variance 1 and mean 0, and d = (S/N)^2 / 2. Slice i = 1, 2, ... has the counts N from
    e^(4x (i-1)) to e^(4x i). There, mix exp(theta S - N theta^2 / 2) over a normal theta, of a variance v such that
    v N/(1 + v N) = x at the start of the slice: that is at least exp(x N d) sqrt(1-x) e^(-2x). Mix over the slices with
    weights i^(-2x)/zeta(2x). As i <= (4 + log N)/(4x), the result is at least exp(x (N d - 2 log(4 + log N)) - g_G(x)).
    It is a supermartingale for sub-Gaussian rewards too.
    """
    return 2 * x - 2 * x * math.log(4 * x) + math.log(zeta(2 * x)) - math.log1p(-x) / 2


def C_gaussian(x: float) -> float:
    """KK21, C^g_G(x) = min over 1/2 < l < 1 of (g_G(l) + x)/l.

    >>> round(C_gaussian(2.0), 4)
    3.5829
    """
    found = minimize_scalar(
        lambda part: (g_gaussian(part) + x) / part, bounds=(0.5, 1.0), method="bounded", options={"xatol": 1e-10}
    )
    return float(found.fun)


def inverse_of_h(y: float) -> float:
    """The u >= 1 where h(u) = u - log(u) is y >= 1.

    >>> u = inverse_of_h(3.0)
    >>> round(u - math.log(u), 12)
    3.0
    """
    return float(brentq(lambda u: u - math.log(u) - y, 1.0, 2 * y + 2))


def h_tilde(y: float, z: float = 1.5) -> float:
    """KK21, h~_z(y), 1 < z <= e: the least of c (y - log log c) over 1 < c <= z."""
    border = 1 / math.log(z) + math.log(math.log(z))  # h(1/log z): from there on the least is inside
    if y >= border:
        u = inverse_of_h(y)
        return math.exp(1 / u) * u
    return z * (y - math.log(math.log(z)))


def T_exponential(x: float) -> float:
    """KK21, the function T of its theorem for exponential families of one parameter.

    >>> round(T_exponential(5.0), 4)
    15.1914
    """
    return 2 * h_tilde((inverse_of_h(1 + x) + math.log(2 * zeta(2.0))) / 2)


class Threshold:
    """beta(t, delta): the leader is named once its likelihood ratio against every other arm is above it.

    Parameters
    ----------
    name : {"kaufmann-koolen", "heuristic", "heuristic-union"}
        KK21's threshold for best arms, the only one with a proof; log((1 + log t)/delta), which GK16 used in its
        experiments; and log((K-1)(1 + log t)/delta). Nobody has proved that one of the last two suffices.
    arms, delta : int >= 2, float in (0, 1)
        K and the accepted probability of a wrong answer.
    family : {"gaussian", "bernoulli"}
        Of the rewards.
    """

    def __init__(self, name: str, arms: int, delta: float, family: str) -> None:
        one_of("threshold", name, THRESHOLDS)
        one_of("family", family, ("gaussian", "bernoulli"))
        self.name, self.arms, self.delta, self.family = name, arms, delta, family
        share = math.log((arms - 1) / delta) / 2  # of the exponent, for each of the two arms
        self.constant = 2 * C_gaussian(share) if family == "gaussian" else 2 * T_exponential(share)

    def __call__(self, t: int) -> float:
        """beta(t, delta) after t pulls. Two counts sum to at most t, and both logarithms are concave: t/2 each."""
        if self.name == "heuristic":
            return math.log((1 + math.log(t)) / self.delta)
        if self.name == "heuristic-union":
            return math.log((self.arms - 1) * (1 + math.log(t)) / self.delta)
        if self.family == "gaussian":
            return self.constant + 4 * math.log(4 + math.log(t / 2))
        return self.constant + 6 * math.log(1 + math.log(t / 2))
