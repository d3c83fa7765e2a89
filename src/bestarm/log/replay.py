"""Replay a log in its order by a sequential method, which stops once it has decided and ignores the rest."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np

from bestarm.contamination import Contamination
from bestarm.errors import InputError
from bestarm.identification.identifier import Identifier
from bestarm.identification.result import Result
from bestarm.identification.robustness import Sensitivity
from bestarm.identification.wording.alarms import after_the_decision
from bestarm.identification.wording.metric import Metric
from bestarm.log.bounds import is_binary
from bestarm.log.inspection import Inspected, find_left_out, inspect_open
from bestarm.log.pricing import count_discounted
from bestarm.log.question import LogQuestion
from bestarm.log.reading import DATES, Progress, count_rewards, open_log
from bestarm.log.result import LogResult
from bestarm.log.rewards import Rewards
from bestarm.log.spec import LogSpec
from bestarm.log.trust import with_findings
from bestarm.methods import get_method
from bestarm.methods.bets import farthest_clip
from bestarm.phrases import Phrase, Setting
from bestarm.policies.policy import Factory

_CHUNK = 1 << 14  # rewards told at a time


def replay_log(
    data: Any,
    spec: LogSpec,
    question: LogQuestion,
    *,
    progress: Progress | None = None,
    method: str | Factory = "certified",
    **options: Any,
) -> LogResult:
    """Return the verdict of `Identifier` on the rows of a log, in the order of time, or of the file without a time.

    Rewards after the decision are ignored, except for what they say against the assumptions.
    Options are those of the method; one that is None or False was not given.
    """
    without = Phrase("leave out {}", Setting("sequential", True))
    if question.epsilon is None:
        raise InputError("epsilon", "be given for a replay", None, without)
    epsilon, sigma = question.epsilon, question.sigma
    if question.lower_is_better:
        raise InputError("lower_is_better", "be left out for a replay", True, without)
    if isinstance(sigma, str):
        fix = Phrase("estimate it without {} first", Setting("sequential", True))
        raise InputError("sigma", "be a number for a replay", sigma, fix)
    if isinstance(data, Rewards):
        raise InputError("data", "be the log itself for a replay", "Rewards", "rewards that were read have no order")
    if spec.missing == "replaced":
        raise InputError("missing", "be drop or refuse for a replay", "replaced", without)
    get_method(method)  # reject a bad method before reading the log
    rewards, rows, inspected = _rows(data, replace(spec, needs_time=True), progress)
    model = question.model(rewards)
    question = question.scaled(rewards)
    options |= {"good_enough": question.good_enough, "paired": question.paired}
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    if question.contamination is not None or method == "certified":
        given["contamination"] = question.contamination or model.name
    new = partial(
        Identifier,
        rewards.labels,
        delta=question.delta,
        epsilon=epsilon,
        sigma=sigma,
        bounds=question.bounds,
        method=method,
        **given,
    )
    finder = new()
    labels = np.array(rewards.labels, dtype=object)
    for first in range(0, rows["arm"].size, _CHUNK):
        part = slice(first, first + _CHUNK)
        who = list(rows["who"][part]) if model.by_source else None
        finder.tell_many(list(labels[rows["arm"][part]]), rows["value"][part], who)
    result = finder.result
    told = {field.name: getattr(result, field.name) for field in fields(Result)}
    if not finder.done:
        told["limit"] = "budget"
    weighed: tuple[Sensitivity, ...] = ()
    if result.p_value is not None and not model.by_source:
        if not result.alarms:  # later rewards may contradict the assumptions too
            (later,) = (row.alarms for row in finder.sensitivity([epsilon]))
            told["alarms"] = tuple(map(after_the_decision, later))
        used = new()
        used.tell_many(list(labels[rows["arm"][: result.pulls]]), rows["value"][: result.pulls])
        named = Sensitivity(epsilon, result.status, result.best, result.candidates, told["limit"], result.alarms)
        weighed = tuple(named if row.epsilon == epsilon else row for row in used.sensitivity())
    if told["alarms"]:
        told |= {"p_value": None, "tolerance": None, "overturn": None, "leads": {}}
    found = LogResult(
        **told,
        rows=rewards.total,
        ignored=rewards.total - result.pulls,
        sources=rewards.sources.number if model.by_source and rewards.sources else None,
        sensitivity=weighed,
        sequential=True,
        means=(means := _means(rewards, rows, result, model)),
        discounted=_discounted(rewards, rows, result, means),
        health=rewards.health,
        metric=_metric(rewards),
    )
    if spec.without is not None:
        found = replace(found, left_out=rewards.health.left_out, left_out_how=rewards.health.left_out_how)
    return found if inspected is None else with_findings(found, inspected.findings, inspected.falls)


def _metric(rewards: Rewards) -> Metric:
    """Return what the rewards are, for sentences."""
    source = "" if rewards.columns is None else rewards.columns.source or ""
    return Metric(rewards.health.arm, rewards.health.reward, source, is_binary(rewards))


def _means(rewards: Rewards, rows: dict[str, Any], result: Result, model: Contamination) -> dict[Any, float]:
    """Return the mean of the used rewards of each arm; with sources it is not known which were used."""
    if model.by_source:
        return {}
    if result.method == "certified" and (result.bounds is not None or result.epsilon == 0.0):
        return {row.label: row.estimate for row in result.arms}  # without the rewards of an incomplete round
    index, value = rows["arm"][: result.pulls], rows["value"][: result.pulls]
    number = np.bincount(index, minlength=len(rewards.labels))
    total = np.bincount(index, weights=value, minlength=len(rewards.labels))
    with np.errstate(invalid="ignore"):
        return dict(zip(rewards.labels, (total / number).tolist(), strict=True))


def _discounted(rewards: Rewards, rows: dict[str, Any], result: Result, means: dict[Any, float]) -> dict[Any, int]:
    """Return how many rewards of each arm the evidence discounts (certified method)."""
    if result.method != "certified" or result.bounds is not None or result.epsilon == 0.0 or not means:
        return {}
    slot, value = rows["arm"][: result.pulls], rows["value"][: result.pulls]
    reach, found = result.sigma * farthest_clip(result.epsilon), {}
    for index, row in enumerate(result.arms):
        own = value[slot == index]
        found[row.label] = count_discounted(own, np.ones(own.size), row.estimate, means[row.label], reach)
    return found


def _rows(data: Any, spec: LogSpec, progress: Progress | None) -> tuple[Rewards, dict[str, Any], Inspected | None]:
    """Return the rewards, the rows in order (index of the arm, value and source), and what inspection found."""
    with open_log(data, spec, progress, find_left_out(data, spec, progress)) as log:
        rewards = count_rewards(log)
        if rewards.health.layout == "counted":
            raise InputError("sequential", "be False for a counted log", True, "counts have no order")
        if log.lost_time is not None:
            rule = f"be numbers or dates {DATES} for a replay in its order"
            fix = Phrase("correct it, or say {} for the order of the file", Setting("time", False))
            raise InputError("time", rule, log.lost_time, fix)
        return rewards, log.in_order(), inspect_open(log, rewards) if spec.inspect else None
