"""How many rewards the certified method needs, beside what any method must have.

Unlike the other parts this one measures no time: with the same seed its numbers are the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.report import Goal, Section
from bestarm import Bandit, Bernoulli, Beta, Gaussian, adversaries, simulate
from bestarm.bandits.attacks import ATTACKS
from bestarm.simulation import Trials
from bestarm.theory.bounds import contaminated_bound

MEANS = (2.5, 1.5, 1.0, 0.6)
NAMED = 0.95  # of the trials at least
FROM_BOUND = 2.5  # times the bound at delta = 0.01 is the goal
NO_LAW = ("boiling-frog", "extremes", "white-box", "coin-on-best")  # the bound is for contamination by a fixed law


@dataclass(frozen=True)
class Case:
    """A kind of contamination, its rate, the attack, and the pulls at delta = 0.1 that are the goal."""

    contamination: str
    epsilon: float
    attack: str
    goal: float


CASES = (
    Case("prescient", 0.0, "none", 60),
    Case("prescient", 0.05, "benign", 120),
    Case("prescient", 0.05, "one-sided-gross", 95),
    Case("prescient", 0.05, "hidden", 170),
    Case("prescient", 0.1, "benign", 216),
    Case("prescient", 0.1, "one-sided-gross", 124),
    Case("prescient", 0.1, "hidden", 840),
    Case("prescient", 0.1, "mirror", 900),
    Case("prescient", 0.1, "boiling-frog", 330),
    Case("prescient", 0.1, "extremes", 850),
    Case("prescient", 0.1, "white-box", 2800),
    Case("share-of-arm", 0.05, "quota-uniform", 235),
    Case("share-of-arm", 0.05, "quota-gross", 145),
    Case("share-of-arm", 0.05, "quota-hidden", 435),
    Case("malicious", 0.05, "benign", 220),
    Case("malicious", 0.05, "hidden", 430),
    Case("malicious", 0.05, "coin-on-best", 2750),
)

# Rewards with bounds, delta = 0.05: fakes are 0 on the best arm and 1 on all others. The goal is 5 % above the pulls of
# the prototype that the method was designed after.
BOUNDED: tuple[tuple[str, Sequence[float], float, float], ...] = (
    ("Bernoulli", (0.06, 0.05), 0.0, 20_932),
    ("Bernoulli", (0.02, 0.01), 0.0, 6_201),
    ("Bernoulli", (0.8, 0.75, 0.70, 0.66, 0.6, 0.5), 0.0, 4_856),
    ("Bernoulli", (0.5, 0.3), 0.02, 361),
    ("Bernoulli", (0.5, 0.3), 0.05, 1_170),
    ("Bernoulli", (0.86, 0.74, 0.7, 0.66, 0.6, 0.5), 0.02, 2_154),
    ("Beta", (0.6, 0.5), 0.0, 90),
    ("Beta", (0.62, 0.5), 0.05, 2_417),
)


def _bandit(case: Case) -> Bandit:
    arms = [Gaussian(mean) for mean in MEANS]
    if case.epsilon == 0.0:
        return Bandit(arms)
    return Bandit(arms, case.epsilon, ATTACKS[case.attack][1](arms, case.epsilon))


def _bound(case: Case, delta: float) -> float:
    """Return the least pulls of any method, for the sub-Gaussian class; nan where contamination is no fixed law."""
    if case.attack in NO_LAW or case.contamination != "prescient":
        return math.nan
    arms = [Gaussian(mean) for mean in MEANS]
    adversary = None if case.epsilon == 0.0 else ATTACKS[case.attack][1](arms, case.epsilon)
    return contaminated_bound(
        MEANS, epsilon=case.epsilon, delta=delta, sigma=1.0, family="sub-gaussian", adversary=adversary
    )


def _shown(trials: Trials) -> tuple[str, str, str]:
    error = trials.pulls.std() / math.sqrt(trials.pulls.size)
    wrong = int(((trials.answers >= 0) & ~trials.correct).sum())
    return f"{trials.pulls.mean():,.0f} ± {error:,.0f}", str(wrong), str(int((trials.answers < 0).sum()))


def _ratio(trials: Trials, bound: float) -> str:
    return "-" if math.isnan(bound) else f"{trials.pulls.mean() / bound:.2f}"


def measure(quick: bool) -> Section:
    """Count the rewards on one instance under each kind of contamination, and on instances with bounds."""
    count = 200 if quick else 1000
    section = Section("Rewards of the certified method")
    section.notes.append(
        f"Means {', '.join(map(str, MEANS))}, sigma = 1, {count:,} trials each; pulls with their standard error, "
        "trials with a wrong and with no winner, and how many times the information bound that is "
        "(`theory.contaminated_bound`, sub-Gaussian class, where contamination is a fixed law)."
    )
    rows = []
    for case in CASES:
        bandit = _bandit(case)
        found = [
            simulate(bandit, "certified", delta=delta, trials=count, seed=11, contamination=case.contamination)
            for delta in (0.1, 0.01)
        ]
        bounds = [_bound(case, delta) for delta in (0.1, 0.01)]
        name = f"{case.contamination}, {case.epsilon:g}, {case.attack}"
        rows.append(
            (
                name,
                *_shown(found[0]),
                _ratio(found[0], bounds[0]),
                f"{case.goal:,.0f}",
                *_shown(found[1]),
                _ratio(found[1], bounds[1]),
            )
        )
        section.goals.append(Goal(f"pulls, {name}", float(found[0].pulls.mean()), case.goal))
        section.goals.append(
            Goal(f"share that names an arm, {name}", float((found[0].answers >= 0).mean()), NAMED, at_least=True)
        )
        if not math.isnan(bounds[1]):
            times = float(found[1].pulls.mean()) / bounds[1]
            section.goals.append(Goal(f"times the bound at delta = 0.01, {name}", times, FROM_BOUND))
    header = (
        "contamination",
        "pulls, 0.1",
        "wrong",
        "none",
        "bounds",
        "goal",
        "pulls, 0.01",
        "wrong",
        "none",
        "bounds",
    )
    section.tables.append((header, rows))
    _with_bounds(section, 100 if quick else 400)
    return section


def _with_bounds(section: Section, count: int) -> None:
    rows = []
    for law, means, epsilon, prototype in BOUNDED:
        arms = [Bernoulli(mean) if law == "Bernoulli" else Beta(10.0 * mean, 10.0 * (1.0 - mean)) for mean in means]
        fakes = adversaries.Point([0.0] + [1.0] * (len(means) - 1))
        bandit = Bandit(arms, epsilon, fakes) if epsilon > 0.0 else Bandit(arms)
        trials = simulate(bandit, "certified", delta=0.05, trials=count, seed=5, bounds=(0.0, 1.0), resolution=0.001)
        bound = math.nan
        if law == "Bernoulli":
            adversary = fakes if epsilon > 0.0 else None
            bound = contaminated_bound(means, epsilon=epsilon, delta=0.05, bounds=(0.0, 1.0), adversary=adversary)
        name = f"{law} {' '.join(f'{mean:g}' for mean in means)}, {epsilon:g}"
        rows.append((name, *_shown(trials), _ratio(trials, bound), f"{1.05 * prototype:,.0f}"))
        section.goals.append(Goal(f"pulls, {name}", float(trials.pulls.mean()), round(1.05 * prototype)))
    section.notes.append(f"The second table: rewards in [0, 1], delta = 0.05, {count:,} trials each.")
    section.tables.append((("arms, epsilon", "pulls", "wrong", "none", "bounds", "goal"), rows))
