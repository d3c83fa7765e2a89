"""Algorithm 1 of MTCD21 (G-CBAI), its attack-free counterpart, and the random baseline with its stopping rule.

Readings: t = rewards so far in every formula (#11); least-pulled arm first while some N_i < max(sqrt(t), T) (#5, #11);
lowest index on ties (#12); the random baseline is forced only to T (#14), or draws arms from the first pull on and may
stop from K T pulls on (its variant `floor="total"`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.jit.memory import constant
from bestarm.kernels.order_statistics.samples import LINES_OF_INSERT, MANY, Pool, Record
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
from bestarm.kernels.rule import GUIDED, UNIFORM, UNIFORM_AT_ONCE
from bestarm.kernels.shortcuts.prefetch import fetch
from bestarm.kernels.state.radii import gap_log_root
from bestarm.kernels.state.state import count_fewest, estimate

Arms = NDArray[np.void]

# Rows of the trees.
LEADERS = constant(0)
CHALLENGERS = constant(1)
SHRINKS = constant(2)  # leaves only: the part of a radius that belongs to the arm

_OFTEN = 16  # pulls


@inlined_kernel
def _needs_exploration(rule: Record, fewest: int, t: int) -> bool:
    if fewest < rule.explored:
        return True
    return rule.uniform == GUIDED and fewest * fewest < t  # N_i < sqrt(t), in integers


@inlined_kernel
def _upper(trees: Tree, rule: Record, leaf: int, root: float) -> float:
    # Rounding is monotone, so this does not fall as the root grows: `_challenger` relies on it.
    return key_of(trees, LEADERS, leaf) + rule.scale * key_of(trees, SHRINKS, leaf) * root


@kernel
def _look_ahead(arms: Arms, control: Record, rule: Record, trees: Tree) -> None:
    """Set the challengers' keys to upper ends as they will be at a later time."""
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
    """Renew the leader and the keys of an arm that has a new estimate. The leader is no challenger: -infinity."""
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


@inlined_kernel
def _challenger(arms: Arms, rule: Record, trees: Tree, root: float) -> int:
    """Return the arm but the leader with the highest upper end (Algorithm 1, line 8).

    The keys are upper ends at the time `ahead` >= t, so they are above those at t, though not by much: mostly the arm
    with the highest key is out of reach of all others.
    """
    found, second = first_and_second(trees, CHALLENGERS)
    if arms.size > MANY:
        fetch(arms, found, LINES_OF_INSERT)
    if second < _upper(trees, rule, first_leaf(trees) + found, root):
        return found
    return _closest_challenger(rule, trees, root, found)


@kernel
def _closest_challenger(rule: Record, trees: Tree, root: float, found: int) -> int:
    """Look into all branches whose key reaches the best upper end found so far."""
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


@inlined_kernel
def settle(arms: Arms, control: Record, rule: Record, pool: Pool, trees: Tree, index: int) -> None:
    """Take note of a reward of an arm: find out whether the algorithm stops, and between which arms it is if not."""
    count_fewest(arms, control, index)
    if control.fewest < rule.explored or control.t < rule.total:
        control.explored = 0
    else:
        _settle_explored(arms, control, rule, pool, trees, index)


@kernel
def _settle_explored(arms: Arms, control: Record, rule: Record, pool: Pool, trees: Tree, index: int) -> None:
    """Find leader a_t, challenger j_t and the overlap B_t (Algorithm 1, lines 8 and 9)."""
    if control.ahead == 0:
        _set_all_keys(arms, control, rule, pool, trees)
    else:
        _set_keys(arms, control, rule, pool, trees, index)
        if control.t > control.ahead:
            _look_ahead(arms, control, rule, trees)
    if _needs_exploration(rule, control.fewest, control.t):
        control.explored = 0
        return
    control.explored = 1
    root = gap_log_root(rule, control.t)
    leader = control.leader
    challenger = _challenger(arms, rule, trees, root)
    control.challenger = challenger
    leaves = first_leaf(trees)
    lower = trees[LEADERS, leaves + leader] - rule.scale * trees[SHRINKS, leaves + leader] * root
    overlap = _upper(trees, rule, leaves + challenger, root) - lower
    if overlap <= 0.0:
        control.done = 1
        control.best = leader


@inlined_kernel
def _mix(x: np.uint64) -> np.uint64:
    """Return one output of splitmix64 (Steele, Lea and Flood 2014): a hash from t to 64 random bits."""
    x += np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inlined_kernel
def _uniform_arm(seed: np.uint64, t: int, arms: int) -> int:
    bits = _mix(_mix(seed) ^ np.uint64(t)) >> np.uint64(32)
    return np.int64((bits * np.uint64(arms)) >> np.uint64(32))  # type: ignore[return-value]


@inlined_kernel
def choose(arms: Arms, control: Record, rule: Record) -> int:
    """Return the arm to pull next (eq. sampling rule) when no reward is outstanding."""
    if rule.uniform == UNIFORM_AT_ONCE:
        return _uniform_arm(rule.seed, control.t, arms.size)
    if control.explored == 0:
        return control.first_fewest
    if rule.uniform == UNIFORM:
        return _uniform_arm(rule.seed, control.t, arms.size)
    leader, challenger = control.leader, control.challenger
    if arms[leader].told == arms[challenger].told:  # so the radii are equal
        return min(leader, challenger)
    return leader if arms[leader].told < arms[challenger].told else challenger


@kernel
def choose_ahead(arms: Arms, control: Record, rule: Record, pool: Pool) -> int:
    """Choose while rewards are outstanding: counts and radii as if they had come in, estimates as they are."""
    t = control.t + control.pending
    if rule.uniform == UNIFORM_AT_ONCE:
        return _uniform_arm(rule.seed, t, arms.size)
    least = 0
    unknown = arms[0].told == 0
    for index in range(1, arms.size):
        if arms[index].told + arms[index].pending < arms[least].told + arms[least].pending:
            least = index
        unknown = unknown or arms[index].told == 0
    # Arms without any reward have no estimate to go by: spread evenly until they report.
    if unknown or _needs_exploration(rule, arms[least].told + arms[least].pending, t):
        return least
    if rule.uniform == UNIFORM:
        return _uniform_arm(rule.seed, t, arms.size)
    root = gap_log_root(rule, t)
    leader = 0
    for index in range(1, arms.size):
        if estimate(arms[index], rule, pool) > estimate(arms[leader], rule, pool):
            leader = index
    challenger = -1
    reach = -np.inf
    for index in range(arms.size):
        shrink = np.sqrt(2.0 / (arms[index].told + arms[index].pending))
        upper = estimate(arms[index], rule, pool) + rule.scale * shrink * root
        if index != leader and (challenger < 0 or upper > reach):
            challenger = index
            reach = upper
    leader_pulls = arms[leader].told + arms[leader].pending
    challenger_pulls = arms[challenger].told + arms[challenger].pending
    if leader_pulls == challenger_pulls:
        return min(leader, challenger)
    return leader if leader_pulls < challenger_pulls else challenger


@kernel
def radius(arms: Arms, control: Record, rule: Record, index: int) -> float:
    """Return beta_i(t, delta) of an arm as things stand; +infinity before it is explored."""
    pulls = arms[index].told
    if pulls == 0 or pulls < rule.explored or control.t < rule.total:
        return np.inf
    return rule.scale * np.sqrt(2.0 / pulls) * gap_log_root(rule, control.t)
