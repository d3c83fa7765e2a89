"""The nine experiments of MTCD21 as a table: arms, grid and curves of each figure, and what the text leaves open.

MTCD21 is "Mean-based Best Arm Identification in Stochastic Bandits under Reward Contamination", section "Experiments"
and appendix "Experimental Details". Readings are numbered as in docs/explanation/readings.md.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bestarm.bandits import Arm, Exponential, Gaussian, LogNormal
from bestarm.bandits.arms import CompiledArm
from bestarm.errors import InputError
from bestarm.kernels.rewards.draws import EXPONENTIAL, GAUSSIAN
from bestarm.scenarios.experiment import MAX_PULLS, Curve, Experiment
from bestarm.theory.bounds import exploration_pulls
from bestarm.validation import checked, numbers, one_of

# The grids are read off no text: the figures' axes are not in it (reading #21).
DELTAS = (0.2, 0.1, 0.05, 0.02, 0.01)
EPSILONS = (0.02, 0.05, 0.1, 0.15, 0.2)
# Our own curves have fewer trials than the paper's, so that all of it takes minutes.
CHERNOFF_SHARE, CERTIFIED_SHARE = 0.5, 0.2
MOST_PULLS = 1e8  # of a forced exploration that somebody may want to simulate

EMPIRICAL = (("threshold", "empirical"),)
G_CBAI = Curve("g-cbai", "g-cbai")
G_CBAI_EMPIRICAL = Curve("g-cbai (empirical)", "g-cbai", options=EMPIRICAL)
SE_CBAI = Curve("se-cbai", "se-cbai")
RANDOM = Curve("random", "random")
RANDOM_EMPIRICAL = Curve("random (empirical)", "random", options=EMPIRICAL)
MEDIAN = Curve("median-se", "median-se")
MEAN_SE = Curve("mean-se", "mean-se")
MEAN_GAP = Curve("mean-gap", "mean-gap")
MEAN_GAP_EMPIRICAL = Curve("mean-gap (empirical)", "mean-gap", options=EMPIRICAL)
CERTIFIED = Curve("certified", "certified", "certified", share=CERTIFIED_SHARE)

MAIN_TEXT = (G_CBAI_EMPIRICAL, SE_CBAI, RANDOM_EMPIRICAL, MEDIAN)
THEORY = (G_CBAI, SE_CBAI, RANDOM, MEDIAN)


EXPLORING = ("g-cbai", "se-cbai", "random", "median-se")  # those with a forced exploration


def explored(curve: Curve, exploration: str) -> tuple[tuple[str, Any], ...]:
    """Return a curve's options with another exploration."""
    return (*curve.options, ("exploration", exploration))


def with_ours(curves: tuple[Curve, ...]) -> tuple[Curve, ...]:
    """Return the paper's curves, those that explore again with the shorter exploration, and the certified method."""
    shorter = tuple(
        Curve(f"{curve.label}, chernoff", curve.method, "chernoff", explored(curve, "chernoff"), CHERNOFF_SHARE)
        for curve in curves
        if curve.method in EXPLORING
    )
    return (*curves, *shorter, CERTIFIED)


# Contest 651 of the New Yorker Caption Contest: (1 unfunny + 2 somewhat_funny + 3 funny) / count of the captions of
# ranks 1, 100, 1000 and 5000 by mean score (reading #18). nextml/caption-contest-data-api, commit 9e38b2b73a45,
# contests/summaries/651_summary_KLUCB.csv, CC BY 4.0.
NYCC_MEANS = (411 / 232, 354 / 228, 344 / 246, 321 / 253)
# PKIS2, percent inhibition of ACVRL1 at 1 uM: 92.5, 77, 30 and 9 are ranks 1, 10, 40 and 120 of the 189 compounds that
# are not 0. The paper looks for "the highest percentage control", and so for the weakest inhibitor: value =
# ln(1 - inhibition/100) (reading #19). Drewry et al. 2017, doi 10.1371/journal.pone.0181585, table S4, CC BY 4.0.
PKIS2_INHIBITION = (92.5, 77.0, 30.0, 9.0)
PKIS2_LOG_CONTROL = tuple(float(np.log1p(-percent / 100.0)) for percent in PKIS2_INHIBITION)
# What a screen is made for: the strongest inhibitor is best.
PKIS2_STRENGTH = tuple(-mean for mean in PKIS2_LOG_CONTROL)

FOUR = tuple(Gaussian(mean) for mean in (2.5, 2.3, 2.0, 0.6))
EIGHT = (2.5, 2.3, 2.0, 1.4, 1.0, 0.6, 0.2, 0.05)

