"""The rows of a log that cannot be used: which they are, where they are, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bestarm.errors import InputError
from bestarm.log.cells import BAD_COUNT, BAD_JSON, BAD_REWARD, BLANK, DATES, NO_SOURCE, NO_TIME, RULES
from bestarm.log.files import LogFile
from bestarm.log.rewards import BadRow
from bestarm.phrases import Phrase, Setting, phrase

if TYPE_CHECKING:
    from bestarm.log.reading import Log

Reject = tuple[LogFile, int, str, str]  # file, byte, kind of error, and what was there

_OPEN_QUOTE = "UNQUOTED VALUE"
_REJECTS = {  # of DuckDB: the rule that is broken, the same as a description, and what to do
    "MISSING COLUMNS": ("have as many cells as there are columns", "has too few cells", "correct it"),
    "TOO MANY COLUMNS": ("have as many cells as there are columns", "has too many cells", "put quotes around its text"),
    _OPEN_QUOTE: ("close its quotes", "has an open quote", "double a quote that is part of a text"),
    "INVALID ENCODING": ("be in UTF-8, as the rows before it are", "is not in UTF-8", "correct it"),
    "LINE SIZE OVER MAXIMUM": ("be shorter than 2 MB", "is too long", "is a quote not closed?"),
}


def torn_rows(log: Log) -> list[Reject]:
    """Return the rows that DuckDB could not take apart."""
    if not any(file.kind in ("csv", "json") for file in log.files):
        return []
    found = log.connection.execute(
        "SELECT DISTINCT file_path, coalesce(line_byte_position, 1), error_type::VARCHAR, csv_line "
        "FROM reject_errors JOIN reject_scans USING (scan_id, file_id) ORDER BY ALL"
    ).fetchall()
    indices = {file.path: index for index, file in enumerate(log.files)}
    rows = sorted((indices[path], byte, kind, text or "") for path, byte, kind, text in found if path in indices)
    firsts = {(index, byte): (log.files[index], byte, kind, text) for index, byte, kind, text in reversed(rows)}
    return list(reversed(firsts.values()))


def described(reject: Reject) -> tuple[BadRow, str, str]:
    """Return a row that was torn, the rule that it breaks, and what to do."""
    file, byte, kind, text = reject
    rule, reason, fix = _REJECTS.get(kind, ("be a row of the table", "is no row of the table", "correct it"))
    text = text.strip("\r\n")
    if kind == "TOO MANY COLUMNS" or kind == "MISSING COLUMNS":
        rule = f"{rule} ({len(file.columns)})"
    return BadRow(file.name, file.line_at(byte), reason, text[:80]), rule, fix


def bad_rows(log: Log, most: int) -> Iterator[tuple[BadRow, int, str]]:
    """Yield the first bad rows of the file, with their state and the name of the column at fault."""
    states = ", ".join(str(state) for state in RULES)
    log.connection.execute("SET preserve_insertion_order=true")
    for file in log.parts:
        rows = f"({log.rows_of(file, located=True)})"
        found = log.connection.execute(
            "SELECT whole, state, arm, coalesce(reward, CAST(exact AS VARCHAR)), often, who, clock "
            f"FROM ({log.understood(rows)}) "
            f"WHERE state IN ({states}) LIMIT {most}"
        ).fetchall()
        lines = _lines(file, [whole for whole, *_ in found])
        for line, (whole, state, arm, reward, often, who, clock) in zip(lines, found, strict=True):
            columns = log.columns
            value, column = {
                BLANK: (arm, columns.arm),
                NO_SOURCE: (who, columns.source),
                NO_TIME: (clock, columns.time),
                BAD_COUNT: (often, columns.count or "count"),
                BAD_JSON: (whole[0], None),
            }.get(state, (reward, columns.reward or arm))
            name = file.name if file else "the table"
            yield BadRow(name, line, RULES[state][1], str("" if value is None else value)[:80]), state, column or ""
        most -= len(found)
        if most <= 0:
            return


def _lines(file: LogFile | None, rows: list[list[str | None]]) -> Iterator[int | None]:
    cells = [["" if cell is None else cell for cell in row] for row in rows]
    return file.lines(cells) if file else (int(row[0]) for row in cells)


def refuse_open_quotes(log: Log, rejects: list[Reject]) -> None:
    """Refuse a quote that is never closed, even if bad rows are skipped: all that follows it would be lost with it."""
    for reject in rejects:
        if reject[2] == _OPEN_QUOTE and reject[3].count('"') % 2:
            row, rule, fix = described(reject)
            raise InputError(_where(log, row), rule, row.value, f"{fix}; it swallows the rows that follow")


def refuse_first(log: Log, rejects: list[Reject], bad: int, rows: int) -> None:
    """Refuse the log for the first of its bad rows."""
    others = Phrase(f"; {{}} leaves out such rows, {bad:,} of {rows:,}", Setting("on_bad_row", "skip"))
    found = next(bad_rows(log, 1), None)
    torn = described(rejects[0]) if rejects else None
    names = [file.name for file in log.files]
    if torn is not None:
        row, rule, fix = torn
        key = names.index(row.file), row.line or 0
        if found is None or key <= (names.index(found[0].file), found[0].line or 0):
            raise InputError(_where(log, row), rule, row.value, fix + others)
    assert found is not None
    row, state, column = found
    rule, fix = RULES[state][0].format(column=column, bounds=log.bounds, dates=DATES), phrase("correct it")
    if state == BAD_REWARD and "," in row.value and not log.has_commas:
        fix = phrase("other rewards have a decimal point, so that this comma is not clear; correct it")
    elif state == NO_SOURCE:
        fix = Phrase("fill it in, or {} if it does not matter who gave a reward", Setting("source", False))
    raise InputError(_where(log, row), rule, row.value, fix + others)


def _where(log: Log, row: BadRow) -> str:
    if row.line is None:
        return f"a row of {row.file}"
    is_text = any(file.name == row.file and file.kind in ("csv", "json") for file in log.files)
    return f"{'line' if is_text else 'row'} {row.line:d} of {row.file}"
