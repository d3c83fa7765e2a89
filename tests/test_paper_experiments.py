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

import numpy as np
import pandas as pd
import pytest

from bestarm import METHODS, InputError, simulate
from bestarm.bandits import paper_adversary
from bestarm.paper import EXPERIMENTS, Run, judge, run_experiments
from bestarm.paper.claims import CLAIMS
from bestarm.paper.experiments import MAX_PULLS, NYCC_MEANS, PKIS2_INHIBITION, PKIS2_MEANS
from bestarm.paper.figures import draw_experiment, svg_text
from bestarm.paper.numbers import grid_numbers, instance_numbers
from bestarm.paper.run import points_table, trials_table

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
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


def test_values_of_the_inhibitors_are_minus_the_log_of_what_remains() -> None:
    assert pytest.approx([-math.log(0.075), -math.log(0.23), -math.log(0.7), -math.log(0.91)], rel=1e-12) == PKIS2_MEANS


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
        seeds.setdefault((point.delta, point.epsilon), set()).add(tuple(point.seed(7).generate_state(4)))
    assert [len(found) for found in seeds.values()] == [1] * 5
    assert len(set.union(*seeds.values())) == 5


def test_equal_points_of_two_figures_are_simulated_once(small: Run) -> None:
    shared = set(EXPERIMENTS["exp1"].points()) & set(EXPERIMENTS["exp5"].points())
    assert {point.method for point in shared} == {"se-cbai", "median-se", "certified"}
    assert len(small.outcomes) == len({point for experiment in EXPERIMENTS.values() for point in experiment.points()})


def test_a_point_is_what_simulate_gives_for_its_settings(small: Run) -> None:
    experiment = EXPERIMENTS["exp6"]
    curve = experiment.curves[1]
    found = small.outcome(experiment, curve, 0.05, 0.1)
    (point,) = [p for p in experiment.points() if p.method == "se-cbai" and p.delta == 0.05 and not p.options]
    again = simulate(
        point.bandit(7), "se-cbai", delta=0.05, trials=TRIALS, seed=point.seed(7), sigma=1.0, max_pulls=MAX_PULLS
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
        names = [text.get_text() for text in ratio.texts]
        expected_names = [curve.label.removesuffix(", chernoff") for curve in curves]
        assert sorted(label.split("\n")[0] for label in names) == sorted(expected_names)
        heights = sorted(text.get_position()[1] for text in ratio.texts)
        assert all(upper - lower > 0.06 for lower, upper in itertools.pairwise(heights))


def test_a_figure_is_the_same_text_for_the_same_points(points: pd.DataFrame) -> None:
    first, second = (svg_text(draw_experiment(points, EXPERIMENTS["exp4"], tall=True)) for _ in range(2))
    assert first == second
    assert first.count("<svg") == 1


def test_every_claim_can_be_judged(small: Run) -> None:
    verdicts = judge(small)
    assert len(verdicts) == len(CLAIMS) >= 12
    assert {claim.experiment for claim in CLAIMS} == set(EXPERIMENTS)
    explored = [v for v in verdicts if v.claim.text.startswith('"from the sampling rule')]
    assert [v.finding.verdict for v in explored] == ["holds"]


def test_trials_add_up_to_points(small: Run, points: pd.DataFrame) -> None:
    trials = trials_table(small)
    assert (points["trials"] == TRIALS).all()
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


# ------------------------------------------------------------------------------------------------------------ resume

KILLED = """
import sys
from bestarm.paper import run_experiments
run_experiments(["exp7"], out=sys.argv[1], trials=60, seed=3)
"""


def test_a_killed_run_is_resumed_without_repeating_what_was_finished(tmp_path: Path) -> None:
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(broken)])
    try:
        limit = time.monotonic() + 120.0
        while len(list(broken.glob("points/*.parquet"))) < 3:
            assert process.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.005)
    finally:
        process.kill()
        process.wait()
    kept = {path: path.stat().st_mtime_ns for path in broken.glob("points/*.parquet")}
    assert 3 <= len(kept) < 25
    resumed = run_experiments(["exp7"], out=broken, trials=60, seed=3, resume=True)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    fresh = run_experiments(["exp7"], out=whole, trials=60, seed=3)
    pd.testing.assert_frame_equal(trials_table(resumed), trials_table(fresh))
    assert len(list(broken.glob("points/*.parquet"))) == 25


def test_a_run_can_be_resumed_with_more_experiments_but_not_with_other_settings(tmp_path: Path) -> None:
    run_experiments(["exp9"], out=tmp_path, trials=2, seed=1)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("points/*.parquet")}
    with pytest.raises(InputError, match=re.escape("trials must be 2, as in the run to resume, got 3")):
        run_experiments(["exp9"], out=tmp_path, trials=3, seed=1, resume=True)
    with pytest.raises(InputError, match=re.escape("seed must be 1, as in the run to resume, got 2")):
        run_experiments(["exp9"], out=tmp_path, trials=2, seed=2, resume=True)
    run_experiments(["exp8", "exp9"], out=tmp_path, trials=2, seed=1, resume=True)
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("points/*.parquet")}
    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + 30  # the certified points are those of exp9


def test_a_fresh_run_does_not_mix_with_what_was_there(tmp_path: Path) -> None:
    run_experiments(["exp9"], out=tmp_path, trials=2, seed=1)
    run_experiments(["exp7"], out=tmp_path, trials=4, seed=2)
    assert len(list(tmp_path.glob("points/*.parquet"))) == 25


def test_a_damaged_point_is_named_and_not_used(tmp_path: Path) -> None:
    run_experiments(["exp7"], out=tmp_path, trials=2, seed=1)
    damaged = sorted(tmp_path.glob("points/*.parquet"))[0]
    damaged.write_bytes(damaged.read_bytes()[:100])
    with pytest.raises(InputError, match=re.escape(damaged.name)):
        run_experiments(["exp7"], out=tmp_path, trials=2, seed=1, resume=True)


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
