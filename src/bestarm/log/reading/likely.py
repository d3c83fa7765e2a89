"""Which columns may say who gave a reward, and when: by their names, and where no name says it by what is in them.

Only inspection, and comparing within days, rest on such a guess; the verdict on sources never does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bestarm.log.names import plain, words_of
from bestarm.log.reading.contents import Content, Contents


def listed(words: str) -> list[str]:
    """Return the words of a text."""
    return words.split()


# The first name that a column has is taken.
_WHO = listed(
    "user userid uid visitor visitorid voter voterid rater raterid reviewer reviewerid customer customerid "
    "account accountid member memberid participant participantid respondent respondentid annotator annotatorid "
    "worker workerid player playerid client clientid device deviceid cookie cookieid anonymousid uuid email "
    "emailaddress ipaddress ip session sessionid source"
)
_PERSONS = frozenset(
    listed(
        "user visitor voter rater reviewer customer account member participant respondent annotator worker player "
        "client device cookie email ip session fingerprint guest subscriber buyer shopper patient student pupil "
        "learner person contact recipient household panelist panellist tester login username nickname browserid "
        "listener reader viewer phone imei idfa gaid kunde nutzer benutzer besucher teilnehmer utilisateur usuario"
    )
)
# Words beside a person that still name the person: user_hash, hashed_user_key.
_KEYS = frozenset(listed("id ids uid uuid guid key hash hashed name anon anonymous anonymized anonymised md5 sha256"))
# A number of something for each person names nobody: visits_per_user.
_MEASURES = frozenset(listed("per number num nb count total avg mean is has new returning"))
# Texts that look like a number of a person, in a column of these, are of something else.
_THINGS = frozenset(
    listed(
        "event request order item product article page post url link message transaction trace span row record image "
        "video asset file commit build query question task example sample document doc prompt impression response "
        "content campaign ad creative experiment insert log hit visit view click"
    )
)

_WHEN = listed(
    "timestamp eventtime eventtimestamp datetime createdat occurredat receivedat loggedat visitedat votedat "
    "submittedat ratedat time ts when at date day visitdate eventdate dt week weeknumber month period"
)
# The last word of a column with a time, unless a word says that it is another one than that of the reward.
_LAST_WORDS = ("timestamp", "datetime", "at", "ts", "date", "day")
_OTHER_TIMES = {"birth", "due", "end", "expiry", "expires", "signup", "registration", "registered", "updated", "first"}
# Times that may depend on what came of it, or say nothing of when; they are not taken for what is in them either.
_LATER = {
    *("birth", "birthday", "born", "dob", "due", "end", "ended", "expiry", "expires", "updated", "modified", "last"),
    *("seen", "closed", "completed", "finished", "delivered", "paid", "cancelled", "canceled", "churn", "churned"),
    *("returned", "resolved", "exported", "loaded", "ingested"),
}
_TIME_WORDS = {"epoch", "unix", "unixtime", "posix", "time", "ts", "utc", "ms", "millis", "timestamp", "at", "date"}
EPOCHS = ((3e8, 4.1e9, 1.0), (3e11, 4.1e12, 1e-3), (3e14, 4.1e15, 1e-6))  # seconds, milliseconds, microseconds

_MANY = 5  # rows of a day, at least, where days are plain numbers
_NEARLY_ALL = 0.99  # of the cells that were seen


def likely_who(names: Sequence[str], contents: Contents | None) -> str | None:
    """Return the column that may say who gave a reward.

    >>> [likely_who([name], None) for name in ("anonymous_user_id", "user_hash", "fingerprint", "visits_per_user")]
    ['anonymous_user_id', 'user_hash', 'fingerprint', None]
    """
    named = by_names(_WHO, names)
    named += [name for name in names if name not in named and _is_person(name)]
    if contents is None:
        return next(iter(named), None)
    seen = contents.of(names)
    several = [name for name in named if not seen[name].has_kinds]
    return next((name for name in (*several, *_numbers_of_persons(names, seen))), next(iter(named), None))


def _is_person(name: str) -> bool:
    """Tell whether a name has a person in it, and a word for a key or nothing behind it."""
    words = words_of(name)
    rest = [word for word in words if word not in _KEYS]
    return bool(rest) and rest[-1] in _PERSONS and not _MEASURES & set(words)


def _numbers_of_persons(names: Sequence[str], seen: Mapping[str, Content]) -> list[str]:
    """Return the columns of e-mail addresses, IP addresses or long numbers in hexadecimal, that number nothing else."""
    return [
        name
        for name in names
        if seen[name].cells
        and seen[name].opaque >= _NEARLY_ALL * seen[name].cells
        and not seen[name].has_kinds
        and not _THINGS & set(words_of(name))
        and plain(name) not in ("id", "guid")
    ]


def likely_when(names: Sequence[str], contents: Contents | None) -> str | None:
    """Return the column that may say when a reward was given.

    >>> [likely_when(names, None) for names in (["birth_date", "eval_date"], ["clickedAt"], ["format"], ["Day"])]
    ['eval_date', 'clickedAt', None, 'Day']
    """
    named = by_names(_WHEN, names)
    words = {name: words_of(name) for name in names}
    likely = [name for name in names if len(words[name]) > 1 and not _OTHER_TIMES & set(words[name])]
    named += [name for each in _LAST_WORDS for name in likely if words[name][-1] == each and name not in named]
    if contents is None:
        return next(iter(named), None)
    seen = contents.of(names)
    filled = _NEARLY_ALL * max((seen[name].cells for name in names), default=0)
    found = [name for name in named if seen[name].cells and _are_times(seen[name])]
    found += [
        name
        for name in names
        if seen[name].cells >= max(filled, 1)
        and not is_later(name)
        and (
            _are_dates(seen[name])
            or _are_plain_dates(seen[name])
            or (_TIME_WORDS & set(words[name]) and _are_epochs(seen[name]))
        )
    ]
    return next(iter([*found, *named]), None)  # if it cannot be read, that is said


def is_later(name: str) -> bool:
    """Tell whether a name says that a time may depend on what came of it, or has nothing to do with it.

    >>> [is_later(name) for name in ("last_seen", "birth_date", "logged")]
    [True, True, False]
    """
    return bool(_LATER & set(words_of(name)))


def _are_dates(content: Content) -> bool:
    return content.dates >= _NEARLY_ALL * content.cells


def _are_times(content: Content) -> bool:
    """Tell whether cells are dates or numbers."""
    return content.dates + content.rewards - content.words >= _NEARLY_ALL * content.cells


def _are_plain_dates(content: Content) -> bool:
    """Tell whether cells are numbers like 20240531, each many times.

    >>> [_are_plain_dates(Content(900, 9, 900, lowest=low, highest=20240531)) for low in (20240502, 20247502)]
    [True, False]
    """
    if content.rewards < content.cells or content.cells < _MANY * content.different:
        return False
    ends = (content.lowest or 0.0, content.highest or 0.0)
    return all(1990 <= end // 10_000 < 2100 and 1 <= end // 100 % 100 <= 12 and 1 <= end % 100 <= 31 for end in ends)


def _are_epochs(content: Content) -> bool:
    """Tell whether all cells are numbers of seconds, or parts of seconds, since 1970 and in this century."""
    if content.rewards < content.cells or content.lowest is None or content.highest is None:
        return False
    return any(9e8 / scale <= content.lowest and content.highest <= high for _, high, scale in EPOCHS)


def by_names(wanted: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns with a name of a list, the first of it first: as a whole, or an identifier at its end.

    >>> by_names(["user", "userid"], ["paid", "anonymous_user_id", "User"])
    ['User', 'anonymous_user_id']
    """
    known = {plain(name): name for name in reversed(names)}
    longer = (
        name for each in wanted if len(each) > 3 and each.endswith("id") for name in names if plain(name).endswith(each)
    )
    return list(dict.fromkeys([*(known[each] for each in wanted if each in known), *longer]))
