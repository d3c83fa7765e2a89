"""The full-size experiments: what rigged votes can lift, who crowned whom, and the command, on small files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import bestarm.paper
from bestarm.bandits.datasets import caption_contest, pkis2
from bestarm.cli.app import app
from bestarm.errors import InputError
from bestarm.kernels.rewards import draws
from bestarm.paper import EXPERIMENTS, FULL_SIZE, Reproduction, full_size_experiments, reproduce, run_full_size
from bestarm.paper.full_size import (
    FullSize,
    lift,
    lowest_lifted,
    needed_share,
    nycc_full,
    pkis2_full,
    rigged_means,
    rigging,
)
from bestarm.paper.full_size_run import OUTCOMES, count_outcomes, full_size_table, full_size_trials, verdict
from bestarm.paper.reproduce import all_trials, chosen_experiments
from places import DATA, needs_files

# Votes 1, 2, 3 of twelve captions. The second is 0.06 below the best, and has the median 2 where the best has 3: rigged
# votes lift its mean above the best, but not its median. All others are out of reach.
VOTES = [(14, 20, 66), (0, 54, 46), *((60 + place, 30, 10 - place) for place in range(10))]
SECOND, MIDDLE = 1, 5
# The best is 2.08 sigma above the next: no adversary with 10 % of the rewards can hide it.
INHIBITION = {"weak": 10, "strong": 95, "none": 0, "b": 60, "c": 50, "d": 40, "e": 30}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("data")
    rows = ["caption,mean,precision,votes,not_funny,somewhat_funny,funny"]
    for number, votes in enumerate(VOTES):
        mean = np.dot(votes, (1, 2, 3)) / 100
        rows.append(f"caption {number},{mean:.3f},0.1,100,{','.join(map(str, votes))}")
    (place / "651.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    screen = ["Compound,ACVRL1", *(f"{name},{percent}" for name, percent in INHIBITION.items())]
    (place / "journal.pone.0181585.s004.csv").write_text("\n".join(screen) + "\n", encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def small_contest(folder: Path) -> FullSize:
    return nycc_full(7, caption_contest(651, folder))


@pytest.fixture(scope="module")
def contest_rows(small_contest: FullSize, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    run = run_full_size([small_contest], out=tmp_path_factory.mktemp("nycc"), trials=500)
    return full_size_table(run).set_index(["attack", "method"])


# --------------------------------------------------------------------------------------------------------- arithmetic


def test_lift_is_where_the_contaminated_means_meet() -> None:
    below = np.array([2.0, 2.0 - lift(0.05) + 1e-9, 2.0 - lift(0.05) - 1e-9])
    assert rigged_means(below, 0.05, 1).argmax() == 1
    assert rigged_means(below, 0.05, 2).argmax() == 0
    assert needed_share(lift(0.2)) == pytest.approx(0.2)


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.2])
def test_lowest_lifted_is_the_last_that_comes_first_when_tried_one_by_one(epsilon: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        means = np.sort(rng.uniform(1.0, 2.0, 40))[::-1]
        first = [place for place in range(40) if rigged_means(means, epsilon, place).argmax() == place]
        assert lowest_lifted(means, epsilon) == (first[-1] or None)


def test_nobody_is_lifted_over_a_best_that_is_far_ahead_or_equal() -> None:
    assert lowest_lifted(np.array([2.0, 1.5, 1.4]), 0.05) is None
    assert lowest_lifted(np.array([2.0, 2.0, 1.4]), 0.05) is None


def test_contaminated_ratings_have_the_means_of_the_arithmetic(small_contest: FullSize) -> None:
    bandit = small_contest.attacks[1].bandit
    stream = bandit.stream(seed=5)
    drawn = [np.mean([stream.pull(arm) for _ in range(20_000)]) for arm in (0, SECOND)]
    assert drawn == pytest.approx(rigged_means(bandit.means, 0.05, SECOND)[:2], abs=0.025)  # over 4 standard errors
    assert rigging(3, 2).pieces[0].kind == draws.POINT


def test_both_captions_are_chosen_by_rank(small_contest: FullSize) -> None:
    assert [(attack.name, attack.target) for attack in small_contest.attacks] == [
        ("rigged, middle", MIDDLE),
        ("rigged, near the top", SECOND),
    ]
    assert "first by contaminated mean: rank 1" in small_contest.attacks[0].words
    assert "first by contaminated mean: rank 2" in small_contest.attacks[1].words
    assert "144 pulls" in small_contest.notes[1]


# ----------------------------------------------------------------------------------------------------------- verdicts


def planted(*trials: tuple[int, bool, str]) -> pd.DataFrame:
    return pd.DataFrame(trials, columns=["answer", "correct", "status"])


IDENTIFIED, NONE, CUT = "identified", "indistinguishable", "undecided"


@pytest.mark.parametrize(
    ("frame", "target", "counts", "words"),
    [
        (planted((8, False, IDENTIFIED), (8, False, IDENTIFIED)), 8, (0, 2, 0, 0, 0), "crowned the rigged one"),
        (planted((8, False, IDENTIFIED), (8, False, IDENTIFIED)), 7, (0, 0, 2, 0, 0), "named a wrong one"),
        (planted((8, False, IDENTIFIED)), None, (0, 0, 1, 0, 0), "named a wrong one"),
        (planted((0, True, IDENTIFIED)), 8, (1, 0, 0, 0, 0), "named the best"),
        (planted((0, True, IDENTIFIED)), 0, (1, 0, 0, 0, 0), "named the best"),
        (planted((-1, False, NONE), (-1, False, NONE)), None, (0, 0, 0, 2, 0), "named none"),
        (planted((-1, False, CUT)), 8, (0, 0, 0, 0, 1), "at the cap"),
        (
            planted((8, False, IDENTIFIED), (3, False, IDENTIFIED), (-1, False, CUT)),
            8,
            (0, 1, 1, 0, 1),
            "crowned the rigged one (1), named a wrong one (1), at the cap (1)",
        ),
    ],
)
def test_outcomes_of_planted_trials(frame: pd.DataFrame, target: int | None, counts: tuple[int], words: str) -> None:
    found = count_outcomes(frame, target)
    assert tuple(found.values()) == counts
    assert verdict(found) == words


def test_the_mean_crowns_whom_rigging_lifts_and_nobody_else(contest_rows: pd.DataFrame) -> None:
    for method in ("mean-se", "mean-gap", "se-cbai, chernoff"):
        assert contest_rows.loc[("rigged, near the top", method), "verdict"] == "crowned the rigged one"
        assert contest_rows.loc[("rigged, middle", method), "verdict"] == "named the best"
    assert contest_rows.loc[("rigged, near the top", "mean-se"), "named"] == "#2 caption 1 (2)"


def test_the_median_and_the_certified_method_do_not_crown_it(contest_rows: pd.DataFrame) -> None:
    assert set(contest_rows.xs("median-se, chernoff", level="method")["verdict"]) == {"named the best"}
    assert set(contest_rows.xs("certified", level="method")["verdict"]) == {"named none"}
    assert contest_rows.loc[("rigged, middle", "certified"), "named"] == "-"


def test_outcomes_add_up_and_trials_have_the_experiments_share(contest_rows: pd.DataFrame) -> None:
    assert (contest_rows[list(OUTCOMES)].sum(axis=1) == contest_rows["trials"]).all()
    assert set(contest_rows.xs("mean-gap", level="method")["trials"]) == {1}
    assert set(contest_rows.drop("mean-gap", level="method")["trials"]) == {2}


def test_a_gross_attack_fools_trimming_and_not_what_is_certified(folder: Path, tmp_path: Path) -> None:
    screen = pkis2_full(7, pkis2("ACVRL1", folder))
    assert screen.labels == ("strong", "b", "c", "d", "e", "weak")
    run = run_full_size([screen], out=tmp_path, trials=200)
    rows = full_size_table(run).set_index(["attack", "method"])
    assert set(rows.xs("paper", level="attack")["best"]) == {4}
    assert set(rows.xs("certified", level="method")["best"]) == {4}
    assert set(rows.xs("median-se", level="method")["best"]) == {4}
    for method in ("se-cbai", "se-cbai, chernoff", "g-cbai", "g-cbai, chernoff", "mean-se"):
        assert rows.loc[("one-sided-gross", method), "other"] == 4
    assert set(rows.xs("hidden", level="attack")["best"]) == {4}
    trials = full_size_trials(run)
    assert len(trials) == rows["trials"].sum()
    best = trials[(trials["attack"] == "paper") & (trials["method"] == "mean-se")]
    assert (best["rank"].tolist(), best["label"].tolist()) == ([1] * 4, ["strong"] * 4)


def test_a_lower_cap_cuts_every_trial_short_and_is_kept_apart(small_contest: FullSize, tmp_path: Path) -> None:
    rows = full_size_table(run_full_size([small_contest], out=tmp_path, trials=1, max_pulls=30))
    assert set(rows["verdict"]) == {"at the cap"}
    assert set(rows["mean_pulls"]) == {30.0}
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("points/*/*")}
    run_full_size([small_contest], out=tmp_path, trials=1, max_pulls=30, resume=True)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("points/*/*")} == before
    run_full_size([small_contest], out=tmp_path, trials=1, max_pulls=31, resume=True)
    assert len(list(tmp_path.glob("points/*/*"))) == 2 * len(before)


# ------------------------------------------------------------------------------------------------------------ command


def test_all_are_the_papers_nine() -> None:
    assert [experiment.name for experiment in chosen_experiments(["all"])] == list(EXPERIMENTS)
    assert not set(EXPERIMENTS) & set(FULL_SIZE)
    assert full_size_experiments([], 7) == ()


def test_the_command_writes_rows_tables_figures_and_a_report(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BESTARM_DATA", str(folder))
    words = ["reproduce", "nycc-full", "pkis2-full", "--trials", "250", "--out", str(tmp_path), "--format", "json"]
    done = CliRunner().invoke(app, words)
    rows = json.loads(done.stdout)
    assert [row["experiment"] for row in rows] == ["pkis2-full"] * 21 + ["nycc-full"] * 10
    for table in (pd.read_csv(tmp_path / "full-size.csv"), pd.read_parquet(tmp_path / "full-size.parquet")):
        assert table["verdict"].tolist() == [row["verdict"] for row in rows]
    assert len(pd.read_csv(tmp_path / "full-size-trials.csv")) == sum(row["trials"] for row in rows)
    for name in FULL_SIZE:
        assert (tmp_path / "figures" / f"{name}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert (tmp_path / "figures" / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="nycc-full"' in report
    assert 'id="claims"' not in report
    assert "$" not in report
    assert "crowned the rigged one" in report
    assert not (tmp_path / "claims.csv").exists()


def test_both_kinds_share_a_folder_and_a_report(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BESTARM_DATA", str(folder))
    found = reproduce(["pkis2-full", "exp7"], out=tmp_path, trials=1)
    assert set(found.claims["experiment"]) == {"exp7"}
    assert set(found.full_size["experiment"]) == {"pkis2-full"}
    assert len(list(tmp_path.glob("points/*"))) == len(all_trials([EXPERIMENTS["exp7"]], 1)) + 21
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="claims"' in report
    assert 'id="pkis2-full"' in report


@pytest.mark.parametrize("form", ["table", "csv"])
def test_rows_of_both_kinds_follow_each_other(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = {"experiment": "exp7", "verdict": "holds", "claim": "words", "holds_under": "ours, chernoff"}
    claim |= {"does_not_hold_under": "", "open_under": "no margin"}
    row = {"attack": "a", "method": "m", "trials": 4, "mean_pulls": 5.5, "mean_is_lower_bound": True, "named": "-"}
    row |= {"experiment": "nycc-full", "verdict": "named none"}
    found = Reproduction(pd.DataFrame([claim]), pd.DataFrame(), pd.DataFrame([row]))
    monkeypatch.setattr(bestarm.paper, "reproduce", lambda *args, **kwargs: found)
    shown = CliRunner().invoke(app, ["reproduce", "exp7", "nycc-full", "--format", form]).stdout.splitlines()
    if form == "csv":
        assert shown == [
            "experiment,verdict,claim,holds_under,does_not_hold_under,open_under,"
            "attack,method,trials,mean_pulls,mean_is_lower_bound,named",
            'exp7,holds,words,"ours, chernoff",,no margin,,,,,,',
            "nycc-full,named none,,,,,a,m,4,5.5,True,-",
        ]
    else:
        assert shown[2].split() == ["exp7", "holds", "words", "holds:", "ours,", "chernoff;", "open:", "no", "margin"]
        assert shown[3] == ""
        assert shown[6].split() == ["nycc-full", "a", "m", "4", "named", "none", ">=5.5", "-"]


def test_an_unknown_name_is_refused_with_those_known(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exp9, stored-2022, all, pkis2-full, nycc-full, got 'nycc'"):
        reproduce(["nycc"], out=tmp_path / "out")


def test_without_the_data_the_command_ends_with_2_and_writes_nothing(tmp_path: Path) -> None:
    words = ["reproduce", "exp7", "nycc-full", "--trials", "1", "--out", str(tmp_path / "out")]
    environment = {**os.environ, "BESTARM_DATA": str(tmp_path / "nowhere")}
    done = subprocess.run(
        [sys.executable, "-m", "bestarm", *words], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 2
    assert "BESTARM_DATA must name a folder" in done.stderr
    assert not (tmp_path / "out").exists()


# ---------------------------------------------------------------------------------------------------------- real data


@needs_files
def test_in_contest_651_rigging_lifts_nine_captions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BESTARM_DATA", str(DATA))
    screen, contest = full_size_experiments(["nycc-full", "pkis2-full"], seed=7)
    assert (len(screen.labels), screen.labels[0]) == (189, "PFE-PKIS 7")
    assert [attack.target for attack in contest.attacks] == [4624, 8]
    assert (
        "ranks 1 to 9, and no other, first. Rank 4625, in the middle of the table, would need 19.8 %"
        in (contest.notes[0])
    )
    assert contest.labels[8] == "How long between contractions?"
    rows = full_size_table(run_full_size([screen, contest], out=tmp_path, trials=1, max_pulls=20_000))
    contest_rows = rows[rows["experiment"] == "nycc-full"]
    assert set(contest_rows["capped"]) == {1}
    assert set(contest_rows["mean_pulls"]) == {20_000.0}
    gross = rows[(rows["attack"] == "one-sided-gross") & (rows["method"] == "mean-se")]
    assert gross["other"].tolist() == [1]
    assert gross["mean_pulls"].iloc[0] < 1000.0
