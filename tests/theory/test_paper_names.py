"""Every named element of the paper has a public name: the table in docs/explanation/paper.md, walked row by row."""

from __future__ import annotations

import functools
import inspect
import math
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

import bestarm as ba
from bestarm.errors import InputError
from places import ROOT

PAGE = (ROOT / "docs" / "explanation" / "paper.md").read_text(encoding="utf-8")
THEORY: Any = ba.theory
ESTIMATORS: Any = ba.estimators
MADE: Any = ba.adversaries
rewards = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60)
alphas = st.floats(0.0, 0.499)
steady = settings(deadline=None, max_examples=60)


class Row(NamedTuple):
    element: str
    cited: str  # where it is in the paper, in the words of the docstring
    name: str
    example: str
    value: str


def rows() -> list[Row]:
    (table,) = re.findall(r"<!-- names.*?-->\n(.*?)<!-- end of names -->", PAGE, re.S)
    cells = [[cell.strip().strip("`") for cell in line.strip("| ").split(" | ")] for line in table.splitlines()[2:]]
    return [Row(*line) for line in cells]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_the_name_exists_cites_the_element_and_gives_the_value(row: Row) -> None:
    assert row.name.startswith("ba.")
    found = functools.reduce(getattr, row.name.split(".")[1:], ba)
    words = " ".join((inspect.getdoc(found) or "").split())
    assert "MTCD21" in words
    assert row.cited in words
    assert row.name.split("(")[0] in row.example
    assert repr(eval(row.example, {"ba": ba})) == row.value


def test_no_element_is_left_out() -> None:
    listed = {row.name.removeprefix("ba.") for row in rows()}
    wanted = "estimators.trimmed_mean estimators.median reference.GCBAI reference.SECBAI"
    wanted += " adversaries.Oblivious adversaries.Prescient adversaries.Malicious"
    functions = "uncertainty resilience_bound concentration_radius fixed_point gaps complexity exploration_pulls"
    functions += " gap_radius elimination_radius lower_bound lower_bound_in_epsilon upper_bound upper_bound_in_epsilon"
    assert set(wanted.split()) | {f"theory.{name}" for name in functions.split()} <= listed


# ---------------------------------------------------------------------------------------------------------- estimators


@steady
@given(rewards, alphas)
@example([1.0] * 10, 0.05)
@example(list(range(100)), 0.29)  # 0.29 * 100 is below 29 in floating point
def test_the_trimmed_mean_is_scipys_and_the_papers_has_another_divisor(x: list[float], alpha: float) -> None:
    ours = ba.estimators.trimmed_mean(x, alpha)
    scale = 1.0 + max(map(abs, x))
    assert ours == pytest.approx(float(stats.trim_mean(x, alpha)), rel=1e-9, abs=1e-9 * scale)
    kept = sorted(x)[math.floor(alpha * len(x)) : len(x) - math.floor(alpha * len(x))]
    papers = math.fsum(kept) / ((1.0 - 2.0 * alpha) * len(x))
    assert ba.estimators.trimmed_mean(x, alpha, divisor="paper") == pytest.approx(papers, rel=1e-9, abs=1e-9 * scale)


@steady
@given(rewards)
def test_the_median_is_numpys(x: list[float]) -> None:
    assert ba.estimators.median(x) == pytest.approx(float(np.median(x)), rel=1e-12, abs=1e-9)
    assert ba.estimators.median(np.array(x)) == ba.estimators.median(x)


