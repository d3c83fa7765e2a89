from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, optimize, stats

from bestarm import theory
from bestarm.bandits import Adversary, adversaries, attacks
from bestarm.bandits.arms import Gaussian
from bestarm.errors import InputError
from bestarm.theory import information_bound
from bestarm.theory.bounds import characteristic_time, contaminated_bound, minimal_bias

MEANS = [2.5, 1.5, 1.0, 0.6]
ARMS = [Gaussian(mean) for mean in MEANS]
ATTACKS: dict[str, Adversary] = {
    "uniform": attacks.benign(ARMS),
    "gross": attacks.one_sided_gross(ARMS),
    "hidden": attacks.hidden(ARMS),
    "mirror": attacks.mirror(ARMS),
}


def entropy(delta: float) -> float:
    return delta * math.log(delta / (1 - delta)) + (1 - delta) * math.log((1 - delta) / delta)


def normal(means: Sequence[float], epsilon: float, adversary: Any = None, **others: Any) -> float:
    return contaminated_bound(
        means, **{"epsilon": epsilon, "delta": 0.1, "sigma": 1.0, "adversary": adversary} | others
    )


def bounded(means: Sequence[float], epsilon: float, adversary: Any = None, **others: Any) -> float:
    return contaminated_bound(
        means, **{"epsilon": epsilon, "delta": 0.05, "bounds": (0, 1), "adversary": adversary} | others
    )


def least_kl(observed: Callable[[float], float], floor: Callable[[float], float], far: float, epsilon: float) -> float:
    """KL of an observed density, and a mass far away, to the closest law with at least a density: by bisection."""
    settings: dict[str, Any] = {"limit": 500, "epsabs": 1e-12, "epsrel": 1e-10}

    def total(f: Callable[[float], float]) -> float:
        return math.fsum(integrate.quad(f, a, a + 1.0, **settings)[0] for a in np.arange(-9.0, 11.0))

    def excess(share: float) -> float:
        return total(lambda x: max(floor(x), share * observed(x))) + share * far - 1.0

    share = float(optimize.brentq(excess, epsilon / 2, 1.0, xtol=1e-13))
    cost = total(lambda x: observed(x) * math.log(observed(x) / max(floor(x), share * observed(x))))
    return cost - far * math.log(share)


def density(x: float, mean: float = 0.0) -> float:
    return math.exp(-((x - mean) ** 2) / 2) / math.sqrt(2 * math.pi)


# without contamination


@settings(deadline=None, max_examples=30)
@given(
    means=st.lists(st.floats(-10.0, 10.0), min_size=2, max_size=10).filter(
        lambda means: sorted(means)[-1] - sorted(means)[-2] > 1e-6
    ),
    sigma=st.floats(1e-3, 1e3),
    delta=st.floats(1e-9, 0.49),
    family=st.sampled_from(["gaussian", "sub-gaussian"]),
)
def test_without_contamination_it_is_the_characteristic_time(
    means: list[float], sigma: float, delta: float, family: str
) -> None:
    bound = contaminated_bound(
        means, epsilon=0.0, delta=delta, sigma=sigma, family=family, adversary=[None] * len(means)
    )
    assert bound == pytest.approx(characteristic_time(means, sigma) * entropy(delta), rel=1e-6)
    assert bound == pytest.approx(theory.lower_bound(means, delta, sigma=sigma, kind="characteristic"), rel=1e-6)


@pytest.mark.parametrize("family", ["gaussian", "sub-gaussian"])
def test_a_little_contamination_changes_little(family: str) -> None:
    assert normal([1.0, 0.0], 1e-9, family=family) == pytest.approx(8 * entropy(0.1), rel=2e-3)


# numbers


@pytest.mark.parametrize(
    ("epsilon", "attack", "at_tenth", "at_hundredth"),
    [
        (0.05, "uniform", 29.03, 74.4),
        (0.05, "gross", 22.10, 56.6),
        (0.05, "hidden", 22.10, 56.6),  # a value that repeats is no normal reward: as good as gross
        (0.1, "uniform", 43.06, 110.3),
        (0.1, "gross", 25.65, 65.7),
        (0.1, "hidden", 25.65, 65.7),
        (0.1, "mirror", 86.90, 222.6),
    ],
)
def test_bounds_of_the_gaussian_class(epsilon: float, attack: str, at_tenth: float, at_hundredth: float) -> None:
    assert normal(MEANS, epsilon, ATTACKS[attack]) == pytest.approx(at_tenth, rel=1e-3)
    assert normal(MEANS, epsilon, ATTACKS[attack], delta=0.01) == pytest.approx(at_hundredth, rel=1e-3)


