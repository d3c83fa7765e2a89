"""Adversaries beyond the oblivious model do what they say, and the bench tells who is fooled."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

import bestarm as ba
from bestarm.bandits import ATTACKS, attacks
from bestarm.bandits.tails import quantile, tail_cut
from bestarm.kernels.rewards.draws import BOTTOM, TOP
from bestarm.kernels.trials.trial import draw_only
from bestarm.simulation import trial_seeds
from bestarm.simulation.attack_bench import (
    INSTANCES,
    OUTCOMES,
    _draw_cell,
    attack_methods,
    attack_table,
    draw_attack_table,
)

A = ba.adversaries
FAR = -1e6  # a value that no clean reward takes: it marks the rewards that were replaced
ARMS: dict[str, tuple[Any, Any]] = {  # an arm, and SciPy's object for its law
    "gaussian": (ba.Gaussian(2.0, 1.5), stats.norm(2.0, 1.5)),
    "uniform": (ba.Uniform(-1.0, 2.0), stats.uniform(-1.0, 3.0)),
    "exponential": (ba.Exponential(2.0), stats.expon(scale=2.0)),
    "log-normal": (ba.LogNormal(0.5, 0.7), stats.lognorm(0.7, scale=np.exp(0.5))),
    "beta": (ba.Beta(2.0, 3.0), stats.beta(2.0, 3.0)),
    "student": (ba.StudentT(3.0, 1.0, 2.0), stats.t(3.0, 1.0, 2.0)),
    "bernoulli": (ba.Bernoulli(0.3), stats.bernoulli(0.3)),
    "discrete": (
        ba.Discrete([1, 2, 3], [0.5, 0.35, 0.15]),
        stats.rv_discrete(values=([1, 2, 3], [0.5, 0.35, 0.15])),
    ),
}
DISCRETE = ("bernoulli", "discrete")
FIVE: Any = 5.0
NONE: Any = None


def rewards(bandit: ba.Bandit, pulls: int, seed: int = 3) -> NDArray[np.float64]:
    """Rewards of arm 0, `pulls` of them."""
    stream = bandit.stream(seed)
    return np.array([stream.pull(0) for _ in range(pulls)])


def pair(first: Any, second: Any = None) -> list[Any]:
    return [first, ba.Gaussian(0.0) if second is None else second]


# ------------------------------------------------------------------------------- streams, against NumPy's generator

Draw = Callable[[np.random.Generator, int], float]
LAWS: dict[
    str, tuple[Any, Draw]
] = {  # contaminated rewards of arm 0, Gaussian(2, 1.5), in NumPy; arm 1 is Uniform(5, 6)
    "point": (A.Point(7.0), lambda rng, n: 7.0),
    "uniform": (A.Uniform(7.0, 0.5), lambda rng, n: 7.0 + 0.5 * (2.0 * rng.random() - 1.0)),
    "gaussian": (A.Gaussian(7.0, 0.5), lambda rng, n: 7.0 + 0.5 * rng.standard_normal()),
    "shift": (A.Shift(0.7), lambda rng, n: 2.0 + 1.5 * rng.standard_normal() + 0.7),
    "schedule": (
        A.Schedule([(0, A.Point(7.0)), (100, A.Shift(1.0))]),
        lambda rng, n: 7.0 if n < 100 else 2.0 + 1.5 * rng.standard_normal() + 1.0,
    ),
    "drift": (A.Drift(0.01, 2.0), lambda rng, n: 2.0 + 1.5 * rng.standard_normal() + min(0.01 * n, 2.0)),
    "drift down": (A.Drift(-0.01, 2.0), lambda rng, n: 2.0 + 1.5 * rng.standard_normal() - min(0.01 * n, 2.0)),
    "reflect": (A.Reflect(0.5), lambda rng, n: 1.0 - (2.0 + 1.5 * rng.standard_normal())),
    "impersonate": (A.Impersonate(1), lambda rng, n: 5.0 + 1.0 * rng.random()),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_stream_is_a_fair_coin_and_then_one_of_two_laws(name: str) -> None:
    """Bit for bit: also for the laws that were there before the others came."""
    adversary, contaminated = LAWS[name]
    found = rewards(ba.Bandit(pair(ba.Gaussian(2.0, 1.5), ba.Uniform(5.0, 6.0)), 0.2, adversary), 500)
    rng = np.random.default_rng(3)
    expected = [contaminated(rng, n) if rng.random() < 0.2 else 2.0 + 1.5 * rng.standard_normal() for n in range(500)]
    assert found.tolist() == expected


def test_an_adversary_that_sees_the_future_uses_true_rewards_that_are_yet_to_come() -> None:
    """Bit for bit, against a literal twin that draws 32 true rewards whenever it has none left."""
    bandit = ba.Bandit(pair(ba.Gaussian(2.0, 1.5)), 0.2, A.Extreme([1.0, -1.0]))
    hits, early = 0, 0
    for seed in range(10):
        found = rewards(bandit, 100, seed).tolist()
        rng = np.random.default_rng(seed)
        true: list[float] = []
        expected = []
        for n in range(100):
            rng.random()  # the coin of oblivious adversaries, which this one overrules
            if n == len(true):
                true += [2.0 + 1.5 * rng.standard_normal() for _ in range(32)]
            expected.append(max(true) if rng.random() < 0.2 else true[n])
            hits += expected[n] != true[n]
            early += expected[n] > max(true[: n + 1])
        assert found == expected
    assert stats.binomtest(hits, 1000, 0.2).pvalue > 1e-4
    assert early > 0  # values that no pull had reached when they were used


@pytest.mark.slow
def test_what_an_adversary_remembers_ends_with_the_trial() -> None:
    arms = [ba.Gaussian(1.0), ba.Gaussian(0.0)]
    bandit = ba.Bandit(arms, 0.1, attacks.extremes(arms))
    one = ba.simulate(bandit, "median-se", delta=0.1, trials=60, seed=4)
    two = ba.simulate(bandit, "median-se", delta=0.1, trials=60, seed=4, workers=2)
    assert one.pulls.tolist() == two.pulls.tolist()
    finder = ba.Identifier(2, delta=0.1, epsilon=0.1, sigma=1.0, method="median-se")
    stream = bandit.stream(trial_seeds(4, 60)[59])
    while not finder.done:
        (arm,) = finder.ask(1)
        finder.tell(arm, stream.pull(int(str(arm))))
    assert finder.result.pulls == one.pulls[59]


def test_simulation_meets_the_adversary_that_a_stream_shows() -> None:
    arms = [ba.Gaussian(1.0), ba.Gaussian(0.0)]
    for _, build in ATTACKS.values():
        bandit = ba.Bandit(arms, 0.1, build(arms, 0.1))
        trial = ba.simulate(bandit, "mean-se", delta=0.1, trials=1, seed=4)
        finder = ba.Identifier(2, delta=0.1, epsilon=0.1, sigma=1.0, method="mean-se")
        stream = bandit.stream(np.random.SeedSequence(4).spawn(1)[0])
        while not finder.done:
            (arm,) = finder.ask(1)
            finder.tell(arm, stream.pull(int(str(arm))))
        assert (finder.result.pulls, finder.result.best) == (trial.pulls[0], trial.answers[0])


# ------------------------------------------------------------------------------------------------- malicious coins


@pytest.mark.parametrize("family", ARMS)
@pytest.mark.parametrize("tail", ["top", "bottom"])
def test_a_selective_coin_replaces_the_extreme_rewards_at_the_rate_epsilon(family: str, tail: str) -> None:
    arm, law = ARMS[family]
    found = rewards(ba.Bandit(pair(arm), 0.2, A.Selective(A.Point(FAR), tail)), 4000)
    hit = found == FAR
    assert stats.binomtest(int(hit.sum()), hit.size, 0.2).pvalue > 1e-4
    left = found[~hit]
    if family not in DISCRETE:  # every reward beyond the quantile was hit and no other
        assert left.max() <= law.ppf(0.8) if tail == "top" else left.min() >= law.ppf(0.2)
        within = law.cdf(left) / 0.8 if tail == "top" else (law.cdf(left) - 0.2) / 0.8
        assert stats.kstest(within, "uniform").pvalue > 1e-4
    else:  # what is left of each value, by its clean probability less what the tail took
        values = sorted(law.support()) if family == "bernoulli" else [1, 2, 3]
        clean = {value: float(law.pmf(value)) for value in values}
        to_take = 0.2
        for value in values[::-1] if tail == "top" else values:
            taken = min(to_take, clean[value])
            clean[value], to_take = clean[value] - taken, to_take - taken
        for value, share in clean.items():
            count = int((left == value).sum())
            assert count == 0 if share < 1e-9 else stats.binomtest(count, found.size, share).pvalue > 1e-4


def test_a_selective_adversary_may_see_the_reward_that_it_moves() -> None:
    found = rewards(ba.Bandit(pair(ba.Uniform(0.0, 1.0)), 0.25, A.Selective(A.Shift(-10.0), "top")), 2000)
    moved = found[found < -1.0]
    assert moved.min() >= -9.25
    assert found[found > -1.0].max() <= 0.75
    mirrored = rewards(ba.Bandit(pair(ba.Uniform(0.0, 1.0)), 0.25, A.Selective(A.Reflect(0.0), "bottom")), 2000)
    assert (mirrored.min() >= -0.25, mirrored[mirrored > 0.0].min() >= 0.25) == (True, True)


def test_arms_with_a_fair_coin_keep_it_beside_others_with_a_selective_one() -> None:
    for first in (ba.Gaussian(2.0), ba.CustomArm(lambda rng: rng.normal(2.0), mean=2.0, sigma=1.0)):
        bandit = ba.Bandit(pair(first), 0.2, A.Selective(A.Point(FAR), ["fair", "top"]))
        found = rewards(bandit, 5000)
        hit = found == FAR
        assert stats.binomtest(int(hit.sum()), hit.size, 0.2).pvalue > 1e-4
        assert stats.kstest(found[~hit], stats.norm(2.0).cdf).pvalue > 1e-4  # the coin did not look


def test_a_schedule_may_turn_malicious() -> None:
    turning = A.Schedule([(0, A.Point(FAR)), (3000, A.Selective(A.Point(FAR), "top"))])
    found = rewards(ba.Bandit(pair(ba.Gaussian(0.0)), 0.2, turning), 6000)
    assert turning.power == "malicious"
    for part in (found[:3000], found[3000:]):
        assert stats.binomtest(int((part == FAR).sum()), 3000, 0.2).pvalue > 1e-4
    assert found[:3000].max() > 2.0
    assert found[3000:].max() <= stats.norm.ppf(0.8)


def test_nothing_is_replaced_at_epsilon_zero() -> None:
    assert FAR not in rewards(ba.Bandit(pair(ba.Bernoulli(0.3)), 0.0, A.Selective(A.Point(FAR))), 500)


@pytest.mark.parametrize("family", ARMS)
def test_quantiles_are_those_of_scipy(family: str) -> None:
    arm, law = ARMS[family]
    for level in (0.05, 0.3, 0.45, 0.81, 0.95):
        assert quantile(arm, level) == pytest.approx(law.ppf(level), rel=1e-12)
    if family not in DISCRETE:
        assert tail_cut(arm, 0.1, TOP) == pytest.approx((law.isf(0.1), 0.0))
        assert tail_cut(arm, 0.1, BOTTOM) == pytest.approx((law.ppf(0.1), 0.0))


def test_a_tail_that_ends_between_two_values_takes_the_whole_value() -> None:
    arm = ba.Discrete([1, 2, 3], [0.5, 0.25, 0.25])
    assert tail_cut(arm, 0.25, TOP) == (3.0, 1.0)
    assert tail_cut(arm, 0.375, TOP) == (2.0, 0.5)
    assert tail_cut(arm, 0.25, BOTTOM) == (1.0, 0.5)
    found = rewards(ba.Bandit(pair(arm), 0.25, A.Selective(A.Point(FAR))), 2000)
    assert set(found.tolist()) == {1.0, 2.0, FAR}


# -------------------------------------------------------------------------------------------------- ready-made attacks

WIDE = [ba.Gaussian(mean) for mean in (1.5, 2.5, 1.0)]


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_have_the_power_of_their_label_and_hurt(name: str) -> None:
    """The best arm's mean goes down and the runner-up's up, by draws of the attack against the clean mean."""
    power, build = ATTACKS[name]
    adversary = build(WIDE, 0.1)
    assert adversary.power == power
    laws, rng = ba.Bandit(WIDE, 0.1, adversary).laws(), np.random.default_rng(1)
    runner_up, best = (draw_only(laws, rng, np.full(100_000, arm)) / 100_000 for arm in (0, 1))
    assert best < 2.5 - 0.05 or name == "one-arm"
    assert runner_up > 1.5 + 0.05 or name in ("benign", "quota-uniform")


def test_attacks_put_values_where_they_say() -> None:
    assert attacks.one_sided_gross(WIDE, 50.0).pieces[0].a == (50.0, -50.0, 50.0)
    assert attacks.hidden(WIDE, 2.0).pieces[0].a == (3.5, 0.5, 3.0)
    assert attacks.swap(WIDE).pieces[0].a == (1.0, 0.0, 2.0)
    edge = attacks.edge_of_trim(WIDE, 0.1).pieces[0].a
    clean_beyond = 0.9 * np.array([stats.norm.sf(edge[0], 1.5), stats.norm.cdf(edge[1], 2.5)])
    assert clean_beyond == pytest.approx([0.05, 0.05])


def test_a_trimmed_mean_keeps_what_is_just_inside_its_edge() -> None:
    adversary = attacks.edge_of_trim(WIDE, 0.2, alpha=0.1)
    found = np.sort(rewards(ba.Bandit(WIDE, 0.2, adversary), 10_000))
    value = adversary.pieces[0].a[0]
    kept = found[1000:-1000]
    assert (kept == value).sum() >= 0.95 * (found == value).sum() > 1500
    assert kept.max() < value + 0.1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: A.Selective(A.Point(1.0), "middle"), "tails must be one of top, bottom, fair, got 'middle'"),
        (lambda: A.Selective(A.Point(1.0), []), "tails must be one name for all arms or one for each"),
        (lambda: A.Selective(FIVE), "adversary must be one of bestarm.adversaries, got 5.0"),
        (lambda: A.Drift(1.0, -2.0), "limit must be a finite number >= 0, got -2.0"),
        (lambda: A.Drift(float("nan"), 2.0), "rates must be a finite number"),
        (lambda: A.Reflect([]), "points must be a finite number"),
        (lambda: A.Extreme([1.0, 0.0]), "sides must be positive or negative"),
        (lambda: ba.Bandit([lambda rng: 0.0, ba.Gaussian(0.0)], 0.1, A.Extreme(1.0)), "arms must be laws"),
        (lambda: ba.Bandit(WIDE, 0.1, A.Impersonate(3)), "targets must be indices below 3"),
        (lambda: ba.Bandit(WIDE, 0.1, A.Impersonate(0.5)), "targets must be indices below 3"),
        (
            lambda: ba.Bandit(pair(lambda rng: 0.0), 0.1, A.Impersonate(0)),
            "targets must be indices below 2 of arms that",
        ),
        (lambda: ba.Bandit(pair(lambda rng: 0.0), 0.1, A.Selective(A.Point(1.0))), "arms must be laws that the adv"),
        (lambda: ba.Bandit(WIDE, 0.1, A.Selective(A.Point(1.0), ["top", "fair"])), "adversary must have one value for"),
        (lambda: attacks.hidden([ba.Gaussian(1.0)] * 2), "arms must be at least two, with known means and one largest"),
        (lambda: attacks.hidden([ba.Exponential(1.0), ba.Gaussian(0.0)]), "arms must have a sigma each"),
        (lambda: attacks.hidden(WIDE, s=0.0), "s must be a finite number > 0, got 0.0"),
        (lambda: attacks.edge_of_trim(WIDE, 0.1, alpha=0.47), "alpha must be above 0 and below (1 - epsilon) / 2"),
        (lambda: attack_table(methods=["magic"]), "methods must be one of "),
        (lambda: attack_table(methods="mean-se"), "methods must be a list of names, got 'mean-se'"),
        (lambda: attack_table(attacks=["magic"]), "attacks must be one of benign, one-sided-gross"),
        (lambda: attack_table(attacks="hidden"), "attacks must be a list of names, got 'hidden'"),
        (lambda: attack_table(attacks=FIVE), "attacks must be a list of names, got 5.0"),
        (lambda: attack_table(attacks={"mine": FIVE}), "adversary must be one of bestarm.adversaries, a function"),
        (lambda: attack_table(attacks={"mine": NONE}), "attacks must be adversaries, got None"),
        (lambda: attack_table(attacks={"hidden": A.Point(1.0)}), "attacks must have a name of their own, got 'hidden'"),
        (lambda: attack_table(attacks=[{"a": A.Point(1.0)}, {"a": A.Point(2.0)}]), "attacks must have a name of their"),
        (lambda: attack_table(attacks={}), "attacks must be at least one"),
        (
            lambda: attack_table(attacks={"mine": A.Point([1.0, 2.0])}, trials=1),
            "adversary must have one value for all",
        ),
        (
            lambda: attack_methods("sources"),
            "contamination must be one of causal, prescient, malicious, share-of-arm",
        ),
        (lambda: attack_table(attacks=[]), "attacks must be at least one"),
        (lambda: attack_table(epsilon=0.0), "epsilon must be above 0"),
        (lambda: attack_table(trials=0), "trials must be a whole number >= 1"),
    ],
)
def test_bad_input_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ba.InputError) as refused:
        make()
    assert str(refused.value).startswith(message)


# --------------------------------------------------------------------------------------------------------------- bench


def test_the_bench_tells_who_is_fooled(tmp_path: Path) -> None:
    wide, narrow = INSTANCES
    table = attack_table(["g-cbai", "se-cbai", "median-se"], ["benign", "one-sided-gross"], trials=20, workers=2)
    errors = ["error_rate", "error_low", "error_high"]
    rest = ["no_winner", "undecided", "mean_pulls", "mean_is_lower_bound", "standard_error"]
    cell = ["instance", "attack", "power", "method", "covered"]
    assert list(table.columns) == [*cell, "trials", "right", *errors, *rest]
    assert table["covered"].tolist() == [None] * 12  # their promises are of another kind
    assert table[["instance", "attack", "method"]].drop_duplicates().shape[0] == len(table) == 12
    rate = table.set_index(["instance", "attack", "method"])["error_rate"]
    assert (rate[wide, "benign"] == 0.0).all()
    for method in ("g-cbai", "se-cbai"):  # at alpha = epsilon / 2
        assert rate[wide, "one-sided-gross", method] == rate[narrow, "one-sided-gross", method] == 1.0
    assert rate[wide, "one-sided-gross", "median-se"] == 0.0
    assert rate[narrow, "one-sided-gross", "median-se"] == 1.0  # a gap of 0.2 sigma can be hidden from it
    assert (table["error_low"] <= table["error_rate"]).all()
    assert (table["error_rate"] <= table["error_high"]).all()
    exact = stats.binomtest(20, 20).proportion_ci(0.95, "exact").low
    assert table["error_low"].max() == pytest.approx(exact)
    assert (table["mean_pulls"] >= 7372).all()  # K times T
    draw_attack_table(table, tmp_path / "new" / "attack.png")
    assert (tmp_path / "new" / "attack.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_the_bench_counts_trials_that_named_nobody() -> None:
    rows: dict[str, tuple[str, dict[str, Any]]] = {"short": ("mean-se", {})}
    table = attack_table(rows, ["benign"], {"near": [0.0, 0.001]}, trials=10, max_pulls=50)
    (row,) = table.to_dict("records")
    assert (row["method"], row["undecided"], row["no_winner"], row["error_rate"]) == ("short", 1.0, 0.0, 0.0)
    assert (row["mean_pulls"], row["standard_error"]) == (50.0, 0.0)
    assert row["right"] == 0.0


@pytest.mark.slow
def test_the_bench_tells_no_winner_from_right_and_from_wrong() -> None:
    """A gap of 0.2 sigma is hidden from the certified method, and one of 1 sigma is not."""
    table = attack_table(["certified", "mean-se"], ["hidden", "one-sided-gross"], trials=20)
    shares = table[["right", "error_rate", "no_winner", "undecided"]]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(np.ones(8))
    rows = shares.set_axis(list(zip(table["instance"].str[:7], table["attack"], table["method"], strict=True)))
    assert rows.loc[[("2.5 1.5", "hidden", "certified")]].to_numpy().tolist() == [[1.0, 0.0, 0.0, 0.0]]
    assert rows.loc[[("2.5 2.3", "hidden", "certified")]].to_numpy().tolist() == [[0.0, 0.0, 1.0, 0.0]]
    assert rows.loc[[("2.5 2.3", "hidden", "mean-se")]].to_numpy().tolist() == [[0.0, 1.0, 0.0, 0.0]]


def test_the_bench_says_where_a_promise_applies() -> None:
    names = ["hidden", "white-box", "coin-on-best", "bursts", "one-arm", "quota-hidden"]
    rows = {name: row for name, row in attack_methods().items() if row[0] == "certified"}
    table = attack_table(rows, names, {"wide": [5.0, 0.0]}, trials=2, max_pulls=40)
    covered = {name: table[(table["attack"] == name) & (table["covered"] == True)]["method"].tolist() for name in names}  # noqa: E712
    by_coin = ["certified (causal)", "certified", "certified (malicious)"]
    assert covered == {
        "hidden": by_coin,
        "white-box": by_coin,
        "coin-on-best": ["certified (malicious)"],
        "bursts": [],
        "one-arm": ["certified (share-of-all)"],
        "quota-hidden": ["certified (share-of-arm)", "certified (share-of-all)"],
    }


def test_the_bench_takes_attacks_and_arms_of_ones_own(tmp_path: Path) -> None:
    mine: Any = {"low": A.Quota(A.Point(-9.0)), "function": lambda rng, arm, pulls, reward: -reward}
    table = attack_table(["certified", "mean-se"], ["benign", mine], {"mine": [ba.Uniform(2, 4), 0.5]}, trials=3)
    assert table["attack"].tolist() == ["benign"] * 2 + ["low"] * 2 + ["function"] * 2
    assert table["power"].tolist() == ["oblivious"] * 2 + ["share-of-arm"] * 2 + ["custom"] * 2
    assert table["covered"].tolist() == [True, None, False, None, True, None]
    alone = attack_table(["mean-se"], {"low": mine["low"]}, {"mine": [ba.Uniform(2, 4), 0.5]}, trials=3)
    assert alone.iloc[0].drop("covered").equals(table.iloc[3].drop("covered"))
    draw_attack_table(table, tmp_path / "attack.png")
    assert (tmp_path / "attack.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def grey(colour: Any) -> float:
    """Luminance, from 0 for black to 1 for white."""
    from matplotlib.colors import to_rgb

    return float(np.dot(to_rgb(colour), (0.299, 0.587, 0.114)))


def assert_told_apart_in_grey(looks: dict[str, tuple[Any, str]]) -> None:
    """By hatch, or with the same hatch by a fifth of the way from black to white."""
    for one, (colour, hatch) in looks.items():
        for other, (second, stripes) in looks.items():
            assert one == other or hatch != stripes or abs(grey(colour) - grey(second)) > 0.2, (one, other)


def test_no_winner_looks_unlike_never_wrong_also_in_grey() -> None:
    from matplotlib.figure import Figure

    looks, words = {}, []
    for outcome in OUTCOMES:
        panel = Figure().subplots()
        shares = dict.fromkeys(OUTCOMES, 0.0) | {outcome: 1.0}
        _draw_cell(panel, 0, 0, {**shares, "covered": False})
        bar: Any = panel.patches[0]
        looks[outcome] = (bar.get_facecolor()[:3], bar.get_hatch() or "")
        words += [text.get_text() for text in panel.texts]
        assert len(panel.lines) == 1  # nothing is promised here
    assert words == ["wrong", "no winner", "at the cap", "right"]
    assert_told_apart_in_grey(looks)
    assert looks["no_winner"][1]
    assert not looks["right"][1]


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ((0.0, 0.0, 0.0, 1.0), "right"),
        ((0.005, 0.0, 0.0, 0.995), "0.5% wrong"),
        ((0.19, 0.81, 0.0, 0.0), "19% wrong"),
        ((0.0, 0.845, 0.0, 0.155), "84.5% none"),
        ((0.0, 0.0, 0.25, 0.75), "25% at the cap"),
    ],
)
def test_a_cell_says_right_only_of_all_trials(shares: tuple[float, ...], words: str) -> None:
    from matplotlib.figure import Figure

    panel = Figure().subplots()
    _draw_cell(panel, 0, 0, {**dict(zip(OUTCOMES, shares, strict=True)), "covered": None})
    assert [text.get_text() for text in panel.texts] == [words]
    assert len(panel.lines) == 0
    bars: list[Any] = list(panel.patches)[:-1]  # the last one is the frame
    assert [bar.get_width() / 0.96 for bar in bars] == pytest.approx([share for share in shares if share])


def test_a_cell_that_was_not_run_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    drawn: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **settings: drawn.append(figure))
    table = attack_table(["mean-se", "mean-gap"], ["benign", "one-sided-gross"], {"pair": [2.0, 0.0]}, trials=5)
    draw_attack_table(table, tmp_path / "whole.png")
    draw_attack_table(table.drop(index=3), tmp_path / "part.png")
    said = [[text.get_text() for text in figure.axes[0].texts] for figure in drawn]
    assert said == [["right", "right", "wrong", "wrong"], ["right", "right", "wrong", "not run"]]
    keys = [[text.get_text() for text in figure.legends[0].get_texts()] for figure in drawn]
    assert [words.split(":")[0] for words in keys[0]] == ["wrong", "no winner (none)", "right"]
    assert keys[1] == [*keys[0], "not run"]
    assert [label.get_text() for label in drawn[0].axes[0].get_xticklabels()] == ["mean-se", "mean-gap"]


# ---------------------------------------------------------------------------------------------------------------- demo


def test_the_demo_shows_no_winner_unlike_zero_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    from bestarm.simulation import demo

    def row(adversary: str, method: str, answers: str, silent: int) -> dict[str, Any]:
        figures = {"trials": 300, "mean_pulls": 1e4, "standard_error": 10.0, "answers": answers}
        return {"adversary": adversary, "method": method, **figures, "no winner": silent / 300}

    drawn: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **settings: drawn.append(figure))
    rows = [
        *(row("mild", "certified", "0/0/0/0", 300), row("mild", "g-cbai", "300/0/0/0", 0)),
        *(row("gross", "certified", "272/0/1/1", 26), row("gross", "g-cbai", "0/299/0/1", 0)),
    ]
    demo.draw_demo(pd.DataFrame(rows), tmp_path / "demo.png")
    (figure,) = drawn
    said = [[text.get_text() for text in panel.texts] for panel in figure.axes[1::2]]
    assert said == [
        ["no winner: 300 of 300", "right: 300 of 300"],
        ["wrong: 2, no winner: 26, right: 272", "wrong: 300 of 300"],
    ]
    for panel in figure.axes:  # every bar and marker has its method beside it
        assert [label.get_text() for label in panel.get_yticklabels()] == ["certified", "g-cbai"]
    markers = [
        [line.get_marker() for line in panel.lines if str(line.get_marker()) in "XDos"] for panel in figure.axes[::2]
    ]
    assert markers == [["D", "o"], ["o", "X"]]
    bars: list[Any] = list(figure.axes[1].patches)
    assert [bool(bar.get_hatch()) for bar in bars] == [True, False]
    keys = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [words for words in keys if words] == [
        *("mostly wrong", "wrong: named a wrong arm", "mostly no winner", "no winner: stopped and named none"),
        *("mostly right", "right: named the best arm", "delta: 10% wrong accepted"),
    ]


def test_outcomes_look_the_same_in_the_demo_and_in_the_bench() -> None:
    from bestarm.simulation import demo

    assert [look[1:3] for look in demo.OUTCOMES.values()] == [look[1:3] for look in OUTCOMES.values()]
    assert_told_apart_in_grey({name: (colour, hatch) for name, (_, colour, hatch, _) in demo.OUTCOMES.items()})


def test_the_bench_is_the_same_for_any_number_of_threads() -> None:
    runs = [
        attack_table(["mean-se"], ["coin-on-best", "boiling-frog"], trials=60, workers=workers) for workers in (1, 2)
    ]
    assert runs[0].equals(runs[1])


def test_every_method_has_a_row() -> None:
    rows = attack_methods()
    assert {method for method, _ in rows.values()} == set(ba.METHODS)
    kinds = ["causal", "prescient", "malicious", "share-of-arm", "share-of-all"]
    assert [options for _, options in rows.values() if options] == [{"contamination": kind} for kind in kinds]
    told = {name: row for name, row in attack_methods("malicious").items() if row[0] == "certified"}
    assert told == {"certified (malicious)": rows["certified (malicious)"]}


def test_the_command_writes_rows_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bestarm.cli.attack import attack
    from bestarm.cli.output import Format

    attack(5, methods="mean-se, mean-gap", attacks="one-sided-gross", workers=1, out=tmp_path, form=Format.json)
    printed = capsys.readouterr()
    rows = json.loads(printed.out)
    assert [(row["method"], row["error_rate"]) for row in rows] == [("mean-se", 1.0), ("mean-gap", 1.0)] * 2
    assert printed.err.splitlines()[-1] == f"picture: {tmp_path / 'attack.png'}"
    assert (tmp_path / "attack.png").exists()
    attack(2, means="9,0", contamination="malicious", methods="certified (malicious)", attacks="hidden", out=tmp_path)
    assert capsys.readouterr().out.splitlines()[2].split()[:6] == [
        "9,0",
        *["hidden", "oblivious", "certified", "(malicious)", "True"],
    ]
    with pytest.raises(ba.InputError, match=r"^methods must be one of certified \(malicious\), g-cbai"):
        attack(2, contamination="malicious", methods="certified", out=tmp_path)
