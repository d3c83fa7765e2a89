"""Progress of a live identification on stderr: rewards, leader, evidence, about how many more."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from bestarm.errors import InputError
from bestarm.extras import needs

if TYPE_CHECKING:
    from rich.console import Console

SECONDS_AN_UPDATE = 3.0  # between two updates of how things stand
SECONDS_A_LINE = 10.0  # the same where there is no terminal: a line each
SHARE_OF_TIME = 0.05  # that updates take at most: after one that took long, the next is longer off


@contextlib.contextmanager
def watched(finder: Any, wanted: bool) -> Iterator[None]:
    """Show how an identification stands while the block runs, if wanted.

    On a terminal that is a line that is kept up to date, elsewhere (a log, a pipe) a new line every ten seconds.
    Updates are made in a thread, from a copy: which arms are asked for does not depend on them.
    """
    if not wanted or sys.stderr is None:
        yield
        return
    console = _console()
    with _bar(finder, console) if console.is_terminal else _lines(finder, console):
        yield


def _console() -> Console:
    needs("rich")
    from rich.console import Console  # costs 50 ms that most callers need not pay

    return Console(stderr=True)


@contextlib.contextmanager
def _bar(finder: Any, console: Console) -> Iterator[None]:
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Rewards(ProgressColumn):
        """Counts when the line is drawn: to be told of every reward would cost more than the reward."""

        seen = ""

        def render(self, task: Task) -> Text:
            with contextlib.suppress(Exception):  # a database that is away: no reason to end a run
                self.seen = f"{finder.pulls:,} rewards"
            return Text(self.seen, no_wrap=True)

    columns = SpinnerColumn(), Rewards(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        with _updates(finder, SECONDS_AN_UPDATE, lambda words, _: bar.update(task, description=words)):
            yield


@contextlib.contextmanager
def _lines(finder: Any, console: Console) -> Iterator[None]:
    def write(words: str, seconds: float) -> None:
        line = f"identify: {finder.pulls:,} rewards in {seconds:,.0f} s; {words}"
        with contextlib.suppress(OSError, ValueError):  # nobody reads it any more: no reason to end a run
            print(line, file=console.file, flush=True)

    with _updates(finder, SECONDS_A_LINE, write):
        yield


@contextlib.contextmanager
def _updates(finder: Any, period: float, show: Callable[[str, float], object]) -> Iterator[None]:
    """Look at how things stand at regular times until the block ends; show it in words, with the seconds so far."""
    began = time.monotonic()
    ended, showing = threading.Event(), threading.Lock()

    def update() -> None:
        wait = period
        while not ended.wait(wait):
            begin = time.monotonic()
            words = _described(finder)
            end = time.monotonic()
            wait = wait_after(end - begin, period)
            with showing:
                if not ended.is_set():
                    show(words, end - began)

    threading.Thread(target=update, name="bestarm-progress", daemon=True).start()
    try:
        yield
    finally:
        with showing:  # an update that is under way is not waited for, and shows nothing any more
            ended.set()


def _described(finder: Any) -> str:
    try:
        return describe(finder)
    except Exception as error:  # of a database that is away, say: the run goes on, or ends by itself
        return f"no look: {str(error)[:80]}"


def wait_after(seconds: float, period: float) -> float:
    """Return how long to wait after an update that took so many seconds."""
    return max(period, seconds * (1.0 / SHARE_OF_TIME - 1.0))


def describe(finder: Any) -> str:
    """Return who leads, with the evidence if there is any, and about how many more rewards it takes.

    It looks at a copy: to read a verdict may add up rewards in another order, and so change a last digit later.
    """
    seen = finder.snapshot()
    if seen.done:
        return "decided"
    result = seen.result
    waiting = f"; {result.waiting}" if result.waiting else ""
    if result.leader is None:
        return f"no rewards yet{waiting}"
    words = f"{result.leader!r} leads"
    if result.p_value is not None:
        words += f", p = {result.p_value:.2g}"
    try:
        forecast = seen.forecast()
    except InputError:  # of sources, or of a method of the user's own
        return f"{words}{waiting}"
    ends = {"no winner": ", then no winner", "not at this epsilon": ", then no winner at this epsilon"}
    return f"{words}; {forecast.brief}{ends.get(forecast.outlook, '')}{waiting}"
