"""The thresholds of the peers: their formulas by other means, and the mixture that proves the Gaussian one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import lambertw

from bestarm.errors import InputError
from bestarm.reference.peers.thresholds import C_gaussian, T_exponential, Threshold, g_gaussian, inverse_of_h


def zeta(s: float, terms: int = 2000) -> float:
    """The sum of i^-s by Euler and Maclaurin."""
    i = np.arange(1, terms)
    head = float((i**-s).sum())
    return float(head + terms ** (1 - s) / (s - 1) + terms**-s / 2 + s * terms ** (-s - 1) / 12)


@pytest.mark.parametrize("x", [0.1, 1.15, 2.3, 5.0, 20.0, 300.0])
def test_the_function_for_normal_rewards_is_a_minimum_over_all_parts(x: float) -> None:
    parts = np.concatenate([np.linspace(0.5, 1.0, 4001)[1:-1], 1.0 - np.logspace(-5, -2, 400)])
    values = [
        (2 * part - 2 * part * math.log(4 * part) + math.log(zeta(2 * part)) - 0.5 * math.log(1 - part) + x) / part
        for part in parts.tolist()
    ]
    assert C_gaussian(x) == pytest.approx(min(values), rel=1e-5)
    assert C_gaussian(x) <= min(values) + 1e-9


@pytest.mark.parametrize("part", [0.55, 0.7, 0.9, 0.97])
def test_the_mixture_over_slices_is_as_large_as_the_bound_claims(part: float) -> None:
    """The proof in `g_gaussian`, number by number: N rewards of variance 1 with deviance N d."""
    slices = np.arange(1, 150)
    starts = np.exp(4 * part * (slices - 1.0))
    variances = part / ((1 - part) * starts)
    log_weights = -2 * part * np.log(slices) - math.log(zeta(2 * part))
    for N in (1.0, 2.0, 7.0, 40.0, 3e3, 1e7):
        for deviance in (0.0, 1.0, 8.0, 30.0):
            terms = log_weights - np.log1p(variances * N) / 2 + deviance * variances * N / (1 + variances * N)
            mixture = float(np.logaddexp.reduce(terms))
            assert mixture >= part * (deviance - 2 * math.log(4 + math.log(N))) - g_gaussian(part)


@pytest.mark.parametrize("y", [1.01, 1.3, 2.0, 10.0, 100.0, 690.0])
def test_h_is_inverted(y: float) -> None:
    assert inverse_of_h(y) == pytest.approx(-lambertw(-math.exp(-y), -1).real, rel=1e-9)


@pytest.mark.parametrize("x", [0.01, 1.15, 3.0, 5.0, 40.0])
def test_the_function_for_exponential_families_is_twice_a_minimum(x: float) -> None:
    inverse = brentq(lambda u: u - math.log(u) - (1 + x), 1.0, 3 * x + 10)
    y = (inverse + math.log(math.pi**2 / 3)) / 2
    c = np.linspace(1.0, 1.5, 400_001)[1:]
    assert T_exponential(x) == pytest.approx(2 * float((c * (y - np.log(np.log(c)))).min()), rel=1e-6)


def test_thresholds_are_what_their_papers_write() -> None:
    share = math.log(9 / 0.01) / 2
    proved = Threshold("kaufmann-koolen", 10, 0.01, "gaussian")
    assert proved(500) == pytest.approx(2 * C_gaussian(share) + 4 * math.log(4 + math.log(250.0)))
    assert proved(500) == pytest.approx(19.1612, abs=1e-4)
    entropy = Threshold("kaufmann-koolen", 10, 0.01, "bernoulli")
    assert entropy(500) == pytest.approx(2 * T_exponential(share) + 6 * math.log(1 + math.log(250.0)))
    assert Threshold("heuristic", 10, 0.01, "gaussian")(500) == pytest.approx(math.log((1 + math.log(500)) / 0.01))
    union = Threshold("heuristic-union", 10, 0.01, "gaussian")
    assert union(500) == pytest.approx(math.log(9 * (1 + math.log(500)) / 0.01))


def test_wrong_names_are_rejected() -> None:
    with pytest.raises(InputError, match="heuristic-union"):
        Threshold("stylised", 2, 0.1, "gaussian")
    with pytest.raises(InputError, match="bernoulli"):
        Threshold("heuristic", 2, 0.1, "poisson")
