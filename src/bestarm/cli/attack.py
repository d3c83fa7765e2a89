"""`bestarm attack`: every method against every attack."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bestarm.cli.commands import Command
from bestarm.cli.options import OWN, Delta, RowFormat, Seed, Workers, explained, named_methods, names, numbers
from bestarm.cli.output import Format, write_rows
from bestarm.contamination import SIMULATED


def attack(
    trials: Annotated[int, typer.Option(help="Trials of each method against each attack on each instance.")] = 200,
    epsilon: Annotated[
        float, typer.Option(help="Contamination by every attack, in (0, 0.5); the methods are told it.")
    ] = 0.1,
    delta: Delta = 0.1,
    means: Annotated[
        str | None,
        typer.Option(help="Means of Gaussian arms with sigma = 1, separated by commas, instead of the two instances."),
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help=f"Methods (rows), separated by commas, {OWN}; all by default.")
    ] = None,
    attacks: Annotated[str | None, typer.Option(help="Attacks, separated by commas; all by default.")] = None,
    contamination: Annotated[
        str | None,
        typer.Option(
            help=f"What certified is told epsilon means: {', '.join(SIMULATED)} (see below).",
            show_default="a row for each",
        ),
    ] = None,
    seed: Seed = 7,
    workers: Workers = 2,
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("results/attack"),
    form: RowFormat = Format.table,
) -> None:
    """Attack each method in every way we know, on a solvable instance and an unsolvable one, and see which are fooled.

    Methods and attacks have the names shown in the full table. Its column covered says whether the attack keeps to the
    contamination that certified was told of: if not, nothing is promised.
    """
    from bestarm.cli.compiling import compile_note
    from bestarm.simulation.attack_bench import attack_methods, attack_table, draw_attack_table, rows_named
    from bestarm.validation import writable_folder

    known = attack_methods(contamination)
    writable_folder("out", out)  # before the trials
    with compile_note():
        frame = attack_table(
            known if methods is None else rows_named(named_methods(methods) or [], known),
            names(attacks),
            None if means is None else {means: numbers("means", means)},
            epsilon=epsilon,
            delta=delta,
            trials=trials,
            seed=seed,
            workers=workers,
            progress=True,
        )
    write_rows([{str(name): value for name, value in row.items()} for row in frame.to_dict("records")], form)
    picture = out / "attack.png"
    draw_attack_table(frame, picture)
    print(f"picture: {picture}", file=sys.stderr)


COMMAND = Command(attack, rank=6, epilog=explained(*SIMULATED))
