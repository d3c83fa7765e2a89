"""Sources told by pull: whatever comes back early, late or never may depend on what was said."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import bestarm as ba
from bestarm import InputError
from bestarm.identification.engines.sources import SourcesEngine
from bestarm.identification.ledger import CANCELLED, TOLD
from bestarm.identification.source_ledger import SourceLedger
from bestarm.identification.sources import SourceRewards, entries
from bestarm.methods import get_method
from bestarm.problem import pose

ASKED: dict[str, Any] = {"delta": 0.05, "bounds": (0, 1), "contamination": "sources"}


def violated(wrong: int, trials: int, delta: float) -> bool:
    """Whether so many wrong answers would come up in less than one of 1,000 such tests if the rate were delta."""
    return bool(binom.sf(wrong - 1, trials, delta) < 1e-3)


# ------------------------------------------------------------------------------------------- what comes back sooner


def poll(seed: int, *, better_first: bool, named: bool, epsilon: float = 0.05) -> ba.Identifier:
    """A is 0.6 always, B is 1 or 0; of the two answers of a source the better one may come back first."""
    rng = np.random.default_rng([81, seed])
    finder = ba.Identifier(["A", "B"], epsilon=epsilon, **ASKED)
    for source in range(80):
        pulls = finder.ask_pulls(2, source=source) if named else finder.ask_pulls(2)
        calls = [(pull, 0.6 if pull.arm == "A" else float(rng.random() < 0.5)) for pull in pulls]
        if better_first:
            calls.sort(key=lambda call: -call[1])
        for pull, value in calls:
            finder.tell(pull, value, source)
        if finder.done:
            break
    return finder


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("better_first", [False, True])
def test_the_first_arm_of_a_source_is_that_of_its_first_pull(better_first: bool, named: bool, epsilon: float) -> None:
    """20 polls, seeds [81, 0 ... 19]. In the order of arrival B, the worse one, was named in all of them."""
    found = [poll(seed, better_first=better_first, named=named, epsilon=epsilon) for seed in range(20)]
    assert not violated(sum(finder.result.best == "B" for finder in found), 20, 0.05)
    assert all(not finder.waiting for finder in found)


def shuffled(seed: int, named: bool) -> ba.Identifier:
    """0.8 against 0.4, each source asked about both; ten sources at a time, whose ones come back first."""
    rng = np.random.default_rng([82, seed])
    finder = ba.Identifier(["A", "B"], epsilon=0.02, **ASKED)
    for block in range(40):
        sources = [(block, place) for place in rng.permutation(np.repeat(np.arange(10), 2))]
        pulls = [finder.ask_pulls(source=source) if named else finder.ask_pulls() for source in sources]
        values = [float(rng.random() < {"A": 0.8, "B": 0.4}[str(pull.arm)]) for pull in pulls]
        for place in sorted(range(20), key=lambda place: -values[place]):
            finder.tell(pulls[place], values[place], sources[place])
        if finder.done:
            break
    return finder


@pytest.mark.parametrize("named", [False, True])
def test_the_better_arm_is_named_although_ones_come_back_first(named: bool) -> None:
    assert [shuffled(seed, named).result.best for seed in range(4)] == ["A"] * 4


# ------------------------------------------------------------------------------------------------- what never comes


def silent_poll(seed: int, *, named: bool, most: float = 1.0) -> ba.Result:
    """A is 0.6 always, B is 1, or silent in place of 0, as long as fewer than so many of the sources so far are."""
    rng = np.random.default_rng([83, seed])
    finder = ba.Identifier(["B", "A"], epsilon=0.1, **ASKED)
    silent = 0
    for source in range(100):
        for pull in finder.ask_pulls(2, source=source) if named else finder.ask_pulls(2):
            value = 0.6 if pull.arm == "A" else float(rng.random() < 0.5)
            if value == 0.0 and silent + 1 <= most * max(source + 1, 10):
                finder.cancel(pull)
                silent += 1
            else:
                finder.tell(pull, value, source)
        if finder.done:
            break
    return finder.result


@pytest.mark.parametrize("named", [False, True])
def test_silence_that_depends_on_the_answer_is_an_alarm_where_there_is_more_than_epsilon(named: bool) -> None:
    """20 polls, seeds [83, 0 ... 19]: half of the sources are silent on B. Left out, B was named in all of them."""
    for seed in range(20):
        result = silent_poll(seed, named=named)
        (alarm,) = result.alarms
        assert "sources were cancelled, more than epsilon = 0.1 allows for" in alarm
        assert "no probability is claimed" in str(result)


@pytest.mark.parametrize("named", [False, True])
def test_silence_within_epsilon_is_no_alarm_and_misleads_no_more_often_than_promised(named: bool) -> None:
    results = [silent_poll(seed, named=named, most=0.1) for seed in range(20)]
    assert all(result.cancelled > 0 for result in results)
    assert not any(result.alarms for result in results)
    assert not violated(sum(result.best == "B" for result in results), 20, 0.05)
    assert "cancelled, and their sources counted among those that may be dishonest" in str(results[0])


def generous(seed: int) -> SourceRewards:
    """Two equal arms: a source says 1 of both, 3 in 100, or 0 of both; two of three are asked about A first.

    Who would say 1 of A is silent, and then says 1 of B: a fiftieth of the sources, as epsilon allows for.
    """
    rng = np.random.default_rng([84, seed])
    problem = pose(["A", "B"], delta=0.05, epsilon=0.02, bounds=(0, 1))
    sources = SourceRewards(problem, get_method("certified").complete(problem, {"contamination": "sources"}))
    for source in range(8000):
        says, a_first = float(rng.random() < 0.03), source % 3 > 0
        for arm in (0, 1) if a_first else (1, 0):
            if arm == 0 and a_first and says and sources.cancelled < sources.count:
                sources.cancel(arm, None, source)
            else:
                sources.tell(arm, says, source)
    return sources


def evidence_of_b(sources: SourceRewards) -> float:
    return sources.evidence(sources.by_arm(), 1, 0, lambda arm: math.inf)[0]


def test_a_silent_source_without_a_name_is_paid_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it would have said first is gone, and what it says instead is chosen: a price for one is too low.

    B, which is not better, would be named in each of six polls, seeds [84, 0 ... 5].
    """
    found = [generous(seed) for seed in range(6)]
    assert all(100 < sources.cancelled <= sources.count for sources in found)
    assert all(evidence_of_b(sources) < sources.enough for sources in found)
    monkeypatch.setattr(SourceRewards, "_price", lambda self, b, a: float(self.count))
    assert all(evidence_of_b(sources) >= sources.enough for sources in found)


