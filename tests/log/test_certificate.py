"""Certificates: the hash by a twin of ten lines, the same from every format and order, and no forgery that verifies."""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bestarm as ba
from bestarm.log.certificate import TOLERANCE, checksum

STARS: dict[str, Any] = {"arm": "caption", "reward": "stars", "bounds": (1, 5), "epsilon": 0.01}
FIRST = {**STARS, "source": "voter"}


def votes(seed: int = 0, number: int = 1200) -> pd.DataFrame:
    """Votes of 300 people, some of them twice for a caption, each at a time of its own."""
    random = np.random.default_rng(seed)
    caption = random.integers(0, 3, number)
    return pd.DataFrame(
        {
            "voter": [f"user {index}" for index in random.integers(0, 300, number)],
            "caption": np.array(["A", "Bé", "10"])[caption],
            "stars": np.clip(np.round(random.normal(2.0 + caption, 1.0)), 1, 5).astype(int),
            "time": pd.Timestamp("2024-05-01") + pd.to_timedelta(random.permutation(number), unit="s"),
        }
    )


def twin_of_rows(frame: pd.DataFrame) -> str:
    """The hash as the guide defines it, in plain Python."""
    rows = Counter((str(arm), float(reward)) for arm, reward in zip(frame["caption"], frame["stars"], strict=True))
    text = '["arm", "reward", "count"]\n'
    for (arm, reward), count in sorted(rows.items()):
        text += json.dumps([arm, reward, count]) + "\n"
    return hashlib.sha256(text.encode()).hexdigest()


def twin_of_sources(frame: pd.DataFrame, *, paired: bool = False) -> str:
    """The same where sources are compared; the rows of the frame are in order."""
    firsts: dict[str, dict[str, float]] = {}
    for who, arm, reward in zip(frame["voter"], frame["caption"], frame["stars"], strict=True):
        firsts.setdefault(str(who), {}).setdefault(str(arm), float(reward))
    text = '["source", "rank", "arm", "reward"]\n'
    for who in sorted(firsts):
        ranked = [(0 if paired else rank, *pair) for rank, pair in enumerate(firsts[who].items())]
        for rank, arm, reward in sorted(ranked):
            text += json.dumps([who, rank, arm, reward]) + "\n"
    return hashlib.sha256(text.encode()).hexdigest()


def certificate(data: Any, **question: Any) -> dict[str, Any]:
    return ba.identify_log(data, **question).certificate()


def resealed(forged: dict[str, Any]) -> dict[str, Any]:
    """A forgery by somebody who knows how the checksum is made."""
    return {**forged, "checksum": checksum(forged)}


# ------------------------------------------------------------------------------------------------------------ the hash


def test_the_hash_is_that_of_ten_lines_of_python() -> None:
    frame = votes()
    assert certificate(frame, **STARS)["rows"]["sha256"] == twin_of_rows(frame)
    by_time = frame.sort_values("time")
    assert certificate(frame, **FIRST)["rows"]["sha256"] == twin_of_sources(by_time)
    assert certificate(frame, **FIRST, time=False)["rows"]["sha256"] == twin_of_sources(frame)
    assert twin_of_sources(by_time) != twin_of_sources(frame)
    assert certificate(frame, **FIRST, paired=True)["rows"]["sha256"] == twin_of_sources(by_time, paired=True)


def test_the_hash_of_many_different_rewards_and_of_negative_zero() -> None:
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"caption": ["A", "B"] * 3000, "stars": random.normal(size=6000) + [0.0, 1.0] * 3000})
    frame.loc[:9, "stars"] = [-0.0, 0.0, 1e-300, 1e22, 0.1 + 0.2, 1 / 3, -5e-324, 3.0, 1e16, 123456789.123]
    found = certificate(frame, arm="caption", reward="stars", sigma=1e22, epsilon=0.01)
    assert found["rows"]["sha256"] == twin_of_rows(frame.assign(stars=frame["stars"] + 0.0))
    assert found["rows"]["hashed"] == 6000


def test_counts_give_the_hash_of_the_rows_that_they_count() -> None:
    frame = votes()
    table = frame.groupby(["caption", "stars"]).size().reset_index(name="count")
    rows, counted = certificate(frame, **STARS), certificate(table, **STARS)
    assert counted["rows"]["sha256"] == rows["rows"]["sha256"]
    assert counted["question"]["counted"] == "count"  # as it was guessed


