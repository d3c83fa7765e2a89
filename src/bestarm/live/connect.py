"""From a URL to the store of its kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bestarm.errors import InputError
from bestarm.extras import explain

if TYPE_CHECKING:
    from bestarm.live.store import Store


def open_store(url: object) -> Store:
    """Return the store at a URL, or refuse it. Nothing is connected to yet."""
    import sqlalchemy as sa

    fix = "such as sqlite:///run.db or postgresql://user@host/name"
    try:
        found = sa.make_url(url) if isinstance(url, str) else None
    except (sa.exc.ArgumentError, ValueError):  # the latter of a port that is no number
        found = None
    if found is None:
        shown = re.sub("(:|//).*@", r"\1***@", url) if isinstance(url, str) else url  # no password in messages
        raise InputError("url", "be that of a database", shown, fix)
    kind = found.drivername.split("+")[0]
    try:
        if kind == "sqlite":
            from bestarm.live.sqlite import SQLiteStore

            return SQLiteStore(found)
        if kind in ("postgresql", "postgres"):
            from bestarm.live.postgresql import PostgreSQLStore

            return PostgreSQLStore(found)
    except ImportError as error:
        raise explain(error, unnamed="psycopg") from error
    raise InputError("url", "be one of SQLite or PostgreSQL", found.render_as_string(hide_password=True), fix)
