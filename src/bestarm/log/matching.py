"""Matches of two arms within blocks, and the evidence of many small bets on them (section 16 of certified.md).

In each block the rewards of each arm are in random order. Those of the arm that has fewer are matched one by one, each
with the mean of a batch of the other's; the batches of a block are as equal in size as can be.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bestarm.log.blocks import BlockTable
from bestarm.log.piles import Array

Counts = NDArray[np.int64]
Price = Callable[[float, float, float], float]  # of a bet: its mean, its most and its least

LARGEST, RATIO = 0.9, 1.6  # bets are 0.9 / 1.6^i
_FEWEST, _MOST = 4, 26  # bets
_SMALLEST, _MIDDLE = 1.5, 12.0  # of the bets, in units of one by the root of the number of matches: see `sizes`
_CELLS = 4096  # of the range of a difference, if there are more different ones
_LEVELS, _STEP, _COARSE = 4096, 1.005, 128  # of the shifts that one fake makes, and of differences beside them
_ORDERS = ((200_000, 8), (500_000, 4), (math.inf, 2))  # by the number of rewards
_CODES = 1 << 16  # different rewards up to which a reward is kept as its number


def orders_of(rewards: int) -> int:
    """Return in how many orders a log with so many rewards is matched; evidence is the mean over them."""
    return next(orders for most, orders in _ORDERS if rewards <= most)


class Shuffled:
    """The rewards of each arm in random order within each block, the same for equal tables, between 0 and 1.

    Another `order` is another random one of the same table.
    """

    def __init__(self, table: BlockTable, labels: tuple[object, ...], low: float, high: float, order: int = 0) -> None:
        self.numbers = table.numbers
        units = np.clip((table.value - low) / (high - low), 0.0, 1.0)
        self._values, codes = np.unique(units, return_inverse=True)
        is_few = self._values.size <= _CODES
        kind = np.uint8 if self._values.size <= 256 else np.uint16
        lines: NDArray[np.generic] = codes.astype(kind) if is_few else units
        self._is_few, seed = is_few, table.seed(labels)
        cuts = np.searchsorted(table.arm, np.arange(table.arms + 1))
        self._rewards = []
        for arm, (first, end) in enumerate(itertools.pairwise(cuts.tolist())):
            rewards = np.repeat(lines[first:end], table.count[first:end])
            random, begin = np.random.default_rng([seed, order, arm]), 0
            for number in self.numbers[arm]:
                if number > 1:
                    random.shuffle(rewards[begin : begin + number])
                begin += int(number)
            self._rewards.append(rewards)

    def shared(self, b: int, a: int) -> NDArray[np.bool_]:
        """Return whether two arms both have rewards in each block."""
        found: NDArray[np.bool_] = np.minimum(self.numbers[b], self.numbers[a]) > 0
        return found

    def of(self, arm: int, blocks: NDArray[np.bool_]) -> Array:
        """Return the rewards of an arm in some blocks."""
        found = self._rewards[arm]
        if not blocks.all():
            found = found[np.repeat(blocks, self.numbers[arm])]
        return self._values[found] if self._is_few else found


@dataclass(frozen=True, eq=False)
class Shifts:
    """By how much one fake may have raised a match, for rows of an arm: sizes, what the match is now, and how many."""

    size: Array
    value: Array
    count: Array
    _known: dict[tuple[float, float], tuple[Array, Array]] = field(default_factory=dict)

    @staticmethod
    def of(size: Array, value: Array, least: float) -> Shifts:
        """Return the shifts of rows; sizes are rounded up, and values down, to few different ones, as costs allow."""
        some = size > 0.0
        size, value = size[some], value[some]
        level = np.clip(np.floor(-np.log(size) / math.log(_STEP) + 1e-9), 0.0, _LEVELS - 1.0)
        cell = np.clip(np.floor((value - least) / (1.0 - least) * _COARSE + 1e-9), 0, _COARSE)
        code = (level * (_COARSE + 1) + cell).astype(np.int64)
        count = np.bincount(code, minlength=1)
        used = np.flatnonzero(count)
        levels, cells = np.divmod(used, _COARSE + 1)
        values = least + cells * (1.0 - least) / _COARSE
        return Shifts(_STEP ** -levels.astype(float), values, count[used].astype(float))

    def cost(self, number: float, size: float, mean: float, least: float) -> float:
        """Return the most that so many fakes can have added to the log of the bets of a size (the chord)."""
        if number <= 0.0 or not self.count.size:
            return 0.0
        return float(np.interp(number, *self._ordered(size, mean, least)))

    def _ordered(self, size: float, mean: float, least: float) -> tuple[Array, Array]:
        """Return numbers of fakes and what these cost together, the most costly first; it is linear between them."""
        if (size, mean) in self._known:
            return self._known[size, mean]
        bottom, reach = 1.0 + size * (least - mean), self.value - least
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.log1p(size * reach / bottom) / reach
        each = self.size * np.where(reach > 1e-12, slope, size / bottom)
        order = np.argsort(-each, kind="stable")
        number, total = np.cumsum(self.count[order]), np.cumsum(each[order] * self.count[order])
        found = np.concatenate([[0.0], number]), np.concatenate([[0.0], total])
        if mean == 0.0:  # it is asked for at many numbers of fakes
            self._known[size, mean] = found
        return found

    def most(self, number: float) -> float:
        """Return by how much so many fakes can have raised the sum of all matches."""
        order = np.argsort(-self.size, kind="stable")
        before = np.cumsum(self.count[order])
        return float(self.size[order] @ np.clip(number - (before - self.count[order]), 0.0, self.count[order]))

    def __add__(self, other: Shifts) -> Shifts:
        """Return the shifts of the rows of both."""
        size, value = np.concatenate([self.size, other.size]), np.concatenate([self.value, other.value])
        return Shifts(size, value, np.concatenate([self.count, other.count]))


@dataclass(frozen=True, eq=False)
class Matches:
    """Numbers between `least` and 1, and the evidence that they are larger on average than some mean.

    Attributes
    ----------
    values, counts : array
        Different numbers, and how often each occurs.
    number : int
        How many there are.
    first, second : Shifts
        What one fake can have added, by the rows of one arm and of the other.
    """

    values: Array
    counts: Array
    number: int
    first: Shifts
    second: Shifts
    least: float
    _together: list[Shifts] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """The mean of the numbers."""
        return float(self.values @ self.counts) / self.number

    def log_evidence(
        self, mean: float, own: tuple[float, float], shared: float, price: Price, times: float = 1.0
    ) -> float:
        """Return the log evidence that the mean is larger, `own` fakes of each arm and `shared` ones paid for."""
        if not self.number:
            return 0.0
        found = []
        widest = max(1.0 - mean, mean - self.least)
        for bet, weight in sizes(self.number * times):
            size = bet / widest
            log = float(self.counts @ np.log1p(size * (self.values - mean)))
            log -= self.number * math.log(price(1.0, 1.0 + size * (1.0 - mean), 1.0 + size * (self.least - mean)))
            if shared > 0.0:
                log -= self.together.cost(shared, size, mean, self.least)
            for shifts, number in zip((self.first, self.second), own, strict=True):
                log -= shifts.cost(number, size, mean, self.least)
            found.append(math.log(weight) + times * log)
        return log_mean(found) + math.log(len(found))

    @property
    def together(self) -> Shifts:
        """The shifts of the rows of both arms."""
        if not self._together:
            self._together.append(self.first + self.second)
        return self._together[0]

    def shift(self, own: tuple[float, float], shared: float) -> float:
        """Return by how much fakes can have raised the mean."""
        each = self.first.most(own[0]) + self.second.most(own[1])
        return min((each + (self.together.most(shared) if shared > 0.0 else 0.0)) / max(self.number, 1), 2.0)


def log_mean(logs: list[float]) -> float:
    """Return the log of the mean of numbers that are given by their logs."""
    top = max(logs)
    return top + math.log(sum(math.exp(each - top) for each in logs) / len(logs))


def sizes(number: float) -> list[tuple[float, float]]:
    """Return the bets for a number of matches, and their weights; they depend on nothing else.

    About 12 by the root of the number is best for a lead that is just found, with rewards that scatter by 0.3: smaller
    bets than an eighth of that are left out, and others count for less the farther they are.
    """
    root = math.sqrt(max(number, 1.0))
    many = math.ceil(math.log(LARGEST * root / _SMALLEST) / math.log(RATIO)) if root > _SMALLEST else 0
    bets = [LARGEST / RATIO**step for step in range(min(max(many, _FEWEST), _MOST))]
    weights = [1.0 / (1.0 + (math.log(bet * root / _MIDDLE) / math.log(4.0)) ** 2) for bet in bets]
    return [(bet, weight / sum(weights)) for bet, weight in zip(bets, weights, strict=True)]


def _batches(rewards: Array, numbers: Counts, matches: Counts) -> tuple[Array, NDArray[np.int64]]:
    """Return the means of the batches of an arm, and their sizes: in each block as many as there are matches."""
    least, rest = np.divmod(numbers, matches)
    place = np.arange(int(matches.sum())) - np.repeat(np.cumsum(matches) - matches, matches)
    size = np.repeat(least, matches) + (place < np.repeat(rest, matches))
    if int(size.max()) == 1:
        return rewards, size
    return np.add.reduceat(rewards, np.cumsum(size) - size) / size, size


def match(shuffled: Shuffled, b: int, a: int) -> Matches:
    """Return the differences of the matches of two arms, b less a."""
    both = shuffled.shared(b, a)
    if not both.any():
        none = Shifts(np.zeros(0), np.zeros(0), np.zeros(0))
        return Matches(np.zeros(0), np.zeros(0), 0, none, none, -1.0)
    number_b, number_a = shuffled.numbers[b, both], shuffled.numbers[a, both]
    matches = np.minimum(number_b, number_a)
    up, down = shuffled.of(b, both), shuffled.of(a, both)
    (mean_b, size_b), (mean_a, size_a) = _batches(up, number_b, matches), _batches(down, number_a, matches)
    difference = mean_b - mean_a
    first, second = _shifts(up, size_b, difference, -1.0), _shifts(1.0 - down, size_a, difference, -1.0)
    return Matches(*_binned(difference, -1.0), difference.size, first, second, -1.0)


def match_alone(shuffled: Shuffled, arm: int, other: int, *, down: bool) -> Matches:
    """Return the means of an arm in its matches with another; or 1 less them, for what the mean is at most."""
    both = shuffled.shared(arm, other)
    if not both.any():
        return match(shuffled, arm, other)
    matches = np.minimum(shuffled.numbers[arm, both], shuffled.numbers[other, both])
    rewards = shuffled.of(arm, both)
    rewards = 1.0 - rewards if down else rewards
    means, size = _batches(rewards, shuffled.numbers[arm, both], matches)
    none = Shifts(np.zeros(0), np.zeros(0), np.zeros(0))
    return Matches(*_binned(means, 0.0), means.size, _shifts(rewards, size, means, 0.0), none, 0.0)


def _shifts(rewards: Array, sizes: NDArray[np.int64], values: Array, least: float) -> Shifts:
    if sizes.size == rewards.size:
        return Shifts.of(rewards, values, least)
    return Shifts.of(rewards / np.repeat(sizes, sizes), np.repeat(values, sizes), least)


def _binned(values: Array, least: float) -> tuple[Array, Array]:
    """Return different numbers and their counts; many are shared out among the two ends of the cells they are in.

    So the mean stays, and the sum of a concave function, such as the log of a bet, becomes no larger.
    """
    if values.size <= _CELLS:
        return values, np.ones(values.size)
    sample = np.unique(values[:_CELLS])
    if sample.size <= _CELLS // 8:
        found, counts = np.unique(values, return_counts=True)
        if found.size <= _CELLS:
            return np.asarray(found, np.float64), np.asarray(counts, np.float64)
    width = (1.0 - least) / _CELLS
    place = (values - least) / width
    cell = np.minimum(np.floor(place), _CELLS - 1.0)
    part, cell = place - cell, cell.astype(np.int64)
    counts = np.bincount(cell, 1.0 - part, _CELLS + 1) + np.bincount(cell + 1, part, _CELLS + 1)
    used = counts > 0.0
    ends = least + width * np.arange(_CELLS + 1)
    return np.asarray(ends[used], np.float64), np.asarray(counts[used], np.float64)
