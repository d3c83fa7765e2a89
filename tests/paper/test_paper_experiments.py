"""The table of experiments: its numbers against the data, its adversaries, its seeds, and small runs of every row."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bestarm import METHODS, InputError, simulate
from bestarm.bandits import Gaussian, paper_adversary
from bestarm.bandits.adversaries import Uniform
from bestarm.paper import EXPERIMENTS, READINGS, Run, judge, run_experiments
from bestarm.paper.claims import (
    BY_CONSTRUCTION,
    CLAIMS,
    NOT_TESTABLE,
    OVERALL,
    UNDER_ALL,
    UNDER_NONE,
    UNDER_SOME,
    Verdict,
    concerns,
)
from bestarm.paper.comparisons import FAILS, HOLDS, OPEN, Fewer, Finding, GridPoint
from bestarm.paper.experiments import NYCC_MEANS, PKIS2_INHIBITION, PKIS2_LOG_CONTROL, PKIS2_STRENGTH
from bestarm.paper.experiments import experiment as varied_experiment
from bestarm.paper.readings import OURS, Reading
from bestarm.paper.readings_figure import draw_readings, readings_of, readings_table
from bestarm.paper.reproduce import all_trials
from bestarm.scenarios.experiment import MAX_PULLS, Point
from bestarm.scenarios.figures import draw_experiment, svg_text
from bestarm.scenarios.numbers import gap_ratios, grid_numbers, instance_numbers
from bestarm.scenarios.run import _simulate, telling_trials
from bestarm.scenarios.tables import points_table, trials_table
from places import DATA, PAPER

CONTEST = DATA / "nycc" / "651_summary_KLUCB.csv"
KINASES = DATA / "pkis2" / "journal.pone.0181585.s004.csv"
TRIALS = 5


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_experiments(out=tmp_path_factory.mktemp("small"), trials=TRIALS, seed=7)


@pytest.fixture(scope="module")
def points(small: Run) -> pd.DataFrame:
    return points_table(small)


@pytest.mark.skipif(not CONTEST.exists(), reason="the caption contest's data file is not here")
def test_the_means_of_the_captions_are_those_of_the_data() -> None:
    data = pd.read_csv(CONTEST)
    votes = data["unfunny"] + 2 * data["somewhat_funny"] + 3 * data["funny"]
    scores = np.sort((votes / data["count"]).to_numpy())[::-1]
    assert scores[[0, 99, 999, 4999]].tolist() == list(NYCC_MEANS)


@pytest.mark.skipif(not KINASES.exists(), reason="the kinase inhibitors' data file is not here")
def test_the_values_of_the_inhibitors_are_those_of_the_data() -> None:
    inhibition = pd.read_csv(KINASES, encoding="utf-8-sig")["ACVRL1"].to_numpy(float)
    measured = np.sort(inhibition[inhibition > 0.0])[::-1]
    assert measured.size == 189
    assert measured[[0, 9, 39, 119]].tolist() == list(PKIS2_INHIBITION)


def test_experiment_4_looks_for_the_highest_log_percent_control_as_printed() -> None:
    remains = [math.log(0.075), math.log(0.23), math.log(0.7), math.log(0.91)]
    assert EXPERIMENTS["exp4"].means == PKIS2_LOG_CONTROL == pytest.approx(remains, rel=1e-12)
    assert int(np.argmax(EXPERIMENTS["exp4"].means)) == 3  # 9 % inhibited, 91 % control


def test_log_normal_arms_have_the_means_of_the_papers_formula() -> None:
    expected = [math.exp(1.0 + 0.5), math.exp(1.05 + 1.44 / 2.0)]
    assert EXPERIMENTS["exp7"].means == pytest.approx(expected, rel=1e-12)


def test_every_curve_of_the_paper_that_explores_has_a_shorter_twin_and_every_figure_the_certified_method() -> None:
    for experiment in EXPERIMENTS.values():
        own = [c for c in experiment.curves if c.variant == "paper"]
        explore = {c.label for c in own if "exploration" in {option.name for option in METHODS[c.method].options}}
        explore -= {c.label for c in own if c.method.startswith("mean-")}
        shorter = {c.label.removesuffix(", chernoff") for c in experiment.curves if c.variant == "chernoff"}
        assert shorter == explore
        assert [c.method for c in experiment.curves if c.variant == "certified"] == ["certified"]


@pytest.mark.parametrize("seed", range(5))
def test_one_adversary_serves_all_epsilons_of_an_experiment(seed: int) -> None:
    for experiment in EXPERIMENTS.values():
        mu = np.array(experiment.means)
        centres = np.array(paper_adversary(mu, max(experiment.epsilons), seed).pieces[0].a)
        best = int(mu.argmax())
        for epsilon in experiment.epsilons:
            mixed = (1.0 - epsilon) * mu + epsilon * centres
            assert (mixed[best] - mixed >= (mu[best] - mu) / 2.0 - 1e-12).all()


def test_methods_at_one_place_share_their_seed_and_places_do_not() -> None:
    seeds: dict[tuple[float, float], set[tuple[int, ...]]] = {}
    for point in EXPERIMENTS["exp2"].points():
        seeds.setdefault((point.delta, point.epsilon), set()).add(tuple(point.seeds(7, 1)[0].generate_state(4)))
    assert [len(found) for found in seeds.values()] == [1] * 5
    assert len(set.union(*seeds.values())) == 5


def test_equal_points_of_two_figures_are_simulated_once(small: Run) -> None:
    shared = set(EXPERIMENTS["exp1"].points()) & set(EXPERIMENTS["exp5"].points())
    assert {point.method for point in shared} == {"se-cbai", "median-se", "certified"}
    assert len(small.outcomes) == len(all_trials(list(EXPERIMENTS.values()), TRIALS))
    of_figures = {point for experiment in EXPERIMENTS.values() for point in experiment.points()}
    (chernoff,) = [reading for reading in READINGS if reading.name == "chernoff"]
    assert all(set(chernoff.of(one).points()) <= of_figures for one in EXPERIMENTS.values())


def test_a_point_is_what_simulate_gives_for_its_settings(small: Run) -> None:
    experiment = EXPERIMENTS["exp6"]
    curve = experiment.curves[1]
    found = small.outcome(experiment, curve, 0.05, 0.1)
    (point,) = [p for p in experiment.points() if p.method == "se-cbai" and p.delta == 0.05 and not p.options]
    again = simulate(
        point.bandits(7)[0],
        "se-cbai",
        delta=0.05,
        trials=TRIALS,
        seed=point.seeds(7, 1)[0],
        sigma=1.0,
        max_pulls=MAX_PULLS,
    )
    assert found.pulls.tolist() == again.pulls.tolist()
    assert found.arm_pulls.tolist() == again.arm_pulls.tolist()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_runs_and_no_trial_of_the_paper_stops_before_its_exploration(
    name: str, points: pd.DataFrame
) -> None:
    experiment = EXPERIMENTS[name]
    own = points[points["experiment"] == name]
    assert len(own) == len(experiment.curves) * 5
    exploring = own[(own["variant"] == "paper") & ~own["method"].str.startswith("mean-")]
    assert (exploring["q05"] >= exploring["K_T"]).all()
    shorter = own[own["variant"] == "chernoff"].set_index(["delta", "epsilon"])
    for delta, epsilon in experiment.grid:
        assert (shorter.loc[(delta, epsilon), "q05"] >= grid_numbers(experiment, delta, epsilon)["K_T_chernoff"]).all()
    assert (own["undecided"] == 0.0).all()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_figure_shows_each_curve_at_each_place(name: str, points: pd.DataFrame) -> None:
    experiment = EXPERIMENTS[name]
    for ours in (False, True):
        figure = draw_experiment(points, experiment, ours=ours)
        pulls, ratio, errors = figure.axes
        curves = [curve for curve in experiment.curves if (curve.variant != "paper") == ours]
        for panel in (pulls, ratio, errors):
            assert len(panel.containers) == len(curves)
        for curve, container in zip(curves, pulls.containers, strict=True):
            drawn = container[0].get_ydata()
            expected = points[(points["experiment"] == name) & (points["method"] == curve.label)]["mean_pulls"]
            assert list(drawn) == expected.tolist()
        expected_names = {curve.label.removesuffix(", chernoff") for curve in curves}
        for panel in (pulls, ratio, errors):  # methods are named in every panel
            named = [text for text in panel.texts if text.get_text().split("\n")[0] in expected_names]
            assert len(named) == len(curves)
            heights = sorted(text.get_position()[1] for text in named)
            assert all(upper - lower > 0.06 for lower, upper in itertools.pairwise(heights))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_lower_bound_is_drawn_for_normal_arms_only(name: str, points: pd.DataFrame) -> None:
    """With sigma = 1 it says nothing about exponential and log-normal arms."""
    for ours in (False, True):
        pulls = draw_experiment(points, EXPERIMENTS[name], ours=ours).axes[0]
        labels = [text.get_text() for text in pulls.texts]
        assert any(label.startswith("lower bound") for label in labels) == (name not in ("exp6", "exp7"))
        assert "K T" in labels


def test_a_method_that_names_no_winner_does_not_look_like_one_that_is_never_wrong(points: pd.DataFrame) -> None:
    *_, errors = draw_experiment(points, EXPERIMENTS["exp1"], ours=True).axes
    certified = errors.containers[-1][0].get_ydata()
    assert np.isnan(certified).all()  # no marker at 0 errors
    marks = [np.asarray(mark.get_offsets()) for mark in errors.collections]
    assert any(mark.shape == (5, 2) and (mark[:, 1] == mark[0, 1]).all() and mark[0, 1] < 0.0 for mark in marks)
    assert "named none" in [text.get_text() for text in errors.texts]
    *_, errors = draw_experiment(points, EXPERIMENTS["exp1"]).axes
    assert "named none" not in [text.get_text() for text in errors.texts]


def test_a_figure_is_the_same_text_for_the_same_points(points: pd.DataFrame) -> None:
    first, second = (svg_text(draw_experiment(points, EXPERIMENTS["exp4"], tall=True)) for _ in range(2))
    assert first == second
    assert first.count("<svg") == 1


def test_every_claim_can_be_judged_under_every_reading_that_concerns_it(small: Run) -> None:
    verdicts = judge(small)
    assert len(verdicts) == len(CLAIMS) >= 12
    assert {claim.experiment for claim in CLAIMS} == set(EXPERIMENTS)
    assert {verdict.overall for verdict in verdicts} <= set(OVERALL)
    (explored,) = [v for v in verdicts if v.claim.quote.startswith("from the sampling rule")]
    assert explored.findings["ours"].verdict == HOLDS
    assert "no exploration" not in explored.findings  # it contradicts the sentence
    assert explored.overall == BY_CONSTRUCTION
    better = {v.claim.experiment: v for v in verdicts if v.claim.text == "g-cbai needs fewer pulls than se-cbai"}
    assert better["exp4"].findings["ours"].verdict == FAILS  # all take K T pulls
    assert better["exp4"].findings["no exploration"].verdict == HOLDS
    assert better["exp4"].overall == UNDER_SOME
    assert "random from the start" not in explored.findings  # it looks at g-cbai and se-cbai alone
    used = {name for verdict in verdicts for name in verdict.findings}
    assert used == {reading.name for reading in READINGS}


@pytest.mark.parametrize(
    ("found", "overall"),
    [
        ((HOLDS, HOLDS), UNDER_ALL),
        ((HOLDS, OPEN), UNDER_ALL),
        ((HOLDS, FAILS), UNDER_SOME),
        ((FAILS, OPEN), UNDER_NONE),
        ((OPEN, OPEN), NOT_TESTABLE),
    ],
)
def test_readings_left_open_are_not_counted(found: tuple[str, ...], overall: str) -> None:
    verdict = Verdict(CLAIMS[0], {str(place): Finding(one, "") for place, one in enumerate(found)})
    assert verdict.overall == overall


def test_trials_add_up_to_points(small: Run, points: pd.DataFrame) -> None:
    trials = trials_table(small)
    shares = {"paper": 1.0, "chernoff": 1.0, "certified": 0.2}  # the reading chernoff wants all of so few
    assert (points["trials"] == [math.ceil(TRIALS * shares[variant]) for variant in points["variant"]]).all()
    assert len(trials) == points["trials"].sum()
    keys = ["experiment", "method", "variant", "delta", "epsilon"]
    means = trials.groupby(keys, sort=False)["pulls"].mean()
    assert means.to_numpy() == pytest.approx(points["mean_pulls"].to_numpy())


def test_numbers_of_the_papers_instance() -> None:
    row = grid_numbers(EXPERIMENTS["exp1"], 0.01, 0.1)
    assert row["T"] == pytest.approx(800.0 * math.log(100.0))
    assert row["K_T"] == 4 * 3685
    gaps = np.array([0.2, 0.2, 0.5, 1.9])
    assert row["lower_bound"] == pytest.approx((2.0 / gaps**2).sum() * math.log(100.0))
    numbers = instance_numbers(EXPERIMENTS["exp1"])
    assert numbers["hidden_gap"] == pytest.approx(2 * 0.1397, abs=1e-4)
    assert numbers["H_worst_case"] == math.inf


# ---------------------------------------------------------------------------------------------------------- readings


def test_a_reading_changes_what_it_says_and_nothing_else() -> None:
    base = OURS.of(EXPERIMENTS["exp6"])
    by_name = {reading.name: reading.of(EXPERIMENTS["exp6"]) for reading in READINGS}
    none = {curve.label: dict(curve.options).get("exploration") for curve in by_name["no exploration"].curves}
    assert none == {"g-cbai": "none", "se-cbai": "none", "random": "none", "median-se": "none", "mean-se": None}
    same = [curve.options for curve in by_name["same parameters"].curves if curve.options]
    assert same == [(("parameters", "same"),)]
    start = {curve.label: curve.options for curve in by_name["random from the start"].curves if curve.options}
    assert start == {"random": (("floor", "total"),)}
    for name in ("other draws", "no margin", "within 10", "within 20"):
        assert dataclasses.replace(by_name[name], adversary=base.adversary, max_pulls=base.max_pulls) == base
    assert by_name["strongest inhibitor"] == base
    for name, power in (("beta = 1.1", 1.1), ("beta = e/2", math.e / 2.0)):
        beta = {curve.label: curve.options for curve in by_name[name].curves if curve.options}
        assert beta == {"g-cbai": (("power", power),), "random": (("power", power),)}
    assert READINGS[0].of(EXPERIMENTS["exp6"]) == base


def test_the_strongest_inhibitor_is_the_best_where_percent_control_is_negated() -> None:
    varied = reading("strongest inhibitor").of(EXPERIMENTS["exp4"])
    assert varied.means == PKIS2_STRENGTH == tuple(-mean for mean in PKIS2_LOG_CONTROL)
    assert int(np.argmax(varied.means)) == 0


def reading(name: str) -> Reading:
    (found,) = [reading for reading in READINGS if reading.name == name]
    return found


def test_the_exponent_of_t_turns_who_needs_fewer_pulls() -> None:
    """Experiment 5 at one delta: se-cbai needs fewer than g-cbai at beta = 2, and more at 1.1 and e/2."""
    check = Fewer("se-cbai", "g-cbai")
    found = {}
    for name in ("ours", "beta = 1.1", "beta = e/2"):
        varied = reading(name).of(EXPERIMENTS["exp5"])
        curves = {curve.label: curve for curve in varied.curves}
        trials = {label: _simulate(varied.point(curves[label], 0.2, 0.1), 400, 7) for label in check.labels}
        found[name] = check.judge([GridPoint(0.2, 0.1, trials, {})]).verdict
    assert found == {"ours": HOLDS, "beta = 1.1": FAILS, "beta = e/2": FAILS}


def test_the_upper_bound_has_the_exponent_of_the_reading() -> None:
    bounds = [
        grid_numbers(reading(name).of(EXPERIMENTS["exp5"]), 0.1, 0.1)["upper_bound_g_cbai"]
        for name in ("ours", "beta = 1.1", "beta = e/2")
    ]
    H = instance_numbers(EXPERIMENTS["exp5"])["H"]
    assert bounds == pytest.approx([64.0 * beta * H * math.log(10.0) for beta in (2.0, 1.1, math.e / 2.0)])


def test_the_first_authors_code_is_a_reading_of_every_experiment() -> None:
    code = reading("first author's code")
    for name, experiment in EXPERIMENTS.items():
        varied = code.of(experiment)
        assert varied.arms == experiment.arms
        law = (0.1, 0.05) if name == "exp4" else (0.8, 0.5)
        (adversary,) = varied.adversaries(7)
        assert adversary == Uniform(*law)
        for curve in varied.curves:
            options = dict(varied.point(curve, 0.1, max(varied.epsilons)).options)
            options.pop("threshold", None)
            trimmed = {"alpha": max(varied.epsilons), "exploration": "half"}
            expected: dict[str, Any] = {
                "g-cbai": trimmed,
                "random": trimmed,
                "se-cbai": {**trimmed, "radius": "all-pulls"},
                "median-se": {"exploration": "none", "radius": "all-pulls"},
            }
            assert options == expected.get(curve.method, {})
    wide = code.of(EXPERIMENTS["exp2"])
    alphas = [dict(wide.point(wide.curves[1], 0.1, epsilon).options)["alpha"] for epsilon in wide.epsilons]
    assert alphas == list(wide.epsilons)


@pytest.mark.parametrize("name", ["other draws", "no margin", "within 10", "within 20"])
def test_several_adversaries_share_the_trials_of_a_point_evenly(name: str, small: Run) -> None:
    other = reading(name).of(EXPERIMENTS["exp9"])
    adversaries = other.adversaries(7)
    assert len(set(adversaries)) == 20
    assert len(gap_ratios(other, 7, 0.1)) == 20
    assert all(ratio > 0.0 for ratio in gap_ratios(other, 7, 0.1))
    if name == "other draws":
        assert adversaries[0] == EXPERIMENTS["exp9"].adversaries(7)[0]  # ours is the first
        assert min(gap_ratios(other, 7, 0.1)) >= 0.5
    assert len(small.outcome(other, other.curves[0], 0.1, 0.1)) == TRIALS
    found = run_point(other.point(other.curves[1], 0.1, 0.1), 40)
    bandits = other.point(other.curves[1], 0.1, 0.1).bandits(7)
    seeds = other.point(other.curves[1], 0.1, 0.1).seeds(7, 20)
    third = simulate(bandits[2], "mean-se", delta=0.1, trials=2, seed=seeds[2], sigma=1.0, max_pulls=other.max_pulls)
    assert found[4:6] == third.pulls.tolist()


def run_point(point: Point, trials: int) -> list[int]:
    return [int(pulls) for pulls in _simulate(point, trials, 7).pulls]


def test_the_ratio_of_gaps_is_that_of_the_means_of_what_is_observed() -> None:
    experiment = EXPERIMENTS["exp1"]
    (adversary,) = experiment.adversaries(7)
    assert adversary is not None
    rng = np.random.default_rng(1)
    observed = [
        np.where(
            rng.random(400_000) < 0.1, centre + rng.uniform(-1, 1, 400_000), mean + rng.normal(size=400_000)
        ).mean()
        for mean, centre in zip(experiment.means, adversary.pieces[0].a, strict=True)
    ]
    ratio = (observed[0] - max(observed[1:])) / 0.2
    assert gap_ratios(experiment, 7, 0.1) == [pytest.approx(ratio, abs=0.05)]


def test_a_reading_concerns_a_claim_only_if_it_changes_what_the_test_looks_at() -> None:
    concerned = {
        (claim.experiment, claim.text): {r.name for r in READINGS if concerns(r, EXPERIMENTS[claim.experiment], claim)}
        for claim in CLAIMS
    }
    assert concerned["exp1", "the sum of 1/Delta_i^2 over all arms but the best is below H"] == {"ours"}
    assert concerned["exp4", "the sum of 1/Delta_i^2 over all arms but the best is below H"] == {
        "ours",
        "strongest inhibitor",
    }
    assert "same parameters" in concerned["exp9", "se-cbai is wrong less often than mean-se"]
    assert "same parameters" not in concerned["exp9", "se-cbai keeps delta"]


def test_other_readings_have_trials_enough_to_show_that_delta_is_kept() -> None:
    wanted = all_trials([EXPERIMENTS["exp9"]], 1000)
    for reading in READINGS:
        other = reading.of(EXPERIMENTS["exp9"])
        for curve in other.curves:
            for delta, epsilon in other.grid:
                assert wanted[other.point(curve, delta, epsilon)] >= telling_trials(delta, 5)
    ours = OURS.of(EXPERIMENTS["exp9"])
    assert {wanted[ours.point(curve, *place)] for curve in ours.curves for place in ours.grid} == {1000}


def test_the_table_and_figure_of_readings_have_a_row_each(small: Run) -> None:
    table = readings_table(small, [EXPERIMENTS["exp4"]])
    names = [reading.name for reading, _ in readings_of(EXPERIMENTS["exp4"])]
    assert list(dict.fromkeys(table["reading"])) == names
    assert "same parameters" not in names  # there is no sample mean in experiment 4
    assert len(table) == len(names) * 4 * 5
    figure = draw_readings(table, EXPERIMENTS["exp4"])
    shown = [label.get_text().split(" (")[0] for label in figure.axes[0].get_yticklabels()]
    assert shown == names
    for panel in figure.axes:
        legend = panel.get_legend()
        assert legend is not None
        assert len(legend.get_texts()) == 4


# -------------------------------------------------------------------------------------------------------------- quotes


@pytest.mark.skipif(not PAPER.exists(), reason="the paper's text is not at ../shared/paper")
def test_every_claim_quotes_words_of_the_paper() -> None:
    text = PAPER.read_text(encoding="utf-8")
    text = re.sub(r"~?\\cite\{[^}]*\}", "", text)
    text = " ".join(text.replace("~", " ").split()).casefold()
    for claim in CLAIMS:
        pattern = ".{1,250}?".join(re.escape(part) for part in claim.quote.casefold().split(" ... "))
        assert re.search(pattern, text), claim.quote


# ------------------------------------------------------------------------------------------------------ own variations


def test_a_variation_changes_what_was_asked_for() -> None:
    varied = varied_experiment("exp7", epsilon=0.05, means=[2.0, 3.0], sigma=2.0, grid=[0.3])
    assert varied.means == pytest.approx((2.0, 3.0))
    assert [arm.parameters[1] for arm in varied.arms] == [1.0, 1.2]  # type: ignore[attr-defined]
    assert (varied.epsilons, varied.deltas, varied.sigma) == ((0.05,), (0.3,), 2.0)
    assert varied.name == "exp7-variation"
    assert varied_experiment("exp1", sigma=2.0).arms == tuple(Gaussian(mean, 2.0) for mean in (2.5, 2.3, 2.0, 0.6))
    assert varied_experiment("exp6", means=[1, 2, 3]).means == (1.0, 2.0, 3.0)
    assert varied_experiment("exp2", delta=0.2, grid=[0.01, 0.3]).grid == ((0.2, 0.01), (0.2, 0.3))
    assert varied_experiment("exp5") is EXPERIMENTS["exp5"]
    one = varied_experiment("exp2", grid=[0.1])
    assert (one.sweep, one.epsilons) == ("epsilon", (0.1,))
    assert varied_experiment("exp1", means=np.array([1.0, 2.0])).means == (1.0, 2.0)
    assert varied_experiment("exp1", epsilon=0.01).max_pulls > 4 * 184_207 * 4  # K T is far beyond the usual cap


def test_variations_of_one_name_are_not_run_together(tmp_path: Path) -> None:
    both = [varied_experiment("exp7", epsilon=epsilon) for epsilon in (0.05, 0.2)]
    with pytest.raises(InputError, match="experiments must have names of their own, got 'exp7-variation'"):
        run_experiments(both, out=tmp_path / "out", trials=2)
    assert not (tmp_path / "out").exists()


def test_a_figure_of_one_place_and_of_trials_cut_short_shows_both(tmp_path: Path) -> None:
    one = dataclasses.replace(varied_experiment("exp1", grid=[0.1]), max_pulls=1000)
    table = points_table(run_experiments([one], out=tmp_path, trials=3))
    pulls, ratio, errors = draw_experiment(table, one).axes
    assert (table[table["variant"] == "paper"]["undecided"] == 1.0).all()
    assert np.isnan([container[0].get_ydata() for container in errors.containers]).all()
    assert "named none" in [text.get_text() for text in errors.texts]
    assert len(pulls.lines) > len(pulls.containers)  # K T and the lower bound, though there is one place only
    low, high = ratio.get_ylim()
    drawn = [container[0].get_ydata()[0] for container in ratio.containers]
    assert low < min(drawn) <= max(drawn) < high


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("exp0", {}, "name must be one of exp1"),
        ("exp2", {"epsilon": 0.1}, "epsilon must not be given for exp2"),
        ("exp1", {"delta": 0.1}, "delta must not be given for exp1"),
        ("exp1", {"epsilon": 0.6}, "epsilon must be in [0, 0.5)"),
        ("exp1", {"grid": []}, "grid must be a list of values of delta"),
        ("exp1", {"grid": [0.1, 0.1]}, "grid must not repeat a value"),
        ("exp1", {"grid": [1.5]}, "delta must be in (0, 1)"),
        ("exp1", {"means": [1.0]}, "means must be a list of at least two numbers"),
        ("exp1", {"epsilon": 1e-4}, "epsilon must be larger, or delta"),
        ("exp7", {"means": [1.0, 2.0, 3.0]}, "means must be 2 numbers"),
        ("exp7", {"means": [-1.0, 2.0]}, "means must be above 0"),
        ("exp1", {"sigma": 0.0}, "sigma must be"),
    ],
)
def test_a_variation_that_makes_no_sense_is_refused(name: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        varied_experiment(name, **changes)


# ------------------------------------------------------------------------------------------------------------ resume

KILLED = """
import sys
from bestarm.paper import run_experiments
run_experiments(["exp7"], out=sys.argv[1], trials=60, seed=3)
"""
POINTS = len(all_trials([EXPERIMENTS["exp7"]], 60))


def finished(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.glob("points/*/trials-*.parquet")}


@pytest.mark.slow
def test_a_killed_run_is_resumed_without_repeating_what_was_finished(tmp_path: Path) -> None:
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(broken)])
    try:
        limit = time.monotonic() + 120.0
        while len(finished(broken)) < 3:
            assert process.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.005)
    finally:
        process.kill()
        process.wait()
    kept = finished(broken)
    assert 3 <= len(kept) < POINTS
    resumed = run_experiments(["exp7"], out=broken, trials=60, seed=3, resume=True)
    assert {name: time for name, time in finished(broken).items() if name in kept} == kept
    fresh = run_experiments(["exp7"], out=whole, trials=60, seed=3)
    pd.testing.assert_frame_equal(trials_table(resumed), trials_table(fresh))
    assert len(finished(broken)) == POINTS


def test_a_run_can_be_resumed_with_more_experiments_but_not_with_other_settings(tmp_path: Path) -> None:
    run_experiments(["exp9"], out=tmp_path, trials=2, seed=1)
    before = finished(tmp_path)
    with pytest.raises(InputError, match=re.escape("trials must be 2, as in the run to resume, got 3")):
        run_experiments(["exp9"], out=tmp_path, trials=3, seed=1, resume=True)
    with pytest.raises(InputError, match=re.escape("seed must be 1, as in the run to resume, got 2")):
        run_experiments(["exp9"], out=tmp_path, trials=2, seed=2, resume=True)
    run_experiments(["exp8", "exp9"], out=tmp_path, trials=2, seed=1, resume=True)
    after = finished(tmp_path)
    assert {name: after[name] for name in before} == before
    assert len(after) == len(all_trials([EXPERIMENTS["exp8"], EXPERIMENTS["exp9"]], 2))


def test_a_run_of_other_kernels_is_not_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_experiments(["exp7"], out=tmp_path, trials=2, seed=1)
    other = {"version": "0.1.0", "kernels": "of another day"}
    monkeypatch.setattr("bestarm.scenarios.run.code_key", lambda: other)
    with pytest.raises(InputError, match=r"kernels must be '.*', as in the run to resume, got 'of another day'"):
        run_experiments(["exp7"], out=tmp_path, trials=2, seed=1, resume=True)


def test_points_of_another_rule_or_another_adversary_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run_experiments(["exp9"], out=tmp_path, trials=2, seed=1)
    monkeypatch.setattr("bestarm.methods._base.hoeffding_pulls", lambda alpha, delta: 30.0)  # a change of the catalogue
    other = run_experiments(["exp9"], out=tmp_path, trials=2, seed=1, resume=True)
    place = (EXPERIMENTS["exp9"], EXPERIMENTS["exp9"].curves[0], 0.1, 0.1)
    assert other.outcome(*place).pulls.tolist() != whole.outcome(*place).pulls.tolist()
    monkeypatch.undo()
    monkeypatch.setattr("bestarm.scenarios.experiment.paper_adversary", lambda *a, **k: Uniform([0.0] * 8))
    moved = run_experiments(["exp9"], out=tmp_path, trials=2, seed=1, resume=True)
    assert moved.outcome(*place).pulls.tolist() != whole.outcome(*place).pulls.tolist()


def test_a_used_folder_is_refused_or_resumed_or_overwritten(tmp_path: Path) -> None:
    run_experiments(["exp9"], out=tmp_path, trials=2, seed=1)
    (tmp_path / "report.html").write_text("old", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"out must be new or empty.*: resume=True contin.*, overwrite=True removes"):
        run_experiments(["exp7"], out=tmp_path, trials=4, seed=2)
    with pytest.raises(InputError, match="overwrite must not be given with resume"):
        run_experiments(["exp7"], out=tmp_path, trials=4, seed=2, resume=True, overwrite=True)
    run_experiments(["exp7"], out=tmp_path, trials=4, seed=2, overwrite=True)
    assert len(finished(tmp_path)) == len(all_trials([EXPERIMENTS["exp7"]], 4))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "points", "settings.json"]


def test_a_folder_that_is_no_run_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "points").mkdir()
    (tmp_path / "points" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="out must be new, empty, or a folder of bestarm reproduce"):
        run_experiments(["exp7"], out=tmp_path, trials=2, overwrite=True)
    assert (tmp_path / "points" / "mine.txt").exists()
    for text in ("{}", "[]", "no json", '{"made by": "bestarm simulate"}'):
        (tmp_path / "settings.json").write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="out must be new, empty, or a folder of bestarm reproduce"):
            run_experiments(["exp7"], out=tmp_path, trials=2, overwrite=True)
    assert (tmp_path / "points" / "mine.txt").exists()
    with pytest.raises(InputError, match="out must be a folder"):
        run_experiments(["exp7"], out=tmp_path / "points" / "mine.txt", trials=2)


def test_a_damaged_point_is_named_and_simulated_again(tmp_path: Path) -> None:
    whole = run_experiments(["exp7"], out=tmp_path, trials=2, seed=1)
    damaged = sorted(tmp_path.glob("points/*/trials-*.parquet"))[0]
    damaged.write_bytes(damaged.read_bytes()[:100])
    with pytest.warns(UserWarning, match=re.escape(damaged.name)):
        again = run_experiments(["exp7"], out=tmp_path, trials=2, seed=1, resume=True)
    pd.testing.assert_frame_equal(trials_table(again), trials_table(whole))


def test_there_must_be_something_to_resume(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="out must hold a run to resume"):
        run_experiments(["exp7"], out=tmp_path / "nothing", trials=2, resume=True)
    assert not (tmp_path / "nothing").exists()


def test_unknown_experiments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="experiments must be one of exp1, exp2"):
        run_experiments(["exp10"], out=tmp_path)
    with pytest.raises(InputError, match=re.escape("put it in brackets: ['exp1']")):
        run_experiments("exp1", out=tmp_path)
    with pytest.raises(dataclasses.FrozenInstanceError):
        EXPERIMENTS["exp1"].name = "exp10"  # type: ignore[misc]
