"""A share of all rewards, whichever they are, even all on one arm."""

from __future__ import annotations

import math
from typing import Any

from bestarm.contamination._base import Share
from bestarm.contamination.words import REPLACED


class ShareOfAll(Share):
    """At most a share epsilon of all rewards is replaced."""

    name = "share-of-all"
    words = (
        "at most a share epsilon of all rewards so far was replaced, once there are share_from times as many as arms, "
        "chosen in any way, even all on one arm"
    )
    log_words = "at most a share epsilon of all rewards in the log was replaced, in any way"
    rank = 4
    shared = True
    default_for = ("log",)

    def worst(self, adversaries: Any, adversary: Any, *, best: int, second: int, arms: int) -> Any:
        """Return an adversary with all its fakes on the runner-up."""
        return adversaries.OneArm(adversary, second)

    def _shown(self, share_from: float) -> float:
        """Return a number of rewards of each arm, which is multiplied by the arms and only then rounded up."""
        return math.floor(1000.0 * share_from + 1e-6) / 1000.0

    def log_meaning(self, share: str, number: int | None, replaced: int | None) -> str:
        """Return what epsilon means in a report on a log."""
        many = "" if replaced is None else f" (that is, {replaced:,})"
        return (
            f"of all {number:,} rewards, at most {share}{many} were {REPLACED}; it could be any of them, even all of "
            "one arm's"
        )


MODEL = ShareOfAll()
