"""How the command line writes what Python writes as keyword arguments: `--missing drop` for `missing='drop'`."""

from __future__ import annotations

import shlex

from bestarm.phrases import Setting, phrase

_TAKE_NO = ("counted", "time")  # options whose value `no` is False in Python
_FLAGS = {"address": "--dask"}  # where the flag is not the name of the parameter


def cli_syntax(setting: Setting) -> str:
    """Return a setting as an option.

    >>> cli_syntax(Setting("on_bad_row", "skip")), cli_syntax(Setting("time", False))
    ('--on-bad-row skip', '--time no')
    """
    flag = _FLAGS.get(setting.name, f"--{setting.name.replace('_', '-')}")
    value = setting.value
    if value is ... or value is True:
        return flag
    if value is False:
        return f"{flag} no" if setting.name in _TAKE_NO else f"no {flag}"
    text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"{flag} {shlex.quote(text)}"


def to_cli_syntax(text: str) -> str:
    """Return a text in which the settings that it mentions are options."""
    return phrase(text).written(cli_syntax)
