"""Simulated rewards against their laws: moments, quantiles, sub-Gaussian scales, contamination, and bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

import bestarm as ba
from bestarm import adversaries
from bestarm.bandits.arms import CompiledArm
from bestarm.errors import InputError
from bestarm.kernels.jit.compile import entry_kernel
from bestarm.kernels.rewards.draws import Laws, pull

DRAWS = 200_000
FAR = 5.0  # in standard errors: chance would get there once in two million comparisons, and the seeds are fixed


@entry_kernel
def fill(laws: Laws, rng: np.random.Generator, arm: int, out: NDArray[np.float64]) -> None:
    for t in range(out.size):
        out[t] = pull(laws, rng, arm, t, t)


def drawn(bandit: ba.Bandit, arm: int = 0, seed: int = 1, size: int = DRAWS) -> NDArray[np.float64]:
    out = np.empty(size)
    fill(bandit.laws(), np.random.default_rng(seed), arm, out)
    return out


def two(arm: CompiledArm) -> ba.Bandit:
    return ba.Bandit([arm, ba.Gaussian(0.0)])


# ---------------------------------------------------------------------------------------------------------- the laws

LIGHT: dict[str, tuple[CompiledArm, Any]] = {
    "gaussian": (ba.Gaussian(1.5, 2.0), stats.norm(1.5, 2.0)),
    "bernoulli": (ba.Bernoulli(0.3), stats.bernoulli(0.3)),
    "uniform": (ba.Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
    "exponential": (ba.Exponential(2.5), stats.expon(scale=2.5)),
    "beta": (ba.Beta(2.0, 5.0), stats.beta(2.0, 5.0)),
    "beta, steep": (ba.Beta(0.5, 0.2), stats.beta(0.5, 0.2)),
    "discrete": (
        ba.Discrete([4.0, -1.0, 0.0], [0.2, 0.5, 0.3]),
        stats.rv_discrete(values=([4, -1, 0], [0.2, 0.5, 0.3])),
    ),
    "empirical": (ba.Empirical([1, 5, 2, 2]), stats.rv_discrete(values=([1, 2, 5], [0.25, 0.5, 0.25]))),
}
CONTINUOUS: dict[str, tuple[CompiledArm, Any]] = {
    **{name: LIGHT[name] for name in ("gaussian", "uniform", "exponential", "beta", "beta, steep")},
    "log-normal": (ba.LogNormal(0.5, 0.75), stats.lognorm(0.75, scale=math.exp(0.5))),
    "student": (ba.StudentT(3.0, 1.0, 0.5), stats.t(3.0, 1.0, 0.5)),
    "student, heavy": (ba.StudentT(1.5, -2.0), stats.t(1.5, -2.0)),
}


@pytest.mark.parametrize("name", LIGHT)
def test_mean_and_variance_are_those_of_the_law(name: str) -> None:
    arm, law = LIGHT[name]
    mean, variance, _, excess = (float(value) for value in law.stats(moments="mvsk"))
    rewards = drawn(two(arm))
    assert arm.mean == pytest.approx(mean, rel=1e-14)
    assert abs(rewards.mean() - mean) / math.sqrt(variance / DRAWS) < FAR
    assert abs(rewards.var() - variance) / math.sqrt((excess + 2.0) * variance**2 / DRAWS) < FAR


@pytest.mark.parametrize("name", CONTINUOUS)
def test_quantiles_are_those_of_the_law(name: str) -> None:
    arm, law = CONTINUOUS[name]
    rewards = drawn(two(arm), seed=2)
    assert arm.mean == pytest.approx(float(law.mean()), rel=1e-14)
    for level in (0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999):
        below = (rewards <= law.ppf(level)).mean()
        assert abs(below - level) / math.sqrt(level * (1.0 - level) / DRAWS) < FAR


@pytest.mark.parametrize("name", ["bernoulli", "discrete", "empirical"])
def test_frequencies_are_the_probabilities(name: str) -> None:
    arm, law = LIGHT[name]
    rewards = drawn(two(arm), seed=3)
    values = [0.0, 1.0] if name == "bernoulli" else list(arm.values)
    assert set(rewards.tolist()) == set(values)
    for value in values:
        chance = float(law.pmf(value))
        assert abs((rewards == value).mean() - chance) / math.sqrt(chance * (1.0 - chance) / DRAWS) < FAR


def test_certain_rewards_are_certain() -> None:
    assert set(drawn(two(ba.Bernoulli(0.0)), size=1000).tolist()) == {0.0}
    assert set(drawn(two(ba.Bernoulli(1.0)), size=1000).tolist()) == {1.0}
    assert set(drawn(two(ba.Discrete([3.0, 8.0], [0.0, 1.0])), size=1000).tolist()) == {8.0}
    assert set(drawn(two(ba.Empirical([2.5])), size=1000).tolist()) == {2.5}


def test_discrete_arms_do_not_share_their_values() -> None:
    bandit = ba.Bandit([ba.Discrete([1.0, 2.0], [0.5, 0.5]), ba.Gaussian(0.0), ba.Empirical([7.0, 8.0, 9.0])])
    assert set(drawn(bandit, 0, size=1000).tolist()) == {1.0, 2.0}
    assert set(drawn(bandit, 2, size=1000).tolist()) == {7.0, 8.0, 9.0}


# -------------------------------------------------------------------------------------------------- sub-Gaussian scales

Logarithm = Callable[[float], float]  # of the moment generating function of X - mean


def bernoulli_law(p: float) -> tuple[CompiledArm, Logarithm, float]:
    return ba.Bernoulli(p), lambda s: float(np.logaddexp(np.log1p(-p), np.log(p) + s)) - s * p, p * (1.0 - p)


def gaussian_law(mean: float, sigma: float) -> tuple[CompiledArm, Logarithm, float]:
    return ba.Gaussian(mean, sigma), lambda s: s**2 * sigma**2 / 2.0, sigma**2


def uniform_law(low: float, high: float) -> tuple[CompiledArm, Logarithm, float]:
    half = (high - low) / 2.0

    def logarithm(s: float) -> float:
        return abs(s) * half + math.log(-math.expm1(-2.0 * abs(s) * half) / (2.0 * abs(s) * half))

    return ba.Uniform(low, high), logarithm, half**2 / 3.0


def beta_law(a: float, b: float) -> tuple[CompiledArm, Logarithm, float]:
    mean = a / (a + b)

    def logarithm(s: float) -> float:
        if s < 0.0:  # Kummer: 1F1(a; a + b; s) = e^s 1F1(b; a + b; -s), whose terms are all positive
            return s + math.log(special.hyp1f1(b, a + b, -s)) - s * mean
        return math.log(special.hyp1f1(a, a + b, s)) - s * mean

    return ba.Beta(a, b), logarithm, mean * (1.0 - mean) / (a + b + 1.0)


def discrete_law(values: list[float], weights: list[float]) -> tuple[CompiledArm, Logarithm, float]:
    x, p = np.array(values), np.array(weights)
    centred = x - (x * p).sum()
    return (
        ba.Discrete(values, weights),
        lambda s: float(special.logsumexp(s * centred, b=p)),
        float((p * centred**2).sum()),
    )


def claims() -> list[tuple[CompiledArm, Logarithm, float]]:
    rng = np.random.default_rng(4)
    found = [bernoulli_law(p) for p in (1e-6, 0.01, 0.2, 0.5, 0.9, 1.0 - 1e-6)]
    found += [gaussian_law(-3.0, 0.1), gaussian_law(2.5, 7.0), uniform_law(-1.0, 1.0), uniform_law(5.0, 5.01)]
    found += [beta_law(*rng.uniform(0.05, 1.0, 2).tolist()) for _ in range(8)]
    found += [beta_law(*np.exp(rng.uniform(-1.0, 3.0, 2)).tolist()) for _ in range(8)]
    found += [beta_law(1.0, 1.0), beta_law(30.0, 0.5)]
    for size in (1, 2, 3, 10):
        weights = rng.dirichlet(np.ones(size))
        found.append(discrete_law(rng.normal(0.0, 3.0, size).tolist(), weights.tolist()))
    return found


@pytest.mark.parametrize("place", range(len(claims())))
def test_sigma_bounds_the_moment_generating_function(place: int) -> None:
    """log E exp(s (X - mu)) <= s^2 sigma^2 / 2, for s from far below 1 / sigma to far above, on both sides."""
    arm, logarithm, variance = claims()[place]
    assert arm.sigma is not None
    assert arm.sigma**2 >= variance * (1.0 - 1e-12)  # no law has a scale below its standard deviation
    for size in np.geomspace(1e-2, 30.0, 60) / (arm.sigma or 1.0):
        for s in (size, -size):
            bound = s**2 * arm.sigma**2 / 2.0
            assert logarithm(s) <= bound + 1e-11 * (1.0 + abs(s * arm.mean))


def test_scales_that_cannot_be_smaller() -> None:
    assert ba.Gaussian(0.0, 0.7).sigma == 0.7
    assert ba.Bernoulli(0.5).sigma == 0.5  # its standard deviation
    assert ba.Uniform(2.0, 5.0).sigma == pytest.approx(math.sqrt(9.0 / 12.0), rel=1e-15)
    assert ba.Beta(1.0, 1.0).sigma == pytest.approx(math.sqrt(1.0 / 12.0), rel=1e-15)  # as Uniform(0, 1)
    assert ba.Discrete([-3.0, 5.0], [0.5, 0.5]).sigma == 4.0


def test_heavy_tails_have_no_scale() -> None:
    assert [arm.sigma for arm in (ba.Exponential(1.0), ba.LogNormal(0.0, 1.0), ba.StudentT(5.0))] == [None] * 3


# ----------------------------------------------------------------------------------------------- bit for bit with NumPy


def test_gaussian_rewards_are_those_of_numpy() -> None:
    stream = ba.Bandit([ba.Gaussian(2.5, 0.3), ba.Gaussian(-1.0, 2.0)]).stream(7)
    rng, order = np.random.default_rng(7), np.random.default_rng(8)
    for arm in order.integers(2, size=3000).tolist():
        mean, sigma = ((2.5, 0.3), (-1.0, 2.0))[arm]
        assert stream.pull(arm) == mean + sigma * rng.standard_normal()


CUMULATED = np.cumsum([0.5, 0.3, 0.2])  # of the values -1, 0 and 4
CLEAN: dict[str, tuple[CompiledArm, Callable[[np.random.Generator], float]]] = {
    "gaussian": (ba.Gaussian(1.5, 2.0), lambda rng: 1.5 + 2.0 * rng.standard_normal()),
    "bernoulli": (ba.Bernoulli(0.3), lambda rng: 1.0 if rng.random() < 0.3 else 0.0),
    "uniform": (ba.Uniform(-1.0, 3.0), lambda rng: -1.0 + 4.0 * rng.random()),
    "exponential": (ba.Exponential(2.5), lambda rng: 2.5 * rng.standard_exponential()),
    "log-normal": (ba.LogNormal(0.5, 0.75), lambda rng: math.exp(0.5 + 0.75 * rng.standard_normal())),
    "beta": (ba.Beta(2.0, 5.0), lambda rng: rng.beta(2.0, 5.0)),
    "student": (ba.StudentT(3.0, 1.0, 0.5), lambda rng: 1.0 + 0.5 * rng.standard_t(3.0)),
    "discrete": (
        ba.Discrete([4.0, -1.0, 0.0], [0.2, 0.5, 0.3]),
        lambda rng: float([-1.0, 0.0, 4.0][int(np.searchsorted(CUMULATED, rng.random(), side="right"))]),
    ),
}
FALSE: dict[str, tuple[Any, Callable[[np.random.Generator, float], float]]] = {
    "point": (adversaries.Point(100.0), lambda rng, clean: 100.0),
    "uniform": (adversaries.Uniform(100.0, 2.5), lambda rng, clean: 100.0 + 2.5 * (2.0 * rng.random() - 1.0)),
    "gaussian": (adversaries.Gaussian(100.0, 2.5), lambda rng, clean: 100.0 + 2.5 * rng.standard_normal()),
    "two points": (adversaries.TwoPoints(100.0, -9.0, 0.25), lambda rng, clean: 100.0 if rng.random() < 0.25 else -9.0),
}


@pytest.mark.parametrize("attack", [*FALSE, "shift"])
@pytest.mark.parametrize("law", CLEAN)
def test_a_stream_is_a_coin_and_then_one_of_two_draws(law: str, attack: str) -> None:
    """The coin is rng.random() < epsilon; the adversary draws as it says, and Shift moves a clean draw."""
    arm, clean = CLEAN[law]
    adversary, false = FALSE.get(attack, (adversaries.Shift(100.0), lambda rng, reward: clean(rng) + 100.0))
    stream = ba.Bandit([ba.Gaussian(0.0), arm], epsilon=0.3, adversary=adversary).stream(11)
    rng = np.random.default_rng(11)
    hit = 0
    for _ in range(1000):
        if rng.random() < 0.3:
            expected = false(rng, math.nan)
            hit += 1
        else:
            expected = clean(rng)
        got = stream.pull(1)
        assert got == expected if law != "log-normal" else got == pytest.approx(expected, rel=1e-15)
    assert 200 < hit < 400


def test_the_compiled_loop_and_the_stream_draw_alike() -> None:
    bandit = ba.Bandit([ba.Gaussian(1.0), ba.Beta(2.0, 3.0)], epsilon=0.2, adversary=adversaries.Uniform([5.0, 7.0]))
    for arm in (0, 1):
        stream = bandit.stream(3)
        assert drawn(bandit, arm, seed=3, size=500).tolist() == [stream.pull(arm) for _ in range(500)]


def test_streams_are_repeatable_from_every_kind_of_seed() -> None:
    bandit = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)], epsilon=0.2, adversary=adversaries.Point(3.0))
    first = [bandit.stream(5).pull(0), bandit.stream(5).pull(0)]
    assert first[0] == first[1]
    streams = [bandit.stream(5), bandit.stream(np.random.SeedSequence(5)), bandit.stream(np.random.default_rng(5))]
    pulled = [[stream.pull(t % 2) for t in range(200)] for stream in streams]
    assert pulled[0] == pulled[1] == pulled[2]
    other = bandit.stream(6)
    assert [other.pull(t % 2) for t in range(200)] != pulled[0]


@pytest.mark.parametrize("seed", [None, -1, 1.5, "7"], ids=repr)
def test_streams_and_adversaries_need_a_seed_that_can_be_repeated(seed: Any) -> None:
    """None would take one from the operating system."""
    with pytest.raises(InputError, match=r"^seed must .*, got .*: "):
        two(ba.Gaussian(1.0)).stream(seed)
    with pytest.raises(InputError, match=r"^seed must .*, got .*: "):
        ba.paper_adversary([1.0, 0.0], 0.1, seed)


# -------------------------------------------------------------------------------------------------------- contamination


@pytest.mark.parametrize("epsilon", [0.001, 0.01, 0.1, 0.3, 0.49])
def test_contamination_has_the_frequency_epsilon(epsilon: float) -> None:
    bandit = ba.Bandit([ba.Gaussian(0.0), ba.Gaussian(0.0)], epsilon=epsilon, adversary=adversaries.Point(1e6))
    rewards = drawn(bandit, seed=6)
    share = (rewards == 1e6).mean()
    assert abs(share - epsilon) / math.sqrt(epsilon * (1.0 - epsilon) / DRAWS) < FAR
    clean = rewards[rewards != 1e6]
    assert abs(clean.mean()) * math.sqrt(clean.size) < FAR  # what is left is untouched
    assert abs(clean.var() - 1.0) * math.sqrt(clean.size / 2.0) < FAR


def false_rewards(adversary: Any, arm: int) -> NDArray[np.float64]:
    """Contaminated rewards alone: clean ones are 0."""
    rewards = drawn(ba.Bandit([ba.Discrete([0.0], [1.0])] * 3, epsilon=0.4, adversary=adversary), arm, seed=7)
    return np.asarray(rewards[rewards != 0.0])


@pytest.mark.parametrize("arm", range(3))
def test_adversaries_give_what_they_say(arm: int) -> None:
    centre = [10.0, -20.0, 3000.0][arm]
    assert set(false_rewards(adversaries.Point([10.0, -20.0, 3000.0]), arm)) == {centre}
    assert set(false_rewards(adversaries.Shift([10.0, -20.0, 3000.0]), arm)) == {centre}
    assert set(false_rewards(adversaries.Uniform([10.0, -20.0, 3000.0], 0.0), arm)) == {centre}
    assert set(false_rewards(adversaries.Gaussian([10.0, -20.0, 3000.0], 0.0), arm)) == {centre}
    even = false_rewards(adversaries.Uniform([10.0, -20.0, 3000.0], 4.0), arm) - centre
    assert -4.0 <= even.min() < -3.99
    assert 3.99 < even.max() <= 4.0
    assert abs(even.mean()) / (4.0 / math.sqrt(3.0 * even.size)) < FAR
    assert abs(even.var() - 16.0 / 3.0) / (16.0 / 3.0 * math.sqrt(0.8 / even.size)) < FAR  # excess kurtosis -1.2
    normal = false_rewards(adversaries.Gaussian([10.0, -20.0, 3000.0], 2.0), arm) - centre
    assert abs(normal.mean()) / (2.0 / math.sqrt(normal.size)) < FAR
    assert abs(normal.var() - 4.0) / (4.0 * math.sqrt(2.0 / normal.size)) < FAR


def test_one_value_serves_all_arms() -> None:
    for arm in range(3):
        assert set(false_rewards(adversaries.Point(5.0), arm)) == {5.0}


def test_without_an_adversary_all_rewards_are_clean() -> None:
    """And the coin is not even tossed, so the stream is that of epsilon = 0."""
    arms = [ba.Gaussian(1.0), ba.Gaussian(0.0)]
    plain = drawn(ba.Bandit(arms), seed=9, size=5000).tolist()
    assert drawn(ba.Bandit(arms, epsilon=0.4), seed=9, size=5000).tolist() == plain
    assert drawn(ba.Bandit(arms, epsilon=0.0, adversary=adversaries.Point(1e6)), seed=9, size=5000).tolist() == plain
    assert [ba.Bandit(arms, epsilon=0.4).epsilon, ba.Bandit(arms).epsilon] == [0.4, 0.0]  # what a method is told


@pytest.mark.parametrize("by", ["total", "arm"])
@pytest.mark.parametrize("seed", range(20))
def test_a_schedule_changes_at_the_stated_pull(by: str, seed: int) -> None:
    """Pieces from pulls 0, 40 and 41 on. Every coin is known, so what each pull must give is, too."""
    pieces = [(0, adversaries.Point([1.0, 10.0])), (40, adversaries.Shift(2.0)), (41, adversaries.Point([3.0, 30.0]))]
    bandit = ba.Bandit(
        [ba.Discrete([0.0], [1.0]), ba.Discrete([0.5], [1.0])],
        epsilon=0.49,
        adversary=adversaries.Schedule(pieces, by=by),
    )
    stream, rng, order = bandit.stream(seed), np.random.default_rng(seed), np.random.default_rng(seed + 1000)
    pulls = [0, 0]
    for t, arm in enumerate(order.integers(2, size=130).tolist()):
        expected = (0.0, 0.5)[arm]
        if rng.random() < 0.49:
            time = t if by == "total" else pulls[arm]
            if time == 40:
                rng.random()  # the clean draw that Shift moves
                expected += 2.0
            else:
                expected = ((1.0, 10.0) if time < 40 else (3.0, 30.0))[arm]
        else:
            rng.random()
        assert stream.pull(arm) == expected
        pulls[arm] += 1


# ------------------------------------------------------------------------------------------------ the paper's adversary


@pytest.mark.parametrize(
    ("means", "epsilon"),
    [
        ([2.5, 2.3, 2.0, 0.6], 0.1),
        ([2.5, 2.3, 2.0, 0.6], 0.4),
        ([0.0, 1.0], 0.2),
        ([0.3, 0.1, 0.9, 0.85, 0.2, 0.5], 0.25),
    ],
    ids=str,
)
def test_the_paper_adversary_leaves_the_best_arm_the_best(means: list[float], epsilon: float) -> None:
    """Reading #17: uniform around centres in [min - 1, max + 1]; each contaminated gap at least half the true one."""
    mu = np.array(means)
    best = int(mu.argmax())
    drawn_centres, first_try = [], 0
    for seed in range(300):
        (piece,) = ba.paper_adversary(means, epsilon, seed).pieces
        centres = np.array(piece.a)
        assert (piece.b, piece.begin) == ((1.0,), 0)
        assert centres.shape == mu.shape
        assert centres.min() >= mu.min() - 1.0
        assert centres.max() <= mu.max() + 1.0
        mixed = (1.0 - epsilon) * mu + epsilon * centres
        assert int(mixed.argmax()) == best
        assert (np.delete(mixed[best] - mixed, best) >= np.delete(mu[best] - mu, best) / 2.0 - 1e-12).all()
        first_try += bool(
            (centres == np.random.default_rng(seed).uniform(mu.min() - 1.0, mu.max() + 1.0, mu.size)).all()
        )
        drawn_centres.append(centres)
    assert 0 < first_try < 300  # some draws were refused, and a good first one is kept
    assert len({tuple(centres) for centres in drawn_centres}) == 300
    spread = np.array(drawn_centres)
    assert spread.min() < mu.min() - 0.9  # the whole range is in use
    assert spread.max() > mu.max() + 0.9


