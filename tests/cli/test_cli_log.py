"""`bestarm inspect` and `bestarm identify` on files as an analyst has them: answers, exit codes, and no tracebacks."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from bestarm.cli.app import app
from bestarm.cli.syntax import cli_syntax, to_cli_syntax
from bestarm.errors import InputError
from bestarm.phrases import Phrase, Setting, Verbatim
from bestarm.progress import reading_bar
from command_line import bestarm, bestarm_process
from contest import BEST, BOTS, RIGGED, write_contests

QUESTION = ("--arm", "caption", "--reward", "stars", "--bounds", "1,5")


def run(*words: object) -> Result:
    """Run the command in this process, which is faster; bad input is an exception."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    if isinstance(done.exception, InputError):
        done.exception.args = (done.exception.written(cli_syntax),)  # as the command prints it
        raise done.exception
    assert isinstance(done.exception, SystemExit | None), done.exception
    return done


def answer(*words: object) -> dict[str, Any]:
    found = json.loads(run("identify", *words, "--format", "json").stdout)
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_contests(tmp_path_factory.mktemp("contest"), "clean", "bots", "voters")


def written(folder: Path, text: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# -------------------------------------------------------------------------------------------------- three right answers


def test_the_clean_contest_names_the_best_caption_and_ends_with_0(files: dict[str, Path]) -> None:
    done = bestarm_process("identify", files["clean"], *QUESTION, "--epsilon", 0.01, "--explain")
    told = [line for line in done.stderr.splitlines() if not line.startswith("bestarm is compiling")]  # a cold cache
    assert (done.returncode, told) == (0, [])
    shown = " ".join(done.stdout.split())
    assert shown.startswith("A has the highest mean stars: 3.51 against 2.88 for B (+22 %)")
    assert "'A' has the highest mean of 8 arms" in shown
    assert "overturn it would take more than 483 fake rewards (of 30,000, whichever they are) to overturn this" in shown
    assert "with that many or fewer, 'A' is the best, wrong with probability at most 0.05" in shown
    assert "The answer stands up to epsilon = 0.0161: are more than 1.61 % of your rewards fake?" in shown
    assert "valid at any time" not in shown  # only the replay's is
    assert "- 30,000 rows read, 30,000 rewards in them." in shown
    bars = [line for line in done.stdout.splitlines() if "█" in line]
    assert [line.split()[0] for line in bars] == list("ABCDEFGH")
    assert bars[0].index("█") > bars[-1].index("█")


def test_bots_without_voters_name_nobody_and_end_with_3(files: dict[str, Path]) -> None:
    done = run("identify", files["bots"], *QUESTION, "--epsilon", 0.08, "--explain")
    assert done.exit_code == 3
    assert "\nlimit      contamination\n" in done.stdout
    assert "\ncandidates 'B', 'A', 'C', 'D', 'E', 'F', 'G', 'H'\n" in done.stdout
    found = answer(files["bots"], *QUESTION, "--epsilon", 0.08)
    assert (found["best"], found["leader"], found["limit"]) == (None, RIGGED, "contamination")
    assert f"would be named with at most {found['overturn']} fake rewards" in " ".join(done.stdout.split())


def test_bots_with_voters_name_the_best_caption(files: dict[str, Path]) -> None:
    found = answer(files["voters"], *QUESTION, "--source", "voter", "--epsilon", 0.015)
    assert found["best"] == BEST
    assert found["options"]["contamination"] == "sources"
    assert found["overturn"] > BOTS
    done = run("identify", files["voters"], *QUESTION, "--source", "voter", "--epsilon", 0.015, "--explain")
    assert f"more than {found['overturn']} dishonest sources (of 3,490, whichever" in " ".join(done.stdout.split())
    assert "of your sources dishonest?" in " ".join(done.stdout.split())


def test_a_column_of_sources_changes_nothing_unless_it_is_asked_for(files: dict[str, Path]) -> None:
    found = answer(files["voters"], *QUESTION, "--epsilon", 0.08)
    assert found["options"]["contamination"] == "share-of-all"
    assert found["best"] is None
    done = run("identify", files["voters"], *QUESTION, "--epsilon", 0.08, "--explain")
    shown = " ".join(done.stdout.split())
    said = "the verdict does not use it: with --source voter, fake sources are counted and not fake rows."
    assert f"The column 'voter' may say who gave a reward; {said}" in shown
    asked = answer(files["voters"], *QUESTION, "--epsilon", 0.015, "--contamination", "sources")
    assert asked["best"] == BEST
    assert "The column 'voter' was taken for the source, by its name." in asked["about_the_file"]


def test_a_replay_says_how_many_rows_it_used(files: dict[str, Path]) -> None:
    question = (files["clean"], *QUESTION, "--epsilon", 0.01, "--sequential")
    found = answer(*question, "--contamination", "share-of-arm")
    assert found["best"] == BEST
    assert found["pulls"] + found["ignored"] == 30_000
    assert "by a replay in order that used" in found["verdict"]
    by_other = answer(*question, "--method", "se-cbai")
    assert by_other["method"] == "se-cbai"
    assert not by_other["proved"]


# ------------------------------------------------------------------------------------------------------------- the rest


def test_an_undecided_log_says_which_arms_need_about_how_many_more() -> None:
    random = np.random.default_rng(17)
    rows = [f"{arm},{value}" for arm, mean in (("A", 0.55), ("B", 0.52)) for value in random.binomial(1, mean, 300)]
    text = "\n".join(("variant,clicked", *rows)) + "\n"
    done = CliRunner().invoke(app, ["identify", "-", "--bounds", "0,1", "--epsilon", "0", "--explain"], input=text)
    assert done.exit_code == 3
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("more ")]
    assert line.startswith("more       about ")
    assert line.endswith(" (a rough forecast) would decide it")
    assert "\nleader     'A', but that is not proved\n" in done.stdout
    assert "\ncandidates 'A', 'B'\n" in done.stdout


