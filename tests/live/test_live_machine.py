"""A study against a plain-dict model of it: any order of asks, tells, cancels, ends of leases and reopenings."""

from __future__ import annotations

import contextlib
import itertools
import math
import multiprocessing
import struct
import sys
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import bestarm as ba
import bestarm.live.backends.postgresql
import bestarm.live.study_log
from bestarm import InputError
from bestarm.live.backends.sqlite import SQLiteStore
from bestarm.live.export import replay
from live_tools import bare, make

LEASE = 100.0
EPOCH = 1_000_000.0
QUESTION: dict[str, Any] = {"delta": 0.1, "epsilon": 0.05, "bounds": (0, 1)}
ARMS = ["A", "B", "C"]
REWARDS = st.sampled_from([0.0, 0.1, 1 / 3, 0.7, 1.0])
WORKERS = st.sampled_from([None, "w", "v"])
_PAST_POSTGRESQL = bestarm.live.backends.postgresql._BEGIN
_names = itertools.count()


class Clock:
    """The time of both databases, which stands still until it is set."""

    def __init__(self) -> None:
        self.now = EPOCH

    def set(self, now: float) -> None:
        self.now = now
        literal = _PAST_POSTGRESQL.replace("extract(epoch from clock_timestamp())::float8", f"{now!r}::float8")
        assert literal != _PAST_POSTGRESQL
        bestarm.live.backends.postgresql._BEGIN = literal


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(bestarm.live.backends.postgresql, "_BEGIN", _PAST_POSTGRESQL)
    clock = Clock()
    monkeypatch.setattr(SQLiteStore, "now", lambda store: clock.now)
    return clock


@contextlib.contextmanager
def read_as_arrays() -> Iterator[None]:
    """Read logs of any length as a long one is read."""
    many, bestarm.live.study_log.READ_AS_ARRAYS = bestarm.live.study_log.READ_AS_ARRAYS, 0
    try:
        yield
    finally:
        bestarm.live.study_log.READ_AS_ARRAYS = many


def reopened(url: str, name: str, *, as_arrays: bool) -> ba.Study:
    if not as_arrays:
        return ba.Study(url, name)
    with read_as_arrays():
        study = ba.Study(url, name)
        assert study.sequence >= 0  # read now
    return study


class Model:
    """What a study promises, in dicts, and an identifier beside it that knows of no database."""

    def __init__(self) -> None:
        self.pulls: dict[int, dict[str, Any]] = {}
        self.log: list[tuple[str, int | None]] = []
        self.decided_at: int | None = None
        self.finder = ba.Identifier(ARMS, **QUESTION)

    def numbers(self, *fates: str) -> list[int]:
        return [number for number, pull in self.pulls.items() if pull["fate"] in fates]

    @property
    def outstanding(self) -> list[int]:
        return self.numbers("outstanding")

    def late(self, now: float) -> list[int]:
        return [number for number in self.outstanding if self.pulls[number]["leased"] + LEASE <= now]

    def held(self, worker: str | None, now: float) -> list[int]:
        mine = [number for number in self.outstanding if self.pulls[number]["worker"] == worker]
        return [number for number in mine if number not in self.late(now)] if worker is not None else []

    def ask(self, wanted: int, worker: str | None, now: float) -> list[int]:
        given = self.held(worker, now)[:wanted]
        missing = wanted - len(given)
        for pull in self.finder.ask_pulls(missing) if missing else []:
            number = len(self.pulls)
            assert pull.number == number
            self.pulls[number] = {
                "arm": pull.arm,
                "worker": worker,
                "fate": "outstanding",
                "reward": None,
                "at": now,
                "leased": now,
                "ticket": pull,
            }
            self.log.append(("ask", number))
            given.append(number)
        self.settle(now)
        return given

    def tell(self, numbers: list[int], rewards: list[float], now: float) -> None:
        for number, reward in zip(numbers, rewards, strict=True):
            if self.pulls[number]["fate"] == "outstanding":
                self.end(number, "told", reward)
        self.settle(now)

    def cancel(self, numbers: list[int], now: float) -> None:
        for number in numbers:
            if self.pulls[number]["fate"] == "outstanding":
                self.end(number, "cancelled", None)
        self.settle(now)

    def renew(self, numbers: list[int], now: float) -> None:
        for number in numbers:
            self.pulls[number]["leased"] = now
            self.log.append(("renew", number))
        self.settle(now)

    def end(self, number: int, fate: str, reward: float | None) -> None:
        pull = self.pulls[number]
        pull["fate"], pull["reward"] = fate, reward
        if reward is None:
            self.finder.cancel(pull["ticket"])
        else:
            self.finder.tell(pull["ticket"], reward)
        self.log.append(({"told": "tell", "cancelled": "cancel", "expired": "expire"}[fate], number))
        if self.finder.done and self.decided_at is None:
            self.decided_at = len(self.log)

    def settle(self, now: float) -> None:
        """What every change brings with it: leases end, and the decision is written down."""
        for number in self.late(now):
            self.end(number, "expired", None)
        if self.decided_at is not None and ("decide", None) not in self.log:
            self.log.append(("decide", None))


