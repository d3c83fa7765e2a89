"""Runs of the executable specification, `bestarm.reference`, one pull at a time, without a driver of the package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bestarm.policies.policy import Question
from bestarm.reference import GCBAI, SECBAI, Certified, MeanGap, MeanSE, MedianSE, Random
from bestarm.reference.certified import Limit

POLICIES: dict[str, Any] = {
    "g-cbai": GCBAI,
    "se-cbai": SECBAI,
    "random": Random,
    "median-se": MedianSE,
    "mean-se": MeanSE,
    "mean-gap": MeanGap,
    "certified": Certified,
}


@dataclass
class Trajectory:
    """What a run did: the arm of every pull in order, the arm it named (-1: `max_pulls` came first), and tau."""

    arms: list[int]
    answer: int
    pulls: int


def follow(policy: Any, pull: Callable[[int], float], K: int, max_pulls: float) -> tuple[list[int], int | None]:
    """Pull until the policy decides, or up to a cap: the arms pulled, and the decision."""
    arms: list[int] = []
    none = np.zeros(K, np.int64)
    decision = None
    while decision is None and len(arms) < max_pulls:
        arms.append(policy.choose(none))
        policy.observe(arms[-1], pull(arms[-1]))
        decision = policy.decision()
    return arms, decision


def run(
    method: str,
    pull: Callable[[int], float],
    K: int,
    *,
    delta: float,
    epsilon: float,
    sigma: float,
    seed: int = 0,
    max_pulls: int | None = None,
    **options: Any,
) -> Trajectory:
    """Run one of the paper's methods until it stops.

    >>> run("mean-se", lambda arm: [0.0, 10.0, 0.0][arm], 3, delta=0.1, epsilon=0.0, sigma=1.0)
    Trajectory(arms=[0, 1, 2], answer=1, pulls=3)
    """
    policy = POLICIES[method](Question(K, delta, epsilon, sigma, seed=seed), **options)
    arms, decision = follow(policy, pull, K, float("inf") if max_pulls is None else max_pulls)
    return Trajectory(arms, -1 if decision is None else decision, len(arms))


@dataclass
class CertifiedTrajectory:
    """What a run did: the arm of every pull in order, and what it found."""

    arms: list[int]
    status: Literal["identified", "indistinguishable", "undecided"]
    answer: int | None  # None unless identified
    candidates: list[int]  # survivors
    pulls: int
    limit: Limit | None


def run_certified(
    pull: Callable[[int], float],
    arms: int,
    *,
    delta: float,
    epsilon: float,
    sigma: float | None = None,
    bounds: tuple[float, float] | None = None,
    max_pulls: int = 100_000,
    **options: Any,
) -> CertifiedTrajectory:
    """Run until an arm is named, or a limit is met, or `max_pulls` is reached.

    >>> run = run_certified(lambda arm: [0.0, 10.0, 0.0][arm], 3, delta=0.1, epsilon=0.0, sigma=1.0)
    >>> run.arms, run.status, run.answer, run.candidates
    ([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2], 'identified', 1, [1])
    """
    if bounds is not None:
        sigma = (bounds[1] - bounds[0]) / 2.0
    assert sigma is not None
    policy = Certified(Question(arms, delta, epsilon, sigma, bounds), **options)
    pulled, decision = follow(policy, pull, arms, max_pulls)
    status: Any = "undecided" if decision is None else "indistinguishable" if decision < 0 else "identified"
    answer = decision if status == "identified" else None
    return CertifiedTrajectory(pulled, status, answer, policy.rounds.survivors, len(pulled), policy.limit)
