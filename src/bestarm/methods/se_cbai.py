"""SE-CBAI: Algorithm 2 of the paper."""

from __future__ import annotations

from bestarm.methods._base import ALPHA, EXPLORATION, MTCD21, Method, elimination_rule

METHOD = Method(
    name="se-cbai",
    summary="successive elimination: pull all arms in rounds, drop those that fall behind (trimmed means)",
    source=f"{MTCD21}, Algorithm 2",
    promise="an oblivious adversary that does not push all contaminated rewards to one side",
    options=(ALPHA, EXPLORATION),
    rule=lambda problem, options: elimination_rule(problem, options, epsilon=problem.epsilon),
)
