"""What a verdict rests on is said, and is needed; what a verdict at its resolution says is true."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bestarm as ba
from bestarm.contamination.words import CLEAN, ONE_MEAN, ORDER
from bestarm.identification.robustness import detectable_lead
from bestarm.methods import METHODS

LEADS: list[dict[str, Any]] = [
    {"sigma": 2.0, "epsilon": 0.0, "resolution": 0.3},
    {"sigma": 2.0, "epsilon": 0.01, "resolution": 0.3},
    {"bounds": (0.0, 1.0), "epsilon": 0.01, "resolution": 0.06},
]


def stopped(lead: float, seed: int, question: dict[str, Any]) -> ba.Identifier:
    """The verdict on clean rewards of two arms, of which the first leads."""
    random = np.random.default_rng(seed)
    finder = ba.Identifier(["A", "B"], delta=0.05, **question)
    number = 4 * int(np.ceil(np.log(20) * ((question.get("sigma") or 0.5) / question["resolution"]) ** 2)) + 100
    if "bounds" in question:
        pairs = (random.random((number, 2)) < 0.5 + 0.5 * lead * np.array([1.0, -1.0])).astype(np.float64)
    else:
        pairs = random.normal([lead, 0.0], question["sigma"], (number, 2))
    finder.tell_many(["A", "B"] * number, pairs.ravel().tolist())
    assert finder.done
    return finder


def is_found(finder: ba.Identifier) -> bool:
    """Without what else a result says, which takes longer than the rewards."""
    assert finder._engine.decided is not None
    return finder._engine.decided.best == 0


@pytest.mark.slow
@pytest.mark.parametrize("question", LEADS)
def test_the_lead_that_is_said_to_be_found_is_found_nine_times_out_of_ten(question: dict[str, Any]) -> None:
    none = stopped(0.0, 3, question)
    while none.result.limit != "resolution":
        none = stopped(0.0, none.pulls, question)
    lead = none.result.detectable
    assert lead is not None
    assert lead > question["resolution"]
    found = sum(is_found(stopped(lead, seed, question)) for seed in range(100, 250))
    assert stats.binom.cdf(found, 150, 0.9) > 1e-3
    assert stats.binom.sf(found - 1, 150, 0.98) > 1e-3  # and a much smaller one is not
    smaller = sum(is_found(stopped(question["resolution"], seed, question)) for seed in range(100, 150))
    assert stats.binom.cdf(smaller, 50, 0.9) < 1e-3  # which the sentence once said


def test_a_verdict_at_its_resolution_says_which_lead_would_have_been_found() -> None:
    result = stopped(0.0, 3, LEADS[1]).result
    assert (result.status, result.limit) == ("indistinguishable", "resolution")
    assert result.detectable is not None
    said = f"a lead of {result.detectable:.2g} of one arm over another would have been found with probability 0.9"
    assert said in str(result)
    assert "normally" not in str(result)
    assert result.to_dict()["detectable"] == result.detectable


def test_more_fakes_hide_a_larger_lead() -> None:
    leads = []
    for epsilon in (0.001, 0.01, 0.05):
        finder = ba.Identifier(2, delta=0.05, epsilon=epsilon, sigma=1.0)
        leads.append(detectable_lead(finder._problem, finder._options, 300, 600))
    assert all(one is not None and two is not None and one < two for one, two in itertools.pairwise(leads))


@pytest.mark.parametrize("method", METHODS)
def test_the_live_sentence_names_every_assumption(method: str) -> None:
    epsilon = 0.0 if method.startswith("mean") else 0.1
    options: dict[str, Any] = {} if method in ("certified", "mean-se", "mean-gap") else {"exploration": "none"}
    finder = ba.Identifier(["A", "B"], delta=0.1, epsilon=epsilon, sigma=1.0, method=method, **options)
    while not finder.done:
        arm = finder.ask()
        finder.tell(arm, 9.0 if arm == "A" else 0.0)
    for clause in (CLEAN, ORDER):
        assert clause in str(finder.result)
        assert clause in "; ".join(finder.result.assumptions)
    assert finder.result.to_dict()["assumptions"] == list(finder.result.assumptions)


def test_a_replay_and_sources_name_theirs(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    log = pd.DataFrame({"arm": ["A", "B"] * 300, "reward": random.binomial(1, [0.9, 0.2] * 300) * 1.0})
    log["source"] = np.arange(600) // 2  # each said something of both
    replayed = ba.identify_log(log, arm="arm", reward="reward", epsilon=0.0, bounds=(0, 1), sequential=True)
    assert replayed.best == "A"
    assert f"{CLEAN}; {ORDER}" in str(replayed)
    by_source = ba.identify_log(
        log, arm="arm", reward="reward", source="source", epsilon=0.0, bounds=(0, 1), sequential=True
    )
    assert f"{ONE_MEAN}; {ORDER}" in by_source.promise
    assert CLEAN not in by_source.promise  # what a source says of several arms may be alike
    at_once = ba.identify_log(log, arm="arm", reward="reward", source="source", epsilon=0.0, bounds=(0, 1))
    assert ONE_MEAN in at_once.assumptions


def test_votes_of_one_battle_told_to_both_arms_break_the_promise() -> None:
    """They are not independent: what one arm wins the other loses, so that differences are twice as wide."""
    wrong = 0
    for seed in range(100):
        random = np.random.default_rng([4, seed])
        won = (random.random(600) < 0.5) * 1.0
        finder = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.0, bounds=(0, 1))
        finder.tell_many(["A", "B"] * 600, np.stack([won, 1.0 - won], axis=1).ravel())
        wrong += finder.done
    assert stats.binom.sf(wrong - 1, 100, 0.05) < 1e-3
