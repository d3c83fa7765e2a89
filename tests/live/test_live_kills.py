"""Writers are killed at random moments: nothing acknowledged is lost, nothing counts twice."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import signal
import sqlite3
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psycopg
import pytest

import bestarm as ba
from bestarm import InputError, StoreError
from bestarm.live.export import replay
from live_tools import bare, make, new_database

WRITERS = 3
MOST = 4  # pulls that a writer holds
NEVER_DECIDED: dict[str, Any] = {"delta": 1e-9, "epsilon": 1e-6, "resolution": 1e-6}


# ------------------------------------------------------------------------------------------------------- the writers


def _write(url: str, worker: str, seed: int, path: str) -> None:
    """Ask and tell for ever; after each acknowledgement, and not before, write down what was acknowledged."""
    rng = random.Random(seed)
    notes = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(kind: str, number: int, value: float = 0.0) -> None:
        os.write(notes, f"{kind} {number} {value.hex()}\n".encode())

    study = ba.Study(url, "study")
    while True:
        n = rng.choice([None, 1, 2, MOST])  # first of all what a killed one held
        try:
            asked = study.ask_pulls(n, worker=worker)
        except ba.WaitingError:  # one writer is far behind, on a busy machine: as `run` does, wait for it
            time.sleep(0.02)
            continue
        pulls = asked if isinstance(asked, list) else [asked]
        for pull in pulls:
            note("ask", pull.number)
        rng.shuffle(pulls)
        if rng.random() < 0.1:
            study.cancel(pulls[0])
            note("cancel", pulls.pop(0).number)
        rewards = [rng.random() for _ in pulls]
        if rng.random() < 0.5:
            study.tell_many(pulls, rewards)
            for pull, reward in zip(pulls, rewards, strict=True):
                note("tell", pull.number, reward)
        else:
            for pull, reward in zip(pulls, rewards, strict=True):
                study.tell(pull, reward)
                note("tell", pull.number, reward)
        if rng.random() < 0.3:
            study.tell_many(pulls, rewards)  # as if the acknowledgement had not come


def _serve(pipe: Connection, path: list[str], url: str) -> None:
    """Fork writers from a process that has everything loaded and compiled, and does nothing else."""
    sys.path[:] = path
    with ba.Study(url, "warm") as study:
        study.tell_many(study.ask_pulls(2), [0.5, 0.25])
        study.cancel(study.ask_pulls())
    pipe.send(0)
    while True:
        try:
            order, *arguments = pipe.recv()
        except EOFError:
            return
        if order == "start":
            process = os.fork()
            if process == 0:
                try:
                    pipe.close()
                    _write(url, *arguments)
                except BaseException:
                    with open(f"{arguments[-1]}.error", "a") as file:
                        traceback.print_exc(file=file)
                finally:
                    os._exit(1)
            pipe.send(process)
        else:
            pipe.send(os.waitpid(arguments[0], 0)[1])


class Nursery:
    """Starts writers, and knows how they ended."""

    def __init__(self, url: str) -> None:
        make(url, "warm")
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, list(sys.path), url), daemon=True)
        self._process.start()
        theirs.close()
        assert self._pipe.recv() == 0

    def start(self, worker: str, seed: int, path: Path) -> int:
        self._pipe.send(("start", worker, seed, str(path)))
        return int(self._pipe.recv())

    def kill(self, process: int, path: Path) -> None:
        """Kill a writer, and see that it had not ended by itself before."""
        os.kill(process, signal.SIGKILL)
        self._pipe.send(("wait", process))
        ended = os.waitstatus_to_exitcode(self._pipe.recv())
        error = Path(f"{path}.error")
        assert not error.exists(), error.read_text()
        assert ended == -signal.SIGKILL

    def end(self) -> None:
        self._pipe.close()
        self._process.join(30)
        assert self._process.exitcode == 0


@pytest.fixture
def nursery(url: str) -> Iterator[Nursery]:
    nursery = Nursery(url)
    yield nursery
    nursery.end()


# -------------------------------------------------------------------------------------------------- what must be true


def notes_in(path: Path) -> list[tuple[str, int, float]]:
    """What was acknowledged to a writer."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [(kind, int(number), float.fromhex(value)) for kind, number, value in (line.split() for line in lines)]


