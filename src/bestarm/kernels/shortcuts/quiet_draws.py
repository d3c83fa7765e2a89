"""Quiet stretches of a simulated trial: pulls that are known to change no decision cost no more than their draws.

- Certified: no pair can change before the round `quiet` (certified.py).
- Elimination: no arm can be eliminated up to the round `quiet` (elimination.py).

Rewards wait in the arms' stores; which arms are pulled, and in which order, is what the methods would choose.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import DIVIDED, SHORT_WAIT, WAITING, Pool, Record
from bestarm.kernels.rewards.draws import Laws, pull

Arms = NDArray[np.void]


@inlined_kernel
def _count(arm: Record, more: int) -> None:
    """Count rewards that wait now."""
    arm.told += more
    arm.calm -= more
    arm.held[WAITING] += more


@kernel
def draw_until_look(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    survivors: NDArray[np.int64],
    laws: Laws,
    rng: np.random.Generator,
    max_pulls: int,
) -> None:
    """Make whole rounds up to the one before the next look, as far as there is room; only at the start of a round."""
    number = control.active
    if control.behind != number:
        return
    rounds = min(control.quiet - 1 - control.rounds, (max_pulls - control.t) // number)
    for place in range(number):
        rounds = min(rounds, arms[survivors[place]].calm)
    if rounds <= 0:
        return
    t = control.t
    room = control.room
    for turn in range(control.rounds, control.rounds + rounds):
        for place in range(number):
            index = survivors[place]
            reward = pull(laws, rng, index, turn, t)
            pool[index * room + (turn & (room - 1))] = (reward - rule.origin) / rule.scale
            t += 1
    for place in range(number):
        arm = arms[survivors[place]]
        arm.told += rounds
        arm.calm -= rounds
    control.rounds += rounds
    control.t = t
    control.cursor = 0


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
