"""The live state of a policy, with the face that the kernels of the catalogue's methods have: ask, tell, describe.

Counts are kept here, so that no policy can get them wrong, and so are the rewards: if a policy raises in the middle, a
new one is told those before, and all is as if nothing had happened.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.policies.policy import NO_WINNER, PolicyRule, chosen, estimated, observed

IDENTIFIED, INDISTINGUISHABLE = 1, 2  # as in `result.STATUSES`

_control = np.dtype([(name, "i8") for name in ("t", "pending", "best", "done", "limit")])
_arm = np.dtype([(name, "i8") for name in ("told", "pending", "active")])


class Counts(NamedTuple):
    """One record an arm: rewards told, rewards asked for and not told, and whether it may still be the best."""

    arms: NDArray[np.void]


class PolicyState:
    """A policy, what it was told, and what was asked for."""

    def __init__(self, rule: PolicyRule) -> None:
        self.control = np.zeros(1, _control)
        self.control["best"] = -1
        self.samples = Counts(np.zeros(rule.question.arms, _arm))
        self.samples.arms["active"] = 1
        self.policy = rule.start()
        self.indices, self.rewards = array("q"), array("d")  # told up to the decision

    def mark(self, indices: Sequence[int] | NDArray[np.int64]) -> tuple[Any, ...]:
        """Return what `rewind` needs to come back to this moment, if no arms but these are told of."""
        touched = np.array(indices, np.int64)  # a copy: of 10^4 arms, those of one reward are a small part
        return len(self.rewards), self.control.copy(), touched, self.samples.arms[touched]

    def rewind(self, rule: PolicyRule, mark: tuple[Any, ...]) -> None:
        """Undo all that was told since a mark: what the policy has half taken in, only a new one can undo."""
        length, control, touched, arms = mark
        self.control[:] = control
        self.samples.arms[touched] = arms
        del self.indices[length:], self.rewards[length:]
        self.policy = rule.start()
        for index, reward in zip(self.indices, self.rewards, strict=True):
            self.policy.observe(index, reward)


def new_policy_state(arms: int, rule: PolicyRule) -> PolicyState:
    """Return the state before the first pull."""
    return PolicyState(rule)


def ask(state: PolicyState, rule: PolicyRule, number: int, indices: NDArray[np.int64]) -> None:
    """Write the next `number` arms to pull, each with those before it outstanding, and mark them."""
    pending = state.samples.arms["pending"].copy()
    shown = pending.view()
    shown.flags.writeable = False
    told = int(state.control["t"][0])
    for index in range(number):
        indices[index] = chosen(state.policy, rule.name, shown, told)
        pending[indices[index]] += 1
    state.samples.arms["pending"] = pending
    state.control["pending"] += number


def tell(
    state: PolicyState, rule: PolicyRule, indices: NDArray[np.int64], rewards: NDArray[np.float64], begin: int
) -> tuple[int, bool]:
    """Take rewards in from `begin` on, up to a decision; if the policy fails at one, none is taken in."""
    control, arms = state.control[0], state.samples.arms
    mark = state.mark(indices[begin:])
    try:
        for slot in range(begin, indices.size):
            index, reward = int(indices[slot]), float(rewards[slot])
            decision = None
            if control["done"] == 0:
                told = int(control["t"])
                decision = observed(state.policy, rule.name, index, reward, arms.size, told)
                state.indices.append(index)
                state.rewards.append(reward)
            arms[index]["told"] += 1
            control["t"] += 1
            if arms[index]["pending"] > 0:
                arms[index]["pending"] -= 1
                control["pending"] -= 1
            if decision is not None:
                estimated(state.policy, rule.name, arms.size)  # refused now, and not when the verdict is written
                control["done"] = INDISTINGUISHABLE if decision == NO_WINNER else IDENTIFIED
                control["best"] = decision
                return slot + 1, True
    except BaseException:
        state.rewind(rule, mark)
        raise
    return indices.size, False


def describe(
    state: PolicyState,
    rule: PolicyRule,
    estimates: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> None:
    """Write the estimate of every arm and the interval around it; take note of which may still be the best."""
    for index, row in enumerate(estimated(state.policy, rule.name, estimates.size)):
        estimates[index], lower[index], upper[index], state.samples.arms[index]["active"] = row
