"""Logs of known truth for the questions people ask of an experiment: what is in the file, and what is true of it.

The benchmark `questions` and its test share them. Each log is drawn from a seed. With `tie=True` it is drawn the same
way, but for the arms, which do not differ: then nothing that is claimed is true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.known_logs import START, _hits, _ids, _names, _skewed, _times, _which

Claims = frozenset[str]  # an arm that is best, arms that beat the control, or "country: arm"
Maker = Callable[[np.random.Generator, int, bool], pd.DataFrame]

TIME_OUT = 30_000  # milliseconds
BOTS = 0.02  # the share of bots among visits that were assigned


@dataclass(frozen=True)
class QuestionLog:
    """A log of known truth.

    Attributes
    ----------
    name, file : str
        What it is about, and what the file is called.
    truth : frozenset of str
        What a right answer claims.
    make : callable
        Draws it: a generator, about how many rows, and whether the arms do not differ.
    rows : int
        How many rows it has.
    """

    name: str
    file: str
    truth: Claims
    make: Maker
    rows: int

    def draw(self, seed: int, *, tie: bool = False, rows: int | None = None) -> pd.DataFrame:
        """Return the log of a seed."""
        random = np.random.default_rng([seed, *self.name.encode()])
        return self.make(random, self.rows if rows is None else rows, tie)

    def write(self, frame: pd.DataFrame, folder: Path) -> Path:
        """Write a log into a folder; return its path."""
        path = folder / self.file
        frame.to_csv(path, index=False)
        return path


def _means(means: Sequence[float], tie: bool) -> NDArray[np.float64]:
    """Return the mean of each arm; that of the first for all if they do not differ."""
    return np.full(len(means), means[0]) if tie else np.array(means)


def late_arm(random: np.random.Generator, rows: int, tie: bool) -> pd.DataFrame:
    """Sign-ups that rise by .6 points a day; a plan that is worse than the best was offered on the last six days only.

    Each plan was shown about as often on each of its days: 1,500 times in 69,000 rows.
    """
    days, late = 20, 14
    cells = [(day, plan) for day in range(days) for plan in range(3) if plan < 2 or day >= late]
    chosen = np.sort(random.integers(0, len(cells), rows))
    day, which = np.array(cells).T[:, chosen]
    chances = _means((0.09, 0.12, 0.095), tie)[which] + 0.006 * day
    return pd.DataFrame(
        {
            "date": (START + pd.to_timedelta(day, unit="D")).strftime("%Y-%m-%d"),
            "plan": _names(("basic", "family", "team"), which),
            "signed_up": _hits(random, chances),
        }
    )


def by_country(random: np.random.Generator, rows: int, tie: bool) -> pd.DataFrame:
    """Purchases in three countries; the better page was shown mostly where less is bought (Simpson's paradox)."""
    country = _which(random, rows, (4, 3, 3))
    which = _hits(random, np.array([0.8, 0.5, 0.15])[country])
    chances = np.array([0.05, 0.10, 0.20])[country] * _means((1.0, 1.3), tie)[which]
    return pd.DataFrame(
        {
            "visit_id": _ids("v", random.permutation(rows)),
            "country": _names(("BR", "DE", "US"), country),
            "page": _names(("classic", "redesign"), which),
            "purchased": _hits(random, chances),
        }
    )


def small_arm(random: np.random.Generator, rows: int, tie: bool) -> pd.DataFrame:
    """Openings of a mailing: the usual subject line went to fifty times as many people as the new one."""
    which = _which(random, rows, (50, 1))
    return pd.DataFrame(
        {
            "recipient": _ids("r", random.permutation(rows)),
            "subject_line": _names(("Your weekly summary", "3 things you missed"), which),
            "opened": _hits(random, _means((0.20, 0.25), tie)[which]),
        }
    )


def small_arm_money(random: np.random.Generator, rows: int, tie: bool) -> pd.DataFrame:
    """Donations of 0 to 100 after a letter; the new letter went to one of fifty."""
    which = _which(random, rows, (50, 1))
    gave = _hits(random, _means((0.30, 0.36), tie)[which])
    amount = np.round(100.0 * random.beta(1.2, 3.0, rows))
    return pd.DataFrame(
        {
            "donor_id": random.permutation(rows) + 1,
            "letter": _names(("standard", "handwritten"), which),
            "donation": (gave * amount).astype(int),
        }
    )


def time_outs(random: np.random.Generator, rows: int, tie: bool) -> pd.DataFrame:
    """Response times; the server whose usual answers are the quickest has the most time-outs, at 30 seconds."""
    which = _which(random, rows, (1, 1, 1))
    usual = random.lognormal(np.log(_means((105.0, 120.0, 135.0), tie)[which]), 0.45)
    late = _hits(random, _means((0.025, 0.004, 0.012), tie)[which]) == 1
    return pd.DataFrame(
        {
            "request_time": _times(random, rows, 2),
            "server": _names(("eu-west-1", "eu-north-1", "us-east-2"), which),
            "latency_ms": np.where(late, TIME_OUT, np.round(usual)).astype(int),
        }
    )


def revenue(random: np.random.Generator, rows: int, tie: bool) -> pd.DataFrame:
    """Revenue per customer: mostly zero, and a tail so heavy that a few orders are half of the money."""
    which = _which(random, rows, (1, 1))
    bought = _hits(random, _means((0.050, 0.062), tie)[which])
    amount = np.round(random.lognormal(3.4, 1.5, rows), 2)
    return pd.DataFrame(
        {
            "customer_id": random.permutation(rows) + 100_000,
            "checkout": _names(("three_steps", "one_page"), which),
            "revenue": np.where(bought == 1, amount, 0.0),
        }
    )


def click_rates(random: np.random.Generator, rows: int, tie: bool) -> pd.DataFrame:
    """Sessions of users with their impressions and clicks; some users see very much, and tastes differ."""
    users = max(rows // 3, 2)
    who = random.choice(users, rows, p=_skewed(random, users))
    layout = _which(random, users, (1, 1))
    means = _means((0.080, 0.105), tie)[layout]
    taste = random.beta(8 * means, 8 * (1 - means))
    habit = random.lognormal(0.0, 1.0, users)
    impressions = np.minimum(1 + random.poisson(3.0 * habit[who]), 500)
    return pd.DataFrame(
        {
            "session_start": _times(random, rows, 14),
            "user_id": _ids("u", who),
            "layout": _names(("list", "grid"), layout[who]),
            "impressions": impressions,
            "clicks": random.binomial(impressions, taste[who]),
        }
    )


def ratings(random: np.random.Generator, rows: int, tie: bool) -> pd.DataFrame:
    """Whether songs were liked: about eight rows per user, who keeps to one recommender; tastes differ."""
    users = max(rows // 8, 2)
    who = random.choice(users, rows, p=_skewed(random, users))
    model = _which(random, users, (1, 1))
    means = _means((0.40, 0.45), tie)[model]
    taste = random.beta(2 * means, 2 * (1 - means))
    return pd.DataFrame(
        {
            "event_time": _times(random, rows, 21),
            "user_id": who + 1,
            "model": _names(("collab", "transformer"), model[who]),
            "liked": _hits(random, taste[who]),
        }
    )


def with_control(random: np.random.Generator, rows: int, tie: bool) -> pd.DataFrame:
    """Conversions of the page in use and four new ones: two are better, one is the same, one is worse."""
    which = _which(random, rows, (1, 1, 1, 1, 1))
    return pd.DataFrame(
        {
            "session_id": _ids("s", random.permutation(rows)),
            "variant": _names(("old", "video", "short_form", "reviews", "chat"), which),
            "converted": _hits(random, _means((0.100, 0.130, 0.128, 0.100, 0.090), tie)[which]),
        }
    )


def assigned_bots(random: np.random.Generator, rows: int, tie: bool) -> pd.DataFrame:
    """Clicks on four buttons, drawn at random for each visit; two of a hundred visits are by bots that always click."""
    which = _which(random, rows, (1, 1, 1, 1))
    clicked = _hits(random, _means((0.10, 0.09, 0.10, 0.18), tie)[which])
    is_bot = random.random(rows) < BOTS
    return pd.DataFrame(
        {
            "visit": _ids("v", random.permutation(rows)),
            "button": _names(("blue", "grey", "green", "orange"), which),
            "clicked": np.where(is_bot, 1, clicked),
        }
    )


def segments(random: np.random.Generator, rows: int, tie: bool) -> pd.DataFrame:
    """Bookings in three countries, at random one of two prices: in one country the other price is better."""
    country = _which(random, rows, (1, 1, 1))
    which = _which(random, rows, (1, 1))
    chances = np.array([[0.10, 0.13], [0.12, 0.15], [0.14, 0.11]])
    if tie:
        chances[:, 1] = chances[:, 0]
    return pd.DataFrame(
        {
            "booking_date": _times(random, rows, 28).dt.strftime("%Y-%m-%d"),
            "country": _names(("AT", "DE", "JP"), country),
            "price_page": _names(("per_night", "total"), which),
            "booked": _hits(random, chances[country, which]),
        }
    )


LATE = QuestionLog("late arm with drift", "signups.csv", frozenset({"family"}), late_arm, 69_000)
SIMPSON = QuestionLog("Simpson's paradox", "purchases.csv", frozenset({"redesign"}), by_country, 20_000)
SMALL = QuestionLog("50 : 1, yes or no", "mailing.csv", frozenset({"3 things you missed"}), small_arm, 102_000)
SMALL_MONEY = QuestionLog("50 : 1, money", "donations.csv", frozenset({"handwritten"}), small_arm_money, 102_000)
TIME_OUTS = QuestionLog("time-outs", "requests.csv", frozenset({"eu-north-1"}), time_outs, 20_000)
REVENUE = QuestionLog("heavy tail", "customers.csv", frozenset({"one_page"}), revenue, 40_000)
RATIO = QuestionLog("clicks per impression", "sessions.csv", frozenset({"grid"}), click_rates, 20_000)
PER_USER = QuestionLog("many rows per user", "likes.csv", frozenset({"transformer"}), ratings, 60_000)
CONTROL = QuestionLog("against a control", "visits.csv", frozenset({"video", "short_form"}), with_control, 50_000)
ASSIGNED = QuestionLog("2 % bots, arms by chance", "button_clicks.csv", frozenset({"orange"}), assigned_bots, 20_000)
BY_SEGMENT = QuestionLog(
    "segments", "bookings.csv", frozenset({"AT: total", "DE: total", "JP: per_night"}), segments, 45_000
)
IN_JAPAN = QuestionLog("some rows", "bookings.csv", frozenset({"per_night"}), segments, 45_000)
