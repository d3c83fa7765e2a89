"""The state that a method works on: create it, move it to a larger pool, reset it for the next trial."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.evidence.bounded import DESK as BOUNDED_DESK
from bestarm.kernels.evidence.bounded import Tallies, tally_dtype
from bestarm.kernels.evidence.clean import Sums
from bestarm.kernels.evidence.lattice import DESK as LATTICE_DESK
from bestarm.kernels.evidence.lattice import Lattice, forget_cells, lattice_dtype
from bestarm.kernels.evidence.pair import BOUNDED, CLEAN, GROUPS, LATTICE, Scratch
from bestarm.kernels.jit.compile import kernel
from bestarm.kernels.jit.memory import on_own_lines
from bestarm.kernels.order_statistics.samples import (
    SHORT_WAIT,
    Arms,
    Pool,
    Record,
    Samples,
    new_samples,
    with_larger_pool,
)
from bestarm.kernels.order_statistics.tournament import Tree, forget_keys, new_trees
from bestarm.kernels.rule import CERTIFIED, GAP, MEAN, Rule
from bestarm.kernels.state.control import CHAMPIONS, FIRST_CHECK, certified_dtype, elimination_dtype, gap_dtype

SMALLEST_RING = 64

Indices = NDArray[np.int64]

ring_dtype = np.dtype(
    [
        ("told", "i8"),  # rewards told
        ("pending", "i8"),  # rewards asked for, not yet told
        ("active", "i8"),
        ("room_left", "i8"),  # rewards that the ring has room for
        ("estimate", "f8"),  # location
        ("dropped", "i8"),  # the round in which the arm was dropped
        ("unused", "i8", (2,)),  # so that an arm is one line of the cache
    ]
)


class Evidence(NamedTuple):
    """The evidence of the certified method, besides its rings of rewards: two of the last three are None."""

    survivors: Indices  # the arms that have not been dropped, in order, at the beginning
    duels: NDArray[np.float64]  # for each champion and arm: where the search starts, and from which round on
    scratch: Scratch  # room to work in
    lattice: Lattice | None  # evidence of each arm: sub-Gaussian rewards,
    tallies: Tallies | None  # rewards within bounds,
    sums: Sums | None  # or sub-Gaussian ones without contamination


class State(NamedTuple):
    """Everything that changes as rewards come in: a control record (length 1), one record per arm, rewards, an index.

    The index belongs to the family, and those of other families are None. If an argument x is None, numba drops the
    code after `if x is not None` before it compiles anything: so a family brings no code of another. (It drops nothing
    after `if x is None`.)
    Functions called from Python take a State and a Rule. Functions called at every pull are inlined, or take single
    records and arrays: a record is one pointer, an array seven words (see Samples). Numba takes half a microsecond to
    recognise a tuple inside the tuple at each call from Python, so there is only one, where it holds most.
    """

    control: NDArray[np.void]  # see control.py
    arms: Arms
    pool: Pool
    used: NDArray[np.int64]
    trees: Tree | None  # gap family: leaders and challengers, see look_ahead.py
    members: Indices | None  # elimination: the active arms, in order, at the beginning
    evidence: Evidence | None  # certified

    @property
    def samples(self) -> Samples:
        """The arms with their rewards."""
        return Samples(self.arms, self.pool, self.used)


CertifiedState = Any  # a State whose evidence is not None


def new_state(arms: int, rule: Rule, *, rewards: int = 0, pool: Pool | None = None) -> State:
    """Return the state before the first reward, with room for the expected number of rewards; it can grow.

    A pool that is no longer in use may be passed in again.
    """
    family = rule["family"][0]
    if family == CERTIFIED:
        return _new_evidence(arms, rule, rewards, pool)
    stored = bool(rule["estimator"][0] != MEAN)
    samples = new_samples(arms, stored=stored, rewards=rewards if stored else 0, pool=pool)
    if family == GAP:
        control = on_own_lines(1, gap_dtype)
        control["best"] = control["leader"] = control["challenger"] = -1
        control["at_fewest"] = arms
        return State(control, *samples, trees=new_trees(arms, 3), members=None, evidence=None)
    control = on_own_lines(1, elimination_dtype)
    control["best"] = -1
    control["stretch"] = SHORT_WAIT
    control["behind"] = control["active"] = arms
    return State(control, *samples, trees=None, members=np.arange(arms), evidence=None)


def _new_evidence(arms: int, rule: Rule, rewards: int, pool: Pool | None) -> State:
    """Return the state of the certified method, which keeps rewards in one ring per arm."""
    kind = rule["kind"][0]
    wanted = min(max(rewards // arms, SMALLEST_RING), int(rule["kept"][0])) if kind == LATTICE else SMALLEST_RING
    room = 1 << (wanted - 1).bit_length()
    sheets = 1 + GROUPS if kind == LATTICE else 1  # rewards, and on the lattice their exponentials
    if pool is None or pool.size < sheets * arms * room:
        pool = np.empty(sheets * arms * room)
    control = on_own_lines(1, certified_dtype)
    control["best"] = control["champions"] = -1
    control["behind"] = control["active"] = arms
    control["next_check"] = control["located"] = FIRST_CHECK
    control["room"] = room
    records = on_own_lines(arms, ring_dtype)
    records["active"] = 1
    records["room_left"] = room
    evidence = Evidence(
        survivors=np.arange(arms),
        duels=np.zeros((2 * CHAMPIONS, arms)),
        scratch=on_own_lines(LATTICE_DESK if kind == LATTICE else BOUNDED_DESK, np.float64),
        lattice=np.zeros(arms, lattice_dtype) if kind == LATTICE else None,
        tallies=np.zeros(arms, tally_dtype) if kind == BOUNDED else None,
        sums=np.zeros((arms, 3)) if kind == CLEAN else None,
    )
    used = np.zeros(1, np.int64)  # which is for pools with stores
    return State(control, records, pool[: sheets * arms * room], used, trees=None, members=None, evidence=evidence)


def make_room(state: State, index: int) -> State:
    """Return the state in a larger pool, where an arm `has_room`."""
    if state.evidence is None:
        return state._replace(pool=with_larger_pool(state.samples, index).pool)
    arms, lattice = state.arms, state.evidence.lattice
    room = int(state.control["room"][0])
    rings = state.pool[: room * arms.size].reshape(-1, room)
    sheets = 1 if lattice is None else 1 + GROUPS
    pool = np.empty(sheets * arms.size * 2 * room)
    larger = pool[: arms.size * 2 * room].reshape(-1, 2 * room)
    for arm, old, new in zip(arms, rings, larger, strict=True):
        kept = np.arange(max(0, arm["told"] - room), arm["told"])
        new[kept & (2 * room - 1)] = old[kept & (room - 1)]
    if lattice is not None:
        lattice["sheeted"] = 0
    arms["room_left"] += room
    state.control["room"] = 2 * room
    return state._replace(pool=pool)


# ------------------------------------------------------------------------------------------ the state of the next trial


@kernel
def renew(state: State, blank: State, rule: Record) -> None:
    """Reset a state to `blank`, a new one with the same arms and rule. Its pool stays as large as it was."""
    _renew(state, blank, rule, state.trees, state.members, state.evidence)


@kernel
def _renew(
    state: State, blank: State, rule: Record, trees: Tree | None, members: Indices | None, evidence: Evidence | None
) -> None:
    state.used[0] = blank.used[0]
    if trees is not None:
        _renew_arms(state, blank, rule)
        forget_keys(trees)
    if members is not None:
        _renew_arms(state, blank, rule)
        for index in range(members.size):
            members[index] = index
    if evidence is not None:
        _renew_evidence(state, blank, evidence.lattice, evidence.tallies, evidence.sums)


@kernel
def _renew_arms(state: State, blank: State, rule: Record) -> None:
    state.control[0] = blank.control[0]
    arms = state.arms
    for index in range(arms.size):
        arm = arms[index]
        new = blank.arms[index]  # a separate row: what to remember is put there first
        if rule.shortcuts == 1:  # where to divide rewards of the same laws
            new.guessed = arm.guessed
            for slot in range(4):
                new.guess[slot] = arm.guess[slot]
        arms[index] = new


@kernel
def _renew_evidence(
    state: State, blank: State, lattice: Lattice | None, tallies: Tallies | None, sums: Sums | None
) -> None:
    room = state.control[0].room
    state.control[0] = blank.control[0]
    state.control[0].room = room
    for index in range(state.arms.size):
        state.arms[index] = blank.arms[index]
        state.arms[index].room_left = room
        state.evidence.survivors[index] = index  # type: ignore[union-attr]
    if lattice is not None:
        for index in range(lattice.size):
            lattice[index].based = lattice[index].start = lattice[index].sheeted = 0
            forget_cells(lattice[index])
    if tallies is not None:
        for index in range(tallies.size):
            tallies[index] = blank.evidence.tallies[index]  # type: ignore[union-attr, index]
    if sums is not None:
        for index in range(sums.shape[0]):
            for column in range(3):
                sums[index, column] = 0.0
