"""Every method, pull by pull, against the twin in naive.py, which shares no code with the package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bestarm as ba
import naive
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
@pytest.mark.parametrize("exploration", ["hoeffding", "chernoff"])
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
    if method == "random":
        settings["seed"] = int(rng.integers(2**63))
    same(method, arms, CAP, **settings)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("method", ["mean-se", "mean-gap"])
def test_sample_mean_methods_follow_the_twin(method: str, seed: int) -> None:
    arms, settings = instance(seed)
    if method == "mean-gap":
        settings["threshold"] = ["theory", "empirical"][seed % 2]
    same(method, arms, CAP, **settings)


@pytest.mark.parametrize("method", ["g-cbai", "random", "se-cbai", "median-se", "mean-se", "mean-gap"])
@pytest.mark.parametrize("seed", range(3))
def test_the_twin_is_followed_to_the_decision(method: str, seed: int) -> None:
    """Wide gaps and short exploration, so that every run ends by itself, after hundreds of pulls."""
    options: dict[str, Any] = {} if method.startswith("mean") else {"exploration": "chernoff"}
    arms = Arms([2.5, 1.9, 1.0, 0.6], 0.2, "gaussian", "uniform", seed)
    ended = same(method, arms, 20_000, delta=0.1, epsilon=0.2, sigma=1.0, **options)
    assert ended.answer >= 0
    assert ended.pulls > 50


@pytest.mark.parametrize("method", ["g-cbai", "se-cbai", "median-se"])
def test_long_runs_follow_the_twin(method: str) -> None:
    """Thousands of rewards an arm: every store of the order statistics has been refilled and moved by then."""
    arms = Arms([0.02, 0.0], 0.1, "gaussian", "two-sided", 5)
    same(method, arms, 5_000, delta=0.05, epsilon=0.1, sigma=1.0, exploration="chernoff")
