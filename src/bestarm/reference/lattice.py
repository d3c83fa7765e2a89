"""Evidence of "certified" for sub-Gaussian rewards: sections 5 and 10 of docs/explanation/certified.md."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Final

import numpy as np

from bestarm.reference.evidence import Check, Floats, Mixture, Replacement, Start, upper_mean

SIZE: Final = 0.25  # w, the size of a cell
PARTS: Final = 64  # sub-cells of a cell
BELOW, ABOVE = 24, 23  # kept cells below and above the middle cell of an arm


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
    """The y at which a guarded bet takes its least value."""
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
    """The bets of section 5; weights are not yet divided by their sum."""
    z = statistics.NormalDist().inv_cdf(1 - epsilon)
    bets: list[LatticeBet] = []
    if contamination in ("causal", "prescient"):
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
    def __init__(self, arms: int, contamination: Replacement) -> None:
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

    def prices(self, check: Check) -> Floats:
        """Log prices of n rewards at the ends of sub-cells."""
        return check.n * self.log_levels + check.of_arm * self.mixture.odds

    def up(self, b: int, p: int, check: Check) -> Floats:
        """Raw up log evidence of b in sub-cell p: at its right end."""
        cell, part = divmod(p, PARTS)
        return np.asarray(self.log_sums(b, cell, True)[0] - self.prices(check)[part + 1])

    def down(self, a: int, p: int, check: Check) -> Floats:
        """Raw down log evidence of a in sub-cell p: at its left end, where d is as far from -w/2 as part from 64."""
        cell, part = divmod(p, PARTS)
        return np.asarray(self.log_sums(a, cell, False)[0] - self.prices(check)[PARTS - part])

    def log_W(self, b: int, p: int, a: int, q: int, check: Check) -> float:
        """Log W with m in sub-cell p and m' in sub-cell q."""
        return float(self.mixture.log_W(self.up(b, p, check), self.down(a, q, check), check.of_all))

    # ---- the search

    def edge(self, arm: int, first: int, up: bool, check: Check) -> int | None:
        """The first cell, going down from `first` (up-evidence) or up (down), where one arm alone is enough."""
        cell = self.arms[arm].nearest(first)
        while self.arms[arm].kept(cell):
            sums = self.log_sums(arm, cell, up) - self.prices(check)[PARTS]
            raw, flat = self.mixture.log_alone(sums, check.of_all)
            enough = check.e - math.log(self.mixture.alone)
            if raw >= enough and flat >= enough:
                return cell
            cell += -1 if up else 1
        return None

    def search(self, b: int, a: int, p: int, check: Check, shift: int = 0) -> Search:
        """Test whether W is enough everywhere, with m' at least `shift` sub-cells above m."""
        lower = self.edge(b, p // PARTS, True, check)
        upper = self.edge(a, (p + shift) // PARTS, False, check)
        if lower is None or upper is None:
            return Search(False)
        begin, end = (lower + 1) * PARTS, upper * PARTS - shift
        inside = range(begin, end)
        if not all(self.arms[b].kept(sub // PARTS) and self.arms[a].kept((sub + shift) // PARTS) for sub in inside):
            return Search(False)
        # m and m' in cells that are `shift` apart: m' is as low as can be.
        for sub in inside:
            if self.log_W(b, sub, a, sub + shift, check) < check.e:
                return Search(False, begin, end, sub)
        # m' in a higher cell than that: U at the right end of the sub-cells for which this is the next cell.
        for sub in inside:
            cells = sub // PARTS, (sub + shift) // PARTS
            if sub + 1 < end and cells == ((sub + 1) // PARTS, (sub + 1 + shift) // PARTS):
                continue
            for higher in range(cells[1] + 1, upper):
                if self.log_W(b, sub, a, higher * PARTS, check) < check.e:
                    return Search(False)
        return Search(True)

    def kept_by_both(self, b: int, a: int, p: int) -> bool:
        return self.arms[b].kept(p // PARTS) and self.arms[a].kept(p // PARTS)

    def middle(self, b: int, a: int, check: Check) -> int:
        m = (check.locations[b] + check.locations[a]) / 2
        return math.floor((m / SIZE + 1 / 2) * PARTS)

    def compare(self, b: int, a: int, check: Check, start: Start) -> bool:
        if check.n < start.waits_for:
            return False
        if start.p is None or not self.kept_by_both(b, a, start.p):
            start.p = self.middle(b, a, check)
        if self.kept_by_both(b, a, start.p) and self.log_W(b, start.p, a, start.p, check) < check.e:
            return False
        found = self.search(b, a, start.p, check)
        if found.proved:
            return True
        start.waits_for = check.n + 1 + check.n // 32
        if found.wanting is not None:
            start.p = self.descend(b, a, found.wanting, found, check)
        return False

    def descend(self, b: int, a: int, p: int, searched: Search, check: Check) -> int:
        """Walk from sub-cell p to where W is about least."""

        def height(p: int) -> float:
            return self.log_W(b, p, a, p, check) if searched.begin <= p < searched.end else math.inf

        for step in (32, 16, 8, 4, 2, 1):
            while True:
                if height(p - step) < height(p):
                    p -= step
                elif height(p + step) < height(p):
                    p += step
                else:
                    break
        return p

    def good_enough(self, b: int, a: int, check: Check, tau: float) -> bool:
        shift = -math.ceil(-tau / SIZE * PARTS)  # d = -tau in sub-cells, rounded up
        return self.search(b, a, self.middle(b, a, check), check, shift).proved

    # ---- section 10

    def hopeless(self, b: int, a: int, check: Check) -> bool:
        cells = [math.floor(check.locations[arm] / SIZE + 1 / 2) for arm in (b, a)]
        searched = range(min(cells) - 1, max(cells) + 2)
        if not all(self.kept_by_both(b, a, cell * PARTS) for cell in searched):
            return False
        own, shared = check.of_arm / check.n, check.of_all / check.n
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
