"""What the paper says that an experiment can test: a row a sentence and experiment. Verdicts are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bestarm.paper.bounds import AllExplored, MeanAbove, MeanBelow, NumberBelow, OnlyInTheLimit, PullsBelow
from bestarm.paper.comparisons import (
    Check,
    Close,
    ErrorsAbove,
    ErrorsBelow,
    Fewer,
    FewerErrors,
    Finding,
    GapShrinks,
    GrowsWithEpsilon,
    Place,
)
from bestarm.paper.experiments import EXPERIMENTS, Experiment
from bestarm.paper.numbers import grid_numbers, instance_numbers
from bestarm.paper.run import Run


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, an experiment it speaks of, and how it is tested there."""

    experiment: str
    where: str
    text: str
    check: Check


@dataclass(frozen=True)
class Verdict:
    """A claim and what was found."""

    claim: Claim
    finding: Finding


MAIN = "Experiments"
REAL = "Experiments, after the real data"
DETAILS = "Appendix, Experimental Details"
MAIN_FOUR = ("exp1", "exp2", "exp3", "exp4")
# "Very closely follows" and "slightly better" name no number; a tenth is what one can still see in a figure.
CLOSE = 0.1
# The paper gives U up to a constant only. With U = 0 both bounds are the least they can be: pulls below the upper bound
# prove it and pulls above it prove nothing; the lower bound is the weakest.
WITH_NO_BIAS = " (U = 0)"

OUTPERFORMS = (
    '"the G-CBAI algorithm outperforms all existing algorithms for both the real-world and synthetic datasets"'
)
BOTH = '"both algorithms outperform the existing methods for CBAI in both synthetic as well as real-world datasets"'
CONSERVATIVE = "the empirical threshold, not supported by theory, "
CLOSING = (
    '"as we increase delta, the gap between the empirical performance of the random selection strategy and the '
    'successive elimination based strategy reduces"'
)
ROBUST = '"clearly show the robustness of the trimmed mean estimator compared to the sample-mean"'

