"""The rules for numbers that users pass, each written once: the allowed range, and the fix for other values."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestarm.errors import InputError

HUGE = 1e300  # counts as infinite, so that sums and differences of smaller numbers are finite
WHOLE = ("arms", "trials", "max_pulls", "workers", "chunk", "seed")


class Range(NamedTuple):
    """The values that a parameter may have, and the words of the error for other values."""

    lowest: float
    closed: bool  # whether the lowest value itself is allowed
    too_high: float  # the first value that is too high
    rule: str
    fix: str

    def contains(self, value: float) -> bool:
        """Tell whether a value is allowed; nan is not."""
        return self.lowest <= value < self.too_high and (self.closed or value > self.lowest)


RANGES = {
    "alpha": Range(0.0, True, 0.5, "be in [0, 0.5)", "it is the fraction trimmed off each end, such as 0.05"),
    "arms": Range(2.0, True, HUGE, "be a whole number >= 2", "among fewer arms there is nothing to identify"),
    "bias": Range(0.0, True, HUGE, "be a finite number >= 0", "it is the half-width U by which a mean is uncertain"),
    "C1": Range(0.0, False, HUGE, "be a finite number > 0", "it is the factor of x"),
    "C2": Range(0.0, False, HUGE, "be a finite number > 0", "it is the factor of the power of x"),
    "cap": Range(-HUGE, False, HUGE, "be a finite number", "it is the reward above which all count the same"),
    "constant": Range(0.0, True, HUGE, "be a finite number >= 0", "it is what the paper's O() and Omega() leave open"),
    "delta": Range(0.0, False, 1.0, "be in (0, 1)", "it is the accepted probability of a wrong answer, such as 0.05"),
    "epsilon": Range(0.0, True, 0.5, "be in [0, 0.5)", "it is how much may be corrupted, such as 0.05; 0 is nothing"),
    "good_enough": Range(0.0, False, HUGE, "be a finite number > 0", "leave it out to have the best arm named"),
    "power": Range(1.0, False, HUGE, "be a finite number > 1", "the sum of t^-power has to converge; 2 is the default"),
    "pulls": Range(1.0, True, HUGE, "be a finite number >= 1", "an arm that was never pulled has no radius"),
    "radius_arms": Range(1.0, True, HUGE, "be a finite number >= 1", "leave it out for the number of arms"),
    "resolution": Range(0.0, False, HUGE, "be a finite number > 0", "it is the size of a lead that is worth finding"),
    "share_from": Range(1.0, True, HUGE, "be a finite number >= 1", "it counts rewards of each arm, such as 20"),
    "sigma": Range(0.0, False, HUGE, "be a finite number > 0", "it is the sub-Gaussian scale of one clean reward"),
    "t": Range(1.0, True, HUGE, "be a finite number >= 1", "time counts the pulls or rounds made, from 1"),
    "trials": Range(1.0, True, 2.0**53, "be a whole number >= 1", "each trial is one identification from start to end"),
    "max_pulls": Range(1.0, True, 2.0**62, "be a whole number >= 1", "leave it out for no cap"),
    "workers": Range(1.0, True, 10_001.0, "be a whole number >= 1", "1 runs in this thread alone"),
    "chunk": Range(1.0, True, 2.0**53, "be a whole number >= 1", "leave it out for chunks of about half a second"),
    "seed": Range(0.0, True, 2.0**64, "be a whole number in [0, 2^64)", "the same one repeats the run"),
}
# The rule and the fix for a number that is too high, where those above are about one that is too low.
TOO_HIGH: dict[str, tuple[str, str]] = {
    "alpha": ("be in [0, 0.5)", "trimming half of the rewards off each end leaves none to average"),
    "chunk": ("be below 2^53", "leave it out for chunks of about half a second"),
    "epsilon": ("be in [0, 0.5)", "half of the rewards corrupted leaves no mean to identify"),
    "max_pulls": ("be below 2^62", "leave it out for no cap"),
    "trials": ("be below 2^53", "each trial is one identification from start to end"),
    "workers": ("be at most 10,000", "a machine can hardly start more, and more than its cores compute no faster"),
}


def checked(**values: object) -> tuple[float, ...]:
    """Return parameters as floats, in the order given; reject the first that breaks the rule of its name."""
    return tuple(_checked(parameter, value) for parameter, value in values.items())


def _checked(parameter: str, value: object) -> float:
    allowed, found = RANGES[parameter], number(value)
    whole = parameter not in WHOLE or found % 1.0 == 0.0
    if whole and allowed.contains(found):
        return found
    rule, fix = allowed.rule, allowed.fix
    if (whole or isinstance(value, int)) and found >= allowed.too_high:
        rule, fix = TOO_HIGH.get(parameter, (rule, fix))
        if parameter == "epsilon" and 1.0 <= found < 50.0:
            fix = f"it is a share: {found:g} % is {found / 100.0:g}"
    raise InputError(parameter, rule, value, fix)


def one_of(parameter: str, value: object, allowed: tuple[str, ...], alternative: str = "") -> None:
    """Reject a name that is not one of those allowed."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(parameter, f"be one of {', '.join(allowed)}{alternative}", value, "check the spelling")


_BOOLS, _NUMBERS = (bool, np.bool_), (int, float, np.integer, np.floating)  # a union made at every call is slow


def number(value: object) -> float:
    """Return a number as a float, and nan for anything else (a bool is not a number)."""
    if isinstance(value, _BOOLS):
        return math.nan
    if isinstance(value, int) and abs(value) >= HUGE:  # too large for a float, or almost
        return math.inf if value > 0 else -math.inf
    return float(value) if isinstance(value, _NUMBERS) else math.nan


def numbers(values: ArrayLike) -> NDArray[np.float64]:
    """Return a flat list of finite numbers as an array; an empty array, which no caller accepts, for anything else."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64:  # faster than one by one: 10,000 arms, say
        good = values.ndim == 1 and bool((np.abs(values) < HUGE).all())
        return values.copy() if good else np.empty(0)
    array = np.array(values, dtype=object)
    good = array.ndim == 1 and all(abs(number(value)) < HUGE for value in array)
    return array.astype(np.float64) if good else np.empty(0)


def takes(function: Callable[..., Any], count: int) -> bool:
    """Tell whether a function can be called with `count` arguments; True if it has no signature."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:  # also if it is not a function
        return False
    except ValueError:  # built-in functions may have no signature
        return True
    return True


def writable_folder(parameter: str, folder: str | Path) -> Path:
    """Return a folder, created if it does not exist; reject one in which no file can be written."""
    import tempfile

    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(parameter, "be a folder that can be written", str(folder), reason) from None


Seed = int | np.random.SeedSequence | np.random.Generator


def checked_seed(seed: object) -> Seed:
    """Return a seed that makes a run repeatable; reject others, such as None, which would seed from the system."""
    if isinstance(seed, np.random.SeedSequence | np.random.Generator):
        return seed
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0:
        return int(seed)
    raise InputError("seed", "be a whole number >= 0, a SeedSequence or a Generator", seed, "any number will do")


def callers_level() -> int:
    """Return the `stacklevel` with which a warning of the calling function names the user's line."""
    level = 1
    frame = sys._getframe(1)
    inside = str(Path(__file__).parent)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame = frame.f_back
        level += 1
    return level
