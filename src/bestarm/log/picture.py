"""The picture of a verdict on a log: intervals, leads, and how the verdict changes with epsilon."""

from __future__ import annotations

import io
import math
import warnings
from typing import TYPE_CHECKING, Literal

import numpy as np

from bestarm.identification.pictures import CANDIDATE, WINNER, draw_intervals, draw_leads, plain
from bestarm.identification.result import ArmRow
from bestarm.identification.wording.log_verdict import CONTRADICTED, HIDDEN, NAMED, TOO_LITTLE, LogWords, outcome
from bestarm.identification.wording.text import share_shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bestarm.log.result import LogResult

MOST_ROWS = 25
ALARM = "#D55E00"
_GREY = "0.35"
# Of the letters of a label, and of the figure's width in inches: for a wide screen or paper, and for a narrow screen.
_WIDE, _TALL = (26, 10.0), (16, 4.7)

# Colour, marker, and whether it is filled.
_MARKERS: dict[str, tuple[str, str, bool]] = {
    NAMED: (WINNER, "o", True),
    TOO_LITTLE: (CANDIDATE, "o", False),
    HIDDEN: (CANDIDATE, "s", True),
    CONTRADICTED: (ALARM, "X", True),
}


def ranked_rows(result: LogResult) -> list[ArmRow]:
    """Return the arms: the winner or leader, then those not ruled out, then the others, each from the highest down."""
    first = LogWords(result).first
    left = set(result.candidates)

    def falling(value: float) -> float:
        return math.inf if math.isnan(value) else -value

    def key(row: ArmRow) -> tuple[bool, bool, float, float]:
        mean = result.means.get(row.label, math.nan)
        return row.label != first, row.label not in left, falling(row.estimate), falling(mean)

    return sorted(result.arms, key=key)


def draw(result: LogResult, *, tall: bool = False, arms: bool = True, curve: bool = True) -> Figure:
    """Return the figure of a verdict on a log: intervals and leads of the `arms`, and the `curve` over epsilon.

    The winner, or leader, stands first, and of many arms the first 25 are drawn. After an alarm there are no leads, and
    of a replay there is no curve. `tall` puts panels below each other, for a narrow screen.
    """
    from matplotlib.figure import Figure

    rows = ranked_rows(result)[:MOST_ROWS]
    letters, width = _TALL if tall else _WIDE
    curve = curve and bool(result.sensitivity)
    words = LogWords(result)
    leads = arms and any(row.label in words.leads for row in rows)
    heights = [1.1 + 0.3 * len(rows)] * (arms + (leads and tall)) + [3.0] * curve
    columns = 2 if leads and not tall else 1
    figure = Figure(figsize=(width, sum(heights)), dpi=130, layout="constrained")
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    if arms:
        panel = figure.add_subplot(grid[0, 0])
        draw_intervals(result, rows, panel, letters)
        _entitle(panel, "mean reward of each arm", "its rewards in brackets; bar: interval")
        panel.set_xlabel("")
    if leads:
        other = figure.add_subplot(grid[1, 0] if tall else grid[0, 1], sharey=panel)
        draw_leads(result, rows, other)
        other.tick_params(labelleft=tall)
        _entitle(other, *words.leads_title(plain(words.first, letters - 6)))
        other.set_xlabel("")
    if curve:
        _draw_curve(result, figure.add_subplot(grid[-1, :]), tall)
    return figure


def _entitle(axes: Axes, title: str, more: str) -> None:
    axes.set_title(f"{title}\n", fontsize=11, loc="left")
    axes.annotate(more, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", fontsize=9, color=_GREY)


def _draw_curve(result: LogResult, axes: Axes, tall: bool) -> None:
    """Draw how many arms may be the best at each epsilon; the epsilons stand at equal distances."""
    from matplotlib.ticker import MaxNLocator

    grid = [row.epsilon for row in result.sensitivity]
    numbers = [len(row.candidates) for row in result.sensitivity]
    outcomes = [outcome(row) for row in result.sensitivity]
    for name, (colour, marker, filled) in _MARKERS.items():
        at = [index for index, found in enumerate(outcomes) if found == name]
        if at:
            heights = [numbers[index] for index in at]
            face = colour if filled else "white"
            axes.plot(
                at, heights, marker, color=colour, markerfacecolor=face, markersize=7.0, label=name, clip_on=False
            )
    axes.axvline(grid.index(result.epsilon), color=_GREY, linestyle=":", linewidth=1.2, label="asked", zorder=0)
    if result.tolerance and not result.alarms and not result.sequential:  # a replay's is of the rewards it used
        right = float(np.interp(result.tolerance, grid, range(len(grid))))
        label = f"{plain(result.leader, 16)} alone, to {share_shown(result.tolerance)}"
        axes.axvspan(-0.3, right, color=WINNER, alpha=0.12, linewidth=0, label=label)
    axes.set_xlim(-0.3, len(grid) - 0.7)
    axes.set_xticks(range(len(grid)), [_tick(epsilon, tall) for epsilon in grid])
    if len(result.arms) > 30:
        axes.set_yscale("log")
        axes.set_ylim(0.8, 1.3 * len(result.arms))
        axes.yaxis.set_major_formatter("{x:,.0f}")
    else:
        axes.set_ylim(0, 1.08 * len(result.arms))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(axis="x", labelsize=8 if tall else 10)
    _entitle(axes, "what if more, or less, is fake?", "how many arms may be the best, at each epsilon")
    axes.set_xlabel("epsilon")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=True, edgecolor="0.85", loc="best")


def _tick(epsilon: float, tall: bool) -> str:
    words = f"{epsilon:g}"
    return words.removeprefix("0") or words if tall else words


def as_file(figure: Figure, kind: Literal["svg", "png"]) -> bytes:
    """Return a figure as a file, the same bytes for the same data.

    Letters of an SVG are left to the browser, which has more. Others that the font lacks are drawn as boxes, without a
    warning: the table of the page has them.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    canvas = FigureCanvasSVG(figure) if kind == "svg" else FigureCanvasAgg(figure)
    stream = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "bestarm", "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        # Not savefig, which obeys settings of the user.
        getattr(canvas, f"print_{kind}")(stream, metadata={"Date": None})
    return stream.getvalue()
