"""A method of your own: the interface it implements, the question it gets, and the errors for invalid answers.

Nothing is inherited: `Policy` is a protocol, so any class that has the four verbs fits. A new policy is made for every
identification, by a call with a `Question`; its state is its own.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError, PolicyError
from bestarm.policies.bounds_checks import with_bounds_checks

NO_WINNER = -1  # `decision` returns it to stop without naming an arm
GO_ON = -2  # the compiled `decision` of a `JittedPolicy` returns it in place of None
VERBS = ("choose", "observe", "decision", "estimates")


@dataclass(frozen=True)
class Question:
    """What a policy knows before the first pull.

    Attributes
    ----------
    arms : int
        Number of arms K; the arms are 0, ..., K-1.
    delta : float
        Accepted probability of a wrong answer.
    epsilon : float
        How much of the rewards may have been replaced.
    sigma : float
        Sub-Gaussian scale of a clean reward; half the range if bounds were given.
    bounds : (float, float) or None
        Lowest and highest possible reward, if they were given in place of sigma.
    seed : int
        Seed of random choices; a different one in every simulated trial.
    """

    arms: int
    delta: float
    epsilon: float
    sigma: float
    bounds: tuple[float, float] | None = None
    seed: int = 0

    def generator(self, t: int) -> np.random.Generator:
        """Return the random generator for the choice after `t` pulls; it is the same at every call.

        >>> question = Question(arms=3, delta=0.1, epsilon=0.0, sigma=1.0, seed=7)
        >>> question.generator(5).integers(3) == question.generator(5).integers(3)
        np.True_
        """
        return np.random.default_rng([self.seed, t])


class Estimate(NamedTuple):
    """A policy's estimate of one arm: its mean, an interval if it has one, and whether it may still be the best."""

    estimate: float
    lower: float = -math.inf
    upper: float = math.inf
    active: bool = True


class Policy(Protocol):
    """A method of your own, in plain Python; pass it wherever the name of a method goes.

    Pass the class (or any function of a `Question` that returns a policy) as `method=`, and its options by keyword:
    `Identifier(..., method=TopTwo, share=0.5)` calls `TopTwo(question, share=0.5)`. `simulate` makes a new policy for
    every trial. Results show the class attribute `name`, if there is one; `version`, if there is one, is compared when
    a checkpoint is resumed. `bestarm.testing.check_method` tests whether a policy keeps the rules below.

    Examples
    --------
    >>> class EachTenTimes:
    ...     def __init__(self, question):
    ...         self.rewards = [[] for _ in range(question.arms)]
    ...
    ...     def choose(self, pending):
    ...         return min(range(len(pending)), key=lambda arm: len(self.rewards[arm]) + pending[arm])
    ...
    ...     def observe(self, arm, reward):
    ...         self.rewards[arm].append(reward)
    ...
    ...     def decision(self):
    ...         if min(map(len, self.rewards)) < 10:
    ...             return None
    ...         return max(range(len(self.rewards)), key=lambda arm: sum(self.rewards[arm]) / len(self.rewards[arm]))
    ...
    ...     def estimates(self):
    ...         return [sum(rewards) / len(rewards) if rewards else float("nan") for rewards in self.rewards]
    """

    def choose(self, pending: NDArray[np.int64]) -> int:
        """Return the arm to pull next; `pending` counts, for each arm, the pulls whose rewards have not arrived yet.

        It must not change the state: two calls in the same situation return the same arm (use `Question.generator` for
        random numbers). A batch is chosen one arm at a time, with `pending` growing. Never called after a decision.
        """
        ...

    def observe(self, arm: int, reward: float) -> None:
        """Update the state by a reward, asked for or not, in any order of arms. Never called after a decision."""
        ...

    def decision(self) -> int | None:
        """Return None to go on, the best arm to stop, or -1 to stop without a winner. Called after every reward."""
        ...

    def estimates(self) -> Sequence[float | Estimate]:
        """Return, for each arm, its estimated mean (nan if there is none) or an `Estimate`."""
        ...


class JittedPolicy:
    """A policy whose verbs are compiled by numba, for simulations at a hundred times the speed.

    A subclass sets `verbs`, three functions under `numba.njit` on a state: choose(state, pending) returns an arm,
    observe(state, arm, reward) changes the state in place, decision(state) returns an arm, -1 for no winner or -2 to go
    on. Its `__init__` takes the `Question` and makes `self.state`: an array, or a tuple of arrays and numbers.
    `estimates` is plain Python. `simulate` then runs whole trials compiled, if the bandit is compiled too, with the
    same results.

    The functions are compiled with bounds checks, whatever their decorator says: an index past the end of an array is
    an error. An array keeps the size that `__init__` gives it; a state that has to grow holds a `numba.typed.List`.
    """

    verbs: tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]
    state: Any

    def choose(self, pending: NDArray[np.int64]) -> int:
        """As `Policy.choose`."""
        return int(with_bounds_checks(self.verbs)[0](self.state, pending))

    def observe(self, arm: int, reward: float) -> None:
        """As `Policy.observe`."""
        with_bounds_checks(self.verbs)[1](self.state, arm, reward)

    def decision(self) -> int | None:
        """As `Policy.decision`."""
        found = int(with_bounds_checks(self.verbs)[2](self.state))
        return None if found == GO_ON else found

    def estimates(self) -> Sequence[float | Estimate]:
        """As `Policy.estimates`; the subclass implements it."""
        raise NotImplementedError


Factory = Callable[..., Policy]


# ------------------------------------------------------------------------------------------------------ making policies


