"""Plans: verdicts on known cases, the tolerated epsilon against minimal_bias, forecasts, the command."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from typing import Any

import numpy as np
import pytest

from bestarm import InputError, paper_adversary, theory
from bestarm.bandits.adversaries import Adversary, Point, Uniform
from bestarm.contamination import CONTAMINATIONS
from bestarm.methods import METHODS
from bestarm.problem import pose
from bestarm.theory.planning import Plan, _bandits, plan
from command_line import Done, bestarm

PAPER = [2.5, 2.3, 2.0, 0.6]
WIDE = [2.5, 1.5, 1.0, 0.6]
FAMILIES: dict[str, dict[str, Any]] = {
    "gaussian": {"means": [1.3, 0.9, 0.2], "sigma": 0.8},
    "sub-gaussian": {"means": [1.3, 0.9, 0.2], "sigma": 0.8},
    "bounded": {"means": [3.4, 3.1, 2.0], "bounds": (1.0, 5.0)},
}


def quick(means: Any = WIDE, **changes: Any) -> Plan:
    """A plan without forecasts."""
    scale = {} if "bounds" in changes else {"sigma": 1.0}
    return plan(means, **{"epsilon": 0.1, "delta": 0.05, "methods": [], **scale, **changes})


def refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


@pytest.fixture(scope="module")
def paper() -> Plan:
    return plan(PAPER, sigma=1.0, epsilon=0.1, delta=0.05, methods=["g-cbai", "mean-se"], trials=30, seed=3)


def test_the_instance_of_the_paper_is_not_identifiable_in_the_worst_case(paper: Plan) -> None:
    assert not paper.identifiable
    assert paper.identifiable_gap == pytest.approx(0.2794, abs=1e-4)
    assert paper.margin == pytest.approx(0.2 - 0.2794, abs=1e-4)
    assert paper.lower_bounds["worst case"] == {"paper": float("inf"), "characteristic": float("inf")}
    assert paper.lower_bounds["benign"]["paper"] == pytest.approx(325.2, abs=0.1)
    assert paper.advice[0].startswith("Not identifiable")
    assert "a gap above 0.2794 (it is 0.2)" in paper.advice[1]
    assert "epsilon below 0.07378 (it is 0.1)" in paper.advice[1]


def test_wider_gaps_are_identifiable() -> None:
    wide = quick()
    assert wide.identifiable
    assert wide.margin == pytest.approx(1.0 - 0.2794, abs=1e-4)
    assert wide.lower_bounds["worst case"]["paper"] == pytest.approx(
        theory.lower_bound(WIDE, 0.05, bias=theory.minimal_bias(0.1))
    )
    assert wide.advice[0].startswith("Identifiable: no adversary hides for ever that arm 0 is best.")


def test_exploration_is_that_of_the_paper_and_the_shorter_one() -> None:
    found = quick().exploration
    assert {kind: row["pulls"] for kind, row in found.items()} == {"hoeffding": 4 * 2397, "chernoff": 4 * 301}
    assert found["hoeffding"]["T"] == theory.exploration_pulls(0.05, 0.05)


@pytest.mark.parametrize("family", FAMILIES)
def test_more_contamination_leaves_a_smaller_margin(family: str) -> None:
    margins = [quick(**FAMILIES[family], family=family, epsilon=eps).margin for eps in (0.0, 0.01, 0.1, 0.2, 0.3, 0.49)]
    assert margins == sorted(margins, reverse=True)
    assert len(set(margins)) == 6
    assert margins[0] == quick(**FAMILIES[family]).gap  # nothing is hidden where nothing is contaminated


@pytest.mark.parametrize("family", FAMILIES)
def test_the_tolerated_epsilon_is_where_identifiability_ends(family: str) -> None:
    question = {**FAMILIES[family], "family": family}
    limit = quick(**question)
    assert limit.tolerated_by == ("bisection" if family == "sub-gaussian" else "closed form")
    bias = theory.minimal_bias(limit.tolerated_epsilon, limit.sigma, family, bounds=limit.bounds)
    assert 2.0 * bias == pytest.approx(limit.gap, rel=1e-12)
    assert quick(**question, epsilon=limit.tolerated_epsilon * (1.0 - 1e-9)).identifiable
    assert not quick(**question, epsilon=limit.tolerated_epsilon * (1.0 + 1e-9)).identifiable


@pytest.mark.parametrize("family", ["gaussian", "sub-gaussian"])
@pytest.mark.parametrize("gap", [1e-30, 1e-3, 4.0, 40.0])
def test_the_tolerated_epsilon_of_tiny_and_huge_gaps(family: str, gap: float) -> None:
    found = quick([gap, 0.0], family=family).tolerated_epsilon
    if gap == 40.0:  # past the bias at the largest epsilon below 1/2
        assert found == 0.5
    else:
        assert 2.0 * theory.minimal_bias(found, family=family) == pytest.approx(gap, rel=1e-9)


def test_bounds_stand_for_a_scale_and_a_family() -> None:
    clicks = quick([0.5, 0.3], bounds=(0, 1), epsilon=0.1)
    assert (clicks.family, clicks.sigma, clicks.bounds) == ("bounded", 0.5, (0.0, 1.0))
    assert clicks.identifiable_gap == pytest.approx(1 / 9)
    assert clicks.tolerated_epsilon == pytest.approx(0.2 / 1.2)


def test_only_a_lower_limit_of_the_bias_is_known_for_sub_gaussian_rewards() -> None:
    assert any("not ruled out" in line for line in quick(family="sub-gaussian").advice)
    assert not any("not ruled out" in line for line in quick().advice)


def test_forecasts_have_a_row_for_each_adversary_method_and_exploration(paper: Plan) -> None:
    settings = [("g-cbai", "hoeffding"), ("g-cbai", "chernoff"), ("mean-se", "none")]
    assert [(row["adversary"], row["method"], row["exploration"]) for row in paper.forecasts] == [
        (adversary, *setting) for adversary in ("benign", "worst-like") for setting in settings
    ]
    for row in paper.forecasts:
        assert row["q05"] <= row["q50"] <= row["q95"]
        assert row["no_winner"] == row["capped"] == 0.0
        assert row["wrong"] <= 0.05 if row["adversary"] == "benign" else row["wrong"] >= 0.95
        assert row["bound"] is row["bound_family"] is None  # it binds whoever is right against all adversaries
    assert paper.forecasts[0]["q05"] == 9588  # K ceil(T)
    assert "in the forecast with the worst-like adversary: g-cbai, mean-se." in " ".join(paper.advice)


def test_forecasts_repeat_with_the_seed_for_any_number_of_workers(paper: Plan) -> None:
    question: dict[str, Any] = {"sigma": 1.0, "epsilon": 0.1, "delta": 0.05, "methods": ["mean-se"], "trials": 30}
    repeated = [row for row in paper.forecasts if row["method"] == "mean-se"]
    assert list(plan(PAPER, **question, seed=3, workers=2).forecasts) == repeated
    assert list(plan(PAPER, **question, seed=4).forecasts) != repeated


def test_scale_and_position_of_the_rewards_do_not_matter(paper: Plan) -> None:
    question: dict[str, Any] = {"epsilon": 0.1, "delta": 0.05, "methods": ["mean-se"], "trials": 30, "seed": 3}
    moved = plan([8.0 * mean for mean in PAPER], sigma=8.0, **question)  # a power of 2: nothing is rounded
    assert list(moved.forecasts) == [row for row in paper.forecasts if row["method"] == "mean-se"]


def test_what_the_cap_cuts_is_said_without_simulating_it() -> None:
    capped = plan(WIDE, sigma=1.0, epsilon=0.01, delta=0.05, methods=["se-cbai"], trials=30)
    long, short = capped.forecasts[:2]
    assert (long["capped"], long["mean_pulls"], long["wrong"]) == (1.0, 200_000, 0.0)
    assert (short["capped"], short["q50"]) == (0.0, 4 * 3092)
    assert any(line.startswith("Where capped is above 0, trials were cut at 200,000 pulls") for line in capped.advice)
    assert 'exploration="chernoff" saves much: 12,368 pulls in place of 958,636 (benign adversary).' in capped.advice


def test_an_exploration_that_nobody_can_afford_is_said_in_the_advice() -> None:
    def warned(epsilon: float) -> list[str]:
        return [line for line in quick(epsilon=epsilon).advice if "before any decision" in line]

    long, short = warned(1e-6)
    assert long.startswith('exploration="hoeffding" asks for T = 2.4e+13 pulls of each arm before any decision')
    assert "(epsilon = 1e-06, alpha = 5e-07, delta = 0.05)" in long
    assert short.startswith('exploration="chernoff" asks for T = 3.1e+07 pulls of each arm before any decision')
    assert short.endswith(
        'use exploration="none", a larger alpha, or the method certified, which has no forced exploration.'
    )
    assert [line.split()[0] for line in warned(1e-3)] == ['exploration="hoeffding"']  # T = 2.4e7
    assert warned(2e-3) == warned(0.0) == []


def test_long_trials_are_fewer_and_short_caps_show() -> None:
    hard = plan([0.01, 0.0], sigma=1.0, epsilon=0.0, delta=0.05, methods=["mean-se"], max_pulls=100_000)
    (row,) = hard.forecasts
    assert 5 <= row["trials"] < 40
    assert row["capped"] > 0.9


def test_bounded_rewards_are_forecast_within_their_range() -> None:
    question: dict[str, Any] = {"bounds": (1, 5), "epsilon": 0.1, "delta": 0.05, "methods": ["mean-se"], "trials": 100}
    rows = plan([4.5, 2.0], **question).forecasts
    assert [row["wrong"] for row in rows] == [0.0, 0.0]
    assert rows[0]["mean_pulls"] < rows[1]["mean_pulls"]  # the mixture's gap is 2.25, and 1.85 with values at the ends
    beaten = plan([3.2, 3.0], **question).forecasts  # the ends move the means by 0.22 and 0.2: their order turns
    assert [row["wrong"] > 0.9 for row in beaten] == [False, True]


def test_every_method_of_the_catalogue_is_forecast_by_default() -> None:
    clean = plan([3.0, 0.0], sigma=1.0, epsilon=0.0, delta=0.1, trials=20)
    assert [row["method"] for row in clean.forecasts] == list(METHODS)
    assert {row["adversary"] for row in clean.forecasts} == {"none"}
    assert {row["wrong"] for row in clean.forecasts} == {0.0}


def test_the_advice_names_a_method_and_warns_of_the_papers() -> None:
    advice = " ".join(quick().advice)
    assert "do not survive a one-sided adversary" in advice
    assert "'No winner' (status indistinguishable) is an answer" in advice
    assert "Use certified for a promise against every adversary" in advice
    assert "Whether it would name a winner at these gaps was not forecast." in advice
    assert "one-sided" not in " ".join(quick(epsilon=0.0).advice)


def certified(means: Any, **changes: Any) -> Plan:
    scale = {} if "bounds" in changes else {"sigma": 1.0}
    return plan(means, **{"epsilon": 0.1, "delta": 0.05, "methods": ["certified"], "trials": 20, **scale, **changes})


def test_certified_is_recommended_where_its_own_forecasts_name_a_winner() -> None:
    wide = certified(WIDE)
    assert [row["no_winner"] + row["capped"] for row in wide.forecasts] == [0.0, 0.0]
    assert any(line.startswith("Use certified: it errs with probability at most delta if each") for line in wide.advice)
    assert not any("names no winner" in line for line in wide.advice)


def test_certified_is_not_recommended_where_its_own_forecasts_name_no_winner() -> None:
    hidden = certified(PAPER)
    assert [row["no_winner"] for row in hidden.forecasts] == [1.0, 1.0]
    assert not any("Use certified" in line for line in hidden.advice)
    text = " ".join(hidden.advice)
    assert "certified names no winner in most trials of its forecasts: none in 100% with the benign adversary" in text
    assert text.count("its bound is inf") == 2
    short = certified([0.5, 0.0], epsilon=0.0, max_pulls=20)
    assert short.forecasts[0]["capped"] > 0.5
    assert not any("Use certified" in line for line in short.advice)


def test_no_sentence_says_that_more_rewards_would_not_help_but_for_contamination() -> None:
    for made in (quick(), certified(PAPER)):
        last = made.advice[-1]
        assert (
            "limit contamination, which could hide the remaining lead, and more rewards of this kind would not" in last
        )
        assert "the verdict says which lead would have been found with probability 0.9" in last
        assert sum(line.count(words) for line in made.advice for words in ("would not settle", "would not help")) == 1


def test_the_information_bound_stands_beside_the_forecasts_of_certified() -> None:
    benign, worst = certified(WIDE).forecasts
    fakes = Point([1.0, 3.0, 2.5, 2.1])
    setting: dict[str, Any] = {"epsilon": 0.1, "delta": 0.05, "sigma": 1.0}
    whole = theory.contaminated_bound(WIDE, **setting, family="sub-gaussian", adversary=fakes)
    assert (worst["bound"], worst["bound_family"]) == (pytest.approx(whole), "sub-gaussian")
    centres = paper_adversary(WIDE, 0.1, 0).pieces[0].a
    two = theory.contaminated_bound(WIDE[:2], **setting, family="sub-gaussian", adversary=Uniform(centres[:2]))
    four = theory.contaminated_bound(WIDE, **setting, family="gaussian", adversary=Uniform(centres))
    assert benign["bound"] == pytest.approx(max(two, four))
    assert benign["bound_family"] == ("sub-gaussian" if two >= four else "gaussian")
    for row in (benign, worst):
        assert row["bound"] < row["mean_pulls"]


def test_the_bound_of_clean_and_of_bounded_rewards() -> None:
    (clean,) = certified(WIDE, epsilon=0.0).forecasts
    assert clean["bound"] == pytest.approx(theory.lower_bound(WIDE, 0.05, kind="characteristic"), rel=1e-3)
    benign, worst = certified([0.9, 0.2], bounds=(0, 1)).forecasts
    assert benign["bound"] is None  # fakes all over the range
    known = theory.contaminated_bound([0.9, 0.2], bounds=(0, 1), epsilon=0.1, delta=0.05, adversary=[0, 1])
    assert (worst["bound"], worst["bound_family"]) == (pytest.approx(known), "bounded")


@pytest.mark.parametrize("contamination", ["malicious", "share-of-arm", "share-of-all"])
def test_forecasts_keep_to_the_contamination(contamination: str) -> None:
    values, problem = np.array([3.0, 0.0, -1.0]), pose(3, delta=0.05, epsilon=0.05, sigma=1.0)
    for _, bandit in _bandits(values, 0, problem, contamination, 0):
        assert isinstance(bandit.adversary, Adversary)
        assert contamination in bandit.adversary.contaminations
    made = certified([3.0, 0.0, -1.0], epsilon=0.05, contamination=contamination)
    assert made.advice[0].startswith("Not ruled out: coins that see no reward cannot hide for ever that arm 0 is best.")
    assert made.advice[1].startswith(f"Contamination {contamination} may hide more")
    assert [row["wrong"] for row in made.forecasts] == [0.0, 0.0]
    assert made.forecasts[1]["bound"] is None  # known for coins that see nothing
    assert list(made.forecasts) != list(certified([3.0, 0.0, -1.0], epsilon=0.05).forecasts)


def test_a_plan_is_frozen_and_prints_a_report(paper: Plan) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        paper.gap = 1.0  # type: ignore[misc]
    text = str(paper)
    assert "NOT identifiable: the smallest gap 0.2 is not above 2U = 0.2794 (family gaussian)" in text
    assert "worst-like mean-se none" in " ".join(text.split())
    assert text.endswith("\n".join(f"- {line}" for line in paper.advice))
    assert str(quick()).count("no forecasts") == 1


def test_json_is_strict_and_complete(paper: Plan) -> None:
    found = json.loads(paper.to_json(), parse_constant=refuse_constant)
    assert found["lower_bounds"]["worst case"] == {"paper": None, "characteristic": None}
    assert found["means"] == PAPER
    assert found["advice"] == list(paper.advice)
    assert set(found) == {field.name for field in dataclasses.fields(paper)} | {"advice"}
    assert paper.to_dict()["forecasts"] == list(paper.forecasts)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"means": [1.0]}, "means must be at least two finite numbers"),
        ({"means": [1.0, float("nan")]}, "means must be at least two finite numbers"),
        ({"means": [1.0, 1.0]}, "means must have one largest, got .*: arms 0 and 1 tie"),
        ({"epsilon": 0.5}, r"epsilon must be in \[0, 0.5\), got 0.5"),
        ({"delta": 0.0}, r"delta must be in \(0, 1\), got 0.0"),
        ({"sigma": -1.0}, "sigma must be a finite number > 0, got -1.0"),
        ({"sigma": 1.0, "bounds": (0, 1)}, "sigma must be given, or bounds, and not both"),
        ({"sigma": None}, "sigma must be given, or bounds, and not both, got 'neither'"),
        ({"bounds": (1, 0)}, "bounds must be two finite numbers"),
        ({"bounds": (0, 1)}, r"means must lie in the bounds \(0.0, 1.0\)"),
        ({"family": "bounded"}, "family must be one of gaussian, sub-gaussian with sigma, got 'bounded'"),
        ({"bounds": (0, 3), "family": "gaussian"}, "family must be one of bounded with bounds, got 'gaussian'"),
        ({"contamination": "sources"}, ".* be one of causal, prescient, malicious, share-of-arm, share-of-all"),
        ({"contamination": None}, ".* be one of causal, prescient, malicious, share-of-arm, share-of-all"),
        ({"methods": ["magic"]}, "method must be one of .*, got 'magic'"),
        ({"methods": "g-cbai"}, "methods must be a list of names, got 'g-cbai'"),
        ({"methods": 3}, "methods must be a list of names, got 3"),
        ({"trials": 0}, "trials must be a whole number >= 1, got 0"),
        ({"max_pulls": 0.5}, "max_pulls must be a whole number >= 1, got 0.5"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"workers": 0}, "workers must be a whole number >= 1, got 0"),
    ],
)
def test_bad_input_is_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        quick(**changes)


def run(*words: str) -> Done:
    return bestarm("plan", *words, "--epsilon", "0.1", "--methods", "mean-se", "--trials", "20")


def test_the_command_reports_and_exits_with_3_where_no_winner_can_be_named() -> None:
    done = run("--means", "2.5,2.3,2,0.6", "--sigma", "1")
    assert done.returncode == 3
    lines = done.stdout.splitlines()
    assert lines[0] == "4 arms with means 2.5, 2.3, 2, 0.6; sigma = 1, epsilon = 0.1, delta = 0.05"
    assert lines[1] == f"contamination   prescient: {CONTAMINATIONS['prescient'].words}"
    assert lines[9].split()[:5] == ["adversary", "method", "exploration", "trials", "mean_pulls"]
    assert lines[11].split()[:4] == ["benign", "mean-se", "none", "20"]
    assert lines[14].startswith("- Not identifiable")


def test_the_command_exits_with_0_where_it_is_identifiable_and_writes_json() -> None:
    done = run("--means", "2.5,1.5,1,0.6", "--sigma", "1", "--format", "json")
    assert done.returncode == 0
    found = json.loads(done.stdout, parse_constant=refuse_constant)
    assert found["identifiable"] is True
    assert found["contamination"] == "prescient"
    assert len(found["forecasts"]) == 2


def test_the_command_writes_forecasts_as_csv() -> None:
    done = run("--means", "0.9,0.2", "--bounds", "0,1", "--format", "csv")
    assert done.returncode == 0
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["adversary"] for row in rows] == ["benign", "worst-like"]
    assert all(float(row["wrong"]) <= 0.1 for row in rows)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--means", "1,x", "--sigma", "1"), "means must be numbers separated by commas, got '1,x'"),
        (("--means", "1,0"), "sigma must be given, or bounds, and not both"),
        (("--means", "1,0", "--bounds", "0"), "bounds must be two numbers separated by a comma, got '0'"),
    ],
)
def test_bad_input_to_the_command_is_refused_by_name(words: tuple[str, ...], message: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert done.stdout == ""
