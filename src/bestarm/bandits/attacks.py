"""Ready-made attacks: adversaries that know the arms and try to hide the best one.

Each moves the best arm down and the others up, in a way that some kind of method cannot detect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bestarm.bandits import adversaries
from bestarm.bandits.adversaries import Adversary
from bestarm.bandits.arms import Arm, CompiledArm, as_arm
from bestarm.bandits.tails import quantile
from bestarm.contamination import powers
from bestarm.errors import InputError
from bestarm.validation import checked, number


def benign(arms: Sequence[Arm]) -> Adversary:
    """Spread contaminated rewards evenly over half of each mean +- 1: as mild as the adversaries of the paper.

    >>> from bestarm.bandits import Gaussian
    >>> benign([Gaussian(2.5), Gaussian(1.0)]).pieces[0].a
    (1.25, 0.5)
    """
    return adversaries.Uniform(_means(arms) / 2.0, 1.0)


def one_sided_gross(arms: Sequence[Arm], size: float = 1000.0) -> Adversary:
    """Put -size on the best arm and +size on all others: breaks methods that trim less than epsilon off each end.

    >>> from bestarm.bandits import Gaussian
    >>> one_sided_gross([Gaussian(2.5), Gaussian(1.0)]).pieces[0].a
    (-1000.0, 1000.0)
    """
    return adversaries.Point(_against(arms) * _size(size=size))


def hidden(arms: Sequence[Arm], s: float = 1.5) -> Adversary:
    """Put contaminated rewards at mean +- s sigma, where clean ones are common too and no filter finds them.

    >>> from bestarm.bandits import Gaussian
    >>> hidden([Gaussian(2.5), Gaussian(1.0)]).pieces[0].a
    (1.0, 2.5)
    """
    return adversaries.Point(_means(arms) + _against(arms) * _size(s=s) * _sigmas(arms))


def edge_of_trim(arms: Sequence[Arm], epsilon: float, alpha: float | None = None) -> Adversary:
    """Put contaminated rewards just inside the range that a trimmed mean keeps, with alpha (epsilon / 2) cut per side.

    Beyond the edge z, clean rewards are a share alpha of all rewards, (1 - epsilon) P(X > z) = alpha. So trimming
    removes them and keeps every contaminated one. (If alpha < epsilon, gross values bias a trimmed mean even more, but
    they can be filtered. These cannot.)

    >>> from bestarm.bandits import Uniform
    >>> edge_of_trim([Uniform(0, 1), Uniform(-0.5, 0.5)], epsilon=0.2, alpha=0.1).pieces[0].a
    (0.125, 0.375)
    """
    (epsilon,) = checked(epsilon=epsilon)
    (cut,) = checked(alpha=epsilon / 2.0 if alpha is None else alpha)
    share = cut / (1.0 - epsilon)
    if not 0.0 < share < 0.5:
        raise InputError(
            "alpha", "be above 0 and below (1 - epsilon) / 2", cut, "otherwise the range that is kept has no edge"
        )
    return adversaries.Point(_quantiles(arms, share))


def swap(arms: Sequence[Arm]) -> Adversary:
    """Let the best arm and the runner-up give each other's rewards: no single reward is out of place.

    It shrinks the gap between their means by a factor 1 - 2 epsilon: it costs pulls but cannot change which is best.

    >>> from bestarm.bandits import Gaussian
    >>> swap([Gaussian(2.5), Gaussian(1.0), Gaussian(2.0)]).pieces[0].a
    (2.0, 1.0, 0.0)
    """
    best, second = _best_two(arms)
    targets = np.arange(len(arms))
    targets[best], targets[second] = second, best
    return adversaries.Impersonate(targets)


def mirror(arms: Sequence[Arm], s: float = 1.0) -> Adversary:
    """Mirror the true reward at mean +- s sigma, so that it lands on the wrong side, with its own spread.

    >>> from bestarm.bandits import Gaussian
    >>> mirror([Gaussian(2.5), Gaussian(1.0)]).pieces[0].a
    (1.5, 2.0)
    """
    return adversaries.Reflect(_means(arms) + _against(arms) * _size(s=s) * _sigmas(arms))


def boiling_frog(arms: Sequence[Arm], rate: float = 0.01, limit: float = 3.0) -> Adversary:
    """Move true rewards to the wrong side, by rate * sigma more at each pull of the arm and at most limit * sigma.

    >>> from bestarm.bandits import Gaussian
    >>> boiling_frog([Gaussian(2.5), Gaussian(1.0)]).pieces[0].a
    (-0.01, 0.01)
    """
    scale = _sigmas(arms)
    return adversaries.Drift(_against(arms) * _size(rate=rate) * scale, _size(limit=limit) * float(scale.max()))


def extremes(arms: Sequence[Arm]) -> Adversary:
    """Give the best arm its own lowest true reward, past or near future, and each other arm its own highest.

    This takes an adversary that sees all true rewards. Its values are no farther out than the clean ones, so a filter
    that drops them drops clean rewards too.

    >>> from bestarm.bandits import Gaussian
    >>> extremes([Gaussian(2.5), Gaussian(1.0)]).pieces[0].a
    (-1.0, 1.0)
    """
    return adversaries.Extreme(_against(arms))


def white_box(arms: Sequence[Arm], s: float = 1.5) -> Adversary:
    """Read the state of the certified method and play the value that hurts its evidence most, or else hidden values.

    >>> from bestarm.bandits import Gaussian
    >>> white_box([Gaussian(2.5), Gaussian(1.0)]).pieces[0].b
    (-1.0, 1.0)
    """
    return adversaries.WhiteBox(_against(arms), hidden(arms, s).pieces[0].a)


def coin_on_best(arms: Sequence[Arm], epsilon: float) -> Adversary:
    """Replace the best arm's best rewards by low ones and the others' worst by high ones: a malicious attack.

    The values are the clean laws' own epsilon and 1 - epsilon quantiles, so that nothing stands out.

    >>> from bestarm.bandits import Uniform
    >>> coin_on_best([Uniform(0, 1), Uniform(-0.5, 0.5)], epsilon=0.25).pieces[0].a
    (0.25, 0.25)
    """
    (epsilon,) = checked(epsilon=epsilon)
    share = max(epsilon, 1e-9)  # at epsilon = 0 nothing is replaced, by whatever value
    tails = ["bottom" if side > 0.0 else "top" for side in _against(arms)]
    return adversaries.Selective(adversaries.Point(_quantiles(arms, share)), tails)


def ninety_ten(arms: Sequence[Arm], size: float = 1000.0) -> Adversary:
    """Put +size on arms that are not best, but -size one time in ten, and the mirror image on the best.

    A method that takes gross values on both sides for noise, and drops equally many on each side, keeps the rest.

    >>> from bestarm.bandits import Gaussian
    >>> ninety_ten([Gaussian(2.5), Gaussian(1.0)]).pieces[0].a
    (-1000.0, 1000.0)
    """
    values = _against(arms) * _size(size=size)
    return adversaries.TwoPoints(values, -values, 0.9)


def bursts(arms: Sequence[Arm], s: float = 1.5, length: int = 50) -> Adversary:
    """Play the values of `hidden` in runs: replace all or none of each `length` consecutive rewards of an arm.

    >>> from bestarm.bandits import Gaussian
    >>> bursts([Gaussian(2.5), Gaussian(1.0)]).contaminations
    ()
    """
    return adversaries.Bursts(hidden(arms, s), length)


def one_arm(arms: Sequence[Arm], s: float = 1.5) -> Adversary:
    """Put all fakes on the runner-up: its highest possible reward or, if there is none, mean + s sigma.

    >>> from bestarm.bandits import Bernoulli, Gaussian
    >>> one_arm([Gaussian(2.5), Gaussian(1.0)]).pieces[0].a, one_arm([Bernoulli(0.5), Bernoulli(0.4)]).pieces[0].a
    ((2.5,), (1.0,))
    """
    scale = _size(s=s)
    _, second = _best_two(arms)
    arm = as_arm(arms[second])
    top = arm.support()[1] if isinstance(arm, CompiledArm) else np.inf
    if top == np.inf:
        top = arm.mean + scale * float(_sigmas([arm])[0])
    return adversaries.OneArm(adversaries.Point(top), second)


def within_quota(adversary: Adversary) -> Adversary:
    """Limit an attack to floor(epsilon n) of an arm's first n rewards, at irregular moments.

    >>> from bestarm.bandits import Gaussian
    >>> within_quota(hidden([Gaussian(2.5), Gaussian(1.0)])).power
    'share-of-arm'
    """
    return adversaries.Quota(adversary, "random")


Builder = Callable[[Sequence[Arm], float], Adversary]

# Name: what the adversary may use (see Adversary.power), and how to make it for arms and an epsilon.
ATTACKS: dict[str, tuple[str, Builder]] = {
    "benign": (powers.OBLIVIOUS, lambda arms, epsilon: benign(arms)),
    "one-sided-gross": (powers.OBLIVIOUS, lambda arms, epsilon: one_sided_gross(arms)),
    "hidden": (powers.OBLIVIOUS, lambda arms, epsilon: hidden(arms)),
    "edge-of-trim": (powers.OBLIVIOUS, edge_of_trim),
    "swap": (powers.OBLIVIOUS, lambda arms, epsilon: swap(arms)),
    "mirror": (powers.CAUSAL, lambda arms, epsilon: mirror(arms)),
    "boiling-frog": (powers.CAUSAL, lambda arms, epsilon: boiling_frog(arms)),
    "extremes": (powers.PRESCIENT, lambda arms, epsilon: extremes(arms)),
    "white-box": (powers.CAUSAL, lambda arms, epsilon: white_box(arms)),
    "coin-on-best": (powers.MALICIOUS, coin_on_best),
    "ninety-ten": (powers.OBLIVIOUS, lambda arms, epsilon: ninety_ten(arms)),
    "bursts": (powers.BURSTS, lambda arms, epsilon: bursts(arms)),
    "one-arm": (powers.SHARE_OF_ALL, lambda arms, epsilon: one_arm(arms)),
    "quota-hidden": (powers.SHARE_OF_ARM, lambda arms, epsilon: within_quota(hidden(arms))),
    "quota-gross": (powers.SHARE_OF_ARM, lambda arms, epsilon: within_quota(one_sided_gross(arms))),
    "quota-uniform": (powers.SHARE_OF_ARM, lambda arms, epsilon: within_quota(benign(arms))),
}


def _means(arms: Sequence[Arm]) -> NDArray[np.float64]:
    means = np.array([as_arm(arm).mean for arm in arms])
    if means.size < 2 or not np.isfinite(means).all() or (means == means.max()).sum() != 1:
        raise InputError(
            "arms", "be at least two, with known means and one largest", means.tolist(), "an attack needs one to hide"
        )
    return means


def _against(arms: Sequence[Arm]) -> NDArray[np.float64]:
    """Return the direction that hurts: -1 for the best arm, +1 for the others."""
    means = _means(arms)
    return np.where(means == means.max(), -1.0, 1.0)


def _quantiles(arms: Sequence[Arm], share: float) -> list[float]:
    """Return the value of each arm that a share of its clean rewards is beyond, in the direction that hurts."""
    sides = _against(arms)
    return [quantile(arm, 1.0 - share if side > 0.0 else share) for arm, side in zip(arms, sides, strict=True)]


def _best_two(arms: Sequence[Arm]) -> tuple[int, int]:
    means = _means(arms)
    best = int(means.argmax())
    means[best] = -np.inf
    return best, int(means.argmax())


def _sigmas(arms: Sequence[Arm]) -> NDArray[np.float64]:
    scales = [as_arm(arm).sigma for arm in arms]
    if None in scales:
        raise InputError("arms", "have a sigma each", scales, "an attack measured in sigmas needs sub-Gaussian arms")
    return np.array(scales, dtype=np.float64)


def _size(**given: float) -> float:
    ((name, value),) = given.items()
    if not 0.0 < number(value) <= 1e290:
        raise InputError(name, "be a finite number > 0", value, "the direction is the attack's own choice")
    return float(value)
