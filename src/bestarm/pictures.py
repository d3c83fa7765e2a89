"""Pictures of a verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 40
WINNER, CANDIDATE, OUT = "#1b7837", "#2166ac", "#999999"


def draw_result(result: Any) -> Figure:
    """Draw the interval of every arm (the forty best of many), the winner's in green, those ruled out in grey."""
    from matplotlib.figure import Figure

    rows = sorted(result.arms, key=lambda row: math.inf if math.isnan(row.estimate) else -row.estimate)[:MOST_ROWS]
    finite = [end for row in rows for end in (row.lower, row.upper, row.estimate) if math.isfinite(end)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    margin = 0.05 * (high - low) or 1.0
    figure = Figure(figsize=(7.0, 1.2 + 0.32 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(rows):
        if row.label == result.best:
            colour = WINNER
        else:
            colour = CANDIDATE if row.label in result.candidates else OUT
        ends = max(row.lower, low - margin), min(row.upper, high + margin)
        axes.plot(ends, (place, place), color=colour, linewidth=3.0, solid_capstyle="butt")
        axes.plot(row.estimate, place, "o", color=colour, markersize=6.0)
    axes.set_yticks(range(len(rows)), [f"{row.label} ({row.pulls:,})" for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("mean reward: interval of each arm, for display (decisions are made pair by pair)", fontsize=8)
    named = f"{result.best} is named" if result.best is not None else f"no winner is named ({result.status})"
    more = f", the {MOST_ROWS} best of {len(result.arms)} arms" if len(result.arms) > MOST_ROWS else ""
    axes.set_title(f"{named} after {result.pulls:,} rewards{more}", fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    return figure
