from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, optimize, stats
from scipy.special import log_ndtr

import bestarm.theory.bounds
from bestarm.errors import InputError
from bestarm.theory.bounds import (
    characteristic_time,
    complexity,
    elimination_radius,
    exploration_pulls,
    gap_radius,
    lower_bound,
    minimal_bias,
    optimal_proportions,
    upper_bound,
)

PAPER_MEANS = [2.5, 2.3, 2.0, 0.6]

steady = settings(deadline=None, max_examples=60)  # no deadline: other work on the machine is not a failure
deltas = st.floats(1e-12, 0.99)
fractions = st.floats(1e-6, 0.499)
scales = st.floats(1e-3, 1e3)
instances = st.lists(st.floats(-10.0, 10.0), min_size=2, max_size=12).filter(
    lambda means: sorted(means)[-1] - sorted(means)[-2] > 1e-6
)


# exploration


@pytest.mark.parametrize(
    ("alpha", "kind", "pulls"),
    [(0.05, "hoeffding", 1843), (0.05, "chernoff", 231), (0.005, "hoeffding", 184_207), (0.005, "chernoff", 2_377)],
)
def test_exploration_at_delta_one_tenth(alpha: float, kind: str, pulls: int) -> None:
    assert math.ceil(exploration_pulls(alpha, 0.1, kind)) == pulls


def test_exploration_of_hoeffding_is_the_papers_formula() -> None:
    assert exploration_pulls(0.05, 0.1) == pytest.approx(800 * math.log(10), rel=1e-15)
    assert exploration_pulls(0.05, 0.1) == pytest.approx(1842.07, abs=0.005)


@pytest.mark.parametrize("kind", ["hoeffding", "chernoff"])
def test_nothing_trimmed_needs_no_exploration(kind: str) -> None:
    assert exploration_pulls(0.0, 0.1, kind) == 1.0


def test_chernoff_for_small_alpha_grows_like_one_over_alpha() -> None:
    assert exploration_pulls(1e-12, 0.1, "chernoff") * 1e-12 == pytest.approx(math.log(10) / (math.log(2) - 0.5))


@steady
@given(alpha=fractions, delta=deltas)
def test_chernoff_is_never_longer_than_hoeffding(alpha: float, delta: float) -> None:
    assert exploration_pulls(alpha, delta, "chernoff") <= exploration_pulls(alpha, delta, "hoeffding")


@pytest.mark.parametrize("kind", ["hoeffding", "chernoff"])
@steady
@given(a=fractions, b=fractions, c=deltas, d=deltas)
def test_exploration_shrinks_in_alpha_and_delta(kind: str, a: float, b: float, c: float, d: float) -> None:
    assert exploration_pulls(max(a, b), max(c, d), kind) <= exploration_pulls(min(a, b), min(c, d), kind)


@pytest.mark.parametrize("kind", ["hoeffding", "chernoff"])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2, 0.45])
@pytest.mark.parametrize("delta", [0.3, 0.1, 0.001])
def test_explored_arms_keep_the_lemmas_promise(alpha: float, delta: float, kind: str) -> None:
    first = math.ceil(exploration_pulls(alpha, delta, kind))
    t = np.arange(first, first + 500)
    assert np.max(stats.binom.sf(np.floor(alpha * t), t, alpha / 2)) <= delta


# radii


def test_gap_radius_is_the_theorems_with_the_proofs_constant() -> None:
    expected = 2.0 / 0.9 * math.sqrt(2 / 50 * math.log(3 * 3.0 * 400**1.5 / 0.1))
    assert gap_radius(50, 400, 4, delta=0.1, epsilon=0.1, sigma=2.0, power=1.5) == pytest.approx(expected, rel=1e-14)


@steady
@given(power=st.floats(1.01, 5.0))
def test_the_constant_pays_for_all_times(power: float) -> None:
    # the union bound: (K-1) sum_t exp(-N beta^2 (1-eps)^2 / (2 sigma^2)) <= delta; the tail of the sum by its integral
    t = np.arange(1, 200)
    radii = np.array([gap_radius(1, int(s), 5, delta=0.1, epsilon=0.0, sigma=1.0, power=power) for s in t])
    spent = 4 * np.exp(-(radii**2) / 2)
    assert spent.sum() + spent[-1] * t[-1] / (power - 1) <= 0.1 * (1 + 1e-12)


