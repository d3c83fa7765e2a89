"""The alarm for cancelled pulls: rare while epsilon is true, however often it is read and whatever ends first."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

import bestarm as ba
from bestarm.contamination import _base
from bestarm.contamination.coins import log_excess
from bestarm.identification.cancelled import CancelAlarm
from bestarm.problem import pose


def violated(count: int, trials: int, level: float) -> bool:
    """Whether so many would come up in less than one of 1,000 such tests if the rate were this."""
    return bool(binom.sf(count - 1, trials, level) < 1e-3)


def rings(hits: np.ndarray[Any, Any], epsilon: float, arms: int = 1) -> bool:
    """Whether an alarm rings at any time for one of the arms if these of its pulls are cancelled, in order."""
    alarm = CancelAlarm(pose(max(arms, 2), delta=0.05, epsilon=epsilon, bounds=(0, 1)), {})
    for number, place in enumerate(np.flatnonzero(hits).tolist(), 1):
        alarm.note(0, number, place + 1)
    return bool(alarm.sentences())


@pytest.mark.parametrize(("hits", "of", "epsilon"), [(0, 10, 0.1), (3, 10, 0.1), (40, 200, 0.05), (9, 900, 0.02)])
def test_the_evidence_is_the_average_likelihood_ratio(hits: int, of: int, epsilon: float) -> None:
    def ratio(q: float) -> float:
        return math.exp(hits * math.log(q / epsilon) + (of - hits) * math.log((1.0 - q) / (1.0 - epsilon)))

    points = [hits / of] if hits / of > epsilon else None
    average = quad(ratio, epsilon, 1.0, points=points, limit=200)[0] / (1.0 - epsilon)
    assert math.exp(log_excess(hits, of, epsilon)) == pytest.approx(average, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.02, 0.1])
def test_it_has_mean_one_at_the_edge_and_rises_with_every_hit(epsilon: float) -> None:
    """E M_n = 1 if every position is hit with probability epsilon, as the integral of binomial likelihoods says."""
    values = [math.exp(log_excess(hits, 60, epsilon)) for hits in range(61)]
    assert binom.pmf(np.arange(61), 60, epsilon) @ np.array(values) == pytest.approx(1.0)
    assert values == sorted(values)
    assert log_excess(5, 60, epsilon) > log_excess(5, 61, epsilon)


@pytest.mark.parametrize("length", [1_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_false_alarm_is_as_rare_as_said(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read at every cancelled pull, at the edge. The test of before rang in 1.3 % by 1,000 and 3.2 % by 10^5."""
    trials = 500 if length == 1_000 else 60
    rng = np.random.default_rng(85)
    hits = [rng.random(length) < 0.05 for _ in range(trials)]
    assert sum(rings(each, 0.05) for each in hits) <= 1
    monkeypatch.setattr(_base, "FALSE_ALARM", 0.4)  # of two arms: each has half of it
    assert not violated(sum(rings(each, 0.05) for each in hits), trials, 0.2)


def test_a_real_excess_rings() -> None:
    """15 % of 400 pulls at epsilon = 5 %, in each of 20 trials."""
    rng = np.random.default_rng(86)
    assert all(rings(rng.random(400) < 0.15, 0.05) for _ in range(20))


@pytest.mark.parametrize("contamination", ["causal", "prescient", "malicious", "share-of-arm", "share-of-all"])
def test_it_does_not_matter_which_pulls_end_first(contamination: str) -> None:
    """All that is cancelled ends before any reward comes: each twentieth of 400 pulls, as epsilon allows for."""
    finder = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.05, bounds=(0, 1), contamination=contamination)
    pulls = finder.ask_pulls(400)
    for pull in pulls[38::40] + pulls[39::40]:
        finder.cancel(pull)
        assert finder.result.alarms == ()
    for pull in pulls:
        if pull.number % 40 < 38:
            finder.tell(pull, 0.5)
    assert finder.result.alarms == ()


