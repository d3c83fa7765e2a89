"""Fifteen logs of known truth, asked about as a newcomer does: no wrong arm with exit code 0."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.fifteen import DELTA, JSON, outcome
from benchmarks.known_logs import LOGS, KnownLog
from benchmarks.newcomer import Reply, ask, offers
from scipy import stats

BY_NAME = {log.name: log for log in LOGS}
WORDS = {"yes": 1.0, "no": 0.0, "up": 1.0, "down": 0.0}
COLUMNS = {
    "conversions": ("variant", "converted"),
    "revenue": ("test_group", "revenue"),
    "bots by user id": ("banner", "clicked"),
    "sock puppets": ("recipe", "liked"),
    "broken judge days": ("system", "score"),
    "one arm a hundred times as large": ("subject_line", "opened"),
    "late arm": ("plan", "signed_up"),
    "drift": ("model", "thumbs"),
    "200 arms": ("headline", "click"),
    "nested JSON lines": ("event.variant", "event.converted"),
}


def with_highest_mean(log: KnownLog, seed: int, *, honest: bool) -> str:
    frame = log.make(np.random.default_rng(seed), log.rows, honest)
    arm, reward = COLUMNS[log.name]
    rewards = pd.to_numeric(frame[reward].replace(WORDS).astype(float))
    return str(rewards.groupby(frame[arm]).mean().idxmax())


# ------------------------------------------------------------------------------------------------ the logs themselves


@pytest.mark.parametrize("name", ["bots by user id", "sock puppets", "broken judge days", "late arm", "drift"])
def test_the_fault_gives_a_wrong_arm_the_highest_mean(name: str) -> None:
    assert all(with_highest_mean(BY_NAME[name], seed, honest=False) != BY_NAME[name].best for seed in range(5))


@pytest.mark.parametrize("name", COLUMNS)
def test_without_its_fault_the_best_arm_of_a_log_has_the_highest_mean(name: str) -> None:
    assert all(with_highest_mean(BY_NAME[name], seed, honest=True) == BY_NAME[name].best for seed in range(3))


def test_time_outs_make_the_server_with_the_quickest_answers_the_slowest() -> None:
    frame = BY_NAME["latency with time-outs"].make(np.random.default_rng(1), 60_000, False)
    by_server = frame.groupby("server")["latency_ms"]
    assert (by_server.median().idxmin(), by_server.mean().idxmax()) == ("eu-west-1", "eu-west-1")
    assert by_server.mean().idxmin() == BY_NAME["latency with time-outs"].best


def test_a_doubled_export_has_every_row_twice() -> None:
    log = BY_NAME["doubled export"]
    assert set(log.make(np.random.default_rng(1), 1000, False).value_counts()) == {2}
    assert set(log.make(np.random.default_rng(1), 1000, True).value_counts()) == {1}


@pytest.mark.parametrize("name", ["ratio", "a million rows with users"])
def test_rewards_of_a_user_go_together(name: str) -> None:
    """The clicks of a user scatter more than those of a coin with the mean of all, and do not in the honest log."""

    def scatter(honest: bool) -> float:
        frame = BY_NAME[name].make(np.random.default_rng(1), 20_000, honest)
        if name == "ratio":
            shown, hits = frame["impressions"], frame["clicks"]
        else:
            by_user = frame.groupby("user_id")["clicked"]
            shown, hits = by_user.size(), by_user.sum()
        mean = hits.sum() / shown.sum()
        return float(((hits - shown * mean) ** 2).sum() / (shown * mean * (1.0 - mean)).sum())

    assert scatter(honest=True) < 1.2
    assert scatter(honest=False) > 2.0


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_a_seed_writes_the_same_file_again_and_another_one_another(log: KnownLog, tmp_path: Path) -> None:
    first, again, other = (log.write(tmp_path, seed, 500).read_bytes() for seed in (1, 1, 2))
    assert first == again != other


# -------------------------------------------------------------------------------------------------------- the newcomer


def test_the_newcomer_pastes_the_command_that_fits() -> None:
    asked = "which way?\n  bestarm identify a.csv --higher-is-better\n  bestarm identify a.csv --lower-is-better\n"
    typed: list[list[str]] = []

    def run(words: list[str], folder: Path) -> Reply:
        typed.append(words)
        return Reply(0, "B is best.\n\ntable", "", 0.0) if "--lower-is-better" in words else Reply(2, "", asked, 0.0)

    answer = ask(Path("a.csv"), "--lower-is-better", run, ("--x",))
    assert typed == [
        ["bestarm", "identify", "a.csv", "--x"],
        ["bestarm", "identify", "a.csv", "--lower-is-better", "--x"],
    ]
    assert answer.commands == ("bestarm identify a.csv", "bestarm identify a.csv --lower-is-better")
    assert (answer.reply.code, answer.lines, answer.best) == (0, "B is best.", None)


def test_the_newcomer_gives_up_when_the_same_command_is_offered_again() -> None:
    answer = ask(Path("a.csv"), run=lambda words, folder: Reply(2, "", "try: bestarm identify a.csv", 0.0))
    assert answer.commands == ("bestarm identify a.csv",)
    assert answer.reply.code == 2


def test_only_commands_about_the_file_are_offers() -> None:
    assert offers("Usage: bestarm identify [OPTIONS]\n bestarm identify a.csv --arm x.", "a.csv") == [
        "bestarm identify a.csv --arm x"
    ]


# --------------------------------------------------------------------------------------------------------- the answers

BY_BARE_COMMAND = ("conversions", "200 arms", "battles")  # the logs whose columns are found, or refused, by their names


@pytest.mark.parametrize("name", BY_BARE_COMMAND)
def test_a_newcomer_gets_no_wrong_answer(name: str, tmp_path: Path) -> None:
    log = BY_NAME[name]
    answer = ask(log.write(tmp_path, 1, log.few), log.wants, options=JSON)
    found = log.outcome(answer.reply.code, answer.best)
    assert found in log.fine, (answer.commands, answer.reply.code, answer.best, answer.reply.err)


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_BARE_COMMAND)
def test_in_twenty_seeds_hardly_an_answer_is_wrong(name: str) -> None:
    found = [outcome(BY_NAME[name], seed) for seed in range(100, 120)]
    assert found.count("wrong") <= stats.binom.isf(0.001, len(found), DELTA)
    assert found.count("doubted") == 0
    assert found.count("asks") == (len(found) if BY_NAME[name].fine == ("asks",) else 0)


@pytest.mark.slow
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_at_most_one_in_a_hundred_honest_logs_is_doubted(log: KnownLog) -> None:
    found = [outcome(log, seed, honest=True) for seed in range(200, 230)]
    assert found.count("doubted") <= stats.binom.isf(0.001, len(found), 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("log", [log for log in LOGS if log.fault], ids=lambda log: log.name)
def test_a_log_with_a_fault_is_hardly_ever_answered_wrongly(log: KnownLog) -> None:
    found = [outcome(log, seed) for seed in range(300, 315)]
    assert found.count("wrong") <= stats.binom.isf(0.001, len(found), DELTA)
