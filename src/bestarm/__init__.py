"""Find which of K options has the highest mean reward, even if some of the rewards were corrupted.

`bestarm.__all__` lists the public names; a name is loaded when it is first used. Other modules may change.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bestarm.moved import find_moved_modules

if TYPE_CHECKING:
    from bestarm import reference as reference
    from bestarm import testing as testing
    from bestarm import theory as theory
    from bestarm.bandits import Arm as Arm
    from bestarm.bandits import Bandit as Bandit
    from bestarm.bandits import CustomArm as CustomArm
    from bestarm.bandits import adversaries as adversaries
    from bestarm.bandits import attacks as attacks
    from bestarm.bandits import datasets as datasets
    from bestarm.bandits import paper_adversary as paper_adversary
    from bestarm.bandits.arms import *  # noqa: F403
    from bestarm.errors import ArchivedError as ArchivedError
    from bestarm.errors import BestarmError as BestarmError
    from bestarm.errors import ConflictError as ConflictError
    from bestarm.errors import DecidedError as DecidedError
    from bestarm.errors import InputError as InputError
    from bestarm.errors import LateError as LateError
    from bestarm.errors import MissingExtraError as MissingExtraError
    from bestarm.errors import NotFoundError as NotFoundError
    from bestarm.errors import PolicyError as PolicyError
    from bestarm.errors import StoreError as StoreError
    from bestarm.errors import UnclearError as UnclearError
    from bestarm.errors import WaitingError as WaitingError
    from bestarm.identification.drivers import identify as identify
    from bestarm.identification.drivers import identify_async as identify_async
    from bestarm.identification.forecast import Forecast as Forecast
    from bestarm.identification.identifier import Identifier as Identifier
    from bestarm.identification.ledger import Pull as Pull
    from bestarm.identification.result import ArmRow as ArmRow
    from bestarm.identification.result import Result as Result
    from bestarm.identification.robustness import Sensitivity as Sensitivity
    from bestarm.live import Study as Study
    from bestarm.live import backup_studies as backup_studies
    from bestarm.live import import_studies as import_studies
    from bestarm.log.certificate import Verification as Verification
    from bestarm.log.certificate import verify_certificate as verify_certificate
    from bestarm.log.inspect import inspect_log as inspect_log
    from bestarm.log.result import LogResult as LogResult
    from bestarm.log.segments import SegmentedResult as SegmentedResult
    from bestarm.log.verdict import identify_log as identify_log
    from bestarm.methods import METHODS as METHODS
    from bestarm.policies.policy import Estimate as Estimate
    from bestarm.policies.policy import JittedPolicy as JittedPolicy
    from bestarm.policies.policy import Policy as Policy
    from bestarm.policies.policy import Question as Question
    from bestarm.problem import Label as Label
    from bestarm.reference import estimators as estimators
    from bestarm.simulation import Trials as Trials
    from bestarm.simulation import simulate as simulate
    from bestarm.simulation.attack_bench import attack_table as attack_table
    from bestarm.simulation.attack_bench import draw_attack_table as draw_attack_table
    from bestarm.theory.planning import Plan as Plan
    from bestarm.theory.planning import plan as plan

__version__ = "0.1.0"
find_moved_modules()

# Every public name and its module, loaded when first used: `import bestarm` and `bestarm --help` must not wait for the
# compiler. The laws of arms come on top, from bandits/arms.py.
HOMES = {
    "ArchivedError": "bestarm.errors",
    "Arm": "bestarm.bandits",
    "ArmRow": "bestarm.identification.result",
    "Bandit": "bestarm.bandits",
    "BestarmError": "bestarm.errors",
    "ConflictError": "bestarm.errors",
    "CustomArm": "bestarm.bandits",
    "DecidedError": "bestarm.errors",
    "Estimate": "bestarm.policies.policy",
    "Forecast": "bestarm.identification.forecast",
    "Identifier": "bestarm.identification.identifier",
    "InputError": "bestarm.errors",
    "JittedPolicy": "bestarm.policies.policy",
    "Label": "bestarm.problem",
    "LateError": "bestarm.errors",
    "LogResult": "bestarm.log.result",
    "METHODS": "bestarm.methods",
    "MissingExtraError": "bestarm.errors",
    "NotFoundError": "bestarm.errors",
    "Plan": "bestarm.theory.planning",
    "Policy": "bestarm.policies.policy",
    "PolicyError": "bestarm.errors",
    "Pull": "bestarm.identification.ledger",
    "Question": "bestarm.policies.policy",
    "Result": "bestarm.identification.result",
    "SegmentedResult": "bestarm.log.segments",
    "Sensitivity": "bestarm.identification.robustness",
    "StoreError": "bestarm.errors",
    "Study": "bestarm.live",
    "Trials": "bestarm.simulation",
    "UnclearError": "bestarm.errors",
    "Verification": "bestarm.log.certificate",
    "WaitingError": "bestarm.errors",
    "adversaries": "bestarm.bandits",
    "attack_table": "bestarm.simulation.attack_bench",
    "attacks": "bestarm.bandits",
    "backup_studies": "bestarm.live",
    "datasets": "bestarm.bandits",
    "draw_attack_table": "bestarm.simulation.attack_bench",
    "estimators": "bestarm.reference",
    "identify": "bestarm.identification.drivers",
    "identify_async": "bestarm.identification.drivers",
    "identify_log": "bestarm.log.verdict",
    "import_studies": "bestarm.live",
    "inspect_log": "bestarm.log.inspect",
    "paper_adversary": "bestarm.bandits",
    "plan": "bestarm.theory.planning",
    "reference": "bestarm",
    "simulate": "bestarm.simulation",
    "testing": "bestarm",
    "theory": "bestarm",
    "verify_certificate": "bestarm.log.certificate",
}
# Of these, the ones that are modules.
ROOMS = ("adversaries", "attacks", "datasets", "estimators", "reference", "testing", "theory")


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted({*HOMES, *_laws(), "__version__"})
    if name in ROOMS:
        value = _imported(f"{HOMES[name]}.{name}")
    elif name in HOMES:
        value = getattr(_imported(HOMES[name]), name)
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
