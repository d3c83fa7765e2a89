"""The first call on a file of one's own: what is understood at once, what is asked, and that pasted answers work."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from bestarm.errors import InputError, UnclearError
from bestarm.log.bounds import natural_bounds
from bestarm.log.certificate import verify_certificate
from bestarm.log.reading import read_log
from bestarm.log.verdict import identify_log
from command_line import Done, bestarm


def written(folder: Path, header: str, rows: list[str], name: str = "log.csv") -> Path:
    path = folder / name
    path.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return path


def commands(done: Done) -> list[list[str]]:
    """Return the commands to paste that were printed, as words after `bestarm`."""
    return [shlex.split(line)[1:] for line in done.stderr.splitlines() if line.startswith("  ") and "bestarm " in line]


# -------------------------------------------------------------------------------------------------------------- columns


def columns_of(path: Path) -> tuple[str, str]:
    health = read_log(path).health
    return health.arm, health.reward


@pytest.mark.parametrize(
    "name",
    [
        *("banner", "server", "system", "model", "prompt", "headline", "recipe", "plan", "subject_line", "test_group"),
        *("variant", "Variant Name", "ad_version", "Landing page", "event.variant"),
    ],
)
def test_a_column_of_arms_is_known_by_its_name(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, f"country,{name},reward", ["DE,A,1", "FR,B,0", "NL,A,0"] * 10)
    assert columns_of(path) == (name, "reward")
    assert f"The column {name!r} was taken for the arm, by its name." in read_log(path).health.guesses


@pytest.mark.parametrize(
    "name",
    ["revenue", "purchased", "clicked", "score", "latency_ms", "liked", "opened", "signed_up", "thumbs", "converted"],
)
def test_a_column_of_rewards_is_known_by_its_name(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, f"age,arm,{name}", ["31,A,1", "30,B,0", "29,A,0"] * 10)
    assert columns_of(path) == ("arm", name)


def test_the_clearest_name_is_taken(tmp_path: Path) -> None:
    path = written(tmp_path, "region,headline,variant,value,clicked", ["x,y,A,10,1", "y,x,B,20,0"] * 10)
    assert columns_of(path) == ("variant", "clicked")
    path = written(tmp_path, "system,prompt_id,score", [f"{'AB'[i % 2]},{i % 7},{i % 5}" for i in range(50)])
    assert columns_of(path) == ("system", "score")


def test_a_name_is_not_believed_if_the_content_says_otherwise(tmp_path: Path) -> None:
    rows = [f"{1000 + i},{'AB'[i % 2]},great,{i % 3 % 2}" for i in range(50)]
    assert columns_of(written(tmp_path, "variant,banner,feedback,clicked", rows)) == ("banner", "clicked")
    dates = [f"2026-03-{1 + i % 9:02d},{'AB'[i % 2]},{i % 3 % 2}" for i in range(50)]
    assert columns_of(written(tmp_path, "version,page,clicked", dates)) == ("page", "clicked")


def test_without_known_names_the_only_fitting_column_is_taken(tmp_path: Path) -> None:
    rows = [f"u{i},2026-03-{1 + i % 9:02d},{'AB'[i % 2]},{i % 3 % 2},{i}" for i in range(50)]
    path = written(tmp_path, "uid,day,kind,ok,size", rows)
    assert columns_of(path) == ("kind", "ok")
    assert read_log(path).health.guesses[:2] == (
        "The column 'kind' was taken for the arm, as the only one left with few different texts.",
        "The column 'ok' was taken for the reward, as the only one with two values, 0 and 1 or yes and no.",
    )


@pytest.mark.parametrize(("device", "is_offered"), [("ios", False), ("phone", True)])
def test_kinds_of_devices_are_not_offered_as_sources(tmp_path: Path, device: str, is_offered: bool) -> None:
    kinds = [f"{device}{i % 200}" if is_offered else f"{device}{i % 2}" for i in range(400)]
    rows = [f"{'AB'[i % 3 % 2]},{kind},{i % 7 % 2}" for i, kind in enumerate(kinds)]
    guesses = read_log(written(tmp_path, "variant,device,clicked", rows)).health.guesses
    assert any("'device' may say who gave a reward" in guess for guess in guesses) == is_offered


@pytest.mark.parametrize("kind", ["pandas", "arrow", "parquet"])
def test_tables_are_guessed_by_content_too(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame({"kind": ["A", "B", "A", "B"] * 10, "size": range(40), "ok": [True, False, True, True] * 10})
    frame.to_parquet(tmp_path / "log.parquet")
    data = {"pandas": frame, "arrow": pa.Table.from_pandas(frame), "parquet": tmp_path / "log.parquet"}[kind]
    health = read_log(data).health
    assert (health.arm, health.reward) == ("kind", "ok")


def test_of_two_rewards_one_is_asked_for_with_commands_that_work(tmp_path: Path) -> None:
    rows = [f"{'AB'[i % 2]},{int(i % 3 == 0)},{(i % 2) * 0.25:g}" for i in range(400)]
    written(tmp_path, "banner,clicked,revenue", rows, "visits.csv")
    done = bestarm("identify", "visits.csv", "--delta", "0.1", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "bestarm: Which column has the reward: 'clicked' or 'revenue'? Use one of:",
        "  bestarm identify visits.csv --delta 0.1 --arm banner --reward clicked",
        "  bestarm identify visits.csv --delta 0.1 --arm banner --reward revenue",
    ]
    first, second = commands(done)
    assert bestarm(*first, folder=tmp_path).returncode == 3
    assert bestarm(*second, "--bounds", "0,1", folder=tmp_path).stdout.startswith("B ")


@pytest.mark.parametrize("number", ["item", "question_id"])
def test_a_column_of_tests_for_each_arm_is_offered_as_wide(tmp_path: Path, number: str) -> None:
    rows = [f"{i + 1},{int(i % 10 < 7)},{int(i % 10 < 5)},{int(i % 10 < 6)}" for i in range(3000)]
    done = bestarm("identify", written(tmp_path, f"{number},claude,gpt,llama", rows))
    assert (done.returncode, done.stdout) == (2, "")
    (pasted,) = commands(done)
    assert pasted[-3:] == ["--wide", "--arm", "claude,gpt,llama"]
    assert bestarm(*pasted).stdout.startswith("claude ")


def test_of_two_arms_one_is_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, "model,prompt,score", [f"{'AB'[i % 2]},{'xyz'[i % 3]},{i % 2}" for i in range(60)])
    with pytest.raises(UnclearError, match="Which column has the arm: 'model' or 'prompt'") as asked:
        identify_log(path)
    assert [call.value["arm"] for _, call in asked.value.choices] == ["model", "prompt"]
    assert str(asked.value).splitlines()[1] == f"  identify_log({str(path)!r}, arm='model', reward='score')"
    assert identify_log(path, **asked.value.choices[0][1].value).best == "B"


@pytest.mark.parametrize(
    "header", ["model_a,model_b,winner", "Left,Right,winner", "answer 1,answer 2,preference", "modelA,modelB,vote"]
)
def test_battles_are_not_taken_for_rewards(tmp_path: Path, header: str) -> None:
    path = written(tmp_path, header, ["heron,lynx,model_a", "lynx,wren,model_b", "wren,heron,tie"] * 20)
    done = bestarm("identify", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("bestarm: Each row looks like a battle between ")
    assert commands(done) == []


def test_a_column_that_numbers_the_rows_is_no_arm(tmp_path: Path) -> None:
    rows = [f"{7000 + i},{i % 5 + 1},{i % 4 + 1},{i % 3 + 1}" for i in range(60)]
    path = written(tmp_path, "ballot,Lisbon,Porto,Faro", rows)
    asked = bestarm("identify", str(path))
    (pasted,) = commands(asked)
    again = bestarm(*pasted)
    assert "goes from 1 to 5" in again.stderr
    done = bestarm(*commands(again)[0])
    assert done.stdout.startswith("No arm is proved best: Lisbon leads with 3.00 against 2.50 for Porto")
    assert "'ballot' was taken for numbers of rows, not for an arm." in done.stderr


@pytest.mark.parametrize(("name", "arms"), [("title_id", "12"), ("release", "1.9")])
def test_a_column_of_numbers_is_offered_for_the_arm_where_the_reward_is_clear(
    tmp_path: Path, name: str, arms: str
) -> None:
    rows = [f"{arms if i % 2 else '1.10'},{i % 3 % 2}" for i in range(300)]
    asked = bestarm("identify", str(written(tmp_path, f"{name},clicked", rows)))
    assert asked.returncode == 2
    assert f"which one has the arm; it may be {name!r}" in asked.stderr
    (pasted,) = commands(asked)
    done = bestarm(*pasted)
    assert done.returncode in (0, 3)
    assert done.stderr == ""


def test_an_amount_whose_name_ends_like_that_of_an_arm_is_offered_as_the_reward(tmp_path: Path) -> None:
    path = written(tmp_path, "variant,time_on_page", [f"{'AB'[i % 2]},{i * 37 % 200}" for i in range(900)])
    (pasted,) = commands(bestarm("identify", str(path)))
    assert pasted[2:] == ["--arm", "variant", "--reward", "time_on_page"]


def test_a_header_that_is_repeated_is_found_where_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, "variant,converted", ["A,1", "B,0", "variant,converted", "A,1", "B,0"])
    with pytest.raises(InputError, match=r"line 4 of .* got 'converted': .* 1 of 5"):
        read_log(path)


@pytest.mark.parametrize(
    ("header", "words", "said"),
    [
        ("banner,action", ("click", "ignore"), "the words of 'action'"),
        ("Seite,Geklickt", ("Ja", "Nein"), "the words of 'Seite' or 'Geklickt'"),
    ],
)
def test_words_that_are_no_rewards_are_named_and_what_to_write_instead(
    tmp_path: Path, header: str, words: tuple[str, str], said: str
) -> None:
    path = written(tmp_path, header, [f"{'AB'[i % 2]},{words[i % 3 % 2]}" for i in range(60)])
    done = bestarm("identify", str(path))
    assert done.returncode == 2
    assert f"If {said} are rewards, write 1 for the good ones and 0 for the others." in done.stderr
    named = bestarm("identify", str(path), "--reward", header.split(",")[1])
    assert named.returncode == 2
    assert "write 1 for other words that are good, 0 for the others" in named.stderr
    assert "--on-bad-row" not in named.stderr  # it would leave out all rows


@pytest.mark.parametrize(("cell", "plain"), [("65%", "65"), ("65,5 %", "65,5"), ("$3.20", "3.20")])
def test_a_sign_of_percent_or_money_is_named(tmp_path: Path, cell: str, plain: str) -> None:
    path = written(tmp_path, "version,score", [f'{"AB"[i % 2]},"{cell}"' for i in range(60)])
    with pytest.raises(InputError, match=f"write all of them without the sign, here {re.escape(plain)}$"):
        identify_log(path, bounds=(0, 100))


def test_empty_cells_that_may_mean_0_are_asked_about(tmp_path: Path) -> None:
    few, most = [f"A,{'' if i % 9 == 0 else i % 2}" for i in range(60)], ["A,", "A,", "B,1", "B,", "A,1"] * 20
    hint = "Most are: if an empty cell means 0, write 0 there."
    assert hint not in bestarm("identify", str(written(tmp_path, "variant,clicked", few))).stderr
    assert hint in bestarm("identify", str(written(tmp_path, "variant,clicked", most))).stderr


def test_a_lowest_value_that_nobody_gave_leaves_two_scales_open(tmp_path: Path) -> None:
    path = written(tmp_path, "variant,score", [f"{'AB'[i % 2]},{2 + i % 9}" for i in range(60)])
    pasted = commands(bestarm("identify", str(path)))
    assert [words[-1] for words in pasted] == ["1,10", "0,10"]


# ---------------------------------------------------------------------------------------------------------- nested JSON


def nested_log(folder: Path, rows: list[dict[str, Any]], *, is_array: bool) -> Path:
    path = folder / "events.json"
    path.write_text(json.dumps(rows) if is_array else "\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.mark.parametrize("is_array", [False, True])
def test_nested_json_has_columns_with_dots(tmp_path: Path, is_array: bool) -> None:
    rows = [{"event": {"variant": "ab"[i % 2], "converted": i % 2 == 1}, "user": {"id": i}} for i in range(200)]
    path = nested_log(tmp_path, rows, is_array=is_array)
    result = identify_log(path)
    assert (result.best, result.health.arm, result.health.reward) == ("b", "event.variant", "event.converted")
    assert result.means == {"a": 0.0, "b": 1.0}
    by_user = read_log(path, arm="event.variant", reward="event.converted", source="user.id").sources
    assert by_user is not None
    assert by_user.number == 200
    with pytest.raises(InputError, match=r"one of the columns 'event.variant', 'event.converted', 'user.id', got 'x'"):
        read_log(path, arm="x")


def test_a_key_with_a_dot_stays_usable_and_wins_over_a_path(tmp_path: Path) -> None:
    rows = [
        {"test.arm": "ab"[i % 2], "test": {"arm": "other", "x.y": i % 2}, "at": {"~/": {"reward": 1}}}
        for i in range(20)
    ]
    path = nested_log(tmp_path, rows, is_array=False)
    assert read_log(path, arm="test.arm", reward="test.x.y").means.tolist() == [0.0, 1.0]
    assert read_log(path, arm="test.arm", reward="at.~/.reward").means.tolist() == [1.0, 1.0]


def test_rows_without_the_nested_object_are_missing_rewards(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"arm": "ab"[i % 2], "event": {"reward": 1}} for i in range(20)]
    rows += [{"arm": "a"}, {"arm": "b", "event": None}]
    health = read_log(nested_log(tmp_path, rows, is_array=False), missing="drop").health
    assert (health.used, health.missing, health.reward) == (20, 2, "event.reward")


# -------------------------------------------------------------------------------------------------------------- rewards


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        *(("1", "0"), ("true", "False"), ("yes", "no"), ("Y", "N"), ("t", "f"), ("up", "down")),
        *(("thumbs up", "thumbs down"), ("thumbs_up", "Thumbs-Down"), ("👍", "👎"), ("👍🏽", "👎🏿")),
    ],
)
def test_words_for_yes_and_no_are_0_and_1_and_need_no_bounds(tmp_path: Path, yes: str, no: str) -> None:
    path = written(tmp_path, "variant,converted", [f"A,{yes}", f"B,{no}", f"A,{yes}", f"A,{no}"] * 50)
    result = identify_log(path)
    assert (result.best, result.bounds) == ("A", (0.0, 1.0))
    assert result.means == {"A": pytest.approx(2 / 3), "B": 0.0}
    said = f"The reward {yes!r} was read as 1 and {no!r} was read as 0."
    assert (said in result.health.guesses) == (yes not in ("1", "true"))


def test_a_word_among_other_numbers_is_a_bad_reward(tmp_path: Path) -> None:
    path = written(tmp_path, "arm,stars", ["A,1", "A,2", "B,5", "B,f"])
    with pytest.raises(InputError, match=r"line 5 of .* must have a number as stars, got 'f'"):
        read_log(path)
    assert read_log(path, on_bad_row="skip").total == 3


@pytest.mark.parametrize(
    ("lowest", "highest", "bounds"),
    [
        *((1, 5, (1, 5)), (2, 4, (1, 5)), (1, 3, (1, 3)), (0, 5, (0, 5)), (1, 6, (1, 7)), (0, 9, (0, 10))),
        *((0.1, 0.9, (0, 1)), (3, 88.5, (0, 100)), (3, 101, (0, 200)), (-2, 3, (-2, 5)), (-30, -7, (-50, 0))),
        *((0, 1e6, (0, 1e6)), (0, 1_000_001, (0, 2e6))),
    ],
)
def test_bounds_to_paste_are_those_of_a_usual_scale(lowest: float, highest: float, bounds: tuple[float, float]) -> None:
    assert natural_bounds(lowest, highest) == bounds


def test_stars_are_given_no_bounds_but_a_command_that_does(tmp_path: Path) -> None:
    written(tmp_path, "caption,stars", ["A,5", "B,2", "A,4", "B,3"] * 50, "my votes.csv")
    done = bestarm("identify", "my votes.csv", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "bestarm: 'stars' goes from 2 to 5 in this log, which does not say what the lowest and the highest possible "
        "value are. Use one of:",
        "  if no value below 1 or above 5 is possible:",
        "    bestarm identify 'my votes.csv' --arm caption --reward stars --bounds 1,5",
        "  if no value below 0 or above 5 is possible:",
        "    bestarm identify 'my votes.csv' --arm caption --reward stars --bounds 0,5",
    ]
    words, _ = commands(done)
    pasted = bestarm(*words, folder=tmp_path)
    assert pasted.returncode == 0
    assert pasted.stdout.startswith("A ")


def test_money_may_have_bounds_or_be_of_normal_shape(tmp_path: Path) -> None:
    rows = [f"{arm},{value * factor:.2f}" for value in range(1, 200) for arm, factor in (("A", 1.0), ("B", 2.4))]
    path = written(tmp_path, "variant,reward", rows)
    with pytest.raises(UnclearError) as asked:
        identify_log(path)
    assert [call.value for _, call in asked.value.choices] == [
        {"arm": "variant", "reward": "reward", "bounds": (0.0, 500.0)},
        {"arm": "variant", "reward": "reward", "sigma": "estimate", "epsilon": 0.01},
    ]
    for _, call in asked.value.choices:
        assert identify_log(path, **call.value).pulls > 0
    with pytest.raises(UnclearError) as again:
        identify_log(path, epsilon=0.05)
    assert "epsilon" not in again.value.choices[1][1].value


@pytest.mark.parametrize("name", ["latency_ms", "Duration", "time_to_first_byte", "cost", "errors", "loss", "bounced"])
def test_what_may_be_better_when_lower_is_never_maximised_without_asking(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, f"arm,{name}", ["slow,1", "fast,0", "slow,1", "fast,1"] * 50)
    options = ("identify", path, "--reward", name)
    done = bestarm(*options)
    assert (done.returncode, done.stdout) == (2, "")
    lower, higher = commands(done)
    assert lower[-1] == "--lower-is-better"
    assert bestarm(*lower).stdout.startswith("fast ")
    assert bestarm(*higher).stdout.startswith("slow ")


# ----------------------------------------------------------------------------------------------------- tables of totals

TOTALS = ["Mon,A,400,20", "Mon,B,410,66", "Tue,A,420,25", "Tue,B,390,70"]
TOTALS_HEADER = "day,variant,visitors,conversions"


def test_a_table_of_totals_is_the_log_of_its_visits(tmp_path: Path) -> None:
    totals = written(tmp_path, TOTALS_HEADER, TOTALS)
    counted = {"A": (45, 820), "B": (136, 800)}
    rows = [f"{arm},{int(i < won)}" for arm, (won, visits) in counted.items() for i in range(visits)]
    each = identify_log(written(tmp_path, "variant,converted", rows, "rows.csv"), inspect=False)
    result = identify_log(totals, successes="conversions", visits="visitors")
    assert (result.best, result.overturn, result.p_value) == (each.best, each.overturn, each.p_value)
    assert (result.means, result.rows) == ({"A": 45 / 820, "B": 136 / 800}, 1620)
    assert result.lines[0] == "B converts best: 17.0 % against 5.5 % for A (+210 %)."
    assert verify_certificate(result.certificate(), totals).holds
    assert read_log(totals, successes="conversions", visits="visitors").total == 1620


def test_a_table_of_totals_is_asked_about_and_the_pasted_command_works(tmp_path: Path) -> None:
    written(tmp_path, TOTALS_HEADER, TOTALS)
    done = bestarm("identify", "log.csv", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    totals, _ = commands(done)
    assert totals[-4:] == ["--successes", "conversions", "--visits", "visitors"]
    assert bestarm(*totals, folder=tmp_path).stdout.startswith("B converts best: 17.0 %")


@pytest.mark.parametrize("who", ["user", "customer_id", "member", "player"])
def test_clicks_and_views_of_people_are_asked_about_as_a_ratio_first(tmp_path: Path, who: str) -> None:
    """A total of such rows takes the views of one person for views of many."""
    rows = [f"p{number % 9},{'AB'[number % 2]},{number % 5 + 1},1" for number in range(40)]
    written(tmp_path, f"{who},variant,views,clicks", rows)
    first, *_ = commands(bestarm("identify", "log.csv", folder=tmp_path))
    assert first[-6:] == ["--reward", "clicks", "--per", "views", "--source", who]
    _, whole = commands(bestarm(*first, folder=tmp_path))
    assert bestarm(*whole, folder=tmp_path).returncode == 3


@pytest.mark.parametrize(
    ("row", "got"),
    [("Wed,A,10,11", "11 of 10"), ("Wed,A,10,2.5", "2.5"), ("Wed,A,-3,0", "-3"), ("Wed,A,,3", "nothing")],
)
def test_a_wrong_row_of_totals_is_refused_or_left_out_as_a_whole(tmp_path: Path, row: str, got: str) -> None:
    log = written(tmp_path, TOTALS_HEADER, [*TOTALS, row])
    with pytest.raises(InputError, match=rf"line 6 of .* as many .* as .*, both whole numbers, got '{got}': .* 1 of 5"):
        read_log(log, successes="conversions", visits="visitors")
    kept = read_log(log, successes="conversions", visits="visitors", on_bad_row="skip")
    assert (kept.total, kept.health.bad_rows) == (1620, 1)


def test_a_table_of_a_newsletter_is_asked_about(tmp_path: Path) -> None:
    path = written(tmp_path, "Newsletter,opened,sent", ["Spring,1234,10000", "Summer,1510,10050"])
    pasted, _ = commands(bestarm("identify", path))
    assert pasted[-4:] == ["--successes", "opened", "--visits", "sent"]
    assert bestarm(*pasted).stdout.startswith("Summer is opened most often")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"successes": "conversions"}, "successes must come with visits="),
        ({"visits": "visitors"}, "visits must come with successes="),
        ({"successes": "conversions", "visits": "conversions"}, "visits must be another column than successes"),
        ({"successes": "conversions", "visits": "visitors", "reward": "day"}, "reward must not come with successes="),
        ({"successes": "conversions", "visits": "visitors", "source": "day"}, "source must not come with successes="),
        ({"successes": "conversions", "visits": "nobody"}, "visits must name one of the columns"),
    ],
)
def test_totals_need_both_columns_and_nothing_else(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        identify_log(written(tmp_path, TOTALS_HEADER, TOTALS), **options)
