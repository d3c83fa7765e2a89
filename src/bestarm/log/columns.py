"""Which column of a log is what: as the user says, or by its name where that is obvious, which is then said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bestarm.errors import InputError
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
_INDEX = ("", "unnamed0", "index", "row", "id")  # numbers of rows, which would make a fine arm
_CONTESTS = (  # the New Yorker's caption contests, old and new layout
    {"unfunny": 1.0, "somewhat_funny": 2.0, "funny": 3.0},
    {"not_funny": 1.0, "somewhat_funny": 2.0, "funny": 3.0},
)


@dataclass(frozen=True)
class Columns:
    """The columns of a log by what they are for.

    Attributes
    ----------
    arm, reward, source, time, count : str, optional
        Their names.
    arms : tuple of str
        The columns that are an arm each (a wide log).
    values : tuple of (str, float)
        The columns that count how often an arm got a value (a counted log).
    guesses : tuple of str
        Those that were guessed, a sentence each.
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
        """Long, wide or counted."""
        return "wide" if self.arms else "counted" if self.count or self.values else "long"

    @property
    def used(self) -> tuple[str, ...]:
        """All of them."""
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


def choose(
    names: Sequence[str],
    *,
    arm: object,
    reward: object,
    source: object,
    time: object,
    wide: object,
    counted: object,
    needs_time: bool = False,
    is_headed: bool = True,
) -> Columns:
    """Return which column is what, or say why that is not clear."""
    guesses: list[str] = []

    def one(parameter: str, asked: object, among: Sequence[str], *, need: bool) -> str | None:
        if asked is False and not need:
            return None
        if asked is not None and not isinstance(asked, bool):
            return _named(parameter, asked, names)
        matches = [name for name in among if plain(name) in NAMES[parameter]]
        if len(matches) == 1:
            guesses.append(f"The column {matches[0]!r} was taken for the {parameter}, by its name.")
            return matches[0]
        if not need:
            if matches:
                guesses.append(f"Each of {_listed(matches)} could be the {parameter}; none was taken.")
            return None
        if not matches and not is_headed and len(names) == 2:
            name = names[0 if parameter == "arm" else 1]
            guesses.append(f"There is no header; {name!r} was taken for the {parameter}.")
            return name
        if len(set(matches)) < len(matches):
            raise InputError(parameter, "be one column", matches[0], "two columns have this name; rename one of them")
        fix = f"{_listed(matches)} could be meant"
        if not matches:
            fix = Phrase("say which one it is with {}", Setting(parameter))
        raise InputError(parameter, f"name one of the columns {_listed(names)}", None, fix)

    def giver(among: Sequence[str]) -> str | None:
        """Return the column of sources, which changes what epsilon means: taken by its name if that is asked for."""
        if source is not None:
            return one("source", source, among, need=False)
        seen = [name for name in among if plain(name) in NAMES["source"]]
        if seen:
            guesses.append(
                f"The column {seen[0]!r} may say who gave a reward; it was not used: "
                + Phrase("with {}, epsilon is a share of the sources.", Setting("source", seen[0]))
            )
        return None

    if wide is not False and wide is not None:
        if counted not in (None, False):
            raise InputError("wide", "not come with counted", wide, "a log is the one or the other")
        who = giver(names)
        when = one("time", time if who or needs_time else False, names, need=False)
        others = who, when, *(name for name in names if source is None and plain(name) in NAMES["source"])
        return Columns(source=who, time=when, arms=_arms(names, wide, others, guesses), guesses=tuple(guesses))
    values = _value_columns(names, counted, reward, guesses)
    if values:
        among = [name for name in names if name not in dict(values)]
        name = one("arm", arm, among, need=True)
        _no_sources(source)
        return Columns(arm=name, values=values, guesses=tuple(guesses))
    if counted not in (None, False):
        asked = None if counted is True else counted
        count = one("count", asked, names, need=True)
        among = [name for name in names if name != count]
        _no_sources(source)
        which = one("arm", arm, among, need=True), one("reward", reward, among, need=True)
        return Columns(arm=which[0], reward=which[1], count=count, guesses=tuple(guesses))
    first = one("arm", arm, names, need=True)
    second = one("reward", reward, [name for name in names if name != first], need=True)
    rest = [name for name in names if name not in (first, second)]
    often = [name for name in rest if plain(name) in NAMES["count"]] if counted is None else []
    if len(often) == 1 and plain(often[0]) in _SURE_COUNTS and source in (None, False) and not time:
        guesses.append(f"The column {often[0]!r} was taken for how often a row occurs, by its name.")
        return Columns(arm=first, reward=second, count=often[0], guesses=tuple(guesses))
    guesses += [
        f"The column {name!r} may say how often a row occurs; it was not used: "
        + Phrase("with {} it is.", Setting("counted", name))
        for name in often
    ]
    who = giver(rest)
    when = one("time", time if who or needs_time or time else False, rest, need=False)
    found = Columns(first, second, who, when, guesses=tuple(guesses))
    _distinct(found)
    return found


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


def _value_columns(
    names: Sequence[str], counted: object, reward: object, guesses: list[str]
) -> tuple[tuple[str, float], ...]:
    if isinstance(counted, Mapping):
        found = [(_named("counted", name, names), number(value)) for name, value in counted.items()]
        for name, value in found:
            if not abs(value) < 1e300:
                raise InputError("counted", "give the value that each column counts", counted, f"{name!r} has none")
        if not found:
            raise InputError("counted", "name at least one column", counted, 'such as {"funny": 3}')
        return tuple(found)
    if counted is False or isinstance(counted, str) or reward is not None:
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


def _distinct(columns: Columns) -> None:
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