@pytest.mark.parametrize(
    ("epsilon", "attack", "at_tenth", "at_hundredth"),
    [
        (0.05, "gross", 23.49, 60.2),
        (0.05, "hidden", 46.7, 119.7),
        (0.1, "uniform", 59.9, 153.4),
        (0.1, "gross", 28.07, 71.9),
        (0.1, "hidden", 207.4, 531.4),
        (0.1, "mirror", 198.2, 507.9),
    ],
)
def test_bounds_of_the_sub_gaussian_class(epsilon: float, attack: str, at_tenth: float, at_hundredth: float) -> None:
    bound = normal(MEANS, epsilon, ATTACKS[attack], family="sub-gaussian")
    assert bound == pytest.approx(at_tenth, rel=2e-3)
    assert bound * entropy(0.01) / entropy(0.1) == pytest.approx(at_hundredth, rel=2e-3)
    assert bound > normal(MEANS, epsilon, ATTACKS[attack])


@pytest.mark.parametrize(
    ("means", "epsilon", "pulls"),
    [
        ([0.06, 0.05], 0.0, 11_002),
        ([0.02, 0.01], 0.0, 3_064),
        ([0.8, 0.75, 0.70, 0.66, 0.6, 0.5], 0.0, 1_678),
        ([0.5, 0.3], 0.02, 208),
        ([0.5, 0.3], 0.05, 626),
        ([0.86, 0.74, 0.7, 0.66, 0.6, 0.5], 0.02, 732),
    ],
)
def test_bounds_of_bounded_rewards(means: list[float], epsilon: float, pulls: int) -> None:
    assert bounded(means, epsilon, [0, *[1] * (len(means) - 1)]) == pytest.approx(pulls, rel=1e-3, abs=0.5)


# against other ways to compute them


@pytest.mark.parametrize("gap", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("attack", ["none", "gross", "mirror"])
def test_two_normal_arms_alike_take_the_inverse_of_the_divergence_half_way(gap: float, attack: str) -> None:
    epsilon = 0.1
    observed: dict[str, tuple[Any, Callable[[float], float], float]] = {
        "none": (None, density, 0.0),
        "gross": ([-math.inf, math.inf], lambda x: 0.9 * density(x), 0.1),
        "mirror": (adversaries.Gaussian([gap - 2, 2]), lambda x: 0.9 * density(x) + 0.1 * density(x, 2), 0.0),
    }
    adversary, law, far = observed[attack]
    divergence = least_kl(law, lambda x: (1 - epsilon) * density(x, gap / 2), far, epsilon)
    assert normal([gap, 0.0], epsilon, adversary) == pytest.approx(entropy(0.1) / divergence, rel=1e-3)


def test_no_point_of_a_grid_on_the_simplex_beats_the_bound() -> None:
    means, epsilon = np.array([0.86, 0.74, 0.7]), 0.02
    p = (1 - epsilon) * means + epsilon * np.array([0, 1, 1])
    grid = np.arange(1, 60) / 60
    first, second = np.meshgrid(grid, grid, indexing="ij")
    inside = first + second < 1
    weights = np.stack([first[inside], second[inside], 1 - first[inside] - second[inside]])

    def kl(p: float, q: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))

    rates = []
    for a in (1, 2):
        m = np.linspace(means[a], means[0], 2001)
        most, least = (1 - epsilon) * m + epsilon, (1 - epsilon) * m
        down = kl(p[0], np.minimum(most, p[0]))
        up = kl(p[a], np.maximum(least, p[a]))
        rates.append(np.min(weights[0][:, None] * down + weights[a][:, None] * up, axis=1))
    best = entropy(0.05) / np.min(rates, axis=0).max()
    assert 0.99 * best <= bounded(means.tolist(), epsilon, [0, 1, 1]) <= best


