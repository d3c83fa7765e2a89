"""Adversaries: the values that replace rewards, and the rewards that they replace (the hits).

The values are a list of pieces. Each piece has a law Q_i for every arm and the pull from which it applies; most
adversaries have one piece. A fair coin per reward picks the hits, unless `Selective` lets the coin look at the reward,
`Quota` and `OneArm` count, or `Bursts` tosses one coin for many rewards. Each of these wraps any adversary.

ABM19: Altschuler, Brunel and Malek, "Best arm identification for contaminated bandits", JMLR 20, 2019.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestarm.bandits.arms import Arm, CompiledArm
from bestarm.bandits.tails import quantile as quantile  # beside `tail_cut`, as a name of this module
from bestarm.bandits.tails import tail_cut as tail_cut
from bestarm.contamination import CONTAMINATIONS, powers
from bestarm.errors import InputError
from bestarm.kernels.rewards import draws
from bestarm.validation import Seed, checked, checked_seed, number, numbers, one_of, takes

Draw = Callable[[np.random.Generator, int, int, float], float]

TAILS = {"top": draws.TOP, "bottom": draws.BOTTOM, "fair": draws.FAIR}
PICKS = ("spread", "random", "top", "bottom")
# The coin of a "random" pick, in epsilons. At 1 the hits fall behind the quota by the square root of their number. At
# 1.5 they are about one behind on average, however long (measured: 1.1 at epsilon = 0.01, 0.3 at 0.49), and still
# irregular: the standard deviation of the gaps is 0.75 (0.43) of their mean; of a coin's, 1; of spread hits', almost 0.
RANDOM_PICK = 1.5


@dataclass(frozen=True)
class Piece:
    """One law per arm: a kind, its parameters (one for all arms, or one for each), its first pull and coin."""

    kind: int
    a: tuple[float, ...]
    b: tuple[float, ...]
    begin: int = 0
    tails: tuple[int, ...] = (draws.FAIR,)
    c: tuple[float, ...] = (0.0,)


@dataclass(frozen=True)
class Hits:
    """Which rewards may be replaced: a rule and its settings. The coins of the pieces pick among these rewards.

    Attributes
    ----------
    rule : int
        `ANY` reward, at most a `SHARE_OF_ARM` or a `SHARE_OF_ALL`, or `BLOCKS`.
    picks : tuple of str
        For a share of each arm: how hits are picked, for all arms or for each.
    length : int
        For blocks: their length.
    arm : int or None
        The only arm whose rewards are replaced; None for all.
    """

    rule: int = draws.ANY
    picks: tuple[str, ...] = ("spread",)
    length: int = 1
    arm: int | None = None


@dataclass(frozen=True)
class Adversary:
    """The law of contaminated rewards, and the rule for which rewards they replace; made by `Point`, `Uniform`, ..."""

    pieces: tuple[Piece, ...]
    own_count: bool = False
    hits: Hits = Hits()

    @property
    def chooses(self) -> bool:
        """Whether the coin of some arm looks at the reward."""
        return any(tail != draws.FAIR for piece in self.pieces for tail in piece.tails)

    @property
    def sees_first(self) -> bool:
        """Whether the true reward is drawn before the coin is tossed."""
        return self.chooses or self.foresees

    @property
    def foresees(self) -> bool:
        """Whether it looks at rewards other than the one that it replaces."""
        return any(piece.kind == draws.FORESEE for piece in self.pieces)

    @property
    def decides(self) -> bool:
        """Whether it is asked at every pull, and not only when a fair coin has picked the reward."""
        return self.sees_first or self.hits.rule != draws.ANY

    @property
    def remembers(self) -> bool:
        """Whether its actions depend on what it saw or did earlier in the trial."""
        return self.foresees or self.hits.rule != draws.ANY

    @property
    def contaminations(self) -> tuple[str, ...]:
        """The contamination models that it obeys: a promise under any of these holds against it.

        "causal": a coin for each reward, of rate epsilon, that does not see it, and values that know no reward to come.
        "prescient": the same with values that may know them. "malicious": a coin that may see its own reward.
        "share-of-arm": at most floor(epsilon n) of the n rewards of an arm, at every n. "share-of-all": at most
        floor(epsilon N) of the N rewards of all arms. `Bursts` obeys none, although its rate is epsilon.

        >>> Point(5.0).contaminations, Selective(Point(5.0)).contaminations
        (('causal', 'prescient', 'malicious'), ('malicious',))
        >>> Quota(Point(5.0)).contaminations, OneArm(Point(5.0), 1).contaminations, Bursts(Point(5.0)).contaminations
        (('share-of-arm', 'share-of-all'), ('share-of-all',), ())
        """
        return _covering(self.power)

    @property
    def power(self) -> str:
        """What the adversary uses: "oblivious", "causal" (the past), "prescient" (all true rewards) or "malicious".

        ABM19 has the first and the last two; a malicious coin is biased. `Shift`, `Drift` and `Reflect` look at the
        reward that they replace. Nobody else sees it, so a promise against oblivious adversaries covers these too.
        `WhiteBox` looks at the state of the method, `Extreme` at the arm's other true rewards, past and future. If a
        rule picks the hits and not a coin, this is the rule: "share-of-arm", "share-of-all" or "bursts".
        """
        if self.hits.rule != draws.ANY:
            return _POWERS[self.hits.rule]
        if self.chooses:
            return powers.MALICIOUS
        if self.foresees:
            return powers.PRESCIENT
        return powers.CAUSAL if any(piece.kind >= draws.SHIFT for piece in self.pieces) else powers.OBLIVIOUS

    def reach(self, low: float, high: float) -> tuple[float, float]:
        """Return the lowest and the highest contaminated reward when clean ones lie between `low` and `high`."""
        ends = [(low, high)]
        for piece in self.pieces:
            a, b = self._hit(piece.a), self._hit(piece.b)
            if piece.kind in (draws.POINT, draws.UNIFORM_AROUND):
                ends.append((min(a) - max(b), max(a) + max(b)))
            elif piece.kind == draws.TWO_POINTS:
                ends.append((min(a + b), max(a + b)))
            elif piece.kind == draws.SHIFT:
                ends.append((low + min(a), high + max(a)))
            elif piece.kind not in (draws.IMPERSONATE, draws.FORESEE):
                ends.append((-np.inf, np.inf))
        return min(end[0] for end in ends), max(end[1] for end in ends)

    def _hit(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """Return the values of the arms that are hit, from one value for all arms or one for each."""
        return values if self.hits.arm is None or len(values) == 1 else (values[self.hits.arm],)

    def _chances(self, epsilon: float) -> tuple[float, ...]:
        """Return the probability of a hit where one is allowed and the coin does not look, for all arms or for each."""
        if self.hits.rule == draws.ANY:
            return (epsilon if self.sees_first else 1.0,)
        return tuple(RANDOM_PICK * epsilon if pick == "random" else 1.0 for pick in self.hits.picks)

    def table(self, arms: Sequence[Arm], epsilon: float) -> NDArray[np.void]:
        """Return the laws for some arms as a table for the kernels, piece by piece, with hits at the rate epsilon."""
        rows = np.zeros((len(self.pieces), len(arms)), draws.attack_dtype)
        rows["own_count"], rows["rule"], rows["length"] = self.own_count, self.hits.rule, self.hits.length
        rows["share"] = epsilon
        if self.hits.arm is not None:
            _check_index(self.hits.arm, len(arms))
            rows["share"] = np.where(np.arange(len(arms)) == self.hits.arm, epsilon, 0.0)
        chances = self._chances(epsilon)
        for row, piece in zip(rows, self.pieces, strict=True):
            parameters = ("a", piece.a), ("b", piece.b), ("c", piece.c)
            for name, values in (*parameters, ("tail", piece.tails), ("chance", chances)):
                if len(values) not in (1, len(arms)):
                    raise InputError(
                        "adversary", f"have one value for all or one for each of {len(arms)} arms", values, "count them"
                    )
                row[name] = values
            row["kind"], row["begin"] = piece.kind, piece.begin
            if piece.kind == draws.IMPERSONATE:
                _check_targets(piece.a, arms)
            if piece.kind == draws.FORESEE and not all(isinstance(arm, CompiledArm) for arm in arms):
                raise InputError("arms", "be laws, not functions", arms, "the adversary draws their rewards ahead")
            for law, arm in zip(row, arms, strict=True):
                if law["tail"] != draws.FAIR:
                    law["threshold"], law["chance"] = tail_cut(arm, epsilon, int(law["tail"]))
        return rows.ravel()


_POWERS = {  # of adversaries with a rule
    draws.SHARE_OF_ARM: powers.SHARE_OF_ARM,
    draws.SHARE_OF_ALL: powers.SHARE_OF_ALL,
    draws.BLOCKS: powers.BURSTS,
}


def _covering(power: str) -> tuple[str, ...]:
    """Return the names of the contamination models that cover an adversary of a power."""
    return tuple(name for name, model in CONTAMINATIONS.items() if model.covers(power))


@dataclass(frozen=True)
class CustomAdversary:
    """An adversary given by a function (generator, arm, pulls so far, clean reward) -> value; slow, like CustomArm.

    The clean reward is drawn first, so that the function may use it. The hits are those of a fair coin.
    """

    draw: Draw

    def __post_init__(self) -> None:
        if not callable(self.draw) or not takes(self.draw, 4):
            raise InputError(
                "adversary",
                "be a function of four arguments: generator, arm, pulls so far, clean reward",
                self.draw,
                "such as lambda rng, arm, pulls, clean: clean + 5.0",
            )

    @property
    def power(self) -> str:
        """What the adversary may use, as for an `Adversary`: the reward it replaces, while its coin sees nothing."""
        return powers.CAUSAL

    @property
    def contaminations(self) -> tuple[str, ...]:
        """The contamination models that it obeys, as for an `Adversary`."""
        return _covering(self.power)


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


def TwoPoints(values: ArrayLike, others: ArrayLike, share: float = 0.5) -> Adversary:  # noqa: N802
    """A contaminated reward is one value with probability `share` in [0, 1], and the other value otherwise.

    Both are one number for all arms or one for each.

    >>> TwoPoints([-1000.0, 1000.0], [1000.0, -1000.0], share=0.9).reach(0.0, 1.0)
    (-1000.0, 1000.0)
    """
    if not 0.0 <= number(share) <= 1.0:
        raise InputError("share", "be in [0, 1]", share, "it is the probability of the first of the two values")
    piece = Piece(draws.TWO_POINTS, _values("values", values), _values("others", others), c=(float(share),))
    return Adversary((piece,))


def Shift(amounts: ArrayLike) -> Adversary:  # noqa: N802
    """A contaminated reward is the true one plus an amount, one for all arms or for each."""
    return _one(draws.SHIFT, _values("amounts", amounts))


def Drift(rates: ArrayLike, limit: float) -> Adversary:  # noqa: N802
    """A contaminated reward is the true one, moved by rate * (pulls of the arm so far), at most by `limit` >= 0.

    One rate for all arms or for each; a negative one moves rewards down.

    >>> Drift([-0.01, 0.01], limit=3.0).power
    'causal'
    """
    return _one(draws.DRIFT, _values("rates", rates), _spread("limit", limit))


def Reflect(points: ArrayLike) -> Adversary:  # noqa: N802
    """A contaminated reward is the mirror image 2 m - X of the true one X at a point m, one for all arms or for each.

    >>> Reflect(0.0).power
    'causal'
    """
    return _one(draws.REFLECT, _values("points", points))


def Extreme(sides: ArrayLike) -> Adversary:  # noqa: N802
    """A contaminated reward is the highest (side > 0) or lowest (< 0) of the arm's past and next 32 true rewards.

    So it is as far away as a reward can be without standing out. One side for all arms or for each.

    >>> Extreme([-1, 1]).power
    'prescient'
    """
    return _one(draws.FORESEE, _sides(sides))


def WhiteBox(sides: ArrayLike, otherwise: ArrayLike) -> Adversary:  # noqa: N802
    """A contaminated reward is the value that hurts the certified method most in its present state.

    For simulations. The side is -1 for the best arm, whose evidence it hurts, and 1 for all others. Against other
    methods, and before there is any evidence, it plays the values `otherwise`.

    >>> WhiteBox([-1, 1], [1.0, 2.5]).power
    'causal'
    """
    return Adversary((Piece(draws.WHITE_BOX, _values("otherwise", otherwise), _sides(sides)),))


def _sides(sides: ArrayLike) -> tuple[float, ...]:
    values = _values("sides", sides)
    if 0.0 in values:
        raise InputError("sides", "be positive or negative", sides, "1 for the highest reward, -1 for the lowest")
    return values


def Impersonate(targets: ArrayLike) -> Adversary:  # noqa: N802
    """Contaminated rewards are drawn from the clean law of another arm, given by index: one for all arms or for each.

    >>> Impersonate([1, 0]).power  # two arms pose as each other
    'oblivious'
    """
    return _one(draws.IMPERSONATE, _values("targets", targets))


def Selective(adversary: Adversary, tails: str | Sequence[str] = "top") -> Adversary:  # noqa: N802
    """Replace the rewards that hurt most, not those that a fair coin picks: a malicious adversary (ABM19).

    The coin picks a reward if it is among the epsilon highest ("top") or lowest ("bottom") of the arm's clean law, with
    the bandit's epsilon and law. At an atom of a discrete law it picks with the probability that makes the rate
    epsilon. So each reward is still replaced with probability epsilon, but not independently of its value.

    Parameters
    ----------
    adversary : Adversary
        The law of the replaced rewards.
    tails : str or a sequence of str, one for each arm
        "top", "bottom", or "fair" for an arm with a fair coin.

    >>> Selective(Point([0.0, 5.0]), ["top", "bottom"]).power
    'malicious'
    """
    _check_no_rule(adversary)
    names = _names("tails", tails, tuple(TAILS))
    return _with_coins(adversary, tuple(TAILS[name] for name in names))


def Oblivious(adversary: Adversary) -> Adversary:  # noqa: N802
    """Check that an adversary is oblivious (MTCD21, definition "Oblivious adversary").

    Its coins and values are independent of the true rewards, as MTCD21 assumes. Any other adversary is rejected.

    >>> Oblivious(Uniform([1.0, 2.0])).power
    'oblivious'
    """
    return _at_most(powers.OBLIVIOUS, adversary)


def Prescient(adversary: Adversary) -> Adversary:  # noqa: N802
    """Check that an adversary is at most prescient (MTCD21, "Related Literature"; ABM19): the coin sees no reward.

    The values may depend on all true rewards. A malicious one is rejected. `contamination="prescient"` covers the rest.

    >>> Prescient(Extreme([-1, 1])).power
    'prescient'
    """
    return _at_most(powers.PRESCIENT, adversary)


def Malicious(adversary: Adversary) -> Adversary:  # noqa: N802
    """Check that an adversary is at most malicious (MTCD21, "Related Literature"; ABM19): the coin may see the reward.

    One that goes by a share or in bursts is rejected. `contamination="malicious"` covers the rest.

    >>> Malicious(Selective(Point(5.0))).power
    'malicious'
    """
    return _at_most(powers.MALICIOUS, adversary)


def Quota(adversary: Adversary, pick: str | Sequence[str] = "spread") -> Adversary:  # noqa: N802
    """Replace at most floor(epsilon n) of the first n rewards of each arm, at every n: a share that is never exceeded.

    So the first replaced reward of an arm is its 1/epsilon-th at the earliest.

    Parameters
    ----------
    adversary : Adversary
        The law of the replaced rewards; by itself it must pick hits by a fair coin.
    pick : str or a sequence of str, one for each arm
        "spread" hits as soon as the quota allows, about every 1/epsilon-th reward. "random" tosses a coin of rate
        1.5 epsilon while the quota allows, so that hits are not periodic and stay about one behind the quota. "top"
        and "bottom" hit, while the quota allows, rewards among the epsilon highest or lowest of the arm's clean law, as
        `Selective` does; they fall behind the quota by about its square root.

    >>> from bestarm.bandits import Bandit, Bernoulli
    >>> stream = Bandit([Bernoulli(0.0), Bernoulli(0.0)], epsilon=0.4, adversary=Quota(Point(9.0))).stream(seed=1)
    >>> [stream.pull(0) for _ in range(10)]  # floor(0.4 n) = 0 0 1 1 2 2 2 3 3 4
    [0.0, 0.0, 9.0, 0.0, 9.0, 0.0, 0.0, 9.0, 0.0, 9.0]
    """
    _check_fair(adversary)
    picks = _names("pick", pick, PICKS)
    chosen = _with_coins(adversary, tuple(TAILS.get(name, draws.FAIR) for name in picks))
    return dataclasses.replace(chosen, hits=Hits(draws.SHARE_OF_ARM, picks=picks))


def Bursts(adversary: Adversary, length: int = 50) -> Adversary:  # noqa: N802
    """Replace whole runs of rewards: one coin of rate epsilon for each `length` >= 2 consecutive rewards of an arm.

    Every single reward is replaced with probability epsilon, but not independently of its neighbours. Promises under
    independent coins need not hold against this adversary, nor promises under a share.

    >>> Bursts(Point(9.0), length=20).power
    'bursts'
    """
    _check_fair(adversary)
    size = number(length)
    if not (2.0 <= size < 2.0**53 and size % 1.0 == 0.0):
        raise InputError("length", "be a whole number >= 2", length, "with 1, coins would be fair: leave Bursts out")
    return dataclasses.replace(adversary, hits=Hits(draws.BLOCKS, length=int(size)))


def OneArm(adversary: Adversary, arm: int) -> Adversary:  # noqa: N802
    """Put all fakes on one arm, given by index: floor(epsilon N) of the N rewards of all arms, none on other arms.

    A reward of that arm is replaced whenever the share of all rewards so far, itself included, allows one more fake. So
    all of its rewards may be fake if it has no more than a share epsilon of the pulls.

    >>> from bestarm.bandits import Bandit, Bernoulli
    >>> stream = Bandit([Bernoulli(0.0), Bernoulli(0.0)], epsilon=0.4, adversary=OneArm(Point(9.0), 1)).stream(seed=1)
    >>> [stream.pull(t % 2) for t in range(10)]  # floor(0.4 N) = 0 0 1 1 2 2 2 3 3 4
    [0.0, 0.0, 0.0, 9.0, 0.0, 9.0, 0.0, 9.0, 0.0, 9.0]
    """
    _check_fair(adversary)
    index = number(arm)
    if not (0.0 <= index < 2.0**53 and index % 1.0 == 0.0):
        raise InputError("arm", "be the index of an arm, a whole number >= 0", arm, "the first arm has index 0")
    for piece in adversary.pieces:
        for values in (piece.a, piece.b):
            if len(values) > 1:
                _check_index(int(index), len(values))
    return dataclasses.replace(adversary, hits=Hits(draws.SHARE_OF_ALL, arm=int(index)))


def Schedule(pieces: Sequence[tuple[int, Adversary]], *, by: str = "total") -> Adversary:  # noqa: N802
    """An adversary Q_i(t) that changes over time: pairs (first pull, adversary), starting at pull 0.

    `by="total"` counts the pulls of all arms, as the paper's t; `by="arm"` counts those of the arm that is pulled.

    >>> frog = Schedule([(0, Shift(0.1)), (500, Shift(0.5)), (2000, Shift(1.0))])
    """
    if by not in ("total", "arm"):
        raise InputError("by", "be total or arm", by, "count the pulls of all arms or of the arm that is pulled")
    flat: list[Piece] = []
    for pair in pieces if isinstance(pieces, Iterable) else [pieces]:
        begin, adversary = pair if isinstance(pair, tuple | list) and len(pair) == 2 else (None, None)
        whole = isinstance(begin, int | float) and (begin != begin or (begin % 1.0 == 0.0 and begin < 2.0**53))
        if not whole or not isinstance(adversary, Adversary) or len(adversary.pieces) != 1:
            raise InputError("pieces", "be pairs (first pull, adversary)", pair, "such as (0, Point(5.0))")
        if adversary.hits.rule != draws.ANY:
            raise InputError("pieces", "have no Quota, Bursts or OneArm", pair, "put that around the schedule")
        flat.append(dataclasses.replace(adversary.pieces[0], begin=begin))
    begins = [piece.begin for piece in flat]
    if not begins or begins[0] != 0 or any(not one < other for one, other in itertools.pairwise(begins)):
        raise InputError("pieces", "begin at pull 0 and go up", begins, "sort them, and let the first begin at 0")
    return Adversary(tuple(flat), own_count=by == "arm")


def paper_adversary(
    means: ArrayLike, epsilon: float, seed: Seed, *, margin: float = 0.5, reach: float = 1.0
) -> Adversary:
    """Return the adversary of the paper's experiments: uniform around random centres that keep the best arm best.

    The paper says no more than that. We draw c_i ~ Uniform[min mu - reach, max mu + reach], let
    Q_i = Uniform[c_i - 1, c_i + 1], and redraw until the best arm of (1 - epsilon) mu + epsilon c is still the best,
    and leads by at least `margin` times its true lead over each arm. Reading #17.

    Parameters
    ----------
    means : sequence of float
        True means, with one largest.
    epsilon : float in [0, 0.5)
        Share of contaminated rewards.
    seed : int, SeedSequence or Generator
        Seed of the draw.
    margin : float in [0, 1 - epsilon]
        By default half of every gap remains. With 0 a gap may all but vanish, and the pulls have no useful mean.
    reach : float > 0
        How far centres may be from the means.

    >>> paper_adversary([2.5, 2.3, 2.0, 0.6], 0.1, seed=1) == paper_adversary([2.5, 2.3, 2.0, 0.6], 0.1, seed=1)
    True
    """
    mu = numbers(means)
    (epsilon,) = checked(epsilon=epsilon)
    if mu.size < 2 or np.flatnonzero(mu == mu.max(initial=-np.inf)).size != 1:
        raise InputError(
            "means", "be at least two finite numbers with one largest", means, "a tie has no best arm to keep"
        )
    if not 0.0 <= number(margin) <= 1.0 - epsilon:
        reason = "it is the part of every gap that is left; more would ask of the adversary to help"
        raise InputError("margin", f"be in [0, {1.0 - epsilon:g}]", margin, reason)
    if not 0.0 < number(reach) <= 1e290:
        raise InputError("reach", "be a finite number > 0", reach, "it is how far centres may be from the means")
    rng = np.random.default_rng(checked_seed(seed))
    best = int(mu.argmax())
    others = np.delete(np.arange(mu.size), best)
    while True:
        centres = rng.uniform(mu.min() - reach, mu.max() + reach, mu.size)
        mixed = (1.0 - epsilon) * mu + epsilon * centres
        leads = mixed[best] - mixed[others]
        if (leads >= margin * (mu[best] - mu[others])).all() and (leads > 0.0).all():
            return Uniform(centres, 1.0)


def as_adversary(adversary: Any) -> Adversary | CustomAdversary | None:
    """Return an adversary unchanged, and wrap a bare function as a custom one."""
    if adversary is None or isinstance(adversary, Adversary | CustomAdversary):
        return adversary
    if callable(adversary):
        return CustomAdversary(adversary)
    raise InputError(
        "adversary", "be one of bestarm.adversaries, a function or None", adversary, "such as adversaries.Point(1000.0)"
    )


def _check_targets(targets: tuple[float, ...], arms: Sequence[Arm]) -> None:
    for target in targets:
        if target not in range(len(arms)) or not isinstance(arms[int(target)], CompiledArm):
            raise InputError(
                "targets",
                f"be indices below {len(arms)} of arms that are no functions",
                targets,
                "an arm's own index leaves it as it is",
            )


def _check_index(arm: int, arms: int) -> None:
    if arm >= arms:
        raise InputError("arm", f"be an index below {arms}", arm, "the first arm has index 0")


def _at_most(power: str, adversary: Adversary) -> Adversary:
    allowed = powers.COINS[: powers.COINS.index(power) + 1]
    if not isinstance(adversary, Adversary) or adversary.power not in allowed:
        uses = f"this one is {adversary.power}" if isinstance(adversary, Adversary) else "Point, Uniform, ... make one"
        raise InputError("adversary", f"be {' or '.join(allowed)}", adversary, uses)
    return adversary


def _check_no_rule(adversary: object) -> None:
    if not isinstance(adversary, Adversary):
        raise InputError("adversary", "be one of bestarm.adversaries", adversary, "such as Point(0.0)")
    if adversary.hits.rule != draws.ANY:
        raise InputError("adversary", "have no Quota, Bursts or OneArm", adversary, "one rule picks what is replaced")


def _check_fair(adversary: Adversary) -> None:
    _check_no_rule(adversary)
    if adversary.chooses:
        raise InputError("adversary", "have fair coins", adversary, "Quota has picks like the tails of Selective")


def _names(parameter: str, given: str | Sequence[str], allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names as a tuple: one for all arms, or one for each."""
    names = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if not names:
        raise InputError(parameter, "be one name for all arms or one for each", given, f"such as {allowed[0]}")
    for name in names:
        one_of(parameter, name, allowed)
    return names


def _with_coins(adversary: Adversary, coins: tuple[int, ...]) -> Adversary:
    return dataclasses.replace(
        adversary, pieces=tuple(dataclasses.replace(piece, tails=coins) for piece in adversary.pieces)
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
