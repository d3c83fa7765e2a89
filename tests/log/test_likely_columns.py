"""Columns of who and when that no list of names has: inspection finds them by what is in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bestarm.log.verdict import identify_log

START = pd.Timestamp("2026-03-02")


def ramp(random: np.random.Generator, rows: int = 24_000, days: int = 28) -> tuple[pd.DataFrame, pd.Series]:
    """Return visits of two variants, and their times: b, the worse one, gets more and more while all convert better."""
    times = pd.Series(START + pd.to_timedelta(np.sort(random.integers(0, days * 86400, rows)), unit="s"))
    day = (times - START).dt.days.to_numpy()
    is_b = random.random(rows) < 0.1 + 0.8 * day / days
    bought = random.random(rows) < 0.05 + 0.01 * day - 0.03 * is_b
    return pd.DataFrame({"variant": np.where(is_b, "b", "a"), "converted": bought.astype(int)}), times


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("Datum", "%d.%m.%Y"),
        ("logged", "%Y-%m-%dT%H:%M:%SZ"),
        ("signup_date", "%Y-%m-%d"),
        ("us date", "%m/%d/%Y %I:%M %p"),
        ("jour", "%d/%m/%Y"),
        ("month_day", "%b %d, %Y"),
        ("server_time", "%d/%b/%Y:%H:%M:%S +0000"),
        ("ymd", "%Y%m%d"),
    ],
)
def test_a_worse_variant_that_was_shown_later_is_not_named_whatever_the_dates_look_like(
    tmp_path: Path, name: str, form: str
) -> None:
    log, times = ramp(np.random.default_rng(1))
    log[name] = times.dt.strftime(form)
    log.to_csv(tmp_path / "visits.csv", index=False)
    result = identify_log(tmp_path / "visits.csv")
    assert result.best == "a"
    assert result.trusted


def test_epochs_in_milliseconds_and_numbers_of_weeks_are_times() -> None:
    log, times = ramp(np.random.default_rng(2))
    assert identify_log(log).best == "b"  # nothing says when
    assert identify_log(log.assign(epoch_ms=1000 * ((times - pd.Timestamp(0)) // pd.Timedelta("1s")))).best == "a"
    assert identify_log(log.assign(week=(times - START).dt.days // 7)).best is None  # b gains within weeks, too


def test_dates_of_birth_and_of_what_came_later_are_no_times() -> None:
    log, times = ramp(np.random.default_rng(3))
    for name in ("birth_date", "last_seen", "paid", "expires"):
        assert identify_log(log.assign(**{name: times.dt.strftime("%Y-%m-%d")})).best == "b"


def clicks(random: np.random.Generator, bots: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return visits of four banners, teal being the best, and who they are by: bots click, mostly coral, 60 times."""
    banner = random.choice(["teal", "coral", "navy", "sand"], 30_000)
    rate = pd.Series(banner).map({"teal": 0.05, "coral": 0.035, "navy": 0.036, "sand": 0.031}).to_numpy()
    who = random.integers(0, 12_000, banner.size)
    log = pd.DataFrame({"banner": banner, "clicked": (random.random(banner.size) < rate).astype(int)})
    theirs = random.choice(["coral", "teal", "navy", "sand"], 60 * bots, p=[0.7, 0.1, 0.1, 0.1])
    more = pd.DataFrame({"banner": theirs, "clicked": 1})
    return pd.concat([log, more], ignore_index=True), np.concatenate([who, np.repeat(20_000 + np.arange(bots), 60)])


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("fingerprint", "fp{:05x}"),
        ("user_hash", "{:08x}"),
        ("zz", "p{}@example.org"),
        ("seen_from", "10.1.{0}.{1}"),
        ("k", "{2:032x}"),
    ],
)
def test_bots_are_found_by_a_column_of_numbers_of_persons(name: str, shape: str) -> None:
    log, who = clicks(np.random.default_rng(4), bots=25)
    log[name] = [
        shape.format(each // 256 if "{1}" in shape else each, each % 256, each * 7**30) for each in who.tolist()
    ]
    result = identify_log(log)
    assert result.best == "coral"
    assert not result.trusted
    assert {finding.sources for finding in result.findings if finding.sources} == {25}


def test_texts_of_things_and_kinds_are_nobody() -> None:
    log, who = clicks(np.random.default_rng(5), bots=25)
    for name, column in (
        ("page_hash", [f"{each * 7**30:032x}" for each in who.tolist()]),
        ("customer", np.where(who % 2, "new", "returning")),
        ("visits_per_user", who % 40),
        ("clock", [f"{each % 24:02}:{each % 60:02}:{each % 59:02}" for each in who.tolist()]),
    ):
        found = identify_log(log.assign(**{name: column})).findings
        assert not [finding for finding in found if finding.sources or finding.kind == "clusters"]


def test_the_month_of_dates_with_slashes_is_the_number_that_is_never_above_12(tmp_path: Path) -> None:
    log, times = ramp(np.random.default_rng(6), rows=2000)
    for form in ("%d/%m/%Y", "%m/%d/%Y"):
        log["day"] = times.dt.strftime(form)
        log.to_csv(tmp_path / "visits.csv", index=False)
        series = identify_log(tmp_path / "visits.csv").series
        assert series is not None
        assert series.names[0] == "2026-03-02"


def test_columns_that_only_inspection_looks_at_are_named() -> None:
    log, times = ramp(np.random.default_rng(7), rows=3000)
    log["logged"] = times.dt.strftime("%Y-%m-%d")
    log["fingerprint"] = [f"fp{i % 900:05x}" for i in range(len(log))]
    guesses = identify_log(log).health.guesses
    assert guesses[2:] == (
        "The column 'fingerprint' may say who gave a reward; the verdict does not use it: with source='fingerprint', "
        "fake sources are counted and not fake rows.",
        "The column 'logged' was taken for the time.",
    )
    assert not [guess for guess in identify_log(log, inspect=False, block="none").health.guesses if "logged" in guess]
