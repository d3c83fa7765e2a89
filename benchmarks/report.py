"""What a part of the benchmark hands back: tables, and the numbers that have a goal."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("bestarm", "numpy", "numba", "joblib")


@dataclass(frozen=True)
class Goal:
    """A measured number beside what it should be."""

    name: str
    measured: float
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether it is good enough, as it is written: 3.004 counts as 3.00."""
        shown = float(significant(self.measured).replace(",", ""))
        return shown >= self.limit if self.at_least else shown <= self.limit


@dataclass
class Section:
    """One part: a heading, sentences, tables of text, goals, and numbers for the plots."""

    title: str
    notes: list[str] = field(default_factory=list)
    tables: list[tuple[Sequence[str], Sequence[Sequence[str]]]] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    series: dict[str, dict[str, list[float]]] = field(default_factory=dict)  # by plot, then by line

    def text(self) -> str:
        """Return it as Markdown."""
        parts = [f"## {self.title}", *self.notes, *(table(header, rows) for header, rows in self.tables)]
        return "\n\n".join(parts) + "\n"


def significant(value: float) -> str:
    """Return a number with three digits that count, and commas.

    >>> significant(1234567.8), significant(12.345), significant(0.01234)
    ('1,234,568', '12.3', '0.0123')
    """
    size = abs(value)
    if size >= 100.0:
        return f"{value:,.0f}"
    if size >= 10.0:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 1.0 or size == 0.0 else f"{value:.3g}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose columns line up; numbers are to the right, the first column is to the left."""
    widths = [max(3, *(len(row[column]) for row in (header, *rows))) for column in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = ["-" * width if column == 0 else "-" * (width - 1) + ":" for column, width in enumerate(widths)]
    return "\n".join([line(header), f"|{'|'.join(f' {cell} ' for cell in rule)}|", *(line(row) for row in rows)])


def goal_table(goals: Sequence[Goal]) -> str:
    """Return all goals beside what was measured."""
    rows = []
    for goal in goals:
        unit = f" {goal.unit}" if goal.unit else ""
        side = "at least" if goal.at_least else "at most"
        limit = f"{side} {goal.limit:,g}{unit}"
        rows.append((goal.name, f"{significant(goal.measured)}{unit}", limit, "yes" if goal.met else "no"))
    return table(("what", "measured", "goal", "met"), rows)


def machine() -> str:
    """Return what the numbers were measured on, without its name."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    found = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, {found}"


def today() -> str:
    """Return the date of a run."""
    return datetime.now(UTC).date().isoformat()


def renewed(page: str, section: Section, said: str) -> str:
    """Return a page of results with one section measured anew, its goals and `said` below it; at the end if it is new.

    >>> page = "# Results\\n\\n## A\\n\\nold\\n\\n## B\\n\\nkept\\n"
    >>> renewed(page, Section("A", ["new"]), "Today.")
    '# Results\\n\\n## A\\n\\nnew\\n\\nToday.\\n\\n## B\\n\\nkept\\n'
    """
    goals = [goal_table(section.goals)] if section.goals else []
    text = "\n\n".join([section.text().rstrip(), *goals, said]) + "\n"
    begin = page.find(f"\n## {section.title}\n") + 1
    if not begin:
        return f"{page.rstrip()}\n\n{text}"
    end = page.find("\n## ", begin)
    return page[:begin] + text + (page[end:] if end >= 0 else "")


def between(text: str, begin: str, end: str, content: str) -> str:
    """Return a text with what stands between two markers, each on a line of its own, replaced.

    >>> between("a\\n<1>\\nold\\n<2>\\nb", "<1>", "<2>", "new")
    'a\\n<1>\\n\\nnew\\n\\n<2>\\nb'
    """
    head, rest = text.split(begin, 1)
    tail = rest.split(end, 1)[1]
    return f"{head}{begin}\n\n{content}\n\n{end}{tail}"
