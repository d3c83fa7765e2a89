"""Blocks in plain Python: matches, bets and the price of fakes, by the formulas of section 16 and nothing else.

Imports nothing of the package. Rewards are in [0, 1], and come in the order in which they are matched.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

Block = tuple[list[float], list[float]]  # the rewards of b and of a in a block


def batches(rewards: list[float], number: int) -> list[list[float]]:
    """Cut rewards into batches, the first ones larger by one where they cannot be equal."""
    least, rest = divmod(len(rewards), number)
    found, begin = [], 0
    for place in range(number):
        end = begin + least + (place < rest)
        found.append(rewards[begin:end])
        begin = end
    return found


def matches(blocks: Sequence[Block]) -> Iterator[tuple[list[float], list[float]]]:
    """Give the two batches of each match; the smaller arm's have one reward each."""
    for up, down in blocks:
        if up and down:
            number = min(len(up), len(down))
            yield from zip(batches(up, number), batches(down, number), strict=True)


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def difference(pair: tuple[list[float], list[float]]) -> float:
    return mean(pair[0]) - mean(pair[1])


def bets(number: float) -> list[tuple[float, float]]:
    """Sizes 0.9 / 1.6^i down to 1.5 / sqrt(n), at least 4 of them, and their weights."""
    root = math.sqrt(max(number, 1.0))
    found = [0.9 / 1.6**step for step in range(26)]
    found = [size for step, size in enumerate(found) if step < 4 or size > 1.5 / root]
    weights = [1.0 / (1.0 + (math.log(size * root / 12.0) / math.log(4.0)) ** 2) for size in found]
    return [(size, weight / math.fsum(weights)) for size, weight in zip(found, weights, strict=True)]


def cost_of_rows(pairs: Sequence[tuple[list[float], list[float]]], size: float, lead: float) -> list[float]:
    """The cost of each row of each match, the chord from the lowest difference to the one that is there."""
    found = []
    for up, down in pairs:
        now = difference((up, down))
        top, bottom = 1.0 + size * (now - lead), 1.0 + size * (-1.0 - lead)
        slope = size / bottom if now <= -1.0 else math.log(top / bottom) / (now + 1.0)
        found += [value / len(up) * slope for value in up] + [(1.0 - value) / len(down) * slope for value in down]
    return found


def log_evidence(blocks: Sequence[Block], count: int = 0, lead: float = 0.0, chance: float = 0.0) -> float:
    """The log evidence for a lead of more than `lead`, with so many fakes, or a coin's price 1 + chance size."""
    pairs = list(matches(blocks))
    found = []
    for bet, weight in bets(len(pairs)):
        size = bet / (1.0 + abs(lead))
        log = math.fsum(math.log1p(size * (difference(pair) - lead)) for pair in pairs)
        log -= math.fsum(sorted(cost_of_rows(pairs, size, lead))[::-1][:count])
        found.append(math.log(weight) + log - len(pairs) * math.log1p(chance * size))
    top = max(found)
    return top + math.log(math.fsum(math.exp(each - top) for each in found))


def mean_over(orders: Sequence[Sequence[Block]], count: int = 0, lead: float = 0.0, chance: float = 0.0) -> float:
    """The log of the mean of the evidence over several orders of the same rewards."""
    found = [log_evidence(blocks, count, lead, chance) for blocks in orders]
    top = max(found)
    return top + math.log(math.fsum(math.exp(each - top) for each in found) / len(found))


def least_clean_log(pairs: Sequence[tuple[list[float], list[float]]], count: int, size: float) -> float:
    """The least sum of logs when any `count` rows are set to their worst: all choices, for small logs."""
    rows = [
        (index, side, place) for index, pair in enumerate(pairs) for side in (0, 1) for place in range(len(pair[side]))
    ]
    least = math.inf
    for chosen in itertools.combinations(rows, min(count, len(rows))):
        clean = [(list(up), list(down)) for up, down in pairs]
        for index, side, place in chosen:
            clean[index][side][place] = float(side)
        least = min(least, math.fsum(math.log1p(size * difference(pair)) for pair in clean))
    return least
