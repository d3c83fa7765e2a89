"""`bestarm study`, as a shell script uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner, Result

from bestarm import Identifier, InputError, Study
from bestarm.cli.app import app
from bestarm.live.schema import studies
from live_tools import sql_store

MEANS = {"short": 0.3, "polite": 0.35, "stepwise": 0.9}


def bestarm(*words: str, code: int = 0, given: str | None = None) -> Result:
    """Run a command that should end with an exit code."""
    done = CliRunner().invoke(app, ["study", *words], input=given)
    assert done.exit_code == code, (done.output, done.exception)
    return done


@pytest.fixture
def made(url: str) -> str:
    bestarm("create", url, "prompts", "--arms", ",".join(MEANS), "--epsilon", "0.02", "--bounds", "0,1")
    return url


def test_a_study_from_beginning_to_end(made: str, tmp_path: Path) -> None:
    turn = 0
    while True:
        asked = CliRunner().invoke(app, ["study", "ask", made, "prompts", "-n", "60", "--worker", "w"])
        if asked.exit_code == 3:
            assert "'stepwise' has the highest mean of 3 arms" in asked.stderr
            break
        rows = [line.split(",") for line in asked.stdout.splitlines()[1:]]
        told = "".join(f"{pull},{(int(pull.split('-')[0]) % 10) / 10 < MEANS[arm]:d}\n" for pull, arm in rows)
        bestarm("tell", made, "prompts", "--file", "-", given=f"pull,reward\n{told}")
        turn += 1
        assert turn < 50
    stands = bestarm("status", made, "prompts", "--plot", str(tmp_path / "study.png")).stdout
    assert stands.startswith("'stepwise' has the highest mean of 3 arms")
    assert (tmp_path / "study.png").stat().st_size > 10_000
    found = json.loads(bestarm("status", made, "prompts", "--format", "json").stdout)
    assert (found["name"], found["best"], found["pending"]) == ("prompts", "stepwise", 0)
    assert found["decided_at"] < found["sequence"]
    listed = bestarm("list", made, "--format", "json").stdout
    assert json.loads(listed)[0] | {"rewards": 0, "created": ""} == {
        "name": "prompts", "arms": 3, "rewards": 0, "pending": 0, "status": "identified", "best": "stepwise",
        "archived": False, "created": "",
    }  # fmt: skip
    bestarm("export", made, "prompts", "--out", str(tmp_path / "log.jsonl"))
    assert bestarm("export", made, "prompts").stdout == (tmp_path / "log.jsonl").read_text()
    again = bestarm("replay", str(tmp_path / "log.jsonl")).stdout
    assert again.startswith(stands.splitlines()[0])
    assert f"The decision in the log, at event {found['decided_at']:,}, is the same." in again


def test_a_log_that_says_otherwise(made: str, tmp_path: Path) -> None:
    study = Study(made, "prompts")
    study.run(lambda arm: float(arm == "polite"))
    study.export(tmp_path / "log.jsonl")
    text = (tmp_path / "log.jsonl").read_text()
    (tmp_path / "log.jsonl").write_text(text.replace('\\"best\\": \\"polite\\"', '\\"best\\": \\"short\\"'))
    said = bestarm("replay", str(tmp_path / "log.jsonl"), code=1)
    assert "'polite' has the highest mean" in said.stdout
    assert "The log says otherwise: identified ('short')" in said.stderr


def test_single_rewards_cancelling_and_asking_again(made: str) -> None:
    first = bestarm("ask", made, "prompts", "--worker", "w").stdout
    (pull,) = Study(made, "prompts").outstanding()
    assert first == f"pull,arm\n{pull[0].id},short\n"
    assert bestarm("ask", made, "prompts", "--worker", "w").stdout == first
    assert "1 rewards used, 0 pulls outstanding" in bestarm("tell", made, "prompts", "0", "0.5").stderr
    bestarm("tell", made, "prompts", pull[0].id, "0.5")
    bestarm("ask", made, "prompts", "--worker", "v")
    assert "1 pulls outstanding" in bestarm("renew", made, "prompts", "1").stderr
    (owed,) = json.loads(bestarm("pending", made, "prompts", "--format", "json").stdout)
    assert (owed["pull"], owed["arm"], owed["worker"]) == (Study(made, "prompts").pull(1).id, "polite", "v")
    bestarm("cancel", made, "prompts", owed["pull"])
    assert "no pulls are outstanding" in bestarm("pending", made, "prompts").stderr
    stands = bestarm("status", made, "prompts", code=3).stdout
    assert "undecided so far among" in stands
    assert "1 pull was cancelled" in stands
    assert "too early for a forecast" in stands
    assert "short," in bestarm("status", made, "prompts", "--format", "csv", code=3).stdout


def test_a_reward_below_0(url: str) -> None:
    bestarm("create", url, "losses", "--arms", "2", "--epsilon", "0", "--sigma", "1")
    bestarm("ask", url, "losses")
    bestarm("tell", url, "losses", "0", "-1.5")
    assert Study(url, "losses").estimates[0].pulls == 1


def test_after_an_alarm_nothing_is_claimed_and_the_exit_code_says_so(made: str, tmp_path: Path) -> None:
    """As that of `identify` does."""
    study = Study(made, "prompts")
    for pull in study.work():
        if pull.number % 2:
            study.cancel(pull)
        else:
            study.tell(pull, float(pull.arm == "stepwise"))
    assert study.result.best == "stepwise"
    assert "no probability is claimed" in bestarm("status", made, "prompts", code=4).stdout
    study.export(tmp_path / "log.jsonl")
    assert "no probability is claimed" in bestarm("replay", str(tmp_path / "log.jsonl"), code=4).stdout


def test_status_prints_the_numbers_of_the_identifier_that_was_told_the_same(made: str) -> None:
    """Tolerance, overturn, limit and forecast: in the sentence, in JSON, and of an `Identifier`."""
    study = Study(made, "prompts")
    finder = Identifier(study.labels, delta=study.delta, epsilon=study.epsilon, bounds=(0, 1))
    for pull in study.work():
        finder.ask()
        reward = float(pull.arm == "stepwise" or pull.number % 3 == 0)
        study.tell(pull, reward)
        finder.tell(pull.arm, reward)
        if study.pulls == 12:
            assert bestarm("status", made, "prompts", code=3).stdout.rstrip().endswith(str(finder.forecast()))
    numbers = json.loads(bestarm("status", made, "prompts", "--format", "json").stdout)
    result = finder.result
    assert result.best == "stepwise"
    for name in ("tolerance", "overturn", "limit", "p_value", "evidence", "pulls", "alarms"):
        assert numbers[name] == json.loads(result.to_json())[name]
    said = bestarm("status", made, "prompts").stdout
    assert said.startswith(str(result))
    assert f"would still single it out with epsilon up to {result.tolerance:.3g}" in said


def test_a_list_is_one_query_and_hides_no_study(made: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of another version, or by a method that is not here, is listed with the others: none is opened."""
    for name in ("newer", "theirs", "broken"):
        bestarm("create", made, name, "--arms", "A,B", "--epsilon", "0.02", "--bounds", "0,1")
    store = sql_store(made)
    newer = '{"arms": ["A", "B"], "settings_version": 99}'
    theirs = store.find("theirs").settings.replace("certified", "nowhere:Method")  # type: ignore[union-attr]
    with store.tables(to_write=True) as connection:
        for name, settings in {"newer": newer, "theirs": theirs, "broken": "what"}.items():
            row = sa.update(studies).where(studies.c.name == name).values(settings=settings)
            connection.execute(row)
    monkeypatch.setattr("bestarm.live.study.Study.__init__", lambda *_: pytest.fail("it is opened"))
    queries: list[str] = []
    listen = sa.event.listen
    opened = sql_store(made)
    listen(opened._engine, "before_cursor_execute", lambda *call: queries.append(call[2]))
    assert [(row.name, row.arms) for row in opened.overview()] == [
        ("prompts", 3), ("newer", 2), ("theirs", 2), ("broken", None)
    ]  # fmt: skip
    assert len([text for text in queries if "bestarm_" in text]) == 1
    opened.close()
    store.close()
    listed = json.loads(bestarm("list", made, "--format", "json").stdout)
    assert [(row["name"], row["status"]) for row in listed] == [
        (name, "undecided") for name in ("prompts", "newer", "theirs", "broken")
    ]


