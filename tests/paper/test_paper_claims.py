"""Verdicts on planted data, where the answer is known both ways, and how often chance alone gives one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from bestarm.paper.bounds import AllExplored, MeanAbove, MeanBelow, NumberBelow, OnlyInTheLimit, PullsBelow
from bestarm.paper.comparisons import (
    FAILS,
    HOLDS,
    OPEN,
    ClaimCheck,
    Close,
    ErrorsAbove,
    ErrorsBelow,
    Fewer,
    FewerErrors,
    GapShrinks,
    GridPoint,
    mean_interval,
    relative_difference,
)
from bestarm.simulation import Trials
from bestarm.simulation.trials import rate_limits
from planted_trials import DELTAS, grid, many, place, trials

COMPARISONS: list[tuple[str, ClaimCheck, list[GridPoint], str]] = [
    ("fewer everywhere", Fewer("a", "b"), grid(many(900), many(1000, first_seed=9)), HOLDS),
    ("more everywhere", Fewer("b", "a"), grid(many(900), many(1000, first_seed=9)), FAILS),
    (
        "fewer at one place, equal at the others",
        Fewer("a", "b"),
        grid([trials(900, seed=8), *many(1000)[1:]], many(1000)),
        HOLDS,
    ),
    (
        "fewer at one place, more at another",
        Fewer("a", "b"),
        grid([trials(900, seed=8), trials(1100, seed=7), *many(1000)[2:]], many(1000)),
        FAILS,
    ),
    ("the same", Fewer("a", "b"), grid(many(1000)), FAILS),
    ("too few trials to tell", Fewer("a", "b"), grid(many(990, 5), many(1000, 5, first_seed=9)), OPEN),
    ("one trial", Fewer("a", "b"), grid(many(900, 1), many(1000, 1)), OPEN),
    ("cut short", Fewer("a", "b"), grid(many(900, undecided=1), many(1000, first_seed=9)), OPEN),
    ("close", Close("a", "b", 0.1), grid(many(950), many(1000, first_seed=9)), HOLDS),
    ("not close", Close("a", "b", 0.1), grid(many(850), many(1000, first_seed=9)), FAILS),
    ("close or not", Close("a", "b", 0.1), grid(many(900, 20), many(1000, 20, first_seed=9)), OPEN),
    ("no errors", ErrorsBelow("a"), grid(many(1000)), HOLDS),
    ("as many errors as allowed at delta = 0.05", ErrorsBelow("a"), grid(many(1000, wrong=50)), FAILS),
    ("no errors in few trials", ErrorsBelow("a"), grid(many(1000, 20)), OPEN),
    ("undecided trials may be wrong", ErrorsBelow("a"), grid(many(1000, undecided=100)), OPEN),
    ("no errors, half of delta", ErrorsBelow("a", 0.5), grid(many(1000)), HOLDS),
    ("8 of 1000, half of 0.01", ErrorsBelow("a", 0.5), grid(many(1000, wrong=8)), OPEN),
    ("too many errors somewhere", ErrorsAbove("a"), grid(many(1000, wrong=50)), HOLDS),
    ("no errors anywhere", ErrorsAbove("a"), grid(many(1000)), FAILS),
    ("no errors in few", ErrorsAbove("a"), grid(many(1000, 20)), OPEN),
    ("fewer errors", FewerErrors("a", "b"), grid(many(1000), many(1000, wrong=50)), HOLDS),
    ("more errors", FewerErrors("b", "a"), grid(many(1000), many(1000, wrong=50)), FAILS),
    ("no errors at all", FewerErrors("a", "b"), grid(many(1000)), FAILS),
    ("no errors at all in few", FewerErrors("a", "b"), grid(many(1000, 20)), OPEN),
    ("five errors against none", FewerErrors("a", "b"), grid(many(1000), many(1000, wrong=5)), OPEN),
    ("above the bound", MeanAbove(("a", "b"), "bound"), grid(many(1050), many(1100)), HOLDS),
    ("one of them below a limit", MeanAbove(("a", "b"), "bound"), grid(many(1050), many(900)), OPEN),
    ("about the bound", MeanAbove(("a",), "bound"), grid(many(1000, 20)), OPEN),
    ("below, but cut short", MeanBelow("a", "bound"), grid(many(950, undecided=1)), OPEN),
    ("all short enough", PullsBelow("a", "bound"), grid(many(500)), HOLDS),
    ("all short, in few trials", PullsBelow("a", "bound"), grid(many(500, 20)), OPEN),
    ("mean above the least of bounds", MeanBelow("a", "bound"), grid(many(1050)), OPEN),
    ("mean below the least of bounds", MeanBelow("a", "bound"), grid(many(950)), HOLDS),
    ("half longer than the least of bounds", PullsBelow("a", "bound"), grid(many(1000)), OPEN),
    ("explored", AllExplored(("a",)), grid(many(1500)), HOLDS),
    ("one arm of one trial not explored", AllExplored(("a",)), grid(many(1000)), FAILS),
    ("a smaller number", NumberBelow("small", "bound"), grid(many(1000)), HOLDS),
    ("a larger number", NumberBelow("bound", "small"), grid(many(1000)), FAILS),
    ("a limit", OnlyInTheLimit("delta -> 0"), grid(many(1000)), OPEN),
]


@pytest.mark.parametrize(
    ("check", "places", "verdict"), [row[1:] for row in COMPARISONS], ids=[row[0] for row in COMPARISONS]
)
def test_verdict_on_planted_data(check: ClaimCheck, places: list[GridPoint], verdict: str) -> None:
    assert check.judge(places).verdict == verdict


def gaps(*means: float, n: int = 1000) -> list[GridPoint]:
    return grid([trials(1000.0 + gap, n, seed=k) for k, gap in enumerate(means)], many(1000, n, first_seed=50))


@pytest.mark.parametrize(
    ("places", "verdict"),
    [
        (gaps(0.0, 50.0, 100.0, 150.0, 200.0), HOLDS),  # delta falls along the list
        (gaps(200.0, 150.0, 100.0, 50.0, 0.0), FAILS),
        (gaps(0.0, -50.0, -100.0, -150.0, -200.0), HOLDS),
        (grid(many(1000)), FAILS),
        (gaps(90.0, 100.0, 110.0, 100.0, 105.0, n=10), OPEN),
    ],
)
def test_gap_that_shrinks_as_delta_grows(places: list[GridPoint], verdict: str) -> None:
    assert GapShrinks("a", "b").judge(places).verdict == verdict


def test_trend_with_trials_cut_short_is_open() -> None:
    places = [place(delta, a=trials(1e4 * delta, undecided=1), b=trials(10.0)) for delta in DELTAS]
    assert GapShrinks("a", "b").judge(places).verdict == OPEN


def test_a_trial_cut_short_leaves_open_how_much_longer_it_would_have_been_and_no_more() -> None:
    long, short = trials(2000.0, undecided=1), trials(1000.0, seed=1)
    assert Fewer("a", "b").judge([place(a=short, b=long)]).verdict == HOLDS
    assert Fewer("a", "b").judge([place(a=long, b=short)]).verdict == FAILS
    near = trials(1010.0, spread=1.0, undecided=1)
    assert Fewer("a", "b").judge([place(a=near, b=trials(1100.0, spread=1.0))]).verdict == OPEN


def test_errors_under_one_adversary_are_not_hidden_by_the_others() -> None:
    """20 adversaries, 10 trials each: one is always wrong about, which is 5 % of all, below delta = 0.2."""
    found = trials(n=200, wrong=10)
    assert ErrorsBelow("a").judge([place(0.2, a=found)]).verdict == HOLDS
    shared = GridPoint(0.2, 0.1, {"a": found}, {}, draws=20)
    finding = ErrorsBelow("a").judge([shared])
    assert finding.verdict == FAILS
    assert finding.measured.endswith("; at delta = 0.2, epsilon = 0.1 10 of 10 under one adversary")


def test_a_trial_cut_short_may_have_become_wrong() -> None:
    clean, cut, wrong = trials(), trials(undecided=200), trials(wrong=100)
    assert FewerErrors("a", "b").judge([place(a=clean, b=wrong)]).verdict == HOLDS
    assert FewerErrors("a", "b").judge([place(a=cut, b=wrong)]).verdict == OPEN
    assert FewerErrors("a", "b").judge([place(a=clean, b=cut)]).verdict == OPEN


def test_an_interval_reckons_with_few_adversaries_that_have_most_of_the_spread() -> None:
    """Nine of ten groups hardly vary: the interval is as wide as the few values of the tenth deserve."""
    missed = 0
    for repeat in range(400):
        rng = np.random.default_rng(repeat)
        values = np.concatenate([rng.normal(0.0, 0.01, 45), rng.normal(0.0, 10.0, 5)])
        low, high = mean_interval(values, 0.05, groups=10)
        missed += not low < 0.0 < high
    assert missed <= 33  # 5 % of 400, plus three standard deviations


def test_differences_between_adversaries_are_no_error_of_the_average_over_them() -> None:
    """Ten adversaries, pulls between 1,000 and 10,000, and the first method 2 % quicker under each."""
    rng = np.random.default_rng(0)
    level = np.repeat(np.linspace(1000.0, 10000.0, 10), 40)
    first, second = (
        Trials((share * level + rng.normal(0.0, 20.0, 400)).astype(np.int64), *_rest(trials(n=400)))
        for share in (0.98, 1.0)
    )
    whole = relative_difference(first, second, 0.05)
    parted = relative_difference(first, second, 0.05, groups=10)
    assert whole[0] == parted[0] == pytest.approx(-0.02, abs=2e-3)
    assert parted[2] < 0.0
    low, high = mean_interval(first.pulls.astype(float), 0.05, groups=10)
    assert low < 0.98 * level.mean() < high
    assert high - low < 5.0 < 500.0 < np.diff(mean_interval(first.pulls.astype(float), 0.05))[0]


def test_pairs_are_compared_trial_by_trial() -> None:
    common = np.random.default_rng(1).normal(0.0, 300.0, 40)
    first, second = trials(n=40), trials(n=40)
    paired_first = Trials((5000 + common).astype(np.int64), *_rest(first))
    paired_second = Trials((5100 + common).astype(np.int64), *_rest(second))
    shuffled = Trials(paired_second.pulls[::-1].copy(), *_rest(second))
    share, low, high = relative_difference(paired_first, paired_second, 0.05)
    assert share == pytest.approx(5000 / 5100 - 1.0, abs=1e-3)
    assert high < 0.0
    assert high - low < 0.3 * (np.diff(relative_difference(paired_first, shuffled, 0.05)[1:])[0])


def _rest(of: Trials) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return of.answers, of.correct, of.arm_pulls, of.statuses


def test_limits_of_a_rate_are_those_of_scipy() -> None:
    for count, total, error in ((0, 20, 0.01), (3, 20, 0.05), (20, 20, 0.01), (50, 1000, 0.005)):
        low = binomtest(count, total, alternative="greater").proportion_ci(1.0 - error, method="exact").low
        high = binomtest(count, total, alternative="less").proportion_ci(1.0 - error, method="exact").high
        assert rate_limits(count, total, error) == pytest.approx((low, high), rel=1e-9)
    assert rate_limits(3, 20, 0.05, undecided=2) == (rate_limits(3, 20, 0.05)[0], rate_limits(5, 20, 0.05)[1])


def test_chance_alone_rarely_makes_a_difference() -> None:
    found = 0
    for repeat in range(400):
        first, second = (many(1000, 40, first_seed=10 * (2 * repeat + side), spread=200) for side in (0, 1))
        found += "fewer" in (text := Fewer("a", "b").judge(grid(first, second)).measured) or "more" in text
    assert found <= 33  # 5 % of 400, plus three standard deviations


def test_chance_alone_rarely_breaks_a_promise_that_is_just_kept() -> None:
    rng = np.random.default_rng(5)
    broken = 0
    for _ in range(400):
        counts = [int(rng.binomial(300, delta)) for delta in DELTAS]
        broken += ErrorsBelow("a").judge(grid([trials(n=300, wrong=count) for count in counts])).verdict == FAILS
    assert broken <= 33
