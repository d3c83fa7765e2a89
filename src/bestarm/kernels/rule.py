"""The settings of a method for one problem, as numbers."""

from __future__ import annotations

import os
from typing import Any

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

# How the gap family chooses among arms.
GUIDED = 0  # leader or challenger, after the forced exploration
UNIFORM = 1  # at random, after it
UNIFORM_AT_ONCE = 2  # at random from the first pull on

# What t of the elimination family's radius counts.
ROUNDS = 0  # rounds, so the pulls of each active arm
ALL_PULLS = 1  # pulls of all arms before the round, from 1 on

rule_dtype = np.dtype(
    [
        ("family", "i8"),
        ("shortcuts", "i8"),  # 0: none, for comparison
        ("estimator", "i8"),
        ("alpha", "f8"),  # trimmed on each side
        ("explored", "f8"),  # T(alpha, delta): pulls of an arm before its estimate may be used
        ("scale", "f8"),  # a radius is proportional to it: sigma / (1 - epsilon), or sigma
        ("delta", "f8"),
        ("threshold", "i8"),  # gap family: radii.THEORY or radii.EMPIRICAL
        ("log_constant", "f8"),  # gap family: log((K - 1) C / delta)
        ("power", "f8"),  # gap family: the paper's beta, exponent of t
        ("total", "f8"),  # gap family: pulls of all arms together before it may stop
        ("clock", "i8"),  # elimination family: ROUNDS or ALL_PULLS
        ("counted", "f8"),  # elimination family: the K of the radius
        ("uniform", "i8"),  # gap family: GUIDED, UNIFORM or UNIFORM_AT_ONCE
        ("seed", "u8"),  # for the last two
    ]
)
Rule = NDArray[np.void]  # of rule_dtype, or of evidence_dtype for the certified method; length 1


def new_rule(dtype: np.dtype[np.void] = rule_dtype, **settings: Any) -> Rule:
    """Return the settings of a method as a record; missing settings, and the last entries of a table, are 0.

    With BESTARM_SHORTCUTS=0 in the environment, kernels use no shortcut, and so take longer; results are the same.
    Rules travel with their trials: another thread or process runs them as the rule says.
    """
    rule = np.zeros(1, dtype)
    rule["shortcuts"] = os.environ.get("BESTARM_SHORTCUTS", "1") != "0"
    for name, value in settings.items():
        entry = np.asarray(value)
        index: Any = (0, *(slice(length) for length in entry.shape))
        rule[name][index] = entry
    return rule
