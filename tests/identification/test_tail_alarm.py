"""The tail alarm: it rings for rewards too far from the rest, and on honest data as rarely as is said."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import bestarm as ba
from bestarm.identification.tail_alarm import DISTANCES, SHARE_OF_DELTA, Tails, log_chances
from bestarm.problem import pose
from command_line import bestarm

Array = NDArray[np.float64]
KINDS = ["prescient", "malicious", "share-of-arm", "share-of-all"]
TIMES = (4, 16, 64, 256)  # rewards of each arm at which the alarm is looked for


def revenue(rows: int, buyers: float, seed: int) -> Array:
    """Nothing from most visitors, a skewed amount from buyers, and 1,012 once."""
    rng = np.random.default_rng([22, seed])
    spent = np.where(rng.random(rows) < buyers, rng.lognormal(3.3, 0.6, rows), 0.0).round(2)
    spent[rows // 2] = 1012.0
    return spent


def shop(rows: int = 4000) -> pd.DataFrame:
    arms = {"srv1": revenue(rows, 0.12, 1), "srv2": revenue(rows, 0.14, 2)}
    log = pd.DataFrame([(name, spent) for name, values in arms.items() for spent in values], columns=["arm", "reward"])
    return log.assign(source=[f"visitor {row}" for row in range(len(log))])


# ---------------------------------------------------------------------------------------------------- what must ring


@pytest.mark.parametrize("sigma", [27.0, 5.0])
@pytest.mark.parametrize("kind", [*KINDS, "sources"])
def test_revenue_with_a_purchase_of_1012_is_not_of_so_small_a_sigma(kind: str, sigma: float) -> None:
    """Without this alarm sigma = 27 gave intervals and a claim; rows in another order say the same."""
    log = shop()
    result, shuffled = (
        ba.identify_log(
            rows, arm="arm", reward="reward", source="source", epsilon=0.0, sigma=sigma, contamination=kind, delta=0.05
        )
        for rows in (log, log.sample(frac=1.0, random_state=4))
    )
    assert len(result.alarms) == 2
    assert result.alarms == shuffled.alarms
    assert "no probability is claimed" in str(result)
    if sigma == 27.0:
        assert result.alarms[1] == (
            "one reward of 'srv2', 1,012, lies 37 sigma from the rest; with sigma = 27 and epsilon = 0 that does not "
            "happen: one of the two is too small"
        )


@pytest.mark.parametrize(("epsilon", "sigma"), [(0.02, 15.0), (0.025, 10.0), (0.03, 8.0)])
def test_rare_large_purchases_are_not_taken_for_fakes_in_silence(epsilon: float, sigma: float) -> None:
    """A mean of 6 from many small purchases against 9 from few large ones, which a small sigma would discount."""
    rng = np.random.default_rng(1)
    arms = {"cheap": (0.30, 20.0), "premium": (0.06, 150.0)}
    spent = {name: np.where(rng.random(5000) < p, rng.gamma(2.0, m / 2.0, 5000), 0.0) for name, (p, m) in arms.items()}
    log = pd.DataFrame(
        [(name, one) for name, all_of_it in spent.items() for one in all_of_it], columns=["arm", "reward"]
    )
    result = ba.identify_log(log, epsilon=epsilon, sigma=sigma)
    assert result.alarms
    assert result.p_value is None


@pytest.mark.slow
def test_fakes_that_are_counted_together_ring_no_more_often_than_is_said() -> None:
    """Three normal arms at just sigma, and all fakes that epsilon allows for, far out on any of them."""
    rang = 0
    for seed in range(150):
        rng = np.random.default_rng([23, seed])
        rewards = rng.normal(np.repeat([0.0, 1.0, 2.0], 400), 1.0)
        fakes = rng.choice(1200, 24, replace=False)
        rewards[fakes] += rng.choice([-1.0, 1.0], 24) * rng.choice([3.0, 5.0, 50.0], 24)
        log = pd.DataFrame({"arm": np.repeat(["A", "B", "C"], 400), "reward": rewards})
        rang += bool(ba.identify_log(log, epsilon=0.02, sigma=1.0, delta=0.2).alarms)
    assert binom.sf(rang - 1, 150, 1.1 * 0.2) > 1e-3
    assert rang <= 3  # by far, as it should be


def test_what_is_far_may_be_fake_where_epsilon_allows_for_it() -> None:
    """Two of 8,000 rewards are far: a share of 0.0002 of all, 1, leaves one on each arm at least; 0.0005, 4, none."""
    log = shop()
    ask: dict[str, Any] = {"arm": "arm", "reward": "reward", "sigma": 100.0}
    assert len(ba.identify_log(log, epsilon=0.0, **ask).alarms) == 2
    assert ba.identify_log(log, epsilon=0.0005, **ask).alarms == ()
    far = log.assign(reward=log.reward.where(log.reward < 1000.0, log.reward + 5000.0))
    far.loc[far.index[:2], "reward"] = 6012.0
    assert len(ba.identify_log(far, epsilon=0.0002, **ask).alarms) == 1  # three on 'srv1', one of them fake


@pytest.mark.parametrize("way", ["at once", "in order"])
def test_the_command_claims_nothing_then(way: str, tmp_path: Path) -> None:
    shop().to_csv(tmp_path / "shop.csv", index=False)
    order = ("--sequential",) if way == "in order" else ()
    question = (
        "identify",
        tmp_path / "shop.csv",
        "--epsilon",
        "0",
        "--sigma",
        "27",
        "--arm",
        "arm",
        "--reward",
        "reward",
    )
    done = bestarm(*question, *order, "--format", "json")
    found = json.loads(done.stdout)
    assert [alarm.startswith("one reward of 'srv") for alarm in found["alarms"]] == [True, True]
    assert done.returncode == (3 if found["best"] is None else 4)


@pytest.mark.parametrize("number", [2, 10, 500])
@pytest.mark.parametrize("contamination", [*KINDS, "sources"])
def test_one_reward_37_sigma_away_is_a_proof_at_epsilon_0(contamination: str, number: int) -> None:
    rewards = np.random.default_rng(23).normal([0.0, 0.01], size=(number, 2))
    rewards[number // 2, 1] = 37.0
    finder = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.0, sigma=1.0, contamination=contamination)
    sources = list(range(2 * number)) if contamination == "sources" else None
    finder.tell_many(["A", "B"] * (number // 2), rewards[: number // 2].ravel(), sources and sources[:number])
    assert finder.result.alarms == ()
    finder.tell_many(["A", "B"], rewards[number // 2], sources and sources[number : number + 2])
    if not finder.done:
        (said,) = finder._engine.read().alarms
        assert "'B'" in said
    else:
        assert finder.result.alarms  # what decided is what is far


def test_a_study_rings_too(tmp_path: Path) -> None:
    study = ba.Study(f"sqlite:///{tmp_path}/run.db", "shop", arms=["A", "B"], delta=0.05, epsilon=0.0, sigma=1.0)
    for reward in (0.0, 0.1, 0.2, 37.0):
        for pull in study.ask_pulls(2):
            study.tell(pull, 0.0 if pull.arm == "A" else reward)
    (said,) = study.result.alarms
    assert said.startswith("one reward of 'B', 37, lies 37 sigma from the rest")


def test_a_batch_rings_what_single_rewards_ring() -> None:
    """The decision is made of the rewards before it, so that a far one later in the same batch is no part of it."""
    rewards = np.column_stack([np.full(200, 3.0), np.zeros(200)])
    rewards[150] = 80.0
    finder = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.0, sigma=1.0)
    finder.tell_many(["A", "B"] * 200, rewards.ravel())
    assert (finder.result.best, finder.result.alarms) == ("A", ())


def test_rewards_with_bounds_have_no_tail() -> None:
    log = shop()
    result = ba.identify_log(log, arm="arm", reward="reward", epsilon=0.0, bounds=(0.0, 1012.0))
    assert result.alarms == ()


# ----------------------------------------------------------------------------------------------- how rarely it rings


@pytest.mark.parametrize("counted", [False, True])
def test_no_mean_has_fewer_rewards_beyond_any_distance(counted: bool) -> None:
    """At each mean of a grid, the rewards beyond each distance are at least those of one cell, or of elsewhere."""
    rng = np.random.default_rng(24)
    for _ in range(60):
        values = np.unique(np.round(rng.standard_t(1.5, size=int(rng.integers(1, 60))) * 3.0, 1))
        counts = rng.integers(1, 9, values.size).astype(float) if counted else np.ones(values.size)
        least = Tails(values, counts).outside
        for mean in np.arange(values[0] - 50.0, values[-1] + 50.0, 0.3):
            beyond = (np.abs(values - mean)[:, None] > DISTANCES + 1e-9).T @ counts
            assert (least <= beyond).all(axis=1).any()


@pytest.mark.parametrize("kind", ["prescient", "malicious", "share-of-arm"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_the_mean_of_the_evidence_is_at_most_1_at_the_largest_chance(kind: str, epsilon: float) -> None:
    """Exactly, over all numbers of far rewards, for each distance; chances down to 10^-347 by decimals."""
    total = 14
    scattered = [
        Tails(np.sort(np.concatenate([np.zeros(total - far), 1e4 * np.arange(1, far + 1)]))) for far in range(total + 1)
    ]
    for place, distance in enumerate(DISTANCES):
        clean = 2 * (-(Decimal(str(distance)) ** 2) / 2).exp()
        by_coin = {"prescient": Decimal(str(epsilon)) * (1 - clean), "malicious": Decimal(str(epsilon))}.get(kind, 0)
        chance = clean + by_coin
        assert float(chance.ln()) == pytest.approx(log_chances(kind, epsilon)[place], rel=1e-9)
        mean = Decimal(0)
        for far, tails in enumerate(scattered):
            evidence = Decimal(float(tails.log_evidence(kind, epsilon, 0.0)[:, place].min())).exp()
            mean += math.comb(total, far) * chance**far * (1 - chance) ** (total - far) * evidence
        assert mean < Decimal("1.000000001")


def edge_chance(far: float) -> float:
    """Return the largest r with which -far and far, with probability r each, and 0 are 1-sub-Gaussian."""
    k = np.linspace(0.01, 3.0 * far, 20_000)
    return float(np.min(np.expm1(0.5 * k**2) / (2.0 * np.cosh(k * far) - 2.0)))


def honest(rng: np.random.Generator, law: str) -> Array:
    shape = (2, TIMES[-1])
    if law == "gaussian":
        return rng.normal(size=shape)
    far = 3.001
    r = edge_chance(far)  # nearly as often beyond 3 sigma as any sub-Gaussian law can be
    return rng.choice([-far, 0.0, far], size=shape, p=[r, 1.0 - 2.0 * r, r])


def faked(rng: np.random.Generator, kind: str, rewards: Array, epsilon: float) -> Array:
    """Replace what the kind allows for, all of it by far values on either side, and of near rewards where it may."""
    if kind == "prescient":
        hit = rng.random(rewards.shape) < epsilon
    elif kind == "malicious":  # the coin spares what is far already
        near = np.abs(rewards) < 3.0
        hit = near & (rng.random(rewards.shape) < epsilon / near.mean())
    else:
        hit = np.zeros(rewards.shape, bool)
        hit[:, 19::20] = True  # floor(n / 20) of the first n
    return np.where(hit, rng.choice([-1000.0, 1000.0], size=rewards.shape), rewards)


def ringing(kind: str, law: str, epsilon: float, told: float, trials: int) -> int:
    """Return in how many trials the alarm rings at any look, at delta = 0.9, for rewards with epsilon of them fake."""
    problem = pose(2, delta=0.9, epsilon=told, sigma=1.0)
    count = 0
    for seed in range(trials):
        rng = np.random.default_rng([25, seed])
        rewards = faked(rng, kind, honest(rng, law), epsilon) if epsilon else honest(rng, law)
        rung = False
        for time in TIMES:
            fakes = (
                0.0
                if kind in ("prescient", "malicious")
                else math.floor(max(time, 1 / told) * told + 1e-9) * (2.0 if kind == "share-of-all" else 1.0)
            )
            rung = rung or any(Tails(np.sort(tape[:time])).far(problem, kind, fakes) for tape in rewards)
        count += rung
    return count


@pytest.mark.slow
@pytest.mark.parametrize("law", ["gaussian", "edge"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_false_tail_alarm_is_as_rare_as_is_said(kind: str, law: str) -> None:
    """200 trials, seeds [25, 0 ... 199], delta = 0.9, four looks each: at most a tenth of delta."""
    count = ringing(kind, law, 0.05, 0.05, 200)
    assert binom.sf(count - 1, 200, SHARE_OF_DELTA * 0.9) >= 1e-3


def test_a_false_tail_alarm_is_as_rare_without_fakes_and_rings_for_more_than_was_told() -> None:
    assert binom.sf(ringing("prescient", "edge", 0.0, 1e-9, 100) - 1, 100, SHARE_OF_DELTA * 0.9) >= 1e-3
    assert ringing("prescient", "edge", 0.15, 0.05, 40) > 20
