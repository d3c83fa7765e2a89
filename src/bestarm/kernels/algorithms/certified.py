"""The certified method: rounds over the surviving arms; an arm is dropped when a pair proves it worse (section 4).

Arm a is dropped when W(b, a) >= (K - 1) / delta for an arm b. Only the *champions* are tried as b: the surviving arms
with the highest locations. Pairs are compared after the rounds that `next_comparison` names, on the rewards of the
rounds that all survivors have completed; rewards of arms that are ahead wait. Comparisons whose outcome cannot change
are skipped (`quiet_rounds`); that changes no decision. Section 12 has the rest.

Section numbers are those of docs/explanation/certified.md. Functions take the whole state: they are inlined, or called
once a round at most.
"""

from __future__ import annotations

from bestarm.kernels.algorithms.stopping import IDENTIFIED, next_comparison, rank_of, stop_short
from bestarm.kernels.evidence import bounded as bounds
from bestarm.kernels.evidence import clean, lattice
from bestarm.kernels.evidence.bounded import Tallies
from bestarm.kernels.evidence.clean import Sums
from bestarm.kernels.evidence.lattice import Lattice
from bestarm.kernels.evidence.pair import CELLS, HALF, Replaced, contaminated_count, own_or_shared, quiet_rounds
from bestarm.kernels.jit.compile import inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Record
from bestarm.kernels.state.control import CHAMPIONS
from bestarm.kernels.state.counting import count_reward
from bestarm.kernels.state.state import CertifiedState

NOWHERE = -1e300  # start of a search before the first one


# ------------------------------------------------------------------------------------------------------------ rewards


@inlined_kernel
def observe(state: CertifiedState, rule: Record, index: int, reward: float) -> None:
    """Take in a reward; at the end of a round, compare the pairs if a check is due. The arm must have room."""
    arm, control = state.arms[index], state.control[0]
    state.pool[index * control.room + (arm.told & (control.room - 1))] = (reward - rule.origin) / rule.scale
    arm.room_left -= 1
    count_reward(arm, control)
    if arm.active == 1 and arm.told == control.rounds + 1:
        control.behind -= 1
        if control.behind == 0 and control.done == 0:
            end_rounds(state, rule)


@kernel
def end_rounds(state: CertifiedState, rule: Record) -> None:
    """Complete all rounds for which every survivor has a reward."""
    control, evidence = state.control[0], state.evidence
    while control.behind == 0 and control.done == 0 and control.active > 0:
        control.rounds += 1
        if control.rounds >= control.next_check:
            _compare_pairs(state, rule, evidence.lattice, evidence.tallies, evidence.sums)
        control.cursor = 0
        for index in range(control.active):
            if state.arms[evidence.survivors[index]].told == control.rounds:
                control.behind += 1


@kernel
def remove(state: CertifiedState, rule: Record, index: int, dropped: bool) -> None:
    """Take an arm out of the rounds, which may complete some of them."""
    arms, control, survivors = state.arms, state.control[0], state.evidence.survivors
    if arms[index].active == 0:
        return
    arms[index].active = 0
    if dropped:
        arms[index].dropped = max(control.rounds, 1)
    staying = 0
    for slot in range(control.active):
        if survivors[slot] != index:
            survivors[staying] = survivors[slot]
            staying += 1
    control.active = staying
    control.cursor = 0
    _choose_champions(state)
    control.next_check = next_comparison(rule, control.rounds + 1)
    control.behind = 0
    for slot in range(staying):
        if arms[survivors[slot]].told == control.rounds:
            control.behind += 1
    if control.behind == 0 and control.done == 0:
        end_rounds(state, rule)


@kernel
def has_room(
    state: CertifiedState, rule: Record, rows: Lattice | None, tallies: Tallies | None, sums: Sums | None, index: int
) -> bool:
    """Make room for more rewards of an arm by taking in those of completed rounds; return False if there is none."""
    arm, control = state.arms[index], state.control[0]
    room = control.room
    n = min(arm.told, control.rounds)
    start = n
    if rows is not None:
        row = rows[index]
        if room < rule.kept:
            return False
        if n > row.start:
            _keep_cells(state, rule, rows, index, n)
            row.start = n
        start = row.start
    if tallies is not None:
        bounds.fold(tallies[index], rule, state.pool, room, index, state.evidence.scratch, n)
    if sums is not None:
        clean.fold(sums, state.pool, room, index, n)
    arm.room_left = room - (arm.told - start)
    return arm.room_left > 0


