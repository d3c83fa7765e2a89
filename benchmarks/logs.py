"""From a file of rewards to a verdict: how long the command takes, and how much memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Goal, Section, significant

MILLION, MANY, CONTINUOUS = 1_000_000, 100_000_000, 10_000_000
STARS = "1 + least(4, greatest(0, floor(5 * {uniform} + 0.04 * {arm} - 0.5)))::TINYINT"
# Uniform numbers by hashing the number of the row: the same file on each machine, made by all cores.
UNIFORM = "(hash(i * 2 + {salt})::DOUBLE / 18446744073709551616.0::DOUBLE)"

# The command, with the peak of its own memory at the end of what it prints: that of all children would be the largest
# so far, of whichever.
COMMAND = """
import resource, sys
from bestarm.cli import main
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def rows(number: int, arms: int, reward: str, more: str = "") -> str:
    """Return the query of a log with so many rows."""
    uniform = [UNIFORM.format(salt=salt) for salt in range(2)]
    arm = f"(hash(i * 2 + 7) % {arms})"
    value = reward.format(uniform=uniform[0], other=uniform[1], arm=arm)
    return f"SELECT {more} 'c' || {arm} AS caption, {value} AS reward FROM range({number}) t(i)"


def write(path: Path, query: str, options: str) -> None:
    """Let DuckDB write a file."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order=false")
        connection.execute(f"COPY ({query}) TO '{path}' ({options})")


def verdict(path: Path, number: int, *options: str) -> tuple[float, float, str]:
    """Return seconds from the start of the command to its end, the peak of its memory in GiB, and its status."""
    words = ["identify", str(path), "--arm", "caption", "--reward", "reward", "--format", "json", *options]
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", COMMAND, *words], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode not in (0, 3, 4):
        raise RuntimeError(done.stderr)
    unit = 2**30 if sys.platform == "darwin" else 2**20
    found = json.loads(done.stdout)
    if found["rows"] != number:
        raise RuntimeError(f"{found['rows']:,} rewards of {number:,} were read")
    return seconds, int(done.stderr.split()[-1]) / unit, str(found["status"])


def measure(quick: bool) -> Section:
    """Measure the command on each kind of log."""
    million, many, continuous = MILLION, MANY // (20 if quick else 1), CONTINUOUS // (20 if quick else 1)
    bounds = ("--bounds", "1,5", "--epsilon", "0.01")
    when, who = "TIMESTAMP '2024-01-01' + to_seconds(i)", f"'v' || (hash(i * 2 + 5) % {million // 20})"
    voted = rows(million, 20, STARS, f"{when} AS timestamp, {who} AS voter_id,")
    stars, by_voter = rows(many, 20, STARS), (*bounds, "--source", "voter_id")
    seen = rows(many, 20, STARS, f"{when} AS timestamp, hash(i * 2 + 5) % {many // 20} AS voter_id,")
    normal = "{arm} * 0.01 + sqrt(-2 * ln({uniform} + 1e-300)) * cos(6.283185307179586 * {other})"
    numbers, sigma = rows(continuous, 1000, normal), ("--sigma", "1", "--epsilon", "0.01")
    cases: Sequence[tuple[int, str, str, str, str, tuple[str, ...]]] = (
        (million, "20 arms, 5 stars, with sources, csv", "million.csv", voted, "HEADER", by_voter),
        (million, "the same, without an epsilon", "million.csv", voted, "HEADER", ("--bounds", "1,5")),
        (many, "20 arms, 5 stars, parquet", "many.parquet", stars, "FORMAT parquet", bounds),
        (many, "20 arms, 5 stars, csv.zst", "many.csv.zst", stars, "HEADER, COMPRESSION zstd", bounds),
        (many, "with voters and times, parquet", "seen.parquet", seen, "FORMAT parquet", ("--bounds", "1,5")),
        (continuous, "1,000 arms, normal, parquet", "continuous.parquet", numbers, "FORMAT parquet", sigma),
    )
    section = Section("Logs")
    found, table = [], []
    with tempfile.TemporaryDirectory(prefix="bestarm-bench-") as folder:
        compile_all(Path(folder), bounds)
        for number, name, file, query, options, question in cases:
            path = Path(folder) / file
            write(path, query, options)
            runs = [verdict(path, number, *question) for _ in range(3 if number == million else 1)]
            size = os.path.getsize(path) / 1e6
            path.unlink()
            seconds, peak = min(run[0] for run in runs), max(run[1] for run in runs)
            found.append((seconds, peak))
            cells = (significant(size), significant(seconds), significant(peak), runs[0][2])
            table.append((f"{number:,} rows, {name}", *cells))
    section.tables.append((("log", "MB", "seconds", "GiB", "verdict"), table))
    section.notes.append(
        "`bestarm identify`, from its start to its end, inspection included, kernels compiled; memory is the peak of "
        "the process."
    )
    if not quick:
        section.goals.append(Goal("a million rows with sources, from command to verdict", found[0][0], 5.0, "s"))
        section.goals.append(Goal("a million rows with users and times, inspected", found[1][0], 6.0, "s"))
        section.goals.append(Goal("10^8 rows of stars, Parquet", found[2][0], 60.0, "s"))
        section.goals.append(Goal("10^8 rows of stars, csv.zst", found[3][0], 60.0, "s"))
        section.goals.append(Goal("10^8 rows of stars, memory", max(found[2][1], found[3][1]), 4.0, "GiB"))
        section.goals.append(Goal("10^8 rows with voters and times, inspected", found[4][0], 90.0, "s"))
        section.goals.append(Goal("10^8 rows with voters and times, memory", found[4][1], 4.0, "GiB"))
        section.goals.append(Goal("10^7 continuous rewards, 1,000 arms", found[5][0], 60.0, "s"))
    return section


def compile_all(folder: Path, question: Sequence[str]) -> None:
    """Compile what has to be compiled."""
    path = folder / "small.csv"
    path.write_text(
        "caption,reward,voter_id,t\n" + "".join(f"{arm},{star},{arm}{star},1\n" for arm in "ab" for star in (1, 5))
    )
    verdict(path, 4, *question, "--source", "voter_id")
    verdict(path, 4, "--sigma", "1", "--epsilon", "0.01")
