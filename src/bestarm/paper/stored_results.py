"""The results that the paper's first author stored in 2022, and the same simulations by our methods beside them.

They come from a public course project, "Adversarial Best Arm Identification in Gaussian Bandits", that runs the paper's
Algorithm 2 as a baseline. It is not the code of the paper, but the nearest that there is. Here are facts of it only:
what it simulates, as `curve_of_2022` has it, and the numbers that it stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from bestarm.bandits import Gaussian
from bestarm.paper.experiments import MEDIAN, SE_CBAI
from bestarm.paper.readings import FOR_ALL_ARMS, FOR_ALL_COMPOUNDS, curve_of_2022
from bestarm.scenarios.experiment import Experiment, Given
from bestarm.scenarios.run import Run

NAME = "stored-2022"
THEIR_TRIALS = 200
FAR = 3.0  # standard errors of the difference


@dataclass(frozen=True)
class StoredResults:
    """An experiment of 2022, and by method the mean numbers that were stored, one per delta.

    Their counter of pulls starts at 1, so that these are the mean pulls plus 1.
    """

    experiment: Experiment
    theirs: Mapping[str, tuple[float, ...]]


def _experiment(
    name: str,
    title: str,
    means: tuple[float, ...],
    deltas: tuple[float, ...],
    adversary: Given,
    radius_arms: int | None = None,
) -> Experiment:
    return Experiment(
        f"{NAME}: {name}",
        "a course project of 2022, not the paper",
        title,
        tuple(Gaussian(mean) for mean in means),
        tuple(curve_of_2022(curve, radius_arms) for curve in (SE_CBAI, MEDIAN)),
        deltas,
        adversary=adversary,
    )


STORED_RESULTS = (
    StoredResults(
        _experiment(
            "synthetic",
            "Four Gaussian arms",
            (5.0, 4.5, 1.0, 1.0),
            (0.025, 0.017, 0.01, 0.005, 0.001),
            FOR_ALL_ARMS,
            radius_arms=5,  # a fifth arm stands in the radius, and is not run
        ),
        {
            "se-cbai": (1483.09, 1640.05, 1845.29, 2121.00, 2765.00),
            "median-se": (723.88, 830.45, 819.975, 872.06, 857.495),
        },
    ),
    StoredResults(
        _experiment(
            "PKIS2",
            "Four kinase inhibitors drawn at random, log percent control",
            (-0.1278, -0.2877, -0.9676, -1.4697),
            (0.1, 0.05),
            FOR_ALL_COMPOUNDS,
        ),
        {"se-cbai": (9039.7, 9220.9), "median-se": (6352.1, 6590.15)},
    ),
)
STORED_EXPERIMENTS = tuple(stored.experiment for stored in STORED_RESULTS)


def stored_table(run: Run) -> pd.DataFrame:
    """Return their number beside ours, one row per method and delta.

    `standard_error` is that of our mean; `difference` is ours less theirs in standard errors of the difference, with
    their 200 trials spread as ours are, for their spread is not known; `within` tells if that is at most 3.
    """
    rows = []
    for stored in STORED_RESULTS:
        experiment = stored.experiment
        for curve in experiment.curves:
            for (delta, epsilon), theirs in zip(experiment.grid, stored.theirs[curve.label], strict=True):
                trials = run.outcome(experiment, curve, delta, epsilon)
                ours, spread = trials.mean_pulls + 1.0, float(trials.pulls.std(ddof=1)) if len(trials) > 1 else math.nan
                both = spread * math.sqrt(1.0 / len(trials) + 1.0 / THEIR_TRIALS)
                far = 0.0 if ours == theirs else (ours - theirs) / both if both != 0.0 else math.inf
                rows.append(
                    {
                        "arms": experiment.name.removeprefix(f"{NAME}: "),
                        "method": curve.label,
                        "delta": delta,
                        "theirs": theirs,
                        "ours": ours,
                        "standard_error": spread / math.sqrt(len(trials)),
                        "difference": far,
                        "within": bool(abs(far) <= FAR),
                        "trials": len(trials),
                        "wrong": trials.wrong,
                    }
                )
    return pd.DataFrame(rows)