def test_empirical_gap_radius_is_the_papers_formula() -> None:
    radius = gap_radius(50, 400, 4, delta=0.1, epsilon=0.3, sigma=2.0, threshold="empirical")
    assert radius == pytest.approx(2.0 * math.sqrt(2 / 50 * math.log(math.log(400) / 0.1)), rel=1e-14)


@pytest.mark.parametrize(("t", "delta"), [(1, 0.1), (1, 1e-300), (2, 0.7), (1.05, 0.05)])
def test_empirical_gap_radius_is_infinite_while_its_logarithm_is_negative(t: float, delta: float) -> None:
    assert gap_radius(1, t, 2, delta=delta, epsilon=0.1, sigma=1.0, threshold="empirical") == math.inf


def test_empirical_gap_radius_is_finite_as_soon_as_log_t_passes_delta() -> None:
    radius = gap_radius(1, 2, 2, delta=0.69, epsilon=0.1, sigma=1.0, threshold="empirical")
    assert radius == pytest.approx(math.sqrt(2 * math.log(math.log(2) / 0.69)), rel=1e-12)


def test_elimination_radius_is_the_papers_formula() -> None:
    expected = 2.0 / 0.9 * math.sqrt(2 / 50 * math.log(4 * 50**2 * math.pi**2 / 1.2))
    assert elimination_radius(50, 4, delta=0.1, epsilon=0.1, sigma=2.0) == pytest.approx(expected, rel=1e-14)


def test_radii_do_not_overflow() -> None:
    far = gap_radius(1e200, 1e200, 10**6, delta=5e-324, epsilon=0.1, sigma=1.0, power=1e3)
    assert far == pytest.approx(math.sqrt(2e3 * math.log(1e200)) * 1e-100 / 0.9, rel=1e-2)
    assert 0 < elimination_radius(1e200, 10**6, delta=5e-324, epsilon=0.1, sigma=1.0) < 1e-98


@steady
@given(n=st.integers(1, 10**6), t=st.integers(1, 10**9), arms=st.integers(2, 10**4), delta=deltas, eps=fractions)
def test_gap_radius_is_monotone(n: int, t: int, arms: int, delta: float, eps: float) -> None:
    def radius(n: int, t: int, arms: int, delta: float, epsilon: float) -> float:
        return gap_radius(n, t, arms, delta=delta, epsilon=epsilon, sigma=1.0)

    here = radius(n, t, arms, delta, eps)
    assert radius(2 * n, t, arms, delta, eps) < here < radius(n, 2 * t, arms, delta, eps)
    assert radius(n, t, arms, delta, eps / 2) < here < radius(n, t, arms, delta / 2, eps)
    assert here < radius(n, t, 2 * arms, delta, eps)


@steady
@given(t=st.integers(2, 10**6), arms=st.integers(2, 10**4), delta=st.floats(1e-12, 0.999999))
@example(t=2, arms=2, delta=0.999999)
def test_elimination_radius_decreases_from_the_second_round_on(t: int, arms: int, delta: float) -> None:
    now, after = (elimination_radius(s, arms, delta=delta, epsilon=0.1, sigma=1.0) for s in (t, t + 1))
    assert after < now


def test_elimination_radius_may_grow_after_the_first_round() -> None:
    first, second = (elimination_radius(t, 2, delta=0.9, epsilon=0.1, sigma=1.0) for t in (1, 2))
    assert first < second


# complexity and characteristic time


def test_complexity_by_hand() -> None:
    assert complexity(PAPER_MEANS) == pytest.approx(2 * (2 / 0.04 + 1 / 0.25 + 1 / 3.61), rel=1e-14)
    assert complexity([0.0, 3.0], sigma=2.0, bias=0.5) == pytest.approx(2 * 2 * 4 / 4.0, rel=1e-14)


