"""Write the reference pages that come from the code: `make docs`. A test fails when they are out of date."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bestarm.methods import Method

HERE = Path(__file__).parent


def methods_page() -> str:
    """The catalogue of methods as a page."""
    from bestarm.methods import METHODS

    lines = ["# Methods", "", "Generated from the catalogue by `make docs`.", ""]
    for method in METHODS.values():
        lines += [f"## {method.name}", "", f"{method.summary[0].upper()}{method.summary[1:]}.", ""]
        lines += [f"- Source: {method.source}.", f"- The error promise is kept against: {_promise(method)}."]
        lines += [f"- Option `{option.name}`: {option.summary}." for option in method.options] or ["- No options."]
        lines.append("")
    return "\n".join(lines)


def _promise(method: Method) -> str:
    """What a method's promise rests on, with its default options."""
    return method.promised({option.name: option.default for option in method.options})


def cli_page() -> str:
    """The help of every command as a page."""
    os.environ.update(COLUMNS="100", NO_COLOR="1", TERM="dumb")
    from typer.testing import CliRunner

    from bestarm.cli.main import app

    lines = ["# Command line", "", "Generated from `--help` by `make docs`.", ""]
    for words in ([], ["demo"], ["reproduce"], ["identify"], ["plan"], ["simulate"], ["attack"]):
        text = CliRunner().invoke(app, [*words, "--help"]).output
        plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
        body = "\n".join(line.rstrip() for line in plain.strip("\n").splitlines())
        lines += [f"## {' '.join(['bestarm', *words])}", "", "```text", body, "```", ""]
    return "\n".join(lines)


PAGES = {HERE / "reference" / "methods.md": methods_page, HERE / "reference" / "cli.md": cli_page}

if __name__ == "__main__":
    for path, page in PAGES.items():
        path.write_text(page(), encoding="utf-8")
