"""The evidence in a log of 0/1 rewards whose number was fixed: Fisher's exact test of each pair of arms.

Section 14 of docs/explanation/certified.md has the proofs. If at most c rewards are fake, the clean table of two arms
is within c flips of the observed one. So the largest p-value of all tables within c flips is a valid p-value, whoever
made the fakes and whatever they knew. It does not fall as c grows, so one threshold serves every count.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import resolve
from bestarm.log.coins import FOR_COINS, most_fakes
from bestarm.log.evidence import LogEvidence
from bestarm.log.fisher import (
    Tables,
    log_odds_bounds,
    log_p_values,
    mean_ends,
    worst_log_p_values,
    worst_splits,
)
from bestarm.log.piles import Array, Pile
from bestarm.log.pricing import Allowance, make_bets
from bestarm.problem import Problem

FOR_MEANS = 0.2  # of delta, for the intervals of means that turn an odds ratio into a lead
_RIVALS = 4  # arms of the highest ranks that may rule out others
_HALVINGS = 14  # of the steps to a bound of an odds ratio, from two standard errors on
_SMALLEST_LIMIT = 512  # rewards of each of two arms before the test whether fakes hide a lead
_BLOCKS, _PARTS, _ROUNDS, _MOST_BLOCKS = 8, 4, 12, 2048  # of the search for the worst split at other odds
_CLOSE = 0.05  # how closely, relatively, the log odds of the worst split are found


def is_exact(piles: list[Pile]) -> bool:
    """Tell whether every reward is at one of the two bounds."""
    return all(bool(np.isin(pile.values, (0.0, 1.0)).all()) for pile in piles)


class ExactEvidence(LogEvidence):
    """The evidence of Fisher's exact test; "log evidence" is minus the log of a p-value.

    Parameters
    ----------
    problem : Problem
        The question, with bounds. Its epsilon has no influence on the p-values.
    contamination : str
        What epsilon means: fakes are counted, and not by source, or a coin decides (section 18).
    piles : list of Pile
        The rewards of each arm, each at one of the bounds.
    near : bool
        Whether an arm that is good enough may be named. Then a fifth of delta pays for the intervals behind that, and
        p-values are larger by a quarter.
    for_means : float
        Of delta, for the intervals of means that turn an odds ratio into a lead.
    """

    def __init__(
        self,
        problem: Problem,
        contamination: str,
        piles: list[Pile],
        near: bool = False,
        for_means: float = FOR_MEANS,
    ) -> None:
        self.for_means = for_means
        self.problem, self.contamination, self.piles = problem, resolve(contamination), piles
        self.rule = make_bets(problem, self.contamination)  # for the unit of rewards and the threshold
        self._bounded = True
        self._pays = -math.log(1.0 - FOR_MEANS) if near else 0.0
        self._good = np.array([float(pile.counts[pile.values == 1.0].sum()) for pile in piles])
        self._lost = np.array([float(pile.missing) for pile in piles])
        self._number = np.array([float(pile.number) for pile in piles])
        self._known_leads: dict[tuple[int, float, float, bytes], Array] = {}
        self._known_ends: dict[tuple[float, float, float, bytes], tuple[Array, Array]] = {}
        self.locations = np.array([pile.mean for pile in piles])
        self.order = self._ranked()

    def _ranked(self) -> NDArray[np.int64]:
        """Return the arms from the best guess down; an arm that beats all others if nothing is fake is the first."""
        order = super()._ranked()
        known = np.where(np.isnan(self.locations), -np.inf, self.locations)
        top = int(np.argmax(known))  # no other arm can beat all others
        others = order[order != top]
        if (self._log_evidence(top, others, self.at_count(0)) >= self.enough).all():
            return np.concatenate([[top], others])
        return order

    def at_epsilon(self, epsilon: float) -> Allowance:
        """Return the allowance at an epsilon; if a coin decides, as many fakes of each arm as are hardly exceeded."""
        found = super().at_epsilon(epsilon)
        if self.contamination.counted:
            return found
        number = self._number + [pile.aside for pile in self.piles]
        most = most_fakes(number, epsilon, FOR_COINS * self.problem.delta / len(self.piles))
        return replace(found, own=np.maximum(most - self._lost, 0.0))

    def _for_coins(self, allowance: Allowance) -> float:
        """Return the part of delta that is for coins with more fakes than are allowed for: none without a coin."""
        return FOR_COINS if allowance.chance > 0.0 else 0.0

    def _log_level(self, allowance: Allowance) -> float:
        """Return the log of the level at which an odds ratio is bounded."""
        share = math.exp(-self._pays) - self._for_coins(allowance)
        return math.log(share * self.problem.delta / (len(self.piles) - 1))

    # ---------------------------------------------------------------------------------------------------------- pairs

    def worse(self, allowance: Allowance, hasty: bool = False) -> NDArray[np.bool_]:
        """Return which arms are proved worse than an arm of a higher rank that is not ruled out itself.

        So the last arm left has beaten every other arm itself. If `hasty`, only the first arm rules out others.
        """
        found = np.zeros(len(self.piles), bool)
        for rank, b in enumerate(map(int, self.order[: 1 if hasty else _RIVALS])):
            others = np.array([a for a in self.order[rank + 1 :] if not found[a]], np.int64)
            if not found[b] and others.size:
                found[others] = self._log_evidence(b, others, allowance) >= self.enough
        return found

    def is_proved(self, b: int, a: int, allowance: Allowance, lead: float = 0.0, times: float = 1.0) -> bool:
        """Tell whether b is proved to lead a by more than `lead`, with `times` as many rewards of the same kind."""
        if lead == 0.0:
            return bool(self._log_evidence(b, np.array([a]), allowance, times)[0] >= self.enough)
        return self.judge(b, a, allowance)[1] > lead

    def log_evidence(self, b: int, a: int, allowance: Allowance) -> float:
        """Return the log evidence that b is better than a: minus the log of the p-value."""
        return float(self._log_evidence(b, np.array([a]), allowance)[0])

    def judge(self, b: int, a: int, allowance: Allowance) -> tuple[float, float]:
        """Return the log evidence that b is better than a, and a lower bound of its lead.

        The lead is positive if and only if b is proved better. All leads of an arm hold together with probability at
        least 1 - 1.2 delta.
        """
        key = (b, allowance.chance, allowance.shared, allowance.own.tobytes())
        if key not in self._known_leads:
            self._known_leads[key] = self._leads(b, allowance)
        return self.log_evidence(b, a, allowance), float(self._known_leads[key][a]) * self.scale

    def is_hidden(self, b: int, a: int, allowance: Allowance) -> bool:
        """Tell whether so many fakes could hide which of two arms is better, however many rewards (section 14)."""
        return self._is_beyond(b, a, allowance) and self._is_beyond(a, b, allowance)

    def _is_beyond(self, b: int, a: int, allowance: Allowance) -> bool:
        n_b, n_a = self._number[b], self._number[a]
        fewest = min(n_b, n_a)
        if fewest < _SMALLEST_LIMIT:
            return False
        mean_b, mean_a = self._good[b] / n_b, (self._good[a] + self._lost[a]) / n_a
        error = math.sqrt(mean_b * (1.0 - mean_b) / n_b + mean_a * (1.0 - mean_a) / n_a)
        z = math.sqrt(2.0 * math.log(40.0 * (1.0 + math.log2(fewest)) ** 2))
        return bool(mean_b - mean_a + z * error <= self._shift(b, a, allowance))

    def smallest_lead(self, b: int, a: int, allowance: Allowance) -> float | None:
        """Return the lead of b over a below which nothing can be proved, however many rewards of this kind.

        It is how far the fakes can move the two means together, as the log grows and their number with it.
        """
        return min(self._shift(b, a, allowance), 1.0) * self.scale

    def _shift(self, b: int, a: int, allowance: Allowance) -> float:
        if not self.contamination.counted:
            return 2.0 * allowance.chance
        n_b, n_a = self._number[b], self._number[a]
        own = allowance.own[b] / n_b + allowance.own[a] / n_a
        return float(own + allowance.shared / min(n_b, n_a))

    def _tables(self, b: int, others: NDArray[np.int64], allowance: Allowance, times: float = 1.0) -> Tables:
        """Return the tables of b with other arms; missing rewards, and the fakes of each arm alone, are the worst."""
        ones = np.ones(others.size)
        own_b, own_a = allowance.own[b] * ones, allowance.own[others]
        good_a = self._good[others] + self._lost[others]
        of_b, of_a = np.floor(times * self._good[b]) * ones, np.ceil(times * good_a)  # in doubt against b
        n_b, n_a = np.round(times * self._number[b]), np.round(times * self._number[others])
        grown = Tables(of_b, n_b - of_b, np.minimum(of_a, n_a), n_a - np.minimum(of_a, n_a))
        flips_b, flips_a = np.ceil(times * own_b), np.ceil(times * own_a)
        return grown.flipped(np.minimum(flips_b, grown.good_b), np.minimum(flips_a, grown.bad_a))

    def _log_evidence(
        self, b: int, others: NDArray[np.int64], allowance: Allowance, times: float = 1.0
    ) -> NDArray[np.float64]:
        tables = self._tables(b, others, allowance, times)
        if allowance.shared == 0.0:
            found = log_p_values(tables)
        else:
            found = worst_log_p_values(tables, np.full(others.size, np.ceil(times * allowance.shared)))
        if allowance.chance > 0.0:  # the p-value of the answer, K - 1 times this, has all that coins cost in it
            found = np.logaddexp(
                found, math.log(self._for_coins(allowance) * self.problem.delta / (len(self.piles) - 1))
            )
        return np.maximum(-found - self._pays, 0.0)

    # ---------------------------------------------------------------------------------------------------------- leads

    def _leads(self, b: int, allowance: Allowance) -> Array:
        """Return lower bounds of the leads of b over all arms, in units of the range.

        An odds ratio of at least the bound, and means within their intervals: the least difference in that region.
        """
        others = np.array([a for a in range(len(self.piles)) if a != b], np.int64)
        found = np.full(len(self.piles), np.nan)
        found[others] = self._leads_over(b, others, allowance)
        return found

    def lead_over(self, b: int, a: int, allowance: Allowance) -> float:
        """Return a lower bound of the lead of b over one arm, as `judge` does."""
        return float(self._leads_over(b, np.array([a]), allowance)[0]) * self.scale

    def _leads_over(self, b: int, others: NDArray[np.int64], allowance: Allowance) -> list[float]:
        lower, upper = self.ends_at(self.for_means, allowance)
        return [
            _least_difference(float(t), (lower[b], upper[b]), (lower[a], upper[a]))
            for t, a in zip(self.log_odds(b, others, allowance), others, strict=True)
        ]

    def log_odds(self, b: int, others: NDArray[np.int64], allowance: Allowance) -> Array:
        """Return lower bounds of the log odds ratios of b to other arms: above 0 if and only if b is proved better."""
        found = _least_log_odds(self._tables(b, others, allowance), allowance.shared, self._log_level(allowance))
        proved = self._log_evidence(b, others, allowance) >= self.enough
        return np.where(proved, np.maximum(found, 0.0), np.minimum(found, 0.0))

    # ----------------------------------------------------------------------------------------------------------- arms

    def ends(self, index: int, allowance: Allowance) -> tuple[float, float, float]:
        """Return the mean of an arm and the ends of its interval; all hold together with probability 1 - delta."""
        lower, upper = self._interval(index, allowance)
        values = self.piles[index].mean, lower, upper
        return tuple(self.origin + self.scale * value for value in values)  # type: ignore[return-value]

    def _interval(self, index: int, allowance: Allowance) -> tuple[float, float]:
        """Return the ends of the interval of an arm, in units of the range."""
        if not self.piles[index].counts.size:
            return -math.inf, math.inf
        lower, upper = self.ends_at(1.0 - self._for_coins(allowance), allowance)
        return float(lower[index]), float(upper[index])

    def ends_at(self, share: float, allowance: Allowance) -> tuple[Array, Array]:
        """Return the ends of the intervals of all means, which hold together except with a share of delta.

        If a coin decides, and it has more fakes than are allowed for, they need not hold.
        """
        key = (share, allowance.chance, allowance.shared, allowance.own.tobytes())
        if key not in self._known_ends:
            self._known_ends[key] = self._find_ends(share, allowance)
        return self._known_ends[key]

    def _find_ends(self, share: float, allowance: Allowance) -> tuple[Array, Array]:
        level = share * self.problem.delta / (2.0 * len(self.piles))
        fakes = allowance.own + allowance.shared
        fewest = np.maximum(self._good - fakes, 0.0)
        most = np.minimum(self._good + self._lost + fakes, self._number)
        return mean_ends(fewest, self._number - fewest, level)[0], mean_ends(most, self._number - most, level)[1]


def _least_difference(log_odds: float, ends_b: tuple[float, float], ends_a: tuple[float, float]) -> float:
    """Return the least mean of b less that of a, where both are in their intervals and the odds ratio is large enough.

    At a mean m of a, that of b is at least its lower end and g(m), the mean with the odds of m times the ratio. The
    difference is least at an end of the interval of a, where g reaches an end of that of b, or where g' is 1.
    """
    if log_odds == -math.inf:
        return float(ends_b[0] - ends_a[1])
    ratio = math.exp(min(log_odds, 700.0))

    def g(mean: float, odds: float) -> float:
        return odds * mean / (1.0 - mean + odds * mean) if mean < 1.0 else 1.0

    back = math.exp(min(-log_odds, 700.0))
    turn = 1.0 / (1.0 + math.exp(min(0.5 * log_odds, 350.0)))
    tried = [*ends_a, g(ends_b[0], back), g(ends_b[1], back), turn]
    inside = [mean for mean in tried if ends_a[0] <= mean <= ends_a[1] and g(mean, ratio) <= ends_b[1] + 1e-12]
    return min((max(g(mean, ratio), ends_b[0]) - mean for mean in inside), default=float(ends_b[0] - ends_a[1]))


def _least_log_odds(tables: Tables, shared: float, log_level: float) -> Array:
    """Return lower bounds of log odds ratios that hold however `shared` flips are split between the two arms.

    Flips only lower the bound of a table. So on a block of splits i to j the bound is at least that of j flips on b
    and all but i on a. Blocks that may contain the least one are split until it is known closely.
    """
    if shared == 0.0:
        return log_odds_bounds(tables, log_level)
    count = np.full(tables.good_b.size, float(shared))
    split, _, possible = worst_splits(tables, count)
    worst = tables.flipped(split, count - split)
    best = np.full(count.size, -np.inf)
    some = np.flatnonzero(possible & (count < tables.good_b) & (count < tables.bad_a))  # else the p-value is 1
    if not some.size:
        return best
    best[some] = log_odds_bounds(worst.at(some), log_level, _HALVINGS)  # of one split: the least is not above it
    which = np.repeat(some, _BLOCKS)
    least, most = np.maximum(count - tables.bad_a, 0.0), np.minimum(count, tables.good_b)
    cuts = np.floor(least[some, None] + (most - least)[some, None] * np.linspace(0.0, 1.0, _BLOCKS + 1))
    begin, end = cuts[:, :-1].ravel(), cuts[:, 1:].ravel()
    found = best.copy()
    settled = best.copy()  # the least bound of blocks that are not split any more
    for turn in range(_ROUNDS + 1):
        bounds = log_odds_bounds(tables.at(which).flipped(end, count[which] - begin), log_level, _HALVINGS)
        wide = end > begin
        np.minimum.at(best, which[~wide], bounds[~wide])
        target = best - _CLOSE * np.abs(best)
        is_open = wide & (bounds < target[which])
        if turn == _ROUNDS or is_open.sum() * _PARTS > _MOST_BLOCKS:
            is_open[:] = False
        np.minimum.at(settled, which[~is_open], bounds[~is_open])
        if not is_open.any():
            break
        which, begin, end = _split(which[is_open], begin[is_open], end[is_open])
    found[some] = settled[some]
    return found


def _split(which: NDArray[np.int64], begin: Array, end: Array) -> tuple[NDArray[np.int64], Array, Array]:
    """Return blocks of splits in parts that do not overlap."""
    cuts = np.floor(begin[:, None] + (end + 1.0 - begin)[:, None] * np.linspace(0.0, 1.0, _PARTS + 1))
    first, last = cuts[:, :-1].ravel(), cuts[:, 1:].ravel() - 1.0
    kept = first <= last
    return np.repeat(which, _PARTS)[kept], first[kept], last[kept]
