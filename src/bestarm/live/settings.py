"""The settings of a study as they are stored: the question, the method, and the lease of a pull."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from typing import Any

from bestarm.contamination import Contamination
from bestarm.errors import ConflictError, InputError, StoreError
from bestarm.identification.result import ArmRow, Result
from bestarm.identification.waiting import read_waiting
from bestarm.live.fold import ReplayedIdentifier
from bestarm.methods import OwnMethod, get_method
from bestarm.policies.import_paths import import_path, is_import_path, policy_at
from bestarm.validation import number

LABELS = (str, int, float, bool)

# Defaults may change, and an old study must not: what is stored wins, and the rest is as it was when it was created.
SETTINGS_VERSION = 2  # of what is stored; bestarm 0.1.0 stored none until November 2026, which is version 1
NEW_LEASE = 600.0  # seconds
OLD_LEASES = {1: 3600.0}
# Options that a version did not have yet, with the value that leaves everything as it was, or a function of the number
# of arms that returns it.
ABSENT: dict[int, dict[str, Any]] = {1: {"radius": "rounds", "radius_arms": float}}

_PARTS = ("delta", "epsilon", "sigma", "bounds", "method")  # of a question; all else are options of the method


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
        Version of bestarm that created the study.
    own_version : str or None
        Version of the user's own method at that time, if its class states one.
    settings_version : int
        Selects the defaults for what is not stored.
    """

    arms: list[Any]
    question: dict[str, Any]
    lease: float
    completed: dict[str, Any]
    version: str
    own_version: str | None = None
    settings_version: int = SETTINGS_VERSION

    def to_json(self) -> str:
        """Return the settings as JSON; an infinite lease is null, and `own_version` is left out if it is None."""
        fields = {**asdict(self), "lease": None if math.isinf(self.lease) else self.lease}
        return json.dumps({name: value for name, value in fields.items() if name != "own_version" or value is not None})

    @property
    def method(self) -> str:
        """The name of the method, or the import path of one of the user's own."""
        return str(self.question["method"])

    def finder(self) -> ReplayedIdentifier:
        """Return a new identifier for this question; raise if its options have another meaning in this version."""
        here, there = f"bestarm {version('bestarm')}", f"bestarm {self.version}"
        if is_import_path(self.method):
            here, there = self.method, f"an earlier {self.method}"
            stated = _stated_version(policy_at(kept_name(self.method)))
            if stated != self.own_version:
                what = f"{here} has version {stated}, and the study was created with version {self.own_version}"
                raise _not_continued(what, f"version {self.own_version} of it")
        question: dict[str, Any] = {name: self.question.get(name) for name in _PARTS}
        absent = ABSENT.get(self.settings_version, {})
        then = {name: value(len(self.arms)) if callable(value) else value for name, value in absent.items()}
        options = {**then, **self.completed}
        known = set(_options_known(question["method"], options))
        gone = sorted(name for name in self.completed if name not in known)
        if gone:
            raise _not_continued(f"{here} has no option {', '.join(gone)}, and {there}, which created it, had", there)
        try:
            finder = ReplayedIdentifier(
                self.arms, **question, **{name: options[name] for name in options if name in known}
            )
        except InputError as error:
            raise _not_continued(f"{here} rejects the settings of {there}, which created it: {error}", there) from None
        now, then = _as_json(finder.result.options), self.completed
        changed = sorted(name for name in then if json.dumps(now.get(name)) != json.dumps(then[name]))
        if changed:  # such as None, which was the default then, and can't be asked for now
            what = f"{', '.join(changed)} had another meaning in {there}, which created it, than in {here}"
            raise _not_continued(what, there)
        return finder

    def differences(self, stored: Settings, *, lease_given: bool) -> list[str]:
        """Return the names of the settings that differ from those of a stored study.

        Options that neither of them has given are not compared: their defaults may have changed since.
        """
        mine = {"arms": self.arms, **{name: self.question.get(name) for name in _PARTS}}
        theirs = {"arms": stored.arms, **{name: stored.question.get(name) for name in _PARTS}}
        different = [name for name in mine if mine[name] != theirs[name]]
        if stored.lease != (self.lease if lease_given else stored.default_lease):
            different.append("lease")
        given = {name for one in (self, stored) for name in one.question if name not in _PARTS}
        now, then = ({name: one.completed.get(name) for name in sorted(given)} for one in (self, stored))
        return different or (["options"] if json.dumps(now) != json.dumps(then) else [])

    def require_same(self, wanted: Settings, name: str, *, lease_given: bool) -> None:
        """Raise if somebody reopens the study with other settings."""
        different = wanted.differences(self, lease_given=lease_given)
        if different:
            mine, theirs = ({**one.question, **vars(one), "options": one.completed} for one in (self, wanted))
            stored = ", ".join(repr(mine[part]) for part in different)
            raise ConflictError(
                ", ".join(different),
                f"be as when the study {name!r} was created ({stored})",
                [theirs[part] for part in different],
                "leave all settings out to reopen it, or use another name",
            )

    @property
    def default_lease(self) -> float:
        """The default lease, in seconds, of the version that created the study."""
        return OLD_LEASES.get(self.settings_version, NEW_LEASE) if self.question["epsilon"] > 0.0 else math.inf


