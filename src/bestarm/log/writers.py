"""Two ways to write the same page: HTML with everything in it, and Markdown with its picture beside it.

Words come in plain and leave escaped: labels and cells of a log are whatever somebody put there.
"""

from __future__ import annotations

import base64
import html
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from string import Template

_MARKS = re.compile(r"([\\`*_\[\]<>|~#$&{}])")
_STARTS = re.compile(r"^(\d*)([-+=.)])(?=\s|$)")  # what would begin a list, or make a heading of the line before


def printable(words: str) -> str:
    r"""Return words on one line, with characters that cannot be seen, or turn others around, written as escapes.

    >>> printable("two\nlines\u202e")
    'two\\nlines\\u202e'
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in words)


class Page(ABC):
    """A page that is written from the top down."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    @abstractmethod
    def heading(self, words: str, anchor: str = "") -> None:
        """Begin a section; the first heading is the title."""

    @abstractmethod
    def answer(self, words: str, good: bool) -> None:
        """Write what is to be seen first."""

    @abstractmethod
    def alarms(self, words: str, sentences: Sequence[str]) -> None:
        """Write what must not be overlooked."""

    @abstractmethod
    def say(self, words: str, *, soft: bool = False) -> None:
        """Write a paragraph; a soft one is a note."""

    @abstractmethod
    def bullets(self, sentences: Iterable[str]) -> None:
        """Write a list."""

    @abstractmethod
    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]], strong: int | None = None) -> None:
        """Write a table, whose columns after the first are numbers where they look so; `strong` is a row to mark."""

    @abstractmethod
    def code(self, words: str) -> None:
        """Write what can be typed."""

    @abstractmethod
    def text(self) -> str:
        """Return the page."""


class HtmlPage(Page):
    """HTML without a script, which loads nothing."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def heading(self, words: str, anchor: str = "") -> None:
        """Begin a section."""
        level = "h2" if self._parts else "h1"
        mark = f' id="{anchor}"' if anchor else ""
        self._parts.append(f"<{level}{mark}>{_html(words)}</{level}>")

    def answer(self, words: str, good: bool) -> None:
        """Write what is to be seen first."""
        self._parts.append(f'<p class="answer {"named" if good else "none"}">{_html(words)}</p>')

    def alarms(self, words: str, sentences: Sequence[str]) -> None:
        """Write what must not be overlooked."""
        items = "".join(f"<li>{_html(sentence)}</li>" for sentence in sentences)
        self._parts.append(f'<div class="alarm" role="alert"><p><b>{_html(words)}</b></p><ul>{items}</ul></div>')

    def say(self, words: str, *, soft: bool = False) -> None:
        """Write a paragraph."""
        kind = ' class="soft"' if soft else ""
        self._parts.append(f"<p{kind}>{_html(words)}</p>")

    def bullets(self, sentences: Iterable[str]) -> None:
        """Write a list."""
        self._parts.append("<ul>" + "".join(f"<li>{_html(sentence)}</li>" for sentence in sentences) + "</ul>")

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]], strong: int | None = None) -> None:
        """Write a table."""
        kept = [list(row) for row in rows]
        kinds = [_is_number([row[column] for row in kept]) for column in range(len(head))]
        marks = [' class="number"' if kind else ' class="words"' for kind in kinds]
        names = [f' data-heading="{_html(cell)}"' if len(head) > 2 else "" for cell in head]  # stacked on a phone
        cells = "".join(f'<th scope="col"{mark}>{_html(cell)}</th>' for cell, mark in zip(head, marks, strict=True))
        lines = []
        for index, row in enumerate(kept):
            cells_here = zip(row, marks, names, strict=True)
            here = "".join(f"<td{mark}{name}>{_html(cell)}</td>" for cell, mark, name in cells_here)
            mark = ' class="strong"' if index == strong else ""
            lines.append(f"<tr{mark}>{here}</tr>")
        kind = ' class="stack"' if len(head) > 2 else ""
        self._parts.append(
            f'<div class="scroll" tabindex="0"><table{kind}><thead><tr>{cells}</tr></thead>'
            f"<tbody>{''.join(lines)}</tbody></table></div>"
        )

    def code(self, words: str) -> None:
        """Write what can be typed."""
        self._parts.append(f"<pre><code>{_html(words)}</code></pre>")

    def picture(self, wide: str, tall: str, described: str) -> None:
        """Write a picture, given as SVG for a wide screen or paper, and for a narrow screen."""
        source, other = (f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}" for svg in (wide, tall))
        self._parts.append(
            f'<figure><picture><source media="screen and (max-width: 700px)" srcset="{other}">'
            f'<img src="{source}" alt="{_html(described)}"></picture></figure>'
        )

    def text(self) -> str:
        """Return the page."""
        return _PAGE.substitute(title=_html(self._title), body="\n".join(self._parts))


class MarkdownPage(Page):
    """Markdown as GitHub reads it."""

    def heading(self, words: str, anchor: str = "") -> None:
        """Begin a section."""
        self._parts.append(f"{'##' if self._parts else '#'} {_markdown(words)}")

    def answer(self, words: str, good: bool) -> None:
        """Write what is to be seen first."""
        self._parts.append(f"**{_markdown(words)}**")

    def alarms(self, words: str, sentences: Sequence[str]) -> None:
        """Write what must not be overlooked."""
        self._parts.append("\n".join([f"> **{_markdown(words)}**", ">", *(f"> - {_markdown(s)}" for s in sentences)]))

    def say(self, words: str, *, soft: bool = False) -> None:
        """Write a paragraph."""
        self._parts.append(_markdown(words))

    def bullets(self, sentences: Iterable[str]) -> None:
        """Write a list."""
        self._parts.append("\n".join(f"- {_markdown(sentence)}" for sentence in sentences))

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]], strong: int | None = None) -> None:
        """Write a table."""
        kept = [list(row) for row in rows]
        rule = ["---:" if _is_number([row[column] for row in kept]) else "---" for column in range(len(head))]
        cells = [[_markdown(cell) for cell in row] for row in kept]
        if strong is not None:
            cells[strong] = [f"**{cell}**" if cell else "" for cell in cells[strong]]
        lines = [[_markdown(cell) for cell in head], rule, *cells]
        self._parts.append("\n".join("| " + " | ".join(line) + " |" for line in lines))

    def code(self, words: str) -> None:
        """Write what can be typed."""
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", words)), default=0))
        self._parts.append(f"{fence}\n{printable(words)}\n{fence}")

    def picture(self, address: str, described: str) -> None:
        """Write a picture that is a file beside the page."""
        self._parts.append(f"![{_markdown(described)}]({address})")

    def text(self) -> str:
        """Return the page."""
        return "\n\n".join(self._parts) + "\n"


def _html(words: str) -> str:
    return html.escape(printable(words))


def _markdown(words: str) -> str:
    return _STARTS.sub(r"\1\\\2", _MARKS.sub(r"\\\1", printable(words)))


def _is_number(cells: Sequence[str]) -> bool:
    return all(re.fullmatch(r"[-−]?[0-9][0-9.,e+-]*( %)?( to .*)?|–|", cell) for cell in cells)


_PAGE = Template(
    """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>$title</title>
