"""Blocks of a log, such as days: the rewards of each arm in each block, counted, and whether the shares of arms change.

Whether the shares change is told by the numbers of rewards alone, never by their values: rewards are compared within
blocks because of it, and section 16 of docs/explanation/certified.md needs numbers that do not depend on rewards.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bestarm.errors import InputError
from bestarm.log.units import count_as_units
from bestarm.phrases import Phrase, Setting

if TYPE_CHECKING:
    from bestarm.log.question import LogQuestion
    from bestarm.log.rewards import Rewards, SourceTable
    from bestarm.log.spec import LogSpec

DAY, HOUR, NONE = "day", "hour", "none"
WIDTHS = {DAY: 86400.0, HOUR: 3600.0}  # seconds
_LEAST_DAYS, _LEAST_HOURS = 4.0, 3.0  # that a log must last for blocks of days, or of hours, that nobody asked for
_TOGETHER = 5.0  # rewards that may come with the same arm, such as those of a session
_RATE = 0.001  # of logs with constant shares that are taken for others
_MATTERS = 0.02  # how much the shares vary: a point up and down where two arms have half each
_MOST_ARMS = 50  # that are compared by batches: each pair of arms is matched
_UNEQUAL = 2.0  # times as many rewards as another arm, from which on one block with batches is better than two products


@dataclass(frozen=True, eq=False)
class BlockTable:
    """How often each reward of each arm occurs in each block, sorted by arm, block and reward.

    Attributes
    ----------
    by : str
        "day", "hour", or the name of the column; empty if all rewards are one block.
    column : str
        The column that says in which block a reward is.
    names : tuple of str
        The blocks.
    arm, block : array of int
        Of each line: the arm and the block, by index.
    value, count : array
        Of each line: a reward, and how often it occurs.
    without : int
        Rewards that have no block, and are not used.
    arms : int
        How many arms there are.
    """

    by: str
    column: str
    names: tuple[str, ...]
    arm: NDArray[np.int64]
    block: NDArray[np.int64]
    value: NDArray[np.float64]
    count: NDArray[np.int64]
    without: int = 0
    arms: int = 0

    @property
    def numbers(self) -> NDArray[np.int64]:
        """How many rewards each arm (rows) has in each block (columns)."""
        found = np.zeros((self.arms, len(self.names)), np.int64)
        np.add.at(found, (self.arm, self.block), self.count)
        return found

    @property
    def shares_change(self) -> bool:
        """Whether the shares of the arms differ between the blocks."""
        return shares_change(self.numbers)

    @property
    def asked(self) -> dict[str, str]:
        """The blocks as parameters of `identify_log`, guessed or not."""
        return {"block": self.by, "time": self.column} if self.by in (DAY, HOUR) else {"block": self.by}

    def mirrored(self, about: float) -> BlockTable:
        """Return the table with each reward x as about - x."""
        value = about - self.value
        order = np.lexsort((value, self.block, self.arm))
        arm, block, count = self.arm[order], self.block[order], self.count[order]
        return replace(self, arm=arm, block=block, value=value[order], count=count)

    def below(self, cap: float) -> BlockTable:
        """Return the table with each reward above a cap as the cap."""
        lines = np.stack([self.arm, self.block, np.minimum(self.value, cap)], axis=1)
        each, which = np.unique(lines, axis=0, return_inverse=True)
        count = np.bincount(which.ravel(), weights=self.count, minlength=len(each)).astype(np.int64)
        return replace(
            self, arm=each[:, 0].astype(np.int64), block=each[:, 1].astype(np.int64), value=each[:, 2], count=count
        )

    def seed(self, labels: tuple[object, ...]) -> int:
        """Return a seed below 2^128: the SHA-256 of the whole table, whatever the order of the rows was."""
        digest = hashlib.sha256(json.dumps([[str(each) for each in labels], list(self.names)]).encode())
        digest.update(self.arm.astype("<i8").tobytes())
        digest.update(self.block.astype("<i8").tobytes())
        digest.update((self.value + 0.0).astype("<f8").tobytes())  # -0.0 is 0.0
        digest.update(self.count.astype("<i8").tobytes())
        return int.from_bytes(digest.digest()[:16], "big")


def shares_change(numbers: NDArray[np.int64]) -> bool:
    """Tell whether the shares of the arms (rows) differ between blocks (columns), by more than chance and to an extent.

    Two tests share the rate: of all blocks, and of the blocks before and after each one, which sees a slow change in a
    small log. Rewards may come in fives. The extent is the root of (chi-squared less its mean) / N: with two arms of
    equal shares, twice the root of the mean square of what a share varies.

    >>> shares_change(np.array([[500, 510, 490], [500, 495, 505]])), shares_change(np.array([[500, 500], [0, 500]]))
    (False, True)
    """
    table = numbers[numbers.sum(axis=1) > 0][:, numbers.sum(axis=0) > 0].astype(np.float64)
    if min(table.shape) < 2:
        return False
    total, size, share = table.sum(), table.sum(axis=0), table.sum(axis=1, keepdims=True) / table.sum()
    every = float(((table - share * size) ** 2 / (share * size)).sum())
    before, up_to = np.cumsum(table, axis=1)[:, :-1], np.cumsum(size)[:-1]
    halves = (((before - share * up_to) ** 2 / share).sum(axis=0) / (up_to * (1.0 - up_to / total))).max()
    arms, cuts = table.shape[0] - 1, table.shape[1] - 1
    return _differs(every, arms * cuts, total, 1) or _differs(float(halves), arms, total, cuts)


def _differs(chi_squared: float, freedom: int, total: float, tests: int) -> bool:
    """Tell whether chi-squared, the largest of several, is beyond chance and to an extent."""
    extent = np.sqrt(max(chi_squared - _TOGETHER * freedom, 0.0) / total)
    return bool(extent >= _MATTERS and stats.chi2.sf(chi_squared / _TOGETHER, freedom) <= 0.5 * _RATE / tests)


def block_of_span(seconds: float) -> str | None:
    """Return whether a log that lasts so long has blocks of days, of hours, or none if nobody asked for any.

    >>> block_of_span(30 * 86400.0), block_of_span(86400.0), block_of_span(60.0)
    ('day', 'hour', None)
    """
    if seconds >= _LEAST_DAYS * WIDTHS[DAY]:
        return DAY
    return HOUR if seconds >= _LEAST_HOURS * WIDTHS[HOUR] else None


def as_one_block(rewards: Rewards) -> BlockTable:
    """Return all rewards as one block."""
    arm, value, count = [], [], []
    for index, values in enumerate(rewards.values):
        each, times = values, None if rewards.counts is None else rewards.counts[index]
        if times is None:
            each, times = np.unique(values, return_counts=True)
        used = times > 0
        arm.append(np.full(int(used.sum()), index, np.int64))
        value.append(each[used])
        count.append(times[used].astype(np.int64))
    arms = np.concatenate(arm)
    block = np.zeros_like(arms)
    return BlockTable(
        "", "", ("all",), arms, block, np.concatenate(value), np.concatenate(count), 0, len(rewards.labels)
    )


def takes_batches(rewards: Rewards, question: LogQuestion) -> bool:
    """Tell whether all rewards are one block: by counts alone, some arm has far more than another."""
    if question.stopping != "fixed" or question.bounds is None or rewards.missing.any():
        return False
    numbers = rewards.numbers
    return len(numbers) <= _MOST_ARMS and bool(numbers.max() >= _UNEQUAL * max(int(numbers.min()), 1))


def check_block(spec: LogSpec, question: LogQuestion, sequential: bool) -> None:
    """Reject blocks that were asked for where there can be none, before the log is read."""
    if spec.block in (None, NONE):
        return
    if sequential:
        rule = Phrase("not come with {}", Setting("sequential", True))
        raise InputError(
            "block", rule, spec.block, "a replay takes the rows one after the other; leave one of them out"
        )
    if question.stopping == "any":
        rule = Phrase("not come with {}", Setting("stopping", "any"))
        fix = (
            "the numbers of rewards in each block must not depend on the rewards: whoever stops an arm when it looks "
            "good decides them; leave one of the two out"
        )
        raise InputError("block", rule, spec.block, fix)
    if question.sigma is not None:
        fix = "a match of two rewards needs a lowest and a highest one: give bounds in place of sigma"
        raise InputError("block", Phrase("come with {}", Setting("bounds")), spec.block, fix)
    if question.paired:
        fix = "what a source says of two arms is compared, whenever it said it"
        raise InputError("block", Phrase("not come with {}", Setting("paired", True)), spec.block, fix)
    if spec.per is not None:
        fix = "ratios are compared as a whole; leave one of them out"
        raise InputError("block", Phrase("not come with {}", Setting("per", spec.per)), spec.block, fix)


def may_block(rewards: Rewards, spec: LogSpec, question: LogQuestion) -> bool:
    """Tell whether rewards may be compared within blocks; reject blocks that were asked for where they may not."""
    if spec.block == NONE:
        return False
    are_units = rewards.sources is None or count_as_units(rewards, question)
    if spec.block is None:
        is_fixed = question.stopping == "fixed" and question.sigma is None
        return is_fixed and are_units and not rewards.missing.any()
    if rewards.missing.any():
        fix = Phrase("{} if being missing has nothing to do with what they would have been", Setting("missing", "drop"))
        rule = "come with rewards none of which is missing or out of bounds"
        raise InputError("block", rule, f"{int(rewards.missing.sum()):,} that count as replaced", fix)
    if rewards.sources is not None and not are_units:
        _refuse_several(rewards.sources, spec)
    return True


def _refuse_several(sources: SourceTable, spec: LogSpec) -> None:
    """Refuse blocks where sources rewarded several arms: such a source is in several blocks."""
    several = int((np.bincount(sources.source, minlength=sources.number) > 1).sum())
    if several:
        received = f"{several:,} of {sources.number:,} sources that rewarded several"
        fix = Phrase("leave out {} or {}", Setting("source"), Setting("block"))
        raise InputError("block", "come with sources that rewarded one arm each", received, fix)
    why = "with it, rows are counted, and a source may have many; leave one of them out"
    raise InputError("contamination", Phrase("not come with {}", Setting("block", spec.block)), "rows", why)
