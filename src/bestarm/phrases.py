"""Sentences that mention settings, which each front end writes in its own syntax: `paired=True`, or `--paired`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
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


class Call(NamedTuple):
    """The call that the user made, with some settings given: ready to paste.

    Attributes
    ----------
    settings : tuple of Setting
        What to add, or to change; each has a value.
    data : str
        What Python writes as the first argument. The command line writes what was typed.
    """

    settings: tuple[Setting, ...]
    data: str = "data"

    @property
    def name(self) -> str:
        """The function, as if the call were a setting."""
        return "identify_log"

    @property
    def value(self) -> Any:
        """The settings by their names."""
        return dict(self.settings)


def first_argument(files: Sequence[str]) -> str:
    """Return how Python writes the data of a call: the file if it is one, or a name for what the user has.

    >>> first_argument(["visits.csv"]), first_argument([])
    ("'visits.csv'", 'data')
    """
    return repr(files[0]) if len(files) == 1 and files[0] != "standard input" else "data"


_URL = re.compile(r"\b([a-z][a-z0-9+.-]*://)(\S*)", re.IGNORECASE)
_WHOLE = re.compile(r"\s*([a-z][a-z0-9+.-]*://)(.*)", re.IGNORECASE | re.DOTALL)
_SECRET = re.compile(r"([a-z_]*(?:password|passwd|pwd|secret|token|key|credential)[a-z_]*=)[^&;]+", re.IGNORECASE)


def without_secrets(text: str) -> str:
    """Return a text whose URLs, or that as one URL, has no passwords.

    >>> without_secrets("postgresql://ann:s3:cr@t@db.example.org/shop?sslpassword=x&application_name=y")
    'postgresql://ann:***@db.example.org/shop?sslpassword=***&application_name=y'
    """

    def shown(match: re.Match[str]) -> str:
        start, rest = match.groups()
        before, at, after = rest.rpartition("@")  # a password may have an @ that should have been written as %40
        user, colon, _ = before.partition(":")
        return _SECRET.sub(r"\1***", f"{start}{user}{colon and ':***'}{at}{after}")

    whole = _WHOLE.fullmatch(text)
    return shown(whole) if whole else _URL.sub(shown, text)


Syntax = Callable[[Setting | Call], str]


def python_syntax(mentioned: Setting | Call) -> str:
    """Return a setting as a keyword argument, or a call with its settings.

    >>> python_syntax(Setting("missing", "drop")), python_syntax(Setting("arm"))
    ("missing='drop'", 'arm=')
    >>> python_syntax(Call((Setting("arm", "banner"), Setting("bounds", (1, 5))), "'visits.csv'"))
    "identify_log('visits.csv', arm='banner', bounds=(1, 5))"
    """
    if isinstance(mentioned, Call):
        return f"{mentioned.name}({', '.join((mentioned.data, *map(python_syntax, mentioned.settings)))})"
    return f"{mentioned.name}={'' if mentioned.value is ... else repr(mentioned.value)}"


class Phrase(str):
    """A text that mentions settings: a plain `str` in Python syntax, which other front ends can write in theirs.

    Parameters
    ----------
    template : str
        The text, with `{}` in place of each setting.
    *settings : Setting or Call
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
    settings: tuple[Setting | Call, ...]

    def __new__(cls, template: str, *settings: Setting | Call) -> Phrase:
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
