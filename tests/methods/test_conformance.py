"""What every method of the catalogue has to do, whatever it computes; a new one is covered the day it is registered."""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import bestarm as ba
from bestarm.kernels.rule import ELIMINATION
from bestarm.methods import METHODS, Method
from bestarm.problem import pose

MEANS = (2.5, 1.5, 1.0, 0.6)
K = len(MEANS)
DELTA, EPSILON, SIGMA = 0.1, 0.1, 1.0
STEPS = 30_000  # no run comes near: the longest ends after about 1,000 rewards
GRID = 2.0**10  # rewards are multiples of 1/1024, so that sums of thousands of them are exact

COPIES: dict[str, Callable[[ba.Identifier], ba.Identifier]] = {
    "pickle": lambda finder: pickle.loads(pickle.dumps(finder)),
    "oldest pickle": lambda finder: pickle.loads(pickle.dumps(finder, protocol=2)),
    "deepcopy": copy.deepcopy,
}

# Variants of a method that run in other ways: as methods here, by name and options.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "random, total": ("random", {"floor": "total"}),
    "g-cbai, none": ("g-cbai", {"exploration": "none"}),
    "se-cbai, none": ("se-cbai", {"exploration": "none"}),
    "se-cbai, all pulls": ("se-cbai", {"radius": "all-pulls", "exploration": "half", "alpha": 0.4}),
    "median-se, all pulls": ("median-se", {"radius": "all-pulls", "exploration": "none", "radius_arms": 5}),
    "mean-se, same": ("mean-se", {"parameters": "same"}),
    "mean-gap, same": ("mean-gap", {"parameters": "same"}),
}
AT_RANDOM = "random, total"  # draws arms from the first pull on, so it neither spreads a batch nor lets others catch up

every_method = pytest.mark.parametrize("method", sorted({*METHODS, *VARIANTS}))
every_spreading_method = pytest.mark.parametrize("method", sorted({*METHODS, *VARIANTS} - {AT_RANDOM}))


def entry(method: str) -> Method:
    return METHODS[VARIANTS.get(method, (method, {}))[0]]


def options(method: str, sigma: float = SIGMA) -> dict[str, Any]:
    """Settings that make runs short, or that are in units of rewards, as far as the method has them."""
    wanted = {"alpha": 0.2, "exploration": "chernoff", "seed": 11, "resolution": sigma / 16.0}
    own = {option.name for option in entry(method).options}
    return {name: value for name, value in wanted.items() if name in own} | VARIANTS.get(method, (method, {}))[1]


def new(method: str, arms: int | Sequence[Any] = K, sigma: float = SIGMA, **given: Any) -> ba.Identifier:
    return ba.Identifier(
        arms,
        delta=DELTA,
        epsilon=EPSILON,
        sigma=sigma,
        method=entry(method).name,
        **{**options(method, sigma), **given},
    )


def rows_of(means: Sequence[float], seed: int, length: int = STEPS) -> NDArray[np.float64]:
    """Rewards on the grid: normal ones, a tenth of them replaced by uniform ones around half the mean."""
    rng = np.random.default_rng(seed)
    clean = np.asarray(means)[:, None] + rng.standard_normal((len(means), length))
    false = np.asarray(means)[:, None] / 2.0 + rng.uniform(-1.0, 1.0, clean.shape)
    return np.rint(np.where(rng.random(clean.shape) < EPSILON, false, clean) * GRID) / GRID


@dataclass
class Tape:
    """Rewards fixed beforehand: the n-th of an arm is the same whatever was pulled before."""

    rows: NDArray[np.float64]
    read: list[int] = field(default_factory=lambda: [0] * K)

    def pull(self, arm: int) -> float:
        self.read[arm] += 1
        return float(self.rows[arm, self.read[arm] - 1])


TABLE = rows_of(MEANS, seed=5)


def tape() -> Tape:
    return Tape(TABLE)


def drive(finder: ba.Identifier, rewards: Tape, steps: int = STEPS) -> list[int]:
    """Ask and tell one by one, up to the decision; return the indices of the arms pulled."""
    place = {label: index for index, label in enumerate(finder.labels)}
    pulled: list[int] = []
    while not finder.done and len(pulled) < steps:
        label = finder.ask()
        pulled.append(place[label])
        finder.tell(label, rewards.pull(place[label]))
    return pulled


