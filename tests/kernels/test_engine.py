"""The parts of the engine that no trajectory shows by itself: generators, tournaments, guesses, quiet stretches."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import bestarm as ba
from bestarm.identification.engines.kernel import KernelEngine
from bestarm.kernels.jit.compile import entry_kernel
from bestarm.kernels.jit.private import PLAIN, generator_words
from bestarm.kernels.order_statistics import tournament
from bestarm.kernels.order_statistics.samples import ABOVE_HIGH, ABOVE_LOW, BELOW_LOW, SHORT_WAIT, WAITING, WINDOW
from bestarm.kernels.order_statistics.windows import has_room
from bestarm.kernels.rewards.seeding import start as start_kernel
from bestarm.kernels.rule import Rule
from bestarm.kernels.state.counting import count_reward
from bestarm.kernels.state.estimates import keep_reward
from bestarm.kernels.state.state import State, make_room
from bestarm.kernels.trials import drive
from bestarm.kernels.trials.trial import run_trials
from bestarm.simulation import chunks
from bestarm.simulation.seeds import TrialSeeds
from kernel_tools import alone

MEANS = [2.5, 2.3, 2.0, 0.6]

start = alone(start_kernel)
set_key = alone(tournament.set_key)
set_inner = alone(tournament.set_inner)
first_of, first_and_second = alone(tournament.first_of), alone(tournament.first_and_second)


@pytest.mark.skipif(PLAIN, reason="BESTARM_PLAIN makes a generator for each trial")
@pytest.mark.parametrize("entropy", [0, 7, 2**40 + 3, 2**200 + 17])
def test_a_generator_started_in_place_is_the_one_that_numpy_makes(entropy: int) -> None:
    seeds = TrialSeeds(entropy, (3,), 4, 0)
    words = seeds.words(0, 50)
    bits = np.random.PCG64(1)
    state = generator_words(bits)
    assert state is not None
    for trial in range(50):
        start(state, words, trial)
        assert bits.state["state"] == np.random.PCG64(seeds.child(trial)).state["state"]
        assert (
            np.random.Generator(bits).random(3).tolist() == np.random.default_rng(seeds.child(trial)).random(3).tolist()
        )


@pytest.mark.parametrize("method", ["se-cbai", "random"])
def test_where_numpy_keeps_its_state_elsewhere_trials_are_the_same(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bandit = ba.Bandit([ba.Gaussian(mean) for mean in MEANS], 0.2, ba.adversaries.Shift(0.3))
    quick = ba.simulate(bandit, method, delta=0.2, trials=6, seed=9)
    asked: list[object] = []
    monkeypatch.setattr(chunks, "generator_words", asked.append)  # which says None: not known
    slow = ba.simulate(bandit, method, delta=0.2, trials=6, seed=9)
    assert asked
    assert slow.arm_pulls.tolist() == quick.arm_pulls.tolist()
    assert slow.answers.tolist() == quick.answers.tolist()


@pytest.mark.parametrize("arms", [2, 3, 4, 5, 16, 100])
def test_a_tournament_agrees_with_a_scan_and_gives_ties_to_the_lowest_arm(arms: int) -> None:
    rng = np.random.default_rng(arms)
    trees = tournament.new_trees(arms, 2)
    leaves = trees.shape[1] // 2
    keys = np.full(arms, -np.inf)
    for arm in range(arms):  # at first everybody gets a key
        keys[arm] = float(rng.integers(5))
        set_key(trees, 0, arm, keys[arm])
    for _ in range(300):
        arm = int(rng.integers(arms))
        keys[arm] = float(rng.integers(5)) - (3.0 if rng.random() < 0.3 else 0.0)
        set_key(trees, 0, arm, keys[arm])
        best = int(keys.argmax())
        others = keys.copy()
        others[best] = -np.inf
        assert first_of(trees, 0) == best
        assert first_and_second(trees, 0) == (best, others.max())
    trees[1, leaves : leaves + arms] = keys
    set_inner(trees, 1, arms)
    assert trees[1].tolist() == trees[0].tolist()


@pytest.mark.parametrize("method", ["se-cbai", "g-cbai", "certified"])
@pytest.mark.parametrize("cap", [1_500, 60_000])
def test_a_trial_goes_on_in_a_larger_pool_where_it_stopped(
    method: str, cap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bandit = ba.Bandit([ba.Gaussian(1.0)] * 3, 0.2, ba.adversaries.Shift(0.3))

    def run() -> ba.Trials:
        return ba.simulate(bandit, method, delta=0.2, trials=3, seed=2, chunk=3, max_pulls=cap)

    roomy = run()
    moves: list[int] = []

    def counted(state: State, arm: int) -> State:
        moves.append(arm)
        return make_room(state, arm)

    monkeypatch.setattr(chunks._spare, "pool", None)
    monkeypatch.setattr(chunks, "_foreseen", lambda spec, rule: 0)
    monkeypatch.setattr(drive, "make_room", counted)
    cramped = run()
    assert len(moves) > (1 if cap > 10_000 else 0)
    assert cramped.arm_pulls.tolist() == roomy.arm_pulls.tolist()
    assert cramped.answers.tolist() == roomy.answers.tolist()


@pytest.mark.parametrize("method", ["se-cbai", "median-se", "g-cbai", "random", "certified", "mean-gap"])
@pytest.mark.parametrize("arms", [4, 70])
def test_simulated_trials_are_what_the_live_driver_does(method: str, arms: int) -> None:
    """Exploration, guesses from the trial before and quiet stretches exist in simulations only; all are exact."""
    means = MEANS if arms == 4 else np.linspace(3.0, 0.0, arms).tolist()
    bandit = ba.Bandit([ba.Gaussian(mean) for mean in means], 0.2, ba.adversaries.Shift(0.3))
    options: dict[str, Any] = {"resolution": 0.2} if method == "certified" else {}
    cap = 30_000
    trials = ba.simulate(bandit, method, delta=0.2, trials=4, seed=3, chunk=4, max_pulls=cap, **options)
    for trial in (1, 3):
        seed = TrialSeeds(3, (), 4, 0).child(trial)
        if method == "random":
            options["seed"] = int(seed.generate_state(5, np.uint64)[4])
        finder = ba.Identifier(arms, delta=0.2, epsilon=0.2, sigma=1.0, method=method, **options)
        stream = bandit.stream(seed)
        while not finder.done and finder.pulls < cap:
            arm = finder.ask()
            finder.tell(arm, stream.pull(int(str(arm))))
        assert finder.pulls == trials.pulls[trial]
        assert [row.pulls for row in finder.estimates] == trials.arm_pulls[trial].tolist()
        assert (finder.result.best if finder.result.best is not None else -1) == trials.answers[trial]


@functools.cache
def arms_alike(arms: int) -> tuple[ba.Bandit, NDArray[np.float64]]:
    """Arms whose rewards do not depend on the order of pulls, and the first 150,000 of a trial, sorted."""
    bandit = ba.Bandit([ba.Gaussian(1.0)] * arms, 0.1)
    stream = bandit.stream(TrialSeeds(6, (), 4, 0).child(0))
    return bandit, np.sort([stream.pull(0) for _ in range(150_000)])


@pytest.mark.parametrize("method", ["se-cbai", "median-se", "g-cbai", "random"])
@pytest.mark.parametrize("arms", [2, 70])
def test_every_reward_is_stored_exactly_once(method: str, arms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In rooms that do not overlap, in a pool that had to grow, whatever was left there by others."""
    bandit, rewards = arms_alike(arms)
    states: list[State] = []

    def kept(state: State, *arguments: Any) -> tuple[int, int]:
        states.append(state)
        return run_trials(state, *arguments)

    monkeypatch.setattr(drive, "run_trials", kept)
    monkeypatch.setattr(chunks, "_foreseen", lambda spec, rule: 0)
    monkeypatch.setattr(chunks._spare, "pool", np.full(20_000, np.nan))
    trials = ba.simulate(bandit, method, delta=0.1, trials=1, seed=6, max_pulls=150_000)
    assert trials.pulls.tolist() == [150_000]
    assert len(states) > 1
    samples = states[-1].samples
    assert (samples.arms["held"] <= samples.arms["room"]).all()
    first, last = samples.arms["start"].ravel(), (samples.arms["start"] + samples.arms["room"]).ravel()
    order = np.argsort(first)
    assert (last[order][:-1] <= first[order][1:]).all()
    assert first.min() >= 2 * WINDOW * arms
    assert last.max() <= samples.used[0] <= samples.pool.size
    found = []
    for arm in samples.arms:
        for store, (begin, held) in enumerate(zip(arm["start"], arm["held"], strict=True)):
            sign = -1.0 if store in (ABOVE_LOW, ABOVE_HIGH) else 1.0
            found.append(sign * samples.pool[begin : begin + held])
        found += [samples.pool[begin : begin + width] for begin, width in zip(arm["window"], arm["width"], strict=True)]
    assert np.sort(np.concatenate(found)).tolist() == rewards.tolist()


