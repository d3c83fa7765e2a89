"""Figures fit to print: mean pulls with the bounds, mean pulls in units of K T, and error rates with delta.

Every panel names its methods at the right ends of their lines. Trials that named no winner stand in a strip of their
own below the errors, so that a method that names none does not look like one that is never wrong. The paper's curves
and ours are separate figures. Colours are those of Okabe and Ito, which people who confuse red and green can tell
apart; every method has a marker of its own as well.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bestarm.scenarios.experiment import Curve, Experiment
from bestarm.scenarios.numbers import grid_numbers
from bestarm.scenarios.small_svg import small_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Draw = Callable[..., "Figure"]
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
FONTS = ["DejaVu Sans", "Verdana"]  # as wide as each other; where there is neither, any without serifs
SYMBOLS = {"delta": "δ", "epsilon": "ε"}
GREY = "0.35"
OTHERS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#56B4E9", "P"), ("#E69F00", "v"))
# Left, bottom, width, height of the panels, with room for names at their right. By hand, as an automatic layout would
# take a third of the time of all figures.
WIDE = ((0.04, 0.13, 0.19, 0.7), (0.37, 0.13, 0.19, 0.7), (0.71, 0.13, 0.17, 0.7))
TALL = ((0.13, 0.68, 0.5, 0.23), (0.13, 0.365, 0.5, 0.23), (0.13, 0.05, 0.5, 0.23))
STRIP = -0.16  # where trials without a winner stand, in heights of the panel above it
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
    frame = pd.DataFrame([grid_numbers(experiment, *point) for point in experiment.grid])
    figure = Figure(figsize=(5.0, 11.5) if tall else (16.0, 4.4), dpi=130)
    pulls, ratio, errors = (figure.add_axes(box) for box in (TALL if tall else WIDE))
    axis = frame[experiment.sweep].to_numpy()
    styles = styles_of(curves)
    parts = [own[own["method"] == curve.label].set_index(experiment.sweep).loc[axis] for curve in curves]
    for index, (curve, part) in enumerate(zip(curves, parts, strict=True)):
        # They often coincide, as all spend K T pulls first: side by side in units of K T, nested on the large scale.
        dodged = _dodged(axis, index - (len(curves) - 1) / 2.0)
        style = styles[curve.label]
        mean, width = part["mean_pulls"].to_numpy(), NORMAL * part["standard_error"].fillna(0.0).to_numpy()
        nested = style["markersize"] * (1.45 - 0.8 * index / max(len(curves) - 1, 1))
        pulls.errorbar(axis, mean, yerr=width, **{**style, "markersize": nested})
        ratio.errorbar(dodged, mean / frame["K_T"].to_numpy(), yerr=width / frame["K_T"].to_numpy(), **style)
        _draw_errors(errors, dodged, part, style)
    bounds = _draw_bounds(pulls, axis, frame, ours, experiment.covered)
    _finish_ratio(ratio, ours)
    strip = _finish_errors(errors, axis, frame, experiment.sweep, parts)
    for panel in (pulls, ratio, errors):
        _finish_axis(panel, axis, experiment.sweep)
    last = int(axis.argmax())
    for panel, values in ((pulls, "mean_pulls"), (ratio, "mean_pulls"), (errors, "error_rate")):
        ends: list[_End] = []
        for curve, part in zip(curves, parts, strict=True):
            row = part.iloc[last]
            height = float(row[values]) / (float(frame["K_T"].iloc[last]) if panel is ratio else 1.0)
            if panel is errors and named(row) == 0.0:
                height = strip
            ends.append((_label(curve, part), float(axis[last]), height, styles[curve.label]))
        _label_ends(panel, ends + [(label, x, y, None) for label, x, y in bounds if panel is pulls])
    what = "shorter exploration and certified" if ours else "the paper's methods"
    head = (
        f"{experiment.name}, {what}"
        if any(curve.variant != "paper" for curve in experiment.curves)
        else experiment.name
    )
    fixed = f"ε = {experiment.epsilons[0]:g}" if experiment.sweep == "delta" else f"δ = {experiment.deltas[0]:g}"
    trials = sorted({int(part["trials"].iloc[0]) for part in parts}, reverse=True)
    counted = f"{' or '.join(f'{count:,}' for count in trials)} trials per point"
    title = f"{head}: {experiment.title[0].lower()}{experiment.title[1:]}; {fixed}; {counted}"
    figure.suptitle(textwrap.fill(title, 55 if tall else 200), fontsize=11)
    return figure


def _dodged(axis: NDArray[np.float64], steps: float) -> NDArray[np.float64]:
    """Return the positions of an axis shifted a little: by factors, or, on an axis from 0, by amounts."""
    if axis.min() > 0.0:
        return np.asarray(axis * 10.0 ** (0.025 * steps))
    return np.asarray(axis + 0.01 * (axis.max() or 1.0) * steps)


def named(row: pd.Series) -> float:
    """Return the share of trials that named an arm, rightly or wrongly."""
    return float(1.0 - row["indistinguishable"] - row["undecided"])


def _draw_errors(panel: Axes, x: NDArray[np.float64], part: pd.DataFrame, style: dict[str, Any]) -> None:
    """Draw the error rate where some trial named an arm; where none did, only the strip has a marker."""
    rate = part["error_rate"].to_numpy()
    spread = np.vstack([rate - part["error_low"].to_numpy(), part["error_high"].to_numpy() - rate]).clip(0.0)
    shown = np.array([named(row) > 0.0 for _, row in part.iterrows()])
    height = np.where(shown, rate, np.nan)
    panel.errorbar(x, height, yerr=np.where(shown, spread, np.nan), **{**style, "linestyle": "none"})


def svg_text(figure: Figure) -> str:
    """Return a figure as SVG: the same text for the same data, with its words as text in the reader's font."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "bestarm", "svg.fonttype": "none", "font.sans-serif": FONTS}):
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(stream, metadata={"Date": None})  # savefig would draw it twice
    return small_svg(stream.getvalue())


