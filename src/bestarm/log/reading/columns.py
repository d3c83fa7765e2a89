"""Step 2 of reading a log: which column is what, as the user says, or by its name and content; guesses are reported.

What is not clear is asked, with calls to paste.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bestarm.errors import InputError, UnclearError
from bestarm.log.names import clarity, is_known, plain, tier_of, words_of
from bestarm.log.spec import LogSpec
from bestarm.phrases import Call, Phrase, Setting
from bestarm.validation import number

if TYPE_CHECKING:
    from bestarm.log.reading.contents import Contents

_MOST_CALLS = 4  # that are offered to paste
_SIDES = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("x", "y"))  # of a battle
_WINNERS = ("winner", "won", "win", "preference", "preferred", "verdict", "judgment", "judgement", "vote", "result")
_SURE_COUNTS = ("count", "counts", "n", "frequency")
_KINDS = ("source", "device")  # may be who gave a reward, or where from: the web, a newsletter
_INDEX = ("", "unnamed0", "index", "row", "id")  # names of columns that number the rows; they are no arms
_CONTESTS = (  # the New Yorker's caption contests, old and new layout
    {"unfunny": 1.0, "somewhat_funny": 2.0, "funny": 3.0},
    {"not_funny": 1.0, "somewhat_funny": 2.0, "funny": 3.0},
)


def may_be_source(name: str) -> str:
    """Return that a column may say who gave a reward, and what it takes to count by it."""
    rest = Phrase("with {}, fake sources are counted and not fake rows.", Setting("source", name))
    return f"The column {name!r} may say who gave a reward; the verdict does not use it: " + rest


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
    successes, visits : str, optional
        The columns of a table that count an arm's successes, and its visits with or without success (a counted log).
    guesses : tuple of str
        What was guessed, a sentence each.
    per : str, optional
        The column of what rewards are a share of, such as impressions.
    """

    arm: str | None = None
    reward: str | None = None
    source: str | None = None
    time: str | None = None
    count: str | None = None
    arms: tuple[str, ...] = ()
    values: tuple[tuple[str, float], ...] = ()
    successes: str | None = None
    visits: str | None = None
    guesses: tuple[str, ...] = ()
    per: str | None = None

    @property
    def layout(self) -> str:
        """What a row is: "long", "wide" or "counted"."""
        return "wide" if self.arms else "counted" if self.count or self.values or self.visits else "long"

    @property
    def used(self) -> tuple[str, ...]:
        """The names of all columns that are used."""
        single = (self.arm, self.reward, self.source, self.time, self.count, self.successes, self.visits, self.per)
        return (*(name for name in single if name is not None), *self.arms, *(name for name, _ in self.values))


def is_header(cells: Sequence[str], wanted: Sequence[str]) -> bool:
    """Tell whether the first row of a file names columns: it has a name asked for or known, or no numbers."""
    asked = {name.strip().casefold() for name in wanted}
    if any(cell.casefold() in asked or is_known(cell) for cell in cells):
        return True
    return not any(_as_number(cell) is not None for cell in cells)


@dataclass(frozen=True)
class _Candidates:
    """The columns that could be meant, the likeliest first, and why the only one is taken; no reason: it is asked."""

    names: tuple[str, ...]
    reason: str = ""


def choose(
    names: Sequence[str], spec: LogSpec, contents: Contents, *, is_headed: bool = True, data: str = "data"
) -> LogColumns:
    """Return which column is what, or ask if that is not clear; `data` is what a call to paste is about."""
    return _Choice(names, spec, contents, is_headed, data).columns()


