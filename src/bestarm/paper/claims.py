"""The claims of the paper that an experiment can test, one per sentence and experiment, and their computed verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bestarm.paper.bounds import AllExplored, MeanAbove, MeanBelow, NumberBelow, OnlyInTheLimit, PullsBelow
from bestarm.paper.comparisons import (
    FAILS,
    HOLDS,
    OPEN,
    ClaimCheck,
    Close,
    ErrorsAbove,
    ErrorsBelow,
    Fewer,
    FewerErrors,
    Finding,
    GapShrinks,
    GridPoint,
)
from bestarm.paper.lemma import OneConstantServes
from bestarm.paper.readings import CODE_OF_2022, OURS, READINGS, Reading
from bestarm.scenarios.experiment import Experiment, RandomCentres
from bestarm.scenarios.numbers import grid_numbers, instance_numbers
from bestarm.scenarios.run import Run

# What is said of a claim, all its readings together.
UNDER_ALL, UNDER_SOME, UNDER_NONE = "holds under all readings", "holds under some readings", "holds under no reading"
NOT_TESTABLE = "not testable"
BY_CONSTRUCTION = "holds by construction"  # no trials could have refuted it, so it is counted apart
OVERALL = (UNDER_ALL, UNDER_SOME, UNDER_NONE, NOT_TESTABLE, BY_CONSTRUCTION)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, an experiment it is about, and how it is tested there.

    Attributes
    ----------
    experiment, where : str
        exp1 ... exp9, and the section.
    quote : str
        A few words of the paper, by which the place is found; "..." stands for words left out.
    text : str
        What is tested.
    check : ClaimCheck
        The test.
    note : str
        What to know: where the paper contradicts itself, or words that name no number.
    against : tuple of str
        Readings that contradict the sentence itself, so that it says nothing under them.
    by_construction : str
        Why no trials could refute it, if that is so.
    """

    experiment: str
    where: str
    quote: str
    text: str
    check: ClaimCheck
    note: str = ""
    against: tuple[str, ...] = ()
    by_construction: str = ""


@dataclass(frozen=True)
class Verdict:
    """A claim and what was found, by the name of the reading: ours first, then those that make a difference to it."""

    claim: Claim
    findings: Mapping[str, Finding]

    @property
    def overall(self) -> str:
        """One of five: holds under all, some or no readings, is not testable, or holds and could not have failed.

        Readings left open are not counted.
        """
        found = {finding.verdict for finding in self.findings.values()} - {OPEN}
        if not found:
            return NOT_TESTABLE
        if self.claim.by_construction and found == {HOLDS}:
            return BY_CONSTRUCTION
        return UNDER_SOME if len(found) > 1 else UNDER_ALL if HOLDS in found else UNDER_NONE

    def under(self, verdict: str) -> list[str]:
        """Return the readings with a verdict: holds, does not hold or open."""
        return [name for name, finding in self.findings.items() if finding.verdict == verdict]


INTRODUCTION = "Introduction"
MAIN = "Experiments, synthetic data"
REAL = "Experiments, real data"
GUARANTEES = "Performance guarantees"
DETAILS = "Appendix, Experimental Details"
MAIN_FOUR = ("exp1", "exp2", "exp3", "exp4")
# "Very closely follows" and "slightly better" name no number; a tenth is what one can still see in a figure.
CLOSE = 0.1
NAMES_NO_NUMBER = "The words name no number; within 10 % is our choice."
# The paper gives U up to a constant only. With U = 0 both bounds are the least they can be: pulls below the upper bound
# prove it and pulls above it prove nothing; the lower bound is the weakest.
LIMIT = (
    "A limit delta -> 0, looked at along the grid, with U = 0, as the constant of U is not given: it can be confirmed, "
    "not refuted."
)
ONE_SIDED = "The constant of the bound is not given, so the test can confirm it and never refutes it."
EXPLORES = "The method is made to pull every arm T times."
ALGEBRA = "H has 2/Delta_i^2 for every arm but the best, and one term more: it is larger whatever the means are."
CONTRADICTION = (
    'The paper says both: here, and in Experiments that "the median-based ... has a slightly better performance".'
)
OPPOSITE = 'The paper says both: here, and in the Introduction that "both algorithms outperform the existing methods".'

BEYOND = (
    "The theorem is for means that differ by more than contamination hides. An adversary drawn without margin may be "
    "beyond that, and errors under it do not refute the theorem."
)

