"""G-CBAI: Algorithm 1 of the paper."""

from __future__ import annotations

from bestarm.methods._base import ALPHA, EXPLORATION, MTCD21, POWER, THRESHOLD, Method, gap_rule, trimmed_promise

METHOD = Method(
    name="g-cbai",
    summary="gap-based: pull leader or challenger until their intervals part (trimmed means)",
    source=f"{MTCD21}, Algorithm 1",
    promise=trimmed_promise,
    options=(ALPHA, THRESHOLD, POWER, EXPLORATION),
    rule=lambda problem, options: gap_rule(problem, options, epsilon=problem.epsilon),
    rank=1,
)
