"""Alarms of a live experiment: what its rewards, or the opening rewards of its sources, say against the question.

Section 8 of docs/explanation/certified.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestarm.identification.robustness import ToldRewards, alarms
from bestarm.identification.sources import Sources
from bestarm.identification.tail_alarm import tails_of
from bestarm.kernels.rule import Rule
from bestarm.kernels.state.state import State
from bestarm.problem import Problem


def live_alarms(
    problem: Problem,
    options: Mapping[str, Any],
    state: State,
    rule: Rule,
    rewards: ToldRewards,
    sources: Sources | None,
) -> tuple[str, ...]:
    """Return a sentence for each arm whose rewards contradict epsilon or sigma."""
    if sources is not None:
        tails = tails_of(problem, sources.opening_rewards(), sources.silent_openings())
        return alarms(problem, options["contamination"], state, rule, tails, sources.count)
    told = state.samples.arms["told"]  # the rest of a batch comes after the decision
    tapes = [tape[:used] for tape, used in zip(rewards.tapes(problem.size), told, strict=True)]
    return alarms(problem, options["contamination"], state, rule, tails_of(problem, tapes))
