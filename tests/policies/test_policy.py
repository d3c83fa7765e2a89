"""Methods of the user's own: the twin of a built-in method gives its results everywhere, and nonsense is refused."""

from __future__ import annotations

import copy
import functools
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

import bestarm as ba
from bestarm import reference
from bestarm.bandits import ATTACKS
from bestarm.identification.engines.policy import PolicyEngine
from bestarm.methods import METHODS
from bestarm.testing import check_method
from bestarm.testing.rules import RULES
from bestarm.theory.planning import plan
from naive import POLICIES

ASKED: dict[str, Any] = {"delta": 0.1, "epsilon": 0.1, "sigma": 1.0}
MEANS = [2.5, 1.5, 1.0, 0.6]
SHORT: dict[str, Any] = {"alpha": 0.2, "exploration": "chernoff"}


def options(method: str) -> dict[str, Any]:
    return {name: value for name, value in SHORT.items() if name in {one.name for one in METHODS[method].options}}


def bandit(attack: str = "benign", epsilon: float = 0.1) -> ba.Bandit:
    arms = [ba.Gaussian(mean) for mean in MEANS]
    return ba.Bandit(arms, epsilon, ATTACKS[attack][1](arms, epsilon)) if epsilon else ba.Bandit(arms)


def columns(trials: ba.Trials) -> list[Any]:
    names = ("pulls", "answers", "correct", "arm_pulls", "statuses")
    return [getattr(trials, name).tolist() for name in names]


class Plain:
    """Each arm in turn; the highest mean after `rounds` rewards of each."""

    def __init__(self, question: ba.Question, *, rounds: int = 10) -> None:
        self.question, self.rounds = question, rounds
        self.rewards: list[list[float]] = [[] for _ in range(question.arms)]

    def choose(self, pending: NDArray[np.int64]) -> Any:
        return min(range(pending.size), key=lambda arm: len(self.rewards[arm]) + pending[arm])

    def observe(self, arm: int, reward: float) -> None:
        self.rewards[arm].append(reward)

    def decision(self) -> Any:
        return None if min(map(len, self.rewards)) < self.rounds else int(np.argmax(self.estimates()))

    def estimates(self) -> Any:
        return [sum(rewards) / len(rewards) if rewards else math.nan for rewards in self.rewards]


# ----------------------------------------------------------------------------------------------- twins of the built-in


@pytest.mark.parametrize("attack", ["benign", "hidden", "extremes", "quota-hidden"])
@pytest.mark.parametrize("method", sorted(set(METHODS) - {"certified"}))
def test_a_twin_gives_the_trials_of_the_built_in_method(method: str, attack: str) -> None:
    asked: dict[str, Any] = {"delta": 0.1, "trials": 4, "seed": 3, "max_pulls": 1500, **options(method)}
    built_in = ba.simulate(bandit(attack), method, **asked)
    twin = ba.simulate(bandit(attack), POLICIES[method], **asked)
    assert columns(twin) == columns(built_in)
    assert twin.settings["method"] == f"reference {method}"
    assert built_in.decided > 0 or attack != "benign"


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_the_certified_twin_gives_the_trials_of_the_built_in_method(epsilon: float) -> None:
    """A lead of the resolution would have been found after 32 rounds or so: some trials end without a winner."""
    close = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.9 if epsilon else -0.2)], epsilon, ba.adversaries.Point(0.5))
    asked: dict[str, Any] = {"delta": 0.1, "trials": 4, "seed": 3, "resolution": 0.6, "max_pulls": 2000}
    built_in = ba.simulate(close, "certified", **asked)
    assert columns(ba.simulate(close, reference.Certified, **asked)) == columns(built_in)
    assert set(built_in.statuses) == ({"indistinguishable"} if epsilon else {"identified"})


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"certified"}))
def test_a_twin_asks_and_estimates_as_the_built_in_method_whatever_the_order_of_rewards(method: str) -> None:
    """Batches, rewards out of order, rewards that nobody asked for: at every moment the same arms and rows."""
    rng = np.random.default_rng(8)
    finders = [ba.Identifier(4, method=one, **ASKED, **options(method)) for one in (method, POLICIES[method])]
    under_way: list[Any] = []
    for step in range(400):
        if finders[0].done:
            break
        size = int(rng.integers(1, 6))
        batch, other = (finder.ask(size) for finder in finders)
        assert batch == other
        under_way += batch
        rng.shuffle(under_way)
        for _ in range(int(rng.integers(0, 8))):
            if finders[0].done:
                break
            arm = under_way.pop() if under_way and step % 9 else int(rng.integers(4))
            reward = MEANS[arm] + float(rng.standard_normal())
            for finder in finders:
                finder.tell(arm, reward)
        for row, twin in zip(*(finder.estimates for finder in finders), strict=True):
            assert (row.label, row.pulls, row.active) == (twin.label, twin.pulls, twin.active)
            for end in ("estimate", "lower", "upper"):
                assert getattr(twin, end) == pytest.approx(getattr(row, end), abs=1e-12, nan_ok=True)
    built_in, own = (finder.result for finder in finders)
    assert finders[0].done
    assert (own.status, own.best, own.candidates, own.pulls) == (
        built_in.status,
        built_in.best,
        built_in.candidates,
        built_in.pulls,
    )


