"""The three lines of a verdict, and the claim without an epsilon: who is best, what it survives, what was found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bestarm as ba
from bestarm.cli.output import exit_code
from bestarm.identification.finding import Finding
from bestarm.identification.wording.log_lines import CLEAN
from bestarm.log.trust import with_findings
from command_line import bestarm


def visits(rates: dict[str, float], number: int = 60_000, arm: str = "variant", reward: str = "converted") -> Any:
    """A log with exactly these rates."""
    parts = [
        pd.DataFrame({arm: name, reward: np.arange(number) < round(rate * number)}).astype({reward: int})
        for name, rate in rates.items()
    ]
    return pd.concat(parts, ignore_index=True)


CONVERSIONS = visits({"variant_a": 0.052, "variant_b": 0.050, "variant_c": 0.060})


def finding(rows: int | None, kind: str = "busy sources") -> Finding:
    share = None if rows is None else rows / 180_000
    return Finding(kind, rows, 60, share, f"60 users look like bots ({rows} visits)")


def answer(data: Any = CONVERSIONS, **question: Any) -> ba.LogResult:
    return ba.identify_log(data, **question)


# ------------------------------------------------------------------------------------------------------------ the lines


def test_three_lines_name_the_best_arm_what_it_survives_and_what_was_found() -> None:
    result = with_findings(answer(), [])
    first, second, third = result.lines
    assert first == "variant_c converts best: 6.0 % against 5.2 % for variant_a (+15 %)."
    assert result.overturn is not None
    share = f"{int(1e4 * 100 * result.overturn / 180_000) / 1e4:.3g}"
    assert second.startswith(f"This stands unless more than {result.overturn} of the 180,000 visits are fake ({share}")
    assert second.endswith("Wrong with probability at most 5 %.")
    assert third == CLEAN
    assert result.trusted
    assert exit_code(result) == 0


def test_an_arm_that_is_a_number_is_called_by_what_it_numbers() -> None:
    first = answer(visits({"0": 0.05, "1": 0.06}, arm="variation", reward="kept")).lines[0]
    assert first == "variation 1 has the highest kept rate: 6.0 % against 5.0 % for variation 0 (+20 %)."


def test_more_than_one_visit_is_fake() -> None:
    survives_one = next(
        second
        for hits in range(30, 60)
        if (second := answer(visits({"A": 0.02, "B": hits / 1000}, number=1000)).lines[1]).startswith(
            "This stands unless more than 1 of"
        )
    )
    assert survives_one.startswith("This stands unless more than 1 of the 2,000 visits is fake (0.05 %).")


def test_a_finding_beyond_what_it_survives_withdraws_trust() -> None:
    result = answer()
    assert result.overturn is not None
    for rows, code in ((result.overturn, 0), (result.overturn + 1, 4)):
        found = with_findings(result, [finding(rows)])
        assert (exit_code(found), found.trusted) == (code, code == 0)
        assert found.best == "variant_c"
        said = found.lines[2]
        assert said.endswith(
            "the answer survives that." if code == 0 else "more than this answer survives. Do not rely on it."
        )


def test_a_finding_beyond_the_epsilon_given_withdraws_trust() -> None:
    result = answer(epsilon=0.0005)
    assert (result.best, result.replaced) == ("variant_c", 90)
    assert result.overturn is not None
    assert result.overturn > 100
    found = with_findings(result, [finding(100)])
    assert exit_code(found) == 4
    assert "more than the 0.05 % that you allow for" in found.lines[2]
    assert exit_code(with_findings(result, [finding(90)])) == 0


def test_a_finding_without_a_count_matters_only_if_the_answer_falls() -> None:
    result, late = answer(), finding(None, "late arm")
    assert exit_code(with_findings(result, [late], lambda best, delta: {})) == 0
    fallen = with_findings(result, [late], lambda best, delta: {"late arm": f"within days {best} does not lead"})
    assert exit_code(fallen) == 4
    assert "within days variant_c does not lead. Do not rely on it." in fallen.lines[2]


def test_nobody_named_ends_with_3_whatever_was_found() -> None:
    result = answer(visits({"variant_a": 0.052, "variant_c": 0.0525}, 2000))
    assert result.best is None
    for findings in ([], [finding(500)]):
        found = with_findings(result, findings)
        assert exit_code(found) == 3
        assert not found.trusted
        assert found.lines[0].startswith("No variant is proved best: variant_c leads with 5.2")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"contamination": "share-of-arm"}, "of the visits of any one variant are fake. Wrong"),
        ({"contamination": "prescient"}, "This stands unless a visit is fake with a chance above 0."),
        ({"epsilon": 0.0}, "This stands if not one of the 180,000 visits is fake, and even with up to"),
        ({"epsilon": 0.0005}, "This stands with up to 90 of the 180,000 visits fake (0.05 %), and even with up to"),
        (
            {"epsilon": 0.0001, "contamination": "prescient"},
            "fake with a chance of at most 0.01 %, and even with a chance of up to 0.",
        ),
    ],
)
def test_what_it_survives_is_said_for_each_kind(question: dict[str, Any], said: str) -> None:
    assert said in answer(**question).lines[1]


def test_who_is_called_the_best_is_the_best_with_as_many_fakes_and_not_only_near_it() -> None:
    plain, near = answer(), answer(good_enough=0.02)
    assert near.lines[0] == plain.lines[0]
    assert near.overturn is not None
    assert plain.overturn is not None
    assert 0 < near.overturn <= plain.overturn
    close = visits({"A": 0.0602, "B": 0.06})
    assert answer(close, good_enough=0.02).lines[0].startswith("A is within 2 points of the best")


@pytest.mark.parametrize("contamination", ["share-of-all", "share-of-arm", "prescient"])
def test_an_epsilon_that_moves_means_by_more_than_the_lead_says_which_lead_could_be_proved(contamination: str) -> None:
    """The lead of 1.1 points may be somewhat larger, so it is not certain that fakes hide it."""
    result = answer(visits({"A": 0.0486, "B": 0.0596}, 20_000), epsilon=0.012, contamination=contamination)
    assert result.floor is not None
    assert result.lines[1].startswith("With 1.2 % fakes no lead below ")
    assert result.lines[1].endswith(" points can be proved, however many visits there are.")
    said = float(result.lines[1].split()[7])
    assert said == pytest.approx(100.0 * result.floor, rel=0.1)
    assert said <= 100.0 * result.floor  # a larger one might be proved
    assert result.floor > 0.011


def test_arms_with_the_same_mean_do_not_lead() -> None:
    result = answer(visits({"A": 0.5, "B": 0.5}, 1000))
    assert result.lines[0] == "No variant is proved best: A and B both have 50.0 %."


def test_a_forecast_has_two_digits() -> None:
    rates = {f"arm {number}": 0.05 + 0.0001 * number for number in range(40)} | {"best": 0.07}
    said = answer(visits(rates, 1000)).lines[1]
    number = said.split("roughly ")[1].split()[0].replace(",", "")
    assert len(number.rstrip("0")) <= 2


def test_lower_is_better_names_the_lowest_mean_and_keeps_the_users_numbers() -> None:
    random = np.random.default_rng(3)
    times = pd.DataFrame({"server": ["a"] * 4000 + ["b"] * 4000, "wait": random.uniform(0, 100, 8000)})
    times.loc[times.server == "b", "wait"] *= 0.8
    result = answer(times, arm="server", reward="wait", bounds=(0, 100), lower_is_better=True)
    rows = {row.label: row for row in result.arms}
    assert result.best == "b"
    assert result.lines[0].startswith("b has the lowest mean wait: ")
    assert "'b' has the lowest mean of 2 arms" in str(result)
    assert rows["b"].estimate == pytest.approx(times.wait[times.server == "b"].mean())
    assert rows["b"].lower < rows["b"].estimate < rows["b"].upper < rows["a"].estimate
    assert result.leads["a"] > 0.0
    mirrored = times.assign(wait=100 - times.wait)
    other = answer(mirrored, arm="server", reward="wait", bounds=(0, 100), lower_is_better=False)
    assert (other.best, other.overturn) == (result.best, result.overturn)


# --------------------------------------------------------------------------------------------------- without an epsilon


@pytest.mark.parametrize("kind", ["share-of-all", "share-of-arm"])
@pytest.mark.parametrize("stopping", ["fixed", "any"])
def test_every_count_up_to_overturn_names_the_arm_and_the_next_does_not(kind: str, stopping: str) -> None:
    result = answer(contamination=kind, stopping=stopping)
    assert result.overturn is not None
    number = 180_000 if kind == "share-of-all" else 60_000
    for count in (0, result.overturn // 2, result.overturn, result.overturn + 1):
        at = answer(contamination=kind, stopping=stopping, epsilon=(count + 1e-6) / number)
        assert at.replaced == count
        assert (at.best == "variant_c") == (count <= result.overturn)


def test_survival_falls_below_delta_up_to_the_count_that_is_survived() -> None:
    result = answer()
    assert result.overturn is not None
    counts = [count for count, _ in result.survival]
    assert counts[0] == 0
    assert counts[-1] > result.overturn
    assert all((p_value <= result.delta) == (count <= result.overturn) for count, p_value in result.survival)
    assert result.survival[0][1] == pytest.approx(result.p_value)


def test_json_has_no_epsilon_where_none_was_given() -> None:
    told = json.loads(answer().to_json())
    assert told["epsilon"] is None
    assert told["for_all_counts"]
    assert told["lines"][0].startswith("variant_c converts best")
    assert told["trusted"]
    assert json.loads(answer(epsilon=0.0).to_json())["epsilon"] == 0.0


def test_missing_rewards_that_count_as_fake_are_besides_what_it_survives() -> None:
    lost = CONVERSIONS.astype({"converted": float})
    lost.loc[lost.index[:20], "converted"] = np.nan
    result = answer(lost, missing="replaced")
    assert result.best == "variant_c"
    assert "besides the missing ones" in result.lines[1]


@pytest.mark.parametrize(
    "question", [{"sigma": "estimate"}, {"sequential": True, "bounds": (0, 1)}, {"stopping": "maybe"}]
)
def test_what_needs_an_epsilon_says_so(question: dict[str, Any]) -> None:
    with pytest.raises(ba.InputError, match=r"epsilon|stopping"):
        answer(**question)


def test_the_command_prints_the_lines_first_and_guesses_on_stderr(tmp_path: Path) -> None:
    CONVERSIONS.to_csv(path := tmp_path / "visits.csv", index=False)
    done = bestarm("identify", path)
    assert done.returncode == 0
    first, rest = done.stdout.split("\n\n", 1)
    assert len(first.splitlines()) <= 3
    assert first.startswith("variant_c converts best")
    assert "variant_a" in rest
    assert "converted" in done.stderr
    assert "taken" not in done.stdout.lower()
