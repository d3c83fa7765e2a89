"""A method of the user's own on the command line, as module:Name, from a file in the current folder."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import bestarm as ba
from bestarm.cli.app import app
from own_policies import TURNS

MODULE = "own_turns"
OWN = f"{MODULE}:Turns"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a file of the user's."""
    (tmp_path / f"{MODULE}.py").write_text(TURNS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    yield tmp_path
    sys.modules.pop(MODULE, None)


def bestarm(*words: str, code: int = 0, given: str | None = None) -> Result:
    done = CliRunner().invoke(app, words, input=given)
    assert done.exit_code == code, (done.output, done.exception)
    return done


def test_the_command_finds_a_file_in_the_current_folder_and_sends_it_to_processes(folder: Path) -> None:
    """As the installed command runs, which has the folder of the command on its path and not the current one (-P)."""
    words = ["simulate", "--method", OWN, "--means", "3,0,0", "--trials", "6", "--backend", "loky", "--format", "csv"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    start = [sys.executable, "-P", "-m", "bestarm"]
    done = subprocess.run([*start, *words], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    assert (row["method"], row["trials"], row["mean_pulls"]) == ("in turns", "6", "12.0")
    assert "in turns" in done.stderr or "pulls in" in done.stderr


def test_simulate_gives_the_trials_of_the_python_interface(folder: Path) -> None:
    bestarm(*("simulate", "--method", OWN, "--means", "1,0", "--trials", "20", "--save", "t.parquet", "--seed", "3"))
    bandit = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)], 0.1, ba.paper_adversary([1.0, 0.0], 0.1, 3))
    wanted = ba.simulate(bandit, OWN, delta=0.1, trials=20, seed=3)
    assert ba.Trials.load(folder / "t.parquet").answers.tolist() == wanted.answers.tolist()
    refused = CliRunner().invoke(app, ["simulate", "--method", OWN, "--means", "1,0", "--alpha", "0.1"])
    assert str(refused.exception) == "alpha must be an option of in turns, got 0.1: in turns has rounds, seed"


def test_plans_and_attacks_have_a_row_for_it(folder: Path) -> None:
    few = ("--trials", "5", "--format", "json", "--workers", "1")
    made = bestarm("plan", "--means", "3,0", "--sigma", "1", "--epsilon", "0", "--methods", f"mean-se,{OWN}", *few)
    assert [row["method"] for row in json.loads(made.stdout)["forecasts"]] == ["mean-se", "in turns"]
    words = ("--attacks", "benign", "--means", "3,0", "--out", str(folder / "out"))
    table = json.loads(bestarm("attack", "--methods", f"{OWN}, mean-se", *words, *few).stdout)
    assert [(row["method"], row["covered"]) for row in table] == [("in turns", None), ("mean-se", None)]
    assert table[0]["mean_pulls"] == 8.0


def test_a_log_is_replayed_through_it(folder: Path) -> None:
    log = "arm,reward\n" + "A,0.1\nB,0.9\n" * 10
    question = ("identify", "-", "--epsilon", "0.1", "--bounds", "0,1", "--method", OWN)
    done = bestarm(*question, "--sequential", "--explain", "--report", "report.html", given=log)
    assert "by a replay in order through in turns" in " ".join(done.stdout.split())
    assert "in turns" in (folder / "report.html").read_text(encoding="utf-8")
    found = json.loads(bestarm(*question, "--sequential", "--format", "json", given=log).stdout)
    assert (found["best"], found["method"], found["pulls"], found["ignored"]) == ("B", "in turns", 8, 12)
    assert (found["proved"], found["promise"]) == (False, "")
    refused = CliRunner().invoke(app, question, input=log)
    assert str(refused.exception).startswith(f"method must come with --sequential, got '{OWN}'")


def test_what_is_wrong_is_said_before_a_log_is_read(folder: Path) -> None:
    words = ("identify", "nowhere.csv", "--epsilon", "0", "--sigma", "1", "--sequential", "--method", f"{MODULE}:Turn")
    refused = CliRunner().invoke(app, words)
    assert "own_turns.py has no Turn; did you mean Turns?" in str(refused.exception)


def test_a_file_here_hides_nothing_that_is_installed(folder: Path) -> None:
    (folder / "colorsys.py").write_text(TURNS)  # a module of Python's own that nothing here uses
    sys.modules.pop("colorsys", None)
    refused = CliRunner().invoke(app, ["simulate", "--method", "colorsys:Turns", "--means", "1,0"])
    assert str(refused.exception).startswith("method must be a name in the module colorsys, got 'colorsys:Turns': ")
    assert str(folder) not in str(refused.exception)


def test_a_scenario_says_that_it_takes_none(folder: Path) -> None:
    text = bestarm("scenario", "--template").stdout
    first = text.index('name = "', text.index("[[methods]]"))
    (folder / "mine.toml").write_text(f'{text[:first]}name = "{OWN}" #{text[first:]}')
    refused = CliRunner().invoke(app, ["scenario", "mine.toml"])
    wanted = f"got '{OWN}': check the spelling; a method of your own goes with bestarm simulate --means"
    assert wanted in str(refused.exception)


def test_a_study_on_a_database_from_beginning_to_end(folder: Path) -> None:
    url = f"sqlite:///{folder / 'run.db'}"
    question = ("--arms", "A,B", "--epsilon", "0.1", "--sigma", "1")
    bestarm("study", "create", url, "mine", *question, "--method", OWN)
    bestarm("study", "create", url, "theirs", *question)
    asked = bestarm("study", "ask", url, "mine", "-n", "8").stdout.splitlines()[1:]
    told = "".join(f"{line.split(',')[0]},{float(line.endswith('B'))}\n" for line in asked[:-1])
    bestarm("study", "tell", url, "mine", "--file", "-", given=f"pull,reward\n{told}")
    stands = bestarm("study", "status", url, "mine", code=3).stdout
    assert stands.startswith(
        "undecided so far among 'A' and 'B': in turns has not stopped after 7 rewards; 'B' is ahead"
    )
    bestarm("study", "tell", url, "mine", asked[-1].split(",")[0], "1")
    assert bestarm("study", "status", url, "mine").stdout.startswith("in turns names 'B'")
    bestarm("study", "export", url, "mine", "--out", "log.jsonl")
    assert "is the same." in bestarm("study", "replay", "log.jsonl").stdout
    listed = json.loads(bestarm("study", "list", url, "--format", "json").stdout)
    assert [(row["name"], row["status"]) for row in listed] == [("mine", "identified"), ("theirs", "undecided")]

    (folder / f"{MODULE}.py").unlink()
    sys.modules.pop(MODULE)
    seen = bestarm("study", "list", url, "--format", "json")
    rows = json.loads(seen.stdout)
    assert [(row["name"], row["status"]) for row in rows] == [("mine", "identified"), ("theirs", "undecided")]
    assert seen.stderr == ""  # a list reads what is stored, and opens no study
    assert bestarm("study", "export", url, "mine").stdout == (folder / "log.jsonl").read_text()
