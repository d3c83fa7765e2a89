"""From rewards by day and arm to a series: means with a band of 95 % each, and what is said of the days."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bestarm.identification.wording.log_series import SeriesWords
from bestarm.log.inspection.days import DayTable
from bestarm.log.inspection.over_time import OverTime, over_time
from bestarm.log.picture import ranked_rows
from bestarm.log.result import LogResult
from bestarm.log.series import ArmSeries, Series

Array = NDArray[np.float64]

_MOST_ARMS = 20
_TWO_SIDED = 0.025


def with_series(result: LogResult, table: DayTable | None) -> LogResult:
    """Return a verdict with its rewards over time, if the log has times."""
    if table is None or len(table.days) < 2:
        return result
    ranked = [row.label for row in ranked_rows(result)]
    number, mean, low, high = _bands(table, result.metric.of_rows.is_rate, _bounds_of_rows(result))
    index = {label: place for place, label in enumerate(table.labels)}
    arms = [
        ArmSeries(
            label, tuple(number[:, a].astype(int).tolist()), *(tuple(each[:, a].tolist()) for each in (mean, low, high))
        )
        for label in ranked[:_MOST_ARMS]
        for a in [index[label]]
    ]
    found = over_time(table)
    words = SeriesWords(result.metric.of_rows, table.noun, table.width)
    return replace(
        result,
        series=Series(
            noun=table.noun,
            names=table.days,
            starts=table.starts,
            width=table.width,
            number=tuple(number.sum(axis=1).astype(int).tolist()),
            arms=tuple(arms),
            left_out=len(ranked) - len(arms),
            trend=found.trend,
            weekdays=found.weekdays,
            scatter=found.scatter,
            sentences=tuple(_sentences(found, words)),
        ),
    )


def _sentences(found: OverTime, words: SeriesWords) -> Iterator[str]:
    trend, weekdays, scatter = found.trend, found.weekdays, found.scatter
    if trend is not None:
        yield words.trend(trend.begin, trend.end)
    if weekdays is not None and weekdays.weekend is not None:
        yield words.weekend(weekdays.weekend)
    elif weekdays is not None:
        yield words.weekdays(weekdays.highest, weekdays.high, weekdays.lowest, weekdays.low)
    if scatter is not None:
        yield words.scatter(scatter.seen, scatter.chance, is_more=scatter.is_more, is_rest=scatter.is_rest)


def _bounds_of_rows(result: LogResult) -> tuple[float, float] | None:
    """Return the bounds of single rewards: those of a ratio, of a sum or of capped rewards are others."""
    is_other = result.metric.per or result.metric.per_source == "sum" or result.cap is not None
    return None if is_other else result.bounds


def _bands(table: DayTable, is_rate: bool, bounds: tuple[float, float] | None) -> tuple[Array, Array, Array, Array]:
    """Return number, mean and the ends of a band of each day and arm; NaN where there is no reward."""
    number = table.number
    known = np.where(number > 0.0, number, np.nan)
    mean = table.sums / known
    if is_rate:
        return (number, mean, *wilson(mean, known))
    low, high = _normal(table, mean, known)
    least, most = (float(table.lowest.min()), float(table.highest.max())) if bounds is None else bounds
    if most > least:  # an arm whose rewards are all equal on each day has no scatter to go by
        below, above = wilson((mean - least) / (most - least), known)
        equal = np.broadcast_to(table.variances() <= 0.0, mean.shape)
        low, high = (
            np.where(equal, least + (most - least) * below, low),
            np.where(equal, least + (most - least) * above, high),
        )
    if bounds is not None:
        low, high = np.maximum(low, bounds[0]), np.minimum(high, bounds[1])
    return number, mean, low, high


def wilson(share: Array, number: Array) -> tuple[Array, Array]:
    """Return the ends of Wilson's interval of 95 %.

    >>> [round(float(end), 4) for end in wilson(np.array(0.1), np.array(100.0))]
    [0.0552, 0.1744]
    """
    z = float(stats.norm.isf(_TWO_SIDED))
    middle = (share + z * z / (2.0 * number)) / (1.0 + z * z / number)
    half = z / (1.0 + z * z / number) * np.sqrt(share * (1.0 - share) / number + (z / (2.0 * number)) ** 2)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def _normal(table: DayTable, mean: Array, known: Array) -> tuple[Array, Array]:
    """Return bands by Student's law, with the larger of a day's own scatter and that of the arm within all its days."""
    own = np.maximum(table.squares - table.sums * np.nan_to_num(mean), 0.0) / np.maximum(table.number - 1.0, 1.0)
    scatter = np.sqrt(np.maximum(own, table.variances()) / known)
    freedom = np.maximum(table.number.sum(axis=0) - (table.number > 0.0).sum(axis=0), 1.0)
    half = stats.t.isf(_TWO_SIDED, freedom) * scatter
    return mean - half, mean + half
