"""Studies that an older version made: they open, come to what they came to then, and go on (see fixtures/)."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

import bestarm as ba
from bestarm import StoreError
from bestarm.live import settings
from bestarm.methods import Option, get_method
from live.fixtures.make_studies import ARMS, ASKED, QUESTIONS
from live_tools import store_of

FIXTURES = Path(__file__).parent / "fixtures"
THEN: dict[str, Any] = json.loads((FIXTURES / "studies_0.1.0.json").read_text())
REWARDS = {"A": 0.0, "B": 0.1, "C": 1.0}
# What a verdict says of the same rewards for good; its words, estimates and alarms may be found better.
LASTING = ("status", "best", "candidates", "pulls", "delta", "epsilon", "sigma", "bounds", "method", "cancelled")


@pytest.fixture
def old(tmp_path: Path) -> str:
    """A database of 0.1.0, which nobody has opened since."""
    shutil.copy(FIXTURES / "studies_0.1.0.db", tmp_path / "old.db")
    return f"sqlite:///{tmp_path}/old.db"


def opened(url: str, name: str, how: str) -> ba.Study:
    """Open a study by its name, or with the question as its program gives it."""
    return ba.Study(url, name) if how == "name" else ba.Study(url, name, ARMS, **{**ASKED, **QUESTIONS[name]})


def lasting(result: dict[str, Any]) -> dict[str, Any]:
    arms = [[row[key] for key in ("label", "pulls", "active")] for row in result["arms"]]
    return {**{name: result[name] for name in LASTING}, "arms": arms}


@pytest.mark.parametrize("how", ["name", "question"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_an_old_study_opens_with_what_it_came_to_and_goes_on(old: str, name: str, how: str) -> None:
    study, then = opened(old, name, how), THEN[name]
    assert study.lease == (then["lease"] or math.inf)
    for part in ("pulls", "pending", "expired", "sequence", "decided_at", "archived"):
        assert getattr(study, part) == then[part]
    assert [[pull.number, pull.arm, worker] for pull, worker, _ in study.outstanding()] == then["outstanding"]
    result = json.loads(study.result.to_json())
    assert lasting(result) == lasting(then["result"])
    assert result["options"].items() >= then["result"]["options"].items()
    if study.archived or study.done:
        return
    told = study.pulls
    pulls = [pull for pull, _, _ in study.outstanding()]  # all at once: any other call would find their leases ended
    sources = [f"old {pull.number}" for pull in pulls] if name == "sources" else None
    study.tell_many(pulls, [REWARDS[str(pull.arm)] for pull in pulls], sources)
    while not study.done and study.pulls < told + 300:
        pull = study.ask_pulls(worker="new")
        study.tell(pull, REWARDS[str(pull.arm)], f"new {pull.number}" if name == "sources" else None)
    assert study.done
    assert study.result.best == "C"
    assert opened(old, name, how).result == study.result


def test_a_default_that_changes_refuses_no_old_study(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither reopened by name nor with the question: what is stored wins."""
    certified = get_method("certified")
    changed = [
        Option(one.name, 0.3, one.summary, one.check) if one.name == "resolution" else one for one in certified.options
    ]
    monkeypatch.setattr(settings, "NEW_LEASE", 7.0, raising=False)
    monkeypatch.setitem(vars(certified), "options", tuple(changed))
    for how in ("name", "question"):
        study = opened(old, "waiting", how)
        assert (study.lease, study.result.options["resolution"]) == (3600.0, 0.025)
    new = ba.Study(old, "new", ARMS, **ASKED)
    assert (new.lease, new.result.options["resolution"]) == (7.0, 0.3)


def test_an_option_that_is_new_since_is_as_it_was_without_it(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or is not there at all: every option that 0.1.0 did not have needs the value by which nothing changes."""
    for name, then in THEN.items():
        now = ba.Study(old, name).result.options
        assert set(now) - set(then["result"]["options"]) <= set(settings.ABSENT[1]), "say it in settings.ABSENT"
    certified = get_method("certified")
    new = Option("haste", 2.0, "", lambda value: value)
    monkeypatch.setitem(vars(certified), "options", (*certified.options, new))
    monkeypatch.setitem(settings.ABSENT[1], "haste", 1.0)
    assert ba.Study(old, "waiting").result.options["haste"] == 1.0
    assert opened(old, "waiting", "question").result.options["haste"] == 1.0
    assert ba.Study(old, "new", ARMS, **ASKED).result.options["haste"] == 2.0


def test_an_option_that_is_gone_is_said(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    certified = get_method("certified")
    left = tuple(option for option in certified.options if option.name != "share_from")
    monkeypatch.setitem(vars(certified), "options", left)
    with pytest.raises(StoreError, match=r"^the study can't be continued, as bestarm \S+ has no option share_from"):
        _ = ba.Study(old, "shares").result


def test_settings_of_a_newer_version_are_said(old: str) -> None:
    study = ba.Study(old, "waiting")
    with store_of(study).connected() as raw:
        fields = {**json.loads(study._log.row.settings), "settings_version": 99, "colour": "blue"}
        raw.execute("update bestarm_studies set settings = ? where name = 'waiting'", (json.dumps(fields),))
        raw.commit()
    with pytest.raises(StoreError, match=r"^the study can't be continued, as its settings are of a newer version"):
        ba.Study(old, "waiting")
