"""The parts of a log that DuckDB selects from, one class per format: files, or a table in memory.

Every part gives the same cells. The text of most columns is read by the rules in queries/macros.sql.
"""

from __future__ import annotations

import abc
import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bestarm.errors import InputError
from bestarm.log.reading.columns import LogColumns, is_header
from bestarm.log.reading.database import Database, DatabaseError, identifier, quoted
from bestarm.log.reading.dialect import read_header
from bestarm.log.reading.files import LogFile, first_line
from bestarm.log.reading.tables import names_of, select
from bestarm.log.spec import LogSpec

MONTH_FIRST, DAY_FIRST = "seconds_of_month_first", "seconds_of_day_first"  # rules in queries/macros.sql
_NUMBERS = ("FLOAT", "DOUBLE", "DECIMAL", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")  # and unsigned ones
_KEYS_FROM = 1000  # objects of JSON that are looked at for the names of columns


class Part(abc.ABC):
    """A part of a log.

    Attributes
    ----------
    name : str
        As the user knows it.
    columns : tuple of str
        Names of the columns.
    types : mapping of str to str
        Types of the columns, where they have any.
    file : LogFile, optional
        The file that it is.
    date_order : mapping of str to str
        Of columns with dates such as 5/31/2024: the rule in queries/macros.sql by which they are read.
    """

    broken = "false"  # whether a row cannot be read at all, in SQL
    row_noun = "row"  # what a place in it is called
    has_header = True
    can_reject = False  # whether DuckDB leaves out rows that it cannot split into cells
    copies = ""  # the column of how many rows are equal to one, if they were counted before

    def __init__(self, name: str, columns: tuple[str, ...] = (), file: LogFile | None = None) -> None:
        self.name, self.columns, self.file = name, columns, file
        self.types: Mapping[str, str] = {}
        self.date_order: Mapping[str, str] = {}

    @property
    def title(self) -> str:
        """What it is called as the subject of an error."""
        return self.name

    def assign(self, columns: LogColumns) -> None:  # noqa: B027
        """Take note of which column is what; most parts give the same cells whatever they are."""

    def prepare(self, database: Database, used: Sequence[str], also: Sequence[str] = ()) -> None:  # noqa: B027
        """Make the columns in use ready to be selected from, and others as far as they can be; files need nothing."""

    def first_rows(self, most: int) -> Part:
        """Return a part that has at least the first rows, and of which it is cheap to make columns ready."""
        return self

    @abc.abstractmethod
    def scan(self) -> str:
        """Return what DuckDB selects from."""

    def whole(self) -> str:
        """Return a list of texts by which a row is found again, in SQL."""
        return "[CAST(file_row_number + 1 AS VARCHAR)]"

    def lines(self, rows: Sequence[list[str]]) -> Iterator[int | None]:
        """Yield the line of each of some rows, in the order of the file; None where it has none."""
        yield from (int(row[0]) for row in rows)

    def column(self, name: str) -> str:
        """Return a column in SQL."""
        return identifier(name)

    def text(self, name: str | None) -> str:
        """Return the text of a column in SQL."""
        if name is None:
            return "NULL::VARCHAR"
        if self.types[name] in ("FLOAT", "DOUBLE"):
            return f"number_as_text({self.column(name)})"
        return f"CAST({self.column(name)} AS VARCHAR)"

    def is_number(self, name: str) -> bool:
        """Tell whether a column has numbers only."""
        return self.types.get(name, "").removeprefix("U").startswith(_NUMBERS)

    def seconds(self, name: str | None) -> str:
        """Return a column of times, in seconds, in SQL."""
        if name is None:
            return "NULL::DOUBLE"
        if self.types.get(name, "").startswith(("TIMESTAMP", "DATE")):
            return f"CAST(epoch({self.column(name)}) AS DOUBLE)"
        if name in self.date_order:
            return f"{self.date_order[name]}({self.text(name)})"
        return f"seconds_of({self.text(name)})"

    def hash_of(self, names: Sequence[str], when: str | None) -> str:
        """Return a hash of some columns of a row, in SQL: of all but the column `when`."""
        return f"hash({', '.join(self.column(name) for name in names)})" if names else "0::UBIGINT"


class TablePart(Part):
    """A table in memory."""

    def __init__(self, table: Any) -> None:
        super().__init__("the table", tuple(names_of(table)))
        self._table = table

    @property
    def title(self) -> str:
        """What it is called as the subject of an error."""
        return "data"

    def prepare(self, database: Database, used: Sequence[str], also: Sequence[str] = ()) -> None:
        """Let queries select from the columns in use, and from others if DuckDB can read them."""
        database.register("log_table", select(self._table, used, also))
        self.types = {name: str(kind) for name, kind, *_ in database.ask("columns_of", relation="log_table")}

    def first_rows(self, most: int) -> Part:
        """Return the first rows of the table."""
        return TablePart(self._table[:most])

    def scan(self) -> str:
        """Return what DuckDB selects from."""
        return "log_table"

    def whole(self) -> str:
        """Return the number of the row, in SQL."""
        return "[CAST(row_number() OVER () AS VARCHAR)]"


class ParquetPart(Part):
    """A Parquet file."""

    def __init__(self, file: LogFile, database: Database) -> None:
        super().__init__(file.name, (), file)
        self._path = file.path
        try:
            rows = database.ask("columns_of", relation=self.scan())
        except DatabaseError as error:
            raise InputError(file.name, "be a whole Parquet file", first_line(error), "get it again") from error
        self.columns = tuple(name for name, *_ in rows if name != "file_row_number")
        self.types = {name: str(kind) for name, kind, *_ in rows}

    def scan(self) -> str:
        """Return what DuckDB selects from."""
        return f"read_parquet({quoted(self._path)}, file_row_number=true, hive_partitioning=false)"


class TextPart(Part):
    """A file of text, whose cells are texts."""

    def __init__(self, file: LogFile, columns: tuple[str, ...]) -> None:
        super().__init__(file.name, columns, file)
        self._file, self._path = file, quoted(file.path)
        packed = (
            "uncompressed" if file.compression == "none" else file.compression
        )  # "none" is for CSV alone before 2.0
        self._options = f"compression={quoted(packed)}, hive_partitioning=false"

    def text(self, name: str | None) -> str:
        """Return the text of a column in SQL."""
        return "NULL::VARCHAR" if name is None else self.column(name)

    def lines(self, rows: Iterable[list[str]]) -> Iterator[int | None]:
        """Yield the line of each of some rows: the first with the same cells, which is as bad."""
        numbered = self._numbered()
        for row in rows:
            yield next((line for line, cells in numbered if cells == row), None)

    def _numbered(self) -> Iterator[tuple[int, list[str]]]:
        yield from ()


class CsvPart(TextPart):
    """A CSV file; in SQL its columns are c0, c1, ..."""

    row_noun, can_reject = "line", True

    def __init__(self, file: LogFile, wanted: Sequence[str], *, may_lack_header: bool) -> None:
        text, is_cut = file.head()
        self._dialect, columns = read_header(text, is_cut, wanted)
        self.has_header = not may_lack_header or is_header(columns, wanted)
        super().__init__(file, columns)
        if not self.has_header:
            self.columns = tuple(f"column{number}" for number in range(1, len(columns) + 1))

    def scan(self) -> str:
        """Return what DuckDB selects from."""
        dialect, header = self._dialect, str(self.has_header).lower()
        columns = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(len(self.columns)))
        return (
            f"read_csv({self._path}, auto_detect=false, header={header}, skip={dialect.skip}, "
            f"delim={quoted(dialect.delimiter)}, quote={quoted(dialect.quote)}, escape={quoted(dialect.escape)}, "
            f"columns={{{columns}}}, store_rejects=true, {self._options})"
        )

    def column(self, name: str) -> str:
        """Return a column in SQL."""
        return f"c{self.columns.index(name)}"

    def whole(self) -> str:
        """Return all cells of a row, in SQL."""
        return f"[{', '.join(f'c{index}' for index in range(len(self.columns)))}]"

    def _numbered(self) -> Iterator[tuple[int, list[str]]]:
        with self._file.text() as text:
            reader, line, is_above = self._dialect.reader(text), 1, self.has_header
            try:
                for cells in reader:
                    row = cells[: len(self.columns)]
                    if is_above and row == list(self.columns):
                        is_above = False  # the header, which files that were put together repeat as a bad row
                    else:
                        yield line, row
                    line = reader.line_num + 1
            except csv.Error:  # a cell of more than 128 KiB
                return


