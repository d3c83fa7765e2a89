"""The certified method: equal to its twin in whatever order rewards come, covering, honest about its limits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import bestarm as ba
from bestarm.contamination import counted_share
from bestarm.kernels.trials.readouts import count_replaced
from bestarm.methods import METHODS
from bestarm.methods.certified import certified_rule
from bestarm.problem import pose
from bestarm.reference.certified import Limit
from bestarm.reference.evidence import Replacement
from bestarm.simulation.seeds import trial_seeds
from naive import CertifiedTrajectory, run_certified

WIDE = [2.5, 1.5, 1.0, 0.6]
CLOSE = [2.5, 2.3, 2.0, 0.6]
CONTAMINATIONS = ["prescient", "malicious", "share-of-arm", "share-of-all"]

Rng = np.random.Generator
Tape = Callable[[Rng, float], float]


def two_point(rng: Rng, mean: float, q: float = 0.5) -> float:
    """Values -q and 1 - q with mean 0 and sub-Gaussian scale 1/2 at most, times 2."""
    return mean + 2.0 * (float(rng.random() < q) - q)


LAWS: dict[str, Tape] = {
    "gaussian": lambda rng, mean: mean + rng.standard_normal(),
    "uniform": lambda rng, mean: mean + 3.0 * (rng.random() - 0.5),
    "two-point": two_point,
    "skewed": lambda rng, mean: two_point(rng, mean, 0.1),
}
ATTACKS: dict[str, Tape] = {
    "none": LAWS["gaussian"],
    "gross": lambda rng, mean: 1000.0 if mean < 0.5 else -1000.0,
    "hidden": lambda rng, mean: mean + (1.5 if mean < 0.5 else -1.5),
    "two-sided": lambda rng, mean: 50.0 * float(rng.integers(-1, 2)),
    "huge": lambda rng, mean: 1e15 * rng.standard_normal(),
}
BOUNDED_LAWS: dict[str, Tape] = {
    "bernoulli": lambda rng, mean: float(rng.random() < mean),
    "beta": lambda rng, mean: rng.beta(3.0 * mean + 1e-3, 3.0 * (1.0 - mean) + 1e-3),
    "thirds": lambda rng, mean: float(rng.binomial(3, mean)) / 3.0,
}
BOUNDED_ATTACKS: dict[str, Tape] = {
    "none": lambda rng, mean: rng.random(),
    "gross": lambda rng, mean: float(mean < 0.5),
    "hidden": lambda rng, mean: 0.5,
}


def puller(
    means: list[float], rate: float, law: Tape, attack: Tape, seed: int, scale: float = 1.0, origin: float = 0.0
) -> Callable[[int], float]:
    """Rewards by arm: each arm has a generator of its own, so that its s-th reward depends on no other."""
    rngs = [np.random.default_rng([seed, arm]) for arm in range(len(means))]

    def pull(arm: int) -> float:
        rng = rngs[arm]
        drawn = attack if rng.random() < rate else law
        return origin + scale * float(drawn(rng, means[arm]))

    return pull


class Case:
    """A question, drawn at random."""

    def __init__(self, seed: int, contamination: str, *, bounded: bool) -> None:
        rng = np.random.default_rng([seed, CONTAMINATIONS.index(contamination), bounded])
        self.seed, self.size = seed, int(rng.integers(2, 7))
        epsilon = [0.0, 0.01, 0.05, 0.1, 0.2][seed % 5]
        self.settings: dict[str, Any] = {
            "delta": float(rng.choice([0.3, 0.1, 0.01])),
            "epsilon": epsilon,
            "contamination": contamination,
        }
        self.rate = epsilon * float(rng.choice([0.5, 1.0, 1.6]))  # at the last, what is assumed is false
        if bounded:
            self.scale, self.origin = 2.0, 1.0
            self.settings["bounds"] = (1.0, 3.0)
            self.means = rng.random(self.size).tolist()
            self.law = BOUNDED_LAWS[str(rng.choice(list(BOUNDED_LAWS)))]
            self.attack = BOUNDED_ATTACKS[str(rng.choice(list(BOUNDED_ATTACKS)))]
        else:
            self.scale, self.origin = float(rng.choice([0.7, 1.0, 2.0])), float(rng.choice([0.0, 30.0]))
            self.settings["sigma"] = self.scale
            self.means = (rng.choice([0.7, 1.5, 4.0]) * rng.standard_normal(self.size)).tolist()
            self.law = LAWS[str(rng.choice(list(LAWS)))]
            self.attack = ATTACKS[str(rng.choice(list(ATTACKS)))]
        if rng.random() < 0.4:
            self.settings["resolution"] = self.scale * float(rng.choice([0.2, 0.5]))
        if rng.random() < 0.3:
            self.settings["good_enough"] = self.scale * float(rng.choice([0.05, 0.2, 0.7]))
        if rng.random() < 0.3:
            self.settings["share_from"] = float(rng.choice([1.0, 10.0, 200.0]))

    def pull(self) -> Callable[[int], float]:
        return puller(self.means, self.rate, self.law, self.attack, self.seed, self.scale, self.origin)

    def twin(self, cap: int) -> CertifiedTrajectory:
        return run_certified(self.pull(), self.size, max_pulls=cap, **self.settings)


def verdict(finder: ba.Identifier, pulled: list[int]) -> CertifiedTrajectory:
    result = finder._verdict(finder._engine.decided or finder._engine.read())  # without what takes long to find
    assert result.status in ("identified", "indistinguishable", "undecided")
    limit: Limit | None = None
    if result.limit is not None:
        assert result.limit in ("contamination", "resolution")
        limit = result.limit
    return CertifiedTrajectory(
        arms=pulled,
        status=result.status,
        answer=result.best if isinstance(result.best, int) else None,
        candidates=[label for label in result.candidates if isinstance(label, int)],
        pulls=len(pulled),
        limit=limit,
    )


def compiled_run(pull: Callable[[int], float], size: int, cap: int, **settings: Any) -> CertifiedTrajectory:
    finder = ba.Identifier(size, method="certified", **settings)
    pulled: list[int] = []
    while not finder.done and len(pulled) < cap:
        arm = finder.ask()
        assert isinstance(arm, int)
        pulled.append(arm)
        finder.tell(arm, pull(arm))
    return verdict(finder, pulled)


# ------------------------------------------------------------------------------------------------------------ the twin


@pytest.mark.parametrize("contamination", CONTAMINATIONS)
@pytest.mark.parametrize("seed", range(15))
def test_it_follows_its_twin(seed: int, contamination: str) -> None:
    case = Case(seed, contamination, bounded=False)
    assert compiled_run(case.pull(), case.size, 400, **case.settings) == case.twin(400)


@pytest.mark.parametrize("contamination", CONTAMINATIONS)
@pytest.mark.parametrize("seed", [*range(7), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(7, 15))])
def test_it_follows_its_twin_on_bounded_rewards(seed: int, contamination: str) -> None:
    case = Case(seed, contamination, bounded=True)
    assert compiled_run(case.pull(), case.size, 400, **case.settings) == case.twin(400)


def assert_followed(pull: Callable[[], Callable[[int], float]], size: int, cap: int, **settings: Any) -> Any:
    twin = run_certified(pull(), size, max_pulls=cap, **settings)
    assert compiled_run(pull(), size, cap, **settings) == twin
    return twin


@pytest.mark.parametrize("scale", ["sigma", "bounds"])
@pytest.mark.parametrize(
    "contamination",
    [name if name == "prescient" else pytest.param(name, marks=pytest.mark.slow) for name in CONTAMINATIONS],
)
def test_it_gives_up_where_its_twin_does(contamination: str, scale: str) -> None:
    """Arms so close that contamination may hide which is better: asked at 512 rounds, and at 768."""
    limits = set()
    for seed, attack in enumerate(["none", "gross", "hidden"]):
        settings: dict[str, Any] = {"delta": 0.1, "epsilon": 0.2, "contamination": contamination}
        if scale == "sigma":
            settings["sigma"] = 1.0
            law, adversary, means = LAWS["gaussian"], ATTACKS[attack], [0.1, 0.0, -0.1]
        else:
            settings["bounds"] = (0.0, 1.0)
            law, adversary, means = BOUNDED_LAWS["bernoulli"], BOUNDED_ATTACKS[attack], [0.51, 0.49]
        pull = partial(puller, means, 0.1, law, adversary, seed)
        limits.add(assert_followed(pull, len(means), 780 * len(means), **settings).limit)
    assert "contamination" in limits


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("gap", [5.0, 11.0, 14.0, 40.0])
def test_arms_too_far_apart_to_share_cells_follow_the_twin(gap: float, epsilon: float) -> None:
    pull = partial(puller, [gap, 0.0, -gap], epsilon, LAWS["gaussian"], ATTACKS["two-sided"], 1)
    assert assert_followed(pull, 3, 300, delta=0.05, epsilon=epsilon, sigma=1.0).answer == 0


def test_arms_whose_cells_move_follow_the_twin() -> None:
    """The first rewards of an arm are far from the others: its cells, and where its pairs are looked at, move."""

    def pull() -> Callable[[int], float]:
        told = [0, 0]
        clean = puller([0.6, 0.0], 0.0, LAWS["gaussian"], ATTACKS["none"], 3)

        def drawn(arm: int) -> float:
            told[arm] += 1
            return clean(arm) + (9.0 if told[arm] <= 5 else 0.0)

        return drawn

    assert assert_followed(pull, 2, 800, delta=0.1, epsilon=0.1, sigma=1.0).answer == 0


def conversions(shares: list[float]) -> Callable[[int], float]:
    """Rewards 0 and 1, as evenly as can be."""
    told = [0] * len(shares)

    def drawn(arm: int) -> float:
        told[arm] += 1
        return float(int(told[arm] * shares[arm]) - int((told[arm] - 1) * shares[arm]))

    return drawn


COUNTED_TOGETHER: dict[str, Any] = {"epsilon": 0.05, "bounds": (0.0, 1.0), "contamination": "share-of-all"}


def test_a_count_of_all_rewards_that_is_large_follows_the_twin() -> None:
    """Past c = 146 the least odds and the largest are worlds apart: exp(-5.12 c) is zero to a computer."""
    twin = assert_followed(partial(conversions, [0.58, 0.42]), 2, 6000, delta=0.01, **COUNTED_TOGETHER)
    assert twin.answer == 0
    assert 0.05 * twin.pulls > 146


def test_a_count_of_all_rewards_that_is_huge_hides_no_lead() -> None:
    finder = ba.Identifier(2, delta=0.1, resolution=0.001, **COUNTED_TOGETHER)
    pull, arms = conversions([0.5555, 0.4445]), [0, 1] * 80_000
    finder.tell_many(arms, [pull(arm) for arm in arms])
    assert finder.done


SIMULATED: dict[str, tuple[list[Any], float, Any, dict[str, Any]]] = {
    "gaussian": (
        [ba.Gaussian(mean) for mean in (1.6, 0.6, 0.0)],
        0.1,
        ba.adversaries.Point([0.0, 2.0, 2.0]),
        {"sigma": 1.0},
    ),
    "clean": ([ba.Gaussian(mean) for mean in (0.8, 0.4, 0.0)], 0.0, None, {"sigma": 1.0}),
    "bernoulli": (
        [ba.Bernoulli(mean) for mean in (0.8, 0.4, 0.3)],
        0.05,
        ba.adversaries.Point([0.0, 1.0, 1.0]),
        {"bounds": (0.0, 1.0), "contamination": "malicious"},
    ),
    "beta": (
        [ba.Beta(4.0, 2.0), ba.Beta(2.0, 4.0)],
        0.05,
        ba.adversaries.Point(0.5),
        {"bounds": (0.0, 1.0), "contamination": "share-of-arm", "share_from": 5.0},
    ),
    "uniform": (
        [ba.Uniform(-1.0, 1.0), ba.Uniform(-0.9, 1.1)],
        0.02,
        ba.adversaries.Point(0.1),
        {"sigma": 0.6, "contamination": "share-of-all", "resolution": 0.2},
    ),
}


@pytest.mark.parametrize("contamination", ["share-of-arm", "share-of-all"])
def test_kernel_twin_and_sentence_count_from_the_same_whole_number_on(contamination: str) -> None:
    """The share holds from the first whole number of rewards from n0, or K n0, on; before, the count is that there."""
    for epsilon, n0, arms in itertools.product([0.002, 0.03, 0.29], [1.0, 3.2, 100 / 3, 499.9, 500.0], [2, 3, 7]):
        problem = pose(arms, delta=0.05, epsilon=epsilon, sigma=1.0)
        options = METHODS["certified"].complete(problem, {"contamination": contamination, "share_from": n0})
        rule = certified_rule(problem, options)
        twin = Replacement(contamination, epsilon, n0, arms)
        together = contamination == "share-of-all"
        begins = math.ceil(Fraction(str(n0)) * (arms if together else 1))
        for n in (1, 33, 34, 499, 500, 2000):
            number = n * arms if together else n
            expected = math.floor(Fraction(str(epsilon)) * max(number, begins))
            assert count_replaced(rule, arms, n, n * arms) == expected
            assert max(twin.count(n, n * arms)) == expected
            assert counted_share(epsilon, number, n0, arms if together else 1) == expected
    said = METHODS["certified"].promised({"contamination": contamination, "share_from": 499.9})
    assert ("once there are 499.9 times as many as arms" if together else "once there are 500 of them") in said


@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_trials_follow_the_twin(name: str) -> None:
    arms, epsilon, adversary, settings = SIMULATED[name]
    bandit = ba.Bandit(arms, epsilon, adversary)
    trials = ba.simulate(bandit, "certified", delta=0.1, trials=4, seed=7, **settings)
    for trial, seed in enumerate(trial_seeds(7, 4)):
        twin = run_certified(bandit.stream(seed).pull, len(arms), delta=0.1, epsilon=epsilon, **settings)
        assert trials.statuses[trial] == twin.status
        assert trials.answers[trial] == (-1 if twin.answer is None else twin.answer)
        assert trials.arm_pulls[trial].tolist() == np.bincount(twin.arms, minlength=len(arms)).tolist()


# ------------------------------------------------------------------------------------------------- batches, any order


def tapes_of(case: Case, length: int) -> list[list[float]]:
    pull = case.pull()
    return [[pull(arm) for _ in range(length)] for arm in range(case.size)]


def from_tapes(tapes: list[list[float]]) -> Callable[[int], float]:
    heads = [iter(tape) for tape in tapes]
    return lambda arm: next(heads[arm])


def rounds_of(finder: ba.Identifier) -> int:
    return int(finder._engine.control["rounds"][0])


def assert_same_decision(finder: ba.Identifier, twin: CertifiedTrajectory) -> None:
    ours = verdict(finder, [])
    assert (ours.status, ours.answer, ours.candidates, ours.limit) == (
        twin.status,
        twin.answer,
        twin.candidates,
        twin.limit,
    )
    if twin.status != "undecided":
        assert rounds_of(finder) == max(twin.arms.count(arm) for arm in twin.arms)


BATCHED = [(seed, bounded) for seed in range(8) for bounded in (False, True)]


def twin_of(case: Case) -> tuple[CertifiedTrajectory, list[list[float]], list[int]]:
    """The twin, all tapes, and how many rewards of each arm to tell: of a decision more than it needs."""
    tapes = tapes_of(case, 60 * case.size)
    twin = run_certified(from_tapes(tapes), case.size, max_pulls=40 * case.size, **case.settings)
    counts = [twin.arms.count(arm) for arm in range(case.size)]
    return twin, tapes, counts if twin.status == "undecided" else [max(counts) + 9] * case.size


@pytest.mark.parametrize(("seed", "bounded"), BATCHED)
def test_batches_decide_as_the_twin_does(seed: int, bounded: bool) -> None:
    """What is decided depends on completed rounds alone, unless rewards of all arms are counted together."""
    case = Case(100 + seed, CONTAMINATIONS[seed % 3], bounded=bounded)
    twin, tapes, left = twin_of(case)
    finder = ba.Identifier(case.size, method="certified", **case.settings)
    rng = np.random.default_rng(seed)
    pull = from_tapes(tapes)
    while not finder.done and any(left[arm] > 0 for arm in twin.candidates):
        batch = finder.ask(int(rng.integers(1, 4 * case.size)))
        for arm in rng.permutation(np.array(batch, np.int64)).tolist():
            if left[arm] > 0:
                left[arm] -= 1
                finder.tell(arm, pull(arm))
    assert_same_decision(finder, twin)


@pytest.mark.parametrize(("seed", "bounded"), BATCHED)
def test_rewards_in_any_order_decide_as_the_twin_does(seed: int, bounded: bool) -> None:
    case = Case(200 + seed, CONTAMINATIONS[seed % 3], bounded=bounded)
    twin, tapes, left = twin_of(case)
    order = np.repeat(np.arange(case.size), left)
    if seed % 2 == 0:  # else one arm after the other
        np.random.default_rng(seed).shuffle(order)
    finder = ba.Identifier(case.size, method="certified", **case.settings)
    pull = from_tapes(tapes)
    finder.tell_many(order.tolist(), [pull(arm) for arm in order.tolist()])
    assert_same_decision(finder, twin)


def test_whole_rounds_at_once_are_the_same_as_one_by_one() -> None:
    """Of all contaminations: after whole rounds the number of all rewards is the same too."""
    for contamination in CONTAMINATIONS:
        means, rate = [1.5, 0.0], 0.05
        settings: dict[str, Any] = {"delta": 0.1, "epsilon": rate, "sigma": 1.0, "contamination": contamination}
        twin = run_certified(puller(means, rate, LAWS["gaussian"], ATTACKS["gross"], 4), 2, max_pulls=2000, **settings)
        pull = puller(means, rate, LAWS["gaussian"], ATTACKS["gross"], 4)
        finder = ba.Identifier(2, method="certified", **settings)
        while not finder.done:
            batch = finder.ask(2)
            finder.tell_many(batch[::-1], [pull(int(str(arm))) for arm in batch][::-1])
        assert twin.status == "identified"
        assert_same_decision(finder, twin)
        assert finder.pulls == twin.pulls


# --------------------------------------------------------------------------------------------- what must not come back


def test_conversions_of_six_and_five_per_cent_are_told_apart() -> None:
    shop = ba.Bandit([ba.Bernoulli(0.06), ba.Bernoulli(0.05)])
    trials = ba.simulate(shop, "certified", delta=0.05, bounds=(0.0, 1.0), trials=40, seed=1)
    assert trials.indistinguishable == trials.undecided == 0
    assert (trials.answers == 0).sum() >= 39


@pytest.mark.parametrize("seed", range(4))
def test_bots_do_not_choose_the_caption(seed: int) -> None:
    """7.9 % of all votes, all of them for caption 7, which deserves none: in rounds, that is all that it gets."""
    qualities = np.linspace(0.1, 0.6, 20)
    rng = np.random.default_rng(seed)
    votes = hits = 0

    def vote(caption: int) -> float:
        nonlocal votes, hits
        votes += 1
        if caption == 7 and hits + 1 <= 0.079 * max(votes, 250):
            hits += 1
            return 5.0
        return 1.0 + float(rng.binomial(4, 0.05 if caption == 7 else qualities[caption]))

    finder = ba.Identifier(20, delta=0.1, epsilon=0.08, bounds=(1.0, 5.0), contamination="share-of-all", resolution=0.2)
    while not finder.done and finder.pulls < 20_000:
        caption = finder.ask()
        assert isinstance(caption, int)
        finder.tell(caption, vote(caption))
    assert hits > 500
    assert finder.result.best != 7
    assert {7, 19} <= set(finder.result.candidates) or finder.result.best == 19


def bandit(means: list[float], epsilon: float, adversary: Any) -> ba.Bandit:
    return ba.Bandit([ba.Gaussian(mean) for mean in means], epsilon, adversary)


MARKS = {  # mean pulls to reach, of 1000 trials (issue: numbers to reach)
    ("uniform", 0.05): 750,
    ("uniform", 0.1): 1250,
    ("gross", 0.05): 600,
    ("gross", 0.1): 700,
    ("hidden", 0.05): 1000,
    ("hidden", 0.1): 4000,
}


@pytest.mark.parametrize(("attack", "epsilon"), MARKS)
def test_pulls_and_errors_on_the_wide_instance(attack: str, epsilon: float) -> None:
    adversary = {
        "uniform": ba.adversaries.Uniform([mean / 2.0 for mean in WIDE], 1.0),
        "gross": ba.adversaries.Point([-1000.0, 1000.0, 1000.0, 1000.0]),
        "hidden": ba.adversaries.Point([WIDE[0] - 1.5] + [mean + 1.5 for mean in WIDE[1:]]),
    }[attack]
    trials = ba.simulate(bandit(WIDE, epsilon, adversary), "certified", delta=0.1, trials=1000, seed=1, workers=2)
    assert trials.mean_pulls <= MARKS[attack, epsilon]
    assert binom.sf(trials.wrong - 1, 1000, 0.1) > 1e-3
    assert trials.decided == 1000


@pytest.mark.parametrize("law", ["clicks", "ratings"])
def test_bounds_are_worth_more_than_the_sigma_they_imply(law: str) -> None:
    if law == "clicks":
        arms, bounds = [ba.Bernoulli(0.12), ba.Bernoulli(0.05)], (0.0, 1.0)
    else:
        arms = [ba.Discrete([1, 2, 3], [0.7, 0.2, 0.1]), ba.Discrete([1, 2, 3], [0.9, 0.08, 0.02])]
        bounds = (1.0, 3.0)
    rated = ba.Bandit(arms, 0.01, ba.adversaries.Point(bounds[0]))
    tight = ba.simulate(rated, "certified", delta=0.1, bounds=bounds, trials=40, seed=1, resolution=0.01)
    half = (bounds[1] - bounds[0]) / 2
    loose = ba.simulate(rated, "certified", delta=0.1, trials=40, seed=1, resolution=0.01, sigma=half)
    assert tight.wrong == 0
    assert tight.decided == 40
    assert tight.mean_pulls < 0.7 * loose.mean_pulls


def test_no_winner_is_named_where_none_can_be() -> None:
    """2.5 against 2.3 at epsilon = 0.1: contaminated values at the other arm's mean make them one and the same."""
    adversary = ba.adversaries.Point([1.4, 3.4, 3.0, 1.6])
    trials = ba.simulate(bandit(CLOSE, 0.1, adversary), "certified", delta=0.1, trials=60, seed=3, workers=2)
    assert trials.wrong == 0
    assert trials.indistinguishable > 50 / 60
    finder = ba.Identifier(4, delta=0.1, epsilon=0.1, sigma=1.0)
    stream = bandit(CLOSE, 0.1, adversary).stream(5)
    while not finder.done:
        arm = finder.ask()
        assert isinstance(arm, int)
        finder.tell(arm, stream.pull(arm))
    assert finder.result.status == "indistinguishable"
    assert finder.result.limit == "contamination"
    assert {0, 1} <= set(finder.result.candidates)
    assert finder.result.best is None
    assert finder.result.tolerance is None