class Machine(RuleBasedStateMachine):
    """One study in two objects: one reads its log event by event, the other as arrays, or in another process."""

    def __init__(self, url: str, clock: Clock, folder: Path, seen: set[str], remote: Remote | None = None) -> None:
        super().__init__()
        self.seen = seen
        self.url, self.clock, self.folder, self.remote = url, clock, folder, remote
        self.name = f"study {next(_names)}"
        self.model = Model()
        self.set_clock(EPOCH)
        make(url, self.name, ARMS, lease=LEASE, **QUESTION)
        self.first: Any = reopened(url, self.name, as_arrays=False)
        self.second: Any = self.open_second()
        self.alien = make(url, f"{self.name}, another", ARMS, lease=LEASE, **QUESTION).ask_pulls()
        self.events: list[Any] = []

    def open_second(self) -> Any:
        if self.remote is not None:
            self.remote.open(self.url, self.name)
            return self.remote
        return reopened(self.url, self.name, as_arrays=True)

    def set_clock(self, now: float) -> None:
        self.clock.set(now)
        if self.remote is not None:
            self.remote.set_clock(now)

    def study(self, which: bool) -> Any:
        return self.second if which else self.first

    def pull(self, number: int) -> ba.Pull:
        known = self.model.pulls[number]
        (bits,) = struct.unpack("<q", struct.pack("<d", known["at"]))
        return ba.Pull(known["arm"], number, self.token ^ int(bits))

    @property
    def token(self) -> int:
        return int(self.first._log.row.token)

    def some(self, data: st.DataObject, numbers: list[int]) -> int:
        return data.draw(st.sampled_from(numbers))

    def refused(self, act: Callable[[], object], match: str) -> None:
        """Nothing changes; the invariant looks at it."""
        with pytest.raises(InputError, match=match):
            act()

    # ------------------------------------------------------------------------------------------------------- asking

    @precondition(lambda self: self.model.decided_at is None)
    @rule(n=st.sampled_from([None, 1, 2, 4]), worker=WORKERS, which=st.booleans())
    def ask(self, n: int | None, worker: str | None, which: bool) -> None:
        expected = self.model.ask(n or 1, worker, self.clock.now)
        found = self.study(which).ask_pulls(n, worker=worker)
        assert (found if n is not None else [found]) == [self.pull(number) for number in expected]

    @precondition(lambda self: self.model.decided_at is not None)
    @rule(worker=WORKERS, which=st.booleans())
    def ask_too_late(self, worker: str | None, which: bool) -> None:
        self.refused(lambda: self.study(which).ask_pulls(worker=worker), "is already decided")

    # ------------------------------------------------------------------------------------------------------ telling

    @precondition(lambda self: self.model.outstanding)
    @rule(data=st.data(), reward=REWARDS, which=st.booleans())
    def tell(self, data: st.DataObject, reward: float, which: bool) -> None:
        number = self.some(data, self.model.outstanding)
        self.study(which).tell(self.pull(number), reward)
        self.model.tell([number], [reward], self.clock.now)

    @precondition(lambda self: self.model.decided_at is None)
    @rule(rewards=st.lists(REWARDS, min_size=20, max_size=20), lead=st.booleans(), which=st.booleans())
    def a_good_deal_of_work(self, rewards: list[float], lead: bool, which: bool) -> None:
        """So that there are decisions."""
        numbers = self.model.ask(len(rewards), None, self.clock.now)
        pulls = self.study(which).ask_pulls(len(rewards))
        assert pulls == [self.pull(number) for number in numbers]
        numbers = numbers[:1:-1]  # the first two are slow, and the others wait for them
        rewards = rewards[: len(numbers)]
        if lead:
            rewards = [float(self.model.pulls[number]["arm"] == "B") for number in numbers]
        self.study(not which).tell_many([self.pull(number) for number in numbers], rewards)
        self.model.tell(numbers, rewards, self.clock.now)

    @precondition(lambda self: self.model.numbers("outstanding", "told"))
    @rule(data=st.data(), which=st.booleans())
    def tell_batch(self, data: st.DataObject, which: bool) -> None:
        """In any order, what was told before and what is twice in it too."""
        candidates = self.model.numbers("outstanding", "told")
        numbers = data.draw(st.lists(st.sampled_from(candidates), min_size=1, max_size=6))
        rewards = {number: self.reward_of(number, data) for number in dict.fromkeys(numbers)}
        batch = [rewards[number] for number in numbers]
        self.study(which).tell_many([self.pull(number) for number in numbers], batch)
        self.model.tell(numbers, batch, self.clock.now)

    def reward_of(self, number: int, data: st.DataObject) -> float:
        told = self.model.pulls[number]["reward"]
        return float(data.draw(REWARDS) if told is None else told)

    @precondition(lambda self: self.model.numbers("told"))
    @rule(data=st.data(), which=st.booleans())
    def tell_again(self, data: st.DataObject, which: bool) -> None:
        number = self.some(data, self.model.numbers("told"))
        reward = self.model.pulls[number]["reward"]
        self.study(which).tell(self.pull(number), reward)
        self.model.tell([number], [reward], self.clock.now)
        self.refused(lambda: self.study(which).tell(self.pull(number), 0.5 + reward / 4), "be the same")
        self.refused(lambda: self.study(which).cancel(self.pull(number)), "not be told")

    # --------------------------------------------------------------------------------------------------- cancelling

    @precondition(lambda self: self.model.outstanding)
    @rule(data=st.data(), which=st.booleans())
    def cancel(self, data: st.DataObject, which: bool) -> None:
        number = self.some(data, self.model.outstanding)
        self.study(which).cancel(self.pull(number))
        self.model.cancel([number], self.clock.now)

    @precondition(lambda self: self.model.numbers("cancelled", "expired"))
    @rule(data=st.data(), which=st.booleans())
    def after_a_cancel(self, data: st.DataObject, which: bool) -> None:
        ended = self.model.numbers("cancelled", "expired")
        numbers = [*ended[:2], *self.model.outstanding[:1], self.some(data, ended)]
        self.study(which).cancel_many([self.pull(number) for number in numbers])
        self.model.cancel(numbers, self.clock.now)
        number = numbers[-1]
        why = "its lease has ended" if self.model.pulls[number]["fate"] == "expired" else "it was cancelled"
        self.refused(lambda: self.study(which).tell(self.pull(number), 0.5), why)

    @precondition(lambda self: self.model.outstanding)
    @rule(which=st.booleans(), many=st.integers(1, 3))
    def renew(self, which: bool, many: int) -> None:
        numbers = self.model.outstanding[-many:]
        self.study(which).renew_many([self.pull(number) for number in numbers])
        self.model.renew(numbers, self.clock.now)
        for number in self.model.numbers("told", "cancelled", "expired")[:1]:
            self.refused(partial(self.study(which).renew, self.pull(number)), "be outstanding")

    # ---------------------------------------------------------------------------------------------- what is refused

    @precondition(lambda self: self.model.outstanding)
    @rule(data=st.data(), which=st.booleans(), place=st.integers(0, 2))
    def one_bad_one_in_a_batch(self, data: st.DataObject, which: bool, place: int) -> None:
        pulls = [self.pull(number) for number in self.model.outstanding[:2]]
        rewards = [0.5] * len(pulls)
        told, cancelled = self.model.numbers("told"), self.model.numbers("cancelled", "expired")
        bad: list[tuple[ba.Pull, float]] = [
            (pulls[0], math.nan),
            (pulls[0], 1.5),
            (pulls[0], 0.75),
            (self.alien, 0.5),
            (ba.Pull("A", len(self.model.pulls), self.token), 0.5),
            *((self.pull(number), 0.9 - self.model.pulls[number]["reward"] / 2) for number in told[:1]),
            *((self.pull(number), 0.5) for number in cancelled[:1]),
        ]
        pull, reward = data.draw(st.sampled_from(bad))
        pulls.insert(place, pull)
        rewards.insert(place, reward)
        self.refused(lambda: self.study(which).tell_many(pulls, rewards), "must")
        wrong = [self.alien, *(self.pull(number) for number in told[:1])]
        batch = [self.pull(number) for number in self.model.outstanding[:2]]
        batch.insert(place, data.draw(st.sampled_from(wrong)))
        self.refused(lambda: self.study(which).cancel_many(batch), "pull must")

    # -------------------------------------------------------------------------------------------- time, and processes

    @precondition(lambda self: self.model.outstanding)
    @rule(seconds=st.sampled_from([10.0, 50.0, 99.0, 100.0, 150.0]))
    def time_passes(self, seconds: float) -> None:
        self.set_clock(self.clock.now + seconds)

    @rule(which=st.booleans(), close=st.booleans())
    def reopen(self, which: bool, close: bool) -> None:
        if close:
            self.study(which).close()
        if which:
            self.second = self.open_second()
        else:
            self.first = reopened(self.url, self.name, as_arrays=False)

    # ---------------------------------------------------------------------------------------------------- invariants

    @invariant()
    def both_are_as_the_model(self) -> None:
        model = self.model
        used = model.finder.pulls
        for study in (self.first, self.second):
            assert study.sequence == len(model.log)
            assert study.pending == len(model.outstanding)
            assert study.expired == len(model.numbers("expired"))
            assert study.pulls == used
            assert study.done == model.finder.done
            assert study.decided_at == model.decided_at
        events = self.first.events()
        assert events[: len(self.events)] == self.events  # what was there is still there
        self.events = events
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert [(event.kind, event.pull) for event in events] == model.log

    def teardown(self) -> None:
        try:
            self.the_end()
        finally:
            self.first.close()
            self.second.close()

    def the_end(self) -> None:
        model = self.model
        self.seen |= {kind for kind, _ in model.log}
        self.second.archive()
        self.first.archive()
        model.log.append(("archive", None))
        self.refused(lambda: self.first.ask_pulls(), "is archived")
        for number in model.outstanding[:1]:
            for act in (lambda pull: self.second.tell(pull, 0.5), self.second.cancel, self.second.renew):
                self.refused(partial(act, self.pull(number)), "is archived")
        for number in model.numbers("told")[:1]:  # acknowledged again, as before
            self.second.tell(self.pull(number), model.pulls[number]["reward"])
            self.refused(partial(self.second.tell, self.pull(number), 0.55), "be the same")
        for number in model.numbers("cancelled", "expired")[:1]:
            self.second.cancel(self.pull(number))
        events = self.second.events()
        assert [(event.kind, event.pull) for event in events] == model.log  # nothing follows
        for event in events:
            if event.kind in ("ask", "tell"):
                known = model.pulls[event.pull]
                wanted = (ARMS.index(known["arm"]), None) if event.kind == "ask" else (None, known["reward"])
                assert (event.arm, event.value) == wanted
                assert event.worker == (known["worker"] if event.kind == "ask" else None)
        anew = [reopened(self.url, self.name, as_arrays=as_arrays) for as_arrays in (False, True)]
        path = self.folder / "study.jsonl"
        self.first.export(path)
        again = replay(path)
        assert again.agrees
        assert again.decided_at == model.decided_at
        expected = repr(bare(model.finder.result))
        assert repr(bare(again.result)) == expected
        choices = None if model.finder.done else model.finder.ask_pulls(5)
        for study in (self.first, self.second, *anew):
            assert study.archived
            assert (study.sequence, study.pending) == (len(events), len(model.outstanding))
            finder = study.snapshot()
            assert repr(bare(finder.result)) == expected
            assert finder.waiting.rewards == model.finder.waiting.rewards
            pulls = [self.pull(number) for number in model.pulls]
            assert [study.pull(pull.id) for pull in pulls] == pulls
            if choices is not None:
                assert [(ask.arm, ask.number) for ask in finder.ask_pulls(5)] == [
                    (ask.arm, ask.number) for ask in choices
                ]


