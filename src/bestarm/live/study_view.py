"""What is read of a study: its question, how it stands, and its log."""

from __future__ import annotations

import abc
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Generic

from bestarm.errors import InputError
from bestarm.identification.forecast import Forecast
from bestarm.identification.identifier import Identifier
from bestarm.identification.result import ArmRow, Result
from bestarm.identification.robustness import Sensitivity
from bestarm.identification.waiting import Waiting
from bestarm.live.events import Event, LoggedEvent, logged
from bestarm.live.export import lines_of
from bestarm.live.replica import Replica
from bestarm.live.settings import Settings
from bestarm.live.store import Store, StudyRow
from bestarm.problem import LabelT
from bestarm.validation import Seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class StudyView(abc.ABC, Generic[LabelT]):
    """The part of a `Study` that only reads; the rest keeps it in step with the log."""

    _name: str
    _settings: Settings
    _store: Store
    _row: StudyRow
    _replica: Replica | None

    @abc.abstractmethod
    def _mine(self) -> AbstractContextManager[None]:
        """Have the object for one thread, with connections of this process."""

    @abc.abstractmethod
    def _current(self) -> Replica:
        """Return the state after all events that are in the log now."""

    @property
    def name(self) -> str:
        """The name of the study."""
        return self._name

    @property
    def labels(self) -> tuple[LabelT, ...]:
        """The arms, in order."""
        return tuple(self._settings.arms)

    @property
    def method(self) -> str:
        """The name of the method, or the import path of one of your own."""
        return self._settings.method

    @property
    def delta(self) -> float:
        """The accepted probability of a wrong answer."""
        return float(self._settings.question["delta"])

    @property
    def epsilon(self) -> float:
        """How much may have been replaced."""
        return float(self._settings.question["epsilon"])

    @property
    def created(self) -> datetime:
        """When the study was made, by the clock of its database."""
        return datetime.fromtimestamp(self._row.created, UTC)

    @property
    def lease(self) -> float:
        """Seconds after which a pull that was neither told nor cancelled counts as cancelled."""
        return self._settings.lease

    @property
    def done(self) -> bool:
        """Whether the decision has been made, by whomever."""
        with self._mine():
            if self._replica is not None and self._replica.finder.done:  # for good
                return True
            return self._current().finder.done

    @property
    def archived(self) -> bool:
        """Whether the study is closed."""
        with self._mine():
            return self._current().archived

    @property
    def pulls(self) -> int:
        """Rewards used so far, stand-ins of cancelled ones included, and those after the decision."""
        with self._mine():
            return self._current().finder.pulls

    @property
    def pending(self) -> int:
        """Pulls asked for and neither told, cancelled nor expired."""
        with self._mine():
            return self._current().outstanding

    @property
    def waiting(self) -> Waiting:
        """Rewards that have come in and wait for pulls that are still out: how many, for which, whose, since when."""
        with self._mine():
            return self._current().finder.waiting

    @property
    def sequence(self) -> int:
        """The sequence number of the last event."""
        with self._mine():
            return self._current().seq

    @property
    def decided_at(self) -> int | None:
        """The sequence number of the event that led to the decision; None before."""
        with self._mine():
            return self._current().decided_at

    @property
    def expired(self) -> int:
        """Pulls that ended by their lease; they are among `result.cancelled`."""
        with self._mine():
            return self._current().expired

    def snapshot(self) -> Identifier[LabelT]:
        """Return an identifier with the present state, which is yours: nothing that is told to it is recorded."""
        with self._mine():
            return self._current().snapshot()

    @property
    def result(self) -> Result[LabelT]:
        """The verdict; before the decision, one with the status "undecided"."""
        return self.snapshot().result

    @property
    def estimates(self) -> tuple[ArmRow[LabelT], ...]:
        """What is known of each arm now: label, pulls, estimate, lower, upper, active."""
        return self.snapshot().estimates

    def sensitivity(self, epsilons: Sequence[float] | None = None) -> tuple[Sensitivity, ...]:
        """Return, for each epsilon of a grid, which arms the rewards so far leave in question (see `Identifier`)."""
        return self.snapshot().sensitivity(epsilons)

    def forecast(self, seed: Seed = 0) -> Forecast:
        """Return how many more rewards it takes to decide, if things go on like this (see `Identifier.forecast`)."""
        return self.snapshot().forecast(seed)

    def plot(self, axes: Axes | None = None) -> Figure:
        """Return a figure of how things stand (see `Identifier.plot`)."""
        return self.snapshot().plot(axes)

    def events(self) -> list[LoggedEvent]:
        """Return the whole log, each event with the label of its arm and the id of its pull."""
        return list(logged(self._rows(), self._settings.arms, self._row.token))

    def _rows(self) -> list[Event]:
        with self._mine():
            return self._store.after(self._row.id, 0)

    def lines(self) -> Iterator[str]:
        """Go through the lines of an export."""
        return lines_of(self._row, self._rows())

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the whole log to a file, from which `bestarm study replay` finds the decision anew."""
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in self.lines())
        except OSError as error:
            raise InputError("path", "be a file that can be written", str(path), str(error)) from None
