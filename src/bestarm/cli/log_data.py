"""What a command about a log reads: files, or a table in a database."""

from __future__ import annotations

import re
from typing import Any

from bestarm.errors import InputError
from bestarm.phrases import without_secrets

_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def data_of(log: list[str], table: str | None) -> Any:
    """Return what `identify_log` takes: the path of a file, several, or a table that is open."""
    urls = [each for each in log if _URL.match(each)]
    if not urls:
        if table is not None:
            raise InputError("table", "come with the URL of a database", table, "such as postgresql://USER@HOST/DB")
        return log[0] if len(log) == 1 else log
    if len(log) > 1:
        shown = list(map(without_secrets, log))
        raise InputError("LOG", "be one database, or files", shown, "bring them together in a view of the database")
    from bestarm.log.warehouse import open_table

    return open_table(urls[0], table)