@pytest.mark.parametrize("d", [0.5, 1.0])
@pytest.mark.parametrize(
    ("kind", "centre", "width"), [("none", 0, 0), ("point", 1.5, 0), ("point", math.inf, 0), ("gaussian", 2, 1)]
)
def test_no_bet_does_better_against_sub_gaussian_laws(kind: str, centre: float, width: float, d: float) -> None:
    # Read off the multipliers, Q = (1-eps) F + eps H is as close as the bet says, to 1e-3, and F is sub-Gaussian of
    # scale 1.001 and mean d: any law of the class gives an upper bound on the infimum, any bet a lower one.
    epsilon = 0.1
    law = information_bound._Law(kind, centre, width)
    coarse, fine = (information_bound._observed(law, epsilon, 1.0, panel) for panel in (0.2, 0.05))
    found = information_bound._best_bet(coarse, fine, epsilon, d)
    rates = np.concatenate([-(1.05 ** np.arange(-30, 50)), 1.05 ** np.arange(-30, 50)])
    price = np.concatenate([[epsilon, 1 - epsilon, 0.0], np.full(rates.size, 1 - epsilon)])
    basis = information_bound._basis(coarse.x - d, rates)
    mass = np.maximum(coarse.mass, 1e-13)
    _, fakes, clean = information_bound._search(mass, basis, coarse.far, price)
    far = 1 - fakes.sum() - clean.sum()
    divergence = np.sum(mass * np.log(mass / (fakes + clean))) + (
        coarse.far * math.log(coarse.far / far) if far > 0.01 else 0
    )
    assert clean.sum() == pytest.approx(1 - epsilon, rel=1e-3)
    assert found == pytest.approx(divergence, rel=3e-3)
    clean /= clean.sum()
    y = coarse.x - d
    assert clean @ y == pytest.approx(0.0, abs=1e-4)
    s = np.concatenate([np.linspace(-8, -0.05, 160), np.linspace(0.05, 8, 160)])
    assert np.max(np.log(np.exp(np.outer(s, y)) @ clean) / (s**2 / 2)) <= 1.002


def test_truncated_normals_are_no_closer_than_the_bets_say() -> None:
    # N(loc, 1) above a cut is as strongly log-concave as the whole, hence 1-sub-Gaussian: an explicit alternative
    epsilon, gap = 0.1, 1.0
    bound = normal([gap, 0.0], epsilon, family="sub-gaussian")
    for cut, closer in ((-1.5, 0.85), (-1.11, 0.95), (-0.8, 0.6)):
        loc = float(
            optimize.brentq(lambda loc, c=cut: loc + density(c - loc) / stats.norm.sf(c - loc) - gap / 2, -5.0, gap)
        )
        scale = (1 - epsilon) / stats.norm.sf(cut - loc)
        x = np.linspace(-9, 10, 100_001)
        p, floor = (
            stats.norm.pdf(x) * (x[1] - x[0]),
            np.where(x > cut, scale * stats.norm.pdf(x - loc), 0) * (x[1] - x[0]),
        )
        share = float(optimize.brentq(lambda t, f=floor, p=p: np.maximum(f, t * p).sum() - 1, 0.01, 1.0))
        pulls = entropy(0.1) / np.sum(p * np.log(p / np.maximum(floor, share * p)))
        assert closer * bound <= pulls <= bound


# what can't be told apart


class Worst:
    """Fakes that make two normal arms look the same, like the larger of both densities and what is missing to 1."""

    def __init__(self, mean: float, other: float, epsilon: float) -> None:
        self.mean, self.other, self.epsilon = mean, other, epsilon

    def pdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        own, other = stats.norm.pdf(x, self.mean), stats.norm.pdf(x, self.other)
        mixed = (1 - self.epsilon) * np.maximum(own, other)
        missing = 1 - (1 - self.epsilon) * 2 * stats.norm.cdf(abs(self.mean - self.other) / 2)
        mixed += missing * stats.norm.pdf(x, (self.mean + self.other) / 2)
        return np.asarray((mixed - (1 - self.epsilon) * own) / self.epsilon)


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("share", [0.5, 0.99])
def test_normal_arms_closer_than_twice_the_bias_can_be_made_the_same(epsilon: float, share: float) -> None:
    gap = share * 2 * minimal_bias(epsilon)
    worst = [Worst(gap, 0.0, epsilon), Worst(0.0, gap, epsilon)]
    assert normal([gap, 0.0], epsilon, worst) == math.inf
    assert math.isfinite(normal([gap, 0.0], epsilon))
    if epsilon == 0.1:
        assert normal([gap, 0.0], epsilon, worst, family="sub-gaussian") == math.inf


def test_what_looks_normal_may_be_a_truncated_sub_gaussian() -> None:
    epsilon = 0.1
    hidden = 2 * minimal_bias(epsilon, family="sub-gaussian")
    assert normal([0.99 * hidden, 0.0], epsilon, family="sub-gaussian") == math.inf
    assert 100 < normal([1.1 * hidden, 0.0], epsilon, family="sub-gaussian") < math.inf


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.2])
def test_two_valued_arms_have_a_gap_that_fakes_hide(epsilon: float) -> None:
    # observed (1-eps) mu_b and (1-eps) mu_a + eps: with fakes on the other side, means eps/(1-eps) lower and higher
    hidden = epsilon / (1 - epsilon)
    assert bounded([0.3 + hidden, 0.3], epsilon, [0, 1]) == math.inf
    assert bounded([0.3 + 1.999 * hidden, 0.3], epsilon, [0, 1]) == math.inf
    assert bounded([0.3 + 2.001 * hidden, 0.3], epsilon, [0, 1]) < math.inf
    assert bounded([0.3 + 0.999 * epsilon, 0.3], epsilon) == math.inf  # nothing is replaced, and the method can't know
    assert bounded([0.3 + 1.001 * epsilon, 0.3], epsilon) < math.inf


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_a_tie_has_no_best_arm(epsilon: float) -> None:
    assert normal([1.0, 0.0, 1.0], epsilon) == math.inf
    assert normal([1.0, 0.0, 1.0], epsilon, family="sub-gaussian") == math.inf
    assert bounded([0.5, 0.0, 0.5], epsilon) == math.inf


