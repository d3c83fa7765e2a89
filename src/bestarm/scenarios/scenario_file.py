"""A scenario as a TOML file: read, checked, and turned into experiments. docs/guide/own-scenario.md explains the keys.

Every refusal names the key by its path in the file, such as `arms[2].mean`; lists count from 0. What a value may be is
said once, by whoever uses it (laws, adversaries, methods): their errors are raised again with the path.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import inspect
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from bestarm.bandits import ATTACKS, Adversary, Arm, Bandit, adversaries
from bestarm.bandits import LAWS as ALL_LAWS
from bestarm.contamination import SIMULATED, of_options
from bestarm.errors import InputError
from bestarm.methods import METHODS
from bestarm.problem import Problem, pose
from bestarm.scenarios.experiment import MAX_PULLS, Attack, Curve, Experiment, Given, RandomCentres
from bestarm.scenarios.numbers import grid_numbers
from bestarm.validation import checked, number

# All laws, as a file calls them: gaussian, lognormal, student-t.
LAWS: dict[str, Callable[..., Arm]] = {
    re.sub(r"(?<=[a-z])([A-Z])$", r"-\1", name).lower(): law for name, law in ALL_LAWS.items()
}
# Laws of which one table gives all arms, by a list `means`; and the parameter that is the mean.
BY_MEANS = {
    name: parameter
    for name, law in LAWS.items()
    for parameter in ("mean", "p")
    if parameter in inspect.signature(law).parameters
}
# Adversaries that are one law, and their words; the first parameter is one number for all arms, or one for each.
VALUES: dict[str, tuple[Callable[..., Adversary], str]] = {
    "point": (adversaries.Point, "always {first}"),
    "uniform": (adversaries.Uniform, "uniform within {second:g} of {first}"),
    "gaussian": (adversaries.Gaussian, "normal with standard deviation {second:g} around {first}"),
}
KINDS = ("paper", *VALUES, "attack", "none")
KEYS = ("name", "trials", "seed", "delta", "epsilon", "arms", "adversary", "methods")
OPTIONAL_KEYS = ("title", "max_pulls", "sigma", "bounds")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LONGEST_TITLE, LONGEST_LABEL = 200, 40


@dataclass(frozen=True)
class Scenario:
    """A scenario that can be run; `read_scenario` and `parse_scenario` make one.

    Attributes
    ----------
    name, title : str
        The name of its files, and its heading.
    trials, seed : int
        Trials a point, and the seed of the adversaries and of all trials.
    experiments : tuple of Experiment
        One, or one for each epsilon if there are several of delta too.
    labels, laws : tuple of str
        Name and law of each arm, in words.
    quota : bool
        Whether the adversary was made to keep to a share, as a method is told that it does.
    text, file : str
        The file itself, and its name.
    """

    name: str
    title: str
    trials: int
    seed: int
    experiments: tuple[Experiment, ...]
    labels: tuple[str, ...]
    laws: tuple[str, ...]
    quota: bool
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
    def curves(self) -> tuple[Curve, ...]:
        """The methods."""
        return self.experiments[0].curves


def template() -> str:
    """Return a commented scenario to start from."""
    return files("bestarm.scenarios").joinpath("scenario-template.toml").read_text(encoding="utf-8")


def read_scenario(path: str | Path) -> Scenario:
    """Read a scenario from a file, or refuse it with an `InputError` that names the key and what is allowed."""
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
    """Return the scenario that a text in TOML describes, or refuse it.

    >>> scenario = parse_scenario(template())
    >>> scenario.name, len(scenario.arms), scenario.experiments[0].sweep
    ('my-scenario', 4, 'delta')
    """
    data = _toml(text, file)
    _check_keys(data, "", KEYS, OPTIONAL_KEYS)
    name = data["name"]
    if not isinstance(name, str) or not NAME.fullmatch(name):
        rule = "be 1 to 64 letters, digits, dots, - or _, a letter or digit first"
        raise InputError("name", rule, name, "files are named after it")
    labels, laws, arms = _arms(data["arms"])
    (trials,) = checked(trials=data["trials"])
    seed = _whole("seed", data["seed"])
    cap = MAX_PULLS if "max_pulls" not in data else _whole("max_pulls", data["max_pulls"])
    deltas, epsilons = (_axis(key, data[key]) for key in ("delta", "epsilon"))
    told = pose(len(arms), delta=0.5, epsilon=0.0, sigma=data.get("sigma"), bounds=data.get("bounds"))
    curves = _curves(data["methods"])
    models = [of_options(dict(curve.options)) for curve in curves]
    quota = any(model is not None and model.counted for model in models)
    adversary, quota = _adversary(data["adversary"], arms, int(trials), max(epsilons), quota)
    title = _line("title", data["title"], LONGEST_TITLE) if "title" in data else f"{len(arms)} arms"
    whole = Experiment(
        name,
        "",
        title,
        arms,
        curves,
        deltas,
        epsilons,
        sigma=told.sigma if told.bounds is None else None,
        bounds=told.bounds,
        adversary=adversary,
        max_pulls=cap,
        sweep="epsilon" if len(epsilons) > 1 else "delta",
    )
    split = len(deltas) > 1 and len(epsilons) > 1
    experiments = (
        tuple(
            replace(whole, name=f"{name}-epsilon{epsilon!r}", epsilons=(epsilon,), sweep="delta")
            for epsilon in epsilons
        )
        if split
        else (whole,)
    )
    scenario = Scenario(name, title, int(trials), seed, experiments, labels, laws, quota, text, file)
    check_scenario(scenario)
    return scenario


def with_settings(scenario: Scenario, trials: int | None = None, seed: int | None = None) -> Scenario:
    """Return a scenario with another number of trials or another seed."""
    if trials is not None:
        trials = int(checked(trials=trials)[0])
        _check_draws(getattr(scenario.experiments[0].adversary, "draws", 1), trials)
        scenario = replace(scenario, trials=trials)
    if seed is not None:
        scenario = replace(scenario, seed=_whole("seed", seed))
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
    """Refuse whole numbers that TOML does not promise to read: Python does, and can't always print them."""
    if isinstance(value, int) and value.bit_length() > 64:
        raise InputError(path, "be within 64 bits", f"a number of {value.bit_length()} bits", "as TOML has it")
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_sizes(inner, _join(path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _check_sizes(inner, f"{path}[{index}]")


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _check_keys(table: Any, path: str, required: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Refuse what is no table, a key that means nothing, and a key that is missing, in this order."""
    _check_table(table, path)
    allowed = (*required, *optional)
    for key, value in table.items():
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, 1)
            fix = f"did you mean {_join(path, near[0])}?" if near else "remove it, or check the spelling"
            raise InputError(_join(path, key), f"be one of the keys {', '.join(allowed)}", value, fix)
    for key in required:
        if key not in table:
            inside = [name for name, inner in table.items() if isinstance(inner, dict) and key in inner]
            if inside and not path:
                fix = f"it stands in [{inside[0]}]; move it above the first line in brackets"
                raise InputError(key, "be given", None, fix)
            where = f"{path} has" if path else "a scenario has"
            options = f"; optional: {', '.join(optional)}" if optional else ""
            raise InputError(_join(path, key), "be given", None, f"{where} {', '.join(required)}{options}")


def _check_table(table: Any, path: str) -> None:
    if not isinstance(table, dict):
        raise InputError(path, "be a table of keys", table, "such as [adversary] with its keys in the lines below it")


def _chosen(table: Any, path: str, key: str, allowed: Iterable[str], fix: str = "") -> str:
    """Return the name that says which other keys a table has."""
    _check_table(table, path)
    names, full_key = tuple(allowed), _join(path, key)
    if key not in table:
        raise InputError(
            full_key, f"be given, as one of {', '.join(names)}", None, fix or f'such as {key} = "{names[0]}"'
        )
    value = table[key]
    if not isinstance(value, str) or value not in names:
        near = difflib.get_close_matches(value, names, 1) if isinstance(value, str) else []
        hint = f"did you mean {near[0]}?" if near else fix or "check the spelling"
        raise InputError(full_key, f"be one of {', '.join(names)}", value, hint)
    return value


def _line(path: str, value: Any, longest: int) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > longest:
        raise InputError(path, f"be one line of text, at most {longest} characters", value, "put it in quotes")
    return value.strip()


def _whole(key: str, value: Any) -> int:
    checked(**{key: value})
    return int(value)  # past 2^53 a float would round it


def _axis(key: str, given: Any) -> tuple[float, ...]:
    """Return the values of delta or epsilon: a number, or a list of different ones."""
    values = given if isinstance(given, list) else [given]
    if not values:
        raise InputError(key, "be a number or a list of at least one", given, f"such as {key} = [0.01, 0.1]")
    found: list[float] = []
    for index, value in enumerate(values):
        path = f"{key}[{index}]" if isinstance(given, list) else key
        with _at(path, {key: path}):
            found += checked(**{key: value})
        if found[-1] in found[:-1]:
            raise InputError(path, f"differ from the other values of {key}", value, "remove one of the two")
    return tuple(found)


@contextlib.contextmanager
def _at(path: str, renamed: Mapping[str, str] | None = None) -> Iterator[None]:
    """Raise errors again with the path of the key: the parameter's below `path`, or what `renamed` says."""
    try:
        yield
    except InputError as error:
        full_key = (renamed or {}).get(error.parameter, _join(path, error.parameter))
        raise error.about(full_key) from None


def _parameters(build: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """Return the parameters of a function that must be given, and those that may be."""
    found = inspect.signature(build).parameters.values()
    bare = inspect.Parameter.empty
    return [p.name for p in found if p.default is bare], [p.name for p in found if p.default is not bare]


# -------------------------------------------------------------------------------------------------------------- arms


def _arms(given: Any) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Arm, ...]]:
    """Return the labels of the arms, their laws in words, and the arms."""
    if isinstance(given, dict):
        return _arms_by_means(given)
    if not isinstance(given, list):
        raise InputError("arms", "be a table [arms] or a list [[arms]]", given, "see bestarm scenario --template")
    labels, laws, arms = [], [], []
    for index, table in enumerate(given):
        path = f"arms[{index}]"
        law = _chosen(table, path, "law", LAWS)
        required, optional = _parameters(LAWS[law])
        _check_keys(table, path, ["law", *required], ["label", *optional])
        values = {key: value for key, value in table.items() if key not in ("law", "label")}
        with _at(path):
            arms.append(LAWS[law](**values))
        label = _line(f"{path}.label", table["label"], LONGEST_LABEL) if "label" in table else f"arm {index}"
        if label in labels:
            raise InputError(f"{path}.label", "differ from those of other arms", label, "rename one of the two")
        labels.append(label)
        laws.append(_words(law, values))
    _check_two("arms", arms)
    return tuple(labels), tuple(laws), tuple(arms)


def _arms_by_means(table: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Arm, ...]]:
    law = _chosen(table, "arms", "law", BY_MEANS, "other laws take a list: [[arms]] for each arm, with two brackets")
    build, mean = LAWS[law], BY_MEANS[law]
    required, optional = ([key for key in keys if key != mean] for keys in _parameters(build))
    _check_keys(table, "arms", ["law", "means", *required], optional)
    means = table["means"]
    if not isinstance(means, list):
        raise InputError("arms.means", "be a list of numbers", means, "such as [2.5, 2.3, 2.0]")
    shared = {key: value for key, value in table.items() if key not in ("law", "means")}
    arms = []
    for index, value in enumerate(means):
        with _at("arms", {mean: f"arms.means[{index}]"}):
            arms.append(build(**{mean: value}, **shared))
    _check_two("arms.means", means)
    laws = tuple(_words(law, {mean: value, **shared}) for value in means)
    return tuple(f"arm {index}" for index in range(len(arms))), laws, tuple(arms)


def _check_two(path: str, arms: Sequence[Any]) -> None:
    if len(arms) < 2:
        raise InputError(path, "be at least two", arms, "among fewer arms there is nothing to identify")


def _words(name: str, values: Mapping[str, Any]) -> str:
    """Return a law with its parameters, such as "gaussian, mean 2.5, sigma 1"."""
    return ", ".join([name, *(f"{key} {shown(value)}" for key, value in values.items())])


def shown(value: Any) -> str:
    """Return a value of the file in few characters."""
    if isinstance(value, list):
        rest = f" and {len(value) - 8} more" if len(value) > 8 else ""
        return "(" + ", ".join(shown(one) for one in value[:8]) + f"{rest})"
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


# --------------------------------------------------------------------------------------------------------- adversary


@dataclass(frozen=True)
class QuotaCentres(RandomCentres):
    """The paper's adversary, kept to a share of each arm."""

    def adversaries(self, arms: tuple[Arm, ...], epsilon: float, seed: int) -> tuple[Adversary, ...]:
        """Return the adversaries of a seed."""
        drawn = super().adversaries(arms, epsilon, seed)
        return tuple(adversaries.Quota(adversary, "random") for adversary in drawn)


@dataclass(frozen=True)
class QuotaAttack(Attack):
    """An attack of the catalogue, kept to a share of each arm."""

    def adversaries(self, arms: tuple[Arm, ...], epsilon: float, seed: int) -> tuple[Adversary, ...]:
        """Return the attack on these arms."""
        (attack,) = super().adversaries(arms, epsilon, seed)
        return (adversaries.Quota(attack, "random"),)


def _adversary(
    table: Any, arms: Sequence[Arm], trials: int, epsilon: float, quota: bool
) -> tuple[RandomCentres | Given | Attack, bool]:
    """Return the adversary, and whether it was made to keep to a share."""
    kind = _chosen(table, "adversary", "kind", KINDS)
    values = {key: value for key, value in table.items() if key != "kind"}
    if kind == "none":
        _check_keys(table, "adversary", ["kind"])
        return Given(None, "nothing is replaced"), False
    if kind == "attack":
        _check_keys(table, "adversary", ["kind", "name"])
        name = _chosen(table, "adversary", "name", ATTACKS)
        wrapped = quota and ATTACKS[name][0] in ("oblivious", "prescient")  # the others pick what they hit
        return (QuotaAttack if wrapped else Attack)(name), wrapped
    if kind == "paper":
        _check_keys(table, "adversary", ["kind"], [field.name for field in fields(RandomCentres)])
        return _centres(values, trials, epsilon, quota), quota
    build, sentence = VALUES[kind]
    required, optional = _parameters(build)
    _check_keys(table, "adversary", ["kind", *required], optional)
    with _at("adversary", {"adversary": f"adversary.{required[0]}"}):
        adversary = build(**values)
        Bandit(arms, epsilon, adversary)  # refuses values that are too many or too few
    (piece,) = adversary.pieces
    first = ", ".join(f"{value:g}" for value in piece.a) + (" (one per arm)" if len(piece.a) > 1 else "")
    words = sentence.format(first=first, second=piece.b[0])
    return Given(adversaries.Quota(adversary, "random") if quota else adversary, words), quota


def _centres(values: dict[str, Any], trials: int, epsilon: float, quota: bool) -> RandomCentres:
    given = {**{field.name: field.default for field in fields(RandomCentres)}, **values}
    _check_draws(given["draws"], trials)
    highest = 1.0 - epsilon  # above it a draw that fits may take for ever to find; up to it, one in K fits at least
    if not 0.0 <= number(given["margin"]) <= highest or given["margin"] == 1.0:
        rule = f"be in [0, {highest:g}]" if highest < 1.0 else "be in [0, 1)"
        raise InputError(
            "adversary.margin", rule, given["margin"], "it is the part of every gap that is left, up to 1 - epsilon"
        )
    if not 0.0 < number(given["reach"]) <= 1e290:
        raise InputError(
            "adversary.reach", "be a finite number > 0", given["reach"], "it is how far centres may be from the means"
        )
    kind = QuotaCentres if quota else RandomCentres
    return kind(float(given["margin"]), float(given["reach"]), int(given["draws"]))


def _check_draws(draws: Any, trials: int) -> None:
    count = number(draws)
    if not (1.0 <= count <= trials and count % 1.0 == 0.0):
        rule = f"be a whole number from 1 to the number of trials, {trials:,}"
        raise InputError("adversary.draws", rule, draws, "this many adversaries share the trials evenly")


# ----------------------------------------------------------------------------------------------------------- methods


def _curves(given: Any) -> tuple[Curve, ...]:
    if not isinstance(given, list) or not given:
        raise InputError("methods", "be a list of at least one table", given, "write [[methods]], with two brackets")
    curves: list[Curve] = []
    for index, table in enumerate(given):
        path = f"methods[{index}]"
        fix = "check the spelling; a method of your own goes with bestarm simulate --means, or bestarm.simulate"
        name = _chosen(table, path, "name", METHODS, fix)
        known = {option.name: option for option in METHODS[name].options}
        _check_keys(table, path, ["name"], ["label", *known])
        options = {key: value for key, value in table.items() if key not in ("name", "label")}
        with _at(path):
            options = {key: known[key].check(value) for key, value in options.items()}
        model = of_options(options)
        if model is not None and not model.simulated:
            rule = f"be one of {', '.join(SIMULATED)}"
            raise InputError(f"{path}.contamination", rule, model.name, "simulated rewards have no sources")
        label = _line(f"{path}.label", table["label"], LONGEST_LABEL) if "label" in table else _label(name, options)
        if label in [curve.label for curve in curves]:
            raise InputError(f"{path}.label", "differ from those of other methods", label, "give each a label")
        curves.append(Curve(label, name, options=tuple(options.items())))
    return tuple(curves)


def _label(name: str, options: Mapping[str, Any]) -> str:
    """Return a label for a method with options.

    >>> _label("g-cbai", {"threshold": "empirical", "alpha": 0.1})
    'g-cbai (empirical, alpha 0.1)'
    """
    words = [value if isinstance(value, str) else f"{key} {shown(value)}" for key, value in options.items()]
    return f"{name} ({', '.join(words)})" if words else name


# ------------------------------------------------------------------------------------------------------------- check


def check_scenario(scenario: Scenario) -> None:
    """Refuse what is wrong only together: an adversary that does not fit the arms, bounds that rewards leave, ..."""
    for experiment in scenario.experiments:
        bandits = {epsilon: _bandits(experiment, epsilon, scenario.seed) for epsilon in experiment.epsilons}
        for delta, epsilon in experiment.grid:
            problem = pose(
                len(scenario.arms), delta=delta, epsilon=epsilon, sigma=experiment.sigma, bounds=experiment.bounds
            )
            if problem.bounds is not None:
                _check_bounds(problem.bounds, bandits[epsilon])
            try:
                _check_methods(problem, experiment.curves)
                grid_numbers(experiment, delta, epsilon)
            except (ArithmeticError, ValueError) as error:  # such as epsilon = 1e-300
                received = f"delta={delta:g}, epsilon={epsilon:g}, sigma={experiment.scale:g}"
                rule = "be numbers that can be reckoned with together"
                raise InputError("delta, epsilon and sigma", rule, received, str(error)) from None


def _bandits(experiment: Experiment, epsilon: float, seed: int) -> tuple[Bandit, ...]:
    point = experiment.point(experiment.curves[0], experiment.deltas[0], epsilon)
    if isinstance(experiment.adversary, Attack):
        try:
            return point.bandits(seed)
        except InputError as error:
            rule = "be an attack for these arms at this epsilon"
            raise InputError("adversary.name", rule, experiment.adversary.name, str(error)) from None
    with _at("adversary", {"means": "arms"}):
        return point.bandits(seed)


def _check_bounds(bounds: tuple[float, float], bandits: Iterable[Bandit]) -> None:
    for bandit in bandits:
        low, high = bandit.reach()
        if low < bounds[0] or high > bounds[1]:
            reason = f"rewards of this scenario reach from {low:g} to {high:g}, contaminated ones included"
            raise InputError("bounds", "contain all rewards", list(bounds), reason)


def _check_methods(problem: Problem, curves: Sequence[Curve]) -> None:
    for index, curve in enumerate(curves):
        entry = METHODS[curve.method]
        with _at(f"methods[{index}]"):
            entry.rule(problem, entry.complete(problem, dict(curve.options)))
