"""Where there is no terminal, a long run says how far it is; a quick one says nothing."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

import bestarm as ba
from bestarm import progress
from bestarm.progress import progress_bar

LINE = re.compile(r"trials: ([\d,]+) of 400 \(\d+ %\), \d+ s so far(, less than 10 s left)?")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", 0.02)
    monkeypatch.setattr(progress, "SECONDS_OF_READING", 0.0)


def tellers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "bestarm-progress"]


def wait_for(lines: int, stream: io.StringIO) -> list[str]:
    """Wait until so many lines are there, ten seconds at most."""
    deadline = time.monotonic() + 10.0
    while stream.getvalue().count("\n") < lines and time.monotonic() < deadline:
        time.sleep(0.005)
    found = stream.getvalue().splitlines()
    assert len(found) >= lines
    return found


@pytest.mark.usefixtures("short")
def test_lines_keep_coming_while_nothing_is_finished() -> None:
    with contextlib.redirect_stderr(io.StringIO()) as stderr, progress_bar("trials", 400, True):
        assert tellers() == ["bestarm-progress"]
        lines = wait_for(3, stderr)
    assert set(lines) == {"trials: 0 of 400 (0 %), 0 s so far"}  # and nothing to go by for an estimate
    assert tellers() == []


@pytest.mark.usefixtures("short")
def test_lines_say_what_was_finished() -> None:
    with contextlib.redirect_stderr(io.StringIO()) as stderr, progress_bar("trials", 400, True) as advance:
        wait_for(1, stderr)
        advance(100)
        advance(23)
        before = len(stderr.getvalue().splitlines())
        lines = wait_for(before + 2, stderr)
    found = [LINE.fullmatch(line) for line in lines]
    assert all(found)
    assert [match[1] for match in found if match][-1] == "123"
    assert lines[-1] == "trials: 123 of 400 (31 %), 0 s so far, less than 10 s left"
    after = stderr.getvalue()
    time.sleep(0.06)
    assert stderr.getvalue() == after


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, GeneratorExit])
def test_a_block_that_raises_leaves_no_thread_behind(error: type[BaseException]) -> None:
    def broken() -> None:
        with contextlib.redirect_stderr(io.StringIO()) as stderr, progress_bar("trials", 400, True):
            wait_for(1, stderr)
            raise error

    with pytest.raises(error):
        broken()
    assert tellers() == []


def test_a_quick_run_prints_nothing() -> None:
    assert progress.SECONDS_PER_LINE == 10.0
    began = time.monotonic()
    bandit = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)])
    with contextlib.redirect_stderr(io.StringIO()) as stderr:
        trials = ba.simulate(bandit, "mean-se", delta=0.1, trials=20, seed=7, progress=True)
        with progress_bar("trials", 400, True) as advance:
            advance(400)
    assert len(trials) == 20
    assert tellers() == []
    if time.monotonic() - began < 10.0:  # the kernels may have been compiled
        assert stderr.getvalue() == ""


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("wanted", [False, [].append])
def test_nothing_is_printed_where_it_is_not_wanted(wanted: Any) -> None:
    with contextlib.redirect_stderr(io.StringIO()) as stderr, progress_bar("trials", 400, wanted) as advance:
        assert tellers() == []
        time.sleep(0.06)
        advance(1)
    assert stderr.getvalue() == ""


@pytest.mark.usefixtures("short")
def test_a_closed_stream_or_none_does_not_end_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_bar("trials", 400, True) as advance:
        stream.close()
        time.sleep(0.06)
        advance(1)
        assert tellers() == []
    monkeypatch.setattr(sys, "stderr", None)
    with progress_bar("trials", 400, True) as advance:
        advance(1)
        assert tellers() == []


def test_a_command_whose_stderr_is_a_file_tells_how_far_it_is() -> None:
    code = (
        "import bestarm.progress as progress\nprogress.SECONDS_PER_LINE = 0.05\nfrom bestarm.cli import main\nmain()\n"
    )
    words = ["simulate", "--means", "1,0.99", "--method", "se-cbai", "--max-pulls", "100000", "--trials", "800"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("se-cbai: ")]
    assert len(lines) >= 2
    assert all(re.match(r"se-cbai: \d+ of 800 \(\d+ %\), .* so far", line) for line in lines)


@pytest.mark.parametrize(
    ("finished", "read", "total", "seconds", "line"),
    [
        (123_000, 0, 400_000, 80.0, "123,000 of 400,000 (31 %), 1 min 20 s so far, about 3 min left"),
        (0, 0, 10, 40.0, "0 of 10 (0 %), 40 s so far"),
        (5, 5, 10, 40.0, "5 of 10 (50 %), 40 s so far"),  # all of it was there before
        (6, 5, 10, 40.0, "6 of 10 (60 %), 40 s so far, about 3 min left"),
        (10, 0, 10, 3600.0, "10 of 10 (100 %), 1 h so far"),
        (9_999, 0, 10_000, 7_530.0, "9,999 of 10,000 (99 %), 2 h 5 min so far, less than 10 s left"),
        (1, 0, 25, 600.0, "1 of 25 (4 %), 10 min so far, about 4 h left"),
        (1, 0, 2, 44.0, "1 of 2 (50 %), 44 s so far, about 40 s left"),
        (2, 0, 3, 112.0, "2 of 3 (67 %), 1 min 52 s so far, about 1 min left"),
        (0, 0, 0, 10.0, "0 of 0 (100 %), 10 s so far"),
    ],
)
def test_what_a_line_says(finished: int, read: int, total: int, seconds: float, line: str) -> None:
    assert progress.progress_line("trials", finished, read, total, seconds) == f"trials: {line}"


def test_trials_of_a_checkpoint_do_not_count_for_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", 0.02)
    with contextlib.redirect_stderr(io.StringIO()) as stderr, progress_bar("trials", 400, True) as advance:
        advance(300)  # in the first second
        lines = wait_for(1, stderr)
    assert lines[-1] == "trials: 300 of 400 (75 %), 0 s so far"
