"""Run the examples of a page and compare their output with the page.

    python -m docs.examples docs/guide/workers.md            # prints the differences
    python -m docs.examples --write docs/guide/workers.md    # writes the output into the page

Blocks of `python` and `sh` run from top to bottom, in one empty folder; Python blocks share their names. A block of
`text` right below a block is its output. A comment right above a block changes how it is treated:

    <!-- not run: the reason -->    it is not run
    <!-- a file of its own -->      Python that runs as a script, or commands in a folder of their own
    <!-- saved as NAME -->          it is written to that file: a block of any language
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

BLOCK = re.compile(
    r"(?:^<!-- (?P<note>[^\n]*?) -->\n+)?"
    r"^```(?P<language>python|sh|toml)\n(?P<code>.*?)^```\n"
    r"(?:\n```text\n(?P<printed>.*?)^```\n)?",
    re.M | re.S,
)
ANSWERED = (0, 3, 4)  # exit codes of bestarm: a winner is named, none is, one is but should not be relied on


class Run:
    """One page in its folder."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.names: dict[str, Any] = {"__name__": "page"}
        command = folder / ".bin" / "bestarm"
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m bestarm "$@"\n', encoding="utf-8")
        command.chmod(0o755)
        path = f"{command.parent}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"}
        self.environment.pop("COLUMNS", None)

    def block(self, found: re.Match[str]) -> str | None:
        """Run a block and return what it printed; None if it is not to be run."""
        note = found["note"] or ""
        if note.startswith("not run: "):
            return None
        if note.startswith("saved as "):
            (self.folder / note.removeprefix("saved as ")).write_text(found["code"], encoding="utf-8")
            return None
        if found["language"] == "toml":
            raise ValueError(f"{self.page}: a block of toml has to say where it is saved, or that it is not run")
        if note == "a file of its own":
            with tempfile.TemporaryDirectory() as other:
                if found["language"] == "sh":
                    return self._commands(found, other)
                script = Path(other) / "example.py"
                script.write_text(found["code"], encoding="utf-8")
                return self._output([sys.executable, str(script)], other)
        if found["language"] == "sh":
            return self._commands(found, str(self.folder))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(found["code"], self.page.name, "exec"), self.names)
        return out.getvalue()

    def _commands(self, found: re.Match[str], folder: str) -> str:
        if found["printed"] is not None:
            return self._output(["sh", "-c", found["code"]], folder)
        whole = found["code"].replace("\\\n", " ")  # each command has to end well
        return "".join(self._output(["sh", "-c", line], folder) for line in whole.splitlines() if line.strip())

    def _output(self, words: list[str], folder: str) -> str:
        done = subprocess.run(
            words, cwd=folder, env=self.environment, capture_output=True, text=True, encoding="utf-8", check=False
        )
        if done.returncode not in ANSWERED:
            raise RuntimeError(f"{self.page}: {words[-1]}\nended with {done.returncode}:\n{done.stderr}")
        return done.stdout


def run(page: Path) -> str:
    """Return a page with the output that its examples print."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return BLOCK.sub(_printer(Run(page, Path(folder)).block), text)


def _printer(block: Callable[[re.Match[str]], str | None]) -> Callable[[re.Match[str]], str]:
    def written(found: re.Match[str]) -> str:
        printed = block(found)
        if printed is None or found["printed"] is None:
            return found[0]
        start, end = found.start("printed") - found.start(), found.end("printed") - found.start()
        return found[0][:start] + printed + found[0][end:]

    return written


def main() -> int:
    """Print how pages differ from the output of their examples, or update them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the output into the page")
    parser.add_argument("pages", nargs="+", type=Path)
    given = parser.parse_args()
    differ = 0
    for page in [path.resolve() for path in given.pages]:
        before = page.read_text(encoding="utf-8")
        after = run(page)
        differ += before != after
        if given.write:
            page.write_text(after, encoding="utf-8")
        names = (str(page), "what is printed")
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.splitlines(True), *names))
    return 0 if given.write else min(differ, 1)


if __name__ == "__main__":
    sys.exit(main())
