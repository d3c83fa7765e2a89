"""Arms that were drawn at random for each row, or source, so that whoever fakes rewards could not choose the arm.

A bot then meets each arm as often as anybody else does: fakes are decided by a coin, of one chance for all arms, and
cannot gather on one arm. With sources each of them is one unit, by its very first reward, whose arm was drawn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bestarm.contamination import CONTAMINATIONS, resolve
from bestarm.errors import InputError
from bestarm.log.result import LogResult
from bestarm.log.rewards import Rewards
from bestarm.phrases import Phrase, Setting

if TYPE_CHECKING:
    from bestarm.log.question import LogQuestion
    from bestarm.log.spec import LogSpec

ASSIGNED = "prescient"  # what epsilon means if nothing else is said
DRAWN = "the arm of each was drawn at random, so that nobody who faked a reward could choose its arm"


def check_comparison(question: LogQuestion) -> None:
    """Reject what cannot go with a control, or with arms that were drawn at random."""
    if question.control is not None and question.good_enough is not None:
        fix = Phrase("leave it out: {} says which arms are better than one", Setting("control", question.control))
        raise InputError("good_enough", "not come with a control", question.good_enough, fix)
    if question.control is not None and isinstance(question.sigma, str):
        raise InputError("sigma", "be a number with a control", question.sigma, "give it, or bounds")
    if not question.assigned:
        return
    model = None if question.contamination is None else resolve(question.contamination)
    if model is not None and model.counted:
        coins = ", ".join(name for name, each in CONTAMINATIONS.items() if not each.counted)
        fix = Phrase(f"leave it out, or use one of {coins}: {{}} means that", Setting("assigned", True))
        raise InputError("contamination", "be decided by a coin for each reward", model.name, fix)
    if question.paired:
        fix = Phrase("leave out {}: a source that was drawn one arm has no pair", Setting("assigned", True))
        raise InputError("paired", "come without arms that were drawn at random", True, fix)


def check_measure(question: LogQuestion, spec: LogSpec) -> None:
    """Reject a ratio, or a summary of sources, whose arms were drawn at random."""
    asked = {"per": spec.per, "per_source": None if spec.per_source == "first" else spec.per_source}
    for name, value in asked.items():
        if question.assigned and value is not None:
            fix = Phrase("leave out {}: then the first reward of a source counts", Setting("assigned", True))
            raise InputError(name, "come without arms that were drawn at random", value, fix)


def check_replay(question: LogQuestion, where: str | None) -> None:
    """Reject what a replay in order does not know."""
    asked = {"control": question.control, "assigned": question.assigned or None, "where": where}
    for name, value in asked.items():
        if value is not None:
            fix = Phrase("leave out {}", Setting("sequential", True))
            raise InputError(name, "be asked of all rows at once", "a replay in order", fix)


def of_units(result: LogResult, whole: Rewards) -> LogResult:
    """Return a verdict on units as one on the rewards that they were taken from."""
    result = replace(result, assigned=True)
    if whole.sources is None:
        return result
    rows = whole.total + int(whole.missing.sum())
    return replace(result, units=whole.sources.number, rows=rows, ignored=whole.total - result.pulls)
