"""UCB in SMPyBandits' own simulation loop, on clean Gaussian arms. JSON from stdin, JSON to the last line of stdout."""

from __future__ import annotations

import json
import sys
import time


def main() -> None:
    task = json.load(sys.stdin)
    from SMPyBandits.Arms import UnboundedGaussian  # type: ignore[import-not-found]
    from SMPyBandits.Environment import MAB  # type: ignore[import-not-found]
    from SMPyBandits.Environment.Evaluator import delayed_play  # type: ignore[import-not-found]
    from SMPyBandits.Policies import UCB  # type: ignore[import-not-found]

    bandit = MAB([UnboundedGaussian(mean, 1.0) for mean in task["means"]])
    policy = UCB(len(task["means"]))
    delayed_play(bandit, policy, 1000, seed=1, repeatId=1)  # from repetition 1 on it shows no bar
    begin = time.perf_counter()
    delayed_play(bandit, policy, task["pulls"], seed=2, repeatId=1)
    print(json.dumps({"seconds": time.perf_counter() - begin, "count": task["pulls"]}))


if __name__ == "__main__":
    main()
