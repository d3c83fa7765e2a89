"""The verdict, in a form that can be repeated to a sceptic."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from bestarm.problem import Label

STATUSES = ("undecided", "identified", "indistinguishable")  # by the code that kernels use


@dataclass(frozen=True)
class ArmRow:
    """What is known of one arm."""

    label: Label
    pulls: int
    estimate: float
    lower: float
    upper: float
    active: bool


@dataclass(frozen=True)
class Result:
    """The answer of an identification and all that it rests on; `str()` is one sentence.

    Attributes
    ----------
    status : {"identified", "indistinguishable", "undecided"}
        A winner was named; it is proved that none can be; or the method has not stopped yet.
    best : label or None
        The winner, if one was named.
    candidates : tuple of label
        The arms that may be the best as far as the method can tell.
    pulls : int
        Rewards used for the decision.
    delta, epsilon, sigma : float
        The question: accepted error, contamination reckoned with, noise.
    method, options : str, dict
        How it was answered.
    arms : tuple of ArmRow
        Estimates and intervals at the time of the decision.
    tolerance : float or None
        Largest epsilon at which the data still single out the winner, where the method can tell.
    alarms : tuple of str
        What the data say against the assumptions.
    promise : str
        Against what the error probability is kept.
    """

    status: str
    best: Label | None
    candidates: tuple[Label, ...]
    pulls: int
    delta: float
    epsilon: float
    sigma: float
    method: str
    options: dict[str, Any]
    arms: tuple[ArmRow, ...]
    promise: str
    tolerance: float | None = None
    alarms: tuple[str, ...] = ()

    def __str__(self) -> str:
        terms = (
            f"wrong with probability at most {self.delta:g} under its assumptions "
            f"(sigma = {self.sigma:g}, epsilon = {self.epsilon:g}, {self.promise})"
        )
        if self.status == "identified":
            sentence = f"{self.best!r} has the highest mean of {len(self.arms)} arms{self._lead()}: "
            sentence += f"{self.method} stopped after {self.pulls:,} rewards, {terms}"
            if self.tolerance is not None:
                sentence += f"; it would still be with up to {self.tolerance:.3g} of the rewards contaminated"
        elif self.status == "indistinguishable":
            sentence = f"no winner can be named among {self._listed()}: "
            sentence += f"{self.method} stopped after {self.pulls:,} rewards, {terms}"
        else:
            sentence = (
                f"undecided among {self._listed()} so far: {self.method} has not stopped after {self.pulls:,} rewards"
            )
        return sentence + "." + "".join(f" Alarm: {alarm}." for alarm in self.alarms)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists and numbers."""
        fields = asdict(self)
        fields["arms"] = [asdict(row) for row in self.arms]
        fields["candidates"] = list(self.candidates)
        fields["alarms"] = list(self.alarms)
        return fields

    def to_json(self) -> str:
        """Return the same as strict JSON: what is infinite or unknown is null, other labels are strings."""
        return json.dumps(_strict(self.to_dict()), default=str, allow_nan=False)

    def _lead(self) -> str:
        known = sorted((row for row in self.arms if not math.isnan(row.estimate)), key=lambda row: -row.estimate)
        best = next((row for row in known if row.label == self.best), None)
        other = next((row for row in known if row.label != self.best), None)
        if best is None or other is None:
            return ""
        return f" (estimate {best.estimate:.4g}, next {other.label!r} with {other.estimate:.4g})"

    def _listed(self) -> str:
        shown = ", ".join(repr(label) for label in self.candidates[:10])
        return shown if len(self.candidates) <= 10 else f"{shown} and {len(self.candidates) - 10} more"


def _strict(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    return value
