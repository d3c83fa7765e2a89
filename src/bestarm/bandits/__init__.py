"""Bandits to simulate: arms, adversaries, and both together. Laws added to arms.py are exported automatically."""

from typing import TYPE_CHECKING, Any

from bestarm.bandits import adversaries, attacks
from bestarm.bandits.adversaries import Adversary, paper_adversary
from bestarm.bandits.arms import LAWS, Arm, CustomArm
from bestarm.bandits.attacks import ATTACKS
from bestarm.bandits.bandit import Bandit, Stream

if TYPE_CHECKING:
    from bestarm.bandits.arms import *  # noqa: F403

__all__ = [  # noqa: PLE0604, RUF100 - strings, all of them
    "ATTACKS",
    "LAWS",
    "Adversary",
    "Arm",
    "Bandit",
    "CustomArm",
    "Stream",
    "adversaries",
    "attacks",
    "paper_adversary",
    *LAWS,
]


def __getattr__(name: str) -> Any:
    if name in LAWS:
        return LAWS[name]
    raise AttributeError(f"module 'bestarm.bandits' has no attribute {name!r}")
