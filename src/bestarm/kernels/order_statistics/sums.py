"""Sums that do not drift: a running total as an unevaluated pair (high, low) of doubles.

A pair carries about 106 bits, so 10^8 additions and removals leave an error far below one rounding of the result.
Digits can be lost only by removing values that dwarf the rest; `dwarfs` finds that case, and the owner of the sum then
adds it up afresh.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import inlined_kernel, kernel

# Rewards that have left a sum of n others, each up to 2^30 times larger than what remains, leave 106 - 30 - log2(n)
# good bits: more than a double has, up to n = 2^23.
_DWARFING = 2.0**30


@inlined_kernel
def add(high: float, low: float, value: float) -> tuple[float, float]:
    """Return the pair plus a value: the rounding error of the addition (Knuth's two-sum) goes to the low part.

    The parts are not renormalised: only one addition then lies on the path from one total to the next
    (measured: 2 ns an addition against 10).
    """
    total = high + value
    part = total - high
    return total, low + ((high - (total - part)) + (value - part))


@inlined_kernel
def dwarfs(peak: float, one: float, other: float) -> bool:
    """Tell whether a sum has lost digits because a value as large as `peak` was removed from it."""
    return peak > _DWARFING * max(abs(one), abs(other))


@kernel
def range_sum(pool: NDArray[np.float64], begin: int, end: int) -> tuple[float, float]:
    """Return the sum of a range as a pair."""
    # Four sums side by side, as each waits for its last addition.
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    a_rest, b_rest, c_rest, d_rest = 0.0, 0.0, 0.0, 0.0
    index = begin
    while index + 3 < end:
        a, a_rest = add(a, a_rest, pool[index])
        b, b_rest = add(b, b_rest, pool[index + 1])
        c, c_rest = add(c, c_rest, pool[index + 2])
        d, d_rest = add(d, d_rest, pool[index + 3])
        index += 4
    while index < end:
        a, a_rest = add(a, a_rest, pool[index])
        index += 1
    a, a_rest = add(a, a_rest + b_rest + c_rest + d_rest, b)
    a, a_rest = add(a, a_rest, c)
    return add(a, a_rest, d)
