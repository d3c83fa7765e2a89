"""The evidence about ratios of sums, such as clicks per impression, where sources are the units (section 17).

Source i has a part C of a whole I on an arm, 0 <= C <= I <= M; theta = E[C] / E[I]. With x = C / M and w = I / M,

    up, for theta > r:      1 + lambda (x - r w) / r          at least 1 - lambda, falls with r
    down, for theta < r:    1 - lambda (x - r w) / (1 - r)    at least 1 - lambda, rises with r

have means of at most 1 if theta <= r, and theta >= r. If theta of b is not above that of a, some r lies between, so
the infimum over r of the mixture of up of b times down of a is evidence. On a cell of r it is at least what up gives at
the right end times what down gives at the left one. The cells are for the bound alone: they may go by the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import Contamination
from bestarm.log.by_source import SourceEvidence
from bestarm.log.piles import Array, Pile
from bestarm.log.pricing import Allowance, make_bets
from bestarm.log.rewards import SourceTable
from bestarm.problem import Problem

BETS = 0.95 / 1.6 ** np.arange(14)  # lambda, of up and of down, each with all of the other
_LOST = -np.log1p(-np.maximum(BETS[:, None], BETS))  # minus the log of the least factor of either of two bets
_PRICES = np.append(0.0, 0.01 * 1.2 ** np.arange(38))  # at which the largest factors are bounded; see `_mixtures`
_CELLS, _PARTS = 24, 12  # of r between the two arms, and into how many the one is cut that has the infimum
_STEPS = 40  # of the search for the end of an interval
_LEAD_STEPS = 24  # of the search for a lead


@dataclass(frozen=True, eq=False)
class RatioPile(Pile):
    """The sources of an arm: how much of M each has as its part and as its whole, and how many are alike."""

    part: Array = None  # type: ignore[assignment]
    whole: Array = None  # type: ignore[assignment]

    @property
    def mean(self) -> float:
        """The ratio of the sums."""
        whole = float(self.whole @ self.counts)
        return float(self.part @ self.counts) / whole if whole > 0.0 else math.nan

    @property
    def error(self) -> float:
        """Its standard error, by the delta method: it only decides where cells are small."""
        rest = self.part - self.mean * self.whole
        whole = max(float(self.whole @ self.counts), 1e-300)
        return math.sqrt(float(self.counts @ rest**2)) / whole if self.counts.size else 1.0


@dataclass(frozen=True, eq=False)
class _Sums:
    """By ratio r and bet: the log of the product over the sources; and, by price, the sum of what logs exceed it by."""

    logs: Array
    excess: Array


class RatioEvidence(SourceEvidence):
    """The evidence about ratios of sums; each source enters a pair once, by the arm that it rewarded first.

    Parameters
    ----------
    problem : Problem
        The question, with bounds (0, 1).
    table : SourceTable
        The part and the whole of each source on each arm, as shares of M, the most that a source counts.
    contamination : Contamination
        Sources.
    """

    def __init__(self, problem: Problem, table: SourceTable, contamination: Contamination) -> None:
        assert table.of is not None
        self.problem, self.contamination, self._table = problem, contamination, table
        self.rule = make_bets(problem, contamination)  # for the thresholds
        self._bounded = True
        self._lost = np.zeros(problem.size)
        self._part, self._whole = table.value, table.of
        order = np.argsort(table.arm, kind="stable")
        self._whens = np.split(order, np.cumsum(np.bincount(table.arm, minlength=problem.size))[:-1])
        self._seen = np.full(table.number, -1, np.int64)
        self._entered: dict[tuple[int, int], tuple[RatioPile, RatioPile]] = {}
        self._known: dict[tuple[int, int, float, float, bool], tuple[_Sums, _Sums]] = {}
        self.piles: list[Pile] = [self._count(when) for when in self._whens]
        self.locations = np.array([pile.mean for pile in self.piles])
        self.order = self._ranked()

    def _count(self, when: NDArray[np.integer]) -> RatioPile:
        both = np.stack([self._part[when], self._whole[when]], axis=1)
        alike, counts = np.unique(both, axis=0, return_counts=True)
        part, whole = np.ascontiguousarray(alike[:, 0]), np.ascontiguousarray(alike[:, 1])
        rates = part / np.where(whole > 0.0, whole, 1.0)
        return RatioPile(rates, counts.astype(float), part=part, whole=whole)

    def _entries(self, b: int, a: int) -> tuple[RatioPile, RatioPile]:
        """Return the sources that enter a pair."""
        if (b, a) not in self._entered:
            ups, downs = self._firsts(b, a)
            self._entered[b, a] = self._count(ups), self._count(downs)
        return self._entered[b, a]

    # ---------------------------------------------------------------------------------------------------------- pairs

    def is_proved(self, b: int, a: int, allowance: Allowance, lead: float = 0.0, times: float = 1.0) -> bool:
        """Tell whether b is proved to lead a by more than `lead`, with `times` as many sources of the same kind."""
        return self._least(b, a, allowance.shared, lead, times) >= self.enough

    def judge(self, b: int, a: int, allowance: Allowance) -> tuple[float, float]:
        """Return the log evidence that b is better than a, and a lower bound of its lead."""
        evidence = self.log_evidence(b, a, allowance)
        lead, beyond = 0.0 if evidence >= self.enough else -1.0, 1.0  # no ratio is below 0, or above 1
        about = max(self.locations[b] - self.locations[a], lead)
        for step in range(_LEAD_STEPS):
            middle = 0.5 * (lead + (about if step == 0 else beyond))
            lead, beyond = (middle, beyond) if self.is_proved(b, a, allowance, middle) else (lead, middle)
            if beyond - lead < 0.02 * abs(lead):
                break
        return evidence, lead

    def log_evidence(self, b: int, a: int, allowance: Allowance) -> float:
        """Return the log evidence that b is better than a."""
        return max(self._least(b, a, allowance.shared), 0.0)

    def is_hidden(self, b: int, a: int, allowance: Allowance) -> bool:
        """Return False: no limit is looked for."""
        return False

    def smallest_lead(self, b: int, a: int, allowance: Allowance) -> float | None:
        """Return None: no limit is looked for."""
        return None

    def _least(self, b: int, a: int, count: float, lead: float = 0.0, times: float = 1.0) -> float:
        """Return what the evidence is at least, over r, that theta of b is above r + lead and that of a below r.

        Cells of r between the two ratios are small, and those that may have the infimum are cut again.
        """
        ups, downs = self._entries(b, a)
        if not (ups.counts.size and downs.counts.size):
            return -math.inf
        low, high = max(0.0, -lead), 1.0
        first, last = sorted([ups.mean - lead, downs.mean])
        reach = 4.0 * max(ups.error, downs.error)
        inner = np.concatenate([[first - reach], np.linspace(first, last, _CELLS + 1), [last + reach]])
        cuts = np.unique(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))
        logs = self._of_cells(b, a, cuts, lead, count, times)
        is_cut = np.zeros(logs.size, bool)
        while not is_cut[cell := int(np.argmin(logs))]:
            parts = np.linspace(cuts[cell], cuts[cell + 1], _PARTS + 1)
            logs[cell] = self._of_cells(b, a, parts, lead, count, times).min()
            is_cut[cell] = True
        return float(logs.min())

    def _of_cells(self, b: int, a: int, cuts: Array, lead: float, count: float, times: float) -> Array:
        """Return what the evidence is at least in each cell between two cuts."""
        key = (b, a, float(cuts[0]), float(cuts[-1]), count > 0.0)
        tables = self._known.get(key) if lead == 0.0 else None
        if tables is None:
            tables = self._tables(b, a, cuts, lead, count)
        if lead == 0.0:
            self._known[key] = tables
        return _mixtures(*tables, count, times)

    def _tables(self, b: int, a: int, cuts: Array, lead: float, count: float) -> tuple[_Sums, _Sums]:
        """Return the bets on b at the right ends of cells, plus the lead, and those on a at the left ends."""
        ups, downs = self._entries(b, a)
        up = _bets(ups, 0, np.minimum(cuts[1:] + lead, 1.0), is_charged=count > 0.0)
        return up, _bets(downs, 1, cuts[:-1], is_charged=count > 0.0)

    # ----------------------------------------------------------------------------------------------------------- arms

    def _interval(self, index: int, allowance: Allowance) -> tuple[float, float]:
        """Return the ends of the interval of an arm."""
        return self._between(index, allowance, float(self.rule["log_shown"][0]))

    def ends_at(self, index: int, allowance: Allowance, delta: float) -> tuple[float, float]:
        """Return the ends of an interval of the ratio of an arm."""
        return self._between(index, allowance, math.log(2.0 / delta))

    def _between(self, index: int, allowance: Allowance, enough: float) -> tuple[float, float]:
        """Return the ends of an interval, each with so much log evidence."""
        pile = self.piles[index]
        assert isinstance(pile, RatioPile)
        return self._end(pile, 0, allowance.shared, enough), self._end(pile, 1, allowance.shared, enough)

    def _end(self, pile: RatioPile, side: int, count: float, enough: float) -> float:
        """Return the lower end (0) or the upper one (1): the last ratio that the evidence rules out."""
        lost = np.diag(_LOST)
        out, inside = float(side), pile.mean
        if math.isnan(inside):
            return out
        for _ in range(_STEPS):
            middle = 0.5 * (out + inside)
            sums = _bets(pile, side, np.array([middle]), is_charged=count > 0.0)
            logs = sums.logs[0] - math.log(BETS.size)
            if count > 0.0:
                logs = logs - count * lost - (count * _PRICES + sums.excess[0]).min(axis=-1)
            if _log_sums(logs) >= enough:
                out = middle
            else:
                inside = middle
        return out


def _bets(pile: RatioPile, side: int, ratios: Array, *, is_charged: bool) -> _Sums:
    """Return the logs of the products of all bets at each ratio and, if fakes are charged, what large logs exceed."""
    logs = np.empty((ratios.size, BETS.size))
    excess = np.zeros((ratios.size, BETS.size, _PRICES.size if is_charged else 0))
    for row, ratio in enumerate(ratios):
        rest = pile.part - ratio * pile.whole
        gain = np.maximum(rest / ratio if side == 0 else -rest / (1.0 - ratio), -1.0)  # rounding errors only
        order = np.argsort(gain) if is_charged else slice(None)
        gain, counts = gain[order], pile.counts[order]
        each = np.log1p(BETS[:, None] * gain)
        logs[row] = each @ counts
        if is_charged:
            number = np.append(np.cumsum(counts[::-1])[::-1], 0.0)
            total = np.zeros((BETS.size, gain.size + 1))
            total[:, :-1] = np.cumsum((each * counts)[:, ::-1], axis=1)[:, ::-1]
            above = np.searchsorted(gain, np.expm1(_PRICES) / BETS[:, None], side="right")
            excess[row] = np.take_along_axis(total, above, axis=1) - _PRICES * number[above]
    return _Sums(logs, np.maximum(excess, 0.0))


def _mixtures(up: _Sums, down: _Sums, count: float, times: float) -> Array:
    """Return the log of the mixture of all pairs of bets in each cell, less what so many fakes cost at most.

    The clean source that a fake stands for may have had the least factor of either bet; what is seen of the fakes is
    among the `count` largest logs of both arms. Their sum is at most q count + the sum of (log - q)+ at every price q.
    """
    logs = up.logs[:, :, None] + down.logs[:, None, :]
    if count > 0.0:
        excess = up.excess[:, :, None, :] + down.excess[:, None, :, :]
        logs = logs - count * _LOST - (count * _PRICES + excess).min(axis=-1)
    return _log_sums(times * logs.reshape(len(logs), -1) - 2.0 * math.log(BETS.size))


def _log_sums(logs: Array) -> Array:
    top = logs.max(axis=-1)
    return np.asarray(top + np.log(np.exp(logs - top[..., None]).sum(axis=-1)))
