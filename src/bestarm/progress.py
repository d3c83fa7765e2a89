"""Progress of a long run on stderr: a bar on a terminal, a line every ten seconds elsewhere (a log, a pipe, ...)."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from bestarm.extras import is_there

if TYPE_CHECKING:
    from rich.console import Console

Progress = bool | Callable[[int], object]

SECONDS_PER_LINE = 10.0  # where there is no terminal
SECONDS_PER_UPDATE = 3.0  # of a status on a terminal
SHARE_OF_TIME = 0.05  # that reading a status may take: after a slow reading, the next one comes later
SECONDS_OF_READING = 1.0  # what is finished that early was read from a checkpoint: it says nothing about the pace


def terminal() -> Console | None:
    """Return stderr as a console that can show a bar; None if it is no terminal, or rich is not installed."""
    if sys.stderr is None or not sys.stderr.isatty() or not is_there("rich"):
        return None
    from rich.console import Console  # costs 50 ms that most callers need not pay

    return Console(stderr=True)


@contextlib.contextmanager
def progress_bar(title: str, total: int, wanted: Progress) -> Iterator[Callable[[int], object]]:
    """Show how much is finished while the block runs, if wanted; yield a function that counts what is done.

    A function in place of True is called instead. Off a terminal, lines appear every ten seconds, whether or not
    something was finished meanwhile; a run that ends within ten seconds prints nothing there.
    """
    if callable(wanted):
        yield wanted
        return
    if not wanted or sys.stderr is None:
        yield lambda done: None
        return
    console = terminal()
    if console is None:
        with _counting_lines(title, total) as advance:
            yield advance
        return
    from rich.progress import Progress as Bars

    with Bars(console=console, transient=True) as bars:
        task = bars.add_task(title, total=total)
        yield lambda done: bars.advance(task, done)


@contextlib.contextmanager
def reading_bar() -> Iterator[Callable[[float], None] | None]:
    """Show on a terminal how far each pass over a log is; yield None where there is no terminal."""
    console = terminal()
    if console is None:
        yield None
        return
    from rich.progress import Progress as Bars

    with Bars(console=console, transient=True) as bars:
        task = bars.add_task("reading the log", total=1.0)
        last, passes = 0.0, 1

        def show(share: float) -> None:
            nonlocal last, passes
            if share < last:  # another pass
                passes += 1
            last = share
            bars.update(task, completed=share, description=f"reading the log, pass {passes}")

        yield show


@contextlib.contextmanager
def status(title: str, count: Callable[[], str], look: Callable[[], str], wanted: bool) -> Iterator[None]:
    """Show a count and what a look finds while the block runs, if wanted.

    On a terminal that is one line, kept up to date. Looks are made in a thread, and may be slow; one that is under way
    when the block ends is not waited for.
    """
    if not wanted or sys.stderr is None:
        yield
        return
    console, stream = terminal(), sys.stderr

    def write(words: str, seconds: float) -> None:
        print(f"{title}: {count()} in {seconds:,.0f} s; {words}", file=stream, flush=True)

    with _repeated(SECONDS_PER_LINE, look, write, 0.0) if console is None else _status_bar(console, count, look):
        yield


@contextlib.contextmanager
def _status_bar(console: Console, count: Callable[[], str], look: Callable[[], str]) -> Iterator[None]:
    from rich.progress import Progress as Bars
    from rich.progress import ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Count(ProgressColumn):
        """Counts when the line is drawn: to be told of every reward would cost more than the reward."""

        seen = ""

        def render(self, task: Task) -> Text:
            with contextlib.suppress(Exception):  # a database that is away: no reason to end a run
                self.seen = count()
            return Text(self.seen, no_wrap=True)

    columns = SpinnerColumn(), Count(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False)
    with Bars(*columns, console=console, transient=True) as bars:
        task = bars.add_task("", total=None)
        with _repeated(SECONDS_PER_UPDATE, look, lambda words, _: bars.update(task, description=words), 0.0):
            yield


@contextlib.contextmanager
def _counting_lines(title: str, total: int) -> Iterator[Callable[[int], object]]:
    began, stream = time.monotonic(), sys.stderr
    finished = read = 0

    def advance(done: int) -> None:
        nonlocal finished, read
        finished += done
        if time.monotonic() - began < SECONDS_OF_READING:
            read += done

    def write(_: str, seconds: float) -> None:
        print(progress_line(title, finished, read, total, seconds), file=stream, flush=True)

    with _repeated(SECONDS_PER_LINE, str, write):
        yield advance


@contextlib.contextmanager
def _repeated(
    period: float, look: Callable[[], str], show: Callable[[str, float], object], patience: float | None = None
) -> Iterator[None]:
    """Look at regular times until the block ends, however it ends; show what was seen, and the seconds so far.

    When the block ends, a look that is under way is waited for with patience (in seconds; None is endless).
    """
    began = time.monotonic()
    ended, showing = threading.Event(), threading.Lock()

    def repeat() -> None:
        wait = period
        while not ended.wait(wait):
            begin = time.monotonic()
            words = look()
            end = time.monotonic()
            wait = wait_after(end - begin, period)
            with showing:
                if ended.is_set():
                    return
                try:
                    show(words, end - began)
                except (OSError, ValueError):  # nobody reads it any more, or it is closed: no reason to end a run
                    return

    thread = threading.Thread(target=repeat, name="bestarm-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        with showing:  # nothing is shown after the block
            ended.set()
        thread.join(patience)


def wait_after(seconds: float, period: float) -> float:
    """Return how long to wait after a look that took some seconds."""
    return max(period, seconds * (1.0 / SHARE_OF_TIME - 1.0))


def progress_line(title: str, finished: int, read: int, total: int, seconds: float) -> str:
    """Return how far a run is after some seconds; what was read from a checkpoint does not count for the pace."""
    share = 100 if finished >= total else min(99, round(100 * finished / total))
    line = f"{title}: {finished:,} of {total:,} ({share} %), {_span(seconds)} so far"
    if read < finished < total:
        line += f", {_about((total - finished) * seconds / (finished - read))} left"
    return line


def _about(seconds: float) -> str:
    """Return an estimated length of time in words, rounded to ten seconds or to minutes."""
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
