"""Step 2 of reading a log: which column is what, as the user says or by an obvious name; guesses are reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bestarm.errors import InputError
from bestarm.log.spec import LogSpec
from bestarm.phrases import Phrase, Setting
from bestarm.validation import number

NAMES = {
    what: frozenset(names.split())
    for what, names in {
        "arm": "arm variant option caption item treatment candidate headline product design version choice alternative",
        "reward": "reward stars star score rating value click clicks clicked vote grade points outcome converted",
        "source": "source voter voterid user userid rater raterid reviewer reviewerid visitor visitorid account "
        "accountid device deviceid",
        "time": "time timestamp datetime date createdat ts when",
        "count": "count counts n number votes frequency times",
    }.items()
}
_SURE_COUNTS = ("count", "counts", "n", "frequency")
_INDEX = ("", "unnamed0", "index", "row", "id")  # names of columns that number the rows; they are no arms
_CONTESTS = (  # the New Yorker's caption contests, old and new layout
    {"unfunny": 1.0, "somewhat_funny": 2.0, "funny": 3.0},
    {"not_funny": 1.0, "somewhat_funny": 2.0, "funny": 3.0},
)


@dataclass(frozen=True)
class LogColumns:
    """The columns of a log by what they are for.

    Attributes
    ----------
    arm, reward, source, time, count : str, optional
        Names of the columns.
    arms : tuple of str
        The columns that are an arm each (a wide log).
    values : tuple of (str, float)
        The columns that count how often an arm got a value (a counted log).
    guesses : tuple of str
        What was guessed, a sentence each.
    """

    arm: str | None = None
    reward: str | None = None
    source: str | None = None
    time: str | None = None
    count: str | None = None
    arms: tuple[str, ...] = ()
    values: tuple[tuple[str, float], ...] = ()
    guesses: tuple[str, ...] = ()

    @property
    def layout(self) -> str:
        """What a row is: "long", "wide" or "counted"."""
        return "wide" if self.arms else "counted" if self.count or self.values else "long"

    @property
    def used(self) -> tuple[str, ...]:
        """The names of all columns that are used."""
        single = (self.arm, self.reward, self.source, self.time, self.count)
        return (*(name for name in single if name is not None), *self.arms, *(name for name, _ in self.values))


def plain(name: str) -> str:
    """Return a name in small letters and digits only: Voter_ID is voterid."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def is_header(cells: Sequence[str], wanted: Sequence[str]) -> bool:
    """Tell whether the first row of a file names columns: it has a name asked for or known, or no numbers."""
    known = {name for names in NAMES.values() for name in names}
    asked = {name.strip().casefold() for name in wanted}
    if any(cell.casefold() in asked or plain(cell) in known for cell in cells):
        return True
    return not any(_as_number(cell) is not None for cell in cells)


def choose(names: Sequence[str], spec: LogSpec, *, is_headed: bool = True) -> LogColumns:
    """Return which column is what, or say why that is not clear."""
    return _Choice(names, spec, is_headed).columns()


class _Choice:
    """The choice of the columns of a log, with what was guessed."""

    def __init__(self, names: Sequence[str], spec: LogSpec, is_headed: bool) -> None:
        self._names, self._spec, self._is_headed = names, spec, is_headed
        self._guesses: list[str] = []

    def columns(self) -> LogColumns:
        """Return the columns."""
        spec = self._spec
        if spec.wide is not False and spec.wide is not None:
            found = self._wide()
        elif values := _value_columns(self._names, spec, self._guesses):
            arm = self._needed("arm", [name for name in self._names if name not in dict(values)])
            _no_sources(spec.source)
            found = LogColumns(arm=arm, values=values)
        elif spec.counted not in (None, False):
            found = self._counted()
        else:
            found = self._long()
        return replace(found, guesses=tuple(self._guesses))

    def _wide(self) -> LogColumns:
        spec, names = self._spec, self._names
        if spec.counted not in (None, False):
            raise InputError("wide", "not come with counted", spec.wide, "a log is the one or the other")
        source = self._source(names)
        time = self._optional("time", spec.time if source or spec.needs_time else False, names)
        others = source, time, *(name for name in names if spec.source is None and _means(name, "source"))
        return LogColumns(source=source, time=time, arms=_arms(names, spec.wide, others, self._guesses))

    def _counted(self) -> LogColumns:
        asked = None if self._spec.counted is True else self._spec.counted
        count = self._needed("count", self._names, asked)
        _no_sources(self._spec.source)
        others = [name for name in self._names if name != count]
        return LogColumns(arm=self._needed("arm", others), reward=self._needed("reward", others), count=count)

    def _long(self) -> LogColumns:
        spec = self._spec
        arm = self._needed("arm", self._names)
        reward = self._needed("reward", [name for name in self._names if name != arm])
        rest = [name for name in self._names if name not in (arm, reward)]
        often = [name for name in rest if _means(name, "count")] if spec.counted is None else []
        if len(often) == 1 and plain(often[0]) in _SURE_COUNTS and spec.source in (None, False) and not spec.time:
            self._guesses.append(f"The column {often[0]!r} was taken for how often a row occurs, by its name.")
            return LogColumns(arm=arm, reward=reward, count=often[0])
        self._guesses += [
            f"The column {name!r} may say how often a row occurs; it was not used: "
            + Phrase("with {} it is.", Setting("counted", name))
            for name in often
        ]
        source = self._source(rest)
        time = self._optional("time", spec.time if source or spec.needs_time or spec.time else False, rest)
        found = LogColumns(arm, reward, source, time)
        _check_distinct(found)
        return found

    def _source(self, among: Sequence[str]) -> str | None:
        """Return the column of sources; it changes what epsilon means, so it is guessed only if that is asked for."""
        if self._spec.source is not None:
            return self._optional("source", self._spec.source, among)
        seen = [name for name in among if _means(name, "source")]
        if seen:
            self._guesses.append(
                f"The column {seen[0]!r} may say who gave a reward; it was not used: "
                + Phrase("with {}, epsilon is a share of the sources.", Setting("source", seen[0]))
            )
        return None

    def _optional(self, parameter: str, asked: object, among: Sequence[str]) -> str | None:
        """Return a column by its name, or guessed; None if there is none, or several could be meant."""
        if asked is False:
            return None
        if asked is not None and asked is not True:
            return _named(parameter, asked, self._names)
        matches = [name for name in among if _means(name, parameter)]
        if len(matches) > 1:
            self._guesses.append(f"Each of {_listed(matches)} could be the {parameter}; none was taken.")
        return self._guessed(parameter, matches[0]) if len(matches) == 1 else None

    def _needed(self, parameter: str, among: Sequence[str], asked: object = None) -> str:
        """Return a column by its name, or guessed; refuse to go on without it."""
        asked = getattr(self._spec, parameter, asked)
        if asked is not None and not isinstance(asked, bool):
            return _named(parameter, asked, self._names)
        matches = [name for name in among if _means(name, parameter)]
        if len(matches) == 1:
            return self._guessed(parameter, matches[0])
        if not matches and not self._is_headed and len(self._names) == 2:
            name = self._names[0 if parameter == "arm" else 1]
            self._guesses.append(f"There is no header; {name!r} was taken for the {parameter}.")
            return name
        if len(set(matches)) < len(matches):
            raise InputError(parameter, "be one column", matches[0], "two columns have this name; rename one of them")
        fix = f"{_listed(matches)} could be meant"
        if not matches:
            fix = Phrase("say which one it is with {}", Setting(parameter))
        raise InputError(parameter, f"name one of the columns {_listed(self._names)}", None, fix)

    def _guessed(self, parameter: str, name: str) -> str:
        self._guesses.append(f"The column {name!r} was taken for the {parameter}, by its name.")
        return name


