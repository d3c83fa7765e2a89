"""Rewards by day and arm: days unlike all others, and means that rise or fall over time on all arms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bestarm.identification.finding import Finding
from bestarm.identification.wording.text import with_rest
from bestarm.log.inspection.over_time import over_time
from bestarm.log.inspection.shapes import RATE
from bestarm.log.inspection.watch import Clock, Watch
from bestarm.problem import Label

Array = NDArray[np.float64]

_DAY, _HOUR = 86400.0, 3600.0
_MOST_DAYS, _STRETCHES = 400, 20
_LEAST_DAYS = 6  # fewer do not show how much days differ
_LEAST_REWARDS = 20  # of a day
_MOST_ODD = 0.1  # if more days are far from the others, that is how the days are: weekends
_MOST_CONSTANT = 0.25  # days without any success on an arm are no weekends
_MOST_HOURS = 24 * _MOST_DAYS
_EFFICIENCY = 0.37  # of a median as an estimate of scale
_MATTERS = 0.1  # a trend that moves the mean by less than this share of it is not reported


@dataclass(frozen=True, eq=False)
class DayTable:
    """Rewards by day and arm.

    Attributes
    ----------
    labels : tuple
        The arms.
    days : tuple of str
        What each day is called.
    number, sums, squares : array
        Days x arms: how many rewards, their sum, and their sum of squares.
    lowest, highest : array
        Days x arms: the extremes; infinite where there is no reward.
    noun : str
        "day", "hour", or "stretch" where time is a plain number.
    starts : tuple of float
        When each day begins, in seconds since 1970 or as the log counts time.
    width : float
        How long a day is, in the same unit; several days in a log of years.
    """

    labels: tuple[Label, ...]
    days: tuple[str, ...]
    number: Array
    sums: Array
    squares: Array
    lowest: Array
    highest: Array
    noun: str
    starts: tuple[float, ...] = ()
    width: float = 0.0

    def without(self, out: Sequence[int]) -> DayTable:
        """Return the table without some days."""
        kept = ~np.isin(np.arange(len(self.days)), out)
        arrays = (self.number, self.sums, self.squares, self.lowest, self.highest)
        days = tuple(name for name, is_kept in zip(self.days, kept, strict=True) if is_kept)
        number, sums, squares, lowest, highest = (array[kept] for array in arrays)
        starts = tuple(start for start, is_kept in zip(self.starts, kept, strict=False) if is_kept)
        return DayTable(self.labels, days, number, sums, squares, lowest, highest, self.noun, starts, self.width)

    def only(self, labels: Sequence[Label]) -> DayTable:
        """Return the table of some arms."""
        kept = [self.labels.index(label) for label in labels]
        arrays = (self.number, self.sums, self.squares, self.lowest, self.highest)
        number, sums, squares, lowest, highest = (array[:, kept] for array in arrays)
        return DayTable(tuple(labels), self.days, number, sums, squares, lowest, highest, self.noun)

    def variances(self) -> Array:
        """Return the variance of a reward of each arm within a day."""
        number, least = self.number, np.maximum(self.number, 1.0)
        inside = np.maximum(self.squares - self.sums**2 / least, 0.0).sum(axis=0)
        return np.asarray(inside / np.maximum(number.sum(axis=0) - (number > 0.0).sum(axis=0), 1.0), np.float64)

    def effects(self) -> tuple[Array, Array]:
        """Return how much higher rewards are on each day, whatever the arm, and each arm's mean without that."""
        number = self.number
        per_day, per_arm = np.maximum(number.sum(axis=1), 1.0), np.maximum(number.sum(axis=0), 1.0)
        day, arm = np.zeros(number.shape[0]), np.zeros(number.shape[1])
        for _ in range(30):
            arm = (self.sums - number * day[:, None]).sum(axis=0) / per_arm
            day = (self.sums - number * arm[None, :]).sum(axis=1) / per_day
        return day, arm


def table_by_day(watch: Watch) -> DayTable | None:
    """Return the rewards by day and arm; by hour in a log of less than four days; None without a time."""
    clock = watch.clock
    if clock is None or clock.last <= clock.first:
        return None
    return _table(watch, *_division(clock))


