"""The tables of a scenario file, as pydantic models: which keys each has.

What a value may be is decided where it is used: by the laws, the adversaries and the options of the methods. Every
error names the key by its path in the file, such as `arms[2].mean`; lists count from 0.
"""

from __future__ import annotations

import contextlib
import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    create_model,
)

from bestarm.bandits import ATTACKS, Adversary, Arm, adversaries
from bestarm.bandits import LAWS as ALL_LAWS
from bestarm.contamination import SIMULATED, of_options
from bestarm.errors import InputError
from bestarm.methods import METHODS
from bestarm.scenarios.experiment import MAX_PULLS, CatalogueAttack, Curve, RandomCentres
from bestarm.validation import checked

# All laws, as a file calls them: gaussian, lognormal, student-t.
LAWS: dict[str, Callable[..., Arm]] = {
    re.sub(r"(?<=[a-z])([A-Z])$", r"-\1", name).lower(): law for name, law in ALL_LAWS.items()
}
# Laws whose arms fit in one table [arms] with a list `means`, and the parameter that is the mean.
BY_MEANS = {
    name: parameter
    for name, law in LAWS.items()
    for parameter in ("mean", "p")
    if parameter in inspect.signature(law).parameters
}
# Adversaries that draw from one law. Their first parameter is one number for all arms, or one for each.
VALUES: dict[str, Callable[..., Adversary]] = {
    "point": adversaries.Point,
    "uniform": adversaries.Uniform,
    "gaussian": adversaries.Gaussian,
}
KINDS: dict[str, Callable[..., Any]] = {
    "paper": RandomCentres,
    **VALUES,
    "attack": CatalogueAttack,
    "none": lambda: None,
}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LONGEST = {"title": 200, "label": 40}
REPORTED_FIRST = {"extra_forbidden": 0, "missing": 1}  # before values that break a rule


