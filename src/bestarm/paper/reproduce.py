"""From names of experiments to everything in a folder: points, tables, figures, claims, report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from bestarm.checks import one_of
from bestarm.errors import InputError
from bestarm.paper.claims import claims_rows, judge
from bestarm.paper.experiments import EXPERIMENTS
from bestarm.paper.figures import save_figures
from bestarm.paper.full_size import FULL_SIZE, full_size_experiments
from bestarm.paper.full_size_figures import save_full_size_figures
from bestarm.paper.full_size_run import full_size_table, run_full_size, write_full_size
from bestarm.paper.report import FullSizePart, PaperPart, write_report
from bestarm.paper.run import (
    checked_run,
    chosen_experiments,
    distinct_points,
    points_table,
    run_experiments,
    write_tables,
)
from bestarm.simulation import progress_bar


@dataclass(frozen=True)
class Reproduction:
    """What was found.

    Attributes
    ----------
    claims : pandas.DataFrame
        A row a claim of the paper: experiment, verdict, claim, measured, where, test. Empty if none of its own
        experiments was run.
    full_size : pandas.DataFrame
        A row a method under an attack, of the full-size experiments, as `full_size_table` returns it; or empty.
    """

    claims: pd.DataFrame
    full_size: pd.DataFrame


def reproduce(
    names: Sequence[str] = ("all",),
    *,
    out: str | Path,
    trials: int = 1000,
    seed: int = 7,
    workers: int = 1,
    resume: bool = False,
    progress: bool = False,
) -> Reproduction:
    """Run experiments, and write tables, figures and the report.

    Parameters
    ----------
    names : sequence of str
        exp1 ... exp9, or all for these nine; pkis2-full and nycc-full, which need their data and are never implied.
    out, trials, seed, workers, resume
        As for `run_experiments`. The full-size experiments run 2 % of the trials, and fewer.
    progress : bool
        Show bars on stderr, if that is a terminal.

    Returns
    -------
    Reproduction
        The claims with their verdicts, and the rows of the full-size experiments. In `out` are then report.html,
        figures/ (.png, .svg), and for the paper's experiments points and trials (.parquet, .csv) and claims.csv, for
        the others full-size (.parquet, .csv).
    """
    folder = Path(out)
    of_paper, at_full_size = _parted(names)
    count = checked_run(trials, seed, workers)
    large = full_size_experiments(at_full_size, seed)  # refuses missing data before anything is written
    claims, paper = pd.DataFrame(), None
    if of_paper:
        paper = _run_paper(of_paper, folder, count, seed, workers, resume, progress)
        claims = pd.DataFrame(claims_rows(paper.verdicts))
        claims.to_csv(folder / "claims.csv", index=False)
    table, full = pd.DataFrame(), None
    if large:
        again = resume or bool(of_paper)  # in the latter case the folder is ours already
        run = run_full_size(
            large, out=folder, trials=count, seed=seed, workers=workers, resume=again, progress=progress
        )
        table = full_size_table(run)
        write_full_size(run, table, folder)
        full = FullSizePart(run, table, save_full_size_figures(table, large, folder / "figures"))
    write_report(paper, full, folder / "report.html")
    return Reproduction(claims, table)


def _parted(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names of the paper's experiments and of the full-size ones; the former are all if no name is given."""
    if isinstance(names, str):
        raise InputError("experiments", "be a list of names", names, f"put it in brackets: [{names!r}]")
    for name in names:
        one_of("experiments", name, (*EXPERIMENTS, "all", *FULL_SIZE))
    large = [name for name in names if name in FULL_SIZE]
    return [name for name in names if name not in FULL_SIZE] if names else ["all"], large


def _run_paper(
    names: Sequence[str], folder: Path, trials: int, seed: int, workers: int, resume: bool, progress: bool
) -> PaperPart:
    chosen = chosen_experiments(names)
    total, figures = trials * len(distinct_points(chosen)), 2 * len(chosen)
    # a figure takes about as long as a point, and counts as one
    with progress_bar(f"{total:,} trials, {figures} figures", total + figures * trials, progress) as advance:
        run = run_experiments(
            names, out=folder, trials=trials, seed=seed, workers=workers, resume=resume, progress=advance
        )
        table = points_table(run)
        write_tables(run, table, folder)
        drawn = save_figures(table, run.experiments, folder / "figures", lambda: advance(run.trials))
    return PaperPart(run, table, judge(run), drawn)