def log_of(method: str) -> list[tuple[int, float]]:
    """The rewards of a whole run, in the order told."""
    rewards = tape()
    log = []
    finder = new(method)
    while not finder.done:
        arm = finder.ask()
        assert isinstance(arm, int)
        log.append((arm, rewards.pull(arm)))
        finder.tell(*log[-1])
    return log


def seen(finder: ba.Identifier) -> str:
    """Everything that the interface shows; text, since nan is not equal to itself."""
    return repr((finder.result, finder.estimates, finder.pulls, finder.pending, finder.done, finder.labels))


def is_elimination(method: str) -> bool:
    problem = pose(K, delta=DELTA, epsilon=EPSILON, sigma=SIGMA)
    rule = entry(method).rule(problem, entry(method).complete(problem, options(method)))
    return bool(rule["family"][0] == ELIMINATION)


# ------------------------------------------------------------------------------------------------------- seeds


@every_method
def test_the_same_question_and_rewards_give_the_same_run(method: str) -> None:
    np.random.seed(1)  # noqa: NPY002 - to show that the global generator is left alone
    before = repr(np.random.get_state())  # noqa: NPY002
    first, second = new(method), new(method)
    pulled = drive(first, tape())
    assert repr(np.random.get_state()) == before  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert drive(second, tape()) == pulled
    assert seen(first) == seen(second)
    assert first.done
    assert first.result.best == 0
    assert first.result.pulls == len(pulled) > K


@pytest.mark.parametrize("method", sorted(name for name in (*METHODS, *VARIANTS) if entry(name).random))
def test_a_method_that_draws_arms_is_seeded(method: str) -> None:
    runs = [drive(new(method, seed=seed), tape()) for seed in (1, 2, 3, 2**64 - 1)]
    assert len({tuple(run) for run in runs}) == 4
    assert drive(new(method, seed=3), tape()) == runs[2]


# ------------------------------------------------------------------------------------------------------ copies


@every_method
@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_goes_on_like_the_original_and_leaves_it_alone(method: str, kind: str) -> None:
    reference = new(method)
    whole = drive(reference, tape())
    rng = np.random.default_rng(3)
    for moment in [0, 1, K, *rng.integers(K, len(whole), 4).tolist(), len(whole) - 1, len(whole)]:
        finder, rewards = new(method), tape()
        begun = drive(finder, rewards, moment)
        before = seen(finder)
        twin, twin_rewards = COPIES[kind](finder), copy.deepcopy(rewards)
        assert seen(twin) == before
        for _ in range(100):
            twin.tell(K - 1, 1e6)  # would change the decision, were anything shared
        assert seen(finder) == before
        twin = COPIES[kind](finder)
        for _ in range(100):
            finder.tell(K - 1, 1e6)
        assert seen(twin) == before
        assert begun + drive(twin, twin_rewards) == whole
        assert seen(twin) == seen(reference)


@every_method
@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_remembers_what_was_asked_for(method: str, kind: str) -> None:
    rng = np.random.default_rng(4)
    for moment in [0, 2, 57, 230, 300]:
        finder, rewards = new(method), tape()
        drive(finder, rewards, moment)
        if finder.done:
            continue
        asked = finder.ask(7)
        twin, twin_rewards = COPIES[kind](finder), copy.deepcopy(rewards)
        assert twin.pending == finder.pending == 7
        assert twin.ask(5) == finder.ask(5)
        order = rng.permutation(7)
        for one, its_rewards in ((finder, rewards), (twin, twin_rewards)):
            for place in order:
                one.tell(asked[place], its_rewards.pull(asked[place]))
        assert seen(twin) == seen(finder)
        assert drive(twin, twin_rewards) == drive(finder, rewards)
        assert seen(twin) == seen(finder)


