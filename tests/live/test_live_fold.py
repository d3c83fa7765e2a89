"""A log folded at once, or in batches, is a log folded event by event, bit for bit."""

from __future__ import annotations

import copy
import math
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bestarm.identification.ledger import CANCELLED, OUT, TOLD, Batch, in_order_of_use
from bestarm.live.fold import ReplayedIdentifier

PAPER: dict[str, Any] = {"delta": 0.3, "epsilon": 0.05, "sigma": 0.5, "exploration": "none"}
QUESTIONS: dict[str, dict[str, Any]] = {
    "bounds": {"delta": 0.3, "epsilon": 0.05, "bounds": (0, 1)},
    "sigma": {"delta": 0.3, "epsilon": 0.05, "sigma": 0.3},
    "clean": {"delta": 0.3, "epsilon": 0.0, "bounds": (0, 1)},
    "se-cbai": {**PAPER, "method": "se-cbai"},
    "g-cbai": {**PAPER, "method": "g-cbai"},
    "median-se": {**PAPER, "method": "median-se"},
    "share-of-arm": {"delta": 0.3, "epsilon": 0.1, "bounds": (0, 1), "contamination": "share-of-arm"},
    "share-of-all": {"delta": 0.3, "epsilon": 0.1, "bounds": (0, 1), "contamination": "share-of-all"},
    "sources": {"delta": 0.3, "epsilon": 0.1, "bounds": (0, 1), "contamination": "sources"},
    "paired": {"delta": 0.5, "epsilon": 0.01, "bounds": (0, 1), "contamination": "sources", "paired": True},
}
TELL, CANCEL, NEVER = "tell", "cancel", "never"
ARMS = ("A", "B", "C")


@dataclass(frozen=True)
class Story:
    """Pulls of these arms, one by one; each ends some steps after it was asked for, told, cancelled, or not at all."""

    arms: list[int]
    delays: list[int]
    fates: list[str]
    values: list[float]

    def ends(self) -> list[int]:
        """The pulls that end, in the order in which they do."""
        ended = [pull for pull, fate in enumerate(self.fates) if fate != NEVER]
        return sorted(ended, key=lambda pull: (pull + self.delays[pull], pull))

    def value(self, pull: int) -> float:
        return self.values[pull] if self.fates[pull] == TELL else math.nan

    def fate(self, pull: int) -> int:
        return TOLD if self.fates[pull] == TELL else CANCELLED

    def source(self, pull: int) -> int:
        """Who gives the reward: most sources are asked about two or three arms, some about one more than once."""
        return pull // 12 * 2 + pull % 2

    def named(self, pull: int) -> int | None:
        """Whom the pull names beforehand."""
        return self.source(pull) if pull % 5 < 3 else None

    def log(self) -> list[tuple[str, int]]:
        """What happens, in order: ("ask", pull) and ("end", pull)."""
        asks = [(pull, 0, "ask", pull) for pull in range(len(self.arms))]
        ends = [(pull + self.delays[pull], 1, "end", pull) for pull in self.ends()]
        return [(kind, pull) for _, _, kind, pull in sorted(asks + ends)]

    def batch(self, log: list[tuple[str, int]]) -> Batch:
        """A part of the log, as arrays."""
        asks = [(when, pull) for when, (kind, pull) in enumerate(log) if kind == "ask"]
        ends = [(when, pull) for when, (kind, pull) in enumerate(log) if kind == "end"]
        return Batch(
            np.array([self.arms[pull] for _, pull in asks], np.int64),
            np.zeros(len(asks), np.int64),
            [self.named(pull) for _, pull in asks],
            np.array([when for when, _ in asks], np.int64),
            np.array([pull for _, pull in ends], np.int64),
            np.array([self.fate(pull) for _, pull in ends], np.uint8),
            np.array([self.value(pull) for _, pull in ends]),
            [self.source(pull) if self.fates[pull] == TELL else None for _, pull in ends],
            np.array([when for when, _ in ends], np.int64),
        )


@st.composite
def stories(draw: st.DrawFn, most: int = 60) -> Story:
    pull = st.tuples(
        st.integers(0, len(ARMS) - 1),
        st.integers(0, 15),
        st.sampled_from([TELL] * 8 + [CANCEL, CANCEL, NEVER]),
        st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 0.9, 1.0]),
    )
    pulls = draw(st.lists(pull, max_size=most)) * draw(st.integers(1, 5))  # long ones, so that there is a decision
    lead = draw(st.sampled_from([0.0, 0.8]))
    values = [value * (1.0 - lead) + lead * (arm == 0) for arm, _, _, value in pulls]
    return Story([arm for arm, *_ in pulls], [delay for _, delay, *_ in pulls], [row[2] for row in pulls], values)


