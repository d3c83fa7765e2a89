"""Simulated experiments, as data or as TOML: their runs, tables, figures and reports. `bestarm.paper` has nine."""

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
