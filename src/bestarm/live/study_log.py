"""The log of one study, and the state that this process derives from it."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator

from bestarm.errors import InputError, NotFoundError
from bestarm.identification.locks import give_lock
from bestarm.live.account import log_changes
from bestarm.live.backends._base import StudyRow, Transaction
from bestarm.live.connect import open_store
from bestarm.live.events import EXPIRE, Event
from bestarm.live.replica import Replica
from bestarm.live.settings import Settings, read_settings

READ_AS_ARRAYS = 2_000  # events from which on a log is read as arrays when it is opened
# Events up to which a process catches up while it holds the lock: about 50 ms. Fewer, and a process that is started
# again beside three busy ones has to give back SQLite's lock, which is not fair, again and again.
FOLD_LOCKED = 2000
_CATCH_UPS = 10  # attempts to catch up without the lock, if others write faster than this process folds

Change = Callable[[Replica, float], list[Event]]


class StudyLog:
    """A study in a store, with a replica of its state that is kept in step with the log.

    Used by many threads and after forks: all its methods but `close` must be called inside `alone`.

    Parameters
    ----------
    url, name : str
        Location of the store, and name of the study.
    wanted : Settings or None
        Settings of the study to create; None to open one that must exist.
    """

    _lock_rank = 0  # taken before the locks of the identifiers that it contains

    def __init__(self, url: str, name: str, wanted: Settings | None) -> None:
        self.store = open_store(url)
        self.replica: Replica | None = None
        self._session = 0  # of the store, in which the replica was read
        self._process = os.getpid()
        self._lock: threading.RLock
        give_lock(self)
        with self._lock:
            self.store.prepare(create=wanted is not None)
            self.row = self._find(name) if wanted is None else self.store.create(name, wanted.to_json())
            self.settings = read_settings(self.row.settings)

    def _find(self, name: str) -> StudyRow:
        row = self.store.find(name)
        if row is None:
            known = ", ".join(repr(other.name) for other in self.store.studies()[:8]) or "none"
            raise NotFoundError("name", f"be a study in {self.store.shown}", name, f"it has {known}")
        return row

    def _before_fork(self) -> None:
        self.store.before_fork()

    @contextlib.contextmanager
    def alone(self) -> Iterator[StudyLog]:
        """Keep other threads out, and use connections of this process only."""
        with self._lock:
            if self._process != os.getpid():
                self._process = os.getpid()
                self.store.after_fork()
            yield self

    def close(self) -> None:
        """Close the connection. It opens again when the study is used again."""
        with self._lock:
            self.store.close()

    def events(self) -> list[Event]:
        """Return the whole log."""
        return self.store.read(self.row.id, 0)

    def known(self) -> Replica:
        """Return the state as this process knows it.

        A server that crashes may lose asks that were not on its disk, and closes the connection. So the state is read
        anew in every new session.
        """
        session = self.store.session()
        if self.replica is None or session != self._session:
            self.replica, self._session = self._new_replica(), session
        return self.replica

    def current(self) -> Replica:
        """Return the state after all events that are in the log now."""
        replica, self.replica = self.known(), None  # dropped if folding fails
        replica.fold(self.store.read(self.row.id, replica.seq))
        self.replica = replica
        return replica

    def _new_replica(self) -> Replica:
        replica = Replica(self.settings, self.row.token)
        head = self.store.head(self.row.id)
        if head >= READ_AS_ARRAYS:
            replica.fold_columns(*self.store.columns(self.row.id, head))
        return replica

    def write(self, change: Change, *, synced: bool = True) -> None:
        """Append the events that `change` makes of the current state, and those that follow from them.

        These are expired leases and the decision. With `synced=False`, for asks and renewals, they are written
        afterwards, as they have to wait for the disk.
        """
        replica, self.replica = self.known(), None  # dropped if the events can't be written
        unchanged, expired = False, False
        try:
            with self._writing(replica, synced) as transaction:
                replica.fold(transaction.news)
                unchanged = True
                now = transaction.now
                transaction.added = change(replica, now)
                unchanged = False
                overdue = list(replica.overdue(now))
                expired = not synced and bool(overdue)
                if synced and not replica.archived:
                    transaction.added += [*replica.mark(EXPIRE, overdue, now), *replica.decide(now)]
        except InputError:
            if unchanged and replica.whole:
                self.replica = replica
            raise
        self.replica = replica
        log_changes(self.row.name, transaction.added, self.settings.arms)
        if expired:
            self.write(lambda replica, now: [])

    @contextlib.contextmanager
    def _writing(self, replica: Replica, synced: bool) -> Iterator[Transaction]:
        """Lend the right to append, with few events left to fold: nobody waits while a long log is folded."""
        study = self.row.id
        for _ in range(_CATCH_UPS):
            with self.store.writing(study, replica.seq, synced=synced, most=FOLD_LOCKED) as transaction:
                if len(transaction.news) < FOLD_LOCKED:
                    yield transaction
                    return
            replica.fold(self.store.read(study, replica.seq))
        with self.store.writing(study, replica.seq, synced=synced) as transaction:
            yield transaction
