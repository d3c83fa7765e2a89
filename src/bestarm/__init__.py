"""bestarm: which of K options has the highest mean reward, even if some of the rewards were corrupted."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestarm import reference as reference
    from bestarm import testing as testing
    from bestarm import theory as theory
    from bestarm.bandits import Bandit as Bandit
    from bestarm.bandits import adversaries as adversaries
    from bestarm.bandits import attacks as attacks
    from bestarm.bandits import datasets as datasets
    from bestarm.bandits import paper_adversary as paper_adversary
    from bestarm.bandits.arms import *  # noqa: F403
    from bestarm.errors import InputError as InputError
    from bestarm.errors import StoreError as StoreError
    from bestarm.errors import WaitingError as WaitingError
    from bestarm.identification.drivers import identify as identify
    from bestarm.identification.drivers import identify_async as identify_async
    from bestarm.identification.forecast import Forecast as Forecast
    from bestarm.identification.identifier import Identifier as Identifier
    from bestarm.identification.result import ArmRow as ArmRow
    from bestarm.identification.result import Result as Result
    from bestarm.identification.robustness import Sensitivity as Sensitivity
    from bestarm.identification.tickets import Pull as Pull
    from bestarm.live import Study as Study
    from bestarm.live import backup_studies as backup_studies
    from bestarm.live import import_studies as import_studies
    from bestarm.log.result import LogResult as LogResult
    from bestarm.log.verdict import identify_log as identify_log
    from bestarm.methods import METHODS as METHODS
    from bestarm.policies.policy import Estimate as Estimate
    from bestarm.policies.policy import JittedPolicy as JittedPolicy
    from bestarm.policies.policy import Policy as Policy
    from bestarm.policies.policy import Question as Question
    from bestarm.reference import estimators as estimators
    from bestarm.simulation import Trials as Trials
    from bestarm.simulation import simulate as simulate
    from bestarm.simulation.attack_bench import attack_table as attack_table
    from bestarm.simulation.attack_bench import draw_attack_table as draw_attack_table
    from bestarm.theory.planning import Plan as Plan
    from bestarm.theory.planning import plan as plan

__version__ = "0.1.0"

# Loaded when first used: `import bestarm` and `bestarm --help` must not wait for the compiler.
_HOMES = {
    "bestarm.simulation.attack_bench": "attack_table draw_attack_table",
    "bestarm.bandits": "Arm Bandit CustomArm adversaries attacks paper_adversary",  # and the laws that it finds
    "bestarm.errors": "InputError StoreError WaitingError",
    "bestarm.identification.drivers": "identify identify_async",
    "bestarm.identification.forecast": "Forecast",
    "bestarm.identification.identifier": "Identifier",
    "bestarm.live": "Study backup_studies import_studies",
    "bestarm.log.result": "LogResult",
    "bestarm.log.verdict": "identify_log",
    "bestarm.methods": "METHODS",
    "bestarm.theory.planning": "Plan plan",
    "bestarm.policies.policy": "Estimate JittedPolicy Policy Question",
    "bestarm.identification.result": "ArmRow Result",
    "bestarm.identification.robustness": "Sensitivity",
    "bestarm.simulation": "Trials simulate",
    "bestarm.identification.tickets": "Pull",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

_ROOMS = {
    "datasets": "bestarm.bandits.datasets",
    "estimators": "bestarm.reference.estimators",
    "reference": "bestarm.reference",
    "testing": "bestarm.testing",
    "theory": "bestarm.theory",
}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return [*sorted({*_HOME, *_laws()}), "__version__", *_ROOMS]
    if name in _ROOMS:
        return _imported(_ROOMS[name])
    if name in _HOME:
        value = getattr(_imported(_HOME[name]), name)
    elif name[:1].isupper() and name in _laws():
        value = _laws()[name]
    else:
        raise AttributeError(f"module 'bestarm' has no attribute {name!r}")
    globals()[name] = value
    return value


def _laws() -> dict[str, Any]:
    """Return the laws of arms by name: all that are in the file bandits/arms.py."""
    return dict(importlib.import_module("bestarm.bandits").LAWS)


def _imported(module: str) -> Any:
    """Return a module, or say which extra it needs."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        from bestarm.extras import explain

        raise explain(error) from error


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))
