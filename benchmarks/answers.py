"""Answers beside those of usual tests, on the same logs with no, few and many bots.

`python -m benchmarks --only answers`. All get the same rows. A method names an arm with confidence if its tests against
all others pass at 5 %, with Bonferroni's correction; bestarm does if the command would end with exit code 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, cpu_count, delayed
from numpy.typing import NDArray
from scipy import stats

import bestarm as ba
from benchmarks.known_logs import bots
from benchmarks.report import Goal, Section
from bestarm.cli.output import exit_code

Groups = Mapping[str, NDArray[np.float64]]
SHARES = (0.0, 0.01, 0.09)
LEVEL = 0.05
TRIM = 0.1  # of each end
SIZES = (4_000, 8_000, 12_000)  # per arm, for the test without contamination
AGREEMENT = 0.03  # how far the exact test may be from the z-test


@dataclass(frozen=True)
class Task:
    """A log to ask about: its columns, its truth and the bounds of its rewards."""

    name: str
    arm: str
    reward: str
    best: str
    bounds: tuple[float, float]
    make: Callable[[np.random.Generator, float], pd.DataFrame]

    def groups(self, frame: pd.DataFrame) -> Groups:
        """Return the rewards of each arm."""
        return {str(arm): part.to_numpy(float) for arm, part in frame.groupby(self.arm)[self.reward]}


def clicks(random: np.random.Generator, share: float) -> pd.DataFrame:
    """33,000 clicks on three banners; a share is by bots that click a worse one."""
    return bots(random, 33_000, share == 0.0, share)


def stars(random: np.random.Generator, share: float) -> pd.DataFrame:
    """12,000 ratings of three captions; a share is by bots that give five stars to a worse one."""
    number, fakes = 12_000, round(12_000 * share)
    which = random.integers(0, 3, number - fakes)
    given = 1 + random.binomial(4, np.array([0.55, 0.50, 0.45])[which])
    raters = random.integers(0, (number - fakes) // 3, number - fakes)
    robots = 1_000_000 + np.arange(fakes) % max(fakes // 40, 1)
    frame = pd.DataFrame(
        {
            "rater": np.append(raters, robots),
            "caption": np.append(np.array(["A", "B", "C"])[which], np.full(fakes, "B")),
            "stars": np.append(given, np.full(fakes, 5)),
        }
    )
    return frame.sample(frac=1.0, random_state=int(random.integers(2**31))).reset_index(drop=True)


TASKS = (
    Task("clicks", "banner", "clicked", "summer", (0.0, 1.0), clicks),
    Task("stars", "caption", "stars", "A", (1.0, 5.0), stars),
)


# --------------------------------------------------------------------------------------------------------- usual tests


def by_tests(groups: Groups, mean: Callable[[NDArray[np.float64]], float], p_value: Callable[..., float]) -> str | None:
    """Return the arm with the highest mean if it beats each other arm at the level, corrected for their number."""
    best = max(groups, key=lambda arm: mean(groups[arm]))
    others = [rewards for arm, rewards in groups.items() if arm != best]
    return best if all(p_value(groups[best], rewards) < LEVEL / len(others) for rewards in others) else None


def welch(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    """Return Welch's p-value that the first mean is not the larger."""
    return float(stats.ttest_ind(one, two, equal_var=False, alternative="greater").pvalue)


