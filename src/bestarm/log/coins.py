"""How many rewards of an arm a coin may have made fake: section 18 of docs/explanation/certified.md.

If each reward is fake with a chance of at most epsilon, whatever happened before, no count holds for certain. But the
number of fakes is at most a binomial one, which hardly ever exceeds its quantile. So an exact test that allows for that
many on each arm holds for coins, whether they look at the reward or not.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from bestarm.log.piles import Array

FOR_COINS = 0.05  # of delta: that a coin makes more fakes of some arm than are allowed for


def most_fakes(numbers: Array, epsilon: float, level: float) -> Array:
    """Return how many of some numbers of rewards are fake, except with a probability of at most the level each.

    It is enough for coins, and for a fixed share epsilon of the rewards of all arms that was picked without regard to
    the arm: the larger one of a binomial quantile and a hypergeometric one. It does not fall as epsilon grows.

    >>> most_fakes(np.array([10_000.0, 10_000.0, 0.0]), 0.01, 0.001).tolist()
    [132.0, 132.0, 0.0]
    >>> most_fakes(np.array([5.0]), 0.0, 0.001).tolist()
    [0.0]
    """
    if epsilon <= 0.0:
        return np.zeros(numbers.size)
    by_coin = stats.binom.isf(level, numbers, epsilon)
    total = numbers.sum()
    by_share = stats.hypergeom.isf(level, total, np.floor(epsilon * total + 1e-9), numbers)
    found: Array = np.where(numbers > 0.0, np.fmax(by_coin, by_share), 0.0)
    return found
