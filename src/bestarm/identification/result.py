"""The verdict, in a form that can be repeated to a sceptic."""

from __future__ import annotations

import html
import json
import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal

from bestarm.contamination import Contamination, default, of_options, resolve
from bestarm.extras import needs
from bestarm.identification.waiting import Waiting
from bestarm.problem import Label, LabelT

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Status = Literal["identified", "indistinguishable", "undecided"]
Limit = Literal["contamination", "resolution", "budget"]
STATUSES: tuple[Status, ...] = ("undecided", "identified", "indistinguishable")  # by the code that kernels use
LIMITS: tuple[Limit | None, ...] = (None, "contamination", "resolution")  # likewise; "budget" is what a driver says
_NO_CLAIM = "no probability is claimed, as the rewards contradict the assumptions"
NOT_SETTLED = "more rewards of this kind would not settle it (a judgement, not covered by delta)"
_SHOWN = 10  # labels in a sentence
_LETTERS = 80  # of a label in it
_ROWS = 50  # of a table in a notebook


@dataclass(frozen=True)
class ArmRow(Generic[LabelT]):
    """What is known of one arm."""

    label: LabelT
    pulls: int
    estimate: float
    lower: float
    upper: float
    active: bool


@dataclass(frozen=True)
class Result(Generic[LabelT]):
    """The answer of an identification and all that it rests on; `str()` is one sentence, and one for each alarm.

    Attributes
    ----------
    status : {"identified", "indistinguishable", "undecided"}
        A winner was named; the method stopped without one; or it has not stopped.
    best : label or None
        The winner, if one was named.
    candidates : tuple of label
        The arms that have not been ruled out, at any time.
    leader : label or None
        The best guess at any time. Never a claim.
    pulls : int
        Rewards used for the decision.
    delta, epsilon, sigma : float
        The question: accepted error, contamination allowed for, noise.
    bounds : (float, float) or None
        Lowest and highest reward, where they were told in place of sigma.
    method, options : str, dict
        How it was answered.
    arms : tuple of ArmRow
        Estimates and intervals at the time of the decision.
    promise : str
        The assumptions under which the error probability is at most delta, or is meant to be, besides sigma or bounds:
        what was replaced, independent rewards, one mean per arm, the order; empty for a method of the user's own, for
        which none are known here. `assumptions` has them one by one.
    proved : bool
        Whether that is proved. If not, the sentence says so.
    limit : {None, "contamination", "resolution", "budget"}
        Why no winner was named: contamination could hide what is left of the lead; there were as many rewards as the
        resolution asks for; or it was stopped from outside.
    leads : dict
        Lower bounds of the lead of the winner (or the leader) over each other arm, all true with probability 1 - delta
        if it is the best; negative where it may be behind. Certified method only, as are the next three.
    p_value : float or None
        A p-value for the winner (or the leader) being the best, valid at any time.
    tolerance : float or None
        Largest epsilon of a grid, all smaller ones included, at which the rewards still single out the winner; of a log
        the largest there is.
    overturn : int or None
        Largest number of replaced rewards (on each arm, or of all, as the contamination is counted) likewise.
    alarms : tuple of str
        What the data say against the assumptions.
    cancelled : int
        Pulls that were given up: counted as replaced rewards, or, with sources, as of sources that may be dishonest.
    detectable : float or None
        If it stopped at its resolution: the lead of one arm over another that would have been found with probability
        0.9, had all rewards been clean, at this epsilon and number of rewards (simulated; certified method).
    waiting : Waiting
        Rewards that have come in and are not used yet, as they wait for pulls that are still out; none after the
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

    @property
    def _contamination(self) -> Contamination:
        """The contamination model; that of coins for a method that has no such option."""
        return of_options(self.options) or resolve(default("live"))

    def __str__(self) -> str:
        sentence = {"identified": self._identified, "indistinguishable": self._stopped}.get(self.status, self._open)()
        if self.cancelled:
            many = "1 pull was" if self.cancelled == 1 else f"{self.cancelled:,} pulls were"
            how = " and counted as replaced"
            if self._contamination.by_source:
                whose = "its source" if self.cancelled == 1 else "their sources"
                how = f", and {whose} counted among those that may be dishonest"
            sentence += f"; {many} cancelled{how}"
        if self.alarms and _NO_CLAIM not in sentence:
            sentence += f"; {self._terms()}"
        return sentence + "." + self._asides() + "".join(f" Alarm: {alarm}." for alarm in self.alarms)

    def _asides(self) -> str:
        """Return sentences that explain numbers of the first one."""
        return ""

    def _terms(self) -> str:
        noise = f"sigma = {self.sigma:g}"
        if self.bounds is not None:
            noise = f"rewards from {self.bounds[0]:g} to {self.bounds[1]:g}"
        if self.alarms:
            return f"{_NO_CLAIM} ({noise}, epsilon = {self.epsilon:g})"
        if self._is_own:
            return (
                f"asked for delta = {self.delta:g} ({noise}, epsilon = {self.epsilon:g}); "
                "the claim is the method's own, and bestarm knows of no promise for it"
            )
        if not self.proved:
            return (
                f"meant to be wrong with probability at most {self.delta:g} ({noise}, epsilon = {self.epsilon:g}) "
                f"if {self.promise}; this is not proved"
            )
        return (
            f"wrong with probability at most {self.delta:g} under its assumptions "
            f"({noise}, epsilon = {self.epsilon:g}: {self.promise})"
        )

    @property
    def _is_own(self) -> bool:
        """Whether the method is a policy of the user's."""
        return not self.promise

    def _identified(self) -> str:
        if self._is_own:
            claim = f"{self.method} names {self.best!r} as the arm with the highest mean of {len(self.arms)}"
            return f"{claim}{self._compared()} after {self.pulls:,} rewards, {self._terms()}"
        within = self.options.get("good_enough")
        near = within is not None and len(self.candidates) > 1
        sentence = f"{self._named()}{self._compared()}: "
        sentence += f"{self.method} stopped after {self.pulls:,} rewards, {self._terms()}"
        if self.tolerance is not None and not self.alarms and not near:
            sentence += self._survived()
        return sentence

    def _survived(self) -> str:
        """Say how much more may be replaced; nothing if that is nothing."""
        said = []
        if self.tolerance:
            said.append(f"with epsilon up to {share_shown(self.tolerance)}")
        if self.overturn:
            where = "in all" if self._contamination.shared else "on each arm"
            many = "reward" if self.overturn == 1 else "rewards"
            said.append(f"with {self.overturn:,} {many} replaced {where}")
        return f"; the same rewards would still single it out {', or '.join(said)}" if said else ""

    def _named(self) -> str:
        """Say what is claimed of the winner: no more than that it comes first if the rewards contradict themselves."""
        assert self.best is not None
        within, best, many = self.options.get("good_enough"), shown(self.best), f"{len(self.arms)} arms"
        if self.alarms:
            return f"{best} comes first of {many}"
        if within is not None and len(self.candidates) > 1:
            return f"{best} is within {within:g} of the highest mean of {many}"
        return f"{best} has the highest mean of {many}"

    def _stopped(self) -> str:
        sentence = f"no winner is named among {self._listed()}: {self.method} stopped after {self.pulls:,} rewards, "
        if self._is_own:
            return f"{sentence}{self._terms()}"
        if self.limit == "contamination":
            sentence += f"because contamination of this kind (epsilon = {self.epsilon:g}) could hide the remaining lead"
            sentence += f"; {NOT_SETTLED}"
        else:
            size = self.options.get("resolution")
            sentence += f"at its resolution{'' if size is None else f' of {size:g}'}{self._detectable_said()}; "
            sentence += "more rewards with a finer resolution may find a smaller one"
        return f"{sentence}; ruled out: {self._ruled_out()}, {self._terms()}" if self._ruled_out() else sentence

    def _detectable_said(self) -> str:
        if self.detectable is None:
            return ", which names no winner"
        return (
            f": with as many clean rewards a lead of {self.detectable:.2g} of one arm over another would have been "
            "found with probability 0.9"
        )

    def _open(self) -> str:
        sentence = f"undecided so far among {self._listed()}: "
        if self.limit == "budget":
            sentence += f"{self.method} was stopped from outside after {self.pulls:,} rewards; more may decide it"
        else:
            sentence += f"{self.method} has not stopped after {self.pulls:,} rewards"
        if self.waiting:
            sentence += f"; {self.waiting}"
        if self.leader is not None and self.pulls > 0:
            sentence += f"; {self._is_ahead()}"
        return sentence

    def _is_ahead(self) -> str:
        """Say that the leader is ahead, and if its estimate is not the highest, by what it leads."""
        assert self.leader is not None
        known = {row.label: row.estimate for row in self.arms if not math.isnan(row.estimate)}
        if known.get(self.leader, math.inf) < max(known.values(), default=-math.inf):
            return f"{shown(self.leader)} comes first by what is sure of it, not by its estimate, and nothing is proved"
        return f"{shown(self.leader)} is ahead, but that is not proved"

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
    def assumptions(self) -> tuple[str, ...]:
        """What the error probability rests on, one by one."""
        return tuple(self.promise.split("; ")) if self.promise else ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists and numbers; `evidence` is the old name of `p_value`."""
        fields = asdict(self)
        fields["evidence"] = self.p_value
        fields["assumptions"] = list(self.assumptions)
        fields["arms"] = [asdict(row) for row in self.arms]
        fields["candidates"] = list(self.candidates)
        fields["alarms"] = list(self.alarms)
        fields["waiting"] = self.waiting.to_dict()
        return fields

    def to_json(self) -> str:
        """Return the same as strict JSON: what is infinite or unknown is null, other labels are strings."""
        return json.dumps(as_json(self.to_dict()), default=str, allow_nan=False)

    def to_frame(self) -> pd.DataFrame:
        """Return a table of the arms: label, pulls, estimate, lower, upper, active, lead of the winner over it."""
        needs("pandas")
        import pandas as pd  # takes half a second that few need

        rows = [{**asdict(row), "lead": self.leads.get(row.label, math.nan)} for row in self.arms]
        return pd.DataFrame(rows, columns=["label", "pulls", "estimate", "lower", "upper", "active", "lead"])

    def plot(self, axes: Axes | None = None) -> Figure:
        """Return a figure of the arms' intervals and of the winner's leads; on axes that are given, the intervals."""
        from bestarm.identification.pictures import draw_result

        return draw_result(self, axes)

    def _repr_html_(self) -> str:
        """Return the sentence and the table of arms for a notebook."""
        head = "".join(f"<th>{name}</th>" for name in ("arm", "rewards", "estimate", "lower", "upper", "lead over it"))
        rows = "".join(self._html_row(row) for row in self.arms[:_ROWS])
        more = "" if len(self.arms) <= _ROWS else f"<p>and {len(self.arms) - _ROWS:,} more arms</p>"
        return f"<p>{html.escape(str(self))}</p><table><tr>{head}</tr>{rows}</table>{more}"

    def _html_row(self, row: ArmRow[LabelT]) -> str:
        numbers = (row.estimate, row.lower, row.upper, self.leads.get(row.label, math.nan))
        cells = [html.escape(str(row.label)), f"{row.pulls:,}", *("" if math.isnan(x) else f"{x:.4g}" for x in numbers)]
        if row.label == self.best:
            cells[0] = f"<b>{cells[0]}</b>"
        style = "" if row.label in self.candidates else ' style="opacity: .55"'
        return f"<tr{style}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"

    def _compared(self) -> str:
        rows = self._shown_rows()
        if rows is None:
            return ""
        best, other = rows
        return f" (estimate {best.estimate:.4g}, next {shown(other.label)} with {other.estimate:.4g}{self._why(*rows)})"

    def _shown_rows(self) -> tuple[ArmRow, ArmRow] | None:
        """Return the winner, or leader, and the arm with the highest estimate besides it."""
        first = self.best if self.best is not None else self.leader
        known = sorted((row for row in self.arms if not math.isnan(row.estimate)), key=lambda row: -row.estimate)
        best = next((row for row in known if row.label == first), None)
        other = next((row for row in known if row.label != first), None)
        return None if best is None or other is None else (best, other)

    def _why(self, best: ArmRow, other: ArmRow) -> str:
        """Say why an arm is named though the estimate of another is higher."""
        if other.estimate <= best.estimate:
            return ""
        if other.label in self.candidates:
            return ", which is not ruled out"
        if self._contamination.by_source:
            return ", which is ruled out: a pair of arms is compared by what each source said of the two"
        return ", which is ruled out: arms are compared in pairs, and not by these numbers"

    def _listed(self) -> str:
        return listed(self.candidates)

    def _ruled_out(self) -> str:
        left = set(self.candidates)
        return listed(tuple(row.label for row in self.arms if row.label not in left))


def shown(label: Label) -> str:
    """Return a label as a sentence has it: in quotes, and not too long.

    >>> shown("A"), len(shown("A" * 200))
    ("'A'", 83)
    """
    text = repr(label)
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS]}..."


def listed(labels: Sequence[Label], most: int = _SHOWN) -> str:
    """Return labels as a sentence has them, the first few of many.

    >>> listed(["A", "B", "C"], 2)
    "'A', 'B' and 1 more"
    """
    said = ", ".join(shown(label) for label in labels[:most])
    return said if len(labels) <= most else f"{said} and {len(labels) - most:,} more"


def share_shown(share: float) -> str:
    """Return a share up to which something holds, with three digits and never rounded up.

    >>> share_shown(0.0000125), share_shown(0.115), share_shown(0.05239), share_shown(0.1), share_shown(0.0)
    ('0.0000125', '0.115', '0.0523', '0.1', '0')
    """
    if share <= 0.0:
        return "0"
    decimals = 2 - math.floor(math.log10(share))
    text = f"{math.floor(share * 10.0**decimals + 1e-6) / 10.0**decimals:.{max(decimals, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def as_json(value: Any) -> Any:
    """Return a value as strict JSON has it: what is infinite or unknown is None, keys are texts."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return value
