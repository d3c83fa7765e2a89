"""Numbers of a verdict agree: estimates with their intervals and the winner, and every place that prints them."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import bestarm as ba
from bestarm.cli.app import app
from bestarm.identification.wording.text import share_shown
from bestarm.log.picture import draw
from bestarm.log.rewards import Rewards
from bestarm.log.verdict import identify_log

KINDS = ("share-of-all", "share-of-arm", "prescient", "malicious", "sources")


def frame(rewards: dict[str, Any]) -> pd.DataFrame:
    parts = [pd.DataFrame({"arm": arm, "reward": values}) for arm, values in rewards.items()]
    return pd.concat(parts, ignore_index=True)


def latencies(outliers: int = 12) -> pd.DataFrame:
    """Negated response times of three servers; of the fastest a few requests hung."""
    random = np.random.default_rng(3)
    times = {"srv1": random.normal(120, 20, 2000), "srv2": random.normal(130, 20, 2000)}
    times["srv3"] = np.append(random.normal(91, 20, 2000 - outliers), np.full(outliers, 18_000.0))
    return frame({server: -each for server, each in times.items()})


# --------------------------------------------------------------------------------- estimates, intervals and the winner


def test_rewards_that_the_evidence_discounts_are_not_averaged_into_the_estimate(tmp_path: Path) -> None:
    log = latencies()
    result = identify_log(log, epsilon=0.01, sigma=20)
    rows = {row.label: row for row in result.arms}
    mean = float(log.reward[log.arm == "srv3"].mean())
    assert (result.best, round(mean)) == ("srv3", -198)
    assert rows["srv3"].lower < rows["srv3"].estimate < rows["srv3"].upper
    assert abs(rows["srv3"].estimate + 91) < 2
    sentence = str(result)
    shown = f"(estimate {rows['srv3'].estimate:.4g}, against {rows['srv1'].estimate:.4g} for 'srv1')"
    reason = f"The plain mean of 'srv3' is {mean:.4g}: 12 rewards that the evidence discounts pull it down."
    assert shown in sentence
    assert sentence.endswith(reason)
    log.to_csv(path := tmp_path / "times.csv", index=False)
    words = [str(path), "--arm", "arm", "--reward", "reward", "--sigma", "20", "--epsilon", "0.01"]
    table = CliRunner().invoke(app, ["identify", *words]).stdout
    assert re.search(r"srv3 +2,000 +-90\.\d+ +-198\.\d", table)
    assert "plain mean" in table
    result.report(tmp_path / "times.md")
    page = (tmp_path / "times.md").read_text()
    assert "| arm | rewards | estimate | plain mean | interval |" in page
    assert result.means["srv3"] == pytest.approx(mean)


def test_a_single_outlier_is_spoken_of_in_the_singular() -> None:
    log = latencies(outliers=1)
    log.loc[log.reward < -1e4, "reward"] = -1e6
    said = str(identify_log(log, epsilon=0.01, sigma=20))
    assert said.endswith(": 1 reward that the evidence discounts pulls it down.")


def random_log(seed: int, kind: str) -> tuple[Any, dict[str, Any]]:
    """A log with fakes far out, or in the bounds; some arms have few rewards, some logs counts of whole stars."""
    random = np.random.default_rng([22, seed])
    bounded = bool(random.integers(2)) or kind == "sources"
    epsilon = float(random.choice([0.0, 0.002, 0.01, 0.05] if kind != "sources" else [0.0, 0.002]))
    arms = {}
    for name in "ABCDE"[: random.integers(2, 6)]:
        size = int(random.choice([3, 600, 2500, 4000]))
        rewards = np.clip(random.normal(random.uniform(1.5, 4.5), 1.0, size), 1.0, 5.0)
        rewards = np.round(rewards) if random.integers(2) else rewards
        fakes = random.random(size) < epsilon
        far = 1.0 if random.integers(2) else -1.0
        rewards[fakes] = (5.0 if far > 0 else 1.0) if bounded else 3.0 + far * random.choice([3.0, 30.0, 3e4])
        arms[name] = rewards
    noise: dict[str, Any] = {"bounds": (1, 5)} if bounded else {"sigma": 1.0}
    question = {"epsilon": epsilon, "contamination": kind, **noise}
    if kind == "sources":
        log = frame(arms).sample(frac=1.0, random_state=seed)
        log["source"] = random.integers(0, 2 * len(log), len(log))
        return log, question
    pairs = [np.unique(each, return_counts=True) for each in arms.values()]
    values, counts = zip(*pairs, strict=True)
    return Rewards(tuple(arms), values, counts), question


def check_intervals(rows: tuple[ba.ArmRow, ...]) -> None:
    for row in rows:
        if row.lower <= row.upper and not math.isnan(row.estimate):
            assert row.lower - 1e-9 <= row.estimate <= row.upper + 1e-9


def check_numbers(result: ba.Result) -> None:
    rows = {row.label: row for row in result.arms}
    check_intervals(result.arms)
    if result.best is None:
        return
    highest = max((row for row in result.arms if not math.isnan(row.estimate)), key=lambda row: row.estimate)
    if highest.label != result.best and highest.estimate > rows[result.best].estimate:
        assert "ruled out" in str(result)


@pytest.mark.parametrize("kind", KINDS)
def test_estimates_of_any_log_lie_in_their_intervals_and_do_not_contradict_the_winner(kind: str) -> None:
    named = 0
    for seed in range(8 if kind == "sources" else 16):
        log, question = random_log(seed, kind)
        result = identify_log(log, **question)
        check_numbers(result)
        named += result.best is not None
        if question["epsilon"] == 0.0 and not result.alarms:  # nothing is discounted where nothing is far out
            for row in result.arms:
                assert row.estimate == pytest.approx(result.means[row.label])
        if result.bounds is not None:
            assert result.middle == "mean"
    assert named >= 2


@pytest.mark.parametrize("noise", [{"bounds": (1.0, 5.0)}, {"sigma": 1.0}])
@pytest.mark.parametrize("epsilon", [0.0, 0.02])
def test_live_estimates_lie_in_their_intervals_and_do_not_contradict_the_winner(
    noise: dict[str, Any], epsilon: float
) -> None:
    for seed in range(3):
        random = np.random.default_rng([23, seed])
        finder = ba.Identifier(["A", "B", "C"], delta=0.1, epsilon=epsilon, **noise)
        told: dict[Any, list[float]] = {arm: [] for arm in finder.labels}
        while not finder.done and finder.pulls < 3000:
            arm = finder.ask()
            reward = float(np.clip(random.normal({"A": 2.2, "B": 3.0, "C": 3.4}[str(arm)], 0.8), 1.0, 5.0))
            if random.random() < epsilon:
                reward = 1.0 if "bounds" in noise else -1e4
            finder.tell(arm, reward)
            told[arm].append(reward)
            if finder.pulls % 97 == 0:
                check_intervals(finder.estimates)
        check_numbers(finder.result)
        for row in finder.estimates:
            if epsilon == 0.0 or "bounds" in noise:  # of the rewards of complete rounds
                rewards = told[row.label]
                means = [float(np.mean(rewards[: len(rewards) - late])) for late in (0, 1)]
                assert any(row.estimate == pytest.approx(mean) for mean in means)


def test_an_estimate_above_that_of_the_winner_is_explained() -> None:
    rows = (
        ba.ArmRow("A", 900, 2.0, 1.8, 2.2, True),
        ba.ArmRow("B", 900, 2.1, 1.9, 2.3, False),
    )
    base: dict[str, Any] = {"status": "identified", "best": "A", "pulls": 1800, "delta": 0.05, "epsilon": 0.01}
    more: dict[str, Any] = {"sigma": 1.0, "method": "certified", "arms": rows, "promise": "all is well", "leader": "A"}
    out = ba.Result(**base, **more, candidates=("A",), options={})
    assert "next 'B' with 2.1, which is ruled out: arms are compared in pairs" in str(out)
    near = ba.Result(**base, **more, candidates=("A", "B"), options={"good_enough": 0.5})
    assert "next 'B' with 2.1, which is not ruled out)" in str(near)
    by_source = ba.Result(**base, **more, candidates=("A",), options={"contamination": "sources"})
    assert "compared by what each source said of the two)" in str(by_source)


def test_the_dot_of_a_picture_is_the_estimate_that_is_printed() -> None:
    result = identify_log(latencies(), epsilon=0.01, sigma=20)
    lines: list[Any] = list(draw(result, curve=False).axes[0].lines)
    dots = [float(line.get_xdata()[0]) for line in lines if line.get_marker() == "o"]
    assert sorted(dots) == sorted(row.estimate for row in result.arms)


# ------------------------------------------------------------------------------------------ one number for one question


def conversions(ours: int, theirs: int = 2000) -> Rewards:
    """Of 40,000 visits to each of two pages so many bought something."""
    counts = tuple(np.array([40_000 - bought, bought]) for bought in (ours, theirs))
    return Rewards(("A", "B"), (np.array([0.0, 1.0]),) * 2, counts)


def normal_log() -> Rewards:
    random = np.random.default_rng(0)
    return Rewards(("A", "B"), tuple(np.sort(random.normal(mean, 1, 2000)) for mean in (0.5, 0.0)), None)


@pytest.mark.parametrize("kind", [*KINDS[:-1]])
@pytest.mark.parametrize("bounded", [True, False])
def test_what_a_log_survives_does_not_depend_on_the_epsilon_that_was_asked_about(kind: str, bounded: bool) -> None:
    logs = [conversions(number) for number in (2220, 2250, 2300)] if bounded else [normal_log()]
    noise: dict[str, Any] = {"bounds": (0, 1)} if bounded else {"sigma": 1.0}
    for log in logs:
        grid = (0.0, 0.0001, 0.000325, 0.001, 0.01, 0.05)
        results = [identify_log(log, epsilon=epsilon, contamination=kind, **noise) for epsilon in grid]
        assert len({result.overturn for result in results}) == 1
        assert len({result.tolerance for result in results}) == 1
        tolerance = results[0].tolerance
        assert tolerance is not None
        for result in results:
            assert (result.best == "A") == (result.epsilon <= tolerance)
            for row in result.sensitivity:
                assert (row.best == "A") == (row.epsilon <= tolerance)
            if kind == "share-of-all":
                assert (result.best == "A") == (result.replaced <= result.overturn)  # type: ignore[operator]
        beyond = identify_log(log, epsilon=1.002 * tolerance + 2 / 4000, contamination=kind, **noise)
        assert beyond.best is None


def test_a_small_tolerance_is_not_rounded_to_nothing() -> None:
    result = identify_log(conversions(2250), epsilon=0.0, stopping="any")
    assert result.tolerance == result.overturn / 80_000  # type: ignore[operator]
    assert "with epsilon up to 0.000412" in str(result)
    exact = identify_log(conversions(2250), epsilon=0.0)
    assert (exact.overturn, exact.tolerance) == (143, 143 / 80_000)
    assert "with epsilon up to 0.00178" in str(exact)
    none = identify_log(conversions(2215), epsilon=0.0, stopping="any")
    assert (none.best, none.overturn, none.tolerance) == ("A", 0, 0.0)
    assert "single it out only at epsilon = 0" in str(none)


def test_tolerance_counts_what_is_missing_and_what_sources_say() -> None:
    random = np.random.default_rng(8)
    log = frame({"A": random.binomial(1, 0.8, 900) * 1.0, "B": random.binomial(1, 0.4, 900) * 1.0}).sample(
        frac=1.0, random_state=1
    )
    log["source"] = np.arange(len(log))
    result = identify_log(log, source="source", epsilon=0.01, bounds=(0, 1))
    assert result.best == "A"
    assert result.overturn is not None
    assert result.tolerance == result.overturn / 1800
    lost = log.drop(columns="source")
    lost.loc[lost.index[:9], "reward"] = np.nan
    partly = identify_log(lost, epsilon=0.01, bounds=(0, 1), missing="replaced")
    assert partly.overturn is not None
    assert partly.tolerance == (partly.overturn + 9) / 1800
    again = identify_log(lost, epsilon=partly.tolerance, bounds=(0, 1), missing="replaced")
    assert (again.best, again.overturn, again.tolerance) == ("A", partly.overturn, partly.tolerance)


def places(log: pd.DataFrame, folder: Path, *words: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The JSON of a verdict, and every text that is printed, written or drawn about it."""
    log.to_csv(path := folder / "log.csv", index=False)
    command = ["identify", str(path), "--arm", "arm", "--reward", "reward", *words]

    def run(*more: str) -> str:
        done = CliRunner(env={"COLUMNS": "100"}).invoke(app, [*command, *more])
        assert done.exit_code in (0, 3), done.output
        return done.stdout

    found = json.loads(run("--format", "json"))
    texts = {"table": run("--explain", "--report", str(folder / "page.md"), "--plot", str(folder / "page.svg"))}
    texts["csv"], texts["page"] = run("--format", "csv"), (folder / "page.md").read_text()
    texts["page"] = texts["page"].replace("\\", "")
    texts = {name: text if name == "csv" else " ".join(text.split()) for name, text in texts.items()}
    return found, {**texts, "sentence": found["verdict"], "drawing": (folder / "page.svg").read_text()}


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("epsilon", ["0", "0.0004", "0.03", "0.1"])
def test_every_place_prints_the_same_numbers(tmp_path: Path, epsilon: str, sequential: bool) -> None:
    random = np.random.default_rng(6)
    log = frame({name: random.binomial(1, p, 1500) * 1.0 for name, p in (("A", 0.6), ("B", 0.45), ("C", 0.2))})
    log = log.sample(frac=1.0, random_state=2)
    words = ["--bounds", "0,1", "--epsilon", epsilon, *(["--sequential"] if sequential else [])]
    found, texts = places(log, tmp_path, *words)
    name = found["best"] or found["leader"]
    assert name == "A"
    if found["tolerance"]:
        tolerance = share_shown(found["tolerance"])
        for where in ("sentence", "table", "page"):
            assert tolerance in texts[where]
        if not sequential:
            assert (
                f"A alone, to {tolerance}"
                in "".join(re.findall(r"<!-- (.*?) -->", texts["drawing"])) + texts["drawing"]
            )
    assert "epsilon up to 0," not in texts["table"]
    assert "epsilon up to 0;" not in texts["sentence"]
    if found["overturn"]:
        for where in ("sentence", "table", "page"):
            assert re.search(rf"\b{found['overturn']:,} (fake|replaced|reward)", texts[where]), where
    rows = {row["label"]: row for row in csv.DictReader(io.StringIO(texts["csv"]))}
    for arm in found["arms"]:
        assert float(rows[arm["label"]]["estimate"]) == pytest.approx(arm["estimate"])
        assert f"{arm['estimate']:.4g}" in texts["table"]
        assert f"{arm['estimate']:.4g}" in texts["page"]
    if found["limit"] == "budget":
        for said in ("ore rewards may decide it", "cannot be forecast"):
            assert (said in texts["page"]) == (said in texts["sentence"]) == (said in texts["table"])


def test_a_log_without_a_forecast_does_not_say_that_more_rewards_may_decide_it(tmp_path: Path) -> None:
    """All arms are alike: no number of such rewards would tell them apart."""
    log = frame({"A": [0.0, 1.0] * 100, "B": [0.0, 1.0] * 100})
    found, texts = places(log, tmp_path, "--bounds", "0,1", "--epsilon", "0.0")
    assert (found["limit"], found["more"]) == ("budget", {})
    for where in ("sentence", "table", "page"):
        assert "not even a thousand times as many of this kind would" in texts[where]
        assert "may decide" not in texts[where]
    assert "may decide" not in texts["drawing"]