# --------------------------------------------------------------------------------------------------- all over the house


@pytest.mark.parametrize("changes", [{"workers": 2}, {"chunk": 3}, {"workers": 2, "backend": "loky", "chunk": 5}])
def test_trials_of_a_policy_are_the_same_for_every_backend_worker_count_and_chunk(changes: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"delta": 0.1, "trials": 11, "seed": 5, "rounds": 3}
    assert columns(ba.simulate(bandit(), Plain, **asked, **changes)) == columns(ba.simulate(bandit(), Plain, **asked))


def test_trials_of_a_policy_are_the_same_on_a_dask_cluster() -> None:
    distributed = pytest.importorskip("distributed")
    asked: dict[str, Any] = {"delta": 0.1, "trials": 9, "seed": 5, "chunk": 2}

    class Local(Plain):  # by value, as from a notebook
        pass

    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
    ):
        there = ba.simulate(bandit(), Local, backend="dask", **asked)
    assert columns(there) == columns(ba.simulate(bandit(), Plain, **asked))


class Drawn(Plain):
    """Arms at random, by the seed of the question."""

    def choose(self, pending: NDArray[np.int64]) -> int:
        t = sum(map(len, self.rewards)) + int(pending.sum())
        return int(self.question.generator(t).integers(pending.size))


def test_every_trial_has_a_seed_of_its_own_and_an_identifier_the_one_it_is_given() -> None:
    trials = ba.simulate(bandit(), Drawn, delta=0.1, trials=5, seed=2, rounds=5)
    assert len({tuple(row) for row in trials.arm_pulls.tolist()}) == 5
    asks = [ba.Identifier(4, method=Drawn, **ASKED, seed=seed).ask(20) for seed in (1, 2, 1)]
    assert asks[0] == asks[2] != asks[1]


def test_a_bandit_of_python_functions_meets_a_policy() -> None:
    arms = [ba.CustomArm(lambda rng: rng.normal(2.0), mean=2.0, sigma=1.0), ba.Gaussian(0.0)]
    trials = ba.simulate(ba.Bandit(arms), Plain, delta=0.1, trials=3, seed=1)
    assert trials.answers.tolist() == [0, 0, 0]


def test_checkpoints_resume_the_same_policy_and_refuse_another(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"delta": 0.1, "seed": 5, "chunk": 2, "checkpoint": tmp_path / "run"}
    whole = ba.simulate(bandit(), Plain, delta=0.1, seed=5, trials=8, rounds=4)
    ba.simulate(bandit(), Plain, trials=4, rounds=4, **asked)
    resumed = ba.simulate(bandit(), Plain, trials=8, rounds=4, resume=True, **asked)
    assert columns(resumed) == columns(whole)

    class Other(Plain):
        name = "Plain"

        def decision(self) -> Any:
            return super().decision()

    class Newer(Plain):
        name = "Plain"
        version = 2

    refused = r"^policy must be the same as in the checkpoint to resume"
    for changed in (Other, Newer):
        with pytest.raises(ba.InputError, match=refused):
            ba.simulate(bandit(), changed, trials=8, rounds=4, resume=True, **asked)
    with pytest.raises(ba.InputError, match=r"^(options\.)?rounds must be the same|^options"):
        ba.simulate(bandit(), Plain, trials=8, rounds=5, resume=True, **asked)


