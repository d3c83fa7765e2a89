"""The report on the segments of a log: one page with a list of contents, and for each segment its own sections."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bestarm.identification.wording.segments import SegmentWords
from bestarm.log.page import Block, Page, Section, Table, Text
from bestarm.log.report import check_place, fingerprints, report_of, save

if TYPE_CHECKING:
    from bestarm.log.segments import SegmentedResult

_SHARED = ("question", "repeat")  # the anchors of sections that are the same for all segments


def write_segments(
    result: SegmentedResult, path: str | Path, *, command: str | None = None, logs: Sequence[Path] = ()
) -> None:
    """Write the report on the segments of a log; parameters as for `LogResult.report`."""
    target = check_place(path)
    is_page = target.suffix.lower() == ".html"
    words, sections = SegmentWords(result), []
    rows: list[list[str]] = []
    blocks: list[Block] = [Text("paragraph", words.shared())]
    first = next(iter(result.values()))
    prints = list(fingerprints(first, logs))
    for number, (segment, found) in enumerate(result.items()):
        rows.append([segment, found.lines[0]])
        page = report_of(found, command, prints).page("" if is_page else "left-out")
        for section in page.sections:
            kept = [block for block in section.blocks if is_page or block.kind != "picture"]
            if (section.anchor in _SHARED and number + 1 < len(result)) or (
                section.anchor == "picture" and not is_page
            ):
                continue
            heading = f"{words.heading(segment)}: {section.heading[:1].lower()}{section.heading[1:]}"
            heading = section.heading if section.anchor in _SHARED else heading
            sections.append(Section(heading, f"{section.anchor}-{number + 1}", kept))
    blocks.append(Table([result.by, "answer"], rows))
    blocks += [Text("paragraph", line) for line in words.skipped()]
    contents = Section("The segments", "segments", blocks)
    page = Page(words.title(), (contents, *sections))
    text = page.as_html() if is_page else page.as_markdown()
    save(target, text.encode("utf-8"))
