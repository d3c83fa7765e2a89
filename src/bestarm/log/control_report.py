"""The report on a log with a control: the page of every log, about comparisons with the control."""

from __future__ import annotations

from collections.abc import Iterator

from bestarm.identification.wording.control_page import INTERVALS, ControlPage
from bestarm.log.page import Block, ReportPicture, Table, Text, Tone
from bestarm.log.report import _Report
from bestarm.log.result import LogResult

_MOST = 50  # arms in the table


class ControlReport(_Report):
    """The sections of a report with a control; the words are those of `ControlPage`."""

    def __init__(self, result: LogResult, command: str | None, prints: list[tuple[str, str]]) -> None:
        super().__init__(result, command, prints)
        self._page = ControlPage(result)
        self._words = self._page

    def _pictures(self, name: str) -> Iterator[ReportPicture]:
        if name:
            yield from super()._pictures(name)
            return
        yield self._drawn(f"{self._words.headline()}: {INTERVALS}", arms=True)

    def _sensitivity(self, with_curve: bool) -> list[Block]:
        return [Text("paragraph", sentence) for sentence in self._page.survives()]

    def _arms(self) -> list[Block]:
        rows = [self._page.cells(each) for each in self._result.comparisons[:_MOST]]
        tone: Tone = "good" if self._result.trusted else "doubted"
        table = Table(list(rows[0]), [list(row.values()) for row in rows], 0 if self._page.better else None, tone)
        return [table, Text("note", self._page.about_the_table()), *super()._arms()]
