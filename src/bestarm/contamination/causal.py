"""Coins that see no reward; values may depend on all that has happened, and nothing depends on the future."""

from __future__ import annotations

from bestarm.contamination.powers import CAUSAL_COINS
from bestarm.contamination.prescient import Prescient


class Causal(Prescient):
    """Each reward is replaced at random, by a coin that does not look at it, and nobody knows the rewards to come.

    Its price is that of prescient coins.
    """

    name = "causal"
    words = (
        "each reward is replaced at random, with probability at most epsilon whatever it is and whatever came before "
        "it; the value put in its place may depend on all of that, but nothing depends on clean rewards of later pulls"
    )
    log_words = (
        "each reward is replaced at random, with probability at most epsilon whatever it is and whatever came before "
        "it; the value put in its place may depend on all of that, but nothing depends on clean rewards of later rows"
    )
    rank = 0
    default_for = ()

    def covers(self, power: str) -> bool:
        """Tell whether the promise holds against adversaries of a power: coins and values that know no future."""
        return power in CAUSAL_COINS


MODEL = Causal()
