"""What the benchmark compares bestarm with does the same: the same estimates, the same answers after the same pulls."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.peer_scripts.bestarm_itself import bandit
from benchmarks.peer_scripts.elimination import ESTIMATORS, eliminate
from benchmarks.peers import PROBLEM, SHORT, Peer, Race, elimination, nanoseconds, rewards_of, row
from scipy.stats import trim_mean

import bestarm as ba
from bestarm.simulation.seeds import trial_seeds

PEER = Peer("theirs", "ours", "pull", (), "", {}, {})


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.3])
def test_estimators_of_the_peers_are_trimmed_means_of_every_prefix(estimator: str, alpha: float) -> None:
    rng = np.random.default_rng(1)
    rewards = np.where(rng.random(1500) < 0.1, 1000.0, rng.normal(size=1500).round(1))  # with ties
    data = ESTIMATORS[estimator](alpha)
    found = []
    for reward in rewards:
        data.add(float(reward))
        found.append(data.trimmed_mean())
    assert found == pytest.approx([trim_mean(rewards[:n], alpha) for n in range(1, 1501)], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_peers_name_the_same_arm_after_the_same_pulls_as_bestarm(estimator: str) -> None:
    arms = bandit(elimination(SHORT))
    seed = PROBLEM["seed"]
    trials = ba.simulate(arms, "se-cbai", delta=PROBLEM["delta"], trials=2, seed=seed)
    settings = (PROBLEM["delta"], PROBLEM["epsilon"], PROBLEM["sigma"], estimator)
    found = [eliminate(rewards_of(arms, child).tolist(), 4, *settings) for child in trial_seeds(seed, 2)]
    assert found == list(zip(trials.answers.tolist(), trials.pulls.tolist(), strict=True))


def test_the_fastest_turn_counts_and_the_table_shows_the_ratio() -> None:
    slow, fast = {"seconds": 2.0, "count": 10**6}, {"seconds": 3.0, "count": 2 * 10**6}
    assert nanoseconds([slow, fast]) == pytest.approx(1500.0)
    line = row(PEER, Race([slow, fast], [{"seconds": 0.5, "count": 10**6}]))
    assert line == ("theirs", "ours", "pull", "1,500", "500", "3.0", "-")


def test_the_table_tells_whether_the_outcomes_are_the_same() -> None:
    def one(pulls: int) -> dict[str, object]:
        return {"seconds": 1.0, "count": 1, "outcome": [[0, pulls]]}

    assert Race([one(5)], [one(5), one(5)]).same_outcome is True
    assert Race([one(5)], [one(5), one(6)]).same_outcome is False
    assert row(PEER, Race([one(5)], [one(6)]))[-1] == "NO"
