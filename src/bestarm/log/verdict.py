"""`identify_log`: the verdict on all rows of a log, in any order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, cast

from bestarm.contamination import Contamination, resolve
from bestarm.errors import InputError
from bestarm.identification.wording.measure import assumed
from bestarm.identification.wording.metric import Metric
from bestarm.log.assigned import check_measure, check_replay, of_units
from bestarm.log.assumptions import check_log
from bestarm.log.bands import with_series
from bestarm.log.blocks import check_block, may_block
from bestarm.log.certificate import basis_of
from bestarm.log.direction import flipped, unflipped
from bestarm.log.inspection import Inspected, find_left_out, inspect_open
from bestarm.log.inspection.watch import LARGEST_TABLE
from bestarm.log.judgement import judge_rewards
from bestarm.log.measure import measured
from bestarm.log.question import LogQuestion
from bestarm.log.result import LogResult
from bestarm.log.rewards import Rewards
from bestarm.log.spec import LogSpec
from bestarm.log.trust import with_findings
from bestarm.log.units import count_as_units, units
from bestarm.phrases import Phrase, Setting
from bestarm.problem import pose


def identify_log(
    data: Any,
    *,
    arm: str | None = None,
    reward: str | None = None,
    source: str | bool | None = None,
    delta: float = 0.05,
    epsilon: float | None = None,
    sigma: float | str | None = None,
    bounds: tuple[float, float] | None = None,
    contamination: str | None = None,
    good_enough: float | None = None,
    paired: bool = False,
    seed: int | None = None,
    stopping: str = "fixed",
    lower_is_better: bool | None = None,
    sequential: bool = False,
    replay: Mapping[str, Any] | None = None,
    time: str | bool | None = None,
    wide: bool | Sequence[str] = False,
    counted: bool | str | Mapping[str, float] | None = None,
    successes: str | None = None,
    visits: str | None = None,
    missing: str = "refuse",
    on_bad_row: str = "refuse",
    inspect: bool = True,
    without: str | Sequence[str] | None = None,
    where: str | None = None,
    block: str | None = None,
    cap: float | None = None,
    per: str | None = None,
    per_source: str | None = None,
    control: str | None = None,
    assigned: bool = False,
    by: str | None = None,
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
        Names of its columns, guessed by name and content where that is clear; the guess is reported.
    source : str, optional
        Column that says who gave a reward. It is used if given, or guessed if contamination="sources" is.
    delta : float in (0, 1)
        Accepted probability of a wrong answer.
    epsilon : float in [0, 0.5), optional
        How much was replaced: the share of all rewards, or of the sources. Without it, the answer comes with the
        number of fakes that it survives, `overturn`: that arm is the best, or more than so many are fake.
    sigma : float > 0 or "estimate", optional
        Sub-Gaussian scale of a clean reward. "estimate": from a quarter of the rewards, which are then not used for
        anything else, and for clean rewards of normal shape.
    bounds : (float, float), optional
        Lowest and highest possible reward, in place of sigma: better where they exist.
    contamination : str, optional
        What epsilon is a share of: "share-of-all" by default, "sources" if a column of them is given; or
        "share-of-arm"; or the chance of each reward: "causal", "prescient", "malicious".
    good_enough : float > 0, optional
        Name an arm that is proved to be at most this much worse than the best.
    paired : bool
        Sources within bounds only: compare two arms by the difference of what a source says of them. No order matters
        then, but the arms that a source is asked about must have been fixed before its first reward.
    seed : int, optional
        sigma="estimate" only: picks the rewards that sigma is estimated from. By default it follows from the rewards
        of the log, whatever their order; it is among the options of the result.
    stopping : {"fixed", "any"}
        Whether the number of rewards of each arm did not depend on the rewards (an exact test of 0/1 rewards, which
        needs half the data), or somebody may have stopped when it looked good (bets, as for all other rewards).
    lower_is_better : bool, optional
        Whether to name the arm with the lowest mean. It must be said if the name of the column may mean it, such as
        latency; otherwise the highest mean is the best.
    sequential : bool
        Replay the log in its order instead, by `Identifier`, and stop as soon as it is decided.
    replay : mapping, optional
        For that: the method, and options of it, such as {"method": "se-cbai"}.
    successes, visits : str, optional
        For a table with a row per arm, or several: the columns that count its successes, and its visits with or without
        success. They become rewards of 1 and 0.
    inspect : bool
        Whether to look for what seems made up, as `inspect_log` does, and to compare it with what the answer survives:
        `findings` and `trusted` of the result. It never changes the evidence. A column of users or times is guessed
        for that alone.
    without : str or list of str, optional
        What to leave out: "suspicious", the sources, user agents and copies of rows that inspection points at; a file
        or list of names of sources; or a condition on the columns of the file, in SQL, such as "country = 'XX'". It
        must not look at rewards.
    where : str, optional
        A condition on the columns, in SQL: only rows for which it is true are looked at. It must not look at rewards.
    block : {"day", "hour", "none"} or str, optional
        Compare rewards only with those of the same day, hour, or value of a column. By default days are compared if
        the shares of the arms change over time, which is told by arms and times alone; "none" compares all rows.
    cap : float, optional
        Rewards above it count as the cap; without bounds, and if no reward is below 0, bounds are then (0, cap). With
        `per`: each source counts with at most so much of it.
    per : str, optional
        Column of what a reward is a share of, such as impressions: the ratio of the sums is compared, sources are
        counted, and `cap` is needed.
    per_source : {"first", "last", "mean", "sum", "any"}, optional
        What the rewards of a source on an arm become: one reward. The first is taken by default if sources count.
    control : str, optional
        An arm that all others are compared with: which of them are better, each with its uplift and what it survives.
    assigned : bool
        Whether the arm of each row was drawn at random, so that whoever fakes rewards could not choose it.
    by : str, optional
        A column of segments: each has a verdict of its own, and they share delta.
    time, wide, counted, missing, on_bad_row, progress
        How to read the log, as in `bestarm.log.reading.read_log`.

    Examples
    --------
    >>> import pandas as pd
    >>> votes = pd.DataFrame({"caption": ["A"] * 200 + ["B"] * 200, "stars": [2, 1] * 100 + [5, 4] * 100})
    >>> result = identify_log(votes, arm="caption", reward="stars", bounds=(1, 5))
    >>> result.best, result.overturn
    ('B', 125)
    """
    question = LogQuestion(
        epsilon,
        delta,
        sigma,
        bounds,
        contamination,
        good_enough,
        paired,
        seed,
        stopping,
        lower_is_better,
        cap=cap,
        control=control,
        assigned=assigned,
    )
    if source is None and contamination is not None and resolve(contamination).by_source:
        source = None if isinstance(data, Rewards) else True
    spec = LogSpec(
        arm,
        reward,
        source,
        time,
        wide,
        counted,
        missing,
        on_bad_row,
        None if per_source == "sum" else bounds,  # else they are those of the sums
        inspect=inspect,
        without=_names(without),
        successes=successes,
        visits=visits,
        where=where,
        block=block,
        per=per,
        per_source=per_source,
        by=by,
    )
    if by is not None:
        _refuse_by(data, by)
        if block == by:
            raise InputError(
                "block", Phrase("differ from {}", Setting("by", by)), block, "a segment has one value of it"
            )
    check_block(spec, question, sequential)
    check_measure(question, spec)
    if by is not None:
        from bestarm.log.segments import identify_segments

        return cast(LogResult, identify_segments(data, spec, question, progress, sequential=sequential))
    if sequential:
        for name, value in (("cap", cap), ("per", per), ("per_source", per_source)):
            if value is not None:
                raise InputError(name, "be left out for a replay", value, "all rows are weighed at once without it")
        from bestarm.log.replay import replay_log

        check_replay(question, where)
        return replay_log(data, spec, question, progress=progress, **(replay or {}))
    if replay:
        rule = Phrase("come with {}", Setting("sequential", True))
        raise InputError("replay", rule, replay, "all rows are weighed at once without it")
    return read_and_answer(data, spec, question, progress)


