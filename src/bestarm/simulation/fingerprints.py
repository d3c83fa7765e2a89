"""Fingerprints of everything that trials depend on, so that a checkpoint never mixes different trials."""

from __future__ import annotations

import functools
import hashlib
import json
import pickle
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bestarm.bandits import Bandit
from bestarm.contamination import Contamination
from bestarm.errors import InputError
from bestarm.kernels.jit.cache import source_key
from bestarm.policies.policy import PolicyRule
from bestarm.simulation.chunks import NO_CAP, Spec

_SHOWN = 200


def fingerprint(spec: Spec, bandit: Bandit, method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that trials depend on, ready for JSON. Their number is left out: it does not change trial i."""
    problem, seeds = spec.problem, spec.seeds
    own: dict[str, str] = {}
    if isinstance(spec.rule, PolicyRule):
        own["policy"] = policy_digest(spec.rule)
    elif isinstance(options.get("contamination"), Contamination):  # its name does not define it: its prices do
        own["prices"] = hashlib.sha256(spec.rule.tobytes()).hexdigest()[:16]
    return {
        "arms": [_described(arm) for arm in bandit.arms],
        "adversary": _described(bandit.adversary),
        "laws": laws_digest(bandit),
        "method": method,
        "options": json.loads(json.dumps(dict(options), default=repr)),
        **own,
        "delta": problem.delta,
        "epsilon": problem.epsilon,
        "sigma": problem.sigma,
        "bounds": None if problem.bounds is None else list(problem.bounds),
        "max_pulls": None if spec.max_pulls == NO_CAP else spec.max_pulls,
        "seed": {
            "entropy": str(seeds.entropy),
            "spawn_key": list(seeds.spawn_key),
            "pool_size": seeds.pool_size,
            "first_child": seeds.first,
        },
        **code_key(),
    }


@functools.cache
def code_key() -> dict[str, str]:
    """Return the code that makes the trials: the version of the package, and a digest of its kernels."""
    version = sys.modules["bestarm"].__version__  # modules of the package do not import the package
    return {"version": version, "kernels": source_key()}


def digest(settings: Mapping[str, Any]) -> str:
    """Return a short digest of settings, to mark the files that belong to them."""
    return hashlib.sha256(repr(sorted(settings.items())).encode()).hexdigest()[:16]


def _described(part: Any) -> str:
    """Describe an arm or adversary for readers; the digest of the laws is what is compared."""
    if hasattr(part, "draw"):
        return f"{type(part).__name__}, a Python function"  # its repr has an address in it, new in every process
    text = repr(part)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def laws_digest(bandit: Bandit) -> str:
    """Return a digest of everything that a bandit's rewards are drawn from."""
    found = hashlib.sha256(repr(bandit.epsilon).encode())
    for table in bandit.laws():
        array = np.asarray(table)
        found.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
    for part in (*bandit.arms, bandit.adversary):
        draw = getattr(part, "draw", None)
        if draw is not None:
            for piece in _function(draw):
                found.update(piece)
    return found.hexdigest()[:32]


def policy_digest(rule: PolicyRule) -> str:
    """Return a digest of a policy: its stated `version`, its own code and that of the classes it inherits from.

    Functions that it calls are not part of it: change the `version` when they change.
    """
    found = hashlib.sha256()
    for piece in _made_of(rule.factory):
        found.update(piece)
    for _, value in sorted(rule.options.items()):
        found.update(_pickled(value, "method"))
    return found.hexdigest()[:32]


def _made_of(factory: Any) -> Iterator[bytes]:
    if isinstance(factory, functools.partial):
        yield from _made_of(factory.func)
        yield _pickled((factory.args, sorted(factory.keywords.items())), "method")
    elif isinstance(factory, type):
        for base in factory.__mro__:
            if base.__module__ not in ("builtins", "typing", "abc"):
                yield from _class(base)
    else:
        yield from _function(factory, "method")


def _class(cls: type) -> Iterator[bytes]:
    for name, value in sorted(vars(cls).items()):
        plain = getattr(value, "__func__", None) or getattr(value, "fget", None) or value  # of methods, of properties
        if isinstance(plain, types.FunctionType):
            yield name.encode()
            yield from _function(plain, "method")
        elif not name.startswith("_"):
            yield name.encode()
            yield from _value(value)


def _value(value: Any) -> Iterator[bytes]:
    """Yield the parts of a class attribute; for a function compiled by numba, its source: the pickle has an id."""
    if isinstance(value, tuple | list):
        for item in value:
            yield from _value(item)
    elif isinstance(getattr(value, "py_func", None), types.FunctionType):
        yield from _function(value.py_func, "method")
    else:
        yield _pickled(value, "method")


def _function(draw: Any, whose: str = "bandit") -> Iterator[bytes]:
    """Yield the parts of a function: its code, its defaults and the values it closes over, not the globals it reads."""
    code = getattr(draw, "__code__", None)
    if code is None:
        yield _pickled(draw, whose)
        return
    yield from _code(code)
    cells = [cell.cell_contents for cell in draw.__closure__ or ()]
    for value in (*(draw.__defaults__ or ()), *(draw.__kwdefaults__ or {}).items(), *cells):
        if isinstance(value, types.FunctionType):
            yield from _function(value, whose)
        elif isinstance(value, type):  # of a method that says super()
            yield value.__qualname__.encode()
        else:
            yield _pickled(value, whose)


def _code(code: types.CodeType) -> Iterator[bytes]:
    yield code.co_code + repr(code.co_names).encode()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code(constant)
        else:
            yield repr(constant).encode()


def _pickled(value: Any, whose: str) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception as error:  # whatever the user's object raises
        fix = "its trials can't be told from those of another function; give it numbers and arrays only"
        raise InputError(whose, "be picklable to be checkpointed", value, fix) from error
