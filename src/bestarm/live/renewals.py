"""Renews leases in a thread, so that a lease lasts as long as the call that holds it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from bestarm.identification.ledger import Pull

if TYPE_CHECKING:
    from bestarm.live.study import Study

_PART = 1.0 / 3.0  # of a lease, after which it is renewed: one renewal may fail
_PATIENCE = 5.0  # seconds to wait for a renewal that is under way at the end


class Renewals:
    """Renews the leases of the pulls under way, from `start` to `stop`."""

    def __init__(self, study: Study, held: Callable[[], list[Pull]]) -> None:
        self._study, self._held = study, held
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, if pulls of the study expire at all."""
        if self._study.lease <= threading.TIMEOUT_MAX:
            self._thread = threading.Thread(target=self._renew, name="bestarm-leases", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread.

        It waits for a few seconds only: the garbage collector may call this while the caller holds the study's lock.
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
                    self._study._renew(pulls, skip_ended=True)
            except Exception as error:  # such as a database that is away: the tell will report it
                logging.getLogger("bestarm").debug("leases of %r are not renewed: %s", self._study.name, error)
