"""The report on a log: one page that can be handed on, with what was asked, what came out, and how to repeat it.

There is no date on it: the same log, command and versions give the same page, byte for byte.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from bestarm.errors import InputError
from bestarm.identification.result import ArmRow
from bestarm.identification.wording.log_lines import CLEAN
from bestarm.identification.wording.log_page import (
    BESIDE,
    CONTRADICTION,
    CURVE,
    EVIDENCE,
    HINTS,
    INSIDE,
    MOST_LETTERS,
    NO_CLAIM_HERE,
    NO_TABLE,
    NOT_INSPECTED,
    PageWords,
)
from bestarm.identification.wording.log_series import APPROXIMATE, OVER_TIME, SeriesWords
from bestarm.identification.wording.text import even_decimals, number_shown, percent, short
from bestarm.log.page import Block, Page, ReportPicture, Section, Table, Text, Tone, svg_address
from bestarm.log.picture import MOST_ROWS, as_file, draw, ranked_rows, shows_curve, shows_survival
from bestarm.log.result import LogResult
from bestarm.validation import writable_folder

__all__ = ["check_place", "draw", "write_report"]

ENDINGS = (".html", ".md")
_MOST_ARMS = 50
_NONE = math.nan
_PACKAGES = ("numpy", "scipy", "numba", "duckdb", "matplotlib")


def check_place(path: str | Path) -> Path:
    """Return where a report is to be written; reject a path where none can be, before anything is computed."""
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise InputError("report", "end in .html or .md", str(path), "the ending says what is written")
    if not target.parent.is_dir():
        raise InputError("report", "be in a folder that is there", str(path), "make the folder first")
    writable_folder("report", target.parent)
    if target.is_dir():
        raise InputError("report", "be a file", str(path), "it is a folder")
    return target


def write_report(result: LogResult, path: str | Path, *, command: str | None = None, logs: Sequence[Path] = ()) -> None:
    """Write the report on a verdict; parameters as for `LogResult.report`."""
    target = check_place(path)
    report = report_of(result, command, list(fingerprints(result, logs)))
    if target.suffix.lower() == ".html":
        save(target, report.page().as_html().encode("utf-8"))
        return
    picture = target.with_suffix(".png")
    page = report.page(picture.name)
    save(picture, as_file(draw(result), "png"))
    save(target, page.as_markdown().encode("utf-8"))


def report_of(result: LogResult, command: str | None, prints: list[tuple[str, str]]) -> _Report:
    """Return the report on a verdict: one of its own if there is a control."""
    if result.control is not None:
        from bestarm.log.control_report import ControlReport

        return ControlReport(result, command, prints)
    return _Report(result, command, prints)


class _Report:
    """The sections of a report; the words are those of `PageWords`."""

    def __init__(self, result: LogResult, command: str | None, prints: list[tuple[str, str]]) -> None:
        self._result, self._command, self._prints = result, command, prints
        self._words = PageWords(result)

    def page(self, picture: str = "") -> Page:
        """Return the page, with pictures in it or with one in a file of this name beside it."""
        words = self._words
        sections = (
            Section("The answer", "answer", self._answer()),
            Section("The picture", "picture", [*self._pictures(picture), _bullets(words.legend(MOST_ROWS))]),
            Section("What if more is fake?", "sensitivity", self._sensitivity(with_curve=not picture)),
            Section("What inspection found", "found", self._found()),
            Section("The arms", "arms", self._arms()),
            *self._over_time(with_picture=not picture),
            Section("The question", "question", [Text("paragraph", words.asked()), _bullets(words.settings())]),
            Section("Data health", "health", self._health()),
            Section("What it rests on", "assumptions", self._assumptions()),
            Section("How to repeat it", "repeat", self._repeat()),
        )
        return Page(words.page_title(self._result.health.files), sections)

    def _answer(self) -> list[Block]:
        words, (first, *others) = self._words, self._result.lines
        doubts = words.more_doubts()
        remarks = words.remarks()
        return [
            Text(self._kind_of_answer(), words.cut(first), [words.cut(line) for line in others]),
            *([_bullets(doubts)] if doubts else []),
            *self._alarm(NO_CLAIM_HERE),
            Text("paragraph", words.answer()),
            *([_bullets(remarks)] if remarks else []),
        ]

    def _kind_of_answer(self) -> Literal["named", "doubted", "none"]:
        if self._result.trusted:
            return "named"
        return "none" if self._result.best is None and not self._result.alarms else "doubted"

    def _alarm(self, text: str) -> list[Block]:
        return [Text("alarm", text, self._words.alarms())] if self._result.alarms else []

    def _pictures(self, name: str) -> Iterator[ReportPicture]:
        if name:
            yield ReportPicture(f"{self._words.headline()}: {BESIDE}", quote(name))
            return
        if shows_survival(self._result):
            yield self._drawn(f"{self._words.headline()}: {EVIDENCE}", survival=True)
        yield self._drawn(f"{self._words.headline()}: {INSIDE}", arms=True)

    def _drawn(self, described: str, **parts: bool) -> ReportPicture:
        parts = {name: parts.get(name, False) for name in ("arms", "survival", "curve", "series")}
        wide, narrow = (svg_address(as_file(draw(self._result, tall=tall, **parts), "svg")) for tall in (False, True))
        return ReportPicture(described, wide, narrow)

    def _arms(self) -> list[Block]:
        result, words = self._result, self._words
        means, there = result.means if result.moved_means else {}, words.there()
        rows = ranked_rows(result)[:_MOST_ARMS]
        decimals = even_decimals([row.estimate for row in rows])
        columns: dict[str, Callable[[ArmRow], str]] = {
            "arm": lambda row: short(row.label, MOST_LETTERS),
            words.pulls_title: lambda row: f"{row.pulls:,}",
            result.middle: lambda row: number_shown(row.estimate, decimals),
            **({"plain mean": lambda row: number_shown(means[row.label], decimals)} if means else {}),
            **({words.there_title(): lambda row: number_shown(there.get(row.label, _NONE), decimals)} if there else {}),
            "interval": lambda row: words.interval(row, decimals),
        }
        if words.leads:
            leads = even_decimals([words.leads.get(row.label) for row in rows])
            columns[words.leads_by()] = lambda row: number_shown(words.leads.get(row.label, _NONE), leads)
        columns["verdict"] = words.standing
        cells = [[cell(row) for cell in columns.values()] for row in rows]
        tone: Tone = "good" if result.trusted else "doubted"
        blocks: list[Block] = [Table(list(columns), cells, 0 if result.best is not None else None, tone)]
        if len(result.arms) > _MOST_ARMS:
            blocks.append(Text("paragraph", words.left_out(_MOST_ARMS)))
        return [*blocks, Text("note", words.about_the_arms())]

    def _over_time(self, with_picture: bool) -> Iterator[Section]:
        """Yield the section about the days, if the log has times."""
        series = self._result.series
        if series is None:
            return
        words = SeriesWords(self._result.metric.of_rows, series.noun, series.width)
        blocks: list[Block] = []
        if series.sentences:
            blocks = [_bullets(series.sentences), Text("note", APPROXIMATE)]
        if with_picture:
            blocks.append(self._drawn(f"{self._words.headline()}: {OVER_TIME}", series=True))
        yield Section(
            "Over time", "time", [*blocks, Text("note", words.band(is_rate=self._result.metric.of_rows.is_rate))]
        )

    def _sensitivity(self, with_curve: bool) -> list[Block]:
        words = self._words
        blocks: list[Block] = [Text("paragraph", sentence) for sentence in words.survives()]
        if not self._result.sensitivity:
            return [*blocks, Text("note", NO_TABLE)]
        if with_curve and shows_curve(self._result):
            blocks.append(self._drawn(CURVE, curve=True))
        return [*blocks, self._over_epsilon(), Text("note", words.how_to_read())]

    def _found(self) -> list[Block]:
        """Return what inspection found, and what the answer survives of it."""
        findings = self._words.found()
        if findings:
            return [_bullets(findings), Text("note", HINTS)]
        return [Text("paragraph", CLEAN if self._result.inspected else NOT_INSPECTED)]

    def _over_epsilon(self) -> Table:
        """Return the verdict at each epsilon; the last lines are made one if they are alike."""
        result, words = self._result, self._words
        total = None
        if words.model.shared and not result.sequential:
            total = result.sources if words.model.by_source else result.rows
        things = "sources" if result.sources is not None else "rewards"
        head = ["epsilon", *([f"{things}, at most"] if total is not None else []), "verdict", "may be the best"]
        weighed = result.sensitivity
        own = [row.epsilon for row in weighed].index(result.epsilon)  # without an epsilon, the line at 0
        last = len(weighed) - 1
        while last - 1 > own and words.at_epsilon(weighed[last - 1]) == words.at_epsilon(weighed[-1]):
            last -= 1
        rows = []
        for first, end in [*((row, row) for row in weighed[:last]), (weighed[last], weighed[-1])]:
            cells = [_range(f"{first.epsilon:g}", f"{end.epsilon:g}")]
            if total is not None:
                cells.append(_range(*(f"{words.model.allowed(each.epsilon, total):,}" for each in (first, end))))
            rows.append([*cells, *words.at_epsilon(first)])
        return Table(head, rows, None if result.for_all_counts else own)

    def _health(self) -> list[Block]:
        health = self._result.health
        if not health.rows:
            direct = "The rewards were passed in directly: nothing is known of the file they came from."
            return [Text("paragraph", direct)]
        said = health.sentences()
        blocks: list[Block] = [_bullets([*said[: len(said) - len(health.guesses)], *_left_out(self._result)])]
        if len(health.bad_examples) > 1:
            bad = [f"{row}." for row in health.bad_examples]
            blocks += [Text("paragraph", "The first bad rows:"), _bullets(bad)]
        if health.guesses:
            return [*blocks, Text("paragraph", "Not specified, so guessed:"), _bullets(health.guesses)]
        return [*blocks, Text("note", "Nothing had to be guessed (columns, encoding).")]

    def _assumptions(self) -> list[Block]:
        words = self._words
        return [
            *self._alarm(CONTRADICTION),
            Text("paragraph", words.chance()),
            _bullets(words.assumptions()),
            Text("paragraph", "What is not claimed:"),
            _bullets(words.not_claimed()),
        ]

    def _repeat(self) -> list[Block]:
        how = "bestarm.identify_log(..., sequential=True)" if self._result.sequential else "bestarm.identify_log"
        no_file = "There is no file to fingerprint (SHA-256): the log came from a table or a pipe."
        no_date = "There is deliberately no date here: the same log, command and versions give this page again"
        return [
            Text("code", self._command) if self._command else Text("paragraph", f"{how} with the settings below."),
            Table(["setting", "value"], list(_settings(self._result))),
            Table(["log", "SHA-256"], self._prints) if self._prints else Text("paragraph", no_file),
            Text("paragraph", f"Versions: {', '.join(f'{name} {number}' for name, number in _versions())}."),
            Text("note", f"{no_date}, byte for byte."),
        ]


def _bullets(items: Iterable[str]) -> Text:
    return Text("bullets", items=list(items))


def _range(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def _left_out(result: LogResult) -> Iterator[str]:
    """Yield what was missing from the log, and which rewards were not used."""
    health = result.health
    if health.missing:
        missing = f"{percent(health.missing_share)} of the rewards that should be there are missing"
        allowed = "" if result.for_all_counts else f"; epsilon is {percent(result.epsilon)}"
        yield f"{missing}{allowed}."
    if not result.ignored:
        return
    if result.sequential:
        why = "they came after the decision"
    elif result.sigma_from is not None:
        why = "sigma was estimated from them"
    elif result.ignored == health.repeated:
        yield "Those were not used: a source counts once for an arm, by its first reward."
        return
    else:
        why = "their source had already rewarded the same arm, or is unknown"
    yield f"{result.ignored:,} rewards were not used for the evidence: {why}."


def _settings(result: LogResult) -> Iterator[tuple[str, str]]:
    if result.method != "certified":
        yield "method", result.method
    yield "delta", f"{result.delta!r}"
    yield "epsilon", "none given" if result.for_all_counts else f"{result.epsilon!r}"
    yield "contamination", str(result.options.get("contamination"))
    if result.bounds is not None:
        yield "bounds", f"{result.bounds[0]:g}, {result.bounds[1]:g}"
    else:
        yield "sigma", f"{result.sigma!r}{' (estimated)' if result.sigma_from is not None else ''}"
    for name in ("good_enough", "paired"):
        if result.options.get(name):
            yield name, str(result.options[name])
    if result.cap is not None:
        yield "cap", f"{result.cap:g}"
    for name, column in (("per", result.per), ("per_source", result.per_source)):
        if column:
            yield name, column
    if result.lower_is_better:
        yield "lower_is_better", "True"
    for name, value in (("control", result.control), ("where", result.where), ("segment", result.segment)):
        if value is not None:
            yield name, str(value)
    if result.assigned:
        yield "assigned", "True"
    if result.sequential:
        yield "sequential", "True"
    else:
        yield "stopping", result.stopping
    if result.health.rows:
        yield "layout of the log", result.health.layout


def _versions() -> Iterator[tuple[str, str]]:
    yield "bestarm", version("bestarm")
    yield "Python", platform.python_version()
    for name in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):  # DuckDB is an extra
            yield name, version(name)


def fingerprints(result: LogResult, logs: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield each file with its SHA-256; standard input has none."""
    found = [Path(log) for log in logs] or [Path(name) for name in result.health.files if Path(name).is_file()]
    for log in found:
        if str(log) == "-":
            continue
        try:
            with log.open("rb") as stream:
                yield str(log), hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise InputError("logs", "be files that can be read", str(log), error.strerror or str(error)) from None


def save(target: Path, content: bytes) -> None:
    try:
        target.write_bytes(content)
    except OSError as error:
        raise InputError("report", "be a file that can be written", str(target), error.strerror or str(error)) from None
