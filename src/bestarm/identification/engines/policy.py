"""A user's own policy, behind the interface that compiled methods have.

The engine keeps the counts, so that no policy can get them wrong, and the rewards: if a policy fails at a reward, it is
rebuilt by replaying the rewards before it.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.identification.engines._base import Engine, Row
from bestarm.identification.ledger import Ledger
from bestarm.identification.sources import BY_LABEL
from bestarm.kernels.algorithms.stopping import IDENTIFIED, INDISTINGUISHABLE
from bestarm.policies.policy import NO_WINNER, PolicyRule, chosen, estimated, observed
from bestarm.problem import Problem

_control = np.dtype([(name, "i8") for name in ("t", "pending", "best", "done", "limit")])
_arm = np.dtype([(name, "i8") for name in ("told", "pending", "active")])


class PolicyEngine(Engine):
    """Runs a policy; rewards that it fails at are not taken in."""

    def __init__(
        self, name: str, problem: Problem, options: Mapping[str, Any], ledger: Ledger, rule: PolicyRule
    ) -> None:
        super().__init__(name, problem, options, ledger)
        self._rule = rule
        self._control, self._arms = np.zeros(1, _control), np.zeros(problem.size, _arm)
        self._control["best"] = -1
        self._arms["active"] = 1
        self.policy = rule.start()
        self._indices, self._rewards = array("q"), array("d")  # told up to the decision

    @property
    def control(self) -> NDArray[np.void]:
        """The control record."""
        return self._control

    @property
    def arms(self) -> NDArray[np.void]:
        """One record per arm."""
        return self._arms

    def tag(self) -> str:
        """Return the name of the policy."""
        return self.name

    def ask(self, number: int) -> NDArray[np.int64]:
        """Return the next arms, each chosen with those before it pending."""
        indices = np.empty(number, np.int64)
        pending = self._arms["pending"].copy()
        shown = pending.view()
        shown.flags.writeable = False
        for slot in range(number):
            indices[slot] = chosen(self.policy, self._rule.name, shown, self.pulls)
            pending[indices[slot]] += 1
        self._arms["pending"] = pending
        self._control["pending"] += number
        return indices

    def active(self) -> list[int]:
        """Return the arms that the policy says may still be the best."""
        self.rows()
        return super().active()

    def observe(self, index: int, value: float, source: Hashable | None = None, number: int = BY_LABEL) -> None:
        """Take one reward in."""
        if source is not None:
            self.check_source(source)
        self._take(np.array([index], np.int64), np.array([value]))

    def _take(self, indices: NDArray[np.int64], values: NDArray[np.float64]) -> int | None:
        """Take rewards in, all or none: if the policy fails at one of them, it has seen none."""
        mark = self._mark(indices)
        deciding = None
        try:
            for slot, (index, value) in enumerate(zip(indices.tolist(), values.tolist(), strict=True)):
                if self._observe(index, value):
                    deciding = slot
                    self.decided = self.read()
        except BaseException:
            self.rewind(mark)
            raise
        return deciding

    def _observe(self, index: int, value: float) -> bool:
        """Take a reward in; after the decision it is only counted. Tell whether it led to the decision."""
        control, arms = self._control[0], self._arms
        decision = None
        if control["done"] == 0:
            decision = observed(self.policy, self._rule.name, index, value, arms.size, int(control["t"]))
            self._indices.append(index)
            self._rewards.append(value)
        arms[index]["told"] += 1
        control["t"] += 1
        self.release(index)
        if decision is None:
            return False
        estimated(self.policy, self._rule.name, arms.size)  # refused now, and not when the verdict is written
        control["done"] = INDISTINGUISHABLE if decision == NO_WINNER else IDENTIFIED
        control["best"] = decision
        return True

    def mark(self, index: int) -> Any:
        """Return a mark for `rewind` to undo rewards of one arm."""
        return self._mark([index])

    def _mark(self, indices: Sequence[int] | NDArray[np.int64]) -> tuple[Any, ...]:
        touched = np.array(indices, np.int64)  # with 10^4 arms, those of one reward are a small part
        counts = self._control.copy(), touched, self._arms[touched]
        return len(self._rewards), self.decided, self._cancel_alarm.mark(), counts

    def rewind(self, mark: Any) -> None:
        """Go back to a mark; the policy is rebuilt by replaying the rewards before it."""
        length, self.decided, cancelled, (control, touched, arms) = mark
        self._cancel_alarm.rewind(cancelled)
        self._control[:] = control
        self._arms[touched] = arms
        del self._indices[length:], self._rewards[length:]
        self.policy = self._rule.start()
        for index, reward in zip(self._indices, self._rewards, strict=True):
            self.policy.observe(index, reward)

    def rows(self) -> tuple[Row, ...]:
        """Return the policy's estimate of each arm, and record which arms may still be the best."""
        found = estimated(self.policy, self._rule.name, self._arms.size)
        self._arms["active"] = [row.active for row in found]
        return tuple(Row(told, *row) for told, row in zip(self._arms["told"].tolist(), found, strict=True))

    def check_forecast(self) -> None:
        """Refuse a forecast."""
        fix = "simulate it on a Bandit like your arms instead"
        raise InputError("method", "be of the catalogue for a forecast", self.name, fix)
