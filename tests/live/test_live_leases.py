"""Leases: ten minutes, renewed by whoever holds the pull, as an event of the log that all processes know."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import bestarm as ba
import bestarm.live.study_log
from bestarm import InputError
from bestarm.errors import LateError
from bestarm.live.backends.sqlite import SQLiteStore
from bestarm.live.export import replay
from live_tools import make

LEASE = 0.6  # seconds: a third of it, at which it is renewed, must not be missed on a busy machine


def test_a_renewed_lease_begins_anew_for_everyone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(SQLiteStore, "now", lambda store: now)
    url = f"sqlite:///{tmp_path}/run.db"
    study, other = make(url), make(url)
    assert study.lease == 600.0
    slow, lost = study.ask_pulls(2, worker="w")
    now += 500.0
    study.renew(slow)
    now += 500.0
    monkeypatch.setattr(bestarm.live.study_log, "READ_AS_ARRAYS", 0)  # read the log at once
    for one in (other, ba.Study(url, "study")):
        assert one.ask_pulls(worker="w") == slow  # its lease lasts
        assert one.pending == 1
    assert [(event.kind, event.pull) for event in study.events()][2:] == [("renew", 0), ("expire", lost.number)]
    with pytest.raises(LateError, match="pull must be outstanding"):
        study.renew_many([slow, lost])
    assert study.sequence == 4
    now += 99.0
    study.tell(slow, 0.5)
    with pytest.raises(LateError):
        study.renew(slow)
    study.export(tmp_path / "log.jsonl")
    assert repr(replay(tmp_path / "log.jsonl").result) == repr(study.result)


def test_renewing_what_never_expires_and_what_is_no_pull(url: str) -> None:
    study = make(url, epsilon=0.0)
    pull = study.ask_pulls()
    study.renew(pull)
    assert study.sequence == 1
    with pytest.raises(InputError, match="pull must be what ask_pulls gave"):
        study.renew(3)  # type: ignore[arg-type]
    study.archive()
    with pytest.raises(ba.ArchivedError, match=r"the study '.*' is archived"):
        make(url, epsilon=0.0).ask_pulls()


def until_renewed_twice(other: ba.Study, arm: Any = None) -> float:
    """Take as long as a call that outlives its lease: until it was renewed twice, by the log."""
    for _ in range(400):
        other.cancel_many([])  # which ends leases
        if [event.kind for event in other.events()].count("renew") >= 2:
            return 0.5
        threading.Event().wait(0.05)
    raise AssertionError("it was not renewed")


def renewals() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "bestarm-leases"]


@pytest.mark.parametrize("how", ["run", "workers", "run_async", "work"])
def test_a_call_that_outlives_its_lease_keeps_its_pull(url: str, how: str) -> None:
    study, other = make(url, lease=LEASE), make(url, lease=LEASE)

    async def judge(arm: Any) -> float:
        return await asyncio.to_thread(until_renewed_twice, other)

    if how == "run":
        study.run(lambda arm: until_renewed_twice(other), max_pulls=1)
    elif how == "workers":
        study.run(lambda arm: until_renewed_twice(other), max_pulls=2, workers=2)
    elif how == "run_async":
        asyncio.run(study.run_async(judge, max_pulls=1))
    else:
        for pull in study.work():
            study.tell(pull, until_renewed_twice(other))
            break
        del pull
    assert study.expired == 0
    assert study.pulls == (2 if how == "workers" else 1)
    assert renewals() == []


def test_sources_that_are_silent_until_their_lease_ends_are_counted_and_alarmed(url: str) -> None:
    """Who would say 0 of B says nothing: left out, that would crown B."""
    study = make(url, arms=("A", "B"), epsilon=0.1, contamination="sources", lease=0.5)
    for number in range(40):
        pull = study.ask_pulls(source=f"s{number}")
        if pull.arm == "A" or number % 4 < 2:
            study.tell(pull, 0.6 if pull.arm == "A" else 1.0)
    time.sleep(0.6)
    study.tell(study.ask_pulls(source="last"), 0.6)
    result = study.result
    assert result.cancelled == study.expired > 4
    assert "sources were cancelled, more than epsilon = 0.1 allows for" in result.alarms[0]
    assert "no probability is claimed" in str(result)
