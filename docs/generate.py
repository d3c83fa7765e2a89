"""Write the reference pages that come from the code: `make docs`. A test fails when they are out of date."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestarm.methods import Method

HERE = Path(__file__).parent


def methods_page() -> str:
    """The catalogue of methods as a page."""
    from bestarm.methods import METHODS

    lines = ["# Methods", "", "Generated from the catalogue by `make docs`.", ""]
    for method in METHODS.values():
        lines += [f"## {method.name}", "", f"{method.summary[0].upper()}{method.summary[1:]}.", ""]
        kept = "is at most" if method.certifies else "is meant to be at most"
        proof = "" if method.certifies else " This is not proved."
        lines += [f"- Source: {method.source}.", f"- The error probability {kept} delta if {_promise(method)}.{proof}"]
        lines += [f"- Option `{option.name}`: {option.summary}." for option in method.options] or ["- No options."]
        lines.append("")
    return "\n".join(lines)


def _promise(method: Method) -> str:
    """What a method's promise rests on, with its default options."""
    return method.promised({option.name: option.default for option in method.options})


def guarantees_page() -> str:
    """The page on guarantees with its table of promises, which comes from the catalogue."""
    from bestarm.methods import METHODS

    named: dict[tuple[str, bool], list[str]] = {}
    for method in METHODS.values():
        named.setdefault((_promise(method), method.certifies), []).append(f"`{method.name}`")
    lines = ["| method | wrong with probability at most delta if | proved |", "|---|---|---|"]
    lines += [
        f"| {', '.join(names)} | {promise} | {'yes' if proved else 'no'} |"
        for (promise, proved), names in named.items()
    ]
    return _filled((HERE / "explanation" / "guarantees.md").read_text(encoding="utf-8"), "promises", lines)


def errors_page() -> str:
    """The page on errors with its tables of classes and rules."""
    from bestarm import errors
    from bestarm.validation import RANGES

    found = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    classes = ["| error | code | is a | when |", "|---|---|---|---|"]
    for kind in found:
        when = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
        bases = ", ".join(f"`{base.__name__}`" for base in kind.__bases__)
        classes.append(f"| [`{kind.__name__}`](#{kind.__name__.lower()}) | `{kind.code}` | {bases} | {when} |")
    rules = ["| parameter | must | note |", "|---|---|---|"]
    rules += [f"| `{name}` | {allowed.rule} | {allowed.fix} |" for name, allowed in sorted(RANGES.items())]
    page = (HERE / "reference" / "errors.md").read_text(encoding="utf-8")
    return _filled(_filled(page, "classes", classes), "rules", rules)


def json_page() -> str:
    """The page on JSON with its table of keys."""
    from docs.json_output import json_table

    return _filled((HERE / "reference" / "json.md").read_text(encoding="utf-8"), "keys", json_table())


def _filled(page: str, name: str, lines: list[str]) -> str:
    """Return a page with other lines between the two comments of a name."""
    before, begin, rest = re.split(rf"(<!-- {name}.*?-->\n)", page)
    after = rest[rest.index(f"<!-- end of {name} -->") :]
    return before + begin + "\n" + "\n".join(lines) + "\n\n" + after


def cli_page() -> str:
    """The help of every command as a page."""
    os.environ.update(COLUMNS="100", NO_COLOR="1", TERM="dumb")
    from typer.main import get_command
    from typer.testing import CliRunner

    from bestarm.cli.app import app

    lines = ["# Command line", "", "Generated from `--help` by `make docs`.", ""]
    for words in _commands(get_command(app)):
        text = CliRunner().invoke(app, [*words, "--help"]).output
        plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
        body = "\n".join(line.rstrip() for line in plain.strip("\n").splitlines())
        lines += [f"## {' '.join(['bestarm', *words])}", "", "```text", body, "```", ""]
    return "\n".join(lines)


def _commands(command: Any, *words: str) -> Iterator[list[str]]:
    """Go through a command and all below it."""
    yield list(words)
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands(below, *words, name)


PAGES = {
    HERE / "reference" / "methods.md": methods_page,
    HERE / "reference" / "cli.md": cli_page,
    HERE / "reference" / "errors.md": errors_page,
    HERE / "reference" / "json.md": json_page,
    HERE / "explanation" / "guarantees.md": guarantees_page,
}

if __name__ == "__main__":
    for path, page in PAGES.items():
        path.write_text(page(), encoding="utf-8")
