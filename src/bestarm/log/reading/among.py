"""The rows that are looked at at all: those for which a condition is true, or those of one segment.

Other rows are not read for anything: a bad cell in one of them is no matter, and inspection does not see it either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bestarm.errors import InputError
from bestarm.log.reading.columns import LogColumns
from bestarm.log.reading.database import Database, identifier, quoted
from bestarm.log.reading.parts import Part
from bestarm.log.reading.without import checked_condition, test_of
from bestarm.log.spec import LogSpec
from bestarm.phrases import Phrase, Setting

MOST_SEGMENTS = 50


@dataclass(frozen=True)
class Among:
    """Which rows are looked at.

    Attributes
    ----------
    condition : str
        Those for which it is true, in SQL; all rows if empty.
    column, segment : str or None
        Of those, the rows that have the text `segment` in a column, without spaces around it.
    """

    condition: str = ""
    column: str | None = None
    segment: str | None = None

    @property
    def is_all(self) -> bool:
        """Whether all rows are looked at."""
        return not self.condition and self.segment is None

    @property
    def how(self) -> str:
        """Which rows are looked at, in a few words; nothing if all are."""
        segment = [] if self.segment is None else [f"{self.column} = {quoted(self.segment)}"]
        return " and ".join([*([self.condition] if self.condition else []), *segment])

    def columns(self, part: Part) -> list[str]:
        """Return the columns of a part that have to be read for it."""
        return list(part.columns) if self.condition else [self.column] if self.column is not None else []

    def test(self, part: Part, database: Database) -> str:
        """Return whether a row of a part is looked at, in SQL."""
        tests = []
        if self.condition:
            tests.append(f"coalesce({test_of(part, self.condition, database, 'where')}, false)")
        if self.segment is not None:
            tests.append(f"{_text(part, self.column)} = {quoted(self.segment)}")
        return " AND ".join(tests) or "true"

    def rows(self, query: str) -> str:
        """Return the query of the rows that are looked at, from one that has the test as `is_in`."""
        return query if self.is_all else f"SELECT * EXCLUDE (is_in) FROM ({query}) WHERE is_in"

    def tested(self, part: Part, database: Database) -> dict[str, str]:
        """Return the test as a further column of `select_cells`; none if all rows are looked at."""
        return {} if self.is_all else {"is_in": self.test(part, database)}


def chosen_rows(spec: LogSpec, columns: LogColumns, parts: Sequence[Part], database: Database) -> Among:
    """Return which rows are looked at; refuse a condition that looks at rewards, and a column that is not there."""
    condition = "" if spec.where is None else checked_condition("where", spec.where, columns, database)
    if spec.by is not None:
        _check_segments(spec.by, columns, parts[0])
    return Among(condition, spec.by, spec.segment)


def _check_segments(by: str, columns: LogColumns, first: Part) -> None:
    if by not in first.columns:
        raise InputError("by", "be a column of the log", by, f"the columns are {', '.join(first.columns[:12])}")
    kinds = {"arm": [columns.arm, *columns.arms], "reward": [columns.reward, columns.successes, columns.visits]}
    for kind, names in kinds.items():
        if by in names:
            raise InputError("by", f"not be the column of the {kind}", by, "such as country or device")


def find_segments(among: Among, parts: Sequence[Part], database: Database) -> tuple[str, ...]:
    """Return the texts in the column of segments: numbers by size, else by alphabet, and an empty one last."""
    assert among.column is not None
    each = (
        f"SELECT {_text(part, among.column)} AS segment FROM {part.scan()} WHERE {among.test(part, database)}"
        for part in parts
    )
    rows = " UNION ALL ".join(each)
    ((number,),) = database.ask("number_of_segments", rows=rows)
    if number > MOST_SEGMENTS:
        fix = Phrase("group its values into fewer first, or look at one of them by {}", Setting("where"))
        raise InputError("by", f"have at most {MOST_SEGMENTS} different values", f"{number:,} in {among.column}", fix)
    found = [str(segment) for (segment,) in database.ask("segments", rows=rows)]
    return tuple(sorted(found, key=_key(found)))


def _text(part: Part, column: str | None) -> str:
    return f"trim(coalesce({part.text(column)}, ''))"


def _key(found: Sequence[str]) -> Callable[[str], tuple[bool, int, str]]:
    """Return the key by which segments are sorted.

    >>> sorted(["10", "", "9"], key=_key(["10", "", "9"])), sorted(["b", "", "a"], key=_key(["b", "", "a"]))
    (['9', '10', ''], ['a', 'b', ''])
    """
    if all(text.removeprefix("-").isdecimal() and len(text) < 4000 for text in found if text):
        return lambda text: (not text, int(text or 0), text)
    return lambda text: (not text, 0, text)


def as_condition(column: str, segment: str) -> str:
    """Return a segment as a condition for `where`.

    >>> print(as_condition("country", "DE"), as_condition("my country", "x"))
    country = 'DE' "my country" = 'x'
    """
    name = column if column.isidentifier() else identifier(column)
    return f"{name} = {quoted(segment)}" if segment else f"{name} IS NULL OR {name} = ''"