def test_csv_has_all_arms(files: dict[str, Path]) -> None:
    done = run("identify", files["clean"], *QUESTION, "--epsilon", 0.01, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["label"] for row in rows] == list("ABCDEFGH")
    assert all(float(row["lead"]) > 0 for row in rows[1:])


def test_a_terminal_without_blocks_gets_letters(files: dict[str, Path]) -> None:
    question = ["identify", str(files["clean"]), *QUESTION, "--epsilon", "0.01"]
    done = CliRunner(charset="ascii").invoke(app, question)
    assert done.exit_code == 0
    assert "---O---" in done.stdout


def test_many_arms_with_long_names_do_not_flood_the_terminal(tmp_path: Path) -> None:
    rows = [f"{'caption ' * 20}{arm},{arm % 5}" for arm in range(50) for _ in range(3)]
    path = written(tmp_path, "\n".join(("caption,stars", *rows)) + "\n")
    done = run("identify", path, "--bounds", "0,4", "--epsilon", 0, "--explain")
    assert "... and 30 more arms (--format csv has all)" in done.stdout
    table = done.stdout.split("\n\n")[1]
    assert max(map(len, table.splitlines())) <= 120
    assert "  50 arms  " in done.stdout


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("A,B\n" + "1,0\n" * 200, ("--wide",)),
        ("A,B,C\n" + "1,0,7\n" * 200, ("--wide", "--arm", "A,B")),
        ("arm,reward,count\nA,1,200\nB,0,200\n", ("--counted", "count")),
        ("name,bad,good\nA,0,200\nB,200,0\n", ("--arm", "name", "--counted", "bad=0,good=1")),
        ("arm,reward\n" + "A,1\nB,0\n" * 200 + "A,\n", ("--missing", "drop")),
        ("arm,reward\n" + "A,1\nB,0\n" * 200 + "A,\n", ("--missing", "replaced", "--epsilon", "0.01")),
        ("arm,reward\n" + "A,1\nB,0\n" * 200 + "A,x\n", ("--on-bad-row", "skip")),
        ("when,arm,1,2\n" + "1,A,1,9\n2,B,0,9\n" * 200, ("--counted", "no", "--reward", "1", "--block", "none")),
    ],
)
def test_a_log_may_be_wide_counted_or_have_bad_rows(tmp_path: Path, text: str, options: tuple[str, ...]) -> None:
    assert answer(written(tmp_path, text), "--bounds", "0,1", "--epsilon", 0, *options)["best"] == "A"


