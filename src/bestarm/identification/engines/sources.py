"""The certified method where epsilon is a share of sources: it decides by the first reward of each source on each arm.

Section numbers are those of docs/explanation/certified.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.identification.engines._base import Decision
from bestarm.identification.engines.certified import CertifiedEngine
from bestarm.identification.ledger import Cancel
from bestarm.identification.robustness import Standing, ToldRewards, alarms
from bestarm.identification.source_ledger import SourceLedger
from bestarm.identification.sources import BY_LABEL, SourceRewards
from bestarm.identification.tail_alarm import tails_of
from bestarm.kernels.rule import Rule
from bestarm.kernels.trials.readouts import stop, withdraw
from bestarm.problem import Problem


class SourcesEngine(CertifiedEngine):
    """Asks in rounds as the certified method does; arms are dropped by the evidence of sources (section 11).

    Its rule is one that drops no arm by itself (`certified_rule(..., drops=False)`).
    """

    by_source: ClassVar[bool] = True
    ledger: SourceLedger

    def __init__(
        self, name: str, problem: Problem, options: Mapping[str, Any], ledger: SourceLedger, rule: Rule
    ) -> None:
        super().__init__(name, problem, options, ledger, rule)
        self.sources = SourceRewards(problem, options)

    def check_source(self, source: Hashable | None) -> None:
        """Raise an error for a source that is missing or not hashable."""
        if source is None or source != source or not isinstance(source, Hashable):
            raise InputError("source", "be given, as a label that can be looked up", source, "such as a voter's id")

    def observe(self, index: int, value: float, source: Hashable | None = None, number: int = BY_LABEL) -> None:
        """Take in a source's reward, and check whether an arm is proved worse; its second reward is not used."""
        self.check_source(source)
        if not self.sources.tell(index, value, source, number):
            self.release(index)
            return
        self._observe(index, value)
        if self.decided is None and self.sources.is_due():
            self._drop_worse()

    def _drop_worse(self) -> None:
        for worse in self.sources.worse(np.flatnonzero(self.arms["active"]), self.ledger.horizon):
            withdraw(self.state, self.rule, worse, True)
        left = self.active()
        if len(left) == 1:
            stop(self.state, left[0])
            # Later rewards are not part of the decision.
            self.decided = self.read()._replace(standing=self.standing(left[0], self.pulls))

    def observe_many(
        self, indices: NDArray[np.int64], values: NDArray[np.float64], sources: Sequence[Hashable] | None = None
    ) -> int | None:
        """Take in rewards with their sources, in order."""
        was_decided, deciding = self.decided is not None, None
        rows = zip(indices.tolist(), values.tolist(), sources or (), strict=True)
        for slot, (index, value, source) in enumerate(rows):
            self.observe(index, value, source)
            if deciding is None and self.decided is not None and not was_decided:
                deciding = slot
        return deciding

    def use(self, numbers: Sequence[int] | NDArray[np.int64], cancel: Cancel | None, by_label: int = 0) -> int | None:
        """Take in the rewards of pulls whose turn has come; a silent source may be dishonest."""
        was_decided, deciding = self.decided is not None, None
        for slot, number in enumerate(numbers):
            index, value, source = self.ledger.arms[number], self.ledger.values[number], self.ledger.source(number)
            if value == value:
                self.observe(index, value, source, number)
            else:
                self._cancel(index, source, number)
            if deciding is None and self.decided is not None and not was_decided:
                deciding = slot
        return deciding

    def _cancel(self, index: int, source: Hashable | None, number: int) -> None:
        """Take in a cancelled pull, and compare the silent sources with all."""
        self.release(index)
        self.sources.cancel(index, source, number)
        self._cancel_alarm.note(index, self.sources.cancelled, self.sources.number_with(*self.ledger.under_way()))

    def _alarms(self) -> tuple[str, ...]:
        """Return a sentence for each arm whose rewards, by sources that opened with it, contradict epsilon or sigma."""
        tails = tails_of(self.problem, *self.sources.openings())
        return alarms(self.problem, self.options["contamination"], self.state, self.rule, tails, self.sources.count)

    def standing(self, leader: int, pulls: int) -> Standing | None:
        """Return the leads of an arm over the others, and the p-value of its being the best, as of now."""
        return self.sources.standing(leader, self.arms["dropped"] > 0, self.ledger.horizon)

    def readouts(self, decision: Decision) -> dict[str, Any]:
        """Return nothing: how the winner stands was read when it was named."""
        return {}

    def past(self, pulls: int) -> ToldRewards | None:
        """Return nothing: there is no evidence of sources over time."""
        return None

    def rewards(self) -> ToldRewards:
        """Raise an error: rewards without their sources say nothing at another epsilon."""
        fix = "ask again with another epsilon: sources are few, and counted"
        raise self._no_sources(fix)

    def check_forecast(self) -> None:
        """Refuse a forecast."""
        fix = "no forecast is made: who will speak next, and of which arm, is not known"
        raise self._no_sources(fix)

    def _no_sources(self, fix: str) -> InputError:
        name = self.options["contamination"]
        return InputError("contamination", f"not be {name}", name, fix)
