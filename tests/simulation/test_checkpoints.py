"""Runs that were broken off go on where they were, and end as if nothing had happened."""

from __future__ import annotations

import functools
import gc
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bestarm as ba
from bestarm.errors import InputError
from bestarm.simulation.checkpoints import SETTINGS, Checkpoint, _gaps
from bestarm.simulation.chunks import ChunkResult

BANDIT = ba.Bandit([ba.Gaussian(2.5), ba.Gaussian(1.5)], 0.1, ba.adversaries.Shift([-0.5, 0.5]))


def simulated(folder: Path | None = None, bandit: ba.Bandit = BANDIT, **changes: Any) -> ba.Trials:
    settings = {"method": "mean-se", "delta": 0.1, "trials": 40, "seed": 5, "chunk": 10, **changes}
    return ba.simulate(bandit, checkpoint=folder, **settings)


def assert_equal(one: ba.Trials, other: ba.Trials) -> None:
    for name in ("pulls", "answers", "correct", "arm_pulls", "statuses"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def files(folder: Path) -> dict[str, int]:
    """Names of the finished chunks, with the time of their last change in nanoseconds."""
    return {path.name: path.stat().st_mtime_ns for path in sorted(folder.glob("trials-*.parquet"))}


def trials_in(names: Any) -> list[int]:
    found: list[int] = []
    for name in names:
        first, last = map(int, re.findall(r"\d+", name))
        found += range(first, last + 1)
    return sorted(found)


# ---------------------------------------------------------------------------------------------------------- the folder


def test_every_chunk_is_a_file_that_other_programs_can_read(tmp_path: Path) -> None:
    import pandas as pd

    trials = simulated(tmp_path / "new" / "folder", chunk=16)
    assert_equal(trials, simulated())
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == [
        SETTINGS,
        "trials-000000000000-000000000015.parquet",
        "trials-000000000016-000000000031.parquet",
        "trials-000000000032-000000000039.parquet",
    ]
    frame = pd.read_parquet(tmp_path / "new" / "folder" / "trials-000000000016-000000000031.parquet")
    assert frame["trial"].tolist() == list(range(16, 32))
    assert frame["pulls"].tolist() == trials.pulls[16:32].tolist()
    assert np.stack(list(frame["arm_pulls"])).tolist() == trials.arm_pulls[16:32].tolist()


@pytest.mark.parametrize("where", [{}, {"workers": 2}, {"workers": 2, "backend": "loky"}])
@pytest.mark.parametrize("chunk", [None, 1, 7, 1000])
def test_only_missing_trials_are_run_whatever_the_chunks(tmp_path: Path, where: Any, chunk: int | None) -> None:
    simulated(tmp_path)
    (tmp_path / "trials-000000000010-000000000019.parquet").unlink()
    kept = files(tmp_path)
    told: list[int] = []
    trials = simulated(tmp_path, resume=True, chunk=chunk, progress=told.append, **where)
    assert_equal(trials, simulated())
    assert told[0] == 30
    assert sum(told) == 40
    after = files(tmp_path)
    assert {name: after[name] for name in kept} == kept
    assert trials_in(after) == list(range(40))


@pytest.mark.parametrize("where", [{}, {"workers": 2}, {"workers": 2, "backend": "loky"}])
def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path, where: dict[str, Any]) -> None:
    def interrupt(trials: int) -> None:
        if len(files(tmp_path)) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulated(tmp_path, progress=interrupt, **where)
    kept = files(tmp_path)
    assert len(trials_in(kept)) == 20
    assert_equal(simulated(tmp_path, resume=True), simulated())
    assert {name: time for name, time in files(tmp_path).items() if name in kept} == kept


@pytest.mark.parametrize("backend", ["threads", "loky"])
def test_trials_that_were_ready_at_an_interrupt_are_dropped_without_a_warning(backend: str) -> None:
    def interrupt(trials: int) -> None:
        time.sleep(0.5)  # the other chunks are ready by now
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulated(progress=interrupt, workers=2, backend=backend)
    gc.collect()


def test_the_same_call_starts_a_run_and_repeats_it(tmp_path: Path) -> None:
    first = simulated(tmp_path, resume=True)
    before = files(tmp_path)
    told: list[int] = []
    assert_equal(simulated(tmp_path, resume=True, progress=told.append), first)
    assert told == [40]
    assert files(tmp_path) == before