def test_several_files_a_pattern_and_stdin_are_one_log(tmp_path: Path, files: dict[str, Path]) -> None:
    one = written(tmp_path, "arm,reward\n" + "A,1\n" * 200, "votes-1.csv")
    two = written(tmp_path, b"arm,reward\n" + b"B,0\n" * 200, "votes-2.csv")
    written(tmp_path, gzip.compress(b"arm,reward\n" + b"A,1\n" * 10), "votes-3.csv.gz")
    question = ("--bounds", "0,1", "--epsilon", 0)
    assert answer(one, two, *question)["rows"] == 400
    assert answer(tmp_path / "votes-*", *question)["rows"] == 410
    done = bestarm("identify", "-", *question, "--format", "json", stdin=one.read_bytes() + b"B,0\n" * 200)
    assert json.loads(done.stdout)["best"] == "A"


def test_the_page_and_the_picture_are_written(tmp_path: Path, files: dict[str, Path]) -> None:
    page, picture = tmp_path / "answer.html", tmp_path / "answer.png"
    run("identify", files["clean"], *QUESTION, "--epsilon", 0.01, "--report", page, "--plot", picture)
    assert "<html" in page.read_text()
    assert "bestarm" in page.read_text()
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_sigma_may_be_estimated_for_one_epsilon(tmp_path: Path) -> None:
    random = np.random.default_rng(22)
    rows = [f"{arm},{value:.3f}" for arm, mean in (("A", 3.0), ("B", 1.0)) for value in random.normal(mean, 2, 4000)]
    path = written(tmp_path, "\n".join(("arm,reward", *rows)) + "\n")
    question = ("identify", path, "--epsilon", 0.01, "--contamination", "share-of-arm", "--sigma")
    done = run(*question, "estimate", "--explain")
    assert done.exit_code == 0
    shown = " ".join(done.stdout.split())
    assert "(sigma estimated from 2,000 others)" in shown
    assert "then too (it was estimated for epsilon = 0.01)" in shown
    assert run(*question, "2.5").exit_code == 0


# -------------------------------------------------------------------------------------------------------------- inspect


def test_inspect_points_at_the_bots(files: dict[str, Path]) -> None:
    done = run("inspect", files["voters"])
    assert done.exit_code == 0
    shown = " ".join(done.stdout.split())
    assert "40 voters" in shown
    assert "epsilon = 0.011 of the voters" in shown
    assert "bounds = (1, 5), if no other reward is possible" in shown
    found = json.loads(run("inspect", files["voters"], "--format", "json").stdout)
    assert [each["kind"] for each in found["findings"]][:1] == ["devoted sources"]
    assert [each["kind"] for each in found["suspicions"]] == [each["kind"] for each in found["findings"]]
    assert found["total"] == 30_000
    assert run("inspect", files["clean"]).stdout.count("- None of the things these checks look for.") == 1


def test_inspect_counts_what_identify_refuses(tmp_path: Path) -> None:
    path = written(tmp_path, "arm,reward\n" + "A,1\nB,0\n" * 20 + "A,x\nB,\n")
    done = run("inspect", path)
    assert "1 bad row skipped" in done.stdout
    assert "1 reward missing (2.44 %), left out." in done.stdout


# ------------------------------------------------------------------------------------------------------------ bad input

