"""Rewards over time: the numbers of each day and arm, bands that hold, and sentences that chance does not make."""

from __future__ import annotations

import html
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bestarm as ba
from bestarm.log.bands import wilson, with_series
from bestarm.log.inspection.days import DayTable
from bestarm.log.inspection.over_time import LEVEL, WEEKDAYS, over_time
from bestarm.log.picture import draw
from bestarm.log.result import LogResult
from command_line import bestarm

DAY = 86400.0
MONDAY = 19723.0 * DAY  # 2024-01-01


def table_of(number: Any, sums: Any, squares: Any = None, noun: str = "day") -> DayTable:
    number, sums = np.asarray(number, float), np.asarray(sums, float)
    squares = sums if squares is None else squares
    days = len(number)
    starts = tuple(MONDAY + DAY * day for day in range(days))
    names = tuple(f"{pd.Timestamp(start, unit='s'):%Y-%m-%d}" for start in starts)
    labels = tuple("ABCDEFGH"[: number.shape[1]])
    return DayTable(labels, names, number, sums, squares, 0.0 * sums, 0.0 * sums + 1.0, noun, starts, DAY)


def visits(random: np.random.Generator, rate: Any, per_day: float = 400.0, *, late: bool = False) -> DayTable:
    """Rewards of 0 and 1 of three arms; `late`: the third has none in the first half."""
    rate = np.asarray(rate, float)
    shares = np.ones_like(rate)
    if late:
        shares[: len(rate) // 2, 2] = 0.0
    number = random.poisson(per_day * shares / shares.sum(axis=1, keepdims=True))
    return table_of(number, random.binomial(number, rate))


def constant(days: int) -> Any:
    return np.tile([0.05, 0.055, 0.06], (days, 1))


# -------------------------------------------------------------------------------------------------- the mathematics


def cells(table: DayTable) -> tuple[Any, Any, Any, Any]:
    """The twin: one mean and weight per day and arm, with the plain variance of all rewards within days and arms."""
    seen = [(d, a) for d in range(len(table.days)) for a in range(len(table.labels)) if table.number[d, a] > 0]
    means = np.array([table.sums[d, a] / table.number[d, a] for d, a in seen])
    weights = np.array([table.number[d, a] for d, a in seen])
    return seen, means, weights, table


def plain_fit(table: DayTable, *columns: Any) -> tuple[Any, float]:
    """Least squares over all cells: a constant per arm, and columns by day."""
    seen, means, weights, _ = cells(table)
    design = np.array(
        [[*(float(a == arm) for arm in range(len(table.labels))), *(c[d] for c in columns)] for d, a in seen]
    )
    root = np.sqrt(weights)
    values, *_ = np.linalg.lstsq(design * root[:, None], means * root, rcond=None)
    return values[len(table.labels) :], float((weights * (means - design @ values) ** 2).sum())


def noise(table: DayTable) -> float:
    """The variance of a reward within its day and arm, averaged over the arms by their numbers."""
    found = []
    for a in range(len(table.labels)):
        inside, freedom = 0.0, 0.0
        for d in range(len(table.days)):
            n, total, square = table.number[d, a], table.sums[d, a], table.squares[d, a]
            if n > 0:
                inside, freedom = inside + square - total * total / n, freedom + n - 1.0
        found.append(inside / freedom)
    return float(np.average(found, weights=table.number.sum(axis=0)))


@pytest.mark.parametrize("late", [False, True])
def test_line_and_scatter_are_those_of_least_squares_over_all_cells(late: bool) -> None:
    """Where days scatter no more than chance: with tau = 0, effects by day and cells are the same model."""
    random = np.random.default_rng(4)
    places = np.arange(30.0)
    table = visits(random, constant(30) * (1.0 - 0.015 * places[:, None]), 3000.0, late=late)
    found = over_time(table)
    assert found.trend is not None
    assert found.scatter is not None
    every = [(places == day).astype(float) for day in range(29)]
    (slope,), rest = plain_fit(table, places)
    _, least = plain_fit(table, *every)
    dispersion = (rest - least) / noise(table)
    assert found.scatter.p_value == pytest.approx(stats.chi2.sf(dispersion, 28), rel=1e-6)
    tolerance = 0.02 if dispersion > 28 else 1e-9  # with tau > 0 days have other weights
    assert found.trend.end - found.trend.begin == pytest.approx(29.0 * slope, rel=tolerance)
    grand = table.sums.sum() / table.number.sum()
    middle = np.average(places, weights=table.number.sum(axis=1))
    assert found.trend.begin == pytest.approx(grand - middle * slope, rel=tolerance)
    assert found.scatter.is_rest


def test_where_days_scatter_alike_the_line_is_that_of_scipy() -> None:
    random = np.random.default_rng(8)
    effects = 0.06 - 0.0016 * np.arange(20) + random.normal(0.0, 0.004, 20)
    number = np.full((20, 2), 5000.0)
    table = table_of(number, np.round(number * np.column_stack([effects, effects + 0.01])))
    trend = over_time(table).trend
    usual = stats.linregress(np.arange(20.0), (table.sums / number).mean(axis=1))
    assert trend is not None
    assert trend.p_value == pytest.approx(usual.pvalue, rel=1e-6)
    assert trend.end - trend.begin == pytest.approx(19.0 * usual.slope, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("days", "per_day", "late"), [(42, 400.0, False), (30, 60.0, True), (14, 200.0, True)])
def test_chance_makes_a_sentence_in_less_than_1_of_100_logs(days: int, per_day: float, late: bool) -> None:
    wrong = 0
    for seed in range(300):
        found = over_time(visits(np.random.default_rng([seed, days]), constant(days), per_day, late=late))
        assert found.scatter is not None
        wrong += found.trend is not None or found.weekdays is not None or found.scatter.is_more
    assert wrong <= stats.binom.ppf(0.999, 300, 0.01)


@pytest.mark.slow
def test_days_that_scatter_make_no_trend_and_no_weekday() -> None:
    wrong = scattered = 0
    for seed in range(300):
        random = np.random.default_rng([seed, 77])
        found = over_time(visits(random, constant(35) * random.normal(1.0, 0.2, (35, 1)), 1500.0))
        wrong += found.trend is not None or found.weekdays is not None
        scattered += found.scatter is not None and found.scatter.is_more
    assert wrong <= stats.binom.ppf(0.999, 300, 2.0 * LEVEL)
    assert scattered >= 290


@pytest.mark.slow
def test_trends_and_weekends_are_found() -> None:
    falls, weekends, mondays = 0, 0, 0
    for seed in range(40):
        random = np.random.default_rng([seed, 5])
        day = np.arange(42)[:, None]
        trend = over_time(visits(random, constant(42) * (1.0 - 0.2 * day / 41), 3000.0)).trend
        falls += trend is not None and trend.end < trend.begin
        weekdays = over_time(visits(random, constant(42) * np.where(day % 7 >= 5, 0.8, 1.0), 3000.0)).weekdays
        weekends += weekdays is not None and weekdays.weekend is not None and -0.02 < weekdays.weekend < -0.004
        weekdays = over_time(visits(random, constant(42) * np.where(day % 7 == 0, 1.4, 1.0), 3000.0)).weekdays
        mondays += weekdays is not None and weekdays.weekend is None and weekdays.highest == WEEKDAYS[0]
    assert falls >= 36
    assert weekends >= 32
    assert mondays >= 36


def test_an_arm_that_comes_late_makes_no_trend() -> None:
    random = np.random.default_rng(2)
    number = np.tile([3000.0, 0.0], (20, 1))
    number[10:] = [0.0, 3000.0]  # the second arm replaces the first, and is better
    table = table_of(number, random.binomial(number.astype(int), [0.05, 0.08]))
    assert over_time(table).trend is None
    mixed = number + np.array([200.0, 0.0])
    table = table_of(mixed, random.binomial(mixed.astype(int), [0.05, 0.08]))
    assert over_time(table).trend is None


def test_short_or_constant_logs_say_nothing() -> None:
    number = np.full((5, 2), 1000.0)
    assert over_time(table_of(number, 0.1 * number)) == over_time(table_of(number[:2], 0.2 * number[:2]))
    number = np.full((10, 2), 1000.0)
    found = over_time(table_of(number, number, number))
    assert found.trend is None
    assert found.scatter is not None
    assert not found.scatter.is_more


# ------------------------------------------------------------------------------------------------------------ bands


@pytest.mark.parametrize(("hits", "number"), [(0, 10), (3, 40), (50, 1000), (7, 7)])
def test_the_band_of_a_rate_is_wilsons(hits: int, number: int) -> None:
    usual = stats.binomtest(hits, number).proportion_ci(0.95, method="wilson")
    found = wilson(np.array(hits / number), np.array(float(number)))
    assert [float(end) for end in found] == pytest.approx([usual.low, usual.high], abs=1e-12)


@pytest.mark.parametrize("law", ["rate", "stars", "skewed"])
def test_bands_hold_for_about_95_of_100_days(law: str, result: LogResult) -> None:
    random = np.random.default_rng(6)
    draws: dict[str, Any] = {
        "rate": lambda size: random.binomial(1, 0.1, size) * 1.0,
        "stars": lambda size: random.choice(np.arange(1.0, 6.0), size, p=[0.1, 0.1, 0.2, 0.3, 0.3]),
        "skewed": lambda size: random.exponential(1.0, size),
    }
    true = {"rate": 0.1, "stars": 3.6, "skewed": 1.0}[law]
    rows = draws[law]((400, 3, 40))
    number, sums, squares = np.full((400, 3), 40.0), rows.sum(axis=2), (rows**2).sum(axis=2)
    table = DayTable(
        ("A", "B", "<b>C & co</b>"), ("",) * 400, number, sums, squares, rows.min(axis=2), rows.max(axis=2), "hour"
    )
    judged = replace(result, metric=replace(result.metric, is_rate=law == "rate"), bounds=None)
    series = with_series(judged, table).series
    assert series is not None
    inside = [low <= true <= high for arm in series.arms for low, high in zip(arm.low, arm.high, strict=True)]
    assert 0.935 <= np.mean(inside) <= 0.985


# ---------------------------------------------------------------------------------------------------------- the log


def frame(days: int = 21, per_day: int = 300) -> pd.DataFrame:
    random = np.random.default_rng(12)
    rows = days * per_day
    day = random.integers(0, days, rows)
    arm = random.choice(["A", "B", "<b>C & co</b>"], rows)
    rate = pd.Series(arm).map({"A": 0.3, "B": 0.2, "<b>C & co</b>": 0.1}).to_numpy() * (1.0 - 0.6 * day / days)
    when = pd.Timestamp("2024-03-04") + pd.to_timedelta(day * DAY + random.integers(0, 86400, rows), unit="s")
    kept = (day != 5) & ~((day == 7) & (arm == "B"))
    columns: dict[str, Any] = {"variant": arm, "clicked": random.binomial(1, rate), "timestamp": when}
    return pd.DataFrame({name: column[kept] for name, column in columns.items()})


@pytest.fixture(scope="module")
def result() -> LogResult:
    return ba.identify_log(frame())


def test_the_series_has_the_numbers_of_the_log(result: LogResult) -> None:
    series, log = result.series, frame()
    assert series is not None
    day = log["timestamp"].dt.strftime("%Y-%m-%d")
    assert list(series.names) == sorted(day.unique())
    assert len(series.names) == 20  # one day has no reward
    assert series.noun == "day"
    assert series.is_calendar
    assert list(series.number) == day.value_counts().sort_index().tolist()
    assert [arm.label for arm in series.arms] == ["A", "B", "<b>C & co</b>"]
    for arm in series.arms:
        mine = log[log["variant"] == arm.label].groupby(day)["clicked"].agg(["count", "mean"])
        for place, name in enumerate(series.names):
            if name not in mine.index:
                assert arm.number[place] == 0
                assert all(math.isnan(each[place]) for each in (arm.mean, arm.low, arm.high))
                continue
            assert arm.number[place] == mine.loc[name, "count"]
            assert arm.mean[place] == pytest.approx(mine.loc[name, "mean"])
            assert arm.low[place] < arm.mean[place] < arm.high[place]
    assert series.trend is not None
    assert series.trend.begin > series.trend.end
    assert series.sentences[0].startswith("The mean clicked falls over time, all arms taken together, from about ")


def test_the_finding_and_the_series_say_the_same_numbers(result: LogResult) -> None:
    found = next(each for each in result.findings if each.kind == "trend")
    assert result.series is not None
    assert found.text.partition("from about ")[2] == result.series.sentences[0].partition("from about ")[2].rstrip(".")


def test_json_has_it_with_null_for_days_without_rewards(result: LogResult) -> None:
    assert result.series is not None
    plain = json.loads(result.to_json())["series"]
    assert plain["names"] == list(result.series.names)
    assert plain["arms"][1]["label"] == "B"
    assert plain["arms"][1]["mean"].count(None) == 1
    assert plain["trend"]["p_value"] <= LEVEL
    assert plain["weekdays"] is None
    bare = ba.identify_log(frame().drop(columns="timestamp"))
    assert bare.series is None
    assert json.loads(bare.to_json())["series"] is None
    assert ba.identify_log(frame(), inspect=False).series is None


def test_units_and_arms_of_a_lower_is_better_log_are_those_of_the_user() -> None:
    random = np.random.default_rng(1)
    arm = random.integers(0, 30, 9000)
    log = pd.DataFrame({
        "server": arm, "latency_ms": random.gamma(4.0, 25.0, 9000) + 2.0 * arm,
        "ts": 1_700_000_000 + random.integers(0, 36 * 3600, 9000),
    })  # fmt: skip
    found = ba.identify_log(log, lower_is_better=True, bounds=(0, 2000))
    series = found.series
    assert series is not None
    assert series.noun == "hour"
    assert len(series.arms) == 20
    assert series.left_out == 10
    assert series.trend is None
    means = log.groupby(log["server"].astype(str))["latency_ms"].mean()
    first = series.arms[0]
    total = sum(number * mean for number, mean in zip(first.number, first.mean, strict=True) if number)
    assert total / sum(first.number) == pytest.approx(means[str(first.label)])
    assert first.label == found.leader
    assert all(low >= 0.0 for low in first.low if not math.isnan(low))


def test_rows_of_a_ratio_are_no_shares_and_those_of_a_cap_are_as_they_stand() -> None:
    random = np.random.default_rng(4)
    seen = 20 + random.poisson(30, 4000)
    log = pd.DataFrame({
        "user": np.arange(4000), "page": random.choice(["A", "B"], 4000), "clicks": random.binomial(seen, 0.1),
        "views": seen, "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 10, 4000), unit="D"),
    })  # fmt: skip
    ratio = ba.identify_log(log, arm="page", reward="clicks", per="views", source="user", cap=20)
    capped = ba.identify_log(log, arm="page", reward="clicks", cap=4)
    means = log[log["page"] == "A"].groupby("date")["clicks"].mean()
    for found in (ratio, capped):
        assert found.series is not None
        each = next(arm for arm in found.series.arms if arm.label == "A")
        assert list(each.mean) == pytest.approx(list(means))
        assert all(low < mean < high for low, mean, high in zip(each.low, each.mean, each.high, strict=True))
        assert not any("%" in sentence or "points" in sentence for sentence in found.series.sentences)
        panel = draw(found).axes[-2]
        assert panel.get_title(loc="left").startswith("clicks: mean of each page over time")
        assert panel.yaxis.get_major_formatter()(5.0, 0) != "500 %"
        assert any("as they stand, without a cap" in note.get_text() for note in panel.texts)


def test_titles_side_by_side_do_not_run_into_each_other() -> None:
    random = np.random.default_rng(5)
    name = "revenue_of_the_first_thirty_days_in_euros"
    log = pd.DataFrame({"checkout_page": random.choice(["A", "B"], 800), name: random.gamma(1.0, 20.0, 800)})
    figure = draw(ba.identify_log(log, arm="checkout_page", reward=name, cap=100))
    figure.canvas.draw()
    one, other = figure.axes[:2]
    texts = [one._left_title, *one.texts]  # type: ignore[attr-defined]
    assert max(text.get_window_extent().x1 for text in texts) < other.get_window_extent().x0
    assert any("counted up to 100 per " in " ".join(text.get_text().split()) for text in texts)


def test_years_of_days_are_at_most_400_stretches() -> None:
    random = np.random.default_rng(3)
    log = pd.DataFrame({
        "caption": random.choice(["A", "B"], 6000), "stars": random.integers(1, 6, 6000),
        "date": pd.Timestamp("2019-01-01") + pd.to_timedelta(random.integers(0, 900, 6000), unit="D"),
    })  # fmt: skip
    found = ba.identify_log(log, bounds=(1, 5))
    assert found.series is not None
    assert len(found.series.names) <= 400
    assert found.series.width == 3 * DAY
    assert found.series.sentences[-1].startswith("Between stretches of 3 days the mean of all arms scatters by ")
    means = draw(found).axes[-2]
    assert max(np.size(line.get_xdata()) for line in means.lines) <= 90


# -------------------------------------------------------------------------------------------- report, plot, notebook


def test_report_plot_and_command_show_it(result: LogResult, tmp_path: Path) -> None:
    assert result.series is not None
    result.report(tmp_path / "page.html")
    result.report(tmp_path / "page.md")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    part = html.unescape(page.partition('id="time"')[2].partition("<h2")[0])
    for sentence in result.series.sentences:
        assert sentence in part
    assert "95 % for that point and that arm alone, if nothing is fake (Wilson's interval)" in part
    assert part.count("<figure") == 1
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "## Over time" in text
    frame().to_csv(tmp_path / "log.csv", index=False)
    said = " ".join(bestarm("identify", tmp_path / "log.csv", "--explain").stdout.split())
    for sentence in result.series.sentences:
        assert sentence in said


def test_the_picture_shows_the_means_with_gaps_and_the_numbers(result: LogResult) -> None:
    assert result.series is not None
    *_, means, counts = result.plot().axes
    assert means.get_title(loc="left").startswith("clicked: rate of each variant over time")
    bars: Any = counts.patches
    assert [bar.get_height() for bar in bars] == list(result.series.number)
    first = max(means.lines, key=lambda line: line.get_linewidth())
    y = np.ravel(first.get_ydata())
    assert np.isnan(y).sum() == 1  # the day without any reward
    assert list(y[~np.isnan(y)]) == pytest.approx(list(result.series.arms[0].mean))
    assert {note.get_text() for note in means.texts} >= {"A", "B"}
    assert len(draw(result, series=False).axes) == len(result.plot().axes) - 2


def test_a_notebook_shows_the_lines_the_arms_and_what_it_survives(result: LogResult) -> None:
    page = result._repr_html_()
    assert "<b>C" not in page
    assert "&lt;b&gt;C &amp; co&lt;/b&gt;" in page
    text = html.unescape(re.sub(r"<[^>]+>", " ", page))
    for line in result.lines:
        assert line in text
    for row in result.arms:
        assert f"{row.pulls:,}" in text
        assert f"{row.lower:.4f} to {row.upper:.4f}" in text
    assert f"{result.overturn} replaced rewards" in text
    assert "<td><b>A</b></td>" in page
    assert page.count("<tr") == 4
