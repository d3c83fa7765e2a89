"""How the command line writes what Python writes as keyword arguments: `--missing drop` for `missing='drop'`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence

from bestarm.phrases import Call, Setting, phrase, without_secrets

_TAKE_NO = ("counted", "time")  # options whose value `no` is False in Python
_FLAGS = {"address": "--dask"}  # where the flag is not the name of the parameter
_FLAGS_WITH_ARMS = ("--wide",)  # whose value in Python is a list of arms
_OPPOSITES = {"--lower-is-better": "--higher-is-better"}  # flags that stand for False


def cli_syntax(mentioned: Setting | Call) -> str:
    """Return a setting as an option, or a call as the command that was typed, with its settings.

    >>> cli_syntax(Setting("on_bad_row", "skip")), cli_syntax(Setting("time", False))
    ('--on-bad-row skip', '--time no')
    >>> cli_syntax(Setting("wide", ("A", "B")))
    '--wide --arm A,B'
    """
    if isinstance(mentioned, Call):
        return _command(sys.argv[1:], mentioned.settings)
    flag, value = _flag(mentioned), mentioned.value
    if flag in _FLAGS_WITH_ARMS and isinstance(value, tuple):
        return f"{flag} {cli_syntax(Setting('arm', value))}"
    if value is ... or value is True:
        return flag
    if value is False:
        return f"{flag} no" if mentioned.name in _TAKE_NO else _OPPOSITES.get(flag, f"no {flag}")
    text = ",".join(map(_text, value)) if isinstance(value, tuple) else str(value)
    if text.startswith("-"):  # as in --bounds=-1,1, or it would be taken for an option
        return f"{flag}={shlex.quote(text)}"
    return f"{flag} {shlex.quote(text)}"


def _flag(setting: Setting) -> str:
    return _FLAGS.get(setting.name, f"--{setting.name.replace('_', '-')}")


def _text(value: object) -> str:
    """Return an end of a range: 5 for 5.0."""
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _command(typed: Sequence[str], settings: Sequence[Setting]) -> str:
    """Return the command with settings that replace those which were typed.

    >>> _command(["identify", "my votes.csv", "--arm", "captoin"], [Setting("arm", "caption")])
    "bestarm identify 'my votes.csv' --arm caption"
    """
    flags = {_flag(each): not isinstance(each.value, bool) or each.name in _TAKE_NO for each in settings}
    flags |= {_OPPOSITES[flag]: False for flag in flags if flag in _OPPOSITES}
    kept = list(_without(typed, flags))
    return " ".join((shlex.join(["bestarm", *map(without_secrets, kept)]), *map(cli_syntax, settings)))


def _without(typed: Sequence[str], flags: dict[str, bool]) -> Iterator[str]:
    """Yield the words that are not among some options; of each it is known whether a value follows."""
    words = iter(typed)
    for word in words:
        flag, has_value, _ = word.partition("=")
        if flag not in flags:
            yield word
        elif flags[flag] and not has_value:
            next(words, None)


def to_cli_syntax(text: str) -> str:
    """Return a text in which the settings that it mentions are options."""
    return phrase(text).written(cli_syntax)