def told_only(story: Story, question: dict[str, Any]) -> Story:
    """Without epsilon nothing is cancelled."""
    if question["epsilon"] > 0.0:
        return story
    return Story(story.arms, story.delays, [TELL if fate == CANCEL else fate for fate in story.fates], story.values)


def new_finder(question: dict[str, Any]) -> ReplayedIdentifier:
    finder = ReplayedIdentifier(list(ARMS), **question)
    finder.ledger.owner = 7
    return finder


def take(finder: ReplayedIdentifier, story: Story, log: list[tuple[str, int]]) -> None:
    """Take events in one by one, by the calls that a user makes."""
    for kind, pull in log:
        if kind == "ask":
            assert finder.assign(story.arms[pull], story.named(pull) if finder.by_source else None).number == pull
        elif story.fates[pull] == CANCEL:
            finder.cancel(finder.ledger.pull(pull, ARMS[story.arms[pull]]))
        else:
            tell(finder, story, pull, story.values[pull])


def tell(finder: ReplayedIdentifier, story: Story, pull: int, value: float) -> None:
    source = story.source(pull) if finder.by_source else None
    finder.tell(finder.ledger.pull(pull, ARMS[story.arms[pull]]), value, source)


def one_by_one(story: Story, question: dict[str, Any]) -> ReplayedIdentifier:
    finder = new_finder(question)
    take(finder, story, story.log())
    return finder


def caught_up(story: Story, question: dict[str, Any], slow: ReplayedIdentifier) -> ReplayedIdentifier:
    """Fold a log at once, and take over the decision that stands in it, as a study does."""
    finder = new_finder(question)
    finder.fold(story.batch(story.log()))
    if slow.decision is not None:
        assert finder.decision is not None
        assert repr(finder.decision) == repr(slow.decision)
        finder.adopt(slow.decision)
    return finder


def without_empty(value: object) -> object:
    """Leave out the queues of arms that nothing waits for, which come into being when they are looked at."""
    return sorted((key, each) for key, each in value.items() if each != deque()) if isinstance(value, dict) else value


def assert_same(one: ReplayedIdentifier, other: ReplayedIdentifier) -> None:
    assert (one.pulls, one.pending, one.done, one.waiting) == (other.pulls, other.pending, other.done, other.waiting)
    assert repr(one.decision) == repr(other.decision)
    mine, theirs = vars(one.ledger), vars(other.ledger)
    assert mine.keys() == theirs.keys()
    for name in mine.keys() - {"holders"}:
        assert repr(without_empty(mine[name])) == repr(without_empty(theirs[name])), name
    arms, others = one._engine.arms, other._engine.arms
    names = arms.dtype.names or ()
    for field in {"pending", "told", "active", "dropped"}.intersection(names):  # only the certified method drops arms
        assert arms[field].tolist() == others[field].tolist(), field
    assert {"pending", "told", "active"} < set(names)
    assert repr(copy.deepcopy(one).result) == repr(copy.deepcopy(other).result)
    assert repr(copy.deepcopy(one).estimates) == repr(copy.deepcopy(other).estimates)
    if not one.done:
        assert next_choices(one) == next_choices(other)


def next_choices(finder: ReplayedIdentifier) -> list[Any]:
    """Five at once, and then one after each reward."""
    finder = copy.deepcopy(finder)
    found = [(pull.arm, pull.number) for pull in finder.ask_pulls(5)]
    for reward in (0.3, 0.9, 0.1, 0.6, 0.2):
        if finder.done:
            break
        pull = finder.ask_pulls()
        finder.tell(pull, reward, pull.number if finder.by_source else None)
        found.append((pull.arm, pull.number))
    return found


WAITING = Story([0, 0, 1, 0, 1], [9, 0, 9, 0, 0], [NEVER, TELL, TELL, CANCEL, TELL], [0.5, 0.25, 0.75, 0.5, 1.0])
BLOCKED_CANCELS = Story([0, 0, 0, 0], [9, 0, 0, 0], [TELL, CANCEL, TELL, CANCEL], [1.0, 0.0, 0.2, 0.0])


