"""Checks of a contamination model of the user's own, at typical prices and counts."""

from __future__ import annotations

import itertools
import math

from bestarm.contamination._base import Contamination
from bestarm.errors import InputError

# Where a price is tried: what a bet pays on average, at most and at least, as bets of the certified method do.
_LEAST = (0.0, 0.05, 0.3, 1.0)
_MOST = (1.02, 1.5, 4.0, 50.0)
_EPSILONS = (0.0, 1e-4, 0.01, 0.1, 0.3, 0.49)
_NUMBERS = (0, 1, 10, 1000, 10**6)


def check_own(model: Contamination, taken: tuple[str, ...]) -> None:
    """Reject a model under whose price or count the promise would not hold, or whose name is taken."""
    if model.name in taken:
        raise _refused(model, "have a name of its own", "a model of the package has that name; set `name`")
    if model.counted:
        _check_counts(model)
    for least, most in itertools.product(_LEAST, _MOST):
        line = [least + (most - least) * step for step in (0.0, 0.5, 1.0)]
        before = line
        for epsilon in _EPSILONS:
            prices = [float(model.price(phi, most, least, epsilon)) for phi in line]
            _check_prices(model, line, prices, before, epsilon)
            before = prices


def _check_prices(
    model: Contamination, line: list[float], prices: list[float], before: list[float], epsilon: float
) -> None:
    """Reject prices at the ends and the middle of a line of phi; `before` are those at a smaller epsilon."""
    slack = 1e-9 * prices[-1]
    if not all(map(math.isfinite, prices)):
        raise _refused(model, "have finite prices", f"at epsilon = {epsilon:g} one is not")
    if any(price < phi - slack for price, phi in zip(prices, line, strict=True)):
        raise _refused(model, "have prices of at least phi", f"at epsilon = {epsilon:g} one is lower")
    if epsilon == 0.0 and any(abs(price - phi) > slack for price, phi in zip(prices, line, strict=True)):
        raise _refused(model, "have the price phi at epsilon = 0", "there nothing is replaced")
    if epsilon > 0.0 and not model.counted and prices[0] <= line[0]:
        raise _refused(model, "have prices above phi, or count fakes", "without either, fakes cost nothing")
    if any(price < earlier - slack for price, earlier in zip(prices, before, strict=True)):
        raise _refused(model, "have prices that do not fall in epsilon", f"at epsilon = {epsilon:g} one does")
    if prices[0] > prices[2] + slack or abs(prices[0] + prices[2] - 2.0 * prices[1]) > slack:
        raise _refused(model, "have prices on a straight line in phi that does not fall", f"see epsilon = {epsilon:g}")


def _check_counts(model: Contamination) -> None:
    """Reject counts that fall, that are not those of the kernels, or that are not 0 at epsilon = 0."""
    for number in _NUMBERS:
        counts = [model.allowed(epsilon, number, 20.0) for epsilon in _EPSILONS]
        if counts[0] != 0 or counts != sorted(counts):
            raise _refused(model, "allow for no fakes at epsilon = 0, and for more at a larger one", f"got {counts}")
        for epsilon, count in zip(_EPSILONS, counts, strict=True):
            told = model.kernel_numbers(epsilon, 20.0)
            kernel = math.floor(told.share * max(number, math.ceil(told.settled - 1e-9)) + 1e-9) + told.surely
            if count != kernel or told.together != model.shared:
                fix = f"{count} and {kernel:g} of {number:,} at epsilon = {epsilon:g}; override both or neither"
                raise _refused(model, "count in `allowed` as in `kernel_numbers`", fix)


def _refused(model: Contamination, rule: str, fix: str) -> InputError:
    return InputError("contamination", rule, model.name, fix)
