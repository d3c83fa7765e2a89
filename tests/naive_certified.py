"""The method "certified" in its slowest and most literal form, after docs/explanation/certified.md alone.

It imports nothing from the package. "Section 5" is a section of that document. Every evidence is computed wherever the
document speaks of it: all cells and all sub-cells, log h of each reward added up, logarithms and sums over all bets.
Nothing is skipped but what section 12 makes part of the method: the waiting after a search that failed, and slot 1
except at multiples of 4.
"""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Status = Literal["identified", "indistinguishable", "undecided"]
Limit = Literal["contamination", "resolution"]
Floats = NDArray[np.float64]

SIZE: Final = 0.25  # w, the size of a cell
PARTS: Final = 64  # sub-cells of a cell
BELOW, ABOVE = 24, 23  # kept cells below and above the middle cell of an arm


def log_sum(terms: Floats) -> Floats:
    """log of the sum of exp over the last axis; minus infinity stands for no evidence."""
    top = np.max(terms, axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", under="ignore"):
        return np.asarray(np.log(np.sum(np.exp(terms - top), axis=-1)) + top[..., 0])


# ---------------------------------------------------------------- section 3: contamination is a price


@dataclass
class Contamination:
    kind: str
    epsilon: float
    share_from: float | None
    arms: int

    def __post_init__(self) -> None:
        if self.kind not in ("prescient", "malicious", "share-of-arm", "share-of-all"):
            raise ValueError(f"unknown contamination {self.kind!r}")

    def count(self, n: int, N: int) -> tuple[int, int]:
        """The c of each arm, and the c of all arms together, after n rounds and N rewards of all arms."""
        if self.epsilon == 0:
            return 0, 0
        n0 = 1 / self.epsilon if self.share_from is None else self.share_from
        of_arm = of_all = 0
        if self.kind == "share-of-arm":
            of_arm = math.floor(self.epsilon * max(n, n0) + 1e-9)
        if self.kind == "share-of-all":
            of_all = math.floor(self.epsilon * max(N, self.arms * n0) + 1e-9)
        return of_arm, of_all

    def level(self, phi: Floats, least: Floats, most: Floats) -> Floats:
        """The price of n rewards is n times the logarithm of this, and odds for each of those that are counted."""
        if self.kind == "prescient":
            return (1 - self.epsilon) * phi + self.epsilon * most
        if self.kind == "malicious":
            return phi + self.epsilon * (most - least)
        return phi


# ---------------------------------------------------------------- section 4: the pair


@dataclass
class Mixture:
    """The bets of both arms: their weights, odds, and the weights of the terms of a pair."""

    log_weights: Floats
    odds: Floats
    same: float
    product: float
    alone: float

    def log_terms(self, up: Floats, down: Floats, c: int) -> Floats:
        """Logs of all terms of W, from raw log evidence with the bets along the last axis."""
        lw, odds = self.log_weights, self.odds
        pairs = (lw + up)[..., :, None] + (lw + down)[..., None, :] - c * np.maximum(odds[:, None], odds[None, :])
        return np.concatenate(
            [
                math.log(self.same) + lw + up + down - c * odds,
                math.log(self.product) + pairs.reshape(*pairs.shape[:-2], -1),
                math.log(self.alone) + lw + up - c * odds,
                math.log(self.alone) + lw + down - c * odds,
            ],
            axis=-1,
        )

    def log_W(self, up: Floats, down: Floats, c: int) -> Floats:
        return log_sum(self.log_terms(up, down, c))

    def log_alone(self, evidence: Floats, c: int) -> Floats:
        return log_sum(self.log_weights + evidence - c * self.odds)

    def can_grow(self, up: Floats, down: Floats, c_per_reward: float) -> bool:
        """Section 10: is there a term of W above its price, from the excess of log means over log prices?"""
        one = np.any(up > c_per_reward * self.odds) or np.any(down > c_per_reward * self.odds)
        both = up[:, None] + down[None, :] > c_per_reward * np.maximum(self.odds[:, None], self.odds[None, :])
        return bool(one or (c_per_reward > 0 and np.any(both)))


@dataclass
class Start:
    """What slot and arm remember: where the next comparison starts, and the round that it waits for."""

    p: int | None = None  # a sub-cell
    waits_for: int = 0


@dataclass
class Look:
    n: int
    of_arm: int
    of_all: int
    e: float
    locations: list[float]


class Engine(Protocol):
    """What the rounds of section 12 need to know of the rewards, which come in units of sigma or of the bounds."""

    def tell(self, arm: int, reward: float) -> None: ...

    def locate(self, arm: int) -> float:
        """Location, from all rewards so far."""
        ...

    def compare(self, b: int, a: int, look: Look, start: Start) -> bool:
        """Step 3 of a look: is W(b, a) enough?"""
        ...

    def good_enough(self, b: int, a: int, look: Look, tau: float) -> bool: ...

    def hopeless(self, b: int, a: int, look: Look) -> bool:
        """Does contamination forbid more evidence of b against a?"""
        ...


def upper_mean(h: Floats) -> float:
    """Mean of h plus z standard errors (section 10)."""
    n = len(h)
    z = math.sqrt(2 * math.log(40 * (1 + math.log2(n)) ** 2))
    return float(np.mean(h) + z * np.std(h) / math.sqrt(n))


# ---------------------------------------------------------------- section 5: sub-Gaussian rewards


@dataclass
class LatticeBet:
    r: float
    a: float
    g: float
    clip: float
    weight: float

    def __post_init__(self) -> None:
        self.c0 = 1 - self.g
        if self.r < 0:
            self.y_least = least_at(self.r, self.a, self.g)
            self.C = 1 + self.a * max(self.clip, 0.3)
            self.least = self.c0 + self.a * self.y_least + self.g * math.exp(self.r * self.y_least - self.r**2 / 2)
        else:
            self.y_least = -math.inf
            self.C = self.c0 + self.g * math.exp(self.r * self.clip - self.r**2 / 2)
            self.least = self.c0

    def h(self, y: Floats) -> Floats:
        with np.errstate(over="ignore", under="ignore"):
            return np.minimum(self.C, self.c0 + self.a * y + self.g * np.exp(self.r * y - self.r**2 / 2))

    def phi(self, d: Floats) -> Floats:
        return np.minimum(self.C, self.c0 + self.a * d + self.g * np.exp(self.r * d))


def least_at(r: float, a: float, g: float) -> float:
    """The y at which a bet with a guard is least."""
    return -(math.log(a / (g * abs(r))) + r**2 / 2) / abs(r)


def smallest_guard(r: float, a: float) -> float:
    """The smallest g >= 1e-9 with a least value of 0.15 or more."""

    def least(g: float) -> float:
        y = least_at(r, a, g)
        return 1 - g + a * y + g * math.exp(r * y - r**2 / 2)

    low, high = 1e-9, a / abs(r)  # the least value rises with g up to a / |r|
    if least(low) >= 0.15:
        return low
    while True:
        g = (low + high) / 2
        if g in (low, high):
            return high
        if least(g) >= 0.15:
            high = g
        else:
            low = g


def lattice_bets(contamination: str, epsilon: float) -> list[LatticeBet]:
    """The families; weights are not yet divided by their sum."""
    z = statistics.NormalDist().inv_cdf(1 - epsilon)
    bets: list[LatticeBet] = []
    if contamination == "prescient":
        bets += [LatticeBet(-2.2, a, smallest_guard(-2.2, a), z + 0.45, 1.0) for a in (0.3, 0.1)]
        for i in range(1, 6):
            a = 0.1 / 3**i
            if a >= epsilon / 2:
                bets.append(LatticeBet(-2.2, a, smallest_guard(-2.2, a), z + 0.45, 2.0**-i))
        bets += [LatticeBet(-1.2, 0.5, 0.2 * 0.5, z + 0.2, 1.0)]
        bets += [LatticeBet(-1.2, 0.3, 0.4 * 0.3, z, 1.0)]
        bets += [LatticeBet(-1.2, 0.12, 0.3 * 0.12, z + 0.1, 1.0)]
        bets += [LatticeBet(-0.5, 1.17, 1.17, z, 1.0)]
        bets += [LatticeBet(1.2, 0.0, 0.95, z + 0.9, 1.0)]
    else:
        bets += [LatticeBet(-1.3, a, 0.27 * a, z, 1.0) for a in (0.4, 0.12)]
        bets += [LatticeBet(-0.5, a, a, z, 1.0) for a in (0.8, 0.35, 0.14, 0.055)]
        for i in range(1, 6):
            a = 0.055 / 2.6**i
            if a >= epsilon / 2:
                bets.append(LatticeBet(-0.5, a, a, z, 2.0**-i))
        bets += [LatticeBet(1.2, 0.0, 0.7, z + 0.9, 1.0)]
    return bets


@dataclass
class LatticeArm:
    rewards: list[float]
    middle: int | None = None

    def kept(self, cell: int) -> bool:
        return self.middle is not None and self.middle - BELOW <= cell <= self.middle + ABOVE

    def nearest(self, cell: int) -> int:
        assert self.middle is not None
        return min(max(cell, self.middle - BELOW), self.middle + ABOVE)


@dataclass
class Search:
    proved: bool
    begin: int = 0  # the sub-cells searched, from this one
    end: int = 0  # up to this one, which is not searched
    wanting: int | None = None  # lowest sub-cell where W is not enough


class Lattice:
    def __init__(self, arms: int, contamination: Contamination) -> None:
        self.contamination = contamination
        self.bets = lattice_bets(contamination.kind, contamination.epsilon)
        self.least = np.array([bet.least for bet in self.bets])
        self.most = np.array([bet.C for bet in self.bets])
        weights = np.array([bet.weight for bet in self.bets])
        odds = np.log(self.most / self.least)
        self.mixture = Mixture(np.log(weights / weights.sum()), odds, 0.6, 0.3, 0.05)
        self.arms = [LatticeArm([]) for _ in range(arms)]
        self.sums: dict[tuple[int, int, bool], tuple[int, Floats]] = {}  # by arm, cell, is it up
        # Log prices of a reward at the ends of sub-cells, d = -w/2, ..., w/2.
        d = (np.arange(PARTS + 1) / PARTS - 1 / 2) * SIZE
        phi = np.stack([bet.phi(d) for bet in self.bets], axis=-1)
        self.log_levels = np.log(contamination.level(phi, self.least, self.most))

    def tell(self, arm: int, reward: float) -> None:
        self.arms[arm].rewards.append(reward)

    def locate(self, arm: int) -> float:
        record = self.arms[arm]
        last = sorted(record.rewards[-1023:])
        location = last[len(last) // 2]
        cell = math.floor(location / SIZE + 1 / 2)
        if record.middle is None or abs(cell - record.middle) > 8:
            record.middle = cell
        return location

    # ---- evidence

    def log_sums(self, arm: int, cell: int, up: bool) -> Floats:
        """Sums of log h (row 0) and of the log of the flat bets (row 1) over all rewards, reward by reward."""
        rewards = self.arms[arm].rewards
        done, sums = self.sums.get((arm, cell, up), (0, np.zeros((2, len(self.bets)))))
        if done == len(rewards):
            return sums
        x = np.array(rewards[done:])
        y = x - cell * SIZE if up else cell * SIZE - x
        logs = [[np.log(bet.h(y)), np.log(bet.h(np.maximum(y, bet.y_least)))] for bet in self.bets]
        sums = np.asarray(sums + np.sum(np.array(logs), axis=-1).T)
        self.sums[arm, cell, up] = len(rewards), sums
        return sums

    def prices(self, look: Look) -> Floats:
        """Of n rewards, at the ends of sub-cells."""
        return look.n * self.log_levels + look.of_arm * self.mixture.odds

    def up(self, b: int, p: int, look: Look) -> Floats:
        """Raw up log evidence of b in sub-cell p: at its right end."""
        cell, part = divmod(p, PARTS)
        return np.asarray(self.log_sums(b, cell, True)[0] - self.prices(look)[part + 1])

    def down(self, a: int, p: int, look: Look) -> Floats:
        """Raw down log evidence of a in sub-cell p: at its left end, where d is as far from -w/2 as part from 64."""
        cell, part = divmod(p, PARTS)
        return np.asarray(self.log_sums(a, cell, False)[0] - self.prices(look)[PARTS - part])

    def log_W(self, b: int, p: int, a: int, q: int, look: Look) -> float:
        """With m in sub-cell p and m' in sub-cell q."""
        return float(self.mixture.log_W(self.up(b, p, look), self.down(a, q, look), look.of_all))

    # ---- the search

    def edge(self, arm: int, first: int, up: bool, look: Look) -> int | None:
        """The first cell from `first` downwards (up-evidence) or upwards (down) where one arm alone is enough."""
        cell = self.arms[arm].nearest(first)
        while self.arms[arm].kept(cell):
            sums = self.log_sums(arm, cell, up) - self.prices(look)[PARTS]
            raw, flat = self.mixture.log_alone(sums, look.of_all)
            enough = look.e - math.log(self.mixture.alone)
            if raw >= enough and flat >= enough:
                return cell
            cell += -1 if up else 1
        return None

    def search(self, b: int, a: int, p: int, look: Look, shift: int = 0) -> Search:
        """Is W enough everywhere, with m' at least `shift` sub-cells above m?"""
        lower = self.edge(b, p // PARTS, True, look)
        upper = self.edge(a, (p + shift) // PARTS, False, look)
        if lower is None or upper is None:
            return Search(False)
        begin, end = (lower + 1) * PARTS, upper * PARTS - shift
        inside = range(begin, end)
        if not all(self.arms[b].kept(sub // PARTS) and self.arms[a].kept((sub + shift) // PARTS) for sub in inside):
            return Search(False)
        # m and m' in cells that are `shift` apart: m' is as low as can be.
        for sub in inside:
            if self.log_W(b, sub, a, sub + shift, look) < look.e:
                return Search(False, begin, end, sub)
        # m' in a higher cell than that: U at the right end of the sub-cells for which this is the next cell.
        for sub in inside:
            cells = sub // PARTS, (sub + shift) // PARTS
            if sub + 1 < end and cells == ((sub + 1) // PARTS, (sub + 1 + shift) // PARTS):
                continue
            for higher in range(cells[1] + 1, upper):
                if self.log_W(b, sub, a, higher * PARTS, look) < look.e:
                    return Search(False)
        return Search(True)

    def kept_by_both(self, b: int, a: int, p: int) -> bool:
        return self.arms[b].kept(p // PARTS) and self.arms[a].kept(p // PARTS)

    def middle(self, b: int, a: int, look: Look) -> int:
        m = (look.locations[b] + look.locations[a]) / 2
        return math.floor((m / SIZE + 1 / 2) * PARTS)

    def compare(self, b: int, a: int, look: Look, start: Start) -> bool:
        if look.n < start.waits_for:
            return False
        if start.p is None or not self.kept_by_both(b, a, start.p):
            start.p = self.middle(b, a, look)
        if self.kept_by_both(b, a, start.p) and self.log_W(b, start.p, a, start.p, look) < look.e:
            return False
        found = self.search(b, a, start.p, look)
        if found.proved:
            return True
        start.waits_for = look.n + 1 + look.n // 32
        if found.wanting is not None:
            start.p = self.descend(b, a, found.wanting, found, look)
        return False

    def descend(self, b: int, a: int, p: int, searched: Search, look: Look) -> int:
        """Where W is about least."""

        def height(p: int) -> float:
            return self.log_W(b, p, a, p, look) if searched.begin <= p < searched.end else math.inf

        for step in (32, 16, 8, 4, 2, 1):
            while True:
                if height(p - step) < height(p):
                    p -= step
                elif height(p + step) < height(p):
                    p += step
                else:
                    break
        return p

    def good_enough(self, b: int, a: int, look: Look, tau: float) -> bool:
        shift = -math.ceil(-tau / SIZE * PARTS)  # d = -tau in sub-cells, rounded up
        return self.search(b, a, self.middle(b, a, look), look, shift).proved

    # ---- section 10

    def hopeless(self, b: int, a: int, look: Look) -> bool:
        cells = [math.floor(look.locations[arm] / SIZE + 1 / 2) for arm in (b, a)]
        searched = range(min(cells) - 1, max(cells) + 2)
        if not all(self.kept_by_both(b, a, cell * PARTS) for cell in searched):
            return False
        own, shared = look.of_arm / look.n, look.of_all / look.n
        for cell in searched:
            x = np.array(self.arms[b].rewards) - cell * SIZE
            ups = np.log([upper_mean(bet.h(x)) for bet in self.bets]) - own * self.mixture.odds
            x = cell * SIZE - np.array(self.arms[a].rewards)
            downs = np.log([upper_mean(bet.h(x)) for bet in self.bets]) - own * self.mixture.odds
            for part in range(0, PARTS + 1, PARTS // 8):
                up, down = ups - self.log_levels[part], downs - self.log_levels[PARTS - part]
                if not self.mixture.can_grow(up, down, shared):
                    return True
        return False


# ---------------------------------------------------------------- section 6: rewards with bounds


@dataclass
class BoundedBet:
    r: float
    c: float
    weight: float
    small: bool

    def __post_init__(self) -> None:
        self.u = math.exp(self.r) - 1
        self.C = 1 + self.u * self.c

    def log_h(self, x: float) -> float:
        """Of an up-bet; of a down-bet at 1 - x."""
        z = self.u * min(x, self.c)
        if self.small and 0 < x < 1:
            return z - z**2 / 2 + z**3 / 3 - z**4 / 4
        return math.log(1 + z)


def bounded_bets(epsilon: float) -> list[BoundedBet]:
    if epsilon == 0:
        weights, clips = (0.1, 0.12, 0.125, 0.125, 0.125, 0.125, 0.14, 0.14), {1.0: 1.0}
    else:
        weights, clips = (0.06, 0.1, 0.2, 0.24, 0.2, 0.1, 0.06, 0.04), {1.0: 0.78, 0.8: 0.11, 0.7: 0.11}
    bets = [
        BoundedBet(0.04 * 2**i, c, 0.97 * weight * share, False)
        for c, share in clips.items()
        for i, weight in enumerate(weights)
    ]
    small = 12 if epsilon == 0 else 6
    return bets + [BoundedBet(0.04 / 2**i, 1.0, 0.03 / (i * (i + 1)), True) for i in range(1, small + 1)]


class Bounded:
    def __init__(self, arms: int, contamination: Contamination) -> None:
        self.contamination = contamination
        self.bets = bounded_bets(contamination.epsilon)
        self.u = np.array([bet.u for bet in self.bets])
        self.clips = np.array([bet.c for bet in self.bets])
        self.most = np.array([bet.C for bet in self.bets])
        self.least = np.ones(len(self.bets))
        log_weights = np.log([bet.weight for bet in self.bets])
        self.mixture = Mixture(log_weights, np.log(self.most), 0.88, 0.08, 0.02)
        self.rewards: list[list[float]] = [[] for _ in range(arms)]
        self.ups = np.zeros((arms, len(self.bets)))
        self.downs = np.zeros((arms, len(self.bets)))

    def tell(self, arm: int, reward: float) -> None:
        self.rewards[arm].append(reward)
        self.ups[arm] += [bet.log_h(reward) for bet in self.bets]
        self.downs[arm] += [bet.log_h(1 - reward) for bet in self.bets]

    def locate(self, arm: int) -> float:
        return math.fsum(self.rewards[arm]) / len(self.rewards[arm])

    def log_level(self, m: float) -> Floats:
        phi = 1 + self.u * np.minimum(m, self.clips)
        return np.log(self.contamination.level(phi, self.least, self.most))

    def evidence(self, b: int, m: float, a: int, other: float, look: Look) -> tuple[Floats, Floats]:
        counted = look.of_arm * self.mixture.odds
        up = self.ups[b] - look.n * self.log_level(m) - counted
        down = self.downs[a] - look.n * self.log_level(1 - other) - counted
        return np.asarray(up), np.asarray(down)

    def log_W(self, b: int, m: float, a: int, other: float, look: Look) -> float:
        return float(self.mixture.log_W(*self.evidence(b, m, a, other, look), look.of_all))

    def least_log_W(self, b: int, a: int, look: Look, tau: float = 0.0) -> float:
        """Infimum over m and m' = m + tau, both in [0, 1], by the golden section: log W is convex."""

        def height(m: float) -> float:
            return self.log_W(b, m, a, min(1.0, m + tau), look)

        low, high = 0.0, 1 - tau
        least = min(height(low), height(high))
        golden = (math.sqrt(5) - 1) / 2
        left, right = high - golden * (high - low), low + golden * (high - low)
        at_left, at_right = height(left), height(right)
        while high - low > 1e-12:
            least = min(least, at_left, at_right)
            if at_left <= at_right:
                high, right, at_right = right, left, at_left
                left = high - golden * (high - low)
                at_left = height(left)
            else:
                low, left, at_left = left, right, at_right
                right = low + golden * (high - low)
                at_right = height(right)
        return least

    def compare(self, b: int, a: int, look: Look, start: Start) -> bool:
        return self.least_log_W(b, a, look) >= look.e

    def good_enough(self, b: int, a: int, look: Look, tau: float) -> bool:
        return self.least_log_W(b, a, look, tau) >= look.e

    # ---- section 10

    def hopeless(self, b: int, a: int, look: Look) -> bool:
        def log_means(x: Floats) -> Floats:
            means = [upper_mean(1 + bet.u * np.minimum(x, bet.c)) for bet in self.bets]
            return np.log(means) - look.of_arm / look.n * self.mixture.odds

        ups, downs = log_means(np.array(self.rewards[b])), log_means(1 - np.array(self.rewards[a]))
        means = [self.locate(b), self.locate(a)]
        low, high = max(min(means) - 0.15, 0.0), min(max(means) + 0.15, 1.0)
        for point in range(257):
            m = low + (high - low) * point / 256
            up, down = ups - self.log_level(m), downs - self.log_level(1 - m)
            if not self.mixture.can_grow(up, down, look.of_all / look.n):
                return True
        return False


# ---------------------------------------------------------------- section 7: no contamination


class Clean:
    def __init__(self, arms: int) -> None:
        ladder = [(0.02 * 2.2**i, 0.95 / 7) for i in range(7)]
        ladder += [(0.02 / 2.2**i, 0.05 / (i * (i + 1))) for i in range(1, 21)]
        self.k = np.array([k for k, _ in ladder])
        self.log_weights = np.log([weight for _, weight in ladder])
        self.rewards: list[list[float]] = [[] for _ in range(arms)]

    def tell(self, arm: int, reward: float) -> None:
        self.rewards[arm].append(reward)

    def locate(self, arm: int) -> float:
        return math.fsum(self.rewards[arm]) / len(self.rewards[arm])

    def log_W(self, b: int, a: int, n: int, tau: float) -> float:
        lead = math.fsum(self.rewards[b]) - math.fsum(self.rewards[a]) + n * tau
        return float(log_sum(self.log_weights + self.k * lead - n * self.k**2))

    def compare(self, b: int, a: int, look: Look, start: Start) -> bool:
        return self.log_W(b, a, look.n, 0.0) >= look.e

    def good_enough(self, b: int, a: int, look: Look, tau: float) -> bool:
        return self.log_W(b, a, look.n, tau) >= look.e

    def hopeless(self, b: int, a: int, look: Look) -> bool:
        return False


# ---------------------------------------------------------------- section 12: the algorithm


@dataclass
class CertifiedTrajectory:
    """What a run did: the arm of every pull in order, and what it found."""

    arms: list[int]
    status: Status
    answer: int | None  # None unless identified
    candidates: list[int]  # survivors
    pulls: int
    limit: Limit | None


@dataclass
class Slot:
    champion: int | None
    starts: list[Start]


class Rounds:
    """Survivors, champions and what a look finds."""

    def __init__(
        self,
        arms: int,
        engine: Engine,
        contamination: Contamination,
        *,
        delta: float,
        resolution: float | None,
        good_enough: float | None,
    ) -> None:
        self.arms, self.engine, self.contamination = arms, engine, contamination
        self.e = math.log((arms - 1) / delta)
        self.resolution, self.tau = resolution, good_enough  # in units of sigma; tau in those of the engine
        self.survivors = list(range(arms))
        self.locations = [math.nan] * arms
        self.slots = [Slot(None, []), Slot(None, [])]
        self.answer: int | None = None
        self.limit: Limit | None = None

    def best_two(self) -> list[int]:
        return sorted(self.survivors, key=lambda i: (-self.locations[i], i))[:2]

    def renew_champions(self) -> None:
        champions = self.best_two()
        for slot in self.slots:
            if slot.champion not in champions:
                slot.champion = None
        seated = [slot.champion for slot in self.slots]
        for champion in sorted(champions):
            if champion not in seated:
                slot = next(slot for slot in self.slots if slot.champion is None)
                slot.champion, slot.starts = champion, [Start() for _ in range(self.arms)]

    def look(self, n: int, N: int) -> bool:
        """After round n; True if this is the end."""
        if n & (n - 1) == 0:  # 1.
            for i in self.survivors:
                self.locations[i] = self.engine.locate(i)
            self.renew_champions()
        look = Look(n, *self.contamination.count(n, N), self.e, self.locations)  # 2.
        for a in list(self.survivors):  # 3.
            for number, slot in enumerate(self.slots):
                b = slot.champion
                if b is None or b == a or b not in self.survivors or a not in self.survivors:
                    continue
                if number == 1 and n % 4 != 0:
                    continue
                if self.engine.compare(b, a, look, slot.starts[a]):
                    self.survivors.remove(a)
        if any(slot.champion not in self.survivors for slot in self.slots):  # 4.
            self.renew_champions()
        if len(self.survivors) == 1:
            self.answer = self.survivors[0]
            return True
        return self.give_up(n, look)

    def give_up(self, n: int, look: Look) -> bool:
        """Step 5 of a look."""
        if self.tau is not None:
            for slot in self.slots:
                champion = slot.champion
                assert champion is not None
                others = [a for a in self.survivors if a != champion]
                if all(self.engine.good_enough(champion, a, look, self.tau) for a in others):
                    self.answer = champion
                    return True
        if self.contamination.epsilon > 0 and asks_for_limit(n):
            b, a = self.best_two()
            if self.engine.hopeless(b, a, look) and self.engine.hopeless(a, b, look):
                self.limit = "contamination"
                return True
        if self.resolution is not None and n >= 4 * self.e / self.resolution**2:
            self.limit = "resolution"
            return True
        return False


def is_look(n: int, *, clean: bool) -> bool:
    """Whether pairs are looked at after round n.

    >>> [n for n in range(1, 20) if is_look(n, clean=False)], [n for n in range(60, 140) if is_look(n, clean=True)][:8]
    ([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18], [60, 61, 62, 63, 64, 66, 68, 70])
    """
    step: int = 2 ** max(0, math.floor(math.log2(n)) - 5)
    if not clean and 8 <= n < 64:
        step = 2
    return n % step == 0


def asks_for_limit(n: int) -> bool:
    """Is n one of 512, 768, 1024, 1536, ...?

    >>> [n for n in range(5000) if asks_for_limit(n)]
    [512, 768, 1024, 1536, 2048, 3072, 4096]
    """
    return any(n in (512 * 2**i, 768 * 2**i) for i in range(40))


def run_certified(
    pull: Callable[[int], float],
    arms: int,
    *,
    delta: float,
    epsilon: float,
    sigma: float | None = None,
    bounds: tuple[float, float] | None = None,
    contamination: str = "prescient",
    resolution: float | None = None,
    good_enough: float | None = None,
    share_from: float | None = None,
    max_pulls: int = 100_000,
) -> CertifiedTrajectory:
    """Run until an arm is named, or a limit is met, or `max_pulls` is reached.

    >>> run = run_certified(lambda arm: [0.0, 10.0, 0.0][arm], 3, delta=0.1, epsilon=0.0, sigma=1.0)
    >>> run.arms, run.status, run.answer, run.candidates
    ([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2], 'identified', 1, [1])
    """
    kind = Contamination(contamination, epsilon, share_from, arms)
    engine: Engine
    if bounds is not None:
        origin, unit, scale = bounds[0], bounds[1] - bounds[0], (bounds[1] - bounds[0]) / 2
        engine = Bounded(arms, kind)
    elif sigma is not None:
        origin, unit, scale = 0.0, sigma, sigma
        engine = Clean(arms) if epsilon == 0 else Lattice(arms, kind)
    else:
        raise ValueError("sigma or bounds must be given")
    if resolution is None and epsilon > 0:
        resolution = 0.05 * scale
    rounds = Rounds(
        arms,
        engine,
        kind,
        delta=delta,
        resolution=None if resolution is None else resolution / scale,
        good_enough=None if good_enough is None else good_enough / unit,
    )
    pulled: list[int] = []
    n = 0
    while True:
        n += 1
        for arm in list(rounds.survivors):
            if len(pulled) == max_pulls:
                return CertifiedTrajectory(pulled, "undecided", None, rounds.survivors, len(pulled), None)
            engine.tell(arm, (pull(arm) - origin) / unit)
            pulled.append(arm)
        if is_look(n, clean=isinstance(engine, Clean)) and rounds.look(n, len(pulled)):
            status: Status = "indistinguishable" if rounds.answer is None else "identified"
            return CertifiedTrajectory(pulled, status, rounds.answer, rounds.survivors, len(pulled), rounds.limit)
