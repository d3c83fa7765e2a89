"""`identify_log`: the verdict on all rows of a log, in any order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import Contamination, checked, resolve
from bestarm.errors import InputError
from bestarm.identification.result import ArmRow, Limit, Status
from bestarm.identification.robustness import GRID, Sensitivity, Standing, compare_with_others, largest_count, p_value
from bestarm.identification.tail_alarm import alarm_of_arm
from bestarm.identification.wording.alarms import too_many_lost
from bestarm.identification.wording.log_verdict import hardly_comparable, mostly_single
from bestarm.log.assumptions import check_log, check_missing, lost_beyond, promise
from bestarm.log.by_source import PairedEvidence, SourceEvidence
from bestarm.log.evidence import LogEvidence
from bestarm.log.piles import to_pile
from bestarm.log.pricing import Allowance, count_discounted
from bestarm.log.question import LogQuestion
from bestarm.log.result import LogResult
from bestarm.log.rewards import Rewards
from bestarm.log.spec import LogSpec
from bestarm.phrases import Phrase, Setting
from bestarm.problem import Label, Problem, checked_reward, pose

_LARGEST_SHARE = 0.499  # the largest that is tried: if half is fake, nothing can be told
_DIGITS = 6 * 900 + 400  # how many numbers of three digits there are from 1e-7 to that
_MANY_SINGLE = 0.1  # share of the sources of two arms that rewarded only one, from which on a hint is given
_MOST_TIMES = 1000.0  # a forecast reaches up to this many times the rewards in the log


def identify_log(
    data: Any,
    *,
    arm: str | None = None,
    reward: str | None = None,
    source: str | bool | None = None,
    delta: float = 0.05,
    epsilon: float,
    sigma: float | str | None = None,
    bounds: tuple[float, float] | None = None,
    contamination: str | None = None,
    good_enough: float | None = None,
    paired: bool = False,
    seed: int | None = None,
    sequential: bool = False,
    replay: Mapping[str, Any] | None = None,
    time: str | bool | None = None,
    wide: bool | Sequence[str] = False,
    counted: bool | str | Mapping[str, float] | None = None,
    missing: str = "refuse",
    on_bad_row: str = "refuse",
    progress: Callable[[float], None] | None = None,
) -> LogResult:
    """Say which arm of a log has the highest mean, from all of its rows, in any order.

    For rewards that are already there; the command is `bestarm identify`. To collect rewards until the best arm is
    known, use `identify`.

    Parameters
    ----------
    data : DataFrame, Arrow table, path, pattern, list of paths, "-", or Rewards
        The log, as `bestarm.log.reading.read_log` takes it, or what it gave.
    arm, reward : str, optional
        Names of its columns, guessed where that is obvious; the guess is reported.
    source : str, optional
        Column that says who gave a reward. It is used if given, or guessed if contamination="sources" is.
    delta : float in (0, 1)
        Accepted probability of a wrong answer.
    epsilon : float in [0, 0.5)
        How much was replaced: the share of all rewards, or of the sources.
    sigma : float > 0 or "estimate", optional
        Sub-Gaussian scale of a clean reward. "estimate": from a quarter of the rewards, which are then not used for
        anything else, and for clean rewards of normal shape.
    bounds : (float, float), optional
        Lowest and highest possible reward, in place of sigma: better where they exist.
    contamination : str, optional
        What epsilon is a share of: "share-of-all" by default, "sources" if a column of them is given; or
        "share-of-arm"; or the chance of each reward: "prescient", "malicious".
    good_enough : float > 0, optional
        Name an arm that is proved to be at most this much worse than the best.
    paired : bool
        Sources within bounds only: compare two arms by the difference of what a source says of them. No order matters
        then, but the arms that a source is asked about must have been fixed before its first reward.
    seed : int, optional
        sigma="estimate" only: picks the rewards that sigma is estimated from. By default it follows from the rewards
        of the log, whatever their order; it is among the options of the result.
    sequential : bool
        Replay the log in its order instead, by `Identifier`, and stop as soon as it is decided.
    replay : mapping, optional
        For that: the method, and options of it, such as {"method": "se-cbai"}.
    time, wide, counted, missing, on_bad_row, progress
        How to read the log, as in `bestarm.log.reading.read_log`.

    Examples
    --------
    >>> import pandas as pd
    >>> votes = pd.DataFrame({"caption": ["A"] * 200 + ["B"] * 200, "stars": [2, 1] * 100 + [5, 4] * 100})
    >>> result = identify_log(votes, arm="caption", reward="stars", epsilon=0.02, bounds=(1, 5))
    >>> result.best, result.replaced, result.overturn > 8
    ('B', 8, True)
    """
    if sigma is None and bounds is None:
        _check_there(data)
    question = LogQuestion(epsilon, delta, sigma, bounds, contamination, good_enough, paired, seed)
    if source is None and contamination is not None and resolve(contamination).by_source:
        source = None if isinstance(data, Rewards) else True
    spec = LogSpec(arm, reward, source, time, wide, counted, missing, on_bad_row, bounds)
    if sequential:
        from bestarm.log.replay import replay_log

        return replay_log(data, spec, question, progress=progress, **(replay or {}))
    if replay:
        rule = Phrase("come with {}", Setting("sequential", True))
        raise InputError("replay", rule, replay, "all rows are weighed at once without it")
    rewards = _rewards(data, spec, progress)
    model = question.model(rewards)
    check_log(rewards, model, bounds, paired)
    if isinstance(sigma, str):
        from bestarm.log.spread import with_estimated_sigma

        return with_estimated_sigma(rewards, model, question)
    problem = pose(rewards.labels, delta=delta, epsilon=epsilon, sigma=sigma, bounds=bounds)
    return judge_rewards(rewards, problem, model, question.good_enough, paired=paired)


def judge_rewards(
    rewards: Rewards,
    problem: Problem,
    model: Contamination,
    good_enough: float | None,
    aside: NDArray[np.int64] | None = None,
    paired: bool = False,
) -> LogResult:
    """Return the verdict on the rewards of a log; `aside`: rewards of each arm that were used for something else."""
    for values in rewards.values:
        for value in values[[0, -1]] if values.size else ():
            checked_reward(problem, float(value))
    others = np.zeros(problem.size, np.int64) if aside is None else aside
    check_missing(rewards, problem, model, others)
    return _Verdict(rewards, problem, model, good_enough, others, paired).result()


class _Verdict:
    """The verdict on a log, and everything that is reported with it."""

    def __init__(
        self,
        rewards: Rewards,
        problem: Problem,
        model: Contamination,
        good_enough: float | None,
        aside: NDArray[np.int64],
        paired: bool,
    ) -> None:
        self._paired, self._aside = paired, aside
        self._rewards, self._problem, self._model, self._good_enough = rewards, problem, model, good_enough
        self._evidence: LogEvidence
        if model.by_source:
            assert rewards.sources is not None
            kind_of_pair = PairedEvidence if paired else SourceEvidence
            self._evidence = kind_of_pair(problem, rewards.sources, rewards.missing, model)
        else:
            missing = rewards.missing if model.counted else np.zeros(problem.size, np.int64)
            counts: Sequence[Any] = rewards.counts or [None] * problem.size
            each = zip(rewards.values, counts, missing, aside, strict=True)
            piles = [to_pile(problem, values, count, int(lost), int(other)) for values, count, lost, other in each]
            self._evidence = LogEvidence(problem, model, piles)
        self._own = self._evidence.at_epsilon(problem.epsilon)
        self._leader = int(self._evidence.order[0])

    def result(self) -> LogResult:
        """Return the verdict with everything that is reported."""
        problem, evidence = self._problem, self._evidence
        labels = problem.labels
        status, best, left, limit = self._decide(self._own)
        worse = np.ones(problem.size, bool)
        worse[left] = False
        alarms = self._alarms(self._own, problem.epsilon)
        standing = None if alarms else self._standing(worse)
        leader = labels[self._leader]
        used = sum(pile.number - pile.missing for pile in evidence.piles)
        aside = sum(pile.aside for pile in evidence.piles)
        rows = self._rewards.total + aside + (0 if self._model.by_source else int(self._rewards.missing.sum()))
        arms = tuple(self._row(index, not worse[index]) for index in range(problem.size))
        overturn = None if alarms else self._overturn()
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
            options={"contamination": checked(self._model), "good_enough": self._good_enough, "paired": self._paired},
            arms=arms,
            promise=promise(self._rewards, self._model, self._paired),
            leader=leader,
            limit=limit,
            leads=standing.leads if standing else {},
            p_value=standing.p_value if standing else None,
            tolerance=None if alarms else self._tolerance(best is not None and len(left) == 1, overturn),
            overturn=overturn,
            alarms=alarms,
            rows=rows,
            replaced=self._replaced(),
            sources=self._rewards.sources.number if self._model.by_source and self._rewards.sources else None,
            ignored=rows - used - evidence.missing,
            sensitivity=self._sensitivity(),
            more=self._more(left) if best is None and limit == "budget" else {},
            hint=self._hint(left) if best is None else "",
            means=dict(zip(labels, means, strict=True)),
            discounted={row.label: self._discounted(i, row, means[i]) for i, row in enumerate(arms)},
            health=self._rewards.health,
        )

    # ------------------------------------------------------------------------------------------------------- decisions

    def _decide(self, allowance: Allowance) -> tuple[Status, int | None, list[int], Limit | None]:
        """Return status, winner, the arms not ruled out in order of index, and the limit."""
        worse = self._evidence.worse(allowance)
        left = [int(index) for index in np.flatnonzero(~worse)]
        if len(left) == 1:
            return "identified", left[0], left, None
        ranked = [int(index) for index in self._evidence.order if not worse[index]]
        near = self._good_enough
        if near is not None and all(self._evidence.is_proved(ranked[0], a, allowance, -near) for a in ranked[1:]):
            return "identified", ranked[0], left, None
        if allowance.is_something and self._evidence.is_hidden(ranked[0], ranked[1], allowance):
            return "indistinguishable", None, left, "contamination"
        return "undecided", None, left, "budget"

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
            found = min((overturn + self._evidence.missing) / self._evidence.base, _LARGEST_SHARE)
        else:
            at = self._evidence.at_epsilon
            found = _of_three_digits(largest_count(_DIGITS, lambda step: self._singles_out(at(_of_three_digits(step)))))
        return max(found or 0.0, self._problem.epsilon) if named else found

    def _overturn(self) -> int | None:
        """Return the largest number of replaced rewards (dishonest sources) with which the leader is singled out."""
        most = self._evidence.total if not self._model.by_source else int(self._evidence.allowed(1.0))

        def holds(count: int) -> bool:
            return self._singles_out(self._evidence.at_count(count))

        return largest_count(most, holds) if holds(0) else None

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
        said += [
            too_many_lost(epsilon, lost, problem.labels[index])
            for index, lost in lost_beyond(self._rewards, self._model, epsilon, problem.delta, self._aside)
        ]
        return tuple(said)

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


def _rewards(data: Any, spec: LogSpec, progress: Any) -> Rewards:
    if not isinstance(data, Rewards):
        from bestarm.log.reading import read

        return read(data, spec, progress)
    for field in fields(spec):
        value = getattr(spec, field.name)
        if value != field.default and field.name != "bounds":
            raise InputError(field.name, "be left out for rewards that were read", value, "give the log itself")
    return data


def _check_there(data: Any) -> None:
    from bestarm.log.reading import check_there

    check_there(data)
