"""The command `bestarm`. Exit codes: 0 answered, 2 bad input, 3 no winner is named, 4 nothing is claimed (an alarm)."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from bestarm import __version__
from bestarm.cli.commands import all_commands
from bestarm.cli.syntax import cli_syntax
from bestarm.errors import BestarmError

BAD_INPUT = 2

app = typer.Typer(
    name="bestarm",
    help="Find which of K options has the highest mean reward, even if some of the rewards were corrupted.",
    epilog="Results go to stdout, progress to stderr. Exit codes: 0 answered, 2 bad input, 3 no winner is named, "
    "4 nothing is claimed (an alarm).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in all_commands():
    command.add_to(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"bestarm {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def run() -> None:
    """Run the command; an error is one line on stderr and exit code 2."""
    try:
        app()
    except BestarmError as error:
        print(f"bestarm: {error.written(cli_syntax)}", file=sys.stderr)
        sys.exit(BAD_INPUT)