def _means(name: str, parameter: str) -> bool:
    return plain(name) in NAMES[parameter]


def _named(parameter: str, asked: object, names: Sequence[str]) -> str:
    if not isinstance(asked, str):
        raise InputError(parameter, "be the name of a column", asked, f"one of {_listed(names)}")
    loosely = asked.strip().casefold()
    for matches in (
        [name for name in names if name == asked],
        [name for name in names if name.strip().casefold() == loosely],
    ):
        if len(matches) > 1:
            raise InputError(parameter, "name one column", asked, f"{len(matches)} columns have this name; rename one")
        if matches:
            return matches[0]
    raise InputError(parameter, f"name one of the columns {_listed(names)}", asked, "check the spelling")


def _arms(names: Sequence[str], wide: object, others: tuple[str | None, ...], guesses: list[str]) -> tuple[str, ...]:
    if wide is True:
        found = [name for name in names if name not in others]
        aside = [name for name in found if plain(name) in _INDEX]
        if aside:
            guesses.append(f"{_listed(aside)} was taken for numbers of rows, not for an arm.")
        found = [name for name in found if name not in aside]
    elif isinstance(wide, list | tuple):
        found = [_named("wide", name, names) for name in wide]
    else:
        raise InputError("wide", "be True, False or a list of columns", wide, "True takes each column for an arm")
    twice = [name for name in dict.fromkeys(found) if found.count(name) > 1]
    if twice:
        raise InputError("wide", "have one column per arm", twice[0], "two columns have this name; rename one")
    if len(found) < 2:
        raise InputError("wide", "have at least two columns of rewards", found, f"the columns are {_listed(names)}")
    return tuple(found)


def _value_columns(names: Sequence[str], spec: LogSpec, guesses: list[str]) -> tuple[tuple[str, float], ...]:
    """Return the columns that count a value each, with the values; none in a log of another kind."""
    counted = spec.counted
    if isinstance(counted, Mapping):
        found = [(_named("counted", name, names), number(value)) for name, value in counted.items()]
        for name, value in found:
            if not abs(value) < 1e300:
                raise InputError("counted", "give the value that each column counts", counted, f"{name!r} has none")
        if not found:
            raise InputError("counted", "name at least one column", counted, 'such as {"funny": 3}')
        return tuple(found)
    if counted is False or isinstance(counted, str) or spec.reward is not None:
        return ()
    for layout in _CONTESTS:
        if all(names.count(name) == 1 for name in layout):
            said = ", ".join(f"{name!r} as {value:g}" for name, value in layout.items())
            guesses.append(f"The columns of a caption contest were taken for counts of ratings: {said}.")
            return tuple(layout.items())
    numbered = [(name, as_number) for name in names if (as_number := _as_number(name)) is not None]
    if len(numbered) >= 2 and len({name for name, _ in numbered}) == len(numbered):
        said = _listed([name for name, _ in numbered])
        guesses.append(f"The columns {said} were taken for counts of how often an arm got these values.")
        return tuple(numbered)
    return ()


def _no_sources(source: object) -> None:
    if source is not None and not isinstance(source, bool):
        raise InputError("source", "not come with counted", source, "counts do not say who gave which reward")


def _check_distinct(columns: LogColumns) -> None:
    given = [(name, getattr(columns, name)) for name in ("arm", "reward", "source", "time")]
    for index, (parameter, name) in enumerate(given):
        for other, same in given[:index]:
            if name is not None and name == same:
                raise InputError(parameter, f"be another column than {other}", name, "a column is one thing only")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:12])
    return shown + (", ..." if len(names) > 12 else "")


def _as_number(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None
