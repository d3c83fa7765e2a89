"""Trials whose mean pulls and errors are known, on a grid of delta, for the tests of verdicts."""

from __future__ import annotations

import numpy as np

from bestarm.paper.comparisons import GridPoint
from bestarm.simulation import Trials

DELTAS = (0.2, 0.1, 0.05, 0.02, 0.01)


def trials(
    mean: float = 1000.0, n: int = 1000, *, spread: float = 100.0, wrong: int = 0, undecided: int = 0, seed: int = 0
) -> Trials:
    pulls = np.maximum(np.random.default_rng(seed).normal(mean, spread, n), 1.0).astype(np.int64)
    statuses = np.array(["undecided"] * undecided + ["identified"] * (n - undecided))
    answers = np.where(statuses == "undecided", -1, 0)
    correct = answers == 0
    correct[n - wrong :] = False
    return Trials(pulls, answers, correct, np.column_stack([pulls // 2, pulls - pulls // 2]), statuses)


def place(delta: float = 0.1, epsilon: float = 0.1, **curves: Trials) -> GridPoint:
    return GridPoint(delta, epsilon, curves, {"T": 400.0, "bound": 1000.0, "lower_bound": 100.0, "small": 1.0})


def grid(first: list[Trials], second: list[Trials] | None = None) -> list[GridPoint]:
    pairs = zip(DELTAS, first, second or first, strict=False)
    return [place(delta, a=a, b=b) for delta, a, b in pairs]


def many(mean: float, n: int = 1000, *, first_seed: int = 0, **more: int) -> list[Trials]:
    return [trials(mean, n, seed=first_seed + number, **more) for number in range(5)]
