"""A user's own policy as a method, with what the catalogue can know of it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from bestarm.errors import InputError
from bestarm.methods._base import SEED, Method, Option
from bestarm.policies.policy import Factory, PolicyRule, Question, policy_name, policy_options
from bestarm.problem import Problem

_EMPTY = inspect.Parameter.empty


@dataclass(frozen=True, kw_only=True)
class OwnMethod(Method):
    """A method made from a policy. Its promise is unknown; its options are the parameters of its class."""

    takes_others: bool

    def complete(self, problem: Problem, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all options with their values; reject an unknown or missing one."""
        known = {option.name: option for option in self.options}
        others = {name: value for name, value in given.items() if name not in known and self.takes_others}
        for name, option in known.items():
            if option.default is _EMPTY and given.get(name) is None:
                raise InputError(name, f"be given to {self.name}", None, f"it has no default: method=..., {name}=...")
        return {**others, **super().complete(problem, {name: given[name] for name in given if name not in others})}


def own_method(factory: Any, taken: tuple[str, ...]) -> OwnMethod:
    """Return the method for a class or function of a `Question`; reject anything else."""
    if not callable(factory):
        fix = f"pass the class {type(factory).__name__} itself, and its options by keyword: every run makes one anew"
        rule = "be a name of the catalogue, or a class or function that makes a Policy of a Question"
        raise InputError("method", rule, factory, fix)
    name = policy_name(factory)
    if name in taken:
        raise InputError("method", "have a name of its own", name, "a method of the catalogue has that one; set `name`")
    known, takes_others = policy_options(factory)
    known.pop(SEED.name, None)
    options = tuple(
        # A default is given by a function, as it may be callable itself.
        Option(option, default if default is _EMPTY else lambda _, default=default: default, "", lambda value: value)
        for option, default in known.items()
    )
    summary = (inspect.getdoc(factory) or "").split("\n", 1)[0] or "a policy of your own"
    return OwnMethod(
        name=name,
        summary=summary,
        source="your own",
        promise="",
        options=(*options, SEED),
        rule=partial(_policy_rule, factory),
        random=True,
        takes_others=takes_others,
    )


def _policy_rule(factory: Factory, problem: Problem, options: Mapping[str, Any]) -> PolicyRule:
    """Return what it takes to make the policy for a problem."""
    given = dict(options)
    seed = given.pop(SEED.name)
    question = Question(problem.size, problem.delta, problem.epsilon, problem.sigma, problem.bounds, seed)
    return PolicyRule(factory, question, given)