@pytest.mark.parametrize(
    ("means", "bias"), [([1.0, 1.0], 0.0), ([1.0, 0.5, 1.0], 0.0), ([1.0, 0.5], 0.25), ([1, 0.9], 1.0)]
)
def test_what_cannot_be_identified_is_infinitely_complex(means: list[float], bias: float) -> None:
    assert complexity(means, bias=bias) == math.inf
    assert characteristic_time(means, bias=bias) == math.inf
    assert lower_bound(means, 0.1, bias=bias) == math.inf
    assert lower_bound(means, 0.1, bias=bias, kind="characteristic") == math.inf
    assert upper_bound(means, 0.1, epsilon=0.1, bias=bias) == math.inf
    assert upper_bound(means, 0.1, epsilon=0.1, bias=bias, method="se-cbai") == math.inf
    with pytest.raises(InputError, match=r"^means must have one best arm by more than twice the bias, got"):
        optimal_proportions(means, bias=bias)


@steady
@given(gap=st.floats(1e-3, 1e3), sigma=scales)
def test_two_arms_take_eight_variances_per_squared_gap(gap: float, sigma: float) -> None:
    assert characteristic_time([0.0, gap], sigma) == pytest.approx(8 * sigma**2 / gap**2, rel=1e-14)
    assert optimal_proportions([0.0, gap], sigma) == pytest.approx([0.5, 0.5], rel=1e-14)


@pytest.mark.parametrize("arms", [2, 3, 5, 10, 17, 1000, 5000])
def test_equal_gaps_have_a_closed_form(arms: int) -> None:
    means = [1.0, *[0.0] * (arms - 1)]
    root = math.sqrt(arms - 1)
    assert characteristic_time(means) == pytest.approx(2 * (1 + root) ** 2, rel=1e-13)
    assert optimal_proportions(means)[0] == pytest.approx(1 / (1 + root), rel=1e-13)


def rate(weights: NDArray[np.float64], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """w_1 w_a/(w_1 + w_a) gap_a^2/2, the cost of mistaking arm a for the best, with the best arm first in `weights`."""
    return np.asarray(weights[0] * weights[1:] / (weights[0] + weights[1:]) * gaps**2 / 2)


def last_negated(z: NDArray[np.float64]) -> float:
    return -float(z[-1])


@pytest.mark.parametrize("means", [PAPER_MEANS, [1.0, 0.9, 0.8], [3.0, 2.0, 2.0, 1.9, -4.0]])
def test_characteristic_time_is_the_best_of_the_simplex(means: list[float]) -> None:
    gaps = means[0] - np.array(means[1:])
    settings: dict[str, Any] = {
        "method": "SLSQP",
        "bounds": [(1e-9, 1.0)] * len(means) + [(0.0, 1e3)],
        "constraints": [
            {"type": "eq", "fun": lambda z: z[:-1].sum() - 1},
            {"type": "ineq", "fun": lambda z: 100 * (rate(z[:-1], gaps) - z[-1])},
        ],
        "options": {"ftol": 1e-14, "maxiter": 1000},
    }
    start = np.append(np.full(len(means), 1 / len(means)), 0.0)
    found = optimize.minimize(last_negated, start, **settings)  # over (w, v): the largest v below every rate
    assert characteristic_time(means) == pytest.approx(1 / found.x[-1], rel=1e-6)
    assert optimal_proportions(means) == pytest.approx(found.x[:-1], abs=1e-4)


def test_no_point_of_a_grid_on_the_simplex_beats_the_characteristic_time() -> None:
    gaps = np.array([0.2, 0.5])
    grid = np.arange(1, 400) / 400
    first, second = np.meshgrid(grid, grid, indexing="ij")
    inside = first + second < 1
    points = np.stack([first[inside], second[inside], 1 - first[inside] - second[inside]])
    values = np.min(points[0] * points[1:] / (points[0] + points[1:]) * gaps[:, None] ** 2 / 2, axis=0)
    assert characteristic_time([0.0, -0.2, -0.5]) <= 1 / values.max() <= 1.001 * characteristic_time([0.0, -0.2, -0.5])


@pytest.mark.parametrize("arms", [3, 100, 5000])
def test_characteristic_time_has_a_certificate(arms: int) -> None:
    # Any w shows 1/T* >= min rate. Any mixture of the rates is concave and homogeneous, so that on the simplex it is at
    # most the largest of its partial derivatives at w: 1/T* <= that. With gaps of nine orders of magnitude both meet.
    gaps = 10 ** np.random.default_rng(arms).uniform(-6, 3, arms - 1)
    w = optimal_proportions(np.append(0.0, -gaps))
    assert w.sum() == pytest.approx(1.0, abs=1e-14)
    assert np.all(w > 0)
    c, x = gaps**2 / 2, w[1:] / w[0]
    mixture = (1 + x) ** 2 / c
    mixture /= mixture.sum()
    slopes = np.append(np.sum(mixture * c * (x / (1 + x)) ** 2), mixture * c / (1 + x) ** 2)
    time = characteristic_time(np.append(0.0, -gaps))
    assert 1 / rate(w, gaps).min() == pytest.approx(time, rel=1e-12)
    assert 1 / slopes.max() == pytest.approx(time, rel=1e-12)


@steady
@given(means=instances, sigma=scales)
def test_characteristic_time_is_within_a_factor_two_of_complexity(means: list[float], sigma: float) -> None:
    assert complexity(means, sigma) <= characteristic_time(means, sigma) * (1 + 1e-12)
    assert characteristic_time(means, sigma) <= 2 * complexity(means, sigma) * (1 + 1e-12)


@steady
@given(means=instances, data=st.data())
def test_proportions_follow_the_arms(means: list[float], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(means))))
    shuffled = [means[i] for i in order]
    assert optimal_proportions(shuffled) == pytest.approx(optimal_proportions(means)[order], rel=1e-9)
    assert characteristic_time(shuffled) == pytest.approx(characteristic_time(means), rel=1e-12)


