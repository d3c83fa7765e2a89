"""The columns that only inspection looks at: who, when, which user agent, which event; guessed by name and content.

The verdict does not use them: a guess never makes a row bad and never changes a reward. A column that the user named as
a source or as a time is the one that inspection takes as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bestarm.errors import InputError
from bestarm.log.blocks import DAY, HOUR, NONE
from bestarm.log.names import plain, words_of
from bestarm.log.reading.columns import LogColumns
from bestarm.log.reading.contents import Contents
from bestarm.log.reading.likely import by_names, likely_when, likely_who, listed
from bestarm.log.reading.parts import Part, select_cells
from bestarm.log.spec import LogSpec

_EVENTS = listed(
    "eventid eventuuid requestid impressionid visitid pageviewid hitid clickid voteid ballotid responseid "
    "submissionid messageid recordid insertid logid"
)
_AGENTS = ["useragent", "useragentstring", "httpuseragent", "ua", "browser"]
# The last word of a column that says where, or for what, an arm was chosen, and not what came of it.
_BEFORE = (
    "country region state city market shop store branch location site platform os language locale lang category topic "
    "device channel medium gender sex task difficulty dataset department clinic hospital school ward district"
)
_SOURCES_OF_VISITS = (("traffic", "source"), ("utm", "source"), ("acquisition", "source"), ("device", "type"))
MOST_VALUES = 50  # of such a column
_NUMBERS_OF_ROWS = ("", "unnamed0", "index", "row", "rownumber", "column0")


@dataclass(frozen=True)
class WatchedColumns:
    """The columns that inspection looks at, each None if there is none.

    Attributes
    ----------
    who : str, optional
        Who gave a reward.
    when : str, optional
        When.
    agent : str, optional
        The user agent.
    event : str, optional
        A number of the event, which should occur once.
    block : str, optional
        Whose values are compared one by one, or by which the shares of the arms should not differ.
    rest : tuple of str
        All columns of the file but the time and a number of the row: two rows that agree in them, and in the time, are
        equal.
    """

    who: str | None = None
    when: str | None = None
    agent: str | None = None
    event: str | None = None
    rest: tuple[str, ...] = ()
    block: str | None = None  # a column whose values are compared one by one


def choose_watched(
    parts: Sequence[Part], columns: LogColumns, spec: LogSpec, contents: Contents | None = None
) -> WatchedColumns:
    """Return the columns that inspection looks at, among those that all parts have once.

    With `contents`, what is in the columns is looked at as well as their names.

    >>> from bestarm.log.reading.parts import TablePart
    >>> import pyarrow as pa
    >>> names = ["variant", "converted", "User ID", "created_at", "country"]
    >>> parts = [TablePart(pa.table({name: ["x"] for name in names}))]
    >>> choose_watched(parts, LogColumns("variant", "converted"), LogSpec())
    WatchedColumns(who='User ID', when='created_at', agent=None, event=None, rest=('User ID', 'converted', 'country', \
'variant'), block=None)
    """
    names = [name for name in parts[0].columns if all(part.columns.count(name) == 1 for part in parts)]
    # The order of columns must not matter: the same rows give the same answer from a file with another order.
    free = sorted(name for name in names if name not in columns.used)
    who = columns.source or (None if spec.source is False else likely_who(free, contents))
    when = columns.time or (None if spec.time is False else likely_when(free, contents))
    numbering = [name for name in free if plain(name) in _NUMBERS_OF_ROWS]
    rest = tuple(sorted(name for name in names if name != when and name not in numbering))
    agent, event = (next(iter(by_names(wanted, free)), None) for wanted in (_AGENTS, _EVENTS))
    return WatchedColumns(who, when, agent, event, rest, _block(names, columns, spec, contents))


def _block(names: Sequence[str], columns: LogColumns, spec: LogSpec, contents: Contents | None) -> str | None:
    """Return the column whose values are blocks, if one was named; days and hours are read off the time.

    If nothing was said of blocks, it is a column by which the shares of the arms should not differ.
    """
    asked = spec.block
    if asked in (None, NONE):
        if not spec.inspect:
            return None
        free = sorted(name for name in names if name not in columns.used and _is_before(words_of(name)))
        seen = {} if contents is None else contents.of(free)
        few = (name for name in free if name not in seen or 2 <= seen[name].different <= MOST_VALUES)
        return next(few, None)
    if asked in (DAY, HOUR) and (asked not in names or columns.time is not None):
        return None
    if asked not in names:
        fix = f"the columns are {', '.join(names[:12])}"
        raise InputError("block", "be day, hour, none or a column of the log", asked, fix)
    if asked in columns.used and asked not in (columns.source, columns.time):
        rule = "be another column than the arm and the reward"
        raise InputError("block", rule, asked, "arms are compared within a block, and rewards must not decide it")
    return asked


def _is_before(words: Sequence[str]) -> bool:
    """Tell whether the words of a name say that a column was there before the arm was chosen.

    >>> [_is_before(words) for words in (["country"], ["traffic", "source"], ["source"], ["country", "rank"])]
    [True, True, False, False]
    """
    return bool(words) and (words[-1] in _BEFORE.split() or tuple(words[-2:]) in _SOURCES_OF_VISITS)


def select_watched(
    part: Part,
    columns: LogColumns,
    watched: WatchedColumns,
    is_out: str = "false",
    tested: Mapping[str, str] | None = None,
) -> str:
    """Return the query of the cells of a part that inspection looks at: those of `select_cells`, and some more.

    These are `agent`, `event`, `rest`, a hash of all that is in the row but the time, and tests of the row: `is_out`,
    and those `tested`.
    """
    more = {
        "agent": part.text(watched.agent),
        "event": part.text(watched.event),
        "rest": part.hash_of(watched.rest, watched.when),
        "is_out": is_out,
        "block": part.text(watched.block),
        **(tested or {}),
    }
    return select_cells(part, columns, who=watched.who, when=watched.when, more=more)
