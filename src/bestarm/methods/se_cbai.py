"""SE-CBAI: Algorithm 2 of the paper."""

from __future__ import annotations

from bestarm.methods._base import (
    ALPHA,
    EXPLORATION,
    MTCD21,
    RADIUS,
    RADIUS_ARMS,
    Method,
    elimination_rule,
    trimmed_promise,
)

METHOD = Method(
    name="se-cbai",
    summary="successive elimination: pull all arms in rounds, drop those that fall behind (trimmed means)",
    source=f"{MTCD21}, Algorithm 2",
    promise=trimmed_promise,
    options=(ALPHA, EXPLORATION, RADIUS, RADIUS_ARMS),
    rule=lambda problem, options: elimination_rule(problem, options, epsilon=problem.epsilon),
    rank=2,
)
