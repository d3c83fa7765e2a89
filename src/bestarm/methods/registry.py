"""All methods by name: every file of this folder that says `METHOD = ...`, and users' own policies."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import Any

from bestarm.methods._base import Method
from bestarm.methods.own import own_method
from bestarm.policies.import_paths import is_import_path, policy_at
from bestarm.validation import one_of

DEFAULT = "certified"


def _found() -> dict[str, Method]:
    """Return the methods of this folder, by rank and name."""
    names = sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    modules = (import_module(f"bestarm.methods.{name}") for name in names if name != "registry")
    methods = [module.METHOD for module in modules if hasattr(module, "METHOD")]
    return {method.name: method for method in sorted(methods, key=lambda one: (one.rank, one.name))}


METHODS: dict[str, Method] = _found()


def get_method(method: Any) -> Method:
    """Return a method by its name, or a policy, itself or by its import path, as a method; reject anything else."""
    if is_import_path(method):
        method = policy_at(method)
    if callable(method) or hasattr(method, "choose"):
        return own_method(method, tuple(METHODS))
    one_of("method", method, tuple(METHODS), ", or module:Name of your own")
    return METHODS[method]
