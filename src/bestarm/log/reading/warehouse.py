"""A table in a database that counts its own rows: of equal rows one is fetched, with how many there are.

The database groups its rows by the columns in use and counts them, through Ibis. What comes back is read as any table
is, as rows that occur so often: every rule of reading is the same, and the verdict is that on a file with these rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC
from typing import Any

import pyarrow as pa

from bestarm.errors import InputError
from bestarm.log.blocks import NONE, WIDTHS, block_of_span
from bestarm.log.reading.columns import LogColumns
from bestarm.log.reading.database import Database
from bestarm.log.reading.files import first_line
from bestarm.log.reading.likely import is_later
from bestarm.log.reading.parts import Part, TablePart
from bestarm.log.reading.watched import WatchedColumns, choose_watched
from bestarm.log.spec import LogSpec
from bestarm.phrases import Phrase, Setting, without_secrets

MOST_GROUPS = 10_000_000  # different rows that are fetched
_SAMPLE = 1000  # rows that are fetched to see what is in the columns
_HALF = _SAMPLE // 2  # different rows in a sample up to which there are hardly too many in all
_EXPORT = "or export the columns in use to a Parquet file"


def is_in_database(data: Any) -> bool:
    """Tell whether data are a table of Ibis; whoever has one has loaded Ibis."""
    ibis = sys.modules.get("ibis")
    return ibis is not None and isinstance(data, ibis.Table)


def refuse_in_database(data: Any, parameter: str, why: str, fix: str) -> None:
    """Refuse a table in a database for what needs the rows themselves."""
    if is_in_database(data):
        raise InputError(parameter, f"not be asked of a table in a database: {why}", _name_of(data), fix)


class DatabasePart(Part):
    """A table in a database, or what Ibis selects from some.

    Attributes
    ----------
    fetched : int
        How many different rows came back.
    size : int
        Their size in bytes.
    span : (float, float, int) or None
        The first and the last time, in seconds since 1970, and how many rows have one, if rows are counted by day or
        hour.
    """

    copies = "copies"
    fetched = size = 0

    def __init__(self, table: Any, spec: LogSpec) -> None:
        super().__init__(_name_of(table), tuple(table.columns))
        self._table = table
        self._roles = LogColumns()
        self._slots: dict[str, str] = {}
        self._first: TablePart | None = None
        self._spec, self._watched = spec, WatchedColumns()
        self.span: tuple[float, float, int] | None = None
        _check(spec)

    def assign(self, columns: LogColumns) -> None:
        """Take note of which column is what, on which depends how rows are grouped."""
        self._roles = columns
        kind = None if columns.time is None else self._table.schema()[columns.time]
        if kind is not None and not (kind.is_timestamp() or kind.is_date() or kind.is_numeric()):
            fix = Phrase("cast it in the database, or say {}", Setting("time", False))
            raise InputError("time", f"be a column of times, dates or numbers in {self.name}", f"{kind}", fix)

    def watch(self, columns: LogColumns) -> WatchedColumns:
        """Return, and take note of, the columns of blocks: times if they are of such a type, or what was asked for."""
        found = choose_watched([self], columns, self._spec)
        asked = self._spec.block
        is_column = asked not in (None, NONE) and found.block is not None
        when = None
        if asked != NONE and not is_column and not columns.values and not columns.arms and self._spec.time is not False:
            unnamed = (name for name in sorted(self.columns) if name not in columns.used and not is_later(name))
            likely = [name for name in (found.when, *unnamed) if name is not None]
            when = next((name for name in likely if _is_time(self._table[name].type())), None)
        self._watched = WatchedColumns(who=columns.source, when=when, block=found.block if is_column else None)
        return self._watched

    def first_rows(self, most: int) -> Part:
        """Return some rows of the table; which ones is up to the database."""
        if self._first is None:
            table = self._table
            known = {name: _shown(table[name]) for name in self.columns}
            found = self._fetch(table.select(**known).limit(_SAMPLE))
            if not found.num_rows:
                raise self._empty()
            self._first = TablePart(found)
        return self._first

    def prepare(self, database: Database, used: Sequence[str], also: Sequence[str] = ()) -> None:
        """Let the database count its rows, fetch the counts, and put them into an order that no reward decides.

        The order matters among the rewards of a source with one time: of those each is as likely to be the first as any
        other, by a hash of the row.
        """
        counted = self._counted(used)
        self.fetched, self.size = counted.num_rows, counted.nbytes
        database.register("fetched_rows", counted)
        kinds = {name: str(kind) for name, kind, *_ in database.ask("columns_of", relation="fetched_rows")}
        self.types = {name: kinds[slot] for name, slot in self._slots.items()}
        turn = "ALL"
        if self._roles.source is not None:
            texts = ", ".join(self.text(name) for name, slot in self._slots.items() if slot != "first_time")
            weight = "at_first" if self._roles.time is not None else "copies"
            turn = f"turn_of(concat_ws(chr(31), {texts})) / {weight}, {texts}"
        database.ask("counted_rows", turn=turn)

    def _counted(self, used: Sequence[str]) -> pa.Table:
        """Return the different rows, with how many there are of each and the first time of these."""
        table, time = self._table, self._roles.time
        when = time if time is not None else self._watched.when
        named = (*used, self._watched.block) if self._watched.block is not None else used
        names = [name for name in dict.fromkeys(named) if name != when]
        for name in names:
            if not _is_plain(table[name].type()):
                rule = f"be a column of texts, numbers or times in {self.name}"
                raise InputError(repr(name), rule, f"{table[name].type()}", "cast it in the database, or name another")
        slots = {name: f"c{index}" for index, name in enumerate(names)}
        self._slots = slots if when is None else slots | {when: "first_time"}
        chosen = {slot: table[name] for name, slot in slots.items()}
        if when is not None:
            chosen |= {"moment": table[when], "timed": table[when].notnull()}
        width = self._width(when)
        if width is not None:
            chosen["period"] = _whole_seconds(chosen["moment"], self._table.get_backend().name) // width
        rows = table.select(**chosen)
        keys = [name for name in chosen if name != "moment"]
        number = self._number_of_many(rows.select(*keys))
        if number is not None and width is not None and self._spec.block is None:  # nobody asked for days
            self.span = None
            keys.remove("period")
            number = self._number_of_many(rows.select(*keys))
        if number is not None:
            raise self._too_many(f"{number:,}")
        if when is None:
            counted = rows.group_by(keys).aggregate(copies=rows.count())
        elif self._roles.source is None:
            counted = rows.group_by(keys).aggregate(copies=rows.count(), first_time=rows.moment.min())
        else:
            each = rows.group_by([*keys, "moment"]).aggregate(times=rows.count())
            counted = each.group_by(keys).aggregate(
                copies=each.times.sum().cast("int64"),
                first_time=each.moment.min(),
                at_first=each.times.argmin(each.moment).cast("int64"),
            )
        texts = {slot: _shown(counted[slot]) for slot in slots.values()}
        found = self._fetch(counted.mutate(**texts).limit(MOST_GROUPS + 1))
        if found.num_rows > MOST_GROUPS:
            raise self._too_many(f"more than {MOST_GROUPS:,}")
        if not found.num_rows:
            raise self._empty()
        return found

    def _width(self, when: str | None) -> int | None:
        """Return how long a block of days or hours is, in seconds, and look up the `span`; None if there are none."""
        if when is None or self._watched.when is None or not _is_time(self._table[when].type()):
            return None
        moment = self._table[when].cast("timestamp")
        found = self._table.aggregate(first=moment.min(), last=moment.max(), number=moment.count())
        ((first, last, number),) = (tuple(row.values()) for row in self._fetch(found).to_pylist())
        if not number:
            return None
        ends = [time.replace(tzinfo=time.tzinfo or UTC).timestamp() for time in (first, last)]
        self.span = ends[0], ends[1], int(number)
        by = self._spec.block or block_of_span(ends[1] - ends[0])
        return None if by is None else int(WIDTHS[by])

    def _number_of_many(self, rows: Any) -> int | None:
        """Return how many different rows there are, if they are more than can be fetched."""
        if self._value(rows.limit(_SAMPLE).distinct().count()) <= _HALF:
            return None
        number = int(self._value(rows.distinct().count()))
        return number if number > MOST_GROUPS else None

    def _too_many(self, number: str) -> InputError:
        whose = "rewards" if self._roles.source is None else "sources and rewards"
        rule = f"have at most {MOST_GROUPS:,} different {whose} per arm, of which each is fetched once"
        fix = f"round or cap the rewards in the database, or leave out the source, {_EXPORT}"
        return InputError(self.name, rule, f"{number} different rows", fix)

    def _empty(self) -> InputError:
        return InputError(self.name, "have rows", "none", "the table is empty")

    def _fetch(self, expression: Any) -> pa.Table:
        try:
            return expression.to_pyarrow()
        except Exception as error:  # of any database, each with errors of its own
            raise self._failure(error) from None

    def _value(self, expression: Any) -> Any:
        try:
            return expression.to_pyarrow().as_py()
        except Exception as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> InputError:
        fix = f"read the columns by a query that the database accepts, {_EXPORT}"
        return InputError(self.name, "be counted by its database", without_secrets(first_line(error)), fix)

    def scan(self) -> str:
        """Return what DuckDB selects from."""
        return "counted_rows"

    def column(self, name: str) -> str:
        """Return a column in SQL."""
        return self._slots[name]

    def whole(self) -> str:
        """Return a list of texts for a row, in SQL: it cannot be found again."""
        return "['']"

    def lines(self, rows: Sequence[list[str]]) -> Iterator[int | None]:
        """Yield the line of each of some rows: a table in a database has none."""
        yield from (None for _ in rows)

    def check_order(self, database: Database) -> None:
        """Refuse sources with several rewards if no column says which was the first."""
        ((several, name),) = database.ask("sources_with_several")
        if several:
            fix = Phrase("name a column of times with {}, or say {}", Setting("time"), Setting("source", False))
            rule = f"be a column of {self.name} if a source has several rows: a table in a database has no order"
            raise InputError("time", rule, f"none, and {several:,} such sources, the first {name!r}", fix)


def _check(spec: LogSpec) -> None:
    """Refuse what needs the rows themselves, or is not counted yet."""
    fix = f"filter the table first, table.filter(...) in Ibis or a view in the database, {_EXPORT}"
    for name in ("where", "without"):
        if getattr(spec, name) is not None:
            raise InputError(name, "be left out for a table in a database", getattr(spec, name), fix)
    if spec.needs_time:
        rule = "be False for a table in a database, whose rows have no order"
        raise InputError("sequential", rule, True, f"ask without it, {_EXPORT}")
    for name, none in (("per", None), ("per_source", "first")):
        if getattr(spec, name) not in (None, none):
            rule = "be left out for a table in a database, which only counts its rewards"
            raise InputError(name, rule, getattr(spec, name), f"ask without it, {_EXPORT}")


def _name_of(table: Any) -> str:
    """Return what a table is called in sentences."""
    import ibis

    named = isinstance(table.op(), ibis.expr.operations.DatabaseTable)
    return f"the table {table.op().name!r}" if named else "the query"


def _whole_seconds(moment: Any, database: str) -> Any:
    """Return a time in whole seconds, rounded down: some databases round a half up, but SQLite does not."""
    moment = moment.cast("timestamp")
    return (moment if database == "sqlite" else moment.truncate("s")).epoch_seconds()


def _is_time(kind: Any) -> bool:
    return bool(kind.is_timestamp() or kind.is_date())


def _is_plain(kind: Any) -> bool:
    """Tell whether cells of a type can be grouped, and written as text."""
    return not (kind.is_nested() or kind.is_json() or kind.is_binary() or kind.is_null() or kind.is_geospatial())


def _shown(column: Any) -> Any:
    """Return a column as it is fetched: as it is, as text if Arrow might round it, or empty if it is no plain one.

    Numbers of any precision, as PostgreSQL's numeric, have no type in Arrow.
    """
    kind = column.type()
    if not _is_plain(kind):
        return column.isnull().ifelse(None, None).cast("string")
    is_same = kind.is_string() or kind.is_boolean() or kind.is_integer() or kind.is_floating()
    return column if is_same or kind.is_timestamp() or kind.is_date() else column.cast("string")