class JsonArrayPart(TextPart):
    """A file that is one array of JSON objects; in SQL each is the column `line`."""

    broken = "NOT json_valid(line)"

    def __init__(self, file: LogFile, database: Database) -> None:
        super().__init__(file, ())
        rows = database.ask("keys_of", relation=self.scan(), most=_KEYS_FROM)
        found = (json.loads(shape) for (shape,) in rows)
        shapes = [shape for shape in found if isinstance(shape, dict)]  # that of an empty object is a text
        whole = {key: pointer for shape in shapes for key, pointer in _leaves(shape, deep=False)}
        self._pointers = {key: pointer for shape in shapes for key, pointer in _leaves(shape)} | whole
        self.columns = tuple(dict.fromkeys(key for shape in shapes for key, _ in _leaves(shape)))

    def scan(self) -> str:
        """Return what DuckDB selects from."""
        return f"(SELECT json AS line FROM read_json_objects({self._path}, format='array', {self._options}))"

    def column(self, name: str) -> str:
        """Return a column in SQL: a key, or keys of nested objects with dots between them."""
        pointer = self._pointers.get(name, _pointer(name.split(".")))
        either = dict.fromkeys((_pointer([name]), pointer))  # a row may have the whole name as a key
        cells = ", ".join(f"json_extract_string(line, {quoted(each)})" for each in either)
        return f"CASE WHEN json_valid(line) THEN coalesce({cells}) END"

    def whole(self) -> str:
        """Return the text of a row, in SQL."""
        return "[CAST(line AS VARCHAR)]"

    def hash_of(self, names: Sequence[str], when: str | None) -> str:
        """Return a hash of the text of a row, in SQL, without what is in the column `when`."""
        text = "CAST(line AS VARCHAR)"
        return f"hash({text})" if when is None else f"hash(replace({text}, coalesce({self.text(when)}, ''), ''))"


