"""Step 3 of reading a log: its rows in a database, understood by the same rules for each format."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.log.blocks import NONE
from bestarm.log.reading.among import chosen_rows, find_segments
from bestarm.log.reading.columns import LogColumns, choose, may_be_source
from bestarm.log.reading.contents import Contents
from bestarm.log.reading.database import UNPACKING_ERRORS, Database, DatabaseError, Progress
from bestarm.log.reading.dates import tell_days_from_months
from bestarm.log.reading.files import LogFile, find_files, first_line
from bestarm.log.reading.likely import EPOCHS
from bestarm.log.reading.parts import JsonArrayPart, JsonLinesPart, Part, open_parts, select_cells
from bestarm.log.reading.tables import as_table
from bestarm.log.reading.warehouse import DatabasePart, is_in_database
from bestarm.log.reading.watched import WatchedColumns, choose_watched, select_watched
from bestarm.log.reading.without import SUSPICIOUS, LeftOut, chosen, condition_of
from bestarm.log.spec import LogSpec
from bestarm.phrases import first_argument

FEW = 1000  # different rewards up to which they are counted rather than kept one by one
DATES = "such as 2024-05-31 12:00 or 31.05.2024 12:00"
_SAMPLE = 200_000  # rows that are sampled to guess which way is faster
_TIMES = 10_000  # rows in which a guessed column of time must have times
_TIMED = 0.99  # share of those rows that must have a time, in a column that only inspection looks at
_WRONG_ENCODING = "INVALID ENCODING"


class TornRow(NamedTuple):
    """A row that DuckDB could not split into cells: where, what kind of error, and what was there."""

    part: Part
    file: LogFile
    byte: int
    kind: str
    text: str


@contextmanager
def open_log(
    data: Any, spec: LogSpec, progress: Progress | None = None, left_out: LeftOut | None = None
) -> Iterator[OpenLog]:
    """Open a log, with its rows in a database until it is closed; `left_out`: rows that are not looked at."""
    with tempfile.TemporaryDirectory(prefix="bestarm-log-") as folder, ExitStack() as stack:

        def new_database() -> Database:
            return stack.enter_context(closing(Database(Path(folder), progress)))

        log = _opened(data, spec, Path(folder), new_database, left_out)
        try:
            yield log
        except DatabaseError as error:
            raise _refusal(log.files, error) from error


def _opened(
    data: Any, spec: LogSpec, folder: Path, new_database: Callable[[], Database], left_out: LeftOut | None
) -> OpenLog:
    """Return an open log; files are copied, and read again, if DuckDB stumbles over their encoding or line breaks."""
    table = None if is_in_database(data) else as_table(data)
    files = [] if table is not None or is_in_database(data) else find_files(data, folder)
    for is_last in (False, False, True):
        database = new_database()
        try:
            parts = [DatabasePart(data, spec)] if is_in_database(data) else open_parts(table, files, database, spec)
            log = OpenLog(database, parts, _choose_columns(parts, spec, database), spec, left_out)
            torn = [row.file for row in log.torn_rows() if row.kind == _WRONG_ENCODING]
            latin = [file for file in torn if not file.is_utf8]
            if not latin or is_last:
                break
            files = [file.as_latin(folder) if file in latin else file for file in files]
        except DatabaseError as error:
            if is_last or not any(file.may_have_mixed_line_breaks for file in files):
                raise _refusal(files, error) from error
            files = [file.with_one_line_break(folder) if file.may_have_mixed_line_breaks else file for file in files]
        database.close()
    log.settle_words()
    log.settle_commas()
    return log


def _choose_columns(parts: Sequence[Part], spec: LogSpec, database: Database) -> LogColumns:
    """Return which column is what in the first part; refuse parts that do not have the same columns."""
    first = parts[0]
    _check_rows(first)
    columns = choose(
        first.columns,
        spec,
        Contents(first, database),
        is_headed=all(part.has_header for part in parts),
        data=first_argument([part.name for part in parts if part.file is not None]),
    )
    for name in columns.used:
        if first.columns.count(name) > 1:
            raise InputError(first.title, "have one column of a name", name, "two have this one; rename one of them")
    for part in parts[1:]:
        lacking = [name for name in columns.used if name not in part.columns]
        if lacking and not isinstance(part, JsonArrayPart):
            fix = f"{first.name} has it; all files of a log have the same columns"
            raise InputError(part.name, f"have the column {lacking[0]!r}", list(part.columns), fix)
        if isinstance(part, JsonLinesPart):
            _check_rows(part)
    return columns


def _check_rows(part: Part) -> None:
    if not part.columns:
        raise InputError(part.title, "have rows", "none", "is it JSON lines, an object a line?")


def _refusal(files: Sequence[LogFile], error: Exception) -> InputError:
    """Return the error for a log that DuckDB cannot read."""
    packed = [file for file in files if file.compression != "none"]
    named = [file for file in files if file.path in str(error)]
    if packed and isinstance(error, UNPACKING_ERRORS):
        return next((file for file in packed if file in named), packed[0]).damaged(error)
    name = next((file.name for file in (*named, *files)), "data")
    fix = "it is damaged, or of another kind than it looks"
    return InputError(name, "be a table that can be read", first_line(error), fix)


class OpenLog:
    """A log that is open: its columns, and its rows as tables of a database.

    The tables, each made by the query of its name from those before it: `cells` (the cells as text), `kept`, `grouped`
    (equal rows once, if there are few different rewards), `meanings`, and `states` (how many rows are right, or wrong
    and how).
    """

    def __init__(
        self,
        database: Database,
        parts: Sequence[Part],
        columns: LogColumns,
        spec: LogSpec,
        left_out: LeftOut | None = None,
    ) -> None:
        self.database, self.parts, self.columns, self.spec = database, parts, columns, spec
        self.has_commas = True  # whether a comma may be a decimal one
        self.has_words = True  # whether a word for yes or no may be a reward
        self._scale = 1.0  # of the times of `watched`, in seconds
        self.lost_time: str | None = None  # a column with the name of a time that does not have times
        looks_closely = spec.inspect or spec.without is not None or spec.block not in (None, NONE)
        looks_closely = looks_closely and not self.is_counted
        self.watched = self.choose_watched() if looks_closely else WatchedColumns()
        if isinstance(parts[0], DatabasePart):
            self.watched = parts[0].watch(columns)
        self.left_out = left_out or LeftOut()
        if left_out is None and spec.without not in (None, SUSPICIOUS):
            self.left_out = chosen(spec.without, columns, self.watched, database)
        single = (self.watched.who, self.watched.when, self.watched.agent, self.watched.event, self.watched.block)
        looked_at = (*single, *self.watched.rest)
        also = dict.fromkeys([name for name in looked_at if name is not None])
        if self.left_out.condition:
            also |= dict.fromkeys(parts[0].columns)
        self.among = chosen_rows(spec, columns, parts, database)
        also |= dict.fromkeys(self.among.columns(parts[0]))
        for part in parts:
            part.assign(columns)
            part.prepare(database, columns.used, list(also))
        times = () if self.is_counted else (columns.time, self.watched.when)
        self._unclear_dates = tell_days_from_months(parts, times, database)
        self._make_cells()
        self._drop_bad_time()
        if not self.is_counted:
            self._tell_of_watched()
        self.keep_order(True)
        database.run("kept", kind="TABLE" if self.has_table else "VIEW")
        for part in parts:
            if isinstance(part, DatabasePart) and self.columns.source is not None and self.columns.time is None:
                part.check_order(database)
        database.ask("sample_rows", sample=_SAMPLE)
        ((different,),) = database.ask("sample_rewards")
        self.keep_order(False)
        self.is_few = different <= FEW or self.is_counted  # whether there are few different rewards
        database.run("grouped_few" if self.is_few else "grouped_many", times=self.times)
        self._understand()

    @property
    def files(self) -> list[LogFile]:
        """The files; none if it is a table."""
        return [part.file for part in self.parts if part.file is not None]

    @property
    def title(self) -> str:
        """What the log is called in errors: the name of the first file, or "data"."""
        return self.parts[0].title

    @property
    def is_counted(self) -> bool:
        """Whether a database counted equal rows, of which each is here once."""
        return bool(self.parts[0].copies)

    @property
    def counted_where(self) -> dict[str, Any]:
        """Which table of a database counted the rows, and how many different ones came back: fields of `Health`."""
        part = self.parts[0]
        return {"counted_in": part.name, "fetched": part.fetched} if isinstance(part, DatabasePart) else {}

    @property
    def times(self) -> str:
        """How many rows there are in a group of rows, in SQL."""
        return "sum(copies)::BIGINT" if self.is_counted else "count(*)"

    @property
    def has_table(self) -> bool:
        """Whether the rows are kept as a table: several passes over them are needed."""
        return self.columns.source is not None or self.columns.time is not None

    def choose_watched(self) -> WatchedColumns:
        """Return the columns that inspection looks at."""
        return choose_watched(self.parts, self.columns, self.spec, Contents(self.parts[0], self.database))

    def keep_order(self, is_kept: bool) -> None:
        """Say whether rows come out of queries in the order of the file; without, queries are faster."""
        self.database.ask("keep_order", is_kept=is_kept)

    def number_rows(self) -> None:
        """Make the table `numbered`, of rows with their numbers."""
        self.keep_order(True)
        self.database.ask("numbered", row="rowid" if self.has_table else "row_number() OVER ()")

    def locate_rows(self, part: Part) -> None:
        """Make the table `located`, of the rows of a part and where they are."""
        tested = self.among.tested(part, self.database)
        rows = select_cells(part, self.columns, located=True, more=tested)
        self.database.ask("located", rows=self.among.rows(rows))

    def in_order(self) -> dict[str, NDArray[Any]]:
        """Return the rewards in order: the index of the arm, the value and who gave it.

        The arms are numbered by `count_rewards`.
        """
        self.number_rows()
        return self.database.run("in_order")

    def watch_rows(self, largest: int) -> bool:
        """Make `watched`, the rewards as inspection sees them: a table if they are at most `largest`.

        Otherwise it is a table on disk or, where that has no room, a view. The arms are numbered by `count_rewards`.
        Return whether it is a table in memory.
        """
        self._make_watched_cells()
        ((number, timed, lowest, highest),) = self.database.ask("watched_times", sample=_TIMES)
        is_given = self.columns.time is not None
        if self.watched.when is not None and timed < _TIMED * number and not is_given:
            self.watched = replace(self.watched, when=None)
            self._make_watched_cells()
        scale = next((scale for low, high, scale in EPOCHS if timed and low <= lowest <= highest <= high), 1.0)
        self._scale = scale
        ((rewards,),) = self.database.ask("number_of_rewards")
        query = "watched_few" if self.is_few else "watched_many"
        copies = " * copies" if self.is_counted else ""
        if rewards <= largest:
            self.database.run(query, target="TEMP TABLE watched", scale=scale, copies=copies)
            return True
        # Each query of a view reads and understands the whole log again: seven times 40 s for 10^8 rows with sources
        # and times, where the table on disk takes 90 s to write and 10 s to read. Without both, few queries are asked.
        is_asked = self.watched.who is not None or self.watched.when is not None
        if is_asked and self.database.on_disk(query, target="TABLE disk.watched", scale=scale, copies=copies):
            self.database.ask("watched_on_disk")
        else:
            self.database.run(query, target="TEMP VIEW watched", scale=scale, copies=copies)
        return False

    def span(self) -> tuple[float, float, int, bool]:
        """Return the first and the last time, how many rewards have one, and whether all times are whole numbers."""
        part = self.parts[0]
        if isinstance(part, DatabasePart):
            return (*part.span, False) if part.span is not None else (0.0, 0.0, 0, False)
        ((first, last, number, are_whole),) = self.database.ask("span")
        return first, last, number, are_whole

    def place_sources(self, block: str) -> None:
        """Make `placed`, the block of each source; `block` is that of a row in SQL."""
        ((unknown,),) = self.database.ask("unknown_sources")
        cells = f"(SELECT quickly_stripped(who) AS who, {self._scale} * seconds AS seconds, block FROM watched_cells)"
        self.database.run("placed", block=block, rows=cells if unknown else "watched")

    def segments(self) -> tuple[str, ...]:
        """Return the different texts in the column of segments."""
        return find_segments(self.among, self.parts, self.database)

    @property
    def _takes_all(self) -> bool:
        """Whether no row is left out."""
        return self.left_out.is_nothing and self.among.is_all

    def _make_watched_cells(self) -> None:
        if self._takes_all:
            each = (select_watched(part, self.columns, self.watched) for part in self.parts)
            self.database.ask("watched_cells", rows=" UNION ALL ".join(each))
        else:
            self._judge_cells()
            self.database.ask("watched_cells", rows="SELECT * FROM judged_cells WHERE NOT left_out")

    def _make_cells(self) -> None:
        self._tell_rules()
        rows = " UNION ALL ".join(select_cells(part, self.columns) for part in self.parts)
        if not self._takes_all:
            self._judge_cells()
            who = "who" if self.columns.source is not None else "NULL::VARCHAR AS who"
            when = (
                "seconds, clock" if self.columns.time is not None else "NULL::DOUBLE AS seconds, NULL::VARCHAR AS clock"
            )
            rows = f"SELECT arm, reward, often, exact, {who}, {when}, broken FROM judged_cells WHERE NOT left_out"
        self.database.ask("cells", rows=rows)

    def _judge_cells(self) -> None:
        """Make `judged_cells`, the rows as inspection sees them, and whether each is left out."""
        left_out, among, database = self.left_out, self.among, self.database
        each = (
            select_watched(
                part,
                self.columns,
                self.watched,
                condition_of(part, left_out, database),
                among.tested(part, database),
            )
            for part in self.parts
        )
        query = "judged_cells_compared" if left_out.compares else "judged_cells"
        test = " OR ".join(left_out.tests()) or "false"
        database.ask(query, test=test, rows=" UNION ALL ".join(map(among.rows, each)))

    def number_left_out(self) -> tuple[int, int]:
        """Return how many rows are left out, counting a row of several cells once for each, and sources by name."""
        if self.left_out.is_nothing:
            return 0, 0
        ((rows, sources),) = self.database.ask("number_left_out", by_name=self.left_out.by_name)
        return int(rows), int(sources)

    def unknown_names(self, named: int) -> int:
        """Return how many sources that the user named are not in the log, if so many are."""
        return 0 if self.spec.without == SUSPICIOUS else len(self.left_out.sources) - named

    def _tell_rules(self) -> None:
        """Tell the rules in queries/macros.sql what the log is like."""
        columns, (lowest, highest) = self.columns, self.spec.bounds or ("-inf", "inf")
        self.database.ask(
            "shape",
            has_source=columns.source is not None,
            has_time=columns.time is not None,
            is_counted=columns.layout == "counted",
            has_commas=self.has_commas,
            has_words=self.has_words,
            lowest=lowest,
            highest=highest,
        )

    def _drop_bad_time(self) -> None:
        """Ignore a guessed column of time that does not parse."""
        name = self.columns.time
        if name is None or self.spec.time is not None:
            return
        ((bad,),) = self.database.ask("rows_without_time", sample=_TIMES)
        if bad:
            kept = tuple(guess for guess in self.columns.guesses if not guess.endswith("for the time, by its name."))
            said = f"The column {name!r} was not used as the time: not all of it is numbers or dates {DATES}."
            self.lost_time = name
            self.columns = replace(self.columns, time=None, guesses=(*kept, said))
            self._make_cells()

    def _tell_of_watched(self) -> None:
        """Add to the guesses the columns of sources and times that only inspection looks at, and a time not read."""
        who, when = self.watched.who, self.watched.when
        said = []
        if self.spec.inspect and who not in (None, self.columns.source):
            said.append(may_be_source(str(who)))
        if when not in (None, self.columns.time):
            said.append(self._how_read(str(when)))
        new = [each for each in said if each and each not in self.columns.guesses]
        self.columns = replace(self.columns, guesses=(*self.columns.guesses, *new))

    def _how_read(self, name: str) -> str:
        """Return that a column was taken for the time or, if it has signs of dates only, why not."""
        part = self.parts[0]
        cells = {"relation": part.scan(), "column": part.text(name), "seconds": part.seconds(name), "sample": _TIMES}
        ((number, timed, has_signs),) = self.database.ask("signs_of_dates", **cells)
        if timed >= _TIMED * number:
            return f"The column {name!r} was taken for the time." if self.spec.inspect else ""
        why = f"not all of it is numbers or dates {DATES}"
        if name == self._unclear_dates:
            why = "no number in its dates is above 12 to tell days from months; write them as 2024-05-31"
        return f"The column {name!r} was not used as the time: {why}." if has_signs else ""

    # ------------------------------------------------------------------------------------------------ understanding

    def _understand(self) -> None:
        """Make the tables `meanings` and `states`."""
        self.database.run("meanings")
        self.database.run("states")

    def settle_words(self) -> None:
        """Take words for yes and no for bad rewards if there are other rewards than 0 and 1."""
        ((words, others),) = self.database.ask("spelled")
        if words and others:
            self.has_words = False
            self._tell_rules()
            self._understand()

    def settle_commas(self) -> None:
        """Decide whether commas are decimal ones, or refuse ambiguous ones."""
        ((commas, points),) = self.database.ask("decimals")
        if commas and points:
            self.has_commas = False
            self._tell_rules()
            self._understand()
            return
        ((comma, are_like_thousands),) = self.database.ask("thousands")
        if are_like_thousands:
            fix = f"write it as {comma.replace(',', '.')} or as {comma.replace(',', '')}"
            raise InputError("a reward", "have a comma whose meaning is clear", comma, fix)

    # --------------------------------------------------------------------------------------------------- what is wrong

    def torn_rows(self) -> list[TornRow]:
        """Return the rows that DuckDB could not split into cells, in the order of the files."""
        if not any(part.can_reject for part in self.parts):
            return []
        found = self.database.ask("rejected")
        torn = [
            TornRow(part, part.file, byte, kind, text or "")
            for part in self.parts
            for path, byte, kind, text in found
            if part.file is not None and part.file.path == path
        ]
        return list({(row.file.path, row.byte): row for row in reversed(torn)}.values())[::-1]
