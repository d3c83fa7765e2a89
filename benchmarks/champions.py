"""Pulls of champions and of all pairs on clean normal rewards, against the number of arms.

`Compiled` is `bestarm.reference.Champions` for clean rewards under sigma, as a compiled policy for `simulate`: it takes
the arms in the order in which it asks for them. With the same seed the numbers are the same on every machine.
`python -m benchmarks.champions FILE.svg` draws the picture.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np
from numba import njit

from benchmarks.report import Section
from bestarm import Bandit, Gaussian, JittedPolicy, simulate
from bestarm.policies.policy import GO_ON, Question
from bestarm.reference.champions import champion_pulls
from bestarm.reference.clean import Clean
from bestarm.theory import lower_bound

GAP = 0.5
INSTANCES: tuple[tuple[str, Sequence[float]], ...] = (
    ("2 arms", (GAP, 0.0)),
    ("4 arms, equal gaps", (GAP, *[0.0] * 3)),
    ("4 arms, 2.5 1.5 1 0.6", (2.5, 1.5, 1.0, 0.6)),
    ("10 arms, equal gaps", (GAP, *[0.0] * 9)),
    ("10 arms, one close", (2.0, 1.5, *[0.0] * 8)),
    ("50 arms, equal gaps", (GAP, *[0.0] * 49)),
    ("50 arms, 2.5 and 2 to 0", (2.5, *np.linspace(2.0, 0.0, 49).tolist())),
)
SIZES = (2, 3, 4, 6, 10, 16, 25, 50)
DELTAS = (0.1, 0.01)
CAP = 20  # times the bound: exact ties may be left where the best arm was dropped, and they never end

N, CHAMPION, SECOND, ALIVE, MISSING, RESTARTS = range(6)  # the whole numbers of a state
SPREAD, ENOUGH, SIGMA = range(3)  # its other numbers


@njit(nogil=True)
def _choose(state, pending):  # type: ignore[no-untyped-def]
    whole, alive, told, size = state[0], state[1], state[2], state[9]
    champion = whole[CHAMPION]
    if told[champion] < size[whole[ALIVE]]:
        return champion
    for arm in range(alive.size):
        if alive[arm] and arm != champion and told[arm] == 0:
            return arm
    return champion


@njit(nogil=True)
def _log2(n):  # type: ignore[no-untyped-def]
    found = 0
    while n > 1:
        n //= 2
        found += 1
    return found


@njit(nogil=True)
def _observe(state, arm, reward):  # type: ignore[no-untyped-def]
    whole, alive, told, sums, totals, pulls, leads, locations, restarts, size, k, log_w, log_pi, numbers = state
    told[arm] += 1
    sums[arm] += reward / numbers[SIGMA]
    totals[arm] += reward / numbers[SIGMA]
    pulls[arm] += 1
    whole[MISSING] -= 1
    if whole[MISSING] > 0:
        return
    champion, second, r = whole[CHAMPION], whole[SECOND], size[whole[ALIVE]]
    for a in range(alive.size):
        if alive[a]:
            leads[a] += sums[second] - sums[champion] / r if a == champion else sums[champion] / r - sums[a]
    numbers[SPREAD] += 1.0 + 1.0 / r
    whole[N] += 1
    n = whole[N]
    if n % 2 ** max(0, _log2(n) - 5) == 0:
        for a in range(alive.size):
            if not alive[a] or whole[ALIVE] == 1:
                continue
            evidence = 0.0
            for i in range(whole[RESTARTS]):
                lead, over = leads[a] - restarts[i, a], numbers[SPREAD] - restarts[i, alive.size]
                for j in range(k.size):
                    evidence += math.exp(log_pi[i] + log_w[j] + k[j] * lead - k[j] ** 2 / 2.0 * over)
            if evidence >= numbers[ENOUGH]:
                alive[a] = False
                whole[ALIVE] -= 1
    if n & (n - 1) == 0 and alive.size > 2:
        restarts[whole[RESTARTS], :-1] = leads
        restarts[whole[RESTARTS], -1] = numbers[SPREAD]
        whole[RESTARTS] += 1
    renewed = n % 2 ** max(0, _log2(n) - 3) == 0
    if renewed:
        for a in range(alive.size):
            locations[a] = totals[a] / pulls[a]
    if renewed or not alive[champion] or not alive[second]:
        first, other = -1, -1
        for a in range(alive.size):
            if alive[a] and (first < 0 or locations[a] > locations[first]):
                first, other = a, first
            elif alive[a] and (other < 0 or locations[a] > locations[other]):
                other = a
        whole[CHAMPION], whole[SECOND] = first, other
    told[:] = 0
    sums[:] = 0.0
    whole[MISSING] = whole[ALIVE] - 1 + size[whole[ALIVE]]


@njit(nogil=True)
def _decision(state):  # type: ignore[no-untyped-def]
    whole, alive = state[0], state[1]
    if whole[ALIVE] > 1:
        return GO_ON
    for arm in range(alive.size):
        if alive[arm]:
            return arm
    return GO_ON


class Compiled(JittedPolicy):
    """`bestarm.reference.Champions` for clean rewards, for `simulate`."""

    name = "champions, compiled"
    verbs = (_choose, _observe, _decision)

    def __init__(self, question: Question) -> None:
        arms, bets = question.arms, Clean(0)
        size = np.array([champion_pulls(max(2, alive)) for alive in range(arms + 1)])
        first = 0.0 if arms == 2 else -math.log(2.0)
        log_pi = np.array([first, *(-math.log((i + 1) * (i + 2)) for i in range(1, 60))])
        self.state = (
            np.array([0, 0, 1, arms, arms - 1 + size[arms], 1]),
            np.ones(arms, np.bool_),
            np.zeros(arms, np.int64),
            *(np.zeros(arms) for _ in range(5)),
            np.zeros((60, arms + 1)),
            size,
            bets.k,
            bets.log_weights,
            log_pi,
            np.array([0.0, 1.0 / question.delta, question.sigma]),
        )

    def estimates(self) -> Sequence[float]:
        """Return the means."""
        sigma, totals, pulls = self.state[-1][SIGMA], self.state[4], self.state[5]
        return [float(sigma * total / max(count, 1.0)) for total, count in zip(totals, pulls, strict=True)]


def _times(means: Sequence[float], delta: float, method: str | type[Compiled], count: int) -> tuple[str, float, str]:
    """Return pulls over the information bound, in words and as a number; and trials that are wrong, and undecided."""
    bandit = Bandit([Gaussian(mean) for mean in means])
    bound = lower_bound(means, delta, kind="characteristic")
    trials = simulate(bandit, method, delta=delta, trials=count, seed=7, max_pulls=int(CAP * bound))
    times = float(trials.mean_pulls) / bound
    ended = f"{trials.wrong}, {int((trials.answers < 0).sum())}"
    return f"{times:.2f} ± {trials.pulls.std() / math.sqrt(count) / bound:.2f}", times, ended


def measure(quick: bool) -> Section:
    """Compare both on clean rewards."""
    count = 100 if quick else 1000
    section = Section("Champions and all pairs on clean rewards")
    section.notes.append(
        f"Pulls over the information bound, normal rewards, sigma = 1; {count:,} trials, {count // 5} with 50 arms, of "
        f"at most {CAP} times the bound. In brackets, trials that are wrong, and trials that are undecided by then."
    )
    rows = []
    for name, means in INSTANCES:
        found = [
            _times(means, delta, method, count // 5 if len(means) == 50 else count)
            for delta in DELTAS
            for method in ("certified", Compiled)
        ]
        rows.append((name, *(f"{words} ({ended})" for words, _, ended in found)))
    header = ("arms", *(f"{name}, {delta:g}" for delta in DELTAS for name in ("all pairs", "champions")))
    section.tables.append((header, rows))
    return section


def draw(path: str, count: int = 200) -> None:
    """Draw pulls against the number of arms, all gaps equal."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "bestarm", "font.size": 9})
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
    for axis, delta in zip(axes, DELTAS, strict=True):
        for method, name, colour in (("certified", "all pairs", "#cc3311"), (Compiled, "champions", "#0072b2")):
            times = [_times((GAP, *[0.0] * (size - 1)), delta, method, count)[1] for size in SIZES]
            axis.plot(SIZES, times, "o-", color=colour, label=name)
        axis.set(
            xscale="log", xlabel="arms, all gaps 0.5 sigma", ylabel="pulls over the information bound", ylim=(0, None)
        )
        axis.set_xticks(SIZES, [str(size) for size in SIZES])
        axis.minorticks_off()
        axis.set_title(f"δ = {delta:g}")
        axis.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    draw(sys.argv[1])