@steady
@given(means=instances, bias=st.floats(0.0, 1.0))
def test_bias_acts_like_smaller_gaps(means: list[float], bias: float) -> None:
    best = int(np.argmax(means))
    shifted = [mean - bias if i == best else mean + bias for i, mean in enumerate(means)]
    assume(shifted[best] - max(mean for i, mean in enumerate(shifted) if i != best) > 1e-3)
    assert complexity(means, bias=bias) == pytest.approx(complexity(shifted), rel=1e-9)
    assert characteristic_time(means, bias=bias) == pytest.approx(characteristic_time(shifted), rel=1e-9)


def test_gaps_of_any_size_are_no_trouble() -> None:
    assert characteristic_time([1e-150, 0.0, -1e150]) == pytest.approx(8e300, rel=1e-12)
    assert complexity([1e-200, 0.0]) == math.inf  # beyond the floats
    assert optimal_proportions([1e-150, 0.0, -1e150]).tolist() == [0.5, 0.5, 0.0]


# bounds on the number of pulls


def test_lower_bounds_by_hand() -> None:
    assert lower_bound([1.0, 0.0], 0.05) == pytest.approx(4 * math.log(20), rel=1e-14)
    relative_entropy = 0.05 * math.log(0.05 / 0.95) + 0.95 * math.log(0.95 / 0.05)
    assert lower_bound([1.0, 0.0], 0.05, kind="characteristic") == pytest.approx(8 * relative_entropy, rel=1e-13)


@pytest.mark.parametrize("delta", [0.5, 0.7, 0.999])
def test_tossing_a_coin_is_free(delta: float) -> None:
    assert lower_bound([1.0, 0.0], delta, kind="characteristic") == 0.0
    assert lower_bound([1.0, 1.0], delta, kind="characteristic") == 0.0


@steady
@given(means=instances)
def test_for_small_delta_the_characteristic_bound_is_the_higher_one(means: list[float]) -> None:
    ratio = lower_bound(means, 1e-300, kind="characteristic") / lower_bound(means, 1e-300)
    assert 1 - 1e-9 <= ratio <= 2 + 1e-9


def test_upper_bound_of_g_cbai_by_hand() -> None:
    assert upper_bound(PAPER_MEANS, 0.1, epsilon=0.4, power=1.1) == pytest.approx(
        math.log(10) * 64 * 1.1 * complexity(PAPER_MEANS), rel=1e-14
    )
    assert upper_bound(PAPER_MEANS, 0.1, epsilon=0.01) == pytest.approx(32e4 * math.log(10), rel=1e-14)


