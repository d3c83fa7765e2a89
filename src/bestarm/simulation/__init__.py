"""Simulation of many identifications."""

from bestarm.simulation.seeds import trial_seeds
from bestarm.simulation.simulate import simulate
from bestarm.simulation.trials import Trials

__all__ = ["Trials", "simulate", "trial_seeds"]