GOOD = "arm,reward\nA,1\nB,0\n"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", (), "must have rows, got 'an empty file'"),
        ("arm,reward\n", (), "must have rows, got 'a header alone'"),
        (
            "arm,reward\nA,1\nB,x\n",
            (),
            "line 3 of {path} must have a number as reward, got 'x': correct it; --on-bad-row",
        ),
        ("arm,reward\nA,1\nB,7\n", (), "line 3 of {path} must have reward within the bounds (0.0, 1.0), got '7'"),
        ("arm,reward\nA,1\n,1\n", (), "line 3 of {path} must have an arm"),
        ("arm,reward\nA,1\nB,\n", (), "Rewards are missing: 1 of 2 (50 %). Use one of:\n"),
        ("arm,arm,reward\nA,A,1\nB,B,0\n", (), "arm must be one column, got 'arm': two columns have this name"),
        ("arm,reward\nA,1\nA,0\n", (), "{path} must have at least two arms"),
        ("x,y\nA,1\nB,0\n", (), "No name of a column says clearly which one has the arm; it may be 'x'. Use this:\n"),
        ("x,y\n1,1\n2,0\n", (), "No column names the arms, and there are numbers in all of them. Use this:\n"),
        (
            "x,at\n1,mon\n2,tue\n",
            ("--arm", "x"),
            "reward must name one of the columns 'x', 'at', got None: say which one",
        ),
        (GOOD, ("--arm", "caption"), "arm must name one of the columns 'arm', 'reward', got 'caption'"),
        (GOOD, ("--bounds", "1"), "bounds must be two numbers separated by a comma, got '1'"),
        (GOOD, ("--sigma", "big"), "sigma must be a number, or estimate, got 'big'"),
        (GOOD, ("--sigma", "1"), "sigma must be given, or bounds, and not both"),
        (GOOD, ("--epsilon", "0.7"), "epsilon must be in [0, 0.5), got 0.7"),
        (GOOD, ("--contamination", "bots"), "contamination must be one of"),
        (GOOD, ("--contamination", "sources"), "source must be a column of the log for --contamination sources"),
        (GOOD, ("--method", "se-cbai"), "method must come with --sequential, got 'se-cbai'"),
        (GOOD, ("--missing", "ignore"), "missing must be one of"),
        (GOOD, ("--counted", "a=b"), "counted must give the value that each column counts, got 'a=b'"),
        (GOOD, ("--paired",), "paired must come with sources and bounds"),
        (GOOD, ("--report", "answer.doc"), "report must end in .html or .md, got 'answer.doc'"),
        (GOOD, ("--report", "no/where/answer.md"), "report must be in a folder that is there"),
        (GOOD, ("--plot", "answer"), "plot must end in .png, .svg or .pdf, got 'answer'"),
        (GOOD, ("--plot", "no/where/answer.png"), "plot must be a file in a folder that is there"),
    ],
)
def test_bad_input_is_refused_in_the_words_of_the_command(
    tmp_path: Path, text: str, options: tuple[str, ...], message: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as refused:
        run("identify", path, "--bounds", "0,1", "--epsilon", 0.1, *options)
    assert message.format(path=path) in str(refused.value)


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x03\x04 a zip file",
        b"\x1f\x8b\x08\x00 no gz at all",
        b"PAR1 and no Parquet",
        b"\x00\x01\x02\x03" * 100,
        b'arm,reward\nA,1\n"B,0\n',
    ],
)
def test_a_damaged_file_is_one_line_and_exit_code_2(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path, content)
    for words in (("identify", path, "--bounds", "0,1", "--epsilon", "0"), ("inspect", path)):
        done = bestarm(*words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith("bestarm: ")


def test_without_duckdb_it_says_what_to_install(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    for words in (("identify", path, "--bounds", "0,1", "--epsilon", "0"), ("inspect", path)):
        done = bestarm_process(*words, code="import sys; sys.modules['duckdb'] = None")
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr == "bestarm: duckdb is required: pip install -e '.[log]' in a clone of bestarm\n"
    help_ = bestarm_process("identify", "--help", code="import sys; sys.modules['duckdb'] = None")
    assert help_.returncode == 0


@pytest.mark.parametrize(
    ("name", "value", "python", "option"),
    [
        ("missing", "drop", "missing='drop'", "--missing drop"),
        ("on_bad_row", "skip", "on_bad_row='skip'", "--on-bad-row skip"),
        ("paired", True, "paired=True", "--paired"),
        ("source", False, "source=False", "no --source"),
        ("time", False, "time=False", "--time no"),
        ("counted", False, "counted=False", "--counted no"),
        ("sigma", 1.0, "sigma=1.0", "--sigma 1.0"),
        ("bounds", (1, 5), "bounds=(1, 5)", "--bounds 1,5"),
        ("bounds", (Verbatim("low"), Verbatim("high")), "bounds=(low, high)", "--bounds low,high"),
        ("source", "my column", "source='my column'", "--source 'my column'"),
        ("arm", ..., "arm=", "--arm"),
        ("address", "tcp://host:8786", "address='tcp://host:8786'", "--dask tcp://host:8786"),
    ],
)
def test_messages_speak_of_options(name: str, value: object, python: str, option: str) -> None:
    said = Phrase("say {}, not epsilon=0.1", Setting(name, value))
    assert said == f"say {python}, not epsilon=0.1"
    assert to_cli_syntax(said) == f"say {option}, not epsilon=0.1"


def test_a_text_that_mentions_no_setting_stays_as_it_is() -> None:
    assert to_cli_syntax("of sigma=1 and {missing='drop'}") == "of sigma=1 and {missing='drop'}"


def test_progress_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    with reading_bar() as show:
        assert show is None
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with reading_bar() as show:
        assert show is not None
        for share in (0.1, 0.9, 0.2):
            show(share)
    assert isinstance(sys.stderr, Terminal)
    assert "reading the log, pass 2" in sys.stderr.getvalue()


def test_a_time_that_was_guessed_can_be_switched_off(tmp_path: Path) -> None:
    """In the order of the file each voter rewards A first, in the order of the column B."""
    log = tmp_path / "log.csv"
    rows = [f"A,5,v{who},2\nB,1,v{who},1\n" for who in range(300)]
    log.write_text("arm,reward,voter,time\n" + "".join(rows))
    asked = ("--source", "voter", "--epsilon", "0.01", "--bounds", "1,5")
    numbers = {}
    for more in ((), ("--time", "no")):
        found = answer(log, *asked, *more)
        numbers[more] = " ".join(found["about_the_file"])
    assert "'time' was taken for the time" in numbers[()]
    assert "for the time" not in numbers["--time", "no"]


def test_a_name_that_no_font_has_is_drawn_without_a_warning_of_matplotlib(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("arm,reward\n" + "日本語,5\nB,1\n" * 300, encoding="utf-8")
    asked = ("--epsilon", "0.01", "--bounds", "1,5", "--report", tmp_path / "page.md")
    done = bestarm_process("identify", log, *asked, "--plot", tmp_path / "picture.png")
    assert done.returncode == 0
    assert "UserWarning" not in done.stderr
    assert done.stderr.count("some letters of the arms' names are not in the font") == 1


# ------------------------------------------------------------------------------------- what a stranger's trial found


def test_a_column_of_counts_is_not_overlooked(tmp_path: Path) -> None:
    """Counted rows would name A, single ones B."""
    log = tmp_path / "log.csv"
    rows = ["A,5,400\n", "A,1,100\n", "B,1,400\n", "B,5,40\n", *["B,5,1\n"] * 60]
    log.write_text("caption,stars,count\n" + "".join(rows))
    asked = ("--epsilon", "0.01", "--bounds", "1,5")
    found = answer(log, *asked)
    assert found["best"] == "A"
    assert "The column 'count' was taken for how often a row occurs, by its name." in found["about_the_file"]
    single = answer(log, *asked, "--counted", "no")
    assert single["pulls"] == len(rows)
    log.write_text("caption,stars,votes\n" + "".join(rows))
    assert any("'votes' may say how often" in said for said in answer(log, *asked)["about_the_file"])


def test_an_open_quote_is_refused_even_if_bad_rows_are_skipped(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    rows = ["A,5\n", "B,1\n"] * 500
    rows[100] = '"A,5\n'
    log.write_text("arm,reward\n" + "".join(rows))
    done = bestarm("identify", log, "--epsilon", "0.02", "--bounds", "1,5", "--on-bad-row", "skip")
    assert done.returncode == 2
    assert "line 102 of" in done.stderr
    assert "it swallows the rows that follow" in " ".join(done.stderr.split())


def test_a_name_over_many_lines_is_pointed_at_and_cut(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    torn = '"A' + "\nx,1" * 50 + '"'
    log.write_text("arm,reward\n" + "A,5\nB,1\n" * 300 + f"{torn},3\n")
    found = answer(log, "--epsilon", "0.02", "--bounds", "1,5")
    assert any("The name of an arm has 51 lines" in said for said in found["about_the_file"])
    assert len(found["verdict"]) < 1500


def test_rewards_out_of_bounds_that_are_skipped_count_as_replaced(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("arm,reward\n" + "A,5\nB,1\n" * 500 + "B,7\n" * 15)
    asked = (log, "--bounds", "1,5", "--on-bad-row", "skip")
    found = answer(*asked, "--epsilon", "0.02")
    assert found["replaced"] == 20  # of 1,015
    assert "the 15 out-of-bounds rewards are among the replaced" in found["promise"]
    assert "has nothing to do with" not in found["promise"]
    with pytest.raises(InputError, match=r"epsilon must allow for what is missing, or out of bounds.*\(15, of 1,015\)"):
        run("identify", *asked, "--epsilon", "0.01")


def test_missing_rewards_are_held_against_all_rows_where_sigma_is_estimated(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    log = tmp_path / "log.csv"
    rows = [f"{arm},{mean + random.normal():.4f}\n" for _ in range(3000) for arm, mean in (("A", 2.0), ("B", 0.0))]
    log.write_text("arm,reward\n" + "".join(rows) + "A,\n" * 100)  # 1.6 % of all, 2.2 % of those not set aside
    found = answer(log, "--epsilon", "0.02", "--sigma", "estimate", "--missing", "replaced")
    assert found["p_value"] >= 0.01  # delta / 5 is the chance that sigma is too small
    assert found["replaced"] == 122


def test_a_wide_log_assumes_that_cells_of_a_row_are_independent(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("A,B\n" + "5,1\n" * 300)
    found = answer(log, "--wide", "--epsilon", "0.02", "--bounds", "1,5")
    assert "the cells of one row are independent of each other" in found["promise"]


def test_a_comma_that_may_be_of_thousands_is_asked_about(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("arm;reward\n" + "A;1,234\nB;2,500\n" * 50)
    with pytest.raises(InputError, match=r"a reward must have a comma whose meaning is clear, got '1,234'"):
        run("identify", log, "--epsilon", "0.02", "--sigma", "1")
    log.write_text("arm;reward\n" + "A;1,234\nB;0,500\n" * 50)  # 0,500 is no thousand
    assert answer(log, "--epsilon", "0.02", "--bounds", "0,2")["means"] == pytest.approx({"A": 1.234, "B": 0.5})


def test_dates_are_read_day_first_where_they_have_points(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    rows = [f"A,5,v{day},{day:02}.02.2025 10:00\nB,1,v{day},{day:02}.01.2025 10:00\n" for day in range(1, 29)]
    log.write_text("arm,reward,voter,time\n" + "".join(rows * 5))
    found = answer(log, "--source", "voter", "--time", "time", "--epsilon", "0", "--bounds", "1,5")
    assert found["sources"] == 28
    assert found["hint"].startswith("hardly any source rewarded one of")  # all of them B first, as the dates have it
    log.write_text("arm,reward,time\n" + "A,5,5/6/2025\nB,1,6/5/2025\n" * 50)
    done = bestarm("inspect", log, "--time", "time")
    assert done.returncode == 2
    assert "must have a time (a number, or a date such as 2024-05-31 12:00 or 31.05.2024 12:00)" in done.stderr
    with pytest.raises(InputError, match=r"time must be numbers or dates .*--time no for the order of the file"):
        run("identify", log, "--epsilon", "0", "--bounds", "1,5", "--sequential")


def test_a_replay_says_the_same_of_the_rewards_it_used_whatever_comes_after(tmp_path: Path) -> None:
    random = np.random.default_rng(8)
    stars = [(arm, int(5 - random.binomial(4, miss))) for _ in range(1500) for arm, miss in (("A", 0.2), ("B", 0.8))]
    cut, log, tail = 1200, tmp_path / "log.csv", tmp_path / "tail.csv"
    for sources in (False, True):
        who = [f",v{place}" if sources else "" for place in range(len(stars))]
        lines = [f"{arm},{value}{each}\n" for (arm, value), each in zip(stars, who, strict=True)]
        head = f"arm,reward{',voter' if sources else ''}\n"
        log.write_text(head + "".join(lines[:cut]))
        swapped = [f"{'AB'[arm == 'A']}{line[1:]}" for (arm, _), line in zip(stars[cut:], lines[cut:], strict=True)]
        tail.write_text(head + "".join(lines[:cut] + swapped))
        asked = ("--epsilon", "0.02", "--bounds", "1,5", "--sequential", *(("--source", "voter") if sources else ()))
        one, two = answer(log, *asked), answer(tail, *asked)
        assert one["best"] == two["best"] == "A"
        assert one["pulls"] == two["pulls"] < cut
        for name in ("leads", "p_value", "evidence", "tolerance", "overturn", "sensitivity", "means"):
            assert one[name] == two[name], name


def test_a_replay_does_not_contradict_itself(files: dict[str, Path]) -> None:
    found = answer(files["bots"], *QUESTION, "--epsilon", "0.08", "--sequential")
    own = next(row for row in found["sensitivity"] if row["epsilon"] == 0.08)
    assert own["status"] == found["status"]
    assert own["limit"] == found["limit"]
    assert "share_from" not in found["promise"]
    means = found["means"]
    assert found["leader"] == max(means, key=means.__getitem__)  # all intervals are the whole range


def test_inspect_points_at_a_typing_error_that_sets_the_bounds(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("arm,reward\n" + "A,5\nB,1\nA,3\nB,2\n" * 500 + "A,44\n")
    said = " ".join(run("inspect", log).stdout.split())
    assert "But 1 of 2,001 rewards (0.05 %) is far from all others (44)" in said
    assert "bounds = (1, 5)" in said


def test_inspect_does_not_call_chance_a_duplicate(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    log = tmp_path / "log.csv"
    size = 6000
    rows = [f"{arm},{stars},{when}\n" for arm, stars, when in random.integers((0, 1, 0), (4, 6, 86400), (size, 3))]
    log.write_text("arm,reward,time\n" + "".join(rows))
    assert "equal to an earlier row" not in run("inspect", log).stdout
    log.write_text("arm,reward,time\n" + "".join(rows + rows[:60]))
    said = " ".join(run("inspect", log).stdout.split())
    assert re.search(r"\d\d of 6,060 rows are equal to an earlier row in all columns, time included", said)


def test_half_ballots_are_said_to_be_why_pairs_prove_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    rows = [f"A,5,v{who}\n" + (f"B,2,v{who}\n" if who % 3 else "") for who in range(900)]
    log.write_text("arm,reward,voter\n" + "".join(rows))
    found = answer(log, "--source", "voter", "--paired", "--epsilon", "0.1", "--bounds", "1,5")
    assert found["best"] is None
    assert "33 % rewarded only one of them" in found["hint"]


def test_the_first_refusal_is_of_what_comes_first(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be a file that is there"):
        run("identify", tmp_path / "nofile.csv", "--epsilon", "0.1")
    log = tmp_path / "log.csv"
    log.write_text("arm,reward\n" + "A,5\nB,1\n" * 30)
    with pytest.raises(InputError, match=r"goes from 1 to 5 in this log, which does not say"):
        run("identify", log, "--epsilon", "0.1")
    with pytest.raises(InputError, match=r"epsilon must be in \[0, 0.5\), got 8.0: it is a share: 8 % is 0.08"):
        run("identify", log, "--epsilon", "8", "--bounds", "1,5")


def test_a_column_named_when_orders_what_a_source_said(tmp_path: Path) -> None:
    """Each voter rates both, and the first counts: in a shuffled file by the time, and the answer is the same."""
    random = np.random.default_rng(31)
    rows = []
    for voter in range(300):
        arms = ("A", "B") if voter % 2 else ("B", "A")
        for place, arm in enumerate(arms):  # who speaks second says the opposite
            good = (arm == "A") == (place == 0)
            rows.append(f"{arm},{int(random.random() < (0.9 if good else 0.1))},{voter},{2 * voter + place}")
    answers = []
    for lines in (rows, list(random.permutation(rows))):
        path = written(tmp_path, "\n".join(("arm,reward,voter,when", *lines)) + "\n")
        question = ("identify", path, "--epsilon", 0.01, "--bounds", "0,1", "--source", "voter", "--format", "json")
        found = json.loads(run(*question).stdout)
        answers.append((found["best"], found["p_value"]))
    assert answers[0] == answers[1]
    assert answers[0][0] == "A"


def test_a_replay_claims_no_probability_for_overturn(tmp_path: Path) -> None:
    rows = [f"{arm},{value}" for _ in range(200) for arm, value in (("A", 1), ("B", 0))]
    path = written(tmp_path, "\n".join(("arm,reward", *rows)) + "\n")
    shown = " ".join(
        run("identify", path, "--epsilon", 0.01, "--bounds", "0,1", "--sequential", "--explain").stdout.split()
    )
    assert "overturn these rewards still single out 'A' with up to" in shown
    assert "no probability is claimed for that" in shown
