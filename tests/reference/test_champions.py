"""Evidence by champions: the bets, the infimum, and the promise against adversaries that see the state."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import bestarm as ba
from bestarm.policies.policy import NO_WINNER, Question
from bestarm.reference import Champions
from bestarm.reference.champion_bets import BoundedEvidence, CleanEvidence, Margin, Round, restarts
from bestarm.reference.champion_lattice import Bets, LatticeEvidence, Search
from bestarm.reference.evidence import log_sum
from bestarm.reference.lattice import PARTS, SIZE

Array = NDArray[np.float64]
Attack = Callable[[Champions, int, float], float]
NONE = np.zeros(64, np.int64)


def run(policy: Champions, pull: Callable[[int], float], pulls: int) -> list[int]:
    arms: list[int] = []
    while policy.decision() is None and len(arms) < pulls:
        arms.append(policy.choose(NONE[: len(policy.rewards)]))
        policy.observe(arms[-1], pull(arms[-1]))
    return arms


def test_a_round_pulls_the_champion_first_and_most() -> None:
    policy = Champions(Question(4, 1e-9, 0.0, 1.0))
    arms = run(policy, lambda arm: [0.0, 0.0, 0.5, 0.0][arm], 15)
    assert arms == [0, 0, 1, 2, 3, 2, 2, 0, 1, 3, 2, 2, 0, 1, 3]
    assert (policy.champion, policy.second, policy.n) == (2, 0, 3)


def test_a_batch_plans_as_many_rounds_as_it_takes_and_rewards_in_any_order_give_the_same_rounds() -> None:
    policy, late = (Champions(Question(3, 1e-9, 0.0, 1.0)) for _ in range(2))
    pending = np.zeros(3, np.int64)
    asked = []
    for _ in range(7):
        asked.append(policy.choose(pending))
        pending[asked[-1]] += 1
    assert asked == [0, 0, 1, 2, 0, 0, 1]
    tape = np.random.default_rng(1).normal(size=(3, 40))
    for s, arm in itertools.product(range(40), range(3)):
        policy.observe(arm, tape[arm, s])
    for arm, s in itertools.product(range(3), range(40)):
        late.observe(arm, tape[arm, s])
    assert policy.n == late.n
    assert 20 <= policy.n <= 40
    assert isinstance(policy.evidence, CleanEvidence)
    assert isinstance(late.evidence, CleanEvidence)
    assert [policy.evidence.log_W(a) for a in range(3)] == [late.evidence.log_W(a) for a in range(3)]


def test_clean_evidence_is_the_sum_that_section_19_says() -> None:
    evidence = CleanEvidence(3)
    evidence.add(Round(0, 1, (0.5, 1.0), {1: 0.1, 2: -0.3}))
    evidence.add(Round(1, 0, (0.2, 0.4), {0: 0.9, 2: -0.5}))
    evidence.add(Round(0, 1, (0.7,), {1: 0.0}))
    by_hand = {
        0: [(0.1 - 0.75, 1.5), (0.3 - 0.9, 1.5), (0.0 - 0.7, 2.0)],
        1: [(0.75 - 0.1, 1.5), (0.9 - 0.3, 1.5), (0.7 - 0.0, 2.0)],
        2: [(0.75 + 0.3, 1.5), (0.3 + 0.5, 1.5)],
    }
    for a, steps in by_hand.items():
        total = 0.0
        for i, tau in enumerate([0, 1, 2][: len(steps)]):
            lead, spread = (sum(column) for column in zip(*steps[tau:], strict=True))
            for k, log_weight in zip(evidence.k, evidence.log_weights, strict=True):
                total += math.exp(log_weight + k * lead - k**2 / 2 * spread) / ((i + 1) * (i + 2))
        assert evidence.log_W(a) == pytest.approx(math.log(total), rel=1e-12)


def test_restarts_have_weights_that_sum_to_one() -> None:
    begin, log_weights = restarts(2**40, 3)
    assert begin[:5] == [0, 1, 2, 4, 8]
    assert 0.97 < np.exp(log_weights).sum() < 1.0


# --------------------------------------------------------------------------------------------------------------- bets


@pytest.mark.parametrize("size", [1, 2, 4, 8, 32])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.3])
def test_a_shared_stake_is_a_bet_at_every_size(size: int, epsilon: float) -> None:
    """Its mean is at most phi for normal and two-point laws, phi rises on the cell, and the flat bet is below it."""
    bets = Bets(epsilon, size)
    x, weight = np.polynomial.hermite_e.hermegauss(80)
    laws = [(x, weight / weight.sum()), (np.array([-1.0, 1.0]), np.array([0.5, 0.5]))]
    d = np.linspace(-SIZE / 2, SIZE / 2, 9)
    for place, bet in enumerate(bets.bets):
        phi = np.asarray(bet.phi(d))
        assert (np.diff(phi) >= 0.0).all()
        prices = np.exp(bets.log_prices[:: PARTS // 8, place] / size)
        assert prices == pytest.approx((1 - epsilon) * phi + epsilon * bet.C, rel=1e-12)
        for values, chances in laws:
            for mean, most in zip(d, phi, strict=True):
                assert chances @ bet.h(values + mean) <= most + 1e-9
        y = np.linspace(-30.0, 30.0, 2001)
        flat = bet.h(np.maximum(y, bet.y_least))
        assert (flat <= bet.h(y) + 1e-12).all()
        assert (np.diff(flat) >= -1e-12).all()
        assert (flat >= bet.least - 1e-12).all()


def test_bounded_bets_of_a_size_are_priced_at_their_mean() -> None:
    evidence = BoundedEvidence(3, 0.05)
    for size, m in itertools.product((1, 2, 8), (0.0, 0.3, 1.0)):
        h0, h1 = (np.exp(evidence.log_h((value,) * size)) for value in (0.0, 1.0))
        mean = ((1 - m) * h0 ** (1 / size) + m * h1 ** (1 / size)) * 0.95 + 0.05 * h1 ** (1 / size)
        unclipped = evidence.clips == 1.0
        price = np.exp(evidence.log_price(size, m) / size)
        assert price[unclipped] == pytest.approx(mean[unclipped], rel=1e-9)
        assert (price >= mean - 1e-9).all()


# ----------------------------------------------------------------------------------------------------------- infimum


def three_opponents(seed: int, epsilon: float = 0.05) -> LatticeEvidence:
    """Arm 0 is far below; its opponents were 1 (once), 2 and 3 (most of the rounds)."""
    rng = np.random.default_rng(seed)
    evidence, means = LatticeEvidence(4, epsilon), [0.0, 1.0, 1.5, 1.8]
    for t in range(40):
        champion = 1 if t == 0 else 2 if t < 12 else 3
        second = 1 if champion != 1 else 2
        x = rng.normal(means, 1.0, (2, 4))
        x[0, rng.random(4) < epsilon] = -1000.0
        one = {i: float(x[0, i]) for i in range(4) if i != champion}
        evidence.add(Round(champion, second, tuple(x[:, champion].tolist()), one))
    return evidence


def log_M(evidence: LatticeEvidence, a: int, m: float, of: dict[int, float]) -> float:
    """The process of arm a at given means of all opponents, with exact prices."""
    parts = evidence.played.parts[a]
    begin, log_starts = restarts(len(parts), evidence.arms)

    def log_factor(rewards: tuple[float, ...], mean: float, up: bool) -> Array:
        cell = math.floor(mean / SIZE + 1 / 2) * SIZE
        bets = evidence.bets(len(rewards)).bets
        y, d = np.array(rewards) - cell, np.array([mean - cell])
        y, d = (y, d) if up else (-y, -d)
        price = [(1 - evidence.epsilon) * float(bet.phi(d)[0]) + evidence.epsilon * bet.C for bet in bets]
        return np.asarray([np.log(bet.h(y)).sum() for bet in bets] - len(rewards) * np.log(price))

    ups = np.array([log_factor(part.ups, of[part.opponent], True) for part in parts])
    downs = np.array([log_factor(part.downs, m, False) for part in parts])
    by_start = [evidence.mixture.log_W(ups[tau:].sum(axis=0), downs[tau:].sum(axis=0), 0) for tau in begin]
    return float(log_sum(log_starts + np.array(by_start)))


def most_enough(evidence: LatticeEvidence, margin: Margin, near: float) -> float:
    """The largest e that is enough against arm 0, or at most `near` less."""
    low, high = -20.0, 60.0
    while high - low > near:
        e = (low + high) / 2
        low, high = (e, high) if evidence.is_enough(0, e, margin) else (low, e)
    return low


MARGINS = [(0, Margin()), (1, Margin()), (2, Margin(3, 0.4)), (3, Margin(2, 0.4)), (1, Margin(2, 7.0))]


@pytest.mark.parametrize(("seed", "margin"), MARGINS)
def test_what_is_enough_is_enough_at_all_means(seed: int, margin: Margin) -> None:
    """The largest e that is enough, against the process at 100 random means with all opponents at m or below."""
    evidence = three_opponents(seed)
    ahead = {b: margin.tau * (b == margin.over) for b in (1, 2, 3)}
    low = most_enough(evidence, margin, 0.05)
    rng = np.random.default_rng(seed)
    least = math.inf
    for _ in range(100):
        m = rng.normal(0.8, 1.0)
        of = {b: m - ahead[b] - (rng.random() < 0.5) * rng.exponential(2.0) for b in (1, 2, 3)}
        least = min(least, log_M(evidence, 0, m, of))
    at_one_mean = min(log_M(evidence, 0, m, {b: m - ahead[b] for b in ahead}) for m in np.arange(-0.5, 2.5, 0.05))
    assert low <= min(least, at_one_mean) + 1e-9
    assert at_one_mean - low < 1.0  # and the bound is close
    assert low > 3.0


def test_the_price_of_a_sub_cell_is_that_of_its_dear_end() -> None:
    """Ups are dearest at the right end, downs at the left: the exact process is least between, and is not below."""
    evidence = three_opponents(0)
    exact = min(log_M(evidence, 0, m, dict.fromkeys((1, 2, 3), m)) for m in np.arange(0.8, 0.95, 1 / 256))
    assert exact == pytest.approx(13.889, abs=1e-3)
    assert exact - 0.1 < most_enough(evidence, Margin(), 1e-3) <= exact


def test_two_opponents_one_far_below_the_other_do_not_drop_the_best_arm() -> None:
    """One champion is as good as arm 0 and one 3 below, so that the ups of the latter are least far below m."""
    rng = np.random.default_rng(4)
    evidence, means = LatticeEvidence(4, 0.05), [3.0, 0.0, 3.0, 0.0]
    for t in range(121):
        champion = 1 if t % 2 else 2
        x = rng.normal(means, 1.0, (2, 4))
        one = {i: float(x[0, i]) for i in range(4) if i != champion}
        evidence.add(Round(champion, 3 - champion, tuple(x[:, champion].tolist()), one))
    assert not evidence.is_enough(0, math.log(2.0))


def test_a_margin_with_bounds_is_that_of_the_means() -> None:
    """The infimum against a grid of means, each opponent at m or 0.1 below it."""
    rng = np.random.default_rng(6)
    evidence = BoundedEvidence(3, 0.05)
    for t in range(40):
        x = (rng.random((2, 3)) < [0.3, 0.5, 0.7]).astype(float)
        champion = 1 if t < 10 else 2
        one = {i: float(x[0, i]) for i in range(3) if i != champion}
        evidence.add(Round(champion, 3 - champion, tuple(x[:, champion].tolist()), one))
    margin = Margin(2, 0.1)
    begin, log_starts = restarts(40, 3)
    parts = evidence.played.parts[0]
    ups, downs = (np.array(side) for side in zip(*evidence.steps[0], strict=True))
    heights = []
    for m in np.linspace(0.1, 1.0, 181):
        up = ups - [evidence.log_price(2, m - 0.1 * (part.opponent == 2)) for part in parts]
        down = downs - evidence.log_price(1, 1 - m)
        by_start = [evidence.mixture.log_W(up[tau:].sum(axis=0), down[tau:].sum(axis=0), 0) for tau in begin]
        heights.append(float(log_sum(log_starts + np.array(by_start))))
    least = evidence.least_log_W(0, margin=margin)
    assert min(heights) - 0.01 < least <= min(heights) + 1e-9
    assert least > evidence.least_log_W(0) + 0.1


def test_it_stops_at_an_arm_that_is_good_enough() -> None:
    """Exact ties end, and an arm that is not good enough is hardly ever named: 60 trials at delta = 0.5."""
    bad = 0
    for trial in range(60):
        rng = np.random.default_rng([8, trial])
        policy = Champions(Question(3, 0.5, 0.0, 1.0), good_enough=0.5)
        run(policy, lambda arm, rng=rng: rng.normal([0.0, 0.0, -0.6][arm]), 3000)  # type: ignore[misc]
        assert policy.decision() in (0, 1, 2)
        bad += policy.decision() == 2
    assert not refuted(bad, 60, 0.5)
    assert bad < 10


def test_gross_fakes_leave_flat_bets_no_growth() -> None:
    """Two arms 1 apart, epsilon = 0.1, m between them at the centre of a cell, all fakes on the champion."""
    bets = Bets(0.1, 1)
    z = np.linspace(-9.0, 9.0, 2_001)
    weight = np.exp(-(z**2) / 2)
    best = []
    for log in (bets.log_h, bets.log_flat):
        by_value = np.array([log(np.array([y])) for y in np.append(z + 0.5, -1000.0)])
        growth = 0.9 * weight / weight.sum() @ by_value[:-1] + 0.1 * by_value[-1] - bets.log_prices[PARTS // 2]
        best.append(float(growth.max()))
    assert [round(growth, 4) for growth in best] == [0.0734, 0.0004]


def test_opponents_far_below_do_not_drop_the_best_arm() -> None:
    """With all ups priced at the mean of the best arm, 8 above the others, its process would be huge."""
    (place,) = (i for i, bet in enumerate(Bets(0.05, 1).bets) if (bet.r, bet.a) == (-1.2, 0.3))
    bet, log_prices = Bets(0.05, 1).bets[place], Bets(0.05, 1).log_prices[:, place]
    x, weight = np.polynomial.hermite_e.hermegauss(80)
    mean = 0.95 * weight / weight.sum() @ bet.h(x - 3.0) + 0.05 * bet.C
    assert (round(mean, 2), round(float(np.exp(log_prices[-1])), 2)) == (1.33, 1.04)
    rng = np.random.default_rng(4)
    evidence = LatticeEvidence(3, 0.05)
    for _ in range(60):
        evidence.add(Round(1, 2, tuple(rng.normal(0.0, 1.0, 2).tolist()), {0: rng.normal(8.0), 2: rng.normal(0.0)}))
    parts = evidence.played.parts[0]
    search = Search(evidence, 0, parts, 1, [], math.log(10.0))
    at_one_mean = min(float(search.log_E(search.up(1, cell)[PARTS], search.down(cell)[0])) for cell in range(16, 48))
    assert at_one_mean > 20.0
    assert not evidence.is_enough(0, math.log(2.0))


# ----------------------------------------------------------------------------------------------------------- promise


def greatest(policy: Champions, arm: int, x: float) -> float:
    """Multiply the process of the best arm, 0, by the most there is."""
    return -1000.0 if arm == 0 else 1000.0


def unseat(policy: Champions, arm: int, x: float) -> float:
    """Keep the best arm from being champion; push champions up, and leave all others as they would be."""
    if arm == 0:
        return -1000.0 if policy.champion == 0 else min(x, -1.5)
    return 1000.0 if arm in (policy.champion, policy.second) else x


def seat_the_lucky(policy: Champions, arm: int, x: float) -> float:
    """Raise the arm that is ahead by luck, so that it stays champion, and hide the rest among clean rewards."""
    means = [float(np.mean(rewards)) if rewards else 0.0 for rewards in policy.rewards]
    lucky = 1 + int(np.argmax(means[1:]))
    return 1000.0 if arm == lucky else -1.5 if arm == 0 else 0.0


ATTACKS: dict[str, Attack] = {"greatest": greatest, "unseat": unseat, "seat the lucky": seat_the_lucky}


def wrong(
    means: list[float],
    delta: float,
    epsilon: float,
    trials: int,
    pulls: int,
    attack: Attack,
    seed: int,
    good_enough: float | None = None,
    **given: Any,
) -> int:
    """Trials in which an arm was named that is worse than 0 by more than `good_enough`, or 0 was dropped."""
    right = [arm for arm, mean in enumerate(means) if mean >= means[0] - (good_enough or 0.0)]
    found = 0
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        question = Question(len(means), delta, epsilon, 1.0, **given)
        policy = Champions(question, resolution=1e-3, good_enough=good_enough)

        def pull(arm: int, rng: Any = rng, policy: Champions = policy) -> float:
            bounded = policy.unit == 1.0 and "bounds" in given
            x = float(rng.random() < means[arm]) if bounded else rng.normal(means[arm])
            if rng.random() >= epsilon:
                return x
            fake = attack(policy, arm, x)
            return min(max(fake, 0.0), 1.0) if bounded else fake

        run(policy, pull, pulls)
        found += 0 not in policy.survivors or policy.decision() not in (None, NO_WINNER, *right)
    return found


def refuted(found: int, trials: int, delta: float) -> bool:
    return bool(binom.sf(found - 1, trials, delta) < 1e-3)


@pytest.mark.parametrize("arms", [2, 4, 10])
def test_the_best_of_clean_near_ties_is_kept(arms: int) -> None:
    """60 trials at delta = 0.5, 30 rounds."""
    found = wrong([0.02] + [0.0] * (arms - 1), 0.5, 0.0, 60, 35 * arms, greatest, 1)
    assert not refuted(found, 60, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.3, 0.5])
@pytest.mark.parametrize("arms", [2, 4, 10, 50])
def test_the_promise_on_clean_near_ties(arms: int, delta: float) -> None:
    found = wrong([0.02] + [0.0] * (arms - 1), delta, 0.0, 150, min(60 * arms, 900), greatest, 2)
    assert not refuted(found, 150, delta)


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("arms", [2, 4, 10])
def test_the_promise_on_near_ties_with_bounds(arms: int, attack: str) -> None:
    """60 trials at delta = 0.5, epsilon = 0.05, against adversaries that see the state."""
    means = [0.51] + [0.5] * (arms - 1)
    found = wrong(means, 0.5, 0.05, 60, 30 * arms, ATTACKS[attack], 3, bounds=(0.0, 1.0))
    assert not refuted(found, 60, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("arms", [2, 4])
def test_the_promise_on_near_ties_with_fakes(arms: int, attack: str) -> None:
    """30 trials at delta = 0.5, epsilon = 0.05, against adversaries that see the state."""
    found = wrong([0.02] + [0.0] * (arms - 1), 0.5, 0.05, 30, 30 * arms, ATTACKS[attack], 4)
    assert not refuted(found, 30, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
def test_the_promise_of_good_enough_with_fakes(attack: str) -> None:
    """30 trials at delta = 0.1, epsilon = 0.05: the others are 0.42 worse than arm 0, and 0.4 would be good enough.

    With four times the margin 13 to 15 are wrong, which is refuted.
    """
    found = wrong([0.0, -0.42, -0.42], 0.1, 0.05, 30, 120, ATTACKS[attack], 5, good_enough=0.4)
    assert not refuted(found, 30, 0.1)


# ------------------------------------------------------------------------------------------------------- as a policy


@pytest.mark.parametrize(
    ("option", "value", "fix"),
    [
        ("resolution", 0.0, "it is the size of a lead that is worth finding"),
        ("resolution", -1.0, "it is the size of a lead that is worth finding"),
        ("good_enough", 0.0, "leave it out to have the best arm named"),
        ("good_enough", math.nan, "leave it out to have the best arm named"),
        ("good_enough", "0.1", "leave it out to have the best arm named"),
    ],
)
def test_options_are_checked(option: str, value: object, fix: str) -> None:
    with pytest.raises(ba.InputError) as raised:
        Champions(Question(3, 0.1, 0.05, 1.0), **{option: value})  # type: ignore[arg-type]
    assert str(raised.value) == f"{option} must be a finite number > 0, got {value!r}: {fix}"


@pytest.mark.parametrize("good_enough", [1.0, 1e3])
def test_with_bounds_a_margin_is_at_most_the_range(good_enough: float) -> None:
    """Nothing is ahead by more than the range, so that both stop after two rounds, with the arm that looks best."""
    policy = Champions(Question(3, 0.05, 0.05, 0.5, bounds=(0.0, 1.0)), good_enough=good_enough)
    arms = run(policy, lambda arm: [0.4, 0.6, 0.5][arm], 300)
    assert (policy.decision(), len(arms), policy.survivors) == (1, 8, [0, 1, 2])


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_a_huge_reward_is_a_large_reward(epsilon: float) -> None:
    """Rewards near the largest float, of either sign and in a unit below 1, make no difference to a large one."""
    tape = np.random.default_rng(5).normal([0.0, 0.3, 3.0], 1.0, (60, 3))
    decided = []
    for huge in (1e9, 1.7e308):
        policy = Champions(Question(3, 0.05, epsilon, 0.5))
        for s, arm in itertools.product(range(60), range(3)):
            fake = {0: huge, 3: -huge}.get(s % 20, 0.0) if epsilon > 0 else huge * (s == arm == 2)
            policy.observe(arm, fake or tape[s, arm])
        decided.append((policy.decision(), policy.n, policy.survivors))
    assert decided[0] == decided[1]
    assert decided[0][0] == 2


def test_it_goes_where_the_name_of_a_method_goes() -> None:
    bandit = ba.Bandit([ba.Gaussian(mean) for mean in (2.5, 1.0, 0.5)])
    trials = ba.simulate(bandit, Champions, delta=0.05, trials=20, seed=3)
    assert trials.wrong == 0
    result = ba.identify(bandit.stream(1).pull, 3, delta=0.05, epsilon=0.0, sigma=1.0, method=Champions)
    assert result.best == 0


@pytest.mark.slow
def test_it_keeps_the_rules_of_a_policy() -> None:
    assert "decides once" in str(ba.testing.check_method(Champions))


@pytest.mark.slow
def test_it_needs_fewer_rewards_than_all_pairs() -> None:
    """Ten arms, nine of them 0.5 sigma below the best: at most 2.1 times the information bound, 100 trials."""
    means = [0.5] + [0.0] * 9
    bandit = ba.Bandit([ba.Gaussian(mean) for mean in means])
    trials = ba.simulate(bandit, Champions, delta=0.01, trials=100, seed=7)
    bound = ba.theory.lower_bound(means, 0.01, kind="characteristic")
    assert trials.wrong == 0
    assert trials.mean_pulls < 2.1 * bound
    pairs = ba.simulate(bandit, "certified", delta=0.01, trials=400, seed=7)
    assert pairs.mean_pulls > 2.5 * bound
