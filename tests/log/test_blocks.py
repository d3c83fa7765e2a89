"""Rewards compared within blocks: the evidence against a plain twin, its price of fakes, and how often it is wrong."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

import bestarm as ba
import naive_blocks as naive
from bestarm.errors import InputError
from bestarm.log.blocks import BlockTable, as_one_block, shares_change
from bestarm.log.by_block import BlockEvidence
from bestarm.log.evidence import LogEvidence
from bestarm.log.matching import sizes
from bestarm.log.piles import to_pile
from bestarm.log.rewards import Rewards
from bestarm.log.verdict import identify_log
from bestarm.problem import pose

Array = NDArray[np.float64]
Cells = Sequence[Sequence[Array]]  # rewards of each arm in each block

LARGEST = 0.3  # delta of the promise tests


def table_of(cells: Cells) -> BlockTable:
    """The counts of the rewards of each arm in each block."""
    lines = [
        (arm, block, value, count)
        for arm, blocks in enumerate(cells)
        for block, rewards in enumerate(blocks)
        for value, count in zip(*np.unique(rewards, return_counts=True), strict=True)
    ]
    arm, block, value, count = zip(*lines, strict=True)
    names = tuple(str(block) for block in range(len(cells[0])))
    arrays = np.array(arm), np.array(block), np.array(value, float), np.array(count)
    return BlockTable("day", "day", names, *arrays, 0, len(cells))


def evidence_of(cells: Cells, model: str = "share-of-all", delta: float = 0.05) -> BlockEvidence:
    problem = pose(tuple("ABCDEF"[: len(cells)]), delta=delta, epsilon=0.0, bounds=(0.0, 1.0))
    piles = [to_pile(problem, np.sort(np.concatenate(blocks)), None) for blocks in cells]
    return BlockEvidence(problem, model, piles, table_of(cells))


def in_orders(evidence: BlockEvidence, b: int, a: int) -> list[list[naive.Block]]:
    """The rewards of two arms in each block, in each of the orders in which they are matched."""
    blocks = evidence.table.numbers.shape[1]
    only = [np.arange(blocks) == block for block in range(blocks)]
    return [[(each.of(b, one).tolist(), each.of(a, one).tolist()) for one in only] for each in evidence._shuffled]


def random_cells(random: np.random.Generator, values: Sequence[float], arms: int = 2, blocks: int = 4) -> Cells:
    def some() -> Array:
        return random.choice(values, int(random.integers(0, 40)))

    cells = [[some() for _ in range(blocks)] for _ in range(arms)]
    for arm in range(arms):
        cells[arm][0] = random.choice(values, 10 + 20 * arm)
    return cells


VALUES = [(0.0, 1.0), (0.0, 0.25, 0.5, 0.75, 1.0), tuple(np.linspace(0.0, 1.0, 401))]


# ------------------------------------------------------------------------------------------------------------ the twin


@pytest.mark.parametrize("values", VALUES)
def test_the_evidence_is_that_of_the_plain_twin(values: Sequence[float]) -> None:
    random = np.random.default_rng(1)
    for _ in range(3):
        evidence = evidence_of(random_cells(random, values))
        orders, clean = in_orders(evidence, 1, 0), evidence.at_count(0)
        assert len(orders) == 8
        assert len({str(blocks) for blocks in orders}) > 1
        assert all(
            sorted(one) == sorted(two)
            for pair in zip(orders[0], orders[1], strict=True)
            for one, two in zip(*pair, strict=True)
        )
        for lead in (0.0, -0.3, 0.2):
            found = evidence._log_evidence(1, 0, clean, lead)
            assert found == pytest.approx(naive.mean_over(orders, lead=lead), abs=1e-9)
        for count in (1, 3, 10, 1000):  # shifts are rounded up by at most half a percent, and differences down
            found = evidence._log_evidence(1, 0, evidence.at_count(count))
            right = naive.mean_over(orders, count)
            exact = naive.mean_over(orders)
            assert right - 0.05 * (exact - right) - 1e-9 <= found <= right + 1e-9


@pytest.mark.parametrize(("model", "times"), [("prescient", 1.0), ("malicious", 2.0)])
def test_the_price_of_coins_is_that_of_the_plain_twin(model: str, times: float) -> None:
    evidence = evidence_of(random_cells(np.random.default_rng(2), VALUES[1]), model)
    for epsilon in (0.01, 0.2):
        found = evidence._log_evidence(1, 0, evidence.at_epsilon(epsilon))
        assert found == pytest.approx(naive.mean_over(in_orders(evidence, 1, 0), chance=times * epsilon), abs=1e-9)


def test_no_fakes_take_away_more_than_their_price() -> None:
    random = np.random.default_rng(3)
    for values in (VALUES[0], VALUES[1]):
        for _ in range(6):
            cells = [[random.choice(values, int(n)) for n in random.integers(1, 4, 2)] for _ in range(2)]
            pairs = list(naive.matches([(up.tolist(), down.tolist()) for up, down in zip(*cells, strict=True)]))
            for size, count in itertools.product((0.9, 0.3, 0.02), (1, 2, 3)):
                now = math.fsum(math.log1p(size * naive.difference(pair)) for pair in pairs)
                paid = math.fsum(sorted(naive.cost_of_rows(pairs, size, 0.0))[::-1][:count])
                assert now - paid <= naive.least_clean_log(pairs, count, size) + 1e-12


def test_to_add_up_the_costs_of_single_fakes_is_not_enough() -> None:
    pairs = [([1.0], [0.0])] * 3  # a match that loses both of its rows loses more than twice what one of them costs
    size, now = 0.9, 3 * math.log(1.9)
    single = math.log(1.9) - math.log(1.0)
    assert now - 2 * single > naive.least_clean_log(pairs, 2, size) + 0.1
    paid = math.fsum(sorted(naive.cost_of_rows(pairs, size, 0.0))[::-1][:2])
    assert now - paid <= naive.least_clean_log(pairs, 2, size) + 1e-12


def test_with_one_reward_in_each_batch_the_mean_of_bets_on_all_matchings_is_at_most_the_bet_on_the_means() -> None:
    random = np.random.default_rng(4)
    for number in (2, 3, 4):
        for larger in (number, number + 1, number + 2):
            up, down = random.random(number), random.random(larger)
            size, total = 0.9, []
            for order in itertools.permutations(range(larger)):
                pairs = naive.matches([(up.tolist(), down[list(order)].tolist())])
                total.append(math.prod(1.0 + size * naive.difference(pair) for pair in pairs))
            assert np.mean(total) <= (1.0 + size * (up.mean() - down.mean())) ** number + 1e-12


def test_bets_depend_on_the_number_of_matches_alone_and_weigh_one_in_all() -> None:
    for number in (1, 17, 400, 10**6, 10**9):
        found = sizes(number)
        assert np.array(found) == pytest.approx(np.array(naive.bets(number)))
        assert math.fsum(weight for _, weight in found) == pytest.approx(1.0)


# ---------------------------------------------------------------------------------------------------------- no order


def visits(random: np.random.Generator, days: Sequence[tuple[float, int, float, int]]) -> pd.DataFrame:
    """A log of the arms A and B: by day the rate and the number of each."""
    parts = []
    for day, (rate_a, number_a, rate_b, number_b) in enumerate(days):
        for arm, rate, number in (("A", rate_a, number_a), ("B", rate_b, number_b)):
            second = random.integers(0, 86_400, number)
            parts.append(
                pd.DataFrame({"arm": arm, "seen_at": day * 86_400 + second, "bought": random.random(number) < rate})
            )
    found = pd.concat(parts)
    found["bought"] = found["bought"].astype(int)
    found["seen_at"] = pd.to_datetime("2024-03-01") + pd.to_timedelta(found["seen_at"], unit="s")
    return found.sort_values("seen_at", kind="stable").reset_index(drop=True)


LATE = [(0.05 + 0.006 * day + 0.02, 1500, 0.05 + 0.006 * day, 1500 if day >= 15 else 0) for day in range(30)]


def test_the_order_of_rows_and_the_format_of_the_file_change_nothing(tmp_path: Path) -> None:
    log = visits(np.random.default_rng(5), LATE)
    path = tmp_path / "log.csv"
    log.to_csv(path, index=False)
    found = json.loads(identify_log(path, block="day").to_json())
    for other in (log, log.sample(frac=1, random_state=1), log[::-1]):
        again = json.loads(identify_log(other, block="day").to_json())
        assert {**again, "health": 0} == {**found, "health": 0}
    days = log.assign(day=log["seen_at"].dt.strftime("%Y-%m-%d")).drop(columns="seen_at")
    counted = days.value_counts().rename("n").reset_index()  # as a database would count them
    of_counts = identify_log(counted, arm="arm", reward="bought", counted="n", block="day")
    assert of_counts.p_value == found["p_value"]
    assert of_counts.overturn == found["overturn"]


def test_hours_and_values_of_a_column_are_blocks_too() -> None:
    log = visits(np.random.default_rng(6), LATE[15:20])
    log["country"] = np.random.default_rng(7).choice(["DE", "FR", "IT"], len(log))
    by_hour = identify_log(log, block="hour")
    assert by_hour.within is not None
    assert by_hour.within.blocks == 120
    by_country = identify_log(log, block="country")
    assert by_country.within is not None
    assert (by_country.within.blocks, by_country.within.shares_change) == (3, False)
    assert by_country.lines[2] == "Compared within the same country. Nothing in the file looks made up."


def test_rewards_of_many_values_and_lower_is_better() -> None:
    random = np.random.default_rng(8)
    frames = [
        pd.DataFrame({"arm": arm, "day": day, "ms": 400 * random.beta(2 + 0.1 * day, 8 - lift, number)})
        for day in range(20)
        for arm, lift, number in (("A", 0.0, 300), ("B", 1.0, 300 if day > 9 else 30))
    ]
    log = pd.concat(frames)
    result = identify_log(log, arm="arm", reward="ms", bounds=(0, 400), lower_is_better=True)
    assert result.best == "A"
    assert result.within is not None
    other, best = result.within.means["B"]
    assert best == pytest.approx(result.arms[0].estimate)
    assert best < other < 400
    higher = identify_log(
        log.assign(ms=400 - log["ms"]), arm="arm", reward="ms", bounds=(0, 400), lower_is_better=False
    )
    assert higher.p_value == pytest.approx(result.p_value, rel=1e-6)


# -------------------------------------------------------------------------------------------------- when it is used


def test_blocks_are_used_by_themselves_where_shares_change_whatever_the_rewards_are() -> None:
    random = np.random.default_rng(9)
    late = visits(random, LATE)
    for log in (late, late.assign(bought=random.permutation(late["bought"]))):
        for inspect in (True, False):
            result = identify_log(log, inspect=inspect)
            assert result.within is not None
            assert result.within.by == "day"
            assert result.within.shares_change
            assert not result.exact
    even = visits(random, [(0.05, 300, 0.06, 300)] * 20)
    assert identify_log(even).within is None
    assert identify_log(even).exact
    assert identify_log(late, block="none").within is None
    assert identify_log(late, stopping="any").within is None


FORMATS = ["%m/%d/%Y", "%m/%d/%Y %I:%M %p", "%d/%m/%Y %H:%M", "%d-%m-%Y", "%d %b %Y %H:%M", "%b %d, %Y %I:%M:%S %p"]


@pytest.mark.parametrize("form", FORMATS)
def test_days_are_told_whatever_way_dates_are_written(form: str, tmp_path: Path) -> None:
    late = visits(np.random.default_rng(9), [(a, n // 5, b, m // 5) for a, n, b, m in LATE])
    plain = identify_log(late)
    path = tmp_path / "late.csv"
    late.assign(seen_at=late["seen_at"].dt.strftime(form)).to_csv(path, index=False)
    found = identify_log(path)
    assert found.within == plain.within
    assert (found.best, found.overturn, found.p_value) == (plain.best, plain.overturn, plain.p_value)


def test_dates_that_may_be_either_of_two_are_not_used_and_that_is_said() -> None:
    late = visits(np.random.default_rng(9), LATE[9:21])
    for form, said in (("%m/%d/%Y", "no number in its dates is above 12"), ("%y%j-%H:%M", "not all of it is")):
        result = identify_log(late.assign(seen_at=late["seen_at"].dt.strftime(form)))
        assert result.within is None
        assert [note for note in result.health.guesses if f"'seen_at' was not used as the time: {said}" in note]


def test_shares_that_vary_by_chance_are_no_reason() -> None:
    random = np.random.default_rng(10)
    found = [shares_change(random.multinomial(8000, np.full(60, 1 / 60), size=3)) for _ in range(200)]
    assert sum(found) == 0
    sessions = [5 * random.multinomial(1600, np.full(60, 1 / 60), size=2) for _ in range(200)]
    assert sum(map(shares_change, sessions)) <= 2
    assert shares_change(np.array([[100] * 60, [100] * 50 + [0] * 10]))


def test_shares_that_change_slowly_in_a_small_log_are_seen() -> None:
    """As 2,000 rewards of four arms: the sum over all days is within what rewards in fives explain, halves are not."""
    random = np.random.default_rng(12)
    shares = np.array([[0.6 - 0.05 * day, 0.1 + 0.02 * day, 0.1 + 0.02 * day, 0.2 + 0.01 * day] for day in range(10)])
    found = [shares_change(np.array([random.multinomial(200, share) for share in shares]).T) for _ in range(100)]
    assert sum(found) >= 95
    ramp = np.linspace(0.46, 0.54, 20)
    assert shares_change(np.array([5000 * ramp, 5000 * (1.0 - ramp)]).round().astype(np.int64))
    nearly = np.linspace(0.49, 0.51, 20)
    assert not shares_change(np.array([5000 * nearly, 5000 * (1.0 - nearly)]).round().astype(np.int64))


@pytest.mark.slow
def test_a_slow_ramp_under_a_trend_gets_a_tie_named_about_as_often_as_delta_at_most() -> None:
    """Shares from 46 to 54 % as rewards triple: all days together name the arm with the rising share in most logs."""
    random, named, pooled = np.random.default_rng(13), 0, 0
    ramp, level = np.linspace(0.46, 0.54, 20), np.linspace(0.1, 0.3, 20)
    for _ in range(12):
        log = visits(random, [(p, int(5000 * (1 - s)), p, int(5000 * s)) for s, p in zip(ramp, level, strict=True)])
        named += identify_log(log, delta=0.3, inspect=False).best is not None
        pooled += identify_log(log, delta=0.3, inspect=False, block="none").best is not None
    assert pooled >= 8
    assert named <= 3


@pytest.mark.parametrize(
    ("options", "parameter", "said"),
    [
        ({"block": "day", "stopping": "any"}, "block", "must not depend on the rewards"),
        ({"block": "day", "sequential": True}, "block", "replay"),
        ({"block": "day", "sigma": 1.0}, "block", "give bounds in place of sigma"),
        ({"block": "day", "source": "user"}, "block", "rewarded one arm each"),
        ({"block": "week"}, "block", "the columns are arm, seen_at, bought"),
        ({"block": "bought"}, "block", "rewards must not decide it"),
    ],
)
def test_blocks_that_make_no_sense_are_refused(options: dict[str, Any], parameter: str, said: str) -> None:
    log = visits(np.random.default_rng(11), LATE[15:20]).assign(user=np.arange(15_000) // 2)
    with pytest.raises(InputError, match=said) as caught:
        identify_log(log, **options)
    assert caught.value.parameter == parameter


def test_days_need_dates_and_rows_without_a_block_are_refused_or_left_out() -> None:
    log = visits(np.random.default_rng(12), LATE[15:20])
    with pytest.raises(InputError, match="be given for block"):
        identify_log(log.drop(columns="seen_at"), block="day")
    log["country"] = ["DE", "FR", None, "IT"] * (len(log) // 4)
    with pytest.raises(InputError, match="none in 3,750 rows"):
        identify_log(log, block="country")
    result = identify_log(log, block="country", on_bad_row="skip")
    assert result.within is not None
    assert result.within.unused == 3750


# ------------------------------------------------------------------------------------------------------- what is said


def test_means_and_lines_agree_with_the_comparison_under_simpsons_paradox() -> None:
    log = visits(np.random.default_rng(13), [(0.09, 4000, 0.05, 400), (0.30, 400, 0.25, 4000)] * 8)
    result = identify_log(log)
    assert result.best == "A"
    assert result.within is not None
    assert result.means["B"] > 1.9 * result.means["A"]  # plain means point the other way
    one, two = result.arms
    assert one.estimate > two.estimate
    assert one.lower < one.estimate < one.upper
    assert result.within.means["B"] == (two.estimate, one.estimate)
    assert "on the same days" in result.lines[0]
    assert "as the shares of the arms change from day to day" in result.lines[2]
    assert result.doubts == ()
    assert "each weighted by its matches" in str(result)
    assert identify_log(log, block="none").best == "B"


def test_a_certificate_names_the_blocks_and_hashes_them() -> None:
    log = visits(np.random.default_rng(14), LATE)
    certificate = identify_log(log).certificate()
    assert certificate["question"]["block"] == "day"
    assert certificate["rows"]["columns"] == ["arm", "block", "reward", "count"]
    assert ba.verify_certificate(certificate, log.sample(frac=1, random_state=2)).holds
    moved = log.assign(seen_at=np.random.default_rng(15).permutation(log["seen_at"]))
    assert not ba.verify_certificate(certificate, moved).holds


# ------------------------------------------------------------------------------------------------------------ promises


def is_believable(wrong: int, trials: int, delta: float = LARGEST) -> bool:
    """Whether so many errors are likely if each has probability delta at most."""
    return bool(stats.binom.sf(wrong - 1, trials, delta) > 1e-3)


def names(cells: Cells, count: int = 0, delta: float = LARGEST) -> int | None:
    """The arm that is named of two, with so many fakes allowed for."""
    evidence = evidence_of(cells, delta=delta)
    worse = evidence.worse(evidence.at_count(count))
    return int(evidence.order[0]) if worse.sum() == len(cells) - 1 else None


def tie(random: np.random.Generator, numbers: Sequence[Sequence[int]], rates: Sequence[float]) -> Cells:
    """Arms without a difference, whose common mean drifts from block to block."""
    return [[random.binomial(1, rate, n).astype(float) for n, rate in zip(row, rates, strict=True)] for row in numbers]


TIES: dict[str, tuple[list[list[int]], Sequence[float]]] = {
    "a late arm under a trend": ([[60] * 10, [0] * 5 + [60] * 5], np.linspace(0.1, 0.6, 10).tolist()),
    "Simpson's paradox": ([[200, 20] * 3, [20, 200] * 3], [0.1, 0.5] * 3),
    "unequal batches": ([[90] * 4, [61] * 4], [0.3, 0.4, 0.5, 0.2]),
    "many arms": ([[60] * 4, [20] * 4, [40] * 4], [0.3, 0.4, 0.5, 0.2]),
    "blocks of one match": ([[3] * 40, [1] * 40], np.linspace(0.05, 0.8, 40).tolist()),
}


@pytest.mark.parametrize("name", TIES)
def test_at_a_tie_an_arm_is_named_with_probability_at_most_delta(name: str) -> None:
    numbers, rates = TIES[name]
    random = np.random.default_rng(16)
    wrong = sum(names(tie(random, numbers, list(rates))) is not None for _ in range(80))
    assert is_believable(wrong, 80)


def test_single_blocks_may_differ_as_long_as_the_average_over_matches_does_not() -> None:
    random, wrong = np.random.default_rng(17), 0
    for _ in range(80):
        b = [random.binomial(1, 0.6, 50).astype(float), random.binomial(1, 0.2, 100).astype(float)]
        a = [random.binomial(1, 0.4, 100).astype(float), random.binomial(1, 0.4, 50).astype(float)]
        wrong += names([a, b]) is not None  # + 0.2 in 50 matches, - 0.2 in 50
    assert is_believable(wrong, 80)


def fake(cells: Cells, count: int) -> Cells:
    """Fakes for the second arm by somebody who sees everything: they go where a reward moves a match most."""
    cells = [[rewards.copy() for rewards in blocks] for blocks in cells]
    alone = [(min(len(a), len(b)) / len(b), block) for block, (a, b) in enumerate(zip(*cells, strict=True)) if len(b)]
    for _, block in sorted(alone, reverse=True):
        zeros = np.flatnonzero(cells[1][block] == 0.0)[:count]
        cells[1][block][zeros] = 1.0
        count -= zeros.size
    return cells


@pytest.mark.parametrize("count", [5, 25])
def test_fakes_within_the_count_do_not_get_a_tie_named_more_often_than_delta(count: int) -> None:
    random, wrong = np.random.default_rng(18), 0
    for _ in range(80):
        cells = fake(tie(random, [[60] * 10, [0] * 5 + [60] * 5], list(np.linspace(0.1, 0.6, 10))), count)
        wrong += names(cells, count) == 1
    assert is_believable(wrong, 80)
    worse = names(fake(tie(random, [[60] * 10] * 2, [0.3] * 10), 150), 0)
    assert worse == 1  # without an allowance they do


def test_a_late_arm_under_a_trend_is_crowned_without_blocks_and_the_right_arm_with_them() -> None:
    crowned = [(identify_log(log, block="none").best, identify_log(log).best) for log in late_logs(2)]
    assert crowned == [("B", "A")] * 2


@pytest.mark.slow
def test_a_late_arm_under_a_trend_100_times() -> None:
    without, within = [], []
    for seed in range(100):
        random = np.random.default_rng([21, seed])
        days = [[(rate_a, n_a) for rate_a, n_a, *_ in LATE], [(rate_b, n_b) for *_, rate_b, n_b in LATE]]
        cells = [[random.binomial(1, rate, n).astype(float) for rate, n in row] for row in days]
        within.append(names(cells, delta=0.05))
        ones = [(int(arm.sum()), arm.size) for arm in map(np.concatenate, cells)]
        counts = tuple(np.array([number - good, good]) for good, number in ones)
        without.append(identify_log(Rewards(("A", "B"), (np.array([0.0, 1.0]),) * 2, counts)).best)
    assert without.count("B") == 100
    assert within.count(1) == 0
    assert within.count(0) >= 97


def late_logs(number: int) -> list[pd.DataFrame]:
    """1,500 rows a day of each arm, a trend of 0.6 points a day, a lead of 2 points, and an arm 15 days late."""
    return [visits(np.random.default_rng([19, seed]), LATE) for seed in range(number)]


# --------------------------------------------------------------------------------------------------------------- power


def plain_evidence(values: Sequence[Array]) -> tuple[float, float]:
    """The log evidence for the second arm by batches, and by the bets on each arm."""
    problem = pose(("A", "B"), delta=0.05, epsilon=0.0, bounds=(0.0, 1.0))
    ascending = [np.sort(each) for each in values]
    piles = [to_pile(problem, each, None) for each in ascending]
    batched = BlockEvidence(problem, "share-of-all", piles, as_one_block(Rewards(("A", "B"), tuple(ascending), None)))
    plain = LogEvidence(problem, "share-of-all", piles)
    return batched.log_evidence(1, 0, batched.at_count(0)), plain.log_evidence(1, 0, plain.at_count(0))


@pytest.mark.parametrize("numbers", [(10_000, 5_000), (20_000, 2_000), (200_000, 2_000), (2_000, 200_000)])
def test_batches_of_unequal_arms_lose_little_beside_a_z_test(numbers: tuple[int, int]) -> None:
    random = np.random.default_rng(20)
    fewer, lost = min(numbers), []
    for _ in range(5):
        z = 5.0 * math.sqrt(1.0 / numbers[0] + 1.0 / numbers[1])
        arms = [random.beta(1.5, 3.5, numbers[0]), np.clip(random.beta(1.5, 3.5, numbers[1]) + 0.187 * z, 0.0, 1.0)]
        batched, plain = plain_evidence(arms)
        assert batched > plain
        statistic = stats.ttest_ind(arms[1], arms[0], equal_var=False).statistic
        lost.append(statistic**2 / 2.0 - batched)
    assert np.mean(lost) < 3.5, fewer  # nats: what a mixture of bets costs
