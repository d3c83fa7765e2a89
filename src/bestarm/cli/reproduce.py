"""`bestarm reproduce`: the paper's experiments and its claims."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestarm.cli.commands import Command
from bestarm.cli.options import RowFormat, given, numbers
from bestarm.cli.output import Format, write_rows
from bestarm.cli.resuming import RunOptions

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class VariationOptions:
    """Changes to one of the paper's experiments."""

    epsilon: Annotated[
        float | None, typer.Option(help="Your own variation of one experiment: share of contaminated rewards.")
    ] = None
    delta: Annotated[float | None, typer.Option(help="Variation of exp2: accepted probability of a wrong answer.")] = (
        None
    )
    means: Annotated[str | None, typer.Option(help="Variation: true means, separated by commas.")] = None
    sigma: Annotated[
        float | None, typer.Option(help="Variation: scale the methods are told, and spread of normal arms.")
    ] = None
    grid: Annotated[
        str | None, typer.Option(help="Variation: values along the axis (delta; exp2: epsilon), separated by commas.")
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Return the changes as keyword arguments."""
        lists = {
            name: numbers(name, text) for name, text in (("means", self.means), ("grid", self.grid)) if text is not None
        }
        return given(**{**vars(self), **lists})


def reproduce(
    *,
    experiments: Annotated[
        list[str] | None,
        typer.Argument(help="exp1 ... exp9, stored-2022, or all for these; pkis2-full, nycc-full.", show_default="all"),
    ] = None,
    trials: Annotated[int, typer.Option(help="Trials per point; pkis2-full runs 2 % of them, nycc-full 0.4 %.")] = 1000,
    out: Annotated[Path, typer.Option(help="Folder for report, figures and tables.")] = Path("results/reproduce"),
    run: RunOptions,
    variation: VariationOptions,
    seed: Annotated[int, typer.Option(help="Seed of the adversaries and of all trials.")] = 7,
    form: RowFormat = Format.table,
) -> None:
    """Repeat the paper's experiments and check its claims one by one, under each reading of the text; write a report.

    The claims and their verdicts go to stdout. All nine experiments with 1000 trials take a few minutes; readings other
    than ours have fewer trials. stored-2022 sets numbers that the paper's first author stored in 2022 beside ours.
    pkis2-full and nycc-full run the methods on all arms of real data, which must be available; their rows follow those
    of the claims.

    With --epsilon, --delta, --means, --sigma or --grid, one experiment is run with your changes, and the points of its
    figure go to stdout: the paper claims nothing about other settings.
    """
    from bestarm.cli.compiling import compile_note
    from bestarm.errors import InputError
    from bestarm.paper import EXPERIMENTS, experiment
    from bestarm.paper import reproduce as run_experiments
    from bestarm.paper.full_size_run import SHOWN
    from bestarm.scenarios.scenario import SHOWN as POINTS

    names: list[Any] = list(experiments or ["all"])
    changes = variation.keywords()
    if changes:
        if len(names) != 1 or names[0] not in EXPERIMENTS:
            rule = f"be one of {', '.join(EXPERIMENTS)} to be varied"
            raise InputError("experiments", rule, " ".join(names), "such as bestarm reproduce exp7 --epsilon 0.05")
        names = [experiment(names[0], **changes)]
    with compile_note():
        found = run_experiments(names, out=out, trials=trials, seed=seed, progress=True, **vars(run))
    claims, full_size, stored = _records(found.claims), _records(found.full_size), _records(found.stored)
    if form is Format.table:
        varied = [{name: row[name] for name in POINTS} for row in _records(found.points)] if changes else []
        large = [{name: row[name] for name in SHOWN} for row in full_size]
        tables = [[_short(row) for row in claims], stored, varied, large]
        for number, rows in enumerate(filter(None, tables)):
            if number:
                print()
            write_rows(rows, form)
    else:
        rows = [*claims, *stored, *(_records(found.points) if changes else []), *full_size]
        columns = dict.fromkeys(name for row in rows for name in row)
        write_rows([dict(columns) | row for row in rows], form)
    print(f"report: {out / 'report.html'}", file=sys.stderr)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """Return a claim as a line; its place in the paper, and what was measured under each reading, are in the report."""
    under = {"holds_under": "holds: ", "does_not_hold_under": "does not: ", "open_under": "open: "}
    found = "; ".join(words + row[name] for name, words in under.items() if row[name])
    return {"experiment": row["experiment"], "verdict": row["verdict"], "claim": row["claim"], "readings": found}


COMMAND = Command(reproduce, rank=1)
