"""`bestarm verify`: whether a certificate holds for a log."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Annotated

import typer

from bestarm.cli.commands import Command
from bestarm.cli.log_options import LogFiles, TableOption
from bestarm.progress import reading_bar

DOES_NOT_HOLD = 1  # exit code
_SHOWN = 8  # reasons


class VerifyForm(enum.StrEnum):
    """How the outcome is written."""

    text = "text"
    json = "json"


def verify(
    certificate: Annotated[Path, typer.Argument(metavar="FILE", help="What identify --certificate wrote.")],
    log: LogFiles,
    table: TableOption = None,
    form: Annotated[VerifyForm, typer.Option("--format", help="Output format.")] = VerifyForm.text,
) -> None:
    """Repeat a certificate: ask its question of your own copy of the log, and say whether the same comes out.

    The columns are in the certificate. The log may be in another format, and its rows and columns in another order.
    In Python: ba.verify_certificate.

    Exit code 0 if the certificate holds, 1 if it does not, 2 if it cannot be read.
    """
    from bestarm.cli.compiling import compile_note
    from bestarm.cli.log_data import data_of
    from bestarm.cli.log_table import say
    from bestarm.identification.wording.certificate import CHECKED, NOT_CHECKED
    from bestarm.log.certificate import verify_certificate

    with compile_note(), reading_bar() as bar:
        found = verify_certificate(certificate, data_of(log, table), progress=bar)
    if form is VerifyForm.json:
        print(json.dumps({"holds": found.holds, "verdict": found.sentence, "reasons": found.reasons}, indent=1))
    else:
        say(found.sentence)
        for reason in found.reasons[:_SHOWN]:
            say(f"- {reason}", indent=2)
        if len(found.reasons) > _SHOWN:
            print(f"- ... and {len(found.reasons) - _SHOWN:,} more differences (--format json has all)")
        if found.holds and found.result is not None:
            for line in found.result.lines[1:]:
                say(line)
            print()
            say(CHECKED)
            say(NOT_CHECKED)
            for assumption in found.result.assumptions:
                say(f"- {assumption}", indent=2)
    raise typer.Exit(0 if found.holds else DOES_NOT_HOLD)


COMMAND = Command(verify, rank=3)
