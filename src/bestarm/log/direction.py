"""Lower is better: rewards are mirrored for the evidence, and the numbers of the verdict are mirrored back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bestarm.identification.result import ArmRow
from bestarm.log.result import LogResult
from bestarm.log.rewards import Rewards
from bestarm.problem import Label


def flipped(rewards: Rewards, bounds: tuple[float, float] | None) -> Rewards:
    """Return rewards x as low + high - x, or as -x without bounds.

    >>> from bestarm.log.rewards import Rewards
    >>> flipped(Rewards(("A",), (np.array([1.0, 2.0]),), None), (0.0, 5.0)).values
    (array([3., 4.]),)
    """
    about = sum(bounds) if bounds is not None else 0.0

    def mirrored(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return about - values[::-1]

    counts = None if rewards.counts is None else tuple(each[::-1] for each in rewards.counts)
    sources = rewards.sources
    if sources is not None:
        whole = about if sources.of is None else sources.of  # a ratio is mirrored by the rest of the whole
        sources = replace(sources, value=whole - sources.value)
    values = tuple(np.ascontiguousarray(mirrored(each)) for each in rewards.values)
    blocks = None if rewards.blocks is None else rewards.blocks.mirrored(about)
    return replace(rewards, values=values, counts=counts, sources=sources, blocks=blocks)


def unflipped(result: LogResult) -> LogResult:
    """Return a verdict on mirrored rewards with its means and intervals as the user knows them; leads stay."""
    about = sum(result.bounds) if result.bounds is not None else 0.0

    def mirrored(row: ArmRow[Label]) -> ArmRow[Label]:
        return replace(row, estimate=about - row.estimate, lower=about - row.upper, upper=about - row.lower)

    means = {label: about - mean for label, mean in result.means.items()}
    within = result.within
    if within is not None:
        there = {label: (about - one, about - other) for label, (one, other) in within.means.items()}
        within = replace(within, means=there)
    arms = tuple(map(mirrored, result.arms))
    return replace(result, arms=arms, means=means, within=within, lower_is_better=True)
