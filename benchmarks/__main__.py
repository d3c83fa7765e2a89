"""All benchmarks: `make bench`, or `python -m benchmarks [--quick] [--only PART ... [--record]]`.

A full run prints its tables, writes them to benchmarks/RESULTS.md, draws the pictures of docs/explanation/speed.md and
renews the table of numbers there. A quick one, or one of some parts only, prints; with `--record` some parts replace
their sections in RESULTS.md, which say that they are of a run of their own. Nothing is asserted: the tables are the
result.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    answers,
    champions,
    cores,
    cost,
    evidence,
    fifteen,
    growth,
    live,
    logs,
    peer_rewards,
    peers,
    plots,
    questions,
    startup,
    studies,
    warehouse,
)
from benchmarks.report import Section, between, goal_table, machine, renewed, today

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
ESSAY = ROOT / "docs" / "explanation" / "speed.md"
IMAGES = ROOT / "docs" / "images"
BEGIN, END = "<!-- numbers: written by make bench -->", "<!-- end of numbers -->"

PARTS: dict[str, Callable[[bool], Section]] = {
    "evidence": evidence.measure,
    "peers-rewards": peer_rewards.measure,
    "champions": champions.measure,
    "cost": cost.measure,
    "arms": growth.with_arms,
    "rewards": growth.with_rewards,
    "cores": cores.measure,
    "startup": startup.measure,
    "live": live.measure,
    "logs": logs.measure,
    "warehouse": warehouse.measure,
    "fifteen": fifteen.measure,
    "questions": questions.measure,
    "answers": answers.measure,
    "studies": studies.measure,
    "peers": lambda quick: peers.measure(),
}


def run(names: list[str], quick: bool) -> list[Section]:
    """Run parts in order, printing each as it ends."""
    sections = []
    for name in names:
        sections.append(PARTS[name](quick))
        print(sections[-1].text(), flush=True)
    return sections


def summary(sections: list[Section], load: float) -> str:
    """Return the goals of all parts, and what was measured where, with the load average before the run."""
    goals = [goal for section in sections for goal in section.goals]
    return f"{goal_table(goals)}\n\nMeasured on {today()}: {machine()}. Load before the run: {load:.1f}."


def record(sections: list[Section], load: float) -> None:
    """Replace some sections of the results, and say of each that it is of a run of its own."""
    page = RESULTS.read_text(encoding="utf-8")
    for section in sections:
        page = renewed(page, section, f"Of a run of its own, on {today()}; load before the run: {load:.1f}.")
    RESULTS.write_text(page, encoding="utf-8")


def write(sections: list[Section], load: float) -> None:
    """Write the results, the pictures, and the numbers of the essay."""
    page = ["# Results of `make bench`", summary(sections, load), *(section.text().rstrip() for section in sections)]
    RESULTS.write_text("\n\n".join(page) + "\n", encoding="utf-8")
    plots.draw(sections, IMAGES)
    if ESSAY.exists():
        ESSAY.write_text(
            between(ESSAY.read_text(encoding="utf-8"), BEGIN, END, summary(sections, load)), encoding="utf-8"
        )


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a short run, without peers; writes nothing")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, metavar="PART", help=f"of {', '.join(PARTS)}; writes nothing"
    )
    parser.add_argument("--record", action="store_true", help="with --only: renew the sections of these parts")
    chosen = parser.parse_args()
    if chosen.record and (chosen.quick or not chosen.only):
        parser.error("--record goes with --only, and not with --quick")
    load = os.getloadavg()[0]  # what else the machine is busy with: above 0.5 or so, do not trust the numbers
    print(f"{machine()}\n", flush=True)
    names = chosen.only or [name for name in PARTS if not (chosen.quick and name == "peers")]
    sections = run(names, chosen.quick)
    print(summary(sections, load))
    if not chosen.quick and not chosen.only:
        write(sections, load)
    if chosen.record:
        record(sections, load)


if __name__ == "__main__":
    main()
