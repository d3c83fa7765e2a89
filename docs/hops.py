"""Count the hops of ARCHITECTURE.md: `python -m docs.hops` prints the four ways of a reward through the package.

A way ends where a reward reaches compiled code, DuckDB or the log of a study. All functions of the package on the call
stack at that moment are hops, each counted once; checks beside the way are not. Run warm, so that imports do not count.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import bestarm as ba

SOURCES = f"{Path(ba.__file__).parent}/"
KERNELS = ("run_trials", "ask", "tell", "tally", "fill_cells")  # compiled functions that take rewards in
OTHERS = {"log/reading/database": "start", "live/backends/sqlite": "_append"}  # a query over all rows; the log


def hops(work: Callable[[], object]) -> list[tuple[str, str]]:
    """Return the functions that lie on the way of a reward, as (module, name), in the order in which they are met."""
    found: dict[tuple[str, str], None] = {}
    stack: list[tuple[FrameType, tuple[str, str]]] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        here = (code.co_filename.removeprefix(SOURCES).removesuffix(".py"), code.co_qualname)
        compiled = frame.f_back is None  # numba shows a frame that nobody called
        if event == "return" and stack and stack[-1][0] is frame:
            stack.pop()
        elif event == "call" and code.co_filename.startswith(SOURCES):
            if not compiled:
                stack.append((frame, here))
            if (compiled and code.co_name in KERNELS) or OTHERS.get(here[0]) == code.co_name:
                found.update(dict.fromkeys([*(place for _, place in stack), here]))

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return [place for place in found if not place[1].endswith(">")]


def ways(folder: Path) -> dict[str, Callable[[], object]]:
    """Return the four ways, each as something to do once."""
    bandit = ba.Bandit([ba.Gaussian(2.5), ba.Gaussian(1.0)], epsilon=0.1, adversary=ba.adversaries.Point(0.0))
    finder = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.1, sigma=1.0)
    log = folder / "log.csv"
    log.write_text("arm,reward\n" + "A,1\nB,0\n" * 200, encoding="utf-8")
    told = {"delta": 0.05, "epsilon": 0.05, "bounds": (0, 1)}
    study = ba.Study(f"sqlite:///{folder}/study.db", "study", ["A", "B"], **told)
    return {
        "a simulated reward": lambda: ba.simulate(bandit, "certified", delta=0.1, trials=1, seed=7),
        "a live reward": lambda: finder.tell(finder.ask(), 0.3),
        "a row of a log": lambda: ba.identify_log(str(log), arm="arm", reward="reward", epsilon=0.01, bounds=(0, 1)),
        "a tell to a database": lambda: study.tell(study.ask_pulls(), 1.0),
    }


def main() -> None:
    """Print how many hops, in how many files and rooms, each way has, and which they are."""
    with tempfile.TemporaryDirectory() as name:
        for title, work in ways(Path(name)).items():
            work()
            met = hops(work)
            modules = {module for module, _ in met}
            rooms = {module.split("/")[0] for module in modules}
            print(f"{title}: {len(met)} hops, {len(modules)} files, {len(rooms)} rooms")
            for module, function in met:
                print(f"    {module}: {function}")


if __name__ == "__main__":
    main()
