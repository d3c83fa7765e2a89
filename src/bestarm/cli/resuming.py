"""A long run on the command line: say on stderr when it compiles, and after Ctrl-C how to resume it."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import typer

from bestarm.cli.compiling import compile_note

INTERRUPTED = 130  # as a shell reports a program that Ctrl-C ended


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
