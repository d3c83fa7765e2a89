"""`check_store`: the promises of a store as a suite to run on a backend of your own."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bestarm.errors import ConflictError, StoreError
from bestarm.testing.rules import BrokenRuleError

if TYPE_CHECKING:
    from bestarm.live.backends._base import Store
    from bestarm.live.events import Event

QUESTION: dict[str, Any] = {"delta": 0.1, "epsilon": 0.1, "bounds": (0, 1)}
TEXTS = ("s", "ß → 日本", 'a "b" \\ c', "")  # of sources, workers and notes


class _Bench:
    """Opens stores of the kind to check."""

    def __init__(self, new_url: Callable[[], str]) -> None:
        self.url = new_url()

    def open(self) -> Store:
        from bestarm.live.connect import open_store

        return open_store(self.url)

    def fresh(self) -> tuple[Store, int]:
        """Return a store with one study, and its number."""
        store = self.open()
        store.prepare(create=True)
        return store, store.create("study", "{}").id


def _event(seq: int, kind: str, **values: Any) -> Event:
    from bestarm.live.events import Event

    empty: dict[str, Any] = dict.fromkeys(Event._fields)
    return Event(**(empty | {"seq": seq, "kind": kind, "at": 1e9 + seq / 3} | values))


def _story() -> list[Event]:
    """Return a log with events of all kinds, in which pulls end in another order than they began."""
    log = [
        _event(pull + 1, "ask", pull=pull, arm=pull % 3, worker=TEXTS[pull % 4], source=(*TEXTS, None)[pull % 5])
        for pull in range(20)
    ]
    for pull in (3, 1, 0, 7, 19, 12):
        log.append(_event(len(log) + 1, "tell", pull=pull, value=(0.1, 1e-308, -1e300)[pull % 3], source="s"))
    for kind, pull in (("renew", 5), ("cancel", 2), ("expire", 4), ("renew", 5), ("cancel", 9)):
        log.append(_event(len(log) + 1, kind, pull=pull))
    log.append(_event(len(log) + 1, "decide", note=json.dumps({"seq": 26, "result": {"status": "x", "best": "ß"}})))
    return [*log, _event(len(log) + 1, "archive")]


def _write(store: Store, study: int, events: list[Event]) -> None:
    with store.writing(study, events[0].seq - 1) as transaction:
        transaction.added = list(events)


# ------------------------------------------------------------------------------------------------------------ the rules


def nothing_there(bench: _Bench) -> None:
    """An empty place is an error unless it may be set up, which may be repeated."""
    try:
        bench.open().prepare(create=False)
    except StoreError:
        for _ in range(2):
            bench.open().prepare(create=True)
        bench.open().prepare(create=False)
        assert bench.open().studies() == []
        return
    raise AssertionError("prepare(create=False) accepts an empty place")


def studies(bench: _Bench) -> None:
    """Studies are listed in the order of their creation, with the settings that created them."""
    store, _ = bench.fresh()
    before = store.now()
    made = store.create("a 'ß' name", '{"arms": ["日本"]}')
    assert store.create("a 'ß' name", "{}") == made
    assert before <= made.created <= store.now()
    other = bench.open()
    assert [row.name for row in other.studies()] == ["study", "a 'ß' name"]
    assert other.find("a 'ß' name") == made == other.studies()[1]
    assert other.find("nobody") is None
    assert other.studies()[0].token != made.token


def append_and_read(bench: _Bench) -> None:
    """Events are read back as they were appended, by everyone, in order."""
    store, study = bench.fresh()
    another = store.create("another", "{}").id
    story = _story()
    for begin in range(0, len(story), 7):
        with store.writing(study, begin, synced=begin % 2 == 0) as transaction:
            assert transaction.news == []
            transaction.added = story[begin : begin + 7]
    _write(store, another, story[:1])
    for reader in (store, bench.open()):
        for after in (0, 1, 20, len(story)):
            assert reader.read(study, after) == story[after:]
        assert (reader.head(study), reader.head(another)) == (len(story), 1)
        assert reader.read(another, 0) == story[:1]
    assert isinstance(store.read(study, 0)[20].value, float)


def news(bench: _Bench) -> None:
    """A writer is given what it has missed, or the first `most` events of it."""
    store, study = bench.fresh()
    story = _story()
    _write(store, study, story)
    for after in (0, 5, len(story)):
        for most in (None, 1, 3, 1000):
            with bench.open().writing(study, after, most=most) as transaction:
                assert transaction.news == story[after:][:most]
    assert store.head(study) == len(story)


def all_or_none(bench: _Bench) -> None:
    """Nothing is appended by a block that raises, and the next writer need not wait."""
    store, study = bench.fresh()
    story = _story()
    for error in (KeyError("no"), ConflictError("reward", "be", 1, "no")):
        try:
            with store.writing(study, 0) as transaction:
                transaction.added = story
                raise error
        except type(error):
            pass
    assert bench.open().read(study, 0) == []
    _write(bench.open(), study, story)
    assert store.read(study, 0) == story


def one_writer(bench: _Bench) -> None:
    """While one caller writes to a study, the next ones wait, and then see what it wrote."""
    store, study = bench.fresh()
    entered = threading.Event()
    errors: list[Exception] = []

    def write() -> None:
        other, seq = bench.open(), 0
        try:
            for _ in range(3):
                with other.writing(study, seq) as transaction:
                    entered.set()
                    seq += len(transaction.news) + 1
                    transaction.added = [_event(seq, "ask", pull=seq - 1, arm=0)]
        except Exception as error:
            errors.append(error)
        other.close()

    threads = [threading.Thread(target=write) for _ in range(3)]
    with store.writing(study, 0) as transaction:
        transaction.added = [_event(1, "ask", pull=0, arm=0)]
        for thread in threads:
            thread.start()
        together = entered.wait(0.3)
    for thread in threads:
        thread.join()
    assert not together, "two writers at once"
    assert errors == []
    assert [event.seq for event in bench.open().read(study, 0)] == list(range(1, 11))


def readers_do_not_wait(bench: _Bench) -> None:
    """While somebody writes, others read what was committed before."""
    store, study = bench.fresh()
    story = _story()
    _write(store, study, story[:5])
    with store.writing(study, 5) as transaction:
        transaction.added = story[5:]
        assert bench.open().read(study, 0) == story[:5]
        assert [row.name for row in bench.open().studies()] == ["study"]
    assert bench.open().read(study, 0) == story


def one_end(bench: _Bench) -> None:
    """A pull ends once: a second end is rejected, with all that is appended beside it."""
    store, study = bench.fresh()
    story = _story()[:21]
    _write(store, study, story)
    for kind in ("tell", "cancel", "expire"):
        again = [_event(22, "renew", pull=0), _event(23, kind, pull=3, value=0.1 if kind == "tell" else None)]
        try:
            _write(store, study, again)
        except StoreError:
            assert bench.open().read(study, 0) == story
            continue
        raise AssertionError(f"a pull that was told can {kind} again")


def import_studies(bench: _Bench) -> None:
    """Whole studies are added all or none; the same study again is no error, a different one is."""
    from bestarm.live.backends._base import StudyCopy

    store, _ = bench.fresh()
    copies = [StudyCopy(name, 2**61 + 7, '{"a": 1}', 12.5, _story()) for name in ("one", "two")]
    taken = StudyCopy("study", 1, "{}", 1.0, [])
    for wrong in ([*copies, taken], [taken, *copies]):
        assert not store.insert(wrong)
        try:
            store.add(wrong)
        except ConflictError:
            continue
        raise AssertionError("another study of the same name is accepted")
    assert [row.name for row in bench.open().studies()] == ["study"]
    assert store.insert([])
    assert (store.add(copies), store.add(copies)) == (["one", "two"], [])
    found = bench.open().find("two")
    assert found is not None
    assert (found.token, found.settings, found.created) == (2**61 + 7, '{"a": 1}', 12.5)
    assert bench.open().read(found.id, 0) == _story()


def shortcuts(bench: _Bench) -> None:
    """What a backend overrides to be faster has the values that follow from reading events."""
    from bestarm.live.backends._base import Store

    store, study = bench.fresh()
    store.create("empty", '{"arms": ["A"]}')
    story = _story()
    _write(store, study, story)
    assert store.overview() == Store.overview(store)
    for name in ("study", "empty", "nobody"):
        assert store.find(name) == Store.find(store, name)
    for head in (0, 10, 21, len(story)):
        (columns, outstanding), (plain, left) = store.columns(study, head), Store.columns(store, study, head)
        assert outstanding == left
        for each in fields(plain):
            one, other = getattr(columns, each.name), getattr(plain, each.name)
            assert np.array_equal(one, other), f"{each.name} up to {head}: {one} and {other}"
            assert getattr(one, "dtype", None) == getattr(other, "dtype", None)


_DIE = """
import json, os, sys
path, folders, url, study, story = json.loads(sys.argv[1])
sys.path[:] = path
from bestarm.live import backends
backends.__path__[:] = folders
from bestarm.live.connect import open_store
from bestarm.live.events import Event
with open_store(url).writing(study, 0) as transaction:
    transaction.added = [Event(*event) for event in story]
    print("writing", flush=True)
    os._exit(7)
