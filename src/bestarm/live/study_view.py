"""What can be read from a study: its question, its state, and its log."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Generic

from bestarm.errors import InputError, NotFoundError
from bestarm.identification.forecast import Forecast
from bestarm.identification.identifier import Identifier
from bestarm.identification.ledger import Pull
from bestarm.identification.result import ArmRow, Result
from bestarm.identification.robustness import Sensitivity
from bestarm.identification.waiting import Waiting
from bestarm.live.arguments import pull_parts
from bestarm.live.events import LoggedEvent, logged
from bestarm.live.export import lines_of
from bestarm.live.study_log import StudyLog
from bestarm.problem import LabelT
from bestarm.validation import Seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class StudyView(Generic[LabelT]):
    """The part of a `Study` that reads."""

    _log: StudyLog

    @property
    def name(self) -> str:
        """The name of the study."""
        return self._log.row.name

    @property
    def labels(self) -> tuple[LabelT, ...]:
        """The arms, in order."""
        return tuple(self._log.settings.arms)

    @property
    def method(self) -> str:
        """The name of the method, or the import path of one of your own."""
        return self._log.settings.method

    @property
    def delta(self) -> float:
        """The accepted probability of a wrong answer."""
        return float(self._log.settings.question["delta"])

    @property
    def epsilon(self) -> float:
        """The share of rewards, or of sources, that may be fake."""
        return float(self._log.settings.question["epsilon"])

    @property
    def created(self) -> datetime:
        """When the study was created, by the clock of its database."""
        return datetime.fromtimestamp(self._log.row.created, UTC)

    @property
    def lease(self) -> float:
        """Seconds after which a pull that was neither told nor cancelled counts as cancelled."""
        return self._log.settings.lease

    @property
    def done(self) -> bool:
        """Whether the decision has been made, by any process."""
        with self._log.alone() as log:
            if log.replica is not None and log.replica.finder.done:  # a decision is final
                return True
            return log.current().finder.done

    @property
    def archived(self) -> bool:
        """Whether the study is archived."""
        with self._log.alone() as log:
            return log.current().archived

    @property
    def pulls(self) -> int:
        """Rewards used so far, including stand-ins for cancelled pulls, and rewards after the decision."""
        with self._log.alone() as log:
            return log.current().finder.pulls

    @property
    def pending(self) -> int:
        """Outstanding pulls: asked for, and neither told, cancelled nor expired."""
        with self._log.alone() as log:
            return log.current().outstanding

    @property
    def waiting(self) -> Waiting:
        """Rewards that wait for outstanding pulls: how many, for which pulls, asked for by whom, and when."""
        with self._log.alone() as log:
            return log.current().finder.waiting

    @property
    def sequence(self) -> int:
        """The sequence number of the last event."""
        with self._log.alone() as log:
            return log.current().seq

    @property
    def decided_at(self) -> int | None:
        """The sequence number of the event that led to the decision; None before."""
        with self._log.alone() as log:
            return log.current().decided_at

    @property
    def expired(self) -> int:
        """Pulls that ended by their lease; they are among `result.cancelled`."""
        with self._log.alone() as log:
            return log.current().expired

    def snapshot(self) -> Identifier[LabelT]:
        """Return an identifier with the present state. It is a copy: what it is told is not recorded."""
        with self._log.alone() as log:
            return log.current().snapshot()

    @property
    def result(self) -> Result[LabelT]:
        """The verdict; before the decision, one with the status "undecided"."""
        return self.snapshot().result

    @property
    def estimates(self) -> tuple[ArmRow[LabelT], ...]:
        """One row per arm: label, pulls, estimate, lower, upper, active."""
        return self.snapshot().estimates

    def sensitivity(self, epsilons: Sequence[float] | None = None) -> tuple[Sensitivity, ...]:
        """Return, for each epsilon of a grid, which arms the rewards so far leave in question (see `Identifier`)."""
        return self.snapshot().sensitivity(epsilons)

    def forecast(self, seed: Seed = 0) -> Forecast:
        """Return how many more rewards the decision takes, if things go on like this (see `Identifier.forecast`)."""
        return self.snapshot().forecast(seed)

    def plot(self, axes: Axes | None = None) -> Figure:
        """Return a figure of the present state (see `Identifier.plot`)."""
        return self.snapshot().plot(axes)

    def pull(self, which: str | int) -> Pull[LabelT]:
        """Return a pull by its id: for a worker that has kept nothing else of it.

        Its number works too while it is unambiguous. A server that crashes may lose asks that were not on its disk, and
        give out their numbers again. So the number of an outstanding pull is rejected if there was a crash (for SQLite:
        a start of the machine) after the last tell or cancel before it was asked for.
        """
        index, mark = pull_parts(which)
        with self._log.alone() as log:
            replica = log.known()
            if index >= replica.pulls:
                replica = log.current()
            fix = "bestarm study pending lists those that are outstanding"
            if mark is not None and not replica.has_mark(index, mark):
                fix = f"if the server has crashed since, it is lost; {fix}"
                raise NotFoundError("pull", "be the id of a pull of this study", which, fix)
            if not 0 <= index < replica.pulls:
                raise NotFoundError("pull", f"be a number from 0, below the {replica.pulls} pulls so far", which, fix)
            if mark is None and replica.is_outstanding(index) and log.store.may_be_doubled(log.row, index):
                rule = "be given by its id, as the database was interrupted and may have given out its number twice"
                raise InputError("pull", rule, which, fix)
            return replica.pull(index)

    def outstanding(self) -> list[tuple[Pull[LabelT], str | None, float]]:
        """Return the outstanding pulls, each with the worker that asked for it, and when."""
        with self._log.alone() as log:
            return log.current().outstanding_pulls()

    def events(self) -> list[LoggedEvent]:
        """Return the whole log, each event with the label of its arm and the id of its pull."""
        with self._log.alone() as log:
            return list(logged(log.events(), log.settings.arms, log.row.token))

    def lines(self) -> Iterator[str]:
        """Go through the lines of an export."""
        with self._log.alone() as log:
            events = log.events()
        return lines_of(self._log.row, events)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the whole log to a file, from which `bestarm study replay` derives the decision again."""
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in self.lines())
        except OSError as error:
            raise InputError("path", "be a file that can be written", str(path), str(error)) from None