@kernel
def _keep_cells(state: CertifiedState, rule: Record, rows: Lattice, index: int, n: int) -> None:
    """Sum the cells in which an arm's pairs were last compared, and their neighbours, before rewards are let go."""
    arms, control, duels = state.arms, state.control[0], state.evidence.duels
    up_low, up_high, down_low, down_high = 1 << 60, -(1 << 60), 1 << 60, -(1 << 60)
    for slot in range(CHAMPIONS):
        champion = control.champions[slot]
        if champion < 0 or arms[champion].active == 0:
            continue
        for other in range(arms.size):
            if arms[other].active == 0 or other == champion or duels[slot, other] == NOWHERE:
                continue
            cell = lattice.cell_of(int(duels[slot, other]))
            if champion == index:
                up_low, up_high = min(up_low, cell), max(up_high, cell)
            if other == index:
                down_low, down_high = min(down_low, cell), max(down_high, cell)
    row, scratch = rows[index], state.evidence.scratch
    arm = lattice.Arm(row, state.pool, control.room, index, n)
    shift = HALF - row.base
    for slot in range(CELLS):
        cell = slot - shift
        if up_low - 3 <= cell <= up_high + 3:
            lattice.fold(arm, rule, scratch, lattice.UP, slot, slot)
            if cell <= up_high:
                lattice.fold(arm, rule, scratch, lattice.FLAT_UP, slot, slot)
        if down_low - 3 <= cell <= down_high + 3:
            lattice.fold(arm, rule, scratch, lattice.DOWN, slot, slot)
            if cell >= down_low:
                lattice.fold(arm, rule, scratch, lattice.FLAT_DOWN, slot, slot)
    for side in range(lattice.SIDES):
        for slot in range(CELLS):
            if row.through[side, slot] < n:
                row.through[side, slot] = lattice.LOST


# -------------------------------------------------------------------------------------------------------------- pairs


@kernel
def _locate(
    state: CertifiedState, rule: Record, rows: Lattice | None, tallies: Tallies | None, sums: Sums | None
) -> None:
    """Renew the locations of all survivors."""
    control = state.control[0]
    n = control.rounds
    for slot in range(control.active):
        index = state.evidence.survivors[slot]
        if rows is not None:
            arm = lattice.Arm(rows[index], state.pool, control.room, index, n)
            lattice.locate(arm, rule, state.evidence.scratch)
            state.arms[index].estimate = rows[index].location
        if tallies is not None:
            state.arms[index].estimate = tallies[index].total / n
        if sums is not None:
            state.arms[index].estimate = sums[index, 1] / n


@kernel
def _choose_champions(state: CertifiedState) -> None:
    """Make the survivors with the highest locations champions; a champion that stays keeps its slot."""
    # The rank of a survivor is how many others come before it; ties by index.
    arms, control, survivors = state.arms, state.control[0], state.evidence.survivors
    for slot in range(CHAMPIONS):
        champion = control.champions[slot]
        if champion >= 0 and (arms[champion].active == 0 or rank_of(arms, control, survivors, champion) >= CHAMPIONS):
            control.champions[slot] = -1
    for position in range(control.active):
        index = survivors[position]
        known = rank_of(arms, control, survivors, index) >= CHAMPIONS
        free = -1
        for slot in range(CHAMPIONS - 1, -1, -1):
            known = known or control.champions[slot] == index
            if control.champions[slot] < 0:
                free = slot
        if not known and free >= 0:
            control.champions[free] = index
            for other in range(arms.size):
                state.evidence.duels[free, other] = NOWHERE
                state.evidence.duels[CHAMPIONS + free, other] = 0.0


@kernel
def _is_worse_on_lattice(
    state: CertifiedState, rule: Record, rows: Lattice, slot: int, a: int, replaced: Replaced
) -> bool:
    control, pool, scratch, duels = state.control[0], state.pool, state.evidence.scratch, state.evidence.duels
    b, n, enough = control.champions[slot], control.rounds, rule.log_threshold
    one, two = lattice.Arm(rows[b], pool, control.room, b, n), lattice.Arm(rows[a], pool, control.room, a, n)
    middle = lattice.subcell_at(rule, 0.5 * (one.row.location + two.row.location))
    point = middle if duels[slot, a] == NOWHERE else int(duels[slot, a])
    value = lattice.pair_at(one, two, rule, scratch, point, replaced, enough)
    if value != value and point != middle:  # the locations have moved away
        point = middle
        value = lattice.pair_at(one, two, rule, scratch, point, replaced, enough)
    duels[slot, a] = point
    if value < enough:
        lattice.write_growth(rule, scratch, point)
        wait = quiet_rounds(rule, scratch, lattice.UPS, lattice.DOWNS, lattice.GROWTH, replaced.shared, enough)
        duels[CHAMPIONS + slot, a] = n + wait + 1
        return False
    proved, point = lattice.is_proved(one, two, rule, scratch, point, 0, replaced, enough)
    duels[slot, a] = point
    duels[CHAMPIONS + slot, a] = n + 1 + (n >> 5)
    return proved


