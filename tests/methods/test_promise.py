"""The promise itself, P(error) <= delta, over many seeded trials with an exact binomial bound; and where it breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, binomtest

import bestarm as ba
from bestarm.bandits import ATTACKS, attacks
from bestarm.contamination.words import CLEAN, ORDER
from bestarm.methods import METHODS

MEANS = [2.5, 1.7, 1.0, 0.6]
ROBUST: dict[str, dict[str, Any]] = {
    "g-cbai": {"exploration": "chernoff"},
    "g-cbai, empirical": {"exploration": "chernoff", "threshold": "empirical"},
    "se-cbai": {"exploration": "chernoff"},
    "random": {"exploration": "chernoff"},
    "median-se": {"exploration": "chernoff"},
}


def refuted(trials: ba.Trials, delta: float) -> bool:
    """Whether so many errors would come up in less than one of 10,000 such tests if the rate were delta."""
    return bool(binom.sf(trials.wrong - 1, trials.decided, delta) < 1e-4)


def gaussian(means: list[float], adversary: Any, epsilon: float = 0.1) -> ba.Bandit:
    return ba.Bandit([ba.Gaussian(mean) for mean in means], epsilon, adversary)


@pytest.mark.parametrize("name", ROBUST)
@pytest.mark.parametrize("attack", ["uniform", "shift"])
def test_the_promise_holds_on_a_benign_instance(name: str, attack: str) -> None:
    adversary = (
        ba.paper_adversary(MEANS, 0.1, 3) if attack == "uniform" else ba.adversaries.Shift([0.5, -0.5, 0.5, -0.5])
    )
    trials = ba.simulate(gaussian(MEANS, adversary), name.split(",")[0], delta=0.1, trials=400, seed=11, **ROBUST[name])
    assert trials.decided == 400
    assert not refuted(trials, 0.1)


@pytest.mark.parametrize("method", ["mean-se", "mean-gap"])
def test_sample_means_keep_the_promise_on_clean_rewards_only(method: str) -> None:
    clean = ba.simulate(gaussian([1.0, 0.5, 0.0], None, 0.0), method, delta=0.1, trials=400, seed=5)
    assert not refuted(clean, 0.1)
    attacked = gaussian([1.0, 0.5, 0.0], ba.adversaries.Point([-30.0, 30.0, 30.0]))
    assert refuted(ba.simulate(attacked, method, delta=0.1, trials=400, seed=5), 0.1)


@pytest.mark.parametrize("name", ["g-cbai", "g-cbai, empirical", "se-cbai", "random"])
def test_a_one_sided_adversary_breaks_the_paper_at_half_epsilon(name: str) -> None:
    """Known failure: a gap of 1.5 sigma, alpha = epsilon / 2: wrong nearly always, with the full T."""
    adversary = ba.adversaries.Point([-1000.0, 1000.0, 1000.0])
    bandit = gaussian([2.5, 1.0, 0.6], adversary)
    options: dict[str, Any] = {"threshold": "empirical"} if "empirical" in name else {}
    trials = ba.simulate(bandit, name.split(",")[0], delta=0.1, trials=200, seed=1, **options)
    assert trials.decided == 200
    assert trials.error_rate > 0.95


@pytest.mark.parametrize("method", ["g-cbai", "se-cbai"])
def test_trimming_the_whole_contaminated_share_on_each_side_repairs_that(method: str) -> None:
    adversary = ba.adversaries.Point([-1000.0, 1000.0, 1000.0])
    trials = ba.simulate(gaussian([2.5, 1.0, 0.6], adversary), method, delta=0.1, alpha=0.15, trials=200, seed=1)
    assert trials.error_rate < 0.1
    assert not refuted(trials, 0.1)


def test_the_median_fails_where_it_is_not_the_mean() -> None:
    """Log-normal arms, as in experiment 7: the larger mean, 4.1 against 3.1, has the smaller median, 2.0 and 2.7."""
    skewed = ba.Bandit([ba.LogNormal(1.0, 0.5), ba.LogNormal(0.7, 1.2)], epsilon=0.1)
    assert skewed.best == 1
    assert ba.simulate(skewed, "median-se", delta=0.1, sigma=2.0, trials=100, seed=2).error_rate > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBUST)
@pytest.mark.parametrize("epsilon", [0.02, 0.2])
def test_the_promise_holds_over_thousands_of_trials(name: str, epsilon: float) -> None:
    bandit = gaussian(MEANS, ba.paper_adversary(MEANS, epsilon, 9), epsilon)
    trials = ba.simulate(bandit, name.split(",")[0], delta=0.3, trials=4000, seed=21, workers=2, **ROBUST[name])
    assert not refuted(trials, 0.3)


# ----------------------------------------------------------------------------------------------- the certified method
#
# Wrong answers are counted against all trials, undecided ones included: P(wrong) <= delta says no more. A fine
# resolution and a cap on the pulls let near-ties go on for as long as they may go wrong.

A = ba.adversaries
MODELS = ("prescient", "malicious", "share-of-arm", "share-of-all")
WIDE = (2.5, 1.5, 1.0, 0.6)
ENDLESS = {"resolution": 1e-4}


def violated(wrong: int, trials: int, delta: float) -> bool:
    """Whether so many wrong answers would come up in less than one of 1,000 such tests if the rate were delta."""
    return bool(binom.sf(wrong - 1, trials, delta) < 1e-3)


def exceeded(wrong: int, trials: int, delta: float) -> bool:
    """Whether the rate is certainly above delta: the lower end of its 99.9 % interval is."""
    return bool(binomtest(wrong, trials).proportion_ci(0.998).low > delta)


def greatest(arms: Sequence[Any], low: float = -1000.0, high: float = 1000.0) -> dict[str, Any]:
    """Attacks that multiply the evidence for a wrong arm by C, the most there is, at each hit, in every model.

    On the best arm the lowest value, on all others the highest; where the coin may look, in place of what speaks
    most for the truth.
    """
    means = np.array([arm.mean for arm in arms])
    best, second = np.argsort(-means, kind="stable")[:2].tolist()
    values = A.Point([low if arm == best else high for arm in range(len(arms))])
    tails = ["top" if arm == best else "bottom" for arm in range(len(arms))]
    return {
        "greatest": values,
        "greatest, selective": A.Selective(values, tails),
        "greatest, quota": A.Quota(values),
        "greatest, quota, selective": A.Quota(values, tails),
        "greatest on the runner-up": A.OneArm(A.Point(high), second),
        "lowest on the best": A.OneArm(A.Point(low), best),
    }


def adversary_of(attack: str, arms: Sequence[Any], epsilon: float) -> Any:
    return ATTACKS[attack][1](arms, epsilon) if attack in ATTACKS else greatest(arms)[attack]


def belonging() -> list[tuple[str, str]]:
    """Every attack with each model that it keeps to."""
    arms = [ba.Gaussian(mean) for mean in WIDE]
    names = (*ATTACKS, *greatest(arms))
    return [
        (model, name) for model in MODELS for name in names if model in adversary_of(name, arms, 0.1).contaminations
    ]


def certified(arms: Sequence[Any], rate: float, adversary: Any, delta: float, trials: int, **given: Any) -> ba.Trials:
    return ba.simulate(ba.Bandit(arms, rate, adversary), "certified", delta=delta, trials=trials, **given)


def test_every_attack_but_bursts_belongs_to_some_model() -> None:
    assert set(ATTACKS) - {name for _, name in belonging()} == {"bursts"}
    assert {model for model, _ in belonging()} == set(MODELS)


@pytest.mark.parametrize("model", MODELS)
def test_the_certified_method_keeps_its_promise_on_a_near_tie(model: str) -> None:
    """300 trials of each attack that hits hardest at a gap of 0.001 sigma, seed 12."""
    arms = [ba.Gaussian(0.001), ba.Gaussian(0.0)]
    for adversary in greatest(arms).values():
        if model in adversary.contaminations:
            trials = certified(arms, 0.02, adversary, 0.3, 300, seed=12, max_pulls=2000, contamination=model, **ENDLESS)
            assert not violated(trials.wrong, 300, 0.3)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "attack"), belonging())
@pytest.mark.parametrize("delta", [0.1, 0.3])
def test_no_attack_of_a_model_breaks_its_promise_on_a_wide_instance(model: str, attack: str, delta: float) -> None:
    """500 trials at epsilon = 0.05 and at 0.1, seed 31."""
    arms = [ba.Gaussian(mean) for mean in WIDE]
    for epsilon in (0.05, 0.1):
        trials = certified(
            arms, epsilon, adversary_of(attack, arms, epsilon), delta, 500, seed=31, max_pulls=4000, contamination=model
        )
        assert not violated(trials.wrong, 500, delta)
        if model == "prescient" and epsilon == 0.05:
            assert (trials.statuses == "identified").mean() > 0.95


@pytest.mark.slow
@pytest.mark.parametrize(("model", "attack"), belonging())
@pytest.mark.parametrize("delta", [0.1, 0.3])
def test_no_attack_of_a_model_breaks_its_promise_on_a_near_tie(model: str, attack: str, delta: float) -> None:
    """500 trials for each of the gaps 0.05 and 0.3 sigma, seed 32."""
    for gap, epsilon in ((0.05, 0.02), (0.3, 0.1)):
        arms = [ba.Gaussian(gap), ba.Gaussian(0.0)]
        trials = certified(
            arms,
            epsilon,
            adversary_of(attack, arms, epsilon),
            delta,
            500,
            seed=32,
            max_pulls=2500,
            contamination=model,
            **ENDLESS,
        )
        assert not violated(trials.wrong, 500, delta)


def two_point(mean: float, p: float) -> Any:
    """The two-point law of this mean, with its upper value of probability p, that is just 1-sub-Gaussian.

    The best sub-Gaussian variance of a Bernoulli law is (1 - 2p) / (2 log((1 - p) / p)) (Kearns and Saul 1998).
    """
    width = 2.0 if p == 0.5 else ((1.0 - 2.0 * p) / (2.0 * np.log((1.0 - p) / p))) ** -0.5
    return ba.Discrete([mean - p * width, mean + (1.0 - p) * width], [1.0 - p, p])


LAWS: dict[str, Callable[[float], Any]] = {
    "gaussian": ba.Gaussian,
    "rademacher": lambda mean: two_point(mean, 0.5),
    "skewed up": lambda mean: two_point(mean, 0.05),
    "skewed down": lambda mean: two_point(mean, 0.95),
    "uniform": lambda mean: ba.Uniform(mean - 3.0**0.5, mean + 3.0**0.5),
}


@pytest.mark.parametrize("law", ["rademacher", "skewed up", "skewed down"])
def test_the_two_point_laws_are_just_sub_gaussian(law: str) -> None:
    arm = LAWS[law](0.3)
    assert arm.mean == pytest.approx(0.3)
    k = np.linspace(-12.0, 12.0, 4801)
    values, weights = np.array(arm.values) - 0.3, np.array(arm.probabilities)
    excess = np.log(np.exp(np.outer(k, values)) @ weights) - k**2 / 2.0
    assert excess.max() < 1e-9
    assert excess[np.abs(k) > 0.01].max() > -1e-3  # no wider law of this shape would do


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("model", MODELS)
def test_the_promise_holds_for_sub_gaussian_laws(law: str, model: str) -> None:
    """500 trials of the attacks that hit hardest, at gaps of 0.001 and 0.1 sigma, and of none; seed 33."""
    for gap in (0.001, 0.1):
        arms = [LAWS[law](gap), LAWS[law](0.0)]
        for adversary in greatest(arms).values():
            if model in adversary.contaminations:
                trials = certified(
                    arms,
                    0.03,
                    adversary,
                    0.3,
                    500,
                    sigma=1.0,
                    seed=33,
                    max_pulls=2000,
                    contamination=model,
                    **ENDLESS,
                )
                assert not violated(trials.wrong, 500, 0.3)
        if model == "prescient":  # without contamination all models are the same
            trials = certified(arms, 0.0, None, 0.3, 500, sigma=1.0, seed=33, max_pulls=4000)
            assert not violated(trials.wrong, 500, 0.3)


BOUNDED: dict[str, tuple[Any, Any]] = {
    "near 0": (ba.Bernoulli(0.012), ba.Bernoulli(0.01)),
    "in the middle": (ba.Bernoulli(0.501), ba.Bernoulli(0.5)),
    "near 1": (ba.Bernoulli(0.99), ba.Bernoulli(0.988)),
    "beta": (ba.Beta(2.01, 3.0), ba.Beta(2.0, 3.0)),
    "beta near 0": (ba.Beta(0.0505, 1.0), ba.Beta(0.05, 1.0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", BOUNDED)
@pytest.mark.parametrize("model", MODELS)
def test_the_promise_holds_for_rewards_with_bounds(law: str, model: str) -> None:
    """300 trials, fakes 0 on the best arm and 1 on the other, and without contamination; seed 34."""
    arms = BOUNDED[law]
    for adversary in greatest(arms, 0.0, 1.0).values():
        if model in adversary.contaminations:
            trials = certified(
                arms,
                0.02,
                adversary,
                0.3,
                300,
                bounds=(0.0, 1.0),
                seed=34,
                max_pulls=1500,
                contamination=model,
                **ENDLESS,
            )
            assert not violated(trials.wrong, 300, 0.3)
    if model == "prescient":  # without contamination all models are the same
        trials = certified(arms, 0.0, None, 0.3, 300, bounds=(0.0, 1.0), seed=34, max_pulls=3000)
        assert not violated(trials.wrong, 300, 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 10, 50])
@pytest.mark.parametrize("model", MODELS)
def test_the_promise_holds_for_many_arms(size: int, model: str) -> None:
    """200 trials of the attacks that hit hardest, one arm 0.2 sigma above all others, seed 35."""
    arms = [ba.Gaussian(0.2), *[ba.Gaussian(0.0)] * (size - 1)]
    for adversary in greatest(arms).values():
        if model in adversary.contaminations:
            trials = certified(
                arms, 0.02, adversary, 0.3, 200, seed=35, max_pulls=300 * size, contamination=model, **ENDLESS
            )
            assert not violated(trials.wrong, 200, 0.3)
    if model == "prescient":  # without contamination all models are the same
        trials = certified(arms, 0.0, None, 0.3, 200, seed=35, max_pulls=600 * size)
        assert not violated(trials.wrong, 200, 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 0.02])
@pytest.mark.parametrize("model", MODELS)
def test_of_two_equal_arms_neither_is_named_more_often_than_delta(model: str, epsilon: float) -> None:
    """2000 trials of an exact tie, all fakes for arm 1, seed 36. With clean rewards, about delta / 2 each."""
    arms = [ba.Gaussian(0.0), ba.Gaussian(0.0)]
    for adversary in greatest(arms).values() if epsilon else [None]:
        if adversary is None or model in adversary.contaminations:
            trials = certified(
                arms, epsilon, adversary, 0.3, 2000, seed=36, max_pulls=3000, contamination=model, **ENDLESS
            )
            for arm in (0, 1):
                assert not violated(int((trials.answers == arm).sum()), 2000, 0.3)
            if epsilon == 0.0:
                assert (trials.answers >= 0).mean() > 0.15  # not kept by silence


# ------------------------------------------------------------------------------------------------ where promises end


def test_a_coin_for_each_reward_is_no_promise_against_bursts() -> None:
    """Known end of the promise: runs of 200 hidden values, at the same rate; wrong in about a fifth of 400 trials."""
    arms = [ba.Gaussian(0.3), ba.Gaussian(0.0)]
    for delta in (0.01, 0.1):
        trials = certified(arms, 0.1, attacks.bursts(arms, 1.5, 200), delta, 400, seed=41, max_pulls=4000)
        assert exceeded(trials.wrong, 400, delta)


@pytest.mark.parametrize("model", ["share-of-arm", "share-of-all"])
def test_a_share_that_is_large_enough_keeps_its_promise_against_bursts(model: str) -> None:
    """Runs of 20 at the rate 0.05: of 400 rewards more than a share 0.2 is hit in one trial of 400; seed 42."""
    arms = [ba.Gaussian(3.0), ba.Gaussian(0.0)]
    bursts = A.Bursts(A.Point([-3.0, 6.0]), 20)
    by_coin = certified(arms, 0.05, bursts, 0.01, 500, seed=42, contamination="prescient")
    assert exceeded(by_coin.wrong, 500, 0.01)
    shares: dict[str, Any] = {"contamination": model, "epsilon": 0.2, "share_from": 400.0}
    by_share = certified(arms, 0.05, bursts, 0.01, 500, seed=42, max_pulls=8000, **shares)
    assert not violated(by_share.wrong, 500, 0.01)
    assert model == "share-of-all" or by_share.decided == 500


@pytest.mark.parametrize("contamination", ["share-of-arm", "share-of-all"])
def test_a_share_that_holds_from_no_whole_number_on_allows_for_the_first_whole_one(contamination: str) -> None:
    """600 experiments, a tie but for 0.001 sigma: of 500 rewards one may be fake, so the first of each arm is.

    Of all rewards, 0.002 of the 1,000 are two. While the share was taken of 499.9, 224 were wrong.
    """
    rng = np.random.default_rng(44)
    wrong = 0
    for _ in range(600):
        rewards = rng.normal([0.001, 0.0], size=(499, 2))
        rewards[0] = -1000.0, 1000.0
        finder = ba.Identifier(
            2, delta=0.05, epsilon=0.002, sigma=1.0, contamination=contamination, share_from=499.9, resolution=1e-3
        )
        finder.tell_many([0, 1] * 499, rewards.ravel())
        wrong += finder._engine.read().best == 1  # without the readouts, which take their time
    assert not violated(wrong, 600, 0.05)


def test_a_coin_that_sees_nothing_is_no_promise_against_one_that_sees_the_reward() -> None:
    """Known end of the promise: coin-on-best at a gap of 0.05 sigma, epsilon = 0.1; told as malicious it is kept."""
    arms = [ba.Gaussian(0.05), ba.Gaussian(0.0)]
    coin = attacks.coin_on_best(arms, 0.1)
    told = {
        model: certified(arms, 0.1, coin, 0.1, 300, seed=43, max_pulls=4000, contamination=model)
        for model in ("prescient", "malicious")
    }
    assert told["prescient"].error_rate > 0.95
    assert exceeded(told["prescient"].wrong, 300, 0.1)
    assert not violated(told["malicious"].wrong, 300, 0.1)


# ------------------------------------------------------------------------------------------------------------ limits


def without_winner(means: Sequence[float], attack: str | None, epsilon: float, trials: int) -> float:
    """Share of trials that stop because contamination hides the lead; by resolution none can, within the cap."""
    arms = [ba.Gaussian(mean) for mean in means]
    adversary = None if attack is None else adversary_of(attack, arms, epsilon)
    options = ENDLESS if epsilon else {}
    found = certified(arms, epsilon, adversary, 0.1, trials, seed=51, max_pulls=10_000, **options)
    assert not violated(found.wrong, trials, 0.1)
    return found.indistinguishable


def test_a_lead_that_contamination_hides_is_called_so() -> None:
    """2.5 against 2.3 at epsilon = 0.1: a worst-case adversary can hide a gap of 0.28."""
    assert without_winner((2.5, 2.3), "hidden", 0.1, 200) > 0.95


@pytest.mark.parametrize("attack", ["hidden", "mirror", "extremes", "one-sided-gross", "benign"])
def test_a_lead_of_one_sigma_is_never_called_hidden(attack: str) -> None:
    assert without_winner((2.5, 1.5), attack, 0.1, 300) == 0


def test_without_contamination_nothing_is_hidden() -> None:
    assert without_winner((2.5, 2.49), None, 0.0, 200) == 0


def live(means: Sequence[float], attack: str, epsilon: float, seed: int, cap: int, **options: Any) -> ba.Result:
    arms = [ba.Gaussian(mean) for mean in means]
    stream = ba.Bandit(arms, epsilon, adversary_of(attack, arms, epsilon)).stream(seed)
    return ba.identify(
        lambda arm: stream.pull(int(str(arm))),
        len(means),
        delta=0.1,
        epsilon=epsilon,
        sigma=1.0,
        max_pulls=cap,
        **options,
    )


def test_each_limit_has_its_sentence() -> None:
    hidden = live((2.5, 2.3), "hidden", 0.1, 1, 20_000)
    assert (hidden.status, hidden.best, hidden.limit) == ("indistinguishable", None, "contamination")
    assert "could hide the remaining lead" in str(hidden)
    reached = live((2.5, 2.49), "benign", 0.01, 1, 20_000, resolution=0.5)
    assert (reached.status, reached.limit) == ("indistinguishable", "resolution")
    assert "at its resolution of 0.5" in str(reached)
    stopped = live((2.5, 2.3), "hidden", 0.1, 1, 100)
    assert (stopped.status, stopped.limit) == ("undecided", "budget")
    assert "stopped from outside" in str(stopped)


def test_there_is_a_default_resolution_only_with_contamination() -> None:
    assert ba.Identifier(2, delta=0.1, epsilon=0.0, sigma=1.0).result.options["resolution"] is None
    assert ba.Identifier(2, delta=0.1, epsilon=0.1, sigma=1.0).result.options["resolution"] > 0.0


# ------------------------------------------------------------------------------ promises without a proof, as printed


def symmetric(law: str, means: Sequence[float], epsilon: float) -> ba.Bandit:
    """Arms that are 1-sub-Gaussian and symmetric, and replaced rewards that are so around the same means."""
    mu = np.array(means)
    if law == "gaussian":
        return ba.Bandit([ba.Gaussian(mean) for mean in means], epsilon, A.Uniform(mu, 3.0**0.5))
    if law == "two points":
        return ba.Bandit([two_point(mean, 0.5) for mean in means], epsilon, A.TwoPoints(mu - 1.0, mu + 1.0))
    arms = [ba.Discrete([mean - 1.5, mean, mean + 1.5], [1 / 9, 7 / 9, 1 / 9]) for mean in means]
    return ba.Bandit(arms, epsilon, A.TwoPoints(mu - 1.0, mu + 1.0))


def test_the_three_point_law_is_sub_gaussian() -> None:
    """And the uniform law on mean +- sqrt(3), and two points at mean +- 1, are known to be."""
    k = np.linspace(-12.0, 12.0, 4801)
    assert (np.log(7 / 9 + 2 / 9 * np.cosh(1.5 * k)) - k**2 / 2.0).max() < 1e-12


TRIMMED: dict[str, tuple[str, dict[str, Any]]] = {
    "g-cbai": ("g-cbai", {"exploration": "chernoff"}),
    "g-cbai, none": ("g-cbai", {"exploration": "none"}),
    "g-cbai, empirical": ("g-cbai", {"exploration": "chernoff", "threshold": "empirical"}),
    "se-cbai": ("se-cbai", {"exploration": "chernoff"}),
    "se-cbai, none": ("se-cbai", {"exploration": "none"}),
    "random": ("random", {"exploration": "chernoff"}),
    "random, total, empirical": ("random", {"exploration": "chernoff", "floor": "total", "threshold": "empirical"}),
}


def keeps_its_promise(name: str, law: str, epsilon: float, trials: int, cap: int) -> None:
    """Wide gaps, where all trials end; and a near tie, where a wrong end is as likely as it can be."""
    method, options = TRIMMED[name]
    for means, all_end in (((1.5, 0.5, 0.0), True), ((0.001, 0.0), False)):
        found = ba.simulate(
            symmetric(law, means, epsilon),
            method,
            delta=0.1,
            sigma=1.0,
            trials=trials,
            seed=61,
            max_pulls=cap,
            **options,
        )
        assert not violated(found.wrong, trials, 0.1)
        assert not all_end or found.decided == trials


@pytest.mark.parametrize("name", TRIMMED)
@pytest.mark.parametrize("law", ["gaussian", "two points"])
def test_trimmed_means_keep_delta_where_all_rewards_are_symmetric_and_sub_gaussian(name: str, law: str) -> None:
    keeps_its_promise(name, law, 0.25, 200, 10_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIMMED)
@pytest.mark.parametrize("law", ["gaussian", "two points", "three points"])
@pytest.mark.parametrize("epsilon", [0.1, 0.25, 0.45])
def test_trimmed_means_keep_delta_over_thousands_of_trials(name: str, law: str, epsilon: float) -> None:
    if epsilon <= 0.25 or "empirical" not in name:
        keeps_its_promise(name, law, epsilon, 2000, 20_000)


@pytest.mark.parametrize("method", ["g-cbai", "se-cbai", "random"])
def test_fakes_on_both_sides_break_trimmed_means_if_they_are_not_balanced(method: str) -> None:
    """Known failure: 90 % of the fakes at +1000, 10 % at -1000, for the best arm the other way round; 1.5 sigma."""
    means, high = np.array([2.5, 1.0, 0.6]), np.array([-1000.0, 1000.0, 1000.0])
    adversary = A.TwoPoints(high, -high, 0.9)
    assert (np.abs(0.9 * high - 0.1 * high - means) > 700.0).all()  # the fakes are not symmetric around the means
    trials = ba.simulate(gaussian(means.tolist(), adversary), method, delta=0.1, trials=15, seed=62)
    assert trials.wrong == trials.decided == 15
    assert "the replaced ones included" in METHODS[method].promised(trials.settings["options"])


def test_the_median_is_wrong_where_replaced_rewards_can_hide_the_lead() -> None:
    """Known failure: the paper's own means at epsilon = 0.1, points at 1.5 sigma; a gap of 0.2 where 0.28 is hidden."""
    means, epsilon = np.array([2.5, 2.3, 2.0, 0.6]), 0.1
    assert means[0] - means[1] < 2.0 * ba.theory.minimal_bias(epsilon)
    adversary = A.Point(means + 1.5 * np.array([-1.0, 1.0, 1.0, 1.0]))
    trials = ba.simulate(gaussian(means.tolist(), adversary), "median-se", delta=0.1, trials=30, seed=63)
    assert trials.wrong == trials.decided == 30


