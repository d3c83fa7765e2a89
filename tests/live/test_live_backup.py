"""Backups and imports: one file, consistent while others write, into either database, with the same pulls."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

import bestarm as ba
from bestarm import InputError
from bestarm.live.export import replay
from live.fixtures.make_studies import QUESTIONS
from live_tools import make, new_database

FIXTURE = Path(__file__).parent / "fixtures" / "studies_0.1.0.db"


def raw(study: ba.Study) -> tuple[Any, ...]:
    """All that a database has of a study."""
    row = study._log.row
    return row.name, row.token, row.settings, row.created, study._log.events()


def some(url: str) -> ba.Study:
    """A study with all kinds of events but a decision."""
    study = make(url, "some", ["A", "ö", "C"], resolution=1e-6)
    rng = random.Random(3)
    pulls = study.ask_pulls(12, worker="w")
    for pull in pulls[2:]:
        study.tell(pull, rng.random())
    study.cancel(pulls[0])
    study.renew(pulls[1])
    return study


def test_a_copy_of_the_file_alone_misses_what_a_backup_has(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/run.db"
    study = some(url)
    shutil.copy(tmp_path / "run.db", tmp_path / "copied.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "copied.db")) as copied:
        assert copied.execute("select count(*) from bestarm_events").fetchone() == (0,)  # of 24: all are in the -wal
    assert ba.backup_studies(url, tmp_path / "backup.db") == ["some"]
    assert sorted(path.name for path in tmp_path.glob("backup*")) == ["backup.db"]
    assert raw(ba.Study(f"sqlite:///{tmp_path}/backup.db", "some")) == raw(study)
    with pytest.raises(InputError, match="file must not exist yet"):
        ba.backup_studies(url, tmp_path / "backup.db")


def test_a_study_goes_from_one_database_to_the_other_and_back(server: Any, tmp_path: Path) -> None:
    first, second, third = f"sqlite:///{tmp_path}/a.db", new_database(server), f"sqlite:///{tmp_path}/c.db"
    study = some(first)
    decided = make(first, "decided")
    decided.run(lambda arm: float(arm == "B"))
    held = [pull for pull, _, _ in study.outstanding()]
    ba.backup_studies(first, tmp_path / "first")
    assert ba.import_studies(second, tmp_path / "first") == ["some", "decided"]
    ba.backup_studies(second, tmp_path / "second")
    assert ba.import_studies(third, tmp_path / "second") == ["some", "decided"]
    for url in (second, third):
        assert ba.import_studies(url, tmp_path / "first") == []  # they are there, and the same
        assert raw(ba.Study(url, "some")) == raw(study)
        assert ba.Study(url, "decided").result == decided.result
        moved = make(url, "some", ["A", "ö", "C"], resolution=1e-6)
        assert repr(moved.result) == repr(study.result)
    for url in (second, third):
        moved = ba.Study(url, "some")
        moved.tell_many(held, [0.5] * len(held))  # by workers who know of no move
        moved.run(lambda arm: float(arm == "C"))
        assert moved.result.best == "C"
        with pytest.raises(InputError, match="name must not be taken by another study, got 'some'"):
            ba.import_studies(url, tmp_path / "first")


def test_studies_of_an_older_version_are_imported(server: Any, tmp_path: Path) -> None:
    """The fixture on PostgreSQL: it opens there too, with what it came to."""
    url = new_database(server)
    shutil.copy(FIXTURE, tmp_path / "old.db")
    assert ba.import_studies(url, tmp_path / "old.db") == list(QUESTIONS)
    for name in QUESTIONS:
        old, new = ba.Study(f"sqlite:///{tmp_path}/old.db", name), ba.Study(url, name)
        assert raw(new) == raw(old)
        assert repr(new.result) == repr(old.result)


def test_an_export_of_one_study_is_imported_and_an_older_one_without_its_token(url: str, tmp_path: Path) -> None:
    study = some(f"sqlite:///{tmp_path}/from.db")
    study.export(tmp_path / "log.jsonl")
    assert ba.import_studies(url, tmp_path / "log.jsonl") == ["some"]
    assert raw(ba.Study(url, "some")) == raw(study)
    text = (tmp_path / "log.jsonl").read_text()
    token = f'"token": {study._log.row.token}, "created": {study._log.row.created!r}, '
    assert token in text
    (tmp_path / "old.jsonl").write_text(text.replace(token, "").replace('"name": "some"', '"name": "older"'))
    assert ba.import_studies(url, tmp_path / "old.jsonl") == ["older"]
    assert repr(ba.Study(url, "older").result) == repr(study.result)
    assert replay(tmp_path / "old.jsonl").result.pulls == study.pulls


def test_a_backup_while_others_write_is_whole(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/run.db"
    study = make(url, resolution=1e-6, epsilon=0.3)
    stop = threading.Event()

    def write() -> None:
        mine = ba.Study(url, "study")
        while not stop.is_set():
            mine.tell_many(mine.ask_pulls(3), [0.0, 0.5, 1.0])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for place in range(5):
            before = study.sequence
            ba.backup_studies(url, tmp_path / f"{place}.db")
            copied = ba.Study(f"sqlite:///{tmp_path}/{place}.db", "study")
            events = copied._log.events()
            assert before <= len(events) <= study.sequence
            assert events == study._log.events()[: len(events)]
            copied.close()
    finally:
        stop.set()
        writer.join()


@pytest.mark.parametrize(
    ("place", "text", "parameter"),
    [
        (0, '{"seq": 1}', "file"),
        (0, '{"format": "bestarm study 9", "name": "x"}', "line 1"),
        (0, '{"format": "bestarm study 1", "name": "x"}', "line 1"),
        (2, '{"seq": 7, "kind": "archive", "at": 1.0}', "line 3"),
        (2, '{"seq": 2, "kind": "sing", "at": 1.0}', "line 3"),
        (2, '{"seq": 2, "kind": "tell", "pull": 3, "value": 0.5, "at": 1.0}', "line 3"),
        (2, '{"seq": 2, "kind": "tell", "pull": 0, "value": NaN, "at": 1.0}', "line 3"),
        (2, '{"seq": 2, "kind": "tell", "pull": 0, "at": 1.0}', "line 3"),
        (2, '{"seq": 2, "kind": "decide", "note": "what", "at": 1.0}', "line 3"),
        (2, '{"seq": 2, "kind": "ask", "pull": 1, "arm": 3, "at": 1.0}', "line 3"),
        (2, "what", "line 3"),
    ],
)
def test_a_damaged_file_is_refused_by_its_line_and_nothing_is_imported(
    tmp_path: Path, place: int, text: str, parameter: str
) -> None:
    study = make(f"sqlite:///{tmp_path}/run.db")
    study.tell(study.ask_pulls(), 0.5)
    lines = list(study.lines())
    lines[place] = text
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    with pytest.raises(InputError) as caught:
        ba.import_studies(f"sqlite:///{tmp_path}/to.db", tmp_path / "log.jsonl")
    assert caught.value.parameter == parameter
    assert not (tmp_path / "to.db").exists()


def test_all_or_none(url: str, tmp_path: Path) -> None:
    source = f"sqlite:///{tmp_path}/from.db"
    make(source, "new")
    make(source, "taken")
    make(url, "taken")
    ba.backup_studies(source, tmp_path / "backup")
    with pytest.raises(InputError, match="name must not be taken by another study, got 'taken'"):
        ba.import_studies(url, tmp_path / "backup")
    with pytest.raises(InputError, match=r"name must be a study in \w+://.*, got 'new': it has 'taken'"):
        ba.Study(url, "new")
    with pytest.raises(InputError, match="file must be a backup or an export that can be read"):
        ba.import_studies(url, tmp_path / "nowhere")
    with pytest.raises(InputError, match="file must be one that can be written"):
        ba.backup_studies(url, tmp_path / "nowhere" / "backup")


def test_events_carry_labels_and_ids(url: str) -> None:
    study = some(url)
    events = study.events()
    by_number = {pull: study.pull(pull) for pull in range(12)}
    for event in events:
        assert event.pull is not None
        assert (event.label, event.id) == (by_number[event.pull].arm, by_number[event.pull].id)
    assert {event.kind for event in events} == {"ask", "tell", "cancel", "renew"}
