"""What each reading of the paper does to an experiment: a table, and a figure with one row per reading."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bestarm.paper.readings import OURS, READINGS, Reading
from bestarm.scenarios.experiment import Experiment
from bestarm.scenarios.figures import GREY, NORMAL, percent, styles_of
from bestarm.scenarios.numbers import gap_ratios
from bestarm.scenarios.run import Run
from bestarm.scenarios.tables import point_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def readings_of(experiment: Experiment) -> list[tuple[Reading, Experiment]]:
    """Return the readings that change an experiment, ours first, each with the experiment under it."""
    plain = OURS.of(experiment)
    pairs = [(reading, reading.of(experiment)) for reading in READINGS]
    return [(reading, other) for reading, other in pairs if reading is OURS or other != plain]


def readings_table(run: Run, experiments: Sequence[Experiment]) -> pd.DataFrame:
    """Return one row per reading and point of the paper's own curves: figures, and what the adversary does to the gap.

    `gap_ratio` is the smallest lead of the best arm among contaminated means over that among true means; the median,
    where there are several adversaries.
    """
    rows = []
    for experiment in experiments:
        for reading, other in readings_of(experiment):
            ratios = {epsilon: float(np.median(gap_ratios(other, run.seed, epsilon))) for epsilon in other.epsilons}
            for curve in other.curves:
                for delta, epsilon in other.grid:
                    outcome = run.outcome(other, curve, delta, epsilon)
                    row = point_row(other, curve, delta, epsilon, outcome)
                    del row["variant"]
                    rows.append({"reading": reading.name, "gap_ratio": ratios[epsilon], **row})
    return pd.DataFrame(rows)


def draw_readings(table: pd.DataFrame, experiment: Experiment, *, tall: bool = False) -> Figure:
    """Return the figure of an experiment under its readings, at the middle of its grid: pulls and errors."""
    from matplotlib.figure import Figure

    delta, epsilon = experiment.grid[len(experiment.grid) // 2]
    own = table[(table["experiment"] == experiment.name) & (table["delta"] == delta) & (table["epsilon"] == epsilon)]
    names = list(dict.fromkeys(own["reading"]))
    curves = OURS.of(experiment).curves
    styles = styles_of(curves)
    height = 0.55 * len(names) * (2 if tall else 1) + (2.8 if tall else 1.7)
    figure = Figure(figsize=(5.0, height) if tall else (14.0, height), dpi=130, layout="constrained")
    pulls, errors = figure.subplots(2, 1) if tall else figure.subplots(1, 2, sharey=True)
    heights = {name: -index for index, name in enumerate(names)}
    for index, curve in enumerate(curves):
        part = own[own["method"] == curve.label]
        shift = 0.16 * ((len(curves) - 1) / 2.0 - index)
        level = np.array([heights[name] + shift for name in part["reading"]])
        style: dict[str, Any] = {**styles[curve.label], "linestyle": "none", "label": curve.label}
        mean, width = part["mean_pulls"].to_numpy(), NORMAL * part["standard_error"].fillna(0.0).to_numpy()
        pulls.errorbar(mean, level, xerr=width, **style)
        rate, high = part["error_rate"].to_numpy(), part["error_high"].to_numpy()
        spread = np.vstack([rate - part["error_low"].to_numpy(), high - rate]).clip(0.0)
        errors.errorbar(rate, level, xerr=spread, **style)
        for index, share in enumerate(part["undecided"]):
            if share > 0.0:
                _note(pulls, f"> ({percent(share)} % cut)", mean[index] + width[index], level[index], style["color"])
                _note(errors, f"({percent(share)} % cut, unknown)", high[index], level[index], style["color"])
    trials = own.groupby("reading", sort=False)["trials"].min()
    pulls.set_xscale("log")
    pulls.set_title("mean pulls E[τ], 95 % intervals", fontsize=10)
    errors.axvline(delta, color=GREY, linestyle="--", linewidth=1.2, zorder=0)
    errors.set_title(f"wrong answers, 95 % intervals; dashed: δ = {delta:g}", fontsize=10)
    for panel in (pulls, errors):
        panel.set_yticks(list(heights.values()), [f"{name} ({trials[name]:,})" for name in names])
        panel.set_ylim(0.6 - len(names), 0.6)
        panel.tick_params(labelsize=9)
        panel.grid(alpha=0.25, linewidth=0.6, axis="x")
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2 if tall else 5, frameon=False)
    title = f"{experiment.name} under each reading (trials in brackets); δ = {delta:g}, ε = {epsilon:g}"
    figure.suptitle(textwrap.fill(title, 55 if tall else 200), fontsize=11)
    return figure


def _note(panel: Axes, words: str, x: float, y: float, colour: str) -> None:
    """Write a note at the right end of an interval."""
    panel.annotate(words, (x, y), xytext=(4, -2.5), textcoords="offset points", fontsize=6.0, color=colour)