class TomlTable(BaseModel):
    """A table of the file. Validators name keys relative to their table; `read` adds the path of the table."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    @classmethod
    def read(cls, table: Any, path: str = "") -> Self:
        """Return the table at a path, or raise an `InputError` for a key that is unknown, missing or wrong."""
        _check_table(table, path)
        try:
            return cls.model_validate(table)
        except ValidationError as error:
            found: Any = min(error.errors(), key=lambda found: REPORTED_FIRST.get(found["type"], 2))
        if found["type"] in REPORTED_FIRST:
            raise cls._wrong_key(str(found["loc"][0]), table, path)
        with errors_at(path):
            raise found["ctx"]["error"]

    @classmethod
    def _wrong_key(cls, key: str, table: Mapping[str, Any], path: str) -> InputError:
        required = [name for name, field in cls.model_fields.items() if field.is_required()]
        optional = [name for name in cls.model_fields if name not in required]
        if key in table:
            near = difflib.get_close_matches(key, [*required, *optional], 1)
            fix = f"did you mean {join(path, near[0])}?" if near else "remove it, or check the spelling"
            rule = f"be one of the keys {', '.join([*required, *optional])}"
            return InputError(join(path, key), rule, table[key], fix)
        inside = [name for name, inner in table.items() if isinstance(inner, dict) and key in inner]
        fix = f"{path or 'a scenario'} has {', '.join(required)}"
        fix += f"; optional: {', '.join(optional)}" if optional else ""
        if inside and not path:
            fix = f"it stands in [{inside[0]}]; move it above the first line in brackets"
        return InputError(join(path, key), "be given", None, fix)

    def given(self, table: Iterable[str], *without: str) -> dict[str, Any]:
        """Return the keys that the file has, with their values and in its order, without some."""
        return {key: getattr(self, key) for key in table if key not in without}


def join(path: str, key: str) -> str:
    """Return the path of a key in the table at a path."""
    return f"{path}.{key}" if path else key


@contextlib.contextmanager
def errors_at(path: str, renamed: Mapping[str, str] | None = None) -> Iterator[None]:
    """Raise errors again with the path of their parameter: below `path`, or as `renamed` says."""
    try:
        yield
    except InputError as error:
        parameter = (renamed or {}).get(error.parameter, join(path, error.parameter))
        raise error.about(parameter) from None


def _check_table(table: Any, path: str) -> None:
    if not isinstance(table, dict):
        raise InputError(path, "be a table of keys", table, "such as [adversary] with its keys in the lines below it")


def chosen(table: Any, path: str, key: str, allowed: Iterable[str], fix: str = "") -> str:
    """Return the name that says which other keys a table has: a law, a kind of adversary, a method."""
    _check_table(table, path)
    names, value = tuple(allowed), table.get(key)
    if key not in table:
        rule = f"be given, as one of {', '.join(names)}"
        raise InputError(join(path, key), rule, None, fix or f'such as {key} = "{names[0]}"')
    if not isinstance(value, str) or value not in names:
        near = difflib.get_close_matches(value, names, 1) if isinstance(value, str) else []
        hint = f"did you mean {near[0]}?" if near else fix or "check the spelling"
        raise InputError(join(path, key), f"be one of {', '.join(names)}", value, hint)
    return value


@cache
def _with_parameters(base: type[TomlTable], build: Callable[..., Any], without: str = "") -> type[Any]:
    """Return a table whose keys are also the parameters of a function."""
    found = [parameter for name, parameter in inspect.signature(build).parameters.items() if name != without]
    fields: dict[str, Any] = {p.name: (Any, ... if p.default is p.empty else p.default) for p in found}
    return create_model(base.__name__, __base__=base, **fields)


def _line(value: Any, info: ValidationInfo) -> str:
    key = str(info.field_name)
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > LONGEST[key]:
        raise InputError(key, f"be one line of text, at most {LONGEST[key]} characters", value, "put it in quotes")
    return value.strip()


Line = Annotated[str | None, PlainValidator(_line)]


# -------------------------------------------------------------------------------------------------------------- arms


class NamedArm(NamedTuple):
    """An arm, its label, and its law in words."""

    label: str
    law: str
    arm: Arm


def _means(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InputError("means", "be a list of numbers", value, "such as [2.5, 2.3, 2.0]")
    return value


class ArmTable(TomlTable):
    """One arm of the list [[arms]]; its law has further keys."""

    law: str
    label: Line = None


class ArmsTable(TomlTable):
    """All arms in one table [arms], by their means; its law has further keys, common to all."""

    law: str
    means: Annotated[list[Any], PlainValidator(_means)]


def _arms(given: Any) -> list[NamedArm]:
    if isinstance(given, dict):
        return _arms_by_means(given)
    if not isinstance(given, list):
        raise InputError("arms", "be a table [arms] or a list [[arms]]", given, "see bestarm scenario --template")
    arms: list[NamedArm] = []
    for index, table in enumerate(given):
        path = f"arms[{index}]"
        law = LAWS[chosen(table, path, "law", LAWS)]
        read = _with_parameters(ArmTable, law).read(table, path)
        values = read.given(table, "law", "label")
        with errors_at(path):
            arm = law(**values)
        label = read.label or f"arm {index}"
        if label in [other.label for other in arms]:
            raise InputError(f"{path}.label", "differ from those of other arms", label, "rename one of the two")
        arms.append(NamedArm(label, _words(read.law, values), arm))
    return _at_least_two("arms", arms)


def _arms_by_means(table: dict[str, Any]) -> list[NamedArm]:
    fix = "other laws take a list: [[arms]] for each arm, with two brackets"
    name = chosen(table, "arms", "law", BY_MEANS, fix)
    law, mean = LAWS[name], BY_MEANS[name]
    read = _with_parameters(ArmsTable, law, without=mean).read(table, "arms")
    arms = []
    for index, value in enumerate(read.means):
        values = {mean: value, **read.given(table, "law", "means")}
        with errors_at("arms", {mean: f"arms.means[{index}]"}):
            arms.append(NamedArm(f"arm {index}", _words(name, values), law(**values)))
    return _at_least_two("arms.means", arms)


def _at_least_two(path: str, arms: list[NamedArm]) -> list[NamedArm]:
    if len(arms) < 2:
        fix = "among fewer arms there is nothing to identify"
        raise InputError(path, "be at least two", [named.arm for named in arms], fix)
    return arms


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


class AdversaryTable(TomlTable):
    """[adversary]; its kind has further keys."""

    kind: str


def _adversary(table: Any) -> tuple[str, dict[str, Any]]:
    """Return the kind of adversary, and its parameters."""
    kind = chosen(table, "adversary", "kind", KINDS)
    if kind == "attack":
        chosen(table, "adversary", "name", ATTACKS)
    read = _with_parameters(AdversaryTable, KINDS[kind]).read(table, "adversary")
    return kind, read.given(table, "kind")


# ----------------------------------------------------------------------------------------------------------- methods


class MethodTable(TomlTable):
    """One of [[methods]]; its options are further keys."""

    name: str
    label: Line = None


@cache
def _method_table(name: str) -> type[Any]:
    checks = {option.name: Annotated[Any, AfterValidator(option.check)] for option in METHODS[name].options}
    fields: dict[str, Any] = {option: (check, None) for option, check in checks.items()}
    return create_model("MethodTable", __base__=MethodTable, **fields)


def _curves(given: Any) -> list[Curve]:
    if not isinstance(given, list) or not given:
        raise InputError("methods", "be a list of at least one table", given, "write [[methods]], with two brackets")
    curves: list[Curve] = []
    for index, table in enumerate(given):
        path = f"methods[{index}]"
        fix = "check the spelling; a method of your own goes with bestarm simulate --means, or bestarm.simulate"
        name = chosen(table, path, "name", METHODS, fix)
        read = _method_table(name).read(table, path)
        options = read.given(table, "name", "label")
        model = of_options(options)
        if model is not None and not model.simulated:
            rule = f"be one of {', '.join(SIMULATED)}"
            raise InputError(f"{path}.contamination", rule, model.name, "simulated rewards have no sources")
        label = read.label or default_label(name, options)
        if label in [curve.label for curve in curves]:
            raise InputError(f"{path}.label", "differ from those of other methods", label, "give each a label")
        curves.append(Curve(label, name, options=tuple(options.items())))
    return curves


def default_label(name: str, options: Mapping[str, Any]) -> str:
    """Return a label for a method with options.

    >>> default_label("g-cbai", {"threshold": "empirical", "alpha": 0.1})
    'g-cbai (empirical, alpha 0.1)'
    """
    words = [value if isinstance(value, str) else f"{key} {shown(value)}" for key, value in options.items()]
    return f"{name} ({', '.join(words)})" if words else name


# ------------------------------------------------------------------------------------------------------ the whole file


def _name(value: Any) -> str:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        rule = "be 1 to 64 letters, digits, dots, - or _, a letter or digit first"
        raise InputError("name", rule, value, "files are named after it")
    return value


def _whole(value: Any, info: ValidationInfo) -> int:
    checked(**{str(info.field_name): value})
    return int(value)  # past 2^53 a float would round it


def _axis(value: Any, info: ValidationInfo) -> Sequence[float]:
    """Return the values of delta or epsilon: a number, or a list of different ones."""
    key, found = str(info.field_name), list[float]()
    if value == []:
        raise InputError(key, "be a number or a list of at least one", value, f"such as {key} = [0.01, 0.1]")
    for index, one in enumerate(value if isinstance(value, list) else [value]):
        path = f"{key}[{index}]" if isinstance(value, list) else key
        with errors_at("", {key: path}):
            found += checked(**{key: one})
        if found[-1] in found[:-1]:
            raise InputError(path, f"differ from the other values of {key}", one, "remove one of the two")
    return tuple(found)


Whole = Annotated[int, PlainValidator(_whole)]
Axis = Annotated[tuple[float, ...], PlainValidator(_axis)]


class ScenarioTable(TomlTable):
    """The whole file."""

    name: Annotated[str, PlainValidator(_name)]
    trials: Whole
    seed: Whole
    delta: Axis
    epsilon: Axis
    arms: Annotated[list[NamedArm], PlainValidator(_arms)]
    adversary: Annotated[tuple[str, dict[str, Any]], PlainValidator(_adversary)]
    methods: Annotated[list[Curve], PlainValidator(_curves)]
    title: Line = None
    max_pulls: Whole = MAX_PULLS
    sigma: Any = None
    bounds: Any = None
