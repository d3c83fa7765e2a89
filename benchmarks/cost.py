"""What a simulated pull costs beside drawing its reward alone, and where the rest goes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Goal, Section, significant
from benchmarks.timing import fastest
from bestarm import Bandit, Bernoulli, Beta, Gaussian, adversaries, paper_adversary, simulate
from bestarm.kernels.rewards.draws import Laws
from bestarm.kernels.trials.trial import draw_only
from bestarm.simulation import Trials
from bestarm.theory.bounds import exploration_pulls

MEANS = [2.5, 2.3, 2.0, 0.6]
EPSILON = DELTA = 0.1
RATIO = 3.0  # the goal
NANOSECONDS, NANOSECONDS_BOUNDED = 150.0, 40.0  # the goals of the certified method

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "se-cbai": ("se-cbai", {}),
    "median-se": ("median-se", {}),
    "g-cbai, theory": ("g-cbai", {}),
    "g-cbai, empirical": ("g-cbai", {"threshold": "empirical"}),
    "random": ("random", {}),
    "certified": ("certified", {}),
    "mean-se": ("mean-se", {}),
    "mean-gap": ("mean-gap", {}),
}
WITHOUT_GOAL = ("mean-se", "mean-gap")
STAGES = {"se-cbai": "mean-se", "g-cbai": "mean-gap"}  # and the method that decides alike, on plain means
LONG = 20_000  # pulls after the exploration


def bandit() -> Bandit:
    """The arms and the adversary of the paper's first experiment."""
    return Bandit([Gaussian(mean) for mean in MEANS], EPSILON, paper_adversary(MEANS, EPSILON, 1))


def tie(arms: int) -> Bandit:
    """Arms that are all alike, so that no method comes to an end soon."""
    return Bandit([Gaussian(1.0)] * arms, EPSILON, adversaries.Uniform(0.0, 1.0))


def drawing(laws: Laws, order: NDArray[np.int64]) -> Callable[[], float]:
    """Return what draws the rewards of arms in an order and does nothing else with them."""
    draw_only(laws, np.random.default_rng(1), order[:10])
    return lambda: draw_only(laws, np.random.default_rng(1), order)


def same_shares(trials: Trials) -> NDArray[np.int64]:
    """Return the arms that some trials pulled, in a random order."""
    order = np.repeat(np.arange(trials.arm_pulls.shape[1]), trials.arm_pulls.sum(axis=0))
    np.random.default_rng(0).shuffle(order)
    return order


