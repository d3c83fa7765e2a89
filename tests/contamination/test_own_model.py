"""A contamination model of the user's own, passed as an instance wherever a name can be passed."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import bestarm as ba
from bestarm.contamination import Coin, Share, resolve
from bestarm.contamination.sources import Sources
from bestarm.errors import InputError


class Seeing(Coin):
    """Like malicious, under another name and at a rate that is a multiple of epsilon."""

    name = "seeing"
    words = "each reward is replaced with probability at most `times` epsilon, by a coin that sees it"

    def __init__(self, times: float = 1.0) -> None:
        self.times = times

    def price(self, phi: Any, most: Any, least: Any, epsilon: float) -> Any:
        return phi + self.times * epsilon * (most - least)


class Burst(Share):
    """A share of each arm's rewards, and some more."""

    name = "burst"
    words = "at most a share epsilon of each arm's rewards was replaced, and a burst of them besides"

    def __init__(self, burst: int) -> None:
        self.burst = burst


class SourcesAndBurst(Sources):
    """A share of the sources, and some more."""

    name = "sources-and-burst"
    words = "at most a share epsilon of the sources is dishonest, and a few more"
    burst = 6


QUESTION: dict[str, Any] = {"delta": 0.05, "epsilon": 0.05}


def told(contamination: Any, scale: dict[str, Any], number: int = 300) -> ba.Identifier[str]:
    rng = np.random.default_rng(5)
    finder = ba.Identifier(["A", "B"], **QUESTION, **scale, contamination=contamination)
    rewards = (rng.random((number, 2)) < (0.8, 0.3)).astype(float)
    finder.tell_many(["A", "B"] * number, rewards.ravel())
    return finder


@pytest.mark.parametrize("scale", [{"bounds": (0, 1)}, {"sigma": 0.5}])
def test_the_same_price_gives_the_same_verdict(scale: dict[str, Any]) -> None:
    own, named = told(Seeing(), scale).result, told("malicious", scale).result
    assert (own.status, own.best, own.pulls, own.leads, own.p_value, own.tolerance, own.overturn) == (
        named.status,
        named.best,
        named.pulls,
        named.leads,
        named.p_value,
        named.tolerance,
        named.overturn,
    )
    assert own.best == "A"
    assert Seeing.words in str(own)


@pytest.mark.parametrize("scale", [{"bounds": (0, 1)}, {"sigma": 0.5}])
def test_a_dearer_price_takes_more_pulls_and_a_burst_too(scale: dict[str, Any]) -> None:
    cheap, dear = told(Seeing(1.0), scale).result, told(Seeing(3.0), scale).result
    assert cheap.status == "identified"
    assert dear.pulls > cheap.pulls
    few, many = told(Burst(0), scale).result, told(Burst(5), scale).result
    assert few.pulls == told("share-of-arm", scale).result.pulls
    assert many.pulls > few.pulls
    assert many.status == "identified"