def rounds_until_separated(gap: float, arms: int, delta: float, epsilon: float, sigma: float) -> int:
    t = 1
    while 4 * elimination_radius(t, arms, delta=delta, epsilon=epsilon, sigma=sigma) >= gap:
        t += 1
    return t


@pytest.mark.parametrize(
    ("means", "delta", "sigma"),
    [([2.5, 1.5, 1.0, 0.6], 0.1, 1.0), ([9.0, 0.0], 0.9, 1.0), ([6.6, 0.0], 0.99, 1.0), ([100.0, 1.0, 0.0], 0.2, 3.0)],
)
def test_upper_bound_of_se_cbai_counts_the_rounds(means: list[float], delta: float, sigma: float) -> None:
    rounds = [rounds_until_separated(means[0] - mean, len(means), delta, 0.45, sigma) for mean in means[1:]]
    exploration = 8 * len(means) / 0.45**2 * -math.log(delta)
    assert upper_bound(means, delta, epsilon=0.45, sigma=sigma, method="se-cbai") == pytest.approx(
        max(exploration, 2 * sum(rounds)), rel=1e-14
    )


@steady
@given(gap=st.floats(1e-5, 1.0), delta=deltas, eps=st.floats(0.3, 0.49), arms=st.integers(2, 50))
def test_rounds_of_se_cbai_are_the_first(gap: float, delta: float, eps: float, arms: int) -> None:
    means = [0.0] + [-gap] * (arms - 1)
    rounds = upper_bound(means, delta, epsilon=eps, method="se-cbai") / (2 * (arms - 1))
    assume(rounds == int(rounds) > 2)  # exploration does not dominate
    before, after = (elimination_radius(t, arms, delta=delta, epsilon=eps, sigma=1.0) for t in (rounds - 1, rounds))
    assert 4 * after < gap <= 4 * before


def test_upper_bound_with_exploration_is_what_exploring_every_arm_costs() -> None:
    expected = 3 * exploration_pulls(0.05, 0.1)
    assert upper_bound([90.0, 1.0, 0.0], 0.1, epsilon=0.1) == pytest.approx(expected, rel=1e-14)
    assert upper_bound([90.0, 1.0, 0.0], 0.1, epsilon=0.1, method="se-cbai") == pytest.approx(expected, rel=1e-14)


def test_upper_bounds_of_tiny_gaps_and_tiny_contamination_do_not_fail() -> None:
    assert upper_bound([1e-100, 0.0], 0.1, epsilon=0.1, method="se-cbai") == pytest.approx(7.466e204, rel=0.01)
    assert upper_bound([1e-200, 0.0], 0.1, epsilon=0.1, method="se-cbai") == math.inf
    assert upper_bound([1.0, 0.0], 0.1, epsilon=1e-200) == math.inf


@pytest.mark.parametrize("method", ["g-cbai", "se-cbai"])
@steady
@given(means=instances, delta=st.floats(1e-9, 0.4), eps=st.floats(0.01, 0.49))
def test_upper_bounds_are_above_lower_bounds(method: str, means: list[float], delta: float, eps: float) -> None:
    assert upper_bound(means, delta, epsilon=eps, method=method) >= lower_bound(means, delta, kind="characteristic")


# what contamination hides


def test_minimal_bias_at_one_tenth() -> None:
    assert minimal_bias(0.1) == pytest.approx(0.1397, abs=5e-5)
    assert minimal_bias(0.1, family="sub-gaussian") == pytest.approx(0.1950, abs=5e-5)
    assert minimal_bias(0.1, family="bounded", bounds=(1, 5)) == pytest.approx(2 / 9, rel=1e-14)
    assert minimal_bias(0.1, 2.0, "bounded") == pytest.approx(2 / 9, rel=1e-14)


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 0.3, 0.49])
def test_the_median_reaches_the_gaussian_limit(epsilon: float) -> None:
    # (1-eps) N(0, 1) + eps at +infinity: the median is where the clean part has mass 1/2
    median = optimize.brentq(lambda m: (1 - epsilon) * stats.norm.cdf(m) - 0.5, 0, 10, xtol=1e-15)
    assert minimal_bias(epsilon) == pytest.approx(median, rel=1e-11)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.3])
