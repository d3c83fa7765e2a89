"""`bestarm reproduce`: the paper's experiments and its claims."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestarm.cli.output import Format, write_rows

if TYPE_CHECKING:
    import pandas as pd


def reproduce(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(help="exp1 ... exp9, or all for these; pkis2-full, nycc-full.", show_default="all"),
    ] = None,
    trials: Annotated[int, typer.Option(help="Trials a point; pkis2-full has 2 % of them, nycc-full 0.4 %.")] = 1000,
    out: Annotated[Path, typer.Option(help="Folder for report, figures and tables.")] = Path("results/reproduce"),
    workers: Annotated[int, typer.Option(help="Threads.")] = 2,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Keep the points that a run with equal settings has finished in that folder."),
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the adversaries and of all trials.")] = 7,
    form: Annotated[Format, typer.Option("--format", help="How to write the rows.")] = Format.table,
) -> None:
    """Repeat the paper's experiments and check its claims one by one; write a report.

    The claims and their verdicts go to stdout. All nine experiments with 1000 trials take a few minutes. pkis2-full and
    nycc-full run the methods on all arms of real data, which must be at hand; their rows follow those of the claims.
    """
    from bestarm.cli.compiling import compile_note
    from bestarm.paper import reproduce as run
    from bestarm.paper.full_size_run import SHOWN

    with compile_note():
        found = run(
            experiments or ["all"],
            out=out,
            trials=trials,
            seed=seed,
            workers=workers,
            resume=resume,
            progress=True,
        )
    claims, full_size = _records(found.claims), _records(found.full_size)
    if form is Format.table:
        tables = [[_short(row) for row in claims], [{name: row[name] for name in SHOWN} for row in full_size]]
        for number, rows in enumerate(filter(None, tables)):
            if number:
                print()
            write_rows(rows, form)
    else:
        columns = dict.fromkeys(name for row in (*claims, *full_size) for name in row)
        write_rows([dict(columns) | row for row in (*claims, *full_size)], form)
    print(f"report: {out / 'report.html'}", file=sys.stderr)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """Return a claim as a line; its words, where they stand and how they are tested are in the report."""
    tested = row["test"].split(";")[0]
    return {"experiment": row["experiment"], "verdict": row["verdict"], "tested": tested, "measured": row["measured"]}
