"""Order statistics kept online, against sorting on every prefix, and the invariants and the cost they promise."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bestarm.kernels.order_statistics import heaps, selection, sums
from bestarm.kernels.order_statistics.samples import DIVIDED, RAW, WINDOW, new_samples, with_larger_pool
from bestarm.kernels.order_statistics.windows import MARGIN
from kernel_tools import alone
from order_statistics_tools import (
    AT_CUT_0,
    AT_CUT_1,
    MEAN,
    READS,
    STREAMS,
    VANISHING,
    Adversary,
    Compiled,
    Floats,
    Interpreted,
    Ints,
    SwellAndDrain,
    assert_sum,
    check,
    drain_the_dearest,
    feed,
    oblivious,
    stream_of,
    sweep_dust,
    trimming_cuts,
)

heap_push, heap_pop = alone(heaps.heap_push), alone(heaps.heap_pop)
select_last = alone(selection.select_last)
add, dwarfs = alone(sums.add), alone(sums.dwarfs)

ALPHAS = [0.005, 0.05, 0.1, 0.25, 0.4, 0.49, 0.499]
PREFIXES = 2_000
SCIPY_PREFIXES = 1_200  # SciPy takes some 200 microseconds for each

# ---------------------------------------------------------------- every prefix of every stream


def read_every_prefix(values: Floats, cuts_0: Ints, cuts_1: Ints) -> Floats:
    reads = np.full((len(values), READS), np.nan)
    feed(new_samples(1), 0, values, cuts_0, cuts_1, reads)
    return reads


def assert_around(got: Floats, ordered: Sequence[float], rank: int) -> None:
    """Assert the order statistics read at a cut: MARGIN on either side of it, nan where there are not so many."""
    missing = max(0, MARGIN - rank)
    there = ordered[max(0, rank - MARGIN) : rank + MARGIN]
    assert got[missing : missing + len(there)].tolist() == there
    assert np.isnan(got[:missing]).all()
    assert np.isnan(got[missing + len(there) :]).all()


def assert_reads(row: Floats, ordered: Sequence[float], rank_0: int, rank_1: int) -> None:
    """Assert all that was read after an insert, from the rewards in sorted order."""
    assert_around(row[AT_CUT_0:AT_CUT_1], ordered, rank_0)
    if rank_1 > 0:
        assert_around(row[AT_CUT_1:], ordered, rank_1)
        assert_sum(row[MEAN], ordered[rank_0:rank_1], rank_1 - rank_0)


def assert_every_prefix(values: Floats, cuts_0: Ints, cuts_1: Ints, *, exact: bool = False) -> None:
    """Assert all that is read on every prefix, and if `exact` that the mean is correctly rounded."""
    reads = read_every_prefix(values, cuts_0, cuts_1)
    ordered: list[float] = []
    for row, value, rank_0, rank_1 in zip(reads, values.tolist(), cuts_0.tolist(), cuts_1.tolist(), strict=True):
        bisect.insort(ordered, value)
        assert_reads(row, ordered, rank_0, rank_1)
        if exact:
            assert row[MEAN] == math.fsum(ordered[rank_0:rank_1]) / (rank_1 - rank_0)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", STREAMS)
def test_every_prefix_is_that_of_sorting(name: str, alpha: float) -> None:
    """Trimmed mean and the order statistics at both cuts."""
    exact = name not in ("magnitudes", "early outliers")  # rewards of like size leave a pair of doubles no error at all
    assert_every_prefix(stream_of(name, PREFIXES, alpha), *trimming_cuts(alpha, PREFIXES), exact=exact)


@pytest.mark.parametrize("alpha", [0.25, *(pytest.param(alpha, marks=pytest.mark.slow) for alpha in (0.05, 0.49))])
@pytest.mark.parametrize("name", STREAMS)
def test_trimmed_mean_of_every_prefix_is_that_of_scipy(name: str, alpha: float) -> None:
    values = stream_of(name, SCIPY_PREFIXES, alpha)
    cuts_0, cuts_1 = trimming_cuts(alpha, SCIPY_PREFIXES)
    ours = read_every_prefix(values, cuts_0, cuts_1)[:, MEAN]
    ordered: list[float] = []
    for count, mean in enumerate(ours, start=1):
        bisect.insort(ordered, float(values[count - 1]))
        largest = max(abs(ordered[cuts_0[count - 1]]), abs(ordered[cuts_1[count - 1] - 1]))
        # SciPy adds up without compensation, by pairs of blocks: up to some 30 roundings of the largest.
        assert abs(mean - stats.trim_mean(values[:count], alpha)) <= 30.0 * math.ulp(largest)


@pytest.mark.parametrize("name", STREAMS)
def test_median_of_every_prefix_is_that_of_numpy(name: str) -> None:
    values = stream_of(name, PREFIXES, 0.25)
    sizes = np.arange(1, PREFIXES + 1)
    reads = read_every_prefix(values, (sizes - 1) >> 1, np.zeros_like(sizes))
    lower = reads[:, AT_CUT_0 + MARGIN]
    upper = np.where(sizes % 2 == 1, lower, reads[:, AT_CUT_0 + MARGIN + 1])
    assert ((lower + upper) / 2.0).tolist() == [float(np.median(values[:size])) for size in sizes]


@pytest.mark.parametrize("name", STREAMS)
def test_one_cut_is_that_of_sorting(name: str) -> None:
    sizes = np.arange(1, PREFIXES + 1)
    assert_every_prefix(stream_of(name, PREFIXES, 0.25), (sizes - 1) >> 1, np.zeros_like(sizes))


@pytest.mark.parametrize("alpha", [0.05, 0.25, 0.49])
@pytest.mark.parametrize("name", VANISHING)
def test_sums_lose_nothing_to_rewards_that_have_left_them(name: str, alpha: float) -> None:
    assert_every_prefix(stream_of(name, PREFIXES, alpha), *trimming_cuts(alpha, PREFIXES))


@pytest.mark.parametrize("alpha", [0.0, 0.005, 0.25, 0.499, None])
def test_raw_rewards_are_divided_when_asked_for(alpha: float | None) -> None:
    """Nothing is read before the first question, which comes at a count of any size; `None` is a median's one cut."""
    for count in [*range(1, 2 * WINDOW), 200, 1_000, 5_000]:
        values = stream_of("three-valued" if count % 3 == 0 else "normal", count + 100, 0.25)
        sizes = np.arange(1, len(values) + 1)
        cuts_0, cuts_1 = ((sizes - 1) >> 1, 0 * sizes) if alpha is None else trimming_cuts(alpha, len(values))
        store = Compiled()
        store.samples = feed(store.samples, 0, values[:count], cuts_0[:count], cuts_1[:count], np.empty((0, READS)))
        check(store, 0, values[:count].tolist(), int(cuts_0[count - 1]), int(cuts_1[count - 1]))
        assert (store.arm().divided == RAW) == (count > WINDOW)
        for step in range(count, len(values)):
            row = store.insert(float(values[step]), int(cuts_0[step]), int(cuts_1[step]))
            if step in (count, count + 1, count + 50, len(values) - 1):
                rewards = values[: step + 1].tolist()
                assert_reads(row, sorted(rewards), int(cuts_0[step]), int(cuts_1[step]))
                check(store, 0, rewards, int(cuts_0[step]), int(cuts_1[step]))


