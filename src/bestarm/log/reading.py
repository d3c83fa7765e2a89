"""Reading a log: from whatever file or table an analyst has to the rewards of each arm, all rows, in any order.

DuckDB does the work, in memory of its own that is limited. Cells are read as text and understood here, by the same
rules for each format, so that a file gives the same rewards as CSV, JSON lines or Parquet.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.extras import explain
from bestarm.log.bad_rows import bad_rows, described, refuse_first, refuse_open_quotes, torn_rows
from bestarm.log.cells import BLANK, DATES, MISSING_REWARD, OK, OUTSIDE, RULES, rows_of, trimmed, understood
from bestarm.log.columns import choose, is_header
from bestarm.log.files import LogFile, damaged, find_files, first_line, quoted, recognise
from bestarm.log.rewards import Health, Rewards, SourceTable
from bestarm.log.tables import as_table
from bestarm.phrases import Phrase, Setting
from bestarm.validation import number, one_of

try:
    import duckdb
except ImportError as error:
    raise explain(error) from error

FEW = 1000  # different rewards up to which they are counted rather than kept one by one
_SAMPLE = 200_000  # rows from which it is guessed which way is faster
_EXAMPLES = 5
_MEMORY = "2GB"  # of DuckDB, beyond which it writes to disk; the rewards themselves come on top
_THREADS = 8
Progress = Callable[[float], None]


def read_log(
    data: Any,
    *,
    arm: str | None = None,
    reward: str | None = None,
    source: str | bool | None = None,
    time: str | bool | None = None,
    wide: bool | Sequence[str] = False,
    counted: bool | str | Mapping[str, float] | None = None,
    missing: str = "refuse",
    on_bad_row: str = "refuse",
    bounds: tuple[float, float] | None = None,
    progress: Progress | None = None,
) -> Rewards:
    """Read the rewards of each arm from a log.

    Parameters
    ----------
    data : DataFrame, Arrow table, path, pattern, list of paths, or "-" for standard input
        Files are CSV (any delimiter; decimal point or comma; UTF-8, UTF-16 or Latin-1), JSON lines or Parquet; CSV
        and JSON may be packed by gz or zst. What a file is, is seen from its first bytes, not from its name.
    arm, reward : str, optional
        Names of the columns. Guessed if a single column has a name such as variant or stars; the guess is said.
    source : str or bool, optional
        Column of who gave a reward; True guesses it by its name. One that is there and not asked for is said, and not
        used: sources change what epsilon means. False says nothing.
    time : str or False, optional
        Column of when: the first reward of a source is then the first in time, else in the file.
    wide : bool or list of columns
        Each column is an arm, or each of these.
    counted : bool, str or mapping, optional
        A row is an arm, a value and how often it occurs; the column that says how often, by its name or guessed. Or
        the columns that count a value each: {"unfunny": 1, "funny": 3}. Guessed for caption contests, and where
        columns are named by numbers; False if that is wrong.
    missing : {"refuse", "drop", "replaced"}
        What a reward that is not there means: an error; nothing; or that it was taken away, as contamination does.
    on_bad_row : {"refuse", "skip"}
        Whether a row without an arm, with a reward that is no number or out of bounds is an error, or counted.
    bounds : (lowest, highest), optional
        What a reward can be.
    progress : function, optional
        Called with the share that is done, from 0 to 1, a few times a second.

    Examples
    --------
    >>> import pandas as pd
    >>> votes = pd.DataFrame({"caption": ["A", "B", "A", "B"], "stars": [1, 5, 1, 4]})
    >>> rewards = read_log(votes)
    >>> rewards.labels, rewards.means.tolist()
    (('A', 'B'), [1.0, 4.5])
    >>> rewards.health.sentences()[1]
    "The column 'caption' was taken for the arm, by its name."
    """
    with open_log(
        data,
        arm=arm,
        reward=reward,
        source=source,
        time=time,
        wide=wide,
        counted=counted,
        missing=missing,
        on_bad_row=on_bad_row,
        bounds=bounds,
        progress=progress,
    ) as log:
        return log.rewards()


@dataclass(frozen=True)
class _Options:
    arm: str | None
    reward: str | None
    source: str | bool | None
    time: str | bool | None
    wide: bool | Sequence[str]
    counted: bool | str | Mapping[str, float] | None
    missing: str
    on_bad_row: str
    bounds: tuple[float, float] | None
    progress: Progress | None
    needs_time: bool

    @property
    def wanted(self) -> tuple[str, ...]:
        """Names of columns that the user gave."""
        single = [name for name in (self.arm, self.reward, self.source, self.time) if isinstance(name, str)]
        several = self.wide if isinstance(self.wide, list | tuple) else ()
        counts = self.counted if isinstance(self.counted, Mapping) else ()
        more = (self.counted,) if isinstance(self.counted, str) else ()
        return tuple(name for name in (*single, *several, *counts, *more) if isinstance(name, str))


@contextmanager
def open_log(data: Any, *, needs_time: bool = False, **options: Any) -> Iterator[Log]:
    """Open a log to be read; options as for `read_log`. `needs_time` is for who has a use for it without sources."""
    one_of("missing", options["missing"], ("refuse", "drop", "replaced"))
    one_of("on_bad_row", options["on_bad_row"], ("refuse", "skip"))
    options["bounds"] = _checked_bounds(options["bounds"])
    with tempfile.TemporaryDirectory(prefix="bestarm-log-") as folder:
        connection = duckdb.connect()
        try:
            yield Log(connection, Path(folder), data, _Options(needs_time=needs_time, **options))
        finally:
            connection.close()


class Log:
    """A log that is open: its columns, and its rows as the table `cells` of a database (arm, reward, count, ...)."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path, data: Any, options: _Options) -> None:
        self.connection = connection
        self._folder = folder
        self._options = options
        self.has_commas = True  # whether a comma may be a decimal one
        self.lost_time: str | None = None  # a column by the name of a time that is none
        self._types: dict[str, str] = {}  # of the columns of the table
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
        for setting in (
            f"memory_limit='{_MEMORY}'",
            f"threads={min(cores, _THREADS)}",
            f"temp_directory={quoted(str(folder / 'spill'))}",
            "autoinstall_known_extensions=false",
            "autoload_known_extensions=false",
            "TimeZone='UTC'",
            "enable_progress_bar=false",
        ):
            connection.execute(f"SET {setting}")
        self._table = as_table(data)
        self.files = [] if self._table is not None else find_files(data, folder)
        for file in self.files:
            recognise(file, folder, options.wanted)
        self._settle()
        self._classify_all()

    # ------------------------------------------------------------------------------------------------------ columns

    def _settle(self) -> None:
        """Find out the columns, and make the view `cells` of them."""
        options = self._options
        is_headed = True
        for file in self.files:
            if file.kind == "parquet":
                self._describe(file)
            elif file.kind == "csv" and not options.wide and not is_header(file.columns, options.wanted):
                is_headed = file.header = False
                file.columns = tuple(f"column{index}" for index in range(1, len(file.columns) + 1))
        names = list(self.files[0].columns) if self._table is None else self._table.column_names
        if not names:
            raise InputError(self._name, "have rows", "none", "is it JSON lines, an object a line?")
        self.columns = choose(
            names,
            arm=options.arm,
            reward=options.reward,
            source=options.source,
            time=options.time,
            wide=options.wide,
            counted=options.counted,
            needs_time=options.needs_time,
            is_headed=is_headed,
        )
        for name in self.columns.used:
            if names.count(name) > 1:
                raise InputError(self._name, "have one column of a name", name, "two have this one; rename one of them")
        for file in self.files[1:]:
            lacking = [name for name in self.columns.used if name not in file.columns and file.kind == "csv"]
            if lacking:
                fix = f"{self.files[0].name} has it; all files of a log have the same columns"
                raise InputError(file.name, f"have the column {lacking[0]!r}", list(file.columns), fix)
            if not file.columns and file.kind == "json":
                raise InputError(file.name, "have rows", "none", "is it JSON lines, an object a line?")
        if self._table is not None:
            self.connection.register("log_table", self._table.plain(self.columns.used))
            described = self.connection.execute("DESCRIBE log_table").fetchall()
            self._types = {name: str(kind) for name, kind, *_ in described}
        self._make_views()

    def rows_of(self, file: LogFile | None, *, located: bool = False) -> str:
        """Return the query of the rows of a file (None: the table): arm, reward and so on, as text."""
        return rows_of(file, self.columns, self._types, located=located)

    def understood(self, relation: str) -> str:
        """Return the rows of a relation like `cells` with what they mean: name, value, n and state."""
        return understood(relation, self.columns, self.bounds, self.has_commas)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """What a reward can be."""
        return self._options.bounds

    @property
    def parts(self) -> list[LogFile | None]:
        """The files, or None for the table."""
        return [*self.files] or [None]

    @property
    def _name(self) -> str:
        return self.files[0].name if self.files else "data"

    def _describe(self, file: LogFile) -> None:
        try:
            rows = self.connection.execute(f"DESCRIBE SELECT * FROM {file.scan()}").fetchall()
        except duckdb.Error as error:
            raise InputError(file.name, "be a whole Parquet file", first_line(error), "get it again") from error
        file.columns = tuple(name for name, *_ in rows if name != "file_row_number")
        file.types = {name: str(kind) for name, kind, *_ in rows}

    def _make_views(self) -> None:
        parts = [self.rows_of(file) for file in self.parts]
        self.connection.execute("CREATE OR REPLACE VIEW cells AS " + " UNION ALL ".join(parts))

    def _drop_guessed_time(self) -> None:
        """Do without a time that nobody asked for if some of its first cells are none."""
        if self.columns.time is None or self._options.time is not None:
            return
        found = self.connection.execute(
            f"SELECT count(*) FROM (SELECT seconds FROM cells LIMIT {_SAMPLE // 20}) WHERE seconds IS NULL"
        ).fetchone()
        if found is not None and found[0]:
            name = self.columns.time
            kept = tuple(guess for guess in self.columns.guesses if not guess.endswith("for the time, by its name."))
            self.lost_time = name
            said = f"The column {name!r} was not used as the time: not all of it is numbers or dates {DATES}."
            self.columns = replace(self.columns, time=None, guesses=(*kept, said))
            self._make_views()

    # ------------------------------------------------------------------------------------------------ understanding

    def run(self, sql: str) -> duckdb.DuckDBPyConnection:
        """Run a query, with progress; a file that DuckDB can't read is refused."""
        progress = self._options.progress
        if progress is None:
            return self.connection.execute(sql)
        failure: list[BaseException] = []

        def work() -> None:
            try:
                self.connection.execute(sql)
            except BaseException as error:  # handed to the caller's thread
                failure.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.2)
                progress(min(max(self.connection.query_progress(), 0.0) / 100.0, 1.0))
        except BaseException:
            self.connection.interrupt()
            thread.join()
            raise
        if failure:
            raise failure[0]
        return self.connection

    def _classify_all(self) -> None:
        """Understand all rows, once; in groups of equal ones if there are few different rewards."""
        for attempt in range(3):
            try:
                self._group()
                others = {id(file): file for file, _, kind, _ in torn_rows(self) if kind == "INVALID ENCODING"}
                latin = [file for file in others.values() if not file.is_utf8]
                if not (latin and self._rewrite(latin, encoding="cp1252", newlines=False)):
                    break
            except duckdb.Error as error:
                texts = [file for file in self.files if file.kind == "csv"]
                if attempt or not self._rewrite(texts, encoding="utf-8", newlines=True):
                    raise self._refusal(error) from error
        if self.has_commas and self._has_both_decimals():
            self.has_commas = False
            self._count_states()
        elif self.has_commas:
            self._refuse_thousands()

    def _group(self) -> None:
        execute = self.connection.execute
        self._drop_guessed_time()
        execute("SET preserve_insertion_order=true")
        self.rows = "cells"
        if self.columns.source is not None or self.columns.time is not None:
            # Several passes follow, and a date costs more to understand than all else in a row.
            self.run("CREATE OR REPLACE TEMP TABLE kept AS SELECT * EXCLUDE (clock) FROM cells")
            self.rows = "kept"
        sample = f"SELECT * FROM {self.rows} LIMIT {_SAMPLE}"
        found = execute(f"SELECT count(DISTINCT value) FROM ({self.understood(f'({sample})')})").fetchone()
        assert found is not None
        execute("SET preserve_insertion_order=false")
        self.is_few = found[0] <= FEW
        keys = ["arm", "reward", "exact", "often", "broken"]
        if self.columns.source is not None:
            keys.append(f"CASE WHEN {trimmed('who')} <> '' THEN 'x' END AS who")
        if self.columns.time is not None:
            keys.append("CASE WHEN seconds IS NOT NULL THEN 0.0 END AS seconds")
        self._grouped = self.rows
        if self.is_few:
            self.run(
                f"CREATE OR REPLACE TEMP TABLE grouped AS SELECT {', '.join(keys)}, count(*) AS times "
                f"FROM {self.rows} GROUP BY ALL"
            )
            self._grouped = "grouped"
        self._count_states()

    def _count_states(self) -> None:
        """Make the table `understood`, and `states`: how many rows of each arm are right, or how wrong."""
        times = "times" if self.is_few else "1"
        self.run(
            f"CREATE OR REPLACE TEMP TABLE understood AS SELECT name, value, state, {times} AS rows, n * {times} AS n, "
            "coalesce(arm <> name, false) AS trimmed, CASE WHEN contains(reward, ',') THEN reward END AS comma, "
            f"coalesce(contains(reward, '.'), false) AS point FROM ({self.understood(self._grouped)})"
        )
        self.run(
            "CREATE OR REPLACE TEMP TABLE states AS SELECT state, name, "
            "sum(rows)::BIGINT AS rows, sum(n)::BIGINT AS rewards, "
            "coalesce(sum(rows) FILTER (trimmed), 0)::BIGINT AS trimmed, "
            "bool_or(comma IS NOT NULL) AS commas, bool_or(point) AS points "
            "FROM understood GROUP BY state, name"
        )

    def _has_both_decimals(self) -> bool:
        found = self.connection.execute(
            f"SELECT bool_or(commas), bool_or(points) FROM states WHERE state IN ({OK}, {OUTSIDE})"
        ).fetchone()
        return found is not None and bool(found[0]) and bool(found[1])

    def _refuse_thousands(self) -> None:
        """Refuse commas of which nobody can say whether they are decimal: all of them as in 1,234."""
        found = self.connection.execute(
            "SELECT min(comma), bool_and(regexp_full_match(trim(comma), '-?[1-9]\\d{0,2},\\d{3}')) FROM understood "
            f"WHERE comma IS NOT NULL AND state IN ({OK}, {OUTSIDE})"
        ).fetchone()
        if found is not None and found[1]:
            fix = f"write it as {found[0].replace(',', '.')} or as {found[0].replace(',', '')}"
            raise InputError("a reward", "have a comma whose meaning is clear", found[0], fix)

    # ------------------------------------------------------------------------------------------------- what is wrong

    def _refusal(self, error: Exception) -> InputError:
        packed = [file for file in self.files if file.compression != "none"]
        if packed and isinstance(error, duckdb.IOException | duckdb.InvalidInputException):
            named = [file for file in packed if file.path in str(error)]
            return damaged((named or packed)[0], error)
        names = [file.name for file in self.files if file.path in str(error)]
        fix = "it is damaged, or of another kind than it looks"
        return InputError((*names, self._name)[0], "be a table that can be read", first_line(error), fix)

    def _rewrite(self, which: Sequence[LogFile], *, encoding: str, newlines: bool) -> bool:
        """Write files again in a way that DuckDB can read; False if there are none."""
        for file in which:
            columns, header = file.columns, file.header
            recognise(file, self._folder, self._options.wanted, encoding=encoding, newlines=newlines)
            if not header:
                file.columns, file.header = columns, header
        self._settle()
        return bool(which)

    # ------------------------------------------------------------------------------------------------------ rewards

    def rewards(self) -> Rewards:
        """Return the rewards of each arm, or refuse the log for what is wrong with it."""
        try:
            return self._rewards()
        except duckdb.Error as error:
            raise self._refusal(error) from error

    def _rewards(self) -> Rewards:
        options = self._options
        states = self.connection.execute("SELECT state, name, rows, rewards, trimmed FROM states").fetchall()
        rejects = torn_rows(self)
        per_row = max(len(self.columns.arms), len(self.columns.values), 1)
        rows = sum(each[2] for each in states) // per_row + len(rejects)
        if not rows:
            raise InputError(self._name, "have rows", "a header alone", "was it written to the end?")
        bad = sum(each[2] for each in states if each[0] in RULES) + len(rejects)
        missing = {name: count for state, name, count, *_ in states if state == MISSING_REWARD}
        number = {name: count for state, name, _, count, _ in states if state == OK and count > 0}
        outside = {name: count for state, name, _, count, _ in states if state == OUTSIDE}
        refuse_open_quotes(self, rejects)
        if bad and (options.on_bad_row == "refuse" or not (number or missing)):
            refuse_first(self, rejects, bad, rows)
        self._check_arms(missing, outside, number)
        labels = sorted(number, key=_label_key(number))
        torn = [described(reject)[0] for reject in rejects[:_EXAMPLES]]
        examples = [*torn, *(row for row, *_ in bad_rows(self, _EXAMPLES))] if bad else []
        values, counts = self._values(labels, number)
        sources, repeated = self._sources() if self.columns.source is not None else (None, 0)
        if self.columns.layout == "counted":
            repeated = self._repeated_arms()
        health = Health(
            rows=rows,
            used=sum(number.values()),
            missing=sum(missing.values()),
            missing_as=options.missing,
            bad_rows=bad,
            bad_examples=tuple(examples[:_EXAMPLES]),
            blank_arms=sum(each[2] for each in states if each[0] == BLANK),
            outside=sum(each[2] for each in states if each[0] == OUTSIDE),
            trimmed=sum(each[4] for each in states if each[0] == OK),
            seen_once=tuple(label for label in labels if number[label] == 1),
            repeated=repeated,
            guesses=(
                *self.columns.guesses,
                *(note for file in self.files for note in file.notes),
                *self._comma_note(),
                *_torn_labels(labels),
            ),
            files=tuple(file.name for file in self.files),
            layout=self.columns.layout,
        )
        taken = [
            outside.get(label, 0) + (missing.get(label, 0) if options.missing == "replaced" else 0) for label in labels
        ]
        return Rewards(tuple(labels), values, counts, health, sources, np.array(taken, np.int64))

    def in_order(self) -> dict[str, NDArray[Any]]:
        """Return the rows in the order of time, or of the file without one: place of the arm, value, who.

        After `rewards`, which numbers the arms.
        """
        self.run("SET preserve_insertion_order=true")
        numbered = "(SELECT *, row_number() OVER () AS row FROM cells)"
        when = "seconds, " if self.columns.time else ""
        found = self.run(
            f"SELECT place::INTEGER AS place, value, who FROM ({self.understood(numbered)}) JOIN arms USING (name) "
            f"WHERE state = {OK} ORDER BY {when}row"
        ).fetchnumpy()
        return {name: np.asarray(found[name]) for name in ("place", "value", "who")}

    def _check_arms(self, missing: dict[str, int], outside: dict[str, int], number: dict[str, int]) -> None:
        lost, total = sum(missing.values()), sum(missing.values()) + sum(number.values())
        if lost and self._options.missing == "refuse":
            share = f"{lost:,} of {total:,} missing ({100.0 * lost / total:.3g} %)"
            fix = Phrase(
                "compare this with epsilon: {} if they may have been taken away as contamination would, {} if their "
                "absence says nothing",
                Setting("missing", "replaced"),
                Setting("missing", "drop"),
            )
            raise InputError("missing", "say what a missing reward is, drop or replaced", share, fix)
        for label in sorted({*missing, *outside}):
            if label not in number:
                lost = missing.get(label, 0) + outside.get(label, 0)
                rest = f"leave out its rows ({lost:,}, each without a reward that can be used)"
                raise InputError(f"the arm {label!r}", "have at least one reward", 0, rest)
        if len(number) < 2:
            rule = "have at least two arms"
            raise InputError(self._name, rule, sorted(number), "among fewer there is nothing to identify")

    def _comma_note(self) -> tuple[str, ...]:
        found = self.connection.execute(
            f"SELECT min(comma) FROM understood WHERE state = {OK} AND comma IS NOT NULL"
        ).fetchone()
        if found is None or found[0] is None:
            return ()
        return (f"Rewards such as {found[0].strip()!r} were read with a decimal comma.",)

    def _repeated_arms(self) -> int:
        if self.columns.values:
            file_rows = "count(*) // " + str(len(self.columns.values))
            found = self.connection.execute(f"SELECT {file_rows} - count(DISTINCT arm) FROM cells").fetchone()
        else:
            found = self.connection.execute(
                f"SELECT count(*) - count(DISTINCT (name, value)) FROM ({self.understood('cells')}) WHERE state = {OK}"
            ).fetchone()
        return int(found[0]) if found else 0

    def _values(
        self, labels: list[str], number: dict[str, int]
    ) -> tuple[tuple[NDArray[np.float64], ...], tuple[NDArray[np.int64], ...] | None]:
        self.connection.execute(  # by a parameter: a table of Arrow would load pandas, which takes half a second
            "CREATE OR REPLACE TEMP TABLE arms AS SELECT unnest($1::VARCHAR[]) AS name, unnest(range($2)) AS place",
            [labels, len(labels)],
        )
        if not self.is_few:
            result = self.run(
                f"SELECT value FROM understood JOIN arms USING (name) WHERE state = {OK} ORDER BY place, value"
            )
            flat, done = np.empty(sum(number.values())), 0
            while part := len(chunk := result.fetch_df_chunk(256)):  # some 500,000 rows
                flat[done : done + part] = chunk["value"].to_numpy()
                done += part
            cuts = np.cumsum([number[label] for label in labels])[:-1]
            return tuple(np.split(flat, cuts)), None
        table = self.run(
            "SELECT place, value + 0.0 AS value, sum(n)::BIGINT AS count "
            f"FROM understood JOIN arms USING (name) WHERE state = {OK} "
            "GROUP BY 1, 2 HAVING sum(n) > 0 ORDER BY 1, 2"
        ).fetchnumpy()
        index, value, count = (np.asarray(table[name]) for name in ("place", "value", "count"))
        cuts = np.searchsorted(index, np.arange(1, len(labels)))
        values = tuple(np.split(value.astype(np.float64), cuts))
        counts = tuple(np.split(count.astype(np.int64), cuts))
        different = np.unique(value).size
        if different <= FEW and sum(number.values()) >= 2 * different:
            return values, counts
        return tuple(np.repeat(each, often) for each, often in zip(values, counts, strict=True)), None

    def _sources(self) -> tuple[SourceTable, int]:
        """Return the first reward of each source on each arm, and how many came after it."""
        self.connection.execute("SET preserve_insertion_order=true")
        rows = "(SELECT *, rowid AS row FROM kept)"
        who, turn = trimmed("who"), "seconds, row" if self.columns.time else "row"
        right = f"FROM ({{}}) JOIN arms USING (name) WHERE state = {OK}"
        query = f"SELECT {who} AS who, place, value {right.format(self.understood(rows))}"
        if self.is_few:  # what the few different ones mean, is known
            meaning = f"SELECT DISTINCT arm, reward, exact, place, value {right.format(self.understood(self._grouped))}"
            timed = "AND seconds IS NOT NULL" if self.columns.time else ""
            query = (
                f"SELECT {who} AS who, place, value FROM {rows} AS rows JOIN ({meaning}) AS meaning "
                "ON rows.arm = meaning.arm AND rows.reward IS NOT DISTINCT FROM meaning.reward "
                f"AND rows.exact IS NOT DISTINCT FROM meaning.exact WHERE {who} <> '' {timed}"
            )
        # A sort uses all cores, where a window would use one.
        self.run(f"CREATE OR REPLACE TEMP TABLE ordered AS {query} ORDER BY {turn}")
        self.run(
            "CREATE OR REPLACE TEMP TABLE firsts AS SELECT who, place, "
            "arg_min(value, rowid) AS value, min(rowid) AS turn, count(*) AS times FROM ordered GROUP BY who, place"
        )
        self.run(
            "CREATE OR REPLACE TEMP TABLE who AS "
            "SELECT who, row_number() OVER (ORDER BY min(turn)) - 1 AS source FROM firsts GROUP BY who"
        )
        table = self.run(
            "SELECT place::INTEGER AS arm, source::INTEGER AS source, value "
            "FROM firsts JOIN who USING (who) ORDER BY turn"
        ).fetchnumpy()
        arm, source, value = (np.asarray(table[name]) for name in ("arm", "source", "value"))
        found = self.connection.execute("SELECT sum(times)::BIGINT - count(*) FROM firsts").fetchone()
        assert found is not None
        number = int(source.max()) + 1
        return SourceTable(arm.astype(np.int32), source.astype(np.int32), value.astype(np.float64), number), int(
            found[0]
        )


def _torn_labels(labels: Sequence[str]) -> Iterator[str]:
    torn = [label for label in labels if "\n" in label]
    if torn:
        lines = max(label.count("\n") for label in torn) + 1
        yield f"The name of an arm has {lines:,} lines (it begins {torn[0][:30]!r}): is a quote not closed there?"


def _label_key(labels: Mapping[str, Any]) -> Callable[[str], Any]:
    if all(label.removeprefix("-").isdecimal() and len(label) < 4000 for label in labels):
        return lambda label: (int(label), label)
    return lambda label: label


def _checked_bounds(bounds: Any) -> tuple[float, float] | None:
    if bounds is None:
        return None
    pair = [number(each) for each in bounds] if isinstance(bounds, tuple | list) else []
    if len(pair) != 2 or not -1e300 < pair[0] < pair[1] < 1e300:
        raise InputError("bounds", "be two finite numbers, the lower first", bounds, "such as (1, 5)")
    return pair[0], pair[1]
