"""A simulated experiment as data: arms, an adversary, methods as curves, and a grid of delta and epsilon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bestarm.bandits import ATTACKS, Adversary, Arm, Bandit, paper_adversary
from bestarm.bandits.adversaries import Quota
from bestarm.bandits.arms import CompiledArm
from bestarm.kernels.rewards.draws import GAUSSIAN

# Two arms whose contaminated estimates nearly agree would be sampled almost forever; a trial cut here is "undecided".
# The longest exploration of the paper, of experiment 2 at epsilon = 0.02, takes 184,208 pulls.
MAX_PULLS = 400_000


@dataclass(frozen=True)
class RandomCentres:
    """The paper's adversary, drawn once or several times: see `paper_adversary` for margin and reach (reading #17).

    Attributes
    ----------
    margin, reach : float
        The part of every gap that is left, and how far centres may be from the means.
    draws : int
        How many adversaries share the trials of each point evenly.
    """

    margin: float = 0.5
    reach: float = 1.0
    draws: int = 1

    def adversaries(self, arms: tuple[Arm, ...], epsilon: float, seed: int) -> tuple[Adversary, ...]:
        """Return the adversaries of a seed; the first is that of the bare seed."""
        means = [arm.mean for arm in arms]
        seeds: list[Any] = [seed, *(np.random.SeedSequence(seed, spawn_key=(k,)) for k in range(1, self.draws))]
        return tuple(paper_adversary(means, epsilon, one, margin=self.margin, reach=self.reach) for one in seeds)

    @property
    def words(self) -> str:
        """What it does."""
        kept = "keep the best arm the best"
        if self.margin > 0.0:
            kept += f" and leave at least {self.margin:g} of every gap"
        many = "one draw" if self.draws == 1 else f"{self.draws} draws that share the trials"
        return f"uniform within 1 of random centres, at most {self.reach:g} beyond the means, that {kept}; {many}"


@dataclass(frozen=True)
class Given:
    """A fixed adversary; None replaces nothing."""

    adversary: Adversary | None
    words: str

    def adversaries(self, arms: tuple[Arm, ...], epsilon: float, seed: int) -> tuple[Adversary | None, ...]:
        """Return the adversary, whatever the arms and the seed."""
        return (self.adversary,)


@dataclass(frozen=True)
class CatalogueAttack:
    """An attack of the catalogue, by name: it knows the arms and epsilon."""

    name: str

    def adversaries(self, arms: tuple[Arm, ...], epsilon: float, seed: int) -> tuple[Adversary, ...]:
        """Return the attack on these arms."""
        return (ATTACKS[self.name][1](arms, epsilon),)

    @property
    def words(self) -> str:
        """What it does."""
        return f"the attack {self.name}"


@dataclass(frozen=True)
class WithinShare:
    """An adversary that keeps to a share epsilon of the rewards of each arm, picked at random."""

    choice: RandomCentres | Given | CatalogueAttack

    def adversaries(self, arms: tuple[Arm, ...], epsilon: float, seed: int) -> tuple[Adversary | None, ...]:
        """Return the adversaries of a seed, each with its quota."""
        drawn = self.choice.adversaries(arms, epsilon, seed)
        return tuple(adversary and Quota(adversary, "random") for adversary in drawn)

    @property
    def words(self) -> str:
        """What it does."""
        return self.choice.words


AdversaryChoice = RandomCentres | Given | CatalogueAttack | WithinShare


@dataclass(frozen=True)
class Curve:
    """One line of a figure: a method with its options.

    Attributes
    ----------
    label, method : str
        Name in the figure, and in the catalogue.
    variant : str
        "paper" for what the figure is about; anything else is drawn in a figure of its own.
    options : tuple of (name, value)
        Options of the method.
    share : float
        Share of the requested trials that is run.
    trimmed : float or None
        The option alpha in units of epsilon, so that it follows epsilon along a grid; None leaves it at its default.
    """

    label: str
    method: str
    variant: str = "paper"
    options: tuple[tuple[str, Any], ...] = ()
    share: float = 1.0
    trimmed: float | None = None

    def options_at(self, epsilon: float) -> tuple[tuple[str, Any], ...]:
        """Return the options at a point of the grid."""
        return self.options if self.trimmed is None else (*self.options, ("alpha", self.trimmed * epsilon))


@dataclass(frozen=True)
class Experiment:
    """An experiment: one figure.

    Attributes
    ----------
    name, figure, title, source : str
        Name, such as exp1; figure of the paper; title; source of the means, if they come from data.
    arms : tuple of Arm
        Laws of the clean rewards.
    curves : tuple of Curve
        The methods.
    deltas, epsilons : tuple of float
        The grid; one of the two has one value only.
    sweep : {"delta", "epsilon"}
        What varies along the figure's axis.
    sigma : float or None
        Sub-Gaussian scale that the methods are told; None if they are told bounds.
    bounds : (float, float) or None
        Lowest and highest reward, told instead of sigma.
    adversary : RandomCentres, Given, CatalogueAttack or WithinShare
        What contaminated rewards are drawn from.
    choices : tuple of str
        Where the paper leaves something open, and what we do.
    max_pulls : int
        Cap on the pulls per trial.
    """

    name: str
    figure: str
    title: str
    arms: tuple[Arm, ...]
    curves: tuple[Curve, ...]
    deltas: tuple[float, ...]
    epsilons: tuple[float, ...] = (0.1,)
    sigma: float | None = 1.0
    bounds: tuple[float, float] | None = None
    adversary: AdversaryChoice = RandomCentres()
    source: str = ""
    choices: tuple[str, ...] = ()
    max_pulls: int = MAX_PULLS
    sweep: str = "delta"

    @property
    def means(self) -> tuple[float, ...]:
        """True means of the arms."""
        return tuple(arm.mean for arm in self.arms)

    @property
    def scale(self) -> float:
        """Sub-Gaussian scale that the methods use: sigma, or half the width of the bounds."""
        if self.bounds is not None:
            return (self.bounds[1] - self.bounds[0]) / 2.0
        assert self.sigma is not None
        return self.sigma

    @property
    def grid(self) -> tuple[tuple[float, float], ...]:
        """All (delta, epsilon) along the axis."""
        return tuple((delta, epsilon) for delta in self.deltas for epsilon in self.epsilons)

    @property
    def own_curves(self) -> tuple[Curve, ...]:
        """The curves that the figure is about."""
        return tuple(curve for curve in self.curves if curve.variant == "paper")

    @property
    def covered(self) -> bool:
        """Whether the paper's lower bound covers these arms: normal, with the sigma that the methods are told."""
        return all(
            isinstance(arm, CompiledArm) and arm.kind == GAUSSIAN and arm.sigma == self.scale for arm in self.arms
        )

    def points(self) -> Iterator[Point]:
        """Yield the simulation of every curve at every point of the grid."""
        for curve in self.curves:
            for delta, epsilon in self.grid:
                yield self.point(curve, delta, epsilon)

    def point(self, curve: Curve, delta: float, epsilon: float) -> Point:
        """Return the simulation of one curve at one point of the grid."""
        return Point(
            self.arms,
            curve.method,
            curve.options_at(epsilon),
            delta,
            epsilon,
            max(self.epsilons),
            self.sigma,
            self.bounds,
            self.adversary,
            self.max_pulls,
        )

    def adversaries(self, seed: int) -> tuple[Adversary | None, ...]:
        """Return the adversaries of a seed. They leave the best arm the best at the largest epsilon, and so at all."""
        return self.adversary.adversaries(self.arms, max(self.epsilons), seed)


