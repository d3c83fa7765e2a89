"""Drivers with several calls at a time: threads, coroutines, budgets, and calls that fail."""

from __future__ import annotations

import asyncio
import dataclasses
import io
import random
import re
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

import bestarm as ba
from bestarm import InputError, progress

MEANS = {"A": 2.5, "B": 1.5, "C": 1.0}
ASKED: dict[str, Any] = {"delta": 0.05, "epsilon": 0.05, "sigma": 1.0}


class Judge:
    """Rewards of a seed, with latencies; counts how many calls are under way."""

    def __init__(
        self,
        seed: int = 1,
        latency: float = 1e-3,
        fails: Callable[[int], bool] = lambda call: False,
        late: Callable[[int], float] = lambda call: 0.0,
    ) -> None:
        self.rng = random.Random(seed)
        self.latency, self.fails, self.late = latency, fails, late
        self.lock = threading.Lock()
        self.calls = self.now = self.most = 0

    def __call__(self, arm: Any) -> float:
        with self.lock:
            self.calls += 1
            call = self.calls
            self.now += 1
            self.most = max(self.most, self.now)
            wait, reward = self.rng.random() * self.latency, self.rng.gauss(MEANS[arm], 1.0)
        time.sleep(wait + self.late(call))
        with self.lock:
            self.now -= 1
        if self.fails(call):
            raise ConnectionError(f"call {call}")
        return reward

    async def later(self, arm: Any) -> float:
        self.calls += 1
        call = self.calls
        self.now += 1
        self.most = max(self.most, self.now)
        wait, reward = self.rng.random() * self.latency, self.rng.gauss(MEANS[arm], 1.0)
        await asyncio.sleep(wait + self.late(call))
        self.now -= 1
        if self.fails(call):
            raise ConnectionError(f"call {call}")
        return reward


def run(judge: Judge, kind: str, **changes: Any) -> ba.Result:
    settings = {**ASKED, "workers": 8, **changes}
    if kind == "threads":
        return ba.identify(judge, list(MEANS), **settings)
    return asyncio.run(ba.identify_async(judge.later, list(MEANS), **settings))


both = pytest.mark.parametrize("kind", ["threads", "coroutines"])


@both
def test_eight_calls_at_a_time_find_the_best(kind: str) -> None:
    judge = Judge(latency=0.02)  # longer than eight asks take on a busy machine
    result = run(judge, kind)
    assert (result.status, result.best) == ("identified", "A")
    assert judge.most == 8
    assert result.pulls <= judge.calls <= result.pulls + 8 + sum(row.pulls for row in result.arms)


@both
def test_a_budget_of_pulls_is_kept(kind: str) -> None:
    judge = Judge()
    result = run(judge, kind, max_pulls=20)
    assert judge.calls == 20
    assert (result.status, result.limit, result.pulls) == ("undecided", "budget", 20)


@both
def test_a_budget_of_time_is_kept_though_a_call_hangs(kind: str) -> None:
    judge = Judge(latency=1.0)
    begin = time.monotonic()
    result = run(judge, kind, timeout=0.2)
    assert time.monotonic() - begin < 1.0
    assert (result.status, result.limit) == ("undecided", "budget")


@both
def test_an_exception_carries_the_verdict_so_far(kind: str) -> None:
    judge = Judge(fails=lambda call: call == 30, late=lambda call: 0.3 * (call > 30))
    with pytest.raises(ConnectionError, match="call 30") as caught:
        run(judge, kind, delta=1e-9)
    found: ba.Result = caught.value.result  # type: ignore[attr-defined]
    assert found.status == "undecided"
    assert 0 < found.pulls < 40


@both
def test_a_call_that_fails_is_made_again(kind: str) -> None:
    judge = Judge(fails=lambda call: call in (3, 17, 40))
    result = run(judge, kind, on_error="retry")
    assert (result.best, result.cancelled) == ("A", 0)
    with pytest.raises(ConnectionError):
        run(Judge(fails=lambda call: True), kind, on_error="retry")


