"""The verdict: one sentence, strict JSON, complete, and not to be tampered with."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import html
import json
import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import bestarm as ba
from bestarm.methods import METHODS

FIXTURES = Path(__file__).with_name("fixtures")
FIELDS = {
    *("status", "best", "candidates", "pulls", "delta", "epsilon", "sigma", "method", "options", "arms", "promise"),
    *("leader", "limit", "leads", "p_value", "tolerance", "overturn", "alarms", "bounds", "proved", "cancelled"),
    "waiting",
    "detectable",
}
READ_OFF = {"assumptions", "evidence"}  # the promise, one by one; the old name of p_value
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
    promise = METHODS[method].promised(result.options)
    assert result.proved == METHODS[method].certifies == (method == "certified")
    if result.proved:
        terms = f"wrong with probability at most 0.05 under its assumptions (sigma = 0.5, epsilon = 0.2: {promise})"
    else:
        terms = (
            "meant to be wrong with probability at most 0.05 (sigma = 0.5, epsilon = 0.2) "
            f"if {promise}; this is not proved."
        )
    assert f": {method} stopped after {result.pulls:,} rewards, {terms}" in sentence


TERMS = "wrong with probability at most 0.05 under its assumptions (sigma = 1, epsilon = 0.1: any adversary)"


def test_the_sentence_of_a_winner() -> None:
    start = (
        "'B' has the highest mean of 3 arms (estimate 2.5, next 'A' with 2.125): "
        f"certified stopped after 12,345 rewards, {TERMS}"
    )
    assert str(sample()) == (
        f"{start}; the same rewards would still single it out with epsilon up to 0.17, "
        "or with 21 rewards replaced on each arm."
    )
    assert str(sample(tolerance=None, overturn=None)) == f"{start}."
    in_all = str(sample(options={"contamination": "share-of-all"}))
    assert in_all.endswith("epsilon up to 0.17, or with 21 rewards replaced in all.")


def test_the_sentence_of_a_method_without_a_proof_says_so() -> None:
    text = str(sample(method="mean-se", promise="no reward is replaced", proved=False, tolerance=None, overturn=None))
    assert text == (
        "'B' has the highest mean of 3 arms (estimate 2.5, next 'A' with 2.125): mean-se stopped after 12,345 rewards, "
        "meant to be wrong with probability at most 0.05 (sigma = 1, epsilon = 0.1) if no reward is replaced; "
        "this is not proved."
    )
    bounded = str(sample(promise="no reward is replaced", proved=False, bounds=(1.0, 5.0)))
    assert "(rewards from 1 to 5, epsilon = 0.1) if no reward is replaced; this is not proved" in bounded


def test_the_sentence_names_bounds_in_place_of_sigma() -> None:
    text = str(sample(bounds=(1.0, 5.0)))
    assert "under its assumptions (rewards from 1 to 5, epsilon = 0.1: any adversary)" in text
    assert "sigma" not in text


def test_the_sentence_of_an_arm_that_is_good_enough() -> None:
    near = sample(options={"good_enough": 0.25}, candidates=("A", "B"), tolerance=None, overturn=None)
    assert str(near).startswith("'B' is within 0.25 of the highest mean of 3 arms (estimate 2.5")
    alone = sample(options={"good_enough": 0.25}, tolerance=None, overturn=None)
    assert str(alone).startswith("'B' has the highest mean of 3 arms (estimate 2.5")


NONE: dict[str, Any] = {"status": "indistinguishable", "best": None, "tolerance": None, "overturn": None}


def test_the_sentence_of_no_winner_says_why_and_no_more() -> None:
    hidden = str(sample(**NONE, candidates=("A", "B"), limit="contamination"))
    assert hidden == (
        "no winner is named among 'A' and 'B': certified stopped after 12,345 rewards, because contamination of this "
        "kind (epsilon = 0.1) could hide the remaining lead; more rewards of this kind would not settle it "
        f"(a judgement, not covered by delta); ruled out: 'C', {TERMS}."
    )
    small = str(sample(**NONE, candidates=("A", "B", "C"), limit="resolution", detectable=0.0214))
    assert small == (
        "no winner is named among 'A', 'B' and 'C': certified stopped after 12,345 rewards, at its resolution of 0.01: "
        "with as many clean rewards a lead of 0.021 of one arm over another would have been found with probability "
        "0.9; more rewards with a finer resolution may find a smaller one."
    )


def test_the_sentence_of_a_run_under_way() -> None:
    labels = tuple(f"arm {number}" for number in range(14))
    shown = ", ".join(repr(label) for label in labels[:10])
    under_way = sample(**{**NONE, "status": "undecided"}, candidates=labels)
    assert str(under_way) == (
        f"undecided so far among {shown} and 4 more: certified has not stopped after 12,345 rewards; "
        "'B' is ahead, but that is not proved."
    )
    stopped = dataclasses.replace(under_way, limit="budget", leader=None)
    assert str(stopped).endswith("certified was stopped from outside after 12,345 rewards; more may decide it.")


def test_alarms_are_said_aloud_and_take_the_promise_back() -> None:
    text = str(sample(alarms=("more outliers than epsilon allows", "sigma is too small")))
    assert text.endswith(
        "certified stopped after 12,345 rewards, no probability is claimed, as the rewards contradict the assumptions "
        "(sigma = 1, epsilon = 0.1). Alarm: more outliers than epsilon allows. Alarm: sigma is too small."
    )
    assert text.startswith("'B' comes first of 3 arms")
    assert "highest mean" not in text
    assert "wrong with probability" not in text


def test_the_sentence_is_there_before_any_reward() -> None:
    finder = ba.Identifier(["A", "B"], delta=0.1, epsilon=0.25, sigma=2.0, method="mean-gap")
    assert str(finder.result) == "undecided so far among 'A' and 'B': mean-gap has not stopped after 0 rewards."


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
        "options": {"resolution": 0.01, "contamination": "prescient", "depth": math.inf},
        "arms": rows,
        "promise": "any adversary",
        "leader": "B",
        "leads": {"A": 0.125, "C": -math.inf},
        "p_value": 0.01,
        "tolerance": 0.17,
        "overturn": 21,
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
        "options": {"resolution": 0.01, "contamination": "prescient", "depth": None},
        "arms": [
            {"label": "A", "pulls": 5000, "estimate": 2.125, "lower": 1.75, "upper": 2.25, "active": True},
            {"label": "B", "pulls": 7000, "estimate": 2.5, "lower": 2.375, "upper": 2.625, "active": True},
            {"label": "C", "pulls": 345, "estimate": None, "lower": None, "upper": None, "active": False},
        ],
        "promise": "any adversary",
        "leader": "B",
        "limit": None,
        "leads": {"A": 0.125, "C": None},
        "p_value": 0.01,
        "evidence": 0.01,
        "tolerance": 0.17,
        "overturn": 21,
        "alarms": ["one"],
        "bounds": None,
        "proved": True,
        "cancelled": 0,
        "waiting": {"rewards": 0, "pulls": []},
        "detectable": None,
        "assumptions": ["any adversary"],
    }


@pytest.mark.parametrize("method", sorted(METHODS))
def test_dict_and_json_of_a_real_verdict_hold_all_of_it(method: str) -> None:
    result = decided(method)
    plain, read = result.to_dict(), strict(result.to_json())
    assert set(plain) == set(read) == FIELDS | READ_OFF
    assert {field.name for field in dataclasses.fields(result)} == FIELDS
    assert all(set(row) == ROW for row in read["arms"])
    assert {label: lead for label, lead in read["leads"].items() if lead is not None} == {
        label: lead for label, lead in result.leads.items() if math.isfinite(lead)
    }
    for name in FIELDS - {"arms", "candidates", "alarms", "options", "leads"}:
        value = result.waiting.to_dict() if name == "waiting" else getattr(result, name)
        assert plain[name] == read[name] == value
    assert read["options"] == plain["options"] == result.options
    assert [ba.ArmRow(**row) for row in plain["arms"]] == list(result.arms)
    for row, text in zip(result.arms, read["arms"], strict=True):
        for name, value in vars(row).items():  # floats survive the text to the last bit
            assert text[name] == (value if not isinstance(value, float) or math.isfinite(value) else None)
    assert (plain["candidates"], plain["alarms"]) == (list(result.candidates), list(result.alarms))


def test_the_p_value_can_be_had_by_its_old_name_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="now called p_value"):
        assert sample().evidence == sample().p_value == 0.01


@pytest.mark.parametrize(("name", "best", "pulls"), [("result", "A", 8), ("log_result", "B", 100)])
def test_a_pickle_of_version_0_1_0_can_be_read(name: str, best: str, pulls: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it has import paths of that version
        old = pickle.loads((FIXTURES / f"{name}_0.1.0.pickle").read_bytes())
    assert (old.best, old.pulls) == (best, pulls)
    assert 0.0 < old.p_value < old.delta
    assert old.to_dict()["evidence"] == old.p_value
    assert str(old).startswith(f"{best!r} has the highest mean of 2 arms")


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


def test_the_table_of_arms_and_the_picture() -> None:
    frame = sample().to_frame()
    assert frame["label"].tolist() == ["A", "B", "C"]
    assert frame["lead"].tolist()[::2] == [0.125, -math.inf]
    axes = sample().plot().axes[0]
    assert axes.get_title(loc="left") == "B is named after 12,345 rewards"
    assert [text.get_text() for text in axes.get_yticklabels()] == ["B (7,000)", "A (5,000)", "C (345)"]
    assert sample(best=None, status="undecided").plot().axes[0].get_title(loc="left").startswith("no winner is named")


def test_the_picture_has_leads_beside_intervals_and_goes_on_given_axes() -> None:
    intervals, leads = sample().plot().axes
    assert leads.get_xlabel() == "lead of B over the arm, if B is the best: at least, all together"
    marks = [float(np.asarray(line.get_xdata())[0]) for line in leads.lines if line.get_marker() == "|"]
    assert marks == [0.125]  # nothing is known of the lead over C
    assert len(sample(leads={}).plot().axes) == 1
    figure = Figure()
    first, second = figure.subplots(1, 2)
    assert sample().plot(second) is figure
    assert (len(first.lines), len(second.lines)) == (0, 6)
    faded = [line.get_alpha() for line in second.lines[::2]]
    assert faded == [1.0, *[0.45 if label not in sample().candidates else 1.0 for label in ("A", "C")]]
    assert len(intervals.lines) == 6


def test_a_notebook_shows_the_sentence_and_the_arms() -> None:
    page = sample()._repr_html_()
    assert html.escape(str(sample())) in page
    assert "<td><b>B</b></td><td>7,000</td>" in page
    assert page.count("<tr") == 4
    assert "<td>0.125</td>" in page
    many = dataclasses.replace(sample(), arms=sample().arms * 20)._repr_html_()
    assert "and 10 more arms" in many
    odd = dataclasses.replace(sample(), arms=(dataclasses.replace(sample().arms[0], label="<b>&"),))
    assert "<td>&lt;b&gt;&amp;</td>" in odd._repr_html_()


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