def read_and_answer(data: Any, spec: LogSpec, question: LogQuestion, progress: Any = None) -> LogResult:
    """Return the verdict on a log, with what inspection found in it."""
    rewards, inspected = _read(data, spec, question, progress)
    result = replace(_answer(rewards, question), where=spec.where, segment=spec.segment)
    if spec.without is not None:
        result = replace(result, left_out=rewards.health.left_out, left_out_how=rewards.health.left_out_how)
    if inspected is not None:
        if result.within is not None:
            inspected = inspected.within_blocks([row.estimate for row in result.arms], result.within.is_time)
        falls = partial(inspected.falls, lower_is_better=result.lower_is_better, control=result.control)
        result = with_series(with_findings(result, inspected.findings, falls), inspected.table)
    return result._with_basis(basis_of(rewards, spec, question))


def _answer(rewards: Rewards, question: LogQuestion) -> LogResult:
    """Return the verdict on rewards that were read."""
    whole, rewards = rewards, units(rewards) if question.assigned else rewards
    model = question.model(rewards)
    measure = measured(rewards, question, model)
    rewards, question = measure.rewards, measure.question.scaled(measure.rewards)
    check_log(rewards, model, question.bounds, question.paired)
    health, columns = rewards.health, rewards.columns
    source, visits = ("", "") if columns is None else (columns.source or "", columns.visits or "")
    metric = Metric(health.arm, health.reward, source, measure.is_rate, visits, measure.per, measure.per_source)
    if question.lower_is_better:
        rewards = flipped(rewards, question.bounds)
    result = _judged(rewards, model, question)
    if question.lower_is_better:
        result = unflipped(result)
    result = replace(
        result,
        metric=metric,
        promise=assumed(result.promise, metric, measure.cap, single=measure.single),
        cap=measure.cap,
        capped=measure.capped,
        per=measure.per,
        per_source=measure.per_source,
    )
    return of_units(result, whole) if question.assigned else result


