"""Long runs: their options, and what is said on stderr when they compile, and after Ctrl-C."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bestarm.cli.compiling import compile_note
from bestarm.cli.options import Workers

INTERRUPTED = 130  # as a shell reports a program that Ctrl-C ended


@dataclass(frozen=True)
class RunOptions:
    """How to run points whose results go to a folder."""

    workers: Workers = 2
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep the points that an earlier run finished in that folder.")
    ] = False
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove everything an earlier run left in that folder.")
    ] = False


@contextlib.contextmanager
def resumable(folder: Path | None, what: str) -> Iterator[None]:
    """End with exit code 130 after Ctrl-C; if what is finished is in a folder, print the command that resumes."""
    try:
        with compile_note():
            yield
    except KeyboardInterrupt:
        if folder is not None:
            words = [word for word in sys.argv[1:] if word not in ("--resume", "--overwrite")]
            command = shlex.join(["bestarm", *words, "--resume"])
            print(f"stopped; finished {what} are in {folder}. To go on: {command}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
