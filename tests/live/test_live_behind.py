"""A process that is far behind the log catches up while others write."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

import bestarm as ba
from bestarm.live import study_log
from bestarm.live.backends._base import Store
from bestarm.live.replica import Replica
from live_tools import make

FEW = 10


class Witness:
    """Notes how many events one study folds at a time, and whether it holds the lock meanwhile."""

    def __init__(self, study: ba.Study, monkeypatch: pytest.MonkeyPatch) -> None:
        self.locked = False
        self.folds: list[tuple[int, bool]] = []
        store, fold = study._log.store, Replica.fold
        writing = store.writing

        @contextlib.contextmanager
        def noted_writing(*arguments: Any, **options: Any) -> Iterator[Any]:
            with writing(*arguments, **options) as transaction:
                self.locked = True
                try:
                    yield transaction
                finally:
                    self.locked = False

        def noted_fold(replica: Replica, events: Any) -> None:
            if replica is self.replica:
                self.folds.append((len(events), self.locked))
                self.while_folding(len(events))
            fold(replica, events)

        self.replica = study._log.known()
        monkeypatch.setattr(store, "writing", noted_writing)
        monkeypatch.setattr(Replica, "fold", noted_fold)
        monkeypatch.setattr(study_log, "FOLD_LOCKED", FEW)

    def while_folding(self, events: int) -> None:
        """What happens meanwhile."""


def ask_and_tell(study: ba.Study, rewards: int) -> None:
    pulls = study.ask_pulls(rewards)
    study.tell_many(pulls, [0.5] * rewards)


@pytest.mark.parametrize("act", ["ask", "tell", "cancel", "renew"])
def test_others_tell_while_a_process_catches_up(url: str, act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the lock were held, the tell of the other one would fail after a twentieth of a second."""
    study, other = make(url, resolution=1e-6), make(url, resolution=1e-6)
    mine, theirs = study.ask_pulls(), other.ask_pulls()
    assert study.pulls == 0
    ask_and_tell(other, 50)
    monkeypatch.setattr(Store, "busy_seconds", 0.05)
    other.close()  # so that it connects anew, and waits no longer
    witness = Witness(study, monkeypatch)
    told: list[int] = []

    def tell_meanwhile(events: int) -> None:
        if events > FEW and not told:
            told.append(events)
            other.tell(theirs, 0.25)

    monkeypatch.setattr(witness, "while_folding", tell_meanwhile)
    if act == "ask":
        study.ask_pulls()
    elif act == "tell":
        study.tell(mine, 0.75)
    elif act == "cancel":
        study.cancel(mine)
    else:
        study.renew(mine)
    assert told == [100]
    assert [count for count, locked in witness.folds if not locked] == [100]
    assert next(count for count, locked in witness.folds if locked) == 1  # what came in between
    kinds = [event.kind for event in study.events()]
    assert kinds == ["ask"] * 52 + ["tell"] * 51 + [act]
    assert [event.seq for event in study.events()] == list(range(1, 105))
    assert repr(study.result) == repr(ba.Study(url, "study").result)


def test_a_process_gets_its_turn_though_others_write_faster(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study, other = make(url, resolution=1e-6), make(url, resolution=1e-6)
    mine = study.ask_pulls()
    ask_and_tell(other, FEW)
    witness = Witness(study, monkeypatch)

    def go_on(events: int) -> None:
        if not witness.locked:
            ask_and_tell(other, FEW)

    monkeypatch.setattr(witness, "while_folding", go_on)
    study.tell(mine, 0.75)
    assert witness.folds[:11] == [(2 * FEW, False)] * 10 + [(2 * FEW, True)]
    assert study.pulls == 11 * FEW + 1
