"""Ask for pulls with a number each, and take in what comes back of them, in any order, or never."""

from __future__ import annotations

import abc
import math
import threading
from collections.abc import Hashable, Iterable
from typing import Any, Generic, overload

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError, WaitingError
from bestarm.identification.cancelled import CancelAlarm
from bestarm.identification.result import ArmRow
from bestarm.identification.source_tickets import SourceTickets, Turn
from bestarm.identification.sources import BY_LABEL, Sources
from bestarm.identification.tickets import Arrival, Pull, Tickets
from bestarm.identification.waiting import MissingPull, Waiting
from bestarm.phrases import Phrase, Setting
from bestarm.problem import LabelT, Problem, checked_reward


class ByPull(abc.ABC, Generic[LabelT]):
    """The part of an `Identifier` that knows pulls by their numbers; the rest gives it arms and takes rewards."""

    _problem: Problem[LabelT]
    _index: dict[LabelT, int]
    _own: Any
    _state: Any
    _rule: Any
    _sources: Sources | None
    _log: Any
    _tickets: Tickets
    _cancel_alarm: CancelAlarm
    _lock: threading.RLock

    @abc.abstractmethod
    def _choose(self, n: int | None) -> NDArray[np.int64]:
        """Return the indices of the next arms, or refuse to."""

    @abc.abstractmethod
    def _may_ask(self, n: int | None) -> None:
        """Refuse to be asked for n arms."""

    @abc.abstractmethod
    def _estimates(self) -> tuple[ArmRow[LabelT], ...]:
        """Return what is known of each arm."""

    @abc.abstractmethod
    def _estimate_of(self, index: int) -> float:
        """Return the middle of an arm's interval, or its estimate; nan before its first reward."""

    @abc.abstractmethod
    def _tell(self, index: int, value: float, source: Hashable | None, number: int = BY_LABEL) -> None:
        """Take in a reward of an arm."""

    def _new_tickets(self, owner: int | None = None) -> Tickets:
        kind = Tickets if self._sources is None else SourceTickets
        return kind(self._problem.size, owner)

    @overload
    def ask_pulls(self, n: None = None, *, source: Hashable | None = None) -> Pull[LabelT]: ...
    @overload
    def ask_pulls(self, n: int, *, source: Hashable | None = None) -> list[Pull[LabelT]]: ...
    def ask_pulls(self, n: int | None = None, *, source: Hashable | None = None) -> Pull[LabelT] | list[Pull[LabelT]]:
        """Return the next pull to make, or a list of n of them: like `ask`, with a number each.

        Tell what comes back by `tell(pull, reward)`, in any order: rewards of an arm are used in the order of its
        pulls, and one that is early waits for those before it (`waiting`). What never comes is to be cancelled. An arm
        that owes many rewards and hardly answers is passed over while others answer, and so is one of which 2,000
        rewards wait for a missing pull; if that is so of every arm left, it is a `WaitingError`.

        `source` names who will give these rewards, for contamination="sources" and only there. A reward also waits for
        the earlier pulls of its source. A pull that names none may be of any: all later rewards wait for it.
        """
        with self._lock:
            if source is not None:
                self._check_source(source)
            self._may_ask(n)
            if self._tickets.is_any_far_ahead():
                self._refuse_to_run_ahead()
            pulls = [self._issue(index, source) for index in self._choose(n).tolist()]
        return pulls[0] if n is None else pulls

    def _issue(self, index: int, source: Hashable | None = None) -> Pull[LabelT]:
        tickets = self._tickets
        if tickets.is_silent(index) or tickets.is_far_ahead(index):
            others = [i for i in self._active() if not (tickets.is_silent(i) or tickets.is_far_ahead(i))]
            if not others and tickets.is_far_ahead(index):
                others = [i for i in self._active() if not tickets.is_far_ahead(i)]
            if others:
                arms = self._state.samples.arms
                other = min(others, key=lambda i: int(arms["told"][i] + arms["pending"][i]))
                self._forgo(index)
                arms[other]["pending"] += 1
                self._state.control[0]["pending"] += 1
                index = other
        return self._issue_ticket(index, source)

    def _issue_ticket(self, index: int, source: Hashable | None) -> Pull[LabelT]:
        label = self._problem.labels[index]
        if isinstance(self._tickets, SourceTickets):
            return self._tickets.issue_named(index, label, source)
        return self._tickets.issue(index, label)

    def _active(self) -> list[int]:
        if self._own:
            self._estimates()  # which says the active arms
        found: list[int] = np.flatnonzero(self._state.samples.arms["active"]).tolist()
        return found

    def _refuse_to_run_ahead(self) -> None:
        if all(self._tickets.is_far_ahead(index) for index in self._active()):
            raise WaitingError(self._waiting())

    def cancel(self, pull: Pull[LabelT]) -> None:
        """Give up a pull whose reward will never come: it counts as a reward that was replaced.

        So it is part of what epsilon allows for, under the same assumption on what is replaced; `result.cancelled`
        says how many there were. With epsilon = 0 nothing may be replaced, and no pull be cancelled. With
        contamination="sources" its source counts as one that may be dishonest; where the pull does not name it, as a
        further source of its own. More than epsilon allows for are an alarm.
        """
        if not isinstance(pull, Pull):
            raise InputError("pull", "be what ask_pulls gave", pull, "finder.cancel(pull)")
        if self._problem.epsilon == 0.0:
            raise InputError("epsilon", "be above 0 to cancel pulls", 0.0, "what never comes counts as replaced")
        with self._lock:
            self._tickets.check(pull)
            self._arrive(pull, self._index[pull.arm], Arrival(None))

    def _tell_pull(self, pull: Pull[LabelT], reward: float, source: Hashable | None) -> None:
        value = checked_reward(self._problem, reward)
        with self._lock:
            self._tickets.check(pull)
            if isinstance(self._tickets, SourceTickets):
                source = self._tickets.source_of(pull, source)
            if self._sources is not None or source is not None:
                self._check_source(source)
            self._arrive(pull, self._index[pull.arm], Arrival(value, source))

    def _arrive(self, pull: Pull[LabelT], index: int, arrival: Arrival) -> None:
        """Take in what came back of a pull, and what waited for it; nothing of it if a policy fails at one."""
        if isinstance(self._tickets, SourceTickets):
            self._take_turns(self._tickets.take_turns(pull, arrival))
            return
        noted = self._cancel_alarm.mark()
        mark = None if self._own is None else self._state.mark([index])
        by_label = self._told_by_label(index) if arrival.value is None else 0
        ready = self._tickets.arrive(pull, arrival)
        if arrival.value is None:
            self._note_cancelled(index, by_label)
        try:
            self._use(index, ready.values())
        except BaseException:
            if mark is not None:
                self._tickets.take_back(pull, index, ready)
                self._cancel_alarm.rewind(noted)
                self._state.rewind(self._rule, mark)
            raise

    def _told_by_label(self, index: int) -> int:
        """Return how many rewards of an arm, or of all, came without a pull."""
        told = self._state.samples.arms["told"]
        arms = range(self._problem.size) if self._cancel_alarm.of_all else [index]
        return max(sum(int(told[arm]) - self._tickets.used_of(arm) for arm in arms), 0)

    def _note_cancelled(self, index: int, by_label: int) -> None:
        """Compare the pulls cancelled with those asked for, of the arm or of all, up to the latest that has ended."""
        tickets = self._tickets
        if self._cancel_alarm.of_all:
            self._cancel_alarm.note(index, tickets.cancelled, tickets.span() + by_label)
        else:
            self._cancel_alarm.note(index, tickets.cancelled_of[index], tickets.span_of(index) + by_label)

    def _use(self, index: int, arrivals: Iterable[Arrival]) -> None:
        for arrival in arrivals:
            value = self._stand_in(index) if arrival.value is None else arrival.value
            self._tell(index, value, None)

    def _take_turns(self, turns: Iterable[Turn]) -> None:
        assert self._sources is not None
        assert isinstance(self._tickets, SourceTickets)
        for turn in turns:
            if turn.value is None:
                self._forgo(turn.arm)  # nobody has spoken
                self._sources.cancel(turn.arm, turn.source, turn.number)
                number = self._sources.number_with(*self._tickets.under_way())
                self._cancel_alarm.note(turn.arm, self._sources.cancelled, number)
            else:
                self._tell(turn.arm, turn.value, turn.source, turn.number)

    def _horizon(self, index: int) -> float:
        """Return the number of the first pull of an arm that has not been used; infinite if there is none."""
        assert isinstance(self._tickets, SourceTickets)
        return self._tickets.horizon(index)

    def _stand_in(self, index: int) -> float:
        """Return a value for a reward that never came: any would do, but a study must find the same one again."""
        estimate = self._estimate_of(index)
        low, high = self._problem.bounds or (-math.inf, math.inf)
        if math.isnan(estimate):
            return 0.5 * (low + high) if self._problem.bounds is not None else 0.0
        return min(max(estimate, low), high)

    def _forgo(self, index: int) -> None:
        """Take note that a reward that was asked for has come and is not used."""
        arm, control = self._state.samples.arms[index], self._state.control[0]
        if arm["pending"] > 0:
            arm["pending"] -= 1
            control["pending"] -= 1

    def _check_source(self, source: Hashable | None) -> None:
        if self._sources is None:
            raise InputError(
                "source",
                Phrase("come with {}", Setting("contamination", "sources")),
                source,
                "leave it out, or say that sources may be dishonest",
            )
        if source is None or source != source or not isinstance(source, Hashable):
            raise InputError("source", "be given, as a label that can be looked up", source, "such as a voter's id")

    @property
    def waiting(self) -> Waiting:
        """The rewards that have come in and wait for pulls that are still out: how many, and for which."""
        with self._lock:
            return self._waiting()

    def _waiting(self) -> Waiting:
        rewards, missing = self._tickets.missing()
        return Waiting(rewards, tuple(self._missing(number, *found) for number, found in missing.items()))

    def _missing(self, number: int, index: int, rewards: int) -> MissingPull:
        return MissingPull(self._tickets.pull(number, self._problem.labels[index]), None, None, rewards)
