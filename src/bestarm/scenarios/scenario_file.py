"""A scenario as a TOML file, read and turned into experiments. docs/guide/own-scenario.md explains the keys."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from inspect import signature
from pathlib import Path
from typing import Any

from bestarm.bandits import ATTACKS, Arm, Bandit
from bestarm.contamination import of_options, powers
from bestarm.errors import InputError
from bestarm.methods import METHODS
from bestarm.problem import pose
from bestarm.scenarios.experiment import (
    AdversaryChoice,
    CatalogueAttack,
    Curve,
    Experiment,
    Given,
    RandomCentres,
    WithinShare,
)
from bestarm.scenarios.models import VALUES, NamedArm, ScenarioTable, errors_at, join
from bestarm.scenarios.numbers import grid_numbers
from bestarm.validation import checked, number

# What an adversary of one law does, by its parameters.
WORDS = {
    "point": "always {first}",
    "uniform": "uniform within {second:g} of {first}",
    "gaussian": "normal with standard deviation {second:g} around {first}",
}


@dataclass(frozen=True)
class Scenario:
    """A scenario that can be run; `read_scenario` and `parse_scenario` make one.

    Attributes
    ----------
    name, title : str
        The name of its files, and its heading.
    trials, seed : int
        Trials per point, and the seed of the adversaries and of all trials.
    experiments : tuple of Experiment
        One, or one for each epsilon if both delta and epsilon are lists.
    named_arms : tuple of NamedArm
        The arms, each with its label and its law in words.
    text, file : str
        The file itself, and its name.
    """

    name: str
    title: str
    trials: int
    seed: int
    experiments: tuple[Experiment, ...]
    named_arms: tuple[NamedArm, ...]
    text: str
    file: str

    @property
    def sha256(self) -> str:
        """SHA-256 of the text of the file in UTF-8."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The laws of the clean rewards."""
        return self.experiments[0].arms

    @property
    def quota(self) -> bool:
        """Whether the adversary was made to keep to a share, as a method is told that it does."""
        return isinstance(self.experiments[0].adversary, WithinShare)

    @property
    def adversary(self) -> RandomCentres | Given | CatalogueAttack:
        """The adversary that the file names, without a quota."""
        found = self.experiments[0].adversary
        return found.choice if isinstance(found, WithinShare) else found

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The methods."""
        return self.experiments[0].curves


def template() -> str:
    """Return a commented scenario to start from."""
    return files("bestarm.scenarios").joinpath("scenario-template.toml").read_text(encoding="utf-8")


def read_scenario(path: str | Path) -> Scenario:
    """Read a scenario from a file, or reject it with an `InputError` that names the key and what is allowed."""
    shown = str(path)
    try:
        raw = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            "scenario", "be a file that can be read", shown, f"{reason}; bestarm scenario --template prints one"
        ) from None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            "scenario", "be text in UTF-8", shown, f"line {line} is not; save the file with that encoding"
        ) from None
    return parse_scenario(text, file=Path(path).name)


def parse_scenario(text: str, *, file: str = "scenario.toml") -> Scenario:
    """Return the scenario that a text in TOML describes, or reject it.

    >>> scenario = parse_scenario(template())
    >>> scenario.name, len(scenario.arms), scenario.experiments[0].sweep
    ('my-scenario', 4, 'delta')
    """
    table = ScenarioTable.read(_toml(text, file))
    arms = tuple(named.arm for named in table.arms)
    told = pose(len(arms), delta=0.5, epsilon=0.0, sigma=table.sigma, bounds=table.bounds)
    whole = Experiment(
        table.name,
        "",
        table.title or f"{len(arms)} arms",
        arms,
        tuple(table.methods),
        table.delta,
        table.epsilon,
        sigma=told.sigma if told.bounds is None else None,
        bounds=told.bounds,
        adversary=_adversary(table, arms),
        max_pulls=table.max_pulls,
        sweep="epsilon" if len(table.epsilon) > 1 else "delta",
    )
    experiments, named = _split(whole), tuple(table.arms)
    scenario = Scenario(table.name, whole.title, table.trials, table.seed, experiments, named, text, file)
    check_scenario(scenario)
    return scenario


def _split(whole: Experiment) -> tuple[Experiment, ...]:
    """Return an experiment for each epsilon if both delta and epsilon vary."""
    if len(whole.deltas) == 1 or len(whole.epsilons) == 1:
        return (whole,)
    return tuple(
        replace(whole, name=f"{whole.name}-epsilon{epsilon!r}", epsilons=(epsilon,), sweep="delta")
        for epsilon in whole.epsilons
    )


def with_settings(scenario: Scenario, trials: int | None = None, seed: int | None = None) -> Scenario:
    """Return a scenario with another number of trials or another seed."""
    if trials is not None:
        trials = int(checked(trials=trials)[0])
        _checked_draws(getattr(scenario.adversary, "draws", 1), trials)
        scenario = replace(scenario, trials=trials)
    if seed is not None:
        checked(seed=seed)
        scenario = replace(scenario, seed=int(seed))  # past 2^53 a float would round it
        check_scenario(scenario)  # the paper's adversary is drawn by it, and may leave the bounds
    return scenario


# -------------------------------------------------------------------------------------------------------------- TOML


def _toml(text: str, file: str) -> dict[str, Any]:
    try:
        data = tomllib.loads(text.removeprefix("\ufeff"))  # a mark that some editors put first
        _check_sizes(data, "")
    except InputError:
        raise
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, or brackets in brackets in ...
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise InputError("scenario", "be TOML", file, reason) from None
    return data


def _check_sizes(value: Any, path: str) -> None:
    """Reject whole numbers beyond 64 bits: TOML does not promise to read them, and Python can't always print them."""
    if isinstance(value, int) and value.bit_length() > 64:
        raise InputError(path, "be within 64 bits", f"a number of {value.bit_length()} bits", "as TOML has it")
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_sizes(inner, join(path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _check_sizes(inner, f"{path}[{index}]")


# --------------------------------------------------------------------------------------------------------- adversary


def _adversary(table: ScenarioTable, arms: Sequence[Arm]) -> AdversaryChoice:
    """Return the adversary, kept to a share if some method is told that it is."""
    kind, values = table.adversary
    choice: RandomCentres | Given | CatalogueAttack
    if kind == "none":
        return Given(None, "nothing is replaced")
    if kind == "paper":
        draws = _checked_draws(values.get("draws", 1), table.trials)
        choice = RandomCentres(**{**values, "draws": draws})
    elif kind == "attack":
        choice = CatalogueAttack(**values)
        if ATTACKS[choice.name][0] not in powers.BLIND_COINS:
            return choice  # it picks its hits itself
    else:
        (first, *_) = signature(VALUES[kind]).parameters
        with errors_at("adversary", {"adversary": f"adversary.{first}"}):
            adversary = VALUES[kind](**values)
            Bandit(arms, max(table.epsilon), adversary)  # rejects values that are too many or too few
        (piece,) = adversary.pieces
        listed = ", ".join(f"{value:g}" for value in piece.a) + (" (one per arm)" if len(piece.a) > 1 else "")
        choice = Given(adversary, WORDS[kind].format(first=listed, second=piece.b[0]))
    models = [of_options(dict(curve.options)) for curve in table.methods]
    return WithinShare(choice) if any(model is not None and model.counted for model in models) else choice


def _checked_draws(draws: Any, trials: int) -> int:
    if not 1.0 <= number(draws) <= trials or draws % 1 != 0:
        rule = f"be a whole number from 1 to the number of trials, {trials:,}"
        raise InputError("adversary.draws", rule, draws, "this many adversaries share the trials evenly")
    return int(draws)


# ------------------------------------------------------------------------------------------------------------- check


def check_scenario(scenario: Scenario) -> None:
    """Reject what is wrong only together: an adversary that does not fit the arms, bounds that rewards leave, ..."""
    for experiment in scenario.experiments:
        bandits = {epsilon: _bandits(scenario, experiment, epsilon) for epsilon in experiment.epsilons}
        for delta, epsilon in experiment.grid:
            problem = pose(
                len(scenario.arms), delta=delta, epsilon=epsilon, sigma=experiment.sigma, bounds=experiment.bounds
            )
            if problem.bounds is not None:
                _check_bounds(problem.bounds, bandits[epsilon])
            try:
                for index, curve in enumerate(experiment.curves):
                    entry = METHODS[curve.method]
                    with errors_at(f"methods[{index}]"):
                        entry.rule(problem, entry.complete(problem, dict(curve.options)))
                grid_numbers(experiment, delta, epsilon)
            except (ArithmeticError, ValueError) as error:  # such as epsilon = 1e-300
                received = f"delta={delta:g}, epsilon={epsilon:g}, sigma={experiment.scale:g}"
                rule = "be numbers that can be used together"
                raise InputError("delta, epsilon and sigma", rule, received, str(error)) from None


def _bandits(scenario: Scenario, experiment: Experiment, epsilon: float) -> tuple[Bandit, ...]:
    point = experiment.point(experiment.curves[0], experiment.deltas[0], epsilon)
    try:
        with errors_at("adversary", {"means": "arms", "arms": "arms"}):
            return point.bandits(scenario.seed)
    except InputError as error:
        if not isinstance(scenario.adversary, CatalogueAttack):
            raise
        rule = "be an attack for these arms at this epsilon"
        raise InputError("adversary.name", rule, scenario.adversary.name, str(error)) from None


def _check_bounds(bounds: tuple[float, float], bandits: Iterable[Bandit]) -> None:
    for bandit in bandits:
        low, high = bandit.reach()
        if low < bounds[0] or high > bounds[1]:
            reason = f"rewards of this scenario reach from {low:g} to {high:g}, contaminated ones included"
            raise InputError("bounds", "contain all rewards", list(bounds), reason)
