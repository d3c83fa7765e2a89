"""What may have been replaced, and what the evidence pays for it; the bets of a question about a log.

Section numbers are those of docs/explanation/certified.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from bestarm.kernels.evidence.pair import SUBCELLS
from bestarm.kernels.rule import Rule
from bestarm.log.piles import Array
from bestarm.methods.bets import COUNTED, SPACING, lattice_family, price
from bestarm.methods.certified import certified_rule
from bestarm.problem import Problem

LEAST_RATE = 5e-3  # of the lattice's bets, which are made for some rate: less gains nothing, and overturn loses
_LARGEST_RATE = 0.12  # and for no larger one only because all of it may be on one arm


@dataclass(frozen=True, eq=False)
class Allowance:
    """What may have been replaced: in the price of a reward, so many of each arm, or so many of all together."""

    rule: Rule
    own: Array
    shared: float
    chance: float = 0.0  # of each reward, by a coin

    @property
    def is_something(self) -> bool:
        """Whether anything may have been replaced."""
        return bool(self.shared > 0.0 or self.own.any() or self.chance > 0.0)


def make_bets(problem: Problem, contamination: str) -> Rule:
    """Return the bets of a question, on which neither the rewards nor their number have any influence."""
    options = {"contamination": contamination, "resolution": None, "good_enough": None, "share_from": 1.0}
    rate = design_rate(problem, contamination)
    rule = certified_rule(replace(problem, epsilon=rate), options, surely=0.0 if contamination in COUNTED else None)
    rule["core"] = rule["bets"]  # grouped.py sums the logarithms of all of them
    return rule


def design_rate(problem: Problem, contamination: str) -> float:
    """Return the rate that the bets are made for; with bounds it only matters whether there is one.

    Where all that is replaced may be on one arm, the rate there is that on one arm of K: with 8 arms of 2,000 rewards,
    a lead of 0.8 sigma and epsilon = 0.02 the log evidence was 0.4 by bets for a rate of 0.02 and 9 by bets for 0.1.
    """
    if problem.bounds is not None:
        return problem.epsilon
    times = {"share-of-all": problem.size, "sources": 2}.get(contamination, 1)
    return max(problem.epsilon, min(times * problem.epsilon, _LARGEST_RATE), LEAST_RATE)


def priced(rule: Rule, problem: Problem, family: str, kind: str, epsilon: float) -> Rule:
    """Return the same bets, of a family, at the price of another kind of contamination or another epsilon."""
    rule = rule.copy()
    if problem.bounds is not None:
        bets: Any = SimpleNamespace(most=1.0 + rule["rate"][0] * rule["clip"][0], least=1.0)
        rule["fixed"] = price(1.0, bets, kind, epsilon)
        rule["rising"] = price(1.0 + rule["rate"][0], bets, kind, epsilon) - rule["fixed"]
        return rule
    rate = float(rule["epsilon"][0])
    d = np.linspace(-SPACING / 2.0, SPACING / 2.0, SUBCELLS + 1)
    for place, bet in enumerate(lattice_family(family, rate)):
        rule["price"][0, place] = np.log(price(np.maximum.accumulate(bet.phi(d)), bet, kind, epsilon))
    return rule


def count_discounted(rewards: Array, counts: Array, estimate: float, mean: float, reach: float) -> int:
    """Return how many rewards are further than `reach` from an estimate, on the side on which the mean is."""
    beyond = rewards > estimate + reach if mean > estimate else rewards < estimate - reach
    return int(counts[beyond].sum())
