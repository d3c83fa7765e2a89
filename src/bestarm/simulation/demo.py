"""The demonstration: one contaminated four-armed problem, every method, two adversaries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bestarm.bandits import Adversary, Bandit, Gaussian, adversaries, paper_adversary
from bestarm.identification.pictures import LOOKS
from bestarm.progress import progress_bar
from bestarm.simulation import Trials, simulate

MEANS = (2.5, 2.3, 2.0, 0.6)  # of MTCD21, experiment 1
EPSILON = 0.1
DELTA = 0.1

# Each row's name, method and options.
ROWS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("certified", "certified", {}),
    ("g-cbai", "g-cbai", {}),
    ("g-cbai, empirical", "g-cbai", {"threshold": "empirical"}),
    ("g-cbai, chernoff", "g-cbai", {"exploration": "chernoff"}),
    ("se-cbai", "se-cbai", {}),
    ("se-cbai, chernoff", "se-cbai", {"exploration": "chernoff"}),
    ("random", "random", {}),
    ("median-se", "median-se", {}),
    ("mean-se", "mean-se", {}),
    ("mean-gap", "mean-gap", {}),
)


def demo_adversaries(seed: int) -> dict[str, Adversary]:
    """Return the two adversaries: the mild one of the paper, and one that pushes everything to the wrong side."""
    gross = [-1000.0] + [1000.0] * (len(MEANS) - 1)
    return {
        "uniform, as in the paper": paper_adversary(MEANS, EPSILON, seed),
        "one-sided, +-1000": adversaries.Point(gross),
    }


def run_demo(trials: int = 300, seed: int = 7, workers: int = 1, *, progress: bool = False) -> pd.DataFrame:
    """Simulate every method against both adversaries; return a row each with pulls, answers and error rate.

    `answers` counts how often each arm was named; "no winner", `undecided` and `error_rate` are shares of all trials.

    Parameters
    ----------
    trials : int >= 1
        Trials per row.
    seed : int
        Seed of the adversary and of the trials.
    workers : int >= 1
        Threads.
    progress : bool
        Show progress on stderr: a bar on a terminal, elsewhere a line every ten seconds.
    """
    rows = []
    attacks = demo_adversaries(seed)
    with progress_bar("demo", len(attacks) * len(ROWS), progress) as advance:
        for attack, adversary in attacks.items():
            bandit = Bandit([Gaussian(mean) for mean in MEANS], EPSILON, adversary)
            for name, method, options in ROWS:
                outcome = simulate(
                    bandit, method, delta=DELTA, trials=trials, seed=seed, workers=workers, max_pulls=10**6, **options
                )
                rows.append({"adversary": attack, "method": name, **_figures(outcome)})
                advance(1)
    return pd.DataFrame(rows)


def _figures(outcome: Trials) -> dict[str, Any]:
    summary = outcome.summary()
    named = np.bincount(outcome.answers[outcome.answers >= 0], minlength=len(MEANS))
    return {
        "trials": len(outcome),
        **{name: summary[name] for name in ("mean_pulls", "mean_is_lower_bound", "standard_error")},
        "answers": "/".join(str(count) for count in named),
        "no winner": summary["indistinguishable"],
        **{name: summary[name] for name in ("undecided", "error_rate", "error_low", "error_high")},
    }


# The words of an outcome, its colour and hatch, and the marker of methods for which it is the most frequent.
OUTCOMES: dict[str, tuple[str, str, str, str]] = {
    "wrong": ("named a wrong arm", *LOOKS["wrong"], "X"),
    "no winner": ("stopped and named none", *LOOKS["no winner"], "D"),
    "undecided": ("reached the cap on pulls", *LOOKS["at the cap"], "s"),
    "right": ("named the best arm", *LOOKS["right"], "o"),
}


def draw_demo(frame: pd.DataFrame, path: Path) -> None:
    """Draw the demo's rows to an image file, one row of panels per adversary: mean pulls and how the trials ended."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    attacks = list(dict.fromkeys(frame["adversary"]))
    figure = Figure(figsize=(10, 1.6 + 3.3 * len(attacks)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(attacks), 2, squeeze=False, sharex="col")
    for (left, right), attack in zip(panels, attacks, strict=True):
        part = frame[frame["adversary"] == attack].to_dict("records")
        for index, row in enumerate(part):
            counts = _counts(row)
            most = max(counts, key=lambda outcome: counts[outcome])
            left.errorbar(row["mean_pulls"], index, xerr=1.96 * row["standard_error"], capsize=3, **_marker(most))
            _draw_counts(right, index, counts)
        for panel in (left, right):
            panel.set_yticks(range(len(part)), [row["method"] for row in part])
            panel.set_ylim(len(part) - 0.5, -0.5)
            panel.tick_params(axis="both", labelbottom=True)
        left.set_title(f"adversary: {attack}", loc="left", fontsize=11, fontweight="bold")
        left.set_xscale("log")
        left.set_xlabel("mean pulls until the stop, with 95 % intervals")
        left.grid(axis="x", alpha=0.3)
        right.set_xlim(0, frame["trials"].max())
        right.axvline(DELTA * frame["trials"].max(), color="black", linestyle="--", linewidth=1.2)
        right.set_xlabel("trials, by how they ended")
    rows = frame.to_dict("records")
    keys: list[Any] = []  # for each outcome that occurred, its marker and below it its bar
    for outcome, (words, colour, hatch, _) in OUTCOMES.items():
        if any(_counts(row)[outcome] for row in rows):
            keys.append(Line2D([], [], linestyle="", label=f"mostly {outcome}", **_marker(outcome)))
            patch_style: dict[str, Any] = {"facecolor": colour, "hatch": hatch, "edgecolor": "0.6", "linewidth": 0.5}
            keys.append(Patch(label=f"{outcome}: {words}", **patch_style))
    keys.append(Line2D([], [], linestyle="", label=""))
    keys.append(Line2D([], [], color="black", linestyle="--", label=f"delta: {DELTA:.0%} wrong accepted"))
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys) // 2, frameon=False, fontsize=9)
    figure.suptitle(
        f"Four arms with means {', '.join(f'{mean:g}' for mean in MEANS)}; {EPSILON:.0%} of the rewards contaminated; "
        f"{frame['trials'].iloc[0]} trials per row"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def _counts(row: Mapping[Any, Any]) -> dict[str, int]:
    """Return how many trials of a row had each outcome."""
    named = [int(count) for count in row["answers"].split("/")]
    right, silent = named[int(np.argmax(MEANS))], round(row["no winner"] * row["trials"])
    undecided = int(row["trials"]) - sum(named) - silent
    return {"wrong": sum(named) - right, "no winner": silent, "undecided": undecided, "right": right}


def _marker(outcome: str) -> dict[str, Any]:
    _, colour, _, marker = OUTCOMES[outcome]
    return {"marker": marker, "color": "0.25", "markerfacecolor": colour, "markersize": 8}


def _draw_counts(panel: Any, index: int, counts: Mapping[str, int]) -> None:
    begin = 0
    for outcome, (_, colour, hatch, _) in OUTCOMES.items():
        if counts[outcome]:
            panel.barh(index, counts[outcome], 0.8, begin, color=colour, hatch=hatch, edgecolor="0.6", linewidth=0.5)
            begin += counts[outcome]
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    panel.text(0.5 * begin, index, _words(counts), ha="center", va="center", fontsize=9, bbox=box, zorder=4)


def _words(counts: Mapping[str, int]) -> str:
    """Return the words of a bar, such as "no winner: 300 of 300"."""
    there = [f"{outcome}: {count}" for outcome, count in counts.items() if count]
    return f"{', '.join(there)} of {sum(counts.values())}" if len(there) == 1 else ", ".join(there)
