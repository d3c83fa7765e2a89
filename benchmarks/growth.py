"""What a pull costs as arms and rewards grow in number, and how much memory a stored reward takes."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cost import DELTA, drawing, tie
from benchmarks.report import Goal, Section, significant
from benchmarks.timing import fastest
from bestarm import Bandit, simulate
from bestarm.simulation import Trials

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "se-cbai": ("se-cbai", {}),
    "median-se": ("median-se", {}),
    "g-cbai": ("g-cbai", {}),
    "certified": ("certified", {"resolution": 1e-6, "epsilon": 0.01}),  # at 0.1 it finds that more would not help
    "random": ("random", {}),
    "mean-se": ("mean-se", {}),
    "mean-gap": ("mean-gap", {}),
}
STORING = ("se-cbai", "median-se", "g-cbai", "certified")
FEW, MANY = 4, 1024  # arms whose costs are compared
PULLS_AN_ARM = 2_500  # the exploration takes 1,843
BATCH = 2_000_000  # pulls to measure at the least
FLAT_IN_ARMS, FLAT_IN_REWARDS = 2.0, 1.5
BYTES, GIBIBYTES = 24.0, 4.0
MEMORY_PULLS = (10**7, 10**8)

LONGEST = 20.0  # seconds: a run that would take longer is left out

# Run in a process of its own, as peak memory never falls. The kernel's ru_maxrss would not do: a new process starts
# with the peak of the one that made it. VmHWM belongs to the memory of this program alone.
MEASURE_MEMORY = """
import json, sys, time
from benchmarks.cost import DELTA, tie
from benchmarks.growth import METHODS
from bestarm import simulate
method, options = METHODS[sys.argv[1]]
def run(cap):
    return simulate(tie(2), method, delta=DELTA, trials=1, seed=1, max_pulls=cap, **options)
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
run(10_000)
idle, begin = peak(), time.thread_time()
found = run(int(sys.argv[2]))
seconds = time.thread_time() - begin
print(json.dumps({"pulls": int(found.pulls[0]), "idle": idle, "peak": peak(), "seconds": seconds}))
"""


def running(arms: Bandit, name: str, trials: int, cap: int) -> Callable[[], Trials]:
    """Return what runs capped trials of a method."""
    method, options = METHODS[name]
    return lambda: simulate(arms, method, delta=DELTA, trials=trials, seed=1, chunk=trials, max_pulls=cap, **options)


def with_arms(quick: bool) -> Section:
    """Measure a pull for more and more arms, the same number of pulls an arm each time."""
    sizes = (2, FEW, 64, MANY) if quick else (2, FEW, 16, 64, 256, MANY, 4096, 16384)
    section = Section("Growth with the number of arms")
    names = list(METHODS)
    # Sizes that are compared take turns; the others come one after the other.
    compared = [size for size in sizes if size <= MANY]
    found = _costs_of_arms(dict.fromkeys(compared, names), 5)
    for size in sizes[len(compared) :]:
        before = sizes[sizes.index(size) - 1]
        able = [name for name in names if 1e-9 * found.get((name, before), np.inf) * PULLS_AN_ARM * size < LONGEST]
        found |= _costs_of_arms({size: able}, 1)
    costs = {name: [found.get((name, size), float("nan")) for size in sizes] for name in ("draw", *names)}
    rows = [(f"{size:,}", *(_shown(costs[name][place]) for name in costs)) for place, size in enumerate(sizes)]
    section.tables.append((("K", *costs), rows))
    few, many = sizes.index(FEW), sizes.index(MANY)
    ratios = {name: costs[name][many] / costs[name][few] for name in costs}
    header = ("", *costs)
    section.tables.append((header, [(f"K = {MANY:,} / K = {FEW}", *(f"{ratio:.2f}" for ratio in ratios.values()))]))
    section.goals += [
        Goal(f"a pull of {MANY:,} arms by {name}, in pulls of {FEW}", ratios[name], FLAT_IN_ARMS) for name in names
    ]
    section.notes.append(
        "Nanoseconds a pull, and a draw with the arms in turn. All arms are equal and eps = delta = 0.1 (certified is "
        f"told eps = 0.01), so that hardly a trial ends before its cap of {PULLS_AN_ARM:,} K pulls, T = 1,843 K of "
        "which are exploration. "
        f"From K = 1,359 on sqrt(t) grows past T, and all pulls of G-CBAI and of the gap rule on means are forced. "
        f"Left out: what would take longer than {LONGEST:g} s."
    )
    section.series["arms"] = {"x": [float(size) for size in sizes], **costs}
    return section


def _costs_of_arms(methods: dict[int, list[str]], repeats: int) -> dict[tuple[str, int], float]:
    """Return nanoseconds a draw and a pull of some methods, for some numbers of arms, all in turns."""
    actions: list[Callable[[], object]] = []
    pulls: dict[tuple[str, int], int] = {}
    for size, names in methods.items():
        arms = tie(size)
        cap = PULLS_AN_ARM * size
        trials = max(1, BATCH // cap)
        order = np.tile(np.arange(size), trials * PULLS_AN_ARM)
        actions.append(drawing(arms.laws(), order))
        pulls["draw", size] = order.size
        for name in names:
            actions.append(running(arms, name, trials, cap))
            pulls[name, size] = int(simulated(actions[-1]).pulls.sum())
    seconds = fastest(actions, repeats)
    return {key: 1e9 * time / count for (key, count), time in zip(pulls.items(), seconds, strict=True)}


def with_rewards(quick: bool) -> Section:
    """Measure a pull for more and more rewards an arm, and the memory of the largest."""
    lengths = (10**4, 10**5, 10**6) if quick else (10**4, 10**5, 10**6, 10**7)
    section = Section("Growth with the number of rewards")
    arms = tie(2)
    actions: list[Callable[[], object]] = []
    pulls = []
    for length, name in itertools.product(lengths, STORING):
        trials = max(1, BATCH // (2 * length))
        actions.append(running(arms, name, trials, 2 * length))
        pulls.append(int(simulated(actions[-1]).pulls.sum()))
        if pulls[-1] < trials * length:
            raise RuntimeError(f"{name} stopped early, after {pulls[-1]} pulls of {trials} trials: take another seed")
    each = [1e9 * time / count for time, count in zip(fastest(actions, 3), pulls, strict=True)]
    costs = {name: each[place :: len(STORING)] for place, name in enumerate(STORING)}
    rows = [(f"{length:,}", *(f"{costs[name][place]:.1f}" for name in STORING)) for place, length in enumerate(lengths)]
    section.tables.append((("rewards an arm", *STORING), rows))
    for name in STORING:
        steepest = max(costs[name]) / costs[name][0]
        last = f"10^{len(str(lengths[-1])) - 1}"
        section.goals.append(
            Goal(f"a pull by {name} up to {last} rewards an arm, in first ones", steepest, FLAT_IN_REWARDS)
        )
    section.notes.append(
        "Nanoseconds a pull. Two equal arms, eps = delta = 0.1 (certified is told eps = 0.01), capped."
    )
    section.series["rewards"] = {"x": [float(length) for length in lengths], **costs}
    _memory(section, (10**6,) if quick else MEMORY_PULLS)
    return section


def _memory(section: Section, lengths: tuple[int, ...]) -> None:
    rows = []
    for name, pulls in itertools.product(STORING, lengths):
        full = in_own_process(name, pulls)
        grown = full["peak"] - full["idle"]
        each = grown / full["pulls"]
        gibibytes = full["peak"] / 2**30
        cost = 1e9 * full["seconds"] / full["pulls"]
        rows.append((name, f"{full['pulls']:,.0f}", f"{gibibytes:.2f}", f"{each:.1f}", significant(cost)))
        section.goals.append(Goal(f"bytes a reward of {pulls:,} by {name}", each, BYTES))
        section.goals.append(Goal(f"peak memory of {pulls:,} pulls by {name}", gibibytes, GIBIBYTES, "GiB"))
    section.tables.append((("method", "pulls", "peak GiB", "bytes a reward", "ns a pull"), rows))
    section.notes.append(
        "Memory is that of one identification in a process of its own: the most it ever held in memory and, a reward, "
        "how much that is above what it held after 10,000 pulls. It depends on how long ago the pool moved: while it "
        "moves, it exists twice."
    )


def in_own_process(name: str, pulls: int) -> dict[str, float]:
    """Run one identification in a new process; return pulls, seconds, and peak memory in bytes before and after."""
    command = [sys.executable, "-c", MEASURE_MEMORY, name, str(pulls)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _shown(cost: float) -> str:
    return "-" if cost != cost else f"{cost:.1f}"


def simulated(action: Callable[[], object]) -> Trials:
    """Run what gives trials, and return them."""
    found = action()
    assert isinstance(found, Trials)
    return found
