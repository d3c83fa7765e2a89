"""Reading logs: every format gives the same rewards, and every bad file its reason, with the right line."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bestarm.bandits.datasets import caption_contest
from bestarm.errors import InputError, UnclearError
from bestarm.log.reading import read_log
from bestarm.log.rewards import Rewards
from places import DATA, needs_files

VOTES = [("A", 1.0), ("B", 5.0), ("A", 2.5), ("Ça, va", 4.0), ("B", 5.0), ("Ça, va", 3.0)]


def csv_text(rows: list[tuple[str, float]], delimiter: str = ",", decimal: str = ".", end: str = "\n") -> str:
    lines = [f"arm{delimiter}reward"]
    for arm, reward in rows:
        quoted = '"' + arm.replace('"', '""') + '"'
        number = repr(reward).replace(".", decimal)
        lines.append(f"{quoted}{delimiter}" + (f'"{number}"' if delimiter == decimal else number))
    return end.join(lines) + end


def written(folder: Path, content: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def content(rewards: Rewards) -> dict[Any, list[float]]:
    return {label: rewards.all_of(place).tolist() for place, label in enumerate(rewards.labels)}


EXPECTED = {"A": [1.0, 2.5], "B": [5.0, 5.0], "Ça, va": [3.0, 4.0]}


def refused(path: Any, **options: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        read_log(path, **options)
    return caught.value


# ------------------------------------------------------------------------------------------------------------- formats


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^"])
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_decimal_commas_and_line_breaks(tmp_path: Path, delimiter: str, decimal: str, end: str) -> None:
    rewards = read_log(written(tmp_path, csv_text(VOTES, delimiter, decimal, end)))
    assert content(rewards) == EXPECTED
    assert any("decimal comma" in guess for guess in rewards.health.guesses) == (decimal == ",")


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16-LE"),
        ("utf-16-be", "UTF-16-BE"),
        ("latin-1", "Latin-1"),
        ("cp1252", "Latin-1"),
    ],
)
def test_encodings(tmp_path: Path, encoding: str, said: str | None) -> None:
    path = written(tmp_path, csv_text(VOTES).encode(encoding))
    rewards = read_log(path)
    assert content(rewards) == EXPECTED
    notes = [guess for guess in rewards.health.guesses if "UTF-8" in guess]
    assert (said is None and not notes) or (said is not None and said in notes[0])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32"])
def test_a_short_table_with_more_signs_than_letters_in_a_wide_encoding(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path, 'arm^reward\n"Ça"^"1,5"\n\'inf\'^"2,5"\n'.encode(encoding))
    assert content(read_log(path)) == {"'inf'": [2.5], "Ça": [1.5]}


def test_latin_1_far_below_the_first_megabyte(tmp_path: Path) -> None:
    text = "arm,reward\n" + "A,1\nB,2\n" * 200_000 + "Ça,3\n"
    rewards = read_log(written(tmp_path, text.encode("latin-1")))
    assert rewards.labels == ("A", "B", "Ça")
    assert rewards.numbers.tolist() == [200_000, 200_000, 1]


def test_a_byte_that_is_not_utf8_in_a_file_that_is_does_not_make_it_latin_1(tmp_path: Path) -> None:
    path = written(tmp_path, "arm,reward\nÇa,1\nB,2\n".encode() + b"\xc7a,3\n" + b"B,4\n")
    # 1 bad byte at the top makes the whole file undecodable there, so put it below the part that is looked at.
    far = written(tmp_path, "arm,reward\nÇa,1\n".encode() + b"B,2\n" * 300_000 + b"\xc7a,3\nB,4\n", "far.csv")
    assert read_log(path).labels[0] != "Ça"  # mojibake, and said so
    error = refused(far)
    assert error.parameter == f"line 300003 of {far}"
    assert error.rule == "be in UTF-8, as the rows before it are"
    assert read_log(far, on_bad_row="skip").health.bad_rows == 1


@pytest.mark.parametrize("packed", ["gz", "zst"])
@pytest.mark.parametrize("name", ["log.csv.{}", "log"])
def test_compression_is_seen_from_the_bytes(tmp_path: Path, packed: str, name: str) -> None:
    data = csv_text(VOTES).encode()
    path = written(tmp_path, PACKED[packed](data), name.format(packed))
    assert content(read_log(path)) == EXPECTED


def _zst(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


PACKED: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "zst": _zst}


def test_json_lines_and_an_array(tmp_path: Path) -> None:
    rows = [{"arm": arm, "reward": reward} for arm, reward in VOTES]
    lines = "\n".join(json.dumps(row) for row in rows) + "\n\n"
    assert content(read_log(written(tmp_path, lines, "log.jsonl"))) == EXPECTED
    assert content(read_log(written(tmp_path, _zst(lines.encode()), "log.jsonl.zst"))) == EXPECTED
    assert content(read_log(written(tmp_path, json.dumps(rows), "log.json"))) == EXPECTED
    assert content(read_log(written(tmp_path, json.dumps(rows, indent=2), "log2.json"))) == EXPECTED


def test_tables(tmp_path: Path) -> None:
    frame = pd.DataFrame(VOTES, columns=["arm", "reward"])
    frame["arm"] = frame["arm"].astype(object)
    table = pa.Table.from_pandas(frame)
    pq.write_table(table, tmp_path / "log.parquet")
    for data in (frame, frame.astype({"arm": "category"}), frame.astype({"arm": "string"}), table):
        assert content(read_log(data)) == EXPECTED
    assert content(read_log(tmp_path / "log.parquet")) == EXPECTED


def test_labels_are_texts_in_an_order_that_rows_do_not_change() -> None:
    frame = pd.DataFrame({"arm": [10.0, 9.0, 2.0, np.nan, 10.0], "reward": [True, False, True, True, False]})
    rewards = read_log(frame, on_bad_row="skip")
    assert rewards.labels == ("2", "9", "10")
    assert content(rewards) == {"2": [1.0], "9": [0.0], "10": [0.0, 1.0]}
    assert rewards.health.blank_arms == 1
    assert rewards.health.seen_once == ("2", "9")


def test_several_files_by_pattern_and_list_each_in_its_own_way(tmp_path: Path) -> None:
    written(tmp_path, csv_text(VOTES[:2], ";"), "a 1.csv")
    written(tmp_path, gzip.compress(csv_text(VOTES[2:4]).encode("utf-16")), "a 2.csv")
    pq.write_table(pa.table({"reward": [5.0, 3.0], "arm": ["B", "Ça, va"]}), tmp_path / "a [3].csv")
    assert content(read_log(str(tmp_path / "a*.csv"))) == EXPECTED
    assert content(read_log(sorted(tmp_path.iterdir()))) == EXPECTED


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(csv_text(VOTES).encode()))))
    rewards = read_log("-")
    assert content(rewards) == EXPECTED
    assert rewards.health.files == ("standard input",)


def test_wide(tmp_path: Path) -> None:
    path = written(tmp_path, "voter,A,B\nx,1,2\ny,3,4\n")
    rewards = read_log(path, wide=True, source=True)
    assert content(rewards) == {"A": [1.0, 3.0], "B": [2.0, 4.0]}
    assert content(read_log(path, wide=True)) == content(rewards)  # who is no arm, though nobody asked for it
    assert rewards.health.rows == 2
    assert rewards.sources is not None
    assert rewards.sources.number == 2
    assert sorted(rewards.sources.value.tolist()) == [1.0, 2.0, 3.0, 4.0]
    assert content(read_log(path, wide=["B", "A"], source=False)) == content(rewards)


def test_wide_without_some_cells(tmp_path: Path) -> None:
    path = written(tmp_path, "A,B\n1,2\n3,\n")
    assert refused(path, wide=True).parameter == "missing"
    assert content(read_log(path, wide=True, missing="drop")) == {"A": [1.0, 3.0], "B": [2.0]}
    assert read_log(path, wide=True, missing="replaced").missing.tolist() == [0, 1]


def test_counted(tmp_path: Path) -> None:
    expected = {"A": [1.0, 1.0, 5.0], "B": [5.0, 5.0]}
    long = written(tmp_path, "arm,stars,count\nA,1,2\nA,5,1\nB,5,2\nB,1,0\n", "long.csv")
    assert content(read_log(long, counted=True)) == expected
    assert content(read_log(long, counted="count")) == expected
    columns = written(tmp_path, "arm,1,5\nA,2,1\nB,0,2\n", "columns.csv")
    guessed = read_log(columns)
    assert content(guessed) == expected
    assert "The columns '1', '5' were taken for counts" in guessed.health.guesses[0]
    named = written(tmp_path, "arm,bad,good\nA,2,1\nB,0,1\nB,0,1\n", "named.csv")
    rewards = read_log(named, counted={"bad": 1, "good": 5})
    assert content(rewards) == expected
    assert rewards.health.repeated == 1
    error = refused(written(tmp_path, "arm,stars,count\nA,1,2\nA,5,-1\n"), counted=True)
    assert (error.parameter[:6], error.rule, error.received) == ("line 3", "have a whole number >= 0 as count", "-1")


@needs_files
@pytest.mark.parametrize(("contest", "rewards"), [(536, 415_065), (651, 2_249_813)])
def test_the_contests_are_read_as_their_loader_does(contest: int, rewards: int) -> None:
    path = next((DATA / "nycc").glob(f"{contest}_*.csv"))
    found, known = read_log(path), caption_contest(contest, path=path)
    assert found.total == known.ratings == rewards
    assert found.counts is not None
    expected = {caption.strip(): counts for caption, counts in zip(known.captions, known.counts, strict=True)}
    for label, values, counts in zip(found.labels, found.values, found.counts, strict=True):
        assert dict(zip(values, counts, strict=True)) == {
            value: count for value, count in zip((1.0, 2.0, 3.0), expected[str(label)], strict=True) if count
        }


@given(
    rows=st.lists(
        st.tuples(
            st.text(st.sampled_from("abÇß, ;'\"\t|\n#"), min_size=1, max_size=6).filter(
                lambda text: text.strip() == text
            ),
            st.sampled_from([0.0, 0.5, 1.0, 12.25, -3.0, 1e-3]),
        ),
        min_size=2,
        max_size=20,
    ).filter(lambda rows: len({arm for arm, _ in rows}) > 1),
    shuffle=st.randoms(use_true_random=False),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    packed=st.sampled_from(["", "gz", "zst"]),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_format_and_order_do_not_matter(
    tmp_path: Path, rows: list[tuple[str, float]], shuffle: Any, delimiter: str, encoding: str, packed: str
) -> None:
    expected = read_log(pd.DataFrame(rows, columns=["arm", "reward"]))
    rows = [*rows]
    shuffle.shuffle(rows)
    text = csv_text(rows, delimiter).encode(encoding)
    lines = "\n".join(json.dumps({"arm": arm, "reward": reward}) for arm, reward in rows)
    pq.write_table(
        pa.table({"arm": [arm for arm, _ in rows], "reward": [reward for _, reward in rows]}), tmp_path / "p"
    )
    for found in (
        read_log(written(tmp_path, PACKED[packed](text) if packed else text)),
        read_log(written(tmp_path, lines, "j")),
        read_log(tmp_path / "p"),
    ):
        assert found.labels == expected.labels
        assert content(found) == content(expected)
        assert (found.counts is None) == (expected.counts is None)


def test_many_different_rewards_are_kept_one_by_one_and_few_are_counted(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    frame = pd.DataFrame({"arm": generator.integers(0, 7, 30_000).astype(str), "reward": generator.normal(size=30_000)})
    frame.to_csv(tmp_path / "log.csv", index=False)
    many = read_log(tmp_path / "log.csv")
    assert many.counts is None
    for place, label in enumerate(many.labels):
        assert many.values[place].tolist() == sorted(frame.reward[frame.arm == label])
    few = read_log(frame.assign(reward=frame.reward.round(1)))
    assert few.counts is not None
    assert few.total == 30_000
    assert few.means.tolist() == pytest.approx(frame.reward.round(1).groupby(frame.arm).mean().tolist())


# ------------------------------------------------------------------------------------------------------------- sources


def test_the_first_reward_of_a_source_counts_in_the_order_of_time_or_else_of_the_file(tmp_path: Path) -> None:
    rows = ("2024-05-02 10:00,x,A,1", "2024-05-01,x,A,5", "2024-05-03T00:00:00Z,y,B,2", "2024-05-02,x,B,4")
    text = "\n".join(("time,voter,caption,stars", *rows)) + "\n"
    path = written(tmp_path, text)
    timed, untimed = read_log(path, source=True), read_log(path, source=True, time=False)
    assert timed.sources is not None
    assert untimed.sources is not None
    assert timed.sources.value.tolist() == [5.0, 4.0, 2.0]
    assert timed.sources.arm.tolist() == [0, 1, 1]
    assert timed.sources.source.tolist() == [0, 0, 1]
    assert untimed.sources.value.tolist() == [1.0, 2.0, 4.0]
    assert untimed.sources.source.tolist() == [0, 1, 0]
    assert timed.health.repeated == untimed.health.repeated == 1
    assert timed.total == 4
    assert read_log(path, source=False).sources is None
    unasked = read_log(path)
    assert unasked.sources is None
    assert (
        "The column 'voter' may say who gave a reward; the verdict does not use it: with source='voter', fake sources "
        "are counted and not fake rows."
    ) in unasked.health.guesses
    assert "The column 'voter' was taken for the source, by its name." in timed.health.guesses


@pytest.mark.parametrize("many", [False, True])  # many different rewards are understood row by row
def test_sources_with_spaces_and_rows_without_a_source_or_a_time(tmp_path: Path, many: bool) -> None:
    rows = ["2024-05-02 10:00:00, x ,A,1", "2024-05-01T10:00:00,x,A ,5", "2024-05-01 12:00:00+02:00,y,B,2"]
    rows += ["2024-05-01 10:00:01,y,A,\t4", "1714557600.5,y,B,1", "2024-05-01 10:00:00,,B,3", "never,z,B,3"]
    rows += [f"2024-06-01 10:00:00,late{place},B,{place / 4096}" for place in range(2000 if many else 0)]
    path = written(tmp_path, "\n".join(("time,voter,caption,stars", *rows)) + "\n")
    found = read_log(path, source="voter", time="time", on_bad_row="skip")
    assert found.health.bad_rows == 2
    table = found.sources
    assert table is not None
    first = list(zip(table.arm.tolist(), table.source.tolist(), table.value.tolist(), strict=True))
    assert first[:3] == [(0, 0, 5.0), (1, 1, 2.0), (0, 1, 4.0)]


def test_the_order_of_a_long_file_is_kept(tmp_path: Path) -> None:
    generator = np.random.default_rng(2)
    size = 300_000
    frame = pd.DataFrame(
        {
            "arm": generator.integers(0, 3, size),
            "reward": generator.integers(0, 9, size),
            "user": generator.integers(0, 50_000, size),
        }
    )
    frame.to_csv(tmp_path / "log.csv", index=False)
    found = read_log(tmp_path / "log.csv", source=True).sources
    first = frame.drop_duplicates(["user", "arm"])
    assert found is not None
    assert found.arm.tolist() == first.arm.tolist()
    assert found.value.tolist() == first.reward.tolist()
    assert found.source.tolist() == pd.factorize(first.user)[0].tolist()
    assert found.number == first.user.nunique()


# ------------------------------------------------------------------------------------------------------------- columns


def test_guesses_are_said_and_what_is_not_obvious_is_asked(tmp_path: Path) -> None:
    path = written(tmp_path, "Variant,Converted\nA,1\nB,0\n")
    assert read_log(path).health.guesses == (
        "The column 'Variant' was taken for the arm, by its name.",
        "The column 'Converted' was taken for the reward, by its name.",
    )
    both = written(tmp_path, "arm,score,rating\nA,1,2\nB,0,1\n")
    error = refused(both)
    assert error.parameter == "reward"
    assert isinstance(error, UnclearError)
    assert error.question == "Which column has the reward: 'score' or 'rating'?"
    assert [call.value for _, call in error.choices] == [
        {"arm": "arm", "reward": "score"},
        {"arm": "arm", "reward": "rating"},
    ]
    assert content(read_log(both, reward="score")) == {"A": [1.0], "B": [0.0]}
    assert refused(both, reward="sore").rule == "name one of the columns 'arm', 'score', 'rating'"
    assert refused(both, arm="score", reward="score").rule == "be another column than arm"
    assert refused(both, arm=3, reward="score").rule == "be the name of a column"


def test_a_file_without_a_header(tmp_path: Path) -> None:
    rewards = read_log(written(tmp_path, "A,1\nB,2\nA,3\n"))
    assert content(rewards) == {"A": [1.0, 3.0], "B": [2.0]}
    assert "There is no header; 'column1' was taken for the arm." in rewards.health.guesses
    rewards = read_log(written(tmp_path, "7,A,1\n8,B,2\n"), arm="column2", reward="column3")
    assert content(rewards) == {"A": [1.0], "B": [2.0]}


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    path = written(tmp_path, "arm,stars,stars\nA,1,2\nB,2,3\n")
    for options in ({}, {"reward": "stars"}):
        assert refused(path, **options).parameter == "reward"
    assert read_log(written(tmp_path, "arm,stars,note,note\nA,1,,\nB,2,,\n")).total == 2
    frame = pd.DataFrame([["A", 1, 2], ["B", 2, 3]], columns=["arm", "stars", "stars"])
    assert "2 columns have this name" in refused(frame, reward="stars").fix


# ------------------------------------------------------------------------------------------------------------ bad files


def test_files_that_are_none(tmp_path: Path) -> None:
    missing = tmp_path / "none.csv"
    assert (refused(missing).parameter, refused(missing).rule) == (str(missing), "be a file that is there")
    assert (refused(tmp_path).parameter, refused(tmp_path).rule) == (str(tmp_path), "be a file")
    assert refused(str(tmp_path / "*.csv")).rule == "match at least one file"
    assert refused([]).rule == "name at least one file"
    assert refused(3).rule == "be a DataFrame, an Arrow table, a path or a list of paths"
    assert refused("a\0b").rule == "be a file that can be read"
    assert refused(pd.DataFrame({"arm": [], "reward": []})).rule == "have rows"


@pytest.mark.parametrize(
    ("content", "rule", "received"),
    [
        (b"", "have rows", "an empty file"),
        (b"\n \r\n", "have rows", "an empty file"),
        (b"\xef\xbb\xbf", "have rows", "an empty file"),
        ("\n".encode("utf-16"), "have rows", "an empty file"),
        (b"arm,reward\n", "have rows", "a header alone"),
        (gzip.compress(b"", mtime=0), "have rows", "an empty file"),
        (b"{}\n", "have rows", "none"),
        (b"PK\x03\x04rest", "be CSV, JSON lines or Parquet", "a zip or Excel file"),
        (bytes(range(256)) * 10, "be CSV, JSON lines or Parquet", bytes(range(12))),
        (b"\x01\x02\x03arm,reward", "be CSV, JSON lines or Parquet", b"\x01\x02\x03arm,rewar"),
    ],
)
def test_empty_and_foreign_files(tmp_path: Path, content: bytes, rule: str, received: Any) -> None:
    path = written(tmp_path, content)
    error = refused(path)
    assert (error.parameter, error.rule, error.received) == (str(path), rule, received)


def test_random_bytes_are_refused(tmp_path: Path) -> None:
    for seed in range(20):
        data = np.random.default_rng(seed).bytes(10 ** (1 + seed % 5))
        refused(written(tmp_path, data), arm="arm", reward="reward")


@pytest.mark.parametrize("packed", ["gz", "zst"])
def test_packed_files_cut_short_or_damaged(tmp_path: Path, packed: str) -> None:
    generator = np.random.default_rng(3)
    text = "arm,reward\n" + "".join(f"A,{value}\nB,{value}\n" for value in generator.normal(size=60_000))
    whole = PACKED[packed](text.encode())
    for cut in (20, len(whole) // 3, len(whole) - 9, len(whole) - 1):
        error = refused(written(tmp_path, whole[:cut]))
        assert error.rule == f"be a whole {packed} file"
    half = len(whole) // 2
    damaged = whole[:half] + bytes(byte ^ 0x5A for byte in whole[half : half + 50]) + whole[half + 50 :]
    assert "whole" in refused(written(tmp_path, damaged)).rule


def test_parquet_cut_short(tmp_path: Path) -> None:
    pq.write_table(pa.table({"arm": ["A", "B"], "reward": [1.0, 2.0]}), tmp_path / "p")
    path = written(tmp_path, (tmp_path / "p").read_bytes()[:-20])
    assert (refused(path).parameter, refused(path).rule) == (str(path), "be a whole Parquet file")


# ------------------------------------------------------------------------------------------------------------- bad rows

HEAD = 'time,arm,reward\n1,"two\nlines",1\n\n2,A,2\n'  # the next row is on line 6, the third row


@pytest.mark.parametrize(
    ("row", "rule", "received"),
    [
        ("3,A,five", "have a number as reward", "five"),
        ("3,A,inf", "have a number as reward", "inf"),
        ("3,A,1 2", "have a number as reward", "1 2"),
        ("3,,5", "have an arm", ""),
        ('3,"  ",5', "have an arm", "  "),
        ("3,A,7", "have reward within the bounds (0.0, 5.0)", "7"),
        ("3,A", "have as many cells as there are columns (3)", "3,A"),
        ("3,A,b,1", "have as many cells as there are columns (3)", "3,A,b,1"),
        ('3,"A"x,1', "close its quotes", '3,"A"x,1'),
    ],
)
@pytest.mark.parametrize(("end", "packed"), [("\n", ""), ("\r\n", "gz"), ("\n", "zst")])
def test_a_bad_row_is_refused_with_its_line(
    tmp_path: Path, row: str, rule: str, received: str, end: str, packed: str
) -> None:
    text = (HEAD + row + "\n4,B,3\n" + row + "\n").replace("\n", end).encode()
    path = written(tmp_path, PACKED[packed](text) if packed else text)
    error = refused(path, bounds=(0, 5))
    assert (error.parameter, error.rule, error.received) == (f"line 6 of {path}", rule, received)
    assert error.fix.endswith("on_bad_row='skip' leaves out such rows, 2 of 5")
    health = read_log(path, bounds=(0, 5), on_bad_row="skip").health
    assert (health.rows, health.used, health.bad_rows) == (5, 3, 2)
    assert [row.line for row in health.bad_examples] == [6, 8]
    assert health.bad_examples[0].value == received


def test_the_line_of_a_bad_row_in_utf16_and_with_mixed_line_breaks(tmp_path: Path) -> None:
    path = written(tmp_path, (HEAD + "3,A,x\n").encode("utf-16"))
    assert refused(path).parameter == f"line 6 of {path}"
    path = written(tmp_path, "arm,reward\r\nA,1\nB,2\r\nA,x\n")
    assert refused(path).parameter == f"line 4 of {path}"
    path = written(tmp_path, "\n\narm,reward\nA,1\nB\n")
    assert refused(path).parameter == f"line 5 of {path}"


def test_the_line_far_down(tmp_path: Path) -> None:
    path = written(tmp_path, "arm,reward\n" + "A,1\nB,2\n" * 150_000 + "A,oops\nB,1\n")
    assert (refused(path).parameter, refused(path).received) == (f"line 300002 of {path}", "oops")


def test_bad_rows_of_other_formats(tmp_path: Path) -> None:
    path = written(tmp_path, '{"arm": "A", "reward": 1}\n\n{"arm": "B", "reward": "x"}\n{"arm": "C"\n', "log.jsonl")
    error = refused(path)
    assert (error.parameter, error.rule, error.received) == (f"line 3 of {path}", "have a number as reward", "x")
    path = written(tmp_path, '{"arm": "A", "reward": 1}\n{"arm": "C"\n{"arm": "B", "reward": 2}\n', "log.jsonl")
    assert (refused(path).parameter, refused(path).rule) == (f"line 2 of {path}", "be an object in JSON")
    assert content(read_log(path, on_bad_row="skip")) == {"A": [1.0], "B": [2.0]}
    pq.write_table(pa.table({"arm": ["A", "B", ""], "reward": [1.0, 2.0, 3.0]}), tmp_path / "p")
    assert (refused(tmp_path / "p").parameter, refused(tmp_path / "p").rule) == (
        f"row 3 of {tmp_path / 'p'}",
        "have an arm",
    )
    frame = pd.DataFrame({"arm": ["A", "B", "A"], "reward": [1, "two", 3]})
    error = refused(frame)
    assert (error.parameter, error.rule, error.received) == ("row 2 of the table", "have a number as reward", "two")


def test_the_bad_row_of_the_second_file(tmp_path: Path) -> None:
    written(tmp_path, "arm,reward\nA,1\nB,2\n", "1.csv")
    second = written(tmp_path, "arm,reward\nA,1\nB,-\n", "2.csv")
    assert refused(str(tmp_path / "*.csv")).parameter == f"line 3 of {second}"
    other = written(tmp_path, "arm,stars\nA,1\n", "2.csv")
    error = refused(str(tmp_path / "*.csv"))
    assert (error.parameter, error.rule) == (str(other), "have the column 'reward'")


def test_missing_rewards_are_refused_unless_said_what_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, "arm,reward\nA,1\nA,\nB,2\nB,NA\nB,3\nA,nan\nA,1\nB,2\n")
    error = refused(path)
    assert isinstance(error, UnclearError)
    assert error.parameter == "missing"
    assert str(error).startswith("Rewards are missing: 3 of 8 (37.5 %). Use one of:\n")
    assert re.findall(r"missing='(\w+)'\)", str(error)) == ["drop", "replaced"]
    dropped, replaced = read_log(path, missing="drop"), read_log(path, missing="replaced")
    assert content(dropped) == content(replaced) == {"A": [1.0, 1.0], "B": [2.0, 2.0, 3.0]}
    assert dropped.missing.tolist() == [0, 0]
    assert replaced.missing.tolist() == [2, 1]
    assert dropped.health.sentences()[1] == "3 rewards missing (37.5 %), left out."
    assert replaced.health.sentences()[1] == "3 rewards missing (37.5 %), counted as replaced."
    error = refused(written(tmp_path, "arm,reward\nA,\nB,1\nC,1\n"), missing="drop")
    assert (error.parameter, error.rule) == ("the arm 'A'", "have at least one reward")


def test_stray_spaces_are_cut_off_and_counted(tmp_path: Path) -> None:
    rewards = read_log(written(tmp_path, "arm,reward\nA, 1\n A,2 \nA\u00a0,3\nB,4\n"))
    assert content(rewards) == {"A": [1.0, 2.0, 3.0], "B": [4.0]}
    assert rewards.health.trimmed == 2
    assert "2 rows had spaces around the arm, which were removed." in rewards.health.sentences()
    assert "1 arm seen once: 'B'." in rewards.health.sentences()


def test_a_comma_that_may_be_a_decimal_or_a_thousand_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "arm;reward\nA;1.5\nB;1,234\n")
    error = refused(path)
    assert (error.parameter, error.received) == (f"line 3 of {path}", "1,234")
    assert "decimal point" in error.fix


def test_one_arm_is_none_to_choose_from(tmp_path: Path) -> None:
    assert refused(written(tmp_path, "arm,reward\nA,1\nA,2\n")).rule == "have at least two arms"


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"missing": "ignore"}, "missing"),
        ({"on_bad_row": "ignore"}, "on_bad_row"),
        ({"bounds": (5, 1)}, "bounds"),
        ({"bounds": 3}, "bounds"),
        ({"wide": 3}, "wide"),
        ({"wide": True, "counted": True}, "wide"),
        ({"counted": {}}, "counted"),
        ({"counted": {"reward": "x"}}, "counted"),
        ({"counted": {"reward": 1}, "source": "arm"}, "source"),
    ],
)
def test_bad_options(tmp_path: Path, options: dict[str, Any], parameter: str) -> None:
    assert refused(written(tmp_path, "arm,reward\nA,1\nB,2\n"), **options).parameter == parameter


def test_progress_goes_from_0_to_1_and_an_error_in_it_ends_the_reading(tmp_path: Path) -> None:
    path = written(tmp_path, "arm,reward\n" + "A,1\nB,2\n" * 1000)
    seen: list[float] = []
    assert read_log(path, progress=seen.append).total == 2000
    assert seen
    assert all(0.0 <= share <= 1.0 for share in seen)

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_log(path, progress=stop)
