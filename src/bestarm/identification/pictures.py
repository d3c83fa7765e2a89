"""Pictures of a verdict, and of many trials, on given axes or on a figure of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bestarm.extras import needs
from bestarm.identification.wording.text import printable, short
from bestarm.identification.wording.verdict import Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 40
WINNER, CANDIDATE, OUT = "#1b7837", "#2166ac", "#999999"
DOUBTED = "#B35900"  # a named arm that is not to be relied on
MOST_LETTERS = 28  # of a label
LEAST_SHOWN = 1e-12  # of p-values
FADED = 0.45  # of an arm that is ruled out
# Outcomes of trials: colour and hatch in every picture (light, dark, striped and dotted, also in grey).
LOOKS = {
    "right": ("#A9D3EE", ""),
    "wrong": ("#D55E00", ""),
    "no winner": ("white", "----"),
    "at the cap": ("white", "...."),
}


def plain(label: Any, most: int = MOST_LETTERS) -> str:
    r"""Return a label as a picture can show it: on one line, not too long, without TeX mathematics.

    >>> plain("US$ or C$"), plain("line\nbreak"), plain("a very long label", 8)
    ('US\\$ or C\\$', 'line\\nbreak', 'a very …')
    """
    return short(printable(str(label)), most).replace("$", r"\$")


def draw_result(result: Any, history: Sequence[tuple[int, float]] = (), axes: Axes | None = None) -> Figure:
    """Draw the interval of every arm (of the forty best, if there are more), and the leads of the winner or leader.

    The winner is green; arms that are ruled out are grey and faded. Below is the `history`: the p-value of the winner
    or leader over the number of rewards. On given axes, only the intervals are drawn.
    """
    needs("matplotlib")
    from matplotlib.figure import Figure

    rows = sorted(result.arms, key=lambda row: math.inf if math.isnan(row.estimate) else -row.estimate)[:MOST_ROWS]
    if axes is not None:
        draw_intervals(result, rows, axes)
        found = axes.get_figure(root=True)
        assert found is not None
        return found
    leads = [row for row in rows if math.isfinite(result.leads.get(row.label, math.nan))]
    heights = [1.2 + 0.32 * len(rows), *([2.8] if len(history) > 1 else [])]
    figure = Figure(figsize=(11.0 if leads else 7.0, sum(heights)), layout="constrained")
    grid = figure.add_gridspec(len(heights), 2 if leads else 1, height_ratios=heights)
    panel = figure.add_subplot(grid[0, 0])
    draw_intervals(result, rows, panel)
    if leads:
        draw_leads(result, rows, figure.add_subplot(grid[0, 1], sharey=panel))
        figure.axes[1].tick_params(labelleft=False)
    if len(history) > 1:
        _draw_history(result, history, figure.add_subplot(grid[1, :]))
    return figure


def colour_of_named(result: Any) -> str:
    """Return the colour of the named arm: green only if it can be relied on."""
    return WINNER if result.trusted else DOUBTED


def _colour(result: Any, label: Any) -> str:
    if label == result.best:
        return colour_of_named(result)
    return CANDIDATE if label in result.candidates else OUT


def draw_intervals(result: Any, rows: Sequence[Any], axes: Axes, most: int = MOST_LETTERS) -> None:
    """Draw estimates and intervals of arms, from the top down; labels are cut to `most` letters."""
    finite = [end for row in rows for end in (row.lower, row.upper, row.estimate) if math.isfinite(end)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    margin = 0.05 * (high - low) or 1.0
    for index, row in enumerate(rows):
        colour = _colour(result, row.label)
        faded = FADED if colour == OUT else 1.0
        ends = max(row.lower, low - margin), min(row.upper, high + margin)
        if row.lower <= row.upper:  # after an alarm no mean may fit
            axes.plot(ends, (index, index), color=colour, linewidth=3.0, solid_capstyle="butt", alpha=faded)
        axes.plot(row.estimate, index, "o", color=colour, markersize=6.0, alpha=faded)
    axes.set_yticks(range(len(rows)), [f"{plain(row.label, most)} ({row.pulls:,})" for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("mean reward: interval of each arm, for display (decisions are made pair by pair)", fontsize=8)
    axes.set_title(Words(result).title(plain(result.best), MOST_ROWS), fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)


def draw_leads(result: Any, rows: Sequence[Any], axes: Axes) -> None:
    """Draw the lead over each other arm as a line to the right, beginning at its lower bound."""
    known = {row.label: result.leads.get(row.label, math.nan) for row in rows}
    ends = [lead for lead in known.values() if math.isfinite(lead)]
    right = max(0.0, *ends) + 0.15 * ((max(0.0, *ends) - min(0.0, *ends)) or 1.0)
    for index, row in enumerate(rows):
        lead = known[row.label]
        if math.isfinite(lead):
            colour = _colour(result, row.label)
            axes.plot((lead, right), (index, index), color=colour, linewidth=3.0, solid_capstyle="butt", alpha=0.35)
            axes.plot(lead, index, "|", color=colour, markersize=12.0, markeredgewidth=2.0)
    axes.axvline(0.0, color="0.35", linestyle=":", linewidth=1.0)
    axes.set_xlim(None, right)
    words = Words(result)
    axes.set_xlabel(words.leads_axis(plain(words.first)), fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_history(result: Any, history: Sequence[tuple[int, float]], axes: Axes) -> None:
    """Draw p-values over the number of rewards, and a line below which there is enough evidence."""
    numbers, values = [number for number, _ in history], [max(value, LEAST_SHOWN) for _, value in history]
    words = Words(result)
    colour = WINNER if result.best is not None else CANDIDATE
    axes.plot(numbers, values, "o-", color=colour, markersize=3.0, linewidth=1.5, clip_on=False)
    axes.axhline(result.delta, color="0.35", linestyle=":", linewidth=1.0)
    axes.set_yscale("log")
    axes.set_xlim(0, None)
    axes.set_ylim(min(0.2 * result.delta, 0.5 * min(values)), 1.0)
    axes.annotate(
        words.enough_below(),
        (0.01, result.delta), (0, -3), xycoords=("axes fraction", "data"), textcoords="offset points", va="top",
        fontsize=8, color="0.35",
    )  # fmt: skip
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("rewards", fontsize=8)
    axes.set_ylabel("p-value", fontsize=8)
    axes.set_title(words.evidence_title(plain(words.first)), fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)


def draw_trials(trials: Any, axes: Axes | None = None) -> Figure:
    """Draw a histogram of the pulls of trials, by their outcome, and the mean."""
    import numpy as np

    needs("matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 3.6), layout="constrained") if axes is None else axes.get_figure(root=True)
    assert figure is not None
    panel = figure.subplots() if axes is None else axes
    named = trials.answers >= 0
    parts = {
        "right": named & trials.correct,
        "wrong": named & ~trials.correct,
        "no winner": trials.statuses == "indistinguishable",
        "at the cap": trials.statuses == "undecided",
    }
    shown = {name: trials.pulls[part] for name, part in parts.items() if part.any()}
    low, high = int(trials.pulls.min()), int(trials.pulls.max())
    bins = np.linspace(low - 0.5, high + 0.5, min(40, high - low + 1) + 1)
    bottom = np.zeros(bins.size - 1)
    for name, pulls in shown.items():
        counts, _ = np.histogram(pulls, bins)
        colour, stripes = LOOKS[name]
        label = f"{name}: {pulls.size:,} of {len(trials):,}"
        panel.bar(
            bins[:-1], counts, np.diff(bins), bottom, align="edge", color=colour, hatch=stripes, edgecolor="0.4",
            linewidth=0.5, label=label,
        )  # fmt: skip
        bottom += counts
    label = f"mean: {'at least ' if trials.mean_is_lower_bound else ''}{trials.mean_pulls:,.0f}"
    panel.axvline(trials.mean_pulls, color="black", linestyle="--", linewidth=1.0, label=label)
    panel.set_xlabel("pulls of a trial")
    panel.set_ylabel("trials")
    panel.set_title(f"{trials.settings.get('method', 'trials')}, {len(trials):,} trials", fontsize=10, loc="left")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(fontsize=8, frameon=False)
    return figure
