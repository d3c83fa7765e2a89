"""Tables in databases by URL, as the command line takes them; in Python, open them with Ibis.

Nothing that is shown, raised or written has a password of the URL in it.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from bestarm.errors import InputError, NotFoundError
from bestarm.extras import needs
from bestarm.phrases import without_secrets

_FILES = ("duckdb", "sqlite")  # databases that are a file
_LONG = {"postgres": "postgresql"}  # what Ibis calls by a shorter name
_SUCH_AS = "such as postgresql://USER@HOST/DB or duckdb:///folder/file.duckdb"
_SHOWN = 12  # tables that an error names


def open_table(url: str, table: str | None) -> Any:
    """Return a table of Ibis: the one of this name in the database at a URL.

    Parameters
    ----------
    url : str
        As `ibis.connect` takes it. Of DuckDB and SQLite the file must be there: it is not made.
    table : str, optional
        The table or view; `schema.table` where it is not in the default schema. It must be given, and the error says
        which there are.
    """
    needs("ibis")
    database = _connected(url)
    shown, names = without_secrets(url), _names_of(database)
    if table is None:
        raise InputError("table", f"name a table of {shown}", None, _which(names))
    schema, _, bare = table.rpartition(".")
    if table not in names and schema:
        try:
            return database.table(bare, database=tuple(schema.split(".")) if "." in schema else schema)
        except Exception:
            raise _absent(table, shown, names) from None
    if table not in names:
        raise _absent(table, shown, names)
    try:
        return database.table(table)
    except Exception as error:
        fix = "make a view of the columns in use, of plain types"
        raise InputError("table", "be a table whose columns Ibis knows", _said(error, url), fix) from None


def _absent(table: str, shown: str, names: Sequence[str]) -> NotFoundError:
    near = difflib.get_close_matches(table, names, 3, 0.6) or [
        name for name in names if name.casefold() == table.casefold()
    ]
    fix = f"did you mean {' or '.join(map(repr, near))}?" if near else _which(names)
    return NotFoundError("table", f"name a table of {shown}", table, fix)


def _which(names: Sequence[str]) -> str:
    if not names:
        return "it has none in its default schema; name another as schema.table"
    more = ", ..." if len(names) > _SHOWN else ""
    return f"it has {', '.join(map(repr, names[:_SHOWN]))}{more}"


def _names_of(database: Any) -> list[str]:
    try:
        return sorted(database.list_tables())
    except Exception:  # of a database that does not list them, the name is tried
        return []


def _connected(url: str) -> Any:
    """Return the connection of Ibis to the database at a URL."""
    import ibis

    parts = _split(url)
    kind = _LONG.get(parts.scheme.lower(), parts.scheme.lower())
    known = [_LONG.get(point.name, point.name) for point in ibis.util.backend_entry_points()]
    if kind not in known:
        raise InputError(
            "LOG",
            "be a file, or the URL of a database",
            without_secrets(url),
            f"{_SUCH_AS}; Ibis knows {', '.join(sorted(known))}",
        )
    try:
        if kind in _FILES:
            return _opened_file(kind, parts, url)
        return ibis.connect(url)
    except InputError:
        raise
    except ImportError:
        fix = f"pip install 'ibis-framework[{kind}]'"
        rule = "be of a database whose driver is installed"
        raise InputError("LOG", rule, without_secrets(url), fix) from None
    except Exception as error:
        fix = f"check that it runs, its name and your rights; {_SUCH_AS}"
        raise InputError(without_secrets(url), "be a database that can be reached", _said(error, url), fix) from None


def _opened_file(kind: str, parts: SplitResult, url: str) -> Any:
    """Return the connection to a database that is a file, which must be there."""
    import ibis

    whole = unquote(parts.netloc + parts.path)
    path = next((each for each in (whole[1:], whole) if os.path.isfile(each)), None)  # relative as in SQLAlchemy's URLs
    if path is None:
        rule, fix = (
            "be a file that is there",
            f"such as {kind}:///votes.db, or {kind}:////folder/votes.db for a full path",
        )
        raise NotFoundError(without_secrets(url), rule, "no such file", fix)
    return ibis.duckdb.connect(path, read_only=True) if kind == "duckdb" else ibis.sqlite.connect(path)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:  # its message has a part of the URL, maybe of a password
        fix = f"write signs such as @, / and : in a password as %40, %2F and %3A, or leave it to PGPASSWORD; {_SUCH_AS}"
        raise InputError("LOG", "be the URL of a database", without_secrets(url), fix) from None
    return parts


def _said(error: Exception, url: str) -> str:
    """Return the first line of an error without the secrets of a URL."""
    text = without_secrets((str(error).strip().splitlines() or [type(error).__name__])[0])
    parts = urlsplit(url)
    for secret in {parts.password or "", *(value for _, value in _hidden(parts))}:
        for written in filter(None, (secret, unquote(secret))):
            text = text.replace(written, "***")
    return text[:200]


def _hidden(parts: SplitResult) -> list[tuple[str, str]]:
    """Return the settings of a URL that are secrets."""
    return [
        (name, value)
        for name, value in parse_qsl(parts.query)
        if without_secrets(f"x://?{name}={value}") != f"x://?{name}={value}"
    ]