def assert_kept(url: str, acknowledged: list[tuple[str, int, float]], folder: Path) -> Counter[str]:
    """See that a log has all that was acknowledged, once, and is whole."""
    study = ba.Study(url, "study")
    events = study.events()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    asks = [event.pull for event in events if event.kind == "ask"]
    assert asks == list(range(len(asks)))
    ends = Counter(event.pull for event in events if event.kind in ("tell", "cancel", "expire"))
    assert set(ends.values()) <= {1}
    assert set(ends) <= set(asks)
    told = {event.pull: event.value for event in events if event.kind == "tell"}
    cancelled = {event.pull for event in events if event.kind == "cancel"}
    for kind, number, value in acknowledged:
        if kind == "tell":
            assert told[number] == value
        elif kind == "cancel":
            assert number in cancelled
        else:
            assert number < len(asks)
    assert study.decided_at is None
    assert study.pending == len(asks) - len(ends)
    study.export(folder / "study.jsonl")
    again = replay(folder / "study.jsonl")
    assert again.agrees
    assert repr(bare(again.result)) == repr(bare(study.result))
    assert again.result.waiting.rewards == study.waiting.rewards
    return Counter(event.kind for event in events)


@pytest.mark.parametrize("kills", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_nothing_acknowledged_is_lost_when_writers_are_killed(
    url: str, nursery: Nursery, tmp_path: Path, kills: int
) -> None:
    make(url, lease=10**6, **NEVER_DECIDED).close()
    rng = random.Random(kills)
    paths = {f"writer {place}": tmp_path / f"notes {place}" for place in range(WRITERS)}
    alive = {worker: nursery.start(worker, rng.getrandbits(32), path) for worker, path in paths.items()}
    for _ in range(kills):
        time.sleep(rng.uniform(0.0, 0.4))
        worker = rng.choice(list(paths))
        nursery.kill(alive[worker], paths[worker])
        alive[worker] = nursery.start(worker, rng.getrandbits(32), paths[worker])
    wanted = 10 * len(paths)
    for _ in range(2000):  # until all of them have come to something
        if min(len(notes_in(path)) for path in paths.values()) >= wanted:
            break
        time.sleep(0.05)
    else:
        pytest.fail("a writer does not get on")
    for worker, process in alive.items():
        nursery.kill(process, paths[worker])

    acknowledged = [note for path in paths.values() for note in notes_in(path)]
    kinds = assert_kept(url, acknowledged, tmp_path)
    assert kinds["tell"] > kills
    # A writer that was started again went on with what it held, so that little is left behind.
    events = ba.Study(url, "study").events()
    ended = {event.pull for event in events if event.kind in ("tell", "cancel")}
    left = Counter(event.worker for event in events if event.kind == "ask" and event.pull not in ended)
    assert set(left) <= set(paths)
    assert max(left.values(), default=0) <= MOST
    for worker, path in paths.items():  # and each was given what was asked for in its name
        given = {number for kind, number, _ in notes_in(path) if kind == "ask"}
        assert given <= {event.pull for event in events if event.kind == "ask" and event.worker == worker}
    if url.startswith("sqlite"):
        file = sqlite3.connect(url.removeprefix("sqlite:///"))
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        file.close()


# --------------------------------------------------------------------------------- the other end of the connection


def terminate(url: str) -> int:
    """End all other sessions of a database, and return how many there were."""
    with psycopg.connect(url, autocommit=True) as admin:
        rows = admin.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()"
        ).fetchall()
    return len(rows)


def test_a_session_that_the_server_ended_is_opened_anew(server: Any, tmp_path: Path) -> None:
    url = new_database(server)
    study = make(url)
    pull = study.ask_pulls(worker="w")
    assert terminate(url) == 1
    with pytest.raises(StoreError, match=r"the database .* can't be used, as"):
        study.tell(pull, 0.5)
    study.tell(pull, 0.5)
    assert terminate(url) == 1
    with pytest.raises(StoreError):
        study.ask_pulls(worker="w")
    pull = study.ask_pulls(worker="w")
    assert study.ask_pulls(worker="w") == pull
    assert terminate(url) == 1
    with pytest.raises(StoreError):
        assert study.pending
    assert (study.pending, study.pulls, study.sequence) == (1, 1, 3)
    assert_kept(url, [("tell", 0, 0.5)], tmp_path)


