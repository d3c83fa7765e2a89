"""The verdict on a log with a control: which of the other arms are better than it (section 18 of certified.md).

The K - 1 comparisons with the control are all that is tested, each at delta / (K - 1). So every arm of the list that is
better, with its least uplift and what it survives, is right together with all others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import Contamination, checked
from bestarm.errors import InputError
from bestarm.identification.comparison import Comparison
from bestarm.identification.result import Limit, Status
from bestarm.identification.robustness import largest_count
from bestarm.log.by_block import BlockEvidence
from bestarm.log.exact import ExactEvidence
from bestarm.log.judgement import Verdict, largest_epsilon
from bestarm.log.question import LogQuestion
from bestarm.log.result import LogResult
from bestarm.log.rewards import Rewards
from bestarm.log.uplift import Uplifts, UpliftsWithin
from bestarm.problem import Problem

FOR_UPLIFT = 0.05  # of delta, for the intervals of means that turn what is proved of a pair into an uplift


class ControlVerdict(Verdict):
    """The verdict on a log with a control, and everything that is reported with it."""

    for_means = FOR_UPLIFT / (1.0 - FOR_UPLIFT)  # of the delta of the evidence, which has the rest

    def __init__(
        self,
        rewards: Rewards,
        problem: Problem,
        model: Contamination,
        question: LogQuestion,
        aside: NDArray[np.int64],
    ) -> None:
        if question.control not in problem.labels:
            few = ", ".join(map(repr, problem.labels[:12])) + (", ..." if problem.size > 12 else "")
            raise InputError("control", "be one of the arms", question.control, f"the arms are {few}")
        self._asked = problem
        for_pairs = Problem(
            problem.labels, (1.0 - FOR_UPLIFT) * problem.delta, problem.epsilon, problem.sigma, problem.bounds
        )
        super().__init__(rewards, for_pairs, model, question, aside)
        self._control = problem.labels.index(question.control)
        others = [index for index in range(problem.size) if index != self._control]
        self._differences = {index: self._difference(index) for index in others}
        known = {i: -math.inf if math.isnan(found) else found for i, found in self._differences.items()}
        self._ranked = sorted(others, key=lambda i: (-known[i], i))

    def result(self) -> LogResult:
        """Return the verdict with everything that is reported."""
        problem, evidence, control, labels = self._asked, self._evidence, self._control, self._problem.labels
        everyone = range(problem.size)
        better = [index for index in self._ranked if self._is_better(index, self._own)]
        self._leader = better[0] if better else self._nearest()
        status, limit = self._status(better)
        counts = {index: self._count_survived(index) for index in self._ranked}
        shares = {index: self._share_survived(index, counts[index]) for index in self._ranked}
        weakest = min(better, key=lambda i: (counts[i] or 0, shares[i] or 0.0)) if better else self._leader
        if better and not self._model.counted:
            weakest = min(better, key=lambda i: shares[i] or 0.0)
        overturn, tolerance = counts[weakest], shares[weakest]
        alarms = self._alarms_of(overturn, tolerance)
        uplifts = self._uplifts(everyone)
        worse = {index for index in self._ranked if uplifts.is_worse(index, control)}
        comparisons = tuple(
            self._compared(index, index in better, index in worse, uplifts, counts[index], shares[index], bool(alarms))
            for index in self._ranked
        )
        out = worse | ({control} if better else set())
        used = sum(pile.number - pile.missing for pile in evidence.piles)
        rows = self._rewards.total + (0 if self._model.by_source else int(self._rewards.missing.sum()))
        arms = tuple(self._row(index, index not in out) for index in everyone)
        leading = next(each for each in comparisons if each.label == labels[self._leader])
        means = [self._mean(index) for index in everyone]
        return LogResult(
            status=status,
            best=labels[better[0]] if better else None,
            candidates=tuple(labels[i] for i in better) or tuple(labels[i] for i in everyone if i not in out),
            pulls=used,
            delta=problem.delta,
            epsilon=problem.epsilon,
            sigma=problem.sigma,
            bounds=problem.bounds,
            method="certified",
            options=self._options(),
            arms=arms,
            promise=self._promise(overturn, tolerance),
            leader=labels[self._leader],
            limit=limit,
            p_value=leading.p_value,
            tolerance=None if alarms else tolerance,
            overturn=None if alarms else overturn,
            alarms=alarms,
            rows=rows,
            replaced=self._replaced(),
            sources=self._rewards.sources.number if self._model.by_source and self._rewards.sources else None,
            ignored=rows - used - evidence.missing,
            more=self._more([self._leader, control]) if limit == "budget" else {},
            means=dict(zip(labels, means, strict=True)),
            discounted={row.label: self._discounted(i, row, means[i]) for i, row in enumerate(arms)},
            for_all_counts=self._for_all_counts,
            stopping=self._question.stopping,
            exact=isinstance(evidence, ExactEvidence),
            within=evidence.within() if isinstance(evidence, BlockEvidence) else None,
            batches=isinstance(evidence, BlockEvidence),
            floor=evidence.smallest_lead(self._leader, control, self._own) if limit == "contamination" else None,
            health=self._rewards.health,
            control=labels[control],
            comparisons=comparisons,
        )

    def _difference(self, index: int) -> float:
        """Return how much higher the mean of an arm is than that of the control, within blocks if there are any."""
        if isinstance(self._evidence, BlockEvidence) and self._evidence.table.by:
            return self._evidence.lead(index, self._control)
        return self._mean(index) - self._mean(self._control)

    def _uplifts(self, arms: Sequence[int]) -> Uplifts:
        evidence, is_mirrored = self._evidence, bool(self._question.lower_is_better)
        if isinstance(evidence, BlockEvidence) and evidence.table.by:
            return UpliftsWithin(evidence, self._own, self.for_means, is_mirrored, self._control)
        return Uplifts(evidence, self._own, self.for_means, is_mirrored, arms)

    def _options(self) -> dict[str, Any]:
        return {"contamination": checked(self._model), "good_enough": None, "paired": self._question.paired}

    def _allowed(self, overturn: int | None, tolerance: float | None) -> str:
        """Return how much may be fake: what is said of each arm."""
        return "so many" if self._model.counted else "so much"

    def _is_better(self, index: int, allowance: Any) -> bool:
        return self._evidence.is_proved(index, self._control, allowance)

    def _nearest(self) -> int:
        """Return the arm whose evidence against the control is the strongest."""
        strength = [self._evidence.log_evidence(index, self._control, self._own) for index in self._ranked]
        return self._ranked[int(np.argmax(strength))]

    def _status(self, better: list[int]) -> tuple[Status, Limit | None]:
        if better:
            return "identified", None
        if self._own.is_something and self._evidence.is_hidden(self._leader, self._control, self._own):
            return "indistinguishable", "contamination"
        return "undecided", "budget"

    def _count_survived(self, index: int) -> int | None:
        """Return the largest number of fakes with which an arm is proved better than the control."""
        evidence = self._evidence
        most = evidence.total if not self._model.by_source else int(evidence.allowed(1.0))

        def holds(count: int) -> bool:
            return self._is_better(index, evidence.at_count(count))

        return largest_count(most, holds) if holds(0) else None

    def _share_survived(self, index: int, count: int | None) -> float | None:
        """Return the largest epsilon at which an arm is proved better than the control."""
        if count is None:
            return None
        if self._model.shared:
            return self._share_of(count)
        found = largest_epsilon(lambda epsilon: self._is_better(index, self._evidence.at_epsilon(epsilon)))
        return max(found, self._problem.epsilon) if self._is_better(index, self._own) else found

    def _compared(
        self,
        index: int,
        better: bool,
        worse: bool,
        uplifts: Uplifts,
        count: int | None,
        share: float | None,
        is_alarmed: bool,
    ) -> Comparison:
        evidence, control = self._evidence, self._control
        lead = evidence.lead_over(index, control, self._own)
        tests = self._problem.size - 1
        p_value = tests * math.exp(-min(evidence.log_evidence(index, control, self._own), 700.0)) / (1.0 - FOR_UPLIFT)
        return Comparison(
            label=self._problem.labels[index],
            better=better,
            worse=worse,
            difference=self._differences[index],
            lead=lead,
            uplift=None if is_alarmed else uplifts.of(index, control, lead),
            p_value=None if is_alarmed else min(1.0, p_value),
            overturn=None if is_alarmed else count,
            tolerance=None if is_alarmed else share,
        )
