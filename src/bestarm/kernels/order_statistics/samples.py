"""One record per arm, and the pool of doubles, which grows, that stores its rewards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import entry_kernel, inlined_kernel, kernel
from bestarm.kernels.jit.memory import constant, on_own_lines

Pool = NDArray[np.float64]
Arms = NDArray[np.void]  # a record per arm
Record = Any  # one row of a structured array: a pointer inside compiled code

WINDOW = 64  # most rewards in a window

# How an arm's rewards lie: the first few sorted in window 0, or divided among windows and piles, or, before any order
# statistic is needed, unordered in the bulk of pile 1 (`cut` then holds the ranks of the future cuts).
FEW = 0
DIVIDED = 1
RAW = 2

# The stores of an arm: the bulks of piles 0, 1 and 2, then the reserves below and above window 0 and window 1, and
# rewards that wait to be inserted.
FIRST_RESERVE = 3
BELOW_LOW, ABOVE_LOW = constant(3), constant(4)
BELOW_HIGH, ABOVE_HIGH = constant(5), constant(6)
WAITING = 7
STORES = 8

SHORT_WAIT = 128  # rewards: they are inserted at the latest when this many wait

# Forced exploration draws a few rounds side by side before it deals the rewards out to many arms (exploration.py). A
# round is a little longer than the number of arms: at a distance of a power of two, all rounds would compete for the
# same lines of the nearest cache.
DEALT = 16  # rounds
PADDING = 8  # rewards

arm_dtype = np.dtype(
    [
        # A pull touches at least the first three cache lines.
        ("told", "i8"),  # rewards told
        ("pending", "i8"),  # rewards asked for, not yet told
        ("count", "i8"),  # rewards told, less those that are waiting
        ("active", "i8"),
        ("stale", "i8"),  # 1: a reward came in since the estimate was computed
        ("room_left", "i8"),  # inserts that need no new room, at least
        ("divided", "i8"),  # FEW, DIVIDED or RAW
        ("estimate", "f8"),
        ("held", "i8", (STORES,)),
        ("start", "i8", (STORES,)),
        ("shrink", "f8"),  # sqrt(2 / count), the part of a radius that belongs to the arm
        # Rewards beyond the fence of a reserve belong to the bulk of its pile: pile 0 up to fence 0, pile 1 from
        # fence 1 to fence 2, pile 2 from fence 3 on. The others lie in a window or in a reserve.
        ("fence", "f8", (4,)),
        ("total", "f8", (3,)),  # sum of each pile, and its rounding errors
        ("total_rest", "f8", (3,)),
        ("peak", "f8", (3,)),  # the largest reward, in size, that left the pile since its sum was last added up afresh
        ("window", "i8", (2,)),  # where the window starts in the pool
        ("width", "i8", (2,)),
        ("cut", "i8", (2,)),  # rewards of the window below the cut
        ("below", "i8", (2,)),  # rewards of the arm below the window
        ("left", "f8", (2,)),  # sum of the window's rewards below the cut, and its rounding errors
        ("left_rest", "f8", (2,)),
        ("right", "f8", (2,)),
        ("right_rest", "f8", (2,)),
        ("left_peak", "f8", (2,)),  # as for the piles
        ("right_peak", "f8", (2,)),
        ("room", "i8", (STORES,)),
        ("heaped", "i8", (STORES,)),  # of a reserve: how many of its rewards, from the start, make a heap
        ("batch", "i8", (STORES,)),  # of a reserve: how many rewards it was last filled with
        ("filled", "i8", (STORES,)),  # and at which count of the arm
        ("guess", "f8", (4,)),  # bounds around window 0 and window 1 when rewards are divided
        ("guessed", "i8"),  # for how many rewards
        # One line more than the twelve in use: at a distance of twelve lines, the first ones of all records would
        # compete for the same quarter of the nearest cache.
        ("unused", "i8", (9,)),
    ]
)
MANY = 64  # arms that are more than the nearest cache holds
LINES_OF_INSERT = 8  # of a record, the first ones, that an insert touches


class Samples(NamedTuple):
    """The rewards of K arms: a record per arm, a pool with the 2 K windows and then the stores, and its fill.

    Inner kernels take one record and the pool, not this tuple: a record is one pointer, an array seven words, and forty
    words on the stack at each call made an insert four times as slow.
    """

    arms: Arms
    pool: Pool
    used: NDArray[np.int64]


def new_samples(arms: int, *, stored: bool = True, rewards: int = 0, pool: Pool | None = None) -> Samples:
    """Return room for the rewards of `arms` arms; with `stored=False` only their sums will be kept.

    The pool need not move before it holds `rewards` rewards; a given pool is used if it is large enough. NumPy makes
    pools, because it asks for large pages of memory: without them, a thousand arms lie on more pages than the processor
    can keep track of.
    """
    records = on_own_lines(arms, arm_dtype)
    records["active"] = records["stale"] = 1
    records["room_left"] = WINDOW if stored else np.iinfo(np.int64).max
    records["window"] = WINDOW * np.arange(2 * arms).reshape(arms, 2)
    windows = WINDOW * 2 * arms if stored else 0
    size = windows + (16 * WINDOW * arms + 8 * rewards if rewards > 0 else 0)
    if pool is None or pool.size < size:
        pool = np.empty(size)
    pool[:windows] = 0.0
    used = on_own_lines(1, np.int64)
    used[0] = windows
    return Samples(records, pool, used)


@inlined_kernel
def pile_of(store: int) -> int:
    """Return the pile that a reserve belongs to."""
    return (store - FIRST_RESERVE + 1) >> 1


@inlined_kernel
def pile_size(arm: Record, pile: int) -> int:
    """Return the rewards in a pile: its bulk and the reserves at its ends."""
    size = arm.held[pile]
    if pile > 0:
        size += arm.held[FIRST_RESERVE + 2 * pile - 1]
    if pile < 2:
        size += arm.held[FIRST_RESERVE + 2 * pile]
    return size


@inlined_kernel
def _load(arm: Record, pile: int) -> int:
    """Return how many rewards a bulk may have to hold now: its whole pile, or its part of the raw rewards."""
    if arm.divided != RAW:
        return pile_size(arm, pile)
    if pile == 0:
        return arm.cut[0]
    if pile == 1:
        return arm.count
    return arm.count - arm.cut[1] if arm.cut[1] > 0 else 0


@kernel
def _wanted(arm: Record, store: int) -> int:
    """Return the room that a store should get."""
    if store == WAITING:
        return SHORT_WAIT
    # Half as much again as it holds, and space for a spill or a first batch. A bulk may have to hold its whole pile; a
    # full reserve gives rewards to its bulk, so it only needs room for its next batch.
    if store >= FIRST_RESERVE:
        load = max(arm.held[store], arm.batch[store])
        return load + (load >> 1) + 3 * WINDOW
    load = _load(arm, store)
    return load + (load >> 1) + 3 * WINDOW + 4 * SHORT_WAIT


@kernel
def _ample(arm: Record, store: int) -> int:
    """Return the room that a store should get in a new pool.

    Unused memory costs nothing, and new memory costs more than a pull: so a bulk should not have to move again before
    there are three times as many rewards.
    """
    return _wanted(arm, store) if store >= FIRST_RESERVE else 2 * _wanted(arm, store)


@kernel
def _short(arm: Record, store: int) -> bool:
    """Tell whether a store should get more room."""
    if store < FIRST_RESERVE:
        return _bulk_room_left(arm, store) < 1
    if store == WAITING:
        return arm.room[WAITING] < SHORT_WAIT
    return arm.batch[store] + 2 * WINDOW > arm.room[store]


@kernel
def _bulk_room_left(arm: Record, pile: int) -> int:
    """Return how many inserts a bulk can take: an insert brings its pile four rewards at most, a spill 64."""
    return ((arm.room[pile] - _load(arm, pile) - 2 * WINDOW) >> 2) - arm.held[WAITING]


@kernel
def recount_room_left(arm: Record) -> int:
    """Set and return how many inserts an arm can take before it needs `find_room`."""
    if arm.divided == FEW:
        room_left = WINDOW - arm.count
    else:
        room_left = arm.room[0]
        for pile in range(FIRST_RESERVE):
            room_left = min(room_left, _bulk_room_left(arm, pile))
        for store in range(FIRST_RESERVE, WAITING):
            if _short(arm, store):
                room_left = 0
    arm.room_left = max(room_left, 0)
    return arm.room_left


@kernel
def find_room(arm: Record, pool: Pool, used: NDArray[np.int64]) -> bool:
    """Move the stores of an arm that are short of room to the end of the pool; False if the pool is too short."""
    need = 0
    for store in range(STORES):
        if _short(arm, store):
            need += _wanted(arm, store)
    if used[0] + need > pool.size:
        return False
    for store in range(STORES):
        if _short(arm, store):
            _relocate(arm, pool, pool, used, store, _wanted(arm, store))
    return True


@kernel
def _relocate(arm: Record, old: Pool, new: Pool, used: NDArray[np.int64], store: int, room: int) -> None:
    """Copy a store to the end of a pool, where it gets the given room."""
    index = used[0]
    for offset in range(arm.held[store]):
        new[index + offset] = old[arm.start[store] + offset]
    arm.start[store] = index
    arm.room[store] = room
    used[0] += room


@entry_kernel
def _size_wanted(samples: Samples, asking: int) -> int:
    """Return how large a pool should be for all arms that hold more than a few rewards, and for the one that asks."""
    total = 0
    for index in range(samples.arms.size):
        arm = samples.arms[index]
        if arm.divided != FEW or index == asking:
            for store in range(STORES):
                total += _ample(arm, store)
    return 2 * WINDOW * samples.arms.size + total + (total >> 1)


@entry_kernel
def _move(samples: Samples, pool: Pool) -> None:
    """Copy all rewards to another pool, without the gaps that outgrown stores left behind."""
    windows = 2 * WINDOW * samples.arms.size
    for slot in range(windows):  # not a slice: for its error on sizes, numba would compile printing
        pool[slot] = samples.pool[slot]
    samples.used[0] = windows
    for index in range(samples.arms.size):
        arm = samples.arms[index]
        if arm.divided != FEW:
            for store in range(STORES):
                _relocate(arm, samples.pool, pool, samples.used, store, _ample(arm, store))


def with_larger_pool(samples: Samples, asking: int) -> Samples:
    """Return the samples in a pool where `find_room` finds room for an arm (amortised O(1) per reward)."""
    # Memory that is not written to costs nothing, and the next trial may need as much as the last one.
    pool = np.empty(max(_size_wanted(samples, asking), samples.pool.size))
    _move(samples, pool)
    return samples._replace(pool=pool)


@kernel
def find_rooms(arms: Arms, pool: Pool, used: NDArray[np.int64]) -> bool:
    """Give all arms, whose counts alone are set, the room they want; return False if the pool has less."""
    used[0] = 2 * WINDOW * arms.size
    total = used[0] + DEALT * (arms.size + PADDING)  # and for a deck to deal rewards from
    for index in range(arms.size):
        for store in range(STORES):
            total += _wanted(arms[index], store)
    if total > pool.size:
        return False
    for index in range(arms.size):
        for store in range(STORES):
            _relocate(arms[index], pool, pool, used, store, _wanted(arms[index], store))
    return True