@pytest.mark.parametrize("ends", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_nothing_is_lost_when_sessions_end_at_any_moment(server: Any, tmp_path: Path, ends: int) -> None:
    url = new_database(server)
    study = make(url, **NEVER_DECIDED)
    over = threading.Event()

    def end_sessions() -> None:
        rng = random.Random(ends)
        done = 0
        while done < ends:
            time.sleep(rng.uniform(0.0, 0.1))
            done += terminate(url)
        over.set()

    def insist(act: Any) -> Any:
        """Do it until it is acknowledged, as the docs say."""
        while True:
            try:
                return act()
            except StoreError:
                failures.append(1)

    failures: list[int] = []
    acknowledged: list[tuple[str, int, float]] = []
    rng = random.Random(1)
    thread = threading.Thread(target=end_sessions)
    thread.start()
    while not over.is_set():
        n = rng.choice([1, 2, 25])  # the last are copied, and not inserted
        pulls = insist(lambda n=n: study.ask_pulls(n, worker="w"))
        rewards = [rng.random() for _ in pulls]
        insist(lambda pulls=pulls, rewards=rewards: study.tell_many(pulls, rewards))
        acknowledged += [("tell", pull.number, reward) for pull, reward in zip(pulls, rewards, strict=True)]
    thread.join()
    assert failures
    insist(lambda: study.pending)
    kinds = assert_kept(url, acknowledged, tmp_path)
    assert kinds == {"ask": len(acknowledged), "tell": len(acknowledged)}  # nothing was given out in vain


@pytest.mark.parametrize("between", ["a refusal", "close"])
def test_a_crash_of_the_server_leaves_a_whole_log(own_server: Any, tmp_path: Path, between: str) -> None:
    """What is not on the disk yet, asks at most, is lost by it: who still knows of it must not go on from there."""
    url = new_database(own_server)
    own_server.psql("alter system set wal_writer_delay = '10s';")
    own_server.psql("select pg_reload_conf();")
    try:
        study = make(url)
        told = study.ask_pulls()
        study.tell(told, 0.5)
        asked = study.ask_pulls(2, worker="w")
        if between == "close":
            study.close()
        else:
            with pytest.raises(InputError):
                study.tell(told, 0.75)
        with psycopg.connect(url) as victim:
            os.kill(victim.info.backend_pid, signal.SIGKILL)  # the server ends all sessions, and recovers
            with contextlib.suppress(psycopg.OperationalError):
                while True:
                    victim.execute("select 1")
        for _ in range(2400):
            with contextlib.suppress(StoreError):
                ba.Study(url, "study")
                break
            time.sleep(0.05)
        acknowledged = [("tell", 0, 0.5)]
        fresh_eyes = ba.Study(url, "study")
        assert fresh_eyes.pull(0) == told  # it has ended: nothing can be told in its place
        first = fresh_eyes.ask_pulls(worker="u")  # may have a number that was given out before
        for wrong in (first.number, str(first.number)):
            with pytest.raises(InputError, match="pull must be given by its id, as the database was interrupted"):
                fresh_eyes.pull(wrong)
        assert fresh_eyes.pull(first.id) == first
        fresh_eyes.cancel(first)
        second = fresh_eyes.ask_pulls(worker="u")  # nobody can have been given its number before
        assert fresh_eyes.pull(second.number) == second
        fresh_eyes.cancel(second)
        with contextlib.suppress(InputError, StoreError):  # it may be known no more
            study.tell(asked[0], 1.0)
            acknowledged.append(("tell", asked[0].number, 1.0))
        fresh = study.ask_pulls(worker="v")
        study.tell(fresh, 0.25)
        acknowledged.append(("tell", fresh.number, 0.25))
        assert_kept(url, acknowledged, tmp_path)
        again = ba.Study(url, "study")
        assert (study.sequence, study.pending, study.pulls) == (again.sequence, again.pending, again.pulls)
    finally:
        own_server.psql("alter system reset wal_writer_delay;")
        own_server.psql("select pg_reload_conf();")