def _not_continued(reason: str, needed: str) -> StoreError:
    return StoreError("the study can't be continued", reason, f"use {needed} for it")


def read_settings(text: str) -> Settings:
    """Return what `to_json` wrote, in this version or an older one; raise if a newer one wrote it."""
    fields = {"settings_version": 1, **json.loads(text)}
    if fields["settings_version"] > SETTINGS_VERSION:
        reason = f"its settings are of a newer version of bestarm ({fields.get('version')})"
        raise StoreError("the study can't be continued", reason, "install that version")
    bounds = fields["question"].get("bounds")
    fields["question"]["bounds"] = None if bounds is None else tuple(bounds)
    fields["lease"] = math.inf if fields["lease"] is None else fields["lease"]
    return Settings(**fields)


def new_settings(arms: Any, lease: float | None, question: dict[str, Any]) -> Settings:
    """Check the settings of a new study, and return them."""
    question = {**question, "method": kept_name(question["method"])}
    probe = ReplayedIdentifier(arms, **question)
    if isinstance(model := probe.result.options.get("contamination"), Contamination):
        fix = "a database keeps names only: use an Identifier, or add the model to the folder bestarm/contamination"
        raise InputError("contamination", "be the name of a model in a study", model, fix)
    labels = list(probe.labels)
    for label in labels:
        if not isinstance(label, LABELS):
            raise InputError("arms", "be strings, numbers or bools in a study", label, "a database can't store others")
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
    """Return a method as a study stores it: its name, or the import path of a policy class."""
    if is_import_path(method):
        method = policy_at(method)
    return method if isinstance(method, str) else import_path(method)


def _options_known(method: str, options: dict[str, Any]) -> Iterable[str]:
    """Return the names of the options that a method has."""
    found = get_method(method)
    if isinstance(found, OwnMethod) and found.takes_others:
        return options
    return [option.name for option in found.options]


def _stated_version(policy: Any) -> str | None:
    stated = getattr(policy, "version", None)
    return None if stated is None else str(stated)


def _as_json(options: dict[str, Any]) -> dict[str, Any]:
    """Return options as they are read back from a database."""
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
        return NEW_LEASE if epsilon > 0.0 else math.inf
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
    known = {each.name for each in fields(Result)}  # the rest is derived from these
    found = {name: value for name, value in stored["result"].items() if name in known}
    found["arms"] = tuple(ArmRow(**row) for row in found["arms"])
    found.setdefault("p_value", stored["result"].get("evidence"))  # its old name
    found["waiting"] = read_waiting(found.get("waiting"))
    for name in ("candidates", "alarms", "bounds"):
        found[name] = None if found[name] is None else tuple(found[name])
    return int(stored["seq"]), Result(**found)


def source_text(source: Hashable | None) -> str | None:
    """Return a source as JSON; raise if a database can't store it."""
    if source is None:
        return None
    if hasattr(source, "item"):
        source = source.item()  # of NumPy
    if not isinstance(source, LABELS):
        raise InputError("source", "be a string, a number or a bool in a study", source, "such as a voter's id")
    return json.dumps(source)


def read_source(text: str | None) -> Hashable | None:
    """Return what `source_text` wrote."""
    return None if text is None else json.loads(text)
