"""Shortcuts change no trial: all of them are equal with the switch on and off."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import bestarm as ba
from bestarm.bandits import ATTACKS
from bestarm.kernels.state.state import State, new_state
from bestarm.kernels.trials import drive
from bestarm.simulation import backends, chunks

MEANS = [2.5, 2.3, 2.0, 0.6]
ARMS = [ba.Gaussian(mean) for mean in MEANS]
SHORT: dict[str, dict[str, Any]] = {
    "g-cbai": {"exploration": "chernoff"},
    "random": {"exploration": "chernoff"},
    "se-cbai": {"exploration": "chernoff"},
    "median-se": {"exploration": "chernoff"},
    "certified": {"resolution": 0.2},
}


@pytest.fixture
def last(monkeypatch: pytest.MonkeyPatch) -> list[State]:
    """The states that trials ended with."""
    states: list[State] = []

    def kept(*arguments: Any) -> State:
        states.append(chunks_run_on(*arguments))
        return states[-1]

    chunks_run_on = drive.run_on
    monkeypatch.setattr(chunks, "run_on", kept)
    return states


def both(monkeypatch: pytest.MonkeyPatch, bandit: ba.Bandit, method: str, **asked: Any) -> tuple[ba.Trials, ba.Trials]:
    """Return trials with and without shortcuts."""
    monkeypatch.setenv("BESTARM_SHORTCUTS", "1")
    quick = ba.simulate(bandit, method, delta=0.1, seed=4, **asked)
    monkeypatch.setenv("BESTARM_SHORTCUTS", "0")
    return quick, ba.simulate(bandit, method, delta=0.1, seed=4, **asked)


def assert_same(quick: ba.Trials, slow: ba.Trials) -> None:
    assert quick.arm_pulls.tolist() == slow.arm_pulls.tolist()
    assert quick.answers.tolist() == slow.answers.tolist()


@pytest.mark.parametrize("attack", [None, *ATTACKS])
@pytest.mark.parametrize("method", ba.METHODS)
def test_trials_are_equal_without_shortcuts(method: str, attack: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    bandit = ba.Bandit(ARMS) if attack is None else ba.Bandit(ARMS, 0.1, ATTACKS[attack][1](ARMS, 0.1))
    asked = {"trials": 6, "chunk": 6, "max_pulls": 12_000, **SHORT.get(method, {})}
    assert_same(*both(monkeypatch, bandit, method, **asked))


@pytest.mark.parametrize("options", [{"exploration": "half", "alpha": 0.1}, {"exploration": "none"}])
@pytest.mark.parametrize("method", ["se-cbai", "median-se"])
def test_trials_whose_radius_counts_all_pulls_are_equal_without_shortcuts(
    method: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Means 5, 4.5, 1, 1 as in 2022, whose worst arms go at once, and others that stay for thousands of rounds."""
    for means in ((5.0, 4.5, 1.0, 1.0), MEANS):
        bandit = ba.Bandit([ba.Gaussian(mean) for mean in means], 0.1, ba.adversaries.Uniform(0.8, 0.5))
        asked = {"trials": 6, "chunk": 6, "max_pulls": 12_000, "radius": "all-pulls", **options}
        assert_same(*both(monkeypatch, bandit, method, **asked))


@pytest.mark.parametrize("method", ba.METHODS)
def test_trials_of_many_arms_are_equal_without_shortcuts(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More of them than are drawn and fetched as few are."""
    arms = [ba.Gaussian(mean) for mean in np.linspace(2.0, 1.0, 80)]
    bandit = ba.Bandit(arms, 0.2, ba.adversaries.Shift(0.3))
    asked = {"trials": 2, "chunk": 2, "max_pulls": 40_000, **SHORT.get(method, {})}
    assert_same(*both(monkeypatch, bandit, method, **asked))


def test_trials_with_bounds_are_equal_without_shortcuts(monkeypatch: pytest.MonkeyPatch) -> None:
    arms = [ba.Bernoulli(mean) for mean in (0.8, 0.5, 0.3)]
    bandit = ba.Bandit(arms, 0.02, ba.adversaries.Point([0.0, 1.0, 1.0]))
    asked: dict[str, Any] = {"trials": 8, "chunk": 8, "bounds": (0.0, 1.0)}
    assert_same(*both(monkeypatch, bandit, "certified", **asked))


@pytest.mark.parametrize("method", ["g-cbai", "se-cbai"])
def test_without_shortcuts_there_is_no_trace_of_them(
    method: str, last: list[State], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of keys in the trees, of quiet stretches; and trials bring the switch with them to another process."""
    bandit = ba.Bandit(ARMS, 0.1, ba.adversaries.Shift(0.3))
    specs: list[chunks.Spec] = []

    def noted(spec: chunks.Spec, first: int, end: int) -> chunks.ChunkResult:
        specs.append(spec)
        return chunks.run_chunk(spec, first, end)

    monkeypatch.setattr(backends, "run_chunk", noted)
    assert_same(*both(monkeypatch, bandit, method, trials=2, chunk=2, max_pulls=3_000, **SHORT[method]))
    monkeypatch.setenv("BESTARM_SHORTCUTS", "1")  # as in a worker that knows nothing of it
    chunks.run_chunk(pickle.loads(pickle.dumps(specs[-1])), 0, 2)
    field = {"g-cbai": "ahead", "se-cbai": "stretch"}[method]
    rule: Any = specs[0].rule
    untouched = int(new_state(len(ARMS), rule).control[field][0])
    traces = [int(state.control[field][0]) for state in last]
    assert traces[0] != untouched
    assert traces[1:] == [untouched] * 2