@dataclass(frozen=True)
class PolicyRule:
    """How to make a policy: the class or function, the question and the options."""

    factory: Factory
    question: Question
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name that results show."""
        return policy_name(self.factory)

    def start(self) -> Policy:
        """Return a new policy; reject an object that lacks a verb."""
        try:
            policy = self.factory(self.question, **self.options)
        except InputError:
            raise
        except Exception as error:
            call = ", ".join(["question", *(f"{name}={value!r}" for name, value in self.options.items())])
            raise _raised(self.name, f"{self.name}({call}) raised it; nothing was started", error) from error
        missing = [verb for verb in VERBS if not callable(getattr(policy, verb, None))]
        if missing:
            verbs = ", ".join(VERBS)
            fix = f"{self.name} returned it, and it has no {' and no '.join(missing)}; see bestarm.Policy"
            raise PolicyError("method", f"be a policy with the verbs {verbs}", policy, fix)
        return policy


def policy_name(factory: Any) -> str:
    """Return the name that results show for a policy: its `name`, or that of its class or function."""
    if isinstance(factory, partial):
        return policy_name(factory.func)
    stated = getattr(factory, "name", None)
    return stated if isinstance(stated, str) and stated.strip() else getattr(factory, "__name__", repr(factory))


def policy_options(factory: Any) -> tuple[dict[str, Any], bool]:
    """Return the options of a class or function of a `Question`, with their defaults; and whether it takes any others.

    An option without a default has `inspect.Parameter.empty`.
    """
    try:
        parameters = list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):  # it has no signature
        return {}, True
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not parameters or parameters[0].kind not in (*positional, inspect.Parameter.VAR_POSITIONAL):
        raise PolicyError("method", "take a Question", factory, "its first argument says how many arms there are, ...")
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    known = {parameter.name: parameter.default for parameter in parameters[1:] if parameter.kind in named}
    return known, any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


# ------------------------------------------------------------------------------------------------------ checking verbs


def chosen(policy: Policy, name: str, pending: NDArray[np.int64], told: int) -> int:
    """Return the arm that a policy chooses; reject anything that is not an arm."""
    try:
        arm = policy.choose(pending)
    except Exception as error:
        raise _raised(
            name, f"{name}.choose(pending) raised it after {told:,} rewards; no arm is asked for", error
        ) from error
    if not _is_arm(arm, pending.size):
        raise wrong_arm(name, arm, pending.size, told)
    return int(arm)


def observed(policy: Policy, name: str, arm: int, reward: float, arms: int, told: int) -> int | None:
    """Tell a policy a reward, and return its decision; reject an invalid one."""
    try:
        policy.observe(arm, reward)
        decision = policy.decision()
    except Exception as error:
        fix = f"{name}.observe({arm}, {reward!r}) or decision() raised it after {told:,} rewards; nothing was recorded"
        raise _raised(name, fix, error) from error
    if decision is None:
        return None
    if not is_decision(decision, arms):
        raise wrong_decision(name, decision, arms, told)
    return int(decision)


def estimated(policy: Policy, name: str, arms: int) -> list[Estimate]:
    """Return a policy's estimate of each arm; reject invalid ones."""
    try:
        given = list(policy.estimates())
        rows = [Estimate(*row) if isinstance(row, tuple) else Estimate(row) for row in given]
        numbers = [Estimate(float(row[0]), float(row[1]), float(row[2]), bool(row.active)) for row in rows]
    except Exception as error:
        raise _raised(name, f"{name}.estimates() raised it, or gave no numbers", error) from error
    if len(numbers) != arms:
        raise PolicyError(
            "method", f"have {arms} estimates, one for each arm", len(numbers), f"{name}.estimates gave them"
        )
    for row in numbers:
        if row.lower > row.upper or math.isinf(row.estimate):
            rule = "have estimates that are finite or nan, with lower at most upper"
            raise PolicyError("method", rule, tuple(row), f"{name}.estimates gave it")
    return numbers


def is_decision(value: Any, arms: int) -> bool:
    """Tell whether a value is an arm, or -1 for no winner."""
    return _is_arm(value, arms) or (_is_whole(value) and value == NO_WINNER)


def wrong_arm(name: str, arm: object, arms: int, told: int) -> PolicyError:
    """Return the error for a policy that chooses something that is not an arm."""
    fix = f"{name}.choose gave it after {told:,} rewards; no arm is asked for"
    return PolicyError("method", f"choose an arm, a whole number from 0 to {arms - 1}", arm, fix)


def wrong_decision(name: str, decision: object, arms: int, told: int) -> PolicyError:
    """Return the error for a policy whose decision is invalid."""
    rule = f"decide on None, on an arm from 0 to {arms - 1}, or on -1 for no winner"
    fix = f"{name}.decision gave it after {told + 1:,} rewards; the last one was not recorded"
    return PolicyError("method", rule, decision, fix)


def out_of_bounds(name: str, error: IndexError, told: int) -> PolicyError:
    """Return the error for a compiled policy that goes past the end of an array."""
    fix = (
        f"one of its verbs went past the end of an array after {told:,} rewards; make them larger in __init__, or let "
        "the state grow: docs/guide/own-method.md"
    )
    return PolicyError("method", f"stay within the arrays of its state ({name} is your own)", error, fix)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_arm(value: Any, arms: int) -> bool:
    return (type(value) is int or _is_whole(value)) and 0 <= value < arms


def _raised(name: str, where: str, error: Exception) -> PolicyError:
    return PolicyError("method", f"not raise an exception ({name} is your own)", error, where)
