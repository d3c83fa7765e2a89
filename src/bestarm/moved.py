"""Import paths of the version before, which still work in this one, with a `DeprecationWarning`."""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "attack_bench": "simulation.attack_bench",
    "checks": "validation",
    "datasets": "bandits.datasets",
    "demo": "simulation.demo",
    "drivers": "identification.drivers",
    "estimators": "reference.estimators",
    "experiments": "scenarios",
    "experiments.study": "scenarios.scenario",
    "experiments.study_file": "scenarios.scenario_file",
    "forecast": "identification.forecast",
    "identifier": "identification.identifier",
    "information_bound": "theory.information_bound",
    "planning": "theory.planning",
    "policy": "policies.policy",
    "result": "identification.result",
    "robustness": "identification.robustness",
    "tickets": "identification.ledger",
    "waiting": "identification.waiting",
}


class MovedModules(MetaPathFinder, Loader):
    """Finds a module under its old path, once Python has not found one there."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return how to load an old path; None for all others."""
        return ModuleSpec(name, self, is_package=True) if name.removeprefix("bestarm.") in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module at the new path in place of the empty one made for the old path."""
        new = f"bestarm.{MOVED[module.__name__.removeprefix('bestarm.')]}"
        warnings.warn(f"{module.__name__} is now {new}", DeprecationWarning, stacklevel=2)
        sys.modules[module.__name__] = importlib.import_module(new)


def find_moved_modules() -> None:
    """Let Python import old paths too."""
    sys.meta_path.append(MovedModules())