def test_a_policy_that_cannot_be_sent_or_kept_is_named(tmp_path: Path) -> None:
    import threading

    locked = functools.partial(Plain, rounds=threading.Lock())  # type: ignore[arg-type]
    asked: dict[str, Any] = {"delta": 0.1, "trials": 2, "seed": 1}
    with pytest.raises(ba.InputError, match=r"^method must be picklable to be sent to other processes"):
        ba.simulate(bandit(), locked, backend="loky", workers=2, **asked)
    with pytest.raises(ba.InputError, match=r"^method must be picklable to be checkpointed"):
        ba.simulate(bandit(), locked, checkpoint=tmp_path / "run", **asked)


def test_attacks_and_plans_take_a_policy_beside_names() -> None:
    table = ba.attack_table(["mean-se", Plain], ["one-sided-gross"], {"pair": [3.0, 0.0]}, trials=20)
    assert table["method"].tolist() == ["mean-se", "Plain"]
    assert table["covered"].tolist() == [None, None]
    assert table["error_rate"].tolist() == [1.0, 1.0] or table["error_rate"].iloc[1] > 0.5
    named = ba.attack_table({"mine": (Plain, {"rounds": 2})}, ["benign"], {"pair": [3.0, 0.0]}, trials=5)
    assert named["mean_pulls"].tolist() == [4.0]
    found = plan([1.0, 0.0], sigma=1.0, epsilon=0.0, delta=0.1, methods=[Plain, "mean-se"], trials=20)
    assert [row["method"] for row in found.forecasts] == ["Plain", "mean-se"]
    assert found.forecasts[0]["mean_pulls"] == 20.0


def test_identify_drives_a_policy_in_threads_and_shows_progress() -> None:
    asked: dict[str, Any] = {"delta": 0.1, "epsilon": 0.1, "sigma": 1.0, "method": Plain, "rounds": 6}
    result = ba.identify(lambda arm: float(arm == "A"), ["A", "B"], workers=3, progress=True, **asked)
    assert (result.best, result.method, result.options) == ("A", "Plain", {"rounds": 6, "seed": 0})
    assert result.pulls in (12, 13, 14)
    capped = ba.identify(lambda arm: 1.0, 2, max_pulls=5, **asked)
    assert (capped.status, capped.limit) == ("undecided", "budget")


def test_copies_of_an_identifier_with_a_policy_share_nothing() -> None:
    finder = ba.Identifier(2, method=Plain, **ASKED)
    finder.tell_many([0, 1] * 5, [1.0, 0.0] * 5)
    for twin in (copy.deepcopy(finder), pickle.loads(pickle.dumps(finder)), finder.snapshot()):
        twin.tell_many([0, 1] * 5, [-9.0, 0.0] * 5)
        assert twin.result.best == 1
        assert (finder.pulls, finder.done) == (10, False)
    finder.tell_many([0, 1] * 5, [1.0, 0.0] * 5)
    assert finder.result.best == 0


# ------------------------------------------------------------------------------------------------------------ compiled


@numba.njit
def jit_choose(state: Any, pending: Any) -> Any:
    least = 0
    for arm in range(pending.size):
        if state[arm, 1] + pending[arm] < state[least, 1] + pending[least]:
            least = arm
    return state.shape[0] if state[0, 0] > 1e6 else least


@numba.njit
def jit_observe(state: Any, arm: int, reward: float) -> None:
    state[arm, 0] += reward
    state[arm, 1] += 1.0


@numba.njit
def jit_decision(state: Any) -> Any:
    """The highest sum after 30 rewards of each arm; no winner if the first one's is far down."""
    if state[:, 1].min() < 30.0:
        return -2
    return -1 if state[0, 0] < -1e6 else state[:, 0].argmax()


class Jitted(ba.JittedPolicy):
    verbs = (jit_choose, jit_observe, jit_decision)

    def __init__(self, question: ba.Question, *, begin: float = 0.0) -> None:
        self.state = np.zeros((question.arms, 2))
        self.state[0, 0] = begin

    def estimates(self) -> Any:
        with np.errstate(invalid="ignore"):
            return (self.state[:, 0] / self.state[:, 1]).tolist()


class Interpreted:
    """The same through the verbs of Python, of which `simulate` knows no more."""

    def __init__(self, question: ba.Question) -> None:
        policy = Jitted(question)
        self.choose, self.observe, self.decision = policy.choose, policy.observe, policy.decision
        self.estimates = policy.estimates