"""


def killed_writer(bench: _Bench) -> None:
    """A process that dies while it writes leaves nothing behind, and no lock."""
    from bestarm.live import backends

    store, study = bench.fresh()
    story = _story()
    store.close()
    task = json.dumps([sys.path, list(backends.__path__), bench.url, study, story])
    done = subprocess.run([sys.executable, "-c", _DIE, task], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.returncode) == ("writing\n", 7), done.stderr
    assert store.read(study, 0) == []
    _write(store, study, story)
    assert store.read(study, 0) == story


def a_study(bench: _Bench) -> None:
    """A study that is closed and reopened after every batch reaches the verdict of an `Identifier`."""
    from bestarm.identification.identifier import Identifier
    from bestarm.identification.waiting import Waiting
    from bestarm.live import Study

    finder = Identifier(["A", "B"], **QUESTION)
    Study(bench.url, "study", ["A", "B"], **QUESTION).close()
    while not finder.done:
        study = Study(bench.url, "study")
        pulls, same = study.ask_pulls(15, worker="w"), finder.ask_pulls(15)
        assert [pull.arm for pull in pulls] == [pull.arm for pull in same]
        rewards = [0.6 if pull.arm == "B" else 0.4 for pull in pulls]
        study.tell_many(pulls, rewards)
        for pull, reward in zip(same, rewards, strict=True):
            finder.tell(pull, reward)
        study.close()
    study = Study(bench.url, "study")
    assert study.done
    assert repr(replace(study.result, waiting=Waiting())) == repr(replace(finder.result, waiting=Waiting()))
    study.close()


RULES: dict[str, Callable[[_Bench], None]] = {
    rule.__name__.replace("_", " "): rule
    for rule in (
        nothing_there,
        studies,
        append_and_read,
        news,
        all_or_none,
        one_writer,
        readers_do_not_wait,
        one_end,
        import_studies,
        shortcuts,
        killed_writer,
        a_study,
    )
}


def check_store(new_url: Callable[[], str]) -> tuple[str, ...]:
    """Check that the stores of a backend keep the promises of `Store`; raise at the first one that is broken.

    Parameters
    ----------
    new_url : callable
        Returns the URL of an empty place at each call: a new file, folder or database.

    Returns
    -------
    tuple of str
        The names of the promises that were kept.

    Raises
    ------
    BrokenRuleError
        An `AssertionError` that names the promise.

    Examples
    --------
    >>> import itertools, tempfile
    >>> folder, numbers = tempfile.mkdtemp(), itertools.count()
    >>> kept = check_store(lambda: f"sqlite:///{folder}/{next(numbers)}.db")
    >>> "one writer" in kept, "all or none" in kept
    (True, True)
    """
    for name, rule in RULES.items():
        bench = _Bench(new_url)
        scheme = bench.url.partition(":")[0]
        says = (rule.__doc__ or "").split("\n")[0].rstrip(".")
        try:
            rule(bench)
        except Exception as error:
            raise BrokenRuleError(scheme, name, says, f"{type(error).__name__}: {error}") from error
    return tuple(RULES)