def proportions(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    """Return the p-value of the z-test of two proportions, pooled."""
    pooled = (one.sum() + two.sum()) / (one.size + two.size)
    error = math.sqrt(pooled * (1.0 - pooled) * (1.0 / one.size + 1.0 / two.size))
    return float(stats.norm.sf((one.mean() - two.mean()) / error)) if error > 0.0 else 1.0


def yuen(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    """Return the p-value of Yuen's test: Welch's with trimmed means. Without scatter it says nothing: 1."""
    with np.errstate(all="ignore"):
        found = float(stats.ttest_ind(one, two, equal_var=False, trim=TRIM, alternative="greater").pvalue)
    return 1.0 if math.isnan(found) else found


def trimmed(rewards: NDArray[np.float64]) -> float:
    """Return SciPy's trimmed mean."""
    return float(stats.trim_mean(rewards, TRIM))


# ------------------------------------------------------------------------------------------------------------ the race


def verdicts(task: Task, share: float, seed: int) -> dict[str, str]:
    """Return what each method says of one log: "right", "wrong", "doubted" or "nobody"."""
    frame = task.make(np.random.default_rng([seed, int(1000 * share)]), share)
    groups = task.groups(frame)
    named = {
        "Welch's test": by_tests(groups, np.mean, welch),
        "trimmed means": by_tests(groups, trimmed, yuen),
    }
    if task.bounds == (0.0, 1.0):
        named["z-test of proportions"] = by_tests(groups, np.mean, proportions)
    found = {name: _worth(best, task.best) for name, best in named.items()}
    question: dict[str, Any] = {"arm": task.arm, "reward": task.reward, "bounds": task.bounds}
    for name, epsilon in (("bestarm", None), ("bestarm, epsilon at the truth", share)):
        result = ba.identify_log(frame, **question, epsilon=epsilon)
        code = exit_code(result)
        found[name] = "doubted" if code == 4 else _worth(None if code else str(result.best), task.best)
    return found


def _worth(best: str | None, truth: str) -> str:
    return "nobody" if best is None else "right" if best == truth else "wrong"


def measure(quick: bool) -> Section:
    """Count right and wrong answers of all methods, and compare the exact test with the z-test."""
    seeds = 10 if quick else 100
    section = Section("Answers beside usual tests")
    section.notes.append(
        f"{seeds} seeds. Three arms; bots vote for a worse one. Right and wrong: named with confidence. Welch's test, "
        f"the z-test and trimmed means ({TRIM:.0%} at each end, Yuen's test) are SciPy's, with Bonferroni's "
        "correction; bestarm is `identify_log`, right and wrong with exit code 0, doubted with 4. `epsilon at the "
        "truth` is told the share of bots."
    )
    rows = []
    for task in TASKS:
        for share in SHARES:
            jobs = (delayed(verdicts)(task, share, seed) for seed in range(seeds))
            each = Parallel(n_jobs=cpu_count())(jobs)
            for method in each[0]:
                counts = Counter(said[method] for said in each)
                kinds = ("right", "wrong", "doubted", "nobody")
                cells = [f"{counts[kind] / seeds:.2f}" for kind in kinds]
                rows.append((f"{task.name}, {share:.0%} bots", method, *cells))
                if method.startswith("bestarm") and not quick:
                    name = f"wrong with exit code 0, {task.name}, {share:.0%} bots, {method}"
                    section.goals.append(Goal(name, counts["wrong"] / seeds, LEVEL))
    section.tables.append((("log", "method", "right", "wrong", "doubted", "nobody"), rows))
    _beside_z(section, 50 if quick else 1000, is_goal=not quick)
    return section


def _beside_z(section: Section, seeds: int, *, is_goal: bool) -> None:
    """Compare the exact test with the z-test on 0/1 rewards without fakes."""
    section.notes.append(
        f"The second table: rewards 0 and 1 with means .06 and .05, no fakes, {seeds:,} seeds: how often the better "
        "arm is named, and how often even 20 fakes would not change that; the z-test does not know of fakes."
    )
    rows = []
    for number in SIZES:
        random = np.random.default_rng(number)
        hits = random.binomial(number, (0.06, 0.05), (seeds, 2))
        jobs = (delayed(_both)(pair, number) for pair in hits)
        found = np.array(Parallel(n_jobs=cpu_count())(jobs))
        z, exact, survives = found.mean(axis=0)
        rows.append((f"{number:,}", f"{z:.3f}", f"{exact:.3f}", f"{survives:.3f}"))
        if is_goal:
            section.goals.append(
                Goal(f"power of the exact test below the z-test's, {number:,} per arm", z - exact, AGREEMENT)
            )
    section.tables.append((("rewards per arm", "z-test", "bestarm", "bestarm, survives 20"), rows))


def _both(hits: Sequence[int], number: int) -> tuple[bool, bool, bool]:
    """Return whether the z-test, bestarm, and bestarm with 20 fakes name the first of two arms."""
    groups = {arm: np.repeat((1.0, 0.0), (won, number - won)) for arm, won in zip("ba", map(int, hits), strict=True)}
    counts = [count for won in map(int, hits) for count in (won, number - won)]
    table = pd.DataFrame({"arm": ["b", "b", "a", "a"], "reward": [1, 0, 1, 0], "count": counts})
    result = ba.identify_log(table, arm="arm", reward="reward", counted="count", bounds=(0, 1))
    named = result.best == "b"
    return by_tests(groups, np.mean, proportions) == "b", named, named and (result.overturn or 0) >= 20
