"""A bandit: arms, and an adversary that replaces a fraction of their rewards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.bandits.adversaries import Adversary, CustomAdversary, as_adversary
from bestarm.bandits.arms import Arm, CompiledArm, CustomArm, as_arm
from bestarm.errors import InputError
from bestarm.kernels.rewards.draws import (
    GAUSSIAN,
    Laws,
    attack_dtype,
    clean_once,
    contaminated_once,
    law_dtype,
    new_memory,
    pull_once,
)
from bestarm.validation import Seed, checked, checked_seed


class Bandit:
    """Arms to pull in a simulation, and an adversary that may replace their rewards.

    Parameters
    ----------
    arms : sequence of Arm
        At least two laws, such as `Gaussian(2.5)`. A function of a `numpy.random.Generator` works too, slower.
    epsilon : float in [0, 0.5), optional
        Probability that a reward is contaminated, or the contaminated share if the adversary uses a share. Defaults to
        0 without an adversary and is required with one; at 0 the adversary never acts.
    adversary : Adversary, optional
        The law of contaminated rewards, or a function (generator, arm, pulls so far, clean reward) -> value. With None
        all rewards are clean, whatever epsilon is.

    Examples
    --------
    >>> from bestarm.bandits import Bandit, Gaussian, adversaries
    >>> bandit = Bandit([Gaussian(2.5), Gaussian(2.3)], epsilon=0.1, adversary=adversaries.Point(0.0))
    >>> bandit.best, bandit.sigma
    (0, 1.0)
    """

    def __init__(self, arms: Sequence[Any], epsilon: float | None = None, adversary: Any = None) -> None:
        if not isinstance(arms, Iterable):
            raise InputError("arms", "be a list of arms", arms, "such as [Gaussian(2.5), Gaussian(2.3)]")
        self.arms: tuple[Arm, ...] = tuple(as_arm(arm) for arm in arms)
        if len(self.arms) < 2:
            raise InputError("arms", "be at least two", self.arms, "among fewer arms there is nothing to identify")
        self.adversary = as_adversary(adversary)
        if epsilon is None and self.adversary is not None:
            raise InputError("epsilon", "be given with an adversary", None, "without it no reward is replaced; say 0.1")
        (self.epsilon,) = checked(epsilon=0.0 if epsilon is None else epsilon)
        if isinstance(self.adversary, Adversary):
            self.adversary.table(self.arms, self.epsilon)  # refuses what does not fit here, not at the first pull

    def __repr__(self) -> str:
        return f"Bandit({list(self.arms)!r}, epsilon={self.epsilon}, adversary={self.adversary!r})"

    @property
    def means(self) -> NDArray[np.float64]:
        """The true means."""
        return np.array([arm.mean for arm in self.arms])

    @property
    def best(self) -> int:
        """Index of the arm with the largest true mean; the lowest index if several tie."""
        return int(np.argmax(self._known_means()))

    @property
    def sigma(self) -> float | None:
        """Sub-Gaussian scale that covers all arms; None if an arm has none."""
        scales = [arm.sigma for arm in self.arms]
        return None if None in scales else max(scale for scale in scales if scale is not None)

    def is_best(self, answers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which answers (arm indices, -1 for none) name an arm with the largest true mean."""
        means = self._known_means()
        return np.asarray((answers >= 0) & (means[answers] == means.max()))

    def _known_means(self) -> NDArray[np.float64]:
        means = self.means
        if np.isnan(means).any():
            raise InputError(
                "arms", "have known means to tell which is best", means.tolist(), "CustomArm(draw, mean=...)"
            )
        return means

    @property
    def compiled(self) -> bool:
        """Whether simulation can draw from it in compiled code, because no part of it is a Python function."""
        return not any(isinstance(arm, CustomArm) for arm in self.arms) and not isinstance(
            self.adversary, CustomAdversary
        )

    def laws(self) -> Laws:
        """Return the tables that the kernels draw from, with a placeholder for an arm that is a Python function."""
        rows = np.zeros(len(self.arms), law_dtype)
        values: list[float] = []
        cumulated: list[float] = []
        for row, arm in zip(rows, self.arms, strict=True):
            row["kind"] = GAUSSIAN
            row["first"] = len(values)
            if isinstance(arm, CompiledArm):
                row["kind"] = arm.kind
                row["a"], row["b"], row["c"] = arm.parameters
                values += arm.values
                cumulated += np.cumsum(arm.probabilities).tolist()
            row["last"] = len(values) - 1
        support = np.array([values, cumulated], dtype=np.float64)
        if isinstance(self.adversary, Adversary):
            foresees, remembers = self.adversary.foresees, self.adversary.remembers
            rate = 1.0 if self.adversary.decides and self.epsilon > 0.0 else self.epsilon
            memory = new_memory(len(self.arms), foresees=foresees) if remembers else np.zeros((0, 0))
            return Laws(rows, support, self.adversary.table(self.arms, self.epsilon), rate, memory)
        return Laws(rows, support, np.zeros(0, attack_dtype), 0.0, np.zeros((0, 0)))

    def reach(self) -> tuple[float, float]:
        """Return the lowest and the highest reward that can be observed, contaminated or not; infinite if unbounded."""
        ends = [arm.support() if isinstance(arm, CompiledArm) else (-np.inf, np.inf) for arm in self.arms]
        low, high = min(end[0] for end in ends), max(end[1] for end in ends)
        if isinstance(self.adversary, CustomAdversary):
            return -np.inf, np.inf
        if self.adversary is None or self.epsilon == 0.0:
            return low, high
        hit = self.adversary.hits.arm
        below, above = self.adversary.reach(*((low, high) if hit is None else ends[hit]))
        return min(low, below), max(high, above)

    def stream(self, seed: Seed) -> Stream:
        """Return a stream of rewards, the same for the same seed and the same order of pulls.

        >>> from bestarm.bandits import Bandit, Bernoulli
        >>> stream = Bandit([Bernoulli(0.0), Bernoulli(1.0)]).stream(seed=1)
        >>> [stream.pull(arm) for arm in (0, 1, 1)]
        [0.0, 1.0, 1.0]
        """
        return Stream(self, np.random.default_rng(checked_seed(seed)))


