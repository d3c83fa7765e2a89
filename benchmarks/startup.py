"""How long it takes until something is computed: with a new cache of compiled kernels, and afterwards."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time

from benchmarks.report import Goal, Section

SIMULATE = ["-m", "bestarm", "simulate", "--means", "2.5,1", "--method", "se-cbai", "--trials", "1"]
FIRST, LATER = 30.0, 1.5

# The same command, left as soon as its first trial is computed, with all that this takes: from then on it computes.
UNTIL_COMPUTED = f"""
import os, sys
from bestarm.simulation import backends
compute = backends.run_chunk
backends.run_chunk = lambda *chunk: (compute(*chunk), os._exit(0))
sys.argv = {SIMULATE[1:]!r}
from bestarm.cli import main
main()
raise SystemExit("nothing was computed")
"""


def seconds(arguments: list[str], cache: str) -> tuple[float, float]:
    """Return the time that passes, and processor time, of a Python process with its kernels in a folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
    passed = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return passed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def best(arguments: list[str], cache: str, repeats: int) -> tuple[float, float]:
    """Return the least of each over some runs."""
    runs = [seconds(arguments, cache) for _ in range(repeats)]
    return min(run[0] for run in runs), min(run[1] for run in runs)


def measure(quick: bool) -> Section:
    """Measure the first run of a command, and later ones."""
    repeats = 3 if quick else 7
    section = Section("Start-up")
    with tempfile.TemporaryDirectory() as cache:
        first = seconds(SIMULATE, cache)
        later = best(["-c", UNTIL_COMPUTED], cache, repeats)
        commands = {
            "bestarm simulate, 1 trial, nothing compiled yet": first,
            "bestarm simulate, 1 trial, again": best(SIMULATE, cache, repeats),
            "of which up to the end of that trial": later,
            "import bestarm and the kernels": best(["-c", "import bestarm.kernels.trials.trial"], cache, repeats),
            "import bestarm": best(["-c", "import bestarm"], cache, repeats),
            "bestarm --help": best(["-m", "bestarm", "--help"], cache, repeats),
            "an empty Python process": best(["-c", ""], cache, repeats),
        }
    rows = [(name, f"{passed:.2f}", f"{spent:.2f}") for name, (passed, spent) in commands.items()]
    section.tables.append((("command", "seconds", "processor seconds"), rows))
    section.notes.append("Each in a new process; the kernels are compiled into an empty folder by the first.")
    section.goals.append(Goal("the first simulation ever, processor time", first[1], FIRST, "s"))
    section.goals.append(Goal("every later one, until it computes", later[0], LATER, "s"))
    return section
