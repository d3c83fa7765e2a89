"""SE-CBAI over recorded rewards, with trimmed means kept in one of two usual ways. Imports nothing from bestarm.

A task comes as JSON on stdin and seconds, pulls and answers go as JSON to stdout. Drawing is no part of the time.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np


class Estimator(Protocol):
    def add(self, reward: float) -> None: ...

    def trimmed_mean(self) -> float: ...


class Resorted:
    """All rewards in an array, sorted again for each estimate."""

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha
        self.size = 0
        self.rewards = np.empty(1024)

    def add(self, reward: float) -> None:
        if self.size == self.rewards.size:
            self.rewards = np.concatenate([self.rewards, np.empty(self.size)])
        self.rewards[self.size] = reward
        self.size += 1

    def trimmed_mean(self) -> float:
        cut = int(self.alpha * self.size)
        return float(np.sort(self.rewards[: self.size])[cut : self.size - cut].mean())


class SortedSums:
    """All rewards in a SortedList, and the sums of the whole and of both ends that are cut off."""

    def __init__(self, alpha: float) -> None:
        from sortedcontainers import SortedList  # type: ignore[import-untyped]

        self.alpha = alpha
        self.rewards: Any = SortedList()
        self.cut = 0
        self.whole = self.low = self.high = 0.0

    def add(self, reward: float) -> None:
        rewards, cut = self.rewards, self.cut
        if cut:
            lowest, highest = rewards[cut - 1], rewards[-cut]  # the ends of what is cut off
            if reward < lowest:
                self.low += reward - lowest
            if reward > highest:
                self.high += reward - highest
        rewards.add(reward)
        self.whole += reward
        if int(self.alpha * len(rewards)) > cut:
            self.low += rewards[cut]
            self.high += rewards[-cut - 1]
            self.cut += 1

    def trimmed_mean(self) -> float:
        return float((self.whole - self.low - self.high) / (len(self.rewards) - 2 * self.cut))


ESTIMATORS: dict[str, Callable[[float], Estimator]] = {"resorted": Resorted, "sorted list": SortedSums}


def eliminate(
    rewards: list[float], arms: int, delta: float, epsilon: float, sigma: float, estimator: str
) -> tuple[int, int]:
    """Run Algorithm 2 on rewards in the order of its pulls; return the arm it names and the number of pulls."""
    alpha = epsilon / 2
    explored = 2 / alpha**2 * math.log(1 / delta)
    data = [ESTIMATORS[estimator](alpha) for _ in range(arms)]
    active = list(range(arms))
    source = iter(rewards)
    pulls = rounds = 0
    while len(active) > 1:
        rounds += 1
        for arm in active:
            data[arm].add(next(source))
        pulls += len(active)
        if rounds >= explored:
            means = {arm: data[arm].trimmed_mean() for arm in active}
            log_term = math.log(arms * rounds**2 * math.pi**2 / (12 * delta))
            radius = sigma / (1 - epsilon) * math.sqrt(2 / rounds * log_term)
            cut = max(means.values()) - 2 * radius
            active = [arm for arm in active if means[arm] >= cut]
    return active[0], pulls


def main() -> None:
    task = json.load(sys.stdin)
    with np.load(task["rewards"]) as stored:
        trials = [stored[name].tolist() for name in sorted(stored)]
    begin = time.perf_counter()
    found = [
        eliminate(trial, task["arms"], task["delta"], task["epsilon"], task["sigma"], task["estimator"])
        for trial in trials
    ]
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "count": sum(pulls for _, pulls in found), "outcome": found}))


if __name__ == "__main__":
    main()
