"""Which rewards an adversary replaces: counts at every pull, coins by their exact law, and streams bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import bestarm as ba
from bestarm.bandits import ATTACKS, attacks
from bestarm.bandits.adversaries import as_adversary
from bestarm.kernels.jit.compile import entry_kernel
from bestarm.kernels.rewards.draws import Laws, forget, pull
from bestarm.simulation import trial_seeds

A = ba.adversaries
FAKE = 1e6  # far from all clean rewards: it marks those that were replaced
MOVED = 1000.0  # a shift that marks them and lets the true reward be seen
RARE = 1e-4  # a test by chance fails if what it saw is rarer; the seeds are fixed
RATES = ["0.01", "0.07", "0.1", "0.29", "0.49"]  # as texts, whose fractions are exact: 0.29 * 100 < 29 in floats
FIVE: Any = 5.0


@entry_kernel
def fill(laws: Laws, rng: np.random.Generator, order: NDArray[np.int64], told: Any, out: NDArray[np.float64]) -> None:
    for t in range(order.size):
        out[t] = pull(laws, rng, order[t], told[order[t]], t)
        told[order[t]] += 1


@entry_kernel
def start_anew(laws: Laws) -> None:
    forget(laws)


def compiled(bandit: ba.Bandit, order: NDArray[np.int64], seed: int = 3) -> NDArray[np.float64]:
    """Rewards of the arms in an order of pulls, as simulation draws them."""
    out = np.empty(order.size)
    fill(bandit.laws(), np.random.default_rng(seed), order, np.zeros(len(bandit.arms), np.int64), out)
    return out


def streamed(bandit: ba.Bandit, order: NDArray[np.int64], seed: int = 3) -> NDArray[np.float64]:
    stream = bandit.stream(seed)
    return np.array([stream.pull(arm) for arm in order.tolist()])


def mixed_order(pulls: int, shares: tuple[float, ...] = (0.6, 0.3, 0.1), seed: int = 1) -> NDArray[np.int64]:
    return np.random.default_rng(seed).choice(len(shares), size=pulls, p=shares)


def three(adversary: Any, epsilon: float) -> ba.Bandit:
    return ba.Bandit([ba.Gaussian(2.0, 1.5), ba.Uniform(0.0, 1.0), ba.Bernoulli(0.3)], epsilon, adversary)


def allowed(epsilon: str, counts: int) -> NDArray[np.int64]:
    """Return floor(epsilon n) for n = 1, ..., counts, in exact arithmetic."""
    return np.array([floor(Fraction(epsilon) * n) for n in range(1, counts + 1)])


# --------------------------------------------------------------------------------------------------------------- quota


@pytest.mark.parametrize("epsilon", RATES)
def test_a_spread_quota_is_used_up_at_every_pull_and_never_exceeded(epsilon: str) -> None:
    order = mixed_order(6000)
    rewards = compiled(three(A.Quota(A.Point(FAKE)), float(epsilon)), order)
    for arm in range(3):
        fakes = np.cumsum(rewards[order == arm] == FAKE)
        assert fakes.tolist() == allowed(epsilon, fakes.size).tolist()


@pytest.mark.parametrize("pick", ["random", "top", "bottom"])
@pytest.mark.parametrize("epsilon", RATES)
def test_no_pick_exceeds_the_quota_at_any_pull(pick: str, epsilon: str) -> None:
    order = mixed_order(6000)
    used_up = [0, 0, 0]
    for seed in range(5):
        rewards = compiled(three(A.Quota(A.Point(FAKE), pick), float(epsilon)), order, seed)
        for arm in range(3):
            fakes = np.cumsum(rewards[order == arm] == FAKE)
            quota = allowed(epsilon, fakes.size)
            assert (fakes <= quota).all()
            used_up[arm] += bool((fakes == quota)[quota > 0].any())
    assert min(used_up) >= 1


@pytest.mark.parametrize("epsilon", ["0.02", "0.1", "0.3"])
def test_random_picks_stay_near_the_quota_and_are_not_periodic(epsilon: str) -> None:
    pulls = 100_000
    order = np.zeros(pulls, np.int64)
    rewards = compiled(three(A.Quota(A.Shift(MOVED), "random"), float(epsilon)), order)
    hit = rewards > MOVED / 2.0
    left = allowed(epsilon, pulls) - np.cumsum(hit)
    assert left.max() <= 20
    assert 0.3 < left.mean() < 1.5
    gaps = np.diff(np.flatnonzero(hit))
    assert gaps.std() > 0.5 * gaps.mean()  # of a coin: 1; of spread hits: almost 0
    tossed = hit[1:][left[:-1] + np.diff(allowed(epsilon, pulls)) > 0]  # wherever the quota allows one more
    assert stats.binomtest(int(tossed.sum()), tossed.size, 1.5 * float(epsilon)).pvalue > RARE
    true = rewards - np.where(hit, MOVED, 0.0)
    assert stats.kstest(true[hit], stats.norm(2.0, 1.5).cdf).pvalue > RARE  # the coin did not look


@pytest.mark.parametrize(("pick", "side"), [("top", 1.0), ("bottom", -1.0)])
def test_choosing_picks_take_what_lies_beyond_the_quantile_while_the_quota_allows(pick: str, side: float) -> None:
    rewards = compiled(three(A.Quota(A.Shift(MOVED), pick), 0.2), np.zeros(20_000, np.int64))
    hit = rewards > MOVED / 2.0
    true = rewards - np.where(hit, MOVED, 0.0)
    beyond = side * (true - stats.norm(2.0, 1.5).ppf(0.5 + side * 0.3)) > 0.0
    fakes = 0
    for n, (wanted, taken) in enumerate(zip(beyond.tolist(), hit.tolist(), strict=True), start=1):
        assert taken == (wanted and fakes + 1 <= floor(Fraction("0.2") * n))
        fakes += taken
    assert 0.93 * 4000 < fakes < 4000
    assert stats.kstest(true, stats.norm(2.0, 1.5).cdf).pvalue > RARE  # all true rewards are there


def test_a_choosing_pick_of_a_two_valued_arm_takes_a_part_of_the_ones() -> None:
    rewards = compiled(three(A.Quota(A.Point(FAKE), "top"), 0.1), np.full(20_000, 2, np.int64))
    fakes = int((rewards == FAKE).sum())
    assert 0.93 * 2000 < fakes <= 2000
    assert stats.binomtest(int((rewards == 0.0).sum()), 20_000, 0.7).pvalue > RARE  # of which none was replaced
    assert (rewards == 1.0).sum() + fakes + (rewards == 0.0).sum() == 20_000


def test_each_arm_may_have_a_pick_of_its_own() -> None:
    order = mixed_order(6000)
    rewards = compiled(three(A.Quota(A.Shift(MOVED), ["spread", "bottom", "random"]), 0.1), order)
    hits = [rewards[order == arm] > MOVED / 2.0 for arm in range(3)]
    assert np.cumsum(hits[0]).tolist() == allowed("0.1", hits[0].size).tolist()
    assert (rewards[order == 1][hits[1]] < MOVED + 0.1).all()
    gaps = np.diff(np.flatnonzero(hits[2]))
    assert (hits[1].sum() > 100, hits[2].sum() > 40, gaps.std() > 3.0) == (True, True, True)


# -------------------------------------------------------------------------------------------------------------- bursts


def test_bursts_replace_blocks_as_a_whole_at_the_rate_epsilon() -> None:
    length, epsilon = 20, 0.1
    order = mixed_order(200_000, (0.5, 0.3, 0.2))
    rewards = compiled(three(A.Bursts(A.Point(FAKE), length), epsilon), order)
    blocks: list[NDArray[np.bool_]] = []
    for arm in range(3):
        hit = rewards[order == arm] == FAKE
        grid = hit[: hit.size // length * length].reshape(-1, length)
        assert (grid == grid[:, :1]).all()  # within a block, rewards share their fate: correlation 1
        rest = hit[grid.size :]
        assert rest.size == 0 or (rest == rest[0]).all()
        blocks.append(grid[:, 0])
        pairs = blocks[-1][: blocks[-1].size // 2 * 2].reshape(-1, 2)
        both = int(pairs.all(axis=1).sum())
        assert stats.binomtest(both, len(pairs), epsilon**2).pvalue > RARE  # from block to block, coins are independent
    coins = np.concatenate(blocks)
    assert stats.binomtest(int(coins.sum()), coins.size, epsilon).pvalue > RARE
    shortest = min(block.size for block in blocks)
    together = int((blocks[0][:shortest] & blocks[1][:shortest]).sum())
    assert stats.binomtest(together, shortest, epsilon**2).pvalue > RARE  # and from arm to arm


def test_every_reward_of_a_burst_is_replaced_with_probability_epsilon_from_the_first_on() -> None:
    bandit, order = three(A.Bursts(A.Point(FAKE), 7), 0.2), np.zeros(18, np.int64)
    hit = np.array([compiled(bandit, order, seed) == FAKE for seed in range(3000)])
    for place in (0, 6, 7, 13, 14, 17):
        assert stats.binomtest(int(hit[:, place].sum()), 3000, 0.2).pvalue > RARE
    assert np.corrcoef(hit[:, 0], hit[:, 6])[0, 1] == pytest.approx(1.0)
    assert abs(np.corrcoef(hit[:, 6], hit[:, 7])[0, 1]) < 0.1


# ------------------------------------------------------------------------------------------------------------- one arm


@pytest.mark.parametrize("arm", range(3))
@pytest.mark.parametrize("epsilon", RATES)
def test_one_arm_gets_what_the_share_of_all_rewards_allows(epsilon: str, arm: int) -> None:
    order = mixed_order(6000)
    rewards = compiled(three(A.OneArm(A.Point(FAKE), arm), float(epsilon)), order)
    fakes = 0
    for total, (pulled, reward) in enumerate(zip(order.tolist(), rewards.tolist(), strict=True), start=1):
        expected = pulled == arm and fakes + 1 <= floor(Fraction(epsilon) * total)
        assert (reward == FAKE) == expected
        fakes += expected
    share = float((order == arm).mean())
    if share > 1.1 * float(epsilon):  # else it is pulled too seldom to take them all
        assert fakes >= floor(Fraction(epsilon) * 6000) - 20
    else:
        assert fakes >= 0.9 * (order == arm).sum()


def test_the_share_of_all_may_be_all_rewards_of_an_arm() -> None:
    """After 900 pulls of another, up to 100 in a row are fakes, as 0.1 of all rewards then allow."""
    order = np.repeat([0, 1], [900, 110])
    rewards = compiled(three(A.OneArm(A.Point(FAKE), 1), 0.1), order)
    assert (rewards[900:] == FAKE).tolist() == [True] * 100 + [False] * 9 + [True]  # 1,000 -> 100, 1,010 -> 101


# ------------------------------------------------------------------------------------------------------ the same stream


def literal(order: NDArray[np.int64], seed: int, hit: Callable[[np.random.Generator, int, float], bool]) -> list[float]:
    """Rewards of `three` with fakes, by NumPy's generator: a coin that is overruled, the true reward, then the hit."""
    rng = np.random.default_rng(seed)
    found = []
    for arm in order.tolist():
        rng.random()
        if arm == 0:
            true = 2.0 + 1.5 * rng.standard_normal()
        else:
            true = rng.random() if arm == 1 else float(rng.random() < 0.3)
        found.append(FAKE if hit(rng, arm, true) else true)
    return found