def test_missing_rewards_that_count_as_fake_are_hashed() -> None:
    frame = votes().astype({"stars": float})
    frame.loc[[3, 5], "stars"] = np.nan
    found = certificate(frame, **STARS, missing="replaced")
    dropped = certificate(frame, **STARS, missing="drop")
    assert found["rows"]["sha256"] != dropped["rows"]["sha256"] == twin_of_rows(frame.dropna())
    assert (found["rows"]["missing"], found["rows"]["hashed"], dropped["rows"]["hashed"]) == (2, 1200, 1198)
    assert ba.verify_certificate(found, frame.sample(frac=1, random_state=0)).holds


# ------------------------------------------------------------------------------------- other formats, orders, machines


def formats(frame: pd.DataFrame, folder: Path) -> Iterator[Any]:
    shuffled = frame.sample(frac=1, random_state=7)[list(frame.columns)[::-1]]
    yield shuffled
    shuffled.to_csv(folder / "log.csv", index=False, sep=";")
    yield folder / "log.csv"
    (folder / "log.csv.gz").write_bytes(gzip.compress((folder / "log.csv").read_bytes()))
    yield folder / "log.csv.gz"
    shuffled.to_parquet(folder / "log.parquet")
    yield folder / "log.parquet"
    shuffled.to_json(folder / "log.jsonl", orient="records", lines=True, date_format="iso")
    yield folder / "log.jsonl"
    for index, part in enumerate((shuffled[:500], shuffled[500:])):
        part.to_csv(folder / f"part-{index}.csv", index=False)
    yield [folder / "part-1.csv", folder / "part-0.csv"]


@pytest.mark.parametrize("question", [STARS, FIRST, {**FIRST, "paired": True}])
def test_it_holds_for_the_same_rows_in_every_format_and_order(question: dict[str, Any], tmp_path: Path) -> None:
    frame = votes()
    frame.to_csv(tmp_path / "first.csv", index=False)
    ba.identify_log(tmp_path / "first.csv", **question).certificate(tmp_path / "certificate.json")
    for data in formats(frame, tmp_path):
        found = ba.verify_certificate(tmp_path / "certificate.json", data)
        assert found.holds, found
        assert found.reasons == ()


def test_it_does_not_hold_for_other_rows() -> None:
    frame = votes()
    claimed = certificate(frame, **STARS)
    one_more = pd.concat([frame, frame[:1]])
    assert ba.verify_certificate(claimed, one_more).reasons[0] == (
        "The log has other rows: 1,201, where the certificate has 1,200."
    )
    stars = frame["stars"].to_numpy().copy()
    stars[17] = 6 - stars[17] if stars[17] != 3 else 1
    found = ba.verify_certificate(claimed, frame.assign(stars=stars))
    assert not found.holds
    assert found.reasons[0] == "The log has other rows: as many (1,200), but not the same."
    assert str(found).startswith("The certificate does not hold for this log.\nThe log has other rows")


def test_sources_without_a_time_need_the_order_of_the_file() -> None:
    frame = votes().drop(columns="time")
    claimed = certificate(frame, **FIRST)
    assert claimed["rows"]["order"] == "file"
    assert ba.verify_certificate(claimed, frame).holds
    assert not ba.verify_certificate(claimed, frame[::-1]).holds
    by_turns = frame.sort_values("voter", kind="stable")  # each voter's own rows stay in order
    assert ba.verify_certificate(claimed, by_turns).holds
    assert certificate(votes(), **FIRST)["rows"]["order"] == "time"
    assert certificate(frame, **STARS)["rows"]["order"] is None


def test_a_renamed_source_is_another_row() -> None:
    frame = votes()
    renamed = frame.assign(voter=frame["voter"].replace("user 7", "user 7x"))
    found = ba.verify_certificate(certificate(frame, **FIRST), renamed)
    assert len(found.reasons) == 1
    assert found.reasons[0] == "The log has other rows: as many (1,200), but not the same."


# --------------------------------------------------------------------------------------------------------- the question


@pytest.mark.parametrize(
    "question",
    [
        {"contamination": "prescient"},
        {"contamination": "share-of-arm"},
        {"good_enough": 0.5},
        {"delta": 0.2},
        {"source": "voter"},
        {"source": "voter", "contamination": "share-of-all"},
        {"contamination": "sources"},
        {"bounds": None, "sigma": 1.5},
        {"bounds": None, "sigma": "estimate"},
        {"bounds": None, "sigma": "estimate", "seed": 5},
        {"epsilon": 0.4},
        {"on_bad_row": "skip"},
    ],
)
def test_each_setting_is_repeated(question: dict[str, Any]) -> None:
    frame = votes()
    if question.get("on_bad_row"):
        frame = pd.concat([frame, frame[:3].assign(stars=9)])
    claimed = json.loads(json.dumps(certificate(frame, **{**STARS, **question})))
    for name, value in question.items():
        assert claimed["question"][name] == value
    found = ba.verify_certificate(claimed, frame)
    assert found.holds, found


