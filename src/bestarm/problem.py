"""The question: which arms, how sure, how much contamination, how noisy. It is checked here, and only here."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.phrases import Phrase, Setting, Verbatim
from bestarm.validation import checked, number

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # it has defaults: a bare `Result` is a Result[Any]

    LabelT = TypeVar("LabelT", bound=Hashable, default=Any)
else:
    from typing import TypeVar

    LabelT = TypeVar("LabelT", bound=Hashable)

Label = Hashable
"""What names an arm: anything that can be looked up, such as a text or a number."""

LARGEST_REWARD = 1e290  # sums of 10^18 such rewards are still finite
MOST_ARMS = 1_000_000  # certified takes 24 kB per arm, once each arm has a reward
_WIDEST = (-LARGEST_REWARD, LARGEST_REWARD)


@dataclass(frozen=True)
class Problem(Generic[LabelT]):
    """A valid best-arm question; `pose` makes one.

    Attributes
    ----------
    labels : tuple
        The arms; an arm's index is its position in this tuple.
    delta : float
        Accepted probability of a wrong answer.
    epsilon : float
        Bound on the probability that a reward is contaminated.
    sigma : float
        Sub-Gaussian scale of a clean reward.
    bounds : tuple of float, or None
        Lowest and highest possible reward, where declared.
    """

    labels: tuple[LabelT, ...]
    delta: float
    epsilon: float
    sigma: float
    bounds: tuple[float, float] | None = None

    @property
    def size(self) -> int:
        """Number of arms K."""
        return len(self.labels)


def pose(
    arms: int | Iterable[LabelT],
    *,
    delta: float,
    epsilon: float,
    sigma: float | None = None,
    bounds: tuple[float, float] | None = None,
) -> Problem[LabelT]:
    """Return the problem, or raise an `InputError` that says what is wrong with it.

    Parameters
    ----------
    arms : int or iterable of hashable
        Labels of two to a million arms, all different; a number K stands for 0, ..., K-1.
    delta : float in (0, 1)
        Accepted probability of a wrong answer.
    epsilon : float in [0, 0.5)
        Bound on the probability that a reward was replaced.
    sigma : float > 0, optional
        Sub-Gaussian scale of a clean reward (for a normal law, its standard deviation).
    bounds : (float, float), optional
        Lowest and highest possible reward, in place of sigma; then sigma = (high - low) / 2 (Hoeffding's lemma).

    Examples
    --------
    >>> pose(["A", "B"], delta=0.05, epsilon=0.1, bounds=(0, 1)).sigma
    0.5
    """
    labels: tuple[Any, ...] = _labels(arms)
    delta, epsilon = checked(delta=delta, epsilon=epsilon)
    if (sigma is None) == (bounds is None):
        received = "neither" if sigma is None else f"sigma={sigma!r} and bounds={bounds!r}"
        raise InputError(
            "sigma",
            "be given, or bounds, and not both",
            received,
            Phrase(
                "say {}, or {} if rewards have a range",
                Setting("sigma", 1.0),
                Setting("bounds", (Verbatim("low"), Verbatim("high"))),
            ),
        )
    if bounds is None:
        (scale,) = checked(sigma=sigma)
        return Problem(labels, delta, epsilon, scale)
    low, high = _bounds(bounds)
    return Problem(labels, delta, epsilon, (high - low) / 2.0, (low, high))


def checked_reward(problem: Problem, value: object) -> float:
    """Return a reward as a float, or reject it."""
    low, high = problem.bounds or _WIDEST
    if type(value) is float and low <= value <= high:  # the common case, in a sixth of the time
        return value
    reward = float(value) if isinstance(value, bool | np.bool_) else number(value)
    if not abs(reward) <= LARGEST_REWARD:
        raise InputError(
            "reward", f"be a finite number of size at most {LARGEST_REWARD:g}", value, "nothing was recorded"
        )
    if problem.bounds is not None and not problem.bounds[0] <= reward <= problem.bounds[1]:
        raise InputError(
            "reward",
            f"lie in the declared bounds {problem.bounds}",
            value,
            "nothing was recorded; widen bounds if such rewards are real",
        )
    return reward


def checked_rewards(problem: Problem, values: object) -> NDArray[np.float64]:
    """Return rewards as an array; reject all if any is invalid."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError("rewards", "be a flat list of numbers", values, "use tell for a single reward")
    if not isinstance(values, np.ndarray):
        items = list(values)
        if not set(map(type, items)) <= {float}:  # other types are checked one by one
            items = [checked_reward(problem, value) for value in items]
        values = np.array(items, dtype=np.float64)
    if values.ndim != 1 or values.dtype.kind not in "fiub":
        raise InputError("rewards", "be a flat list of numbers", values, "use tell for a single reward")
    with np.errstate(over="ignore"):  # a number too large for a double becomes infinite, and is rejected below
        rewards: NDArray[np.float64] = values.astype(np.float64)
    low, high = problem.bounds or _WIDEST
    wrong = np.flatnonzero(~((rewards >= low) & (rewards <= high)))
    if wrong.size:
        checked_reward(problem, float(rewards[wrong[0]]))
    return rewards


_BOOLS = bool, np.bool_  # a union made at every call would take half a microsecond


def index_of(arm: Label, index: Mapping[Any, int], labels: tuple[Label, ...]) -> int:
    """Return the index of an arm among the labels; reject what is not a label."""
    try:
        slot = index[arm]
        if isinstance(arm, _BOOLS) and not isinstance(labels[slot], bool):
            raise KeyError  # True equals 1, but does not name the second arm
        return slot
    except (KeyError, TypeError):  # a TypeError: the value is not hashable
        known = ", ".join(repr(label) for label in labels[:8])
        more = ", ..." if len(labels) > 8 else ""
        raise InputError("arm", "be one of the labels", arm, f"the arms are {known}{more}") from None


def indices_of(arms: Sequence[Label], index: Mapping[Any, int], labels: tuple[Label, ...]) -> NDArray[np.int64]:
    """Return the indices of many arms; reject all if any is not a label."""
    if isinstance(arms, np.ndarray) and _are_indices(arms, labels):
        return arms.astype(np.int64)
    if isinstance(arms, str | set | frozenset) or not isinstance(arms, Iterable):
        raise InputError("arms", "be a list of labels", arms, "use tell for a single reward")
    return np.fromiter((index_of(arm, index, labels) for arm in arms), np.int64)


def _are_indices(arms: NDArray[Any], labels: tuple[Label, ...]) -> bool:
    """Tell whether the labels of an array are their own indices, so that no look-up is needed."""
    return (
        arms.dtype.kind in "iu"
        and arms.ndim == 1
        and labels == tuple(range(len(labels)))
        and (arms.size == 0 or bool(arms.min() >= 0 and arms.max() < len(labels)))
    )


def _labels(arms: int | Iterable[Label]) -> tuple[Label, ...]:
    if isinstance(arms, int | np.integer) and not isinstance(arms, bool):
        if arms > MOST_ARMS:
            raise _too_many(arms)
        checked(arms=arms)
        return tuple(range(int(arms)))
    if isinstance(arms, str | bytes | set | frozenset) or not isinstance(arms, Iterable):
        raise InputError("arms", "be a list of labels or a number of arms", arms, 'such as ["A", "B", "C"] or 3')
    labels = tuple(label.item() if isinstance(label, np.generic) else label for label in islice(arms, MOST_ARMS + 1))
    if len(labels) > MOST_ARMS:
        raise _too_many(f"{MOST_ARMS + 1:,} or more")
    if len(labels) < 2:
        raise InputError("arms", "be at least two", labels, "among fewer arms there is nothing to identify")
    seen: set[Label] = set()
    for label in labels:
        try:
            again = label in seen
        except TypeError:
            raise InputError(
                "arms", "be labels that can be looked up (hashable)", label, "use strings or numbers"
            ) from None
        if again:
            raise InputError(
                "arms", "be all different", label, "the same label stands there twice; rename one of the two"
            )
        if label != label:
            raise InputError("arms", "be equal to themselves", label, "use another label")
        seen.add(label)
    return labels


def _too_many(received: object) -> InputError:
    return InputError(
        "arms", f"be at most {MOST_ARMS:,}", received, "an arm takes up to 24 kB of memory; make a choice of them first"
    )


def _bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    pair = tuple(bounds) if isinstance(bounds, tuple | list | np.ndarray) else ()
    if len(pair) == 2:
        low, high = number(pair[0]), number(pair[1])
        if -LARGEST_REWARD <= low < high <= LARGEST_REWARD:
            return low, high
    raise InputError(
        "bounds",
        "be two finite numbers (low, high) with low < high",
        bounds,
        Phrase("such as {} for clicks", Setting("bounds", (0, 1))),
    )
