"""Reports as pages: one HTML file each, which opens without a network, made by Jinja2 from templates.

A package has its templates in a folder of that name. They extend `page.html.j2` of this one, and use the macros of
`parts.html.j2` for the tables and pictures below.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bestarm.scenarios.experiment import Experiment

PLAIN = "<>/:='(),;!*@+-_.~{}|[]^"  # characters of an SVG that may stand in an address as they are
PACKAGES = ("bestarm", "numpy", "scipy", "numba", "pandas", "pyarrow", "matplotlib")


@dataclass(frozen=True)
class PageTable:
    """A table of a page. The style "words" wraps its cells; "words stack" stacks them on a narrow screen."""

    head: Sequence[str]
    rows: Iterable[Sequence[str]]
    style: str = "numbers"


class Picture:
    """A picture of a page, given as SVG for a wide and for a narrow screen, with its description."""

    def __init__(self, drawn: tuple[str, str], described: str) -> None:
        # A sixth shorter than in base 64. Neither a space, which would end the address, nor a quotation mark is left.
        self.wide, self.tall = (
            Markup("data:image/svg+xml," + quote(svg.replace('"', "'"), safe=PLAIN)) for svg in drawn
        )
        self.described = described


def write_page(path: Path, package: str, template: str, **data: Any) -> None:
    """Write a page: a template of a package, filled with data. The template needs a title and contents.

    Contents are pairs: the id of a heading, and its words in the list of contents.
    """
    path.write_text(_environment(package).get_template(template).render(data), encoding="utf-8")


@cache
def _environment(package: str) -> Environment:
    loader = ChoiceLoader([PackageLoader(package), PackageLoader("bestarm.scenarios")])
    return Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)


def measured(experiment: Experiment, own: pd.DataFrame) -> PageTable:
    """Return the table of what was measured: one row per curve, one column per point of the grid."""
    symbol, values = axis_of(experiment)
    rows = []
    for curve in experiment.curves:
        part = own[own["method"] == curve.label].set_index(experiment.sweep).loc[values]
        rows.append([curve.label, f"{int(part['trials'].iloc[0]):,}", *(cell(row) for _, row in part.iterrows())])
    return PageTable(["method", "trials", *(f"{symbol} = {value:g}" for value in values)], rows)


def axis_of(experiment: Experiment) -> tuple[str, list[float]]:
    """Return the symbol and the values of what varies along the axis of an experiment."""
    if experiment.sweep == "epsilon":
        return "ε", [epsilon for _, epsilon in experiment.grid]
    return "δ", [delta for delta, _ in experiment.grid]


def cell(row: pd.Series) -> str:
    """Return one point in words: mean pulls with a 95 % half-width, then the shares of trials without a right answer.

    A mean over trials that the cap cut short is a lower bound, and has ≥ before it.
    """
    words = f"{'≥ ' if row['mean_is_lower_bound'] else ''}{row['mean_pulls']:,.0f}"
    if row["standard_error"] > 0.0:
        words += f" ± {1.96 * row['standard_error']:,.0f}"
    notes = (("wrong", "error_rate"), ("no winner", "indistinguishable"), ("at the cap", "undecided"))
    return "\n".join([words, *(f"{name} {100.0 * row[column]:.3g} %" for name, column in notes if row[column] > 0.0)])


def settings_table(settings: Mapping[str, str]) -> PageTable:
    """Return a table of settings, with the versions of all packages that took part."""
    versions = {"Python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
    return PageTable(["setting", "value"], [*settings.items(), *versions.items()], style="words")
