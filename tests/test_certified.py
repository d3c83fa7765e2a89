"""The certified method: equal to its twin, covering at all times, monotone in epsilon, honest about its limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import bestarm as ba
from bestarm.problem import pose
from bestarm.robustness import Log, fold
from naive_certified import CertifiedTrajectory, run_certified
from streams import Arms

WIDE = [2.5, 1.5, 1.0, 0.6]
CLOSE = [2.5, 2.3, 2.0, 0.6]


def compiled_run(pull: Any, size: int, cap: int, **settings: Any) -> CertifiedTrajectory:
    finder = ba.Identifier(size, method="certified", **settings)
    pulled: list[int] = []
    while not finder.done and len(pulled) < cap:
        arm = finder.ask()
        assert isinstance(arm, int)
        pulled.append(arm)
        finder.tell(arm, pull(arm))
    rows, result = finder.estimates, finder.result
    arms = finder._state.samples.arms
    return CertifiedTrajectory(
        arms=pulled,
        status=result.status,  # type: ignore[arg-type]
        answer=result.best if isinstance(result.best, int) else -1,
        candidates=[label for label in result.candidates if isinstance(label, int)],
        pulls=len(pulled),
        lower=[row.lower for row in rows],
        upper=[row.upper for row in rows],
        alarms=[bool(code) for code in arms["alarm"]],
    )


def assert_same(ours: CertifiedTrajectory, theirs: CertifiedTrajectory) -> None:
    assert ours.arms == theirs.arms
    assert (ours.status, ours.answer, ours.alarms) == (theirs.status, theirs.answer, theirs.alarms)
    if ours.status != "undecided":
        assert ours.candidates == theirs.candidates
    np.testing.assert_allclose(ours.lower, theirs.lower, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.upper, theirs.upper, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_it_follows_its_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    epsilon = float(rng.choice([0.0, 0.02, 0.05, 0.1, 0.2, 0.4]))
    means = (rng.choice([0.3, 1.0, 4.0]) * rng.standard_normal(int(rng.integers(2, 7)))).tolist()
    family = str(rng.choice(["gaussian", "uniform", "student"]))
    attack = str(rng.choice(["none", "uniform", "gross", "two-sided", "huge"]))
    settings: dict[str, Any] = {
        "delta": float(rng.choice([0.3, 0.1, 0.01])),
        "epsilon": epsilon,
        "sigma": float(rng.choice([0.7, 1.0, 2.0])),
        "adversary_power": str(rng.choice(["prescient", "malicious"])),
        "resolution": float(rng.choice([0.1, 0.4])),
    }
    true_rate = epsilon * float(rng.choice([0.5, 1.0, 1.6]))  # the last plants alarms
    ours = compiled_run(Arms(means, true_rate, family, attack, seed).pull, len(means), 1200, **settings)
    twin = run_certified(Arms(means, true_rate, family, attack, seed).pull, len(means), max_pulls=1200, **settings)
    assert_same(ours, twin)


@pytest.mark.parametrize("power", ["prescient", "malicious"])
@pytest.mark.parametrize("seed", range(4))
def test_it_follows_its_twin_on_bounded_rewards(seed: int, power: str) -> None:
    chances = [[0.9, 0.5, 0.1], [0.06, 0.02], [0.5, 0.45, 0.4, 0.1], [1.0, 0.0]][seed]
    epsilon = [0.05, 0.02, 0.1, 0.0][seed]

    def pull_of(seed: int) -> Any:
        rng = np.random.default_rng(seed)

        def pull(arm: int) -> float:
            hit = rng.random() < epsilon
            return 1.0 + 2.0 * float(rng.random() < (0.5 if hit else chances[arm]))

        return pull

    settings: dict[str, Any] = {
        "delta": 0.1,
        "epsilon": epsilon,
        "bounds": (1.0, 3.0),
        "adversary_power": power,
        "resolution": 0.2,
    }
    ours = compiled_run(pull_of(seed), len(chances), 600, **settings)
    assert_same(ours, run_certified(pull_of(seed), len(chances), max_pulls=600, **settings))


def bandit(means: list[float], epsilon: float, adversary: Any) -> ba.Bandit:
    return ba.Bandit([ba.Gaussian(mean) for mean in means], epsilon, adversary)


MARKS = {  # mean pulls to reach, of 1000 trials (issue: numbers to reach)
    ("uniform", 0.05): 750,
    ("uniform", 0.1): 1250,
    ("gross", 0.05): 600,
    ("gross", 0.1): 700,
    ("hidden", 0.05): 1000,
    ("hidden", 0.1): 4000,
}


@pytest.mark.parametrize(("attack", "epsilon"), MARKS)
def test_pulls_and_errors_on_the_wide_instance(attack: str, epsilon: float) -> None:
    adversary = {
        "uniform": ba.adversaries.Uniform([mean / 2.0 for mean in WIDE], 1.0),
        "gross": ba.adversaries.Point([-1000.0, 1000.0, 1000.0, 1000.0]),
        "hidden": ba.adversaries.Point([WIDE[0] - 1.5] + [mean + 1.5 for mean in WIDE[1:]]),
    }[attack]
    trials = ba.simulate(bandit(WIDE, epsilon, adversary), "certified", delta=0.1, trials=1000, seed=1, workers=2)
    assert trials.mean_pulls <= MARKS[attack, epsilon]
    assert binom.sf(trials.wrong - 1, 1000, 0.1) > 1e-3
    assert trials.decided == 1000


@pytest.mark.parametrize("law", ["clicks", "ratings"])
def test_bounds_are_worth_more_than_the_sigma_they_imply(law: str) -> None:
    if law == "clicks":
        arms, bounds = [ba.Bernoulli(0.12), ba.Bernoulli(0.05)], (0.0, 1.0)
    else:
        arms = [ba.Discrete([1, 2, 3], [0.7, 0.2, 0.1]), ba.Discrete([1, 2, 3], [0.9, 0.08, 0.02])]
        bounds = (1.0, 3.0)
    rated = ba.Bandit(arms, 0.01, ba.adversaries.Point(bounds[0]))
    tight = ba.simulate(rated, "certified", delta=0.1, bounds=bounds, trials=40, seed=1, resolution=0.01)
    half = (bounds[1] - bounds[0]) / 2
    loose = ba.simulate(rated, "certified", delta=0.1, trials=40, seed=1, resolution=0.01, sigma=half)
    assert tight.wrong == 0
    assert tight.decided == 40
    assert tight.mean_pulls < 0.7 * loose.mean_pulls


def test_no_winner_is_named_where_none_can_be() -> None:
    """2.5 against 2.3 at epsilon = 0.1: contaminated values at the other arm's mean make them one and the same."""
    adversary = ba.adversaries.Point([1.4, 3.4, 3.0, 1.6])
    trials = ba.simulate(bandit(CLOSE, 0.1, adversary), "certified", delta=0.1, trials=60, seed=3, workers=2)
    assert trials.wrong == 0
    assert trials.indistinguishable > 50
    finder = ba.Identifier(4, delta=0.1, epsilon=0.1, sigma=1.0)
    stream = bandit(CLOSE, 0.1, adversary).stream(5)
    while not finder.done:
        arm = finder.ask()
        assert isinstance(arm, int)
        finder.tell(arm, stream.pull(arm))
    assert finder.result.status == "indistinguishable"
    assert {0, 1} <= set(finder.result.candidates)
    assert finder.result.best is None
    assert finder.result.tolerance is None
    assert str(finder.result).startswith("no winner can be named among 0, 1")


