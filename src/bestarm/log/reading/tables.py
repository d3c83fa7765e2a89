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


def as_table(data: Any) -> pd.DataFrame | pa.Table | None:
    """Return a table of the user, or None if the data are files."""
    pandas = sys.modules.get("pandas")  # it takes half a second to load, and whoever has a DataFrame has loaded it
    is_frame = pandas is not None and isinstance(data, pandas.DataFrame)
    if is_frame and data.columns.nlevels > 1:
        raise InputError("data", "have one row of names of columns", "several", "name the columns by one text each")
    if isinstance(data, str | os.PathLike) or (isinstance(data, list | tuple) and data and _are_paths(data)):
        return None
    if not is_frame and not isinstance(data, pa.Table):
        if hasattr(data, "to_arrow"):
            data = data.to_arrow()
        elif hasattr(data, "__arrow_c_stream__"):
            data = pa.table(data)
        elif isinstance(data, list | tuple) and not data:
            raise InputError("data", "name at least one file", data, "the list is empty")
        else:
            rule = "be a DataFrame, an Arrow table, a path or a list of paths"
            raise InputError("data", rule, type(data).__name__, "see help")
    if data.empty if is_frame else not data.num_rows:
        raise InputError("data", "have rows", "none", "the table is empty")
    return data


def names_of(table: pd.DataFrame | pa.Table) -> list[str]:
    """Return the names of the columns of a table."""
    return list(table.column_names) if isinstance(table, pa.Table) else [str(name) for name in table.columns]


def select(table: pd.DataFrame | pa.Table, used: Sequence[str], also: Sequence[str] = ()) -> pa.Table:
    """Return some columns of a table; mixed ones as text, because DuckDB would guess their type from the first rows.

    The columns `also` that cannot be converted, such as arrays in cells, have no values.
    """
    names = list(dict.fromkeys([*used, *also]))
    if isinstance(table, pa.Table):
        return table.select(names)
    columns: dict[str, Any] = {}
    for name in names:
        column = table.iloc[:, names_of(table).index(name)]
        try:
            columns[name] = _as_arrow(column)
        except (TypeError, ValueError, pa.ArrowException):
            if name in used:
                raise
            columns[name] = pa.nulls(len(column), pa.string())
    return pa.table(columns)


def _as_arrow(column: pd.Series[Any]) -> Any:
    import pandas as pd

    if column.dtype == object:
        column = pd.Series([_text(cell) for cell in column], dtype="string")
    return pa.array(column, from_pandas=True)


def _are_paths(data: Sequence[Any]) -> bool:
    return all(isinstance(each, str | os.PathLike) for each in data)


def _text(cell: Any) -> str | None:
    import pandas as pd

    return None if cell is None or cell is pd.NA or cell is pd.NaT or cell != cell else str(cell)