OUTPERFORMS = "the G-CBAI algorithm outperforms all existing algorithms for both the real-world and synthetic datasets"
BOTH = "both algorithms outperform the existing methods for CBAI"
CONSERVATIVE = "even though not supported by theory ... over-conservative and meets the prescribed guarantee"
CLOSING = (
    "as we increase ... the gap between the empirical performance of the random selection strategy and the successive "
    "elimination based strategy reduces"
)
ROBUST = "clearly show the robustness of the trimmed mean estimator compared to the sample-mean"
NO_LONGER = "the median-based procedure no longer works"
SUPERIOR = "The superior performance of the trimmed mean estimator"
BETTER = "has a slightly better performance compared to the proposed trimmed mean estimator"
MEDIAN_BEST = "the median-based successive elimination procedure ... outperforms all other methods"


def _claims(experiments: Iterable[str], *about: Any, **more: Any) -> list[Claim]:
    """Return the same claim about each of several experiments."""
    return [Claim(name, *about, **more) for name in experiments]


def _undefined(word: str, other_way: str) -> str:
    return f'"{word}" is not defined. This is one of two ways to test it; {other_way} the other.'


CLAIMS: tuple[Claim, ...] = (
    # who needs fewer pulls
    *(
        Claim(e, REAL, OUTPERFORMS, f"g-cbai needs fewer pulls than {other}", Fewer("g-cbai (empirical)", other))
        for other in ("median-se", "random (empirical)")
        for e in MAIN_FOUR
    ),
    *_claims(
        MAIN_FOUR,
        "Conclusions",
        "the superior empirical performance of the G-CBAI algorithm",
        "g-cbai needs fewer pulls than se-cbai",
        Fewer("g-cbai (empirical)", "se-cbai"),
    ),
    *(
        Claim(
            e,
            INTRODUCTION,
            BOTH,
            "se-cbai needs fewer pulls than median-se",
            Fewer("se-cbai", "median-se"),
            CONTRADICTION if e == "exp1" else "",
        )
        for e in MAIN_FOUR
    ),
    Claim("exp1", MAIN, BETTER, "median-se needs fewer pulls than se-cbai", Fewer("median-se", "se-cbai"), OPPOSITE),
    Claim(
        "exp1",
        MAIN,
        BETTER,
        "and their pulls differ slightly",
        Close("median-se", "se-cbai", CLOSE),
        NAMES_NO_NUMBER,
    ),
    *_claims(
        ("exp1", "exp3", "exp4"),
        REAL,
        CLOSING,
        "the pulls of random and se-cbai come closer as delta grows",
        GapShrinks("random (empirical)", "se-cbai"),
    ),
    # the threshold without a proof
    *_claims(
        (*MAIN_FOUR, "exp8"),
        MAIN,
        CONSERVATIVE,
        "the empirical threshold keeps delta",
        ErrorsBelow("g-cbai (empirical)"),
    ),
    *_claims(
        MAIN_FOUR,
        MAIN,
        CONSERVATIVE,
        "the empirical threshold is over-conservative",
        ErrorsBelow("g-cbai (empirical)", 0.5),
        "The words name no number; wrong less than half as often as allowed is our choice.",
    ),
    # the threshold of the theorem
    *_claims(
        ("exp5", "exp6"),
        REAL,
        "for the G-CBAI algorithm, the SE-CBAI algorithm outperforms the gap-based method",
        "se-cbai needs fewer pulls than g-cbai with the theorem's threshold",
        Fewer("se-cbai", "g-cbai"),
    ),
    Claim(
        "exp6",
        DETAILS,
        "the proposed successive-elimination based algorithm outperforms the gap-based procedures",
        "se-cbai needs fewer pulls than random, the other method that stops by the gap",
        Fewer("se-cbai", "random"),
    ),
    *(
        Claim("exp5", DETAILS, MEDIAN_BEST, f"median-se needs fewer pulls than {name}", Fewer("median-se", name), note)
        for name, note in (("se-cbai", OPPOSITE), ("g-cbai", OPPOSITE), ("random", ""))
    ),
    Claim(
        "exp5",
        DETAILS,
        "very closely follows the performance of the median-based algorithm",
        "se-cbai needs about as many pulls as median-se",
        Close("se-cbai", "median-se", CLOSE),
        NAMES_NO_NUMBER,
    ),
    # estimators
    Claim(
        "exp6",
        DETAILS,
        NO_LONGER,
        "median-se is wrong more often than delta",
        ErrorsAbove("median-se"),
        _undefined("Works", "the next row is"),
    ),
    Claim(
        "exp6",
        DETAILS,
        NO_LONGER,
        "median-se needs more pulls than se-cbai",
        Fewer("se-cbai", "median-se"),
        _undefined("Works", "the row before is"),
    ),
    Claim(
        "exp6",
        REAL,
        "the superior performance of the trimmed mean estimator in various settings",
        "se-cbai is wrong less often than mean-se",
        FewerErrors("se-cbai", "mean-se"),
        "The sentence points at experiments 7 to 9; the sample mean is in experiment 6 as well.",
    ),
    *(
        Claim(e, DETAILS, quote, f"{trimmed} {what} {other}", check(trimmed, other), _undefined(word, other_way))
        for quote, word, compared in (
            (SUPERIOR, "Superior", (("exp7", "se-cbai", "median-se"),)),
            (
                ROBUST,
                "Robustness",
                (
                    ("exp8", "g-cbai", "mean-gap"),
                    ("exp8", "g-cbai (empirical)", "mean-gap (empirical)"),
                    ("exp9", "se-cbai", "mean-se"),
                ),
            ),
        )
        for what, check, other_way in (
            ("needs fewer pulls than", Fewer, "errors are"),
            ("is wrong less often than", FewerErrors, "pulls are"),
        )
        for e, trimmed, other in compared
    ),
    # theorems
    Claim(
        "exp5",
        f"{GUARANTEES}, lemma on the concentration of the estimator",
        "In the presence of an oblivious adversary, for the ... trimmed mean estimator",
        "the trimmed mean is near the mean, up to one constant, against replaced rewards on one side",
        OneConstantServes(),
        "A counterexample, in exp5's grid: replaced rewards all above the mean. The proof says that what is kept after "
        "trimming is clean, but alpha = epsilon/2 off each end leaves half of the replaced rewards in. The theorems on "
        "both algorithms rest on this lemma.",
    ),
    *_claims(
        ("exp5", "exp8"),
        f"{GUARANTEES}, theorem on Algorithm 1",
        "the procedure proposed in Algorithm ... PAC in the PIBAI setting",
        "g-cbai keeps delta",
        ErrorsBelow("g-cbai"),
        BEYOND,
    ),
    *_claims(
        ("exp1", "exp2", "exp3", "exp4", "exp9"),
        f"{GUARANTEES}, theorem on Algorithm 2",
        "PAC in the PIBAI setting for the following choice of the exploration threshold",
        "se-cbai keeps delta",
        ErrorsBelow("se-cbai"),
        BEYOND,
    ),
    *_claims(
        ("exp5", "exp8"),
        f"{GUARANTEES}, sample complexity of Algorithm 1",
        "the average sample complexity of the procedure proposed in Algorithm ... is upper bounded as",
        "mean pulls of g-cbai at most max{8K/epsilon^2, 64 beta H} log(1/delta), with beta the exponent of t",
        MeanBelow("g-cbai", "upper_bound_g_cbai"),
        LIMIT,
        by_construction=ONE_SIDED,
    ),
    *_claims(
        ("exp1", "exp3", "exp4", "exp9"),
        f"{GUARANTEES}, sample complexity of Algorithm 2",
        "the sample complexity of Algorithm ... is upper bounded as",
        "with probability 1 - delta, pulls of se-cbai at most max{(8K/epsilon^2) log(1/delta), O(...)}",
        PullsBelow("se-cbai", "upper_bound_se_cbai"),
        "With U = 0 and the constant of the proof, as neither is printed: it can be confirmed, not refuted.",
        by_construction=ONE_SIDED,
    ),
    *(
        Claim(
            e,
            f"{GUARANTEES}, lower bound",
            "PAC procedure is asymptotically lower bounded as",
            "mean pulls at least H log(1/delta)",
            MeanAbove(labels, "lower_bound"),
            LIMIT,
            by_construction=ONE_SIDED,
        )
        for e, labels in (
            ("exp5", ("g-cbai", "se-cbai", "random", "median-se")),
            ("exp8", ("g-cbai", "mean-gap", "g-cbai (empirical)", "mean-gap (empirical)")),
        )
    ),
    Claim(
        "exp5",
        "Appendix, proof of the sample complexity of Algorithm 2",
        "from the sampling rule we know",
        "every arm is pulled at least T times (T as printed)",
        AllExplored(("se-cbai",)),
        "The readings without this exploration contradict the sentence, and are left out.",
        ("chernoff", "no exploration", CODE_OF_2022),
        EXPLORES,
    ),
    *_claims(
        ("exp1", "exp3", "exp4", "exp8"),
        f"{GUARANTEES}, after the last theorem",
        "is instance optimal up to logarithmic factors. This follows from the fact that",
        "the sum of 1/Delta_i^2 over all arms but the best is below H",
        NumberBelow("sum_inverse_gaps", "H"),
        by_construction=ALGEBRA,
    ),
    Claim(
        "exp5",
        "Abstract",
        "the sample complexity is asymptotically optimal up to constant factors",
        "the gap-based algorithm is asymptotically optimal up to constant factors",
        OnlyInTheLimit("a limit delta -> 0 with a constant that may be any number"),
    ),
)