# ---------------------------------------------------------------- invariants, for any rewards and any cuts

any_reward = st.one_of(
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-300, 1.0, -1.0, 1e290, -1e290]),
    st.floats(-1e290, 1e290, allow_subnormal=True),
    st.builds(math.ldexp, st.floats(-1.0, 1.0), st.integers(-900, 900)),
)
# Of like size, or zero: sums of these lose no digit whatever leaves them.
tame_reward = st.integers(-500, 500).map(lambda number: 0.1 * number)

LONGEST_JUMP = 60  # of a cut, in an insert before which the room was counted: windows take no more than that at once


class Segment(NamedTuple):
    """A stretch of a stream, with what happens to the cuts: a jump at its start, then a drift."""

    shape: str
    length: int
    jumps: tuple[int, int]
    drifts: tuple[int, int]


SHAPES = ["repeat", "cycle", "climb", "descend", "shuffle"]


def rewards_of(segment: Segment, palette: Sequence[float], seed: int) -> list[float]:
    places = range(segment.length)
    first = seed % len(palette)
    match segment.shape:
        case "repeat":
            return [palette[first]] * segment.length
        case "cycle":
            return [palette[place % len(palette)] for place in places]
        case "shuffle":
            shuffled = np.random.default_rng(seed).integers(len(palette), size=segment.length)
            return [palette[place] for place in shuffled.tolist()]
        case "fade":
            return [math.ldexp(palette[first], -8 * place) for place in places]
    # From one reward of the palette to another, by the way of all that lie between them.
    ordered = sorted(palette)
    steps = [ordered[place * len(ordered) // segment.length] for place in places]
    return steps if segment.shape == "climb" else steps[::-1]


def streams(
    reward: st.SearchStrategy[float], shapes: list[str]
) -> st.SearchStrategy[list[tuple[Segment, list[float]]]]:
    """Return a strategy for streams made of a few rewards: long enough to be divided, small enough to be shrunk."""
    jump, drift = st.integers(-LONGEST_JUMP, LONGEST_JUMP), st.integers(-2, 2)
    segment = st.builds(
        Segment, st.sampled_from(shapes), st.integers(1, 90), st.tuples(jump, jump), st.tuples(drift, drift)
    )

    def expand(drawn: tuple[list[float], list[Segment]]) -> list[tuple[Segment, list[float]]]:
        palette, parts = drawn
        return [(part, rewards_of(part, palette, place)) for place, part in enumerate(parts)]

    return st.tuples(st.lists(reward, min_size=1, max_size=40), st.lists(segment, min_size=1, max_size=8)).map(expand)


def follow(stream: list[tuple[Segment, list[float]]], *, alpha: float | None = None, cuts: int = 2) -> None:
    """Insert a stream with fixed (`alpha`) or roving cuts, and assert everything after each insert."""
    store = Compiled()
    inserted: list[float] = []
    ordered: list[float] = []
    rank_0, rank_1 = 0, 0
    for segment, rewards in stream:
        for place, reward in enumerate(rewards):
            inserted.append(reward)
            bisect.insort(ordered, reward)
            count = len(inserted)
            if alpha is None:
                store.ask_for_room()
                moves = segment.drifts if place > 0 else segment.jumps
                rank_0 = min(max(rank_0 + moves[0], 0), count - 1)
                rank_1 = min(max(rank_1 + moves[1], rank_0 + 1), count) if cuts == 2 else 0
            else:
                rank_0 = int(alpha * count)
                rank_1 = count - rank_0
            row = store.insert(reward, rank_0, rank_1)
            assert_reads(row, ordered, rank_0, rank_1)
            check(store, 0, inserted, rank_0, rank_1)


@given(streams(tame_reward, SHAPES), st.sampled_from([0.0, *ALPHAS]))
@settings(max_examples=60)
def test_invariants_with_trimming_cuts(stream: list[tuple[Segment, list[float]]], alpha: float) -> None:
    follow(stream, alpha=alpha)


@given(streams(tame_reward, SHAPES), st.integers(1, 2))
@settings(max_examples=100)
def test_invariants_with_roving_cuts(stream: list[tuple[Segment, list[float]]], cuts: int) -> None:
    follow(stream, cuts=cuts)


@given(streams(any_reward, [*SHAPES, "fade"]), st.sampled_from(ALPHAS))
@settings(max_examples=60)
def test_invariants_with_any_rewards(stream: list[tuple[Segment, list[float]]], alpha: float) -> None:
    follow(stream, alpha=alpha)


@given(st.lists(any_reward, min_size=1, max_size=2 * WINDOW), st.sampled_from([0.0, *ALPHAS]))
def test_any_list_of_rewards(rewards: list[float], alpha: float) -> None:
    values = np.array(rewards)
    assert_every_prefix(values, *trimming_cuts(alpha, len(values)))


@pytest.mark.parametrize("target", [100, 300, 600, 1_500, 1_990])
def test_a_cut_may_wander_any_distance(target: int) -> None:
    """By two rewards an insert, which is what rooms are reckoned for: up to a rank, and down again."""
    store = Interpreted()
    values = stream_of("normal", 2_000 + 2 * target, 0.0).tolist()
    rank = 0
    for count, value in enumerate(values, start=1):
        if count > 2_000:
            rank += 2 if count <= 2_000 + target // 2 else -2
        store.insert(value, min(max(rank, 0), count - 1), count)
        if count % 500 == 0:
            check(store, 0, values[:count], min(max(rank, 0), count - 1), count)


# ---------------------------------------------------------------- many arms in one pool


def test_arms_that_share_a_pool_stay_apart() -> None:
    """Ten arms in random order, each with cuts of its own, while the pool moves again and again."""
    arms, length = 10, 6_000
    rng = np.random.default_rng(10)
    names = sorted(STREAMS)[:arms]
    values = [stream_of(name, length, 0.25) + 1000.0 * arm for arm, name in enumerate(names)]
    sizes = np.arange(1, length + 1)
    cuts = [trimming_cuts(alpha, length) for alpha in [*ALPHAS, 0.0, 0.3]] + [((sizes - 1) >> 1, 0 * sizes)]
    told = [0] * arms
    ordered: list[list[float]] = [[] for _ in range(arms)]
    store = Compiled(arms)
    pools = 0
    while min(told) < length:
        arm = int(rng.choice([place for place in range(arms) if told[place] < length]))
        begin, end = told[arm], min(length, told[arm] + int(rng.integers(1, 60)))
        cuts_0, cuts_1 = (ranks[begin:end] for ranks in cuts[arm])
        reads = np.full((end - begin, READS), np.nan)
        before = store.samples.pool
        if rng.random() < 0.02:
            store.samples = with_larger_pool(store.samples, arm)
        store.samples = feed(store.samples, arm, values[arm][begin:end], cuts_0, cuts_1, reads)
        pools += store.samples.pool is not before
        for step in range(end - begin):
            bisect.insort(ordered[arm], float(values[arm][begin + step]))
            assert_reads(reads[step], ordered[arm], int(cuts_0[step]), int(cuts_1[step]))
        told[arm] = end
        if rng.random() < 0.1:
            for other in range(arms):
                if told[other] > 0:
                    ranks = (int(ranks[told[other] - 1]) for ranks in cuts[other])
                    check(store, other, ordered[other], *ranks)
    assert pools > 5


# ---------------------------------------------------------------- sums over millions of rewards

MANY = 2_000_000


@pytest.mark.parametrize("drift", [0.0, 1e-3])
def test_sums_do_not_drift_in_millions_of_inserts(drift: float) -> None:
    """With a drift, every reward enters and leaves each pile and window on its way through the sorted order."""
    rng = np.random.default_rng(2)
    values = 1e9 + rng.standard_normal(MANY) + drift * np.arange(MANY)
    values[::100] += 1e4 * rng.standard_cauchy(MANY // 100)
    reads = np.full((2, READS), np.nan)
    cuts_0, cuts_1 = trimming_cuts(0.1, MANY)
    first = 5_000  # read once early, so that the rest is not left raw
    store = Compiled()
    store.samples = feed(store.samples, 0, values[:first], cuts_0[:first], cuts_1[:first], reads[:1])
    assert store.arm().divided == DIVIDED
    store.samples = feed(store.samples, 0, values[first:], cuts_0[first:], cuts_1[first:], reads[1:])
    ordered = np.sort(values)
    kept = ordered[cuts_0[-1] : cuts_1[-1]]
    mean = math.fsum(kept) / kept.size
    assert abs(reads[1, MEAN] - mean) <= math.ulp(mean)
    naive = float(np.cumsum(kept)[-1]) / kept.size
    assert abs(naive - mean) > 20.0 * math.ulp(mean)  # what a running sum without compensation comes to


# ---------------------------------------------------------------- cost, counted

LONGEST = 20_000
OBLIVIOUS = ["sorted", "reversed", "constant", "organ pipe", "outward", "inward", "low atom at the cut"]
ADAPTIVE: dict[str, Callable[[], Adversary]] = {
    "drain the dearest": lambda: drain_the_dearest,
    "sweep dust": lambda: sweep_dust,
    "swell and drain below window 0": lambda: SwellAndDrain(0),
    "swell and drain above window 0": lambda: SwellAndDrain(1),
    "swell and drain below window 1": lambda: SwellAndDrain(2),
    "swell and drain above window 1": lambda: SwellAndDrain(3),
}


def work_of(adversary: Adversary, alpha: float) -> list[tuple[int, int, int]]:
    """Return count, rewards touched and rewards handed to selections at counts that double up to LONGEST."""
    store = Interpreted()
    work = []
    for count in range(1, LONGEST + 1):
        value = adversary(store.arm(), store.pool, count - 1)
        trimmed = int(alpha * count)
        store.insert(value, trimmed, count - trimmed)
        if count * 16 >= LONGEST and (LONGEST // count) * count == LONGEST and (LONGEST // count).bit_count() == 1:
            work.append((count, store.touches, store.selected))
    return work


@pytest.mark.parametrize(
    ("name", "alpha"),
    [
        *((name, 0.25) for name in [*OBLIVIOUS, *ADAPTIVE]),
        ("drain the dearest", 0.05),
        ("drain the dearest", 0.49),
        ("sweep dust", 0.4),
    ],
)
def test_any_order_of_rewards_costs_a_logarithm_an_insert(name: str, alpha: float) -> None:
    """Measured: up to 13 rewards selected from and 145 touched an insert at n = 20,000, where log2(n) = 14.3."""
    work = work_of(ADAPTIVE[name]() if name in ADAPTIVE else oblivious(name, LONGEST, alpha), alpha)
    assert [count for count, _, _ in work] == [1_250, 2_500, 5_000, 10_000, 20_000]
    for count, touched, selected in work:
        assert selected <= count * math.log2(count)
        assert touched <= 16.0 * count * math.log2(count)
    if (
        name == "sweep dust"
    ):  # the exception that the docstring names: what dwarfs the rest leaves a pile again and again
        return
    # Twice as many inserts: a little over twice the work, where anything quadratic would take four times as much.
    assert work[-1][1] <= 2.5 * max(work[-2][1], 20 * work[-2][0])
    assert work[-1][2] <= 8.0 * max(work[-3][2], 5 * work[-3][0])  # a filling is a step, so four times as many


@pytest.mark.parametrize("alpha", [0.05, 0.25, 0.49])
def test_exchangeable_rewards_cost_a_constant_an_insert(alpha: float) -> None:
    work = work_of(oblivious("normal", LONGEST, alpha), alpha)
    each = [touched / count for count, touched, _ in work]
    assert each[-1] < 20.0
    assert each[-1] < each[0]


def test_reading_costs_nothing_that_grows() -> None:
    """The mean touches no reward at all, an order statistic one."""
    store = Interpreted()
    values = stream_of("normal", 3_000, 0.25).tolist()
    for count, value in enumerate(values, start=1):
        store.insert(value, count // 4, count - count // 4)
    ordered = sorted(values)
    before = store.touches
    assert store.read("kept_mean", 750, 2_250) == math.fsum(ordered[750:2_250]) / 1_500
    assert store.touches == before
    assert store.read("order_statistic", 751) == ordered[751]
    assert store.touches == before + 1


@pytest.mark.parametrize("name", ["normal", "shifted", "constant", "organ pipe"])
def test_ranks_in_sight_have_bounds_and_all_bounds_hold(name: str) -> None:
    """What quiet stretches rest on: a value for each rank in a window, a fence for those in its reserves."""
    store = Interpreted()
    ordered: list[float] = []
    fenced = 0
    for count, value in enumerate(stream_of(name, 4_000, 0.1).tolist(), start=1):
        bisect.insort(ordered, value)
        cuts = count // 10, count - count // 10
        store.insert(value, *cuts)
        if count % 97 or store.arm().divided != DIVIDED:
            continue
        for w, cut in enumerate(cuts):
            below, above = (store.kernels[f"sight_{side}"](store.arm(), w) for side in ("below", "above"))
            assert 0 < below <= cut
            assert 0 < above <= count - cut
            for rank in range(max(0, cut - below - 50), min(count, cut + above + 50)):
                least, most = store.read("least_at", w, rank), store.read("most_at", w, rank)
                assert least <= ordered[rank] <= most
                assert rank >= cut or (least > -math.inf) == (rank >= cut - below)
                assert rank < cut or (most < math.inf) == (rank < cut + above)
                fenced += least < ordered[rank]
    assert fenced > 0 or name == "constant"


@pytest.mark.parametrize("alpha", [0.05, 0.25, 0.49])
def test_what_is_counted_is_what_is_compiled(alpha: float) -> None:
    """The interpreted kernels leave the very records and rewards that the compiled ones do."""
    compiled, interpreted = Compiled(), Interpreted()
    for count, value in enumerate(stream_of("shifted", 1_500, alpha).tolist(), start=1):
        trimmed = int(alpha * count)
        compiled.insert(value, trimmed, count - trimmed)
        interpreted.insert(value, trimmed, count - trimmed)
    arm = compiled.arm()
    assert arm == SimpleNamespace(**vars(interpreted.arm()))
    for start, held in zip(arm.start + arm.window, arm.held + arm.width, strict=True):
        ours = compiled.samples.pool[start : start + held].tolist()
        assert ours == interpreted.samples.pool[start : start + held]


# ---------------------------------------------------------------- heaps, selection and sums by themselves

FENCE = 1e300  # around the range that a kernel may touch


@given(st.lists(any_reward, max_size=200), st.integers(0, 20))
def test_a_heap_sorts(values: list[float], start: int) -> None:
    pool = np.full(start + len(values) + 5, FENCE)
    for size, value in enumerate(values):
        heap_push(pool, start, size, value)
        heap = pool[start : start + size + 1]
        assert all(heap[(child - 1) // 2] >= heap[child] for child in range(1, size + 1))
    popped = [heap_pop(pool, start, size) for size in range(len(values), 0, -1)]
    assert popped == sorted(values, reverse=True)
    assert (pool[:start] == FENCE).all()
    assert (pool[start + len(values) :] == FENCE).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("kinds", [1, 2, 3, 30, 10_000])
def test_selection_brings_the_largest_to_the_end(kinds: int, sign: float) -> None:
    rng = np.random.default_rng(kinds)
    for size in [*range(1, 40), 64, 100, 1_000, 3_000]:
        for values in (rng.integers(kinds, size=size) - kinds / 2.0, np.sort(rng.integers(kinds, size=size) * 0.1)):
            for taken in {0, 1, size // 3, size // 2, size - 1, size}:
                pool = np.full(size + 20, sign * FENCE)
                pool[7 : 7 + size] = values
                select_last(pool, 7, size, taken, sign)
                selected = pool[7 : 7 + size]
                assert np.sort(selected).tolist() == np.sort(values).tolist()
                assert (
                    np.sort(sign * selected[size - taken :]).tolist() == np.sort(sign * values)[size - taken :].tolist()
                )
                assert (pool[:7] == sign * FENCE).all()
                assert (pool[7 + size :] == sign * FENCE).all()


@given(st.lists(any_reward, max_size=60), st.integers(0, 60), st.sampled_from([1.0, -1.0]))
def test_selection_of_any_rewards(values: list[float], taken: int, sign: float) -> None:
    pool = np.array(values)
    taken = min(taken, len(values))
    select_last(pool, 0, len(values), taken, sign)
    assert sorted(pool.tolist()) == sorted(values)
    assert sorted(sign * pool[len(values) - taken :]) == sorted(sign * value for value in values)[len(values) - taken :]


@given(any_reward, any_reward)
def test_an_addition_keeps_its_rounding_error(high: float, value: float) -> None:
    total, rest = add(high, 0.0, value)
    assert total == high + value
    assert Fraction(total) + Fraction(rest) == Fraction(high) + Fraction(value)


@given(st.lists(st.floats(-1e9, 1e9).filter(lambda value: value == 0.0 or abs(value) > 1e-9), max_size=300))
def test_a_running_pair_is_the_exact_sum(values: list[float]) -> None:
    """Put in and taken out again in another order: what remains is right to the last digit of the largest."""
    total, rest = 0.0, 0.0
    for value in values:
        total, rest = add(total, rest, value)
    assert_sum(total + rest, sorted(values))
    kept = values[::3]
    for place, value in enumerate(values):
        if place % 3 != 0:
            total, rest = add(total, rest, -value)
    # 2^-106 of the largest partial sum for each of 500 additions
    assert abs(total + rest - math.fsum(kept)) <= math.ulp(math.fsum(kept)) + 2.0**-97 * math.fsum(map(abs, values))


def test_what_dwarfs_a_sum() -> None:
    assert dwarfs(2.0**31, 1.0, -0.5)
    assert not dwarfs(2.0**30, 1.0, -0.5)
    assert not dwarfs(2.0**31, 0.5, -2.0)
    assert dwarfs(1e-300, 0.0, 0.0)  # nothing but zeros remains
    assert not dwarfs(0.0, 0.0, 0.0)
