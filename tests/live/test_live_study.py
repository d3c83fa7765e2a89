"""The promises of a study, one suite on both databases."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import multiprocessing
import pickle
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import bestarm as ba
from bestarm import InputError, Pull
from bestarm.errors import LateError, WaitingError
from bestarm.identification import ledger
from bestarm.live.backends.sqlite import SQLiteStore
from bestarm.live.export import replay
from live_tools import ASKED, bare, make, new_database, store_of

MEANS = {"A": 0.8, "B": 0.5, "C": 0.45}


def reward(rng: random.Random, arm: Any) -> float:
    return float(rng.random() < MEANS[arm])


def run(study: ba.Study, seed: int = 1, most: int = 10**6) -> list[tuple[Any, float]]:
    """Feed a study until it has decided; return the arms and rewards."""
    rng = random.Random(seed)
    found: list[tuple[Any, float]] = []
    for pull in study.work():
        found.append((pull.arm, reward(rng, pull.arm)))
        study.tell(pull, found[-1][1])
        if len(found) == most:
            break
    return found


def test_a_study_asks_and_decides_like_an_identifier(url: str) -> None:
    study = make(url)
    told = run(study)
    finder = ba.Identifier(["A", "B", "C"], **ASKED)
    for arm, value in told:
        assert finder.ask() == arm
        finder.tell(arm, value)
    assert finder.done
    assert repr(study.result) == repr(finder.result)
    assert study.result.best == "A"
    assert study.estimates == finder.estimates


@pytest.mark.parametrize("method", ["g-cbai", "se-cbai", "mean-gap", "random", "median-se"])
def test_so_does_one_by_each_method_of_the_paper(method: str, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"delta": 0.1, "epsilon": 0.05, "sigma": 0.5, "method": method}
    options: dict[str, Any] = {"exploration": "none"} if method != "mean-gap" else {}
    study = ba.Study(f"sqlite:///{tmp_path}/run.db", "paper", ["A", "B", "C"], **asked, **options)
    finder = ba.Identifier(["A", "B", "C"], **asked, **options)
    rng = random.Random(3)
    for _ in range(40):
        pulls = study.ask_pulls(3)
        assert [pull.arm for pull in pulls] == finder.ask(3)
        values = [reward(rng, pull.arm) for pull in pulls]
        study.tell_many(pulls, values)
        for pull, value in zip(pulls, values, strict=True):
            finder.tell(pull.arm, value)
        if finder.done:
            break
    assert study.done == finder.done
    assert study.pulls == finder.pulls


def test_what_is_told_is_there_for_everyone(url: str) -> None:
    study, other = make(url), make(url)
    pulls = study.ask_pulls(6)
    assert (other.pulls, other.pending) == (0, 6)
    study.tell(pulls[0], 1.0)
    assert (other.pulls, other.pending) == (1, 5)
    other.tell(pulls[1], 0.5)
    assert (study.pulls, study.pending) == (2, 4)
    again = ba.Study(url, "study")
    assert (again.pulls, again.pending, again.sequence) == (2, 4, 8)
    assert repr(again.estimates) == repr(study.estimates) == repr(other.estimates)


def test_a_repeated_tell_counts_once_and_another_reward_is_refused(url: str) -> None:
    study, other = make(url), make(url)
    pull = study.ask_pulls()
    for teller in (study, other, study):
        teller.tell(pull, 0.25)
    assert (study.pulls, study.sequence) == (1, 2)
    for teller in (study, other):
        with pytest.raises(ba.ConflictError, match=r"reward must be the same when a pull is told again, got 0\.75"):
            teller.tell(pull, 0.75)
        with pytest.raises(InputError, match="pull must not be told"):
            teller.cancel(pull)
    assert study.sequence == 2
    pulls = study.ask_pulls(2)
    study.tell_many([pulls[0], pulls[0], pull], [1.0, 1.0, 0.25])
    assert (study.pulls, study.sequence) == (2, 5)
    with pytest.raises(InputError, match="be the same"):
        study.tell_many([pulls[1], pulls[1]], [1.0, 0.0])
    assert study.sequence == 5


def test_a_worker_that_asks_again_gets_the_same(url: str) -> None:
    study, other = make(url), make(url)
    pull = study.ask_pulls(worker="w")
    assert other.ask_pulls(worker="w") == pull
    assert other.ask_pulls(worker="v") != pull
    three = study.ask_pulls(3, worker="w")
    assert three[0] == pull
    assert len(set(three)) == 3
    other.tell(three[1], 1.0)
    assert study.ask_pulls(2, worker="w") == [three[0], three[2]]
    study.cancel(three[0])
    assert study.ask_pulls(worker="w") == three[2]
    assert study.ask_pulls() != study.ask_pulls()
    assert study.pending == 4


def test_a_pull_expires_by_its_lease_and_counts_as_cancelled(url: str) -> None:
    study, other = make(url, lease=1.0), make(url, lease=1.0)
    late, told = study.ask_pulls(2)
    study.tell(told, 1.0)
    threading.Event().wait(1.05)
    fresh = other.ask_pulls()  # at the next ask of anyone
    assert (study.pending, study.expired, study.result.cancelled) == (1, 1, 1)
    assert [event.kind for event in study.events()] == ["ask", "ask", "tell", "ask", "expire"]
    for teller in (study, other):
        with pytest.raises(InputError, match="its lease has ended, and counts as cancelled"):
            teller.tell(late, 1.0)
    study.cancel(late)  # as it is
    study.tell(fresh, 0.0)
    assert "1 pull was cancelled and counted as replaced" in str(study.result)


def test_what_comes_after_the_lease_and_before_anyone_notices_is_taken(url: str) -> None:
    study = make(url, lease=0.1)
    pull = study.ask_pulls()
    threading.Event().wait(0.2)
    study.tell(pull, 1.0)
    assert (study.pulls, study.expired) == (1, 0)


def test_cancelled_pulls_are_as_those_of_an_identifier(url: str) -> None:
    study, finder = make(url), ba.Identifier(["A", "B", "C"], **ASKED)
    mine, theirs = study.ask_pulls(9), finder.ask_pulls(9)
    for place in (8, 0, 4, 3, 7):
        if place in (0, 7):
            study.cancel(mine[place])
            finder.cancel(theirs[place])
        else:
            study.tell(mine[place], place / 10)
            finder.tell(theirs[place], place / 10)
        assert repr(bare(study.result)) == repr(bare(finder.result))
    study.cancel(mine[0])
    study.cancel_many([mine[0], mine[7], mine[1]])
    finder.cancel(theirs[1])
    assert repr(bare(study.result)) == repr(bare(finder.result))
    with pytest.raises(InputError, match="it was cancelled, and counts as cancelled"):
        study.tell(mine[0], 0.5)


def test_the_decision_is_frozen_and_the_same_for_all(url: str, tmp_path: Path) -> None:
    study, other = make(url), make(url)
    rng = random.Random(1)
    spare: list[ba.Pull] = []
    while not study.done:
        spare = spare or study.ask_pulls(50)
        pull = spare.pop(0)
        study.tell(pull, reward(rng, pull.arm))
    decided_at = study.decided_at
    assert decided_at is not None
    events = study.events()
    assert events[decided_at - 1].kind == "tell"
    assert events[decided_at].kind == "decide"
    result = study.result
    with pytest.raises(ba.DecidedError, match=r"this study is already decided \(identified\)"):
        study.ask_pulls()
    assert len(spare) > 5
    other.tell_many(spare, [0.0] * len(spare))  # recorded, and changes nothing
    reopened = ba.Study(url, "study")
    for each in (study, other, reopened):
        assert each.result == result
        assert each.decided_at == decided_at
        assert each.pulls == result.pulls + len(spare)
    study.export(tmp_path / "study.jsonl")
    again = replay(tmp_path / "study.jsonl")
    assert again.agrees
    assert again.result == result
    assert (again.decided_at, again.recorded_at) == (decided_at, decided_at)


def test_a_batch_that_decides_in_its_middle_names_the_event(url: str, tmp_path: Path) -> None:
    study = make(url)
    rng = random.Random(5)
    while not study.done:
        pulls = study.ask_pulls(64)
        rng.shuffle(pulls)
        study.tell_many(pulls, [reward(rng, pull.arm) for pull in pulls])
    study.export(tmp_path / "study.jsonl")
    again = replay(tmp_path / "study.jsonl")
    assert again.decided_at == study.decided_at
    assert again.agrees
    assert again.result == study.result


def test_a_forged_decision_is_found_out(tmp_path: Path) -> None:
    study = make(f"sqlite:///{tmp_path}/run.db")
    run(study)
    study.export(tmp_path / "study.jsonl")
    lines = (tmp_path / "study.jsonl").read_text().splitlines()
    forged = [line.replace('\\"best\\": \\"A\\"', '\\"best\\": \\"B\\"') for line in lines]
    assert forged != lines
    (tmp_path / "forged.jsonl").write_text("\n".join(forged))
    assert not replay(tmp_path / "forged.jsonl").agrees
    tells = [place for place, line in enumerate(lines) if '"tell"' in line]
    missing = [line for place, line in enumerate(lines) if place != tells[3]]
    (tmp_path / "missing.jsonl").write_text("\n".join(missing))
    with pytest.raises(InputError, match="events are missing"):
        replay(tmp_path / "missing.jsonl")
    changed = list(lines)
    for place in tells:
        row = json.loads(lines[place])
        changed[place] = json.dumps({**row, "value": 1.0 - row["value"]})
    (tmp_path / "changed.jsonl").write_text("\n".join(changed))
    assert not replay(tmp_path / "changed.jsonl").agrees


def test_what_is_wrong_is_refused_and_changes_nothing(url: str) -> None:
    study, foreign = make(url), make(url, "other")
    pull, alien = study.ask_pulls(), foreign.ask_pulls()
    before = study.events()
    for value in (math.nan, math.inf, -math.inf, 1.5, -0.1, "1", None):
        with pytest.raises(InputError, match="reward must"):
            study.tell(pull, value)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="reward must"):
        study.tell_many([pull, pull], [0.5, math.nan])
    odd: Any = ba.Pull("A", "0", pull._of)  # type: ignore[arg-type]
    for wrong in (alien, odd, ba.Pull("B", pull.number, pull._of), ba.Pull("A", 99, pull._of), ba.Pull("A", 0)):
        with pytest.raises(InputError, match="pull must be of this study"):
            study.tell(wrong, 0.5)
        with pytest.raises(InputError, match="pull must be of this study"):
            study.cancel(wrong)
    with pytest.raises(InputError, match="pull must be what ask_pulls gave, got 'A'"):
        study.tell("A", 0.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="rewards must be as many as pulls"):
        study.tell_many([pull], [0.5, 0.5])
    several: Any
    for several in (None, "A", 3, pull):
        with pytest.raises(InputError, match="pulls must be a list of what ask_pulls gave"):
            study.tell_many(several, [1.0])
        with pytest.raises(InputError, match="pulls must be a list of what ask_pulls gave"):
            study.cancel_many(several)
    for several in (None, 0.5, "1"):
        with pytest.raises(InputError, match="rewards must be a flat list of numbers"):
            study.tell_many([pull], several)
    for several in ("x", 3):
        with pytest.raises(InputError, match="sources must be a list"):
            study.tell_many([pull], [0.5], several)
    with pytest.raises(InputError, match="source must come with contamination='sources'"):
        study.tell(pull, 0.5, source="x")
    numbers: list[Any] = [0, -1, 1.5, "2"]
    for number in numbers:
        with pytest.raises(InputError, match="n must be a whole number >= 1"):
            study.ask_pulls(number)
    for name in (3, "\0", "\ud800", b"w"):
        with pytest.raises(InputError, match="worker must be a text"):
            study.ask_pulls(worker=name)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="name must be a text"):
            ba.Study(url, name)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="pull must be a number from 0, below the 1 pulls"):
        study.pull(True)
    study.tell_many([], [])
    study.cancel_many([])
    assert study.events() == before
    assert study.ask_pulls(worker="ä😀'\"%s;--") != pull


def test_settings_are_compared_and_named(url: str) -> None:
    make(url)
    with pytest.raises(
        InputError, match=r"epsilon must be as when the study 'study' was created \(0.05\), got \[0.1\]"
    ):
        make(url, epsilon=0.1)
    with pytest.raises(InputError, match="arms must be as when"):
        make(url, arms=["A", "B"])
    with pytest.raises(InputError, match="options must be as when"):
        make(url, resolution=0.3)
    with pytest.raises(InputError, match="lease must be as when"):
        make(url, lease=5)
    with pytest.raises(ba.NotFoundError, match=r"name must be a study in .*, got 'nobody': it has 'study'"):
        ba.Study(url, "nobody")
    with pytest.raises(InputError, match="arms must be given with the other settings"):
        ba.Study(url, "study", delta=0.1)
    assert make(url).labels == ("A", "B", "C")


def test_labels_come_back_as_they_were(url: str) -> None:
    labels = ["a", 1, 2.5, False, "ä\n'\"%s"]
    study = make(url, arms=labels)
    study.tell_many(study.ask_pulls(5), [0.1] * 5)
    again = ba.Study(url, "study")
    assert list(again.labels) == labels
    assert [type(label) for label in again.labels] == [type(label) for label in labels]
    assert repr(again.estimates) == repr(study.estimates)
    with pytest.raises(InputError, match="arms must be strings, numbers or bools"):
        make(url, "tuples", arms=[(1, 2), (3, 4)])


def test_sources(url: str, tmp_path: Path) -> None:
    study = make(url, contamination="sources", epsilon=0.1)
    finder = ba.Identifier(["A", "B", "C"], **{**ASKED, "epsilon": 0.1}, contamination="sources")
    rng = random.Random(2)
    for voter in range(60):
        source = f"voter {voter}" if voter % 2 else voter
        mine, theirs = study.ask_pulls(), finder.ask_pulls()
        assert mine.arm == theirs.arm
        value = reward(rng, mine.arm)
        study.tell(mine, value, source)
        study.tell(mine, value, source)
        finder.tell(theirs, value, source)
    pull = study.ask_pulls()
    with pytest.raises(InputError, match="source must be given"):
        study.tell(pull, 1.0)
    with pytest.raises(InputError, match="be a string, a number or a bool"):
        study.tell(pull, 1.0, (1, 2))
    finder.ask_pulls()
    assert repr(study.result) == repr(finder.result) == repr(ba.Study(url, "study").result)
    study.export(tmp_path / "study.jsonl")
    assert repr(replay(tmp_path / "study.jsonl").result) == repr(finder.result)


@pytest.mark.parametrize("named", [False, True])
def test_sources_that_answer_out_of_order_or_never(url: str, tmp_path: Path, named: bool) -> None:
    """A is 0.6 always and B 1 or 0; the better answer of a source comes first. B was named, after 13 sources."""
    study = make(url, arms=("A", "B"), contamination="sources", epsilon=0.1)
    finder = ba.Identifier(["A", "B"], **{**ASKED, "epsilon": 0.1}, contamination="sources")
    rng = random.Random(4)
    for voter in range(40):
        source = voter if named else None
        calls = []
        for mine, theirs in zip(study.ask_pulls(2, source=source), finder.ask_pulls(2, source=source), strict=True):
            assert mine.arm == theirs.arm
            calls.append((0.6 if mine.arm == "A" else float(rng.random() < 0.5), mine, theirs))
        for value, mine, theirs in sorted(calls, key=lambda call: -call[0]):
            if voter % 13 == 12:
                study.cancel(mine)
                finder.cancel(theirs)
            else:
                study.tell(mine, value, None if named and voter % 2 else voter)
                finder.tell(theirs, value, voter)
    assert study.result.best is None
    assert study.result.cancelled == 6
    left = study.ask_pulls(3, worker="w", source="last")
    finder.ask_pulls(3, source="last")
    assert study.ask_pulls(3, worker="w", source="last") == left
    assert study.ask_pulls(worker="w", source="other") not in left
    finder.ask_pulls(source="other")
    study.tell(left[2], 1.0)
    finder.tell(Pull(left[2].arm, left[2].number, finder._ledger.owner), 1.0)
    with pytest.raises(InputError, match=r"source must be the one that the pull was asked for"):
        study.tell(left[0], 1.0, "other")
    with pytest.raises(InputError, match="source must come with contamination='sources'"):
        make(url, "plain").ask_pulls(source="last")
    study.export(tmp_path / "study.jsonl")
    for other in (study, ba.Study(url, "study")):
        result = other.result
        assert (result.pulls, result.cancelled, result.p_value) == (74, 6, finder.result.p_value)
        assert result.arms == finder.result.arms
        assert result.waiting.rewards == 1
    assert repr(replay(tmp_path / "study.jsonl").result) == repr(finder.result)


def test_an_archived_study_can_be_read_only(url: str) -> None:
    study, other = make(url), make(url)
    pull = study.ask_pulls()
    study.archive()
    study.archive()
    assert other.archived
    for act in (lambda: other.ask_pulls(), lambda: other.tell(pull, 0.5), lambda: other.cancel(pull)):
        with pytest.raises(ba.ArchivedError, match=r"the study '.*' is archived"):
            act()
    assert other.pending == 1
    assert [event.kind for event in other.events()] == ["ask", "archive"]


def test_what_was_told_before_the_end_is_acknowledged_after_it(url: str) -> None:
    """A worker whose answer was lost tells again; that the study is archived meanwhile is no reason to refuse it."""
    study = make(url)
    told, cancelled, owed = study.ask_pulls(3)
    study.tell(told, 0.5)
    study.cancel(cancelled)
    study.archive()
    again = make(url)
    again.tell(told, 0.5)
    again.cancel(cancelled)
    with pytest.raises(ba.ConflictError, match=r"reward must be the same when a pull is told again, got 0\.75"):
        again.tell(told, 0.75)
    with pytest.raises(ba.ArchivedError, match=r"the study '.*' is archived"):
        again.tell_many([told, owed], [0.5, 0.5])
    with pytest.raises(ba.ArchivedError, match=r"the study '.*' is archived"):
        again.renew(owed)
    assert [event.kind for event in again.events()] == ["ask", "ask", "ask", "tell", "cancel", "archive"]


def test_a_pull_of_an_ask_that_is_gone_is_refused(tmp_path: Path) -> None:
    """As after a crash of the server, which may undo asks: the next pull has its number, and is another one."""
    url, copy = f"sqlite:///{tmp_path}/run.db", f"sqlite:///{tmp_path}/copy.db"
    study = make(url)
    study.tell(study.ask_pulls(), 0.5)
    study.close()
    (tmp_path / "copy.db").write_bytes((tmp_path / "run.db").read_bytes())
    gone = study.ask_pulls()
    restored = ba.Study(copy, "study")
    fresh = restored.ask_pulls()
    assert (fresh.arm, fresh.number) == (gone.arm, gone.number)
    with pytest.raises(InputError, match="if the server has crashed since, it is lost"):
        restored.tell(gone, 1.0)
    assert gone.id != fresh.id
    assert restored.pull(fresh.id) == fresh
    with pytest.raises(InputError, match="if the server has crashed since, it is lost"):
        restored.pull(gone.id)
    restored.tell(fresh, 0.0)
    assert [event.value for event in restored.events() if event.kind == "tell"] == [0.5, 0.0]


def test_nothing_follows_the_end_of_a_study(url: str) -> None:
    study = make(url, lease=0.05)
    study.ask_pulls()
    threading.Event().wait(0.1)
    study.archive()
    assert [event.kind for event in study.events()] == ["ask", "archive"]


def test_tells_wait_for_the_disk_even_where_the_database_is_set_not_to(server: Any) -> None:
    url = new_database(server)
    server.psql(f"alter database {url.split('/')[3].split('?')[0]} set synchronous_commit = off;")
    study = make(url)
    study.tell(study.ask_pulls(), 0.5)
    with store_of(study).connected() as raw:
        assert raw.execute("show synchronous_commit").fetchone() == ("on",)


def test_pulls_by_number_pickles_and_threads(url: str) -> None:
    study = make(url)
    pulls = study.ask_pulls(4)
    assert [study.pull(pull.number) for pull in pulls] == pulls
    assert [study.pull(pull.id) for pull in pulls] == pulls
    assert len({pull.id for pull in pulls}) == 4
    with pytest.raises(InputError, match="pull must be a number from 0, below the 4 pulls"):
        study.pull(4)
    again: ba.Study = pickle.loads(pickle.dumps(study))
    again.tell(pickle.loads(pickle.dumps(pulls[0])), 1.0)
    assert study.pulls == 1

    def work(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(20):
            pull = study.ask_pulls()
            study.tell(pull, reward(rng, pull.arm))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(study.events()) == 4 + 1 + 8 * 20 * 2 + (study.decided_at is not None)


def _work(study: ba.Study, worker: int, pairs: int) -> None:
    rng = random.Random(worker)
    for _ in range(pairs):
        pull = study.ask_pulls(worker=str(worker))
        study.tell(pull, rng.random() / 2)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_share_a_study(url: str) -> None:
    study = make(url, resolution=1e-6)
    study.tell(study.ask_pulls(), 0.5)
    workers = [multiprocessing.get_context("fork").Process(target=_work, args=(study, k, 15)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    events = study.events()
    assert [event.seq for event in events] == list(range(1, 2 * 61 + 1))
    assert sorted(event.pull for event in events if event.kind == "tell" and event.pull is not None) == list(range(61))
    assert study.pending == 0


def test_without_epsilon_nothing_is_cancelled_and_nothing_expires(url: str) -> None:
    study = make(url, epsilon=0.0)
    assert study.lease == math.inf
    with pytest.raises(InputError, match="epsilon must be above 0 to cancel"):
        study.cancel(study.ask_pulls())
    with pytest.raises(InputError, match="lease must be left out with epsilon = 0"):
        make(url, "leased", epsilon=0.0, lease=10)
    assert make(url, "other").lease == 600.0
    assert make(url, "for ever", lease=math.inf).lease == math.inf
    with pytest.raises(InputError, match="lease must be a number of seconds > 0"):
        make(url, "never", lease=0)


JUDGE = random.Random(9)


def judge(arm: Any) -> float:
    return reward(JUDGE, arm)


@pytest.mark.parametrize("workers", [1, 8])
def test_a_study_runs_a_function(url: str, workers: int) -> None:
    study = make(url)
    result = study.run(judge, workers=workers, worker="machine")
    assert (result.status, result.best) == ("identified", "A")
    assert result == make(url).result
    workers_seen = {event.worker for event in study.events() if event.kind == "ask"}
    assert workers_seen == {f"machine.{slot}" for slot in range(workers)}


def test_a_run_that_is_started_again_makes_first_what_was_under_way(url: str) -> None:
    study = make(url)
    calls = iter(range(100))

    def fails(arm: Any) -> float:
        if next(calls) == 6:
            raise ConnectionError
        return 0.5

    with pytest.raises(ConnectionError) as caught:
        study.run(fails, worker="w")
    assert caught.value.result.pulls == 6  # type: ignore[attr-defined]
    assert study.pending == 1
    result = make(url).run(lambda arm: 0.5, worker="w", max_pulls=3)
    assert (result.status, result.limit, result.pulls) == ("undecided", "budget", 9)
    asks = [event.pull for event in study.events() if event.kind == "ask"]
    assert asks == list(range(9))  # the one that failed was made again


def test_a_run_of_coroutines(url: str) -> None:
    async def later(arm: Any) -> float:
        await asyncio.sleep(0.0)
        return judge(arm)

    result = asyncio.run(make(url).run_async(later, workers=4))
    assert result.best == "A"
    with pytest.raises(InputError, match="epsilon must be above 0 to cancel pulls"):
        make(url, "clean", epsilon=0.0).run(judge, on_error="cancel")


def test_what_comes_after_its_end_is_an_error_or_cancelled(url: str) -> None:
    study, other = make(url), make(url)

    def late(arm: Any) -> float:
        for pull, _, _ in other.outstanding():
            other.cancel(pull)
        return 0.5

    with pytest.raises(LateError, match="it was cancelled"):
        study.run(late, max_pulls=1)
    result = study.run(late, max_pulls=2, on_error="cancel")
    assert result.cancelled == 3


def test_two_runs_in_two_processes_end_with_the_same_verdict(url: str) -> None:
    study = make(url)
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        found = pool.starmap(_run, [(url, 1), (url, 2)])
    assert found[0] == found[1] == str(study.result)
    assert "'A' has the highest mean" in found[0]


def _run(url: str, seed: int) -> str:
    rng = random.Random(seed)
    return str(ba.Study(url, "study").run(lambda arm: reward(rng, arm), worker=str(seed)))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_what_a_child_tells_survives_the_end_of_its_parents_connection(url: str) -> None:
    study = make(url, resolution=1e-6)
    study.tell(study.ask_pulls(), 0.5)
    context = multiprocessing.get_context("fork")
    closed = context.Event()
    child = context.Process(target=_tell_before_and_after, args=(study, closed))
    child.start()
    threading.Event().wait(0.3)
    study.close()
    closed.set()
    child.join()
    assert child.exitcode == 0
    with context.Pool(1) as pool:  # one that has no connection of its own yet
        assert pool.apply(_count, (url,)) == 1 + 20
    assert study.pulls == 21


def _tell_before_and_after(study: ba.Study, closed: Any) -> None:
    for place in range(20):
        study.tell(study.ask_pulls(), 0.5)
        if place == 9:
            closed.wait()


def _count(url: str) -> int:
    return ba.Study(url, "study").pulls


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_others_read_and_write(url: str) -> None:
    study = make(url, resolution=1e-6)
    study.tell_many(study.ask_pulls(30), [0.5] * 30)
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            _ = study.result

    def write() -> None:
        while not over.is_set():
            study.tell(study.ask_pulls(), 0.5)

    threads = [threading.Thread(target=act, daemon=True) for act in (read, read, write)]
    for thread in threads:
        thread.start()
    for _ in range(15):
        child = multiprocessing.get_context("fork").Process(target=_work, args=(study, 0, 1))
        child.start()
        child.join(60)
        assert child.exitcode == 0
    over.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    events = study.events()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


def test_another_isolation_level_of_the_database(server: Any) -> None:
    url = new_database(server)
    server.psql(f"alter database {url.split('/')[3].split('?')[0]} set default_transaction_isolation = 'serializable';")
    studies = [make(url, resolution=1e-6) for _ in range(4)]
    threads = [threading.Thread(target=_work, args=(study, k, 15)) for k, study in enumerate(studies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert studies[0].pulls == 60


def test_a_reward_in_hand_is_not_cancelled_when_the_database_is_away(server: Any) -> None:
    url = new_database(server)
    study = make(url)

    def ends_the_session(arm: Any) -> float:
        if study.pulls == 2:
            with store_of(study).connected() as raw:
                pid = raw.info.backend_pid
            server.psql(f"select pg_terminate_backend({pid});")
        return 0.5

    with pytest.raises(ba.StoreError):
        study.run(ends_the_session, on_error="cancel", max_pulls=5, reconnect=0.0)
    assert study.result.cancelled == 0
    assert study.run(lambda arm: 0.5, worker=None, max_pulls=1).pulls >= 2


def test_outstanding_pulls_are_listed_and_expire_whatever_the_clock_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1e9
    monkeypatch.setattr(SQLiteStore, "now", lambda store: now)
    study = make(f"sqlite:///{tmp_path}/run.db", lease=10)
    now = 2e9
    ahead = study.ask_pulls(worker="w")
    now = 1e9
    behind = study.ask_pulls()
    assert study.outstanding() == [(ahead, "w", 2e9), (behind, None, 1e9)]
    now = 1e9 + 10
    study.ask_pulls()
    assert [event.pull for event in study.events() if event.kind == "expire"] == [behind.number]


def test_an_export_is_strict_json(tmp_path: Path) -> None:
    study = make(f"sqlite:///{tmp_path}/run.db", epsilon=0.0)
    study.tell(study.ask_pulls(), 0.5)
    for line in study.lines():
        json.loads(line, parse_constant=lambda word: pytest.fail(word))
    study.export(tmp_path / "log.jsonl")
    assert replay(tmp_path / "log.jsonl").agrees


@pytest.mark.parametrize(
    ("place", "text", "parameter"),
    [
        (0, '{"format": "bestarm study 1", "name": "x"}', "line 1"),
        (1, '{"seq": 1, "kind": "ask", "pull": 0, "arm": -1}', "line 2"),
        (1, '{"seq": 1, "kind": "ask", "pull": 5, "arm": 0}', "line 2"),
        (2, '{"seq": 2, "kind": "sing"}', "line 3"),
        (2, '{"seq": 2, "kind": "decide", "note": "what"}', "line 3"),
        (2, "what", "line 3"),
    ],
)
def test_a_damaged_export_is_refused_by_its_line(tmp_path: Path, place: int, text: str, parameter: str) -> None:
    study = make(f"sqlite:///{tmp_path}/run.db")
    study.tell(study.ask_pulls(), 0.5)
    lines = list(study.lines())
    lines[place] = text
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    with pytest.raises(InputError) as caught:
        replay(tmp_path / "log.jsonl")
    assert caught.value.parameter == parameter


def test_a_study_shows_its_question_and_how_it_stands(url: str) -> None:
    begin = time.time()
    study = make(url, "a <b> & c", arms=["<A>", "B"])
    assert (study.delta, study.epsilon) == (0.05, 0.05)
    assert begin - 5.0 < study.created.timestamp() < time.time() + 5.0
    assert study.created == ba.Study(url, "a <b> & c").created
    study.tell(study.ask_pulls(), 1.0)
    study.ask_pulls()
    page = study._repr_html_()
    assert "a &lt;b&gt; &amp; c" in page
    assert "<b> &" not in page
    for words in (
        "delta = 0.05, epsilon = 0.05, certified",
        "1 rewards used, 1 pulls outstanding, 3 events",
        "<table>",
    ):
        assert words in page
    assert ":***@" in page or "sqlite" in page


def test_what_happens_is_logged_and_nothing_is_shown_unasked(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", "bestarm"):
        study = make(url)
        study.run(lambda arm: float(arm == "B"), worker="w")
    said = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "bestarm"]
    assert said[0][0] == "INFO"
    assert said[0][1].startswith("opened <Study 'study' on ")
    assert ("DEBUG", "study 'study': ask, pull 0 of 'A' for w.0") in said
    assert ("DEBUG", "study 'study': tell, pull 0 is 0.0") in said
    (decision,) = [words for level, words in said if level == "INFO" and "has decided" in words]
    assert decision == f"study 'study' has decided at event {study.sequence}: identified, best 'B'"
    assert sum("ask" in words for _, words in said) == study.pulls
    assert logging.getLogger("bestarm").handlers == []


def test_a_study_says_whose_pulls_rewards_wait_for_and_since_when(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "RUN_AHEAD", 20)
    study = make(url, lease=math.inf)
    lost = study.ask_pulls(3, worker="lost")
    for _ in range(6):
        pulls = study.ask_pulls(10)
        study.tell_many(pulls, [0.5] * 10)
    waiting = study.waiting
    assert [(missing.pull, missing.worker) for missing in waiting.pulls] == [(pull, "lost") for pull in lost]
    assert all(abs((missing.since or 0.0) - time.time()) < 600.0 for missing in waiting.pulls)
    assert waiting == ba.Study(url, "study").waiting == study.result.waiting
    assert "60 more rewards have come in and wait for 3 pulls" in str(study.result)
    assert "(asked for by 'lost' at 20" in str(study.result)
    with pytest.raises(WaitingError, match="by 'lost'") as error:
        study.ask_pulls()
    assert not error.value.ends
    with pytest.raises(WaitingError):
        study.run(lambda arm: 0.5)
    with pytest.raises(WaitingError):
        next(study.work())
    assert study.ask_pulls(3, worker="lost") == lost  # its own, again
    study.tell(lost[0], 0.5)
    assert {pull.arm for pull in study.ask_pulls(5)} == {"A"}


def test_leases_end_what_all_arms_wait_for(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease of two seconds: `run` and `work` wait for it, and go on."""
    monkeypatch.setattr(ledger, "RUN_AHEAD", 20)
    study = make(url, arms=("A", "B"), lease=2.0, epsilon=0.1)
    study.ask_pulls(2)
    pulls = study.ask_pulls(40)
    study.tell_many(pulls, [float(pull.arm == "A") for pull in pulls])
    if study.pending == 2:  # not so late
        with pytest.raises(WaitingError) as error:
            study.ask_pulls()
        assert error.value.ends
    result = study.run(lambda arm: float(arm == "A"), max_pulls=60)
    assert result.cancelled == 2
    assert result.best == "A"
