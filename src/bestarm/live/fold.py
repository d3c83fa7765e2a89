"""The identifier of a study: changed by the events of its log and by nothing else.

So every process that has folded the same events holds the same state, bit for bit. Asking is part of the log (which arm
was given out), and what only reads is done on a copy.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from bestarm.identification.identifier import Identifier
from bestarm.identification.ledger import Batch, Ledger, Pull
from bestarm.identification.result import Result
from bestarm.problem import Problem


class ReplayedIdentifier(Identifier):
    """An identifier that takes in asks and ends of pulls as they stand in a log."""

    @property
    def by_source(self) -> bool:
        """Whether rewards come with sources."""
        return self._engine.by_source

    @property
    def problem(self) -> Problem:
        """The question."""
        return self._problem

    @property
    def ledger(self) -> Ledger:
        """The pulls that were asked for."""
        return self._ledger

    def check_source(self, source: Hashable | None) -> None:
        """Reject an invalid source, or any source if the study has none."""
        self._engine.check_source(source)

    def _choose(self, n: int) -> NDArray[np.int64]:
        return self._engine.ask_unchanged(n)

    def assign(self, index: int, source: Hashable | None = None) -> Pull:
        """Record that a pull of an arm was handed out, for a source if one was named, and return it."""
        self._engine.assign(np.array([index]))
        return self._ledger.pull(self._ledger.issue(index, source), self._problem.labels[index])

    def fold(self, batch: Batch) -> int | None:
        """Take in asks and ends, the same as one by one; return which of the ends led to the decision, if one did."""
        if len(batch.arms):
            self._engine.assign(np.asarray(batch.arms, np.int64))
        deciding = None
        for uses in self._ledger.take(batch):
            found = self._engine.use(uses.numbers, uses.cancel)
            deciding = deciding if found is None else int(uses.slots[found])
        self._settle()
        return deciding

    def adopt(self, decision: Result) -> None:
        """Take over the decision of the log."""
        self._decision, self._complete = decision, False

    @property
    def decision(self) -> Result | None:
        """The bare verdict, without leads and tolerance, which take long to find and follow from the log."""
        return self._decision
