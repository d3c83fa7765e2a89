"""The sentences of a report on a log with a control."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bestarm.identification.wording.control import ControlWords
from bestarm.identification.wording.log_lines import named
from bestarm.identification.wording.log_page import PageWords
from bestarm.identification.wording.text import capital, even_decimals, number_shown, percent
from bestarm.identification.wording.uplift import high_bound, low_bound, size

if TYPE_CHECKING:
    from bestarm.identification.comparison import Comparison
    from bestarm.identification.result import ArmRow

INTERVALS = "intervals of the arms; the numbers are in the table"


class ControlPage(ControlWords, PageWords):
    """The sentences of a report with a control."""

    def _which(self) -> str:
        return f"which {self.result.metric.arm_word}s beat {self.control}?"

    def asked(self) -> str:
        """Return the question, and which rewards were weighed."""
        number = len(self.result.comparisons)
        many = "" if number == 1 else f"Each of {number:,} is compared with it, and with no other. "
        fake = f"Some of the {self.result.metric.rows_word} may be fake."
        return f"{capital(self._which())} {many}{fake} {self._how_weighed()}"

    def _claim_for_all_counts(self) -> str:
        if self.result.alarms:
            return "and as the log contradicts the assumptions, nothing is claimed"
        return "what each arm survives is in the table"

    def headline(self) -> str:
        """Return the answer in one line."""
        found = self.better
        if not found:
            return f"No arm is proved better than {self.control}"
        return f"{', '.join(named(each.label) for each in found)}: better than {self.control}"

    def answer(self) -> str:
        """Return the verdict, without its alarms."""
        return self.cut(self.verdict())

    def _strength(self) -> Iterator[str]:
        yield f"{capital(self.together())}."

    def _what_would_help(self) -> Iterator[str]:
        result = self.result
        if result.limit == "budget" and not result.alarms:
            yield f"{capital(self.outlook())}."
        yield f"{capital(self.together())}."

    def legend(self, most: int) -> Iterator[str]:
        """Yield how to read the picture, which has at most so many arms."""
        result = self.result
        if result.best is not None:
            colour = "Green" if result.trusted else "Orange"
            best = "lowest" if result.lower_is_better else "highest"
            yield f"{colour}: of the arms that are better than the control, the one with the {best} mean."
        yield "Blue: arms that are not proved worse than another. Grey: arms that are."
        if result.for_all_counts:
            yield "Intervals are those if nothing is fake."
        yield "Intervals are for display: arms are compared in pairs, which separates more than intervals do."
        if len(result.arms) > most:
            yield f"Of {len(result.arms):,} arms, the first {most} are drawn."

    def standing(self, row: ArmRow) -> str:
        """Return how an arm stands."""
        return next((self.standing_of(each) for each in self.result.comparisons if each.label == row.label), "control")

    def _survives_at_length(self) -> Iterator[str]:
        result = self.result
        if result.alarms:
            yield "Nothing is claimed about how much the answer can withstand, as the log contradicts the assumptions."
            return
        if not self.better:
            yield f"No arm is proved better than {self.control}, so there is nothing to withstand."
        for each in self.better:
            yield f"{named(each.label)} is better than {self.control} {self.survived(each)}."

    def cells(self, each: Comparison) -> dict[str, str]:
        """Return the cells of an arm in the table of comparisons, by their headings."""
        found, metric = each.uplift, self.result.metric
        others = self.result.comparisons
        means = even_decimals([self.means_of(one)[0] for one in self.result.means])
        leads = even_decimals([one.lead for one in others])
        estimate = "–" if found is None else size(found.estimate) if found.estimate < 1e9 else "∞"
        between = "–" if found is None else f"{low_bound(found.low)} to {high_bound(found.high)}"
        p_value = "–" if each.p_value is None else f"{each.p_value:.2g}"
        survived = self.survives_cell(each)
        return {
            metric.arm_word: str(each.label),
            self.result.middle: number_shown(self.means_of(each.label)[0], means),
            "uplift": estimate,
            "uplift, bounds": between,
            "lead, at least": number_shown(each.lead, leads),
            "p-value": p_value,
            self.survives_head(): "–"
            if survived is None
            else f"{survived:,}"
            if isinstance(survived, int)
            else survived,
            "verdict": self.standing_of(each),
        }

    def not_claimed(self) -> Iterator[str]:
        """Yield what a reader might think is claimed, and is not."""
        yield "That anything was replaced, or by whom."
        yield f"Which of the arms is the best: each is compared with {self.control} alone."
        yield "That an arm that is not proved better is no better, or as good."

    def chance(self) -> str:
        """Return how probable a wrong answer is, if the assumptions are true."""
        not_so = ", which it is not" if self.result.alarms else ""
        return f"Anything wrong has probability at most {percent(self.result.delta)} if all of this is true{not_so}:"
