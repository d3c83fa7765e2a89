"""The blocks of an open log: the days or hours of its times, or the values of a column; and whether they are needed.

Blocks that nobody asked for are used if the shares of the arms change over time, which is told without any reward.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.log.blocks import DAY, WIDTHS, BlockTable, block_of_span, shares_change
from bestarm.log.reading.rows import DATES, OpenLog
from bestarm.log.reading.watched import WatchedColumns
from bestarm.log.rewards import Rewards
from bestarm.phrases import Phrase, Setting

_MOST_NUMBERS = 400  # different whole numbers that a column of times may have to be taken for numbers of days
_CALENDAR = 3e8, 4.1e9  # seconds from which, and up to which, a time is a date


def with_blocks(log: OpenLog, rewards: Rewards, largest: int, *, of_sources: bool = False) -> Rewards:
    """Return rewards with their blocks, if blocks were asked for, or if the shares of the arms change over time.

    `largest` is that of `OpenLog.watch_rows`, which must have been called if the log is inspected. If `of_sources`,
    each source is one reward, in the block of its first row.
    """
    asked = log.spec.block
    found = _block_of(log) if _make_ready(log, largest) or asked is not None else None
    if found is None:
        return rewards
    by, column, test = found
    total = rewards.sources.number if of_sources and rewards.sources is not None else rewards.total
    if of_sources:
        log.place_sources(test)
    if asked is None:
        rows = log.database.run("blocks_of_sources" if of_sources else "blocks", block=test)
        if int(rows["times"].sum()) < total:
            return rewards
        names, block = _named(rows["block"], by)
        numbers = np.zeros((len(rewards.labels), len(names)), np.int64)
        numbers[rows["arm_index"], block] = rows["times"]
        if (by not in WIDTHS and len(names) > _MOST_NUMBERS) or not shares_change(numbers):
            return rewards
    rows = log.database.run("counted_blocks_of_sources" if of_sources else "counted_blocks", block=test)
    without = total - int(rows["times"].sum())
    if without and log.spec.on_bad_row == "refuse":
        fix = Phrase("fill it in; {} leaves out rows without one", Setting("on_bad_row", "skip"))
        things = "sources" if of_sources else "rows"
        raise InputError(log.title, f"have a {column!r} in each row", f"none in {without:,} {things}", fix)
    names, block = _named(rows["block"], by)
    order = np.lexsort((rows["value"], block, rows["arm_index"]))
    arm, times = (rows[name][order].astype(np.int64) for name in ("arm_index", "times"))
    value = rows["value"][order].astype(np.float64)
    table = BlockTable(by, column, names, arm, block[order], value, times, without, len(rewards.labels))
    return replace(rewards, blocks=table)


def _make_ready(log: OpenLog, largest: int) -> bool:
    """Make `watched`, unless inspection has made it; return whether there is a column of times or of blocks."""
    if log.spec.inspect and not log.is_counted:
        return log.watched.when is not None or log.watched.block is not None
    if log.watched == WatchedColumns() and not log.is_counted:
        log.watched = WatchedColumns(when=log.choose_watched().when)
        for part in log.parts if log.watched.when is not None else ():
            part.prepare(log.database, log.columns.used, [log.watched.when] if log.watched.when else [])
    if log.watched.when is None and log.watched.block is None:
        return False
    log.watch_rows(largest)
    return True


def _block_of(log: OpenLog) -> tuple[str, str, str] | None:
    """Return what blocks are called, the column that they are read from, and the block of a row in SQL."""
    asked, watched = log.spec.block, log.watched
    if watched.block is not None and asked is not None:
        return asked, watched.block, "nullif(stripped(block), '')"
    if watched.when is None:
        if asked is None:
            return None
        fix = f"no column has the name of a time, and dates {DATES} in it; or give the column of the {asked}s as block"
        raise InputError("time", Phrase("be given for {}", Setting("block", asked)), None, fix)
    first, last, number, are_whole = log.span()
    if number and first >= _CALENDAR[0] and last <= _CALENDAR[1]:
        by = asked or block_of_span(last - first)
        return None if by is None else (by, watched.when, f"floor(seconds / {WIDTHS[by]})::BIGINT")
    if asked is None:
        return (watched.when, watched.when, "seconds::BIGINT") if are_whole and number else None
    fix = f"its values are no dates {DATES}; to compare rows with the same value, give that column as block"
    raise InputError("block", f"come with dates in {watched.when!r}", asked, fix)


def _named(blocks: NDArray[Any], by: str) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the names of the blocks that occur, in order, and the index of each."""
    found, index = np.unique(blocks.astype(str) if blocks.dtype == object else blocks, return_inverse=True)
    return tuple(_name(each, by) for each in found.tolist()), index.astype(np.int64)


def _name(block: Any, by: str) -> str:
    if by not in WIDTHS or isinstance(block, str):
        return str(block)
    when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=WIDTHS[by] * int(block))
    return f"{when:%Y-%m-%d}" if by == DAY else f"{when:%Y-%m-%d %H}:00"
