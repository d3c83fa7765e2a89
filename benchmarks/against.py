"""This version beside an earlier one: `make bench-against REF=commit`.

Or `python -m benchmarks.against REF [PART ...]`.

Each part of the benchmark runs in the earlier version's own files and in these, one right after the other, with the
same Python and the same packages, so that both meet the same machine in the same minutes. What changes the machine in
between still counts: a ratio between 0.9 and 1.1 says nothing on a machine that others use.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.report import machine, significant, table

ROOT = Path(__file__).parent.parent
PARTS = ("evidence", "cost", "arms", "rewards", "cores", "startup", "live")

Numbers = dict[tuple[str, str, str], float]  # by heading, row and column


def tables_of(page: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the tables of a Markdown page, each with its heading: the cells of its header and of its rows."""
    heading, rows = "", list[list[str]]()
    for line in [*page.splitlines(), ""]:
        if line.startswith("|"):
            if set(line) - set("| -:"):  # not the rule below the header
                rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            yield heading, rows
            rows = []
        if line.startswith("## "):
            heading = line.removeprefix("## ")


def numbers(page: str) -> Numbers:
    """Return all numbers in the tables of the parts of a benchmark; rows that begin alike go by two cells.

    >>> numbers("## Cost\\n\\n| method | ns |\\n| --- | --: |\\n| se-cbai | 1,012.5 |\\n| random | - |\\n")
    {('Cost', 'se-cbai', 'ns'): 1012.5}
    """
    found: Numbers = {}
    for heading, (header, *rows) in tables_of(page):
        unique = len({row[0] for row in rows}) == len(rows)
        for row in rows if heading else ():
            name = row[0] if unique else ", ".join(row[:2])
            for column, cell in zip(header[1:], row[1:], strict=True):
                with contextlib.suppress(ValueError):
                    found[heading, name, column] = float(cell.replace(",", ""))
    return found


def compare(before: Numbers, after: Numbers) -> list[tuple[str, str, str, str, str, str]]:
    """Return heading, row, column, both numbers and the later over the earlier, where the two differ."""
    rows = []
    for key in before.keys() & after.keys():
        was, now = before[key], after[key]
        if was != now:
            ratio = f"{now / was:.2f}" if was else "-"
            rows.append((*key, significant(was), significant(now), ratio))
    order = list(before)
    return sorted(rows, key=lambda row: order.index(row[:3]))


def medians(rows: Iterable[tuple[str, str, str, str, str, str]]) -> list[tuple[str, ...]]:
    """Return of each heading how many numbers differ, and the least, the median and the largest ratio."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for heading, *_, ratio in rows:
        if ratio != "-":
            ratios[heading].append(float(ratio))
    return [
        (heading, str(len(found)), *(f"{pick(found):.2f}" for pick in (min, statistics.median, max)))
        for heading, found in ratios.items()
    ]


def measure(tree: Path, part: str, quick: bool) -> str:
    """Run one part of the benchmark in a folder, with the package of that folder, and return what it prints."""
    command = [sys.executable, "-m", "benchmarks", "--only", part, *(["--quick"] if quick else [])]
    settings = os.environ | {"PYTHONPATH": str(tree / "src")}
    done = subprocess.run(command, cwd=tree, env=settings, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def main() -> None:
    """Read the command line, run, and print both and their ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__.split("\n")[0])
    parser.add_argument("ref", help="the earlier commit, tag or branch")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: {' '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="a short run")
    chosen = parser.parse_args()
    print(f"{machine()}; load before the run: {os.getloadavg()[0]:.1f}\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        earlier = Path(folder) / "earlier"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(earlier), chosen.ref], check=True)
        rows = []
        try:
            for part in chosen.parts or PARTS:
                before, after = (numbers(measure(tree, part, chosen.quick)) for tree in (earlier, ROOT))
                differing = compare(before, after)
                rows += differing
                print(f"{part}: {len(before.keys() & after.keys()) - len(differing)} numbers are the same in both")
                print(table(("part", "what", "of", chosen.ref, "now", "ratio"), differing), "\n", flush=True)
        finally:
            subprocess.run([*git, "remove", "--force", str(earlier)], check=True)
    print(table(("part", "numbers", "least ratio", "median", "largest"), medians(rows)))


if __name__ == "__main__":
    main()
