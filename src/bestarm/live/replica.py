"""One process's copy of a study: all that follows from the events of its log up to a sequence number."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import numpy as np

from bestarm.errors import ConflictError, LateError, NotFoundError
from bestarm.identification.identifier import Identifier
from bestarm.identification.ledger import CANCELLED, EXPIRED, OUT, TOLD, Batch, Pull
from bestarm.live.events import ARCHIVE, ASK, CANCEL, DECIDE, EXPIRE, RENEW, TELL, Columns, Event, time_bits
from bestarm.live.settings import Settings, from_note, read_source, source_text, to_note

_FATES = {TELL: TOLD, CANCEL: CANCELLED, EXPIRE: EXPIRED}


class Replica:
    """The state of a study after its first `seq` events.

    Every method that changes it takes events that are in the log, or about to be: if those can't be written, it has to
    be thrown away and folded anew.
    """

    def __init__(self, settings: Settings, token: int) -> None:
        self.settings = settings
        self.seq = 0
        self.whole = True  # False: a method of the user's own has failed at an event, and it is to be thrown away
        self.archived = False
        self.decided_at: int | None = None  # sequence number of the event that led to the decision
        self._deciding = 0  # likewise, as this process finds it
        self.finder = settings.finder()
        self._ledger = self.finder.ledger
        self._ledger.owner = token

    @property
    def pulls(self) -> int:
        """Pulls asked for so far."""
        return len(self._ledger)

    @property
    def outstanding(self) -> int:
        """Pulls neither told, cancelled nor expired."""
        return len(self._ledger.holders)

    def outstanding_pulls(self) -> list[tuple[Pull, str | None, float]]:
        """Return them, with the worker that asked for each and when."""
        return [(self.pull(number), worker, at) for number, at, worker in self._ledger.holders]

    @property
    def expired(self) -> int:
        """Pulls that ended by their lease."""
        return self._ledger.fates.count(EXPIRED)

    def pull(self, number: int) -> Pull:
        """Return a pull that was asked for, by its number."""
        return self._ledger.pull(number, self.settings.arms[self._ledger.arms[number]])

    def has_mark(self, number: int, mark: int) -> bool:
        """Tell whether a number and a mark are those of a pull of this study."""
        return self._ledger.knows(number, mark)

    def find(self, pull: Pull) -> int:
        """Return the number of a pull of this study, or refuse it."""
        ledger, number = self._ledger, pull.number
        if not ledger.knows(number, pull._of) or self.settings.arms[ledger.arms[number]] != pull.arm:
            fix = "tell it to the one that asked for it; if the server has crashed since, it is lost"
            raise NotFoundError("pull", "be of this study", pull, fix)
        return number

    def was_told(self, number: int, value: float, source: str | None) -> bool:
        """Tell whether this reward of a pull is in the log already; refuse another one, and one that comes too late."""
        fate, before = self._ledger.fates[number], self._ledger.values[number]
        if fate == OUT:
            return False
        if fate != TOLD:
            why = "its lease has ended" if fate == EXPIRED else "it was cancelled"
            raise LateError("pull", "be outstanding", self.pull(number), f"{why}, and counts as cancelled")
        if before != value or source_text(self._ledger.source(number)) != source:
            told = f"{before!r} was told before, and stands"
            raise ConflictError("reward", "be the same when a pull is told again", value, told)
        return True

    def was_cancelled(self, number: int) -> bool:
        """Tell whether a pull is cancelled already; refuse one that was told."""
        if self._ledger.fates[number] == TOLD:
            raise ConflictError("pull", "not be told", self.pull(number), "a reward that has come can't be cancelled")
        return not self.is_outstanding(number)

    def held_by(self, worker: str, source: str | None, now: float) -> list[int]:
        """Return the pulls that a worker was given for a source and has not ended, but for those whose lease has."""
        holders, lease = self._ledger.holders, self.settings.lease
        held = [number for number in holders.of(worker) if self.named(number) == source]
        return [number for number in held if holders.lease_begin(number) + lease > now]

    def is_outstanding(self, number: int) -> bool:
        """Tell whether a pull is outstanding."""
        return self._ledger.fates[number] == OUT

    def named(self, number: int) -> str | None:
        """Return the source that a pull was asked for, as JSON."""
        return source_text(self._ledger.named(number))

    def overdue(self, now: float) -> list[int]:
        """Return the pulls whose lease has ended."""
        return self._ledger.holders.overdue(self.settings.lease, now)

    # -------------------------------------------------------------------------------------- what changes it

    def choose(self, number: int, worker: str | None, source: str | None, now: float) -> list[Event]:
        """Choose the next arms, for a source if it is named, and return the asks."""
        ledger, asks = self._ledger, []
        for pull in self.finder.ask_pulls(number, source=read_source(source)):
            ledger.stamps[pull.number] = time_bits(now)
            ledger.holders.add(pull.number, now, worker)
            index = ledger.arms[pull.number]
            self.seq += 1
            asks.append(Event(self.seq, ASK, pull.number, index, None, source, worker, now, None))
        return asks

    def tell(
        self, numbers: Sequence[int], values: Sequence[float], sources: Sequence[str | None], now: float
    ) -> list[Event]:
        """Take in rewards of pulls that are outstanding, and return the tells."""
        tells = [
            Event(self.seq + index, TELL, number, None, value, source, None, now, None)
            for index, (number, value, source) in enumerate(zip(numbers, values, sources, strict=True), 1)
        ]
        self.fold(tells)
        return tells

    def mark(self, kind: str, numbers: Sequence[int], now: float) -> list[Event]:
        """Take in that something happened to pulls (cancelled, expired, renewed), and return the events."""
        events = [
            Event(self.seq + index, kind, number, None, None, None, None, now, None)
            for index, number in enumerate(numbers, 1)
        ]
        self.fold(events)
        return events

    def decide(self, now: float) -> list[Event]:
        """Return the decision as an event, if there is one that is not in the log yet."""
        decision = self.finder.decision
        if decision is None or self.decided_at is not None:
            return []
        note = to_note(decision, self._deciding)
        event = Event(self.seq + 1, DECIDE, None, None, None, None, None, now, note)
        self.fold([event])
        return [event]

    def archive(self, now: float) -> list[Event]:
        """Return the event that closes the study."""
        event = Event(self.seq + 1, ARCHIVE, None, None, None, None, None, now, None)
        self.fold([event])
        return [event]

    def fold(self, events: Sequence[Event]) -> None:
        """Take in the events that follow."""
        if not events:
            return
        for seq, event in enumerate(events, self.seq + 1):
            if event.seq != seq:
                raise ValueError(f"event {event.seq} does not follow {seq - 1}")
        asks = [event for event in events if event.kind == ASK]
        ends = [event for event in events if event.kind in _FATES]
        rest = [event for event in events if event.kind in (DECIDE, ARCHIVE, RENEW)]
        ended = {event.pull for event in ends}
        held = [ask for ask in asks if ask.pull not in ended]
        self._fold(_batch(asks, ends), held, rest, self.seq + len(events))

    def fold_columns(self, columns: Columns, outstanding: Sequence[Event]) -> None:
        """Take in a whole log, from the beginning; `outstanding` are the asks of pulls that have not ended."""
        self._fold(_batch_of_columns(columns), outstanding, columns.rest, columns.head)

    def _fold(self, batch: Batch, held: Sequence[Event], rest: Sequence[Event], head: int) -> None:
        """Take in asks and ends; `held` are the asks of pulls that do not end among them, `rest` all other events."""
        self.whole = False
        for ask in held:
            assert ask.pull is not None
            self._ledger.holders.add(ask.pull, ask.at, ask.worker)
        deciding = self.finder.fold(batch)
        if deciding is not None:
            self._deciding = int(batch.ended[deciding])
        for event in rest:
            if event.kind == DECIDE:
                assert event.note is not None
                self.decided_at, decision = from_note(event.note)
                self.finder.adopt(decision)
            elif event.kind == ARCHIVE:
                self.archived = True
            else:
                assert event.pull is not None
                self._ledger.holders.renew(event.pull, event.at)
        self.seq = head
        self.whole = True

    def snapshot(self) -> Identifier:
        """Return a copy of the identifier to read from: reading may change the last bit of a later estimate."""
        return copy.deepcopy(self.finder)


def _batch(asks: Sequence[Event], ends: Sequence[Event]) -> Batch:
    """Return asks and ends as columns."""
    return Batch(
        [ask.arm for ask in asks],
        [time_bits(ask.at) for ask in asks],
        [read_source(ask.source) for ask in asks],
        [ask.seq for ask in asks],
        [end.pull for end in ends],
        [_FATES[end.kind] for end in ends],
        [math.nan if end.value is None else end.value for end in ends],
        [read_source(end.source) for end in ends],
        [end.seq for end in ends],
    )


def _batch_of_columns(columns: Columns) -> Batch:
    """Return the asks and ends of a log that was read as arrays."""
    sources = [*map(read_source, columns.sources), None]  # of the index -1
    return Batch(
        columns.arms,
        columns.times.view(np.int64),
        [sources[index] for index in columns.asked_sources.tolist()],
        columns.asked,
        columns.pulls,
        np.where(columns.told, TOLD, np.where(columns.expired, EXPIRED, CANCELLED)).astype(np.uint8),
        np.where(columns.told, columns.values, np.nan),
        [sources[index] for index in columns.told_sources.tolist()],
        columns.ended,
    )
