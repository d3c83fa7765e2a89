"""What all rows of a log say: the evidence of a naive twin, in any order of rows, and right as often as promised."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import bestarm as ba
from bestarm.errors import InputError
from bestarm.identification.wording.text import share_shown
from bestarm.log.by_source import SourceEvidence
from bestarm.log.evidence import LogEvidence
from bestarm.log.piles import to_pile
from bestarm.log.rewards import Health, Rewards, SourceTable
from bestarm.log.spread import seed_of, set_aside, sigma_bound
from bestarm.log.verdict import identify_log
from bestarm.problem import Problem, pose
from contest import BEST, BOTS, CAPTIONS, MEANS, RIGGED, contest, law
from naive_log import Question, log_W_bounded, log_W_lattice

Floats = np.ndarray[Any, Any]
COUNTED = ("share-of-all", "share-of-arm")
KINDS = (*COUNTED, "prescient", "malicious")


def rewards_of(*arms: Floats, missing: tuple[int, ...] = (), grouped: bool = False) -> Rewards:
    labels = tuple("ABCDEFGH"[: len(arms)])
    lost = np.array(missing or [0] * len(arms))
    if not grouped:
        return Rewards(labels, tuple(np.sort(each).astype(np.float64) for each in arms), None, missing=lost)
    pairs = [np.unique(each, return_counts=True) for each in arms]
    return Rewards(labels, tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs), missing=lost)


def stars(random: np.random.Generator, mean: float, number: int) -> Floats:
    return random.choice(np.arange(1.0, 6.0), number, p=law(mean))


def log_evidence(result: ba.LogResult) -> float:
    """Of two arms: the p-value is exp of minus it."""
    assert result.p_value is not None
    return -math.log(result.p_value)


# ------------------------------------------------------------------------------------------------------- the naive twin


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.03])
def test_evidence_of_stars_is_that_of_the_naive_twin(kind: str, epsilon: float) -> None:
    random = np.random.default_rng(3)
    one, two = stars(random, 3.5, 400), stars(random, 2.4, 900)  # unequal numbers
    log = rewards_of(one, two)  # if these numbers were fixed, they would be compared by batches
    result = identify_log(log, epsilon=epsilon, bounds=(1, 5), contamination=kind, stopping="any")
    naive = log_W_bounded(Question(kind, epsilon, 2, 1300), (one - 1) / 4, (two - 1) / 4)
    assert 10 < naive < 700
    assert log_evidence(result) == pytest.approx(naive, rel=1e-9)


@pytest.mark.parametrize("kind", COUNTED)
def test_evidence_of_many_valued_rewards_with_some_missing_is_that_of_the_naive_twin(kind: str) -> None:
    random = np.random.default_rng(4)
    one, two = random.beta(6, 4, 500), random.beta(4, 6, 350)
    lost = (9, 4)
    result = identify_log(rewards_of(one, two, missing=lost), epsilon=0.03, bounds=(0, 1), contamination=kind)
    naive = log_W_bounded(Question(kind, 0.03, 2, 863), one, two, lost)
    assert 5 < naive < 700
    assert log_evidence(result) == pytest.approx(naive, rel=1e-9)


@pytest.mark.parametrize(
    ("kind", "epsilon"),
    [("share-of-all", 0.02), ("share-of-arm", 0.02), ("share-of-arm", 0.0), ("prescient", 0.05), ("malicious", 0.03)],
)
def test_evidence_of_sub_gaussian_rewards_is_just_below_that_of_the_naive_twin(kind: str, epsilon: float) -> None:
    random = np.random.default_rng(5)
    one, two = random.normal(0.9, 1, 500), random.normal(0.1, 1, 220)
    lost = (3, 1) if kind in COUNTED and epsilon else (0, 0)
    result = identify_log(rewards_of(2 * one, 2 * two, missing=lost), epsilon=epsilon, sigma=2.0, contamination=kind)
    naive = log_W_lattice(Question(kind, epsilon, 2, 720 + sum(lost)), one, two, lost)
    assert naive - max(0.3, 0.04 * naive) <= log_evidence(result) <= naive + 1e-9


def test_a_lead_is_the_largest_that_the_naive_twin_proves() -> None:
    random = np.random.default_rng(6)
    one, two = random.binomial(1, 0.7, 900) * 1.0, random.binomial(1, 0.3, 700) * 1.0
    result = identify_log(rewards_of(one, two), epsilon=0.01, bounds=(0, 1), delta=0.05)
    lead = result.leads["B"]
    clean = identify_log(rewards_of(one, two), epsilon=0.0, bounds=(0, 1), delta=0.05)
    assert 0.2 < lead < clean.leads["B"] < one.mean() - two.mean()
    assert result.arms[0].lower < one.mean() < result.arms[0].upper


# --------------------------------------------------------------------------- whatever the order, and the way it is kept


@pytest.mark.parametrize("values", ["few", "many"])
@pytest.mark.parametrize("spread", [{"bounds": (-6, 6)}, {"sigma": 1.0}])
def test_the_order_of_rows_changes_no_bit(values: str, spread: dict[str, Any]) -> None:
    random = np.random.default_rng(7)
    which = random.integers(0, 4, 6000)
    rewards = np.clip(random.normal(which / 3.0, 1.0), -6, 6)
    frame = pd.DataFrame({"arm": which, "reward": np.round(rewards, 1) if values == "few" else rewards})
    one = identify_log(frame, arm="arm", reward="reward", epsilon=0.01, **spread)
    for seed in range(2):
        other = frame.sample(frac=1.0, random_state=seed)
        assert identify_log(other, arm="arm", reward="reward", epsilon=0.01, **spread) == one
    assert "0" not in one.candidates
    assert one.leader == "3"


def test_only_the_order_within_a_source_matters() -> None:
    votes = contest(3, rigged=True).votes
    one = identify_log(votes, arm="caption", reward="stars", source="voter", epsilon=0.015, bounds=(1, 5))
    at = np.random.default_rng(1).random(votes["voter"].max() + 1)[votes["voter"]]
    other = votes.iloc[np.argsort(at, kind="stable")]  # the voters in another order, each with all votes
    assert identify_log(other, arm="caption", reward="stars", source="voter", epsilon=0.015, bounds=(1, 5)) == one
    assert one.best == BEST
    assert one.sources == 3490
    backwards = identify_log(votes[::-1], arm="caption", reward="stars", source="voter", epsilon=0.015, bounds=(1, 5))
    assert backwards.p_value != one.p_value


@pytest.mark.parametrize("spread", [{"bounds": (1, 5)}, {"sigma": 2.0}])
def test_counts_say_the_same_as_rows(spread: dict[str, Any]) -> None:
    random = np.random.default_rng(8)
    arms = [stars(random, mean, 700 + 100 * index) for index, mean in enumerate((3.9, 2.5, 2.2))]
    one = identify_log(rewards_of(*arms), epsilon=0.01, **spread)
    assert one == identify_log(rewards_of(*arms, grouped=True), epsilon=0.01, **spread)
    assert one.best == "A"


def test_a_hundred_million_rows_are_no_more_work_than_their_counts() -> None:
    counts = np.array([1, 2, 3, 3, 6]) * 10**7
    log = Rewards(("A", "B"), (np.arange(1.0, 6.0),) * 2, (counts, counts[::-1].copy()))
    result = identify_log(log, epsilon=0.01, bounds=(1, 5))
    assert result.best == "A"
    assert result.pulls == 3 * 10**8
    assert result.replaced == 3 * 10**6


# ------------------------------------------------------------------------------------ the inequality behind the promise


def tamper(random: np.random.Generator, clean: Floats, replaced: int, lost: int, low: float, high: float) -> Floats:
    """Replace some rewards by anything, and lose others, chosen by their values."""
    order = np.argsort(clean if random.random() < 0.5 else -clean)
    if random.random() < 0.3:
        order = random.permutation(clean.size)
    changed = clean.copy()
    changed[order[:replaced]] = random.choice([low, high, random.uniform(low, high)])
    return np.delete(changed, order[replaced : replaced + lost])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.sampled_from(COUNTED), st.booleans())
def test_whatever_is_replaced_or_lost_the_evidence_is_below_that_of_the_clean_rewards(
    seed: int, kind: str, bounded: bool
) -> None:
    random = np.random.default_rng(seed)
    numbers = random.integers(30, 200, 2)
    epsilon = float(random.choice([0.02, 0.05, 0.1]))
    if bounded:
        problem = pose(2, delta=0.1, epsilon=epsilon, bounds=(0, 1))
        clean = [random.beta(2, random.uniform(1, 4), number) for number in numbers]
        low, high = 0.0, 1.0
    else:
        problem = pose(2, delta=0.1, epsilon=epsilon, sigma=1.0)
        clean = [random.normal(random.uniform(-1, 1), 1, number) for number in numbers]
        low, high = -9.0, 9.0
    if kind == "share-of-arm":
        budgets = [int(epsilon * number + 1e-9) for number in numbers]
    else:
        first = int(random.integers(0, int(epsilon * numbers.sum() + 1e-9) + 1))
        first = min(first, int(numbers[0]) // 2)
        budgets = [first, min(int(epsilon * numbers.sum() + 1e-9) - first, int(numbers[1]) // 2)]
    lost = [int(random.integers(0, budget + 1)) for budget in budgets]
    seen = [tamper(random, *each, low, high) for each in zip(clean, np.subtract(budgets, lost), lost, strict=True)]
    whole = LogEvidence(problem, kind, [to_pile(problem, np.sort(each), None) for each in clean])
    piles = [to_pile(problem, np.sort(each), None, gone) for each, gone in zip(seen, lost, strict=True)]
    rest = LogEvidence(problem, kind, piles)
    for pair in ((0, 1), (1, 0)):
        priced = rest.judge(*pair, rest.at_epsilon(epsilon))[0]
        assert priced <= whole.judge(*pair, whole.at_count(0))[0] + 1e-6


def test_missing_rewards_are_part_of_what_epsilon_allows_for() -> None:
    random = np.random.default_rng(9)
    one, two = stars(random, 4.0, 500), stars(random, 2.0, 500)
    whole = identify_log(rewards_of(one, two), epsilon=0.05, bounds=(1, 5))
    some = identify_log(rewards_of(one[20:], two[20:], missing=(20, 20)), epsilon=0.05, bounds=(1, 5))
    assert (whole.replaced, some.replaced) == (50, 50)
    assert some.rows == 1000
    assert some.pulls == 960
    assert "the 40 missing rewards are among the replaced" in some.promise
    assert some.best == whole.best == "A"
    with pytest.raises(InputError, match=r"epsilon must allow for what is missing, .*\(60, of 1,060\), got 0.05"):
        identify_log(rewards_of(one, two, missing=(60, 0)), epsilon=0.05, bounds=(1, 5))
    with pytest.raises(InputError, match=r"60 of 560 of 'A'"):
        identify_log(rewards_of(one, two, missing=(60, 0)), epsilon=0.05, bounds=(1, 5), contamination="share-of-arm")
    coin = identify_log(rewards_of(one, two, missing=(120, 0)), epsilon=0.05, bounds=(1, 5), contamination="prescient")
    assert coin.alarms == ("120 rewards of 'A' are missing or out of bounds, more than epsilon = 0.05 allows",)
    assert "no probability is claimed" in str(coin)


# ---------------------------------------------------------------------------------------------------------- the promise


def highest_error_rate(wrong: int, trials: int) -> float:
    """The exact upper bound of a probability, wrong once in a thousand times."""
    return float(stats.binomtest(wrong, trials, alternative="less").proportion_ci(0.999).high)


def named_wrongly(problem: Problem, kind: str, arms: list[Floats], best: int = 0) -> bool:
    evidence = LogEvidence(problem, kind, [to_pile(problem, np.sort(each), None) for each in arms])
    return bool(evidence.worse(evidence.at_epsilon(problem.epsilon))[best])


def push_up(clean: Floats, count: int, high: float) -> Floats:
    """Replace the lowest rewards, chosen in hindsight."""
    changed = np.sort(clean)
    changed[:count] = high
    return changed


def push_down(clean: Floats, count: int, low: float) -> Floats:
    changed = np.sort(clean)
    changed[changed.size - count :] = low
    return changed


def share_of_all_on_a_worse_arm(random: np.random.Generator, clean: list[Floats], epsilon: float) -> list[Floats]:
    return [clean[0], push_up(clean[1], int(epsilon * sum(map(len, clean))), 1.0), *clean[2:]]


def share_of_all_on_the_best_arm(random: np.random.Generator, clean: list[Floats], epsilon: float) -> list[Floats]:
    return [push_down(clean[0], int(epsilon * sum(map(len, clean))), 0.0), *clean[1:]]


def share_of_all_on_both(random: np.random.Generator, clean: list[Floats], epsilon: float) -> list[Floats]:
    half = int(epsilon * sum(map(len, clean))) // 2
    return [push_down(clean[0], half, 0.0), push_up(clean[1], half, 1.0), *clean[2:]]


@pytest.mark.slow
@pytest.mark.parametrize("attack", [share_of_all_on_a_worse_arm, share_of_all_on_the_best_arm, share_of_all_on_both])
@pytest.mark.parametrize("mean", [0.02, 0.2, 0.5])
def test_the_best_arm_is_rarely_ruled_out_though_all_fakes_are_placed_in_hindsight(
    attack: Callable[..., list[Floats]], mean: float
) -> None:
    problem = pose(3, delta=0.3, epsilon=0.02, bounds=(0, 1))
    random = np.random.default_rng(10)
    trials = 1500
    wrong = 0
    for _ in range(trials):
        clean = [random.binomial(1, p, n) * 1.0 for p, n in ((mean, 700), (mean - 1e-6, 400), (mean / 2, 400))]
        wrong += named_wrongly(problem, "share-of-all", attack(random, clean, 0.02))
    assert highest_error_rate(wrong, trials) < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["share-of-arm", "prescient"])
@pytest.mark.parametrize("bounded", [True, False])
def test_the_best_arm_is_rarely_ruled_out_if_each_arm_is_attacked(kind: str, bounded: bool) -> None:
    spread: dict[str, Any] = {"bounds": (0, 1)} if bounded else {"sigma": 1.0}
    problem = pose(3, delta=0.3, epsilon=0.05, **spread)
    random = np.random.default_rng(11)
    low, high = (0.0, 1.0) if bounded else (-2.5, 2.5)  # as far as bets go: more would be clipped, or guarded against
    trials = 1000
    wrong = 0
    for _ in range(trials):
        numbers = (500, 300, 300)
        clean = [random.binomial(1, 0.5, n) * 1.0 if bounded else random.normal(0, 1, n) for n in numbers]
        if kind == "prescient":
            hits = [random.random(n) < 0.05 for n in numbers]
            for arm, (tape, hit) in enumerate(zip(clean, hits, strict=True)):
                tape[hit] = low if arm == 0 else high
            seen = clean
        else:
            counts = [int(0.05 * n) for n in numbers]
            seen = [push_down(clean[0], counts[0], low), *(push_up(clean[i], counts[i], high) for i in (1, 2))]
        wrong += named_wrongly(problem, kind, seen)
    assert highest_error_rate(wrong, trials) < 0.3


@pytest.mark.slow
def test_counts_may_go_by_earlier_rewards_if_the_tampering_came_after() -> None:
    """Sampling that is greedy, the worst for plain means: an arm that starts badly is not sampled again."""
    problem = pose(2, delta=0.3, epsilon=0.01, bounds=(0, 1))
    random = np.random.default_rng(12)
    trials = 600
    wrong = 0
    for _ in range(trials):
        tapes = random.binomial(1, 0.3, (2, 900)) * 1.0
        pulls, sums = np.ones(2, int), tapes[:, 0].copy()
        for turn in range(900):
            arm = int(np.argmax(sums / pulls + np.array([0.0, 1e-9]))) if turn % 10 else turn // 10 % 2
            if pulls[arm] < 900:
                sums[arm] += tapes[arm, pulls[arm]]
                pulls[arm] += 1
        clean = [tapes[0, : pulls[0]], tapes[1, : pulls[1]]]
        wrong += named_wrongly(problem, "share-of-all", share_of_all_on_a_worse_arm(random, clean, 0.01))
    assert highest_error_rate(wrong, trials) < 0.3


def source_table(answers: Floats, random: np.random.Generator) -> SourceTable:
    """Everybody rewards all arms, in an order of their own."""
    sources, arms = answers.shape
    which = np.argsort(random.random(answers.shape), axis=1)
    who = np.repeat(np.arange(sources), arms)
    return SourceTable(which.ravel().astype(np.int32), who.astype(np.int32), answers[who, which.ravel()], sources)


@pytest.mark.slow
def test_the_best_arm_is_rarely_ruled_out_by_sources_that_are_alike_in_all_they_say() -> None:
    """What a source says of two arms is the same, but for the dishonest ones, chosen in hindsight."""
    problem = pose(2, delta=0.3, epsilon=0.03, bounds=(0, 1))
    random = np.random.default_rng(13)
    trials = 800
    wrong = 0
    for _ in range(trials):
        mood = random.binomial(1, 0.5, 500) * 1.0
        answers = np.stack([mood, mood], axis=1)
        table = source_table(answers, random)
        value = table.value.copy()
        first = np.arange(0, 1000, 2)  # only what is said first of the two arms enters
        against = np.where(table.arm[first] == 0, value[first] == 1.0, value[first] == 0.0)
        hit = first[against][:15]
        value[hit] = 1.0 - value[hit]
        evidence = SourceEvidence(problem, SourceTable(table.arm, table.source, value, 500))
        wrong += bool(evidence.worse(evidence.at_epsilon(0.03))[0])
    assert highest_error_rate(wrong, trials) < 0.3


def test_more_fakes_than_epsilon_allows_do_turn_the_answer() -> None:
    """That the attacks above are strong: with four times the fakes a worse arm is named in most trials."""
    problem = pose(3, delta=0.3, epsilon=0.02, bounds=(0, 1))
    random = np.random.default_rng(14)
    wrong = 0
    for _ in range(100):
        clean = [random.binomial(1, 0.5, n) * 1.0 for n in (700, 400, 400)]
        wrong += named_wrongly(problem, "share-of-all", share_of_all_on_a_worse_arm(random, clean, 0.08))
    assert wrong > 60


def test_a_missing_reward_of_a_source_is_paid_for_twice_as_it_may_enter_by_the_other_arm() -> None:
    """A = .032, B = .030; at most 160 sources of 8,000 (c) that would have praised A first are silent about it."""
    random, rows, gone = np.random.default_rng(85), [], 0
    for who in range(8000):
        draw, first = random.random(), who % 3 > 0
        says = {"A": float(draw < 0.032), "B": float(draw < 0.030)}
        for arm in ("A", "B") if first else ("B", "A"):
            is_silent = arm == "A" and first and says["A"] > 0.0 and gone < 160
            gone += is_silent
            rows.append((who, arm, math.nan if is_silent else says[arm]))
    log = pd.DataFrame(rows, columns=["who", "arm", "reward"])
    result = identify_log(log, source="who", missing="replaced", bounds=(0, 1), epsilon=0.02)
    assert gone > 120
    assert (result.best, result.p_value) == (None, 1.0)


# ------------------------------------------------------------------------------------------------------------ the power


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "spread", "epsilon", "times"),
    [
        ("share-of-arm", {"bounds": (0, 1)}, 0.03, 1.0),
        ("share-of-all", {"bounds": (0, 1)}, 0.01, 1.0),
        ("prescient", {"bounds": (0, 1)}, 0.05, 1.0),
        ("share-of-arm", {"sigma": 1.0}, 0.03, 1.1),
        ("share-of-all", {"sigma": 1.0}, 0.01, 1.0),
        ("prescient", {"sigma": 1.0}, 0.05, 1.1),
    ],
)
def test_a_log_needs_hardly_more_rows_than_the_sequential_method_in_most_runs(
    kind: str, spread: dict[str, Any], epsilon: float, times: float
) -> None:
    """No more, but for two kinds of sub-Gaussian logs: the sequential method bets for this epsilon, a log for all."""
    random = np.random.default_rng(15)
    runs, as_good = 12, 0
    for _ in range(runs):
        if "bounds" in spread:
            tapes = random.binomial(1, np.array([0.8, 0.4, 0.3])[:, None], (3, 20_000)) * 1.0
        else:
            tapes = random.normal(np.array([1.2, 0.2, 0.0])[:, None], 1.0, (3, 20_000))
        finder = ba.Identifier(3, delta=0.05, epsilon=epsilon, contamination=kind, **spread)
        pulls = [0, 0, 0]
        while not finder.done and sum(pulls) < 30_000:
            arm = int(finder.ask())
            finder.tell(arm, tapes[arm, pulls[arm]])
            pulls[arm] += 1
        assert finder.result.best == 0
        problem = pose(3, delta=0.05, epsilon=epsilon, **spread)
        more = [math.ceil(times * number) for number in pulls]
        piles = [to_pile(problem, np.sort(tape[:n]), None) for tape, n in zip(tapes, more, strict=True)]
        evidence = LogEvidence(problem, kind, piles)
        as_good += bool(evidence.worse(evidence.at_epsilon(epsilon)).sum() == 2)
    assert as_good > runs / 2


# -------------------------------------------------------------------------------------------------- the analyst's story


@pytest.mark.parametrize("seed", range(5))
def test_the_clean_contest_names_the_best_caption(seed: int) -> None:
    result = identify_log(
        contest(seed, rigged=False).anonymous, arm="caption", reward="stars", epsilon=0.01, bounds=(1, 5)
    )
    assert result.best == BEST
    assert result.rows == 30_000
    assert result.replaced == 300
    assert result.overturn is not None
    assert 350 < result.overturn < 600
    assert result.tolerance is not None
    assert result.tolerance >= 0.012
    assert "'A' has the highest mean of 8 arms" in str(result)
    assert f"it would take more than {result.overturn} replaced rewards to overturn it" in str(result)
    assert "stopped" not in str(result)


@pytest.mark.parametrize("seed", range(5))
def test_the_rigged_contest_without_voters_names_nobody(seed: int) -> None:
    result = identify_log(
        contest(seed, rigged=True).anonymous, arm="caption", reward="stars", epsilon=0.08, bounds=(1, 5)
    )
    assert result.best is None
    assert (result.status, result.limit) == ("indistinguishable", "contamination")
    assert {BEST, RIGGED} <= set(result.candidates)
    assert result.leader == RIGGED  # a guess, and the wrong one: that is why nobody is named
    assert result.replaced == 2400
    assert all(lead < 0 for lead in result.leads.values())
    assert result.overturn is not None
    assert 30 < result.overturn < 300  # far fewer than the bots gave
    assert result.tolerance is not None
    named = f"if epsilon were at most {share_shown(result.tolerance)}, or with at most {result.overturn} rep"
    assert f"would be named {named}" in str(result)
    assert "up to 2,400 replaced rewards) could hide the remaining lead" in str(result)
    naive = contest(seed, rigged=True).anonymous.groupby("caption")["stars"].mean()
    assert naive.idxmax() == RIGGED


@pytest.mark.parametrize("seed", range(5))
def test_the_rigged_contest_with_voters_names_the_best_caption(seed: int) -> None:
    result = identify_log(
        contest(seed, rigged=True).votes, arm="caption", reward="stars", source="voter", epsilon=0.015, bounds=(1, 5)
    )
    assert result.options["contamination"] == "sources"
    assert result.best == BEST
    assert (result.sources, result.replaced) == (3490, 52)
    assert result.overturn is not None
    assert result.overturn > 3 * BOTS
    assert "comparing each pair of arms by whichever of the two each of 3,490 sources rewarded first" in str(result)
    assert f"it would take more than {result.overturn} dishonest sources" in str(result)


# ----------------------------------------------------------------------------------------------------- what is read off


def test_tolerance_overturn_and_sensitivity_say_the_same() -> None:
    votes = contest(1, rigged=False).anonymous
    columns: dict[str, Any] = {"arm": "caption", "reward": "stars", "bounds": (1, 5)}
    result = identify_log(votes, epsilon=0.01, **columns)
    assert result.tolerance is not None
    assert result.overturn is not None
    assert result.tolerance == result.overturn / 30_000
    assert identify_log(votes, epsilon=result.tolerance, **columns).best == BEST
    assert identify_log(votes, epsilon=result.tolerance + 0.001, **columns).best is None
    sets = [set(row.candidates) for row in result.sensitivity]
    assert all(one <= two for one, two in itertools.pairwise(sets))
    assert [row.best for row in result.sensitivity if row.epsilon <= result.tolerance] == [BEST] * 2
    assert result.sensitivity[-1].limit == "contamination"


def test_an_arm_of_a_few_high_rewards_does_not_lead() -> None:
    random = np.random.default_rng(16)
    log = rewards_of(stars(random, 4.0, 800), stars(random, 3.0, 800), np.array([5.0, 5.0]))
    result = identify_log(log, epsilon=0.0, bounds=(1, 5))
    assert result.leader == "A"
    assert result.candidates == ("A", "C")  # but nobody can say that it is worse
    assert (result.status, result.limit) == ("undecided", "budget")
    assert result.arms[2].pulls == 2


def test_an_undecided_log_says_about_how_many_more_rewards_it_needs() -> None:
    random = np.random.default_rng(17)
    tapes = [stars(random, mean, 20_000) for mean in (3.2, 3.0, 1.5)]
    short = rewards_of(*(tape[:400] for tape in tapes))
    result = identify_log(short, epsilon=0.001, bounds=(1, 5))
    assert result.best is None
    assert result.candidates == ("A", "B")
    assert result.limit == "budget"
    assert set(result.more) == {"A", "B"}
    assert 200 < result.more["B"] < 20_000
    assert "(a rough forecast)" in str(result)
    assert "ruled out: 'C'" in str(result)
    times = 1 + 4 * result.more["B"] / 400  # it is rough
    longer = rewards_of(*(tape[: int(times * 400)] for tape in tapes))
    assert identify_log(longer, epsilon=0.001, bounds=(1, 5)).best == "A"


def test_good_enough_names_one_of_two_that_are_close() -> None:
    random = np.random.default_rng(18)
    log = rewards_of(*(stars(random, mean, 3000) for mean in (3.51, 3.5, 2.0)))
    assert identify_log(log, epsilon=0.0, bounds=(1, 5)).best is None
    result = identify_log(log, epsilon=0.0, bounds=(1, 5), good_enough=0.3)
    assert result.best in ("A", "B")
    assert "is within 0.3 of the highest mean" in str(result)


def test_rewards_that_no_mean_fits_ring_an_alarm() -> None:
    random = np.random.default_rng(19)
    log = rewards_of(random.normal(0, 3, 2000), random.normal(2, 3, 2000))
    result = identify_log(log, epsilon=0.01, sigma=1.0)
    assert len(result.alarms) == 2
    assert "no probability is claimed" in str(result)
    assert identify_log(log, epsilon=0.01, sigma=3.0).alarms == ()


def test_a_result_is_one_like_any_other() -> None:
    result = identify_log(
        contest(1, rigged=False).anonymous, arm="caption", reward="stars", epsilon=0.01, bounds=(1, 5)
    )
    assert isinstance(result, ba.Result)
    assert result.to_frame()["label"].tolist() == list(CAPTIONS)
    stored = result.to_dict()
    assert stored["health"]["rows"] == 30_000
    assert stored["sensitivity"][0]["best"] == BEST
    assert '"overturn"' in result.to_json()
    estimates = {row.label: row.estimate for row in result.arms}
    assert all(abs(estimates[label] - mean) < 0.15 for label, mean in zip(CAPTIONS, MEANS, strict=True))


def test_a_log_sorted_by_arm_says_so_and_may_be_compared_by_differences() -> None:
    votes = contest(4, rigged=True).votes.sort_values("caption", kind="stable")
    columns: dict[str, Any] = {"arm": "caption", "reward": "stars", "source": "voter", "bounds": (1, 5)}
    result = identify_log(votes, epsilon=0.015, **columns)
    assert result.best is None
    assert "if the log is sorted by arm, say which column is the time" in str(result)
    paired = identify_log(votes, epsilon=0.015, paired=True, **columns)
    assert paired.best == BEST
    assert paired.hint == ""
    assert paired == identify_log(votes.sample(frac=1.0, random_state=1), epsilon=0.015, paired=True, **columns)
    assert "the arms that a source was asked about were fixed before its first reward" in str(paired)
    assert 0.2 < paired.leads["B"] < MEANS[0] - MEANS[1]


def test_evidence_by_differences_is_that_of_plain_sums() -> None:
    random = np.random.default_rng(23)
    one, two = random.beta(5, 3, 300), random.beta(3, 5, 300)
    table = source_table(np.stack([one, two], axis=1), random)
    gone = (table.arm == 1) & (table.source >= 290)  # ten have rewarded A alone
    table = SourceTable(table.arm[~gone], table.source[~gone], table.value[~gone], 300)
    log = Rewards(("A", "B"), (np.sort(one), np.sort(two[:290])), None, sources=table)
    result = identify_log(log, epsilon=0.02, bounds=(0, 1), paired=True)
    sizes = 0.96 / 1.8 ** np.arange(12)
    logs = [
        np.log1p(size * (one - two)[:290]).sum() + 10 * np.log1p(-size) - 6 * np.log((1 + size) / (1 - size))
        for size in sizes
    ]
    assert log_evidence(result) == pytest.approx(float(np.logaddexp.reduce(logs)) - math.log(12), rel=1e-9)
    with pytest.raises(InputError, match="paired must come with sources and bounds"):
        identify_log(log, epsilon=0.02, sigma=1.0, paired=True)


def test_rows_left_out_are_part_of_the_promise() -> None:
    random = np.random.default_rng(20)
    arms = stars(random, 4.0, 300), stars(random, 2.0, 300)
    log = Rewards(("A", "B"), tuple(map(np.sort, arms)), None, Health(missing=7, missing_as="drop", bad_rows=2))
    assert (
        "that 9 rows were left out has nothing to do with their rewards"
        in identify_log(log, epsilon=0.01, bounds=(1, 5)).promise
    )


# ---------------------------------------------------------------------------------------------- replay, sigma, refusals


def test_a_replay_says_how_many_rows_it_used() -> None:
    votes = contest(2, rigged=False).anonymous
    result = identify_log(
        votes, arm="caption", reward="stars", epsilon=0.01, bounds=(1, 5), sequential=True, contamination="share-of-arm"
    )
    assert result.best == BEST
    assert result.sequential
    assert result.pulls + result.ignored == 30_000
    assert result.pulls < 20_000
    assert f"by a replay in order that used {result.pulls:,} rewards and ignored {result.ignored:,}" in str(result)
    finder = ba.Identifier(CAPTIONS, delta=0.05, epsilon=0.01, bounds=(1, 5), contamination="share-of-arm")
    finder.tell_many(list(votes["caption"]), votes["stars"].to_numpy())
    assert finder.result.pulls == result.pulls


@pytest.mark.slow
@pytest.mark.parametrize("replaced", [0, 20])
def test_sigma_is_rarely_above_its_bound(replaced: int) -> None:
    random = np.random.default_rng(21)
    trials, chance = 3000, 0.05
    below = 0
    for _ in range(trials):
        seen = np.sort(random.normal(3, 2, 400))
        seen[:replaced] = seen[400 - replaced :] = 3.0  # those farthest out are put in the middle
        bound = sigma_bound(np.sort(seen), 2 * replaced, chance)
        assert bound is not None
        below += bound < 2.0
    assert highest_error_rate(below, trials) < 2 * chance


def test_what_is_set_aside_is_not_the_same_ranks_of_every_log() -> None:
    """1,000 logs with 142 rewards of two arms: by a fixed seed the bound of the second arm was too low in 103."""
    random = np.random.default_rng(23)
    trials, chance = 1000, 0.2 * 0.05 / (3 * 2)
    below = 0
    for _ in range(trials):
        log = rewards_of(random.normal(0, 1, 142), random.normal(0, 1, 142))
        bound = sigma_bound(set_aside(log, seed_of(log))[0][1], 0, chance)
        assert bound is not None
        below += bound < 1.0
    assert stats.binom.sf(below - 1, trials, 2 * chance) > 1e-3


def test_the_seed_of_a_log_follows_from_its_rewards_in_any_order() -> None:
    random = np.random.default_rng(24)
    frame = pd.DataFrame(
        {"arm": ["A", "B"] * 2000, "reward": random.normal([3.0, 1.0], 1.0, (2000, 2)).round(1).ravel()}
    )
    question: dict[str, Any] = {"arm": "arm", "reward": "reward", "epsilon": 0.0, "sigma": "estimate"}
    result = identify_log(frame, **question)
    assert identify_log(frame.sample(frac=1.0, random_state=1), **question).to_dict() == result.to_dict()
    counted = frame.value_counts().reset_index(name="times")
    assert identify_log(counted, counted="times", **question).sigma == result.sigma
    seed = result.options["seed"]
    assert f"rewards picked at random (seed {seed}), which were used for nothing else" in result.promise
    assert identify_log(frame, seed=seed, **question).sigma == result.sigma
    assert identify_log(frame, seed=7, **question).options["seed"] == 7
    frame["reward"] = frame["reward"] + 0.1
    assert identify_log(frame, **question).options["seed"] != seed
    with pytest.raises(InputError, match="seed must come with sigma='estimate', got 7"):
        identify_log(frame, **question | {"sigma": 1.0}, seed=7)


def test_sigma_may_be_estimated_from_rewards_set_aside() -> None:
    random = np.random.default_rng(22)
    log = rewards_of(*(random.normal(mean, 2, 4000) for mean in (3.0, 1.0, 0.0)))
    by_arm = identify_log(log, epsilon=0.01, sigma="estimate", contamination="share-of-arm")
    assert by_arm.best == "A"
    assert 2.0 < by_arm.sigma < 2.8
    result = identify_log(log, epsilon=0.01, sigma="estimate")
    assert result.best == "A"
    assert by_arm.sigma < result.sigma < 4.5  # all that is replaced may be among those of one arm set aside
    assert result.delta == 0.05
    assert result.sigma_from == result.ignored == 3000
    assert result.pulls == 9000
    assert result.replaced == 120  # of all 12,000: those set aside may be the honest ones
    assert "clean rewards are of normal shape" in str(result)
    assert "sigma is an upper bound from 3,000 rewards picked at random" in str(result)
    only_if = f"if sigma is at most {result.sigma:.3g} whatever epsilon is, "
    assert f"; {only_if}the same rewards would still single it out with epsilon up to" in str(result)
    assert f", and it would take more than {result.overturn:,} replaced rewards" in str(result)
    close = rewards_of(*(random.normal(mean, 2, 4000) for mean in (3.5, 1.0)))
    hidden = identify_log(close, epsilon=0.04, sigma="estimate", contamination="share-of-arm")
    assert hidden.best is None
    assert f"; if sigma is at most {hidden.sigma:.3g} whatever epsilon is, it would be named" in str(hidden)
    few = rewards_of(random.normal(0, 1, 40), random.normal(1, 1, 4000))
    with pytest.raises(InputError, match=r"sigma must be given where an arm has as few rewards as 'A' \(40\)"):
        identify_log(few, epsilon=0.02, sigma="estimate")
    with pytest.raises(InputError, match="sigma must be left out where there are bounds"):
        identify_log(few, epsilon=0.02, sigma="estimate", bounds=(0, 1))


def test_bad_questions_are_refused() -> None:
    log = rewards_of(np.array([1.0, 2.0]), np.array([1.0, 6.0]))
    with pytest.raises(InputError, match="source must be a column of the log"):
        identify_log(log, epsilon=0.1, bounds=(1, 6), contamination="sources")
    with pytest.raises(InputError, match=r"reward must lie in the declared bounds \(1\.0, 5\.0\), got 6\.0"):
        identify_log(log, epsilon=0.1, bounds=(1, 5))
    with pytest.raises(InputError, match="contamination must be one of"):
        identify_log(log, epsilon=0.1, bounds=(1, 6), contamination="bots")
    with pytest.raises(InputError, match=r"goes from 1 to 6 .* which does not say what the lowest and the highest"):
        identify_log(log, epsilon=0.1)
    with pytest.raises(InputError, match="epsilon must be in"):
        identify_log(log, epsilon=0.6, bounds=(1, 6))
    with pytest.raises(InputError, match="arm must be left out for rewards that were read"):
        identify_log(log, arm="caption", epsilon=0.1, bounds=(1, 6))
    with pytest.raises(InputError, match="data must be the log itself for a replay"):
        identify_log(log, epsilon=0.1, bounds=(1, 6), sequential=True)
