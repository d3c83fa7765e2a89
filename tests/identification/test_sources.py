"""Contamination by sources: each counts once, whatever it says and however often; by differences if `paired`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import bestarm as ba
from bestarm.identification.engines.sources import SourcesEngine

Says = Callable[[np.random.Generator], list[float]]  # what an honest source would say of each arm


def violated(wrong: int, trials: int, delta: float) -> bool:
    """Whether so many wrong answers would come up in less than one of 1,000 such tests if the rate were delta."""
    return bool(binom.sf(wrong - 1, trials, delta) < 1e-3)


def finder_of(arms: Any, **told: Any) -> ba.Identifier:
    return ba.Identifier(arms, contamination="sources", **{"delta": 0.05, "epsilon": 0.0, **told})


def poll(
    seed: int, honest: Says, sources: int, *, every: int = 0, fake: tuple[float, float] = (0.0, 1.0), **told: Any
) -> ba.Identifier:
    """Two arms, each source asked about both in random order; one of `every` says what speaks most for arm 1."""
    rng = np.random.default_rng([71, seed])
    finder = finder_of(2, **told)
    for source in range(1, sources + 1):
        says = list(fake) if every and source % every == 0 else honest(rng)
        for arm in rng.permutation(2).tolist():
            finder.tell(arm, says[arm], source)
        if finder.done:
            break
    return finder


# ---------------------------------------------------------------------------------------------------- caption contest

BOTS_FOR = 4
BEST = 19


def contest(seed: int, bots: int = 40, voters: int = 3000) -> ba.Identifier:
    """20 captions with 1 to 5 points; voters with 14 votes, and after each 74 of them a bot with 90 for one caption."""
    rng = np.random.default_rng([72, seed])
    means = np.append(np.linspace(2.0, 3.2, 19), 3.6)
    finder = finder_of(20, epsilon=0.015, bounds=(1.0, 5.0))
    for voter in range(voters):
        seen = rng.choice(20, 14, replace=False)
        points = 1.0 + rng.binomial(4, (means[seen] - 1.0) / 4.0)
        finder.tell_many(seen.tolist(), points.tolist(), [f"voter {voter}"] * 14)
        if voter % 74 == 73 and voter // 74 < bots:
            finder.tell_many([BOTS_FOR] * 90, [5.0] * 90, [f"bot {voter}"] * 90)
        if finder.done:
            break
    return finder


def test_bots_who_vote_often_do_not_make_their_caption_win() -> None:
    result = contest(0).result
    assert (result.status, result.best) == ("identified", BEST)
    assert "of the sources" in str(result)
    assert "at most a share epsilon" in str(result)


@pytest.mark.slow
def test_bots_never_win() -> None:
    """8 contests, seeds 1 to 8."""
    for seed in range(1, 9):
        assert contest(seed).result.best == BEST


def test_the_same_votes_told_without_their_sources_crown_the_bots() -> None:
    """Why it matters who voted: 400 honest votes, as many of 5 points by five bots, and 5 of 405 sources are fine."""
    rng = np.random.default_rng(73)
    votes = [(arm, float(rng.integers(1, 4))) for _ in range(200) for arm in (0, 1)]
    apart = ba.Identifier(2, delta=0.05, epsilon=0.02, bounds=(1.0, 5.0))
    known = finder_of(2, epsilon=0.02, bounds=(1.0, 5.0))
    for place, (arm, points) in enumerate(votes):
        apart.tell(arm, points)
        known.tell(arm, points, ("voter", place))
        if place % 8 == 7:
            apart.tell_many([1] * 8, [5.0] * 8)
            known.tell_many([1] * 8, [5.0] * 8, [("bot", place // 80)] * 8)
    assert apart.result.best == 1
    assert known.result.best is None


# --------------------------------------------------------------------------------------------------------- counts once


def test_what_a_source_says_again_of_an_arm_changes_nothing_of_the_verdict() -> None:
    once, often = finder_of(2, epsilon=0.02, bounds=(0.0, 1.0)), finder_of(2, epsilon=0.02, bounds=(0.0, 1.0))
    rng = np.random.default_rng(74)
    for source in range(200):
        for arm in rng.permutation(2).tolist():
            reward = float(rng.random() < (0.75, 0.35)[arm])
            once.tell(arm, reward, source)
            often.tell(arm, reward, source)
            often.tell_many([arm] * 5, [reward] * 5, [source] * 5)
        assert once.done == often.done
        if once.done:
            break
    assert once.done
    one, other = once.result, often.result
    assert (one.status, one.best, one.candidates) == (other.status, other.best, other.candidates)
    assert (one.leads, one.p_value) == (other.leads, other.p_value)


def test_what_a_source_says_again_of_an_arm_does_not_move_estimates_nor_the_leader() -> None:
    once, often = finder_of(2, epsilon=0.1, bounds=(0.0, 1.0)), finder_of(2, epsilon=0.1, bounds=(0.0, 1.0))
    rng = np.random.default_rng(75)
    for source in range(20):
        for arm in (0, 1):
            reward = float(rng.random() < (0.8, 0.4)[arm])
            once.tell(arm, reward, source)
            often.tell(arm, reward, source)
    often.tell_many([1] * 300, [1.0] * 300, [0] * 300)
    assert often.result.leader == once.result.leader == 0
    assert [row.estimate for row in often.estimates] == [row.estimate for row in once.estimates]


@pytest.mark.parametrize("told", [{"sigma": 1.0}, {"bounds": (0.0, 50.0)}], ids=["sigma", "bounds"])
def test_dishonest_sources_that_repeat_themselves_are_one_source_each(told: dict[str, Any]) -> None:
    """30 trials, a gap of 1 sigma; every 21st source says 50 of the worse arm, 90 times. No alarm: the share holds."""
    wrong = alarms = 0
    for seed in range(30):
        rng = np.random.default_rng([76, seed])
        finder = finder_of(2, epsilon=0.05, **told)
        for source in range(1, 200):
            if source % 21 == 0:
                finder.tell_many([1] * 90, [50.0] * 90, [source] * 90)
            else:
                for arm in rng.permutation(2).tolist():
                    finder.tell(arm, float(np.clip(rng.normal(11.0 - arm), 0.0, 50.0)), source)
            if finder.done:
                break
        wrong += finder.result.best == 1
        alarms += bool(finder.result.alarms)
    assert not violated(wrong, 30, 0.05)
    assert not violated(alarms, 30, 0.05)


# -------------------------------------------------------------------------------------------------------------- paired


def items_needed(seed: int, paired: bool) -> int:
    """Test items that are easy or hard for both prompts; A is better by 0.06 on each. How many until A is named?"""
    rng = np.random.default_rng([77, seed])
    finder = finder_of(["A", "B"], bounds=(0.0, 1.0), paired=paired)
    for item in range(3000):
        ease = rng.uniform(0.05, 0.85)
        for label in ("A", "B") if rng.random() < 0.5 else ("B", "A"):
            finder.tell(label, ease + (0.06 if label == "A" else 0.0) + rng.uniform(-0.04, 0.04), f"item {item}")
        if finder.done:
            break
    assert finder.result.best in ("A", None)
    engine = finder._engine
    assert isinstance(engine, SourcesEngine)
    return engine.sources.number


def test_the_same_items_for_all_prompts_are_worth_far_more_paired() -> None:
    """Medians of 5 runs, seeds 0 to 4."""
    paired = np.median([items_needed(seed, True) for seed in range(5)])
    apart = np.median([items_needed(seed, False) for seed in range(5)])
    assert paired < 200
    assert apart > 3.0 * paired


# ------------------------------------------------------------------------------------------------------------- promise

HONEST: dict[str, Says] = {  # both nearly tied; arm 0 is better by 0.005
    "independent": lambda rng: [float(rng.random() < 0.505), float(rng.random() < 0.5)],
    "generous or strict": lambda rng: (lambda u: [float(u < 0.505), float(u < 0.5)])(rng.random()),
    "one or the other": lambda rng: (lambda u: [float(u < 0.505), float(u >= 0.5)])(rng.random()),
}


@pytest.mark.slow
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("honest", HONEST)
@pytest.mark.parametrize("every", [0, 25])
def test_a_near_tie_is_decided_wrongly_no_more_often_than_promised(honest: str, paired: bool, every: int) -> None:
    """60 trials of up to 150 sources, delta = 0.3, however what a source says of two arms depends; seeds [71, ...]."""
    told: dict[str, Any] = {"delta": 0.3, "epsilon": 0.04 if every else 0.0, "bounds": (0.0, 1.0), "paired": paired}
    found = [poll(seed, HONEST[honest], 150, every=every, **told).result.best for seed in range(60)]
    assert not violated(found.count(1), 60, 0.3)


@pytest.mark.slow
def test_a_near_tie_of_sub_gaussian_rewards_is_decided_wrongly_no_more_often_than_promised() -> None:
    """60 trials of up to 150 sources, delta = 0.3, every 25th dishonest; seeds [71, ...]."""
    told: dict[str, Any] = {"delta": 0.3, "epsilon": 0.04, "sigma": 1.0}
    found = [
        poll(seed, lambda rng: [rng.normal(0.01), rng.normal(0.0)], 150, every=25, fake=(-9.0, 9.0), **told).result.best
        for seed in range(60)
    ]
    assert not violated(found.count(1), 60, 0.3)


def test_paired_names_the_better_arm_although_a_share_of_the_sources_lies() -> None:
    finder = poll(
        1, lambda rng: (lambda u: [float(u < 0.8), float(u < 0.3)])(rng.random()), 400, every=25,
        epsilon=0.04, bounds=(0.0, 1.0), paired=True,
    )  # fmt: skip
    assert finder.result.best == 0


# -------------------------------------------------------------------------------------------------------------- errors


def test_a_source_is_given_with_contamination_by_sources_and_only_there() -> None:
    finder = finder_of(2, bounds=(0.0, 1.0))
    with pytest.raises(ba.InputError, match="source must be given"):
        finder.tell(0, 0.5)
    with pytest.raises(ba.InputError, match="source must be given"):
        finder.tell_many([0, 1], [0.5, 0.5])
    with pytest.raises(ba.InputError, match="source must be given"):
        finder.tell_many([0, 1], [0.5, 0.5], ["a", None])
    with pytest.raises(ba.InputError, match="source must be given"):
        finder.tell(0, 0.5, float("nan"))
    unhashable: Any = ["a"]
    with pytest.raises(ba.InputError, match="source must be given"):
        finder.tell(0, 0.5, unhashable)
    with pytest.raises(ba.InputError, match="sources must be as many as arms"):
        finder.tell_many([0, 1], [0.5, 0.5], ["a"])
    assert finder.pulls == 0  # nothing was taken in
    other = ba.Identifier(2, delta=0.1, epsilon=0.1, bounds=(0.0, 1.0))
    with pytest.raises(ba.InputError, match="come with contamination='sources'"):
        other.tell(0, 0.5, "a")
    with pytest.raises(ba.InputError, match="come with contamination='sources'"):
        other.tell_many([0, 1], [0.5, 0.5], ["a", "b"])
    assert other.pulls == 0


def test_paired_needs_bounds() -> None:
    with pytest.raises(ba.InputError, match="paired must come with bounds"):
        finder_of(2, sigma=1.0, paired=True)
    not_bool: Any = 1
    with pytest.raises(ba.InputError, match="paired must be True or False"):
        finder_of(2, bounds=(0.0, 1.0), paired=not_bool)


def test_simulated_rewards_have_no_sources() -> None:
    bandit = ba.Bandit([ba.Bernoulli(0.6), ba.Bernoulli(0.4)])
    with pytest.raises(ba.InputError, match="contamination must not be sources"):
        ba.simulate(bandit, "certified", delta=0.1, bounds=(0.0, 1.0), trials=1, contamination="sources")


def test_a_share_of_sources_holds_from_the_first_whole_number_on() -> None:
    """Of 500 sources one may be dishonest at epsilon = 0.002, so one of the first may be."""
    finder = ba.Identifier(2, delta=0.05, epsilon=0.002, sigma=1.0, contamination="sources", share_from=499.9)
    engine = finder._engine
    assert isinstance(engine, SourcesEngine)
    assert engine.sources.count == 1
