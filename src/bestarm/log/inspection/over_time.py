"""How rewards change over time on all arms together: a trend, weekdays, and how much days scatter besides.

All of it is an approximation by the normal law, for a reader who wants to know what the days were like. It is no
evidence, and no verdict depends on it.

- *Model*: a reward is the mean of its arm, an effect of its day that all arms share, and noise. The effects are the
  least-squares fit. Their precision is S / sigma^2 with S = diag(n_d) - N diag(1 / n_a) N', N the rewards by day and
  arm: what the days could share with the arms is left out, so that an arm that came late makes no trend.
- *Days may scatter more than chance*: tau^2 is added to the noise of each day, by the method of moments (DerSimonian
  and Laird 1986), and coefficients are judged by Student's t with the residual scatter (Knapp and Hartung 2003), never
  less than chance.
- A trend and weekdays are claimed at `LEVEL` each, scatter at a third of it, as its law is furthest from what it is
  taken for where rewards are rare: together they are wrong in less than 1 of 100 logs that have none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import stats

if TYPE_CHECKING:
    from bestarm.log.inspection.days import DayTable

Array = NDArray[np.float64]

LEVEL = 0.003
LEAST_DAYS = 6  # fewer do not show how much days differ
LEAST_REWARDS = 20  # of a day
WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
_DAY = 86400.0
_LEAST_TIMES = 2  # that each weekday occurs
_WEEKEND_EXPLAINS = 0.05  # the p-value of other differences from which on the weekend is all there is to say
_NONE = 1e-9  # of the largest: as good as nothing


@dataclass(frozen=True)
class Trend:
    """The mean of all arms at the begin and the end of a line through the days, and the p-value of its slope."""

    begin: float
    end: float
    p_value: float


@dataclass(frozen=True)
class Weekdays:
    """How weekdays differ.

    Attributes
    ----------
    weekend : float or None
        How much higher Saturdays and Sundays are, if that is all there is to say.
    highest, lowest : str
        The weekdays with the highest and the lowest mean, and `high` and `low`: what they are on all arms.
    p_value : float
        That they do not differ.
    """

    weekend: float | None
    highest: str
    lowest: str
    high: float
    low: float
    p_value: float


@dataclass(frozen=True)
class Scatter:
    """How much days differ, apart from a trend and weekdays that are told: as seen, and by chance alone."""

    seen: float
    chance: float
    p_value: float
    is_rest: bool

    @property
    def is_more(self) -> bool:
        """Whether chance does not explain it."""
        return self.p_value <= LEVEL / 3.0


@dataclass(frozen=True)
class OverTime:
    """What is claimed about the days: None where nothing is, or where the log is too short to tell."""

    trend: Trend | None = None
    weekdays: Weekdays | None = None
    scatter: Scatter | None = None


def over_time(table: DayTable) -> OverTime:
    """Return how rewards change over time on all arms together.

    Examples
    --------
    >>> from bestarm.log.inspection.days import DayTable
    >>> number = np.full((10, 2), 1000.0)
    >>> sums = np.outer(100.0 - 5.0 * np.arange(10), [1.0, 0.8])
    >>> names = tuple(f"day {day}" for day in range(10))
    >>> table = DayTable(("A", "B"), names, number, sums, sums, 0.0 * sums, 0.0 * sums + 1.0, "day")
    >>> found = over_time(table)
    >>> round(found.trend.begin, 3), round(found.trend.end, 3), found.scatter.is_more
    (0.09, 0.05, False)
    """
    days = _days_of(table)
    if days is None:
        return OverTime()
    places = days.places[:, None]
    weekdays, explained = None, np.zeros((places.size, 0))
    if table.noun == "day" and table.width == _DAY:
        weekdays = _weekdays_of(days)
        explained = explained if weekdays is None else _by_weekday(days)
    trend = None if table.noun == "hour" else _trend_of(days, np.hstack([places, explained]))
    explained = explained if trend is None else np.hstack([places, explained])
    return OverTime(trend, weekdays, _scatter_of(days, explained))


@dataclass(frozen=True, eq=False)
class _Days:
    """Effects of days in the axes of their precision, S / variance: weights are 0 where the arms explain them."""

    places: Array
    weekday: NDArray[np.int64]
    size: Array
    mean: Array
    effects: Array
    axes: Array
    precision: Array
    variance: float
    grand: float

    @property
    def rank(self) -> int:
        return int(np.count_nonzero(self.precision))

    def weights(self, between: float) -> Array:
        """Return the inverse of the variance of the effects if days scatter by this variance besides chance."""
        noise = np.divide(self.variance, self.precision, out=np.full_like(self.precision, np.inf), where=self._known)
        return np.asarray((self.axes / (noise + between)) @ self.axes.T, np.float64)

    @property
    def _known(self) -> NDArray[np.bool_]:
        return np.asarray(self.precision > 0.0, np.bool_)

    @property
    def covariance(self) -> Array:
        """By chance alone."""
        noise = np.divide(self.variance, self.precision, out=np.zeros_like(self.precision), where=self._known)
        return np.asarray((self.axes * noise) @ self.axes.T, np.float64)


@dataclass(frozen=True, eq=False)
class _Fit:
    """Coefficients, their covariance, the degrees of freedom, and Q by chance alone."""

    values: Array
    covariance: Array
    freedom: int
    dispersion: float

    def p_value(self, chosen: slice) -> float:
        """Return the p-value of some coefficients being 0, by the F law."""
        values, covariance = self.values[chosen], self.covariance[chosen, chosen]
        statistic = float(values @ np.linalg.solve(covariance, values)) / values.size
        return float(stats.f.sf(statistic, values.size, self.freedom))


def _days_of(table: DayTable) -> _Days | None:
    judged = table.number.sum(axis=1) >= LEAST_REWARDS
    if judged.sum() < LEAST_DAYS:
        return None
    number = table.number[judged]
    seen = number.sum(axis=0) > 0.0
    number, sums = number[:, seen], table.sums[judged][:, seen]
    size = number.sum(axis=1)
    variance = float(np.average(table.variances()[seen], weights=number.sum(axis=0)))
    precision = np.diag(size) - (number / number.sum(axis=0)) @ number.T
    values, axes = np.linalg.eigh(precision)
    values = np.where(values > _NONE * values[-1], values, 0.0)
    apart = (sums - number * (sums.sum(axis=0) / number.sum(axis=0))).sum(axis=1)
    scores = axes.T @ apart
    effects = axes @ np.divide(scores, values, out=np.zeros_like(scores), where=values > 0.0)
    if not variance > 0.0:  # all rewards of an arm on a day are equal
        variance = _NONE * max(float(np.abs(sums).sum() / size.sum()), _NONE) ** 2
    starts = np.array(table.starts or range(len(table.days)), np.float64)[judged]
    weekday = (np.floor(starts / _DAY).astype(np.int64) + 3) % 7  # 1970 began on a Thursday
    grand = float(sums.sum() / size.sum())
    return _Days(
        places=(starts - starts[0]) / (table.width or 1.0),
        weekday=weekday,
        size=size,
        mean=sums.sum(axis=1) / size,
        effects=effects - np.average(effects, weights=size),
        axes=axes,
        precision=values,
        variance=variance,
        grand=grand,
    )


def _fit(days: _Days, columns: Array) -> _Fit | None:
    """Fit effects of days by columns besides a constant; None if they cannot be told apart, or nothing is left over."""
    freedom = days.rank - columns.shape[1]
    if freedom < LEAST_DAYS - 2:
        return None
    plain = days.weights(0.0)
    centred = columns - np.average(columns, axis=0, weights=days.size)
    if columns.shape[1]:
        norm = (centred**2 * days.size[:, None]).sum(axis=0) / days.variance
        told = (centred.T @ plain @ centred) / np.sqrt(np.outer(norm, norm))
        if not np.linalg.eigvalsh(told)[0] > 1e-6:
            return None
    dispersion, left = _left_over(days.effects, centred, plain)
    between = max((dispersion - freedom) / float(np.trace(left)), 0.0)
    weights = days.weights(between)
    covariance = np.linalg.inv(centred.T @ weights @ centred) if columns.shape[1] else np.zeros((0, 0))
    values = covariance @ (centred.T @ weights @ days.effects)
    residual, _ = _left_over(days.effects, centred, weights)
    return _Fit(values, covariance * max(residual / freedom, 1.0), freedom, dispersion)


def _left_over(effects: Array, columns: Array, weights: Array) -> tuple[float, Array]:
    """Return the weighted square of what columns leave over, and the matrix that gives it."""
    left = weights
    if columns.shape[1]:
        by = weights @ columns
        left = weights - by @ np.linalg.solve(columns.T @ by, by.T)
    return float(effects @ left @ effects), left


# ------------------------------------------------------------------------------------------------------------- claims


def _trend_of(days: _Days, columns: Array) -> Trend | None:
    fit = _fit(days, columns)
    if fit is None or fit.p_value(slice(0, 1)) > LEVEL:
        return None
    middle = float(np.average(days.places, weights=days.size))
    begin, end = (days.grand + float(fit.values[0]) * (float(place) - middle) for place in days.places[[0, -1]])
    return Trend(begin, end, fit.p_value(slice(0, 1)))


def _by_weekday(days: _Days) -> Array:
    """Return a column for each weekday but the last: the weekend as a whole, then what is left within both parts."""
    of = [(days.weekday == day).astype(np.float64) for day in range(7)]
    return np.column_stack([of[5] + of[6], of[0], of[1], of[2], of[3], of[5]])


def _weekdays_of(days: _Days) -> Weekdays | None:
    if np.bincount(days.weekday, minlength=7).min() < _LEAST_TIMES:
        return None
    columns = _by_weekday(days)
    places = days.places[:, None]
    short, whole = _fit(days, np.hstack([columns[:, :1], places])), _fit(days, np.hstack([columns, places]))
    if short is None or whole is None:
        return None
    found = min(2.0 * short.p_value(slice(0, 1)), 2.0 * whole.p_value(slice(0, 6)), 1.0)
    if found > LEVEL:
        return None
    is_weekend = 2.0 * short.p_value(slice(0, 1)) <= LEVEL and whole.p_value(slice(1, 6)) > _WEEKEND_EXPLAINS
    shown = columns @ whole.values[:6]
    level = np.array([shown[days.weekday == day][0] for day in range(7)])
    level += days.grand - float(np.average(level[days.weekday], weights=days.size))
    high, low = int(level.argmax()), int(level.argmin())
    weekend = float(short.values[0]) if is_weekend else None
    return Weekdays(weekend, WEEKDAYS[high], WEEKDAYS[low], float(level[high]), float(level[low]), found)


def _scatter_of(days: _Days, explained: Array) -> Scatter | None:
    fit = _fit(days, explained)
    if fit is None:
        return None
    centred = explained - np.average(explained, axis=0, weights=days.size)
    weights = days.weights(0.0)
    keeps = np.eye(days.size.size)
    if explained.shape[1]:
        by = weights @ centred
        keeps = keeps - centred @ np.linalg.solve(centred.T @ by, by.T)
    rest, chance = keeps @ days.effects, np.diag(keeps @ days.covariance @ keeps.T)
    seen, by_chance = (float(np.sqrt(np.average(each, weights=days.size))) for each in (rest**2, chance))
    p_value = float(stats.chi2.sf(fit.dispersion, fit.freedom))
    return Scatter(seen, by_chance, p_value, explained.shape[1] > 0)
