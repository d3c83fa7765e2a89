"""Sentences that mention settings, which each front end writes in its own syntax: `paired=True`, or `--paired`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Verbatim(str):
    """A text whose `repr` is the text itself, such as a placeholder: `bounds=(low, high)`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Setting(NamedTuple):
    """A parameter that a sentence mentions, with the value to give it; without one, only the name is shown."""

    name: str
    value: Any = ...


Syntax = Callable[[Setting], str]


def python_syntax(setting: Setting) -> str:
    """Return a setting as a keyword argument.

    >>> python_syntax(Setting("missing", "drop")), python_syntax(Setting("arm"))
    ("missing='drop'", 'arm=')
    """
    return f"{setting.name}={'' if setting.value is ... else repr(setting.value)}"


class Phrase(str):
    """A text that mentions settings: a plain `str` in Python syntax, which other front ends can write in theirs.

    Parameters
    ----------
    template : str
        The text, with `{}` in place of each setting.
    *settings : Setting
        What the text mentions, in order.

    Examples
    --------
    >>> fix = Phrase("say {} for the order of the file", Setting("time", False))
    >>> fix
    'say time=False for the order of the file'
    >>> fix.written(lambda setting: f"--{setting.name} no")
    'say --time no for the order of the file'
    """

    template: str
    settings: tuple[Setting, ...]

    def __new__(cls, template: str, *settings: Setting) -> Phrase:
        """Write the text in Python syntax, and keep its parts."""
        phrase = super().__new__(cls, template.format(*map(python_syntax, settings)))
        phrase.template, phrase.settings = template, settings
        return phrase

    def __reduce__(self) -> tuple[type[Phrase], tuple[Any, ...]]:
        return Phrase, (self.template, *self.settings)

    def __add__(self, other: str) -> Phrase:
        more = phrase(other)
        return Phrase(self.template + more.template, *self.settings, *more.settings)

    def __radd__(self, other: str) -> Phrase:
        return phrase(other) + self

    def written(self, syntax: Syntax) -> str:
        """Return the text with its settings in the syntax of a front end."""
        return self.template.format(*map(syntax, self.settings))


def phrase(text: str) -> Phrase:
    """Return a text as a phrase; a plain one mentions no settings.

    >>> phrase('such as {"funny": 3}')
    'such as {"funny": 3}'
    """
    return text if isinstance(text, Phrase) else Phrase(text.replace("{", "{{").replace("}", "}}"))
