"""Every kind of store keeps the same promises, and a third kind takes one file."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import bestarm as ba
from bestarm.live import backends
from bestarm.live.backends._base import Overview, Store, StudyCopy, Transaction
from bestarm.live.connect import open_store, schemes
from bestarm.live.events import Event
from bestarm.testing import BrokenRuleError, check_store
from bestarm.testing.stores import RULES
from live_tools import make, new_database

TOY = str(Path(__file__).parent / "backends")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the folder of the toy beside that of the package, as if its file lay there."""
    monkeypatch.setattr(backends, "__path__", [*backends.__path__, TOY])


@pytest.fixture
def new_toy_url(toy: None, tmp_path: Path) -> Callable[[], str]:
    numbers = itertools.count()
    return lambda: f"jsonlines:///{tmp_path}/{next(numbers)}"


def test_sqlite_keeps_the_promises(tmp_path: Path) -> None:
    numbers = itertools.count()
    assert check_store(lambda: f"sqlite:///{tmp_path}/{next(numbers)}.db") == tuple(RULES)


def test_postgresql_keeps_the_promises(server: Any) -> None:
    assert check_store(lambda: new_database(server)) == tuple(RULES)


def test_a_third_kind_takes_one_file(new_toy_url: Callable[[], str]) -> None:
    assert schemes() == ["jsonlines", "postgresql", "sqlite"]
    assert check_store(new_toy_url) == tuple(RULES)


def test_all_a_study_does_works_on_a_third_kind(new_toy_url: Callable[[], str], tmp_path: Path) -> None:
    url = new_toy_url()
    result = make(url).run(lambda arm: float(arm == "B"), workers=2, worker="w")
    assert result.best == "B"
    ba.backup_studies(url, tmp_path / "backup.jsonl")
    assert ba.import_studies(f"sqlite:///{tmp_path}/run.db", tmp_path / "backup.jsonl") == ["study"]
    assert ba.Study(f"sqlite:///{tmp_path}/run.db", "study").result == result == ba.Study(url, "study").result
    assert [(row.name, row.best) for row in open_store(url).overview()] == [("study", "B")]


def test_the_file_is_all_there_is_to_it() -> None:
    with pytest.raises(ba.InputError, match="url must begin with postgresql:// or sqlite://, got 'jsonlines:///x'"):
        open_store("jsonlines:///x")


# ------------------------------------------------------------------------------------------- each promise can be broken

Broken = Callable[[Any, pytest.MonkeyPatch], None]
BROKEN: dict[str, Broken] = {}


def breaks(rule: str) -> Callable[[Broken], Broken]:
    def noted(broken: Broken) -> Broken:
        BROKEN[rule] = broken
        return broken

    return noted


@breaks("nothing there")
def accepts_anything(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare = kind.prepare
    monkeypatch.setattr(kind, "prepare", lambda self, *, create: prepare(self, create=True))


@breaks("studies")
def lists_backwards(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    studies = kind.studies
    monkeypatch.setattr(kind, "studies", lambda self: studies(self)[::-1])


@breaks("append and read")
def reads_one_too_many(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read = kind.read
    monkeypatch.setattr(kind, "read", lambda self, study, after: read(self, study, max(0, after - (after > 20))))


@breaks("news")
def ignores_most(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    writing = kind.writing
    monkeypatch.setattr(
        kind, "writing", lambda self, study, after, *, synced=True, most=None: writing(self, study, after)
    )


@breaks("all or none")
def appends_in_spite_of_errors(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def writing(
        self: Any, study: int, after: int, *, synced: bool = True, most: int | None = None
    ) -> Iterator[Transaction]:
        with self._locked(f"{study}"):
            transaction = Transaction(self.now(), self.read(study, after)[:most])
            try:
                yield transaction
            finally:
                self._append(study, transaction.added)

    monkeypatch.setattr(kind, "writing", writing)


@breaks("one writer")
def locks_nothing(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind, "_locked", lambda self, name: contextlib.nullcontext())


@breaks("one end")
def lets_pulls_end_twice(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind, "_refuse_second_ends", lambda *_: None)


@breaks("import studies")
def inserts_what_it_can(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    insert = kind.insert

    def one_by_one(self: Any, copies: Sequence[StudyCopy]) -> bool:
        inserted = [insert(self, [copy]) for copy in copies]
        return all(inserted)

    monkeypatch.setattr(kind, "insert", one_by_one)


@breaks("shortcuts")
def counts_wrongly(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def overview(self: Store) -> list[Overview]:
        return Store.overview(self)[:1]

    monkeypatch.setattr(kind, "overview", overview)


@breaks("a study")
def spoils_later_rewards(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    append = kind._append

    def spoilt(event: Event) -> Event:
        return event._replace(value=0.5) if event.kind == "tell" and (event.pull or 0) >= 20 else event

    monkeypatch.setattr(kind, "_append", lambda self, study, added: append(self, study, [*map(spoilt, added)]))


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_promise_is_found(rule: str, new_toy_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type(open_store(new_toy_url()))
    BROKEN[rule](kind, monkeypatch)
    with pytest.raises(BrokenRuleError, match=re.escape(f"jsonlines breaks the rule {rule!r}")) as caught:
        check_store(new_toy_url)
    assert caught.value.rule == rule
