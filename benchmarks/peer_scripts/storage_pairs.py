"""Pairs of ask and tell on a database by several processes: Optuna's or bestarm's. JSON from stdin, JSON to stdout.

The clock runs while all processes work: they are started, and have made a pair each, before.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import sys
import time
from collections.abc import Callable
from typing import Any


def optuna_pair(task: dict[str, Any], worker: int) -> Callable[[float], None]:
    """Optuna: random sampler, no logging."""
    import optuna  # type: ignore[import-not-found]

    optuna.logging.disable_default_handler()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    arms = list(range(task["arms"]))
    study = optuna.create_study(
        storage=task["url"],
        study_name=task["name"],
        sampler=optuna.samplers.RandomSampler(seed=worker),
        direction="maximize",
        load_if_exists=True,
    )

    def pair(reward: float) -> None:
        trial = study.ask()
        trial.suggest_categorical("arm", arms)
        study.tell(trial, reward)

    return pair


def bestarm_pair(task: dict[str, Any], worker: int) -> Callable[[float], None]:
    """bestarm: the default method, on a question that equal arms do not answer."""
    from bestarm import Study

    question: dict[str, Any] = {"delta": 0.01, "epsilon": 0.001, "sigma": 1.0, "resolution": 1e-6}
    study = Study(task["url"], task["name"], task["arms"], **question)

    def pair(reward: float) -> None:
        study.tell(study.ask_pulls(), reward)

    return pair


PAIRS = {"optuna": optuna_pair, "bestarm": bestarm_pair}


def work(task: dict[str, Any], worker: int, ready: Any, go: Any) -> None:
    """Make pairs when told to."""
    noise = random.Random(worker)
    pair = PAIRS[task["whose"]](task, worker)
    pair(noise.gauss(0.0, 1.0))
    ready.release()
    go.wait()
    for _ in range(task["pairs"]):
        pair(noise.gauss(0.0, 1.0))


def main() -> None:
    """Read a task, run it, write the seconds."""
    task = json.load(sys.stdin)
    PAIRS[task["whose"]](task, 0)  # makes the study
    context = multiprocessing.get_context("spawn")
    ready, go = context.Semaphore(0), context.Event()
    workers = [context.Process(target=work, args=(task, place, ready, go)) for place in range(task["processes"])]
    for worker in workers:
        worker.start()
    for _ in workers:
        ready.acquire()
    begin = time.perf_counter()
    go.set()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - begin
    if any(worker.exitcode for worker in workers):
        raise RuntimeError("a process failed")
    print(json.dumps({"seconds": seconds, "count": task["processes"] * task["pairs"]}))


if __name__ == "__main__":
    main()
