"""The events of a study: what a store keeps, and every process folds."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.identification.ledger import Pull
from bestarm.problem import Label

ASK, TELL, CANCEL, EXPIRE, DECIDE, ARCHIVE = "ask", "tell", "cancel", "expire", "decide", "archive"
RENEW = "renew"


class Event(NamedTuple):
    """One row of the log.

    Attributes
    ----------
    seq : int
        Its sequence number in the log of the study, from 1, without a gap.
    kind : str
        ask, tell, cancel, expire, renew, decide or archive.
    pull : int or None
        Number of the pull that was asked for, told, cancelled, expired or renewed.
    arm : int or None
        Of an ask: the index of the arm.
    value : float or None
        Of a tell: the reward.
    source : str or None
        Of a tell: who gave the reward, as JSON. Of an ask: who will give it, if named.
    worker : str or None
        Of an ask: who asked.
    at : float
        When, in seconds since 1970, by the clock of the database.
    note : str or None
        Of a decision: the verdict, as JSON.
    """

    seq: int
    kind: str
    pull: int | None
    arm: int | None
    value: float | None
    source: str | None
    worker: str | None
    at: float
    note: str | None


COLUMNS = ", ".join(Event._fields)
KINDS = (ASK, TELL, CANCEL, EXPIRE, RENEW, DECIDE, ARCHIVE)
_DOUBLE, _WHOLE = struct.Struct("=d"), struct.Struct("=q")


def time_bits(at: float) -> int:
    """Return the bits of a time as a whole number."""
    return int(_WHOLE.unpack(_DOUBLE.pack(at))[0])


class LoggedEvent(NamedTuple):
    """An event as a study shows it: with the label of its arm, and the id of its pull.

    Attributes
    ----------
    seq, kind, pull, arm, value, source, worker, at, note
        As in `Event`: sequence number, what happened, number of the pull, index of the arm (of an ask), reward and its
        source as JSON (of a tell), who asked, when in seconds since 1970, the verdict as JSON (of a decision).
    label : label or None
        The arm of its pull.
    id : str or None
        The id of its pull (`Pull.id`).
    """

    seq: int
    kind: str
    pull: int | None
    arm: int | None
    value: float | None
    source: str | None
    worker: str | None
    at: float
    note: str | None
    label: Label | None
    id: str | None


def logged(events: Iterable[Event], labels: Sequence[Label], token: int) -> Iterator[LoggedEvent]:
    """Go through the log of a study, from its beginning, with labels and ids."""
    pulls: list[tuple[Label, str]] = []
    for event in events:
        if event.kind == ASK:
            assert event.arm is not None
            pull = Pull(labels[event.arm], len(pulls), token ^ time_bits(event.at))
            pulls.append((pull.arm, pull.id))
        label, name = (None, None) if event.pull is None else pulls[event.pull]
        yield LoggedEvent(*event, label, name)


@dataclass(frozen=True)
class Columns:
    """The asks and the ends of pulls of a long log, as arrays: a million events as objects would take seconds.

    Attributes
    ----------
    arms, times, asked, asked_sources : arrays
        One row per pull, by its number: the arm, when it was asked for, the sequence number of the ask, and the
        source that the ask names, as an index into `sources` (-1 if it names none).
    pulls, values, told, expired, ended, told_sources : arrays
        One row per end of a pull, in order: the pull, the reward (0 if there is none), whether it was told, whether
        its lease expired (otherwise it was cancelled), the sequence number, and the source of the reward (-1 if none).
    sources : list of str
        The sources as JSON, in the order in which they first occur.
    rest : list of Event
        All other events.
    head : int
        The last sequence number.
    """

    arms: NDArray[np.int64]
    times: NDArray[np.float64]
    asked: NDArray[np.int64]
    asked_sources: NDArray[np.int64]
    pulls: NDArray[np.int64]
    values: NDArray[np.float64]
    told: NDArray[np.bool_]
    expired: NDArray[np.bool_]
    ended: NDArray[np.int64]
    told_sources: NDArray[np.int64]
    sources: list[str]
    rest: list[Event]
    head: int
