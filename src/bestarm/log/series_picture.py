"""The picture of a log over time: a line for each arm with its band, and below how many rewards there were."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bestarm.identification.pictures import OUT, colour_of_named, plain
from bestarm.identification.wording.log_series import SeriesWords

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bestarm.log.result import LogResult
    from bestarm.log.series import ArmSeries, Series

Array = NDArray[np.float64]

MOST_DISTINCT = 6
_MOST_BANDS = 3  # more would hide each other
_MOST_POINTS = 90
_WEEK, _DAY = 7, 86400.0
_GREY = "0.35"
# Told apart by people who see few colours in lightness too, and by their dashes.
_COLOURS = ("#0072B2", "#AA3377", "#000000", "#4FA3D1", "#C2790A", "#7F6A55")
_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))


@dataclass(frozen=True, eq=False)
class _Line:
    """What is drawn of an arm: NaN where it has no rewards."""

    mean: Array
    low: Array
    high: Array


def draw_series(result: LogResult, means: Axes, counts: Axes, tall: bool) -> None:
    """Draw means over time on one panel and the numbers of rewards on another, which share their axis.

    At most six arms have a colour, and a label at the end of their line; others are grey. The first three have bands.
    Of more than 90 days several are drawn as one.
    """
    series = result.series
    assert series is not None
    words = SeriesWords(result.metric.of_rows, series.noun, series.width)
    groups, merged = _groups(series, words)
    unit = _DAY if series.is_calendar else 1.0
    times = np.array([0.5 * (series.starts[group[0]] + series.starts[group[-1]]) for group in groups]) / unit
    step = float(np.median(np.diff(times))) if times.size > 1 else 1.0
    lines = [_merged(arm, groups) for arm in series.arms]
    distinct = min(MOST_DISTINCT, len(lines))
    for line in lines[distinct:]:
        x, mean = _with_gaps(times, step, line.mean)
        means.plot(x, mean, color=OUT, linewidth=0.8, alpha=0.5)
    ends: list[tuple[float, str, str]] = []
    names = _short_names([str(arm.label) for arm in series.arms[:distinct]], 12 if tall else 22)
    for index in reversed(range(distinct)):
        colour = _colour_of(result, index)
        _draw_line(means, times, step, lines[index], colour, index, with_band=index < _MOST_BANDS)
        seen = np.flatnonzero(np.isfinite(lines[index].mean))
        if seen.size:
            ends.append((float(lines[index].mean[seen[-1]]), names[index], colour))
    number = np.array([sum(series.number[day] for day in group) for group in groups], np.float64)
    counts.bar(times, number, width=0.85 * step, color="0.72", linewidth=0)
    _finish(result, means, counts, (float(times[0]) - step, float(times[-1]) + step), tall)
    _label_ends(means, ends, 8 if tall else 9)
    title, more = words.title(merged, is_single=bool(result.metric.per) or result.cap is not None)
    others = len(lines) - distinct
    note = f"{more}; {words.others(others)}" if others else more
    style: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "color": _GREY}
    folded = textwrap.wrap(note, 60 if tall else 150)
    means.set_title(title + "\n" * len(folded), fontsize=11, loc="left")
    means.annotate("\n".join(folded), (0, 1), (0, 5), fontsize=8 if tall else 9, **style)
    counts.annotate(words.counts(merged), (0, 1), (0, 3), fontsize=8 if tall else 9, **style)


def _short_names(labels: Sequence[str], most: int) -> list[str]:
    """Return labels with at most so many letters: their ends if their beginnings are alike.

    >>> _short_names(["server number 1", "server number 2"], 10), _short_names(["a long label", "B"], 8)
    (['… number 1', '… number 2'], ['a long …', 'B'])
    """
    found = [plain(label, most) for label in labels]
    if len(set(found)) == len(found):
        return found
    return [plain(label if len(label) <= most else f"…{label[1 - most :]}", most + 1) for label in labels]


def _draw_line(axes: Axes, times: Array, step: float, line: _Line, colour: str, index: int, *, with_band: bool) -> None:
    x, mean, low, high = _with_gaps(times, step, line.mean, line.low, line.high)
    few = times.size <= 40
    dashes = _DASHES[index] if index else "-"
    axes.plot(
        x, mean, color=colour, linestyle=dashes, linewidth=2.0 if index == 0 else 1.4, marker="o" if few else "",
        markersize=3.5, zorder=3.0 - 0.1 * index,
    )  # fmt: skip
    if with_band:
        axes.fill_between(x, low, high, color=colour, alpha=0.2 if index == 0 else 0.1, linewidth=0)
        alone = np.isfinite(mean) & ~_has_neighbour(mean)
        axes.vlines(x[alone], low[alone], high[alone], color=colour, alpha=0.4, linewidth=2.0)


def _has_neighbour(mean: Array) -> NDArray[np.bool_]:
    known = np.isfinite(mean)
    return np.asarray(np.append(False, known[:-1]) | np.append(known[1:], False), np.bool_)


def _colour_of(result: LogResult, index: int) -> str:
    """Return the colour of an arm: that of the named arm in all pictures is its own."""
    if result.best is None:
        return _COLOURS[index]
    return colour_of_named(result) if index == 0 else _COLOURS[index - 1]


def _groups(series: Series, words: SeriesWords) -> tuple[list[list[int]], str]:
    """Return which days are drawn as one, and what they are together: weeks of days, or so many of the others."""
    days = len(series.names)
    if days <= _MOST_POINTS:
        return [[day] for day in range(days)], ""
    is_weekly = series.noun == "day" and series.width == _DAY
    size = _WEEK if is_weekly else math.ceil(days / _MOST_POINTS)
    first = series.starts[0]
    places = np.floor((np.array(series.starts) - first) / (size * series.width) + 1e-9).astype(int)
    groups = [np.flatnonzero(places == place).tolist() for place in np.unique(places)]
    return groups, words.together(size)


def _merged(arm: ArmSeries, groups: Sequence[Sequence[int]]) -> _Line:
    """Return an arm's line over groups of days; a band of several days has the noise of their mean."""
    number, mean, low, high = (np.array(each, np.float64) for each in (arm.number, arm.mean, arm.low, arm.high))
    found = np.full((3, len(groups)), np.nan)
    for place, group in enumerate(groups):
        days = [day for day in group if number[day] > 0.0]
        if not days:
            continue
        weight = number[days] / number[days].sum()
        middle = float(weight @ mean[days])
        below, above = (float(np.sqrt((weight**2) @ (each[days] - mean[days]) ** 2)) for each in (low, high))
        found[:, place] = middle, middle - below, middle + above
    return _Line(*found)


