"""The median baseline: successive elimination with sample medians."""

from __future__ import annotations

from bestarm.kernels.rule import MEDIAN
from bestarm.methods._base import ALPHA, EXPLORATION, Method, elimination_rule

METHOD = Method(
    name="median-se",
    summary="se-cbai with sample medians: finds the largest median, which may not be the largest mean",
    source="Altschuler, Brunel and Malek (2019), Best arm identification for contaminated bandits, as MTCD21 runs it",
    promise="symmetric rewards, whose median is their mean",
    options=(ALPHA, EXPLORATION),
    rule=lambda problem, options: elimination_rule(problem, options, epsilon=problem.epsilon, estimator=MEDIAN),
)
