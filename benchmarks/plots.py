"""The pictures of docs/explanation/speed.md, from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.cost import CASES, RATIO
from benchmarks.report import Section

COLOURS = dict(
    zip(
        ("se-cbai", "median-se", "g-cbai", "certified", "random", "mean-se", "mean-gap"),
        ("#0072b2", "#009e73", "#d55e00", "#000000", "#cc79a7", "#56b4e9", "#e69f00"),
        strict=True,
    )
)


def draw(sections: Sequence[Section], folder: Path) -> list[Path]:
    """Write the pictures that the sections have numbers for; return their paths."""
    series = {name: lines for section in sections for name, lines in section.series.items()}
    written = []
    if "cost" in series:
        written.append(_cost(series["cost"], folder / "speed-cost.png"))
    if "arms" in series and "rewards" in series:
        written.append(_growth(series["arms"], series["rewards"], folder / "speed-growth.png"))
    return written


def _cost(cost: dict[str, list[float]], path: Path) -> Path:
    figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
    places = range(len(CASES))
    rest = [pull - alone for pull, alone in zip(cost["pull"], cost["draw"], strict=True)]
    axes.barh(places, cost["draw"], color="#999999", label="drawing the reward")
    axes.barh(places, rest, left=cost["draw"], color="#0072b2", label="all the rest")
    for place, (pull, alone) in enumerate(zip(cost["pull"], cost["draw"], strict=True)):
        axes.plot([RATIO * alone] * 2, [place - 0.4, place + 0.4], color="#d55e00", label="three draws" * (place == 0))
        axes.text(pull + 0.5, place, f"{pull / alone:.1f}", va="center", fontsize=9)
    axes.set_yticks(places, list(CASES))
    axes.invert_yaxis()
    axes.set_xlabel("nanoseconds a simulated pull; at the bar, how many draws that is")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=9)
    return _saved(figure, path)


def _growth(arms: dict[str, list[float]], rewards: dict[str, list[float]], path: Path) -> Path:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
    _lines(left, arms, "arms (2,500 pulls each)")
    _lines(right, rewards, "rewards an arm (2 arms)")
    left.set_ylabel("nanoseconds a pull")
    left.legend(frameon=False, fontsize=8, ncols=2)
    left.set_ylim(0.0, None)
    return _saved(figure, path)


def _lines(axes: Axes, series: dict[str, list[float]], label: str) -> None:
    for name, values in series.items():
        if name != "x":
            style = "--" if name == "draw" else "-"
            axes.plot(
                series["x"], values, style, marker="o", markersize=3, color=COLOURS.get(name, "#999999"), label=name
            )
    axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.spines[["top", "right"]].set_visible(False)


def _saved(figure: Figure, path: Path) -> Path:
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path
