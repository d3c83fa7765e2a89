"""The commands as a user runs them: output, files, exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from command_line import bestarm, bestarm_process


def test_demo_shows_every_row_and_saves_a_picture(tmp_path: Path) -> None:
    done = bestarm_process("demo", "--trials", "20", "--out", str(tmp_path), "--format", "json")
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
    question = ("identify", str(path), "--epsilon", "0", "--sigma", "0.2", "--format", "json")
    done = bestarm(*question)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["best"] == "B"
    replay = bestarm(*question, "--sequential", "--method", "mean-se")
    found = json.loads(replay.stdout)
    assert (found["best"], found["method"], found["proved"]) == ("B", "mean-se", False)
    assert found["pulls"] + found["ignored"] == found["rows"] == 80
    assert "by a replay in order through mean-se that used" in found["verdict"]


def test_identify_says_so_with_exit_code_3_when_undecided() -> None:
    log = "arm,reward\nA,0.1\nB,0.9\n"
    done = bestarm("identify", "-", "--epsilon", "0.1", "--bounds", "0,1", "--explain", stdin=log)
    assert done.returncode == 3
    assert done.stdout.startswith("No arm is proved best: B leads with 0.900 against 0.100 for A")
    assert "no winner is named among 'B' and 'A', in 2 rewards: more rewards may decide it" in " ".join(
        done.stdout.split()
    )
    assert "\nlimit      budget\n" in done.stdout
    assert "\ncandidates 'B', 'A'\n" in done.stdout


def rewards_of(means: dict[str, float], rounds: int, seed: int = 1) -> str:
    """A file of normal rewards with sigma = 1, round by round; each arm has five sources of its own."""
    rng = np.random.default_rng(seed)
    lines = ["arm,reward,source"]
    for number in range(rounds):
        lines += [f"{arm},{rng.normal(mean)},{arm}{number % 5}" for arm, mean in means.items()]
    return "\n".join(lines) + "\n"


def test_identify_prints_all_that_the_rewards_prove(tmp_path: Path) -> None:
    import bestarm as ba
    from bestarm.identification.wording.text import share_shown

    path = tmp_path / "log.csv"
    path.write_text(rewards_of({"A": 1.2, "B": 0.0, "C": 0.3}, 300))
    question = ("identify", str(path), "--epsilon", "0.05", "--sigma", "1")
    done = bestarm(*question, "--explain")
    assert done.returncode == 0, done.stderr
    result = ba.identify_log(path, epsilon=0.05, sigma=1.0)
    three, arms, sentence, facts, weighed, file = done.stdout.split("\n\n")
    assert three.splitlines() == list(result.lines)
    assert " ".join(sentence.split()) == str(result)
    lines = arms.splitlines()
    assert lines[0].split()[:7] == ["arm", "rewards", "estimate", "lower", "upper", "lead", "left"]
    assert [line.split()[0] for line in lines[2:]] == ["A", "C", "B"]  # the best first
    assert [line.split()[5] for line in lines[2:]] == ["-", *(f"{result.leads[arm]:.4g}" for arm in ("C", "B"))]
    told = " ".join(facts.split())
    assert told.startswith(f"p-value {result.p_value:.3g} (null hypothesis: some other arm is at least as good as 'A')")
    assert result.tolerance is not None
    tolerance = share_shown(result.tolerance)
    assert f"with any epsilon up to {tolerance} overturn it would take more than {result.overturn}" in told
    assert weighed.splitlines()[1].split() == ["epsilon", "status", "left", "limit"]
    assert weighed.splitlines()[3].split() == ["0", "to", "0.05", "identified", "'A'", "-"]
    assert f"The answer stands up to epsilon = {tolerance}: are more" in " ".join(weighed.split())
    assert "- The column 'arm' was taken for the arm, by its name." in file
    assert "with --source source, fake sources are counted and not fake rows" in " ".join(file.split())

    found = json.loads(bestarm(*question, "--format", "json").stdout)
    assert found.pop("verdict") == str(result)
    assert found.pop("about_the_file") == list(result.health.sentences())
    assert found == json.loads(result.to_json())


def test_identify_counts_a_source_once_however_often_it_speaks() -> None:
    """Ten sources gave all the rewards: enough of those, and too few sources."""
    text = rewards_of({"A": 1.0, "B": 0.0}, 200)
    question = ("identify", "-", "--epsilon", "0.02", "--sigma", "1", "--format", "json")
    by_share = bestarm(*question, "--contamination", "share-of-all", stdin=text)
    by_source = bestarm(*question, "--contamination", "sources", stdin=text)
    assert (by_share.returncode, json.loads(by_share.stdout)["best"]) == (0, "A")
    assert by_source.returncode == 3
    found = json.loads(by_source.stdout)
    assert (found["status"], found["pulls"], found["rows"], found["sources"]) == ("undecided", 10, 400, 10)
    assert found["promise"].startswith("at most a share epsilon of the sources in the log is dishonest")


def test_identify_compares_the_items_of_a_test_set_pair_by_pair() -> None:
    """Items differ far more than prompts do, which only pairs can see."""
    rng = np.random.default_rng(1)
    easy = rng.integers(0, 2, 300)
    lines = [f"A,{0.1 + 0.8 * x},item{i}\nB,{0.8 * x},item{i}\n" for i, x in enumerate(easy)]
    question = ("identify", "-", "--epsilon", "0", "--bounds", "0,1", "--contamination", "sources", "--format", "json")
    text = "arm,reward,source\n" + "".join(lines)
    assert json.loads(bestarm(*question, "--paired", stdin=text).stdout)["best"] == "A"
    assert bestarm(*question, stdin=text).returncode == 3


def test_identify_claims_nothing_if_later_rewards_contradict_sigma() -> None:
    """1 to 5 stars told a sigma of 0.3: a replay decides before there are enough of them to see it."""
    rng = np.random.default_rng(1)
    stars = [
        (arm, np.clip(np.round(mean + 1.3 * rng.normal()), 1, 5))
        for _ in range(300)
        for arm, mean in (("A", 4), ("B", 3))
    ]
    text = "arm,reward\n" + "".join(f"{arm},{value}\n" for arm, value in stars)
    for more in ((), ("--sequential",)):
        done = bestarm("identify", "-", "--epsilon", "0.02", "--sigma", "0.3", *more, "--explain", stdin=text)
        shown = " ".join(done.stdout.split())
        assert done.returncode == 4
        assert "The rewards contradict the assumptions, so no probability is claimed. Do not rely on it." in shown
        assert "'A' comes first of 2 arms" in shown
        assert shown.count("Alarm: no mean fits the 300 rewards of") == 2
        assert "wrong with probability" not in shown
        assert "p-value" not in shown
        assert "the rewards contradict it (2 alarms)" in shown


def test_identify_takes_a_resolution_and_what_is_good_enough() -> None:
    text = rewards_of({"A": 0.02, "B": 0.0}, 2000)
    question = ("identify", "-", "--epsilon", "0.01", "--sigma", "1")
    replay = ("--sequential", "--contamination", "prescient")
    coarse = bestarm(*question, *replay, "--resolution", "0.5", "--explain", stdin=text)
    assert coarse.returncode == 3
    assert "no winner is named among 'A' and 'B': certified stopped after " in " ".join(coarse.stdout.split())
    assert "at its resolution of 0.5" in " ".join(coarse.stdout.split())
    assert "(a replay that ignored " in " ".join(coarse.stdout.split())
    assert "\nlimit      resolution\n" in coarse.stdout
    fine = bestarm(*question, "--good-enough", "0.9", "--explain", stdin=text)
    assert fine.returncode == 0
    assert " is within 0.9 of the highest mean of 2 arms" in fine.stdout


def test_help_says_what_epsilon_means_in_the_words_of_the_verdict() -> None:
    from bestarm.cli.options import explained, explained_of_logs
    from bestarm.contamination import CONTAMINATIONS

    for command in ("identify", "simulate", "plan", "attack"):
        shown = " ".join(bestarm(command, "--help").stdout.split())
        kinds = [kind for kind in CONTAMINATIONS if kind != "sources"]
        text = explained_of_logs() if command == "identify" else explained(*kinds)
        assert " ".join(text.split()) in shown
        assert "share_from" not in shown or command != "identify"
        assert "sources:" not in shown or command == "identify"


def test_simulate_keeps_to_the_share_that_the_method_is_told() -> None:
    words = ("simulate", "--means", "3,0", "--point=-9,12", "--trials", "20", "--delta", "0.01", "--format", "json")
    (by_coin,) = json.loads(bestarm(*words, "--epsilon", "0.1", "--contamination", "malicious").stdout)
    (by_share,) = json.loads(bestarm(*words, "--epsilon", "0.1", "--contamination", "share-of-arm").stdout)
    assert by_coin["trials"] == by_share["trials"] == 20
    assert by_coin["mean_pulls"] != by_share["mean_pulls"]
    assert by_coin["wrong"] == by_share["wrong"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("simulate", "--means", "1,x"), "means must be numbers separated by commas, got '1,x'"),
        (("simulate", "--means", "1,0", "--epsilon", "0.6"), "epsilon must be in [0, 0.5), got 0.6"),
        (("simulate", "--means", "1,0", "--method", "magic"), "method must be one of certified, g-cbai"),
        (("plan", "--means", "1,0", "--epsilon", "0.1"), "sigma must be given, or bounds"),
        (("identify", "nowhere.csv", "--epsilon", "0.1", "--sigma", "1"), "nowhere.csv must be a file that is there"),
        (("identify", "-", "--epsilon", "0.1", "--sigma", "1"), "standard input must have rows"),
        (("inspect", "nowhere.csv"), "nowhere.csv must be a file that is there"),
        (("simulate", "--means", "1,0", "--contamination", "sources"), "contamination must not be sources"),
        (
            ("simulate", "--means", "1,0", "--contamination", "magic"),
            "contamination must be one of causal, prescient, malicious",
        ),
        (("simulate", "--means", "1,0", "--resolution", "0"), "resolution must be a finite number > 0"),
        (
            ("simulate", "--means", "1,0", "--method", "g-cbai", "--good-enough", "1"),
            "good_enough must be an option of g-cbai",
        ),
        (("attack", "--contamination", "sources"), "contamination must be one of causal, prescient, malicious"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words: tuple[str, ...], message: str) -> None:
    done = bestarm(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"bestarm: {message}")
    assert len(done.stderr.splitlines()) == 1