def engine_of(finder: ba.Identifier) -> SourcesEngine:
    assert isinstance(finder._engine, SourcesEngine)
    return finder._engine


def entries_of(finder: ba.Identifier, b: int, a: int) -> list[list[float]]:
    """What enters for two arms, up to their first pull that is out."""
    engine = engine_of(finder)
    said, end = engine.sources.by_arm(), min(engine.ledger.horizon(b), engine.ledger.horizon(a))
    return [part.tolist() for part in entries(said[b], said[a], end)]


def test_a_source_that_was_silent_on_the_first_arm_of_a_pair_never_enters_it() -> None:
    finder = ba.Identifier(["A", "B", "C"], epsilon=0.1, **ASKED)
    a, b, c = finder.ask_pulls(3, source="s")
    finder.cancel(a)
    finder.tell(b, 1.0)
    finder.tell(c, 0.0)
    sources = engine_of(finder).sources
    assert (sources.number, sources.cancelled) == (1, 1)
    assert entries_of(finder, 1, 0) == [[], []]
    assert entries_of(finder, 1, 2) == [[1.0], []]
    finder.cancel(finder.ask_pulls())  # of nobody knows whom
    assert (sources.number, sources.cancelled) == (2, 2)


# --------------------------------------------------------------------------------------------------------- the order

Story = list[tuple[int, int, bool, int, bool]]  # arm, source, whether it is named, when it ends, whether it is told


