"""Quiet stretches of a simulated trial: pulls that cannot change a decision cost no more than their draws.

- Certified: no pair is compared before the round `next_check` (certified.py).
- Elimination: no arm can be eliminated up to the round `quiet` (quiet_bounds.py).

Rewards wait in the arms' stores. The same arms are pulled, in the same order, as the methods would choose. Only whole
rounds are made, as far as there is room.
"""

from __future__ import annotations

import numpy as np

from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import DIVIDED, SHORT_WAIT, WAITING, Arms, Record
from bestarm.kernels.rewards.draws import Laws, pull
from bestarm.kernels.state.state import CertifiedState, Evidence, Indices, State


@inlined_kernel
def draw_quiet(
    state: State,
    rule: Record,
    members: Indices | None,
    evidence: Evidence | None,
    laws: Laws,
    rng: np.random.Generator,
    max_pulls: int,
    watched: bool,
) -> None:
    """Make the pulls that change no decision, if any; none in advance if the adversary watches the evidence."""
    # Tested here and not in the callee: a call at every pull would cost as much as the pull.
    if members is not None:
        quiet = state.control[0].quiet > state.control[0].rounds
        if quiet:
            _draw_quiet_rounds(state, members, laws, rng, max_pulls)
    if evidence is not None:
        quiet = state.control[0].next_check > state.control[0].rounds + 1 and rule.shortcuts == 1 and not watched
        if quiet:
            _draw_until_check(state, rule, laws, rng, max_pulls)


@inlined_kernel
def _end_rounds(arms: Arms, control: Record, listed: Indices, rounds: int) -> None:
    """Count rounds whose rewards have been put where they belong."""
    for index in range(control.active):
        arm = arms[listed[index]]
        arm.told += rounds
        arm.room_left -= rounds
    control.t += rounds * control.active
    control.rounds += rounds
    control.cursor = 0


@kernel
def _draw_until_check(
    state: CertifiedState, rule: Record, laws: Laws, rng: np.random.Generator, max_pulls: int
) -> None:
    """Make rounds up to the one before the next comparison."""
    control, survivors, pool = state.control[0], state.evidence.survivors, state.pool
    number = control.active
    if control.behind != number:
        return
    rounds = min(control.next_check - 1 - control.rounds, (max_pulls - control.t) // number)
    for slot in range(number):
        rounds = min(rounds, state.arms[survivors[slot]].room_left)
    if rounds <= 0:
        return
    t = control.t
    room = control.room
    for turn in range(control.rounds, control.rounds + rounds):
        for slot in range(number):
            index = survivors[slot]
            reward = pull(laws, rng, index, turn, t)
            pool[index * room + (turn & (room - 1))] = (reward - rule.origin) / rule.scale
            t += 1
    _end_rounds(state.arms, control, survivors, rounds)


@kernel
def _draw_quiet_rounds(state: State, members: Indices, laws: Laws, rng: np.random.Generator, max_pulls: int) -> None:
    """Make rounds up to the last that is quiet."""
    arms, control, pool = state.arms, state.control[0], state.pool
    number = control.active
    if control.behind != number:
        return
    rounds = min(control.quiet - control.rounds, (max_pulls - control.t) // number)
    for slot in range(number):
        arm = arms[members[slot]]
        if arm.divided != DIVIDED:
            return  # the first rewards are sorted one by one
        rounds = min(rounds, arm.room_left, SHORT_WAIT - arm.held[WAITING])
    if rounds <= 0:
        return
    t = control.t
    for turn in range(rounds):
        for slot in range(number):
            index = members[slot]
            arm = arms[index]
            pool[arm.start[WAITING] + arm.held[WAITING] + turn] = pull(laws, rng, index, arm.told + turn, t)
            t += 1
    for slot in range(number):
        arm = arms[members[slot]]
        arm.held[WAITING] += rounds
        arm.stale = 1
    _end_rounds(arms, control, members, rounds)
