"""The adversary that knows the state of the certified method: it plays the value that hurts the evidence most.

At the sub-cell where the best arm and its strongest rival were last compared, one bet carries most of the
evidence. Its h is least at y*: a reward of the best arm is put there, and one of any other arm at the mirror image.
"""

from __future__ import annotations

import numpy as np

from bestarm.kernels.algorithms.certified import NOWHERE
from bestarm.kernels.evidence import lattice
from bestarm.kernels.evidence.lattice import Lattice
from bestarm.kernels.evidence.pair import SUBCELLS, Replaced
from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Record
from bestarm.kernels.rewards.draws import WHITE_BOX, Laws, clean, pull
from bestarm.kernels.state.control import CHAMPIONS
from bestarm.kernels.state.state import CertifiedState, Evidence, State

FARTHEST = -3.0  # sigmas from the cell, for a bet that has no least value


@kernel
def _worst_value(state: CertifiedState, rule: Record, rows: Lattice, best: int, index: int, otherwise: float) -> float:
    """Return the value that replaces a reward of an arm; before pairs are first compared, the given one."""
    control, survivors = state.control[0], state.evidence.survivors
    scratch, duels = state.evidence.scratch, state.evidence.duels
    rival = -1
    for position in range(control.active):
        other = survivors[position]
        if other != best and (rival < 0 or rows[other].location > rows[rival].location):
            rival = other
    if rival < 0 or rows[best].based == 0 or rows[rival].based == 0:
        return otherwise
    point = lattice.subcell_at(rule, 0.5 * (rows[best].location + rows[rival].location))
    for slot in range(CHAMPIONS):
        if control.champions[slot] == best and duels[slot, rival] != NOWHERE:
            point = int(duels[slot, rival])
    one = lattice.Arm(rows[best], state.pool, control.room, best, control.rounds)
    two = lattice.Arm(rows[rival], state.pool, control.room, rival, control.rounds)
    value = lattice.pair_at(one, two, rule, scratch, point, Replaced(0.0, 0.0), -np.inf)
    if value != value:
        return otherwise
    heaviest = 0
    for bet in range(1, rule.bets):
        if (
            scratch[lattice.UPS + bet] + scratch[lattice.DOWNS + bet]
            > scratch[lattice.UPS + heaviest] + scratch[lattice.DOWNS + heaviest]
        ):
            heaviest = bet
    middle = (point / SUBCELLS - 0.5) * rule.spacing
    distance = max(rule.lowest[heaviest], FARTHEST)
    return rule.origin + rule.scale * (middle + distance if index == best else middle - distance)


@inlined_kernel
def is_white_box(laws: Laws) -> bool:
    """Tell whether the adversary looks at the method."""
    return laws.attacks.size > 0 and laws.attacks[0].kind == WHITE_BOX


@kernel
def pull_against(
    state: State, rule: Record, evidence: Evidence | None, laws: Laws, rng: np.random.Generator, index: int
) -> float:
    """Draw a reward that an adversary who sees the method's state may have replaced."""
    reward = np.nan
    if evidence is not None:
        reward = _pull_against_evidence(state, rule, evidence.lattice, laws, rng, index)
    if evidence is None:
        reward = pull(laws, rng, index, state.arms[index].told, state.control[0].t)
    return reward


@kernel
def _pull_against_evidence(
    state: State, rule: Record, rows: Lattice | None, laws: Laws, rng: np.random.Generator, index: int
) -> float:
    reward = np.nan
    if rows is not None:
        if rng.random() < laws.epsilon:
            best = 0
            for arm in range(state.arms.size):
                if laws.attacks[arm].b < 0.0:
                    best = arm
            reward = _worst_value(state, rule, rows, best, index, laws.attacks[index].a)
        else:
            reward = clean(laws.arms[index], laws.support, rng)
    if rows is None:
        reward = pull(laws, rng, index, state.arms[index].told, state.control[0].t)
    return reward
