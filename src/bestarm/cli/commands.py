"""What a file of this folder says to be a command, and how all commands are found: by walking the folder."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand


@dataclass(frozen=True)
class Command:
    """A command: `COMMAND = Command(function, rank=...)` in its file.

    Attributes
    ----------
    run : callable or Typer
        What it does, or the group of commands that it is.
    rank : int
        Its place in the help.
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
        """Make it a command of an application."""
        if isinstance(self.run, typer.Typer):
            app.add_typer(self.run)
        else:
            app.command(cls=self.kind, epilog=self.epilog)(self.run)


def all_commands() -> list[Command]:
    """Return the commands of all files of this folder, by rank."""
    names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])]
    modules = [import_module(f"bestarm.cli.{name}") for name in names if name != "app"]
    return sorted((module.COMMAND for module in modules if hasattr(module, "COMMAND")), key=lambda one: one.rank)
