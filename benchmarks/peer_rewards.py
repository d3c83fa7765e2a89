"""How many rewards other methods need beside `certified`: `python -m benchmarks --only peers-rewards`.

Like the part "evidence", this one measures no time: with the same seed its numbers are the same on every machine. The
other methods are plain Python policies, so that it takes minutes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.report import Section
from bestarm import Bandit, Bernoulli, Gaussian, Policy, simulate
from bestarm.bandits.attacks import ATTACKS
from bestarm.reference.peers import PEAK, TopTwo, TrackAndStop
from bestarm.simulation import Trials
from bestarm.theory import contaminated_bound, lower_bound

DELTAS = (0.1, 0.01)
EPSILON = 0.1


@dataclass(frozen=True)
class Entry:
    """A line of a table: a method, whether its stopping rule is proved to keep delta, its trials and its options."""

    name: str
    method: str | Callable[..., Policy]
    proved: bool
    trials: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def run(self, bandit: Bandit, delta: float, quick: bool, **problem: Any) -> Trials:
        """Simulate it, with a twentieth of the trials in a quick run."""
        trials = self.trials // 20 if quick else self.trials
        return simulate(bandit, self.method, delta=delta, trials=trials, seed=11, **problem, **self.options)


UNION = "log((K-1)(1 + log t)/delta)"
CERTIFIED = Entry("certified", "certified", True, 1000)
NORMAL = (
    CERTIFIED,
    Entry("track-and-stop, Kaufmann-Koolen", TrackAndStop, True, 100),
    Entry("top-two, Kaufmann-Koolen", TopTwo, True, 100),
    Entry(f"track-and-stop, {UNION}", TrackAndStop, False, 200, {"threshold": "heuristic-union"}),
    Entry(f"top-two, {UNION}", TopTwo, False, 200, {"threshold": "heuristic-union"}),
    Entry("track-and-stop, log((1 + log t)/delta)", TrackAndStop, False, 200, {"threshold": "heuristic"}),
)
# Normal rewards, sigma = 1; the best mean leads by 0.5.
MEANS: tuple[tuple[str, Sequence[float]], ...] = (
    ("K = 2", (0.5, 0.0)),
    ("K = 4, equal", (0.5, 0.0, 0.0, 0.0)),
    ("K = 4, gaps .5 .75 1", (1.0, 0.5, 0.25, 0.0)),
    ("K = 10, equal", (0.5, *[0.0] * 9)),
)
EITHER = {"family": "bernoulli"}
CLICKS = (
    CERTIFIED,
    Entry("PEAK", PEAK, True, 100),
    Entry("top-two, Kaufmann-Koolen, sigma = 1/2", TopTwo, True, 100),
    Entry("top-two, Kaufmann-Koolen, Bernoulli", TopTwo, True, 100, EITHER),
    Entry(f"top-two, {UNION}, Bernoulli", TopTwo, False, 200, {**EITHER, "threshold": "heuristic-union"}),
)
RATES: tuple[tuple[str, Sequence[float]], ...] = ((".5 .3", (0.5, 0.3)), (".71 .57 .43 .29", (0.71, 0.57, 0.43, 0.29)))
ATTACKED = NORMAL[:4]
HOSTILE: tuple[tuple[str, Sequence[float]], ...] = (
    ("2.5 1.5 1 .6", (2.5, 1.5, 1.0, 0.6)),
    ("2.5 2.3 2 .6", (2.5, 2.3, 2.0, 0.6)),
)

Case = tuple[str, Bandit, Sequence[float]]  # its name, its arms, the least pulls of any method at each delta


def _wrong(trials: Trials) -> int:
    return int(((trials.answers >= 0) & ~trials.correct).sum())


def _clean(section: Section, title: str, entries: Sequence[Entry], cases: Sequence[Case], quick: bool) -> None:
    problem = {"bounds": (0.0, 1.0)} if entries is CLICKS else {}
    rows, spread = [], 0.0
    for entry in entries:
        cells = []
        for _, bandit, bounds in cases:
            found = [entry.run(bandit, delta, quick, **problem) for delta in DELTAS]
            times = " / ".join(f"{trials.mean_pulls / bound:.2f}" for trials, bound in zip(found, bounds, strict=True))
            cells.append(f"{times} ({', '.join(str(_wrong(trials)) for trials in found)})")
            errors = [trials.pulls.std() / math.sqrt(trials.pulls.size) / trials.mean_pulls for trials in found]
            spread = max(spread, *map(float, errors))
        rows.append((entry.name, "yes" if entry.proved else "no", f"{found[0].pulls.size:,}", *cells))
    section.notes.append(f"{title}; standard errors are at most {spread:.0%} of a number.")
    section.tables.append((("method", "proved", "trials", *(name for name, _, _ in cases)), rows))


def _attacked(section: Section, quick: bool) -> None:
    rows = []
    for entry in ATTACKED:
        cells = []
        for _, means in HOSTILE:
            arms = [Gaussian(mean) for mean in means]
            for attack in ("one-sided-gross", "hidden"):
                found = entry.run(Bandit(arms, EPSILON, ATTACKS[attack][1](arms, EPSILON)), DELTAS[0], quick)
                none = float((found.answers < 0).mean())
                pulls = f"{found.mean_pulls:,.0f}, {none:.0%} none" if none else f"{found.mean_pulls:,.0f}"
                cells.append(f"{_wrong(found) / found.pulls.size:.1%} ({pulls})")
        rows.append((entry.name, *cells))
    section.notes.append(
        f"Third table: normal rewards attacked, epsilon = {EPSILON}, delta = {DELTAS[0]}, one-sided-gross and hidden, "
        "trials as in the first: the share of wrong answers, in brackets the mean pulls and the share without a winner."
    )
    header = [f"{name}, {attack}" for name, _ in HOSTILE for attack in ("gross", "hidden")]
    section.tables.append((("method", *header), rows))


def measure(quick: bool) -> Section:
    """Count the rewards of each method on clean instances, and its wrong answers under attack."""
    section = Section("Rewards of certified and of other methods")
    section.notes.append(
        "Mean pulls at delta = 0.1 / 0.01, over the least that any method can have (`theory.lower_bound` with "
        "kind='characteristic', or `contaminated_bound`); in brackets the trials that named a wrong arm."
    )
    normal: list[Case] = [
        (
            name,
            Bandit([Gaussian(mean) for mean in means]),
            [lower_bound(means, delta, kind="characteristic") for delta in DELTAS],
        )
        for name, means in MEANS
    ]
    _clean(section, "First table: clean normal rewards, sigma = 1", NORMAL, normal, quick)
    clicks: list[Case] = [
        (
            name,
            Bandit([Bernoulli(rate) for rate in rates]),
            [contaminated_bound(rates, epsilon=0.0, delta=delta, bounds=(0.0, 1.0)) for delta in DELTAS],
        )
        for name, rates in RATES
    ]
    _clean(section, "Second table: clean rewards of 0 or 1", CLICKS, clicks, quick)
    _attacked(section, quick)
    return section