@kernel
def _is_worse_by_bounds(
    state: CertifiedState, rule: Record, tallies: Tallies, slot: int, a: int, replaced: Replaced
) -> bool:
    control, scratch, duels = state.control[0], state.evidence.scratch, state.evidence.duels
    b, n, enough = control.champions[slot], control.rounds, rule.log_threshold
    one, two = tallies[b], tallies[a]
    if duels[slot, a] == NOWHERE:
        duels[slot, a] = min(max(0.5 * (one.total + two.total) / n, 1e-3), 1.0 - 1e-3)
    mean = duels[slot, a]
    value = bounds.pair_near(one, two, rule, scratch, mean, replaced, enough)
    if value < enough:
        wait = quiet_rounds(rule, scratch, bounds.UPS, bounds.DOWNS, bounds.GROWTH, replaced.shared, enough)
        duels[CHAMPIONS + slot, a] = n + wait + 1
        return False
    proved, mean = bounds.is_proved(one, two, rule, scratch, mean, 0.0, replaced, enough)
    duels[slot, a] = mean
    return proved


@kernel
def _is_worse(
    state: CertifiedState,
    rule: Record,
    rows: Lattice | None,
    tallies: Tallies | None,
    sums: Sums | None,
    slot: int,
    a: int,
    replaced: Replaced,
) -> bool:
    """Tell whether the evidence of a champion drops an arm."""
    worse = False
    if rows is not None:
        worse = _is_worse_on_lattice(state, rule, rows, slot, a, replaced)
    if tallies is not None:
        worse = _is_worse_by_bounds(state, rule, tallies, slot, a, replaced)
    if sums is not None:
        control = state.control[0]
        b, n, enough = control.champions[slot], control.rounds, rule.log_threshold
        worse = clean.log_evidence(sums, rule, b, a, 0.0, n, enough) >= enough
    return worse


@kernel
def _compare_pairs(
    state: CertifiedState, rule: Record, rows: Lattice | None, tallies: Tallies | None, sums: Sums | None
) -> None:
    """Compare all pairs of a champion and a survivor that may have changed, and drop the arms proved worse."""
    arms, control, survivors, duels = state.arms, state.control[0], state.evidence.survivors, state.evidence.duels
    n = control.rounds
    for position in range(control.active):
        index = survivors[position]
        if tallies is not None:
            bounds.fold(tallies[index], rule, state.pool, control.room, index, state.evidence.scratch, n)
        if sums is not None:
            clean.fold(sums, state.pool, control.room, index, n)
    if n >= control.located:
        _locate(state, rule, rows, tallies, sums)
        _choose_champions(state)
        while control.located <= n:
            control.located *= 2
    replaced = own_or_shared(rule, contaminated_count(rule, arms.size, n, control.t))
    next_round = 1 << 60
    staying = 0
    champion_gone = False
    for position in range(control.active):
        a = survivors[position]
        soon = 1 << 60
        for slot in range(CHAMPIONS):
            b = control.champions[slot]
            if b < 0 or b == a or arms[b].active == 0:
                continue
            due = int(duels[CHAMPIONS + slot, a])
            if slot > 0:  # the second champion is there in case the first is not the best: every fourth round is enough
                due = max(due, (n + 3) & ~3)
            if due <= n:
                if _is_worse(state, rule, rows, tallies, sums, slot, a, replaced):
                    arms[a].active = 0
                    arms[a].dropped = n
                    break
                due = max(int(duels[CHAMPIONS + slot, a]), n + 1)
            soon = min(soon, due)
        if arms[a].active == 1:
            survivors[staying] = a
            staying += 1
            next_round = min(next_round, soon)
        else:
            for slot in range(CHAMPIONS):
                champion_gone = champion_gone or control.champions[slot] == a
    control.active = staying
    if champion_gone:
        _choose_champions(state)
        next_round = n + 1
    control.next_check = min(next_comparison(rule, max(next_round, n + 1)), control.located)
    if control.active == 1:
        if rule.endless == 0:
            control.done = IDENTIFIED
            control.best = survivors[0]
    elif rule.endless == 0:
        stop_short(state, rule, replaced)


# ------------------------------------------------------------------------------------------------------------- choice


@inlined_kernel
def choose(state: CertifiedState) -> int:
    """Return the next survivor of the round, lowest index first, when no reward is outstanding."""
    # No survivor before the cursor is behind in this round: counts only grow, and a new round resets the cursor.
    control, survivors = state.control[0], state.evidence.survivors
    while state.arms[survivors[control.cursor]].told > control.rounds:
        control.cursor += 1
    return survivors[control.cursor]
