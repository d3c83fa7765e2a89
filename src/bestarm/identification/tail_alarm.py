"""The tail alarm: rewards so far from the rest that no sigma-sub-Gaussian law, with epsilon of them fake, gives them.

The probability of a reward beyond t sigma of the true mean, given the past, has a known bound. So a bet on a higher
probability is a supermartingale at that mean. The alarm sounds if such bets, for several t, win much at every mean that
an arm could have: at the true one this is rare. Section 8 of docs/explanation/certified.md has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import resolve
from bestarm.identification.wording import alarms as words
from bestarm.problem import Label, Problem

Array = NDArray[np.float64]

DISTANCES = np.array([2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 16.0, 24.0, 40.0])  # t, in sigma
# A false tail alarm, over all arms and times, adds at most this part of delta to the event that an interval misses.
SHARE_OF_DELTA = 0.1
_STEPS = np.concatenate([np.arange(0.0, 4.0, 0.25), [4.0, 5.0, 7.0, 10.0, 14.0, 20.0, 28.0, 40.0]])
_CELLS = np.concatenate([-_STEPS[:0:-1], _STEPS])  # of means, from the median on; as far as the farthest distance
_MIDDLE = _STEPS.size - 1  # the cell that begins at the median
_RATES = 2.0 ** (-0.5 * np.arange(1, 61))  # chances of a far reward that are bet on: down to 1 in 10^9


@dataclass(frozen=True)
class FarRewards:
    """Rewards of an arm, in sigma, that lie too far from the rest."""

    number: int  # how many there are
    of: int  # and of how many
    beyond: float  # they lie farther than this from the median
    farthest: float  # the one that lies farthest from it
    distance: float  # and how far that is


def log_enough(problem: Problem) -> float:
    """Return the log evidence at which the alarm sounds, for each arm and for all together."""
    return math.log((problem.size + 1) / (SHARE_OF_DELTA * problem.delta))


class Tails:
    """The rewards of one arm, and the least number of them beyond each distance, whichever mean is true.

    Means are tried in cells around the median. From any other mean, at least half of the rewards lie beyond every
    distance. `values` are in sigma, ascending; `counts` is how often each occurs, by default once; `missing` rewards
    count as fake.
    """

    def __init__(self, values: Array, counts: Array | None = None, missing: int = 0) -> None:
        times = np.ones(values.size) if counts is None else counts
        self._values, self._missing = values, missing
        self._until = np.concatenate([[0], np.cumsum(times)]).astype(np.int64)  # rewards before each value
        self._present = int(self._until[-1])
        elsewhere = np.full((1, DISTANCES.size), self._present // 2)
        self.outside = self._present - np.vstack([self._inside(), elsewhere])  # for each cell, and elsewhere

    @property
    def _median(self) -> float:
        """The median, the upper one of two."""
        return float(self._values[np.searchsorted(self._until, self._present // 2, side="right") - 1])

    def _inside(self) -> NDArray[np.int64]:
        """Return, for each cell and distance, how many rewards are within the distance of some mean in the cell."""
        if self._present == 0:
            return np.zeros((_CELLS.size - 1, DISTANCES.size), np.int64)
        reach = DISTANCES + 8.0 * np.finfo(float).eps * (abs(self._median) + 2.0 * DISTANCES[-1])  # against rounding
        begins = np.searchsorted(self._values, self._median + _CELLS[:-1, None] - reach, side="left")
        ends = np.searchsorted(self._values, self._median + _CELLS[1:, None] + reach, side="right")
        found: NDArray[np.int64] = self._until[ends] - self._until[begins]
        return found

    def far(
        self, problem: Problem, contamination: str, fakes: float, ends: tuple[float, float] = (-math.inf, math.inf)
    ) -> FarRewards | None:
        """Return the rewards that lie too far from the rest, if the evidence is enough at every mean.

        `fakes` is the number of present rewards that may be fake, where fakes are counted; 0 for coins. `ends` are
        those of the arm's interval, in sigma; the evidence of the first alarm has ruled out means beyond them.
        """
        asked, enough = (contamination, problem.epsilon, fakes), log_enough(problem)
        possible = self._possible(*ends)
        around_median = self.log_evidence(*asked, cells=slice(_MIDDLE, _MIDDLE + 1))
        if possible[_MIDDLE] and _log_mean(around_median).min() < enough:  # mostly this settles it
            return None
        if not possible.any() or _log_mean(self.log_evidence(*asked))[possible].min() < enough:
            return None
        index = int(around_median[0].argmax())
        low, high, median = float(self._values[0]), float(self._values[-1]), self._median
        farthest = low if median - low > high - median else high
        beyond, number = float(DISTANCES[index]), int(self.outside[_MIDDLE, index])
        return FarRewards(number, self._present, beyond, farthest, abs(farthest - median))

    def _possible(self, lower: float, upper: float) -> NDArray[np.bool_]:
        """Return which cells, and whether elsewhere, have a mean in an interval."""
        if self._present == 0:
            return np.ones(_CELLS.size, np.bool_)
        edges = self._median + _CELLS
        elsewhere = lower < edges[0] or upper > edges[-1]
        return np.append((edges[:-1] <= upper) & (edges[1:] >= lower), elsewhere)

    def log_evidence(self, contamination: str, epsilon: float, fakes: float, cells: slice = slice(None)) -> Array:
        """Return, for each cell and distance, the log of the mean likelihood ratio over all rates that are bet on.

        The rates are those above the chance of a reward beyond the distance.
        """
        far = np.maximum(self.outside[cells] - fakes, 0.0)
        return _log_ratios(log_chances(contamination, epsilon), far, self.number)

    @property
    def number(self) -> int:
        """The number of rewards, missing ones included."""
        return self._present + self._missing

    def least_far(self, ends: tuple[float, float]) -> NDArray[np.int64]:
        """Return for each distance how many rewards are beyond it at least, whichever mean of an interval is true."""
        possible = self._possible(*ends)
        found: NDArray[np.int64] = self.outside[possible].min(axis=0) if possible.any() else self.outside[0] * 0
        return found


def _log_ratios(chances: Array, far: Array, number: int) -> Array:
    """Return, for each distance, the log of the mean likelihood ratio over all rates above its chance."""
    near = float(number) - far
    gain = np.log(_RATES) - chances[:, None]
    loss = np.log1p(-_RATES) - np.log1p(-np.exp(chances))[:, None]
    is_above = gain > 0.0
    logs = np.where(is_above, far[..., None] * gain + near[..., None] * loss, -np.inf)
    rates = is_above.sum(axis=-1)  # none where the chance is nearly 1: then nothing is bet
    return np.where(rates > 0, np.logaddexp.reduce(logs, axis=-1) - np.log(np.maximum(rates, 1)), 0.0)


def alarm_of_all(
    problem: Problem, contamination: str, tails: Sequence[Tails], fakes: float, ends: Sequence[tuple[float, float]]
) -> str | None:
    """Return the alarm, if it sounds, that too many rewards of all arms lie too far from the rest of their arm.

    For contamination that is counted over all arms: each arm by itself could have all of the fakes.
    """
    least = sum(each.least_far(between) for each, between in zip(tails, ends, strict=True))
    number = sum(each.number for each in tails)
    logs = _log_ratios(log_chances(contamination, problem.epsilon), np.maximum(least - fakes, 0.0), number)
    if float(_log_mean(logs)) < log_enough(problem):
        return None
    index = int(logs.argmax())
    return words.far_rewards_of_all(problem, int(np.asarray(least)[index]), number, float(DISTANCES[index]))


def _log_mean(logs: Array) -> Array:
    """Return the log of the mean over all distances."""
    found: Array = np.logaddexp.reduce(logs, axis=-1) - math.log(DISTANCES.size)
    return found


def log_chances(contamination: str, epsilon: float) -> Array:
    """Return, for each distance, the log of a bound on the probability of a reward beyond it, given the past.

    It is 2 exp(-t^2 / 2) for a clean reward. With fakes it is the price of a bet that pays 1 if the reward lies beyond,
    and nothing otherwise. Where fakes are counted, they are subtracted beforehand.
    """
    clean: Array = math.log(2.0) - 0.5 * DISTANCES**2
    model = resolve(contamination)
    if model.counted or epsilon == 0.0:
        return clean
    chances: Array = np.log(model.price(np.exp(clean), 1.0, 0.0, epsilon))
    return chances


def tails_of(problem: Problem, tapes: Sequence[Array], missing: Sequence[int] | None = None) -> list[Tails]:
    """Return the tails of each arm from its rewards in any order; nothing if rewards have bounds."""
    if problem.bounds is not None:
        return []
    lost = [0] * len(tapes) if missing is None else missing
    return [Tails(np.sort(tape) / problem.sigma, None, gone) for tape, gone in zip(tapes, lost, strict=True)]


def alarm_of_arm(problem: Problem, label: Label, rewards: int, fits_none: bool, far: FarRewards | None) -> str | None:
    """Return the alarm, if it sounds, that the rewards of an arm contradict sigma or epsilon.

    A single far reward is named, as it can be looked up; if there are several, "no mean fits" says more.
    """
    if fits_none and (far is None or far.number > 1):
        return words.no_mean_fits(problem, label, rewards)
    return None if far is None else words.far_rewards(problem, label, far)
