"""What the tests of studies share (see also conftest.py: `server`, `url`)."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bestarm as ba
from bestarm.identification.waiting import Waiting

if TYPE_CHECKING:  # conftest.py imports this for all tests, most of which need no database
    from bestarm.live.backends._sql import SQLStore

ASKED: dict[str, Any] = {"delta": 0.05, "epsilon": 0.05, "bounds": (0, 1)}
_fresh = itertools.count()


def new_database(server: Any) -> str:
    """Return the URL of an empty database."""
    name = f"fresh_{next(_fresh)}"
    server.psql(f"create database {name};")
    return str(server.get_uri(name))


def make(url: str, name: str = "study", arms: Any = ("A", "B", "C"), **changes: Any) -> ba.Study:
    """A study with rewards from 0 to 1."""
    return ba.Study(url, name, arms, **{**ASKED, **changes})


def sql_store(url: str) -> SQLStore:
    """The store at the URL of a database with tables."""
    from bestarm.live.connect import open_store

    return with_tables(open_store(url))


def store_of(study: ba.Study) -> SQLStore:
    """The store that a study uses, with its connection."""
    return with_tables(study._log.store)


def with_tables(store: Any) -> SQLStore:
    from bestarm.live.backends._sql import SQLStore

    assert isinstance(store, SQLStore)
    return store


def bare(result: ba.Result) -> ba.Result:
    """Leave out what waits, of which a study on a database knows more: for whose pulls, and since when."""
    return replace(result, waiting=Waiting())
