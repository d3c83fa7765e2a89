"""Dates of three numbers, such as 5/31/2024 or 31-05-2024: whether the month or the day is first.

A day above 12 in some row says it for the whole column. Where there is none the dates may be either, and are not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bestarm.log.reading.database import Database
from bestarm.log.reading.parts import DAY_FIRST, MONTH_FIRST, Part

_SAMPLE, _ALL = 1000, 2**62  # rows
_MONTHS = 12


def tell_days_from_months(parts: Sequence[Part], names: Iterable[str | None], database: Database) -> str | None:
    """Let all parts know the order of the numbers in these columns; return a column whose dates may be either."""
    unclear = None
    for name in dict.fromkeys(name for name in names if name is not None):
        largest = _largest(parts, name, database)
        if largest is None:
            continue
        first, second = (number > _MONTHS for number in largest)
        if first == second:
            unclear = None if first else name
            continue
        for part in parts:
            part.date_order = {**part.date_order, name: DAY_FIRST if first else MONTH_FIRST}
    return unclear


def _largest(parts: Sequence[Part], name: str, database: Database) -> tuple[int, int] | None:
    """Return the largest first and second number of dates in a column; None if it has no such dates."""
    texts = [part for part in parts if part.types.get(name, "VARCHAR") == "VARCHAR" and name in part.columns]
    found = [0, 0]
    is_seen = False
    for part in texts:
        for most in (_SAMPLE, _ALL):
            rows = database.ask("numbered_dates", column=part.text(name), relation=part.scan(), most=most)
            ((number, first, second),) = rows
            if not number:
                break
            is_seen, found = True, [max(found[0], first), max(found[1], second)]
    return (found[0], found[1]) if is_seen else None
