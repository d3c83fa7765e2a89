"""The command `bestarm` for tests: in the process of the test, which takes milliseconds, or in one of its own."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import traceback
from pathlib import Path
from unittest.mock import patch

from bestarm.cli import main

Done = subprocess.CompletedProcess[str]


def _stream(content: bytes = b"") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()


def bestarm(*words: object, stdin: str | bytes = b"", folder: Path | None = None) -> Done:
    """Call what the command calls, and return its exit code and what it wrote, as a process would.

    A warning is an error here, as in every test; an error that is not caught leaves its traceback on stderr.
    """
    arguments = ["bestarm", *map(str, words)]
    given = _stream(stdin.encode() if isinstance(stdin, str) else stdin)
    out, err = _stream(), _stream()
    code = 0
    with (
        contextlib.chdir(folder or Path.cwd()),
        patch.dict("os.environ", COLUMNS="80"),  # whatever terminal the tests were started from
        patch.multiple(sys, argv=arguments, stdin=given, stdout=out, stderr=err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except Exception:
            traceback.print_exc()
            code = 1
    return Done(arguments, code, _written(out), _written(err))


def bestarm_process(*words: object, code: str = "", stdin: bytes = b"", folder: Path | None = None) -> Done:
    """Run the command as a process of its own; `code` comes before it."""
    start = ["-c", f"{code}\nfrom bestarm.cli import main\nmain()"] if code else ["-m", "bestarm"]
    command = [sys.executable, *start, *map(str, words)]
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, cwd=folder)
    return Done(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
