"""Who holds the outstanding pulls, and since when: known in a study, where pulls have leases."""

from __future__ import annotations

from collections.abc import Iterator


class Holders:
    """The workers that hold pulls; empty, and false, if workers give no names."""

    def __init__(self) -> None:
        self._asked: dict[int, tuple[float, str | None]] = {}  # oldest first
        self._renewed: dict[int, float] = {}
        self._of_worker: dict[str, dict[int, None]] = {}  # in order

    def __len__(self) -> int:
        return len(self._asked)

    def __iter__(self) -> Iterator[tuple[int, float, str | None]]:
        """Go through the pulls: number, when it was asked for, and by whom."""
        return ((number, at, worker) for number, (at, worker) in self._asked.items())

    def add(self, number: int, at: float, worker: str | None) -> None:
        """Record who asked for a pull, and when."""
        self._asked[number] = at, worker
        if worker is not None:
            self._of_worker.setdefault(worker, {})[number] = None

    def drop(self, number: int) -> None:
        """Forget a pull that has ended."""
        _, worker = self._asked.pop(number, (0.0, None))
        if self._renewed:
            self._renewed.pop(number, None)
        if worker is not None:
            held = self._of_worker[worker]
            del held[number]
            if not held:
                del self._of_worker[worker]

    def renew(self, number: int, at: float) -> None:
        """Restart the lease of a pull, if it is outstanding."""
        if number in self._asked:
            self._renewed[number] = at

    def of(self, worker: str) -> list[int]:
        """Return the pulls that a worker holds, in the order in which it was given them."""
        return list(self._of_worker.get(worker, ()))

    def who(self, number: int) -> tuple[float | None, str | None]:
        """Return when a pull that is out was asked for and by whom, where that is known."""
        return self._asked.get(number, (None, None))

    def lease_begin(self, number: int) -> float:
        """Return when the lease of a pull began."""
        return self._renewed.get(number, self._asked[number][0])

    def overdue(self, lease: float, now: float) -> list[int]:
        """Return the pulls whose lease has ended; it checks all, as a clock may have been set back."""
        renewed = self._renewed.get
        return [number for number, (at, _) in self._asked.items() if renewed(number, at) + lease <= now]
