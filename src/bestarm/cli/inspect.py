"""`bestarm inspect`: a look at a log before any test."""

from __future__ import annotations

import enum
import json
from typing import Annotated

import typer

from bestarm.cli.commands import Command
from bestarm.cli.log_options import OUTPUT, InspectedColumnOptions, LogCommand, LogFiles, TableOption
from bestarm.cli.syntax import to_cli_syntax
from bestarm.progress import reading_bar


class Form(enum.StrEnum):
    """How a look is written."""

    table = "table"
    json = "json"


def inspect(
    log: LogFiles,
    columns: InspectedColumnOptions,
    table: TableOption = None,
    form: Annotated[Form, typer.Option("--format", help="Output format.", rich_help_panel=OUTPUT)] = Form.table,
) -> None:
    """Look at a log before testing anything: what is in it, which bounds or sigma it supports, and what looks wrong.

    Nothing is left out or tested; each suspicion is expressed as an epsilon. In Python: ba.inspect_log.
    """
    from bestarm.cli.log_data import data_of
    from bestarm.cli.log_table import say
    from bestarm.identification.result import as_json
    from bestarm.log.inspect import inspect_log

    with reading_bar() as bar:
        found = inspect_log(data_of(log, table), **columns.keywords(), progress=bar)
    if form is Form.json:
        print(json.dumps(as_json(found.to_dict()), indent=1))
    else:
        for line in map(to_cli_syntax, found.lines()):
            say(line, indent=2) if line.startswith("- ") else print(line)


COMMAND = Command(inspect, rank=2, kind=LogCommand)
