"""Every method, pull by pull, against its twin in `bestarm.reference`, which shares no code with the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bestarm as ba
import naive
from bestarm.simulation.seeds import method_seed, trial_seeds
from streams import Arms

CAP = 700


def compiled_run(method: str, arms: Arms, cap: int, **settings: Any) -> naive.Trajectory:
    finder = ba.Identifier(len(arms.means), method=method, **settings)
    pulled: list[int] = []
    while not finder.done and len(pulled) < cap:
        arm = finder.ask()
        assert isinstance(arm, int)
        pulled.append(arm)
        finder.tell(arm, arms.pull(arm))
    answer = finder.result.best
    return naive.Trajectory(pulled, answer if isinstance(answer, int) else -1, len(pulled))


def same(method: str, arms: Arms, cap: int, **settings: Any) -> naive.Trajectory:
    ours = compiled_run(method, arms, cap, **settings)
    again = Arms(arms.means, arms.epsilon, arms.family, arms.attack, arms.seed)
    theirs = naive.run(method, again.pull, len(arms.means), max_pulls=cap, **settings)
    assert ours == theirs
    return ours


def instance(seed: int, epsilon: float | None = None) -> tuple[Arms, dict[str, Any]]:
    """A random problem: K from 2 to 12, epsilon from 0 to 0.45, gaps from a tenth of sigma to several."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 13))
    eps = float(rng.choice([0.0, 0.02, 0.1, 0.2, 0.3, 0.45])) if epsilon is None else epsilon
    means = (rng.choice([0.1, 0.7, 4.0]) * rng.standard_normal(size)).tolist()
    family = str(rng.choice(["gaussian", "uniform", "exponential", "student"]))
    attack = str(rng.choice(["none", "uniform", "gross", "two-sided", "huge"]))
    settings = {
        "delta": float(rng.choice([0.3, 0.1, 0.01])),
        "epsilon": eps,
        "sigma": float(rng.choice([0.2, 1.0, 2.0])),
    }
    return Arms(means, eps, family, attack, seed), settings


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("exploration", ["hoeffding", "half", "chernoff", "none"])
@pytest.mark.parametrize("method", ["g-cbai", "random", "se-cbai", "median-se"])
def test_robust_methods_follow_the_twin(method: str, exploration: str, seed: int) -> None:
    arms, settings = instance(seed)
    rng = np.random.default_rng(seed + 1000)
    settings["exploration"] = exploration
    if rng.random() < 0.5:
        settings["alpha"] = float(rng.choice([0.0, 0.05, 0.15, 0.25, 0.4, 0.49]))
    if method in ("g-cbai", "random"):
        settings["threshold"] = str(rng.choice(["theory", "empirical"]))
        settings["power"] = float(rng.choice([1.1, 2.0, 3.0]))
    else:
        settings["radius"] = str(rng.choice(["rounds", "all-pulls"]))
        if rng.random() < 0.5:
            settings["radius_arms"] = float(rng.choice([1.0, 5.0, 12.5]))
    if method == "random":
        settings["seed"] = int(rng.integers(2**63))
        settings["floor"] = str(rng.choice(["arm", "total"]))
    same(method, arms, CAP, **settings)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("method", ["mean-se", "mean-gap"])
def test_sample_mean_methods_follow_the_twin(method: str, seed: int) -> None:
    arms, settings = instance(seed)
    if method == "mean-gap":
        settings["threshold"] = ["theory", "empirical"][seed % 2]
    same(method, arms, CAP, **settings)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("method", ["mean-se", "mean-gap"])
def test_sample_means_with_the_parameters_of_the_robust_methods_follow_the_twin(method: str, seed: int) -> None:
    arms, settings = instance(seed)
    if method == "mean-gap":
        settings["threshold"] = ["theory", "empirical"][seed % 2]
    settings["exploration"] = ["hoeffding", "half", "chernoff", "none"][seed % 4]
    same(method, arms, CAP, parameters="same", **settings)


