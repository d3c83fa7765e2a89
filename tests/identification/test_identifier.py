"""The live driver: identify() against a hand loop, caps, bounds, batches, and the attack-free case."""

from __future__ import annotations

import copy
import dataclasses
import math
import statistics
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bestarm as ba
from bestarm.methods import METHODS
from bestarm.reference import radii
from bestarm.reference.random_sampling import uniform_arm
from streams import Arms

ASKED: dict[str, Any] = {"delta": 0.1, "epsilon": 0.1}
MEANS = [2.5, 1.5, 1.0, 0.6]
LABELS = ["A", "B", "C", "D"]

every_method = pytest.mark.parametrize("method", sorted(METHODS))


def short(method: str) -> dict[str, Any]:
    """Options for short runs, as far as the method has them."""
    has = {option.name for option in METHODS[method].options}
    return {name: value for name, value in (("alpha", 0.2), ("exploration", "chernoff")) if name in has}


def arms(seed: int, means: list[float] = MEANS, epsilon: float = 0.1) -> Arms:
    return Arms(means, epsilon, "gaussian", "uniform", seed)


class Watched:
    """A pull function that remembers what was pulled."""

    def __init__(self, rewards: Arms) -> None:
        self.rewards = rewards
        self.pulled: list[Any] = []

    def __call__(self, arm: Any) -> float:
        self.pulled.append(arm)
        return self.rewards.pull(LABELS.index(arm) if arm in LABELS else arm)


# ----------------------------------------------------------------------------------------- bestarm owns the loop


@every_method
@pytest.mark.parametrize("seed", range(3))
def test_identify_is_the_loop_that_a_user_would_write(method: str, seed: int) -> None:
    finder = ba.Identifier(LABELS, sigma=1.0, method=method, **ASKED, **short(method))
    by_hand = Watched(arms(seed))
    while not finder.done:
        arm = finder.ask()
        finder.tell(arm, by_hand(arm))
    pull = Watched(arms(seed))
    result = ba.identify(pull, LABELS, sigma=1.0, method=method, **ASKED, **short(method))
    pulled = pull.pulled
    assert pulled == by_hand.pulled
    assert result == finder.result
    assert (result.status, result.best, result.candidates) == ("identified", "A", ("A",))
    assert result.pulls == len(pulled) == sum(row.pulls for row in result.arms)
    assert [row.pulls for row in result.arms] == [pulled.count(label) for label in LABELS]
    assert (result.delta, result.epsilon, result.sigma, result.method) == (0.1, 0.1, 1.0, method)
    assert result.options.items() >= short(method).items()
    assert set(result.options) == {option.name for option in METHODS[method].options}
    assert result.promise == METHODS[method].promised(result.options)
    assert result.proved == (method == "certified")
    assert (result.leader, result.limit) == ("A", None)
    assert result.alarms == ()
    if METHODS[method].certifies:
        assert result.tolerance is not None
        assert 0.1 <= result.tolerance < 0.5
        assert result.p_value is not None
        assert 0.0 < result.p_value <= 0.1
        assert set(result.leads) == set(LABELS) - {"A"}
        assert result.overturn is not None
    else:
        assert result.tolerance is None


@every_method
def test_a_cap_ends_the_run_undecided(method: str) -> None:
    asked = {"arms": 4, "sigma": 1.0, "method": method, **ASKED, **short(method)}
    free = ba.identify(Watched(arms(1)), **asked)
    for cap in (1, 4, 33, free.pulls - 1):
        pull = Watched(arms(1))
        capped = ba.identify(pull, max_pulls=cap, **asked)
        assert len(pull.pulled) == capped.pulls == cap
        assert (capped.status, capped.best) == ("undecided", None)
        assert capped.candidates == tuple(row.label for row in capped.arms if row.active)
        assert {0, 1} <= set(capped.candidates)
    for cap in (free.pulls, free.pulls + 1, 10**9):
        assert ba.identify(Watched(arms(1)), max_pulls=cap, **asked) == free
    assert free.status == "identified"