def at_the_limit(epsilon: float, over: float, place: float, size: int = 2) -> ba.Bandit:
    """Normal arms whose gap is `over` times what can be hidden, all fakes against the best one, `place` from the means.

    Beyond the medians it does not matter where: the median moves by how many there are.
    """
    gap = over * 2.0 * ba.theory.minimal_bias(epsilon)
    means = [gap] + [0.0] * (size - 1)
    return gaussian(means, A.Point([gap - place] + [place] * (size - 1)), epsilon)


@pytest.mark.parametrize("exploration", ["hoeffding", "chernoff"])
@pytest.mark.parametrize("place", [1.5, 1000.0])
def test_the_median_keeps_delta_just_above_what_can_be_hidden(exploration: str, place: float) -> None:
    """At the largest epsilon and delta that are promised, and the paper's; four times the limit ends."""
    for epsilon, delta in ((0.25, 0.2), (0.1, 0.1)):
        for over, all_end in ((1.01, False), (4.0, True)):
            bandit = at_the_limit(epsilon, over, place)
            trials = ba.simulate(
                bandit, "median-se", delta=delta, trials=200, seed=64, max_pulls=20_000, exploration=exploration
            )
            assert not violated(trials.wrong, 200, delta)
            assert not all_end or trials.decided == 200


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 10, 50])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.25, 0.2), (0.25, 0.01), (0.1, 0.2), (0.02, 0.1)])
def test_the_median_keeps_delta_over_many_trials(size: int, epsilon: float, delta: float) -> None:
    for place in (1.5, 1000.0):
        bandit = at_the_limit(epsilon, 1.01, place, size)
        trials = ba.simulate(
            bandit, "median-se", delta=delta, trials=500, seed=65, max_pulls=5_000 * size, exploration="chernoff"
        )
        assert not violated(trials.wrong, 500, delta)


