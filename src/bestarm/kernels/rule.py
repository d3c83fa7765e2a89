"""The settings of a method for one problem, as numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Families: which kernel file decides.
GAP = 0
ELIMINATION = 1
CERTIFIED = 2

# Estimators of an arm's mean.
MEAN = 0
TRIMMED = 1
MEDIAN = 2

rule_dtype = np.dtype(
    [
        ("family", "i8"),
        ("estimator", "i8"),
        ("alpha", "f8"),  # trimmed on each side
        ("explored", "f8"),  # T(alpha, delta): pulls of an arm before its estimate may be used
        ("scale", "f8"),  # what a radius is proportional to: sigma / (1 - epsilon), or sigma
        ("delta", "f8"),
        ("threshold", "i8"),  # gap family: radii.THEORY or radii.EMPIRICAL
        ("log_constant", "f8"),  # gap family: log((K - 1) C / delta)
        ("power", "f8"),  # gap family: the paper's beta, exponent of t
        ("uniform", "i8"),  # gap family: 1 to pull arms at random
        ("seed", "u8"),  # for that
        # The rest is the certified method's (docs/explanation/certified.md).
        ("epsilon", "f8"),
        ("count_limit", "f8"),  # log(1/d1)
        ("prior", "f8"),  # a and b of the Beta mixture over the rate of contamination
        ("prior_rest", "f8"),
        ("mixing", "f8"),  # r of the normal mixture
        ("mean_log", "f8"),  # 2 log(1/d2)
        ("reach_log", "f8"),  # log(pi^2 / (3 d3))
        ("resolution", "f8"),
        ("malicious", "i8"),
        ("bounded", "i8"),
        ("low", "f8"),
        ("high", "f8"),
        ("endless", "i8"),  # 1: renew intervals for ever and never stop
    ]
)
Rule = NDArray[np.void]  # of rule_dtype, length 1: the settings of a method for one problem


def new_rule(**settings: float) -> Rule:
    """Return the settings of a method as a record; those not given are 0."""
    rule = np.zeros(1, rule_dtype)
    for name, value in settings.items():
        rule[name] = value
    return rule
