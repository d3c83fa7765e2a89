"""Simulated experiments: what one is, how it is run, its tables and figures. `bestarm.paper` has nine."""

from bestarm.scenarios.experiment import CatalogueAttack, Curve, Experiment, Given, Point, RandomCentres, WithinShare
from bestarm.scenarios.run import Folder, Run, run_points, wanted_trials

__all__ = [
    "CatalogueAttack",
    "Curve",
    "Experiment",
    "Folder",
    "Given",
    "Point",
    "RandomCentres",
    "Run",
    "WithinShare",
    "run_points",
    "wanted_trials",
]