# ----------------------------------------------------------------------------------------------------------- verdicts


def grid_points(run: Run, experiment: Experiment) -> list[GridPoint]:
    """Return the points of an experiment's grid with the paper's own curves, by label, cut to the same trials."""
    shared = instance_numbers(experiment)
    found = []
    for delta, epsilon in experiment.grid:
        own = {curve.label: run.outcome(experiment, curve, delta, epsilon) for curve in experiment.own_curves}
        least = min(map(len, own.values()))
        cut = {label: trials.first(least) for label, trials in own.items()}
        numbers = {**shared, **grid_numbers(experiment, delta, epsilon)}
        draws = experiment.adversary.draws if isinstance(experiment.adversary, RandomCentres) else 1
        found.append(GridPoint(delta, epsilon, cut, numbers, min(draws, least)))
    return found


def concerns(reading: Reading, experiment: Experiment, claim: Claim) -> bool:
    """Tell whether a reading changes what a claim is tested on: its arms, or a simulation that the test looks at."""
    other = reading.of(experiment)
    if reading.name in claim.against:
        return False
    if reading is OURS or other.arms != experiment.arms:
        return True

    def tested_on(of: Experiment) -> list[object]:
        return [of.point(c, *index) for c in of.own_curves if c.label in claim.check.labels for index in of.grid]

    return tested_on(other) != tested_on(experiment)


