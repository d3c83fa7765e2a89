"""Two experiments at full size, beyond the paper's four arms: every compound of a screen, every caption of a contest.

MTCD21 takes K = 4 arms from each data set. Here are all of them, under the paper's adversary and under hostile ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.bandits import ATTACKS, Adversary, Bandit, adversaries, paper_adversary
from bestarm.bandits.datasets import CaptionContest, Pkis2, caption_contest, pkis2
from bestarm.bandits.datasets.captions import RATINGS
from bestarm.scenarios.experiment import Curve
from bestarm.validation import one_of

LOWEST, HIGHEST = float(RATINGS[0]), float(RATINGS[-1])
CHERNOFF = (("exploration", "chernoff"),)


@dataclass(frozen=True, eq=False)
class FullSizeAttack:
    """An attack: its name and description, the bandit, and the arm that the adversary wants named, if any."""

    name: str
    words: str
    bandit: Bandit
    target: int | None = None


@dataclass(frozen=True, eq=False)
class FullSize:
    """One experiment on all arms of a data set. The index of an arm is its rank - 1.

    Attributes
    ----------
    name, title, source : str
        nycc-full or pkis2-full; what it is; where the data come from.
    labels : tuple of str
        Names of the arms.
    attacks : tuple of FullSizeAttack
        All methods meet each of them.
    entrants : tuple of Curve
        The methods.
    delta, epsilon : float
        As for `simulate`.
    told : dict
        What the methods are told about the rewards: sigma or bounds.
    max_pulls : int
        Cap on the pulls per trial.
    share : float
        Share of the requested trials that is run: a trial of thousands of arms takes seconds.
    notes : tuple of str
        What to know about the numbers.
    caps : mapping of str to int
        Caps instead of `max_pulls`, by the label of the method.
    """

    name: str
    title: str
    source: str
    labels: tuple[str, ...]
    attacks: tuple[FullSizeAttack, ...]
    entrants: tuple[Curve, ...]
    delta: float
    epsilon: float
    told: dict[str, Any]
    max_pulls: int
    share: float
    notes: tuple[str, ...]
    caps: Mapping[str, int] = field(default_factory=dict)


def full_size_experiments(names: Sequence[str], seed: int) -> tuple[FullSize, ...]:
    """Return full-size experiments by name, with the adversaries of a seed. Missing data are downloaded.

    >>> full_size_experiments([], seed=7)
    ()
    """
    for name in names:
        one_of("experiments", name, tuple(FULL_SIZE))
    return tuple(make(seed) for name, make in FULL_SIZE.items() if name in names)


# -------------------------------------------------------------------------------------------------- kinase inhibitors


def pkis2_full(seed: int, screen: Pkis2 | None = None) -> FullSize:
    """Return the screen of all compounds that inhibit ACVRL1, with rewards Normal(value, 1) (reading #19)."""
    screen = pkis2("ACVRL1") if screen is None else screen
    epsilon = 0.1
    arms = screen.bandit().arms
    adversary = paper_adversary(screen.values, epsilon, seed)
    named = [("paper", "the paper's adversary: uniform within 1 of random centres (reading #17)", adversary)]
    for name, words in (
        ("one-sided-gross", "-1000 on the best compound, +1000 on all others"),
        ("hidden", "1.5 sigma below the best compound's mean, 1.5 sigma above the others'"),
    ):
        named.append((name, words, ATTACKS[name][1](arms, epsilon)))
    return FullSize(
        name="pkis2-full",
        title=f"All {screen.size} compounds that inhibit {screen.kinase}",
        source="PKIS2, Drewry et al. 2017, table S4",
        labels=screen.labels,
        attacks=tuple(FullSizeAttack(name, words, screen.bandit(1.0, epsilon, law)) for name, words, law in named),
        entrants=(
            Curve("se-cbai", "se-cbai"),
            Curve("se-cbai, chernoff", "se-cbai", options=CHERNOFF),
            Curve("g-cbai", "g-cbai"),
            Curve("g-cbai, chernoff", "g-cbai", options=CHERNOFF),
            Curve("median-se", "median-se"),
            Curve("mean-se", "mean-se"),
            Curve("certified", "certified"),
        ),
        delta=0.1,
        epsilon=epsilon,
        told={"sigma": 1.0},
        max_pulls=2_000_000,
        share=0.02,
        notes=(
            f"The two best compounds are {screen.values[0] - screen.values[1]:.3f} apart. At epsilon = {epsilon:g} a "
            "worst-case adversary can hide gaps up to 0.28 between Gaussian arms with sigma = 1.",
        ),
    )


# ----------------------------------------------------------------------------------------------------------- captions


def nycc_full(seed: int, contest: CaptionContest | None = None) -> FullSize:
    """Return the contest of all captions, in which 5 % of the votes are rigged for one of them.

    Only the trials are random: the seed is a parameter because every experiment is made with one.
    """
    contest = caption_contest(651) if contest is None else contest
    epsilon = 0.05
    middle, near = (contest.size - 1) // 2, lowest_lifted(contest.means, epsilon)
    chosen = [("rigged, middle", middle)] + ([] if near is None else [("rigged, near the top", near)])
    ones = int((2 * contest.counts[:, 0] > contest.counts.sum(axis=1)).sum())
    attacks = []
    for name, index in chosen:
        words = (
            f"{100.0 * epsilon:g} % of the votes are rigged for rank {index + 1} (mean {contest.means[index]:.4f}): "
            f"{HIGHEST:g} for it, {LOWEST:g} for every other caption; first by contaminated mean: "
            f"rank {1 + int(np.argmax(rigged_means(contest.means, epsilon, index)))}"
        )
        attacks.append(FullSizeAttack(name, words, contest.bandit(epsilon, rigging(contest.size, index)), index))
    return FullSize(
        name="nycc-full",
        title=f"All {contest.size:,} captions of contest {contest.contest}, votes rigged for one",
        source=f"New Yorker Caption Contest {contest.contest}, recorded ratings 1, 2, 3",
        labels=contest.labels,
        attacks=tuple(attacks),
        entrants=(
            Curve("mean-se", "mean-se"),
            Curve("mean-gap", "mean-gap", share=0.5),
            Curve("se-cbai, chernoff", "se-cbai", options=CHERNOFF),
            Curve("median-se, chernoff", "median-se", options=CHERNOFF),
            Curve("certified", "certified"),
        ),
        delta=0.1,
        epsilon=epsilon,
        told={"bounds": (LOWEST, HIGHEST)},
        max_pulls=200_000_000,
        # Tied medians stay tied: of 200 million pulls none changed anything, and they took two minutes.
        caps={"median-se, chernoff": 10_000_000},
        share=0.004,
        notes=(
            _reach(contest.means, epsilon),
            f"Algorithm 1 (mean-gap) keeps every arm at sqrt(t) pulls, so with {contest.size:,} arms it cannot stop "
            f"before {contest.size**2:,} pulls. Elimination has no such floor.",
            f"{ones:,} of {contest.size:,} captions have the median 1, so that medians tie. Those of the best captions "
            "are close to changing: median-se stops at the first that comes out as 2 by chance, or never.",
        ),
    )


def rigging(size: int, index: int) -> Adversary:
    """Return the voters who give one caption the highest rating and every other caption the lowest.

    >>> rigging(3, 1).pieces[0].a
    (1.0, 3.0, 1.0)
    """
    votes = np.full(size, LOWEST)
    votes[index] = HIGHEST
    return adversaries.Point(votes)


def rigged_means(means: NDArray[np.float64], epsilon: float, index: int) -> NDArray[np.float64]:
    """Return the means of the contaminated ratings, if a share epsilon of the votes is rigged for one caption."""
    mixed = (1.0 - epsilon) * np.asarray(means, dtype=np.float64) + epsilon * LOWEST
    mixed[index] += epsilon * (HIGHEST - LOWEST)
    return mixed


def lift(epsilon: float) -> float:
    """Return how far a caption's true mean may be below the best, at most, for rigged votes to put it first.

    (1 - epsilon) mu + 3 epsilon > (1 - epsilon) mu_best + epsilon if mu_best - mu < 2 epsilon / (1 - epsilon).

    >>> round(lift(0.05), 4)
    0.1053
    """
    return epsilon * (HIGHEST - LOWEST) / (1.0 - epsilon)


def needed_share(gap: float) -> float:
    """Return the share of rigged votes above which a caption comes first whose true mean is `gap` below the best.

    >>> round(needed_share(lift(0.05)), 12)
    0.05
    """
    return gap / (gap + HIGHEST - LOWEST)


def lowest_lifted(means: NDArray[np.float64], epsilon: float) -> int | None:
    """Return the last index that rigging puts first by contaminated mean; None if only the best can be first.

    Means are in descending order. A caption as good as the best does not count.

    >>> lowest_lifted(np.array([1.7, 1.65, 1.61, 1.5]), 0.05)
    2
    """
    indices = np.flatnonzero((means[0] - means < lift(epsilon)) & (means < means[0]))
    return int(indices[-1]) if indices.size else None


def _reach(means: NDArray[np.float64], epsilon: float) -> str:
    near, middle = lowest_lifted(means, epsilon), (means.size - 1) // 2
    first = "the best caption alone" if near is None else f"ranks 1 to {near + 1}, and no other,"
    return (
        f"{100.0 * epsilon:g} % of rigged votes make up for a true mean up to {lift(epsilon):.4f} below the best: they "
        f"put {first} first. Rank {middle + 1}, in the middle of the table, would need "
        f"{100.0 * needed_share(float(means[0] - means[middle])):.1f} % of the votes."
    )


FULL_SIZE: dict[str, Callable[[int], FullSize]] = {"pkis2-full": pkis2_full, "nycc-full": nycc_full}