class JsonLinesPart(JsonArrayPart):
    """A file with one JSON object per line."""

    row_noun, can_reject = "line", True

    def scan(self) -> str:
        """Return what DuckDB selects from: CSV without delimiters and quotes, so that a row is a line."""
        return (
            f"(SELECT * FROM read_csv({self._path}, auto_detect=false, header=false, delim='\x01', "
            f"quote='', escape='', columns={{'line': 'VARCHAR'}}, store_rejects=true, {self._options}) "
            "WHERE trim(coalesce(line, '')) <> '')"
        )

    def _numbered(self) -> Iterator[tuple[int, list[str]]]:
        with self._file.text() as text:
            yield from ((number, [line.rstrip("\r\n")]) for number, line in enumerate(text, 1))


def _leaves(shape: Mapping[str, Any], outer: tuple[str, ...] = (), *, deep: bool = True) -> Iterator[tuple[str, str]]:
    """Yield the columns of an object in JSON, and the pointer to each: event.variant is at /event/variant."""
    for key, inner in shape.items():
        if not isinstance(inner, dict):
            yield ".".join((*outer, key)), _pointer((*outer, key))
        elif deep:
            yield from _leaves(inner, (*outer, key))


def _pointer(keys: Sequence[str]) -> str:
    """Return where something is in an object, as JSON pointers say it."""
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)


