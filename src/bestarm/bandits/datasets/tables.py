"""Read a CSV data file: complete, in UTF-8, with every cell present; anything else is rejected with the reason."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.validation import number


def read_table(path: Path) -> pd.DataFrame:
    """Return the cells of a CSV file as text; a caption "NA" stays text."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise refusal(path, "be a file that can be read", type(error).__name__, "check its permissions") from error
    except UnicodeDecodeError as error:
        raise refusal(path, "be in UTF-8", error.object[error.start : error.end], f"at byte {error.start}") from error
    if not text.strip():
        raise refusal(path, "have rows", "an empty file", "get it again")
    # The last cell of a file cut short can look whole; the line break after it can't.
    if not text.endswith(("\n", "\r")):
        raise refusal(path, "end with a line break", text[-20:], "it was cut short; get it again")
    try:
        table = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    except pd.errors.ParserError as error:
        raise refusal(path, "be a CSV file", str(error).strip(), "it is damaged or cut short; get it again") from error
    if not isinstance(table.index, pd.RangeIndex):  # pandas takes the surplus for row labels
        raise refusal(path, "have as many cells in a row as columns", "more", "is its first line missing?")
    if table.empty:
        raise refusal(path, "have rows", "a header alone", "it was cut short; get it again")
    return table


def require(path: Path, table: pd.DataFrame, columns: Iterable[str], what: str) -> None:
    """Reject a table that lacks some columns."""
    missing = [column for column in columns if column not in table]
    if missing:
        raise refusal(path, f"have the columns {', '.join(missing)}", list(table.columns)[:12], f"is it {what}?")


def numeric(path: Path, table: pd.DataFrame, columns: list[str]) -> NDArray[np.float64]:
    """Return columns as an array of finite numbers, one row per row of the table."""
    cells = table[columns]
    flat = pd.to_numeric(cells.to_numpy(object).ravel(), errors="coerce")  # at once: 400 columns one by one are slow
    found = np.asarray(flat, np.float64).reshape(cells.shape)
    bad = np.argwhere(~np.isfinite(found))
    if bad.size:
        row, column = (int(index) for index in bad[0])
        refuse_row(path, row, f"have a number as {columns[column]}", cells.iat[row, column])
    return found


def refuse_row(path: Path, row: int, rule: str, received: Any) -> None:
    """Reject a file because of one of its rows, counted from 0 below the header."""
    raise refusal(path, f"{rule} in row {row + 1}", received, "it is damaged or of another kind; get it again")


def refuse_first(path: Path, bad: Any, rule: str, received: Any, stated: Any = None) -> None:
    """Reject a file if any of its rows is bad, because of the first: `{:g}` in the rule is what is `stated` there."""
    rows = np.flatnonzero(np.asarray(bad, bool))
    if rows.size:
        row = int(rows[0])
        refuse_row(path, row, rule if stated is None else rule.format(stated[row]), received[row])


def refusal(path: Path, rule: str, received: Any, fix: str) -> InputError:
    """Return the error for a file that breaks a rule."""
    return InputError(str(path), rule, received, fix)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only and return it."""
    array.setflags(write=False)
    return array


def chosen(name: str, indices: Any, size: int) -> list[int]:
    """Return the indices meant by None (all), a number n (the first n) or a list of distinct indices below `size`."""
    if indices is None:
        return list(range(size))
    count = number(indices)
    if count % 1.0 == 0.0 and 2.0 <= count <= size:
        return list(range(int(count)))
    found = [number(index) for index in indices] if isinstance(indices, Iterable) else []
    if len(found) < 2 or len(set(found)) < len(found) or any(index not in range(size) for index in found):
        raise InputError(
            name, f"be a number from 2 to {size}, or a list of at least two places below {size}", indices, "None is all"
        )
    return [int(index) for index in found]
