"""The processes of "champions" for sub-Gaussian rewards with fakes: section 19 of docs/explanation/certified.md."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from bestarm.reference.champion_bets import NO_MARGIN, Margin, Part, Played, Round, restarts, since
from bestarm.reference.evidence import Floats, Mixture, log_sum
from bestarm.reference.lattice import PARTS, SIZE, LatticeBet, lattice_bets, smallest_guard

REACH: Final = 24  # cells looked at on each side of the middle


def shared_stake(bet: LatticeBet, size: int) -> LatticeBet:
    """The bet for each of `size` rewards that share the stake of one."""
    if size == 1:
        return bet
    if bet.r > 0:
        return LatticeBet(bet.r / size, 0.0, bet.g, bet.clip, bet.weight)
    a = bet.a / size
    return LatticeBet(bet.r, a, smallest_guard(bet.r, a) if bet.r == -2.2 else bet.g / size, bet.clip, bet.weight)


class Bets:
    """All bets for one size of a side, and their log prices at the ends of sub-cells."""

    def __init__(self, epsilon: float, size: int) -> None:
        self.bets = [shared_stake(bet, size) for bet in lattice_bets("causal", epsilon)]
        d = (np.arange(PARTS + 1) / PARTS - 1 / 2) * SIZE
        phi = np.stack([bet.phi(d) for bet in self.bets], axis=-1)
        most = np.array([bet.C for bet in self.bets])
        self.log_prices = size * np.log((1 - epsilon) * phi + epsilon * most)  # of a whole side

    def log_h(self, y: Floats) -> Floats:
        return np.array([np.sum(np.log(bet.h(y))) for bet in self.bets])

    def log_flat(self, y: Floats) -> Floats:
        return np.array([np.sum(np.log(bet.h(np.maximum(y, bet.y_least)))) for bet in self.bets])


class LatticeEvidence:
    """Sub-Gaussian rewards; ups and downs by the lattice of section 5."""

    def __init__(self, arms: int, epsilon: float) -> None:
        self.arms, self.epsilon = arms, epsilon
        weights = np.array([bet.weight for bet in lattice_bets("causal", epsilon)])
        self.mixture = Mixture(np.log(weights / weights.sum()), np.zeros(len(weights)), 0.6, 0.3, 0.05)
        self.played = Played()
        self.by_size: dict[int, Bets] = {}
        self.steps: dict[tuple[int, int, bool], list[tuple[Floats, Floats]]] = {}

    def add(self, played: Round) -> None:
        self.played.add(played)

    def locate(self, arm: int) -> float:
        last = sorted(self.played.own(arm)[-1023:])
        return last[len(last) // 2]

    def bets(self, size: int) -> Bets:
        if size not in self.by_size:
            self.by_size[size] = Bets(self.epsilon, size)
        return self.by_size[size]

    def logs(self, a: int, cell: int, up: bool) -> tuple[Floats, Floats]:
        """Log h, and log of the flat bets, for one side of every round of the process of arm a."""
        done = self.steps.setdefault((a, cell, up), [])
        for part in self.played.parts[a][len(done) :]:
            rewards = np.array(part.ups if up else part.downs)
            y = rewards - cell * SIZE if up else cell * SIZE - rewards
            bets = self.bets(len(rewards))
            done.append((bets.log_h(y), bets.log_flat(y)))
        raw, flat = zip(*done, strict=True)
        return np.array(raw), np.array(flat)

    def is_enough(self, a: int, e: float, margin: Margin = NO_MARGIN) -> bool:
        parts = self.played.parts[a]
        count: dict[int, int] = {}
        for part in parts:
            count[part.opponent] = count.get(part.opponent, 0) + 1
        main = max(count, key=lambda b: (count[b], -b))
        m = (self.locate(a) + self.locate(main)) / 2
        search = Search(self, a, parts, main, [b for b in count if b != main], e, margin)
        return search.is_enough(math.floor((m / SIZE + 1 / 2) * PARTS))


@dataclass
class Search:
    """One look at the process of arm a; arrays are by sub-cell (where there are several), by restart, by bet."""

    evidence: LatticeEvidence
    a: int
    parts: list[Part]
    main: int  # the opponent of most rounds
    others: list[int]
    e: float
    margin: Margin = NO_MARGIN
    known: dict[tuple[bool, int | None], Floats] = field(default_factory=dict)  # prices
    ups: dict[tuple[int, int, bool], Floats] = field(default_factory=dict)
    downs: dict[tuple[int, bool], Floats] = field(default_factory=dict)

    @cached_property
    def begin(self) -> list[int]:
        return restarts(len(self.parts), self.evidence.arms)[0]

    def prices(self, up: bool, opponent: int | None) -> Floats:
        """Log prices at the ends of sub-cells of the rounds with an opponent (of all rounds if None)."""
        if (up, opponent) in self.known:
            return self.known[up, opponent]
        total = np.zeros((PARTS + 1, len(self.begin), len(self.evidence.mixture.log_weights)))
        sizes = [len(part.ups if up else part.downs) for part in self.parts]
        for size in sorted(set(sizes)):
            played = [
                float(size == one and opponent in (None, part.opponent))
                for one, part in zip(sizes, self.parts, strict=True)
            ]
            rounds = since(np.array(played), self.begin)[:, None]
            total += rounds * self.evidence.bets(size).log_prices[:, None, :]
        self.known[up, opponent] = total
        return total

    def up(self, b: int, cell: int, *, flat: bool = False) -> Floats:
        """Raw up log evidence of opponent b in a cell, at the ends of its sub-cells."""
        if (b, cell, flat) not in self.ups:
            self.ups[b, cell, flat] = self.up_of(b, cell, flat)
        return self.ups[b, cell, flat]

    def up_of(self, b: int, cell: int, flat: bool) -> Floats:
        with_b = np.array([float(part.opponent == b) for part in self.parts])[:, None]
        logs = self.evidence.logs(self.a, cell, True)[1 if flat else 0]
        return np.asarray(since(logs * with_b, self.begin) - self.prices(True, b))

    def down(self, cell: int, *, flat: bool = False) -> Floats:
        """Raw down log evidence of arm a in a cell, at the ends of its sub-cells, from the left."""
        if (cell, flat) not in self.downs:
            logs = self.evidence.logs(self.a, cell, False)[1 if flat else 0]
            self.downs[cell, flat] = since(logs, self.begin) - self.prices(False, None)[::-1]
        return self.downs[cell, flat]

    def shift(self, b: int) -> int:
        """Sub-cells by which the mean of opponent b is below that of arm a, at least."""
        return math.floor(self.margin.tau / SIZE * PARTS + 1e-9) if b == self.margin.over else 0

    def log_E(self, up: Floats, down: Floats) -> Floats:
        starts = restarts(len(self.parts), self.evidence.arms)[1]
        return log_sum(starts + self.evidence.mixture.log_W(up, down, 0))

    def log_alone(self, evidence: Floats) -> float:
        mixture, starts = self.evidence.mixture, restarts(len(self.parts), self.evidence.arms)[1]
        return math.log(mixture.alone) + float(log_sum(starts + mixture.log_alone(evidence, 0)))

    def is_enough(self, p: int) -> bool:
        """Whether the process is at least exp(e) for all means; p is a sub-cell where it is about least."""
        middle, part = divmod(p, PARTS)
        first = np.zeros((len(self.begin), len(self.evidence.mixture.log_weights)))
        for b in (self.main, *self.others):
            cell, own = divmod(p - self.shift(b), PARTS)
            first += self.up(b, cell)[own + 1]
        if self.log_E(first, self.down(middle)[part]) < self.e:
            return False
        upper = next(
            (cell for cell in range(middle, middle + REACH) if self.log_alone(self.down(cell, flat=True)[0]) >= self.e),
            None,
        )
        if upper is None:
            return False
        # The least up log evidence of each other opponent at means below a cell: first of all cells below the window.
        bottom = middle - REACH
        below = {b: {bottom: self.up(b, bottom, flat=True)[PARTS]} for b in self.others}
        for b, least in below.items():
            for cell in range(bottom, upper):
                least[cell + 1] = np.minimum(least[cell], self.up(b, cell)[PARTS])
        anywhere = sum((least[upper] for least in below.values()), np.zeros_like(first))
        lower = next(
            (
                cell
                for cell in range(middle, middle - REACH, -1)
                if self.log_alone(self.up(self.main, cell, flat=True)[PARTS] + anywhere) >= self.e
            ),
            None,
        )
        if lower is None:
            return False
        of_main = {lower + 1: np.full_like(first, np.inf)}
        for cell in range(lower + 1, upper):
            of_main[cell + 1] = np.minimum(of_main[cell], self.up(self.main, cell)[PARTS])
        for p in range((lower + 1) * PARTS + self.shift(self.main), upper * PARTS):
            ups = self.least_up(self.main, p, of_main)
            for b, least in below.items():
                ups = ups + self.least_up(b, p, least)
            cell, part = divmod(p, PARTS)
            if self.log_E(ups, self.down(cell)[part]) < self.e:
                return False
        return True

    def least_up(self, b: int, p: int, below: dict[int, Floats]) -> Floats:
        """The least up log evidence of opponent b with arm a in sub-cell p; `below` has that below each cell."""
        cell, part = divmod(p - self.shift(b), PARTS)
        if cell not in below:  # the whole cell is below the window
            return below[min(below)]
        return np.asarray(np.minimum(below[cell], self.up(b, cell)[part + 1]))