@pytest.mark.parametrize("name", QUESTIONS)
@settings(max_examples=25)
@given(stories())
@example(Story([], [], [], []))
@example(WAITING)
@example(BLOCKED_CANCELS)
def test_a_whole_log_at_once_is_one_event_after_the_other(name: str, story: Story) -> None:
    story = told_only(story, QUESTIONS[name])
    slow = one_by_one(story, QUESTIONS[name])
    finder = caught_up(story, QUESTIONS[name], slow)
    assert_same(finder, slow)
    for pull in sorted(set(range(len(story.arms))) - set(story.ends())):  # and it goes on from there
        for each in (finder, slow):
            tell(each, story, pull, 0.4)
    assert not finder.waiting
    assert_same(finder, slow)


@pytest.mark.parametrize("name", QUESTIONS)
@settings(max_examples=25)
@given(stories(), st.lists(st.integers(1, 30), max_size=20))
@example(WAITING, [30])
@example(BLOCKED_CANCELS, [30])
@example(BLOCKED_CANCELS, [3, 30])
def test_batches_of_events_are_one_event_after_the_other(name: str, story: Story, sizes: list[int]) -> None:
    story = told_only(story, QUESTIONS[name])
    slow, fast = new_finder(QUESTIONS[name]), new_finder(QUESTIONS[name])
    log = story.log()
    for size in [*sizes, len(log)]:
        part, log = log[:size], log[size:]
        deciding = None
        ends = [pull for kind, pull in part if kind == "end"]
        for kind, pull in part:
            was_done = slow.done
            take(slow, story, [(kind, pull)])
            if slow.done and not was_done:  # the same event leads to the decision
                deciding = ends.index(pull)
        assert fast.fold(story.batch(part)) == deciding
    assert_same(fast, slow)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_stories_reach_decisions_with_rewards_that_wait(name: str) -> None:
    """So that what is above is not about beginnings only."""
    rng = np.random.default_rng(5)
    size = 1_500 if "sources" in QUESTIONS[name].values() else 400
    arms = rng.integers(0, len(ARMS), size).tolist()
    fates = rng.choice([TELL, CANCEL], size, p=[0.95, 0.05]).tolist()
    fates[size - 50] = NEVER
    values = (0.2 * rng.random(size) + 0.8 * (np.array(arms) == 0)).tolist()
    story = told_only(Story(arms, rng.integers(0, 15, size).tolist(), fates, values), QUESTIONS[name])
    slow = one_by_one(story, QUESTIONS[name])
    assert slow.decision is not None
    assert slow.waiting.rewards > 0
    assert_same(caught_up(story, QUESTIONS[name], slow), slow)


def used_by_queues(arms: list[int], ends: list[int]) -> list[int]:
    """What is used, in order, by a queue for each arm from which those at the front leave when they have come in."""
    queues = {arm: [pull for pull, of in enumerate(arms) if of == arm] for arm in set(arms)}
    arrived: set[int] = set()
    used = []
    for pull in ends:
        arrived.add(pull)
        queue = queues[arms[pull]]
        while queue and queue[0] in arrived:
            used.append(queue.pop(0))
    return used


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12), st.booleans()), max_size=50))
@example([(0, 3, True), (0, 2, True), (0, 1, True), (0, 0, True)])
@example([(3, 0, False), (3, 0, True), (1, 0, True)])
@example([])
def test_the_order_of_use_is_that_of_queues(rows: list[tuple[int, int, bool]]) -> None:
    arms = [arm for arm, _, _ in rows]
    ended = [pull for pull, (_, _, ends) in enumerate(rows) if ends]
    ends = sorted(ended, key=lambda pull: (pull + rows[pull][1], pull))
    found, _ = in_order_of_use(np.array(arms, np.int64), np.array(ends, np.int64))
    assert found.tolist() == used_by_queues(arms, ends)


def test_what_waits_keeps_its_reward() -> None:
    finder = new_finder(QUESTIONS["bounds"])
    finder.fold(WAITING.batch(WAITING.log()))
    ledger = finder.ledger
    assert list(ledger.fates) == [OUT, TOLD, TOLD, CANCELLED, TOLD]
    assert (ledger.waiting, ledger.values[1]) == (2, 0.25)
    assert finder.pulls == 2
    assert finder._engine.arms["pending"].tolist() == [3, 0, 0]
