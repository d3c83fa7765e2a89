"""What a type checker knows of labels: `make lint` reads this file with mypy --strict, and the tests run it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal, assert_type

import bestarm as ba

QUESTION = {"A": 0.2, "B": 0.9}


def judge(prompt: str) -> float:
    return QUESTION[prompt]


async def judge_later(prompt: str) -> float:
    return QUESTION[prompt]


def test_identify_knows_the_labels_of_the_function_that_it_calls() -> None:
    result = ba.identify(judge, ["A", "B"], delta=0.05, epsilon=0.0, bounds=(0, 1), on_error="retry")
    assert_type(result.best, str | None)
    assert_type(result.status, Literal["identified", "indistinguishable", "undecided"])
    assert_type(result.limit, Literal["contamination", "resolution", "budget"] | None)
    later = asyncio.run(ba.identify_async(judge_later, ["A", "B"], delta=0.05, epsilon=0.0, bounds=(0, 1)))
    assert_type(later, ba.Result[str])
    assert result.best == later.best == "B"


def test_an_identifier_knows_its_labels() -> None:
    finder = ba.Identifier(["A", "B"], delta=0.05, epsilon=0.0, bounds=(0, 1))
    assert_type(finder.ask(), str)
    pull = finder.ask_pulls()
    assert_type(pull, ba.Pull[str])
    finder.tell(pull, judge(pull.arm))
    finder.tell("B", judge("B"))
    assert [judge(row.label) for row in finder.estimates] == [0.2, 0.9]
    assert finder.result.leader == "B"


def test_a_study_knows_its_labels(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/run.db"
    study = ba.Study(url, "prompts", ["A", "B"], delta=0.05, epsilon=0.0, bounds=(0, 1))
    pull = study.ask_pulls()
    assert_type(pull.arm, str)
    study.tell(pull, judge(pull.arm))
    result = study.run(judge, worker="w")
    assert_type(result.candidates, tuple[str, ...])
    assert result.candidates == ("B",)
    reopened: ba.Study[str] = ba.Study(url, "prompts")
    assert reopened.result.best == "B"


def test_a_number_of_arms_and_bare_names_need_no_types() -> None:
    def best_of(result: ba.Result, finder: ba.Identifier) -> object:
        return result.best, finder.labels

    finder = ba.Identifier(2, delta=0.05, epsilon=0.0, bounds=(0, 1))
    finder.tell_many([0, 1] * 40, [0.0, 1.0] * 40)
    assert best_of(finder.result, finder) == (1, (0, 1))
