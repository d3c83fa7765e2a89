"""Figures fit to print: mean pulls with the bounds, mean pulls in units of K T, and error rates with delta.

The paper's curves and ours are separate figures. Colours are those of Okabe and Ito, which people who confuse red and
green can tell apart; every method has a marker of its own as well.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bestarm.paper.experiments import Curve, Experiment
from bestarm.paper.numbers import grid_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# method: colour, marker
STYLES = {
    "g-cbai": ("#0072B2", "o"),
    "se-cbai": ("#D55E00", "s"),
    "random": ("#009E73", "^"),
    "median-se": ("#CC79A7", "D"),
    "mean-se": ("#56B4E9", "P"),
    "mean-gap": ("#E69F00", "v"),
    "certified": ("#000000", "*"),
}
SYMBOLS = {"delta": "δ", "epsilon": "ε"}
GREY = "0.35"
# Left, bottom, width, height of the panels, with room for names at their right. By hand, as an automatic layout would
# take a third of the time of all figures.
WIDE = ((0.045, 0.13, 0.235, 0.7), (0.385, 0.13, 0.235, 0.7), (0.8, 0.13, 0.185, 0.7))
TALL = ((0.13, 0.68, 0.52, 0.23), (0.13, 0.365, 0.52, 0.23), (0.13, 0.05, 0.52, 0.23))
NORMAL = 1.96  # half-width of a 95 % interval in standard errors


def draw_experiment(points: pd.DataFrame, experiment: Experiment, *, ours: bool = False, tall: bool = False) -> Figure:
    """Return the figure of an experiment.

    Parameters
    ----------
    points : DataFrame
        Of `points_table`.
    experiment : Experiment
        Which.
    ours : bool
        The shorter exploration and the certified method, instead of the paper's own curves.
    tall : bool
        Panels below each other, for a narrow screen.
    """
    from matplotlib.figure import Figure

    curves = [curve for curve in experiment.curves if (curve.variant != "paper") == ours]
    own = points[points["experiment"] == experiment.name]
    frame = pd.DataFrame([grid_numbers(experiment, *place) for place in experiment.grid])
    figure = Figure(figsize=(5.0, 11.5) if tall else (14.0, 4.2), dpi=150)
    pulls, ratio, errors = (figure.add_axes(place) for place in (TALL if tall else WIDE))
    axis = frame[experiment.sweep].to_numpy()
    for place, curve in enumerate(curves):
        part = own[own["method"] == curve.label].set_index(experiment.sweep).loc[axis]
        # They often coincide, as all spend K T pulls first: side by side in units of K T, nested on the large scale.
        dodged = axis * 10.0 ** (0.025 * (place - (len(curves) - 1) / 2.0))
        style = _style(curve)
        mean, width = part["mean_pulls"].to_numpy(), NORMAL * part["standard_error"].fillna(0.0).to_numpy()
        nested = style["markersize"] * (1.45 - 0.8 * place / max(len(curves) - 1, 1))
        pulls.errorbar(axis, mean, yerr=width, **{**style, "markersize": nested})
        ratio.errorbar(dodged, mean / frame["K_T"].to_numpy(), yerr=width / frame["K_T"].to_numpy(), **style)
        rate = part["error_rate"].to_numpy()
        spread = np.vstack([rate - part["error_low"].to_numpy(), part["error_high"].to_numpy() - rate]).clip(0.0)
        errors.errorbar(dodged, rate, yerr=spread, **{**style, "linestyle": "none"})
    bounds = _draw_bounds(pulls, axis, frame, ours)
    _finish_ratio(ratio, ours)
    _finish_errors(errors, axis, frame, experiment.sweep)
    for panel in (pulls, ratio, errors):
        _finish_axis(panel, axis, experiment.sweep)
    _label_ends(pulls, [(label, x, y, None) for label, x, y in bounds])
    ends = [container[0].get_data() for container in ratio.containers]
    _label_ends(ratio, [(_label(c, own), x.max(), y[x.argmax()], c) for c, (x, y) in zip(curves, ends, strict=True)])
    what = "shorter exploration and certified" if ours else "the paper's methods"
    fixed = f"ε = {experiment.epsilons[0]:g}" if experiment.sweep == "delta" else f"δ = {experiment.deltas[0]:g}"
    trials = f"{int(own[own['method'] == curves[0].label]['trials'].iloc[0]):,} trials a point"
    title = f"{experiment.name}, {what}: {experiment.title[0].lower()}{experiment.title[1:]}; {fixed}; {trials}"
    figure.suptitle(textwrap.fill(title, 55 if tall else 200), fontsize=11)
    return figure


def svg_text(figure: Figure) -> str:
    """Return a figure as SVG, the same text for the same data."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "bestarm"}):
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(stream, metadata={"Date": None})  # savefig would draw it twice
    return stream.getvalue()


