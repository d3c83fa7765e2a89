"""A max-heap inside a shared pool of doubles.

Both functions work on `pool[start : start + size]` and leave the bookkeeping of `size` to their caller. O(log n).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import kernel

Pool = NDArray[np.float64]


@kernel
def heap_push(pool: Pool, start: int, size: int, value: float) -> None:
    """Push onto a max-heap of `size` values; it then has one more."""
    hole = size
    while hole > 0:
        parent = (hole - 1) >> 1
        if pool[start + parent] >= value:
            break
        pool[start + hole] = pool[start + parent]
        hole = parent
    pool[start + hole] = value


@kernel
def heap_pop(pool: Pool, start: int, size: int) -> float:
    """Pop the largest value of a max-heap of `size` >= 1 values; it then has one less."""
    largest = pool[start]
    last = size - 1
    value = pool[start + last]
    hole = 0
    child = 1
    while child < last:
        if child + 1 < last and pool[start + child + 1] > pool[start + child]:
            child += 1
        if pool[start + child] <= value:
            break
        pool[start + hole] = pool[start + child]
        hole = child
        child = 2 * hole + 1
    pool[start + hole] = value
    return largest