def experiment_figures(points: pd.DataFrame, experiments: Sequence[Experiment]) -> dict[str, Draw]:
    """Return how to draw the figures of experiments, by name: the paper's curves and ours apart."""
    return {
        f"{experiment.name}-ours" if ours else experiment.name: partial(draw_experiment, points, experiment, ours=ours)
        for experiment in experiments
        for ours in (False, True)
        if any((curve.variant != "paper") == ours for curve in experiment.curves)
    }


def save_figures(
    draws: Mapping[str, Draw], folder: Path, advance: Callable[[], object] = lambda: None
) -> dict[str, tuple[str, str]]:
    """Write figures as PNG and SVG; return the SVG of each by name, wide and tall. `advance` is called after each.

    A figure is given by a function, which gets the keyword `tall`; the files show it wide.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    folder.mkdir(parents=True, exist_ok=True)
    texts = {}
    for name, draw in draws.items():
        figure = draw(tall=False)
        canvas: Any = FigureCanvasAgg(figure)
        canvas.print_png(folder / f"{name}.png")
        wide = svg_text(figure)
        (folder / f"{name}.svg").write_text(wide, encoding="utf-8")
        texts[name] = wide, svg_text(draw(tall=True))
        advance()
    return texts


def styles_of(curves: Sequence[Curve]) -> dict[str, dict[str, Any]]:
    """Return the style of each curve by label: its method's colour and marker, or others if a method occurs twice."""
    plain = [curve.method for curve in curves if ("threshold", "empirical") not in curve.options]
    empirical = [curve.method for curve in curves if ("threshold", "empirical") in curve.options]
    twice = len(set(plain)) < len(plain) or len(set(empirical)) < len(empirical)
    styles = {}
    for index, curve in enumerate(curves):
        colour, marker = OTHERS[index % len(OTHERS)] if twice else STYLES[curve.method]
        hollow = ("threshold", "empirical") in curve.options
        styles[curve.label] = {
            "color": colour,
            "marker": marker,
            "markerfacecolor": "white" if hollow else colour,
            "markersize": 9.0 if marker == "*" else 6.0,
            "linestyle": (0, (4, 2)) if hollow else "-",
            "linewidth": 1.2,
            "capsize": 2.5,
        }
    return styles