<link rel="icon" href="data:,">
<style>
:root { --ink: #1c1f23; --soft: #5b636d; --line: #d5dae0; --box: #f5f7f9; --good: #1b7837; --none: #2166ac;
  --bad: #a83c00; }
* { box-sizing: border-box; }
body { margin: 0; background: #ffffff; color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 960px; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.2; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; padding-top: .6rem; border-top: 1px solid var(--line); }
p, li { max-width: 75ch; overflow-wrap: anywhere; }
p { margin: .6rem 0; }
ul { margin: .4rem 0 .8rem; padding-left: 1.2rem; }
li { margin: .25rem 0; }
.soft { color: var(--soft); font-size: .92rem; }
.answer { font-size: 1.7rem; line-height: 1.25; font-weight: 650; margin: .6rem 0 1rem; padding-left: .8rem;
  border-left: .35rem solid var(--none); max-width: none; }
.answer.named { border-color: var(--good); }
.alarm { border: 2px solid var(--bad); border-radius: .5rem; padding: .2rem 1rem; margin: 1rem 0; }
.alarm b { color: var(--bad); }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
td.words { min-width: 6.5rem; }
tr:last-child td { border-bottom: 0; }
th { background: var(--box); font-weight: 600; vertical-align: bottom; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
td.number { white-space: nowrap; }
tr.strong td { font-weight: 650; background: #eef6f0; }
figure { margin: .75rem 0; border: 1px solid var(--line); border-radius: .5rem; padding: .5rem; }
figure img { display: block; width: 100%; height: auto; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .9rem; }
@media (max-width: 700px) {
  .answer { font-size: 1.4rem; }
  table { font-size: .82rem; }
  th, td { padding: .3rem .4rem; }
  figure { padding: .2rem; }
}
@media screen and (max-width: 700px) {
  .stack thead { display: none; }
  .stack, .stack tbody, .stack tr { display: block; }
  .stack tr { border-bottom: 1px solid var(--line); padding: .4rem .6rem; }
  .stack tr:last-child { border-bottom: 0; }
  .stack td, .stack td.number { display: inline-block; border: 0; padding: 0 .9rem 0 0; text-align: left;
    white-space: normal; min-width: 0; }
  .stack td:first-child { display: block; font-weight: 650; font-size: .95rem; }
  .stack td::before { content: attr(data-heading) " "; color: var(--soft); font-weight: 400; }
}
@page { size: A4; margin: 15mm; }
@media print {
  html { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  .scroll { overflow: visible; border-radius: 0; border-width: 1px 0; }
  th { background: none; }
  th, td { padding-top: .22rem; padding-bottom: .22rem; }
  h2 { margin-top: 1.4rem; break-after: avoid; }
  figure, tr, pre, .alarm, .answer { break-inside: avoid; }
}
</style>
</head>
<body>
<main>
$body
</main>
</body>
</html>
"""
)