def test_a_capped_elimination_names_the_arms_still_in() -> None:
    """Arms 0 and 1 are equal, and the two others are far behind: gone after the first round of many."""
    finder = ba.Identifier(4, delta=0.1, epsilon=0.0, sigma=0.5, method="mean-se")
    while finder.pulls < 100:
        arm = finder.ask()
        finder.tell(arm, 1.0 if arm in (0, 1) else -9.0)
    result = finder.result
    assert result.status == "undecided"
    assert result.candidates == (0, 1)
    assert [row.active for row in result.arms] == [True, True, False, False]
    assert [row.pulls for row in result.arms] == [49, 49, 1, 1]


@every_method
def test_before_the_decision_the_result_says_undecided(method: str) -> None:
    finder = ba.Identifier(LABELS, sigma=1.0, method=method, **ASKED, **short(method))
    first = finder.result
    assert (first.status, first.best, first.pulls, first.candidates) == ("undecided", None, 0, tuple(LABELS))
    assert [row.pulls for row in first.arms] == [0, 0, 0, 0]
    assert all(math.isnan(row.estimate) for row in first.arms)
    finder.tell("C", 3.0)
    second = finder.result
    assert (second.status, second.best, second.pulls) == ("undecided", None, 1)
    assert [row.pulls for row in second.arms] == [0, 0, 1, 0]
    if not METHODS[method].certifies:  # whose estimate is the middle of an interval, infinite as yet
        assert second.arms[2].estimate == 3.0
    assert first.pulls == 0  # a result is a record, not a view
    assert not finder.done


@pytest.mark.parametrize("progress", [False, True])
def test_no_bar_without_a_terminal(progress: bool, capfd: pytest.CaptureFixture[str]) -> None:
    asked: dict[str, Any] = {"delta": 0.1, "epsilon": 0.0, "sigma": 0.1, "method": "mean-se"}
    result = ba.identify(lambda arm: 1.0 if arm else 0.0, 2, progress=progress, **asked)
    assert result.best == 1
    assert capfd.readouterr() == ("", "")


# ------------------------------------------------------------------------------------------------------- the question


@every_method
@pytest.mark.parametrize("bounds", [(0, 1), (-3.0, 5.0), [2, 2.5], np.array([-1.0, 1.0])], ids=str)
def test_bounds_stand_for_half_their_width(method: str, bounds: Any) -> None:
    low, high = float(bounds[0]), float(bounds[1])
    table = np.random.default_rng(7).uniform(size=(3, 30_000)) ** np.array([[0.3], [1.0], [3.0]])
    results = []
    for scale in ({"bounds": bounds}, {"sigma": (high - low) / 2.0}):
        rewards = [iter(row.tolist()) for row in low + (high - low) * table]

        def pull(arm: Any, rewards: list[Iterator[Any]] = rewards) -> float:
            return float(next(rewards[arm]))

        results.append(ba.identify(pull, 3, method=method, **scale, **ASKED, **short(method)))
    if not METHODS[method].certifies:  # which has tighter intervals for rewards that cannot leave a range
        assert dataclasses.replace(results[0], bounds=None) == results[1]
    assert results[0].bounds == (low, high)
    assert results[0].sigma == (high - low) / 2.0
    assert [result.best for result in results] == [0, 0]


def test_a_number_of_arms_stands_for_labels_from_zero() -> None:
    for number in (3, np.int64(3)):
        assert ba.Identifier(number, sigma=1.0, method="mean-se", **ASKED).labels == (0, 1, 2)  # type: ignore[arg-type]


def test_labels_may_come_from_any_iterable() -> None:
    finder = ba.Identifier((name for name in "xyz"), sigma=1.0, method="mean-se", **ASKED)
    assert finder.labels == ("x", "y", "z")
    assert [finder.ask() for _ in range(3)] == ["x", "y", "z"]