def test_more_and_fewer_trials_than_before(tmp_path: Path) -> None:
    simulated(tmp_path)
    before = files(tmp_path)
    few = simulated(tmp_path, resume=True, trials=25)
    assert_equal(few, simulated(trials=25))
    assert files(tmp_path) == before
    assert_equal(simulated(tmp_path, resume=True, trials=65), simulated(trials=65))
    assert trials_in(files(tmp_path)) == list(range(65))


def test_generators_resume_by_the_children_they_would_have_spawned(tmp_path: Path) -> None:
    def spawned_before() -> np.random.Generator:
        rng = np.random.default_rng(9)
        rng.spawn(3)
        return rng

    first = simulated(tmp_path, seed=spawned_before())
    assert_equal(simulated(tmp_path, seed=spawned_before(), resume=True), first)
    with pytest.raises(InputError, match=r"^seed\['first_child'\] must be the same as .*, got 0: .* with 3; "):
        simulated(tmp_path, seed=np.random.default_rng(9), resume=True)


def outcome(trials: int, arms: int) -> ChunkResult:
    rng = np.random.default_rng(trials)
    pulls, answers, done = rng.integers(-1, 2**62, (3, trials))
    return ChunkResult(pulls, answers, rng.integers(0, 2**62, (trials, arms)), done)


def test_thousands_of_arms_are_one_column(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    given, found = outcome(20, 9250), ChunkResult.empty(30, 9250)
    Checkpoint(tmp_path, {"seed": 1}, resume=False).write(5, 25, given)
    (name,) = files(tmp_path)
    assert len(pq.read_metadata(tmp_path / name).schema.names) == 5
    assert Checkpoint(tmp_path, {"seed": 1}, resume=True).read(found) == [(0, 5), (25, 30)]
    back = found.part(5, 25)
    for one, other in ((back.pulls, given.pulls), (back.answers, given.answers), (back.done, given.done)):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(back.arm_pulls, given.arm_pulls)


def test_pulls_of_arms_are_kept_whatever_their_order_in_memory(tmp_path: Path) -> None:
    given, found = outcome(6, 3), ChunkResult.empty(6, 3)
    turned = ChunkResult(given.pulls[::-1], given.answers, np.asfortranarray(given.arm_pulls), given.done)
    Checkpoint(tmp_path, {}, resume=False).write(0, 6, turned)
    assert Checkpoint(tmp_path, {}, resume=True).read(found) == []
    np.testing.assert_array_equal(found.arm_pulls, given.arm_pulls)
    np.testing.assert_array_equal(found.pulls, given.pulls[::-1])


# ------------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"delta": 0.2}, r"^delta must be the same as in the checkpoint to resume, got 0.2: .* with 0.1; go back"),
        ({"epsilon": 0.2}, r"^epsilon must be the same .*, got 0.2: "),
        ({"sigma": 2.0}, r"^sigma must be the same .*, got 2.0: "),
        ({"max_pulls": 1000}, r"^max_pulls must be the same .*, got 1000: .* with None"),
        ({"seed": 6}, r"^seed\['entropy'\] must be the same .*, got '6': .* with '5'"),
        ({"seed": np.random.SeedSequence(5, spawn_key=(1,))}, r"^seed\['spawn_key'\] must be the same .*, got \[1\]"),
        ({"method": "median-se"}, r"^method must be the same .*, got 'median-se': .* with 'mean-se'"),
        (
            {"bandit": ba.Bandit([ba.Gaussian(2.5), ba.Gaussian(1.4)], 0.1, BANDIT.adversary)},
            r"^arms\[1\] must be the same .*, got 'CompiledArm\(mean=1.4",
        ),
        (
            {"bandit": ba.Bandit(BANDIT.arms, 0.1, ba.adversaries.Point(0.0))},
            r"^adversary must be the same .*, got .Adversary",
        ),
        ({"bandit": ba.Bandit(BANDIT.arms, 0.2, BANDIT.adversary), "epsilon": 0.1}, r"^laws must be the same"),
    ],
)
def test_other_settings_are_refused_by_name(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    simulated(tmp_path)
    before = files(tmp_path)
    with pytest.raises(InputError, match=message):
        simulated(tmp_path, resume=True, **changes)
    assert files(tmp_path) == before


def test_other_options_are_refused_by_name(tmp_path: Path) -> None:
    options: dict[str, Any] = {"method": "se-cbai", "exploration": "chernoff", "max_pulls": 500}
    simulated(tmp_path, alpha=0.2, **options)
    with pytest.raises(InputError, match=r"^options\['alpha'\] must be the same .*, got 0.1: .* with 0.2"):
        simulated(tmp_path, alpha=0.1, resume=True, **options)


@pytest.mark.parametrize("name", ["version", "kernels"])
def test_trials_of_other_code_are_refused(tmp_path: Path, name: str) -> None:
    simulated(tmp_path)
    settings = json.loads((tmp_path / SETTINGS).read_text())
    (tmp_path / SETTINGS).write_text(json.dumps({**settings, name: "older"}))
    with pytest.raises(InputError, match=rf"^{name} must be the same .* with 'older'"):
        simulated(tmp_path, resume=True)


def test_python_functions_are_told_apart_by_their_code_and_what_they_close_over(tmp_path: Path) -> None:
    def bandit(mean: float, factor: float = 1.0) -> ba.Bandit:
        def draw(rng: np.random.Generator, stretch: float = factor) -> float:
            return mean + stretch * rng.normal()

        return ba.Bandit([ba.CustomArm(draw, 2.0, 1.0), ba.Gaussian(0.0)])

    other = ba.Bandit([ba.CustomArm(lambda rng: 2.0 - rng.normal(), 2.0, 1.0), ba.Gaussian(0.0)])
    trials = simulated(tmp_path, bandit(2.0), trials=8)
    assert_equal(simulated(tmp_path, bandit(2.0), trials=8, resume=True), trials)
    for changed in (bandit(2.5), bandit(2.0, 0.5), other):
        with pytest.raises(InputError, match=r"^laws must be the same"):
            simulated(tmp_path, changed, trials=8, resume=True)


def test_a_used_folder_is_refused_without_resume(tmp_path: Path) -> None:
    simulated(tmp_path)
    with pytest.raises(InputError, match=r"^checkpoint must be an empty folder, got .*: pass resume=True"):
        simulated(tmp_path)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"^checkpoint must hold a readable settings\.json"):
        simulated(tmp_path, resume=True)
    with pytest.raises(InputError, match=r"^checkpoint must be a folder that can be written"):
        simulated(tmp_path / "notes.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_run_that_never_began_leaves_no_trace(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^address must "):
        simulated(tmp_path, backend="dask", address="nonsense://x")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match=r"^checkpoint must be the path of a folder, got 5"):
        ba.simulate(BANDIT, "mean-se", delta=0.1, checkpoint=5)  # type: ignore[arg-type]


