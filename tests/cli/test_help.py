"""The help of commands about a log: options in groups, and examples that work."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
from typer.main import get_command

from bestarm.cli.app import app
from bestarm.cli.identify import EXAMPLES
from bestarm.cli.log_options import GROUPS
from command_line import bestarm_process

TITLE = re.compile(r"^╭─ (.+?) ─+╮$", re.M)


def command(name: str) -> Any:
    group: Any = get_command(app)
    return group.commands[name]


def shown(name: str, columns: int, *more: str) -> str:
    code = (
        f"import os; os.environ.update(COLUMNS='{columns}', TERMINAL_WIDTH='{columns}', NO_COLOR='1'); {';'.join(more)}"
    )
    done = bestarm_process(name, "--help", code=code)
    assert done.returncode == 0
    return done.stdout


def options(name: str) -> dict[str, str | None]:
    """The group of each option of a command, in the order of the help."""
    found = command(name)
    context = found.context_class(found, info_name=name)
    listed = [one for one in found.get_params(context) if one.param_type_name == "option"]
    return {one.opts[0]: one.rich_help_panel for one in listed}


@pytest.mark.parametrize("name", ["identify", "inspect"])
def test_every_option_is_in_a_group(name: str) -> None:
    assert {option: group for option, group in options(name).items() if group not in GROUPS} == {}


def test_options_are_in_the_group_where_a_newcomer_looks() -> None:
    found = options("identify")
    for group, some in {
        "What is compared": ("--arm", "--reward", "--lower-is-better", "--bounds", "--wide", "--counted"),
        "Who and when": ("--source", "--time", "--contamination", "--paired"),
        "How sure": ("--epsilon", "--delta", "--stopping", "--sigma", "--seed", "--good-enough", "--on-bad-row"),
        "Output": ("--report", "--plot", "--certificate", "--explain", "--format", "--help"),
        "Replay in order": ("--sequential", "--method", "--resolution", "--exploration"),
    }.items():
        assert {option: found[option] for option in some} == dict.fromkeys(some, group)


@pytest.mark.parametrize("columns", [80, 120])
def test_groups_are_in_order_and_replay_is_last(columns: int) -> None:
    text = shown("identify", columns)
    titles = ["Arguments", "What is compared", "Who and when", "How sure", "Output", "Replay in order"]
    assert TITLE.findall(text) == titles
    assert TITLE.findall(shown("inspect", columns)) == [*titles[:3], "Output"]
    assert max(map(len, text.splitlines())) <= columns
    assert "<bool>" not in text
    assert "ub-Gaussian" not in text[: text.index("How sure")]


def test_groups_are_there_without_rich() -> None:
    text = shown("identify", 80, "os.environ['TYPER_USE_RICH'] = '0'")
    assert re.findall(r"^(\S.*):$", text, re.M) == ["Arguments", *GROUPS]
    for words in EXAMPLES.values():
        assert f"\n    {words}\n" in f"{text}\n"


@pytest.mark.parametrize("words", EXAMPLES.values())
def test_examples_are_shown_and_can_be_typed(words: str) -> None:
    assert f"  {words}" in [line.rstrip()[1:] for line in shown("identify", 80).splitlines()]
    program, name, *rest = shlex.split(words)
    assert (program, name) == ("bestarm", "identify")
    read = command(name).make_context(name, list(rest)).params
    assert read["log"] == [rest[0]]
    for option, value in zip(rest[1::2], rest[2::2], strict=True):
        assert str(read[option.removeprefix("--")]) == value


def test_both_directions_can_still_be_given() -> None:
    for flag, value in {"--lower-is-better": True, "--higher-is-better": False}.items():
        assert command("identify").make_context("identify", ["log.csv", flag]).params["lower_is_better"] is value
