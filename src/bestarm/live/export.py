"""A study as a file, and the replay of that file, for a reader who has nothing else.

Each line is a JSON object. The first has the name, the token, the settings of the study and when it was created. Every
other line is an event, with the label of its arm and the id of its pull beside their numbers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bestarm.errors import InputError
from bestarm.identification.ledger import Pull
from bestarm.identification.result import Result
from bestarm.live.backends._base import StudyRow
from bestarm.live.events import ARCHIVE, ASK, CANCEL, DECIDE, EXPIRE, RENEW, TELL, Event, logged
from bestarm.live.settings import from_note, read_settings, read_source

FORMAT = "bestarm study 1"


def lines_of(row: StudyRow, events: Iterable[Event]) -> Iterator[str]:
    """Return the lines of an export."""
    settings = json.loads(row.settings)
    head = {"format": FORMAT, "name": row.name, "token": row.token, "created": row.created, "settings": settings}
    yield json.dumps(head)
    for event in logged(events, settings["arms"], row.token):
        yield json.dumps({field: value for field, value in event._asdict().items() if value is not None})


@dataclass(frozen=True)
class Replay:
    """The decision that follows from the log of a study, beside the one recorded in it.

    Attributes
    ----------
    name : str
        Of the study.
    result : Result
        The verdict of an identifier, without a database, that took in the asks and tells one by one.
    decided_at : int or None
        Sequence number of the event that led to this decision.
    recorded : Result or None
        The decision recorded in the log, without leads and other parts that take long to compute.
    recorded_at : int or None
        Its sequence number there.
    """

    name: str
    result: Result
    decided_at: int | None
    recorded: Result | None
    recorded_at: int | None

    @property
    def agrees(self) -> bool:
        """Whether the recorded decision is the one that follows from the log."""
        if self.recorded is None or self.decided_at is None:
            return self.recorded is None and self.decided_at is None
        found = self.result
        return (found.status, found.best, found.candidates, found.pulls, self.decided_at) == (
            self.recorded.status,
            self.recorded.best,
            self.recorded.candidates,
            self.recorded.pulls,
            self.recorded_at,
        )


def replay(path: str | os.PathLike[str]) -> Replay:
    """Replay an exported log, reward by reward, and return its verdict beside the recorded one."""
    rows = rows_of(Path(path))
    number, head = next(rows, (1, {}))
    if head.get("format") != FORMAT:
        raise InputError("file", f"begin with a line of the format {FORMAT!r}", str(path), "bestarm study export")
    try:
        settings = read_settings(json.dumps(head["settings"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError("line 1", "have the settings of a study", head, f"{error!r}") from None
    finder = settings.finder()
    pulls: dict[int, Pull] = {}
    decided_at = recorded_at = None
    recorded = None
    for number, row in rows:
        try:
            kind = row["kind"]
            if row["seq"] != number - 1:
                raise InputError(f"seq in line {number}", f"be {number - 1}", row["seq"], "events are missing")
            if kind == ASK:
                if row["pull"] != len(pulls) or not 0 <= row["arm"] < len(settings.arms):
                    raise KeyError("pull or arm")
                pulls[row["pull"]] = finder.assign(row["arm"], read_source(row.get("source")))
            elif kind == TELL:
                finder.tell(pulls[row["pull"]], row["value"], read_source(row.get("source")))
            elif kind in (CANCEL, EXPIRE):
                finder.cancel(pulls[row["pull"]])
            elif kind == DECIDE:
                recorded_at, recorded = from_note(row["note"])
            elif kind not in (ARCHIVE, RENEW):
                raise KeyError(kind)
        except (KeyError, IndexError, TypeError, json.JSONDecodeError) as error:
            raise InputError(f"line {number}", "be an event of this study", row, f"{error!r}") from None
        if finder.done and decided_at is None:
            decided_at = row["seq"]
    return Replay(head["name"], finder.result, decided_at, recorded, recorded_at)


def rows_of(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Go through the lines of an export with their numbers; reject a line that is not a JSON object."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    row = json.loads(line)
                except ValueError:
                    row = None
                if not isinstance(row, dict):
                    raise InputError(
                        f"line {number}", "be a JSON object", line[:80], "bestarm study export writes them"
                    )
                yield number, row
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("file", "be an export that can be read", str(path), str(error)) from None