def test_clean_rewards_cost_no_more_than_by_mean_gap() -> None:
    clean = ba.Bandit([ba.Gaussian(mean) for mean in CLOSE])
    ours = ba.simulate(clean, "certified", delta=0.1, trials=300, seed=1, workers=2)
    theirs = ba.simulate(clean, "mean-gap", delta=0.1, trials=300, seed=1, workers=2)
    assert ours.mean_pulls <= theirs.mean_pulls
    assert binom.sf(ours.wrong - 1, 300, 0.1) > 1e-3


# --------------------------------------------------------------------------------------------------------- intervals

COVERAGE = {
    "gaussian": (ba.Gaussian(1.0), {"sigma": 1.0}, [-1000.0, 1000.0, 2.5, -0.5]),
    "bernoulli": (ba.Bernoulli(0.3), {"bounds": (0.0, 1.0)}, [0.0, 1.0]),
    "uniform": (ba.Uniform(-1.0, 1.0), {"sigma": 2.0 / 12.0**0.5}, [-9.0, 9.0, 1.0]),
    "skewed": (ba.Beta(0.5, 4.0), {"bounds": (0.0, 1.0)}, [0.0, 1.0, 0.5]),
}


@pytest.mark.parametrize("family", COVERAGE)
def test_the_interval_covers_the_mean_at_all_times(family: str) -> None:
    """Both hold at all times with probability 1 - delta; asked at a few of them."""
    law, scale, points = COVERAGE[family]
    for point in points:
        missed = 0
        for seed in range(40):
            stream = ba.Bandit([law, law], 0.1, ba.adversaries.Point(point)).stream(seed)
            finder = ba.Identifier(2, delta=0.4, epsilon=0.1, resolution=0.01, **scale)  # type: ignore[arg-type]
            for rounds in (10, 20, 40, 80, 160):
                arms = [0, 1] * (rounds - finder.pulls // 2)
                finder.tell_many(arms, [stream.pull(arm) for arm in arms])
                rows = finder.estimates
                if not all(row.lower <= law.mean <= row.upper for row in rows):
                    missed += 1
                    break
        assert binom.sf(missed - 1, 40, 0.4) > 1e-3
        assert rows[0].upper - rows[0].lower < 2.5


# --------------------------------------------------------------------------------------------------------- readouts


def decided(epsilon: float, seed: int, **settings: Any) -> ba.Identifier:
    stream = bandit(WIDE, 0.05, ba.adversaries.Uniform(0.0, 1.0)).stream(seed)
    finder = ba.Identifier(4, delta=0.1, epsilon=epsilon, sigma=1.0, **settings)
    while not finder.done:
        arm = finder.ask()
        assert isinstance(arm, int)
        finder.tell(arm, stream.pull(arm))
    return finder


@pytest.mark.parametrize("seed", range(3))
def test_tolerance_agrees_with_folding_again(seed: int) -> None:
    finder = decided(0.05, seed)
    limit = finder.result.tolerance
    assert limit is not None
    assert 0.05 <= limit < 0.499
    below, above = finder.sensitivity([limit, limit + 0.005])
    assert (below.status, below.best) == ("identified", finder.result.best)
    assert above.best is None


def test_sensitivity_covers_a_grid_and_needs_the_certified_method() -> None:
    rows = decided(0.05, 1).sensitivity()
    assert [row.epsilon for row in rows] == sorted(row.epsilon for row in rows)
    assert next(row for row in rows if row.epsilon == 0.05).status == "identified"
    assert rows[-1].best is None
    with pytest.raises(ba.InputError, match="method must be certified, got 'mean-se'"):
        ba.Identifier(2, delta=0.1, epsilon=0.0, sigma=1.0, method="mean-se").sensitivity()


def test_the_alarm_rings_for_planted_misspecification_only() -> None:
    def alarms(true_rate: float, sigma: float, seed: int) -> tuple[str, ...]:
        law = ba.Gaussian(1.0, sigma)
        stream = ba.Bandit([law, law], true_rate, ba.adversaries.Point(50.0)).stream(seed)
        finder = ba.Identifier(["A", "B"], delta=0.1, epsilon=0.05, sigma=1.0)
        finder.tell_many(["A", "B"] * 400, [stream.pull(arm) for arm in [0, 1] * 400])
        return finder.result.alarms

    assert [alarms(rate, 1.0, seed) for rate in (0.0, 0.05) for seed in range(5)] == [()] * 10
    too_noisy = alarms(0.0, 8.0, 1)
    assert [sentence.count(name) for sentence, name in zip(too_noisy, ["'A'", "'B'"], strict=True)] == [1, 1]
    assert "sigma = 1" in too_noisy[0]
    assert "epsilon = 0.05" in too_noisy[0]