# By name: the method, and options that make it end within a few hundred pulls where gaps are wide.
SHORT: dict[str, tuple[str, dict[str, Any]]] = {
    "g-cbai": ("g-cbai", {"exploration": "chernoff"}),
    "g-cbai, none": ("g-cbai", {"exploration": "none"}),
    "random": ("random", {"exploration": "chernoff"}),
    "random, none": ("random", {"exploration": "none"}),
    "random, total": ("random", {"exploration": "chernoff", "floor": "total"}),
    "random, total, none": ("random", {"exploration": "none", "floor": "total"}),
    "se-cbai": ("se-cbai", {"exploration": "chernoff"}),
    "se-cbai, none": ("se-cbai", {"exploration": "none"}),
    "median-se": ("median-se", {"exploration": "chernoff"}),
    "median-se, none": ("median-se", {"exploration": "none"}),
    "se-cbai, all pulls": ("se-cbai", {"exploration": "half", "alpha": 0.2, "radius": "all-pulls"}),
    "median-se, all pulls, none": ("median-se", {"exploration": "none", "radius": "all-pulls", "radius_arms": 5.0}),
    "mean-se": ("mean-se", {}),
    "mean-se, same": ("mean-se", {"exploration": "chernoff", "parameters": "same"}),
    "mean-gap": ("mean-gap", {}),
    "mean-gap, same": ("mean-gap", {"exploration": "chernoff", "parameters": "same"}),
}
WIDE = [2.5, 1.9, 1.0, 0.6]


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("seed", range(3))
def test_the_twin_is_followed_to_the_decision(name: str, seed: int) -> None:
    """Wide gaps and short exploration, so that every run ends by itself, after hundreds of pulls."""
    method, options = SHORT[name]
    arms = Arms(WIDE, 0.2, "gaussian", "uniform", seed)
    ended = same(method, arms, 20_000, delta=0.1, epsilon=0.2, sigma=1.0, **options)
    assert ended.answer >= 0
    assert ended.pulls > 50


# The twin of the random baseline sorts all rewards anew at each of some thousand pulls.
LONG = [name for name in SHORT if name.startswith("random")]


@pytest.mark.parametrize(
    ("name", "cap"),
    [
        pytest.param(name, cap, marks=[pytest.mark.slow] if cap > 150 and name in LONG else [])
        for cap in (150, 20_000)
        for name in SHORT
    ],
)
def test_simulated_trials_follow_the_twin(name: str, cap: int) -> None:
    """What exists in simulations only, such as rounds drawn at once, changes no trial."""
    method, options = SHORT[name]
    bandit = ba.Bandit([ba.Gaussian(mean) for mean in WIDE], 0.2, ba.adversaries.Uniform([1.0, 1.2, 0.5, 0.3], 1.0))
    trials = ba.simulate(bandit, method, delta=0.1, trials=6, seed=8, chunk=6, max_pulls=cap, **options)
    for trial, child in enumerate(trial_seeds(8, 6)):
        own = {**options, "seed": method_seed(child)} if method == "random" else options
        pull = bandit.stream(child).pull
        followed = naive.run(method, pull, 4, delta=0.1, epsilon=0.2, sigma=1.0, max_pulls=cap, **own)
        assert (followed.pulls, followed.answer) == (trials.pulls[trial], trials.answers[trial])
        assert [followed.arms.count(arm) for arm in range(4)] == trials.arm_pulls[trial].tolist()
    assert trials.decided == (6 if cap == 20_000 else 0) or name.endswith("none")


@pytest.mark.parametrize("name", ["random", "random, total"])
def test_a_batch_that_is_outstanding_is_drawn_like_one_that_is_not(name: str) -> None:
    """Counts and not rewards decide which arms are drawn, so the first of them can be asked for all at once."""
    _, options = SHORT[name]
    asked: dict[str, Any] = {"delta": 0.1, "epsilon": 0.2, "sigma": 1.0, "seed": 5, **options}
    arms = Arms(WIDE, 0.2, "gaussian", "uniform", 1)
    followed = naive.run("random", arms.pull, 4, max_pulls=300, **asked)
    batch = ba.Identifier(4, method="random", **asked).ask(300)
    assert batch[:200] == followed.arms[:200]
    if name == "random, total":
        assert batch == followed.arms


@pytest.mark.parametrize("floor", ["arm", "total"])
def test_random_stops_after_its_floor_and_where_the_arms_are_worlds_apart_at_once(floor: str) -> None:
    """T = 230.7 pulls of each of 3 arms, rounded up, or 3 T = 692.2 pulls in all, rounded up."""
    far = lambda arm: 1e6 * arm  # noqa: E731
    asked: dict[str, Any] = {"delta": 0.1, "epsilon": 0.1, "sigma": 1.0, "method": "random", "exploration": "chernoff"}
    result = ba.identify(far, 3, floor=floor, **asked)
    assert (result.best, result.pulls) == (2, {"arm": 3 * 231, "total": 693}[floor])
    counts = [row.pulls for row in result.arms]
    assert (counts == [231, 231, 231]) == (floor == "arm")


@pytest.mark.parametrize("method", ["g-cbai", "se-cbai", "median-se"])
def test_long_runs_follow_the_twin(method: str) -> None:
    """Thousands of rewards an arm: every store of the order statistics has been refilled and moved by then."""
    arms = Arms([0.02, 0.0], 0.1, "gaussian", "two-sided", 5)
    same(method, arms, 5_000, delta=0.05, epsilon=0.1, sigma=1.0, exploration="chernoff")
