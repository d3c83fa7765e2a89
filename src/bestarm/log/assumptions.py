"""What a verdict on a log assumes, in plain words, and what the log itself says against it.

Section 13 of docs/explanation/certified.md has the same in symbols, and the proof.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bestarm.contamination import resolve, whole_share
from bestarm.errors import InputError
from bestarm.log.rewards import Rewards
from bestarm.methods.bets import COUNTED
from bestarm.phrases import Phrase, Setting
from bestarm.problem import Problem

Counts = NDArray[np.int64]


def promise(rewards: Rewards, kind: str, paired: bool = False) -> str:
    """Return what the error probability rests on, in plain words."""
    said = resolve(kind).log_promise(paired)
    health, lost = rewards.health, int(rewards.missing.sum())
    which = "missing" if not health.outside else "missing or out-of-bounds" if health.missing else "out-of-bounds"
    if lost and kind == "sources":
        said += f"; every source whose rewards are {which.replace('-', ' ')} ({lost:,}) is among the dishonest"
    elif lost:
        said += f"; the {f'{lost:,} {which} rewards are' if lost > 1 else f'{which} reward is'} among the replaced"
    if health.layout == "wide" and kind != "sources":
        said += "; the cells of one row are independent of each other"
    out = health.bad_rows - health.outside + (health.missing if health.missing_as == "drop" else 0)
    if out:
        rows, theirs = ("rows were", "their rewards") if out > 1 else ("row was", "its reward")
        said += f"; that {out:,} {rows} left out has nothing to do with {theirs}"
    return said


def check_log(rewards: Rewards, kind: str, bounds: object, paired: bool) -> None:
    """Refuse a log with a single arm, without the sources that it is asked about, or pairs of what has no bounds."""
    if len(rewards.labels) < 2:
        raise InputError("log", "have at least two arms", rewards.labels, "which column is the arm?")
    if kind == "sources" and rewards.sources is None:
        raise no_sources()
    if paired and (kind != "sources" or bounds is None):
        raise InputError("paired", "come with sources and bounds", paired, "a difference needs both, and both rewards")


def no_sources() -> InputError:
    """Return the error for a log without a column of sources, where epsilon is a share of them."""
    rule = Phrase("be a column of the log for {}", Setting("contamination", "sources"))
    return InputError("source", rule, None, "say which one it is")


def check_missing(rewards: Rewards, problem: Problem, kind: str, aside: Counts) -> None:
    """Refuse a log of which more is missing or out of bounds, and counts as replaced, than epsilon allows for."""
    missing, numbers = rewards.missing, rewards.numbers + rewards.missing + aside
    fix: str = Phrase(
        "give a larger epsilon, or {} if being missing has nothing to do with what they would have been",
        Setting("missing", "drop"),
    )
    if rewards.health.outside:
        fix = "give a larger epsilon: a reward out of bounds that is skipped was certainly not a clean one"
    rule = "allow for what is missing, or out of bounds, and so counts as replaced"
    if kind == "share-of-arm":
        for label, lost, number in zip(rewards.labels, missing, numbers, strict=True):
            if lost > whole_share(problem.epsilon, int(number)):
                raise InputError("epsilon", f"{rule} ({lost:,} of {number:,} of {label!r})", problem.epsilon, fix)
        return
    total = rewards.sources.number if kind == "sources" and rewards.sources else int(numbers.sum())
    if kind in COUNTED and missing.sum() > whole_share(problem.epsilon, total):
        raise InputError("epsilon", f"{rule} ({missing.sum():,}, of {total:,})", problem.epsilon, fix)


def lost_beyond(rewards: Rewards, kind: str, epsilon: float, delta: float, aside: Counts) -> list[tuple[int, int]]:
    """Return the arms, and how many rewards, where more are missing than counts or coins allow, a false alarm aside."""
    missing, numbers = rewards.missing, rewards.numbers + rewards.missing + aside
    if not missing.any():
        return []
    slack = np.sqrt(0.5 * numbers * math.log(len(missing) / delta)) if kind not in COUNTED else 0.0
    if kind in ("share-of-all", "sources"):
        total = rewards.sources.number if kind == "sources" and rewards.sources else int(numbers.sum())
        beyond = np.full(missing.size, missing.sum() > whole_share(epsilon, total)) & (missing > 0)
    else:
        beyond = missing > epsilon * numbers + slack + 1e-9
    return [(int(index), int(missing[index])) for index in np.flatnonzero(beyond)]
