"""What `identify` and `inspect` share: the options of a log's columns, and progress on stderr."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from bestarm.cli.options import names, pair

LogFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="LOG",
        help="CSV or JSON lines (gz or zst too), or Parquet; several files, or a quoted pattern, make one log; - for "
        "stdin.",
    ),
]
Arm = Annotated[
    str | None,
    typer.Option(
        metavar="COL", help="Column of the arm; guessed if its name is obvious. With --wide: the columns to use."
    ),
]
Reward = Annotated[str | None, typer.Option(metavar="COL", help="Column of the reward; guessed the same way.")]
Time = Annotated[
    str | None,
    typer.Option(
        metavar="COL", help="Column of when each reward was given; guessed where order matters; no: there is none."
    ),
]
Wide = Annotated[
    bool,
    typer.Option("--wide", help="One column per arm (or only those in --arm A,B,C); each row has a reward for each."),
]
Counted = Annotated[
    str | None,
    typer.Option(
        help="For rows that give an arm, a reward and how often it occurs: the column that says how often. Or one "
        "column per reward value, as in bad=1,good=3. Or no, if this was guessed wrongly.",
    ),
]
Bounds = Annotated[str | None, typer.Option(metavar="A,B", help="Lowest and highest possible reward, such as 1,5.")]


def columns(
    *,
    arm: str | None,
    reward: str | None,
    source: str | None,
    time: str | None,
    wide: bool,
    counted: str | None,
    bounds: str | None,
) -> dict[str, Any]:
    """Return the options of a log's columns as `read_log` takes them."""
    several = names(arm) if wide else None
    return {
        "arm": None if wide else arm,
        "reward": reward,
        "source": source,
        "time": False if time == "no" else time,
        "wide": several or wide,
        "counted": _counted(counted),
        "bounds": pair(bounds),
    }


def _counted(text: str | None) -> bool | str | dict[str, float] | None:
    from bestarm.errors import InputError

    if text is None or "=" not in text:
        return False if text == "no" else text
    try:
        found = [part.rpartition("=") for part in text.split(",")]
        return {name.strip(): float(value) for name, _, value in found}
    except ValueError:
        fix = "such as unfunny=1,funny=3"
        raise InputError("counted", "give the value that each column counts", text, fix) from None


@contextlib.contextmanager
def reading_bar() -> Iterator[Callable[[float], None] | None]:
    """Show on a terminal how far each pass over the log is; None where there is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("reading the log", total=1.0)
        last, passes = 0.0, 1

        def show(share: float) -> None:
            nonlocal last, passes
            if share < last:  # another pass
                passes += 1
            last = share
            bars.update(task, completed=share, description=f"reading the log, pass {passes}")

        yield show
