"""Simulation of many identifications."""

from bestarm.simulation.progress import progress_bar
from bestarm.simulation.seeds import trial_seeds
from bestarm.simulation.simulate import simulate
from bestarm.simulation.trials import Trials

__all__ = ["Trials", "progress_bar", "simulate", "trial_seeds"]