_STOPPING = "The random strategy stops by the rule of Algorithm 1 with the threshold of g-cbai in the same figure."
_MEAN = (
    "The methods with sample means are the same algorithms run as if epsilon = 0: no forced exploration, no "
    "1/(1-epsilon) (reading #16)."
)

EXPERIMENTS: dict[str, Experiment] = {
    row.name: row
    for row in (
        Experiment(
            "exp1",
            'Experiments, figure "Synthetic data: E[tau] versus delta"',
            "Four Gaussian arms, pulls against delta",
            FOUR,
            with_ours(MAIN_TEXT),
            DELTAS,
            choices=(
                "The text that follows the figure gives the empirical threshold; we take it to be that of g-cbai in "
                "the main text's figures.",
                _STOPPING,
            ),
        ),
        Experiment(
            "exp2",
            'Experiments, figure "Synthetic data: E[tau] versus epsilon"',
            "Four Gaussian arms, pulls against epsilon",
            FOUR,
            with_ours(MAIN_TEXT),
            (0.1,),
            epsilons=EPSILONS,
            sweep="epsilon",
            choices=("delta = 0.1; one adversary for all epsilon, drawn at the largest.", _STOPPING),
        ),
        Experiment(
            "exp3",
            "Experiments, figure NYCC",
            "Four captions of a contest, pulls against delta",
            tuple(Gaussian(mean) for mean in NYCC_MEANS),
            with_ours(MAIN_TEXT),
            DELTAS,
            source="New Yorker Caption Contest 651, ranks 1, 100, 1000, 5000 by mean score",
            choices=("Which four captions is not said: we take ranks 1, 100, 1000 and 5000 (reading #18).", _STOPPING),
        ),
        Experiment(
            "exp4",
            "Experiments, figure PKIS2",
            "Four kinase inhibitors, pulls against delta",
            tuple(Gaussian(mean) for mean in PKIS2_LOG_CONTROL),
            with_ours(MAIN_TEXT),
            DELTAS,
            source="PKIS2, kinase ACVRL1, ranks 1, 10, 40, 120 by inhibition",
            choices=(
                "Which four compounds is not said: we take ranks 1, 10, 40 and 120. As printed, "
                '"the highest percentage control" wins, and so the weakest of the four inhibitors (reading #19).',
                _STOPPING,
            ),
        ),
        Experiment(
            "exp5",
            'Appendix, figure "More experiments", Gaussian bandit',
            "As experiment 1, with the theorem's threshold",
            FOUR,
            with_ours(THEORY),
            DELTAS,
            choices=("The exponent of t in the threshold is not given: we take 2 (reading #22).", _STOPPING),
        ),
        Experiment(
            "exp6",
            'Appendix, figure "More experiments", exponential bandit',
            "Eight exponential arms, with the theorem's threshold",
            tuple(Exponential(mean) for mean in EIGHT),
            with_ours((*THEORY, MEAN_SE)),
            DELTAS,
            choices=(
                "sigma is not given, and none covers an exponential law: we take 1 (reading #20).",
                _MEAN,
                _STOPPING,
            ),
        ),
        Experiment(
            "exp7",
            "Appendix, figure log-normal bandits",
            "Two log-normal arms, trimmed mean against median",
            (LogNormal(1.0, 1.0), LogNormal(1.05, 1.2)),
            with_ours((SE_CBAI, MEDIAN)),
            DELTAS,
            choices=(
                "Neither sigma nor epsilon nor the algorithm is given: we take sigma = 1, epsilon = 0.1 and successive "
                "elimination with either estimator (reading #20). No sigma covers a log-normal law.",
            ),
        ),
        Experiment(
            "exp8",
            "Appendix, figure Gaussian bandit, Algorithm 1",
            "Eight Gaussian arms, Algorithm 1 with trimmed and with sample means",
            tuple(Gaussian(mean) for mean in EIGHT),
            with_ours((G_CBAI, MEAN_GAP, G_CBAI_EMPIRICAL, MEAN_GAP_EMPIRICAL)),
            DELTAS,
            choices=("Which threshold is not said: we take both.", _MEAN),
        ),
        Experiment(
            "exp9",
            "Appendix, figure Gaussian bandit, Algorithm 2",
            "Eight Gaussian arms, Algorithm 2 with trimmed and with sample means",
            tuple(Gaussian(mean) for mean in EIGHT),
            with_ours((SE_CBAI, MEAN_SE)),
            DELTAS,
            choices=(_MEAN,),
        ),
    )
}


# --------------------------------------------------------------------------------------------------- your own variation