@every_method
def test_a_copy_is_exact_after_very_many_rewards(method: str) -> None:
    """Equal arms and a large sigma, so that nothing is decided while thousands of rewards an arm pile up."""
    rng = np.random.default_rng(6)
    # Where contamination hides all that there may be, the certified method stops: it gets none to reckon with.
    asked = {
        "delta": DELTA,
        "epsilon": 0.0 if method == "certified" else EPSILON,
        "sigma": 50.0,
        "method": entry(method).name,
    }
    finder = ba.Identifier(K, **asked, **options(method, 50.0))  # type: ignore[arg-type]
    for size in (300, 4_001, 7_700):
        arms = rng.integers(K, size=size)
        finder.tell_many(arms.tolist(), rng.standard_t(2, size))
        assert not finder.done
        twins = [make(finder) for make in COPIES.values()]
        more = rng.standard_t(2, 600)
        pulled: list[list[Any]] = []
        for one in (*twins, finder):
            pulled.append([])
            for reward in more:
                pulled[-1].append(one.ask())
                one.tell(pulled[-1][-1], reward)
        assert pulled == [pulled[0]] * 4
        assert {seen(twin) for twin in twins} == {seen(finder)}


# ------------------------------------------------------------------------------------------- asking, and looking


@every_method
def test_looking_changes_nothing(method: str) -> None:
    quiet, watched = new(method), new(method)
    rewards = tape()
    pulled = []
    while not watched.done:
        before = seen(watched)
        assert str(watched.result)
        shown = f"<Identifier of {K} arms by {entry(method).name}: {watched.pulls:,} rewards, undecided>"
        assert repr(watched) == shown  # and this too is a look
        assert seen(watched) == before
        arm = watched.ask()
        assert isinstance(arm, int)
        pulled.append(arm)
        assert watched.pending == 1
        assert watched.pulls == len(pulled) - 1
        watched.tell(arm, rewards.pull(arm))
        assert watched.pending == 0
    assert drive(quiet, tape()) == pulled
    assert seen(quiet) == seen(watched)


@every_method
def test_asking_changes_only_what_is_pending(method: str) -> None:
    for moment in (0, 3, 60, 230, 300):
        finder, rewards = new(method), tape()
        drive(finder, rewards, moment)
        if finder.done:
            continue
        before = (repr(finder.result), repr(finder.estimates), finder.pulls)
        asked = finder.ask(9)
        assert finder.pending == 9
        assert (repr(finder.result), repr(finder.estimates), finder.pulls) == before
        told = copy.deepcopy(finder)
        for arm in asked:
            told.tell(arm, rewards.pull(arm))
        assert told.pending == 0
        assert told.pulls == moment + 9


@every_method
def test_rewards_alone_make_the_state(method: str) -> None:
    """Whether and how often arms were asked for does not matter once all have reported: a log can be replayed."""
    log = log_of(method)
    asking, silent = new(method), new(method)
    for place, (arm, reward) in enumerate(log):
        asking.ask()
        asking.tell(arm, reward)
        silent.tell(arm, reward)
        if place % 40 == 0:
            assert seen(asking) == seen(silent)
            if not asking.done:
                assert copy.deepcopy(asking).ask(12) == copy.deepcopy(silent).ask(12)
    assert silent.done
    assert seen(asking) == seen(silent)


# --------------------------------------------------------------------------------------------- the frozen decision


@every_method
def test_the_decision_is_frozen(method: str) -> None:
    finder = new(method)
    drive(finder, tape())
    result, pulls, rows = finder.result, finder.pulls, finder.estimates
    rng = np.random.default_rng(8)
    absurd = np.concatenate([np.full(200, 1e6), rng.choice([1e290, -1e290, 0.0, -0.0, 5e-324, -1e100], 200)])
    told = [0] * K
    for place, reward in enumerate(absurd.tolist()):
        arm = K - 1 if place < 200 else int(rng.integers(K))
        finder.tell(arm, reward)
        told[arm] += 1
        if place == 199:
            assert finder.estimates[K - 1].pulls == rows[K - 1].pulls + 200
            assert entry(method).certifies or finder.estimates[K - 1].estimate > rows[K - 1].estimate + 0.5
    finder.tell_many([0, 1] * 100, [-1e6] * 200)
    told[0] += 100
    told[1] += 100
    assert finder.done
    assert finder.result == result
    assert result.pulls == pulls
    assert finder.pulls == pulls + 600
    assert [row.pulls for row in finder.estimates] == [row.pulls + more for row, more in zip(rows, told, strict=True)]
    assert all(math.isfinite(row.estimate) for row in finder.estimates)
    assert finder.estimates != rows
    for make in COPIES.values():
        assert make(finder).result == result


