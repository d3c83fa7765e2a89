"""The identifier of a study: changed by the events of its log and by nothing else.

So every process that has folded the same events holds the same state, bit for bit. Asking is part of the log (which arm
was given out), and what only reads is done on a copy.
"""

from __future__ import annotations

import copy
import struct
from collections.abc import Hashable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bestarm.identification.identifier import Identifier
from bestarm.identification.result import Result
from bestarm.identification.tickets import Arrival, Pull
from bestarm.identification.waiting import MissingPull
from bestarm.problem import Label, Problem

_DOUBLE, _WHOLE = struct.Struct("=d"), struct.Struct("=q")


class Folded(Identifier):
    """An identifier that takes events."""

    def own(self, token: int, holders: Mapping[int, tuple[float, str | None]] | None = None) -> None:
        """Let its pulls bear the token of the study, which all processes know.

        `holders` says of each pull that is outstanding when it was asked for, and by whom.
        """
        self._tickets = self._new_tickets(token)
        self._tickets.holders = {} if holders is None else holders

    @property
    def by_sources(self) -> bool:
        """Whether rewards come with sources."""
        return self._sources is not None

    @property
    def problem(self) -> Problem:
        """The question."""
        return self._problem

    def check_source(self, source: Hashable | None) -> None:
        """Refuse a source that can't be one, or where there are none."""
        self._check_source(source)

    def index_of(self, label: Label) -> int:
        """Return the index of an arm."""
        return self._index[label]

    def choose(self, number: int, source: Hashable | None = None) -> list[Pull]:
        """Return the next pulls, as asked for: the state is as after `ask_again` with each."""
        if self._own is not None or self._state.trees is None:
            return self.ask_pulls(number, source=source)
        # Of the gap family, asking ahead renews estimates, which may change the last bit of a later one.
        pulls = copy.deepcopy(self).ask_pulls(number, source=source)
        for pull in pulls:
            self.ask_again(self._index[pull.arm])
        return pulls

    def ask_again(self, index: int, source: Hashable | None = None) -> Pull:
        """Take in that an arm was given out, for a source if it was named, and return the pull."""
        self._state.samples.arms[index]["pending"] += 1
        self._state.control[0]["pending"] += 1
        return self._issue_ticket(index, source)

    def end_pull(self, number: int, index: int, value: float | None, source: Hashable | None) -> None:
        """Take in the reward of a pull, or (None) that there will be none."""
        self._arrive(Pull(self._problem.labels[index], number), index, Arrival(value, source))

    def end_pulls(self, numbers: list[int], indices: list[int], values: list[float]) -> int | None:
        """Take in many rewards: the same as one by one, without sources, in a third of the time.

        Return the place of the one that led to the decision, if one did.
        """
        was_done = self.done
        before = self.pulls
        used: list[int] = []
        rewards: list[float] = []
        slots: list[int] = []  # of every reward that is used: the one whose arrival made it usable
        for slot, (number, index, value) in enumerate(zip(numbers, indices, values, strict=True)):
            for arrival in self._tickets.arrive(Pull(index, number), Arrival(value)).values():
                slots.append(slot)
                if arrival.value is None:  # its stand-in depends on the rewards before it
                    self._take_logged(np.array(used, np.int64), np.array(rewards))
                    used, rewards = [], []
                    self._use(index, [arrival])
                else:
                    used.append(index)
                    rewards.append(arrival.value)
        self._take_logged(np.array(used, np.int64), np.array(rewards))
        return None if was_done or self._decision is None else slots[self._decision.pulls - before - 1]

    def catch_up(
        self,
        arms: NDArray[np.int64],
        pulls: NDArray[np.int64],
        values: NDArray[np.float64],
        told: NDArray[np.bool_],
    ) -> None:
        """Take in a whole log at once, from the beginning, without sources: the same as event by event.

        `arms` are those of all pulls in order, `pulls` those that have ended, in that order, `values` their rewards,
        and `told` is False where there is none.
        """
        self._note_all_cancelled(arms, pulls, told)
        order = in_order_of_use(arms, pulls)
        index = np.empty(arms.size, np.int64)
        index[pulls] = np.arange(pulls.size)
        ends = index[order]
        used, rewards = arms[order], values[ends]
        begin = 0
        for gap in map(int, np.flatnonzero(~told[ends])):
            self._take_logged(used[begin:gap], rewards[begin:gap])
            self._use(int(used[gap]), [Arrival(None)])
            begin = gap + 1
        self._take_logged(used[begin:], rewards[begin:])
        arrivals = {
            int(pull): Arrival(float(value) if is_told else None)
            for pull, value, is_told in _unused(order, pulls, values, told)
        }
        waiting = np.bincount(arms, minlength=self._problem.size) - np.bincount(used, minlength=self._problem.size)
        self._state.samples.arms["pending"] = waiting
        self._state.control["pending"] = waiting.sum()
        given_up = np.bincount(arms[pulls[~told]], minlength=self._problem.size).tolist()
        self._tickets.restore(arms, pulls, order, arrivals, given_up)

    def _note_all_cancelled(self, arms: NDArray[np.int64], pulls: NDArray[np.int64], told: NDArray[np.bool_]) -> None:
        """Look at every cancelled pull as it ended, as `_note_cancelled` does."""
        groups = [np.arange(pulls.size)] if self._cancel_alarm.of_all else _by_arm(arms[pulls], self._problem.size)
        slot = np.arange(arms.size) if self._cancel_alarm.of_all else _ordinals(arms)
        for index, ends in enumerate(groups):
            gone = ~told[ends]
            if gone.any():
                spans, counts = np.maximum.accumulate(slot[pulls[ends]]) + 1, np.cumsum(gone)
                for count, span in zip(counts[gone].tolist(), spans[gone].tolist(), strict=True):
                    self._cancel_alarm.note(index, count, span)

    def _take_logged(self, indices: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        if indices.size:
            if self._log is not None:
                self._log.extend(indices, values)
            self._take(indices, values)

    def _missing(self, number: int, index: int, rewards: int) -> MissingPull:
        missing = super()._missing(number, index, rewards)
        if number not in self._tickets.holders:
            return missing
        since, worker = self._tickets.holders[number]
        pull = replace(missing.pull, _of=mark_of(missing.pull._of, since))
        return MissingPull(pull, worker, since, rewards)

    def adopt(self, decision: Result) -> None:
        """Take over the decision of the log."""
        self._decision = decision

    @property
    def decision(self) -> Result | None:
        """The bare verdict, without leads and tolerance, which take long to find and follow from the log."""
        return self._decision


def mark_of(token: int, asked: float) -> int:
    """Return what tells a pull from others of its number: of another study, or of an ask that a crash undid."""
    bits: int = _WHOLE.unpack(_DOUBLE.pack(asked))[0]
    return token ^ bits


def in_order_of_use(arms: NDArray[np.int64], pulls: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the pulls whose rewards can be used, in the order in which they are used.

    Rewards of an arm are used in the order of its pulls. So one is used when the last of those up to it comes in: a
    running maximum of the places at which they ended.
    """
    never = pulls.size
    index = np.full(arms.size, never, np.int64)
    index[pulls] = np.arange(pulls.size)
    by_arm = np.argsort(arms, kind="stable")
    offsets = arms[by_arm] * (never + 1)  # so that the running maximum begins anew with each arm
    ready = np.maximum.accumulate(index[by_arm] + offsets) - offsets
    usable = ready < never
    found: NDArray[np.int64] = by_arm[usable][np.argsort(ready[usable], kind="stable")]
    return found


def _by_arm(arms: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    """Return the places of each arm, in order."""
    order = np.argsort(arms, kind="stable")
    return np.split(order, np.cumsum(np.bincount(arms, minlength=size))[:-1])


def _ordinals(arms: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return of each pull how many of its arm were asked for before it."""
    found = np.empty(arms.size, np.int64)
    for indices in _by_arm(arms, int(arms.max(initial=0)) + 1):
        found[indices] = np.arange(indices.size)
    return found


def _unused(
    order: NDArray[np.int64], pulls: NDArray[np.int64], values: NDArray[np.float64], told: NDArray[np.bool_]
) -> zip[tuple[np.int64, np.float64, np.bool_]]:
    """Return what has come in and waits: pull, reward, and whether there is one."""
    waits = ~np.isin(pulls, order, assume_unique=True)
    return zip(pulls[waits], values[waits], told[waits], strict=True)
