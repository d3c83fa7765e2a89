"""Cancelled pulls against what epsilon allows for: an alarm if there are more.

What never comes counts as replaced, so that too many cancelled pulls contradict epsilon. Section numbers are those of
docs/explanation/certified.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bestarm.contamination import counted_share
from bestarm.problem import Problem

LEVEL = 1e-3  # probability of a false alarm with coins, all arms and all times together
_ALL = -1  # in place of an arm, where epsilon is a share of all


def log_excess(cancelled: int, of: int, epsilon: float) -> float:
    """Return log M, the evidence that positions of a tape are hit more often than epsilon allows for (section 8).

    M is the likelihood ratio of a rate q against epsilon after so many positions, averaged over q uniform on
    (epsilon, 1). It is an e-process, and rises with every hit.

    >>> round(log_excess(0, 100, 0.1), 2), round(log_excess(30, 100, 0.1), 2)
    (-4.62, 13.3)
    """
    from scipy.special import betainc, betaln  # takes time that most need not pay

    kept = of - cancelled
    tail = float(betainc(kept + 1.0, cancelled + 1.0, 1.0 - epsilon))
    if tail == 0.0:
        return -math.inf
    found = float(betaln(cancelled + 1.0, kept + 1.0)) + math.log(tail) - math.log1p(-epsilon)
    return found - cancelled * math.log(epsilon) - kept * math.log1p(-epsilon)


class CancelAlarm:
    """Rings when more pulls were cancelled than epsilon allows for, and does not stop: the assumption is refuted.

    It looks at every cancelled pull, at the first so many pulls of the arm up to the latest that has ended: one that is
    still out counts as not cancelled, so that it does not matter which end first.
    """

    def __init__(self, problem: Problem, options: Mapping[str, Any]) -> None:
        self._problem = problem
        self._kind = options.get("contamination")
        self._share_from = float(options.get("share_from") or 1.0)
        self._rung: dict[int, tuple[int, int]] = {}  # by arm: how many were cancelled, of how many

    @property
    def of_all(self) -> bool:
        """Whether pulls of all arms are counted together."""
        return self._kind in ("share-of-all", "sources")

    def note(self, index: int, cancelled: int, of: int) -> None:
        """Take note that so many of the first so many pulls of an arm, or of all, were cancelled."""
        slot = _ALL if self.of_all else index
        if slot not in self._rung and self._is_too_many(cancelled, of):
            self._rung[slot] = cancelled, of

    def _is_too_many(self, cancelled: int, of: int) -> bool:
        epsilon, size = self._problem.epsilon, self._problem.size
        if self._kind in ("share-of-arm", "share-of-all", "sources"):
            return cancelled > counted_share(epsilon, of, self._share_from, size if self._kind == "share-of-all" else 1)
        return log_excess(cancelled, of, epsilon) >= math.log(size / LEVEL)

    def mark(self) -> dict[int, tuple[int, int]]:
        """Return what `rewind` needs to come back to this moment."""
        return dict(self._rung)

    def rewind(self, mark: dict[int, tuple[int, int]]) -> None:
        """Forget what was noted since a mark."""
        self._rung = mark

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence for each arm, or for all, of which too many were cancelled."""
        found = []
        for index, (cancelled, of) in sorted(self._rung.items()):
            if self._kind == "sources":
                what = f"pulls of {cancelled:,} of the first {of:,} sources were cancelled"
            elif index == _ALL:
                what = f"{cancelled:,} of the first {of:,} pulls were cancelled"
            else:
                what = f"{cancelled:,} of the first {of:,} pulls of {self._problem.labels[index]!r} were cancelled"
            found.append(f"{what}, more than epsilon = {self._problem.epsilon:g} allows for")
        return tuple(found)
