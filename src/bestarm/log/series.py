"""The rewards of a log over time, arm by arm, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bestarm.log.inspection.over_time import Scatter, Trend, Weekdays
from bestarm.problem import Label


@dataclass(frozen=True)
class ArmSeries:
    """The rewards of an arm on each day: how many, their mean, and a band around it; NaN where there are none."""

    label: Label
    number: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Series:
    """The rewards of a log by day and arm, and how days differ.

    Attributes
    ----------
    noun : str
        What the log is divided into: "day", "hour", or "stretch" where time is a plain number or the log is short.
    names : tuple of str
        What each day is called: a date, a date and an hour, or "stretch 3". Days without rewards are left out.
    starts : tuple of float
        When each day begins: in seconds since 1970, or as the log counts time.
    width : float
        How long a day is, in the same unit: at most 400 days are told apart, so in a log of years it is several days.
    number : tuple of int
        How many rewards there are on each day, on all arms.
    arms : tuple of ArmSeries
        Of at most 20 arms, the winner or leader first: `label`, `number`, `mean`, `low` and `high`, each with an entry
        per day. A band holds with probability about 0.95 for its day and arm alone, if nothing is fake: Wilson's
        interval for rewards of 0 and 1, else one by the normal law. It is no proof. Means and bands are of all rows,
        also if sources are counted.
    left_out : int
        How many arms are not among them.
    trend : Trend or None
        The mean of all arms at the `begin` and the `end`, if it rises or falls by more than chance explains, and
        `p_value`.
    weekdays : Weekdays or None
        If weekdays differ by more than chance explains: the `highest` and the `lowest` weekday, their means `high` and
        `low`, and `weekend`: how much higher Saturdays and Sundays are, if that is all.
    scatter : Scatter or None
        How much days differ apart from that: as `seen`, and by `chance` alone, with a `p_value`; `is_rest` says whether
        a trend or weekdays were taken off. None if the log is too short to tell.
    sentences : tuple of str
        The same in words: approximations, of which at least one is wrong in less than 1 of 100 logs whose means do not
        change.
    """

    noun: str
    names: tuple[str, ...]
    starts: tuple[float, ...]
    width: float
    number: tuple[int, ...]
    arms: tuple[ArmSeries, ...]
    left_out: int = 0
    trend: Trend | None = None
    weekdays: Weekdays | None = None
    scatter: Scatter | None = None
    sentences: tuple[str, ...] = ()

    @property
    def is_calendar(self) -> bool:
        """Whether the times are dates, not plain numbers."""
        return bool(self.starts) and self.starts[0] >= 2.9e8 and self.starts[-1] <= 4.1e9

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists and numbers."""
        fields = asdict(self)
        for each in (fields, *fields["arms"]):
            each |= {name: list(value) for name, value in each.items() if isinstance(value, tuple)}
        return fields
