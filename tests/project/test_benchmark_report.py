"""The arithmetic and the tables of the benchmark; what it measures is never asserted."""

from __future__ import annotations

import itertools

import pytest
from benchmarks.against import compare, medians, numbers
from benchmarks.cost import same_shares
from benchmarks.report import Goal, Section, between, goal_table, renewed, significant, table
from benchmarks.timing import fastest

import bestarm as ba


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0.00"), (0.01234, "0.0123"), (1.0, "1.00"), (9.5, "9.50"), (12.345, "12.3"), (1234567.8, "1,234,568")],
)
def test_numbers_are_shown_with_three_digits(value: float, shown: str) -> None:
    assert significant(value) == shown


def test_a_goal_is_judged_by_the_number_that_is_shown() -> None:
    assert Goal("ratio", 3.004, 3.0).met
    assert not Goal("ratio", 3.006, 3.0).met
    assert Goal("rate", 1.796, 1.8, at_least=True).met
    assert not Goal("rate", 1.79, 1.8, at_least=True).met


def test_columns_of_a_table_line_up() -> None:
    lines = table(("name", "n"), [("a", "1"), ("long name", "1,000")]).splitlines()
    assert lines == [
        "| name      |     n |",
        "| --------- | ----: |",
        "| a         |     1 |",
        "| long name | 1,000 |",
    ]


def test_the_table_of_goals_says_which_were_missed() -> None:
    lines = goal_table([Goal("a", 2.0, 3.0), Goal("b", 4.0, 5.0, "million", at_least=True)]).splitlines()
    assert [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]] == [
        ["a", "2.00", "at most 3", "yes"],
        ["b", "4.00 million", "at least 5 million", "no"],
    ]


def test_a_section_is_its_title_its_notes_and_its_tables() -> None:
    section = Section("Title", ["A note."], [(("x", "y"), [("1", "2")])])
    assert section.text() == "## Title\n\nA note.\n\n| x   |   y |\n| --- | --: |\n| 1   |   2 |\n"


def test_only_what_stands_between_the_markers_is_replaced_however_often() -> None:
    once = between("top\n<1>\nold\n<2>\nrest\n", "<1>", "<2>", "new")
    assert once == "top\n<1>\n\nnew\n\n<2>\nrest\n"
    assert between(once, "<1>", "<2>", "new") == once


def test_a_part_measured_anew_replaces_its_section_alone() -> None:
    page = "# Results\n\n## First\n\nold\n\n## First again\n\nkept\n"
    section = Section("First", ["new"], [], [Goal("a", 2.0, 3.0)])
    once = renewed(page, section, "Said.")
    assert once.startswith("# Results\n\n## First\n\nnew\n\n| what | measured |")
    assert once.endswith("| yes |\n\nSaid.\n\n## First again\n\nkept\n")
    assert renewed(once, section, "Said.") == once


def test_a_part_that_was_never_measured_comes_last() -> None:
    assert renewed("# Results\n\n## A\n\nkept\n", Section("B", ["new"]), "Said.") == (
        "# Results\n\n## A\n\nkept\n\n## B\n\nnew\n\nSaid.\n"
    )


def test_actions_take_turns_and_the_fastest_turn_of_each_counts() -> None:
    calls: list[str] = []
    clock = iter([0.0, 5.0, 5.0, 6.0, 10.0, 12.0, 20.0, 24.0])  # a takes 5 and 2, b takes 1 and 4
    actions = [lambda: calls.append("a"), lambda: calls.append("b")]
    assert fastest(actions, 2, lambda: next(clock)) == [2.0, 1.0]
    assert calls == list(itertools.chain("ab", "ab"))


def test_draws_have_the_arms_of_the_trials_in_their_shares() -> None:
    trials = ba.simulate(ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)]), "mean-se", delta=0.1, trials=5, seed=1)
    order = same_shares(trials)
    assert [(order == arm).sum() for arm in range(2)] == trials.arm_pulls.sum(axis=0).tolist()


def test_two_versions_are_compared_number_by_number_where_they_differ() -> None:
    def page(se_cbai: str) -> str:
        rows = [("se-cbai", "1,000", se_cbai, "-"), ("random", "0", "4.00", "no")]
        return Section("Cost", [], [(("method", "pulls", "ns a pull", "met"), rows)]).text() + goal_table([])

    before, after = numbers(page("10.0")), numbers(page("12.5"))
    assert before == {
        ("Cost", "se-cbai", "pulls"): 1000.0,
        ("Cost", "se-cbai", "ns a pull"): 10.0,
        ("Cost", "random", "pulls"): 0.0,
        ("Cost", "random", "ns a pull"): 4.0,
    }
    rows = compare(before, after)
    assert rows == [("Cost", "se-cbai", "ns a pull", "10.0", "12.5", "1.25")]
    assert medians(rows) == [("Cost", "1", "1.25", "1.25", "1.25")]


def test_rows_that_begin_alike_are_told_apart() -> None:
    rows = [("se-cbai", "10", "9.5"), ("se-cbai", "1,000", "10.5")]
    found = numbers(Section("Live", [], [(("method", "arms", "us a pair"), rows)]).text())
    assert found["Live", "se-cbai, 10", "us a pair"] == 9.5
    assert found["Live", "se-cbai, 1,000", "us a pair"] == 10.5
