"""The median baseline: successive elimination with sample medians."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestarm.kernels.rule import MEDIAN
from bestarm.methods._base import ALPHA, EXPLORATION, RADIUS, RADIUS_ARMS, Method, elimination_rule


def promise(options: Mapping[str, Any]) -> str:
    """Return what the error probability rests on: measured, not proved (docs/explanation/guarantees.md)."""
    if options["exploration"] == "none":  # the median of one reward is that reward
        return "rewards are normal and none is replaced"
    if options.get("radius") == "all-pulls":
        return "rewards are normal, none is replaced, and the radius is wide enough: nothing is known of it"
    return (
        "clean rewards are normal, each is replaced at random with probability at most epsilon, independently of all "
        "clean rewards and other replacements, the best mean leads every other by more than "
        "2 sigma Phi^-1(1 / (2 (1 - epsilon))), which is what replaced rewards can hide, epsilon is at most "
        "0.25, delta at most 0.2 and alpha at most epsilon / 2"
    )


METHOD = Method(
    name="median-se",
    summary="se-cbai with sample medians: finds the largest median, which may not be the largest mean",
    source="Altschuler, Brunel and Malek (2019), Best arm identification for contaminated bandits, as MTCD21 runs it",
    promise=promise,
    options=(ALPHA, EXPLORATION, RADIUS, RADIUS_ARMS),
    rule=lambda problem, options: elimination_rule(problem, options, epsilon=problem.epsilon, estimator=MEDIAN),
    rank=4,
)