def test_the_example_of_the_design() -> None:
    rng = np.random.default_rng(0)
    finder = ba.Identifier(["A", "B", "C"], delta=0.05, epsilon=0.1, sigma=1.0, method="se-cbai")
    while not finder.done:
        arm = finder.ask()
        reward = {"A": 0.0, "B": 1.0, "C": 0.5}[str(arm)] + rng.standard_normal()
        finder.tell(arm, reward)
    assert finder.result.best == "B"
    assert finder.result.pulls == 3 * 2397  # T = 2 / 0.05^2 log 20 = 2396.6 pulls an arm
    assert [(row.label, row.pulls, row.active) for row in finder.estimates] == [
        ("A", 2397, False),
        ("B", 2397, True),
        ("C", 2397, False),
    ]
    for row, mean in zip(finder.estimates, (0.0, 1.0, 0.5), strict=True):
        assert row.lower < mean < row.upper
        assert row.estimate == pytest.approx(mean, abs=0.1)

    def pull(arm: Any) -> float:
        return {"A": 0.0, "B": 1.0}[arm] + rng.standard_normal()

    result = ba.identify(
        pull, arms=["A", "B"], delta=0.05, epsilon=0.1, sigma=1.0, method="g-cbai", max_pulls=None, progress=False
    )
    assert (result.best, result.pulls) == ("B", 2 * 2397)

    bandit = ba.Bandit(
        [ba.Gaussian(2.5), ba.Gaussian(2.3)],
        epsilon=0.1,
        adversary=ba.adversaries.Uniform([1.0, 2.0], halfwidth=1.0),
    )
    trials = ba.simulate(bandit, "se-cbai", delta=0.1, trials=100, seed=7, workers=2)  # 1,000 there
    assert trials.pulls.shape == trials.answers.shape == trials.correct.shape == (100,)
    assert trials.pulls.min() >= 2 * 1843
    assert trials.mean_pulls == trials.pulls.mean() == trials.summary()["mean_pulls"]
    # The adversary takes off 0.15 and 0.03: what is left of the gap of 0.2 is 0.08, still in favour of arm 0.
    assert trials.error_rate == (trials.answers == 1).mean() == (~trials.correct).mean() <= 0.1
    assert len(trials.to_frame()) == 100


# -------------------------------------------------------------------------------------------------- no contamination

# Pulls until the decision between two arms that are worlds apart, with T = 1: elimination after the first round; the
# gap methods at t = 4, the first t > 1 at which every arm has its sqrt(t) pulls; the random one, without it, at 2.
FIRST_CHANCE = {"se-cbai": 2, "median-se": 2, "mean-se": 2, "random": 2, "g-cbai": 4, "mean-gap": 4}


@pytest.mark.parametrize("method", FIRST_CHANCE)
def test_without_contamination_one_pull_is_exploration_enough(method: str) -> None:
    asked: dict[str, Any] = {"delta": 0.1, "epsilon": 0.0, "sigma": 1.0, "method": method}
    result = ba.identify(lambda arm: 1e6 if arm else 0.0, 2, **asked)
    assert (result.best, result.pulls) == (1, FIRST_CHANCE[method])
    assert result.options.get("alpha", 0.0) == 0.0


@pytest.mark.parametrize("method", FIRST_CHANCE)
def test_without_contamination_the_estimate_is_the_mean(method: str) -> None:
    rng = np.random.default_rng(3)
    finder = ba.Identifier(3, delta=0.1, epsilon=0.0, sigma=100.0, method=method)
    told: list[list[float]] = [[], [], []]
    middle = statistics.median if method == "median-se" else statistics.fmean
    for _ in range(400):
        arm = finder.ask()
        assert isinstance(arm, int)
        told[arm].append(float(rng.standard_t(2)))
        finder.tell(arm, told[arm][-1])
        for row in finder.estimates:
            if row.pulls:
                assert row.estimate == pytest.approx(middle(told[row.label]), rel=1e-14, abs=1e-14)
                assert math.isfinite(row.upper)  # T = 1: one reward is enough for an interval
    assert not finder.done


@pytest.mark.parametrize(("robust", "plain"), [("g-cbai", "mean-gap"), ("se-cbai", "mean-se")])
@pytest.mark.parametrize("seed", range(5))
def test_without_contamination_the_robust_methods_are_their_plain_counterparts(
    robust: str, plain: str, seed: int
) -> None:
    runs = []
    for method in (robust, plain):
        pull = Watched(arms(seed, epsilon=0.0))
        result = ba.identify(pull, 4, delta=0.1, epsilon=0.0, sigma=1.0, method=method)
        runs.append((pull.pulled, result.best, result.arms))
    assert runs[0] == runs[1]
    assert len(runs[0][0]) > 100


