"""Rows that the user leaves out: those of some sources or user agents, copies of rows, or those that a condition picks.

To leave out rows by names, counts or times takes away nothing that matters. To leave them out by the values of rewards
is to replace them, so rows that were left out wrongly count as fakes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bestarm.errors import InputError
from bestarm.identification.finding import Finding
from bestarm.log.reading.columns import LogColumns
from bestarm.log.reading.database import Database, DatabaseError, identifier, quoted
from bestarm.log.reading.files import first_line
from bestarm.log.reading.parts import Part
from bestarm.log.reading.watched import WatchedColumns
from bestarm.phrases import Phrase, Setting

SUSPICIOUS = "suspicious"
EQUAL_TIMES = "time"  # what a finding about equal rows of one time says it went by
_SAMPLE = 10_000  # rows by which the type of a column of text is told
_FILE = re.compile(r"\S+\.(txt|csv|tsv|list)")  # what is no condition on columns, but the name of a file
_TIMES = {"twice": 2, "three times": 3, "four times": 4}


@dataclass(frozen=True)
class LeftOut:
    """Which rows are left out.

    Attributes
    ----------
    sources, agents : tuple of str
        Those of these sources and user agents.
    factor : int
        All but one in so many equal rows, if above 1.
    events : bool
        All but one row of each event: of those with its arm, reward and source.
    times : bool
        All but one of equal rows of one time.
    condition : str
        Those for which it is true; in SQL, with the names of the file's columns.
    by_rewards : bool
        Whether rewards decided which rows are left out.
    """

    sources: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    factor: int = 1
    events: bool = False
    times: bool = False
    condition: str = ""
    by_rewards: bool = False

    @property
    def is_nothing(self) -> bool:
        """Whether no row is left out."""
        return not (self.sources or self.agents or self.condition or self.compares)

    @property
    def compares(self) -> bool:
        """Whether rows are compared with each other, to leave out copies."""
        return self.factor > 1 or self.events or self.times

    @property
    def by_name(self) -> str:
        """The test whether a row is of one of the sources, in SQL."""
        return f"trim(who) IN ({', '.join(map(quoted, self.sources))})" if self.sources else "false"

    def how(self, sources: int, source_word: str) -> str:
        """Return what is left out, in a few words; so many of the sources are in the log."""
        found = [f"{sources:,} {source_word}{'' if sources == 1 else 's'}"] if sources else []
        if self.agents:
            found.append(f"{len(self.agents):,} user agents" if len(self.agents) > 1 else "a user agent")
        if self.compares:
            found.append("copies of rows")
        return " and ".join([*found, *([f"all rows with {self.condition}"] if self.condition else [])])

    def tests(self) -> list[str]:
        """Return the tests of rows that are left out, in SQL, each about the columns of `watched_cells`."""
        found = []
        if self.sources:
            found.append(self.by_name)
        if self.agents:
            found.append(f"agent IN ({', '.join(map(quoted, self.agents))})")
        if self.condition:
            found.append("coalesce(is_out, false)")
        if self.factor > 1:
            found.append(f"place * {self.factor} > times")
        if self.events:
            found.append("event IS NOT NULL AND place_of_event > 1")
        if self.times:
            found.append("clock IS NOT NULL AND place > 1")
        return found


def suspicious(findings: Sequence[Finding]) -> LeftOut:
    """Return what inspection points at row by row: sources, user agents and copies; a burst names no rows.

    >>> suspicious([Finding("agents", 10, None, 0.1, "an agent looks like a bot", ("curl/8",))])
    LeftOut(sources=(), agents=('curl/8',), factor=1, events=False, times=False, condition='', by_rewards=True)
    """
    by_kind = {finding.kind: finding for finding in findings}
    generous = by_kind.get("generous sources")
    sources = generous or by_kind.get("busy sources") or by_kind.get("devoted sources")
    agents, copies = by_kind.get("agents"), by_kind.get("duplicates")
    (how,) = copies.what if copies is not None else ("",)
    return LeftOut(
        sources=sources.what if sources is not None else (),
        agents=agents.what if agents is not None else (),
        factor=_TIMES.get(how, 1),
        events=copies is not None and how not in (*_TIMES, EQUAL_TIMES),
        times=how == EQUAL_TIMES,
        by_rewards=agents is not None or generous is not None,  # some are told by what they click
    )


def chosen(without: str | Sequence[str], columns: LogColumns, watched: WatchedColumns, database: Database) -> LeftOut:
    """Return the rows that the user says are left out: those of a list of sources, or by a condition."""
    if isinstance(without, str):
        return LeftOut(condition=checked_condition("without", without, columns, database))
    if watched.who is None:
        rule = Phrase("come with {}, the column of the names in it", Setting("source"))
        raise InputError("without", rule, without, "no column has the name of a source")
    names = [name.strip() for name in without]
    if names and names[0].casefold() == watched.who.casefold():
        names = names[1:]
    if not names:
        raise InputError("without", "name at least one source", without, "a name a line")
    return LeftOut(sources=tuple(dict.fromkeys(names)))


def names_in_file(without: str | Sequence[str] | None) -> str | Sequence[str] | None:
    """Return the names in a file, a name a line, if there is one; else what was given."""
    if not isinstance(without, str):
        return without
    if not Path(without).is_file():
        if _FILE.fullmatch(without):
            fix = "check the path; or give a condition such as \"country = 'XX'\", or suspicious"
            raise InputError("without", "be a file that is there", without, fix)
        return without
    try:
        text = Path(without).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("without", "be a file of names, a name a line", without, first_line(error)) from None
    return [line.strip().strip('"') for line in text.splitlines() if line.strip()]


def checked_condition(parameter: str, condition: str, columns: LogColumns, database: Database) -> str:
    """Return the condition of a parameter, or refuse it because it is none or looks at rewards."""
    ((text,),) = database.ask("parsed", f"SELECT 1 WHERE {condition}")
    parsed = json.loads(text)
    if parsed.get("error"):
        fix = "such as --without \"country = 'XX'\", a file of names, or suspicious"
        fix = fix if parameter == "without" else "such as \"country = 'DE'\""
        raise InputError(parameter, "be a condition on the columns", condition, fix)
    used = {name.casefold() for name in _column_names(parsed)}
    others = {columns.arm, columns.source, columns.time}
    for name in columns.used:
        if name not in others and name.casefold() in used:
            fix = "rows that are left out for their rewards are fakes of your own making; leave them in"
            raise InputError(parameter, f"not look at {name!r}, the reward", condition, fix)
    return condition


def _column_names(parsed: Any) -> list[str]:
    """Return the names of all columns in a query as DuckDB parsed it."""
    if isinstance(parsed, list):
        return [name for each in parsed for name in _column_names(each)]
    if not isinstance(parsed, dict):
        return []
    own = [parsed["column_names"][-1]] if parsed.get("class") == "COLUMN_REF" else []
    return own + _column_names(list(parsed.values()))


def condition_of(part: Part, left_out: LeftOut, database: Database) -> str:
    """Return whether the condition is true for a row of a part, in SQL."""
    if not left_out.condition:
        return "false"
    return test_of(part, left_out.condition, database, "without")


def test_of(part: Part, condition: str, database: Database, parameter: str) -> str:
    """Return whether the condition of a parameter is true for a row of a part, in SQL."""
    test = f"({condition})"
    if not part.types:  # cells are texts, and in SQL they do not have the names of the file
        names = dict.fromkeys(part.columns)
        cells = ", ".join(f"{_typed(part, name, database)} AS {identifier(name)}" for name in names)
        test = f"(SELECT {test} FROM (SELECT {cells}) AS named)"
    try:
        database.ask("any_row", test=test, relation=part.scan())
        ((kind,),) = database.ask("kind_of", test=test, relation=part.scan())
    except DatabaseError as error:
        fix = f"the columns are {', '.join(part.columns[:12])}"
        raise InputError(parameter, f"be a condition, but: {first_line(error)}", condition, fix) from None
    if kind != "BOOLEAN":
        fix = f"such as \"{condition} = 'DE'\"" if condition.isidentifier() else "such as \"country = 'DE'\""
        raise InputError(parameter, "be true or false for each row", condition, fix)
    return test


def _typed(part: Part, name: str, database: Database) -> str:
    """Return a column as numbers or times if its first cells are, else as it is, in SQL."""
    column = part.column(name)
    ((are_numbers, are_times),) = database.ask("types_of", column=column, relation=part.scan(), most=_SAMPLE)
    kind = "DOUBLE" if are_numbers else "TIMESTAMP" if are_times else ""
    return f"TRY_CAST({column} AS {kind})" if kind else column
