"""`bestarm identify`: the verdict on a log."""

from __future__ import annotations

import json
import shlex
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestarm.cli.commands import Command
from bestarm.cli.log_options import (
    Arm,
    Bounds,
    Counted,
    LogFiles,
    Reward,
    Time,
    Wide,
    columns,
    reading_bar,
)
from bestarm.cli.options import METHOD, explained_of_logs, given, named_method
from bestarm.cli.output import Format, arm_rows, write_rows
from bestarm.contamination import CONTAMINATIONS, default

if TYPE_CHECKING:
    from bestarm.log.result import LogResult

NO_WINNER = 3
NO_CLAIM = 4


def identify(
    log: LogFiles,
    epsilon: Annotated[
        float, typer.Option(help="Largest share that may be fake, such as 0.05 for 5 %; see --contamination.")
    ],
    arm: Arm = None,
    reward: Reward = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="Column that says who gave each reward: epsilon is then a share of these sources."
        ),
    ] = None,
    time: Time = None,
    bounds: Bounds = None,
    sigma: Annotated[
        str | None,
        typer.Option(
            metavar="S|estimate",
            help="Sub-Gaussian scale of a clean reward, if it has no bounds; estimate: take it from a quarter of the "
            "rewards, which assumes that clean ones are normal.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="With --sigma estimate: picks the rewards that it is taken from.",
            show_default="from the log's rewards",
        ),
    ] = None,
    delta: Annotated[float, typer.Option(help="Accepted probability of a wrong answer, in (0, 1).")] = 0.05,
    contamination: Annotated[
        str | None,
        typer.Option(
            help=f"What epsilon means: {', '.join(CONTAMINATIONS)} (see below).",
            show_default=f"{default('log')}; {default('log with sources')} with --source",
        ),
    ] = None,
    paired: Annotated[
        bool,
        typer.Option(
            "--paired",
            help="Sources only: compare two arms by the difference between a source's rewards for them. The arms that "
            "a source rewards must be fixed before its first reward.",
        ),
    ] = False,
    good_enough: Annotated[
        float | None, typer.Option(help="Name an arm that is proved to be at most this much worse than the best.")
    ] = None,
    wide: Wide = False,
    counted: Counted = None,
    missing: Annotated[
        str,
        typer.Option(
            help="If a reward is missing: refuse, drop (for unrelated reasons) or replaced (may have been removed)."
        ),
    ] = "refuse",
    on_bad_row: Annotated[str, typer.Option(help="If a row cannot be used: refuse or skip.")] = "refuse",
    sequential: Annotated[
        bool,
        typer.Option("--sequential", help="Replay the rows in order instead, and stop once decided."),
    ] = False,
    method: Annotated[str, typer.Option(help=f"Replay only: {METHOD}")] = "certified",
    resolution: Annotated[
        float | None,
        typer.Option(
            help="Replay only: stop without a winner after about as many rewards as a lead of this size takes if "
            "epsilon = 0.",
            show_default="0.05 sigma; none if epsilon = 0",
        ),
    ] = None,
    exploration: Annotated[
        str | None, typer.Option(help="Replay only: hoeffding, half, chernoff or none (not certified).")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report to share to this file (.html or .md).")] = None,
    plot: Annotated[Path | None, typer.Option(help="Save a plot to this file (.png, .svg or .pdf).")] = None,
    form: Annotated[Format, typer.Option("--format", help="Format of the verdict; csv lists the arms.")] = Format.table,
) -> None:
    """Say which arm of a log is best, using all rows regardless of order, or why none is named.

    With --source, of each source's own rows the first counts: their order matters unless there is a column of time.
    Asking again with another model, sigma or filter until an arm is named spends delta each time.

    Exit code 0 if an arm is named, 3 if none is, 2 for bad input; 4 if an arm comes first but the rewards contradict
    the assumptions (an alarm), so that nothing is claimed about it.
    """
    from bestarm.errors import InputError

    _check_places(report, plot)
    read = columns(arm=arm, reward=reward, source=source, time=time, wide=wide, counted=counted, bounds=bounds)
    read |= {"missing": missing, "on_bad_row": on_bad_row}
    asked: dict[str, Any] = {
        "delta": delta,
        "epsilon": epsilon,
        "sigma": _sigma(sigma),
        "contamination": contamination,
        "good_enough": good_enough,
        "paired": paired,
        "seed": seed,
    }
    replay = given(resolution=resolution, exploration=exploration)
    if method != "certified":
        replay["method"] = named_method(method)
    for name, value in () if sequential else replay.items():
        raise InputError(name, "come with --sequential", value, "all rows are weighed at once without it")
    result = _answer(log, read | asked | {"sequential": sequential, "replay": replay})
    if report is not None:
        from bestarm.log.report import write_report

        write_report(result, report, command=shlex.join(["bestarm", *sys.argv[1:]]))
        print(f"written: {report}", file=sys.stderr)
    if plot is not None:
        _draw(result, plot)
        print(f"written: {plot}", file=sys.stderr)
    if form is Format.json:
        more = {"verdict": str(result), "about_the_file": result.health.sentences()}
        print(json.dumps(more | json.loads(result.to_json()), indent=1))
    elif form is Format.csv:
        write_rows(arm_rows(result), form)
    else:
        from bestarm.cli.log_table import print_verdict

        print_verdict(result)
    if result.best is None:
        raise typer.Exit(NO_WINNER)
    raise typer.Exit(NO_CLAIM if result.alarms else 0)


def _answer(log: list[str], question: dict[str, Any]) -> LogResult:
    from bestarm.cli.compiling import compile_note
    from bestarm.log.verdict import identify_log

    with compile_note(), reading_bar() as bar:
        return identify_log(log[0] if len(log) == 1 else log, progress=bar, **question)


def _sigma(text: str | None) -> float | str | None:
    from bestarm.errors import InputError

    if text is None or text == "estimate":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError("sigma", "be a number, or estimate", text, "such as --sigma 1.5") from None


def _check_places(report: Path | None, plot: Path | None) -> None:
    """Refuse files that cannot be written before the log is read."""
    from bestarm.errors import InputError
    from bestarm.validation import writable_folder

    if report is not None:
        from bestarm.log.report import check_place

        check_place(report)
    if plot is not None:
        if plot.suffix.lower() not in (".png", ".svg", ".pdf"):
            raise InputError("plot", "end in .png, .svg or .pdf", str(plot), "the ending says what is drawn")
        if not plot.parent.is_dir() or plot.is_dir():
            raise InputError("plot", "be a file in a folder that is there", str(plot), "make the folder first")
        writable_folder("plot", plot.parent)


def _draw(result: LogResult, path: Path) -> None:
    from bestarm.errors import InputError
    from bestarm.log.report import draw

    try:
        with warnings.catch_warnings(record=True) as said:
            draw(result).savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise InputError("plot", "be a file that can be written (.png, .svg, .pdf)", str(path), str(error)) from None
    if any("missing from font" in str(one.message) for one in said):
        print(
            f"{path}: some letters of the arms' names are not in the font (a browser has more: .svg)", file=sys.stderr
        )


COMMAND = Command(identify, rank=3, epilog=explained_of_logs())