class Counts:
    """A literal twin of a rule: it is asked once a pull."""

    def __init__(self, decide: Callable[[Any, np.random.Generator, int, float], bool]) -> None:
        self.decide = decide
        self.told, self.fakes, self.block = [0, 0, 0], [0, 0, 0], [False] * 3

    def __call__(self, rng: np.random.Generator, arm: int, true: float) -> bool:
        hit = self.decide(self, rng, arm, true)
        self.told[arm] += 1
        self.fakes[arm] += hit
        return hit

    def within(self, arm: int) -> bool:
        return self.fakes[arm] + 1 <= floor(Fraction("0.15") * (self.told[arm] + 1))


def _block(self: Counts, rng: np.random.Generator, arm: int, true: float) -> bool:
    if self.told[arm] % 10 == 0:
        self.block[arm] = rng.random() < 0.15
    return self.block[arm]


def _top(self: Counts, rng: np.random.Generator, arm: int, true: float) -> bool:
    if not self.within(arm):
        return False
    if arm == 2:  # the cut of a two-valued law is at 1, where it takes a half of 0.3
        return true == 1.0 and bool(rng.random() < 0.15 / 0.3)
    return bool(true > (stats.norm(2.0, 1.5).isf(0.15) if arm == 0 else 0.85))


def _of_all(self: Counts, rng: np.random.Generator, arm: int, true: float) -> bool:
    return arm == 1 and self.fakes[1] + 1 <= floor(Fraction("0.15") * (sum(self.told) + 1))


