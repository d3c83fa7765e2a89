"""The paper's formulas as functions: bounds on the number of pulls, and on the bias that contamination can hide."""

from bestarm.theory.bounds import (
    characteristic_time,
    complexity,
    concentration_radius,
    elimination_radius,
    exploration_pulls,
    fixed_point,
    gap_radius,
    gaps,
    lower_bound,
    lower_bound_in_epsilon,
    minimal_bias,
    optimal_proportions,
    resilience_bound,
    uncertainty,
    upper_bound,
    upper_bound_in_epsilon,
)
from bestarm.theory.information_bound import contaminated_bound

__all__ = [
    "characteristic_time",
    "complexity",
    "concentration_radius",
    "contaminated_bound",
    "elimination_radius",
    "exploration_pulls",
    "fixed_point",
    "gap_radius",
    "gaps",
    "lower_bound",
    "lower_bound_in_epsilon",
    "minimal_bias",
    "optimal_proportions",
    "resilience_bound",
    "uncertainty",
    "upper_bound",
    "upper_bound_in_epsilon",
]
