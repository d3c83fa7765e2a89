"""Studies by a method of the user's own: kept by its import path, and folded by every process from the log."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import bestarm as ba
from bestarm import InputError, StoreError, reference
from bestarm.live import study_log
from bestarm.live.export import replay

ASKED: dict[str, Any] = {"delta": 0.1, "epsilon": 0.1, "sigma": 1.0}
MEANS = {"A": 0.2, "B": 1.0, "C": 0.5}
FIVE = np.int64(5)


class Leading:
    """Mostly the leader, else any other, by the seed of the question; the highest mean after 40 rewards of it."""

    version = 1

    def __init__(self, question: ba.Question, *, rewards: int = 40, limit: float = math.inf) -> None:
        self.question, self.enough, self.limit = question, rewards, limit
        self.sums, self.counts = np.zeros(question.arms), np.zeros(question.arms, np.int64)

    def choose(self, pending: NDArray[np.int64]) -> int:
        counts = self.counts + pending
        if counts.min() < 3:
            return int(counts.argmin())
        rng = self.question.generator(int(counts.sum()))
        return int(self.means().argmax() if rng.random() < 0.5 else rng.integers(counts.size))

    def observe(self, arm: int, reward: float) -> None:
        self.sums[arm] += reward
        self.counts[arm] += 1
        if reward > self.limit:
            raise OverflowError("too high for me")

    def decision(self) -> int | None:
        best = int(self.means().argmax())
        return best if self.counts[best] >= self.enough else None

    def means(self) -> NDArray[np.float64]:
        return np.where(self.counts > 0, self.sums / np.maximum(self.counts, 1), -np.inf)

    def estimates(self) -> Any:
        return [mean if count else math.nan for mean, count in zip(self.means(), self.counts, strict=True)]


class Odd(Leading):
    """One whose default has no form in a table."""

    def __init__(self, question: ba.Question, *, rewards: Any = len) -> None:
        super().__init__(question)


class Numbered(Leading):
    """One whose default is a number of NumPy's."""

    def __init__(self, question: ba.Question, *, rewards: Any = FIVE, nothing: float = math.nan) -> None:
        super().__init__(question, rewards=rewards)


PATH = f"{Leading.__module__}:Leading"


def make(url: str, name: str = "mine", method: Any = Leading, **options: Any) -> ba.Study:
    return ba.Study(url, name, list(MEANS), method=method, **ASKED, **options)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'run.db'}"


def test_a_study_asks_and_decides_like_an_identifier_in_batches_and_out_of_order(url: str) -> None:
    study, other = make(url), ba.Study(url, "mine")
    finder = ba.Identifier(list(MEANS), method=Leading, **ASKED)
    rng = random.Random(4)
    pulls: list[Any] = []
    twins: dict[int, Any] = {}
    while not finder.done:
        size = rng.randrange(1, 5)
        asked = rng.choice((study, other)).ask_pulls(size)
        expected = finder.ask_pulls(size)
        assert [pull.arm for pull in asked] == [pull.arm for pull in expected]
        twins |= {pull.number: twin for pull, twin in zip(asked, expected, strict=True)}
        pulls += asked
        rng.shuffle(pulls)
        for _ in range(rng.randrange(0, 6)):
            if pulls and not finder.done:
                pull = pulls.pop()
                reward = rng.gauss(MEANS[str(pull.arm)])
                teller = rng.choice((study, other))
                if reward < -1.0:
                    teller.cancel(pull)
                    finder.cancel(twins[pull.number])
                else:
                    teller.tell(pull, reward)
                    finder.tell(twins[pull.number], reward)
    assert study.done
    assert repr(study.result) == repr(other.result) == repr(finder.result)
    assert (study.method, study.result.method) == (PATH, "Leading")
    assert study.result.cancelled > 0


IN_A_PROCESS = """
import random, sys
import bestarm as ba
study = ba.Study(sys.argv[1], "mine")
rng, means = random.Random(int(sys.argv[2])), dict(zip("ABC", (0.2, 1.0, 0.5)))
told = 0
for pull in study.work(worker=sys.argv[2]):
    study.tell(pull, rng.gauss(means[pull.arm]))
    told += 1
    if told == int(sys.argv[3]):
        break
print(repr(study.result))
"""