def run_machine(
    url: str, clock: Clock, folder: Path, examples: int, steps: int, remote: Remote | None = None
) -> set[str]:
    seen: set[str] = set()
    factory: Any = lambda: Machine(url, clock, folder, seen, remote)  # noqa: E731
    run_state_machine_as_test(
        factory,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, suppress_health_check=list(HealthCheck), deadline=None
        ),
    )
    return seen


def test_a_study_does_what_its_model_does(url: str, clock: Clock, tmp_path: Path) -> None:
    seen = run_machine(url, clock, tmp_path, examples=16, steps=30)
    assert seen == {"ask", "tell", "cancel", "expire", "renew", "decide"}  # or the rules have become too tame


@pytest.mark.slow
def test_a_study_does_what_its_model_does_for_long(url: str, clock: Clock, tmp_path: Path) -> None:
    run_machine(url, clock, tmp_path, examples=50, steps=50)


# ------------------------------------------------------------------------------------------------------ two processes


def _serve(pipe: Connection, path: list[str]) -> None:
    """Do to a study what comes through a pipe, until nothing comes any more."""
    sys.path[:] = path
    clock = Clock()
    pytest.MonkeyPatch().setattr(SQLiteStore, "now", lambda store: clock.now)  # for as long as this process lives
    study: Any = None
    while True:
        try:
            name, arguments, options = pipe.recv()
        except EOFError:
            return
        answer: Any = None
        error: Exception | None = None
        try:
            if name == "open":
                study = reopened(*arguments, as_arrays=True)
            elif name == "set_clock":
                clock.set(*arguments)
            else:
                answer = getattr(study, name)
                if callable(answer):
                    answer = answer(*arguments, **options)
        except Exception as raised:
            error = raised
        pipe.send((answer, error))


