"""Read off order statistics in O(1): trimmed mean, values near the cuts, and bounds.

windows.py explains how the rewards lie.
"""

from __future__ import annotations

import numpy as np

from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import FEW, FIRST_RESERVE, Pool, Record
from bestarm.kernels.order_statistics.sums import add, range_sum
from bestarm.kernels.order_statistics.windows import ABOVE, BELOW


@kernel
def kept_sum(arm: Record, pool: Pool) -> float:
    """Return the sum of the rewards between the two cuts last set. O(1)."""
    if arm.divided == FEW:
        total, rest = range_sum(pool, arm.window[0] + arm.cut[0], arm.window[0] + arm.cut[1])
    else:
        total, rest = add(arm.total[1], arm.total_rest[1] + arm.right_rest[0] + arm.left_rest[1], arm.right[0])
        total, rest = add(total, rest, arm.left[1])
    return total + rest


@inlined_kernel
def kept_mean(arm: Record, pool: Pool, rank_0: int, rank_1: int) -> float:
    """Return the mean of the rewards between two cuts, which must be the ones last set. O(1)."""
    return kept_sum(arm, pool) / (rank_1 - rank_0)


@kernel
def order_statistic(arm: Record, pool: Pool, rank: int) -> float:
    """Return the reward of a rank (0 = smallest) that lies in a window, else nan. O(1).

    The MARGIN rewards on either side of each cut always lie in a window.
    """
    if arm.divided == FEW:
        return pool[arm.window[0] + rank] if 0 <= rank < arm.count else np.nan
    for w in range(2):
        index = rank - arm.below[w]
        if 0 <= index < arm.width[w]:
            return pool[arm.window[w] + index]
    return np.nan


@inlined_kernel
def sight_below(arm: Record, w: int) -> int:
    """Return for how many ranks below a cut the rewards are known, or bounded by the fence of their reserve."""
    return arm.cut[w] + arm.held[FIRST_RESERVE + 2 * w + BELOW]


@inlined_kernel
def sight_above(arm: Record, w: int) -> int:
    """Return for how many ranks above a cut the rewards are known, or bounded by the fence of their reserve."""
    return arm.width[w] - arm.cut[w] + arm.held[FIRST_RESERVE + 2 * w + ABOVE]


@inlined_kernel
def least_at(arm: Record, pool: Pool, w: int, rank: int) -> float:
    """Return a lower bound of the reward of a rank in a window or in the reserve below it, or -infinity. O(1)."""
    index = rank - arm.below[w]
    if 0 <= index < arm.width[w]:
        return pool[arm.window[w] + index]
    return arm.fence[2 * w + BELOW] if -arm.held[FIRST_RESERVE + 2 * w + BELOW] <= index < 0 else -np.inf


@inlined_kernel
def most_at(arm: Record, pool: Pool, w: int, rank: int) -> float:
    """Return an upper bound of the reward of a rank in a window or in the reserve above it, or +infinity. O(1)."""
    index = rank - arm.below[w] - arm.width[w]
    if -arm.width[w] <= index < 0:
        return pool[arm.window[w] + arm.width[w] + index]
    return arm.fence[2 * w + ABOVE] if 0 <= index < arm.held[FIRST_RESERVE + 2 * w + ABOVE] else np.inf