CLAIMS: tuple[Claim, ...] = (
    # who needs fewer pulls
    *(Claim(e, REAL, f"{OUTPERFORMS}: median", Fewer("g-cbai (empirical)", "median-se")) for e in MAIN_FOUR),
    *(Claim(e, REAL, f"{OUTPERFORMS}: random", Fewer("g-cbai (empirical)", "random (empirical)")) for e in MAIN_FOUR),
    *(
        Claim(
            e,
            "Conclusions",
            '"the superior empirical performance of the G-CBAI algorithm": against SE-CBAI',
            Fewer("g-cbai (empirical)", "se-cbai"),
        )
        for e in MAIN_FOUR
    ),
    *(Claim(e, "Introduction", f"{BOTH}: SE-CBAI, median", Fewer("se-cbai", "median-se")) for e in MAIN_FOUR),
    Claim(
        "exp1",
        MAIN,
        '"the median-based successive elimination strategy has a slightly better performance compared to the proposed '
        'trimmed mean estimator with Algorithm 2": better',
        Fewer("median-se", "se-cbai"),
    ),
    Claim("exp1", MAIN, 'the median-based strategy is only "slightly" better', Close("median-se", "se-cbai", CLOSE)),
    *(Claim(e, REAL, CLOSING, GapShrinks("random (empirical)", "se-cbai")) for e in ("exp1", "exp3", "exp4")),
    Claim(
        "exp2",
        "Performance guarantees",
        '"an increase in epsilon results in a higher uncertainties, which in turn weakens the performance guarantee": '
        "the pulls grow with epsilon",
        GrowsWithEpsilon("g-cbai (empirical)"),
    ),
    # the threshold without a proof
    *(
        Claim(e, MAIN, f'{CONSERVATIVE}"meets the prescribed guarantee"', ErrorsBelow("g-cbai (empirical)"))
        for e in (*MAIN_FOUR, "exp8")
    ),
    *(
        Claim(
            e,
            MAIN,
            f'{CONSERVATIVE}is "over-conservative": wrong less than half as often as allowed',
            ErrorsBelow("g-cbai (empirical)", 0.5),
        )
        for e in MAIN_FOUR
    ),
    # the threshold of the theorem
    *(
        Claim(
            e,
            f"{REAL}; {DETAILS}",
            '"using the confidence interval defined in (conf_algo1) for the G-CBAI algorithm, the SE-CBAI algorithm '
            'outperforms the gap-based method"',
            Fewer("se-cbai", "g-cbai"),
        )
        for e in ("exp5", "exp6")
    ),
    Claim(
        "exp6",
        DETAILS,
        '"the proposed successive-elimination based algorithm outperforms the gap-based procedures": random',
        Fewer("se-cbai", "random"),
    ),
    *(
        Claim("exp5", DETAILS, f'"the median-based successive elimination ... outperforms all other methods": {o}', c)
        for o, c in (
            ("SE-CBAI", Fewer("median-se", "se-cbai")),
            ("G-CBAI", Fewer("median-se", "g-cbai")),
            ("random", Fewer("median-se", "random")),
        )
    ),
    Claim(
        "exp5",
        DETAILS,
        '"our proposed successive elimination algorithm ... very closely follows the performance of the median-based '
        'algorithm"',
        Close("se-cbai", "median-se", CLOSE),
    ),
    # estimators
    Claim(
        "exp6",
        DETAILS,
        '"in the case of exponentially distributed bandit instances, the median-based procedure no longer works"',
        ErrorsAbove("median-se"),
    ),
    Claim(
        "exp6",
        REAL,
        '"the superior performance of the trimmed mean estimator in various settings": fewer errors than mean-se',
        FewerErrors("se-cbai", "mean-se"),
    ),
    Claim(
        "exp7",
        DETAILS,
        '"The superior performance of the trimmed mean estimator": pulls',
        Fewer("se-cbai", "median-se"),
    ),
    Claim(
        "exp7",
        DETAILS,
        '"The superior performance of the trimmed mean estimator": errors',
        FewerErrors("se-cbai", "median-se"),
    ),
    Claim("exp7", DETAILS, "the sample median does not find the best of two log-normal arms", ErrorsAbove("median-se")),
    *(
        Claim(e, DETAILS, f"{ROBUST}: fewer pulls", Fewer(trimmed, mean))
        for e, trimmed, mean in (
            ("exp8", "g-cbai", "mean-gap"),
            ("exp8", "g-cbai (empirical)", "mean-gap (empirical)"),
            ("exp9", "se-cbai", "mean-se"),
        )
    ),
    *(
        Claim(e, DETAILS, f"{ROBUST}: fewer errors", FewerErrors(trimmed, mean))
        for e, trimmed, mean in (
            ("exp8", "g-cbai", "mean-gap"),
            ("exp8", "g-cbai (empirical)", "mean-gap (empirical)"),
            ("exp9", "se-cbai", "mean-se"),
        )
    ),
    # theorems
    *(
        Claim(e, "Theorem on delta-PAC, Algorithm 1", "Algorithm 1 is delta-PAC", ErrorsBelow("g-cbai"))
        for e in ("exp5", "exp8")
    ),
    *(
        Claim(e, "Theorem on delta-PAC, Algorithm 2", "Algorithm 2 is delta-PAC", ErrorsBelow("se-cbai"))
        for e in ("exp1", "exp2", "exp3", "exp4", "exp9")
    ),
    *(
        Claim(
            e,
            "Theorem on the sample complexity of Algorithm 1",
            f"E[tau] is at most max{{8K/epsilon^2, 64 beta H}} log(1/delta){WITH_NO_BIAS}",
            MeanBelow("g-cbai", "upper_bound_g_cbai", least=True),
        )
        for e in ("exp5", "exp8")
    ),
    *(
        Claim(
            e,
            "Theorem on the sample complexity of Algorithm 2",
            f"with probability 1 - delta, tau is at most max{{(8K/epsilon^2) log(1/delta), O(...)}}{WITH_NO_BIAS}",
            PullsBelow("se-cbai", "upper_bound_se_cbai", least=True),
        )
        for e in ("exp1", "exp3", "exp4", "exp9")
    ),
    *(
        Claim(
            e,
            "Theorem, lower bound",
            f"E[tau] is at least H log(1/delta){WITH_NO_BIAS}",
            MeanAbove(("g-cbai", "se-cbai", "random", "median-se"), "lower_bound"),
        )
        for e in ("exp5",)
    ),
    Claim(
        "exp8",
        "Theorem, lower bound",
        f"E[tau] is at least H log(1/delta){WITH_NO_BIAS}",
        MeanAbove(("g-cbai", "mean-gap", "g-cbai (empirical)", "mean-gap (empirical)"), "lower_bound"),
    ),
    Claim(
        "exp5",
        "Proof of the sample complexity of Algorithm 2",
        '"from the sampling rule we know N_i(tau) > T(alpha, delta)", so that tau is at least K T',
        AllExplored(("g-cbai", "se-cbai")),
    ),
    *(
        Claim(
            e,
            "after the last theorem",
            "the sum of 1/Delta_i^2 over all arms but the best is below H",
            NumberBelow("sum_inverse_gaps", "H"),
        )
        for e in ("exp1", "exp3", "exp4", "exp8")
    ),
    Claim(
        "exp5",
        "Abstract; after the theorem on Algorithm 1",
        '"asymptotically optimal up to constant factors"',
        OnlyInTheLimit("a limit delta -> 0 with a constant that may be any number"),
    ),
)


def places(run: Run, experiment: Experiment) -> list[Place]:
    """Return the places of an experiment's grid with the paper's own curves, by label."""
    shared = instance_numbers(experiment)
    own = [curve for curve in experiment.curves if curve.variant == "paper"]
    return [
        Place(
            delta,
            epsilon,
            {curve.label: run.outcome(experiment, curve, delta, epsilon) for curve in own},
            {**shared, **grid_numbers(experiment, delta, epsilon)},
        )
        for delta, epsilon in experiment.grid
    ]


def judge(run: Run, claims: Sequence[Claim] = CLAIMS) -> list[Verdict]:
    """Return the verdict on every claim about an experiment that was run."""
    grids = {experiment.name: places(run, experiment) for experiment in run.experiments}
    return [Verdict(claim, claim.check.judge(grids[claim.experiment])) for claim in claims if claim.experiment in grids]


def claims_rows(verdicts: Sequence[Verdict]) -> list[dict[str, str]]:
    """Return verdicts as rows of text, in the order of the experiments."""
    order = list(EXPERIMENTS)
    ranked = sorted(verdicts, key=lambda verdict: order.index(verdict.claim.experiment))
    return [
        {
            "experiment": verdict.claim.experiment,
            "verdict": verdict.finding.verdict,
            "claim": verdict.claim.text,
            "measured": verdict.finding.measured,
            "where": verdict.claim.where,
            "test": verdict.claim.check.how,
        }
        for verdict in ranked
    ]
