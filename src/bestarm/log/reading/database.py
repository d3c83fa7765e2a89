"""The database in memory that a log is read into: DuckDB, and the queries of the folder `queries`, by name.

The first query, `macros`, has the rules by which cells are read. The others each make one table or return one answer;
the comment at the top of each says from which tables.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bestarm.extras import explain

try:
    import duckdb
except ImportError as error:
    raise explain(error) from error

Progress = Callable[[float], None]
DatabaseError = duckdb.Error
UNPACKING_ERRORS = (duckdb.IOException, duckdb.InvalidInputException)
_MEMORY = "2GB"  # beyond this DuckDB writes to disk; the rewards themselves come on top
_THREADS = 8
_TICK = 0.2  # seconds between two reports of progress


class Database:
    """A database in memory that runs the queries of a log.

    Parameters
    ----------
    folder : path
        Where it writes what does not fit into memory.
    progress : function, optional
        Called with the share that is done of a long query.
    """

    def __init__(self, folder: Path, progress: Progress | None) -> None:
        self._progress = progress
        self._connection = duckdb.connect()
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
        self._folder = folder
        spill = quoted(str(folder / "spill"))
        self.ask("settings", memory=quoted(_MEMORY), threads=min(cores, _THREADS), folder=spill)
        self.ask("macros")

    def close(self) -> None:
        """Free the memory."""
        self._connection.close()

    def register(self, name: str, table: Any) -> None:
        """Let queries select from a table of Arrow by a name."""
        self._connection.register(name, table)

    def ask(self, query: str, /, *parameters: Any, **pieces: object) -> list[tuple[Any, ...]]:
        """Run a short query and return its rows; `pieces` replace the names that begin with a dollar sign."""
        return self._connection.execute(_sql(query, pieces), list(parameters)).fetchall()

    def run(self, query: str, /, **pieces: object) -> dict[str, NDArray[Any]]:
        """Run a long query, with progress, and return its columns."""
        result = self.start(query, **pieces)
        return {name: np.asarray(column) for name, column in result.fetchnumpy().items()}

    def on_disk(self, query: str, /, **pieces: object) -> bool:
        """Run a query that makes a table in a file, `disk`; return whether there was room for it."""
        self.ask("attach_disk", file=quoted(str(self._folder / "watched.duckdb")))
        try:
            self.run(query, **pieces)
        except DatabaseError:
            self.ask("detach_disk")
            return False
        return True

    def texts(self, query: str, /, **pieces: object) -> pa.ChunkedArray:
        """Run a query and return its first column, of texts, in the compact form of Arrow."""
        (column,) = self.run(query, **pieces).values()
        return pa.chunked_array([pa.array(column, pa.string())])

    def start(self, query: str, /, **pieces: object) -> duckdb.DuckDBPyConnection:
        """Run a long query, with progress, and return what the rows can be fetched from."""
        sql = _sql(query, pieces)
        if self._progress is None:
            return self._connection.execute(sql)
        with ThreadPoolExecutor(1) as worker:
            running = worker.submit(self._connection.execute, sql)
            try:
                is_done = False
                while not is_done:
                    is_done = bool(wait([running], _TICK).done)
                    self._progress(min(max(self._connection.query_progress(), 0.0) / 100.0, 1.0))
            except BaseException:
                self._connection.interrupt()
                raise
            return running.result()


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


@functools.cache
def _template(query: str) -> Template:
    return Template(resources.files(__package__).joinpath("queries", f"{query}.sql").read_text(encoding="utf-8"))


def _sql(query: str, pieces: dict[str, object]) -> str:
    return _template(query).substitute(pieces)
