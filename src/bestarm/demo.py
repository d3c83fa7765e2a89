"""The demonstration: one contaminated four-armed problem, every method, two adversaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bestarm.bandits import Adversary, Bandit, Gaussian, adversaries, paper_adversary
from bestarm.simulation import Trials, progress_bar, simulate

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
    """Return the two adversaries: one as mild as the paper's, and one that pushes everything to the wrong side."""
    gross = [-1000.0] + [1000.0] * (len(MEANS) - 1)
    return {
        "uniform, as in the paper": paper_adversary(MEANS, EPSILON, seed),
        "one-sided, +-1000": adversaries.Point(gross),
    }


def run_demo(trials: int = 300, seed: int = 7, workers: int = 1, *, progress: bool = False) -> pd.DataFrame:
    """Simulate every method against both adversaries; return a row each with pulls, answers and error rate.

    Parameters
    ----------
    trials : int >= 1
        Trials a row.
    seed : int
        Seed of the adversary and of the trials.
    workers : int >= 1
        Threads.
    progress : bool
        Show a bar on stderr, if that is a terminal.
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
        "mean_pulls": summary["mean_pulls"],
        "standard_error": summary["standard_error"],
        "answers": "/".join(str(count) for count in named),
        "no winner": summary["indistinguishable"],
        "error_rate": summary["error_rate"],
        "error_low": summary["error_low"],
        "error_high": summary["error_high"],
    }


def draw_demo(frame: pd.DataFrame, path: Path) -> None:
    """Draw pulls and error rates of the demo's rows to an image file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    attacks = list(dict.fromkeys(frame["adversary"]))
    methods = list(dict.fromkeys(frame["method"]))
    places = np.arange(len(methods))
    for number, (attack, colour) in enumerate(zip(attacks, ("#0072B2", "#D55E00"), strict=True)):
        part = frame[frame["adversary"] == attack].set_index("method").loc[methods]
        offset = places + (number - 0.5) * 0.38
        pulls, width = part["mean_pulls"], 1.96 * part["standard_error"]
        left.errorbar(pulls, offset, xerr=width, fmt="o", color=colour, capsize=3, label=attack)
        rates = part["error_rate"].to_numpy()
        spread = np.vstack([rates - part["error_low"].to_numpy(), part["error_high"].to_numpy() - rates])
        right.errorbar(rates, offset, xerr=spread.clip(0.0), fmt="o", color=colour, capsize=3)
        silent = part["no winner"].to_numpy() / part["trials"].to_numpy()
        for place, share in zip(offset[silent > 0.0], silent[silent > 0.0], strict=True):
            right.text(0.98, place, f"no winner named in {share:.0%}", color=colour, ha="right", va="center")
    left.set_yticks(places, methods)
    left.invert_yaxis()
    left.set_xscale("log")
    left.set_xlabel("mean pulls until the decision, with 95 % intervals")
    left.grid(axis="x", alpha=0.3)
    right.axvline(DELTA, color="black", linestyle="--", linewidth=1)
    right.annotate(
        f"promised: {DELTA:g}",
        (DELTA, 0.02),
        xycoords=("data", "axes fraction"),
        xytext=(4, 0),
        textcoords="offset points",
    )
    right.set_xlim(-0.03, 1.03)
    right.set_xlabel("wrong among the answers given, with exact 95 % intervals")
    figure.suptitle(
        f"Four arms with means {', '.join(f'{mean:g}' for mean in MEANS)}; {EPSILON:.0%} of the rewards contaminated; "
        f"{frame['trials'].iloc[0]} trials a row"
    )
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
