"""The attack-free counterpart of G-CBAI (experiment 8): sample means, as if epsilon were 0."""

from __future__ import annotations

from bestarm.methods._base import MTCD21, POWER, THRESHOLD, Method, gap_rule

METHOD = Method(
    name="mean-gap",
    summary="g-cbai with sample means, as if no reward were contaminated",
    source=f"{MTCD21}, Algorithm 1 at epsilon = 0",
    promise="no contamination at all",
    options=(THRESHOLD, POWER),
    rule=lambda problem, options: gap_rule(problem, options, epsilon=0.0),
)