RULES: dict[str, tuple[Any, Callable[[Any, np.random.Generator, int, float], bool]]] = {
    "spread": (A.Quota(A.Point(FAKE)), lambda self, rng, arm, true: self.within(arm)),
    "random": (
        A.Quota(A.Point(FAKE), "random"),
        lambda self, rng, arm, true: self.within(arm) and rng.random() < 1.5 * 0.15,
    ),
    "top": (A.Quota(A.Point(FAKE), "top"), _top),
    "bursts": (A.Bursts(A.Point(FAKE), 10), _block),
    "one arm": (A.OneArm(A.Point(FAKE), 1), _of_all),
}


@pytest.mark.parametrize("rule", RULES)
def test_compiled_and_python_streams_are_those_of_a_literal_twin(rule: str) -> None:
    adversary, decide = RULES[rule]
    order = mixed_order(3000, (0.4, 0.3, 0.3))
    bandit = three(adversary, 0.15)
    for seed in (1, 2):
        expected = literal(order, seed, Counts(decide))
        assert FAKE in expected
        assert compiled(bandit, order, seed).tolist() == expected
        assert streamed(bandit, order, seed).tolist() == expected


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("values", ["extreme", "schedule", "uniform", "impersonate", "two points"])
def test_every_rule_takes_every_kind_of_value(rule: str, values: str) -> None:
    """The rule decides who is hit and the values what comes: compiled and streamed alike."""
    source: Any = {
        "extreme": A.Extreme([1.0, -1.0, 1.0]),
        "schedule": A.Schedule([(0, A.Point(FAKE)), (500, A.Shift(MOVED))], by="arm"),
        "uniform": A.Uniform(FAKE, 3.0),
        "impersonate": A.Impersonate([2, 0, 1]),
        "two points": A.TwoPoints(FAKE, -FAKE, 0.25),
    }[values]
    wrapped = {
        "spread": A.Quota(source),
        "random": A.Quota(source, "random"),
        "top": A.Quota(source, "top"),
        "bursts": A.Bursts(source, 10),
        "one arm": A.OneArm(source, 1),
    }[rule]
    assert wrapped.hits == RULES[rule][0].hits
    assert wrapped.contaminations == RULES[rule][0].contaminations
    order = mixed_order(3000, (0.4, 0.3, 0.3))
    bandit = three(wrapped, 0.15)
    rewards = compiled(bandit, order, 5)
    assert streamed(bandit, order, 5).tolist() == rewards.tolist()
    if values in ("extreme", "impersonate"):
        return
    hit = abs(rewards) > MOVED / 2.0
    told = [np.cumsum(order == arm) for arm in range(3)]
    if rule == "spread":
        for arm in range(3):
            fakes = np.cumsum(hit[order == arm])
            assert fakes.tolist() == allowed("0.15", fakes.size).tolist()
    if values == "schedule":
        late = np.choose(order, told) > 500
        assert set(rewards[hit & ~late].tolist()) == {FAKE}
        assert rewards[hit & late].max() < 2.0 * MOVED
    elif values == "two points":
        assert stats.binomtest(int((rewards == FAKE).sum()), int(hit.sum()), 0.25).pvalue > RARE
        assert set(rewards[hit].tolist()) == {FAKE, -FAKE}
    else:
        assert (abs(rewards[hit] - FAKE) <= 3.0).all()


