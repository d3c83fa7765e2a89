"""The verdicts on the segments of a log, written as `bestarm identify` writes one verdict."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from bestarm.cli.control_table import comparison_rows
from bestarm.cli.output import NO_CLAIM, NO_WINNER, Format, arm_rows, write_rows
from bestarm.errors import InputError


def write_segments(
    result: Any, form: Format, report: Path | None, plot: Path | None, certificate: Path | None, *, explain: bool
) -> int:
    """Write the verdicts, and return the exit code."""
    if plot is not None:
        fix = "write a --report, which has a picture of each segment, or ask for one segment by --where"
        raise InputError("plot", "be of one verdict", f"{result.number} segments", fix)
    if certificate is not None:
        result.certificate(certificate)
    if report is not None:
        result.report(report, command=shlex.join(["bestarm", *sys.argv[1:]]))
        print(f"written: {report}", file=sys.stderr)
    if form is Format.json:
        print(json.dumps(json.loads(result.to_json()), indent=1))
    elif form is Format.csv:
        rows = [
            {"segment": segment, **row}
            for segment, found in result.items()
            for row in (arm_rows(found) if found.control is None else comparison_rows(found))
        ]
        names = dict.fromkeys(name for row in rows for name in row)
        write_rows([{name: row.get(name) for name in names} for row in rows], form)
        for segment, found in result.items():
            print(f"{segment}: {' '.join(found.lines)}", file=sys.stderr)
    else:
        from bestarm.cli.log_table import print_segments

        print_segments(result, explain=explain)
    if not result.named:
        return NO_WINNER
    return 0 if result.trusted else NO_CLAIM
