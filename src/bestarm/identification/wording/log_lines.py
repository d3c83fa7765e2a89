"""The verdict on a log in three lines that a colleague can repeat: who is best, what it survives, what was found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bestarm.identification.wording.log_verdict import LogFacts, LogWords
from bestarm.identification.wording.metric import uplift
from bestarm.identification.wording.text import capital, percent, roughly, rounded_down, share_shown, short
from bestarm.phrases import Phrase, Setting, Verbatim
from bestarm.problem import Label

if TYPE_CHECKING:
    from bestarm.identification.finding import Finding

CLEAN, CLEAN_REST = "Nothing in the file looks made up.", "Nothing in the rest looks made up."
COUNTED_THERE = "The rows were not inspected: they were counted where they are."
_LETTERS = 48  # of a label in a line


class LineWords(LogWords):
    """The three lines of a verdict."""

    def lines(self) -> list[str]:
        """Return who is best, what the answer survives, and what inspection found."""
        return [self._among(self.first_line()), *self._second_line(), *self._third_line()]

    def _among(self, said: str) -> str:
        """Return a sentence with the condition on rows before it, if there is one."""
        if self.result.where is None:
            return said
        of = self.result.metric.rows(self.result.rows)
        said = f"no {said[3:]}" if said.startswith("No ") else said
        return f"Among the {of} with {self.result.where}, {said}"

    # ------------------------------------------------------------------------------------------------------------- who

    def first_line(self) -> str:
        """Return who is best, or that nobody is named."""
        result = self.result
        if result.best is None:
            return self._nobody()
        name, rows = self._named(result.best), self.compared_rows()
        if self.is_near:
            return f"{name} is within {self._near()} of the best: {self._figures()}."
        if rows is None:
            return f"{name} {self._best()}."
        best, other = rows
        if self.sign * other.estimate > self.sign * best.estimate:
            higher = "lower" if result.lower_is_better else "higher"
            what = f"{'ratio' if result.metric.per else 'mean'} of {self._named(other.label)}"
            return f"{name} {self._best()} when compared in pairs, although the {what} is {higher}."
        capped = result.metric.capped(result.capped, result.cap)
        return f"{name} {self._best()}: {self._figures()}{capped}."

    def _best(self) -> str:
        metric = self.result.metric
        return f"{metric.best(self.result.lower_is_better)}{metric.up_to(self.result.cap)}"

    def _near(self) -> str:
        return self.result.metric.lead(float(self.result.options["good_enough"]))

    def _named(self, label: Label | None) -> str:
        """Return a label as a sentence names it, a number with what it numbers: variation 1."""
        name = named(label)
        return f"{self.result.metric.arm_word} {name}" if name.replace(".", "").isdecimal() else name

    def _figures(self) -> str:
        """Return the means of the best two arms, such as "6.0 % against 5.2 % for variant_a (+15 %)"."""
        rows = self.compared_rows()
        if rows is None:
            return "there is nothing to compare it with"
        best, other = rows
        one, two = self.result.metric.compared(best.estimate, other.estimate)
        within = self.result.within
        same = "" if within is None else f", {within.on_the_same}"
        return f"{one} against {two} for {self._named(other.label)}{uplift(best.estimate, other.estimate)}{same}"

    def _nobody(self) -> str:
        result, rows = self.result, self.compared_rows()
        noun = result.metric.arm_word
        if rows is None or result.leader is None:
            return f"No {noun} is proved best."
        leader, other = rows
        if other.estimate == leader.estimate:
            one, _ = result.metric.compared(leader.estimate, other.estimate)
            return (
                f"No {noun} is proved best: {self._named(leader.label)} and {self._named(other.label)} both have {one}."
            )
        if self.sign * other.estimate <= self.sign * leader.estimate:
            capped = result.metric.up_to(result.cap) + result.metric.capped(result.capped, result.cap)
            return f"No {noun} is proved best: {self._named(result.leader)} leads with {self._figures()}{capped}."
        one, two = result.metric.compared(leader.estimate, other.estimate)
        which = "lowest" if result.lower_is_better else "highest"
        few = f"{two} from {result.metric.units(other.pulls)}"
        rest = f"{self._named(leader.label)} has {one} from {result.metric.units(leader.pulls)}"
        what = "ratio" if result.metric.per else "mean"
        return f"No {noun} is proved best: {self._named(other.label)} has the {which} {what}, {few}; {rest}."

    # ------------------------------------------------------------------------------------------------- what it survives

    def _second_line(self) -> Iterator[str]:
        result = self.result
        if result.alarms:
            contradict = f"The {self.units_word} contradict the assumptions"
            yield f"{contradict}, so no probability is claimed. Do not rely on it."
        elif result.best is None:
            yield self._why_nobody()
        elif not result.proved:
            yield f"The method {result.method} proves nothing about how often this is wrong."
        else:
            yield f"{self._stands()} Wrong with probability at most {percent(result.delta)}."

    def _stands(self) -> str:
        """Return how much may be fake."""
        result = self.result
        if not result.for_all_counts:
            return self._stands_at_epsilon()
        if not self.model.counted:
            return f"This stands unless a {self.unit} is fake with a chance above {_percent(result.tolerance)}."
        if not result.overturn:
            return f"This stands only if not one of {self._all()} is fake{self._besides()}."
        most = f"{result.overturn:,} of {self._all()}"
        share = f" ({_percent(result.overturn / self._number)})" if self.model.shared else ""
        verb = "is" if result.overturn == 1 else "are"
        return f"This stands unless more than {most} {verb} fake{share}{self._besides()}."

    def _stands_at_epsilon(self) -> str:
        """Return that it stands at the epsilon that was given, and up to how much more."""
        result, share = self.result, percent(self.result.epsilon)
        if not self.model.counted:
            said = f"This stands if each {self.unit} is fake with a chance of at most {share}"
            if result.epsilon == 0.0:
                said = f"This stands if no {self.unit} is fake"
            if result.tolerance is not None and result.tolerance > result.epsilon:
                said += f", and even with a chance of up to {_percent(result.tolerance)} for each"
            return f"{said}."
        said = f"This stands with up to {share} of {self._all()} fake"
        if result.replaced is not None:
            said = f"This stands with up to {result.replaced:,} of {self._all()} fake ({share})"
        if result.epsilon == 0.0:
            said = f"This stands if not one of {self._all()} is fake"
        # A replay chooses its bets anew for each number, so it claims nothing for more.
        claimed = None if result.sequential else result.overturn
        if claimed is not None and result.replaced is not None and claimed > result.replaced:
            said += f", and even with up to {claimed:,}"
        return f"{said}{self._besides()}."

    @property
    def unit(self) -> str:
        """What may be fake, if a coin decides: a visit, or a user."""
        metric = self.result.metric
        return metric.row if self.result.units is None else metric.source_word

    @property
    def _number(self) -> int:
        return max(self.result.sources if self.result.sources is not None else self.result.rows, 1)

    def _all(self) -> str:
        """Return all that may be fake: the 80,000 visits, the 500 users."""
        result, metric = self.result, self.result.metric
        if result.sources is not None:
            return f"the {metric.sources(result.sources)}"
        return (
            f"the {metric.rows(result.rows)}"
            if self.model.shared
            else f"the {metric.rows_word} of any one {metric.arm_word}"
        )

    def _besides(self) -> str:
        return ", besides the missing ones" if self._besides_missing else ""

    def _why_nobody(self) -> str:
        """Return why nobody is named, and what would help."""
        result, metric = self.result, self.result.metric
        if result.within is not None and not result.within.matches and result.leader is not None:
            return (
                f"{self._named(result.leader)} and {self._named(result.within.rival)} {result.within.share_nothing()}."
            )
        if result.limit == "contamination" or result.floor is not None:
            share = percent(result.epsilon)
            if result.floor is None:
                return f"With {share} fakes the lead could be made up, however many {self.units_word} there are."
            if result.bounds is not None and result.floor >= 0.995 * (result.bounds[1] - result.bounds[0]):
                return f"With {share} fakes no lead at all can be proved, however many {self.units_word} there are."
            lead = f"no lead below {metric.lead(rounded_down(result.floor))} can be proved"
            return f"With {share} fakes {lead}, however many {self.units_word} there are."
        if result.limit == "resolution":
            return f"These {self.units_word} do not decide it at the resolution that was asked for."
        allowed = "" if result.for_all_counts or result.epsilon == 0.0 else f" with {percent(result.epsilon)} fakes"
        if not result.more:
            return f"These {self.units_word} do not decide it{allowed}, and many more like them might not either."
        number = roughly(sum(result.more.values()))
        return f"These {self.units_word} do not decide it{allowed}: roughly {number} more could."

    # ------------------------------------------------------------------------------------------------- what was found

    def _third_line(self) -> Iterator[str]:
        """Yield what inspection found, and what was left out before."""
        found = " ".join(self._found())
        left_out = self._left_out()
        within = "" if self.result.within is None else f"{self.result.within.line(self.result.metric)} "
        if found or left_out or within:
            yield f"{within}{left_out} {found}".strip().replace("  ", " ")

    def _left_out(self) -> str:
        """Return how many rows were left out, and which."""
        result = self.result
        if not result.left_out:
            return "" if result.left_out_how is None else "Nothing was left out."
        were = "was" if result.left_out == 1 else "were"
        return f"{result.metric.rows(result.left_out)} {were} left out: {result.left_out_how}."

    def _found(self) -> Iterator[str]:
        result = self.result
        if result.alarms:
            yield f"{capital(result.alarms[0])}."
        elif result.doubts:
            rest = len(result.doubts) - 1
            more = f" ({rest} more {'reason' if rest == 1 else 'reasons'} below.)" if rest else ""
            yield f"{result.doubts[0]} Do not rely on it.{more}"
        elif self.noted("split", "trend"):
            yield self._harmless()
        elif result.inspected:
            yield CLEAN_REST if result.left_out else CLEAN
        elif result.counted_in:
            yield COUNTED_THERE

    def noted(self, *kinds: str) -> list[Finding]:
        """Return what was found, without some kinds where it is no news: rewards are compared within stretches of time.

        That shares change is the reason for that, and is said; a trend of all arms is the same for those compared.
        """
        within = self.result.within
        no_news = kinds if within is not None and within.is_time and within.shares_change else ()
        return [finding for finding in self.result.findings if finding.kind not in no_news]

    def next_steps(self) -> Iterator[str]:
        """Yield what to do next, in a line or two."""
        result = self.result
        for finding in result.findings:
            if finding.kind == "mixture":
                yield Phrase("{} compares within it.", Setting("block", finding.what[0]))
            elif finding.kind == "split" and finding.what and result.doubts and self._may_block():
                yield Phrase("{} compares within hours.", Setting("block", finding.what[0]))
        if result.doubts or (result.findings and result.best is None):
            yield "bestarm inspect, with the same file, says more about what was found."
        elif result.best is None and (result.limit == "contamination" or result.floor is not None):
            yield Phrase("Without {} the answer says how many fakes it survives.", Setting("epsilon"))
        page = Setting("report", Verbatim("FILE.html"))
        yield Phrase(
            "{} prints what this assumes and proves; {} writes a page to share.", Setting("explain", True), page
        )

    def _may_block(self) -> bool:
        """Tell whether rewards could be compared within days or hours, and are not yet."""
        result = self.result
        return result.within is None and result.stopping == "fixed" and result.bounds is not None

    def _harmless(self) -> str:
        """Return the largest finding, and that the answer survives it."""
        result = self.result
        largest = max(self.noted("split", "trend"), key=lambda finding: finding.rows or 0)
        text = capital(largest.text)
        if result.best is None:
            return f"{text}."
        return f"{text}: {largest.if_survived}."


def beyond(result: LogFacts, finding: Finding) -> str:
    """Return that a finding is more than an answer survives, or than the epsilon that was given."""
    found = finding.number(of_sources=result.sources is not None)
    if not result.for_all_counts and result.overturn is not None and found <= result.overturn:
        return f"{capital(finding.text)}: more than the {percent(result.epsilon)} that you allow for."
    return f"{capital(finding.text)}: more than this answer survives."


def falls(finding: Finding, why: str) -> str:
    """Return that an answer does not outlast a finding without a count, and why."""
    return f"{capital(finding.text)}: {why}."


def named(label: Label | None) -> str:
    """Return a label as a sentence names it: bare if it is one word, else in quotes, and not too long.

    >>> named("variant_c"), named("Never let go."), named('The "best" one')
    ('variant_c', '"Never let go."', '“The "best" one”')
    """
    text = short(" ".join(str(label).split()), _LETTERS)
    bare = text.replace("_", "").replace("-", "").replace(".", "").isalnum()
    if bare:
        return text
    return f"“{text}”" if '"' in text else f'"{text}"'


def _percent(share: float | None) -> str:
    """Return a share in percent, never rounded up."""
    return f"{share_shown(100.0 * (share or 0.0))} %"