@pytest.mark.parametrize("reach", [1.0, 10.0, 20.0])
def test_the_paper_adversary_without_margin_keeps_the_best_arm_the_best_and_no_more(reach: float) -> None:
    mu = np.array([2.5, 2.3, 2.0, 0.6])
    centres = np.array([ba.paper_adversary(mu, 0.1, seed, margin=0.0, reach=reach).pieces[0].a for seed in range(300)])
    leads = (0.9 * mu + 0.1 * centres)[:, :1] - (0.9 * mu + 0.1 * centres)[:, 1:]
    assert (leads > 0.0).all()
    assert (leads[:, 0] < 0.1).any()  # less than half of the gap of 0.2 is left in some draw
    assert 0.9 * reach < 0.6 - centres.min() <= reach
    assert 0.9 * reach < centres.max() - 2.5 <= reach


def test_the_paper_adversary_is_repeatable() -> None:
    means = [2.5, 2.3, 2.0, 0.6]
    one = ba.paper_adversary(means, 0.1, 3)
    assert (
        one == ba.paper_adversary(np.array(means), 0.1, 3) == ba.paper_adversary(means, 0.1, np.random.default_rng(3))
    )
    assert one != ba.paper_adversary(means, 0.1, 4)
    rewards = drawn(ba.Bandit([ba.Discrete([1e6], [1.0])] * 4, 0.1, one), 2, seed=1)
    false = rewards[rewards < 1e6]
    assert abs(false - one.pieces[0].a[2]).max() <= 1.0
    assert false.size == pytest.approx(0.1 * DRAWS, rel=0.05)


