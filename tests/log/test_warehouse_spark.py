"""Logs that are tables in a local Spark, which Debian's default-jre-headless runs: `make test-spark`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bestarm as ba
from warehouse_tools import IBIS_WARNINGS, logs, of_file, said, votes

ibis = pytest.importorskip("ibis")
pytest.importorskip("pyspark", reason="make test-spark has pyspark in an environment of its own")
if shutil.which("java") is None:
    pytest.skip("there is no java: apt-get install default-jre-headless", allow_module_level=True)
pytestmark = [
    pytest.mark.filterwarnings(each)
    for each in (*IBIS_WARNINGS, "ignore::DeprecationWarning", "ignore::ResourceWarning")
]
LOGS = {name: (frame, question) for name, frame, question in logs()}


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark")),
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def in_spark(frame: Any, spark: Any, folder: Path) -> Any:
    path = folder / "votes.spark.parquet"
    frame.to_parquet(path, coerce_timestamps="us")
    spark.read.parquet(str(path)).createOrReplaceTempView("votes")
    return ibis.pyspark.connect(spark).table("votes")


@pytest.mark.parametrize("name", ["stars", "untidy", "many values", "sources", "totals", "days", "countries"])
def test_spark_says_what_a_file_of_the_same_rows_says(name: str, spark: Any, tmp_path: Path) -> None:
    frame, question = LOGS[name]
    result = ba.identify_log(in_spark(frame, spark, tmp_path), **question)
    assert said(result) == of_file(frame, question, tmp_path / "votes.csv")
    assert (result.inspected, result.counted_in) == (False, "the table 'votes'")


def test_only_counts_come_back(spark: Any, tmp_path: Path) -> None:
    result = ba.identify_log(
        in_spark(votes(number=30_000), spark, tmp_path), arm="caption", reward="stars", bounds=(1, 5), block="none"
    )
    assert (result.rows, result.health.fetched) == (30_000, 14)