def table_by_hour(watch: Watch) -> DayTable | None:
    """Return the rewards by hour and arm of a log that `table_by_day` divides into days; None if times are days.

    A log that is too large for memory has none: each look at its rows takes ten seconds for 10^8 of them.
    """
    clock = watch.clock
    if clock is None or not watch.is_table or not clock.is_calendar or clock.tick >= _HOUR:
        return None
    if not 4.0 * _DAY <= clock.last - clock.first <= _MOST_HOURS * _HOUR:
        return None
    return _table(watch, float(np.floor(clock.first / _HOUR) * _HOUR), _HOUR, "hour")


def _table(watch: Watch, first: float, width: float, noun: str) -> DayTable:
    rows = watch.run("by_day", first=repr(first), width=repr(width))
    size = int(rows["day"].max()) + 1, len(watch.rewards.labels)
    arrays = {name: np.zeros(size) for name in ("times", "sums", "squares")}
    arrays |= {"lowest": np.full(size, np.inf), "highest": np.full(size, -np.inf)}
    for name, array in arrays.items():
        array[rows["day"], rows["arm_index"]] = rows[name]
    for name in ("sums", "squares"):  # the last digits depend on the order of the rows
        arrays[name] = to_digits(arrays[name])
    seen = np.flatnonzero(arrays["times"].sum(axis=1) > 0.0)
    names = tuple(_name(first + width * int(day), noun, int(day)) for day in seen)
    number, sums, squares, lowest, highest = (array[seen] for array in arrays.values())
    starts = tuple(first + width * float(day) for day in seen)
    return DayTable(watch.rewards.labels, names, number, sums, squares, lowest, highest, noun, starts, width)


def to_digits(values: Array) -> Array:
    """Return numbers rounded to twelve digits."""
    size = 10.0 ** (12.0 - np.ceil(np.log10(np.maximum(np.abs(values), 1e-200))))
    return np.asarray(np.round(values * size) / size, np.float64)


def _division(clock: Clock) -> tuple[float, float, str]:
    """Return where the first day begins, how long a day is, and what it is called."""
    span = clock.last - clock.first
    if clock.is_calendar and span >= 4.0 * _DAY:
        width = _DAY * np.ceil(span / _DAY / _MOST_DAYS)
        return float(np.floor(clock.first / _DAY) * _DAY), float(width), "day"
    if clock.is_calendar and span >= 3.0 * _HOUR:
        return float(np.floor(clock.first / _HOUR) * _HOUR), _HOUR, "hour"
    if clock.tick >= 1.0 and span < 3 * _STRETCHES:  # days that are numbered
        return clock.first, 1.0, "stretch"
    return clock.first, span / _STRETCHES * (1.0 + 1e-9), "stretch"


def _name(seconds: float, noun: str, number: int) -> str:
    if noun == "stretch":
        return f"stretch {number + 1}"
    when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return f"{when:%Y-%m-%d}" if noun == "day" else f"{when:%Y-%m-%d %H}:00"


# ------------------------------------------------------------------------------------------------------------ findings


def find_odd_days(watch: Watch, table: DayTable) -> tuple[list[Finding], tuple[int, ...]]:
    """Return the days that are unlike all others, as at most one finding, and their indices.

    A day is odd if its mean, on one arm or on all together, is far from the other days' by their own scatter, which is
    measured by a median; or if all its rewards are equal where that is improbable.
    """
    size = table.number.sum(axis=1)
    if np.count_nonzero(size >= _LEAST_REWARDS) < _LEAST_DAYS or table.noun == "hour":
        return [], ()
    constant, far = _constant_days(table), _far_days(table)
    constant = constant if len(constant) <= max(_MOST_CONSTANT * len(table.days), 1.0) else []
    far = far if len({*far} - {*constant}) <= max(_MOST_ODD * len(table.days), 1.0) else []
    odd = sorted({*constant, *far})
    if not odd:
        return [], ()
    shown = with_rest([table.days[day] for day in odd[:3]], len(odd))
    text = f"{shown} {'is' if len(odd) == 1 else 'are'} unlike the other {_plural(table.noun)}"
    means = ", ".join(f"{table.sums[day].sum() / size[day]:.4g} on {table.days[day]}" for day in odd[:3])
    mean = table.sums.sum() / size.sum()
    details = f"The {watch.metric.measure} is {mean:.4g} on all {_plural(table.noun)}, and {means}."
    if constant:
        details += f" On {with_rest([table.days[day] for day in constant[:3]], len(constant))} all rewards"
        details += " of some arm are equal."
    return [Finding("day", None, None, None, text, tuple(table.days[day] for day in odd), RATE, details)], tuple(odd)