def test_guessed_columns_are_recorded_by_name() -> None:
    frame = votes()
    claimed = certificate(frame, bounds=(1, 5), epsilon=0.01)
    assert (claimed["question"]["arm"], claimed["question"]["reward"]) == ("caption", "stars")
    assert claimed["question"]["source"] is None  # one that looks like it was not used
    assert ba.verify_certificate(claimed, frame.assign(score=3, variant="x")).holds  # nothing is guessed again


def test_wide_and_counted_layouts_are_repeated() -> None:
    random = np.random.default_rng(1)
    wide = pd.DataFrame(random.integers(0, 2, (300, 3)) * [1, 1, 0], columns=["x", "y", "z"])
    claimed = certificate(wide, wide=True, bounds=(0, 1), epsilon=0.01)
    assert claimed["question"]["wide"] == ["x", "y", "z"]
    assert ba.verify_certificate(claimed, wide[["z", "x", "y"]]).holds
    contest = pd.DataFrame({"caption": ["A", "B"], "unfunny": [50, 900], "somewhat_funny": [9, 9], "funny": [900, 50]})
    claimed = certificate(contest, bounds=(1, 3), epsilon=0.01)
    assert claimed["question"]["counted"] == {"unfunny": 1.0, "somewhat_funny": 2.0, "funny": 3.0}
    assert ba.verify_certificate(claimed, contest[::-1]).holds


# ----------------------------------------------------------------------------------------------------------- forgeries


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the path of each value that is neither a list nor a dict, or is an empty one."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = list(items)
    if not found:
        yield path
    for name, item in found:
        yield from leaves(item, (*path, name))


def edited(claimed: dict[str, Any], path: tuple[Any, ...], change: Callable[[Any], Any]) -> dict[str, Any]:
    forged = copy.deepcopy(claimed)
    inner: Any = forged
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = change(inner[path[-1]])
    return forged


