"""The attack-free counterpart of SE-CBAI (experiments 6 and 9): sample means, as if epsilon were 0."""

from __future__ import annotations

from bestarm.methods._base import MTCD21, Method, elimination_rule

METHOD = Method(
    name="mean-se",
    summary="se-cbai with sample means, as if no reward were contaminated",
    source=f"{MTCD21}, Algorithm 2 at epsilon = 0",
    promise="no contamination at all",
    options=(),
    rule=lambda problem, options: elimination_rule(problem, options, epsilon=0.0),
)