def test_resuming_takes_a_folder() -> None:
    with pytest.raises(InputError, match=r"^checkpoint must be given to resume, got None"):
        simulated(resume=True)


def damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "truncated":
        path.write_bytes(data[:-100])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "a byte flipped":
        data[60] ^= 0x10
        path.write_bytes(data)
    elif how == "under the wrong name":
        (path.parent / "trials-000000000000-000000000009.parquet").replace(path)
    else:
        other = path.parent / "other"
        simulated(other, seed=6)
        (other / path.name).replace(path)


@pytest.mark.parametrize("how", ["truncated", "empty", "a byte flipped", "under the wrong name", "of another run"])
def test_a_damaged_file_is_run_again_with_a_warning(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "run"
    simulated(folder)
    name = "trials-000000000020-000000000029.parquet"
    damage(folder / name, how)
    with pytest.warns(UserWarning, match=rf"{name} can't be used \(.*\): its trials are run again"):
        trials = simulated(folder, resume=True, chunk=3)
    assert_equal(trials, simulated())
    assert (folder / f"unusable-{name}").exists()
    assert trials_in(files(folder)) == list(range(40))
    assert_equal(simulated(folder, resume=True), trials)  # and no warning from now on


def test_no_flipped_bit_changes_a_trial(tmp_path: Path) -> None:
    """Pages have checksums and the footer has none, so it is found out by what it says of the columns."""
    given = outcome(4, 3)
    Checkpoint(tmp_path, {}, resume=False).write(0, 4, given)
    path = tmp_path / next(iter(files(tmp_path)))
    data = path.read_bytes()
    refused = 0
    kept = Checkpoint(tmp_path, {}, resume=True)
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        found = ChunkResult.empty(4, 3)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            missing = kept.read(found)
        refused += len(told)
        if missing:
            assert missing == [(0, 4)]
            assert len(told) == 1
            continue
        for name in ("pulls", "answers", "done", "arm_pulls"):
            np.testing.assert_array_equal(getattr(found, name), getattr(given, name))
    assert refused > len(data) / 2


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"arm_pulls": None}, "arm_pulls"),
        ({"arm_pulls": [[1, 2, 3]] * 4}, "does not hold the pulls of 3 arms"),  # lists of any length
        ({"arm_pulls": np.ones((4, 2), np.int64)}, "does not hold the pulls of 3 arms"),
        ({"arm_pulls": np.ones((4, 3))}, "something else than whole numbers"),
        ({"pulls": np.ones(4)}, "something else than whole numbers"),
        ({"trial": np.arange(1, 5)}, "does not hold the trials of its name"),
    ],
)
def test_a_file_with_other_columns_is_not_used(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    Checkpoint(tmp_path, {}, resume=False).write(0, 4, outcome(4, 3))
    path = tmp_path / next(iter(files(tmp_path)))
    table = pq.read_table(path)
    mark = table.schema.metadata
    for name, column in columns.items():
        table = table.drop_columns([name])
        if isinstance(column, np.ndarray) and column.ndim == 2:
            column = pa.FixedSizeListArray.from_arrays(pa.array(column.ravel()), column.shape[1])
        if column is not None:
            table = table.append_column(name, pa.array(column))
    pq.write_table(table.replace_schema_metadata(mark), path)
    with pytest.warns(UserWarning, match=rf"can't be used \(.*{message}"):
        assert Checkpoint(tmp_path, {}, resume=True).read(ChunkResult.empty(4, 3)) == [(0, 4)]


def test_what_a_killed_writer_left_is_cleared_away(tmp_path: Path) -> None:
    simulated(tmp_path)
    (tmp_path / "unfinished-0123").write_bytes(b"half a file")
    simulated(tmp_path, resume=True)
    assert not (tmp_path / "unfinished-0123").exists()


@pytest.mark.parametrize(
    ("there", "gaps"),
    [
        ("", []),
        ("1", []),
        ("0", [(0, 1)]),
        ("0110", [(0, 1), (3, 4)]),
        ("1001011", [(1, 3), (4, 5)]),
        ("000", [(0, 3)]),
    ],
)
def test_gaps_between_finished_trials(there: str, gaps: list[tuple[int, int]]) -> None:
    assert _gaps(np.array([mark == "1" for mark in there], np.bool_)) == gaps


# ---------------------------------------------------------------------------------------------------- the command line

TRIALS = 200
MEANS = [1.0, 0.999]
WORDS = [
    *("simulate", "--means", "1,0.999", "--method", "se-cbai", "--max-pulls", "100000", "--trials", str(TRIALS)),
    *("--seed", "3", "--chunk", "4", "--format", "json"),
]


@functools.cache
def uninterrupted() -> ba.Trials:
    bandit = ba.Bandit([ba.Gaussian(mean) for mean in MEANS], 0.1, ba.paper_adversary(MEANS, 0.1, 3))
    return ba.simulate(bandit, "se-cbai", delta=0.1, trials=TRIALS, seed=3, max_pulls=100_000, workers=2)


def broken_off(folder: Path, by: signal.Signals) -> tuple[int, str]:
    """Start the command, end it by a signal when it has finished three chunks, and return exit code and stderr."""
    command = [sys.executable, "-m", "bestarm", *WORDS, "--checkpoint", str(folder)]
    heeding = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heeding
    ) as running:
        deadline = time.monotonic() + 100
        while len(files(folder)) < 3 and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        os.kill(running.pid, by)
        _, errors = running.communicate(timeout=60)
    return running.returncode, errors