def save_figures(
    points: pd.DataFrame,
    experiments: Sequence[Experiment],
    folder: Path,
    advance: Callable[[], object] = lambda: None,
) -> dict[str, tuple[str, str]]:
    """Write every figure as PNG and as SVG; return by name its SVG, wide and tall; tell of each that is done."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    folder.mkdir(parents=True, exist_ok=True)
    texts = {}
    for experiment in experiments:
        for ours in (False, True):
            figure = draw_experiment(points, experiment, ours=ours)
            name = f"{experiment.name}-ours" if ours else experiment.name
            canvas: Any = FigureCanvasAgg(figure)
            canvas.print_png(folder / f"{name}.png")
            wide = svg_text(figure)
            (folder / f"{name}.svg").write_text(wide, encoding="utf-8")
            texts[name] = wide, svg_text(draw_experiment(points, experiment, ours=ours, tall=True))
            advance()
    return texts


def _style(curve: Curve) -> dict[str, Any]:
    colour, marker = STYLES[curve.method]
    empirical = ("threshold", "empirical") in curve.options
    return {
        "color": colour,
        "marker": marker,
        "markerfacecolor": "white" if empirical else colour,
        "markersize": 9.0 if marker == "*" else 6.0,
        "linestyle": (0, (4, 2)) if empirical else "-",
        "linewidth": 1.2,
        "capsize": 2.5,
    }


def _label(curve: Curve, own: pd.DataFrame) -> str:
    part = own[own["method"] == curve.label]
    text = curve.label.removesuffix(", chernoff")
    for column, words in (("indistinguishable", "no winner"), ("undecided", "at the cap")):
        low, high = 100.0 * float(part[column].min()), 100.0 * float(part[column].max())
        if high > 0.0:
            text += (
                f"\n{words}: {low:.0f} %" if f"{low:.0f}" == f"{high:.0f}" else f"\n{words}: {low:.0f} to {high:.0f} %"
            )
    return text


def _draw_bounds(
    panel: Axes, axis: NDArray[np.float64], frame: pd.DataFrame, ours: bool
) -> list[tuple[str, float, float]]:
    """Draw K T and the lower bound; return their names and right ends."""
    lines = [("K_T", "K T", ":"), ("lower_bound", "lower bound\nH log(1/δ)", "--")]
    if ours:
        lines.insert(1, ("K_T_chernoff", "K T,\nchernoff", "-."))
    last = int(axis.argmax())
    for column, _, stroke in lines:
        panel.plot(axis, frame[column], color=GREY, linestyle=stroke, linewidth=1.2, zorder=1)
    panel.set_yscale("log")
    panel.set_title("mean pulls E[τ], 95 % intervals", fontsize=10)
    return [(label, float(axis[last]), float(frame[column].iloc[last])) for column, label, _ in lines]


def _finish_ratio(panel: Axes, ours: bool) -> None:
    low, high = panel.get_ylim()
    panel.axhline(1.0, color=GREY, linestyle=":", linewidth=1.2, zorder=1)
    panel.set_title("mean pulls in units of the paper's K T", fontsize=10)
    if not ours and high - low < 0.2:  # all of them stop at K T: a wider scale shows that they agree
        panel.set_ylim(0.85, 1.25)
    elif ours or low < 0.25 * high:
        panel.set_yscale("log")
        low, high = panel.get_ylim()
        ticks = [digit * 10.0**power for power in range(-3, 4) for digit in (1, 2, 5)]
        panel.set_yticks([tick for tick in ticks if low <= tick <= high])
        panel.yaxis.set_major_formatter("{x:g}")
        panel.set_yticks([], minor=True)


def _finish_errors(panel: Axes, axis: NDArray[np.float64], frame: pd.DataFrame, sweep: str) -> None:
    line = np.geomspace(axis.min(), axis.max(), 60)
    promised = line if sweep == "delta" else np.full_like(line, frame["delta"].iloc[0])
    panel.plot(line, promised, color=GREY, linestyle="--", linewidth=1.2, zorder=1)
    place = -1 if sweep == "delta" else line.size // 2
    panel.annotate(
        "promised: δ",
        (line[place], promised[place]),
        xytext=(-8, 2) if sweep == "delta" else (0, 4),
        textcoords="offset points",
        ha="right" if sweep == "delta" else "center",
        fontsize=8.5,
    )
    panel.set_ylim(-0.02 * panel.get_ylim()[1], 1.08 * panel.get_ylim()[1])
    panel.set_title("wrong answers, exact 95 % intervals", fontsize=10)


def _finish_axis(panel: Axes, axis: NDArray[np.float64], sweep: str) -> None:
    panel.set_xscale("log")
    panel.set_xticks(axis, [f"{value:g}" for value in axis])
    panel.set_xticks([], minor=True)
    panel.set_xlim(axis.min() / 1.25, axis.max() * 1.25)
    panel.set_xlabel(SYMBOLS[sweep])
    panel.tick_params(labelsize=9)
    panel.grid(alpha=0.25, linewidth=0.6)
    panel.spines[["top", "right"]].set_visible(False)


def _label_ends(panel: Axes, ends: Sequence[tuple[str, float, float, Curve | None]]) -> None:
    """Write names beside the right ends of lines, pushed apart where the ends are close, with thin leaders."""
    to_axes = panel.transData + panel.transAxes.inverted()
    placed = sorted(((*to_axes.transform((x, y)), text, curve) for text, x, y, curve in ends), key=lambda end: end[1])
    heights = [0.07 + 0.05 * text.count("\n") for _, _, text, _ in placed]
    for (x, y, text, curve), place in zip(placed, _spread([end[1] for end in placed], heights), strict=True):
        style = _style(curve) if curve else {"color": GREY}
        in_axes: dict[str, Any] = {"transform": panel.transAxes, "clip_on": False}
        panel.text(1.06 if curve else 1.02, place, text, va="center", fontsize=8.5, **in_axes)
        panel.plot([x + 0.02, 1.03 if curve else 1.015], [y, place], color=style["color"], linewidth=0.7, **in_axes)
        if curve:
            marker: dict[str, Any] = {
                name: style[name] for name in ("color", "marker", "markerfacecolor", "markersize")
            }
            panel.plot([1.04], [place], zorder=5, **marker, **in_axes)


def _spread(wanted: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Return places near those wanted (in order) that are far enough apart, within [0, 1].

    >>> [round(place, 2) for place in _spread([0.5, 0.5, 0.9], [0.1, 0.1, 0.1])]
    [0.45, 0.55, 0.9]
    """
    places = list(wanted)
    for _ in range(200):
        for i in range(len(places) - 1):
            short = (heights[i] + heights[i + 1]) / 2.0 - (places[i + 1] - places[i])
            if short > 0.0:
                places[i], places[i + 1] = places[i] - short / 2.0, places[i + 1] + short / 2.0
        places = [min(max(place, 0.0), 1.0) for place in places]
    return places
