"""What a run found, in at most six sentences, each computed from the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from bestarm.paper.claims import BY_CONSTRUCTION, MAIN_FOUR, NOT_TESTABLE, UNDER_ALL, UNDER_NONE, UNDER_SOME, Verdict
from bestarm.paper.comparisons import EQUAL, FAILS, HOLDS, FewerErrors
from bestarm.paper.experiments import EXPLORING
from bestarm.paper.lemma import OneConstantServes
from bestarm.paper.readings import OURS
from bestarm.scenarios.experiment import Experiment
from bestarm.scenarios.numbers import instance_numbers


def findings(
    verdicts: Sequence[Verdict], points: pd.DataFrame, experiments: Sequence[Experiment], stored: pd.DataFrame
) -> list[str]:
    """Return the sentences, without those on what was not run."""
    sentences = [
        counts(verdicts),
        exploration(verdicts, points),
        exponent(verdicts),
        sample_means(verdicts),
        lemma(verdicts, experiments),
        stored_results(stored),
    ]
    return [sentence for sentence in sentences if sentence]


def counts(verdicts: Sequence[Verdict]) -> str:
    """Say how many claims hold, apart from those that could not have failed."""
    found = Counter(verdict.overall for verdict in verdicts)
    if not verdicts:
        return ""
    return (
        f"Of {len(verdicts) - found[BY_CONSTRUCTION]} claims of the paper that could have failed, {found[UNDER_ALL]} "
        f"hold under every reading of its text that was decided, {found[UNDER_SOME]} under some, {found[UNDER_NONE]} "
        f"under none, and {found[NOT_TESTABLE]} cannot be tested; {found[BY_CONSTRUCTION]} more hold by construction."
    )


def exploration(verdicts: Sequence[Verdict], points: pd.DataFrame) -> str:
    """Say where the forced exploration decides, and what g-cbai comes to with and without it."""
    ahead = [
        verdict
        for verdict in verdicts
        if verdict.claim.experiment in MAIN_FOUR and verdict.claim.text.startswith("g-cbai needs fewer pulls than")
    ]
    if not ahead:
        return ""
    own = points[(points["variant"] == "paper") & points["method"].str.split(" ").str[0].isin(EXPLORING)]
    at = (own["mean_pulls"] / own["K_T"] - 1.0).abs() <= EQUAL
    forced, free = (sum(name in verdict.under(HOLDS) for verdict in ahead) for name in (OURS.name, "no exploration"))
    return (
        f"With T forced pulls of every arm, as printed, mean pulls are within 1 % of K T at {int(at.sum())} of "
        f"{len(own)} points, so that there no method can be better than another: g-cbai needs fewer pulls than another "
        f"method in {forced} of {len(ahead)} comparisons of the main text, and in {free} if nothing is forced."
    )


def exponent(verdicts: Sequence[Verdict]) -> str:
    """Say under which exponent beta se-cbai needs fewer pulls than g-cbai."""
    own = [v for v in verdicts if v.claim.text.startswith("se-cbai needs fewer pulls than g-cbai with the theorem's")]
    if not own:
        return ""
    where = {
        shown: [verdict.claim.experiment for verdict in own if name in verdict.under(HOLDS)]
        for shown, name in (("beta = 2", OURS.name), ("beta = 1.1", "beta = 1.1"), ("beta = e/2", "beta = e/2"))
    }
    words = ", ".join(f"in {_listed(names) or 'none'} at {shown}" for shown, names in where.items())
    return (
        f"Of {_listed([verdict.claim.experiment for verdict in own])}, se-cbai needs fewer pulls than g-cbai with the "
        f"theorem's threshold {words}, where the text allows any beta > 1."
    )


def sample_means(verdicts: Sequence[Verdict]) -> str:
    """Say under which readings the trimmed mean is wrong less often than the sample mean."""
    own = [
        verdict
        for verdict in verdicts
        if isinstance(verdict.claim.check, FewerErrors) and verdict.claim.check.second.startswith("mean-")
    ]
    if not own:
        return ""
    by_reading: dict[str, list[str]] = {}
    for verdict in own:
        for name in verdict.under(HOLDS):
            by_reading.setdefault(name, []).append(verdict.claim.experiment)
    words = _listed([f'"{name}" ({_listed(sorted(set(where)))})' for name, where in by_reading.items()])
    tried = _listed(sorted({verdict.claim.experiment for verdict in own}))
    return (
        f"In {tried} the sample mean is wrong more often than the trimmed mean under "
        f"{words or 'no reading'}: that depends on the adversary, and on what the sample mean's method keeps."
    )


def lemma(verdicts: Sequence[Verdict], experiments: Sequence[Experiment]) -> str:
    """Say what the counterexample does to the lemma, and where no method could name a winner in the worst case."""
    own = [verdict for verdict in verdicts if isinstance(verdict.claim.check, OneConstantServes)]
    parts = []
    if own and OURS.name in own[0].under(FAILS):
        parts.append(
            "the lemma that both theorems rest on does not hold with alpha = epsilon/2: against replaced rewards on "
            "one side no constant serves"
        )
    numbers = {experiment.name: instance_numbers(experiment) for experiment in experiments if experiment.covered}
    hidden = [name for name, row in numbers.items() if row["gap"] <= row["hidden_gap"]]
    if hidden:
        parts.append(
            f"in {_listed(hidden)} the two best means are closer than contamination can hide for ever, so that whoever "
            "names a winner relies on a mild adversary"
        )
    words = "; ".join(parts)
    return f"{words[0].upper()}{words[1:]}." if words else ""


def stored_results(stored: pd.DataFrame) -> str:
    """Say how near our numbers are to those that were stored in 2022."""
    if stored.empty:
        return ""
    groups = [
        f"{int(part['within'].sum())} of {len(part)} of {method} on {'the ' if arms == 'PKIS2' else ''}{arms} arms"
        for (arms, method), part in stored.groupby(["arms", "method"], sort=False)
    ]
    return (
        "Run as the first author's code of 2022 has it, our methods meet these of its stored mean pulls within 3 "
        f"standard errors: {_listed(groups)}."
    )


def _listed(words: Sequence[str]) -> str:
    """Return words with commas and an "and".

    >>> _listed(["a", "b", "c"]), _listed(["a"]), _listed([])
    ('a, b and c', 'a', '')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
