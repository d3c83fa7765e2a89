"""The import path of a policy, `module:Name`, which a command line can name and a database can store.

Paths are resolved only here. A path names code and contains none: the module must be installed, or on the search path
of the process that reads it.
"""

from __future__ import annotations

import difflib
import importlib
from typing import Any, TypeGuard

from bestarm.errors import InputError
from bestarm.policies.policy import VERBS, Factory

SHAPE = "such as my_method:TopTwo, of the class TopTwo in my_method.py"


def is_import_path(method: object) -> TypeGuard[str]:
    """Tell whether a method is given by an import path: built-in methods have no colon in their names.

    >>> is_import_path("my_method:TopTwo"), is_import_path("certified")
    (True, False)
    """
    return isinstance(method, str) and ":" in method


def policy_at(path: str) -> Factory:
    """Return the class or function at an import path, or raise an error that says what is wrong with the path.

    >>> policy_at("bestarm.reference:SECBAI").__name__
    'SECBAI'
    """
    module, _, name = path.partition(":")
    if module.endswith(".py"):
        fix = f"leave out .py: {module.removesuffix('.py').replace('/', '.')}:{name}"
        raise InputError("method", "be an import path, module:Name", path, fix)
    if not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        raise InputError("method", "be an import path, module:Name", path, SHAPE)
    found: Any = _module(module, path)
    where = getattr(found, "__file__", None) or "no file"
    for part in name.split("."):
        if not hasattr(found, part):
            names = getattr(found, "__dict__", {})
            near = difflib.get_close_matches(part, names, 1) or [one for one in names if is_policy_class(names[one])]
            fix = f"; did you mean {near[0]}?" if near else ""
            raise InputError("method", f"be a name in the module {module}", path, f"{where} has no {name}{fix}")
        found = getattr(found, part)
    if not callable(found):
        fix = f"{name} is of the type {type(found).__name__}; name the class itself, as every run makes one anew"
        raise InputError("method", "lead to a class or function that makes a Policy", path, fix)
    return found  # type: ignore[no-any-return]


def import_path(method: object) -> str:
    """Return the import path of a policy class; reject a class that other processes can't import.

    Functions are rejected: a path read from a database is called, so it must lead to a policy.
    """
    if not is_policy_class(method):
        rule = f"be a class with the verbs {', '.join(VERBS)} here, or a name of the catalogue"
        raise InputError("method", rule, method, "see bestarm.Policy; a class can be found again by other processes")
    module, name = method.__module__, method.__qualname__
    path = f"{module}:{name}"
    if module == "__main__" or "<" in name or policy_at(path) is not method:
        fix = f"put {method.__name__} into a file of its own, and import it from there: {SHAPE}"
        raise InputError("method", "be a class that other processes can import", method, fix)
    return path


def is_policy_class(method: object) -> TypeGuard[type]:
    """Tell whether a value is a class with the verbs of a policy."""
    return isinstance(method, type) and all(callable(getattr(method, verb, None)) for verb in VERBS)


def _module(module: str, path: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            fix = f"{module} imports {error.name}, which is not installed"
            raise InputError("method", "be of a module that can be imported", path, fix) from error
        fix = f"there is no {error.name} in the current folder (of a command), on PYTHONPATH or among what is installed"
        raise InputError("method", "be of a module that can be imported", path, fix) from None
    except Exception as error:  # the user's file may raise anything
        fix = f"{module} raised {type(error).__name__}: {error}"
        raise InputError("method", "be of a module that can be imported", path, fix) from error
