"""Tables that a user has in memory, pandas or Arrow, as DuckDB takes them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from bestarm.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def as_table(data: Any) -> Any:
    """Return a table of the user, or None if the data are files."""
    pandas = sys.modules.get("pandas")  # half a second to load, and needed by who has it anyway
    if pandas is not None and isinstance(data, pandas.DataFrame):
        if data.columns.nlevels > 1:
            raise InputError("data", "have one row of names of columns", "several", "name the columns by one text each")
        if data.empty:
            raise InputError("data", "have rows", "none", "the table is empty")
        return _Frame(data)
    if isinstance(data, str | os.PathLike) or (isinstance(data, list | tuple) and data and _are_paths(data)):
        return None
    if not isinstance(data, pa.Table) and (hasattr(data, "__arrow_c_stream__") or hasattr(data, "to_arrow")):
        data = data.to_arrow() if hasattr(data, "to_arrow") else pa.table(data)
    if isinstance(data, pa.Table):
        if not data.num_rows:
            raise InputError("data", "have rows", "none", "the table is empty")
        return _Arrow(data)
    if isinstance(data, list | tuple) and not data:
        raise InputError("data", "name at least one file", data, "the list is empty")
    raise InputError(
        "data", "be a DataFrame, an Arrow table, a path or a list of paths", type(data).__name__, "see help"
    )


def _are_paths(data: Sequence[Any]) -> bool:
    return all(isinstance(each, str | os.PathLike) for each in data)


def _text(cell: Any) -> str | None:
    import pandas as pd

    return None if cell is None or cell is pd.NA or cell is pd.NaT or cell != cell else str(cell)


class _Frame:
    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame
        self.column_names = [str(name) for name in frame.columns]

    def plain(self, used: Sequence[str]) -> Any:
        """Return the columns in use; mixed ones as text, which DuckDB would guess from the first rows."""
        import pandas as pd

        columns: dict[str, Any] = {}
        for name in dict.fromkeys(used):
            column = self._frame.iloc[:, self.column_names.index(name)]
            if column.dtype == object:
                column = pd.Series([_text(cell) for cell in column], dtype="string")
            columns[name] = pa.array(column, from_pandas=True)
        return pa.table(columns)


class _Arrow:
    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.column_names = list(table.column_names)

    def plain(self, used: Sequence[str]) -> Any:
        """Return the columns in use."""
        return self._table.select(list(dict.fromkeys(used)))
