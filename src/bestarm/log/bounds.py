"""What a log needs and does not say: the possible values of its rewards, and whether lower is better.

Only rewards of 0 and 1 have obvious bounds. All else is asked, with calls to paste.
"""

from __future__ import annotations

import math

import numpy as np

from bestarm.errors import UnclearError
from bestarm.log.rewards import Rewards
from bestarm.phrases import Call, Setting, first_argument

FEW = 20  # different values up to which rewards are ratings rather than measurements
_SAME = 0.1  # share of the rewards that may have one value if they are spread like a bell curve
_SCALES = ((0.0, 1.0), (1.0, 3.0), (1.0, 5.0), (0.0, 5.0), (1.0, 7.0), (1.0, 10.0), (0.0, 10.0), (0.0, 100.0))
_ROUND = (1.0, 2.0, 5.0, 10.0)


def is_binary(rewards: Rewards) -> bool:
    """Tell whether every reward is 0 or 1.

    >>> is_binary(Rewards(("A", "B"), (np.array([0.0, 1.0]), np.array([1.0])), None))
    True
    """
    return all(bool(np.isin(values, (0.0, 1.0)).all()) for values in rewards.values)


def bounds_of(rewards: Rewards) -> tuple[float, float] | None:
    """Return (0, 1) if every reward is 0 or 1, else None: other bounds are for the user to say."""
    return (0.0, 1.0) if is_binary(rewards) else None


def natural_bounds(lowest: float, highest: float) -> tuple[float, float]:
    """Return the narrowest usual scale that holds some values, or round numbers around them.

    >>> natural_bounds(2, 5), natural_bounds(0.2, 0.97), natural_bounds(0, 483.2), natural_bounds(-3, 12)
    ((1.0, 5.0), (0.0, 1.0), (0.0, 500.0), (-5.0, 20.0))
    """
    return possible_bounds(lowest, highest)[0]


def possible_bounds(lowest: float, highest: float) -> list[tuple[float, float]]:
    """Return the narrowest usual scale that holds some values; if its lowest is unseen, those that begin lower too.

    >>> possible_bounds(2, 10), possible_bounds(1, 10), possible_bounds(0, 483.2)
    ([(1.0, 10.0), (0.0, 10.0)], [(1.0, 10.0)], [(0.0, 500.0)])
    """
    holding = [scale for scale in _SCALES if scale[0] <= lowest and highest <= scale[1]]
    if not holding:
        return [(0.0 - _rounded_up(-lowest), _rounded_up(highest))]
    low, high = min(holding, key=lambda scale: scale[1] - scale[0])
    return [scale for scale in holding if scale[1] == high] if low < lowest else [(low, high)]


def round_cap(size: float) -> float:
    """Return the next round number of one digit, or of 1.5 or 2.5.

    >>> round_cap(183.0), round_cap(37), round_cap(0.7), round_cap(1040)
    (200.0, 40.0, 0.7, 1500.0)
    """
    unit = 10.0 ** math.floor(math.log10(size))
    steps = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
    return next(float(f"{step * unit:.12g}") for step in steps if size <= step * unit * (1.0 + 1e-12))


def as_typed(number: float) -> float:
    """Return a number as people type it: 200 for 200.0."""
    return int(number) if number == int(number) else number