def open_parts(table: Any, files: Sequence[LogFile], database: Database, spec: LogSpec) -> list[Part]:
    """Return the parts of a log: its files, or a table."""
    return [_open_part(file, database, spec) for file in files] or [TablePart(table)]


def _open_part(file: LogFile, database: Database, spec: LogSpec) -> Part:
    if file.kind == "parquet":
        return ParquetPart(file, database)
    if file.kind == "csv":
        return CsvPart(file, spec.wanted, may_lack_header=not spec.wide)
    return (JsonLinesPart if file.kind == "json" else JsonArrayPart)(file, database)


def select_cells(
    part: Part,
    columns: LogColumns,
    *,
    located: bool = False,
    who: str | None = None,
    when: str | None = None,
    more: Mapping[str, str] | None = None,
) -> str:
    """Return the query of the cells of a part, a row per reward.

    Its columns are `arm`, `reward` and `often` (how often it occurs) as text, `exact` (the reward if it is a number),
    `who`, `seconds`, `clock` (the text of the time), `broken`, and if `located` the row as a list of texts, `whole`.
    The parameters `who` and `when` are columns for them that the verdict does not use; `more` is further columns.
    """
    source, time = who or columns.source, when or columns.time
    further = dict(more or {}) | ({"whole": part.whole()} if located else {})
    further |= {"copies": part.copies} if part.copies else {}
    further |= {"share_of": part.text(columns.per)} if columns.per is not None else {}
    rest = (
        f"{part.text(source)} AS who, {part.seconds(time)} AS seconds, "
        f"{part.text(time)} AS clock, {part.broken} AS broken"
        + "".join(f", {column} AS {name}" for name, column in further.items())
    )
    if columns.arms or columns.values or columns.visits:
        return _select_unpivoted(part, columns, rest, list(further))
    often = part.text(columns.count) if columns.count else "'1'"
    reward, exact = part.text(columns.reward), "NULL::DOUBLE"
    if columns.reward is not None and part.is_number(columns.reward):
        reward, exact = "NULL::VARCHAR", f"CAST({part.column(columns.reward)} AS DOUBLE)"
    cells = f"{part.text(columns.arm)} AS arm, {reward} AS reward, {often} AS often, {exact} AS exact"
    return f"SELECT {cells}, {rest} FROM {part.scan()}"


def _select_unpivoted(part: Part, columns: LogColumns, rest: str, further: Sequence[str]) -> str:
    """Return the query of a log with a column per arm, or per value: a row of each becomes several."""
    names = columns.arms or tuple(name for name, _ in columns.values)
    texts = [part.text(name) for name in names]
    if columns.visits is not None:  # successes, and all other visits
        both = f"{part.text(columns.successes)}, {part.text(columns.visits)}"
        texts = [f"successes_of({both})", f"failures_of({both})"]
    wide = ", ".join(f"w{index}" for index in range(len(texts)))
    cells = ", ".join(f"{text} AS w{index}" for index, text in enumerate(texts))
    arm = "NULL" if columns.arms else part.text(columns.arm)
    rows = f"SELECT {cells}, {arm} AS name, {rest} FROM {part.scan()}"
    values = ((columns.successes, 1.0), (columns.visits, 0.0)) if columns.visits is not None else columns.values
    meanings = columns.arms or tuple(repr(value) for _, value in values)
    cases = " ".join(f"WHEN 'w{index}' THEN {quoted(meaning)}" for index, meaning in enumerate(meanings))
    meaning = f"CASE which {cases} END"
    long = f"{meaning} AS arm, cell AS reward, '1' AS often"
    if values:
        long = f"name AS arm, {meaning} AS reward, cell AS often"
    kept = ", ".join(["NULL::DOUBLE AS exact, who, seconds, clock, broken", *further])
    return f"SELECT {long}, {kept} FROM (SELECT * FROM ({rows}) UNPIVOT INCLUDE NULLS (cell FOR which IN ({wide})))"
