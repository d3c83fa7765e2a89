"""The forced exploration of a simulated trial at the cost of its draws.

No estimate is used before every arm has T rewards (MTCD21, before the arm selection rule), and until then arms take
turns, lowest index first, in both of its algorithms. So these pulls only have to put rewards where they will be
divided. The last round, after which a decision may follow, is left to the method.
"""

from __future__ import annotations

import numpy as np

from bestarm.kernels.jit.compile import kernel
from bestarm.kernels.jit.memory import constant
from bestarm.kernels.order_statistics.samples import DEALT, MANY, PADDING, RAW, WINDOW, find_rooms, recount_room_left
from bestarm.kernels.order_statistics.tournament import Tree
from bestarm.kernels.rewards.draws import Laws, pull
from bestarm.kernels.rule import MEAN, Rule
from bestarm.kernels.state.estimates import first_rank, second_rank
from bestarm.kernels.state.state import Indices, State

NONE = constant(0)


@kernel
def explore(
    state: State,
    rule: Rule,
    laws: Laws,
    rng: np.random.Generator,
    max_pulls: int,
    trees: Tree | None,
    members: Indices | None,
) -> bool:
    """Make all rounds of forced exploration but the last, from a new state on; none if they are few.

    If the pool has no room for them, draw no reward and return False.
    """
    settings = rule[0]
    arms = state.arms
    rounds = int(min(np.ceil(settings.explored) - 1.0, max_pulls // arms.size))
    if settings.shortcuts == 0 or settings.estimator == MEAN or rounds <= WINDOW:
        return True
    for index in range(arms.size):
        arm = arms[index]
        arm.told = arm.count = rounds
        arm.divided = RAW
        arm.cut[0] = first_rank(settings, rounds)
        arm.cut[1] = second_rank(settings, rounds)
    if not find_rooms(arms, state.pool, state.used):
        return False
    _draw_rounds(state, laws, rng, rounds)
    state.control[0].t = rounds * arms.size
    if trees is not None:
        state.control[0].fewest = rounds
    if members is not None:
        state.control[0].rounds = rounds
    for index in range(arms.size):
        arms[index].held[1] = rounds
        recount_room_left(arms[index])
    return True


@kernel
def _draw_rounds(state: State, laws: Laws, rng: np.random.Generator, rounds: int) -> None:
    arms, pool = state.arms, state.pool
    base = arms[0].start[1]
    stride = arms[1].start[1] - base  # all arms have the same rooms
    t = NONE
    if arms.size <= MANY:
        for turn in range(rounds):
            slot = base + turn
            for index in range(arms.size):
                pool[slot] = pull(laws, rng, index, turn, t)
                slot += stride
                t += 1
        return
    # Many arms need more lines than the nearest cache has: draw a few rounds side by side, then deal them out.
    deck = state.used[0]
    wide = arms.size + PADDING
    for begin in range(0, rounds, DEALT):
        end = min(begin + DEALT, rounds)
        for turn in range(begin, end):
            slot = deck + (turn - begin) * wide
            for index in range(arms.size):
                pool[slot] = pull(laws, rng, index, turn, t)
                slot += 1
                t += 1
        for index in range(arms.size):
            slot = deck + index
            for turn in range(begin, end):
                pool[base + stride * index + turn] = pool[slot]
                slot += wide
