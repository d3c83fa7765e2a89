"""Rewards that have come in and wait for pulls that are still out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bestarm.identification.wording.text import with_rest

if TYPE_CHECKING:
    from bestarm.identification.waiting import MissingPull, Waiting

_MOST_PULLS = 3


def how_many(waiting: Waiting) -> str:
    """Return how many rewards wait: "4,000 more rewards have come in and wait"."""
    if waiting.rewards == 1:
        return "1 more reward has come in and waits"
    return f"{waiting.rewards:,} more rewards have come in and wait"


def for_how_many(waiting: Waiting) -> str:
    """Return the same, and for how many pulls: "... wait for 2 pulls that are still out"."""
    pulls = "a pull that is" if len(waiting.pulls) == 1 else f"{len(waiting.pulls):,} pulls that are"
    return f"{how_many(waiting)} for {pulls} still out"


def for_which(waiting: Waiting) -> str:
    """Return the same, and which pulls these are."""
    if not waiting:
        return "no rewards wait"
    pulls = [missing_pull(missing) for missing in waiting.pulls[:_MOST_PULLS]]
    return f"{for_how_many(waiting)}: {with_rest(pulls, len(waiting.pulls))}"


def missing_pull(missing: MissingPull) -> str:
    """Return which pull is still out, who asked for it, and when."""
    who = "" if missing.worker is None else f" by {missing.worker!r}"
    when = ""
    if missing.since is not None:
        when = f" at {datetime.fromtimestamp(missing.since, UTC):%Y-%m-%d %H:%M:%S} UTC"
    asked = f" (asked for{who}{when})" if who or when else ""
    return f"pull {missing.pull.number} of {missing.pull.arm!r}{asked}"
