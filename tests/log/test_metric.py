"""What is measured of a log: ratios against a plain twin, caps, one number per source, and how often each is wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

import bestarm as ba
from bestarm.errors import InputError, UnclearError
from bestarm.log.ratio import RatioEvidence
from bestarm.log.result import LogResult
from bestarm.log.rewards import SourceTable
from bestarm.problem import pose

Floats = NDArray[np.float64]
LAMBDAS = [0.95 / 1.6**power for power in range(14)]
CLICKS = {"arm": "variant", "reward": "clicks", "source": "user", "per": "impressions"}


def clicks(arm: Any, part: Any, whole: Any) -> pd.DataFrame:
    """A row per user."""
    names = [f"u{number}" for number in range(len(part))]
    variants = np.array(["A", "B", "C"])[np.asarray(arm)]
    return pd.DataFrame({"variant": variants, "clicks": part, "impressions": whole, "user": names})


def heavy_users(rng: np.random.Generator, number: int, rates: tuple[float, ...]) -> pd.DataFrame:
    """Users of several variants: a few see very much, and users click at rates of their own."""
    arm = rng.integers(len(rates), size=number)
    whole = rng.geometric(1 / 8, number) + (rng.random(number) < 0.05) * rng.integers(30, 200, number)
    own = rng.beta(1.0, 9.0, number) * 10.0 * np.array(rates)[arm]
    return clicks(arm, rng.binomial(whole, np.minimum(own, 1.0)), whole)


def evidence_of(frame: pd.DataFrame, most: float) -> RatioEvidence:
    """The evidence about users of variants A and B, delta = .3, each with at most so many impressions."""
    whole = frame["impressions"].to_numpy(float)
    scale = np.minimum(most / whole, 1.0) / most
    arm = (frame["variant"] == "B").to_numpy().astype(np.int32)
    number = len(frame)
    table = SourceTable(
        arm, np.arange(number, dtype=np.int32), frame["clicks"].to_numpy() * scale, number, None, whole * scale
    )
    problem = pose(["A", "B"], delta=0.3, epsilon=0.0, bounds=(0.0, 1.0))
    return RatioEvidence(problem, table, ba_sources())


def ba_sources() -> Any:
    from bestarm.contamination import resolve

    return resolve("sources")


# ---------------------------------------------------------------------------------------------------- against the twin


def plain_evidence(b: list[tuple[float, float]], a: list[tuple[float, float]], ratio: float, fakes: int) -> float:
    """The log of the mixture at one ratio, less the worst that so many fakes can have done, one by one."""
    total = 0.0
    for up in LAMBDAS:
        for down in LAMBDAS:
            logs = [math.log1p(up * (x - ratio * w) / ratio) for x, w in b]
            logs += [math.log1p(-down * (x - ratio * w) / (1.0 - ratio)) for x, w in a]
            worst = sorted(logs, reverse=True)[:fakes]
            cost = sum(max(each, 0.0) - math.log1p(-max(up, down)) for each in worst)
            total += math.exp(sum(logs) - cost) / len(LAMBDAS) ** 2
    return math.log(total)


@pytest.mark.parametrize("fakes", [0, 1, 4])
def test_evidence_is_just_below_the_least_of_the_plain_twin(fakes: int) -> None:
    """The cells and prices only lose: what is claimed lies below the infimum on a fine grid, and not far."""
    frame = heavy_users(np.random.default_rng(3), 160, (0.1, 0.45))
    evidence = evidence_of(frame, 20.0)
    whole = frame["impressions"].to_numpy(float)
    scale = np.minimum(20.0 / whole, 1.0) / 20.0
    part, whole = (frame["clicks"] * scale).to_numpy(), whole * scale
    of_b = (frame["variant"] == "B").to_numpy()
    b, a = (list(zip(part[those], whole[those], strict=True)) for those in (of_b, ~of_b))
    twin = min(plain_evidence(b, a, ratio, fakes) for ratio in np.linspace(0.05, 0.6, 150))
    found = evidence.log_evidence(1, 0, evidence.at_count(fakes))
    assert max(twin, 0.0) - 0.35 - 0.1 * twin * (fakes > 0) <= found <= max(twin, 0.0) + 0.01
    assert fakes > 0 or found > 3.0


def test_a_fake_costs_at_least_what_it_can_add() -> None:
    """With users replaced by the worst ones, the evidence at that count is below the evidence of the clean users."""
    rng = np.random.default_rng(8)
    for _ in range(5):
        clean = heavy_users(rng, 120, (0.3, 0.3))
        before = evidence_of(clean, 20.0)
        seen = clean.copy()
        changed = rng.choice(120, 6, replace=False)
        seen.loc[changed, "impressions"] = 20
        seen.loc[changed, "clicks"] = 20 * (rng.random(6) < 0.7)
        seen.loc[changed[:3], "variant"] = "B"
        after = evidence_of(seen, 20.0)
        for b, a in ((0, 1), (1, 0)):
            assert after.log_evidence(b, a, after.at_count(6)) <= before.log_evidence(b, a, before.at_count(0)) + 0.3


def test_a_count_in_proportion_has_more_evidence_than_a_drawn_one() -> None:
    """Of a user above the cap the mean of the hypergeometric draw counts: the same ratio, with less chance in it."""
    rng = np.random.default_rng(5)
    frame = heavy_users(rng, 1500, (0.10, 0.16))
    own = evidence_of(frame, 20.0)
    drawn = []
    for _ in range(8):
        thin = frame.copy()
        above = thin["impressions"] > 20
        hits, whole = thin.loc[above, "clicks"], thin.loc[above, "impressions"]
        thin.loc[above, "clicks"] = rng.hypergeometric(hits, whole - hits, 20)
        thin.loc[above, "impressions"] = 20
        one = evidence_of(thin, 20.0)
        drawn.append((one.locations[1], one.log_evidence(1, 0, one.at_count(0))))
    assert np.mean([rate for rate, _ in drawn]) == pytest.approx(own.locations[1], rel=0.01)
    assert own.log_evidence(1, 0, own.at_count(0)) > np.mean([nats for _, nats in drawn])


# ---------------------------------------------------------------------------------------------------- how often wrong


def most_wrong(trials: int, delta: float = 0.3) -> int:
    """The number of wrong answers that is exceeded with probability 1/1000 if each is wrong with probability delta."""
    return int(stats.binom.ppf(0.999, trials, delta))


@pytest.mark.slow
def test_ratios_of_heavy_users_at_a_tie_are_seldom_wrong() -> None:
    """A test of impressions is wrong far more often: the clicks of a user go together."""
    rng = np.random.default_rng(11)
    wrong = naive = 0
    for _ in range(120):
        frame = heavy_users(rng, 400, (0.2, 0.2))
        evidence = evidence_of(frame, 20.0)
        clean = evidence.at_count(0)
        wrong += int(evidence.is_proved(1, 0, clean) or evidence.is_proved(0, 1, clean))
        by = frame.groupby("variant")[["clicks", "impressions"]].sum()
        table = np.stack([by["clicks"], by["impressions"] - by["clicks"]])
        naive += int(stats.chi2_contingency(table, correction=False).pvalue <= 0.3)
    assert wrong <= most_wrong(120)
    assert naive > most_wrong(120)  # design effect


@pytest.mark.slow
def test_a_mean_per_source_at_a_tie_is_seldom_wrong() -> None:
    """Users who click more than once, and whose rewards go together, each on one arm."""
    rng = np.random.default_rng(12)
    wrong = 0
    for _ in range(100):
        users = rng.integers(2, size=150)
        number = rng.geometric(0.2, 150)
        own = rng.beta(0.3, 0.3, 150)
        user = np.repeat(np.arange(150), number)
        rows = {"variant": np.array(["A", "B"])[users[user]], "converted": rng.binomial(1, own[user]), "user": user}
        found = ba.identify_log(pd.DataFrame(rows), source="user", per_source="mean", delta=0.3, inspect=False)
        wrong += found.best is not None
    assert wrong <= most_wrong(100)


@pytest.mark.slow
def test_capped_tails_at_a_tie_of_the_capped_means_are_seldom_wrong() -> None:
    """B has a heavier tail and a higher plain mean; what counts up to the cap is equal."""
    rng = np.random.default_rng(13)
    wrong = 0
    for _ in range(100):
        paid = rng.random((2, 400)) < 0.2
        sizes = np.where(rng.random((2, 400)) < 0.5, 20.0, 100.0)
        sizes[1] = np.where(sizes[1] == 100.0, rng.pareto(0.8, 400) * 100.0 + 100.0, 20.0)
        rows = pd.DataFrame({"variant": np.repeat(["A", "B"], 400), "revenue": np.round(sizes * paid, 2).ravel()})
        found = ba.identify_log(rows, cap=100.0, delta=0.3, inspect=False)
        wrong += found.best is not None
    assert wrong <= most_wrong(100)


# ------------------------------------------------------------------------------------------------------- what is said


def answer(frame: pd.DataFrame, **settings: Any) -> LogResult:
    return ba.identify_log(frame, inspect=False, **settings)


@pytest.fixture(scope="module")
def ratio() -> LogResult:
    return answer(heavy_users(np.random.default_rng(2), 3000, (0.10, 0.18)), **CLICKS, cap=20)


def test_a_ratio_is_of_sums_and_is_said(ratio: LogResult) -> None:
    frame = heavy_users(np.random.default_rng(2), 3000, (0.10, 0.18))
    share = np.minimum(20.0 / frame["impressions"], 1.0)
    sums = (frame[["clicks", "impressions"]].mul(share, axis=0)).groupby(frame["variant"]).sum()
    assert ratio.best == "B"
    assert ratio.means == pytest.approx(dict(sums["clicks"] / sums["impressions"]))
    assert ratio.lines[0].startswith(
        "B has the highest ratio of clicks to impressions, counting at most 20 impressions per user: "
    )
    above = int((frame["impressions"] > 20).sum())
    assert ratio.lines[0].endswith(f"; {above} users have more.")
    assert (ratio.cap, ratio.capped, ratio.per, ratio.sources) == (20.0, above, "impressions", 3000)
    assert "honest sources of an arm have one mean of 'clicks' and 'impressions' each" in ratio.promise
    assert "a single arm" in ratio.promise
    for row in ratio.arms:
        assert row.lower < ratio.means[row.label] < row.upper
    lead = ratio.leads["A"]
    assert 0.0 < lead < ratio.means["B"] - ratio.means["A"]


def test_an_uplift_of_ratios_has_bounds_and_a_control_may_be_named() -> None:
    random = np.random.default_rng(41)
    rates = (0.10, 0.18, 0.10)
    frame = heavy_users(random, 4000, rates)
    plain = answer(frame, **CLICKS, cap=20)
    assert plain.uplift is not None
    assert 0.0 < plain.uplift.low < 0.8 < plain.uplift.high
    assert plain.uplift.low < plain.means["B"] / plain.means[plain.uplift.over] - 1.0 < plain.uplift.high
    result = answer(frame, **CLICKS, cap=20, control="A")
    one, other = result.comparisons
    assert (one.label, one.better, other.label, other.better) == ("B", True, "C", False)
    assert one.uplift is not None
    assert 0.0 < one.uplift.low < 0.8 < one.uplift.high
    assert one.uplift.estimate == pytest.approx(result.means["B"] / result.means["A"] - 1.0)
    assert result.lines[0].startswith("B beats the control A in the ratio of clicks to impressions: ")
    assert "a higher ratio of clicks to impressions than the control A" in str(result)


@pytest.mark.parametrize("logs", [8, pytest.param(60, marks=pytest.mark.slow)])
def test_ratios_beside_a_control_are_seldom_wrong_at_a_tie(logs: int) -> None:
    wrong = 0
    for seed in range(logs):
        frame = heavy_users(np.random.default_rng([42, seed]), 900, (0.12, 0.12, 0.12))
        result = answer(frame, **CLICKS, cap=20, control="A", delta=0.3)
        wrong += any(
            each.better or each.worse or each.uplift is None or not each.uplift.low <= 0.0 <= each.uplift.high
            for each in result.comparisons
        )
    assert wrong <= stats.binom.isf(1e-5, logs, 0.3)


def test_the_order_of_rows_and_how_they_are_split_do_not_matter(ratio: LogResult) -> None:
    frame = heavy_users(np.random.default_rng(2), 3000, (0.10, 0.18))
    halves = [frame.assign(clicks=frame["clicks"] // 2, impressions=frame["impressions"] - frame["impressions"] // 2)]
    halves += [frame.assign(clicks=frame["clicks"] - frame["clicks"] // 2, impressions=frame["impressions"] // 2)]
    split = pd.concat(halves).sample(frac=1.0, random_state=4)
    other = answer(split, **CLICKS, cap=20)
    assert other.p_value == pytest.approx(ratio.p_value, rel=1e-9)
    assert other.overturn == ratio.overturn


def test_fewest_errors_per_request_are_the_rest_of_most(ratio: LogResult) -> None:
    frame = heavy_users(np.random.default_rng(2), 3000, (0.10, 0.18))
    rest = frame.assign(clicks=frame["impressions"] - frame["clicks"])
    other = answer(rest, **CLICKS, cap=20, lower_is_better=True)
    assert other.lines[0].startswith("B has the lowest ratio of clicks to impressions, counting")
    assert other.overturn == ratio.overturn
    assert other.leads["A"] == pytest.approx(ratio.leads["A"], rel=0.05)
    assert other.means["B"] == pytest.approx(1.0 - ratio.means["B"])


def test_a_ratio_without_a_cap_asks_for_one_by_the_whole_alone() -> None:
    frame = heavy_users(np.random.default_rng(2), 600, (0.10, 0.18))
    texts = []
    for hits in (frame["clicks"], 0 * frame["clicks"]):
        with pytest.raises(UnclearError) as caught:
            answer(frame.assign(clicks=hits), **CLICKS)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    assert "per='impressions', cap=" in texts[0]
    assert "source='user'" in texts[0]


def test_a_certificate_of_a_ratio_holds_and_notices_other_impressions() -> None:
    frame = heavy_users(np.random.default_rng(6), 300, (0.10, 0.3))
    paper = answer(frame, **CLICKS, cap=20).certificate()
    assert paper["rows"]["columns"] == ["source", "rank", "arm", "reward", "of"]
    check = ba.verify_certificate(paper, frame.sample(frac=1.0, random_state=1))
    assert check.holds
    assert ", from the same 300 users." in str(check)
    more = frame.assign(impressions=frame["impressions"] + (frame.index == 7))
    assert not ba.verify_certificate(paper, more).holds


@pytest.mark.parametrize(
    ("change", "settings", "words"),
    [
        ({"clicks": 9, "impressions": 4}, {}, "9 of 4 for source 'u0' on 'A'"),
        ({"clicks": -1}, {}, "be 0 or more"),
        ({"impressions": -2}, {}, "be a number, 0 or more"),
        ({"impressions": None}, {}, "be a number, 0 or more"),
        ({}, {"bounds": (0, 30)}, "left out of a ratio"),
        ({}, {"cap": -1}, "above 0"),
        ({}, {"source": None}, "source"),
        ({}, {"per_source": "mean"}, "not come with per"),
        ({}, {"per": "arm"}, "name one of the columns"),
        ({}, {"per": "user"}, "be another column"),
        ({}, {"stopping": "any"}, "be fixed with per"),
        ({}, {"contamination": "share-of-all"}, "come with a count of sources"),
        ({}, {"sequential": True, "epsilon": 0.1}, "left out for a replay"),
    ],
)
def test_what_is_no_ratio_is_refused(change: dict[str, Any], settings: dict[str, Any], words: str) -> None:
    frame = clicks([0, 1, 0, 1], [1, 2, 0, 1], [3, 4, 5, 6])
    for name, value in change.items():
        frame[name] = frame[name].astype(object)
        frame.loc[0, name] = value
    with pytest.raises(InputError, match=words):
        answer(frame, **{**CLICKS, "cap": 10, **settings})


# --------------------------------------------------------------------------------------------------------------- caps


def orders(number: int = 4000) -> pd.DataFrame:
    rng = np.random.default_rng(21)
    arm = rng.integers(2, size=number)
    spent = np.round(rng.lognormal(3.0 + 0.5 * arm, 1.0), 2) * (rng.random(number) < 0.6)
    return pd.DataFrame({"variant": np.array(["A", "B"])[arm], "revenue": spent})


def test_rewards_above_the_cap_count_as_the_cap() -> None:
    frame = orders()
    by_hand = frame.assign(revenue=np.minimum(frame["revenue"], 100.0))
    capped, cut = answer(frame, cap=100), answer(by_hand, bounds=(0, 100))
    assert (capped.best, capped.overturn, capped.p_value) == (cut.best, cut.overturn, cut.p_value)
    above = int((frame["revenue"] > 100.0).sum())
    assert (capped.cap, capped.capped, capped.bounds) == (100.0, above, (0.0, 100.0))
    assert "has the highest mean revenue, counted up to 100 per row: " in capped.lines[0]
    assert capped.lines[0].endswith(f"; {above} rows are above 100.")
    assert "a reward above 100 counts as 100" in capped.promise
    assert answer(frame, cap=100, bounds=(0, 100_000)).p_value == capped.p_value


def test_a_cap_is_offered_for_amounts_with_a_long_tail() -> None:
    frame = orders()
    with pytest.raises(UnclearError) as caught:
        answer(frame)
    cap = float(str(caught.value).split("cap=")[1].split(")")[0])
    assert np.quantile(frame["revenue"], 0.985) < cap < 2.0 * np.quantile(frame["revenue"], 0.995)
    assert answer(frame, cap=cap).best == "B"


@pytest.mark.parametrize(
    ("settings", "parameter"),
    [
        ({"cap": 10, "bounds": (0, 5)}, "cap"),
        ({"cap": 10, "sigma": 1.0}, "sigma"),
        ({"cap": -3}, "cap"),
        ({"cap": 10, "sequential": True, "epsilon": 0.1}, "cap"),
        ({"per_source": "mean"}, "per_source"),
    ],
)
def test_a_cap_that_makes_no_sense_is_refused(settings: dict[str, Any], parameter: str) -> None:
    with pytest.raises(InputError) as caught:
        answer(orders(200), **settings)
    assert caught.value.parameter == parameter


def test_a_cap_needs_bounds_where_rewards_are_negative() -> None:
    frame = orders(500)
    frame.loc[0, "revenue"] = -12.0
    with pytest.raises(InputError, match=r"bounds=\(-20"):
        answer(frame, cap=100)
    assert answer(frame, cap=100, bounds=(-20, 1e6)).bounds == (-20.0, 100.0)


def test_a_time_out_counts_as_the_cap_where_lower_is_better() -> None:
    frame = orders().rename(columns={"revenue": "latency_ms"})
    found = answer(frame, cap=100, lower_is_better=True)
    assert found.lines[0].startswith("A has the lowest mean latency_ms, counted up to 100 per request: ")
    assert found.means["A"] < found.means["B"]
    assert found.leads["B"] > 0.0


# ----------------------------------------------------------------------------------------------- one number per source


def several() -> pd.DataFrame:
    rng = np.random.default_rng(31)
    user = np.sort(rng.integers(900, size=6000))
    arm = rng.integers(2, size=900)[user]
    stars = np.clip(rng.normal(2.6 + 0.8 * arm, 1.0).round(), 1, 5)
    return pd.DataFrame({"variant": np.array(["A", "B"])[arm], "stars": stars, "user": [f"u{each}" for each in user]})


@pytest.mark.parametrize(
    ("what", "by_hand"), [("first", "first"), ("last", "last"), ("mean", "mean"), ("sum", "sum"), ("any", "max")]
)
def test_one_number_per_source_is_that_of_pandas(what: str, by_hand: str) -> None:
    frame = several()
    if what == "any":
        frame["stars"] = (frame["stars"] > 3).astype(int)
    numbers = frame.groupby(["user", "variant"], sort=False)["stars"].agg(by_hand).reset_index()
    bounds = {"sum": (0, 200), "any": None}.get(what, (1, 5))
    one = answer(frame, source="user", per_source=what, bounds=bounds)
    other = answer(numbers, source="user", bounds=bounds)
    assert one.means == pytest.approx(other.means)
    assert one.p_value == pytest.approx(other.p_value, rel=1e-9)
    assert one.overturn == other.overturn
    assert one.per_source == what


def test_a_sum_needs_bounds_of_the_sum_or_a_cap_of_it() -> None:
    frame = several()
    with pytest.raises(UnclearError):
        answer(frame, source="user", per_source="sum")
    with pytest.raises(InputError):
        answer(frame, source="user", per_source="sum", bounds=(0, 5))
    found = answer(frame, source="user", per_source="sum", cap=20)
    assert "has the highest total stars per user, counted up to 20 per user" in found.lines[0]
    assert "a sum above 20 counts as 20" in found.promise


def test_any_needs_rewards_of_0_and_1() -> None:
    with pytest.raises(InputError, match="0 and 1"):
        answer(several(), source="user", per_source="any", bounds=(1, 5))


def test_what_each_assumes_is_said() -> None:
    """Users of one arm each are the units, and choose how much they give; users of several arms must not."""
    frame = several()
    single = answer(frame, source="user", per_source="mean", bounds=(1, 5)).promise
    assert "however many it chooses to give" in single
    assert "a single arm" in single
    rng = np.random.default_rng(1)
    mixed = frame.assign(variant=rng.choice(["A", "B"], len(frame)))
    several_arms = answer(mixed, source="user", per_source="mean", bounds=(1, 5)).promise
    assert "how many it gives does not depend on them" in several_arms
    assert "which of two arms a source rewards first" in several_arms


def test_many_rewards_that_do_not_count_are_mentioned() -> None:
    said = " ".join(answer(several(), source="user", bounds=(1, 5)).health.sentences())
    assert "With per_source='mean' a source counts with the mean" in said
    said = " ".join(answer(several(), source="user", per_source="first", bounds=(1, 5)).health.sentences())
    assert "per_source='mean'" not in said
