"""How many fakes a share allows for, in whole numbers (docs/explanation/certified.md, section 3)."""

from __future__ import annotations

import math


def whole_share(epsilon: float, number: float) -> int:
    """Return floor(epsilon n), with a guard so that 0.29 of 100 is 29.

    >>> 0.29 * 100, whole_share(0.29, 100)
    (28.999999999999996, 29)
    """
    return math.floor(epsilon * number + 1e-9)


def share_holds_from(share_from: float, arms: int = 1) -> int:
    """Return the smallest whole number of rewards (sources) that is at least `share_from` for each arm.

    >>> share_holds_from(499.9), share_holds_from(33.4, arms=3), share_holds_from(0.29 * 100)
    (500, 101, 29)
    """
    return math.ceil(arms * share_from - 1e-9)


def counted_share(epsilon: float, number: float, share_from: float, arms: int = 1) -> int:
    """Return how many of `number` rewards (sources) may be fake.

    Before the share holds, as many may be fake as when it begins to hold.

    >>> counted_share(0.002, 10, 499.9), counted_share(0.002, 1000, 499.9)
    (1, 2)
    """
    return whole_share(epsilon, max(number, share_holds_from(share_from, arms)))
