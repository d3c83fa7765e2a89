"""Rows that are left out: by inspection, by a list of sources or by a condition; what that assumes, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bestarm as ba
from bestarm.errors import InputError
from command_line import bestarm


def clicks(seed: int = 1, bots: int = 40) -> pd.DataFrame:
    """A is the best by a wide lead; each bot clicks 50 times on B."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"user_id": random.integers(0, 3000, 8000), "variant": random.choice(["A", "B"], 8000)})
    frame["clicked"] = random.binomial(1, np.where(frame.variant == "A", 0.2, 0.1))
    fakes = pd.DataFrame({"user_id": np.repeat(np.arange(bots) + 90_000, 50), "variant": "B", "clicked": 1})
    frame = pd.concat([frame, fakes], ignore_index=True).sample(frac=1.0, random_state=seed, ignore_index=True)
    return frame.assign(country=np.where(frame.user_id >= 90_000, "XX", "DE"), age=frame.user_id % 70)


RIGGED = clicks()
HONEST = RIGGED[RIGGED.user_id < 90_000]
BOTS = [str(number) for number in range(90_000, 90_040)]


def same_as_honest(result: ba.LogResult) -> None:
    twin = ba.identify_log(HONEST)
    assert (result.best, result.overturn, result.means) == (twin.best, twin.overturn, twin.means) == ("A", *_of(twin))
    assert result.left_out == len(RIGGED) - len(HONEST) == 2000


def _of(twin: ba.LogResult) -> tuple[object, object]:
    return twin.overturn, twin.means


def test_without_suspicious_the_bots_are_gone_and_it_is_said() -> None:
    before = ba.identify_log(RIGGED)
    assert (before.best, before.trusted) == ("B", False)
    after = ba.identify_log(RIGGED, without="suspicious")
    same_as_honest(after)
    assert after.trusted
    assert after.lines[2] == "2,000 visits were left out: 40 users. Nothing in the rest looks made up."
    assert "the 2,000 rows left out (40 users) were not chosen by their rewards" in after.promise


def test_an_honest_log_loses_nothing() -> None:
    result = ba.identify_log(HONEST, without="suspicious")
    assert (result.left_out, result.left_out_how) == (0, "")
    assert result.lines[2] == "Nothing was left out. Nothing in the file looks made up."


@pytest.mark.parametrize("header", [[], ["user_id"]])
def test_sources_are_left_out_by_a_list_or_a_file_of_their_names(tmp_path: Path, header: list[str]) -> None:
    same_as_honest(ba.identify_log(RIGGED, without=BOTS))
    names = tmp_path / "bots.txt"
    names.write_text("\n".join([*header, *BOTS]) + "\n")
    same_as_honest(ba.identify_log(RIGGED, without=str(names)))


@pytest.mark.parametrize("condition", ["country = 'XX'", "user_id >= 90000", "user_id > 89999.5 and age >= 0"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "json", "frame"])
def test_rows_are_left_out_by_a_condition_in_every_format(tmp_path: Path, condition: str, kind: str) -> None:
    if kind == "csv":
        RIGGED.to_csv(tmp_path / "log", index=False)
    elif kind == "parquet":
        RIGGED.to_parquet(tmp_path / "log")
    elif kind == "json":
        RIGGED.to_json(tmp_path / "log", orient="records", lines=True)
    same_as_honest(ba.identify_log(RIGGED if kind == "frame" else tmp_path / "log", without=condition))


def test_copies_of_rows_are_left_out() -> None:
    times = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(len(HONEST)) * 61, unit="s")
    log = HONEST.assign(timestamp=times)
    assert "duplicates" in [finding.kind for finding in ba.identify_log(pd.concat([log, log])).findings]
    result = ba.identify_log(pd.concat([log, log]), without="suspicious")
    assert (result.left_out, result.left_out_how) == (len(log), "copies of rows")
    assert (result.means, result.overturn) == (ba.identify_log(log).means, ba.identify_log(log).overturn)


