"""Logs that are tables in databases: the verdict on a file of the same rows to the last bit; only counts come back."""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bestarm as ba
from bestarm.errors import InputError, NotFoundError
from bestarm.log.reading import read_log, warehouse
from bestarm.log.warehouse import open_table
from live_tools import new_database
from warehouse_tools import IBIS_WARNINGS, STARS, VOTERS, logs, of_file, said, votes

ibis = pytest.importorskip("ibis")
pytestmark = [pytest.mark.filterwarnings(each) for each in IBIS_WARNINGS]
LOGS = {name: (frame, question) for name, frame, question in logs()}


@pytest.fixture(autouse=True)
def _closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close all connections to servers at the end of a test."""
    opened: list[Any] = []
    connect = ibis.connect

    def connect_and_keep(url: str) -> Any:
        opened.append(connect(url))
        return opened[-1]

    monkeypatch.setattr(ibis, "connect", connect_and_keep)
    yield
    for each in opened:
        each.disconnect()


def in_duckdb(frame: pd.DataFrame, types: str = "*") -> Any:
    connection = duckdb.connect()
    connection.register("frame", frame)
    connection.execute(f"CREATE TABLE votes AS SELECT {types} FROM frame")
    return ibis.duckdb.from_connection(connection).table("votes")


def in_postgresql(frame: pd.DataFrame, server: Any) -> Any:
    import psycopg

    kinds = {"i": "bigint", "f": "double precision", "b": "boolean", "M": "timestamptz"}
    url = new_database(server)
    columns = ", ".join(f'"{name}" {kinds.get(frame[name].dtype.kind, "text")}' for name in frame)
    with psycopg.connect(url) as connection:
        connection.execute(f"CREATE TABLE votes ({columns})".encode())
        with connection.cursor().copy("COPY votes FROM STDIN") as copy:
            for row in frame.astype(object).itertuples(index=False):
                copy.write_row([None if pd.isna(cell) else cell for cell in row])
    return open_table(url, "votes")


def in_sqlite(frame: pd.DataFrame, folder: Path) -> Any:
    path = folder / "votes.sqlite"
    with sqlite3.connect(path) as connection:
        frame.to_sql("votes", connection, index=False)
    connection.close()
    return ibis.sqlite.connect(path).table("votes")


# ----------------------------------------------------------------------------------------------------- the same verdict


@pytest.mark.parametrize("name", LOGS)
def test_the_verdict_is_that_on_a_file_of_the_same_rows(name: str, tmp_path: Path) -> None:
    frame, question = LOGS[name]
    result = ba.identify_log(in_duckdb(frame), **question)
    assert said(result) == of_file(frame, question, tmp_path / "votes.csv")
    assert said(result) == of_file(frame, question, tmp_path / "votes.parquet")
    assert result.lines[-1].endswith("The rows were not inspected: they were counted where they are.")
    by = {"hours": "hour", "countries": "country"}.get(name, "day" if name.startswith("days") else None)
    assert (None if result.within is None else result.within.by) == by
    assert (result.inspected, result.findings, result.counted_in) == (False, (), "the table 'votes'")


@pytest.mark.parametrize("name", LOGS)
def test_postgresql_says_the_same(name: str, server: Any, tmp_path: Path) -> None:
    frame, question = LOGS[name]
    found = said(ba.identify_log(in_postgresql(frame, server), **question))
    assert found == of_file(frame, question, tmp_path / "votes.csv")


@pytest.mark.parametrize("name", ["stars", "untidy", "many values", "wide"])
def test_sqlite_says_the_same(name: str, tmp_path: Path) -> None:
    frame, question = LOGS[name]
    found = said(ba.identify_log(in_sqlite(frame, tmp_path), **question))
    assert found == of_file(frame, question, tmp_path / "votes.csv")


def test_a_certificate_of_a_table_holds_for_a_file_and_the_other_way_round(tmp_path: Path) -> None:
    frame, table = votes(), in_duckdb(votes())
    frame.to_csv(tmp_path / "votes.csv", index=False)
    for question in (STARS, VOTERS):
        of_table = ba.identify_log(table, **question).certificate()
        of_rows = ba.identify_log(tmp_path / "votes.csv", **question, inspect=False).certificate()
        assert of_table["rows"] == of_rows["rows"]
        assert of_table["evidence"] == of_rows["evidence"]
        assert ba.verify_certificate(of_table, table).holds
        assert ba.verify_certificate(of_table, tmp_path / "votes.csv").holds
        assert ba.verify_certificate(of_rows, table).holds
        assert (
            ba.verify_certificate(of_rows, in_duckdb(frame.assign(stars=5))).reasons[0].startswith("The log has other")
        )


def test_types_of_the_same_number_are_the_same_reward(server: Any, tmp_path: Path) -> None:
    frame = votes()[["caption", "liked"]]
    expected = of_file(frame, {}, tmp_path / "votes.csv")
    for kind in ("BOOLEAN", "TINYINT", "BIGINT", "DOUBLE", "DECIMAL(9, 4)", "VARCHAR"):
        assert said(ba.identify_log(in_duckdb(frame, f"caption, CAST(liked AS {kind}) AS liked"))) == expected, kind
    table = in_postgresql(frame.assign(liked=frame["liked"].astype(int)), server)
    database = table.get_backend()
    for kind in ("numeric", "real", "text", "smallint"):
        database.raw_sql(f'CREATE VIEW "as {kind}" AS SELECT caption, liked::{kind} AS liked FROM votes')
        assert said(ba.identify_log(database.table(f"as {kind}"))) == expected, kind


def test_numbers_of_any_precision_come_back_as_they_are(server: Any) -> None:
    """Arrow has no type for them; as decimal(38, 9) the last digits would be lost."""
    table = in_postgresql(pd.DataFrame({"arm": ["a", "b"] * 2, "reward": ["0.1234567890123", "1e-12"] * 2}), server)
    table.get_backend().raw_sql("CREATE VIEW exact AS SELECT arm, reward::numeric AS reward FROM votes")
    rewards = read_log(table.get_backend().table("exact"))
    assert [each.tolist() for each in rewards.values] == [[0.1234567890123], [1e-12]]


CELLS = st.sampled_from(["a", " a", "b", "B", "", None])
REWARDS = {
    "BOOLEAN": st.sampled_from([True, False, None]),
    "INTEGER": st.sampled_from([0, 1, 2, -7, None]),
    "DOUBLE": st.sampled_from([0.0, -0.0, 1.0, 0.1, 1 / 3, math.nan, math.inf, None]),
    "DECIMAL(8, 3)": st.sampled_from([Decimal("0.100"), Decimal(1), Decimal("-3.125"), None]),
    "VARCHAR": st.sampled_from(["1", "1.0", "yes", " No ", "0,5", "n/a", "x", None]),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, list[tuple[Any, Any]]]:
    kind = draw(st.sampled_from(sorted(REWARDS)))
    return kind, draw(st.lists(st.tuples(CELLS, REWARDS[kind]), max_size=12))


def outcome(data: Any) -> Any:
    """The rewards of a log, or the rule that it breaks."""
    options: dict[str, Any] = {"arm": "arm", "reward": "reward", "missing": "drop", "on_bad_row": "skip"}
    try:
        rewards = read_log(data, **options)
    except InputError as error:
        return error.code
    counts = rewards.counts or [np.ones(each.size, int) for each in rewards.values]
    every = [np.repeat(*pair).tolist() for pair in zip(rewards.values, counts, strict=True)]
    health = rewards.health
    told = (
        health.rows,
        health.used,
        health.missing,
        health.bad_rows,
        health.blank_arms,
        health.trimmed,
        health.guesses,
    )
    return rewards.labels, every, told


@given(tables())
def test_any_small_table_is_read_as_the_same_table_in_memory(table: tuple[str, list[tuple[Any, Any]]]) -> None:
    kind, rows = table
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE votes (arm VARCHAR, reward {kind})")
    if rows:
        connection.executemany("INSERT INTO votes VALUES (?, ?)", rows)
    there = outcome(ibis.duckdb.from_connection(connection).table("votes"))
    here = outcome(connection.execute("FROM votes").to_arrow_table())
    assert there == here or not rows


# ------------------------------------------------------------------------------------------------------------ the order


def turns_of_twin(rows: pd.DataFrame) -> pd.Series[Any]:
    """Where rows that a source gave to an arm come in the order, by ten lines of Python."""
    found = []
    for arm, reward, source, number in rows.itertuples(index=False):
        low = int.from_bytes(hashlib.md5("\x1f".join([arm, str(reward), source]).encode()).digest()[8:], "little")
        found.append(-math.log((float(low) + 0.5) / 2.0**64) / number)
    return pd.Series(found, index=rows.index)


def test_of_the_rewards_of_a_source_with_one_time_each_is_as_likely_to_be_the_first() -> None:
    people = 3000
    frame = pd.DataFrame(
        {
            "arm": np.repeat(["a", "b"], 4 * people),
            "reward": np.tile([1, 0, 0, 0], 2 * people),
            "source": [f"s{each}" for each in np.tile(np.repeat(np.arange(people), 4), 2)],
            "time": pd.Timestamp("2024-05-01"),
        }
    )
    later = frame.assign(reward=1, time=pd.Timestamp("2024-05-02"))  # must not weigh anything
    table = read_log(in_duckdb(pd.concat([frame, later])), source="source", time="time").sources
    assert table is not None
    assert table.names is not None
    assert table.arm.size == 2 * people
    for arm in (0, 1):
        ones = table.value[table.arm == arm].sum()
        assert abs(ones - people / 4) < 4.0 * math.sqrt(people * 3 / 16)
    first = np.unique(table.source, return_index=True)[1]
    assert abs((table.arm[first] == 0).sum() - people / 2) < 4.0 * math.sqrt(
        people / 4
    )  # no arm comes first by its name
    groups = frame.groupby(["arm", "reward", "source"], as_index=False).size()
    groups["turn"] = turns_of_twin(groups)
    chosen = groups.sort_values("turn").drop_duplicates(["arm", "source"]).set_index(["source", "arm"])["reward"]
    names, labels = table.names.to_pylist(), ["a", "b"]
    found = {
        (names[source], labels[arm]): value
        for source, arm, value in zip(table.source, table.arm, table.value, strict=True)
    }
    assert found == chosen.to_dict()


def test_without_times_each_source_has_one_row_or_it_is_asked() -> None:
    frame = votes().drop_duplicates("voter")
    question = {**STARS, "source": "voter"}
    result = ba.identify_log(in_duckdb(frame), **question)
    told = said(ba.identify_log(frame, inspect=False, time=False, **question))
    assert {**said(result)["rows"]} == told["rows"]
    assert result.p_value == pytest.approx(ba.identify_log(frame, inspect=False, **question).p_value, rel=1e-12)
    with pytest.raises(InputError, match="a table in a database has no order") as caught:
        ba.identify_log(in_duckdb(votes().drop(columns="time")), **question)
    assert caught.value.parameter == "time"
    with pytest.raises(InputError, match="be a column of times, dates or numbers"):
        ba.identify_log(in_duckdb(votes(), "* REPLACE (CAST(time AS VARCHAR) AS time)"), **VOTERS)


# ----------------------------------------------------------------------------------------------------- what comes back


def test_only_counts_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[int] = []
    original = warehouse.DatabasePart._fetch

    def counted(part: Any, expression: Any) -> Any:
        found = original(part, expression)
        fetched.append(found.num_rows)
        return found

    monkeypatch.setattr(warehouse.DatabasePart, "_fetch", counted)
    result = ba.identify_log(in_duckdb(votes(number=60_000)), **STARS)
    assert result.health.fetched == fetched[-1] == 14 * 42  # on each of 42 days
    result = ba.identify_log(in_duckdb(votes(number=60_000)), **STARS, block="none")
    assert result.health.fetched == fetched[-1] == 14  # three captions, five stars, but "down" has no single one
    assert max(fetched) <= 1000
    assert "14 different rows of the table 'votes' came back" in result.health.sentences()[0]


def test_too_many_different_rows_are_refused_before_they_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warehouse, "MOST_GROUPS", 1200)
    table = in_duckdb(votes(number=5000))
    assert ba.identify_log(table, **STARS).best == "down"
    with pytest.raises(InputError, match="round or cap the rewards") as caught:
        ba.identify_log(table, arm="caption", reward="seconds", bounds=(0, 60))
    assert (
        caught.value.received.replace(",", "")
        == f"{len(votes(number=5000).groupby(['caption', 'seconds']))} different rows"
    )


def test_a_query_of_ibis_is_a_log_too() -> None:
    table = in_duckdb(votes())
    result = ba.identify_log(table.filter(table.voter != "v7"), **STARS)
    assert result.rows == int((votes()["voter"] != "v7").sum())
    assert result.counted_in == "the query"


# ---------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"where": "stars > 1"}, "where"),
        ({"without": "voter = 'v1'"}, "without"),
        ({"per": "seconds", "cap": 5.0}, "per"),
        ({"per_source": "mean", "source": "voter"}, "per_source"),
        ({"by": "voter"}, "by"),
        ({"sequential": True, "epsilon": 0.1}, "sequential"),
        ({"arm": "captoin"}, "arm"),
    ],
)
def test_what_needs_the_rows_is_refused(options: dict[str, Any], parameter: str) -> None:
    with pytest.raises(InputError) as caught:
        ba.identify_log(in_duckdb(votes()), **{**STARS, **options})
    assert caught.value.parameter == parameter


def test_other_refusals() -> None:
    with pytest.raises(InputError, match="identify_log, which lets the database count"):
        ba.inspect_log(in_duckdb(votes()))
    with pytest.raises(InputError, match="the table is empty"):
        ba.identify_log(in_duckdb(votes().head(0)))
    with pytest.raises(InputError, match="be a column of texts, numbers or times"):
        ba.identify_log(in_duckdb(votes(), "*, [1] AS list"), arm="list", reward="stars")
    with pytest.raises(InputError, match=r"ibis.connect\(url\)") as caught:
        ba.identify_log("postgresql://ann:s3cret@localhost/shop")
    assert "s3cret" not in str(caught.value)


# ----------------------------------------------------------------------------------------------------- the command line


@pytest.fixture
def database(tmp_path: Path) -> str:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", votes())
        connection.execute("CREATE TABLE votes AS FROM frame; CREATE SCHEMA web; CREATE VIEW web.old AS FROM votes")
    return f"duckdb:///{path}"


def test_tables_are_opened_by_url_and_named(database: str, tmp_path: Path) -> None:
    assert said(ba.identify_log(open_table(database, "votes"), **STARS)) == of_file(votes(), STARS, tmp_path / "a.csv")
    assert open_table(database, "web.old").columns == tuple(votes())
    with pytest.raises(NotFoundError, match=r"did you mean 'votes'\?"):
        open_table(database, "vots")
    with pytest.raises(NotFoundError, match="it has 'votes'"):
        open_table(database, "web.new")
    with pytest.raises(InputError, match="it has 'votes'"):
        open_table(database, None)
    with pytest.raises(NotFoundError, match=r"such as sqlite:///votes\.db"):
        open_table(f"sqlite:///{tmp_path}/absent.db", "votes")
    assert not (tmp_path / "absent.db").exists()
    with pytest.raises(InputError, match=r"Ibis knows .*postgresql.*snowflake"):
        open_table("mongodb://localhost/shop", "votes")


SECRET = "hunter2%40x"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ann:{SECRET}@localhost:1/shop",
        f"postgresql://ann@localhost:1/shop?password={SECRET}",
        f"postgresql://ann:{SECRET}/x@localhost:y/shop",
        f"mongodb://ann:{SECRET}@localhost/shop",
        f"sqlite:///absent.db?token={SECRET}",
    ],
)
def test_no_error_says_a_password(url: str) -> None:
    with pytest.raises(InputError) as caught:
        open_table(url, "votes")
    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None  # nor a traceback


def test_days_are_found_by_the_type_of_a_column_where_no_name_says_when() -> None:
    random = np.random.default_rng(12)
    day = np.sort(random.integers(0, 20, 12_000))
    is_b = random.random(day.size) < 0.1 + 0.04 * day
    frame = pd.DataFrame({"variant": np.where(is_b, "b", "a")})
    frame["converted"] = (random.random(day.size) < 0.05 + 0.02 * day - 0.03 * is_b).astype(int)
    frame["last_seen"] = frame["zeit"] = pd.Timestamp("2026-03-02") + pd.to_timedelta(day, unit="D")
    assert ba.identify_log(in_duckdb(frame)).best != "b"
    assert ba.identify_log(in_duckdb(frame[["variant", "converted", "last_seen"]])).best == "b"