# ----------------------------------------------------------------------------------------------------- Python functions


def test_a_function_is_an_arm() -> None:
    plain = ba.Bandit([lambda rng: 1.5 + 2.0 * rng.standard_normal(), ba.Gaussian(0.0)])
    custom = ba.Bandit([ba.CustomArm(lambda rng: 1.5 + 2.0 * rng.standard_normal(), 1.5, 2.0), ba.Gaussian(0.0)])
    compiled = ba.Bandit([ba.Gaussian(1.5, 2.0), ba.Gaussian(0.0)])
    assert [bandit.compiled for bandit in (plain, custom, compiled)] == [False, False, True]
    assert (custom.means.tolist(), custom.best, custom.sigma) == ([1.5, 0.0], 0, 2.0)
    assert math.isnan(plain.means[0])
    assert plain.sigma is None
    streams = [bandit.stream(4) for bandit in (plain, custom, compiled)]
    for t in range(500):
        assert len({stream.pull(t % 3 // 2) for stream in streams}) == 1


def test_a_function_may_bring_its_mean_and_scale() -> None:
    class Dice:
        mean = 3.5
        sigma = 2.5

        def __call__(self, rng: np.random.Generator) -> float:
            return float(rng.integers(1, 7))

    bandit = ba.Bandit([Dice(), ba.Gaussian(3.0)])
    assert (bandit.means.tolist(), bandit.best, bandit.sigma) == ([3.5, 3.0], 0, 2.5)
    stream = bandit.stream(1)
    assert {stream.pull(0) for _ in range(500)} == {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}


def test_a_function_is_an_adversary_and_sees_arm_count_and_clean_reward() -> None:
    seen: list[tuple[int, int, float]] = []

    def attack(rng: np.random.Generator, arm: int, pulls: int, clean: float) -> float:
        seen.append((arm, pulls, clean))
        return 1000.0 * arm + pulls

    bandit = ba.Bandit([ba.Bernoulli(0.0), ba.Bernoulli(1.0)], epsilon=0.3, adversary=attack)
    stream, expected, pulls = bandit.stream(2), [], [0, 0]
    for arm in np.random.default_rng(0).integers(2, size=2000).tolist():
        before = len(seen)
        reward = stream.pull(arm)
        if len(seen) > before:
            expected.append((arm, pulls[arm], float(arm)))
            assert reward == 1000.0 * arm + pulls[arm]
        else:
            assert reward == float(arm)
        pulls[arm] += 1
    assert seen == expected
    assert abs(len(seen) - 600) / math.sqrt(2000 * 0.3 * 0.7) < FAR


def test_compiled_arms_with_a_function_for_adversary_draw_as_all_compiled() -> None:
    arms = [ba.Gaussian(1.0), ba.Beta(2.0, 3.0)]
    compiled = ba.Bandit(arms, epsilon=0.2, adversary=adversaries.Shift([5.0, -5.0])).stream(8)
    mixed = ba.Bandit(arms, epsilon=0.2, adversary=lambda rng, arm, pulls, clean: clean + (5.0, -5.0)[arm]).stream(8)
    assert [mixed.pull(t % 2) for t in range(1000)] == [compiled.pull(t % 2) for t in range(1000)]


def test_a_custom_arm_is_moved_by_a_shift() -> None:
    """Next to a compiled arm, which is moved as well."""
    given: list[float] = []

    def draw(rng: np.random.Generator) -> float:
        given.append(rng.random())
        return given[-1]

    bandit = ba.Bandit([ba.Bernoulli(1.0), draw], epsilon=0.4, adversary=adversaries.Shift([100.0, -200.0]))
    stream, moved = bandit.stream(3), [0, 0]
    for t in range(4000):
        reward = stream.pull(t % 2)
        clean = given[-1] if t % 2 else 1.0
        assert reward in (clean, clean + (100.0, -200.0)[t % 2])
        moved[t % 2] += reward != clean
    assert len(given) == 2000  # one clean draw a pull
    for count in moved:
        assert abs(count - 800) / math.sqrt(2000 * 0.4 * 0.6) < FAR


@pytest.mark.parametrize("by", ["total", "arm"])
def test_a_custom_arm_meets_compiled_adversaries(by: str) -> None:
    schedule = adversaries.Schedule([(0, adversaries.Point([1.0, 2.0])), (100, adversaries.Uniform(50.0, 1.0))], by=by)
    bandit = ba.Bandit([ba.CustomArm(lambda rng: -7.0, -7.0), ba.Discrete([-9.0], [1.0])], 0.45, schedule)
    stream, pulls, false = bandit.stream(5), [0, 0], 0
    for t, arm in enumerate(np.random.default_rng(6).integers(2, size=400).tolist()):
        reward = stream.pull(arm)
        if reward != (-7.0, -9.0)[arm]:
            false += 1
            if (t if by == "total" else pulls[arm]) < 100:
                assert reward == (1.0, 2.0)[arm]
            else:
                assert 49.0 <= reward <= 51.0
        pulls[arm] += 1
    assert abs(false - 180) / math.sqrt(400 * 0.45 * 0.55) < FAR


# --------------------------------------------------------------------------------------------------------- the bandit


def test_a_bandit_knows_its_best_arms_and_scale() -> None:
    bandit = ba.Bandit([ba.Gaussian(1.0, 0.5), ba.Uniform(0.0, 4.0), ba.Bernoulli(0.5), ba.Gaussian(2.0, 0.1)])
    assert bandit.means.tolist() == [1.0, 2.0, 0.5, 2.0]
    assert bandit.best == 1  # the first of the two
    assert bandit.sigma == 4.0 / math.sqrt(12.0)
    assert bandit.is_best(np.array([0, 1, 2, 3, -1])).tolist() == [False, True, False, True, False]
    assert ba.Bandit([ba.Gaussian(1.0), ba.Exponential(1.0)]).sigma is None


def test_arrays_make_the_same_discrete_arms_as_lists() -> None:
    for values, shares in (([1.0, 2.0, 3.0], [0.5, 0.2, 0.3]), ([3.0, 1.0, 3.0], [0.5, 0.25, 0.25]), ([2.0], [1.0])):
        arm = ba.Discrete(np.array(values), np.array(shares))
        assert arm == ba.Discrete(values, shares)
        assert arm.mean == pytest.approx(np.dot(values, shares), rel=1e-15)
        assert ba.Empirical(np.array(values)) == ba.Empirical(values)
    assert ba.Discrete(np.array([3.0, 1.0, 3.0]), np.array([0.5, 0.25, 0.25])).values == (1.0, 3.0)


@pytest.mark.parametrize("values", [[1.0, np.nan], [1.0, np.inf], [1.0, 1e301], [[1.0, 2.0]], []])
def test_arrays_that_are_no_flat_list_of_finite_numbers_are_refused(values: list[float]) -> None:
    with pytest.raises(ba.InputError, match="values must be a flat list of finite numbers"):
        ba.Empirical(np.array(values, dtype=np.float64))


def test_an_adversary_does_not_follow_later_changes_of_the_array_it_was_made_from() -> None:
    centres = np.array([1.0, 2.0])
    adversary = ba.adversaries.Point(centres)
    centres[0] = 5.0
    assert adversary.pieces[0].a == (1.0, 2.0)
