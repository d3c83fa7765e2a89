"""A relative uplift in words, with bounds that are rounded away from each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from bestarm.identification.wording.metric import uplift
from bestarm.identification.wording.text import quoted

if TYPE_CHECKING:
    from bestarm.identification.wording.log_verdict import LogFacts


def size(share: float) -> str:
    """Return a relative size with its sign.

    >>> size(0.25), size(-0.034), size(20.0)
    ('+25 %', '-3.4 %', '21 times')
    """
    return uplift(1.0 + share, 1.0).strip(" ()") or f"{100.0 * share:+.3g} %"


def low_bound(share: float) -> str:
    """Return a lower bound, rounded down to two digits.

    >>> low_bound(0.0849), low_bound(-0.2371), low_bound(math.inf), low_bound(-1.0)
    ('+8.4 %', '-24 %', 'any size', '-100 %')
    """
    return _shown(share, math.floor)


def high_bound(share: float) -> str:
    """Return an upper bound, rounded up to two digits.

    >>> high_bound(0.0841), high_bound(-0.2371), high_bound(math.inf)
    ('+8.5 %', '-23 %', 'any size')
    """
    return _shown(share, math.ceil)


def _shown(share: float, rounded: Callable[[float], int]) -> str:
    if not math.isfinite(share):
        return "any size"
    if share == 0.0:
        return "0 %"
    unit = 10.0 ** (math.floor(math.log10(abs(100.0 * share))) - 1)
    steps = rounded(round(100.0 * share / unit, 6))
    return f"{steps * unit:+.3g} %" if abs(steps * unit) < 1000.0 else f"{steps * unit:+,.0f} %"


def uplift_fact(result: LogFacts) -> str:
    """Return the uplift of the winner or leader over the next arm, with bounds; nothing if there is none."""
    found = result.uplift
    if found is None or result.alarms:
        return ""
    who = quoted(result.best if result.best is not None else result.leader)
    clean = " if nothing is fake" if result.for_all_counts else ""
    between = f"from {low_bound(found.low)} to {high_bound(found.high)}{clean}"
    return (
        f"{who} over {quoted(found.over)}: {between}; holds together with all leads with probability "
        f"{result.all_hold:g} if it is the best"
    )
