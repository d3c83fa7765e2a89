"""Rows on stdout, as a table for people or as JSON or CSV for programs."""

from __future__ import annotations

import csv
import enum
import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bestarm.identification.wording.verdict import Words

if TYPE_CHECKING:
    from bestarm.identification.result import Result

Row = Mapping[str, Any]

LOWER_BOUND = "mean_is_lower_bound"  # of `Trials.summary`
MARKED = ">= marks a mean over trials that the cap cut short: without the cap it would be larger"


class Format(enum.StrEnum):
    """How results are written."""

    table = "table"
    json = "json"
    csv = "csv"


def write_rows(rows: Sequence[Row], form: Format) -> None:
    """Write rows with the same columns to stdout."""
    if form is Format.json:
        print(json.dumps([{name: _plain(value) for name, value in row.items()} for row in rows], indent=1, default=str))
    elif form is Format.csv:
        writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        _write_table(rows)


def arm_rows(result: Result) -> list[dict[str, Any]]:
    """Return one row per arm: with the lead of the winner or leader over it, and its plain mean, where known."""
    leads, means = Words(result).leads, getattr(result, "means", {})
    rows = [dict(vars(row)) for row in result.arms]
    for row in rows:
        if leads:
            row["lead"] = leads.get(row["label"])
        if means:
            row["mean"] = means.get(row["label"])
    return rows


def _write_table(rows: Sequence[Row]) -> None:
    columns = [name for name in rows[0] if name != LOWER_BOUND]  # for people a mark is enough
    shown = [{name: _shown(row[name]) for name in columns} for row in rows]
    for row, cells in zip(rows, shown, strict=True):
        if row.get(LOWER_BOUND):
            cells["mean_pulls"] = f">={cells['mean_pulls']}"
    widths = {name: max(len(name), *(len(row[name]) for row in shown)) for name in columns}
    numeric = {name: all(row[name] is None or isinstance(row[name], int | float) for row in rows) for name in columns}

    def line(cells: Mapping[str, str]) -> str:
        parts = (
            cells[name].rjust(width) if numeric[name] else cells[name].ljust(width) for name, width in widths.items()
        )
        return "  ".join(parts).rstrip()

    print(line({name: name for name in widths}))
    print("  ".join("-" * width for width in widths.values()))
    for cells in shown:
        print(line(cells))
    if any(row.get(LOWER_BOUND) for row in rows):
        print(MARKED, file=sys.stderr)


def _shown(value: Any) -> str:
    if value is None or value != value:  # nan: there is none, such as an error rate where no trial named a winner
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or (math.isfinite(value) and abs(value) >= 1000.0):
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
