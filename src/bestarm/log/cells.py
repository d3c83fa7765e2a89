"""The cells of a log as SQL: which columns they are, and what they mean, by the same rules for each format."""

from __future__ import annotations

from collections.abc import Mapping

from bestarm.log.columns import Columns
from bestarm.log.files import LogFile, identifier, quoted

_NUMERIC = (
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
)
_MISSING = ("", "na", "n/a", "nan", "null", "none")
_SPACES = "' ' || chr(9) || chr(10) || chr(13) || chr(160)"

# What is wrong with a row: the number of its state, the end of "line 7 must ...", and the same as a description.
OK, BLANK, NO_SOURCE, NO_TIME, BAD_COUNT, MISSING_REWARD, BAD_REWARD, OUTSIDE, BAD_JSON = range(9)
DATES = "such as 2024-05-31 12:00 or 31.05.2024 12:00"
RULES = {
    BLANK: ("have an arm", "is no arm"),
    NO_SOURCE: ("have a source", "is no source"),
    NO_TIME: ("have a time (a number, or a date {dates})", "is no time"),
    BAD_COUNT: ("have a whole number >= 0 as {column}", "is no count"),
    BAD_REWARD: ("have a number as {column}", "is no number"),
    OUTSIDE: ("have {column} within the bounds {bounds}", "is out of bounds"),
    BAD_JSON: ("be an object in JSON", "is no JSON"),
}


def rows_of(file: LogFile | None, columns: Columns, types: Mapping[str, str], *, located: bool = False) -> str:
    """Return the query of the rows of a file: arm, reward and count as text, who, at, and which rows they are."""
    scan = file.scan() if file else "log_table"
    kinds = file.types if file else types  # none of a text file

    def text(name: str | None) -> str:
        """Return a column as text, whatever it is: 1.0 as 1, as pandas has it where a number is missing."""
        if name is None:
            return "NULL"
        column = file.column(name) if file else identifier(name)
        if file is not None and file.kind != "parquet":
            return column
        kind = kinds[name]
        if kind in ("FLOAT", "DOUBLE"):
            whole = f"isfinite({column}) AND {column} = floor({column}) AND abs({column}) < 1e15"
            cast = f"CAST(CAST({column} AS BIGINT) AS VARCHAR)"
            return f"CASE WHEN {whole} THEN {cast} ELSE CAST({column} AS VARCHAR) END"
        return f"CAST({column} AS VARCHAR)"

    broken = "NOT json_valid(line)" if file and file.kind.startswith("json") else "false"
    if file and file.kind == "json":
        scan = f"(SELECT * FROM {scan} WHERE trim(coalesce(line, '')) <> '')"
    if file is None and located:
        scan = f"(SELECT *, row_number() OVER () AS file_row_number FROM {scan})"
    row = "" if not located else f", {file.whole_row() if file else '[CAST(file_row_number AS VARCHAR)]'} AS whole"
    clock, seconds = text(columns.time), "NULL::DOUBLE"
    if columns.time is not None:
        is_moment = kinds.get(columns.time, "").startswith(("TIMESTAMP", "DATE"))
        seconds = f"CAST(epoch({identifier(columns.time)}) AS DOUBLE)" if is_moment else moment(clock)
    rest = f"{text(columns.source)} AS who, {seconds} AS seconds, {clock} AS clock, {broken} AS broken{row}"
    if columns.arms or columns.values:
        names = columns.arms or tuple(name for name, _ in columns.values)
        cells = ", ".join(f"{text(name)} AS w{number}" for number, name in enumerate(names))
        those = ", ".join(f"w{number}" for number in range(len(names)))
        arm = "NULL" if columns.arms else text(columns.arm)
        inner = f"SELECT {cells}, {arm} AS name, {rest} FROM {scan}"
        wide = f"(SELECT * FROM ({inner}) UNPIVOT INCLUDE NULLS (cell FOR which IN ({those})))"
        kept = "NULL::DOUBLE AS exact, who, seconds, clock, broken" + (", whole" if located else "")
        if columns.arms:
            keyed = _lookup("which", {f"w{number}": quoted(name) for number, name in enumerate(names)})
            return f"SELECT {keyed} AS arm, cell AS reward, '1' AS often, {kept} FROM {wide}"
        keyed = _lookup("which", {f"w{index}": quoted(repr(value)) for index, (_, value) in enumerate(columns.values)})
        return f"SELECT name AS arm, {keyed} AS reward, cell AS often, {kept} FROM {wide}"
    count = text(columns.count) if columns.count else "'1'"
    arm, reward, exact = text(columns.arm), text(columns.reward), "NULL::DOUBLE"
    if columns.reward is not None and kinds.get(columns.reward, "").startswith(_NUMERIC):
        reward, exact = "NULL::VARCHAR", f"CAST({identifier(columns.reward)} AS DOUBLE)"
    return f"SELECT {arm} AS arm, {reward} AS reward, {count} AS often, {exact} AS exact, {rest} FROM {scan}"