# ------------------------------------------------------------------------------------------- an exploration too long


@pytest.mark.parametrize("method", ["g-cbai", "se-cbai", "random", "median-se"])
def test_an_exploration_that_nobody_can_afford_is_warned_of(method: str) -> None:
    asked: dict[str, Any] = {"delta": 0.1, "epsilon": 1e-6, "sigma": 1.0, "method": method}
    with pytest.warns(UserWarning, match="before any decision") as warned:
        ba.Identifier(2, **asked)
    assert [str(one.message) for one in warned] == [
        'exploration="hoeffding" asks for T = 1.8e+13 pulls of each arm before any decision (epsilon = 1e-06, '
        'alpha = 5e-07, delta = 0.1): use exploration="chernoff" or exploration="none", a larger alpha, or the method '
        "certified, which has no forced exploration"
    ]
    assert warned[0].filename == __file__
    with pytest.warns(UserWarning, match=r'T = 2.4e\+07 pulls .*: use exploration="none", a larger alpha') as warned:
        ba.identify(lambda arm: 0.0, 2, max_pulls=4, exploration="chernoff", **asked)
    assert warned[0].filename == __file__


@pytest.mark.parametrize(
    "given",
    [
        {"method": "certified"},
        {"method": "mean-se"},
        {"method": "mean-gap", "exploration": "hoeffding"},
        {"method": "g-cbai", "exploration": "none"},
        {"method": "random", "floor": "total", "alpha": 0.05},
        {"method": "se-cbai", "alpha": 7e-4, "delta": 0.1},  # T = 9.4e6
    ],
    ids=str,
)
def test_one_that_can_be_afforded_is_not(given: dict[str, Any]) -> None:
    """Warnings are errors in these tests."""
    assert not ba.Identifier(2, **{"delta": 0.1, "epsilon": 1e-6, "sigma": 1.0, **given}).done


@pytest.mark.parametrize("given", [{"method": "random", "floor": "total"}, {"method": "mean-se", "parameters": "same"}])
def test_variants_that_wait_as_long_are_warned_of_too(given: dict[str, Any]) -> None:
    with pytest.warns(UserWarning, match=r"T = 1.8e\+13 pulls"):
        ba.Identifier(2, delta=0.1, epsilon=1e-6, sigma=1.0, **given)


# ---------------------------------------------------------------------------------------------------------- intervals


@pytest.mark.parametrize("method", ["g-cbai", "random", "mean-gap"])
@pytest.mark.parametrize("threshold", ["theory", "empirical"])
def test_intervals_of_the_gap_family_are_the_radius_of_the_paper(method: str, threshold: str) -> None:
    finder = ba.Identifier(4, sigma=20.0, method=method, threshold=threshold, **ASKED, **short(method))
    rewards = arms(2)
    needed = radii.exploration_pulls(0.2, 0.1, "chernoff") if "alpha" in short(method) else 1.0
    epsilon = 0.1 if "alpha" in short(method) else 0.0
    for t in range(1, 500):
        arm = finder.ask()
        assert isinstance(arm, int)
        finder.tell(arm, rewards.pull(arm))
        for row in finder.estimates:
            if row.pulls < needed:
                assert math.isnan(row.estimate) or (row.lower, row.upper) == (-math.inf, math.inf)
                continue
            if threshold == "theory":
                radius = radii.gap_radius_theory(row.pulls, t, 4, 0.1, epsilon, 20.0, 2.0)
            else:
                radius = radii.gap_radius_empirical(row.pulls, t, 0.1, 20.0)
            assert row.upper - row.estimate == pytest.approx(radius, rel=1e-12)
            assert row.estimate - row.lower == pytest.approx(radius, rel=1e-12)


