"""The rows of a log that cannot be used: which they are, where they are, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from bestarm.errors import InputError
from bestarm.log.reading.parts import Part
from bestarm.log.reading.rows import DATES, OpenLog, TornRow
from bestarm.log.rewards import BadRow
from bestarm.phrases import Phrase, Setting, phrase

EXAMPLES = 5
# By the state that queries/macros.sql gives to a row: the end of "line 7 must ...", and a description.
BAD = {
    "no arm": ("have an arm", "is no arm"),
    "no source": ("have a source", "is no source"),
    "no time": ("have a time (a number, or a date {dates})", "is no time"),
    "bad count": ("have a whole number >= 0 as {column}", "is no count"),
    "bad reward": ("have a number as {column}", "is no number"),
    "outside": ("have {column} within the bounds {bounds}", "is out of bounds"),
    "bad json": ("be an object in JSON", "is no JSON"),
}
_OPEN_QUOTE = "UNQUOTED VALUE"
# By the error of DuckDB: the rule that is broken, a description, and what to do.
_TORN = {
    "MISSING COLUMNS": ("have as many cells as there are columns", "has too few cells", "correct it"),
    "TOO MANY COLUMNS": ("have as many cells as there are columns", "has too many cells", "put quotes around its text"),
    _OPEN_QUOTE: ("close its quotes", "has an open quote", "double a quote that is part of a text"),
    "INVALID ENCODING": ("be in UTF-8, as the rows before it are", "is not in UTF-8", "correct it"),
    "LINE SIZE OVER MAXIMUM": ("be shorter than 2 MB", "is too long", "is a quote not closed?"),
}


def examples(log: OpenLog, torn: Sequence[TornRow]) -> tuple[BadRow, ...]:
    """Return the first rows that cannot be used."""
    split = (described(row)[0] for row in torn[:EXAMPLES])
    return tuple(islice(chain(split, (row for row, *_ in _bad_rows(log, EXAMPLES))), EXAMPLES))


def described(torn: TornRow) -> tuple[BadRow, str, str]:
    """Return a row that could not be split into cells, the rule that it breaks, and what to do."""
    rule, reason, fix = _TORN.get(torn.kind, ("be a row of the table", "is no row of the table", "correct it"))
    if torn.kind in ("TOO MANY COLUMNS", "MISSING COLUMNS"):
        rule = f"{rule} ({len(torn.part.columns)})"
    text = torn.text.strip("\r\n")[:80]
    return BadRow(torn.part.name, torn.file.line_at(torn.byte), reason, text), rule, fix


def refuse_open_quotes(torn: Sequence[TornRow]) -> None:
    """Refuse a quote that is never closed, even if bad rows are skipped: all that follows it would be lost with it."""
    for each in torn:
        if each.kind == _OPEN_QUOTE and each.text.count('"') % 2:
            row, rule, fix = described(each)
            raise InputError(_where(row, each.part), rule, row.value, f"{fix}; it swallows the rows that follow")


def _without_sign(value: str) -> str:
    """Return a number without a sign of percent or money; empty if it is no such number.

    >>> _without_sign("65 %"), _without_sign("$3.20"), _without_sign("good")
    ('65', '3.20', '')
    """
    text = value.strip().strip("%$€£ ")
    return text if text != value.strip() and text.replace(".", "", 1).replace(",", "", 1).isdecimal() else ""


def refuse_first(log: OpenLog, torn: Sequence[TornRow], bad: int, rows: int) -> None:
    """Refuse the log for the first of its bad rows."""
    others = Phrase(f"; {{}} leaves out such rows, {bad:,} of {rows:,}", Setting("on_bad_row", "skip"))
    others = others if bad < rows else phrase("")
    found = next(_bad_rows(log, 1), None)
    names = [part.name for part in log.parts]
    if torn:
        row, rule, fix = described(torn[0])
        if found is None or _position(row, names) <= _position(found[0], names):
            raise InputError(_where(row, torn[0].part), rule, row.value, fix + others)
    assert found is not None
    (row, state, column, part), columns = found, log.columns
    rule, fix = BAD[state][0].format(column=column, bounds=log.spec.bounds, dates=DATES), phrase("correct it")
    if state == "bad reward" and "," in row.value and not log.has_commas:
        fix = phrase("other rewards have a decimal point, so that this comma is not clear; correct it")
    elif state == "bad count" and columns.visits is not None:
        rule = f"have at most as many {columns.successes} as {columns.visits}, both whole numbers"
        fix = phrase("write it without a comma") if "," in row.value else fix
    elif state == "bad reward" and (plain := _without_sign(row.value)):
        fix = phrase(f"write all of them without the sign, here {plain}")
    elif state == "bad reward" and bad == rows:
        fix = phrase("rewards are numbers, or yes and no; write 1 for other words that are good, 0 for the others")
    elif state == "no source":
        fix = Phrase("fill it in, or {} if it does not matter who gave a reward", Setting("source", False))
    raise InputError(_where(row, part), rule, row.value, fix + others)


def _position(row: BadRow, names: Sequence[str]) -> tuple[int, int]:
    return names.index(row.file), row.line or 0


def _bad_rows(log: OpenLog, most: int) -> Iterator[tuple[BadRow, str, str, Part]]:
    """Yield the first rows with bad cells, their states, the names of the columns at fault, and where they are."""
    columns = log.columns
    log.keep_order(True)
    for part in log.parts:
        log.locate_rows(part)
        found = log.database.ask("bad_rows", most=most)
        lines = part.lines([["" if cell is None else cell for cell in whole] for whole, *_ in found])
        for line, (whole, state, arm, reward, often, who, clock) in zip(lines, found, strict=True):
            value, column = {
                "no arm": (arm, columns.arm),
                "no source": (who, columns.source),
                "no time": (clock, columns.time),
                "bad count": (often, columns.count or "count"),
                "bad json": (whole[0], None),
            }.get(state, (reward, columns.reward or arm))
            shown = str("" if value is None else value)[:80]
            yield BadRow(part.name, line, BAD[state][1], shown), state, column or "", part
        most -= len(found)
        if most <= 0:
            return


def _where(row: BadRow, part: Part) -> str:
    return f"a row of {row.file}" if row.line is None else f"{part.row_noun} {row.line:d} of {row.file}"
