"""`bestarm inspect`: a look at a log before any test."""

from __future__ import annotations

import enum
import json
from typing import Annotated

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
from bestarm.cli.syntax import to_cli_syntax


class Form(enum.StrEnum):
    """How a look is written."""

    table = "table"
    json = "json"


def inspect(
    log: LogFiles,
    arm: Arm = None,
    reward: Reward = None,
    source: Annotated[
        str | None, typer.Option(metavar="COL", help="Column that says who gave each reward; guessed the same way.")
    ] = None,
    time: Time = None,
    bounds: Bounds = None,
    wide: Wide = False,
    counted: Counted = None,
    form: Annotated[Form, typer.Option("--format", help="Output format.")] = Form.table,
) -> None:
    """Look at a log before testing anything: what is in it, which bounds or sigma it supports, and what looks wrong.

    Nothing is left out or tested; each suspicion is expressed as an epsilon.
    """
    from bestarm.cli.log_table import say
    from bestarm.identification.result import as_json
    from bestarm.log.inspect import inspect_log

    read = columns(arm=arm, reward=reward, source=source, time=time, wide=wide, counted=counted, bounds=bounds)
    with reading_bar() as bar:
        found = inspect_log(log[0] if len(log) == 1 else log, **read, progress=bar)
    if form is Form.json:
        print(json.dumps(as_json(found.to_dict()), indent=1))
    else:
        for line in map(to_cli_syntax, found.lines()):
            say(line, indent=2) if line.startswith("- ") else print(line)


COMMAND = Command(inspect, rank=2)
