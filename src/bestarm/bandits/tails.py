"""Quantiles of the clean laws of arms, which adversaries use to find their tails."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.bandits.arms import Arm, CompiledArm
from bestarm.errors import InputError
from bestarm.kernels.rewards import draws


def quantile(arm: Arm, level: float) -> float:
    """Return the `level`-quantile of an arm's clean law, 0 < level < 1: the smallest x with P(X <= x) >= level."""
    values, probabilities = _atoms(arm)
    if values.size:
        return float(values[np.searchsorted(np.cumsum(probabilities)[:-1], level)])
    return float(_law(arm).ppf(level))


def tail_cut(arm: Arm, share: float, tail: int) -> tuple[float, float]:
    """Return where the highest (or lowest) `share` of an arm's clean rewards begins, and the chance to pick that value.

    >>> from bestarm.bandits import Bernoulli
    >>> tail_cut(Bernoulli(0.5), 0.125, draws.TOP)  # a quarter of the ones
    (1.0, 0.25)
    """
    if share == 0.0:
        return tail * np.inf, 0.0
    values, probabilities = _atoms(arm)
    if not values.size:
        return float(_law(arm).isf(share) if tail == draws.TOP else _law(arm).ppf(share)), 0.0
    values, probabilities = values[::-tail], probabilities[::-tail]  # the extreme one first
    reached = np.cumsum(probabilities)
    index = int(np.searchsorted(reached[:-1], share))
    beyond = reached[index] - probabilities[index]
    return float(values[index]), float(min(1.0, (share - beyond) / probabilities[index]))


def _atoms(arm: Arm) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ascending values and the probabilities of a discrete law; empty for a continuous one."""
    if isinstance(arm, CompiledArm) and arm.kind == draws.BERNOULLI:
        return np.array([0.0, 1.0]), np.array([1.0 - arm.parameters[0], arm.parameters[0]])
    if isinstance(arm, CompiledArm):
        return np.array(arm.values), np.array(arm.probabilities)
    raise InputError(
        "arms", "be laws that the adversary knows", arm, "a function has no quantiles; use Gaussian, Empirical, ..."
    )


def _law(arm: Arm) -> Any:
    """Return SciPy's object for a continuous law."""
    from scipy import stats

    assert isinstance(arm, CompiledArm)
    a, b, c = arm.parameters
    laws: dict[int, Any] = {
        draws.GAUSSIAN: lambda: stats.norm(a, b),
        draws.UNIFORM: lambda: stats.uniform(a, b - a),
        draws.EXPONENTIAL: lambda: stats.expon(scale=a),
        draws.LOG_NORMAL: lambda: stats.lognorm(b, scale=np.exp(a)),
        draws.BETA: lambda: stats.beta(a, b),
        draws.STUDENT_T: lambda: stats.t(c, a, b),
    }
    return laws[arm.kind]()
