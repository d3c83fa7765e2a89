"""What a study is about, as it stands in the database: the question, the method, how long a pull may take."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from bestarm.checks import number
from bestarm.errors import InputError, StoreError
from bestarm.live.fold import Folded
from bestarm.problem import Label
from bestarm.result import ArmRow, Result

HOUR = 3600.0
LABELS = (str, int, float, bool)


@dataclass(frozen=True)
class Settings:
    """A study's question, method and lease.

    Attributes
    ----------
    arms : list
        Labels: strings, numbers or bools.
    question : dict
        delta, epsilon, sigma, bounds, method and the options of the method that were given.
    lease : float
        Seconds after which a pull that was neither told nor cancelled counts as cancelled; infinite for never.
    completed : dict
        All options of the method, defaults included, as of `version`.
    version : str
        Of bestarm, when the study was made.
    """

    arms: list[Label]
    question: dict[str, Any]
    lease: float
    completed: dict[str, Any]
    version: str

    def to_json(self) -> str:
        """Return it as JSON; a lease that never ends is null."""
        return json.dumps({**asdict(self), "lease": None if math.isinf(self.lease) else self.lease})

    def finder(self) -> Folded:
        """Return a new identifier that asks this question; refuse one whose options now mean something else."""
        finder = Folded(self.arms, **self.question)
        now = json.loads(json.dumps(finder.result.options))
        if now != self.completed:
            changed = sorted(name for name in {*now, *self.completed} if now.get(name) != self.completed.get(name))
            raise StoreError(
                "the study can't be continued",
                f"bestarm {version('bestarm')} has other defaults of {', '.join(changed)} than {self.version}, "
                "which made it",
                f"use bestarm {self.version} for it",
            )
        return finder

    def differences(self, other: Settings) -> list[str]:
        """Return the names of what two studies do not share."""
        mine, theirs = self._compared(), other._compared()
        different = [name for name in mine if mine[name] != theirs[name]]
        return different or (["options"] if self.completed != other.completed else [])  # defaults follow from the rest

    def _compared(self) -> dict[str, Any]:
        names = ("delta", "epsilon", "sigma", "bounds", "method")
        return {"arms": self.arms, **{name: self.question.get(name) for name in names}, "lease": self.lease}


def read_settings(text: str) -> Settings:
    """Return what `to_json` wrote."""
    fields = json.loads(text)
    bounds = fields["question"].get("bounds")
    fields["question"]["bounds"] = None if bounds is None else tuple(bounds)
    fields["lease"] = math.inf if fields["lease"] is None else fields["lease"]
    return Settings(**fields)


def new_settings(arms: Any, lease: float | None, question: dict[str, Any]) -> Settings:
    """Return checked settings of a new study, or refuse them."""
    method = question.get("method", "")
    if not isinstance(method, str):
        fix = "processes that share a study have no way to share a policy; use Identifier in one of them"
        raise InputError("method", "be a name of the catalogue in a study", method, fix)
    probe = Folded(arms, **question)
    labels = list(probe.labels)
    for label in labels:
        if not isinstance(label, LABELS):
            raise InputError("arms", "be strings, numbers or bools in a study", label, "others have no form in a table")
    question = {**question, "epsilon": float(question["epsilon"]), "delta": float(question["delta"])}
    try:
        question = json.loads(json.dumps(question, default=_plain_number))
    except TypeError:
        raise InputError("options", "be numbers, strings or bools in a study", question, "leave them out") from None
    completed = json.loads(json.dumps(probe.result.options, default=_plain_number))
    settings = Settings(labels, question, _lease(lease, question["epsilon"]), completed, version("bestarm"))
    return read_settings(settings.to_json())


def _plain_number(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    raise TypeError


def _lease(lease: float | None, epsilon: float) -> float:
    if lease is None:
        return HOUR if epsilon > 0.0 else math.inf
    seconds = number(lease)
    if not seconds > 0.0:
        raise InputError("lease", "be a number of seconds > 0", lease, "math.inf for pulls that never expire")
    if epsilon == 0.0 and seconds < math.inf:
        raise InputError(
            "lease", "be left out with epsilon = 0", lease, "what never comes counts as replaced, and nothing may be"
        )
    return seconds


def to_note(decision: Result, seq: int) -> str:
    """Return a bare verdict as JSON, with the sequence number of the event that led to it."""
    return json.dumps({"seq": seq, "result": decision.to_dict()})


def from_note(note: str) -> tuple[int, Result]:
    """Return what `to_note` wrote."""
    stored = json.loads(note)
    fields = stored["result"]
    fields["arms"] = tuple(ArmRow(**row) for row in fields["arms"])
    for name in ("candidates", "alarms", "bounds"):
        fields[name] = None if fields[name] is None else tuple(fields[name])
    return int(stored["seq"]), Result(**fields)


def source_text(source: Hashable | None) -> str | None:
    """Return a source as JSON, or refuse what has no form in a table."""
    if source is None:
        return None
    if hasattr(source, "item"):
        source = source.item()  # of NumPy
    if not isinstance(source, LABELS):
        raise InputError("source", "be a string, a number or a bool in a study", source, "such as a voter's id")
    return json.dumps(source)