def test_tossing_a_coin_is_free() -> None:
    assert normal([1.0, 0.0], 0.1, delta=0.5) == 0.0
    assert normal([1.0, 1.0], 0.1, delta=0.7) == 0.0


def test_rewards_far_apart_say_no_more_than_that_they_are_not_fakes() -> None:
    # any reward may be a fake: log(1/eps) each, of either arm
    assert normal([1e3, 0.0], 0.1) == pytest.approx(2 * entropy(0.1) / math.log(10), rel=1e-3)
    assert normal([1e299, -1e299], 0.1) == pytest.approx(2 * entropy(0.1) / math.log(10), rel=1e-3)
    assert normal([1e3, 0.0], 0.1, family="sub-gaussian") == pytest.approx(2 * entropy(0.1) / math.log(10), rel=1e-3)


def test_an_arm_that_never_pays() -> None:
    # a single 1 shows that the mean is not 0; found by the best of a grid over the share of the second arm
    def rate(w: float) -> float:
        q = np.linspace(1e-6, 0.5, 200_001)
        down = 0.5 * np.log(0.5 / q) + 0.5 * np.log(0.5 / (1 - q))
        return float(np.min((1 - w) * down - w * np.log1p(-q)))

    best = max(rate(w) for w in np.linspace(0.3, 0.7, 101))
    assert bounded([0.5, 0.0], 0.0) == pytest.approx(entropy(0.05) / best, rel=1e-3)


def test_fakes_that_pass_for_clean_rewards_are_an_alternative() -> None:
    # 0.52 N(0) and 0.48 N(9) of both: the clean rewards may be either
    bound = normal([0.0, -5.0], 0.48, adversaries.Gaussian([-9.0, 4.0]))
    swapped = 0.52 * math.log(0.52 / 0.48) + 0.48 * math.log(0.48 / 0.52)
    assert bound == pytest.approx(2 * entropy(0.1) / swapped, rel=0.01)


# invariance


@pytest.mark.parametrize("family", ["gaussian", "sub-gaussian"])
def test_units_and_order_do_not_matter(family: str) -> None:
    here = normal([1.0, 0.0, -0.5], 0.1, adversaries.Point([-0.5, 1.5, 1.0]), family=family)
    there = normal([20.0, 50.0, 5.0], 0.1, adversaries.Point([65.0, 5.0, 50.0]), sigma=30.0, family=family)
    assert there == pytest.approx(here, rel=1e-6)


def test_bounds_are_units_too() -> None:
    here = bounded([0.5, 0.3, 0.2], 0.03, [0, 1, 1])
    there = bounded([-1.0, 1.0, -2.0], 0.03, adversaries.Point([6.0, -4.0, 6.0]), bounds=(-4, 6))
    assert there == pytest.approx(here, rel=1e-9)


@pytest.mark.parametrize("attack", ATTACKS)
def test_more_contamination_needs_more_pulls(attack: str) -> None:
    bounds = [normal(MEANS, epsilon, ATTACKS[attack]) for epsilon in (0.0, 0.001, 0.01, 0.05, 0.1, 0.2)]
    assert all(one < other for one, other in itertools.pairwise(bounds))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (adversaries.Reflect([0.5, 0.0]), adversaries.Gaussian([0.0, 0.0])),
        (adversaries.Shift([-2.0, 1.0]), adversaries.Gaussian([-1.0, 1.0])),
        (adversaries.Impersonate([1, 0]), adversaries.Gaussian([0.0, 1.0])),
        (adversaries.Gaussian([-1.0, 1.0], 0.7), [stats.norm(-1, 0.7), stats.norm(1, 0.7)]),
        (adversaries.Gaussian([-1.0, 1.0], 1e-5), adversaries.Uniform([-1.0, 1.0], 1e-5)),
        (adversaries.Gaussian([-1.0, 1.0], 0.0), [-1.0, 1]),
        (adversaries.Uniform([-1.0, 1.0], 0.0), adversaries.Point([-1.0, 1.0])),
        (adversaries.Point(1000.0), [-math.inf, 1e200]),
    ],
)
def test_one_law_has_many_names(one: Any, other: Any) -> None:
    assert normal([1.0, 0.0], 0.1, one) == pytest.approx(normal([1.0, 0.0], 0.1, other), rel=3e-3)


