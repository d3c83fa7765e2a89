"""Backs up all studies of a database to one file, and imports studies from a backup or an export."""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bestarm.errors import InputError
from bestarm.live.backends._base import Store, StudyCopy
from bestarm.live.connect import open_store
from bestarm.live.events import ASK, DECIDE, KINDS, RENEW, TELL, Event
from bestarm.live.export import FORMAT, lines_of, rows_of
from bestarm.live.settings import from_note, read_settings

_SQLITE = b"SQLite format 3\0"  # how such a file begins


def backup_studies(url: str, path: str | os.PathLike[str]) -> list[str]:
    """Write all studies of a database to a new file, while others go on writing; return their names.

    A backup of SQLite is a SQLite database, as it was at one moment; a backup of PostgreSQL is an export of all
    studies, one after the other, each as it was when it was read. `import_studies` reads both.
    """
    store, file = open_store(url), Path(path)
    store.prepare(create=False)
    if file.exists():
        raise InputError("file", "not exist yet", str(path), "name a new one: a backup is never written over")
    part = file.with_name(f"{file.name}.{secrets.token_hex(4)}.part")
    try:
        part.touch(mode=0o600)
        if not store.copy_to(part):
            with part.open("w", encoding="utf-8") as out:
                for row in store.studies():
                    out.writelines(f"{line}\n" for line in lines_of(row, store.read(row.id, 0)))
                out.flush()
                os.fsync(out.fileno())
        part.replace(file)  # whole, or not there
    except OSError as error:
        raise InputError("file", "be one that can be written", str(path), str(error)) from None
    finally:
        part.unlink(missing_ok=True)
        names = [row.name for row in store.studies()]
        store.close()
    return names


def import_studies(url: str, path: str | os.PathLike[str]) -> list[str]:
    """Import the studies of a backup or an export into a database, all or none; return the names of the new ones.

    They are the same studies: pulls that workers hold stay valid, and work continues where the file ends. A study that
    is there already, with the same log, is left as it is; a different one of the same name is an error.
    """
    copies = read_studies(Path(path))
    store = open_store(url)
    try:
        store.prepare(create=True)
        return store.add(copies)
    finally:
        store.close()


def read_studies(path: Path) -> list[StudyCopy]:
    """Return the studies of a backup or an export."""
    try:
        with path.open("rb") as file:
            begin = file.read(len(_SQLITE))
    except OSError as error:
        raise InputError("file", "be a backup or an export that can be read", str(path), str(error)) from None
    if begin != _SQLITE:
        return list(_from_lines(path))
    store = open_store(f"sqlite:///{path}")
    try:
        store.prepare(create=False)
        return list(_from_store(store))
    finally:
        store.close()


def _from_store(store: Store) -> Iterator[StudyCopy]:
    for row in store.studies():
        yield StudyCopy(row.name, row.token, row.settings, row.created, store.read(row.id, 0))


def _from_lines(path: Path) -> Iterator[StudyCopy]:
    """Go through the studies of a file of exports, and check each."""
    head: dict[str, Any] | None = None
    begin = 1
    log: list[Event] = []
    for number, row in rows_of(path):
        if "format" in row:
            if head is not None:
                yield _copy(head, begin, log)
            head, begin, log = row, number, []
        elif head is None:
            break
        else:
            log.append(_event(row, number))
    if head is None:
        raise InputError("file", f"begin with a line of the format {FORMAT!r}", str(path), "bestarm study export")
    yield _copy(head, begin, log)


def _copy(head: dict[str, Any], line: int, log: list[Event]) -> StudyCopy:
    try:
        if head["format"] != FORMAT or type(head["name"]) is not str:
            raise KeyError("format or name")
        settings = json.dumps(head["settings"])
        arms = len(read_settings(settings).arms)
        # Older exports have neither of these: the ids of their pulls are lost.
        token = int(head.get("token", secrets.randbits(62)))
        created = float(head.get("created", log[0].at if log else 0.0))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"line {line}", "have the settings of a study", head, f"{error!r}") from None
    _check(log, line, arms)
    return StudyCopy(head["name"], token, settings, created, log)


def _event(row: dict[str, Any], line: int) -> Event:
    found = Event(**{name: row.get(name) for name in Event._fields})  # type: ignore[arg-type]
    whole = (found.seq, *(value for value in (found.pull, found.arm) if value is not None))
    numbers = (found.at, *(value for value in (found.value,) if value is not None))
    texts = (found.kind, *(value for value in (found.source, found.worker, found.note) if value is not None))
    if (
        all(type(value) is int for value in whole)
        and all(type(value) in (int, float) and math.isfinite(value) for value in numbers)
        and all(type(value) is str for value in texts)
    ):
        return found
    raise InputError(f"line {line}", "be an event of this study", row, "restore the file from the database")


def _check(log: list[Event], line: int, arms: int) -> None:
    """Reject an inconsistent log: a number is missing, or a pull ends twice or was never asked for."""
    asked, ended = 0, set()
    for index, event in enumerate(log, 1):
        sound = event.seq == index and event.kind in KINDS
        if event.kind == ASK:
            sound = sound and event.pull == asked and event.arm is not None and 0 <= event.arm < arms
            asked += 1
        elif event.pull is not None:
            sound = sound and 0 <= event.pull < asked and event.pull not in ended
            sound = sound and (event.value is not None) == (event.kind == TELL)
            if event.kind != RENEW:
                ended.add(event.pull)
        elif event.kind == DECIDE:
            sound = sound and _is_verdict(event.note)
        else:
            sound = sound and event.kind == KINDS[-1]
        if not sound:
            raise InputError(f"line {line + index}", "be an event of this study", tuple(event), "the file is damaged")


def _is_verdict(note: str | None) -> bool:
    try:
        from_note(note or "")
    except (ValueError, KeyError, TypeError):
        return False
    return True