# --------------------------------------------------------------------------------------------------- many at once


@every_method
@pytest.mark.parametrize("sizes", [(1, 2), (1, 40), (64, 65), (500, 501)], ids=str)
def test_many_at_once_are_as_one_by_one(method: str, sizes: tuple[int, int]) -> None:
    log = log_of(method)
    single, batched = new(method), new(method)
    rng = np.random.default_rng(9)
    place = 0
    while place < len(log):
        chunk = log[place : place + int(rng.integers(*sizes))]
        for arm, reward in chunk:
            single.tell(arm, reward)
        batched.tell_many([arm for arm, _ in chunk], [reward for _, reward in chunk])
        place += len(chunk)
        assert seen(single) == seen(batched)
    assert batched.done


@every_method
def test_a_decision_in_the_middle_of_a_batch_is_that_of_its_moment(method: str) -> None:
    log = log_of(method)
    after = [(arm, 1e6) for arm in range(K)[::-1] for _ in range(50)]  # speaks for other arms, too late
    single = new(method)
    for arm, reward in log:
        single.tell(arm, reward)
    decision = single.result
    for arm, reward in after:
        single.tell(arm, reward)
    arms, rewards = zip(*log, *after, strict=True)
    for batch in ((list(arms), list(rewards)), (arms, rewards), (np.array(arms), np.array(rewards))):
        finder = new(method)
        finder.tell_many(*batch)
        assert finder.result == decision
        assert finder.result.pulls == len(log)
        assert seen(finder) == seen(single)


@every_method
def test_an_empty_batch_is_nothing(method: str) -> None:
    finder = new(method)
    drive(finder, tape(), 10)
    before = seen(finder)
    finder.tell_many([], [])
    assert seen(finder) == before


# ------------------------------------------------------------------------------------------- changes of the question


@every_method
@pytest.mark.parametrize(
    "labels",
    [
        ("A", "B", "C", "D"),
        ("d", "b", "a", "c"),
        (3, 1, 0, 2),
        (-1, 10**30, 0.5, 2),
        ((1, "x"), (0, "x"), (1, "a"), ()),
        ("0", 1, (2,), b"3"),
    ],
    ids=str,
)
def test_labels_are_only_labels(method: str, labels: tuple[Any, ...]) -> None:
    plain, named = new(method), new(method, arms=list(labels))
    pulled = drive(plain, tape())
    assert drive(named, tape()) == pulled
    assert named.labels == labels
    assert named.result.best == labels[0]
    assert plain.result.best is not None
    assert plain.result.leader is not None
    expected = replace(
        plain.result,
        best=labels[plain.result.best],
        candidates=tuple(labels[index] for index in plain.result.candidates),
        leader=labels[plain.result.leader],
        leads={labels[index]: lead for index, lead in plain.result.leads.items()},
        arms=tuple(replace(row, label=labels[row.label]) for row in plain.result.arms),
    )
    assert named.result == expected
    batched = new(method, arms=list(labels))
    rewards = tape()
    batched.tell_many([labels[arm] for arm in pulled], [rewards.pull(arm) for arm in pulled])
    assert batched.result == expected


@every_method
def test_whole_number_labels_in_an_array_are_labels_not_places(method: str) -> None:
    labels = np.array([3, 1, 0, 2])
    finder, by_array = new(method, arms=labels.tolist()), new(method, arms=labels)  # type: ignore[arg-type]
    pulled, rewards = drive(finder, tape()), tape()
    by_array.tell_many(labels[pulled], np.array([rewards.pull(arm) for arm in pulled]))  # type: ignore[arg-type]
    assert by_array.result == finder.result
    assert by_array.result.best == 3