def test_an_arm_may_be_left_alone() -> None:
    both, none = normal([1.0, 0.0], 0.1, adversaries.Gaussian([-1.0, 2.0])), normal([1.0, 0.0], 0.1)
    assert none < normal([1.0, 0.0], 0.1, [None, stats.norm(2)]) < both
    assert normal([1.0, 0.0], 0.1, [stats.norm(1), stats.norm(0)]) == pytest.approx(none, rel=1e-6)  # fakes are clean


def test_two_valued_arms_may_impersonate() -> None:
    assert bounded([0.5, 0.3], 0.1, adversaries.Impersonate([0, 1])) == bounded([0.5, 0.3], 0.1)
    swapped = bounded([0.5, 0.3], 0.1, adversaries.Impersonate([1, 0]))
    assert bounded([0.5, 0.3], 0.1) < swapped < bounded([0.5, 0.3], 0.1, [0, 1])


# bad input


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"means": [1.0]}, "means must be at least two finite numbers, got [1.0]"),
        ({"epsilon": 0.5}, "epsilon must be in [0, 0.5), got 0.5"),
        ({"delta": 0}, "delta must be in (0, 1), got 0"),
        ({"sigma": -1.0}, "sigma must be a finite number > 0, got -1.0"),
        ({"sigma": None}, "sigma must be given, or bounds, and not both, got 'neither'"),
        ({"bounds": (0, 1)}, "sigma must be given, or bounds, and not both, got 'sigma=1.0 and bounds=(0, 1)'"),
        ({"sigma": None, "bounds": (1, 0)}, "bounds must be two finite numbers, low < high, got (1, 0)"),
        ({"sigma": None, "bounds": (0, 1)}, "means must lie within the bounds, got [2.5, 0.0]"),
        (
            {"sigma": None, "bounds": (0, 3), "family": "gaussian"},
            "family must be left out with bounds, got 'gaussian'",
        ),
        ({"family": "bounded"}, "family must be one of gaussian, sub-gaussian, got 'bounded'"),
        ({"adversary": [1.0]}, "adversary must be one of bestarm.adversaries or have 2 entries, got [1.0]"),
        ({"adversary": "ab"}, "adversary must be one of bestarm.adversaries or have 2 entries, got 'ab'"),
        ({"adversary": [1.0, "b"]}, "adversary must have numbers, objects with a pdf or None, got 'b'"),
        ({"adversary": [math.nan, 1.0]}, "adversary must have numbers, objects with a pdf or None, got nan"),
        ({"adversary": adversaries.Extreme([-1, 1])}, "adversary must be Point, Uniform, Gaussian, Shift, Reflect or"),
        ({"adversary": adversaries.Drift(0.1, 3.0)}, "adversary must be Point, Uniform, Gaussian, Shift, Reflect or"),
        ({"adversary": adversaries.Selective(adversaries.Point(1.0))}, "adversary must be Point, Uniform, Gaussian,"),
        (
            {"adversary": adversaries.Schedule([(0, adversaries.Point(1.0)), (9, adversaries.Point(2.0))])},
            "adversary must be Point, Uniform, Gaussian, Shift, Reflect or Impersonate, with a fair coin, got",
        ),
        (
            {"adversary": adversaries.Point([1.0, 2.0, 3.0])},
            "adversary must have one value for all or one for each of 2",
        ),
        ({"adversary": adversaries.Impersonate(2)}, "adversary must have targets that are indices below 2, got (2.0,)"),
        (
            {"adversary": [stats.norm(), type("Negative", (), {"pdf": lambda _, x: -x})()]},
            "adversary must have densities",
        ),
        (
            {"sigma": None, "bounds": (0, 3), "adversary": adversaries.Point(1.0)},
            "adversary must play low, high or another arm's rewards, got Adversary",
        ),
    ],
)
def test_bad_input_is_refused_by_name(changed: dict[str, Any], message: str) -> None:
    call: dict[str, Any] = {"means": [2.5, 0.0], "epsilon": 0.1, "delta": 0.1, "sigma": 1.0} | changed
    with pytest.raises(InputError) as caught:
        contaminated_bound(**call)
    assert str(caught.value).startswith(message)
