"""What the paper's text leaves open, as data: named readings of it, each a change to the experiments it concerns.

Readings are one change each from "ours", which docs/explanation/readings.md describes; the numbers there are cited.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bestarm.bandits import Gaussian
from bestarm.experiments.experiment import MAX_PULLS, Curve, Experiment, RandomCentres
from bestarm.paper.experiments import CHERNOFF_SHARE, EXPLORING, PKIS2_LOG_CONTROL, explored

DRAWS = 20  # adversaries that share the trials of a point
ADVERSARY_SHARE = 0.1


@dataclass(frozen=True)
class Reading:
    """One way to understand the text.

    Attributes
    ----------
    name, about : str
        Its name, and what it is a reading of.
    words : str
        What it takes the text to mean.
    share : float
        Of the trials asked for, how many are run.
    change : callable
        From an experiment to the same under this reading; one that it does not concern comes back as it is.
    """

    name: str
    about: str
    words: str
    share: float
    change: Callable[[Experiment], Experiment]

    def of(self, experiment: Experiment) -> Experiment:
        """Return an experiment under this reading, with the paper's curves alone."""
        return self.change(replace(experiment, curves=experiment.own_curves))


def _curves(change: Callable[[Curve], Curve]) -> Callable[[Experiment], Experiment]:
    return lambda experiment: replace(experiment, curves=tuple(change(curve) for curve in experiment.curves))


def _explore(exploration: str) -> Callable[[Experiment], Experiment]:
    return _curves(
        lambda curve: replace(curve, options=explored(curve, exploration)) if curve.method in EXPLORING else curve
    )


def _option(methods: tuple[str, ...], name: str, value: str) -> Callable[[Experiment], Experiment]:
    return _curves(
        lambda curve: replace(curve, options=(*curve.options, (name, value))) if curve.method in methods else curve
    )


def _adversary(choice: RandomCentres, max_pulls: int = MAX_PULLS) -> Callable[[Experiment], Experiment]:
    return lambda experiment: replace(experiment, adversary=choice, max_pulls=max_pulls)


def _log_control(experiment: Experiment) -> Experiment:
    if experiment.name != "exp4":
        return experiment
    return replace(experiment, arms=tuple(Gaussian(mean) for mean in PKIS2_LOG_CONTROL))


OURS = Reading(
    "ours",
    "everything",
    "T as printed; sample-mean baselines as if epsilon = 0; random pulls every arm T times first; one adversary, drawn "
    "within 1 of the means, that leaves half of every gap; experiment 4 looks for the strongest inhibitor.",
    1.0,
    lambda experiment: experiment,
)

READINGS: tuple[Reading, ...] = (
    OURS,
    Reading(
        "chernoff",
        "forced exploration",
        "T by Chernoff's bound in place of Hoeffding's, for the same step of the paper's lemma.",
        CHERNOFF_SHARE,
        _explore("chernoff"),
    ),
    Reading(
        "no exploration",
        "forced exploration",
        "No T at all: each arm once, and in Algorithm 1 the sqrt(t) of its sampling rule. It contradicts the printed "
        "rules, but the figures may have been made that way.",
        CHERNOFF_SHARE,
        _explore("none"),
    ),
    Reading(
        "same parameters",
        "sample-mean baselines",
        '"All the other parameters remain the same" (experiment 6): T and 1/(1-epsilon) are kept, and only the '
        "estimator is the sample mean (reading #16).",
        0.5,
        _option(("mean-se", "mean-gap"), "parameters", "same"),
    ),
    Reading(
        "random from the start",
        "random strategy",
        'It "selects any arm with a uniform probability" from the first pull on, and may stop once K T pulls have '
        "been made in all (reading #14).",
        0.2,
        _option(("random",), "floor", "total"),
    ),
    Reading(
        "other draws",
        "adversary",
        f"{DRAWS} adversaries, drawn as ours is, share the trials (reading #17).",
        ADVERSARY_SHARE,
        _adversary(RandomCentres(draws=DRAWS)),
    ),
    Reading(
        "no margin",
        "adversary",
        f"{DRAWS} draws that keep the best arm the best, by however little; trials are cut at 200,000 pulls.",
        ADVERSARY_SHARE,
        _adversary(RandomCentres(margin=0.0, draws=DRAWS), 200_000),
    ),
    Reading(
        "within 10",
        "adversary",
        f"{DRAWS} draws without margin, with centres up to 10 beyond the means.",
        ADVERSARY_SHARE,
        _adversary(RandomCentres(margin=0.0, reach=10.0, draws=DRAWS)),
    ),
    Reading(
        "within 20",
        "adversary",
        f"{DRAWS} draws without margin, with centres up to 20 beyond the means.",
        ADVERSARY_SHARE,
        _adversary(RandomCentres(margin=0.0, reach=20.0, draws=DRAWS)),
    ),
    Reading(
        "log percent control",
        "experiment 4",
        'ln(percent control): "the highest percentage control" wins, the weakest of the four inhibitors (reading #19).',
        0.5,
        _log_control,
    ),
)
