"""What is measured of a log: capped rewards, one reward per source, or a ratio of sums of the sources.

The rewards that were read become those that are compared. Section 17 of docs/explanation/certified.md says what each
choice assumes, and why.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bestarm.contamination import Contamination
from bestarm.errors import InputError, UnclearError
from bestarm.log.bounds import as_typed, call_again, is_binary, natural_bounds, round_cap
from bestarm.log.question import LogQuestion
from bestarm.log.rewards import Rewards
from bestarm.log.units import is_single
from bestarm.phrases import Phrase, Setting

SUMMARIES = ("last", "mean", "sum", "any")  # what the first reward of a source may be replaced by


@dataclass(frozen=True)
class Measured:
    """What is compared: rewards, the question about them, and how they came about.

    Attributes
    ----------
    rewards : Rewards
        One reward per row or, where sources count, per source and arm; for a ratio each is that of a source.
    question : LogQuestion
        With bounds where the measure gives them.
    is_rate : bool
        Whether a mean is a share.
    cap : float, optional
        The most that a reward counts or, of a ratio, that a source counts of the whole.
    capped : int
        How many rewards, or of a ratio sources, are above it.
    per : str
        The column of the whole that rewards are a share of; empty if none.
    per_source : str
        What the rewards of a source for an arm became, as the user said it; empty if nothing was said.
    single : bool
        Whether no source rewarded two arms.
    """

    rewards: Rewards
    question: LogQuestion
    is_rate: bool
    cap: float | None = None
    capped: int = 0
    per: str = ""
    per_source: str = ""
    single: bool = False


def measured(rewards: Rewards, question: LogQuestion, model: Contamination) -> Measured:
    """Return what is compared, or refuse or ask what does not make sense of these rewards."""
    table = rewards.sources
    what = "" if table is None or table.what is None else table.what
    is_ratio = table is not None and table.of is not None
    if is_ratio or what:
        _check_sources(rewards, question, model, "per" if is_ratio else "per_source", what)
    if is_ratio:
        return _ratio(rewards, question)
    is_rate = is_binary(rewards)
    if table is not None and what in SUMMARIES:
        rewards, question = _summed_up(rewards, question, what, is_rate)
        is_rate = is_rate and what != "sum"
    found = Measured(rewards, question, is_rate, per_source=what, single=table is not None and is_single(table))
    return found if question.cap is None else _capped(found, question.cap)


def _check_sources(rewards: Rewards, question: LogQuestion, model: Contamination, asked: str, what: str) -> None:
    if not model.by_source:
        fix = Phrase("leave {} out: without it, sources are counted", Setting("contamination"))
        raise InputError(asked, "come with a count of sources", f"contamination {model.name!r}", fix)
    if what == "first":
        return
    if rewards.missing.any():
        received = f"{int(rewards.missing.sum()):,} rewards that are missing, or out of bounds"
        why = "drop rows of which that says nothing; a source whose rows are cut off is not known by the rest of them"
        raise InputError(asked, "come with all rewards of a source", received, why)
    if question.stopping == "any":
        why = "who stops when it looks good decides how many rewards the sources have, and that must not depend on them"
        raise InputError("stopping", f"be fixed with {asked}", "any", why)


# ---------------------------------------------------------------------------------------------------- one reward each


def _summed_up(rewards: Rewards, question: LogQuestion, what: str, is_rate: bool) -> tuple[Rewards, LogQuestion]:
    """Return one reward per source and arm as the rewards, with the bounds of a share of rewards of 0 and 1."""
    table = rewards.sources
    assert table is not None
    if what == "any" and not is_rate:
        highest, lowest = rewards.highest, rewards.lowest
        fix = Phrase("use {}, or a column that says whether", Setting("per_source", "mean"))
        raise InputError("per_source", "come with rewards of 0 and 1 if it is any", f"{lowest:g} to {highest:g}", fix)
    own = [np.sort(table.value[table.arm == index]) for index in range(len(rewards.labels))]
    if is_rate and what == "mean" and question.bounds is None and question.sigma is None:
        question = replace(question, bounds=(0.0, 1.0))
    return replace(rewards, values=tuple(own), counts=None), question


def _capped(found: Measured, cap: float) -> Measured:
    """Return the measure with rewards above the cap counted as the cap, and bounds up to it."""
    rewards, question = found.rewards, found.question
    low = 0.0 if question.bounds is None else question.bounds[0]
    if question.bounds is None and rewards.lowest < 0.0:
        low, high = natural_bounds(rewards.lowest, max(rewards.highest, cap))
        fix = Phrase("say how low and high they can be, such as {}, besides", Setting("bounds", (low, high)))
        raise InputError("cap", "come with bounds where rewards are negative", f"a lowest of {rewards.lowest:g}", fix)
    if found.is_rate:
        raise InputError("cap", "come with rewards that are not all 0 or 1", cap, "leave it out: nothing is above 1")
    if not cap > low:
        raise InputError("cap", f"be above the lowest possible reward, {low:g}", cap, "it is a reward, in its units")
    capped = sum(
        int((values > cap).sum() if rewards.counts is None else rewards.counts[index][values > cap].sum())
        for index, values in enumerate(rewards.values)
    )
    question = replace(question, bounds=(low, cap), cap=None)
    return replace(found, rewards=_below(rewards, cap), question=question, cap=cap, capped=capped)


def _below(rewards: Rewards, cap: float) -> Rewards:
    """Return rewards of at most the cap."""
    values = tuple(np.minimum(each, cap) for each in rewards.values)
    table = rewards.sources
    sources = None if table is None else replace(table, value=np.minimum(table.value, cap))
    blocks = None if rewards.blocks is None else rewards.blocks.below(cap)
    return replace(rewards, values=values, sources=sources, blocks=blocks)


# ------------------------------------------------------------------------------------------------------------- ratios


def _ratio(rewards: Rewards, question: LogQuestion) -> Measured:
    """Return the parts and wholes of the sources, each whole at most the cap and its part in proportion."""
    table, columns = rewards.sources, rewards.columns
    assert table is not None
    assert table.of is not None
    per = "" if columns is None else columns.per or ""
    for name, value in (("bounds", question.bounds), ("sigma", question.sigma)):
        if value is not None:
            raise InputError(name, "be left out of a ratio", value, "a part is between nothing and the whole")
    if question.paired:
        raise InputError("paired", "be left out of a ratio", True, "each source enters by the arm it saw first")
    if not table.of.any():
        raise InputError(per, "be positive for some source", 0, "a ratio of nothing is no number")
    if question.cap is None:
        raise _ask_for_cap(rewards, table.of, per)
    if not question.cap > 0.0:
        raise InputError("cap", "be above 0", question.cap, f"it is how much of {per!r} a source counts at most")
    above = table.of > question.cap
    part = np.where(above, table.value * (question.cap / np.where(above, table.of, 1.0)), table.value)
    whole = np.minimum(table.of, question.cap)
    part = np.minimum(part, whole)  # rounding errors only
    sources = replace(table, value=part / question.cap, of=whole / question.cap)
    rates = part / np.where(whole > 0.0, whole, 1.0)
    own = tuple(np.sort(rates[table.arm == index]) for index in range(len(rewards.labels)))
    for label, index in zip(rewards.labels, range(len(own)), strict=True):
        if not whole[table.arm == index].any():
            raise InputError(per, f"be positive for some source on {label!r}", 0, "leave the arm out")
    rewards = replace(rewards, values=own, counts=None, sources=sources)
    capped = int(np.unique(table.source[above]).size)
    asked = replace(question, bounds=(0.0, 1.0), cap=None)
    return Measured(rewards, asked, True, question.cap, capped, per, "", is_single(table))


def _ask_for_cap(rewards: Rewards, of: np.ndarray, per: str) -> UnclearError:
    """Return the question how much a source may count, with a cap that nine tenths of them do not reach."""
    positive = of[of > 0.0]
    cap, highest = round_cap(float(np.quantile(positive, 0.9))), float(positive.max())
    few = [("if those who have more may count as much as that", cap)] if cap < highest else []
    above = int((of > cap).sum())
    question = (
        f"How much of {per!r} may one source count? One has {highest:,.6g}; the less it is, the sharper the answer, as "
        "a fake source may count all of it."
    )
    if few:
        question += f" Only {above:,} of {of.size:,} have more than {cap:,.6g}."
    whole = round_cap(highest)
    choices = [(when, call_again(rewards, Setting("per", per), Setting("cap", as_typed(value)))) for when, value in few]
    choices.append(
        ("if nobody is to be cut off", call_again(rewards, Setting("per", per), Setting("cap", as_typed(whole))))
    )
    return UnclearError("cap", question, choices)
