"""All contamination models by name: every file of this folder that says `MODEL = ...`, and models of the user's own."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from bestarm.contamination._base import Contamination, Use
from bestarm.contamination.own import check_own
from bestarm.errors import InputError


def _found() -> dict[str, Contamination]:
    """Return the models of this folder, by rank and name."""
    names = sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    modules = (import_module(f"bestarm.contamination.{name}") for name in names if name != "registry")
    models = [module.MODEL for module in modules if hasattr(module, "MODEL")]
    return {model.name: model for model in sorted(models, key=lambda one: (one.rank, one.name))}


CONTAMINATIONS: dict[str, Contamination] = _found()
SIMULATED: tuple[str, ...] = tuple(name for name, model in CONTAMINATIONS.items() if model.simulated)


def default(use: Use) -> str:
    """Return the name of the model that is meant where none is given.

    >>> default("live"), default("log"), default("log with sources")
    ('prescient', 'share-of-all', 'sources')
    """
    return next(name for name, model in CONTAMINATIONS.items() if use in model.default_for)


def resolve(contamination: Any) -> Contamination:
    """Return a model by its name, or one of the user's own as it is; reject anything else.

    >>> resolve("sources").by_source, resolve("prescient").counted
    (True, False)
    """
    if isinstance(contamination, Contamination):
        return contamination
    if not isinstance(contamination, str) or contamination not in CONTAMINATIONS:
        rule = f"be one of {', '.join(CONTAMINATIONS)}"
        is_class = isinstance(contamination, type) and issubclass(contamination, Contamination)
        fix = "pass an instance, not the class" if is_class else "check the spelling"
        raise InputError("contamination", rule, contamination, fix)
    return CONTAMINATIONS[contamination]


def of_options(options: Mapping[str, Any]) -> Contamination | None:
    """Return the model in the options of a method, if they have one that is known."""
    given = options.get("contamination")
    if isinstance(given, Contamination):
        return given
    return CONTAMINATIONS.get(given) if isinstance(given, str) else None


def checked(contamination: Any) -> str:
    """Return a name of this folder as it is, or a model of the user's own once it was checked; reject anything else."""
    model = resolve(contamination)
    if type(model) is type(CONTAMINATIONS.get(model.name)):
        return model.name
    check_own(model, tuple(CONTAMINATIONS))
    return model
