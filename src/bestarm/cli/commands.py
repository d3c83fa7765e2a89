"""How a file of this folder declares a command, groups of options, and how all commands are found."""

from __future__ import annotations

import functools
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand


@dataclass(frozen=True)
class Command:
    """A command: `COMMAND = Command(function, rank=...)` in its file.

    Attributes
    ----------
    run : callable or Typer
        The function to run, or a group of commands.
    rank : int
        Its position in the help.
    epilog : str or None
        The last part of its own help.
    kind : type of TyperCommand or None
        A class of its own, for a command that reads its words in another way.
    """

    run: Callable[..., Any] | typer.Typer
    rank: int
    epilog: str | None = None
    kind: type[TyperCommand] | None = None

    def add_to(self, app: typer.Typer) -> None:
        """Add the command to an application."""
        if isinstance(self.run, typer.Typer):
            app.add_typer(self.run)
        else:
            app.command(cls=self.kind, help=_unwrapped(self.run), epilog=self.epilog)(grouped(self.run))


def _unwrapped(function: Callable[..., Any]) -> str:
    """Return a docstring with each paragraph on one line: typer keeps line breaks, and a terminal wraps again."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def grouped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that has the fields of a dataclass as options, for each parameter that is such a dataclass.

    So options that belong together, or that several commands share, are declared once; the function gets them as one
    object.
    """
    hints = get_type_hints(function, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if is_dataclass(kind) and isinstance(kind, type)}
    options: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        alone = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])]
        options += _options_of(groups[name]) if name in groups else alone

    @functools.wraps(function)
    def command(**values: Any) -> Any:
        made = {name: kind(**{one.name: values.pop(one.name) for one in fields(kind)}) for name, kind in groups.items()}
        return function(**values, **made)

    command.__annotations__ = {option.name: option.annotation for option in options}
    command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return command


def _options_of(group: type) -> list[inspect.Parameter]:
    types = get_type_hints(group, include_extras=True)
    empty, kind = inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY
    defaults = {one.name: empty if one.default is MISSING else one.default for one in fields(group)}
    return [inspect.Parameter(name, kind, default=defaults[name], annotation=types[name]) for name in defaults]


def all_commands() -> list[Command]:
    """Return the commands of all files of this folder, by rank."""
    names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])]
    modules = [import_module(f"bestarm.cli.{name}") for name in names if name != "app"]
    return sorted((module.COMMAND for module in modules if hasattr(module, "COMMAND")), key=lambda one: one.rank)