@pytest.mark.parametrize("name", ["bursts", "one-arm", "quota-hidden", "quota-gross", "quota-uniform"])
def test_what_was_hit_is_forgotten_with_the_trial(name: str) -> None:
    """Every one of many trials, in one thread or two, is that of a stream that begins anew."""
    arms = [ba.Gaussian(1.0), ba.Gaussian(0.0)]
    bandit = ba.Bandit(arms, 0.1, ATTACKS[name][1](arms, 0.1))
    one = ba.simulate(bandit, "mean-se", delta=0.1, trials=20, seed=4)
    two = ba.simulate(bandit, "mean-se", delta=0.1, trials=20, seed=4, workers=2, chunk=4)
    assert one.pulls.tolist() == two.pulls.tolist()
    assert len(set(one.pulls.tolist())) > 5  # so that equal numbers mean equal rewards
    for trial, seed in enumerate(trial_seeds(4, 20)):
        finder = ba.Identifier(2, delta=0.1, epsilon=0.1, sigma=1.0, method="mean-se")
        stream = bandit.stream(seed)
        while not finder.done:
            (arm,) = finder.ask(1)
            finder.tell(arm, stream.pull(int(str(arm))))
        assert (finder.result.pulls, finder.result.best) == (one.pulls[trial], one.answers[trial])


