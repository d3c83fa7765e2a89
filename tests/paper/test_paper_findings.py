"""What goes beyond single claims: those that cannot fail, the lemma, the results of 2022, and the six sentences."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from bestarm import theory
from bestarm.paper import CLAIMS, EXPERIMENTS
from bestarm.paper.bounds import AllExplored, MeanAbove, MeanBelow, NumberBelow, PullsBelow
from bestarm.paper.claims import BY_CONSTRUCTION, NOT_TESTABLE, UNDER_NONE, UNDER_SOME, Claim, Verdict
from bestarm.paper.comparisons import FAILS, HOLDS, OPEN, Finding, GridPoint
from bestarm.paper.findings import counts, exploration, exponent, findings, lemma, sample_means
from bestarm.paper.lemma import OneConstantServes
from bestarm.paper.stored_results import STORED_EXPERIMENTS, STORED_RESULTS, stored_table
from bestarm.scenarios.run import Run, _simulate
from planted_trials import grid, many

# -------------------------------------------------------------------------------------------------------- construction


def test_claims_that_no_trials_could_refute_are_marked() -> None:
    """Every test of a bound with an unknown constant, and those that are algebra or the method's own rule."""
    cannot = (AllExplored, MeanAbove, MeanBelow, NumberBelow, PullsBelow)
    for claim in CLAIMS:
        assert bool(claim.by_construction) == isinstance(claim.check, cannot), claim.text
    assert sum(bool(claim.by_construction) for claim in CLAIMS) == 13


@pytest.mark.parametrize("check", [MeanAbove(("a", "b"), "bound"), MeanBelow("a", "bound"), PullsBelow("a", "bound")])
def test_a_bound_with_an_unknown_constant_is_never_refuted(check: MeanAbove | MeanBelow | PullsBelow) -> None:
    found = {check.judge(grid(many(mean), many(mean))).verdict for mean in (10.0, 900.0, 1000.0, 1100.0, 1e6)}
    assert found == {HOLDS, OPEN}


def test_the_sum_of_inverse_gaps_is_below_h_whatever_the_means() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        means = np.sort(rng.normal(0.0, rng.choice([0.1, 1.0, 10.0]), rng.integers(2, 12)))
        gaps = means[-1] - means[:-1]
        assert (1.0 / gaps**2).sum() < theory.complexity(means)


def test_they_are_counted_apart() -> None:
    claim = dataclasses.replace(CLAIMS[0], by_construction="it is")
    assert Verdict(claim, {"ours": Finding(HOLDS, "")}).overall == BY_CONSTRUCTION
    assert Verdict(claim, {"ours": Finding(OPEN, "")}).overall == NOT_TESTABLE
    assert Verdict(claim, {"ours": Finding(HOLDS, ""), "b": Finding(FAILS, "")}).overall == UNDER_SOME
    assert Verdict(CLAIMS[0], {"ours": Finding(FAILS, "")}).overall == UNDER_NONE


# --------------------------------------------------------------------------------------------------------------- lemma


def places(epsilon: float = 0.1) -> list[GridPoint]:
    return [
        GridPoint(delta, epsilon, {}, {"T": theory.exploration_pulls(epsilon / 2.0, delta)})
        for delta in (0.2, 0.1, 0.05, 0.02, 0.01)
    ]


def test_no_constant_serves_the_lemma_against_replaced_rewards_on_one_side() -> None:
    """Half of the replaced rewards are kept, and at 1000 sigma they move the trimmed mean by more than 55 sigma."""
    finding = OneConstantServes().judge(places())
    assert finding.verdict == FAILS
    needed = OneConstantServes()._needed(places()[1], 1e3)
    kept = 0.05 + 1.28 * math.sqrt(0.1 * 0.9 / 1843)  # as many as in nine of ten samples
    assert needed == pytest.approx(1e3 * kept / 0.9 / (0.1 * math.sqrt(math.log(10.0))), rel=0.05)
    assert OneConstantServes(1.0).judge(places()).verdict == FAILS  # half of the time more than epsilon are replaced


def test_the_lemma_stands_where_more_is_trimmed_than_replaced() -> None:
    assert OneConstantServes(2.0).judge(places()).verdict == HOLDS


# ------------------------------------------------------------------------------------------------------ stored in 2022


@pytest.fixture(scope="module")
def stored() -> pd.DataFrame:
    points = [point for experiment in STORED_EXPERIMENTS for point in experiment.points()]
    run = Run((), 300, 7, {point: _simulate(point, 300, 7) for point in points})
    return stored_table(run)


