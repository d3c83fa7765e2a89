"""Simulate the full-size experiments, keep the trials of each as soon as they are finished, make tables."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bestarm.paper.folder import paper_folder
from bestarm.paper.full_size import FullSize, FullSizeAttack
from bestarm.progress import Progress, progress_bar
from bestarm.scenarios.experiment import Curve
from bestarm.scenarios.run import Folder, checked_run
from bestarm.scenarios.tables import write_table
from bestarm.simulation import Trials, simulate
from bestarm.validation import checked

# The outcomes of a trial, with their words. The target is the arm that the adversary wants named.
OUTCOMES = {
    "best": "named the best",
    "target": "crowned the rigged one",
    "other": "named a wrong one",
    "no_winner": "named none",
    "capped": "at the cap",
}
SHOWN = (  # in a terminal
    *("experiment", "attack", "method", "trials", "verdict"),
    *("mean_pulls", "mean_is_lower_bound", "named"),
)


@dataclass(frozen=True, eq=False)
class FullPoint:
    """One simulation: a method under one attack."""

    experiment: FullSize
    attack: FullSizeAttack
    entrant: Curve
    max_pulls: int

    @property
    def told(self) -> dict[str, Any]:
        """What the method is told about the rewards."""
        return self.experiment.told

    def trials(self, asked: int) -> int:
        """Return how many trials are run if this many are asked for."""
        return math.ceil(self.experiment.share * self.entrant.share * asked)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Everything that distinguishes this simulation from others, in plain values."""
        return {
            "experiment": self.experiment.name,
            "attack": self.attack.name,
            "method": self.entrant.method,
            "options": dict(self.entrant.options),
            "delta": self.experiment.delta,
            "epsilon": self.experiment.epsilon,
            "told": {name: repr(value) for name, value in self.experiment.told.items()},
            "max_pulls": self.max_pulls,
            "share": self.experiment.share * self.entrant.share,
        }


@dataclass(frozen=True)
class FullRun:
    """Finished full-size experiments, and the trials of each simulation: one row per trial."""

    experiments: tuple[FullSize, ...]
    trials: int
    seed: int
    outcomes: Mapping[FullPoint, pd.DataFrame]


def run_full_size(
    experiments: Sequence[FullSize],
    *,
    out: str | Path | Folder,
    trials: int = 1000,
    seed: int = 7,
    workers: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = False,
    max_pulls: int | None = None,
) -> FullRun:
    """Simulate full-size experiments; every finished simulation is stored under `out`.

    Parameters
    ----------
    experiments : sequence of FullSize
        As `full_size_experiments` makes them, with the same seed.
    out : path or Folder
        As for `run_experiments`, or a folder that is already open.
    trials, seed, workers, resume, overwrite
        As for `run_experiments`. An experiment runs its share of the trials only: with 1000, 20 or fewer.
    progress : bool or callable
        As for `simulate`, in simulations.
    max_pulls : int >= 1, optional
        Cap on the pulls per trial, where it is lower than the experiment's.
    """
    count = checked_run(trials, seed, workers)
    if isinstance(out, Folder):
        folder = out
    else:
        folder = paper_folder(out, count, seed)
        folder.open(resume, overwrite)
    limit = math.inf if max_pulls is None else checked(max_pulls=max_pulls)[0]
    points = []
    for experiment in experiments:
        for attack in experiment.attacks:
            for entrant in experiment.entrants:
                cap = int(min(experiment.caps.get(entrant.label, experiment.max_pulls), limit))
                points.append(FullPoint(experiment, attack, entrant, cap))
    outcomes = {}
    with folder.locked(), progress_bar("simulations at full size", len(points), progress) as advance:
        for point in points:
            share = point.trials(count)
            found = folder.read(point, [point.attack.bandit], share)
            if found is None:
                found = _simulate(point, share, folder.seed, workers)
                folder.write(point, [point.attack.bandit], found)
            columns = {"pulls": found.pulls, "answer": found.answers, "correct": found.correct}
            outcomes[point] = pd.DataFrame({"trial": np.arange(share), **columns, "status": found.statuses})
            advance(1)
    return FullRun(tuple(experiments), count, folder.seed, outcomes)


def _simulate(point: FullPoint, trials: int, seed: int, workers: int) -> Trials:
    return simulate(
        point.attack.bandit,
        point.entrant.method,
        delta=point.experiment.delta,
        trials=trials,
        seed=seed,  # the same for all, so that the methods are paired
        max_pulls=point.max_pulls,
        workers=workers,
        chunk=1,
        **point.experiment.told,
        **dict(point.entrant.options),
    )


