"""What a verdict says: who wins, after how many rewards, under which assumptions, and what it survives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bestarm.contamination import default, of_options, resolve
from bestarm.identification.wording.text import counted, listed, quoted, share_shown
from bestarm.identification.wording.waiting import for_how_many
from bestarm.problem import Label

if TYPE_CHECKING:
    from bestarm.identification.result import ArmRow, Result

NO_CLAIM = "no probability is claimed, as the rewards contradict the assumptions"
NOT_SETTLED = "more rewards of this kind would not settle it (a judgement, not covered by delta)"


class Words:
    """The sentences about the verdict of a live experiment."""

    def __init__(self, result: Result[Any]) -> None:
        self.result = result
        self.model = of_options(result.options) or resolve(default("live"))

    # ------------------------------------------------------------------------------------------------------- the facts

    @property
    def first(self) -> Label | None:
        """The winner or, without one, the leader."""
        return self.result.best if self.result.best is not None else self.result.leader

    @property
    def sign(self) -> float:
        """1 if higher rewards are better, -1 if lower ones are."""
        return 1.0

    @property
    def is_near(self) -> bool:
        """Whether the winner is only known to be good enough: others are not ruled out."""
        return self.result.options.get("good_enough") is not None and len(self.result.candidates) > 1

    @property
    def is_own(self) -> bool:
        """Whether the method is a policy of the user's own, of which no promise is known."""
        return not self.result.promise

    @property
    def leads(self) -> dict[Any, float]:
        """The leads that are finite; none after an alarm, when nothing is claimed."""
        result = self.result
        return {} if result.alarms else {label: lead for label, lead in result.leads.items() if math.isfinite(lead)}

    def compared_rows(self) -> tuple[ArmRow, ArmRow] | None:
        """Return the winner or leader, and the arm with the best estimate besides it."""
        known = [row for row in self.result.arms if not math.isnan(row.estimate)]
        known.sort(key=lambda row: -self.sign * row.estimate)
        best = next((row for row in known if row.label == self.first), None)
        other = next((row for row in known if row.label != self.first), None)
        return None if best is None or other is None else (best, other)

    # ---------------------------------------------------------------------------------------------------- the sentence

    def everything(self) -> str:
        """Return the verdict, and a sentence for each alarm."""
        return self.verdict() + "".join(f" Alarm: {alarm}." for alarm in self.result.alarms)

    def verdict(self) -> str:
        """Return the verdict in one sentence, and one for each number in it that needs explaining."""
        by_status = {"identified": self._identified, "indistinguishable": self._stopped}
        sentence = by_status.get(self.result.status, self._open)() + self._cancelled()
        if self.result.alarms and NO_CLAIM not in sentence:
            sentence += f"; {self.terms()}"
        return " ".join([f"{sentence}.", *self._asides()])

    def _asides(self) -> list[str]:
        """Return sentences that explain numbers of the verdict."""
        return []

    def _cancelled(self) -> str:
        number = self.result.cancelled
        if not number:
            return ""
        how = " and counted as replaced"
        if self.model.by_source:
            whose = "its source" if number == 1 else "their sources"
            how = f", and {whose} counted among those that may be dishonest"
        return f"; {counted(number, 'pull')} {'was' if number == 1 else 'were'} cancelled{how}"

    def terms(self) -> str:
        """Return how probable a wrong answer is, and under which assumptions."""
        result = self.result
        given = f"{self._noise()}, epsilon = {result.epsilon:g}"
        if result.alarms:
            return f"{NO_CLAIM} ({given})"
        if self.is_own:
            own = "the claim is the method's own, and bestarm knows of no promise for it"
            return f"asked for delta = {result.delta:g} ({given}); {own}"
        if not result.proved:
            meant = f"meant to be wrong with probability at most {result.delta:g}"
            return f"{meant} ({given}) if {result.promise}; this is not proved"
        return f"wrong with probability at most {result.delta:g} under its assumptions ({given}: {result.promise})"

    def _noise(self) -> str:
        bounds = self.result.bounds
        return f"sigma = {self.result.sigma:g}" if bounds is None else f"rewards from {bounds[0]:g} to {bounds[1]:g}"

    def claim(self, name: str) -> str:
        """Return what is claimed of the winner: after an alarm, no more than that it comes first."""
        result, many = self.result, f"{len(self.result.arms):,} arms"
        if result.alarms:
            return f"{name} comes first of {many}"
        if self.is_near:
            return f"{name} is within {result.options['good_enough']:g} of the highest mean of {many}"
        return f"{name} has the highest mean of {many}"

    def _identified(self) -> str:
        result = self.result
        if self.is_own:
            claim = f"{result.method} names {result.best!r} as the arm with the highest mean of {len(result.arms)}"
            return f"{claim}{self._compared()} after {result.pulls:,} rewards, {self.terms()}"
        claim = f"{self.claim(quoted(result.best))}{self._compared()}"
        sentence = f"{claim}: {result.method} stopped after {result.pulls:,} rewards, {self.terms()}"
        if result.tolerance is None or result.alarms or self.is_near:
            return sentence
        return sentence + self._survives()

    def _survives(self) -> str:
        """Return how much more may be replaced, if anything."""
        said = []
        if self.result.tolerance:
            said.append(f"with epsilon up to {share_shown(self.result.tolerance)}")
        if self.result.overturn:
            where = "in all" if self.model.shared else "on each arm"
            said.append(f"with {counted(self.result.overturn, 'reward')} replaced {where}")
        return f"; the same rewards would still single it out {', or '.join(said)}" if said else ""

    def _stopped(self) -> str:
        result = self.result
        sentence = f"no winner is named among {self._candidates()}: {result.method} stopped after {result.pulls:,} "
        if self.is_own:
            return f"{sentence}rewards, {self.terms()}"
        if result.limit == "contamination":
            hidden = f"because contamination of this kind (epsilon = {result.epsilon:g}) could hide the remaining lead"
            return f"{sentence}rewards, {hidden}; {NOT_SETTLED}{self._ruled_out()}"
        size = result.options.get("resolution")
        resolution = f"at its resolution{'' if size is None else f' of {size:g}'}{self._detectable()}"
        finer = "more rewards with a finer resolution may find a smaller one"
        return f"{sentence}rewards, {resolution}; {finer}{self._ruled_out()}"

    def _detectable(self) -> str:
        if self.result.detectable is None:
            return ", which names no winner"
        lead = f"a lead of {self.result.detectable:.2g} of one arm over another"
        return f": with as many clean rewards {lead} would have been found with probability 0.9"

    def _open(self) -> str:
        result = self.result
        sentence = f"undecided so far among {self._candidates()}: {result.method} "
        if result.limit == "budget":
            sentence += f"was stopped from outside after {result.pulls:,} rewards; more may decide it"
        else:
            sentence += f"has not stopped after {result.pulls:,} rewards"
        if result.waiting:
            sentence += f"; {result.waiting}"
        if result.leader is not None and result.pulls > 0:
            sentence += f"; {self.is_ahead()}"
        return sentence

    def is_ahead(self) -> str:
        """Return that the leader is ahead; and if its estimate is not the highest, by what it leads."""
        leader, rows = self.result.leader, self.result.arms
        known = {row.label: self.sign * row.estimate for row in rows if not math.isnan(row.estimate)}
        if known.get(leader, math.inf) < max(known.values(), default=-math.inf):
            return f"{quoted(leader)} comes first by what is sure of it, not by its estimate, and nothing is proved"
        return f"{quoted(leader)} is ahead, but that is not proved"

    def _compared(self) -> str:
        rows = self.compared_rows()
        if rows is None:
            return ""
        best, other = rows
        next_arm = f"next {quoted(other.label)} with {other.estimate:.4g}{self._why(best, other)}"
        return f" (estimate {best.estimate:.4g}, {next_arm})"

    def _why(self, best: ArmRow, other: ArmRow) -> str:
        """Return why an arm is named though the estimate of another is higher."""
        if self.sign * other.estimate <= self.sign * best.estimate:
            return ""
        if other.label in self.result.candidates:
            return ", which is not ruled out"
        if self.model.by_source:
            return ", which is ruled out: a pair of arms is compared by what each source said of the two"
        return ", which is ruled out: arms are compared in pairs, and not by these numbers"

    def _candidates(self) -> str:
        return listed(self.result.candidates)

    def _ruled_out(self) -> str:
        """Return the arms that are ruled out, with the terms on which they are; nothing if there are none."""
        left = set(self.result.candidates)
        out = [row.label for row in self.result.arms if row.label not in left]
        return f"; ruled out: {listed(out)}, {self.terms()}" if out else ""

    # -------------------------------------------------------------------------------------------------------- pictures

    def title(self, name: str, most: int) -> str:
        """Return the title of a picture with at most so many arms; `name` is the winner as a picture shows it."""
        result, arms = self.result, len(self.result.arms)
        named = f"{name} is named" if result.best is not None else f"no winner is named ({result.status})"
        more = f", the {most} best of {arms} arms" if arms > most else ""
        waits = f"\n{for_how_many(result.waiting)}" if result.waiting else ""
        return f"{named} after {result.pulls:,} rewards{more}{waits}"

    def leads_axis(self, name: str) -> str:
        """Return what an axis of leads shows; `name` is the winner or leader as a picture shows it."""
        return f"lead of {name} over the arm, if {name} is the best: at least, all together"

    def evidence_title(self, name: str) -> str:
        """Return the title of a picture of p-values over time."""
        return f"evidence that {name} is the best, valid at any time: the lower, the stronger"

    def enough_below(self) -> str:
        """Return what the line at delta means in it."""
        enough = f"below delta = {self.result.delta:g} it is enough to rule out every other arm"
        return f"{enough} (they are ruled out one by one)"
