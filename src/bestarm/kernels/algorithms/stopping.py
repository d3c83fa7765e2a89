"""When the certified method compares pairs, and when it stops with several arms left (sections 9, 10 and 12)."""

from __future__ import annotations

from bestarm.kernels.evidence import bounded as bounds
from bestarm.kernels.evidence import clean, lattice
from bestarm.kernels.evidence.bounded import Tallies
from bestarm.kernels.evidence.clean import Sums
from bestarm.kernels.evidence.lattice import Lattice
from bestarm.kernels.evidence.limits import is_beyond_bounds, is_beyond_lattice
from bestarm.kernels.evidence.pair import CLEAN, SUBCELLS, Replaced
from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Arms, Record
from bestarm.kernels.state.control import CHAMPIONS
from bestarm.kernels.state.state import CertifiedState, Indices

IDENTIFIED = 1
INDISTINGUISHABLE = 2

# Why no winner was named.
CONTAMINATION = 1
RESOLUTION = 2

FIRST_LIMIT = 512  # rounds before the first test whether contamination hides the lead


@inlined_kernel
def next_comparison(rule: Record, n: int) -> int:
    """Return the first round from n on after which pairs are compared.

    Pairs are compared after each round up to 8, every second one up to 128, every fourth up to 256, and so on: from
    round 64 on the steps are at most 1/32. Evidence of clean rewards is cheap: there, every round up to 64.
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
def rank_of(arms: Arms, control: Record, survivors: Indices, index: int) -> int:
    """Return how many survivors have a higher location than this one, up to the number of champions."""
    rank = 0
    for slot in range(control.active):
        other = survivors[slot]
        if arms[other].estimate > arms[index].estimate or (
            arms[other].estimate == arms[index].estimate and other < index
        ):
            rank += 1
            if rank == CHAMPIONS:
                break
    return rank


@inlined_kernel
def _limit_from(n: int) -> int:
    """Return the first round from n on at which the limits are tested: 512, 768, 1024, 1536, ..."""
    step = FIRST_LIMIT
    while 2 * step <= n:
        step *= 2
    if n <= step:
        return step
    return step + (step >> 1) if n <= step + (step >> 1) else 2 * step


@kernel
def _is_within(
    state: CertifiedState,
    rule: Record,
    rows: Lattice | None,
    tallies: Tallies | None,
    sums: Sums | None,
    slot: int,
    a: int,
    replaced: Replaced,
) -> bool:
    """Tell whether a champion is proved to be at most `good_enough` behind an arm (section 9)."""
    control, pool, scratch = state.control[0], state.pool, state.evidence.scratch
    b, n, enough = control.champions[slot], control.rounds, rule.log_threshold
    within = False
    if rows is not None:
        shift = int(rule.good_enough / rule.spacing * SUBCELLS)
        one, two = lattice.Arm(rows[b], pool, control.room, b, n), lattice.Arm(rows[a], pool, control.room, a, n)
        point = lattice.subcell_at(rule, 0.5 * (one.row.location + two.row.location - rule.good_enough))
        within, _ = lattice.is_proved(one, two, rule, scratch, point, shift, replaced, enough)
    if tallies is not None:
        point = 0.5 * (tallies[b].total + tallies[a].total) / n
        within, _ = bounds.is_proved(tallies[b], tallies[a], rule, scratch, point, -rule.good_enough, replaced, enough)
    if sums is not None:
        within = clean.log_evidence(sums, rule, b, a, -rule.good_enough, n, enough) >= enough
    return within


@kernel
def _is_good_enough(state: CertifiedState, rule: Record, slot: int, replaced: Replaced) -> bool:
    """Tell whether a champion is within `good_enough` of every other survivor."""
    control, evidence = state.control[0], state.evidence
    b = control.champions[slot]
    if b < 0 or state.arms[b].active == 0:
        return False
    for index in range(control.active):
        a = evidence.survivors[index]
        if a != b and not _is_within(state, rule, evidence.lattice, evidence.tallies, evidence.sums, slot, a, replaced):
            return False
    return True


@kernel
def is_hidden(state: CertifiedState, rule: Record, count: float) -> bool:
    """Tell whether contamination hides the lead of the two survivors with the highest locations (section 10).

    This is so if no bet on either of them being better can grow any more.
    """
    control, survivors = state.control[0], state.evidence.survivors
    leader = challenger = -1
    for index in range(control.active):
        rank = rank_of(state.arms, control, survivors, survivors[index])
        if rank == 0:
            leader = survivors[index]
        elif rank == 1:
            challenger = survivors[index]
    lattice_rows, tallies = state.evidence.lattice, state.evidence.tallies
    return _cannot_grow(state, rule, lattice_rows, tallies, leader, challenger, count) and _cannot_grow(
        state, rule, lattice_rows, tallies, challenger, leader, count
    )


@kernel
def _cannot_grow(
    state: CertifiedState, rule: Record, rows: Lattice | None, tallies: Tallies | None, b: int, a: int, count: float
) -> bool:
    control, pool, scratch = state.control[0], state.pool, state.evidence.scratch
    n = control.rounds
    beyond = False
    if rows is not None:
        one, two = lattice.Arm(rows[b], pool, control.room, b, n), lattice.Arm(rows[a], pool, control.room, a, n)
        beyond = is_beyond_lattice(one, two, rule, scratch, count)
    if tallies is not None:
        beyond = is_beyond_bounds(tallies[b], tallies[a], rule, scratch, n, count)
    return beyond


@kernel
def stop_short(state: CertifiedState, rule: Record, replaced: Replaced) -> None:
    """Stop with an arm that is good enough, or without a winner if more rewards would not, or may not, name one."""
    control = state.control[0]
    n = control.rounds
    if rule.good_enough > 0.0:
        control.next_check = min(control.next_check, next_comparison(rule, n + 1))
        for slot in range(CHAMPIONS):
            if control.done == 0 and _is_good_enough(state, rule, slot, replaced):
                control.done = IDENTIFIED
                control.best = control.champions[slot]
        if control.done > 0:
            return
    if rule.epsilon > 0.0:
        control.next_check = min(control.next_check, _limit_from(n + 1))
        if n >= FIRST_LIMIT and n == _limit_from(n) and is_hidden(state, rule, replaced.own + replaced.shared):
            control.done = INDISTINGUISHABLE
            control.limit = CONTAMINATION
            return
    if rule.last_round > 0:
        if n >= rule.last_round:
            control.done = INDISTINGUISHABLE
            control.limit = RESOLUTION
        else:
            control.next_check = min(control.next_check, next_comparison(rule, rule.last_round))
