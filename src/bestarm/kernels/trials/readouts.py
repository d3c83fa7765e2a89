"""Read more off the evidence than the decision: intervals, alarms, the lead over another arm and its evidence.

Section numbers are those of docs/explanation/certified.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.algorithms import certified, stopping
from bestarm.kernels.evidence import bounded as bounds
from bestarm.kernels.evidence import clean, lattice
from bestarm.kernels.evidence.bounded import Tallies
from bestarm.kernels.evidence.clean import Sums
from bestarm.kernels.evidence.intervals import bounded_end, clean_end, fits_no_mean, lattice_balance, lattice_end
from bestarm.kernels.evidence.lattice import Lattice
from bestarm.kernels.evidence.pair import contaminated_count, own_or_shared
from bestarm.kernels.jit.compile import entry_kernel, kernel
from bestarm.kernels.order_statistics.samples import Record
from bestarm.kernels.rule import Rule
from bestarm.kernels.state.state import CertifiedState

# -------------------------------------------------------------------------------------------------- intervals, alarms


@kernel
def interval(
    state: CertifiedState, rule: Record, rows: Lattice | None, tallies: Tallies | None, sums: Sums | None, index: int
) -> tuple[float, float, float]:
    """Return an estimate of an arm's mean and the ends of its interval, from the rewards of completed rounds.

    The estimate is where the evidence for a higher and for a lower mean balance or, if the interval is infinite, the
    arm's location. With bounds, and without contamination, it is the plain mean, which is always in the interval
    (section 9).
    """
    arms, control, pool, scratch = state.arms, state.control[0], state.pool, state.evidence.scratch
    n = min(arms[index].told, control.rounds)
    if n == 0:
        return np.nan, -np.inf, np.inf
    count = contaminated_count(rule, arms.size, n, control.t)
    lower, upper, estimate = -np.inf, np.inf, np.nan
    if rows is not None:
        arm = lattice.Arm(rows[index], pool, control.room, index, n)
        if arm.row.based == 0:
            lattice.locate(arm, rule, scratch)
        lower = lattice_end(arm, rule, scratch, True, count)
        upper = lattice_end(arm, rule, scratch, False, count)
        estimate = arm.row.location
        if upper - lower < np.inf and lower <= upper:
            estimate = lattice_balance(arm, rule, scratch, count, lower, upper)
    if tallies is not None:
        bounds.fold(tallies[index], rule, pool, control.room, index, scratch, n)
        lower = bounded_end(tallies[index], rule, scratch, True, n, count)
        upper = bounded_end(tallies[index], rule, scratch, False, n, count)
        estimate = tallies[index].total / n
    if sums is not None:
        clean.fold(sums, pool, control.room, index, n)
        lower, upper = clean_end(sums, rule, index, 1.0), clean_end(sums, rule, index, -1.0)
        estimate = sums[index, 1] / n
    return rule.origin + rule.scale * estimate, rule.origin + rule.scale * lower, rule.origin + rule.scale * upper


@entry_kernel
def interval_of(state: CertifiedState, rule: Rule, index: int) -> tuple[float, float, float]:
    """Return the estimate of one arm's mean and the ends of its interval."""
    return interval(state, rule[0], state.evidence.lattice, state.evidence.tallies, state.evidence.sums, index)


@kernel
def _is_alarming(state: CertifiedState, rule: Record, rows: Lattice | None, sums: Sums | None, index: int) -> bool:
    arms, control, pool, scratch = state.arms, state.control[0], state.pool, state.evidence.scratch
    n = min(arms[index].told, control.rounds)
    if n < 2:
        return False
    alarming = False
    if rows is not None:
        arm = lattice.Arm(rows[index], pool, control.room, index, n)
        if arm.row.based == 0:
            lattice.locate(arm, rule, scratch)
        count = contaminated_count(rule, arms.size, n, control.t)
        alarming = fits_no_mean(arm, rule, scratch, count)
    if sums is not None:
        clean.fold(sums, pool, control.room, index, n)
        alarming = clean.log_too_wide(sums, index) >= rule.log_alarm
    return alarming


@entry_kernel
def find_alarms(state: CertifiedState, rule: Rule, alarms: NDArray[np.int64]) -> None:
    """Write for each arm whether no mean fits its rewards."""
    for index in range(state.arms.size):
        alarms[index] = _is_alarming(state, rule[0], state.evidence.lattice, state.evidence.sums, index)


@entry_kernel
def count_replaced(rule: Rule, arms: int, n: int, told: int) -> float:
    """Return how many rewards may have been replaced, of the n of one arm or of all told (section 3)."""
    return contaminated_count(rule[0], arms, n, told)


# ------------------------------------------------------------------------------------------------------------- a pair


