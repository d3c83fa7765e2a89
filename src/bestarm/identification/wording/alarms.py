"""Alarms: how the data contradict the assumptions. Each is a sentence without its full stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestarm.contamination import Contamination
from bestarm.problem import Label, Problem

if TYPE_CHECKING:
    from bestarm.identification.tail_alarm import FarRewards

_TOO_SMALL = "one of the two is too small"


def _given(problem: Problem) -> str:
    return f"with sigma = {problem.sigma:g} and epsilon = {problem.epsilon:g}"


def no_mean_fits(problem: Problem, label: Label, rewards: int) -> str:
    """Return that no mean fits the rewards of an arm."""
    return f"no mean fits the {rewards:,} rewards of {label!r} {_given(problem)}; {_TOO_SMALL}"


def far_rewards(problem: Problem, label: Label, far: FarRewards) -> str:
    """Return that rewards of an arm lie too far from the rest; a single one is named, as it can be looked up."""
    value = f"{far.farthest * problem.sigma:,.6g}"
    if far.number == 1:
        distance = f"{far.distance:,.0f}" if far.distance < 1e6 else f"{far.distance:.2g}"
        where = f"one reward of {label!r}, {value}, lies {distance} sigma from the rest"
        return f"{where}; {_given(problem)} that does not happen: {_TOO_SMALL}"
    where = f"{far.number:,} of the {far.of:,} rewards of {label!r} lie more than {far.beyond:g} sigma from the rest"
    return f"{where}, such as {value}; {_given(problem)} so many do not: {_TOO_SMALL}"


def far_rewards_of_all(problem: Problem, number: int, of: int, beyond: float) -> str:
    """Return that too many rewards of all arms together lie too far from the rest of their arm."""
    where = f"{number:,} of the {of:,} rewards lie more than {beyond:g} sigma from the rest of their arms"
    return f"{where}; {_given(problem)} so many do not: {_TOO_SMALL}"


def too_many_cancelled(model: Contamination, epsilon: float, cancelled: int, of: int, label: Label | None) -> str:
    """Return that more pulls were cancelled than epsilon allows for, of an arm or of all."""
    return f"{model.too_many_cancelled(cancelled, of, label)}, more than epsilon = {epsilon:g} allows for"


def too_many_lost(epsilon: float, lost: int, label: Label) -> str:
    """Return that more rewards of an arm are missing or out of bounds than epsilon allows for."""
    return f"{lost:,} rewards of {label!r} are missing or out of bounds, more than epsilon = {epsilon:g} allows"


def after_the_decision(alarm: str) -> str:
    """Return an alarm that rings only with the rewards after the decision."""
    return f"{alarm} (with the rewards after the decision)"