def test_clean_rewards_cost_no_more_than_by_mean_gap() -> None:
    clean = ba.Bandit([ba.Gaussian(mean) for mean in CLOSE])
    ours = ba.simulate(clean, "certified", delta=0.1, trials=300, seed=1, workers=2)
    theirs = ba.simulate(clean, "mean-gap", delta=0.1, trials=300, seed=1, workers=2)
    assert ours.mean_pulls <= theirs.mean_pulls
    assert binom.sf(ours.wrong - 1, 300, 0.1) > 1e-3


COVERAGE = {
    "gaussian": (ba.Gaussian(1.0), {"sigma": 1.0}, [-1000.0, 1000.0, 2.5, -0.5]),
    "bernoulli": (ba.Bernoulli(0.3), {"bounds": (0.0, 1.0)}, [0.0, 1.0]),
    "uniform": (ba.Uniform(-1.0, 1.0), {"sigma": 2.0 / 12.0**0.5}, [-9.0, 9.0, 1.0]),
    "skewed": (ba.Beta(0.5, 4.0), {"bounds": (0.0, 1.0)}, [0.0, 1.0, 0.5]),
}


@pytest.mark.parametrize("family", COVERAGE)
def test_the_interval_covers_the_mean_at_all_times(family: str) -> None:
    """Intervals only shrink, so whether one ever missed shows at the end; one arm may fail with delta / K."""
    law, scale, points = COVERAGE[family]
    for point in points:
        missed = 0
        for seed in range(60):
            stream = ba.Bandit([law, law], 0.1, ba.adversaries.Point(point)).stream(seed)
            rewards = np.array([stream.pull(0) for _ in range(300)])
            log = Log()
            log.extend(np.zeros(300, np.int64), rewards)
            options = {"resolution": 0.01, "adversary_power": "prescient"}
            state = fold(pose(2, delta=0.4, epsilon=0.1, **scale), options, log)  # type: ignore[arg-type]
            low, high = state.samples.arms["lower"][0], state.samples.arms["upper"][0]
            missed += not low <= law.mean <= high
        assert binom.sf(missed - 1, 60, 0.2) > 1e-3


