"""What the check of a certificate says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestarm.identification.wording.control import ControlWords
from bestarm.identification.wording.log_lines import LineWords

if TYPE_CHECKING:
    from bestarm.errors import InputError
    from bestarm.identification.wording.log_verdict import LogFacts

CHANGED = "The certificate was changed after it was written: its checksum does not fit."
CHECKED = (
    "Checked here, without trusting who sent it: that your file has the rows of the certificate, by their SHA-256, and "
    "that its question, asked of these rows, gives every number and word of the evidence and the verdict again."
)
NOT_CHECKED = (
    "This cannot be checked from here: that the file is the log as it was recorded; that the question was chosen "
    "before the rewards were seen; and that the assumptions are true:"
)
_LONGEST = 60  # letters of a value that differs


def verdict(holds: bool, result: LogFacts | None) -> str:
    """Return whether a certificate holds, in a sentence."""
    if not holds or result is None:
        return "The certificate does not hold for this log."
    words = LineWords if result.control is None else ControlWords
    first = words(result).first_line().rstrip(".")
    metric = result.metric
    same = metric.sources(result.rows) if metric.per else metric.rows(result.rows)  # of a ratio the sums are weighed
    return f"The certificate holds: {first}, from the same {same}."


def cannot_be_asked(error: InputError) -> str:
    """Return that the recorded question cannot be asked of a log, and why."""
    return f"Its question cannot be asked of this log: {error}."


def other_rows(said: Any, true: int) -> str:
    """Return that a log has other rows than a certificate."""
    if said == true:
        return f"The log has other rows: as many ({true:,}), but not the same."
    shown = f"{said:,}" if isinstance(said, int) else repr(said)
    return f"The log has other rows: {true:,}, where the certificate has {shown}."


def other_version(made_by: str, here: str) -> str:
    """Return that another version made a certificate, which may be why numbers differ."""
    return f"It was made by bestarm {made_by}; this is {here}. Check it with that version."


def difference(path: str, said: Any, true: Any) -> str:
    """Return that a certificate says something that does not come out of the log."""
    return f"{path}: the certificate says {_shown(said)}, the log gives {_shown(true)}."


def _shown(value: Any) -> str:
    if value is ...:
        return "nothing"
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
