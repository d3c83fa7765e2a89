"""A report: one HTML file with everything in it, which opens without a network; and the parts that reports share."""

from __future__ import annotations

import html
import platform
import string
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from bestarm.scenarios.experiment import Experiment

PLAIN = "<>/:='(),;!*@+-_.~{}|[]^"  # characters of an SVG that may stand in an address as they are
PACKAGES = ("bestarm", "numpy", "scipy", "numba", "pandas", "pyarrow", "matplotlib")


def write_page(path: Path, title: str, about: str, contents: Sequence[tuple[str, str]], body: str) -> None:
    """Write a page.

    Parameters
    ----------
    path : Path
        The file.
    title, about : str
        Heading, and what was run, as HTML.
    contents : sequence of (id, text)
        The list of contents: where each entry leads, and its words.
    body : str
        The rest, as HTML.
    """
    listed = "".join(f'<li><a href="#{anchor}">{text(words)}</a></li>' for anchor, words in contents)
    page = template("bestarm.scenarios", "report").substitute(
        title=text(title), about=about, contents=listed, body=body
    )
    path.write_text(page, encoding="utf-8")


def template(package: str, name: str) -> string.Template:
    """Return a template that comes with a package."""
    return string.Template(files(package).joinpath(f"{name}.html.template").read_text(encoding="utf-8"))


def text(words: str) -> str:
    """Return words as HTML."""
    return html.escape(words)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], style: str = "numbers") -> str:
    """Return a table that scrolls sideways where it is too wide.

    Style "words" wraps its cells; "words stack" puts them below each other, each with its heading, on a narrow screen.
    """
    cells = "".join(f'<th scope="col">{text(cell)}</th>' for cell in head)
    headings = head if "stack" in style else [""] * len(head)
    lines = ("".join(_cell(name, words) for name, words in zip(headings, row, strict=True)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f'<div class="scroll" tabindex="0"><table class="{style}"><thead><tr>{cells}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(heading: str, words: str) -> str:
    mark = f' data-heading="{text(heading)}"' if heading else ""
    return f"<td{mark}>{text(words)}</td>"


def bullets(sentences: Iterable[str]) -> str:
    """Return a list of sentences."""
    return "<ul>" + "".join(f"<li>{text(sentence)}</li>" for sentence in sentences) + "</ul>"


def image(drawn: tuple[str, str], described: str) -> str:
    """Return a picture, given as SVG for a wide and for a narrow screen, with its description."""
    # A sixth shorter than in base 64; a space would end the address, a quotation mark the attribute.
    wide, tall = ("data:image/svg+xml," + quote(svg.replace('"', "'"), safe=PLAIN) for svg in drawn)
    return (
        f'<figure><picture><source media="(max-width: 700px)" srcset="{tall}">'
        f'<img src="{wide}" alt="{text(described)}"></picture></figure>'
    )


def measured(experiment: Experiment, own: pd.DataFrame) -> str:
    """Return the table of what was measured: one row per curve, one column per place of the grid."""
    symbol = "ε" if experiment.sweep == "epsilon" else "δ"
    values = [epsilon if experiment.sweep == "epsilon" else delta for delta, epsilon in experiment.grid]
    rows = []
    for curve in experiment.curves:
        part = own[own["method"] == curve.label].set_index(experiment.sweep).loc[values]
        rows.append([curve.label, f"{int(part['trials'].iloc[0]):,}", *(cell(row) for _, row in part.iterrows())])
    return table(["method", "trials", *(f"{symbol} = {value:g}" for value in values)], rows)


def cell(row: pd.Series) -> str:
    """Return one point in words: mean pulls with a 95 % half-width, then whatever is not a right answer.

    A mean over trials that the cap cut short is a lower bound, and has ≥ before it.
    """
    words = f"{'≥ ' if row['mean_is_lower_bound'] else ''}{row['mean_pulls']:,.0f}"
    if row["standard_error"] > 0.0:
        words += f" ± {1.96 * row['standard_error']:,.0f}"
    notes = (("wrong", "error_rate"), ("no winner", "indistinguishable"), ("at the cap", "undecided"))
    return "\n".join([words, *(f"{name} {100.0 * row[column]:.3g} %" for name, column in notes if row[column] > 0.0)])


def packages() -> dict[str, str]:
    """Return the versions of all that took part."""
    return {"Python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