def in_a_process(url: str, seed: int, most: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": str(seed)}
    words = [sys.executable, "-c", IN_A_PROCESS, url, str(seed), str(most)]
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_processes_one_after_the_other_and_at_once_go_on_with_it(file: str, tmp_path: Path) -> None:
    study = make(file, rewards=60)
    seen, said = in_a_process(file, 1, 7).communicate()
    assert seen, said
    assert (study.pulls, study.pending) == (7, 0)
    assert seen.strip() == repr(study.result)
    workers = [in_a_process(file, seed, 1000) for seed in (2, 3)]
    outputs = [worker.communicate() for worker in workers]
    assert study.done
    assert [output for output, _ in outputs] == [f"{study.result!r}\n"] * 2, outputs
    assert study.result.best == "B"
    study.export(tmp_path / "log.jsonl")
    found = replay(tmp_path / "log.jsonl")
    assert found.agrees
    assert found.recorded_at == study.decided_at


def test_threads_share_it(file: str) -> None:
    study = make(file, rewards=30)
    rng, lock = random.Random(2), threading.Lock()

    def pull(arm: Any) -> float:
        with lock:
            return rng.gauss(MEANS[arm])

    assert study.run(pull, workers=4).best == "B"
    told = [event for event in study.events() if event.kind == "tell"]
    assert len(told) == len({event.pull for event in told}) == ba.Study(file, "mine").pulls


def test_a_long_log_is_folded_at_once_as_event_by_event(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make(file, rewards=10_000)
    rng = random.Random(5)
    pulls = study.ask_pulls(300)
    rng.shuffle(pulls)
    study.cancel_many(pulls[:5])
    study.tell_many(pulls[5:250], [rng.gauss(MEANS[str(pull.arm)]) for pull in pulls[5:250]])
    assert study.snapshot().waiting.rewards > 0
    monkeypatch.setattr(study_log, "READ_AS_ARRAYS", 10)
    reopened = ba.Study(file, "mine")
    assert repr(reopened.result) == repr(study.result)
    expected = [pull.arm for pull in study.snapshot().ask_pulls(20)]
    assert [pull.arm for pull in reopened.ask_pulls(20)] == expected
    left = pulls[250:]
    reopened.tell_many(left, [1.0] * len(left))
    assert repr(study.result) == repr(reopened.result)


def test_a_reward_at_which_it_fails_is_not_in_the_log_and_all_goes_on(url: str) -> None:
    study, other = make(url, limit=5.0), ba.Study(url, "mine")
    pulls = study.ask_pulls(9)
    of_a = [pull for pull in pulls if pull.arm == "A"]
    study.tell(pulls[1], 1.0)
    study.tell(of_a[1], 9.0)  # waits for its turn
    before = study.sequence
    said = r"^method must not raise an exception \(Leading is your own\), got OverflowError.*nothing was recorded$"
    for told, rewards in ((of_a[:1], [0.5]), (pulls[1:3], [1.0, 7.0])):
        with pytest.raises(InputError, match=said):
            study.tell_many(told, rewards)
        assert (study.sequence, other.sequence, study.pulls, study.pending) == (before, before, 1, 7)
    assert repr(study.result) == repr(other.result)
    study.tell(pulls[2], 1.0)
    assert (other.pulls, other.pending) == (2, 6)


def test_what_is_refused_is_not_folded_anew(file: str) -> None:
    study = make(file, limit=5.0)
    pull = study.ask_pulls()
    study.tell(pull, 1.0)
    known = study._log.replica
    with pytest.raises(InputError, match="be the same when a pull is told again"):
        study.tell(pull, 2.0)
    assert study._log.replica is known


def test_it_is_kept_by_its_path_and_compared_by_it(file: str) -> None:
    study = make(file, rewards=7)
    assert json.loads(study._log.row.settings)["question"]["method"] == PATH
    assert json.loads(study._log.row.settings)["own_version"] == "1"
    for again in (Leading, PATH):
        assert make(file, method=again, rewards=7).result.options == {"rewards": 7, "limit": math.inf, "seed": 0}
    with pytest.raises(InputError, match=r"^method must be as when the study 'mine' was created \('test_live_own_meth"):
        make(file, method=reference.MeanSE)
    with pytest.raises(InputError, match=r"^options must be as when"):
        make(file, rewards=8)
    assert "own_version" not in json.loads(make(file, "theirs", "mean-se")._log.row.settings)


def test_another_version_is_refused_and_other_defaults_do_not_count(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = make(file).result.options["rewards"]
    monkeypatch.setattr(Leading, "version", 2)
    reason = r"\S+:Leading has version 2, and the study was created with version 1"
    with pytest.raises(StoreError, match=rf"^the study can't be continued, as {reason}: use version 1 of it"):
        _ = ba.Study(file, "mine").result
    monkeypatch.setattr(Leading, "version", 1)
    monkeypatch.setitem(Leading.__init__.__kwdefaults__, "rewards", 50)  # type: ignore[arg-type]
    assert ba.Study(file, "mine").result.options["rewards"] == make(file).result.options["rewards"] == before


def test_numbers_of_numpy_and_nan_are_options_like_others(file: str) -> None:
    study = make(file, method=Numbered)
    study.run(lambda arm: MEANS[str(arm)])
    again = ba.Study(file, "mine").result
    assert (again.best, again.options["rewards"]) == ("B", 5)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (Odd, "options must be numbers, strings or bools in a study, got {'rewards': <built-in function len>"),
        (lambda question: Leading(question), "method must be a class with the verbs choose, observe, decision, estim"),
        (f"{PATH}.choose", "method must be a class with the verbs choose, observe, decision, estimates here, or a na"),
        ("subprocess:Popen", "method must be a class with the verbs choose, observe, decision, estimates here, or a"),
        (7, "method must be a class with the verbs choose, observe, decision, estimates here, or a name of the catalo"),
        (type("Here", (Leading,), {"__module__": "__main__"}), "method must be a class that other processes can impo"),
        ("nowhere:Leading", "method must be of a module that can be imported, got 'nowhere:Leading': there is no nowh"),
        ("magic", "method must be one of certified, g-cbai"),
    ],
)
def test_what_other_processes_could_not_use_is_refused(file: str, method: Any, message: str) -> None:
    with pytest.raises(InputError) as refused:
        make(file, method=method)
    assert str(refused.value).startswith(message)


def test_a_log_that_names_what_is_no_policy_runs_nothing(file: str, tmp_path: Path) -> None:
    make(file).export(tmp_path / "log.jsonl")
    text = (tmp_path / "log.jsonl").read_text()
    for path in ("subprocess:Popen", "os:_exit"):
        (tmp_path / "log.jsonl").write_text(text.replace(PATH, path))
        with pytest.raises(InputError, match=r"^method must be a class with the verbs"):
            replay(tmp_path / "log.jsonl")
