"""`bestarm scenario`: run the simulation that a TOML file describes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bestarm.cli.commands import Command
from bestarm.cli.options import RowFormat
from bestarm.cli.output import Format, write_rows
from bestarm.cli.resuming import RunOptions, resumable


def scenario(
    *,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE.toml", help="A scenario; --template prints an example.", show_default=False),
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="Print a commented scenario to start from, and exit.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the report, figures and tables.",
            show_default="results/ and the scenario's name",
        ),
    ] = None,
    trials: Annotated[int | None, typer.Option(help="Trials per point.", show_default="as in the file")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all randomness.", show_default="as in the file")] = None,
    run: RunOptions,
    form: RowFormat = Format.table,
) -> None:
    """Run a scenario of your own: simulate the methods of a TOML file, and write tables, figures and a report.

    FILE.toml describes arms, adversary, methods, delta and epsilon. A row for each point goes to stdout. The trials are
    the same for any number of workers.
    """
    from bestarm.errors import InputError
    from bestarm.scenarios.scenario_file import read_scenario
    from bestarm.scenarios.scenario_file import template as example

    if template:
        if file is not None:
            fix = "to make a file: bestarm scenario --template > scenario.toml"
            raise InputError("--template", "be given alone", str(file), fix)
        print(example(), end="")
        return
    if file is None:
        raise InputError("FILE.toml", "be given", None, "bestarm scenario --template prints an example")
    from bestarm.scenarios.scenario import SHOWN, folder_of, run_scenario

    chosen = read_scenario(file)
    folder = folder_of(chosen, out)
    with resumable(folder, "points"):
        points = run_scenario(chosen, out=folder, trials=trials, seed=seed, progress=True, **vars(run))
    rows = points[list(SHOWN)].to_dict("records")
    write_rows([{str(name): value for name, value in row.items()} for row in rows], form)
    print(f"report: {folder / 'report.html'}", file=sys.stderr)


COMMAND = Command(scenario, rank=5)
