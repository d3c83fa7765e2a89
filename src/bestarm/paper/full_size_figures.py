"""Figures of the full-size experiments: the outcomes of each method's trials under each attack, and their pulls."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bestarm.paper.full_size import FullSize
from bestarm.paper.full_size_run import OUTCOMES
from bestarm.scenarios.figures import GREY, STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# outcome: colour of the bar (Okabe and Ito) and hatching
BARS = {
    "best": ("#009E73", ""),
    "target": ("#D55E00", ""),
    "other": ("#E69F00", "//"),
    "no_winner": ("#56B4E9", ""),
    "capped": ("0.85", ".."),
}
MARKERS = ("o", "s", "^")  # an attack each, in the panel of pulls


def draw_full_size(table: pd.DataFrame, experiment: FullSize, *, tall: bool = False) -> Figure:
    """Return the figure of an experiment.

    Parameters
    ----------
    table : DataFrame
        Of `full_size_table`.
    experiment : FullSize
        Which.
    tall : bool
        Panels below each other, for a narrow screen.
    """
    from matplotlib.figure import Figure

    own = table[table["experiment"] == experiment.name]
    methods = [entrant.label for entrant in experiment.entrants]
    count = len(experiment.attacks) + 1
    row = 0.36 * len(methods)  # inches
    size = (5.0, 1.6 + count * (row + 0.75)) if tall else (14.0, row + 1.75)
    figure = Figure(figsize=size, dpi=150)
    boxes = _places(count, size, row, tall)
    *bars, pulls = (figure.add_axes(box) for box in boxes)
    for number, (panel, attack) in enumerate(zip(bars, experiment.attacks, strict=True)):
        _draw_outcomes(panel, own[own["attack"] == attack.name].set_index("method").loc[methods])
        panel.set_title(f"{attack.name}: share of trials", fontsize=10)
        _finish_methods(panel, methods, named=tall or number == 0)
    _draw_pulls(pulls, own, experiment, methods)
    _finish_methods(pulls, methods, named=tall)
    handles, names = pulls.get_legend_handles_labels()
    figure.legend(
        [*_patches(own), *handles],
        [*(OUTCOMES[name] for name in BARS if own[name].sum()), *names],
        loc="lower center",
        ncols=2 if tall else 8,
        fontsize=8.5,
        frameon=False,
    )
    trials = sorted(set(own["trials"]))
    ran = f"{trials[0]} trials" if len(trials) == 1 else f"{trials[0]} to {trials[-1]} trials"
    title = (
        f"{experiment.name}: {experiment.title}; ε = {experiment.epsilon:g}, δ = {experiment.delta:g}; {ran} per row"
    )
    figure.suptitle(textwrap.fill(title, 55 if tall else 200), fontsize=11, y=1.0 - 0.12 / size[1], va="top")
    return figure


def _places(count: int, size: tuple[float, float], row: float, tall: bool) -> list[tuple[float, float, float, float]]:
    """Return left, bottom, width and height of the panels, the bars first and the pulls last."""
    width, height = size
    if tall:
        tops = [height - 0.8 - number * (row + 0.75) for number in range(count)]
        return [(0.3, (top - row) / height, 0.66, row / height) for top in tops]
    left, right, gap = 1.5, width - 0.25, 0.3
    each = (right - left - (count - 1) * gap) / count
    return [
        ((left + number * (each + gap)) / width, 0.85 / height, each / width, row / height) for number in range(count)
    ]


def _draw_outcomes(panel: Axes, rows: pd.DataFrame) -> None:
    heights = np.arange(len(rows))
    begin = np.zeros(len(rows))
    for name, (colour, hatch) in BARS.items():
        share = (rows[name] / rows["trials"]).to_numpy()
        panel.barh(heights, share, left=begin, height=0.7, color=colour, hatch=hatch, edgecolor="0.35", linewidth=0.6)
        for index, (start, part, count) in enumerate(zip(begin, share, rows[name], strict=True)):
            if count:
                box = {"boxstyle": "round,pad=0.15", "facecolor": colour, "edgecolor": "none"}
                middle = start + part / 2.0
                panel.text(middle, index, f"{count}", ha="center", va="center", fontsize=8.5, bbox=box)
        begin += share
    panel.set_xlim(0.0, 1.0)
    panel.set_xticks([0.0, 0.5, 1.0], ["0", "0.5", "1"])


def _draw_pulls(panel: Axes, own: pd.DataFrame, experiment: FullSize, methods: list[str]) -> None:
    names = [attack.name for attack in experiment.attacks]
    for number, name in enumerate(names):
        rows = own[own["attack"] == name].set_index("method").loc[methods]
        colours = [STYLES[entrant.method][0] for entrant in experiment.entrants]
        heights = np.arange(len(methods)) + 0.22 * (number - (len(names) - 1) / 2.0)
        panel.scatter(rows["mean_pulls"], heights, c=colours, marker=MARKERS[number % len(MARKERS)], s=28, zorder=3)
        panel.scatter([], [], c=GREY, marker=MARKERS[number % len(MARKERS)], s=28, label=f"pulls, {name}")
    panel.axvline(len(experiment.labels), color=GREY, linestyle=":", linewidth=1.2, zorder=1, label="one pull per arm")
    panel.set_xscale("log")
    panel.grid(axis="x", alpha=0.25, linewidth=0.6)
    panel.set_title("mean pulls", fontsize=10)


def _finish_methods(panel: Axes, methods: Sequence[str], *, named: bool) -> None:
    panel.set_yticks(range(len(methods)), methods if named else [])
    panel.set_ylim(len(methods) - 0.5, -0.5)
    panel.tick_params(labelsize=9)
    panel.tick_params(axis="y", length=0)
    panel.spines[["top", "right"]].set_visible(False)


def _patches(own: pd.DataFrame) -> list[Any]:
    from matplotlib.patches import Patch

    return [
        Patch(facecolor=colour, hatch=hatch, edgecolor="0.35", linewidth=0.6)
        for name, (colour, hatch) in BARS.items()
        if own[name].sum()
    ]
