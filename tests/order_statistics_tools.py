"""What the tests of the order statistics share: access to arms, compiled and interpreted, streams, and invariants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import FunctionType, SimpleNamespace
from typing import Any, cast

import numpy as np
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import entry_kernel
from bestarm.kernels.order_statistics import division, heaps, piles, quantiles, samples, selection, sums, windows
from bestarm.kernels.order_statistics.division import divide
from bestarm.kernels.order_statistics.quantiles import kept_mean, order_statistic
from bestarm.kernels.order_statistics.samples import (
    DIVIDED,
    FEW,
    FIRST_RESERVE,
    RAW,
    WAITING,
    WINDOW,
    Samples,
    new_samples,
    with_larger_pool,
)
from bestarm.kernels.order_statistics.windows import MARGIN, has_room, insert, insert_raw

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# ---------------------------------------------------------------- compiled access

# What `feed` reads: the trimmed mean, then MARGIN order statistics on either side of each cut.
MEAN, AT_CUT_0, AT_CUT_1 = 0, 1, 1 + 2 * MARGIN
READS = 1 + 4 * MARGIN


@entry_kernel
def _feed(samples: Samples, index: int, values: Floats, cuts_0: Ints, cuts_1: Ints, first: int, reads: Floats) -> int:
    """Insert values from `first` on, until there is no more room; return how many have been inserted."""
    unread = values.size - reads.shape[0]
    arm = samples.arms[index]
    pool = samples.pool
    for step in range(first, values.size):
        if arm.room_left == 0 and not has_room(arm, pool, samples.used):
            return step
        rank_0, rank_1 = cuts_0[step], cuts_1[step]
        if arm.divided == RAW:
            insert_raw(arm, pool, values[step], rank_0, rank_1)
        else:
            insert(arm, pool, values[step], rank_0, rank_1)
        if step < unread:
            continue
        if arm.divided == RAW:
            divide(arm, pool, rank_0, rank_1)
        row = reads[step - unread]
        if rank_1 > 0:
            row[MEAN] = kept_mean(arm, pool, rank_0, rank_1)
        for place in range(2 * MARGIN):
            rank = rank_0 + place - MARGIN
            if 0 <= rank < arm.count:
                row[AT_CUT_0 + place] = order_statistic(arm, pool, rank)
            rank = rank_1 + place - MARGIN
            if 0 <= rank < arm.count and rank_1 > 0:
                row[AT_CUT_1 + place] = order_statistic(arm, pool, rank)
    return values.size


def feed(samples: Samples, index: int, values: Floats, cuts_0: Ints, cuts_1: Ints, reads: Floats) -> Samples:
    """Insert values one by one; after each of the last `len(reads)`, read all there is to read."""
    step = 0
    while (step := _feed(samples, index, values, cuts_0, cuts_1, step, reads)) < values.size:
        samples = with_larger_pool(samples, index)
    return samples


def trimming_cuts(alpha: float, count: int, start: int = 0) -> tuple[Ints, Ints]:
    """Return the ranks of both cuts after each of `count` inserts that follow `start` others."""
    sizes = np.arange(start + 1, start + count + 1)
    trimmed = np.floor(alpha * sizes).astype(np.int64)
    return trimmed, sizes - trimmed


class Compiled:
    """Arms of the compiled kernels, one insert at a time."""

    def __init__(self, arms: int = 1) -> None:
        self.samples = new_samples(arms)

    def arm(self, index: int = 0) -> SimpleNamespace:
        """Return a copy of an arm's record."""
        return _plain_record(self.samples.arms[index])

    def insert(self, value: float, rank_0: int, rank_1: int, index: int = 0) -> Floats:
        """Insert a reward and return what `feed` reads."""
        reads = np.full((1, READS), np.nan)
        ranks = np.array([rank_0]), np.array([rank_1])
        self.samples = feed(self.samples, index, np.array([value]), *ranks, reads)
        return reads.ravel()

    def ask_for_room(self, index: int = 0) -> None:
        """Have the next insert count the room that is left, however many were said to be safe."""
        self.samples.arms["room_left"][index] = 0


