"""Pulls with numbers: rewards that come back in any order, or never."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bestarm as ba
from bestarm import METHODS, InputError, Pull
from bestarm.identification.ledger import CANCELLED, PATIENCE, TOLD, Ledger


def question(**changes: Any) -> ba.Identifier:
    settings: dict[str, Any] = {"delta": 0.05, "epsilon": 0.05, "sigma": 1.0, **changes}
    return ba.Identifier(["A", "B", "C"], **settings)


def clicks_first(finder: ba.Identifier, rng: random.Random, chances: dict[str, float], by_pull: bool) -> ba.Result:
    """Clicks come back at once, and so does all of B; the absence of a click on A comes 2,000 pulls later."""
    late: list[tuple[int, Pull]] = []
    time = 0

    def tell(pull: Pull, reward: float) -> None:
        if by_pull:
            finder.tell(pull, reward)
        else:
            finder.tell(pull.arm, reward)

    while not finder.done and time < 50_000:
        pull = finder.ask_pulls()
        time += 1
        clicked = rng.random() < chances[str(pull.arm)]
        if clicked or pull.arm == "B":
            tell(pull, float(clicked))
        else:
            late.append((time + 2000, pull))
        while late and late[0][0] <= time and not finder.done:
            tell(late.pop(0)[1], 0.0)
    return finder.result


def test_what_comes_back_early_may_depend_on_the_reward() -> None:
    """0.4 against 0.5, clicks on A first: in the order of arrival A seems to be clicked always, and is named."""
    found = {True: 0, False: 0}
    for by_pull in (True, False):
        for trial in range(20):
            finder = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.0, bounds=(0, 1))
            result = clicks_first(finder, random.Random(trial), {"A": 0.4, "B": 0.5}, by_pull)
            found[by_pull] += result.best == "B"
    assert found[True] >= 18
    assert found[False] == 0


@pytest.mark.parametrize("method", sorted(METHODS))
def test_any_order_of_arrival_gives_the_trajectory_of_the_pulls(method: str) -> None:
    """A batch comes back in any order: the state is that of telling it in the order of the pulls."""
    rng = random.Random(3)
    shuffled, ordered = question(method=method), question(method=method)
    for size in (3, 10, 30, 50):
        pulls = shuffled.ask_pulls(size)
        assert [pull.arm for pull in pulls] == ordered.ask(size)
        assert [pull.number for pull in pulls] == list(range(pulls[0].number, pulls[0].number + size))
        rewards = [rng.gauss(0.0, 1.0) for _ in pulls]
        for place in rng.sample(range(size), size):
            shuffled.tell(pulls[place], rewards[place])
        by_arm = sorted(range(size), key=lambda place: (str(pulls[place].arm), place))
        for place in by_arm:
            ordered.tell(pulls[place].arm, rewards[place])
        assert shuffled.pending == ordered.pending == 0
        assert [row.pulls for row in shuffled.estimates] == [row.pulls for row in ordered.estimates]
        known = [row.estimate for row in ordered.estimates]
        assert [row.estimate for row in shuffled.estimates] == pytest.approx(known, rel=1e-9, nan_ok=True)


def test_a_slow_pull_holds_back_its_arm_and_not_the_asking() -> None:
    finder = question()
    first, *others = finder.ask_pulls(30)
    for pull in others:
        finder.tell(pull, 0.5)
    same = sum(pull.arm == first.arm for pull in others)
    assert finder.pulls == 29 - same
    assert finder.pending == 1 + same
    later = finder.ask_pulls(9)
    assert {pull.arm for pull in later} == {"A", "B", "C"}
    finder.tell(first, 0.5)
    assert (finder.pulls, finder.pending) == (30, 9)


def test_a_cancelled_pull_counts_as_a_replaced_reward() -> None:
    finder = question()
    pulls = finder.ask_pulls(30)
    for pull in pulls[:-3]:
        finder.tell(pull, 1.0)
    for pull in pulls[-3:]:
        finder.cancel(pull)
    assert (finder.pulls, finder.pending) == (30, 0)
    assert finder.result.cancelled == 3
    assert "; 3 pulls were cancelled and counted as replaced" in str(finder.result)
    bounded = question(sigma=None, bounds=(2.0, 4.0))
    bounded.cancel(bounded.ask_pulls())
    assert bounded.estimates[0].pulls == 1
    clean = question(epsilon=0.0)
    with pytest.raises(InputError, match="epsilon must be above 0 to cancel pulls"):
        clean.cancel(clean.ask_pulls())


def test_an_arm_that_does_not_answer_is_not_asked_for_ever() -> None:
    finder = question(method="se-cbai", epsilon=0.01)
    asked = {"A": 0, "B": 0, "C": 0}
    for _ in range(3000):
        pull = finder.ask_pulls()
        asked[str(pull.arm)] += 1
        if pull.arm != "C":
            finder.tell(pull, random.gauss(0.0, 1.0))
    assert PATIENCE < asked["C"] < 3 * PATIENCE
    assert min(asked["A"], asked["B"]) > 1200
    assert finder.pending == asked["C"]


@pytest.mark.parametrize("copied", [lambda f: pickle.loads(pickle.dumps(f)), copy.deepcopy, copy.copy])
def test_pulls_outlive_a_pickle(copied: Callable[[ba.Identifier], ba.Identifier]) -> None:
    finder = question()
    first, second, *_ = (pull for pull in finder.ask_pulls(9) if pull.arm == "A")
    finder.tell(second, 2.0)
    again = copied(finder)
    again.tell(pickle.loads(pickle.dumps(first)), 1.0)
    assert (again.pulls, finder.pulls) == (2, 0)


def test_foreign_and_repeated_pulls_are_refused() -> None:
    finder, other = question(), question()
    pull = finder.ask_pulls()
    foreign: list[Callable[[], None]] = [lambda: other.tell(pull, 1.0), lambda: other.cancel(pull)]
    for call in foreign:
        with pytest.raises(InputError, match="pull must be of this identifier"):
            call()
    with pytest.raises(InputError, match="pull must be of this identifier"):
        finder.tell(Pull("A", 7), 1.0)
    with pytest.raises(InputError, match="reward must be a finite number"):
        finder.tell(pull, float("nan"))
    finder.tell(pull, 1.0)
    again: list[Callable[[], None]] = [lambda: finder.tell(pull, 1.0), lambda: finder.cancel(pull)]
    for call in again:
        with pytest.raises(InputError, match="pull must be told or cancelled once"):
            call()
    with pytest.raises(InputError, match="pull must be what ask_pulls gave"):
        finder.cancel("A")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="n must be a whole number >= 1"):
        finder.ask_pulls(0)
    assert finder.pulls == 1


def test_sources_come_with_pulls() -> None:
    finder = question(contamination="sources", epsilon=0.1, sigma=None, bounds=(0, 1))
    rng = np.random.default_rng(1)
    for _ in range(150):
        pulls = finder.ask_pulls(6)
        for place in rng.permutation(6):
            pull = pulls[place]
            voter = pull.number
            finder.tell(pull, float(rng.random() < {"A": 0.9, "B": 0.2, "C": 0.1}[str(pull.arm)]), source=voter)
        if finder.done:
            break
    assert finder.result.best == "A"
    undecided = question(contamination="sources")
    undecided.cancel(undecided.ask_pulls())
    assert (undecided.pulls, undecided.pending) == (0, 0)
    assert str(undecided.result).endswith(
        "; 1 pull was cancelled, and its source counted among those that may be dishonest."
    )
    pull = undecided.ask_pulls()
    with pytest.raises(InputError, match="source must be given"):
        undecided.tell(pull, 0.5)


@pytest.mark.parametrize("contamination", ["causal", "prescient", "malicious", "share-of-arm", "share-of-all"])
def test_more_cancelled_pulls_than_epsilon_allows_for_are_an_alarm(contamination: str) -> None:
    finder = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.05, bounds=(0, 1), contamination=contamination)
    pulls = finder.ask_pulls(200)
    for pull in pulls[:196]:
        finder.tell(pull, 0.5)
    for pull in pulls[196:198]:
        finder.cancel(pull)  # one of each arm: as epsilon allows for
    assert finder.result.alarms == ()
    for pull in finder.ask_pulls(60):
        if pull.arm == "A":
            finder.cancel(pull)
        else:
            finder.tell(pull, 0.5)
    result = finder.result
    whose = "" if contamination == "share-of-all" else " of 'A'"
    (alarm,) = result.alarms
    assert f"pulls{whose} were cancelled, more than epsilon = 0.05 allows for" in alarm
    assert "no probability is claimed" in str(result)


@pytest.mark.parametrize("value", [0.5, None])
@pytest.mark.parametrize("before", [(), (1,), (1, 2), (2,)])
def test_an_end_that_is_undone_leaves_no_trace(before: tuple[int, ...], value: float | None) -> None:
    """Whether or not others of its arm have waited for it, and are released with it."""
    ledger = Ledger(2, owner=1)

    def end() -> list[int]:
        return ledger.end(0, CANCELLED) if value is None else ledger.end(0, TOLD, value)

    for index in (0, 0, 0, 1, 0):
        ledger.issue(index)
    for number in before:
        assert ledger.end(number, TOLD, float(number)) == []
    as_it_was = repr(vars(ledger))
    released = end()
    assert released == [0, *before][: 1 if before == (2,) else None]
    ended, cancel = repr(vars(ledger)), ledger.last_cancel(0)
    assert ended != as_it_was
    ledger.undo(0, released)
    assert repr(vars(ledger)) == as_it_was
    assert end() == released
    assert (repr(vars(ledger)), ledger.last_cancel(0)) == (ended, cancel)