@kernel
def _proves(
    state: CertifiedState,
    rule: Record,
    rows: Lattice | None,
    tallies: Tallies | None,
    sums: Sums | None,
    lead: float,
    count: float,
    enough: float,
) -> bool:
    """Tell whether arm 0 leads arm 1 by more than `lead`, in the units of the bets, with log evidence `enough`."""
    control, pool, scratch = state.control[0], state.pool, state.evidence.scratch
    n, n_two = state.arms[0].told, state.arms[1].told
    replaced = own_or_shared(rule, count)
    proved = False
    if rows is not None:
        one, two = lattice.Arm(rows[0], pool, control.room, 0, n), lattice.Arm(rows[1], pool, control.room, 1, n_two)
        shift = lattice.shift_for(rule, lead)
        point = lattice.subcell_at(rule, 0.5 * (one.row.location + two.row.location + lead))
        proved, _ = lattice.is_proved(one, two, rule, scratch, point, shift, replaced, enough)
    if tallies is not None:
        point = 0.5 * (tallies[0].total / n + tallies[1].total / n_two)
        proved, _ = bounds.is_proved(tallies[0], tallies[1], rule, scratch, point, lead, replaced, enough)
    if sums is not None:
        proved = clean.log_evidence(sums, rule, 0, 1, lead, n, enough) >= enough
    return proved


@kernel
def _prepare(
    state: CertifiedState, rule: Record, rows: Lattice | None, tallies: Tallies | None, sums: Sums | None
) -> None:
    room, pool, scratch = state.control[0].room, state.pool, state.evidence.scratch
    for index in range(2):
        n = state.arms[index].told
        if rows is not None:
            lattice.locate(lattice.Arm(rows[index], pool, room, index, n), rule, scratch)
        if tallies is not None:
            bounds.fold(tallies[index], rule, pool, room, index, scratch, n)
        if sums is not None:
            clean.fold(sums, pool, room, index, n)


@entry_kernel
def is_pair_proved(state: CertifiedState, rule: Rule, count: float) -> bool:
    """Tell whether the evidence for the first of two arms drops the second, with `count` replaced rewards."""
    rows, tallies, sums = state.evidence.lattice, state.evidence.tallies, state.evidence.sums
    _prepare(state, rule[0], rows, tallies, sums)
    return _proves(state, rule[0], rows, tallies, sums, 0.0, count, rule[0].log_threshold)


@entry_kernel
def judge_pair(state: CertifiedState, rule: Rule, count: float, widest: float) -> tuple[float, float]:
    """Return the log evidence that the first of two arms is better, and the largest proved lead, if any.

    The lead is sought between -widest and widest, in the units of the bets; -infinity if not even -widest is proved.
    """
    rows, tallies, sums = state.evidence.lattice, state.evidence.tallies, state.evidence.sums
    _prepare(state, rule[0], rows, tallies, sums)
    low, high = 0.0, 1.0
    while high < 1e6 and _proves(state, rule[0], rows, tallies, sums, 0.0, count, high):
        low, high = high, 2.0 * high
    for _ in range(30):
        middle = 0.5 * (low + high)
        if _proves(state, rule[0], rows, tallies, sums, 0.0, count, middle):
            low = middle
        else:
            high = middle
    enough = rule[0].log_threshold
    lead, beyond = -widest, widest
    if not _proves(state, rule[0], rows, tallies, sums, lead, count, enough):
        return low, -np.inf
    for _ in range(40):
        middle = 0.5 * (lead + beyond)
        if _proves(state, rule[0], rows, tallies, sums, middle, count, enough):
            lead = middle
        else:
            beyond = middle
    return low, lead


# -------------------------------------------------------------------------------------- what Python does to survivors


@entry_kernel
def withdraw(state: CertifiedState, rule: Rule, index: int, dropped: bool) -> None:
    """Take an arm out of the rounds: dropped, or only because no more rewards of it will come."""
    certified.remove(state, rule[0], index, dropped)


@entry_kernel
def stop(state: CertifiedState, best: int) -> None:
    """Name the best arm, for a caller that decides by itself: later rewards are recorded only."""
    state.control[0].done = stopping.IDENTIFIED
    state.control[0].best = best


@entry_kernel
def is_hidden(state: CertifiedState, rule: Rule) -> bool:
    """Tell whether contamination hides the lead of the two survivors with the highest locations (section 10)."""
    control = state.control[0]
    if control.active < 2 or control.rounds < stopping.FIRST_LIMIT or rule[0].epsilon == 0.0:
        return False
    count = contaminated_count(rule[0], state.arms.size, control.rounds, control.t)
    return stopping.is_hidden(state, rule[0], count)
