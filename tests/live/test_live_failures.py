"""What a study says when its database can't be used, and that nothing is lost by it."""

from __future__ import annotations

import os
import pickle
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

import bestarm as ba
import bestarm.live.backends._sql
from bestarm import InputError, StoreError
from bestarm.live.backends._base import Store
from bestarm.live.backends.sqlite import SQLiteStore
from bestarm.live.connect import open_store
from live_tools import make, new_database, sql_store


def on_postgresql(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def database_of(url: str) -> str:
    with psycopg.connect(url) as connection:
        return connection.info.dbname


def refused(act: Callable[[], object], *words: str) -> str:
    """See that a database is refused in plain words, all on one line."""
    with pytest.raises(StoreError) as caught:
        act()
    message = str(caught.value)
    for word in words:
        assert word in message
    assert "\n" not in message
    assert "Traceback" not in message
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (StoreError, message)
    return message


class Writer:
    """Writes to a study, and remembers what was acknowledged."""

    def __init__(self, url: str) -> None:
        self.study = make(url, delta=1e-9, epsilon=1e-6, resolution=1e-6)
        self.told: dict[int, float] = {}
        self._rng = random.Random(1)

    def write(self, batch: int) -> None:
        pulls = self.study.ask_pulls(batch, worker="w")
        rewards = [self._rng.random() for _ in pulls]
        self.study.tell_many(pulls, rewards)
        self.told |= {pull.number: reward for pull, reward in zip(pulls, rewards, strict=True)}

    def write_until_it_fails(self, batch: int = 1, most: int = 100_000) -> str:
        for _ in range(most):
            try:
                self.write(batch)
            except StoreError as error:
                return str(error)
        pytest.fail("there is still room")

    def assert_kept(self, study: ba.Study, outstanding: int) -> None:
        """All that was acknowledged is there, and nothing else but whole batches of asks."""
        events = study.events()
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert {event.pull: event.value for event in events if event.kind == "tell"} == self.told
        assert sum(event.kind == "ask" for event in events) - len(self.told) in (0, outstanding)
        assert {event.kind for event in events} == {"ask", "tell"}


# -------------------------------------------------------------------------------------------------------- no room left


@pytest.mark.parametrize("batch", [1, 30])
def test_a_sqlite_file_that_can_not_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    limit = 30

    def set_up(self: SQLiteStore, raw: Any) -> None:
        raw.execute(f"PRAGMA max_page_count = {limit}")

    monkeypatch.setattr(SQLiteStore, "_set_up", set_up)
    url = f"sqlite:///{tmp_path}/run.db"
    writer = Writer(url)
    message = writer.write_until_it_fails(batch)
    assert "as the disk is full: make room; all that was acknowledged is in it" in message
    assert writer.told
    for study in (writer.study, ba.Study(url, "study")):
        writer.assert_kept(study, batch)
    assert "the disk is full" in writer.write_until_it_fails(batch)
    limit = 10_000
    for _ in range(5):
        writer.write(batch)
    writer.assert_kept(ba.Study(url, "study"), batch)
    assert writer.study.pending == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a disk of a size."""
    mounted: list[Path] = []

    def mount(size: str) -> Path:
        folder = tmp_path / "disk"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        except OSError as error:
            pytest.skip(f"no small disk can be mounted here: {error}")
        if done.returncode != 0:
            pytest.skip(f"no small disk can be mounted here: {done.stderr}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, timeout=20)


def test_a_full_disk_under_a_sqlite_file(small_disk: Callable[[str], Path]) -> None:
    folder = small_disk("1m")
    ballast = folder / "ballast"
    url = f"sqlite:///{folder}/run.db"
    writer = Writer(url)
    ballast.write_bytes(bytes(500_000))
    message = writer.write_until_it_fails(batch=10)
    assert "can't be used, as the disk " in message
    assert writer.told
    for study in (writer.study, ba.Study(url, "study")):
        writer.assert_kept(study, 10)
    ballast.unlink()
    for _ in range(5):
        writer.write(10)
    writer.assert_kept(ba.Study(url, "study"), 10)
    writer.study.close()
    file = sqlite3.connect(folder / "run.db")
    assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    file.close()


@pytest.mark.parametrize("batch", [1, 30])
def test_a_full_disk_of_a_postgresql_server(server: Any, batch: int) -> None:
    url = new_database(server)
    writer = Writer(url)
    for _ in range(3):
        writer.write(batch)
    on_postgresql(
        url,
        "create function full_disk() returns trigger language plpgsql as $$ begin raise exception "
        "'could not extend file: No space left on device' using errcode = '53100'; end $$",
        # In the middle of a batch, so that something is written before.
        f"create trigger full_disk before insert on bestarm_events for each row when (new.pull % 30 = {batch // 2}) "
        "execute function full_disk()",
    )
    message = writer.write_until_it_fails(batch)
    assert "as the disk of the server is full: make room; all that was acknowledged is in it" in message
    for study in (writer.study, ba.Study(url, "study")):
        writer.assert_kept(study, batch)
    assert "the disk of the server is full" in writer.write_until_it_fails(batch)
    on_postgresql(url, "drop trigger full_disk on bestarm_events")
    for _ in range(3):
        writer.write(batch)
    writer.assert_kept(ba.Study(url, "study"), batch)
    assert writer.study.pending == 0


def test_a_full_tablespace(server: Any, small_disk: Callable[[str], Path]) -> None:
    folder = small_disk("10m")
    data = Path(server.psql("show data_directory;").split("\n")[2].strip())
    owner = data.stat()
    space, ballast = folder / "space", folder / "ballast"
    space.mkdir()
    os.chown(space, owner.st_uid, owner.st_gid)
    for parent in [folder, *folder.parents[:4]]:  # of pytest's own folders, which are for their owner alone
        if parent.stat().st_uid == os.getuid() and "pytest" in str(parent):
            parent.chmod(0o755)
    name = f"small_{os.getpid()}"
    server.psql(f"create tablespace {name} location '{space}';")
    url = new_database(server)
    try:
        writer = Writer(url)
        on_postgresql(url, f"alter table bestarm_events set tablespace {name}")
        with ballast.open("wb") as file:
            for _ in range(95):
                file.write(bytes(100_000))
        writer.write(50)
        message = writer.write_until_it_fails(batch=50)
        assert "the disk of the server is full" in message
        writer.assert_kept(ba.Study(url, "study"), 50)
        ballast.unlink()
        for _ in range(20):
            writer.write(50)
        writer.assert_kept(ba.Study(url, "study"), 50)
        assert writer.study.pending == 0
    finally:
        server.psql(f"drop database {database_of(url)} with (force);")
        server.psql(f"drop tablespace {name};")


# ---------------------------------------------------------------------------------------------------------- read-only


def test_a_read_only_sqlite_file(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with make(f"sqlite:///{path}") as study:
        told, left = study.ask_pulls(2)
        study.tell(told, 0.5)
    url = f"sqlite:///file:{path}?mode=ro&uri=true"
    reader = ba.Study(url, "study")
    make(url)  # as it is there
    assert (reader.pulls, reader.pending, reader.result.cancelled) == (1, 1, 0)
    words = ("as it is read-only", "make the file and its folder writable")
    refused(lambda: reader.tell(left, 0.5), *words)
    refused(lambda: reader.ask_pulls(), *words)
    refused(lambda: reader.cancel(left), *words)
    refused(lambda: make(url, "another"), *words)
    assert (reader.pulls, reader.pending, reader.sequence) == (1, 1, 3)
    study.tell(left, 0.25)  # who may write goes on
    assert (reader.pulls, reader.sequence) == (2, 4)


def test_a_read_only_postgresql_database(server: Any) -> None:
    url = new_database(server)
    study = make(url)
    told, left = study.ask_pulls(2)
    study.tell(told, 0.5)
    study.close()
    on_postgresql(url, f"alter database {database_of(url)} set default_transaction_read_only = on")
    reader = ba.Study(url, "study")
    assert (reader.pulls, reader.pending) == (1, 1)
    assert make(url).pulls == 1
    words = ("as it is read-only", "connect to the primary server")
    for each in (reader, study):
        refused(partial(each.tell, left, 0.5), *words)
        refused(partial(each.ask_pulls, 30), *words)
    refused(lambda: make(url, "another"), *words)
    assert (reader.pulls, reader.pending, reader.sequence) == (1, 1, 3)
    on_postgresql(url, "set default_transaction_read_only = off", f"alter database {database_of(url)} reset all")
    for each in (reader, study):
        each.close()
    reader.tell(left, 0.25)
    assert (study.pulls, study.sequence) == (2, 4)


# ----------------------------------------------------------------------------------------------------- other versions


def test_an_old_schema_names_the_command_and_keeps_its_data(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sql_store(url).migrate("0001")
    with monkeypatch.context() as then:
        then.setattr(bestarm.live.backends._sql, "REVISION", "0001")
        with make(url) as study:
            pulls = study.ask_pulls(30)
            study.tell_many(pulls[:25], [0.5] * 25)
            before = study.events()
    for open_it in (lambda: make(url), lambda: ba.Study(url, "study")):
        message = refused(open_it, "older version of bestarm", "revision 0001, and not 0002", "make a copy of it")
        assert f"bestarm study migrate '{open_store(url).shown}'" in message
    store = open_store(url)
    store.migrate()
    store.migrate()  # as it is
    again = ba.Study(url, "study")
    assert again.events() == before
    again.tell_many(pulls, [0.5] * 30)
    assert (again.pulls, again.pending, again.sequence) == (30, 0, 60)
    # And it has what the new one has: a pull ends once, whatever a program does.
    last = again._log.events()[-1]
    with pytest.raises(StoreError), store.writing(again._log.row.id, again.sequence) as transaction:
        transaction.added = [last._replace(seq=again.sequence + 1)]
    assert again.sequence == 60


def test_a_newer_schema(url: str) -> None:
    make(url).tell(make(url).ask_pulls(), 0.5)
    with sql_store(url).tables() as connection:
        connection.exec_driver_sql("update bestarm_version set version_num = '9999'")
        connection.commit()
    for open_it in (lambda: make(url), lambda: ba.Study(url, "study")):
        refused(open_it, "newer version of bestarm", "revision 9999, and not 0002", "install that version")


def test_many_may_make_the_same_study_at_once(url: str) -> None:
    studies: list[ba.Study] = []
    failures: list[BaseException] = []

    def open_it() -> None:
        try:
            barrier.wait()
            studies.append(make(url))
        except BaseException as error:
            failures.append(error)

    barrier = threading.Barrier(6)
    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len({study._log.row.token for study in studies}) == 1
    for place, study in enumerate(studies):
        study.tell(study.ask_pulls(), place / 10)
    assert studies[0].pulls == 6


# ---------------------------------------------------------------------------------------------- what is no database


def test_no_such_folder_file_or_table(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere" / "run.db", tmp_path / "a file" / "run.db"):
        (tmp_path / "a file").touch()
        refused(partial(make, f"sqlite:///{path}"), "its folder is not there: make the folder first")
    refused(lambda: make(f"sqlite:///{tmp_path}"), "the file can't be opened or made")
    refused(lambda: ba.Study(f"sqlite:///{tmp_path}/run.db", "study"), "there is no study in")
    text = tmp_path / "notes.txt"
    text.write_text("This is no database.\n" * 100)
    refused(lambda: make(f"sqlite:///{text}"), "the file is no SQLite database: name another file")
    refused(lambda: ba.Study(f"sqlite:///{text}", "study"), "the file is no SQLite database: name another file")
    assert text.read_text() == "This is no database.\n" * 100


def test_a_database_of_something_else(url: str) -> None:
    with sql_store(url).tables() as connection:
        connection.exec_driver_sql("create table guests (name text)")
        connection.commit()
    refused(lambda: ba.Study(url, "study"), "it has no tables of bestarm", "bestarm study create")
    assert make(url).pulls == 0  # they may share it


def test_a_server_that_is_not_there(server: Any, tmp_path: Path) -> None:
    for url in (f"postgresql://u@/name?host={tmp_path}", "postgresql://u@127.0.0.1:1/name"):
        refused(partial(make, url), "there is no connection", "see that the server runs")
    refused(lambda: make(server.get_uri("nobody_made_it")), "there is no such database or user", "createdb")


@pytest.mark.parametrize(
    "url",
    ["", "run.db", "sqlite:/run.db", "postgres//host/name", "postgresql://host:port/name", None, 3, Path("run.db")],
)
def test_what_is_no_url(url: Any) -> None:
    with pytest.raises(InputError, match=r"url must be that of a database, got .* such as sqlite:///run\.db or postgr"):
        make(url)


@pytest.mark.parametrize("url", ["mysql://u@host/name", "mysql+pymysql://u@host/name", "oracle://host", "what://host"])
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(InputError, match="url must begin with postgresql:// or sqlite://, got"):
        make(url)


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true"]
)
def test_what_outlives_nobody_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="url must name a file"):
        make(url)


# --------------------------------------------------------------------------------------------------------- others write


def test_a_locked_sqlite_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "busy_seconds", 0.05)
    url = f"sqlite:///{tmp_path}/run.db"
    study = make(url)
    pull = study.ask_pulls()
    other = sqlite3.connect(tmp_path / "run.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    refused(lambda: study.tell(pull, 0.5), "others have been writing to it", "tell again, which is safe")
    refused(lambda: study.ask_pulls(), "others have been writing to it")
    refused(lambda: make(url, "another"), "others have been writing to it")
    assert (study.pending, study.sequence, ba.Study(url, "study").pulls) == (1, 1, 0)  # to read is possible
    other.execute("ROLLBACK")
    study.tell(pull, 0.5)
    assert (study.pulls, study.sequence) == (1, 2)
    other.close()


def test_who_writes_waits_for_others(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/run.db"
    study = make(url)
    pull = study.ask_pulls()
    other = sqlite3.connect(tmp_path / "run.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    thread = threading.Thread(target=study.tell, args=(pull, 0.5))
    thread.start()
    thread.join(0.3)
    assert thread.is_alive()
    other.execute("ROLLBACK")
    thread.join()
    other.close()
    assert study.pulls == 1


# ------------------------------------------------------------------------------------------------------ what is missing


def run_without(package: str, url: str) -> str:
    """Make a study where a package is not installed, and return what is said."""
    script = f"""
import sys
sys.modules[{package!r}] = None
import bestarm as ba
try:
    study = ba.Study({url!r}, "study", ["A", "B"], delta=0.1, epsilon=0.1, bounds=(0, 1))
    print(study.ask_pulls().number)
except ba.StoreError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.parametrize("package", ["sqlalchemy", "alembic", "psycopg"])
def test_without_the_extra_there_is_a_clear_error(package: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/run.db" if package != "psycopg" else "postgresql://u@127.0.0.1:1/name"
    message = run_without(package, url)
    assert message == f"{package} is required: pip install -e '.[live]' in a clone of bestarm"


def test_sqlite_needs_no_driver_of_postgresql(tmp_path: Path) -> None:
    assert run_without("psycopg", f"sqlite:///{tmp_path}/run.db") == "0"


# --------------------------------------------------------------------------------------------------------- passwords


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:hunter2@127.0.0.1:1/name",
        "postgresql+psycopg://u:hunter2@127.0.0.1:1/name?connect_timeout=5",
        "postgresql://u@127.0.0.1:1/name?password=hunter2",
        "postgresql://u:hunter2@127.0.0.1:port/name",
        "postgres//u:hunter2@127.0.0.1/name",
        "mysql://u:hunter2@127.0.0.1/name",
    ],
)
def test_passwords_are_never_shown(url: str) -> None:
    with pytest.raises((StoreError, InputError)) as caught:
        make(url)
    shown = [str(caught.value), repr(caught.value), str(vars(caught.value))]
    if isinstance(caught.value, StoreError):
        shown.append(open_store(url).shown)
    assert not [text for text in shown if "hunter2" in text]
    assert "127.0.0.1" in shown[0]


def test_the_password_of_a_study_is_kept_and_not_shown(server: Any) -> None:
    plain = new_database(server)
    url = plain.replace("postgres:@", "postgres:hunter2@")
    assert url != plain
    study = make(url)
    pull = study.ask_pulls()
    again: ba.Study = pickle.loads(pickle.dumps(study))
    again.tell(pull, 0.5)
    assert "hunter2" not in repr(study) + repr(again) + "".join(study.lines())
    with pytest.raises(InputError) as caught:
        ba.Study(url, "nobody")
    assert "hunter2" not in str(caught.value)
