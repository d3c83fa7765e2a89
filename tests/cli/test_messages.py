"""What a user is told who asks for something that cannot be, or who has to wait: one sentence that is true."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bestarm as ba
from bestarm.errors import InputError
from command_line import bestarm
from places import ROOT


def says(*words: str) -> str:
    """Return the one line that a command says which is refused."""
    done = bestarm(*words)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.splitlines()
    return line


# ------------------------------------------------------------------------------------------------- numbers out of range


def test_a_number_that_is_too_high_is_not_called_too_low() -> None:
    assert says("simulate", "--means", "1,0", "--workers", "100000") == (
        "bestarm: workers must be at most 10,000, got 100000: "
        "a machine can hardly start more, and more than its cores compute no faster"
    )


@pytest.mark.parametrize("epsilon", ["nan", "-0.1"])
def test_an_epsilon_that_is_no_share_is_not_called_half_of_the_rewards(epsilon: str) -> None:
    assert says("plan", "--means", "1,0", "--sigma", "1", f"--epsilon={epsilon}") == (
        f"bestarm: epsilon must be in [0, 0.5), got {epsilon}: "
        "it is how much may be corrupted, such as 0.05; 0 is nothing"
    )


def test_more_arms_than_memory_holds_are_refused_at_once() -> None:
    """10^7 arms of the certified method would take 240 GB; labels may even go on for ever."""
    message = r"^arms must be at most 1,000,000, got {}: an arm takes up to 24 kB of memory"
    with pytest.raises(InputError, match=message.format("10000000")):
        ba.Identifier(10**7, delta=0.1, epsilon=0.1, sigma=1.0)
    with pytest.raises(InputError, match=message.format("'1,000,001 or more'")):
        ba.Identifier(itertools.count(), delta=0.1, epsilon=0.1, sigma=1.0)


def test_many_arms_are_looked_through_once_for_a_verdict() -> None:
    """The leader of 100,000 arms was sought in a set made for each of them, which took minutes."""
    arms = 100_000
    finder = ba.Identifier(arms, delta=0.1, epsilon=0.0, bounds=(0, 1), method="mean-se")
    finder.tell_many([7, 8, arms - 1], [0.2, 0.9, 0.5])
    assert finder.result.leader == 8
    assert finder.result.candidates == tuple(range(arms))


# ---------------------------------------------------------------------------------------- arms, adversaries, epsilons

TEXTS: list[Any] = ["x", "1", b"1", None, np.ones(3), 1j, 10**400]


def drawn(arm: Any, adversary: Any = None) -> list[float]:
    stream = ba.Bandit([arm, ba.Gaussian(0.0)], 0.4, adversary).stream(seed=1)
    return [stream.pull(0) for _ in range(20)]


@pytest.mark.parametrize("value", TEXTS, ids=lambda value: repr(value)[:20])
def test_a_function_that_draws_no_number_is_named(value: Any) -> None:
    with pytest.raises(InputError, match=r"^reward must be a number, got .*: the function of arm 0 gave it$"):
        drawn(ba.CustomArm(lambda rng: value, mean=1.0))
    with pytest.raises(InputError, match=r"^reward must be a number, got .*: the adversary gave it for arm 0$"):
        drawn(ba.Gaussian(1.0), lambda rng, arm, pulls, clean: value)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2.0), np.int64(2), np.array(2.0)], ids=repr)
def test_a_function_may_draw_any_kind_of_number(value: Any) -> None:
    assert set(drawn(lambda rng: value)) == {2.0}
    assert set(drawn(lambda rng: True, lambda rng, arm, pulls, clean: value)) == {1.0, 2.0}


def test_an_arm_of_wrong_arity_is_refused_when_it_is_made() -> None:
    message = r"^draw must be a function of a numpy.random.Generator, got .*: such as lambda rng: rng.normal"
    for draw in (lambda: 1.0, lambda rng, arm: 1.0):
        with pytest.raises(InputError, match=message):
            ba.CustomArm(draw)  # type: ignore[arg-type]
        with pytest.raises(InputError, match=message):
            ba.Bandit([draw, ba.Gaussian(0.0)])
    assert ba.CustomArm(np.random.Generator.random).mean != 1.0  # says nothing of its arguments, and is believed


def test_an_adversary_of_wrong_arity_is_refused_with_the_bandit() -> None:
    message = r"^adversary must be a function of four arguments: generator, arm, pulls so far, clean reward, got "
    for draw in (lambda rng: 1.0, lambda: 1.0, lambda a, b, c, d, e: 1.0, ba.adversaries.Point):
        with pytest.raises(InputError, match=message):
            ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)], 0.1, draw)
    for good in (lambda *words: 1.0, lambda a, b, c, d, e=0: 1.0):
        assert ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)], 0.1, good).epsilon == 0.1


def test_an_adversary_without_epsilon_is_refused() -> None:
    """It would never act. An epsilon of 0 that was given is the beginning of many a grid, and is meant."""
    arms, adversary = [ba.Gaussian(1.0), ba.Gaussian(0.0)], ba.adversaries.Point(9.0)
    with pytest.raises(InputError, match=r"^epsilon must be given with an adversary, got None: without it no reward"):
        ba.Bandit(arms, adversary=adversary)
    assert ba.Bandit(arms, 0.0, adversary).epsilon == ba.Bandit(arms).epsilon == 0.0


def test_sensitivity_wants_a_list() -> None:
    finder = ba.Identifier(["A", "B"], delta=0.1, epsilon=0.1, sigma=1.0)
    finder.tell_many(["A", "B"], [1.0, 0.0])
    wrong: Any
    for wrong in (0.1, "0.1", np.float64(0.1)):
        with pytest.raises(InputError, match=r"^epsilons must be a list of numbers, got .*: put a single one in brack"):
            finder.sensitivity(wrong)
    assert [row.epsilon for row in finder.sensitivity(np.array([0.1, 0.2]))] == [0.1, 0.2]  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------------------------- files

BRIEF = ("simulate", "--means", "1,0", "--method", "mean-se", "--trials", "5")


@pytest.fixture
def below_a_file(tmp_path: Path) -> str:
    """A folder that not even root can make."""
    (tmp_path / "file").write_text("mine")
    return str(tmp_path / "file" / "folder")


@pytest.mark.parametrize(
    "words",
    [
        ("demo", "--trials", "1000000"),  # refused before the trials, or this would take a while
        ("attack", "--trials", "1000000"),
        ("reproduce", "exp1", "--trials", "1000000"),
    ],
    ids=lambda words: words[0],
)
def test_a_folder_that_cannot_be_written_is_refused_before_the_trials(
    words: tuple[str, ...], below_a_file: str
) -> None:
    assert says(*words, "--out", below_a_file) == (
        f"bestarm: out must be a folder that can be written, got {below_a_file!r}: Not a directory"
    )


def test_trials_are_saved_as_the_name_of_the_file_says(tmp_path: Path) -> None:
    parquet, table = tmp_path / "new" / "x.parquet", tmp_path / "new" / "folder" / "x.CSV"
    for path in (parquet, table):
        done = bestarm(*BRIEF, "--save", str(path))
        assert done.returncode == 0, done.stderr
    trials = ba.Trials.load(parquet)
    pd.testing.assert_frame_equal(pd.read_csv(table), trials.to_frame(), check_dtype=False)
    assert table.read_text().startswith("trial,pulls,answer,correct,status,pulls_0,pulls_1\n")


@pytest.mark.parametrize("name", ["x.xlsx", "x", "x.parquet.gz"])
def test_trials_are_saved_in_no_other_form(tmp_path: Path, name: str) -> None:
    path = tmp_path / "new" / name
    wanted = f"path must end in .parquet or .csv, got {str(path)!r}: it says how to write the trials"
    assert says("simulate", "--means", "1,0", "--trials", "100000000", "--save", str(path)) == f"bestarm: {wanted}"
    assert not path.parent.exists()


def test_trials_are_not_saved_where_no_file_can_be(tmp_path: Path, below_a_file: str) -> None:
    rule = "path must be a folder that can be written"
    assert says(*BRIEF, "--save", f"{below_a_file}/x.csv") == f"bestarm: {rule}, got {below_a_file!r}: Not a directory"
    (tmp_path / "x.csv").mkdir()
    message = f"bestarm: path must be a file, got {str(tmp_path / 'x.csv')!r}: there is a folder of that name"
    assert says(*BRIEF, "--save", str(tmp_path / "x.csv")) == message


def test_what_is_loaded_as_trials_must_be_trials(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("trial,pulls\n0,5\n")
    (tmp_path / "text.parquet").write_text("trial,pulls\n0,5\n")
    pd.DataFrame({"pulls": [5]}).to_parquet(tmp_path / "other.parquet")
    reasons = {
        "x.csv": "a CSV file lacks the settings; pandas.read_csv has its columns",
        "text.parquet": "Parquet magic bytes not found",
        "other.parquet": "this one has no settings of bestarm in it",
        "nowhere.parquet": "No such file or directory",
        "": "Is a directory",
    }
    for name, reason in reasons.items():
        with pytest.raises(InputError, match=rf"^path must be a Parquet file that Trials.save wrote, got .*: {reason}"):
            ba.Trials.load(tmp_path / name)


# ------------------------------------------------------------------------------------------------- answers of commands


def test_a_plan_for_a_tie_says_which_arms_tie() -> None:
    assert says("plan", "--means", "1,0,1", "--sigma", "1", "--epsilon", "0.1") == (
        "bestarm: means must have one largest, got [1.0, 0.0, 1.0]: "
        "arms 0 and 2 tie, so that none is best; put in the smallest difference that matters"
    )


def test_where_no_trial_names_a_winner_none_is_wrong_and_the_command_says_so() -> None:
    words = ("simulate", "--means", "1,0.99", "--trials", "5")
    done = bestarm(*words)
    assert done.returncode == 0, done.stderr
    head, _, row = (line.split() for line in done.stdout.splitlines())
    assert dict(zip(head, row, strict=True))["error_rate"] == "0"
    assert done.stderr.splitlines()[-1] == "none of the 5 trials named a winner, right or wrong"
    (summary,) = json.loads(bestarm(*words, "--format", "json").stdout)
    assert (summary["error_rate"], summary["indistinguishable"]) == (0.0, 1.0)
    bandit = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.999)], 0.2, ba.adversaries.Point(0.0))
    trials = ba.simulate(bandit, "certified", delta=0.1, trials=5)
    assert repr(trials) == "<5 trials of certified: mean pulls 1,024, no winner named>"


def test_the_version_is_printed() -> None:
    done = bestarm("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"bestarm {ba.__version__}\n", "")


# ----------------------------------------------------------------------------------------------------------- compiling

NOTE = "bestarm is compiling (once for each kind of run, up to half a minute) ...\n"
DRAW = "import bestarm as ba\nba.Bandit([ba.Gaussian(0.0), lambda rng: 0.0]).stream(1).pull(0)\n"
TELL = "import bestarm as ba\nba.Identifier(2, delta=0.1, epsilon=0.1, sigma=1.0).tell(0, 1.0)\n"
SILENCED = "import logging\nlogging.getLogger('bestarm').setLevel('ERROR')\n"
COMMAND = "from bestarm.cli.compiling import compile_note\nwith compile_note():\n    exec({!r})\n"
OWN = "import numba\nimport bestarm.kernels.jit.compile\nnumba.njit(lambda x: x + 1)(2)\n"


def said(code: str, cache: Path) -> str:
    """Return what a process says on stderr which has this folder for compiled code."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == ""
    return done.stderr