@pytest.mark.parametrize("method", ["se-cbai", "median-se"])
def test_methods_estimate_by_the_same_formulas_reward_by_reward(method: str) -> None:
    """The kernels update what the estimators compute from all rewards."""
    rng = np.random.default_rng(8)
    finder = ba.Identifier(["A", "B"], delta=0.1, epsilon=0.2, sigma=100.0, method=method)
    told = []
    for _ in range(150):
        told.append(float(rng.standard_t(2)))
        finder.tell("A", told[-1])
        x = told
        expected = ba.estimators.trimmed_mean(x, 0.1) if method == "se-cbai" else ba.estimators.median(x)
        assert finder.estimates[0].estimate == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ESTIMATORS.trimmed_mean([], 0.1), r"^x must be at least one finite number, in a flat list, got \[\]"),
        (lambda: ESTIMATORS.trimmed_mean([1.0, math.nan], 0.1), "^x must be at least one finite number"),
        (lambda: ESTIMATORS.trimmed_mean([1.0], 0.5), r"^alpha must be in \[0, 0.5\), got 0.5"),
        (lambda: ESTIMATORS.trimmed_mean([1.0], 0.1, divisor="n"), "^divisor must be one of kept, paper, got 'n'"),
        (lambda: ESTIMATORS.median([[1.0]]), "^x must be at least one finite number"),
        (lambda: THEORY.uncertainty(0.5), r"^epsilon must be in \[0, 0.5\)"),
        (lambda: THEORY.uncertainty(0.1, constant=-1.0), "^constant must be a finite number >= 0"),
        (lambda: THEORY.fixed_point(0.0, 1.0), "^C1 must be a finite number > 0"),
        (lambda: THEORY.fixed_point(1.0, 1.0, 2.0), r"^power must be in \[1, e/2\], got 2.0"),
        (lambda: THEORY.fixed_point(1.0, 1.0, "x"), r"^power must be in \[1, e/2\], got 'x'"),
        (lambda: THEORY.gaps([1.0]), "^means must be at least two finite numbers"),
        (lambda: MADE.Oblivious(MADE.Extreme(1)), "^adversary must be oblivious, got .*: this one is prescient$"),
        (lambda: MADE.Prescient(MADE.Selective(MADE.Point(1.0))), "this one is malicious$"),
        (lambda: MADE.Malicious(MADE.Bursts(MADE.Point(1.0))), "this one is bursts$"),
        (lambda: MADE.Malicious(3), "^adversary must be oblivious or causal or prescient or malicious, got 3"),
    ],
)
def test_bad_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


# ------------------------------------------------------------------------------------------------------- U, the lemmas


def test_what_an_adversary_hides_of_sub_gaussian_laws_is_above_the_order_with_a_constant_of_1_248() -> None:
    epsilons = np.geomspace(1e-9, 0.4999, 400).tolist()
    ratios = [ba.theory.minimal_bias(e, family="sub-gaussian") / ba.theory.uncertainty(e) for e in epsilons]
    assert 1.248 < min(ratios) < 1.249
    gaussian = [ba.theory.minimal_bias(e) / ba.theory.uncertainty(e) for e in (1e-3, 1e-6, 1e-9)]
    assert gaussian == sorted(gaussian, reverse=True)  # falls to 0: of another order, 1.25 sigma epsilon
    assert ba.theory.minimal_bias(1e-6) == pytest.approx(math.sqrt(math.pi / 2.0) * 1e-6, rel=1e-4)


@pytest.mark.parametrize("alpha", [1e-6, 0.01, 0.1, 0.3, 0.499])
def test_no_event_moves_a_sub_gaussian_mean_by_more_than_the_resilience_bound(alpha: float) -> None:
    """The worst event is a tail of the law; sigma is 1 for each of these."""
    bound = ba.theory.resilience_bound(alpha)
    laws = (stats.norm(), stats.uniform(-math.sqrt(3.0), 2.0 * math.sqrt(3.0)))
    for law in laws:
        assert ba.theory.minimal_bias(alpha, family=law) <= bound
    assert alpha / (1.0 - alpha) <= bound  # two points, -1 and 1, half of the mass each
    order = ba.theory.resilience_bound(alpha, 2.0, constant=3.0)
    assert order == pytest.approx(6.0 * ba.theory.uncertainty(alpha), rel=1e-12)
    assert ba.theory.resilience_bound(0.0) == 0.0


