"""The verdict, in a form that can be repeated to a sceptic."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from bestarm.problem import Label


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
        settings = (
            f"{self.method} after {self.pulls:,} rewards (delta = {self.delta:g}, sigma = {self.sigma:g}, "
            f"up to {self.epsilon:.3g} of the rewards contaminated; promise kept against {self.promise})"
        )
        if self.status == "identified":
            sentence = f"{self._named(self.best)} has the highest mean of {len(self.arms)} arms, by {settings}"
            runner_up = self._runner_up()
            if runner_up is not None and self.best is not None:
                winner = next(row for row in self.arms if row.label == self.best)
                sentence += (
                    f"; estimates {winner.estimate:.4g} against {runner_up.estimate:.4g} for {runner_up.label!r}"
                )
        elif self.status == "indistinguishable":
            sentence = f"no winner can be named among {self._listed()}, by {settings}"
        else:
            sentence = f"undecided among {self._listed()} so far, by {settings}"
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

    def _runner_up(self) -> ArmRow | None:
        others = [row for row in self.arms if row.label != self.best and not math.isnan(row.estimate)]
        return max(others, key=lambda row: row.estimate, default=None)

    def _listed(self) -> str:
        shown = ", ".join(repr(label) for label in self.candidates[:10])
        return shown if len(self.candidates) <= 10 else f"{shown} and {len(self.candidates) - 10} more"

    @staticmethod
    def _named(label: Label) -> str:
        return repr(label)


def _strict(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    return value
