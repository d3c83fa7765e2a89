"""What a method is tested on: rewards fixed in advance, and an identifier that can be made again and again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.identification.identifier import Identifier
from bestarm.policies.policy import Factory

MEANS = (2.5, 1.5, 1.0, 0.6)  # in sigmas: gaps of one sigma are found soon, and not for all arms at once
CHANCES = (0.85, 0.5, 0.3, 0.15)  # of the upper bound, where there are bounds
ARMS = len(MEANS)
GRID = 2.0**10  # rewards are multiples of 1/1024, so that sums of thousands of them are exact


@dataclass
class Tape:
    """Rewards fixed in advance: the n-th reward of an arm is the same whatever was pulled before."""

    rows: NDArray[np.float64]
    read: list[int] = field(default_factory=lambda: [0] * ARMS)

    def pull(self, arm: int) -> float:
        """Return the next reward of an arm."""
        self.read[arm] += 1
        return float(self.rows[arm, self.read[arm] - 1])


@dataclass(frozen=True)
class Bench:
    """A method, its options and a question, from which all runs of a rule are made."""

    method: str | Factory
    options: dict[str, Any]
    delta: float
    epsilon: float
    sigma: float
    bounds: tuple[float, float] | None
    max_pulls: int
    seed: int

    def rewards(self, order: tuple[int, ...] = tuple(range(ARMS)), shift: float = 0.0, factor: float = 1.0) -> Tape:
        """Return the tape, with the arms in another order, or all rewards shifted or in another unit."""
        rng = np.random.default_rng(self.seed)
        shape = ARMS, self.max_pulls
        if self.bounds is not None:
            low, high = self.bounds
            rows = np.where(rng.random(shape) < np.array(CHANCES)[:, None], high, low)
        else:
            means = np.array(MEANS)[:, None]
            clean = means + rng.standard_normal(shape)
            false = means / 2.0 + rng.uniform(-1.0, 1.0, shape)
            drawn = np.where(rng.random(shape) < self.epsilon, false, clean)
            rows = self.sigma * np.rint(drawn * GRID) / GRID
        return Tape(factor * (rows[list(order)] + shift))

    def finder(self, shift: float = 0.0, factor: float = 1.0) -> Identifier:
        """Return a new identifier, for rewards that are shifted or in another unit."""
        scale: dict[str, Any] = {"sigma": factor * self.sigma}
        if self.bounds is not None:
            scale = {"bounds": (factor * (self.bounds[0] + shift), factor * (self.bounds[1] + shift))}
        options = {
            name: factor * value if name in IN_REWARDS and value is not None else value
            for name, value in self.options.items()
        }
        return Identifier(ARMS, delta=self.delta, epsilon=self.epsilon, method=self.method, **scale, **options)

    def drive(self, finder: Identifier, tape: Tape, steps: int | None = None) -> list[int]:
        """Ask and tell one by one until the decision, or `steps` times; return the arms."""
        pulled: list[int] = []
        while not finder.done and len(pulled) < (self.max_pulls if steps is None else steps):
            pulled.append(asked(finder))
            finder.tell(pulled[-1], tape.pull(pulled[-1]))
        return pulled


IN_REWARDS = ("resolution", "good_enough")  # options of the catalogue that are in the unit of rewards


def asked(finder: Identifier) -> int:
    """Return the arm that an identifier asks for."""
    arm = finder.ask()
    assert isinstance(arm, int)
    return arm


def seen(finder: Identifier) -> str:
    """Return everything that the interface shows, as a text, as nan is not equal to itself."""
    return repr((finder.result, finder.estimates, finder.pulls, finder.pending, finder.done))
