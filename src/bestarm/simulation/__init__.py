"""Simulation of many identifications."""

from bestarm.simulation.simulate import progress_bar, simulate, trial_seeds
from bestarm.simulation.trials import Trials

__all__ = ["Trials", "progress_bar", "simulate", "trial_seeds"]
