"""The certified method: names a winner when the evidence against every other arm is enough, whatever was replaced."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bestarm.contamination.models import BOTH, CONTAMINATIONS, FIRST, INDEPENDENT, share_holds_from
from bestarm.errors import InputError
from bestarm.kernels.evidence.pair import BOUNDED, CLEAN, LATTICE, evidence_dtype
from bestarm.kernels.rule import CERTIFIED, MEAN, Rule, new_rule
from bestarm.methods._base import Method, Option, choice
from bestarm.methods.bets import (
    COUNTED,
    bounded_settings,
    bounded_tables,
    clean_tables,
    lattice_settings,
    lattice_tables,
)
from bestarm.methods.log_bets import log_bounded_family, log_lattice_family
from bestarm.problem import Problem
from bestarm.validation import checked

CONTAMINATION = Option(
    "contamination",
    "prescient",
    f"what is assumed of replaced rewards: {', '.join(CONTAMINATIONS)}",
    choice("contamination", *CONTAMINATIONS),
)
RESOLUTION = Option(
    "resolution",
    lambda problem: 0.05 * problem.sigma if problem.epsilon > 0.0 else None,
    "stop without a winner after about as many rewards as a lead of this size takes if epsilon = 0; "
    "default 0.05 sigma, and none if epsilon = 0",
    lambda value: checked(resolution=value)[0],
)
GOOD_ENOUGH = Option(
    "good_enough",
    None,
    "stop as soon as an arm is proved to be at most this much worse than the best; default: name the best",
    lambda value: checked(good_enough=value)[0],
)
SHARE_FROM = Option(
    "share_from",
    lambda problem: 1.0 / problem.epsilon if problem.epsilon > 0.0 else 1.0,
    "rewards of each arm (or sources) from which on a share is assumed to hold: more than a burst of fakes / epsilon; "
    "default 1 / epsilon",
    lambda value: checked(share_from=value)[0],
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
KEPT = 4096  # rewards of an arm that a simulation keeps, for cells of the lattice that are asked for later


def certified_rule(
    problem: Problem,
    options: Mapping[str, Any],
    *,
    surely: float | None = None,
    endless: bool = False,
    of_log: bool = False,
) -> Rule:
    """Return the settings of the kernel.

    With `surely` a number, so many replaced rewards on every arm (of all arms together where the contamination is
    counted so) take the place of epsilon. The bets `of_log` are the same for every epsilon.
    """
    epsilon, contamination = problem.epsilon, options["contamination"]
    counted = contamination in COUNTED or surely is not None
    together = contamination in ("share-of-all", "sources")
    enough = math.log((problem.size - 1) / problem.delta)
    low, high = problem.bounds or (0.0, problem.sigma)
    kind, tables = _bets(problem, "share-of-arm" if counted else contamination, of_log)
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
        share=epsilon if counted and surely is None else 0.0,
        settled=options["share_from"],
        surely=surely or 0.0,
        together=together,
        log_threshold=enough,
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


def _bets(problem: Problem, contamination: str, of_log: bool) -> tuple[int, dict[str, Any]]:
    """Return the kind of evidence, and its bets at the price of a contamination."""
    epsilon = problem.epsilon
    if problem.bounds is not None and of_log:
        bets = log_bounded_family()
        return BOUNDED, bounded_settings(bets, len(bets), contamination, epsilon)
    if problem.bounds is not None:
        return BOUNDED, bounded_tables(contamination, epsilon)
    if of_log:
        return LATTICE, lattice_settings(log_lattice_family(contamination), contamination, epsilon)
    return (LATTICE, lattice_tables(contamination, epsilon)) if epsilon > 0.0 else (CLEAN, clean_tables())


def promise(options: Mapping[str, Any]) -> str:
    """Return what the error probability rests on, in plain words."""
    kind, first = options["contamination"], options.get("share_from")
    said = CONTAMINATIONS[kind]
    if isinstance(first, int | float):  # by default it is worked out from epsilon
        # That of all rewards is so many times the number of arms, rounded up as a whole: not before it is multiplied.
        number = math.floor(1000.0 * first + 1e-6) / 1000.0 if kind == "share-of-all" else share_holds_from(first)
        said = said.replace("share_from", f"{number:,.12g}")
    if kind == "sources":
        said += f"; {INDEPENDENT}; {BOTH if options.get('paired') else FIRST}"
    return said


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
