"""Rewards that wait for missing pulls: said wherever the state is shown, and bounded in number."""

from __future__ import annotations

import asyncio
import json
import pickle
import threading
import time
from typing import Any

import pytest

import bestarm as ba
from bestarm import METHODS
from bestarm.errors import WaitingError
from bestarm.identification import ledger
from bestarm.identification.drivers import describe_progress
from bestarm.identification.waiting import Waiting, read_waiting


def question(**changes: Any) -> ba.Identifier:
    settings: dict[str, Any] = {"delta": 0.05, "epsilon": 0.05, "bounds": (0, 1), **changes}
    return ba.Identifier(["A", "B", "C"], **settings)


def six_lost(rewards: int = 400) -> tuple[ba.Identifier, list[ba.Pull]]:
    """The first two pulls of every arm are lost, and all after them come back."""
    finder = question()
    lost = finder.ask_pulls(6)
    for number in range(rewards):
        finder.tell(finder.ask_pulls(), number % 2)
    return finder, lost


def test_what_waits_is_said_wherever_the_state_is_shown() -> None:
    """400 rewards, none of them used: it was "after 0 rewards", and nothing else."""
    finder, lost = six_lost()
    result = finder.result
    assert (finder.pulls, finder.waiting.rewards) == (0, 400)
    assert [missing.pull for missing in finder.waiting.pulls] == lost
    assert [missing.rewards for missing in finder.waiting.pulls[:3]] == [134, 133, 133]
    said = "400 more rewards have come in and wait for 6 pulls that are still out: pull 0 of 'A', pull 1 of 'B'"
    assert f"after 0 rewards; {said}, pull 2 of 'C' and 3 more" in str(result)
    assert result.waiting == finder.waiting
    assert said in str(finder.forecast())
    assert said in describe_progress(finder)
    assert "0 rewards and 400 that wait" in repr(finder)
    assert "400 more rewards have come in and wait for 6 pulls" in finder.plot().axes[0].get_title(loc="left")
    stored = json.loads(result.to_json())["waiting"]
    assert stored["rewards"] == 400
    assert stored["pulls"][0] == {"pull": 0, "arm": "A", "worker": None, "since": None, "rewards": 134}
    assert [row.rewards for row in read_waiting(stored).pulls] == [row.rewards for row in finder.waiting.pulls]
    for missing in finder.waiting.pulls:
        finder.cancel(missing.pull)
    assert not finder.waiting
    assert finder.pulls == 406
    assert "wait" not in str(finder.result)


def test_one_reward_waits_for_one_pull() -> None:
    finder = question()
    first, *_ = finder.ask_pulls(3)
    finder.tell(finder.ask_pulls(), 1.0)
    assert str(finder.waiting) == "1 more reward has come in and waits for a pull that is still out: pull 0 of 'A'"
    finder.tell(first, 0.0)
    assert str(finder.waiting) == "no rewards wait"
    assert finder.waiting == Waiting()


def test_a_decision_waits_for_nothing() -> None:
    finder = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.0, bounds=(0, 1))
    while not finder.done:
        for pull in finder.ask_pulls(40)[::-1]:
            finder.tell(pull, float(pull.arm == "A"))
    assert not finder.result.waiting


# ------------------------------------------------------------------------------------------------------- run ahead


@pytest.mark.parametrize("method", sorted(METHODS))
def test_an_arm_runs_ahead_of_a_missing_pull_by_so_much_and_no_more(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "RUN_AHEAD", 30)
    finder = question(method=method, sigma=1.0, bounds=None)
    lost = finder.ask_pulls()
    asked = 0
    for _ in range(300):
        pull = finder.ask_pulls()
        asked += pull.arm == lost.arm
        finder.tell(pull, 0.5)
        if finder.done:
            break
    assert asked == finder.waiting.rewards <= 30
    if not finder.done:
        assert asked == 30


def all_wait(rewards: int) -> tuple[ba.Identifier, list[ba.Pull]]:
    finder = question()
    lost = finder.ask_pulls(3)
    for _ in range(3 * rewards):
        finder.tell(finder.ask_pulls(), 0.5)
    return finder, lost


def test_when_all_arms_wait_it_says_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "RUN_AHEAD", 30)
    finder, lost = all_wait(30)
    for number in (None, 5):
        with pytest.raises(WaitingError, match=r"^no arm can be asked for now: 90 more rewards have come in") as error:
            finder.ask_pulls(number)
    assert "pull 0 of 'A', pull 1 of 'B' and pull 2 of 'C'; tell their rewards" in str(error.value)
    assert error.value.waiting == finder.waiting
    again = pickle.loads(pickle.dumps(error.value))
    assert (str(again), again.waiting, again.ends) == (str(error.value), finder.waiting, False)
    assert finder.pending == 93
    assert finder.ask() in ("A", "B", "C")  # by label nothing is missing
    finder.tell(lost[1], 0.5)
    assert {pull.arm for pull in finder.ask_pulls(10)} == {"B"}


def test_the_bound_is_two_thousand() -> None:
    assert ledger.RUN_AHEAD == 2_000
    finder, _ = all_wait(2_000)
    with pytest.raises(WaitingError):
        finder.ask_pulls()
    assert finder.waiting.rewards == 6_000


def test_threads_wait_for_their_own_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call comes back when the others can go on no longer: an error before, if it was not waited for."""
    monkeypatch.setattr(ledger, "RUN_AHEAD", 5)
    calls, lock, others = [0], threading.Lock(), threading.Semaphore(0)

    def judge(arm: object) -> float:
        with lock:
            calls[0] += 1
            number = calls[0]
        if number <= 2:
            for _ in range(4):
                others.acquire()
            time.sleep(0.05)
        others.release()
        return float(arm == "A")

    result = ba.identify(judge, ["A", "B"], delta=0.05, epsilon=0.0, bounds=(0, 1), workers=4)
    assert result.best == "A"


def test_coroutines_wait_for_their_own_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "RUN_AHEAD", 5)
    calls = [0]

    async def judge(arm: object) -> float:
        calls[0] += 1
        await asyncio.sleep(0.1 if calls[0] <= 2 else 0.0)
        return float(arm == "A")

    told: dict[str, Any] = {"delta": 0.05, "epsilon": 0.0, "bounds": (0, 1)}
    assert asyncio.run(ba.identify_async(judge, ["A", "B"], workers=4, **told)).best == "A"
