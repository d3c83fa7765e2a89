"""Times that can be compared on a noisy machine: taken in turns, and the fastest of several."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence


def fastest(
    actions: Sequence[Callable[[], object]], repeats: int, clock: Callable[[], float] = time.thread_time
) -> list[float]:
    """Return the seconds of each action, the fastest of some turns; the actions take turns.

    By default that is processor time of this thread, which others on the same machine disturb less than the time that
    passes.
    """
    seconds = [float("inf")] * len(actions)
    for _ in range(repeats):
        for place, action in enumerate(actions):
            begin = clock()
            action()
            seconds[place] = min(seconds[place], clock() - begin)
    return seconds
