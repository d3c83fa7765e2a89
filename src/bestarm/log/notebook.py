"""The verdict on a log as a notebook shows it: its three lines, what it survives, and the arms."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from bestarm.identification.wording.log_page import PageWords
from bestarm.identification.wording.text import even_decimals, number_shown, printable, short
from bestarm.log.picture import ranked_rows

if TYPE_CHECKING:
    from bestarm.log.result import LogResult

_MOST_ROWS, _MOST_LETTERS = 50, 60


def as_cell(result: LogResult) -> str:
    """Return HTML for the output of a cell, by plain strings: it needs no template engine, and no file.

    Texts are escaped, as labels are whatever somebody put into the log. The named arm is bold, arms that are ruled out
    are faded.
    """
    words = PageWords(result)
    first, *others = (_text(words.cut(line)) for line in result.lines)
    said = [f"<p><b>{first}</b></p>", *(f"<p>{line}</p>" for line in others)]
    said += [f"<p>{_text(doubt)}</p>" for doubt in words.more_doubts()]
    said += [f"<p>{_text(sentence)}</p>" for sentence in words.survives()]
    head = ["arm", "rewards", result.middle, "interval"]
    head += [words.leads_by()] if words.leads else []
    rows = ranked_rows(result)
    decimals = even_decimals([row.estimate for row in rows])
    leads = even_decimals(words.leads.values())
    body = []
    for row in rows[:_MOST_ROWS]:
        label = _text(short(row.label, _MOST_LETTERS))
        cells = [f"<b>{label}</b>" if row.label == result.best else label, f"{row.pulls:,}"]
        cells += [number_shown(row.estimate, decimals), _text(words.interval(row, decimals))]
        cells += [number_shown(words.leads.get(row.label, math.nan), leads)] if words.leads else []
        style = "" if row.label in result.candidates else ' style="opacity: .55"'
        body.append(f"<tr{style}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    more = len(rows) - _MOST_ROWS
    rest = f"<p>and {more:,} more arms</p>" if more > 0 else ""
    heads = "".join(f"<th>{_text(name)}</th>" for name in head)
    return f"{''.join(said)}<table><tr>{heads}</tr>{''.join(body)}</table>{rest}"


def _text(text: str) -> str:
    return escape(printable(text))
