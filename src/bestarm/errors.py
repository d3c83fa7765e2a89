"""The errors of bestarm: one root, few kinds, each with a stable code and a fix that every front end phrases."""

from __future__ import annotations

import pickle
from typing import Any, ClassVar

from bestarm.phrases import Phrase, Syntax, Verbatim, phrase, python_syntax


class BestarmError(Exception):
    """The root of all errors that bestarm raises on purpose.

    Attributes
    ----------
    code : str
        A short name of the kind of error, for programs; it stays the same from version to version.
    fix : Phrase
        What to do: a text, which also has the settings that it mentions (`fix.settings`) as data.
    """

    code: ClassVar[str] = "error"
    fix: Phrase = phrase("")

    def written(self, syntax: Syntax) -> str:
        """Return the message with its settings in the syntax of a front end; `str()` has them as Python."""
        return self._message(syntax)

    def _message(self, syntax: Syntax) -> str:
        return str(self)


class InputError(BestarmError, ValueError):
    """An argument breaks a rule; nothing was changed.

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
        What the caller most likely wants to do instead; a `Phrase` if it mentions settings.

    Examples
    --------
    >>> raise InputError("epsilon", "be in [0, 0.5)", 0.6, "no mean can be identified")
    Traceback (most recent call last):
    ...
    bestarm.errors.InputError: epsilon must be in [0, 0.5), got 0.6: no mean can be identified
    """

    code = "bad-input"

    def __init__(self, parameter: str, rule: str, received: Any, fix: str) -> None:
        self.parameter = parameter
        self.rule = phrase(rule)
        self.received = received
        self.fix = phrase(fix)
        self.args = (self.written(python_syntax),)

    def _message(self, syntax: Syntax) -> str:
        rule, fix = self.rule.written(syntax), self.fix.written(syntax)
        return f"{self.parameter} must {rule}, got {_shortened(self.received)}: {fix}"

    def about(self, parameter: str) -> InputError:
        """Return the same error for a parameter that the caller knows by another name."""
        return InputError(parameter, self.rule, self.received, self.fix)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameter, self.rule, _picklable(self.received), self.fix)


class NotFoundError(InputError):
    """There is no study, pull or log of this name."""

    code = "not-found"


class ConflictError(InputError):
    """Something else is already stored: other settings of a study or a run, or another reward of a pull."""

    code = "conflict"


class LateError(InputError):
    """A reward arrives for a pull that was cancelled, or whose lease has ended."""

    code = "late"


class PolicyError(InputError):
    """A method of your own raised an exception, or returned what is neither an arm, a decision nor an estimate."""

    code = "policy"


class DecidedError(InputError):
    """Another pull is asked for after the decision, which another process may have made.

    >>> raise DecidedError("identified", "study")
    Traceback (most recent call last):
    ...
    bestarm.errors.DecidedError: this study is already decided (identified): look at study.done and study.result
    """

    code = "decided"

    def __init__(self, status: str, where: str) -> None:
        self._where = where
        super().__init__("ask", "come before the decision", status, f"look at {where}.done and {where}.result")

    def _message(self, syntax: Syntax) -> str:
        what = "study" if self._where == "study" else "identification"
        return f"this {what} is already decided ({self.received}): {self.fix.written(syntax)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.received, self._where)


class ArchivedError(InputError):
    """A study is to be changed that is archived.

    >>> raise ArchivedError("prompts")
    Traceback (most recent call last):
    ...
    bestarm.errors.ArchivedError: the study 'prompts' is archived: it can only be read and exported
    """

    code = "archived"

    def __init__(self, name: str) -> None:
        super().__init__("study", "not be archived", name, "it can only be read and exported")

    def _message(self, syntax: Syntax) -> str:
        return f"the study {self.received!r} is archived: {self.fix.written(syntax)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.received,)


class WaitingError(InputError):
    """Another pull is asked for while rewards of every arm wait for missing pulls, so that more would not help.

    `waiting` says for which pulls, whose, and since when; `ends` whether the wait ends by itself, by the leases of a
    study.
    """

    code = "waiting"

    def __init__(self, waiting: Any, ends: bool = False) -> None:
        self.waiting = waiting
        self.ends = ends
        fix = "tell their rewards, or cancel what will never come (with epsilon = 0 nothing can be cancelled)"
        super().__init__("ask", "wait for pulls that are still out", Verbatim(waiting), fix)

    def _message(self, syntax: Syntax) -> str:
        return f"no arm can be asked for now: {self.waiting}; {self.fix.written(syntax)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.waiting, self.ends)


class StoreError(BestarmError, RuntimeError):
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

    code = "store"

    def __init__(self, what: str, reason: str, fix: str, transient: bool = False) -> None:
        self.what = what
        self.reason = reason
        self.fix = phrase(fix)
        self.transient = transient
        self.args = (self.written(python_syntax),)

    def _message(self, syntax: Syntax) -> str:
        return f"{self.what}, as {self.reason}: {self.fix.written(syntax)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.reason, self.fix, self.transient)


class MissingExtraError(InputError, StoreError):
    """A package is not installed that an extra of bestarm brings; without the extra `live` no study can be kept.

    >>> raise MissingExtraError("pandas", "tables")
    Traceback (most recent call last):
    ...
    bestarm.errors.MissingExtraError: pandas is required: pip install -e '.[tables]' in a clone of bestarm
    """

    code = "missing-extra"

    def __init__(self, package: str, extra: str) -> None:
        self.package, self.extra = package, extra
        self.what, self.reason, self.transient = f"{package} is required", "it is not installed", False
        fix = f"pip install -e '.[{extra}]' in a clone of bestarm"
        InputError.__init__(self, package, "be installed", "not found", fix)

    def _message(self, syntax: Syntax) -> str:
        return f"{self.what}: {self.fix.written(syntax)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.package, self.extra)


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."


def _picklable(value: Any) -> Any:
    """Return a value, or its repr if it can't be pickled: a function, say."""
    try:
        pickle.dumps(value)
    except Exception:  # anything may go wrong in the pickling of a user's object
        return Verbatim(repr(value))
    return value
