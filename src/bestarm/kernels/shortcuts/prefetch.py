"""A hint to the processor to fetch memory that will soon be needed into the cache, while there is other work to do.

With a thousand arms, the next one to be pulled is seldom in the nearest cache. A hint has no effect on any result.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from bestarm.kernels.jit.compile import inlined_kernel
from bestarm.kernels.jit.memory import LINE
from bestarm.kernels.jit.private import hint


@inlined_kernel
def fetch(array: NDArray[Any], index: int, lines: int) -> None:
    """Fetch some cache lines, starting at an element of an array."""
    for line in range(lines):
        hint(array, index, LINE * line)