def test_our_pulls_are_those_stored_in_2022_but_for_the_median_on_synthetic_arms(stored: pd.DataFrame) -> None:
    """Which is why that is said to be unknown; the printed T alone would take 4 x 2,952 pulls at delta = 0.025."""
    within = {
        key: (int(part["within"].sum()), len(part)) for key, part in stored.groupby(["arms", "method"], sort=False)
    }
    assert within == {
        ("synthetic", "se-cbai"): (5, 5),
        ("synthetic", "median-se"): (0, 5),
        ("PKIS2", "se-cbai"): (2, 2),
        ("PKIS2", "median-se"): (2, 2),
    }
    assert stored["difference"].abs().max() < 15.0
    assert (stored.loc[stored["method"] == "se-cbai", "wrong"] == 0).all()


def test_an_exploration_of_2022_is_as_long_as_its_numbers_say() -> None:
    """At delta = 0.001 no trial goes on after it: 4 ceil(log(1000)/0.01) pulls and 1."""
    assert 4 * math.ceil(math.log(1000.0) / 0.01) + 1 == STORED_RESULTS[0].theirs["se-cbai"][4]


# ------------------------------------------------------------------------------------------------------------ sentences


def verdict(claim: Claim, **found: str) -> Verdict:
    return Verdict(claim, {name.replace("_", " "): Finding(one, "") for name, one in found.items()})


def claim_of(experiment: str, text: str) -> Claim:
    (found,) = [claim for claim in CLAIMS if (claim.experiment, claim.text) == (experiment, text)]
    return found


def test_sentences_say_what_the_verdicts_say() -> None:
    ahead = claim_of("exp1", "g-cbai needs fewer pulls than se-cbai")
    points = pd.DataFrame(
        {"variant": "paper", "method": ["g-cbai (empirical)", "se-cbai", "mean-se"], "mean_pulls": 100.5, "K_T": 100}
    )
    points.loc[1, "mean_pulls"] = 120.0
    assert "at 1 of 2 points" in exploration([verdict(ahead, ours=FAILS, no_exploration=HOLDS)], points)
    assert "in 0 of 1 comparisons" in exploration([verdict(ahead, ours=FAILS, no_exploration=HOLDS)], points)
    assert "in 1 of 1 comparisons" in exploration([verdict(ahead, ours=HOLDS, no_exploration=FAILS)], points)
    text = "se-cbai needs fewer pulls than g-cbai with the theorem's threshold"
    both = [
        Verdict(claim_of(name, text), {"ours": Finding(HOLDS, ""), "beta = 1.1": Finding(one, "")})
        for name, one in (("exp5", FAILS), ("exp6", HOLDS))
    ]
    assert "in exp5 and exp6 at beta = 2, in exp6 at beta = 1.1, in none at beta = e/2" in exponent(both)
    wrong = claim_of("exp9", "se-cbai is wrong less often than mean-se")
    assert 'under "within 10" (exp9)' in sample_means([verdict(wrong, ours=FAILS, within_10=HOLDS)])
    assert "under no reading" in sample_means([verdict(wrong, ours=FAILS)])
    near = claim_of(
        "exp5", "the trimmed mean is near the mean, up to one constant, against replaced rewards on one side"
    )
    assert "no constant serves" in lemma([verdict(near, ours=FAILS)], [])
    assert lemma([verdict(near, ours=HOLDS)], [EXPERIMENTS["exp6"]]) == ""
    assert lemma([], [EXPERIMENTS["exp1"]]).startswith("In exp1 the two best means are closer than")
    made = dataclasses.replace(ahead, by_construction="it is")
    found = counts([verdict(ahead, ours=FAILS), verdict(ahead, ours=HOLDS), verdict(made, ours=HOLDS)])
    assert found == (
        "Of 2 claims of the paper that could have failed, 1 hold under every reading of its text that was decided, 0 "
        "under some, 1 under none, and 0 cannot be tested; 1 more hold by construction."
    )


def test_there_are_at_most_six_and_none_on_what_was_not_run(stored: pd.DataFrame) -> None:
    assert findings([], pd.DataFrame(), [], pd.DataFrame()) == []
    (only,) = findings([], pd.DataFrame(), [], stored)
    assert "5 of 5 of se-cbai on synthetic arms, 0 of 5 of median-se on synthetic arms" in only