@pytest.mark.parametrize("arms", [2, 70])
def test_certified_keeps_the_last_rewards_of_each_arm_in_a_ring(arms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order and in units of sigma, in a pool that had to grow, whatever was left there by others."""
    bandit = ba.Bandit([ba.Gaussian(1.0, 2.0)] * arms, 0.1)  # alike: their rewards do not depend on the order
    cap = 400 * arms
    stream = bandit.stream(TrialSeeds(6, (), 4, 0).child(0))
    rewards = np.array([stream.pull(0) for _ in range(cap)])
    states: list[State] = []

    def kept(state: State, *arguments: Any) -> tuple[int, int]:
        states.append(state)
        return run_trials(state, *arguments)

    monkeypatch.setattr(drive, "run_trials", kept)
    monkeypatch.setattr(chunks, "_foreseen", lambda spec, rule: 0)
    monkeypatch.setattr(chunks._spare, "pool", np.full(20_000, np.nan))
    trials = ba.simulate(bandit, "certified", delta=0.1, trials=1, seed=6, sigma=2.0, max_pulls=cap)
    assert trials.arm_pulls.tolist() == [[400] * arms]  # so arms took turns, and none was dropped
    assert len(states) > 1
    control, samples = states[-1].control, states[-1].samples
    assert samples.arms["dropped"].tolist() == [0] * arms
    room = int(control["room"][0])
    assert room >= 400
    rings = samples.pool[: arms * room].reshape(arms, room)
    assert rings[:, :400].tolist() == (rewards.reshape(400, arms).T / 2.0).tolist()


@entry_kernel
def record_one(state: State, rule: Rule, index: int, reward: float) -> bool:
    """Record a reward, if there is room for it."""
    arm, control = state.arms[index], state.control[0]
    if arm.room_left == 0 and not has_room(arm, state.pool, state.used):
        return False
    count_reward(arm, control)
    keep_reward(arm, rule[0], state.pool, reward, control.quiet > control.rounds)
    return True


def test_rewards_that_waited_may_use_up_a_reserve_that_has_no_room_for_more() -> None:
    """Then room is asked for before the next reward: what is left of it must not be counted below zero."""
    rng = np.random.default_rng(4)
    finder = ba.Identifier(2, delta=0.1, epsilon=0.1, sigma=1.0, method="median-se")
    finder.tell_many((np.arange(40_000) % 2).tolist(), rng.standard_normal(40_000))
    engine = finder._engine
    assert isinstance(engine, KernelEngine)
    state, rule = engine.state, engine.rule
    state.control["quiet"] = 10**9  # so that rewards wait
    arm = state.samples.arms[:1]
    cramped = False
    for reward in -3.0 - rng.random(3_000):
        cramped = bool(
            arm["held"][0, WAITING] == SHORT_WAIT and arm["held"][0, BELOW_LOW] < 8 and arm["room_left"][0] > 0
        )
        if cramped:
            arm["room"][0, BELOW_LOW] = WINDOW + 8  # a batch is more
        while not record_one(state, rule, 0, reward):
            state = make_room(state, 0)
        if cramped:
            break
        assert arm["room_left"][0] >= 0
    assert cramped
    assert arm["room_left"][0] == 0


@pytest.mark.slow
def test_quiet_rounds_are_exact_where_eliminations_are_near() -> None:
    """Gaps of a few hundredths: long stretches, which must end just before somebody has to go."""
    bandit = ba.Bandit([ba.Gaussian(mean, 0.3) for mean in (0.5, 0.45, 0.4)], 0.1)
    for method in ("se-cbai", "median-se"):
        trials = ba.simulate(bandit, method, delta=0.1, trials=3, seed=8, chunk=3, sigma=0.3, exploration="chernoff")
        for trial in range(3):
            found = eliminated_literally(bandit, method, TrialSeeds(8, (), 4, 0).child(trial))
            assert found == (trials.pulls[trial], trials.answers[trial])


def eliminated_literally(bandit: ba.Bandit, method: str, seed: np.random.SeedSequence) -> tuple[int, int]:
    """SE-CBAI with NumPy, testing after every round from T on."""
    stream = bandit.stream(seed)
    explored = ba.theory.exploration_pulls(0.05, 0.1, "chernoff")
    active = [0, 1, 2]
    rewards: list[list[float]] = [[], [], []]
    pulls = rounds = 0
    while len(active) > 1:
        for arm in active:
            rewards[arm].append(stream.pull(arm))
        pulls += len(active)
        rounds += 1
        if rounds >= explored:
            cut = int(0.05 * rounds)
            kept = {arm: np.sort(rewards[arm])[cut : rounds - cut] for arm in active}
            value = {arm: np.median(rewards[arm]) if method == "median-se" else kept[arm].mean() for arm in active}
            radius = 0.3 / 0.9 * np.sqrt(2.0 / rounds * np.log(3 * rounds**2 * np.pi**2 / (12 * 0.1)))
            active = [arm for arm in active if not value[arm] < max(value.values()) - 2.0 * radius]
    return pulls, active[0]
