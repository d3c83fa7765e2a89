"""Bandits to simulate: arms, adversaries, and both together."""

from bestarm.bandits import adversaries, attacks
from bestarm.bandits.adversaries import Adversary, paper_adversary
from bestarm.bandits.arms import (
    Arm,
    Bernoulli,
    Beta,
    CustomArm,
    Discrete,
    Empirical,
    Exponential,
    Gaussian,
    LogNormal,
    StudentT,
    Uniform,
)
from bestarm.bandits.attacks import ATTACKS
from bestarm.bandits.bandit import Bandit, Stream

__all__ = [
    "ATTACKS",
    "Adversary",
    "Arm",
    "Bandit",
    "Bernoulli",
    "Beta",
    "CustomArm",
    "Discrete",
    "Empirical",
    "Exponential",
    "Gaussian",
    "LogNormal",
    "Stream",
    "StudentT",
    "Uniform",
    "adversaries",
    "attacks",
    "paper_adversary",
]