def measure(quick: bool) -> Section:
    """Measure each method on the paper's first instance, then the stages of a pull."""
    trials, repeats = (100, 3) if quick else (400, 7)
    arms = bandit()
    laws = arms.laws()
    section = Section("Cost of a pull")
    actions: list[Callable[[], object]] = []
    counts = []
    for method, options in CASES.values():

        def run(method: str = method, options: dict[str, Any] = options) -> Trials:
            return simulate(arms, method, delta=DELTA, trials=trials, seed=1, chunk=trials, **options)

        outcome = run()
        counts.append(int(outcome.pulls.sum()))
        actions += [run, drawing(laws, same_shares(outcome))]
    # All methods take turns: what disturbs for some seconds then spoils one turn of each, and not all turns of one.
    seconds = fastest(actions, repeats)
    rows, pulls_ns, draws_ns = [], [], []
    for name, pulls, whole, alone in zip(CASES, counts, seconds[::2], seconds[1::2], strict=True):
        pulls_ns.append(1e9 * whole / pulls)
        draws_ns.append(1e9 * alone / pulls)
        ratio = whole / alone
        rows.append((name, f"{pulls / trials:,.0f}", f"{pulls_ns[-1]:.1f}", f"{draws_ns[-1]:.1f}", f"{ratio:.2f}"))
        if name == "certified":
            section.goals.append(Goal("a pull by certified", pulls_ns[-1], NANOSECONDS, "ns"))
        elif name not in WITHOUT_GOAL:
            section.goals.append(Goal(f"a pull by {name}, in draws", ratio, RATIO))
    section.notes.append(
        f"K = 4 Gaussian arms, means {', '.join(map(str, MEANS))}, sigma = 1, the paper's adversary, "
        f"eps = delta = 0.1; {trials} trials in one compiled call, fastest of {repeats}, processor time of one thread. "
        "A draw is that of a contaminated reward, the arms in the same shares."
    )
    section.tables.append((("method", "pulls a trial", "ns a pull", "ns a draw", "ratio"), rows))
    section.series["cost"] = {"pull": pulls_ns, "draw": draws_ns}
    _stages(section, trials // 4, repeats)
    _with_bounds(section, repeats)
    return section


def _with_bounds(section: Section, repeats: int) -> None:
    """Measure the certified method on rewards with bounds, in short runs and long ones, and in short runs of others."""
    zero_one = adversaries.Point([0.0, 1.0, 1.0, 1.0])
    near = [Bernoulli(mean) for mean in (0.6, 0.55, 0.5, 0.3)]
    wide = [Gaussian(mean) for mean in (2.5, 1.5, 1.0, 0.6)]
    fakes = adversaries.Uniform([1.25, 0.75, 0.5, 0.3])
    unit: dict[str, Any] = {"bounds": (0.0, 1.0)}
    endless = {"max_pulls": 10**6, "resolution": 1e-9}
    cases: list[tuple[str, Bandit, int, dict[str, Any]]] = [
        ("Bernoulli .6 .55 .5 .3, eps = 0", Bandit(near), 200, unit),
        ("Bernoulli .6 .55 .5 .3, eps = 0.01", Bandit(near, 0.01, zero_one), 100, unit),
        ("Bernoulli, equal arms, eps = 0.001", Bandit([Bernoulli(0.5)] * 4, 0.001, zero_one), 1, unit | endless),
        ("Beta, equal arms, eps = 0.001", Bandit([Beta(5.0, 5.0)] * 4, 0.001, zero_one), 1, unit | endless),
        ("Gaussian 2.5 1.5 1 .6, eps = 0.1", Bandit(wide, 0.1, fakes), 1000, {}),
        ("Gaussian 2.5 1.5 1 .6, eps = 0", Bandit(wide), 1000, {}),
    ]
    actions, pulls = [], []
    for _, arms, trials, options in cases:

        def run(arms: Bandit = arms, trials: int = trials, options: dict[str, Any] = options) -> Trials:
            return simulate(arms, "certified", delta=DELTA, trials=trials, seed=1, chunk=trials, **options)

        pulls.append(run().pulls)
        actions.append(run)
    rows = []
    for (name, *_), told, seconds in zip(cases, pulls, fastest(actions, repeats), strict=True):
        each = 1e9 * seconds / told.sum()
        rows.append((name, f"{told.mean():,.0f}", f"{each:.1f}"))
        if name.startswith("Bernoulli"):
            section.goals.append(Goal(f"a pull by certified, {name}", each, NANOSECONDS_BOUNDED, "ns"))
    section.notes.append("The third table: the certified method on rewards with bounds, and on short runs.")
    section.tables.append((("K = 4 arms", "pulls a trial", "ns a pull"), rows))


def _stages(section: Section, trials: int, repeats: int) -> None:
    """Measure a pull of two equal arms by stages: caps on the pulls end a trial before or after each of them."""
    arms = tie(2)
    laws = arms.laws()
    explored = math.ceil(exploration_pulls(EPSILON / 2.0, DELTA))
    raw, divided, late = 2 * (explored - 1), 2 * explored, 2 * explored + LONG
    rows = []
    order = np.arange(raw * trials) & 1

    def run(name: str, cap: int) -> Callable[[], Trials]:
        return lambda: simulate(arms, name, delta=DELTA, trials=trials, seed=1, chunk=trials, max_pulls=cap)

    for method, plain in STAGES.items():
        actions = [run(method, raw), run(method, divided), run(method, late), run(plain, LONG), drawing(laws, order)]
        for action in actions[:-1]:
            action()  # compiled and in the cache
        first, second, third, fourth, draw = (1e9 * time / trials for time in fastest(actions, repeats))
        draw /= raw
        store = first / raw - draw
        divide = (second - first) / raw
        after = (third - second) / (late - divided) - draw
        decide = fourth / LONG - draw
        rows.append((method, *(significant(max(value, 0.0)) for value in (draw, store, divide, after, decide))))
    section.notes.append(
        f"The second table is for two equal arms: until T = {explored:,} rewards each (draw, store), the division of "
        f"them all at T, and {LONG:,} pulls thereafter. The last column is the same method on plain means, which keeps "
        "no order statistics: what deciding costs. Nanoseconds a pull."
    )
    header = ("method", "draw", "store, up to T", "divide, at T", "insert and decide, after T", "of which decide")
    section.tables.append((header, rows))
