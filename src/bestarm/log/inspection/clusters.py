"""Rewards that go together: those of one source on an arm, or those of one row of an aggregated log.

Whoever takes them for independent is too sure. What is computed here is an approximation by the normal law, with the
scatter between sources or rows in place of that between rewards; it is inspection, never evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bestarm.identification.finding import Finding
from bestarm.log.inspection.shapes import RATE
from bestarm.log.inspection.watch import Watch

Array = NDArray[np.float64]

_LEAST = 20  # sources or rows with several rewards below which nothing is said
_CLEARLY = 1.2  # the design effect from which on it matters
_MOST_RIVALS = 20
_MOST_ROWS = 200_000


@dataclass(frozen=True, eq=False)
class Clusters:
    """Sums of rewards by cluster and arm.

    Attributes
    ----------
    cluster, arm : array of int
        Which cluster, and which arm, each entry is about.
    times, residuals, squares : array
        Number of rewards, and sum and sum of squares of their differences from the mean of the arm.
    """

    cluster: NDArray[np.int64]
    arm: NDArray[np.int64]
    times: Array
    residuals: Array
    squares: Array

    @property
    def design_effect(self) -> float:
        """How much larger the variance of a mean is than with independent rewards."""
        return float((self.residuals**2).sum() / max(self.squares.sum(), 1e-300))

    def p_value(self) -> float:
        """Return the probability that independent rewards go together as much, about: products of two of a cluster.

        The sum of the products is divided by the root of the sum of their squares, so that heavy tails do not matter.
        """
        products = 0.5 * (self.residuals**2 - self.squares)[self.times >= 2]
        scale = float(np.sqrt((products**2).sum()))
        return float(stats.norm.sf(products.sum() / scale)) if scale > 0.0 and products.size >= _LEAST else 1.0

    def effect_on(self, b: int, a: int) -> float:
        """Return how much larger the variance of the difference of two means is than with independent rewards."""
        influence = np.zeros(int(self.cluster.max()) + 1)
        independent = 0.0
        for arm, sign in ((b, 1.0), (a, -1.0)):
            of_arm = self.arm == arm
            number = max(float(self.times[of_arm].sum()), 1.0)
            influence += sign * np.bincount(
                self.cluster[of_arm], weights=self.residuals[of_arm] / number, minlength=influence.size
            )
            independent += float(self.squares[of_arm].sum()) / number**2
        return float((influence**2).sum()) / independent if independent > 0.0 else 1.0


def find_clusters(watch: Watch) -> tuple[list[Finding], Clusters | None]:
    """Return whether rewards of one source go together, and the sums by source to judge a verdict with."""
    counts = watch.sources
    if counts is None or watch.rewards.sources is not None:
        return [], None
    found = _centred(counts.source, counts.arm, counts.times, counts.sums, counts.squares)
    if found.design_effect < _CLEARLY or found.p_value() > RATE:
        return [], None
    metric = watch.metric
    text = f"{metric.rows_word} of the same {metric.source_word} go together"
    details = (
        f"The {metric.rows_word} of one {metric.source_word} on an arm are alike: the means vary about "
        f"{found.design_effect:.2g} times as much as those of independent {metric.rows_word}."
    )
    return [Finding("clusters", None, None, None, text, (), found.p_value(), details)], found


def find_dispersion(watch: Watch) -> tuple[list[Finding], Clusters | None]:
    """Return whether the rows of an aggregated log scatter more than independent 0/1 rewards do."""
    if not (watch.is_aggregated and watch.metric.is_rate):
        return [], None
    rows = watch.run("by_row", most=_MOST_ROWS)
    times = rows["times"].astype(np.float64)
    if times.size < max(_LEAST, 3 * len(watch.rewards.labels)) or times.size == _MOST_ROWS:
        return [], None
    if watch.clock is None:
        cluster = np.arange(times.size)
    else:  # what a day does to all arms is no difference between them
        cluster = np.unique(rows["seconds"], return_inverse=True)[1]
    arm, sums, squares = rows["arm_index"].astype(np.int64), rows["sums"], rows["squares"]
    by_row = _centred(np.arange(times.size), arm, times, sums, squares)
    number = np.bincount(arm, weights=times)
    mean = np.bincount(arm, weights=sums) / number
    due = times * (mean * (1.0 - mean))[arm]
    judged = due > 0.0
    excess = float((by_row.residuals[judged] ** 2 / due[judged]).sum())
    freedom = int(judged.sum()) - number.size
    if freedom < _LEAST or excess / freedom < _CLEARLY or stats.chi2.sf(excess, freedom) > RATE:
        return [], None
    text = "the rows of the table scatter more than chance allows"
    details = (
        f"The rates of the rows of an arm scatter {excess / freedom:.2g} times as much as those of independent "
        f"{watch.metric.rows_word} would."
    )
    p_value = float(stats.chi2.sf(excess, freedom))
    found = _centred(cluster, arm, times, sums, squares)
    return [Finding("dispersion", None, None, None, text, (), p_value, details)], found


def rivals_that_catch_up(clusters: Clusters, means: Array, errors: Array, best: int, delta: float) -> list[int]:
    """Return the arms that the best no longer leads clearly when the scatter is that between clusters.

    Parameters
    ----------
    clusters : Clusters
        The sums by cluster.
    means, errors : array
        Mean of each arm, the larger the better, and its standard error for independent rewards.
    best : int
        The arm that was named.
    delta : float
        Accepted probability of a wrong answer; each comparison is at delta / (K - 1), one-sided.
    """
    level = float(stats.norm.isf(delta / max(means.size - 1, 1)))
    spread = np.sqrt(errors[best] ** 2 + errors**2)
    z = np.divide(means[best] - means, spread, out=np.full(means.size, np.inf), where=spread > 0.0)
    z[best] = np.inf
    nearest = np.argsort(z, kind="stable")[: min(_MOST_RIVALS, means.size - 1)]
    return [int(a) for a in nearest if z[a] < level * np.sqrt(max(clusters.effect_on(best, int(a)), 1.0))]


def _centred(cluster: NDArray[np.int64], arm: NDArray[np.int64], times: Array, sums: Array, squares: Array) -> Clusters:
    number = np.maximum(np.bincount(arm, weights=times), 1.0)
    mean = (np.bincount(arm, weights=sums) / number)[arm]
    residuals = sums - times * mean
    return Clusters(cluster, arm, times, residuals, np.maximum(squares - 2.0 * mean * sums + times * mean**2, 0.0))
