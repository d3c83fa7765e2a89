"""The verdict as data: the answer and everything that it rests on."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Generic, Literal

from bestarm.extras import needs
from bestarm.identification.waiting import Waiting
from bestarm.identification.wording.verdict import Words
from bestarm.problem import LabelT

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Status = Literal["identified", "indistinguishable", "undecided"]
Limit = Literal["contamination", "resolution", "budget"]
STATUSES: tuple[Status, ...] = ("undecided", "identified", "indistinguishable")  # by their code in the kernels
LIMITS: tuple[Limit | None, ...] = (None, "contamination", "resolution")  # likewise; "budget" is set by drivers
_MOST_ROWS = 50  # of a table in a notebook


@dataclass(frozen=True)
class ArmRow(Generic[LabelT]):
    """The rewards of an arm, its estimate and interval, and whether it is still in question (`active`)."""

    label: LabelT
    pulls: int
    estimate: float
    lower: float
    upper: float
    active: bool


@dataclass(frozen=True)
class Result(Generic[LabelT]):
    """The answer of an identification and everything that it rests on; `str()` is a sentence, and one for each alarm.

    Attributes
    ----------
    status : {"identified", "indistinguishable", "undecided"}
        A winner was named; the method stopped without one; or it has not stopped.
    best : label or None
        The winner, if one was named.
    candidates : tuple of label
        The arms that have not been ruled out so far.
    leader : label or None
        The best guess so far. Never a claim.
    pulls : int
        Rewards used for the decision.
    delta, epsilon, sigma : float
        The question: accepted error, contamination allowed for, noise.
    bounds : (float, float) or None
        Lowest and highest reward, if they were given instead of sigma.
    method, options : str, dict
        How it was answered.
    arms : tuple of ArmRow
        Estimates and intervals at the time of the decision.
    promise : str
        The assumptions under which the error probability is at most delta, or is meant to be, besides sigma or bounds:
        what was replaced, independent rewards, one mean per arm, the order. Empty for a method of your own, whose
        assumptions are not known. `assumptions` is a list of them.
    proved : bool
        Whether that is proved. If not, the sentence says so.
    limit : {None, "contamination", "resolution", "budget"}
        Why no winner was named: contamination could hide the remaining lead; the method reached its resolution; or it
        was stopped from outside.
    leads : dict
        Lower bounds of the lead of the winner (or the leader) over each other arm, all true with probability 1 - delta
        if it is the best; negative where it may be behind. This and the next three are of the certified method only.
    p_value : float or None
        Of the hypothesis that some other arm is at least as good as the winner (or the leader); valid at any time.
    tolerance : float or None
        Largest epsilon up to which the same rewards single out the winner; live, the largest of a grid.
    overturn : int or None
        Largest number of replaced rewards with which the rest still single out the winner: on each arm or in all,
        depending on the contamination.
    alarms : tuple of str
        How the data contradict the assumptions.
    cancelled : int
        Pulls that were cancelled. They count as replaced rewards; with sources, as sources that may be dishonest.
    detectable : float or None
        If it stopped at its resolution: the lead of one arm over another that would have been found with probability
        0.9, had all rewards been clean, at this epsilon and number of rewards (simulated; certified method).
    waiting : Waiting
        Rewards that have come in but are not used yet, as they wait for pulls that are still out. None after the
        decision.
    """

    status: Status
    best: LabelT | None
    candidates: tuple[LabelT, ...]
    pulls: int
    delta: float
    epsilon: float
    sigma: float
    method: str
    options: dict[str, Any]
    arms: tuple[ArmRow[LabelT], ...]
    promise: str
    leader: LabelT | None = None
    limit: Limit | None = None
    leads: dict[LabelT, float] = field(default_factory=dict)
    p_value: float | None = None
    tolerance: float | None = None
    overturn: int | None = None
    alarms: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    proved: bool = True
    cancelled: int = 0
    detectable: float | None = None
    waiting: Waiting = field(default_factory=Waiting)

    def __str__(self) -> str:
        return self._words().everything()

    def _words(self) -> Words:
        return Words(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickle, also one from before `p_value` had this name."""
        state = dict(state)
        if "evidence" in state:
            state["p_value"] = state.pop("evidence")
        self.__dict__.update(state)

    @property
    def evidence(self) -> float | None:
        """The old name of `p_value`."""
        warnings.warn("Result.evidence is now called p_value", DeprecationWarning, stacklevel=2)
        return self.p_value

    @property
    def trusted(self) -> bool:
        """Whether an arm is named, and no alarm contradicts it."""
        return self.best is not None and not self.alarms

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions of the promise, one by one."""
        return tuple(self.promise.split("; ")) if self.promise else ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists and numbers; `evidence` is the old name of `p_value`."""
        fields = asdict(self)
        fields["evidence"] = self.p_value
        fields["assumptions"] = list(self.assumptions)
        for name in ("arms", "candidates", "alarms"):
            fields[name] = list(fields[name])
        fields["waiting"] = self.waiting.to_dict()
        return fields

    def to_json(self) -> str:
        """Return the same as strict JSON: null for infinities and NaN, and text for labels that JSON does not have."""
        return json.dumps(as_json(self.to_dict()), default=str, allow_nan=False)

    def to_frame(self) -> pd.DataFrame:
        """Return a table of the arms: label, pulls, estimate, lower, upper, active, lead of the winner over it."""
        needs("pandas")
        import pandas as pd  # takes half a second to load

        rows = [{**asdict(row), "lead": self.leads.get(row.label, math.nan)} for row in self.arms]
        return pd.DataFrame(rows, columns=["label", "pulls", "estimate", "lower", "upper", "active", "lead"])

    def plot(self, axes: Axes | None = None) -> Figure:
        """Return a figure of the arms' intervals and the winner's leads; on given axes, of the intervals alone."""
        from bestarm.identification.pictures import draw_result

        return draw_result(self, axes=axes)

    def _repr_html_(self) -> str:
        """Return the sentence and the table of arms for a notebook; the winner is bold, arms ruled out are faded.

        By plain strings, as the package itself does not install a template engine.
        """
        head = "".join(f"<th>{name}</th>" for name in ("arm", "rewards", "estimate", "lower", "upper", "lead over it"))
        rows = "".join(self._html_row(row) for row in self.arms[:_MOST_ROWS])
        more = len(self.arms) - _MOST_ROWS
        rest = f"<p>and {more:,} more arms</p>" if more > 0 else ""
        return f"<p>{escape(str(self))}</p><table><tr>{head}</tr>{rows}</table>{rest}"

    def _html_row(self, row: ArmRow[LabelT]) -> str:
        numbers = (row.estimate, row.lower, row.upper, self.leads.get(row.label, math.nan))
        cells = [escape(str(row.label)), f"{row.pulls:,}", *("" if math.isnan(x) else f"{x:.4g}" for x in numbers)]
        if row.label == self.best:
            cells[0] = f"<b>{cells[0]}</b>"
        style = "" if row.label in self.candidates else ' style="opacity: .55"'
        return f"<tr{style}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def as_json(value: Any) -> Any:
    """Return a value as strict JSON has it: None for infinities and NaN, and text for keys."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return value
