"""Packages that are not installed with bestarm itself, and the extra that brings each."""

from __future__ import annotations

from importlib.util import find_spec

from bestarm.errors import MissingExtraError

EXTRAS = {
    "alembic": "live",
    "duckdb": "log",
    "ibis": "warehouse",
    "jinja2": "paper",
    "matplotlib": "figures",
    "pandas": "tables",
    "pooch": "paper",
    "psycopg": "live",
    "pyarrow": "tables",
    "pydantic": "paper",
    "rich": "cli",
    "sqlalchemy": "live",
    "typer": "cli",
}


def needs(*modules: str, extra: str | None = None) -> None:
    """Raise a `MissingExtraError` for the first module that is not installed.

    `extra` is the extra to suggest, for a module that several bring.

    >>> needs("pandas", "matplotlib")  # both are installed
    """
    for module in modules:
        if not is_there(module):
            raise MissingExtraError(module, extra or EXTRAS[module])


def explain(error: ImportError, unnamed: str = "") -> Exception:
    """Return an error that names the extra to install for a failed import; the same error if no extra brings it.

    `unnamed` is the package to blame if the error names none: psycopg, say, does not name the C library it lacks.
    """
    name = (error.name or unnamed).partition(".")[0]
    return MissingExtraError(name, EXTRAS[name]) if name in EXTRAS else error


def is_there(module: str) -> bool:
    """Tell whether a module can be imported, without importing it."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