class Remote:
    """A study in another process."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, list(sys.path)), daemon=True)
        self._process.start()
        theirs.close()

    def call(self, name: str, *arguments: Any, **options: Any) -> Any:
        self._pipe.send((name, arguments, options))
        answer, error = self._pipe.recv()
        if error is not None:
            raise error
        return answer

    def __getattr__(self, name: str) -> Any:
        if name in ("pending", "expired", "pulls", "done", "decided_at", "sequence", "archived"):
            return self.call(name)
        return lambda *arguments, **options: self.call(name, *arguments, **options)

    def end(self) -> None:
        self._pipe.close()
        self._process.join(30)
        assert self._process.exitcode == 0


@pytest.fixture
def remote() -> Iterator[Remote]:
    remote = Remote()
    yield remote
    remote.end()


def test_so_does_one_that_two_processes_use(url: str, clock: Clock, tmp_path: Path, remote: Remote) -> None:
    run_machine(url, clock, tmp_path, examples=5, steps=20, remote=remote)


# -------------------------------------------------------------------------------- what the machine finds, by itself


def test_a_worker_is_not_given_a_pull_whose_lease_has_just_ended(url: str, clock: Clock) -> None:
    clock.set(EPOCH)
    study = make(url, lease=LEASE)
    late = study.ask_pulls(worker="w")
    clock.set(EPOCH + LEASE)
    fresh = study.ask_pulls(worker="w")
    assert fresh != late
    study.tell(fresh, 1.0)
    assert (study.pending, study.expired) == (0, 1)
