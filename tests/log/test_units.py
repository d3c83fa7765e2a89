"""Sources that rewarded one arm each: one reward per source, with all that is proved of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bestarm.errors import InputError
from bestarm.log.result import LogResult
from bestarm.log.verdict import identify_log

DELTA = 0.3
OPENED = pd.Timestamp("2026-03-02")


def people(
    random: np.random.Generator, number: int, rates: tuple[float, ...], shares: tuple[float, ...], drift: float = 0.0
) -> pd.DataFrame:
    """Visits of people who keep to one arm each, over ten days; `shares` of the last arm on the first and last day."""
    day = random.integers(0, 10, number)
    last = random.random(number) < np.linspace(shares[0], shares[-1], 10)[day]
    arm = np.where(last, len(rates) - 1, random.integers(0, len(rates) - 1, number))
    visits = 1 + random.poisson(1.0, number)
    rows = np.repeat(np.arange(number), visits)
    when = day[rows] + np.concatenate([np.arange(each) for each in visits])
    bought = random.random(rows.size) < np.array(rates)[arm[rows]] - drift * day[rows]
    log = pd.DataFrame(
        {
            "time": OPENED + pd.to_timedelta(when * 86_400 + random.integers(0, 80_000, rows.size), unit="s"),
            "person": rows,
            "arm": np.array(list("ABCD"))[arm[rows]],
            "bought": bought.astype(int),
        }
    )
    return log.sample(frac=1.0, random_state=1)


def first_rows(log: pd.DataFrame) -> pd.DataFrame:
    """The first row of each person: a plain log of as many rewards."""
    return log.sort_values("time").groupby("person", as_index=False).first().drop(columns="person")


def numbers(result: LogResult) -> dict[str, Any]:
    """What is proved of the arms."""
    return {
        "best": result.best,
        "leader": result.leader,
        "candidates": result.candidates,
        "overturn": result.overturn,
        "p_value": result.p_value,
        "leads": result.leads,
        "arms": [vars(row) for row in result.arms],
        "comparisons": [vars(each) for each in result.comparisons],
        "exact": result.exact,
        "within": None if result.within is None else vars(result.within),
    }


QUESTIONS: list[dict[str, Any]] = [
    {},
    {"epsilon": 0.001},
    {"control": "A"},
    {"block": "day"},
    {"block": "day", "control": "A"},
    {"lower_is_better": True, "block": "day", "control": "A"},
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_people_of_one_arm_each_are_answered_like_a_log_of_their_first_rows(question: dict[str, Any]) -> None:
    log = people(np.random.default_rng(1), 6_000, (0.10, 0.11, 0.15), (0.3, 0.3))
    options = {"arm": "arm", "reward": "bought", "inspect": False, "bounds": (0, 1), **question}
    found = identify_log(log, source="person", **options)
    assert numbers(found) == numbers(identify_log(first_rows(log), **options))
    assert found.sources == 6_000
    assert found.options["contamination"] == "sources"
    assert "each of a single arm" in str(found) or found.within is not None
    assert "each source rewarded a single arm" in found.promise
    assert "rewards first" not in found.promise


def test_numbers_of_very_different_size_are_compared_by_batches_of_people() -> None:
    random = np.random.default_rng(2)
    log = people(random, 8_000, (0.3, 0.45), (0.06, 0.06))
    log["bought"] = np.round(log["bought"] * random.uniform(0.5, 1.0, len(log)), 3)
    options: dict[str, Any] = {"arm": "arm", "reward": "bought", "bounds": (0, 1), "inspect": False}
    found = identify_log(log, source="person", **options)
    assert found.batches
    assert numbers(found) == numbers(identify_log(first_rows(log), **options))


def test_days_of_people_are_those_of_their_first_visits() -> None:
    log = people(np.random.default_rng(3), 20_000, (0.22, 0.25), (0.05, 0.9), drift=0.018)
    found = identify_log(log, source="person", arm="arm", reward="bought")
    assert found.within is not None
    assert found.within.shares_change
    assert found.within.matches == identify_log(first_rows(log), arm="arm", reward="bought").within.matches  # type: ignore[union-attr]
    assert found.leader == "B"
    assert identify_log(log, source="person", arm="arm", reward="bought", block="none").leader == "A"


def test_people_who_saw_several_arms_are_not_compared_within_days() -> None:
    log = people(np.random.default_rng(4), 2_000, (0.2, 0.3), (0.05, 0.9))
    log["person"] //= 2
    assert identify_log(log, source="person", arm="arm", reward="bought").within is None
    with pytest.raises(InputError, match="sources that rewarded several") as caught:
        identify_log(log, source="person", arm="arm", reward="bought", block="day")
    assert caught.value.parameter == "block"


def test_whoever_may_stop_when_it_looks_good_gets_no_exact_test() -> None:
    log = people(np.random.default_rng(5), 2_000, (0.2, 0.3), (0.5, 0.5))
    assert identify_log(log, source="person", arm="arm", reward="bought").exact
    assert not identify_log(log, source="person", arm="arm", reward="bought", stopping="any").exact


def count_wrong(trials: int, question: dict[str, Any]) -> int:
    """How often somebody is named at a tie, with 15 dishonest people who give the second arm what it needs."""
    wrong = 0
    for seed in range(trials):
        random = np.random.default_rng([6, seed])
        log = people(random, 1_500, (0.2, 0.2), (0.3, 0.7), drift=0.01)
        bad = random.permutation(log.loc[log["arm"] == "B", "person"].unique())[:15]
        log.loc[log["person"].isin(bad), "bought"] = 1
        result = identify_log(
            log, source="person", arm="arm", reward="bought", delta=DELTA, epsilon=0.01, inspect=False, **question
        )
        wrong += result.best is not None
    return wrong


TIES: list[dict[str, Any]] = [{"per_source": "any", "block": "day"}, {"block": "day"}, {"control": "A"}]


@pytest.mark.parametrize(
    ("question", "trials"), [(TIES[0], 10), *(pytest.param(each, 150, marks=pytest.mark.slow) for each in TIES)]
)
def test_a_wrong_arm_is_rarely_named_at_a_tie_of_people(question: dict[str, Any], trials: int) -> None:
    assert count_wrong(trials, question) <= stats.binom.isf(1e-5, trials, DELTA)
