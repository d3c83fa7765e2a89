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
from bestarm.import_paths import import_path, is_import_path, policy_at
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
    own_version : str or None
        Of a method of the user's own, likewise, if its class states one.
    """

    arms: list[Label]
    question: dict[str, Any]
    lease: float
    completed: dict[str, Any]
    version: str
    own_version: str | None = None

    def to_json(self) -> str:
        """Return it as JSON; a lease that never ends is null, and a version that is not stated is left out."""
        fields = {**asdict(self), "lease": None if math.isinf(self.lease) else self.lease}
        return json.dumps({name: value for name, value in fields.items() if name != "own_version" or value is not None})

    @property
    def method(self) -> str:
        """The name of the method, or the import path of one of the user's own."""
        return str(self.question["method"])

    def finder(self) -> Folded:
        """Return a new identifier that asks this question; refuse one whose options now mean something else."""
        here, there = f"bestarm {version('bestarm')}", f"bestarm {self.version}"
        if is_import_path(self.method):
            here, there = f"{self.method} of now", f"{self.method} of then"
            stated = _stated_version(policy_at(kept_name(self.method)))
            if stated != self.own_version:
                what = f"{here} has version {stated}, and {there}, which made it, {self.own_version}"
                raise StoreError("the study can't be continued", what, f"use {there} for it")
        finder = Folded(self.arms, **self.question)
        now, then = _as_json(finder.result.options), self.completed
        changed = sorted(name for name in {*now, *then} if json.dumps(now.get(name)) != json.dumps(then.get(name)))
        if changed:
            what = f"{here} has other defaults of {', '.join(changed)} than {there}, which made it"
            raise StoreError("the study can't be continued", what, f"use {there} for it")
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
    question = {**question, "method": kept_name(question["method"])}
    probe = Folded(arms, **question)
    labels = list(probe.labels)
    for label in labels:
        if not isinstance(label, LABELS):
            raise InputError("arms", "be strings, numbers or bools in a study", label, "others have no form in a table")
    question = _as_json({**question, "epsilon": float(question["epsilon"]), "delta": float(question["delta"])})
    own = policy_at(question["method"]) if is_import_path(question["method"]) else None
    settings = Settings(
        labels,
        question,
        _lease(lease, question["epsilon"]),
        _as_json(probe.result.options),
        version("bestarm"),
        None if own is None else _stated_version(own),
    )
    return read_settings(settings.to_json())


def kept_name(method: Any) -> str:
    """Return a method as a study keeps it: the name, or the import path of a class that is a policy."""
    if is_import_path(method):
        method = policy_at(method)
    return method if isinstance(method, str) else import_path(method)


def _stated_version(policy: Any) -> str | None:
    stated = getattr(policy, "version", None)
    return None if stated is None else str(stated)


def _as_json(options: dict[str, Any]) -> dict[str, Any]:
    """Return options as they come back from a table."""
    try:
        found: dict[str, Any] = json.loads(json.dumps(options, default=_plain_number))
    except (TypeError, ValueError):
        raise InputError("options", "be numbers, strings or bools in a study", options, "leave them out") from None
    return found


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
    return json.dumps({"seq": seq, "result": decision.to_dict()}, default=_plain_number)


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
