"""Progress of a long run: a bar or plain lines on stderr, or a function of the caller's."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from bestarm.extras import is_there

Progress = bool | Callable[[int], object]

SECONDS_A_LINE = 10.0  # between two lines where there is no terminal to show a bar on
SECONDS_OF_READING = 1.0  # what comes that early was read from a checkpoint: it says nothing about the pace


@contextlib.contextmanager
def progress_bar(title: str, total: int, wanted: Progress) -> Iterator[Callable[[int], object]]:
    """Show progress on stderr while the block runs, if wanted; a function takes its place.

    On a terminal that is a bar, elsewhere (a log, a pipe, a notebook) a line every ten seconds, whether or not
    something was finished meanwhile. A run that ends within ten seconds prints nothing there.
    """
    if callable(wanted):
        yield wanted
        return
    if not wanted or sys.stderr is None:
        yield lambda done: None
        return
    if not sys.stderr.isatty() or not is_there("rich"):
        with _lines(title, total, sys.stderr) as advance:
            yield advance
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=total)
        yield lambda done: bars.advance(task, done)


@contextlib.contextmanager
def _lines(title: str, total: int, stream: TextIO) -> Iterator[Callable[[int], object]]:
    """Print a line to the stream at regular times until the block ends, however it ends."""
    began = time.monotonic()
    finished = read = 0
    ended = threading.Event()

    def advance(done: int) -> None:
        nonlocal finished, read
        finished += done
        if time.monotonic() - began < SECONDS_OF_READING:
            read += done

    def tell() -> None:
        while not ended.wait(SECONDS_A_LINE):
            line = _line(title, finished, read, total, time.monotonic() - began)
            try:
                print(line, file=stream, flush=True)
            except (OSError, ValueError):  # nobody reads it any more, or it is closed: no reason to end a run
                return

    teller = threading.Thread(target=tell, name="bestarm-progress", daemon=True)
    teller.start()
    try:
        yield advance
    finally:
        ended.set()
        teller.join()


def _line(title: str, finished: int, read: int, total: int, seconds: float) -> str:
    """Return what to say after so many seconds, with what was finished, of it read from a checkpoint, and wanted."""
    share = 100 if finished >= total else min(99, round(100 * finished / total))
    line = f"{title}: {finished:,} of {total:,} ({share} %), {_span(seconds)} so far"
    if read < finished < total:
        line += f", {_about((total - finished) * seconds / (finished - read))} left"
    return line


def _about(seconds: float) -> str:
    """Return a length of time in words, no finer than an estimate is: to ten seconds, then minutes."""
    if seconds < 10:
        return "less than 10 s"
    unit = 10 if seconds < 60 else 60
    return f"about {_span(unit * round(seconds / unit))}"


def _span(seconds: float) -> str:
    """Return a length of time in words, by its two largest units."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        large, small, rest = f"{whole // 60} min", whole % 60, "s"
    else:
        large, small, rest = f"{whole // 3600} h", whole // 60 % 60, "min"
    return f"{large} {small} {rest}" if small else large
