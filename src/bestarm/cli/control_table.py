"""The comparisons with a control, as rows of a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bestarm.cli.output import plain
from bestarm.identification.wording.control import ControlWords
from bestarm.identification.wording.text import in_cell
from bestarm.identification.wording.uplift import size

if TYPE_CHECKING:
    from bestarm.identification.comparison import Comparison
    from bestarm.log.result import LogResult
    from bestarm.problem import Label


def comparison_table(result: LogResult) -> list[dict[str, Any]]:
    """Return the rows for a terminal: the control first, then the other arms, the highest mean first."""
    words = ControlWords(result)
    pulls, title = {row.label: row.pulls for row in result.arms}, words.pulls_title
    empty = {
        "uplift": "",
        words.bound_head: "",
        "lead": None,
        "p-value": None,
        words.survives_head(): None,
        "verdict": "control",
    }
    control = {
        "arm": in_cell(result.control),
        title: pulls[result.control],
        **_means(result, words, result.control),
    }
    rows = [control | empty]
    rows += [_cells(result, words, each) | {title: pulls[each.label]} for each in result.comparisons]
    return rows


def _means(result: LogResult, words: ControlWords, label: Label | None) -> dict[str, Any]:
    """Return the mean of an arm; within blocks, beside that of the control in those that it shares with the arm."""
    mean, control = words.means_of(label)
    is_alone = label == result.control
    there = {} if not words.there() else {words.there_title(): None if is_alone else control}
    return {result.middle: mean} | there


def _cells(result: LogResult, words: ControlWords, each: Comparison) -> dict[str, Any]:
    found = each.uplift
    return {
        "arm": in_cell(each.label),
        words.pulls_title: 0,
        **_means(result, words, each.label),
        "uplift": "" if found is None or not math.isfinite(found.estimate) else size(found.estimate),
        words.bound_head: words.at_least(each),
        "lead": plain(each.lead),
        "p-value": each.p_value,
        words.survives_head(): words.survives_cell(each),
        "verdict": words.standing_of(each),
    }


def comparison_rows(result: LogResult) -> list[dict[str, Any]]:
    """Return one row per arm for a program: the row of every log, and what came out of the comparison."""
    by_label = {each.label: each for each in result.comparisons}
    rows = []
    for row in result.arms:
        each = by_label.get(row.label)
        rows.append(
            {
                "label": row.label,
                "pulls": row.pulls,
                "estimate": row.estimate,
                "lower": row.lower,
                "upper": row.upper,
                "mean": result.means.get(row.label),
                "control": row.label == result.control,
                "better": None if each is None else each.better,
                "worse": None if each is None else each.worse,
                "trusted": None if each is None else each.trusted,
                "lead": None if each is None else plain(each.lead),
                "uplift": None if each is None or each.uplift is None else plain(each.uplift.estimate),
                "uplift_low": None if each is None or each.uplift is None else plain(each.uplift.low),
                "uplift_high": None if each is None or each.uplift is None else plain(each.uplift.high),
                "p_value": None if each is None else each.p_value,
                "overturn": None if each is None else each.overturn,
                "tolerance": None if each is None else each.tolerance,
            }
        )
    return rows