def experiment(
    name: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    means: ArrayLike | None = None,
    sigma: float | None = None,
    grid: ArrayLike | None = None,
) -> Experiment:
    """Return an experiment of the paper, as it is or varied: run it by `reproduce` or `run_experiments`.

    Parameters
    ----------
    name : str
        exp1 ... exp9.
    epsilon : float in [0, 0.5), optional
        Share of contaminated rewards (not of exp2, whose axis it is: use `grid`).
    delta : float in (0, 1), optional
        Accepted probability of an error, of exp2 only; the others have it along the axis.
    means : sequence of float, optional
        True means instead of the paper's. The laws stay normal, exponential or, with the shapes 1 and 1.2 in order,
        log-normal.
    sigma : float > 0, optional
        Scale that the methods are told, and the standard deviation of normal arms.
    grid : sequence of float, optional
        Values along the axis: of delta, in exp2 of epsilon.

    Examples
    --------
    >>> varied = experiment("exp7", epsilon=0.05, grid=[0.2, 0.1])
    >>> varied.epsilons, varied.deltas
    ((0.05,), (0.2, 0.1))
    """
    one_of("name", name, tuple(EXPERIMENTS))
    base = EXPERIMENTS[name]
    along = base.sweep
    fixed = "delta" if along == "epsilon" else "epsilon"
    given: dict[str, Any] = {"delta": delta, "epsilon": epsilon}
    if given[along] is not None:
        raise InputError(
            along, f"not be given for {name}", given[along], f"it is the axis: give it as grid, {fixed} as {fixed}"
        )
    changes: dict[str, Any] = {}
    if given[fixed] is not None:
        changes[f"{fixed}s"] = (float(checked(**{fixed: given[fixed]})[0]),)
    if grid is not None:
        changes[f"{along}s"] = _grid(along, grid)
    if sigma is not None:
        changes["sigma"] = float(checked(sigma=sigma)[0])
    if means is not None or sigma is not None:
        changes["arms"] = _arms(base, base.means if means is None else means, changes.get("sigma"))
    if not changes:
        return base
    shown = {"means": means, "sigma": sigma, fixed: given[fixed], "grid": grid}
    words = ", ".join(f"{key} = {_shown(value)}" for key, value in shown.items() if value is not None)
    varied = replace(
        base, **changes, name=f"{name}-variation", source="", figure=f"a variation of {name}: {words}", choices=()
    )
    return replace(varied, max_pulls=max(MAX_PULLS, _longest(varied)))


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str([float(each) for each in value])


def _longest(varied: Experiment) -> int:
    """Return a cap well beyond the forced exploration, or reject a variation that would never end."""
    epsilons = [epsilon for epsilon in varied.epsilons if epsilon > 0.0]
    explored = max((exploration_pulls(e / 2.0, min(varied.deltas)) for e in epsilons), default=1.0)
    if explored * len(varied.arms) > MOST_PULLS:
        reason = f"the paper's T is then {explored:.3g} pulls of each arm, before anything is decided"
        raise InputError("epsilon", "be larger, or delta", min(varied.epsilons), reason)
    return int(4.0 * explored * len(varied.arms))


def _grid(along: str, values: ArrayLike) -> tuple[float, ...]:
    listed = np.ndim(values) == 1 and not isinstance(values, str)
    if not listed or not np.size(values):
        raise InputError("grid", f"be a list of values of {along}", values, "such as [0.2, 0.1, 0.05]")
    found = tuple(float(checked(**{along: value})[0]) for value in np.asarray(values).tolist())
    if len(set(found)) != len(found):
        raise InputError("grid", "not repeat a value", values, "each is a point of the figure")
    return found


def _arms(base: Experiment, means: ArrayLike, sigma: float | None) -> tuple[Arm, ...]:
    """Return arms of the experiment's kind with these means."""
    levels = numbers(means).tolist()
    if len(levels) < 2:
        raise InputError("means", "be a list of at least two numbers", means, "such as [2.5, 2.3, 2.0]")
    first = base.arms[0]
    assert isinstance(first, CompiledArm)
    if first.kind == GAUSSIAN:
        return tuple(Gaussian(mean, first.parameters[1] if sigma is None else sigma) for mean in levels)
    if first.kind == EXPONENTIAL:
        return tuple(Exponential(mean) for mean in levels)
    if len(levels) != len(base.arms):
        raise InputError("means", f"be {len(base.arms)} numbers", means, "a log-normal arm has its shape by its place")
    if not all(mean > 0.0 for mean in levels):
        raise InputError("means", "be above 0", means, "log-normal rewards are")
    shapes = [arm.parameters[1] for arm in base.arms if isinstance(arm, CompiledArm)]
    return tuple(LogNormal(math.log(mean) - s**2 / 2.0, s) for mean, s in zip(levels, shapes, strict=True))
