"""Leader and challenger of Algorithm 1 without a scan of all arms: trees whose keys are upper ends of a later time.

All upper ends grow with log t at every pull. So the keys of the challengers' tree are the upper ends at a later time:
bounds that hold for a while, and that are hardly too high. docs/explanation/speed.md has the argument.
"""

from __future__ import annotations

import numpy as np

from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.jit.memory import constant
from bestarm.kernels.order_statistics.samples import LINES_OF_INSERT, MANY, Arms, Pool, Record
from bestarm.kernels.order_statistics.tournament import (
    BITS,
    CHILDREN,
    Tree,
    first_and_second,
    first_leaf,
    first_of,
    key_of,
    set_inner,
    set_key,
)
from bestarm.kernels.shortcuts.prefetch import fetch
from bestarm.kernels.state.estimates import estimate
from bestarm.kernels.state.radii import gap_log_root

# Rows of the trees.
LEADERS = constant(0)
CHALLENGERS = constant(1)
SHRINKS = constant(2)  # leaves only: the part of a radius that belongs to the arm

_OFTEN = 16  # pulls


@inlined_kernel
def renew_keys(arms: Arms, control: Record, rule: Record, pool: Pool, trees: Tree, index: int) -> None:
    """Renew the leader and the keys after a reward of an arm; all keys the first time, and from time to time.

    From the first call on, it must be called for every reward.
    """
    if control.ahead == 0:
        _set_all_keys(arms, control, rule, pool, trees)
    else:
        _set_keys(arms, control, rule, pool, trees, index)
        if control.t > control.ahead:
            _look_ahead(arms, control, rule, trees)


@inlined_kernel
def challenger_and_overlap(arms: Arms, control: Record, rule: Record, trees: Tree, root: float) -> tuple[int, float]:
    """Return the challenger of the leader, and how far its interval reaches into the leader's.

    Both are read off the leaves, which are at hand: the records of many arms are not.
    """
    challenger = _challenger(arms, rule, trees, root)
    leader = first_leaf(trees) + control.leader
    lower = trees[LEADERS, leader] - rule.scale * trees[SHRINKS, leader] * root
    return challenger, _upper(trees, rule, first_leaf(trees) + challenger, root) - lower


@inlined_kernel
def _challenger(arms: Arms, rule: Record, trees: Tree, root: float) -> int:
    """Return the arm with the highest upper end, except the leader.

    The keys are upper ends at the time `ahead` >= t, so they are a little above those at t: mostly no other arm can
    reach the one with the highest key.
    """
    found, second = first_and_second(trees, CHALLENGERS)
    if arms.size > MANY:
        fetch(arms, found, LINES_OF_INSERT)
    if second < _upper(trees, rule, first_leaf(trees) + found, root):
        return found
    return _closest_challenger(rule, trees, root, found)


@inlined_kernel
def _upper(trees: Tree, rule: Record, leaf: int, root: float) -> float:
    # Rounding is monotone, so this does not fall as the root grows: `_challenger` relies on it.
    return key_of(trees, LEADERS, leaf) + rule.scale * key_of(trees, SHRINKS, leaf) * root


@kernel
def _look_ahead(arms: Arms, control: Record, rule: Record, trees: Tree) -> None:
    """Set the challengers' keys to their upper ends at a later time."""
    # Not too far ahead: the method keeps upper ends level, so a little slack lets many arms reach the highest one.
    control.ahead = control.t + max(min(control.t >> 4, max(arms.size >> 1, _OFTEN)), 1)
    control.ahead_root = gap_log_root(rule, control.ahead)
    first = first_leaf(trees)
    for leaf in range(first, first + arms.size):
        trees[CHALLENGERS, leaf] = _upper(trees, rule, leaf, control.ahead_root)
    trees[CHALLENGERS, first + control.leader] = -np.inf
    set_inner(trees, CHALLENGERS, arms.size)


@kernel
def _set_all_keys(arms: Arms, control: Record, rule: Record, pool: Pool, trees: Tree) -> None:
    """Find the leader and set the keys of all arms for the first time."""
    first = first_leaf(trees)
    for index in range(arms.size):
        trees[LEADERS, first + index] = estimate(arms[index], rule, pool)
        trees[SHRINKS, first + index] = arms[index].shrink
    set_inner(trees, LEADERS, arms.size)
    control.leader = first_of(trees, LEADERS)
    _look_ahead(arms, control, rule, trees)


@inlined_kernel
def _set_keys(arms: Arms, control: Record, rule: Record, pool: Pool, trees: Tree, index: int) -> None:
    """Renew the leader and the keys of an arm with a new estimate. The leader's challenger key is -infinity."""
    first = first_leaf(trees)
    before = control.leader
    highest = trees[LEADERS, first + before]
    key = estimate(arms[index], rule, pool)
    set_key(trees, LEADERS, index, key)
    trees[SHRINKS, first + index] = arms[index].shrink
    if index == before:
        leader = before if key >= highest else first_of(trees, LEADERS)
    else:
        leader = index if key > highest or (key == highest and index < before) else before
    if leader != before:
        control.leader = leader
        set_key(trees, CHALLENGERS, leader, -np.inf)
        set_key(trees, CHALLENGERS, before, _upper(trees, rule, first + before, control.ahead_root))
    elif index != leader:
        set_key(trees, CHALLENGERS, index, _upper(trees, rule, first + index, control.ahead_root))


@kernel
def _closest_challenger(rule: Record, trees: Tree, root: float, found: int) -> int:
    """Search all branches whose key reaches the best upper end found so far."""
    leaves = first_leaf(trees)
    reach = _upper(trees, rule, leaves + found, root)
    node = CHILDREN
    while node > 1:
        if key_of(trees, CHALLENGERS, node) >= reach:
            if node < leaves:
                node <<= BITS
                continue
            upper = _upper(trees, rule, node, root)
            if upper > reach or (upper == reach and node - leaves < found):
                found = node - leaves
                reach = upper
        while node & (CHILDREN - 1) == CHILDREN - 1:
            node >>= BITS
        node += 1 if node > 1 else 0
    return found