@pytest.mark.parametrize("code", [DRAW, pytest.param(TELL, marks=pytest.mark.slow)], ids=["draw", "tell"])
def test_compiling_is_said_once_and_only_where_it_is_done(code: str, tmp_path: Path) -> None:
    assert said(code, tmp_path / "one") == NOTE
    assert said(code, tmp_path / "one") == ""


def test_compiling_is_said_by_a_logger_which_can_be_silenced(tmp_path: Path) -> None:
    assert said(SILENCED + DRAW, tmp_path / "silenced") == ""
    assert said(COMMAND.format(DRAW), tmp_path / "command") == NOTE
    assert said(OWN, tmp_path / "own") == ""  # what else a program compiles is not ours to speak of


# ------------------------------------------------------------------------------------------- commands that pages name


def test_pages_name_no_package_that_is_on_no_index() -> None:
    pages = [path for folder in ("docs", "src") for path in (ROOT / folder).rglob("*") if path.suffix in (".md", ".py")]
    texts = {path: path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *pages]}
    assert [path for path, text in texts.items() if "install 'bestarm" in text or "install bestarm" in text] == []
    assert sum("pip install -e '.[cluster]'" in text for text in texts.values()) == 2  # a guide and a message


def test_the_readme_says_where_the_command_is_after_make_run() -> None:
    commands = (ROOT / "README.md").read_text(encoding="utf-8").split("## Two commands")[1].split("\n## ")[0]
    assert "`.venv/bin/bestarm demo`" in commands
    assert "`. .venv/bin/activate`" in commands
    assert "VENV := .venv\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
