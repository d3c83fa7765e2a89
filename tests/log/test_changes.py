"""An arm that changes for good while the others do not: its tracking broke, or it was changed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bestarm.identification.wording.metric import Metric
from bestarm.log.inspection.changes import find_changes
from bestarm.log.inspection.days import DayTable
from bestarm.log.inspection.watch import Watch
from bestarm.log.verdict import identify_log


def visits(random: np.random.Generator, broken_from: int = 99) -> pd.DataFrame:
    """Return visits of 21 days; `old` is the best, and from a day on none of its purchases are recorded."""
    day, variant = np.sort(random.integers(0, 21, 24_000)), random.choice(["old", "new"], 24_000)
    bought = random.random(day.size) < np.where(variant == "old", 0.115, 0.1)
    bought &= ~((variant == "old") & (day >= broken_from))
    date = pd.Timestamp("2026-03-02") + pd.to_timedelta(day, unit="D")
    return pd.DataFrame({"date": date, "variant": variant, "bought": bought.astype(int)})


def test_an_arm_whose_purchases_are_lost_from_a_day_on_makes_no_trusted_winner_of_the_other() -> None:
    result = identify_log(visits(np.random.default_rng(1), broken_from=14))
    assert result.best == "new"
    assert not result.trusted
    (found,) = [finding for finding in result.findings if finding.kind == "change"]
    assert found.what == ("old", "2026-03-16")
    assert result.lines[2].startswith("On 2026-03-16 old goes from 11.")
    assert result.lines[2].endswith(": before that, new does not lead old. Do not rely on it.")
    assert not [finding for finding in result.findings if finding.kind == "trend"]  # it is not one of both together


def test_a_lead_that_only_grows_is_trusted() -> None:
    log = visits(np.random.default_rng(2))
    late = (log["variant"] == "old") & (log["date"] >= "2026-03-12")
    log.loc[late, "bought"] |= (np.random.default_rng(3).random(int(late.sum())) < 0.1).astype(int)
    result = identify_log(log)
    assert [finding.kind for finding in result.findings] == ["change"]
    assert (result.best, result.trusted) == ("old", True)
    assert result.lines[2].endswith(": that does not change the answer.")


def table(random: np.random.Generator, arms: int, days: int, size: float, rate: float, growth: float) -> DayTable:
    """Return an honest table: days differ, rates grow in proportion, and arms get different shares."""
    number = random.poisson(size * random.uniform(0.5, 1.5, arms), (days, arms))
    base = rate * np.exp(random.normal(0.0, 0.2, days) + growth * np.arange(days) / days)
    good = random.binomial(number, np.clip(np.outer(base, random.uniform(0.8, 1.2, arms)), 0.0, 0.95)).astype(float)
    arrays = (number.astype(float), good, good.copy(), np.zeros_like(good), np.ones_like(good))
    labels, names = tuple(f"v{arm}" for arm in range(arms)), tuple(f"2026-03-{day}" for day in range(days))
    return DayTable(labels, names, *arrays, "day")


@pytest.mark.parametrize(("arms", "days", "size", "rate", "growth"), [(2, 14, 300, 0.05, 0.0), (4, 28, 150, 0.06, 1.5)])
def test_honest_days_that_differ_and_rates_that_grow_are_no_change(
    arms: int, days: int, size: float, rate: float, growth: float
) -> None:
    watch = cast(Watch, SimpleNamespace(metric=Metric("variant", "bought", "", is_rate=True)))
    draws: Any = (table(np.random.default_rng([5, seed]), arms, days, size, rate, growth) for seed in range(400))
    found = sum(bool(find_changes(watch, each, ())[0]) for each in draws)
    assert stats.binom.sf(found - 1, 400, 0.003) > 1e-3