def test_sources_with_a_burst_take_more_sources_live_and_count_it_in_a_log(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    arms = rng.integers(2, size=800)
    rewards = (rng.random(800) < np.array([0.9, 0.2])[arms]).astype(float)
    pulls = []
    for kind in ("sources", SourcesAndBurst()):
        finder = ba.Identifier(2, **QUESTION, bounds=(0, 1), contamination=kind)
        finder.tell_many(arms.tolist(), rewards, sources=[*range(800)])
        assert finder.result.best == 0
        pulls.append(finder.result.pulls)
    assert pulls[1] > pulls[0]
    rows = pd.DataFrame({"arm": arms, "reward": rewards, "who": range(800)})
    columns: dict[str, Any] = {"arm": "arm", "reward": "reward", "source": "who"}
    found = ba.identify_log(rows, **columns, **QUESTION, bounds=(0, 1), contamination=SourcesAndBurst())
    assert (found.best, found.sources, found.replaced) == ("0", 800, 46)
    found.report(tmp_path / "report.md")
    assert "of the 800 sources, at most 5 % (that is, 46) are dishonest" in (tmp_path / "report.md").read_text()


def test_the_name_is_what_results_show_and_the_instance_survives_a_pickle() -> None:
    finder = told(Burst(5), {"bounds": (0, 1)}, number=10)
    assert finder.result.options["contamination"] == "burst"
    assert json.loads(finder.result.to_json())["options"]["contamination"] == "burst"
    again = pickle.loads(pickle.dumps(finder))
    for one in (finder, again):
        one.tell_many(["A", "B"] * 100, [1.0, 0.0] * 100)
    assert again.result == finder.result
    model = again.result.options["contamination"]
    assert isinstance(model, Burst)
    assert model.burst == 5


def test_identify_and_simulate_take_it() -> None:
    found = ba.identify(
        lambda arm: {"A": 0.9, "B": 0.2}[arm], ["A", "B"], **QUESTION, bounds=(0, 1), contamination=Burst(2)
    )
    assert found.best == "A"
    bandit = ba.Bandit([ba.Bernoulli(0.8), ba.Bernoulli(0.3)], 0.05, ba.adversaries.Point([0.0, 1.0]))
    runs = [
        ba.simulate(bandit, "certified", delta=0.05, bounds=(0, 1), trials=20, seed=3, contamination=kind)
        for kind in ("malicious", Seeing(), Seeing(2.0))
    ]
    assert runs[0].pulls.tolist() == runs[1].pulls.tolist()
    assert runs[2].mean_pulls > runs[1].mean_pulls


def test_a_checkpoint_tells_two_models_of_one_name_apart(tmp_path: Path) -> None:
    bandit = ba.Bandit([ba.Bernoulli(0.8), ba.Bernoulli(0.3)])
    run: dict[str, Any] = {"delta": 0.05, "epsilon": 0.05, "bounds": (0, 1), "trials": 5, "seed": 3}
    first = ba.simulate(bandit, "certified", **run, contamination=Seeing(), checkpoint=tmp_path / "run")
    again = ba.simulate(bandit, "certified", **run, contamination=Seeing(), checkpoint=tmp_path / "run", resume=True)
    assert again.pulls.tolist() == first.pulls.tolist()
    with pytest.raises(InputError, match="prices"):
        ba.simulate(bandit, "certified", **run, contamination=Seeing(2.0), checkpoint=tmp_path / "run", resume=True)


@pytest.mark.parametrize("scale", [{"bounds": (0, 1)}, {"sigma": 0.5}])
def test_identify_log_takes_it(scale: dict[str, Any]) -> None:
    rng = np.random.default_rng(6)
    rows = pd.DataFrame({"arm": ["A", "B"] * 200, "reward": (rng.random(400) < np.tile([0.8, 0.3], 200)).astype(float)})

    def judged(kind: Any) -> ba.LogResult:
        return ba.identify_log(rows, arm="arm", reward="reward", **QUESTION, **scale, contamination=kind)

    own, named = judged(Seeing()), judged("malicious")
    assert (own.status, own.best, own.p_value, own.tolerance) == ("identified", "A", named.p_value, named.tolerance)
    few, many = judged(Burst(0)), judged(Burst(7))
    assert few.p_value == judged("share-of-arm").p_value
    assert few.p_value is not None
    assert many.p_value is not None
    assert many.p_value > few.p_value
    assert (few.replaced, many.replaced) == (10, 17)
    assert few.overturn == many.overturn
    assert Burst.words in str(many)
    assert many.options["contamination"] == "burst"


def test_a_class_in_place_of_an_instance_is_rejected_with_the_fix() -> None:
    with pytest.raises(InputError, match="pass an instance, not the class"):
        ba.Identifier(2, **QUESTION, sigma=1.0, contamination=Burst)


def test_a_study_keeps_names_only(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contamination must be the name of a model in a study, got 'burst'"):
        ba.Study(
            f"sqlite:///{tmp_path / 'studies.db'}", "first", arms=2, **QUESTION, bounds=(0, 1), contamination=Burst(5)
        )


@pytest.mark.parametrize(
    ("contamination", "covered"), [(Seeing(), "coin-on-best"), (Burst(3), "quota-gross"), (Seeing(2.0), "hidden")]
)
def test_the_promise_holds_against_an_attack_that_it_covers(contamination: Any, covered: str) -> None:
    """400 trials at delta = 0.1: more errors than the bound come with probability 0.001 if the promise is kept."""
    arms = [ba.Gaussian(1.2), ba.Gaussian(0.0)]
    power, build = ba.bandits.ATTACKS[covered]
    assert contamination.covers(power)
    bandit = ba.Bandit(arms, 0.05, build(arms, 0.05))
    trials = ba.simulate(bandit, "certified", delta=0.1, sigma=1.0, trials=400, seed=11, contamination=contamination)
    assert trials.wrong <= binom.isf(0.001, 400, 0.1)
    assert trials.decided > 200


def test_a_plan_takes_it() -> None:
    made = ba.plan([0.9, 0.1], bounds=(0, 1), epsilon=0.05, delta=0.05, contamination=Burst(3), methods=[])
    assert made.to_dict()["contamination"] == "burst"
    assert f"contamination   burst: {Burst.words}" in made.facts()
    assert not resolve(made.contamination).bias_is_known
