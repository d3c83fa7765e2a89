"""The page on JSON output: it has every key of a real output, and no key that there is not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from command_line import bestarm
from places import ROOT

PAGE = (ROOT / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
BY_ARM = ("means.", "leads.", "discounted.", "more.", "options.", "within.means.")
KINDS = {str: "text", bool: "true or false", int: "integer", float: "number", list: "list", dict: "object"}


def documented() -> dict[str, str]:
    return {key: kind for key, kind, _ in re.findall(r"^\| `([^`]+)` \| (.+?) \| (.+) \|$", PAGE, re.MULTILINE)}


def found_in(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each key with its value; what stands below a label, or an option, is not a key."""
    if isinstance(value, dict):
        for name, item in value.items():
            key = f"{path}.{name}" if path else name
            yield key, item
            if not f"{key}.".startswith(BY_ARM):
                yield from found_in(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from found_in(item, f"{path}[]") if isinstance(item, dict) else ()


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder, random = tmp_path_factory.mktemp("json"), np.random.default_rng(5)
    rows = 21_000
    log = pd.DataFrame({"variant": random.choice(["A", "B"], rows), "user_id": random.integers(0, 15_000, rows)})
    day = random.integers(0, 35, rows)
    rate = np.where(log["variant"] == "A", 0.5, 0.4) * (1.0 - 0.4 * day / 35) * np.where(day % 7 >= 5, 0.7, 1.0)
    log["clicked"] = random.binomial(1, rate).astype(object)
    log["date"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(day, unit="D")
    log.loc[3, "clicked"] = "broken"
    log.to_csv(folder / "log.csv", index=False)
    log.iloc[4:40].to_csv(folder / "few.csv", index=False)
    late = log.drop(index=3).loc[lambda each: (each["variant"] == "A") | (each["date"] > "2024-01-15")]
    late.to_csv(folder / "late.csv", index=False)
    calls = [["log.csv", "--on-bad-row", "skip"], ["few.csv", "--epsilon", "0.01"], ["log.csv", "--on-bad-row", "skip"]]
    calls[2] += ["--source", "user_id"]
    calls += [["late.csv"], ["few.csv", "--control", "A"]]
    return [json.loads(bestarm("identify", folder / name, *more, "--format", "json").stdout) for name, *more in calls]


def test_every_key_of_a_real_output_is_on_the_page_with_its_type(outputs: list[dict[str, Any]]) -> None:
    known = documented()
    seen: set[str] = set()
    for output in outputs:
        for key, value in found_in(output):
            assert key in known, key
            seen.add(key)
            if value is None:
                assert known[key].endswith("null") or known[key] == "number", key
            elif known[key].startswith("label"):
                assert isinstance(value, str), key
            else:
                kinds = {KINDS[type(value)], *(["number"] if isinstance(value, int) else [])}
                assert known[key].startswith(tuple(kinds)), key
    assert set(known) - seen == set()


def test_every_key_says_what_it_is() -> None:
    rows = re.findall(r"^\| `.*$", PAGE, re.MULTILINE)
    assert len(rows) == len(documented()) > 100
    assert Path(ROOT / "docs" / "json_output.py").is_file()
