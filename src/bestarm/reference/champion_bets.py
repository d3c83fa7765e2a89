"""The processes of "champions" for clean rewards and for rewards with bounds: section 19 of certified.md.

In a round the process of arm a has *ups* (rewards of its opponent) and *downs* (rewards of a). One of the two sides is
the champion, with many rewards, each at 1 / many of the strength of the one reward on the other side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from bestarm.reference.bounded import bounded_bets
from bestarm.reference.clean import Clean
from bestarm.reference.evidence import Floats, Mixture, least_convex, log_sum


@dataclass(frozen=True)
class Round:
    """The rewards of one round: `many` of the champion, and one of each other survivor."""

    champion: int
    second: int
    many: tuple[float, ...]
    one: dict[int, float]


def restarts(n: int, arms: int) -> tuple[list[int], Floats]:
    """The rounds after which copies of a process start that have begun by round n, and the logs of their weights.

    >>> restarts(5, 3)[0], [round(1 / float(weight)) for weight in np.exp(restarts(5, 3)[1])]
    ([0, 1, 2, 4], [2, 6, 12, 20])

    Of two arms, each has one opponent and nothing to forget:

    >>> restarts(5, 2)
    ([0], array([0.]))
    """
    if arms == 2:
        return [0], np.zeros(1)
    begin = [0, *(2**i for i in range(n.bit_length()) if 2**i < n)]
    return begin, np.array([-math.log((i + 1) * (i + 2)) for i in range(len(begin))])


@dataclass(frozen=True)
class Part:
    """What a round adds to the process of one arm: rewards of its opponent, and its own."""

    opponent: int
    ups: tuple[float, ...]
    downs: tuple[float, ...]


@dataclass
class Played:
    """The rewards of all rounds, and the part of each arm in them."""

    parts: dict[int, list[Part]] = field(default_factory=dict)

    def add(self, played: Round) -> None:
        for a, x in played.one.items():
            self.parts.setdefault(a, []).append(Part(played.champion, played.many, (x,)))
        second = (played.one[played.second],)
        self.parts.setdefault(played.champion, []).append(Part(played.second, second, played.many))

    def own(self, arm: int) -> list[float]:
        return [x for part in self.parts[arm] for x in part.downs]


@dataclass(frozen=True)
class Margin:
    """The claim to be refuted says that arm a is ahead of one arm by at least `tau`, and of all others at all."""

    over: int = -1
    tau: float = 0.0


NO_MARGIN = Margin()


def since(steps: Floats, begin: list[int]) -> Floats:
    """Sums of the rows from each of `begin` on."""
    return np.array([np.sum(steps[first:], axis=0) for first in begin])


# ------------------------------------------------------------------------------------------------------------- clean


class CleanEvidence:
    """Sub-Gaussian rewards, none of them replaced: the mean of the many against the one; m cancels."""

    def __init__(self, arms: int) -> None:
        bets = Clean(0)
        self.arms = arms
        self.k, self.log_weights = bets.k, bets.log_weights
        self.played = Played()
        self.steps: dict[int, list[tuple[float, float]]] = {}  # the lead of a round and its variance

    def add(self, played: Round) -> None:
        self.played.add(played)
        for a in (*played.one, played.champion):
            ups, downs = self.played.parts[a][-1].ups, self.played.parts[a][-1].downs
            lead = math.fsum(ups) / len(ups) - math.fsum(downs) / len(downs)
            self.steps.setdefault(a, []).append((lead, 1 / len(ups) + 1 / len(downs)))

    def locate(self, arm: int) -> float:
        own = self.played.own(arm)
        return math.fsum(own) / len(own)

    def log_W(self, a: int, margin: Margin = NO_MARGIN) -> float:
        gained = np.array([[margin.tau * (part.opponent == margin.over), 0.0] for part in self.played.parts[a]])
        steps = np.array(self.steps[a]) + gained
        begin, log_starts = restarts(len(steps), self.arms)
        lead, spread = since(steps, begin).T[:, :, None]
        terms = log_starts[:, None] + self.log_weights + self.k * lead - self.k**2 / 2 * spread
        return float(log_sum(terms.ravel()))

    def is_enough(self, a: int, e: float, margin: Margin = NO_MARGIN) -> bool:
        return self.log_W(a, margin) >= e


# ------------------------------------------------------------------------------------------------------------- bounds


class BoundedEvidence:
    """Rewards in [0, 1]: the bets of section 6, with u divided by the number of rewards of a side."""

    def __init__(self, arms: int, epsilon: float) -> None:
        bets = bounded_bets(epsilon)
        self.arms, self.epsilon = arms, epsilon
        self.u, self.clips = np.array([bet.u for bet in bets]), np.array([bet.c for bet in bets])
        self.mixture = Mixture(np.log([bet.weight for bet in bets]), np.zeros(len(bets)), 0.88, 0.08, 0.02)
        self.played = Played()
        self.steps: dict[int, list[tuple[Floats, Floats]]] = {}  # log h of the ups and the downs of a round

    def add(self, played: Round) -> None:
        self.played.add(played)
        for a in (*played.one, played.champion):
            part = self.played.parts[a][-1]
            logs = self.log_h(part.ups), self.log_h(tuple(1 - x for x in part.downs))
            self.steps.setdefault(a, []).append(logs)

    def locate(self, arm: int) -> float:
        own = self.played.own(arm)
        return math.fsum(own) / len(own)

    def log_h(self, rewards: tuple[float, ...]) -> Floats:
        """Sum of log h over the rewards of one side of a round."""
        u = self.u / len(rewards)
        return np.asarray(np.sum([np.log1p(u * np.minimum(x, self.clips)) for x in rewards], axis=0))

    def log_price(self, size: int, m: float) -> Floats:
        """Log price of one side of a round, of `size` rewards."""
        u = self.u / size
        phi, most = 1 + u * np.minimum(m, self.clips), 1 + u * self.clips
        return np.asarray(size * np.log((1 - self.epsilon) * phi + self.epsilon * most))

    def least_log_W(self, a: int, enough: float = -math.inf, margin: Margin = NO_MARGIN) -> float:
        """Infimum over m in [tau, 1]: log W is convex. A value below `enough` will do in its place."""
        parts = self.played.parts[a]
        begin, log_starts = restarts(len(parts), self.arms)
        ups, downs = (since(np.array(side), begin) for side in zip(*self.steps[a], strict=True))
        shape_of = [(len(part.ups), len(part.downs), part.opponent == margin.over) for part in parts]
        shapes = sorted(set(shape_of))
        rounds = {shape: since(np.array([float(one == shape) for one in shape_of]), begin)[:, None] for shape in shapes}

        def height(m: float) -> float:
            up, down = ups, downs
            for shape in shapes:
                many, few, ahead = shape
                up = up - rounds[shape] * self.log_price(many, m - margin.tau * ahead)
                down = down - rounds[shape] * self.log_price(few, 1 - m)
            return float(log_sum(log_starts + self.mixture.log_W(up, down, 0)))

        near = height(max(self.locate(a), margin.tau))
        return near if near < enough else least_convex(height, margin.tau, 1.0)

    def is_enough(self, a: int, e: float, margin: Margin = NO_MARGIN) -> bool:
        return self.least_log_W(a, e, margin) >= e
