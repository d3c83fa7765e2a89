"""What a log looks like and how to read it: one object, made and checked once, that every step of the reading takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bestarm.errors import InputError
from bestarm.phrases import Phrase, Setting
from bestarm.validation import HUGE, number, one_of

PER_SOURCE = ("first", "last", "mean", "sum", "any")  # what the rewards of a source on an arm become


@dataclass(frozen=True)
class LogSpec:
    """How to read a log.

    Parameters
    ----------
    arm, reward, source, time, wide, counted, missing, on_bad_row, bounds
        As in `bestarm.log.reading.read_log`.
    successes, visits : str, optional
        Columns of a table that count an arm's successes and visits.
    needs_time : bool
        Guess the column of time even if there is no column of sources.
    inspect : bool
        Find the columns that only inspection looks at.
    without : str or list of str, optional
        What is left out, as in `identify_log`.
    where, block, per, per_source
        As in `identify_log`.
    by, segment : str, optional
        A column of segments, and the one that is read; all rows without it.

    Examples
    --------
    >>> LogSpec(arm="caption", reward="stars", bounds=(1, 5)).wanted
    ('caption', 'stars')
    """

    arm: str | None = None
    reward: str | None = None
    source: str | bool | None = None
    time: str | bool | None = None
    wide: bool | Sequence[str] = False
    counted: bool | str | Mapping[str, float] | None = None
    missing: str = "refuse"
    on_bad_row: str = "refuse"
    bounds: tuple[float, float] | None = None
    needs_time: bool = False
    inspect: bool = False
    without: str | Sequence[str] | None = None
    successes: str | None = None
    visits: str | None = None
    where: str | None = None
    block: str | None = None
    per: str | None = None
    per_source: str | None = None
    by: str | None = None
    segment: str | None = None

    def __post_init__(self) -> None:
        one_of("missing", self.missing, ("refuse", "drop", "replaced"))
        one_of("on_bad_row", self.on_bad_row, ("refuse", "skip"))
        object.__setattr__(self, "bounds", _checked_bounds(self.bounds))
        if self.per_source is not None:
            one_of("per_source", self.per_source, PER_SOURCE)
        for name, value in (("per", self.per), ("per_source", self.per_source)):
            if value is not None and self.source in (None, False):
                raise InputError(name, Phrase("come with {}", Setting("source")), value, "name the column of users")
        if self.per is not None and self.per_source is not None:
            fix = "a ratio is of the sums over the rows of each source"
            raise InputError("per_source", Phrase("not come with {}", Setting("per")), self.per_source, fix)
        if self.without is not None and (
            not len(self.without) or not all(isinstance(each, str) for each in self.without)
        ):
            rule = "be suspicious, a file or list of sources, or a condition"
            raise InputError("without", rule, self.without, "such as \"country = 'XX'\"")

    @property
    def wanted(self) -> tuple[str, ...]:
        """Names of columns that the user gave."""
        single = (self.arm, self.reward, self.source, self.time, self.counted, self.successes, self.visits, self.per)
        several: tuple[Any, ...] = tuple(self.wide) if isinstance(self.wide, list | tuple) else ()
        counts: tuple[Any, ...] = tuple(self.counted) if isinstance(self.counted, Mapping) else ()
        return tuple(name for name in (*single, *several, *counts) if isinstance(name, str))


def _checked_bounds(bounds: Any) -> tuple[float, float] | None:
    if bounds is None:
        return None
    pair = [number(each) for each in bounds] if isinstance(bounds, tuple | list) else []
    if len(pair) != 2 or not -HUGE < pair[0] < pair[1] < HUGE:
        raise InputError("bounds", "be two finite numbers, the lower first", bounds, "such as (1, 5)")
    return pair[0], pair[1]
