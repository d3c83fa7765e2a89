"""A method of your own: what it has to do, what it is told at the start, and the errors if it answers nonsense.

Nothing is inherited: `Policy` is a protocol, so a class that was written for something else fits if it has the four
verbs. It is made anew for every identification, by a call with a `Question`; what it remembers is its own.
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

NO_WINNER = -1  # what `decision` gives if the method stops and names no arm
GO_ON = -2  # what the compiled `decision` of a `JittedPolicy` gives for None
VERBS = ("choose", "observe", "decision", "estimates")


@dataclass(frozen=True)
class Question:
    """What a policy is told before the first pull.

    Attributes
    ----------
    arms : int
        Number of arms K; they are called 0, ..., K-1.
    delta : float
        Accepted probability of a wrong answer.
    epsilon : float
        How much of the rewards may have been replaced.
    sigma : float
        Sub-Gaussian scale of a clean reward; half the range where bounds were told.
    bounds : (float, float) or None
        Lowest and highest possible reward, where they were told in place of sigma.
    seed : int
        Where random choices come from; a different one in every simulated trial.
    """

    arms: int
    delta: float
    epsilon: float
    sigma: float
    bounds: tuple[float, float] | None = None
    seed: int = 0

    def generator(self, t: int) -> np.random.Generator:
        """Return the generator of random numbers for the choice after `t` pulls: the same whenever it is asked for.

        >>> question = Question(arms=3, delta=0.1, epsilon=0.0, sigma=1.0, seed=7)
        >>> question.generator(5).integers(3) == question.generator(5).integers(3)
        np.True_
        """
        return np.random.default_rng([self.seed, t])


class Estimate(NamedTuple):
    """What a policy says of one arm: its mean, an interval if it has one, and whether it may still be the best."""

    estimate: float
    lower: float = -math.inf
    upper: float = math.inf
    active: bool = True


class Policy(Protocol):
    """A method of your own, in plain Python; goes wherever the name of a method goes.

    Pass the class (or any function of a `Question` that makes one) as `method=`, and its options by keyword:
    `Identifier(..., method=TopTwo, share=0.5)` calls `TopTwo(question, share=0.5)`. `simulate` makes a new one for
    every trial. A class attribute `name` is how results call it; `version`, if there is one, is compared when a
    checkpoint is resumed. `bestarm.testing.check_method` tries out whether a policy keeps to what is said here.

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
        """Return the arm to pull next; `pending` counts, for each arm, the rewards asked for that have not come yet.

        It changes nothing: asked twice in the same situation, it gives the same arm (`Question.generator` gives
        random numbers that keep to this). So a batch is asked for one by one, with `pending` growing. Never called
        after a decision.
        """
        ...

    def observe(self, arm: int, reward: float) -> None:
        """Take in a reward, asked for or not, in any order of arms. Never called after a decision."""
        ...

    def decision(self) -> int | None:
        """Return None to go on, the best arm to stop, or -1 to stop without a winner. Asked after every reward."""
        ...

    def estimates(self) -> Sequence[float | Estimate]:
        """Return what is known of each arm: its estimated mean (nan if there is none), or an `Estimate`."""
        ...


class JittedPolicy:
    """A policy whose verbs are functions that numba compiles, for simulations at a hundred times the speed.

    A subclass sets `verbs`, three functions under `numba.njit` on a state: choose(state, pending) gives an arm,
    observe(state, arm, reward) changes the state in place, decision(state) gives an arm, -1 for no winner or -2 to go
    on. Its `__init__` takes the `Question` and makes `self.state`: an array, or a tuple of arrays and numbers.
    `estimates` is plain Python. `simulate` then runs whole trials compiled, if the bandit is compiled too, with the
    same results.

    The functions are compiled with bounds checks, whatever their decorator says: past the end of an array of the state
    there is an error. An array keeps the size that `__init__` gives it; a state that has to grow holds a
    `numba.typed.List`.
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
        """As `Policy.estimates`: to be written by the subclass."""
        raise NotImplementedError


Factory = Callable[..., Policy]


# ------------------------------------------------------------------------------------------------------ policies, made


@dataclass(frozen=True)
class PolicyRule:
    """How a policy is made: of which class or function, with which question and options."""

    factory: Factory
    question: Question
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What results call it."""
        return policy_name(self.factory)

    def start(self) -> Policy:
        """Return a new policy, or refuse what is none."""
        try:
            policy = self.factory(self.question, **self.options)
        except InputError:
            raise
        except Exception as error:
            call = ", ".join(["question", *(f"{name}={value!r}" for name, value in self.options.items())])
            raise _raised(self.name, f"{self.name}({call}) raised it; nothing was begun", error) from error
        missing = [verb for verb in VERBS if not callable(getattr(policy, verb, None))]
        if missing:
            verbs = ", ".join(VERBS)
            fix = f"{self.name} made it, which has no {' and no '.join(missing)}; see bestarm.Policy"
            raise PolicyError("method", f"be a policy with the verbs {verbs}", policy, fix)
        return policy


def policy_name(factory: Any) -> str:
    """Return what results call a policy: its `name`, or that of its class or function."""
    if isinstance(factory, partial):
        return policy_name(factory.func)
    stated = getattr(factory, "name", None)
    return stated if isinstance(stated, str) and stated.strip() else getattr(factory, "__name__", repr(factory))


def policy_options(factory: Any) -> tuple[dict[str, Any], bool]:
    """Return the options that a class or function of a `Question` takes, with their defaults; and whether any others.

    An option without a default has `inspect.Parameter.empty`.
    """
    try:
        parameters = list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):  # one that does not say
        return {}, True
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not parameters or parameters[0].kind not in (*by_place, inspect.Parameter.VAR_POSITIONAL):
        raise PolicyError("method", "take a Question", factory, "its first argument says how many arms there are, ...")
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    known = {parameter.name: parameter.default for parameter in parameters[1:] if parameter.kind in named}
    return known, any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


# ----------------------------------------------------------------------------------------------------- verbs, checked


def chosen(policy: Policy, name: str, pending: NDArray[np.int64], told: int) -> int:
    """Return the arm that a policy chooses, or refuse what is no arm."""
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
    """Tell a policy a reward, and return its decision, or refuse what is none."""
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
    """Return what a policy says of each arm, or refuse what says nothing."""
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
    """Whether a value is an arm, or says that there is no winner."""
    return _is_arm(value, arms) or (_is_whole(value) and value == NO_WINNER)


def wrong_arm(name: str, arm: object, arms: int, told: int) -> PolicyError:
    """Return the error of a policy that chooses what is no arm."""
    fix = f"{name}.choose gave it after {told:,} rewards; no arm is asked for"
    return PolicyError("method", f"choose an arm, a whole number from 0 to {arms - 1}", arm, fix)


def wrong_decision(name: str, decision: object, arms: int, told: int) -> PolicyError:
    """Return the error of a policy that decides on what is no arm."""
    rule = f"decide on None, on an arm from 0 to {arms - 1}, or on -1 for no winner"
    fix = f"{name}.decision gave it after {told + 1:,} rewards, the last of which was not recorded"
    return PolicyError("method", rule, decision, fix)


def out_of_bounds(name: str, error: IndexError, told: int) -> PolicyError:
    """Return the error of a compiled policy that goes past the end of an array."""
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
    return PolicyError("method", f"go on without an exception ({name} is your own)", error, where)
