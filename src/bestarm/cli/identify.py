"""`bestarm identify`: the verdict on a log."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestarm.cli.commands import Command
from bestarm.cli.log_options import ColumnOptions, LogFiles, LogQuestionOptions, ReplayOptions
from bestarm.cli.options import explained_of_logs
from bestarm.cli.output import Format, arm_rows, exit_code, save_plot, write_rows
from bestarm.errors import InputError
from bestarm.progress import reading_bar

if TYPE_CHECKING:
    from bestarm.log.result import LogResult


def identify(
    log: LogFiles,
    columns: ColumnOptions,
    question: LogQuestionOptions,
    replay: ReplayOptions,
    report: Annotated[Path | None, typer.Option(help="Write a report to share to this file (.html or .md).")] = None,
    plot: Annotated[Path | None, typer.Option(help="Save a plot to this file (.png, .svg or .pdf).")] = None,
    form: Annotated[Format, typer.Option("--format", help="Format of the verdict; csv lists the arms.")] = Format.table,
) -> None:
    """Say which arm of a log is best, using all rows regardless of order, or why none is named.

    For rewards that are already in a file; in Python: ba.identify_log.
    To collect rewards until the best arm is known: bestarm study, or in Python ba.identify.

    With --source, of each source's own rows the first counts: their order matters unless there is a column of time.
    Asking again with another model, sigma or filter until an arm is named spends delta each time.

    Exit code 0 if an arm is named, 3 if none is, 2 for bad input; 4 if an arm comes first but the rewards contradict
    the assumptions (an alarm), so that nothing is claimed about it.
    """
    _check_places(report, plot)
    result = _answer(log, columns.keywords() | question.keywords() | replay.keywords())
    if report is not None:
        result.report(report, command=shlex.join(["bestarm", *sys.argv[1:]]))
        print(f"written: {report}", file=sys.stderr)
    if plot is not None:
        save_plot(result.plot(), plot)
        print(f"written: {plot}", file=sys.stderr)
    if form is Format.json:
        more = {"verdict": str(result), "about_the_file": result.health.sentences()}
        print(json.dumps(more | json.loads(result.to_json()), indent=1))
    elif form is Format.csv:
        write_rows(arm_rows(result), form)
    else:
        from bestarm.cli.log_table import print_verdict

        print_verdict(result)
    raise typer.Exit(exit_code(result))


def _answer(log: list[str], question: dict[str, Any]) -> LogResult:
    from bestarm.cli.compiling import compile_note
    from bestarm.log.verdict import identify_log

    with compile_note(), reading_bar() as bar:
        return identify_log(log[0] if len(log) == 1 else log, progress=bar, **question)


def _check_places(report: Path | None, plot: Path | None) -> None:
    """Reject files that cannot be written, before the log is read."""
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


COMMAND = Command(identify, rank=3, epilog=explained_of_logs())
