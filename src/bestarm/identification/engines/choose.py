"""Which engine runs a method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestarm.contamination import of_options
from bestarm.identification.engines._base import Engine
from bestarm.identification.engines.certified import CertifiedEngine
from bestarm.identification.engines.kernel import KernelEngine
from bestarm.identification.engines.policy import PolicyEngine
from bestarm.identification.engines.sources import SourcesEngine
from bestarm.identification.ledger import Ledger
from bestarm.identification.source_ledger import SourceLedger
from bestarm.methods import Method, OwnMethod
from bestarm.methods.certified import certified_rule
from bestarm.problem import Problem


def new_engine(method: Method, problem: Problem, options: Mapping[str, Any]) -> Engine:
    """Return the engine of a method, before the first pull, with its ledger."""
    arms = problem.size
    if isinstance(method, OwnMethod):
        return PolicyEngine(method.name, problem, options, Ledger(arms), method.rule(problem, options))
    if not method.certifies:
        return KernelEngine(method.name, problem, options, Ledger(arms), method.rule(problem, options))
    model = of_options(options)
    if model is None or not model.by_source:
        return CertifiedEngine(method.name, problem, options, Ledger(arms), method.rule(problem, options))
    rule = certified_rule(problem, options, endless=True, drops=False)
    return SourcesEngine(method.name, problem, options, SourceLedger(arms), rule)
