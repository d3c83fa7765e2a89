"""Algorithm 1 of MTCD21 (G-CBAI), its attack-free counterpart, and the random baseline with its stopping rule.

Readings: t = rewards so far in every formula (#11); least-pulled arm first while some N_i < max(sqrt(t), T) (#5, #11);
lowest index on ties (#12); the random baseline is forced only to T (#14).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import inlined_kernel, kernel
from bestarm.kernels.radii import gap_log_root
from bestarm.kernels.samples import Pool, Record
from bestarm.kernels.state import estimate

Arms = NDArray[np.void]


@inlined_kernel
def _needs_exploration(rule: Record, fewest: int, t: int) -> bool:
    if fewest < rule.explored:
        return True
    return rule.uniform == 0 and fewest * fewest < t  # N_i < sqrt(t), in integers


@inlined_kernel
def _count_fewest(arms: Arms, control: Record, index: int) -> None:
    """Keep the smallest number of pulls, after a reward of an arm, in amortised O(1): K steps for every K rewards."""
    if arms[index].told - 1 == control.fewest:
        control.at_fewest -= 1
        if control.at_fewest == 0:
            fewest = arms[0].told
            for other in range(1, arms.size):
                fewest = min(fewest, arms[other].told)
            control.fewest = fewest
            control.first_fewest = 0
            for other in range(arms.size):
                if arms[other].told == fewest:
                    control.at_fewest += 1
        while arms[control.first_fewest].told != control.fewest:
            control.first_fewest += 1


@kernel
def _find_overlap(arms: Arms, control: Record, rule: Record, pool: Pool, root: float) -> float:
    """Set leader a_t and challenger j_t (Algorithm 1, line 8) and return the overlap B_t (line 9)."""
    leader = 0
    highest = estimate(arms[0], rule, pool)
    for index in range(1, arms.size):
        value = estimate(arms[index], rule, pool)
        if value > highest:
            leader = index
            highest = value
    challenger = -1
    reach = -np.inf
    for index in range(arms.size):
        upper = arms[index].estimate + rule.scale * arms[index].shrink * root
        if index != leader and (challenger < 0 or upper > reach):
            challenger = index
            reach = upper
    control.leader = leader
    control.challenger = challenger
    return reach - (highest - rule.scale * arms[leader].shrink * root)


@inlined_kernel
def settle(arms: Arms, control: Record, rule: Record, pool: Pool, index: int) -> None:
    """Take note of a reward of an arm: find out whether the algorithm stops, and between which arms it is if not."""
    _count_fewest(arms, control, index)
    control.explored = 0 if _needs_exploration(rule, control.fewest, control.t) else 1
    if control.explored == 1 and _find_overlap(arms, control, rule, pool, gap_log_root(rule, control.t)) <= 0.0:
        control.done = 1
        control.best = control.leader


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
