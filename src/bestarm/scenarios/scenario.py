"""Run a scenario, and write its tables, figures and report."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from bestarm.errors import InputError
from bestarm.progress import Progress, progress_bar
from bestarm.scenarios.experiment import Experiment
from bestarm.scenarios.figures import experiment_figures, save_figures
from bestarm.scenarios.report import write_report
from bestarm.scenarios.run import Folder, Run, checked_run, run_points, wanted_trials
from bestarm.scenarios.scenario_file import Scenario, read_scenario, with_settings
from bestarm.scenarios.tables import points_table, write_table, write_trials

OUTPUTS = (
    *("report.html", "figures", "points.csv", "points.parquet", "points.tex"),
    *("trials.parquet", "trials.csv.gz"),
)
# What the command prints of every point; the files have more columns.
SHOWN = (
    *("method", "delta", "epsilon", "trials", "mean_pulls", "mean_is_lower_bound", "standard_error"),
    *("wrong", "error_rate", "indistinguishable", "undecided"),
)


def run_scenario(
    scenario: str | Path | Scenario,
    *,
    out: str | Path | None = None,
    trials: int | None = None,
    seed: int | None = None,
    workers: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = False,
) -> pd.DataFrame:
    """Run a scenario, and write its tables, figures and report.

    Parameters
    ----------
    scenario : path or Scenario
        A file as explained in docs/guide/own-scenario.md, or the result of `read_scenario` or `parse_scenario`.
    out : path, optional
        Folder for all files; results/<name of the scenario> by default. It must be new or empty.
    trials, seed : int, optional
        Override those of the file.
    workers : int >= 1
        Threads. The trials are the same for any number of them.
    resume : bool
        Keep the points that an earlier run of the scenario finished in that folder, and simulate the others. The file
        may have changed meanwhile: only what is different is simulated.
    overwrite : bool
        Remove everything that an earlier run left there.
    progress : bool or callable
        As for `simulate`: a bar, or a function that is called with the number of trials just finished.

    Returns
    -------
    DataFrame
        One row per point, as `points_table` makes it. Then `out` has report.html, figures/ (.png, .svg), points (.csv,
        .parquet, .tex) and trials (.parquet, .csv.gz).
    """
    asked = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
    chosen = with_settings(asked, trials, seed)
    checked_run(chosen.trials, chosen.seed, workers)
    target = folder_of(chosen, out)
    # These two words mark the folders of earlier versions too, which can be resumed or overwritten.
    settings = {"made by": "bestarm simulate", "study": chosen.name, "trials": chosen.trials}
    folder = Folder(target, settings, chosen.seed, OUTPUTS)
    folder.open(resume, overwrite)
    wanted = wanted_trials(chosen.experiments, chosen.trials)
    with progress_bar(chosen.name, sum(wanted.values()), progress) as advance:
        try:
            outcomes = run_points(wanted, folder, workers, advance)
        except MemoryError:
            fix = "a trial takes about 100 bytes and 8 for each arm"
            raise InputError("trials", "fit into the memory of this machine", chosen.trials, fix) from None
    run = Run(chosen.experiments, chosen.trials, chosen.seed, outcomes)
    points = points_table(run)
    folder.remove_outputs()  # of an epsilon, say, that the file had when it was resumed
    write_table(points, target, "points", f"{chosen.title}: pulls and errors at every point.")
    write_trials(run, target)
    drawn = _save_figures(points, chosen.experiments, target / "figures")
    write_report(chosen, asked, points, drawn, target / "report.html")
    return points


def run_study(study: str | Path | Scenario, **options: Any) -> pd.DataFrame:
    """Run a scenario: the old name of `run_scenario`, for one more version."""
    warnings.warn("run_study is deprecated: use run_scenario", DeprecationWarning, stacklevel=2)
    return run_scenario(study, **options)


def folder_of(scenario: Scenario, out: str | Path | None = None) -> Path:
    """Return the folder for the files of a scenario."""
    return Path("results", scenario.name) if out is None else Path(out)


def _save_figures(points: pd.DataFrame, experiments: Sequence[Experiment], out: Path) -> dict[str, tuple[str, str]]:
    """Draw the figures with dollar signs escaped: matplotlib reads a pair of them as a formula."""

    def plain(words: str) -> str:
        return words.replace("$", r"\$")

    drawn = [
        replace(
            experiment,
            title=plain(experiment.title),
            curves=tuple(replace(curve, label=plain(curve.label)) for curve in experiment.curves),
        )
        for experiment in experiments
    ]
    return save_figures(experiment_figures(points.assign(method=points["method"].map(plain)), drawn), out)
