"""A verdict as HTML for a notebook; plain strings, as the package itself does not install a template engine."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from bestarm.identification.result import ArmRow, Result

_MOST_ROWS = 50
_HEAD = ("arm", "rewards", "estimate", "lower", "upper", "lead over it")


def as_html(result: Result[Any]) -> str:
    """Return the sentence and the table of arms; the winner is bold, and arms that are ruled out are faded."""
    head = "".join(f"<th>{name}</th>" for name in _HEAD)
    rows = "".join(_row(result, row) for row in result.arms[:_MOST_ROWS])
    more = len(result.arms) - _MOST_ROWS
    rest = f"<p>and {more:,} more arms</p>" if more > 0 else ""
    return f"<p>{escape(str(result))}</p><table><tr>{head}</tr>{rows}</table>{rest}"


def _row(result: Result[Any], row: ArmRow[Any]) -> str:
    numbers = (row.estimate, row.lower, row.upper, result.leads.get(row.label, math.nan))
    cells = [escape(str(row.label)), f"{row.pulls:,}", *("" if math.isnan(x) else f"{x:.4g}" for x in numbers)]
    if row.label == result.best:
        cells[0] = f"<b>{cells[0]}</b>"
    style = "" if row.label in result.candidates else ' style="opacity: .55"'
    return f"<tr{style}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
