"""The usual tests that the benchmark compares bestarm with, against SciPy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.answers import TASKS, Task, by_tests, proportions, trimmed, verdicts, welch, yuen
from scipy import stats

RANDOM = np.random.default_rng(5)
HIGH, LOW = RANDOM.binomial(1, 0.4, 300).astype(np.float64), RANDOM.binomial(1, 0.3, 500).astype(np.float64)


def test_the_test_of_proportions_is_the_chi_squared_test_of_the_table() -> None:
    table = [[rewards.sum(), rewards.size - rewards.sum()] for rewards in (HIGH, LOW)]
    both_sides = float(stats.chi2_contingency(table, correction=False).pvalue)
    assert HIGH.mean() > LOW.mean()
    assert proportions(HIGH, LOW) == pytest.approx(both_sides / 2.0)
    assert proportions(LOW, HIGH) == pytest.approx(1.0 - both_sides / 2.0)
    assert proportions(np.zeros(5), np.zeros(7)) == 1.0


def test_trimmed_means_that_do_not_scatter_say_nothing() -> None:
    rare = np.repeat((1.0, 0.0), (5, 95))
    assert (trimmed(rare), yuen(rare, np.zeros(100))) == (0.0, 1.0)


def test_an_arm_is_named_only_if_it_beats_all_others_at_the_corrected_level() -> None:
    p = welch(HIGH, LOW)
    assert 0.025 > p > 0.0001
    assert by_tests({"a": LOW, "b": HIGH}, np.mean, welch) == "b"
    assert by_tests({"a": LOW, "b": HIGH, "c": HIGH[:-2]}, np.mean, welch) is None
    many = {f"a{index}": LOW for index in range(int(0.05 / p) + 1)}
    assert by_tests({**many, "b": HIGH}, np.mean, welch) is None


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_bots_have_their_share_of_a_log_and_turn_the_highest_mean(task: Task) -> None:
    for share in (0.0, 0.01, 0.09):
        frame = task.make(np.random.default_rng(3), share)
        per_user = frame.groupby("uid" if task.name == "clicks" else "rater").size()
        assert per_user[per_user > 25].sum() / len(frame) == pytest.approx(share if share == 0.09 else 0.0, abs=0.01)
        highest = frame.groupby(task.arm)[task.reward].mean().idxmax()
        assert (highest == task.best) == (share == 0.0 or (task.name == "stars" and share == 0.01))


def test_bots_mislead_the_usual_tests() -> None:
    found = verdicts(TASKS[0], 0.09, 1)
    assert {found[name] for name in ("Welch's test", "trimmed means", "z-test of proportions")} == {"wrong"}
    assert found["bestarm, epsilon at the truth"] == "nobody"