def _with_gaps(times: Array, step: float, *columns: Array) -> tuple[Array, ...]:
    """Return lines with a gap wherever days without any reward are left out."""
    holes = np.flatnonzero(np.diff(times) > 1.5 * step) + 1
    return (np.insert(times, holes, times[holes] - 0.5 * step), *(np.insert(each, holes, np.nan) for each in columns))


def _label_ends(axes: Axes, ends: Sequence[tuple[float, str, str]], size: int) -> None:
    """Write labels at the right end of lines, far enough from each other to be read."""
    low, high = axes.get_ylim()
    gap = 0.075 * (high - low)
    ranked = sorted(ends)
    places: list[float] = []
    for value, _, _ in ranked:
        places.append(max(min(value, high), places[-1] + gap if places else low))
    above = high
    for index in reversed(range(len(places))):
        places[index] = min(places[index], above)
        above = places[index] - gap
    right = axes.get_xlim()[1]
    for (value, label, colour), place in zip(ranked, places, strict=True):
        axes.annotate(
            label, (right, min(max(value, low), high)), (right, place), textcoords="data", xycoords="data",
            fontsize=size, color=colour, va="center", ha="left", annotation_clip=False,
        )  # fmt: skip


def _finish(result: LogResult, means: Axes, counts: Axes, ends: tuple[float, float], tall: bool) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    series = result.series
    assert series is not None
    for axes in (means, counts):
        axes.set_xlim(*ends)
        axes.spines[["top", "right"]].set_visible(False)
    means.tick_params(labelbottom=False)
    if result.metric.of_rows.is_rate:
        means.yaxis.set_major_formatter(lambda value, _: f"{100.0 * value:g} %")
    counts.set_ylim(0, None)
    counts.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    counts.yaxis.set_major_formatter("{x:,.0f}")
    if series.is_calendar:
        locator = AutoDateLocator(tz=UTC, minticks=2, maxticks=4 if tall else 9)  # type: ignore[no-untyped-call]
        counts.xaxis.set_major_locator(locator)
        counts.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=UTC))  # type: ignore[no-untyped-call]
        counts.xaxis.get_offset_text().set_fontsize(8)
    else:
        counts.xaxis.set_major_locator(MaxNLocator(5 if tall else 9))
        counts.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
        counts.set_xlabel("time, as the log counts it", fontsize=9)
    for axes in (means, counts):
        axes.tick_params(labelsize=8 if tall else 9)
    means.grid(axis="y", color="0.92", linewidth=0.8)
    means.set_axisbelow(True)
