"""Groups of options, which a command gets as one object, and messages, which name settings as data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from typer.testing import CliRunner

from bestarm.cli.commands import grouped
from places import ROOT

SOURCES = ROOT / "src" / "bestarm"
# A keyword argument, or an option that is not part of a whole command (`bestarm scenario --template`).
SYNTAX = re.compile(r"\b[a-z_]+=(?:True|False|None|'|\"|\()|(?<!\w )--[a-z]")


@dataclass(frozen=True)
class Noise:
    """Two options that go together."""

    sigma: Annotated[float, typer.Option(help="Scale.")]
    seed: Annotated[int, typer.Option(help="Seed.")] = 7


@dataclass(frozen=True)
class OtherNoise(Noise):
    """The same with another default."""

    seed: Annotated[int, typer.Option(help="Other seed.")] = 8


def draw(
    name: Annotated[str, typer.Argument()],
    noise: Noise,
    loud: Annotated[bool, typer.Option("--loud")] = False,
) -> None:
    """Print what was given."""
    print(name, noise, loud)


def louder(noise: OtherNoise) -> None:
    """Print what was given."""
    print(noise)


def made() -> typer.Typer:
    app = typer.Typer()
    for function in (draw, louder):
        app.command()(grouped(function))
    return app


def test_a_group_of_options_is_one_object() -> None:
    done = CliRunner().invoke(made(), ["draw", "A", "--sigma", "1.5", "--loud"])
    assert done.output == "A Noise(sigma=1.5, seed=7) True\n"
    done = CliRunner().invoke(made(), ["louder", "--seed", "3", "--sigma", "2"])
    assert done.output == "OtherNoise(sigma=2.0, seed=3)\n"


def test_an_option_of_a_group_without_a_default_is_required() -> None:
    done = CliRunner().invoke(made(), ["louder"])
    assert done.exit_code == 2
    assert "--sigma" in done.output


def test_the_help_lists_the_options_of_a_group() -> None:
    shown = CliRunner().invoke(made(), ["louder", "--help"]).output
    assert "Other seed." in shown
    assert "Scale." in shown
    assert "Print what was given." in shown


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Give the texts of a file that are the rule, the fix or another argument of an error."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            parts: list[ast.expr] = node.args if name.endswith("Error") and name != "AssertionError" else []
        elif isinstance(node, ast.Assign):
            parts = [node.value] if {"fix", "rule"} & {getattr(one, "id", "") for one in node.targets} else []
        else:
            continue
        for part in (inner for one in parts for inner in ast.walk(one)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.lineno, part.value


def test_messages_of_the_library_have_the_syntax_of_no_front_end() -> None:
    """What Python writes as `paired=True` is `--paired` on the command line: a message names it by a `Setting`."""
    files = [path for path in SOURCES.rglob("*.py") if "cli" not in path.relative_to(SOURCES).parts]
    found = [
        (str(path.relative_to(SOURCES)), line, text)
        for path in files
        for line, text in messages(path)
        if SYNTAX.search(text)
    ]
    assert found == []
