"""Arms whose rewards are distributed unlike those of all other arms.

Two things are normal: arms have different means, and they scatter around the shape that their mean predicts (a joke
that divides its readers). So each arm is compared with a one-parameter family, fitted over all arms, and the scatter
around it is measured, not assumed:

- rewards of few values: shares p_k(t) proportional to q_k exp(t v_k). The base q is fitted to all arms (each with at
  most the weight of the median arm, so that a stuffed one does not pull it), t to the mean of each arm;
- other rewards: the cells between the octiles of all rewards, each taken from the median of its arm;
- G = 2 sum of observed log(observed / predicted) is chi-squared with d degrees of freedom under multinomial noise
  alone. Arms that scatter like a Dirichlet law around the prediction have (1 + (n - 1) rho) times as much; rho is set
  so that the *median* over the arms is that of chi-squared, which holds even if up to half of the arms are strange;
- as rho is estimated from K arms, G / (1 + (n - 1) rho) / d is compared with the F law with d and 0.37 (K - 1) d
  degrees of freedom (0.37: the efficiency of a median as an estimate of scale), the K p-values by Bonferroni.

It can't detect fakes that stay in the family; an arm with few rewards; an arm stuffed so far that nearly all its
rewards are the highest, which is also a limit of the family; anything in a log of few arms that scatter much.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bestarm.log.rewards import Rewards

Array = NDArray[np.float64]

RATE = 0.001  # of clean logs that point at any arm: to say that somebody's arm looks rigged is grave
LEAST_ARMS = 5  # "unlike all others" needs others
_CELLS = 8
_EFFICIENCY = 0.37
_MOST_VALUES = 20


@dataclass(frozen=True, eq=False)
class Shapes:
    """How well each arm fits."""

    p_values: Array  # of each arm, before any correction; 1 for arms with too few rewards to be judged
    judged: NDArray[np.bool_]  # whether an arm has enough rewards
    scatter: float  # the intra-arm correlation rho by which arms scatter around the prediction
    observed: Array  # shares: arms x cells
    predicted: Array
    cells: tuple[str, ...]  # what the cells are
    numbers: NDArray[np.int64]
    _base: Array | None
    _values: Array

    @property
    def strange(self) -> NDArray[np.int64]:
        """Indices of the arms that are unlike all others, the strangest first."""
        found = np.flatnonzero(self.p_values <= RATE / max(int(self.judged.sum()), 1))
        return found[np.argsort(self.p_values[found], kind="stable")]

    def misfits(self, arm: int) -> int:
        """Return how many rewards of an arm must go, at least, so that the rest has the shape of some mean."""
        observed = self.observed[arm]
        if self._base is None:
            predicted = self.predicted[arm][None, :]
        else:
            width = float(np.ptp(self._values))
            predicted = _tilted(self._base, self._values, np.linspace(-40.0, 40.0, 4001) / width)
        with np.errstate(divide="ignore", invalid="ignore"):
            kept = np.where(predicted > 1e-12, observed / predicted, np.inf).min(axis=1)
        return round(float((1.0 - min(kept.max(), 1.0)) * self.numbers[arm]))

    def stuffed(self, arm: int, cell: int) -> int:
        """Return how many rewards of an arm are too many in a cell, according to its other cells."""
        if self._base is None:
            predicted = self.predicted[arm]
        else:
            others = np.delete(np.arange(self._values.size), cell)
            shares = self.observed[arm, others]
            if not shares.sum():
                return int(self.numbers[arm])
            values = self._values[others]
            mean = np.array([shares @ values / shares.sum()])
            tilt = _tilt(self._base[others], values, mean)
            predicted = _tilted(self._base, self._values, tilt)[0]
        rest = self.observed[arm].sum() - self.observed[arm, cell]
        due = rest * predicted[cell] / max(1.0 - predicted[cell], 1e-12)
        return round(max(float(self.observed[arm, cell] - due), 0.0) * int(self.numbers[arm]))


def shapes(rewards: Rewards) -> Shapes | None:
    """Compare the shapes of the arms; None if there are too few arms, or fewer than three values."""
    if len(rewards.labels) < LEAST_ARMS:
        return None
    different = np.unique(np.concatenate(rewards.values)) if rewards.counts is not None else np.empty(0)
    if 3 <= different.size <= _MOST_VALUES:
        table = _table(rewards, different)
        base, predicted = _family(table, different)
        return _judged(table, predicted, tuple(f"{value:g}" for value in different), base, different)
    if different.size and different.size < 3:
        return None
    centred = _centred(rewards)
    return None if centred is None else _judged(*centred, None, np.empty(0))


def robust_scatter(deviance: Array, number: Array, freedom: int) -> float:
    """Return rho >= 0 such that the median of deviance / (1 + (n - 1) rho) is that of chi-squared."""
    target, low, high = float(stats.chi2.median(freedom)), 0.0, 1.0
    if np.median(deviance) <= target:
        return 0.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        above = np.median(deviance / (1.0 + (number - 1.0) * middle)) > target
        low, high = (middle, high) if above else (low, middle)
    return high


def _judged(table: Array, predicted: Array, cells: tuple[str, ...], base: Array | None, values: Array) -> Shapes | None:
    number, freedom = table.sum(axis=1), len(cells) - 2
    judged = number * predicted.min(axis=1) >= 1.0  # below, the law of G is far from chi-squared
    if judged.sum() < LEAST_ARMS:
        return None
    expected = number[:, None] * predicted
    with np.errstate(divide="ignore", invalid="ignore"):
        deviance = 2.0 * np.where(table > 0.0, table * np.log(table / expected), 0.0).sum(axis=1)
    rho = robust_scatter(deviance[judged], number[judged], freedom)
    ratio = deviance / (1.0 + (number - 1.0) * rho) / freedom
    p_values = np.where(judged, stats.f.sf(ratio, freedom, _EFFICIENCY * (judged.sum() - 1) * freedom), 1.0)
    observed = table / number[:, None]
    return Shapes(p_values, judged, rho, observed, predicted, cells, number.astype(np.int64), base, values)


def _table(rewards: Rewards, different: Array) -> Array:
    assert rewards.counts is not None
    table = np.zeros((len(rewards.labels), different.size))
    for row, values, counts in zip(table, rewards.values, rewards.counts, strict=True):
        row[np.searchsorted(different, values)] = counts
    return table


def _tilted(base: Array, values: Array, tilt: Array) -> Array:
    exponent = tilt[:, None] * (values - values.mean())
    weight: Array = base * np.exp(exponent - exponent.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    return weight


def _fitted(base: Array, values: Array, means: Array) -> Array:
    """Return the shares of the family that have these means."""
    return _tilted(base, values, _tilt(base, values, means))


def _tilt(base: Array, values: Array, means: Array) -> Array:
    """Return the parameters with these means, by bisection."""
    high = np.full(means.shape, 200.0 / np.ptp(values))
    low = -high
    for _ in range(50):
        middle = 0.5 * (low + high)
        above = _tilted(base, values, middle) @ values < means
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return 0.5 * (low + high)


def _family(table: Array, values: Array) -> tuple[Array, Array]:
    """Return the base q, by iterative scaling, and what it predicts for each arm."""
    number = table.sum(axis=1)
    means = table @ values / number
    weight = np.minimum(1.0, np.median(number) / number)
    observed = weight @ table
    base = (observed + 0.5) / (observed + 0.5).sum()
    for _ in range(200):
        ratio = observed / np.maximum((weight * number) @ _fitted(base, values, means), 1e-9)
        base = base * np.maximum(ratio, 1e-9)
        base /= base.sum()
        if np.abs(ratio - 1.0).max() < 1e-5:
            break
    return base, _fitted(base, values, means)


def _centred(rewards: Rewards) -> tuple[Array, Array, tuple[str, ...]] | None:
    """Return how many rewards of each arm, less its median, are in each cell, and the expected shares."""
    rows = [rewards.all_of(arm) - np.median(rewards.all_of(arm)) for arm in range(len(rewards.labels))]
    least = int(np.median([row.size for row in rows]))
    generator = np.random.default_rng(0)
    pool = np.concatenate([row if row.size <= least else generator.choice(row, least) for row in rows])
    edges = np.unique(np.quantile(pool, np.arange(1, _CELLS) / _CELLS))
    if edges.size < 3:
        return None
    table = np.array([np.bincount(np.searchsorted(edges, row), minlength=edges.size + 1) for row in rows], np.float64)
    shares = np.median(table / table.sum(axis=1, keepdims=True), axis=0)
    shares = np.maximum(shares, 1e-4) / np.maximum(shares, 1e-4).sum()
    bounds = ("-inf", *(f"{edge:.3g}" for edge in edges), "inf")
    cells = tuple(f"{low} to {high} from the median" for low, high in pairwise(bounds))
    return table, np.broadcast_to(shares, table.shape).copy(), cells
