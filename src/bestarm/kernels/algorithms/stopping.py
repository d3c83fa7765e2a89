"""When the certified method looks, and when it stops without having dropped all other arms (sections 9, 10 and 12)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.evidence import bounded as bounds
from bestarm.kernels.evidence import clean, lattice
from bestarm.kernels.evidence.bounded import Tallies
from bestarm.kernels.evidence.clean import Sums
from bestarm.kernels.evidence.lattice import Lattice
from bestarm.kernels.evidence.limits import is_beyond_bounds, is_beyond_lattice
from bestarm.kernels.evidence.pair import CLEAN, SUBCELLS, Desk
from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Pool, Record
from bestarm.kernels.state.state import CHAMPIONS

Arms = NDArray[np.void]
Duels = Any  # for each champion and arm: where to look first, and from which round on
Survivors = Any  # the arms that have not been dropped, in order, at the beginning; both None for another family

IDENTIFIED = 1
INDISTINGUISHABLE = 2

# Why no winner was named.
CONTAMINATION = 1
RESOLUTION = 2

FIRST_LIMIT = 512  # rounds before it is asked whether contamination hides the lead


@inlined_kernel
def look_from(rule: Record, n: int) -> int:
    """Return the first round from n on with a look: each up to 8, every second up to 128, every fourth up to 256, ...

    So looks are at most 1/32 apart from round 64 on. Evidence of clean rewards is cheap: every round up to 64 there.
    """
    step = 1
    rest = n
    while rest >= 64:
        rest >>= 1
        step <<= 1
    if rule.kind != CLEAN and 8 <= n < 64:
        step = 2
    return ((n + step - 1) // step) * step


@kernel
def rank_of(arms: Arms, control: Record, survivors: Survivors, index: int) -> int:
    """Return how many survivors have a higher location than one, up to the number of champions."""
    rank = 0
    for place in range(control.active):
        other = survivors[place]
        if arms[other].estimate > arms[index].estimate or (
            arms[other].estimate == arms[index].estimate and other < index
        ):
            rank += 1
            if rank == CHAMPIONS:
                break
    return rank


@inlined_kernel
def _limit_from(n: int) -> int:
    """Return the first round from n on at which the limits are asked for: 512, 768, 1024, 1536, ..."""
    step = FIRST_LIMIT
    while 2 * step <= n:
        step *= 2
    if n <= step:
        return step
    return step + (step >> 1) if n <= step + (step >> 1) else 2 * step


@kernel
def _is_within(
    control: Record,
    rule: Record,
    pool: Pool,
    desk: Desk,
    duels: Duels,
    lattice_rows: Lattice | None,
    tallies: Tallies | None,
    sums: Sums | None,
    slot: int,
    a: int,
    own: float,
    shared: float,
) -> bool:
    """Tell whether a champion is proved to be at most `good_enough` behind an arm (section 9)."""
    b, n, enough = control.champions[slot], control.rounds, rule.log_threshold
    within = False
    if lattice_rows is not None:
        shift = int(rule.good_enough / rule.spacing * SUBCELLS)
        one, two = lattice_rows[b], lattice_rows[a]
        point = lattice.subcell_at(rule, 0.5 * (one.location + two.location - rule.good_enough))
        within, _ = lattice.is_proved(
            one, two, rule, pool, control.room, b, a, desk, point, shift, n, n, own, shared, enough
        )
    if tallies is not None:
        point = 0.5 * (tallies[b].total + tallies[a].total) / n
        within, _ = bounds.is_proved(tallies[b], tallies[a], rule, desk, point, -rule.good_enough, own, shared, enough)
    if sums is not None:
        within = clean.log_evidence(sums, rule, b, a, -rule.good_enough, n, enough) >= enough
    return within


@kernel
def _is_good_enough(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    desk: Desk,
    survivors: Survivors,
    duels: Duels,
    lattice_rows: Lattice | None,
    tallies: Tallies | None,
    sums: Sums | None,
    slot: int,
    own: float,
    shared: float,
) -> bool:
    """Tell whether a champion is within `good_enough` of every other survivor."""
    b = control.champions[slot]
    if b < 0 or arms[b].active == 0:
        return False
    for place in range(control.active):
        a = survivors[place]
        if a != b and not _is_within(
            control, rule, pool, desk, duels, lattice_rows, tallies, sums, slot, a, own, shared
        ):
            return False
    return True


@kernel
def is_beyond(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    desk: Desk,
    survivors: Survivors,
    lattice_rows: Lattice | None,
    tallies: Tallies | None,
    count: float,
) -> bool:
    """Tell whether no bet on either of the two survivors with the highest locations can grow any more (section 10)."""
    leader = challenger = -1
    for place in range(control.active):
        index = survivors[place]
        place_of_arm = rank_of(arms, control, survivors, index)
        if place_of_arm == 0:
            leader = index
        elif place_of_arm == 1:
            challenger = index
    beyond = False
    if lattice_rows is not None:
        one, two = lattice_rows[leader], lattice_rows[challenger]
        n, room = control.rounds, control.room
        beyond = is_beyond_lattice(one, two, rule, pool, room, leader, challenger, desk, n, count)
        beyond = beyond and is_beyond_lattice(two, one, rule, pool, room, challenger, leader, desk, n, count)
    if tallies is not None:
        one, two = tallies[leader], tallies[challenger]
        beyond = is_beyond_bounds(one, two, rule, desk, control.rounds, count)
        beyond = beyond and is_beyond_bounds(two, one, rule, desk, control.rounds, count)
    return beyond


@kernel
def stop_short(
    arms: Arms,
    control: Record,
    rule: Record,
    pool: Pool,
    desk: Desk,
    survivors: Survivors,
    duels: Duels,
    lattice_rows: Lattice | None,
    tallies: Tallies | None,
    sums: Sums | None,
    own: float,
    shared: float,
) -> None:
    """Stop with an arm that is good enough, or without a winner where more rewards would not, or may not, name one."""
    n = control.rounds
    if rule.good_enough > 0.0:
        control.quiet = min(control.quiet, look_from(rule, n + 1))
        for slot in range(CHAMPIONS):
            if control.done == 0 and _is_good_enough(
                arms, control, rule, pool, desk, survivors, duels, lattice_rows, tallies, sums, slot, own, shared
            ):
                control.done = IDENTIFIED
                control.best = control.champions[slot]
        if control.done > 0:
            return
    if rule.epsilon > 0.0:
        control.quiet = min(control.quiet, _limit_from(n + 1))
        if n >= FIRST_LIMIT and n == _limit_from(n):
            count = own + shared
            if is_beyond(arms, control, rule, pool, desk, survivors, lattice_rows, tallies, count):
                control.done = INDISTINGUISHABLE
                control.limit = CONTAMINATION
                return
    if rule.last_round > 0:
        if n >= rule.last_round:
            control.done = INDISTINGUISHABLE
            control.limit = RESOLUTION
        else:
            control.quiet = min(control.quiet, look_from(rule, rule.last_round))
