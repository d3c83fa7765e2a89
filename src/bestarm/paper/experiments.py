"""The nine experiments of MTCD21 as a table: arms, grid and curves of each figure, and what the text leaves open.

MTCD21 is "Mean-based Best Arm Identification in Stochastic Bandits under Reward Contamination", section "Experiments"
and appendix "Experimental Details". Readings are numbered as in docs/explanation/readings.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestarm.bandits import Arm, Bandit, Exponential, Gaussian, LogNormal, paper_adversary

# The grids are read off no text: the figures' axes are not in it (reading #21).
DELTAS = (0.2, 0.1, 0.05, 0.02, 0.01)
EPSILONS = (0.02, 0.05, 0.1, 0.15, 0.2)
# Two arms whose contaminated estimates nearly agree would be sampled almost for ever; a trial cut here is "undecided".
# The longest exploration, of experiment 2 at epsilon = 0.02, takes 184,208 pulls.
MAX_PULLS = 400_000


@dataclass(frozen=True)
class Curve:
    """One line of a figure: a method with its options, drawn with the paper's own or apart from them.

    Attributes
    ----------
    label, method : str
        Name in the figure, and in the catalogue.
    variant : {"paper", "chernoff", "certified"}
        The paper's own curve; the same with the shorter exploration; the certified method.
    options : tuple of (name, value)
        Options of the method.
    """

    label: str
    method: str
    variant: str = "paper"
    options: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Experiment:
    """One figure of the paper.

    Attributes
    ----------
    name, figure, title, source : str
        exp1 ... exp9; where it stands; what it is; where the means come from, if from data.
    arms : tuple of Arm
        Laws of the clean rewards.
    curves : tuple of Curve
        The paper's curves, then ours.
    deltas, epsilons : tuple of float
        The grid; one of the two has one value only.
    sigma : float
        Sub-Gaussian scale that the methods are told.
    choices : tuple of str
        What the text leaves open, and what we do.
    """

    name: str
    figure: str
    title: str
    arms: tuple[Arm, ...]
    curves: tuple[Curve, ...]
    deltas: tuple[float, ...] = DELTAS
    epsilons: tuple[float, ...] = (0.1,)
    sigma: float = 1.0
    source: str = ""
    choices: tuple[str, ...] = ()

    @property
    def means(self) -> tuple[float, ...]:
        """True means of the arms."""
        return tuple(arm.mean for arm in self.arms)

    @property
    def sweep(self) -> str:
        """What varies along the figure's axis: delta or epsilon."""
        return "epsilon" if len(self.epsilons) > 1 else "delta"

    @property
    def grid(self) -> tuple[tuple[float, float], ...]:
        """All (delta, epsilon) along the axis."""
        return tuple((delta, epsilon) for delta in self.deltas for epsilon in self.epsilons)

    def points(self) -> Iterator[Point]:
        """Yield what has to be simulated for every curve at every place of the grid."""
        for curve in self.curves:
            for delta, epsilon in self.grid:
                yield self.point(curve, delta, epsilon)

    def point(self, curve: Curve, delta: float, epsilon: float) -> Point:
        """Return what has to be simulated for one curve at one place of the grid."""
        return Point(self.arms, curve.method, curve.options, delta, epsilon, max(self.epsilons), self.sigma)


@dataclass(frozen=True)
class Point:
    """One simulation. Equal points of two figures are simulated once.

    Attributes
    ----------
    arms, method, options, delta, epsilon, sigma
        As for `simulate`.
    adversary_epsilon : float
        The epsilon at which the adversary is drawn: the largest of the experiment. An adversary that leaves the best
        arm the best there does so at every smaller epsilon, so that one serves the whole experiment (reading #17).
    """

    arms: tuple[Arm, ...]
    method: str
    options: tuple[tuple[str, Any], ...]
    delta: float
    epsilon: float
    adversary_epsilon: float
    sigma: float

    def bandit(self, seed: int) -> Bandit:
        """Return the arms with the paper's adversary of a seed."""
        adversary = paper_adversary([arm.mean for arm in self.arms], self.adversary_epsilon, seed)
        return Bandit(list(self.arms), self.epsilon, adversary)

    def seed(self, seed: int) -> np.random.SeedSequence:
        """Return the seed of the trials: the same for all methods at one place of the grid, so that they are paired."""
        return np.random.SeedSequence(seed, spawn_key=(round(1e6 * self.delta), round(1e6 * self.epsilon)))

    @property
    def settings(self) -> dict[str, Any]:
        """Return what makes this point different from others, in plain values."""
        return {
            "arms": [repr(arm) for arm in self.arms],
            "method": self.method,
            "options": dict(self.options),
            "delta": self.delta,
            "epsilon": self.epsilon,
            "adversary_epsilon": self.adversary_epsilon,
            "sigma": self.sigma,
        }


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
CERTIFIED = Curve("certified", "certified", "certified")

MAIN_TEXT = (G_CBAI_EMPIRICAL, SE_CBAI, RANDOM_EMPIRICAL, MEDIAN)
THEORY = (G_CBAI, SE_CBAI, RANDOM, MEDIAN)


