"""The certified method: names a winner once the evidence against every other arm is enough, whatever was replaced."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from bestarm.contamination import CONTAMINATIONS, BetFamily, KernelNumbers, default, resolve
from bestarm.contamination import checked as checked_contamination
from bestarm.errors import InputError
from bestarm.kernels.evidence.pair import BOUNDED, CLEAN, LATTICE, evidence_dtype
from bestarm.kernels.rule import CERTIFIED, MEAN, Rule, new_rule
from bestarm.methods._base import Method, Option
from bestarm.methods.bets import (
    Price,
    bounded_family,
    bounded_settings,
    clean_tables,
    lattice_family,
    lattice_settings,
    unpriced,
)
from bestarm.methods.log_bets import log_bounded_family, log_lattice_family
from bestarm.problem import Problem

CONTAMINATION = Option(
    "contamination",
    default("live"),
    f"what is assumed of replaced rewards: {', '.join(CONTAMINATIONS)}",
    checked_contamination,
)
RESOLUTION = Option(
    "resolution",
    lambda problem: 0.05 * problem.sigma if problem.epsilon > 0.0 else None,
    "stop without a winner after about as many rewards as a lead of this size takes if epsilon = 0; "
    "default 0.05 sigma, and none if epsilon = 0",
)
GOOD_ENOUGH = Option(
    "good_enough",
    None,
    "stop as soon as an arm is proved to be at most this much worse than the best; default: name the best",
)
SHARE_FROM = Option(
    "share_from",
    lambda problem: 1.0 / problem.epsilon if problem.epsilon > 0.0 else 1.0,
    "rewards of each arm (or sources) from which on a share is assumed to hold: more than a burst of fakes / epsilon; "
    "default 1 / epsilon",
)


def _paired(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError("paired", "be True or False", value, "True if the arms of a source are fixed beforehand")
    return value


PAIRED = Option(
    "paired",
    False,
    "sources only: compare two arms by the difference of a source's rewards; "
    "the arms of a source must be fixed before its first reward",
    _paired,
)

_TERMS = {BOUNDED: (0.88, 0.08, 0.02), LATTICE: (0.6, 0.3, 0.05), CLEAN: (1.0, 0.0, 0.0)}  # same, product, alone
KEPT = 4096  # rewards of an arm that a simulation keeps, for cells of the lattice that are needed later


def certified_rule(
    problem: Problem,
    options: Mapping[str, Any],
    *,
    surely: float | None = None,
    endless: bool = False,
    drops: bool = True,
    of_log: bool = False,
) -> Rule:
    """Return the settings of the kernel.

    If `endless`, it goes on when one arm is left. With `drops=False` it drops no arm by itself: the caller does.

    If `surely` is given, this many replaced rewards of every arm (of all arms together where the contamination is
    counted so) take the place of epsilon. The bets `of_log` are the same for every epsilon.
    """
    epsilon, contamination = problem.epsilon, resolve(options["contamination"])
    told = contamination.kernel_numbers(epsilon, options["share_from"])
    family: BetFamily = contamination.family
    price: Price = partial(contamination.price, epsilon=epsilon)
    if surely is not None:
        told = KernelNumbers(0.0, told.settled, surely, told.together)
        family, price = "seeing", unpriced
    enough = math.log((problem.size - 1) / problem.delta)
    low, high = problem.bounds or (0.0, problem.sigma)
    kind, tables = _bets(problem, family, price, of_log)
    same, product, alone = _TERMS[kind]
    resolution = options["resolution"]
    rounds = 4.0 * enough * (problem.sigma / resolution) ** 2 if resolution else 0.0
    return new_rule(
        evidence_dtype,
        family=CERTIFIED,
        estimator=MEAN,
        kind=kind,
        origin=low if kind == BOUNDED else 0.0,
        scale=high - low,
        epsilon=epsilon,
        **told._asdict(),
        log_threshold=enough if drops else math.inf,
        log_shown=math.log(2.0 * problem.size / problem.delta),
        log_alarm=math.log(problem.size / problem.delta),
        same=same,
        log_same=math.log(same),
        log_weight=np.log(tables["weight"]),
        product=product,
        alone=alone,
        last_round=int(min(math.ceil(rounds), 2**60)),
        good_enough=(options["good_enough"] or 0.0) / (high - low),
        kept=KEPT,
        endless=endless,
        **tables,
    )


def _bets(problem: Problem, family: BetFamily, price: Price, of_log: bool) -> tuple[int, dict[str, Any]]:
    """Return the kind of evidence, and its bets at a price."""
    if problem.bounds is not None:
        bets, core = (log_bounded_family(), None) if of_log else bounded_family(problem.epsilon)
        return BOUNDED, bounded_settings(bets, core, price)
    if of_log:
        return LATTICE, lattice_settings(log_lattice_family(family), price)
    if problem.epsilon == 0.0:
        return CLEAN, clean_tables()
    return LATTICE, lattice_settings(lattice_family(family, problem.epsilon), price)


def promise(options: Mapping[str, Any]) -> str:
    """Return what the error probability rests on, in plain words."""
    return resolve(options["contamination"]).promise(options.get("share_from"), bool(options.get("paired")))


METHOD = Method(
    name="certified",
    summary="drops an arm when the evidence of a pair proves it worse; names the last one, or says why it can't",
    source="this package, docs/explanation/certified.md",
    promise=promise,
    options=(CONTAMINATION, RESOLUTION, GOOD_ENOUGH, SHARE_FROM, PAIRED),
    rule=certified_rule,
    certifies=True,
    rank=0,
)
