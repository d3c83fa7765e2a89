"""The attack-free counterpart of SE-CBAI (experiments 6 and 9): sample means, by default as if epsilon were 0."""

from __future__ import annotations

from bestarm.methods._base import EXPLORATION_IF_SAME, MTCD21, PARAMETERS, Method, assumed_epsilon, elimination_rule

METHOD = Method(
    name="mean-se",
    summary="se-cbai with sample means, by default as if no reward were contaminated",
    source=f"{MTCD21}, Algorithm 2 at epsilon = 0",
    promise="no reward is replaced",
    options=(PARAMETERS, EXPLORATION_IF_SAME),
    rule=lambda problem, options: elimination_rule(problem, options, epsilon=assumed_epsilon(problem, options)),
    rank=5,
)
