"""Control, uplift, arms that were drawn at random, rows and segments: numbers by hand, and how often they are wrong."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bestarm.errors import InputError
from bestarm.identification.finding import Finding
from bestarm.identification.wording.control_page import ControlPage
from bestarm.log.coins import most_fakes
from bestarm.log.rewards import Rewards
from bestarm.log.segments import SegmentedResult
from bestarm.log.trust import with_findings
from bestarm.log.uplift import Ends, least_ratio
from bestarm.log.verdict import identify_log
from command_line import bestarm

DELTA = 0.3


def visits(*arms: tuple[int, int]) -> Rewards:
    """Arms A, B, ... with so many successes of so many visits."""
    counts = tuple(np.array([number - good, good]) for good, number in arms)
    return Rewards(tuple("ABCDEFGH"[: len(arms)]), (np.array([0.0, 1.0]),) * len(arms), counts)


def frame(seed: int = 1, size: int = 6000) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    variant = random.choice(["a", "b", "c"], size)
    country = random.choice(["DE", "FR", ""], size, p=[0.6, 0.35, 0.05])
    converted = random.binomial(1, pd.Series(variant).map({"a": 0.1, "b": 0.11, "c": 0.2}))
    return pd.DataFrame({"variant": variant, "converted": converted, "country": country, "user_id": np.arange(size)})


def is_kept(wrong: int, trials: int, delta: float = DELTA) -> bool:
    """Whether so many errors are what a promise of delta allows; chance breaks it once in ten thousand."""
    return wrong <= stats.binom.isf(1e-4, trials, delta)


# ------------------------------------------------------------------------------------------------------------- control


def test_the_arms_that_beat_a_control_are_those_of_fishers_test_at_a_shared_level() -> None:
    random = np.random.default_rng(2)
    for _ in range(25):
        goods = random.binomial(3000, [0.10, 0.11, 0.125, 0.13])
        result = identify_log(visits(*((int(good), 3000) for good in goods)), control="A")
        for each in result.comparisons:
            good = int(goods["ABCD".index(str(each.label))])
            table = [[good, 3000 - good], [int(goods[0]), 3000 - int(goods[0])]]
            p_value = stats.fisher_exact(np.array(table), alternative="greater").pvalue
            assert each.better == (p_value <= 0.95 * 0.05 / 3)
            assert each.p_value == pytest.approx(min(1.0, 3 * p_value / 0.95), rel=1e-6)
            assert each.better == (each.lead > 0.0) == (each.uplift is not None and each.uplift.low > 0.0)


def test_what_a_variant_survives_is_the_largest_number_of_flips_in_the_worst_split() -> None:
    result = identify_log(visits((60, 600), (110, 600), (95, 600)), control="A")
    for each, good in zip(result.comparisons, (110, 95), strict=True):
        level, found = 0.95 * 0.05 / 2, -1
        for count in range(60):
            splits = ((good - i, 600 - good + i, 60 + count - i, 540 - count + i) for i in range(count + 1))
            worst = max(stats.hypergeom.sf(b - 1, 1200, b + a, b + f) for b, f, a, _ in splits)
            if worst > level:
                break
            found = count
        assert each.overturn == found


def test_a_verdict_with_a_control_names_what_it_proves_and_no_more() -> None:
    result = identify_log(frame(), control="a")
    assert [each.label for each in result.comparisons] == ["c", "b"]
    assert result.best == "c"
    assert result.candidates == ("c",)
    assert result.trusted
    assert result.lines[0].startswith("c beats the control a in converted rate: ")
    assert "best" not in " ".join(result.lines)
    assert "highest mean" not in str(result)
    plain = json.loads(result.to_json())
    assert plain["comparisons"][0]["uplift"]["low"] > 0.0
    assert result.overturn == result.comparisons[0].overturn


def test_lower_is_better_turns_everything_around() -> None:
    log = frame().assign(converted=lambda rows: 1 - rows["converted"])
    lower = identify_log(log, control="a", lower_is_better=True).comparisons[0]
    higher = identify_log(frame(), control="a").comparisons[0]
    assert lower.better
    assert lower.overturn == higher.overturn
    assert lower.lead == pytest.approx(higher.lead)
    assert lower.uplift is not None
    assert lower.uplift.high < 0.0
    assert lower.uplift.estimate < lower.uplift.high
    legend = next(ControlPage(identify_log(log, control="a", lower_is_better=True)).legend(25))
    assert legend == "Green: of the arms that are better than the control, the one with the lowest mean."


def test_a_control_that_is_no_arm_is_refused_with_the_arms() -> None:
    with pytest.raises(InputError, match="'a', 'b', 'c'") as caught:
        identify_log(frame(), control="z")
    assert caught.value.parameter == "control"


def test_a_finding_counts_against_each_arm_by_what_that_survives() -> None:
    result = identify_log(visits((300, 3000), (390, 3000), (600, 3000)), control="A")
    strong, weak = result.comparisons
    assert strong.overturn is not None
    assert weak.overturn is not None
    assert weak.overturn < 100 < strong.overturn
    found = with_findings(result, [Finding("duplicates", 100, None, 0.01, "100 visits occur twice")])
    strong, weak = found.comparisons
    assert strong.trusted
    assert not weak.trusted
    assert not found.trusted
    assert found.doubts == ("100 visits occur twice: more than the lead of B over A survives.",)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [{}, {"stopping": "any"}])
def test_a_tie_with_the_control_is_decided_wrongly_at_most_as_often_as_promised(kind: dict[str, Any]) -> None:
    random, trials = np.random.default_rng(3), 100
    wrong = 0
    for _ in range(trials):
        goods = random.binomial(800, [0.2, 0.2, 0.2, 0.2])
        log = visits(*((int(good), 800) for good in goods))
        wrong += identify_log(log, control="A", delta=DELTA, **kind).best is not None
    assert is_kept(wrong, trials)
    assert kind or wrong > 0.05 * trials  # the exact test uses what it has


# -------------------------------------------------------------------------------------------------------------- uplift


def test_the_least_ratio_is_that_of_a_fine_grid() -> None:
    random = np.random.default_rng(4)
    for _ in range(30):
        b, a = np.sort(random.uniform(0.01, 0.9, (2, 2)), axis=1)
        means_b, means_a = np.meshgrid(np.linspace(b[0], b[1], 200), np.linspace(a[0], a[1], 200))
        odds = means_b * (1 - means_a) / (means_a * (1 - means_b))
        log_odds = float(np.quantile(np.log(odds), random.uniform(0.05, 0.6)))
        inside = np.log(odds) >= log_odds
        found = least_ratio(log_odds, Ends(*map(float, b)), Ends(*map(float, a)))
        least = float((means_b / means_a)[inside].min())
        assert found <= least * (1.0 + 1e-9)
        assert found == pytest.approx(least, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [{}, {"stopping": "any"}, {"control": "A"}])
def test_bounds_of_uplifts_and_leads_cover_together(kind: dict[str, Any]) -> None:
    random, trials, wrong = np.random.default_rng(5), 80, 0
    means = np.array([0.1, 0.12, 0.2])
    for _ in range(trials):
        goods = random.binomial(1500, means)
        result = identify_log(visits(*((int(good), 1500) for good in goods)), delta=DELTA, **kind)
        pairs = [(each.label, each.uplift) for each in result.comparisons] or [(result.leader, result.uplift)]
        missed = False
        for label, uplift in pairs:
            assert uplift is not None
            true = means["ABC".index(str(label))] / means["ABC".index(str(uplift.over))] - 1.0
            assert uplift.low <= uplift.estimate <= uplift.high
            missed |= not uplift.low <= true <= uplift.high
        wrong += missed
    assert is_kept(wrong, trials, 1.0 - result.all_hold)


def test_an_uplift_is_positive_if_and_only_if_an_arm_is_named_over_the_next() -> None:
    random = np.random.default_rng(6)
    for stopping in ("fixed", "any"):
        for _ in range(40):
            goods = random.binomial(2000, [0.1, 0.125])
            result = identify_log(visits(*((int(good), 2000) for good in goods)), stopping=stopping)
            assert result.uplift is not None
            assert (result.uplift.low > 0.0) == (result.best is not None)


def test_an_uplift_over_a_mean_that_may_be_0_has_no_upper_bound() -> None:
    result = identify_log(visits((0, 500), (40, 500)))
    assert result.uplift is not None
    assert math.isinf(result.uplift.high)
    assert json.loads(result.to_json())["uplift"]["high"] is None


# ------------------------------------------------------------------------------------------------------------ assigned


def test_as_many_fakes_as_are_allowed_for_are_hardly_exceeded() -> None:
    numbers = np.array([500.0, 2000.0])
    for epsilon in (0.001, 0.01, 0.1):
        most = most_fakes(numbers, epsilon, 0.01)
        assert np.all(stats.binom.sf(most, numbers, epsilon) <= 0.01)
        assert np.all(stats.hypergeom.sf(most, 2500, math.floor(2500 * epsilon), numbers) <= 0.01)
    epsilons = [0.0, 1e-6, 1e-4, 1e-3, 0.01, 0.1, 0.3, 0.49]
    grown = [most_fakes(numbers, epsilon, 0.01) for epsilon in epsilons]
    assert all((one <= two).all() for one, two in itertools.pairwise(grown))


@pytest.mark.slow
@pytest.mark.parametrize("sees", [False, True])
def test_a_coin_whose_fakes_do_their_worst_is_within_delta(sees: bool) -> None:
    """At a tie, fakes are successes of B and failures of A; a coin that sees hits only rewards that it changes."""
    random, trials, wrong, epsilon, number = np.random.default_rng(7), 100, 0, 0.02, 1500
    for _ in range(trials):
        clean = random.random((2, number)) < 0.3
        hit = random.random((2, number)) < epsilon
        target = np.array([[False], [True]])
        spoiled = np.where(hit, target, clean)
        if sees:  # the coins of rewards that need no change are moved to those that do
            for arm in (0, 1):
                wants = np.flatnonzero(clean[arm] != target[arm])
                spoiled[arm] = clean[arm]
                spoiled[arm, wants[random.random(wants.size) < epsilon]] = target[arm]
        goods = spoiled.sum(axis=1)
        result = identify_log(
            visits(*((int(good), number) for good in goods)), delta=DELTA, epsilon=epsilon, assigned=True
        )
        wrong += result.best is not None
    assert is_kept(wrong, trials)


def test_an_answer_at_a_chance_is_that_of_fisher_with_as_many_flips() -> None:
    log = visits((150, 3000), (260, 3000))
    result = identify_log(log, assigned=True)
    assert result.exact
    assert result.options["contamination"] == "prescient"
    assert result.tolerance is not None

    def is_named(epsilon: float) -> bool:
        level = 0.05 * 0.05 / 2
        share = stats.hypergeom.isf(level, 6000, math.floor(6000 * epsilon), 3000)
        flips = max(stats.binom.isf(level, 3000, epsilon), share)
        good_b, good_a = 260 - flips, 150 + flips
        return bool(stats.hypergeom.sf(good_b - 1, 6000, good_a + good_b, 3000) <= 0.95 * 0.05)

    assert is_named(result.tolerance)
    assert not is_named(result.tolerance + 1e-5)
    assert "chance above" in result.lines[1]


def test_sources_that_were_drawn_an_arm_each_are_units() -> None:
    log = frame()
    twice = pd.concat([log, log.assign(converted=1)], ignore_index=True)
    result = identify_log(twice, assigned=True, source="user_id")
    once = identify_log(log, assigned=True)
    assert result.units == 6000
    assert result.rows == 12_000
    assert result.ignored == 6000
    assert result.tolerance == once.tolerance
    assert result.best == once.best
    assert "a user is fake with a chance" in result.lines[1]


def test_assigned_does_not_go_with_a_share() -> None:
    with pytest.raises(InputError) as caught:
        identify_log(frame(), assigned=True, contamination="share-of-all")
    assert caught.value.parameter == "contamination"


# ---------------------------------------------------------------------------------------------------- rows and segments


def test_where_looks_at_the_same_rows_as_a_smaller_log(tmp_path: Path) -> None:
    log = frame()
    log.loc[log["country"] == "FR", "converted"] = -7  # bad, and not looked at
    log.to_csv(tmp_path / "log.csv", index=False)
    few = log[log["country"] == "DE"]
    for data in (tmp_path / "log.csv", log):
        result = identify_log(data, where="country = 'DE'", without="user_id % 2 = 0")
        expected = identify_log(few, without="user_id % 2 = 0")
        assert result.means == expected.means
        assert result.overturn == expected.overturn
        assert result.lines[0].startswith(f"Among the {result.rows:,} visits with country = 'DE', ")
        assert result.left_out == expected.left_out
    for bad in ("converted = 1", "nope = 1", "country ="):
        with pytest.raises(InputError) as caught:
            identify_log(log, where=bad)
        assert caught.value.parameter == "where"


def test_segments_are_the_verdicts_on_their_rows_at_a_share_of_delta() -> None:
    log = frame()
    result: Any = identify_log(log, by="country")
    assert isinstance(result, SegmentedResult)
    assert list(result) == ["DE", "FR", "(empty)"]
    for segment, found in result.items():
        rows = log[log["country"] == segment.replace("(empty)", "")]
        alone = identify_log(rows.drop(columns="country"), delta=0.05 / 3)
        assert found.means == alone.means
        assert found.best == alone.best
        assert found.overturn == alone.overturn
        assert found.delta == pytest.approx(0.05 / 3)
    assert list(result.to_frame()["country"].unique()) == ["DE", "FR", "(empty)"]
    assert [each["segment"] for each in json.loads(result.to_json())["segments"]] == ["DE", "FR", "(empty)"]
    with pytest.raises(InputError, match="where"):
        result.certificate()


def test_a_segment_with_one_arm_has_no_verdict_but_shares_delta() -> None:
    log = frame()
    log = pd.concat([log, log[log["variant"] == "a"].head(5).assign(country="AT")], ignore_index=True)
    result: Any = identify_log(log, by="country")
    assert result.skipped == {"AT": "a is the only arm in it"}
    assert result["DE"].delta == 0.05 / 4


def test_bad_segments_are_refused() -> None:
    for bad, message in (("user_id", "6,000 in user_id"), ("nope", "the columns are"), ("variant", "the arm")):
        with pytest.raises(InputError, match=message) as caught:
            identify_log(frame(), by=bad)
        assert caught.value.parameter == "by"


@pytest.mark.slow
def test_any_wrong_segment_is_within_delta() -> None:
    """Of three segments, all tied: the same verdicts as `by` gives, from counts, each at a third of delta."""
    random, trials, wrong = np.random.default_rng(8), 80, 0
    for _ in range(trials):
        found = [
            identify_log(visits((int(a), 600), (int(b), 600)), delta=DELTA / 3).best
            for a, b in random.binomial(600, 0.3, (3, 2))
        ]
        wrong += any(best is not None for best in found)
    assert is_kept(wrong, trials)


def test_the_command_line_writes_all_of_it(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    frame().to_csv(log, index=False)
    done = bestarm(
        "identify", log, "--control", "a", "--report", tmp_path / "r.html", "--certificate", tmp_path / "c.json"
    )
    assert done.stdout.startswith("c beats the control a in converted rate: ")
    assert done.returncode == 0
    assert "which variants beat the control a?" in (tmp_path / "r.html").read_text()
    assert bestarm("verify", tmp_path / "c.json", log).returncode == 0
    parts = bestarm("identify", log, "--by", "country", "--format", "json", "--report", tmp_path / "s.html")
    assert len(json.loads(parts.stdout)["segments"]) == 3
    assert parts.returncode == 0
    assert "country = DE" in (tmp_path / "s.html").read_text()
    assert bestarm("identify", log, "--by", "country", "--format", "csv").stdout.startswith("segment,label,")
