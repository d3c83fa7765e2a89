"""Algorithm 1 of MTCD21 (G-CBAI), its attack-free counterpart, and the random baseline with its stopping rule.

Line numbers are those of the paper's listing. A pass of its loop is `choose`, a pull, and `observe`. Readings:
t = rewards so far in every formula (#11); least-pulled arm first while some N_i < max(sqrt(t), T) (#5, #11); lowest
index on ties (#12); the random baseline is forced only to T (#14), or draws arms from the first pull on and may stop
from K T pulls on (its variant `floor="total"`).
"""

from __future__ import annotations

import numpy as np

from bestarm.kernels.algorithms.uniform import uniform_arm
from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Arms, Pool, Record
from bestarm.kernels.order_statistics.tournament import Tree
from bestarm.kernels.rule import GUIDED, UNIFORM, UNIFORM_AT_ONCE
from bestarm.kernels.shortcuts.look_ahead import challenger_and_overlap, renew_keys
from bestarm.kernels.state.counting import count_fewest, less_pulled
from bestarm.kernels.state.estimates import estimate
from bestarm.kernels.state.radii import gap_log_root


@inlined_kernel
def _needs_exploration(rule: Record, fewest: int, t: int) -> bool:
    """Line 4: tell whether some arm has N_a(t) < max(sqrt(t), T), which is so if the least-pulled arm has."""
    if fewest < rule.explored:
        return True
    return rule.uniform == GUIDED and fewest * fewest < t  # N_i < sqrt(t), in integers


@kernel
def _leader_and_challenger(arms: Arms, rule: Record, pool: Pool, root: float, ahead: int) -> tuple[int, int]:
    """Line 8: a_t has the highest estimate, j_t the highest upper end of the others.

    `root` is the part that all beta_i(t, delta) share. With ahead = 1, rewards that were asked for count as pulls.
    """
    leader = 0
    for index in range(1, arms.size):
        if estimate(arms[index], rule, pool) > estimate(arms[leader], rule, pool):
            leader = index
    challenger, highest = -1, -np.inf
    for index in range(arms.size):
        shrink = np.sqrt(2.0 / (arms[index].told + ahead * arms[index].pending))
        upper = estimate(arms[index], rule, pool) + rule.scale * shrink * root
        if index != leader and (challenger < 0 or upper > highest):
            challenger, highest = index, upper
    return leader, challenger


@inlined_kernel
def observe(arms: Arms, control: Record, rule: Record, pool: Pool, trees: Tree, index: int) -> None:
    """Take in a reward of an arm; find out whether the algorithm stops, and otherwise between which arms it decides."""
    count_fewest(arms, control, index)
    if control.fewest < rule.explored or control.t < rule.total:  # line 3: t <= K T; line 4: N_a < T
        control.explored = 0
    else:
        _compare(arms, control, rule, pool, trees, index)


@kernel
def _compare(arms: Arms, control: Record, rule: Record, pool: Pool, trees: Tree, index: int) -> None:
    """Lines 8 and 9: find leader a_t, challenger j_t and the overlap B_t of their intervals."""
    if rule.shortcuts == 1:
        renew_keys(arms, control, rule, pool, trees, index)
    if _needs_exploration(rule, control.fewest, control.t):  # line 4
        control.explored = 0
        return
    control.explored = 1
    root = gap_log_root(rule, control.t)
    if rule.shortcuts == 1:
        control.challenger, overlap = challenger_and_overlap(arms, control, rule, trees, root)  # both without a scan
    else:
        control.leader, control.challenger = _leader_and_challenger(arms, rule, pool, root, 0)  # line 8
        leader, challenger = arms[control.leader], arms[control.challenger]
        lower = leader.estimate - rule.scale * leader.shrink * root
        overlap = challenger.estimate + rule.scale * challenger.shrink * root - lower  # line 9: B_t
    if overlap <= 0.0:  # line 3
        control.done = 1
        control.best = control.leader  # line 15


@inlined_kernel
def choose(arms: Arms, control: Record, rule: Record) -> int:
    """Return the arm to pull next when no reward is outstanding: A_{t+1} of line 5 or 10."""
    if rule.uniform == UNIFORM_AT_ONCE:
        return uniform_arm(rule.seed, control.t, arms.size)
    if control.explored == 0:
        return control.first_fewest  # line 5
    if rule.uniform == UNIFORM:
        return uniform_arm(rule.seed, control.t, arms.size)
    leader, challenger = control.leader, control.challenger
    return less_pulled(leader, arms[leader].told, challenger, arms[challenger].told)  # line 10


@kernel
def choose_ahead(arms: Arms, control: Record, rule: Record, pool: Pool) -> int:
    """Choose while rewards are outstanding: counts and radii as if they had come in, estimates from those told."""
    t = control.t + control.pending
    if rule.uniform == UNIFORM_AT_ONCE:
        return uniform_arm(rule.seed, t, arms.size)
    least = 0
    unknown = arms[0].told == 0
    for index in range(1, arms.size):
        if arms[index].told + arms[index].pending < arms[least].told + arms[least].pending:
            least = index
        unknown = unknown or arms[index].told == 0
    # Arms without any reward have no estimate: spread evenly until they report.
    if unknown or _needs_exploration(rule, arms[least].told + arms[least].pending, t):
        return least  # line 5
    if rule.uniform == UNIFORM:
        return uniform_arm(rule.seed, t, arms.size)
    leader, challenger = _leader_and_challenger(arms, rule, pool, gap_log_root(rule, t), 1)  # line 8
    leader_pulls = arms[leader].told + arms[leader].pending
    return less_pulled(leader, leader_pulls, challenger, arms[challenger].told + arms[challenger].pending)  # line 10


@kernel
def radius(arms: Arms, control: Record, rule: Record, index: int) -> float:
    """Return the present beta_i(t, delta) of an arm; +infinity before it is explored."""
    pulls = arms[index].told
    if pulls == 0 or pulls < rule.explored or control.t < rule.total:
        return np.inf
    return rule.scale * np.sqrt(2.0 / pulls) * gap_log_root(rule, control.t)
