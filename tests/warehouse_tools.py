"""Logs that tests put into databases, and what of a verdict must be the same from each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import bestarm as ba

# Warnings of Ibis 12 about names that DuckDB 1.5 and pandas 3 call by others.
IBIS_WARNINGS = (
    "ignore:fetch_arrow_table:DeprecationWarning",
    "ignore:fetch_record_batch:DeprecationWarning",
    "ignore:The 'future.infer_string' option",
)
STARS: dict[str, Any] = {"arm": "caption", "reward": "stars", "bounds": (1, 5)}
VOTERS: dict[str, Any] = {**STARS, "source": "voter", "time": "time"}


def votes(seed: int = 0, number: int = 1500) -> pd.DataFrame:
    """Votes of 400 people, some of them several times for a caption, each at a time of its own."""
    random = np.random.default_rng(seed)
    caption = random.integers(0, 3, number)
    return pd.DataFrame(
        {
            "caption": np.array(["up", "down", "Ça"])[caption],
            "stars": np.clip(random.integers(1, 6, number) + (caption == 1), 1, 5),
            "liked": random.random(number) < 0.2 + 0.2 * (caption == 2),
            "seconds": np.round(random.gamma(2.0, 3.0, number), 3),
            "voter": [f"v{each}" for each in random.integers(0, 400, number)],
            "time": pd.Timestamp("2024-05-01") + pd.to_timedelta(random.permutation(number), unit="min"),
        }
    )


def untidy(seed: int = 1) -> pd.DataFrame:
    """The same as people write them: spaces, words for yes and no, missing rewards, and arms that have none."""
    frame = votes(seed)
    words = frame["liked"].map({True: "Yes", False: "no "}).astype(object)
    words[frame.index % 97 == 3] = None
    words[frame.index % 211 == 7] = " n/a"
    caption = frame["caption"].astype(object)
    caption[frame.index % 53 == 5] = " up "
    caption[frame.index % 401 == 9] = None
    return frame.assign(caption=caption, liked=words)


def drifting(seed: int = 3, number: int = 4000, days: float = 12.0) -> pd.DataFrame:
    """Visits that become better day by day, with a late variant, two countries, and people who see one variant each."""
    random = np.random.default_rng(seed)
    day = np.sort(random.random(number)) * days
    late = random.random(number) < np.where(day < 0.6 * days, 0.05, 0.6)
    variant = np.where(late, "late", np.where(random.random(number) < 0.5, "old", "new"))
    country = np.where(random.random(number) < 0.3 + 0.3 * late, "DE", "US")
    chance = 0.1 + 0.02 * day * 12.0 / days + 0.08 * (variant == "new") + 0.1 * (country == "DE")
    when = pd.Timestamp("2024-05-01 07:30") + pd.to_timedelta(np.round(86_400.0 * day), unit="s")
    return pd.DataFrame(
        {
            "variant": variant,
            "bought": (random.random(number) < chance).astype(int),
            "seen_at": when,
            "country": country,
            "person": [f"p{name}{each}" for name, each in zip(variant, random.integers(0, 900, number), strict=True)],
        }
    )


DRIFTING: dict[str, Any] = {"arm": "variant", "reward": "bought"}


def totals() -> pd.DataFrame:
    return pd.DataFrame({"page": ["a", "b", "a"], "shown": [4000, 9000, 5000], "bought": [200, 540, 260]})


def logs() -> list[tuple[str, pd.DataFrame, dict[str, Any]]]:
    """Logs, and what is asked of each."""
    frame = votes()
    counted = frame.groupby(["caption", "stars"]).size().reset_index(name="count")
    wide = pd.DataFrame({name: frame["stars"].to_numpy()[index::3] for index, name in enumerate("abc")})
    return [
        ("stars", frame, STARS),
        ("guessed", frame[["caption", "liked"]], {}),
        ("any stopping", frame, {**STARS, "stopping": "any", "epsilon": 0.01}),
        ("many values", frame, {"arm": "caption", "reward": "seconds", "bounds": (0, 60), "lower_is_better": True}),
        ("sigma", frame, {"arm": "caption", "reward": "seconds", "sigma": "estimate", "epsilon": 0.001}),
        ("untidy", untidy(), {"arm": "caption", "reward": "liked", "missing": "drop", "on_bad_row": "skip"}),
        ("replaced", untidy(), {"arm": "caption", "reward": "liked", "missing": "replaced", "on_bad_row": "skip"}),
        ("out of bounds", frame, {**STARS, "bounds": (1, 4), "on_bad_row": "skip"}),
        ("sources", frame, VOTERS),
        ("sources, epsilon", frame, {**VOTERS, "epsilon": 0.01}),
        ("paired", frame, {**VOTERS, "paired": True}),
        ("share of all, sources", frame, {**VOTERS, "contamination": "share-of-all"}),
        ("counted", counted, {"arm": "caption", "bounds": (1, 5)}),
        ("days", drifting(), DRIFTING),
        ("days, a control", drifting(), {**DRIFTING, "control": "old"}),
        ("days, asked for", drifting(), {**DRIFTING, "block": "day", "epsilon": 0.001}),
        ("hours", drifting(4, days=2.0), DRIFTING),
        ("no days", drifting(), {**DRIFTING, "block": "none"}),
        ("countries", drifting(), {**DRIFTING, "block": "country"}),
        ("days of people", drifting(), {**DRIFTING, "source": "person", "time": "seen_at"}),
        ("days, given times", drifting(), {**DRIFTING, "time": "seen_at"}),
        ("totals", totals(), {"arm": "page", "successes": "bought", "visits": "shown"}),
        ("wide", wide, {"wide": True, "bounds": (1, 5)}),
    ]


def said(result: Any) -> dict[str, Any]:
    """Everything that a verdict says but where the rows were, and the hash of its certificate."""
    found = result.to_dict()
    health = found["health"]
    for name in ("files", "counted_in", "fetched"):
        health.pop(name)
    health["bad_examples"] = sorted({row["reason"] for row in health["bad_examples"]})
    found["lines"] = found["lines"][:2]
    rows = result.certificate()["rows"]
    return {"result": repr(found), "rows": {name: rows[name] for name in rows if name != "order"}}


def of_file(frame: pd.DataFrame, question: dict[str, Any], path: Any) -> dict[str, Any]:
    """What the verdict on a file with these rows says."""
    if str(path).endswith(".parquet"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return said(ba.identify_log(path, inspect=False, **question))
