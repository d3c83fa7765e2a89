"""A page as data, and the templates that write it: HTML with everything in it, or Markdown with a picture beside it.

Texts are plain here, and escaped by the templates: labels and cells of a log are whatever somebody put there.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from bestarm.extras import needs
from bestarm.identification.wording.text import printable

_MARKS = re.compile(r"([\\`*_\[\]<>|~#$&{}])")
_STARTS = re.compile(r"^(\d*)([-+=.)])(?=\s|$)")  # what would begin a list, or make a heading of the line before
_NUMBER = re.compile(r"[-−]?[0-9][0-9.,e+-]*( %| points)?( to .*)?|–|")

Kind = Literal["paragraph", "note", "named", "doubted", "none", "alarm", "bullets", "code"]
Tone = Literal["good", "doubted", "plain"]


@dataclass(frozen=True)
class Text:
    """A text and items below it; "named", "doubted" and "none" are answers, seen first, and a "note" is seen last."""

    kind: Kind
    text: str = ""
    items: Sequence[str] = ()

    @property
    def fence(self) -> str:
        """Backticks around code in Markdown: more than there are in it."""
        return "`" * max(3, 1 + max(map(len, re.findall("`+", self.text)), default=0))


@dataclass(frozen=True)
class Table:
    """A table; `marked` is the index of the row that stands out, and `tone` says as what."""

    kind: ClassVar = "table"
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    marked: int | None = None
    tone: Tone = "plain"

    @property
    def columns(self) -> list[tuple[str, bool]]:
        """The heading of each column, and whether all of its cells look like numbers."""
        cells = zip(*self.rows, strict=True)
        return [(name, all(map(_NUMBER.fullmatch, each))) for name, each in zip(self.head, cells, strict=True)]


@dataclass(frozen=True)
class ReportPicture:
    """A picture by its address; HTML has another one for narrow screens."""

    kind: ClassVar = "picture"
    described: str
    address: str
    narrow: str = ""


Block = Text | Table | ReportPicture


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading."""

    heading: str
    anchor: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A title, and sections."""

    title: str
    sections: Sequence[Section]

    def as_html(self) -> str:
        """Return one HTML file, which loads nothing."""
        return _render("report.html.j2", self)

    def as_markdown(self) -> str:
        """Return Markdown as GitHub reads it."""
        return _render("report.md.j2", self, markdown=True)


def _markdown(text: str) -> str:
    return _STARTS.sub(r"\1\\\2", _MARKS.sub(r"\\\1", printable(text)))


def _render(template: str, page: Page, *, markdown: bool = False) -> str:
    """Fill in a template; what it prints is escaped, for HTML or for Markdown, unless it is marked as safe."""
    needs("jinja2", extra="log")
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def escaped(value: Any) -> Any:
        if isinstance(value, Markup):
            return value
        return Markup(_markdown(value)) if markdown else printable(value)

    environment = Environment(
        loader=PackageLoader("bestarm.log"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=escaped,
    )
    environment.filters["one_line"] = printable
    return environment.get_template(template).render(page=page)


def svg_address(svg: bytes) -> str:
    """Return an address that is the picture itself."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
