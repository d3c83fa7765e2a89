"""A database that is away for a while: a run waits for it, and an event loop does not."""

from __future__ import annotations

import asyncio
import pickle
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import bestarm as ba
from bestarm import InputError, StoreError
from bestarm.live.backends._base import Store
from live_tools import make, new_database


class Restarts:
    """A judge during whose call the server is shut down, and comes back some time later."""

    def __init__(self, server: Any, seconds: float) -> None:
        self.server, self.seconds, self.calls = server, seconds, 0
        self.thread: threading.Thread | None = None

    def __call__(self, arm: Any) -> float:
        self.calls += 1
        if self.calls == 3:
            self.server.stop()
            self.thread = threading.Thread(target=self._come_back)
            self.thread.start()
        return 0.5

    def _come_back(self) -> None:
        time.sleep(self.seconds)
        self.server.start()


@pytest.mark.parametrize("how", ["run", "run_async"])
def test_a_run_goes_on_after_a_restart_of_the_server(own_server: Any, how: str) -> None:
    study = make(new_database(own_server))
    judge = Restarts(own_server, 1.0)

    async def judge_async(arm: Any) -> float:
        return await asyncio.to_thread(judge, arm)

    try:
        if how == "run":
            result = study.run(judge, max_pulls=6)
        else:
            result = asyncio.run(study.run_async(judge_async, workers=1, max_pulls=6))
        assert judge.thread is not None
        judge.thread.join()
    finally:
        own_server.start()
    assert (result.pulls, result.cancelled, judge.calls) == (6, 0, 6)
    assert (study.pending, study.sequence) == (0, 12)


def test_a_run_gives_up_after_the_time_it_was_given(own_server: Any) -> None:
    study = make(new_database(own_server))
    judge = Restarts(own_server, 2.0)
    try:
        with pytest.raises(StoreError) as caught:
            study.run(judge, max_pulls=6, reconnect=0.3)
        assert caught.value.transient
        assert pickle.loads(pickle.dumps(caught.value)).transient
    finally:
        assert judge.thread is not None
        judge.thread.join()
    for wrong in (-1, float("nan"), float("inf"), "soon"):
        with pytest.raises(InputError, match="reconnect must be a number of seconds >= 0"):
            study.run(judge, reconnect=wrong)  # type: ignore[arg-type]


def test_a_run_goes_on_after_a_lock_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "busy_seconds", 0.05)
    study = make(f"sqlite:///{tmp_path}/run.db")
    other = sqlite3.connect(tmp_path / "run.db", isolation_level=None, check_same_thread=False)
    threads: list[threading.Thread] = []

    def let_go() -> None:
        time.sleep(0.5)
        other.rollback()

    def judge(arm: Any) -> float:
        if not threads:
            other.execute("BEGIN IMMEDIATE")
            threads.append(threading.Thread(target=let_go))
            threads[0].start()
        return 0.5

    assert study.run(judge, max_pulls=3).pulls == 3
    threads[0].join()
    other.close()
    assert study.sequence == 6


def test_a_password_that_is_wrong_is_not_waited_for(server: Any) -> None:
    url = new_database(server).replace("fresh_", "nowhere_")
    with pytest.raises(StoreError) as caught:
        make(url)
    assert not caught.value.transient


def test_the_event_loop_goes_on_while_the_database_is_waited_for(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of the database ends only after five beats of a task of the same loop."""
    study = make(url)
    study.tell(study.ask_pulls(), 0.5)
    waits, beats = [], 0
    beaten = threading.Event()
    writing = type(study._log.store).writing

    def held(store: Any, *arguments: Any, **options: Any) -> Any:
        waits.append(beaten.wait(10.0))
        return writing(store, *arguments, **options)

    async def beat() -> None:
        nonlocal beats
        while not beaten.is_set():
            await asyncio.sleep(0.001)
            beats += bool(len(waits) or held_now.is_set())
            if beats >= 5:
                beaten.set()

    held_now = threading.Event()

    def noted(store: Any, *arguments: Any, **options: Any) -> Any:
        held_now.set()
        return held(store, *arguments, **options)

    async def judge(arm: Any) -> float:
        return 0.5

    async def both() -> ba.Result:
        beating = asyncio.create_task(beat())
        result = await study.run_async(judge, max_pulls=2)
        await beating
        return result

    monkeypatch.setattr(type(study._log.store), "writing", noted)
    assert asyncio.run(both()).pulls == 3
    assert all(waits)
    assert beats >= 5


def test_a_run_that_is_cancelled_waits_for_no_database(own_server: Any) -> None:
    study = make(new_database(own_server))
    judge = Restarts(own_server, 3.0)
    away = asyncio.Event()

    async def judge_async(arm: Any) -> float:
        found = await asyncio.to_thread(judge, arm)
        if judge.thread is not None:
            away.set()
        return found

    async def cancelled() -> bool:
        task = asyncio.create_task(study.run_async(judge_async, workers=1))
        await away.wait()
        await asyncio.sleep(0.3)  # so that it is tried again
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return judge.thread is not None and judge.thread.is_alive()
        return False

    try:
        assert asyncio.run(cancelled())
    finally:
        assert judge.thread is not None
        judge.thread.join()
