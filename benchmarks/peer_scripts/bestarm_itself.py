"""bestarm, measured as its peers are: JSON from stdin, JSON to stdout."""

from __future__ import annotations

import json
import random
import sys
import time
from typing import Any

from bestarm import Bandit, Gaussian, Identifier, paper_adversary, simulate


def bandit(task: dict[str, Any]) -> Bandit:
    """The arms of a task, with the paper's adversary if it has an epsilon above 0."""
    means, epsilon = task["means"], task["epsilon"]
    adversary = paper_adversary(means, epsilon, task["adversary"]) if epsilon > 0.0 else None
    return Bandit([Gaussian(mean) for mean in means], epsilon, adversary)


def trials(task: dict[str, Any]) -> dict[str, Any]:
    """Simulate; the first few trials are those that were recorded for the peers."""
    arms = bandit(task)
    simulate(arms, task["method"], delta=task["delta"], trials=2, seed=task["seed"])
    begin = time.perf_counter()
    found = simulate(arms, task["method"], delta=task["delta"], trials=task["trials"], seed=task["seed"])
    seconds = time.perf_counter() - begin
    first = list(zip(found.answers.tolist(), found.pulls.tolist(), strict=True))[: task["recorded"]]
    return {"seconds": seconds, "count": int(found.pulls.sum()), "outcome": first}


def pairs(task: dict[str, Any]) -> dict[str, Any]:
    """Ask and tell one reward at a time, by the default method."""
    noise = random.Random(1)
    rewards = [noise.gauss(0.0, 1.0) for _ in range(task["pairs"])]

    def run(count: int) -> float:
        finder = Identifier(task["arms"], delta=task["delta"], epsilon=task["epsilon"], sigma=1.0)
        begin = time.perf_counter()
        for reward in rewards[:count]:
            finder.tell(finder.ask(), reward)
        seconds = time.perf_counter() - begin
        if finder.done:
            raise RuntimeError("decided before the end: what is told afterwards costs less")
        return seconds

    run(100)
    return {"seconds": run(task["pairs"]), "count": task["pairs"]}


if __name__ == "__main__":
    given = json.load(sys.stdin)
    print(json.dumps({"trials": trials, "pairs": pairs}[given["measure"]](given)))
