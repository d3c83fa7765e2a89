"""Alarms: they ring when no mean fits the rewards, and on honest data at the edge of the assumptions hardly ever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import bestarm as ba
from bestarm.bandits import attacks
from bestarm.identification.robustness import replay
from bestarm.kernels.trials.readouts import find_alarms
from bestarm.methods import get_method
from bestarm.methods.certified import certified_rule
from bestarm.problem import pose

# Shares of 1, 2, 3, 4 and 5 stars: spread widely, and as raters give them.
STARS: dict[str, list[list[float]]] = {
    "wide": [[0.1, 0.1, 0.2, 0.3, 0.3], [0.2, 0.2, 0.2, 0.2, 0.2], [0.3, 0.3, 0.2, 0.1, 0.1]],
    "peaked": [[0.02, 0.08, 0.2, 0.5, 0.2], [0.05, 0.15, 0.4, 0.3, 0.1], [0.1, 0.2, 0.4, 0.2, 0.1]],
}
TIMES = (4, 8, 16, 32, 64, 128, 256)  # rewards of each arm at which an alarm is looked for


def violated(count: int, trials: int, delta: float) -> bool:
    """Whether so many would come up in less than one of 1,000 such tests if the rate were delta."""
    return bool(binom.sf(count - 1, trials, delta) < 1e-3)


def rings(tapes: Sequence[NDArray[np.float64]], **told: Any) -> NDArray[np.bool_]:
    """Whether an alarm rings for each arm when all of these rewards have been told, and no arm is dropped before."""
    options = {name: told.pop(name) for name in ("contamination",) if name in told}
    problem = pose(len(tapes), **told)
    rule = certified_rule(problem, get_method("certified").complete(problem, options), endless=True)
    rule["log_threshold"] = 1e300
    found = np.zeros(len(tapes), np.int64)
    find_alarms(replay(rule, tapes), rule, found)
    return found > 0


def honest(rng: np.random.Generator, law: str, shape: tuple[int, int]) -> NDArray[np.float64]:
    return rng.normal(size=shape) if law == "gaussian" else rng.choice([-1.0, 1.0], size=shape)


def tapes_at_the_edge(seed: int, law: str, attack: str, epsilon: float) -> NDArray[np.float64]:
    """Rewards of two arms with a scale of exactly 1, each replaced with probability exactly epsilon."""
    rng = np.random.default_rng([17, seed])
    shape = (2, TIMES[-1])
    fakes = {
        # The worst case: h = C for every bet, of both directions in turn. A white box could do no more.
        "gross": rng.choice([-1000.0, 1000.0], size=shape),
        "one side": np.full(shape, 1000.0),
        "hidden": np.full(shape, 1.5),
        "spread": rng.choice([-2.0, 2.0], size=shape),
    }[attack]
    return np.where(rng.random(shape) < epsilon, fakes, honest(rng, law, shape))


@pytest.mark.slow
@pytest.mark.parametrize("law", ["gaussian", "rademacher"])
@pytest.mark.parametrize("attack", ["gross", "one side", "hidden", "spread"])
@pytest.mark.parametrize("epsilon", [0.05, 0.1])
def test_a_false_alarm_is_as_rare_as_promised(law: str, attack: str, epsilon: float) -> None:
    """60 trials, seeds [17, 0 ... 59], delta = 0.3, seven looks each; an alarm at any of them counts."""
    told: dict[str, Any] = {"delta": 0.3, "epsilon": epsilon, "sigma": 1.0}
    count = 0
    for seed in range(60):
        tapes = tapes_at_the_edge(seed, law, attack, epsilon)
        count += any(rings(list(tapes[:, :time]), **told).any() for time in TIMES)
    assert not violated(count, 60, 0.3)


@pytest.mark.parametrize("law", ["gaussian", "rademacher"])
def test_a_false_alarm_is_as_rare_as_promised_without_contamination(law: str) -> None:
    """400 trials, seeds [17, 0 ... 399], delta = 0.3: there the spread around the mean is what rings."""
    told: dict[str, Any] = {"delta": 0.3, "epsilon": 0.0, "sigma": 1.0}
    count = 0
    for seed in range(400):
        tapes = tapes_at_the_edge(seed, law, "hidden", 0.0)
        count += any(rings(list(tapes[:, :time]), **told).any() for time in TIMES)
    assert not violated(count, 400, 0.3)
    assert rings(list(1.5 * tapes), **told).any()  # and 1.5 times as wide it does ring


@pytest.mark.parametrize("contamination", ["malicious", "share-of-arm", "share-of-all"])
def test_no_false_alarm_in_the_other_models(contamination: str) -> None:
    """60 trials, delta = 0.3: every twentieth reward of each arm is gross, so that no share is exceeded."""
    count = 0
    for seed in range(60):
        tapes = honest(np.random.default_rng([18, seed]), "gaussian", (2, 200))
        tapes[:, 19::20] = np.random.default_rng(seed).choice([-1000.0, 1000.0], size=(2, 10))
        count += bool(rings(list(tapes), delta=0.3, epsilon=0.05, sigma=1.0, contamination=contamination).any())
    assert not violated(count, 60, 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("attack", ["hidden", "one_sided_gross", "extremes"])
@pytest.mark.parametrize("epsilon", [0.02, 0.1])
def test_a_live_experiment_rings_no_false_alarm(attack: str, epsilon: float) -> None:
    """100 experiments with seeds 0 ... 99, delta = 0.3, read whenever a quarter more rewards are there."""
    arms = [ba.Gaussian(0.3), ba.Gaussian(0.0)]
    bandit = ba.Bandit(arms, epsilon, getattr(attacks, attack)(arms))
    count = 0
    for seed in range(100):
        stream = bandit.stream(seed)
        finder = ba.Identifier(2, delta=0.3, epsilon=epsilon, sigma=1.0)
        rung, due = False, 10
        while not finder.done and finder.pulls < 600:
            arm = finder.ask()
            finder.tell(arm, stream.pull(int(str(arm))))
            if finder.pulls >= due or finder.done:
                due = finder.pulls + finder.pulls // 4
                rung = rung or bool(finder._engine.read().alarms)  # the rest of a result costs more than 600 rewards
        count += rung
    assert not violated(count, 100, 0.3)


# ----------------------------------------------------------------------------------------------------- what must ring


def ratings(stars: str, seed: int, number: int) -> list[NDArray[np.float64]]:
    rng = np.random.default_rng([19, seed])
    return [rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], number, p=shares) for shares in STARS[stars]]


@pytest.mark.parametrize("stars", STARS)
@pytest.mark.parametrize("sigma", [0.1, 0.3])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.1])
def test_star_ratings_told_with_too_small_a_sigma_ring(stars: str, sigma: float, epsilon: float) -> None:
    """In each of 20 experiments, with 300 ratings for each of three arms (10 are enough at epsilon = 0)."""
    number = 300 if epsilon else 10
    for seed in range(20):
        assert rings(ratings(stars, seed, number), delta=0.05, epsilon=epsilon, sigma=sigma).any()


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.1])
def test_star_ratings_told_with_an_honest_sigma_do_not(epsilon: float) -> None:
    for seed in range(10):
        assert not rings(ratings("wide", seed, 300), delta=0.05, epsilon=epsilon, sigma=2.0).any()


@pytest.mark.parametrize("sigma", [0.1, 0.3])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.1])
def test_after_an_alarm_no_probability_is_claimed(sigma: float, epsilon: float) -> None:
    """20 live experiments on the same ratings: what rang says so, and what did not claims its delta."""
    rung = 0
    for seed in range(20):
        tapes = ratings("wide", seed, 400)
        used = [0, 0, 0]
        finder = ba.Identifier(3, delta=0.05, epsilon=epsilon, sigma=sigma)
        while not finder.done and max(used) < 400:
            arm = int(str(finder.ask()))
            finder.tell(arm, float(tapes[arm][used[arm]]))
            used[arm] += 1
        result = finder.result
        assert ("wrong with probability" in str(result)) == (result.status == "identified" and not result.alarms)
        if result.alarms:
            rung += 1
            assert "no probability is claimed" in str(result)
            assert f"sigma = {sigma:g}" in result.alarms[0]
            assert "Alarm: no mean fits" in str(result) or "sigma from the rest" in str(result)
    assert rung > 0


def test_rewards_with_bounds_ring_no_alarm() -> None:
    """They always fit some mean."""
    rng = np.random.default_rng(5)
    finder = ba.Identifier(2, delta=0.3, epsilon=0.0, bounds=(0.0, 1.0))
    finder.tell_many([0, 1] * 500, rng.choice([0.0, 1.0], 1000))
    assert finder.result.alarms == ()


def test_sensitivity_says_at_which_epsilon_the_rewards_ring() -> None:
    """A tenth of gross rewards on both sides contradicts epsilon = 0 and 0.02, and not 0.15."""
    rng = np.random.default_rng(6)
    tapes = np.where(rng.random((2, 600)) < 0.1, rng.choice([-50.0, 50.0], (2, 600)), rng.normal(size=(2, 600)))
    finder = ba.Identifier(2, delta=0.05, epsilon=0.15, sigma=1.0, resolution=1e-4)
    finder.tell_many([0, 1] * 600, tapes.T.ravel())
    rows = {row.epsilon: bool(row.alarms) for row in finder.sensitivity([0.0, 0.02, 0.15])}
    assert rows == {0.0: True, 0.02: True, 0.15: False}
    assert finder.result.alarms == ()
