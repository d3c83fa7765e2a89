"""A control where rewards are compared within days: which arms are better, leads and uplifts, at a common drift."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from bestarm.log.result import LogResult
from bestarm.log.verdict import identify_log

DELTA = 0.3
DAYS = 10
DRIFT = 0.02  # of all arms, a day


def ramp(random: np.random.Generator, effects: tuple[float, ...], rows: int = 600, low: bool = False) -> pd.DataFrame:
    """Visits over ten days: the control A fades out as the others come, and all arms become worse day by day."""
    parts = []
    for day in range(DAYS):
        share = np.full(len(effects), (0.1 + 0.08 * day) / (len(effects) - 1))
        share[0] = 1.0 - share[1:].sum()
        arm = random.choice(len(effects), rows, p=share)
        base = 0.30 - DRIFT * day
        chance = base * (1.0 + np.array(effects)[arm])
        bought = random.random(rows) < (1.0 - chance if low else chance)
        when = pd.Timestamp("2026-03-02") + pd.Timedelta(days=day)
        parts.append(pd.DataFrame({"time": when, "arm": np.array(list("ABCDE"))[arm], "bought": bought.astype(int)}))
    return pd.concat(parts)


def means_within(log: pd.DataFrame, arm: str) -> tuple[float, float]:
    """The means of an arm and of the control on the days that both share, each weighted by its matches; plainly."""
    table = log.groupby(["time", "arm"])["bought"].agg(["mean", "size"]).unstack()
    weight: NDArray[np.float64] = np.minimum(table["size"][arm], table["size"]["A"]).fillna(0.0).to_numpy()
    both = [table["mean"][each].fillna(0.0).to_numpy() for each in (arm, "A")]
    return float(weight @ both[0] / weight.sum()), float(weight @ both[1] / weight.sum())


def test_without_days_the_control_wins_and_within_days_the_better_arm_does() -> None:
    log = ramp(np.random.default_rng(1), (0.0, 0.15), 5_000)
    plain = identify_log(log, control="A", block="none")
    assert plain.comparisons[0].worse
    assert not plain.trusted
    found = identify_log(log, control="A")
    assert found.within is not None
    assert found.within.first == "A"
    assert found.best == "B"
    assert found.trusted
    assert found.lines[0].startswith("B beats the control A in bought rate: ")
    assert found.lines[0].endswith(", on the same days.")
    assert "within days" in str(found)


def test_means_and_uplifts_are_those_on_shared_days() -> None:
    log = ramp(np.random.default_rng(2), (0.0, 0.2, 0.4), 3_000)
    log = log[(log["arm"] != "B") | (log["time"] >= "2026-03-07")]  # B is late
    found = identify_log(log, control="A")
    assert found.within is not None
    for each in found.comparisons:
        one, control = means_within(log, str(each.label))
        assert found.within.means[each.label] == pytest.approx((one, control))
        assert each.difference == pytest.approx(one - control)
        assert each.uplift is not None
        assert each.uplift.estimate == pytest.approx(one / control - 1.0)
        assert each.uplift.low < each.uplift.estimate < each.uplift.high
        assert each.better == (each.uplift.low > 0.0) == (each.lead > 0.0)
        assert each.p_value is not None
        assert each.better == (each.p_value <= found.delta)


def test_lower_is_better_within_days_too() -> None:
    high = identify_log(ramp(np.random.default_rng(3), (0.0, 0.2, 0.4), 2_000), control="A")
    low = identify_log(
        ramp(np.random.default_rng(3), (0.0, 0.2, 0.4), 2_000, low=True), control="A", lower_is_better=True
    )
    assert [each.label for each in low.comparisons] == [each.label for each in high.comparisons]
    for one, other in zip(low.comparisons, high.comparisons, strict=True):
        assert (one.better, one.worse) == (other.better, other.worse)
        assert one.uplift is not None
        assert one.uplift.estimate < 0.0
        assert one.better == (one.uplift.high < 0.0)


def test_the_uplift_of_the_best_arm_within_days_has_bounds_too() -> None:
    log = ramp(np.random.default_rng(5), (0.0, 0.1, 0.4), 3_000)
    result = identify_log(log)
    assert result.within is not None
    assert result.best == "C"
    assert result.uplift is not None
    assert result.uplift.over == result.within.rival
    assert 0.0 < result.uplift.low < result.uplift.estimate < result.uplift.high
    mean = result.within.means[result.uplift.over]
    assert result.uplift.estimate == pytest.approx(mean[1] / mean[0] - 1.0)


def all_right(result: LogResult, effects: tuple[float, ...]) -> bool:
    """Whether every claim about the arms is true: better, worse, the lead (at least 0) and the uplift."""
    for each in result.comparisons:
        effect = effects["ABCDE".index(str(each.label))]
        if (each.better and effect <= 0.0) or (each.worse and effect >= 0.0):
            return False
        # Chances of an arm are those of the control times 1 + effect on each day, so that is the uplift of any days.
        if each.uplift is not None and not each.uplift.low - 1e-12 <= effect <= each.uplift.high + 1e-12:
            return False
    return True


EFFECTS = [(0.0, 0.0), (0.0, 0.0, 0.0, 0.3), (0.0, -0.2, 0.0, 0.1)]


@pytest.mark.parametrize(
    ("effects", "logs"), [(EFFECTS[1], 10), *(pytest.param(each, 200, marks=pytest.mark.slow) for each in EFFECTS)]
)
def test_all_that_is_said_of_the_arms_is_rarely_wrong(effects: tuple[float, ...], logs: int) -> None:
    random = np.random.default_rng(4)
    wrong = sum(
        not all_right(identify_log(ramp(random, effects), control="A", delta=DELTA, inspect=False), effects)
        for _ in range(logs)
    )
    assert wrong <= stats.binom.isf(1e-5, logs, DELTA)
