"""The fingerprint of a log: the SHA-256 of the rows that a verdict used, whatever their order and the file's format.

It is the hash of a text with a row per line, each a list in JSON, below a line with the names of the columns:

- `["arm", "reward", "count"]`: every different reward of each arm and how often it occurs, sorted by arm, then reward;
- `["arm", "block", "reward", "count"]` where rewards are compared within blocks, such as days: the same in each block;
  rewards without one are left out;
- `["source", "rank", "arm", "reward"]` where sources are compared: the first reward of each source for each arm, sorted
  by source, then rank, which counts from 0 the arms that the source rewarded, in order. If each source is judged by the
  difference of two rewards, no order matters, and every rank is 0. `"reward"` is what the rewards of the source for the
  arm became (their mean, say), and `"of"` follows where it is a part of something, such as impressions.

Arms and sources are texts, sorted by code points; rewards are floating-point numbers, written as Python writes them.
Rewards that are missing and count as fake come last: a line `[arm, null, count]` for each arm that has some.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.log.blocks import BlockTable
from bestarm.log.rewards import Rewards, SourceTable

_CHUNK = 1 << 16  # rewards that are made into lines at a time


@dataclass(frozen=True)
class Fingerprint:
    """Which rows a verdict used.

    Attributes
    ----------
    sha256 : str
        The hash, in hexadecimal digits.
    rewards : int
        How many rewards it covers, including missing ones that count as fake.
    columns : tuple of str
        What a line of the hashed text has.
    """

    sha256: str
    rewards: int
    columns: tuple[str, ...]


def fingerprint(rewards: Rewards, *, by_source: bool = False, paired: bool = False) -> Fingerprint:
    """Return the fingerprint of the rewards of a log, as rows or, if sources are compared, as first rewards.

    Examples
    --------
    >>> import numpy as np
    >>> votes = Rewards(("B", "A"), (np.array([0.0, 1.0]), np.array([1.0])), (np.array([2, 3]), np.array([5])))
    >>> print("".join(lines(votes)), end="")
    ["arm", "reward", "count"]
    ["A", 1.0, 5]
    ["B", 0.0, 2]
    ["B", 1.0, 3]
    >>> fingerprint(votes).sha256[:16]
    '8c3c415a2a49b994'
    """
    digest = hashlib.sha256()
    for line in lines(rewards, by_source=by_source, paired=paired):
        digest.update(line.encode())
    total = rewards.sources.arm.size if by_source and rewards.sources is not None else rewards.total
    if rewards.blocks is not None:
        total -= rewards.blocks.without
    columns = _columns_of_sources(rewards) if by_source else ("arm", "reward", "count")
    columns = columns if rewards.blocks is None else ("arm", "block", "reward", "count")
    return Fingerprint(digest.hexdigest(), int(total) + int(rewards.missing.sum()), columns)


def lines(rewards: Rewards, *, by_source: bool = False, paired: bool = False) -> Iterator[str]:
    """Yield the text that is hashed, in pieces of whole lines."""
    if by_source:
        yield _line(list(_columns_of_sources(rewards)))
        yield from _lines_of_sources(rewards, paired)
    elif rewards.blocks is not None:
        yield '["arm", "block", "reward", "count"]\n'
        yield from _lines_of_blocks(rewards, rewards.blocks)
    else:
        yield '["arm", "reward", "count"]\n'
        for index in _by_text(rewards):
            yield from _lines_of_arm(rewards, index)
    for index in _by_text(rewards):
        if rewards.missing[index]:
            yield _line([str(rewards.labels[index]), None, int(rewards.missing[index])])


def _columns_of_sources(rewards: Rewards) -> tuple[str, ...]:
    is_ratio = rewards.sources is not None and rewards.sources.of is not None
    return ("source", "rank", "arm", "reward", *(["of"] if is_ratio else []))


def _by_text(rewards: Rewards) -> list[int]:
    """Return the indices of the arms, sorted by their names as text."""
    return sorted(range(len(rewards.labels)), key=lambda index: str(rewards.labels[index]))


def _lines_of_arm(rewards: Rewards, index: int) -> Iterator[str]:
    """Yield lines of the different rewards of an arm, ascending, and how often each occurs."""
    name = json.dumps(str(rewards.labels[index]))
    values = rewards.values[index] + 0.0  # -0.0 is 0.0
    if rewards.counts is None:
        starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        values, counts = values[starts], np.diff(np.append(starts, values.size))
    else:
        occurs = rewards.counts[index] > 0
        values, counts = values[occurs], rewards.counts[index][occurs]
    for first in range(0, values.size, _CHUNK):
        part = slice(first, first + _CHUNK)
        pairs = zip(values[part].tolist(), counts[part].tolist(), strict=True)
        yield "".join(f"[{name}, {value!r}, {count}]\n" for value, count in pairs)


def _lines_of_blocks(rewards: Rewards, table: BlockTable) -> Iterator[str]:
    """Yield lines of the different rewards of each arm in each block."""
    labels, names = [json.dumps(str(label)) for label in rewards.labels], [json.dumps(name) for name in table.names]
    place = np.empty(len(labels), np.int64)
    place[_by_text(rewards)] = np.arange(len(labels))
    block_place = np.empty(len(names), np.int64)
    block_place[sorted(range(len(names)), key=table.names.__getitem__)] = np.arange(len(names))
    rows = np.lexsort((table.value, block_place[table.block], place[table.arm]))
    for first in range(0, rows.size, _CHUNK):
        part = rows[first : first + _CHUNK]
        columns = table.arm[part], table.block[part], table.value[part] + 0.0, table.count[part]
        cells = zip(*(column.tolist() for column in columns), strict=True)
        yield "".join(f"[{labels[arm]}, {names[block]}, {value!r}, {count}]\n" for arm, block, value, count in cells)


def _lines_of_sources(rewards: Rewards, paired: bool) -> Iterator[str]:
    """Yield lines of the first reward of each source for each arm."""
    table = rewards.sources
    if table is None or table.names is None:
        fix = "rewards that were made by hand, or read by an older version, do not have them"
        raise InputError("rewards", "have the names of their sources", None, fix)
    names: list[str] = table.names.to_pylist()
    order = sorted(range(table.number), key=names.__getitem__)
    place = np.empty(table.number, np.int64)
    place[order] = np.arange(table.number)
    rank = np.zeros(table.arm.size, np.int64) if paired else _ranks(table)
    labels = [str(label) for label in rewards.labels]
    arm_place = np.empty(len(labels), np.int64)
    arm_place[_by_text(rewards)] = np.arange(len(labels))
    rows = np.lexsort((arm_place[table.arm], rank, place[table.source]))
    arms, who = [json.dumps(label) for label in labels], [json.dumps(name) for name in names]
    for first in range(0, rows.size, _CHUNK):
        part = rows[first : first + _CHUNK]
        wholes = [""] * part.size if table.of is None else [f", {value!r}" for value in table.of[part].tolist()]
        cells = zip(
            table.source[part].tolist(),
            rank[part].tolist(),
            table.arm[part].tolist(),
            (table.value[part] + 0.0).tolist(),
            wholes,
            strict=True,
        )
        yield "".join(f"[{who[who_]}, {turn}, {arms[arm]}, {value!r}{of}]\n" for who_, turn, arm, value, of in cells)


def _ranks(table: SourceTable) -> NDArray[np.int64]:
    """Return for each row of a table how many arms its source rewarded before."""
    order = np.argsort(table.source, kind="stable")
    sizes = np.bincount(table.source, minlength=table.number)
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(order.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return ranks


def _line(cells: list[object]) -> str:
    return json.dumps(cells) + "\n"
