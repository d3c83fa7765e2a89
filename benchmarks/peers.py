"""bestarm beside other ways to do the same, in one run: `python -m benchmarks --only peers`.

Each peer is installed from the package index into a virtual environment that is thrown away afterwards, and is skipped
with the reason if that fails. Peer and bestarm take turns, each in a process of its own; the fastest turn of each
counts. Nothing is asserted; the table is the result.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peer_scripts.bestarm_itself import bandit
from benchmarks.report import Section
from bestarm import Bandit, identify
from bestarm.simulation.seeds import trial_seeds

SCRIPTS = Path(__file__).parent / "peer_scripts"
MEANS = [2.5, 2.3, 2.0, 0.6]
RECORDED = 2  # trials of SE-CBAI whose rewards the peers get
PROBLEM: dict[str, Any] = {"means": MEANS, "arms": len(MEANS), "delta": 0.1, "epsilon": 0.1, "sigma": 1.0, "seed": 1}
# Seeds of two adversaries: against the one, hardly any pull comes after the exploration, which needs no estimate;
# against the other, nearly all do.
SHORT, LONG = 1, 2
CLEAN = {**PROBLEM, "epsilon": 0.0, "measure": "trials", "method": "mean-gap", "trials": 2000, "recorded": 0}
PAIRS = {"measure": "pairs", "arms": 10, "delta": 0.05, "epsilon": 0.1, "pairs": 3000}


class UnavailableError(Exception):
    """A peer can't be measured here."""


@dataclass(frozen=True)
class Peer:
    """Something to compare with: its script and task, what to install for it, and bestarm's own task."""

    name: str
    own: str  # what bestarm does in comparison
    unit: str
    requirements: tuple[str, ...]
    script: str
    task: dict[str, Any]
    own_task: dict[str, Any]


@dataclass
class Race:
    """Turns of a peer and of bestarm."""

    peer: list[dict[str, Any]] = field(default_factory=list)
    bestarm: list[dict[str, Any]] = field(default_factory=list)

    @property
    def same_outcome(self) -> bool | None:
        """Whether both named the same arms after the same pulls; None where they don't do the same."""
        outcomes = [run.get("outcome") for run in (*self.peer, *self.bestarm)]
        return None if not all(outcomes) else all(outcome == outcomes[0] for outcome in outcomes)


def nanoseconds(runs: list[dict[str, Any]]) -> float:
    """Nanoseconds a unit in the fastest of some runs."""
    return 1e9 * min(float(run["seconds"]) / int(run["count"]) for run in runs)


HEADER = ("peer", "bestarm", "unit", "peer, ns", "bestarm, ns", "times", "same outcome")


def row(peer: Peer, race: Race) -> tuple[str, ...]:
    """A line of the table."""
    other, own = nanoseconds(race.peer), nanoseconds(race.bestarm)
    same = {None: "-", True: "yes", False: "NO"}[race.same_outcome]
    return (peer.name, peer.own, peer.unit, f"{other:,.0f}", f"{own:,.0f}", f"{other / own:,.1f}", same)


def elimination(adversary: int) -> dict[str, Any]:
    """bestarm's task beside SE-CBAI by other means."""
    task = {"measure": "trials", "method": "se-cbai", "trials": 200, "recorded": RECORDED, "adversary": adversary}
    return {**PROBLEM, **task}