@pytest.mark.parametrize("method", ["se-cbai", "median-se", "mean-se"])
def test_intervals_of_the_elimination_family_are_the_radius_of_the_paper(method: str) -> None:
    finder = ba.Identifier(4, sigma=20.0, method=method, **ASKED, **short(method))
    rewards = arms(2)
    needed = radii.exploration_pulls(0.2, 0.1, "chernoff") if "alpha" in short(method) else 1.0
    epsilon = 0.1 if "alpha" in short(method) else 0.0
    for _ in range(500):
        arm = finder.ask()
        assert isinstance(arm, int)
        finder.tell(arm, rewards.pull(arm))
        for row in finder.estimates:
            if row.pulls < needed:
                assert math.isnan(row.estimate) or (row.lower, row.upper) == (-math.inf, math.inf)
                continue
            radius = radii.elimination_radius(row.pulls, 4, 0.1, epsilon, 20.0)
            assert row.upper - row.estimate == pytest.approx(radius, rel=1e-12)
            assert row.estimate - row.lower == pytest.approx(radius, rel=1e-12)


# ------------------------------------------------------------------------------------------------------------ batches


def batch_by_the_rule(method: str, rows: tuple[ba.ArmRow, ...], n: int) -> list[int]:
    """Algorithm 1 with outstanding rewards counted as told: counts and t run ahead, the estimates stay as they are."""
    K, size = len(rows), [row.pulls for row in rows]
    epsilon, needed = (0.1, radii.exploration_pulls(0.2, 0.1, "chernoff")) if method != "mean-gap" else (0.0, 1.0)
    batch = []
    for _ in range(n):
        t = sum(size)
        if min(size) < (needed if method == "random" else max(math.sqrt(t), needed)):
            arm = size.index(min(size))
        elif method == "random":
            arm = uniform_arm(0, t, K)
        else:
            beta = [radii.gap_radius_theory(size[i], t, K, 0.1, epsilon, 1.0, 2.0) for i in range(K)]
            mu = [row.estimate for row in rows]
            leader = max(range(K), key=lambda i: mu[i])
            challenger = max((i for i in range(K) if i != leader), key=lambda i: mu[i] + beta[i])
            arm = max(sorted([leader, challenger]), key=lambda i: beta[i])
        batch.append(arm)
        size[arm] += 1
    return batch


@pytest.mark.parametrize("method", ["g-cbai", "random", "mean-gap"])
def test_a_batch_of_the_gap_family_follows_the_rule(method: str) -> None:
    finder = ba.Identifier(4, sigma=1.0, method=method, **ASKED, **short(method))
    rewards = arms(4, [1.2, 1.1, 1.0, 0.6])
    compared = []
    while not finder.done and finder.pulls < 2_000:
        if finder.pulls >= 4 and finder.pulls % 83 == 0:
            compared.append(copy.deepcopy(finder).ask(300))
            assert compared[-1] == batch_by_the_rule(method, finder.estimates, 300)
        arm = finder.ask()
        assert isinstance(arm, int)
        finder.tell(arm, rewards.pull(arm))
    assert len(compared) > 15
    assert {frozenset(batch) for batch in compared} >= {frozenset(range(4))}


@pytest.mark.parametrize("method", ["se-cbai", "median-se", "mean-se"])
def test_a_batch_of_the_elimination_family_goes_round_the_arms_still_in(method: str) -> None:
    finder = ba.Identifier(LABELS, sigma=1.0, method=method, **ASKED, **short(method))
    rewards = arms(4)
    rounds = set()
    while not finder.done:
        active = [row.label for row in finder.estimates if row.active]
        if len({row.pulls for row in finder.estimates if row.active}) == 1:
            assert copy.deepcopy(finder).ask(3 * len(active) + 1) == [*active * 3, active[0]]
            rounds.add(len(active))
        arm = finder.ask()
        finder.tell(arm, rewards.pull(LABELS.index(str(arm))))
    assert {4, 2} <= rounds


def test_repr_tells_how_far_it_is() -> None:
    finder = ba.Identifier(3, sigma=0.1, method="mean-se", **ASKED)
    assert repr(finder) == "<Identifier of 3 arms by mean-se: 0 rewards, undecided>"
    finder.tell_many([0, 1, 2] * 400, [0.0, 0.5, 0.9] * 400)
    assert repr(finder) == "<Identifier of 3 arms by mean-se: 1,200 rewards, decided>"
    assert finder.result.pulls < 50
