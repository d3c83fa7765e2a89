"""What a newcomer does with a log: types `bestarm identify FILE`, and pastes the command that it prints if it asks."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

ASKS = 2
MOST_COMMANDS = 4  # columns, direction, bounds, and one more: whoever is asked oftener gives up
_OFFERED = re.compile(r"bestarm identify [^\n]*")


@dataclass(frozen=True)
class Reply:
    """What one command printed, and its exit code."""

    code: int
    out: str
    err: str
    seconds: float


@dataclass(frozen=True)
class Answer:
    """The end of a conversation: the commands typed, the last one's reply, and the arm that it names."""

    commands: tuple[str, ...]
    reply: Reply
    best: str | None

    @property
    def lines(self) -> str:
        """Return what stands before the first blank line, in one line; what it asks, if it asks."""
        text = self.reply.err if self.reply.code == ASKS else self.reply.out
        return " ".join(text.strip().split("\n\n")[0].split())


Runner = Callable[[list[str], Path], Reply]


def in_process(words: list[str], folder: Path) -> Reply:
    """Call what the command calls, in this process: the same exit code and output, without starting Python."""
    from bestarm.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    begin = time.perf_counter()
    with (
        contextlib.chdir(folder),
        patch.object(sys, "argv", words),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Reply(code, out.getvalue(), err.getvalue(), time.perf_counter() - begin)


def as_process(words: list[str], folder: Path) -> Reply:
    """Run the command in a process of its own."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return Reply(done.returncode, done.stdout, done.stderr, time.perf_counter() - begin)


def ask(file: Path, wants: str = "", run: Runner = in_process, options: tuple[str, ...] = ()) -> Answer:
    """Type the bare command; while it asks, paste the command that it offers.

    Parameters
    ----------
    file : Path
        The log; the command is typed in its folder.
    wants : str
        What the newcomer knows: of several commands offered, the first that contains it is pasted, else the first.
    run : callable
        `in_process` or `as_process`.
    options : tuple of str
        Words that are added to each command, such as "--format", "json".
    """
    typed = [f"bestarm identify {shlex.quote(file.name)}"]
    while True:
        reply = run([*shlex.split(typed[-1]), *options], file.parent)
        offered = offers(reply.err, file.name)
        if reply.code != ASKS or not offered or len(typed) == MOST_COMMANDS:
            return Answer(tuple(typed), reply, named(reply))
        typed.append(next((command for command in offered if wants and wants in command), offered[0]))
        if typed[-1] in typed[:-1]:  # it offers what it has just refused
            return Answer(tuple(typed[:-1]), reply, None)


def offers(text: str, file: str) -> list[str]:
    """Return the commands about a file that a message offers to paste.

    >>> offers("Usage: bestarm identify [OPTIONS]\\nPaste this:\\n  bestarm identify a.csv --arm b\\n", "a.csv")
    ['bestarm identify a.csv --arm b']
    """
    return [found.rstrip(" .,;:`") for found in _OFFERED.findall(text) if file in found]


def named(reply: Reply) -> str | None:
    """Return the arm that is named by a command that printed JSON; None if it printed something else."""
    if not reply.out.lstrip().startswith("{"):
        return None
    best = json.loads(reply.out)["best"]
    return None if best is None else str(best)
