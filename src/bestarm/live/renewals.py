"""Leases that last as long as a call does: renewed in a thread while somebody holds the pull."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from bestarm.identification.tickets import Pull

if TYPE_CHECKING:
    from bestarm.live.study import Study

_PART = 1.0 / 3.0  # of a lease, after which it is renewed: one renewal may fail
_PATIENCE = 5.0  # seconds to wait for a renewal that is under way at the end


class Renewals:
    """Renews the leases of the pulls that are held, from `start` to `stop`."""

    def __init__(self, study: Study, held: Callable[[], list[Pull]]) -> None:
        self._study, self._held = study, held
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, if pulls of the study expire at all."""
        if self._study.lease <= threading.TIMEOUT_MAX:
            self._thread = threading.Thread(target=self._renew, name="bestarm-leases", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread.

        Not waited for without end: if this is called by the garbage collector, the caller may have the study's lock.
        """
        self._ended.set()
        if self._thread is not None:
            self._thread.join(_PATIENCE)

    def __enter__(self) -> Renewals:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _renew(self) -> None:
        while not self._ended.wait(self._study.lease * _PART):
            pulls = list(self._held())
            try:
                if pulls:
                    self._study._renew(pulls, ended="ignore")
            except Exception as error:  # a database that is away, say: who tells the reward will find out
                logging.getLogger("bestarm").debug("leases of %r are not renewed: %s", self._study.name, error)
