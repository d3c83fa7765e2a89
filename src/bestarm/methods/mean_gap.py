"""The attack-free counterpart of G-CBAI (experiment 8): sample means, by default as if epsilon were 0."""

from __future__ import annotations

from bestarm.methods._base import (
    EXPLORATION_IF_SAME,
    MTCD21,
    PARAMETERS,
    POWER,
    THRESHOLD,
    Method,
    assumed_epsilon,
    gap_rule,
)

METHOD = Method(
    name="mean-gap",
    summary="g-cbai with sample means, by default as if no reward were contaminated",
    source=f"{MTCD21}, Algorithm 1 at epsilon = 0",
    promise="no reward is replaced",
    options=(THRESHOLD, POWER, PARAMETERS, EXPLORATION_IF_SAME),
    rule=lambda problem, options: gap_rule(problem, options, epsilon=assumed_epsilon(problem, options)),
    rank=6,
)