def understood(relation: str, columns: Columns, bounds: tuple[float, float] | None, comma_too: bool) -> str:
    """Return the rows of a relation like `cells` with what they mean: name, value, n and state."""
    comma = "TRY_CAST(replace(word, ',', '.') AS DOUBLE)" if comma_too else "NULL"
    boolean = "CASE lower(word) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 END"
    words = ", ".join(quoted(word) for word in _MISSING)
    count = f"TRY_CAST(trim(often, {_SPACES}) AS DOUBLE)"
    cases = [("broken", BAD_JSON), ("coalesce(name, '') = ''", BLANK)]
    if columns.source is not None:
        cases.append((f"trim(coalesce(who, ''), {_SPACES}) = ''", NO_SOURCE))
    if columns.time is not None:
        cases.append(("seconds IS NULL", NO_TIME))
    if columns.layout == "counted":
        cases.append((f"NOT coalesce({count} BETWEEN 0 AND 1e12 AND {count} = floor({count}), false)", BAD_COUNT))
    absent = f"CASE WHEN plain IS NULL THEN word IS NULL OR lower(word) IN ({words}) ELSE isnan(plain) END"
    cases += [(absent, MISSING_REWARD), ("NOT coalesce(abs(value) < 1e300, false)", BAD_REWARD)]
    if bounds is not None:
        low, high = bounds
        cases.append((f"value < {low!r} OR value > {high!r}", OUTSIDE))
    state = " ".join(f"WHEN {when} THEN {then}" for when, then in cases)
    n = f"coalesce(TRY(CAST({count} AS BIGINT)), 1)" if columns.layout == "counted" else "1"
    # In steps: what most cells do not need (a comma, a word for missing) is computed for the others only.
    split = f"SELECT *, trim(arm, {_SPACES}) AS name, trim(reward, {_SPACES}) AS word FROM {relation}"
    plain = f"SELECT *, coalesce(exact, TRY_CAST(word AS DOUBLE)) AS plain FROM ({split})"
    found = f"CASE WHEN plain IS NULL THEN coalesce({comma}, {boolean}) ELSE plain END"
    value = f"SELECT *, {found} AS value FROM ({plain})"
    return f"SELECT *, CASE {state} ELSE {OK} END AS state, {n} AS n FROM ({value})"


def moment(column: str) -> str:
    """Return a time as SQL, in seconds: a number as it is, or a date; a plain 2024-05-31 12:00:00 five times faster."""
    cell = f"trim({column}, {_SPACES})"
    german = ", ".join(quoted(f"%d.%m.%Y{clock}") for clock in ("", " %H:%M", " %H:%M:%S"))
    other = (
        f"coalesce(TRY_CAST({cell} AS DOUBLE), epoch(TRY_CAST({cell} AS TIMESTAMPTZ)), "
        f"epoch(try_strptime({cell}, [{german}])))"
    )
    plain = f"regexp_full_match({column}, '\\d{{4}}-\\d\\d-\\d\\d[ T]\\d\\d:\\d\\d:\\d\\d')"
    return f"CASE WHEN {plain} THEN epoch(TRY_CAST({column} AS TIMESTAMP)) ELSE {other} END"


def trimmed(column: str) -> str:
    """Return a text without spaces around it as SQL; three times faster where there are none."""
    bare = f"ascii({column}) BETWEEN 33 AND 126 AND ascii(right({column}, 1)) BETWEEN 33 AND 126"
    return f"CASE WHEN {bare} THEN {column} ELSE trim({column}, {_SPACES}) END"


def _lookup(key: str, table: Mapping[str, str]) -> str:
    cases = " ".join(f"WHEN {quoted(name)} THEN {then}" for name, then in table.items())
    return f"CASE {key} {cases} END"
