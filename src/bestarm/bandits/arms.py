"""Arms: laws of clean rewards. Each knows its mean, and its sub-Gaussian scale where there is one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestarm.errors import InputError
from bestarm.kernels.rewards import draws
from bestarm.validation import number, numbers, takes


@dataclass(frozen=True)
class Arm:
    """The law of an arm's clean rewards.

    Attributes
    ----------
    mean : float
        Its mean; nan where it is not known.
    sigma : float or None
        The smallest sub-Gaussian scale we can prove; None for laws whose tails are too heavy to have one.
    """

    mean: float
    sigma: float | None


@dataclass(frozen=True)
class CompiledArm(Arm):
    """An arm that the kernels can draw from: a kind of law and three parameters, or values with probabilities."""

    kind: int
    parameters: tuple[float, float, float] = (0.0, 0.0, 0.0)
    values: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()

    def support(self) -> tuple[float, float]:
        """Return the lowest and the highest possible reward; infinite if there is none."""
        if self.kind in (draws.BERNOULLI, draws.BETA):
            return 0.0, 1.0
        if self.kind == draws.UNIFORM:
            return self.parameters[0], self.parameters[1]
        if self.kind == draws.DISCRETE:
            return self.values[0], self.values[-1]
        return (0.0 if self.kind in (draws.EXPONENTIAL, draws.LOG_NORMAL) else -math.inf), math.inf


@dataclass(frozen=True)
class CustomArm(Arm):
    """An arm drawn by a function of a `numpy.random.Generator`: any law, but about a hundred times slower.

    Examples
    --------
    >>> arm = CustomArm(lambda rng: rng.triangular(0, 1, 2), mean=1.0, sigma=1.0)
    """

    draw: Callable[[np.random.Generator], float]

    def __init__(
        self, draw: Callable[[np.random.Generator], float], mean: float = math.nan, sigma: float | None = None
    ) -> None:
        if not callable(draw) or not takes(draw, 1):
            raise InputError(
                "draw", "be a function of a numpy.random.Generator", draw, "such as lambda rng: rng.normal(2, 1)"
            )
        unknown = isinstance(mean, float) and math.isnan(mean)
        object.__setattr__(self, "draw", draw)
        object.__setattr__(self, "mean", math.nan if unknown else _finite(mean=mean))
        object.__setattr__(self, "sigma", None if sigma is None else _positive(sigma=sigma))


def Gaussian(mean: float, sigma: float = 1.0) -> CompiledArm:  # noqa: N802 - laws read like classes
    """Normal rewards with a mean and a standard deviation > 0.

    >>> Gaussian(2.5).mean
    2.5
    """
    mean, sigma = _finite(mean=mean), _positive(sigma=sigma)
    return CompiledArm(mean, sigma, draws.GAUSSIAN, (mean, sigma, 0.0))


def Bernoulli(p: float) -> CompiledArm:  # noqa: N802
    """Rewards 1 with probability p in [0, 1], else 0; sigma = 1/2 for every p (Hoeffding's lemma)."""
    chance = _finite(p=p)
    if not 0.0 <= chance <= 1.0:
        raise InputError("p", "be in [0, 1]", p, "it is the probability of a reward 1")
    return CompiledArm(chance, 0.5, draws.BERNOULLI, (chance, 0.0, 0.0))


def Uniform(low: float, high: float) -> CompiledArm:  # noqa: N802
    """Rewards spread evenly over [low, high]; their standard deviation (high - low)/sqrt(12) is their sigma."""
    low, high = _finite(low=low), _finite(high=high)
    if not low < high:
        raise InputError("high", "be above low", high, f"low is {low}")
    return CompiledArm((low + high) / 2.0, (high - low) / math.sqrt(12.0), draws.UNIFORM, (low, high, 0.0))


def Exponential(mean: float) -> CompiledArm:  # noqa: N802
    """Exponential rewards with a mean > 0. Not sub-Gaussian: no sigma covers their upper tail."""
    mean = _positive(mean=mean)
    return CompiledArm(mean, None, draws.EXPONENTIAL, (mean, 0.0, 0.0))


def LogNormal(mu: float, sigma: float) -> CompiledArm:  # noqa: N802
    """Rewards whose logarithm is normal with mean mu and standard deviation sigma. Not sub-Gaussian.

    >>> round(LogNormal(1.0, 1.0).mean, 4)
    4.4817
    """
    mu, sigma = _finite(mu=mu), _positive(sigma=sigma)
    if not mu + sigma * max(40.0, sigma / 2.0) < math.log(1e290):  # no draw in practice, nor the mean, is larger
        raise InputError("sigma", "be small enough that rewards stay below 1e290", sigma, "use a smaller sigma or mu")
    return CompiledArm(math.exp(mu + sigma**2 / 2.0), None, draws.LOG_NORMAL, (mu, sigma, 0.0))


def Beta(a: float, b: float) -> CompiledArm:  # noqa: N802
    """Beta rewards in [0, 1]; sigma^2 = 1 / (4 (a + b + 1)) (Marchal and Arbel 2017)."""
    a, b = _positive(a=a), _positive(b=b)
    if min(a, b) < 0.01:  # compiled, the draw differs from NumPy's from 1e-3 down, and does not end at 1e-20
        raise InputError(
            "a" if a < b else "b", "be at least 0.01", min(a, b), "use Bernoulli for a law at the ends alone"
        )
    return CompiledArm(a / (a + b), 1.0 / math.sqrt(4.0 * (a + b + 1.0)), draws.BETA, (a, b, 0.0))


def StudentT(df: float, mean: float = 0.0, scale: float = 1.0) -> CompiledArm:  # noqa: N802
    """Student's t with df > 1 degrees of freedom, moved and stretched. Not sub-Gaussian."""
    df, mean, scale = _positive(df=df), _finite(mean=mean), _positive(scale=scale)
    if df <= 1.0:
        raise InputError("df", "be above 1", df, "with one degree of freedom or less there is no mean")
    return CompiledArm(mean, None, draws.STUDENT_T, (mean, scale, df))


def Empirical(values: ArrayLike) -> CompiledArm:  # noqa: N802
    """Rewards drawn with replacement from the given values, such as a recorded data set."""
    array = numbers(values)
    if not _usable(array):
        raise InputError("values", "be a flat list of finite numbers, at least one", values, "clean the data first")
    return _discrete(array, np.full(array.size, 1.0 / array.size))


def Discrete(values: ArrayLike, probabilities: ArrayLike) -> CompiledArm:  # noqa: N802
    """Rewards that take the given values with the given probabilities.

    >>> Discrete([1, 2, 3], [0.5, 0.25, 0.25]).mean
    1.75
    """
    array, weights = numbers(values), numbers(probabilities)
    if not _usable(array):
        raise InputError("values", "be a flat list of finite numbers, at least one", values, "one for each probability")
    if weights.size != array.size or (weights < 0.0).any() or abs(weights.sum() - 1.0) > 1e-9:
        raise InputError(
            "probabilities", "be one for each value, none negative, with sum 1", probabilities, "divide by the sum"
        )
    return _discrete(array, weights / weights.sum())


def _discrete(values: NDArray[np.float64], probabilities: NDArray[np.float64]) -> CompiledArm:
    distinct: NDArray[Any] = values
    weights: NDArray[Any] = probabilities
    if not (values[:-1] < values[1:]).all():  # else np.unique would take half of the time that 10,000 arms need
        distinct, index = np.unique(values, return_inverse=True)
        weights = np.bincount(index, weights=probabilities)
    mean = math.fsum(distinct * weights)
    scale = float(distinct[-1] - distinct[0]) / 2.0
    return CompiledArm(
        mean, scale, draws.DISCRETE, values=tuple(distinct.tolist()), probabilities=tuple(weights.tolist())
    )


def _usable(values: NDArray[np.float64]) -> bool:
    return values.size > 0 and bool(np.abs(values).max() <= 1e290)


def as_arm(arm: Any) -> Arm:
    """Return an arm unchanged, and wrap a bare function as an arm of unknown mean."""
    if isinstance(arm, Arm):
        return arm
    if callable(arm):
        return CustomArm(arm, mean=getattr(arm, "mean", math.nan), sigma=getattr(arm, "sigma", None))
    raise InputError(
        "arms", "be arms such as Gaussian(2.5), or functions of a generator", arm, "wrap numbers: Gaussian(mean)"
    )


def _finite(**given: float) -> float:
    ((name, value),) = given.items()
    if not abs(number(value)) <= 1e290:
        raise InputError(name, "be a finite number", value, "of size at most 1e290")
    return float(value)


def _positive(**given: float) -> float:
    ((name, value),) = given.items()
    if not 0.0 < number(value) <= 1e290:
        raise InputError(name, "be a finite number > 0", value, "of size at most 1e290")
    return float(value)


# Every law of this file by name: the functions annotated to return a CompiledArm.
LAWS: dict[str, Callable[..., CompiledArm]] = {
    name: value
    for name, value in list(vars().items())
    if not name.startswith("_") and getattr(value, "__annotations__", {}).get("return") == "CompiledArm"
}
