"""`bestarm plan`: whether the best arm can be found, and at what cost."""

from __future__ import annotations

from typing import Annotated

import typer

from bestarm.cli.commands import Command
from bestarm.cli.options import (
    OWN,
    QuestionOptions,
    Seed,
    SimulatedContamination,
    Workers,
    explained,
    named_methods,
    numbers,
)
from bestarm.cli.output import NO_WINNER, Format, write_rows
from bestarm.contamination import SIMULATED, default


def plan(
    means: Annotated[str, typer.Option(help="The means you expect, separated by commas.")],
    question: QuestionOptions,
    contamination: SimulatedContamination = None,
    family: Annotated[
        str | None, typer.Option(help="gaussian (the default) or sub-gaussian with sigma; bounded with bounds.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help=f"Methods to forecast, separated by commas, {OWN}; all by default.")
    ] = None,
    trials: Annotated[int, typer.Option(help="Simulated trials per forecast; fewer where they are long.")] = 200,
    max_pulls: Annotated[int, typer.Option(help="Cap on the pulls of a simulated trial.")] = 200_000,
    seed: Seed = 0,
    workers: Workers = 2,
    form: Annotated[
        Format, typer.Option("--format", help="table: the report; json: the whole plan; csv: the forecasts.")
    ] = Format.table,
) -> None:
    """Say whether the best arm can be identified against a worst-case adversary, and forecast the pulls.

    Exit code 0 if it can, or if that is not ruled out; 3 if it cannot.
    """
    from bestarm.cli.compiling import compile_note
    from bestarm.theory.planning import plan as make_plan

    with compile_note():
        made = make_plan(
            numbers("means", means),
            **question.keywords(),
            contamination=default("live") if contamination is None else contamination,
            family=family,
            methods=named_methods(methods),
            trials=trials,
            max_pulls=max_pulls,
            seed=seed,
            workers=workers,
            progress=True,
        )
    if form is Format.json:
        print(made.to_json())
    elif form is Format.csv:
        write_rows(made.forecasts, form)
    else:
        print(made.facts(), end="\n\n")
        write_rows(made.forecasts, form)
        print("", *(f"- {sentence}" for sentence in made.advice), sep="\n")
    raise typer.Exit(0 if made.identifiable else NO_WINNER)


COMMAND = Command(plan, rank=4, epilog=explained(*SIMULATED))
