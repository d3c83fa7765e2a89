"""What a log says: the verdict in a sentence, what else it proves, and the question that is left to the reader."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bestarm.identification.comparison import Comparison, Uplift
from bestarm.identification.finding import Finding
from bestarm.identification.result import ArmRow, Result
from bestarm.identification.wording.blocks import Within
from bestarm.identification.wording.metric import Metric
from bestarm.identification.wording.text import counted, listed, named_in_cell, quoted, share_shown
from bestarm.identification.wording.uplift import uplift_fact
from bestarm.identification.wording.verdict import NOT_SETTLED, Words
from bestarm.problem import Label

if TYPE_CHECKING:
    from bestarm.identification.robustness import Sensitivity

NO_FORECAST = (
    "how many more rewards would decide it cannot be forecast (not even a thousand times as many of this kind would, "
    "or there is too little to go by)"
)
# What may come out at an epsilon.
NAMED, CONTRADICTED = "a winner is named", "the log contradicts this epsilon"
HIDDEN, TOO_LITTLE = "none: fakes may hide the lead", "none: too little evidence"
_NO_NAMES = Metric()  # also of a result that was pickled before there were any
_VISIBLE = 0.25  # of an interval: how far a mean must be from the estimate to be mentioned


@dataclass(frozen=True)
class LogFacts(Result):
    """A `Result`, and what only a log has; `bestarm.log.result.LogResult` explains its attributes."""

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
    for_all_counts: bool = False
    survival: tuple[tuple[int, float], ...] = ()
    stopping: str = "any"
    exact: bool = False
    floor: float | None = None
    lower_is_better: bool = False
    metric: Metric = _NO_NAMES
    inspected: bool = False
    findings: tuple[Finding, ...] = ()
    doubts: tuple[str, ...] = ()
    left_out: int = 0
    left_out_how: str | None = None
    within: Within | None = None
    batches: bool = False
    uplift: Uplift | None = None
    control: Label | None = None
    comparisons: tuple[Comparison, ...] = ()
    assigned: bool = False
    units: int | None = None
    where: str | None = None
    segment: str | None = None
    cap: float | None = None
    capped: int = 0
    per: str = ""
    per_source: str = ""

    @property
    def trusted(self) -> bool:
        """Whether an arm is named, no alarm contradicts it, and inspection found no more than it survives."""
        return self.best is not None and not self.alarms and not self.doubts

    @property
    def leads_hold(self) -> float:
        """The probability with which all leads hold together: in an exact test means cost a fifth of delta more."""
        costs_more = self.exact and self.options.get("good_enough") is None and self.control is None
        return max(1.0 - (1.2 if costs_more else 1.0) * self.delta, 0.0)

    @property
    def all_hold(self) -> float:
        """The probability with which leads and the uplift, with both bounds, hold together (section 18)."""
        paid = self.control is not None or (self.exact and self.options.get("good_enough") is not None)
        return max(1.0 - (1.0 if paid else 1.2) * self.delta, 0.0)

    @property
    def has_missing(self) -> bool:
        """Whether rewards are missing from the log and counted as replaced."""
        return False

    @property
    def counted_in(self) -> str:
        """The table of a database that counted the rows where they are; empty for a file."""
        return ""

    @property
    def middle(self) -> str:
        """What the estimates are: "mean" if all are plain means, or means within blocks, "ratio", else "estimate"."""
        if self.within is not None:
            return "mean"
        if self.metric.per:
            return "ratio"
        same = (math.isclose(self.means[row.label], row.estimate) for row in self._known_rows())
        return "mean" if self.means and all(same) else "estimate"

    @property
    def moved_means(self) -> dict[Label, float]:
        """Plain means that are visibly not the estimate: out of the interval, or a quarter of it away."""
        moved: dict[Label, float] = {}
        if self.within is not None:
            return moved
        for row in self._known_rows():
            mean, width = self.means[row.label], row.upper - row.lower
            if not row.lower <= mean <= row.upper or abs(mean - row.estimate) > _VISIBLE * width:
                moved[row.label] = mean
        return moved

    def _known_rows(self) -> list[ArmRow]:
        """Return the arms that have a mean and an interval: after an alarm no mean may fit."""
        found = (row for row in self.arms if not math.isnan(self.means.get(row.label, math.nan)))
        return [row for row in found if row.lower <= row.upper]


class LogWords(Words):
    """The sentences about the verdict on a log."""

    result: LogFacts

    def _noise(self) -> str:
        metric = self.result.metric
        return f"no source has more {metric.reward} than {metric.per}" if metric.per else super()._noise()

    @property
    def pulls_title(self) -> str:
        """What the numbers of the arms are: rewards or, where each has one number, sources such as users."""
        is_source = self.result.metric.counts_sources or self.result.sources is not None
        return self.units_word if is_source else "rewards"

    @property
    def units_word(self) -> str:
        """What is counted: sources, such as users, or rows."""
        metric = self.result.metric
        return metric.units_word if self.result.sources is None else f"{metric.source_word}s"

    @property
    def thing(self) -> str:
        """What an answer withstands a number of."""
        return "dishonest source" if self.result.sources is not None else "replaced reward"

    # ---------------------------------------------------------------------------------------------------- the sentence

    def _where(self) -> str:
        """Return what was looked at."""
        result = self.result
        if result.sequential:
            how = "" if result.method == "certified" else f" through {result.method}"
            return f"by a replay in order{how} that used {result.pulls:,} rewards and ignored {result.ignored:,}"
        said = f"in {result.pulls:,} rewards"
        if result.units is not None:
            said = f"in the first reward of each of {result.units:,} sources"
        if result.where is not None:
            said += f" among the {result.rows:,} rows with {result.where}"
        if result.sources is not None:
            sources = f"{result.sources:,} sources"
            by = f"whichever of the two each of {sources} rewarded first"
            if result.options.get("paired"):
                by = f"what each of {sources} said of both"
            said = f"comparing each pair of arms by {by}"
            if result.exact or result.batches:
                said = f"in one reward of each of {sources}, each of a single arm"
        if result.within is not None:
            said = result.within.compared(result.pulls)
        if result.sigma_from is not None:
            said += f" (sigma estimated from {result.sigma_from:,} others)"
        return said

    def compared_rows(self) -> tuple[ArmRow, ArmRow] | None:
        """Return the winner or leader, and the arm with the best estimate besides it, or the nearest within blocks."""
        within = self.result.within
        if within is None:
            return super().compared_rows()
        by_label = {row.label: row for row in self.result.arms if not math.isnan(row.estimate)}
        best, other = by_label.get(self.first), by_label.get(within.rival)
        return None if best is None or other is None else (best, other)

    def there(self) -> dict[Label, float]:
        """Return the mean of the winner or leader in the blocks that it shares with each of several other arms."""
        within = self.result.within
        if within is None or len(self.result.arms) == 2:
            return {}
        return {label: mean for label, (_, mean) in within.means.items()}

    def there_title(self) -> str:
        """Return the heading of the column of these means."""
        return f"{named_in_cell([self.result.within.first if self.result.within else self.first])} there"

    def _compared(self) -> str:
        rows = self.compared_rows()
        if rows is None or not self.result.means:
            return super()._compared()
        best, other = rows
        against = f"{other.estimate:.4g} for {quoted(other.label)}{self._why(best, other)}"
        return f" ({self.result.middle} {best.estimate:.4g}, against {against})"

    def _asides(self) -> list[str]:
        """Return where the plain mean of an arm in the sentence is not the estimate, and why."""
        moved = self.result.moved_means
        return [self._why_moved(row, moved[row.label]) for row in self.compared_rows() or () if row.label in moved]

    def _why_moved(self, row: ArmRow, mean: float) -> str:
        said = f"The plain mean of {quoted(row.label)} is {mean:.4g}"
        number = self.result.discounted.get(row.label, 0)
        if not number:
            return f"{said}: rewards far out count for less in the estimate."
        pull, way = "pulls" if number == 1 else "pull", "down" if mean < row.estimate else "up"
        return f"{said}: {counted(number, 'reward')} that the evidence discounts {pull} it {way}."

    def _candidates(self) -> str:
        return listed(self._leader_first(), 5)

    def _leader_first(self) -> list[Label]:
        """Return the arms that are not ruled out, the leader first."""
        return sorted(self.result.candidates, key=lambda label: label != self.result.leader)

    def _if_sigma(self) -> str:
        """Return that an estimated sigma is proved for the epsilon that was asked about, and not for another."""
        result = self.result
        return "" if result.sigma_from is None else f"if sigma is at most {result.sigma:.3g} whatever epsilon is, "

    def overturn(self) -> str:
        """Return how much the answer withstands, such as "214 replaced rewards"; empty if that is not known."""
        if self.result.overturn is None:
            return ""
        missing = " besides the missing ones" if self._besides_missing else ""
        return f"{counted(self.result.overturn, self.thing)}{'' if self.model.shared else ' on an arm'}{missing}"

    @property
    def _besides_missing(self) -> bool:
        return self.result.has_missing and self.result.sources is None

    def terms(self) -> str:
        """Return how probable a wrong answer is, and under which assumptions; without an epsilon, for every count."""
        result = self.result
        if not result.for_all_counts or result.alarms or self.is_own:
            return super().terms()
        return (
            f"wrong with probability at most {result.delta:g} under its assumptions ({self._noise()}: {result.promise})"
        )

    def claim(self, name: str) -> str:
        """Return what is claimed of the winner."""
        said, metric, within = super().claim(name), self.result.metric, self.result.within
        if self.result.lower_is_better:
            said = said.replace("the highest mean", "the lowest mean")
        if metric.per:
            said = said.replace(" mean", f" ratio of {metric.reward} to {metric.per}", 1)
        return f"{said}{'' if within is None else within.inside}{metric.up_to(self.result.cap)}"

    @property
    def sign(self) -> float:
        """1 if higher rewards are better, -1 if lower ones are."""
        return -1.0 if self.result.lower_is_better else 1.0

    def _identified(self) -> str:
        result = self.result
        if result.for_all_counts and not result.alarms and not self.is_near:
            return (
                f"{self.claim(quoted(result.best))}{self._compared()}, {self._where()}, {self.unless()}: {self.terms()}"
            )
        sentence = f"{self.claim(quoted(result.best))}{self._compared()}, {self._where()}: {self.terms()}"
        if result.tolerance is None or result.alarms or self.is_near:
            return sentence
        up_to = (
            f"with epsilon up to {share_shown(result.tolerance)}" if result.tolerance > 0.0 else "only at epsilon = 0"
        )
        sentence += f"; {self._if_sigma()}the same rewards would still single it out {up_to}"
        if result.overturn is not None:
            and_so = "; " if result.sigma_from is None else ", and "
            sentence += f"{and_so}it would take more than {self.overturn()} to overturn it"
        return sentence

    def unless(self) -> str:
        """Return what would have to be fake for the answer to fall."""
        if not self.model.counted:
            return f"unless a reward is replaced with probability above {share_shown(self.result.tolerance or 0.0)}"
        return f"unless more than {self.overturn()} {'is' if self.result.overturn == 1 else 'are'} among them"

    def _stopped(self) -> str:
        result = self.result
        if result.limit != "contamination":
            ignored = f" (a replay that ignored {result.ignored:,} rewards after them)" if result.ignored else ""
            return super()._stopped() + ignored
        given = f"epsilon = {result.epsilon:g}"
        if result.replaced is not None and not result.sequential:
            given += f", up to {result.replaced:,} {self.thing}s"
        hidden = f"contamination of this kind ({given}) could hide the remaining lead; {NOT_SETTLED}"
        return self._none_named(hidden)

    def _open(self) -> str:
        return self._none_named(self.outlook())

    def _none_named(self, why: str) -> str:
        named = f"no winner is named among {self._candidates()}, {self._where()}"
        return f"{named}: {why}{self._leader_stands()}{self._ruled_out()}"

    def _leader_stands(self) -> str:
        """Return how the leader stands, and under which contamination it would be named."""
        result = self.result
        if result.leader is None:
            return ""
        said = f"; {result.hint}" if result.hint else ""
        said += f"; {self.is_ahead()}"
        if result.tolerance is None or result.overturn is None or result.alarms:
            return said
        if result.tolerance == 0.0 and result.overturn == 0:
            return f"{said}; {self._if_sigma()}it would be named if nothing had been replaced"
        share = f"if epsilon were at most {share_shown(result.tolerance)}, or " if result.tolerance > 0.0 else ""
        return f"{said}; {self._if_sigma()}it would be named {share}with at most {self.overturn()}"

    def outlook(self) -> str:
        """Return, if there is no winner for lack of evidence, how many more rewards may decide it."""
        if self.result.sequential:
            return "more rewards may decide it"
        more = f"more {'sources' if self.result.metric.counts_sources else 'rewards'} may decide it"
        return f"{more}, {self.forecast(5)}" if self.result.more else self.forecast()

    def forecast(self, most: int = 10) -> str:
        """Return about how many more rewards would decide it, for so many arms by name, or why that is not known."""
        more = self.result.more
        if not more:
            return NO_FORECAST.replace("rewards", "sources") if self.result.metric.counts_sources else NO_FORECAST
        wanted = sorted(more, key=lambda label: -more[label])
        each = ", ".join(f"{more[label]:,} of {quoted(label)}" for label in wanted[:most])
        others = f" and of {len(wanted) - most:,} more arms" if len(wanted) > most else ""
        whose = "" if self.result.sources is None else ", from new sources"
        return f"about {each}{others} (a rough forecast{whose})"

    # ------------------------------------------------------------------------------------------- what else it proves

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yield what else the rewards prove of the winner, or of the arm that leads: a heading and a text each."""
        result, who = self.result, repr(self.first)
        if result.best is None:
            yield from self._open_facts(who)
        if result.p_value is None or result.alarms:
            return
        always = ", valid at any time" if result.sequential else ""
        always += ", if nothing is fake" if result.for_all_counts else ""
        yield "p-value", f"{result.p_value:.3g}{always} (null hypothesis: some other arm is at least as good as {who})"
        if self.leads:
            ahead = f"how far {who} is ahead of each arm, at least (negative: it may be behind)"
            yield "lead", f"{ahead}; all hold together with probability {result.leads_hold:g} if it is the best"
        if uplift_fact(result):
            yield "uplift", uplift_fact(result)
        if len(result.candidates) > 1 and result.best is not None:  # good enough, and not the only one left
            return
        if result.tolerance is not None:
            would = "still single out" if result.best is not None else "would single out"
            positive = result.tolerance > 0.0
            up_to = f"with any epsilon up to {share_shown(result.tolerance)}" if positive else "only if epsilon is 0"
            yield "tolerance", f"the same rewards {would} {who} {up_to}{self._same_sigma()}"
        if result.overturn is not None:
            yield "overturn", self._overturn_fact(who)

    def _open_facts(self, who: str) -> Iterator[tuple[str, str]]:
        result = self.result
        if result.limit is not None:
            yield "limit", result.limit
        if result.leader is not None and result.pulls > 0:
            yield "leader", f"{who}, but that is not proved"
        yield "candidates", named_in_cell(self._leader_first())
        if result.limit == "budget" and not result.sequential:
            yield "more", f"{self.forecast()}{' would decide it' if result.more else ''}"

    def _overturn_fact(self, who: str) -> str:
        """Return what is proved of a number of fakes, and no more."""
        result = self.result
        if result.sources is not None:
            things, of = "dishonest sources", f"of {result.sources:,}"
        else:
            rewards = result.pulls if result.sequential else result.rows
            things, of = "fake rewards", f"of {rewards:,}" if self.model.shared else "on some arm"
        if self._besides_missing:
            of += ", besides the missing ones"
        many = f"{result.overturn:,} {things} ({of}, whichever they are)"
        if result.best is None:
            return f"{who} would be named with at most {many}, and not with more"
        if result.sequential:  # bets were chosen anew for each number, after the rewards were seen
            return f"these rewards still single out {who} with up to {many}; no probability is claimed for that"
        return (
            f"it would take more than {many} to overturn this: with that many or fewer, {who} is the best, wrong with "
            f"probability at most {result.delta:g}{self._same_sigma()}"
        )

    def _same_sigma(self) -> str:
        """Return that a sigma was estimated for one epsilon, and is not proved for another."""
        result = self.result
        if result.sigma_from is None:
            return ""
        return f", if sigma is at most {result.sigma:.3g} then too (it was estimated for epsilon = {result.epsilon:g})"

    def leads_title(self, name: str) -> tuple[str, str]:
        """Return the title of a picture of leads, and a note; `name` is the winner or leader as a picture shows it."""
        said = f"{name} is ahead by at least ..."
        notes = ["left of 0 it may be behind"]
        if self.result.metric.is_rate:
            notes.insert(0, "in points")
        if self.result.for_all_counts:
            notes.append("if nothing is fake")
        return said, "; ".join(notes)

    def means_title(self) -> str:
        """Return the title of a picture of means."""
        metric = self.result.metric
        what = f"{'ratio' if metric.per else 'rate' if metric.is_rate else 'mean'} of each {metric.arm_word}"
        whole = f" per {metric.per}" if metric.per else ""
        return f"{metric.reward}{whole}: {what}" if metric.reward else what

    def means_more(self) -> str:
        """Return how to read a picture of means."""
        result = self.result
        said = f"{self.units_word} in brackets; bar: interval"
        said = f"{said}, if nothing is fake" if result.for_all_counts else said
        within = "" if result.within is None else f", {result.within.on_the_same}"
        return f"{said}{result.metric.up_to(result.cap)}{within}"

    def question(self) -> str | None:
        """Return what the reader has to answer: whether more is fake than the answer withstands."""
        result = self.result
        if result.alarms or not result.tolerance or result.leader is None:
            return None
        tolerance = share_shown(result.tolerance)
        share = f"{share_shown(100.0 * result.tolerance)} %"
        asked = f"are more than {share} of {self.model.things} {self.model.fake}?"
        if result.best is not None and len(result.candidates) == 1:
            stands = "The answer stands" if result.sigma_from is None else "With this sigma the answer stands"
            return f"{stands} up to epsilon = {tolerance}: {asked}"
        if result.best is None:
            return f"{result.leader!r} would be the answer up to epsilon = {tolerance}: {asked}"
        return None


