"""Bandits to simulate: arms, adversaries, and both together."""

from bestarm.bandits import adversaries
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
from bestarm.bandits.bandit import Bandit, Stream

__all__ = [
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
    "paper_adversary",
]
