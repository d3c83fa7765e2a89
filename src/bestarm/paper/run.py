"""Simulate the points of the chosen experiments, keep each as soon as it is finished, and make tables of them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pandas as pd
from scipy.stats import binomtest

from bestarm.checks import checked, checked_seed, one_of
from bestarm.errors import InputError
from bestarm.paper.experiments import EXPERIMENTS, MAX_PULLS, Curve, Experiment, Point
from bestarm.paper.numbers import grid_numbers
from bestarm.simulation import Trials, progress_bar, simulate
from bestarm.simulation.progress import Progress

SETTINGS = "settings.json"
POINTS = "points"
PLACE = ("experiment", "method", "variant", "delta", "epsilon")


T = TypeVar("T")


class Stored(Protocol):
    """What a file is named by: a simulation, with all settings that make it different from others."""

    @property
    def method(self) -> str: ...  # noqa: D102
    @property
    def delta(self) -> float: ...  # noqa: D102
    @property
    def epsilon(self) -> float: ...  # noqa: D102
    @property
    def settings(self) -> dict[str, Any]: ...  # noqa: D102


@dataclass(frozen=True)
class Run:
    """Finished experiments.

    Attributes
    ----------
    experiments : tuple of Experiment
        Those chosen.
    trials : int
        Trials a point.
    seed : int
        Seed of the adversaries and of all trials.
    outcomes : mapping of Point to Trials
        What was simulated.
    """

    experiments: tuple[Experiment, ...]
    trials: int
    seed: int
    outcomes: Mapping[Point, Trials]

    def outcome(self, experiment: Experiment, curve: Curve, delta: float, epsilon: float) -> Trials:
        """Return the trials of one point of one curve."""
        return self.outcomes[experiment.point(curve, delta, epsilon)]

    @property
    def seconds(self) -> float:
        """Time the simulations took, also those of the runs that this one resumed."""
        return float(sum(trials.settings["seconds"] for trials in self.outcomes.values()))


def run_experiments(
    names: Sequence[str] = ("all",),
    *,
    out: str | Path,
    trials: int = 1000,
    seed: int = 7,
    workers: int = 1,
    resume: bool = False,
    progress: Progress = False,
) -> Run:
    """Simulate experiments of the paper; every finished point is stored under `out`.

    Parameters
    ----------
    names : sequence of str
        exp1 ... exp9, or all.
    out : path
        Folder for the points. What an earlier run left there is removed, unless it is resumed.
    trials, seed, workers
        As for `simulate`, but the seed is a whole number.
    resume : bool
        Keep the points that a run with equal settings has finished there, and simulate the others.
    progress : bool or callable
        Show a bar on stderr, if that is a terminal; or a function that is told, after each point, its number of trials.
    """
    chosen = chosen_experiments(names)
    count = checked_run(trials, seed, workers)
    store = Store.of(out, count, seed)
    store.open(resume)
    points = distinct_points(chosen)
    outcomes: dict[Point, Trials] = {}
    with progress_bar("trials", count * len(points), progress is True) as bar:
        advance = progress if callable(progress) else bar
        for point in points:
            found = store.load(point, Trials.load)
            if found is None:
                found = _simulate(point, count, seed, workers)
                store.save(point, found.save)
            outcomes[point] = found
            advance(len(found))
    return Run(chosen, count, int(seed), outcomes)


def checked_run(trials: int, seed: int, workers: int) -> int:
    """Return the number of trials, if it, the seed and the number of workers make sense."""
    count, _ = (int(value) for value in checked(trials=trials, workers=workers))
    if not isinstance(checked_seed(seed), int):
        raise InputError(
            "seed", "be a whole number >= 0", seed, "the report names it, so that others can repeat the run"
        )
    return count


def chosen_experiments(names: Sequence[str]) -> tuple[Experiment, ...]:
    """Return experiments by name, in the paper's order.

    >>> [experiment.name for experiment in chosen_experiments(["exp5", "exp1"])]
    ['exp1', 'exp5']
    """
    if isinstance(names, str):
        raise InputError("experiments", "be a list of names", names, f"put it in brackets: [{names!r}]")
    for name in names:
        one_of("experiments", name, (*EXPERIMENTS, "all"))
    wanted = set(EXPERIMENTS) if not names or "all" in names else set(names)
    return tuple(experiment for name, experiment in EXPERIMENTS.items() if name in wanted)


def distinct_points(experiments: Sequence[Experiment]) -> list[Point]:
    """Return what has to be simulated for these experiments, each once."""
    return list(dict.fromkeys(point for experiment in experiments for point in experiment.points()))


def _simulate(point: Point, trials: int, seed: int, workers: int) -> Trials:
    begin = time.perf_counter()
    found = simulate(
        point.bandit(seed),
        point.method,
        delta=point.delta,
        trials=trials,
        seed=point.seed(seed),
        sigma=point.sigma,
        max_pulls=MAX_PULLS,
        workers=workers,
        **dict(point.options),
    )
    return replace(found, settings={**found.settings, "seconds": time.perf_counter() - begin})


@dataclass(frozen=True)
class Store:
    """Finished points as Parquet files, and the settings that they have in common."""

    folder: Path
    settings: dict[str, Any]

    @classmethod
    def of(cls, out: str | Path, trials: int, seed: int) -> Store:
        """Return the store of a run in a folder."""
        settings = {"trials": trials, "seed": int(seed), "max_pulls": MAX_PULLS, "bestarm": version("bestarm")}
        return cls(Path(out), settings)

    def open(self, resume: bool) -> None:
        """Make the folder ready: empty of points, or with those of a run with equal settings."""
        path = self.folder / SETTINGS
        points = self.folder / POINTS
        if resume:
            if not path.exists():
                raise InputError("out", "hold a run to resume", str(self.folder), "leave out --resume to begin one")
            self._compare(path)
        else:
            for old in [*points.glob("*.parquet"), *points.glob("*.part")]:
                old.unlink()
        points.mkdir(parents=True, exist_ok=True)
        if not resume:
            _write_whole(path, lambda part: part.write_text(json.dumps(self.settings, indent=1), encoding="utf-8"))

    def _compare(self, path: Path) -> None:
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            differing = [name for name in self.settings if stored.get(name) != self.settings[name]]
        except (ValueError, AttributeError):
            raise InputError("out", "hold a readable settings.json", str(path), "begin anew without --resume") from None
        if differing:
            name = differing[0]
            raise InputError(
                name,
                f"be {stored.get(name)!r}, as in the run to resume",
                self.settings[name],
                "repeat its settings, or begin anew without --resume",
            )

    def path(self, point: Stored) -> Path:
        """Return the file of a point, whether it is there or not."""
        key = hashlib.sha256(json.dumps(point.settings, sort_keys=True).encode()).hexdigest()[:12]
        return self.folder / POINTS / f"{point.method}-delta{point.delta:g}-epsilon{point.epsilon:g}-{key}.parquet"

    def load(self, point: Stored, read: Callable[[Path], T]) -> T | None:
        """Read a finished point; None if there is none."""
        path = self.path(point)
        if not path.exists():
            return None
        import pyarrow as pa

        try:
            return read(path)
        except (pa.ArrowException, KeyError, OSError, ValueError):
            reason = "delete it, and it will be simulated again"
            raise InputError("out", "hold readable points", f"{POINTS}/{path.name}", reason) from None

    def save(self, point: Stored, write: Callable[[Path], Any]) -> None:
        """Keep a finished point."""
        _write_whole(self.path(point), write)


def _write_whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file under another name first, so that what has the name is complete if the run is broken off."""
    part = path.with_suffix(".part")
    try:
        write(part)
        os.replace(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()


# ------------------------------------------------------------------------------------------------------------ tables


def points_table(run: Run) -> pd.DataFrame:
    """Return a row a point of a figure: experiment, method, variant, delta, epsilon, and its figures.

    `error_rate` is the share of all trials that named a wrong arm, which is what delta bounds, with its exact 95 %
    interval; `indistinguishable` and `undecided` are the shares that named no winner and that reached the cap.
    """
    rows = []
    for experiment, curve, delta, epsilon, outcome in _cells(run):
        summary = outcome.summary()
        interval = binomtest(outcome.wrong, len(outcome)).proportion_ci(0.95, method="exact")
        rows.append(
            {
                "experiment": experiment.name,
                "method": curve.label,
                "variant": curve.variant,
                "delta": delta,
                "epsilon": epsilon,
                "trials": len(outcome),
                "K_T": grid_numbers(experiment, delta, epsilon)["K_T"],
                **{name: summary[name] for name in ("mean_pulls", "standard_error", "q05", "q50", "q95")},
                "wrong": outcome.wrong,
                "error_rate": outcome.wrong / len(outcome),
                "error_low": float(interval.low),
                "error_high": float(interval.high),
                "indistinguishable": outcome.indistinguishable / len(outcome),
                "undecided": outcome.undecided / len(outcome),
                "seconds": outcome.settings["seconds"],
            }
        )
    return pd.DataFrame(rows)


def trials_table(run: Run) -> pd.DataFrame:
    """Return a row a trial: experiment, method, variant, delta, epsilon, trial, pulls, answer, correct, status."""
    parts = []
    for experiment, curve, delta, epsilon, outcome in _cells(run):
        frame = outcome.to_frame()[["trial", "pulls", "answer", "correct", "status"]]
        place = {"experiment": experiment.name, "method": curve.label, "variant": curve.variant}
        parts.append(frame.assign(**place, delta=delta, epsilon=epsilon)[[*PLACE, *frame.columns]])
    return pd.concat(parts, ignore_index=True)


def write_tables(run: Run, points: pd.DataFrame, out: Path) -> None:
    """Write points and trials as Parquet and as CSV; the CSV of the trials is compressed."""
    trials = trials_table(run)
    points.to_parquet(out / "points.parquet", index=False)
    points.to_csv(out / "points.csv", index=False)
    trials.to_parquet(out / "trials.parquet", index=False)
    trials.to_csv(out / "trials.csv.gz", index=False, compression={"method": "gzip", "compresslevel": 3, "mtime": 0})


def _cells(run: Run) -> Iterator[tuple[Experiment, Curve, float, float, Trials]]:
    for experiment in run.experiments:
        for curve in experiment.curves:
            for delta, epsilon in experiment.grid:
                yield experiment, curve, delta, epsilon, run.outcome(experiment, curve, delta, epsilon)