def near_tie(method: str, epsilon: float, **options: Any) -> tuple[ba.Bandit, str, dict[str, Any]]:
    return symmetric("two points", (0.001, 0.0), epsilon), method, {"exploration": "chernoff", **options}


# Beyond what is printed, in one respect each.
BEYOND: dict[str, tuple[ba.Bandit, str, dict[str, Any]]] = {
    "alpha above epsilon / 2": near_tie("se-cbai", 0.1, alpha=0.4),
    "g-cbai, empirical, epsilon above 0.25": near_tie("g-cbai", 0.49, threshold="empirical"),
    "random, empirical, epsilon above 0.25": near_tie("random", 0.49, threshold="empirical"),
    "median, epsilon above 0.25": (at_the_limit(0.4, 1.01, 1000.0), "median-se", {"exploration": "chernoff"}),
    "median, no exploration": (at_the_limit(0.1, 1.01, 1000.0), "median-se", {"exploration": "none"}),
    "median, alpha above epsilon / 2": (
        at_the_limit(0.25, 1.01, 1000.0, 100),
        "median-se",
        {"exploration": "chernoff", "alpha": 0.49},
    ),
}


@pytest.mark.parametrize("name", BEYOND)
def test_every_condition_of_a_promise_is_needed(name: str) -> None:
    bandit, method, options = BEYOND[name]
    trials = ba.simulate(bandit, method, delta=0.1, sigma=1.0, trials=300, seed=66, max_pulls=20_000, **options)
    assert exceeded(trials.wrong, 300, 0.1)


