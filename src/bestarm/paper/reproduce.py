"""From names of experiments to everything in a folder: points, tables, figures, claims, report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from bestarm.checks import checked
from bestarm.paper.claims import claims_rows, judge
from bestarm.paper.figures import save_figures
from bestarm.paper.report import write_report
from bestarm.paper.run import chosen_experiments, distinct_points, points_table, run_experiments, write_tables
from bestarm.simulation import progress_bar


def reproduce(
    names: Sequence[str] = ("all",),
    *,
    out: str | Path,
    trials: int = 1000,
    seed: int = 7,
    workers: int = 1,
    resume: bool = False,
    progress: bool = False,
) -> pd.DataFrame:
    """Run experiments of the paper, and write tables, figures and the report; return a row a claim with its verdict.

    Parameters
    ----------
    names, out, trials, seed, workers, resume
        As for `run_experiments`.
    progress : bool
        Show one bar for the whole on stderr, if that is a terminal.

    Returns
    -------
    pandas.DataFrame
        experiment, verdict, claim, measured, where, test. In `out` are then report.html, points and trials (.parquet,
        .csv), claims.csv, and figures/ (.png, .svg).
    """
    folder = Path(out)
    chosen = chosen_experiments(names)
    count = int(checked(trials=trials)[0])
    total, figures = sum(point.trials(count) for point in distinct_points(chosen)), 2 * len(chosen)
    # a figure takes about as long as a point, and counts as one
    with progress_bar(f"{total:,} trials, {figures} figures", total + figures * count, progress) as advance:
        run = run_experiments(
            names, out=folder, trials=trials, seed=seed, workers=workers, resume=resume, progress=advance
        )
        table = points_table(run)
        verdicts = judge(run)
        claims = pd.DataFrame(claims_rows(verdicts))
        write_tables(run, table, folder)
        claims.to_csv(folder / "claims.csv", index=False)
        drawn = save_figures(table, run.experiments, folder / "figures", lambda: advance(run.trials))
        write_report(run, table, verdicts, drawn, folder / "report.html")
    return claims