def used_by_rule(story: Story, ended: list[int]) -> set[int]:
    """What is used when these pulls have ended: the rule of `SourceLedger`, read literally."""
    used: set[int] = set()
    told = [named or (pull in ended and is_told) for pull, (_, _, named, _, is_told) in enumerate(story)]

    def may(pull: int) -> bool:
        arm, source, *_ = story[pull]
        for earlier in range(pull):
            if earlier in used:
                continue
            other_arm, other_source, named, *_ = story[earlier]
            same_source = told[earlier] and told[pull] and other_source == source
            if other_arm == arm or same_source or (not named and earlier not in ended):
                return False
        return True

    while True:
        more = {pull for pull in ended if pull not in used and may(pull)}
        if not more:
            return used
        used |= more


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.booleans(), st.integers(0, 12), st.booleans()), max_size=16
    )
)
@example([(0, 1, True, 9, True), (0, 2, True, 0, True), (1, 2, True, 0, True)])
@example([(0, 1, False, 9, True), (1, 2, True, 0, True), (2, 1, True, 1, False)])
def test_a_reward_is_used_when_its_turn_has_come(story: Story) -> None:
    ledger = SourceLedger(3, owner=1)
    for arm, source, named, *_ in story:
        ledger.issue(arm, source if named else None)
    ended: list[int] = []
    used: list[int] = []
    for number in sorted(range(len(story)), key=lambda number: (story[number][3], number)):
        _, source, _, _, told = story[number]
        released = ledger.end(number, TOLD, 1.0, source) if told else ledger.end(number, CANCELLED)
        ended.append(number)
        used += released
        assert set(used) == used_by_rule(story, ended)
        assert len(set(used)) == len(used)
        assert ledger.waiting == len(ended) - len(used)
    for field, place in (("arm", 0), ("source", 1)):  # each arm's and each source's in the order of the pulls
        for value in {row[place] for row in story}:
            mine = [number for number in used if story[number][place] == value and (place == 0 or story[number][4])]
            assert mine == sorted(mine), field


def test_a_pair_is_looked_at_up_to_its_first_pull_that_is_out() -> None:
    """Which pulls have come back may depend on what was said, and so must not choose the moment."""
    finder = ba.Identifier(["A", "B", "C"], epsilon=0.1, **ASKED)
    pulls = [finder.ask_pulls(source=place) for place in range(6)]
    for place in (0, 2, 3, 4, 5):
        finder.tell(pulls[place], place / 10)
    assert finder.pulls == 4  # the second of B waits for the first
    assert entries_of(finder, 0, 1) == [[0.0], []]
    assert entries_of(finder, 0, 2) == [[0.0, 0.3], [0.2, 0.5]]
    finder.tell(pulls[1], 0.1)
    assert entries_of(finder, 0, 1) == [[0.0, 0.3], [0.1, 0.4]]


def test_pulls_of_sources_outlive_a_pickle() -> None:
    finder = ba.Identifier(["A", "B"], epsilon=0.1, **ASKED)
    first, second = finder.ask_pulls(2, source="s")
    finder.tell(second, 1.0)
    for again in (pickle.loads(pickle.dumps(finder)), copy.deepcopy(finder)):
        again.tell(first, 0.5)
        assert (again.pulls, finder.pulls) == (2, 0)


# ------------------------------------------------------------------------------------------------------------- errors


def test_a_named_source_is_the_one_that_answers() -> None:
    finder = ba.Identifier(["A", "B"], epsilon=0.1, **ASKED)
    pull = finder.ask_pulls(source="ann")
    with pytest.raises(InputError, match=r"source must be the one that the pull was asked for \('ann'\), got 'bob'"):
        finder.tell(pull, 0.5, "bob")
    finder.tell(pull, 0.5)
    finder.tell(finder.ask_pulls(source="bob"), 0.5, "bob")
    assert finder.pulls == 2
    for wrong in (float("nan"), ["ann"]):
        with pytest.raises(InputError, match="source must be given"):
            finder.ask_pulls(source=wrong)  # type: ignore[arg-type]
    plain = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.1, bounds=(0, 1))
    with pytest.raises(InputError, match="source must come with contamination='sources'"):
        plain.ask_pulls(source="ann")
    clean = ba.Identifier(["A", "B"], epsilon=0.0, **ASKED)
    with pytest.raises(InputError, match="epsilon must be above 0 to cancel pulls"):
        clean.cancel(clean.ask_pulls(source="ann"))
    assert (plain.pending, finder.pending) == (0, 0)
