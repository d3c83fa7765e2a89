"""One set of trials, with wrong, silent and capped ones among them, has the same numbers wherever it is reported."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import bestarm as ba
from bestarm.scenarios import run as experiments_run
from bestarm.scenarios.page import cell
from bestarm.scenarios.scenario import run_scenario
from bestarm.scenarios.scenario_file import parse_scenario
from bestarm.simulation import attack_bench, demo
from bestarm.theory import planning
from command_line import bestarm

CAP = 90
WRONG, SILENT, CAPPED, TRIALS = 3, 4, 5, 20
SHARES = {"error_rate": WRONG / TRIALS, "undecided": CAPPED / TRIALS}
STUDY = """
name = "same"
title = "The same numbers"
trials = 20
seed = 7
max_pulls = 90
delta = 0.1
epsilon = 0.1
sigma = 1.0
arms = {law = "gaussian", means = [2.5, 2.3]}
adversary = {kind = "point", values = 0.0}
methods = [{name = "mean-se"}]
"""


def twenty(**settings: Any) -> ba.Trials:
    """Twenty trials: eight right, three wrong, four that named no winner, five at the cap."""
    answers = np.array([0] * 8 + [1] * WRONG + [-1] * (SILENT + CAPPED))
    statuses = np.array(["identified"] * 11 + ["indistinguishable"] * SILENT + ["undecided"] * CAPPED)
    pulls = np.array([*range(10, 10 + TRIALS - CAPPED), *[CAP] * CAPPED])
    arm_pulls = np.column_stack([pulls, np.zeros((TRIALS, 3), np.int64)])
    return ba.Trials(pulls, answers, answers == 0, arm_pulls, statuses, {"method": "mean-se", "options": {}} | settings)


@pytest.fixture(autouse=True)
def same_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything that simulates find these trials."""
    for module in (ba, attack_bench, demo, planning, experiments_run):
        monkeypatch.setattr(module, "simulate", lambda *given, **settings: twenty())


def reported(tmp_path: Path) -> dict[str, dict[str, Any]]:
    """Return what each place says of the trials."""
    command = ("simulate", "--means", "2.5,2.3", "--method", "mean-se", "--trials", "20")
    attack = attack_bench.attack_table(["mean-se"], ["benign"], {"pair": [1.0, 0.0]}, trials=TRIALS)
    points = run_scenario(parse_scenario(STUDY), out=tmp_path / "study")
    places = {
        "summary": twenty().summary(),
        "json": json.loads(bestarm(*command, "--format", "json").stdout)[0],
        "csv": next(csv.DictReader(io.StringIO(bestarm(*command, "--format", "csv").stdout))),
        "attack": attack.to_dict("records")[0],
        "study": points.to_dict("records")[0],
        "demo": demo.run_demo(trials=TRIALS).to_dict("records")[0],
    }
    return {place: {str(name): value for name, value in row.items()} for place, row in places.items()}


def test_every_place_reports_the_same_shares_of_all_trials(tmp_path: Path) -> None:
    interval = stats.binomtest(WRONG, TRIALS).proportion_ci(0.95, "exact")
    expected = {
        **SHARES,
        "error_low": interval.low,
        "error_high": interval.high,
        "mean_pulls": (sum(range(10, 25)) + CAPPED * CAP) / TRIALS,
    }
    for place, row in reported(tmp_path).items():
        found = {name: float(row[name]) for name in expected}
        assert found == pytest.approx(expected, rel=1e-9), place
        silent = next(row[name] for name in ("indistinguishable", "no_winner", "no winner") if name in row)
        assert float(silent) == SILENT / TRIALS, place
        assert str(row["mean_is_lower_bound"]) == "True", place


def test_the_properties_of_trials_are_those_shares_and_counts() -> None:
    trials = twenty()
    assert {name: getattr(trials, name) for name in SHARES} == SHARES
    assert trials.indistinguishable == SILENT / TRIALS
    assert (trials.wrong, trials.capped, trials.decided) == (WRONG, CAPPED, 11)
    assert trials.mean_is_lower_bound
    assert not trials.first(11).mean_is_lower_bound
    plan = planning._forecast(lambda **settings: trials, TRIALS, CAP, 0.0)
    assert [plan[name] for name in ("wrong", "no_winner", "capped")] == [0.15, 0.2, 0.25]


def test_a_mean_over_capped_trials_is_marked_for_people(tmp_path: Path) -> None:
    assert repr(twenty()) == "<20 trials of mean-se: mean pulls >= 35, error rate 0.15>"
    assert repr(twenty().first(11)) == "<11 trials of mean-se: mean pulls 15, error rate 0.2727>"
    done = bestarm("simulate", "--means", "2.5,2.3", "--method", "mean-se", "--trials", "20")
    head, _, row = (line.split() for line in done.stdout.splitlines())
    assert dict(zip(head, row, strict=True))["mean_pulls"] == ">=35.25"
    assert "mean_is_lower_bound" not in head  # the mark says it
    assert ">= marks a mean over trials that the cap cut short: without the cap it would be larger" in done.stderr
    points = run_scenario(parse_scenario(STUDY), out=tmp_path / "study")
    assert cell(points.iloc[0]).splitlines()[0].startswith("≥ 35")
    assert "≥ 35" in (tmp_path / "study" / "report.html").read_text()
    legend = twenty().plot().axes[0].get_legend()
    assert legend is not None
    assert legend.get_texts()[0].get_text() == "mean: at least 35"