def test_the_lemma_on_the_trimmed_mean_holds_on_both_sides_and_fails_on_one() -> None:
    """As many replaced rewards on either side are trimmed away; all on one side are not, whatever the constant."""
    rng = np.random.default_rng(5)
    n, epsilon, delta = 2000, 0.1, 0.1
    radius = ba.theory.concentration_radius(n, delta=delta, epsilon=epsilon)
    assert math.isinf(ba.theory.concentration_radius(1842, delta=delta, epsilon=epsilon))
    assert math.isfinite(ba.theory.concentration_radius(231, delta=delta, epsilon=epsilon, kind="chernoff"))
    seen = rng.normal(size=(40, n))
    seen[:, :200] = 1000.0  # epsilon n
    one = [ba.estimators.trimmed_mean(row, epsilon / 2.0) for row in seen]
    assert min(one) > ba.theory.concentration_radius(n, delta=delta, epsilon=epsilon, constant=100.0) > 15.0
    seen[:, :100] = -1000.0
    both = [ba.estimators.trimmed_mean(row, epsilon / 2.0) for row in seen]
    assert np.abs(both).max() < radius


@steady
@given(st.floats(1e-6, 1e3), st.floats(1e-6, 1e12), st.floats(1.0, math.e / 2.0), st.floats(1.0, 1e6))
@example(0.01, 5.0, 1.2, 1.0)
@example(1.0, 1.05, 1.0, 1.0)  # a first logarithm so near to 0 that the formula gives no x > 0
def test_beyond_the_fixed_point_the_line_is_above_the_logarithm(c1: float, c2: float, power: float, by: float) -> None:
    x = (ba.theory.fixed_point(c1, c2, power) or 1e-9) * by  # where it is 0, any number is beyond it
    assert c1 * x >= math.log(c2) + power * math.log(x) - 1e-9 * (1.0 + c1 * x)


def test_above_its_range_of_powers_the_lemma_is_false() -> None:
    power, c1, c2 = 3.0, 1.0, 2.0  # the formula as printed, by hand
    x = power / c1 * (math.log(c2 * math.e / c1**power) + math.log(math.log(c2 / c1**power)))
    assert x > 0.0
    assert c1 * x < math.log(c2 * x**power)


# ---------------------------------------------------------------------------------------------------------- corollaries


def test_the_corollaries_are_the_theorems_at_u_of_epsilon() -> None:
    means, delta, epsilon, sigma, constant = [2.5, 1.5, 1.0], 0.05, 0.08, 1.3, 1.1
    bias = constant * sigma * epsilon * math.sqrt(math.log(1.0 / epsilon))
    true = np.array([1.0, 1.0, 1.5])  # max of the gap and the smallest one
    total = float(((math.sqrt(2.0) * sigma / (true - 2.0 * bias)) ** 2).sum())
    told: dict[str, Any] = {"epsilon": epsilon, "sigma": sigma, "constant": constant}
    lower = ba.theory.lower_bound_in_epsilon(means, delta, **told)
    assert lower == pytest.approx(total * math.log(1.0 / delta), rel=1e-12)
    upper = ba.theory.upper_bound_in_epsilon(means, delta, power=1.3, **told)
    exploration = 8.0 * 3 / epsilon**2
    assert upper == pytest.approx(max(exploration, 64.0 * 1.3 * total) * math.log(1.0 / delta), rel=1e-12)
    free = ba.theory.lower_bound_in_epsilon(means, delta, epsilon=0.0)
    assert free == ba.theory.lower_bound(means, delta)
    assert ba.theory.lower_bound_in_epsilon(means, delta, epsilon=0.4, constant=2.0) == math.inf


def test_the_gaps_make_the_complexity() -> None:
    means, bias = [2.5, 2.3, 2.0, 0.6], 0.03
    found = ba.theory.gaps(means, bias)
    assert found.tolist() == pytest.approx([-0.06, 0.14, 0.44, 1.84])
    assert ba.theory.complexity(means, 1.0, bias) == pytest.approx(float((2.0 / np.maximum(found, 0.14) ** 2).sum()))
