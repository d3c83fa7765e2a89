"""The rewards of each arm of a log, whatever the file looked like, and the state of the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bestarm.identification.wording.text import quoted
from bestarm.phrases import Phrase, Setting
from bestarm.problem import Label

if TYPE_CHECKING:
    import pyarrow as pa

    from bestarm.log.blocks import BlockTable
    from bestarm.log.reading.columns import LogColumns

_MANY_REPEATED = 0.2  # share of the rewards that are not the first of their source, from which on there is a note


@dataclass(frozen=True)
class BadRow:
    """A row that could not be used: where it is (None where the format has no lines), and what was wrong with it."""

    file: str
    line: int | None
    reason: str
    value: str

    def __str__(self) -> str:
        where = f"line {self.line}" if self.line is not None else "a row"
        return f"{where} of {self.file}: {self.value!r} {self.reason}"


@dataclass(frozen=True)
class Health:
    """Counts about the file behind some rewards: everything that was changed or left out.

    Attributes
    ----------
    rows : int
        Rows read, below the header.
    used : int
        Rewards in them that can be used.
    missing : int
        Rewards that were missing, and `missing_as` what was done: "drop" or "replaced".
    bad_rows : int
        Rows skipped because they had no arm, no number as a reward, or one out of bounds; `bad_examples` are the first.
    blank_arms, outside : int
        Those of them without an arm, and with a reward out of bounds.
    trimmed : int
        Rows whose arm had spaces before or after it, which were cut off.
    seen_once : tuple of str
        Arms with a single reward.
    repeated : int
        Rewards that a source gave to an arm it had rewarded before; in a counted log, further rows of an arm.
    guesses : tuple of str
        Guesses that were made (columns, encoding), one sentence each.
    files : tuple of str
        The files read.
    layout : str
        "long", "wide" or "counted".
    arm, reward : str
        Names of the columns, empty where each column is an arm or a reward.
    left_out : int
        Rows that were left out because the user said so, `left_out_how` which in a few words, and
        `left_out_by_rewards` whether rewards decided that.
    counted_in : str
        The table of a database that counted the rows; empty where they were read.
    fetched : int
        How many different rows came back from it.
    where : str
        Which rows were looked at, as a condition; empty if all of them were. All other counts are of these.
    per_source : str
        What the rewards of a source for an arm became, "sum" of a ratio; empty if nothing was said.
    """

    rows: int = 0
    used: int = 0
    missing: int = 0
    missing_as: str = "refuse"
    bad_rows: int = 0
    bad_examples: tuple[BadRow, ...] = ()
    blank_arms: int = 0
    outside: int = 0
    trimmed: int = 0
    seen_once: tuple[Label, ...] = ()
    repeated: int = 0
    guesses: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    layout: str = "long"
    arm: str = ""
    reward: str = ""
    left_out: int = 0
    left_out_how: str = ""
    left_out_by_rewards: bool = False
    counted_in: str = ""
    fetched: int = 0
    where: str = ""
    per_source: str = ""

    @property
    def missing_share(self) -> float:
        """Missing rewards as a share of all expected ones, to compare with epsilon."""
        return self.missing / max(self.used + self.missing, 1)

    def sentences(self) -> tuple[str, ...]:
        """Return sentences about the file; the first says what was read."""
        said = [f"{_number(self.rows, 'row')} read, {_number(self.used, 'reward')} in them."]
        if self.counted_in:
            counted = f"{_number(self.rows, 'row')} counted in the database, {_number(self.used, 'reward')} in them"
            said = [f"{counted}; {_number(self.fetched, 'different row')} of {self.counted_in} came back."]
        if self.where:
            said.append(f"Only rows with {self.where} were looked at; all counts are of these.")
        if self.left_out:
            said.append(f"{_number(self.left_out, 'row')} left out before that: {self.left_out_how}.")
        return (*said, *self.remarks(), *self.guesses)

    def remarks(self) -> tuple[str, ...]:
        """Return sentences about what is unusual in the file."""
        said = []
        if self.missing:
            share = f"{_number(self.missing, 'reward')} missing ({100.0 * self.missing_share:.3g} %)"
            done = "counted as replaced" if self.missing_as == "replaced" else "left out"
            said.append(f"{share}, {done}.")
        if self.bad_rows:
            kinds = [f"{self.blank_arms:,} without an arm"] if self.blank_arms else []
            kinds += [f"{self.outside:,} with a reward out of bounds"] if self.outside else []
            told = f" ({', '.join(kinds)})" if kinds else ""
            first = f"; the first is {self.bad_examples[0]}" if self.bad_examples else ""
            said.append(f"{_number(self.bad_rows, 'bad row')} skipped{told}{first}.")
        if self.trimmed:
            said.append(f"{_number(self.trimmed, 'row')} had spaces around the arm, which were removed.")
        if self.seen_once:
            few = ", ".join(quoted(label) for label in self.seen_once[:3])
            more = ", ..." if len(self.seen_once) > 3 else ""
            said.append(f"{_number(len(self.seen_once), 'arm')} seen once: {few}{more}.")
        if self.repeated and self.layout == "counted":
            said.append(f"{_number(self.repeated, 'row')} for an arm that already had one; the counts were added.")
        elif self.repeated and self.per_source in ("mean", "sum", "any"):
            what = "whether any" if self.per_source == "any" else f"the {self.per_source}"
            said.append(
                f"{_number(self.repeated, 'reward')} by a source that had already rewarded that arm; {what} of its "
                f"rewards for the arm {'is 1 ' if self.per_source == 'any' else ''}counts."
            )
        elif self.repeated:
            which = "last" if self.per_source == "last" else "first"
            said.append(
                f"{_number(self.repeated, 'reward')} by a source that had already rewarded that arm; where epsilon is "
                f"a share of the sources, only the {which} counts."
            )
            if not self.per_source and self.repeated > _MANY_REPEATED * self.used:
                said.append(
                    f"These are {100.0 * self.repeated / self.used:.2g} % of the rewards. "
                    + Phrase(
                        "With {} a source counts with the mean of its rewards for an arm: right if how many it gives "
                        "does not depend on them.",
                        Setting("per_source", "mean"),
                    )
                )
        return tuple(said)


@dataclass(frozen=True, eq=False)
class SourceTable:
    """The reward of each source for each arm, the first of it, in the order of time, or of the file without a time.

    Attributes
    ----------
    arm : array of int32
        Index of the arm among the labels.
    source : array of int32
        Number of the source, from 0 in the order of first appearance.
    value : array of float
        The reward.
    number : int
        How many sources there are.
    names : Arrow array of str, optional
        Their names, by number.
    of : array of float, optional
        What each reward is a share of, such as impressions: then both are sums over the rows of a source.
    what : {"first", "last", "mean", "sum", "any"}, optional
        What the rewards of a source on an arm became, if the user said so; the first otherwise.
    """

    arm: NDArray[np.int32]
    source: NDArray[np.int32]
    value: NDArray[np.float64]
    number: int
    names: pa.ChunkedArray | None = None
    of: NDArray[np.float64] | None = None
    what: str | None = None


@dataclass(frozen=True, eq=False)
class Rewards:
    """The rewards of each arm of a log.

    Attributes
    ----------
    labels : tuple of str
        The arms: by size if all of them are whole numbers, else by alphabet, so that the order of rows does not
        matter. They are texts whatever the file is, without spaces before or after.
    values : tuple of arrays
        Of each arm: all its rewards, ascending; or if `counts` is there, its distinct rewards, ascending.
    counts : tuple of arrays, or None
        Of each arm: how often each of `values` occurs. None for rewards of many different values.
    health : Health
        The state of the file.
    sources : SourceTable, optional
        The first reward of each source on each arm, if there is a column of sources.
    missing : array of int
        Of each arm: rewards that are missing and said to be replaced; zeros otherwise.
    columns : LogColumns, optional
        The columns of the log that they were read from.
    blocks : BlockTable, optional
        The rewards of each arm in each block, such as a day, if they are compared within blocks.
    """

    labels: tuple[Label, ...]
    values: tuple[NDArray[np.float64], ...]
    counts: tuple[NDArray[np.int64], ...] | None
    health: Health = field(default_factory=Health)
    sources: SourceTable | None = None
    missing: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    columns: LogColumns | None = None
    blocks: BlockTable | None = None

    def __post_init__(self) -> None:
        if not self.missing.size:
            object.__setattr__(self, "missing", np.zeros(len(self.labels), np.int64))

    @property
    def numbers(self) -> NDArray[np.int64]:
        """How many rewards each arm has."""
        if self.counts is None:
            return np.array([each.size for each in self.values], np.int64)
        return np.array([each.sum() for each in self.counts], np.int64)

    @property
    def total(self) -> int:
        """How many rewards there are."""
        return int(self.numbers.sum())

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean reward of each arm."""
        if self.counts is None:
            return np.array([each.mean() for each in self.values])
        pairs = zip(self.values, self.counts, strict=True)
        return np.array([np.average(values, weights=counts) for values, counts in pairs])

    @property
    def lowest(self) -> float:
        """The lowest reward."""
        return min(float(each[0]) for each in self.values)

    @property
    def highest(self) -> float:
        """The highest reward."""
        return max(float(each[-1]) for each in self.values)

    def all_of(self, arm: int) -> NDArray[np.float64]:
        """Return every reward of an arm, ascending, repeated as often as it occurs."""
        return self.values[arm] if self.counts is None else np.repeat(self.values[arm], self.counts[arm])


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
