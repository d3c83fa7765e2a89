"""`bestarm demo`: every method on one contaminated problem."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bestarm.cli.commands import Command
from bestarm.cli.options import RowFormat, Seed, Workers
from bestarm.cli.output import Format, write_rows


def demo(
    trials: Annotated[int, typer.Option(help="Trials of each method against each adversary.")] = 300,
    seed: Seed = 7,
    workers: Workers = 2,
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("results/demo"),
    form: RowFormat = Format.table,
) -> None:
    """Solve a contaminated four-armed problem with each method: pulls, answers, error rates and a picture."""
    from bestarm.cli.compiling import compile_note
    from bestarm.simulation.demo import draw_demo, run_demo
    from bestarm.validation import writable_folder

    writable_folder("out", out)  # before the trials
    with compile_note():
        frame = run_demo(trials, seed, workers, progress=True)
    write_rows([{str(name): value for name, value in row.items()} for row in frame.to_dict("records")], form)
    picture = out / "demo.png"
    draw_demo(frame, picture)
    print(f"picture: {picture}", file=sys.stderr)


COMMAND = Command(demo, rank=0)
