"""`bestarm reproduce`: the paper's experiments and its claims."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bestarm.cli.output import Format, write_rows


def reproduce(
    experiments: Annotated[list[str] | None, typer.Argument(help="exp1 ... exp9, or all.", show_default="all")] = None,
    trials: Annotated[int, typer.Option(help="Trials a point; our own curves have a quarter.")] = 1000,
    out: Annotated[Path, typer.Option(help="Folder for report, figures and tables.")] = Path("results/reproduce"),
    workers: Annotated[int, typer.Option(help="Threads.")] = 2,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Keep the points that a run with equal settings has finished in that folder."),
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the adversaries and of all trials.")] = 7,
    form: Annotated[Format, typer.Option("--format", help="How to write the claims.")] = Format.table,
) -> None:
    """Repeat the paper's experiments and check its claims one by one; write a report.

    The claims and their verdicts go to stdout. All nine experiments with 1000 trials take a few minutes.
    """
    from bestarm.cli.compiling import compile_note
    from bestarm.paper import reproduce as run

    with compile_note():
        claims = run(
            experiments or ["all"],
            out=out,
            trials=trials,
            seed=seed,
            workers=workers,
            resume=resume,
            progress=True,
        )
    rows = [{str(name): value for name, value in row.items()} for row in claims.to_dict("records")]
    if form is Format.table:  # a line a claim; its words, where they stand and how they are tested are in the report
        rows = [
            {
                "experiment": row["experiment"],
                "verdict": row["verdict"],
                "tested": row["test"].split(";")[0],
                "measured": row["measured"],
            }
            for row in rows
        ]
    write_rows(rows, form)
    print(f"report: {out / 'report.html'}", file=sys.stderr)
