"""`bestarm identify`: the verdict on a log."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestarm.cli.commands import Command
from bestarm.cli.control_table import comparison_rows
from bestarm.cli.log_options import (
    OUTPUT,
    ColumnOptions,
    LogCommand,
    LogFiles,
    LogQuestionOptions,
    ReplayOptions,
    TableOption,
)
from bestarm.cli.options import explained_of_logs
from bestarm.cli.output import Format, arm_rows, exit_code, save_plot, write_rows
from bestarm.errors import InputError
from bestarm.phrases import without_secrets
from bestarm.progress import reading_bar

if TYPE_CHECKING:
    from bestarm.log.result import LogResult


def identify(
    log: LogFiles,
    columns: ColumnOptions,
    question: LogQuestionOptions,
    replay: ReplayOptions,
    table: TableOption = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report to share (.html or .md).", rich_help_panel=OUTPUT),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save a plot (.png, .svg or .pdf).", rich_help_panel=OUTPUT)
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Print everything: assumptions, evidence, other epsilons, the file.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a certificate (.json), which bestarm verify can check.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    form: Annotated[
        Format,
        typer.Option("--format", help="Format of the verdict; csv lists the arms.", rich_help_panel=OUTPUT),
    ] = Format.table,
) -> None:
    """Say which arm of a log is best, using all rows regardless of order, or why none is named.

    For rewards that are already in a file; in Python: ba.identify_log.
    To collect rewards until the best arm is known: bestarm study, or in Python ba.identify.

    With --source, of each source's own rows the first counts: their order matters unless there is a column of time.
    Asking again with another model, sigma or filter until an arm is named spends delta each time.

    Exit code 0 if an arm is named and can be relied on, 3 if none is named, 2 for bad input; 4 if an arm is named but
    should not be relied on: the rewards contradict the assumptions, or more looks fake than the answer survives.

    With --control an arm is named if it is proved better than the control, and there may be several; the code is 4 if
    one of them should not be relied on. With --by the code is 0 if an arm is named in some segment, and all that are
    named can be relied on.
    """
    _check_places(report, plot, certificate)
    result = _answer(log, table, columns.keywords() | question.keywords() | replay.keywords())
    if question.by is not None:
        from bestarm.cli.segments import write_segments

        raise typer.Exit(write_segments(result, form, report, plot, certificate, explain=explain))
    if report is not None:
        result.report(report, command=shlex.join(["bestarm", *map(without_secrets, sys.argv[1:])]))
        print(f"written: {report}", file=sys.stderr)
    if plot is not None:
        save_plot(result.plot(), plot)
        print(f"written: {plot}", file=sys.stderr)
    if certificate is not None:
        result.certificate(certificate)
        print(f"written: {certificate}", file=sys.stderr)
    if form is Format.json:
        more = {"verdict": str(result), "about_the_file": result.health.sentences()}
        print(json.dumps(more | json.loads(result.to_json()), indent=1))
    elif form is Format.csv:
        write_rows(arm_rows(result) if result.control is None else comparison_rows(result), form)
        print("\n".join(result.lines), file=sys.stderr)
    else:
        from bestarm.cli.log_table import print_verdict

        print_verdict(result, explain=explain)
    raise typer.Exit(exit_code(result))


def _answer(log: list[str], table: str | None, question: dict[str, Any]) -> LogResult:
    from bestarm.cli.compiling import compile_note
    from bestarm.cli.log_data import data_of
    from bestarm.log.verdict import identify_log

    with compile_note(), reading_bar() as bar:
        return identify_log(data_of(log, table), progress=bar, **question)


def _check_places(report: Path | None, plot: Path | None, certificate: Path | None) -> None:
    """Reject files that cannot be written, before the log is read."""
    from bestarm.validation import writable_folder

    if report is not None:
        from bestarm.log.report import check_place

        check_place(report)
    if certificate is not None:
        from bestarm.log.certificate import check_place as check_certificate

        check_certificate(certificate)
    if plot is not None:
        if plot.suffix.lower() not in (".png", ".svg", ".pdf"):
            raise InputError("plot", "end in .png, .svg or .pdf", str(plot), "the ending says what is drawn")
        if not plot.parent.is_dir() or plot.is_dir():
            raise InputError("plot", "be a file in a folder that is there", str(plot), "make the folder first")
        writable_folder("plot", plot.parent)


EXAMPLES = {
    "The best variant of a log, whose columns have obvious names": "bestarm identify log.csv",
    "Stars from 1 to 5, in columns that you name": "bestarm identify films.csv --arm film --reward stars --bounds 1,5",
    "Count fake users, not fake rows, and write a report": "bestarm identify log.csv --source user_id "
    "--report report.html",
}


def _examples() -> str:
    lines = (f"{what}:\n\n  {words}" for what, words in EXAMPLES.items())
    return "\n\n".join(("Examples:", *lines))


# The examples come last: a terminal shows the end of a long help.
COMMAND = Command(identify, rank=3, epilog=f"{explained_of_logs()}\n\n{_examples()}", kind=LogCommand)
