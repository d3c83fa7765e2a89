"""The alarm for more cancelled pulls than epsilon allows.

A reward that never comes counts as replaced, so too many cancelled pulls contradict epsilon. Section numbers are those
of docs/explanation/certified.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestarm.contamination import default, of_options, resolve
from bestarm.identification.wording.alarms import too_many_cancelled
from bestarm.problem import Problem

_ALL = -1  # in place of an arm, where epsilon is a share of all


class CancelAlarm:
    """Sounds when more pulls were cancelled than epsilon allows, and stays: the assumption is refuted.

    At every cancelled pull it checks all pulls of the arm up to the latest that has ended. An outstanding pull counts
    as not cancelled, so it does not matter which pulls end first.
    """

    def __init__(self, problem: Problem, options: Mapping[str, Any]) -> None:
        self._problem = problem
        self._model = of_options(options) or resolve(default("live"))
        self._share_from = float(options.get("share_from") or 1.0)
        self._rung: dict[int, tuple[int, int]] = {}  # by arm: how many were cancelled, of how many

    @property
    def of_all(self) -> bool:
        """Whether pulls of all arms are counted together."""
        return self._model.shared

    def note(self, index: int, cancelled: int, of: int) -> None:
        """Take note of how many of the first `of` pulls of an arm, or of all, were cancelled."""
        slot = _ALL if self.of_all else index
        if slot not in self._rung and self._is_too_many(cancelled, of):
            self._rung[slot] = cancelled, of

    def _is_too_many(self, cancelled: int, of: int) -> bool:
        epsilon, arms = self._problem.epsilon, self._problem.size
        return self._model.is_too_many(cancelled, of, epsilon=epsilon, arms=arms, share_from=self._share_from)

    def mark(self) -> dict[int, tuple[int, int]]:
        """Return a mark that `rewind` can return to."""
        return dict(self._rung)

    def rewind(self, mark: dict[int, tuple[int, int]]) -> None:
        """Forget what was noted since a mark."""
        self._rung = mark

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence for each arm with too many cancelled pulls, or one for all arms together."""
        found = []
        for index, (cancelled, of) in sorted(self._rung.items()):
            label = None if index == _ALL else self._problem.labels[index]
            found.append(too_many_cancelled(self._model, self._problem.epsilon, cancelled, of, label))
        return tuple(found)
