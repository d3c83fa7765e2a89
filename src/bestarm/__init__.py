"""bestarm: which of K options has the highest mean reward, although some of the rewards were corrupted."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestarm import datasets as datasets
    from bestarm import reference as reference
    from bestarm import testing as testing
    from bestarm import theory as theory
    from bestarm.attack import attack_table as attack_table
    from bestarm.attack import draw_attack_table as draw_attack_table
    from bestarm.bandits import Arm as Arm
    from bestarm.bandits import Bandit as Bandit
    from bestarm.bandits import Bernoulli as Bernoulli
    from bestarm.bandits import Beta as Beta
    from bestarm.bandits import CustomArm as CustomArm
    from bestarm.bandits import Discrete as Discrete
    from bestarm.bandits import Empirical as Empirical
    from bestarm.bandits import Exponential as Exponential
    from bestarm.bandits import Gaussian as Gaussian
    from bestarm.bandits import LogNormal as LogNormal
    from bestarm.bandits import StudentT as StudentT
    from bestarm.bandits import Uniform as Uniform
    from bestarm.bandits import adversaries as adversaries
    from bestarm.bandits import attacks as attacks
    from bestarm.bandits import paper_adversary as paper_adversary
    from bestarm.drivers import identify as identify
    from bestarm.drivers import identify_async as identify_async
    from bestarm.errors import InputError as InputError
    from bestarm.errors import StoreError as StoreError
    from bestarm.forecast import Forecast as Forecast
    from bestarm.identifier import Identifier as Identifier
    from bestarm.live import Study as Study
    from bestarm.log.result import LogResult as LogResult
    from bestarm.log.verdict import identify_log as identify_log
    from bestarm.methods import METHODS as METHODS
    from bestarm.planning import Plan as Plan
    from bestarm.planning import plan as plan
    from bestarm.policy import Estimate as Estimate
    from bestarm.policy import Policy as Policy
    from bestarm.policy import Question as Question
    from bestarm.result import ArmRow as ArmRow
    from bestarm.result import Result as Result
    from bestarm.robustness import Sensitivity as Sensitivity
    from bestarm.simulation import Trials as Trials
    from bestarm.simulation import simulate as simulate
    from bestarm.tickets import Pull as Pull

__version__ = "0.1.0"

# Loaded when first used: `import bestarm` and `bestarm --help` must not wait for the compiler.
_HOMES = {
    "bestarm.attack": "attack_table draw_attack_table",
    "bestarm.bandits": (
        "Arm Bandit Bernoulli Beta CustomArm Discrete Empirical Exponential Gaussian LogNormal StudentT Uniform "
        "adversaries attacks paper_adversary"
    ),
    "bestarm.errors": "InputError StoreError",
    "bestarm.drivers": "identify identify_async",
    "bestarm.forecast": "Forecast",
    "bestarm.identifier": "Identifier",
    "bestarm.live": "Study",
    "bestarm.log.result": "LogResult",
    "bestarm.log.verdict": "identify_log",
    "bestarm.methods": "METHODS",
    "bestarm.planning": "Plan plan",
    "bestarm.policy": "Estimate Policy Question",
    "bestarm.result": "ArmRow Result",
    "bestarm.robustness": "Sensitivity",
    "bestarm.simulation": "Trials simulate",
    "bestarm.tickets": "Pull",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

_ROOMS = ("datasets", "reference", "testing", "theory")

__all__ = [*sorted(_HOME), "__version__", *_ROOMS]  # noqa: PLE0604, RUF100 - strings, all of them


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"bestarm.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'bestarm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
