"""The interface between an `Identifier` and the method that it runs."""

from __future__ import annotations

import abc
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import default
from bestarm.errors import InputError
from bestarm.identification.cancelled import CancelAlarm
from bestarm.identification.forecast import Forecast
from bestarm.identification.ledger import Cancel, Ledger
from bestarm.identification.robustness import Standing, ToldRewards
from bestarm.identification.sources import BY_LABEL
from bestarm.phrases import Phrase, Setting
from bestarm.problem import Problem
from bestarm.validation import Seed


class Row(NamedTuple):
    """The state of one arm."""

    pulls: int
    estimate: float
    lower: float
    upper: float
    active: bool


class EngineReading(NamedTuple):
    """The state of an engine at one moment.

    Attributes
    ----------
    status : int
        As in `result.STATUSES`: 0 undecided, 1 identified, 2 indistinguishable.
    best : int
        The arm that is named; -1 if none is.
    limit : int
        Why no arm is named, as in `result.LIMITS`.
    pulls, cancelled : int
        Rewards used, and pulls cancelled.
    rows : tuple of Row
        The state of each arm.
    leader : int or None
        The arm that leads; None before the first reward.
    alarms : tuple of str
        Sentences on rewards that contradict the assumptions.
    standing : Standing or None
        The leads and the p-value of the leader, if they have to be read at the same moment.
    """

    status: int
    best: int
    limit: int
    pulls: int
    cancelled: int
    rows: tuple[Row, ...]
    leader: int | None
    alarms: tuple[str, ...]
    standing: Standing | None = None


class Decision(NamedTuple):
    """The facts of a decision that `readouts` needs: rewards used, leader, winner, arms left, and the limit."""

    pulls: int
    leader: int | None
    best: int | None
    left: list[int]
    limit: str | None


