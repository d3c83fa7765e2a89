"""Track-and-stop, top-two and PEAK: their statistics by brute force, their proportions, their promise and its end."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import rel_entr
from scipy.stats import binom, norm

import bestarm as ba
from bestarm.bandits import ATTACKS
from bestarm.errors import InputError
from bestarm.reference.peers import PEAK, TopTwo, TrackAndStop
from bestarm.reference.peers.families import family_of, optimal_proportions, transport
from bestarm.testing import check_method
from bestarm.theory import characteristic_time
from bestarm.theory import optimal_proportions as closed_form

NORMAL = family_of("gaussian", ba.Question(arms=2, delta=0.1, epsilon=0.0, sigma=1.0))
EITHER = family_of("bernoulli", ba.Question(arms=2, delta=0.1, epsilon=0.0, sigma=0.5, bounds=(0.0, 1.0)))


def question(arms: int, delta: float = 0.1, **more: Any) -> ba.Question:
    return ba.Question(arms=arms, delta=delta, epsilon=0.0, **{"sigma": 1.0, **more})


def entropy(x: float, y: float) -> float:
    return float(rel_entr(x, y) + rel_entr(1 - x, 1 - y))


def feed(policy: Any, means: Sequence[float], pulls: int) -> list[int]:
    """Tell a policy the means themselves as rewards of the arms that it asks for."""
    counts = [0] * len(means)
    for _ in range(pulls):
        arm = policy.choose(np.zeros(len(means), np.int64))
        policy.observe(arm, means[arm])
        counts[arm] += 1
    return counts


# ----------------------------------------------------------------------------------------------------------- statistics


def test_the_likelihood_ratio_of_normal_rewards_is_that_of_the_data() -> None:
    """Twice the maximum of the likelihood: over all means, and over those where the leader is not the better arm."""
    rng, sigma = np.random.default_rng(2), 1.7
    policy = TrackAndStop(question(2, sigma=sigma))
    rewards = [rng.normal(0.8, sigma, 23), rng.normal(0.0, sigma, 11)]
    for arm in range(2):
        for reward in rewards[arm].tolist():
            policy.observe(arm, reward)

    def loss(m: float) -> float:
        return -float(sum(norm.logpdf(values, m, sigma).sum() for values in rewards))

    free = float(sum(norm.logpdf(values, values.mean(), sigma).sum() for values in rewards))
    means = policy.means()
    found = transport(policy.family, means[0], 23, means[1], 11)
    assert means[0] > means[1]
    assert found == pytest.approx(free + minimize_scalar(loss).fun, rel=1e-6)
    assert transport(policy.family, means[1], 11, means[0], 23) == 0.0


@pytest.mark.parametrize("counts", [(5, 9), (100, 3)])
@pytest.mark.parametrize("means", [(0.9, 0.2), (0.51, 0.5), (1.0, 0.4), (0.6, 0.0)])
def test_the_likelihood_ratio_of_clicks_is_the_least_cost(counts: tuple[int, int], means: tuple[float, float]) -> None:
    grid = np.linspace(0.001, 0.999, 9981)
    costs = [counts[0] * entropy(means[0], m) + counts[1] * entropy(means[1], m) for m in grid.tolist()]
    found = transport(EITHER, means[0], counts[0], means[1], counts[1])
    assert found == pytest.approx(min(costs), rel=1e-4, abs=1e-6)


def test_the_arm_is_named_once_every_ratio_is_above_the_threshold_and_not_before() -> None:
    policy = TopTwo(question(3, delta=0.05, sigma=2.0))
    means = [1.0, 0.2, 0.5]
    assert policy.decision() is None
    while policy.decision() is None:
        feed(policy, means, 1)
    N, t = policy.N, policy.t
    for step in (0, 1):  # with the last reward, and without it
        N = list(policy.N)
        if step == 1:
            last = max(range(3), key=lambda a: transport_without(policy.N, means, a, policy.beta(t - 1)))
            N[last] -= 1
        ratios = [(means[0] - means[a]) ** 2 / (2 * 4.0 * (1 / N[0] + 1 / N[a])) for a in (1, 2)]
        assert (min(ratios) > policy.beta(t - step)) is (step == 0)
    assert policy.decision() == 0


def transport_without(N: Sequence[int], means: Sequence[float], arm: int, limit: float) -> float:
    """How far below a limit the least ratio lies without one reward of an arm."""
    counts = [n - (a == arm) for a, n in enumerate(N)]
    ratios = [(means[0] - means[a]) ** 2 / (2 * 4.0 * (1 / counts[0] + 1 / counts[a])) for a in (1, 2)]
    return limit - min(ratios)


# ---------------------------------------------------------------------------------------------------------- proportions


@pytest.mark.parametrize("means", [(1.0, 0.0), (0.5, 0.0, 0.0, 0.0), (2.5, 2.3, 2.0, 0.6), (0.0, 3.0, 2.999, -50.0)])
def test_optimal_proportions_are_those_of_the_theory(means: Sequence[float]) -> None:
    found = optimal_proportions(NORMAL, means)
    assert found == pytest.approx(closed_form(means).tolist(), abs=1e-6)
    best = int(np.argmax(means))
    others = [a for a in range(len(means)) if a != best]
    rate = min(transport(NORMAL, means[best], found[best], means[a], found[a]) for a in others)
    assert 1 / rate == pytest.approx(characteristic_time(means), rel=1e-6)


@pytest.mark.parametrize("means", [(0.6, 0.5), (0.2, 0.5, 0.4), (0.95, 0.1, 0.9, 0.5)])
def test_optimal_proportions_of_clicks_are_a_maximin(means: Sequence[float]) -> None:
    best = int(np.argmax(means))
    others = [a for a in range(len(means)) if a != best]

    def rate(w: Sequence[float]) -> float:
        return min(transport(EITHER, means[best], w[best], means[a], w[a]) for a in others)

    def loss(logits: Any) -> float:
        w = np.exp(logits - logits.max())
        return -rate((w / w.sum()).tolist())

    settings: Any = {"xatol": 1e-8, "fatol": 1e-12, "maxiter": 6000, "maxfev": 6000}
    searched = minimize(loss, np.zeros(len(means)), method="Nelder-Mead", options=settings)
    found = optimal_proportions(EITHER, means)
    assert sum(found) == pytest.approx(1.0)
    assert rate(found) == pytest.approx(-searched.fun, rel=1e-4)  # the search stops early
    assert rate(found) > -searched.fun * (1 - 1e-7)


def test_track_and_stop_pulls_in_the_optimal_proportions() -> None:
    means = [0.5, 0.0, -0.25]
    policy = TrackAndStop(question(3, delta=1e-300))
    counts = feed(policy, means, 3000)
    assert np.array(counts) / 3000 == pytest.approx(closed_form(means), abs=0.001)


def test_top_two_gives_the_leader_its_share_and_balances_the_rivals() -> None:
    means = [0.0, 1.0, 0.7]
    policy = TopTwo(question(3, delta=1e-300, seed=4), share=0.4)
    counts = feed(policy, means, 4000)
    assert counts[1] / 4000 == pytest.approx(0.4, abs=0.03)
    first, second = (transport(NORMAL, 1.0, counts[1], means[a], counts[a]) + math.log(counts[a]) for a in (0, 2))
    assert first == pytest.approx(second, abs=1.0)


# ----------------------------------------------------------------------------------------------------------------- PEAK


def test_the_evidence_of_peak_is_the_least_average_over_all_means_that_agree() -> None:
    rng = np.random.default_rng(5)
    policy = PEAK(question(3, sigma=0.5, bounds=(0.0, 1.0)), resolution=12)
    rewards: list[list[float]] = [[], [], []]
    for arm in rng.integers(3, size=60).tolist():
        rewards[arm].append(float(rng.random() < (0.9, 0.5, 0.2)[arm]))
        policy.observe(arm, rewards[arm][-1])

    def capital(arm: int, m: float) -> float:
        factors = []
        for n, x in enumerate(rewards[arm]):
            guess = (0.5 + sum(rewards[arm][:n])) / (n + 1)
            factors.append(1 + (x - m) * (guess - m) / 0.26)
        return math.prod(factors)

    table = [[capital(arm, step / 12) for step in range(13)] for arm in range(3)]
    for b, found in enumerate(policy.log_evidence()):
        values = [
            sum(table[a][step] for a, step in enumerate(steps)) / 3
            for steps in itertools.product(range(13), repeat=3)
            if steps[b] == max(steps)
        ]
        assert found == pytest.approx(math.log(min(values)), rel=1e-9)


def test_a_finer_grid_changes_the_evidence_of_peak_by_less_than_it_says() -> None:
    rng = np.random.default_rng(6)
    usual, fine = (
        PEAK(question(2, sigma=0.5, bounds=(-1.0, 1.0), delta=1e-9), resolution=steps) for steps in (2000, 16_000)
    )
    for arm in [0, 1] * 500:
        reward = float(rng.beta(2.0, 2.0 + arm)) * 2 - 1
        usual.observe(arm, reward)
        fine.observe(arm, reward)
    for coarse, exact in zip(usual.log_evidence(), fine.log_evidence(), strict=True):
        assert exact - 1e-9 <= coarse <= exact + 500 * max(coarse, 1.0) / 2000**2


def test_peak_pulls_the_leader_and_its_challenger_in_turn() -> None:
    policy = PEAK(question(3, sigma=0.5, bounds=(0.0, 1.0), delta=1e-9))
    order = []
    for _ in range(9):
        arm = policy.choose(np.zeros(3, np.int64))
        policy.observe(arm, (0.4, 0.9, 0.7)[arm])
        order.append(arm)
    assert order == [0, 1, 2, 1, 2, 1, 0, 1, 2]
    assert policy.radius(4) == pytest.approx(
        math.sqrt(math.log(405.5 * 3 * 4**1.1 * 1e9 * math.log(405.5 * 3 * 4**1.1 * 1e9)) / 8)
    )


# ---------------------------------------------------------------------------------------------------------- as policies


@pytest.mark.parametrize("method", [TrackAndStop, TopTwo])
def test_they_keep_the_rules_for_methods(method: Any) -> None:
    assert check_method(method, max_pulls=150).method == method.name


def test_each_peer_rejects_what_it_cannot_use() -> None:
    with pytest.raises(InputError, match="bounds must be given for PEAK"):
        PEAK(question(2))
    with pytest.raises(InputError, match="resolution must be at least 2"):
        PEAK(question(2, bounds=(0.0, 1.0)), resolution=1)
    with pytest.raises(InputError, match="bounds must be given with family='bernoulli'"):
        TrackAndStop(question(2), family="bernoulli")
    with pytest.raises(InputError, match="share must be in"):
        TopTwo(question(2), share=1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "options"), [(TrackAndStop, {}), (TopTwo, {}), (PEAK, {}), (TopTwo, {"family": "bernoulli"})]
)
def test_the_promise_holds_on_clean_rewards(method: Any, options: dict[str, Any]) -> None:
    bandit = ba.Bandit([ba.Bernoulli(rate) for rate in (0.5, 0.3, 0.3)])
    trials = ba.simulate(bandit, method, delta=0.3, trials=100, seed=3, bounds=(0.0, 1.0), **options)
    assert trials.decided == 100
    assert binom.sf(trials.wrong - 1, 100, 0.3) > 1e-4


@pytest.mark.parametrize("method", [TrackAndStop, TopTwo])
def test_no_promise_survives_a_tenth_of_fakes_on_one_side(method: Any) -> None:
    """Known failure: the first gross value decides."""
    arms = [ba.Gaussian(mean) for mean in (2.5, 1.5, 1.0, 0.6)]
    bandit = ba.Bandit(arms, 0.1, ATTACKS["one-sided-gross"][1](arms, 0.1))
    trials = ba.simulate(bandit, method, delta=0.1, trials=40, seed=1)
    assert trials.decided == 40
    assert trials.error_rate > 0.9


def test_peak_fails_where_a_fifth_of_the_clicks_is_on_the_wrong_side() -> None:
    bandit = ba.Bandit([ba.Bernoulli(0.55), ba.Bernoulli(0.5)], 0.2, ba.adversaries.Point([0.0, 1.0]))
    trials = ba.simulate(bandit, PEAK, delta=0.1, trials=6, seed=1, bounds=(0.0, 1.0), max_pulls=3000)
    assert trials.wrong >= 5