def find_trend(watch: Watch, table: DayTable) -> list[Finding]:
    """Return whether rewards rise or fall over time on all arms together."""
    trend, mean = over_time(table).trend, table.sums.sum() / table.number.sum()
    if trend is None or trend.p_value > RATE or abs(trend.end - trend.begin) < _MATTERS * abs(mean):
        return []
    begin, end = watch.metric.compared(trend.begin, trend.end)
    verb = "rises" if trend.end > trend.begin else "falls"
    which = "both" if len(watch.rewards.labels) == 2 else "all"
    arms = f"{which} {watch.metric.arm_word}s together"
    text = f"the {watch.metric.measure} {verb} over time, {arms}, from about {begin} to {end}"
    return [Finding("trend", None, None, None, text, (), trend.p_value, text[:1].upper() + text[1:] + ".")]


def _far_days(table: DayTable) -> list[int]:
    """Return the days whose mean is far from that of the others, on all arms together or on one arm."""
    effect, arms = table.effects()
    size, variance = table.number.sum(axis=1), table.variances()
    noise = (table.number * variance).sum(axis=1) / np.maximum(size, 1.0) ** 2
    columns = [(effect, noise, size)]
    if len(table.labels) <= _STRETCHES:
        number = table.number
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.where(number > 0.0, table.sums / number, 0.0) - arms
        columns += [(apart[:, a], variance[a] / np.maximum(number[:, a], 1.0), number[:, a]) for a in range(arms.size)]
    found: set[int] = set()
    for values, error, many in columns:
        judged = np.flatnonzero(many >= _LEAST_REWARDS)
        if judged.size >= _LEAST_DAYS:
            p_values = _outlying(values[judged], error[judged]) * judged.size * len(columns)
            found.update(judged[p_values <= RATE].tolist())
    return sorted(found)


def _outlying(values: Array, noise: Array) -> Array:
    """Return how probable each value's distance from the median is, by the scatter of all of them."""
    apart = values - np.median(values)
    target = float(stats.chi2.median(1))
    low, high = 0.0, float((apart**2).max()) / target + 1e-300
    for _ in range(60):
        middle = 0.5 * (low + high)
        is_more = np.median(apart**2 / np.maximum(noise + middle, 1e-300)) > target
        low, high = (middle, high) if is_more else (low, middle)
    scale = np.sqrt(np.maximum(noise + low, 1e-300))
    freedom = max(_EFFICIENCY * (values.size - 1.0), 2.0)
    return np.asarray(2.0 * stats.t.sf(np.abs(apart) / scale, freedom), np.float64)


def _constant_days(table: DayTable) -> list[int]:
    """Return the days on which all rewards of an arm, or of all arms, are equal, where that is improbable.

    How probable the value is on other days is taken from the mean: of rewards between the extremes, at most the share
    (mean - lowest) / (highest - lowest) can be the highest, and likewise for the lowest.
    """
    low, high = table.lowest.min(), table.highest.max()
    if not high > low:
        return []
    found = []
    for day in range(len(table.days)):
        rest = np.arange(len(table.days)) != day
        cells = [(table.number[day, a], table.lowest[day, a], table.highest[day, a], [a]) for a in _several(table, day)]
        everywhere = list(range(len(table.labels)))
        cells.append((table.number[day].sum(), table.lowest[day].min(), table.highest[day].max(), everywhere))
        for number, least, most, which in cells:
            others = table.number[rest][:, which].sum()
            if least != most or number < _LEAST_REWARDS or not others:
                continue
            mean = (table.sums[rest][:, which].sum() / others - low) / (high - low)
            value = (least - low) / (high - low)
            chance = min(mean / value if value > 0.0 else 1.0, (1.0 - mean) / (1.0 - value) if value < 1.0 else 1.0)
            if number * np.log(max(chance, 1e-300)) <= np.log(RATE / table.number.size):
                found.append(day)
                break
    return found


def _several(table: DayTable, day: int) -> list[int]:
    return [int(arm) for arm in np.flatnonzero(table.number[day] >= _LEAST_REWARDS)]


def _plural(noun: str) -> str:
    return "stretches of time" if noun == "stretch" else f"{noun}s"
