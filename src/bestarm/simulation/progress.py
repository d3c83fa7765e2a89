"""Progress of a long run: a bar on stderr, or a function of the caller's."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

Progress = bool | Callable[[int], object]


@contextlib.contextmanager
def progress_bar(title: str, total: int, wanted: Progress) -> Iterator[Callable[[int], object]]:
    """Show a bar on stderr while the block runs, if wanted and stderr is a terminal; a function takes its place."""
    if callable(wanted):
        yield wanted
        return
    if not wanted or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=total)
        yield lambda done: bars.advance(task, done)
