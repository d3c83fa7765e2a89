"""The random baseline of the paper's experiments: uniform sampling with the stopping rule of Algorithm 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestarm.kernels.rule import UNIFORM, UNIFORM_AT_ONCE, Rule
from bestarm.methods._base import (
    ALPHA,
    EXPLORATION,
    FLOOR,
    MTCD21,
    POWER,
    SEED,
    THRESHOLD,
    Method,
    gap_rule,
    trimmed_promise,
)
from bestarm.problem import Problem


def random_rule(problem: Problem, options: Mapping[str, Any]) -> Rule:
    """Return the settings of the kernel."""
    uniform = UNIFORM_AT_ONCE if options["floor"] == "total" else UNIFORM
    return gap_rule(problem, options, epsilon=problem.epsilon, uniform=uniform)


METHOD = Method(
    name="random",
    summary="arms at random until the stopping rule of g-cbai holds",
    source=f"{MTCD21}, section Experiments, strategy (iii)",
    promise=trimmed_promise,
    options=(ALPHA, THRESHOLD, POWER, EXPLORATION, FLOOR, SEED),
    rule=random_rule,
    random=True,
    rank=3,
)
