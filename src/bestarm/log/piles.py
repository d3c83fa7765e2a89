"""Rewards in the form that the evidence takes: values in the units of the bets, and their counts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestarm.problem import Problem

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pile:
    """Rewards in the units of the bets: distinct values, ascending, and how often each occurs."""

    values: Array
    counts: Array
    missing: int = 0  # missing rewards that count as replaced, with the least value of h
    aside: int = 0  # rewards that were used for something else, and may be clean while those here are replaced

    @property
    def number(self) -> int:
        """The number of rewards, missing ones included."""
        return int(self.counts.sum()) + self.missing

    @property
    def mean(self) -> float:
        """Mean of the present rewards."""
        return float(self.values @ self.counts / self.counts.sum()) if self.counts.size else math.nan

    @property
    def median(self) -> float:
        """Median of the present rewards, the upper one of two."""
        if not self.counts.size:
            return math.nan
        index = np.searchsorted(np.cumsum(self.counts), self.counts.sum() // 2, side="right")
        return float(self.values[index])


def to_pile(
    problem: Problem, values: Array, counts: NDArray[np.int64] | None, missing: int = 0, aside: int = 0
) -> Pile:
    """Return rewards, ascending, in the units of the bets; equal ones are counted."""
    if counts is None:
        starts = (
            np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])) if values.size else np.empty(0, int)
        )
        counts = np.diff(np.append(starts, values.size))
        values = values[starts]
    used = counts > 0
    low, high = problem.bounds or (0.0, problem.sigma)
    origin = low if problem.bounds is not None else 0.0
    units = (values[used] - origin) / (high - low)
    if problem.bounds is not None:
        units = np.clip(units, 0.0, 1.0)  # rounding errors only: the bounds were checked before
    return Pile(np.ascontiguousarray(units), counts[used].astype(np.float64), missing, aside)
