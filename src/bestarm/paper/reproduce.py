"""Run experiments by name, and write points, tables, figures, claims and the report to a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pandas as pd

from bestarm.errors import InputError
from bestarm.paper.claims import claims_rows, judge, readings_rows, strictest
from bestarm.paper.experiments import EXPERIMENTS
from bestarm.paper.folder import paper_folder
from bestarm.paper.full_size import FULL_SIZE, full_size_experiments
from bestarm.paper.full_size_figures import draw_full_size
from bestarm.paper.full_size_run import full_size_table, run_full_size, write_full_size
from bestarm.paper.readings import READINGS
from bestarm.paper.readings_figure import draw_readings, readings_table
from bestarm.paper.report import FullSizePart, PaperPart, write_report
from bestarm.paper.stored_results import NAME as STORED
from bestarm.paper.stored_results import STORED_EXPERIMENTS, stored_table
from bestarm.progress import Progress, progress_bar
from bestarm.scenarios.experiment import Experiment, Point
from bestarm.scenarios.figures import experiment_figures, save_figures
from bestarm.scenarios.run import Folder, Run, checked_run, run_points, wanted_trials
from bestarm.scenarios.tables import points_table, write_table, write_trials
from bestarm.validation import one_of


@dataclass(frozen=True)
class Reproduction:
    """The results of a reproduction.

    Attributes
    ----------
    claims : pandas.DataFrame
        One row per claim of the paper: experiment, verdict under all readings together, claim, readings under which it
        holds, does not hold and is open, what was measured under ours, quote, where, test, note. Empty if none of the
        paper's own experiments was run as it is.
    points : pandas.DataFrame
        One row per point of the figures. Empty if none of the paper's experiments was run.
    full_size : pandas.DataFrame
        One row per method under an attack, of the full-size experiments, as `full_size_table` returns it; or empty.
    stored : pandas.DataFrame
        The first author's stored results of 2022 beside ours, as `stored_table` returns them; or empty.
    """

    claims: pd.DataFrame
    points: pd.DataFrame
    full_size: pd.DataFrame
    stored: pd.DataFrame = field(default_factory=pd.DataFrame)


def reproduce(
    names: Sequence[str | Experiment] = ("all",),
    *,
    out: str | Path,
    trials: int = 1000,
    seed: int = 7,
    workers: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    progress: bool = False,
) -> Reproduction:
    """Run experiments, and write tables, figures and the report.

    Parameters
    ----------
    names : sequence of str or Experiment
        exp1 ... exp9 and stored-2022, or all for these ten; variations of the nine that `experiment` makes; pkis2-full
        and nycc-full, which need their data and are never part of "all".
    out, trials, seed, workers, resume, overwrite
        As for `run_experiments`. The full-size experiments run 2 % of the trials, and fewer.
    progress : bool
        Show a bar on stderr; a line every 10 seconds where that is not a terminal.

    Returns
    -------
    Reproduction
        The claims with their verdicts, the points, the rows of the full-size experiments, and the stored results.
        `out` then has report.html, figures/ (.png, .svg), and, as .csv, .parquet and .tex, the tables points, readings,
        claims and claims-by-reading (of the paper's experiments), stored-2022 and full-size (of the others).
    """
    of_paper, at_full_size = _parted(names)
    count = checked_run(trials, seed, workers)
    large = full_size_experiments(at_full_size, seed)  # rejects missing data before anything is written
    with_stored = STORED in of_paper or "all" in of_paper
    nine = [name for name in of_paper if name != STORED]
    chosen = chosen_experiments(nine) if nine else ()
    folder = paper_folder(out, count, seed)
    folder.open(resume, overwrite)
    folder.remove_outputs()
    claims, points, paper = pd.DataFrame(), pd.DataFrame(), None
    if of_paper:
        paper = _run_paper(chosen, with_stored, folder, count, workers, progress)
        points = paper.points
        claims = pd.DataFrame(claims_rows(paper.verdicts))
        if paper.verdicts:
            write_table(claims, folder.path, "claims", "Claims of the paper and what was found, all readings together.")
            by_reading = pd.DataFrame(readings_rows(paper.verdicts))
            write_table(by_reading, folder.path, "claims-by-reading", "What was found under each reading of the text.")
    table, full = pd.DataFrame(), None
    if large:
        run = run_full_size(large, out=folder, trials=count, seed=seed, workers=workers, progress=progress)
        table = full_size_table(run)
        write_full_size(run, table, folder.path)
        draws = {one.name: partial(draw_full_size, table, one) for one in large}
        full = FullSizePart(run, table, save_figures(draws, folder.path / "figures"))
    write_report(paper, full, folder.path / "report.html")
    return Reproduction(claims, points, table, pd.DataFrame() if paper is None else paper.stored)


def run_experiments(
    names: Sequence[str | Experiment] = ("all",),
    *,
    out: str | Path,
    trials: int = 1000,
    seed: int = 7,
    workers: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = False,
) -> Run:
    """Simulate experiments of the paper, under every reading of it; each finished point is stored under `out`.

    Parameters
    ----------
    names : sequence of str or Experiment
        exp1 ... exp9, all, or variations that `experiment` makes, which are run under our reading only.
    out : path
        Folder for the points, new or empty.
    trials, seed, workers
        As for `simulate`, but the seed is a whole number. Readings other than ours, and our own curves, run a share of
        the trials.
    resume : bool
        Keep the points that a run with equal settings and equal kernels has finished there, and simulate the others.
    overwrite : bool
        Remove everything that an earlier run left there.
    progress : bool or callable
        As for `simulate`: a bar, or a function that is called with the number of trials just finished.
    """
    chosen = chosen_experiments(names)
    count = checked_run(trials, seed, workers)
    folder = paper_folder(out, count, seed)
    folder.open(resume, overwrite)
    wanted = all_trials(chosen, count)
    with progress_bar("trials", sum(wanted.values()), progress) as advance:
        outcomes = run_points(wanted, folder, workers, advance)
    return Run(chosen, count, folder.seed, outcomes)


def all_trials(experiments: Sequence[Experiment], trials: int) -> dict[Point, int]:
    """Return how many trials of each point are wanted, for the figures and for every reading."""
    wanted = wanted_trials(experiments, trials)
    judged = [experiment for experiment in experiments if experiment.name in EXPERIMENTS]
    for one in judged:
        for reading in READINGS:
            found = wanted_trials([reading.of(one)], trials, reading.share, strictest(one.name))
            for point, count in found.items():
                wanted[point] = max(wanted.get(point, 0), count)
    return wanted


def chosen_experiments(names: Sequence[str | Experiment]) -> tuple[Experiment, ...]:
    """Return experiments by name, in the paper's order, then variations.

    >>> [experiment.name for experiment in chosen_experiments(["exp5", "exp1"])]
    ['exp1', 'exp5']
    """
    _parted(names)
    wanted = set(EXPERIMENTS) if not names or "all" in names else {name for name in names if isinstance(name, str)}
    for name in wanted:
        one_of("experiments", name, (*EXPERIMENTS, "all"))
    known = [experiment for name, experiment in EXPERIMENTS.items() if name in wanted]
    given = [experiment for experiment in names if isinstance(experiment, Experiment)]
    chosen = tuple(dict.fromkeys([*known, *given]))
    for name, count in Counter(experiment.name for experiment in chosen).items():
        if count > 1:
            reason = "figures and files are named after them; run one at a time, or dataclasses.replace(..., name=...)"
            raise InputError("experiments", "have names of their own", name, reason)
    return chosen


def _parted(names: Sequence[str | Experiment]) -> tuple[list[str | Experiment], list[str]]:
    """Return the names of the paper's experiments and of the full-size ones; the former are all if no name is given."""
    if isinstance(names, str | Experiment):
        raise InputError("experiments", "be a list of names", names, f"put it in brackets: [{names!r}]")
    for name in names:
        if not isinstance(name, Experiment):
            one_of("experiments", name, (*EXPERIMENTS, STORED, "all", *FULL_SIZE))
    large = [name for name in names if isinstance(name, str) and name in FULL_SIZE]
    return [name for name in names if name not in large] if names else ["all"], large


def _run_paper(
    chosen: tuple[Experiment, ...], with_stored: bool, folder: Folder, trials: int, workers: int, progress: bool
) -> PaperPart:
    wanted = all_trials(chosen, trials)
    if with_stored:
        wanted |= wanted_trials(STORED_EXPERIMENTS, trials)
    total, figures = sum(wanted.values()), 3 * len(chosen)
    each = max(1, total // 500)  # a figure takes about as long as this many trials
    with progress_bar(f"{total:,} trials, {figures} figures", total + figures * each, progress) as advance:
        run = Run(chosen, trials, folder.seed, run_points(wanted, folder, workers, advance))
        table, drawn = points_table(run), {}
        figures_folder = folder.path / "figures"
        if chosen:
            write_table(table, folder.path, "points", "Pulls and errors at every point of the figures.")
            write_trials(run, folder.path)
            drawn = save_figures(experiment_figures(table, chosen), figures_folder, lambda: advance(each))
        judged = [experiment for experiment in chosen if experiment.name in EXPERIMENTS]
        verdicts = judge(run)
        readings = readings_table(run, judged)
        if judged:
            write_table(
                readings, folder.path, "readings", "Pulls and errors of the paper's methods under every reading."
            )
            draws = {f"{one.name}-readings": partial(draw_readings, readings, one) for one in judged}
            drawn |= save_figures(draws, figures_folder, lambda: advance(each))
        stored = stored_table(run) if with_stored else pd.DataFrame()
        if with_stored:
            write_table(stored, folder.path, STORED, "Mean pulls stored in 2022 by the first author, and ours.")
    return PaperPart(run, table, readings, verdicts, drawn, stored)
