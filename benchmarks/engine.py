"""What a simulated pull costs, beside drawing its reward alone: `make bench`.

Ratios are taken within one run, from the fastest of several alternating measurements, as machines are noisy. Nothing
here is asserted; the table is the result.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestarm import Bandit, Gaussian, paper_adversary, simulate
from bestarm.kernels.trial import draw_only
from bestarm.simulation import Trials

MEANS = [2.5, 2.3, 2.0, 0.6]
EPSILON = DELTA = 0.1

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "se-cbai": ("se-cbai", {}),
    "g-cbai, theory": ("g-cbai", {}),
    "g-cbai, empirical": ("g-cbai", {"threshold": "empirical"}),
    "random": ("random", {}),
    "median-se": ("median-se", {}),
    "mean-se": ("mean-se", {}),
    "mean-gap": ("mean-gap", {}),
}


@dataclass
class Cost:
    pulls: int
    pull: float  # nanoseconds
    draw: float

    @property
    def ratio(self) -> float:
        return self.pull / self.draw


def bandit() -> Bandit:
    return Bandit([Gaussian(mean) for mean in MEANS], EPSILON, paper_adversary(MEANS, EPSILON, 1))


def measure(method: str, options: dict[str, Any], trials: int, repeats: int) -> Cost:
    arms = bandit()
    laws = arms.laws()

    def run() -> Trials:
        return simulate(arms, method, delta=DELTA, trials=trials, seed=1, **options)

    outcome = run()
    pulls = int(outcome.pulls.sum())
    order = np.repeat(np.arange(len(MEANS)), outcome.arm_pulls.sum(axis=0))
    np.random.default_rng(0).shuffle(order)
    draw_only(laws, np.random.default_rng(1), order[:10])
    whole, alone = [], []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        middle = time.perf_counter()
        draw_only(laws, np.random.default_rng(1), order)
        whole.append(middle - begin)
        alone.append(time.perf_counter() - middle)
    return Cost(pulls, 1e9 * min(whole) / pulls, 1e9 * min(alone) / pulls)


def start_up() -> list[tuple[str, float]]:
    """Seconds of a few commands in a new process, the kernels compiled before."""
    commands = {
        "bestarm --help": ["--help"],
        "bestarm simulate, 1 trial": ["simulate", "--means", "2.5,1", "--trials", "1"],
    }
    rows = []
    for name, arguments in commands.items():
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-m", "bestarm", *arguments], check=True, capture_output=True)
        rows.append((name, time.perf_counter() - begin))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    chosen = parser.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}, one core; K = 4 Gaussian, eps = delta = 0.1")
    print(f"{'method':<20}{'pulls a trial':>14}{'ns a pull':>11}{'ns a draw':>11}{'ratio':>8}")
    for name, (method, options) in CASES.items():
        cost = measure(method, options, chosen.trials, chosen.repeats)
        each = cost.pulls / chosen.trials
        print(f"{name:<20}{each:>14,.0f}{cost.pull:>11.1f}{cost.draw:>11.1f}{cost.ratio:>8.2f}", flush=True)
    print()
    begin = time.perf_counter()
    hardest = simulate(bandit(), "se-cbai", delta=0.01, trials=1000, seed=2)
    print(
        f"1000 trials of experiment 1's hardest point (se-cbai, delta = 0.01): {time.perf_counter() - begin:.2f} s, "
        f"{hardest.mean_pulls:,.0f} pulls each"
    )
    for name, seconds in start_up():
        print(f"{name}: {seconds:.2f} s")


if __name__ == "__main__":
    main()
