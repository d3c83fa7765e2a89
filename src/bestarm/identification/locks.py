"""Locks that survive a fork: a child never gets a half-changed object, nor a lock that is taken."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Protocol


class Guarded(Protocol):
    """Something with a lock of its own."""

    _lock: Any


_all: weakref.WeakSet[Any] = weakref.WeakSet()
_registry = threading.Lock()
_forking = threading.Lock()  # one thread at a time
_held: list[Any] = []


def give_lock(owner: Guarded) -> None:
    """Give an object a reentrant lock."""
    owner._lock = threading.RLock()
    with _registry:
        _all.add(owner)


def _before_fork() -> None:
    """Wait until no thread is inside, so that the child gets whole objects.

    It waits for containers (a lower rank) first, as their threads take the locks in this order. It does not hold the
    registry meanwhile: a thread inside may need it.
    """
    _forking.acquire()
    while True:
        with _registry:
            waited = {id(owner) for owner in _held}
            left = [owner for owner in _all if id(owner) not in waited]
        if not left:
            break
        for owner in sorted(left, key=lambda owner: int(getattr(owner, "_lock_rank", 1))):
            owner._lock.acquire()
            _held.append(owner)
    for owner in _held:
        prepare = getattr(owner, "_before_fork", None)
        if prepare is not None:
            prepare()
    _registry.acquire()


def _after_fork_in_parent() -> None:
    for owner in _held:
        owner._lock.release()
    _held.clear()
    _registry.release()
    _forking.release()


def _after_fork_in_child() -> None:
    """Give new locks: those of the parent belong to its threads."""
    global _registry, _forking
    _registry, _forking = threading.Lock(), threading.Lock()
    for owner in _held:
        owner._lock = threading.RLock()
    _held.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which can't fork
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
