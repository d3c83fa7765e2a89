"""A method of the catalogue: its name, options, promise and source, and how it sets up its kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestarm.contamination import of_options
from bestarm.contamination.words import CLEAN, ORDER
from bestarm.errors import InputError
from bestarm.kernels.rule import (
    ALL_PULLS,
    ELIMINATION,
    GAP,
    GUIDED,
    MEAN,
    ROUNDS,
    TRIMMED,
    UNIFORM_AT_ONCE,
    Rule,
    new_rule,
)
from bestarm.kernels.state.radii import EMPIRICAL, THEORY, chernoff_pulls, gap_log_constant, half_pulls, hoeffding_pulls
from bestarm.problem import Problem
from bestarm.validation import checked, one_of

UNAFFORDABLE = 1e7  # pulls of each arm

MTCD21 = "Mukherjee, Tajer, Chen and Das (2021), Mean-based best arm identification under reward contamination"


@dataclass(frozen=True)
class Option:
    """One option of a method: its default, which may be a function of the problem, and what it may be.

    That is one of the names `allowed`, or what its `rule` returns; otherwise a number in the range of its name
    (`bestarm.validation`).
    """

    name: str
    default: Any
    summary: str
    rule: Callable[[Any], Any] | None = None
    allowed: tuple[str, ...] = ()

    def check(self, value: Any) -> Any:
        """Return a value as the method uses it; reject an invalid one."""
        if self.rule is not None:
            return self.rule(value)
        if not self.allowed:
            return checked(**{self.name: value})[0]
        one_of(self.name, value, self.allowed)
        return str(value)

    def default_for(self, problem: Problem) -> Any:
        """Return the default for a problem."""
        return self.default(problem) if callable(self.default) else self.default


@dataclass(frozen=True)
class Method:
    """A method of the catalogue.

    Attributes
    ----------
    name, summary, source : str
        Its name in the interface, what it does in one line, where it comes from.
    promise : str or callable
        The assumption under which the error probability is at most delta (or is meant to be, unless it `certifies`);
        a function of the options if it depends on them. It becomes part of the verdict. All methods also assume that
        clean rewards are independent, have means that do not change, and are sigma-sub-Gaussian or within the bounds.
    options : tuple of Option
        The options that can be set by keyword.
    rule : callable
        A function of a problem and all its options that returns the settings of the kernel, or of a user's policy.
    random : bool
        Whether the choice of arms needs random numbers.
    certifies : bool
        Whether its promise is proved, and its intervals hold at every time, so that the same rewards can be judged at
        another epsilon.
    rank : int
        Its position in lists of all methods.
    """

    name: str
    summary: str
    source: str
    promise: str | Callable[[Mapping[str, Any]], str]
    options: tuple[Option, ...]
    rule: Callable[[Problem, Mapping[str, Any]], Any]
    random: bool = False
    certifies: bool = False
    rank: int = 100

    def promised(self, options: Mapping[str, Any]) -> str:
        """Return the assumptions under which the error probability is, or is meant to be, at most delta."""
        said = self.promise(options) if callable(self.promise) else self.promise
        model = of_options(options)
        clean = CLEAN if model is None else model.clean
        return f"{said}; {clean}; {ORDER}" if said else ""  # nothing is known of a user's own method

    def complete(self, problem: Problem, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all options with their values; reject an unknown or invalid one."""
        known = {option.name: option for option in self.options}
        for name in given:
            if name not in known:
                fix = f"{self.name} has {', '.join(known) or 'no options'}"
                raise InputError(name, f"be an option of {self.name}", given[name], fix)
        return {
            name: option.default_for(problem) if given.get(name) is None else option.check(given[name])
            for name, option in known.items()
        }


def _seed(value: Any) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= value < 2**64:
        return int(value)  # past 2^53 a float would round it
    return int(checked(seed=value)[0])


ALPHA = Option(
    "alpha",
    lambda problem: problem.epsilon / 2.0,
    "fraction trimmed off each end; default epsilon / 2, as in the paper",
)
EXPLORATION = Option(
    "exploration",
    "hoeffding",
    'pulls of each arm before its estimate counts: "hoeffding" (the paper), "half" (half as many, no lemma), '
    '"chernoff" (shorter, same lemma) or "none" (one pull; the sqrt(t) of Algorithm 1 stays)',
    allowed=("hoeffding", "half", "chernoff", "none"),
)
THRESHOLD = Option(
    "threshold",
    "theory",
    'radius: "theory" (the theorem\'s) or "empirical" (the experiments\', without a proof)',
    allowed=("theory", "empirical"),
)
POWER = Option("power", 2.0, "exponent of t in the theory radius, above 1")
FLOOR = Option(
    "floor",
    "arm",
    'what T is counted in: "arm" (T pulls of each arm in turn, then arms at random) or "total" (arms at random from '
    "the first pull on, no stop before K T pulls in all)",
    allowed=("arm", "total"),
)
PARAMETERS = Option(
    "parameters",
    "clean",
    'all but the estimator: "clean" (as if epsilon = 0) or "same" (T and radius of the robust method)',
    allowed=("clean", "same"),
)
EXPLORATION_IF_SAME = replace(
    EXPLORATION,
    summary='used with parameters="same" only: "hoeffding", "half", "chernoff" or "none", as for the robust method',
)
RADIUS = Option(
    "radius",
    "rounds",
    'what t of the radius counts: "rounds" (the theorem\'s radius, and arms are compared with active ones) or '
    '"all-pulls" (all pulls before the round, from 1 on; pi^2/6 in place of pi^2/12, no 1/(1-epsilon), and arms are '
    "compared with dropped ones too, at their last estimate; no proof)",
    allowed=("rounds", "all-pulls"),
)
RADIUS_ARMS = Option(
    "radius_arms",
    lambda problem: float(problem.size),
    "what stands for K in the radius; default: the number of arms",
)
SEED = Option("seed", 0, "seed of the random choice of arms", _seed)


