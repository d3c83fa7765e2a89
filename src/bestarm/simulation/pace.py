"""Cut trials into chunks: long enough to be worth sending, short enough to share among workers and to lose."""

from __future__ import annotations

import math
from collections.abc import Iterator

SECONDS = 0.5  # per chunk; sending one takes about a millisecond (measured: threads 0.8, processes 1.3)
SECONDS_IN_FILES = 2.0  # where each chunk becomes a file: there should not be a million of them
_LEAST = 1 / 16  # of that time, towards the end
_HANDOVER = 0.005  # seconds per worker: longer chunks for hundreds of workers, as one caller serves them all
_GROWTH = 8  # at most from one measurement to the next, as a few trials measure it poorly


class Pace(Iterator[tuple[int, int]]):
    """The chunks (first, last + 1) of the trials that are missing, each as long as the pace of those before suggests.

    Parameters
    ----------
    missing : list of (first, last + 1)
        The trials to run.
    chunk : int or None
        Trials per chunk; None adapts it to the time that trials take, starting with single trials.
    workers : int
        Number of workers; chunks get shorter towards the end, so that the last one is short.
    seconds : float
        Time that a chunk should take, with at most about a hundred workers.
    """

    def __init__(self, missing: list[tuple[int, int]], chunk: int | None, workers: int, seconds: float) -> None:
        self.workers = workers
        self._chunk = chunk
        self._seconds = seconds
        self._size = 1
        self._smallest = 1
        self._missing = missing[::-1]
        self._left = sum(last - first for first, last in missing)

    def __next__(self) -> tuple[int, int]:
        if not self._missing:
            raise StopIteration
        first, last = self._missing.pop()
        shared = max(self._smallest, min(self._size, math.ceil(self._left / (2 * self.workers))))
        cut = min(last, first + (self._chunk or shared))
        if cut < last:
            self._missing.append((cut, last))
        self._left -= cut - first
        return first, cut

    def learn(self, trials: int, seconds: float) -> None:
        """Adapt the size of chunks to the time of a finished one."""
        rate = trials / max(seconds, 1e-9)
        seconds = max(self._seconds, _HANDOVER * self.workers)
        self._size = max(1, min(int(rate * seconds), max(self._size, _GROWTH * trials)))
        self._smallest = max(1, min(int(rate * seconds * _LEAST), self._size))
