"""The certified method: survives any adversary, and says when no winner can be named."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bestarm.checks import checked
from bestarm.kernels.rule import CERTIFIED, TRIMMED, Rule, new_rule
from bestarm.methods._base import Method, Option, choice
from bestarm.problem import Problem

RESOLUTION = Option(
    "resolution",
    lambda problem: 0.05 * problem.sigma,
    "statistical half-width below which arms that are not apart are called indistinguishable; default 0.05 sigma",
    lambda value: checked(resolution=value)[0],
)
ADVERSARY_POWER = Option(
    "adversary_power",
    "prescient",
    '"prescient": contaminated values may depend on everything; "malicious": which rewards are hit may, too',
    choice("adversary_power", "prescient", "malicious"),
)

# How the error probability of an arm, delta / K, is spent: on the count of contaminated rewards, on the mean of the
# clean ones, on their reach. Measured on means 2.5 1.5 1.0 0.6 at epsilon 0.05 and 0.1; flat around these shares.
_SHARES = (0.3, 0.65, 0.05)
_MIXING = 50.0  # the normal mixture is tightest at a few times as many rewards
_PRIOR = 50.0  # weight, in rewards, of the Beta mixture's guess that the rate is epsilon


def certified_rule(problem: Problem, options: Mapping[str, Any], *, endless: bool = False) -> Rule:
    """Return the settings of the kernel."""
    epsilon, bounded = problem.epsilon, problem.bounds is not None
    count, mean, reach = _SHARES
    if epsilon == 0.0:
        count, mean, reach = 0.0, 1.0, 0.0
    elif bounded:
        mean, reach = mean + reach, 0.0
    share = problem.delta / problem.size
    prior = max(1.0, _PRIOR * epsilon)
    low, high = problem.bounds or (0.0, 0.0)
    return new_rule(
        family=CERTIFIED,
        estimator=TRIMMED,
        scale=problem.sigma,
        delta=problem.delta,
        epsilon=epsilon,
        count_limit=-math.log(share * count) if count else math.inf,
        prior=prior,
        prior_rest=prior * (1.0 - epsilon) / epsilon if epsilon else 1.0,
        mixing=_MIXING,
        mean_log=-2.0 * math.log(share * mean),
        reach_log=math.log(math.pi**2 / (3.0 * share * reach)) if reach else 0.0,
        resolution=options["resolution"],
        malicious=options["adversary_power"] == "malicious",
        bounded=bounded,
        low=low,
        high=high,
        endless=endless,
    )


METHOD = Method(
    name="certified",
    summary="intervals that no adversary breaks; stops with a winner or with the arms that cannot be told apart",
    source="this package, docs/explanation/certified.md; bounds of Horowitz and Manski (1995)",
    promise="any adversary of the stated power",
    options=(RESOLUTION, ADVERSARY_POWER),
    rule=certified_rule,
    certifies=True,
)