def trimmed_promise(options: Mapping[str, Any]) -> str:
    """Return what methods with trimmed means are meant for: measured, not proved (docs/explanation/guarantees.md)."""
    assumed = (
        "all rewards of an arm, the replaced ones included, are independent, symmetric around its mean and "
        "sigma-sub-Gaussian, and alpha is at most epsilon / 2"
    )
    if options.get("radius") == "all-pulls":
        return (
            f"{assumed}, and the radius, which is narrower than the theorem's, is wide enough: nothing is known of it"
        )
    return f"{assumed}, and epsilon at most 0.25" if options.get("threshold") == "empirical" else assumed


def assumed_epsilon(problem: Problem, options: Mapping[str, Any]) -> float:
    """Return the epsilon that a method with sample means assumes: 0, or that of the problem."""
    return problem.epsilon if options["parameters"] == "same" else 0.0


def gap_rule(problem: Problem, options: Mapping[str, Any], *, epsilon: float, uniform: int = GUIDED) -> Rule:
    """Return the settings of the gap family; `epsilon` is the one it assumes."""
    alpha = options.get("alpha", 0.0)
    theory = options["threshold"] == "theory"
    explored = _explored(problem, options, epsilon)
    at_once = uniform == UNIFORM_AT_ONCE
    return new_rule(
        family=GAP,
        estimator=TRIMMED if alpha > 0.0 else MEAN,
        alpha=alpha,
        explored=1.0 if at_once else explored,
        total=problem.size * explored if at_once else 0.0,
        scale=problem.sigma / (1.0 - epsilon) if theory else problem.sigma,
        delta=problem.delta,
        threshold=THEORY if theory else EMPIRICAL,
        log_constant=gap_log_constant(problem.size, problem.delta, options["power"]),
        power=options["power"],
        uniform=uniform,
        seed=options.get("seed", 0),
    )


def elimination_rule(
    problem: Problem, options: Mapping[str, Any], *, epsilon: float, estimator: int | None = None
) -> Rule:
    """Return the settings of the elimination family; `epsilon` is the one it assumes."""
    alpha = options.get("alpha", 0.0)
    if estimator is None:
        estimator = TRIMMED if alpha > 0.0 else MEAN
    all_pulls = options.get("radius") == "all-pulls"
    counted = options.get("radius_arms", float(problem.size))
    return new_rule(
        family=ELIMINATION,
        estimator=estimator,
        alpha=alpha,
        explored=_explored(problem, options, epsilon),
        scale=problem.sigma if all_pulls else problem.sigma / (1.0 - epsilon),
        delta=problem.delta,
        clock=ALL_PULLS if all_pulls else ROUNDS,
        counted=2.0 * counted if all_pulls else counted,  # pi^2/6 in place of pi^2/12
    )


def _explored(problem: Problem, options: Mapping[str, Any], epsilon: float) -> float:
    """Return T(alpha, delta); a method that trims nothing has epsilon / 2 in place of alpha."""
    if options["exploration"] == "none":
        return 1.0
    pulls = {"hoeffding": hoeffding_pulls, "half": half_pulls, "chernoff": chernoff_pulls}[options["exploration"]]
    return pulls(options.get("alpha", epsilon / 2.0), problem.delta)


def forced_pulls(rule: Rule, arms: int) -> float:
    """Return how many pulls of each arm, on average, come before a method may stop; 0 for certified."""
    total = float(rule["total"][0]) if "total" in (rule.dtype.names or ()) else 0.0
    return max(float(rule["explored"][0]), total / arms)


def too_long(T: float, exploration: str, epsilon: float, alpha: float, delta: float) -> str | None:
    """Return a warning that says what to do if T forced pulls of each arm are more than anybody can afford."""
    if not T > UNAFFORDABLE:
        return None
    shorter = [kind for kind in ("chernoff", "none") if exploration in ("hoeffding", "half") or kind == "none"]
    instead = " or ".join(f'exploration="{kind}"' for kind in shorter)
    return (
        f'exploration="{exploration}" asks for T = {T:.2g} pulls of each arm before any decision '
        f"(epsilon = {epsilon:g}, alpha = {alpha:g}, delta = {delta:g}): use {instead}, a larger alpha, "
        "or the method certified, which has no forced exploration"
    )
