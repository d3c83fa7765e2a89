"""Many trials: each the same as asking and telling on the same stream, whoever runs it; and what is made of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

import bestarm as ba
from bestarm import adversaries
from bestarm.errors import InputError
from bestarm.methods import METHODS
from bestarm.simulation import trial_seeds
from bestarm.simulation.seeds import TrialSeeds, generator, method_seed, next_seeds, take_seeds

ARMS = [ba.Gaussian(2.5), ba.Gaussian(1.5), ba.Gaussian(0.6)]
SHIFTS = [-0.5, 0.5, 1.0]
BANDIT = ba.Bandit(ARMS, epsilon=0.1, adversary=adversaries.Shift(SHIFTS))

every_method = pytest.mark.parametrize("method", sorted(METHODS))


def short(method: str) -> dict[str, Any]:
    """Options for short runs, as far as the method has them."""
    has = {option.name for option in METHODS[method].options}
    return {name: value for name, value in (("alpha", 0.2), ("exploration", "chernoff")) if name in has}


def simulated(method: str, bandit: ba.Bandit = BANDIT, **changes: Any) -> ba.Trials:
    return ba.simulate(bandit, method, **{"delta": 0.1, "trials": 8, "seed": 5, **short(method), **changes})


def by_hand(
    method: str, bandit: ba.Bandit, child: np.random.SeedSequence, cap: float = math.inf, **asked: Any
) -> ba.Identifier:
    """One trial by asking and telling, on the stream of its seed."""
    if METHODS[method].random:
        asked["seed"] = method_seed(child)
    finder = ba.Identifier(len(bandit.arms), method=method, **{"delta": 0.1, **short(method), **asked})
    stream = bandit.stream(child)
    while not finder.done and finder.pulls < cap:
        arm = finder.ask()
        assert isinstance(arm, int)
        finder.tell(arm, stream.pull(arm))
    return finder


def assert_same(trials: ba.Trials, finders: list[ba.Identifier]) -> None:
    results = [finder.result for finder in finders]
    assert trials.pulls.tolist() == [result.pulls for result in results]
    assert trials.answers.tolist() == [-1 if result.best is None else result.best for result in results]
    assert trials.arm_pulls.tolist() == [[row.pulls for row in result.arms] for result in results]
    assert trials.statuses.tolist() == [result.status for result in results]


def assert_equal(one: ba.Trials, other: ba.Trials) -> None:
    for name in ("pulls", "answers", "correct", "arm_pulls", "statuses"):
        assert getattr(one, name).dtype == getattr(other, name).dtype
        assert getattr(one, name).tolist() == getattr(other, name).tolist()


# ---------------------------------------------------------------------------------------------------- trial by trial


@every_method
def test_a_trial_is_asking_and_telling_on_its_stream(method: str) -> None:
    trials = simulated(method)
    finders = [by_hand(method, BANDIT, child, epsilon=0.1, sigma=1.0) for child in trial_seeds(5, 8)]
    assert_same(trials, finders)
    assert trials.pulls.dtype == trials.answers.dtype == trials.arm_pulls.dtype == np.int64
    assert trials.correct.tolist() == [answer == 0 for answer in trials.answers]
    assert len(set(trials.pulls.tolist())) > 1
    assert trials.settings == {
        "method": method,
        "options": finders[0].result.options | ({"seed": 0} if METHODS[method].random else {}),
        "delta": 0.1,
        "epsilon": 0.1,
        "sigma": 1.0,
        "arms": 3,
        "max_pulls": None,
        "seed": 5,
    }


@every_method
def test_a_capped_trial_is_undecided_and_names_no_arm(method: str) -> None:
    """The cap is the median: some trials end by themselves, the others have it as their number of pulls."""
    free = simulated(method)
    cap = int(np.median(free.pulls))
    trials = simulated(method, max_pulls=cap)
    assert_same(trials, [by_hand(method, BANDIT, child, cap, epsilon=0.1, sigma=1.0) for child in trial_seeds(5, 8)])
    ended = free.pulls <= cap
    assert 0 < ended.sum() < 8
    assert trials.pulls.tolist() == np.minimum(free.pulls, cap).tolist()
    assert trials.answers.tolist() == np.where(ended, free.answers, -1).tolist()
    assert trials.statuses.tolist() == np.where(ended, free.statuses, "undecided").tolist()
    assert not trials.correct[~ended].any()
    assert trials.undecided == trials.summary()["undecided"] == (8 - ended.sum()) / 8
    assert trials.settings["max_pulls"] == cap


@every_method
def test_python_functions_that_draw_the_same_stream_give_the_same_trials(method: str) -> None:
    def draw(mean: float) -> ba.CustomArm:
        return ba.CustomArm(lambda rng: mean + 1.0 * rng.standard_normal(), mean, 1.0)

    def attack(rng: np.random.Generator, arm: int, pulls: int, clean: float) -> float:
        return clean + SHIFTS[arm]

    expected = simulated(method, trials=4)
    for bandit in (
        ba.Bandit(ARMS, epsilon=0.1, adversary=attack),
        ba.Bandit([draw(arm.mean) for arm in ARMS], epsilon=0.1, adversary=attack),
    ):
        assert not bandit.compiled
        assert_equal(simulated(method, bandit, trials=4), expected)


@pytest.mark.parametrize("method", ["se-cbai", "random", "certified"])
def test_the_number_of_workers_changes_nothing(method: str) -> None:
    one, two, three = (simulated(method, trials=60, workers=workers, chunk=25) for workers in (1, 2, 3))
    assert_equal(one, two)
    assert_equal(one, three)
    assert one.settings == two.settings == three.settings
    assert_equal(one, simulated(method, trials=60))
    seeds = trial_seeds(5, 60)
    for place in (0, 24, 25, 59):
        finder = by_hand(method, BANDIT, seeds[place], epsilon=0.1, sigma=1.0)
        assert [row.pulls for row in finder.estimates] == one.arm_pulls[place].tolist()
    few = simulated(method, trials=26, workers=2)  # and fewer trials are the first of more
    assert few.pulls.tolist() == one.pulls[:26].tolist()
    assert few.arm_pulls.tolist() == one.arm_pulls[:26].tolist()


def test_workers_change_nothing_for_python_functions() -> None:
    bandit = ba.Bandit(ARMS, epsilon=0.1, adversary=lambda rng, arm, pulls, clean: clean + SHIFTS[arm])
    trials = [simulated("mean-se", bandit, trials=55, workers=workers) for workers in (1, 2, 3)]
    assert_equal(trials[0], trials[1])
    assert_equal(trials[0], trials[2])
    assert_equal(trials[0], simulated("mean-se", trials=55))


def test_every_random_trial_draws_arms_of_its_own() -> None:
    seeds = [method_seed(child) for child in trial_seeds(5, 100)]
    assert len(set(seeds)) == 100
    words = trial_seeds(5, 1)[0].generate_state(4, np.uint64).tolist()  # of the trial's generator of rewards
    assert seeds[0] not in words
    assert len({tuple(row) for row in simulated("random", trials=8).arm_pulls.tolist()}) == 8


# -------------------------------------------------------------------------------------------------------------- seeds


def test_every_kind_of_seed() -> None:
    expected = simulated("mean-se", seed=7)
    for seed in (np.random.SeedSequence(7), np.random.default_rng(7), np.int64(7)):
        assert_equal(simulated("mean-se", seed=seed), expected)
    assert simulated("mean-se", seed=8).pulls.tolist() != expected.pulls.tolist()
    assert simulated("mean-se", seed=7).pulls.tolist() == expected.pulls.tolist()
    rng = np.random.default_rng(7)
    assert_equal(simulated("mean-se", seed=rng), expected)
    assert simulated("mean-se", seed=rng).pulls.tolist() != expected.pulls.tolist()  # a generator goes on
    assert [child.spawn_key for child in trial_seeds(7, 3)] == [(0,), (1,), (2,)]
    assert simulated("mean-se", seed=2**80).pulls.tolist() != expected.pulls.tolist()


@pytest.mark.parametrize(
    "seeds",
    [
        TrialSeeds(0, (), 4, 0),
        TrialSeeds(7, (), 4, 12),
        TrialSeeds(2**32, (3,), 4, 0),
        TrialSeeds(2**130 + 5, (), 4, 1),  # more words than the pool has
        TrialSeeds(2**130 + 5, (2**40, 0), 4, 1),
        TrialSeeds(11, (2,), 7, 5),
        TrialSeeds([1, 2**70, 3], (6,), 4, 0),
        TrialSeeds(7, (), 4, 2**32 - 3),  # children with numbers of two words among them
    ],
)
def test_seeds_made_at_once_are_those_that_numpy_spawns(seeds: TrialSeeds) -> None:
    words = seeds.words(2, 8)
    assert words.dtype == np.uint64
    assert seeds.words(3, 3).shape == (0, 5)
    for row, trial in zip(words, range(2, 8), strict=True):
        child = seeds.child(trial)
        assert row.tolist() == child.generate_state(5, np.uint64).tolist()
        assert int(row[4]) == method_seed(child)
        assert generator(row).bit_generator.state == np.random.default_rng(child).bit_generator.state


def test_the_children_of_a_seed_that_has_children_are_the_next_ones() -> None:
    root = np.random.SeedSequence(7, spawn_key=(4,))
    root.spawn(3)
    assert next_seeds(root) == next_seeds(root) == TrialSeeds(7, (4,), 4, 3)
    take_seeds(root, 25_000)
    assert root.n_children_spawned == 25_003
    assert root.spawn(1)[0].spawn_key == (4, 25_003)
    assert [child.spawn_key for child in trial_seeds(root, 2)] == [(4, 25_004), (4, 25_005)]
    rng = np.random.default_rng(7)
    take_seeds(rng, 10)
    assert [child.spawn_key for child in trial_seeds(rng, 2)] == [(10,), (11,)]


def test_a_generator_that_goes_on_gives_the_trials_of_its_next_children() -> None:
    rng = np.random.default_rng(5)
    parts = [simulated("random", trials=trials, seed=rng, workers=2) for trials in (3, 5)]
    whole = simulated("random", trials=8)
    assert [part.arm_pulls.tolist() for part in parts] == [whole.arm_pulls[:3].tolist(), whole.arm_pulls[3:].tolist()]


def test_a_refused_simulation_takes_no_seeds(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    rng = np.random.default_rng(5)
    for changes in ({"trials": 0}, {"delta": 2.0}, {"chunk": 0}, {"alpha": 0.1}, {"checkpoint": tmp_path}):
        with pytest.raises(InputError):
            simulated("mean-se", seed=rng, **changes)
    assert [child.spawn_key for child in trial_seeds(rng, 1)] == [(0,)]


@pytest.mark.parametrize("trials", [-1, 0, 1.5, "3", None, math.nan])
def test_a_number_of_seeds_that_is_none_is_refused(trials: Any) -> None:
    with pytest.raises(InputError, match=r"^trials must be a whole number >= 1, got "):
        trial_seeds(5, trials)


def test_a_generator_that_cannot_spawn_is_refused() -> None:
    """One that was not made from a SeedSequence, such as that of a RandomState."""
    old = np.random.Generator(np.random.RandomState(3)._bit_generator)
    with pytest.raises(InputError, match=r"^seed must .*, got .*: "):
        simulated("mean-se", seed=old)


def test_the_seed_is_kept_with_the_trials() -> None:
    assert simulated("mean-se", seed=7).settings["seed"] == 7
    assert simulated("mean-se", seed=np.int64(7)).settings["seed"] == 7
    assert simulated("mean-se", seed=np.random.default_rng(7)).settings["seed"] is None


# ------------------------------------------------------------------------------------------------ what a method is told


def test_epsilon_and_sigma_are_the_bandits_own_by_default() -> None:
    bandit = ba.Bandit([ba.Gaussian(1.0, 0.5), ba.Uniform(0.0, 1.0)], epsilon=0.2, adversary=adversaries.Point(0.0))
    told = simulated("se-cbai", bandit, trials=5)
    assert (told.settings["epsilon"], told.settings["sigma"]) == (0.2, 0.5)
    assert_same(told, [by_hand("se-cbai", bandit, child, epsilon=0.2, sigma=0.5) for child in trial_seeds(5, 5)])


def test_epsilon_and_sigma_can_be_overridden() -> None:
    trials = simulated("se-cbai", epsilon=0.3, sigma=0.7, trials=5)
    assert (trials.settings["epsilon"], trials.settings["sigma"]) == (0.3, 0.7)
    assert_same(trials, [by_hand("se-cbai", BANDIT, child, epsilon=0.3, sigma=0.7) for child in trial_seeds(5, 5)])
    assert trials.pulls.tolist() != simulated("se-cbai", trials=5).pulls.tolist()
    none = simulated("se-cbai", epsilon=0.0, alpha=None, trials=5)
    assert none.settings["epsilon"] == 0.0
    assert none.settings["options"]["alpha"] == 0.0


def test_bounds_can_stand_for_sigma() -> None:
    bandit = ba.Bandit([ba.Bernoulli(0.9), ba.Bernoulli(0.3)], epsilon=0.1, adversary=adversaries.Point([0.0, 1.0]))
    for method in ("se-cbai", "certified"):
        trials = simulated(method, bandit, bounds=(0, 1), trials=5)
        assert trials.settings["sigma"] == 0.5
        assert_same(trials, [by_hand(method, bandit, child, epsilon=0.1, bounds=(0, 1)) for child in trial_seeds(5, 5)])


def test_rewards_outside_the_declared_bounds_are_refused_in_simulations_too() -> None:
    for method in ("mean-se", "certified"):
        with pytest.raises(InputError, match=r"^(reward|bounds) must .*, got .*: "):
            simulated(method, bounds=(0.0, 0.5), trials=2)


def test_an_arm_without_a_scale_does_with_a_given_one() -> None:
    bandit = ba.Bandit([ba.Exponential(3.0), ba.Exponential(1.0)])
    trials = simulated("mean-se", bandit, sigma=1.0)
    assert_same(trials, [by_hand("mean-se", bandit, child, epsilon=0.0, sigma=1.0) for child in trial_seeds(5, 8)])


# ------------------------------------------------------------------------------------------------------ right and wrong


@pytest.mark.parametrize("favoured", [0, 1])
def test_either_of_two_best_arms_is_right(favoured: int) -> None:
    """The adversary speaks for one of the two, so that is the one that sample means name."""
    values = [0.0, 0.0, 0.0]
    values[favoured] = 50.0
    arms = [ba.Gaussian(1.0), ba.Gaussian(1.0), ba.Gaussian(0.0)]
    trials = simulated("mean-se", ba.Bandit(arms, epsilon=0.3, adversary=adversaries.Point(values)))
    assert set(trials.answers.tolist()) == {favoured}
    assert trials.correct.all()
    assert trials.error_rate == 0.0


def test_a_wrong_arm_is_wrong() -> None:
    bandit = ba.Bandit(ARMS, epsilon=0.3, adversary=adversaries.Point([0.0, 0.0, 10.0]))
    trials = simulated("mean-se", bandit, sigma=5.0)  # means of what is seen: 1.75, 1.05 and 3.42
    assert set(trials.answers.tolist()) == {2}
    assert not trials.correct.any()
    assert (trials.error_rate, trials.wrong, trials.decided) == (1.0, 8, 8)


def test_arms_that_cannot_be_told_apart_are_no_error() -> None:
    bandit = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.9)], epsilon=0.2, adversary=adversaries.Point(0.5))
    trials = simulated("certified", bandit, resolution=0.5, trials=4)
    assert trials.statuses.tolist() == ["indistinguishable"] * 4
    assert trials.answers.tolist() == [-1] * 4
    assert (trials.indistinguishable, trials.undecided, trials.decided, trials.wrong) == (1.0, 0.0, 0, 0)
    assert trials.error_rate == 0.0


# ------------------------------------------------------------------------------------------------------------ summaries


def made(answers: list[int], pulls: list[int] | None = None, best: int = 0) -> ba.Trials:
    """Trials by hand; an answer of -2 stands for one that stopped without a winner."""
    given = np.array(answers)
    counts = np.array(pulls if pulls is not None else range(10, 10 + len(answers)))
    status = np.where(given >= 0, "identified", np.where(given == -2, "indistinguishable", "undecided"))
    arm_pulls: NDArray[np.int64] = np.column_stack([counts - counts // 3, counts // 3])
    return ba.Trials(
        counts,
        np.maximum(given, -1),
        given == best,
        arm_pulls,
        status,
        {"method": "mean-se", "options": {"a": [1, None]}},
    )


def test_the_summary_against_figures_worked_out_apart() -> None:
    rng = np.random.default_rng(2)
    pulls = rng.integers(100, 10_000, 213).tolist()
    answers = rng.choice([0, 0, 0, 0, 1, -1, -2], 213).tolist()
    trials = made(answers, pulls)
    wrong, decided = answers.count(1), answers.count(0) + answers.count(1)
    ordered = sorted(pulls)

    def quantile(level: float) -> float:
        """Between the order statistics around (n - 1) level."""
        place = 212 * level
        low = math.floor(place)
        return float(ordered[low] + (place - low) * (ordered[min(low + 1, 212)] - ordered[low]))

    mean = math.fsum(pulls) / 213
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in pulls) / 212)
    summary = trials.summary()
    assert list(summary) == [
        *("trials", "mean_pulls", "mean_is_lower_bound", "standard_error", "q05", "q25", "q50", "q75", "q95"),
        *("undecided", "indistinguishable", "wrong", "error_rate", "error_low", "error_high"),
    ]
    assert summary == {
        "trials": 213,
        "mean_pulls": pytest.approx(mean, rel=1e-14),
        "mean_is_lower_bound": True,
        "standard_error": pytest.approx(deviation / math.sqrt(213), rel=1e-14),
        "q05": pytest.approx(quantile(0.05), rel=1e-14),
        "q25": pytest.approx(quantile(0.25), rel=1e-14),
        "q50": float(ordered[106]),
        "q75": pytest.approx(quantile(0.75), rel=1e-14),
        "q95": pytest.approx(quantile(0.95), rel=1e-14),
        "undecided": answers.count(-1) / 213,
        "indistinguishable": answers.count(-2) / 213,
        "wrong": wrong,
        "error_rate": wrong / 213,
        "error_low": pytest.approx(float(stats.beta.ppf(0.025, wrong, 213 - wrong + 1)), rel=1e-9),
        "error_high": pytest.approx(float(stats.beta.ppf(0.975, wrong + 1, 213 - wrong)), rel=1e-9),
    }
    assert trials.mean_pulls == summary["mean_pulls"]
    assert trials.error_interval == (summary["error_low"], summary["error_high"])
    assert (trials.decided, trials.wrong, len(trials)) == (decided, wrong, 213)


@pytest.mark.parametrize("decided", [1, 20, 1000])
def test_the_error_interval_at_its_ends_is_that_of_clopper_and_pearson(decided: int) -> None:
    low, high = made([0] * decided).error_interval
    assert low == 0.0
    assert high == pytest.approx(1.0 - 0.025 ** (1.0 / decided), rel=1e-9)
    low, high = made([1] * decided).error_interval
    assert low == pytest.approx(0.025 ** (1.0 / decided), rel=1e-9)
    assert high == 1.0


def test_undecided_trials_are_neither_right_nor_wrong() -> None:
    trials = made([0, 1, -1, -1, -2, 0, 0])
    assert trials.answers.tolist() == [0, 1, -1, -1, -1, 0, 0]
    assert (trials.error_rate, trials.decided, trials.wrong) == (1 / 7, 4, 1)
    assert (trials.undecided, trials.capped, trials.indistinguishable) == (2 / 7, 2, 1 / 7)
    assert trials.error_interval == made([0, 1, 0, 0, 0, 0, 0]).error_interval
    nothing = made([-1, -2, -1])
    assert (nothing.error_rate, nothing.error_interval) == (0.0, made([0, 0, 0]).error_interval)
    assert (nothing.wrong, nothing.decided, nothing.summary()["undecided"]) == (0, 0, 2 / 3)


def test_one_trial_has_no_standard_error() -> None:
    summary = made([0], [17]).summary()
    assert math.isnan(summary["standard_error"])
    assert [summary[name] for name in ("mean_pulls", "q05", "q50", "q95")] == [17.0] * 4


def test_repr_is_the_gist() -> None:
    assert repr(made([0, 1, -1, 0], [1000, 2000, 3000, 4001])) == (
        "<4 trials of mean-se: mean pulls >= 2,500, error rate 0.25>"
    )


# -------------------------------------------------------------------------------------------------------- tables, files


def test_the_table_has_a_row_a_trial() -> None:
    frame = made([0, 1, -1, -2], [10, 20, 30, 40]).to_frame()
    assert list(frame.columns) == ["trial", "pulls", "answer", "correct", "status", "pulls_0", "pulls_1"]
    assert frame.to_dict("list") == {
        "trial": [0, 1, 2, 3],
        "pulls": [10, 20, 30, 40],
        "answer": [0, 1, -1, -1],
        "correct": [True, False, False, False],
        "status": ["identified", "identified", "undecided", "indistinguishable"],
        "pulls_0": [7, 14, 20, 27],
        "pulls_1": [3, 6, 10, 13],
    }


@every_method
def test_trials_come_back_from_a_file_as_they_were(method: str, tmp_path: Path) -> None:
    trials = simulated(method, max_pulls=600)
    for path in (tmp_path / "trials.parquet", str(tmp_path / "again.parquet")):
        trials.save(path)
        back = ba.Trials.load(path)
        for name in ("pulls", "answers", "correct", "arm_pulls", "statuses"):
            assert getattr(back, name).tolist() == getattr(trials, name).tolist()
            assert getattr(back, name).dtype.kind == getattr(trials, name).dtype.kind
        assert back.settings == trials.settings
        assert repr(back.summary()) == repr(trials.summary())


def test_many_arms_come_back_in_order(tmp_path: Path) -> None:
    """pulls_10 goes after pulls_9, not after pulls_1."""
    bandit = ba.Bandit([ba.Gaussian(0.5 * arm) for arm in range(12)])
    trials = simulated("mean-se", bandit, trials=3)
    assert trials.arm_pulls.shape == (3, 12)
    trials.save(tmp_path / "trials.parquet")
    assert ba.Trials.load(tmp_path / "trials.parquet").arm_pulls.tolist() == trials.arm_pulls.tolist()


def test_settings_given_as_numpy_numbers_can_be_saved(tmp_path: Path) -> None:
    trials = simulated("random", max_pulls=np.int64(500), alpha=np.float64(0.2), seed=np.int64(5))
    trials.save(tmp_path / "trials.parquet")
    assert ba.Trials.load(tmp_path / "trials.parquet").settings["max_pulls"] == 500


def test_other_programs_can_read_the_file(tmp_path: Path) -> None:
    import pandas as pd

    made([0, 1, -1], [10, 20, 30]).save(tmp_path / "trials.parquet")
    frame = pd.read_parquet(tmp_path / "trials.parquet")
    assert frame["pulls"].tolist() == [10, 20, 30]
    assert frame["answer"].tolist() == [0, 1, -1]


@pytest.mark.parametrize("progress", [False, True])
def test_no_bar_without_a_terminal(progress: bool, capfd: pytest.CaptureFixture[str]) -> None:
    simulated("mean-se", progress=progress)
    assert capfd.readouterr() == ("", "")


def test_trials_are_cut_and_joined() -> None:
    whole = simulated("mean-se", trials=7)
    first, rest = whole.first(3), simulated("mean-se", trials=7)
    assert len(first) == 3
    assert first.pulls.tolist() == whole.pulls[:3].tolist()
    assert first.arm_pulls.tolist() == whole.arm_pulls[:3].tolist()
    assert whole.first(100) is whole
    both = ba.Trials.joined([first, rest])
    assert both.pulls.tolist() == [*whole.pulls[:3].tolist(), *whole.pulls.tolist()]
    assert both.statuses.tolist() == [*whole.statuses[:3].tolist(), *whole.statuses.tolist()]
    assert both.settings == whole.settings


def test_the_picture_of_trials_counts_every_one_by_what_it_came_to() -> None:
    trials = made([0, 0, 1, -1, -2], [10, 12, 14, 20, 16])
    panel = trials.plot().axes[0]
    legend = panel.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "mean: at least 14",
        "right: 2 of 5",
        "wrong: 1 of 5",
        "no winner: 1 of 5",
        "at the cap: 1 of 5",
    ]
    assert sum(bar.get_height() for bar in panel.patches) == 5  # type: ignore[attr-defined]
    figure = Figure()
    assert made([0, 0]).plot(figure.subplots()) is figure