# --------------------------------------------------------------------------------------------------- at other epsilons


def other_epsilons(result: LogFacts) -> str:
    """Return the heading of a table of verdicts at other epsilons."""
    return f"The same{f' {result.pulls:,}' if result.sequential else ''} rewards at other epsilons"


def outcome(row: Sensitivity) -> str:
    """Return what comes out at an epsilon."""
    if row.alarms:
        return CONTRADICTED
    if row.best is not None:
        return NAMED
    return HIDDEN if row.limit == "contamination" else TOO_LITTLE


def contradicted(row: Sensitivity) -> str | None:
    """Return that the rewards contradict an epsilon, and by how many alarms, if they do."""
    return f"the rewards contradict it ({counted(len(row.alarms), 'alarm')})" if row.alarms else None


# --------------------------------------------------------------------------------------------------------------- hints


def mostly_single(one: object, two: object, share: float) -> str:
    """Return that many sources rewarded only one of two arms, which costs much if they are paired."""
    return (
        f"of the sources that rewarded {one!r} or {two!r}, {100.0 * share:.2g} % rewarded only one of them, which "
        "counts as the worst that it could have said when rewards are paired: do not pair them"
    )


def hardly_comparable(one: object, two: object) -> str:
    """Return that nearly all sources rewarded the same one of two arms first."""
    return (
        f"hardly any source rewarded one of {one!r} and {two!r} before the other, so that little can be told: if the "
        "log is sorted by arm, say which column is the time; or pair the rewards if all were asked about both"
    )