@pytest.mark.parametrize("power", ["prescient", "malicious"])
def test_intervals_grow_with_epsilon(power: str) -> None:
    stream = bandit(WIDE[:2], 0.1, ba.adversaries.Uniform(0.0, 3.0)).stream(4)
    log = Log()
    log.extend(np.zeros(800, np.int64), np.array([stream.pull(0) for _ in range(800)]))
    options = {"resolution": 0.01, "adversary_power": power}
    ends = []
    for epsilon in (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.45):
        arms = fold(pose(2, delta=0.1, epsilon=epsilon, sigma=1.0), options, log).samples.arms
        ends.append((arms["lower"][0], arms["upper"][0]))
    assert [low for low, _ in ends] == sorted((low for low, _ in ends), reverse=True)
    assert [high for _, high in ends] == sorted(high for _, high in ends)


def decided(epsilon: float, seed: int, **settings: Any) -> ba.Identifier:
    stream = bandit(WIDE, 0.05, ba.adversaries.Uniform(0.0, 1.0)).stream(seed)
    finder = ba.Identifier(4, delta=0.1, epsilon=epsilon, sigma=1.0, **settings)
    while not finder.done:
        arm = finder.ask()
        assert isinstance(arm, int)
        finder.tell(arm, stream.pull(arm))
    return finder


@pytest.mark.parametrize("seed", range(3))
def test_tolerance_agrees_with_folding_again(seed: int) -> None:
    finder = decided(0.05, seed)
    limit = finder.result.tolerance
    assert limit is not None
    assert 0.05 <= limit < 0.499
    below, above = finder.sensitivity([limit, limit + 1e-4])
    assert (below.status, below.best) == ("identified", finder.result.best)
    assert above.status == "undecided"
    assert f"{limit:.3g}" in str(finder.result)


def test_sensitivity_covers_a_grid_and_needs_the_certified_method() -> None:
    rows = decided(0.05, 1).sensitivity()
    assert [row.epsilon for row in rows] == sorted(row.epsilon for row in rows)
    assert next(row for row in rows if row.epsilon == 0.05).status == "identified"
    assert rows[-1].status == "undecided"
    with pytest.raises(ba.InputError, match="method must be certified, got 'mean-se'"):
        ba.Identifier(2, delta=0.1, epsilon=0.0, sigma=1.0, method="mean-se").sensitivity()


def test_the_alarm_rings_for_planted_misspecification_only() -> None:
    def alarms(true_rate: float, sigma: float) -> tuple[str, ...]:
        law = ba.Gaussian(1.0, sigma)
        stream = ba.Bandit([law, law], true_rate, ba.adversaries.Point(50.0)).stream(1)
        finder = ba.Identifier(["A", "B"], delta=0.1, epsilon=0.05, sigma=1.0)
        finder.tell_many(["A"] * 1500, [stream.pull(0) for _ in range(1500)])
        return finder.result.alarms

    assert alarms(0.05, 1.0) == ()
    assert alarms(0.0, 1.0) == ()
    (too_many,) = alarms(0.2, 1.0)
    assert "rewards of 'A' are further out than clean ones can be" in too_many
    assert "more than epsilon = 0.05 allows" in too_many
    (too_noisy,) = alarms(0.0, 8.0)
    assert "sigma" in too_noisy


def test_a_verdict_in_spite_of_an_alarm_says_so() -> None:
    stream = bandit([3.0, 0.0], 0.3, ba.adversaries.Point(50.0)).stream(2)
    finder = ba.Identifier(2, delta=0.1, epsilon=0.02, sigma=1.0, resolution=0.05)
    finder.tell_many([0] * 200, [stream.pull(0) for _ in range(200)])
    while not finder.done:
        arm = finder.ask()
        assert isinstance(arm, int)
        finder.tell(arm, stream.pull(arm))
    assert "Alarm: " in str(finder.result)
