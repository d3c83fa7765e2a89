"""One process's copy of a study: all that follows from the events of its log up to a sequence number."""

from __future__ import annotations

import copy
from array import array
from collections.abc import Iterator, Sequence

import numpy as np

from bestarm.errors import ConflictError, LateError, NotFoundError
from bestarm.identification.identifier import Identifier
from bestarm.identification.tickets import Pull
from bestarm.live.events import ARCHIVE, ASK, CANCEL, DECIDE, EXPIRE, RENEW, TELL, Columns, Event, time_bits
from bestarm.live.settings import Settings, from_note, read_source, to_note

OUTSTANDING, TOLD, CANCELLED, EXPIRED = 0, 1, 2, 3
_FATES = {TELL: TOLD, CANCEL: CANCELLED, EXPIRE: EXPIRED}


class Replica:
    """The state of a study after its first `seq` events.

    Every method that changes it takes events that are in the log, or about to be: if those can't be written, it has to
    be thrown away and folded anew.
    """

    def __init__(self, settings: Settings, token: int) -> None:
        self.settings = settings
        self.token = token
        self.seq = 0
        self.whole = True  # False: a method of the user's own has failed at an event, and it is to be thrown away
        self.archived = False
        self.decided_at: int | None = None  # sequence number of the event that led to the decision
        self._deciding = 0  # likewise, as this process finds it
        self.finder = settings.finder()
        # Of each pull, by its number: which arm, what became of it, and the reward.
        self._arms = array("q")
        self._bits = array("q")  # of the time at which it was asked for
        self._fates = bytearray()
        self._values = array("d")
        self._sources: dict[int, str] = {}  # of those told
        self._named: dict[int, str] = {}  # the sources of pulls that were asked for with one
        self._outstanding: dict[int, tuple[float, str | None]] = {}  # when it was asked for and by whom, oldest first
        self._renewed: dict[int, float] = {}  # of those whose lease was renewed: when
        self.finder.own(token, self._outstanding)
        self._held: dict[str, dict[int, None]] = {}  # by worker: its pulls that are outstanding, in order

    @property
    def pulls(self) -> int:
        """Pulls asked for so far."""
        return len(self._arms)

    @property
    def outstanding(self) -> int:
        """Pulls neither told, cancelled nor expired."""
        return len(self._outstanding)

    def outstanding_pulls(self) -> list[tuple[Pull, str | None, float]]:
        """Return them, with the worker that asked for each and when."""
        return [(self.pull(number), worker, at) for number, (at, worker) in self._outstanding.items()]

    @property
    def expired(self) -> int:
        """Pulls that ended by their lease."""
        return self._fates.count(EXPIRED)

    def pull(self, number: int) -> Pull:
        """Return a pull that was asked for, by its number."""
        return Pull(self.settings.arms[self._arms[number]], number, self._mark(number))

    def _mark(self, number: int) -> int:
        """Return what tells a pull from others of its number: of another study, or of an ask that a crash undid."""
        return self.token ^ self._bits[number]

    def has_mark(self, number: int, mark: int) -> bool:
        """Tell whether a number and what it is marked with are those of a pull of this study."""
        return 0 <= number < self.pulls and self._mark(number) == mark

    def find(self, pull: Pull) -> int:
        """Return the number of a pull of this study, or refuse it."""
        number = pull.number
        known = type(number) is int and 0 <= number < self.pulls
        if not known or pull._of != self._mark(number) or pull.arm != self.settings.arms[self._arms[number]]:
            fix = "tell it to the one that asked for it; if the server has crashed since, it is lost"
            raise NotFoundError("pull", "be of this study", pull, fix)
        return number

    def was_told(self, number: int, value: float, source: str | None) -> bool:
        """Tell whether this reward of a pull is in the log already; refuse another one, and one that comes too late."""
        fate = self._fates[number]
        if fate == OUTSTANDING:
            return False
        if fate != TOLD:
            why = "its lease has ended" if fate == EXPIRED else "it was cancelled"
            raise LateError("pull", "be outstanding", self.pull(number), f"{why}, and counts as cancelled")
        if self._values[number] != value or self._sources.get(number) != source:
            told = f"{self._values[number]!r} was told before, and stands"
            raise ConflictError("reward", "be the same when a pull is told again", value, told)
        return True

    def was_cancelled(self, number: int) -> bool:
        """Tell whether a pull is cancelled already; refuse one that was told."""
        if self._fates[number] == TOLD:
            raise ConflictError("pull", "not be told", self.pull(number), "a reward that has come can't be cancelled")
        return self._fates[number] != OUTSTANDING

    def held_by(self, worker: str, source: str | None, now: float) -> list[int]:
        """Return the pulls that a worker was given for a source and has not ended, but for those whose lease has."""
        held = [number for number in self._held.get(worker, ()) if self._named.get(number) == source]
        return [number for number in held if self._lease_end(number, self._outstanding[number][0]) > now]

    def is_outstanding(self, number: int) -> bool:
        """Tell whether a pull is outstanding."""
        return self._fates[number] == OUTSTANDING

    def _lease_end(self, number: int, asked: float) -> float:
        return self._renewed.get(number, asked) + self.settings.lease

    def named(self, number: int) -> str | None:
        """Return the source that a pull was asked for, as JSON."""
        return self._named.get(number)

    def overdue(self, now: float) -> Iterator[int]:
        """Go through the pulls whose lease has ended: all are looked at, as a clock may have been put back."""
        return (number for number, (asked, _) in self._outstanding.items() if self._lease_end(number, asked) <= now)

    # -------------------------------------------------------------------------------------- what changes it

    def choose(self, number: int, worker: str | None, source: str | None, now: float) -> list[Event]:
        """Choose the next arms, for a source if it is named, and return the asks."""
        asks = []
        for pull in self.finder.choose(number, read_source(source)):
            index = self.finder.index_of(pull.arm)
            self._note_ask(index, worker, source, now)
            asks.append(Event(self.seq + 1, ASK, pull.number, index, None, source, worker, now, None))
            self.seq += 1
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
        self.whole = False
        index = 0
        while index < len(events):
            event = events[index]
            if event.kind == TELL and not self.finder.by_sources:
                end = index
                while end < len(events) and events[end].kind == TELL:
                    end += 1
                self._fold_tells(events[index:end])
                index = end
                continue
            self._follow(event)
            if event.kind == ASK:
                assert event.arm is not None
                self._note_ask(event.arm, event.worker, event.source, event.at)
                self.finder.ask_again(event.arm, read_source(event.source))
            elif event.kind == DECIDE:
                assert event.note is not None
                self.decided_at, decision = from_note(event.note)
                self.finder.adopt(decision)
            elif event.kind == ARCHIVE:
                self.archived = True
            elif event.kind == RENEW:
                assert event.pull is not None
                if event.pull in self._outstanding:  # and not one that has ended since, of a log that is read at once
                    self._renewed[event.pull] = event.at
            else:
                self._fold_end(event)
            index += 1
        self.whole = True

    def _follow(self, event: Event) -> None:
        if event.seq != self.seq + 1:
            raise ValueError(f"event {event.seq} does not follow {self.seq}")
        self.seq = event.seq

    def _note_ask(self, index: int, worker: str | None, source: str | None, at: float) -> None:
        number = len(self._arms)
        if source is not None:
            self._named[number] = source
        self._arms.append(index)
        self._bits.append(time_bits(at))
        self._fates.append(OUTSTANDING)
        self._values.append(np.nan)
        self._note_outstanding(number, at, worker)

    def _note_outstanding(self, number: int, at: float, worker: str | None) -> None:
        self._outstanding[number] = (at, worker)
        if worker is not None:
            self._held.setdefault(worker, {})[number] = None

    def _note_end(self, event: Event) -> int:
        number = event.pull
        assert number is not None
        self._fates[number] = _FATES[event.kind]
        if event.value is not None:
            self._values[number] = event.value
        if event.source is not None:
            self._sources[number] = event.source
        self._renewed.pop(number, None)
        _, worker = self._outstanding.pop(number)
        if worker is not None:
            held = self._held[worker]
            del held[number]
            if not held:
                del self._held[worker]
        return number

    def _fold_end(self, event: Event) -> None:
        number = self._note_end(event)
        was_done = self.finder.done
        self.finder.end_pull(number, self._arms[number], event.value, read_source(event.source))
        if self.finder.done and not was_done:
            self._deciding = event.seq

    def _fold_tells(self, events: Sequence[Event]) -> None:
        numbers, values = [], []
        for event in events:
            self._follow(event)
            numbers.append(self._note_end(event))
            assert event.value is not None
            values.append(event.value)
        index = self.finder.end_pulls(numbers, [self._arms[number] for number in numbers], values)
        if index is not None:
            self._deciding = events[index].seq

    def fold_columns(self, columns: Columns, outstanding: Sequence[Event]) -> None:
        """Take in a whole log, from the beginning; `outstanding` are the asks of pulls that have not ended."""
        fates = np.zeros(columns.arms.size, np.uint8)
        fates[columns.pulls] = np.where(columns.told, TOLD, np.where(columns.expired, EXPIRED, CANCELLED))
        values = np.full(columns.arms.size, np.nan)
        values[columns.pulls] = columns.values
        self._arms.frombytes(columns.arms.astype(np.int64, copy=False).tobytes())
        self._bits.frombytes(columns.times.tobytes())
        self._fates.extend(fates.tobytes())
        self._values.frombytes(values.tobytes())
        self.finder.catch_up(columns.arms, columns.pulls, columns.values, columns.told)
        for ask in outstanding:
            assert ask.pull is not None
            self._note_outstanding(ask.pull, ask.at, ask.worker)
        for event in columns.rest:
            self.seq = event.seq - 1
            self.fold([event])
        self.seq = columns.head

    def snapshot(self) -> Identifier:
        """Return a copy of the identifier to read from: reading may change the last bit of a later estimate."""
        return copy.deepcopy(self.finder)
