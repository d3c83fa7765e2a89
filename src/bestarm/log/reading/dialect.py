"""How a CSV file is written, seen from its first rows.

DuckDB's own sniffer is not used (measured with 2.0): after a bad row near the top it finds one column or no quotes, it
fails where line breaks are mixed, it does not try all delimiters, and it does not know which columns a user named.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

_DELIMITERS = (",", ";", "\t", "|", ":", "^", "~", " ")  # of equally good ones, the first
_ROWS = 1000  # by which a delimiter is judged


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written; `skip` is the number of blank lines before the first row."""

    delimiter: str
    quote: str = '"'
    escape: str = '"'
    skip: int = 0

    def reader(self, lines: Iterable[str]) -> Any:
        """Return a reader of Python's module csv."""
        doubled = self.escape == self.quote
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote,
            doublequote=doubled,
            escapechar=None if doubled else self.escape,
        )

    def rows(self, text: str, is_cut: bool) -> list[list[str]]:
        """Return the first rows of a text that are not empty."""
        rows: list[list[str]] = []
        with suppress(csv.Error):  # a cell of more than 128 KiB
            rows.extend(islice(filter(None, self.reader(io.StringIO(text, newline=""))), _ROWS + 1))
        if is_cut and 1 < len(rows) <= _ROWS:
            rows.pop()
        return rows


def read_header(text: str, is_cut: bool, wanted: Sequence[str]) -> tuple[Dialect, tuple[str, ...]]:
    """Return how a text is written, and the cells of its first row.

    The delimiter is the one with which the columns asked for are there, and most rows have as many cells as the first.
    """
    body = text.lstrip("\r\n")
    skip = len(text[: len(text) - len(body)].splitlines())
    quote, escape = _quotes(body)
    asked = {name.strip().casefold() for name in wanted}

    def fit(rows: list[list[str]]) -> tuple[bool, float]:
        header = {cell.strip().casefold() for cell in rows[0]}
        same = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
        return bool(asked) and asked <= header, same if len(rows[0]) > 1 else 0.0

    dialects = [Dialect(delimiter, quote, escape, skip) for delimiter in _DELIMITERS]
    tried = [(dialect, dialect.rows(body, is_cut)) for dialect in dialects]
    splits = [(dialect, rows) for dialect, rows in tried if rows and len(rows[0]) > 1]
    one_column = dialects[0], tried[0][1] or [[body.partition("\n")[0]]]
    dialect, rows = max([*splits, one_column], key=lambda pair: fit(pair[1]))
    header = tuple(cell.strip() for cell in rows[0])
    if len(header) > 1 and not header[-1] and len(rows) > 1 and not any(row[-1:] == [""] for row in rows[1:]):
        header = header[:-1]  # a delimiter at the end of the header alone
    return dialect, header


def _quotes(text: str) -> tuple[str, str]:
    """Return the quote around cells, and what is put before a quote within one."""
    if re.search(r"(^|[,;\t|])'[^'\n]*'($|[,;\t|])", text, re.MULTILINE) and '"' not in text:
        return "'", "'"
    return '"', "\\" if '\\"' in text and '""' not in text.replace(',""', "") else '"'