# ------------------------------------------------------------------------------------------------------------ tables


def full_size_table(run: FullRun) -> pd.DataFrame:
    """Return one row per simulation: experiment, attack, method, outcomes of its trials, pulls, arms named, verdict.

    The columns best, target, other, no_winner and capped count trials and add up to `trials`: those that named the best
    arm, the target of the adversary, another wrong arm, or none, and those that reached the cap: if there are any, the
    mean of the pulls is a lower bound (`mean_is_lower_bound`).
    """
    rows = []
    for point, frame in run.outcomes.items():
        counts = count_outcomes(frame, point.attack.target)
        spread = float(frame["pulls"].std(ddof=1)) if len(frame) > 1 else math.nan
        rows.append(
            {
                "experiment": point.experiment.name,
                "attack": point.attack.name,
                "method": point.entrant.label,
                "arms": len(point.experiment.labels),
                "delta": point.experiment.delta,
                "epsilon": point.experiment.epsilon,
                "max_pulls": point.max_pulls,
                "trials": len(frame),
                **counts,
                "verdict": verdict(counts),
                "mean_pulls": float(frame["pulls"].mean()),
                "mean_is_lower_bound": counts["capped"] > 0,
                "standard_error": spread / math.sqrt(len(frame)),
                "named": _named(frame["answer"].tolist(), point.experiment.labels),
            }
        )
    return pd.DataFrame(rows)


def full_size_trials(run: FullRun) -> pd.DataFrame:
    """Return one row per trial: experiment, attack, method, trial, pulls, status, rank and label of the arm named."""
    parts = []
    for point, frame in run.outcomes.items():
        labels = [point.experiment.labels[index] if index >= 0 else "" for index in frame["answer"]]
        columns = {"experiment": point.experiment.name, "attack": point.attack.name, "method": point.entrant.label}
        ranks = (frame["answer"] + 1).where(frame["answer"] >= 0).astype("Int64")
        parts.append(frame[["trial", "pulls", "status"]].assign(**columns, rank=ranks, label=labels))
    order = ["experiment", "attack", "method", "trial", "pulls", "status", "rank", "label"]
    return pd.concat(parts, ignore_index=True)[order]


def count_outcomes(frame: pd.DataFrame, target: int | None) -> dict[str, int]:
    """Return how many trials had each outcome; the best arm counts as the best even if it is the target."""
    named = frame["answer"] >= 0
    crowned = named & ~frame["correct"] & (frame["answer"] == (-1 if target is None else target))
    return {
        "best": int((named & frame["correct"]).sum()),
        "target": int(crowned.sum()),
        "other": int((named & ~frame["correct"] & ~crowned).sum()),
        "no_winner": int((frame["status"] == "indistinguishable").sum()),
        "capped": int((frame["status"] == "undecided").sum()),
    }


def verdict(counts: Mapping[str, int]) -> str:
    """Return outcomes in words, with numbers if they differ.

    >>> verdict({"best": 4, "target": 0, "other": 0, "no_winner": 0, "capped": 0})
    'named the best'
    >>> verdict({"best": 0, "target": 3, "other": 0, "no_winner": 0, "capped": 1})
    'crowned the rigged one (3), at the cap (1)'
    """
    there = {OUTCOMES[name]: count for name, count in counts.items() if count}
    if len(there) == 1:
        return next(iter(there))
    return ", ".join(f"{words} ({count})" for words, count in there.items())


def _named(answers: Sequence[int], labels: Sequence[str]) -> str:
    """Return ranks and labels of the two arms named most often, and how many others were named."""
    named = Counter(index for index in answers if index >= 0).most_common()
    parts = [f"#{index + 1} {textwrap.shorten(labels[index], 40, placeholder='...')} ({n})" for index, n in named[:2]]
    more = [f"{len(named) - 2} more"] if len(named) > 2 else []
    return "; ".join(parts + more) or "-"


def write_full_size(run: FullRun, table: pd.DataFrame, out: Path) -> None:
    """Write the rows as CSV, Parquet and LaTeX, and the trials as CSV."""
    write_table(table, out, "full-size", "Methods under attack on all arms of real data.")
    full_size_trials(run).to_csv(out / "full-size-trials.csv", index=False)
