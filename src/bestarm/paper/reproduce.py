"""From names of experiments to everything in a folder: points, tables, figures, claims, report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from bestarm.paper.claims import claims_rows, judge
from bestarm.paper.figures import save_figures
from bestarm.paper.report import write_report
from bestarm.paper.run import points_table, run_experiments, write_tables


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
    names, out, trials, seed, workers, resume, progress
        As for `run_experiments`. In `out` are then report.html, points and trials (.parquet, .csv), claims.csv, and
        figures/ (.png, .svg).
    """
    folder = Path(out)
    run = run_experiments(
        names, out=folder, trials=trials, seed=seed, workers=workers, resume=resume, progress=progress
    )
    points = points_table(run)
    verdicts = judge(run)
    claims = pd.DataFrame(claims_rows(verdicts))
    write_tables(run, points, folder)
    claims.to_csv(folder / "claims.csv", index=False)
    save_figures(points, run.experiments, folder / "figures")
    write_report(run, points, verdicts, folder / "figures", folder / "report.html")
    return claims
