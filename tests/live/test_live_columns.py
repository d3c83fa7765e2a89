"""A log as arrays says what its events say, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bestarm as ba
from bestarm.live.events import Columns, Event
from live_tools import make

BY_SOURCES: dict[str, Any] = {"epsilon": 0.2, "contamination": "sources"}


def some_of_everything(url: str, *, by_sources: bool) -> ba.Study:
    """A study with pulls that were told, cancelled, renewed, expired and none of these, in mixed order."""
    study = make(url, **(BY_SOURCES if by_sources else {}), lease=1e6)
    pulls = [study.ask_pulls(worker=f"w{index}", source=f"s{index % 5}" if by_sources else None) for index in range(30)]
    if by_sources:
        pulls += study.ask_pulls(6)
    order = np.random.default_rng(3).permutation(len(pulls)).tolist()
    for index in order[:24]:
        if index % 7 == 0:
            study.cancel(pulls[index])
        else:
            study.tell(pulls[index], 0.1 * (index % 10), f"s{index % 5}" if by_sources else None)
    study.renew_many([pulls[index] for index in order[24:26]])
    study.archive()
    return study


def assert_same(columns: Columns, outstanding: list[Event], events: list[Event]) -> None:
    asks = [event for event in events if event.kind == "ask"]
    ends = [event for event in events if event.kind in ("tell", "cancel", "expire")]
    texts = [*columns.sources, None]  # -1 is None
    assert columns.asked.tolist() == [event.seq for event in asks]
    assert columns.arms.tolist() == [event.arm for event in asks]
    assert columns.times.tolist() == [event.at for event in asks]
    assert [texts[index] for index in columns.asked_sources] == [event.source for event in asks]
    assert columns.ended.tolist() == [event.seq for event in ends]
    assert columns.pulls.tolist() == [event.pull for event in ends]
    assert columns.values.tolist() == [event.value or 0.0 for event in ends]
    assert columns.told.tolist() == [event.kind == "tell" for event in ends]
    assert columns.expired.tolist() == [event.kind == "expire" for event in ends]
    assert [texts[index] for index in columns.told_sources] == [event.source for event in ends]
    assert columns.sources == list(dict.fromkeys(event.source for event in events if event.source is not None))
    assert columns.rest == [event for event in events if event not in asks and event not in ends]
    ended = {event.pull for event in ends}
    assert outstanding == [event for event in asks if event.pull not in ended]
    assert columns.head == len(events)


@pytest.mark.parametrize("by_sources", [False, True])
def test_columns_say_what_the_events_say(url: str, by_sources: bool) -> None:
    study = some_of_everything(url, by_sources=by_sources)
    store, row = study._log.store, study._log.row
    events = store.read(row.id, 0)
    assert {event.kind for event in events} == {"ask", "tell", "cancel", "renew", "archive"}
    for head in (0, 1, 30, 45, len(events)):
        assert_same(*store.columns(row.id, head), events[:head])
