"""The evidence in a log whose rewards are compared within blocks, such as days: section 16 of certified.md.

The numbers of rewards in the blocks must not depend on the rewards; means may differ from block to block. The same
evidence, with all rewards in one block, is for arms of very different size: a batch of the larger arm for each reward
of the smaller one.
"""

from __future__ import annotations

import functools
import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import resolve
from bestarm.contamination.words import CLEAN, FIXED, HOW_MANY
from bestarm.identification.wording.blocks import BATCHES, Within, fixed_in_blocks, means_may_differ
from bestarm.log.blocks import BlockTable
from bestarm.log.evidence import LogEvidence
from bestarm.log.matching import Matches, Price, Shuffled, log_mean, match, match_alone, orders_of
from bestarm.log.piles import Array, Pile
from bestarm.log.pricing import Allowance, make_bets
from bestarm.methods.bets import unpriced
from bestarm.problem import Problem

_RIVALS = 4  # arms of the highest ranks that may rule out others
_SMALLEST_LIMIT = 512  # matches before the test whether fakes hide a lead
_ROUNDS = 30  # of the fit of arms and blocks
_HALVINGS = 24  # of the steps to an end of an interval, or of a lead


class BlockEvidence(LogEvidence):
    """The evidence of matches within blocks.

    Parameters
    ----------
    problem : Problem
        The question, with bounds. Its epsilon has no influence on the bets.
    contamination : str
        What epsilon means; not by source.
    piles : list of Pile
        The rewards of each arm, those that are not matched included.
    table : BlockTable
        The rewards of each arm in each block.
    control : int, optional
        The arm that all others are compared with, and no other pair.
    """

    def __init__(
        self,
        problem: Problem,
        contamination: str,
        piles: list[Pile],
        table: BlockTable,
        control: int | None = None,
    ) -> None:
        assert problem.bounds is not None
        self.problem, self.contamination, self.piles = problem, resolve(contamination), piles
        self.table, self._control = table, control
        self.rule = make_bets(problem, self.contamination)  # for the unit of rewards and the threshold
        self._bounded = True
        # Leads within blocks may form a circle; then each of the K arms may be named wrongly, not K - 1 (section 16).
        # With a control the K - 1 pairs with it are all that is tested (section 18).
        arms = len(piles)
        self._pays = math.log(arms / (arms - 1)) if arms > 2 and table.by and control is None else 0.0
        orders = orders_of(int(table.count.sum()))
        self._shuffled = [Shuffled(table, problem.labels, *problem.bounds, order) for order in range(orders)]
        self._numbers = table.numbers
        self._totals = self._summed()
        # In one block no batch is needed for the mean of one arm.
        self._plain = None if table.by else LogEvidence(problem, contamination, piles)
        self._known: dict[tuple[int, int], list[Matches]] = {}
        self._known_ends: dict[tuple[int, float, float, float], tuple[float, float]] = {}
        self.locations, errors = self._effects()
        self.order = self._ranked_by(errors)

    def _summed(self) -> Array:
        """Return the sum of the rewards of each arm in each block, in the units of the bets."""
        found = np.zeros(self._numbers.shape)
        units = np.clip((self.table.value - self.origin) / self.scale, 0.0, 1.0)
        np.add.at(found, (self.table.arm, self.table.block), units * self.table.count)
        return found

    def _effects(self) -> tuple[Array, Array]:
        """Return how good each arm is apart from its blocks, and roughly the standard error."""
        numbers = self._numbers.astype(np.float64)
        per_arm, per_block = np.maximum(numbers.sum(axis=1), 1.0), np.maximum(numbers.sum(axis=0), 1.0)
        block = np.zeros(numbers.shape[1])
        for _ in range(_ROUNDS):
            arm = (self._totals - numbers * block[None, :]).sum(axis=1) / per_arm
            block = (self._totals - numbers * arm[:, None]).sum(axis=0) / per_block
        squares = np.array([float(pile.values**2 @ pile.counts) for pile in self.piles])
        spread = np.maximum(squares / per_arm - (self._totals.sum(axis=1) / per_arm) ** 2, 1.0 / (per_arm + 1.0))
        return arm, np.sqrt(spread / per_arm)

    def _ranked_by(self, errors: Array) -> NDArray[np.int64]:
        """Return the arms from the best guess down; an arm that beats all others if nothing is fake is the first."""
        order = np.lexsort((np.arange(errors.size), -(self.locations - 2.0 * errors)))
        top, clean = int(np.argmax(self.locations)), self.at_count(0)
        others = order[order != top]
        if all(self.is_proved(top, int(a), clean) for a in others):
            return np.concatenate([[top], others])
        return order

    # ---------------------------------------------------------------------------------------------------------- pairs

    def worse(self, allowance: Allowance, hasty: bool = False) -> NDArray[np.bool_]:
        """Return which arms are proved worse than an arm of a higher rank that is not ruled out itself.

        So the last arm left has beaten every other arm itself. If `hasty`, only the first arm rules out others.
        """
        found = np.zeros(len(self.piles), bool)
        for rank, b in enumerate(map(int, self.order[: 1 if hasty else _RIVALS])):
            if found[b]:
                continue
            for a in map(int, self.order[rank + 1 :]):
                if not found[a]:
                    found[a] = self.is_proved(b, a, allowance)
                    if hasty and not found[a]:
                        return found
        return found

    def is_proved(self, b: int, a: int, allowance: Allowance, lead: float = 0.0, times: float = 1.0) -> bool:
        """Tell whether b is proved to lead a by more than `lead`, with `times` as many rewards of the same kind."""
        return self._log_evidence(b, a, allowance, lead / self.scale, times) >= self.enough

    def log_evidence(self, b: int, a: int, allowance: Allowance) -> float:
        """Return the log evidence that b is better than a."""
        return max(self._log_evidence(b, a, allowance), 0.0)

    def judge(self, b: int, a: int, allowance: Allowance) -> tuple[float, float]:
        """Return the log evidence that b is better than a, and a lower bound of its lead."""
        low, high = -1.0, 1.0
        if self._log_evidence(b, a, allowance, low) < self.enough:
            return self.log_evidence(b, a, allowance), -math.inf
        is_better = self._log_evidence(b, a, allowance) >= self.enough
        low, high = (0.0, high) if is_better else (low, 0.0)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            is_more = self._log_evidence(b, a, allowance, middle) >= self.enough
            low, high = (middle, high) if is_more else (low, middle)
        return self.log_evidence(b, a, allowance), low * self.scale

    def matches(self, b: int, a: int) -> list[Matches]:
        """Return the matches of two arms in each order."""
        if (b, a) not in self._known:
            self._known[b, a] = [match(shuffled, b, a) for shuffled in self._shuffled]
        return self._known[b, a]

    def _log_evidence(self, b: int, a: int, allowance: Allowance, lead: float = 0.0, times: float = 1.0) -> float:
        own = float(allowance.own[b]), float(allowance.own[a])
        price = self._price(allowance)
        each = [found.log_evidence(lead, own, allowance.shared, price, times) for found in self.matches(b, a)]
        return log_mean(each) - self._pays

    def _price(self, allowance: Allowance) -> Price:
        return partial(self.contamination.price, epsilon=allowance.chance) if allowance.chance > 0.0 else unpriced

    def is_hidden(self, b: int, a: int, allowance: Allowance) -> bool:
        """Tell whether fakes could hide which of two arms is better, however many rewards."""
        found = self.matches(b, a)[0]
        if found.number < _SMALLEST_LIMIT:
            return False
        spread = math.sqrt(
            max(float(found.values**2 @ found.counts) / found.number - found.mean**2, 0.0) / found.number
        )
        z = math.sqrt(2.0 * math.log(40.0 * (1.0 + math.log2(found.number)) ** 2))
        ahead = found.mean + z * spread <= self._shift(b, a, allowance)
        return bool(ahead and -found.mean + z * spread <= self._shift(a, b, allowance))

    def smallest_lead(self, b: int, a: int, allowance: Allowance) -> float | None:
        """Return the lead of b over a below which nothing can be proved, however many rewards of this kind.

        It is how far the fakes can move the mean of the matches, as the log grows and their number with it.
        """
        return min(self._shift(b, a, allowance), 1.0) * self.scale

    def _shift(self, b: int, a: int, allowance: Allowance) -> float:
        chance = self._price(allowance)(1.0, 2.0, 0.0) - 1.0  # a bet of size 1
        own = float(allowance.own[b]), float(allowance.own[a])
        return chance + self.matches(b, a)[0].shift(own, allowance.shared)

    # ----------------------------------------------------------------------------------------------------------- arms

    @functools.cached_property
    def first(self) -> int:
        """The arm that others are compared with in words: the control or, without one, the leader."""
        return int(self.order[0]) if self._control is None else self._control

    @functools.cached_property
    def rival(self) -> int:
        """The arm that is nearest to the leader: over which it has the least evidence, or lead; or the control's best.

        The best beside a control is the arm with the most evidence against it.
        """
        clean, leader = self.at_count(0), int(self.order[0])
        if self._control is not None:
            control, others = self._control, (index for index in range(len(self.piles)) if index != self._control)
            return max(others, key=lambda b: (self._log_evidence(b, control, clean), self.lead(b, control)))
        return min(map(int, self.order[1:]), key=lambda a: (self._log_evidence(leader, a, clean), self.lead(leader, a)))

    def lead(self, b: int, a: int) -> float:
        """Return the plain lead of b over a in the blocks that both share, each weighted by its matches."""
        one, other = self.means_of(b, a)
        return one - other

    def means_of(self, b: int, a: int) -> tuple[float, float]:
        """Return the means of two arms in the blocks that both share, each weighted by its matches."""
        numbers, sums = self._numbers[[b, a]], self._totals[[b, a]]
        weight = numbers.min(axis=0)
        if not weight.any():
            return math.nan, math.nan
        means = (weight * sums / np.maximum(numbers, 1)).sum(axis=1) / weight.sum()
        return self.origin + self.scale * float(means[0]), self.origin + self.scale * float(means[1])

    def partner(self, index: int) -> int:
        """Return the arm in whose blocks the mean of an arm is reported: the first; of the first, its rival."""
        return self.rival if index == self.first else self.first

    def ends(self, index: int, allowance: Allowance) -> tuple[float, float, float]:
        """Return the mean of an arm in the blocks that it shares with its partner, and the ends of its interval.

        All intervals hold together with probability 1 - delta.
        """
        if self._plain is not None:
            return self._plain.ends(index, allowance)
        lower, upper = self._interval(index, allowance)
        values = self.origin + self.scale * lower, self.origin + self.scale * upper
        return self.means_of(index, self.partner(index))[0], *values

    def _interval(self, index: int, allowance: Allowance) -> tuple[float, float]:
        """Return the ends of the interval of an arm, in the units of the bets."""
        key = index, float(allowance.own[index]), allowance.shared, allowance.chance
        if key not in self._known_ends:
            enough = math.log(2.0 * len(self.piles) / self.problem.delta)
            self._known_ends[key] = self._between(index, self.partner(index), allowance, enough)
        return self._known_ends[key]

    def ends_beside(self, index: int, partner: int, allowance: Allowance, delta: float) -> tuple[float, float]:
        """Return the ends of an interval of an arm's mean in the blocks that it shares with another."""
        lower, upper = self._between(index, partner, allowance, math.log(2.0 / delta))
        return self.origin + self.scale * lower, self.origin + self.scale * upper

    def _between(self, index: int, partner: int, allowance: Allowance, enough: float) -> tuple[float, float]:
        """Return the ends of an interval, in the units of the bets, each with so much log evidence."""
        lower = self._least(index, partner, allowance, enough, down=False)
        return lower, 1.0 - self._least(index, partner, allowance, enough, down=True)

    def _least(self, index: int, partner: int, allowance: Allowance, enough: float, *, down: bool) -> float:
        """Return the lower end of the interval of an arm's mean; `down`: of 1 less its mean."""
        matches = [match_alone(shuffled, index, partner, down=down) for shuffled in self._shuffled]
        if not matches[0].number:
            return -math.inf
        own = float(allowance.own[index] + allowance.shared), 0.0
        low, high, price = 0.0, 1.0, self._price(allowance)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            is_more = log_mean([each.log_evidence(middle, own, 0.0, price) for each in matches]) >= enough
            low, high = (middle, high) if is_more else (low, middle)
        return low

    # ---------------------------------------------------------------------------------------------------------- words

    def within(self) -> Within | None:
        """Return how rewards were compared within blocks; None if all of them are one block."""
        if not self.table.by:
            return None
        first, rival = self.first, self.rival
        labels, numbers = self.problem.labels, self._numbers
        alone = (numbers > 0).sum(axis=0) < 2
        if self._control is not None:
            alone |= numbers[first] == 0
        others = (index for index in range(len(labels)) if index != first)
        return Within(
            by=self.table.by,
            column=self.table.column,
            blocks=int((numbers[[first, rival]] > 0).all(axis=0).sum()),
            matches=self.matches(first, rival)[0].number,
            unused=int(numbers[:, alone].sum()) + self.table.without,
            shares_change=self.table.shares_change,
            first=labels[first],
            rival=labels[rival],
            means={labels[index]: self.means_of(index, first) for index in others},
        )

    def promise(self, said: str) -> str:
        """Return assumptions about rewards as those about rewards in blocks."""
        within = self.within()
        if within is None:
            return said.replace(HOW_MANY, FIXED) + BATCHES
        fixed = fixed_in_blocks(within, len(self.piles))
        return said.replace(CLEAN, means_may_differ(within)).replace(HOW_MANY, fixed)
