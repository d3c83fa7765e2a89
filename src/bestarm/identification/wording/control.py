"""The verdict on a log with a control in words: which arms beat it, by how much, and what that survives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bestarm.identification.wording.log_lines import LineWords, named
from bestarm.identification.wording.metric import uplift
from bestarm.identification.wording.text import capital, percent, rounded_down, share_shown
from bestarm.identification.wording.uplift import high_bound, low_bound, size

if TYPE_CHECKING:
    from bestarm.identification.comparison import Comparison
    from bestarm.identification.finding import Finding
    from bestarm.identification.wording.log_verdict import LogFacts
    from bestarm.problem import Label

_MOST = 4  # arms that a line names


class ControlWords(LineWords):
    """The lines of a verdict with a control, and its sentence."""

    @property
    def better(self) -> list[Comparison]:
        """The arms that are proved better, the highest mean first."""
        return [each for each in self.result.comparisons if each.better]

    @property
    def control(self) -> str:
        """The control as a sentence names it."""
        name = named(self.result.control)
        return "the control" if name.lower() in ("control", "the control") else f"the control {name}"

    # ------------------------------------------------------------------------------------------------------- the lines

    def first_line(self) -> str:
        """Return which arms beat the control and by how much, or that none is proved to."""
        found = self.better
        if not found:
            return self._none()
        rest = len(found) - _MOST
        if len(found) == 1:
            figures = f"{self._means(found[0])}{self._sizes(found[0], ', ')}"
            return f"{named(found[0].label)} beats {self.control}{self._in}: {figures}{self._same}."
        names = [named(each.label) for each in found[:_MOST]]
        more = f"{rest:,} more" if rest > 0 else ""
        sizes = [self._sizes(each) for each in found[:_MOST]]
        those = _joined(sizes, "so on" if rest > 0 else "")
        return f"{_joined(names, more)} beat {self.control}{self._in}: {those}{self._same}."

    def _means(self, each: Comparison) -> str:
        one, two = self.result.metric.compared(*self.means_of(each.label))
        return f"{one} against {two}"

    def means_of(self, label: Label | None) -> tuple[float, float]:
        """Return the mean of an arm and that of the control: of all rewards or, within blocks, of those they share."""
        result = self.result
        if result.within is None:
            return result.means.get(label, math.nan), result.means.get(result.control, math.nan)
        if label == result.control:
            label = result.within.rival
            return result.within.means[label][1], result.within.means[label][1]
        return result.within.means[label]

    @property
    def _in(self) -> str:
        """What is compared, and that lower is better."""
        result = self.result
        return f" in {result.metric.compared_by}{' (lower is better)' if result.lower_is_better else ''}"

    @property
    def _same(self) -> str:
        """Which rewards were compared and up to which cap, for the end of a line."""
        result = self.result
        same = "" if result.within is None else f", {result.within.on_the_same}"
        return same + result.metric.up_to(result.cap) + result.metric.capped(result.capped, result.cap)

    def _sizes(self, each: Comparison, before: str = "") -> str:
        """Return the uplift of an arm with its bound or, where it has none, the lead."""
        least = self.least(each)
        at_least = f" (at least {least})" if least else ""
        if each.uplift is None or not math.isfinite(each.uplift.estimate):
            return f"{before}by {self.result.metric.lead(each.difference)}{at_least}"
        return f"{before}{size(each.uplift.estimate)}{at_least}"

    def least(self, each: Comparison) -> str:
        """Return the proved part of an uplift or, where there is none, of a lead; nothing if that is 0."""
        if not each.better:
            return ""
        if each.uplift is None or not math.isfinite(each.uplift.estimate):
            return self.result.metric.lead(rounded_down(each.lead)) if each.lead > 0.0 else ""
        if self.result.lower_is_better:
            return f"{high_bound(each.uplift.high).removeprefix('-')} lower" if each.uplift.high < 0.0 else ""
        return low_bound(each.uplift.low) if each.uplift.low > 0.0 else ""

    @property
    def bound_head(self) -> str:
        """The heading of a column of the bounds of uplifts that say how good an arm is at least."""
        return "at most" if self.result.lower_is_better else "at least"

    def at_least(self, each: Comparison) -> str:
        """Return the bound of an uplift that says how good an arm is at least, for a table."""
        if each.uplift is None:
            return ""
        return high_bound(each.uplift.high) if self.result.lower_is_better else low_bound(each.uplift.low)

    def _none(self) -> str:
        result, noun = self.result, self.result.metric.arm_word
        said = f"No {noun} is proved better than {self.control}{self._in}"
        first = result.comparisons[0]
        if first.difference > 0.0:
            shown = uplift(*self.means_of(first.label))
            return f"{said}: {named(first.label)} leads with {self._means(first)}{shown}{self._same}."
        which = "lowest" if result.lower_is_better else "highest"
        mean, _ = result.metric.compared(*reversed(self.means_of(first.label)))
        return f"{said}, which has the {which} mean itself: {mean}{self._same}."

    def _why_nobody(self) -> str:
        """Return why no arm is better: all are proved worse, or else what would help."""
        compared = self.result.comparisons
        if not all(each.worse for each in compared):
            return super()._why_nobody()
        clean = " if nothing is fake" if self.result.for_all_counts else ""
        if len(compared) == 1:
            return f"{named(compared[0].label)} is proved worse than it{clean}."
        return f"{'Both others' if len(compared) == 2 else 'All others'} are proved worse than it{clean}."

    def _second_line(self) -> Iterator[str]:
        found = self.better
        if self.result.alarms or len(found) < 2:
            yield from super()._second_line()
            return
        weakest = min(found, key=lambda each: (each.overturn or 0, each.tolerance or 0.0))
        if not self.model.counted:
            weakest = min(found, key=lambda each: each.tolerance or 0.0)
        stands = self._stands().removeprefix("This stands")
        wrong = f"Any of this is wrong with probability at most {percent(self.result.delta)}."
        if self.result.for_all_counts:
            yield f"The weakest of these, {named(weakest.label)}, stands{stands} {wrong}"
        else:
            yield f"All of this stands{stands} {wrong}"

    def _harmless(self) -> str:
        said = super()._harmless()
        return said.replace("the answer survives that", "each of these survives that") if len(self.better) > 1 else said

    # ---------------------------------------------------------------------------------------------------- the sentence

    def claim(self, name: str) -> str:
        """Return what is claimed of the arms that are named."""
        if self.result.alarms:
            return f"{name} comes first of {len(self.result.comparisons):,} arms compared with {self.control}"
        which, metric = "lower" if self.result.lower_is_better else "higher", self.result.metric
        has = "has" if len(self.better) == 1 else "each have"
        what = f"ratio of {metric.reward} to {metric.per}" if metric.per else "mean"
        return f"{name} {has} a {which} {what} than {self.control}"

    def verdict(self) -> str:
        """Return the verdict in one sentence, at length."""
        result = self.result
        if result.best is None:
            why = self._why_nobody().rstrip(".")
            why = why[:1].lower() + why[1:]
            return f"no arm is proved better than {self.control}, {self._where()}: {why}."
        names = [named(each.label) for each in self.better]
        inside = ("" if result.within is None else result.within.inside) + result.metric.up_to(result.cap)
        said = f"{self.claim(_joined(names))}{inside}, {self._where()}"
        if result.alarms:
            return f"{said}: {self.terms()}."
        return f"{said}, {self._conditions()}: {self.terms()}."

    def _conditions(self) -> str:
        """Return up to how many fakes each of the named arms is better."""
        if not self.result.for_all_counts:
            return f"with epsilon = {self.result.epsilon:g}"
        if len(self.better) == 1:
            return self.survived(self.better[0])
        return "; ".join(f"{named(each.label)} {self.survived(each)}" for each in self.better)

    def survived(self, each: Comparison) -> str:
        """Return what would have to be fake for an arm not to be better than the control."""
        if not each.better:
            return ""
        if not self.model.counted:
            return f"unless a {self.unit} is fake with a chance above {share_shown(100.0 * (each.tolerance or 0.0))} %"
        if not each.overturn:
            return f"only if not one of {self._all()} is fake"
        return f"unless more than {each.overturn:,} of {self._all()} {'is' if each.overturn == 1 else 'are'} fake"

    def survives_head(self) -> str:
        """Return the heading of a column of what each arm survives."""
        return "fakes survived" if self.model.counted else "chance survived"

    def survives_cell(self, each: Comparison) -> int | str | None:
        """Return how many fakes, or which chance of them, an arm survives."""
        if each.overturn is None or self.model.counted:
            return each.overturn
        return f"{share_shown(100.0 * (each.tolerance or 0.0))} %"

    def standing_of(self, each: Comparison) -> str:
        """Return how an arm stands, in a word."""
        if each.better:
            return "better" if each.trusted and not self.result.alarms else "better?"
        return "worse" if each.worse else "not proved"

    def about_the_table(self) -> str:
        """Return how to read the table of comparisons."""
        clean = "if nothing is fake, " if self.result.for_all_counts else ""
        least = f"uplift {self.bound_head}, lead at least and p-value"
        many = len(self.result.comparisons)
        all_ = "both" if many == 2 else f"all {many}"
        counted_in = "" if many == 1 else f", with {all_} comparisons counted in"
        return f"{capital(f'{clean}{least} are those over {self.control}')}{counted_in}."

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yield what else is proved: a heading and a text each."""
        result = self.result
        if result.alarms:
            return
        for each in result.comparisons:
            yield named(each.label)[:10], f"{self.proved(each)}"
        yield "together", self.together()

    def proved(self, each: Comparison) -> str:
        """Return all that is proved of an arm."""
        clean = " if nothing is fake" if self.result.for_all_counts else ""
        said = [f"lead at least {each.lead:.4g}{clean}"]
        if each.uplift is not None:
            said.append(f"uplift from {low_bound(each.uplift.low)} to {high_bound(each.uplift.high)}{clean}")
        if each.p_value is not None:
            many = len(self.result.comparisons)
            counted_in = "" if many == 1 else f" ({many} comparisons counted in)"
            said.append(f"p-value {each.p_value:.3g}{clean}{counted_in}")
        if each.better:
            said.append(f"better {self.survived(each)}")
        elif each.worse:
            said.append(f"proved worse{clean}")
        else:
            said.append("not proved better")
        return "; ".join(said)

    def together(self) -> str:
        """Return which of it holds together."""
        return (
            f"that arms are better or worse, leads and uplifts are right together with probability "
            f"{self.result.all_hold:g}; arms other than the control are not compared with each other"
        )


def _joined(names: list[str], more: str = "") -> str:
    """Return names with commas and a last "and".

    >>> _joined(["a", "b", "c"]), _joined(["a"], "2 more")
    ('a, b and c', 'a and 2 more')
    """
    every = [*names, more] if more else names
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} and {every[-1]}"


def beyond_lead(result: LogFacts, finding: Finding, label: Label) -> str:
    """Return that a finding is more than the lead of an arm over the control survives."""
    return f"{capital(finding.text)}: more than the lead of {named(label)} over {named(result.control)} survives."
