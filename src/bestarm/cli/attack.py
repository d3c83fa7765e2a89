"""`bestarm attack`: every method against every attack."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bestarm.cli.output import Format, write_rows


def attack(
    trials: Annotated[int, typer.Option(help="Trials of each method against each attack on each instance.")] = 200,
    epsilon: Annotated[float, typer.Option(help="Share of contaminated rewards, in (0, 0.5).")] = 0.1,
    delta: Annotated[float, typer.Option(help="Accepted probability of a wrong answer, in (0, 1).")] = 0.1,
    methods: Annotated[str | None, typer.Option(help="Rows, separated by commas; all if left out.")] = None,
    attacks: Annotated[str | None, typer.Option(help="Attacks, separated by commas; all if left out.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 7,
    workers: Annotated[int, typer.Option(help="Threads.")] = 2,
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("results/attack"),
    form: Annotated[Format, typer.Option("--format", help="How to write the rows.")] = Format.table,
) -> None:
    """Attack each method in every way we know, on an instance that can be solved and on one that cannot: who is fooled.

    Names of rows and attacks are those of the full table.
    """
    from bestarm.attack import attack_table, draw_attack_table
    from bestarm.cli.compiling import compile_note

    with compile_note():
        frame = attack_table(
            _names(methods),
            _names(attacks),
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


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",")]
