"""What a log is and what is asked of it, each made and checked once; and the queries, each in a file of its own."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bestarm.contamination import CONTAMINATIONS
from bestarm.errors import InputError
from bestarm.log import reading
from bestarm.log.inspect import inspect_log
from bestarm.log.question import LogQuestion
from bestarm.log.reading import read_log
from bestarm.log.reading import rows as rows_module
from bestarm.log.rewards import Rewards, SourceTable
from bestarm.log.spec import LogSpec
from bestarm.log.verdict import identify_log

ROOM = Path(reading.__file__).parent
QUERIES = {path.stem: path.read_text() for path in (ROOM / "queries").glob("*.sql")}
VOTES = pd.DataFrame({"caption": ["A", "B"] * 20, "stars": [1, 5] * 20})


def test_a_spec_has_the_parameters_of_the_functions_that_make_it() -> None:
    own = {"needs_time", "inspect", "without", "segment"}
    asked = {"where", "block", "per", "per_source", "by"}  # of a verdict
    for function in (read_log, inspect_log, identify_log):
        others = own if function is identify_log else own | asked
        fields = {field.name: field.default for field in dataclasses.fields(LogSpec) if field.name not in others}
        parameters = inspect.signature(function).parameters
        assert fields.keys() <= parameters.keys()
        if function is not inspect_log:  # which counts what others refuse
            assert {name: parameters[name].default for name in fields} == fields


@pytest.mark.parametrize(
    ("options", "parameter"),
    [({"missing": "ignore"}, "missing"), ({"on_bad_row": 3}, "on_bad_row"), ({"bounds": (5, 1)}, "bounds")],
)
def test_a_spec_is_refused_when_it_is_made(options: dict[str, Any], parameter: str) -> None:
    with pytest.raises(InputError) as caught:
        LogSpec(**options)
    assert caught.value.parameter == parameter


def test_a_spec_names_the_columns_that_the_user_gave() -> None:
    spec = LogSpec("caption", None, True, "day", ["A", "B"], {"funny": 3.0}, bounds=(1, 5))
    assert spec.wanted == ("caption", "day", "A", "B", "funny")
    assert spec.bounds == (1.0, 5.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.arm = "other"  # type: ignore[misc]


def test_each_public_function_makes_one_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[LogSpec] = []
    original = LogSpec.__post_init__

    def counted(spec: LogSpec) -> None:
        made.append(spec)
        original(spec)

    monkeypatch.setattr(LogSpec, "__post_init__", counted)
    read_log(VOTES)
    inspect_log(VOTES)
    identify_log(VOTES, epsilon=0.0, bounds=(1, 5))
    assert len(made) == 3


@pytest.mark.parametrize(
    ("question", "parameter"),
    [
        ({"epsilon": 0.6, "bounds": (1, 5)}, "epsilon"),
        ({"sigma": "estimate"}, "epsilon"),
        ({"bounds": (1, 5), "stopping": "soon"}, "stopping"),
        ({"epsilon": 0.1, "sigma": "guess"}, "sigma"),
        ({"epsilon": 0.1, "sigma": "estimate", "bounds": (1, 5)}, "sigma"),
        ({"epsilon": 0.1, "bounds": (1, 5), "seed": 1}, "seed"),
        ({"epsilon": 0.1, "bounds": (1, 5), "good_enough": 0.0}, "good_enough"),
        ({"epsilon": 0.1, "bounds": (1, 5), "contamination": "none"}, "contamination"),
    ],
)
def test_a_question_is_refused_before_the_log_is_read(question: dict[str, Any], parameter: str) -> None:
    with pytest.raises(InputError) as caught:
        LogQuestion(**question)
    assert caught.value.parameter == parameter
    with pytest.raises(InputError) as again:
        identify_log(VOTES, **question)
    assert str(again.value) == str(caught.value)


def test_what_epsilon_means_depends_on_whether_there_are_sources() -> None:
    values = (np.array([1.0]), np.array([5.0]))
    table = SourceTable(np.array([0, 1], np.int32), np.array([0, 1], np.int32), np.array([1.0, 5.0]), 2)
    plain, with_sources = Rewards(("A", "B"), values, None), Rewards(("A", "B"), values, None, sources=table)
    open_question = LogQuestion(0.1, bounds=(1, 5))
    assert not open_question.model(plain).by_source
    assert open_question.model(with_sources).by_source
    for name, model in CONTAMINATIONS.items():
        asked = LogQuestion(0.1, bounds=(1, 5), contamination=name)
        assert asked.model(with_sources) == model
        if model.by_source:
            with pytest.raises(InputError, match="be a column of the log"):
                asked.model(plain)


# ------------------------------------------------------------------------------------------------------------- queries


def made_by(query: str) -> list[str]:
    pattern = r"^CREATE (?:OR REPLACE )?(?:TEMP )?(?:TABLE|VIEW|\$kind) (\w+)"
    return re.findall(pattern, QUERIES[query], re.MULTILINE)


def test_every_query_is_used_and_every_name_has_a_query() -> None:
    source = "".join(path.read_text() for path in ROOM.parent.rglob("*.py"))
    called = set(re.findall(r"\.(?:ask|run|start|texts)\(\s*\"(\w+)\"", source))
    called |= set(re.findall(r'"(\w+)" if \w+(?:\.\w+)* else "\w+"', source))
    called |= set(re.findall(r'"\w+" if \w+(?:\.\w+)* else "(\w+)"', source))
    assert called & QUERIES.keys() == QUERIES.keys()


def test_every_query_makes_at_most_one_table_and_names_the_tables_it_reads() -> None:
    tables = Counter(table for query in QUERIES for table in made_by(query))
    assert set(tables) == {
        *(
            "arms",
            "cells",
            "counted_rows",
            "first_rows",
            "firsts",
            "grouped",
            "judged_cells",
            "kept",
            "located",
            "meanings",
            "numbered",
            "ordered",
        ),
        *("picked", "placed", "states", "watched", "watched_cells"),
    }
    for name, text in QUERIES.items():
        comment = "\n".join(line for line in text.splitlines() if line.startswith("--"))
        assert text.startswith("-- "), name
        assert len(made_by(name)) <= 1, name
        code = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
        if name != "macros":
            read = {table for table in tables if re.search(rf"(?:FROM|JOIN) {table}\b|understood\('{table}'\)", code)}
            assert read <= set(re.findall(r"`(\w+)`", comment)), name


def test_a_log_is_open_until_it_is_left_and_its_copies_are_gone(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes("arm,reward\nÇa,1\nB,2\n".encode("utf-16"))
    with rows_module.open_log(path, LogSpec()) as log:
        copy = Path(log.files[0].path)
        assert copy != path
        assert copy.read_text() == "arm,reward\nÇa,1\nB,2\n"
        assert (log.columns.arm, log.columns.reward, log.columns.layout) == ("arm", "reward", "long")
    assert not copy.exists()
