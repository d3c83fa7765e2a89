"""The suite that users run: every method of the package passes it, and one wrong policy for each rule does not."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import bestarm as ba
from bestarm.methods import METHODS
from bestarm.testing import BrokenRuleError, check_method
from bestarm.testing.rules import RULES
from naive import POLICIES

SHORT = {"alpha": 0.2, "exploration": "chernoff", "resolution": 1.0 / 16.0}


def short(method: Any, names: Any) -> dict[str, Any]:
    return {name: value for name, value in SHORT.items() if name in names}


class Halves:
    """Keeps every rule: arms in rounds, those worse than the best by two sigmas/sqrt(n) go, the last one is named."""

    def __init__(self, question: ba.Question) -> None:
        self.question = question
        self.rewards: list[list[float]] = [[] for _ in range(question.arms)]

    @property
    def active(self) -> list[int]:
        n = min(map(len, self.rewards))
        if n < 20:
            return list(range(len(self.rewards)))
        means = [sum(rewards[:n]) / n for rewards in self.rewards]
        return [arm for arm, mean in enumerate(means) if mean > max(means) - 4.0 * self.question.sigma / math.sqrt(n)]

    def choose(self, pending: NDArray[np.int64]) -> int:
        return min(range(len(self.rewards)), key=lambda arm: len(self.rewards[arm]) + pending[arm])

    def observe(self, arm: int, reward: float) -> None:
        self.rewards[arm].append(reward)

    def decision(self) -> int | None:
        return self.active[0] if len(self.active) == 1 else None

    def estimates(self) -> Any:
        return [sum(rewards) / len(rewards) if rewards else math.nan for rewards in self.rewards]


# ---------------------------------------------------------------------------------------------- one wrong one for each


class NoEstimates(Halves):
    def estimates(self) -> Any:
        return [math.nan] * len(self.rewards)


class ByGlobalGenerator(Halves):
    def choose(self, pending: NDArray[np.int64]) -> int:
        return int(np.random.randint(len(self.rewards)))  # noqa: NPY002 - the mistake


class ByObject(Halves):
    made: ClassVar[int] = 0

    def __init__(self, question: ba.Question) -> None:
        super().__init__(question)
        ByObject.made += 1
        self.first = ByObject.made % 4

    def choose(self, pending: NDArray[np.int64]) -> int:
        arms = sorted(range(4), key=lambda arm: (arm + self.first) % 4)
        return min(arms, key=lambda arm: len(self.rewards[arm]) + pending[arm])


class LosesItsMemory(Halves):
    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "rewards": [[] for _ in self.rewards]}


class TiredOfLooks(Halves):
    looks = 0

    def estimates(self) -> Any:
        self.looks += 1
        return super().estimates()

    def decision(self) -> int | None:
        return 0 if self.looks > 40 else super().decision()


class DrawsWhenAsked(Halves):
    def __init__(self, question: ba.Question) -> None:
        super().__init__(question)
        self.rng = np.random.default_rng(question.seed)

    def choose(self, pending: NDArray[np.int64]) -> int:
        return int(self.rng.integers(len(self.rewards)))


class SecondThoughts(Halves):
    asked = 0

    def decision(self) -> int | None:
        decision = super().decision()
        if decision is None or self.asked:
            return None if decision is None else 3
        self.asked = 1
        return decision


class CountsItsQuestions(Halves):
    """One of 20 that are asked for at once depends on which object it is."""

    def choose(self, pending: NDArray[np.int64]) -> int:
        if pending.sum() == 19:
            return int(self.question.generator(id(self)).integers(4))
        return super().choose(pending)


class ImpatientWithRewards(Halves):
    def choose(self, pending: NDArray[np.int64]) -> int:
        if pending.sum() > 20:
            raise RuntimeError("where are the rewards?")
        return super().choose(pending)


class AsksForArmsThatAreOut(Halves):
    def estimates(self) -> Any:
        out = min(map(len, self.rewards)) >= 5
        return [ba.Estimate(row, active=arm != 3 or not out) for arm, row in enumerate(super().estimates())]


class Favourite(Halves):
    def decision(self) -> int | None:
        return None if super().decision() is None else 0


class WantsRewardsNearZero(Halves):
    def observe(self, arm: int, reward: float) -> None:
        super().observe(arm, min(reward, 10.0))


class InGrams(Halves):
    def observe(self, arm: int, reward: float) -> None:
        super().observe(arm, round(reward, 2))

    @property
    def active(self) -> list[int]:
        return super().active if len(self.rewards[0]) < 50 else [0]


class InheritsTheLastTrial(Halves):
    shared: ClassVar[list[float]] = []

    def __init__(self, question: ba.Question) -> None:
        super().__init__(question)
        self.before = len(self.shared) if question.seed else 0

    def observe(self, arm: int, reward: float) -> None:
        super().observe(arm, reward)
        if self.question.seed:
            self.shared.append(reward)

    def decision(self) -> int | None:
        return None if len(self.rewards[0]) < 20 + self.before % 7 else super().decision()


class Guesses(Halves):
    def decision(self) -> int | None:
        means = self.estimates()
        return None if min(map(len, self.rewards)) < 1 else int(np.argmax(means))


WRONG: dict[str, list[Any]] = {
    "runs": [NoEstimates],
    "repeats": [ByGlobalGenerator, ByObject],
    "copies": [LosesItsMemory],
    "looks": [TiredOfLooks],
    "asking": [DrawsWhenAsked],
    "decides once": [SecondThoughts],
    "batches": [CountsItsQuestions],
    "late rewards": [ImpatientWithRewards, AsksForArmsThatAreOut],
    "order of arms": [Favourite],
    "shift": [WantsRewardsNearZero],
    "unit": [InGrams],
    "trials": [InheritsTheLastTrial],
    "promise": [Guesses],
}


def test_there_is_a_wrong_policy_for_every_rule() -> None:
    assert set(WRONG) == {*RULES, "promise"}


@pytest.mark.parametrize("rule", WRONG)
def test_a_wrong_policy_is_told_which_rule_it_breaks(rule: str) -> None:
    for policy in WRONG[rule]:
        with pytest.raises(BrokenRuleError) as broken:
            check_method(policy, max_pulls=400, trials=400 if rule == "promise" else None)
        assert broken.value.rule == rule, broken.value
        assert str(broken.value).startswith(f"{policy.__name__} breaks the rule {rule!r} (")
        assert str(broken.value).endswith(broken.value.example)
        again = pickle.loads(pickle.dumps(broken.value))
        assert (str(again), again.rule, again.example) == (str(broken.value), rule, broken.value.example)


def test_a_right_policy_is_told_which_rules_it_keeps() -> None:
    report = check_method(Halves, max_pulls=400, trials=200)
    assert report.kept == (*RULES, "promise")
    assert report.not_tried == {}
    assert (report.method, report.trials) == ("Halves", 200)
    assert str(report).splitlines()[0] == "Halves keeps 13 rules"
    assert str(report).splitlines()[-1] == f"  promise: {report.wrong} wrong answers in 200 trials"


def test_rules_are_skipped_or_not_tried_for_a_reason() -> None:
    report = check_method(WantsRewardsNearZero, max_pulls=400, skip=("shift", "unit"))
    assert report.not_tried == {
        "shift": "skipped",
        "unit": "skipped",
        "promise": "pass trials=1000 to simulate it",
    }
    short = check_method(Halves, max_pulls=40)
    assert set(short.not_tried) == {"decides once", "order of arms", "promise"}
    with pytest.raises(ba.InputError, match=r"^skip must be one of runs, repeats"):
        check_method(Halves, skip={"shfit"})


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_of_the_catalogue_passes(method: str) -> None:
    report = check_method(method, **short(method, {option.name for option in METHODS[method].options}))
    assert report.kept == tuple(RULES)


@pytest.mark.parametrize("method", sorted(POLICIES))
def test_every_policy_of_the_specification_passes(method: str) -> None:
    policy = POLICIES[method]
    options = short(method, {option.name for option in METHODS[method].options})
    if method == "certified":  # a tenth of a second a look where rewards are contaminated
        report = check_method(policy, epsilon=0.0, max_pulls=300, **options)
    else:
        report = check_method(policy, **options)
    assert report.kept == tuple(RULES)


def test_bounds_are_told_and_kept() -> None:
    report = check_method("certified", bounds=(0.0, 1.0), epsilon=0.0)
    assert report.kept == tuple(RULES)


def test_the_suite_needs_no_test_framework() -> None:
    code = (
        "import sys, bestarm.testing\n"
        "bestarm.testing.check_method('mean-se', max_pulls=200)\n"
        "print({'pytest', 'hypothesis'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
