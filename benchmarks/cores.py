"""What a second worker brings."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial

from benchmarks.cost import DELTA, bandit
from benchmarks.report import Goal, Section
from benchmarks.timing import fastest
from bestarm import simulate

BACKENDS = ("threads", "loky")
SPEED_UP = 1.8


def measure(quick: bool) -> Section:
    """Measure one worker against two, threads and processes, in time that passes."""
    trials = 2_000 if quick else 8_000
    repeats = 2 if quick else 5
    cores = os.cpu_count() or 1
    section = Section("Two workers")
    rows = []
    for backend in BACKENDS:
        runs: list[Callable[[], object]] = [
            partial(simulate, bandit(), "se-cbai", delta=DELTA, trials=trials, seed=1, workers=workers, backend=backend)
            for workers in (1, 2)
        ]
        runs[1]()  # processes start and load the kernels
        one, two = fastest(runs, repeats, time.perf_counter)
        rows.append((backend, f"{one:.2f}", f"{two:.2f}", f"{one / two:.2f}"))
        section.goals.append(Goal(f"speed-up by two workers, {backend}", one / two, SPEED_UP, at_least=True))
    section.notes.append(
        f"{trials:,} trials of se-cbai on the first table's instance; seconds that pass. The machine has {cores} cores."
    )
    section.tables.append((("backend", "1 worker, s", "2 workers, s", "speed-up"), rows))
    return section