@both
def test_a_call_that_fails_counts_as_replaced(kind: str) -> None:
    judge = Judge(fails=lambda call: call % 40 == 0)
    result = run(judge, kind, on_error="cancel")
    assert result.best == "A"
    assert result.cancelled >= 1
    with pytest.raises(InputError, match="epsilon must be above 0 to cancel pulls"):
        run(judge, kind, epsilon=0.0, on_error="cancel")


@pytest.mark.parametrize("on_error", ["raise", "retry", "cancel"])
def test_one_call_at_a_time_treats_failures_alike(on_error: str) -> None:
    judge = Judge(latency=0.0, fails=lambda call: call == 10)
    if on_error == "raise":
        with pytest.raises(ConnectionError) as caught:
            run(judge, "threads", workers=1, on_error=on_error)
        assert caught.value.result.pulls == 9  # type: ignore[attr-defined]
    else:
        result = run(judge, "threads", workers=1, on_error=on_error)
        assert (result.best, result.cancelled) == ("A", int(on_error == "cancel"))


class Babbling(Judge):
    """Its fourth call gives something that is no reward."""

    def __init__(self, nonsense: Any) -> None:
        super().__init__()
        self.nonsense = nonsense

    def __call__(self, arm: Any) -> float:
        found = super().__call__(arm)
        return self.nonsense if self.calls == 4 else found

    async def later(self, arm: Any) -> float:
        return self(arm)


@both
@pytest.mark.parametrize("nonsense", [float("nan"), "a text", None, 3e300])
def test_what_is_no_reward_is_a_failure_of_the_call(kind: str, nonsense: Any) -> None:
    for on_error in ("cancel", "retry"):
        result = run(Babbling(nonsense), kind, workers=1, on_error=on_error)
        assert (result.best, result.cancelled) == ("A", int(on_error == "cancel"))
    with pytest.raises(InputError) as caught:
        run(Babbling(nonsense), kind, workers=1)
    assert re.search(r"the call for '[ABC]' \(pull 3\) returned it", str(caught.value))
    assert caught.value.result.pulls == 3  # type: ignore[attr-defined]


@both
def test_a_judge_that_gives_nothing_but_nonsense_is_gone(kind: str) -> None:
    judge: Any = Judge()
    judge.rng = type("Broken", (random.Random,), {"gauss": lambda self, mu, sigma: float("nan")})()
    with pytest.raises(InputError, match="reward must be a finite number"):
        run(judge, kind, on_error="cancel")