def test_an_archived_study(made: str) -> None:
    bestarm("archive", made, "prompts")
    assert "archived" in bestarm("list", made).stdout
    assert "archived" in bestarm("status", made, "prompts", code=3).stdout


@pytest.mark.parametrize(
    ("words", "parameter"),
    [
        (["tell", "URL", "prompts"], "reward"),
        (["tell", "URL", "prompts", "0"], "reward"),
        (["tell", "URL", "prompts", "7", "0.5"], "pull"),
        (["tell", "URL", "prompts", "0", "nan"], "reward"),
        (["tell", "URL", "prompts", "--file", "nowhere.csv"], "file"),
        (["status", "URL", "nobody"], "name"),
        (["status", "URL", "prompts", "--plot", "nowhere/x.png"], "plot"),
        (["ask", "URL", "prompts", "-n", "0"], "n"),
        (["create", "URL", "x", "--arms", "A", "--epsilon", "0.1", "--sigma", "1"], "arms"),
        (["create", "URL", "prompts", "--arms", "A,B", "--epsilon", "0.02", "--bounds", "0,1"], "arms"),
        (["list", "nonsense"], "url"),
        (["replay", "nowhere.jsonl"], "file"),
        (["export", "URL", "prompts", "--out", "nowhere/x"], "path"),
    ],
)
def test_what_is_wrong_is_named(made: str, words: list[str], parameter: str) -> None:
    bestarm("ask", made, "prompts")
    done = CliRunner().invoke(app, ["study", *(made if word == "URL" else word for word in words)])
    assert isinstance(done.exception, InputError), done.output
    assert done.exception.parameter == parameter


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        ("arm,reward\n0,1\n", "file"),
        ("pull,reward\n0,much\n", "reward in line 2"),
        ("pull,reward\nx,1\n", "pull in line 2"),
        ("", "file"),
    ],
)
def test_a_bad_file_of_rewards_is_refused_whole(made: str, text: str, parameter: str) -> None:
    bestarm("ask", made, "prompts")
    done = CliRunner().invoke(app, ["study", "tell", made, "prompts", "--file", "-"], input=text)
    assert isinstance(done.exception, InputError)
    assert done.exception.parameter == parameter
    assert Study(made, "prompts").pulls == 0


def test_old_tables_are_migrated_by_the_command_that_the_error_names(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/old.db"
    store = sql_store(url)
    store.migrate("0001")
    store.close()
    done = CliRunner().invoke(app, ["study", "list", url])
    assert f"bestarm study migrate '{url}'" in str(done.exception)
    assert "revision 0002" in bestarm("migrate", url).stdout
    assert "no studies" in bestarm("list", url).stderr
