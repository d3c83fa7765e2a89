"""From a URL to the store of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestarm.errors import InputError, StoreError

if TYPE_CHECKING:
    from bestarm.live.store import Store


def open_store(url: object) -> Store:
    """Return the store at a URL, or refuse it. Nothing is connected to yet."""
    import sqlalchemy as sa

    from bestarm.live.postgresql import PostgreSQLStore
    from bestarm.live.sqlite import SQLiteStore

    fix = "such as sqlite:///run.db or postgresql://user@host/name"
    try:
        found = sa.make_url(url) if isinstance(url, str) else None
    except sa.exc.ArgumentError:
        found = None
    if found is None:
        raise InputError("url", "be that of a database", url, fix)
    kinds: dict[str, type[Store]] = {"sqlite": SQLiteStore, "postgresql": PostgreSQLStore, "postgres": PostgreSQLStore}
    kind = kinds.get(found.drivername.split("+")[0])
    if kind is None:
        raise InputError("url", "be one of SQLite or PostgreSQL", found.render_as_string(hide_password=True), fix)
    try:
        return kind(found)
    except ImportError as error:
        raise missing(error) from error


def missing(error: ImportError) -> StoreError:
    """Return what to say when a package of the extra `live` is not there."""
    return StoreError(
        "no study can be kept",
        f"the package {error.name} is not installed",
        "install the extra live: pip install -e '.[live]' in a clone of bestarm",
    )