@every_method
@pytest.mark.parametrize("shift", [-(2.0**12), SIGMA / 4.0, 64.0])
def test_moving_all_rewards_moves_only_the_estimates(method: str, shift: float) -> None:
    """The sums stay exact; only a mean's last rounding may differ, by an ulp of the shift.

    By multiples of sigma / 4: the certified method has bets on a lattice of means with that spacing.
    """
    plain, moved = new(method), new(method)
    pulled = drive(plain, tape())
    assert drive(moved, Tape(TABLE + shift)) == pulled
    assert moved.result.best == plain.result.best
    assert (moved.result.status, moved.result.candidates) == (plain.result.status, plain.result.candidates)
    for row, other in zip(plain.result.arms, moved.result.arms, strict=True):
        assert (row.pulls, row.active) == (other.pulls, other.active)
        for end in ("estimate", "lower", "upper"):
            assert getattr(other, end) - shift == pytest.approx(getattr(row, end), abs=1e-11)


@every_method
@pytest.mark.parametrize("factor", [2.0**-30, 0.5, 1024.0])
def test_another_unit_of_reward_changes_only_the_unit(method: str, factor: float) -> None:
    """A power of two scales without rounding, so all is equal to the last bit."""
    plain, scaled = new(method), new(method, sigma=SIGMA * factor)
    pulled = drive(plain, tape())
    assert drive(scaled, Tape(TABLE * factor)) == pulled
    assert (scaled.result.best, scaled.result.status) == (plain.result.best, plain.result.status)
    assert scaled.result.candidates == plain.result.candidates
    assert scaled.result.arms == tuple(
        replace(row, estimate=row.estimate * factor, lower=row.lower * factor, upper=row.upper * factor)
        for row in plain.result.arms
    )


# -------------------------------------------------------------------------------------- batches and late arrivals


@every_spreading_method
@pytest.mark.parametrize("n", range(1, 3 * K))
def test_the_first_batch_spreads(method: str, n: int) -> None:
    finder = new(method)
    asked = finder.ask(n)
    counts = Counter(asked)
    assert len(asked) == n
    assert len(counts) == min(n, K)
    assert max(counts.values()) == math.ceil(n / K)
    assert min(counts.values()) >= n // K
    assert asked[:K] == list(range(min(n, K)))
    assert finder.pending == n