def _plain_record(row: Any) -> SimpleNamespace:
    return SimpleNamespace(**{name: row[name].tolist() for name in row.dtype.names})


# ---------------------------------------------------------------- interpreted access


class CountedPool(list[float]):
    """A pool that counts how often one of its rewards is read or written."""

    touches = 0

    @property
    def size(self) -> int:
        return len(self)

    def __getitem__(self, place: Any) -> Any:
        self.touches += 1
        return list.__getitem__(self, place)

    def __setitem__(self, place: Any, value: Any) -> None:
        self.touches += 1
        list.__setitem__(self, place, value)


class _Records(list[SimpleNamespace]):
    @property
    def size(self) -> int:
        return len(self)


def _plain_kernels(select_last: Callable[[Callable[..., None]], Callable[..., None]]) -> dict[str, Callable[..., Any]]:
    """Return the kernels as the Python functions they were before they were compiled, calling each other."""
    modules = [sums, heaps, selection, samples, piles, windows, quantiles, division]
    spaces = {module.__name__: dict(vars(module)) for module in modules}
    found: dict[str, Callable[..., Any]] = {}
    for space in spaces.values():
        for name, value in space.items():
            if isinstance(value, Dispatcher):
                source = value.py_func
                plain: Callable[..., Any] = FunctionType(source.__code__, spaces[source.__module__], name)
                found[name] = space[name] = select_last(plain) if name == "select_last" else plain
            elif isinstance(value, np.integer):
                space[name] = int(value)
    return found


class Interpreted:
    """The same arms as `Compiled`, by the same kernels as plain Python on lists.

    All work can be counted, a wrong index raises, and an adversary may look at the record (`arm`) before it answers.
    """

    def __init__(self, arms: int = 1) -> None:
        self.selected = 0  # rewards that `select_last` had to look at
        self._touched_before = 0
        self.kernels = _plain_kernels(self._counting)
        fresh = new_samples(arms)
        records = _Records(_plain_record(row) for row in fresh.arms)
        self.samples = Samples(cast(Any, records), cast(Any, CountedPool(fresh.pool.tolist())), fresh.used)

    def _counting(self, select: Callable[..., None]) -> Callable[..., None]:
        def counted(pool: Any, start: int, size: int, taken: int, sign: float) -> None:
            self.selected += size
            select(pool, start, size, taken, sign)

        return counted

    @property
    def touches(self) -> int:
        """Reads and writes of rewards so far, those of moves to larger pools included."""
        return self._touched_before + self.pool.touches

    @property
    def pool(self) -> CountedPool:
        return cast(CountedPool, self.samples.pool)

    def arm(self, index: int = 0) -> SimpleNamespace:
        """Return an arm's record itself."""
        return cast(SimpleNamespace, self.samples.arms[index])

    def insert(self, value: float, rank_0: int, rank_1: int, index: int = 0) -> None:
        arm = self.arm(index)
        while arm.room_left == 0 and not self.kernels["has_room"](arm, self.samples.pool, self.samples.used):
            size = max(self.kernels["_size_wanted"](self.samples, index), len(self.pool))
            moved = CountedPool([0.0] * size)
            self.kernels["_move"](self.samples, moved)
            self._touched_before = self.touches
            self.samples = self.samples._replace(pool=cast(Any, moved))
        if arm.divided == RAW:
            self.kernels["insert_raw"](arm, self.samples.pool, value, rank_0, rank_1)
            self.kernels["divide"](arm, self.samples.pool, rank_0, rank_1)
        else:
            self.kernels["insert"](arm, self.samples.pool, value, rank_0, rank_1)

    def read(self, kernel: str, *arguments: int) -> float:
        """Return what one of the reading kernels says of the first arm."""
        return float(self.kernels[kernel](self.arm(), self.samples.pool, *arguments))


# ---------------------------------------------------------------- streams

Stream = Callable[[np.random.Generator, int, float], Floats]


