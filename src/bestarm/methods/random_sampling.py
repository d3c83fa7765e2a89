"""The random baseline of the paper's experiments: uniform sampling with the stopping rule of Algorithm 1."""

from __future__ import annotations

from bestarm.methods._base import ALPHA, EXPLORATION, MTCD21, POWER, SEED, THRESHOLD, Method, gap_rule

METHOD = Method(
    name="random",
    summary="arms at random until the stopping rule of g-cbai holds",
    source=f"{MTCD21}, section Experiments, strategy (iii)",
    promise="an oblivious adversary that does not push all contaminated rewards to one side",
    options=(ALPHA, THRESHOLD, POWER, EXPLORATION, SEED),
    rule=lambda problem, options: gap_rule(problem, options, epsilon=problem.epsilon, uniform=True),
    random=True,
)
