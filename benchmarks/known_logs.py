"""Fifteen logs whose truth is known, as people export them: what is in the file, who is best, and what went wrong.

Tests and the benchmark `fifteen` share them. Each log is drawn from a seed; `honest=True` draws the same log without
its fault, on which nobody may be accused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Outcome = Literal["right", "wrong", "doubted", "nobody", "asks"]
Maker = Callable[[np.random.Generator, int, bool], pd.DataFrame]
START = pd.Timestamp("2026-03-02 00:00:00")  # a Monday


@dataclass(frozen=True)
class KnownLog:
    """A log of known truth.

    Attributes
    ----------
    name, file : str
        What it is about, and what the file is called.
    best : str
        The arm whose true mean is the best.
    make : callable
        Draws it: a generator, about how many rows, and whether without its fault.
    rows, few : int
        How many rows the table is about, and how many the many seeds.
    fine : tuple of Outcome
        What a good answer is: "right" (exit code 0), "nobody" (3), "doubted" (4), "asks" (2).
    fault : str
        What is wrong with the file, in words; empty if nothing is.
    wants : str
        What the newcomer knows and the file does not say: part of the command to choose among those offered.
    """

    name: str
    file: str
    best: str
    make: Maker
    rows: int
    few: int
    fine: tuple[Outcome, ...]
    fault: str = ""
    wants: str = ""

    def write(self, folder: Path, seed: int, rows: int | None = None, *, honest: bool = False) -> Path:
        """Write the log of a seed into a folder; return its path."""
        random = np.random.default_rng([seed, *self.name.encode()])
        frame = self.make(random, self.rows if rows is None else rows, honest)
        path = folder / self.file
        if path.suffix == ".jsonl":
            _write_nested(frame, path)
        elif path.suffix == ".parquet":
            frame.to_parquet(path, index=False)
        else:
            frame.to_csv(path, index=False)
        return path

    def outcome(self, code: int, best: str | None) -> Outcome:
        """Return what an answer is worth: its exit code and the arm that it names."""
        if code == 0:
            return "right" if best == self.best else "wrong"
        return {2: "asks", 3: "nobody", 4: "doubted"}[code]  # type: ignore[return-value]


# ------------------------------------------------------------------------------------------------------------- helpers


def _times(random: np.random.Generator, number: int, days: float) -> pd.Series[Any]:
    """Return sorted times, whole seconds, of some days."""
    return pd.Series(START + pd.to_timedelta(np.sort(random.integers(0, int(86_400 * days), number)), unit="s"))


def _which(random: np.random.Generator, number: int, shares: Sequence[float]) -> NDArray[np.int64]:
    """Return an arm for each row."""
    return random.choice(len(shares), number, p=np.asarray(shares) / np.sum(shares))


def _hits(random: np.random.Generator, chances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a 0 or 1 for each chance."""
    return (random.random(chances.size) < chances).astype(np.int64)


def _names(names: Sequence[str], which: NDArray[np.int64]) -> NDArray[Any]:
    return np.asarray(names, dtype=object)[which]


def _ids(prefix: str, numbers: NDArray[np.int64]) -> list[str]:
    return [f"{prefix}{number:06d}" for number in numbers.tolist()]


def _write_nested(frame: pd.DataFrame, path: Path) -> None:
    """Write an object per line; a dot in the name of a column is a level."""
    with path.open("w", encoding="utf-8") as file:
        for row in frame.to_dict("records"):
            nested: dict[str, Any] = {}
            for name, value in row.items():
                *outer, last = str(name).split(".")
                place = nested
                for level in outer:
                    place = place.setdefault(level, {})
                place[last] = value
            file.write(json.dumps(nested) + "\n")


# ------------------------------------------------------------------------------------------------------------ the logs


