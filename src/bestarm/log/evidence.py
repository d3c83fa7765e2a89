"""The evidence in a log, all rows at once: which arms are proved worse, leads, intervals and alarms.

Section numbers are those of docs/explanation/certified.md; section 13 is about logs. The question without its epsilon
fixes the bets, which serve every epsilon and every count of replaced rewards: the evidence falls as either grows. So
all verdicts at a true epsilon, or with a count that is not exceeded, are right together with probability at least
1 - delta, and none contradicts another, whichever epsilon was asked about.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import resolve
from bestarm.identification.robustness import widest_lead
from bestarm.identification.tail_alarm import FarRewards, Tails, alarm_of_all
from bestarm.kernels.evidence.bounded import DESK as BOUNDED_DESK
from bestarm.kernels.evidence.bounded import tally_dtype
from bestarm.kernels.evidence.grouped import (
    Sums,
    Values,
    fill_cells,
    find_balance,
    find_ends,
    find_worse,
    fits_none,
    is_beyond_bounds,
    is_beyond_lattice,
    judge,
    proves,
    tally,
)
from bestarm.kernels.evidence.lattice import DESK as LATTICE_DESK
from bestarm.kernels.evidence.lattice import LANES, lattice_dtype
from bestarm.kernels.rule import Rule
from bestarm.log.piles import Array, Pile
from bestarm.log.pricing import Allowance, make_bets, priced
from bestarm.methods.bets import SPACING, farthest_clip, unpriced
from bestarm.methods.log_bets import RATES
from bestarm.problem import Problem

_SMALLEST_LIMIT = 512  # rewards of each of two arms before the test whether contamination hides a lead
_MANY = 1e6  # times the rewards of a log: so many that chance plays no part
_THREADS = 2
RIVALS = 16  # each arm is compared with this many arms: those with the highest lower ends, were nothing replaced


class LogEvidence:
    """The evidence in all rewards of a log.

    Parameters
    ----------
    problem : Problem
        The question. Its epsilon has no influence on the bets.
    contamination : str
        What epsilon means.
    piles : list of Pile
        The rewards of each arm.
    """

    def __init__(self, problem: Problem, contamination: str, piles: list[Pile]) -> None:
        self.problem, self.contamination, self.piles = problem, resolve(contamination), piles
        self.rule = make_bets(problem, self.contamination)
        self._bounded = problem.bounds is not None
        self._scratch = np.zeros(BOUNDED_DESK if self._bounded else LATTICE_DESK)
        self._rows = self._fill(piles)
        self._tails: list[Tails] | None = None
        self.locations = np.array([pile.mean if self._bounded else pile.median for pile in piles])
        self.order = self._ranked()

    def _ranked(self) -> NDArray[np.int64]:
        """Return the arms from the best guess down: by the lower ends of intervals if nothing were replaced.

        So an arm with a few high rewards does not lead. Location and index break ties, and rank arms without an end.
        """
        clean = self.at_count(0)
        lower = np.array([self._interval(index, clean)[0] for index in range(len(self.piles))])
        known = np.where(np.isnan(self.locations), -np.inf, self.locations)
        return np.lexsort((np.arange(lower.size), -known, -lower))

    @property
    def scale(self) -> float:
        """The unit of the bets."""
        return float(self.rule["scale"][0])

    @property
    def origin(self) -> float:
        """The reward that is 0 to the bets."""
        return float(self.rule["origin"][0])

    @property
    def enough(self) -> float:
        """The log evidence that drops an arm."""
        return float(self.rule["log_threshold"][0])

    @property
    def reach(self) -> float:
        """The distance from a mean, in the units of the bets, beyond which sub-Gaussian rewards are discounted."""
        return farthest_clip(min(RATES))

    @property
    def total(self) -> int:
        """All rewards N, missing ones included."""
        return sum(pile.number for pile in self.piles)

    @property
    def missing(self) -> int:
        """Rewards that are missing and count as replaced."""
        return sum(pile.missing for pile in self.piles)

    # ------------------------------------------------------------------------------------------- what may be replaced

    def at_epsilon(self, epsilon: float) -> Allowance:
        """Return the allowance at an epsilon besides missing rewards (section 3): a share of the whole log."""
        model, own, shared = self.contamination, np.zeros(len(self.piles)), 0.0
        rule = priced(self.rule, self.problem, model.family, partial(model.price, epsilon=epsilon))
        if model.shared:
            shared = max(self.allowed(epsilon) - self.missing, 0.0)
        elif model.counted:
            own += [max(model.allowed(epsilon, pile.number + pile.aside) - pile.missing, 0) for pile in self.piles]
        return Allowance(rule, own, shared, 0.0 if model.counted else epsilon)

    @property
    def base(self) -> int:
        """The number that a shared epsilon is a share of: the rewards N, those set aside included."""
        return self.total + sum(pile.aside for pile in self.piles)

    def allowed(self, epsilon: float) -> float:
        """Return how many of all rewards may be replaced, including missing ones."""
        return float(self.contamination.allowed(epsilon, self.base))

    def at_count(self, count: int) -> Allowance:
        """Return the allowance for `count` replaced rewards: of all together, or on each arm, as the model says."""
        rule = priced(self.rule, self.problem, self.contamination.family, unpriced)
        if self.contamination.shared:
            return Allowance(rule, np.zeros(len(self.piles)), float(count))
        own = [min(count, pile.number) for pile in self.piles]
        return Allowance(rule, np.array(own, float), 0.0)

    # ---------------------------------------------------------------------------------------------------------- pairs

    def worse(self, allowance: Allowance, hasty: bool = False) -> NDArray[np.bool_]:
        """Return which arms are proved worse than one of a higher location (section 4).

        If `hasty`, it only finds out whether all but the first are: arms after one that is not count as not proved.
        """
        found = np.zeros(len(self.piles), np.int64)
        rows = self._less(self._rows, allowance.own, allowance.rule)
        find_worse(self._sums(rows, allowance), self.order, RIVALS, 0.0, allowance.shared, hasty, found)
        return found > 0

    def is_proved(self, b: int, a: int, allowance: Allowance, lead: float = 0.0, times: float = 1.0) -> bool:
        """Tell whether b is proved to lead a by more than `lead`, with `times` as many rewards of the same kind."""
        rows = _enlarged(self._pair(b, a, allowance), times, self._bounded)
        sums = self._sums(rows, allowance)
        return bool(proves(sums, 0, 1, lead / self.scale, times * allowance.shared, self.enough))

    def judge(self, b: int, a: int, allowance: Allowance) -> tuple[float, float]:
        """Return the log evidence that b is better than a, and a lower bound of its lead (section 9)."""
        sums = self._sums(self._pair(b, a, allowance), allowance)
        found = judge(sums, 0, 1, allowance.shared, widest_lead(self.problem))
        return float(found[0]), float(found[1]) * self.scale

    def log_evidence(self, b: int, a: int, allowance: Allowance) -> float:
        """Return the log evidence that b is better than a."""
        return self.judge(b, a, allowance)[0]

    def lead_over(self, b: int, a: int, allowance: Allowance) -> float:
        """Return a lower bound of the lead of b over a."""
        return self.judge(b, a, allowance)[1]

    def is_hidden(self, b: int, a: int, allowance: Allowance) -> bool:
        """Tell whether contamination could hide which of two arms is better, however many rewards (section 10)."""
        return self._is_beyond(b, a, allowance) and self._is_beyond(a, b, allowance)

    def _is_beyond(self, b: int, a: int, allowance: Allowance) -> bool:
        one, two = self._entries(b, a)
        if min(one.number, two.number) < _SMALLEST_LIMIT:
            return False
        no_own = replace(allowance, own=np.zeros_like(allowance.own))
        pair, own = self._pair(b, a, no_own), allowance.own[[b, a]]
        if self._bounded:
            return bool(is_beyond_bounds(pair, allowance.rule, self._scratch, own, allowance.shared))
        rewards = Values(one.values, one.counts), Values(two.values, two.counts)
        return bool(is_beyond_lattice(pair, allowance.rule, self._scratch, *rewards, own, allowance.shared))

    def smallest_lead(self, b: int, a: int, allowance: Allowance) -> float | None:
        """Return the lead of b over a below which nothing can be proved, however many rewards (section 10).

        b is given the rewards of a with a part of them moved to the upper bound or, without bounds, all of them moved
        up, and as many more of both arms that chance plays no part. Within bounds it is at most their distance; None
        if not even 100 sigma are enough.
        """
        widest = widest_lead(self.problem)
        low, high = 0.0, widest
        if not self._is_found(b, a, allowance, high):
            return self.scale if self._bounded else None
        while high - low > 0.002 * high:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self._is_found(b, a, allowance, middle) else (middle, high)
        return low * self.scale

    def _is_found(self, b: int, a: int, allowance: Allowance, lead: float) -> bool:
        """Tell whether very many rewards prove a lead over the rewards of a, in the units of the bets."""
        one, two = self._entries(b, a)
        if not (two.counts.size and one.number):
            return False
        piles = [_moved(two, lead, one.number, self._bounded), _moved(two, 0.0, two.number, self._bounded)]
        rows = self._less(self._fill(piles), _MANY * allowance.own[[b, a]], allowance.rule)
        return bool(proves(self._sums(rows, allowance), 0, 1, 0.0, _MANY * allowance.shared, self.enough))

    # ----------------------------------------------------------------------------------------------------------- arms

    def ends(self, index: int, allowance: Allowance) -> tuple[float, float, float]:
        """Return an estimate of an arm's mean and the ends of its interval (section 9).

        The estimate is the plain mean where it is certain to be in the interval: within bounds, and where nothing may
        have been replaced unless clipped rewards move it out. Elsewhere it is where evidence for more and for less
        balance, so that rewards which the evidence discounts do not move it.
        """
        lower, upper = self._interval(index, allowance)
        pile = self.piles[index]
        estimate = pile.mean
        if not self._bounded and pile.counts.size and (allowance.is_something or not lower <= estimate <= upper):
            count = self._count_on(index, allowance)
            is_finite = lower <= upper and upper - lower < math.inf
            slot = self._rows, allowance.rule, self._scratch, index, count, lower, upper
            if is_finite:
                estimate = float(find_balance(*slot))
        return tuple(self.origin + self.scale * value for value in (estimate, lower, upper))  # type: ignore[return-value]

    def _interval(self, index: int, allowance: Allowance) -> tuple[float, float]:
        """Return the ends of the interval of an arm, in the units of the bets."""
        if not self.piles[index].counts.size:
            return -math.inf, math.inf
        found = find_ends(self._sums(self._rows, allowance), index, self._count_on(index, allowance))
        return float(found[0]), float(found[1])

    def _count_on(self, index: int, allowance: Allowance) -> float:
        """Return how many rewards of an arm may have been replaced, besides missing ones."""
        return float(allowance.own[index] + allowance.shared)

    def ringing(self, allowance: Allowance) -> list[int]:
        """Return the arms whose rewards fit no mean (section 8); with bounds there are none."""
        if self._bounded:
            return []
        return [
            index
            for index in range(len(self.piles))
            if fits_none(self._rows, allowance.rule, self._scratch, index, self._count_on(index, allowance))
        ]

    def far_rewards(self, allowance: Allowance, epsilon: float) -> dict[int, FarRewards]:
        """Return the rewards that are too far from the rest, by arm (section 8); with bounds there are none."""
        if self._bounded:
            return {}
        if self._tails is None:
            self._tails = [Tails(pile.values, pile.counts, pile.missing) for pile in self._independent_piles()]
        problem, counts = replace(self.problem, epsilon=epsilon), allowance.own + allowance.shared
        found = [
            tails.far(problem, self.contamination, count, self._interval(index, allowance))
            for index, (tails, count) in enumerate(zip(self._tails, counts, strict=True))
        ]
        return {index: far for index, far in enumerate(found) if far is not None}

    def far_together(self, allowance: Allowance, epsilon: float) -> str | None:
        """Return the alarm if too many rewards of all arms are far from the rest, where fakes are counted together."""
        if self._bounded or self._tails is None or not self.contamination.shared:
            return None
        problem = replace(self.problem, epsilon=epsilon)
        ends = [self._interval(index, allowance) for index in range(len(self.piles))]
        return alarm_of_all(problem, self.contamination, self._tails, allowance.shared, ends)

    def _independent_piles(self) -> list[Pile]:
        """Return rewards of each arm that are independent of each other and of the choice of arm."""
        return self.piles

    # ----------------------------------------------------------------------------------------------------------- rows

    def _entries(self, b: int, a: int) -> tuple[Pile, Pile]:
        """Return the rewards that enter the pair."""
        return self.piles[b], self.piles[a]

    def _pair(self, b: int, a: int, allowance: Allowance) -> NDArray[np.void]:
        """Return the sums of the two arms of a pair, minus the price that each pays by itself."""
        return self._less(self._rows[[b, a]], allowance.own[[b, a]], allowance.rule)

    def _less(self, rows: NDArray[np.void], own: Array, rule: Rule) -> NDArray[np.void]:
        if not own.any():
            return rows
        rows = rows.copy()
        if self._bounded:
            rows["logs"] -= own[:, None, None] * rule["odds"][0]
        else:
            rows["sums"] -= own[:, None, None, None] * rule["odds"][0, :LANES]
        return rows

    def _sums(self, rows: NDArray[np.void], allowance: Allowance) -> Sums:
        """Return sums in the form that kernels take."""
        lattice, tallies = (None, rows) if self._bounded else (rows, None)
        return Sums(lattice, tallies, allowance.rule, self._scratch)

    def _fill(self, piles: list[Pile]) -> NDArray[np.void]:
        """Sum the rewards of arms, in threads where there are many."""
        rows = np.zeros(len(piles), tally_dtype if self._bounded else lattice_dtype)
        if not self._bounded:
            rows["location"] = [0.0 if math.isnan(pile.median) else pile.median for pile in piles]
            rows["base"] = np.floor(rows["location"] / SPACING + 0.5)

        def fill(part: list[int]) -> None:
            scratch = np.zeros_like(self._scratch)
            for index in part:
                pile = piles[index]
                slot = rows, self.rule, index, pile.values, pile.counts, float(pile.missing)
                (tally if self._bounded else fill_cells)(*slot, scratch)

        parts = [list(range(first, len(piles), _THREADS)) for first in range(_THREADS)]
        if sum(pile.counts.size for pile in piles) < 1 << 14:
            fill([index for part in parts for index in part])
        else:
            fill(parts[0][:1])  # compiles if necessary
            with ThreadPoolExecutor(_THREADS) as threads:
                list(threads.map(fill, [parts[0][1:], *parts[1:]]))
        return rows


def _moved(pile: Pile, lead: float, number: int, bounded: bool) -> Pile:
    """Return very many rewards with the law of a pile and a mean that is higher by `lead`, in the units of the bets."""
    counts = pile.counts * (_MANY * number / pile.counts.sum())
    if not bounded:
        return Pile(pile.values + lead, counts)
    part = lead / (1.0 - pile.mean) if pile.mean < 1.0 else 1.0
    values = np.append(pile.values, 1.0)
    return Pile(values, np.append(counts * (1.0 - min(part, 1.0)), counts.sum() * min(part, 1.0)))


def _enlarged(rows: NDArray[np.void], times: float, bounded: bool) -> NDArray[np.void]:
    """Return the sums for `times` as many rewards of the same kind."""
    if times == 1.0:
        return rows
    rows = rows.copy()
    for name in ("logs", "total", "through") if bounded else ("sums", "start"):
        rows[name] = np.round(rows[name] * times) if name in ("through", "start") else rows[name] * times
    if not bounded:
        rows["through"] = np.where(rows["through"] >= 0, rows["start"][:, None, None], rows["through"])
    return rows