def test_gaussians_closer_than_twice_the_limit_can_be_confused(epsilon: float) -> None:
    apart = 2 * minimal_bias(epsilon)
    distance, _ = integrate.quad(
        lambda x: abs(stats.norm.pdf(x) - stats.norm.pdf(x, apart)) / 2, -9, 9 + apart, points=[apart / 2], limit=200
    )
    assert (1 - epsilon) * distance == pytest.approx(epsilon, rel=1e-9)


def test_gaussian_limit_for_a_tiny_contamination() -> None:
    assert minimal_bias(1e-20) == pytest.approx(1e-20 * math.sqrt(math.pi / 2), rel=1e-14)


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 0.24])
def test_the_sub_gaussian_limit_is_a_truncated_normal(epsilon: float) -> None:
    cut = float(stats.norm.ppf(epsilon))
    clean = stats.truncnorm(cut, np.inf)
    assert minimal_bias(epsilon, 3.0, "sub-gaussian") == pytest.approx(3 * float(clean.mean()), rel=1e-9)
    # which is 1-sub-Gaussian: log E exp(s (X - EX)) - s^2/2 = log Phi(s - cut) - log Phi(-cut) - s EX <= 0
    s = np.linspace(-20, 20, 4001)
    assert np.max(log_ndtr(s - cut) - log_ndtr(-cut) - s * float(clean.mean())) <= 1e-12


def test_sub_gaussians_are_at_least_as_hard_as_gaussians() -> None:
    assert minimal_bias(0.242, family="sub-gaussian") > minimal_bias(0.242)
    assert minimal_bias(0.243, family="sub-gaussian") == minimal_bias(0.243)


@pytest.mark.parametrize("epsilon", [0.05, 0.2, 0.45])
def test_the_bounded_limit_is_sharp(epsilon: float) -> None:
    # linear program over two clean laws P, P' and two contaminations Q, Q' on a grid of [0, 1] with equal mixtures
    points = np.linspace(0, 1, 11)
    same, nothing = np.eye(11), np.zeros(11)
    mixtures = np.hstack([(1 - epsilon) * same, -(1 - epsilon) * same, epsilon * same, -epsilon * same])
    best = optimize.linprog(
        np.concatenate([-points, points, nothing, nothing]),
        A_eq=np.vstack([mixtures, np.kron(np.eye(4), np.ones(11))]),
        b_eq=np.append(nothing, np.ones(4)),
    )
    assert best.fun is not None
    assert 2 * minimal_bias(epsilon, family="bounded", bounds=(0, 1)) == pytest.approx(-best.fun, rel=1e-9)


NAMES = ["gaussian", "sub-gaussian", "bounded"]


@pytest.mark.parametrize("family", [*NAMES, stats.expon(), stats.cauchy()])
def test_no_contamination_hides_nothing(family: Any) -> None:
    assert minimal_bias(0.0, family=family) == 0.0


@pytest.mark.parametrize("family", NAMES)
@steady
@given(a=fractions, b=fractions, sigma=scales)
def test_bias_grows_with_contamination_and_scales_with_sigma(family: str, a: float, b: float, sigma: float) -> None:
    assert minimal_bias(min(a, b), family=family) <= minimal_bias(max(a, b), family=family)
    assert minimal_bias(a, sigma, family) == pytest.approx(sigma * minimal_bias(a, 1.0, family), rel=1e-13)
    assert minimal_bias(a, sigma, "bounded") < minimal_bias(a, sigma) <= minimal_bias(a, sigma, "sub-gaussian")


def normal_tail(epsilon: float) -> float:
    return float(stats.norm.pdf(stats.norm.ppf(epsilon)))


CLOSED_FORMS: list[tuple[Any, Callable[[float], float]]] = [
    (stats.norm(5, 2), lambda e: 2 * normal_tail(e)),
    (stats.uniform(-1, 4), lambda e: 2 * e * (1 - e)),
    (stats.expon(scale=3), lambda e: -3 * e * math.log(e)),
    (stats.lognorm(1), lambda e: math.exp(0.5) * (float(stats.norm.cdf(1 + stats.norm.ppf(e))) - e)),
    (stats.t(3), lambda e: float(stats.t.pdf(stats.t.ppf(e, 3), 3) * (3 + stats.t.ppf(e, 3) ** 2) / 2)),
    (stats.pareto(1.2), lambda e: 6 * (e ** (1 / 6) - e)),
]


