"""Quiet stretches of a simulated trial: pulls that are known to change no decision cost no more than their draws.

- Certified: leader and challenger stay what they are until one of them is looked at (looks.py).
- Elimination: no arm can be eliminated up to the round `quiet` (elimination.py).

Rewards wait in the arms' stores; which arms are pulled, and in which order, is what the methods would choose.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import inlined_kernel, kernel
from bestarm.kernels.draws import Laws, pull
from bestarm.kernels.prefetch import fetch
from bestarm.kernels.samples import DIVIDED, LINES, LINES_OF_WINDOWS, MANY, SHORT_WAIT, WAITING, Pool, Record

Arms = NDArray[np.void]


@inlined_kernel
def _count(arm: Record, more: int) -> None:
    """Count rewards that wait now."""
    arm.told += more
    arm.calm -= more
    arm.held[WAITING] += more


@inlined_kernel
def _fetch(arms: Arms, pool: Pool, index: int) -> None:
    """Have fetched what the look at an arm will need."""
    fetch(arms, index, LINES)
    fetch(pool, arms[index].window[0], LINES_OF_WINDOWS)


@kernel
def draw_until_look(
    arms: Arms, control: Record, pool: Pool, laws: Laws, rng: np.random.Generator, max_pulls: int
) -> None:
    """Pull leader and challenger, the one with fewer rewards first, up to the reward before the next look at one."""
    first, second = min(control.leader, control.challenger), max(control.leader, control.challenger)
    if arms.size > MANY:
        _fetch(arms, pool, first)
        _fetch(arms, pool, second)
    one, two = arms[first], arms[second]
    told_one, told_two = one.told, two.told
    begin_one, begin_two = told_one, told_two
    place_one, place_two = one.start[WAITING] + one.held[WAITING], two.start[WAITING] + two.held[WAITING]
    last_one = told_one + min(one.next_look - 1 - told_one, one.calm)
    last_two = told_two + min(two.next_look - 1 - told_two, two.calm)
    t = control.t
    while t < max_pulls:
        is_one = told_one <= told_two
        if (told_one >= last_one) if is_one else (told_two >= last_two):
            break
        told = told_one if is_one else told_two
        reward = pull(laws, rng, first if is_one else second, told, t)
        pool[place_one if is_one else place_two] = reward
        told_one += is_one
        place_one += is_one
        told_two += not is_one
        place_two += not is_one
        t += 1
    control.t = t
    _count(one, told_one - begin_one)
    _count(two, told_two - begin_two)


@kernel
def draw_quiet_rounds(
    arms: Arms,
    control: Record,
    pool: Pool,
    members: NDArray[np.int64],
    laws: Laws,
    rng: np.random.Generator,
    max_pulls: int,
) -> None:
    """Make whole rounds up to the last that is quiet, as far as there is room; only at the beginning of a round."""
    number = control.active
    if control.behind != number:
        return
    rounds = min(control.quiet - control.rounds, (max_pulls - control.t) // number)
    for place in range(number):
        arm = arms[members[place]]
        if arm.divided != DIVIDED:
            return  # the first rewards are sorted one by one
        rounds = min(rounds, arm.calm, SHORT_WAIT - arm.held[WAITING])
    if rounds <= 0:
        return
    t = control.t
    for turn in range(rounds):
        for place in range(number):
            index = members[place]
            arm = arms[index]
            pool[arm.start[WAITING] + arm.held[WAITING] + turn] = pull(laws, rng, index, arm.told + turn, t)
            t += 1
    for place in range(number):
        arm = arms[members[place]]
        _count(arm, rounds)
        arm.stale = 1
    control.rounds += rounds
    control.t = t
    control.cursor = 0
