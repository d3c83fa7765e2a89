"""What the names of columns say: which may hold the arm, the reward, who, when and how often.

A name counts as a whole (`voter_id`), without words that say nothing (`variant_name`, `is_converted`), or by its last
word (`checkout_variant`). Names of the first list of a kind are clearer than those of the second, and so on.
"""

from __future__ import annotations

import re


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ARMS = (
    "arm variant variation treatment experimentgroup experimentarm experimentvariant testgroup abgroup abvariant "
    "abtest bucket",
    "banner headline caption prompt model candidate option design choice alternative creative subjectline layout "
    "template strategy algorithm ranker system server condition version engine provider llm recipe",
    "group page landingpage region campaign product item cohort ad image button channel plan",
)
_REWARDS = (
    "reward",
    "converted conversion clicked click purchased purchase bought ordered subscribed signedup signup success succeeded "
    "successful win won score rating stars star revenue profit sales income outcome vote grade thumb thumbs thumbsup "
    "liked feedback donation donations donated correct passed solved opened clicks",
    "value points label amount spend latency duration cost costs error errors loss wait bounce bounced churn churned "
    "refund refunded delay elapsed runtime responsetime loadtime ttfb",
)
_SUCCESSES = (
    "successes conversions clicks purchases orders signups sales wins buys downloads opens replies subscriptions "
    "converted clicked purchased bought opened ordered subscribed converters buyers subscribers openers",
)
_VISITS = (
    "visits visitors impressions views pageviews sessions users trials participants exposures sent delivered requests "
    "attempts shown opportunities visit total n",
)
_SOURCES = (
    "source voter voterid user userid rater raterid reviewer reviewerid visitor visitorid customer customerid member "
    "memberid player playerid client clientid account accountid device deviceid",
)
_TIMES = ("time timestamp datetime date createdat ts when",)
_COUNTS = ("count counts n number votes frequency times",)
NAMES = {
    what: tuple(map(_set, tiers))
    for what, tiers in {
        "arm": _ARMS,
        "reward": _REWARDS,
        "successes": _SUCCESSES,
        "visits": _VISITS,
        "source": _SOURCES,
        "time": _TIMES,
        "count": _COUNTS,
    }.items()
}
_BY_WORDS = ("arm", "reward", "successes", "visits")  # kinds whose names may have other words around them
_BEFORE = _set("is has did was the my new user assigned shown ab test num nb number total event")
_AFTER = {
    "arm": _set("name id key label code shown assigned"),
    "reward": _set("flag value amount ms s sec secs seconds usd eur gbp bool binary yn given"),
    "successes": _set("count total"),
    "visits": _set("count total"),
}
_LOWER = _set(
    "latency duration cost costs error errors loss losses wait waiting bounce bounces bounced churn churned refund "
    "refunds refunded delay delays elapsed runtime downtime ttfb defect defects complaint complaints"
)
_LOWER_PHRASES = ("time to", "response time", "load time", "loading time", "processing time", "waiting time")
_NOT_LOWER = _set("win wins saved savings saving")  # winloss, cost_saved
_RATES = _set("rate rates ratio pct percent percentage ctr cvr cr share")


def words_of(name: str) -> list[str]:
    """Return the words of a name in small letters.

    >>> words_of("isConverted"), words_of("event.user-Rating"), words_of("latency_ms")
    (['is', 'converted'], ['event', 'user', 'rating'], ['latency', 'ms'])
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W_]+", spaced.casefold())


def plain(name: str) -> str:
    """Return a name in small letters and digits only: Voter_ID is voterid."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def clarity(name: str, what: str) -> int:
    """Return how clearly a name says what a column is: 0 for not at all, more for the clearer of two names.

    >>> [clarity(name, "arm") for name in ("variant", "variant_name", "banner", "region", "country")]
    [12, 11, 9, 6, 0]
    >>> [clarity(name, "reward") for name in ("reward", "is_converted", "order_value", "conversion_rate")]
    [12, 8, 4, 0]
    """
    forms = _forms(name, what)
    found = 0
    for tier, names in enumerate(NAMES[what]):
        for sureness, form in forms:
            if form in names:
                found = max(found, 3 * (3 - tier) + sureness)
    return found


def _forms(name: str, what: str) -> list[tuple[int, str]]:
    """Return the texts by which a name is looked up, with how sure each is: whole, bare, or the last word."""
    last_key = name.rpartition(".")[2]
    forms = [(3, plain(name)), (3, plain(last_key))]
    words = words_of(name)
    if what not in _BY_WORDS or not words or _RATES & set(words):
        return forms if not _RATES & set(words) else []
    bare = words
    while len(bare) > 1 and bare[-1] in _AFTER[what]:
        bare = bare[:-1]
    lasts = {words[-1], bare[-1]}
    while len(bare) > 1 and bare[0] in _BEFORE:
        bare = bare[1:]
    return [*forms, (2, "".join(bare)), *((1, last) for last in lasts)]


def tier_of(clearness: int) -> int:
    """Return which list of names a clarity comes from: the larger, the clearer."""
    return (clearness - 1) // 3


def is_known(name: str) -> bool:
    """Tell whether a whole name is in any of the lists."""
    return any(plain(name) in names for tiers in NAMES.values() for names in tiers)


def sounds_lower_is_better(name: str) -> bool:
    """Tell whether a name may mean that a lower value is better.

    >>> [sounds_lower_is_better(name) for name in ("latency_ms", "time_to_first_byte", "loss", "time_on_page")]
    [True, True, True, False]
    """
    words = words_of(name)
    text = " ".join(words)
    if _NOT_LOWER & set(words):
        return False
    return bool(_LOWER & set(words)) or any(each in text for each in _LOWER_PHRASES)
