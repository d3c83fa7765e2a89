"""A verdict for each segment of a log: for each country, device or plan. The segments share delta.

With S segments each verdict is at delta / S. So all of them are right together with probability at least 1 - delta,
however many there are and whichever a reader looks at. The number of segments does not depend on rewards.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestarm.errors import InputError
from bestarm.identification.result import as_json
from bestarm.identification.wording.segments import SegmentWords
from bestarm.log.question import LogQuestion
from bestarm.log.result import LogResult
from bestarm.log.rewards import Rewards
from bestarm.log.spec import LogSpec
from bestarm.phrases import Phrase, Setting

if TYPE_CHECKING:
    import pandas as pd

    from bestarm.log.reading import Progress

EMPTY = "(empty)"  # the label of rows without a segment


@dataclass(frozen=True)
class SegmentedResult(Mapping[str, LogResult]):
    """The verdicts on the segments of a log, by their labels; what `identify_log` returns with `by`.

    Attributes
    ----------
    by : str
        The column.
    delta : float
        Accepted probability that any of the verdicts is wrong; each has it divided by the number of segments.
    results : dict
        The verdict of each segment; `LogResult.delta` is its part of delta.
    skipped : dict
        For each segment without a verdict, why there is none: it has a single arm, or lacks the control.
    """

    by: str
    delta: float
    results: dict[str, LogResult]
    skipped: dict[str, str]

    def __getitem__(self, segment: str) -> LogResult:
        return self.results[segment]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def number(self) -> int:
        """How many segments share delta, those without a verdict included."""
        return len(self.results) + len(self.skipped)

    @property
    def named(self) -> tuple[str, ...]:
        """The segments in which an arm is named."""
        return tuple(segment for segment, result in self.results.items() if result.best is not None)

    @property
    def trusted(self) -> bool:
        """Whether an arm is named in a segment, and each that is named can be relied on."""
        return bool(self.named) and all(self.results[segment].trusted for segment in self.named)

    @property
    def lines(self) -> tuple[str, ...]:
        """A line that says how delta is shared, then a heading and the lines of each segment."""
        return tuple(SegmentWords(self).lines())

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists and numbers: the verdicts are in the list `segments`."""
        found = [{"segment": name} | result.to_dict() for name, result in self.results.items()]
        skipped = [{"segment": name, "why": why} for name, why in self.skipped.items()]
        head = {"by": self.by, "delta": self.delta, "number": self.number, "trusted": self.trusted}
        return head | {"lines": list(self.lines), "segments": found, "skipped": skipped}

    def to_json(self) -> str:
        """Return the same as strict JSON."""
        return json.dumps(as_json(self.to_dict()), default=str, allow_nan=False)

    def to_frame(self) -> pd.DataFrame:
        """Return the tables of arms of all segments below each other, with the segment in the first column."""
        import pandas as pd

        tables = []
        for segment, result in self.results.items():
            table = result.to_frame()
            table.insert(0, self.by if self.by not in table else "segment", segment)
            tables.append(table)
        return pd.concat(tables, ignore_index=True)

    def report(self, path: str | Path, *, command: str | None = None, logs: Sequence[Path] = ()) -> None:
        """Write one page about all segments: .html, or .md without pictures; parameters as for `LogResult.report`."""
        from bestarm.log.segments_report import write_segments

        write_segments(self, path, command=command, logs=logs)

    def certificate(self, path: str | Path | None = None) -> dict[str, Any]:
        """Refuse: a certificate is of one verdict, and the error says how to get one for each segment."""
        from bestarm.log.reading.among import as_condition

        first = next(iter(self.results), EMPTY)
        share = self.delta / self.number
        condition = as_condition(self.by, "" if first == EMPTY else first)
        fix = Phrase(
            "ask for one segment at a time, with its part of delta: {} {}",
            Setting("where", condition),
            Setting("delta", math.floor(1e6 * share) / 1e6),
        )
        raise InputError("certificate", "be of one verdict", f"{self.number} segments", fix)


def identify_segments(
    data: Any, spec: LogSpec, question: LogQuestion, progress: Progress | None = None, *, sequential: bool = False
) -> SegmentedResult:
    """Return the verdict of each segment of a log, as `identify_log` does with `by`."""
    _check(data, sequential)
    from bestarm.log.reading import open_log

    assert spec.by is not None
    with open_log(data, replace(spec, inspect=False, without=None), _part_of(progress, 0, 1)) as log:
        segments = log.segments()
    if not segments:
        raise InputError("by", "have a value in some row", spec.by, "the log has no rows")
    shared = replace(question, delta=question.delta / len(segments))
    results: dict[str, LogResult] = {}
    skipped: dict[str, str] = {}
    error: InputError | None = None
    for index, segment in enumerate(segments):
        label = segment or EMPTY
        own = _part_of(progress, index + 1, len(segments) + 1)
        found = _answer_one(data, replace(spec, segment=segment), shared, own)
        if isinstance(found, InputError):
            error = found
            skipped[label] = SegmentWords.without_verdict(found, question.control)
        else:
            results[label] = replace(found, segment=label)
    if error is not None and not results:
        raise error
    return SegmentedResult(spec.by, question.delta, results, skipped)


def _check(data: Any, sequential: bool) -> None:
    if sequential:
        fix = Phrase("leave out {}", Setting("sequential", True))
        raise InputError("by", "be asked of all rows at once", "a replay in order", fix)
    if isinstance(data, Rewards):
        raise InputError("by", "come with the log itself", "Rewards", "rewards that were read have no segments")
    if isinstance(data, str) and data == "-":
        rule = "come with a file that can be read several times"
        raise InputError("by", rule, "standard input", "save it to a file first: a segment is read at a time")


def _answer_one(data: Any, spec: LogSpec, question: LogQuestion, progress: Progress | None) -> LogResult | InputError:
    """Return the verdict on a segment, or the error if it has no two arms, or lacks the control."""
    from bestarm.log.reading import FEW_ARMS
    from bestarm.log.verdict import read_and_answer

    try:
        return read_and_answer(data, spec, question, progress)
    except InputError as error:
        if error.rule == FEW_ARMS or (error.parameter == "control" and question.control is not None):
            return error
        raise


def _part_of(progress: Progress | None, index: int, number: int) -> Progress | None:
    """Return what to tell of one of several passes over a log."""
    if progress is None:
        return None
    told = progress

    def tell(share: float) -> None:
        told((index + share) / number)

    return tell
