"""The verdict: one sentence, strict JSON, complete, and not to be tampered with."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import math
import pickle
from typing import Any

import pytest

import bestarm as ba
from bestarm.methods import METHODS

FIELDS = {
    *("status", "best", "candidates", "pulls", "delta", "epsilon", "sigma", "method", "options", "arms", "promise"),
    *("tolerance", "alarms"),
}
ROW = {"label", "pulls", "estimate", "lower", "upper", "active"}


def decided(method: str = "se-cbai", labels: Any = ("red", "blue"), **changes: Any) -> ba.Result:
    """A verdict after a run on constant rewards: the last label wins."""
    settings: dict[str, Any] = {"delta": 0.05, "epsilon": 0.2, "sigma": 0.5, "method": method, **changes}
    return ba.identify(lambda arm: 10.0 * list(labels).index(arm), labels, **settings)


def strict(text: str) -> Any:
    """Read JSON as the standard has it: no NaN, no Infinity."""

    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


# -------------------------------------------------------------------------------------------------------- the sentence


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_verdict_is_one_sentence_with_all_that_it_rests_on(method: str) -> None:
    result = decided(method)
    sentence = str(result)
    assert result.best == "blue"
    assert sentence.startswith("'blue' has the highest mean of 2 arms (estimate ")
    assert sentence.endswith(".")
    assert ". " not in sentence
    assert "\n" not in sentence
    assert f": {method} stopped after {result.pulls:,} rewards, wrong with probability at most 0.05 " in sentence
    assert f"(sigma = 0.5, epsilon = 0.2, {METHODS[method].promise})" in sentence


def test_the_sentence_of_a_winner() -> None:
    assert str(sample()) == (
        "'B' has the highest mean of 3 arms (estimate 2.5, next 'A' with 2.125): "
        "certified stopped after 12,345 rewards, wrong with probability at most 0.05 under its assumptions "
        "(sigma = 1, epsilon = 0.1, any adversary); it would still be with up to 0.17 of the rewards contaminated."
    )
    assert str(sample(tolerance=None)).endswith("epsilon = 0.1, any adversary).")


def test_the_sentence_of_no_winner() -> None:
    assert str(sample(status="indistinguishable", best=None, candidates=("A", "B"), tolerance=None)) == (
        "no winner can be named among 'A', 'B': certified stopped after 12,345 rewards, "
        "wrong with probability at most 0.05 under its assumptions (sigma = 1, epsilon = 0.1, any adversary)."
    )


def test_the_sentence_of_a_run_under_way() -> None:
    labels = tuple(f"arm {number}" for number in range(14))
    shown = ", ".join(repr(label) for label in labels[:10])
    assert str(sample(status="undecided", best=None, candidates=labels, tolerance=None)) == (
        f"undecided among {shown} and 4 more so far: certified has not stopped after 12,345 rewards."
    )


def test_alarms_are_said_aloud() -> None:
    text = str(sample(alarms=("more outliers than epsilon allows", "sigma is too small")))
    assert text.endswith(" contaminated. Alarm: more outliers than epsilon allows. Alarm: sigma is too small.")


def test_the_sentence_is_there_before_any_reward() -> None:
    finder = ba.Identifier(["A", "B"], delta=0.1, epsilon=0.25, sigma=2.0, method="mean-gap")
    assert str(finder.result) == "undecided among 'A', 'B' so far: mean-gap has not stopped after 0 rewards."


# -------------------------------------------------------------------------------------------------------------- JSON


def sample(**changes: Any) -> ba.Result:
    rows = (
        ba.ArmRow("A", 5000, 2.125, 1.75, 2.25, True),
        ba.ArmRow("B", 7000, 2.5, 2.375, 2.625, True),
        ba.ArmRow("C", 345, math.nan, -math.inf, math.inf, False),
    )
    fields: dict[str, Any] = {
        "status": "identified",
        "best": "B",
        "candidates": ("B",),
        "pulls": 12_345,
        "delta": 0.05,
        "epsilon": 0.1,
        "sigma": 1.0,
        "method": "certified",
        "options": {"resolution": 0.01, "adversary_power": "prescient", "depth": math.inf},
        "arms": rows,
        "promise": "any adversary",
        "tolerance": 0.17,
    }
    return ba.Result(**{**fields, **changes})


def test_json_is_complete_and_strict() -> None:
    assert strict(sample(alarms=("one",)).to_json()) == {
        "status": "identified",
        "best": "B",
        "candidates": ["B"],
        "pulls": 12_345,
        "delta": 0.05,
        "epsilon": 0.1,
        "sigma": 1.0,
        "method": "certified",
        "options": {"resolution": 0.01, "adversary_power": "prescient", "depth": None},
        "arms": [
            {"label": "A", "pulls": 5000, "estimate": 2.125, "lower": 1.75, "upper": 2.25, "active": True},
            {"label": "B", "pulls": 7000, "estimate": 2.5, "lower": 2.375, "upper": 2.625, "active": True},
            {"label": "C", "pulls": 345, "estimate": None, "lower": None, "upper": None, "active": False},
        ],
        "promise": "any adversary",
        "tolerance": 0.17,
        "alarms": ["one"],
    }


@pytest.mark.parametrize("method", sorted(METHODS))
def test_dict_and_json_of_a_real_verdict_hold_all_of_it(method: str) -> None:
    result = decided(method)
    plain, read = result.to_dict(), strict(result.to_json())
    assert set(plain) == set(read) == FIELDS == {field.name for field in dataclasses.fields(result)}
    assert all(set(row) == ROW for row in read["arms"])
    for name in FIELDS - {"arms", "candidates", "alarms", "options"}:
        assert plain[name] == getattr(result, name)
        assert read[name] == getattr(result, name)
    assert read["options"] == plain["options"] == result.options
    assert [ba.ArmRow(**row) for row in plain["arms"]] == list(result.arms)
    for row, text in zip(result.arms, read["arms"], strict=True):
        for name, value in vars(row).items():  # floats survive the text to the last bit
            assert text[name] == (value if not isinstance(value, float) or math.isfinite(value) else None)
    assert (plain["candidates"], plain["alarms"]) == (list(result.candidates), list(result.alarms))


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("rewards", [0, 1, 3])
def test_json_is_strict_while_things_are_infinite_or_unknown(method: str, rewards: int) -> None:
    finder = ba.Identifier(["A", "B", "C"], delta=0.1, epsilon=0.2, sigma=1.0, method=method)
    for _ in range(rewards):
        finder.tell(finder.ask(), 0.25)
    read = strict(finder.result.to_json())
    assert (read["status"], read["best"], read["tolerance"]) == ("undecided", None, None)
    assert read["candidates"] == ["A", "B", "C"]
    for row, text in zip(finder.result.arms, read["arms"], strict=True):
        assert text["estimate"] == (row.estimate if math.isfinite(row.estimate) else None)
        assert (text["upper"] is None) == (not math.isfinite(row.upper))
    assert rewards == 3 or any(text["upper"] is None for text in read["arms"])


def test_labels_that_json_lacks_are_written_as_text_or_lists() -> None:
    labels = ((1, "x"), b"bytes", frozenset({3}), 2.5, 7)
    read = strict(decided("mean-se", labels, sigma=0.01).to_json())
    assert [row["label"] for row in read["arms"]] == [[1, "x"], "b'bytes'", "frozenset({3})", 2.5, 7]
    assert read["best"] == 7
    assert strict(decided("mean-se", labels[::-1], sigma=0.01).to_json())["best"] == [1, "x"]


def test_the_dict_is_a_copy() -> None:
    result = decided()
    plain = result.to_dict()
    plain["options"]["alpha"] = -1
    plain["arms"][0]["pulls"] = -1
    plain["candidates"].append("green")
    assert result == decided()


# ------------------------------------------------------------------------------------------------------------- frozen


def test_a_verdict_is_frozen() -> None:
    result = decided()
    for name in FIELDS:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(result, name, None)
    for name in ROW:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(result.arms[0], name, None)
    for name in ("candidates", "arms", "alarms"):
        assert isinstance(getattr(result, name), tuple)
    assert result == decided()


def test_the_options_of_a_decision_cannot_be_changed_from_outside() -> None:
    finder = ba.Identifier(2, delta=0.05, epsilon=0.1, sigma=0.01, method="g-cbai", alpha=0.0)
    while not finder.done:
        arm = finder.ask()
        finder.tell(arm, 1.0 if arm else 0.0)
    before = finder.result.to_json()
    with contextlib.suppress(TypeError):  # a read-only mapping is as good as a copy
        finder.result.options["alpha"] = 0.4
    assert finder.result.to_json() == before


def test_a_verdict_can_be_pickled_and_copied() -> None:
    result = decided()
    assert pickle.loads(pickle.dumps(result)) == result
    assert copy.deepcopy(result) == result
    assert str(pickle.loads(pickle.dumps(result))) == str(result)
