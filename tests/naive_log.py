"""The evidence of two arms of a log, all rewards at once: sections 3 to 6 and 13 of docs/explanation/certified.md.

Imports no kernel. Bets have the forms of the specification, `bestarm.reference`, in the families of section 13. Plain
sums over all rewards, raw evidence at many means: of a bounded pair the infimum (log W is convex), of a sub-Gaussian
one the least of many values, none of which is below the infimum.
"""

import math
import statistics
from dataclasses import dataclass

import numpy as np

from bestarm.reference.bounded import BoundedBet, bounded_bets
from bestarm.reference.evidence import Floats, Mixture
from bestarm.reference.lattice import SIZE, LatticeBet, smallest_guard


@dataclass
class Question:
    kind: str
    epsilon: float
    arms: int
    rows: int  # rewards of all arms, missing ones included

    @property
    def is_coin(self) -> bool:
        return self.kind in ("prescient", "malicious")

    def shared(self, missing: int) -> int:
        return math.floor(self.epsilon * self.rows + 1e-9) - missing if self.kind == "share-of-all" else 0

    def own(self, number: int, missing: int) -> int:
        return math.floor(self.epsilon * number + 1e-9) - missing if self.kind == "share-of-arm" else 0

    def level(self, phi: Floats, most: Floats, least: Floats) -> Floats:
        if self.kind == "prescient":
            return (1 - self.epsilon) * phi + self.epsilon * most
        if self.kind == "malicious":
            return phi + self.epsilon * (most - least)
        return phi


def lattice_log_bets(kind: str) -> list[LatticeBet]:
    """One family for every epsilon; weights are not yet divided by their sum."""
    few, many = (statistics.NormalDist().inv_cdf(1 - rate) for rate in (0.005, 0.1))
    if kind == "prescient":
        first = [(0.3, many, 1.0), (0.1, many, 1.0), (0.3, few, 1.0), (0.1, few, 1.0), (0.1 / 3, few, 1.0)]
        bets = [LatticeBet(-2.2, a, smallest_guard(-2.2, a), z + 0.45, w) for a, z, w in [*first, (0.1 / 9, few, 0.5)]]
        bets += [LatticeBet(-1.2, 0.5, 0.2 * 0.5, many + 0.2, 1.0), LatticeBet(-1.2, 0.3, 0.4 * 0.3, many, 1.0)]
        bets += [LatticeBet(-1.2, 0.12, 0.3 * 0.12, many + 0.1, 1.0), LatticeBet(-0.5, 1.17, 1.17, many, 1.0)]
        return bets + [LatticeBet(1.2, 0.0, 0.95, z + 0.9, 1.0) for z in (many, few)]
    bets = [LatticeBet(-1.3, a, 0.27 * a, many, 1.0) for a in (0.4, 0.12)]
    bets += [LatticeBet(-0.5, a, a, many, 1.0) for a in (0.8, 0.35, 0.14, 0.055)]
    bets += [LatticeBet(-0.5, a, a, few, 1.0) for a in (0.35, 0.14, 0.055, 0.055 / 2.6)]
    bets += [LatticeBet(-0.5, 0.055 / 2.6**2, 0.055 / 2.6**2, few, 0.5)]
    return [*bets, LatticeBet(1.2, 0.0, 0.7, few + 0.9, 1.0)]


def bounded_log_bets() -> list[BoundedBet]:
    """Half of the weight as for epsilon = 0, half as for others; eight small ones."""
    clean = {(bet.r, bet.c): bet.weight for bet in bounded_bets(0.0)}
    large = [bet for bet in bounded_bets(0.1) if not bet.small]
    bets = [BoundedBet(bet.r, bet.c, (bet.weight + clean.get((bet.r, bet.c), 0.0)) / 2, False) for bet in large]
    return bets + [BoundedBet(0.04 / 2**i, 1.0, 0.03 / (i * (i + 1)), False) for i in range(1, 9)]


def log_W_bounded(question: Question, better: Floats, worse: Floats, lost: tuple[int, int] = (0, 0)) -> float:
    """log of the infimum over m of W(b, a), for rewards in [0, 1]."""
    bets = bounded_log_bets()
    u, clip = np.array([bet.u for bet in bets]), np.array([bet.c for bet in bets])
    most, least = 1 + u * clip, np.ones(len(bets))
    mixture = Mixture(np.log([bet.weight for bet in bets]), np.log(most), 0.88, 0.08, 0.02)
    up = np.array([math.fsum(np.log(1 + u[j] * np.minimum(better, clip[j]))) for j in range(len(bets))])
    down = np.array([math.fsum(np.log(1 + u[j] * np.minimum(1 - worse, clip[j]))) for j in range(len(bets))])
    n, n_two = len(better) + lost[0], len(worse) + lost[1]
    up -= question.own(n, lost[0]) * mixture.odds
    down -= question.own(n_two, lost[1]) * mixture.odds
    c = question.shared(sum(lost))

    def height(m: float) -> float:
        rising, falling = 1 + u * np.minimum(m, clip), 1 + u * np.minimum(1 - m, clip)
        ups = up - n * np.log(question.level(rising, most, least))
        downs = down - n_two * np.log(question.level(falling, most, least))
        return float(mixture.log_W(ups, downs, c))

    low, high = 0.0, 1.0
    for _ in range(200):  # thirds of a convex function
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, two) if height(one) <= height(two) else (one, high)
    return min(height(0.0), height(0.5 * (low + high)), height(1.0))


def log_W_lattice(question: Question, better: Floats, worse: Floats, lost: tuple[int, int] = (0, 0)) -> float:
    """log of the least W(b, a) at many pairs of means m <= m', for rewards in units of sigma."""
    bets = lattice_log_bets(question.kind)
    weights = np.array([bet.weight for bet in bets])
    most, least = np.array([bet.C for bet in bets]), np.array([bet.least for bet in bets])
    mixture = Mixture(np.log(weights / weights.sum()), np.log(most / least), 0.6, 0.3, 0.05)
    n, n_two = len(better) + lost[0], len(worse) + lost[1]
    c = question.shared(sum(lost))

    def evidence(rewards: Floats, cell: int, d: float, sign: float, number: int, missing: int) -> Floats:
        y = sign * (rewards - cell * SIZE)
        sums = np.array([math.fsum(np.log(bet.h(y))) for bet in bets]) + missing * np.log(least)
        phi = np.array([float(bet.phi(np.array([sign * d]))[0]) for bet in bets])
        price = number * np.log(question.level(phi, most, least)) + question.own(number, missing) * mixture.odds
        return np.asarray(sums - price)

    middles = np.median(better), np.median(worse)
    first, last = math.floor(min(middles) / SIZE) - 2, math.ceil(max(middles) / SIZE) + 2
    found = math.inf
    steps = np.linspace(-SIZE / 2, SIZE / 2, 65)
    for cell in range(first, last + 1):
        ups = [evidence(better, cell, d, 1.0, n, lost[0]) for d in steps]
        downs = [evidence(worse, cell, d, -1.0, n_two, lost[1]) for d in steps]
        found = min(found, *(float(mixture.log_W(one, two, c)) for one, two in zip(ups, downs, strict=True)))
        for other in range(cell + 1, last + 1):
            beyond = evidence(worse, other, -SIZE / 2, -1.0, n_two, lost[1])
            found = min(found, float(mixture.log_W(ups[-1], beyond, c)))
    return found
