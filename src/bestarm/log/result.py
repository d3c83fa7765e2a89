"""The verdict on a log, in words that are right for one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bestarm.identification.result import NOT_SETTLED, ArmRow, Result, listed, share_shown, shown
from bestarm.identification.robustness import Sensitivity
from bestarm.log.rewards import Health
from bestarm.problem import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NO_FORECAST = (
    "how many more rewards would decide it cannot be forecast (not even a thousand times as many of this kind would, "
    "or there is too little to go by)"
)
_VISIBLE = 0.25  # of an interval: how far a mean is from the estimate to be spoken of


@dataclass(frozen=True)
class LogResult(Result):
    """What a log says: a `Result`, and what only a log has.

    `str()` is one sentence, one for each plain mean in it that is not the estimate, and one for each alarm.

    For a verdict without a winner, `leads`, `p_value`, `tolerance` and `overturn` are those of the leader: tolerance
    and overturn say how much at most may be replaced for it to be named (None: not even with nothing replaced; also
    after an alarm, and without a winner in a replay). They are the same whichever epsilon was asked about, unless it
    sets off an alarm or sigma was estimated for it; tolerance is never below the epsilon at which an arm is named.

    Attributes
    ----------
    rows : int
        Rewards in the log, those missing and counted as replaced included; `pulls` are those that were used.
    replaced : int or None
        How many may have been replaced (sources be dishonest), missing ones included; None if a coin decides.
        Where it is counted arm by arm, the largest number.
    sources : int or None
        Distinct sources, where the contamination is of sources; `overturn` then counts sources.
    ignored : int
        Rewards that were not used: those after the decision in a replay, those that sigma was estimated from, and those
        of a source on an arm that it had rewarded before.
    sensitivity : tuple of Sensitivity
        The verdict at each epsilon of a grid, by the same bets: those at any epsilon that is true are right, all
        together, with probability at least 1 - delta, so one may look up afterwards what the answer needs. Where a
        coin decides, `overturn` has a delta of its own beside that.
    more : dict
        A rough forecast for each arm in question: how many more rewards of the same kind would decide it. Empty if a
        winner was named, or where even a thousand times as many would not do.
    hint : str
        What may be wrong with the way the log was asked, or empty.
    sequential : bool
        Whether the log was replayed in its order.
    sigma_from : int or None
        Rewards that sigma was estimated from.
    means : dict
        The plain mean of the rewards of each arm that were used, replaced ones and all. The estimate of an arm, which
        lies in its interval, is the same within bounds and, mostly, at epsilon = 0; elsewhere rewards far out, which
        the evidence discounts, do not move it.
    discounted : dict
        For each arm how many rewards lie so far from its estimate, on the side of its mean, that every bet is clipped.
    health : Health
        What the file was like.
    """

    rows: int = 0
    replaced: int | None = None
    sources: int | None = None
    ignored: int = 0
    sensitivity: tuple[Sensitivity, ...] = ()
    more: dict[Label, int] = field(default_factory=dict)
    hint: str = ""
    sequential: bool = False
    sigma_from: int | None = None
    means: dict[Label, float] = field(default_factory=dict)
    discounted: dict[Label, int] = field(default_factory=dict)
    health: Health = field(default_factory=Health)

    def plot(self, axes: Axes | None = None) -> Figure:
        """Return a figure of intervals, leads, and verdicts at other epsilons; on axes that are given, the intervals.

        Examples
        --------
        >>> import pandas as pd
        >>> from bestarm import identify_log
        >>> votes = pd.DataFrame({"caption": ["A"] * 200 + ["B"] * 200, "stars": [2, 1] * 100 + [5, 4] * 100})
        >>> result = identify_log(votes, arm="caption", reward="stars", epsilon=0.02, bounds=(1, 5))
        >>> len(result.plot().axes)
        3
        """
        if axes is not None:
            return super().plot(axes)
        from bestarm.log.picture import draw

        return draw(self)

    def report(self, path: str | Path, *, command: str | None = None, logs: Sequence[Path] = ()) -> None:
        """Write one page about the verdict that can be handed on: .html, or .md with its picture beside it (.png).

        `command` is what was typed, and `logs` the files that were read, for "how to repeat it"; by default those that
        the health names.
        """
        from bestarm.log.report import write_report

        write_report(self, path, command=command, logs=logs)

    @property
    def _where(self) -> str:
        """Say what was looked at."""
        if self.sequential:
            how = "" if self.method == "certified" else f" through {self.method}"
            return f"by a replay in order{how} that used {self.pulls:,} rewards and ignored {self.ignored:,}"
        said = f"in {self.pulls:,} rewards"
        if self.sources is not None:
            paired = self.options.get("paired")
            by = (
                "what each of {} sources said of both"
                if paired
                else "whichever of the two each of {} sources rewarded first"
            )
            said = f"comparing each pair of arms by {by.format(f'{self.sources:,}')}"
        if self.sigma_from is not None:
            said += f" (sigma estimated from {self.sigma_from:,} others)"
        return said

    @property
    def middle(self) -> str:
        """What the estimates are: "mean" if all of them are plain means, else "estimate"."""
        same = (math.isclose(self.means[row.label], row.estimate) for row in self._known_rows())
        return "mean" if self.means and all(same) else "estimate"

    @property
    def moved_means(self) -> dict[Label, float]:
        """Plain means that are visibly not the estimate: out of the interval, or a quarter of it away."""
        moved = {}
        for row in self._known_rows():
            mean, width = self.means[row.label], row.upper - row.lower
            if not row.lower <= mean <= row.upper or abs(mean - row.estimate) > _VISIBLE * width:
                moved[row.label] = mean
        return moved

    def _known_rows(self) -> list[ArmRow]:
        """Return the arms that have a mean and an interval: after an alarm no mean may fit."""
        found = (row for row in self.arms if not math.isnan(self.means.get(row.label, math.nan)))
        return [row for row in found if row.lower <= row.upper]

    def _compared(self) -> str:
        rows = self._shown_rows()
        if rows is None or not self.means:
            return super()._compared()
        best, other = rows
        against = f"{other.estimate:.4g} for {shown(other.label)}{self._why(*rows)}"
        return f" ({self.middle} {best.estimate:.4g}, against {against})"

    def _asides(self) -> str:
        """Say where the plain mean of an arm in the sentence is not the estimate, and why."""
        moved = self.moved_means
        rows = [row for row in self._shown_rows() or () if row.label in moved]
        return "".join(f" {self._why_moved(row, moved[row.label])}." for row in rows)

    def _why_moved(self, row: ArmRow, mean: float) -> str:
        said = f"The plain mean of {shown(row.label)} is {mean:.4g}"
        number = self.discounted.get(row.label, 0)
        if not number:
            return f"{said}: rewards far out count for less in the estimate"
        those, pull = ("reward", "pulls") if number == 1 else ("rewards", "pull")
        way = "down" if mean < row.estimate else "up"
        return f"{said}: {number:,} {those} that the evidence discounts {pull} it {way}"

    def _listed(self) -> str:
        """List the arms in question, that which leads first."""
        return listed(sorted(self.candidates, key=lambda label: label != self.leader), 5)

    @property
    def _things(self) -> str:
        return "dishonest sources" if self.sources is not None else "replaced rewards"

    def _if_sigma(self) -> str:
        """Say that an estimated sigma is proved for the epsilon that was asked about, and not for another."""
        return "" if self.sigma_from is None else f"if sigma is at most {self.sigma:.3g} whatever epsilon is, "

    def overturn_in_words(self) -> str:
        """Say how many things the answer can withstand, such as "214 replaced rewards"; empty if that is not known."""
        if self.overturn is None:
            return ""
        what = self._things if self.overturn != 1 else self._things[:-1]
        besides = self.health.missing and self.health.missing_as == "replaced" and self.sources is None
        missing = " besides the missing ones" if besides else ""
        where = "" if self.options.get("contamination") in ("share-of-all", "sources") else " on an arm"
        return f"{self.overturn:,} {what}{where}{missing}"

    def _identified(self) -> str:
        within = self.options.get("good_enough")
        near = within is not None and len(self.candidates) > 1
        sentence = f"{self._named()}{self._compared()}, {self._where}: {self._terms()}"
        if self.tolerance is not None and not self.alarms and not near:
            sentence += f"; {self._if_sigma()}the same rewards would still single it out {self._up_to()}"
            if self.overturn is not None:
                and_so = "; " if self.sigma_from is None else ", and "
                sentence += f"{and_so}it would take more than {self.overturn_in_words()} to overturn it"
        return sentence

    def _up_to(self) -> str:
        assert self.tolerance is not None
        return f"with epsilon up to {share_shown(self.tolerance)}" if self.tolerance > 0.0 else "only at epsilon = 0"

    def _stopped(self) -> str:
        if self.limit != "contamination":
            ignored = f" (a replay that ignored {self.ignored:,} rewards after them)" if self.ignored else ""
            return super()._stopped() + ignored
        sentence = f"no winner is named among {self._listed()}, {self._where}: contamination of this kind "
        sentence += f"(epsilon = {self.epsilon:g}"
        if self.replaced is not None and not self.sequential:
            sentence += f", up to {self.replaced:,} {self._things}"
        sentence += f") could hide the remaining lead; {NOT_SETTLED}"
        sentence += self._leader_said()
        return f"{sentence}; ruled out: {self._ruled_out()}, {self._terms()}" if self._ruled_out() else sentence

    def _open(self) -> str:
        sentence = f"no winner is named among {self._listed()}, {self._where}: {self.outlook()}"
        sentence += self._leader_said()
        return f"{sentence}; ruled out: {self._ruled_out()}, {self._terms()}" if self._ruled_out() else sentence

    def outlook(self) -> str:
        """Say, without a winner for want of evidence, how many more rewards may decide it."""
        if self.sequential:
            return "more rewards may decide it"
        return f"more rewards may decide it, {self.forecast_in_words(5)}" if self.more else self.forecast_in_words()

    def forecast_in_words(self, most: int = 10) -> str:
        """Say about how many more rewards would decide it, of so many arms by name, or why that is not known."""
        if not self.more:
            return NO_FORECAST
        wanted = sorted(self.more, key=lambda label: -self.more[label])
        each = ", ".join(f"{self.more[label]:,} of {shown(label)}" for label in wanted[:most])
        others = f" and of {len(wanted) - most:,} more arms" if len(wanted) > most else ""
        whose = "" if self.sources is None else ", from new sources"
        return f"about {each}{others} (a rough forecast{whose})"

    def _leader_said(self) -> str:
        if self.leader is None:
            return ""
        said = f"; {self.hint}" if self.hint else ""
        said += f"; {self._is_ahead()}"
        if self.tolerance is None or self.overturn is None or self.alarms:
            return said
        if self.tolerance == 0.0 and self.overturn == 0:
            return f"{said}; {self._if_sigma()}it would be named if nothing had been replaced"
        share = f"if epsilon were at most {share_shown(self.tolerance)}, or " if self.tolerance > 0.0 else ""
        return f"{said}; {self._if_sigma()}it would be named {share}with at most {self.overturn_in_words()}"
