"""What the paper's text leaves open, as data: named readings of it, each a change to the experiments it concerns.

Readings are one change each from "ours", which docs/explanation/readings.md describes; the numbers there are cited.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from bestarm.bandits import Gaussian
from bestarm.bandits.adversaries import Uniform
from bestarm.paper.experiments import CHERNOFF_SHARE, EMPIRICAL, EXPLORING, PKIS2_STRENGTH, explored
from bestarm.scenarios.experiment import MAX_PULLS, Curve, Experiment, Given, RandomCentres

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
        Share of the requested trials that is run.
    change : callable
        From an experiment to the same under this reading; unchanged if the reading does not concern it.
    """

    name: str
    about: str
    words: str
    share: float
    change: Callable[[Experiment], Experiment]

    def of(self, experiment: Experiment) -> Experiment:
        """Return an experiment under this reading, with the paper's curves alone."""
        return self.change(replace(experiment, curves=experiment.own_curves))


def _option(
    methods: tuple[str, ...], name: str, value: Any, unless: tuple[str, Any] | None = None
) -> Callable[[Experiment], Experiment]:
    """Return a change that gives an option to the curves of some methods, unless they have a certain other one."""

    def changed(curve: Curve) -> Curve:
        if curve.method not in methods or unless in curve.options:
            return curve
        return replace(curve, options=(*curve.options, (name, value)))

    return lambda experiment: replace(experiment, curves=tuple(map(changed, experiment.curves)))


def _power(value: float) -> Callable[[Experiment], Experiment]:
    """Return a change of the exponent of t in the theorem's threshold; the empirical one has none."""
    return _option(("g-cbai", "random", "mean-gap"), "power", value, unless=EMPIRICAL[0])


def _adversary(choice: RandomCentres, max_pulls: int = MAX_PULLS) -> Callable[[Experiment], Experiment]:
    return lambda experiment: replace(experiment, adversary=choice, max_pulls=max_pulls)


def _strength(experiment: Experiment) -> Experiment:
    if experiment.name != "exp4":
        return experiment
    return replace(experiment, arms=tuple(Gaussian(mean) for mean in PKIS2_STRENGTH))


# What the first author's course project of 2022 does where the paper's text is open: facts of its code, none of which
# is copied. It has Algorithm 2 with trimmed means and with medians; of Algorithm 1 it says nothing.
CODE_OF_2022 = "first author's code"
FOR_ALL_ARMS = Given(Uniform(0.8, 0.5), "uniform over [0.3, 1.3], for every arm")
FOR_ALL_COMPOUNDS = Given(Uniform(0.1, 0.05), "uniform over [0.05, 0.15], for every arm")


def curve_of_2022(curve: Curve, radius_arms: int | None = None) -> Curve:
    """Return a curve as in the code of 2022: what is trimmed, T and, in Algorithm 2, the radius."""
    if curve.method not in EXPLORING:
        return curve
    given: list[tuple[str, Any]] = []
    if curve.method in ("se-cbai", "median-se"):
        given.append(("radius", "all-pulls"))
        given += [] if radius_arms is None else [("radius_arms", float(radius_arms))]
    if curve.method == "median-se":  # explores nothing, and trims nothing
        return replace(curve, options=(*explored(curve, "none"), *given))
    return replace(curve, options=(*explored(curve, "half"), *given), trimmed=1.0)


def _code_of_2022(experiment: Experiment) -> Experiment:
    choice = FOR_ALL_COMPOUNDS if experiment.name == "exp4" else FOR_ALL_ARMS
    return replace(experiment, curves=tuple(map(curve_of_2022, experiment.curves)), adversary=choice)


OURS = Reading(
    "ours",
    "everything",
    "T as printed; sample-mean baselines as if epsilon = 0; random pulls every arm T times first; one adversary, drawn "
    "within 1 of the means, that leaves half of every gap; beta = 2; the highest percent control wins experiment 4.",
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
        _option(EXPLORING, "exploration", "chernoff"),
    ),
    Reading(
        "no exploration",
        "forced exploration",
        "No T at all: each arm once, and in Algorithm 1 the sqrt(t) of its sampling rule. It contradicts the printed "
        "rules, but the figures may have been made that way.",
        CHERNOFF_SHARE,
        _option(EXPLORING, "exploration", "none"),
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
        "strongest inhibitor",
        "experiment 4",
        "-ln(percent control): the lowest percent control wins, as in a search for a drug (reading #19).",
        0.5,
        _strength,
    ),
    Reading(
        "beta = 1.1",
        "exponent of t",
        "beta = 1.1 in the theorem's threshold of Algorithm 1, where the text allows any beta > 1 (reading #22).",
        0.5,
        _power(1.1),
    ),
    Reading(
        "beta = e/2",
        "exponent of t",
        "beta = e/2 in the theorem's threshold, the largest for which the lemma in the paper's proof is stated "
        "(reading #22).",
        0.5,
        _power(math.e / 2.0),
    ),
    Reading(
        CODE_OF_2022,
        "Algorithm 2, exploration, adversary",
        "As a course project of 2022 by the paper's first author has it: alpha = epsilon, T = log(1/delta)/epsilon^2, "
        "t of Algorithm 2's radius counts the pulls of all arms, its constant is pi^2/6 and there is no 1/(1-epsilon), "
        "dropped arms are still compared with, the median explores nothing, and one uniform law contaminates all arms: "
        "over [0.3, 1.3], in experiment 4 over [0.05, 0.15]. It has no Algorithm 1: of g-cbai and random only alpha, T "
        "and the adversary change.",
        0.5,
        _code_of_2022,
    ),
)
