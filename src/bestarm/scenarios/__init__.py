"""Simulated experiments: what one is, how it is run, its tables and figures. `bestarm.paper` has nine."""

from bestarm.scenarios.experiment import Attack, Curve, Experiment, Given, Point, RandomCentres
from bestarm.scenarios.run import Folder, Run, run_points, wanted_trials

__all__ = [
    "Attack",
    "Curve",
    "Experiment",
    "Folder",
    "Given",
    "Point",
    "RandomCentres",
    "Run",
    "run_points",
    "wanted_trials",
]
