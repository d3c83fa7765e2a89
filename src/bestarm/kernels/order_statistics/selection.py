"""Selection: bring the largest (or smallest) values of a range to its end without sorting it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import inlined_kernel, kernel

Pool = NDArray[np.float64]


_SHORT = 512  # values that lie in the nearest cache


@kernel
def select_last(pool: Pool, start: int, size: int, taken: int, sign: float) -> None:
    """Permute `pool[start : start + size]` so that its last `taken` values are those largest in `sign * value`.

    Hoare's selection, O(size) on average for any order of the values. The pivot is one of three values, one of them at
    a position picked by a linear congruential sequence: the median of the three, or the one towards the goal.
    """
    left, right = start, start + size - 1
    goal = start + size - taken
    index = size
    while left < goal <= right:
        span = right - left + 1
        index = (index * 1103515245 + 12345) & 0x7FFFFFFF
        first = sign * pool[left + index % span]
        middle = sign * pool[left + span // 2]
        last = sign * pool[right]
        low, high = min(first, middle), max(first, middle)
        if 4 * (goal - left) < span:
            pivot = min(low, last)
        elif 4 * (right - goal) < span:
            pivot = max(high, last)
        else:
            pivot = max(low, min(high, last))
        if span > _SHORT:
            left, right = _part_by_scans(pool, left, right, goal, sign, pivot)
        else:
            left, right = _part_without_branches(pool, left, right, goal, sign, pivot)


@inlined_kernel
def _part_by_scans(pool: Pool, left: int, right: int, goal: int, sign: float, pivot: float) -> tuple[int, int]:
    """Bring values below the pivot before those above; return the one of the two ranges to go on with (Hoare)."""
    low, high = left, right
    while low <= high:
        while sign * pool[low] < pivot:
            low += 1
        while sign * pool[high] > pivot:
            high -= 1
        if low <= high:
            pool[low], pool[high] = pool[high], pool[low]
            low += 1
            high -= 1
    if goal <= high:
        return left, high
    if goal >= low:
        return low, right
    return goal, goal


@inlined_kernel
def _part_without_branches(pool: Pool, left: int, right: int, goal: int, sign: float, pivot: float) -> tuple[int, int]:
    """Do the same by adding comparisons to an index (Lomuto): twice the moves, but no branch to mispredict."""
    edge = left
    for spot in range(left, right + 1):
        value = pool[spot]
        pool[spot] = pool[edge]
        pool[edge] = value
        edge += sign * value < pivot
    if goal < edge:
        return left, edge - 1
    if edge > left:
        return edge, right
    for spot in range(left, right + 1):  # no value is below the pivot: those that equal it come first
        value = pool[spot]
        pool[spot] = pool[edge]
        pool[edge] = value
        edge += sign * value <= pivot
    if goal < edge:
        return goal, goal
    return edge, right