@pytest.mark.parametrize("attack", ["benign", "quota-hidden", "extremes"])
def test_compiled_verbs_give_the_trials_of_the_same_verbs_in_python(attack: str) -> None:
    asked: dict[str, Any] = {"delta": 0.1, "trials": 6, "seed": 4}
    compiled = ba.simulate(bandit(attack), Jitted, workers=2, chunk=2, **asked)
    assert columns(compiled) == columns(ba.simulate(bandit(attack), Interpreted, **asked))
    assert compiled.pulls.tolist() == [120] * 6
    capped = ba.simulate(bandit(attack), Jitted, max_pulls=50, **asked)
    assert (capped.undecided, capped.pulls.tolist()) == (1.0, [50] * 6)


def test_compiled_verbs_work_live_and_pass_the_suite() -> None:
    assert check_method(Jitted, max_pulls=400).kept == tuple(RULES)


def test_an_arm_out_of_reach_is_refused_in_compiled_code_too() -> None:
    with pytest.raises(ba.InputError, match=r"^method must choose an arm, a whole number from 0 to 3, got 4: Jitted"):
        ba.simulate(bandit(), Jitted, delta=0.1, trials=1, begin=1e7)
    assert ba.simulate(bandit(), Jitted, delta=0.1, trials=2, begin=-1e7).indistinguishable == 1.0


DIGEST = """
from bestarm.policies.policy import PolicyRule, Question
from bestarm.simulation.fingerprints import policy_digest
from test_policy import Drawn, Jitted
print([policy_digest(PolicyRule(one, Question(2, 0.1, 0.1, 1.0), {"begin": 0.0})) for one in (Drawn, Jitted)])
"""


def test_the_fingerprint_of_a_policy_is_the_same_in_every_process() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    seen = []
    for seed in ("1", "2"):  # of hashes of strings
        words = [sys.executable, "-c", DIGEST]
        settings = {**environment, "PYTHONHASHSEED": seed}
        seen.append(subprocess.run(words, env=settings, capture_output=True, text=True, check=True).stdout)
    assert seen[0] == seen[1]
    assert len(set(seen[0].split())) == 2


# --------------------------------------------------------------------------------------------------- what a result says


def test_a_verdict_says_that_the_claim_is_the_methods_own() -> None:
    finder = ba.Identifier(["A", "B"], method=Plain, **ASKED, rounds=2)
    assert str(finder.result) == "undecided so far among 'A' and 'B': Plain has not stopped after 0 rewards."
    finder.tell_many(["A", "B"] * 2, [1.0, 0.0] * 2)
    assert str(finder.result) == (
        "Plain names 'A' as the arm with the highest mean of 2 (estimate 1, next 'B' with 0) after 4 rewards, asked "
        "for delta = 0.1 (sigma = 1, epsilon = 0.1); the claim is the method's own, and bestarm knows of no promise "
        "for it."
    )
    assert (finder.result.promise, finder.result.proved, finder.result.p_value) == ("", False, None)


class NoWinner(Plain):
    name = "shy"

    def decision(self) -> Any:
        return None if super().decision() is None else -1


def test_a_policy_may_stop_without_a_winner() -> None:
    finder = ba.Identifier(["A", "B"], method=NoWinner, **ASKED, rounds=1)
    finder.tell_many(["A", "B"], [1.0, 0.0])
    result = finder.result
    assert (result.status, result.best, result.candidates) == ("indistinguishable", None, ("A", "B"))
    assert str(result).startswith("no winner is named among 'A' and 'B': shy stopped after 2 rewards, asked for delta")
    trials = ba.simulate(bandit(), NoWinner, delta=0.1, trials=3, seed=1)
    assert (trials.indistinguishable, trials.answers.tolist()) == (1.0, [-1, -1, -1])


def test_the_question_is_what_a_policy_is_told() -> None:
    seen: list[ba.Question] = []

    def make(question: ba.Question, share: float = 0.5) -> Plain:
        seen.append(question)
        return Plain(question)

    finder = ba.Identifier(["A", "B", "C"], method=make, delta=0.2, epsilon=0.1, bounds=(0, 4), seed=9)
    assert seen == [ba.Question(3, 0.2, 0.1, 2.0, (0.0, 4.0), 9)]
    assert (finder.result.method, finder.result.options) == ("make", {"share": 0.5, "seed": 9})


# ------------------------------------------------------------------------------------------------------------ nonsense