def dead_worker(seed: int) -> ba.Identifier:
    """0.7 against 0.4, 25 workers, 4 % cancelled at epsilon = 10 %; one dies with its third pull, which ends late."""
    rng = np.random.default_rng([87, seed])
    finder = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.1, bounds=(0, 1))
    lost: list[ba.Pull] = []
    for turn in range(400):
        for pull in finder.ask_pulls(4):
            if pull.number == 2:
                lost.append(pull)
            elif rng.random() < 0.04:
                finder.cancel(pull)
            else:
                finder.tell(pull, float(rng.random() < {"A": 0.7, "B": 0.4}[str(pull.arm)]))
        if turn % 50 == 49:
            assert finder.result.alarms == ()
        if turn == 150:
            finder.cancel(lost[0])
        if finder.done:
            break
    return finder


def test_a_dead_worker_is_no_alarm_and_voids_no_decision() -> None:
    """10 seeds. Against the rewards used it rang in each of them, and in the decision of two."""
    for seed in range(10):
        finder = dead_worker(seed)
        assert finder.result.best == "A"
        assert finder.result.alarms == ()
        assert finder.result.cancelled > 5


def test_pulls_cancelled_after_the_decision_do_not_void_it() -> None:
    finder = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.1, bounds=(0, 1))
    late = []
    while not finder.done:
        for pull in finder.ask_pulls(60):
            if finder.done or pull.number % 60 > 50:
                late.append(pull)
            else:
                finder.tell(pull, float(pull.arm == "A"))
        if not finder.done:
            for pull in late:
                finder.tell(pull, float(pull.arm == "A"))
            late.clear()
    decided = str(finder.result)
    for pull in late:
        finder.cancel(pull)
    assert len(late) > 20
    assert str(finder.result) == decided
    assert finder.result.alarms == ()


def test_rewards_told_by_label_count_as_not_cancelled() -> None:
    finder = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.1, bounds=(0, 1), resolution=1e-4)
    finder.tell_many(["A", "B"] * 200, [0.5] * 400)
    for pull in finder.ask_pulls(20):
        finder.cancel(pull)
    assert finder.result.alarms == ()
    for pull in finder.ask_pulls(200):
        finder.cancel(pull)
    assert len(finder.result.alarms) == 2


def test_rewards_told_by_label_are_not_forgotten_when_many_become_ready_at_once() -> None:
    finder = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.05, bounds=(0, 1), contamination="share-of-arm")
    finder.tell_many(["A", "B"] * 100, [0.5] * 200)
    pulls = [pull for pull in finder.ask_pulls(200) if pull.arm == "A"]
    for pull in pulls[7:]:
        finder.tell(pull, 0.5)
    for pull in reversed(pulls[:7]):  # 7 of 200, of which 10 are allowed for; the last lets all others go on
        finder.cancel(pull)
    assert finder.result.alarms == ()


def test_cancelled_sources_are_compared_with_all_that_were_asked_and_ring_once() -> None:
    finder = ba.Identifier(["A", "B", "C"], delta=0.05, epsilon=0.05, bounds=(0, 1), contamination="sources")
    pulls = [finder.ask_pulls(source=f"s{number}") for number in range(120)]
    slow, *others = (pull for pull in pulls if pull.arm == "C")  # holds back all of C
    answers = [pull for pull in pulls if pull.arm != "C"]
    for pull in others + answers[:-5]:
        finder.tell(pull, 0.5)
    for pull in answers[-5:]:  # 5 of 120, of which 6 are allowed for; of the 80 that could be used 4 would be
        finder.cancel(pull)
    assert finder.result.alarms == ()
    finder.tell(slow, 0.5)
    assert finder.result.alarms == ()
    for pull in [finder.ask_pulls(source=f"t{number}") for number in range(9)]:
        finder.cancel(pull)
    alarms: list[str] = list(finder.result.alarms)
    assert alarms == ["pulls of 7 of the first 129 sources were cancelled, more than epsilon = 0.05 allows for"]
