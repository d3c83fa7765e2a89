"""Two runs never share a folder; what a killed run left does not keep the next one out."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bestarm as ba
from bestarm.errors import InputError
from bestarm.scenarios.scenario import run_scenario
from bestarm.scenarios.scenario_file import parse_scenario, template
from bestarm.simulation import folder_lock

BANDIT = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)])
SETTINGS: dict[str, Any] = {"delta": 0.1, "trials": 6, "seed": 3, "chunk": 1}


class Waiting:
    """Ten rewards of each arm; by then somebody may have to be killed (the fourth trial waits for that)."""

    version = 1
    trials = 0

    def __init__(self, question: ba.Question) -> None:
        self.sums, self.counts = [0.0] * question.arms, [0] * question.arms
        Waiting.trials += 1

    def choose(self, pending: Any) -> int:
        if "BESTARM_WAITS" in os.environ and Waiting.trials == 4:
            print("waiting", flush=True)
            signal.pause()
        return self.counts.index(min(self.counts))

    def observe(self, arm: int, reward: float) -> None:
        self.sums[arm] += reward
        self.counts[arm] += 1

    def decision(self) -> int | None:
        return None if min(self.counts) < 10 else self.sums.index(max(self.sums))

    def estimates(self) -> Any:
        return self.sums


RUN = """
import sys
import bestarm as ba
from test_folder_lock import BANDIT, SETTINGS, Waiting
ba.simulate(BANDIT, Waiting, checkpoint=sys.argv[1], **SETTINGS)
"""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process in the middle of a run whose checkpoints are in a folder."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "BESTARM_WAITS": "1"}
    words = [sys.executable, "-c", RUN, str(tmp_path / "kept")]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "waiting\n"
            yield process
        finally:
            process.kill()


def test_a_folder_in_use_is_refused_until_its_run_is_killed(tmp_path: Path, running: subprocess.Popen[str]) -> None:
    folder = tmp_path / "kept"
    before = sorted(path.name for path in folder.glob("trials-*"))
    assert len(before) == 3
    with pytest.raises(InputError) as refused:
        ba.simulate(BANDIT, Waiting, checkpoint=folder, resume=True, **SETTINGS)
    assert str(refused.value).startswith(f"checkpoint must not be in use by another run, got {str(folder)!r}: ")
    assert f"process {running.pid} on " in str(refused.value)
    assert sorted(path.name for path in folder.glob("trials-*")) == before
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert (folder / "lock").exists()  # a stale one
    resumed = ba.simulate(BANDIT, Waiting, checkpoint=folder, resume=True, **SETTINGS)
    assert resumed.pulls.tolist() == ba.simulate(BANDIT, Waiting, **SETTINGS).pulls.tolist()
    assert not (folder / "lock").exists()


def test_a_lock_is_let_go_of_when_a_run_ends_or_is_refused(tmp_path: Path) -> None:
    def stop(done: int) -> None:
        raise KeyboardInterrupt

    settings: dict[str, Any] = {**SETTINGS, "checkpoint": tmp_path / "kept"}
    with pytest.raises(KeyboardInterrupt):
        ba.simulate(BANDIT, "mean-se", progress=stop, **settings)
    with pytest.raises(InputError, match=r"^checkpoint must be an empty folder"):
        ba.simulate(BANDIT, "mean-se", **settings)
    assert len(ba.simulate(BANDIT, "mean-se", resume=True, **settings)) == 6


def test_one_run_at_a_time_in_a_thread_too(tmp_path: Path) -> None:
    """The second is asked for from inside the first, whose file is open in the same process."""
    settings: dict[str, Any] = {**SETTINGS, "checkpoint": tmp_path / "kept"}
    refused: list[str] = []

    def again(done: int) -> None:
        with pytest.raises(InputError) as error:
            ba.simulate(BANDIT, "mean-se", resume=True, **settings)
        refused.append(str(error.value))

    ba.simulate(BANDIT, "mean-se", progress=again, **settings)
    assert len(refused) == 6
    assert f"process {os.getpid()} on " in refused[0]


def test_the_folder_of_a_study_is_locked_while_its_points_are_run(tmp_path: Path) -> None:
    study = parse_scenario(template())
    refused: list[str] = []

    def again(done: int) -> None:
        if not refused:
            for settings in ({"resume": True}, {"overwrite": True}):
                with pytest.raises(InputError) as error:
                    run_scenario(study, out=tmp_path / "out", trials=2, **settings)
                refused.append(str(error.value))

    points = run_scenario(study, out=tmp_path / "out", trials=2, progress=again)
    assert [words[:40] for words in refused] == ["out must not be in use by another run, g"] * 2
    again_points = run_scenario(study, out=tmp_path / "out", trials=2, resume=True)
    assert again_points.equals(points)


def test_where_nothing_can_be_locked_a_warning_says_so_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(file: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(folder_lock, "_lock", without)
    with pytest.warns(UserWarning, match=r"kept can't be locked \(No locks available\): see that no other run uses it"):
        trials = ba.simulate(BANDIT, "mean-se", checkpoint=tmp_path / "kept", **SETTINGS)
    assert len(trials) == 6
