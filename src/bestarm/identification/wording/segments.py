"""What is said of the segments of a log: how they share delta, and a heading for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from bestarm.identification.wording.log_lines import named
from bestarm.identification.wording.text import percent

if TYPE_CHECKING:
    from bestarm.errors import InputError


class _Lines(Protocol):
    @property
    def lines(self) -> tuple[str, ...]: ...


class Segmented(Protocol):
    """What the words need to know of the verdicts on segments."""

    @property
    def by(self) -> str:
        """The column."""
        ...

    @property
    def delta(self) -> float:
        """Accepted probability that any verdict is wrong."""
        ...

    @property
    def number(self) -> int:
        """How many segments share delta."""
        ...

    @property
    def skipped(self) -> Mapping[str, str]:
        """Segments without a verdict, and why."""
        ...

    @property
    def results(self) -> Mapping[str, _Lines]:
        """The verdicts."""
        ...


class SegmentWords:
    """The lines of the verdicts on segments."""

    def __init__(self, result: Segmented) -> None:
        self.result = result

    def shared(self) -> str:
        """Return how delta is shared."""
        result = self.result
        if result.number == 1:
            return f"There is 1 segment by {result.by}; it is wrong with probability at most {percent(result.delta)}."
        each = percent(result.delta / result.number)
        return (
            f"{result.number} segments by {result.by}, each wrong with probability at most {each}: all of them are "
            f"right together, but for a probability of at most {percent(result.delta)}."
        )

    def heading(self, segment: str) -> str:
        """Return the heading of a segment."""
        return f"{self.result.by} = {segment}"

    def lines(self) -> Iterator[str]:
        """Yield how delta is shared, and the heading and the lines of each segment."""
        yield self.shared()
        for segment, result in self.result.results.items():
            yield self.heading(segment)
            yield from result.lines
        yield from self.skipped()

    def skipped(self) -> Iterator[str]:
        """Yield a line for each segment without a verdict."""
        for segment, why in self.result.skipped.items():
            yield f"{self.heading(segment)}: no verdict, as {why}."

    @staticmethod
    def without_verdict(error: InputError, control: str | None) -> str:
        """Return why a segment has no verdict."""
        if error.parameter == "control":
            return f"the control {named(control)} is not in it"
        arms = error.received if isinstance(error.received, list) else []
        return f"{named(arms[0])} is the only arm in it" if len(arms) == 1 else "no arm is in it"

    def title(self) -> str:
        """Return the title of a report."""
        return f"A verdict for each {self.result.by}"
