"""The verdict on the rewards of a log: what the evidence says, and everything that is reported with it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import Contamination, checked
from bestarm.identification.comparison import Uplift
from bestarm.identification.result import ArmRow, Limit, Status
from bestarm.identification.robustness import GRID, Sensitivity, Standing, compare_with_others, largest_count, p_value
from bestarm.identification.tail_alarm import alarm_of_arm
from bestarm.identification.wording.alarms import too_many_lost
from bestarm.identification.wording.log_verdict import hardly_comparable, mostly_single
from bestarm.identification.wording.text import share_shown
from bestarm.log.assigned import DRAWN
from bestarm.log.assumptions import check_missing, lost_beyond, promise
from bestarm.log.blocks import as_one_block, takes_batches
from bestarm.log.by_block import BlockEvidence
from bestarm.log.by_source import PairedEvidence, SourceEvidence
from bestarm.log.evidence import LogEvidence
from bestarm.log.exact import FOR_MEANS, ExactEvidence, is_exact
from bestarm.log.piles import Pile, to_pile
from bestarm.log.pricing import Allowance, count_discounted
from bestarm.log.question import LogQuestion
from bestarm.log.ratio import RatioEvidence
from bestarm.log.result import LogResult
from bestarm.log.rewards import Rewards
from bestarm.log.units import count_as_units, units
from bestarm.log.uplift import Uplifts, UpliftsWithin
from bestarm.problem import Label, Problem, checked_reward

_LARGEST_SHARE = 0.499  # the largest that is tried: if half is fake, nothing can be told
_DIGITS = 6 * 900 + 400  # how many numbers of three digits there are from 1e-7 to that
_MANY_SINGLE = 0.1  # share of the sources of two arms that rewarded only one, from which on a hint is given
_NEAREST = 3  # arms that the picture of what an answer survives looks at
_STEPS = 24  # points of it
_MOST_TIMES = 1000.0  # a forecast reaches up to this many times the rewards in the log


def judge_rewards(
    rewards: Rewards,
    problem: Problem,
    model: Contamination,
    question: LogQuestion,
    aside: NDArray[np.int64] | None = None,
) -> LogResult:
    """Return the verdict on the rewards of a log; `aside`: rewards of each arm that were used for something else."""
    for values in rewards.values:
        for value in values[[0, -1]] if values.size else ():
            checked_reward(problem, float(value))
    others = np.zeros(problem.size, np.int64) if aside is None else aside
    if question.epsilon is not None:
        check_missing(rewards, problem, model, others)
    if question.control is not None:
        from bestarm.log.control import ControlVerdict

        return ControlVerdict(rewards, problem, model, question, others).result()
    return Verdict(rewards, problem, model, question, others).result()


class Verdict:
    """The verdict on a log, and everything that is reported with it."""

    for_means = FOR_MEANS  # of delta, for intervals that turn odds ratios and leads into leads and uplifts

    def __init__(
        self,
        rewards: Rewards,
        problem: Problem,
        model: Contamination,
        question: LogQuestion,
        aside: NDArray[np.int64],
    ) -> None:
        self._question, self._aside = question, aside
        self._rewards, self._problem, self._model = rewards, problem, model
        self._evidence = self._weighed(rewards)
        self._own = self._evidence.at_epsilon(problem.epsilon)
        self._leader = int(self._evidence.order[0])

    def _weighed(self, rewards: Rewards) -> LogEvidence:
        """Return the evidence: of sources that may have rewarded several arms, or of units, rows or sources."""
        problem, model, question, sources = self._problem, self._model, self._question, rewards.sources
        if not model.by_source:
            return self._of_units(rewards) or LogEvidence(problem, model, self._piles(rewards))
        assert sources is not None
        if sources.of is not None:
            return RatioEvidence(problem, sources, model)
        found = self._of_units(units(rewards)) if count_as_units(rewards, question) else None
        kind_of_pair = PairedEvidence if question.paired else SourceEvidence
        return found or kind_of_pair(problem, sources, rewards.missing, model)

    def _piles(self, rewards: Rewards) -> list[Pile]:
        """Return the rewards of each arm; missing ones enter if fakes are counted."""
        problem = self._problem
        is_counted = self._model.counted or _takes_exact(self._model, problem, self._question)
        missing = rewards.missing if is_counted else np.zeros(problem.size, np.int64)
        counts: Sequence[Any] = rewards.counts or [None] * problem.size
        each = zip(rewards.values, counts, missing, self._aside, strict=True)
        return [to_pile(problem, values, count, int(lost), int(other)) for values, count, lost, other in each]

    def _of_units(self, rewards: Rewards) -> LogEvidence | None:
        """Return the evidence within blocks, of the exact test, or by batches, where one of these is the right one."""
        problem, model, question = self._problem, self._model, self._question
        piles = self._piles(rewards)
        if rewards.blocks is not None:
            control = None if question.control is None else problem.labels.index(question.control)
            return BlockEvidence(problem, model, piles, rewards.blocks, control)
        if _takes_exact(model, problem, question) and is_exact(piles):
            return ExactEvidence(problem, model, piles, question.good_enough is not None, self.for_means)
        if takes_batches(rewards, question):
            return BlockEvidence(problem, model, piles, as_one_block(rewards))
        return None

    def result(self) -> LogResult:
        """Return the verdict with everything that is reported."""
        problem, evidence = self._problem, self._evidence
        labels = problem.labels
        status, best, left, limit = self._decide(self._own)
        worse = np.ones(problem.size, bool)
        worse[left] = False
        overturn = self._overturn()
        tolerance = self._tolerance(best is not None and len(left) == 1, overturn)
        alarms = self._alarms_of(overturn, tolerance)
        standing = None if alarms else self._standing(worse)
        more = self._more(left) if best is None and limit == "budget" else {}
        leader = labels[self._leader]
        used = sum(pile.number - pile.missing for pile in evidence.piles)
        aside = sum(pile.aside for pile in evidence.piles)
        rows = self._rewards.total + aside + (0 if self._model.by_source else int(self._rewards.missing.sum()))
        arms = tuple(self._row(index, not worse[index]) for index in range(problem.size))
        means = [self._mean(index) for index in range(problem.size)]
        return LogResult(
            status=status,
            best=None if best is None else labels[best],
            candidates=tuple(labels[index] for index in left),
            pulls=used,
            delta=problem.delta,
            epsilon=problem.epsilon,
            sigma=problem.sigma,
            bounds=problem.bounds,
            method="certified",
            options={
                "contamination": checked(self._model),
                "good_enough": self._question.good_enough,
                "paired": self._question.paired,
            },
            arms=arms,
            promise=self._promise(overturn, tolerance),
            leader=leader,
            limit=limit,
            leads=standing.leads if standing else {},
            p_value=standing.p_value if standing else None,
            tolerance=None if alarms else tolerance,
            overturn=None if alarms else overturn,
            alarms=alarms,
            rows=rows,
            replaced=self._replaced(),
            sources=self._rewards.sources.number if self._model.by_source and self._rewards.sources else None,
            ignored=rows - used - evidence.missing,
            sensitivity=self._sensitivity(),
            more=more,
            hint=self._hint(left) if best is None else "",
            means=dict(zip(labels, means, strict=True)),
            discounted={row.label: self._discounted(i, row, means[i]) for i, row in enumerate(arms)},
            for_all_counts=self._for_all_counts,
            survival=() if alarms else self._survival(worse, overturn),
            stopping=self._question.stopping,
            exact=isinstance(evidence, ExactEvidence),
            within=evidence.within() if isinstance(evidence, BlockEvidence) else None,
            batches=isinstance(evidence, BlockEvidence),
            floor=self._floor(left) if limit is not None and not more else None,
            health=self._rewards.health,
            uplift=None if alarms else self._uplift(means, standing),
        )

    # ------------------------------------------------------------------------------------------------------- decisions

    def _decide(self, allowance: Allowance) -> tuple[Status, int | None, list[int], Limit | None]:
        """Return status, winner, the arms not ruled out in order of index, and the limit."""
        worse = self._evidence.worse(allowance)
        left = [int(index) for index in np.flatnonzero(~worse)]
        if len(left) == 1:
            return "identified", left[0], left, None
        ranked = [int(index) for index in self._evidence.order if not worse[index]]
        near = self._question.good_enough
        if near is not None and all(self._evidence.is_proved(ranked[0], a, allowance, -near) for a in ranked[1:]):
            return "identified", ranked[0], left, None
        if allowance.is_something and self._evidence.is_hidden(ranked[0], ranked[1], allowance):
            return "indistinguishable", None, left, "contamination"
        return "undecided", None, left, "budget"

    def _floor(self, left: list[int]) -> float | None:
        """Return the lead of the first of the arms left over the second below which nothing can be proved.

        None if nothing is fake, and where their lead is not below it, as far as it is known.
        """
        if not self._own.is_something:
            return None
        ranked = [int(index) for index in self._evidence.order if int(index) in set(left)]
        found = self._evidence.smallest_lead(ranked[0], ranked[1], self._own)
        if found is None or self._decide(self._own)[3] == "contamination":
            return found
        return found if self._mean(ranked[0]) - self._mean(ranked[1]) < found else None

    @property
    def _for_all_counts(self) -> bool:
        """Whether no epsilon was given, so that the answer comes with the number of fakes that it survives."""
        return self._question.epsilon is None

    def _names_leader(self, allowance: Allowance) -> bool:
        """Tell whether the leader is named: it is the only arm left or, without an epsilon, good enough.

        Where it is named as the only arm left, that is also what has to survive the fakes.
        """
        if self._for_all_counts and self._question.good_enough is not None and not self._is_alone:
            return self._decide(allowance)[1] == self._leader
        return self._singles_out(allowance)

    @functools.cached_property
    def _is_alone(self) -> bool:
        """Whether the leader is the only arm left at the epsilon that was given or, without one, if nothing is fake."""
        return self._singles_out(self._own)

    def _singles_out(self, allowance: Allowance) -> bool:
        """Tell whether the leader is the only arm not ruled out: all others are proved worse than some arm."""
        return int(self._evidence.worse(allowance, hasty=True).sum()) == self._problem.size - 1

    def _tolerance(self, named: bool, overturn: int | None) -> float | None:
        """Return the largest epsilon at which the leader is singled out; the evidence falls with epsilon.

        A share of all goes by the count: with epsilon N = overturn, missing ones included, it is singled out, with one
        more it is not. Else to three digits, from below.
        """
        if overturn is None:
            found = None
        elif self._model.shared:
            found = self._share_of(overturn)
        else:
            at = self._evidence.at_epsilon
            found = largest_epsilon(lambda epsilon: self._names_leader(at(epsilon)))
        return max(found or 0.0, self._problem.epsilon) if named else found

    def _share_of(self, count: int) -> float:
        """Return the largest epsilon at which no more fakes are allowed for than some, besides missing rewards."""
        return min((count + self._evidence.missing) / self._evidence.base, _LARGEST_SHARE)

    def _overturn(self) -> int | None:
        """Return the largest number of replaced rewards (dishonest sources) with which the leader is singled out."""
        most = self._evidence.total if not self._model.by_source else int(self._evidence.allowed(1.0))

        def holds(count: int) -> bool:
            return self._names_leader(self._evidence.at_count(count))

        return largest_count(most, holds) if holds(0) else None

    def _survival(self, worse: NDArray[np.bool_], overturn: int | None) -> tuple[tuple[int, float], ...]:
        """Return the p-value of the leader for some numbers of fakes, to well beyond the number it survives.

        Of the arms it is compared with, those that are nearest to it without fakes decide, so only they are looked at.
        """
        if not self._model.counted or isinstance(self._evidence, PairedEvidence):
            return ()
        evidence, leader, problem = self._evidence, self._leader, self._problem
        clean = evidence.at_count(0)
        others = [index for index in range(problem.size) if index != leader]
        near = sorted(others, key=lambda a: evidence.log_evidence(leader, a, clean))[:_NEAREST]
        most = min(2 * (overturn or 0) + 10, evidence.total)
        found = []
        for count in sorted({round(step * most / _STEPS) for step in range(_STEPS + 1)} | {overturn or 0}):
            allowance = evidence.at_count(count)
            dropped = evidence.worse(allowance)
            weakest = min(
                max(log_evidence, evidence.enough) if dropped[a] else log_evidence
                for a in near
                for log_evidence in [evidence.log_evidence(leader, a, allowance)]
            )
            found.append((count, p_value(problem, weakest)))
        return tuple(found)

    def _sensitivity(self) -> tuple[Sensitivity, ...]:
        rows = []
        labels = self._problem.labels
        for epsilon in sorted({*GRID, self._problem.epsilon}):
            allowance = self._evidence.at_epsilon(epsilon)
            status, best, left, limit = self._decide(allowance)
            named = tuple(labels[index] for index in left)
            alarms = self._alarms(allowance, epsilon)
            rows.append(Sensitivity(epsilon, status, None if best is None else labels[best], named, limit, alarms))
        return tuple(rows)

    # --------------------------------------------------------------------------------------------------- what it says

    def _standing(self, worse: NDArray[np.bool_]) -> Standing:
        """Return the leads of the leader, and the p-value of its being the best (section 9)."""
        evidence, leader = self._evidence, self._leader
        judge = partial(evidence.judge, leader, allowance=self._own)
        leads, weakest = compare_with_others(self._problem, leader, worse, evidence.enough, judge)
        return Standing(leads, p_value(self._problem, weakest))

    def _uplift(self, means: list[float], standing: Standing | None) -> Uplift | None:
        """Return the uplift of the leader over the arm with the highest mean besides it, or the nearest in blocks."""
        leader, labels = self._leader, self._problem.labels
        others = [index for index in range(len(means)) if index != leader and not math.isnan(means[index])]
        if standing is None or not others or math.isnan(means[leader]):
            return None
        is_mirrored, evidence = bool(self._question.lower_is_better), self._evidence
        if isinstance(evidence, BlockEvidence) and evidence.table.by:
            other = evidence.rival
            found: Uplifts = UpliftsWithin(evidence, self._own, self.for_means, is_mirrored)
        else:
            other = max(others, key=lambda index: means[index])
            found = Uplifts(evidence, self._own, self.for_means, is_mirrored, (leader, other))
        return found.of(leader, other, standing.leads.get(labels[other], -math.inf))

    def _row(self, index: int, active: bool) -> ArmRow:
        pile = self._evidence.piles[index]
        estimate, lower, upper = self._evidence.ends(index, self._own)
        if lower > upper:  # no mean fits: an alarm
            lower = upper = math.nan
        return ArmRow(self._problem.labels[index], pile.number - pile.missing, estimate, lower, upper, active)

    def _mean(self, index: int) -> float:
        """Return the plain mean of the used rewards of an arm, including replaced ones."""
        return self._evidence.origin + self._evidence.scale * self._evidence.piles[index].mean

    def _discounted(self, index: int, row: ArmRow, mean: float) -> int:
        if self._problem.bounds is not None:
            return 0  # the estimate is the mean
        pile, evidence = self._evidence.piles[index], self._evidence
        rewards = evidence.origin + evidence.scale * pile.values
        return count_discounted(rewards, pile.counts, row.estimate, mean, evidence.scale * evidence.reach)

    def _replaced(self) -> int | None:
        epsilon, evidence = self._problem.epsilon, self._evidence
        if not self._model.counted:
            return None
        if self._model.shared:
            return int(evidence.allowed(epsilon))
        return max(self._model.allowed(epsilon, pile.number + pile.aside) for pile in evidence.piles)

    def _alarms(self, allowance: Allowance, epsilon: float) -> tuple[str, ...]:
        """Return the alarms: rewards that contradict epsilon or sigma (section 8), or too many missing ones."""
        problem, piles = replace(self._problem, epsilon=epsilon), self._evidence.piles
        ringing, far = self._evidence.ringing(allowance), self._evidence.far_rewards(allowance, epsilon)
        found = [
            alarm_of_arm(problem, label, piles[index].number, index in ringing, far.get(index))
            for index, label in enumerate(problem.labels)
        ]
        if not any(found):  # otherwise an alarm of an arm says it
            found.append(self._evidence.far_together(allowance, epsilon))
        said = [each for each in found if each is not None]
        if not (self._for_all_counts and self._model.counted):  # else what is survived is besides missing rewards
            said += [
                too_many_lost(epsilon, lost, problem.labels[index])
                for index, lost in lost_beyond(self._rewards, self._model, epsilon, problem.delta, self._aside)
            ]
        return tuple(said)

    def _alarms_of(self, overturn: int | None, tolerance: float | None) -> tuple[str, ...]:
        """Return the alarms at the epsilon that was given or, without one, at what the answer survives."""
        if not self._for_all_counts:
            return self._alarms(self._own, self._problem.epsilon)
        if self._model.counted:
            return self._alarms(self._evidence.at_count(overturn or 0), 0.0)
        return self._alarms(self._evidence.at_epsilon(tolerance or 0.0), tolerance or 0.0)

    def _promise(self, overturn: int | None, tolerance: float | None) -> str:
        """Return the assumptions; without an epsilon, with the number of fakes that the answer survives."""
        allowed = None
        if self._for_all_counts:
            allowed = self._allowed(overturn, tolerance)
        exact = isinstance(self._evidence, ExactEvidence)
        is_unit = exact or isinstance(self._evidence, BlockEvidence)
        said = promise(self._rewards, self._model, self._question.paired, exact=exact, units=is_unit, allowed=allowed)
        said = self._evidence.promise(said) if isinstance(self._evidence, BlockEvidence) else said
        return f"{said}; {DRAWN}" if self._question.assigned else said

    def _allowed(self, overturn: int | None, tolerance: float | None) -> str:
        """Return how much may be fake, without an epsilon: what the answer survives."""
        return f"{overturn or 0:,}" if self._model.counted else share_shown(tolerance or 0.0)

    def _hint(self, left: list[int]) -> str:
        """Return a hint if sources can hardly be compared: all rewarded one arm first, or many only one."""
        if not isinstance(self._evidence, SourceEvidence):
            return ""
        those = set(left)
        ranked = [int(index) for index in self._evidence.order if int(index) in those]
        one, two = (self._problem.labels[index] for index in ranked[:2])
        if isinstance(self._evidence, PairedEvidence):
            single = self._evidence.single_share(*ranked[:2])
            return mostly_single(one, two, single) if single >= _MANY_SINGLE else ""
        return hardly_comparable(one, two) if self._evidence.is_one_sided(*ranked[:2]) else ""

    def _more(self, left: list[int]) -> dict[Label, int]:
        """Return about how many more rewards of the candidates would decide, if all their numbers grow alike."""
        numbers = {index: self._evidence.piles[index].number for index in left}
        times = {}
        for a in left:
            if a != self._leader:
                times[a] = self._times(a)
        if not times or any(math.isinf(value) for value in times.values()):
            return {}
        times[self._leader] = max(times.values())
        return {
            self._problem.labels[index]: _two_digits((times[index] - 1.0) * numbers[index])
            for index in left
            if numbers[index] > 0
        }

    def _times(self, a: int) -> float:
        """Return how many times the present rewards would prove an arm worse than the leader."""

        def is_enough(times: float) -> bool:
            return self._evidence.is_proved(self._leader, a, self._own, times=times)

        if not is_enough(_MOST_TIMES):
            return math.inf
        low, high = 1.0, _MOST_TIMES
        while high / low > 1.02:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return high


def _takes_exact(model: Contamination, problem: Problem, question: LogQuestion) -> bool:
    """Tell whether an exact test of units may be used: their number was fixed, and fakes are counted."""
    is_counted = model.counted or question.assigned
    return question.stopping == "fixed" and problem.bounds is not None and is_counted


def largest_epsilon(holds: Callable[[float], bool]) -> float:
    """Return the largest epsilon of three digits up to which something holds."""
    return _of_three_digits(largest_count(_DIGITS, lambda step: holds(_of_three_digits(step))))


def _of_three_digits(step: int) -> float:
    """Return the step-th number of three digits from 1e-7 on, 0 before the first.

    >>> [_of_three_digits(step) for step in (0, 1, 900, 901, _DIGITS)]
    [0.0, 1e-07, 9.99e-07, 1e-06, 0.499]
    """
    if step == 0:
        return 0.0
    tens, rest = divmod(step - 1, 900)
    return float(f"{100 + rest}e{tens - 9}")


def _two_digits(number: float) -> int:
    """Return a number rounded up to two digits, the precision of a forecast."""
    if number <= 0.0:
        return 0
    unit = int(10 ** max(math.floor(math.log10(number)) - 1, 0))
    return math.ceil(number / unit) * unit