@pytest.mark.parametrize("rule", ["spread", "one arm", "extreme"])
def test_to_forget_is_to_begin_anew(rule: str) -> None:
    bandit, order = three(RULES[rule][0] if rule in RULES else A.Quota(A.Extreme(1.0)), 0.15), mixed_order(500)
    laws, out = bandit.laws(), np.empty((2, order.size))
    for trial in (0, 1):
        fill(laws, np.random.default_rng(3), order, np.zeros(3, np.int64), out[trial])
    assert out[0].tolist() == compiled(bandit, order).tolist()
    assert out[1].tolist() != out[0].tolist()
    start_anew(laws)
    fill(laws, np.random.default_rng(3), order, np.zeros(3, np.int64), out[1])
    assert out[1].tolist() == out[0].tolist()


def test_two_streams_of_a_bandit_do_not_share_what_they_remember() -> None:
    bandit = three(A.Quota(A.Point(FAKE)), 0.1)
    one, two = bandit.stream(1), bandit.stream(1)
    rewards = [(one.pull(0), two.pull(0)) for _ in range(100)]
    assert [first for first, _ in rewards] == [second for _, second in rewards]
    assert sum(first == FAKE for first, _ in rewards) == 10


def test_an_arm_that_is_a_function_is_hit_by_the_same_rules() -> None:
    given: list[float] = []

    def draw(rng: np.random.Generator) -> float:
        given.append(rng.random())
        return given[-1]

    order = mixed_order(2000, (0.7, 0.3))
    rules: dict[str, Any] = {
        "spread": A.Quota(A.Shift(MOVED)),
        "bursts": A.Bursts(A.Shift(MOVED), 10),
        "one arm": A.OneArm(A.Shift(MOVED), 0),
    }
    for rule, adversary in rules.items():
        given.clear()
        rewards = streamed(ba.Bandit([draw, ba.Uniform(0.0, 1.0)], 0.1, adversary), order)
        hit = rewards > MOVED / 2.0
        own = rewards[order == 0] - np.where(hit[order == 0], MOVED, 0.0)
        assert own == pytest.approx(given, abs=1e-9)  # one true reward a pull, moved if hit
        if rule == "spread":
            assert [int(hit[order == arm].sum()) for arm in (0, 1)] == [(order == arm).sum() // 10 for arm in (0, 1)]
        elif rule == "one arm":
            assert (int(hit.sum()), int(hit[order == 1].sum())) == (200, 0)
        else:
            blocks = hit[order == 0][:1300].reshape(130, 10)
            assert (blocks == blocks[:, :1]).all()
            assert stats.binomtest(int(blocks[:, 0].sum()), len(blocks), 0.1).pvalue > RARE


@pytest.mark.parametrize("rule", RULES)
def test_nothing_is_hit_at_epsilon_zero(rule: str) -> None:
    order = mixed_order(1000)
    assert compiled(three(RULES[rule][0], 0.0), order).tolist() == compiled(three(None, 0.0), order).tolist()


# ----------------------------------------------------------------------------------------------------------- two points


def test_two_points_come_with_their_shares() -> None:
    bandit = three(A.TwoPoints([FAKE, 2.0 * FAKE, 0.5], [-FAKE, -2.0 * FAKE, 0.5], 0.9), 0.3)
    for arm, size in ((0, FAKE), (1, 2.0 * FAKE)):
        rewards = compiled(bandit, np.full(20_000, arm))
        up, down = int((rewards == size).sum()), int((rewards == -size).sum())
        assert stats.binomtest(up, 20_000, 0.27).pvalue > RARE
        assert stats.binomtest(down, 20_000, 0.03).pvalue > RARE
    for share, value in ((0.0, -FAKE), (1.0, FAKE)):
        rewards = compiled(three(A.TwoPoints(FAKE, -FAKE, share), 0.3), np.zeros(500, np.int64))
        assert set(rewards[abs(rewards) == FAKE].tolist()) == {value}


# ---------------------------------------------------------------------------------------------- kinds of contamination

COIN = ("causal", "prescient", "malicious")


@pytest.mark.parametrize(
    ("adversary", "power", "kinds"),
    [
        (A.Point(1.0), "oblivious", COIN),
        (A.TwoPoints(1.0, -1.0), "oblivious", COIN),
        (A.Reflect(1.0), "causal", COIN),
        (A.WhiteBox(1.0, 0.0), "causal", COIN),
        (A.Extreme(1.0), "prescient", COIN[1:]),
        (A.Schedule([(0, A.Point(1.0)), (9, A.Shift(1.0))]), "causal", COIN),
        (A.Schedule([(0, A.Shift(1.0)), (9, A.Extreme(1.0))]), "prescient", COIN[1:]),
        (A.Selective(A.Point(1.0), "fair"), "oblivious", COIN),
        (A.Selective(A.Point(1.0), ["fair", "top"]), "malicious", ("malicious",)),
        (A.Schedule([(0, A.Point(1.0)), (9, A.Selective(A.Point(1.0)))]), "malicious", ("malicious",)),
        (A.Quota(A.Point(1.0)), "share-of-arm", ("share-of-arm", "share-of-all")),
        (A.Quota(A.Extreme(1.0), "top"), "share-of-arm", ("share-of-arm", "share-of-all")),
        (A.OneArm(A.Point(1.0), 0), "share-of-all", ("share-of-all",)),
        (A.Bursts(A.Point(1.0)), "bursts", ()),
    ],
    ids=str,
)
def test_an_adversary_knows_its_kinds_of_contamination(adversary: Any, power: str, kinds: tuple[str, ...]) -> None:
    assert (adversary.power, adversary.contaminations) == (power, kinds)


def test_a_function_has_the_kinds_of_a_fair_coin() -> None:
    custom = as_adversary(lambda rng, arm, pulls, clean: 0.0)
    assert custom is not None
    assert custom.contaminations == COIN


WIDE = [ba.Gaussian(mean) for mean in (1.5, 2.5, 1.0)]
KINDS = {
    "extremes": COIN[1:],
    "coin-on-best": ("malicious",),
    "bursts": (),
    "one-arm": ("share-of-all",),
    **dict.fromkeys(("quota-hidden", "quota-gross", "quota-uniform"), ("share-of-arm", "share-of-all")),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_have_their_power_and_kinds_of_contamination(name: str) -> None:
    power, build = ATTACKS[name]
    adversary = build(WIDE, 0.1)
    assert (adversary.power, adversary.contaminations) == (power, KINDS.get(name, COIN))


# -------------------------------------------------------------------------------------------------- ready-made attacks


def test_attacks_put_values_where_they_say() -> None:
    (piece,) = attacks.ninety_ten(WIDE, 50.0).pieces
    assert (piece.a, piece.b, piece.c) == ((50.0, -50.0, 50.0), (-50.0, 50.0, -50.0), (0.9,))
    burst = attacks.bursts(WIDE, 2.0, length=30)
    assert (burst.pieces, burst.hits.length) == (attacks.hidden(WIDE, 2.0).pieces, 30)
    one = attacks.one_arm(WIDE, 2.0)
    assert (one.pieces[0].a, one.hits.arm) == ((3.5,), 0)
    for name, plain in (("hidden", attacks.hidden), ("gross", attacks.one_sided_gross), ("uniform", attacks.benign)):
        quota = ATTACKS[f"quota-{name}"][1](WIDE, 0.1)
        assert (quota.pieces, quota.hits.picks) == (plain(WIDE).pieces, ("random",))


def test_one_arm_shows_the_runner_up_at_its_best() -> None:
    """By the highest reward that it can give, so that bounded arms stay within their bounds."""
    coins = [ba.Bernoulli(0.5), ba.Bernoulli(0.2), ba.Bernoulli(0.4)]
    bandit = ba.Bandit(coins, 0.1, attacks.one_arm(coins))
    assert bandit.reach() == (0.0, 1.0)
    order = mixed_order(60_000, (0.4, 0.3, 0.3))
    rewards = compiled(bandit, order)
    means = [rewards[order == arm].mean() for arm in range(3)]
    assert means == pytest.approx([0.5, 0.2, 0.4 + 0.6 / 3.0], abs=0.02)  # a tenth of all is a third of its own
    for arm, top in ((ba.Uniform(0.0, 0.9), 0.9), (ba.Beta(2.0, 3.0), 1.0), (ba.Discrete([0, 0.7], [0.5, 0.5]), 0.7)):
        adversary = attacks.one_arm([ba.Gaussian(2.0), arm])
        assert (adversary.pieces[0].a, adversary.hits.arm) == ((top,), 1)


# --------------------------------------------------------------------------------------------------------------- reach


def test_reach_covers_the_values_of_arms_that_are_hit_and_no_others() -> None:
    coins = [ba.Bernoulli(0.5), ba.Uniform(0.0, 3.0)]
    cases: list[tuple[Any, tuple[float, float]]] = [
        (A.TwoPoints([2.0, -5.0], [7.0, 0.0], 0.5), (-5.0, 7.0)),
        (A.Quota(A.Point([-4.0, 9.0])), (-4.0, 9.0)),
        (A.Bursts(A.Uniform([0.0, 9.0], 2.0)), (-2.0, 11.0)),
        (A.OneArm(A.Point([-4.0, 9.0]), 0), (-4.0, 3.0)),
        (A.OneArm(A.Point([-4.0, 9.0]), 1), (0.0, 9.0)),
        (A.OneArm(A.TwoPoints([-4.0, 9.0], -1.0), 1), (-1.0, 9.0)),
        (A.OneArm(A.Shift([1.0, 100.0]), 0), (0.0, 3.0)),  # 0 or 1, moved by 1
        (A.OneArm(A.Shift([100.0, -1.0]), 1), (-1.0, 3.0)),
        (A.OneArm(A.Impersonate([1, 0]), 0), (0.0, 3.0)),
        (A.OneArm(A.Reflect([0.0, 0.0]), 0), (-np.inf, np.inf)),
    ]
    order = mixed_order(4000, (0.5, 0.5))
    for adversary, reach in cases:
        bandit = ba.Bandit(coins, 0.2, adversary)
        assert bandit.reach() == reach
        rewards = compiled(bandit, order)
        assert reach[0] <= rewards.min()
        assert rewards.max() <= reach[1]
        assert ba.Bandit(coins, 0.0, adversary).reach() == (0.0, 3.0)


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("make", "parameter", "rule", "received", "fix"),
    [
        (lambda: A.Quota(A.Point(1.0), "first"), "pick", "be one of spread, random, top, bottom", "first", "spelling"),
        (lambda: A.Quota(A.Point(1.0), []), "pick", "be one name for all arms or one for each", [], "such as spread"),
        (lambda: A.Quota(A.Point(1.0), FIVE), "pick", "be one of spread, random", 5.0, "spelling"),
        (lambda: A.Quota(FIVE), "adversary", "be one of bestarm.adversaries", 5.0, "such as Point(0.0)"),
        (
            lambda: A.Quota(A.Selective(A.Point(1.0))),
            "adversary",
            "have fair coins",
            A.Selective(A.Point(1.0)),
            "picks",
        ),
        (
            lambda: A.Quota(A.Quota(A.Point(1.0))),
            "adversary",
            "have no Quota, Bursts or OneArm",
            A.Quota(A.Point(1.0)),
            "one rule picks",
        ),
        (
            lambda: A.Selective(A.Bursts(A.Point(1.0))),
            "adversary",
            "have no Quota, Bursts or OneArm",
            A.Bursts(A.Point(1.0)),
            "one rule picks",
        ),
        (lambda: A.Bursts(A.Point(1.0), 1), "length", "be a whole number >= 2", 1, "leave Bursts out"),
        (lambda: A.Bursts(A.Point(1.0), 2.5), "length", "be a whole number >= 2", 2.5, "fair"),  # type: ignore[arg-type]
        (lambda: A.Bursts(A.Point(1.0), True), "length", "be a whole number >= 2", True, "fair"),
        (lambda: A.OneArm(A.Point(1.0), -1), "arm", "be the index of an arm, a whole number >= 0", -1, "first arm"),
        (lambda: A.OneArm(A.Point(1.0), 0.5), "arm", "be the index of an arm", 0.5, "first arm"),  # type: ignore[arg-type]
        (lambda: A.OneArm(A.Point([1.0, 2.0]), 2), "arm", "be an index below 2", 2, "first arm"),
        (lambda: ba.Bandit(WIDE, 0.1, A.OneArm(A.Point(1.0), 3)), "arm", "be an index below 3", 3, "first arm"),
        (
            lambda: ba.Bandit(WIDE, 0.1, A.Quota(A.Point(1.0), ["top", "random"])),
            "adversary",
            "have one value for all or one for each of 3 arms",
            (1, 0),
            "count them",
        ),
        (
            lambda: A.Schedule([(0, A.OneArm(A.Point(1.0), 0))]),
            "pieces",
            "have no Quota, Bursts or OneArm",
            (0, A.OneArm(A.Point(1.0), 0)),
            "around the schedule",
        ),
        (lambda: A.TwoPoints(1.0, 2.0, 1.5), "share", "be in [0, 1]", 1.5, "probability"),
        (lambda: A.TwoPoints(1.0, [], 0.5), "others", "be a finite number", [], "one number may do"),
        (lambda: attacks.ninety_ten(WIDE, 0.0), "size", "be a finite number > 0", 0.0, "direction"),
        (lambda: attacks.one_arm(WIDE, -1.0), "s", "be a finite number > 0", -1.0, "direction"),
        (
            lambda: attacks.one_arm([ba.Gaussian(3.0), ba.Exponential(1.0)]),
            "arms",
            "have a sigma each",
            [None],
            "sigmas",
        ),
        (lambda: attacks.bursts(WIDE, length=0), "length", "be a whole number >= 2", 0, "fair"),
    ],
)
def test_bad_input_is_refused(make: Callable[[], Any], parameter: str, rule: str, received: Any, fix: str) -> None:
    with pytest.raises(ba.InputError) as refused:
        make()
    error = refused.value
    assert (error.parameter, error.received) == (parameter, received)
    assert error.rule.startswith(rule)
    assert fix in error.fix
