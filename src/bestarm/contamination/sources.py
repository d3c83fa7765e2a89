"""A share of the sources (raters, devices, test items), each of which may give many rewards (section 11)."""

from __future__ import annotations

from bestarm.contamination._base import Share
from bestarm.contamination.words import BOTH, FIRST, FIRST_ROW, INDEPENDENT, ONE_MEAN


class Sources(Share):
    """At most a share epsilon of the sources is dishonest."""

    name = "sources"
    words = (
        "at most a share epsilon of the sources (raters, devices, ...) so far is dishonest, once there are share_from "
        "of them, in any way"
    )
    rank = 5
    shared = True
    by_source = True
    simulated = False  # simulated rewards have no sources
    default_for = ("log with sources",)
    clean = ONE_MEAN
    things = "your sources"
    fake = "dishonest"
    none_is_fake = "no source is dishonest at all"

    def promise(self, share_from: object = None, paired: bool = False) -> str:
        """Return what the error probability of a live experiment rests on."""
        return f"{super().promise(share_from)}; {INDEPENDENT}; {BOTH if paired else FIRST}"

    def log_promise(self, paired: bool = False) -> str:
        """Return what the error probability of a verdict on a log rests on."""
        dishonest = "at most a share epsilon of the sources in the log is dishonest, in any way"
        return f"{dishonest}; {INDEPENDENT}; {BOTH if paired else FIRST_ROW}; {ONE_MEAN}"

    def log_meaning(self, share: str, number: int | None, replaced: int | None) -> str:
        """Return what epsilon means in a report on a log."""
        many = "" if replaced is None else f" (that is, {replaced:,})"
        return f"of the {number:,} sources, at most {share}{many} are dishonest, and those may say anything"

    def too_many_cancelled(self, cancelled: int, of: int, label: object = None) -> str:
        """Return the beginning of the alarm: the sources whose pulls were cancelled."""
        return f"pulls of {cancelled:,} of the first {of:,} sources were cancelled"


MODEL = Sources()
