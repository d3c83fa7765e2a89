"""Forecasts: how many more rewards until a decision. They foretell what comes, and change nothing."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import binom

import bestarm as ba
from bestarm import Forecast, InputError
from bestarm.identification.engines.kernel import KernelEngine
from bestarm.identification.forecast import MOST_VALUES, _values
from bestarm.identification.robustness import history, standing

GAUSSIAN: dict[str, Any] = {"delta": 0.05, "epsilon": 0.05, "sigma": 1.0}
BERNOULLI: dict[str, Any] = {"delta": 0.05, "epsilon": 0.02, "bounds": (0, 1)}
CLEAN: dict[str, Any] = {"delta": 0.05, "epsilon": 0.0, "sigma": 1.0}
MEANS = {"sigma": (1.0, 0.5, 0.3, 0.0), "bounds": (0.7, 0.5, 0.4, 0.3)}
QUIET: dict[Any, float] = {0: 0.75, 1: 0.25}


class Arms:
    """Rewards of a seed; one in so many, as epsilon says, is replaced by 0."""

    def __init__(self, seed: int, settings: dict[str, Any], means: tuple[float, ...] | None = None) -> None:
        self.rng = np.random.default_rng(seed)
        self.bounded = "bounds" in settings
        self.means = means or MEANS["bounds" if self.bounded else "sigma"]
        self.epsilon = settings["epsilon"]

    def pull(self, arm: Any) -> float:
        mean = self.means[arm]
        reward = float(self.rng.random() < mean) if self.bounded else mean + self.rng.standard_normal()
        return 0.0 if self.rng.random() < self.epsilon else reward


def begun(
    settings: dict[str, Any], number: int, seed: int = 1, means: tuple[float, ...] | None = None
) -> ba.Identifier:
    """Return an identifier after so many rewards."""
    arms = Arms(seed, settings, means)
    finder = ba.Identifier(len(arms.means), **settings)
    while finder.pulls < number and not finder.done:
        arm = finder.ask()
        finder.tell(arm, arms.pull(arm))
    return finder


def constant(settings: dict[str, Any], number: int) -> ba.Identifier:
    """Return an identifier after so many rewards without noise."""
    finder = ba.Identifier(2, **settings)
    while finder.pulls < number:
        arm = finder.ask()
        finder.tell(arm, QUIET[arm])
    return finder


# ------------------------------------------------------------------------------------------------------ what it says


@pytest.mark.parametrize("settings", [GAUSSIAN, BERNOULLI, CLEAN], ids=["lattice", "bounds", "clean"])
def test_of_rewards_without_noise_it_is_exact(settings: dict[str, Any]) -> None:
    finder = constant(settings, 10)
    foretold = finder.forecast()
    left = 0
    while not finder.done:
        arm = finder.ask()
        finder.tell(arm, QUIET[arm])
        left += 1
    assert (foretold.outlook, foretold.rewards, foretold.low, foretold.high) == ("winner", left, left, left)
    assert finder.forecast() == Forecast("decided", 0, 0.0, 0.0)


def test_before_every_arm_has_five_rewards_it_is_too_early() -> None:
    finder = ba.Identifier(3, **CLEAN)
    finder.tell_many([0, 1, 2] * 4 + [0, 1], [1.0, 0.5, 0.0] * 4 + [1.0, 0.5])
    assert finder.forecast().outlook == "too early"
    finder.tell(2, 0.0)
    assert finder.forecast().outlook == "winner"


def test_a_lead_that_epsilon_hides_is_not_found_at_this_epsilon_and_a_wide_one_is() -> None:
    asked = {**GAUSSIAN, "epsilon": 0.2}
    hidden = begun(asked, 600, means=(0.1, 0.0)).forecast()
    assert hidden.outlook == "not at this epsilon"
    assert hidden.agreeing > hidden.replays / 2
    assert str(hidden).startswith("not at this epsilon: in ")
    wide = begun(asked, 24, means=(3.0, 0.0)).forecast()
    assert (wide.outlook, wide.agreeing) == ("winner", wide.replays)


def test_without_contamination_it_is_never_epsilon() -> None:
    same = np.tile([0.0, 0.0, 1.0, 1.0], 100)
    for resolution, outlook in ((0.2, "no winner"), (None, "beyond the horizon")):
        finder = ba.Identifier(2, **CLEAN, resolution=resolution)
        finder.tell_many([0, 1] * 200, same)
        assert finder.forecast().outlook == outlook


def test_a_forced_exploration_is_known_beforehand() -> None:
    finder = ba.Identifier(2, **{**GAUSSIAN, "epsilon": 0.01}, method="se-cbai")
    finder.tell_many([0, 1] * 10, [1.0, 0.0] * 10)
    foretold = finder.forecast()
    explored = ba.theory.exploration_pulls(0.005, 0.05, "hoeffding")
    assert (foretold.outlook, foretold.rewards, foretold.low) == (
        "beyond the horizon",
        None,
        2 * math.ceil(explored) - 20,
    )
    assert str(foretold).endswith("more rewards: the forced exploration takes as many")


@pytest.mark.parametrize("method", ["mean-se", "mean-gap", "se-cbai", "g-cbai", "median-se", "random"])
def test_the_papers_methods_are_foretold_by_their_estimates(method: str) -> None:
    finder = constant({**CLEAN, "sigma": 0.25, "method": method}, 12)
    foretold = finder.forecast()
    left = 0
    while not finder.done:
        arm = finder.ask()
        finder.tell(arm, QUIET[arm])
        left += 1
    assert foretold.outlook == "winner"
    assert foretold.low <= left <= foretold.high
    assert foretold.rewards is not None
    assert left / 2 <= foretold.rewards <= 2 * left


def test_of_sources_no_forecast_is_made() -> None:
    finder = ba.Identifier(2, **GAUSSIAN, contamination="sources")
    with pytest.raises(InputError, match="no forecast is made"):
        finder.forecast()


@pytest.mark.parametrize("seed", [None, -1, 0.5, True])
def test_what_is_no_seed_is_refused(seed: Any) -> None:
    with pytest.raises(InputError, match="seed must be"):
        begun(CLEAN, 40).forecast(seed)


@pytest.mark.parametrize(
    ("forecast", "sentence"),
    [
        (Forecast("decided", 0, 0.0, 0.0), "decided: no more rewards are needed"),
        (Forecast("too early", None, 0.0, math.inf), "too early for a forecast: an arm has fewer than 5 rewards"),
        (
            Forecast("winner", 1234, 812.0, 2111.0, 60, 58, 20_000),
            "about 1,200 more rewards (810 to 2,100): in 58 of 60 simulated continuations a winner is named",
        ),
        (
            Forecast("no winner", 1234, 7.0, math.inf, 60, 31, 20_000),
            "about 1,200 more rewards (7 to beyond 20,000), then no winner: in 31 of 60 simulated continuations it "
            "stops at its resolution",
        ),
        (
            Forecast("not at this epsilon", 995, 99.0, 1000.0, 10, 10, 20_000),
            "not at this epsilon: in 10 of 10 simulated continuations contamination of this kind could hide the "
            "remaining lead; about 1,000 more rewards (99 to 1,000), then it says so",
        ),
        (
            Forecast("beyond the horizon", None, 20_000.0, math.inf, 60, 45, 20_000),
            "not within 20,000 more rewards: in 45 of 60 simulated continuations",
        ),
        (
            Forecast("beyond the horizon", None, 75_100.0, math.inf, horizon=20_000),
            "not within 75,000 more rewards: the forced exploration takes as many",
        ),
    ],
)
def test_the_sentence_claims_what_was_done(forecast: Forecast, sentence: str) -> None:
    assert str(forecast) == sentence


# ------------------------------------------------------------------------------------------------- what it leaves be


@pytest.mark.parametrize(
    "settings",
    [
        GAUSSIAN,
        BERNOULLI,
        CLEAN,
        {**GAUSSIAN, "contamination": "share-of-all"},
        {**CLEAN, "method": "mean-se"},
        {**GAUSSIAN, "method": "g-cbai", "exploration": "none"},
        {**GAUSSIAN, "method": "median-se", "exploration": "none"},
    ],
    ids=["lattice", "bounds", "clean", "share-of-all", "mean-se", "g-cbai", "median-se"],
)
def test_what_follows_a_forecast_is_what_would_have_followed(settings: dict[str, Any]) -> None:
    plain, asked = begun(settings, 1), begun(settings, 1)
    arms = Arms(7, settings)
    outlooks = set()
    while not plain.done and plain.pulls < 600:
        if plain.pulls % 37 == 0:
            before = pickle.dumps(asked._engine)
            outlooks.add(asked.forecast().outlook)
            assert pickle.dumps(asked._engine) == before
        arm = plain.ask()
        assert asked.ask() == arm
        reward = arms.pull(arm)
        plain.tell(arm, reward)
        asked.tell(arm, reward)
    assert outlooks - {"too early", "decided"}  # replays were made
    states = [one._engine.state for one in (asked, plain) if isinstance(one._engine, KernelEngine)]
    for name in ("control", "arms", "used", "trees", "members"):  # the pool has room that nobody has written to
        np.testing.assert_array_equal(*(getattr(state, name) for state in states))
    of_both = zip(*(state.evidence or () for state in states), strict=True)
    for of_one, of_other in of_both:
        np.testing.assert_array_equal(of_one, of_other)
    assert asked.result == plain.result


def test_the_same_seed_gives_the_same_forecast_and_another_one_another() -> None:
    finder = begun(GAUSSIAN, 300)
    first = finder.forecast()
    assert first == finder.forecast(0) == begun(GAUSSIAN, 300).forecast()
    assert first != finder.forecast(1)


def test_what_is_pending_is_part_of_what_is_to_come() -> None:
    finder = begun(GAUSSIAN, 300)
    before = finder.forecast()
    finder.ask(50)
    assert finder.forecast() == before
    assert finder.pending == 50


def test_few_values_are_counted_and_many_thinned() -> None:
    values, counts = _values(np.array([1.0, 0.0, 1.0, 1.0]))
    assert (values.tolist(), counts.tolist()) == ([0.0, 1.0], [1.0, 3.0])
    tape = np.random.default_rng(1).standard_normal(10_001)
    values, counts = _values(tape)
    assert (values.size, counts.sum()) == (MOST_VALUES, 10_001)
    assert abs(np.average(values, weights=counts) - tape.mean()) < 0.1 / math.sqrt(10_001)
    assert abs(np.average(values**2, weights=counts) - (tape**2).mean()) < 0.01


# ------------------------------------------------------------------------------------------- evidence over time, drawn


@pytest.mark.parametrize(
    "settings", [GAUSSIAN, BERNOULLI, {**GAUSSIAN, "epsilon": 0.01, "contamination": "share-of-all"}]
)
def test_the_evidence_over_time_is_what_stood_at_each_time(settings: dict[str, Any]) -> None:
    finder = begun(settings, 10**6)
    log = finder._engine.rewards()
    past = history(finder._problem, finder._options, log, 0)
    assert len(past) == 30
    assert past[-1][0] == finder.pulls
    values = []
    for number, _ in past:
        then = ba.Identifier(4, **settings)
        then.tell_many(list(log.indices[:number]), list(log.values[:number]))
        dropped = then._engine.arms["dropped"] > 0
        values.append(standing(finder._problem, finder._options, log.first(number), 0, dropped).p_value)
    assert [value for _, value in past] == values
    assert values[0] == 1.0
    assert values[-2] < 1.0
    assert values[-1] <= 0.05


def test_the_picture_of_an_identifier_has_the_evidence_below() -> None:
    finder = begun(BERNOULLI, 150)
    intervals, leads, evidence = finder.plot().axes
    assert intervals.get_title(loc="left") == "no winner is named (undecided) after 150 rewards"
    assert leads.get_xlabel().startswith("lead of 0 over the arm")
    assert evidence.get_title(loc="left").startswith("evidence that 0 is the best")
    assert evidence.texts[0].get_text().startswith("below delta = 0.05 it is enough to rule out every other arm")
    numbers, values = np.array(evidence.lines[0].get_data())
    assert (len(numbers), numbers[-1], values[-1]) == (30, 150, finder.result.p_value)
    figure = Figure()
    given = figure.subplots()
    assert finder.plot(given) is figure
    assert figure.axes == [given]
    assert given.get_title(loc="left") == intervals.get_title(loc="left")


def test_once_decided_the_evidence_ends_with_the_decision() -> None:
    finder = constant(BERNOULLI, 10)
    while not finder.done:
        finder.tell_many([0, 1], [0.75, 0.25])
    finder.tell_many([0, 1] * 20, [0.75, 0.25] * 20)
    numbers, values = np.array(finder.plot().axes[2].lines[0].get_data())
    assert (numbers[-1], values[-1]) == (finder.result.pulls, finder.result.p_value)


def test_without_a_log_of_rewards_there_is_no_evidence_over_time() -> None:
    assert len(begun({**CLEAN, "method": "mean-se"}, 40).plot().axes) == 1
    finder = ba.Identifier(2, **GAUSSIAN, contamination="sources")
    finder.tell_many([0, 1] * 20, [1.0, 0.0] * 20, sources=list(range(40)))
    assert all("evidence" not in panel.get_title(loc="left") for panel in finder.plot().axes)
    assert len(ba.Identifier(2, **GAUSSIAN).plot().axes) == 1


# -------------------------------------------------------------------------------------------------------- the promise


def covered(settings: dict[str, Any], runs: int) -> tuple[int, int, int, int]:
    """Return how often the range has the true number, half way; that is below, or above it; the range has an end."""
    inside = below = above = ended = 0
    for seed in range(runs):
        arms = Arms(seed, settings)
        log = []
        finder = ba.Identifier(len(arms.means), **settings)
        while not finder.done:
            arm = finder.ask()
            log.append((arm, arms.pull(arm)))
            finder.tell(*log[-1])
        half = len(log) // 2
        stopped = ba.Identifier(len(arms.means), **settings)
        stopped.tell_many([arm for arm, _ in log[:half]], [reward for _, reward in log[:half]])
        foretold, left = stopped.forecast(seed), len(log) - half
        inside += foretold.replays > 0 and foretold.low <= left <= foretold.high
        ended += foretold.high < math.inf
        below += left < foretold.low
        above += left > foretold.high
    return inside, below, above, ended


@pytest.mark.slow
@pytest.mark.parametrize("settings", [GAUSSIAN, BERNOULLI, CLEAN], ids=["gaussian", "bernoulli", "clean"])
def test_the_range_has_the_true_number_in_more_than_six_of_ten_runs(settings: dict[str, Any]) -> None:
    """Measured: in 130, 121 and 112 of 150 runs. Where it has not, it is mostly too high."""
    runs = 150
    inside, below, above, ended = covered(settings, runs)
    assert binom.sf(inside - 1, runs, 0.6) < 0.01, (inside, below, above, ended)
    assert ended > 0.8 * runs
