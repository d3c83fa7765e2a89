"""The words for what a log measures, by the names of its columns: visits that convert, stars that ratings give."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from bestarm.identification.wording.text import counted

# The last part of a reward column's name: what is said of the best arm if rewards are 0 or 1, and what a row is.
_RATES = {
    "converted": ("converts best", "visit"),
    "conversion": ("converts best", "visit"),
    "conversions": ("converts best", "visit"),
    "convert": ("converts best", "visit"),
    "clicked": ("is clicked most often", "visit"),
    "click": ("is clicked most often", "visit"),
    "clicks": ("is clicked most often", "visit"),
    "purchased": ("sells best", "visit"),
    "purchase": ("sells best", "visit"),
    "bought": ("sells best", "visit"),
    "opened": ("is opened most often", "message"),
    "open": ("is opened most often", "message"),
    "signup": ("gets the most sign-ups per visit", "visit"),
    "signedup": ("gets the most sign-ups per visit", "visit"),
    "registered": ("gets the most registrations per visit", "visit"),
    "subscribed": ("gets the most subscriptions per visit", "visit"),
    "completed": ("is completed most often", "try"),
    "success": ("succeeds most often", "try"),
    "successes": ("succeeds most often", "try"),
    "solved": ("solves the most", "try"),
    "passed": ("passes most often", "try"),
    "correct": ("is right most often", "answer"),
    "won": ("wins most often", "game"),
    "win": ("wins most often", "game"),
    "vote": ("gets the best votes", "vote"),
    "thumb": ("gets the most thumbs up", "rating"),
    "thumbs": ("gets the most thumbs up", "rating"),
    "feedback": ("gets the best feedback", "rating"),
    "liked": ("is liked most", "rating"),
    "rating": ("gets the best ratings", "rating"),
}
_ROWS = {
    "vote": "vote",
    "votes": "vote",
    "star": "rating",
    "stars": "rating",
    "rating": "rating",
    "score": "score",
    "grade": "grade",
    "revenue": "row",  # an order, or a visitor who bought nothing
    "latency": "request",
    "latencyms": "request",
    "ms": "request",
    "duration": "request",
}
_SOURCES = {
    "user": "user",
    "uid": "user",
    "voter": "voter",
    "visitor": "visitor",
    "rater": "rater",
    "reviewer": "reviewer",
    "account": "account",
    "device": "device",
    "customer": "customer",
    "session": "session",
    "worker": "worker",
    "ip": "IP",
    "username": "user",
    "member": "member",
    "participant": "participant",
    "respondent": "respondent",
    "subscriber": "subscriber",
    "guest": "guest",
    "player": "player",
    "student": "student",
    "patient": "patient",
}
_PLURALS = {"try": "tries"}
_MOST_MORE = 2  # decimals that are added so that two means and their uplift agree


@dataclass(frozen=True)
class Metric:
    """What a log measures.

    Attributes
    ----------
    arm, reward : str
        Names of the columns; a column per arm, and counts, have none.
    source : str
        Name of the column of sources, given or guessed; empty if there is none.
    is_rate : bool
        Whether every reward is 0 or 1, so that a mean is a rate.
    visits : str
        Name of the column that counts the rows of an aggregated table, such as impressions; empty if there is none.
    per : str
        Name of the column of the whole that rewards are a part of, such as impressions; empty if there is none.
    per_source : str
        What the rewards of a source for an arm became: "mean", "sum"; empty if that was not said.

    Examples
    --------
    >>> metric = Metric("variant", "converted", is_rate=True)
    >>> metric.best(), metric.rows(80_000), metric.compared(0.06, 0.052)
    ('converts best', '80,000 visits', ('6.0 %', '5.2 %'))
    >>> Metric("caption", "stars").best()
    'has the highest mean stars'
    """

    arm: str = ""
    reward: str = ""
    source: str = ""
    is_rate: bool = False
    visits: str = ""
    per: str = ""
    per_source: str = ""

    def best(self, lower_is_better: bool = False) -> str:
        """Return what is said of the best arm.

        >>> Metric(reward="clicks", per="impressions").best()
        'has the highest ratio of clicks to impressions'
        >>> Metric(reward="stars", per_source="mean").best()
        'has the highest mean stars, each source counted by its mean'
        """
        which = "lowest" if lower_is_better else "highest"
        if self.per:
            return f"has the {which} ratio of {self.reward} to {self.per}"
        if self.per_source == "any":
            return f"has the {which} share of {self.units_word} with any {self.reward or 'reward of 1'}"
        if self.per_source == "sum":
            return f"has the {which} total {self.reward or 'reward'} per {self.source_word}"
        return f"{self._best_reward(lower_is_better)}{self._counted_by}"

    @property
    def _counted_by(self) -> str:
        how = {"mean": "mean", "last": "last reward"}.get(self.per_source)
        return "" if how is None else f", each {self.source_word} counted by its {how}"

    @property
    def of_rows(self) -> Metric:
        """The same of single rows: of a ratio they are no shares.

        >>> Metric(reward="clicks", is_rate=True, per="impressions").of_rows
        Metric(arm='', reward='clicks', source='', is_rate=False, visits='', per='', per_source='')
        """
        return replace(self, is_rate=self.is_rate and not self.per, per="", per_source="")

    @property
    def compared_by(self) -> str:
        """What two arms are compared by.

        >>> Metric(reward="bought", is_rate=True).compared_by
        'bought rate'
        >>> Metric(reward="spent", source="user", per_source="sum").compared_by
        'total spent per user'
        """
        if self.per:
            return f"the ratio of {self.reward} to {self.per}"
        if self.per_source == "any":
            return f"the share of {self.units_word} with any {self.reward or 'reward of 1'}"
        if self.per_source == "sum":
            return f"total {self.reward or 'reward'} per {self.source_word}"
        return f"{self.measure}{self._counted_by}"

    def _best_reward(self, lower_is_better: bool) -> str:
        said = _rate(self.reward)
        if self.is_rate and said is not None and not lower_is_better:
            return said[0]
        return f"has the {'lowest' if lower_is_better else 'highest'} {self.measure}"

    @property
    def measure(self) -> str:
        """What the mean of an arm is.

        >>> Metric(reward="retained", is_rate=True).measure, Metric(reward="stars").measure
        ('retained rate', 'mean stars')
        """
        if self.is_rate:
            return f"{self.reward} rate".strip()
        return f"mean {self.reward or 'reward'}"

    @property
    def row(self) -> str:
        """What a row is: a visit, a vote, a rating."""
        last, counted_as = _last(self.reward), _last(self.visits)
        if len(counted_as) > 3 and counted_as.isalpha() and counted_as.endswith("s"):
            return counted_as[:-1]
        said = _rate(self.reward)
        if self.is_rate and said is not None:
            return said[1]
        return _ROWS.get(last, "reward")

    @property
    def rows_word(self) -> str:
        """What several rows are."""
        return _PLURALS.get(self.row, f"{self.row}s")

    def rows(self, number: int) -> str:
        """Return a number of rows in words."""
        return f"{number:,} {self.row if number == 1 else self.rows_word}"

    @property
    def source_word(self) -> str:
        """What a source is: a user, a voter."""
        return next((_SOURCES[part] for part in _parts(self.source) if part in _SOURCES), "source")

    def sources(self, number: int) -> str:
        """Return a number of sources in words."""
        return counted(number, self.source_word)

    @property
    def counts_sources(self) -> bool:
        """Whether what is compared is one number per source and arm that is made of all its rewards."""
        return bool(self.per) or self.per_source in ("last", "mean", "sum", "any")

    @property
    def units_word(self) -> str:
        """What is counted: sources, where each has one number, or else rows."""
        return f"{self.source_word}s" if self.counts_sources else self.rows_word

    def units(self, number: int) -> str:
        """Return a number of what is counted in words."""
        return self.sources(number) if self.counts_sources else self.rows(number)

    def up_to(self, cap: float | None) -> str:
        """Return how much counts at most, as a part of a sentence; empty if there is no cap.

        >>> Metric(reward="revenue").up_to(200.0), Metric(reward="clicks", source="user", per="impressions").up_to(40.0)
        (', counted up to 200 per row', ', counting at most 40 impressions per user')
        """
        if cap is None:
            return ""
        if self.per:
            return f", counting at most {cap:,.6g} {self.per} per {self.source_word}"
        return f", counted up to {cap:,.6g} per {self.source_word if self.counts_sources else self.row}"

    def capped(self, number: int, cap: float | None) -> str:
        """Return how many are above the cap, as a part of a sentence; empty if none."""
        if cap is None or not number:
            return ""
        if self.per:
            return f"; {self.sources(number)} {'has' if number == 1 else 'have'} more"
        return f"; {self.units(number)} {'is' if number == 1 else 'are'} above {cap:,.6g}"

    @property
    def arm_word(self) -> str:
        """What an arm is: the name of the column if that is a word, else "arm"."""
        name = self.arm.strip().lower()
        return name if name.isascii() and name.isalpha() and 2 < len(name) < 16 else "arm"

    def compared(self, one: float, other: float) -> tuple[str, str]:
        """Return two means with as many decimals as tell them apart, as percentages if they are rates.

        Whoever divides them by each other finds the uplift that is printed beside them.
        """
        scale = 100.0 if self.is_rate else 1.0
        least = _decimals(one, other, scale)
        agree = (
            decimals
            for decimals in range(least, least + _MOST_MORE)
            if _same_uplift(uplift(round(scale * one, decimals), round(scale * other, decimals)), uplift(one, other))
        )
        decimals = next(agree, least + _MOST_MORE)
        if self.is_rate:
            return f"{100.0 * one:.{decimals}f} %", f"{100.0 * other:.{decimals}f} %"
        return f"{one:,.{decimals}f}", f"{other:,.{decimals}f}"

    def lead(self, size: float) -> str:
        """Return the size of a lead: in points if means are rates.

        >>> Metric(is_rate=True).lead(0.0123), Metric(reward="stars").lead(0.5)
        ('1.2 points', '0.5')
        """
        if not self.is_rate:
            return f"{size:.2g}"
        points = f"{100.0 * size:.2g}"
        return f"{points} point{'' if points == '1' else 's'}"


def uplift(one: float, other: float) -> str:
    """Return by how much a mean is higher than another in percent; nothing where that means little.

    >>> uplift(0.06, 0.052), uplift(0.0, 1.0), uplift(1.0, 0.0)
    (' (+15 %)', ' (-100 %)', '')
    """
    if not (other > 0.0 and one >= 0.0 and math.isfinite(one / other)):
        return ""
    size = 100.0 * (one / other - 1.0)
    if abs(size) >= 1000.0:
        return f" ({one / other:,.0f} times)"
    return f" ({size:+.{0 if abs(size) >= 9.95 else 1}f} %)"


def _same_uplift(one: str, other: str) -> bool:
    """Tell whether two uplifts are the same for a reader.

    They are equal, or differ by one in their last digit if that is a decimal or the third digit.

    >>> _same_uplift(" (+26 %)", " (+25 %)"), _same_uplift(" (+4.7 %)", " (+4.8 %)")
    (False, True)
    """
    if one == other or not (one.endswith("%)") and other.endswith("%)")):
        return one == other
    size, true = float(one[2:-3]), float(other[2:-3])
    last = 0.1 if abs(true) < 9.95 else 1.0 if abs(true) >= 100.0 else 0.0
    return abs(size - true) < 1.5 * last


def _decimals(one: float, other: float, scale: float) -> int:
    """Return the decimals that show the difference of two numbers to a half or better, and three digits of them."""
    gap, size = abs(one - other) * scale, max(abs(one), abs(other)) * scale
    by_size = 2 - math.floor(math.log10(size)) if size > 0.0 else 1
    by_gap = -math.floor(math.log10(gap / 2.0)) if gap > 0.0 else 0
    least = 1 if scale > 1.0 else max(by_size, 0)
    return min(max(min(max(by_gap, 0), by_size + 2), least), 8)


def _parts(name: str) -> list[str]:
    """Return the parts of a column's name: user_id is user, id.

    >>> _parts("User ID"), _parts("isConverted"), _parts("latency_ms")
    (['user', 'id'], ['is', 'converted'], ['latency', 'ms'])
    """
    spaced = "".join(
        f" {letter}" if letter.isupper() and index and name[index - 1].islower() else letter
        for index, letter in enumerate(name)
    )
    return "".join(letter if letter.isalnum() else " " for letter in spaced.casefold()).split()


def _rate(name: str) -> tuple[str, str] | None:
    """Return what is said of the best arm, and what a row is, by the last part of a name or the last two.

    >>> _rate("has_clicked"), _rate("signed_up"), _rate("retained")
    (('is clicked most often', 'visit'), ('gets the most sign-ups per visit', 'visit'), None)
    """
    parts = _parts(name)
    return _RATES.get("".join(parts[-1:])) or _RATES.get("".join(parts[-2:]))


def _last(name: str) -> str:
    parts = _parts(name)
    return parts[-1] if parts else ""