class Stream:
    """Rewards of a bandit, one pull at a time, from one generator."""

    def __init__(self, bandit: Bandit, rng: np.random.Generator) -> None:
        self._bandit = bandit
        self._rng = rng
        self._laws = bandit.laws()
        self._pulls = [0] * len(bandit.arms)
        self._t = 0

    def pull(self, arm: int) -> float:
        """Draw the next reward of an arm (by index), contaminated or not."""
        if self._bandit.compiled:
            reward = float(pull_once(self._laws, self._rng, arm, self._pulls[arm], self._t))
        else:
            reward = self._pull_in_python(arm)
        self._pulls[arm] += 1
        self._t += 1
        return reward

    def _pull_in_python(self, index: int) -> float:
        adversary, rng = self._bandit.adversary, self._rng
        rate = self._laws.epsilon if isinstance(adversary, Adversary) else self._bandit.epsilon
        if adversary is None or rate == 0.0 or rng.random() >= rate:
            return self._clean(index)
        if isinstance(adversary, CustomAdversary):
            fake = adversary.draw(rng, index, self._pulls[index], self._clean(index))
            return _number(fake, f"the adversary gave it for arm {index}")
        if isinstance(self._bandit.arms[index], CustomArm):
            self._laws.arms[index]["a"] = self._clean(index)  # a placeholder of variance 0: what the law sees
        return float(contaminated_once(self._laws, rng, index, self._pulls[index], self._t))

    def _clean(self, index: int) -> float:
        arm = self._bandit.arms[index]
        if isinstance(arm, CustomArm):
            return _number(arm.draw(self._rng), f"the function of arm {index} gave it")
        return float(clean_once(self._laws, self._rng, index))


def _number(drawn: Any, giver: str) -> float:
    """Return the value that a user's function has drawn as a float; reject text, even if it looks like a number."""
    try:
        if isinstance(drawn, str | bytes):
            raise TypeError
        return float(drawn)
    except (TypeError, ValueError, OverflowError):
        raise InputError("reward", "be a number", drawn, giver) from None