def peers(folder: Path) -> list[Peer]:
    """All peers; the rewards recorded in a folder are for those that run SE-CBAI."""
    found = [
        Peer(
            "SMPyBandits, UCB, clean rewards",
            "simulate, mean-gap",
            "pull",
            # Its last release imports what SciPy 1.12 and NumPy 2 no longer have.
            ("SMPyBandits", "scipy<1.12", "numpy<2", "setuptools<81", "tqdm"),
            "smpybandits_ucb.py",
            {"means": MEANS, "pulls": 30_000},
            CLEAN,
        )
    ]
    for name, estimator in (("NumPy sorting each time", "resorted"), ("SortedList with sums", "sorted list")):
        for length, adversary in (("short", SHORT), ("long", LONG)):
            found.append(
                Peer(
                    f"{name}, SE-CBAI, {length}",
                    "simulate, se-cbai",
                    "pull",
                    ("numpy", "sortedcontainers"),
                    "elimination.py",
                    {**PROBLEM, "estimator": estimator, "rewards": str(record(folder, adversary))},
                    elimination(adversary),
                )
            )
    pairs = {"arms": PAIRS["arms"], "pairs": PAIRS["pairs"]}
    theirs, ours = "Optuna, ask and tell, 10 arms", "Identifier, ask and tell"
    return [*found, Peer(theirs, ours, "pair", ("optuna",), "optuna_pairs.py", pairs, PAIRS)]


def record(folder: Path, adversary: int) -> Path:
    """Write the rewards of the first trials that `simulate` runs, in the order of their pulls."""
    file = folder / f"rewards_{adversary}.npz"
    if not file.exists():
        arms = bandit(elimination(adversary))
        seeds = enumerate(trial_seeds(PROBLEM["seed"], RECORDED))
        np.savez(file, allow_pickle=False, **{f"trial_{place}": rewards_of(arms, seed) for place, seed in seeds})
    return file


def rewards_of(arms: Bandit, seed: np.random.SeedSequence) -> NDArray[np.float64]:
    """The rewards of one trial of SE-CBAI."""
    stream = arms.stream(seed)
    rewards: list[float] = []

    def pull(arm: Any) -> float:
        rewards.append(stream.pull(arm))
        return rewards[-1]

    settings = {name: PROBLEM[name] for name in ("delta", "epsilon", "sigma")}
    identify(pull, arms=len(arms.arms), method="se-cbai", **settings)
    return np.array(rewards)


def environment(folder: Path, requirements: tuple[str, ...]) -> Path:
    """Make a virtual environment with some packages; return its interpreter."""
    _run([sys.executable, "-m", "venv", str(folder)], "no virtual environment can be made")
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]
    _run([*pip, *requirements], f"{', '.join(requirements)} can't be installed")
    return python


def turn(command: list[str], task: dict[str, Any]) -> dict[str, Any]:
    """Run a script on a task; return what it measured, which is its last line."""
    output = _run(command, "does not run", json.dumps(task))
    found: dict[str, Any] = json.loads(output.strip().splitlines()[-1])
    return found


def race(peer: Peer, python: Path, repeats: int) -> Race:
    """Let a peer and bestarm take turns."""
    theirs = [str(python), "-I", "-W", "ignore", str(SCRIPTS / peer.script)]  # -I: nothing of ours is in its way
    ours = [sys.executable, str(SCRIPTS / "bestarm_itself.py")]
    turns = Race()
    for _ in range(repeats):
        turns.peer.append(turn(theirs, peer.task))
        turns.bestarm.append(turn(ours, peer.own_task))
    return turns


def _run(command: list[str], complaint: str, given: str | None = None) -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = [line for line in done.stderr.strip().splitlines() if not line.startswith("WARNING")][-1:]
        raise UnavailableError(f"{complaint}: {''.join(reason) or f'exit code {done.returncode}'}")
    return done.stdout


def measure(repeats: int = 3) -> Section:
    """Let every peer that can be installed here race."""
    section = Section("Peers")
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        interpreters: dict[tuple[str, ...], Path] = {}
        for peer in peers(Path(scratch)):
            try:
                wanted = peer.requirements
                if wanted not in interpreters:
                    interpreters[wanted] = environment(Path(scratch, f"environment_{len(interpreters)}"), wanted)
                rows.append(row(peer, race(peer, interpreters[wanted], repeats)))
            except UnavailableError as reason:
                section.notes.append(f"{peer.name}: skipped, {reason}.")
    section.notes.append(f"Each in a process of its own, in turns; the fastest of {repeats}.")
    section.tables.append((HEADER, rows))
    return section
