"""A word on stderr while kernels are compiled, which happens on the first run only."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def compile_note() -> Iterator[None]:
    """Say on stderr, once, that kernels are being compiled, if they are."""
    from numba.core import event as numba_event

    event: Any = numba_event

    told = False

    class Note(numba_event.Listener):
        def on_start(self, event: Any) -> None:
            nonlocal told
            if not told:
                told = True
                print("compiling (first run only, half a minute) ...", file=sys.stderr, flush=True)

        def on_end(self, event: Any) -> None:
            pass

    listener = Note()
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)
