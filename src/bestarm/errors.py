"""The one way in which bestarm refuses bad input."""

from __future__ import annotations

import pickle
from typing import Any


class InputError(ValueError):
    """Something the caller passed breaks a rule; nothing was changed.

    The message always has the same shape: which parameter, which rule, what was received, and the likely fix.

    Parameters
    ----------
    parameter : str
        Name of the parameter as the caller wrote it.
    rule : str
        What it has to satisfy, as the end of the sentence "<parameter> must ...".
    received : object
        The value that broke the rule.
    fix : str
        What the caller most likely wants to do instead.

    Examples
    --------
    >>> raise InputError("epsilon", "be in [0, 0.5)", 0.6, "no mean can be identified")
    Traceback (most recent call last):
    ...
    bestarm.errors.InputError: epsilon must be in [0, 0.5), got 0.6: no mean can be identified
    """

    def __init__(self, parameter: str, rule: str, received: Any, fix: str) -> None:
        self.parameter = parameter
        self.rule = rule
        self.received = received
        self.fix = fix
        super().__init__(f"{parameter} must {rule}, got {_shown(received)}: {fix}")

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, Any, str]]:
        received = self.received
        try:
            pickle.dumps(received)
        except Exception:  # a function, say; whatever is wrong with it, its repr will do
            received = _Shown(repr(received))
        return type(self), (self.parameter, self.rule, received, self.fix)


class DecidedError(InputError):
    """Someone asks for another pull after the decision, which may have been made in another process meanwhile."""

    def __init__(self, status: str, where: str) -> None:
        self._where = where
        super().__init__("ask", "come before the decision", status, f"look at {where}.done and {where}.result")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.received, self._where)


class WaitingError(InputError):
    """Someone asks for another pull while so many rewards of every arm wait for missing pulls that more would not help.

    `waiting` says for which pulls, whose, and since when; `ends` whether that ends by itself, by the leases of a study.
    """

    def __init__(self, waiting: Any, ends: bool = False) -> None:
        self.waiting = waiting
        self.ends = ends
        fix = "tell their rewards, or cancel what will never come (with epsilon = 0 nothing can be cancelled)"
        super().__init__("ask", "wait for pulls that are still out", _Shown(str(waiting)), fix)
        self.args = (f"no arm can be asked for now: {waiting}; {fix}",)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.waiting, self.ends)


class LateError(InputError):
    """A reward comes for a pull that was cancelled, or whose lease has ended."""


class _Shown(str):
    """A text that stands for the value it is the repr of."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."


class StoreError(RuntimeError):
    """The database of a study can't be used; rewards that were acknowledged before are still in it.

    Parameters
    ----------
    what : str
        What can't be done, as the beginning of a sentence.
    reason : str
        Why, as the database says it, or in plainer words.
    fix : str
        What to do about it.
    transient : bool
        Whether it may pass by itself: a server that restarts, others that write for long.

    Examples
    --------
    >>> raise StoreError("sqlite:///run.db can't be written", "it is read-only", "make it writable")
    Traceback (most recent call last):
    ...
    bestarm.errors.StoreError: sqlite:///run.db can't be written, as it is read-only: make it writable
    """

    def __init__(self, what: str, reason: str, fix: str, transient: bool = False) -> None:
        self.what = what
        self.reason = reason
        self.fix = fix
        self.transient = transient
        super().__init__(f"{what}, as {reason}: {fix}")

    def __reduce__(self) -> tuple[type[StoreError], tuple[str, str, str, bool]]:
        return type(self), (self.what, self.reason, self.fix, self.transient)