class _Choice:
    """The choice of the columns of a log, with what was guessed."""

    def __init__(self, names: Sequence[str], spec: LogSpec, contents: Contents, is_headed: bool, data: str) -> None:
        self._names, self._spec, self._contents = names, spec, contents
        self._is_headed, self._data = is_headed, data
        self._guesses: list[str] = []

    def columns(self) -> LogColumns:
        """Return the columns."""
        spec = self._spec
        if spec.successes is not None or spec.visits is not None:
            found = self._aggregated()
        elif spec.wide is not False and spec.wide is not None:
            found = self._wide()
        elif values := _value_columns(self._names, spec, self._guesses):
            arm = self._arm([name for name in self._names if name not in dict(values)])
            _no_sources(spec.source)
            found = LogColumns(arm=arm, values=values)
        elif spec.counted not in (None, False):
            found = self._counted()
        else:
            found = self._long()
        if spec.per is not None:
            found = self._with_per(found)
        return replace(found, guesses=tuple(self._guesses))

    def _aggregated(self) -> LogColumns:
        """Return the columns of a table of successes and visits."""
        spec = self._spec
        for parameter, other in (("successes", "visits"), ("visits", "successes")):
            if getattr(spec, other) is None:
                fix = "both are needed to count who did not succeed"
                raise InputError(parameter, Phrase("come with {}", Setting(other)), getattr(spec, parameter), fix)
        for parameter in ("reward", "counted", "wide", "source"):
            value = getattr(spec, parameter)
            if value is not None and not isinstance(value, bool):
                fix = "a table of successes and visits has no rewards of its own, and does not say who gave them"
                raise InputError(parameter, Phrase("not come with {}", Setting("successes")), value, fix)
        successes = _named("successes", spec.successes, self._names)
        visits = _named("visits", spec.visits, self._names)
        if successes == visits:
            raise InputError("visits", "be another column than successes", visits, "a column is one thing only")
        arm = self._arm([name for name in self._names if name not in (successes, visits)])
        return LogColumns(arm=arm, successes=successes, visits=visits)

    def _ask_for_aggregates(self) -> None:
        """Ask whether rows count successes and visits, if their names say so: such a table looks like a log of rows."""
        spec = self._spec
        if spec.reward is not None or spec.counted is not None or spec.per is not None:
            return
        successes = [name for name in self._names if _means(name, "successes")]
        visits = [name for name in self._names if _means(name, "visits") and name not in successes]
        if len(successes) != 1 or len(visits) != 1:
            return
        seen = self._contents.of([successes[0], visits[0]])
        some, all_ = seen[successes[0]], seen[visits[0]]
        if not (some.may_be_reward and all_.may_be_reward and (all_.highest or 0.0) > 1.0):
            return
        if (some.is_binary and some.words) or (some.highest or 0.0) > (all_.highest or 0.0):
            return
        arms = self._candidates("arm", [name for name in self._names if name not in (*successes, *visits)])
        arm = (Setting("arm", arms.names[0]),) if len(arms.names) == 1 else ()
        both = (*arm, Setting("successes", successes[0]), Setting("visits", visits[0]))
        one = (*arm, Setting("reward", successes[0]))
        question = f"A row seems to count {successes[0]!r} of {visits[0]!r}."
        choices = [
            (f"if a row is a total, of {visits[0]!r} in all", Call(both, self._data)),
            (f"if a row is a single reward, {successes[0]}", Call(one, self._data)),
        ]
        who = next(
            (name for name in self._names if name not in (*arms.names, *successes, *visits) and _means(name, "source")),
            None,
        )
        if who is not None:
            of_users = (*one, Setting("per", visits[0]), Setting("source", who))
            choices.insert(
                0, (f"if a row is what one {who!r} did: {visits[0]} of one go together", Call(of_users, self._data))
            )
        raise UnclearError("successes", question, choices)

    def _wide(self) -> LogColumns:
        spec, names = self._spec, self._names
        if spec.counted not in (None, False):
            raise InputError("wide", "not come with counted", spec.wide, "a log is the one or the other")
        source = self._source(names)
        time = self._optional("time", spec.time if source or spec.needs_time else False, names)
        others = source, time, spec.by, *(name for name in names if spec.source is None and _means(name, "source"))
        return LogColumns(source=source, time=time, arms=self._arms(others))

    def _arms(self, others: tuple[str | None, ...]) -> tuple[str, ...]:
        """Return the columns that are an arm each."""
        wide, names = self._spec.wide, self._names
        if wide is True:
            found = [name for name in names if name not in others]
            seen = self._contents.of(found)
            aside = [name for name in found if plain(name) in _INDEX or seen[name].numbers_rows]
            if aside:
                self._guesses.append(f"{_listed(aside)} was taken for numbers of rows, not for an arm.")
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

    def _counted(self) -> LogColumns:
        asked = None if self._spec.counted is True else self._spec.counted
        count = self._count(asked)
        _no_sources(self._spec.source)
        arm, reward = self._arm_and_reward([name for name in self._names if name != count], is_counted=True)
        return LogColumns(arm=arm, reward=reward, count=count)

    def _long(self) -> LogColumns:
        spec = self._spec
        self._refuse_battles()
        self._ask_for_aggregates()
        arm, reward = self._arm_and_reward([name for name in self._names if name != spec.per])
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

    def _with_per(self, found: LogColumns) -> LogColumns:
        """Return the columns with that of what rewards are a share of, where a row has a reward and a source."""
        per = _named("per", self._spec.per, self._names)
        if found.layout != "long":
            fix = "a table of totals, or a column per arm, does not say whose rewards they are"
            raise InputError("per", "come with a row per reward", per, fix)
        if per in found.used:
            raise InputError("per", "be another column than arm, reward, source and time", per, "name what is counted")
        return replace(found, per=per)

    def _source(self, among: Sequence[str]) -> str | None:
        """Return the column of sources; it changes what epsilon means, so it is guessed only if that is asked for."""
        if self._spec.source is not None:
            return self._optional("source", self._spec.source, among)
        named = [name for name in among if _means(name, "source")]
        contents = self._contents.of([name for name in named if plain(name) in _KINDS])
        likely = [name for name in named if name not in contents or not contents[name].has_kinds]
        if likely:
            self._guesses.append(may_be_source(likely[0]))
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

    def _count(self, asked: object) -> str:
        """Return the column of how often a row occurs, by its name or guessed; refuse to go on without it."""
        if asked is not None:
            return _named("count", asked, self._names)
        matches = [name for name in self._names if _means(name, "count")]
        if len(matches) == 1:
            return self._guessed("count", matches[0])
        _check_single("count", matches)
        fix = f"{_listed(matches)} could be meant" if matches else "say which one it is"
        raise InputError("count", f"name one of the columns {_listed(self._names)}", None, fix)

    # --------------------------------------------------------------------------------------------- arms and rewards

    def _arm(self, among: Sequence[str]) -> str:
        """Return the column of the arm in a table of counts."""
        arms = self._candidates("arm", among, is_counted=True)
        if not arms.reason:
            raise self._question("arm", arms.names, [(arm,) for arm in arms.names], ("arm",))
        return self._taken("arm", arms)

    def _arm_and_reward(self, among: Sequence[str], *, is_counted: bool = False) -> tuple[str, str]:
        """Return the columns of the arm and of the reward; ask if one of them is not clear."""
        given = self._spec.reward
        named = _named("reward", given, self._names) if given is not None else None
        arms = self._candidates("arm", [name for name in among if name != named], is_counted=is_counted)
        rest = [name for name in among if not arms.reason or name != arms.names[0]]
        rewards = self._candidates("reward", rest)
        if arms.reason and rewards.reason:
            return self._taken("arm", arms), self._taken("reward", rewards)
        if rewards.reason in ("asked", "by its name") and not arms.names:
            arms = _Candidates(self._numbered_arms([name for name in among if name != rewards.names[0]]))
        pairs = [(arm, reward) for reward in rewards.names for arm in arms.names if arm != reward]
        parameter = "arm" if not arms.reason else "reward"
        several = arms.names if not arms.reason else rewards.names
        raise self._question(parameter, several, pairs, ("arm", "reward"))

    def _candidates(self, parameter: str, among: Sequence[str], *, is_counted: bool = False) -> _Candidates:
        """Return the columns that may be the arm, or the reward."""
        asked = getattr(self._spec, parameter)
        if asked is not None:
            return _Candidates((_named(parameter, asked, self._names),), "asked")
        if not self._is_headed and len(self._names) == 2:
            return _Candidates((self._names[0 if parameter == "arm" else 1],), "no header")
        clear = {name: clearness for name in among if (clearness := clarity(name, parameter))}
        fitting = self._fitting(parameter, list(clear), is_counted)
        if not fitting:
            fitting = list(clear) if len(clear) == 1 else []  # its cells are refused one by one, with their lines
        if fitting:
            return self._clearest(parameter, fitting, clear)
        return self._by_content(parameter, among)

    def _fitting(self, parameter: str, names: Sequence[str], is_counted: bool) -> list[str]:
        """Return the columns whose content does not contradict their names."""
        seen = self._contents.of(names)
        if parameter == "reward":
            return [name for name in names if seen[name].may_be_reward]
        return [name for name in names if is_counted or seen[name].may_be_arm]

    def _clearest(self, parameter: str, names: Sequence[str], clear: Mapping[str, int]) -> _Candidates:
        """Return the columns with the clearest names; of arms one, of rewards all of the same list of names."""
        by_list = parameter == "reward"  # revenue and is_converted are both good names, and the answers differ
        ranks = {name: tier_of(clear[name]) if by_list else clear[name] for name in names}
        best = [name for name in names if ranks[name] == max(ranks.values())]
        _check_single(parameter, [name for name in self._names if name in best])
        if len(best) > 1:
            seen = self._contents.of(best)
            best = [name for name in best if seen[name].different > 1] or best
        if parameter == "arm" and len(best) > 1:
            best = [name for name in best if seen[name].is_text] or best
        return _Candidates(tuple(best), "by its name" if len(best) == 1 else "")

    def _by_content(self, parameter: str, among: Sequence[str]) -> _Candidates:
        """Return the columns that look like arms, or rewards, though their names say nothing."""
        free = [name for name in among if not self._is_something_else(name, parameter)]
        seen = self._contents.of(free)
        if parameter == "arm":
            likely = [name for name in free if seen[name].looks_like_arm]
            possible = [name for name in free if seen[name].is_text and seen[name].may_be_arm]
            reason = "as the only one left with few different texts"
        else:
            likely = [name for name in free if seen[name].looks_like_reward]
            possible = [name for name in free if seen[name].cells and seen[name].may_be_reward]
            reason = "as the only one with two values, 0 and 1 or yes and no"
        return _Candidates(tuple(likely or possible), reason if len(likely) == 1 else "")

    def _numbered_arms(self, among: Sequence[str]) -> tuple[str, ...]:
        """Return the columns whose numbers may be those of arms, where no column has names of arms: 1.9 and 1.10."""
        others = ("source", "time", "reward")
        free = [name for name in among if plain(name) not in _INDEX and not any(_means(name, what) for what in others)]
        seen = self._contents.of(free)
        return tuple(name for name in free if seen[name].different > 1 and seen[name].may_be_arm)

    def _is_something_else(self, name: str, parameter: str) -> bool:
        """Tell whether a name says that a column is neither an arm nor a reward, but who, when or a number of a row."""
        others = {"source", "time", "arm", "reward"} - {parameter}
        words = words_of(name)
        is_number = plain(name) in _INDEX or (bool(words) and words[-1] in ("id", "uuid", "key", "number"))
        means = [other for other in others if _means(name, other)]
        if means == ["arm"]:  # time_on_page ends like a page
            return is_number or self._contents.of([name])[name].may_be_arm
        return is_number or bool(means)

    def _taken(self, parameter: str, candidates: _Candidates) -> str:
        """Return the only candidate, and say why it was taken unless the user named it."""
        (name,) = candidates.names
        if candidates.reason == "no header":
            self._guesses.append(f"There is no header; {name!r} was taken for the {parameter}.")
        elif candidates.reason != "asked":
            self._guesses.append(f"The column {name!r} was taken for the {parameter}, {candidates.reason}.")
        return name

    # ------------------------------------------------------------------------------------------------------- questions

    def _question(
        self, parameter: str, several: Sequence[str], answers: Sequence[tuple[str, ...]], parameters: tuple[str, ...]
    ) -> InputError:
        """Return the question which column is meant, with a call for each answer."""
        tests = self._tests()
        if len(tests) < len(self._names) and tests:
            wide = Call((Setting("wide", tests),), self._data)
            question = f"No column names the arms; {_all_of(tests)} have two values each, 0 and 1 or yes and no."
            return UnclearError("wide", question, [("if each of them has the rewards of one arm", wide)])
        if not answers and self._looks_wide():
            wide = Call((Setting("wide", True),), self._data)
            question = "No column names the arms, and there are numbers in all of them."
            return UnclearError("wide", question, [("if each column has the rewards of one arm", wide)])
        if not answers:
            lacking = parameter if not several or len(parameters) == 1 else "reward"
            if lacking == "reward" and (words := self._words(several)):
                question = (
                    "No column has rewards: numbers, or yes and no. "
                    f"If the words of {_either(words)} are rewards, write 1 for the good ones and 0 for the others."
                )
                return UnclearError("reward", question, ())
            fix = Phrase("say which one it is with {}", Setting(lacking))
            return InputError(lacking, f"name one of the columns {_listed(self._names)}", None, fix)
        if len(several) > 1:
            question = f"Which column has the {parameter}: {_either(several)}?"
        else:
            question = f"No name of a column says clearly which one has the {parameter}; it may be {several[0]!r}."
        settings = [tuple(map(Setting, parameters, answer)) for answer in answers[:_MOST_CALLS]]
        return UnclearError(parameter, question, [("", Call(each, self._data)) for each in settings])

    def _words(self, arms: Sequence[str]) -> list[str]:
        """Return the columns of few texts that may be words for rewards, in a log whose arm is one of some columns."""
        taken = arms if len(arms) == 1 else ()
        free = [name for name in self._names if name not in taken and not self._is_something_else(name, "reward")]
        seen = self._contents.of(free)
        return [name for name in free if seen[name].is_text and seen[name].has_kinds and seen[name].different > 1]

    def _looks_wide(self) -> bool:
        """Tell whether nothing was said of the columns, and each of them has rewards, but for sources and times."""
        if self._spec.arm is not None or self._spec.reward is not None:
            return False
        free = [name for name in self._names if not self._is_something_else(name, "reward")]
        seen = self._contents.of(free)
        return len(free) > 1 and all(seen[name].cells and seen[name].may_be_reward for name in free)

    def _tests(self) -> tuple[str, ...]:
        """Return several columns of 0 and 1, if nothing was said of the columns and no other has an arm in it."""
        if self._spec.arm is not None or self._spec.reward is not None:
            return ()
        seen = self._contents.of(self._names)
        if any(clarity(name, "arm") and seen[name].may_be_arm and not seen[name].is_binary for name in self._names):
            return ()
        found = tuple(name for name in self._names if seen[name].looks_like_reward and not clarity(name, "reward"))
        rest = [name for name in self._names if name not in found]
        return found if len(found) > 1 and not any(seen[name].looks_like_arm for name in rest) else ()

    def _refuse_battles(self) -> None:
        """Refuse a log with two arms and a winner per row: no reward in it is of one arm."""
        if self._spec.arm is not None or self._spec.reward is not None:
            return
        by_words = {tuple(words_of(name)): name for name in self._names}
        winners = [name for name in self._names if plain(name.rpartition(".")[2]) in _WINNERS]
        for words, (one, other) in itertools.product(by_words, _SIDES):
            if winners and words and words[-1] == one and (*words[:-1], other) in by_words:
                pair = f"{by_words[words]!r} and {by_words[*words[:-1], other]!r}"
                question = (
                    f"Each row looks like a battle between {pair}, decided by {winners[0]!r}. A battle has no reward "
                    "of one arm, and who is strongest depends on who met whom. If each pair met "
                    "about equally often, write two rows per battle, one for each side: its name as the arm and 1, "
                    "0.5 or 0 for a win, a tie or a defeat as the reward."
                )
                raise UnclearError("arm", question, ())

    def _guessed(self, parameter: str, name: str) -> str:
        self._guesses.append(f"The column {name!r} was taken for the {parameter}, by its name.")
        return name


def _means(name: str, parameter: str) -> bool:
    return clarity(name, parameter) > 0


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


def _check_single(parameter: str, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise InputError(parameter, "be one column", names[0], "two columns have this name; rename one of them")


def _check_distinct(columns: LogColumns) -> None:
    given = [(name, getattr(columns, name)) for name in ("arm", "reward", "source", "time")]
    for index, (parameter, name) in enumerate(given):
        for other, same in given[:index]:
            if name is not None and name == same:
                raise InputError(parameter, f"be another column than {other}", name, "a column is one thing only")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:12])
    return shown + (", ..." if len(names) > 12 else "")


def _all_of(names: Sequence[str]) -> str:
    """Return 'a', 'b' and 'c'."""
    return _either(names).replace(" or ", " and ") if len(names) <= 12 else _listed(names)


def _either(names: Sequence[str]) -> str:
    """Return 'a', 'b' or 'c'."""
    *before, last = [repr(name) for name in names[:12]]
    return f"{', '.join(before)} or {last}" if before else last


def _as_number(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None
