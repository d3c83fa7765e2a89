"""A share of each arm's rewards, whichever they are."""

from __future__ import annotations

from bestarm.contamination._base import Share
from bestarm.contamination.words import REPLACED


class ShareOfArm(Share):
    """At most a share epsilon of each arm's rewards is replaced."""

    name = "share-of-arm"
    words = (
        "at most a share epsilon of each arm's rewards so far was replaced, once there are share_from of them, chosen "
        "in any way"
    )
    log_words = "at most a share epsilon of each arm's rewards was replaced, in any way"
    rank = 3
    things = "the rewards of some arm"

    def log_meaning(self, share: str, number: int | None, replaced: int | None) -> str:
        """Return what epsilon means in a report on a log."""
        most = "" if replaced is None else f" (never more than {replaced:,})"
        return f"of each arm's rewards, at most {share}{most} were {REPLACED}; it could be any of them"


MODEL = ShareOfArm()