def _rounded_up(size: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, 50, ...; 0 for what is not positive."""
    if size <= 0.0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(size))
    return next(step * unit for step in _ROUND if size <= step * unit * (1.0 + 1e-12))


def ask_for_bounds(rewards: Rewards, epsilon: float | None) -> UnclearError:
    """Return the question which rewards are possible, with a call for each answer."""
    choices = [
        (_if_bounded(low, high), _call(rewards, Setting("bounds", (low, high))))
        for low, high in possible_bounds(rewards.lowest, rewards.highest)
    ]
    cap = natural_cap(rewards)
    if cap is not None:
        choices.append((_if_capped(cap), _call(rewards, Setting("cap", as_typed(cap)))))
    if _may_be_bell_shaped(rewards):
        more = (Setting("epsilon", 0.01),) if epsilon is None else ()
        when = "if there are no such limits, and honest values are spread like a bell curve"
        when += "; with at most 1 % fakes" if epsilon is None else ""
        choices.append((when, _call(rewards, Setting("sigma", "estimate"), *more)))
    question = (
        f"{_name(rewards)} goes from {rewards.lowest:.6g} to {rewards.highest:.6g} in this log, which does not say "
        "what the lowest and the highest possible value are."
    )
    return UnclearError("bounds", question, choices)


def natural_cap(rewards: Rewards) -> float | None:
    """Return a round number above 99 of 100 rewards if they are amounts or times, of which a few are far higher.

    Rewards that have the highest value together, such as a time-out, are not looked at.

    >>> natural_cap(Rewards(("A",), (np.append(np.arange(1.0, 1000.0) / 10.0, 5000.0),), None))
    100.0
    """
    values = np.concatenate(rewards.values)
    if rewards.lowest < 0.0 or np.unique(values).size <= FEW:
        return None
    counts = np.ones(values.size) if rewards.counts is None else np.concatenate(rewards.counts)
    counts = np.where((values == rewards.highest) & (counts[values == rewards.highest].sum() > 1), 0, counts)
    order = np.argsort(values, kind="stable")
    below = np.cumsum(counts[order])
    high = float(values[order][np.searchsorted(below, 0.99 * below[-1])])
    if high <= 0.0 or not below[-1]:
        return None
    cap = round_cap(high)
    return cap if 1.5 * cap <= rewards.highest else None


def _if_capped(cap: float) -> str:
    return f"if values above {cap:g} may count as {cap:g}, which few are"


def _may_be_bell_shaped(rewards: Rewards) -> bool:
    """Tell whether rewards are measurements, and not many of them the same: most visits bring no revenue."""
    values, places = np.unique(np.concatenate(rewards.values), return_inverse=True)
    often = np.bincount(places, weights=None if rewards.counts is None else np.concatenate(rewards.counts))
    return values.size > FEW and bool(often.max() <= _SAME * often.sum())


def ask_for_direction(rewards: Rewards, needs_bounds: bool) -> UnclearError:
    """Return the question whether a low reward is a good one, with a call for each answer."""
    choices = []
    low, high = natural_bounds(rewards.lowest, rewards.highest)
    for is_lower in (True, False):
        when = f"if {'lower' if is_lower else 'higher'} is better"
        more: tuple[Setting, ...] = ()
        if needs_bounds:
            when += f", and {_if_bounded(low, high).removeprefix('if ')}"
            more = (Setting("bounds", (low, high)),)
        choices.append((when, _call(rewards, *more, Setting("lower_is_better", is_lower))))
        cap = natural_cap(rewards) if needs_bounds else None
        if cap is not None:
            when = f"if {'lower' if is_lower else 'higher'} is better, and {_if_capped(cap).removeprefix('if ')}"
            choices.append((when, _call(rewards, Setting("cap", as_typed(cap)), Setting("lower_is_better", is_lower))))
    question = f"By its name, {_name(rewards)} may be better when it is lower."
    return UnclearError("lower_is_better", question, choices)


def _name(rewards: Rewards) -> str:
    return repr(rewards.health.reward) if rewards.health.reward else "the reward"


def _if_bounded(low: float, high: float) -> str:
    return f"if no value below {low:g} or above {high:g} is possible"


def call_again(rewards: Rewards, *settings: Setting) -> Call:
    """Return the call that names the columns of the log, its sources too, and more settings."""
    source = None if rewards.columns is None else rewards.columns.source
    return _call(rewards, *(() if source is None else (Setting("source", source),)), *settings)


def _call(rewards: Rewards, *settings: Setting) -> Call:
    """Return the call that names the columns of the log, and more settings."""
    health = rewards.health
    columns = {"arm": health.arm, "reward": health.reward} if health.layout == "long" else {}
    named = tuple(Setting(name, value) for name, value in columns.items() if value)
    return Call((*named, *settings), first_argument(health.files))