def resumed(words: list[str], folder: Path, out: Path) -> ba.Trials:
    """Resume by a command and check that it ran what was missing and nothing else."""
    kept = files(folder)
    assert 3 <= len(kept) < TRIALS // 4
    command = [sys.executable, "-m", "bestarm", *words, "--save", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    after = files(folder)
    assert {name: after[name] for name in kept} == kept
    assert trials_in(after) == list(range(TRIALS))
    trials = ba.Trials.load(out)
    assert json.loads(done.stdout)[0]["mean_pulls"] == trials.mean_pulls
    return trials


@pytest.mark.slow
def test_a_killed_command_is_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    code, _ = broken_off(folder, signal.SIGKILL)
    assert code == -signal.SIGKILL
    words = [*WORDS, "--checkpoint", str(folder), "--resume"]
    assert_equal(resumed(words, folder, tmp_path / "trials.parquet"), uninterrupted())


def test_an_interrupted_command_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "a run"
    code, errors = broken_off(folder, signal.SIGINT)
    assert code == 130, errors
    (line,) = [line for line in errors.splitlines() if "To go on: " in line]
    assert line.startswith(f"stopped; finished trials are in {folder}. To go on: bestarm simulate ")
    words = shlex.split(line.split("To go on: ")[1])
    assert words[0] == "bestarm"
    assert words[-1] == "--resume"
    assert_equal(resumed(words[1:], folder, tmp_path / "trials.parquet"), uninterrupted())
