"""The assumptions of a verdict on a log, in plain words, and checks of the log against them.

Section 13 of docs/explanation/certified.md has the same in symbols, and the proof.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import Contamination
from bestarm.contamination.words import FIRST_ROW, FIXED, HOW_MANY, INDEPENDENT, ONE_ARM, ONE_MEAN, ROWS
from bestarm.errors import InputError
from bestarm.log.rewards import Rewards
from bestarm.phrases import Phrase, Setting, phrase
from bestarm.problem import Problem

Counts = NDArray[np.int64]


def promise(
    rewards: Rewards,
    model: Contamination,
    paired: bool = False,
    *,
    exact: bool = False,
    units: bool = False,
    allowed: str | None = None,
) -> str:
    """Return the assumptions behind the error probability, in plain words.

    `exact` is for a test of a fixed number of rewards; `units` says that what is compared is one reward per row or,
    where sources count, per source; `allowed`, without an epsilon, is what the answer survives.
    """
    said = model.log_promise(paired) if allowed is None else model.log_promise_for(allowed, paired)
    if units and model.by_source:
        said = said.replace(f"{INDEPENDENT}; {FIRST_ROW}; {ONE_MEAN}", f"{ONE_ARM}; {ROWS}")
    if exact:
        said = said.replace(HOW_MANY, FIXED)
    health, lost = rewards.health, int(rewards.missing.sum())
    which = "missing" if not health.outside else "missing or out-of-bounds" if health.missing else "out-of-bounds"
    if lost and model.by_source:
        said += f"; every source whose rewards are {which.replace('-', ' ')} ({lost:,}) is among the dishonest"
    elif lost:
        said += f"; the {f'{lost:,} {which} rewards are' if lost > 1 else f'{which} reward is'} among the replaced"
    if health.layout == "wide" and not model.by_source:
        said += "; the cells of one row are independent of each other"
    out = health.bad_rows - health.outside + (health.missing if health.missing_as == "drop" else 0)
    if out:
        rows, theirs = ("rows were", "their rewards") if out > 1 else ("row was", "its reward")
        said += f"; that {out:,} {rows} left out has nothing to do with {theirs}"
    if health.left_out and health.left_out_by_rewards:
        said += f"; honest rows among the {health.left_out:,} that were left out ({health.left_out_how}) count as fake"
    elif health.left_out:
        said += f"; the {health.left_out:,} rows left out ({health.left_out_how}) were not chosen by their rewards"
    return said


def check_log(rewards: Rewards, model: Contamination, bounds: object, paired: bool) -> None:
    """Reject a log with a single arm, or `paired` without sources or bounds."""
    if len(rewards.labels) < 2:
        raise InputError("log", "have at least two arms", rewards.labels, "which column is the arm?")
    if paired and (not model.by_source or bounds is None):
        raise InputError("paired", "come with sources and bounds", paired, "a difference needs both, and both rewards")


def check_missing(rewards: Rewards, problem: Problem, model: Contamination, aside: Counts) -> None:
    """Reject a log where more rewards are missing or out of bounds, and so count as replaced, than epsilon allows."""
    missing, numbers = rewards.missing, rewards.numbers + rewards.missing + aside
    fix = Phrase(
        "give a larger epsilon, or {} if being missing has nothing to do with what they would have been",
        Setting("missing", "drop"),
    )
    if rewards.health.outside:
        fix = phrase("give a larger epsilon: a reward out of bounds that is skipped was certainly not a clean one")
    rule = "allow for what is missing, or out of bounds, and so counts as replaced"
    if model.shared:
        total = _total(rewards, model, numbers)
        if missing.sum() > model.allowed(problem.epsilon, total):
            raise InputError("epsilon", f"{rule} ({missing.sum():,}, of {total:,})", problem.epsilon, fix)
    elif model.counted:
        for label, lost, number in zip(rewards.labels, missing, numbers, strict=True):
            if lost > model.allowed(problem.epsilon, int(number)):
                raise InputError("epsilon", f"{rule} ({lost:,} of {number:,} of {label!r})", problem.epsilon, fix)


def lost_beyond(
    rewards: Rewards, model: Contamination, epsilon: float, delta: float, aside: Counts
) -> list[tuple[int, int]]:
    """Return the arms with more missing rewards than epsilon allows, and how many; coins may be unlucky."""
    missing, numbers = rewards.missing, rewards.numbers + rewards.missing + aside
    if not missing.any():
        return []
    if model.shared:
        too_many = missing.sum() > model.allowed(epsilon, _total(rewards, model, numbers))
        beyond = np.full(missing.size, too_many) & (missing > 0)
    else:
        slack = 0.0 if model.counted else np.sqrt(0.5 * numbers * math.log(len(missing) / delta))
        beyond = missing > epsilon * numbers + slack + 1e-9
    return [(int(index), int(missing[index])) for index in np.flatnonzero(beyond)]


def _total(rewards: Rewards, model: Contamination, numbers: Counts) -> int:
    """Return the number that a shared epsilon is a share of: the sources, or all rewards."""
    return rewards.sources.number if model.by_source and rewards.sources else int(numbers.sum())
