"""A page as data, and the templates that write it: HTML with everything in it, or Markdown with a picture beside it.

Texts are plain here, and escaped by the templates: labels and cells of a log are whatever somebody put there.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple
from urllib.parse import quote

from bestarm.extras import needs

_MARKS = re.compile(r"([\\`*_\[\]<>|~#$&{}])")
_STARTS = re.compile(r"^(\d*)([-+=.)])(?=\s|$)")  # what would begin a list, or make a heading of the line before
_NUMBER = re.compile(r"[-−]?[0-9][0-9.,e+-]*( %)?( to .*)?|–|")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; a soft one is a note."""

    kind: ClassVar = "paragraph"
    text: str
    soft: bool = False


@dataclass(frozen=True)
class Answer:
    """What is to be seen first."""

    kind: ClassVar = "answer"
    text: str
    named: bool


@dataclass(frozen=True)
class Alarm:
    """What must not be overlooked."""

    kind: ClassVar = "alarm"
    text: str
    items: Sequence[str]


@dataclass(frozen=True)
class Bullets:
    """A list."""

    kind: ClassVar = "bullets"
    items: Sequence[str]


@dataclass(frozen=True)
class Code:
    """What can be typed."""

    kind: ClassVar = "code"
    text: str

    @property
    def fence(self) -> str:
        """Backticks around it in Markdown: more than there are in it."""
        return "`" * max(3, 1 + max(map(len, re.findall("`+", self.text)), default=0))


class Column(NamedTuple):
    """The heading of a column, and whether it has numbers."""

    name: str
    is_number: bool


@dataclass(frozen=True)
class Table:
    """A table; `marked` is the index of the row that stands out."""

    kind: ClassVar = "table"
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    marked: int | None = None

    @property
    def columns(self) -> list[Column]:
        """The columns, which have numbers if all of their cells look like it."""
        cells = zip(*self.rows, strict=True)
        return [Column(name, all(map(_NUMBER.fullmatch, each))) for name, each in zip(self.head, cells, strict=True)]

    @property
    def stacks(self) -> bool:
        """Whether a narrow screen shows its cells below each other."""
        return len(self.head) > 2


@dataclass(frozen=True)
class SvgPicture:
    """A picture inside the page, as SVG for a wide screen or paper, and for a narrow screen."""

    kind: ClassVar = "picture"
    described: str
    wide_svg: str
    narrow_svg: str

    @property
    def wide(self) -> str:
        """The address of the wide one."""
        return _data_address(self.wide_svg)

    @property
    def narrow(self) -> str:
        """The address of the narrow one."""
        return _data_address(self.narrow_svg)


@dataclass(frozen=True)
class PictureFile:
    """A picture in a file beside the page."""

    kind: ClassVar = "picture"
    described: str
    name: str

    @property
    def address(self) -> str:
        """Its address, relative to the page."""
        return quote(self.name)


Block = Paragraph | Answer | Alarm | Bullets | Code | Table | SvgPicture | PictureFile


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading."""

    heading: str
    anchor: str
    blocks: list[Block] = field(default_factory=list)


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


def bullets(items: Iterable[str]) -> list[Block]:
    """Return a list, or nothing if it is empty."""
    found = list(items)
    return [Bullets(found)] if found else []


def printable(text: str) -> str:
    r"""Return a text on one line, with characters that cannot be seen, or turn others around, written as escapes.

    >>> printable("two\nlines\u202e")
    'two\\nlines\\u202e'
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def _markdown(text: str) -> str:
    return _STARTS.sub(r"\1\\\2", _MARKS.sub(r"\\\1", printable(text)))


def _render(template: str, page: Page, *, markdown: bool = False) -> str:
    """Fill in a template; what it prints is escaped, for HTML or for Markdown, unless it is marked as safe."""
    needs("jinja2")
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


def _data_address(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
