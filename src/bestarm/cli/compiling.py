"""A note on stderr while kernels are compiled, which happens once for each kind of run."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator


@contextlib.contextmanager
def compile_note() -> Iterator[None]:
    """Print on stderr what the library logs when it compiles kernels, however logging is set up."""
    log, handler = logging.getLogger("bestarm"), logging.StreamHandler()
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
