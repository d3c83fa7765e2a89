"""Rewards that have come in but are not used yet, because they wait for outstanding pulls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bestarm.identification.ledger import Pull
from bestarm.identification.wording import waiting as words


@dataclass(frozen=True)
class MissingPull:
    """An outstanding pull that later rewards wait for.

    Attributes
    ----------
    pull : Pull
        Tell its reward, or cancel it.
    worker : str or None
        Who asked for it, where that is known.
    since : float or None
        When, in seconds since 1970. Known in a study only: an identifier reads no clock.
    rewards : int
        How many rewards wait for it.
    """

    pull: Pull
    worker: str | None
    since: float | None
    rewards: int

    def __str__(self) -> str:
        return words.missing_pull(self)


@dataclass(frozen=True)
class Waiting:
    """The rewards that wait, and the pulls they wait for; `str()` says it in words, and it is false if none waits.

    Attributes
    ----------
    rewards : int
        How many rewards have come in but are not used yet.
    pulls : tuple of MissingPull
        The pulls that they wait for, in the order of asking. A reward may wait for several.
    """

    rewards: int = 0
    pulls: tuple[MissingPull, ...] = ()

    def __bool__(self) -> bool:
        return self.rewards > 0

    def __str__(self) -> str:
        return words.for_which(self)

    @property
    def brief(self) -> str:
        """How many wait: "4,000 more rewards have come in and wait"."""
        return words.how_many(self)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        pulls = [
            {
                "pull": missing.pull.number,
                "arm": missing.pull.arm,
                "worker": missing.worker,
                "since": missing.since,
                "rewards": missing.rewards,
            }
            for missing in self.pulls
        ]
        return {"rewards": self.rewards, "pulls": pulls}


def read_waiting(stored: Mapping[str, Any] | None) -> Waiting:
    """Restore what `to_dict` returned; older versions stored nothing."""
    if stored is None:
        return Waiting()
    pulls = tuple(
        MissingPull(Pull(row["arm"], row["pull"]), row["worker"], row["since"], row["rewards"])
        for row in stored["pulls"]
    )
    return Waiting(stored["rewards"], pulls)
