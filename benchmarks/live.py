"""What the live driver costs: a pair of ask and tell, and a reward of many told at once."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.report import Goal, Section
from bestarm import Identifier

# At epsilon = 0.1 the certified method would find out after some hundred rounds that more would not help.
METHODS: dict[str, dict[str, Any]] = {
    "certified": {"resolution": 1e-6, "epsilon": 0.001},
    "se-cbai": {"epsilon": 0.1},
    "g-cbai": {"epsilon": 0.1},
}
MICROSECONDS = {10: 10.0, 1000: 20.0}  # the goals, by number of arms
REWARDS_A_SECOND = 5e6


def finder(arms: int, method: str) -> Identifier:
    """A question that equal arms do not answer."""
    return Identifier(arms, delta=0.01, sigma=1.0, method=method, **METHODS[method])


def pair(arms: int, method: str, pairs: int, turns: int) -> float:
    """Return the microseconds of ask and tell, in the fastest of some turns one after the other."""
    identifier = finder(arms, method)
    rewards = np.random.default_rng(1).standard_normal(pairs).tolist()
    fastest = np.inf
    for _ in range(turns):
        begin = time.thread_time()
        for reward in rewards:
            identifier.tell(identifier.ask(), reward)
        fastest = min(fastest, time.thread_time() - begin)
    if identifier.done:
        raise RuntimeError("decided before the end: what is told afterwards costs less")
    return 1e6 * float(fastest) / pairs


def rate(arms: int, method: str, rewards: int, turns: int) -> float:
    """Return how many rewards a second are taken in when they come as arrays, arms in turn."""
    labels: Any = np.arange(rewards) % arms
    values = np.random.default_rng(2).standard_normal(rewards)
    finder(arms, method).tell_many(labels, values)  # the kernels are loaded
    fastest = np.inf
    for _ in range(turns):
        identifier = finder(arms, method)
        begin = time.thread_time()
        identifier.tell_many(labels, values)
        fastest = min(fastest, time.thread_time() - begin)
    return rewards / float(fastest)


def measure(quick: bool) -> Section:
    """Measure both for few and for many arms."""
    turns = 3 if quick else 7
    section = Section("The live driver")
    rows = []
    for arms, limit in MICROSECONDS.items():
        rewards = 1_000 * arms if arms > 100 else 100_000 * arms
        for method in METHODS:
            each, told = pair(arms, method, 3_000, turns), rate(arms, method, rewards, 3)
            rows.append((method, f"{arms:,}", f"{each:.1f}", f"{rewards // arms:,}", f"{told / 1e6:.1f}"))
            section.goals.append(Goal(f"ask and tell of {arms:,} arms by {method}", each, limit, "us"))
            name = f"rewards a second told at once, {arms:,} arms, {method}"
            section.goals.append(Goal(name, told / 1e6, REWARDS_A_SECOND / 1e6, "million", at_least=True))
    section.notes.append("Integer labels. Rewards told at once are given as arrays, arms in turn. Processor time.")
    header = ("method", "arms", "us a pair", "rewards an arm told at once", "million a second")
    section.tables.append((header, rows))
    return section
