"""One reward per source: where each source rewarded one arm only, sources are what is compared, like rows elsewhere.

Then what is proved of rows holds of sources (section 11 of docs/explanation/certified.md): the exact test of 0/1
rewards, matches within blocks, batches for arms of very different size.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bestarm.errors import InputError
from bestarm.log.rewards import Rewards, SourceTable

if TYPE_CHECKING:
    from bestarm.log.question import LogQuestion


def is_single(table: SourceTable) -> bool:
    """Tell whether no source rewarded two arms."""
    return table.arm.size == table.number


def count_as_units(rewards: Rewards, question: LogQuestion) -> bool:
    """Tell whether what is compared is one reward per source, each of which rewarded one arm only.

    Sources whose rewards are missing are not known, so that there must be none.
    """
    table = rewards.sources
    if table is None or table.of is not None or question.paired or rewards.missing.any() or not is_single(table):
        return False
    return question.assigned or question.model(rewards).by_source


def units(rewards: Rewards) -> Rewards:
    """Return the very first reward of each source; without sources each reward is a unit.

    >>> arm, source = np.array([0, 1, 1], np.int32), np.array([0, 1, 0], np.int32)
    >>> table = SourceTable(arm, source, np.array([1.0, 0.0, 5.0]), 2)
    >>> found = units(Rewards(("A", "B"), (np.array([1.0]), np.array([0.0, 5.0])), None, sources=table))
    >>> [values.tolist() for values in found.values]
    [[1.0], [0.0]]
    """
    table = rewards.sources
    if table is None:
        return rewards
    _, first = np.unique(table.source, return_index=True)
    arm, value = table.arm[first], table.value[first]
    values, counts = [], []
    for index, label in enumerate(rewards.labels):
        each, often = np.unique(value[arm == index], return_counts=True)
        if not each.size:
            fix = "every source rewarded another arm first: were arms drawn by source? Leave out the source if by row"
            raise InputError(f"the arm {label!r}", "have a source whose first reward it has", 0, fix)
        values.append(each)
        counts.append(often.astype(np.int64))
    return replace(rewards, values=tuple(values), counts=tuple(counts), sources=None)