def strictest(experiment: str) -> float:
    """Return the strictest limit on the error rate in an experiment, as a share of delta."""
    tests = [claim.check for claim in CLAIMS if claim.experiment == experiment]
    return min((test.share for test in tests if isinstance(test, ErrorsBelow)), default=1.0)


def judge(run: Run, claims: Sequence[Claim] = CLAIMS, readings: Sequence[Reading] = READINGS) -> list[Verdict]:
    """Return the verdict on every claim about an experiment that was run, in the order of the experiments."""
    verdicts = []
    for experiment in run.experiments:
        about = [claim for claim in claims if claim.experiment == experiment.name]
        grids = {reading.name: grid_points(run, reading.of(experiment)) for reading in readings} if about else {}
        for claim in about:
            concerned = [reading.name for reading in readings if concerns(reading, experiment, claim)]
            verdicts.append(Verdict(claim, {name: claim.check.judge(grids[name]) for name in concerned}))
    return verdicts


def claims_rows(verdicts: Sequence[Verdict]) -> list[dict[str, str]]:
    """Return verdicts as rows of text: all readings together, then ours."""
    return [
        {
            "experiment": verdict.claim.experiment,
            "verdict": verdict.overall,
            "claim": verdict.claim.text,
            "holds_under": ", ".join(verdict.under(HOLDS)),
            "does_not_hold_under": ", ".join(verdict.under(FAILS)),
            "open_under": ", ".join(verdict.under(OPEN)),
            "measured": verdict.findings[OURS.name].measured,
            "quote": verdict.claim.quote,
            "where": verdict.claim.where,
            "test": verdict.claim.check.how,
            "note": verdict.claim.note,
            "by_construction": verdict.claim.by_construction,
        }
        for verdict in verdicts
    ]


def readings_rows(verdicts: Sequence[Verdict]) -> list[dict[str, str]]:
    """Return one row per claim and reading: what was found under it."""
    return [
        {
            "experiment": verdict.claim.experiment,
            "claim": verdict.claim.text,
            "where": verdict.claim.where,
            "reading": name,
            "verdict": finding.verdict,
            "measured": finding.measured,
        }
        for verdict in verdicts
        for name, finding in verdict.findings.items()
    ]
