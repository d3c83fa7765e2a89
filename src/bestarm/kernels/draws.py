"""Draws of rewards: clean ones by the law of an arm, contaminated ones by the adversary's, as tables of numbers.

The generator is NumPy's own, so a stream drawn here is the one that the same generator gives from Python.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import inlined_kernel, kernel
from bestarm.kernels.samples import Record

# Laws of arms; the meaning of the parameters is in bandits/arms.py.
GAUSSIAN = 0
BERNOULLI = 1
UNIFORM = 2
EXPONENTIAL = 3
LOG_NORMAL = 4
BETA = 5
STUDENT_T = 6
DISCRETE = 7

# Laws of adversaries; the parameters are in bandits/adversaries.py.
POINT = 0
UNIFORM_AROUND = 1
GAUSSIAN_AROUND = 2
SHIFT = 3


law_dtype = np.dtype([("kind", "i8"), ("a", "f8"), ("b", "f8"), ("c", "f8"), ("first", "i8"), ("last", "i8")])

# One row a piece and arm, piece by piece; one piece unless the adversary changes over time.
attack_dtype = np.dtype([("kind", "i8"), ("a", "f8"), ("b", "f8"), ("begin", "i8"), ("own_count", "i8")])


class Laws(NamedTuple):
    """The laws of K arms, the values and cumulated probabilities of discrete ones, and the adversary's P * K laws."""

    arms: NDArray[np.void]
    support: NDArray[np.float64]  # (2, S): values, cumulated probabilities; an arm's are from `first` to `last`
    attacks: NDArray[np.void]
    epsilon: float  # probability of contamination


@inlined_kernel
def clean(law: Record, support: NDArray[np.float64], rng: np.random.Generator) -> float:
    """Draw a reward by the law of an arm."""
    if law.kind == GAUSSIAN:
        return law.a + law.b * rng.standard_normal()
    if law.kind == BERNOULLI:
        return 1.0 if rng.random() < law.a else 0.0
    return _clean_other(law, support, rng)


@kernel
def _clean_other(law: Record, support: NDArray[np.float64], rng: np.random.Generator) -> float:
    # Apart, because the machine code of some of these is long and would push the common laws out of line.
    if law.kind == UNIFORM:
        return law.a + (law.b - law.a) * rng.random()
    if law.kind == EXPONENTIAL:
        return law.a * rng.standard_exponential()
    if law.kind == LOG_NORMAL:
        return np.exp(law.a + law.b * rng.standard_normal())
    if law.kind == BETA:
        return rng.beta(law.a, law.b)
    if law.kind == STUDENT_T:
        return law.a + law.b * rng.standard_t(law.c)
    place = rng.random()
    low, high = law.first, law.last
    while low < high:  # the first value whose cumulated probability exceeds the draw
        middle = (low + high) >> 1
        if place < support[1, middle]:
            high = middle
        else:
            low = middle + 1
    return support[0, low]


@kernel
def contaminated(laws: Laws, rng: np.random.Generator, arm: int, pulls: int, t: int) -> float:
    """Draw from the adversary's law Q_i(t) of an arm with `pulls` of the `t` pulls so far."""
    number = laws.arms.size
    row = laws.attacks.size - number + arm
    while row >= number and laws.attacks[row].begin > (pulls if laws.attacks[row].own_count == 1 else t):
        row -= number
    law = laws.attacks[row]
    if law.kind == POINT:
        return law.a
    if law.kind == UNIFORM_AROUND:
        return law.a + law.b * (2.0 * rng.random() - 1.0)
    if law.kind == GAUSSIAN_AROUND:
        return law.a + law.b * rng.standard_normal()
    return clean(laws.arms[arm], laws.support, rng) + law.a


@inlined_kernel
def pull(laws: Laws, rng: np.random.Generator, arm: int, pulls: int, t: int) -> float:
    """Draw the observed reward (MTCD21, eq. reward): a coin, then one of the two laws."""
    if laws.epsilon > 0.0 and rng.random() < laws.epsilon:
        return contaminated(laws, rng, arm, pulls, t)
    return clean(laws.arms[arm], laws.support, rng)


# ------------------------------------------------------------------------------------------------- called from Python


@kernel
def pull_once(laws: Laws, rng: np.random.Generator, arm: int, pulls: int, t: int) -> float:
    """Draw one observed reward."""
    return pull(laws, rng, arm, pulls, t)


@kernel
def clean_once(laws: Laws, rng: np.random.Generator, arm: int) -> float:
    """Draw one clean reward."""
    return clean(laws.arms[arm], laws.support, rng)
