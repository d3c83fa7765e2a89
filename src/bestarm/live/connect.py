"""Find the store for a URL."""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import TYPE_CHECKING

from bestarm.errors import InputError
from bestarm.extras import explain, needs
from bestarm.live import backends

if TYPE_CHECKING:
    from bestarm.live.backends._base import Store

_ALIASES = {"postgres": "postgresql"}


def schemes() -> list[str]:
    """Return the URL schemes of all backends: the names of their files.

    >>> schemes()
    ['postgresql', 'sqlite']
    """
    return sorted(each.name for each in pkgutil.iter_modules(backends.__path__) if not each.name.startswith("_"))


def open_store(url: object) -> Store:
    """Return the store at a URL. It connects when it is first used."""
    needs("sqlalchemy")
    import sqlalchemy as sa

    fix = "such as sqlite:///run.db or postgresql://user@host/name"
    try:
        found = sa.make_url(url) if isinstance(url, str) else None
    except (sa.exc.ArgumentError, ValueError):  # the latter if the port is no number
        found = None
    if found is None:
        shown = re.sub("(:|//).*@", r"\1***@", url) if isinstance(url, str) else url  # no password in messages
        raise InputError("url", "be that of a database", shown, fix)
    scheme = found.drivername.split("+")[0]
    scheme = _ALIASES.get(scheme, scheme)
    if scheme not in schemes():
        known = " or ".join(f"{each}://" for each in schemes())
        raise InputError("url", f"begin with {known}", found.render_as_string(hide_password=True), fix)
    try:
        return _backend(scheme)(found)
    except ImportError as error:
        raise explain(error, unnamed="psycopg") from error


def _backend(scheme: str) -> type[Store]:
    """Return the store class that the file of a scheme defines."""
    from bestarm.live.backends._base import Store

    module = importlib.import_module(f"{backends.__name__}.{scheme}")
    kinds = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Store)]
    (kind,) = [each for each in kinds if each.__module__ == module.__name__]
    return kind
