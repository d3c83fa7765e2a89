"""The commands as a user runs them: output, files, exit codes."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest


def bestarm(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bestarm", *words], input=stdin, capture_output=True, text=True, check=False
    )


def test_demo_shows_every_row_and_saves_a_picture(tmp_path: Path) -> None:
    done = bestarm("demo", "--trials", "20", "--out", str(tmp_path), "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == 20
    by_name = {(row["adversary"][:9], row["method"]): row for row in rows}
    assert by_name["uniform, ", "se-cbai"]["error_rate"] == 0.0
    assert by_name["one-sided", "se-cbai"]["error_rate"] == 1.0
    assert by_name["one-sided", "certified"]["answers"].split("/")[1:] == ["0", "0", "0"]
    assert by_name["uniform, ", "g-cbai"]["mean_pulls"] >= 7372  # K times ceil(T)
    assert (tmp_path / "demo.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_simulate_writes_csv_and_a_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "trials.parquet"
    done = bestarm(
        *("simulate", "--means", "1,0", "--method", "mean-se", "--trials", "50", "--format", "csv", "--save", str(path))
    )
    assert done.returncode == 0, done.stderr
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    from bestarm import Trials

    trials = Trials.load(path)
    assert len(trials) == 50
    assert float(row["mean_pulls"]) == trials.mean_pulls


def test_identify_names_the_winner_of_recorded_rewards(tmp_path: Path) -> None:
    path = tmp_path / "rewards.csv"
    path.write_text("arm,reward\n" + "A,0.1\nB,0.9\n" * 40)
    done = bestarm("identify", str(path), "--epsilon", "0", "--sigma", "0.2", "--method", "mean-se", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["best"] == "B"


def test_identify_says_so_with_exit_code_3_when_undecided() -> None:
    done = bestarm("identify", "-", "--epsilon", "0.1", "--bounds", "0,1", stdin="arm,reward\nA,0.1\nB,0.9\n")
    assert done.returncode == 3
    assert done.stdout.startswith("undecided among 'A', 'B' so far")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("simulate", "--means", "1,x"), "means must be numbers separated by commas, got '1,x'"),
        (("simulate", "--means", "1,0", "--epsilon", "0.6"), "epsilon must be in [0, 0.5), got 0.6"),
        (("simulate", "--means", "1,0", "--method", "magic"), "method must be one of certified, g-cbai"),
        (("plan", "--means", "1,0", "--epsilon", "0.1"), "sigma must be given, or bounds"),
        (("identify", "nowhere.csv", "--epsilon", "0.1"), "rewards must be a file that can be read"),
        (("identify", "-", "--epsilon", "0.1", "--sigma", "1"), "rewards must have columns arm and reward"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words: tuple[str, ...], message: str) -> None:
    done = bestarm(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"bestarm: {message}")
    assert len(done.stderr.splitlines()) == 1