def another(value: Any) -> Any:
    """A value of the same kind that is not the same."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * (1.0 + 1e-6) if value else 1e-6
    if isinstance(value, str):
        return value + "x"
    return ["x"] if isinstance(value, list) else {"x": 1} if isinstance(value, dict) else 0.5


def test_no_edited_number_or_word_verifies_even_with_a_checksum_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = votes()
    result = ba.identify_log(frame, **STARS)
    claimed = result.certificate()
    monkeypatch.setattr("bestarm.log.verdict.identify_log", lambda *_, **__: result)  # the same, 100 times as fast
    assert ba.verify_certificate(claimed, frame).holds
    parts = ("rows", "assumptions", "evidence", "verdict")
    paths = [path for path in leaves(claimed) if path[0] in parts]
    assert len(paths) > 40
    for path in paths:
        found = ba.verify_certificate(resealed(edited(claimed, path, another)), frame)
        assert not found.holds, path
        assert len(found.reasons) == 1, path


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict", "best"), "A"),
        (("verdict", "status"), "undecided"),
        (("evidence", "p_value"), 1e-9),
        (("evidence", "overturn"), 1000),
        (("evidence", "arms", 0, "rewards"), 399),
        (("rows", "sha256"), "0" * 64),
        (("rows", "read"), 80_000),
        (("question", "delta"), 0.01),
        (("question", "epsilon"), 0.02),
        (("question", "bounds"), [0, 5]),
        (("question", "contamination"), "share-of-arm"),
        (("question", "arm"), "voter"),
        (("question", "arm"), "no such column"),
        (("question", "delta"), 7),
        (("question", "good_enough"), 3.0),
    ],
)
def test_a_forged_certificate_does_not_verify(path: tuple[Any, ...], value: Any) -> None:
    frame = votes()
    forged = edited(certificate(frame, **STARS), path, lambda _: value)
    assert not ba.verify_certificate(resealed(forged), frame).holds
    assert not ba.verify_certificate(forged, frame).holds


def test_a_setting_that_changes_nothing_is_noticed_by_the_checksum() -> None:
    frame = votes()
    forged = edited(certificate(frame, **STARS), ("question", "on_bad_row"), lambda _: "skip")
    assert ba.verify_certificate(forged, frame).reasons == (
        "The certificate was changed after it was written: its checksum does not fit.",
    )


def test_a_question_that_cannot_be_asked_is_a_reason() -> None:
    frame = votes()
    found = ba.verify_certificate(certificate(frame, **STARS), frame.rename(columns={"stars": "points"}))
    assert not found.holds
    assert found.result is None
    assert found.reasons[0].startswith("Its question cannot be asked of this log: reward must name one of the columns")


def test_numbers_may_differ_by_what_machines_round_differently() -> None:
    frame = votes()
    claimed = certificate(frame, **STARS)
    assert TOLERANCE == 1e-9
    for factor, holds in ((1.0 + 1e-10, True), (1.0 + 1e-8, False)):
        for path in (("evidence", "p_value"), ("evidence", "arms", 1, "mean"), ("evidence", "arms", 1, "lower")):
            forged = edited(claimed, path, lambda value, factor=factor: value * factor)  # type: ignore[misc]
            assert ba.verify_certificate(resealed(forged), frame).holds is holds
    tiny = edited(claimed, ("evidence", "p_value"), lambda _: 1e-300)
    assert not ba.verify_certificate(resealed(tiny), frame).holds


def test_another_version_is_named_where_numbers_differ() -> None:
    frame = votes()
    older = resealed({**certificate(frame, **STARS), "bestarm": "0.0.9"})
    assert ba.verify_certificate(older, frame).holds
    forged = resealed(edited(older, ("evidence", "overturn"), lambda count: count + 1))
    first, last = ba.verify_certificate(forged, frame).reasons
    assert first.startswith("evidence.overturn: the certificate says ")
    assert last.startswith("It was made by bestarm 0.0.9; this is ")


# ----------------------------------------------------------------------------------------------------- what is rejected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "be a certificate in JSON"),
        ("[1]", "be a certificate"),
        ("{}", "have 'format'"),
        ('{"format": 1, "bestarm": "0.1.0"}', "have 'question'"),
        ('{"format": 2, "bestarm": "0.9.0"}', "install a version of bestarm that knows it"),
    ],
)
def test_a_file_that_is_no_certificate_is_bad_input(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "file.json").write_text(text, encoding="utf-8")
    with pytest.raises(ba.InputError, match=said):
        ba.verify_certificate(tmp_path / "file.json", votes())


def test_absent_files_and_unknown_parts_are_bad_input(tmp_path: Path) -> None:
    claimed = certificate(votes(), **STARS)
    with pytest.raises(ba.NotFoundError):
        ba.verify_certificate(tmp_path / "none.json", votes())
    with pytest.raises(ba.NotFoundError):
        ba.verify_certificate(claimed, tmp_path / "none.csv")
    with pytest.raises(ba.InputError, match="nothing but"):
        ba.verify_certificate({**claimed, "note": "trust me"}, votes())
    with pytest.raises(ba.InputError, match="settings that this version knows"):
        ba.verify_certificate(edited(claimed, ("question",), lambda asked: {**asked, "replay": {}}), votes())


def test_a_certificate_is_of_a_verdict_on_a_log_that_others_can_repeat(tmp_path: Path) -> None:
    frame = votes()
    result = ba.identify_log(frame, **STARS)
    for other in (replace(result, best="A"), pickle.loads(pickle.dumps(result))):
        with pytest.raises(ba.InputError, match="be of a result that identify_log has just returned"):
            other.certificate()
    with pytest.raises(ba.InputError, match="be of a verdict on all rows"):
        ba.identify_log(frame, **STARS, sequential=True).certificate()
    with pytest.raises(ba.InputError, match="be a file that can be written"):
        result.certificate(tmp_path / "no folder" / "certificate.json")


def test_a_result_says_the_same_with_and_without_a_certificate() -> None:
    result = ba.identify_log(votes(), **STARS)
    before = result.to_json()
    claimed = result.certificate()
    assert result.to_json() == before == ba.identify_log(votes(), **STARS).to_json()
    assert result.certificate() == claimed
    assert list(json.loads(json.dumps(claimed, sort_keys=True))) == sorted(claimed)


def test_columns_that_inspection_guesses_do_not_depend_on_the_order_of_columns() -> None:
    random = np.random.default_rng(8)
    day, os = random.integers(0, 20, 8000), random.choice(["ios", "android"], 8000)
    is_b = random.random(8000) < 0.1 + 0.04 * day
    log = pd.DataFrame({"variant": np.where(is_b, "b", "a"), "converted": random.binomial(1, 0.05 + 0.02 * day)})
    dates = (pd.Timestamp("2026-03-02") + pd.to_timedelta(day, unit="D")).strftime("%Y-%m-%d")
    log = log.assign(zeit=dates, abruf=random.permutation(dates), market=random.choice(["DE", "FR"], 8000), os=os)
    said = certificate(log[log.columns[::-1]])
    for columns in (
        list(log.columns[::-1]),
        sorted(log.columns),
        ["zeit", "os", "variant", "abruf", "market", "converted"],
    ):
        assert ba.verify_certificate(said, log[columns].sample(frac=1.0, random_state=3)).holds
