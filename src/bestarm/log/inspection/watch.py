"""The rows of a log as inspection sees them: the arm, the reward, and who, when and how, as far as the file says so."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.identification.wording.metric import Metric
from bestarm.log.bounds import is_binary
from bestarm.log.reading import OpenLog
from bestarm.log.rewards import Rewards

LARGEST_TABLE = 20_000_000  # rewards up to which they are kept as a table, and looked at one and all
_SAMPLE = 2_000_000  # of larger logs, what is sampled is about so many
_MOST_GROUPS = 20_000_000  # pairs of a source and an arm up to which all are counted
_KEEPS = 0.6  # a source is looked at closely if so much of its rewards may be of one arm
_MOST_PICKED = 2_000_000
_MOST_VALUES = 20  # of ratings
_UNIT = 2**26  # more than any source gives; twice as many bits are exact in a floating-point number


@dataclass(frozen=True, eq=False)
class SourceCounts:
    """What each source gave to each arm: one entry per pair.

    Attributes
    ----------
    hashes : array of uint64
        Of each source; `numbers`: how many rewards it gave.
    source, arm : array of int
        The index of each pair's source, and its arm.
    times, sums, squares : array
        How many rewards, their sum and sum of squares, each less `centre`.
    top : array
        How many of them are the highest of the log.
    every : int
        Sources with few rewards on several arms are one in so many; 1 if all are there.
    total : int
        How many sources the log has.
    """

    hashes: NDArray[np.uint64]
    numbers: NDArray[np.float64]
    source: NDArray[np.int64]
    arm: NDArray[np.int64]
    times: NDArray[np.float64]
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]
    top: NDArray[np.float64]
    centre: float
    every: int
    total: int
    all_numbers: NDArray[np.float64]


@dataclass(frozen=True)
class Clock:
    """The times of a log: first and last, how many rewards have one, and a tick, the finest difference, in seconds."""

    first: float
    last: float
    number: int
    tick: float

    @property
    def is_calendar(self) -> bool:
        """Whether the times are dates, not plain numbers."""
        return self.first >= 3e8 and self.last <= 4.1e9

    @property
    def is_fine(self) -> bool:
        """Whether two rewards of somebody seldom have the same time: dates in seconds, or many different numbers."""
        return self.tick <= 1.0 and (self.is_calendar or self.last - self.first >= 1000.0 * self.tick)


class Watch:
    """The rows of an open log, counted in the ways that the findings need.

    Parameters
    ----------
    log : OpenLog
        Opened with `inspect`.
    rewards : Rewards
        What `count_rewards` gave.
    """

    def __init__(self, log: OpenLog, rewards: Rewards) -> None:
        self.log, self.rewards, self.total = log, rewards, rewards.total
        self.is_table = log.watch_rows(LARGEST_TABLE)
        self.columns = log.watched
        self.is_aggregated = log.columns.layout == "counted"
        self.every = 1 if self.is_table else max(self.total // _SAMPLE, 1)
        names = log.columns
        self.metric = Metric(
            names.arm or "", rewards.health.reward, self.columns.who or "", is_binary(rewards), names.visits or ""
        )

    @property
    def judges_sources(self) -> bool:
        """Whether the verdict counts sources, so that findings must say how many sources they are about."""
        return self.rewards.sources is not None and self.is_table and not self.is_aggregated

    @functools.cached_property
    def is_rating(self) -> bool:
        """Whether rewards have so few values that the highest of them is nothing special."""
        rewards = self.rewards
        return rewards.counts is not None and np.unique(np.concatenate(rewards.values)).size <= _MOST_VALUES

    def run(self, query: str, **pieces: object) -> dict[str, NDArray[Any]]:
        """Run a query about the rows."""
        return self.log.database.run(query, **pieces)

    def amount(self, rows: int) -> str:
        """Return a number of rewards and their share of all, such as "6,000 visits, 9.1 %"."""
        return f"{self.metric.rows(rows)}, {short_percent(rows / max(self.total, 1))}"

    @functools.cached_property
    def clock(self) -> Clock | None:
        """The times; None if the log has none."""
        if self.columns.when is None:
            return None
        found = {name: column[0] for name, column in self.run("clock").items()}
        if not found["number"]:
            return None
        ticks = (("are_days", 86400.0), ("are_minutes", 60.0), ("are_seconds", 1.0))
        tick = next((size for name, size in ticks if found[name]), 0.001)
        return Clock(float(found["first"]), float(found["last"]), int(found["number"]), tick)

    @functools.cached_property
    def sources(self) -> SourceCounts | None:
        """What each source gave to each arm; None if nobody is named, or the log is aggregated."""
        if self.columns.who is None or self.is_aggregated:
            return None
        everybody, every, test = None, 1, "true"
        if not self.is_table:
            everybody = self.run("source_sketches", unit=_UNIT)
            if everybody["who"].size * min(len(self.rewards.labels), 20) > _MOST_GROUPS:
                every = max(everybody["who"].size // _SAMPLE * 4, 1)
                self.pick(everybody["who"][_may_be_devoted(everybody)])
                test = f"(hash(who) % {every} = 0 OR hash(who) IN (SELECT hashed FROM picked))"
        centre = float(np.average(self.rewards.means, weights=self.rewards.numbers))
        rows = self.run("by_source", centre=repr(centre), highest=repr(self.rewards.highest), test=test)
        if not rows["who"].size:
            return None
        hashes, source = np.unique(rows["who"], return_inverse=True)
        times = rows["times"].astype(np.float64)
        numbers = np.bincount(source, weights=times).astype(np.float64)
        all_numbers = numbers if everybody is None else everybody["times"].astype(np.float64)
        return SourceCounts(
            hashes=hashes,
            numbers=numbers,
            source=source,
            arm=rows["arm_index"].astype(np.int64),
            times=times,
            sums=rows["sums"].astype(np.float64),
            squares=rows["squares"].astype(np.float64),
            top=rows["top"].astype(np.float64),
            centre=centre,
            every=every,
            total=all_numbers.size,
            all_numbers=all_numbers,
        )

    def pick(self, hashes: NDArray[np.uint64]) -> None:
        """Make the table of some sources, by their hashes."""
        self.log.database.ask("picked_sources", hashes.tolist())

    def names_of(self, hashes: NDArray[np.uint64]) -> list[str]:
        """Return the names of some sources, in their order."""
        self.pick(hashes)
        rows = self.run("names_of_picked")
        names = dict(zip(rows["who"].tolist(), rows["name"].tolist(), strict=True))
        return [str(names[each]) for each in hashes.tolist()]


def _may_be_devoted(everybody: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
    """Return the sources that may give most of their rewards to one arm, and the busiest ones."""
    times = everybody["times"].astype(np.float64)
    bits = [part for name in ("bits01", "bits23") for part in np.divmod(everybody[name], _UNIT)]
    least = np.min([np.abs(times - 2.0 * part) for part in bits], axis=0)
    busy = np.argsort(-times, kind="stable")[: times.size // 100]
    kept = np.flatnonzero((least >= _KEEPS * times) & (times >= 3.0))
    kept = kept[np.argsort(-times[kept], kind="stable")][:_MOST_PICKED]
    found: NDArray[np.int64] = np.union1d(kept, busy)
    return found


def short_percent(share: float) -> str:
    """Return a share in percent, with two digits.

    >>> short_percent(0.0909), short_percent(0.0031), short_percent(0.52), short_percent(1.0)
    ('9.1 %', '0.31 %', '52 %', '100 %')
    """
    return f"{100.0 * share:.0f} %" if share >= 0.0995 else f"{100.0 * share:.2g} %"
