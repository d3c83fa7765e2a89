"""Coins that may look at the reward they replace."""

from __future__ import annotations

from typing import Any

from bestarm.contamination._base import Coin


class Malicious(Coin):
    """Each reward is replaced at random, by a coin that may look at it, but at no later one.

    Its price is that of every `Coin`.
    """

    name = "malicious"
    words = (
        "each reward is replaced at random, with probability at most epsilon whatever came before it; whether it is "
        "replaced may depend on that reward itself, but not on any later one"
    )
    rank = 2

    def worst(self, adversaries: Any, adversary: Any, *, best: int, second: int, arms: int) -> Any:
        """Return an adversary that picks the rewards whose loss hurts most."""
        return adversaries.Selective(adversary, ["top" if arm == best else "bottom" for arm in range(arms)])


MODEL = Malicious()