@dataclass
class Broken(Plain):
    """Does one thing wrong from the third reward on."""

    question: ba.Question
    arm: Any = None
    verdict: Any = None
    rows: Any = None
    fails: str = ""
    rounds: int = 10
    rewards: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rewards = [[] for _ in range(self.question.arms)]

    @property
    def due(self) -> bool:
        return sum(map(len, self.rewards)) >= 2

    def choose(self, pending: NDArray[np.int64]) -> Any:
        if self.due and self.fails == "choose":
            raise ZeroDivisionError("no arms left")
        return self.arm if self.due and self.arm is not None else super().choose(pending)

    def observe(self, arm: int, reward: float) -> None:
        due = self.due
        super().observe(arm, reward)
        if due and self.fails == "observe":
            raise ZeroDivisionError("half done")

    def decision(self) -> Any:
        return self.verdict if sum(map(len, self.rewards)) > 2 and self.verdict is not None else None

    def estimates(self) -> Any:
        return self.rows if self.due and self.rows is not None else super().estimates()


WRONG_ARM = "method must choose an arm, a whole number from 0 to 1, got {}: Broken.choose gave it after 2 rewards"
WRONG_VERDICT = "method must decide on None, on an arm from 0 to 1, or on -1 for no winner, got {}: Broken.decision"
WRONG_ROWS = "method must have estimates that are finite or nan, with lower at most upper, got {}: Broken.estimates"


def policy_of(finder: ba.Identifier) -> Any:
    assert isinstance(finder._engine, PolicyEngine)
    return finder._engine.policy


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"arm": 2}, WRONG_ARM.format(2)),
        ({"arm": -1}, WRONG_ARM.format(-1)),
        ({"arm": 1.0}, WRONG_ARM.format(1.0)),
        ({"arm": True}, WRONG_ARM.format(True)),
        ({"arm": "A"}, WRONG_ARM.format("'A'")),
        ({"fails": "choose"}, "method must not raise an exception (Broken is your own), got ZeroDivisionError('no"),
        (
            {"fails": "observe"},
            "method must not raise an exception (Broken is your own), got ZeroDivisionError('h",
        ),
        ({"verdict": 2}, WRONG_VERDICT.format(2)),
        ({"verdict": -2}, WRONG_VERDICT.format(-2)),
        ({"verdict": "A"}, WRONG_VERDICT.format("'A'")),
        ({"verdict": False}, WRONG_VERDICT.format(False)),
        ({"verdict": 0, "rows": [1.0]}, "method must have 2 estimates, one for each arm, got 1: Broken.estimates gave"),
        ({"verdict": 0, "rows": [1.0, math.inf]}, WRONG_ROWS.format("(inf, -inf, inf, True)")),
        ({"verdict": 0, "rows": [1.0, (1.0, 2.0, 0.0)]}, WRONG_ROWS.format("(1.0, 2.0, 0.0, True)")),
        ({"verdict": 0, "rows": ["much", 1.0]}, "method must not raise an exception (Broken is your own), got Val"),
        ({"verdict": 0, "rows": 7}, "method must not raise an exception (Broken is your own), got TypeError"),
    ],
)
def test_nonsense_is_refused_and_changes_nothing(wrong: dict[str, Any], message: str) -> None:
    finder = ba.Identifier(2, method=Broken, **ASKED, **wrong)
    good = ba.Identifier(2, method=Broken, **ASKED)
    pulls = [(one.ask_pulls(3), one)[0] for one in (finder, good)]
    for one, asked in zip((finder, good), pulls, strict=True):
        one.tell(asked[0], 1.0)
        one.tell(asked[1], 0.5)
    before = finder.pulls, finder.pending, finder.done
    asks = "arm" in wrong or wrong.get("fails") == "choose"
    tries: list[Any] = (
        [finder.ask, lambda: finder.ask(3), finder.ask_pulls]
        if asks
        else [
            lambda: finder.tell(0, 9.0),
            lambda: finder.tell(pulls[0][2], 9.0),
            lambda: finder.tell_many([0, 1], [9.0, 9.0]),
        ]
    )
    for attempt in tries:
        with pytest.raises(ba.InputError) as refused:
            attempt()
        assert str(refused.value).startswith(message)
        assert (finder.pulls, finder.pending, finder.done) == before
        assert policy_of(finder).rewards == policy_of(good).rewards == [[1.0], [0.5]]
        assert (finder._ledger.arms, finder._ledger.fates) == (good._ledger.arms, good._ledger.fates)
    if "rows" not in wrong:  # simulate reads no estimates
        pair = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)])
        with pytest.raises(ba.InputError) as refused:
            ba.simulate(pair, Broken, delta=0.1, trials=1, max_pulls=5, **wrong)
        assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (Plain(ba.Question(2, 0.1, 0.1, 1.0)), "method must be a name of the catalogue, or a class or function that m"),
        (dict, "method must not raise an exception (dict is your own), got TypeError"),
        (lambda: 3, "method must take a Question, got "),
        (
            lambda question: 3,
            "method must be a policy with the verbs choose, observe, decision, estimates, got 3: <la",
        ),
        (7, "method must be one of certified, g-cbai"),
        (None, "method must be one of certified, g-cbai"),
        (
            type("T", (Plain,), {"name": "se-cbai"}),
            "method must have a name of its own, got 'se-cbai': a method of",
        ),
    ],
)
def test_what_is_no_method_is_refused(method: Any, message: str) -> None:
    with pytest.raises(ba.InputError) as refused:
        ba.Identifier(2, method=method, **ASKED)
    assert str(refused.value).startswith(message)


