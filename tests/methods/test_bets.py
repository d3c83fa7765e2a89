"""The bets of the certified method: h, its bound phi, C and l belong together, whatever the law (certified.md, 2-7)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bestarm.contamination import resolve
from bestarm.kernels.evidence.lattice import LANES
from bestarm.kernels.evidence.pair import BETS, SUBCELLS
from bestarm.methods.bets import (
    SPACING,
    Bet,
    BoundedBet,
    Price,
    bounded_family,
    bounded_settings,
    clean_tables,
    lattice_family,
    lattice_settings,
)
from bestarm.methods.log_bets import log_bounded_family, log_lattice_family

Floats = NDArray[np.float64]

PRESCIENT, MALICIOUS = "prescient", "malicious"
CONTAMINATIONS = [PRESCIENT, MALICIOUS, "share-of-arm"]
EPSILONS = [0.0005, 0.01, 0.05, 0.1, 0.2, 0.45]
CELL = np.linspace(-SPACING / 2.0, SPACING / 2.0, 65)  # d within a cell
ROUNDING = 1e-12

families = pytest.mark.parametrize(
    ("contamination", "epsilon"), [(kind, epsilon) for kind in CONTAMINATIONS for epsilon in EPSILONS]
)


# ---------------------------------------------------------------------------------------------- clean laws of mean zero


@dataclass
class Law:
    """A law of mean 0 as points with weights: exact where it has finitely many, else a quadrature."""

    points: Floats
    weights: Floats

    def mean(self, values: Floats) -> float:
        return float(self.weights @ values)


def middles(low: float, high: float, number: int) -> Floats:
    return np.asarray(low + (high - low) * (np.arange(number) + 0.5) / number)


def gaussian() -> Law:
    points = middles(-12.0, 12.0, 12_000)
    weights = np.exp(-(points**2) / 2.0)
    return Law(points, weights / weights.sum())


def uniform() -> Law:
    """Of variance 1, which is its variance proxy too."""
    points = middles(-math.sqrt(3.0), math.sqrt(3.0), 6_000)
    return Law(points, np.full(points.size, 1.0 / points.size))


def two_points(q: float) -> Law:
    """The larger value with probability q, as far apart as a variance proxy of 1 allows (Kearns and Saul)."""
    proxy = 0.25 if q == 0.5 else (1.0 - 2.0 * q) / (2.0 * math.log((1.0 - q) / q))
    apart = 1.0 / math.sqrt(proxy)
    return Law(np.array([(1.0 - q) * apart, -q * apart]), np.array([q, 1.0 - q]))


LAWS = {
    "gaussian": gaussian(),
    "uniform": uniform(),
    "certain": Law(np.zeros(1), np.ones(1)),
    **{f"two points, {q}": two_points(q) for q in (0.5, 0.2, 0.02, 0.001, 0.8, 0.98, 0.999)},
}
every_law = pytest.mark.parametrize("name", LAWS)


@every_law
def test_the_laws_are_sub_gaussian_with_mean_zero(name: str) -> None:
    law = LAWS[name]
    assert law.weights.sum() == pytest.approx(1.0)
    assert law.mean(law.points) == pytest.approx(0.0, abs=1e-9)
    for k in np.concatenate([np.linspace(-6.0, 6.0, 61), np.linspace(-0.01, 0.01, 21)]):
        assert law.mean(np.exp(k * law.points)) <= math.exp(k * k / 2.0) * (1.0 + 1e-6)


# ------------------------------------------------------------------------------------------------------------- lattice


def all_bets(contamination: str, epsilon: float) -> list[Bet]:
    """Those of rewards that come one by one, and those of a log, which do not go by epsilon."""
    family = resolve(contamination).family
    return [*lattice_family(family, epsilon), *log_lattice_family(family)]


def price_at(contamination: str, epsilon: float) -> Price:
    return partial(resolve(contamination).price, epsilon=epsilon)


def price(phi: Any, bet: Bet | BoundedBet, contamination: str, epsilon: float) -> Any:
    return price_at(contamination, epsilon)(phi, bet.most, bet.least)


def flat(bet: Bet, y: Floats) -> Floats:
    return bet.h(np.maximum(y, bet.lowest))


@every_law
@families
def test_phi_bounds_the_mean_of_h(contamination: str, epsilon: float, name: str) -> None:
    law = LAWS[name]
    d = np.array([-6.0, -2.0, -0.5, *CELL[::16], 0.5, 2.0, 6.0])  # within a cell is what is used
    for bet in all_bets(contamination, epsilon):
        means = np.array([law.mean(bet.h(law.points + mean)) for mean in d])
        assert (means <= bet.phi(d) + 1e-6 * bet.most).all()
        assert (bet.phi(d) <= bet.most).all()


@families
def test_phi_rises_within_a_cell(contamination: str, epsilon: float) -> None:
    for bet in all_bets(contamination, epsilon):
        rises = np.diff(bet.phi(np.linspace(-SPACING / 2.0, SPACING / 2.0, 1001)))
        assert (rises >= 0.0).all()
        assert bet.phi(CELL)[0] > 0.0


@families
def test_h_lies_between_its_least_value_and_its_largest(contamination: str, epsilon: float) -> None:
    y = np.concatenate([np.linspace(-60.0, 60.0, 120_001), [-1e15, -1e4, 1e4, 1e15]])
    for bet in all_bets(contamination, epsilon):
        values = bet.h(y)
        assert bet.least > 0.0
        assert values.min() >= bet.least * (1.0 - ROUNDING)
        assert values.max() == bet.most
        assert bet.least <= 1.0 <= bet.most
        if bet.rate < 0.0:
            assert float(bet.h(np.array([bet.lowest]))[0]) == pytest.approx(bet.least)
            assert values.min() == pytest.approx(bet.least, rel=1e-3)


@families
def test_h_is_constant_where_the_kernel_stops_computing_it(contamination: str, epsilon: float) -> None:
    """Distances from the middle cell are cut at 44 sigma; the cells that are kept are at most 6 from there."""
    for bet in all_bets(contamination, epsilon):
        for y in ([-38.0, -44.0, -1e6], [38.0, 44.0, 1e6]):
            assert bet.h(np.array(y)) == pytest.approx(bet.h(np.array(y))[0], rel=1e-12)


@families
def test_flat_bets_are_below_the_bets_of_all_cells_beyond(contamination: str, epsilon: float) -> None:
    y = np.linspace(-30.0, 30.0, 6001)
    for bet in all_bets(contamination, epsilon):
        low = flat(bet, y)
        assert (np.diff(low) >= -ROUNDING).all()
        assert (bet.phi(CELL) <= bet.phi(CELL[-1:])[0]).all()
        for cells in range(0, 60, 3):  # cells down: rewards are so much higher above them
            assert (low <= bet.h(y + cells * SPACING) * (1.0 + ROUNDING)).all()
            assert (low <= flat(bet, y + cells * SPACING) * (1.0 + ROUNDING)).all()


@pytest.mark.parametrize("of_log", [False, True])
@families
def test_tables_of_the_lattice_say_the_same(contamination: str, epsilon: float, of_log: bool) -> None:
    family = resolve(contamination).family
    bets = [*log_lattice_family(family)] if of_log else lattice_family(family, epsilon)
    tables = lattice_settings(bets, price_at(contamination, epsilon))
    assert len(bets) <= LANES or not of_log
    assert tables["bets"] == len(bets)
    assert tables["weight"].sum() <= 1.0 + ROUNDING
    assert (tables["weight"] > 0.0).all()
    rates = [
        rate
        for rate, begin, end in zip(tables["group_rate"], [0, *tables["group_end"]], tables["group_end"], strict=False)
        for _ in range(end - begin)
    ]
    x = np.linspace(-8.0, 8.0, 101)
    for place, bet in enumerate(bets):
        assert rates[place] == bet.rate
        assert tables["odds"][place] == pytest.approx(math.log(bet.most / bet.least))
        priced = price(bet.phi(CELL), bet, contamination, epsilon)
        assert np.exp(tables["price"][place]) == pytest.approx(priced, rel=1e-12)
        assert tables["price"][place].size == SUBCELLS + 1
        for cell in (0, 17, 24, 25, 48):
            line = tables["constant"][cell, place] + tables["slope"][place] * x
            h = np.minimum(bet.most, line + tables["size"][cell, place] * np.exp(bet.rate * x))
            assert h == pytest.approx(bet.h(x - (cell - 24) * SPACING), rel=1e-9)


# -------------------------------------------------------------------------------------------------------------- prices


def largest_mean(contamination: str, epsilon: float, law: Law, h: Floats, most: float) -> float:
    """E Z against the best adversary: Z is C where the reward is hit and h elsewhere."""
    if contamination == PRESCIENT:  # the coin can't see the reward
        return max((1.0 - rate) * law.mean(h) + rate * most for rate in (0.0, epsilon / 2.0, epsilon))
    order = np.argsort(h)  # the coin hits where h is least
    weights = law.weights[order]
    before = np.concatenate([[0.0], np.cumsum(weights)[:-1]])
    hit = np.clip(epsilon - before, 0.0, weights)
    return float(weights @ h[order] + hit @ (most - h[order]))


@every_law
@pytest.mark.parametrize("contamination", [PRESCIENT, MALICIOUS])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_adversary_gets_more_than_the_price(contamination: str, epsilon: float, name: str) -> None:
    law = LAWS[name]
    for bet in all_bets(contamination, epsilon):
        for d in CELL[::32]:
            got = largest_mean(contamination, epsilon, law, bet.h(law.points + d), bet.most)
            assert got <= price(float(bet.phi(np.array([d]))[0]), bet, contamination, epsilon) + 1e-6 * bet.most


def test_products_against_an_adversary_that_looks_ahead_have_mean_at_most_one() -> None:
    """Simulated: hits by coins, values at will."""
    rng = np.random.default_rng(1)
    clean = rng.standard_normal((40_000, 6))
    hits = rng.random(clean.shape) < 0.1
    for bet in all_bets(PRESCIENT, 0.1):
        values = np.where(hits, bet.most, bet.h(clean))
        final = np.prod(values / price(float(bet.phi(np.zeros(1))[0]), bet, PRESCIENT, 0.1), axis=1)
        assert final.mean() <= 1.0 + 4.0 * final.std() / math.sqrt(final.size)
        assert final.mean() > 0.5


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_replaced_reward_is_worth_its_odds_at_most(epsilon: float) -> None:
    y = np.linspace(-50.0, 50.0, 10_001)
    for bet in all_bets("share-of-arm", epsilon):
        logs = np.log(bet.h(y))
        assert logs.max() - logs.min() <= math.log(bet.most / bet.least) + ROUNDING


# -------------------------------------------------------------------------------------------------------------- bounds


def random_laws(number: int) -> list[tuple[Floats, Floats]]:
    rng = np.random.default_rng(3)
    laws = []
    for _ in range(number):
        points = rng.random(int(rng.integers(1, 6)))
        points = np.where(rng.random(points.size) < 0.3, np.round(points), points)
        laws.append((points, rng.dirichlet(np.ones(points.size))))
    return laws


@pytest.mark.parametrize("contamination", CONTAMINATIONS)
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.1, 0.4])
def test_bounded_bets_cost_at_least_their_mean(contamination: str, epsilon: float) -> None:
    bets, core = bounded_family(epsilon)
    tables = bounded_settings(bets, core, price_at(contamination, epsilon))
    assert tables["bets"] == len(bets)
    assert tables["core"] == core
    assert tables["weight"].sum() <= 1.0 + ROUNDING
    for place, bet in enumerate(bets):
        assert math.exp(tables["odds"][place]) == pytest.approx(bet.most)
        for points, weights in random_laws(60):
            for x in (points, 1.0 - points):  # up, and down
                law, m = Law(x, weights), float(weights @ x)
                h = 1.0 + bet.u * np.minimum(x, bet.clip)
                assert (h >= bet.least).all()
                assert (h <= bet.most).all()
                phi = 1.0 + bet.u * min(m, bet.clip)
                assert law.mean(h) <= phi * (1.0 + ROUNDING)
                priced = tables["fixed"][place] + tables["rising"][place] * min(m, bet.clip)
                assert priced == pytest.approx(price(phi, bet, contamination, epsilon), rel=1e-12)
                if contamination in (PRESCIENT, MALICIOUS):
                    assert largest_mean(contamination, epsilon, law, h, bet.most) <= priced * (1.0 + ROUNDING)


def test_bounded_bets_of_a_log_have_the_forms_of_the_others() -> None:
    bets = log_bounded_family()
    known = {(bet.u, bet.clip) for epsilon in (0.0, 0.1) for bet in bounded_family(epsilon)[0]}
    assert {(bet.u, bet.clip) for bet in bets} <= known
    assert 0.99 < sum(bet.weight for bet in bets) <= 1.0
    assert len(bets) <= BETS


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_power_sums_stay_below_the_logarithm(epsilon: float) -> None:
    bets, core = bounded_family(epsilon)
    x = np.linspace(0.0, 1.0, 1001)
    for bet in bets[core:]:
        assert bet.clip == 1.0
        z = bet.u * x
        below = z - z**2 / 2.0 + z**3 / 3.0 - z**4 / 4.0
        assert (below <= np.log1p(z) + 1e-18).all()
        assert below == pytest.approx(np.log1p(z), rel=1e-6)


# --------------------------------------------------------------------------------------------------------------- clean


@every_law
def test_clean_bets_on_a_pair_have_mean_at_most_one(name: str) -> None:
    law, tables = LAWS[name], clean_tables()
    assert tables["weight"].sum() <= 1.0 + ROUNDING
    assert tables["bets"] == tables["rate"].size == tables["weight"].size
    for k in tables["rate"]:
        pair = law.mean(np.exp(k * law.points)) * law.mean(np.exp(-k * law.points))
        assert pair <= math.exp(k * k) * (1.0 + 1e-6)


@every_law
def test_squares_have_the_moments_that_the_alarm_relies_on(name: str) -> None:
    law = LAWS[name]
    for s in (0.1, 0.3, 0.6):
        assert law.mean(np.exp(s * law.points**2 / 2.0)) <= (1.0 - s) ** -0.5 * (1.0 + 1e-6)