def _label(curve: Curve, part: pd.DataFrame) -> str:
    text = curve.label.removesuffix(", chernoff")
    for column, words in (("indistinguishable", "no winner"), ("undecided", "at the cap")):
        low, high = float(part[column].min()), float(part[column].max())
        if high > 0.0:
            text += f"\n{words}: {percent(low)} %" if low == high else f"\n{words}: {percent(low)} to {percent(high)} %"
    return text


def percent(share: float) -> str:
    """Return a share in percent, rounded; to 0 or 100 only if it is exactly that.

    >>> percent(0.5), percent(0.998), percent(1.0), percent(0.002)
    ('50', '99.8', '100', '0.2')
    """
    rounded = f"{100.0 * share:.0f}"
    return f"{100.0 * share:.3g}" if rounded in ("0", "100") else rounded


def _draw_bounds(
    panel: Axes, axis: NDArray[np.float64], frame: pd.DataFrame, ours: bool, covered: bool
) -> list[tuple[str, float, float]]:
    """Draw K T and, where it covers the arms, the lower bound; return their names and right ends."""
    lines = [("K_T", "K T", ":")]
    if covered:
        lines.append(("lower_bound", "lower bound\nH log(1/δ)", "--"))
    if ours:
        lines.insert(1, ("K_T_chernoff", "K T,\nchernoff", "-."))
    last = int(axis.argmax())
    for column, _, stroke in lines:
        if axis.size == 1:
            panel.axhline(frame[column].iloc[0], color=GREY, linestyle=stroke, linewidth=1.2, zorder=1)
        else:
            panel.plot(axis, frame[column], color=GREY, linestyle=stroke, linewidth=1.2, zorder=1)
    panel.set_yscale("log")
    panel.set_title("mean pulls E[τ], 95 % intervals", fontsize=10)
    return [(label, float(axis[last]), float(frame[column].iloc[last])) for column, label, _ in lines]


def _finish_ratio(panel: Axes, ours: bool) -> None:
    low, high = panel.get_ylim()
    panel.axhline(1.0, color=GREY, linestyle=":", linewidth=1.2, zorder=1)
    panel.set_title("mean pulls in units of the paper's K T", fontsize=10)
    if not ours and 0.9 < low <= high < 1.1:  # all of them stop at K T: a wider scale shows that they agree
        panel.set_ylim(0.85, 1.25)
    elif ours or low < 0.25 * high:
        panel.set_yscale("log")
        low, high = panel.get_ylim()
        ticks = [digit * 10.0**power for power in range(-3, 4) for digit in (1, 2, 5)]
        panel.set_yticks([tick for tick in ticks if low <= tick <= high])
        panel.yaxis.set_major_formatter("{x:g}")
        panel.set_yticks([], minor=True)