def test_options_are_checked_as_those_of_the_catalogue() -> None:
    class Needy(Plain):
        def __init__(self, question: ba.Question, *, share: float) -> None:
            super().__init__(question)
            if share > 1.0:
                raise ba.InputError("share", "be at most 1", share, "it is a share")

    with pytest.raises(ba.InputError, match=r"^rouns must be an option of Plain, got 3: Plain has rounds, seed$"):
        ba.Identifier(2, method=Plain, **ASKED, rouns=3)
    with pytest.raises(ba.InputError, match=r"^share must be given to Needy, got None"):
        ba.Identifier(2, method=Needy, **ASKED)
    with pytest.raises(ba.InputError, match=r"^share must be at most 1, got 2.0: it is a share$"):
        ba.Identifier(2, method=Needy, **ASKED, share=2.0)
    with pytest.raises(ba.InputError, match=r"^seed must be a whole number"):
        ba.Identifier(2, method=Plain, **ASKED, seed=-1)


def test_what_a_policy_cannot_do_is_said() -> None:
    finder = ba.Identifier(2, method=Plain, **ASKED)
    with pytest.raises(ba.InputError, match=r"^method must be of the catalogue for a forecast, got 'Plain'"):
        finder.forecast()
    with pytest.raises(ba.InputError, match=r"^method must be certified, got 'Plain'"):
        finder.sensitivity()


def test_rewards_that_waited_wait_again_if_the_policy_fails_at_one_of_them() -> None:
    class Squeamish(Plain):
        """Fails at a reward of 9."""

        def observe(self, arm: int, reward: float) -> None:
            super().observe(arm, reward)
            if reward == 9.0:
                raise ZeroDivisionError("nine")

    finder = ba.Identifier(["A", "B"], method=Squeamish, **ASKED)
    pulls = [pull for pull in finder.ask_pulls(10) if pull.arm == "A"]
    finder.tell(pulls[1], 2.0)
    finder.tell(pulls[2], 9.0)
    attempts: list[Callable[[], None]] = [lambda: finder.tell(pulls[0], 1.0), lambda: finder.cancel(pulls[0])]
    for attempt in attempts:
        with pytest.raises(ba.InputError, match=r"Squeamish\.observe\(0, 9\.0\).* nothing was recorded$"):
            attempt()
        assert (finder.pulls, finder.pending, finder.waiting.rewards, finder.result.cancelled) == (0, 10, 2, 0)
        assert policy_of(finder).rewards == [[], []]
    finder.tell(pulls[3], 3.0)
    assert finder.waiting.rewards == 3


def test_pulls_that_never_come_are_replaced_and_a_silent_arm_is_passed_over() -> None:
    finder = ba.Identifier(2, method=Plain, **ASKED, rounds=200)
    lost = 0
    for _ in range(300):
        pull = finder.ask_pulls()
        if pull.arm == 0:
            finder.tell(pull, 1.0)
        else:
            lost += 1
    assert lost < 120  # 64 patience, and what they answered: none
    with_cancel = ba.Identifier(2, method=Plain, **ASKED, rounds=3)
    for reward in (1.0, 0.0, None, 0.0, 1.0, 0.0):
        pull = with_cancel.ask_pulls()
        with_cancel.cancel(pull) if reward is None else with_cancel.tell(pull, reward)
    assert (with_cancel.result.best, with_cancel.result.cancelled) == (0, 1)
    assert replace(with_cancel.result).arms[0].estimate == 1.0