def with_ours(curves: tuple[Curve, ...]) -> tuple[Curve, ...]:
    """Return the paper's curves, those that explore again with the shorter exploration, and the certified method."""
    explores = ("g-cbai", "se-cbai", "random", "median-se")
    shorter = tuple(
        Curve(f"{curve.label}, chernoff", curve.method, "chernoff", (*curve.options, ("exploration", "chernoff")))
        for curve in curves
        if curve.method in explores
    )
    return (*curves, *shorter, CERTIFIED)


# Contest 651 of the New Yorker Caption Contest: (1 unfunny + 2 somewhat_funny + 3 funny) / count of the captions of
# ranks 1, 100, 1000 and 5000 by mean score (reading #18). nextml/caption-contest-data-api, commit 9e38b2b73a45,
# contests/summaries/651_summary_KLUCB.csv, CC BY 4.0.
NYCC_MEANS = (411 / 232, 354 / 228, 344 / 246, 321 / 253)
# PKIS2, percent inhibition of ACVRL1 at 1 uM: 92.5, 77, 30 and 9 are ranks 1, 10, 40 and 120 of the 189 compounds that
# are not 0; value = -ln(1 - inhibition/100) (reading #19). Drewry et al. 2017, doi 10.1371/journal.pone.0181585, table
# S4, CC BY 4.0.
PKIS2_INHIBITION = (92.5, 77.0, 30.0, 9.0)
PKIS2_MEANS = tuple(float(-np.log1p(-percent / 100.0)) for percent in PKIS2_INHIBITION)

FOUR = tuple(Gaussian(mean) for mean in (2.5, 2.3, 2.0, 0.6))
EIGHT = (2.5, 2.3, 2.0, 1.4, 1.0, 0.6, 0.2, 0.05)

_STOPPING = "The random strategy stops by the rule of Algorithm 1 with the threshold of g-cbai in the same figure."
_MEAN = (
    "The sample mean's methods are the same algorithms run as if epsilon = 0: no forced exploration, no 1/(1-epsilon) "
    "(reading #16)."
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
            deltas=(0.1,),
            epsilons=EPSILONS,
            choices=("delta = 0.1; one adversary for all epsilon, drawn at the largest.", _STOPPING),
        ),
        Experiment(
            "exp3",
            "Experiments, figure NYCC",
            "Four captions of a contest, pulls against delta",
            tuple(Gaussian(mean) for mean in NYCC_MEANS),
            with_ours(MAIN_TEXT),
            source="New Yorker Caption Contest 651, ranks 1, 100, 1000, 5000 by mean score",
            choices=("Which four captions is not said: ranks 1, 100, 1000 and 5000 (reading #18).", _STOPPING),
        ),
        Experiment(
            "exp4",
            "Experiments, figure PKIS2",
            "Four kinase inhibitors, pulls against delta",
            tuple(Gaussian(mean) for mean in PKIS2_MEANS),
            with_ours(MAIN_TEXT),
            source="PKIS2, kinase ACVRL1, ranks 1, 10, 40, 120 by inhibition",
            choices=(
                'Which four compounds is not said, and "highest percent control" would be the weakest inhibitor: we '
                "take -ln(percent control), larger is better, ranks 1, 10, 40 and 120 (reading #19).",
                _STOPPING,
            ),
        ),
        Experiment(
            "exp5",
            'Appendix, figure "More experiments", Gaussian bandit',
            "As experiment 1, with the theorem's threshold",
            FOUR,
            with_ours(THEORY),
            choices=("The exponent of t in the threshold is not said: 2.", _STOPPING),
        ),
        Experiment(
            "exp6",
            'Appendix, figure "More experiments", exponential bandit',
            "Eight exponential arms, with the theorem's threshold",
            tuple(Exponential(mean) for mean in EIGHT),
            with_ours((*THEORY, MEAN_SE)),
            choices=("sigma is not said, and none covers an exponential law: 1 (reading #20).", _MEAN, _STOPPING),
        ),
        Experiment(
            "exp7",
            "Appendix, figure log-normal bandits",
            "Two log-normal arms, trimmed mean against median",
            (LogNormal(1.0, 1.0), LogNormal(1.05, 1.2)),
            with_ours((SE_CBAI, MEDIAN)),
            choices=(
                "Neither sigma nor epsilon nor the algorithm is said: sigma = 1, epsilon = 0.1, successive elimination "
                "with either estimator (reading #20). No sigma covers a log-normal law.",
            ),
        ),
        Experiment(
            "exp8",
            "Appendix, figure Gaussian bandit, Algorithm 1",
            "Eight Gaussian arms, Algorithm 1 with trimmed and with sample means",
            tuple(Gaussian(mean) for mean in EIGHT),
            with_ours((G_CBAI, MEAN_GAP, G_CBAI_EMPIRICAL, MEAN_GAP_EMPIRICAL)),
            choices=("Which threshold is not said: both.", _MEAN),
        ),
        Experiment(
            "exp9",
            "Appendix, figure Gaussian bandit, Algorithm 2",
            "Eight Gaussian arms, Algorithm 2 with trimmed and with sample means",
            tuple(Gaussian(mean) for mean in EIGHT),
            with_ours((SE_CBAI, MEAN_SE)),
            choices=(_MEAN,),
        ),
    )
}
