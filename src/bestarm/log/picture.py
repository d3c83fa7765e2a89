"""The picture of a verdict on a log: intervals, leads, what it survives, verdicts by epsilon, and means over time."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from typing import TYPE_CHECKING, Literal

import numpy as np

from bestarm.identification.pictures import (
    CANDIDATE,
    LEAST_SHOWN,
    WINNER,
    colour_of_named,
    draw_intervals,
    draw_leads,
    plain,
)
from bestarm.identification.result import ArmRow
from bestarm.identification.wording.log_verdict import CONTRADICTED, HIDDEN, NAMED, TOO_LITTLE, LogWords, outcome
from bestarm.identification.wording.survival import SurvivalWords
from bestarm.identification.wording.text import share_shown
from bestarm.log.series_picture import draw_series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bestarm.log.result import LogResult

MOST_ROWS = 25
ALARM, FOUND = "#D55E00", "#7B3294"
_GREY = "0.35"
_FARTHEST, _MOST_FOUND = 4, 4  # how far out a finding may be to be drawn in its place, and how many are
_STYLES = ("-", "--", "-.", ":")
# Of the letters of a label, and of the figure's width in inches: for a wide screen or paper, and for a narrow screen.
_WIDE, _TALL = (26, 10.0), (16, 4.7)
_SMALLEST_WRITTEN = 1e-4  # p-value that is written with decimals on an axis
_BESIDE_LABELS, _ALONE = 36, 46  # letters of a title on a narrow screen
_HALF = 64  # letters of a note above a panel of half the width; of a title fewer
_WHOLE = 200

# Colour, marker, and whether it is filled.
_MARKERS: dict[str, tuple[str, str, bool]] = {
    NAMED: (WINNER, "o", True),
    TOO_LITTLE: (CANDIDATE, "o", False),
    HIDDEN: (CANDIDATE, "s", True),
    CONTRADICTED: (ALARM, "X", True),
}


def ranked_rows(result: LogResult) -> list[ArmRow]:
    """Return the arms: the winner or leader, then those not ruled out, then the others, each from the highest down."""
    words = LogWords(result)
    first, better = words.first, -words.sign
    left = set(result.candidates)

    def falling(value: float) -> float:
        return math.inf if math.isnan(value) else better * value

    def key(row: ArmRow) -> tuple[bool, bool, float, float]:
        mean = result.means.get(row.label, math.nan)
        return row.label != first, row.label not in left, falling(row.estimate), falling(mean)

    return sorted(result.arms, key=key)


def shows_curve(result: LogResult) -> bool:
    """Tell whether the verdict over epsilon is drawn: if one was given, or nothing else shows what is survived."""
    return bool(result.sensitivity) and not (result.for_all_counts and result.survival)


def shows_survival(result: LogResult) -> bool:
    """Tell whether evidence is drawn over the number of fakes: if it is enough for the best arm without any."""
    return bool(result.survival) and result.overturn is not None and not LogWords(result).is_near


def draw(
    result: LogResult,
    *,
    tall: bool = False,
    arms: bool = True,
    survival: bool = True,
    curve: bool = True,
    series: bool = True,
) -> Figure:
    """Return the figure of a verdict on a log.

    It has intervals and leads of the `arms`, the evidence over the number of fakes (`survival`) and, if an epsilon was
    given or a coin decides, the `curve` over epsilon; last, if the log has times, the means over time (`series`). The
    winner, or leader, stands first, and of many arms the first 25 are drawn. After an alarm there are no leads, and of
    a replay there is no curve. `tall` puts panels below each other, for a narrow screen.
    """
    from matplotlib.figure import Figure

    rows = ranked_rows(result)[:MOST_ROWS]
    letters, width = _TALL if tall else _WIDE
    curve = curve and shows_curve(result)
    survival = survival and shows_survival(result)
    series = series and result.series is not None
    words = LogWords(result)
    leads = arms and any(row.label in words.leads for row in rows)
    heights = [1.1 + 0.3 * len(rows)] * (arms + (leads and tall)) + [3.0] * (survival + curve)
    first = len(heights)  # of the panels over time
    heights += [3.3, 1.3] * series
    columns = 2 if leads and not tall else 1
    figure = Figure(figsize=(width, sum(heights)), dpi=130, layout="constrained")
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    if arms:
        panel = figure.add_subplot(grid[0, 0])
        draw_intervals(result, rows, panel, letters)
        _entitle(panel, words.means_title(), words.means_more(), tall, _BESIDE_LABELS, _HALF if leads else _WHOLE)
        if result.metric.is_rate:
            panel.xaxis.set_major_formatter(_as_percent)
            panel.locator_params(axis="x", nbins=6)  # "5.25 %" is long
        panel.set_xlabel("")
    if leads:
        other = figure.add_subplot(grid[1, 0] if tall else grid[0, 1], sharey=panel)
        draw_leads(result, rows, other)
        other.tick_params(labelleft=tall)
        if result.metric.is_rate:
            other.xaxis.set_major_formatter(lambda value, _: f"{100.0 * value:g}")
        _entitle(other, *words.leads_title(plain(words.first, letters - 6)), tall, _BESIDE_LABELS, _HALF)
        other.set_xlabel("")
    if survival:
        draw_survival(result, figure.add_subplot(grid[first - (2 if curve else 1), :]), tall)
    if curve:
        _draw_curve(result, figure.add_subplot(grid[first - 1, :]), tall)
    if series:
        means = figure.add_subplot(grid[first, :])
        draw_series(result, means, figure.add_subplot(grid[first + 1, :], sharex=means), tall)
    return figure


def _entitle(axes: Axes, title: str, more: str, tall: bool, letters: int, wide: int = _WHOLE) -> None:
    """Write a title and a note above a panel, in lines of so many letters on a narrow screen, or a `wide` one."""
    most = letters if tall else wide
    folded = textwrap.wrap(more, most)
    axes.set_title(textwrap.fill(title, most if tall else 4 * wide // 5) + "\n" * len(folded), fontsize=11, loc="left")
    axes.annotate(
        "\n".join(folded), (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", fontsize=9,
        color=_GREY,
    )  # fmt: skip


def draw_survival(result: LogResult, axes: Axes, tall: bool) -> None:
    """Draw the p-value of the winner, or leader, against the number of fakes, and what inspection found."""
    words = SurvivalWords(result)
    colour = colour_of_named(result) if result.best is not None else CANDIDATE
    numbers = [number for number, _ in result.survival]
    values = [max(value, LEAST_SHOWN) for _, value in result.survival]
    axes.plot(numbers, values, color=colour, linewidth=2.0)
    axes.axhline(result.delta, color=_GREY, linestyle=":", linewidth=1.2)
    axes.annotate(
        words.at_delta(), (1.0, result.delta), (-2, -3), xycoords=("axes fraction", "data"),
        textcoords="offset points", ha="right", va="top", fontsize=8, color=_GREY,
    )  # fmt: skip
    right = _mark_what_was_found(result, axes, max(numbers), tall)
    axes.plot(
        result.overturn or 0, result.delta, "o", color=colour, markersize=8.0, label=words.marked(), clip_on=False,
        zorder=3,
    )  # fmt: skip
    axes.set_yscale("log")
    axes.set_xlim(0, right)
    axes.set_ylim(min(0.2 * result.delta, 0.5 * min(values)), 1.5)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    if min(values) >= _SMALLEST_WRITTEN:  # else all of them are powers of ten
        axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(words.fakes_axis())
    axes.spines[["top", "right"]].set_visible(False)
    cut = any(value < LEAST_SHOWN for _, value in result.survival)
    _entitle(axes, words.survival_title(plain(words.first, 16 if tall else 26)), words.survival_more(cut), tall, _ALONE)
    axes.legend(fontsize=8, frameon=True, edgecolor="0.85", loc="lower right")


def _mark_what_was_found(result: LogResult, axes: Axes, end: int, tall: bool) -> float:
    """Draw a line at each number that inspection found, and return where the axis ends; what is far out is named."""
    words = SurvivalWords(result)
    found = words.numbers_found()
    near = [number for number, _ in found if number <= _FARTHEST * end]
    right = 1.05 * max([end, *near])
    for index, (number, label) in enumerate(found[:_MOST_FOUND]):
        style = _STYLES[index % len(_STYLES)]
        outside = number > right
        text = plain(words.outside(label) if outside else label, 40 if tall else 80)
        axes.axvline(right if outside else number, color=FOUND, linestyle=style, linewidth=1.6, label=text)
    return right


def _draw_curve(result: LogResult, axes: Axes, tall: bool) -> None:
    """Draw how many arms may be the best at each epsilon; the epsilons stand at equal distances."""
    from matplotlib.ticker import MaxNLocator

    grid = [row.epsilon for row in result.sensitivity]
    numbers = [len(row.candidates) for row in result.sensitivity]
    outcomes = [outcome(row) for row in result.sensitivity]
    for name, (usual, marker, filled) in _MARKERS.items():
        colour = colour_of_named(result) if name == NAMED and result.best is not None else usual
        at = [index for index, found in enumerate(outcomes) if found == name]
        if at:
            heights = [numbers[index] for index in at]
            face = colour if filled else "white"
            axes.plot(
                at, heights, marker, color=colour, markerfacecolor=face, markersize=7.0, label=name, clip_on=False
            )
    if not result.for_all_counts:
        axes.axvline(grid.index(result.epsilon), color=_GREY, linestyle=":", linewidth=1.2, label="asked", zorder=0)
    if result.tolerance and not result.alarms and not result.sequential:  # a replay's is of the rewards it used
        right = float(np.interp(result.tolerance, grid, range(len(grid))))
        label = f"{plain(result.leader, 16)} alone, to {share_shown(result.tolerance)}"
        colour = colour_of_named(result) if result.best is not None else CANDIDATE
        axes.axvspan(-0.3, right, color=colour, alpha=0.12, linewidth=0, label=label)
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
    _entitle(axes, "what if more, or less, is fake?", "how many arms may be the best, at each epsilon", tall, _ALONE)
    axes.set_xlabel("epsilon")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=True, edgecolor="0.85", loc="best")


def _as_percent(value: float, _: object) -> str:
    return f"{100.0 * value:g} %"


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