@pytest.mark.parametrize(("law", "tail"), CLOSED_FORMS, ids=lambda v: v.dist.name if hasattr(v, "dist") else "")
@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.1, 0.3])
def test_the_bias_of_a_distribution_has_closed_forms(law: Any, tail: Callable[[float], float], epsilon: float) -> None:
    assert minimal_bias(epsilon, family=law) == pytest.approx(tail(epsilon) / (1 - epsilon), rel=1e-8)


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.4])
def test_atoms_are_split(p: float, epsilon: float) -> None:
    eta = epsilon / (1 - epsilon)
    expected = max(min(1 - p, p * eta), min(p, (1 - p) * eta))  # mean after dropping zeros, after dropping ones
    assert minimal_bias(epsilon, family=stats.bernoulli(p)) == pytest.approx(expected, rel=1e-6)


def test_many_atoms_are_split() -> None:
    values, epsilon = np.arange(60), 0.2
    above = stats.poisson(3).sf(values)
    expected = (np.minimum(above, epsilon).sum() - epsilon * 3) / (1 - epsilon)  # E[X; upper eps] = sum of min(sf, eps)
    assert minimal_bias(epsilon, family=stats.poisson(3)) == pytest.approx(expected, rel=1e-4)


def test_a_law_is_any_object_with_a_mean_and_quantiles() -> None:
    class Rising:  # density 2x on [0, 1]
        def mean(self) -> float:
            return 2 / 3

        def ppf(self, q: float) -> float:
            return math.sqrt(q)

    class Falling:  # its mirror image
        def mean(self) -> float:
            return 1 / 3

        def ppf(self, q: float) -> float:
            return 1 - math.sqrt(1 - q)

    long_tail = 0.1 * 2 / 3 - 2 / 3 * 0.1**1.5
    assert minimal_bias(0.1, family=Rising()) == pytest.approx(long_tail / 0.9, rel=1e-8)
    assert minimal_bias(0.1, family=Falling()) == pytest.approx(long_tail / 0.9, rel=1e-8)


def test_the_bias_of_a_heavy_tail_far_out() -> None:
    assert minimal_bias(1e-20, family=stats.pareto(1.2)) == pytest.approx(6 * 1e-20 ** (1 / 6), rel=1e-6)


def test_a_gaussian_looking_law_gives_the_truncated_normal() -> None:
    assert minimal_bias(0.1, family=stats.norm()) == pytest.approx(minimal_bias(0.1, family="sub-gaussian"), rel=1e-9)


# bad input


def bad(**changed: Any) -> Callable[[], object]:
    name = changed.pop("call")
    defaults: dict[str, dict[str, Any]] = {
        "exploration_pulls": {"alpha": 0.05, "delta": 0.1},
        "gap_radius": {"pulls": 9, "t": 99, "arms": 4, "delta": 0.1, "epsilon": 0.1, "sigma": 1.0},
        "elimination_radius": {"t": 99, "arms": 4, "delta": 0.1, "epsilon": 0.1, "sigma": 1.0},
        "complexity": {"means": PAPER_MEANS},
        "characteristic_time": {"means": PAPER_MEANS},
        "optimal_proportions": {"means": PAPER_MEANS},
        "lower_bound": {"means": PAPER_MEANS, "delta": 0.1},
        "upper_bound": {"means": PAPER_MEANS, "delta": 0.1, "epsilon": 0.1},
        "minimal_bias": {"epsilon": 0.1},
    }
    return lambda: getattr(bestarm.theory.bounds, name)(**{**defaults[name], **changed})


