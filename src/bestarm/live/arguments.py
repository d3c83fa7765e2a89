"""Checks the arguments that a caller passes to a study."""

from __future__ import annotations

import operator
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeGuard

from bestarm.errors import InputError
from bestarm.identification.ledger import Pull
from bestarm.live.fold import ReplayedIdentifier
from bestarm.live.replica import Replica
from bestarm.live.settings import source_text
from bestarm.problem import checked_reward, checked_rewards

_ID = re.compile(r"(\d{1,18})(?:-([0-9a-f]{1,16}))?", re.ASCII)


def checked_pulls(pulls: object, fix: str) -> list[Pull]:
    """Return pulls as a list; raise if one of them is not a pull."""
    if isinstance(pulls, str) or not isinstance(pulls, Iterable):
        raise InputError("pulls", "be a list of what ask_pulls gave", pulls, fix)
    found = list(pulls)
    for pull in found:
        if not isinstance(pull, Pull):
            raise InputError("pull", "be what ask_pulls gave", pull, fix)
    return found


def checked_values(finder: ReplayedIdentifier, pulls: Sequence[Pull], rewards: Sequence[float]) -> list[float]:
    """Return rewards as floats, one for each pull; raise if one is invalid."""
    if len(pulls) == 1 and type(rewards) is list and len(rewards) == 1:
        return [checked_reward(finder.problem, rewards[0])]
    values: list[float] = checked_rewards(finder.problem, rewards).tolist()
    if len(values) != len(pulls):
        raise InputError("rewards", f"be as many as pulls ({len(pulls)})", len(values), "give one for each pull")
    return values


def source_texts(
    finder: ReplayedIdentifier, pulls: Sequence[Pull], sources: Sequence[Hashable] | None
) -> list[str | None]:
    """Return sources as JSON, one for each pull; raise if one is invalid."""
    if isinstance(sources, str) or not isinstance(sources, Iterable | None):
        raise InputError("sources", "be a list", sources, "give one for each pull")
    given = [None] * len(pulls) if sources is None else list(sources)
    if len(given) != len(pulls):
        raise InputError("sources", f"be as many as pulls ({len(pulls)})", len(given), "give one for each pull")
    for source in given:
        if source is not None or (sources is not None and not finder.by_source):
            finder.check_source(source)
    return [source_text(source) for source in given]


def source_of(replica: Replica, index: int, said: str | None) -> str | None:
    """Return the source of a reward: the one named when its pull was asked for, or the one told with it."""
    named = replica.named(index)
    if named is None:
        if said is None and replica.finder.by_source:
            replica.finder.check_source(None)
        return said
    if said is not None and said != named:
        fix = "leave it out, or tell this reward by a pull that was asked for its source"
        raise InputError("source", f"be the one that the pull was asked for ({named})", said, fix)
    return named


def pull_parts(which: Any) -> tuple[int, int | None]:
    """Split the id of a pull into its number and its mark; a bare number has no mark, anything else is -1.

    >>> pull_parts("17-5fa0"), pull_parts("17"), pull_parts(17), pull_parts("x")
    ((17, 24480), (17, None), (17, None), (-1, None))
    """
    if isinstance(which, str):
        found = _ID.fullmatch(which.strip())
        if found is None:
            return -1, None
        return int(found[1]), None if found[2] is None else int(found[2], 16)
    return -1 if isinstance(which, bool) or not hasattr(which, "__index__") else operator.index(which), None


def is_text(value: Any) -> TypeGuard[str]:
    """Tell whether a value is a text that every database can store."""
    return isinstance(value, str) and "\0" not in value and value.encode(errors="replace").decode() == value


def checked_worker(worker: Any) -> str | None:
    """Return the name of a worker; raise if it is not a text."""
    if worker is not None and not is_text(worker):
        raise InputError("worker", "be a text", worker, "such as the name of the machine and a number")
    return worker
