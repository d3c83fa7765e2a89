"""Questions about logs of known truth: the logs, the usual tests beside bestarm, and the promise of its answers."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from benchmarks import question_logs as logs
from benchmarks import questions
from benchmarks.answers import proportions
from benchmarks.newcomer import Reply
from benchmarks.questions import DELTA, QUESTIONS, Question, claimed, outcomes, worth
from scipy import stats

BY_NAME = {question.log.name: question for question in QUESTIONS}
LOGS = {question.log.name: question.log for question in QUESTIONS}
TRUE, OTHER = frozenset({"b", "c"}), frozenset({"a"})


def rates(frame: pd.DataFrame, by: str | list[str], reward: str) -> pd.Series[float]:
    return frame.groupby(by)[reward].mean()


# ------------------------------------------------------------------------------------------------ the logs themselves


def test_pooled_rates_of_the_late_arm_and_of_simpsons_pages_point_to_the_wrong_one() -> None:
    late = logs.LATE.draw(1)
    assert rates(late, "plan", "signed_up").idxmax() == "team"
    last_days = late[late["date"] >= late.loc[late["plan"] == "team", "date"].min()]
    assert rates(last_days, "plan", "signed_up").idxmax() == "family"
    pages = logs.SIMPSON.draw(1)
    assert rates(pages, "page", "purchased").idxmax() == "classic"
    each = rates(pages, ["country", "page"], "purchased").unstack()
    assert (each["redesign"] > each["classic"]).all()


def test_the_quickest_server_is_not_the_one_with_the_lowest_capped_mean() -> None:
    frame = logs.TIME_OUTS.draw(1)
    assert frame.groupby("server")["latency_ms"].median().idxmin() == "eu-west-1"
    capped = frame["latency_ms"].clip(upper=questions.CAP_MS).groupby(frame["server"]).mean()
    assert {capped.idxmin()} == logs.TIME_OUTS.truth


def test_a_few_orders_are_half_of_the_money() -> None:
    spent = np.sort(logs.REVENUE.draw(1)["revenue"])[::-1]
    assert spent[: len(spent) // 200].sum() > 0.5 * spent.sum()


@pytest.mark.parametrize(("log", "arm"), [(logs.RATIO, "layout"), (logs.PER_USER, "model")])
def test_each_user_has_one_arm_and_many_rows(log: logs.QuestionLog, arm: str) -> None:
    by_user = log.draw(1).groupby("user_id")[arm]
    assert by_user.nunique().max() == 1
    assert by_user.size().mean() > 3.0


def test_bots_are_two_of_a_hundred_visits_of_each_button() -> None:
    frame = logs.ASSIGNED.draw(1, tie=True, rows=200_000)
    expected = logs.BOTS + (1.0 - logs.BOTS) * 0.10
    assert rates(frame, "button", "clicked").to_numpy() == pytest.approx(np.full(4, expected), abs=0.006)


@pytest.mark.parametrize("log", LOGS.values(), ids=list(LOGS))
def test_a_seed_draws_the_same_log_again_and_another_one_another(log: logs.QuestionLog) -> None:
    first, again, other = (log.draw(seed, rows=500) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


# ------------------------------------------------------------------------------------------------------ the usual tests


def test_with_one_stratum_the_stratified_test_is_the_one_of_a_table() -> None:
    """Given its margins a table scatters by n / (n - 1) more than the z-test says."""
    random = np.random.default_rng(2)
    one, two = (pd.DataFrame({"hit": random.binomial(1, p, 300), "day": "x"}) for p in (0.4, 0.3))
    z = stats.norm.isf(questions.of_rows("hit", proportions)(one, two))
    found = stats.norm.isf(questions.stratified("hit", "day")(one, two))
    assert found == pytest.approx(z * math.sqrt(599.0 / 600.0))


def test_a_stratum_with_one_arm_only_says_nothing() -> None:
    random = np.random.default_rng(2)
    one, two = (pd.DataFrame({"hit": random.binomial(1, p, 300), "day": "x"}) for p in (0.4, 0.3))
    more = pd.concat([one, pd.DataFrame({"hit": [1] * 50, "day": "y"})])
    p_value = questions.stratified("hit", "day")
    assert p_value(more, two) == p_value(one, two)


def test_the_test_of_ratios_is_welchs_where_each_user_has_one_impression() -> None:
    random = np.random.default_rng(3)
    one, two = (
        pd.DataFrame({"user_id": np.arange(400), "clicks": random.binomial(1, p, 400), "seen": 1}) for p in (0.4, 0.35)
    )
    first, second = (each["clicks"].to_numpy(float) for each in (one, two))
    statistic = stats.ttest_ind(first, second, equal_var=False).statistic
    assert stats.norm.isf(questions.of_ratios("clicks", "seen")(one, two)) == pytest.approx(statistic)
    assert questions.of_totals("clicks", "seen")(one, two) == pytest.approx(proportions(first, second))


# ------------------------------------------------------------------------------------------------------------- answers


def test_claims_are_right_only_if_all_that_is_true_is_claimed() -> None:
    assert [worth(each, TRUE) for each in (TRUE, frozenset("b"), TRUE | OTHER, OTHER, frozenset[str]())] == [
        "right",
        "part",
        "wrong",
        "wrong",
        "nobody",
    ]
    assert worth(frozenset("b"), frozenset()) == "wrong"


def test_what_a_command_claims_is_read_from_its_json() -> None:
    best = '{"best": 2, "control": null}'
    compared = '{"label": "b", "better": true}, {"label": "c", "better": false}'
    beaten = f'{{"best": "b", "control": "a", "comparisons": [{compared}]}}'
    parts = f'{{"segments": [{{"segment": "DE", "best": "x", "control": null}}, {{"segment": "FR", {best[1:]}]}}'
    found = [claimed(Reply(code, out, "", 0.0)) for code, out in ((0, best), (4, beaten), (0, parts))]
    assert [(set(claims), relied_on) for claims, relied_on in found] == [
        ({"2"}, True),
        ({"b"}, False),
        ({"DE: x", "FR: 2"}, True),
    ]
    with pytest.raises(ValueError, match="ended with 2: no such column"):
        claimed(Reply(2, "", "no such column", 0.0))


@pytest.mark.parametrize("name", ["Simpson's paradox", "against a control", "segments"])
def test_nothing_wrong_is_claimed_of_a_log(name: str) -> None:
    question = BY_NAME[name]
    found = outcomes(question, 1)
    assert {found[each.words(question.log.file)] for each in question.commands if each.is_goal} == {"right"}
    assert "wrong" not in {found[test.name] for test in question.tests[:1]}


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.log.name)
def test_hardly_an_answer_is_wrong(question: Question) -> None:
    seeds, ties = range(400, 403), range(500, 502)
    each = [outcomes(question, seed) for seed in seeds]
    named = [outcomes(question, seed, tie=True) for seed in ties]
    for command in question.commands:
        if command.is_goal:
            words = command.words(question.log.file)
            assert [found[words] for found in each].count("wrong") <= stats.binom.isf(0.001, len(each), DELTA)
            # of two equal arms each may be named with probability delta
            assert [found[words] for found in named].count("wrong") <= stats.binom.isf(0.001, len(named), 2 * DELTA)


def test_the_part_runs_after_the_fifteen_logs() -> None:
    from benchmarks.__main__ import PARTS

    names = list(PARTS)
    assert names.index("questions") == names.index("fifteen") + 1