@dataclass(frozen=True)
class Point:
    """One simulation. Equal points of two figures are simulated once.

    Attributes
    ----------
    arms, method, options, delta, epsilon, sigma, bounds, max_pulls
        As for `simulate`.
    adversary_epsilon : float
        The epsilon at which the adversary is drawn: the largest of the experiment. An adversary that leaves the best
        arm the best there does so at every smaller epsilon, so that one serves the whole experiment (reading #17).
    adversary : RandomCentres, Given, CatalogueAttack or WithinShare
        What contaminated rewards are drawn from.
    """

    arms: tuple[Arm, ...]
    method: str
    options: tuple[tuple[str, Any], ...]
    delta: float
    epsilon: float
    adversary_epsilon: float
    sigma: float | None
    bounds: tuple[float, float] | None
    adversary: AdversaryChoice
    max_pulls: int

    def bandits(self, seed: int) -> tuple[Bandit, ...]:
        """Return the arms with each of the adversaries of a seed."""
        drawn = self.adversary.adversaries(self.arms, self.adversary_epsilon, seed)
        return tuple(Bandit(list(self.arms), self.epsilon, adversary) for adversary in drawn)

    def seeds(self, seed: int, draws: int) -> list[np.random.SeedSequence]:
        """Return the seed of each draw's trials: the same for all methods at a point of the grid, so paired."""
        index = (round(1e6 * self.delta), round(1e6 * self.epsilon))
        keys = [index, *((*index, draw) for draw in range(1, draws))]
        return [np.random.SeedSequence(seed, spawn_key=key) for key in keys]

    @property
    def told(self) -> dict[str, Any]:
        """What the method is told about the rewards: sigma or bounds."""
        return {"sigma": self.sigma, "bounds": self.bounds}

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that distinguishes this point from others, in plain values."""
        return {
            "arms": [repr(arm) for arm in self.arms],
            "method": self.method,
            "options": dict(self.options),
            "delta": self.delta,
            "epsilon": self.epsilon,
            "adversary_epsilon": self.adversary_epsilon,
            "sigma": self.sigma,
            "bounds": None if self.bounds is None else list(self.bounds),
            "adversary": {"kind": type(self.adversary).__name__, **asdict(self.adversary)},
            "max_pulls": self.max_pulls,
        }
