"""Rows that stay in a database: how long it takes to count them there, and how much comes back.

`.venv-warehouse/bin/python -m benchmarks --only warehouse` (`make test-warehouse` makes that environment).
"""

from __future__ import annotations

import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.report import Section, significant

ROWS = {"duckdb": (1_000_000, 100_000_000), "spark": (1_000_000, 100_000_000)}
PEOPLE = 200_000
# A number from 0 to 1 that depends on the row alone, in the SQL of both.
UNIFORM = "(((id * 7919 + {salt}) * 104729) % 1000003) / 1000003.0"
COLUMNS = (
    "concat('c', CAST(id % 3 AS {text})) AS variant, "
    "CASE WHEN {uniform} < 0.05 + 0.002 * (id % 3) THEN 1 ELSE 0 END AS converted, "
    "(id * 48271) % {people} AS user_id, id AS time"
)
HEADER = ["database", "rows", "asked", "seconds", "different rows that came back", "bytes of them"]


def columns(text: str) -> str:
    """Return what is selected of each row."""
    return COLUMNS.format(text=text, uniform=UNIFORM.format(salt=3), people=PEOPLE)


def duckdb_table(folder: Path, number: int) -> Any:
    """Return a table in a DuckDB file."""
    import duckdb

    from bestarm.log.warehouse import open_table

    path = folder / f"{number}.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE visits AS SELECT {columns('VARCHAR')} FROM range({number}) t(id)")
    return open_table(f"duckdb:///{path}", "visits")


def spark_table(number: int) -> Any:
    """Return a table that a local Spark makes as it counts."""
    import ibis
    from pyspark.sql import SparkSession

    plain = {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC", "spark.driver.memory": "2g"}
    builder = SparkSession.builder.master("local[2]").config(map=plain | {"spark.sql.shuffle.partitions": "4"})
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session.range(number).selectExpr(*[f"{each}" for each in _split(columns("STRING"))]).createOrReplaceTempView(
        "visits"
    )
    return ibis.pyspark.connect(session).table("visits")


def _split(text: str) -> list[str]:
    """Return the columns one by one: a comma in brackets separates none."""
    return text.replace(", CASE", "\0CASE").replace(", (id", "\0(id").replace(", id AS", "\0id AS").split("\0")


def counted(table: Any, **question: Any) -> tuple[float, int, int]:
    """Return the seconds of a verdict, how many different rows came back for it, and their bytes."""
    import bestarm as ba
    from bestarm.log.reading.warehouse import DatabasePart

    sizes: list[tuple[int, int]] = []
    prepare = DatabasePart.prepare

    def watched(part: DatabasePart, *rest: Any) -> None:
        prepare(part, *rest)
        sizes.append((part.fetched, part.size))

    DatabasePart.prepare = watched  # type: ignore[method-assign, assignment]
    try:
        begin = time.perf_counter()
        ba.identify_log(table, **question)
        seconds = time.perf_counter() - begin
    finally:
        DatabasePart.prepare = prepare  # type: ignore[method-assign]
    return seconds, *sizes[-1]


def measure(quick: bool) -> Section:
    """Measure verdicts on tables where they are."""
    section = Section("Rows that stay in a database")
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, sizes in ROWS.items():
            if find_spec("ibis") is None or (kind == "spark" and find_spec("pyspark") is None):
                continue
            make = spark_table if kind == "spark" else lambda number: duckdb_table(Path(folder), number)
            counted(make(1000))  # whatever is compiled or started once
            for number in sizes[:1] if quick else sizes:
                table = make(number)
                for what, question in (("rows", {}), ("users", {"source": "user_id", "time": "time"})):
                    seconds, fetched, size = counted(table, **question)
                    cells = [significant(seconds), f"{fetched:,}", f"{size:,}"]
                    rows.append([kind, f"{number:,}", what, *cells])
    section.tables.append((HEADER, rows))
    return section
