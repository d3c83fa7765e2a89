"""Rows on stdout, as a table for people or as JSON or CSV for programs."""

from __future__ import annotations

import csv
import enum
import json
import math
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestarm.errors import InputError
from bestarm.identification.wording.verdict import Words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bestarm.identification.result import Result

Row = Mapping[str, Any]

NO_WINNER = 3  # exit codes
NO_CLAIM = 4

LOWER_BOUND = "mean_is_lower_bound"  # of `Trials.summary`
MARKED = ">= marks a mean over trials that the cap cut short: without the cap it would be larger"


class Format(enum.StrEnum):
    """How results are written."""

    table = "table"
    json = "json"
    csv = "csv"


def write_rows(rows: Sequence[Row], form: Format, even: Mapping[str, int] | None = None) -> None:
    """Write rows with the same columns to stdout; `even` has the decimals of columns of a table that share them."""
    if form is Format.json:
        print(json.dumps([{name: plain(value) for name, value in row.items()} for row in rows], indent=1, default=str))
    elif form is Format.csv:
        writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        _write_table(rows, even or {})


def exit_code(result: Result) -> int:
    """Return 0 if an arm is named and can be relied on, 3 if none is, and 4 if one is but should not be relied on."""
    if result.best is None:
        return NO_WINNER
    return 0 if result.trusted else NO_CLAIM


def save_plot(figure: Figure, path: Path) -> None:
    """Save a figure, and warn if the font lacks some of its letters."""
    try:
        with warnings.catch_warnings(record=True) as said:
            figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise InputError("plot", "be a file that can be written (.png, .svg, .pdf)", str(path), str(error)) from None
    if any("missing from font" in str(one.message) for one in said):
        print(
            f"{path}: some letters of the arms' names are not in the font (a browser has more: .svg)", file=sys.stderr
        )


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


def _write_table(rows: Sequence[Row], even: Mapping[str, int]) -> None:
    columns = [name for name in rows[0] if name != LOWER_BOUND]  # for people a mark is enough
    shown = [{name: _shown(row[name], even.get(name)) for name in columns} for row in rows]
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


def _shown(value: Any, decimals: int | None) -> str:
    if value is None or value != value:  # nan: there is none, such as an error rate where no trial named a winner
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if decimals is not None and isinstance(value, float) and math.isfinite(value):
        return f"{value:,.{decimals}f}"
    if isinstance(value, int) or (math.isfinite(value) and abs(value) >= 1000.0):
        return f"{value:,.0f}"
    return f"{value:.4g}"


def plain(value: Any) -> Any:
    """Return a value, or None for a number that is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
