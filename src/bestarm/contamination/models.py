"""The kinds of contamination, each in plain words: what is assumed of the rewards that were replaced; and shares.

Verdicts, help texts and plans all take their words from here; docs/explanation/certified.md, section 3, has the same in
symbols. Nothing of the package is imported, so that `--help` need not load the compiler.
"""

from __future__ import annotations

import math

CONTAMINATIONS: dict[str, str] = {
    "prescient": (
        "each reward is replaced at random, with probability at most epsilon whatever the clean rewards are and "
        "whatever was replaced before it; the value put in its place may depend on everything"
    ),
    "malicious": (
        "each reward is replaced at random, with probability at most epsilon whatever came before it; whether it is "
        "replaced may depend on that reward itself, but not on any later one"
    ),
    "share-of-arm": (
        "at most a share epsilon of each arm's rewards so far was replaced, once there are share_from of them, chosen "
        "in any way"
    ),
    "share-of-all": (
        "at most a share epsilon of all rewards so far was replaced, once there are share_from times as many as arms, "
        "chosen in any way, even all on one arm"
    ),
    "sources": (
        "at most a share epsilon of the sources (raters, devices, ...) so far is dishonest, once there are share_from "
        "of them, in any way"
    ),
}

# What else is assumed of clean rewards, by every method; of sources, which may say many things, the second part only.
CLEAN = "clean rewards are independent, and those of an arm have one mean"
ONE_MEAN = "clean rewards of an arm have one mean"
ORDER = "the order in which rewards are used does not depend on their values"

# What else is assumed of sources, each of which enters a pair by the arm it rewards first, or by the difference.
INDEPENDENT = "sources are independent of each other"
FIRST = "which of two arms a source rewards first, if any, does not depend on what it would say of them"
BOTH = "the arms that a source was asked about were fixed before its first reward"


def whole_share(epsilon: float, number: float) -> int:
    """Return floor(epsilon n), with a guard so that 0.29 of 100 is 29 (section 3).

    >>> 0.29 * 100, whole_share(0.29, 100)
    (28.999999999999996, 29)
    """
    return math.floor(epsilon * number + 1e-9)


def share_holds_from(share_from: float, arms: int = 1) -> int:
    """Return the least whole number of rewards (sources) that is at least share_from, or share_from for each arm.

    >>> share_holds_from(499.9), share_holds_from(33.4, arms=3), share_holds_from(0.29 * 100)
    (500, 101, 29)
    """
    return math.ceil(arms * share_from - 1e-9)


def counted_share(epsilon: float, number: float, share_from: float, arms: int = 1) -> int:
    """Return how many of so many rewards (sources) may be fake: before the share holds, as many as when it begins to.

    >>> counted_share(0.002, 10, 499.9), counted_share(0.002, 1000, 499.9)
    (1, 2)
    """
    return whole_share(epsilon, max(number, share_holds_from(share_from, arms)))
