"""Options that several commands share, declared once; what epsilon means; how values are read."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from bestarm.cli.output import Format
from bestarm.contamination import CONTAMINATIONS, SIMULATED, default
from bestarm.errors import InputError


def explained(*names: str) -> str:
    """Return the end of a command's help: what epsilon means in each contamination model."""
    lines = (f"{name}: {CONTAMINATIONS[name].words}." for name in names or CONTAMINATIONS)
    return "\n\n".join(("What epsilon means (--contamination, certified only):", *lines))


def explained_of_logs() -> str:
    """Return the same for a log, whose shares are of the rows in it."""
    lines = (f"{name}: {model.log_help}." for name, model in CONTAMINATIONS.items())
    return "\n\n".join(("What epsilon means (--contamination):", *lines))


OWN = "or your own, as module:Name (my_method:TopTwo, in my_method.py of the current folder)"
METHOD = f"certified, g-cbai, se-cbai, random, median-se, mean-se or mean-gap; {OWN}."

_WHAT = "What epsilon means: {} (certified only; see below)."
Contamination = Annotated[
    str | None, typer.Option(help=_WHAT.format(", ".join(CONTAMINATIONS)), show_default=default("live"))
]
SimulatedContamination = Annotated[
    str | None, typer.Option(help=_WHAT.format(", ".join(SIMULATED)), show_default=default("live"))
]
Resolution = Annotated[
    float | None,
    typer.Option(
        help="Stop without a winner after about as many rewards as a lead of this size takes if epsilon = 0 "
        "(certified only).",
        show_default="0.05 sigma; none if epsilon = 0",
    ),
]
GoodEnough = Annotated[
    float | None,
    typer.Option(help="Stop when an arm is proved to be at most this much worse than the best (certified only)."),
]
Method = Annotated[str, typer.Option(help=METHOD)]
Delta = Annotated[float, typer.Option(help="Accepted probability of a wrong answer, in (0, 1).")]
Seed = Annotated[int, typer.Option(help="Seed of all randomness.")]
Workers = Annotated[int, typer.Option(help="Threads.")]
RowFormat = Annotated[Format, typer.Option("--format", help="How to write the rows.")]


@dataclass(frozen=True)
class QuestionOptions:
    """The question that is asked: how sure, how much contamination, how noisy."""

    epsilon: Annotated[float, typer.Option(help="How much may be replaced, in [0, 0.5); see --contamination.")]
    delta: Delta = 0.05
    sigma: Annotated[float | None, typer.Option(help="Sub-Gaussian scale of a clean reward.")] = None
    bounds: Annotated[str | None, typer.Option(help="Lowest and highest reward, such as 0,1, instead of sigma.")] = None

    def keywords(self) -> dict[str, Any]:
        """Return the question as keyword arguments."""
        return {**vars(self), "bounds": pair(self.bounds)}


@dataclass(frozen=True)
class MethodOptions:
    """A method, and the options of `certified`."""

    method: Method = "certified"
    contamination: Contamination = None
    resolution: Resolution = None
    good_enough: GoodEnough = None

    def keywords(self) -> dict[str, Any]:
        """Return the method, and the options that were given, as keyword arguments."""
        return given(**{**vars(self), "method": named_method(self.method)})


@dataclass(frozen=True)
class SimulatedMethodOptions(MethodOptions):
    """A method, and the options of all methods, for rewards that are simulated."""

    contamination: SimulatedContamination = None
    threshold: Annotated[str | None, typer.Option(help="theory or empirical (gap family).")] = None
    exploration: Annotated[str | None, typer.Option(help="hoeffding, half, chernoff or none (not certified).")] = None
    alpha: Annotated[float | None, typer.Option(help="Fraction trimmed off each end.")] = None


def numbers(name: str, text: str) -> list[float]:
    """Return numbers separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(name, "be numbers separated by commas", text, "such as 2.5,2.3,2,0.6") from None


def names(text: str | None) -> list[str] | None:
    """Return names separated by commas; None if none are given."""
    return None if text is None else [name.strip() for name in text.split(",")]


def named_methods(text: str | None) -> list[str] | None:
    """Return methods separated by commas: names, or import paths of the user's own."""
    found = names(text)
    for name in found or ():
        named_method(name)
    return found


def named_method(text: str) -> str:
    """Return the name of a method; an import path may lead to a file in the current folder."""
    from bestarm.policies.import_paths import is_import_path

    if is_import_path(text):
        import_from_here()
    return text


def import_from_here() -> None:
    """Let Python import modules from the current folder, after all other folders, so that a file there hides none."""
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)


def pair(text: str | None) -> tuple[float, float] | None:
    """Return the two ends of a range, separated by a comma; None if no range is given."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError("bounds", "be two numbers separated by a comma", text, "such as 0,1") from None
    return low, high


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None and value is not False}
