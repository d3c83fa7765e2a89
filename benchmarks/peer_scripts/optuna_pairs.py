"""Optuna's ask and tell, one pair a reward: in memory, random sampler, no logging. JSON from stdin, JSON to stdout."""

from __future__ import annotations

import json
import random
import sys
import time


def main() -> None:
    task = json.load(sys.stdin)
    import optuna  # type: ignore[import-not-found]

    optuna.logging.disable_default_handler()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    noise = random.Random(1)
    rewards = [noise.gauss(0.0, 1.0) for _ in range(task["pairs"])]
    arms = list(range(task["arms"]))

    def run(count: int) -> float:
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1), direction="maximize")
        begin = time.perf_counter()
        for reward in rewards[:count]:
            trial = study.ask()
            trial.suggest_categorical("arm", arms)
            study.tell(trial, reward)
        return time.perf_counter() - begin

    run(100)
    print(json.dumps({"seconds": run(task["pairs"]), "count": task["pairs"]}))


if __name__ == "__main__":
    main()