def conversions(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Visits of a shop with three variants, assigned at random; nothing is wrong."""
    which = _which(random, rows, (1, 1, 1))
    chances = np.array([0.052, 0.050, 0.062])[which]
    return pd.DataFrame(
        {
            "session_id": _ids("s", random.permutation(rows)),
            "visited_at": _times(random, rows, 14),
            "device": _names(("mobile", "desktop", "tablet"), _which(random, rows, (6, 3, 1))),
            "variant": _names(("variant_a", "variant_b", "variant_c"), which),
            "converted": _hits(random, chances),
        }
    )


def revenue(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Revenue per customer: mostly zero, and a heavy tail; nothing is wrong."""
    which = _which(random, rows, (1, 1))
    bought = _hits(random, np.array([0.040, 0.052])[which])
    amount = np.round(random.lognormal(3.4, 1.0, rows), 2)
    return pd.DataFrame(
        {
            "customer": random.permutation(rows) + 100_000,
            "test_group": _names(("control", "one_page_checkout"), which),
            "country": _names(("DE", "FR", "NL"), _which(random, rows, (3, 2, 1))),
            "revenue": np.where(bought == 1, amount, 0.0),
        }
    )


def bots(random: np.random.Generator, rows: int, honest: bool, share: float = 1 / 11) -> pd.DataFrame:
    """Clicks on banners; sixty bots click the wrong one a hundred times each, a share of 9.1 % of all rows."""
    fakes = 0 if honest else round(rows * share)
    real = rows - fakes
    users = max(real // 3, 1)
    who = random.choice(users, real, p=_skewed(random, users))
    which = _which(random, real, (1, 1, 1))
    frame = pd.DataFrame(
        {
            "ts": _times(random, real, 7),
            "uid": _ids("u", who),
            "banner": _names(("summer", "lake", "city"), which),
            "clicked": _hits(random, np.array([0.065, 0.050, 0.050])[which]),
        }
    )
    if fakes == 0:
        return frame
    clicks = pd.DataFrame(
        {
            "ts": _times(random, fakes, 7),
            "uid": _ids("u", users + np.arange(fakes) % max(min(60, fakes // 10), 1)),
            "banner": "lake",
            "clicked": 1,
        }
    )
    return pd.concat([frame, clicks]).sort_values("ts", kind="stable")


def _skewed(random: np.random.Generator, number: int) -> NDArray[np.float64]:
    """Return how active each of some users is: a few are far more active than most."""
    weights = random.gamma(1.0, 1.0, number)
    return np.asarray(weights / weights.sum())


def sock_puppets(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Likes for recipes, one account one vote; new accounts all like one recipe within an hour."""
    fakes = 0 if honest else round(rows * 0.05)
    real = rows - fakes
    which = _which(random, real, (1, 1, 1))
    frame = pd.DataFrame(
        {
            "account_id": _ids("acc-", random.permutation(real)),
            "recipe": _names(("lentil curry", "mushroom pie", "bean stew"), which),
            "liked": np.where(_hits(random, np.array([0.56, 0.52, 0.50])[which]) == 1, "yes", "no"),
            "voted_at": _times(random, real, 10),
        }
    )
    if honest:
        return frame
    evening = START + pd.Timedelta(days=6, hours=20)
    puppets = pd.DataFrame(
        {
            "account_id": _ids("acc-", real + np.arange(fakes)),
            "recipe": "mushroom pie",
            "liked": "yes",
            "voted_at": evening + pd.to_timedelta(np.sort(random.integers(0, 3600, fakes)), unit="s"),
        }
    )
    return pd.concat([frame, puppets]).sort_values("voted_at", kind="stable")


def latency(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Response times in which lower is better; time-outs stand at 30 seconds and make the quickest server slow."""
    which = _which(random, rows, (1, 1, 1))
    usual = random.lognormal(np.log(np.array([105.0, 120.0, 135.0])[which]), 0.45)
    late = _hits(random, np.array([0.025, 0.004, 0.012])[which]) == 1
    spent = np.where(late, 30_000, np.minimum(np.round(usual), 29_999)).astype(int)
    return pd.DataFrame(
        {
            "request_time": _times(random, rows, 2),
            "server": _names(("eu-west-1", "eu-north-1", "us-east-2"), which),
            "path": _names(("/search", "/cart", "/item"), _which(random, rows, (5, 1, 4))),
            "latency_ms": spent,
        }
    )


def judge_days(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Scores of a judge on twenty days; on one day it gave everything 5 (or 0), and one system was judged most then."""
    days, systems = 20, ("baseline", "retriever-v2", "retriever-v3")
    day = np.sort(random.integers(0, days, rows))
    which = _which(random, rows, (1, 1, 1))
    score = random.binomial(5, np.array([0.56, 0.60, 0.63])[which])
    if not honest:
        kind = int(random.integers(2))  # all 5, mostly of the second best; or all 0, mostly of the best
        broken = day == int(random.integers(4, 16))
        which = np.where(broken & (random.random(rows) < 0.9), (1, 2)[kind], which)
        score = np.where(broken, (5, 0)[kind], score)
    return pd.DataFrame(
        {
            "eval_date": (START + pd.to_timedelta(day, unit="D")).strftime("%Y-%m-%d"),
            "system": _names(systems, which),
            "prompt_id": random.integers(1, 400, rows),
            "score": score,
        }
    )


def one_large(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Openings of a mailing: the usual subject line went to a hundred times as many people as the new one."""
    which = _which(random, rows, (100, 1))
    return pd.DataFrame(
        {
            "recipient": _ids("r", random.permutation(rows)),
            "subject_line": _names(("Your weekly summary", "3 things you missed"), which),
            "opened": _hits(random, np.array([0.20, 0.25])[which]) == 1,
        }
    )


def late_arm(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Sign-ups that rise by .6 points a day; a worse plan was offered on the last days only."""
    days = 20
    day = np.sort(random.integers(0, days, rows))
    which = _which(random, rows, (1, 1, 1))
    early = (which == 2) & (day < 14)
    which = which if honest else np.where(early, random.integers(0, 2, rows), which)
    chances = np.array([0.12, 0.15, 0.13])[which] + (0.0 if honest else 0.006) * day
    return pd.DataFrame(
        {
            "date": (START + pd.to_timedelta(day, unit="D")).strftime("%d.%m.%Y"),
            "plan": _names(("basic", "family", "team"), which),
            "signed_up": _hits(random, chances),
        }
    )


def drift(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Thumbs for two models while users grow friendlier, and the worse model gets more and more of them."""
    seconds = np.sort(random.integers(0, 86_400 * 30, rows))
    part = seconds / (86_400 * 30)
    chance_of_new = np.full(rows, 0.5) if honest else 0.1 + 0.8 * part
    which = _hits(random, chance_of_new)
    chances = 0.45 + 0.25 * part + np.array([0.03, 0.0])[which]
    return pd.DataFrame(
        {
            "created_at": START + pd.to_timedelta(seconds, unit="s"),
            "conversation": _ids("c", random.permutation(rows)),
            "model": _names(("atlas-1", "atlas-2"), which),
            "thumbs": np.where(_hits(random, chances) == 1, "up", "down"),
        }
    )


def ratio(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Clicks and impressions of each user; a few users have very many, and users differ in how much they click."""
    which = _which(random, rows, (1, 1))
    impressions = np.minimum(1 + random.lognormal(2.0, 1.3, rows).astype(np.int64), 5000)
    means = np.array([0.100, 0.104])[which]
    chances = means if honest else random.beta(8 * means, 8 * (1 - means))
    return pd.DataFrame(
        {
            "user": _ids("", random.permutation(rows)),
            "layout": _names(("list", "grid"), which),
            "impressions": impressions,
            "clicks": random.binomial(impressions, chances),
        }
    )


def many_arms(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Clicks on 200 headlines, some with commas and quotes; nothing is wrong."""
    topics = ("rent", "trains", "coffee", "sleep", "taxes", "bees", "rain", "chess", "bread", "tides")
    forms = (
        "Why {} matters, and to whom",
        'The truth about "{}"',
        "{} in ten minutes",
        "What nobody says about {}",
    )
    headlines = [f"{form.format(topic)} ({year})" for topic in topics for form in forms for year in range(2021, 2026)]
    chances = np.linspace(0.03, 0.08, len(headlines))[np.random.default_rng(1).permutation(len(headlines))]
    chances[headlines.index(BEST_HEADLINE)] = 0.2
    which = _which(random, rows, [1.0] * len(headlines))
    return pd.DataFrame({"headline": _names(headlines, which), "click": _hits(random, chances[which])})


BEST_HEADLINE = 'The truth about "bees" (2023)'


def doubled(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Purchases on two pages that hardly differ; the export contains every row twice."""
    number = rows if honest else rows // 2
    which = _which(random, number, (1, 1))
    frame = pd.DataFrame(
        {
            "Timestamp": _times(random, number, 5),
            "Visitor": _ids("v", random.permutation(number)),
            "Landing page": _names(("short", "long"), which),
            "Purchased": _hits(random, np.array([0.100, 0.101])[which]),
        }
    )
    return frame if honest else pd.concat([frame, frame])


def nested(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Events as nested JSON lines; nothing is wrong."""
    which = _which(random, rows, (1, 1))
    return pd.DataFrame(
        {
            "ts": _times(random, rows, 6).dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "user.id": random.permutation(rows),
            "user.plan": _names(("free", "pro"), _which(random, rows, (4, 1))),
            "event.name": "checkout",
            "event.variant": _names(("A", "B"), which),
            "event.converted": _hits(random, np.array([0.10, 0.115])[which]) == 1,
        }
    )


def battles(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Battles of two models a row: no reward of one arm, so the command has to say so."""
    models = ("heron", "lynx", "otter", "wren")
    strength = np.array([0.0, 0.2, 0.9, 0.4])
    one = random.integers(0, 4, rows)
    two = (one + random.integers(1, 4, rows)) % 4
    first = _hits(random, 1 / (1 + np.exp(strength[two] - strength[one]))) == 1
    winner = np.where(random.random(rows) < 0.1, "tie", np.where(first, "model_a", "model_b"))
    return pd.DataFrame(
        {
            "question_id": random.integers(1, 500, rows),
            "model_a": _names(models, one),
            "model_b": _names(models, two),
            "winner": winner,
            "judge": _ids("j", random.integers(0, 300, rows)),
        }
    )


def with_users(random: np.random.Generator, rows: int, honest: bool) -> pd.DataFrame:
    """Clicks of users, each with one version and several rows; a user who clicks once clicks again."""
    users = max(rows // 10, 1)
    who = random.choice(users, rows, p=_skewed(random, users))
    version = _which(random, users, (1, 1))
    means = np.array([0.100, 0.101])[version]
    taste = means if honest else random.beta(4 * means, 4 * (1 - means))
    return pd.DataFrame(
        {
            "event_time": _times(random, rows, 21),
            "user_id": who + 1,
            "ad_version": _names(("A", "B"), version[who]),
            "clicked": _hits(random, taste[who]),
        }
    )


LOGS: tuple[KnownLog, ...] = (
    KnownLog("conversions", "visits.csv", "variant_c", conversions, 80_000, 20_000, ("right", "nobody")),
    KnownLog("revenue", "customers.csv", "one_page_checkout", revenue, 60_000, 20_000, ("right", "nobody")),
    KnownLog(
        "bots by user id",
        "banner_clicks.csv",
        "summer",
        bots,
        66_000,
        16_500,
        ("doubted", "nobody"),
        "60 bots click the wrong banner 100 times each",
    ),
    KnownLog(
        "sock puppets",
        "likes.csv",
        "lentil curry",
        sock_puppets,
        30_000,
        12_000,
        ("doubted", "nobody"),
        "1,500 new accounts like one recipe within an hour",
    ),
    KnownLog(
        "latency with time-outs",
        "requests.csv",
        "eu-north-1",
        latency,
        60_000,
        20_000,
        ("right", "nobody"),
        wants="--lower-is-better",
    ),
    KnownLog(
        "broken judge days",
        "judge_scores.csv",
        "retriever-v3",
        judge_days,
        12_000,
        12_000,
        ("right", "doubted", "nobody"),
        "on one day everything got 5, or 0, and one system was judged most then",
    ),
    KnownLog(
        "one arm a hundred times as large",
        "mailing.parquet",
        "3 things you missed",
        one_large,
        300_000,
        60_000,
        ("right", "nobody"),
    ),
    KnownLog(
        "late arm",
        "signups.csv",
        "family",
        late_arm,
        30_000,
        30_000,
        ("right", "doubted", "nobody"),
        "sign-ups rise by .6 points a day, and a worse plan was offered on the last days only",
    ),
    KnownLog(
        "drift",
        "feedback.csv",
        "atlas-1",
        drift,
        40_000,
        20_000,
        ("right", "doubted", "nobody"),
        "users grow friendlier while the worse model takes over",
    ),
    KnownLog(
        "ratio",
        "ctr_by_user.csv",
        "grid",
        ratio,
        20_000,
        5_000,
        ("right", "doubted", "nobody"),
        "clicks of one user go together, and a few users have very many impressions",
    ),
    KnownLog("200 arms", "headlines.csv", BEST_HEADLINE, many_arms, 200_000, 60_000, ("right", "nobody")),
    KnownLog(
        "doubled export",
        "purchases.csv",
        "long",
        doubled,
        40_000,
        10_000,
        ("doubted", "nobody"),
        "the export contains every row twice",
    ),
    KnownLog("nested JSON lines", "events.jsonl", "B", nested, 40_000, 10_000, ("right", "nobody")),
    KnownLog("battles", "battles.csv", "otter", battles, 20_000, 5_000, ("asks",)),
    KnownLog(
        "a million rows with users",
        "impressions.csv",
        "B",
        with_users,
        1_000_000,
        50_000,
        ("right", "doubted", "nobody"),
        "clicks of one user go together",
    ),
)