def test_a_reward_outside_the_bounds_is_a_failure_of_the_call() -> None:
    calls = iter(range(10**6))
    asked: dict[str, Any] = {"delta": 0.05, "epsilon": 0.05, "bounds": (0, 1)}
    result = ba.identify(
        lambda arm: 1.5 if next(calls) == 2 else float(arm == "A"), ["A", "B"], on_error="cancel", **asked
    )
    assert (result.best, result.cancelled) == ("A", 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"workers": 0}, "workers must be a whole number >= 1"),
        ({"timeout": 0}, "timeout must be a number of seconds > 0"),
        ({"timeout": "a"}, "timeout must be a number of seconds > 0"),
        ({"on_error": "ignore"}, "on_error must be one of raise, cancel, retry"),
        ({"max_pulls": 0}, "max_pulls must be a whole number >= 1"),
    ],
)
@both
def test_bad_settings_are_refused(kind: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(Judge(), kind, **changes)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(InputError, match="pull must be a coroutine function"):
        asyncio.run(ba.identify_async(1, 3, **ASKED))  # type: ignore[arg-type]


# ----------------------------------------------------------------------------------------------------------- progress


class Patient(Judge):
    """Holds back its reward of call 100 until something is shown, for half a minute at most."""

    def __init__(self, shown: Callable[[], str]) -> None:
        super().__init__(latency=0.0)
        self.shown = shown
        self.seen = ""

    def _has_seen(self) -> bool:
        self.seen = self.seen or (self.shown() if "more rewards" in self.shown() else "")
        return bool(self.seen)

    def __call__(self, arm: Any) -> float:
        deadline = time.monotonic() + 30.0
        while self.calls == 100 and not self._has_seen() and time.monotonic() < deadline:
            time.sleep(0.01)
        return super().__call__(arm)

    async def later(self, arm: Any) -> float:
        deadline = time.monotonic() + 30.0
        while self.calls == 100 and not self._has_seen() and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        return await super().later(arm)


WORDS = r"'[ABC]' leads, p = [\d.e-]+; about [\d,]+ more rewards \([\d,]+ to [^)]+\)"
LONG: dict[str, Any] = {"delta": 1e-6, "workers": 1}


@both
def test_a_terminal_shows_rewards_leader_evidence_and_how_many_more(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(progress, "terminal", lambda: Console(file=stream, force_terminal=True, width=150))
    monkeypatch.setattr(progress, "SECONDS_PER_UPDATE", 0.01)
    judge = Patient(stream.getvalue)
    shown = run(judge, kind, **LONG, progress=True)
    assert re.search(WORDS, judge.seen)
    assert re.search(r"\d+ rewards", judge.seen)
    assert dataclasses.asdict(shown) == dataclasses.asdict(run(Judge(latency=0.0), kind, **LONG))


def test_elsewhere_there_is_a_line_at_times(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", 0.01)
    judge = Patient(stream.getvalue)
    run(judge, "threads", **LONG, progress=True)
    assert re.search(rf"^identify: 100 rewards in \d+ s; {WORDS}$", stream.getvalue(), re.M)


@both
@pytest.mark.parametrize("wanted", [False, True])
def test_nothing_is_written_unasked_nor_of_a_short_run(
    kind: str, wanted: bool, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not wanted:
        monkeypatch.setattr(progress, "SECONDS_PER_LINE", 0.0)
    run(Judge(), kind, progress=wanted)
    assert capfd.readouterr() == ("", "")


def test_a_look_that_takes_long_puts_off_the_next() -> None:
    assert [progress.wait_after(seconds, 3.0) for seconds in (0.0, 0.01, 2.0)] == [3.0, 3.0, 38.0]


@both
def test_rewards_that_came_with_a_failure_are_told_before_it_is_passed_on(kind: str) -> None:
    judge = Judge(latency=0.0, fails=lambda call: call == 5)
    with pytest.raises(ConnectionError) as caught:
        run(judge, kind)
    assert caught.value.result.pulls >= 3  # type: ignore[attr-defined]


@both
def test_a_judge_that_does_nothing_but_fail_is_not_cancelled_for_ever(kind: str) -> None:
    judge = Judge(fails=lambda call: call > 40)
    with pytest.raises(ConnectionError) as caught:
        run(judge, kind, on_error="cancel")
    result = caught.value.result  # type: ignore[attr-defined]
    assert result.status == "undecided"
    # Up to seven of the first 40 calls may return between failures, each of which then begins a new row of them.
    assert 16 <= result.cancelled <= 16 * 8
    judge = Judge(fails=lambda call: call > 40)
    with pytest.raises(ConnectionError) as caught:
        run(judge, "threads", on_error="cancel", workers=1)
    assert caught.value.result.cancelled == 16  # type: ignore[attr-defined]


def test_plain_functions_and_coroutines_are_not_taken_for_each_other() -> None:
    with pytest.raises(InputError, match="identify_async or run_async"):
        ba.identify(Judge().later, list(MEANS), **ASKED)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="for a plain function identify or run"):
        asyncio.run(ba.identify_async(lambda arm: 1.0, list(MEANS), **ASKED))  # type: ignore[arg-type, return-value]
