"""The progress of a live identification: the leader, the evidence, about how many more rewards it takes."""

from __future__ import annotations

import contextlib
from typing import Any

from bestarm.errors import InputError
from bestarm.identification.wording.forecast import progress
from bestarm.progress import status


def watched(finder: Any, wanted: bool) -> contextlib.AbstractContextManager[None]:
    """Show the progress of an identification on stderr while the block runs, if wanted.

    It reads a copy, so it does not affect which arms are asked for.
    """
    return status("identify", lambda: f"{finder.pulls:,} rewards", lambda: _described(finder), wanted)


def _described(finder: Any) -> str:
    try:
        return describe(finder)
    except Exception as error:  # of a database that is away, say: the run goes on, or ends by itself
        return f"no look: {str(error)[:80]}"


def describe(finder: Any) -> str:
    """Return the leader, with the evidence if there is any, and about how many more rewards it takes.

    It reads a copy: reading a verdict may add up rewards in another order, and so change a last digit later.
    """
    seen = finder.snapshot()
    if seen.done:
        return "decided"
    try:
        foreseen = seen.forecast()
    except InputError:  # of sources, or of a method of the user's own
        foreseen = None
    return progress(seen.result, foreseen)