def test_the_promises_as_printed() -> None:
    trimmed = (
        "all rewards of an arm, the replaced ones included, are independent, symmetric around its mean and "
        "sigma-sub-Gaussian, and alpha is at most epsilon / 2"
    )
    median = (
        "clean rewards are normal, each is replaced at random with probability at most epsilon, independently of all "
        "clean rewards and other replacements, the best mean leads every other by more than "
        "2 sigma Phi^-1(1 / (2 (1 - epsilon))), which is what replaced rewards can hide, epsilon is at most "
        "0.25, delta at most 0.2 and alpha at most epsilon / 2"
    )
    printed = {
        **dict.fromkeys(("g-cbai", "se-cbai", "random"), trimmed),
        "median-se": median,
        **dict.fromkeys(("mean-se", "mean-gap"), "no reward is replaced"),
    }
    always = f"{CLEAN}; {ORDER}"
    for method, promise in printed.items():
        finder = ba.Identifier(2, delta=0.1, epsilon=0.1, sigma=1.0, method=method)
        assert (finder.result.promise, finder.result.proved) == (f"{promise}; {always}", False)
    for method in ("g-cbai", "random"):
        empirical = ba.Identifier(2, delta=0.1, epsilon=0.1, sigma=1.0, method=method, threshold="empirical")
        assert empirical.result.promise == f"{trimmed}, and epsilon at most 0.25; {always}"
    short = ba.Identifier(2, delta=0.1, epsilon=0.1, sigma=1.0, method="median-se", exploration="none")
    assert short.result.promise == f"rewards are normal and none is replaced; {always}"
