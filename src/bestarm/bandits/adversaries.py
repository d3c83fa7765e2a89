"""Adversaries of the oblivious model: what stands in for a reward when the coin says so.

An adversary is a list of pieces, each a law Q_i for every arm and the pull from which on it is in force; most have one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestarm.checks import checked, number, numbers
from bestarm.errors import InputError
from bestarm.kernels import draws

Draw = Callable[[np.random.Generator, int, int, float], float]


@dataclass(frozen=True)
class Piece:
    """One law an arm: a kind, two parameters each (of one for all arms, or one for each), and its first pull."""

    kind: int
    a: tuple[float, ...]
    b: tuple[float, ...]
    begin: int = 0


@dataclass(frozen=True)
class Adversary:
    """What contaminated rewards are drawn from; `Point`, `Uniform`, ... make one."""

    pieces: tuple[Piece, ...]
    own_count: bool = False

    def table(self, arms: int) -> NDArray[np.void]:
        """Return the laws for a number of arms as the kernels want them, piece by piece."""
        rows = np.zeros((len(self.pieces), arms), draws.attack_dtype)
        for row, piece in zip(rows, self.pieces, strict=True):
            for name, values in (("a", piece.a), ("b", piece.b)):
                if len(values) not in (1, arms):
                    raise InputError(
                        "adversary", f"have one value for all or one for each of {arms} arms", values, "count them"
                    )
                row[name] = values
            row["kind"], row["begin"], row["own_count"] = piece.kind, piece.begin, self.own_count
        return rows.ravel()


@dataclass(frozen=True)
class CustomAdversary:
    """An adversary given by a function (generator, arm, pulls so far, clean reward) -> value; slow, like CustomArm.

    The clean reward is drawn first, so that the function may use it.
    """

    draw: Draw


def Point(values: ArrayLike) -> Adversary:  # noqa: N802 - laws read like classes
    """Contaminated rewards are always the same value, one for all arms or one for each.

    >>> Point([-1000.0, 1000.0]).pieces[0].a
    (-1000.0, 1000.0)
    """
    return _one(draws.POINT, _values("values", values))


def Uniform(centres: ArrayLike, halfwidth: float = 1.0) -> Adversary:  # noqa: N802
    """Contaminated rewards are spread evenly over centre +- halfwidth >= 0; one centre for all arms or for each."""
    return _one(draws.UNIFORM_AROUND, _values("centres", centres), _spread("halfwidth", halfwidth))


def Gaussian(means: ArrayLike, sigma: float = 1.0) -> Adversary:  # noqa: N802
    """Contaminated rewards are normal, with one mean for all arms or for each and a standard deviation >= 0."""
    return _one(draws.GAUSSIAN_AROUND, _values("means", means), _spread("sigma", sigma))


def Shift(amounts: ArrayLike) -> Adversary:  # noqa: N802
    """A contaminated reward is what the arm would have given, plus an amount, one for all arms or for each."""
    return _one(draws.SHIFT, _values("amounts", amounts))


def Schedule(pieces: Sequence[tuple[int, Adversary]], *, by: str = "total") -> Adversary:  # noqa: N802
    """An adversary Q_i(t) that changes: pairs (first pull, adversary), the first of them from pull 0 on.

    `by="total"` counts the pulls of all arms, as the paper's t; `by="arm"` counts those of the arm that is pulled.

    >>> frog = Schedule([(0, Shift(0.1)), (500, Shift(0.5)), (2000, Shift(1.0))])
    """
    if by not in ("total", "arm"):
        raise InputError("by", "be total or arm", by, "count the pulls of all arms or of the arm that is pulled")
    flat: list[Piece] = []
    for begin, adversary in pieces:
        if not isinstance(adversary, Adversary) or len(adversary.pieces) != 1:
            raise InputError(
                "pieces", "be pairs (first pull, adversary)", (begin, adversary), "such as (0, Point(5.0))"
            )
        flat.append(Piece(adversary.pieces[0].kind, adversary.pieces[0].a, adversary.pieces[0].b, begin))
    begins = [piece.begin for piece in flat]
    if not begins or begins[0] != 0 or any(not one < other for one, other in itertools.pairwise(begins)):
        raise InputError("pieces", "begin at pull 0 and go up", begins, "sort them, and let the first begin at 0")
    return Adversary(tuple(flat), own_count=by == "arm")


def paper_adversary(means: ArrayLike, epsilon: float, seed: int | np.random.Generator) -> Adversary:
    """Return the adversary of the paper's experiments: uniform around random centres that leave the best arm the best.

    The paper says no more than that. We draw c_i ~ Uniform[min mu - 1, max mu + 1], let Q_i = Uniform[c_i - 1, c_i + 1]
    and redraw until the best arm of (1 - epsilon) mu + epsilon c is still the best and every contaminated gap is at
    least half the true one (without a margin the mean number of pulls has no useful value). Reading #17.

    >>> paper_adversary([2.5, 2.3, 2.0, 0.6], 0.1, seed=1) == paper_adversary([2.5, 2.3, 2.0, 0.6], 0.1, seed=1)
    True
    """
    mu = numbers(means)
    (epsilon,) = checked(epsilon=epsilon)
    if mu.size < 2 or np.flatnonzero(mu == mu.max(initial=-np.inf)).size != 1:
        raise InputError(
            "means", "be at least two finite numbers with one largest", means, "a tie has no best arm to keep"
        )
    rng = np.random.default_rng(seed)
    best = int(mu.argmax())
    others = np.delete(np.arange(mu.size), best)
    while True:
        centres = rng.uniform(mu.min() - 1.0, mu.max() + 1.0, mu.size)
        mixed = (1.0 - epsilon) * mu + epsilon * centres
        if (mixed[best] - mixed[others] >= (mu[best] - mu[others]) / 2.0).all():
            return Uniform(centres, 1.0)


def as_adversary(adversary: Any) -> Adversary | CustomAdversary | None:
    """Return an adversary as it is, and a bare function as a custom one."""
    if adversary is None or isinstance(adversary, Adversary | CustomAdversary):
        return adversary
    if callable(adversary):
        return CustomAdversary(adversary)
    raise InputError(
        "adversary", "be one of bestarm.adversaries, a function or None", adversary, "such as adversaries.Point(1000.0)"
    )


def _one(kind: int, a: tuple[float, ...], b: float = 0.0) -> Adversary:
    return Adversary((Piece(kind, a, (b,)),))


def _values(name: str, values: ArrayLike) -> tuple[float, ...]:
    array = numbers(np.atleast_1d(np.asarray(values, dtype=object)))
    if array.size == 0 or np.abs(array).max() > 1e290:
        raise InputError(
            name, "be a finite number, or one for each arm, of size at most 1e290", values, "one number may do"
        )
    return tuple(array.tolist())


def _spread(name: str, value: float) -> float:
    if not 0.0 <= number(value) <= 1e290:
        raise InputError(name, "be a finite number >= 0", value, "0 makes it a point")
    return float(value)
