"""How many more rewards a live experiment may take."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestarm.identification.forecast import Forecast
    from bestarm.identification.result import Result


def forecast(found: Forecast, fewest: int) -> str:
    """Return a forecast in one sentence; `fewest` is the number of rewards of an arm that it takes to make one."""
    said = _without_replays(found, fewest) if found.replays == 0 else _by_replays(found)
    return f"{said}; {found.waiting}" if found.waiting else said


def _without_replays(found: Forecast, fewest: int) -> str:
    if found.outlook == "decided":
        return "decided: no more rewards are needed"
    if found.outlook == "too early":
        return f"too early for a forecast: an arm has fewer than {fewest} rewards"
    return f"{how_many_more(found)}: the forced exploration takes as many"


def _by_replays(found: Forecast) -> str:
    number, share = how_many_more(found), f"in {found.agreeing} of {found.replays} simulated continuations"
    if found.outlook == "not at this epsilon":
        hidden = "contamination of this kind could hide the remaining lead"
        return f"not at this epsilon: {share} {hidden}; {number}, then it says so"
    if found.outlook == "no winner":
        return f"{number}, then no winner: {share} it stops at its resolution"
    return f"{number}: {share}{' a winner is named' if found.outlook == 'winner' else ''}"


def how_many_more(found: Forecast) -> str:
    """Return the number alone: "about 1,200 more rewards (800 to 2,100)"."""
    if found.outlook in ("decided", "too early"):
        return found.outlook
    if found.rewards is None:
        return f"not within {_about(found.low if found.replays == 0 else found.horizon)} more rewards"
    high = f"beyond {_about(found.horizon)}" if math.isinf(found.high) else _about(found.high)
    return f"about {_about(found.rewards)} more rewards ({_about(found.low)} to {high})"


def progress(result: Result[Any], found: Forecast | None) -> str:
    """Return who leads, with the p-value if there is one, and about how many more rewards it takes, if known."""
    waiting = f"; {result.waiting}" if result.waiting else ""
    if result.leader is None:
        return f"no rewards yet{waiting}"
    leads = f"{result.leader!r} leads{'' if result.p_value is None else f', p = {result.p_value:.2g}'}"
    if found is None:
        return f"{leads}{waiting}"
    ends = {"no winner": ", then no winner", "not at this epsilon": ", then no winner at this epsilon"}
    return f"{leads}; {how_many_more(found)}{ends.get(found.outlook, '')}{waiting}"


def _about(number: float) -> str:
    """Return a number of rewards to two digits: a forecast knows no more."""
    digits = max(0, math.floor(math.log10(number)) - 1) if number >= 1 else 0
    return f"{round(number, -digits):,.0f}"
