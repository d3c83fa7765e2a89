"""Selection: bring the largest (or smallest) values of a range to its end without sorting it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import kernel

Pool = NDArray[np.float64]


@kernel
def select_last(pool: Pool, start: int, size: int, taken: int, sign: float) -> None:
    """Permute `pool[start : start + size]` so that its last `taken` values are those largest in `sign * value`.

    Hoare's selection, O(size) on average for any order of the values: the pivot is the middle one of three at places
    that a linear congruential sequence picks.
    """
    left = start
    right = start + size - 1
    goal = start + size - taken
    place = size
    while left < right:
        span = right - left + 1
        place = (place * 1103515245 + 12345) & 0x7FFFFFFF
        first = sign * pool[left + place % span]
        middle = sign * pool[left + span // 2]
        last = sign * pool[right]
        pivot = max(min(first, middle), min(max(first, middle), last))
        low = left
        high = right
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
            right = high
        elif goal >= low:
            left = low
        else:
            return
