"""The keys and types of everything that is written as JSON, held against a snapshot: other people's programs read them.

A key that is missing, renamed or of another type fails here, and so does one that is new. If that is meant, add it to
json_keys.json and to the changelog; nothing is taken out of it without a version in which both are there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bestarm as ba
from command_line import bestarm
from contest import contest

SNAPSHOT = Path(__file__).with_name("json_keys.json")
TYPES = {str: "text", bool: "bool", int: "int", float: "number", type(None): "null"}


def keys(value: Any, path: str = "") -> Iterator[str]:
    """Give each path of a JSON value with the type that is found there; the items of a list share a path."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from keys(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        yield f"{path}: list"
        for item in value:
            yield from keys(item, f"{path}[]")
    else:
        yield f"{path}: {TYPES[type(value)]}"


def printed(*words: object) -> Any:
    return json.loads(bestarm(*words, "--format", "json").stdout)


def finder(**settings: Any) -> ba.Identifier:
    return ba.Identifier(["A", "B"], **{"delta": 0.1, "epsilon": 0.05, "bounds": (0, 1), **settings})


def live_winner(folder: Path) -> Any:
    decided = finder()
    while not decided.done:
        arm = decided.ask()
        decided.tell(arm, float(arm == "A"))
    return json.loads(decided.result.to_json())


def live_waiting(folder: Path) -> Any:
    waits = finder(bounds=None, sigma=1.0)
    *_, third, fourth = waits.ask_pulls(4)
    waits.tell(third, 1.0)
    waits.tell(fourth, 0.5)
    return json.loads(waits.result.to_json())


def live_alarm(folder: Path) -> Any:
    wild = finder(bounds=None, sigma=0.01)
    wild.tell_many(["A", "B"] * 100, [1.0, 2.0, 3.0, 4.0] * 50)
    return json.loads(wild.result.to_json())


def live_dict(folder: Path) -> Any:
    return finder().result.to_dict()


def log(folder: Path) -> Path:
    votes = contest(1, rigged=False).votes
    votes = votes[votes["caption"].isin(["A", "B"])]
    votes.to_csv(folder / "votes.csv", index=False)
    return folder / "votes.csv"


QUESTION = ("--arm", "caption", "--reward", "stars", "--bounds", "1,5")


def identify(*words: object) -> Callable[[Path], Any]:
    return lambda folder: printed("identify", log(folder), *QUESTION, *words)


def over_time(folder: Path) -> Any:
    votes = pd.DataFrame({"variant": ["A", "B"] * 2100, "stars": [1, 2, 3, 5, 4, 4] * 700})
    votes["date"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(votes.index // 200, unit="D")
    votes.loc[votes["date"].dt.day_of_week >= 5, "stars"] = 5
    votes["stars"] += votes.index / 4200
    votes.to_csv(folder / "votes.csv", index=False)
    return printed("identify", folder / "votes.csv", "--bounds", "1,6")


def users(folder: Path) -> Path:
    table = pd.DataFrame({"variant": ["A"] * 900 + ["B"] * 900, "user": range(1800)})
    table["country"] = ["de", "fr", "it"] * 600
    table["bought"] = [1, 0, 0] * 100 + [0, 0, 1] * 200 + [1, 1, 0] * 300
    table["seen"] = table["bought"] + [1, 2, 0] * 600
    table.to_csv(folder / "users.csv", index=False)
    return folder / "users.csv"


def asked(reward: str, *words: object) -> Callable[[Path], Any]:
    return lambda folder: printed("identify", users(folder), "--arm", "variant", "--reward", reward, *words)


def inspected(folder: Path) -> Any:
    return printed("inspect", log(folder), *QUESTION, "--source", "voter")


def log_dict(folder: Path) -> Any:
    result = ba.identify_log(log(folder), arm="caption", reward="stars", bounds=(1, 5), epsilon=0.01)
    return json.loads(result.to_json())


def within_days(folder: Path) -> Any:
    days = pd.DataFrame({"arm": ["A"] * 400 + ["B"] * 200, "reward": [1, 1, 1, 0] * 100 + [1, 0, 0, 0] * 50})
    days["day"] = [*range(20)] * 20 + [*range(10, 20)] * 20
    days.to_csv(folder / "days.csv", index=False)
    return printed("identify", folder / "days.csv", "--block", "day")


def plan(folder: Path) -> Any:
    small = ("--trials", 5, "--max-pulls", 5000, "--methods", "certified,mean-se")
    return printed("plan", "--means", "1,0", "--epsilon", 0.05, "--sigma", 1, *small)


def simulate(folder: Path) -> Any:
    return printed("simulate", "--means", "1,0", "--method", "mean-se", "--trials", 5)


def attack(folder: Path) -> Any:
    small = ("--trials", 2, "--methods", "mean-se", "--means", "1,0", "--out", folder)
    return printed("attack", *small)


def demo(folder: Path) -> Any:
    return printed("demo", "--trials", 2, "--out", folder)


def study(folder: Path) -> tuple[str, str]:
    url = f"sqlite:///{folder / 'run.db'}"
    made = ba.Study(url, "one", ["A", "B"], delta=0.1, epsilon=0.05, bounds=(0, 1))
    made.tell_many(made.ask_pulls(4), [1.0, 0.0, 1.0, 0.0])
    made.tell(made.ask_pulls(4, worker="w")[-1], 1.0)
    return url, "one"


def studied(command: str) -> Callable[[Path], Any]:
    return lambda folder: printed("study", command, *study(folder)[: 1 if command == "list" else 2])


def exported(folder: Path) -> Any:
    lines = bestarm("study", "export", *study(folder)).stdout.splitlines()
    return [json.loads(line) for line in lines]


SURFACES: dict[str, Callable[[Path], Any]] = {
    "live: a winner": live_winner,
    "live: rewards wait": live_waiting,
    "live: an alarm": live_alarm,
    "live: to_dict": live_dict,
    "log: to_json": log_dict,
    "identify": identify("--epsilon", 0.01),
    "identify: no winner": identify("--epsilon", 0.3),
    "identify: sources": identify("--epsilon", 0.01, "--source", "voter"),
    "identify: a replay": identify("--epsilon", 0.01, "--sequential"),
    "identify: over time": over_time,
    "identify: within days": within_days,
    "identify: a control": asked("bought", "--control", "A", "--source", "user"),
    "identify: a control within countries": asked("bought", "--control", "A", "--block", "country"),
    "identify: segments": asked("bought", "--by", "country"),
    "identify: a ratio": asked("bought", "--per", "seen", "--source", "user", "--cap", "3"),
    "inspect": inspected,
    "plan": plan,
    "simulate": simulate,
    "attack": attack,
    "demo": demo,
    "study status": studied("status"),
    "study list": studied("list"),
    "study pending": studied("pending"),
    "study ask": studied("ask"),
    "study export": exported,
}


@pytest.mark.parametrize("name", SURFACES)
def test_the_keys_are_those_of_the_snapshot(name: str, tmp_path: Path) -> None:
    plain = json.loads(json.dumps(SURFACES[name](tmp_path)))
    assert sorted(set(keys(plain))) == json.loads(SNAPSHOT.read_text(encoding="utf-8"))[name]


def test_the_snapshot_has_nothing_else() -> None:
    assert set(json.loads(SNAPSHOT.read_text(encoding="utf-8"))) == set(SURFACES)