def _judged(rewards: Rewards, model: Contamination, question: LogQuestion) -> LogResult:
    if isinstance(question.sigma, str):
        from bestarm.log.spread import with_estimated_sigma

        return with_estimated_sigma(rewards, model, question)
    problem = pose(
        rewards.labels,
        delta=question.delta,
        epsilon=question.least_epsilon,
        sigma=question.sigma,
        bounds=question.bounds,
    )
    return judge_rewards(rewards, problem, model, question)


def _names(without: str | Sequence[str] | None) -> str | Sequence[str] | None:
    from bestarm.log.reading import names_in_file

    return names_in_file(without)


def _refuse_by(data: Any, by: str) -> None:
    from bestarm.log.reading import refuse_in_database

    refuse_in_database(data, "by", f"{by!r} would have to be counted with the rest", "ask about a filtered table each")


def _read(data: Any, spec: LogSpec, question: LogQuestion, progress: Any) -> tuple[Rewards, Inspected | None]:
    """Return the rewards of a log, and what inspection found; rewards that were read cannot be inspected."""
    if not isinstance(data, Rewards):
        from bestarm.log.reading import count_rewards, open_log, with_blocks

        with open_log(data, spec, progress, find_left_out(data, spec, progress)) as log:
            rewards = count_rewards(log)
            inspected = inspect_open(log, rewards) if spec.inspect and not log.is_counted else None
            if may_block(rewards, spec, question):
                rewards = with_blocks(log, rewards, LARGEST_TABLE, of_sources=count_as_units(rewards, question))
            return rewards, inspected
    for field in fields(spec):
        value = getattr(spec, field.name)
        if value != field.default and field.name not in ("bounds", "inspect"):
            raise InputError(field.name, "be left out for rewards that were read", value, "give the log itself")
    return data, None