@every_method
def test_a_batch_is_what_asking_one_by_one_gives(method: str) -> None:
    """Arms asked for and not yet told count as pulled, whether asked for at once or one after the other."""
    pulled = drive(new(method), tape())
    for moment in {0, 1, 5, len(pulled) // 2, len(pulled) - 3, len(pulled) - 1}:
        finder, rewards = new(method), tape()
        drive(finder, rewards, moment)
        twin, third = copy.deepcopy(finder), copy.deepcopy(finder)
        batch = finder.ask(50)
        assert batch == [twin.ask() for _ in range(50)]
        assert batch == third.ask(13) + third.ask(37)
        assert [batch[0]] == pulled[moment : moment + 1]


@every_method
@pytest.mark.parametrize("seed", range(3))
def test_rewards_may_come_late_and_out_of_order(method: str, seed: int) -> None:
    """Batches of up to 20, about 30 rewards always on their way, arriving in any order."""
    rng = np.random.default_rng(seed)
    finder, rewards = new(method), tape()
    under_way: list[int] = []
    asked, told = Counter[int](), Counter[int]()
    balanced = is_elimination(method)
    while not finder.done:
        batch = finder.ask(int(rng.integers(1, 21)))
        active = {row.label for row in finder.estimates if row.active}
        assert set(batch) <= active
        under_way += [int(arm) for arm in batch]
        asked.update(under_way[-len(batch) :])
        assert finder.pending == len(under_way)
        if balanced:
            ahead = [asked[row.label] for row in finder.estimates if row.active]
            assert max(ahead) - min(ahead) <= 1
        rng.shuffle(under_way)
        while len(under_way) > 30 and not finder.done:
            arm = under_way.pop()
            finder.tell(arm, rewards.pull(arm))
            told[arm] += 1
            assert finder.pending == len(under_way)
        assert sum(told.values()) < STEPS
    assert finder.result.best == 0
    assert finder.result.pulls == sum(told.values())
    assert [row.pulls for row in finder.result.arms] == [told[arm] for arm in range(K)] == rewards.read
    decision = finder.result
    for arm in under_way:
        finder.tell(arm, rewards.pull(arm))
    assert finder.pending == 0
    assert finder.pulls == sum(asked.values())
    assert [row.pulls for row in finder.estimates] == [asked[arm] for arm in range(K)]
    assert finder.result == decision


@every_method
def test_rewards_that_nobody_asked_for_count(method: str) -> None:
    rng = np.random.default_rng(12)
    finder, rewards = new(method), tape()
    told = Counter[int]()
    while not finder.done:
        arm = int(rng.integers(K))
        finder.tell(arm, rewards.pull(arm))
        told[arm] += 1
        assert finder.pending == 0
        assert sum(told.values()) < STEPS
    assert finder.result.best == 0
    assert [row.pulls for row in finder.result.arms] == [told[arm] for arm in range(K)]


@every_spreading_method
def test_rewards_beyond_those_asked_for_leave_no_debt(method: str) -> None:
    finder = new(method)
    assert finder.ask(2) == [0, 1]
    for arm in (0, 0, 0, 2):
        finder.tell(arm, 1.0)
    assert finder.pending == 1  # that of arm 1
    assert finder.pulls == 4
    assert [row.pulls for row in finder.estimates] == [3, 0, 1, 0]
    assert finder.ask() == 3
    finder.tell(1, 1.0)
    finder.tell(3, 1.0)
    assert finder.pending == 0


@every_spreading_method
def test_an_arm_far_ahead_is_left_alone_until_the_others_have_caught_up(method: str) -> None:
    finder, rewards = new(method), tape()
    for _ in range(15):
        finder.tell(2, rewards.pull(2))
    assert Counter(finder.ask(18)) == {0: 6, 1: 6, 3: 6}


@every_method
def test_an_arm_that_is_out_is_never_asked_for(method: str) -> None:
    finder, rewards = new(method), tape()
    out: set[Any] = set()
    while not finder.done:
        now = {row.label for row in finder.estimates if not row.active}
        assert out <= now  # out for good
        out = now
        if finder.pulls % 10 == 0:
            assert not out & set(copy.deepcopy(finder).ask(3 * K))
        arm = finder.ask()
        assert isinstance(arm, int)
        assert arm not in out
        finder.tell(arm, rewards.pull(arm))
    if is_elimination(method) and method != "mean-se, same":  # which explores for so long that all go at once
        assert 3 in out


# ------------------------------------------------------------------------------------------------------ estimates


@every_method
def test_estimates_are_rows_with_an_interval_around_each_estimate(method: str) -> None:
    finder, rewards = new(method, arms=["A", "B", "C", "D"]), tape()
    assert [row.pulls for row in finder.estimates] == [0] * K
    assert all(math.isnan(row.estimate) for row in finder.estimates)
    told: list[list[float]] = [[] for _ in range(K)]
    bounded = 0
    while not finder.done:
        label = finder.ask()
        arm = "ABCD".index(str(label))
        told[arm].append(rewards.pull(arm))
        finder.tell(label, told[arm][-1])
        rows = finder.estimates
        assert [row.label for row in rows] == ["A", "B", "C", "D"]
        assert [row.pulls for row in rows] == [len(values) for values in told]
        for row, values in zip(rows, told, strict=True):
            assert type(row) is ba.ArmRow
            assert [type(value) for value in vars(row).values()] == [str, int, float, float, float, bool]
            assert row.lower <= row.estimate <= row.upper or (math.isnan(row.estimate) and not math.isfinite(row.upper))
            assert math.isfinite(row.upper) == math.isfinite(row.lower)
            assert values or not math.isfinite(row.upper)
            bounded += math.isfinite(row.upper)
    assert finder.result.arms == finder.estimates
    assert bounded > 0
    winner = finder.estimates[0]
    assert winner.active
    assert all(math.isfinite(row.upper) for row in finder.estimates)
    assert winner.estimate == max(row.estimate for row in finder.estimates)