class Engine(abc.ABC):
    """Choose arms, take in rewards and decide.

    Arms are indices here, and everything was validated by the caller. A subclass keeps two arrays of records, `control`
    (of length 1, with the fields t, pending, best, done, limit) and `arms` (told, pending, active).

    Attributes
    ----------
    decided : EngineReading or None
        The reading at the moment of the decision; None before.
    """

    by_source: ClassVar[bool] = False  # whether a reward comes with its source

    def __init__(self, name: str, problem: Problem, options: Mapping[str, Any], ledger: Ledger) -> None:
        self.name, self.problem, self.options, self.ledger = name, problem, options, ledger
        self.decided: EngineReading | None = None
        self._cancel_alarm = CancelAlarm(problem, options)

    @property
    @abc.abstractmethod
    def control(self) -> NDArray[np.void]:
        """The control record."""

    @property
    @abc.abstractmethod
    def arms(self) -> NDArray[np.void]:
        """One record per arm."""

    @abc.abstractmethod
    def tag(self) -> str:
        """Return a tag of the layout of the records, which a pickle must share."""

    def warning(self) -> str | None:
        """Return a warning to show before the first pull, if there is one."""
        return None

    @property
    def pulls(self) -> int:
        """Rewards used so far."""
        return int(self.control["t"][0])

    @property
    def pending(self) -> int:
        """Pulls asked for and not used yet."""
        return int(self.control["pending"][0])

    # ------------------------------------------------------------------------------------------------------- asking

    @abc.abstractmethod
    def ask(self, number: int) -> NDArray[np.int64]:
        """Return the next arms, each chosen with those before it pending, and count them as pending.

        Of a single arm it is an array that the next call uses again.
        """

    def ask_unchanged(self, number: int) -> NDArray[np.int64]:
        """Return the next arms as `ask` does, and change nothing but what `assign` changes.

        So every process that replays the asks of a log has the same state, whoever chose the arms.
        """
        return self.ask(number)

    def assign(self, arms: NDArray[np.int64]) -> None:
        """Count arms as pending that were chosen elsewhere."""
        np.add.at(self.arms["pending"], arms, 1)
        self.control["pending"] += arms.size

    def move(self, asked: int, other: int) -> None:
        """Let another arm be pulled in place of one that was asked for."""
        self.release(asked)
        self.arms[other]["pending"] += 1
        self.control[0]["pending"] += 1

    def release(self, index: int) -> None:
        """Record that a reward of an arm that was asked for will not be used."""
        arm, control = self.arms[index], self.control[0]
        if arm["pending"] > 0:
            arm["pending"] -= 1
            control["pending"] -= 1

    def active(self) -> list[int]:
        """Return the arms that may still be the best."""
        found: list[int] = np.flatnonzero(self.arms["active"]).tolist()
        return found

    # ------------------------------------------------------------------------------------------------------ rewards

    @abc.abstractmethod
    def _take(self, indices: NDArray[np.int64], values: NDArray[np.float64]) -> int | None:
        """Take rewards in, in order; return which of them led to the decision, if one did."""

    @abc.abstractmethod
    def observe(self, index: int, value: float, source: Hashable | None = None, number: int = BY_LABEL) -> None:
        """Take one reward in, with its source and the number of its pull where they are known."""

    def observe_many(
        self, indices: NDArray[np.int64], values: NDArray[np.float64], sources: Sequence[Hashable] | None = None
    ) -> int | None:
        """Take rewards in, in order; return which of them led to the decision, if one did."""
        return self._take(indices, values)

    def check_source(self, source: Hashable | None) -> None:
        """Raise an error for an unexpected source, or for a missing one."""
        fix = "leave it out, or say that sources may be dishonest"
        raise InputError(
            "source", Phrase("come with {}", Setting("contamination", default("log with sources"))), source, fix
        )

    def checked_sources(self, sources: Sequence[Hashable] | None, number: int) -> list[Hashable] | None:
        """Return the sources of some rewards, one for each, or raise an error; None without sources."""
        if sources is None and not self.by_source:
            return None
        given: list[Hashable] = [None] * number if sources is None else list(sources)
        if len(given) != number:
            fix = "give one source for each reward"
            raise InputError("sources", f"be as many as arms ({number})", len(given), fix)
        for source in given:
            self.check_source(source)
        return given

    def use(self, numbers: Sequence[int] | NDArray[np.int64], cancel: Cancel | None, by_label: int = 0) -> int | None:
        """Take in the rewards of pulls whose turn has come; return which of them led to the decision, if one did.

        A cancelled pull counts as a reward that was replaced: a stand-in takes its place. `cancel` is one that has just
        ended; `by_label` rewards were told without a pull before (see `told_by_label`).
        """
        if cancel is not None:
            self._note_cancelled(cancel, by_label)
        was_decided, ledger = self.decided is not None, self.ledger
        if len(numbers) == 1:
            self._use_one(ledger.arms[numbers[0]], ledger.values[numbers[0]])
            return 0 if self.decided is not None and not was_decided else None
        if len(numbers) == 0:
            return None
        arms, values = np.frombuffer(ledger.arms, np.int64)[numbers], np.frombuffer(ledger.values)[numbers]
        begin, deciding = 0, None
        for gap in np.flatnonzero(np.isnan(values)).tolist():
            found = self.observe_many(arms[begin:gap], values[begin:gap])
            deciding = deciding if found is None else begin + found
            self._use_one(int(arms[gap]), math.nan)
            if deciding is None and self.decided is not None and not was_decided:
                deciding = gap
            begin = gap + 1
        found = self.observe_many(arms[begin:], values[begin:])
        return deciding if found is None else begin + found

    def _use_one(self, index: int, value: float) -> None:
        self.observe(index, self._stand_in(index) if value != value else value)

    def _stand_in(self, index: int) -> float:
        """Return a value for a reward that never came: any would do, but a replay must get the same one."""
        estimate = self._estimate_of(index)
        low, high = self.problem.bounds or (-math.inf, math.inf)
        if math.isnan(estimate):
            return 0.5 * (low + high) if self.problem.bounds is not None else 0.0
        return min(max(estimate, low), high)

    def _estimate_of(self, index: int) -> float:
        return self.rows()[index].estimate

    def told_by_label(self, index: int) -> int:
        """Return how many rewards of an arm, or of all where they are counted together, came without a pull."""
        told, together = self.arms["told"], self._cancel_alarm.of_all
        arms = range(self.problem.size) if together else [index]
        return max(sum(int(told[arm]) - self.ledger.used_of(arm) for arm in arms), 0)

    def _note_cancelled(self, cancel: Cancel, by_label: int) -> None:
        """Compare the pulls cancelled with those asked for, of an arm or of all, up to the latest that has ended.

        `by_label` rewards were told without a pull before.
        """
        if self._cancel_alarm.of_all:
            self._cancel_alarm.note(cancel.arm, cancel.cancelled_of_all, cancel.span_of_all + by_label)
        else:
            self._cancel_alarm.note(cancel.arm, cancel.cancelled, cancel.span + by_label)

    def mark(self, index: int) -> Any:
        """Return a mark for `rewind` to undo rewards of an arm; None if taking in a reward can't fail."""
        return None

    def rewind(self, mark: Any) -> None:
        """Go back to a mark."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------------ reading

    @abc.abstractmethod
    def rows(self) -> tuple[Row, ...]:
        """Return the state of each arm."""

    def read(self) -> EngineReading:
        """Return the present state."""
        rows, control = self.rows(), self.control[0]
        best, pulls = int(control["best"]), int(control["t"])
        leader = best if best >= 0 else self._leader(rows) if pulls > 0 else None
        return EngineReading(
            int(control["done"]),
            best,
            int(control["limit"]),
            pulls,
            self.ledger.cancelled,
            rows,
            leader,
            (*self._alarms(), *self._cancel_alarm.sentences()),
        )

    def _leader(self, rows: Sequence[Row]) -> int:
        """Return the arm with the highest estimate of those left."""
        return self._highest(rows)[0]

    def _highest(self, rows: Sequence[Row]) -> list[int]:
        left = [index for index, row in enumerate(rows) if row.active] or list(range(len(rows)))
        estimates = [-math.inf if math.isnan(rows[index].estimate) else rows[index].estimate for index in left]
        highest = max(estimates)
        return [index for index, estimate in zip(left, estimates, strict=True) if estimate == highest]

    def _alarms(self) -> tuple[str, ...]:
        """Return a sentence for each arm whose rewards contradict the assumptions."""
        return ()

    def standing(self, leader: int, pulls: int) -> Standing | None:
        """Return how an arm stands against the others after the first rewards; None if the method proves nothing."""
        return None

    def readouts(self, decision: Decision) -> dict[str, Any]:
        """Return the fields of a `Result` that take long to compute and never change after a decision."""
        return {}

    def past(self, pulls: int) -> ToldRewards | None:
        """Return the first rewards, for a picture of the evidence over time; None if there is none."""
        return None

    def rewards(self) -> ToldRewards:
        """Return a copy of all rewards told, or raise an error if they are not kept."""
        raise InputError("method", "be certified", self.name, "only its evidence can be weighed at another epsilon")

    def check_forecast(self) -> None:  # noqa: B027 - most can make one
        """Raise an error if no forecast can be made."""

    def forecast(self, seed: Seed) -> Forecast:
        """Return how many more rewards a decision takes; this overwrites the engine, so call it on a copy."""
        raise NotImplementedError
