"""What a report on a log says: the verdict at length, for a reader who did not ask the question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from bestarm.contamination import of_options
from bestarm.identification.wording.log_verdict import LogWords, outcome
from bestarm.identification.wording.text import (
    capital,
    number_shown,
    percent,
    quoted,
    rounded_down,
    share_shown,
    short,
    with_rest,
)
from bestarm.identification.wording.uplift import uplift_fact

if TYPE_CHECKING:
    from bestarm.identification.finding import Finding
    from bestarm.identification.result import ArmRow
    from bestarm.identification.robustness import Sensitivity

MOST_LETTERS = 120  # of a label in a table or a sentence; a heading has fewer

NO_CLAIM_HERE = "Alarm: the rewards contradict the assumptions, so no probability is claimed for anything on this page."
CONTRADICTION = "The log itself contradicts what is assumed here:"
NO_TABLE = "A replay in order has no table over epsilon; leave out sequential to get one."
NOT_INSPECTED = "The log was not inspected: nothing is known of bots, duplicates or bursts in it."
HINTS = "These are hints that something may be made up, not evidence: they change no number on this page."
# What pictures show.
INSIDE = "intervals of the arms, and leads; the numbers are in the table"
BESIDE = "intervals of the arms, leads, and what the answer survives"
EVIDENCE = "evidence against the number of fakes, with what inspection found"
CURVE = "how many arms may be the best at each epsilon; the table says the same"


class PageWords(LogWords):
    """The sentences of a report on a log."""

    def cut(self, sentence: str) -> str:
        """Return a sentence with very long labels cut off."""
        long = {repr(row.label) for row in self.result.arms if len(str(row.label)) > MOST_LETTERS}
        for words in sorted(long, key=lambda each: (-len(each), each)):
            sentence = sentence.replace(words, f"{words[:MOST_LETTERS]}…{words[-1]}")
        return sentence

    # --------------------------------------------------------------------------------------------- question and answer

    def page_title(self, files: Sequence[str]) -> str:
        """Return the files and the question in one line."""
        asked = self._which()
        names = [short(PurePath(name).name, 60) for name in files if name not in ("", "-")]
        if not names:
            return capital(asked)
        return f"{with_rest(names[:2], len(names))}: {asked}"

    def _which(self) -> str:
        metric = self.result.metric
        return f"which {metric.arm_word} {metric.best(self.result.lower_is_better)}{metric.up_to(self.result.cap)}?"

    def asked(self) -> str:
        """Return the question, and which rewards were weighed."""
        metric, arms = self.result.metric, len(self.result.arms)
        many = f"There are {arms:,} to choose from, and some of the {metric.rows_word} may be fake."
        return f"{capital(self._which())} {many} {self._how_weighed()}"

    def _how_weighed(self) -> str:
        result = self.result
        if result.sequential:
            return (
                f"The {result.rows:,} rewards of the log were replayed in order until the question was decided: "
                f"{result.pulls:,} were used, and {result.ignored:,} ignored."
            )
        if result.sources is None:
            return f"{self._which_rewards()} were weighed at once; their order does not matter."
        order = "their order" if result.options.get("paired") else "the order of the sources"
        return f"{self._which_rewards()}, by {result.sources:,} sources, were weighed at once; {order} does not matter."

    def _which_rewards(self) -> str:
        """Return which rewards were weighed: not those that sigma was estimated from, nor a source's later ones."""
        result = self.result
        if result.metric.counts_sources:
            sums = f"The sums of {result.metric.reward} and {result.metric.per}"
            how = sums if result.metric.per else "All numbers, one"
            return f"{how} of each source for each arm (there are {result.rows:,})"
        if result.within is not None and result.within.unused:
            return f"{result.pulls - result.within.unused:,} of the {result.rows:,} rewards of a log"
        if result.pulls == result.rows:
            return f"All {result.rows:,} rewards of a log"
        why = " (the first of each source for each arm)" if result.sources is not None else ""
        aside = " (sigma was estimated from others)" if result.sigma_from is not None else ""
        return f"{result.pulls:,} of the {result.rows:,} rewards of a log{why}{aside}"

    def settings(self) -> Iterator[str]:
        """Yield what was asked: epsilon, the noise, delta and the options."""
        result = self.result
        if result.for_all_counts:
            yield f"No epsilon was given: {self._claim_for_all_counts()}."
        else:
            yield f"epsilon = {result.epsilon:g}: {self._epsilon_means()}."
        if result.bounds is not None:
            capped = "" if result.cap is None or result.metric.per else ", as what is more counts as that"
            what = f"The ratio of {result.metric.reward} to {result.metric.per}" if result.metric.per else "A reward"
            yield f"{what} lies between {result.bounds[0]:g} and {result.bounds[1]:g}{capped}."
        else:
            known = ""
            if result.sigma_from is not None:
                known = f", estimated from {result.sigma_from:,} rewards set aside for it"
            yield f"sigma = {result.sigma:.4g}: the (sub-Gaussian) scale on which clean rewards scatter{known}."
        yield f"delta = {result.delta:g}: we accept at most a {percent(result.delta)} chance of a wrong answer."
        if result.options.get("good_enough") is not None:
            yield f"An arm that is at most {result.options['good_enough']:g} worse than the best is good enough."
        if result.options.get("paired"):
            yield "Two arms are compared by the difference between what the same source says of each."
        if result.within is not None:
            yield result.within.setting(len(result.arms), result.metric)

    def _claim_for_all_counts(self) -> str:
        """Return what is claimed if no epsilon was given."""
        result, metric = self.result, self.result.metric
        if result.best is None:
            return f"if {metric.arm_word}s could be told apart, the answer would say how many fakes it survives"
        if result.alarms:
            return "and as the log contradicts the assumptions, nothing is claimed"
        name = quoted(result.best, 60)
        if not self.model.counted:
            least = share_shown(100.0 * (result.tolerance or 0.0))
            return f"the claim is that {name} is the best, or a {metric.row} is fake with a chance above {least} %"
        return f"the claim is that {name} is the best, or there are more than {self.overturn()}"

    def _epsilon_means(self) -> str:
        result, model = self.result, self.model
        share = percent(result.epsilon)
        if result.epsilon == 0.0:
            return model.none_is_fake
        if of_options(result.options) is None:  # a replay through a method that knows of no models
            return f"{result.promise} (epsilon is {share})"
        if result.sequential:
            return f"{model.words} (epsilon is {share})"
        return model.log_meaning(share, result.sources if self.model.by_source else result.rows, result.replaced)

    def headline(self) -> str:
        """Return the answer in one line."""
        result = self.result
        if result.best is None:
            return "No winner is named" + (", and the log contradicts the assumptions" if result.alarms else "")
        name = repr(short(result.best, 60))
        if result.alarms:
            return f"{name} comes first, but nothing is claimed: the log contradicts the assumptions"
        if not result.proved:
            return f"{name} is named by {result.method}, which proves nothing"
        return self.claim(name)

    def answer(self) -> str:
        """Return the verdict, without its alarms."""
        return capital(self.cut(self.verdict()))

    def alarms(self) -> list[str]:
        """Return a sentence for each alarm."""
        return [f"{capital(self.cut(alarm))}." for alarm in self.result.alarms]

    def more_doubts(self) -> list[str]:
        """Return all reasons not to rely on the answer, if there are more than the one in its third line."""
        doubts = self.result.doubts
        return [self.cut(doubt) for doubt in doubts] if len(doubts) > 1 else []

    def found(self) -> list[str]:
        """Return each finding of inspection at length, and whether the answer survives it."""
        return [
            self.cut(f"{self._at_length(finding)} {self._outlasts(finding)}".strip()) for finding in self._largest()
        ]

    def _largest(self) -> list[Finding]:
        return sorted(self.result.findings, key=lambda finding: -(finding.rows or 0))

    def _at_length(self, finding: Finding) -> str:
        text = capital(finding.text)
        more = finding.details.strip()
        if more.startswith((finding.text, text)):
            text, more = more, ""
        said = f"{text.rstrip('.')}."
        return f"{said} {capital(more).rstrip('.')}." if more else said

    def _outlasts(self, finding: Finding) -> str:
        result, text = self.result, f"{capital(finding.text)}: "
        if result.best is None or result.alarms:
            return ""
        doubt = next((doubt for doubt in result.doubts if doubt.startswith(text)), None)
        if doubt is not None:
            return f"{capital(doubt.removeprefix(text).rstrip('.'))}: do not rely on the answer."
        return f"{capital(finding.if_survived)}."

    def remarks(self) -> list[str]:
        """Return what to know about the answer: how strong it is, or what may lead to one."""
        if self.result.best is None:
            return [self.cut(sentence) for sentence in self._what_would_help()]
        return [] if self.result.alarms else [self.cut(sentence) for sentence in self._strength()]

    def _strength(self) -> Iterator[str]:
        result, leads = self.result, self.leads
        if self.is_near:
            return
        if leads:
            closest = min(leads, key=lambda label: leads[label])
            if leads[closest] > 0.0:
                yield (
                    f"It leads every other {result.metric.arm_word} by at least {self.lead_shown(leads[closest])}"
                    f"{self._if_clean()} (the closest is {closest!r}); if it is the best, its leads over all of them "
                    f"hold together with probability {result.leads_hold:g}."
                )
        if uplift_fact(result):
            yield f"Uplift of {uplift_fact(result)}."
        if result.p_value is not None:
            null = "null hypothesis: some other arm is at least as good"
            yield f"p-value {result.p_value:.2g}{self._if_clean()} ({null})."

    def _if_clean(self) -> str:
        return " if nothing is fake" if self.result.for_all_counts else ""

    def lead_shown(self, lead: float) -> str:
        """Return a positive lead, never rounded up, in the units of the metric: points if means are rates."""
        return self.result.metric.lead(rounded_down(lead))

    def _what_would_help(self) -> Iterator[str]:
        result = self.result
        if result.alarms:
            yield "First fix what the alarm reports: if epsilon or sigma is too small, give a larger one."
        if result.hint:
            yield f"{capital(result.hint)}."
        if result.limit == "contamination":
            yield (
                "What would help: a smaller epsilon, if you have grounds for it other than wanting a winner; the curve "
                "below shows how small. “bestarm inspect” shows what looks wrong in the log."
            )
            if not self.model.by_source:
                yield (
                    "If the log has a column that says who gave each reward (a voter, a device), give it as the "
                    "source: then epsilon is a share of the sources, and each counts once per arm, however often it "
                    "rewards it."
                )
        elif result.limit == "budget":
            yield f"{capital(self.outlook())}."
        if result.options.get("good_enough") is None and len(result.candidates) > 1:
            yield "If an arm that is nearly the best will do, say how near (good_enough): that may take fewer rewards."

    # ----------------------------------------------------------------------------------------------- picture and table

    def legend(self, most: int) -> Iterator[str]:
        """Yield how to read the picture, which has at most so many arms."""
        result = self.result
        yield f"{self._colour_of_named()}Blue: not ruled out. Grey: ruled out."
        if result.for_all_counts:
            yield "Intervals and leads are those if nothing is fake."
        sure = result.method == "certified" and not result.alarms
        said = "" if not sure else f", and all of them hold together with probability {1.0 - result.delta:g}"
        yield f"Intervals are for display{said}; arms are compared in pairs, which separates more than intervals do."
        if self.leads and result.best is not None:
            yield "Leads extend to the right from the smallest that is proved; left of 0 the other arm may be ahead."
        elif self.leads:
            yield (
                "Leads are those of the arm that is ahead (not proved), extending to the right from the smallest; left "
                "of 0 the other arm may be ahead."
            )
        if len(result.arms) > most:
            yield f"Of {len(result.arms):,} arms, the first {most} are drawn, in the order of the table."

    def _colour_of_named(self) -> str:
        result = self.result
        if result.best is None:
            return ""
        if result.trusted:
            return "Green: the arm that is named. "
        return f"Orange: the arm that {'comes first' if result.alarms else 'is named'}, not to be relied on. "

    def leads_by(self) -> str:
        """Return the heading of the column of leads."""
        return f"{short(self.first, 20)} leads by at least"

    def standing(self, row: ArmRow) -> str:
        """Return how an arm stands."""
        result = self.result
        if row.label == result.best:
            return "comes first" if result.alarms else "named"
        if row.label not in result.candidates:
            return "ruled out"
        return "ahead (not proved)" if row.label == result.leader and result.best is None else "not ruled out"

    def interval(self, row: ArmRow, decimals: int) -> str:
        """Return the interval of an arm."""
        if not row.lower <= row.upper:
            return "no mean fits"
        return f"{number_shown(row.lower, decimals)} to {number_shown(row.upper, decimals)}"

    def left_out(self, most: int) -> str:
        """Return how many arms the table leaves out."""
        arms = len(self.result.arms)
        return f"These are {most} of {arms:,} arms: the other {arms - most:,} are left out."

    def about_the_arms(self) -> str:
        """Return how to read the table of arms."""
        order = "Order: the winner or leader, then the arms not ruled out, then the others"
        negative = any(lead < 0.0 for lead in self.leads.values())
        way = "lowest up" if self.result.lower_is_better else "highest down"
        said = f"{order}, each group from the {way}. {self._what_means_are()}"
        return said + (" A negative lead: the arm may be ahead." if negative else "")

    def _what_means_are(self) -> str:
        if not self.result.means:
            return ""
        if self.result.within is not None:
            return self.result.within.about_means()
        if self.result.middle == "ratio":
            return "Ratios are of the sums as they stand, fakes included."
        if self.result.middle == "mean":
            return "Means are of the rewards as they stand, fakes included."
        said = "Estimates are what the evidence supports, to which rewards far out add little."
        if not self.result.moved_means:
            return said
        return f"{said} Plain means are of the rewards as they stand, fakes included."

    # --------------------------------------------------------------------------------------------- what if more is fake

    def survives(self) -> list[str]:
        """Return how much contamination the answer withstands, and no more than is proved."""
        return [self.cut(sentence) for sentence in self._survives_at_length()]

    def _survives_at_length(self) -> Iterator[str]:
        result, name = self.result, repr(self.first)
        if result.alarms:
            yield "Nothing is claimed about how much the answer can withstand, as the log contradicts the assumptions."
            return
        if result.tolerance is None or result.overturn is None:
            if result.best is None and not result.sequential:
                yield "Even if nothing had been replaced, these rewards would not single out any arm."
            return
        if result.sigma_from is not None:
            yield (
                f"Sigma was estimated for epsilon = {result.epsilon:g}. What is said here of a larger epsilon, or of "
                f"more {self.thing}s, holds only if sigma is at most {result.sigma:.3g} then too, which is not proved."
            )
        count = self.overturn()
        if result.best is not None and not self.is_near:
            yield (
                f"The same rewards single out {name} {self._at_every(result.tolerance)}, and with up to {count}, "
                "whichever they are: it would take more than that to overturn the answer. More might overturn it, or "
                "might not."
            )
            yield f"So the question to ask is: could there be more than {count}?"
        elif result.tolerance == 0.0 and result.overturn == 0:
            yield f"{name} would be singled out as the best only if nothing at all had been replaced."
        else:
            share = f"if epsilon were at most {_in_percent_too(result.tolerance)}, or "
            share = share if result.tolerance > 0.0 else ""
            yield f"{name} would be singled out as the best {share}with at most {count}; with more, it is not."

    def _at_every(self, tolerance: float) -> str:
        if tolerance == 0.0:
            return "at epsilon = 0"
        grid = " of a grid" if self.result.sequential else ""
        return f"at every epsilon{grid} up to {_in_percent_too(tolerance)}"

    def at_epsilon(self, row: Sensitivity) -> tuple[str, str]:
        """Return the verdict at another epsilon, and the arms that may be the best there."""
        left = with_rest([short(label, 30) for label in row.candidates[:5]], len(row.candidates))
        if row.alarms:
            return "the log contradicts it", left
        if row.best is not None:
            return f"{short(row.best, 30)} is named", left
        return outcome(row), left

    def how_to_read(self) -> str:
        """Return what the table over epsilon claims."""
        result = self.result
        said = "" if result.for_all_counts else "The marked line is the one that was asked for. "
        said += (
            "A line holds only if no more than its epsilon was "
            "replaced: an arm named at a small epsilon means nothing if more is fake. "
        )
        if result.alarms:
            return f"{said}No probability is claimed, as the log contradicts the assumptions."
        if result.sequential:
            return (
                f"{said}The lines weigh the rewards that the replay used, not those after its decision. Each is right "
                f"with probability {1.0 - result.delta:g} by itself; nothing is claimed about all of them together."
            )
        sigma = "" if result.sigma_from is None else f", if sigma is at most {result.sigma:.3g} there too"
        return (
            f"{said}You may choose a line after seeing the table: all lines that allow for enough fakes are right "
            f"together with probability {1.0 - result.delta:g}{sigma}."
        )

    # ----------------------------------------------------------------------------------------------------- assumptions

    def chance(self) -> str:
        """Return how probable a wrong answer is, if the assumptions are true."""
        result = self.result
        meant = "has probability" if result.proved else "is meant (nobody has proved it) to have probability"
        not_so = ", which it is not" if result.alarms else ""
        return f"A wrong answer {meant} at most {percent(result.delta)} if all of this is true{not_so}:"

    def assumptions(self) -> list[str]:
        """Return the assumptions, one by one."""
        noise = "clean rewards scatter no more widely than sigma says"
        if self.result.bounds is not None:
            noise = "every reward lies within the bounds"
            if self.result.metric.per:
                noise = f"no source has more {self.result.metric.reward!r} than {self.result.metric.per!r}"
        return [f"{capital(part)}." for part in (*self.result.promise.split("; "), noise)]

    def not_claimed(self) -> Iterator[str]:
        """Yield what a reader might think is claimed, and is not."""
        result = self.result
        if result.for_all_counts:
            yield "That anything was replaced, or by whom. If more is fake than the answer survives, it may be wrong."
        else:
            yield (
                "That anything was replaced, or by whom: epsilon was assumed beforehand, not found. If more is fake "
                "than it allows for, all of this may be wrong."
            )
        if result.best is None:
            yield (
                "That the arms are equally good: only that no winner is named. The arm that is ahead is not proved "
                "best."
            )
        else:
            yield "That the winner is the best by any measure but the mean of rewards like these."
        if result.limit == "contamination":
            yield (
                "That more rewards would not settle it, with probability 1 - delta: delta does not cover this "
                "judgement."
            )
        if result.tolerance is not None and not result.alarms:
            yield "That so many rewards were in fact fake: the counts say how many the answer can withstand."


def _in_percent_too(share: float) -> str:
    return f"{share_shown(share)} ({share_shown(100.0 * share)} %)"