def _trimmed_outliers(rng: np.random.Generator, count: int, alpha: float, *, early: bool) -> Floats:
    """Normal rewards, and 1e280 whenever one more is trimmed: all outliers are, always, or all but one if `early`."""
    values = rng.standard_normal(count)
    trimmed = np.floor(alpha * np.arange(count + 1)).astype(np.int64)
    steps = np.flatnonzero(np.diff(trimmed))  # those before which one less was trimmed: never two in a row
    values[np.minimum(steps + 1, count - 1)] = -1e280
    values[np.maximum(steps - int(early), 0)] = 1e280
    return values


def _organ_pipe(count: int) -> Floats:
    steps = np.arange(count)
    return 0.1 * np.minimum(steps, count - steps)


def _alternating(count: int) -> Floats:
    return np.where(np.arange(count) % 2 == 0, 1.0, -1.0)


def _signed_magnitudes(rng: np.random.Generator, count: int, decades: float) -> Floats:
    return np.asarray(rng.choice([-1.0, 1.0], count) * 10.0 ** rng.uniform(-decades, decades, count))


# Values that are not sums of a few powers of two (0.1, 0.3), so that adding them up has to round.
STREAMS: dict[str, Stream] = {
    "normal": lambda rng, count, alpha: rng.standard_normal(count),
    "sorted": lambda rng, count, alpha: np.sort(rng.standard_normal(count)),
    "reversed": lambda rng, count, alpha: np.sort(rng.standard_normal(count))[::-1].copy(),
    "constant": lambda rng, count, alpha: np.full(count, 0.1),
    "bernoulli": lambda rng, count, alpha: np.where(rng.random(count) < 0.5, 1.0, 0.0),
    "rare bernoulli": lambda rng, count, alpha: np.where(rng.random(count) < 0.02, 0.1, 0.0),
    "low atom at the cut": lambda rng, count, alpha: np.where(rng.random(count) < alpha, -0.1, 0.3),
    "high atom at the cut": lambda rng, count, alpha: np.where(rng.random(count) < alpha, 0.3, 0.0),
    "three-valued": lambda rng, count, alpha: rng.choice([-0.3, 0.1, 2.7], count, p=[0.3, 0.4, 0.3]),
    "magnitudes": lambda rng, count, alpha: _signed_magnitudes(rng, count, 30.0),
    "outliers": lambda rng, count, alpha: _trimmed_outliers(rng, count, alpha, early=False),
    "early outliers": lambda rng, count, alpha: _trimmed_outliers(rng, count, alpha, early=True),
    "sawtooth": lambda rng, count, alpha: 0.1 * (np.arange(float(count)) % 97.0),
    "drifting": lambda rng, count, alpha: 0.01 * np.arange(count) + rng.standard_normal(count),
    "shifted": lambda rng, count, alpha: rng.standard_normal(count) + 3.0 * (np.arange(count) >= count // 3),
    "organ pipe": lambda rng, count, alpha: _organ_pipe(count),
    "outward": lambda rng, count, alpha: 0.1 * np.arange(count) * _alternating(count),
    "inward": lambda rng, count, alpha: _alternating(count) / np.arange(1.0, count + 1.0),
}

# Streams in which rewards leave a sum that all remaining ones together are nothing against, suddenly or bit by bit.
VANISHING: dict[str, Stream] = {
    "sorted magnitudes": lambda rng, count, alpha: np.sort(_signed_magnitudes(rng, count, 30.0)),
    "rising to zero": lambda rng, count, alpha: -(2.0 ** -np.linspace(-300.0, 300.0, count)),
    "falling to zero": lambda rng, count, alpha: 2.0 ** -np.linspace(-300.0, 300.0, count),
    "steps of 2^30": lambda rng, count, alpha: np.sort(-rng.random(count) * 2.0 ** (30.0 * rng.integers(-9, 9, count))),
    "dying out": lambda rng, count, alpha: rng.standard_normal(count) * np.exp(-0.1 * np.arange(count)),
    "zeros in between": lambda rng, count, alpha: np.sort(
        np.concatenate([-1e30 * rng.random(count // 4), np.zeros(40), 1e-5 * rng.random(count - count // 4 - 40)])
    ),
}


def stream_of(name: str, count: int, alpha: float) -> Floats:
    seed = sorted(STREAMS | VANISHING).index(name)
    values = (STREAMS | VANISHING)[name](np.random.default_rng([seed, count]), count, alpha)
    return np.asarray(values, dtype=np.float64)


# ---------------------------------------------------------------- adversaries

Adversary = Callable[[SimpleNamespace, CountedPool, int], float]


def oblivious(name: str, count: int, alpha: float) -> Adversary:
    values = stream_of(name, count, alpha).tolist()
    return lambda arm, pool, step: values[step]


def drain_the_dearest(arm: SimpleNamespace, pool: CountedPool, step: int) -> float:
    """Starve the reserve that is the smallest for its bulk: to fill it again costs most for a reward."""
    if arm.divided != DIVIDED:
        return float(step if step % 2 else -step)
    dearest = max(
        range(FIRST_RESERVE, WAITING),
        key=lambda place: arm.held[(place - FIRST_RESERVE + 1) // 2] / (arm.held[place] + 1),
    )
    # Rewards below all others let both cuts sink in the sorted order, those above all others let both rise.
    return -1.0 - step if (dearest - FIRST_RESERVE) % 2 == 0 else 1.0 + step


class SwellAndDrain:
    """Push rewards into one reserve until it gives itself up to the bulk, then starve it, and so on."""

    def __init__(self, reserve: int) -> None:
        self.reserve = reserve
        self.swelling = True
        self.size = 0

    def __call__(self, arm: SimpleNamespace, pool: CountedPool, step: int) -> float:
        if arm.divided != DIVIDED:
            return float(step if step % 2 else -step)
        size = arm.held[FIRST_RESERVE + self.reserve]
        if size < self.size - 5 if self.swelling else size > self.size + 5:
            self.swelling = not self.swelling
        self.size = size
        w, above = divmod(self.reserve, 2)
        if self.swelling and arm.width[w] > 0:
            edge = list.__getitem__(pool, arm.window[w] + (arm.width[w] - 1 if above else 0))
            between = (edge + arm.fence[self.reserve]) / 2.0
            if min(edge, arm.fence[self.reserve]) < between < max(edge, arm.fence[self.reserve]):
                return float(between)
        return 1.0 + step if above else -1.0 - step


def sweep_dust(arm: SimpleNamespace, pool: CountedPool, step: int) -> float:
    """Swing the upper cut between a huge atom and one of dust; at times a reward that the huge one does not dwarf."""
    if arm.divided != DIVIDED:
        return -1.0 if step % 2 else 1e-20
    if step % 8 == 0:
        return 5.0
    last = arm.window[1] + arm.width[1] - 1
    return 1e-20 if arm.width[1] > 0 and list.__getitem__(pool, last) == -1.0 else -1.0


# ---------------------------------------------------------------- invariants


def assert_sum(got: float, members: Sequence[float], divisor: int = 1) -> None:
    """Assert a sum of members in sorted order, or its quotient by a whole number.

    It may be off by one unit in the last place, or in case of cancellation by 2^-60 of the largest member: a pair of
    doubles has 106 bits, less the 40 that the removal of a larger member may cost (`sums.dwarfs`).
    """
    total = math.fsum(members)
    want = total / divisor
    if got != want:
        slack = max(math.ulp(total), 2.0**-60 * max(abs(members[0]), abs(members[-1]))) if members else 0.0
        assert abs(got - want) <= slack / divisor + (math.ulp(want) if divisor > 1 else 0.0)


def check(store: Compiled | Interpreted, index: int, inserted: Sequence[float], rank_0: int, rank_1: int) -> None:
    """Assert all that the docstrings of the kernels promise of an arm, from its raw record and the pool."""
    arm, pool = store.arm(index), store.samples.pool

    def stored(start: int, size: int) -> list[float]:
        return [float(value) for value in pool[start : start + size]]

    assert arm.count == len(inserted)
    if arm.divided == FEW:
        assert arm.count <= WINDOW
        assert stored(arm.window[0], arm.count) == sorted(inserted)
        assert arm.cut == [rank_0, rank_1]
        return

    # Every store lies within its room, the windows within theirs, and no two rooms overlap.
    rooms = []
    for other in range(len(store.samples.arms)):
        its = store.arm(other)
        rooms += [(start, start + WINDOW) for start in its.window]
        rooms += [(start, start + room) for start, room in zip(its.start, its.room, strict=True) if room > 0]
    rooms.sort()
    assert all(end <= begin for (_, end), (begin, _) in pairwise(rooms))
    assert rooms[-1][1] <= store.samples.used[0] <= store.samples.pool.size
    assert all(held <= room for held, room in zip(arm.held, arm.room, strict=True))
    assert all(width < WINDOW for width in arm.width)

    if arm.divided == RAW:
        assert sorted(stored(arm.start[1], arm.count)) == sorted(inserted)
        assert arm.held == [0, arm.count, 0, 0, 0, 0, 0, 0]
        assert arm.cut == [rank_0, rank_1]
        return

    # Heaps with the reward next to the window on top; the two above their window are stored with the sign changed.
    bulks = [stored(arm.start[pile], arm.held[pile]) for pile in range(FIRST_RESERVE)]
    reserves = []
    for place in range(FIRST_RESERVE, WAITING):
        reserve = stored(arm.start[place], arm.held[place])
        assert 0 <= arm.heaped[place] <= len(reserve)
        assert all(reserve[(child - 1) // 2] >= reserve[child] for child in range(1, arm.heaped[place]))
        reserves.append(reserve if (place - FIRST_RESERVE) % 2 == 0 else [-value for value in reserve])
    windows = [stored(arm.window[w], arm.width[w]) for w in range(2)]

    # One sorted order: within the windows, and from part to part and fence to fence.
    assert all(window == sorted(window) for window in windows)
    below_0, above_0, below_1, above_1 = reserves
    fences = [[fence] for fence in arm.fence]
    parts = [bulks[0], fences[0], below_0, windows[0], above_0, fences[1], bulks[1]]
    parts += [fences[2], below_1, windows[1], above_1, fences[3], bulks[2]]
    assert all(max(lower) <= min(upper) for lower, upper in pairwise(part for part in parts if part))

    # Nothing is lost, and the counts agree.
    whole_piles = [bulks[0] + below_0, above_0 + bulks[1] + below_1, above_1 + bulks[2]]
    kept_apart = [sorted(pile) for pile in whole_piles]
    everything = kept_apart[0] + windows[0] + kept_apart[1] + windows[1] + kept_apart[2]
    assert everything == sorted(inserted)
    assert arm.below == [len(kept_apart[0]), len(kept_apart[0]) + arm.width[0] + len(kept_apart[1])]

    # The cuts are where they should be, with MARGIN rewards in the window on either side while the pile there has any.
    ranks = [rank_0, rank_1] if rank_1 > 0 else [rank_0]
    for w, rank in enumerate(ranks):
        assert 0 <= arm.cut[w] <= arm.width[w]
        assert arm.below[w] + arm.cut[w] == rank
        assert arm.cut[w] >= MARGIN or not kept_apart[w]
        assert arm.width[w] - arm.cut[w] >= MARGIN or not kept_apart[w + 1]
    if rank_1 == 0:
        assert arm.width[1] == arm.held[2] == 0

    # Each pile and each half of a window carries its sum.
    for pile in range(3):
        assert_sum(arm.total[pile] + arm.total_rest[pile], kept_apart[pile])
    for w in range(2):
        assert_sum(arm.left[w] + arm.left_rest[w], windows[w][: arm.cut[w]])
        assert_sum(arm.right[w] + arm.right_rest[w], windows[w][arm.cut[w] :])
