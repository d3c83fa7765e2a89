"""One identifier in many hands: threads, callbacks, forks and pickles, all at once."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import random
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

import bestarm as ba
from bestarm import InputError

ARMS = ("A", "B", "C", "D", "E", "F")


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads take turns every microsecond, so that whatever can go wrong between two steps does."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def finder_of(method: str) -> ba.Identifier:
    """Equal arms, and next to no error: nothing is decided on the way (the certified method stops at a limit else)."""
    epsilon = 0.0 if method == "certified" else 0.05
    return ba.Identifier(ARMS, delta=1e-12, epsilon=epsilon, sigma=1.0, method=method)


def reward(arm: str) -> float:
    return random.gauss(0.0, 1.0)


@contextlib.contextmanager
def under_load(finder: ba.Identifier) -> Iterator[None]:
    """Four threads ask and tell while the block runs."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            arm = str(finder.ask())
            finder.tell(arm, reward(arm))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


class Recorder:
    """Tells rewards and notes them in the order in which they took effect."""

    def __init__(self, finder: ba.Identifier) -> None:
        self.finder = finder
        self.log: list[tuple[str, float]] = []

    def tell(self, arm: str, value: float) -> None:
        with self.finder._lock:  # what is noted is then told in the same order
            self.finder.tell(arm, value)
            self.log.append((arm, value))


def assert_as_replayed(recorder: Recorder, method: str) -> None:
    finder, again = recorder.finder, finder_of(method)
    assert finder.pulls == len(recorder.log)
    for arm, value in recorder.log:
        again.tell(arm, value)
    assert finder.done == again.done
    assert [row.pulls for row in finder.estimates] == [row.pulls for row in again.estimates]
    assert repr(finder.estimates) == repr(again.estimates)


@pytest.mark.parametrize("method", ["certified", "se-cbai", "g-cbai"])
@pytest.mark.parametrize("slow", [False, True], ids=["at once", "with latencies"])
def test_sixteen_threads_ask_and_tell(method: str, slow: bool, hurried: None) -> None:
    pairs = 100 if slow else 1000
    recorder = Recorder(finder_of(method))
    begin = threading.Barrier(16)

    def work() -> None:
        begin.wait()
        for _ in range(pairs):
            arm = recorder.finder.ask()
            assert arm in ARMS
            if slow:
                time.sleep(random.random() * 1e-3)
            recorder.tell(str(arm), reward(str(arm)))

    with ThreadPoolExecutor(16) as pool:
        for future in [pool.submit(work) for _ in range(16)]:
            future.result()
    assert recorder.finder.pending == 0
    assert recorder.finder.pulls == 16 * pairs
    assert_as_replayed(recorder, method)


@pytest.mark.slow
def test_a_hundred_thousand_pairs_of_sixteen_threads(hurried: None) -> None:
    recorder = Recorder(finder_of("se-cbai"))

    def work() -> None:
        for _ in range(6250):
            arm = str(recorder.finder.ask())
            recorder.tell(arm, reward(arm))

    with ThreadPoolExecutor(16) as pool:
        for future in [pool.submit(work) for _ in range(16)]:
            future.result()
    assert recorder.finder.pending == 0
    assert recorder.finder.pulls == 100_000
    assert_as_replayed(recorder, "se-cbai")


def test_callbacks_of_futures_tell(hurried: None) -> None:
    recorder = Recorder(finder_of("certified"))
    counted = threading.Semaphore(0)

    def told(future: Future[tuple[str, float]]) -> None:
        recorder.tell(*future.result())
        counted.release()

    def pull(arm: str) -> tuple[str, float]:
        time.sleep(random.random() * 1e-3)
        return arm, reward(arm)

    with ThreadPoolExecutor(16) as pool:
        for _ in range(2000):
            pool.submit(pull, str(recorder.finder.ask())).add_done_callback(told)
    for _ in range(2000):
        assert counted.acquire(timeout=30.0)
    assert recorder.finder.pending == 0
    assert_as_replayed(recorder, "certified")


@pytest.mark.slow
def test_reading_while_others_tell(hurried: None) -> None:
    finder = finder_of("certified")
    with under_load(finder):
        for _ in range(30):
            assert sum(row.pulls for row in finder.estimates) <= finder.pulls
            result = finder.result
            assert sum(row.pulls for row in result.arms) == result.pulls
            assert 0 <= finder.pending <= 4
            for twin in (pickle.loads(pickle.dumps(finder)), copy.deepcopy(finder), copy.copy(finder)):
                assert sum(row.pulls for row in twin.estimates) == twin.pulls
                again = finder_of("certified")
                told = twin._engine.rewards()
                again.tell_many([ARMS[index] for index in told.indices], told.values)
                # to read estimates adds up sums in another order: the last digit may differ
                known = [row.estimate for row in twin.estimates]
                assert [row.estimate for row in again.estimates] == pytest.approx(known, rel=1e-9, abs=1e-12)
                before = twin.pulls
                twin.tell("A", 0.5)  # its lock is its own
                assert twin.pulls == before + 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_under_load_has_a_whole_identifier(hurried: None) -> None:
    finder = finder_of("certified")
    with under_load(finder):
        for _ in range(20):
            child = os.fork()
            if child == 0:  # pragma: no cover - in the child
                good = sum(row.pulls for row in finder.estimates) == finder.pulls
                finder.tell("A", 0.5)
                os._exit(0 if good else 1)
            limit = time.monotonic() + 30.0
            while True:
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    break
                assert time.monotonic() < limit, "the child hangs"
                time.sleep(0.001)
            assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("change", ["version", "layout", "no tag"])
def test_a_pickle_of_another_layout_is_refused_with_what_to_do(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    finder = finder_of("certified")
    finder.tell("A", 1.0)
    if change == "version":
        monkeypatch.setattr("bestarm.identification.identifier.version", lambda name: "0.0.1")
        data = pickle.dumps(finder)
        monkeypatch.undo()
    else:
        stored = finder.__getstate__()
        if change == "layout":
            stored["tag"] = stored["tag"].split("/")[0] + "/other"
        else:
            stored = stored["fields"]
        monkeypatch.setattr(ba.Identifier, "__getstate__", lambda self: stored)
        data = pickle.dumps(finder)
        monkeypatch.undo()
    with pytest.raises(InputError, match=r"pickle must be of this version of bestarm.*tell its rewards, in order"):
        pickle.loads(data)


def test_bools_are_rewards_and_no_arms() -> None:
    finder = ba.Identifier(3, delta=0.05, epsilon=0.0, bounds=(0, 1), method="mean-se")
    finder.tell(1, True)
    finder.tell(1, np.False_)  # type: ignore[arg-type]
    finder.tell_many([0, 2], [True, False])
    finder.tell_many([0, 2], np.array([True, False]))
    assert [row.estimate for row in finder.estimates] == [1.0, 0.5, 0.0]
    for arm in (True, np.True_, False):
        with pytest.raises(InputError, match="arm must be one of the labels"):
            finder.tell(arm, 1.0)
        with pytest.raises(InputError, match="arm must be one of the labels"):
            finder.tell_many([arm], [1.0])
    named = ba.Identifier([True, False], delta=0.05, epsilon=0.0, bounds=(0, 1))
    named.tell(True, 1.0)
    assert named.estimates[0].pulls == 1
