"""Options that a method got after a study was made: the study goes on as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bestarm.errors import StoreError
from bestarm.live.settings import Settings, new_settings, read_settings

ASKED: dict[str, Any] = {"delta": 0.1, "epsilon": 0.1, "sigma": 1.0, "bounds": None, "exploration": "none"}


@pytest.fixture(params=["se-cbai", "median-se"])
def old(request: pytest.FixtureRequest) -> Settings:
    """Settings as they were stored before `radius` and `radius_arms` came."""
    fields = json.loads(new_settings(["A", "B"], 60.0, {**ASKED, "method": request.param}).to_json())
    for name in ("radius", "radius_arms"):
        del fields["completed"][name]
    return read_settings(json.dumps(fields))


def test_an_older_study_goes_on_with_the_radius_it_had(old: Settings) -> None:
    options = old.finder().result.options
    assert (options["radius"], options["radius_arms"]) == ("rounds", 2.0)


def test_it_is_the_study_that_the_same_question_makes_now_and_not_another(old: Settings) -> None:
    same = new_settings(["A", "B"], 60.0, {**ASKED, "method": old.method})
    other = new_settings(["A", "B"], 60.0, {**ASKED, "method": old.method, "radius": "all-pulls"})
    assert same.differences(old, lease_given=True) == []
    assert other.differences(old, lease_given=True) == ["options"]


def test_an_option_that_it_had_and_that_means_something_else_now_is_refused(old: Settings) -> None:
    old.completed["exploration"] = "bernstein"
    with pytest.raises(
        StoreError, match=r"rejects the settings of bestarm .*, which created it: exploration must be one of"
    ):
        old.finder()
