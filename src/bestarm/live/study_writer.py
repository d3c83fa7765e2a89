"""What changes a study: asking, telling, cancelling, renewing, archiving."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import overload

from bestarm.errors import ArchivedError, ConflictError, DecidedError, InputError, LateError, WaitingError
from bestarm.identification.ledger import Pull
from bestarm.live.arguments import checked_pulls, checked_values, checked_worker, source_of, source_texts
from bestarm.live.events import CANCEL, RENEW, Event
from bestarm.live.replica import Replica
from bestarm.live.settings import source_text
from bestarm.live.study_log import Change
from bestarm.live.study_view import StudyView
from bestarm.problem import LabelT
from bestarm.validation import number


class StudyWriter(StudyView[LabelT]):
    """The part of a `Study` that asks and tells."""

    @overload
    def ask_pulls(
        self, n: None = None, *, worker: str | None = None, source: Hashable | None = None
    ) -> Pull[LabelT]: ...
    @overload
    def ask_pulls(self, n: int, *, worker: str | None = None, source: Hashable | None = None) -> list[Pull[LabelT]]: ...
    def ask_pulls(
        self, n: int | None = None, *, worker: str | None = None, source: Hashable | None = None
    ) -> Pull[LabelT] | list[Pull[LabelT]]:
        """Return the next pull to make, or a list of n of them.

        A worker that gives its name first gets the pulls that it was given before, for the same source, and has not
        told or cancelled. So it can ask again if it does not know whether it was heard. A worker that makes several
        calls at a time needs a name for each. `source` is who will give the rewards (see `Identifier`).
        """
        if n is not None and not (number(n) >= 1 and number(n) % 1 == 0):
            raise InputError("n", "be a whole number >= 1", n, "leave it out to get one pull")
        checked_worker(worker)
        wanted = 1 if n is None else int(n)
        numbers: list[int] = []
        named = source_text(source)

        def change(replica: Replica, now: float) -> list[Event]:
            self._require_open(replica)
            if replica.finder.decision is not None:
                raise DecidedError(replica.finder.decision.status, "study")
            numbers[:] = replica.held_by(worker, named, now)[:wanted] if worker is not None else []
            missing = wanted - len(numbers)
            asks = replica.choose(missing, worker, named, now) if missing else []
            numbers.extend(ask.pull for ask in asks if ask.pull is not None)
            return asks

        with self._log.alone() as log:
            if source is not None:
                log.known().finder.check_source(source)
            self._ask(change)
            assert log.replica is not None
            pulls = [log.replica.pull(index) for index in numbers]
        return pulls[0] if n is None else pulls

    def _ask(self, change: Change) -> None:
        """Write asks; if every arm waits for missing pulls, first end those whose lease has expired."""
        log = self._log
        try:
            log.write(change, synced=False)
        except WaitingError as error:
            before = log.known().expired
            log.write(lambda replica, now: [])
            if log.known().expired == before:
                raise WaitingError(error.waiting, math.isfinite(self.lease)) from None
            log.write(change, synced=False)

    def tell(self, pull: Pull[LabelT], reward: float, source: Hashable | None = None) -> None:
        """Record the reward of a pull; when this returns, it is on the disk. An invalid reward changes nothing.

        `source` is who or what gave it, for contamination="sources" only: a string, a number or a bool. Leave it out
        if the pull was asked for this source.
        """
        self.tell_many([pull], [reward], None if source is None else [source])

    def tell_many(
        self, pulls: Sequence[Pull[LabelT]], rewards: Sequence[float], sources: Sequence[Hashable] | None = None
    ) -> None:
        """Record the rewards of many pulls, in order; reject all if any is invalid."""
        pulls = checked_pulls(pulls, "a reward without a pull can't be told twice safely")
        with self._log.alone() as log:
            finder = log.known().finder
            values = checked_values(finder, pulls, rewards)
            texts = source_texts(finder, pulls, sources)

            def change(replica: Replica, now: float) -> list[Event]:
                fresh: dict[int, tuple[float, str | None]] = {}
                for pull, value, said in zip(pulls, values, texts, strict=True):
                    index = replica.find(pull)
                    reward = value, source_of(replica, index, said)
                    if fresh.get(index, reward) != reward:
                        raise ConflictError(
                            "reward", "be the same when a pull is told again", value, "nothing was recorded"
                        )
                    if not replica.was_told(index, *reward):
                        fresh[index] = reward
                if not fresh:
                    return []
                self._require_open(replica)
                new_values, new_sources = zip(*fresh.values(), strict=True)
                return replica.tell(list(fresh), new_values, new_sources, now)

            log.write(change)

    def cancel(self, pull: Pull[LabelT]) -> None:
        """Give up a pull whose reward will never come: it counts as a fake reward (see `Identifier`)."""
        self.cancel_many([pull])

    def cancel_many(self, pulls: Sequence[Pull[LabelT]]) -> None:
        """Give up many pulls; reject all if any is invalid."""
        pulls = checked_pulls(pulls, "study.cancel(pull)")
        if self.epsilon == 0.0:
            raise InputError("epsilon", "be above 0 to cancel pulls", 0.0, "what never comes counts as replaced")

        def change(replica: Replica, now: float) -> list[Event]:
            numbers = list(dict.fromkeys(replica.find(pull) for pull in pulls))
            left = [index for index in numbers if not replica.was_cancelled(index)]
            if left:
                self._require_open(replica)
            return replica.mark(CANCEL, left, now)

        with self._log.alone() as log:
            log.write(change)

    def renew(self, pull: Pull[LabelT]) -> None:
        """Start the lease of an outstanding pull again, for a call that takes longer."""
        self.renew_many([pull])

    def renew_many(self, pulls: Sequence[Pull[LabelT]]) -> None:
        """Start the leases of many pulls again; reject all if any is invalid or has ended."""
        self._renew(checked_pulls(pulls, "study.renew(pull)"), skip_ended=False)

    def _renew(self, pulls: list[Pull[LabelT]], *, skip_ended: bool) -> None:
        def change(replica: Replica, now: float) -> list[Event]:
            numbers = list(dict.fromkeys(replica.find(pull) for pull in pulls))
            left = [index for index in numbers if replica.is_outstanding(index)]
            if not skip_ended and len(left) < len(numbers):
                gone = next(index for index in numbers if index not in left)
                raise LateError("pull", "be outstanding", replica.pull(gone), "it has ended, and has no lease any more")
            if math.isinf(replica.settings.lease) or not left:
                return []
            self._require_open(replica)
            return replica.mark(RENEW, left, now)

        with self._log.alone() as log:
            log.write(change, synced=False)

    def archive(self) -> None:
        """Close the study for good: it can still be read and exported. Archiving it again is not an error."""
        with self._log.alone() as log:
            if not log.current().archived:
                log.write(lambda replica, now: replica.archive(now))

    def _require_open(self, replica: Replica) -> None:
        if replica.archived:
            raise ArchivedError(self.name)
