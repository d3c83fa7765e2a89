"""The random choice of an arm, as a hash of the seed and the time: the same in whatever order it is asked for."""

from __future__ import annotations

import numpy as np

from bestarm.kernels.jit.compile import inlined_kernel


@inlined_kernel
def _mix(x: np.uint64) -> np.uint64:
    """Return one output of splitmix64 (Steele, Lea and Flood 2014): a hash from t to 64 random bits."""
    x += np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inlined_kernel
def uniform_arm(seed: np.uint64, t: int, arms: int) -> int:
    """Return the arm that is drawn after t rewards."""
    bits = _mix(_mix(seed) ^ np.uint64(t)) >> np.uint64(32)
    return np.int64((bits * np.uint64(arms)) >> np.uint64(32))  # type: ignore[return-value]