def test_copies_of_rows_of_one_time_are_left_out() -> None:
    times = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(len(HONEST)) * 61, unit="s")
    log = HONEST.assign(timestamp=times)
    rigged = pd.concat([log, *[log[(log.variant == "B") & (log.clicked == 1)]] * 2])
    (found,) = [finding for finding in ba.identify_log(rigged).findings if finding.kind == "duplicates"]
    assert found.text.startswith(f"{len(rigged) - len(log):,} visits repeat an earlier one, time included")
    result = ba.identify_log(rigged, without="suspicious")
    assert (result.left_out, result.left_out_how) == (len(rigged) - len(log), "copies of rows")
    assert (result.best, result.means, result.trusted) == ("A", ba.identify_log(log).means, True)


@pytest.mark.parametrize("turn", [1, -1])
def test_events_of_one_number_that_are_no_copies_stay(turn: int) -> None:
    log = HONEST.assign(event_id=np.arange(len(HONEST)))
    again = log.head(300)
    other = log.tail(200).assign(clicked=lambda frame: 1 - frame.clicked)
    result = ba.identify_log(pd.concat([log, again, other]).iloc[::turn], without="suspicious")
    assert result.left_out == 300
    assert result.pulls == len(log) + 200


def test_the_command_says_once_how_many_rows_were_left_out(tmp_path: Path) -> None:
    RIGGED.to_csv(tmp_path / "log.csv", index=False)
    told = bestarm("identify", tmp_path / "log.csv", "--without", "suspicious").stdout
    assert told.count("left out") == 1


def test_agents_are_told_by_what_they_click_so_honest_ones_left_out_count_as_fakes() -> None:
    agents = np.where(RIGGED.user_id >= 90_000, "python-requests/2.31", "Mozilla/5.0")
    log = RIGGED.assign(user_agent=agents).drop(columns=["user_id", "country", "age"])
    result = ba.identify_log(log, without="suspicious")
    same_as_honest(result)
    assert "honest rows among the 2,000 that were left out (a user agent) count as fake" in result.promise


@pytest.mark.parametrize(
    ("without", "words"),
    [
        ("clicked = 1", "not look at 'clicked', the reward"),
        ('lower("Clicked") = 1', "not look at 'clicked', the reward"),
        ("variant =", "be a condition on the columns"),
        ("1 = 1; DROP TABLE log_table", "be a condition on the columns"),
        ("no_such > 3", "no_such"),
        ([], "be suspicious, a file or list of sources, or a condition"),
        ([3], "be suspicious, a file or list of sources, or a condition"),
        ("bots.txt", "be a file that is there"),
        (["nobody", "no one"], "none of them is in 'user_id'"),
    ],
)
def test_what_cannot_be_left_out_is_refused(without: object, words: str) -> None:
    with pytest.raises(InputError, match=r"^without must") as refused:
        ba.identify_log(RIGGED, without=without)  # type: ignore[arg-type]
    assert words in str(refused.value)


def test_names_that_are_not_in_the_log_are_told(tmp_path: Path) -> None:
    result = ba.identify_log(RIGGED, without=[*BOTS, "90040"])
    same_as_honest(result)
    assert result.lines[2].startswith("2,000 visits were left out: 40 users.")
    assert "Of the 41 names to leave out, 1 is not in the log." in result.health.guesses


def test_of_one_row_it_is_said_that_it_was_left_out() -> None:
    one = HONEST.drop_duplicates("user_id", keep=False)["user_id"].iloc[0]
    result = ba.identify_log(HONEST, without=[str(one)])
    assert result.lines[2].startswith("1 visit was left out: 1 user.")


def test_a_certificate_carries_the_names_and_the_command_says_the_same(tmp_path: Path) -> None:
    RIGGED.to_csv(tmp_path / "log.csv", index=False)
    names = tmp_path / "bots.txt"
    names.write_text("\n".join(BOTS))
    words = ("identify", "log.csv", "--without", "bots.txt", "--certificate", "new.json")
    done = bestarm(*words, folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[2].startswith("2,000 visits were left out: 40 users.")
    names.unlink()
    assert bestarm("verify", "new.json", "log.csv", folder=tmp_path).returncode == 0
