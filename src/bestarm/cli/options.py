"""Options that several commands share, and what epsilon means, in plain words."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from bestarm.contamination import CONTAMINATIONS, SIMULATED, default


def explained(*names: str) -> str:
    """Return the last part of a command's help: what epsilon means with each kind of contamination."""
    lines = (f"{name}: {CONTAMINATIONS[name].words}." for name in names or CONTAMINATIONS)
    return "\n\n".join(("What epsilon means (--contamination, certified only):", *lines))


def explained_of_logs() -> str:
    """Return the same for a log, all of which is there: shares are of what is in it."""
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


def numbers(name: str, text: str) -> list[float]:
    """Return numbers separated by commas."""
    from bestarm.errors import InputError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(name, "be numbers separated by commas", text, "such as 2.5,2.3,2,0.6") from None


def names(text: str | None) -> list[str] | None:
    """Return names separated by commas; None if there are none."""
    return None if text is None else [name.strip() for name in text.split(",")]


def named_methods(text: str | None) -> list[str] | None:
    """Return names of methods separated by commas, or import paths of the user's own."""
    found = names(text)
    for name in found or ():
        named_method(name)
    return found


def named_method(text: str) -> str:
    """Return the name of a method; if it is an import path, what it leads to may be in the current folder."""
    from bestarm.policies.import_paths import is_import_path

    if is_import_path(text):
        look_here()
    return text


def look_here() -> None:
    """Let modules be imported from the current folder: after all others, so that a file there hides nothing."""
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)


def pair(text: str | None) -> tuple[float, float] | None:
    """Return the two ends of a range, separated by a comma; None if there is none."""
    from bestarm.errors import InputError

    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError("bounds", "be two numbers separated by a comma", text, "such as 0,1") from None
    return low, high


def given(**options: object) -> dict[str, object]:
    """Return the options of a method that were given."""
    return {name: value for name, value in options.items() if value is not None and value is not False}
