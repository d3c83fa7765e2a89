"""Arrays at chosen positions in memory, and whole numbers that kernels pass on: NumPy makes both, kernels make none."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes of a line of the cache


def on_own_lines(number: int, dtype: Any) -> NDArray[Any]:
    """Return an array of zeros that shares no cache line with anything else, nor a neighbouring line."""
    size = number * np.dtype(dtype).itemsize
    raw = np.zeros(size + 4 * LINE, np.uint8)
    first = LINE - raw.ctypes.data % LINE + LINE
    return raw[first : first + size].view(dtype)


def constant(value: int) -> int:
    """Return a whole number for kernels to pass on: numba would compile a callee anew for each literal argument."""
    return cast(int, np.int64(value))
