"""The errors of bestarm: one root, few kinds, each with a stable code and a fix that every front end phrases."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from bestarm.phrases import Call, Phrase, Syntax, Verbatim, phrase, python_syntax


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
    _template: ClassVar[str] = ""  # of the message, filled in with the attributes
    _made_from: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Keep what the error is made from, to pickle it."""
        error = super().__new__(cls, *args)
        error._made_from = args, options
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        args, options = self._made_from
        kept = {name: _picklable(value) for name, value in options.items()}
        return functools.partial(type(self), **kept), tuple(map(_picklable, args))

    def written(self, syntax: Syntax) -> str:
        """Return the message with its settings in the syntax of a front end; `str()` has them as Python."""
        parts = {name: part.written(syntax) if isinstance(part, Phrase) else part for name, part in vars(self).items()}
        return self._template.format(**parts) or str(self)


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
    _template = "{parameter} must {rule}, got {_shown}: {fix}"

    def __init__(self, parameter: str, rule: str, received: Any, fix: str) -> None:
        self.parameter = parameter
        self.rule = phrase(rule)
        self.received = received
        self._shown = _shortened(received)
        self.fix = phrase(fix)
        self.args = (self.written(python_syntax),)

    def about(self, parameter: str) -> InputError:
        """Return the same error for a parameter that the caller knows by another name."""
        return InputError(parameter, self.rule, self.received, self.fix)


class UnclearError(InputError):
    """A log does not say clearly what is asked; the user picks one of some calls, each ready to paste.

    Parameters
    ----------
    parameter : str
        What is not clear.
    question : str
        The question to the user, as whole sentences.
    choices : sequence of (str, Call)
        When to use each call (empty if that goes without saying), and the call.

    Examples
    --------
    >>> from bestarm.phrases import Setting
    >>> calls = [("", Call((Setting("arm", name),))) for name in ("banner", "page")]
    >>> raise UnclearError("arm", "Which column is the arm, banner or page?", calls)
    Traceback (most recent call last):
    ...
    bestarm.errors.UnclearError: Which column is the arm, banner or page? Use one of:
      identify_log(data, arm='banner')
      identify_log(data, arm='page')
    """

    code = "unclear"
    _template = "{question}{fix}"

    def __init__(self, parameter: str, question: str, choices: Sequence[tuple[str, Call]]) -> None:
        self.question, self.choices = phrase(question), tuple(choices)
        said = phrase(f" Use {'this' if len(self.choices) == 1 else 'one of'}:" if self.choices else "")
        for when, call in self.choices:
            indent = "    " if when else "  "
            said += phrase(f"\n  {when}:" if when else "") + Phrase(f"\n{indent}{{}}", call)
        super().__init__(parameter, "be clear", None, said)

    def about(self, parameter: str) -> UnclearError:
        """Return the same question about a parameter that the caller knows by another name."""
        return UnclearError(parameter, self.question, self.choices)


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
    _template = "this {_what} is already decided ({received}): {fix}"

    def __init__(self, status: str, where: str) -> None:
        self._what = "study" if where == "study" else "identification"
        super().__init__("ask", "come before the decision", status, f"look at {where}.done and {where}.result")


class ArchivedError(InputError):
    """A study is to be changed that is archived.

    >>> raise ArchivedError("prompts")
    Traceback (most recent call last):
    ...
    bestarm.errors.ArchivedError: the study 'prompts' is archived: it can only be read and exported
    """

    code = "archived"
    _template = "the study {received!r} is archived: {fix}"

    def __init__(self, name: str) -> None:
        super().__init__("study", "not be archived", name, "it can only be read and exported")


class WaitingError(InputError):
    """Another pull is asked for while rewards of every arm wait for missing pulls, so that more would not help.

    `waiting` says for which pulls, whose, and since when; `ends` whether the wait ends by itself, by the leases of a
    study.
    """

    code = "waiting"
    _template = "no arm can be asked for now: {waiting}; {fix}"

    def __init__(self, waiting: Any, ends: bool = False) -> None:
        self.waiting = waiting
        self.ends = ends
        fix = "tell their rewards, or cancel what will never come (with epsilon = 0 nothing can be cancelled)"
        super().__init__("ask", "wait for pulls that are still out", Verbatim(waiting), fix)


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
    _template = "{what}, as {reason}: {fix}"

    def __init__(self, what: str, reason: str, fix: str, transient: bool = False) -> None:
        self.what = what
        self.reason = reason
        self.fix = phrase(fix)
        self.transient = transient
        self.args = (self.written(python_syntax),)


class MissingExtraError(InputError, StoreError):
    """A package is not installed that an extra of bestarm brings; without the extra `live` no study can be kept.

    >>> raise MissingExtraError("pandas", "tables")
    Traceback (most recent call last):
    ...
    bestarm.errors.MissingExtraError: pandas is required: pip install -e '.[tables]' in a clone of bestarm
    """

    code = "missing-extra"
    _template = "{what}: {fix}"

    def __init__(self, package: str, extra: str) -> None:
        self.package, self.extra = package, extra
        self.what, self.reason, self.transient = f"{package} is required", "it is not installed", False
        fix = f"pip install -e '.[{extra}]' in a clone of bestarm"
        InputError.__init__(self, package, "be installed", "not found", fix)


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