RULES: dict[str, tuple[str, list[Any], list[str]]] = {
    "alpha": ("be in [0, 0.5)", [-0.1, 0.5, math.nan, "0.1", None], ["exploration_pulls"]),
    "delta": (
        "be in (0, 1)",
        [0.0, 1.0, -1, math.nan, True],
        ["exploration_pulls", "gap_radius", "elimination_radius", "lower_bound", "upper_bound"],
    ),
    "epsilon": ("be in [0, 0.5)", [-1e-9, 0.5, 1, math.nan], ["gap_radius", "elimination_radius", "minimal_bias"]),
    "sigma": (
        "be a finite number > 0",
        [0, -1.0, math.inf, math.nan, 10**400, [1.0]],
        ["gap_radius", "elimination_radius", "complexity", "optimal_proportions", "upper_bound", "minimal_bias"],
    ),
    "bias": ("be a finite number >= 0", [-0.1, math.inf, math.nan], ["complexity", "lower_bound", "upper_bound"]),
    "power": ("be a finite number > 1", [1, 0.5, math.inf, math.nan], ["gap_radius", "upper_bound"]),
    "pulls": ("be a finite number >= 1", [0, 0.5, math.inf, -3], ["gap_radius"]),
    "t": ("be a finite number >= 1", [0, 0.5, math.inf, -3], ["gap_radius", "elimination_radius"]),
    "arms": ("be a whole number >= 2", [1, 2.5, math.inf, -4, True, "4"], ["gap_radius", "elimination_radius"]),
    "means": (
        "be at least two finite numbers",
        [[], [1.0], 3.0, [1.0, math.nan], [math.inf, 0.0], [[1.0, 2.0], [3.0]], [[1, 2], [3, 4]], ["a", "b"], None],
        ["complexity", "characteristic_time", "optimal_proportions", "lower_bound", "upper_bound"],
    ),
    "bounds": (
        "be finite, low < high, with family='bounded' only",
        [(0.0, 1.0), (0.0, 1.0, 2.0), (1.0, 0.0)],
        ["minimal_bias"],
    ),
    "threshold": ("be one of theory, empirical", ["practice", None], ["gap_radius"]),
    "method": ("be one of g-cbai, se-cbai", ["certified", 3], ["upper_bound"]),
    "family": (
        "be one of gaussian, sub-gaussian, bounded or have the methods mean and ppf",
        ["laplace", 3, None, np.zeros(3)],
        ["minimal_bias"],
    ),
}


@pytest.mark.parametrize(
    ("parameter", "rule", "value", "call"),
    [(name, rule, value, call) for name, (rule, values, calls) in RULES.items() for value in values for call in calls],
    ids=lambda value: f"{value!r:.30}",
)
def test_bad_input_is_refused_by_name(parameter: str, rule: str, value: Any, call: str) -> None:
    with pytest.raises(InputError) as caught:
        bad(call=call, **{parameter: value})()
    assert str(caught.value).startswith(f"{parameter} must {rule}, got {value!r:.117}")
    assert caught.value.fix


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (bad(call="exploration_pulls", kind="bernstein"), "kind must be one of hoeffding, chernoff, got 'bernstein'"),
        (bad(call="lower_bound", kind="upper"), "kind must be one of paper, characteristic, got 'upper'"),
        (bad(call="upper_bound", epsilon=0), "epsilon must be in (0, 0.5), got 0.0: the paper's upper bounds are for"),
        (bad(call="upper_bound", epsilon=0.5), "epsilon must be in [0, 0.5), got 0.5: half of the rewards"),
        (bad(call="minimal_bias", family="bounded", bounds=(1, 1)), "bounds must be finite, low < high, with family"),
        (
            bad(call="minimal_bias", family="bounded", bounds=(0, math.inf)),
            "bounds must be finite, low < high, with family",
        ),
        (
            bad(call="minimal_bias", family=stats.expon(), bounds=(0, 1)),
            "bounds must be finite, low < high, with family",
        ),
        (bad(call="minimal_bias", family=stats.cauchy()), "family must have a finite mean and finite quantiles, got"),
        (bad(call="minimal_bias", family=stats.pareto(0.9)), "family must have a finite mean and finite quantiles"),
    ],
)
def test_bad_input_is_refused_with_the_reason(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_numpy_numbers_and_arrays_are_numbers() -> None:
    sigma: Any = np.float32(2.0)
    assert complexity(np.array([3, 1], dtype=np.int32), sigma) == 4.0
    assert complexity([np.float32(3.0), np.float32(1.0)]) == 1.0
    assert complexity(np.array([3, 1], dtype=np.float16)) == 1.0
