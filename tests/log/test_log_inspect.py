"""Inspecting logs: what is wrong is pointed at, what is right is not, at the stated rate."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from bestarm.identification.wording.log_lines import LineWords
from bestarm.log.inspect import inspect_log
from bestarm.log.inspection import watch
from bestarm.log.inspection.shapes import RATE, shapes
from bestarm.log.reading.database import Database
from bestarm.log.rewards import Rewards
from bestarm.log.verdict import identify_log
from contest import contest as contest_of_voters
from places import DATA, needs_files


def kinds(frame: pd.DataFrame, **options: object) -> list[str]:
    return [suspicion.kind for suspicion in inspect_log(frame, **options).suspicions]  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------------------- histograms


@needs_files
@pytest.mark.parametrize(
    ("contest", "winner"), [(536, "Sometimes a dipstick is just a dipstick."), (555, "I'll never let go."), (651, None)]
)
def test_the_winners_of_two_contests_are_pointed_at_and_nothing_in_the_third(contest: int, winner: str | None) -> None:
    found = inspect_log(next((DATA / "nycc").glob(f"{contest}_*.csv")))
    assert [suspicion.what[0] for suspicion in found.suspicions][:1] == ([winner] if winner else [])
    assert len(found.suspicions) <= 2  # the second of 536 has 7 % "somewhat funny", where its like have 27 %
    assert all(suspicion.kind == "histogram" for suspicion in found.suspicions)


def contest(
    generator: np.random.Generator,
    arms: int,
    rewards: float,
    scatter: float,
    base: tuple[float, ...],
    spread: float = 0.6,
) -> NDArray[np.float64]:
    """Return counts of a contest whose arms scatter around a tilted family."""
    values = np.arange(1.0, len(base) + 1.0)
    weight = np.array(base) * np.exp(spread * generator.normal(size=(arms, 1)) * (values - values.mean()))
    shares = weight / weight.sum(axis=1, keepdims=True)
    if scatter:
        shares = np.array([generator.dirichlet(row * (1.0 / scatter - 1.0)) for row in shares])
    numbers = np.maximum(generator.lognormal(np.log(rewards), 0.4, arms), 5.0).astype(int)
    return np.array([generator.multinomial(n, row) for n, row in zip(numbers, shares, strict=True)], np.float64)


def as_rewards(table: NDArray[np.float64]) -> Rewards:
    values = np.arange(1.0, table.shape[1] + 1.0)
    seen = [row > 0 for row in table]
    return Rewards(
        tuple(str(arm) for arm in range(len(table))),
        tuple(values[where] for where in seen),
        tuple(row[where].astype(np.int64) for row, where in zip(table, seen, strict=True)),
    )


CLEAN = [
    (6, 300.0, 0.0, (0.3, 0.3, 0.2, 0.1, 0.1)),
    (20, 1000.0, 0.0, (0.1, 0.1, 0.2, 0.3, 0.3)),
    (20, 1000.0, 0.01, (0.1, 0.1, 0.2, 0.3, 0.3)),
    (300, 40.0, 0.0, (0.6, 0.3, 0.1)),
    (300, 200.0, 0.004, (0.6, 0.3, 0.1)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("arms", "rewards", "scatter", "base"), CLEAN)
def test_clean_contests_raise_nothing_at_the_stated_rate(
    arms: int, rewards: float, scatter: float, base: tuple[float, ...]
) -> None:
    generator = np.random.default_rng(arms)
    smallest = []
    for _ in range(150):
        found = shapes(as_rewards(contest(generator, arms, rewards, scatter, base)))
        if found is not None:  # of six arms, two may be too near the end of the scale to be judged
            smallest.append(found.p_values.min() * found.judged.sum())
    assert len(smallest) > 130
    # RATE = 0.001 can't be seen in 150 contests; so also at fifty times the rate, where 7.5 are due at most.
    assert np.count_nonzero(np.array(smallest) <= RATE) <= 2
    due = int(stats.binom.isf(1e-4, 150, 50.0 * RATE))
    assert np.count_nonzero(np.array(smallest) <= 50.0 * RATE) <= due


@pytest.mark.parametrize(
    ("arms", "rewards", "scatter", "base", "fake"),
    [
        (20, 1000.0, 0.0, (0.1, 0.1, 0.2, 0.3, 0.3), 1500),
        (300, 200.0, 0.004, (0.6, 0.3, 0.1), 400),
        (1000, 300.0, 0.004, (0.7, 0.2, 0.1), 1000),
    ],
)
def test_a_stuffed_arm_is_found_and_no_other(
    arms: int, rewards: float, scatter: float, base: tuple[float, ...], fake: int
) -> None:
    generator = np.random.default_rng(arms)
    hits = others = 0
    told = []
    for _ in range(20):
        table = contest(generator, arms, rewards, scatter, base)
        means = table @ np.arange(1.0, len(base) + 1.0) / table.sum(axis=1)
        arm = int(np.argsort(means)[arms // 2])
        table[arm, -1] += fake
        found = shapes(as_rewards(table))
        assert found is not None
        hits += arm in found.strange.tolist()
        others += int(np.count_nonzero(found.strange != arm))
        told.append(found.stuffed(arm, len(base) - 1))
        assert found.misfits(arm) <= 1.1 * fake  # the least number that explains it
    assert hits >= 18
    assert others <= 1
    assert np.median(told) == pytest.approx(fake, rel=0.15)


def test_continuous_rewards() -> None:
    generator = np.random.default_rng(4)
    rows = [generator.normal(arm / 5.0, 1.0, 800) for arm in range(10)]
    labels = tuple("abcdefghij")
    clean = shapes(Rewards(labels, tuple(np.sort(row) for row in rows), None))
    assert clean is not None
    assert clean.strange.size == 0
    rows[3] = np.concatenate([rows[3], np.full(300, 5.0)])
    planted = shapes(Rewards(labels, tuple(np.sort(row) for row in rows), None))
    assert planted is not None
    assert planted.strange.tolist() == [3]


# --------------------------------------------------------------------------------------------------- sources and bursts


def votes(seed: int, voters: int = 1500) -> pd.DataFrame:
    """Return an honest log: each voter rates some of 20 captions, busy ones more, at some time of three days."""
    generator = np.random.default_rng(seed)
    many = np.minimum(generator.lognormal(2.6, 0.6, voters).astype(int) + 1, 200)
    voter = np.repeat(np.arange(voters), many)
    caption = generator.choice(20, voter.size, p=generator.dirichlet(np.full(20, 8.0)))
    hour = generator.beta(2.0, 3.0, voter.size) * 24.0 + 24.0 * generator.integers(0, 3, voter.size)
    stars = 1 + generator.binomial(4, 0.3 + 0.015 * caption)
    when = pd.Timestamp("2024-05-01") + pd.to_timedelta(hour, unit="h")
    return pd.DataFrame({"timestamp": when, "voter_id": voter, "caption": caption, "stars": stars})


def bots(seed: int, number: int = 40, each: int = 60, hours: float = 72.0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    when = pd.Timestamp("2024-05-01") + pd.to_timedelta(generator.uniform(24.0, 24.0 + hours, number * each), unit="h")
    voter = np.repeat([f"bot{place}" for place in range(number)], each)
    return pd.DataFrame({"timestamp": when, "voter_id": voter, "caption": 3, "stars": 5})


def test_an_honest_log_raises_nothing() -> None:
    assert [kinds(votes(seed)) for seed in range(6)] == [[]] * 6


def test_bots_are_found_by_their_source_and_told_as_an_epsilon() -> None:
    log = pd.concat([votes(1), bots(1)]).sample(frac=1.0, random_state=1)
    found = inspect_log(log)
    devoted = next(each for each in found.suspicions if each.kind == "devoted sources")
    assert set(devoted.what) == {f"bot{place}" for place in range(40)}
    assert devoted.rewards == 2400
    assert devoted.share == pytest.approx(2400 / len(log))
    assert devoted.sentence.count("give nearly all their ratings to 3.") == 1
    assert f"epsilon = {40 / 1540:.2g} of the voters" in devoted.sentence
    assert [each.what for each in found.suspicions if each.kind == "histogram"] == [("3",)]


def clicks(seed: int, bots: int, *, fans: float = 0.0) -> pd.DataFrame:
    """Return clicks on three banners, B the best by chance .05; bots click C ten times, fans whatever they see."""
    random = np.random.default_rng([71, seed])
    user, banner = random.integers(0, 3000, 12_000), random.integers(0, 3, 12_000)
    rate = np.where(random.random(3000) < fans, 0.97, 0.05)
    clicked = random.random(12_000) < rate[user]
    real = pd.DataFrame({"user": user, "banner": np.array(list("ABC"))[banner], "clicked": clicked.astype(int)})
    fakes = pd.DataFrame({"user": 5000 + np.arange(10 * bots) % max(bots, 1), "banner": "C", "clicked": 1})
    return pd.concat([real, fakes])


def test_sources_that_reward_one_arm_every_time_are_found() -> None:
    (found,) = [each for each in inspect_log(clicks(1, 20)).suspicions if each.kind == "generous sources"]
    assert set(found.what) == {str(user) for user in range(5000, 5020)}
    assert found.rewards == 200
    assert "reward C every time (in 100 % of their visits with it, where others do in 4.9 %)" in found.sentence


@pytest.mark.parametrize("fans", [0.0, 0.01, 0.05, 0.3])
def test_people_who_like_whatever_they_see_are_not_accused(fans: float) -> None:
    kinds = {each.kind for seed in range(8) for each in inspect_log(clicks(seed, 0, fans=fans)).suspicions}
    assert "generous sources" not in kinds


def reviews(seed: int, puppets: int, favourites: float = 0.0) -> pd.DataFrame:
    """Stars for three films by people who are lenient or strict, and may have a favourite; puppets give C ten fives."""
    random = np.random.default_rng([24, seed])
    many = 1 + random.poisson(5, 1200)
    who = np.repeat(np.arange(many.size), many)
    favourite = random.integers(0, 3, many.size)[who]
    film = np.where(random.random(who.size) < favourites, favourite, random.integers(0, 3, who.size))
    liking = random.normal(3.5, 0.6, many.size)[who] + favourites * (film == favourite)
    stars = np.clip(np.rint(random.normal(liking, 0.9)), 1, 5).astype(int)
    real = pd.DataFrame({"reviewer": who, "film": np.array(list("ABC"))[film], "stars": stars})
    fakes = pd.DataFrame({"reviewer": 5000 + np.arange(10 * puppets) % max(puppets, 1), "film": "C", "stars": 5})
    return pd.concat([real, fakes])


def test_sock_puppets_that_give_one_film_few_ratings_but_only_the_best_are_found() -> None:
    rigged = reviews(1, 60)
    (found,) = [each for each in inspect_log(rigged).findings if each.kind == "generous sources"]
    assert set(found.what) == {str(who) for who in range(5000, 5060)}
    assert found.text == "60 reviewers give C the highest stars every time (600 ratings, 7.7 %)"
    result = identify_log(rigged, bounds=(1, 5))
    assert (result.best, result.trusted) == ("C", False)


@pytest.mark.parametrize("favourites", [0.0, 0.3, 0.7])
def test_people_with_a_favourite_are_not_accused(favourites: float) -> None:
    found = {each.kind for seed in range(6) for each in inspect_log(reviews(seed, 0, favourites)).findings}
    assert found <= {"clusters"}


def test_busy_sources_are_found() -> None:
    busy = votes(2).assign(voter_id="x", stars=3).head(900)
    found = inspect_log(pd.concat([votes(1), busy]), time=False)
    assert [(each.kind, each.what, each.rewards) for each in found.suspicions] == [("busy sources", ("x",), 900)]


def test_sources_that_all_keep_to_one_arm_are_how_the_arms_were_given() -> None:
    generator = np.random.default_rng(3)
    user = np.repeat(np.arange(500), 20)
    frame = pd.DataFrame({"user": user, "variant": user % 4, "clicked": generator.integers(0, 2, user.size)})
    found = inspect_log(frame)
    assert found.suspicions == ()
    assert found.notes == ("Most sources keep to one arm, so that seems to be how arms were given to them.",)


def test_a_burst_is_found_without_sources() -> None:
    log = pd.concat([votes(1), bots(1, number=10, hours=1.0).assign(stars=3)]).drop(columns="voter_id")
    found = [each for each in inspect_log(log).suspicions if each.kind == "burst"]
    assert [each.what for each in found] == [("3",)]
    assert found[0].rewards == pytest.approx(600, rel=0.25)
    assert kinds(log, time=False) in ([], ["histogram"])


def by_day(seed: int, before: float, after: float, rows: int = 20_000) -> pd.DataFrame:
    """A log that says only the day, with the shares of variant A in its first and second week."""
    random = np.random.default_rng(seed)
    day = random.integers(0, 14, rows)
    return pd.DataFrame(
        {
            "day": [f"2025-09-{1 + number:02d}" for number in day],
            "variant": np.where(random.random(rows) < np.where(day < 7, before, after), "A", "B"),
            "converted": random.binomial(1, 0.06, rows),
        }
    )


@pytest.mark.parametrize("every", [1, 4])
def test_many_rewards_of_one_day_are_no_change_of_the_shares_of_the_arms(
    every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if every > 1:
        monkeypatch.setattr(watch, "LARGEST_TABLE", 1000)
        monkeypatch.setattr(watch, "_SAMPLE", 5000)
    assert [kinds(by_day(seed, 0.5, 0.5)) for seed in range(4)] == [[]] * 4
    assert kinds(by_day(1, 0.3, 0.7)) == ["split"]


def around_the_clock(seed: int, better: float, evening: float = 0.05) -> pd.DataFrame:
    """A week in which variant B is shown mostly in the evening, when everybody converts more often."""
    random = np.random.default_rng(seed)
    seconds = np.sort(random.integers(0, 7 * 86_400, 20_000))
    late = seconds % 86_400 >= 18 * 3600
    is_b = random.random(seconds.size) < np.where(late, 0.8, 0.3)
    return pd.DataFrame(
        {
            "created_at": pd.Timestamp("2025-09-01") + pd.to_timedelta(seconds, unit="s"),
            "variant": np.where(is_b, "B", "A"),
            "converted": random.binomial(1, 0.1 + better * is_b + evening * late),
        }
    )


def test_shares_that_follow_the_hour_of_the_day_are_compared_within_hours() -> None:
    wrong, right = identify_log(around_the_clock(0, -0.01)), identify_log(around_the_clock(0, 0.03))
    assert (wrong.best, wrong.trusted, right.best, right.trusted) == ("B", False, "B", True)
    assert wrong.doubts == (
        "The shares of the variants change with the hour of the day: within hours, B does not lead A.",
    )
    steps = [str(step) for step in LineWords(wrong).next_steps()]
    assert steps[0] == "block='hour' compares within hours."
    assert not any("within hours" in str(step) for step in LineWords(right).next_steps())
    assert identify_log(around_the_clock(0, -0.01), block="hour").best != "B"


def test_hours_of_users_who_keep_to_an_arm_are_no_change_of_the_shares() -> None:
    log = around_the_clock(0, 0.03)
    regulars = log.assign(user=log["created_at"].dt.hour.astype(str) + log["variant"] + (log.index % 40).astype(str))
    assert "split" in kinds(log)
    assert "split" not in kinds(regulars)


def test_a_late_arm_is_told_in_whole_sentences() -> None:
    log = around_the_clock(0, 0.0, evening=0.0)
    found = inspect_log(log[(log["variant"] == "A") | (log["created_at"] >= "2025-09-04")]).findings
    (late,) = [finding for finding in found if finding.kind == "late arm"]
    assert late.details.startswith("The variant B starts after ")


def test_days_without_any_success_of_an_arm_are_found_together() -> None:
    log = by_day(1, 0.5, 0.5)
    broken = log["day"].isin(["2025-09-05", "2025-09-06"]) & (log["variant"] == "A")
    log.loc[broken, "converted"] = 0
    (found,) = inspect_log(log).findings
    assert found.text == "2025-09-05 and 2025-09-06 are unlike the other days"
    result = identify_log(log)
    assert result.best == "B"
    assert result.doubts == (f"{found.text}: without those days, B does not lead A.",)


def test_an_uneven_split_is_told_without_a_claim_about_the_answer() -> None:
    random = np.random.default_rng(0)
    variant = np.repeat(["A", "B"], [10_400, 9_600])
    log = pd.DataFrame({"variant": variant, "converted": random.binomial(1, np.where(variant == "A", 0.15, 0.1))})
    result = identify_log(log.sample(frac=1.0, random_state=1))
    assert [finding.kind for finding in result.findings] == ["sample ratio"]
    said = "The split is uneven: 10,400 visits for A, 9,600 for B: if it was to be even, find out why it is not."
    assert result.lines[2] == said
    assert result.trusted


def test_rows_written_twice_are_counted() -> None:
    log = votes(1)
    found = inspect_log(pd.concat([log, log.head(500)]))
    assert [(each.kind, each.rewards) for each in found.suspicions] == [("duplicates", 500)]


@pytest.mark.parametrize("seed", range(12))
def test_a_doubled_export_of_two_columns_is_told_from_counts_that_are_even_by_chance(seed: int) -> None:
    """With two arms and 0/1 rewards all four counts are even in one log of sixteen: the order of the file decides."""
    random = np.random.default_rng(seed)
    counts = 2 * random.integers(20, 60, 4)
    log = pd.DataFrame({"arm": np.repeat(["A", "A", "B", "B"], counts), "reward": np.repeat([0, 1, 0, 1], counts)})
    log = log.sample(frac=1.0, random_state=seed)
    assert kinds(log) == []
    (found,) = inspect_log(pd.concat([log, log])).findings
    assert found.text == f"every row is there twice ({len(log):,} of the {2 * len(log):,} rewards are copies)"
    for copies in (pd.concat([log, log]), log.loc[np.repeat(log.index, 2)], pd.concat([log, log, log])):
        assert kinds(copies.reset_index(drop=True)) == ["duplicates"]


# ------------------------------------------------------------------------------------------------------------- the page


def test_spread_and_what_it_supports() -> None:
    generator = np.random.default_rng(6)
    frame = pd.DataFrame({"arm": np.repeat(["a", "b"], 5000), "reward": generator.normal(size=10_000)})
    frame.loc[frame.arm == "b", "reward"] *= 2.0
    found = inspect_log(frame)
    assert [arm.sigma for arm in found.arms] == pytest.approx([1.0, 2.0], rel=0.06)
    assert found.supports[0].startswith("sigma = 2")
    assert len(found.supports) == 2
    frame.loc[:99, "reward"] = 1000.0  # the quartiles do not mind, and the tail is said
    assert [arm.sigma for arm in inspect_log(frame).arms] == pytest.approx([1.0, 2.0], rel=0.06)
    assert inspect_log(frame).supports[1].startswith("But 101 of 10,000 rewards (1 %)")
    stars = inspect_log(votes(1))
    assert stars.supports[0].startswith("bounds = (1, 5)")
    assert stars.supports[1] == "sigma = 2 is what these bounds imply, whatever the shape."


def test_the_page_and_the_dictionary_have_all_of_it() -> None:
    found = inspect_log(pd.concat([votes(1), bots(1)]))
    page = str(found)
    for sentence in (*found.supports, *found.health.sentences(), *(each.sentence for each in found.suspicions)):
        assert f"- {sentence}" in page
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["total"] == found.total
    assert [each["kind"] for each in plain["suspicions"]] == [each.kind for each in found.suspicions]


def test_what_is_bad_is_counted_not_refused(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("arm,reward\nA,1\nB,2\nB,\n,3\nA,x\nA,2\n")
    found = inspect_log(tmp_path / "log.csv")
    assert (found.total, found.health.missing, found.health.bad_rows) == (3, 1, 2)


# ------------------------------------------------------------------------------------- where an answer counts sources


def rigged_by_the_minute() -> pd.DataFrame:
    """A contest whose voters take ten minutes each; 40 bots give their 60 votes to a worse caption in as long."""
    votes = contest_of_voters(1, rigged=True).votes
    random = np.random.default_rng(5)
    begins = random.uniform(0.0, 14 * 86400.0, int(votes["voter"].max()) + 1)
    seconds = begins[votes["voter"].to_numpy()] + random.uniform(0.0, 600.0, len(votes))
    votes.insert(0, "timestamp", pd.Timestamp("2024-05-01") + pd.to_timedelta(seconds.round(), unit="s"))
    return votes


def test_what_is_found_is_counted_in_sources_where_the_answer_counts_them() -> None:
    result = identify_log(rigged_by_the_minute(), source="voter", bounds=(1, 5))
    found = {finding.kind: finding for finding in result.findings}
    assert (result.best, result.trusted) == ("A", True)
    burst = found["burst"]
    assert burst.rows is not None
    assert burst.rows > (result.overturn or 0)
    assert burst.sources is not None
    assert 10 <= burst.sources <= 60
    assert "the 3,490 voters" in result.lines[1]


def test_copies_of_rows_are_no_more_sources() -> None:
    votes = rigged_by_the_minute().query("voter < 3450")
    result = identify_log(pd.concat([votes, votes]), source="voter", bounds=(1, 5))
    (copies,) = (finding for finding in result.findings if finding.kind == "duplicates")
    assert (copies.rows, copies.sources) == (len(votes), 0)
    assert (result.best, result.trusted) == ("A", True)


def test_a_finding_between_the_epsilon_given_and_what_is_survived_is_said_to_be_more_than_was_allowed_for() -> None:
    result = identify_log(rigged_by_the_minute(), source="voter", bounds=(1, 5), epsilon=0.01)
    assert result.replaced == 34
    assert result.overturn is not None
    assert result.overturn > 40
    assert not result.trusted
    assert result.lines[2].startswith("40 voters look like bots")
    assert "more than the 1 % that you allow for" in result.lines[2]


def test_user_agents_are_counted_in_sources() -> None:
    votes = rigged_by_the_minute()
    votes["user_agent"] = np.where(votes["voter"] < 3450, "Mozilla/5.0", "python-requests/2.31")
    result = identify_log(votes, source="voter", bounds=(1, 5))
    (agents,) = (finding for finding in result.findings if finding.kind == "agents")
    assert (agents.rows, agents.sources) == (2400, 40)
    assert result.trusted


# ------------------------------------------------------------------------------------------ logs that are kept on disk


@pytest.mark.parametrize("has_room", [True, False])
@pytest.mark.parametrize("samples", [False, True])
def test_bots_are_found_in_a_log_that_is_too_large_for_memory(
    has_room: bool, samples: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    votes = rigged_by_the_minute()
    (expected, *_) = inspect_log(votes).findings
    monkeypatch.setattr(watch, "LARGEST_TABLE", 1000)
    if samples:
        monkeypatch.setattr(watch, "_SAMPLE", 1000)
        monkeypatch.setattr(watch, "_MOST_GROUPS", 1000)
    if not has_room:
        monkeypatch.setattr(Database, "on_disk", lambda *_, **__: False)
    (found, *_) = inspect_log(votes).findings
    assert found == expected
    assert (found.kind, found.rows, found.sources) == ("devoted sources", 2400, 40)


def test_a_table_that_cannot_be_written_leaves_no_file_open(tmp_path: Path) -> None:
    with contextlib.closing(Database(tmp_path, None)) as database:
        for _ in range(2):  # there are no cells to make it of
            assert not database.on_disk("watched_few", target="TABLE disk.watched", scale=1.0, copies="")


@pytest.mark.parametrize("column", ["device", "traffic_source", "device_type", "gender"])
def test_shares_that_differ_by_what_a_visit_comes_with_take_an_answer_away(column: str) -> None:
    random = np.random.default_rng(62)
    kind, chance = random.random(20_000) < 0.7, random.random(20_000)
    is_b = chance < np.where(kind, 0.2, 0.8)
    bought = random.random(20_000) < np.where(kind, 0.05, 0.15) - 0.02 * is_b
    log = pd.DataFrame({"variant": np.where(is_b, "b", "a"), "converted": bought.astype(int)})
    result = identify_log(log.assign(**{column: np.where(kind, "one", "two")}))
    assert (result.best, result.trusted) == ("b", False)
    assert result.doubts[0].endswith(f"within the same {column}, a leads b.")
    devices = [f"d{each}" for each in random.integers(0, 15_000, len(log))]
    other = identify_log(log.assign(device=devices, os=np.where(kind, "one", "two")))
    assert other.doubts[0].endswith("within the same os, a leads b.")


def test_shares_that_differ_by_country_take_an_answer_away_that_falls_within_countries() -> None:
    random = np.random.default_rng(61)
    parts = []
    for country, rates, visits in (("DE", (0.09, 0.05), (6000, 900)), ("US", (0.30, 0.25), (900, 6000))):
        for arm, rate, number in zip("AB", rates, visits, strict=True):
            parts.append(pd.DataFrame({"page": arm, "country": country, "bought": random.binomial(1, rate, number)}))
    log = pd.concat(parts)
    result = identify_log(log, arm="page", reward="bought")
    assert result.best == "B"
    assert not result.trusted
    assert result.doubts == ("The shares of the pages differ by country: within the same country, A leads B.",)
    assert any("block='country'" in str(step) for step in LineWords(result).next_steps())
    within = identify_log(log, arm="page", reward="bought", block="country")
    assert within.best == "A"
    assert within.trusted
    assert not [finding for finding in within.findings if finding.kind == "mixture"]
    against = identify_log(log, arm="page", reward="bought", control="A")
    assert against.comparisons[0].doubts == result.doubts


@pytest.mark.parametrize(("in_us", "trusted"), [(0.8, False), (0.5, True)])
def test_days_do_not_hide_that_shares_differ_by_country(in_us: float, trusted: bool) -> None:
    """A late arm, compared within days, that was shown mostly in the country that buys more, or alike in both."""
    random = np.random.default_rng(63)
    day, is_us = random.integers(0, 14, 20_000), random.random(20_000) < 0.5
    is_new = random.random(20_000) < np.where(day < 5, 0.0, np.where(is_us, in_us, 1.0 - in_us))
    lead = 0.05 if trusted else -0.02
    log = pd.DataFrame(
        {
            "page": np.where(is_new, "new", "old"),
            "country": np.where(is_us, "US", "IN"),
            "date": pd.Timestamp("2025-01-01") + pd.to_timedelta(day, unit="D"),
            "bought": random.binomial(1, np.where(is_us, 0.3, 0.1) + lead * is_new),
        }
    )
    result = identify_log(log)
    assert result.within is not None
    assert result.within.by == "day"
    assert (result.best, result.trusted) == ("new", trusted)
    said = "The shares of the pages differ by country: within the same country, old leads new."
    assert result.doubts == (() if trusted else (said,))


def test_shares_that_are_the_same_in_each_country_are_no_news() -> None:
    random = np.random.default_rng(62)
    for _ in range(20):
        country = random.choice(["DE", "FR", "US", "BR"], 4000, p=[0.5, 0.3, 0.15, 0.05])
        page = random.choice(["A", "B"], 4000)
        chance = pd.Series(country).map({"DE": 0.1, "FR": 0.2, "US": 0.3, "BR": 0.4})
        log = pd.DataFrame({"page": page, "country": country, "bought": random.binomial(1, chance)})
        assert not [each for each in inspect_log(log, arm="page", reward="bought").suspicions if each.kind == "mixture"]
