"""Coins that see no reward; the values put in may depend on everything."""

from __future__ import annotations

from typing import Any, ClassVar

from bestarm.contamination._base import Coin, Use
from bestarm.contamination.powers import BLIND_COINS


class Prescient(Coin):
    """Each reward is replaced at random, by a coin that does not look at it."""

    name = "prescient"
    words = (
        "each reward is replaced at random, with probability at most epsilon whatever the clean rewards are and "
        "whatever was replaced before it; the value put in its place may depend on everything"
    )
    rank = 1
    family = "blind"
    bias_is_known = True
    default_for: ClassVar[tuple[Use, ...]] = ("live",)

    def price(self, phi: Any, most: Any, least: Any, epsilon: float) -> Any:
        """Return what a bet may pay on average: a fake, which comes with probability epsilon, pays the most."""
        return (1.0 - epsilon) * phi + epsilon * most

    def covers(self, power: str) -> bool:
        """Tell whether the promise holds against adversaries of a power: coins that see no reward."""
        return power in BLIND_COINS


MODEL = Prescient()
