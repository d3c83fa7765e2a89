"""How many rewards may have been replaced, the price of that, and the bets of a question about a log.

Section numbers are those of docs/explanation/certified.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bestarm.contamination import BetFamily, Contamination
from bestarm.kernels.evidence.pair import SUBCELLS
from bestarm.kernels.rule import Rule
from bestarm.log.piles import Array
from bestarm.methods.bets import SPACING, Price
from bestarm.methods.certified import certified_rule
from bestarm.methods.log_bets import log_lattice_family
from bestarm.problem import Problem


@dataclass(frozen=True, eq=False)
class Allowance:
    """How much may have been replaced: by a coin for each reward, `own` of each arm, or `shared` of all together."""

    rule: Rule
    own: Array
    shared: float
    chance: float = 0.0  # of each reward to be replaced, paid for in the prices of `rule`

    @property
    def is_something(self) -> bool:
        """Whether anything may have been replaced."""
        return bool(self.shared > 0.0 or self.own.any() or self.chance > 0.0)


def make_bets(problem: Problem, contamination: Contamination) -> Rule:
    """Return the bets of a question, which depend neither on epsilon nor on the rewards and their number."""
    options = {"contamination": contamination, "resolution": None, "good_enough": None, "share_from": 1.0}
    none = 0.0 if contamination.counted else None
    return certified_rule(replace(problem, epsilon=0.0), options, surely=none, of_log=True)


def priced(rule: Rule, problem: Problem, family: BetFamily, price: Price) -> Rule:
    """Return the same bets, of a family, at another price."""
    rule = rule.copy()
    if problem.bounds is not None:
        rates = rule["rate"][0]
        most = 1.0 + rates * rule["clip"][0]
        rule["fixed"] = price(1.0, most, 1.0)
        rule["rising"] = price(1.0 + rates, most, 1.0) - rule["fixed"]
        return rule
    d = np.linspace(-SPACING / 2.0, SPACING / 2.0, SUBCELLS + 1)
    for index, bet in enumerate(log_lattice_family(family)):
        rule["price"][0, index] = np.log(price(np.maximum.accumulate(bet.phi(d)), bet.most, bet.least))
    return rule


def count_discounted(rewards: Array, counts: Array, estimate: float, mean: float, reach: float) -> int:
    """Return how many rewards are farther than `reach` from an estimate, on the side of the mean."""
    beyond = rewards > estimate + reach if mean > estimate else rewards < estimate - reach
    return int(counts[beyond].sum())
