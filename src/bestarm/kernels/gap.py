"""Algorithm 1 of MTCD21 (G-CBAI), its attack-free counterpart, and the random baseline with its stopping rule.

Readings: t = rewards so far in every formula (#11); least-pulled arm first while some N_i < max(sqrt(t), T) (#5, #11);
lowest index on ties (#12); the random baseline is forced only to T (#14).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import constant, inlined_kernel, kernel
from bestarm.kernels.radii import gap_log_root
from bestarm.kernels.samples import Pool, Record
from bestarm.kernels.state import count_fewest, estimate
from bestarm.kernels.tournament import Tree, first_of, set_key

Arms = NDArray[np.void]

# Rows of the trees.
LEADERS = constant(0)
CHALLENGERS = constant(1)


@inlined_kernel
def _needs_exploration(rule: Record, fewest: int, t: int) -> bool:
    if fewest < rule.explored:
        return True
    return rule.uniform == 0 and fewest * fewest < t  # N_i < sqrt(t), in integers


@inlined_kernel
def _upper(arm: Record, rule: Record, root: float) -> float:
    # Rounding is monotone, so this does not fall as the root grows: `_challenger` relies on it.
    return arm.estimate + rule.scale * arm.shrink * root


@kernel
def _renew_keys(arms: Arms, control: Record, rule: Record, pool: Pool, trees: Tree) -> None:
    """Set the keys of all arms: estimates, and upper ends as they will be at a later time."""
    # Not too far ahead: the method keeps upper ends level, so a little slack lets many arms reach the highest one.
    control.ahead = control.t + max(min(control.t >> 4, 4 * arms.size), arms.size)
    control.ahead_root = gap_log_root(rule, control.ahead)
    for index in range(arms.size):
        set_key(trees, LEADERS, index, estimate(arms[index], rule, pool))
        set_key(trees, CHALLENGERS, index, _upper(arms[index], rule, control.ahead_root))


@kernel
def _challenger(arms: Arms, control: Record, rule: Record, trees: Tree, leader: int, root: float) -> int:
    """Return the arm but the leader with the highest upper end (Algorithm 1, line 8).

    The keys are upper ends at the time `ahead` >= t, so they are above those at t, though not by much: only branches
    whose key reaches the best upper end found so far are looked into. The challenger of the last time is a good start.
    """
    found = control.challenger if control.challenger != leader else control.leader
    if found < 0 or found == leader:
        found = 1 if leader == 0 else 0
    reach = _upper(arms[found], rule, root)
    leaves = trees.shape[1] >> 1
    node = 1
    while node > 0:
        if trees[CHALLENGERS, node] >= reach:
            if node < leaves:
                node = 2 * node
                continue
            index = node - leaves
            if index != leader and index < arms.size:
                upper = _upper(arms[index], rule, root)
                if upper > reach or (upper == reach and index < found):
                    found = index
                    reach = upper
        while node & 1 == 1:
            node >>= 1
        if node > 0:
            node += 1
    return found


@inlined_kernel
def settle(arms: Arms, control: Record, rule: Record, pool: Pool, trees: Tree, index: int) -> None:
    """Take note of a reward of an arm: find out whether the algorithm stops, and between which arms it is if not."""
    count_fewest(arms, control, index)
    if control.fewest < rule.explored:
        control.explored = 0
    else:
        _settle_explored(arms, control, rule, pool, trees, index)


@kernel
def _settle_explored(arms: Arms, control: Record, rule: Record, pool: Pool, trees: Tree, index: int) -> None:
    """Find leader a_t, challenger j_t and the overlap B_t (Algorithm 1, lines 8 and 9)."""
    if control.t > control.ahead:
        _renew_keys(arms, control, rule, pool, trees)
    else:
        set_key(trees, LEADERS, index, estimate(arms[index], rule, pool))
        set_key(trees, CHALLENGERS, index, _upper(arms[index], rule, control.ahead_root))
    if _needs_exploration(rule, control.fewest, control.t):
        control.explored = 0
        return
    control.explored = 1
    root = gap_log_root(rule, control.t)
    leader = first_of(trees, LEADERS)
    challenger = _challenger(arms, control, rule, trees, leader, root)
    control.leader = leader
    control.challenger = challenger
    overlap = _upper(arms[challenger], rule, root) - (arms[leader].estimate - rule.scale * arms[leader].shrink * root)
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
    if control.explored == 0:
        return control.first_fewest
    if rule.uniform == 1:
        return _uniform_arm(rule.seed, control.t, arms.size)
    leader, challenger = control.leader, control.challenger
    if arms[leader].told == arms[challenger].told:  # so the radii are equal
        return min(leader, challenger)
    return leader if arms[leader].told < arms[challenger].told else challenger


@kernel
def choose_ahead(arms: Arms, control: Record, rule: Record, pool: Pool) -> int:
    """Choose while rewards are outstanding: counts and radii as if they had come in, estimates as they are."""
    t = control.t + control.pending
    least = 0
    unknown = arms[0].told == 0
    for index in range(1, arms.size):
        if arms[index].told + arms[index].pending < arms[least].told + arms[least].pending:
            least = index
        unknown = unknown or arms[index].told == 0
    # Arms without any reward have no estimate to go by: spread evenly until they report.
    if unknown or _needs_exploration(rule, arms[least].told + arms[least].pending, t):
        return least
    if rule.uniform == 1:
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
    if pulls == 0 or pulls < rule.explored:
        return np.inf
    return rule.scale * np.sqrt(2.0 / pulls) * gap_log_root(rule, control.t)
