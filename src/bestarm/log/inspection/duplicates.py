"""Rows that were written more than once: equal rows, events that occur twice, a whole export twice."""

from __future__ import annotations

import numpy as np
from scipy import stats

from bestarm.identification.finding import Finding
from bestarm.log.inspection.shapes import RATE
from bestarm.log.inspection.watch import Watch
from bestarm.log.reading import EQUAL_TIMES

_FACTORS = (2, 3, 4)  # how often an export may be written; toy examples repeat themselves more often
_LEAST_ROWS = 20


def find_duplicates(watch: Watch) -> list[Finding]:
    """Return rows that were written more than once, the first of three ways in which that shows.

    Equal rows are normal where little is recorded, such as an arm and a 0 or a 1. They say something only if every row
    occurs twice (or three, four times), or if a time or the number of an event makes rows unique.
    """
    for find in (_whole_export, _events, _equal_times):
        found = find(watch)
        if found is not None:
            return [found]
    return []


def _whole_export(watch: Watch) -> Finding | None:
    """Return a finding if the number of every different row is a multiple of 2, 3 or 4.

    By chance that has a probability of at most about 2^-d for d different rows. Where d is small, the order of the file
    decides: the second half repeats the first, row by row, or rows are doubled one by one.
    """
    found = {name: int(column[0]) for name, column in watch.run("equal_rows", every=watch.every).items()}
    factor, different, number = found["factor"], found["different"], found["number"]
    if factor < 2 or number < _LEAST_ROWS or different < 2:
        return None
    p_value = float(factor) ** -different
    if p_value > RATE or factor not in _FACTORS:
        factor, p_value = _repeats(watch, factor), RATE
    if factor not in _FACTORS:
        return None
    rows = watch.total - watch.total // factor
    times = {2: "twice", 3: "three times", 4: "four times"}[factor]
    text = f"every row is there {times} ({rows:,} of the {watch.metric.rows(watch.total)} are copies)"
    details = f"Every row of the file is there {times}, as if it had been exported {times}: {rows:,} are copies."
    return _finding(watch, rows, text, times, p_value, details)


def _repeats(watch: Watch, factor: int) -> int:
    """Return how often the file repeats itself in its order, if all numbers of equal rows are multiples of `factor`.

    0 if it does not, or if nobody looks. A file that repeats itself `factor` times, more often than an export would be
    written, is a toy.
    """
    if not watch.is_table:
        return 0
    watch.log.keep_order(True)
    found = [each for each in sorted({*_FACTORS, factor}) if factor % each == 0 and _is_repeated(watch, each)]
    watch.log.keep_order(False)
    return max(found, default=0)


def _is_repeated(watch: Watch, factor: int) -> bool:
    """Tell whether the parts of the file repeat the first, row by row, or rows are written several times in a row."""
    halves = watch.run("halves", factor=factor)
    return bool(halves["is_repeated"][0] or halves["is_doubled"][0])


def _events(watch: Watch) -> Finding | None:
    """Return a finding if the numbers of events occur more than once, for the same arm, reward and source."""
    if watch.columns.event is None or watch.is_aggregated:
        return None
    found = {name: int(column[0]) for name, column in watch.run("equal_events", every=watch.every).items()}
    # An identifier that most rows share with others is not one of events.
    if not found["repeated"] or found["different"] < 0.4 * found["number"]:
        return None
    rows = found["repeated"] * watch.every
    name = watch.columns.event
    text = f"{watch.metric.rows(rows)} have the {name} of an earlier one ({_share(rows, watch)})"
    details = f"{rows:,} of {watch.total:,} rows have the same {name}, arm and reward as an earlier row."
    return _finding(watch, rows, text, name, None, details)


def _equal_times(watch: Watch) -> Finding | None:
    """Return a finding if more rows are equal, time included, than chance allows.

    Two models of chance, and the larger number counts. Were time independent of the rest of a row, two rows of one time
    would be equal with the probability that two rows at random are. And whoever comes several times within a minute has
    about as many equal rows one tick of the clock apart as at the same tick; so times must be in seconds or finer.
    """
    clock = watch.clock
    if clock is None or not clock.is_fine or watch.is_aggregated:
        return None
    found = {
        name: float(np.nan_to_num(np.asarray(column, np.float64))[0])
        for name, column in watch.run("equal_times", unit=clock.tick, every=watch.every).items()
    }
    count, number = found["repeated"], found["number"]
    independent = 0.5 * found["same_time"] * found["same_rest"] / (number * max(number - 1.0, 1.0)) if number else 0.0
    by_chance = max(independent, 2.0 * found["near"])
    if not count or stats.poisson.sf(count - 1.0, by_chance) > RATE:
        return None
    rows = round(count) * watch.every
    text = f"{watch.metric.rows(rows)} {'repeats' if rows == 1 else 'repeat'} an earlier one, time included"
    text += f" ({_share(rows, watch)})"
    details = (
        f"{rows:,} of {watch.total:,} rows are equal to an earlier row in all columns, time included, where chance "
        f"would give about {by_chance * watch.every:.2g}. If these are rows written twice, epsilon = "
        f"{rows / watch.total:.2g} of the rewards."
    )
    return _finding(watch, rows, text, EQUAL_TIMES, float(stats.poisson.sf(count - 1.0, by_chance)), details)


def _finding(watch: Watch, rows: int, text: str, what: str, p_value: float | None, details: str) -> Finding:
    """Return a finding about copies; where sources are counted they add none, as a source counts once per arm."""
    sources = 0 if watch.judges_sources else None
    details += "" if watch.every == 1 else f" This is estimated from one in {watch.every:,} rows."
    return Finding("duplicates", rows, sources, rows / watch.total, text, (what,), p_value, details)


def _share(rows: int, watch: Watch) -> str:
    return watch.amount(rows).rpartition(", ")[2]