def _finish_errors(
    panel: Axes, axis: NDArray[np.float64], frame: pd.DataFrame, sweep: str, parts: Sequence[pd.DataFrame]
) -> float:
    """Draw the promised delta, and a strip for trials without a winner if there are any; return the strip's height."""
    line = np.geomspace(axis.min(), axis.max(), 60) if axis.min() > 0.0 else np.linspace(0.0, axis.max(), 60)
    promised = line if sweep == "delta" else np.full_like(line, frame["delta"].iloc[0])
    if axis.size == 1:
        panel.axhline(promised[0], color=GREY, linestyle="--", linewidth=1.2, zorder=1)
    else:
        panel.plot(line, promised, color=GREY, linestyle="--", linewidth=1.2, zorder=1)
    index = -1 if sweep == "delta" else line.size // 2
    panel.annotate(
        "allowed: δ",
        (line[index], promised[index]),
        xytext=(-8, 2) if sweep == "delta" else (0, 4),
        textcoords="offset points",
        ha="right" if sweep == "delta" else "center",
        fontsize=8.5,
    )
    top = 1.08 * panel.get_ylim()[1]
    panel.set_title("wrong answers, exact 95 % intervals", fontsize=10)
    unnamed = [1.0 - part.apply(named, axis=1).to_numpy() for part in parts]
    if not any((shares > 0.0).any() for shares in unnamed):
        panel.set_ylim(-0.02 * top, top)
        return 0.0
    strip = STRIP * top
    panel.set_ylim(1.6 * strip, top)
    panel.axhspan(1.6 * strip, 0.5 * strip, color="0.93", zorder=0)
    panel.axhline(0.5 * strip, color=GREY, linewidth=0.8, zorder=1)
    panel.set_yticks([tick for tick in panel.get_yticks() if 0.0 <= tick <= top])
    for container, shares in zip(panel.containers, unnamed, strict=True):
        marker = container[0]
        x = np.asarray(marker.get_xdata())[shares > 0.0]
        # hollow, and the larger the more trials named none
        sizes = (3.0 + 6.0 * shares[shares > 0.0]) ** 2
        colour = marker.get_color()
        panel.scatter(
            x,
            np.full(x.size, strip),
            s=sizes,
            marker=marker.get_marker(),
            facecolors="none",
            edgecolors=colour,
        )
    panel.text(0.02, 0.02, "named none", transform=panel.transAxes, fontsize=8.0, color=GREY)
    return strip


def _finish_axis(panel: Axes, axis: NDArray[np.float64], sweep: str) -> None:
    if axis.min() > 0.0:
        panel.set_xscale("log")
        panel.set_xlim(axis.min() / 1.25, axis.max() * 1.25)
    panel.set_xticks(axis, [f"{value:g}" for value in axis])
    panel.set_xticks([], minor=True)
    panel.set_xlabel(SYMBOLS[sweep])
    panel.tick_params(labelsize=9)
    panel.grid(alpha=0.25, linewidth=0.6)
    panel.spines[["top", "right"]].set_visible(False)


_End = tuple[str, float, float, dict[str, Any] | None]  # name, where its line ends, and how the line is drawn


def _label_ends(panel: Axes, ends: Sequence[_End]) -> None:
    """Write names at the right ends of lines, pushed apart where the ends are close, with thin leaders."""
    to_axes = panel.transData + panel.transAxes.inverted()
    placed = sorted(((*to_axes.transform((x, y)), text, style) for text, x, y, style in ends), key=lambda end: end[1])
    heights = [0.07 + 0.05 * text.count("\n") for _, _, text, _ in placed]
    for (x, y, text, style), height in zip(placed, _spread([end[1] for end in placed], heights), strict=True):
        in_axes: dict[str, Any] = {"transform": panel.transAxes, "clip_on": False}
        colour = style["color"] if style else GREY
        panel.text(1.1 if style else 1.045, height, text, va="center", fontsize=8.5, **in_axes)
        panel.plot([x + 0.02, 1.05 if style else 1.035], [y, height], color=colour, linewidth=0.7, **in_axes)
        if style:
            marker: dict[str, Any] = {
                name: style[name] for name in ("color", "marker", "markerfacecolor", "markersize")
            }
            panel.plot([1.065], [height], zorder=5, **marker, **in_axes)


def _spread(wanted: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Return positions within [0, 1] near the wanted ones (in order) that are far enough apart.

    >>> [round(position, 2) for position in _spread([0.5, 0.5, 0.9], [0.1, 0.1, 0.1])]
    [0.45, 0.55, 0.9]
    """
    positions = list(wanted)
    for _ in range(200):
        for i in range(len(positions) - 1):
            short = (heights[i] + heights[i + 1]) / 2.0 - (positions[i + 1] - positions[i])
            if short > 0.0:
                positions[i], positions[i + 1] = positions[i] - short / 2.0, positions[i + 1] + short / 2.0
        positions = [min(max(height, 0.0), 1.0) for height in positions]
    return positions
