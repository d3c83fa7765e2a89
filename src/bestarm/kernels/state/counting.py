"""Counts of rewards: one more of an arm, the fewest of all arms, the less-pulled of two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import inlined_kernel
from bestarm.kernels.order_statistics.samples import Record


@inlined_kernel
def count_reward(arm: Record, control: Record) -> None:
    """Count one reward of an arm, which may have been asked for."""
    arm.told += 1
    control.t += 1
    if arm.pending > 0:
        arm.pending -= 1
        control.pending -= 1


@inlined_kernel
def count_fewest(arms: NDArray[np.void], control: Record, index: int) -> None:
    """Update the smallest number of pulls after a reward of an arm, in amortised O(1): K steps for every K rewards."""
    if arms[index].told - 1 == control.fewest:
        control.at_fewest -= 1
        if control.at_fewest == 0:
            fewest = arms[0].told
            for other in range(1, arms.size):
                fewest = min(fewest, arms[other].told)
            control.fewest = fewest
            control.first_fewest = 0
            for other in range(arms.size):
                if arms[other].told == fewest:
                    control.at_fewest += 1
        while arms[control.first_fewest].told != control.fewest:
            control.first_fewest += 1


@inlined_kernel
def less_pulled(one: int, pulls: int, other: int, other_pulls: int) -> int:
    """Return which of two arms has fewer pulls, and so the larger radius; the lower one if they have equally many."""
    if pulls == other_pulls:
        return min(one, other)
    return one if pulls < other_pulls else other
